"""``lightlag.why``: runs a scenario again without each possible cause, and ranks the causes by their effect."""

from __future__ import annotations

import copy
import json
import math
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag.analyse import mean_interval
from lightlag.captures.connections import is_capture
from lightlag.diagnosis.capture import Observed, observe
from lightlag.diagnosis.case import Case
from lightlag.diagnosis.causes import CAUSES, Cause, Kind, shorten_queue
from lightlag.errors import InputError, ScenarioError
from lightlag.machine.processors import processors
from lightlag.results.result import load
from lightlag.running.single import run
from lightlag.scenario import toml_value
from lightlag.scenario.changed import changes
from lightlag.text.quantities import milliseconds, rate
from lightlag.text.table import Row

if TYPE_CHECKING:
    from lightlag.scenario import ScenarioLike, Sets

__all__ = ["Diagnosis", "Effect", "Latency", "why"]

LARGE = 0.1
"""Minimum gain of a cause."""

SETTING_WEIGHT, COMMON_WEIGHT = 2.0, 0.5
"""Weights of gains in the order of causes: a setting of the scenario before another cause of similar effect, and slow
start and other flows, which are common, after it.
"""

COMMON = (Kind.START, Kind.SHARED)

SMALL = 0.01
"""Minimum effect in tables."""

QUEUEING = 0.5
"""Minimum queueing delay that is examined, as a fraction of the minimum round-trip time."""

LIGHT_RECORD = {"trace": "off", "queue": "off", "drops": False}
"""Records of the runs, of which only the flows are read."""

SLOWEST = 1e-6
"""Minimum ratio of speeds, for runs without any data."""


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
    """

    cause: Cause
    gain: float
    low: float
    high: float
    change: Mapping[str, Any]
    is_set: bool

    def arguments(self) -> list[str]:
        """Returns the change as values of ``--set``."""
        return [f"{key}={'' if value is None else toml_value(value)}" for key, value in self.change.items()]

    @property
    def is_large(self) -> bool:
        """Whether the gain is at least 10 %, and its interval above 0."""
        return self.gain >= LARGE and not self.low <= 0

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

    def sentences(self) -> list[str]:
        """Returns the conclusion: the speed, the cause, its effect and the fix."""
        took = "" if self.completion_s is None else f", {self.completion_s:.4g} s"
        found = [f"{self.flow}: {rate(self.goodput_bps)}{took}"]
        if (seen := self.observed) is not None:
            both = f"{seen.measure} {seen.real_s:.4g} s; the model: {seen.model_s:.4g} s"
            found.append(f"The capture, at the {seen.vantage}: {both}.")
            if not seen.is_repeated:
                found.append(
                    "The model does not repeat the capture, and its effects need not be those of the real path."
                )
        if (first := self.cause) is None:
            found.append(f"No cause has an effect of {100 * LARGE:.0f} % or more.")
        else:
            found.append(f"Cause: {first.cause.name}: {first.cause.statement}.")
            interval = "" if math.isnan(first.low) else f" (95 %: {_ends(first)})"
            found.append(f"Without it: {1 + first.gain:.3g} times as fast{interval}.")
            found.append(f"Fix: {first.cause.fix}.")
        if (late := self.latency) is not None:
            waits, path, short = map(milliseconds, (late.queueing_s, late.min_rtt_s, late.shortened_s))
            found.append(
                f"Latency: packets wait {waits} in queues, on a path of {path}; with FQ-CoDel at the bottleneck "
                f"{short}, and the speed changes by {100 * late.gain:+.0f} %."
            )
        found += [f"Not examined: {name}: {reason}" for name, reason in self.skipped.items()]
        return found

    def rows(self) -> list[Row]:
        """Returns the effects of at least 1 % as text."""
        shown = [effect for effect in self.effects if abs(effect.gain) >= SMALL]
        return [
            {"without": effect.cause.name, "speed": f"{1 + effect.gain:.3g} ×", "95 % interval": _ends(effect)}
            for effect in shown
        ]

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


def why(
    scenario: ScenarioLike,
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
        A :class:`Network`, a :class:`Scenario`, a mapping, the path of a TOML or JSON file, a preset, the directory of
        the results of a run, or a capture (pcapng or pcap) of a TCP connection, with its handshake.
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
        scenario, flow = observed.scenario, observed.flow
    first = run(_subject(scenario), duration=duration, sets=sets)
    plain = json.loads(json.dumps(first.scenario)) | {"record": LIGHT_RECORD}
    rows = [row for row in first.flows.to_dicts() if Case.of(plain, row).transport in ("tcp", "quic")]
    name = _chosen(rows, flow)
    start = int(plain.get("seed", 1))
    base = _rows(plain, name, [start, start + 1] if seeds > 1 else [start])
    if len(base) == 2 and base[0] == base[1]:
        numbers, base = [start], base[:1]
    else:
        numbers = [start + index for index in range(seeds)]
        base += _rows(plain, name, numbers[len(base) :])
    if (idle := next((seed for seed, row in zip(numbers, base, strict=True) if not _speed(row)), None)) is not None:
        raise InputError(f"flow {name!r} transfers nothing with seed {idle}: there is no speed to compare")
    variants = [(cause, changed) for cause in CAUSES if (changed := _changed(plain, base[0], cause.remove))]
    effects: list[Effect] = []
    skipped: dict[str, str] = {}
    stops = threading.Event()
    with ThreadPoolExecutor(processors()) as pool:
        try:
            results = pool.map(lambda one: _tried(one[1], name, numbers, stops), variants)
            for done, ((cause, changed), tried) in enumerate(zip(variants, results, strict=True), 1):
                if progress is not None:
                    progress(done, len(variants))
                if isinstance(tried, str):
                    skipped[cause.name] = tried
                    continue
                is_set = cause.is_set(Case.of(plain, base[0]))
                effects.append(Effect(cause, *_gain(base, tried), _keys(plain, changed), is_set))
        except BaseException:
            # The runs end at their next progress call.
            stops.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return Diagnosis(
        name,
        _mean(row["goodput_bps"] for row in base),
        _mean(row["finish_s"] - row["start_s"] for row in base) if all(row["finish_s"] for row in base) else None,
        len(numbers),
        tuple(sorted(effects, key=_importance)),
        _latency(plain, name, base, numbers),
        skipped,
        observed,
    )


def _ends(effect: Effect) -> str:
    return "–" if math.isnan(effect.low) else f"{1 + effect.low:.3g} to {1 + effect.high:.3g}"


def _subject(scenario: ScenarioLike) -> ScenarioLike:
    """Returns the scenario; for a directory the scenario of its results."""
    if not isinstance(scenario, (str, os.PathLike)):
        return scenario
    path = Path(scenario)
    return load(path).scenario if path.is_dir() else scenario


def _observed(scenario: ScenarioLike, flow: str | None) -> Observed | None:
    """Returns the scenario of a capture; None if `scenario` is not a capture."""
    if not isinstance(scenario, (str, os.PathLike)) or not (path := Path(scenario)).is_file():
        return None
    if is_capture(path):
        if flow is not None and not flow.isdecimal():
            raise InputError(f"--flow {flow!r}: is not the index of a connection; lightlag inspect lists them")
        return observe(path, None if flow is None else int(flow))
    return None


def _importance(effect: Effect) -> tuple[bool, bool, float]:
    weight = SETTING_WEIGHT if effect.is_set else COMMON_WEIGHT if effect.cause.kind in COMMON else 1.0
    return (not effect.is_large, effect.cause.kind == Kind.RATE, -weight * effect.gain)


def _gain(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> tuple[float, float, float]:
    """Returns the mean gain and the ends of its interval."""
    ratios = [max(_speed(new) / _speed(old), SLOWEST) for old, new in zip(before, after, strict=True)]
    found = mean_interval([math.log(ratio) for ratio in ratios])
    mean, low, high = (math.expm1(value) for value in (found.mean, found.low, found.high))
    return mean, low, high


def _chosen(rows: Sequence[dict[str, Any]], name: str | None) -> str:
    """Returns the name of the flow to examine."""
    names = [row["name"] for row in rows]
    if not names:
        raise InputError("the scenario has no TCP or QUIC flow, whose speed could have a cause")
    if name is None:
        return str(min(rows, key=lambda row: _speed(row) or math.inf)["name"])
    if name not in names:
        shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        raise InputError(f"there is no flow {name!r}; the flows are {shown}")
    return name


def _changed(plain: dict[str, Any], row: dict[str, Any], remove: Callable[[Case], bool]) -> dict[str, Any] | None:
    """Returns the scenario without a cause; None if it cannot have the cause."""
    changed = copy.deepcopy(plain)
    return changed if remove(Case.of(changed, row)) and changed != plain else None


def _keys(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the keys that differ, with the values after the change."""
    found = changes(before, after)
    return {
        change.key: change.b if isinstance(change.b, (str, int, float, bool, list, dict)) else None for change in found
    }


