"""Transfers from 10 kB to 100 MB over GEO: where start-up ends to matter, and the steady state begins to."""

from __future__ import annotations

from dataclasses import dataclass

from lightlag.analyse import Interval, mean_interval
from lightlag_papers.open_questions.contenders import Algorithm, alone
from lightlag_papers.open_questions.losses import pm
from lightlag_papers.open_questions.paths import GEO
from lightlag_papers.paper import Effort
from lightlag_papers.table import Layout, Row, Verdict

SEEDS = 3
SIZES = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
PERS = (0.0, 1e-3)
LONGEST_S = 4000.0


@dataclass(frozen=True)
class Transfers:
    """Times of completion in seconds of each seed, by error rate, algorithm and size; without what did not finish."""

    found: dict[tuple[float, str, int], list[float]]

    @classmethod
    def run(cls, effort: Effort) -> Transfers:
        """Run all of it; without errors once."""
        seeds = effort.seeds_of(SEEDS)
        points = [
            (per, one, size, seed)
            for per in PERS
            for one in alone()
            for size in SIZES
            for seed in (seeds if per else seeds[:1])
        ]
        times = effort.map(_finish_s, points)
        found: dict[tuple[float, str, int], list[float]] = {}
        for (per, one, size, _), time in zip(points, times, strict=True):
            cell = found.setdefault((per, one.label, size), [])
            cell += [] if time is None else [time]
        return cls(found)

    def mean(self, per: float, label: str, size: int) -> Interval | None:
        """Mean time of completion; None if nothing finished."""
        times = self.found[per, label, size]
        return mean_interval(times) if times else None

    def share(self, per: float, label: str, size: int) -> float:
        """Mean goodput as a share of what the link carries; 0 for what did not finish."""
        mean = self.mean(per, label, size)
        return 0.0 if mean is None else size * 8 / mean.mean / GEO.most_bps


def _finish_s(point: tuple[float, Algorithm, int, int]) -> float | None:
    per, algorithm, size, seed = point
    sets = {"flows__0__transfer": f"{size} B", "duration": f"{LONGEST_S:g} s", "links__1__loss": f"{per:g}"}
    (flow,) = GEO.run(algorithm, seed, **sets).summary["flows"]
    return None if flow["finish_s"] is None else float(flow["finish_s"])


def rows(found: Transfers) -> list[Row]:
    """Transfers without errors against slow start alone, and how much of a transfer is start-up."""
    lines = [_slow_start_row(found, size) for size in SIZES[:3]]
    for label in ("newreno", "cubic"):
        shares = [found.share(0.0, label, size) for size in SIZES]
        lossy = [found.share(1e-3, label, size) for size in SIZES]
        lines.append(
            Row(
                "sizes, GEO",
                f"{label}: share of the link for 10 kB, 100 kB, 1 MB, 10 MB, 100 MB",
                "",
                ", ".join(f"{size * 8 / GEO.slow_start_s(size) / GEO.most_bps:.0%}" for size in SIZES)
                + " (slow start alone)",
                f"{', '.join(f'{share:.0%}' for share in shares)}; PER 1e-3: "
                f"{', '.join(f'{share:.0%}' for share in lossy)}",
                Verdict.NOT_JUDGED,
                "up to 1 MB start-up decides, and errors have hardly come yet; from 10 MB on the steady state does",
            )
        )
    return lines


def _slow_start_row(found: Transfers, size: int) -> Row:
    ideal = GEO.slow_start_s(size)
    mean = found.mean(0.0, "newreno", size)
    ours = float("nan") if mean is None else mean.mean
    return Row(
        "sizes, GEO",
        f"newreno, {size // 1000} kB without errors: time of completion, s",
        "",
        f"{ideal:.2f} (handshake, doublings from 10 segments)",
        f"{ours:.2f}",
        Verdict.check(abs(ours - ideal) <= GEO.rtt_s),
        "tolerance one round trip",
    )


def layout(found: Transfers, per: float) -> Layout:
    """Times of completion: a line for each algorithm."""
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
