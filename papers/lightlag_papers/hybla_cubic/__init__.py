"""Hybla beside CUBIC over a satellite, 2010: growth functions, one flow each, and what the paper's choices decide."""

from __future__ import annotations

from lightlag_papers.hybla_cubic import comparison, figures, growth, peer, sweeps, unstated
from lightlag_papers.paper import Effort, Picture, Reproduction

NOTES = (
    "**Chosen, because the paper does not say:** one satellite flow of each algorithm in runs of its own, for the "
    "text compares variants and not their competition; packets of 1000 B and 40 B of headers, a bottleneck queue of"
    " 50 packets and an ACK for every packet, which are defaults of ns-2; 200 s; RTT 600 ms; access of 2.5 ms whose"
    " queue loses nothing, errors in both directions of up- and down-link. CUBIC is that of Linux 2.6 (0.8 is "
    "kept), Hybla that of Linux 2.6 (RTT0 25 ms), both with the behaviour of ns-2's agent TCP/Linux (profile "
    "`ns2-linux`), the only one of ns-2 that has them. The window of Fig. 4 is the one that ns-2 plots: rate "
    "halving lowers it during fast recovery, which is a third of Hybla's variation.",
    "**The maximum window decides who leads, and the paper does not state it.** Hybla's first burst is as large as "
    "the window may be. With 5000 packets it puts Hybla 18 MB ahead, which CUBIC makes up in two minutes; with 700 "
    "to 1500 it is 8 to 9 MB, made up in the first half of the run, and all claims of Figs. 4 to 6 hold. With a "
    "first threshold of 64 packets, the largest that §I names, the burst is smaller and they hold with 5000 "
    "packets, too. Where the maximum window keeps Hybla from filling the queue, with 400 packets, Hybla is ahead "
    "and steady; with 200 the mean of the seeds is as in the text, and they differ. A receive buffer of the same "
    "size is another setting: what arrives behind a hole fills it, so that neither algorithm sends during a repair;"
    " CUBIC then loses data by the thousand, and the claim about losses does not hold up to 1500 packets.",
    "**ns-2 itself** was run with maximum windows of 400, 1000 and 5000 packets; its rows follow the claims. With "
    "400 it has the paper's order, and we have the opposite: Linux's Hybla does not keep to the maximum window, "
    "which in ns-2 bounds what leaves and not the window that a loss halves. That is the row that does not hold.",
    "**Which agent.** ns-2's TCP-Linux sees that a retransmission is lost, so Hybla's bursts cost it half of its "
    "window and no timeout. With a sender that waits for the timer, by RFC 6675, Hybla is far behind from the first"
    " seconds on; but then CUBIC is not below Hybla at every higher error rate. It is a reading, too.",
    "**The queue.** All readings have ns-2's 50 packets. With half a bandwidth-delay product, or with pacing, Hybla"
    " delivers several times as much as CUBIC. The paper compares two algorithms; what it shows is that Hybla needs"
    " pacing.",
    "**Positive feedback.** The text explains the oscillations by ρ, which grows with the round-trip time. In Linux"
    " ρ follows the smallest one and never rises. The grid has both: with the smoothed one, to which a queue of 50 "
    "packets adds 12 ms at most, Hybla gains some. What oscillates is burst and loss.",
    "**Equations 6 and 7** print ρ t/RTT0 in exponent and slope; with ρ t/RTT = t/RTT0 the rate does not depend on "
    "the round-trip time, as the text says. The update rule, equation 8, is the one that is implemented.",
)


def reproduce(reproduction: Reproduction, effort: Effort) -> None:
    """Fill a reproduction with every item."""
    effort.progress("Figs. 1 and 2: growth functions")
    paper, linux = (growth.BicGrowth.run(variant) for variant in ("paper", "linux"))
    caption = "Fig. 1. BIC after one loss: its growth function, and simulated epochs, a point a round trip."
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
    reproduction.add(peer.rows(effort))
    _conditions(reproduction, effort)
    reproduction.notes += NOTES


def _conditions(reproduction: Reproduction, effort: Effort) -> None:
    """Other queues, pacing, error rates and round-trip times, with a maximum window of 5000 packets."""
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

    effort.progress("wired flows beside the satellite's")
    reproduction.add(sweeps.shared_rows(sweeps.shared(effort)))
