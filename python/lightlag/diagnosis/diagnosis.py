"""``lightlag.why``: runs a scenario again without each possible cause; the engine changes the scenario, and ranks the
causes by their effect.
"""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag import _engine
from lightlag.diagnosis.capture import Observed, observe
from lightlag.errors import InputError, ScenarioError
from lightlag.files.input import is_capture
from lightlag.machine.processors import processors
from lightlag.results.result import Result, load
from lightlag.running.single import run
from lightlag.scenario import toml_value
from lightlag.scenario.changed import changes
from lightlag.text.table import Row

if TYPE_CHECKING:
    from lightlag.scenario import ScenarioLike, Sets

__all__ = ["Cause", "Diagnosis", "Effect", "Latency", "causes", "why"]


@dataclass(frozen=True, slots=True)
class Cause:
    """A possible cause of a slow transfer.

    Attributes
    ----------
    name
        Name in tables.
    statement
        The cause in a sentence, without a full stop.
    fix
        The fix in a sentence, without a full stop.
    """

    name: str
    statement: str
    fix: str


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a cause: the speed of the flow without it, relative to the speed with it.

    Attributes
    ----------
    cause
        The cause.
    gain
        Geometric mean of the ratio of the speeds over the seeds, minus 1: 0.5 stands for 1.5 times the speed. Speed is
        the goodput, or the inverse of the mean response time.
    low, high
        Ends of the 95 % interval (Student t of the logarithms); NaN with one seed.
    change
        The keys of the scenario that remove the cause, with their values; None for a key that is removed.
    is_set
        Whether a setting of the scenario is the cause, not a default or the path.
    is_large
        Whether the gain is at least 10 %, and its interval above 0.
    """

    cause: Cause
    gain: float
    low: float
    high: float
    change: Mapping[str, Any]
    is_set: bool
    is_large: bool

    def arguments(self) -> list[str]:
        """Returns the change as values of ``--set``."""
        return [f"{key}={'' if value is None else toml_value(value)}" for key, value in self.change.items()]

    def to_json(self) -> dict[str, Any]:
        """Returns the effect as plain values."""
        low, high = (None if math.isnan(end) else end for end in (self.low, self.high))
        return {
            "cause": self.cause.name,
            "gain": self.gain,
            "gain_low": low,
            "gain_high": high,
            "is_large": self.is_large,
            "is_set": self.is_set,
            "statement": self.cause.statement,
            "fix": self.cause.fix,
            "change": dict(self.change),
        }


@dataclass(frozen=True, slots=True)
class Latency:
    """The queueing delay at the bottleneck, which also delays other flows.

    Attributes
    ----------
    queueing_s, min_rtt_s
        Mean round-trip time minus the minimum, and the minimum.
    shortened_s
        Mean queueing delay with FQ-CoDel at the bottleneck.
    gain
        Change of the speed by FQ-CoDel, as in :class:`Effect`.
    """

    queueing_s: float
    min_rtt_s: float
    shortened_s: float
    gain: float

    def to_json(self) -> dict[str, Any]:
        """Returns the delays as plain values."""
        names = ("queueing_s", "min_rtt_s", "shortened_s", "gain")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The causes of the speed of a flow.

    Attributes
    ----------
    flow
        Name of the flow.
    goodput_bps, completion_s
        Means over the seeds; ``completion_s`` is None unless the transfer finishes with every seed.
    seeds
        Number of seeds; 1 if nothing in the scenario is random.
    effects
        All causes that the scenario can have, the most important first. Large ones precede others; among them, the rate
        comes last. The gain of a setting of the scenario counts twice, and the gains of slow start and of other flows
        half.
    latency
        The queueing delay, if it is at least half of the minimum round-trip time.
    skipped
        Causes that were not examined because the scenario without them is invalid, with the error.
    observed
        The capture that the scenario repeats; None if the scenario was given.
    """

    flow: str
    goodput_bps: float
    completion_s: float | None
    seeds: int
    effects: tuple[Effect, ...]
    latency: Latency | None
    skipped: Mapping[str, str]
    observed: Observed | None = None

    @property
    def cause(self) -> Effect | None:
        """The most important cause; None if none is large."""
        return next((effect for effect in self.effects if effect.is_large), None)

    def headline(self) -> str:
        """Returns the speed of the flow, with the number of seeds."""
        return str(self._told()["headline"])

    def sentences(self) -> list[str]:
        """Returns the conclusion: the speed, the cause, its effect and the fix."""
        told = [str(sentence) for sentence in self._told()["sentences"]]
        return told if self.observed is None else [told[0], *self.observed.sentences(), *told[1:]]

    def rows(self) -> list[Row]:
        """Returns the effects of at least 1 % as text."""
        table = self._told()["table"]
        return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]

    def _told(self) -> dict[str, Any]:
        skipped = [{"cause": name, "reason": reason} for name, reason in self.skipped.items()]
        found: dict[str, Any] = _analysed("told", **(self.to_json() | {"skipped": skipped}))
        return found

    def to_json(self) -> dict[str, Any]:
        """Returns everything as plain values."""
        return {
            "flow": self.flow,
            "goodput_bps": self.goodput_bps,
            "completion_s": self.completion_s,
            "seeds": self.seeds,
            "cause": None if self.cause is None else self.cause.cause.name,
            "effects": [effect.to_json() for effect in self.effects],
            "latency": None if self.latency is None else self.latency.to_json(),
            "skipped": dict(self.skipped),
            "capture": None if self.observed is None else self.observed.to_json(),
        }


