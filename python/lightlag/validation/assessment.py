"""The validation of a congestion control, section by section."""

from __future__ import annotations

import json
import math
import operator
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag import _engine
from lightlag.errors import InputError, Interrupted
from lightlag.records import origin
from lightlag.text.terminal import printable
from lightlag.validation import queueing, scenes, sharing
from lightlag.validation import response as losses
from lightlag.validation.response import Response
from lightlag.validation.section import Section
from lightlag.validation.tasks import Choice, Measured, Setup, Stopped, Task, measure_all, read_choice

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SECTIONS", "Assessment", "Section", "assess", "checked_count", "checked_seed", "congestion"]

REPLICATIONS = 3
"""Number of runs at each point: about a minute of CPU time for CUBIC."""

SECTIONS = ("response", "itself", "cubic", "rtt", "queue", "scenes")
"""The sections before the invariants, which are checked in every run of these sections."""


@dataclass(frozen=True)
class Assessment:
    """The results of a validation."""

    congestion: str
    replications: int
    seed: int
    scale: float
    sections: list[Section] = field(default_factory=list)
    wanted: tuple[str, ...] = SECTIONS
    version: str = _engine.__version__
    subject: str = ""
    """Name of the document whose test cases are the sections; empty for other checks."""

    @property
    def is_complete(self) -> bool:
        """Whether every section has finished."""
        return len(self.sections) == len(self.wanted) + 1

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict line of each section."""
        return {one.name: one.verdict for one in self.sections}

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """The table of each section."""
        return {one.name: one.table for one in self.sections}

    def section(self, name: str) -> Section | None:
        """Returns a section by name, if it has finished."""
        return next((one for one in self.sections if one.name == name), None)

    def failures(self) -> list[str]:
        """Returns the sections with a tolerance that does not hold, as text."""
        return [f"{one.title}: {one.verdict}" for one in self.sections if one.holds is False]

    def record(self) -> dict[str, Any]:
        """Returns all results as plain values for JSON."""
        about = {"congestion": self.congestion, "replications": self.replications, "seed": self.seed}
        about |= {"scale": self.scale, "version": self.version, "complete": self.is_complete}
        if self.subject:
            about["subject"] = self.subject
        return about | {"sections": {one.name: one.record() for one in self.sections}}

    def save(self, folder: str | os.PathLike[str], *, force: bool = False, command: str = "") -> Path:
        """Writes ``assessment.json``, ``page.md`` and the figures as SVG and PDF to a directory."""
        from lightlag.files.writing import MARK, new_folder
        from lightlag.validation.figures import figures
        from lightlag.validation.page import page

        drawn = figures(self)
        with new_folder(folder, force=force) as work:
            about = {
                "validation": self.congestion,
                "complete": self.is_complete,
                "origin": origin.origin(command or None),
            }
            (work / MARK).write_text(json.dumps(about, indent=2) + "\n", "utf-8")
            (work / "assessment.json").write_text(json.dumps(self.record(), indent=1, allow_nan=False) + "\n", "utf-8")
            (work / "page.md").write_text(page(self, list(drawn), command), "utf-8")
            for name, chart in drawn.items():
                for suffix in ("svg", "pdf"):
                    chart.save(work / f"{name}.{suffix}")
        return Path(folder)


def congestion(
    value: Choice,
    *,
    replications: int = REPLICATIONS,
    jobs: int | None = None,
    seed: int = 1,
    scale: float = 1.0,
    sections: Sequence[str] = SECTIONS,
    response: Response | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Assessment:
    """Validates a congestion control: response to loss, fairness, queue, scenes and invariants.

    Parameters
    ----------
    value
        The congestion control: a name or a table, as in the key ``congestion`` of a scenario.
    replications
        Number of runs at each point, with the seeds `seed`, `seed` + 1, ..., which are the same for every algorithm.
    jobs
        Number of simultaneous runs; by default one for each processor. The results do not depend on it.
    scale
        Duration of the runs, as a multiple of the default.
    sections
        The sections to run, among ``response``, ``itself``, ``cubic``, ``rtt``, ``queue`` and ``scenes``.
    response
        The algorithm's own response function: it returns the mean window in segments for a loss probability and a round
        trip in seconds. It must hold within 5 %.
    progress
        Called with the number of finished runs and of all.

    Raises
    ------
    InputError, ScenarioError
        If an argument is wrong, or there is no such algorithm.
    Interrupted
        On Ctrl-C; ``result`` holds the sections that had finished.

    Examples
    --------
    >>> import lightlag.validation
    >>> found = lightlag.validation.congestion("newreno", sections=["rtt"], replications=2, scale=0.2)
    >>> found.tables["rtt"]["rtt_ratio"].to_list()
    [2, 6]
    """
    setup = Setup(read_choice(value), checked_count(replications, "replications"), checked_seed(seed), _scale(scale))
    plan = {name: _tasks(name, setup) for name in _wanted(sections)}
    found = Assessment(setup.label, setup.replications, setup.seed, setup.scale, wanted=tuple(plan))
    return assess(found, plan, lambda name, runs: _section(name, setup, runs, response), jobs, progress)


def assess(
    found: Assessment,
    plan: dict[str, list[Task]],
    section: Callable[[str, list[Measured]], Section],
    jobs: int | None,
    progress: Callable[[int, int], object] | None,
) -> Assessment:
    """Makes the runs of each section, adds the sections and at last the one on invariants, and returns `found`.

    Raises
    ------
    Interrupted
        On Ctrl-C; ``result`` holds the sections that had finished.
    """
    from lightlag.machine.processors import processors

    threads = processors() if jobs is None else checked_count(jobs, "jobs")
    _check(plan)
    repeats = {name: tasks[:1] for name, tasks in plan.items()}
    total, done = sum(len(tasks) + 1 for tasks in plan.values()), 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    runs: dict[str, list[Measured]] = {}
    try:
        for name, tasks in plan.items():
            runs[name] = measure_all(tasks, threads, step)
            found.sections.append(section(name, runs[name]))
        again = {name: measure_all(tasks, threads, step)[0] for name, tasks in repeats.items()}
        found.sections.append(_invariants(runs, again))
    except Stopped:
        raise Interrupted(found) from None
    return found


def _tasks(name: str, setup: Setup) -> list[Task]:
    makers = {"response": losses.tasks, "itself": sharing.self_tasks, "cubic": sharing.versus_tasks}
    makers |= {"rtt": sharing.rtt_tasks, "queue": queueing.tasks, "scenes": scenes.tasks}
    return makers[name](setup)


def _section(name: str, setup: Setup, runs: Sequence[Measured], own: Response | None) -> Section:
    if name == "response":
        return losses.section(setup, runs, own)
    if name == "scenes":
        return scenes.section(setup, runs)
    plain = {"itself": sharing.self_section, "cubic": sharing.versus_section, "rtt": sharing.rtt_section}
    return (plain | {"queue": queueing.section})[name](runs)


def _invariants(runs: dict[str, list[Measured]], again: dict[str, Measured]) -> Section:
    """Returns the section on broken invariants, and on whether a repeated run of each section gave the same result."""
    rows: list[dict[str, Any]] = []
    for name, measured in runs.items():
        broken = [f"{'/'.join(map(str, run.point))}, seed {run.seed}: {one}" for run in measured for one in run.broken]
        same = again[name].result_hash == measured[0].result_hash
        rows.append(
            {
                "section": name,
                "runs": len(measured),
                "broken": len(broken),
                "first": broken[0] if broken else "",
                "repeats": same,
            }
        )
    count, wrong = sum(row["runs"] for row in rows), sum(row["broken"] for row in rows)
    repeated = sum(row["repeats"] for row in rows)
    said = f"{wrong} broken in {count} runs; {repeated} of {len(rows)} repeated runs have the same hash"
    return Section("invariants", "Invariants", rows, said, wrong == 0 and repeated == len(rows))


def _check(plan: dict[str, list[Task]]) -> None:
    """Reads every scenario with its first seed before the first run, so that errors are found early."""
    seen = set()
    for name, tasks in plan.items():
        for task in tasks:
            if (name, task.point) not in seen:
                seen.add((name, task.point))
                task.parse()


def _wanted(sections: Sequence[str]) -> list[str]:
    if isinstance(sections, str) or not sections or any(name not in SECTIONS for name in sections):
        raise InputError(f"sections: {printable(repr(sections)):.60} is not a list of {', '.join(SECTIONS)}")
    return [name for name in SECTIONS if name in sections]


def checked_count(value: Any, what: str, least: int = 1) -> int:
    """Returns a whole number of at least `least`, or raises an error that names it."""
    try:
        count = operator.index(value)
    except TypeError:
        count = least - 1
    if count < least or isinstance(value, bool):
        raise InputError(f"{what}: {printable(repr(value)):.60} is not a whole number; give at least {least}")
    return count


def checked_seed(value: Any) -> int:
    """Returns the first seed, or raises an error."""
    return checked_count(value, "seed", 0)


def _scale(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0.1:
        raise InputError(f"scale: {printable(repr(value)):.60} is not a number; give at least 0.1")
    return float(value)
