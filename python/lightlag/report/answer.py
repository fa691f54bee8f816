"""The answer of a comparison in sentences: which is best, by how much, and with which confidence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lightlag.analyse import Interval
from lightlag.outcomes.design import MEASURES, Measure, Point
from lightlag.outcomes.outcome import UDP, Outcome
from lightlag.outcomes.outcomes import Outcomes
from lightlag.outcomes.pairing import CONFIDENCE
from lightlag.report.ranking import Gap, Ranking, Rival, confidence_of_each, gap, ranked
from lightlag.text.quantities import number

__all__ = ["Answer", "AtPoint", "answer", "by_how_much", "listed", "percent"]

_BETTER = {"goodput_bps": True, "jain": True}
"""Whether more of a measure is better; of all others less is."""
_TIMES = 2.0
"""A ratio from here on is a factor, not a share in percent."""
_MOST_SEEDS = 1000
"""Seeds beyond which an estimate is left out: the difference is too small to matter."""
_NAMED = 6
"""Rivals or points that a sentence names."""


@dataclass(frozen=True, slots=True)
class AtPoint:
    """The ranking by goodput at a point, or of the points of one algorithm."""

    point: Point | None
    where: str
    """The point in words; empty if there is one alone."""
    ranking: Ranking


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a comparison."""

    headline: str
    sentences: tuple[str, ...]
    """More about it: the others, other measures, rivals in one run."""
    points: tuple[AtPoint, ...]
    """The rankings by goodput."""


def answer(comparison: Outcomes) -> Answer:
    """The answer of a comparison with finished runs."""
    goodput = MEASURES[0]
    if len(comparison.algorithms) == 1 and len(comparison.points) > 1:
        (name,) = comparison.algorithms
        rivals = [_rival(comparison, name, point, goodput, comparison.describe(point)) for point in comparison.points]
        found = [AtPoint(None, "", _ranking(comparison, rivals, goodput))]
    else:
        found = [_at_point(comparison, point, goodput) for point in comparison.points]
    if len(found) == 1:
        headline, sentences = _of_one(found[0].ranking, goodput)
        sentences += _other_measures(comparison) if len(comparison.points) == 1 else []
    else:
        headline, sentences = _of_many(comparison, found)
    return Answer(headline, tuple(sentences + _in_one_run(comparison)), tuple(found))


def _at_point(comparison: Outcomes, point: Point, measure: Measure) -> AtPoint:
    rivals = [_rival(comparison, name, point, measure, name) for name in comparison.algorithms]
    where = comparison.describe(point) if len(comparison.points) > 1 else ""
    return AtPoint(point, where, _ranking(comparison, rivals, measure))


def _rival(comparison: Outcomes, algorithm: str, point: Point, measure: Measure, name: str) -> Rival:
    runs = comparison.of(algorithm, point)
    values = {one.seed: getattr(one, measure.column) for one in runs}
    there = {seed: float(value) for seed, value in values.items() if value is not None and not math.isnan(value)}
    return Rival(name, there, comparison.is_identical(algorithm, point))


def _ranking(comparison: Outcomes, rivals: Sequence[Rival], measure: Measure) -> Ranking:
    better = _BETTER.get(measure.column, False)
    return ranked(rivals, more_is_better=better, confidence=_confidence(comparison, measure))


def _confidence(comparison: Outcomes, measure: Measure) -> float:
    """Of a study with a target it is higher, so that the interval holds at each look."""
    return max(CONFIDENCE, comparison.confidence(measure))


def _amount(measure: Measure, value: float) -> str:
    return measure.show(Interval(value, math.nan, 1))


