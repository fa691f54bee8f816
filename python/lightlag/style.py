"""One look for every figure: readable in print and in grey, safe for colour-blind readers.

Colours are those of Okabe and Ito (2008) without its yellow, which white paper swallows. Every line has a dash
pattern of its own too, so that no figure depends on colour alone.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lightlag._writing import new_file
from lightlag.errors import InputError

__all__ = ["BLACK", "COLOURS", "DASHES", "GREY", "Chart", "chart", "finish", "line_style", "save"]

BLACK = "#1a1a1a"
GREY = "#6b6b6b"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", BLACK)
DASHES: tuple[Any, ...] = (
    "solid",
    (0, (6, 1.6)),
    (0, (1.2, 1.4)),
    (0, (7, 1.6, 1.4, 1.6)),
    (0, (3.2, 1.4)),
    (0, (7, 1.6, 1.4, 1.6, 1.4, 1.6)),
    (0, (10, 3)),
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
    "figure.constrained_layout.use": True,
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


class Chart(Figure):
    """A figure that notebooks show without any set-up."""

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


def line_style(at: int) -> dict[str, Any]:
    """Colour and dash pattern of the line with this number."""
    return {"color": COLOURS[at % len(COLOURS)], "linestyle": DASHES[at % len(DASHES)]}


def finish(axes: Axes, title: str, note: str = "", *, legend: bool = True, end_s: float | None = None) -> None:
    """Title and note above the axes, the legend in rows between them, both axes from zero on."""
    handles, labels = axes.get_legend_handles_labels() if legend else ([], [])
    columns = _columns(axes, labels)
    rows = -(-len(labels) // columns)
    pad = 7 + 13.5 * rows
    axes.set_title(title, loc="left", pad=pad, fontweight="bold")
    axes.set_title(note, loc="right", pad=pad, fontsize=8.5, color=GREY)
    if rows:
        # A legend fills its columns one by one; people read rows.
        order = [at for column in range(columns) for at in range(column, len(labels), columns)]
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
    """The most columns of a legend that fit the axes: a character takes about 0.07 inches, its line 0.6."""
    figure = axes.figure.get_figure(root=True)
    room = (figure.get_figwidth() if figure else 6.4) - 0.8
    for columns in range(len(labels), 1, -1):
        longest = [max(map(len, labels[column::columns])) for column in range(columns)]
        if sum(0.6 + 0.07 * width for width in longest) <= room:
            return columns
    return 1


def save(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Writes a figure; the suffix decides the format. The same figure gives the same bytes."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f'{path}: "{suffix}" is not a format of figures; end the name in {", ".join(SUFFIXES)}')
    undated = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(suffix)
    drawing = io.BytesIO()
    with matplotlib.rc_context(RC):
        figure.savefig(drawing, format=suffix[1:], metadata=undated)
    with new_file(path) as partial:
        partial.write_bytes(drawing.getvalue())
    return path
