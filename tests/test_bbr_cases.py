"""``lightlag validate bbr``: cases that hold and fail as the algorithms' rules predict, their parts, and bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import lightlag as ll
import lightlag.validation
from lightlag import _signals
from lightlag.cli.app import app
from lightlag.errors import InputError, Interrupted, ScenarioError
from lightlag.validation import Assessment
from lightlag.validation.cases import case, probing
from lightlag.validation.cases.catalogue import CASES
from lightlag.validation.cases.paths import TCP, pulses
from lightlag.validation.cases.paths import Path as NetworkPath
from lightlag.validation.cases.phases import BITS, Run
from lightlag.validation.cases.traffic import Phased
from lightlag.validation.tasks import Setup, measure_all
from manual import bbr_cases

EXAMPLES = Path(__file__).parents[1] / "examples" / "custom"


def values(found: Assessment, name: str) -> dict[str, tuple[float, str]]:
    """Returns mean and verdict of each check of a case."""
    section = found.section(name)
    assert section is not None
    return {row["check"]: (row["measured"], row["verdict"]) for row in section.rows}


class Startup(ll.CongestionControl):
    """STARTUP of bbr3. With ``every_ack`` a growing rate counts at every ACK, as in Linux, not only at round starts."""

    uses_rate = True
    paces = True
    controls_recovery = True

    every_ack: bool = ll.parameter(False)

    best: float = ll.state(0.0)
    round_end: int = ll.state(0)
    baseline: float = ll.state(0.0)
    flat_rounds: int = ll.state(0)
    since_ns: int = ll.state(-1)
    acked: float = ll.state(0.0)
    excess: float = ll.state(0.0)

    def on_start(self, start: Any) -> None:
        self.pacing_rate = 2.77 * self.cwnd * self.segment_size / (1e-9 * start.rtt_ns)

    def on_congestion(self, event: Any) -> None:
        """A loss changes nothing."""

    def on_ack(self, ack: Any) -> None:
        if self.flat_rounds >= 3:
            self.pacing_rate = self.best
            return
        size, starts = self.segment_size, ack.prior_delivered >= self.round_end
        if starts:
            self.round_end = ack.delivered
        self.aggregate(ack, starts)
        if ack.delivery_rate > 0 and (starts or self.every_ack):
            if ack.delivery_rate >= 1.25 * self.baseline:
                self.baseline, self.flat_rounds = ack.delivery_rate, 0
            elif starts:
                self.flat_rounds += 1
        bound = max(2e-9 * self.best * ack.min_rtt_ns + self.excess, 6 * size)
        if self.cwnd * size < bound or ack.delivered < 10 * size:
            self.cwnd += ack.newly_delivered / size
        self.pacing_rate = max(self.pacing_rate, 2.77 * 0.99 * self.best)

    def aggregate(self, ack: Any, starts: bool) -> None:
        """Updates the excess of aggregated ACKs in this round, with the estimate before this ACK, and the estimate."""
        expected = 1e-9 * self.best * (ack.now_ns - self.since_ns)
        if self.since_ns < 0 or self.acked <= expected:
            self.since_ns, self.acked, expected = ack.now_ns, 0.0, 0.0
        self.acked += ack.newly_delivered
        excess = min(self.acked - expected, self.cwnd * self.segment_size)
        self.excess = excess if starts else max(self.excess, excess)
        self.best = max(self.best, ack.delivery_rate)


@pytest.fixture(scope="module")
def bulk() -> Run:
    """BBR, version 3, on 20 Mbit/s and 50 ms."""
    return Run(ll.run(NetworkPath(seconds=8).scenario("bbr3"), seed=1))


def test_there_is_a_case_for_each_of_the_draft() -> None:
    # draft-ietf-ccwg-bbr, appendix "BBR Example Test Cases": 22 sections.
    assert len(CASES) == 22
    assert len({one.title for one in CASES.values()}) == 22
    names = [check.name for one in CASES.values() for check in one.checks]
    assert len(names) > 22
    for one in CASES.values():
        measured = {name for variant in one.variants for name in variant.checks}
        assert not measured or measured == {check.name for check in one.checks}, one.name


def test_two_cases_hold_for_version_3() -> None:
    found = lightlag.validation.bbr("bbr3", cases=["startup-plateau", "drain-inflight"], replications=1)
    assert found.is_complete
    assert [one.holds for one in found.sections] == [True, True, True]
    drain = values(found, "drain-inflight")
    assert drain["pacing gain in DRAIN"] == (0.5, "holds")
    estimate, _ = values(found, "startup-plateau")[
        "estimated bandwidth at the end of STARTUP / payload rate of the link"
    ]
    assert estimate == pytest.approx(1, abs=0.02)


def test_version_1_drains_with_another_gain() -> None:
    found = lightlag.validation.bbr("bbr", cases=["drain-inflight", "down-time"], replications=1)
    gain, verdict = values(found, "drain-inflight")["pacing gain in DRAIN"]
    assert gain == pytest.approx(1 / 2.885, abs=1e-3)
    assert verdict == "fails"
    section = found.section("drain-inflight")
    assert section is not None
    assert section.holds is False
    assert section.verdict.startswith("pacing gain in DRAIN: 0.3466 (0.495 to 0.505); 3 of 4 checks hold")
    # Version 1 has no PROBE_REFILL, and no wait of 2 to 3 s.
    assert {verdict for _, verdict in values(found, "down-time").values()} == {"not applicable"}


def test_an_algorithm_without_states_is_measured_from_outside() -> None:
    found = lightlag.validation.bbr("cubic", cases=["probe-rtt", "spurious-rto"], replications=1)
    assert {verdict for _, verdict in values(found, "probe-rtt").values()} == {"not applicable"}
    section = found.section("probe-rtt")
    assert section is not None
    assert section.holds is None
    undone = values(found, "spurious-rto")
    assert undone["recovery after a timeout starts"] == (1.0, "holds")
    window, _ = undone["window a round trip after the undo / window before"]
    assert window == pytest.approx(1, abs=0.1)
    assert undone["rounds from the undo to PROBE_UP"][1] == "not applicable"


def test_a_custom_algorithm_is_a_candidate() -> None:
    found = lightlag.validation.bbr(f"{EXAMPLES / 'cubic.py'}:Cubic", cases=["sub-packet"], replications=1)
    goodput, verdict = values(found, "sub-packet")["goodput after 15 s / payload rate of the link"]
    assert goodput == pytest.approx(1, abs=0.05)
    assert verdict == "holds"


def test_an_event_is_placed_where_the_run_before_showed_the_phase(bulk: Run) -> None:
    path = NetworkPath(seconds=8)
    placed = probing._limit_in("up", loss=0.1)(path, bulk)
    assert placed is not None
    after, marks = placed
    up = bulk.first("up")
    assert up is not None
    assert marks == {"at": up.start_s}
    run = Run(ll.run(after.scenario("bbr3"), seed=1))
    # Equal up to the event, and different after it.
    before = bulk.time < up.start_s
    assert np.array_equal(bulk.window[before], run.window[: before.sum()])
    assert np.array_equal(bulk.sent[before], run.sent[: before.sum()])
    assert run.losses(0.0, up.start_s) == 0
    assert run.losses(up.start_s, 8.0) > 0
    # The application writes 8 Mbit/s; losses of 10 % limit the flow to less.
    assert 1e6 < run.goodput(6.0, 8.0) < 8e6


def test_a_phase_that_never_comes_fails_its_checks() -> None:
    # The application ends before the first PROBE_UP.
    path = NetworkPath(seconds=3, traffic={"kind": "constant", "rate": "1 Mbit/s"})
    one = case.Case(
        "x", "x", "x", CASES["up-loss"].checks, (case.Variant(path, lambda *_: {}, (probing._limit_in("up"),)),)
    )
    setup = Setup("bbr3", 1, 1, 1.0)
    measured = measure_all(case.tasks(one, setup), 1, lambda: None)
    assert all(math.isnan(value) for value in measured[0].values.values())
    assert case.section(one, measured).holds is False


def test_rounds_are_round_trips_of_packets(bulk: Run) -> None:
    # In PROBE_CRUISE the queue is empty: 50 ms and the transmission of a packet on both links, with jitter.
    assert bulk.rounds(2.0, 3.0) == pytest.approx(1.0 / 0.0506, rel=0.02)
    assert bulk.rounds(2.0, 2.01) == pytest.approx(0.01 / 0.0506, rel=0.05)


def test_goodput_is_the_payload_of_the_link(bulk: Run) -> None:
    assert bulk.goodput(1.5, 3.0) == pytest.approx(0.99 * 20e6 * BITS, rel=0.005)


def test_phases_follow_each_other(bulk: Run) -> None:
    names = [one.name for one in bulk.phases]
    assert names[:2] == ["startup", "drain"]
    assert {"cruise", "refill", "up", "down", "probe_rtt"} <= set(names)
    assert all(one.end_s == other.start_s for one, other in zip(bulk.phases, bulk.phases[1:], strict=False))
    assert not bulk.phases[-1].is_over


def test_an_application_changes_its_rate() -> None:
    traffic = Phased(first=25_000_000, limited_ns=10**9, gap_ns=10**6, resume_ns=1_003_500_000, rest=12_000_000)
    now, sent, messages = 0, 0, []
    while True:
        traffic.next_message(SimpleNamespace(now_ns=now, bytes=sent))
        if traffic.size == 0:
            break
        now, sent = now + traffic.wait_ns, sent + traffic.size
        messages.append((now, traffic.size))
    first = [(0, 10_000_000), (0, 10_000_000), (0, 5_000_000)]
    limited = [(1_001_000_000, 1448), (1_002_000_000, 1448), (1_003_000_000, 1448)]
    assert messages == [*first, *limited, (1_003_500_000, 10_000_000), (1_003_500_000, 2_000_000)]


def test_bursts_are_open_at_the_end_of_each_period() -> None:
    assert pulses(0.04, 0.001, 1.0, 1.1) == [
        {"at": "1.000000 s", "down": True},
        {"at": "1.039000 s", "down": False},
        {"at": "1.040000 s", "down": True},
        {"at": "1.079000 s", "down": False},
    ]


def test_a_comparison_at_every_ack_finds_the_bandwidth_behind_bursts_of_acks() -> None:
    # The reason of the page for the failure of bbr3, whose STARTUP ends at 0.662 of the link.
    path = CASES["aggregation-startup"].variants[0].path
    reached = []
    for every_ack in (False, True):
        scenario = path.scenario("none") | {"defaults": {"tcp": TCP, "congestion": [Startup(every_ack=every_ack)]}}
        run = Run(ll.run(scenario, duration="2 s", seed=1))
        # After STARTUP the rate is the estimate.
        reached.append(float(run.pacing[-1]) / path.payload_bps)
    assert reached[0] == pytest.approx(0.662, abs=0.01)
    assert reached[1] > 0.9


def test_results_do_not_depend_on_jobs() -> None:
    one, two = (
        lightlag.validation.bbr("bbr3", replications=2, jobs=jobs, cases=["up-loss"]).record() for jobs in (1, 2)
    )
    assert one == two


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"cases": ["drain-inflght"]}, 'did you mean "drain-inflight"'),
        ({"cases": []}, "names no case"),
        ({"replications": 0}, "replications"),
        ({"jobs": "two"}, "jobs"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_options_are_named(options: dict[str, object], part: str) -> None:
    with pytest.raises(InputError, match=part):
        lightlag.validation.bbr("bbr3", **options)  # type: ignore[arg-type]


def test_an_unknown_algorithm_is_rejected_with_the_nearest_name() -> None:
    with pytest.raises(ScenarioError, match='did you mean "bbr"'):
        lightlag.validation.bbr("bbrr", cases=["policer"])


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["bbr", "bbr3"], "--congestion bbr3"),
        (["bbr", "--only", "nowhere"], "startup-plateau"),
        (["bbr", "--congestion", ""], "--congestion"),
        (["tcp", "--congestion", "bbr3"], "validate bbr"),
        (["congestion", "cubic", "--congestion", "bbr3"], "validate bbr"),
    ],
)
def test_wrong_arguments_are_named(arguments: list[str], part: str) -> None:
    done = CliRunner().invoke(app, ["validate", *arguments])
    assert done.exit_code == 2
    assert part in done.output


def test_finished_cases_survive_an_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    monkeypatch.setattr(_signals, "asked", lambda: bool(counts) and counts[-1] >= 1)
    with pytest.raises(Interrupted) as caught:
        lightlag.validation.bbr(
            "bbr3",
            replications=1,
            jobs=1,
            cases=["drain-inflight", "probe-rtt-startup"],
            progress=lambda done, _: counts.append(done),
        )
    found = caught.value.result
    assert isinstance(found, Assessment)
    assert [one.name for one in found.sections] == ["drain-inflight"]


def test_the_command_writes_page_figures_and_json(tmp_path: Path) -> None:
    out = tmp_path / "page"
    arguments = ["validate", "bbr", "--congestion", "bbr", "--only", "drain-inflight", "-n", "1", "--out", str(out)]
    done = CliRunner().invoke(app, arguments)
    # The gain of DRAIN in version 1 is another one.
    assert done.exit_code == 1
    assert "does not hold: Exiting DRAIN based on inflight: pacing gain in DRAIN" in done.output
    names = {"page.md", "assessment.json", "run.json", "drain-inflight.svg", "drain-inflight.pdf"}
    assert {path.name for path in out.iterdir()} == names
    page = (out / "page.md").read_text("utf-8")
    assert page.startswith("# bbr: test cases of draft-ietf-ccwg-bbr")
    assert "![Exiting DRAIN based on inflight](drain-inflight.svg)" in page
    plain = json.loads((out / "assessment.json").read_text("utf-8"))
    assert list(plain["sections"]) == ["drain-inflight", "invariants"]
    verdicts = [row["verdict"] for row in plain["sections"]["drain-inflight"]["rows"]]
    assert verdicts == ["fails", "holds", "holds", "holds"]


def test_every_failing_row_of_the_page_has_a_reason() -> None:
    kept = bbr_cases.PAGE.read_text("utf-8")
    for name, about in CASES.items():
        assert about.title in kept, name
    for (algorithm, name), reason in bbr_cases.REASONS.items():
        assert name in CASES, (algorithm, name)
        assert reason in kept, (algorithm, name)


@pytest.mark.long
def test_the_page_is_up_to_date() -> None:
    assert bbr_cases.page(bbr_cases.assessments()) == bbr_cases.PAGE.read_text("utf-8")
