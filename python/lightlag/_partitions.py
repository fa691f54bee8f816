"""Where a run on several threads cuts its network, as text for the terminal."""

from __future__ import annotations

import json
from typing import Any

from lightlag import _engine
from lightlag._text import printable

__all__ = ["describe"]

SHOWN = 6
"""Links that are named."""


def describe(scenario: _engine.Scenario, threads: int) -> str:
    """The cut of a scenario for so many threads, and what a trial run in its partitions found."""
    name = printable(scenario.name)
    answer: dict[str, Any] = json.loads(_engine.partitions(scenario, threads))
    if "whole" in answer:
        return f"{name} runs on one thread: {answer['whole']}"
    cut = [printable(link) for link in answer["cut"]]
    more = f" and {len(cut) - SHOWN} more" if len(cut) > SHOWN else ""
    lines = [
        f"{name} in {len(answer['partitions'])} partitions, which run for {answer['window_s'] * 1e3:.4g} ms at a time",
        f"cut:          {', '.join(cut[:SHOWN])}{more}",
    ]
    for number, part in enumerate(answer["partitions"]):
        lines.append(f"partition {number:<3} {part['nodes']} nodes, {part['share']:.0%} of the expected work")
    lines += [
        f"trial:        {answer['simulated_s']:.4g} s, {answer['events']:,} events in {answer['windows']:,} windows, "
        f"{answer['crossings']:,} packets over the cut",
        f"speed-up:     at most {answer['speed_up']:.2f} × one thread, by the events of the busiest partition in each "
        "window",
    ]
    return "\n".join(lines)
