"""The runs of a comparison: every algorithm at every point with every seed.

All are checked before the first one starts.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lightlag import _engine
from lightlag.errors import InputError, ScenarioError, scenario_error
from lightlag.machine import memory
from lightlag.outcomes.design import Design, Point
from lightlag.outcomes.journal import key_of
from lightlag.outcomes.outcome import Outcome
from lightlag.outcomes.variables import (
    CHOICE,
    Competitor,
    Competitors,
    Variable,
    Vary,
    competitors,
    name_of,
    split_parameters,
    variables,
)
from lightlag.scenario import ScenarioLike, congestion_names, load_scenario

__all__ = ["Cell", "Plan", "Run", "cells_of", "design_of", "digest_of", "files_of", "make", "read_bases"]


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A cell: a candidate at a point, which runs with many seeds."""

    congestion: str
    """The label of the candidate."""
    point: Point
    text: str
    """The scenario as JSON, with the first seed."""
    digest: bytes
    """Digest of the scenario without its name and seed, and of the files that it reads; the same on every machine."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run: a cell with a seed."""

    cell: Cell
    seed: int

    @property
    def congestion(self) -> str:
        """The label of the candidate."""
        return self.cell.congestion

    @property
    def point(self) -> Point:
        """The value of each variable, as text."""
        return self.cell.point

    @property
    def key(self) -> str:
        """The key of the run's results: it identifies this build of the engine, the cell and the seed."""
        return key_of(self.cell.digest, str(self.seed).encode())

    def scenario(self) -> _engine.Scenario:
        """Returns the scenario of the run, as the engine has read it."""
        return _engine.parse(self.cell.text, "json", [("seed", str(self.seed))])


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of a comparison: every cell with the same seeds."""

    design: Design
    cells: tuple[Cell, ...]

    @property
    def seeds(self) -> range:
        """The seeds that each cell runs with."""
        return range(self.design.seed, self.design.seed + self.design.replications)

    def runs(self) -> Iterator[Run]:
        """Returns every run, seed by seed: all cells run with a seed before the next, so an early end leaves pairs."""
        return (Run(cell, seed) for seed in self.seeds for cell in self.cells)

    @property
    def run_count(self) -> int:
        """Number of runs."""
        return len(self.cells) * self.design.replications

    def without_chance(self) -> list[Cell]:
        """Returns the cells without randomness, whose runs are all the same."""
        return [cell for cell in self.cells if not _engine.parse(cell.text, "json").is_random()]

    @property
    def space(self) -> float:
        """Estimated maximum size of the results on disk in bytes: each run in the journal and in the table, and the
        figures.
        """
        return _FIGURES + 2 * _BYTES_ON_DISK * self.run_count

    def ordered(self, outcomes: Mapping[str, Outcome]) -> list[tuple[str, Outcome]]:
        """Returns the outcomes by key, in the order of the results: by point, then algorithm, then seed."""
        runs = (Run(cell, seed) for cell in self.cells for seed in self.seeds)
        return [(key, outcomes[key]) for key in (run.key for run in runs) if key in outcomes]


def make(
    scenario: ScenarioLike | Sequence[ScenarioLike],
    congestion: Competitors | None,
    vary: Vary,
    replications: int,
    sets: Sequence[tuple[str, str]],
) -> Plan:
    """Returns the plan of a comparison.

    Raises
    ------
    ScenarioError
        If a scenario cannot be run, unchanged or at a point; the message names the point.
    InputError
        If there is no algorithm to compare, or an entry is duplicated.
    """
    changes, parameters = split_parameters(sets)
    bases = read_bases(scenario, changes)
    design = design_of(bases, congestion, variables(vary), replications, parameters=parameters)
    _check_size(design, bases)
    return Plan(design, tuple(cells_of(design, bases)))


def read_bases(
    scenario: ScenarioLike | Sequence[ScenarioLike], sets: Sequence[tuple[str, str]]
) -> dict[str, dict[str, Any]]:
    """Returns the scenarios by name, as the engine has read them.

    Raises
    ------
    ScenarioError
        If one cannot be run.
    InputError
        If there is no scenario, or if two have the same name.
    """
    several: list[ScenarioLike] = list(scenario) if isinstance(scenario, (list, tuple)) else [scenario]  # type: ignore[list-item]
    bases = _named([json.loads(load_scenario(one, sets)) for one in several])
    if not bases:
        raise InputError("no scenario to compare; name at least 1")
    return bases


def design_of(
    bases: Mapping[str, dict[str, Any]],
    congestion: Competitors | None,
    varied: list[Variable],
    replications: int,
    chosen: Sequence[Point] | None = None,
    seed: int | None = None,
    parameters: Sequence[tuple[str, str]] = (),
) -> Design:
    """Returns the design of a comparison. If there are several scenarios, they are the values of a variable.

    Parameters
    ----------
    parameters
        Parameters to set in every algorithm: names and values.
    chosen
        The points, if they are not every combination of the values.
    """
    if len(bases) > 1:
        varied = [Variable("scenario", (), tuple(bases)), *varied]
        chosen = None if chosen is None else [(name, *point) for name in bases for point in chosen]
    first = next(iter(bases.values()))
    rivals = [one.with_parameters(parameters) for one in _competitors(bases, congestion, varied, parameters)]
    points = None if chosen is None else tuple(chosen)
    start = int(first["seed"]) if seed is None else seed
    others = tuple(bases.values())[1:]
    return Design(first, tuple(rivals), tuple(varied), start, replications, points, others)


_BYTES_A_RUN = 13_000
"""Bytes in memory per run in addition to its scenario: its outcome, with a curve of 1,200 steps; 13.7 kB for `geo`."""
_BYTES_ON_DISK = 12_000
"""Bytes of a line of `curves.jsonl`; for `geo` 10 kB, and 19 kB for the first seed of each algorithm."""
_FIGURES = 2e6
"""Size of plots and report in bytes; for `geo` with two algorithms they take 0.5 MB."""
_MOST_RUNS = 10_000_000
_LAST_SEED = 2**63 - 1


def _check_size(design: Design, bases: Mapping[str, dict[str, Any]]) -> None:
    """Rejects a plan with too many runs, before it is expanded."""
    counts = [(len(one.values), f" of {one.label}", "value") for one in design.variables]
    counts += [(len(design.competitors), "", "algorithm"), (design.replications, "", "seed")]
    factors = (f"{count:,} {what}{'s' * (count != 1)}{of}" for count, of, what in counts)
    what = f"{' × '.join(factors)}: {design.run_count:,} runs"
    remedy = "vary less, or use fewer replications"
    needed = design.run_count * (_BYTES_A_RUN + max(len(json.dumps(base)) for base in bases.values()))
    memory.check(needed, what, remedy)
    if design.run_count > _MOST_RUNS:
        raise InputError(f"{what} are more than {_MOST_RUNS:,}; {remedy}")
    if design.seed + design.replications - 1 > _LAST_SEED:
        raise InputError(
            f"{design.replications:,} seeds that start at {design.seed} exceed {_LAST_SEED}, the "
            "largest seed; start with a smaller one"
        )


def _named(scenarios: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    named: dict[str, dict[str, Any]] = {}
    for one in scenarios:
        if (name := str(one["name"])) in named:
            raise InputError(f'two scenarios are called "{name}"; give each a name of its own')
        named[name] = one
    return named


def _competitors(
    bases: Mapping[str, dict[str, Any]],
    given: Competitors | None,
    varied: list[Variable],
    parameters: Sequence[tuple[str, str]],
) -> list[Competitor]:
    fixed = [name for name, base in bases.items() if _all_flows_choose(base)]
    names = [name for name, _ in parameters]
    names += [name for one in varied for value in one.values[:1] for name, _ in one.parameters(value)]
    if names and fixed:
        raise InputError(
            f"{CHOICE}.{names[0]}: every flow names its own congestion control; write flows.0.congestion.{names[0]} "
            "for the first flow"
        )
    if names and given is None:
        return _default_algorithms(bases, names[0])
    if given is None and fixed and varied:
        # The flows say what they run: what varies is compared.
        return [Competitor("as given", (), tuple(_own_algorithms(bases)))]
    if fixed:
        which = f"{fixed[0]}: " if len(bases) > 1 else ""
        raise InputError(
            f"{which}every flow names its own congestion control, so there is nothing to compare; move the key "
            "congestion from the flows to defaults.tcp, where it holds for flows that name none"
        )
    found = competitors(congestion_names() if given is None else given)
    if not found:
        raise InputError("no algorithm to compare; name at least 1")
    return found


def _default_algorithms(bases: Mapping[str, dict[str, Any]], parameter: str) -> list[Competitor]:
    """Returns the default algorithm of the scenarios, for a variable that is one of its parameters."""
    choices = [((base.get("defaults") or {}).get("tcp") or {}).get("congestion") for base in bases.values()]
    choice = choices[0]
    if choice is None or any(other != choice for other in choices):
        raise InputError(
            f"{CHOICE}.{parameter}: is a parameter of an algorithm, and the scenario names none; name it with "
            "congestion (-c)"
        )
    return competitors({choice if isinstance(choice, str) else name_of(choice): choice})


def _own_algorithms(bases: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """Yields the algorithms that flows of scenarios name themselves, each once."""
    seen = set()
    for base in bases.values():
        for flow in [*base.get("flows", []), (base.get("topology") or {}).get("flow", {})]:
            choice = flow.get("tcp", {}).get("congestion")
            name = choice.get("algorithm") if isinstance(choice, Mapping) else choice
            if name is not None and name not in seen:
                seen.add(name)
                yield str(name)


def _all_flows_choose(scenario: Mapping[str, Any]) -> bool:
    """Returns true if no sender takes its congestion control from the defaults: no flow, and no proxy toward the
    receiver.
    """
    if any("congestion" not in proxy.get("server", {}) for proxy in scenario.get("proxies", [])):
        return False
    flows = list(scenario.get("flows", []))
    topology = scenario.get("topology") or {}
    if "flow" in topology or not flows:
        flows.append(topology.get("flow", {}))
    return all("congestion" in flow.get("tcp", {}) for flow in flows)


def cells_of(design: Design, bases: Mapping[str, dict[str, Any]]) -> Iterator[Cell]:
    """Yields every candidate at every point.

    Raises
    ------
    ScenarioError
        If a scenario cannot be run at a point; the message names the point.
    InputError
        If there is no flow to compare.
    """
    for one in design.competitors:
        # By itself first: its errors do not depend on the point.
        _engine.parse(json.dumps(design.scenario), "json", one.changes(in_turn=False))
    digests: dict[Path, bytes] = {}
    for point in design.points():
        base = bases[point[0]] if len(bases) > 1 else design.scenario
        text = _changed(json.dumps(base), _changes(design, point), design, point)
        text = _with_rtt(text, design, point)
        in_turn = bool((json.loads(text).get("defaults") or {}).get("congestion"))
        parameters = _parameters(design, point)
        for one in (rival.with_parameters(parameters) for rival in design.competitors):
            rival = one.label if parameters else None
            cell = json.loads(_changed(text, one.changes(in_turn=in_turn), design, point, rival))
            if not _has_flows(cell):
                where = _where(design, point) or cell["name"]
                raise InputError(f"{where}: there is no flow to compare; write [[flows]], or topology.flows of a swarm")
            cell["seed"] = design.seed
            yield Cell(one.label, point, json.dumps(cell), digest_of(cell, digests))


def _changes(design: Design, point: Point) -> list[tuple[str, str]]:
    pairs = zip(design.variables, point, strict=True)
    varied = itertools.chain.from_iterable(variable.changes(value) for variable, value in pairs)
    return [*varied, ("record.queueing", "true")]


def _parameters(design: Design, point: Point) -> list[tuple[str, str]]:
    """Returns the parameters of the algorithms at a point."""
    pairs = zip(design.variables, point, strict=True)
    return [parameter for variable, value in pairs for parameter in variable.parameters(value)]


def _with_rtt(text: str, design: Design, point: Point) -> str:
    """Returns the scenario with the round trip of a point, if that varies.

    It is set last, because the delays that result in it depend on all other values.
    """
    for variable, value in zip(design.variables, point, strict=True):
        if variable.is_rtt:
            try:
                changes = _engine.changes_for_rtt(text, value.strip("\"'"))
            except ScenarioError as error:
                raise scenario_error(error.errors, f"with {variable.label}={value}") from None
            except ValueError as error:
                raise InputError(f"rtt={value}: {error}") from None
            text = _changed(text, changes, design, point)
    return text


def _changed(text: str, changes: list[tuple[str, str]], design: Design, point: Point, rival: str | None = None) -> str:
    """Returns the scenario with changes.

    Errors name the point; they also name the algorithm if its parameters are among the changes.
    """
    try:
        return _engine.parse(text, "json", changes).json()
    except ScenarioError as error:
        if not (where := ", ".join(filter(None, (rival, _where(design, point))))):
            raise
        raise scenario_error(error.errors, f"with {where}") from None


def _where(design: Design, point: Point) -> str:
    pairs = zip(design.variables, point, strict=True)
    return ", ".join(f"{variable.label}={value}" for variable, value in pairs)


def _has_flows(scenario: Mapping[str, Any]) -> bool:
    """Returns true if there is a flow; scenarios of nodes with radios may have none."""
    topology = scenario.get("topology") or {}
    if scenario.get("flows"):
        return True
    if topology.get("kind") != "swarm":
        return bool(topology) or not scenario.get("nodes")
    flows = topology.get("flows")
    return bool(topology["nodes"] // 2 if flows is None else flows)


def digest_of(scenario: Mapping[str, Any], files: dict[Path, bytes]) -> bytes:
    """Returns the digest of a scenario except its name and seed, with the contents of files instead of their paths.

    Parameters
    ----------
    files
        Digests of files that were read before; others are added.
    """

    def free(value: object) -> object:
        if isinstance(value, Mapping):
            if "code" in value:
                # A custom algorithm: the digest of its code replaces its file.
                value = {key: entry for key, entry in value.items() if key not in ("plugin", "python")}
            return {key: free(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [free(entry) for entry in value]
        if isinstance(value, str) and (path := _file(value)) is not None:
            if path not in files:
                files[path] = hashlib.blake2b(path.read_bytes(), digest_size=16).digest()
            return {"file": files[path].hex()}
        return value

    named = {key: value for key, value in scenario.items() if key not in ("name", "seed")}
    plain = json.dumps(free(named), sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(plain.encode(), digest_size=16).digest()


def files_of(value: object) -> Iterator[Path]:
    """Yields the files that a scenario reads."""
    if isinstance(value, Mapping):
        for entry in value.values():
            yield from files_of(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from files_of(entry)
    elif isinstance(value, str) and (path := _file(value)) is not None:
        yield path


def _file(value: str) -> Path | None:
    """Returns the file that a value names, if it names one."""
    return Path(value) if ("/" in value or "." in value) and Path(value).is_file() else None
