"""The parts of ``lightlag compare``: its options, its plan, and the continuation of an interrupted comparison."""

from __future__ import annotations

import itertools
import json
import os
import shlex
import textwrap
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightlag.errors import InputError, Interrupted

if TYPE_CHECKING:
    from lightlag.comparison.comparison import Comparison
    from lightlag.comparison.painters import Painter
    from lightlag.outcomes.plan import Plan

__all__ = [
    "Congestion",
    "Figures",
    "Transport",
    "Vary",
    "conclude",
    "formats",
    "helpers",
    "labels",
    "notes",
    "plan",
    "record",
    "run",
    "study",
    "with_transport",
]

Congestion = Annotated[
    list[str] | None,
    typer.Option(
        "--congestion",
        "-c",
        metavar="NAMES",
        help='Algorithms, separated by commas; default: all. "cubic/bbr" lets two compete: flows use them in turn. '
        """A table sets parameters: "{ algorithm = 'cubic', beta = 0.8 }". "CUBIC: cubic" sets the label in tables """
        "and figures. May be repeated.",
    ),
]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        "-v",
        metavar="KEY=V1,V2,...",
        help="Run every algorithm with each value of a key, as --set takes it: links.1.loss=0,1e-4,1e-3. May be "
        'repeated: every combination. "PER: links.1.loss+links.2.loss=0,1e-3" adds a label and sets two keys; '
        "rtt=50 ms,250 ms sets the maximum delay on the path to these round-trip times.",
    ),
]
Transport = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help='Transports of flows that name none, separated by commas: "tcp,quic" runs everything with both.',
    ),
]
Figures = Annotated[
    str | None,
    typer.Option(
        metavar="FORMATS",
        help='Figures for print: pdf, svg, png. The report has its own; "none" omits the report.',
    ),
]


SHORT_S = 1000.0
"""Threshold in simulated seconds, the sum over all runs: shorter comparisons render figures without extra processes."""


def formats(text: str | None) -> tuple[str, ...]:
    """Returns the formats of figures that ``--figures`` names; none without the option."""
    if text is None:
        return ()
    from lightlag.comparison.saving import FORMATS

    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if names in ((), ("none",)):
        return ()
    for name in names:
        if name not in FORMATS:
            raise InputError(f'--figures {text}: "{name}" is not one of {", ".join(FORMATS)} and none')
    return names


def labels(texts: list[str] | None, of: Plan, formats: tuple[str, ...]) -> dict[str, str] | None:
    """Returns the labels of figures that ``--label`` gives; None without the option.

    Raises
    ------
    InputError
        If there are no figures, or if a label names neither an algorithm, a variable nor a metric.
    """
    if not texts:
        return None
    if not formats:
        raise InputError("--label: needs figures for print; add --figures pdf")
    from lightlag.drawing import names
    from lightlag.outcomes.design import MEASURES

    found = names.of_options(texts)
    candidates = [name for one in of.design.competitors for name in (one.label, *one.algorithms)]
    known = [*candidates, *(one.label for one in of.design.variables), *(one.title.lower() for one in MEASURES)]
    names.check_known(found or (), list(dict.fromkeys(known)))
    return found


TRANSPORTS = ("tcp", "quic")
"""The transports with congestion control."""


def with_transport(vary: list[str] | None, transport: str | None) -> list[str]:
    """Returns the variables of a comparison, with the transports as another one."""
    if transport is None:
        return vary or []
    names = [name.strip() for name in transport.split(",") if name.strip()]
    for name in names:
        if name not in TRANSPORTS:
            raise InputError(f'--transport {transport}: "{name}" is not one of {", ".join(TRANSPORTS)}')
    if not names:
        raise InputError("--transport: names no transport; write --transport tcp,quic")
    return [f"transport: defaults.transport={','.join(names)}", *(vary or [])]


def check_is_one(congestion: str, file: str) -> None:
    """Fails if the value is a list of algorithms with commas: a run takes only one."""
    from lightlag.scenario import congestion_names

    names = congestion.split(",")
    if len(names) > 1 and {name.strip() for name in names} <= {*congestion_names()}:
        raise InputError(
            f'--congestion "{congestion}": names several, and a run takes one; "lightlag compare {file} -c '
            f'{congestion}" runs each'
        )


def plan(
    files: list[str], congestion: str | None, vary: list[str], replications: int, changes: list[tuple[str, str]]
) -> Plan:
    """Returns the plan of the runs."""
    from lightlag.outcomes.plan import make
    from lightlag.outcomes.variables import split
    from lightlag.scenario import congestion_names

    known = {*congestion_names()}
    meant = [file for file in files if not Path(file).exists() and {*file.split(",")} <= known]
    if meant:
        listed = ",".join([*([] if congestion is None else [congestion]), *meant])
        what = "is an algorithm, not a scenario" if len(meant) == 1 else "are algorithms, not scenarios"
        raise InputError(f"{', '.join(meant)}: {what}; write -c {shlex.quote(listed)}")
    names = None if congestion is None else [name for name in split(congestion, ",", "--congestion") if name]
    return make(files, names, vary, replications, changes)


