"""The runs of a comparison: every algorithm at every point with every seed, checked before the first one starts."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lightlag import _engine, _memory
from lightlag.comparison import Design, Point
from lightlag.errors import InputError, ScenarioError, scenario_error
from lightlag.journal import key_of
from lightlag.outcome import Outcome
from lightlag.scenario import ScenarioLike, congestion_names, load_scenario
from lightlag.variables import Competitor, Competitors, Variable, Vary, competitors, variables

__all__ = ["Plan", "Run", "make"]


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run of a comparison."""

    congestion: str
    point: Point
    seed: int
    text: str
    """The scenario as JSON."""
    key: str
    """The values that distinguish it from every other run."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of a comparison. Seeds come first, so that an early end leaves pairs."""

    design: Design
    runs: tuple[Run, ...]

    def without_chance(self) -> list[tuple[str, Point]]:
        """The algorithms and points in which nothing is drawn at random: all their runs are the same."""
        first = [run for run in self.runs if run.seed == self.design.seed]
        return [(run.congestion, run.point) for run in first if not _engine.parse(run.text, "json").is_random()]

    @property
    def space(self) -> float:
        """Bytes that the results may take on the disk: each run in the journal and in the table, and the figures."""
        return _FIGURES + 2 * _BYTES_ON_DISK * len(self.runs)

    def ordered(self, outcomes: Mapping[Run, Outcome]) -> list[tuple[Run, Outcome]]:
        """Outcomes by point, then algorithm, then seed."""
        points = {point: at for at, point in enumerate(self.design.points())}
        labels = {one.label: at for at, one in enumerate(self.design.competitors)}
        return sorted(outcomes.items(), key=lambda one: (points[one[0].point], labels[one[0].congestion], one[0].seed))


def make(
    scenario: ScenarioLike | Sequence[ScenarioLike],
    congestion: Competitors | None,
    vary: Vary,
    replications: int,
    sets: Sequence[tuple[str, str]],
) -> Plan:
    """The plan of a comparison.

    Raises
    ------
    ScenarioError
        If a scenario cannot be run as it is or at a point; the message names the point.
    InputError
        If there is nothing to compare, or something twice.
    """
    several: list[ScenarioLike] = list(scenario) if isinstance(scenario, (list, tuple)) else [scenario]  # type: ignore[list-item]
    bases = _named([json.loads(load_scenario(one, sets)) for one in several])
    if not bases:
        raise InputError("no scenario to compare; name at least 1")
    varied = variables(vary)
    if len(bases) > 1:
        varied.insert(0, Variable("scenario", (), tuple(bases)))
    first = next(iter(bases.values()))
    rivals = _competitors(bases, congestion, varied)
    design = Design(first, tuple(rivals), tuple(varied), int(first["seed"]), replications)
    _check_size(design, bases)
    return Plan(design, tuple(_runs(design, bases)))


_BYTES_A_RUN = 13_000
"""Bytes that a run keeps beside its scenario: its outcome, with a curve of 1,200 steps; 13.7 kB of a run of `geo`."""
_BYTES_ON_DISK = 12_000
"""A line of `curves.jsonl`: `geo` has 10 kB, the first seed of each algorithm 19 kB."""
_FIGURES = 2e6
"""Figures and report: those of `geo` with two algorithms take 0.5 MB."""
_MOST_RUNS = 10_000_000
_LAST_SEED = 2**63 - 1


def _check_size(design: Design, bases: Mapping[str, dict[str, Any]]) -> None:
    """Refuses a plan that is too large, before it is expanded."""
    counts = [(len(one.values), f" of {one.label}", "value") for one in design.variables]
    counts += [(len(design.competitors), "", "algorithm"), (design.replications, "", "seed")]
    factors = (f"{count:,} {what}{'s' * (count != 1)}{of}" for count, of, what in counts)
    what = f"{' × '.join(factors)}: {design.run_count:,} runs"
    remedy = "vary less, or ask for fewer replications"
    needed = design.run_count * (_BYTES_A_RUN + max(len(json.dumps(base)) for base in bases.values()))
    _memory.check(needed, what, remedy)
    if design.run_count > _MOST_RUNS:
        raise InputError(f"{what} are more than {_MOST_RUNS:,}; {remedy}")
    if design.seed + design.replications - 1 > _LAST_SEED:
        raise InputError(
            f"the seeds from {design.seed} on, {design.replications:,} of them, exceed {_LAST_SEED}, the "
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
    bases: Mapping[str, dict[str, Any]], given: Competitors | None, varied: list[Variable]
) -> list[Competitor]:
    fixed = [name for name, base in bases.items() if _all_flows_choose(base)]
    if given is None and fixed and varied:
        # The flows say what they run: what varies is compared.
        return [Competitor("as given", (), tuple(_own_algorithms(bases)))]
    if fixed:
        which = f"{fixed[0]}: " if len(bases) > 1 else ""
        raise InputError(
            f"{which}every flow names its own congestion control, so there is nothing to compare; leave it out"
        )
    found = competitors(congestion_names() if given is None else given)
    if not found:
        raise InputError("no algorithm to compare; name at least 1")
    return found


