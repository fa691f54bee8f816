"""Parameters of algorithms as keys of a comparison and of a run: ``defaults.tcp.congestion.beta``."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import lightlag as ll

CLASS = """\
import lightlag as ll


class Mine(ll.CongestionControl):
    beta: float = ll.parameter(0.5, min=0.1, max=0.9, meaning="What a loss keeps.")

    def on_ack(self, ack):
        self.cwnd += 10.0 * ack.growth / self.cwnd

    def on_congestion(self, event):
        self.ssthresh = self.cwnd = max(2.0, self.beta * event.flight / self.segment_size)
"""
BETA = "defaults.tcp.congestion.beta"
Lightlag = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def mine(tmp_path: Path) -> str:
    path = tmp_path / "mine.py"
    path.write_text(CLASS)
    return f"{path}:Mine"


def hashes(comparison: ll.Comparison) -> dict[tuple[str, ...], str]:
    """Returns the hash of each run, by its algorithm and its values of the varied keys."""
    return {(one.congestion, *one.point): one.result_hash for one in comparison.outcomes}


QUEUEING = {"record.queueing": True}
"""A setting that a comparison adds, and that changes the hash of the results."""


def of_run(net: ll.Network, choice: object) -> str:
    return ll.run(net, congestion=choice, duration="20 s", sets=QUEUEING).result_hash  # type: ignore[arg-type]


def test_a_parameter_of_compared_algorithms_varies(net: ll.Network, mine: str) -> None:
    vary = {BETA: [0.5, 0.8]}
    found = hashes(ll.compare(net, [mine, "cubic"], vary=vary, duration="20 s", replications=1))
    for beta in (0.5, 0.8):
        assert found["Mine", str(beta)] == of_run(net, {"python": mine, "beta": beta})
        assert found["cubic", str(beta)] == of_run(net, {"algorithm": "cubic", "beta": beta})
    assert len(set(found.values())) == 4


def test_a_parameter_that_varies_replaces_the_one_of_a_table(net: ll.Network, mine: str) -> None:
    rivals = {"mine": {"python": mine, "beta": 0.3}}
    found = hashes(ll.compare(net, rivals, vary={BETA: [0.8]}, duration="20 s", replications=1))
    assert found["mine", "0.8"] == of_run(net, {"python": mine, "beta": 0.8})


def test_algorithms_that_flows_take_in_turn_have_the_parameter_each(mine: str) -> None:
    net = ll.Network("two")
    net.link("a", "b", rate="5 Mbit/s", delay="20 ms", queue="50 packets", loss=1e-3)
    net.flow("a", "b")
    net.flow("a", "b")
    found = hashes(
        ll.compare(net, {"both": [{"python": mine}, "cubic"]}, vary={BETA: [0.8]}, duration="20 s", replications=1)
    )
    assert found["both", "0.8"] == of_run(net, [{"python": mine, "beta": 0.8}, {"algorithm": "cubic", "beta": 0.8}])


def test_the_algorithm_of_the_scenario_varies_without_naming_it(pair_file: Path, mine: str) -> None:
    pair_file.write_text(pair_file.read_text() + f'\n[defaults.tcp]\ncongestion = {{ python = "{mine}" }}\n')
    found = hashes(ll.compare(pair_file, vary={BETA: [0.5, 0.8]}, duration="20 s", replications=1))
    assert sorted(found) == [("Mine", "0.5"), ("Mine", "0.8")]
    assert len(set(found.values())) == 2


def test_the_command_line_sets_and_varies_parameters(lightlag: Lightlag, pair_file: Path, mine: str) -> None:
    common = (str(pair_file), "-c", mine, "--duration", "20 s", "--json", "--quiet", "--set", "record.queueing=true")
    run = json.loads(lightlag("run", *common, "--set", f"{BETA}=0.8").stdout)
    plain = json.loads(lightlag("run", *common).stdout)
    assert run["result_hash"] != plain["result_hash"]
    folder = pair_file.parent / "compared"
    lightlag("compare", *common, "--vary", f"{BETA}=0.5,0.8", "-n", "1", "-o", str(folder))
    found = hashes(ll.load_comparison(folder))
    assert found == {("Mine", "0.5"): plain["result_hash"], ("Mine", "0.8"): run["result_hash"]}


def test_a_parameter_that_is_set_holds_for_compared_algorithms(net: ll.Network, mine: str) -> None:
    sets = {BETA: 0.8}
    found = hashes(ll.compare(net, [mine], sets=sets, vary={"links.0.loss": [1e-3]}, duration="20 s", replications=1))
    assert found["Mine", "0.001"] == of_run(net, {"python": mine, "beta": 0.8})
    set_in_run = ll.run(net, congestion={"python": mine}, sets=sets | QUEUEING, duration="20 s")
    assert set_in_run.result_hash == found["Mine", "0.001"]


@pytest.mark.parametrize(
    ("congestion", "key", "message"),
    [
        (["hybla"], BETA, 'with hybla, beta=0.7: .*"beta" is not a key'),
        (None, BETA, r"beta: is a parameter of an algorithm, .* name it with congestion \(-c\)"),
        (["cubic"], "defaults.tcp.congestion.algorithm", "name the algorithms to compare with congestion"),
        (["cubic"], "defaults.congestion.0.beta", "vary defaults.tcp.congestion.beta instead"),
    ],
)
def test_a_parameter_that_no_compared_algorithm_would_take_is_rejected(
    net: ll.Network, congestion: list[str] | None, key: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ll.compare(net, congestion, vary={key: [0.7]}, duration="5 s", replications=1)


def test_a_parameter_is_rejected_where_every_flow_names_its_algorithm(mine: str) -> None:
    net = ll.Network("own")
    net.link("a", "b", rate="5 Mbit/s", delay="20 ms")
    net.flow("a", "b", congestion={"python": mine})
    with pytest.raises(ValueError, match=r"write flows\.0\.congestion\.beta"):
        ll.compare(net, vary={BETA: [0.7]}, duration="5 s", replications=1)
