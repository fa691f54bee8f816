"""``lightlag why``: the cause of a slow transfer, its effect, and the fix."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lightlag import imports
from lightlag.commands.changes import changes
from lightlag.commands.files import put
from lightlag.errors import InputError
from lightlag.files.input import is_capture
from lightlag.scenario import toml
from lightlag.text.terminal import print_json, printable, say

if TYPE_CHECKING:
    from lightlag.diagnosis import Diagnosis
    from lightlag.results.result import Result


def explained(name: str) -> str | None:
    """Explains a cause of a slow transfer by its name in tables; returns None for other names."""
    from lightlag.diagnosis import causes

    for one in causes():
        if one.name.lower() == name.strip().lower():
            head = f"{one.name}: cause of a slow transfer, as lightlag why finds it"
            return f"{head}\n\n  {one.statement}\n  Fix: {one.fix}"
    return None


def why(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A scenario in TOML or JSON, a preset, the results of a run, or a capture of packets."
        ),
    ],
    flow: Annotated[
        str | None,
        typer.Option(
            "--flow",
            "-f",
            help="Name of a flow, or index of a connection of a capture. Default: the slowest flow, or the connection "
            "with the most data.",
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option("--seeds", "-n", min=1, max=1000, help="Number of seeds of a scenario with random events."),
    ] = 10,
    duration: Annotated[str | None, typer.Option("--duration", help="Duration instead of the scenario's.")] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set", "-s", metavar="KEY=VALUE", help="Change the scenario: links.0.loss=1e-4. May be repeated."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the scenario of a capture, in TOML."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    r"""Show why a transfer is slow: the cause, the effect of a run without it, and the fix.

    \b
    lightlag why geo                     the slowest flow
    lightlag why mine.toml -f upload     a flow by its name
    lightlag why results/geo             the scenario of a run
    lightlag why real.pcapng             a transfer in a capture, taken at any point of the path

    The scenario runs again without each possible cause: buffers, the application, slow start, missing SACK, delayed
    ACKs, losses of data and of ACKs, outages, policers, reordering, queues, proxies, other flows. The effect is the
    geometric mean of the ratio of the speeds over the seeds, with its 95 % interval (Student t).

    For a capture, the path, the losses and the limits of the endpoints are inferred. The durations of the transfer in
    the capture and in the model show how well.
    """
    from lightlag.diagnosis import diagnosis
    from lightlag.text.progress import of_count

    _check(file, out)
    with of_count("causes", shown=not quiet and not as_json) as progress:
        found = diagnosis.why(file, flow, seeds=seeds, duration=duration, sets=changes(sets), progress=progress)
    if out is not None and found.observed is not None:
        text = toml.document(found.observed.scenario) + "\n"
        put({out: text}, force=force, inputs=[Path(file)])
    if as_json:
        print_json(found.to_json(), allow_nan=False)
        return
    own = [*(sets or []), *([] if duration is None else [f"duration={duration}"])]
    scenario = file if found.observed is None else out and str(out)
    run = ["lightlag", "run", str(scenario), *(word for one in own for word in ("-s", one))]
    again = run if scenario and not Path(file).is_dir() else None
    print_diagnosis(found, again)


def diagnose_run(result: Result, again: Sequence[str] | None) -> None:
    """Prints the causes of the speed of the slowest flow of a run; `again` is the command of the run."""
    from lightlag.diagnosis import diagnosis
    from lightlag.text.progress import of_count

    with of_count("causes", shown=True) as progress:
        found = diagnosis.why(result, progress=progress)
    say("")
    print_diagnosis(found, again)


def print_diagnosis(found: Diagnosis, again: Sequence[str] | None) -> None:
    """Prints the effects, the cause and the fix.

    Parameters
    ----------
    again
        The command of the run, printed with the change that removes the cause; None if it is not printed.
    """
    from lightlag.text.table import print_rows

    headline = found.headline()
    if rows := found.rows():
        print_rows(rows, headline)
    else:
        say(headline)
    for sentence in found.sentences()[1:]:
        say(sentence)
    if (cause := found.cause) is not None and again is not None:
        changed = (word for one in cause.arguments() for word in ("-s", one))
        say(f"Run without it: {shlex.join([*again, *changed])}")


def _check(file: str, out: Path | None) -> None:
    """Rejects a file without packets, and an output that would not be written."""
    path = Path(file)
    packets = path.is_file() and is_capture(path)
    if out is not None and not packets:
        raise InputError(f"--out {printable(out)}: writes the scenario of a capture, and {printable(file)} is none")
    if not path.is_file() or packets:
        return
    try:
        kind = imports.kind_of(path)
    except InputError:
        return
    raise InputError(f"{printable(file)}: is of kind {kind}, without packets; name a capture, or a scenario")
