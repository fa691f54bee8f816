"""Reschka et al. 2010: the SACK option, throughput under bit errors with and without SACK, flow control."""

from __future__ import annotations

from lightlag_papers.inet_tcp import bit_errors, figures, sack_option, slow_reader
from lightlag_papers.paper import Effort, Picture, Reproduction

NOTES = (
    "**Fig. 1** sends segments one by one to a receiver of the profile `inet` with SACK, whose peer's first byte has "
    "the number 0, and shows the bytes of the options of its ACKs.",
    "**Chosen, because the paper does not say:** the values of the example that the authors ship with INET: a delay of "
    "0.565 µs, a receive window of 65,535 B, every segment acknowledged, Nagle, no limited transmit, an initial window "
    "of one segment, neither scaling nor timestamps, a queue of 100 packets, 100 MiB and an end after 60 s, and the "
    "list of bit error rates. Errors hit both directions. The retransmission timeout is INET's: 3 s at first, at least "
    "1 s, a gain of 1/8. The transfer starts after 1.2 s: then 58.8 of 60 s at 10 · 1452/1500 Mbit/s are the paper's "
    "9.49. Nothing is adjusted to the other values.",
    "**Flow control** is described in §2.2 and §3.2.3 without a figure and without values. `slow_reader.toml` takes 10 "
    "Mbit/s and the receive buffer of the other network, 10 ms, and an application that reads 100 kB/s. The window is "
    "seen from the receiver: it is given segments as its own window allows, and its ACKs are read.",
    "**What decides the curves** is the timeout of 1 s. A round trip is 54 ms at most, the queue's, so that a loss "
    "repaired by fast recovery costs little, and a timeout costs hundreds of segments. Reno without SACK leaves fast "
    "recovery with the first new ACK, and often has no three duplicate ACKs left for the next loss of the same window.",
    "**The model** of the column *closed form or model* is a program of its own (`model.py`): a link that loses each "
    "segment with the same probability, no delay, no lost ACKs, timeouts of exactly 1 s and their doubles. It shares "
    "no code with the simulator.",
)


def reproduce(reproduction: Reproduction, effort: Effort) -> None:
    """Fill a reproduction with every item."""
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
