"""SCPS-TP in ns-3, 2017: narrow return links, long delays, small segments, bit errors; and what lies beyond."""

from __future__ import annotations

from lightlag_papers.paper import Effort, Picture, Reproduction
from lightlag_papers.scps_ns3 import (
    ack_intervals,
    algorithms,
    asymmetry,
    beyond_figures,
    compression,
    corruption,
    figures,
    outages,
    overshoot,
    repairs,
    satellite,
    sweeps,
)

NOTES = (
    "**Assumptions** where the paper is silent: MTU 512 is an MSS of 472, PPP adds 2 B, an ACK has 42. TCP follows "
    "ns-3 in 2017: an initial window of one segment, ACKs of two segments or after 200 ms, the first without delay, a "
    "minimum RTO of 1 s, one segment of growth per ACK, no SACK, no timestamps; buffers of 300 kB for all. The "
    "forward queue is one bandwidth-delay product (36 packets at 50 ms), as is the queue of the client's own device, "
    "which has the same rate and where all drops happen; the return queue holds 1000 packets, as ns-3's queueing "
    "layer does.",
    "**SCPS-TP** follows Table 1 with ns-3's Vegas and its smoothed round-trip time. Rate control delays a segment in "
    "the connection, before it counts as sent. Rows for information have two other readings: rate control below TCP, "
    "where Vegas takes the delay for a queue, and the Vegas of 1995, which doubles every other round. They differ by "
    "more than the paper's protocols do at equal rates.",
    "**ns-3.37** ran the same path (`benchmarks/simulators/ns3/asymmetric.cc`): its NewReno, and for SCPS-TP its "
    "Vegas with an ACK every 0.1 s and a deep queue at the client instead of rate control. NewReno's values equal "
    "ours wherever nothing is lost, and SCPS-TP's equal the reading with rate control below TCP. Vegas as plain TCP "
    "at equal rates, for which the text has no value, depends on the phase of its delayed ACKs: initial windows of 1, "
    "2, 4 and 10 segments give 425, 284, 426 and 640 kbit/s, in ns-3.37 and here.",
    "**Spread.** Without bit errors nothing is random. Such runs are repeated with ten delays of 99 to 101 % of the "
    "nominal one, so a large interval shows sensitivity to the phase.",
    "**The model** is an independent program (`model.py`) with the rules in the source of ns-3's TCP of these years.",
    "**Readings of Figs. 8 and 9.** Table 2 turns congestion control off; the text does not specify the remaining "
    "window, nor what releases a segment that waits for tokens. *Vegas steers the window*: corruption overrides the "
    "reaction to losses, as in §3.1, and ns-3's Vegas continues to steer by delay. *No window* but the peer's "
    '(`congestion = "none"`), as in Table 2. *The window grows from 1* as NewReno\'s: each ACK adds one segment, and '
    "no loss reduces it. The bucket is served by a timer, or by ACKs and timeouts alone (`rate_control.release = "
    '"acks"`), because ns-3\'s TCP of 2017 has no timer for sending.',
    "**A bucket that only ACKs serve** explains neither figure. It holds five packets, so that the maximum is 274 "
    "kbit/s of payload with an ACK each 69 ms, and 189 with one each 0.1 s, where Fig. 3 has 800. A burst, its ACK "
    "and the next burst take a round trip and the interval, so the throughput depends on the delay.",
)