def _of_one(ranking: Ranking, measure: Measure) -> tuple[str, list[str]]:
    """The headline and more sentences about one ranking by goodput."""
    best = ranking.best
    mean = _amount(measure, best.mean)
    if not ranking.gaps:
        runs = len(best.values)
        each = "in each of its runs" if best.is_fixed else f"as the mean of {runs} runs"
        of = "in its one run" if runs == 1 else each
        return f"{best.name} reaches a goodput of {mean} {of}.", []
    if all(one.difference == 0 for one in ranking.gaps):
        return f"{listed(one.name for one in ranking.rivals)} reach the same goodput, {mean}.", []
    if not ranking.is_judged:
        chance = "One run of each says nothing about chance."
        return f"{best.name} reaches {mean}, {by_how_much(ranking.gaps[0])}, in one run of each.", [chance]
    level, behind = ranking.level, ranking.behind
    fixed = ["Nothing is random there: each seed gives the same."] if all(one.is_fixed for one in ranking.gaps) else []
    if len(level) > 1:
        return _level(ranking, mean), _those_behind(best, behind) + _seeds_needed(ranking) + fixed
    nearest = behind[0]
    if len(behind) == 1:
        means = f"{mean} against {_amount(measure, ranking.rivals[1].mean)}"
        return f"{best.name} beats {nearest.other}{_by(nearest)}: a goodput of {means}.", fixed
    headline = f"{best.name} has the highest goodput, {mean}: {by_how_much(nearest)}, which comes next."
    return headline, _those_behind(best, behind[1:]) + fixed


def _level(ranking: Ranking, mean: str) -> str:
    """The headline where several may be the best."""
    best, *others = ranking.level
    if len(others) == 1:
        nearest = next(one for one in ranking.gaps if one.other == others[0])
        return f"{best} and {others[0]} cannot be told apart by goodput: {best} has {by_how_much(nearest)}."
    return f"{best} has the highest mean goodput, {mean}, but {_some(others)} cannot be told apart from it."


def _seeds_needed(ranking: Ranking) -> list[str]:
    """An estimate of the seeds that would tell the best from those that are level with it."""
    level = [one for one in ranking.gaps if one.other in ranking.level]
    needed = sorted((one.seeds_needed, one.other) for one in level if one.seeds_needed is not None)
    parts = [f"{count:,} for {name}" for count, name in needed if count <= _MOST_SEEDS][:_NAMED]
    if not parts:
        return []
    return [f"Seeds that would tell {ranking.best.name} apart, as the runs spread so far: about {listed(parts)}."]


def _some(names: Sequence[str]) -> str:
    return listed(names) if len(names) <= _NAMED else f"{len(names)} others, {listed(names[:3])} among them,"


def _those_behind(best: Rival, behind: Sequence[Gap]) -> list[str]:
    if not behind:
        return []
    parts = [by_how_much(one) for one in behind[:_NAMED]]
    rest = len(behind) - _NAMED
    more = f"; {rest} more {'is' if rest == 1 else 'are'} behind, too" if rest > 0 else ""
    return [f"{best.name} has {listed(parts)}{more}."]


def _of_many(comparison: Outcomes, found: Sequence[AtPoint]) -> tuple[str, list[str]]:
    """The headline and more sentences about the rankings at many points."""
    alone: dict[str, list[AtPoint]] = {}
    level: dict[tuple[str, ...], list[AtPoint]] = {}
    for one in found:
        names = one.ranking.level
        if len(names) == 1:
            alone.setdefault(names[0], []).append(one)
        else:
            level.setdefault(tuple(sorted(names)), []).append(one)
    order = sorted(alone, key=lambda name: -len(alone[name]))
    count = len(found)
    if not any(one.ranking.is_judged for one in found):
        bests = [one.ranking.best.name for one in found]
        most = max(bests, key=bests.count)
        headline = f"{most} has the highest goodput at {bests.count(most)} of {count} points."
        return headline, ["One run of each says nothing about chance."]
    if not order:
        headline = f"At none of {count} points does one algorithm beat all others by goodput."
    elif len(alone[order[0]]) == count:
        headline = f"{order[0]} beats all others by goodput at each of {count} points."
    else:
        first = alone[order[0]]
        headline = (
            f"{order[0]} beats all others by goodput at {len(first)} of {count} points: {_places(comparison, first)}."
        )
    sentences = [
        f"{name} does at {len(alone[name])}: {_places(comparison, alone[name])}." for name in order[1 : 1 + _NAMED]
    ]
    for several, places in sorted(level.items(), key=lambda item: -len(item[1]))[:_NAMED]:
        who = listed(several, "or") if len(several) <= _NAMED else f"one of {len(several)} algorithms"
        if len(several) > _NAMED and len(places) == 1:
            who = f"{places[0].ranking.best.name}, which has the highest mean, or one of {len(several) - 1} others"
        at = f"At {len(places)} points" if len(places) > 1 else "At 1 point"
        sentences.append(f"{at} {who} may be the best: {_places(comparison, places)}.")
    return headline, sentences


