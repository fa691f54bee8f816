"""One connection, of a capture or of a run: its statistics and curves."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.outcomes.variables import meaning
from lightlag.results.result import load

if TYPE_CHECKING:
    from lightlag.captures.connections import Connection

__all__ = ["MEASURES", "Curve", "Side"]

Numbers = npt.NDArray[np.float64]

MEASURES: tuple[tuple[str, str, str], ...] = (
    ("data_s", "time for the data", "s"),
    ("unique_bytes", "data", "B"),
    ("goodput_bps", "goodput", "bit/s"),
    ("data_segments", "data segments", ""),
    ("retransmitted_segments", "retransmitted segments", ""),
    ("fast_retransmissions", "fast retransmissions", ""),
    ("timeout_retransmissions", "retransmissions after a timeout", ""),
    ("spurious_retransmissions", "retransmissions not needed", ""),
    ("out_of_order", "out of order", ""),
    ("answer_packets", "ACKs", ""),
    ("duplicate_acks", "duplicate ACKs", ""),
    ("sack_blocks", "SACK blocks", ""),
    ("zero_windows", "zero windows", ""),
    ("ce_packets", "packets marked CE", ""),
    ("min_rtt_s", "min RTT", "s"),
    ("mean_rtt_s", "mean RTT", "s"),
    ("p95_rtt_s", "95th percentile of RTT", "s"),
    ("max_in_flight_bytes", "maximum in flight", "B"),
    ("mean_in_flight_bytes", "mean in flight", "B"),
)
"""Key, title and unit of every statistic, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Values over time, in seconds since the first packet of the connection."""

    times: Numbers
    values: Numbers


@dataclass(frozen=True, slots=True)
class Side:
    """One connection, from any source: its statistics and curves."""

    title: str
    summary: dict[str, float | None]
    sent: Curve
    """Bytes sent for the first time, cumulative."""
    acked: Curve
    """Bytes acknowledged, cumulative."""
    in_flight: Curve
    """Bytes in flight."""
    retransmitted: Curve | None
    """First bytes of retransmissions; None if the source has no single packets."""
    cwnd: Curve | None = field(default=None)
    """The congestion window in bytes; None if unknown."""

    @classmethod
    def of_capture(cls, connection: Connection) -> Side:
        """Returns a connection of a capture, from the side that sent more data."""
        data, answers = connection.data, connection.answers
        # At the receiver the round trip of the path is that from an ACK to the data that it lets go.
        rtt = (answers if connection.summary["vantage"] == "receiver" else data)["rtt"] or {}
        summary: dict[str, float | None] = {key: data.get(key) for key, _, _ in MEASURES}
        summary |= {key: answers[key] for key in ("duplicate_acks", "sack_blocks", "zero_windows")}
        # A run counts segments with data.
        summary["retransmitted_segments"] = data["retransmitted_segments"] - data["retransmitted_controls"]
        summary |= {"answer_packets": answers["packets"]}
        summary |= {f"{key}_rtt_s": rtt.get(f"{key}_s") for key in ("min", "mean", "p95")}
        # The handshake is the one round trip without a queue, and a run measures it too.
        summary["min_rtt_s"] = connection.summary["min_rtt_s"]
        rows = connection.packets()
        times = _numbers(rows["time_s"]) - connection.summary["start_s"]
        own = (rows["side"].cast(str) == connection.sender).to_numpy()
        start, length = _numbers(rows["start"]) - 1, _numbers(rows["bytes"])
        carries = own & (length > 0)
        ack = _numbers(rows["ack"]) - 1
        answered = ~own & ~np.isnan(ack)
        flight = np.where(own, _numbers(rows["in_flight_bytes"]), _numbers(rows["other_in_flight_bytes"]))
        again = carries & rows["kind"].cast(str).str.contains("retransmission|tail probe").to_numpy()
        return cls(
            title=connection.capture.path.name,
            summary=summary,
            sent=Curve(times[carries], np.maximum.accumulate((start + length)[carries])),
            acked=Curve(times[answered], np.maximum.accumulate(ack[answered])),
            in_flight=Curve(times, flight),
            retransmitted=Curve(times[again], start[again]),
        )

    @classmethod
    def of_folder(cls, directory: str | os.PathLike[str], flow: str | None = None) -> Side:
        """Returns a flow of a results directory, by default the one with the most data."""
        result = load(directory)
        flows = {entry["name"]: entry for entry in result.summary["flows"]}
        if flow is not None and flow not in flows:
            raise InputError(f'{directory}: no flow "{flow}"; there are {", ".join(list(flows)[:10])}')
        found = flows[flow] if flow is not None else max(flows.values(), key=lambda entry: entry["delivered_bytes"])
        rows = result.trace().filter(result.trace()["flow"].cast(str) == found["name"])
        if rows.is_empty():
            raise InputError(f"{directory}: no trace was recorded; run it with --set record.trace=sampled")
        times = _numbers(rows["time_s"]) - found["start_s"]
        flight = Curve(times, _numbers(rows["inflight_bytes"]))
        acked = Curve(times, _numbers(rows["acked_bytes"]))
        end = acked.times[np.searchsorted(acked.values, acked.values[-1])]
        summary: dict[str, float | None] = {key: None for key, _, _ in MEASURES}
        summary |= {
            "data_s": float(end if found["finish_s"] is None else found["finish_s"] - found["start_s"]),
            "unique_bytes": found["delivered_bytes"],
            "goodput_bps": found["goodput_bps"],
            "data_segments": found["sent_segments"],
            "retransmitted_segments": found["retransmitted_segments"],
            "min_rtt_s": found["min_rtt_s"],
            "mean_rtt_s": found["mean_rtt_s"],
            "max_in_flight_bytes": float(flight.values.max()),
            "mean_in_flight_bytes": _mean(flight),
        }
        return cls(
            title=f"{Path(directory).name} ({found['congestion']})",
            summary=summary,
            sent=Curve(times, _numbers(rows["sent_bytes"])),
            acked=acked,
            in_flight=flight,
            retransmitted=None,
            cwnd=Curve(times, _numbers(rows["cwnd_segments"]) * _segment(result.scenario, found["name"])),
        )


def _segment(scenario: dict[str, Any], flow: str) -> float:
    """Returns the payload of a full segment of a flow in bytes; it converts the window of a trace, which is in
    segments.
    """
    named = [entry for entry in scenario["flows"] if f"{entry.get('from')}->{entry.get('to')}" == flow]
    named += [entry for entry in scenario["flows"] if entry.get("name") == flow]
    tables = [entry.get("tcp") or {} for entry in named] + [(scenario.get("defaults") or {}).get("tcp") or {}]
    profile = next((table["profile"] for table in tables if "profile" in table), None)
    profiles = dict(json.loads(_engine.catalog())["profiles"])
    tables.append(profiles.get(profile) or next(iter(profiles.values())))
    found = meaning(str(next((table["mss"] for table in tables if "mss" in table), "1448 B")))
    assert isinstance(found, tuple), "a scenario that has run has a size there"
    return found[1]


def _mean(curve: Curve) -> float | None:
    """Returns the mean of a curve over the time in which its values are not zero."""
    widths = np.diff(curve.times) * (curve.values[:-1] > 0)
    total = float(widths.sum())
    return float((widths * curve.values[:-1]).sum()) / total if total > 0 else None


def _numbers(values: Any) -> Numbers:
    return np.asarray(values.to_numpy(), dtype=np.float64)
