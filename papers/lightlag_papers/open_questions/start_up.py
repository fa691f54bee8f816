"""Start of a flow: time until the link is full, and its cost; CUBIC with three kinds of slow start."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lightlag_papers.open_questions.contenders import Algorithm, alone, named
from lightlag_papers.open_questions.paths import GEO, INITIAL_WINDOW, LEO, Orbit
from lightlag_papers.paper import Effort
from lightlag_papers.table import Layout, Row, Verdict

SECONDS = 60.0
FULL = 0.9
TRIP = 1.5
"""Round trips that the measure adds: half of one to the receiver, and the one over which the rate is taken."""
SLOW_STARTS = ("standard", "hystart", "hystart++")
JITTER = "20 ms"
SIZE = 5e6


@dataclass(frozen=True)
class Start:
    """The first minute of a flow.

    Attributes
    ----------
    time_s, payload
        Bytes delivered over time.
    full_s
        When 90 % of the link had been delivered for a round trip; None if that did not come.
    lost
        Packets that the queue dropped.
    goodput_bps
        Of the whole minute.
    """

    orbit: Orbit
    time_s: NDArray[np.float64]
    payload: NDArray[np.float64]
    full_s: float | None
    lost: int
    goodput_bps: float

    @property
    def rounds(self) -> float | None:
        """Round trips from the end of the handshake until the window fills the link."""
        return None if self.full_s is None else self.full_s / self.orbit.rtt_s - 1 - TRIP

    def delivers_s(self, size: float = SIZE) -> float | None:
        """The time at which this many bytes had arrived."""
        at = int(np.searchsorted(self.payload, size))
        return float(self.time_s[at]) if at < len(self.time_s) else None


def start(algorithm: Algorithm, orbit: Orbit, **sets: str) -> Start:
    """Run the first minute without errors, and reduce it."""
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
    """The time at which the payload of a round trip first reached 90 % of the link's capacity in it."""
    steps = round(orbit.rtt_s / float(grid[1] - grid[0]))
    rates = (payload[steps:] - payload[:-steps]) * 8 / orbit.rtt_s
    full = np.flatnonzero(rates >= FULL * orbit.most_bps)
    return float(grid[steps + full[0]]) if len(full) else None


def starts(effort: Effort) -> dict[str, Start]:
    """Every algorithm over GEO."""
    every = alone()
    return dict(zip((one.label for one in every), effort.map(partial(start, orbit=GEO), every), strict=True))


def rows(found: dict[str, Start], effort: Effort) -> list[Row]:
    """The round trips of a start, against the closed form."""
    one_segment = effort.map(lambda name: start(named(name), GEO, defaults__tcp__initial_window="1"), ("newreno",))[0]
    expected = GEO.fills_after(1)
    lines = [
        Row(
            "start-up, GEO",
            f"newreno, initial window 1: round trips until {FULL:.0%} of the link",
            "",
            f"{expected} (doublings from 1 to {FULL * GEO.bdp:.0f} segments)",
            _rounds(one_segment),
            Verdict.check(one_segment.rounds is not None and abs(one_segment.rounds - expected) <= 1),
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
            Row(
                "start-up, GEO",
                f"{name}: round trips until {FULL:.0%} of the link",
                "",
                about,
                f"{_rounds(found[name])}; {found[name].lost} packets dropped",
                Verdict.check(holds),
                f"at most {most}",
            )
        )
    return lines


def _rounds(one: Start) -> str:
    return "not within a minute" if one.rounds is None else f"{one.rounds:.1f}"


def layout(found: dict[str, Start]) -> Layout:
    """The start of every algorithm."""
    header = ("algorithm", "round trips to 90 %", "dropped packets", "5 MB arrived, s", "goodput of 60 s, Mbit/s")
    lines = tuple(
        (label, _rounds(one), str(one.lost), _seconds(one.delivers_s()), f"{one.goodput_bps / 1e6:.2f}")
        for label, one in found.items()
    )
    return Layout("start_up", "Start-up over GEO (10 Mbit/s, 600 ms, queue of 1 BDP, no errors)", header, lines)


def _seconds(value: float | None) -> str:
    return "not within 60" if value is None else f"{value:.1f}"


SlowStarts = dict[tuple[str, bool, str], Start]
"""By orbit, jitter and kind."""


def slow_starts(effort: Effort) -> SlowStarts:
    """CUBIC with every kind of slow start, with and without jitter."""
    kinds = [(orbit, jitter, kind) for orbit in (GEO, LEO) for jitter in (False, True) for kind in SLOW_STARTS]
    runs = effort.map(lambda kind: _cubic(*kind), kinds)
    return {(orbit.name, jitter, kind): one for (orbit, jitter, kind), one in zip(kinds, runs, strict=True)}


def _cubic(orbit: Orbit, jitter: bool, kind: str) -> Start:
    sets = {"defaults__tcp__congestion": f'{{ algorithm = "cubic", slow_start = "{kind}" }}'}
    if jitter:
        sets["links__1__jitter"] = f'"{JITTER}"'
    return start(named("cubic"), orbit, **sets)


def slow_start_layout(found: SlowStarts) -> Layout:
    """The cost of the kinds of slow start."""
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
    """HyStart over a satellite, which the authors of CUBIC-INET plan to study."""
    standard, hystart, plus = (found["GEO", False, kind] for kind in SLOW_STARTS)
    early = [found["GEO", True, kind] for kind in SLOW_STARTS]
    return [
        Row(
            "CUBIC-INET §6",
            "GEO: packets dropped in the first minute: standard, HyStart, HyStart++",
            "",
            f"{GEO.bdp * 2:.0f} (standard: the last doubling of path and queue)",
            f"{standard.lost}, {hystart.lost}, {plus.lost}",
            Verdict.check(hystart.lost < standard.lost and plus.lost < standard.lost),
            "fewer than with standard slow start: the paper expects much of HyStart. Both look at the round-trip time, "
            "which tells of a queue one round trip late: 600 ms are long enough to send a queue full",
        ),
        Row(
            "CUBIC-INET §6",
            "GEO: 5 MB arrived, s: standard, HyStart, HyStart++",
            "",
            f"{GEO.slow_start_s(int(SIZE)):.1f} (slow start without a loss)",
            ", ".join(_seconds(one.delivers_s()) for one in (standard, hystart, plus)),
            Verdict.NOT_JUDGED,
            "what matters to the user",
        ),
        Row(
            "CUBIC-INET §6",
            f"GEO, jitter ±{JITTER}: 5 MB arrived, s: standard, HyStart, HyStart++",
            "",
            "",
            ", ".join(_seconds(one.delivers_s()) for one in early),
            Verdict.NOT_JUDGED,
            "jitter above 16 ms, as bandwidth on demand has, is taken for a queue and ends slow start early",
        ),
    ]
