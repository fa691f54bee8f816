"""The runs of lightlag: the scenario of a setting, and the outcome of a run from its tables."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import lightlag as ll
from lightlag.outcomes.journal import key_of
from lightlag_papers.fanet.model import ALPHA, BOX_M, DIRECTION_VARIANCE, MEAN_PITCH, PITCH_VARIANCE, STEP_S
from lightlag_papers.fanet.outcome import Air, Flow, Outcome
from lightlag_papers.fanet.setting import SECONDS, Access, Routing, Setting
from lightlag_papers.kept import KeptRuns

if TYPE_CHECKING:
    import polars as pl

INTERVAL_S = 0.02
"""Interval between two samples of a sender in s; short enough for delays, which are means over thousands of samples."""
RECORD = {
    "trace": "sampled",
    "interval": f"{INTERVAL_S * 1e3:g} ms",
    "positions": "off",
    "queue": "off",
    "drops": False,
}

ACCESS: dict[Access, dict[str, Any]] = {
    Access.LEGACY: {"rate": "24 Mbit/s"},
    Access.RTS: {"rate": "24 Mbit/s", "rts_threshold": 100},
    Access.AGGREGATES: {"rate": "mcs7"},
}
NS3_AODV: dict[str, Any] = {
    "protocol": "aodv",
    "link_break_on": "any",
    "release_on": "reply",
    "drop_returning": True,
    "increment_on_expiry": False,
    "increment_on_break": False,
    "revive_reverse_route": False,
    "errors": "ns3",
    "proof": "forwarded",
    "route_messages": True,
    "blacklist_timeout": "0 s",
}
"""Settings of AODV as in ns-3, with which docs/simulators-air.md compares both simulators."""
RULES: dict[Routing, dict[str, Any]] = {
    Routing.RFC: {},
    Routing.NS3: {
        "arp": "ns3",
        "block_ack_agreement": "ns3",
        "routing": NS3_AODV | {"hello": "always"},
    },
}
"""Settings of the medium for each set of routing rules."""


def scenario(setting: Setting, seconds: float = SECONDS) -> dict[str, Any]:
    """Returns the scenario of a setting."""
    mobility = {
        "model": "gauss-markov",
        "alpha": ALPHA,
        "time_step": f"{STEP_S * 1e3:g} ms",
        "speed_min": "0 m/s",
        "speed_max": f"{setting.speed:g} m/s",
        "pitch_min": "0 deg",
        "pitch_max": f"{math.degrees(MEAN_PITCH):.6g} deg",
        "speed_variance": 0.0,
        "direction_variance": DIRECTION_VARIANCE,
        "pitch_variance": PITCH_VARIANCE,
    }
    return {
        "name": "fanet",
        "duration": f"{seconds:g} s",
        "topology": {
            "kind": "swarm",
            "nodes": setting.nodes,
            "area": [f"{side:g} m" for side in BOX_M],
            "mobility": mobility,
            "medium": medium(setting),
            "flows": setting.flows,
            "flow": {"start": {"uniform": ["0 s", "1 s"]}},
        },
        "defaults": {"tcp": dict(setting.candidate.tcp)},
        "record": RECORD,
    }


def medium(setting: Setting) -> dict[str, Any]:
    """Returns the medium of a setting."""
    return {
        "standard": "802.11n",
        "propagation": "log-distance",
        "power": f"{setting.radio.power_dbm:g} dBm",
        "routing": setting.routing,
        **ACCESS[setting.access],
        **RULES[setting.rules],
    }


def run(setting: Setting, seed: int, seconds: float = SECONDS) -> Outcome:
    """Runs a setting with a seed. Settings with the same nodes, speed and seed have the same swarm."""
    return outcome_of(ll.run(scenario(setting, seconds), seed=seed), seconds)


def outcome_of(result: ll.Result, seconds: float) -> Outcome:
    """Returns the outcome of a finished run that was recorded with `RECORD`."""
    traces = {str(part["flow"][0]): part for part in result.table("trace").partition_by("flow")}
    hops = hops_of(result.table("paths"), traces)
    flows = [flow_of(row, traces.get(row["name"]), hops.get(row["name"], math.nan)) for row in result.summary["flows"]]
    return Outcome(flows, air_of(result.summary["interfaces"]), seconds)


def keeping(kept: KeptRuns | None) -> Callable[[Setting, int], Outcome]:
    """Returns a function that runs a setting with a seed and stores the outcome, or returns the stored outcome."""
    program = Path(__file__).read_bytes()

    def run_or_find(setting: Setting, seed: int) -> Outcome:
        if kept is None:
            return run(setting, seed)
        key = key_of(json.dumps(scenario(setting)).encode(), str(seed).encode(), program)
        if (record := kept.find(key)) is not None:
            return Outcome.of_record(record)
        outcome = run(setting, seed)
        kept.add(key, outcome.record())
        return outcome

    return run_or_find


def flow_of(row: Mapping[str, Any], trace: pl.DataFrame | None, hops: float) -> Flow:
    """Returns a transfer, from its row in the summary and the samples of its sender.

    The mean delay of a byte from its first transmission to its delivery is, by Little's law, the mean number of bytes
    in transit, divided by their delivery rate.
    """
    delivered = int(row["delivered_bytes"])
    if not delivered or trace is None:
        return Flow(0, 0.0, math.nan, int(row["timeouts"]), math.nan)
    times = trace["time_s"].to_numpy()
    sent, arrived = (
        trace["sent_bytes"].to_numpy().astype(np.float64),
        trace["delivered_bytes"].to_numpy().astype(np.float64),
    )
    starts, grows = np.flatnonzero(sent), 1 + np.flatnonzero(np.diff(arrived) > 0)
    first = float(times[starts[0]]) if len(starts) else float(row["start_s"])
    end = int(grows[-1]) if len(grows) else len(times) - 1
    last = float(times[end])
    area = float(np.sum((sent - arrived)[:end] * np.diff(times[: end + 1])))
    seconds = max(last - first, INTERVAL_S)
    return Flow(delivered, seconds, max(area, 0.0) / delivered, int(row["timeouts"]), hops)


def air_of(radios: list[Mapping[str, Any]]) -> Air:
    """Returns the counts of frames and routing messages, summed over all radios."""

    def together(*names: str) -> int:
        return sum(int(radio[name]) for radio in radios for name in names)

    return Air(
        together("sent_frames"),
        together("retries"),
        together("dropped_queue", "dropped_retry", "dropped_lifetime"),
        together("broken_links"),
        together("routing_bytes"),
    )


def hops_of(paths: pl.DataFrame, traces: Mapping[str, pl.DataFrame]) -> dict[str, float]:
    """Returns the mean number of hops of each flow's data.

    Each path is weighted by the bytes that arrived while it was in use.
    """
    starts = paths.filter(paths["hop"] == 0).sort("time_s")
    found = {}
    for part in starts.partition_by("flow", maintain_order=True):
        name = str(part["flow"][0])
        if (trace := traces.get(name)) is None:
            continue
        arrived = np.append(0.0, trace["delivered_bytes"].to_numpy().astype(np.float64))
        before = arrived[np.searchsorted(trace["time_s"].to_numpy(), part["time_s"].to_numpy())]
        weights = np.diff(np.append(before, arrived[-1]))
        if weights.sum() > 0:
            found[name] = float(np.average(part["hops"].to_numpy(), weights=weights))
    return found
