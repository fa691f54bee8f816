"""Reproduction of a comparison of Hybla with CUBIC over a satellite, 2010.

The items are the growth functions, one flow per algorithm, and the influence of the paper's choices.
"""

from __future__ import annotations

from lightlag_papers.hybla_cubic import comparison, figures, growth, simulators, sweeps, unstated
from lightlag_papers.paper import Effort, Picture, Reproduction

NOTES = (
    "**Assumptions** where the paper is silent: one satellite flow of each algorithm in separate runs, because the "
    "text compares variants and not their competition; packets of 1000 B and 40 B of headers, a bottleneck queue of "
    "50 packets and an ACK for every packet, as in ns-2's defaults; 200 s; RTT 600 ms; access of 2.5 ms with an "
    "unlimited queue, errors in both directions of up- and down-link. CUBIC follows Linux 2.6 (a reduction to 0.8) "
    "and Hybla follows Linux 2.6 (RTT0 25 ms), both with the behaviour of ns-2's agent TCP/Linux (profile "
    "`ns2-linux`), the only agent of ns-2 with these algorithms. Fig. 4 shows the window that ns-2 plots: rate "
    "halving lowers it during fast recovery, which is a third of Hybla's variation.",
    "**The maximum window decides which algorithm leads, and the paper does not state it.** Hybla's first burst "
    "fills the maximum window. With 5000 packets Hybla is 18 MB ahead, and CUBIC needs two minutes to make up for "
    "it; with 700 to 1500 it is 8 to 9 MB, made up in the first half of the run, and all claims of Figs. 4 to 6 "
    "hold. With a first threshold of 64 packets, the maximum that §I names, the burst is smaller and they also hold "
    "with 5000 packets. Where the maximum window prevents Hybla from filling the queue, with 400 packets, Hybla is "
    "ahead and steady; with 200 the mean of the seeds is as in the text, with much spread. A receive buffer of the "
    "same size differs from a maximum window, because out-of-order data fills it and neither algorithm sends during "
    "recovery: CUBIC then loses thousands of packets, and the claim about losses does not hold up to 1500 packets.",
    "**ns-2** ran with maximum windows of 400, 1000 and 5000 packets; its rows follow the claims. With 400 it has "
    "the paper's order, and lightlag the opposite, which is the check that does not hold: in ns-2 the maximum "
    "window limits Hybla's flight, but not the congestion window that a loss halves.",
    "**Agent.** ns-2's TCP-Linux detects the loss of a retransmission, so Hybla's bursts halve its window and cause "
    "no timeout. With a sender that waits for the timer, by RFC 6675, Hybla is far below CUBIC in the first seconds "
    "and later; but then CUBIC is not below Hybla at every higher error rate. This is also a reading.",
    "**Queue.** All readings have ns-2's 50 packets. With half a bandwidth-delay product, or with pacing, Hybla "
    "delivers several times as much as CUBIC: the paper shows that Hybla needs pacing.",
    "**Positive feedback.** The text explains the oscillations by ρ, which grows with the round-trip time. In Linux "
    "ρ follows the minimum RTT and never rises. The grid has both: with the smoothed RTT, which a queue of 50 "
    "packets raises by up to 12 ms, Hybla gains slightly. The oscillation consists of bursts and losses.",
    "**Equations 6 and 7** print ρ t/RTT0 in exponent and slope; with ρ t/RTT = t/RTT0 the rate does not depend on "
    "the round-trip time, as in the text. lightlag implements the update rule, equation 8.",
)


def reproduce(reproduction: Reproduction, effort: Effort) -> None:
    """Fills a reproduction with all items."""
    effort.progress("Figs. 1 and 2: growth functions")
    paper, linux = (growth.BicGrowth.run(variant) for variant in ("paper", "linux"))
    caption = "Fig. 1. BIC after one loss: its growth function, and simulated epochs, one point per round trip."
    reproduction.add(growth.bic_rows(paper, linux), [Picture("fig1", figures.bic(paper, linux), caption)])
    cubics = [growth.cubic_growth(variant) for variant in growth.CUBICS]
    caption = (
        "Fig. 2. CUBIC after one loss: its growth function, and simulated epochs of the paper of 2008 and Linux 2.6."
    )
    reproduction.add(growth.cubic_rows(*cubics), [Picture("fig2", figures.cubic(*cubics), caption)])

    sweep = unstated.Sweep(effort)
    best, name = sweep.best, sweep.readings.best
    reproduction.lead = sweep.readings.lead("the claims of Figs. 4 to 6 and §III-D")
    reproduction.layouts += sweep.layouts()
    reproduction.add(
        [*sweep.readings.judged(), *comparison.reasons(best)],
        [
            Picture("fig4", figures.windows(best, name), "Fig. 4. Windows of Hybla and CUBIC, each alone."),
            Picture("fig5", figures.acks(best, name), "Fig. 5. ACKs received: mean of all seeds, and their extremes."),
            Picture(
                "fig6", figures.goodput(best, name), "Fig. 6. Goodput since the start: mean of all seeds, and extremes."
            ),
        ],
    )
    reproduction.add(simulators.rows(effort))
    _conditions(reproduction, effort)
    reproduction.notes += NOTES


def _conditions(reproduction: Reproduction, effort: Effort) -> None:
    """Adds other queues, pacing, error rates and round-trip times, with a maximum window of 5000 packets."""
    effort.progress("queues, pacing and ρ")
    grid = sweeps.goodputs(sweeps.grid_settings(), effort, sweeps.GRID_SEEDS)
    caption = (
        "Goodput by the size of the bottleneck's queue. CUBIC keeps up with Hybla with the smallest, without pacing."
    )
    reproduction.add(sweeps.grid_rows(grid), [Picture("queues", figures.queues(grid), caption)])
    reproduction.layouts.append(sweeps.grid_layout(grid))

    effort.progress("error rates")
    errors = sweeps.goodputs(sweeps.queue_errors(), effort, sweeps.GRID_SEEDS)
    caption = "Goodput against the packet error rate of up- and down-link, with two queues."
    reproduction.add([sweeps.queue_errors_row(errors)], [Picture("errors", figures.errors(errors), caption)])

    effort.progress("round-trip times")
    trips = sweeps.goodputs(sweeps.rtt_settings(), effort, sweeps.GRID_SEEDS)
    caption = "Goodput against the round-trip time, with a queue of 50 packets."
    rows = [growth.hybla_row(), *sweeps.rtt_rows(trips)]
    reproduction.add(rows, [Picture("round_trips", figures.round_trips(trips), caption)])

    effort.progress("wired flows sharing the satellite's bottleneck")
    reproduction.add(sweeps.shared_rows(sweeps.shared(effort)))
