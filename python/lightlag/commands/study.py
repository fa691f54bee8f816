"""``lightlag study``: many runs as one file."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightlag import _signals
from lightlag.commands.application import MAX_JOBS
from lightlag.commands.figures import Label
from lightlag.errors import CommandError, InputError
from lightlag.files import destinations
from lightlag.files.writing import check_folder, reserved
from lightlag.text.table import print_rows
from lightlag.text.terminal import print_json, printable, say

if TYPE_CHECKING:
    from lightlag.outcomes.plan import Run
    from lightlag.study.campaign import Campaign
    from lightlag.study.schedule import Schedule
    from lightlag.study.store import Store
    from lightlag.study.study import Study
    from lightlag.study.tables import Tables
    from lightlag.text.table import Row

__all__ = ["add", "export", "merge", "rerun", "resume", "run", "status"]

FAILED = 1
SHOWN = 20
"""Maximum number of printed rows of a table, and of printed failures."""
CONCLUDED = 10_000
"""Maximum number of runs of a study whose conclusion is printed."""

File = Annotated[Path, typer.Argument(metavar="FILE", help="A study in TOML.")]
Place = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="DIR|URL",
        help="Store of finished runs, of this study and others. Default: results/store.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", metavar="DIR", help="Directory of the tables. Default: results/NAME, or NAME-2 and so on."
    ),
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Replace results of another study.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no table.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object per line during the runs, and one at the end.")
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, max=MAX_JOBS, help="Threads; default: one per processor.")
]
Processes = Annotated[
    int | None, typer.Option("--processes", min=1, max=MAX_JOBS, help="Processes of this machine instead of threads.")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE",
        help="A dask cluster instead: tls:// or tcp://HOST:PORT of a scheduler, local, local:4, slurm, pbs or sge.",
    ),
]
Profile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="For slurm, pbs and sge: resources of a worker, in TOML.")
]
Share = Annotated[
    str | None,
    typer.Option("--shard", metavar="I/N", help="Only this part of the runs, for array jobs; see merge."),
]


def run(
    file: File,
    store: Place = None,
    out: Out = None,
    force: Force = False,
    jobs: Jobs = None,
    processes: Processes = None,
    cluster: Cluster = None,
    profile: Profile = None,
    shard: Share = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    r"""Run the part of a study that is not in its store yet, and write its tables.

    \b
    lightlag study run geo.toml                          threads of this machine
    lightlag study run geo.toml --cluster slurm --profile slurm.toml
    lightlag study run geo.toml --shard $SLURM_ARRAY_TASK_ID/64 --store /scratch/store

    Each finished run is stored; after an interruption, the same command runs the rest.
    """
    from lightlag.study import Study
    from lightlag.study.campaign import Where, carry_out
    from lightlag.study.folder import check_place, default
    from lightlag.study.schedule import Shard
    from lightlag.study.store import new_store

    share = None if shard is None else Shard.of(shard)
    study = Study.read(file)
    study.plan()
    folder = _folder(study, out, force=force)
    if share is None:
        check_place(folder, study, force=force, file=file)
    style = "json" if as_json else "quiet" if quiet else "text"
    if style == "text":
        say(_head(study), file=sys.stderr)

    def again(one: Run) -> str:
        where = ["--store", store] if store is not None else []
        return shlex.join(["lightlag", "study", "rerun", str(file), one.key[:12], *where])

    with _signals.held(), new_store(_place(store, folder)) as kept:
        where = Where(jobs, processes, cluster, profile)
        found = carry_out(study, kept, where, shard=share, style=style, repeat=again)
        if share is not None:
            _end_share(found, share, quiet=quiet or as_json)
            return
        with reserved(folder):
            tables = _export(study, kept, folder, list(found.schedule.failures))
        if style == "text":
            _print(study, found.schedule, tables)
            _conclude(study, kept, tables)
            why = "" if out is not None else destinations.instead(folder, default(study))
            say(f"tables in {folder}{why}, runs in {kept.place}")
        if as_json:
            print_json({"event": "tables", "folder": str(folder)} | _counts(found))
        _end(study, found)


def resume(
    file: File,
    store: Place = None,
    out: Out = None,
    force: Force = False,
    jobs: Jobs = None,
    processes: Processes = None,
    cluster: Cluster = None,
    profile: Profile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Resume an interrupted study: like "study run", but only if the store holds runs of it."""
    from lightlag.study import Study

    study = Study.read(file)
    kept = _store(store, _folder(study, out))
    if not any(one.key in kept for one in study.plan().runs()):
        raise InputError(
            f"{printable(kept.place)}: holds no run of {printable(file)} by this version; name its store, or start "
            'with "lightlag study run"'
        )
    run(file, store, out, force, jobs, processes, cluster, profile, None, as_json, quiet)


