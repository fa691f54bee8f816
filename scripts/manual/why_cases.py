"""``docs/validation/why.md``: scenarios and captures with one planted cause each, and what ``lightlag why`` finds."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightlag
from lightlag.diagnosis import Diagnosis
from lightlag_papers.table import markdown_table
from lightlag_papers.validation import pages
from manual import why_lab
from manual.why_lab import Recorded

PAGE = Path("docs/validation/why.md")

SEEDS = 10
"""Seeds of each case."""

TOLERANCE = 0.15
"""Maximum deviation of the measured gain, as a fraction of the true one."""

Plant = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario without and with a planted cause.

    Attributes
    ----------
    cause
        Name of the cause.
    planted
        The planted settings in words.
    healthy
        The scenario without it.
    plant
        Adds the cause to a copy of the scenario.
    """

    cause: str
    planted: str
    healthy: Mapping[str, Any]
    plant: Plant

    def scenario(self) -> dict[str, Any]:
        """Returns the scenario with the cause."""
        planted = copy.deepcopy(dict(self.healthy))
        self.plant(planted)
        return planted


@dataclass(frozen=True, slots=True)
class Found:
    """The diagnosis of a case, and the true gain without the cause."""

    case: Case | Recorded
    diagnosis: Diagnosis
    true_gain: float

    @property
    def gain(self) -> float:
        """The measured gain of the planted cause; NaN if it was not examined."""
        return next((one.gain for one in self.diagnosis.effects if one.cause.name == self.case.cause), math.nan)

    @property
    def is_first(self) -> bool:
        """Whether the planted cause is reported as the cause."""
        return self.diagnosis.cause is not None and self.diagnosis.cause.cause.name == self.case.cause

    @property
    def is_sized(self) -> bool:
        """Whether the gain is within the tolerance."""
        return abs(self.gain - self.true_gain) <= TOLERANCE * abs(self.true_gain)


def _healthy(
    link: Mapping[str, Any] | None = None, flow: Mapping[str, Any] | None = None, duration: str = "30 s"
) -> dict[str, Any]:
    """Returns a transfer over 20 Mbit/s and a round trip of 100 ms, with changes."""
    path = {"between": ["a", "b"], "rate": "20 Mbit/s", "delay": "50 ms", "queue": "1 bdp"}
    return {
        "name": "planted",
        "duration": duration,
        "links": [path | dict(link or {})],
        "flows": [{"from": "a", "to": "b"} | dict(flow or {})],
    }


def _tcp(**options: Any) -> Plant:
    return lambda scenario: scenario["flows"][0].setdefault("tcp", {}).update(options)


def _flow(**keys: Any) -> Plant:
    return lambda scenario: scenario["flows"][0].update(keys)


def _link(**keys: Any) -> Plant:
    return lambda scenario: scenario["links"][0].update(keys)


def _competitors(scenario: dict[str, Any]) -> None:
    scenario["flows"].extend({"from": "a", "to": "b", "name": f"other {index}"} for index in range(3))


def _through_gateway() -> dict[str, Any]:
    """Returns a healthy transfer with a gateway after 1 % of the path."""
    scenario = _healthy()
    link = scenario["links"][0]
    near = link | {"between": ["a", "gateway"], "rate": "1 Gbit/s", "delay": "500 us"}
    return scenario | {"links": [near, link | {"between": ["gateway", "b"]}]}


def _radio() -> dict[str, Any]:
    """Returns a healthy transfer between two of six stations of a radio channel, 5 m apart."""
    nodes = [{"name": name, "media": [], "at": [f"{5 * at} m", "0 m", "0 m"]} for at, name in enumerate("abcdef")]
    return {
        "name": "planted",
        "duration": "10 s",
        "nodes": nodes,
        "media": [{"rate": "24 Mbit/s", "routing": "static"}],
        "flows": [{"from": "a", "to": "b"}],
    }


def _stations(scenario: dict[str, Any]) -> None:
    scenario["flows"].extend({"from": one, "to": other} for one, other in ("cd", "ef"))


_RFC = {"profile": "rfc", "initial_window": 10, "delayed_ack": False}
_REQUESTS = {"kind": "requests", "response": "200 kB", "think": "5 s"}
_OLD = {"profile": "rfc", "recovery": "sack", "eifel": False, "dsack_undo": False}