def study(
    files: list[str],
    congestion: str | None,
    vary: list[str],
    replications: int,
    changes: list[tuple[str, str]],
    folder: Path,
) -> str:
    """Returns the same runs as a ``study.toml`` in this directory: for more seeds, a target, or a cluster."""
    from lightlag.outcomes.variables import split
    from lightlag.scenario import toml

    sets = dict(changes)
    first = sets.pop("seed", None)
    table: dict[str, Any] = {
        "name": f"{folder.name}-study",
        # Names of presets stay; paths start at the study.
        "scenarios": [os.path.relpath(file, folder) if Path(file).exists() else file for file in files],
    }
    if congestion is not None:
        table["congestion"] = [name for name in split(congestion, ",", "--congestion") if name]
    if first is not None:
        table["seed"] = int(first)
    table |= {"replications": replications, "curves": True}
    varied = dict(_axis(text) for text in vary)
    return toml.document(table | {key: value for key, value in (("vary", varied), ("set", sets)) if value}) + "\n"


def _axis(text: str) -> tuple[str, list[str]]:
    from lightlag.outcomes.variables import split

    name, _, values = text.partition("=")
    return name.strip(), [value for value in split(values, ",", "--vary") if value]


def notes(comparison: Comparison) -> list[str]:
    """Returns notes for the table: possible misunderstandings, and the leg of a flow that is counted."""
    said = []
    for one in comparison.design.competitors:
        runs = {len(outcome.flows.name) for outcome in comparison.of(one.label)}
        if len(one.choices) > 1 and runs and min(runs) < len(one.choices):
            flows = f"{min(runs)} flow{'s' * (min(runs) != 1)}"
            said.append(f"warning: {one.label}: a run has {flows}, so that not all of these algorithms take part")
    legs = {
        flow: leg
        for outcome in comparison.outcomes
        for flow, leg in zip(outcome.flows.name, outcome.flows.leg, strict=True)
        if leg is not None
    }
    if legs:
        shown = ", ".join(f"{leg} of {flow}" for flow, leg in itertools.islice(legs.items(), 3))
        more = f" and {len(legs) - 3} more" if len(legs) > 3 else ""
        said.append(f"note: retransmissions, timeouts and windows refer to the longest leg: {shown}{more}")
    return said


WIDTH = 118
"""Maximum number of characters of a line of the conclusion."""


def conclude(comparison: Comparison) -> str:
    """Returns the conclusion of a comparison as lines of text; empty if there is nothing to compare.

    Metrics other than goodput, which the table shows, have their sentences in the report.
    """
    found = comparison.conclusion
    titles = tuple(f"{measure.title}: " for measure in comparison.measures)
    sentences = [one for one in found.sentences if not one.startswith(titles)]
    if len(comparison.algorithms) == 1 and len(comparison.points) == 1 and not sentences:
        return ""

    def lines(sentence: str, first: str, others: str) -> str:
        options: dict[str, Any] = {"break_on_hyphens": False, "break_long_words": False}
        return textwrap.fill(sentence, WIDTH, initial_indent=first, subsequent_indent=others, **options)

    return "\n".join([lines(found.headline, "", ""), *(lines(one, "- ", "  ") for one in sentences), ""])


def record(comparison: Comparison, folder: Path) -> dict[str, Any]:
    """Design, summary and conclusion of a comparison as plain values; numbers that do not exist are None."""
    rows = comparison.summary.fill_nan(None).to_dicts()
    found = comparison.conclusion
    conclusion = {"headline": found.headline, "sentences": list(found.sentences)}
    return comparison.about() | {"folder": str(folder), "summary": rows, "conclusion": conclusion}


def helpers(of: Plan, jobs: int | None, formats: tuple[str, ...]) -> AbstractContextManager[list[Painter]]:
    """Starts processes that render figures, one fewer than there are simultaneous runs; none for short runs.

    They start during the runs, at the cost of half a second of CPU time each.
    """
    if not formats:
        return nullcontext([])
    from lightlag import _engine
    from lightlag.comparison.painters import painters
    from lightlag.machine.processors import processors

    simulated_s = sum(_engine.seconds(str(json.loads(cell.text)["duration"])) for cell in of.cells)
    is_short = simulated_s * of.design.replications < SHORT_S
    return painters(0 if is_short else (processors() if jobs is None else jobs) - 1)


def run(of: Plan, jobs: int | None, journal: Path, *, shown: bool, fresh: bool) -> Comparison:
    """Makes the remaining runs of a plan, with a progress bar; returns the finished runs after Ctrl-C.

    Parameters
    ----------
    fresh
        Every run is made again. The journal keeps its contents until the first run has finished.
    """
    from lightlag.comparison.running import carry_out
    from lightlag.machine.processors import processors
    from lightlag.text import progress as _progress

    name = str(of.design.scenario["name"])
    try:
        with _progress.of_count(name, shown=shown) as progress:
            return carry_out(of, processors() if jobs is None else jobs, progress, journal, fresh=fresh)
    except Interrupted as error:
        return error.result  # type: ignore[return-value]