def status(file: File, store: Place = None, out: Out = None, as_json: AsJson = False) -> None:
    """Show the progress of a study: runs that have finished and failed, and where the target is reached."""
    from lightlag.study import Study
    from lightlag.study.schedule import Schedule

    study = Study.read(file)
    kept = _store(store, _folder(study, out))
    schedule = Schedule(study, kept, dry=True)
    plan = study.plan()
    failures = {key: why for key, why in kept.failures.items() if key in schedule.left}
    if as_json:
        rows = [
            {"congestion": state.cell.congestion, "point": list(state.cell.point), "finished": state.finished}
            | {"seeds": state.limit, "reached": None if state.verdict is None else state.verdict.is_reached}
            for state in schedule.states
        ]
        about = {"study": study.name, "finished": schedule.finished, "total": schedule.total, "store": kept.place}
        print_json(about | {"failures": failures, "cells": rows})
        return
    say(_head(study))
    rows_shown: list[Row] = []
    for label in dict.fromkeys(cell.congestion for cell in plan.cells):
        states = [state for state in schedule.states if state.cell.congestion == label]
        row = {
            "congestion": label,
            "cells": f"{len(states):,}",
            "finished": f"{sum(state.finished for state in states):,}",
            "of": f"{sum(state.limit for state in states):,}",
        }
        if study.target is not None:
            row["target reached"] = f"{sum(bool(one.verdict and one.verdict.is_reached) for one in states):,}"
        rows_shown.append(row)
    print_rows(rows_shown, f"{study.name}: {schedule.finished:,} of {schedule.total:,} runs")
    for key, reason in list(failures.items())[:SHOWN]:
        say(f"failed: {key[:12]}: {reason}")
    if len(failures) > SHOWN:
        say(f"and {len(failures) - SHOWN:,} more that failed")


def add(
    file: File,
    replications: Annotated[
        int | None, typer.Option("--replications", "-n", min=1, help="New number of seeds per cell.")
    ] = None,
    congestion: Annotated[
        list[str] | None, typer.Option("--congestion", "-c", metavar="NAME", help="Another algorithm. May be repeated.")
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", metavar="KEY=V1,V2", help="More values of an axis, or another axis. May be repeated."),
    ] = None,
    scenario: Annotated[
        list[str] | None, typer.Option("--scenario", metavar="FILE", help="Another scenario. May be repeated.")
    ] = None,
) -> None:
    """Add seeds, algorithms, values or scenarios to a study. Its file changes; finished runs stay finished."""
    from lightlag.files.output import write_text
    from lightlag.study.changes import added

    text, study = added(file, replications, congestion or [], vary or [], scenario or [])
    write_text(file, text)
    say(f"{file}: {len(study.plan().cells):,} cells, {study.max_runs:,} runs; make them with lightlag study run {file}")


def merge(
    stores: Annotated[list[str], typer.Argument(metavar="STORE...", help="Stores to copy from.")],
    into: Annotated[str, typer.Option("--into", metavar="DIR|URL", help="The store that takes their runs.")],
    as_json: AsJson = False,
) -> None:
    """Copy the runs of stores into one. A run that both hold must be the same in both."""
    from lightlag.study.store import merge as copied
    from lightlag.study.store import new_store, open_store

    others = [open_store(one, make=False) for one in stores]
    with new_store(into) as target:
        counts = [{"store": other, "new": count} for other, count in copied(target, others)]
    if not as_json:
        for one in counts:
            say(f"{one['store']}: {one['new']:,} new runs")
    if as_json:
        print_json({"into": target.place, "runs": len(target), "stores": counts})
    else:
        say(f"{target.place}: {len(target):,} runs")


