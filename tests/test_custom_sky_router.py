"""Custom routers for constellations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightlag as ll
from lightlag.errors import AlgorithmError, InputError

PROJECT = Path(__file__).parents[1]
BUSY = {"python": f"{PROJECT}/examples/custom/busy_links.py:BusyLinks"}


def sky(routing: Any = None, **constellation: Any) -> ll.Network:
    """Returns a small shell whose paths consist of several links."""
    shell = ll.Shell(height="1200 km", planes=12, slots=12, inclination="53 deg", phasing=5)
    net = ll.Network("sky")
    net.constellation = ll.Constellation(
        shells=(shell,), routing=routing, isl=ll.SatelliteLink(rate="20 Mbit/s"), **constellation
    )
    net.stations += [ll.Station(name=name) for name in ("Madrid", "Lagos", "Tokyo")]
    net.flow("Madrid", "Tokyo", congestion="cubic")
    net.flow("Lagos", "Tokyo", congestion="newreno")
    return net


def run(routing: Any = None, duration: str = "20 s", **options: Any) -> ll.Result:
    return ll.run(sky(routing), duration=duration, **options)


def test_custom_shortest_paths_carry_what_the_engines_do() -> None:
    """With `exact = false` the engine also finds changes only at its updates, as a custom router does."""
    theirs = ll.run(sky(exact=False), duration="240 s")
    ours = run(BUSY, "240 s")
    assert ours.flows.equals(theirs.flows)
    assert ours.paths.equals(theirs.paths)
    assert ours.paths["time_s"].unique().sort().to_list() == pytest.approx([0.0, 216.5, 236.0])


def test_busy_links_are_gone_around() -> None:
    straight, around = run(BUSY), run(BUSY | {"penalty": 5.0})
    assert around.result_hash != straight.result_hash
    assert len(around.paths) > len(straight.paths)


def test_the_paths_of_a_constellation_without_a_run_are_computed() -> None:
    class Highest(ll.SatelliteRouter):
        """All paths avoid the links between satellites."""

        def next_hops(self, sky: Any) -> Any:
            answer = np.full(len(sky.positions), ll.UNREACHABLE)
            answer[sky.entries] = ll.GROUND
            return answer

    courses = [ll.sky(net).path_changes("Madrid", "Tokyo", 300.0) for net in (sky(BUSY), sky(exact=False))]
    assert courses[0] == courses[1]
    assert len(courses[0]) > 1
    assert ll.sky(sky(Highest)).path_changes("Madrid", "Tokyo", 1.0) == [(0.0, [])]
    failing = ll.sky(sky(Bad))
    for ask in (lambda: failing.path_changes("Madrid", "Tokyo", 1.0), lambda: failing.pairs(1.0)):
        with pytest.raises(AlgorithmError, match=r"router of the constellation, at 0\.500000 s: bad: next_hops:"):
            ask()
    result = run(Highest, "2 s")
    assert result.flows["delivered_bytes"].to_list() == [0, 0]


def test_a_snapshot_holds_the_constellation() -> None:
    seen: list[Any] = []

    class Looks(ll.SatelliteRouter):
        def next_hops(self, sky: Any) -> list[int]:
            seen.append(sky)
            return [ll.UNREACHABLE] * len(sky.positions)

    run(Looks, "1 s")
    assert [look.now_ns for look in seen if look.station == 2] == [100_000_000 * at for at in range(11)]
    look = seen[0]
    assert (look.positions.shape, look.links.shape) == ((144, 3), (288, 2))
    assert (look.lengths.shape, look.loads.shape) == ((288,), (288,))
    one, other = look.links[7]
    assert look.lengths[7] == pytest.approx(np.linalg.norm(look.positions[one] - look.positions[other]))
    assert np.linalg.norm(look.positions, axis=1) == pytest.approx(np.full(144, 6_378_135 + 1_200_000), rel=5e-3)
    assert len(look.entries) == len(look.entry_lengths) > 0
    assert (look.entry_lengths >= 1_190_000).all()
    assert not look.loads.any()


class Bad(ll.SatelliteRouter):
    """Fails in the way that its parameter selects."""

    how: int = 0

    def next_hops(self, sky: Any) -> Any:
        answer = [ll.UNREACHABLE] * len(sky.positions)
        if sky.now_ns < 500_000_000:
            return answer
        one, other = sky.links[0].tolist()
        far = next(at for at in range(len(answer)) if at not in sky.entries)
        if self.how == 0:
            raise ValueError("enough")
        if self.how == 1:
            return answer[:-1]
        if self.how == 2:
            answer[one], answer[other] = other, one
        if self.how == 3:
            answer[far] = ll.GROUND
        if self.how == 4:
            answer[3] = 700
        if self.how == 5:
            answer[3] = -9
        if self.how == 6:
            return "there"
        return answer


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (0, "ValueError: enough"),
        (1, "returned 143 next hops for 144 satellites"),
        (2, r"sends from satellite \d+ \(sat-\d+-\d+\) to satellite \d+ \(sat-\d+-\d+\), where the paths form a loop"),
        (3, r"sends from satellite \d+ \(.*\) to the station \d, where there is no link now"),
        (4, "sends from satellite 3 to satellite 700, which does not exist"),
        (5, "returned -9 for satellite 3; return a number, ll.GROUND or ll.UNREACHABLE"),
        (6, "returned str; return an integer for each satellite"),
    ],
)
def test_a_failure_ends_the_run_with_its_time(how: int, reason: str) -> None:
    with pytest.raises(AlgorithmError, match=reason) as failed:
        run(Bad(how=how))
    told = str(failed.value)
    assert told.startswith("router of the constellation, at 0.500000 s: bad: next_hops:")
    assert failed.value.result is not None


def test_same_seed_same_result_and_the_digest_is_kept() -> None:
    one = run(BUSY, "5 s", verify=True)
    table = one.summary["scenario"]["constellation"]["routing"]
    assert len(table["code"]) == 32
    with pytest.raises(ll.ScenarioError, match="the code of busylinks was 0000 and is now"):
        run(table | {"code": "0000"}, "5 s")


@pytest.mark.parametrize(
    ("constellation", "message"),
    [
        ({"routing": {"protocol": "olsr"}}, "is not a valid custom router, such as"),
        ({"routing": {"plugin": "libmine.so"}}, "a router must be a Python class, not a library"),
        ({"routing": BUSY | {"penalty": -1.0}}, "penalty: -1 is not a number from 0 to 100"),
        ({"routing": BUSY, "shortest": "hops"}, "cannot be combined with a custom router"),
        (
            {"routing": {"python": f"{PROJECT}/examples/custom/distance_vector.py:DistanceVector"}},
            "distancevector is a router of nodes with radios, not a router of constellations",
        ),
    ],
)
def test_a_bad_router_is_one_clear_error(constellation: dict[str, Any], message: str) -> None:
    with pytest.raises(ll.ScenarioError, match=message):
        ll.run(sky(**constellation), duration="1 s")


def test_bad_classes_are_rejected() -> None:
    class Nothing(ll.SatelliteRouter):
        pass

    with pytest.raises(InputError, match=r"Nothing: has no method next_hops\(self, sky\)"):
        ll.register(Nothing)
