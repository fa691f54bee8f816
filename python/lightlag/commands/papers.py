"""``lightlag reproduce`` and ``lightlag validate``: papers and validations, which lightlag-papers has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from lightlag import _signals
from lightlag.commands.application import MAX_JOBS
from lightlag.errors import CommandError, InputError
from lightlag.text.terminal import meant, plain

GROUP = "lightlag.papers"
"""The entry points that lightlag-papers has: ``papers`` by name, ``all`` of them, ``tcp`` and ``kernel``."""
FAILED = 1
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace results that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no warnings, no table.")]


def installed(name: str) -> Any:
    """What an entry point of lightlag-papers gives.

    Raises
    ------
    InputError
        If lightlag-papers is not installed.
    """
    for entry in metadata.entry_points(group=GROUP, name=name):
        return entry.load()
    raise InputError("papers: need lightlag-papers, which is not installed; pip install 'lightlag[papers]'")


def papers() -> Mapping[str, Any]:
    """The papers by name."""
    there: Mapping[str, Any] = installed("papers")
    return there


def reproduce(
    paper: Annotated[
        str, typer.Argument(metavar="PAPER", help='One of "lightlag list papers", such as scps-ns3; or all.')
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Default: results/PAPER, results/papers of all.")
    ] = None,
    force: Force = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, max=MAX_JOBS, help="Runs at the same time; default: one a processor."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs for each item with a spread; default: set by its check.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object; write a folder only if --out names it.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Reproduce a paper's figures: paper's value, model, ours and verdict, item by item.

    all: every paper, one table of verdicts, and one page index.html with the figures. If it is interrupted, finished
    papers are kept, and the same command continues with the others. So are the finished runs of fanet, of which there
    are more than a thousand.
    """
    from lightlag.machine.processors import processors

    there = papers()
    if paper != "all" and paper not in there:
        raise InputError(f'no paper "{paper}"; {meant(paper, there)}name one of {", ".join(there)}, or all')
    folder = out
    if folder is None and not as_json:
        folder = Path("results") / ("papers" if paper == "all" else paper)
    jobs, quiet = processors() if jobs is None else jobs, quiet or as_json
    if paper == "all":
        record = installed("all")(there.values(), folder, force=force, jobs=jobs, seeds=seeds, quiet=quiet).record()
    else:
        record = there[paper].reproduce(folder, force=force, jobs=jobs, seeds=seeds, quiet=quiet).record()
    if as_json:
        print(plain(json.dumps(record)))


def validate(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="tcp, kernel or congestion.")],
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
            help="The pages; their index goes beside it, to DIR.md. Default: docs/validation; of congestion: "
            "results/NAME-judgement.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, max=MAX_JOBS, help="Runs at the same time; default: one a processor."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs for each item of a paper with a spread; default: set by its check.")
    ] = None,
    only: Annotated[
        str, typer.Option(metavar="TEXT", help="kernel: only cells whose description contains this; no page.")
    ] = "",
    short: Annotated[bool, typer.Option("--short", help="kernel: a few cells that take seconds; no page.")] = False,
    kept: Annotated[Path, typer.Option(metavar="FILE", help="kernel: its runs, which are not measured again.")] = Path(
        "results/kernel.jsonl"
    ),
    again: Annotated[
        bool, typer.Option("--again", help="kernel: measure it again, and replace the runs that were kept.")
    ] = False,
    replications: Annotated[
        int | None,
        typer.Option("--replications", "-n", min=1, help="congestion: runs at each point, with consecutive seeds; 3."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="congestion: replace results that exist.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object: every judgement.")] = False,
    quiet: Quiet = False,
) -> None:
    """tcp: run every judge: closed forms, response functions of every algorithm, and the papers. Some minutes.

    kernel: run the kernel's reno, cubic and bbr over emulated paths, and ours over the same paths in simulation:
    exact patterns of losses, completion times, bulk flows. As root, on a machine that does nothing else; some
    minutes. Runs of the kernel are kept, so that an interrupted command continues.

    congestion NAME: judge one algorithm: response to loss, fairness to itself, to CUBIC and between round trips, queue,
    scenes, invariants. About a minute of CPU time.

    Prints the tables of the algorithms and writes a page for each subject. The command fails if something does not
    hold.
    """
    from lightlag.commands import judge
    from lightlag.machine.processors import processors

    quiet = quiet or as_json
    if what == "congestion":
        judge.judge(name, out=out, force=force, replications=replications, jobs=jobs, as_json=as_json, quiet=quiet)
        return
    if name is not None:
        raise InputError(f'"{name}": {what} takes no name; write lightlag validate congestion {name}')
    out = Path("docs/validation") if out is None else out
    if what == "kernel":
        with _signals.raising():
            measured = installed("kernel")(
                out, seeds=seeds, jobs=jobs, only=only, short=short, kept=kept, again=again, quiet=quiet
            )
        if as_json:
            print(plain(json.dumps(measured.record())))
        if outside := measured.failures():
            raise CommandError(FAILED, "\n".join(outside))
        return
    if what != "tcp":
        raise InputError(f'cannot validate "{what}"; name tcp, kernel or congestion')
    found = installed("tcp")(out, jobs=processors() if jobs is None else jobs, seeds=seeds, quiet=quiet)
    if as_json:
        print(plain(json.dumps(found.record())))
    if failures := found.failures():
        raise CommandError(FAILED, f"{len(failures)} judgements do not hold; the pages in {out} name them")