def export(
    file: File,
    store: Place = None,
    out: Out = None,
    force: Force = False,
    report: Annotated[bool, typer.Option("--report", help="Also write report.html, to OUT/report.")] = False,
    figures: Annotated[
        str | None, typer.Option(metavar="FORMATS", help="With --report: figures for print next to it: pdf, svg, png.")
    ] = None,
    label: Label = None,
    as_json: AsJson = False,
) -> None:
    """Write the tables and the report of a study from its store, without making runs."""
    from lightlag.commands.compared import formats as formats_of
    from lightlag.commands.compared import labels as labels_of
    from lightlag.study import Study
    from lightlag.study.folder import check_place, default
    from lightlag.study.schedule import Schedule
    from lightlag.study.tables import comparison

    formats = formats_of(figures)
    study = Study.read(file)
    labels = labels_of(label, study.plan(), formats) if label else None
    folder = _folder(study, out, force=force)
    kept = _store(store, folder)
    check_place(folder, study, force=force, file=file)
    with _signals.held(), reserved(folder):
        tables = _export(study, kept, folder, ())
        if report:
            if tables.runs.is_empty():
                raise InputError(f"{printable(kept.place)}: holds no run of {printable(file)}, and a report needs some")
            total = Schedule(study, kept, dry=True).total
            compared = comparison(study.plan(), kept, study.target, total)
            command = shlex.join(["lightlag", *sys.argv[1:]])
            compared.save(folder / "report", formats=formats, command=command, labels=labels)
    if as_json:
        print_json({"study": study.name, "folder": str(folder), "runs": len(tables.runs)})
    else:
        why = "" if out is not None else destinations.instead(folder, default(study))
        say(f"{len(tables.runs):,} runs: tables{' and report' if report else ''} in {folder}{why}")


def rerun(
    file: File,
    key: Annotated[str, typer.Argument(metavar="KEY", help="The first characters of a run's key.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Directory of the results. Default: results/NAME-KEY, or NAME-KEY-2 and so on.",
        ),
    ] = None,
    force: Force = False,
    store: Place = None,
) -> None:
    """Rerun one run of a study, and write its results as "lightlag run" does, with every record."""
    from lightlag.running.single import run_read
    from lightlag.study import Study
    from lightlag.study.campaign import find, named

    study = Study.read(file)
    one = find(study, key)
    usual = Path("results") / f"{study.name}-{one.key[:12]}"
    folder = destinations.unused(usual, force=force) if out is None else out
    check_folder(folder, force, inputs=[file])
    with _signals.held(), reserved(folder):
        run_read(one.scenario()).save(folder, force=force)
    say(named(study, one))
    say(f"results in {folder}{destinations.instead(folder, usual) if out is None else ''}")


def _folder(study: Study, out: Path | None, *, force: bool = False) -> Path:
    from lightlag.study.folder import place

    return place(study, force=force) if out is None else out


def _place(store: str | None, folder: Path) -> str | Path:
    from lightlag.study.campaign import default_store

    return default_store(folder) if store is None else store


def _store(store: str | None, folder: Path) -> Store:
    """Opens an existing store."""
    from lightlag.study.store import open_store

    return open_store(_place(store, folder), make=False)


def _export(study: Study, store: Store, folder: Path, failed: Sequence[str]) -> Tables:
    from lightlag.study.folder import export as write

    return write(study, store, folder, force=True, failed=failed)


def _head(study: Study) -> str:
    plan = study.plan()
    often = f"{study.replications:,} seeds" if study.target is None else study.target.text
    return f"{study.name}: {len(plan.cells):,} cells, {often}"