def _places(comparison: Outcomes, places: Sequence[AtPoint]) -> str:
    """Points in words: those of some values of one variable by these, others one by one."""
    points = [one.point for one in places if one.point is not None]
    for at, variable in enumerate(comparison.variables):
        there = {point[at] for point in points}
        if len(points) > 1 and len(points) == sum(point[at] in there for point in comparison.points):
            values = [value for value in variable.values if value in there]
            if len(values) <= _NAMED:
                return f"where {variable.label} is {listed(values, 'or')}"
    more = f"; and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    return "; ".join(one.where for one in places[:_NAMED]) + more


def _other_measures(comparison: Outcomes) -> list[str]:
    """A sentence for each other measure of the algorithms at the only point."""
    sentences = []
    (point,) = comparison.points
    for measure in comparison.measures[1:]:
        if measure.column == "queueing_p95_s":
            continue
        rivals = [_rival(comparison, name, point, measure, name) for name in comparison.algorithms]
        if sum(bool(one.values) for one in rivals) > 1:
            sentences.append(_of_measure(_ranking(comparison, rivals, measure), measure))
    return sentences


def _of_measure(ranking: Ranking, measure: Measure) -> str:
    best, level = ranking.best, ranking.level
    title, mean = measure.title, _amount(measure, ranking.best.mean)
    if all(one.difference == 0 for one in ranking.gaps):
        return f"{title}: {mean} with each."
    if not ranking.is_judged:
        return f"{title}: {best.name} is best with {mean}."
    if len(level) > 1:
        behind = [one.other for one in ranking.behind]
        others = f"; {_some(behind)} {'is' if len(behind) == 1 else 'are'} worse" if behind else ""
        return (
            f"{title}: {best.name} has the best mean, {mean}; {_some(level[1:])} cannot be told apart from it{others}."
        )
    nearest = ranking.behind[0]
    if not nearest.ratio > 0:
        next_one = _amount(measure, ranking.rivals[1].mean)
        return f"{title}: {best.name} is best with {mean}, against {next_one} with {nearest.other}."
    return f"{title}: {best.name} is best with {mean}, {by_how_much(nearest)}."


def _in_one_run(comparison: Outcomes) -> list[str]:
    """How algorithms that compete in one run share: each mix at each point, the first ones."""
    sentences = []
    pairs: dict[tuple[str, Point], tuple[Rival, Rival]] = {}
    for name, point in comparison.cells():
        shares = _shares(comparison.of(name, point))
        if len(shares) == 2 and all(shares.values()):
            is_fixed = comparison.is_identical(name, point)
            rivals = (Rival(who, own, is_fixed) for who, own in shares.items())
            (strong, weak) = sorted(rivals, key=lambda one: -one.mean)
            pairs[name, point] = (strong, weak)
    at_point = Counter(point for _, point in pairs)
    for (name, point), (strong, weak) in pairs.items():
        each = confidence_of_each(at_point[point], _confidence(comparison, MEASURES[0]))
        found = gap(strong, weak, each)
        where = f" at {comparison.describe(point)}" if len(comparison.points) > 1 else ""
        if found.is_clear:
            more = by_how_much(found, f"one of {weak.name}", " goodput")
            sentences.append(f"In {name}{where} a flow of {strong.name} gets {more}.")
        elif found.pairs > 1:
            sentences.append(f"In {name}{where} the shares of {strong.name} and {weak.name} cannot be told apart.")
    rest = len(sentences) - _NAMED
    return sentences[:_NAMED] + ([f"The table of competing algorithms has {rest} more."] if rest > 0 else [])


