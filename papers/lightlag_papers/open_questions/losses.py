"""All algorithms over GEO and LEO at four error rates."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from itertools import pairwise

from lightlag.analyse import Interval, mean_interval
from lightlag_papers.open_questions.candidates import Algorithm, alone, named
from lightlag_papers.open_questions.paths import GEO, LEO, Orbit
from lightlag_papers.paper import Effort
from lightlag_papers.table import Layout, Row, pm

SEEDS = 10
ORBITS = (GEO, LEO)
PERS = (0.0, 1e-4, 1e-3, 1e-2)
ORDER = ("bbr", "hybla, paced", "cubic", "newreno")
"""Expected order at a packet error rate of 1e-3, fastest first."""
JUDGED_PER = 1e-3
SHARE_OF_SEEDS = 0.8
PROBE_S = 10.0
"""Time in s between two phases in which BBR empties the path."""


@dataclass(frozen=True)
class Grid:
    """Goodputs for each seed in Mbit/s, by path, error rate and algorithm."""

    found: dict[tuple[str, float, str], list[float]]

    @classmethod
    def run(cls, effort: Effort) -> Grid:
        """Runs all points. Points without errors run once, because only some algorithms use random numbers then."""
        seeds = effort.seeds_of(SEEDS)
        points = [
            (orbit, per, one, seed)
            for orbit in ORBITS
            for per in PERS
            for one in alone()
            for seed in (seeds[: orbit.runs] if per else seeds[:1])
        ]
        return cls(effort.collect(_goodput, points, lambda point: (point[0].name, point[1], point[2].label)))

    def of(self, orbit: Orbit, per: float, label: str) -> list[float]:
        """Returns the goodputs of a point for each seed, in Mbit/s."""
        return self.found[orbit.name, per, label]

    def mean(self, orbit: Orbit, per: float, label: str) -> Interval:
        """Returns the mean goodput of a point, in Mbit/s."""
        return mean_interval(self.of(orbit, per, label))

    @property
    def seeds(self) -> int:
        """The number of seeds at points with losses."""
        return max(map(len, self.found.values()))


def _goodput(point: tuple[Orbit, float, Algorithm, int]) -> float:
    orbit, per, algorithm, seed = point
    result = orbit.run(algorithm, seed, links__1__loss=f"{per:g}", duration=f"{orbit.seconds:g} s")
    return float(result.summary["flows"][0]["goodput_bps"]) / 1e6


def rows(grid: Grid) -> list[Row]:
    """Returns the rows on the expected order over GEO, and on response functions where they exist."""
    lines = [_order_row(grid), _bbr_row(grid)]
    for orbit in ORBITS:
        lines += [_response_row(grid, orbit, per, name) for per in PERS[1:] for name in ("newreno", "cubic", "hybla")]
    return lines


def _order_row(grid: Grid) -> Row:
    cells = [grid.of(GEO, JUDGED_PER, label) for label in ORDER]
    means = [statistics.fmean(cell) for cell in cells]
    agree = [sum(a > b for a, b in zip(fast, slow, strict=True)) for fast, slow in pairwise(cells)]
    holds = all(a > b for a, b in pairwise(means)) and min(agree) >= SHARE_OF_SEEDS * grid.seeds
    plain = grid.mean(GEO, JUDGED_PER, "hybla")
    return Row.check(
        "errors, GEO",
        f"PER {JUDGED_PER:g}: goodput of {', '.join(ORDER)}, Mbit/s",
        "in this order: no reaction to losses, growth by ρ², growth with time, growth by one",
        ", ".join(pm(mean_interval(cell)) for cell in cells),
        holds,
        f"the means in this order, and each pair in 8 of 10 seeds; they are in {', '.join(map(str, agree))} of "
        f"{grid.seeds}. Hybla without pacing: {pm(plain)}",
    )


def _bbr_row(grid: Grid) -> Row:
    """Returns the row on the cost of BBR's emptying the path every ten seconds.

    It takes one round trip to fall to a window of 4 segments, and BBR stays there for another.
    """
    idle = 2 * GEO.rtt_s
    ideal = GEO.most_bps * PROBE_S / (PROBE_S + idle) / 1e6
    ours = grid.mean(GEO, 0.0, "bbr")
    return Row.check(
        "errors, GEO",
        "bbr without errors: goodput, Mbit/s",
        f"{ideal:.2f} (a flight of 4 for {idle:g} s after every {PROBE_S:g} s)",
        pm(ours),
        abs(ours.mean / ideal - 1) <= 0.05,
        "tolerance 5 %. Over LEO the same costs 200 ms of 10 s",
    )


def _response_row(grid: Grid, orbit: Orbit, per: float, name: str) -> Row:
    ideal = orbit.response(named(name).name, per)
    ours = grid.mean(orbit, per, name)
    full = ideal is not None and ideal >= 0.999 * orbit.most_bps
    return Row.informing(
        f"errors, {orbit.name}",
        f"{name}, PER {per:g}: goodput, Mbit/s",
        pm(ours),
        "" if ideal is None else f"{ours.mean * 1e6 / ideal - 1:+.0%}{_short(orbit, full)}",
        theory="" if ideal is None else f"{ideal / 1e6:.2f} ({'the link' if full else 'response function'})",
    )


def _short(orbit: Orbit, full: bool) -> str:
    rounds = orbit.seconds / orbit.rtt_s
    return "" if full or rounds > 500 else f"; {rounds:.0f} round trips, which start after slow start"


def layout(grid: Grid, orbit: Orbit) -> Layout:
    """Returns the table for one path, with one line per algorithm."""
    header = ("algorithm", *(f"PER {per:g}" for per in PERS), "response functions")
    lines = []
    for one in alone():
        forms = [orbit.response(one.name, per) for per in PERS[1:]]
        known = ", ".join(f"{form / 1e6:.2f}" for form in forms if form is not None)
        lines.append((one.label, *(pm(grid.mean(orbit, per, one.label)) for per in PERS), known))
    about = f"{orbit.rate_bps / 1e6:g} Mbit/s, {orbit.rtt_s * 1e3:g} ms, queue of 1 BDP, {orbit.seconds:g} s"
    title = f"Goodput over {orbit.name} in Mbit/s: {about}, {len(grid.of(orbit, PERS[1], 'cubic'))} seeds"
    return Layout(f"errors_{orbit.name.lower()}", title, header, tuple(lines))
