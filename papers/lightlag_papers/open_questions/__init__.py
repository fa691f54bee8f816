"""Open questions of the papers: slow start, every satellite algorithm side by side, sizes, pairs, round-trip times."""

from __future__ import annotations

from lightlag_papers.open_questions import fairness, figures, losses, sizes, start_up
from lightlag_papers.open_questions.candidates import algorithms
from lightlag_papers.paper import Effort, Picture, Reproduction

NOTES = (
    "**Verdicts.** No paper is reproduced here: a row has a verdict where a closed form or a stated expectation "
    "predicts the result, and is for information otherwise.",
    "**Conditions.** Profile `linux`, an initial window of 10 segments, a receive window that does not limit. GEO: "
    "10 Mbit/s, 600 ms; LEO: 50 Mbit/s, 50 ms; queues of one bandwidth-delay product; errors in both directions. "
    "Without errors a run is repeated only where the start times of its flows differ. Hybla runs with and without "
    "pacing, which its authors require. Peach has its queue of two priorities and is configured with the capacity "
    "of path and queue, which its papers take from the receiver's window; Jersey runs alone, and with routers that "
    "send warnings.",
    "**Time to fill the link.** 90 % of the link's payload has arrived during one round trip; half a round trip to "
    "the receiver, the measurement interval of one round trip, and the handshake are subtracted.",
    "**Westwood+ over GEO** remains at half of the link, even without errors: its bandwidth estimate takes one "
    "sample per round trip and smooths it twice. When slow start overshoots after six doublings the estimate is "
    "still a quarter of the link. That becomes ssthresh, and the window then grows by one segment per round trip.",
    "**Jersey with warnings** has no losses, and half of the link over GEO: the first warning arrives in slow "
    "start, at an average queue of 50 packets, a tenth of the path, and sets the window to the current estimate.",
    "**BBR over GEO** remains below 90 %: every 10 s it lets its flight fall to 4 segments to measure the minimum "
    "RTT. That takes one round trip to fall and one to stay, 1.2 s instead of 0.2.",
)


def reproduce(reproduction: Reproduction, effort: Effort) -> None:
    """Fills a reproduction with all questions."""
    effort.progress("start-up over GEO")
    starts = start_up.starts(effort)
    kinds = start_up.slow_starts(effort)
    reproduction.add(
        start_up.rows(starts, effort) + start_up.slow_start_rows(kinds),
        [
            Picture("start_up", figures.start_up(starts), "Start-up over GEO without errors."),
            Picture("slow_starts", figures.slow_starts(kinds), "CUBIC's slow start over GEO, without and with jitter."),
        ],
    )
    reproduction.layouts += [start_up.layout(starts), start_up.slow_start_layout(kinds)]

    effort.progress("every algorithm at four error rates, over GEO and LEO")
    grid = losses.Grid.run(effort)
    caption = "Goodput at four error rates; the line leads from the best to the worst."
    reproduction.add(losses.rows(grid), [Picture("errors", figures.errors(grid), caption)])
    reproduction.layouts += [losses.layout(grid, orbit) for orbit in losses.ORBITS]

    effort.progress("transfers from 10 kB to 100 MB")
    transfers = sizes.Transfers.run(effort)
    caption = (
        "Fraction of the link that a transfer over GEO uses: on the left limited by start-up, on the right in "
        "steady state."
    )
    reproduction.add(sizes.rows(transfers), [Picture("sizes", figures.sizes(transfers), caption)])
    reproduction.layouts += [sizes.layout(transfers, per) for per in sizes.PERS]

    effort.progress("pairs of algorithms")
    pairs = fairness.Pairs.run(effort)
    caption = "Fractions of the goodput of two flows at a GEO bottleneck. Above 50 % the row has more than the column."
    reproduction.add(fairness.pair_rows(pairs), [Picture("pairs", figures.pairs(pairs), caption)])
    reproduction.layouts.append(fairness.pair_layout(pairs))

    effort.progress("three round-trip times")
    trips = fairness.RoundTrips.run(effort)
    caption = (
        "Goodput of three flows of one algorithm as fractions, with round trips of 25, 150 and 600 ms and two queues."
    )
    reproduction.add(fairness.trip_rows(trips), [Picture("round_trips", figures.round_trips(trips), caption)])
    reproduction.layouts += [fairness.trip_layout(trips, queue) for queue in fairness.QUEUES]
    reproduction.notes += NOTES
    if any(one.label.endswith("(r)") for one in algorithms()):
        reproduction.notes.append(
            "**(r)** marks reconstructed models: the public texts leave rules or constants of these algorithms "
            "open, and the missing parts are ours; `lightlag explain NAME` lists them."
        )
