"""Captions of figures of comparisons: what is shown, of how many seeds, what the intervals are, and what is missing.

Figures leave this out, and readers of a paper need it.
"""

from __future__ import annotations

from collections.abc import Sequence

from lightlag.drawing import names
from lightlag.outcomes.design import MEASURES, Measure, Point
from lightlag.outcomes.outcomes import Outcomes
from lightlag.plot.comparison_panels import counted, describe

__all__ = ["COMPLETION", "never_finished", "of_comparison", "partly_finished"]

COMPLETION = next(one for one in MEASURES if one.column == "completion_s")
_MOST_NAMED = 4
"""Maximum number of missing values that a caption names one by one."""


def of_comparison(
    comparison: Outcomes,
    title: str,
    *,
    points: Sequence[Point],
    shows: str = "",
    intervals: str = "",
    measures: Sequence[Measure] = (),
    extra: Sequence[str] = (),
) -> str:
    """Returns the caption of a figure.

    Parameters
    ----------
    title
        What the figure shows.
    points
        The points that it shows.
    shows
        What a line, bar or cell is, such as "means"; by default the figure shows single runs.
    intervals
        What shows the intervals, such as "bands"; empty if nothing does.
    measures
        The metrics that it shows. Their runs without a value, such as a completion time, are stated.
    extra
        Further sentences.
    """
    sentences = [f"{title}: scenario {comparison.name}, {_algorithms(comparison)}"]
    if shows:
        sentences.append(_about_means(comparison, points, shows, intervals, measures))
    sentences += [one for one in extra if one]
    if COMPLETION in measures:
        sentences += _missing(comparison, points)
    return " ".join(f"{one}." for one in sentences)


def _algorithms(comparison: Outcomes) -> str:
    shown = [names.algorithm(name) for name in comparison.algorithms]
    return _listed(shown) if len(shown) <= 8 else f"{len(shown)} algorithms"


def _about_means(
    comparison: Outcomes, points: Sequence[Point], shows: str, intervals: str, measures: Sequence[Measure]
) -> str:
    each = " per point" if len(comparison.points) > 1 else ""
    seeds = sorted({one.seed for one in comparison.outcomes})
    which = f"seed {seeds[0]}"
    if len(seeds) > 1:
        which = f"seeds {seeds[0]} {'and' if len(seeds) == 2 else 'to'} {seeds[-1]}"
    runs = counted(comparison, points).replace("runs", "seeds").replace("run", "seed")
    if runs == "1 seed":
        return f"One run{each or ' per algorithm'} ({which}), without intervals"
    about = f"{shows[0].upper()}{shows[1:]} of n = {runs}{each} ({which})"
    if not intervals:
        return about
    if all(comparison.is_identical(name, point) for name, point in comparison.cells() if point in set(points)):
        return f"{about}; all runs of an algorithm are identical, because nothing is random, so there are no intervals"
    levels = {comparison.confidence(one) for one in measures} or {0.95}
    share = " or ".join(f"{100 * level:g}" for level in sorted(levels))
    return f"{about}; {intervals} are {share} % confidence intervals of the mean (Student's t)"


def never_finished(comparison: Outcomes, points: Sequence[Point]) -> list[tuple[str, Point]]:
    """Returns the algorithms and points whose runs all ended before the transfers did."""
    return [(name, point) for name, point, finished, _ in _finished(comparison, points) if finished == 0]


def partly_finished(comparison: Outcomes, points: Sequence[Point]) -> list[tuple[str, Point, int, int]]:
    """Returns the algorithms and points with runs that finished and others that did not.

    Each entry also has the number of runs that finished, and the number of all runs.
    """
    return [one for one in _finished(comparison, points) if 0 < one[2] < one[3]]


def _finished(comparison: Outcomes, points: Sequence[Point]) -> list[tuple[str, Point, int, int]]:
    return [
        (name, point, len(comparison.values(name, COMPLETION, point)), len(comparison.of(name, point)))
        for point in points
        for name in comparison.algorithms
        if comparison.of(name, point)
    ]


def _missing(comparison: Outcomes, points: Sequence[Point]) -> list[str]:
    never, some = never_finished(comparison, points), partly_finished(comparison, points)
    said = []
    if never:
        each = [_at(comparison, name, point) for name, point in never]
        said.append(f"No run finished within the simulated time: {_few(each)}")
    if some:
        each = [f"{done} of {runs} of {_at(comparison, name, point)}" for name, point, done, runs in some]
        said.append(f"Only some runs finished, and their mean is shown: {_few(each)}")
    return said


def _at(comparison: Outcomes, name: str, point: Point) -> str:
    where = describe(comparison, point)
    return f"{names.algorithm(name)} ({where})" if where else names.algorithm(name)


def _few(parts: Sequence[str]) -> str:
    if len(parts) <= _MOST_NAMED:
        return _listed(parts)
    return f"{', '.join(parts[:_MOST_NAMED])} and {len(parts) - _MOST_NAMED} more"


def _listed(parts: Sequence[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last
