"""The start of a flow: time until the link is full, and its cost; and CUBIC with three kinds of slow start."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lightlag_papers.open_questions.candidates import Algorithm, alone, named
from lightlag_papers.open_questions.paths import GEO, INITIAL_WINDOW, LEO, Orbit
from lightlag_papers.paper import Effort
from lightlag_papers.table import Layout, Row

SECONDS = 60.0
FULL = 0.9
TRIP = 1.5
"""Round trips that the measurement adds: half a round trip to the receiver, and one over which the rate is taken."""
SLOW_STARTS = ("standard", "hystart", "hystart++")
JITTER = "20 ms"
SIZE = 5e6


@dataclass(frozen=True)
class Start:
    """The results of the first minute of a flow.

    Attributes
    ----------
    time_s, payload
        Times, and number of bytes delivered by then.
    full_s
        Time when the goodput over a round trip first reached 90 % of the link's capacity; None if it never did.
    lost
        Number of packets dropped by the queue.
    goodput_bps
        Goodput over the entire minute.
    """

    orbit: Orbit
    time_s: NDArray[np.float64]
    payload: NDArray[np.float64]
    full_s: float | None
    lost: int
    goodput_bps: float

    @property
    def rounds(self) -> float | None:
        """Number of round trips from the end of the handshake until the window fills the link."""
        return None if self.full_s is None else self.full_s / self.orbit.rtt_s - 1 - TRIP

    def delivers_s(self, size: float = SIZE) -> float | None:
        """Returns the time in s when this number of bytes has arrived; None if that does not happen."""
        at = int(np.searchsorted(self.payload, size))
        return float(self.time_s[at]) if at < len(self.time_s) else None


def start(algorithm: Algorithm, orbit: Orbit, **sets: str) -> Start:
    """Runs the first minute without errors, and reduces it to its results."""
    step = orbit.rtt_s / 12
    sampled = {"record__trace": "sampled", "record__interval": f"{step * 1e3:g} ms", "duration": f"{SECONDS:g} s"}
    result = orbit.run(algorithm, 1, **(sampled | sets))
    rows = result.trace("goodput")
    grid = np.arange(0.0, SECONDS + step / 2, step)
    at = np.searchsorted(rows["time_s"].to_numpy(), grid, side="right") - 1
    payload = rows["delivered_bytes"].to_numpy().astype(np.float64)[np.maximum(at, 0)]
    (flow,) = result.summary["flows"]
    lost = sum(link["dropped_queue"] for link in result.summary["links"])
    return Start(orbit, grid, payload, _full_s(grid, payload, orbit), lost, float(flow["goodput_bps"]))


def _full_s(grid: NDArray[np.float64], payload: NDArray[np.float64], orbit: Orbit) -> float | None:
    """Returns the first time when the goodput over a round trip reached 90 % of the link's capacity."""
    steps = round(orbit.rtt_s / float(grid[1] - grid[0]))
    rates = (payload[steps:] - payload[:-steps]) * 8 / orbit.rtt_s
    full = np.flatnonzero(rates >= FULL * orbit.most_bps)
    return float(grid[steps + full[0]]) if len(full) else None


def starts(effort: Effort) -> dict[str, Start]:
    """Returns the start of all algorithms over GEO."""
    every = alone()
    return dict(zip((one.label for one in every), effort.map(partial(start, orbit=GEO), every), strict=True))


def rows(found: dict[str, Start], effort: Effort) -> list[Row]:
    """Returns the rows that compare the round trips of a start with the closed form."""
    one_segment = effort.map(lambda name: start(named(name), GEO, defaults__tcp__initial_window="1"), ("newreno",))[0]
    expected = GEO.fills_after(1)
    lines = [
        Row.check(
            "start-up, GEO",
            f"newreno, initial window 1: round trips until {FULL:.0%} of the link",
            f"{expected} (doublings from 1 to {FULL * GEO.bdp:.0f} segments)",
            _rounds(one_segment),
            one_segment.rounds is not None and abs(one_segment.rounds - expected) <= 1,
            "tolerance one round trip",
        )
    ]
    for name, most, about in (
        ("newreno", GEO.fills_after() + 1, f"{GEO.fills_after()} (doublings from {INITIAL_WINDOW})"),
        ("hybla", 3, "at most 3 (2^ρ - 1 a segment)"),
    ):
        rounds = found[name].rounds
        holds = rounds is not None and rounds <= most
        lines.append(
            Row.check(
                "start-up, GEO",
                f"{name}: round trips until {FULL:.0%} of the link",
                about,
                f"{_rounds(found[name])}; {found[name].lost} packets dropped",
                holds,
                f"at most {most}",
            )
        )
    return lines