def _counts(found: Campaign) -> dict[str, Any]:
    schedule = found.schedule
    return {
        "finished": schedule.finished,
        "total": schedule.total,
        "failed": len(schedule.failures),
        "complete": found.is_complete,
        "interrupted": found.is_interrupted,
    }


def _print(study: Study, schedule: Schedule, tables: Tables) -> None:
    from lightlag.analyse import Interval
    from lightlag.outcomes.design import MEASURES

    names = [one.label for one in study.plan().design.variables]
    rows: dict[tuple[Any, ...], Row] = {}
    measures = {measure.column: measure for measure in MEASURES}
    largest: dict[str, float] = {}
    for entry in tables.summary.iter_rows(named=True):
        if entry["runs"]:
            largest[entry["measure"]] = max(largest.get(entry["measure"], 0.0), entry["mean"])
    for entry in tables.summary.iter_rows(named=True):
        place = tuple(entry[name] for name in ("congestion", *names))
        row = rows.setdefault(place, dict(zip(("congestion", *names), map(str, place), strict=True)))
        measure = measures[entry["measure"]]
        if entry["runs"]:
            interval = Interval(entry["mean"], entry["half_width"], entry["runs"])
            row[measure.title.lower()] = measure.show(interval, largest[entry["measure"]])
            row["runs"] = str(entry["runs"])
    alone = tables.flows.height == tables.runs.height
    titles = [measure.title.lower() for measure in MEASURES if not (measure.column == "jain" and alone)]
    there = [title for title in titles if any(title in row for row in rows.values())]
    keys = ["congestion", *names, *there, "runs"]
    whole = [{key: row.get(key, "–") for key in keys} for row in rows.values()]
    confidence = (
        ""
        if study.target is None
        else f"; {study.target.metric} at {100 * study.target.confidence:g} %, valid at each look"
    )
    print_rows(whole[:SHOWN], f"{study.name}: mean ± 95 % interval{confidence}")
    if len(whole) > SHOWN:
        say(f"and {len(whole) - SHOWN:,} more cells, in summary.csv")
    missed = [state for state in schedule.states if state.verdict is not None and not state.verdict.is_reached]
    for state in missed[:SHOWN]:
        verdict = state.verdict
        assert verdict is not None, "checked above"
        if not verdict.is_over:
            continue
        needed = (
            f"about {verdict.seeds_needed:,} seeds would"
            if verdict.seeds_needed
            else "no run has the measure, and more would not"
        )
        which = ", ".join([state.cell.congestion, *state.cell.point])
        say(f"target not reached: {which}: {needed} reach it", file=sys.stderr)


def _conclude(study: Study, store: Store, tables: Tables) -> None:
    from lightlag.commands.compared import conclude
    from lightlag.study.tables import comparison

    if not 0 < len(tables.runs) <= CONCLUDED or "goodput_bps" not in tables.runs.columns:
        return
    if conclusion := conclude(comparison(study.plan(), store, study.target)):
        say(conclusion)


def _end_share(found: Campaign, share: Any, *, quiet: bool) -> None:
    schedule = found.schedule
    if not quiet:
        say(f"share {share.number} of {share.count}: {schedule.finished:,} of {schedule.total:,} runs have finished")
    if found.is_interrupted:
        raise CommandError(_signals.code(), "interrupted; finished runs are stored, and the same command runs the rest")
    if schedule.failures:
        raise CommandError(FAILED, f"{len(schedule.failures):,} runs failed")


def _end(study: Study, found: Campaign) -> None:
    schedule = found.schedule
    counts = f"{schedule.finished:,} of {schedule.total:,} runs have finished and are stored"
    if found.is_interrupted and not found.is_complete:
        raise CommandError(_signals.code(), f"interrupted; {counts}, and the same command runs the rest")
    if schedule.failures:
        raise CommandError(
            FAILED, f"{len(schedule.failures):,} runs failed; {counts}, and the same command tries again"
        )
    if found.is_spent:
        say(f"the budget is spent: {counts}, and the same command runs the rest", file=sys.stderr)