CASES = (
    Case("receive window", "a receive buffer of 64 kB", _healthy(), _tcp(receive_buffer="64 kB")),
    Case("send buffer", "a send buffer of 64 kB", _healthy(), _tcp(send_buffer="64 kB")),
    Case("window limit", "a window of at most 40 segments", _healthy(), _tcp(max_cwnd=40)),
    Case(
        "application",
        "an application with 2 Mbit/s",
        _healthy(),
        _flow(traffic={"kind": "constant", "rate": "2 Mbit/s"}),
    ),
    Case(
        "small initial window",
        "an initial window of one segment, for 100 kB",
        _healthy(flow={"transfer": "100 kB"}),
        _tcp(initial_window=1),
    ),
    Case(
        "no SACK",
        "no SACK, at a queue of 0.3 BDP and 200 ms",
        _healthy({"queue": "0.3 bdp", "delay": "100 ms"}, {"transfer": "20 MB"}),
        _tcp(sack=False),
    ),
    Case(
        "delayed ACKs",
        "an ACK of every eighth segment or after 500 ms, for 300 kB by the rules of the RFCs",
        _healthy(flow={"transfer": "300 kB", "tcp": _RFC}),
        _tcp(delayed_ack={"segments": 8, "timeout": "500 ms"}),
    ),
    Case(
        "idle restart",
        "the initial window after each pause, for responses of 200 kB every 5 s",
        _healthy(flow={"traffic": _REQUESTS, "tcp": {"idle_restart": "off"}}, duration="60 s"),
        _tcp(idle_restart="rfc5681"),
    ),
    Case(
        "HyStart",
        "HyStart at a jitter of 20 ms, for 20 MB over 50 Mbit/s and 200 ms",
        _healthy(
            {"rate": "50 Mbit/s", "delay": "100 ms", "jitter": "20 ms"},
            {"transfer": "20 MB", "congestion": {"algorithm": "cubic", "slow_start": "standard"}},
            "60 s",
        ),
        _flow(congestion={"algorithm": "cubic", "slow_start": "hystart"}),
    ),
    Case("small segments", "an MSS of 150 B", _healthy(), _tcp(mss="150 B")),
    Case("losses of data", "loss of 0.1 % of the data", _healthy(), _link(loss={"forward": 1e-3, "backward": 0.0})),
    Case(
        "losses of ACKs",
        "loss of half of the ACKs, for 300 kB",
        _healthy(flow={"transfer": "300 kB"}),
        _link(loss={"forward": 0.0, "backward": 0.5}),
    ),
    Case(
        "thin return link",
        "a return link of 50 kbit/s",
        _healthy(),
        _link(rate={"forward": "20 Mbit/s", "backward": "50 kbit/s"}),
    ),
    Case(
        "outages",
        "an outage of 7 s",
        _healthy(),
        _link(changes=[{"at": "5 s", "down": True}, {"at": "12 s", "down": False}]),
    ),
    Case(
        "handovers",
        "an interruption of 300 ms every 3 s",
        _healthy(),
        _link(slots={"period": "3 s", "outage": "300 ms"}),
    ),
    Case(
        "radio channel",
        "a bad state of 200 ms, with 30 % loss and 30 ms, every 3 s",
        _healthy(),
        _link(channel={"good": {"mean_time": "3 s"}, "bad": {"mean_time": "200 ms", "delay": "30 ms", "loss": 0.3}}),
    ),
    Case("policer", "a policer of 8 Mbit/s", _healthy(), _link(police={"rate": "8 Mbit/s", "burst": "20 kB"})),
    Case(
        "reordering",
        "1 % of the packets late by up to 20 ms, for NewReno without RACK",
        _healthy(flow={"congestion": "newreno", "tcp": _OLD}),
        _link(reorder={"probability": 0.01, "delay": "20 ms"}),
    ),
    Case(
        "bandwidth on demand",
        "capacity on demand after 250 ms, for 300 kB",
        _healthy(flow={"transfer": "300 kB"}),
        _link(on_demand={"frame": "26.5 ms", "latency": "250 ms"}),
    ),
    Case("short queue", "a queue of five packets", _healthy(), _link(queue="5 packets")),
    Case("other flows", "three more flows", _healthy(), _competitors),
    Case(
        "proxies",
        "a proxy with a buffer of 64 kB",
        _through_gateway(),
        lambda scenario: scenario.update(proxies=[{"node": "gateway", "buffer": "64 kB"}]),
    ),
    Case(
        "delay changes",
        "a delay of 80 ms instead of 50 ms after 5 s, for Vegas",
        _healthy(flow={"congestion": "vegas"}),
        _link(changes=[{"at": "5 s", "delay": "80 ms"}]),
    ),
    Case("radio contention", "two more flows on a channel of 802.11a", _radio(), _stations),
)
"""The cases, in the order of the page."""