def _rounds(one: Start) -> str:
    return "not within a minute" if one.rounds is None else f"{one.rounds:.1f}"


def layout(found: dict[str, Start]) -> Layout:
    """Returns the table of the starts of all algorithms."""
    header = ("algorithm", "round trips to 90 %", "dropped packets", "5 MB arrived, s", "goodput of 60 s, Mbit/s")
    lines = tuple(
        (label, _rounds(one), str(one.lost), _seconds(one.delivers_s()), f"{one.goodput_bps / 1e6:.2f}")
        for label, one in found.items()
    )
    return Layout("start_up", "Start-up over GEO (10 Mbit/s, 600 ms, queue of 1 BDP, no errors)", header, lines)


def _seconds(value: float | None) -> str:
    return "not within 60" if value is None else f"{value:.1f}"


SlowStarts = dict[tuple[str, bool, str], Start]
"""Results by path, whether there is jitter, and kind of slow start."""


def slow_starts(effort: Effort) -> SlowStarts:
    """Runs CUBIC with all kinds of slow start, with and without jitter."""
    kinds = [(orbit, jitter, kind) for orbit in (GEO, LEO) for jitter in (False, True) for kind in SLOW_STARTS]
    runs = effort.map(lambda kind: _cubic(*kind), kinds)
    return {(orbit.name, jitter, kind): one for (orbit, jitter, kind), one in zip(kinds, runs, strict=True)}


def _cubic(orbit: Orbit, jitter: bool, kind: str) -> Start:
    sets = {"defaults__tcp__congestion": f'{{ algorithm = "cubic", slow_start = "{kind}" }}'}
    if jitter:
        sets["links__1__jitter"] = f'"{JITTER}"'
    return start(named("cubic"), orbit, **sets)


def slow_start_layout(found: SlowStarts) -> Layout:
    """Returns the table on the cost of each kind of slow start."""
    header = (
        *("path", "jitter", "slow start", "round trips to 90 %", "dropped packets"),
        *("5 MB arrived, s", "goodput of 60 s, Mbit/s"),
    )
    lines = tuple(
        (
            *(orbit, f"±{JITTER}" if jitter else "none", kind, _rounds(one), str(one.lost)),
            *(_seconds(one.delivers_s()), f"{one.goodput_bps / 1e6:.2f}"),
        )
        for (orbit, jitter, kind), one in found.items()
    )
    return Layout("slow_starts", "CUBIC with three kinds of slow start, no errors", header, lines)


def slow_start_rows(found: SlowStarts) -> list[Row]:
    """Returns the rows on HyStart over a satellite, which the authors of CUBIC-INET plan to study."""
    standard, hystart, plus = (found["GEO", False, kind] for kind in SLOW_STARTS)
    early = [found["GEO", True, kind] for kind in SLOW_STARTS]
    return [
        Row.check(
            "CUBIC-INET §6",
            "GEO: packets dropped in the first minute: standard, HyStart, HyStart++",
            f"{GEO.bdp * 2:.0f} (standard: the last doubling of path and queue)",
            f"{standard.lost}, {hystart.lost}, {plus.lost}",
            hystart.lost < standard.lost and plus.lost < standard.lost,
            "fewer than with standard slow start: the paper expects much of HyStart. Both measure the round-trip "
            "time, which reports a queue one round trip late: in 600 ms the sender can fill a queue",
        ),
        Row.informing(
            "CUBIC-INET §6",
            "GEO: 5 MB arrived, s: standard, HyStart, HyStart++",
            ", ".join(_seconds(one.delivers_s()) for one in (standard, hystart, plus)),
            "what matters to the user",
            theory=f"{GEO.slow_start_s(int(SIZE)):.1f} (slow start without a loss)",
        ),
        Row.informing(
            "CUBIC-INET §6",
            f"GEO, jitter ±{JITTER}: 5 MB arrived, s: standard, HyStart, HyStart++",
            ", ".join(_seconds(one.delivers_s()) for one in early),
            "jitter above 16 ms, as bandwidth on demand has, is taken for a queue and ends slow start early",
        ),
    ]
