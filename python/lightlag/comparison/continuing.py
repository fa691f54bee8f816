"""The results folder of a comparison before its runs: its name, its journal, and whether it goes on with another."""

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


def folder(of: Plan) -> Path:
    """The default folder of the results."""
    scenarios = [one.values for one in of.design.variables if not one.keys]
    names = scenarios[0] if scenarios else (str(of.design.scenario["name"]),)
    return Path("results") / f"{'-'.join(names[:3])}-compare"


def goes_on(of: Plan, folder: Path, force: bool) -> bool:
    """Whether the folder holds what an interrupted comparison has left, and this one needs.

    Raises
    ------
    FileExistsError
        If the folder holds other results that may not be replaced.
    FolderError
        If it cannot be written.
    """
    found = not force and is_continued(of, folder)
    check_folder(folder, force or found, space=of.space)
    return found


def journal(folder: Path, *, goes_on: bool) -> Path:
    """The file to which runs are written as they finish, with those that an interrupted comparison has left."""
    path = folder.with_name(f".{folder.name}.unfinished.jsonl")
    if goes_on and not path.exists():
        with new_file(path) as partial:
            shutil.copyfile(folder / "curves.jsonl", partial)
    return path


def is_continued(of: Plan, folder: Path) -> bool:
    """Returns True if the folder holds an interrupted comparison all of whose runs this one needs."""
    from lightlag.outcomes import journal

    try:
        if json.loads(read_results(folder / "run.json"))["complete"]:
            return False
        keys = {key for key, _ in journal.read_all(folder / "curves.jsonl")}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False
    return keys <= {run.key for run in of.runs()}


def before(of: Plan) -> list[str]:
    """Lines to read before the runs: where seeds change nothing, and, with proxies, whose algorithm ``-c`` sets."""
    lines = []
    seeds = of.design.replications
    fixed = of.without_chance() if seeds > 1 else []
    if fixed:
        cells = len(of.cells)
        remedy = 'run once with -n 1, or draw starts: --set \'flows.0.start={ uniform = ["0 s", "1 s"] }\''
        which = (
            "" if len(fixed) == cells else f" in {len(fixed)} of {cells} combinations, such as {_named(of, fixed[0])}"
        )
        lines.append(f"warning: nothing is random{which}: its {seeds} seeds give the same result; {remedy}")
    if of.design.scenario.get("proxies") and any(one.choices for one in of.design.competitors):
        lines.append(f"note: {_ends(of.design.scenario)}")
    return lines


def _named(of: Plan, cell: Cell) -> str:
    pairs = zip(of.design.variables, cell.point, strict=True)
    return ", ".join([cell.congestion, *(f"{variable.label} {value}" for variable, value in pairs)])


def _ends(scenario: dict[str, Any]) -> str:
    """The senders whose algorithm -c sets, and those that keep their own."""
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
