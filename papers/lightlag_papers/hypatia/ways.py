"""Propagation round-trip times: the pairs of cities, Hypatia's stored series, and all pairs of a hundred cities."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import lightlag as ll
from lightlag.constellation.satellites import Sky
from lightlag_papers.hypatia.setting import DURATION_S, FLEETS, PAIRS, Fleet, all_cities, pairs_of
from lightlag_papers.table import BEFOREHAND, Layout, Row

TOLERANCE_MS = 0.01
SECOND = "a second program, written from the equations alone"


@dataclass(frozen=True)
class Series:
    """The propagation round-trip time of a pair.

    The fields are minimum, mean and maximum in ms over samples of 1 s, the number of changes, and the seconds without a
    path.
    """

    least: float
    mean: float
    greatest: float
    changes: int
    out_s: int

    @property
    def text(self) -> str:
        """The values as text for a table."""
        out = f", {self.out_s} s out" if self.out_s else ""
        return f"{self.least:.3f} {self.mean:.3f} {self.greatest:.3f} ({self.changes}{out})"


EXPECTED: dict[tuple[str, bool], tuple[Series, ...]] = {
    ("Kuiper", True): (
        Series(95.741, 112.339, 136.615, 9, 10),
        Series(25.235, 40.116, 48.159, 5, 0),
        Series(46.928, 60.088, 69.537, 7, 0),
        Series(21.719, 22.391, 24.615, 8, 0),
        Series(92.205, 94.632, 96.794, 4, 0),
        Series(90.482, 93.135, 97.187, 5, 0),
    ),
    ("Starlink", True): (
        Series(107.373, 116.465, 129.204, 2, 0),
        Series(27.120, 34.177, 47.377, 4, 0),
        Series(56.993, 65.089, 77.608, 4, 0),
        Series(20.357, 20.723, 21.339, 3, 0),
        Series(118.516, 123.864, 124.906, 4, 0),
        Series(85.282, 103.377, 117.253, 5, 0),
    ),
    ("Telesat", True): (
        Series(82.339, 83.638, 85.749, 3, 0),
        Series(23.684, 24.078, 24.486, 1, 0),
        Series(36.749, 36.950, 37.422, 1, 0),
        Series(22.557, 23.462, 24.434, 3, 0),
        Series(81.323, 81.563, 82.039, 2, 0),
        Series(48.199, 48.378, 48.477, 1, 0),
    ),
    ("Kuiper", False): (
        Series(128.329, 129.125, 130.132, 2, 148),
        Series(41.130, 43.715, 48.618, 4, 0),
        Series(62.575, 67.259, 78.372, 3, 0),
        Series(21.719, 23.342, 27.877, 12, 0),
        Series(93.798, 95.724, 101.012, 5, 0),
        Series(92.079, 94.945, 98.213, 7, 0),
    ),
    ("Starlink", False): (
        Series(107.373, 118.197, 129.313, 3, 0),
        Series(30.227, 39.104, 59.265, 6, 0),
        Series(56.993, 68.763, 87.400, 5, 0),
        Series(20.357, 20.811, 22.163, 6, 0),
        Series(123.528, 124.250, 124.906, 3, 0),
        Series(85.397, 107.378, 117.493, 5, 0),
    ),
    ("Telesat", False): (
        Series(92.713, 102.441, 111.602, 2, 0),
        Series(23.684, 24.078, 24.486, 1, 0),
        Series(37.063, 42.833, 43.926, 2, 0),
        Series(22.557, 23.462, 24.434, 3, 0),
        Series(89.483, 90.728, 95.587, 2, 0),
        Series(52.636, 52.831, 64.800, 1, 0),
    ),
}
"""Expected values from a second program, by constellation and whether the slant range limits visibility.

