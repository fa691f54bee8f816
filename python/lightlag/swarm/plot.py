"""Figures of swarms: pure functions of tables.

:mod:`lightlag.swarm.paths` describes the columns of positions and paths.

Examples
--------
>>> import polars as pl
>>> rows = [(t, node, 20.0 * t + 30 * at, 50.0, 10.0) for t in (0.0, 1.0) for at, node in enumerate("ab")]
>>> positions = pl.DataFrame(rows, schema=["time_s", "node", "x_m", "y_m", "z_m"], orient="row")
>>> snapshot(positions, 0.5).axes[0].get_xlabel()
'x (m)'
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from lightlag.analyse import mean_interval
from lightlag.drawing import films, framing, looks, style
from lightlag.drawing.style import Chart
from lightlag.drawing.styled import styled
from lightlag.errors import InputError
from lightlag.swarm import paths as swarm_paths
from lightlag.swarm.paths import Radio, Swarm, flows_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["airtime", "animate", "route_timeline", "snapshot", "sweep"]

STRONG_DB = 30.0
"""SNR of the darkest links, in dB above the minimum."""
_MOST_WAYS = 6
"""Maximum number of paths that are named in a legend."""


@styled
def snapshot(
    positions: pl.DataFrame,
    time_s: float,
    *,
    radio: Radio | None = None,
    paths: pl.DataFrame | None = None,
    flows: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Chart:
    """Plots the swarm from above at a given time: nodes by height, links by SNR, and the paths of flows.

    Parameters
    ----------
    positions, paths
        Tables of a run.
    time_s
        Seconds since the start of the run.
    radio
        Radio model that determines which links exist. Defaults to the radio of ns-3.30.1.
    flows
        Flows whose paths are plotted. Defaults to all flows in ``paths``.
    ax
        Axes to draw into.
    """
    swarm = Swarm(positions)
    figure, axes = style.chart(size=(6.4, 5.6), follow=1.0, ax=ax)
    _scene(axes, swarm, time_s, radio or Radio(), paths, flows)
    dots = axes.collections[-1]
    figure.colorbar(dots, ax=axes, label="height (m)", shrink=0.7)
    return figure


def _scene(
    axes: Axes, swarm: Swarm, time_s: float, radio: Radio, paths: pl.DataFrame | None, flows: Sequence[str] | None
) -> None:
    places = swarm.at(time_s)
    links = swarm.links(time_s, radio)
    span = max(STRONG_DB - radio.least_snr_db, 1.0)
    strength = [min(1.0, 0.15 + 0.85 * (snr - radio.least_snr_db) / span) for *_, snr in links]
    if links:
        lines = [places[[a, b], :2] for a, b, _ in links]
        axes.add_collection(LineCollection(lines, colors=style.GREY, alpha=strength, linewidths=0.8, zorder=1))
    found = current(swarm, paths, time_s, flows)
    for at, nodes in enumerate(found.values()):
        here = places[nodes, :2]
        look = {"color": style.line_style(at)["color"], "linewidth": style.points(2.0)}
        axes.plot(here[:, 0], here[:, 1], label=list(found)[at], zorder=2, **look)
    axes.scatter(
        places[:, 0],
        places[:, 1],
        c=places[:, 2],
        cmap="viridis",
        vmin=float(swarm.low[2]),
        vmax=max(float(swarm.high[2]), float(swarm.low[2]) + 1),
        s=26,
        zorder=3,
    )
    there = sum(len(nodes) > 1 for nodes in found.values())
    note = f"{time_s:.1f} s · {_counted(len(links), 'link')}" + (
        f" · {_counted(there, 'path')}" if len(found) > _MOST_WAYS else ""
    )
    framing.finish(axes, "Swarm", note, legend=len(found) <= _MOST_WAYS, room=0.8 * framing.room_in(axes))
    axes.set_aspect("equal")
    axes.grid(visible=False)
    margin = 0.03 * max(float((swarm.high - swarm.low)[:2].max()), 1.0)
    axes.set_xlim(swarm.low[0] - margin, swarm.high[0] + margin)
    axes.set_ylim(swarm.low[1] - margin, swarm.high[1] + margin)
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")


def _counted(count: int, of: str) -> str:
    return f"{count} {of}{'' if count == 1 else 's'}"


def current(
    swarm: Swarm, paths: pl.DataFrame | None, time_s: float, flows: Sequence[str] | None
) -> dict[str, list[int]]:
    """Returns the path of each flow at a given time, as node indices. Flows whose data has not arrived yet have none.

    Nodes without a position, such as servers behind a gateway, are left out.
    """
    if paths is None:
        return {}
    index = {name: number for number, name in enumerate(swarm.nodes)}
    return {
        flow: [index[name] for name in swarm_paths.path(paths, time_s, flow) if name in index]
        for flow in known_flows(paths, flows)
    }


def known_flows(paths: pl.DataFrame, flows: Sequence[str] | None) -> list[str]:
    """Returns the flows in a table of paths, or the requested ones among them.

    Raises
    ------
    InputError
        If the table has no such flow.
    """
    there = flows_of(paths)
    for flow in flows or ():
        if flow not in there:
            raise InputError(f'no flow "{flow}" in the paths; there are {", ".join(there[:10])}')
    return there if flows is None else list(flows)


def animate(
    positions: pl.DataFrame,
    path: str | os.PathLike[str],
    *,
    every_s: float = 0.5,
    per_second: int = 10,
    radio: Radio | None = None,
    paths: pl.DataFrame | None = None,
    flows: Sequence[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Writes an animation of a swarm in flight as a film; the suffix decides the format (.gif, .mp4).

    Parameters
    ----------
    every_s
        Simulated time between two frames.
    per_second
        Frames shown per second.
    progress
        Called with the number of finished frames and the total.
    """
    path = films.writable(path)
    if not every_s > 0:
        raise InputError(f"every_s: {every_s:g} s between two images; it must be above 0")
    swarm = Swarm(positions)
    times = np.arange(swarm.start_s, swarm.end_s + every_s / 2, every_s)
    with matplotlib.rc_context(style.rc(looks.current())):
        figure, axes = style.chart(size=(5.6, 5.6), follow=1.0)

        def draw(time_s: float) -> None:
            axes.clear()
            _scene(axes, swarm, time_s, radio or Radio(), paths, flows)

        films.write(figure, draw, times.tolist(), path, per_second, progress)
    return path


