"""The surroundings of a figure's axes: title, note and legend, in as many rows as the available width requires."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path
from matplotlib.transforms import ScaledTranslation

from lightlag.drawing import names, style
from lightlag.drawing.looks import current
from lightlag.drawing.style import Chart, points

__all__ = [
    "NOTE",
    "capitalise",
    "caption",
    "entries",
    "explain",
    "finish",
    "fit_labels",
    "grow",
    "head",
    "legend_above",
    "legend_below",
    "legend_rows",
    "panel_title",
    "room_in",
    "say_empty",
    "share_labels",
    "shifted",
    "small_note",
    "width_in",
    "wrapped",
]

NOTE = "note"
"""Mark of texts in axes that do not state values that are cut off."""
_EXPLAINS = "explains"
"""Mark of lines that only have an entry in the legend."""
_ROW = 13.5
"""Height of a row of a legend or a note, in points of the plain look."""
_LEGEND: dict[str, Any] = {
    "borderaxespad": 0.3,
    "borderpad": 0.0,
    "columnspacing": 1.6,
    "frameon": False,
    "handletextpad": 0.6,
    "labelspacing": 0.5,
}
_HANDLE, _LONG_HANDLE = 2.4, 3.4
_SPACE = 0.12
"""Space between a title and the note next to it, in inches."""


def width_in(text: str, size: float, weight: str = "normal") -> float:
    """Returns the width of a line of text in inches."""
    if not text:
        return 0.0
    font = FontProperties(size=size, weight=weight)
    width, _, _ = text_to_path.get_text_width_height_descent(
        text, font, ismath=rcParams["text.parse_math"] and text.count("$") == 2
    )
    return float(width) / 72


def finish(
    axes: Axes,
    title: str,
    note: str = "",
    *,
    legend: bool = True,
    end_s: float | None = None,
    room: float | None = None,
) -> None:
    """Adds the title and note above the axes and the legend in rows between them, and starts both axes at zero.

    Parameters
    ----------
    room
        The width of the axes in inches; by default estimated from the current contents of the figure.
    """
    caption(axes.get_figure(root=True), title, note)
    handles = entries([axes]) if legend else {}
    room = room_in(axes) if room is None else room
    rows = legend_above(axes, handles, room)
    if current().titled:
        rows += _titles(axes, title, note, room, points(7 + _ROW * rows))
    figure = axes.get_figure(root=True)
    if rows > 1 and figure is not None and len(figure.axes) == 1:
        grow(figure, rows - 1)
    axes.set_ylim(bottom=0)
    axes.set_xlim(0, end_s)


def _titles(axes: Axes, title: str, note: str, room: float, pad: float) -> int:
    """Adds title and note side by side, or one above the other if they do not fit; returns the number of extra rows."""
    size, small = _size(rcParams["axes.titlesize"]), points(8.5)
    note_look: dict[str, Any] = {"pad": pad, "fontsize": small, "color": style.GREY}
    title_look: dict[str, Any] = {"loc": "left", "pad": pad, "fontweight": "bold"}
    title = wrapped(title, room, size, "bold")
    widest = max(width_in(line, size, "bold") for line in title.splitlines() or [""])
    if widest + width_in(note, small) + _SPACE <= room and "\n" not in title:
        axes.set_title(title, **title_look)
        axes.set_title(note, loc="right", **note_look)
        return 0
    note = wrapped(note, room, small)
    below = note.count("\n") + 1
    # All titles of axes share a pad: empty lines in the size of the note lift the title above it.
    pad -= points(4)
    axes.set_title(title, **title_look | {"pad": pad + (1.4 * below - 0.2) * small + points(2)})
    axes.text(
        0,
        1,
        note,
        transform=axes.transAxes + shifted(axes, up=pad),
        fontsize=small,
        color=style.GREY,
        va="bottom",
        ha="left",
    )
    return below + title.count("\n")


def shifted(axes: Axes, *, right: float = 0.0, up: float = 0.0) -> Any:
    """Returns a transform that shifts by distances in points."""
    figure = axes.get_figure(root=True)
    assert figure is not None, "axes are in a figure"
    return ScaledTranslation(right / 72, up / 72, figure.dpi_scale_trans)


def _size(size: Any) -> float:
    """Returns a font size in points; a user may have set it by name."""
    return float(FontProperties(size=size).get_size_in_points())


def wrapped(text: str, room: float, size: float, weight: str = "normal") -> str:
    """Wraps text into lines that fit a width in inches."""
    if "\n" in text:
        return "\n".join(wrapped(line, room, size, weight) for line in text.splitlines())
    width = width_in(text, size, weight)
    if width <= room:
        return text
    characters = max(int(len(text) * room / width), 8)
    return "\n".join(textwrap.wrap(text, characters, break_on_hyphens=False, break_long_words=False))


def room_in(axes: Axes) -> float:
    """Returns the approximate width of axes in inches."""
    figure = axes.get_figure(root=True)
    width = float(figure.get_figwidth()) if figure is not None else 6.4
    place = axes.get_subplotspec()
    if place is None:
        return width * axes.get_position().width
    return width / place.get_gridspec().ncols * len(place.colspan) - _beside(axes)


def _beside(axes: Axes) -> float:
    """Returns the approximate width in inches of the labels left of axes: the widest one in the column of panels."""
    figure = axes.get_figure(root=True)
    place = axes.get_subplotspec()
    assert figure is not None, "axes are in a figure"
    widest = 0.0
    for other in figure.axes:
        beside = other.get_subplotspec()
        if beside is None or place is None or beside.colspan != place.colspan:
            continue
        texts = [label.get_text() for label in other.get_yticklabels()]
        widest = max(widest, *(width_in(text, points(8.5)) for text in texts if not text.endswith("}$")), 0.0)
    rows = place.get_gridspec().nrows if place is not None else 1
    is_broken = width_in(axes.get_ylabel(), points(9)) > 0.55 * float(figure.get_figheight()) / rows
    return max(points(9) / 12, widest + points(38) / 72) + is_broken * points(11) / 72


def fit_labels(figure: Figure, panels: Sequence[Axes] | None = None) -> None:
    """Breaks the labels of y axes before their unit if they are longer than the axis.

    Parameters
    ----------
    panels
        Axes whose labels are broken. Defaults to all axes.
    """
    size = _size(rcParams["axes.labelsize"])
    around: dict[int, float] = {}
    for axes in figure.axes:
        if (place := axes.get_subplotspec()) is not None:
            row = place.rowspan.start
            around[row] = max(around.get(row, 0.0), _above_and_below(axes))
    height = float(figure.get_figheight()) - sum(around.values()) - points(_ROW) / 72 * len(figure.legends)
    for axes in figure.axes if panels is None else panels:
        label, place = axes.get_ylabel(), axes.get_subplotspec()
        if place is None or " (" not in label or "\n" in label:
            continue
        ratios: Any = place.get_gridspec().get_height_ratios()
        share = sum(ratios[row] for row in place.rowspan) / sum(ratios)
        if width_in(label, size) > share * height:
            axes.set_ylabel(label.replace(" (", "\n("))


_LOWER_CASE = frozenset({"cwnd", "ssthresh", "x", "y"})
"""Words that keep their lower case at the start of a label."""


def capitalise(panels: Iterable[Axes]) -> None:
    """Starts the label of each axis with a capital, except for names in lower case and labels of the caller."""
    own = tuple(names.given().values())
    for axes in panels:
        for read, write in ((axes.get_xlabel, axes.set_xlabel), (axes.get_ylabel, axes.set_ylabel)):
            label = read()
            if own and label.startswith(own):
                continue
            first = label.split(" ", maxsplit=1)[0]
            if first.isalpha() and first not in _LOWER_CASE:
                write(label[0].upper() + label[1:])


def share_labels(panels: Iterable[Axes]) -> None:
    """Removes the x-axis labels of panels above each other that share the axis, except for the lowest panel."""
    columns: dict[tuple[int, int], list[tuple[int, Axes]]] = {}
    for axes in panels:
        if axes.get_visible() and (place := axes.get_subplotspec()) is not None:
            where = place.colspan
            columns.setdefault((where.start, where.stop), []).append((place.rowspan.start, axes))
    for own in columns.values():
        ordered = [axes for _, axes in sorted(own, key=lambda one: one[0])]
        for axes, below in itertools.pairwise(ordered):
            if axes.get_xlabel() == below.get_xlabel() and axes.get_xlim() == below.get_xlim():
                axes.set_xlabel("")


def _above_and_below(axes: Axes) -> float:
    """Returns the approximate space of title, legend, ticks and labels above and below axes, in inches."""
    rows = float(legend_rows(axes))
    for where in ("left", "right"):
        rows = max(rows, rows + axes.get_title(loc=where).count("\n"))
    rows += bool(axes.get_title(loc="left")) + len(axes.texts[:1])
    rows += 1.2 + 1.2 * bool(axes.get_xlabel())
    return rows * points(_ROW) / 72


def grow(figure: Figure, rows: int) -> None:
    """Adds rows of text to the height of one of our figures, unless its height was set explicitly."""
    if isinstance(figure, Chart) and figure.look.height_in is None:
        figure.set_figheight(figure.get_figheight() + rows * points(_ROW) / 72)


def entries(panels: Iterable[Axes]) -> dict[str, Any]:
    """Returns the artists of a legend by label: each label once, and only artists that are visible."""
    found: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            if label not in found and _shows(handle):
                found[label] = handle
    return found


def explain(axes: Axes, label: str, **look: Any) -> None:
    """Adds an entry of the legend without values: for marks of several colours, or for a line that has none."""
    line = Line2D([], [], label=label, gid=_EXPLAINS, **{"color": style.BLACK} | look)
    line.set_in_layout(False)
    axes.add_line(line)


def _shows(handle: Any) -> bool:
    if not isinstance(handle, Line2D) or handle.get_gid() == _EXPLAINS:
        return True
    values = np.asarray(handle.get_ydata(), dtype=np.float64)
    return bool(np.isfinite(values).any())


def legend_rows(axes: Axes) -> int:
    """Returns the number of rows of the legend of axes."""
    legend = axes.get_legend()
    return 0 if legend is None else -(-len(legend.get_texts()) // max(1, int(getattr(legend, "_ncols", 1))))


def legend_above(axes: Axes, handles: Mapping[str, Any], room: float | None = None) -> int:
    """Places a legend above axes, replacing their current one; returns the number of its rows.

    Parameters
    ----------
    room
        The width of the axes in inches; by default estimated from the current contents of the figure.
    """
    if not handles:
        if (legend := axes.get_legend()) is not None:
            legend.remove()
        return 0
    columns, order = _arranged(handles, room_in(axes) if room is None else room, _HANDLE)
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": columns}
    look = _LEGEND | {"handlelength": _HANDLE, "fontsize": points(8.5)}
    legend = axes.legend([handles[label] for label in order], order, **place, **look)
    _enlarge_dots(legend)
    return -(-len(handles) // columns)


def _arranged(handles: Mapping[str, Any], room: float, handle: float) -> tuple[int, list[str]]:
    """Returns the number of columns of a legend that fits, and the labels in the order in which matplotlib takes them.

    matplotlib fills a legend by columns; in this order it reads by rows.

    Parameters
    ----------
    handle
        The length of a line sample in the legend, as a multiple of the font size.
    """
    labels = list(handles)
    size = points(8.5)
    line = (handle + _LEGEND["handletextpad"]) * size / 72
    gap = _LEGEND["columnspacing"] * size / 72
    widths = [line + width_in(label, size) for label in labels]
    for columns in range(len(labels), 0, -1):
        if sum(max(widths[at::columns]) + gap for at in range(columns)) - gap <= room:
            break
    return columns, [labels[at] for column in range(columns) for at in range(column, len(labels), columns)]


def _enlarge_dots(legend: Any) -> None:
    """Enlarges the dots in a legend, which are small in axes that have thousands of them."""
    for handle in legend.legend_handles:
        if isinstance(handle, Line2D) and handle.get_marker() == ".":
            handle.set_markersize(points(8))


def head(
    figure: Figure,
    panels: Sequence[Axes],
    title: str,
    note: str = "",
    *,
    handles: Mapping[str, Any] | None = None,
    ax: Any = None,
) -> None:
    """Adds the title above all panels and the legend below; in a user's axes, only a legend above the first.

    Parameters
    ----------
    handles
        Entries of the legend. Defaults to the entries of all panels, if there are several.
    ax
        The user's axes.
    """
    if handles is None:
        handles = entries(panels)
        handles = handles if len(handles) > 1 else {}
    if ax is not None:
        if handles:
            legend_above(panels[0], handles)
        return
    caption(figure, title, note)
    width = float(figure.get_figwidth())
    rows = 0
    if current().titled:
        text = wrapped(f"{title} · {note}" if note else title, 0.97 * width, points(10), "bold")
        rows += text.count("\n")
        figure.suptitle(text, x=0.01, ha="left", fontweight="bold", fontsize=points(10))
    if handles:
        rows += legend_below(figure, handles, grows=False) - 1
    if rows:
        grow(figure, rows)


def legend_below(figure: Figure, handles: Mapping[str, Any], *, grows: bool = True) -> int:
    """Adds a legend below all panels; returns the number of its rows.

    Parameters
    ----------
    grows
        Whether the figure becomes higher by the rows.
    """
    columns, order = _arranged(handles, float(figure.get_figwidth()) - 0.2, _LONG_HANDLE)
    look = _LEGEND | {"handlelength": _LONG_HANDLE, "fontsize": points(8.5)}
    shown = [handles[label] for label in order]
    legend = figure.legend(shown, order, loc="outside lower left", ncols=columns, **look)
    _enlarge_dots(legend)
    rows = -(-len(handles) // columns)
    if grows:
        grow(figure, rows)
    return rows


def caption(figure: Any, title: str, note: str = "") -> None:
    """Sets the caption of one of our figures to its title and note, which styles of papers leave out."""
    if isinstance(figure, Chart):
        about = ", ".join(part for part in note.split(" · ") if part)
        figure.caption = f"{title}: {about}." if about else f"{title}."


def small_note(axes: Axes, text: str) -> None:
    """Writes a note in small letters above the right end of axes, or into their lower right corner if it is too long.

    Call it after :func:`panel_title`.
    """
    size = points(7.5)
    room = room_in(axes)
    title = axes.get_title(loc="left")
    if width_in(text, size) + width_in(title, points(9)) + _SPACE <= room and not legend_rows(axes):
        axes.set_title(text, loc="right", fontsize=size, color=style.GREY)
        return
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.8}
    axes.text(
        0.99, 0.03, wrapped(text, 0.95 * room, size), transform=axes.transAxes, ha="right", va="bottom",
        fontsize=size, color=style.GREY, gid=NOTE, zorder=7, bbox=box,
    )  # fmt: skip


def panel_title(axes: Axes, title: str) -> None:
    """Adds the title of one panel of several, above its legend if it has one."""
    size, rows = points(9), legend_rows(axes)
    pad = points(7 + _ROW * rows) if rows else rcParams["axes.titlepad"]
    axes.set_title(wrapped(title, room_in(axes), size), loc="left", fontsize=size, pad=pad)


def say_empty(axes: Axes, why: str) -> None:
    """Writes the reason why a panel is empty into its middle."""
    size = points(8.5)
    axes.text(
        0.5, 0.5, wrapped(why, 0.9 * room_in(axes), size), transform=axes.transAxes, ha="center", va="center",
        fontsize=size, color=style.GREY,
    )  # fmt: skip
    axes.grid(visible=False)
    axes.tick_params(left=False, labelleft=False)
