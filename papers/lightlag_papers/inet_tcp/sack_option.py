"""The reports of a receiver about data above a hole: Fig. 1 (§2.1)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from lightlag import _engine
from lightlag_papers.table import Layout, Row

TCP = {"profile": "inet", "sack": True}
SEGMENT = 1000
ARRIVALS = (0, 1000, 2000, 3000, 4000, 5000, 7000, 6000)
"""Sequence numbers of the segments in the order of arrival: five segments, one more, the segment after the lost one,
and the retransmission of the lost one, which the figure does not show.
"""
HEADER_BYTES = 20


@dataclass(frozen=True)
class Ack:
    """An acknowledgement that the receiver sent.

    Attributes
    ----------
    arrival
        Sequence number of the segment that it acknowledges.
    number
        The acknowledgement number.
    options
        The bytes of the options.
    """

    arrival: int
    number: int
    options: bytes

    @property
    def hex(self) -> str:
        """The options as hexadecimal bytes."""
        return self.options.hex(" ")


def option(*blocks: tuple[int, int]) -> bytes:
    """Returns a SACK option preceded by two NOPs (RFC 2018 §3): kind 5, length 8 n + 2, and the edges of each block.

    Examples
    --------
    >>> option((7000, 8000)).hex(" ")
    '01 01 05 0a 00 00 1b 58 00 00 1f 40'
    """
    edges = b"".join(edge.to_bytes(4, "big") for block in blocks for edge in block)
    return bytes([1, 1, 5, 8 * len(blocks) + 2]) + edges


def run() -> list[Ack]:
    """Sends the figure's segments to our receiver one after another, and returns its ACKs."""
    answers = _engine.answers(json.dumps(TCP), [(first, SEGMENT) for first in ARRIVALS])
    return [Ack(first, number, options) for first, (number, _, options) in zip(ARRIVALS, answers, strict=True)]


def rows(acks: list[Ack]) -> list[Row]:
    """Returns the rows for the figure's numbers and for each byte of the option."""
    *before, report, after = acks
    expected = option((7000, 8000))
    return [
        Row.claim(
            "Fig. 1",
            "acknowledgement numbers of the segments in order",
            "5000, 6000",
            ", ".join(str(ack.number) for ack in before),
            [ack.number for ack in before] == [first + SEGMENT for first in ARRIVALS[:6]],
            "one ACK for each segment, without options",
        ),
        Row.claim(
            "Fig. 1",
            "[7000, 8000) arrives, [6000, 7000) is lost: acknowledgement number and SACK block",
            "6000, 7000-8000",
            f"{report.number}, {'-'.join(str(edge) for edge in _edges(report.options))}",
            (report.number, _edges(report.options)) == (6000, [7000, 8000]),
            "the numbers of the figure",
        ),
        Row.claim(
            "Fig. 1",
            "bytes of the options",
            "8 n + 2 = 10, padded",
            report.hex,
            report.options == expected,
            f"two NOPs, kind 5, length 10, two edges: {len(report.options)} B, a header of "
            f"{HEADER_BYTES + len(report.options)} B",
            theory=f"{expected.hex(' ')} (RFC 2018 §3)",
        ),
        Row.informing(
            "Fig. 1, continued",
            "[6000, 7000) arrives again: acknowledgement number and options",
            f"{after.number}, {after.hex or 'none'}",
            "the figure ends before",
            theory="8000, none",
        ),
    ]


def _edges(options: bytes) -> list[int]:
    """Returns the block edges in a SACK option that is preceded by two NOPs."""
    return [int.from_bytes(options[at : at + 4], "big") for at in range(4, len(options), 4)]


def layout(acks: list[Ack]) -> Layout:
    """Returns the table of the exchange, segment by segment."""
    lines = tuple(
        (f"{ack.arrival}-{ack.arrival + SEGMENT}", str(ack.number), ack.hex, str(HEADER_BYTES + len(ack.options)))
        for ack in acks
    )
    return Layout("fig1", "Fig. 1: segments and their ACKs", ("segment", "ACK", "options", "TCP header, B"), lines)
