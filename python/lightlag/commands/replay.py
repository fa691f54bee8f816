"""``lightlag replay``: a real run again, with our sender."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lightlag import _signals
from lightlag.commands import figures
from lightlag.commands.figures import Dpi, Font, Format, Height, Style, Titles, Width
from lightlag.files import destinations
from lightlag.files.writing import check_folder, reserved
from lightlag.text.terminal import print_json, say

if TYPE_CHECKING:
    from lightlag.captures.repetition import Repetition


def replay(
    capture: Annotated[Path, typer.Argument(metavar="CAPTURE", help="A capture of the real run: pcapng or pcap.")],
    flow: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="The connection, by number; default: the one with the most data."),
    ] = None,
    profile: Annotated[str, typer.Option(help='Profile of our TCP; see "lightlag list profiles".')] = "linux",
    congestion: Annotated[str, typer.Option("--congestion", "-c", help="Our congestion control.")] = "cubic",
    lost: Annotated[
        str, typer.Option("--lost", metavar="WHERE", help='Where packets are lost: "after queue" or "before queue".')
    ] = "after queue",
    rate: Annotated[
        str | None, typer.Option("--rate", help='Rate of the bottleneck, such as "20 Mbit/s"; default: inferred.')
    ] = None,
    queue: Annotated[
        int | None,
        typer.Option("--queue", min=1, help="Queue limit in packets, with the packet in service; default: unlimited."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Default: results/replay-NAME or NAME-2."),
    ] = None,
    format: Format = None,
    style: Style = "plain",
    width: Width = None,
    height: Height = None,
    font: Font = None,
    titles: Titles = None,
    dpi: Dpi = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace results that exist.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No tables, no notes.")] = False,
) -> None:
    r"""Repeat a real run, packet by packet, and report how our sender differs from the real one.

    \b
    lightlag replay real.pcapng                       the connection with the most data in it
    lightlag replay real.pcapng --flow 3 -c reno      another one, and another sender
    lightlag replay real.pcapng --rate "20 Mbit/s"    where the rate is known better

    The capture may be taken at the sender or at the receiver. It gives the round trip, the rate and the queue of the
    bottleneck, the packets that were lost (by number), the transfer, the options, the initial window and the receive
    window. Writes scenario.toml, the results of our run, comparison.json and sequence.pdf, or sequence.FORMAT.
    """
    from lightlag.captures.repetition import repeat
    from lightlag.drawing import looks

    look = looks.of(style, width=width, height=height, font=font, titles=titles, dpi=dpi)
    suffix = figures.suffix(format) or ".pdf"
    default = Path("results") / f"replay-{capture.stem}"
    folder = destinations.unused(default, force=force) if out is None else out
    check_folder(folder, force)
    with _signals.raising(), reserved(folder) as work:
        work.mkdir()
        found = repeat(
            capture,
            flow=flow,
            spool=work,
            profile=profile,
            congestion={"reno": "newreno"}.get(congestion, congestion),
            where=lost,
            rate=rate,
            queue=queue,
        )
        try:
            with looks.within(look):
                found.save(folder, force=force, format=suffix[1:])
        finally:
            _print(found, capture, as_json=as_json, quiet=quiet)
    if not quiet:
        why = destinations.instead(folder, default) if out is None else ""
        say(f"results in {folder}{why}", file=sys.stderr if as_json else sys.stdout)


def _print(found: Repetition, capture: Path, *, as_json: bool, quiet: bool) -> None:
    from lightlag.text.table import print_rows

    real = found.real.summary
    if not quiet:
        for note in _notes(real):
            say(f"note: {capture}: {note}", file=sys.stderr)
    if as_json:
        print_json(found.summary)
    elif not quiet:
        print_rows(found.rows(), f"{capture.name}, connection {real['connection']}, seen at the {real['vantage']}")
        print_rows(found.episode_rows(), "repairs")


def _notes(real: dict[str, object]) -> list[str]:
    """Returns notes on the capture for the reader."""
    notes = []
    if real["cut"]:
        notes.append(f"{real['cut']}; what came before is repeated")
    if not real["complete"]:
        notes.append("the sender did not finish in it; as much as was sent is repeated")
    if others := real["others_with_data"]:
        notes.append(f"connection {real['connection']} has the most data; {others} more with --flow")
    if real["opening_bytes"]:
        notes.append(f"the first {real['opening_bytes']} B, which the application exchanged before, are left out")
    path = real["path"]
    if isinstance(path, dict) and path["rate_bps"] is None:
        notes.append("shows too little to infer the rate of the bottleneck; set it with --rate")
    if real["vantage"] == "between":
        notes.append("was taken between the endpoints: earlier losses show as holes, later ones as retransmissions")
    return notes
