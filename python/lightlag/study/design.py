"""The definition of a study: its runs, replications, stopping rule and the data that it stores."""

from __future__ import annotations

import dataclasses
import json
import math
import operator
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from lightlag._renamed import former_keywords
from lightlag.errors import InputError
from lightlag.files.input import binary_reason, read_text
from lightlag.outcomes.design import MEASURES
from lightlag.outcomes.plan import Cell, Plan, cells_of, design_of, read_bases
from lightlag.outcomes.variables import Competitors, Variable, quantity, split_parameters, text_of
from lightlag.scenario import load_scenario, presets, toml
from lightlag.scenario.plain import plain
from lightlag.scenario.reading import is_results
from lightlag.study.axes import Axis, axes_of, points_of, variables_of
from lightlag.study.exclusion import left_of, rules_of
from lightlag.study.target import Target
from lightlag.text.overview import counted, frame, tables
from lightlag.text.terminal import printable

__all__ = ["Budget", "StudyDesign"]

KEYS = (
    "name",
    "scenarios",
    "congestion",
    "vary",
    "axes",
    "exclude",
    "set",
    "seed",
    "replications",
    "until",
    "metrics",
    "curves",
    "budget",
)
FORMER = {"measures": "metrics"}
"""Former keys of a study file and their present names."""
SCENARIO_KEYS = {"links", "flows", "topology", "duration", "defaults", "media", "constellation"}
"""Keys by which a scenario is distinguished from a study."""
REPLICATIONS = 10
MOST_CELLS = 1_000_000
MOST_RUNS = 100_000_000
LAST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Budget:
    """Budget: limits of one invocation. Finished runs are stored, and the next invocation resumes.

    Attributes
    ----------
    runs
        Maximum number of new runs.
    cpu_s, wall_s
        Limits of the CPU time of new runs, and of elapsed time.
    run_s
        Limit of the elapsed time of one run; a run that takes longer counts as failed.
    """

    runs: int | None = None
    cpu_s: float | None = None
    wall_s: float | None = None
    run_s: float | None = None


