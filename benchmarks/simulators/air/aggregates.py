"""Saturated stations that send A-MPDUs, and the cause of the difference between the simulators."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean
from typing import TYPE_CHECKING, Any

import links
from compared import table

if TYPE_CHECKING:
    from page import Sides


def text(sides: Sides, goodput: Callable[[dict[str, Any]], float], tolerance: float) -> str:
    """Returns the tables of saturated stations with A-MPDUs, with an explanation."""
    rows, counts = [], []
    plans = (({}, {}), (links.PATIENT, {"lifetime": "100 s"}), (links.KEEPING, {}))
    for stations in links.STATIONS:
        cells, counted = [str(stations)], [str(stations)]
        for options, changed in plans:
            runs = [links.aggregates(stations, seed, **options) for seed in links.AGGREGATE_SEEDS]
            theirs, of_ours, *compared = sides.pair(runs, goodput, **changed).cells(tolerance)
            cells += [theirs, *compared] if options is links.KEEPING else [theirs, of_ours, *compared]
            names = ("aggregates", "requests", "window_resets")
            counted.append("/".join(f"{fmean(numbers[name] for numbers in sides.theirs(runs)):,.0f}" for name in names))
        rows.append(cells)
        counts.append(counted)
    head = ["stations"]
    for name in ("500 ms", "100 s"):
        head += [f"{name}, ns-3", "ours", "ratio", "2 %"]
    head += ["500 ms, window kept, ns-3", "ratio", "2 %"]
    count_head = ["stations", "500 ms", "100 s", "window kept"]
    return "\n".join(
        [
            "A-MPDUs at MCS 7 (65 Mbit/s), seven attempts, 130 Mbit/s offered in total, queues of 128 frames. With ten or more",
            "stations frames expire after 500 ms, and the station notifies the receiver with a BlockAckReq (IEEE 802.11-2020",
            "§10.25.6.7), in both. If the request fails when all frames of the block have expired, ns-3 resets the contention window",
            "to its minimum and repeats the request, so requests collide and displace data. §10.23.2.2 doubles the window after each",
            "failure, as do lightlag and later versions of ns-3. Without the reset (`--keep-window`,",
            "`benchmarks/simulators/ns3/air-window.h`), or with a lifetime of 100 s (`lifetime`, `WifiMacQueue::MaxDelay`), the",
            "difference disappears.\n",
            sides.deviations(head, rows),
            "A-MPDUs/requests/failed requests with a reset (window kept: without), in 10 s of ns-3:\n",
            table(count_head, counts),
            "Stations negotiate block acknowledgements one after the other before they compete. In ns-3 an expired ADDBA request",
            "remains pending, and its station sends nothing more (one or two of twenty).\n",
        ]
    )
