"""Reschka et al. 2010: the SACK option, throughput under bit errors with and without SACK, flow control."""

from __future__ import annotations

from lightlag_papers.inet_tcp import bit_errors, figures, sack_option, slow_reader
from lightlag_papers.paper import Effort, Picture, Reproduction

NOTES = (
    "**Fig. 1** sends segments one by one to a receiver of the profile `inet` with SACK, whose peer's first byte has "
    "the number 0, and shows the bytes of the options of its ACKs.",
    "**Assumptions** where the paper is silent: the values of the example in INET: a delay of 0.565 µs, a receive "
    "window of 65,535 B, every segment acknowledged, Nagle, no limited transmit, an initial window of one segment, "
    "neither scaling nor timestamps, a queue of 100 packets, 100 MiB and an end after 60 s, and the list of bit "
    "error rates. Errors affect both directions. The retransmission timeout is INET's: 3 s initially, a minimum of "
    "1 s, a gain of 1/8. The transfer starts after 1.2 s: then 58.8 of 60 s at 10 · 1452/1500 Mbit/s are the "
    "paper's 9.49. Nothing else is adjusted.",
    "**Flow control** is described in §2.2 and §3.2.3 without a figure or values. `slow_reader.toml` has 10 Mbit/s "
    "and the receive buffer of the other network, 10 ms, and an application that reads 100 kB/s. The window is "
    "observed at the receiver.",
    "**The timeout of 1 s determines the curves.** A round trip takes up to 54 ms, mostly in the queue, so that a "
    "loss repaired by fast recovery costs little, and a timeout costs hundreds of segments. Reno without SACK "
    "leaves fast recovery with the first new ACK, and often receives fewer than three duplicate ACKs for the next "
    "loss of the same window.",
    "**The model** of the column *closed form or model* is an independent program (`model.py`): a link with a "
    "constant loss probability, no delay, no lost ACKs, timeouts of exactly 1 s with exponential backoff.",
)


def reproduce(reproduction: Reproduction, effort: Effort) -> None:
    """Fills a reproduction with all items."""
    effort.progress("Fig. 1: the SACK option")
    acks = sack_option.run()
    reproduction.add(sack_option.rows(acks))
    reproduction.layouts.append(sack_option.layout(acks))

    effort.progress("Fig. 3: throughput under bit errors")
    run = bit_errors.BitErrors.run(effort)
    caption = (
        "Fig. 3. Throughput of Reno against the bit error rate, with 95 % intervals over the seeds; below it the same "
        "with limited transmit, which the paper does not show."
    )
    reproduction.add(bit_errors.rows(run), [Picture("fig3", figures.throughput(run), caption)], NOTES)
    reproduction.layouts += bit_errors.layouts(run)

    effort.progress("flow control: a slow reader")
    reproduction.add(slow_reader.rows())
