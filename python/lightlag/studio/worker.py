"""A worker process that makes runs, comparisons and studies for the server, and reports progress on standard output.

Its task is the first line of standard input, in JSON. When standard input ends, because the task was cancelled or the
server has gone, the process ends as a command does after Ctrl-C: records so far are stored. Each line that it writes is
an event in JSON:

- ``start``: ``name``, ``total`` runs, ``warnings``.
- ``progress``: of a run (``seed``, ``now_s``, ``end_s``, ``events``) or of a comparison (``finished``, ``total``).
- ``status``: of a study, as ``lightlag study status --json``.
- ``result``: ``folder`` and properties of the results that were written there.
- ``failed``: ``message``; ``errors`` with paths where a scenario has errors.
- ``end``: ``cancelled``.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from lightlag import _engine, _signals
from lightlag.errors import AlgorithmError, BusyError, FolderError, InputError, Interrupted, ScenarioError
from lightlag.files.input import read_results
from lightlag.files.writing import check_folder, reserved
from lightlag.machine import memory
from lightlag.text.terminal import plain

__all__ = ["main"]

EVERY_S = 0.1
"""Wall-clock time between two events of a run, in seconds."""
STATUS_S = 0.5
"""Wall-clock time between two events of a study, in seconds."""
PATIENCE_S = 60.0
"""Time limit in seconds to store the records of a cancelled task."""
MOST_FOLDERS = 10_000
"""Maximum number of names that are tried for a new directory."""
_writing = threading.Lock()


def main() -> None:
    """Carries out the task on standard input."""
    _signals.install()
    with _signals.held():
        task = json.loads(sys.stdin.buffer.readline())
        threading.Thread(target=_wait_for_end, daemon=True).start()
        try:
            {"run": _run, "compare": _compare, "study": _study}[task["op"]](task)
        except ScenarioError as error:
            errors = [{"path": path, "message": message} for path, message in error.errors]
            _tell("failed", message=str(error), errors=errors)
        except (InputError, AlgorithmError, OSError) as error:
            _tell("failed", message=str(error))
        except MemoryError:
            _tell("failed", message="out of memory; use a smaller scenario, or fewer runs at the same time")
        _tell("end", cancelled=_signals.asked())
        # A requested signal is not an error of this process.
        os._exit(0)


def _wait_for_end() -> None:
    """Stops the task when standard input ends."""
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(PATIENCE_S)
    os._exit(1)


def _tell(event: str, **values: Any) -> None:
    line = plain(json.dumps({"event": event} | values)) + "\n"
    with _writing:
        try:
            sys.stdout.write(line)
            sys.stdout.flush()
        except OSError:
            # Standard output has no reader left; records are stored nevertheless.
            sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115


def _run(task: dict[str, Any]) -> None:
    """Runs a scenario with each seed; writes a results directory for each, as ``lightlag run --out``."""
    from lightlag.running.single import changes_of
    from lightlag.scenario import read_scenario

    changes = changes_of(task["sets"], duration=task["duration"])
    first = read_scenario(task["scenario"], changes)
    seeds: list[int | None] = task["seeds"] or [None]
    jobs = min(task["jobs"], len(seeds))
    memory.check_network(first, jobs)
    warnings = [*first.warnings(), *memory.check_tables(first, at_once=jobs)]
    _tell("start", name=first.name, total=len(seeds), warnings=[list(one) for one in warnings])

    def one(seed: int | None) -> None:
        if not _signals.asked():
            suffix = f"-seed{seed}" if len(seeds) > 1 else ""
            scenario = read_scenario(task["scenario"], changes if seed is None else [*changes, ("seed", str(seed))])
            with _placed(Path(task["results"]), f"{_folder_name(first.name)}{suffix}") as (folder, _, work):
                _run_one(scenario, folder, work, task["threads"])

    with ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(one, seed) for seed in seeds]:
            done.result()


def _run_one(scenario: _engine.Scenario, folder: Path, work: Path, threads: int) -> None:
    from lightlag.running.single import run_read

    check_folder(folder, space=scenario.results_size())
    seed = json.loads(scenario.json())["seed"]

    def progress(now_s: float, end_s: float, events: int) -> bool:
        _tell("progress", seed=seed, now_s=now_s, end_s=end_s, events=events)
        return not _signals.asked()

    # Captures are stored on the disk of the results until these are saved.
    spool = work if scenario.is_captured else None
    if spool is not None:
        spool.mkdir()
    try:
        result = run_read(scenario, progress, EVERY_S, spool, threads)
    except Interrupted as error:
        result = error.result  # type: ignore[assignment]
    result.save(folder, pages=True)
    facts = {"seed": result.seed, "result_hash": result.result_hash, "interrupted": result.interrupted}
    _tell("result", folder=str(folder), simulated_s=result.simulated_s, wall_s=result.wall_s, **facts)


def _compare(task: dict[str, Any]) -> None:
    """Makes a comparison as ``lightlag compare`` does; resumes it if it was interrupted."""
    from lightlag.comparison import continuing
    from lightlag.comparison.running import carry_out
    from lightlag.outcomes.plan import make
    from lightlag.running.single import changes_of

    changes = changes_of(task["sets"], duration=task["duration"], seed=task["seed"])
    plan = make(task["scenarios"], task["congestion"], task["vary"], task["replications"], changes)
    name = _folder_name(continuing.folder(plan).name)
    notes = [["", line] for line in continuing.before(plan)]
    notes += [list(one) for one in memory.check_plan(plan, task["jobs"])]
    _tell("start", name=name, total=plan.run_count, warnings=notes)

    def progress(finished: int, total: int) -> None:
        _tell("progress", finished=finished, total=total)

    def goes_on(folder: Path) -> bool:
        return continuing.goes_on(plan, folder, force=False)

    with _placed(Path(task["results"]), name, goes_on) as (folder, found, _):
        journal = continuing.journal(folder, goes_on=found)
        try:
            comparison = carry_out(plan, task["jobs"], progress, journal)
        except Interrupted as error:
            comparison = error.result  # type: ignore[assignment]
        if not comparison.outcomes:
            return
        comparison.save(folder, force=found, report=comparison.is_complete, jobs=1)
        journal.unlink(missing_ok=True)
    rows = comparison.summary.fill_nan(None).to_dicts()
    counts = {"finished": len(comparison.outcomes), "complete": comparison.is_complete}
    _tell("result", folder=str(folder), summary=rows, **counts)


def _study(task: dict[str, Any]) -> None:
    """Carries out a study as ``lightlag study run``; runs that its store holds are not made again."""
    from lightlag.studio.studies import told
    from lightlag.study import Study
    from lightlag.study.campaign import Where, carry_out
    from lightlag.study.folder import export
    from lightlag.study.schedule import Schedule
    from lightlag.study.store import open_store

    study = Study.of(task["table"], task["folder"], task["name"])
    store = open_store(Path(task["store"]))
    warnings = [list(one) for one in memory.check_plan(study.plan(), task["jobs"])]
    _tell("start", name=study.name, total=study.max_runs, warnings=warnings)
    last = 0.0

    def progress(schedule: Schedule, *, is_sure: bool = False) -> None:
        nonlocal last
        now = time.monotonic()
        if is_sure or now - last >= STATUS_S:
            last = now
            _tell("status", **told(study, schedule, {key: why for key, (_, why) in schedule.failures.items()}))

    found = carry_out(study, store, Where(jobs=task["jobs"]), progress=progress)
    progress(found.schedule, is_sure=True)
    failures = [why for _, why in found.schedule.failures.values()]
    if found.schedule.finished:
        with _placed(Path(task["results"]), _folder_name(study.name), partial(_is_of, study.name)) as (folder, _, __):
            export(study, store, folder, force=True, failed=list(found.schedule.failures))
        counts = {"finished": found.schedule.finished, "complete": found.is_complete}
        _tell("result", folder=str(folder), **counts)
    if failures:
        count = f"{len(failures):,} {'run' if len(failures) == 1 else 'runs'} failed"
        _tell("failed", message=f"{count}, such as: {failures[0]}; the others remain in the store")


def _is_of(name: str, folder: Path) -> bool:
    """Returns true if a directory has results of the study with this name, which may be overwritten."""
    try:
        return bool(json.loads(read_results(folder / "run.json"))["study"] == name)
    except (OSError, ValueError, KeyError, TypeError):
        return False


@contextmanager
def _placed(
    results: Path, name: str, goes_on: Callable[[Path], bool] = lambda folder: False
) -> Iterator[tuple[Path, bool, Path]]:
    """Reserves a directory of this name, with a number appended if needed, that no other process writes to.

    Yields the directory, whether it holds results to resume, and a directory for working files.

    Raises
    ------
    FolderError
        If no such directory can be reserved.
    """
    for number in itertools.chain([""], (f"-{count}" for count in range(2, MOST_FOLDERS))):
        folder = results / f"{name}{number}"
        with ExitStack() as stack:
            try:
                found = goes_on(folder)
                if not found:
                    check_folder(folder)
                work = stack.enter_context(reserved(folder))
            except (FileExistsError, BusyError):
                continue
            if found or not folder.exists():
                yield folder, found, work
                return
    raise FolderError(f"{results / name}: {MOST_FOLDERS:,} results have this name; rename the scenario")


def _folder_name(name: str) -> str:
    """Converts the name of a scenario to a directory name."""
    return re.sub(r"[^\w.+-]+", "-", name)[:80].strip(".-") or "run"


if __name__ == "__main__":
    main()
