"""``lightlag export``: the path between two nodes over time, for real testbeds."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from lightlag.commands.changes import changes as changes_of
from lightlag.errors import InputError
from lightlag.files import destinations
from lightlag.text.terminal import say

LAST_SEED = 2**63 - 1


def export(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A scenario in TOML or JSON, or the name of a preset.")
    ],
    start: Annotated[str, typer.Option("--from", metavar="A", help="Node at the start of the path.")],
    end: Annotated[str, typer.Option("--to", metavar="B", help="Node at the end of the path.")],
    form: Annotated[str, typer.Option("--as", metavar="FORM", help="mahimahi, theaterq, tc, csv or ntn.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="File to write; of two files, their common start. Default: the names of scenario and nodes, "
            "or that with -2 and so on.",
        ),
    ] = None,
    step: Annotated[str, typer.Option(metavar="TIME", help="Time between two values.")] = "100 ms",
    duration: Annotated[
        str | None,
        typer.Option("--duration", "-d", metavar="TIME", help="Duration; default: the duration in the scenario."),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="KEY=VALUE", help="Change the scenario: links.0.loss=1e-4."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=LAST_SEED, help="Seed of a measured path; replaces the scenario's.")
    ] = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="Measure the path in a run, although it could be computed.")
    ] = False,
    carrier: Annotated[
        str | None,
        typer.Option(metavar="FREQUENCY", help="ntn: carrier frequency of the service link; default: 2 GHz."),
    ] = None,
    validity: Annotated[
        int | None, typer.Option(metavar="SECONDS", help="ntn: ntn-UlSyncValidityDuration, 5 to 900; default: 5.")
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="WHERE", help="ntn: reference point of uplink timing, gateway (default) or satellite."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace files that exist.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    r"""Write the path between two nodes over time, for testbeds that emulate it with real packets.

    \b
    lightlag export geo --from client --to server --as tc                         a script with tc netem
    lightlag export starlink-550 --from London --to Singapore --as theaterq       traces of TheaterQ
    lightlag export cell.toml --from client --to server --as mahimahi -o cell     cell.up and cell.down, for mm-link
    lightlag export leo --from client --to server --as csv                        traces for links of lightlag
    lightlag export iridium --from Oslo --to Anchorage --as ntn --carrier "2 GHz" -o oslo.json

    Rates, delays and losses are computed from the links and the constellation of the scenario. A path over a radio
    medium, or with rain, bandwidth on demand or error correction, is measured by probes in a run. Flows of the scenario
    are left out.
    """
    from lightlag import exports
    from lightlag.files.output import say_written

    exports.check_form(form)
    for name, value in (("carrier", carrier), ("validity", validity), ("reference", reference)):
        if value is not None and form != "ntn":
            raise InputError(f"--{name}: is only for --as ntn; leave it out")
    if measure and form == "ntn":
        raise InputError("--measure: cannot be combined with --as ntn, which is computed from orbits; leave it out")
    if out is not None:
        exports.check_paths(exports.paths_of(form, "", out).values(), force=force)
    usual = exports.NtnOptions()
    options = exports.NtnOptions(
        usual.carrier if carrier is None else carrier,
        usual.validity_s if validity is None else validity,
        usual.reference if reference is None else reference,
    )
    changes = changes_of(sets, seed, duration)
    files = exports.export(scenario, start, end, form, step=step, sets=changes, measure=measure, ntn=options)
    first, *_ = files.paths() if out is None else files.paths(out)
    if out is None and not force:
        free = (dataclasses.replace(files, name=one) for one in destinations.names(files.name))
        files = next(one for one in free if not any(os.path.lexists(path) for path in one.paths()))
    written = files.save(out, force=force)
    for path in written if not quiet else ():
        say_written(path)
    if not quiet:
        is_piped = out is not None and str(out) == "-"
        why = destinations.instead(written[0], first)
        say(f"{files.about}{why}", file=sys.stderr if is_piped else sys.stdout)
