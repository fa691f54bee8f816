"""``lightlag why``: the cause of a slow transfer, its effect, and the fix."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from lightlag.commands.changes import changes
from lightlag.text.terminal import print_json, say


def why(
    file: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A scenario in TOML or JSON, a preset, or the results of a run.")
    ],
    flow: Annotated[str | None, typer.Option("--flow", "-f", help="Name of a flow. Default: the slowest one.")] = None,
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
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    r"""Show why a transfer is slow: the cause, the effect of a run without it, and the fix.

    \b
    lightlag why geo                     the slowest flow
    lightlag why mine.toml -f upload     a flow by its name
    lightlag why results/geo             the scenario of a run

    The scenario runs again without each possible cause: buffers, the application, slow start, missing SACK, delayed
    ACKs, losses of data and of ACKs, outages, policers, reordering, queues, proxies, other flows. The effect is the
    geometric mean of the ratio of the speeds over the seeds, with its 95 % interval (Student t).
    """
    from lightlag.diagnosis import diagnosis
    from lightlag.text.progress import of_count
    from lightlag.text.table import print_rows

    with of_count("causes", shown=not quiet and not as_json) as progress:
        found = diagnosis.why(file, flow, seeds=seeds, duration=duration, sets=changes(sets), progress=progress)
    if as_json:
        print_json(found.to_json(), allow_nan=False)
        return
    first, *others = found.sentences()
    of = f", mean of {found.seeds} seeds" if found.seeds > 1 else ""
    if rows := found.rows():
        print_rows(rows, f"{first}{of}")
    else:
        say(f"{first}{of}")
    for sentence in others:
        say(sentence)
    if (cause := found.cause) is not None and not Path(file).is_dir():
        own = [*(sets or []), *([] if duration is None else [f"duration={duration}"])]
        changed = " ".join(f"-s {shlex.quote(one)}" for one in [*own, *cause.arguments()])
        say(f"Run without it: lightlag run {shlex.quote(file)} {changed}")
