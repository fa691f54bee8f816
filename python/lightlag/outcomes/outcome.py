"""The outcome of one run in a comparison: numbers, and curves that are fine enough for any figure.

UDP flows are background traffic: they do not count in the metrics of a run, unless there are no other flows.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from array import array
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from lightlag import _engine
from lightlag.records.summary import for_analysis, rows

if TYPE_CHECKING:
    from lightlag.analyse import Numbers
    from lightlag.records.records import Records

__all__ = ["UDP", "Flows", "Outcome"]

UDP = "udp"
"""The congestion control of flows that have none."""


@dataclass(frozen=True, slots=True)
class Flows:
    """Results of the flows of a run, as columns."""

    name: list[str]
    congestion: list[str]
    goodput_bps: list[float]
    completion_s: list[float | None]
    """Time from the flow's start to its last byte; None if it did not finish."""
    min_rtt_s: list[float | None]
    """Minimum round-trip sample of the flow; if proxies split the flow, the sum over its legs."""
    leg: list[str | None]
    """The leg whose segments, timeouts and window count: the longest. None if no proxy splits the flow."""

    @classmethod
    def of(cls, flows: list[dict[str, Any]]) -> Flows:
        """Returns the flows of an outcome from the engine. Names are the same in every run, so they are stored once."""
        return cls(
            name=[sys.intern(flow["name"]) for flow in flows],
            congestion=[sys.intern(flow["congestion"]) for flow in flows],
            goodput_bps=[flow["goodput_bps"] for flow in flows],
            completion_s=[flow["completion_s"] for flow in flows],
            min_rtt_s=[flow["min_rtt_s"] for flow in flows],
            leg=[flow["leg"] and sys.intern(flow["leg"]["name"]) for flow in flows],
        )

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Flows:
        """Restores the flows from the values of :meth:`Outcome.to_json`.

        Raises
        ------
        KeyError, TypeError, ValueError
            If the values are invalid.
        """
        flows = cls(
            _texts(plain["name"], "name"),
            _texts(plain["congestion"], "congestion"),
            _numbers(plain["goodput_bps"], "goodput_bps"),
            _numbers(plain["completion_s"], "completion_s", gaps=True),
            _numbers(plain["min_rtt_s"], "min_rtt_s", gaps=True),
            _texts(plain["leg"], "leg", gaps=True),
        )
        if len({len(getattr(flows, field.name)) for field in dataclasses.fields(cls)}) != 1:
            _refuse("flows", "columns of different lengths")
        return flows


