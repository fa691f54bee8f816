"""A capture as a scenario: the path, the losses and the limits of the endpoints, so that causes can be removed from it.

``lightlag replay`` (:mod:`lightlag.captures.repetition`) infers the path and repeats losses by packet number, which
suits a comparison packet by packet. A diagnosis needs the mechanism instead, because a run without a queue, a policer
or an outage sends other packets. This module therefore

1. starts with the scenario of ``replay``, without the options that have their default values,
2. attributes losses to outages (nothing passes for a while), to a policer or a short queue (a token bucket loses
   the same packets), and otherwise to the packets,
3. adds an application, a send buffer, a slow reader, a thin return link, or losses of ACKs, if packets show signs of it
   and if the scenario repeats the duration of the capture better with it than without it.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from lightlag.captures.connections import inspect
from lightlag.captures.repetition import RECEIVER, SENDER, Sending, scenario_of
from lightlag.diagnosis.candidates import CANDIDATES
from lightlag.diagnosis.evidence import OVERHEAD, Evidence
from lightlag.diagnosis.losses import Outage
from lightlag.errors import InputError
from lightlag.running.single import run

__all__ = ["Observed", "observe"]

BETTER = 0.05
"""Minimum improvement of the logarithm of the ratio of durations that justifies another part of the scenario."""

MATCH = 0.1
"""Maximum logarithm of the ratio of durations of a scenario that needs no further part."""

SHORTEST = 1e-9
"""Minimum duration of a transfer of the model in seconds: the resolution of its clock."""

REPEATED = math.log(1.15)
"""Maximum logarithm of the ratio of durations of a scenario that counts as a repetition of the capture."""


@dataclass(frozen=True, slots=True)
class Observed:
    """A capture as a scenario.

    Attributes
    ----------
    scenario
        The inferred scenario.
    flow
        Name of its flow.
    vantage
        Point of the capture: ``"sender"``, ``"receiver"`` or ``"between"``.
    measure
        The compared time in words: of the transfer, or the mean response time.
    real_s, model_s
        Duration of the transfer from the first data to the last ACK, as they pass the point of the capture, or mean
        response time, in the capture and in the scenario.
    """

    scenario: dict[str, Any]
    flow: str
    vantage: str
    measure: str
    real_s: float
    model_s: float

    @property
    def is_repeated(self) -> bool:
        """Whether the scenario takes as long as the transfer in the capture, within 15 %."""
        return abs(math.log(self.model_s / self.real_s)) <= REPEATED

    def sentences(self) -> list[str]:
        """Returns how well the scenario repeats the capture."""
        both = f"{self.measure} {self.real_s:.4g} s; the model: {self.model_s:.4g} s"
        found = [f"The capture, at the {self.vantage}: {both}."]
        if not self.is_repeated:
            found.append("The model does not repeat the capture: on the real path, the effects may differ.")
        return found

    def to_json(self) -> dict[str, Any]:
        """Returns everything as plain values."""
        names = ("vantage", "measure", "real_s", "model_s", "is_repeated", "scenario")
        return {name: getattr(self, name) for name in names}


def observe(capture: str | os.PathLike[str], connection: int | None = None) -> Observed:
    """Returns the scenario that repeats a connection of a capture.

    Parameters
    ----------
    connection
        Index of the connection; by default the one with the most data.

    Raises
    ------
    InputError
        If the file is not a capture, lacks what a repetition needs, or shows no speed.
    """
    evidence = Evidence(Sending(capture, connection), inspect(capture))
    if evidence.duration_s <= 0:
        size = evidence.about["transfer_bytes"]
        raise _unfit(capture, evidence, f"its {size} B pass at one time, without a duration; choose another --flow")
    scenario = _first(evidence)
    error, model = _mismatch(scenario, evidence)
    candidates = list(CANDIDATES)
    while candidates and abs(error) > MATCH:
        tried = [
            (*_mismatch(changed, evidence), candidate, changed)
            for candidate in candidates
            for changed in candidate(scenario, evidence)
        ]
        best = min(tried, key=lambda one: abs(one[0]), default=None)
        if best is None or abs(best[0]) > abs(error) - BETTER:
            break
        error, model, used, scenario = best
        candidates.remove(used)
    if math.isinf(model):
        raise _unfit(capture, evidence, "over the inferred path its transfer does not end; use a complete capture")
    measure = "mean response time" if evidence.responses else "transfer"
    return Observed(scenario, _name(scenario), evidence.vantage, measure, evidence.duration_s, model)


def _unfit(capture: str | os.PathLike[str], evidence: Evidence, reason: str) -> InputError:
    number = evidence.about["connection"]
    return InputError(f"{os.fspath(capture)}: connection {number} cannot be diagnosed: {reason}")


def _first(evidence: Evidence) -> dict[str, Any]:
    """Returns the scenario of ``replay`` with mechanisms instead of the numbers of lost packets."""
    about = evidence.about
    rate = evidence.rate_bps
    scenario = scenario_of(evidence.sending, rate=None if not rate else f"{rate:.0f} bit/s", name="capture")
    scenario.pop("record")
    tcp, link = scenario["defaults"]["tcp"], scenario["links"][0]
    full = 1440 if scenario["ip"] == "v6" else 1460
    defaults = {
        "congestion": "cubic",
        "sack": True,
        "timestamps": True,
        "window_scaling": True,
        "initial_window": 10,
        "mss": f"{full} B",
    }
    for key, value in defaults.items():
        if tcp.get(key) == value:
            del tcp[key]
    if evidence.sends.fraction_after(evidence.sends.room < evidence.mss) < 0.02:
        del tcp["receive_buffer"]
    if rate:
        # A queue that never overflowed has at least the length seen, and by a common rule one bandwidth-delay product.
        path = math.ceil(rate * evidence.rtt / 8 / (evidence.mss + OVERHEAD))
        held = evidence.queue_packets or 0
        limit = max(held, 4) if evidence.overflowed else max(path, held + 2, 4)
        link["queue"]["limit"] = f"{limit} packets"
    _with_losses(link, evidence)
    _with_others(scenario, evidence)
    if evidence.responses:
        scenario["flows"][0] = _requests(evidence)
        scenario["duration"] = f"{about['duration_s'] + 2 * evidence.duration_s:.0f} s"
        # Linux halves the window for each timeout of idle time (RFC 2861), down to the initial window.
        first = min(one.first_flight for one in evidence.responses[1:])
        tcp["idle_restart"] = "rfc2861" if first < 0.5 * float(evidence.sends.flight.max()) else "off"
    return scenario


def _with_losses(link: dict[str, Any], evidence: Evidence) -> None:
    """Replaces lost packets by the mechanism that explains them."""
    link.pop("loss", None)
    lost = set(evidence.about["lost"]) - evidence.overflowed
    if evidence.overflowed and not evidence.has_sack:
        # Without SACK, a sender repeats what has arrived, which looks like losses of the first copies.
        lost = set()
    offset = float(evidence.about["first_data_s"])
    if (found := evidence.bucket) is not None and not evidence.overflowed and not evidence.others:
        lost -= found.explained
        if found.is_queue:
            limit = max(2, round(found.burst / (evidence.mss + OVERHEAD)))
            link["queue"] = {"discipline": "drop_tail", "limit": f"{limit} packets", "count_in_service": True}
        else:
            link["police"] = {"rate": f"{found.rate_bps:.0f} bit/s", "burst": f"{found.burst:.0f} B"}
    outages = evidence.outages
    for outage in outages:
        lost -= outage.lost
    if slots := _slots(outages, offset):
        link["slots"] = slots
    elif outages:
        link["changes"] = [
            {"at": f"{offset + time:.6f} s", "down": down}
            for outage in outages
            for time, down in ((outage.start, True), (outage.end, False))
        ]
    if lost:
        link["loss"] = {"forward": {"packets": sorted(lost), "where": "after queue"}}


def _slots(outages: list[Outage], offset: float) -> dict[str, Any] | None:
    """Returns periodic outages as slots; None if they are not periodic."""
    import numpy as np

    if len(outages) < 3:
        return None
    starts = np.array([outage.start for outage in outages])
    gaps = np.diff(starts)
    period = float(np.min(gaps))
    whole = np.round(gaps / period)
    spread = np.max(np.abs(gaps / whole - np.mean(gaps / whole)))
    length = float(np.median([outage.end - outage.start for outage in outages]))
    if spread > 0.1 * period or length > 0.5 * period or length > 1.0:
        return None
    period = float(np.mean(gaps / whole))
    phase = (float(starts[0]) + offset) % period
    return {"period": f"{period:.6f} s", "phase": f"{phase:.6f} s", "outage": f"{length:.6f} s"}


def _with_others(scenario: dict[str, Any], evidence: Evidence) -> None:
    """Adds the other connections of the capture that carry data at the same time."""
    if not evidence.others:
        return
    # The queue was in use when the connection started: others have seen it empty, and full.
    fastest, slowest = evidence.extremes
    link = scenario["links"][0]
    link["delay"] = f"{fastest / 2 * 1e6:.3f} us"
    if (rate := evidence.rate_bps) is not None:
        held = (slowest - fastest) * rate / 8 / (evidence.mss + OVERHEAD)
        link["queue"] = {"discipline": "drop_tail", "limit": f"{max(4, round(held))} packets", "count_in_service": True}
        link.pop("loss", None)
    begun = max(evidence.others, default=0.0)
    for number, earlier in enumerate(evidence.others, 1):
        scenario["flows"].append(
            {"name": f"other {number}", "from": SENDER, "to": RECEIVER, "start": f"{begun - earlier:.6f} s"}
        )
    if begun > 0:
        scenario["flows"][0]["start"] = f"{begun:.6f} s"


def _requests(evidence: Evidence) -> dict[str, Any]:
    import numpy as np

    found = evidence.responses
    pauses = [later.start - before.end for before, later in pairwise(found)]
    traffic = {
        "kind": "requests",
        "request": f"{int(np.median([one.request for one in found]))} B",
        "response": f"{int(np.median([one.size for one in found]))} B",
        "think": f"{max(0.0, float(np.median(pauses))) * 1e3:.3f} ms",
    }
    return {"from": RECEIVER, "to": SENDER, "traffic": traffic}


def _name(scenario: dict[str, Any]) -> str:
    flow = scenario["flows"][0]
    return str(flow.get("name") or f"{flow['from']}->{flow['to']}")


def _mismatch(scenario: dict[str, Any], evidence: Evidence) -> tuple[float, float]:
    """Returns the logarithm of the ratio of the durations of the model and of the capture, and the model's."""
    rows = run(scenario).flows.to_dicts()
    row = next(row for row in rows if row["name"] == _name(scenario))
    if evidence.responses:
        model = float(row.get("responses_mean_s") or math.inf)
    elif row["finish_s"] is None:
        model = math.inf
    else:
        # The SYN takes a round trip before the first data. This data arrives half a round trip later at a receiver, and
        # the last ACK passes there half a round trip earlier.
        trips = 2 if evidence.vantage == "receiver" else 1
        model = max(row["finish_s"] - row["start_s"] - trips * evidence.rtt, SHORTEST)
    return math.log(model / evidence.duration_s), model
