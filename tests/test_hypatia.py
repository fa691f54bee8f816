"""The reproduction of Hypatia: its numbers, and what TCP does on its paths."""

from __future__ import annotations

import pytest

from lightlag_papers.hypatia import figures, setting, transport, ways
from lightlag_papers.paper import Effort
from lightlag_papers.table import Verdict

pytestmark = pytest.mark.long


def test_the_series_of_hypatias_own_test_is_reproduced() -> None:
    assert {row.verdict for row in ways.stored_rows()} == {Verdict.REPRODUCED}


def test_every_pair_over_every_constellation_matches_the_second_program() -> None:
    rows, found = ways.pair_rows()
    assert [row.ours for row in rows if row.verdict is not Verdict.HOLDS] == []
    assert len(rows) == 6 * len(setting.PAIRS)
    assert found["Kuiper", True][0].out_s == 10


def test_all_pairs_are_as_far_apart_as_in_the_second_program() -> None:
    spread = ways.Spread.of(setting.FLEETS[2], slant=True)
    expected = ways.ALL_PAIRS["Telesat", True]
    assert len(spread.greatest) == 4950
    assert all(abs(a / b - 1) < 0.005 for a, b in zip(spread.numbers[:4], expected[:4], strict=True))


def test_tcp_meets_what_changing_paths_do_to_it() -> None:
    newreno, vegas = transport.Flow.of("newreno"), transport.Flow.of("vegas")
    assert [row.ours for row in transport.rows(newreno, vegas) if row.verdict.failed] == []
    lines = figures.windows({"NewReno": newreno}).axes[0].get_lines()
    assert len(lines[0].get_xdata()) == newreno.trace.height  # type: ignore[arg-type]


def test_bbr_is_far_above_cubic_over_starlink_as_measured() -> None:
    goodput = transport.measured_rows(Effort(seeds=2))[0]
    assert goodput.ours.endswith("2 seeds")