def _shares(runs: Iterable[Outcome]) -> Mapping[str, dict[int, float]]:
    """The mean goodput of a flow of each algorithm, by seed."""
    shares: dict[str, dict[int, float]] = {}
    for run in runs:
        flows: dict[str, list[float]] = {}
        for algorithm, goodput in zip(run.flows.congestion, run.flows.goodput_bps, strict=True):
            if algorithm != UDP:
                flows.setdefault(algorithm, []).append(goodput)
        for algorithm, rates in flows.items():
            shares.setdefault(algorithm, {})[run.seed] = math.fsum(rates) / len(rates)
    return shares


def by_how_much(found: Gap, than: str | None = None, what: str = "") -> str:
    """A gap in words: ``6 % more than cubic (95 %: 2 to 10 %)``, ``2.3 times as much as cubic (95 %: 2.1 to 2.6)``."""
    than = found.other if than is None else than
    word = f"{'more' if found.difference > 0 else 'less'}{what} than {than}"
    if found.difference == 0:
        return f"as much{what} as {than}"
    if math.isnan(found.ratio) or found.ratio <= 0:
        return word
    if found.ratio >= _TIMES:
        return _times(found, f" times as much{what} as {than}")
    return _share(found, f" {word}")


def _by(found: Gap) -> str:
    """A gap behind a verb: `` by 6 % (95 %: 2 to 10 %)``, `` by a factor of 2.3 (95 %: 2.1 to 2.6)``."""
    if math.isnan(found.ratio) or found.ratio <= 0:
        return ""
    return f" by a factor of {_times(found, '')}" if found.ratio >= _TIMES else f" by {_share(found, '')}"


def _times(found: Gap, word: str) -> str:
    ends = "" if math.isnan(found.low) else f" (95 %: {number(found.low, 2)} to {number(found.high, 2)})"
    return f"{number(found.ratio, 2)}{word}{ends}"


def _share(found: Gap, word: str) -> str:
    sign = 1.0 if found.difference > 0 else -1.0
    ends = [] if math.isnan(found.low) else sorted((sign * (found.low - 1), sign * (found.high - 1)))
    first, *rest = percent([sign * (found.ratio - 1), *ends])
    confidence = f" (95 %: {rest[0]} to {rest[1]} %)" if rest else ""
    return f"{first} %{word}{confidence}"


def percent(shares: Sequence[float]) -> list[str]:
    """Shares in percent: two digits of half the way between the last two, and no end that is rounded to 0.

    Examples
    --------
    >>> percent([0.0612, 0.0211, 0.1013]), percent([0.0031, 0.0002, 0.006]), percent([0.4])
    (['6', '2', '10'], ['0.31', '0.02', '0.60'], ['40'])
    """
    values = [100 * share for share in shares]
    width = (values[-1] - values[-2]) / 2 if len(values) > 1 else abs(values[0])
    scale = math.floor(math.log10(width)) if width > 0 else 0
    digits = max(0, -scale if width >= 1 else 1 - scale)
    digits = min(digits, 2)
    while digits < 4 and any(value != 0 and float(f"{value:.{digits}f}") == 0 for value in values):
        digits += 1
    return [f"{value:.{digits}f}".replace("-", "−") for value in values]


def listed(parts: Iterable[str], word: str = "and") -> str:
    """Parts with commas between them, and a word before the last.

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *most, last = parts
    return f"{', '.join(most)} {word} {last}" if most else last