@former_keywords("Study")
class StudyDesign:
    """The definition of a study, with the arguments of :class:`lightlag.Study`."""

    def __init__(
        self,
        scenarios: Any,
        *,
        name: str | None = None,
        congestion: Competitors | None = None,
        vary: Mapping[str, Iterable[Any]] | None = None,
        axes: Sequence[Any] = (),
        exclude: Sequence[Mapping[str, Any]] = (),
        set: Mapping[str, Any] | None = None,
        seed: int | None = None,
        replications: int | None = None,
        until: Mapping[str, Any] | Target | None = None,
        metrics: Sequence[str] | None = None,
        curves: bool = False,
        budget: Mapping[str, Any] | None = None,
        directory: str | os.PathLike[str] = "",
    ) -> None:
        self.directory = Path(directory)
        several = scenarios if isinstance(scenarios, (list, tuple)) else [scenarios]
        self._scenarios = [_plain(one) for one in several]
        self._congestion = congestion
        self.axes = [*_grid(vary), *axes_of(axes, "axes")]
        self.variables = variables_of(self.axes)
        self._exclude = rules_of(exclude)
        self._sets = _sets(set, self.variables)
        self._seed = None if seed is None else _whole(seed, "seed", 0, LAST_SEED)
        if until is not None and replications is not None:
            raise InputError("until cannot be combined with replications; write one of them")
        self.target = None if until is None else Target.of(until)
        count = REPLICATIONS if replications is None else replications
        self.replications = self.target.max_seeds if self.target else _whole(count, "replications", 1, MOST_RUNS)
        self.metrics = _metrics(metrics)
        if not isinstance(curves, bool):
            raise InputError(f"curves: {_shown(curves)} is neither true nor false")
        self.has_curves = curves
        self.budget = _budget({} if budget is None else budget)
        if name is not None and (not isinstance(name, str) or not name or "/" in name or name.startswith(".")):
            raise InputError(f"name: {_shown(name)} is not a valid directory name; write one such as geo-loss")
        if name is not None and printable(name) != name:
            raise InputError(f"name: {_shown(name)} holds a control character; write a name such as geo-loss")
        self._name = name
        self._plan: Plan | None = None
        self._file = ""
        given = {
            "name": name,
            "scenarios": self._scenarios,
            "congestion": congestion,
            "vary": vary,
            "axes": list(axes),
            "exclude": exclude,
            "set": set,
            "seed": seed,
            "replications": None if self.target else self.replications,
            "until": None if self.target is None else self.target.table(),
            "metrics": metrics,
            "curves": curves,
            "budget": budget,
        }
        self._table = {key: plain(value) for key, value in given.items() if value is not None and value not in ([], ())}

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Reads a ``study.toml``.

        Raises
        ------
        InputError, ScenarioError
            If it cannot be read, or describes nothing that can be run; the message starts with the file.
        """
        file = Path(path)
        shown = printable(file)
        try:
            table = tomllib.loads(read_text(file, "utf-8-sig"))
        except IsADirectoryError:
            raise InputError(f"{shown}: is a directory; name a study file, such as {shown}/study.toml") from None
        except OSError as error:
            remedy = (
                f'name a study file, such as one with scenarios = ["{shown}"]'
                if _is_scenario(path)
                else "name a study file"
            )
            raise InputError(f"{shown}: cannot read: {error.strerror or error}; {remedy}") from None
        except UnicodeDecodeError as error:
            raise InputError(f"{shown}: {binary_reason(file, error)}") from None
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{shown}: is not valid TOML: {printable(error)}") from None
        try:
            study = cls.of(table, file.parent, file.stem)
        except InputError as error:
            raise InputError(f"{shown}: {error}") from None
        study._file = shown
        return study

    @classmethod
    def of(cls, table: Mapping[str, Any], directory: str | os.PathLike[str] = "", name: str | None = None) -> Self:
        """Returns a study from a table with its keys; paths of scenarios are relative to `directory`.

        Raises
        ------
        InputError
            If the table does not describe a study.
        """
        if unknown := [key for key in table if key not in KEYS]:
            import difflib

            if SCENARIO_KEYS & table.keys() and "scenarios" not in table:
                raise InputError(
                    f"is a scenario, not a study: {printable(unknown[0])} is a key of scenarios; run it with "
                    '"lightlag run", compare algorithms with "lightlag compare", or name it in a study: '
                    'scenarios = ["FILE"]'
                )
            if unknown[0] in FORMER:
                raise InputError(f"{unknown[0]}: is now {FORMER[unknown[0]]}")
            near = difflib.get_close_matches(str(unknown[0]), KEYS, 1)
            hint = f'; did you mean "{near[0]}"?' if near else f"; there are {', '.join(KEYS)}"
            raise InputError(f"{printable(unknown[0])}: is not a key of a study{hint}")
        if "scenarios" not in table:
            raise InputError('scenarios: is missing; write scenarios = ["geo"], presets or files')
        given = {key: value for key, value in table.items() if key != "scenarios"}
        if name is not None and name != "study":
            given.setdefault("name", name)
        return cls(table["scenarios"], **given, directory=directory)

    @property
    def name(self) -> str:
        """The name of the study's results."""
        if self._name is not None:
            return self._name
        design = self.plan().design
        names = [one.values for one in design.variables if not one.keys]
        return "-".join(names[0][:3]) if names else str(design.scenario["name"])

    @property
    def max_runs(self) -> int:
        """Maximum number of runs."""
        return self.replications * len(self.plan().cells)

    def plan(self) -> Plan:
        """Returns the plan of the study, with each cell checked.

        Raises
        ------
        InputError, ScenarioError
            If a cell cannot be run; the message names it.
        """
        if self._plan is None:
            try:
                self._plan = self._made()
            except InputError as error:
                raise InputError(f"{self._file}: {error}") from None if self._file else error
        return self._plan

    def table(self) -> dict[str, Any]:
        """Returns the keys of the study as plain values, in the form that :meth:`of` takes."""
        return dict(self._table)

    def to_toml(self, directory: str | os.PathLike[str] | None = None) -> str:
        """Returns the study as a TOML file.

        Parameters
        ----------
        directory
            The directory of the file; paths of scenarios become relative to it. By default they are unchanged.
        """
        table = self._table
        if directory is not None:
            placed = [self._placed(one) for one in self._scenarios]
            table = table | {
                "scenarios": [
                    one if one == own else os.path.relpath(one, directory)
                    for own, one in zip(self._scenarios, placed, strict=True)
                ]
            }
        return toml.document(table) + "\n"

    def __repr__(self) -> str:
        name = f" {printable(self._name)!r}" if self._name is not None else ""
        return f"<Study{name}: {self._about()}>"

    def _repr_html_(self) -> str:
        from html import escape

        head = f"<b>{escape(printable(self._name or 'study'))}</b> · {escape(self._about())}"
        rows = [{"axis": one.label, "values": printable(", ".join(one.values))[:200]} for one in self.variables]
        return frame(head, *tables([rows], ["axis"]))

    def _about(self) -> str:
        """Describes the size of the study without making the plan, which may take a while."""
        points = math.prod(len(axis.rows) for axis in self.axes)
        seeds = f"up to {counted(self.replications, 'seed')}" if self.target else counted(self.replications, "seed")
        return ", ".join([counted(len(self._scenarios), "scenario"), counted(points, "point"), seeds])

    def _made(self) -> Plan:
        scenarios = [self._placed(one) for one in self._scenarios]
        changes = [*self._sets, *([] if self.has_curves else [("record.trace", "off")])]
        changes, parameters = split_parameters(changes)
        bases = read_bases(scenarios, changes)
        count = len(bases) * math.prod(len(axis.rows) for axis in self.axes)
        if count > MOST_CELLS:
            raise InputError(f"axes: {count:,} points are more than {MOST_CELLS:,}; vary less")
        points = tuple(points_of(self.axes))
        design = design_of(
            bases, self._congestion, list(self.variables), self.replications, points, self._seed, parameters
        )
        if design.seed + self.replications - 1 > LAST_SEED:
            raise InputError(f"seed: {self.replications:,} seeds that start at {design.seed} exceed {LAST_SEED}")
        left, wanted = left_of(design, self._exclude)
        if len(wanted) * self.replications > MOST_RUNS:
            raise InputError(
                f"{len(wanted):,} cells with {self.replications:,} seeds are more than {MOST_RUNS:,} runs; vary less, "
                "or use fewer seeds"
            )
        design = dataclasses.replace(design, chosen=tuple(left))
        cells = tuple(cell for cell in cells_of(design, bases) if (cell.congestion, cell.point) in wanted)
        seen: dict[bytes, Cell] = {}
        for cell in cells:
            twin = seen.setdefault(cell.digest, cell)
            if twin is not cell:
                one, other = (", ".join((each.congestion, *each.point)) for each in (twin, cell))
                raise InputError(f'axes: "{one}" and "{other}" are the same run; remove one')
        return Plan(design, cells)

    def _placed(self, scenario: Any) -> Any:
        """Returns a scenario; its path is made relative to the directory of the study."""
        if isinstance(scenario, str) and not Path(scenario).is_absolute():
            path = self.directory / scenario
            if path.is_file() or (not _is_scenario(scenario) and is_results(path)):
                return str(path)
        return scenario


