"""Open questions of the papers: closed forms, the list of algorithms, and expected results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lightlag.scenario import congestion_names as known
from lightlag_papers import PAPERS, Verdict
from lightlag_papers.open_questions import candidates, fairness, losses, sizes, start_up
from lightlag_papers.open_questions.candidates import Algorithm, algorithms, named, queue_for
from lightlag_papers.open_questions.paths import GEO, LEO
from lightlag_papers.paper import Effort

pytestmark = pytest.mark.long

FEW = ("newreno", "cubic", "hybla", "hybla, paced", "bbr")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits the algorithms to those in the rows that are checked."""
    chosen = tuple(named(label) for label in FEW)
    for module, name in ((losses, "alone"), (sizes, "alone"), (start_up, "alone"), (fairness, "algorithms")):
        monkeypatch.setattr(module, name, lambda: chosen)


def test_every_algorithm_of_the_list_exists_and_hybla_has_two_entries() -> None:
    every = algorithms()
    assert {one.name for one in every} == {name for name in candidates.WANTED if name in known()}
    assert [one.label for one in every if one.name == "hybla"] == ["hybla", "hybla, paced"]
    assert len({one.label for one in every}) == len(every)


def test_a_change_names_its_key() -> None:
    paced = Algorithm("hybla, paced", "hybla", {"pacing": "true"})
    assert paced.changes(9, "flows.1.tcp") == {"flows.1.tcp.congestion": '"hybla"', "flows.1.tcp.pacing": "true"}
    peach = Algorithm("peach", "peach", queue=candidates.PRIORITY, probes=True)
    assert peach.changes(9) == {"defaults.tcp.congestion": '{ algorithm = "peach", sudden_window = 9 }'}
    assert queue_for("1 bdp", paced, peach) == '{ discipline = "priority", limit = "1 bdp" }'
    assert queue_for("1 bdp", paced) == '"1 bdp"'


def test_slow_start_alone_counts_the_handshake_and_doublings() -> None:
    # 100 kB are 70 segments: 10 + 20 + 40. Two full rounds, 40 segments of 1.2 ms, and half a round trip.
    assert GEO.slow_start_s(100_000) == pytest.approx(0.6 + 2 * 0.6 + 40 * 0.0012 + 0.3)
    assert GEO.fills_after(1) == 9
    assert GEO.fills_after() == 6
    assert LEO.fills_after() == 5


def test_response_functions_stop_at_the_link_and_at_reno() -> None:
    assert GEO.response("hybla", 1e-4) == pytest.approx(GEO.most_bps)
    assert GEO.response("cubic", 1e-3) == pytest.approx(2.47e6, rel=5e-3)
    assert LEO.response("cubic", 1e-3) == LEO.response("newreno", 1e-3)
    assert GEO.response("bbr", 1e-3) is None
    assert GEO.response("newreno", 0.0) is None


def test_a_link_is_full_when_a_round_trip_was() -> None:
    grid = np.arange(0.0, 10.0, 0.05)
    rate = np.where(grid < 4.0, 0.5, 1.0) * GEO.most_bps / 8
    payload = np.cumsum(rate) * 0.05
    # 80 % of the 600 ms before 4.5 s are at the full rate, which makes 90 %.
    assert start_up._full_s(grid, payload, GEO) == pytest.approx(4.5, abs=0.11)
    assert start_up._full_s(grid, payload / 2, GEO) is None


@pytest.mark.usefixtures("few")
def test_starts_take_the_doublings_of_the_closed_form() -> None:
    effort = Effort(jobs=2)
    found = start_up.starts(effort)
    assert tuple(found) == FEW
    rows = start_up.rows(found, effort)
    assert [row.verdict for row in rows] == [Verdict.HOLDS] * 3


def test_hystart_drops_less_and_jitter_ends_it_early() -> None:
    found = start_up.slow_starts(Effort(jobs=2))
    assert start_up.slow_start_rows(found)[0].verdict is Verdict.HOLDS
    calm, rough = (found["GEO", jitter, "hystart"].delivers_s() for jitter in (False, True))
    assert calm is not None
    assert rough is not None
    assert rough > calm + 3


@pytest.mark.usefixtures("few")
def test_errors_leave_the_expected_order() -> None:
    grid = losses.Grid.run(Effort(seeds=5, jobs=2))
    judged = [row for row in losses.rows(grid) if row.verdict is not Verdict.NOT_JUDGED]
    assert len(judged) == 2
    # Paced Hybla passes BBR by 3 % over GEO.
    assert [row.verdict for row in judged] == [Verdict.FAILS, Verdict.HOLDS], judged
    for orbit in losses.ORBITS:
        for label in ("newreno", "cubic"):
            means = [grid.mean(orbit, per, label).mean for per in losses.PERS]
            assert means == sorted(means, reverse=True)


@pytest.mark.usefixtures("few")
def test_short_transfers_are_slow_start_alone() -> None:
    rows = sizes.rows(sizes.Transfers.run(Effort(seeds=1, jobs=2)))
    assert [row.verdict for row in rows] == [Verdict.HOLDS] * 3 + [Verdict.NOT_JUDGED] * 2


@pytest.mark.usefixtures("few")
def test_shares_of_a_pair_sum_to_one() -> None:
    found = fairness.Pairs.run(Effort(seeds=2, jobs=2))
    for one in FEW:
        for other in FEW:
            if one != other:
                assert found.share(one, other) + found.share(other, one) == pytest.approx(1)
            assert 0.5 < found.used(one, other) <= 1
    assert fairness.pair_rows(found)[0].verdict is Verdict.HOLDS


@pytest.mark.usefixtures("few")
def test_hybla_evens_out_round_trip_times_where_queues_are_short() -> None:
    found = fairness.RoundTrips.run(Effort(seeds=2, jobs=2))
    judged = [row for row in fairness.trip_rows(found) if row.verdict is not Verdict.NOT_JUDGED]
    assert len(judged) == 3
    assert all(row.verdict is Verdict.HOLDS for row in judged), judged


@pytest.mark.usefixtures("few")
def test_the_answers_leave_tables_and_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lightlag_papers.open_questions import figures

    chosen = tuple(named(label) for label in FEW)
    monkeypatch.setattr(figures, "algorithms", lambda: chosen)
    monkeypatch.setattr(figures, "alone", lambda: chosen)
    PAPERS["open-questions"].reproduce(tmp_path / "out", seeds=1, jobs=2)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    stems = ("start_up", "slow_starts", "errors", "sizes", "pairs", "round_trips")
    assert {f"{stem}.png" for stem in stems} <= names
    assert {"errors_geo.csv", "errors_leo.csv", "sizes_clean.csv", "sizes_errors.csv", "pairs.csv"} <= names