@styled
def airtime(interfaces: pl.DataFrame, *, ax: Axes | None = None) -> Chart:
    """Plots the airtime of each node as stacked bars, the busiest first.

    The parts of a bar are the columns that end in ``airtime_s``.
    """
    kinds = [name for name in interfaces.columns if name.endswith("airtime_s")]
    if "node" not in interfaces.columns or not kinds:
        raise InputError(f"interfaces: no column node or airtime_s; there are {', '.join(interfaces.columns)}")
    total = sum((interfaces[name].to_numpy().astype(np.float64) for name in kinds), np.zeros(interfaces.height))
    order = np.argsort(-total, kind="stable")
    names = [str(interfaces["node"][int(at)]) for at in order]
    figure, axes = style.chart(ax=ax)
    base = np.zeros(len(order))
    for at, kind in enumerate(kinds):
        values = interfaces[kind].to_numpy().astype(np.float64)[order]
        label = kind.removesuffix("airtime_s").rstrip("_") or "all"
        axes.bar(range(len(order)), values, 0.85, bottom=base, color=style.COLOURS[at], label=label, linewidth=0)
        base = base + values
    framing.finish(axes, "Time on the air", f"{len(order)} nodes", legend=len(kinds) > 1)
    axes.set_xlim(-0.6, len(order) - 0.4)
    room = float(figure.get_figwidth()) * 2.3  # a name takes 0.16 in with what is around it
    shown = range(0, len(order), -(-len(order) // max(1, int(room))))
    axes.set_xticks(list(shown), [names[at] for at in shown], rotation=90)
    axes.set_ylabel("time (s)")
    axes.set_xlabel("node")
    return figure


@styled
def route_timeline(
    paths: pl.DataFrame, end_s: float, *, flows: Sequence[str] | None = None, ax: Axes | None = None
) -> Chart:
    """Plots the number of hops of each flow's path over time, starting at its first data. A fine line is a path change.

    Parameters
    ----------
    end_s
        End of the last paths, in seconds.
    flows
        Flows to show. Defaults to all flows in ``paths``.
    """
    names = known_flows(paths, flows)
    if not names:
        raise InputError("paths: no flow; no data has crossed a medium")
    figure, axes = style.chart(size=(6.4, 1.1 + 0.17 * len(names)), follow=0.0, ax=ax)
    longest = 1
    for row, flow in enumerate(names):
        found = swarm_paths.paths(paths, flow)
        starts = [since for since, _ in found]
        for since, until, (_, nodes) in zip(starts, [*starts[1:], end_s], found, strict=True):
            hops = len(nodes) - 1
            longest = max(longest, hops)
            axes.barh(row, until - since, 0.72, left=since, color=_colour(hops), edgecolor="white", linewidth=0.3)
    most = min(longest, len(style.COLOURS))
    for hops in range(1, most + 1):
        text = f"{hops} hop{'s' if hops > 1 else ''}" + (" or more" if hops == len(style.COLOURS) < longest else "")
        axes.barh(0, 0, color=_colour(hops), label=text)
    axes.set_yticks(range(len(names)), names, fontsize=style.points(7))
    framing.finish(axes, "Paths of flows", end_s=end_s)
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.set_xlabel("time (s)")
    return figure


def _colour(hops: int) -> str:
    return style.COLOURS[min(hops, len(style.COLOURS)) - 1]


@styled
def sweep(
    points: pl.DataFrame, *, x: str, y: str, by: str = "congestion", label: str = "", ax: Axes | None = None
) -> Chart:
    """Plots the means of runs against a variable, such as density or speed, with 95 % intervals.

    Parameters
    ----------
    points
        One row per run.
    x, y, by
        Columns: the variable, the metric, and the groups that have a line each.
    label
        Label of the y axis; by default the name of its column.
    """
    for name in (x, y, by):
        if name not in points.columns:
            raise InputError(f"points: no column {name}; there are {', '.join(points.columns)}")
    figure, axes = style.chart(ax=ax)
    for at, part in enumerate(points.partition_by(by, maintain_order=True)):
        groups = sorted(part.partition_by(x), key=lambda group: float(group[x][0]))
        found = [mean_interval(map(float, group[y])) for group in groups]
        values = [float(group[x][0]) for group in groups]
        look: dict[str, Any] = style.line_style(at)
        axes.plot(values, [one.mean for one in found], marker="o", markersize=3, label=str(part[by][0]), **look)
        half = [0.0 if one.count < 2 else one.half_width for one in found]
        error: dict[str, Any] = {"ecolor": look["color"], "elinewidth": 0.8, "capsize": 2}
        axes.errorbar(values, [one.mean for one in found], yerr=half, fmt="none", **error)
    framing.finish(axes, f"{label or y} by {x}", "means and 95 % intervals")
    axes.set_xlim(float(points[x].min()), float(points[x].max()))  # type: ignore[arg-type]
    axes.set_xlabel(x.replace("_", " "))
    axes.set_ylabel(label or y)
    return figure
