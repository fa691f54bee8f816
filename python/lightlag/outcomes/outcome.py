"""The outcome of one run in a comparison: numbers, and curves that are fine enough for any figure.

Flows of UDP are the traffic that the others meet: they have no part in the measures of a run, unless there is nothing
else.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightlag.analyse import jain, together

if TYPE_CHECKING:
    import polars as pl

    from lightlag.analyse import Numbers
    from lightlag.records.records import Records

__all__ = ["UDP", "Flows", "Outcome"]

UDP = "udp"
"""The congestion control of flows without one."""
_STEPS = 1200
_WINDOW_POINTS = 1600
_WINDOWS = 12


@dataclass(frozen=True, slots=True)
class Flows:
    """Results of the flows of a run, as columns."""

    name: list[str]
    congestion: list[str]
    goodput_bps: list[float]
    completion_s: list[float | None]
    """From the flow's start to its last byte; None if it did not finish."""
    min_rtt_s: list[float | None]
    """Its smallest round-trip sample; where proxies split it, the sum of those of its legs."""
    leg: list[str | None]
    """The leg whose segments, timeouts and window are counted: the longest; None where no proxy splits it."""

    @classmethod
    def of(cls, summary: list[dict[str, Any]], legs: Mapping[str, list[dict[str, Any]]]) -> Flows:
        """The flows of a run's summary. Names repeat in every run, so they are stored once."""
        from lightlag.records.summary import leg_name, longest_leg

        def rtt(flow: dict[str, Any]) -> float | None:
            parts = [leg["min_rtt_s"] for leg in legs.get(flow["name"], [flow])]
            return None if None in parts else sum(parts)

        def leg(flow: dict[str, Any]) -> str | None:
            own = legs.get(flow["name"])
            return sys.intern(leg_name(longest_leg(own))) if own else None

        return cls(
            name=[sys.intern(flow["name"]) for flow in summary],
            congestion=[sys.intern(flow["congestion"]) for flow in summary],
            goodput_bps=[flow["goodput_bps"] for flow in summary],
            completion_s=[None if flow["finish_s"] is None else flow["finish_s"] - flow["start_s"] for flow in summary],
            min_rtt_s=[rtt(flow) for flow in summary],
            leg=[leg(flow) for flow in summary],
        )

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Flows:
        """The flows as :meth:`Outcome.to_json` gave them.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it gave others.
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
    """The values that a comparison keeps of one run."""

    congestion: str
    """The label of the algorithm, or of those that the flows took in turn."""
    point: tuple[str, ...]
    """The value of each variable, as text."""
    seed: int
    goodput_bps: float
    """Payload of all flows over the time from the first start to the last finish or the end."""
    completion_s: float | None
    """From the first start to the last finish; None if a transfer is unfinished or there is none."""
    jain: float
    """Jain's index of the flows' goodputs."""
    retransmitted_share: float
    """Segments sent again, of all that were sent."""
    queueing_mean_s: float | None
    """Mean wait of data packets at the bottleneck, the link direction with the largest total wait."""
    queueing_p95_s: float | None
    """The 95th percentile of these waits."""
    bottleneck: str | None
    """Its name."""
    timeouts: int
    simulated_s: float
    result_hash: str
    """The hash of the run with ``record.queueing = true``, which every run of a comparison has."""
    flows: Flows
    capacity_bps: float | None
    """The rate of the slowest link direction on the way of the flows, if they have one in common whose rate stays."""
    arrived_bytes: array[float] | None
    """Payload of all flows that had arrived, at equal steps from 0 to the end; None if there is no trace."""
    windows: dict[str, tuple[array[float], array[float]]] | None
    """Times and congestion windows in segments of the first flows, for the first seed."""

    @classmethod
    def of(cls, congestion: str, point: tuple[str, ...], seed: int, result: Records, *, first: bool) -> Outcome:
        """Reduces a run to what a comparison needs."""
        from lightlag.records.summary import capacity, legs_of, longest_leg

        every = result.summary["flows"]
        legs = legs_of(result.summary)
        flows = [flow for flow in every if flow["congestion"] != UDP] or every
        start = min(flow["start_s"] for flow in flows)
        finishes = [flow["finish_s"] for flow in flows]
        ends = [result.simulated_s if finish is None else finish for finish in finishes]
        seconds = max(ends) - start
        senders = [longest_leg(legs[flow["name"]]) if flow["name"] in legs else flow for flow in flows]
        sent = sum(sender["sent_segments"] for sender in senders)
        again = sum(sender["retransmitted_segments"] for sender in senders)
        numbers = {name: int(longest_leg(own)["leg"]) for name, own in legs.items()}
        link = capacity(result.summary)
        waits = [link for link in result.summary["links"] if link.get("data_packets")]
        bottleneck = max(waits, key=lambda link: link["mean_wait_s"] * link["data_packets"], default=None)
        trace = result.trace() if result.scenario["record"]["trace"] != "off" else None
        return cls(
            congestion=congestion,
            point=point,
            seed=seed,
            goodput_bps=together(flows, result.simulated_s),
            completion_s=None if None in finishes else seconds,
            jain=jain(flow["goodput_bps"] for flow in flows),
            retransmitted_share=again / sent if sent else 0.0,
            queueing_mean_s=bottleneck and bottleneck["mean_wait_s"],
            queueing_p95_s=bottleneck and bottleneck["p95_wait_s"],
            bottleneck=bottleneck and bottleneck["name"],
            timeouts=sum(sender["timeouts"] for sender in senders),
            simulated_s=result.simulated_s,
            result_hash=result.result_hash,
            flows=Flows.of(every, legs),
            capacity_bps=None if link is None else link[1],
            arrived_bytes=None if trace is None or trace.is_empty() else _arrived(trace, result.simulated_s),
            windows=_windows(trace, numbers) if first and trace is not None else None,
        )

    @property
    def arrived(self) -> tuple[Numbers, Numbers] | None:
        """Times in seconds and the payload of all flows that had arrived, in bytes; None if there is no trace."""
        import numpy as np

        if self.arrived_bytes is None:
            return None
        return np.linspace(0.0, self.simulated_s, len(self.arrived_bytes)), np.asarray(self.arrived_bytes)

    @property
    def window_curves(self) -> dict[str, tuple[Numbers, Numbers]]:
        """:attr:`windows` for figures; none where there are none."""
        import numpy as np

        return {
            flow: (np.asarray(times), np.asarray(windows)) for flow, (times, windows) in (self.windows or {}).items()
        }

    def is_same(self, other: Outcome) -> bool:
        """Whether another run, of another seed, measured exactly the same."""
        apart = {"seed", "result_hash", "arrived_bytes", "windows"}
        names = (field.name for field in dataclasses.fields(self) if field.name not in apart)
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)

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
        """The outcome of which :meth:`to_json` gave these values.

        Raises
        ------
        KeyError, TypeError, ValueError, AttributeError
            If it gave others.
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
                if len(times) == len(windows) or _refuse(name, "times and windows of different numbers")
            }
        return cls(**values)