def _own_algorithms(bases: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """The algorithms that flows of scenarios name themselves, each once."""
    seen = set()
    for base in bases.values():
        for flow in [*base.get("flows", []), (base.get("topology") or {}).get("flow", {})]:
            choice = flow.get("tcp", {}).get("congestion")
            name = choice.get("algorithm") if isinstance(choice, Mapping) else choice
            if name is not None and name not in seen:
                seen.add(name)
                yield str(name)


def _all_flows_choose(scenario: Mapping[str, Any]) -> bool:
    """Whether no sender takes its congestion control from the defaults: no flow, and no proxy toward the receiver."""
    if any("congestion" not in proxy.get("server", {}) for proxy in scenario.get("proxies", [])):
        return False
    flows = list(scenario.get("flows", []))
    topology = scenario.get("topology") or {}
    if "flow" in topology or not flows:
        flows.append(topology.get("flow", {}))
    return all("congestion" in flow.get("tcp", {}) for flow in flows)


def _runs(design: Design, bases: Mapping[str, dict[str, Any]]) -> list[Run]:
    for one in design.competitors:
        # By itself first: what is wrong with it is not the point's fault.
        _engine.parse(json.dumps(design.scenario), "json", one.changes(in_turn=False))
    cells = []
    for point in design.points():
        base = bases[point[0]] if len(bases) > 1 else design.scenario
        text = _changed(json.dumps(base), _changes(design, point), design, point)
        text = _with_rtt(text, design, point)
        in_turn = bool((json.loads(text).get("defaults") or {}).get("congestion"))
        for one in design.competitors:
            cell = json.loads(_changed(text, one.changes(in_turn=in_turn), design, point))
            if not _has_flows(cell):
                where = _where(design, point) or cell["name"]
                raise InputError(f"{where}: there is no flow to compare; write [[flows]], or topology.flows of a swarm")
            cells.append((one.label, point, cell, list(_files(cell))))
    runs = []
    for seed in range(design.seed, design.seed + design.replications):
        for label, point, cell, files in cells:
            scenario = json.dumps(cell | {"seed": seed})
            runs.append(Run(label, point, seed, scenario, key_of(scenario, files)))
    return runs


def _changes(design: Design, point: Point) -> list[tuple[str, str]]:
    pairs = zip(design.variables, point, strict=True)
    varied = itertools.chain.from_iterable(variable.changes(value) for variable, value in pairs)
    return [*varied, ("record.queueing", "true")]


def _with_rtt(text: str, design: Design, point: Point) -> str:
    """The scenario with the round trip of a point, if it varies: which delays give it depends on all other values."""
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


def _changed(text: str, changes: list[tuple[str, str]], design: Design, point: Point) -> str:
    """The scenario with changes; errors name the point."""
    try:
        return _engine.parse(text, "json", changes).json()
    except ScenarioError as error:
        if not (where := _where(design, point)):
            raise
        raise scenario_error(error.errors, f"with {where}") from None


def _where(design: Design, point: Point) -> str:
    pairs = zip(design.variables, point, strict=True)
    return ", ".join(f"{variable.label}={value}" for variable, value in pairs)


def _has_flows(scenario: Mapping[str, Any]) -> bool:
    """Whether there is a flow: nodes with radios may have none."""
    topology = scenario.get("topology") or {}
    if scenario.get("flows"):
        return True
    if topology.get("kind") != "swarm":
        return bool(topology) or not scenario.get("nodes")
    flows = topology.get("flows")
    return bool(topology["nodes"] // 2 if flows is None else flows)


def _files(value: object) -> Iterator[Path]:
    """The files that a scenario reads."""
    if isinstance(value, Mapping):
        for entry in value.values():
            yield from _files(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _files(entry)
    elif isinstance(value, str) and ("/" in value or "." in value) and Path(value).is_file():
        yield Path(value)