def causes() -> list[Cause]:
    """Returns all causes that are examined."""
    return [Cause(**cause) for cause in _analysed("causes")]


def why(
    scenario: ScenarioLike | Result,
    flow: str | None = None,
    *,
    seeds: int = 10,
    duration: str | None = None,
    sets: Sets = (),
    progress: Callable[[int, int], object] | None = None,
) -> Diagnosis:
    """Finds the causes of the speed of a flow, and measures the effect of each by runs without it.

    Parameters
    ----------
    scenario
        A :class:`Network`, a :class:`Scenario`, a mapping, the path of a TOML or JSON file, a preset, the result of a
        run, or its directory, or a capture (pcapng or pcap) of a TCP connection, with its handshake.
    flow
        Name of a TCP or QUIC flow; by default the slowest one. For a capture, the index of the connection; by default
        the one with the most data.
    seeds
        Number of seeds for each cause. Only one is used if nothing in the scenario is random.
    duration, sets
        Changes to the scenario, as in :func:`run`.
    progress
        Called with the number of examined causes and of all causes.

    Raises
    ------
    InputError
        If there is no such flow, or if it transfers nothing.
    """
    if seeds < 1:
        raise InputError(f"seeds: {seeds} is not a positive number")
    observed = _observed(scenario, flow)
    if observed is not None:
        flow = observed.flow
    first = run(_subject(scenario) if observed is None else observed.scenario, duration=duration, sets=sets)
    plain = json.loads(json.dumps(first.scenario))
    subject = _analysed("subject", scenario=plain, flows=list(first.parts["flows"]), flow=flow)
    plain |= {"record": subject["record"]}
    name, start = str(subject["flow"]), int(plain.get("seed", 1))
    base = _rows(plain, name, [start, start + 1] if seeds > 1 else [start])
    if len(base) == 2 and base[0] == base[1]:
        numbers, base = [start], base[:1]
    else:
        numbers = [start + index for index in range(seeds)]
        base += _rows(plain, name, numbers[len(base) :])
    variants = _analysed("variants", scenario=plain, base=base, first_seed=start)
    examined, short_queue = variants["causes"], variants["short_queue"]
    scenarios = [one["scenario"] for one in examined] + ([] if short_queue is None else [short_queue])

    def report(done: int) -> None:
        if progress is not None and done <= len(examined):
            progress(done, len(examined))

    results = _all_tried(scenarios, name, numbers, report)
    tried = [
        {"cause": cause["cause"], "is_set": cause["is_set"]}
        | ({"error": found} if isinstance(found, str) else {"rows": found})
        for cause, found in zip(examined, results, strict=False)
    ]
    short = None if short_queue is None or isinstance(results[-1], str) else results[-1]
    found = _analysed("diagnose", base=base, tried=tried, short_queue=short)
    changed = {one["cause"]: _keys(plain, one["scenario"]) for one in examined}
    return Diagnosis(
        name,
        found["goodput_bps"],
        found["completion_s"],
        len(numbers),
        tuple(_effect(one, changed[one["cause"]]) for one in found["effects"]),
        None if found["latency"] is None else Latency(**found["latency"]),
        {one["cause"]: one["reason"] for one in found["skipped"]},
        observed,
    )


