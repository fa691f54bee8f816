"""Transfers from 10 kB to 100 MB over GEO: with growing size, start-up matters less and the steady state more."""

from __future__ import annotations

from dataclasses import dataclass

from lightlag.analyse import Interval, mean_interval
from lightlag_papers.open_questions.candidates import Algorithm, alone
from lightlag_papers.open_questions.paths import GEO
from lightlag_papers.paper import Effort
from lightlag_papers.table import Layout, Row, pm

SEEDS = 3
SIZES = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
PERS = (0.0, 1e-3)
LONGEST_S = 4000.0


@dataclass(frozen=True)
class Transfers:
    """Completion times in s for each seed, by error rate, algorithm and size; unfinished transfers are left out."""

    found: dict[tuple[float, str, int], list[float]]

    @classmethod
    def run(cls, effort: Effort) -> Transfers:
        """Runs all points. Points without errors run once."""
        seeds = effort.seeds_of(SEEDS)
        points = [
            (per, one, size, seed)
            for per in PERS
            for one in alone()
            for size in SIZES
            for seed in (seeds if per else seeds[:1])
        ]
        found = effort.collect(_finish_s, points, lambda point: (point[0], point[1].label, point[2]))
        return cls({place: [time for time in times if time is not None] for place, times in found.items()})

    def mean(self, per: float, label: str, size: int) -> Interval | None:
        """Returns the mean completion time in s; None if no transfer finished."""
        times = self.found[per, label, size]
        return mean_interval(times) if times else None

    def share(self, per: float, label: str, size: int) -> float:
        """Returns the mean goodput as a fraction of the link's capacity; 0 if no transfer finished."""
        mean = self.mean(per, label, size)
        return 0.0 if mean is None else size * 8 / mean.mean / GEO.most_bps


def _finish_s(point: tuple[float, Algorithm, int, int]) -> float | None:
    per, algorithm, size, seed = point
    sets = {"flows__0__transfer": f"{size} B", "duration": f"{LONGEST_S:g} s", "links__1__loss": f"{per:g}"}
    (flow,) = GEO.run(algorithm, seed, **sets).summary["flows"]
    return None if flow["finish_s"] is None else float(flow["finish_s"])


def rows(found: Transfers) -> list[Row]:
    """Returns rows that compare transfers without errors with slow start alone, and on the fraction spent in
    start-up.
    """
    lines = [_slow_start_row(found, size) for size in SIZES[:3]]
    for label in ("newreno", "cubic"):
        shares = [found.share(0.0, label, size) for size in SIZES]
        lossy = [found.share(1e-3, label, size) for size in SIZES]
        lines.append(
            Row.informing(
                "sizes, GEO",
                f"{label}: share of the link for 10 kB, 100 kB, 1 MB, 10 MB, 100 MB",
                f"{', '.join(f'{share:.0%}' for share in shares)}; PER 1e-3: "
                f"{', '.join(f'{share:.0%}' for share in lossy)}",
                "up to 1 MB start-up decides, and errors have hardly come yet; from 10 MB on the steady state does",
                theory=(
                    ", ".join(f"{size * 8 / GEO.slow_start_s(size) / GEO.most_bps:.0%}" for size in SIZES)
                    + " (slow start alone)"
                ),
            )
        )
    return lines


def _slow_start_row(found: Transfers, size: int) -> Row:
    ideal = GEO.slow_start_s(size)
    mean = found.mean(0.0, "newreno", size)
    ours = float("nan") if mean is None else mean.mean
    return Row.check(
        "sizes, GEO",
        f"newreno, {size // 1000} kB without errors: time of completion, s",
        f"{ideal:.2f} (handshake, doublings from 10 segments)",
        f"{ours:.2f}",
        abs(ours - ideal) <= GEO.rtt_s,
        "tolerance one round trip",
    )


def layout(found: Transfers, per: float) -> Layout:
    """Returns the table of completion times, with one line per algorithm."""
    header = ("algorithm", *(f"{_size(size)}" for size in SIZES), "share of the link at 100 MB")
    lines = tuple(
        (
            one.label,
            *(_time(found.mean(per, one.label, size)) for size in SIZES),
            f"{found.share(per, one.label, SIZES[-1]):.0%}",
        )
        for one in alone()
    )
    bare = ("slow start alone", *(f"{GEO.slow_start_s(size):.1f}" for size in SIZES), "")
    return Layout(
        f"sizes_{'errors' if per else 'clean'}",
        f"Time of completion in s over GEO, PER {per:g}",
        header,
        (*lines, bare) if not per else lines,
    )


def _size(size: int) -> str:
    return f"{size // 1_000_000} MB" if size >= 1_000_000 else f"{size // 1000} kB"


def _time(mean: Interval | None) -> str:
    return f"not within {LONGEST_S:g}" if mean is None else pm(mean, 1)
