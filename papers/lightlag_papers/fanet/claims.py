"""The claims of Figs. 3 to 6 and their text, each with its criterion, which is applied to the runs of one reading."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lightlag.analyse import Interval
from lightlag_papers.fanet.measures import sign_test, spearman
from lightlag_papers.fanet.readings import Curve, Evidence
from lightlag_papers.table import AS_PRINTED, BEFOREHAND, Band, pm

ALGORITHMS = ("CUBIC", "BBR")
FIGURES = {"Fig. 3": "nodes", "Fig. 4": "nodes", "Fig. 5": "speed", "Fig. 6": "speed"}
"""The quantity that varies in each figure: the number of nodes or the speed."""
AXES = {"nodes": "UAVs", "speed": "m/s"}

FACTOR = 1.5
"""Maximum ratio between a printed throughput and ours. The maximum and the minimum of each curve of the paper differ by
a factor of 3.2 to 4.8, so that the bands of both do not overlap.
"""
MARGIN = 0.09
"""Spearman's rank correlation that counts as falling throughput: 1 in 24 random orders of five points reach it.

The extremes of each curve of the paper differ by 0.18 to 0.36.
"""
RANK = -0.9
"""Minimum ratio of broken links at the highest speed to the lowest; below it most breaks are not due to mobility."""
SIGNIFICANT = 0.05
BREAKS = 2.0
"""Minimum ratio of broken links at the highest speed to the lowest; below it most breaks are not due to mobility."""


@dataclass(frozen=True)
class Printed:
    """The values that the text gives for an algorithm, and the point (number of nodes or speed) of each.

    Attributes
    ----------
    max_kbps, min_kbps
        Maximum and minimum throughput, and the point where it occurs.
    max_jain, min_jain
        Maximum and minimum of Jain's index, and the point where it occurs.
    """

    max_kbps: tuple[float, int]
    min_kbps: tuple[float, int]
    max_jain: tuple[float, int]
    min_jain: tuple[float, int]


PAPER = {
    ("nodes", "CUBIC"): Printed((867.729, 40), (180.579, 80), (0.8671, 80), (0.6642, 60)),
    ("nodes", "BBR"): Printed((288.185, 40), (91.271, 80), (0.7675, 40), (0.5295, 50)),
    ("speed", "CUBIC"): Printed((488.2, 5), (141.76, 5), (0.98046, 5), (0.618, 10)),
    ("speed", "BBR"): Printed((382.694, 5), (114.5539, 5), (0.67, 10), (0.487, 15)),
}
"""The printed values, by the varied quantity and the algorithm."""


@dataclass(frozen=True)
class Finding:
    """The measurement that decides whether a claim is reproduced.

    Attributes
    ----------
    text
        The measured values.
    holds
        Whether the values meet the criterion.
    """

    text: str
    holds: bool


@dataclass(frozen=True)
class Claim:
    """A statement of the paper.

    Attributes
    ----------
    key
        Number of the figure, followed by a letter.
    figure
        Figure of the claim.
    quantity, paper
        The compared quantity, and the paper's value.
    criterion
        Condition under which the claim counts as reproduced.
    evaluate
        Function that decides about the claim from the runs of one reading.
    """

    key: str
    figure: str
    quantity: str
    paper: str
    criterion: str
    evaluate: Callable[[Evidence], Finding]

    @property
    def varies(self) -> str:
        """The quantity that varies in the claim's figure: ``nodes`` or ``speed``."""
        return FIGURES[self.figure]


def _in_band(interval: Interval, band: Band) -> bool:
    """Returns true if a mean is within a band and its confidence interval is narrower than the band."""
    return interval.mean in band and 2 * interval.half_width < band.high - band.low


def _order(figure: str, metric: Callable[[Evidence], dict[str, Curve]], name: str, everywhere: bool) -> Claim:
    def assess(seen: Evidence) -> Finding:
        cubic, bbr = (metric(seen)[algorithm] for algorithm in ALGORITHMS)
        above = sum(a > b for a, b in zip(cubic.means, bbr.means, strict=True))
        pairs = [
            (a, b)
            for points in zip(cubic.values, bbr.values, strict=True)
            for a, b in zip(*points, strict=True)
            if not math.isnan(a + b) and a != b
        ]
        wins = sum(a > b for a, b in pairs)
        chance = sign_test(wins, len(pairs))
        enough = above == len(cubic.points) if everywhere else 2 * above > len(cubic.points)
        text = f"{above} of {len(cubic.points)} points, {wins} of {len(pairs)} swarms (p = {chance:.1g})"
        return Finding(text, enough and chance < SIGNIFICANT)

    where = "at every point" if everywhere else "at most points"
    means = "at every point" if everywhere else "at more than half of the points"
    criterion = f"in the mean {means} ({AS_PRINTED}), and a sign test over all swarms with p < {SIGNIFICANT}"
    return Claim("", figure, f"{name} of CUBIC above BBR's", where, f"{criterion} ({BEFOREHAND})", assess)