def _rows(
    plain: dict[str, Any], name: str, seeds: Sequence[int], stops: threading.Event | None = None
) -> list[dict[str, Any]]:
    """Runs a scenario with several seeds until `stops` is set, and returns the flow's row of each run."""
    found = []
    for seed in seeds:
        goes_on = None if stops is None else lambda *_: not stops.is_set()
        rows = run(plain, seed=seed, progress=goes_on).flows.to_dicts()
        row = next((row for row in rows if row["name"] == name), None)
        if row is None:
            raise InputError(f"with seed {seed} there is no flow {name!r}: flows are drawn at random; examine one seed")
        found.append(row)
    return found


def _tried(
    plain: dict[str, Any], name: str, seeds: Sequence[int], stops: threading.Event | None = None
) -> list[dict[str, Any]] | str:
    """Returns the rows, or the error of a scenario that is invalid without a cause."""
    try:
        return _rows(plain, name, seeds, stops)
    except ScenarioError as error:
        return str(error).splitlines()[0]


def _speed(row: Mapping[str, Any]) -> float:
    """Returns the goodput, or for requests the inverse of the mean response time."""
    response = row.get("responses_mean_s")
    return float(1 / response if response else row["goodput_bps"] or 0.0)


def _latency(plain: dict[str, Any], name: str, base: Sequence[dict[str, Any]], seeds: Sequence[int]) -> Latency | None:
    """Measures the queueing delay with FQ-CoDel, if the flow's is long and the bottleneck may have that queue."""
    queueing, minimum = _mean(map(_queueing, base)), _mean(row["min_rtt_s"] or 0.0 for row in base)
    if queueing < QUEUEING * minimum or (changed := _changed(plain, base[0], shorten_queue)) is None:
        return None
    rows = _tried(changed, name, seeds)
    if isinstance(rows, str):
        return None
    gain, _, _ = _gain(base, rows)
    return Latency(queueing, minimum, _mean(map(_queueing, rows)), gain)


def _queueing(row: Mapping[str, Any]) -> float:
    return (row["mean_rtt_s"] or 0.0) - (row["min_rtt_s"] or 0.0)


def _mean(values: Any) -> float:
    found = list(values)
    return float(sum(found) / len(found))