@dataclass(frozen=True, slots=True)
class Outcome:
    """The values of one run that a comparison stores."""

    congestion: str
    """The label of the algorithm, or of the algorithms assigned to the flows in turn."""
    point: tuple[str, ...]
    """The value of each variable, as text."""
    seed: int
    goodput_bps: float
    """Payload of all flows, divided by the time from the first start to the last finish, or to the end of the run."""
    completion_s: float | None
    """Time from the first start to the last finish; None if a transfer is unfinished, or if there are no transfers."""
    jain: float
    """Jain's index of the flows' goodputs."""
    retransmitted_share: float
    """Fraction of the sent segments that were retransmissions."""
    queueing_mean_s: float | None
    """Mean waiting time of data packets at the bottleneck, the link direction with the largest total waiting time."""
    queueing_p95_s: float | None
    """The 95th percentile of these waiting times."""
    bottleneck: str | None
    """Name of the bottleneck."""
    timeouts: int
    simulated_s: float
    result_hash: str
    """The result hash of the run with ``record.queueing = true``, which every run of a comparison has."""
    flows: Flows
    capacity_bps: float | None
    """Rate of the slowest link direction on the path of the flows, if they share one whose rate is constant."""
    arrived_bytes: array[float] | None
    """Payload of all flows that had arrived, at equal steps from 0 to the end; None if there is no trace."""
    windows: dict[str, tuple[array[float], array[float]]] | None
    """Times and congestion windows of the first flows, in segments; only for the first seed."""

    @classmethod
    def of(cls, congestion: str, point: tuple[str, ...], seed: int, result: Records, *, first: bool) -> Outcome:
        """Reduces a run to the data of a comparison."""
        found, curves = json.loads(_engine.outcome(for_analysis(result.parts), partial(rows, result)))
        arrived = curves["arrived"]
        windows = {flow: (array("d", times), array("d", window)) for flow, times, window in curves["windows"]}
        return cls(
            congestion=congestion,
            point=point,
            seed=seed,
            goodput_bps=found["goodput_bps"],
            completion_s=found["completion_s"],
            jain=math.nan if found["jain"] is None else found["jain"],
            retransmitted_share=found["retransmitted_share"],
            queueing_mean_s=found["queueing_mean_s"],
            queueing_p95_s=found["queueing_p95_s"],
            bottleneck=found["bottleneck"],
            timeouts=found["timeouts"],
            simulated_s=result.simulated_s,
            result_hash=result.result_hash,
            flows=Flows.of(found["flows"]),
            capacity_bps=found["capacity_bps"],
            arrived_bytes=None if arrived is None else array("d", arrived),
            windows=windows if first and result.scenario["record"]["trace"] != "off" else None,
        )

    @property
    def arrived(self) -> tuple[Numbers, Numbers] | None:
        """Times in seconds, and the payload bytes of all flows that had arrived by then; None if there is no trace."""
        import numpy as np

        if self.arrived_bytes is None:
            return None
        return np.linspace(0.0, self.simulated_s, len(self.arrived_bytes)), np.asarray(self.arrived_bytes)

    @property
    def window_curves(self) -> dict[str, tuple[Numbers, Numbers]]:
        """:attr:`windows` as arrays for figures; empty if there are none."""
        import numpy as np

        return {
            flow: (np.asarray(times), np.asarray(windows)) for flow, (times, windows) in (self.windows or {}).items()
        }

    def is_same(self, other: Outcome) -> bool:
        """Returns true if another run, with another seed, has exactly the same values."""
        apart = {"seed", "result_hash", "arrived_bytes", "windows"}
        names = (field.name for field in dataclasses.fields(self) if field.name not in apart)
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)

    def asked(self) -> dict[str, Any]:
        """Returns the seed and the flows in the form that the engine reads."""
        names = ("name", "congestion", "goodput_bps", "completion_s", "min_rtt_s")
        columns = [getattr(self.flows, name) for name in names]
        return {"seed": self.seed, "flows": [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]}

    def to_json(self) -> dict[str, Any]:
        """Everything as plain values."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        plain["flows"] = dataclasses.asdict(self.flows)
        # JSON has no NaN.
        plain["jain"] = None if math.isnan(self.jain) else self.jain
        if self.arrived_bytes is not None:
            plain["arrived_bytes"] = [int(level) for level in self.arrived_bytes]
        if self.windows is not None:
            plain["windows"] = {name: [part.tolist() for part in curve] for name, curve in self.windows.items()}
        return plain

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Outcome:
        """Restores an outcome from the values of :meth:`to_json`.

        Raises
        ------
        KeyError, TypeError, ValueError, AttributeError
            If the values are invalid.
        """
        values = {field.name: plain[field.name] for field in dataclasses.fields(cls)}
        values["point"] = tuple(_texts(plain["point"], "point"))
        for name in ("congestion", "result_hash"):
            _texts([plain[name]], name)
        for name in ("goodput_bps", "retransmitted_share", "simulated_s", "seed", "timeouts"):
            _numbers([plain[name]], name)
        # Flows that delivered nothing have no index.
        if plain["jain"] is None or _same(plain["jain"], math.nan):
            values["jain"] = math.nan
        else:
            _numbers([plain["jain"]], "jain")
        for name in ("capacity_bps", "completion_s", "queueing_mean_s", "queueing_p95_s"):
            _numbers([0.0 if plain[name] is None else plain[name]], name)
        if plain["bottleneck"] is not None:
            _texts([plain["bottleneck"]], "bottleneck")
        values["flows"] = Flows.from_json(plain["flows"])
        if plain["arrived_bytes"] is not None:
            values["arrived_bytes"] = array("d", _numbers(plain["arrived_bytes"], "arrived_bytes"))
        if plain["windows"] is not None:
            values["windows"] = {
                name: (array("d", _numbers(times, name)), array("d", _numbers(windows, name)))
                for name, (times, windows) in plain["windows"].items()
                if len(times) == len(windows) or _refuse(name, "times and windows of different lengths")
            }
        return cls(**values)


def _refuse(name: str, what: object) -> bool:
    raise ValueError(f"{name} holds {what!r:.60}")


def _texts(values: object, name: str, *, gaps: bool = False) -> list[Any]:
    """Checks a list of texts; with gaps, None is also allowed."""
    if not isinstance(values, list):
        _refuse(name, values)
    for value in values:  # type: ignore[attr-defined]
        if not isinstance(value, str) and not (gaps and value is None):
            _refuse(name, value)
    return values  # type: ignore[return-value]


def _numbers(values: object, name: str, *, gaps: bool = False) -> list[Any]:
    """Checks a list of finite numbers; with gaps, None is also allowed."""
    if not isinstance(values, list):
        _refuse(name, values)
    for value in values:  # type: ignore[attr-defined]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number and not (gaps and value is None):
            _refuse(name, value)
    return values  # type: ignore[return-value]


def _same(value: object, other: object) -> bool:
    """Returns true if two values are equal, or both are NaN."""
    return value == other or (value != value and other != other)
