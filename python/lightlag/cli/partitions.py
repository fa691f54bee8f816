"""The partitioning of a run on several threads, as text for the terminal."""

from __future__ import annotations

import json
from typing import Any

from lightlag import _engine
from lightlag.text.terminal import printable

__all__ = ["describe"]

SHOWN = 6
"""Maximum number of links that are listed by name."""


def describe(scenario: _engine.Scenario, threads: int) -> str:
    """Returns the partitioning of a scenario for `threads`, and the speed-up of a trial run."""
    name = printable(scenario.name)
    answer: dict[str, Any] = json.loads(_engine.partitions(scenario, threads))
    if "whole" in answer:
        return f"{name} runs on one thread: {answer['whole']}"
    cut = [printable(link) for link in answer["cut"]]
    more = f" and {len(cut) - SHOWN} more" if len(cut) > SHOWN else ""
    window, meeting = answer["window_s"], answer["round_s"]
    meet = f", and whose threads meet every {meeting * 1e3:.4g} ms" if meeting > window else ""
    lines = [
        f"{name} in {len(answer['partitions'])} partitions, which run for {window * 1e3:.4g} ms at a time{meet}",
        f"cut:          {', '.join(cut[:SHOWN])}{more}",
    ]
    shared = len(answer["partitions"]) > answer["lanes"]
    for number, part in enumerate(answer["partitions"]):
        thread = f"thread {part['lane'] + 1}, " if shared else ""
        lines.append(
            f"partition {number:<3} {thread}{part['nodes']} nodes, {100 * part['share']:.0f} % of the expected work"
        )
    lines += [
        f"trial:        {answer['simulated_s']:.4g} s, {answer['events']:,} events in {answer['windows']:,} windows, "
        f"{answer['crossings']:,} packets over the cut",
        f"speed-up:     {answer['speed_up']:.2f} × one thread, if all events took the same time",
    ]
    return "\n".join(lines)
