"""One load of a web page in a run: its objects, and the bytes that had arrived at each time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from lightlag.errors import InputError
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    import polars as pl

    from lightlag.records.records import Records

__all__ = ["LoadedObject", "PageLoad", "has_pages", "page_load"]


@dataclass(frozen=True)
class LoadedObject:
    """An object of a page; times are in seconds since the start of the load."""

    name: str
    connection: str
    size: int
    """Size of the response in bytes."""
    known_s: float
    """Time when the browser could request it."""
    start_s: float
    """Time when its request was written."""
    first_byte_s: float
    end_s: float


@dataclass(frozen=True)
class PageLoad:
    """A load of a page."""

    flow: str
    page: int
    """Index of the load, from 1."""
    loads: int
    """Number of loads of the flow in the run."""
    objects: Sequence[LoadedObject]
    """Objects that arrived, in the order in which the browser could request them."""
    took_s: float | None
    """Time until the page had arrived completely; None if it had not at the end of the run."""
    byte_index_s: float | None

    @property
    def connections(self) -> list[str]:
        """The connections in the order of their first request."""
        return list(dict.fromkeys(one.connection for one in sorted(self.objects, key=lambda one: one.start_s)))

    @property
    def end_s(self) -> float:
        """Time when the last object arrived."""
        return max(one.end_s for one in self.objects)

    def arrived(self) -> tuple[list[float], list[float]]:
        """Returns times and fractions of the objects' bytes that had arrived, for a curve of straight lines.

        An object arrives at a constant rate from its first byte to its last.
        """
        total = sum(one.size for one in self.objects)
        steps: dict[float, float] = defaultdict(float)
        slopes: dict[float, float] = defaultdict(float)
        for one in self.objects:
            if one.end_s > one.first_byte_s:
                slopes[one.first_byte_s] += one.size / (one.end_s - one.first_byte_s)
                slopes[one.end_s] -= one.size / (one.end_s - one.first_byte_s)
            else:
                steps[one.end_s] += one.size
        corners = sorted({0.0, *slopes, *steps})
        times, fractions, slope, sum_ = [0.0], [0.0], 0.0, 0.0
        for time_s, after_s in pairwise(corners):
            slope += slopes.get(time_s, 0.0)
            sum_ += slope * (after_s - time_s)
            times.append(after_s)
            fractions.append(min(sum_ / total, 1.0))
            if step := steps.get(after_s):
                sum_ += step
                times.append(after_s)
                fractions.append(min(sum_ / total, 1.0))
        return times, fractions


def has_pages(result: Records) -> bool:
    """Returns true if a flow of a run loads a page from a file."""
    return _loads_page(result.scenario)


def _loads_page(part: object) -> bool:
    """Returns true if a part of a scenario has traffic that loads a page from a file."""
    if isinstance(part, dict):
        return (part.get("kind") == "page" and "file" in part) or any(map(_loads_page, part.values()))
    return isinstance(part, list) and any(map(_loads_page, part))


def page_load(result: Records, flow: str | None = None, page: int = 1) -> PageLoad:
    """Returns a load of a page.

    Parameters
    ----------
    flow
        Flow that loads the page; by default the first one with an object that arrived.
    page
        Index of the load, from 1.

    Raises
    ------
    InputError
        If no flow loads a page, if there is no such flow or load, or if no object of it arrived.
    """
    if not has_pages(result):
        raise InputError(
            f'{printable(result.name)}: no flow loads a page; write traffic = {{ kind = "page", file = "page.json" }}'
        )
    rows = result.objects
    flows = rows["flow"].cast(str).unique(maintain_order=True).to_list()
    if not flows:
        raise InputError(f"{printable(result.name)}: no object of a page arrived; run it for longer")
    if flow is None:
        flow = flows[0]
    if flow not in flows:
        raise InputError(f'no page of flow "{printable(flow)}"; there are {", ".join(map(printable, flows[:10]))}')
    own = rows.filter(rows["flow"].cast(str) == flow)
    loads = int(own["page"].max())  # type: ignore[arg-type]
    own = own.filter(own["page"] == page).sort("time_s", "start_s", "end_s", maintain_order=True)
    if own.is_empty():
        raise InputError(f"page {page!r:.20}: is not a load of flow {printable(flow)}; there are 1 to {loads}")
    done = result.responses
    done = done.filter(done["flow"].cast(str) == flow).sort("time_s")
    is_done = done.height >= page
    began_s = float(done["time_s"][page - 1] if is_done else own["time_s"][0])
    return PageLoad(
        flow,
        page,
        loads,
        [_object(row, began_s) for row in own.iter_rows(named=True)],
        float(done["duration_s"][page - 1]) if is_done else None,
        _number(done, "byte_index_s", page - 1) if is_done else None,
    )


def _object(row: dict[str, object], began_s: float) -> LoadedObject:
    times = [float(str(row[key])) - began_s for key in ("time_s", "start_s", "first_byte_s", "end_s")]
    return LoadedObject(str(row["object"]), str(row["connection"]), int(str(row["bytes"])), *times)


def _number(rows: pl.DataFrame, column: str, at: int) -> float | None:
    value = rows[column][at]
    return None if value is None else float(value)
