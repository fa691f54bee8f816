"""``lightlag compare-capture``: a real connection compared with a simulated one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from lightlag import _signals
from lightlag.commands import figures
from lightlag.commands.figures import Dpi, Font, Force, Format, Height, Style, Titles, Width
from lightlag.commands.inspect import Flow, read
from lightlag.errors import InputError
from lightlag.text.terminal import print_json, say


def compare_capture(
    real: Annotated[Path, typer.Argument(metavar="REAL", help="A capture of real hosts: pcapng or pcap.")],
    simulated: Annotated[
        Path, typer.Argument(metavar="SIMULATED", help="A capture of a simulated run, or a results directory.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FIGURE", help="Figure to write: .pdf, .svg, .png or .pgf.")
    ] = None,
    format: Format = None,
    style: Style = "plain",
    width: Width = None,
    height: Height = None,
    font: Font = None,
    titles: Titles = None,
    dpi: Dpi = None,
    force: Force = False,
    flow: Flow = None,
    simulated_flow: Annotated[
        str | None,
        typer.Option(
            "--simulated-flow",
            metavar="FLOW",
            help="Connection of SIMULATED; in a results directory, the name of a flow.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes.")] = False,
) -> None:
    r"""Compare a real connection with a simulated one: a table of statistics, and a figure.

    \b
    lightlag compare-capture real.pcapng results/geo -o both.pdf
    lightlag compare-capture real.pcapng simulated.pcapng --flow 3 -o both.png

    The figure shows sequence, bytes in flight (for a results directory also the congestion window) and goodput over
    time, starting at the first packet of each connection. Default of --flow: the connection with the most data.
    """
    from lightlag.captures.comparison import CaptureComparison
    from lightlag.captures.sides import Side
    from lightlag.drawing import looks
    from lightlag.files.output import check_file
    from lightlag.text.table import print_rows

    look = looks.of(style, width=width, height=height, font=font, titles=titles, dpi=dpi)
    target = figures.path(out, format, look)
    if target is not None:
        check_file(target, force=force, inputs=[real, simulated])
    sides = []
    for path, name, label in ((real, flow, "real"), (simulated, simulated_flow, "simulated")):
        if label == "simulated" and path.is_dir():
            sides.append(Side.of_folder(path, name))
            continue
        capture, stopped = read(path, quiet=quiet)
        if stopped:
            say(f"error: interrupted after {capture.summary['packets']:,} packets", file=sys.stderr)
            raise typer.Exit(_signals.code())
        if capture.note and not quiet:
            say(f"note: {path}: {capture.note}", file=sys.stderr)
        connection = capture.largest(name)
        if connection.payload_bytes == 0:
            raise InputError(f"{path}: connection {connection.number} carries no data; name another with --flow")
        sides.append(Side.of_capture(connection))
    comparison = CaptureComparison(*sides)
    try:
        if target is not None:
            with looks.within(look):
                comparison.plot(target)
    finally:
        if as_json:
            print_json(comparison.summary)
        else:
            print_rows(comparison.rows(), f"{comparison.real.title} compared with {comparison.simulated.title}")
    if target is not None and not quiet:
        say(target, file=sys.stderr if as_json else sys.stdout)
