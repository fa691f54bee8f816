"""The table of the downloads, and the validation page."""

from __future__ import annotations

import platform
from collections.abc import Sequence

from interop_quic.cells import AIOQUIC, COMPUTING, SEEDS, TOLERANCE
from interop_quic.programs import quinn_version
from interop_quic.rows import Comparison, Row
from lightlag_papers.table import markdown_table
from lightlag_papers.validation.pages import Page

HEADER = [
    "path",
    "stack",
    "size",
    "credit",
    "measured",
    "simulated",
    "ratio",
    "first byte",
    "simulated",
    "ratio",
    "verdict",
]


VERSIONS = (
    "aioquic 1.2.0 retransmits handshake data 0.2 s after its first transmission, before an answer over GEO can "
    "arrive, and reduces its window each time. Version 1.7.2 does not: over GEO it takes 5.07 s for 1 MB and 9.29 s "
    "for 10 MiB. With `initial_rtt` of 0.6 s, which avoids these timeouts, 1.2.0 in virtual time takes 4.94 s "
    "and 9.15 s."
)
"""Difference of the profile's version of aioquic from a later one, measured once."""


def table(rows: Sequence[Row]) -> str:
    """Returns the rows as a table. Times are in seconds."""
    return markdown_table(HEADER, [_entries(row) for row in rows])


def _entries(row: Row) -> list[str]:
    cell = row.cell
    start = [cell.path.title(), cell.stack, cell.size, cell.credit()]
    if row.failure:
        return [*start, *["–"] * 6, "failed"]
    return [*start, *_times(row.done, 2), *_times(row.first_byte, 3), row.verdict()]


def _times(compared: Comparison, digits: int) -> list[str]:
    return [f"{compared.measured:.{digits}f}", f"{compared.simulated:.{digits}f}", f"{compared.ratio:.2f}"]


def page(rows: Sequence[Row]) -> Page:
    """Returns the validation page."""
    judged = [row for row in rows if row.verdict() in ("ok", "deviates", "failed")]
    good = sum(row.verdict() == "ok" for row in judged)
    computing = sum(row.verdict() == "computing" for row in rows)
    handshakes = [row for row in rows if not row.failure and not row.cell.path.loss and row.cell.size == "1 MB"]
    shown = ", ".join(
        f"{row.cell.stack} over {row.cell.path.title()} {row.median(lambda one: one.handshake.seconds):.3f} s"
        for row in handshakes
        if row.cell.window is not None
    )
    body = [
        f"aioquic {AIOQUIC} and quinn {quinn_version()} on Linux {platform.release().split('-')[0]} download between "
        "two network namespaces, over a path that `lightlag emulate` provides in real time. The simulation has the "
        "path and the profile of the stack. GEO: 20 and 2 Mbit/s, 300 ms each way; LEO: 100 and 20 Mbit/s, 20 ms each "
        "way; queue of one bandwidth-delay product. Times in seconds start with the client, and end with the last "
        "byte. Raised credit is 30 MB for streams and connection, and for quinn's unacknowledged data.",
        "",
        table(rows),
        f"With random loss the times are medians of {len(SEEDS)} runs, without a verdict. *Computing*: the last byte "
        f"is late, and an endpoint computed or waited for a processor in more than {100 * COMPUTING:.0f} % of the "
        "time. The simulation has no processing times; the processing times of both endpoints until the first byte "
        "are added to its tolerance. This addition, the path at 20 Mbit/s, the nice value of -10 of the stacks and "
        "quinn's larger socket buffer followed the first run; the tolerance and the 50 % preceded it. *Computing* was "
        "then limited to late bytes.",
        "",
        f"Measured handshakes: {shown}.",
        "",
        VERSIONS,
    ]
    result = f"{good} of {len(judged)} downloads agree."
    if computing:
        result += f" The processor of an endpoint limits {computing} more."
    criterion = f"Without random loss, both times are within {100 * TOLERANCE:.0f} % of the simulation."
    return Page("Real QUIC stacks", result, "make interop-quic", "\n".join(body), criterion)
