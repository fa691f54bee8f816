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

import itertools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D

from lightlag.analyse import mean_interval
from lightlag.drawing import films, framing, looks, names, style
from lightlag.drawing.curves import Numbers
from lightlag.drawing.style import Chart
from lightlag.drawing.styled import styled
from lightlag.errors import InputError
from lightlag.swarm import labels
from lightlag.swarm import paths as swarm_paths
from lightlag.swarm.paths import Radio, Swarm, flows_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["airtime", "animate", "route_timeline", "snapshot", "sweep"]

STRONG_DB = 30.0
"""SNR of the darkest links, in dB above the minimum."""
_MOST_WAYS = 6
"""Maximum number of paths that are named in a legend."""
_HEIGHTS = "viridis"
_ROLES = {
    "source": ("^", 34, "source of a flow"),
    "destination": ("v", 34, "destination"),
    "both": ("D", 26, "source and destination"),
    "relay": ("o", 30, "relay"),
    "other": ("o", 16, "other node"),
}
"""Roles of nodes: marker, its size, and the entry of a legend."""


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
    low, high = _area(swarm)
    has_bar = _has_heights(swarm)
    width = looks.current().width_in or 6.4
    map_in = width - (1.45 if has_bar else 0.7)
    height = 0.85 + map_in * float((high - low)[1] / (high - low)[0])
    figure, axes = style.chart(size=(width, min(height, 1.1 * width)), ax=ax)
    heights = ScalarMappable(_heights(swarm), _HEIGHTS)
    if has_bar:
        figure.colorbar(heights, ax=axes, label="height (m)", shrink=0.7)
    _scene(axes, swarm, time_s, radio or Radio(), paths, flows)
    return figure


def _area(swarm: Swarm) -> tuple[Numbers, Numbers]:
    """Returns the corners of the map: a frame around all positions, which is at least a quarter as high as wide."""
    low, high = swarm.low[:2], swarm.high[:2]
    span = max(float((high - low).max()), 1.0)
    missing = np.maximum(0.25 * span - (high - low), 0.0) / 2 + 0.06 * span
    return low - missing, high + missing


def _heights(swarm: Swarm) -> Normalize:
    low, high = float(swarm.low[2]), float(swarm.high[2])
    return Normalize(low, max(high, low + 1))


def _has_heights(swarm: Swarm) -> bool:
    return bool(swarm.high[2] - swarm.low[2] >= 1)


def _scene(
    axes: Axes, swarm: Swarm, time_s: float, radio: Radio, paths: pl.DataFrame | None, flows: Sequence[str] | None
) -> None:
    places = swarm.at(time_s)
    links = swarm.links(time_s, radio)
    found = current(swarm, paths, time_s, flows)
    there = [nodes for nodes in found.values() if len(nodes) > 1]
    low, high = _area(swarm)
    axes.set_aspect("equal")
    handles = _add_links(axes, places, links, radio)
    handles |= _add_paths(axes, places, found)
    roles = labels.roles(found, len(places))
    handles |= _add_nodes(axes, swarm, places, roles)
    parts = [f"{time_s:.1f} s", _counted(len(links), "link"), _counted(len(there), "path")]
    framing.finish(axes, "Swarm", " · ".join(parts), legend=False)
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.grid(visible=False)
    axes.set_xlabel("x (m)")
    axes.set_ylabel("y (m)")
    labels.add_scale(axes)
    left_out = labels.add_names(axes, swarm.nodes, places, there)
    _legend_below(axes, handles)
    figure = axes.get_figure(root=True)
    if isinstance(figure, Chart):
        figure.caption = _caption(time_s, len(places), len(links), radio, found, left_out)


def _caption(
    time_s: float, nodes: int, links: int, radio: Radio, found: Mapping[str, Sequence[int]], left_out: int
) -> str:
    there = sum(len(one) > 1 for one in found.values())
    parts = [
        f"Swarm from above after {time_s:.1f} s: {_counted(nodes, 'node')}, {_counted(links, 'radio link')} with an "
        f"SNR of at least {radio.least_snr_db:g} dB, darker with a higher one, and the {_counted(there, 'path')} of "
        f"{_counted(len(found), 'flow')} with data so far"
        if math.isfinite(radio.power_dbm)
        else f"Swarm from above after {time_s:.1f} s: {_counted(nodes, 'node')}, and the {_counted(there, 'path')} of "
        f"{_counted(len(found), 'flow')} with data so far",
        "One run",
    ]
    if left_out:
        parts.append(f"The names of {_counted(left_out, 'node')} do not fit")
    return " ".join(f"{part}." for part in parts)


