"""``lightlag inspect``: the connections of a capture, or the traces of a log in qlog."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from lightlag import _signals
from lightlag.commands import figures
from lightlag.commands.figures import Dpi, Font, Force, Format, Height, Style, Titles, Width
from lightlag.errors import InputError, Interrupted
from lightlag.text.terminal import print_json, printable, say

if TYPE_CHECKING:
    from lightlag.captures.connections import Capture, Connection

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A capture (pcapng or pcap) or a log in qlog, real or of a run.")
]
Flow = Annotated[
    str | None,
    typer.Option(
        "--flow", metavar="FLOW", help='A connection: its number, "HOST", "HOST:PORT" or "HOST:PORT-HOST:PORT".'
    ),
]


def inspect(
    file: File,
    flow: Flow = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FIGURE", help="Draw sequence and bytes in flight: .pdf, .svg, .png or .pgf."
        ),
    ] = None,
    format: Format = None,
    style: Style = "plain",
    width: Width = None,
    height: Height = None,
    font: Font = None,
    titles: Titles = None,
    dpi: Dpi = None,
    force: Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes.")] = False,
) -> None:
    r"""Describe a capture or a log in qlog: connections, retransmissions, round-trip times, windows, ECN, gaps.

    \b
    lightlag inspect real.pcapng                       a row for each direction with data
    lightlag inspect real.pcapng --flow 3              everything about one connection
    lightlag inspect real.pcapng --json | jq '.connections[0].forward.rtt'
    lightlag inspect real.pcapng --flow 3 -o flow.pdf
    lightlag inspect real.pcapng -o flow.pgf --style ieee      a column of a paper
    lightlag inspect server.sqlog                      a row for each endpoint in a log of QUIC

    A truncated or damaged capture is read as far as possible. Ctrl-C prints the part read so far.
    """
    from lightlag.drawing import looks
    from lightlag.files.output import check_file
    from lightlag.qlog.reading import is_log

    look = looks.of(style, width=width, height=height, font=font, titles=titles, dpi=dpi)
    target = figures.path(out, format, look)
    if target is not None:
        check_file(target, force=force, inputs=[file])
    if is_log(file):
        if flow is not None or out is not None:
            raise InputError(f"{printable(file)}: is a log in qlog; --flow and --out need a capture")
        _log(file, as_json=as_json, quiet=quiet)
        return
    capture, stopped = read(file, quiet=quiet)
    selected = capture.select(flow)
    try:
        if target is not None:
            with looks.within(look):
                capture.largest(flow).plot(target)
    finally:
        if as_json:
            print_json(capture.summary | {"connections": [each.summary for each in selected]})
        else:
            _print(capture, selected, flow)
        if capture.note and not quiet:
            say(f"note: {file}: {capture.note}; the part before that is shown", file=sys.stderr)
    if target is not None and not quiet:
        say(target, file=sys.stderr if as_json else sys.stdout)
    if not quiet and not as_json and any(each.summary["forward"]["handshake"] for each in selected):
        say(f"see why a transfer is slow with: lightlag why {printable(file)}", file=sys.stderr)
    if stopped:
        say(f"error: interrupted after {capture.summary['packets']:,} packets", file=sys.stderr)
        raise typer.Exit(_signals.code())


def _log(file: Path, *, as_json: bool, quiet: bool) -> None:
    """Prints the traces of a log."""
    from lightlag.qlog.reading import inspect as read_log
    from lightlag.qlog.trace import trace_rows
    from lightlag.text.table import print_rows

    log = read_log(file)
    if as_json:
        print_json(log.summary)
    else:
        print_rows(trace_rows(log.traces), file.name)
        found = [trace.summary for trace in log.traces]
        events, others = (sum(each[key] for each in found) for key in ("events", "other_events"))
        schema = "the current qlog" if log.schema == "current" else f"qlog {printable(log.schema)}"
        traces = f"{len(found):,} trace{'s' * (len(found) != 1)}"
        print(f"{schema}, {traces}, {events:,} events, {others:,} of them of other types")
    if log.note and not quiet:
        say(f"note: {file}: {log.note}; the part before that is shown", file=sys.stderr)


def read(file: Path, *, quiet: bool) -> tuple[Capture, bool]:
    """Reads a capture with a progress bar; also returns whether Ctrl-C ended the reading early."""
    from lightlag.captures.connections import inspect
    from lightlag.text import progress as _progress

    try:
        with _signals.raising(), _progress.of_capture(file.name, shown=not quiet) as progress:
            return inspect(file, progress=progress), False
    except Interrupted as error:
        return cast("Capture", error.result), True


def _print(capture: Capture, selected: list[Connection], flow: str | None) -> None:
    from lightlag.captures.connections import connection_rows, detail_rows, milliseconds
    from lightlag.text.table import print_rows

    print_rows(connection_rows(selected), capture.path.name)
    if (more := len(selected) - 20) > 0:
        say(f"and {more:,} more connection{'s' * (more > 1)}, with less data")
    if flow is not None and len(selected) == 1:
        (connection,) = selected
        print_rows(detail_rows(connection), "")
        if (rtt := connection.summary["initial_rtt_s"]) is not None:
            say(f"round-trip time of the handshake: {milliseconds(rtt)}")
        if (rtt := connection.summary["rtt_s"]) is not None:
            seen = connection.summary["vantage"]
            where = (
                "" if seen is None else {"between": ", seen between them"}.get(seen, f", seen at the {seen} of data")
            )
            say(f"round-trip time between the ends, typical: {milliseconds(rtt)}{where}")
    print(_overview(capture))


def _overview(capture: Capture) -> str:
    found = capture.summary
    parts = [f"{found['packets']:,} packet{'s' * (found['packets'] != 1)} in {found['duration_s']:.6g} s"]
    number = len(found["connections"])
    parts += [f"{found['tcp_packets']:,} of TCP in {number:,} connection{'s' * (number != 1)}"]
    parts += [f"{count:,} {kind}" for kind, count in sorted(found["others"].items())]
    if omitted := found["omitted"]["connections"]:
        parts.append(f"{omitted:,} small connections with {found['omitted']['packets']:,} packets not listed")
    if found["without_time"]:
        parts.append(f"{found['without_time']:,} packets without a time, so that rates and round trips are unknown")
    return ", ".join(parts)