Each has the pairs in their order.
"""
ALL_PAIRS = {
    ("Kuiper", True): (72.4, 124.4, 1.071, 1.237, 4.32, 0.0010),
    ("Kuiper", False): (75.1, 125.9, 1.087, 1.308, 4.21, 0.0148),
    ("Starlink", True): (87.6, 143.4, 1.127, 1.391, 4.31, 0.0),
    ("Starlink", False): (88.6, 146.3, 1.132, 1.424, 4.31, 0.0),
    ("Telesat", True): (59.5, 120.6, 1.024, 1.137, 1.97, 0.0),
    ("Telesat", False): (86.9, 145.5, 1.094, 1.258, 1.71, 0.0),
}
"""Expected statistics of all 4950 pairs, calculated by the same second program: median and 90th percentile of the
maximum round-trip time in ms, the same of the ratio of maximum to minimum, the mean number of changes, and the
fraction of time without a path.
"""
STORED = Series(25.2298, 40.1438, 48.1651, 5, 0)
"""Manila to Dalian over Kuiper in the data of Hypatia's own test: 2000 samples at intervals of 100 ms."""
STORED_CHANGES = (18.0, 27.6, 74.3, 125.9, 128.7)


def series(sky: Sky, start: str, end: str, step_s: float = 1.0) -> Series:
    """Returns the round-trip time of a pair, sampled in the same way as by Hypatia."""
    path = sky.path(start, end, DURATION_S - step_s, step_s)
    rtt = path["rtt_ms"].drop_nulls().to_numpy()
    sampled = [tuple(nodes) for nodes in _sampled(sky, start, end, path["time_s"].to_list())]
    changes = sum(a != b for a, b in itertools.pairwise(sampled))
    return Series(
        float(rtt.min()), float(rtt.mean()), float(rtt.max()), changes, round(path["rtt_ms"].null_count() * step_s)
    )


def _sampled(sky: Sky, start: str, end: str, times: Sequence[float]) -> list[list[int]]:
    courses = sky.path_changes(start, end, DURATION_S)
    at, found = 0, []
    for time in times:
        while at + 1 < len(courses) and courses[at + 1][0] <= time:
            at += 1
        found.append(courses[at][1])
    return found


def pair_rows() -> tuple[list[Row], dict[tuple[str, bool], list[Series]]]:
    """Returns the rows for the city pairs over the three constellations, with Hypatia's limit and with a true mask."""
    rows, found = [], {}
    for fleet in FLEETS:
        for slant in (True, False):
            sky = ll.sky(pairs_of(fleet, slant=slant))
            found[fleet.name, slant] = [series(sky, start, end) for start, end in PAIRS]
            for (start, end), ours, expected in zip(
                PAIRS, found[fleet.name, slant], EXPECTED[fleet.name, slant], strict=True
            ):
                rows.append(_pair_row(fleet, f"{start} – {end}", ours, expected, slant=slant))
    return rows, found


def _pair_row(fleet: Fleet, pair: str, ours: Series, expected: Series, *, slant: bool) -> Row:
    numbers = [(ours.least, expected.least), (ours.mean, expected.mean), (ours.greatest, expected.greatest)]
    worst = max(abs(a - b) for a, b in numbers)
    holds = worst <= TOLERANCE_MS and (ours.changes, ours.out_s) == (expected.changes, expected.out_s)
    limit = "Hypatia's slant" if slant else "a mask of elevation"
    return Row.check(
        f"RTT, {fleet.name}",
        f"{pair}, by {limit}: least, mean, greatest ms (changes)",
        expected.text,
        ours.text,
        holds,
        f"within {TOLERANCE_MS} ms of {SECOND}, and as many changes ({BEFOREHAND}); maximum difference {worst:.4f} ms",
    )


def stored_rows() -> list[Row]:
    """Returns the rows for Hypatia's own numbers: the series of its test, and its page's values for Paris and
    Luanda.
    """
    kuiper = ll.sky(pairs_of(FLEETS[0], slant=True))
    ours = series(kuiper, "Manila", "Dalian", 0.1)
    worst = max(
        abs(a - b)
        for a, b in zip(
            (ours.least, ours.mean, ours.greatest), (STORED.least, STORED.mean, STORED.greatest), strict=True
        )
    )
    changes = [since for since, _ in kuiper.path_changes("Manila", "Dalian", DURATION_S)[1:]]
    shown = [math.ceil(since * 10 - 1e-6) / 10 for since in changes]
    luanda = series(ll.sky(pairs_of(FLEETS[1], slant=True)), "Paris", "Luanda")
    return [
        Row.claim(
            "test data",
            "Manila – Dalian over Kuiper, 2000 samples: least, mean, greatest ms",
            f"{STORED.least:.3f} {STORED.mean:.3f} {STORED.greatest:.3f}",
            f"{ours.least:.3f} {ours.mean:.3f} {ours.greatest:.3f}",
            worst <= TOLERANCE_MS,
            f"within {TOLERANCE_MS} ms ({BEFOREHAND}); maximum difference {worst:.4f} ms",
        ),
        Row.claim(
            "test data",
            "times of the path's changes in steps of 100 ms, s",
            ", ".join(map(str, STORED_CHANGES)),
            ", ".join(f"{at:.1f}" for at in shown),
            shown == list(STORED_CHANGES),
            "the same steps; ours are found to the millisecond: " + ", ".join(f"{at:.3f}" for at in changes),
        ),
        Row.claim(
            "web page",
            "Paris – Luanda over Starlink, greatest and least ms",
            "117 and 85",
            f"{luanda.greatest:.0f} and {luanda.least:.0f}",
            (round(luanda.greatest), round(luanda.least)) == (117, 85),
            "as printed",
        ),
    ]