def examine(case: Case) -> Found:
    """Diagnoses a case, and measures the true gain with the scenario without the cause."""
    planted = case.scenario()
    name = lightlag.run(planted).flows["name"][0]
    diagnosis = lightlag.why(planted, name, seeds=SEEDS)
    ratios = [_speed(case.healthy, name, seed) / _speed(planted, name, seed) for seed in range(1, diagnosis.seeds + 1)]
    true_gain = math.expm1(sum(map(math.log, ratios)) / len(ratios))
    return Found(case, diagnosis, true_gain)


def examine_recorded(case: Recorded) -> Found:
    """Diagnoses a capture; the true gain comes from the kernel without the cause."""
    diagnosis = lightlag.why(why_lab.capture(case), why_lab.CONNECTIONS.get(case.name))
    times = json.loads(why_lab.INDEX.read_text("utf-8"))[case.name]
    return Found(case, diagnosis, times["planted_s"] / times["healthy_s"] - 1)


def _speed(scenario: Mapping[str, Any], name: str, seed: int) -> float:
    row = next(row for row in lightlag.run(scenario, seed=seed).flows.to_dicts() if row["name"] == name)
    response = row.get("responses_mean_s")
    return float(1 / response if response else row["goodput_bps"])


def page(found: list[Found], recorded: list[Found]) -> pages.Page:
    """Returns the validation page."""
    body = [
        "Each scenario has one planted cause. Without changes it is a transfer of 30 s over 20 Mbit/s and a round trip "
        "of 100 ms, with a queue of one bandwidth-delay product. The true gain is the speed of the scenario before the "
        "cause was planted, relative to its speed with it. In scenarios with random events, both gains are means over "
        f"{SEEDS} seeds. The weights that order the causes were chosen with these scenarios.",
        "",
        markdown_table(["planted", "cause", "found first", "true gain", "measured gain"], [_row(one) for one in found]),
        "",
        "## Captures",
        "",
        f"Linux {_kernel()} transfers 2.5 MB over an emulated path of 8 Mbit/s and 120 ms, with a queue of one "
        "bandwidth-delay product, once with the planted cause and once without it. `lightlag why` reads the packets of "
        "the first transfer, captured at an endpoint. The true gain is the ratio of the kernel's times; the measured "
        "gain comes from the scenario that repeats the capture. The last columns compare the times of the transfer, or "
        "of the mean response. The inference was developed with other captures: the same causes with other sizes, over "
        "paths of 10 Mbit/s and 100 ms, and of 20 Mbit/s and 60 ms. When it first read these captures, it took the "
        "slow reader for a full send buffer; senders that use up the receive window are no longer tested for one.",
        "",
        markdown_table(
            ["planted", "captured at", "cause", "found first", "true gain", "measured gain", "kernel", "model"],
            [_recorded_row(one) for one in recorded],
        ),
    ]
    both = [*found, *recorded]
    result = (
        f"The planted cause is found first in {_first(found)} of {len(found)} scenarios and in {_first(recorded)} of "
        f"{len(recorded)} captures of the kernel, and its gain is within {100 * TOLERANCE:.0f} % in "
        f"{sum(one.is_sized for one in both)} of {len(both)}."
    )
    return pages.Page("Causes of slow transfers", result, "make why-cases", "\n".join(body))


def _first(found: list[Found]) -> int:
    return sum(one.is_first for one in found)


def _kernel() -> str:
    index = json.loads(why_lab.INDEX.read_text("utf-8"))
    return ", ".join(sorted({entry["kernel"] for entry in index.values()}))


def _row(one: Found) -> list[str]:
    first = one.diagnosis.cause
    named = "–" if first is None else first.cause.name
    return [
        one.case.planted,
        one.case.cause,
        named if one.is_first else f"**{named}**",
        f"{1 + one.true_gain:.3g} ×",
        _gain(one),
    ]


def _gain(one: Found) -> str:
    if math.isnan(one.gain):
        return "**–**"
    gain = f"{1 + one.gain:.3g} ×"
    return gain if one.is_sized else f"**{gain}**"


def _recorded_row(one: Found) -> list[str]:
    planted, *others = _row(one)
    seen = one.diagnosis.observed
    assert seen is not None
    return [planted, seen.vantage, *others, f"{seen.real_s:.3g} s", f"{seen.model_s:.3g} s"]


def main() -> None:
    """Writes the page and the index."""
    found, recorded = map(examine, CASES), map(examine_recorded, why_lab.CASES)
    pages.write(PAGE.parent, {PAGE.stem: page(list(found), list(recorded))})


if __name__ == "__main__":
    main()