def _is_scenario(name: object) -> bool:
    return str(name) in presets.names()


def _plain(scenario: Any) -> str | dict[str, Any]:
    """Returns a scenario in the form that a study file holds: a name, or a table."""
    if isinstance(scenario, (str, os.PathLike)):
        return str(scenario)
    found: dict[str, Any] = json.loads(load_scenario(scenario))
    return found


def _sets(given: Any, varied: Sequence[Variable]) -> list[tuple[str, str]]:
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise InputError(f"set: {_shown(given)} is not a table; write {{ KEY = VALUE }}")
    taken = {key for one in varied for key in one.keys}
    for key, value in given.items():
        if key in taken:
            raise InputError(
                f'set.{printable(key)}: cannot be combined with the axis along "{printable(key)}"; remove one'
            )
        if value is None:
            raise InputError(f"set.{printable(key)}: None is not a value; leave it out")
    return [(str(key), text_of(value)) for key, value in given.items()]


def _grid(vary: Any) -> list[Axis]:
    if vary is None:
        return []
    if not isinstance(vary, Mapping):
        raise InputError(f"vary: {_shown(vary)} is not a table; write {{ KEY = [VALUE, ...] }}")
    return [axis for key, values in vary.items() for axis in axes_of([{"key": key, "values": values}], f"vary.{key}")]


def _metrics(given: Any) -> tuple[str, ...]:
    known = [measure.column for measure in MEASURES]
    if given is None:
        return tuple(known)
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence) or not given:
        raise InputError(f"metrics: {_shown(given)} is not a list; there are {', '.join(known)}")
    if strange := [one for one in given if one not in known]:
        raise InputError(f"metrics: {_shown(strange[0])} is not a metric; there are {', '.join(known)}")
    return tuple(measure for measure in known if measure in given)


def _budget(given: Any) -> Budget:
    if isinstance(given, Budget):
        return given
    if not isinstance(given, Mapping) or given.keys() - {"runs", "cpu", "wall", "run"}:
        raise InputError(
            f'budget: {_shown(given)} is not a valid budget; write {{ runs = 1000, cpu = "2 h", wall = "30 min", '
            'run = "1 min" }'
        )
    runs = given.get("runs")
    return Budget(
        None if runs is None else _whole(runs, "budget.runs", 1, MOST_RUNS),
        _seconds(given.get("cpu"), "budget.cpu"),
        _seconds(given.get("wall"), "budget.wall"),
        _seconds(given.get("run"), "budget.run"),
    )


def _seconds(given: Any, place: str) -> float | None:
    if given is None:
        return None
    found, _ = quantity(given, "s") if isinstance(given, str) else (None, "")
    if found is None or found <= 0 or quantity(given, None)[0] is not None:
        raise InputError(f'{place}: {_shown(given)} is not a valid time; write "30 min"')
    return found


def _whole(given: Any, place: str, least: int, most: int) -> int:
    try:
        count = operator.index(given)
    except TypeError:
        count = least - 1
    if isinstance(given, bool) or not least <= count <= most:
        raise InputError(f"{place}: {_shown(given)} is not a whole number from {least} to {most:,}")
    return count


def _shown(value: object) -> str:
    return f"{printable(repr(value)):.60}"
