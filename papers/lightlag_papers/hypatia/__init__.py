"""Hypatia, 2020: round trips, path changes and TCP over Starlink, Kuiper and Telesat; and further results."""

from __future__ import annotations

from lightlag_papers.hypatia import figures, transport, ways
from lightlag_papers.paper import Effort, Picture, Reproduction

NOTES = (
    "**Claims** are values in Hypatia's repository (snkas/hypatia at 0ac531c): the series of its test, its "
    "changelog, and a value on its page. The paper's text was not available, so no sentence of it has a verdict; "
    "the rows on TCP are own checks of its known results.",
    "**The second program** was written independently from the equations. It has the closed form of SGP4 (WGS 72), "
    "the sidereal time of 1982, and Floyd–Warshall instead of shortest-path trees.",
    "**Hypatia's visibility is a slant range limit**, the distance on a flat Earth: Kuiper's 30 degrees are 25.2, "
    "Starlink's 25 are 26.2, and Telesat's 10 are 15.7 below the horizon. The rows with a true elevation mask show "
    "the effect: Telesat's ground links pass through the Earth, and without them it is slower than Kuiper.",
    "**Its Starlink is at 509 km**: 15.19 revolutions per day do not correspond to 550 km, and its phasing lets "
    "satellites collide. Both are reproduced here (`may_collide`), and neither is in the preset `starlink-550`.",
    '**Queues.** Next hops are fixed when a packet is enqueued at a ground link in Hypatia, so `waiting = "keep"`; '
    "a lost path drops. Paths change at steps of 100 ms (`exact = false`).",
    "**Starlink as measured** is the preset `starlink-measured`; its docstring names the source of each number.",
)


def reproduce(reproduction: Reproduction, effort: Effort) -> None:
    """Fills a reproduction with all items."""
    effort.progress("round trips of six pairs over three constellations")
    rows, _ = ways.pair_rows()
    caption = "Round trips of light. By Hypatia's limit of visibility (lines), and by a true mask (dots)."
    reproduction.add(ways.stored_rows() + rows, [Picture("rtt", figures.round_trips(), caption)])

    effort.progress("all pairs of a hundred cities")
    rows, spreads, layout = ways.spread_rows()
    caption = "All pairs of a hundred cities over 200 s: the greatest round trip, and the greatest over the least."
    reproduction.add(rows, [Picture("all_pairs", figures.spreads(spreads), caption)])
    reproduction.layouts.append(layout)

    effort.progress("NewReno and Vegas on a path that changes")
    flows = {"NewReno": transport.Flow.of("newreno"), "Vegas": transport.Flow.of("vegas")}
    caption = (
        "NewReno and Vegas from Rio de Janeiro to St Petersburg. NewReno halves its window at 146.6 and 178.8 s "
        "without a loss: packets on the new, shorter path overtake those on the old one. Vegas takes the longer path "
        "at 32.9 s for queueing and hardly sends any more."
    )
    reproduction.add(transport.rows(*flows.values()), [Picture("tcp", figures.windows(flows), caption)])

    effort.progress("beyond the paper: other algorithms, and Starlink as measured")
    reproduction.layouts.append(transport.beyond(effort))
    reproduction.add(transport.measured_rows(effort))
    reproduction.notes += NOTES
