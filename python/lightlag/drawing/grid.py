"""Panels of different figures side by side: their columns, scales, labels and legend."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lightlag.drawing import framing, looks, style

__all__ = ["columns_of", "one_legend", "same_scales", "shared_entries", "shortened"]

_SHORT = {
    "congestion window": "cwnd",
    "round-trip time": "RTT",
    "packets waiting": "queue (packets)",
    "fraction of the flows": "fraction of flows",
}
_LEAST_IN = 2.2
"""Minimum width of a panel in a row of several, in inches."""


def shortened(label: str) -> str:
    """Returns a label shortened for panels of small height."""
    for long, short in _SHORT.items():
        label = re.sub(long, short, label, flags=re.IGNORECASE)
    return label


def same_scales(panels: Sequence[Axes]) -> None:
    """Gives panels with the same quantity in the same unit the same scale, so that they can be compared.

    Logarithmic axes, and axes with values cut off, are unchanged.
    """
    for which in ("x", "y"):
        groups: dict[str, list[Axes]] = {}
        for axes in panels:
            if getattr(axes, f"get_{which}scale")() == "linear" and not _is_cut(axes):
                groups.setdefault(getattr(axes, f"get_{which}label")(), []).append(axes)
        for label, own in groups.items():
            if not label:
                continue
            limits = [getattr(axes, f"get_{which}lim")() for axes in own]
            if all(low <= high for low, high in limits):
                low, high = min(low for low, _ in limits), max(high for _, high in limits)
                for axes in own:
                    getattr(axes, f"set_{which}lim")(low, high)


def _is_cut(axes: Axes) -> bool:
    """Returns true if a text states values that are cut off, or why the axes are empty."""
    return any(text.get_gid() != framing.NOTE for text in axes.texts)


def shared_entries(panels: Sequence[Axes]) -> dict[str, Any]:
    """Removes the entries that the legends of several panels have in common, and returns them."""
    drawn = [framing.entries([axes]) if axes.get_legend() is not None else {} for axes in panels]
    counts = Counter(label for own in drawn for label in own)
    shared = {label: handle for own in drawn for label, handle in own.items() if counts[label] > 1}
    for axes, own in zip(panels, drawn, strict=True):
        if own.keys() & shared.keys():
            framing.legend_above(axes, {label: handle for label, handle in own.items() if label not in shared})
    return shared


def columns_of(count: int) -> int:
    """Returns the number of columns of panels that are wide enough, 1 or 2."""
    width = looks.current().width_in or 7.2
    return 2 if count > 2 and width >= 2 * _LEAST_IN else 1


def one_legend(panels: Sequence[Axes]) -> dict[str, Any]:
    """Returns one legend for all panels.

    A panel keeps its own legend if a name in it has another look elsewhere, or if a look in it has another name
    elsewhere.
    """
    drawn = [framing.entries([axes]) for axes in panels]
    pairs = {(label, _look(handle)) for own in drawn for label, handle in own.items()}
    labels = Counter(label for label, _ in pairs)
    looks_of = Counter(look for _, look in pairs)
    shared: dict[str, Any] = {}
    for axes, own in zip(panels, drawn, strict=True):
        is_clear = all(labels[label] == looks_of[_look(handle)] == 1 for label, handle in own.items())
        shared |= own if is_clear else {}
        framing.legend_above(axes, {} if is_clear else own)
    return shared if len(labels) > 1 else {}


def _look(handle: Any) -> tuple[Any, ...]:
    """Returns what distinguishes an entry in a legend: its colour, whether it is a bound, and a mark without line."""
    if isinstance(handle, Patch):
        return handle.get_facecolor(), handle.get_hatch()
    line = handle if isinstance(handle, Line2D) else handle[0]
    mark = line.get_marker() if line.get_linestyle() == "None" else ""
    return line.get_color(), line.get_zorder() == style.LIMIT["zorder"], mark
