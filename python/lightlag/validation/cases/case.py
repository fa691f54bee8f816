"""A test case: its runs, its checks and their section in the validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from lightlag.analyse import mean_interval
from lightlag.validation.cases.curves import Curves, curves
from lightlag.validation.cases.paths import Path
from lightlag.validation.cases.phases import Run
from lightlag.validation.section import HALF, Section
from lightlag.validation.tasks import Choice, Measured, Setup, Task

if TYPE_CHECKING:
    from lightlag.results.result import Result

__all__ = ["Case", "Check", "Marks", "Step", "Values", "Variant", "section", "tasks"]

Marks: TypeAlias = dict[str, float]
"""Times of events in a run, in seconds."""
Values: TypeAlias = dict[str, float]
"""Measured values by the name of their check; NaN if the measured event did not occur."""
Step: TypeAlias = Callable[[Path, Run], tuple[Path, Marks] | None]
"""Places an event: returns the path of the next run from the last run, or None if the phase of the event never came."""


@dataclass(frozen=True)
class Check:
    """A quantity with the range that it must be in for each seed."""

    name: str
    text: str
    """Name of the quantity."""
    low: float = -math.inf
    high: float = math.inf
    is_bounded: bool = True
    """Whether the range counts; otherwise the quantity is for information."""

    @property
    def expected(self) -> str:
        """The range as text."""
        if not self.is_bounded:
            return "–"
        if self.low == self.high:
            return f"{self.low:g}"
        if self.high == math.inf:
            return f"≥ {self.low:g}"
        if self.low == -math.inf:
            return f"≤ {self.high:g}"
        return f"{self.low:g} to {self.high:g}"

    def holds(self, value: float) -> bool:
        """Returns true if a value is in the range; NaN is not."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Variant:
    """The runs of a case with one seed: each step places an event where the run before it showed the phase."""

    path: Path
    measure: Callable[[Run, Marks], Values]
    """Returns the values; a check that the algorithm has no concept for is left out."""
    steps: tuple[Step, ...] = ()
    of_version_3: bool = False
    """Whether it needs states or bounds that only version 3 has."""
    needs_states: bool = True
    """Whether it means nothing for an algorithm without the states of BBR."""
    around_s: tuple[float, float] | None = None
    """Interval of the figure around the last event, or since the start; by default the entire run."""
    checks: tuple[str, ...] = ()
    """The checks that it measures; by default all of the case."""


@dataclass(frozen=True)
class Case:
    """A test case of the draft's appendix."""

    name: str
    title: str
    about: str
    """Scenario, expectation of the draft and origin of the criterion, as a paragraph."""
    checks: tuple[Check, ...]
    variants: tuple[Variant, ...] = field(default_factory=tuple)


def tasks(case: Case, setup: Setup) -> list[Task]:
    """Returns the first run of each variant and seed; later runs follow from it."""
    return [
        _task(case, variant, number, setup.choice, variant.path, {}, 0, seed, seed == setup.seed)
        for number, variant in enumerate(case.variants)
        for seed in setup.seeds
    ]


def _task(
    case: Case,
    variant: Variant,
    number: int,
    choice: Choice,
    path: Path,
    marks: Marks,
    step: int,
    seed: int,
    is_drawn: bool,
) -> Task:
    def following(result: Result) -> Task | None:
        run = Run(result)
        if _is_foreign(variant, run) or (placed := variant.steps[step](path, run)) is None:
            return None
        return _task(case, variant, number, choice, placed[0], marks | placed[1], step + 1, seed, is_drawn)

    is_last = step == len(variant.steps)
    return Task(
        point=(number,),
        scenario=path.scenario(choice),
        seed=seed,
        measure=partial(_measure, case, variant, marks) if is_last else partial(_missed, case, variant),
        following=None if is_last else following,
        curves=partial(_curves, path, variant, marks) if is_drawn and number == 0 else None,
    )


def _is_foreign(variant: Variant, run: Run) -> bool:
    """Returns true if the algorithm has no concept of what the variant tests."""
    if not run.has_states:
        return variant.needs_states
    return variant.of_version_3 and run.is_version_1


def _measure(case: Case, variant: Variant, marks: Marks, result: Result) -> Values:
    run = Run(result)
    return {} if _is_foreign(variant, run) else variant.measure(run, marks)


def _missed(case: Case, variant: Variant, result: Result) -> Values:
    """Returns the values of a run in which the phase of the event never came."""
    if _is_foreign(variant, Run(result)):
        return {}
    return {one.name: math.nan for one in case.checks if not variant.checks or one.name in variant.checks}


def _curves(path: Path, variant: Variant, marks: Marks, result: Result) -> Curves:
    run = Run(result)
    start, end = 0.0, run.end_s
    if variant.around_s is not None:
        start, end = (min(max(marks.get("at", 0.0) + shift, 0.0), run.end_s) for shift in variant.around_s)
    return curves(run, path, marks, start, end)


def section(case: Case, measured: Sequence[Measured]) -> Section:
    """Returns the section of a case: a row per check, and a verdict.

    The verdict line has the checks that fail, or else the first one.
    """
    rows: list[dict[str, Any]] = []
    for check in case.checks:
        values = [run.values[check.name] for run in measured if check.name in run.values]
        rows.append(_row(check, values))
    bounded = [row for row in rows if row["verdict"] in ("holds", "fails")]
    failed = [row for row in bounded if row["verdict"] == "fails"]
    holds = None if not bounded else not failed
    drawn = next((run.curves for run in measured if run.curves is not None), None)
    verdict = "; ".join(_said(row) for row in failed or bounded[:1])
    if failed:
        verdict += f"; {len(bounded) - len(failed)} of {len(bounded)} checks hold"
    return Section(
        case.name,
        case.title,
        rows,
        verdict or "not applicable: the algorithm has no such state or rule",
        holds,
        about=case.about,
        curves=drawn,
    )


def _row(check: Check, values: Sequence[float]) -> dict[str, Any]:
    known = [value for value in values if not math.isnan(value)]
    interval = mean_interval(known)
    held = sum(check.holds(value) for value in values)
    verdict = "holds" if held == len(values) else "fails"
    if not check.is_bounded:
        verdict = "for information"
    return {
        "check": check.text,
        "expected": check.expected,
        "measured": interval.mean if known else math.nan,
        f"measured{HALF}": interval.half_width,
        "least": min(known, default=math.nan),
        "largest": max(known, default=math.nan),
        "seeds": f"{held} of {len(values)}" if values and check.is_bounded else "–",
        "verdict": verdict if values else "not applicable",
    }


def _said(row: dict[str, Any]) -> str:
    value = "did not occur" if math.isnan(row["measured"]) else f"{row['measured']:.4g}"
    return f"{row['check']}: {value} ({row['expected']})"
