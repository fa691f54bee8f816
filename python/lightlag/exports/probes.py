"""Measures a path in runs of its scenario, where its values cannot be computed.

Two kinds of datagrams cross the path, without the flows of the scenario:

- small probes in both directions, :data:`PROBES` in each step: their mean delay, and the fraction of them that is lost;
- datagrams of 1500 bytes that saturate one direction, in a run for each direction: their arrivals in each step, minus
  the delay of the probes, give the rate, as in the Saturator of mahimahi.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lightlag.exports.route import bare
from lightlag.exports.values import PACKET, Floats, Sampled, Values
from lightlag.running.single import run

__all__ = ["PROBES", "measured"]

PROBES = 10
"""Number of probes in each step and direction."""
PROBE_PAYLOAD = 36
"""Payload of a probe in bytes; with the headers of IPv4 and UDP, 64 bytes."""
HEADERS = {"v4": 28, "v6": 48}
"""Size of the headers of IP and UDP in bytes."""
FIRST_LOAD_BPS, MAX_LOAD_BPS = 50e6, 20e9
"""First and highest rate that is offered to measure the rate of a path."""
QUEUE_PACKETS = 1000
"""Limit of the queue that an export states, because a path over several queues has none of its own."""
ENHANCED_PACKET = 6
"""Type of the blocks of a pcapng file that hold packets."""


def measured(
    scenario: Mapping[str, Any], start: str, end: str, duration_s: float, step_s: float
) -> tuple[Sampled, Sampled]:
    """Returns both directions of a path, measured in each step of a run.

    Parameters
    ----------
    scenario
        The complete scenario.
    start, end
        Nodes at the ends of the path.
    """
    steps = int(np.ceil(duration_s / step_s - 1e-9))
    pairs = ((start, end), (end, start))
    probes = _probes(scenario, pairs, steps, step_s)
    directions = []
    for pair, (delay, loss) in zip(pairs, probes, strict=True):
        rate = _rate(scenario, pair, delay, duration_s, step_s)
        # Where nothing arrives, packets are lost.
        is_out = (rate <= 0.0) | (loss >= 1.0)
        values = Values(np.where(is_out, np.inf, rate), delay, np.where(is_out, 1.0, loss))
        directions.append(Sampled(step_s, values, QUEUE_PACKETS))
    return directions[0], directions[1]


def _probes(
    scenario: Mapping[str, Any], pairs: tuple[tuple[str, str], ...], steps: int, step_s: float
) -> list[tuple[Floats, Floats]]:
    """Returns the mean delay in seconds and the fraction of lost probes in each step, for each pair of nodes.

    A flow sends the probes of one step, so that its records describe the step.
    """
    rate = PROBE_PAYLOAD * 8 * PROBES / step_s
    flows = []
    for start, end in pairs:
        for number in range(steps):
            since, until = (f"{(number + more) * step_s:.9f} s" for more in (0, 1))
            flow = _flow(start, end, rate, PROBE_PAYLOAD)
            flow |= {"name": f"{start}->{end} {number}", "start": since}
            flow["traffic"]["stop"] = until
            flows.append(flow)
    found = run(bare(scenario, flows) | {"record": {"trace": "off", "queue": "off", "drops": False}}, progress=False)
    named = found.flows.head(len(flows))
    assert named["name"].to_list() == [flow["name"] for flow in flows], "listed flows come first"
    received, lost, delay = (
        np.array(named[f"datagrams_{column}"].cast(float).fill_null(np.nan))
        for column in ("received", "lost", "mean_delay_s")
    )
    share = np.where(received > 0, lost / np.maximum(received + lost, 1.0), 1.0)
    return [
        (_filled(part), loss)
        for part, loss in zip(np.split(delay, len(pairs)), np.split(share, len(pairs)), strict=True)
    ]


def _flow(start: str, end: str, rate_bps: float, size: int) -> dict[str, Any]:
    traffic = {"kind": "constant", "rate": f"{rate_bps:.0f} bit/s", "size": f"{size} B"}
    return {"from": start, "to": end, "transport": "udp", "traffic": traffic}


def _filled(delay: Floats) -> Floats:
    """Returns delays in which a step without one has the one of the step before, or of the first step with one."""
    known = np.flatnonzero(np.isfinite(delay))
    if not len(known):
        return np.zeros_like(delay)
    index = np.maximum.accumulate(np.where(np.isfinite(delay), np.arange(len(delay)), known[0]))
    return delay[index]


def _rate(
    scenario: Mapping[str, Any], pair: tuple[str, str], delay: Floats, duration_s: float, step_s: float
) -> Floats:
    """Returns the rate of one direction in each step, at a load that it does not carry."""
    load = FIRST_LOAD_BPS
    edges = np.arange(len(delay) + 1) * step_s
    # What leaves the last queue before the end arrives later.
    longer = {"duration": f"{duration_s + float(delay.max()) + step_s:.9f} s"}
    while True:
        arrivals = _arrivals(
            bare(scenario, [_flow(*pair, load, PACKET - HEADERS[scenario.get("ip", "v4")])]) | longer, pair[1]
        )
        sent = arrivals - np.interp(arrivals, np.maximum.accumulate(edges[:-1] + delay), delay)
        rate = np.histogram(sent, edges)[0] * PACKET * 8 / step_s
        if rate.max() < 0.9 * load or load >= MAX_LOAD_BPS:
            return np.asarray(rate, dtype=np.float64)
        load *= 8


def _arrivals(scenario: Mapping[str, Any], node: str) -> Floats:
    """Returns the arrival times in seconds of packets of 1500 bytes at a node."""
    record = {"trace": "off", "queue": "off", "drops": False, "pcap": {"at": [node]}}
    with tempfile.TemporaryDirectory(prefix="lightlag-") as folder:
        result = run({**scenario, "record": record}, progress=False, spool=folder)
        return np.array(_times(result.captures[node], PACKET)) / 1e9


def _times(capture: Path, size: int) -> list[int]:
    """Returns the times in ns of the packets of a size in a capture that the engine wrote."""
    data, at, times = capture.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == ENHANCED_PACKET:
            high, low, _, original = struct.unpack_from("<IIII", data, at + 12)
            if original == size:
                times.append(high << 32 | low)
        at += length
    return times
