"""Parts of a scenario that a capture shows signs of: an application, a send buffer, a slow reader, losses of ACKs."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from lightlag.diagnosis.evidence import OVERHEAD, Evidence

__all__ = ["CANDIDATES"]

OWN = 0.35
"""Minimum fraction of the time before data that no ACK releases, for an application that limits the speed."""

FEW = 20
"""Minimum number of packets that show a habit of an endpoint."""

CLOCKED = 0.2
"""Maximum fraction of the time before data that no ACK releases, for a sender whose data ACKs release."""

CLOSED = 0.25
"""Maximum 10th percentile of the receive window, as a fraction of its maximum, of a reader that is slow."""

STRETCH, OFTEN = 2.5, 0.1
"""Segments that an ACK acknowledges only if others were lost, and the minimum fraction of such ACKs."""

SINGLE, QUICK = 1.5, 0.25
"""Maximum segments of an ACK for each segment, and the minimum fraction of such ACKs while a receiver sends them."""

LARGEST_STEP = 20
"""Maximum segments of an ACK that counts; a larger one repairs a hole."""

RARE = 0.05
"""Minimum fraction of lost ACKs."""

FACTORS = (0.8, 0.9, 1.0, 1.1, 1.25)
"""Sizes of a send buffer or of a shared queue that are tried, as multiples of the inferred one."""

GOLDEN = (math.sqrt(5) - 1) / 2
"""Step of an evenly spread sequence."""


Candidate = Callable[[dict[str, Any], Evidence], list[dict[str, Any]]]
"""Returns the scenarios with another part, with some values of it; none without signs of it."""


def _application(scenario: dict[str, Any], evidence: Evidence) -> list[dict[str, Any]]:
    """An application with a constant rate: data that no ACK releases."""
    sends = evidence.sends
    own = evidence.own & (sends.room > evidence.mss)
    if evidence.responses or evidence.others or len(sends.times) < FEW or sends.fraction_before(own) < OWN:
        return []
    rate = evidence.sending.goodput_bps
    scenario = copy.deepcopy(scenario)
    scenario["flows"][0]["traffic"] = {"kind": "constant", "rate": f"{rate:.0f} bit/s"}
    return [scenario]


def _send_buffer(scenario: dict[str, Any], evidence: Evidence) -> list[dict[str, Any]]:
    """A full send buffer: the flight of a sender stays at a value below the receive window.

    At the receiver the flight does not show, only that ACKs release all data.
    """
    sends = evidence.sends
    if evidence.responses or evidence.others or len(sends.times) < FEW:
        return []
    if (
        evidence.is_window_limited
        or sends.fraction_before(evidence.own) > CLOCKED
        or (evidence.vantage != "receiver" and not evidence.is_flat)
    ):
        return []
    # The mean: the kernel lets an application write when a third of the buffer is free.
    goodput = evidence.sending.goodput_bps / 8
    size = max(2 * evidence.mss, goodput * evidence.rtt)
    found = []
    for factor in FACTORS:
        changed = copy.deepcopy(scenario)
        changed["defaults"]["tcp"]["send_buffer"] = f"{factor * size:.0f} B"
        found.append(changed)
    return found


def _reader(scenario: dict[str, Any], evidence: Evidence) -> list[dict[str, Any]]:
    """A slow reader: the receive window is used up, and falls to a fraction of its maximum."""
    windows = evidence.replies["window"].drop_nulls()
    if evidence.responses or windows.len() < FEW or not evidence.is_window_limited:
        return []
    if float(windows.quantile(0.1) or 0.0) > CLOSED * float(windows.max() or 0):  # type: ignore[arg-type]
        return []
    scenario = copy.deepcopy(scenario)
    scenario["flows"][0]["reader"] = {"rate": f"{evidence.sending.goodput_bps / 8e3:.3f} kB/s"}
    return [scenario]


def _thin_return(scenario: dict[str, Any], evidence: Evidence) -> list[dict[str, Any]]:
    """A thin return link: ACKs wait, by the clock of the receiver's timestamps."""
    if not evidence.acks_wait:
        return []
    waited, rate = evidence.reply_delay
    scenario = copy.deepcopy(scenario)
    link = scenario["links"][0]
    link["rate"] = {"forward": link["rate"], "backward": f"{rate:.0f} bit/s"}
    held = max(2, round(waited * rate / 8 / OVERHEAD))
    link["queue"] = {"forward": link["queue"], "backward": f"{held} packets"}
    return [scenario]


def _lost_acks(scenario: dict[str, Any], evidence: Evidence) -> list[dict[str, Any]]:
    """Losses of ACKs: many advance by more than the two segments of a receiver that delays ACKs."""
    import numpy as np

    _, acked = evidence.advances
    steps = np.diff(acked) / evidence.mss
    if evidence.vantage == "receiver" or len(steps) < FEW or (steps > STRETCH).mean() < OFTEN:
        return []
    # A receiver that starts with an ACK for each segment has many steps of one.
    unit = 1 if (steps < SINGLE).mean() > QUICK else 2
    fraction = 1 - min(1.0, unit / float(np.mean(np.minimum(steps, LARGEST_STEP))))
    scenario = copy.deepcopy(scenario)
    link = scenario["links"][0]
    if fraction < RARE:
        return []
    # Evenly spread, so that no seed decides whether the SYN-ACK is among them, which is known to have arrived.
    count = int(2 * evidence.about["transfer_bytes"] / evidence.mss)
    lost = [number for number in range(2, count) if (number * GOLDEN) % 1 < fraction]
    link["loss"] = (link.get("loss") or {}) | {"backward": {"packets": lost, "where": "after queue"}}
    return [scenario]


def _shared_queue(scenario: dict[str, Any], evidence: Evidence) -> list[dict[str, Any]]:
    """Other sizes of a queue that several connections share, which decides how they share the rate."""
    queue = scenario["links"][0]["queue"]
    if not evidence.others or not isinstance(queue, dict):
        return []
    found = []
    for factor in FACTORS:
        changed = copy.deepcopy(scenario)
        limit = round(factor * int(str(queue["limit"]).split()[0]))
        changed["links"][0]["queue"]["limit"] = f"{limit} packets"
        found.append(changed)
    return found


CANDIDATES: tuple[Candidate, ...] = (_shared_queue, _application, _send_buffer, _reader, _thin_return, _lost_acks)
