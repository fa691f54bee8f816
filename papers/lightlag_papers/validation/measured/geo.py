"""Target times of downloads over geostationary paths: draft-kuhn-quic-4-sat, and our TCP over the same paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lightlag as ll
from lightlag_papers.validation.measured import data
from lightlag_papers.validation.measured.data import Target
from lightlag_papers.validation.measured.fact import Fact, Section, Spread, Verdict, number
from lightlag_papers.validation.measured.runs import Task, Values, Work
from lightlag_papers.validation.measured.tolerances import TARGET

NAME = "geo"
SOURCE = "draft-kuhn-quic-4-sat-07, target"
SEEDS = 5
LONGEST_S = 3600
OTHERS = (("BBR", {"congestion": "bbr"}), ("Hybla", {"congestion": "hybla"}))
"""Senders that show what a missed target needs."""
SWITCHES = (
    ("no HyStart", {"congestion": {"algorithm": "cubic", "slow_start": "standard"}}),
    ("initial window of 200 segments", {"congestion": "cubic", "initial_window": 200}),
)
"""Parts of CUBIC's slow start that are switched, one at a time."""

ABOUT = [
    "The draft sets times for transfers over geostationary paths with a queue of one bandwidth-delay product, as "
    "targets "
    "for QUIC; they are not measurements. Ours: one TCP connection with CUBIC and the profile `linux`, from the SYN "
    "to the "
    f"last byte, {SEEDS} seeds where packets are lost. A row agrees if the median meets the target; a missed one "
    "shows the "
    "time with another sender, without HyStart, and with a large initial window.",
]


def scenario(target: Target, tcp: dict[str, Any]) -> dict[str, Any]:
    """Returns the scenario of one transfer."""
    link: dict[str, Any] = {
        "between": ["server", "client"],
        "rate": {"forward": f"{target.down_mbps:g} Mbit/s", "backward": f"{target.up_mbps:g} Mbit/s"},
        "delay": f"{target.rtt_ms / 2:g} ms",
        "queue": "1 bdp",
    }
    if target.has_loss:
        link["loss"] = 0.01
    ends = ("server", "client") if target.direction == "down" else ("client", "server")
    return {
        "name": "target",
        "duration": f"{LONGEST_S} s",
        "defaults": {"tcp": {"profile": "linux", **tcp}},
        "links": [link],
        "flows": [{"from": ends[0], "to": ends[1], "transfer": f"{target.size_mb:g} MB"}],
        "record": {"trace": "off", "queue": "off", "drops": False},
    }


def finish(result: ll.Result) -> Values:
    """Returns the completion time of the transfer in s; null if it did not end."""
    return {"finish_s": result.summary["flows"][0]["finish_s"]}


def times(work: Work, said: str, targets: Sequence[Target], tcp: dict[str, Any]) -> list[Spread]:
    """Returns the completion times of each target's transfer, over the seeds."""
    tasks = [Task(scenario(one, tcp), seed, finish) for one in targets for seed in _seeds(one)]
    found = iter(work.run(said, tasks))
    spreads = []
    for one in targets:
        ends = [next(found)["finish_s"] for _ in _seeds(one)]
        spreads.append(Spread.of([LONGEST_S if end is None else end for end in ends]))
    return spreads


def _seeds(target: Target) -> range:
    return range(1, 1 + (SEEDS if target.has_loss else 1))


def section(work: Work, targets: Sequence[Target] | None = None) -> Section:
    """Returns a row for each target."""
    targets = data.targets() if targets is None else targets
    ours = times(work, "target times", targets, {"congestion": "cubic"})
    others = {name: times(work, f"target times, {name}", targets, tcp) for name, tcp in (*OTHERS, *SWITCHES)}
    found = Section(NAME, "Target times over geostationary paths", list(ABOUT))
    for at, (target, mine) in enumerate(zip(targets, ours, strict=True)):
        verdict = Verdict.AGREES if mine.value <= target.target_s * (1 + TARGET) else Verdict.DIFFERS
        reason = "target met"
        if verdict is Verdict.DIFFERS:
            shown = "; ".join(f"{name} {number(spreads[at].value)} s" for name, spreads in others.items())
            reason = f"missed with CUBIC; {shown}; with a full path after the handshake: {number(_ideal_s(target))} s"
        rates = f"{target.down_mbps:g}/{target.up_mbps:g} Mbit/s"
        loss = ", loss 1 %" if target.has_loss else ""
        setting = f"{target.scenario}: {target.size_mb:g} MB {target.direction}, {rates}{loss}"
        found.facts.append(Fact(SOURCE, setting, "time", "s", Spread(target.target_s), mine, verdict, reason))
    return found


def _ideal_s(target: Target) -> float:
    """Returns the time of a sender that fills the path after the handshake: 1.5 round trips, and the transmission."""
    rate_mbps = target.down_mbps if target.direction == "down" else target.up_mbps
    return 1.5e-3 * target.rtt_ms + 8 * target.size_mb / rate_mbps * 1500 / 1448