def _add_links(axes: Axes, places: Numbers, links: Sequence[tuple[int, int, float]], radio: Radio) -> dict[str, Any]:
    """Adds the links by SNR; returns the entry of a legend."""
    if not links:
        return {}
    span = max(STRONG_DB - radio.least_snr_db, 1.0)
    strength = [min(1.0, 0.12 + 0.6 * (snr - radio.least_snr_db) / span) for *_, snr in links]
    lines = [places[[a, b], :2] for a, b, _ in links]
    axes.add_collection(LineCollection(lines, colors=style.GREY, alpha=strength, linewidths=0.6, zorder=1))
    return {"radio link, darker with higher SNR": Line2D([], [], color=style.GREY, linewidth=0.8)}


def _add_paths(axes: Axes, places: Numbers, found: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """Adds the paths of flows, side by side where they share a hop, with an arrow on each hop."""
    used: dict[tuple[int, int], list[str]] = {}
    for flow, nodes in found.items():
        for a, b in itertools.pairwise(nodes):
            used.setdefault((min(a, b), max(a, b)), []).append(flow)
    handles: dict[str, Any] = {}
    wide = style.points(2.0 if len(found) <= _MOST_WAYS else 1.4)
    for at, (flow, nodes) in enumerate(found.items()):
        colour = style.line_style(at)["color"]
        for a, b in itertools.pairwise(nodes):
            own = used[min(a, b), max(a, b)]
            aside = (own.index(flow) - (len(own) - 1) / 2) * 1.3 * wide
            first, last = places[min(a, b), :2], places[max(a, b), :2]
            across = np.array([first[1] - last[1], last[0] - first[0]]) / max(float(np.hypot(*(last - first))), 1e-9)
            shift = framing.shifted(axes, right=float(across[0] * aside), up=float(across[1] * aside))
            here = places[[a, b], :2]
            look: dict[str, Any] = {"color": colour, "transform": axes.transData + shift, "zorder": 2}
            axes.plot(here[:, 0], here[:, 1], linewidth=wide, gid=f"path {flow}", **look)
            x, y = here.mean(axis=0)
            angle = math.degrees(math.atan2(here[1, 1] - here[0, 1], here[1, 0] - here[0, 0]))
            axes.plot(x, y, marker=(3, 0, angle - 90), markersize=2.6 * wide, linestyle="none", **look)
        if len(nodes) > 1 and len(found) <= _MOST_WAYS:
            handles[f"path of {names.plain(flow)}"] = Line2D([], [], color=colour, linewidth=wide)
    if len(found) > _MOST_WAYS and used:
        handles["path of a flow, with its direction"] = Line2D([], [], color=style.COLOURS[0], linewidth=wide)
    return handles


def _add_nodes(axes: Axes, swarm: Swarm, places: Numbers, roles: Sequence[str]) -> dict[str, Any]:
    """Adds the nodes with the shape of their role; returns the entries of a legend."""
    colours = ScalarMappable(_heights(swarm), _HEIGHTS).to_rgba(places[:, 2])
    handles: dict[str, Any] = {}
    for role, (marker, size, about) in _ROLES.items():
        own = [node for node, one in enumerate(roles) if one == role]
        if own:
            fill = colours[own] if _has_heights(swarm) else style.COLOURS[2]
            edge: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.6}
            axes.scatter(places[own, 0], places[own, 1], c=fill, s=size, marker=marker, zorder=3, **edge)
            handles[about] = Line2D([], [], marker=marker, linestyle="none", color=style.GREY, markersize=size**0.5)
    return handles


def _legend_below(axes: Axes, handles: Mapping[str, Any]) -> None:
    figure = axes.get_figure(root=True)
    if isinstance(figure, Chart) and handles:
        framing.legend_below(figure, handles)
    elif not isinstance(figure, Chart):
        framing.legend_above(axes, handles)


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
            for legend in list(figure.legends):
                legend.remove()
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
        marker = style.MARKERS[at % len(style.MARKERS)]
        label_of = names.algorithm(str(part[by][0]))
        axes.plot(values, [one.mean for one in found], marker=marker, markersize=4, label=label_of, **look)
        half = [0.0 if one.count < 2 else one.half_width for one in found]
        error: dict[str, Any] = {"ecolor": look["color"], "elinewidth": 0.8, "capsize": 2}
        axes.errorbar(values, [one.mean for one in found], yerr=half, fmt="none", **error)
    framing.finish(axes, f"{label or y} by {x}", "means and 95 % intervals")
    axes.set_xlim(float(points[x].min()), float(points[x].max()))  # type: ignore[arg-type]
    axes.set_xlabel(x.replace("_", " "))
    axes.set_ylabel(label or y)
    return figure