def _refuse(name: str, what: object) -> bool:
    raise ValueError(f"{name} holds {what!r:.60}")


def _texts(values: object, name: str, *, gaps: bool = False) -> list[Any]:
    """Texts, with None between them where there may be gaps."""
    if not isinstance(values, list):
        _refuse(name, values)
    for value in values:  # type: ignore[attr-defined]
        if not isinstance(value, str) and not (gaps and value is None):
            _refuse(name, value)
    return values  # type: ignore[return-value]


def _numbers(values: object, name: str, *, gaps: bool = False) -> list[Any]:
    """Numbers that are finite, with None between them where there may be gaps."""
    if not isinstance(values, list):
        _refuse(name, values)
    for value in values:  # type: ignore[attr-defined]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number and not (gaps and value is None):
            _refuse(name, value)
    return values  # type: ignore[return-value]


def _same(value: object, other: object) -> bool:
    """Equal, or both NaN."""
    return value == other or (value != value and other != other)


def _arrived(trace: pl.DataFrame, seconds: float) -> array[float]:
    from lightlag.analyse import arrived

    step = seconds / _STEPS
    levels = [level for _, level in arrived(trace, [*(at * step for at in range(_STEPS)), seconds])]
    # Whole bytes, as a file of curves keeps them.
    return array("d", map(math.floor, levels[0] if len(levels) == 1 else map(sum, zip(*levels, strict=True))))


def _windows(trace: pl.DataFrame, legs: Mapping[str, int]) -> dict[str, tuple[array[float], array[float]]]:
    """Rounded to what a file of curves keeps; where proxies split a flow, those of the leg of this number."""
    from lightlag.analyse import thinned_rows

    flows = trace.partition_by("flow", maintain_order=True)
    points = max(200, math.ceil(_WINDOW_POINTS / max(len(flows), 1)))
    curves = {}
    for rows in flows[:_WINDOWS]:
        if "leg" in rows.columns:
            rows = rows.filter(rows["leg"] == legs.get(str(rows["flow"][0]), 1))
        kept = thinned_rows(rows["time_s"], rows["cwnd_segments"], points)
        times, windows = rows["time_s"].gather(kept).round(6), rows["cwnd_segments"].gather(kept).round(3)
        curves[str(rows["flow"][0])] = (array("d", times.to_list()), array("d", windows.to_list()))
    return curves
