"""``lightlag reproduce`` and ``lightlag validate``: papers and validations, provided by lightlag-papers."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from lightlag import _signals
from lightlag.commands.application import MAX_JOBS
from lightlag.errors import CommandError, InputError
from lightlag.files import destinations
from lightlag.text.terminal import meant, print_json, say

GROUP = "lightlag.papers"
"""The entry points of lightlag-papers: ``papers`` by name, ``all`` of them, ``tcp``, ``kernel``, ``measured``
and ``quic``."""
FAILED = 1
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace results that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no warnings, no table.")]


def installed(name: str) -> Any:
    """Returns the object of an entry point of lightlag-papers.

    Raises
    ------
    InputError
        If lightlag-papers is not installed.
    """
    for entry in metadata.entry_points(group=GROUP, name=name):
        return entry.load()
    raise InputError("papers: need lightlag-papers, which is not installed; pip install 'lightlag[papers]'")


def papers() -> Mapping[str, Any]:
    """Returns the papers by name."""
    there: Mapping[str, Any] = installed("papers")
    return there


def reproduce(
    paper: Annotated[
        str, typer.Argument(metavar="PAPER", help='One of "lightlag list papers", such as scps-ns3; or all.')
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Default: results/PAPER, results/papers of all; or NAME-2 and so on."
        ),
    ] = None,
    force: Force = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, max=MAX_JOBS, help="Runs at the same time; default: one per processor."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs for each item with a spread; default: set by its check.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object; write results only if --out names a directory.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Reproduce the figures of a paper: value in the paper, model, our value and verdict for each item.

    all: every paper, one table of verdicts, and one page index.html with the figures. Finished papers, and the
    finished runs of fanet, are stored; after an interruption, the same command runs the rest.
    """
    from lightlag.machine.processors import processors

    there = papers()
    if paper != "all" and paper not in there:
        raise InputError(f'no paper "{paper}"; {meant(paper, there)}name one of {", ".join(there)}, or all')
    folder = out
    jobs, quiet = processors() if jobs is None else jobs, quiet or as_json
    if folder is None and not as_json:
        default = Path("results") / ("papers" if paper == "all" else paper)
        folder = destinations.unused(default, force=force)
        if folder != default and not quiet:
            say(f"results go to {folder}{destinations.instead(folder, default)}", file=sys.stderr)
    if paper == "all":
        record = installed("all")(there.values(), folder, force=force, jobs=jobs, seeds=seeds, quiet=quiet).record()
    else:
        record = there[paper].reproduce(folder, force=force, jobs=jobs, seeds=seeds, quiet=quiet).record()
    if as_json:
        print_json(record)


