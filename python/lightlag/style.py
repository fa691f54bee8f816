"""One look for every figure: readable in print and in grey, safe for colour-blind readers.

Colours are those of Okabe and Ito (2008) without its yellow, which white paper swallows, and the wine of Tol's muted
palette (2021) for an eighth line. Every line has a dash pattern of its own too, so that no figure depends on colour
alone.
"""

from __future__ import annotations

import functools
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lightlag._quantities import scaled
from lightlag._writing import new_file
from lightlag.errors import InputError

__all__ = ["BLACK", "COLOURS", "DASHES", "GREY", "Chart", "chart", "finish", "leave_out_peak", "line_style", "save"]
__all__ += ["in_rows", "legend_columns", "save_as", "settle", "styled", "unit_of"]

P = ParamSpec("P")

BLACK = "#1a1a1a"
GREY = "#6b6b6b"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", BLACK, "#882255")
DASHES: tuple[Any, ...] = (
    "solid",
    (0, (6, 1.6)),
    (0, (1.2, 1.4)),
    (0, (7, 1.6, 1.4, 1.6)),
    (0, (3.2, 1.4)),
    (0, (7, 1.6, 1.4, 1.6, 1.4, 1.6)),
    (0, (10, 3)),
    (0, (4, 1.2, 1.2, 1.2)),
)
SUFFIXES = (".pdf", ".svg", ".png")

RC: dict[Any, Any] = {
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.labelcolor": BLACK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": BLACK,
    "axes.titlesize": 10.5,
    "figure.constrained_layout.h_pad": 0.06,
    "figure.constrained_layout.w_pad": 0.08,
    "figure.dpi": 110,
    "figure.facecolor": "white",
    "font.family": "sans-serif",
    "font.size": 9,
    "grid.color": "#dcdcdc",
    "grid.linewidth": 0.6,
    "legend.borderaxespad": 0.3,
    "legend.borderpad": 0.0,
    "legend.columnspacing": 1.6,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "legend.handletextpad": 0.6,
    "lines.linewidth": 1.4,
    "lines.solid_capstyle": "round",
    "lines.solid_joinstyle": "round",
    "path.simplify_threshold": 0.3,
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
    "svg.fonttype": "path",
    "svg.hashsalt": "lightlag",
    "text.color": BLACK,
    "xtick.color": GREY,
    "xtick.labelcolor": BLACK,
    "xtick.labelsize": 8.5,
    "xtick.major.width": 0.7,
    "ytick.color": GREY,
    "ytick.labelcolor": BLACK,
    "ytick.labelsize": 8.5,
    "ytick.major.width": 0.7,
}


LIMIT: dict[str, Any] = {"color": GREY, "linewidth": 0.8, "linestyle": (0, (1, 1.5)), "zorder": 1}
"""A bound that curves cannot pass."""


class Chart(Figure):
    """A figure that notebooks show without set-up."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the figure; the suffix decides the format (.pdf, .svg, .png)."""
        return save(self, path)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        with matplotlib.rc_context(RC):
            self.savefig(buffer, format="png")
        return buffer.getvalue()


def chart(rows: int = 1, columns: int = 1, *, size: tuple[float, float] = (6.4, 3.5), **axes: Any) -> tuple[Chart, Any]:
    """A figure with its axes. Call inside :func:`matplotlib.rc_context` with ``RC``."""
    figure = Chart(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, **axes)


def styled(draw: Callable[P, Chart]) -> Callable[P, Chart]:
    """Draws in this style."""

    @functools.wraps(draw)
    def wrapper(*args: P.args, **options: P.kwargs) -> Chart:
        with matplotlib.rc_context(RC):
            return draw(*args, **options)

    return wrapper


def line_style(at: int) -> dict[str, Any]:
    """Colour and dash pattern of the line with this number; when all colours are used up, others of their pairs."""
    again, colour = divmod(at, len(COLOURS))
    return {"color": COLOURS[colour], "linestyle": DASHES[(colour + again) % len(DASHES)]}


