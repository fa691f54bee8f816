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
    "**Chosen, because the paper does not say:** MTU 512 is an MSS of 472, PPP adds 2 B, an ACK has 42. TCP is that "
    "of ns-3 in 2017: a first window of one segment, ACKs of two segments or after 200 ms, the first at once, RTO of "
    "at least 1 s, one segment of growth an ACK, no SACK, no timestamps; buffers of 300 kB for all. The forward queue "
    "is one bandwidth-delay product (36 packets at 50 ms), and as large at the client's own device, which has the same "
    "rate and where all drops happen; the return queue holds 1000 packets, as ns-3's queueing layer above its devices "
    "does.",
    "**Which SCPS-TP.** Table 1's, on the simulator that it was written for: ns-3's Vegas with its smoothed "
    "round-trip time, one segment of growth an ACK, RTO of at least 1 s. Rate control holds a segment back in the "
    "connection, before it counts as sent. The text is open to others: rate control may stand below TCP, where Vegas "
    "takes the wait for a queue; and it describes the Vegas of 1995, which doubles every other round. They are run, "
    "too, and differ by more than the paper's protocols do at equal rates. The first is judged.",
    "**ns-3 itself**, 3.37, ran the same path (`benchmarks/peers/ns3/asymmetric.cc`): NewReno as it is, and for "
    "SCPS-TP its Vegas with an ACK every 0.1 s and a deep queue at the client in the place of rate control. NewReno's "
    "numbers and ours are the same wherever nothing is lost, and SCPS-TP's are those of the reading with rate control "
    "below TCP. Vegas as plain TCP at equal rates, of which the text has no number, moves with the phase of its "
    "delayed ACKs: with a first window of 1, 2, 4 and 10 segments 425, 284, 426 and 640 kbit/s, in ns-3.37 as here. "
    "ns-3 acknowledges the first data segment at once and later ones by pairs; if it waited for a second one, the "
    "first sample would be 200 ms longer, and a first window of one segment would give 1327.",
    "**Chance.** Without bit errors nothing is random. Such runs are repeated with ten delays of 99 to 101 % of the "
    "nominal one; a large interval then says that a small shift of phase decides. With errors they are ten seeds.",
    "**The model** of the column *closed form or model* is a program of its own (`model.py`) with the rules of ns-3's "
    "TCP of these years as its source has them. It shares no code with the simulator.",
    "**Readings of Figs. 8 and 9.** Table 2 turns congestion control off, and the text does not say what is left of"
    " the window, nor what lets a segment leave that waits for tokens. *Vegas steers the window*: corruption "
    "overrides the reaction to losses, as §3.1 has it, and ns-3's Vegas goes on to steer by delay. *No window* but "
    'the peer\'s (`congestion = "none"`), as Table 2 has it. *The window grows from 1*: that of NewReno, each ACK '
    "adds one, and no loss reduces it. Each of them with a bucket that a timer serves, and with one that only an "
    'ACK or a timeout serves (`rate_control.release = "acks"`): ns-3\'s TCP of 2017 has no timer for sending. Rate '
    "control is the same program in Fig. 3, so that a reading is judged by the numbers of Fig. 3 at 5 kbit/s, too.",
    "**A bucket that only ACKs serve** explains neither figure. It holds five packets, so that at most 274 kbit/s "
    "of payload leave with an ACK each 69 ms, and 189 with one each 0.1 s, where Fig. 3 has 800. And ACKs come more"
    " rarely than that: the receiver's timer starts with an arrival, so that a burst, its ACK and the next burst "
    "take a round trip and the interval, and the throughput depends on the delay.",
)


def reproduce(reproduction: Reproduction, effort: Effort) -> None:
    """Fill a reproduction with every item."""
    effort.progress("Figs. 3 and 4: a narrow return link")
    run = asymmetry.Asymmetry.run(effort)
    caption = (
        "Fig. 3. Throughput by the ratio of the rates: on the left what is judged, dotted the model of ns-3's rules; "
        "on the right other readings of SCPS-TP. Squares are ns-3.37's, crosses are the paper's numbers."
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
    """Questions that the paper leaves open."""
    effort.progress("beyond the paper: NewReno after an overshoot")
    reproduction.add(overshoot.rows(overshoot.Overshoot.run(effort)))
    reproduction.notes += overshoot.NOTES

    effort.progress("beyond the paper: SNACK, SACK and RACK")
    repair = repairs.Repairs.run(effort)
    caption = (
        "Beyond the paper. Rate control alone with four ways to learn of losses; dotted what rate and losses allow."
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
    caption = (
        "Beyond the paper. How much later than an outage is long a file of 5 MB is there; dots are runs, lines means."
    )
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
