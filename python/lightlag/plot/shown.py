"""The results that a figure shows: their rows by flow, their names, and the note about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from matplotlib.axes import Axes

from lightlag.drawing import names
from lightlag.errors import InputError
from lightlag.files.writing import OVER_TIME
from lightlag.plot import overlay
from lightlag.records.records import Records

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Results", "by_run", "end_s", "label", "named", "needed", "note", "one", "place"]

Results: TypeAlias = Records | Sequence[Records] | Mapping[str, Records]
"""One result, or several that are plotted in the same figure."""

_MOST_NAMED = 3


def named(result: Results) -> dict[str, Records]:
    """Returns results by the names that a figure of several results gives them."""
    return overlay.named([result] if isinstance(result, Records) else result, Records)


def one(result: Results, metric: str) -> Records:
    """Returns the result of a figure that cannot show several."""
    runs = named(result)
    if len(runs) > 1:
        raise InputError(f'a figure of "{metric}" shows one result; of several there are {", ".join(OVER_TIME)}')
    return next(iter(runs.values()))


def needed(result: Records, table: Any) -> pl.DataFrame:
    """Returns a table of a result; fails if it has no rows because nothing was recorded."""
    rows = result.table(table)
    if rows.is_empty():
        raise InputError(f"{result.name}: no {table} was recorded; run it with --set record.{table}=sampled")
    return rows


def by_run(runs: Mapping[str, Records], metric: Any, flow: str | None) -> dict[str, dict[str, pl.DataFrame]]:
    """Returns the rows of each flow of each run; with `flow`, only the rows of this flow."""
    return {name: dict(_by_flow(run, metric, flow)) for name, run in runs.items()}


def _by_flow(result: Records, metric: Any, flow: str | None) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yields the rows of each flow, or of the given one."""
    needed(result, "trace")
    flows = [entry["name"] for entry in result.summary["flows"]]
    if flow is not None and flow not in flows:
        raise InputError(f'no flow "{flow}" in {place(result)}; there are {", ".join(flows[:10])}')
    legs = {(leg["flow"], leg["leg"]): f": {leg['from']}->{leg['to']}" for leg in result.summary.get("legs", [])}
    trace = result.trace(metric)
    for rows in trace.partition_by("flow", *(["leg"] if "leg" in trace.columns else []), maintain_order=True):
        name = str(rows["flow"][0])
        if flow in (None, name):
            leg = rows["leg"][0] if "leg" in rows.columns else None
            yield name + legs.get((name, leg), ""), rows


def place(result: Records) -> str:
    """Returns the directory of a result, or its name."""
    return str(result.directory or result.name)


def note(runs: Mapping[str, Records], flow: str | None = None) -> str:
    """Returns a note with the scenarios, algorithms and seeds of the runs; if they would not fit, with their number."""
    every = runs.values()
    flows = [entry for run in every for entry in run.summary["flows"]]
    parts = {
        "scenario": [run.name for run in every],
        "algorithm": [names.algorithm(entry["congestion"]) for entry in flows if flow in (None, entry["name"])],
        "seed": [str(run.seed) for run in every],
    }
    return " · ".join(_listed(what, list(dict.fromkeys(values)), len(runs) == 1) for what, values in parts.items())


def _listed(what: str, values: Sequence[str], every: bool) -> str:
    if not every and len(values) > _MOST_NAMED:
        return f"{len(values)} {what}s"
    several = "s" * (len(values) > 1)
    return f"{what}{several} {', '.join(values)}" if what == "seed" else ", ".join(values)


def end_s(runs: Mapping[str, Records]) -> float:
    """Returns the end of the longest run, in seconds."""
    return max(run.simulated_s for run in runs.values())


def label(axes: Axes, quantity: str) -> None:
    """Sets the labels of axes over time."""
    axes.set_xlabel("time (s)")
    axes.set_ylabel(quantity)