def unit_of(largest: float, unit: str) -> tuple[float, str]:
    """A divisor and the resulting unit, with a prefix for bit/s and B."""
    if unit in ("%", "ms"):
        return {"%": 0.01, "ms": 1e-3}[unit], unit
    if unit not in ("bit/s", "B"):
        return 1.0, unit
    value, prefix = scaled(largest)
    return (largest / value if value else 1.0), f"{prefix}{unit}"


def leave_out_peak(axes: Axes, curves: Sequence[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]) -> None:
    """Cuts off a peak far above the 90th percentile of the curves, and notes its height."""
    usual, peak = 0.0, (0.0, 0.0)
    for times, window in curves:
        order = np.argsort(window[:-1])
        share = np.cumsum(np.diff(times)[order])
        if len(share):
            usual = max(usual, float(window[order[np.searchsorted(share, 0.9 * share[-1])]]))
            peak = max(peak, (float(window.max()), float(times[window.argmax()])))
    if peak[0] > 4 * usual > 0:
        axes.set_ylim(top=1.6 * usual)
        about: dict[str, Any] = {"xytext": (4, -2), "textcoords": "offset points", "va": "top", "color": GREY}
        about |= {"bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1.0}, "zorder": 5}
        axes.annotate(f"up to {peak[0]:,.0f}", (peak[1], 1.6 * usual), fontsize=8, **about)


def finish(axes: Axes, title: str, note: str = "", *, legend: bool = True, end_s: float | None = None) -> None:
    """Title and note above the axes, the legend in rows between them, both axes from zero on."""
    handles, labels = axes.get_legend_handles_labels() if legend else ([], [])
    columns = _columns(axes, labels)
    rows = -(-len(labels) // columns)
    pad = 7 + 13.5 * rows
    axes.set_title(title, loc="left", pad=pad, fontweight="bold")
    axes.set_title(note, loc="right", pad=pad, fontsize=8.5, color=GREY)
    if rows:
        order = in_rows(len(labels), columns)
        axes.legend(
            [handles[at] for at in order],
            [labels[at] for at in order],
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=columns,
        )
    axes.set_ylim(bottom=0)
    axes.set_xlim(0, end_s)


def _columns(axes: Axes, labels: list[str]) -> int:
    """The most columns of a legend that fit the axes."""
    figure = axes.figure.get_figure(root=True)
    return legend_columns((figure.get_figwidth() if figure else 6.4) - 0.8, labels)


def in_rows(count: int, columns: int) -> list[int]:
    """The order of a legend's entries, so that they read by rows: a legend fills column by column."""
    return [at for column in range(columns) for at in range(column, count, columns)]


def legend_columns(room: float, labels: Sequence[str], line: float = 0.6) -> int:
    """The most columns of a legend in a width in inches: a character takes about 0.07, its line `line`."""
    for columns in range(len(labels), 1, -1):
        longest = [max(map(len, labels[column::columns])) for column in range(columns)]
        if sum(line + 0.07 * width for width in longest) <= room:
            return columns
    return 1


def settle(figure: Figure) -> None:
    """Fixes the layout of a figure, so that each later writing takes a third of the time."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)


def save(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Writes a figure; the suffix decides the format. The same figure gives the same bytes."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f'{path}: "{suffix}" is not a format of figures; end the name in {", ".join(SUFFIXES)}')
    drawing = save_as(figure, suffix[1:])
    with new_file(path) as partial:
        partial.write_bytes(drawing)
    return path


def save_as(figure: Figure, kind: str) -> bytes:
    """A figure as the bytes of a file: pdf, svg or png."""
    undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind)
    drawing = io.BytesIO()
    with matplotlib.rc_context(RC):
        figure.savefig(drawing, format=kind, metadata=undated)
    return drawing.getvalue()
