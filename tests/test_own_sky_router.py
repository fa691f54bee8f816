"""Routers of a user's own for constellations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightlag as ll
from lightlag.errors import AlgorithmError, InputError

PROJECT = Path(__file__).parents[1]
BUSY = {"python": f"{PROJECT}/examples/own/busy_links.py:BusyLinks"}


def sky(routing: Any = None, **constellation: Any) -> ll.Network:
    """A small shell in which a way over the sky has some links."""
    shell = ll.Shell(height="1200 km", planes=12, slots=12, inclination="53 deg", phasing=5)
    net = ll.Network("sky")
    net.constellation = ll.Constellation(
        shells=(shell,), routing=routing, isl=ll.SkyLine(rate="20 Mbit/s"), **constellation
    )
    net.stations += [ll.Station(name=name) for name in ("Madrid", "Lagos", "Tokyo")]
    net.flow("Madrid", "Tokyo", congestion="cubic")
    net.flow("Lagos", "Tokyo", congestion="newreno")
    return net


def run(routing: Any = None, duration: str = "20 s", **options: Any) -> ll.Result:
    return ll.run(sky(routing), duration=duration, **options)


def test_shortest_ways_of_ones_own_carry_what_the_engines_do() -> None:
    """The engine finds its changes at the looks, too, as a router of one's own does."""
    theirs = ll.run(sky(exact=False), duration="240 s")
    ours = run(BUSY, "240 s")
    assert ours.flows.equals(theirs.flows)
    assert ours.paths.equals(theirs.paths)
    assert ours.paths["time_s"].unique().sort().to_list() == pytest.approx([0.0, 216.5, 236.0])


def test_busy_links_are_gone_around() -> None:
    straight, around = run(BUSY), run(BUSY | {"penalty": 5.0})
    assert around.result_hash != straight.result_hash
    assert len(around.paths) > len(straight.paths)


def test_the_ways_of_a_sky_without_a_run_are_its_own() -> None:
    class Highest(ll.SkyRouter):
        """All ways stay off the links between satellites."""

        def next_hops(self, sky: Any) -> Any:
            answer = np.full(len(sky.positions), ll.NOWHERE)
            answer[sky.entries] = ll.GROUND
            return answer

    courses = [ll.sky(net).courses("Madrid", "Tokyo", 300.0) for net in (sky(BUSY), sky(exact=False))]
    assert courses[0] == courses[1]
    assert len(courses[0]) > 1
    assert ll.sky(sky(Highest)).courses("Madrid", "Tokyo", 1.0) == [(0.0, [])]
    failing = ll.sky(sky(Bad))
    for ask in (lambda: failing.courses("Madrid", "Tokyo", 1.0), lambda: failing.pairs(1.0)):
        with pytest.raises(AlgorithmError, match=r"router of the constellation, at 0\.500000 s: bad: next_hops:"):
            ask()
    result = run(Highest, "2 s")
    assert result.flows["delivered_bytes"].to_list() == [0, 0]


def test_a_look_holds_the_sky() -> None:
    seen: list[Any] = []

    class Looks(ll.SkyRouter):
        def next_hops(self, sky: Any) -> list[int]:
            seen.append(sky)
            return [ll.NOWHERE] * len(sky.positions)

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


class Bad(ll.SkyRouter):
    """Does what it is told wrong."""

    how: int = 0

    def next_hops(self, sky: Any) -> Any:
        answer = [ll.NOWHERE] * len(sky.positions)
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
        (2, r"sends from satellite \d+ \(sat-\d+-\d+\) to satellite \d+ \(sat-\d+-\d+\), where ways lead in a circle"),
        (3, r"sends from satellite \d+ \(.*\) to the station \d, where no link leads now"),
        (4, "sends from satellite 3 to satellite 700, which there is not"),
        (5, "returned -9 for satellite 3; return a number, ll.GROUND or ll.NOWHERE"),
        (6, "returned str; return a whole number for each satellite"),
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
        ({"routing": {"protocol": "olsr"}}, "is no router of one's own, such as"),
        ({"routing": {"plugin": "libmine.so"}}, "a router is a class of Python; a library cannot be one"),
        ({"routing": BUSY | {"penalty": -1.0}}, "penalty: -1 is not a number from 0 to 100"),
        ({"routing": BUSY, "shortest": "hops"}, "stands beside a router of one's own"),
        (
            {"routing": {"python": f"{PROJECT}/examples/own/distance_vector.py:DistanceVector"}},
            "distancevector is a router of nodes with radios, and no router of constellations",
        ),
    ],
)
def test_a_bad_router_is_one_clear_error(constellation: dict[str, Any], message: str) -> None:
    with pytest.raises(ll.ScenarioError, match=message):
        ll.run(sky(**constellation), duration="1 s")


def test_bad_classes_are_refused() -> None:
    class Nothing(ll.SkyRouter):
        pass

    with pytest.raises(InputError, match=r"Nothing: has no method next_hops\(self, sky\)"):
        ll.register(Nothing)
