"""Saturated stations that send A-MPDUs, and the cause of the difference between both simulators."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean
from typing import TYPE_CHECKING, Any

import links
from compared import table

if TYPE_CHECKING:
    from page import Sides


def text(sides: Sides, goodput: Callable[[dict[str, Any]], float], tolerance: float) -> str:
    """Their tables, with what they show."""
    rows, counts = [], []
    plans = (({}, {}), (links.PATIENT, {"lifetime": "100 s"}), (links.KEEPING, {}))
    for stations in links.STATIONS:
        cells, counted = [str(stations)], [str(stations)]
        for options, changed in plans:
            runs = [links.aggregates(stations, seed, **options) for seed in links.AGGREGATE_SEEDS]
            theirs, of_ours, *compared = sides.pair(runs, goodput, **changed).cells(tolerance)
            cells += [theirs, *compared] if options is links.KEEPING else [theirs, of_ours, *compared]
            for name in ("aggregates", "requests", "window_resets"):
                counted.append(f"{fmean(numbers[name] for numbers in sides.theirs(runs)):,.0f}")
        rows.append(cells)
        counts.append(counted)
    head = ["stations"]
    for name in ("500 ms", "100 s"):
        head += [f"{name}, ns-3", "ours", "ratio", "2 %"]
    head += ["500 ms, window kept, ns-3", "ratio", "2 %"]
    count_head = ["stations"]
    for name in ("500 ms", "100 s", "window kept"):
        count_head += [f"{name}: A-MPDUs", "requests", "resets"]
    return "\n".join(
        [
            "A-MPDUs at MCS 7 (65 Mbit/s), seven tries. All stations together offer 130 Mbit/s, and 128 frames may wait in each.",
            "With ten stations and more, frames wait for more than 500 ms and are given up. A station tells that to the receiver by a",
            "request for a block acknowledgement (IEEE 802.11-2020 §10.25.6.7), in ours as in ns-3. If the request fails when all",
            "frames of the block have expired, ns-3 makes the contention window the least again and repeats the request. It soon",
            "collides again, and requests crowd out data. §10.23.2.2 doubles the window after each failure; so does ours, and so do",
            "later versions of ns-3. With that reset alone turned off (`--keep-window`, `benchmarks/peers/ns3/air-window.h`), the",
            "difference is gone. It does not appear where frames may wait for 100 s (`lifetime`, `WifiMacQueue::MaxDelay`), either.\n",
            table(head, rows),
            "Frames of ns-3 on the air in 10 s, and failed requests after which it resets the window (with the window kept: would):\n",
            table(count_head, counts),
            "Stations agree on block acknowledgements one after the other before they compete: in ns-3 a request for an agreement that",
            "expires in its queue stays pending, and its station sends nothing more (one or two of twenty).\n",
        ]
    )