def _fall(figure: str, algorithm: str) -> Claim:
    def assess(seen: Evidence) -> Finding:
        curve = seen.throughput[algorithm]
        rank = spearman(curve.points, curve.means)
        means = ", ".join(f"{mean:.0f}" for mean in curve.means)
        return Finding(f"{means} ({'constant' if math.isnan(rank) else f'{rank:.2f}'})", rank <= RANK)

    what = "number of UAVs" if FIGURES[figure] == "nodes" else "speed"
    criterion = f"Spearman's rank correlation at most {RANK} ({BEFOREHAND})"
    return Claim("", figure, f"{algorithm}: throughput by the {what}, kbit/s", "falls", criterion, assess)


def _value(figure: str, algorithm: str, largest: bool) -> Claim:
    varies = FIGURES[figure]
    printed = PAPER[varies, algorithm]
    value, point = printed.max_kbps if largest else printed.min_kbps
    band = Band(value / FACTOR, value * FACTOR, BEFOREHAND)
    which, where = ("largest", "first") if largest else ("smallest", "last")

    def assess(seen: Evidence) -> Finding:
        interval = seen.throughput[algorithm].intervals[0 if largest else -1]
        return Finding(pm(interval, 0), _in_band(interval, band))

    at = f"at {point} {AXES[varies]}" if largest or varies == "nodes" else f"printed at {point} m/s"
    quantity = f"{algorithm}: throughput at the {where} point, kbit/s"
    criterion = f"within {band.text}, a factor of {FACTOR:g}"
    if not (largest or varies == "nodes"):
        criterion += "; at the highest speed, where the text's own trend has it"
    return Claim("", figure, quantity, f"{value:.0f}, the {which}, {at}", criterion, assess)


def _extreme(figure: str, algorithm: str, largest: bool) -> Claim:
    varies = FIGURES[figure]
    printed = PAPER[varies, algorithm]
    value, point = printed.max_jain if largest else printed.min_jain
    band = Band(value - MARGIN, value + MARGIN, BEFOREHAND)
    which = "largest" if largest else "smallest"

    def assess(seen: Evidence) -> Finding:
        curve = seen.jain[algorithm]
        known = [(one, at) for one, at in zip(curve.intervals, curve.points, strict=True) if one.count]
        if not known:
            return Finding("no data", False)
        interval, at = (max if largest else min)(known, key=lambda each: each[0].mean)
        return Finding(f"{pm(interval, 2)} (at {at})", len(known) == len(curve.points) and _in_band(interval, band))

    criterion = f"within {band.text}, at any point"
    paper = f"{value:.2f} (at {point} {AXES[varies]})"
    return Claim("", figure, f"{algorithm}: {which} Jain's index", paper, criterion, assess)


def _breaks() -> Claim:
    def assess(seen: Evidence) -> Finding:
        means = seen.broken["CUBIC"].means
        return Finding(", ".join(f"{mean:.1f}" for mean in means), means[-1] >= BREAKS * means[0])

    paper = "frequent route failures, which occur due to the mobility"
    criterion = f"{BREAKS:g} times as many at the highest speed as at the lowest ({BEFOREHAND}): a frame that collides "
    criterion += "too often breaks a route as well"
    return Claim("", "Fig. 5", "CUBIC: broken links per second by the speed", paper, criterion, assess)


def _of_figures() -> Iterator[Claim]:
    for throughput, fairness in (("Fig. 3", "Fig. 4"), ("Fig. 5", "Fig. 6")):
        yield _order(throughput, lambda seen: dict(seen.throughput), "throughput", everywhere=True)
        yield from (_fall(throughput, name) for name in ALGORITHMS)
        yield from (_value(throughput, name, largest) for name in ALGORITHMS for largest in (True, False))
        if throughput == "Fig. 5":
            yield _breaks()
        yield _order(fairness, lambda seen: dict(seen.jain), "Jain's index", everywhere=False)
        yield from (_extreme(fairness, name, largest) for name in ALGORITHMS for largest in (True, False))


def _numbered(claims: Iterator[Claim]) -> Iterator[Claim]:
    for figure, group in itertools.groupby(claims, key=lambda claim: claim.figure):
        for letter, one in zip("abcdefgh", group, strict=False):
            key = f"{figure[-1]}{letter}"
            yield Claim(key, one.figure, one.quantity, one.paper, one.criterion, one.evaluate)


CLAIMS = tuple(_numbered(_of_figures()))
"""All claims, each once. Which version of BBR the paper used is a question for the readings, not another claim."""