def reproduce(reproduction: Reproduction, effort: Effort) -> None:
    """Fills a reproduction with all items."""
    effort.progress("Figs. 3 and 4: a narrow return link")
    run = asymmetry.Asymmetry.run(effort)
    caption = (
        "Fig. 3. Throughput by the ratio of the rates: on the left the reading with verdicts, dotted the model of "
        "ns-3's rules; on the right other readings of SCPS-TP. Squares are ns-3.37's, crosses are the paper's "
        "values."
    )
    queues = "Fig. 3 with a return queue of 5, 36 and 1000 packets."
    effort.progress("Figs. 8 and 9: bit errors")
    errors = corruption.Corruption.run(effort)
    readings = corruption.readings(errors, run)
    reproduction.lead = readings.lead("the claims about SCPS-TP in Figs. 8 and 9, and in Fig. 3 at 5 kbit/s")
    reproduction.layouts += [
        readings.layout("Readings by claims: yes where a reading reproduces a claim"),
        readings.measured("measured", "What the readings measured"),
    ]
    reproduction.add(readings.judged())
    reproduction.add(
        asymmetry.rows(run),
        [Picture("fig3", figures.asymmetry(run), caption), Picture("return_queue", figures.queues(run), queues)],
    )
    reproduction.layouts += [asymmetry.layout(run), asymmetry.queue_layout(run)]
    drawn = asymmetry.sequences(effort)
    caption = "Fig. 4. Sequence numbers sent, with a return link of 5 kbit/s."
    reproduction.add(asymmetry.sequence_rows(drawn), [Picture("fig4", figures.sequences(drawn), caption)])

    effort.progress("Fig. 5: other congestion controls")
    others = algorithms.Algorithms.run(effort)
    caption = "Fig. 5. Three congestion controls as TCP and as SCPS-TP, by the ratio of the rates."
    reproduction.add(algorithms.rows(others), [Picture("fig5", figures.algorithms(others), caption)])
    reproduction.layouts.append(algorithms.layout(others))

    effort.progress("Figs. 6 and 7: delays and segment sizes")
    delays, sizes = sweeps.delays(effort), sweeps.sizes(effort)
    caption = "Fig. 6. Throughput by the delay of the channel, with the model, ns-3.37 and the paper's numbers."
    reproduction.add(sweeps.delay_rows(delays), [Picture("fig6", figures.delays(delays), caption)])
    caption = "Fig. 7. Throughput by the MTU, with the model and ns-3.37."
    reproduction.add(sweeps.size_rows(sizes), [Picture("fig7", figures.sizes(sizes), caption)])
    reproduction.layouts += [sweeps.delay_layout(delays), sweeps.size_layout(sizes)]

    caption = (
        "Figs. 8 and 9. Sequence numbers sent with a bit error rate of 1e-5: SCPS-TP in four readings. Dotted: the "
        "throughputs of the text, 300 kbit/s for SCPS-TP, 110 and 58 for NewReno."
    )
    reproduction.add(corruption.rows(errors), [Picture("fig8_9", figures.errors(errors), caption)])
    reproduction.layouts.append(corruption.layout(errors))
    _beyond(reproduction, effort)
    reproduction.notes += NOTES


def _beyond(reproduction: Reproduction, effort: Effort) -> None:
    """Adds the questions that the paper leaves open."""
    effort.progress("beyond the paper: NewReno after an overshoot")
    reproduction.add(overshoot.rows(overshoot.Overshoot.run(effort)))
    reproduction.notes += overshoot.NOTES

    effort.progress("beyond the paper: SNACK, SACK and RACK")
    repair = repairs.Repairs.run(effort)
    caption = (
        "Beyond the paper. Rate control alone with four methods of loss detection; dotted the limit by rate and losses."
    )
    reproduction.add(repairs.rows(repair), [Picture("repair", beyond_figures.repair(repair), caption)])

    effort.progress("beyond the paper: ACK intervals")
    often = ack_intervals.Intervals.run(effort)
    caption = "Beyond the paper. Throughput by the ACK interval, for four rates of the return link."
    reproduction.add(
        ack_intervals.rows(often), [Picture("ack_interval", beyond_figures.intervals_of_acks(often), caption)]
    )

    effort.progress("beyond the paper: outages")
    gone = outages.Outages.run(effort)
    caption = "Beyond the paper. Delay of a file of 5 MB beyond the length of an outage; dots are runs, lines means."
    reproduction.add(outages.rows(gone), [Picture("outage", beyond_figures.outage(gone), caption)])

    effort.progress("beyond the paper: header compression")
    small = compression.Compression.run(effort)
    caption = "Beyond the paper. What compressed headers gain, by the MTU and the rate of the return link."
    reproduction.add(compression.rows(small), [Picture("compression", beyond_figures.headers(small), caption)])

    effort.progress("beyond the paper: GEO")
    geo = satellite.Satellite.run(effort)
    caption = "Beyond the paper. Goodput over GEO by the bit error rate; dotted what reports of six holes let through."
    reproduction.add(satellite.rows(geo), [Picture("geo", beyond_figures.geo(geo), caption)])
    reproduction.layouts += [
        repairs.layout(repair),
        ack_intervals.layout(often),
        outages.layout(gone),
        compression.layout(small),
        satellite.layout(geo),
    ]