def validate(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="tcp, kernel, measured, quic, congestion or bbr.")],
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="congestion: an algorithm, or its table: \"{ algorithm = 'cubic', beta = 0.8 }\"."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Directory of the pages; their index is DIR.md. Default: docs/validation; for congestion: "
            "results/NAME-validation; for bbr: results/NAME-bbr-cases.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, max=MAX_JOBS, help="Runs at the same time; default: one per processor."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs per item of a paper with a spread; default: set by its check.")
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            metavar="TEXT", help="kernel: only cells whose description contains this; no page. bbr: only such cases."
        ),
    ] = "",
    short: Annotated[bool, typer.Option("--short", help="kernel: a few cells that take seconds; no page.")] = False,
    kept: Annotated[
        Path, typer.Option(metavar="FILE", help="kernel: file of earlier runs, which are not repeated.")
    ] = Path("results/kernel.jsonl"),
    rerun: Annotated[
        bool, typer.Option("--rerun", help="kernel: repeat the runs, and replace the stored ones.")
    ] = False,
    replications: Annotated[
        int | None,
        typer.Option(
            "--replications", "-n", min=1, help="congestion, bbr: runs at each point, with consecutive seeds; 3."
        ),
    ] = None,
    congestion: Annotated[
        str | None,
        typer.Option("--congestion", metavar="NAME", help="bbr: the algorithm, or its table; also a custom one. bbr3."),
    ] = None,
    section: Annotated[
        str | None, typer.Option(metavar="NAME", help="measured: netem, hystart, starlink, geo or pages; default: all.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DIRECTORY", help="measured: compare your own measurements in this directory instead."),
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="measured: scenario for --data; default: fitted to half of the data."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="congestion, bbr: replace results that exist.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with all verdicts.")] = False,
    quiet: Quiet = False,
) -> None:
    """tcp: run every check: closed forms, response functions of every algorithm, and the papers. Takes a few minutes.

    kernel: run the kernel's reno, cubic and bbr over emulated paths, and ours over the same paths in simulation: exact
    loss patterns, completion times, bulk flows. Needs root and an idle machine; takes a few minutes. Runs of the kernel
    are stored; after an interruption, the same command runs the rest.

    measured: compare models of real links with measurements of them, one row per measured fact; a few minutes. Finished
    runs are stored; after an interruption, the same command runs the rest.

    quic: run the experiment cards of QUIC: printed times and goodputs of picoquic, quinn, quic-go and others, and QUIC
    and TCP with equal constants. About a minute of CPU time. Finished runs are stored; after an interruption, the same
    command runs the rest.

    congestion NAME: check one algorithm: response to loss, fairness to itself, to CUBIC and between round-trip times,
    queue, scenes, invariants. About a minute of CPU time.

    bbr: run the test cases of draft-ietf-ccwg-bbr with an algorithm: states, PROBE_RTT, aggregation, changes of
    bandwidth, policers, spurious losses. About a minute of CPU time.

    Prints the tables of the algorithms and writes a page per subject. The command fails if a check does not hold.
    """
    from lightlag.commands import congestion as assessments
    from lightlag.machine.processors import processors

    quiet = quiet or as_json
    if what == "bbr" and name is not None:
        raise InputError(f'"{name}": bbr takes no name; write lightlag validate bbr --congestion {name}')
    if what == "bbr":
        assessments.validate_bbr(
            congestion, only, out=out, force=force, replications=replications, jobs=jobs, as_json=as_json, quiet=quiet
        )
        return
    if congestion is not None:
        raise InputError(
            f"--congestion: belongs to validate bbr; write lightlag validate bbr --congestion {congestion}"
        )
    if what == "congestion":
        assessments.validate(
            name, out=out, force=force, replications=replications, jobs=jobs, as_json=as_json, quiet=quiet
        )
        return
    if name is not None:
        raise InputError(f'"{name}": {what} takes no name; write lightlag validate congestion {name}')
    if what == "measured":
        _measured(
            out, section, data, scenario, jobs=processors() if jobs is None else jobs, as_json=as_json, quiet=quiet
        )
        return
    out = Path("docs/validation") if out is None else out
    if what == "quic":
        with _signals.raising():
            cards = installed("quic")(out, jobs=processors() if jobs is None else jobs, quiet=quiet)
        if as_json:
            print_json(cards.record())
        return
    if what == "kernel":
        with _signals.raising():
            measured = installed("kernel")(
                out, seeds=seeds, jobs=jobs, only=only, short=short, kept=kept, again=rerun, quiet=quiet
            )
        if as_json:
            print_json(measured.record())
        if outside := measured.failures():
            raise CommandError(FAILED, "\n".join(outside))
        return
    if what != "tcp":
        raise InputError(f'cannot validate "{what}"; name tcp, kernel, measured, quic, congestion or bbr')
    found = installed("tcp")(out, jobs=processors() if jobs is None else jobs, seeds=seeds, quiet=quiet)
    if as_json:
        print_json(found.record())
    if failures := found.failures():
        raise CommandError(FAILED, f"{len(failures)} checks do not hold; see the pages in {out}")


def _measured(
    out: Path | None,
    section: str | None,
    data: Path | None,
    scenario: Path | None,
    *,
    jobs: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Runs the scorecard of measured facts, or compares the user's own measurements."""
    if scenario is not None and data is None:
        raise InputError("--scenario needs measurements to compare with; name their directory with --data")
    if section is not None and data is not None:
        raise InputError("--section names a part of the scorecard, which --data replaces; leave one out")
    if out is None and section is None and data is None:
        out = Path("docs/validation")
    with _signals.raising():
        card = installed("measured")(out, section=section, data=data, scenario=scenario, jobs=jobs, quiet=quiet)
    if as_json:
        print_json(card.record())
