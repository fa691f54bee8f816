"""The results directory of a comparison before its runs: its name, its journal, and whether it resumes another one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from lightlag.files.input import read_results
from lightlag.files.output import new_file
from lightlag.files.writing import check_folder
from lightlag.outcomes.plan import Cell, Plan

__all__ = ["before", "folder", "goes_on", "is_continued", "journal"]


def folder(plan: Plan) -> Path:
    """Returns the default directory of the results."""
    scenarios = [one.values for one in plan.design.variables if not one.keys]
    names = scenarios[0] if scenarios else (str(plan.design.scenario["name"]),)
    return Path("results") / f"{'-'.join(names[:3])}-compare"


def goes_on(plan: Plan, directory: Path, force: bool) -> bool:
    """Returns true if the directory holds runs of an interrupted comparison that this one needs.

    Raises
    ------
    FileExistsError
        If the directory holds other results that may not be replaced.
    FolderError
        If it cannot be written.
    """
    found = not force and is_continued(plan, directory)
    check_folder(directory, force or found, space=plan.space)
    return found


def journal(directory: Path, *, goes_on: bool) -> Path:
    """Returns the file that stores runs as they finish. It includes the finished runs of an interrupted comparison."""
    path = directory.with_name(f".{directory.name}.unfinished.jsonl")
    if goes_on and not path.exists():
        with new_file(path) as partial:
            shutil.copyfile(directory / "curves.jsonl", partial)
    return path


def is_continued(plan: Plan, directory: Path) -> bool:
    """Returns True if the directory holds an interrupted comparison all of whose runs this one needs."""
    from lightlag.outcomes import journal

    try:
        if json.loads(read_results(directory / "run.json"))["complete"]:
            return False
        keys = {key for key, _ in journal.read_all(directory / "curves.jsonl")}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False
    return keys <= {run.key for run in plan.runs()}


def before(plan: Plan) -> list[str]:
    """Returns notes to print before the runs: points without randomness and, with proxies, the senders that ``-c``
    sets.
    """
    lines = []
    seeds = plan.design.replications
    fixed = plan.without_chance() if seeds > 1 else []
    if fixed:
        cells = len(plan.cells)
        remedy = 'run once with -n 1, or draw starts: --set \'flows.0.start={ uniform = ["0 s", "1 s"] }\''
        which = (
            "" if len(fixed) == cells else f" in {len(fixed)} of {cells} combinations, such as {_named(plan, fixed[0])}"
        )
        lines.append(f"warning: nothing is random{which}: its {seeds} seeds give the same result; {remedy}")
    if plan.design.scenario.get("proxies") and any(one.choices for one in plan.design.competitors):
        lines.append(f"note: {_ends(plan.design.scenario)}")
    return lines


def _named(of: Plan, cell: Cell) -> str:
    pairs = zip(of.design.variables, cell.point, strict=True)
    return ", ".join([cell.congestion, *(f"{variable.label} {value}" for variable, value in pairs)])


def _ends(scenario: dict[str, Any]) -> str:
    """Returns the senders whose algorithm ``-c`` sets, and the senders that keep their own."""
    chosen: list[tuple[str, Any]] = [
        (f"{flow['from']} (sender of {flow.get('name') or flow['to']})", flow.get("tcp", {}).get("congestion"))
        for flow in scenario.get("flows", [])
    ]
    if scenario.get("topology"):
        template = scenario["topology"].get("flow") or {}
        chosen.append(("the senders of the topology", template.get("tcp", {}).get("congestion")))
    chosen += [
        (f"proxy {proxy['node']} toward the receiver", proxy.get("server", {}).get("congestion"))
        for proxy in scenario["proxies"]
    ]
    free = [end for end, own in chosen if own is None]
    kept = [
        f"{end} keeps {own.get('algorithm') if isinstance(own, dict) else own}"
        for end, own in chosen
        if own is not None
    ]
    return "; ".join([f"-c sets the algorithm of {', '.join(free)}", *kept])