def _analysed(request: str, **parts: Any) -> Any:
    """Returns the engine's reply to a request for an analysis.

    Raises
    ------
    InputError
        If the request is invalid, for example if there is no such flow.
    """
    try:
        return json.loads(_engine.analysis(json.dumps({request: parts})))
    except ValueError as error:
        raise InputError(str(error)) from None


def _effect(found: Mapping[str, Any], change: Mapping[str, Any]) -> Effect:
    low, high = (math.nan if found[end] is None else found[end] for end in ("gain_low", "gain_high"))
    cause = Cause(found["cause"], found["statement"], found["fix"])
    return Effect(cause, found["gain"], low, high, change, found["is_set"], found["is_large"])


def _subject(scenario: ScenarioLike | Result) -> ScenarioLike:
    """Returns the scenario; for a result or its directory the scenario of the run."""
    if isinstance(scenario, Result):
        return scenario.scenario
    if not isinstance(scenario, (str, os.PathLike)):
        return scenario
    path = Path(scenario)
    return load(path).scenario if path.is_dir() else scenario


def _observed(scenario: ScenarioLike | Result, flow: str | None) -> Observed | None:
    """Returns the scenario of a capture; None if `scenario` is not a capture."""
    if not isinstance(scenario, (str, os.PathLike)):
        return None
    path = Path(scenario)
    if not path.is_file() or not is_capture(path):
        return None
    if flow is not None and not flow.isdecimal():
        raise InputError(f"flow {flow!r}: is not the index of a connection; lightlag inspect lists them")
    return observe(path, None if flow is None else int(flow))


def _keys(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the keys that differ, with the values after the change."""
    found = changes(before, after)
    return {
        change.key: change.b if isinstance(change.b, (str, int, float, bool, list, dict)) else None for change in found
    }


def _rows(
    plain: dict[str, Any], name: str, seeds: Sequence[int], stops: threading.Event | None = None
) -> list[dict[str, Any]]:
    """Runs a scenario with several seeds until `stops` is set, and returns the flow's result of each run."""
    found = []
    for seed in seeds:
        goes_on = None if stops is None else lambda *_: not stops.is_set()
        flows = run(plain, seed=seed, progress=goes_on).parts["flows"]
        row = next((row for row in flows if row["name"] == name), None)
        if row is None:
            raise InputError(f"with seed {seed} there is no flow {name!r}: flows are drawn at random; examine one seed")
        found.append(row)
    return found


def _all_tried(
    scenarios: Sequence[dict[str, Any]], name: str, seeds: Sequence[int], report: Callable[[int], object]
) -> list[list[dict[str, Any]] | str]:
    """Runs scenarios on all processors, and returns the flow's results, or the error of an invalid scenario."""
    stops = threading.Event()
    found = []
    with ThreadPoolExecutor(processors()) as pool:
        try:
            for done, tried in enumerate(pool.map(lambda one: _tried(one, name, seeds, stops), scenarios), 1):
                report(done)
                found.append(tried)
        except BaseException:
            # The runs end at their next progress call.
            stops.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


def _tried(
    plain: dict[str, Any], name: str, seeds: Sequence[int], stops: threading.Event
) -> list[dict[str, Any]] | str:
    """Returns the results, or the error of a scenario that is invalid without a cause."""
    try:
        return _rows(plain, name, seeds, stops)
    except ScenarioError as error:
        return str(error).splitlines()[0]