@dataclass(frozen=True)
class Spread:
    """Statistics of all pairs of a hundred cities over a constellation."""

    greatest: np.ndarray
    ratio: np.ndarray
    changes: np.ndarray
    out: float

    @classmethod
    def of(cls, fleet: Fleet, *, slant: bool) -> Spread:
        """Returns the statistics over 200 s, with one sample per second."""
        pairs = ll.sky(all_cities(fleet, slant=slant)).pairs(DURATION_S)
        known = pairs.drop_nulls("greatest_rtt_ms")
        greatest = known["greatest_rtt_ms"].to_numpy()
        ratio = greatest / known["least_rtt_ms"].to_numpy()
        return cls(greatest, ratio, pairs["changes"].to_numpy(), float(pairs["out"].mean() or 0.0))  # type: ignore[arg-type]

    @property
    def numbers(self) -> tuple[float, float, float, float, float, float]:
        """The statistics in the order of :data:`ALL_PAIRS`."""
        (a, b), (c, d) = (np.quantile(values, (0.5, 0.9)) for values in (self.greatest, self.ratio))
        return float(a), float(b), float(c), float(d), float(self.changes.mean()), self.out


def spread_rows() -> tuple[list[Row], dict[tuple[str, bool], Spread], Layout]:
    """Returns the rows and the table of the distribution over all pairs."""
    rows, lines = [], []
    found = {(fleet.name, slant): Spread.of(fleet, slant=slant) for fleet in FLEETS for slant in (True, False)}
    for (name, slant), spread in found.items():
        expected, ours = ALL_PAIRS[name, slant], spread.numbers
        near = all(abs(a / b - 1) <= 0.005 for a, b in zip(ours[:4], expected[:4], strict=True))
        holds = near and abs(ours[4] / expected[4] - 1) <= 0.02 and abs(ours[5] - expected[5]) <= 0.0005
        text = "{:.1f}/{:.1f} ms, {:.3f}/{:.3f}, {:.2f}, {:.2%}"
        rows.append(
            Row.check(
                f"all pairs, {name}",
                f"maximum RTT p50/p90, maximum over minimum p50/p90, changes, out; {'slant' if slant else 'mask'}",
                text.format(*expected),
                text.format(*ours),
                holds,
                f"within 0.5 %, changes within 2 %, outages within 0.05 % of {SECOND} ({BEFOREHAND})",
            )
        )
        lines.append((name, "slant" if slant else "mask", *text.format(*ours).split(", ")))
    by_slant, by_mask = found["Telesat", True].numbers[0], found["Telesat", False].numbers[0]
    kuiper = found["Kuiper", True].numbers[0], found["Kuiper", False].numbers[0]
    rows.append(
        Row.informing(
            "all pairs",
            "median of the maximum RTT, Telesat against Kuiper",
            f"by slant {by_slant:.1f} against {kuiper[0]:.1f} ms, by a mask {by_mask:.1f} against {kuiper[1]:.1f}",
            "Telesat is the fastest only where its ground links pass below the horizon",
        )
    )
    header = ("constellation", "limit", "maximum RTT p50/p90", "maximum/minimum p50/p90", "changes in 200 s", "no path")
    return rows, found, Layout("all_pairs", "All pairs of a hundred cities, 200 s", header, tuple(lines))
