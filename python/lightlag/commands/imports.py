"""``lightlag import``: measurements as scenarios."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from lightlag.commands.numbers import finite
from lightlag.errors import InputError
from lightlag.files import destinations
from lightlag.text.terminal import printable, say

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A measurement: a trace, the output of a tool, a table, a capture.")
]
Kind = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="KIND",
        help="iperf3, iperf, nuttcp, ping, fping, irtt, lens, mahimahi, delays, csv, hypatia, hypatia-network, ns2, "
        "ns3, bonnmotion, sumo, har or capture; default: by its contents.",
    ),
]


def import_(
    file: File,
    kind: Kind = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Scenario file to write; default: NAME.toml, or NAME-2.toml and so on."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the scenario; default: the name of the file.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            "-c",
            metavar="KEY=COLUMN:UNIT",
            help="Column of a table: time, rate, down, up, delay, rtt or loss, as rate=mbps:Mbit/s; time, delay and "
            "loss also as down_time, up_time and so on. May be repeated.",
        ),
    ] = None,
    up: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Measurement of the direction to the server; FILE is then of the direction to the client.",
        ),
    ] = None,
    delays: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Delays and losses, where FILE has rates: ping, irtt, a table, or a delay on each line.",
        ),
    ] = None,
    rate: Annotated[str | None, typer.Option(metavar="RATE", help='Rate of the link, such as "20 Mbit/s".')] = None,
    delay: Annotated[
        str | None, typer.Option(metavar="TIME", help='One-way delay of the link, such as "20 ms".')
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VALUE", help="Value of a table that means 'no value', such as 0 or 999. May be repeated."
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=1e-6,
            max=1e6,
            callback=finite,
            help="Time between two probes of a ping without times, or two delays of a list; default: from the summary "
            "of the ping, or 1; of a list 0.01.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace files that exist.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    r"""Convert a measurement to a scenario: a commented file that runs, and the trace that it names.

    \b
    lightlag import test.json                       iperf3 --json, irtt, also compressed (gzip, xz, zstd, zip, ...)
    lightlag import ping.txt --rate "20 Mbit/s"     the output of ping or fping, in any language
    lightlag import cell.down --delay "20 ms"       mahimahi
    lightlag import log.csv -c time=t:ms -c down=dl_mbps:Mbit/s -c up=ul_mbps:Mbit/s --delay "20 ms"
    lightlag import down.csv --up up.csv --delays ping.txt        a file for each direction, and one for delays
    lightlag import bw.txt --delays delay.txt       LeoReplayer: mahimahi, and a delay for each 10 ms
    lightlag import networkx_rtt_0_to_1.txt --rate "10 Mbit/s"    Hypatia
    lightlag import satellite_network_state         a network of Hypatia: the directory with its files
    lightlag import swarm.ns_movements              ns-2, ns-3, BonnMotion, SUMO
    lightlag import page.har                        a page load that a browser has recorded
    lightlag import real.pcapng                     the path of its largest connection
    """
    from lightlag import imports
    from lightlag.commands.files import put
    from lightlag.files.output import is_stream, say_written

    if out is not None and out.suffix.lower() == ".json":
        raise InputError(
            f"--out {printable(out)}: import writes TOML; write --out {printable(out.with_suffix('.toml'))}"
        )
    options = imports.Options(rate, delay, interval, tuple(columns or ()), tuple(missing or ()), up, delays)
    chosen = out.name.removesuffix(".toml") if name is None and out is not None else name
    page = imports.to_scenario(file, kind=kind, name=chosen, options=options)
    usual = f"{page.name}.toml"
    if out is None and name is None and not force and os.path.lexists(usual):
        # The trace next to it is also named after the scenario.
        free = next(one for one in destinations.names(page.name) if not os.path.lexists(f"{one}.toml"))
        page = imports.to_scenario(file, kind=kind, name=free, options=options)
    scenario = out if out is not None else Path(f"{page.name}.toml")
    files = {scenario.with_name(name): text for name, text in page.files.items()}
    for path in put(
        files | {scenario: page.text}, force=force, inputs=[one for one in (file, up, delays) if one is not None]
    ):
        if not quiet:
            say_written(path)
    if not quiet:
        for warning, place, message in page.check():
            say(f"warning: {scenario}: {place}: {message} [{warning}]", file=sys.stderr)
    if not quiet and not is_stream(scenario):
        why = destinations.instead(scenario, Path(usual)) if out is None else ""
        say(f"now: lightlag run {scenario}{why}")
