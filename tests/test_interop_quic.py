"""Verdicts on downloads of real QUIC stacks, and the simulation of each download."""

from __future__ import annotations

import dataclasses

import pytest

import lightlag
from interop_quic import cells, page
from interop_quic.cells import GEO, LOSSY_LEO, SIZES, Cell
from interop_quic.lab import Download, Moment
from interop_quic.programs import quinn_version
from interop_quic.rows import Row, Simulated

CELL = Cell(GEO, "quinn", "1 MB")
FIRST = Moment(1.2, 0.01, 0.01)


def row(done: Moment, first_byte: Moment = FIRST, cell: Cell = CELL) -> Row:
    """Returns a row with a simulated first byte after 1.2 s and a last one after 5 s."""
    download = Download(first_byte, first_byte, done, dropped=0, late=0.0, overflowed=0)
    return Row(cell, [download], [Simulated(1.2, 5.0)])


@pytest.mark.parametrize(
    ("done", "verdict"),
    [
        (Moment(5.49, 0.1, 0.1), "ok"),
        (Moment(4.51, 0.1, 0.1), "ok"),
        (Moment(5.51, 0.1, 0.1), "deviates"),
        (Moment(5.51, 0.1, 2.8), "computing"),
        # A processor does not make a download faster than its simulation.
        (Moment(4.49, 0.1, 2.8), "deviates"),
    ],
)
def test_the_last_byte_has_a_tolerance(done: Moment, verdict: str) -> None:
    assert row(done).verdict() == verdict
    assert row(done).is_wrong == (verdict == "deviates")


@pytest.mark.parametrize(
    ("first", "verdict"),
    [
        (Moment(1.31, 0.0, 0.0), "ok"),
        (Moment(1.34, 0.0, 0.0), "deviates"),
        (Moment(1.34, 0.015, 0.015), "ok"),
        (Moment(1.07, 0.5, 0.5), "deviates"),
    ],
)
def test_computing_adds_to_the_tolerance_of_the_first_byte(first: Moment, verdict: str) -> None:
    assert row(Moment(5.0, 0.1, 0.1), first).verdict() == verdict


def test_random_losses_are_shown_as_medians() -> None:
    downloads = [row(Moment(seconds, 0.0, 0.0)).measured[0] for seconds in (9.0, 5.0, 40.0)]
    shown = Row(Cell(LOSSY_LEO, "quinn", "1 MB"), downloads, [Simulated(1.2, seconds) for seconds in (4.0, 5.0, 6.0)])
    assert (shown.verdict(), shown.is_wrong) == ("shown", False)
    assert shown.done.ratio == pytest.approx(1.8)


def test_a_failure_is_wrong_and_in_the_page() -> None:
    failed = Row(CELL, [], [Simulated(1.2, 5.0)], "no handshake")
    written = page.page([row(Moment(5.0, 0.1, 0.1)), failed])
    assert failed.is_wrong
    assert written.result == "1 of 2 downloads agree."
    assert "| GEO | quinn | 1 MB | raised | – | – | – | – | – | – | failed |" in written.body
    assert f"aioquic {cells.AIOQUIC} and quinn {quinn_version()}" in written.body


@pytest.mark.parametrize("cell", [*cells.lossless(), *cells.lossy()], ids=Cell.name)
def test_every_download_has_a_simulation(cell: Cell) -> None:
    small = dataclasses.replace(cell, size="1 MB")
    flow = lightlag.run(small.scenario(1, 400)).flows.row(0, named=True)
    assert flow["responses_count"] == 1
    assert flow["delivered_bytes"] >= SIZES["1 MB"]
    handshake_and_request = 4e-3 * cell.path.delay
    assert handshake_and_request < flow["responses_mean_first_byte_s"] < 1.1 * handshake_and_request + 0.01
