"""Angelis et al. 2023: the growth function, one flow, four flows on a bottleneck, four flows over a satellite."""

from __future__ import annotations

from lightlag_papers.cubic_inet import (
    dumbbell,
    figures,
    growth,
    point_to_point,
    refill,
    rtt_sweep,
    satellite,
    satellite_figures,
    simulators,
    variants,
)
from lightlag_papers.paper import Effort, Picture, Reproduction

SHOWN_SEED = 3

NOTES = (
    "**Assumptions** where the paper is silent: delayed ACKs (every second segment, 200 ms), a receive window and "
    "queues that do not limit, PPP headers of 7 B, errors in both directions, 20 MB read as 20 MiB, and in the "
    "dumbbell access links of 1 ms, a bottleneck of 40 ms and unlimited transfers; over the satellite the same TCP, "
    "and access links without delay. The scenario files are next to the code and run with `lightlag run`.",
    "**Forced losses.** Table 1 lists the times of window *reductions*, one round trip after a loss. The losses are "
    "therefore forced 4.5 packets, two one-way delays and an ACK (88 ms) before the printed times, so that the "
    "reductions occur at these times. Nothing else is adjusted; the window at that time is the simulator's own.",
    "**K in Table 1** is the difference of the printed times, measured from the reduction. The published code "
    "counts from the first ACK after recovery, so the window turns about 0.4 s after the printed time.",
    "**Profile switch** means that the window exceeded Wmax by one segment before the next reduction. The published "
    "code uses integer segments: its target remains at Wmax while C|t - K|³ < 1, which is 1.36 s on either side of "
    "K. Therefore the first row has no switch although the next loss occurs 1.1 s after the expected time.",
    "**The model** of the column *closed form or model* is an independent program (`model.py`): a link, delayed "
    "ACKs, the published code's arithmetic, and a recovery of one segment per round trip, without timeouts and lost "
    "ACKs. It shares no code with the simulator, and its flows are alone on their path.",
    "**Two means of throughput.** The mean of the clients' rates and the quotient of all bytes and all times differ "
    "by up to a third, because a flow with a late first loss sends most of its 15 MiB in slow start. The paper "
    "averages over clients and runs, so its values are compared with the first mean.",
)


def reproduce(reproduction: Reproduction, effort: Effort) -> None:
    """Fills a reproduction with all items."""
    effort.progress("Fig. 1: the growth function")
    curve = growth.Growth.run()
    caption = "Fig. 1. The growth function with a simulated epoch of the `paper2008` variant on it."
    reproduction.add(growth.rows(curve), [Picture("fig1", figures.growth(curve), caption)])
    effort.progress("§2.1: 10 Gbit/s and 100 ms")
    reproduction.add(refill.rows(refill.Refill.run()))

    effort.progress("Figs. 4 and 5, Table 1: one flow, forced losses")
    forced = point_to_point.Forced.run()
    reproduction.add(
        point_to_point.forced_rows(forced) + point_to_point.control_rows(),
        [
            Picture(
                "fig4",
                figures.window(forced),
                "Fig. 4. cwnd, ssthresh and Wmax of one flow whose window is reduced at the times of Table 1.",
            ),
            Picture(
                "fig5",
                figures.third_epoch(forced),
                "Fig. 5. The third epoch of Fig. 4 with the growth function. The line marks the reduction + K.",
            ),
        ],
    )
    reproduction.layouts.append(point_to_point.side_by_side(forced))

    effort.progress("Fig. 4, Table 1: one flow, random losses")
    reproduction.add(point_to_point.random_rows(effort))

    effort.progress("Fig. 7: four flows")
    caption = (
        "Fig. 7. Windows of four flows, without the inflation of fast recovery. The bottleneck is not congested: "
        "the flows agree statistically because they have the same loss rate and round-trip time, not because they "
        "compete. At first their windows decrease from an unlimited slow start."
    )
    first = dumbbell.run(1)
    reproduction.add(dumbbell.rows(effort), [Picture("fig7", figures.four_flows(first), caption)])
    _over_a_satellite(reproduction, effort)
    reproduction.notes += NOTES


def _over_a_satellite(reproduction: Reproduction, effort: Effort) -> None:
    """Adds the items of Figs. 8 to 11."""
    effort.progress("Fig. 9: four flows over a satellite")
    found = satellite.Comparison.run(effort)
    shown = {name: satellite.run(name, SHOWN_SEED) for name in satellite.ALGORITHMS}
    caption = (
        "Fig. 9. Windows of four flows over a satellite, with the inflation of fast recovery. With this seed flow 2 "
        "has the events of the paper's Flow 1: a window that jumps at 9 s and a timeout after it."
    )
    reproduction.add(satellite.rows(found), [Picture("fig9", satellite_figures.windows(shown), caption)])

    effort.progress("Figs. 10 and 11: the round-trip time")
    sweep = rtt_sweep.Sweep.run(effort)
    reproduction.add(
        rtt_sweep.rows(sweep),
        [
            Picture(
                "fig10", satellite_figures.clients(sweep), "Fig. 10. Throughput of each client, mean and interval."
            ),
            Picture("fig11", satellite_figures.aggregate(sweep), "Fig. 11. Throughput of all clients together."),
        ],
    )

    effort.progress("beyond the paper: HyStart, and every variant of CUBIC")
    others = variants.Variants.run(effort)
    caption = (
        "Beyond the paper. Throughput of all clients with every variant of CUBIC, and with HyStart in the paper's."
    )
    reproduction.add(variants.rows(others), [Picture("variants", satellite_figures.variants(others), caption)])
    reproduction.layouts.append(variants.layout(others))

    effort.progress("beyond the paper: ns-3")
    reproduction.add(simulators.rows(simulators.Beside.run(effort)))
