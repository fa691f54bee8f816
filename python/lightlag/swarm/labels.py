"""Parts of a map of a swarm: names that cover neither nodes nor each other, roles, and a scale."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes

from lightlag.drawing import framing, names, style
from lightlag.drawing.curves import Numbers

__all__ = ["add_names", "add_scale", "length_of_scale", "roles"]

_SIZE = 6.5
"""Font size of names, in points of the plain look."""
_GAP_PT = 5.0
"""Distance of a name from the centre of its node, in points."""
_SLACK = 1.12
"""Factor of the size of a name: the layout of the figure is not known yet."""

Box = tuple[float, float, float, float]
"""Left, bottom, right and top, in inches."""


def add_names(axes: Axes, nodes: Sequence[str], places: Numbers, paths: Sequence[Sequence[int]]) -> int:
    """Adds the names of nodes next to them; returns the number of names that do not fit.

    Names of nodes on paths are placed first, away from the lines of the paths if that is possible.

    Parameters
    ----------
    places
        x and y of each node in m.
    paths
        Indices of the nodes of each path.
    """
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    per_m = _inches_per_m(axes, right - left, top - bottom)
    whole = (left * per_m, bottom * per_m, right * per_m, top * per_m)
    size = style.points(_SIZE)
    here = places[:, :2] * per_m
    dot = style.points(3.0) / 72
    taken: list[Box] = [(x - dot, y - dot, x + dot, y + dot) for x, y in here.tolist()]
    lines = [
        here[a] + part * (here[b] - here[a]) for path in paths for a, b in itertools.pairwise(path) for part in _PARTS
    ]
    points = np.array(lines).reshape(-1, 2)
    first = dict.fromkeys(node for path in paths for node in (path[0], path[-1], *path[1:-1]))
    left_out = 0
    for node in [*first, *(node for node in range(len(nodes)) if node not in first)]:
        label = names.plain(nodes[node])
        wide, high = _SLACK * framing.width_in(label, size), _SLACK * size / 72
        found = _free(here[node].tolist(), wide, high, taken, whole, points)
        if found is None:
            left_out += 1
            continue
        box, (aside, up) = found
        taken.append(box)
        text = axes.annotate(
            label,
            (float(places[node, 0]), float(places[node, 1])),
            (aside * style.points(_GAP_PT), up * style.points(_GAP_PT)),
            textcoords="offset points",
            ha={-1: "right", 0: "center", 1: "left"}[round(aside)],
            va={-1: "top", 0: "center", 1: "bottom"}[round(up)],
            fontsize=size,
            color=style.BLACK,
            zorder=5,
            annotation_clip=True,
            gid=framing.NOTE,
        )
        text.set_path_effects([patheffects.withStroke(linewidth=style.points(1.6), foreground="white")])
    return left_out


_SIDES = ((0.8, 0.0), (0.0, 0.8), (-0.8, 0.0), (0.0, -0.8), (0.6, 0.6), (-0.6, 0.6), (0.6, -0.6), (-0.6, -0.6))
"""Positions of a name relative to its node, the best first."""
_PARTS = np.linspace(0.04, 0.96, 24)
"""Points of a hop that a name should not cover."""


def _free(
    here: Sequence[float], wide: float, high: float, taken: Sequence[Box], whole: Box, lines: Numbers
) -> tuple[Box, tuple[float, float]] | None:
    """Returns the box for a name that overlaps no other and the fewest points of lines, and its side; None if there is
    none.
    """
    x, y = here
    gap = style.points(_GAP_PT) / 72
    found: list[tuple[int, Box, tuple[float, float]]] = []
    for aside, up in _SIDES:
        left = x + aside * gap - wide * (0.5 - 0.5 * round(aside))
        bottom = y + up * gap - high * (0.5 - 0.5 * round(up))
        box = (left, bottom, left + wide, bottom + high)
        is_inside = left >= whole[0] and bottom >= whole[1] and box[2] <= whole[2] and box[3] <= whole[3]
        if is_inside and not any(_overlap(box, other) for other in taken):
            x_in = (lines[:, 0] > box[0]) & (lines[:, 0] < box[2])
            crossed = int((x_in & (lines[:, 1] > box[1]) & (lines[:, 1] < box[3])).sum())
            found.append((crossed, box, (aside, up)))
    if not found:
        return None
    _, box, side = min(found, key=lambda one: one[0])
    return box, side


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _inches_per_m(axes: Axes, width_m: float, height_m: float) -> float:
    """Returns the approximate scale of axes with equal scales."""
    figure = axes.get_figure(root=True)
    height = 4.0 if figure is None else float(figure.get_figheight()) - 0.95
    has_bar = figure is not None and len(figure.axes) > 1
    room = (0.8 if has_bar else 0.95) * framing.room_in(axes)
    return 0.95 * min(room / max(width_m, 1e-9), max(height, 0.8) / max(height_m, 1e-9))


def length_of_scale(span_m: float) -> float:
    """Returns the longest round length that is at most a quarter of a span, in m.

    Examples
    --------
    >>> length_of_scale(400.0), length_of_scale(12_000.0)
    (100.0, 2000.0)
    """
    power = 10.0 ** math.floor(math.log10(max(span_m, 1e-9) / 4))
    return float(max(step * power for step in (1, 2, 5) if step * power <= span_m / 4))


def add_scale(axes: Axes) -> None:
    """Adds a bar of a round length below the lower right corner of a map, next to the label of its axis."""
    left, right = axes.get_xlim()
    length = length_of_scale(right - left)
    text = f"{length / 1000:g} km" if length >= 1000 else f"{length:g} m"
    where = axes.get_xaxis_transform()
    down = -style.points(26)
    axes.plot(
        np.array([right - length, right]), [0, 0], transform=where + framing.shifted(axes, up=down),
        color=style.BLACK, clip_on=False, linewidth=style.points(1.6), solid_capstyle="butt", marker="|",
        markersize=style.points(5), zorder=6, gid="scale",
    )  # fmt: skip
    axes.annotate(
        text, (right - length, 0), (-5, down), xycoords=where, textcoords="offset points", ha="right", va="center",
        fontsize=style.points(7.5), color=style.BLACK, gid=framing.NOTE,
    )  # fmt: skip


def roles(flows: Mapping[str, Sequence[int]], count: int) -> list[str]:
    """Returns the role of each node: source, destination, both, relay or other, from the paths of flows.

    Examples
    --------
    >>> roles({"a->c": [0, 1, 2]}, 4)
    ['source', 'relay', 'destination', 'other']
    """
    found = ["other"] * count
    for path in flows.values():
        for node in path[1:-1]:
            found[node] = "relay" if found[node] == "other" else found[node]
    for path in flows.values():
        if len(path) > 1:
            for node, role, opposite in ((path[0], "source", "destination"), (path[-1], "destination", "source")):
                found[node] = "both" if found[node] in (opposite, "both") else role
    return found
