"""One look for every figure: readable in print and in grey, safe for colour-blind readers.

The colours are the palette of Okabe and Ito (2008) without its yellow, which is hard to see on white paper, and the
wine of Tol's muted palette (2021) for an eighth line. Every line also has its own dash pattern, so that no figure
depends on colour alone. :mod:`lightlag.drawing.looks` has sizes and fonts, :mod:`lightlag.drawing.framing` titles and
legends, :mod:`lightlag.drawing.scales` axes.
"""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, ParamSpec, cast

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lightlag.drawing.looks import FAMILIES, PLAIN, Look, current
from lightlag.errors import InputError
from lightlag.files.output import new_file

__all__ = ["BLACK", "COLOURS", "DASHES", "GREY", "MARKERS", "Chart", "chart", "line_style", "points", "rc", "save"]
__all__ += ["format_of", "save_as", "settle"]

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
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
"""Markers by series, so that points without lines differ in more than colour."""
SUFFIXES = (".pdf", ".svg", ".png", ".pgf")

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
    "savefig.dpi": PLAIN.dpi,
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


LIMIT: dict[str, Any] = {"color": BLACK, "linewidth": 0.9, "linestyle": (0, (1, 2)), "zorder": 1.5}
"""Line style of a bound that curves cannot exceed."""


def limit(index: int) -> dict[str, Any]:
    """Returns the look of a bound by its index; there are three."""
    return LIMIT | {"linestyle": ((0, (1, 2)), (0, (5, 2)), (0, (5, 2, 1, 2)))[index % 3]}


def rc(look: Look) -> dict[Any, Any]:
    """Returns matplotlib's settings for a look."""
    family = FAMILIES.get(look.font, look.font)
    return RC | {
        "axes.labelsize": look.size_pt,
        "axes.titlesize": look.size_pt + 1.5 * (look.size_pt > look.small_pt),
        # The second has the arrows that many text fonts lack.
        "font.family": list(dict.fromkeys([family, FAMILIES["sans"]])),
        "font.size": look.size_pt,
        "legend.fontsize": look.small_pt,
        "lines.linewidth": look.line_pt,
        "text.parse_math": look.has_formulas,
        "mathtext.fontset": "stix" if look.font == "serif" else "dejavusans",
        "savefig.dpi": look.dpi,
        "xtick.labelsize": look.small_pt,
        "ytick.labelsize": look.small_pt,
    }


def points(size: float) -> float:
    """Converts a length in points, given for the plain look, to the current look."""
    return size * float(matplotlib.rcParams["font.size"]) / PLAIN.size_pt


class Chart(Figure):
    """A figure that notebooks show without set-up."""

    look: Look = PLAIN
    """The look in which the figure was created; it is also saved in this look."""
    caption: str = ""
    """A caption in plain text: what is shown, of how many runs, and what the intervals are. Files contain it."""

    @property
    def latex_caption(self) -> str:
        """The caption for LaTeX, with its special characters escaped."""
        from lightlag.drawing import pgf

        return pgf.escaped(self.caption)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the figure; the suffix decides the format (.pdf, .svg, .png, .pgf)."""
        return save(self, path)

    def _repr_png_(self) -> bytes:
        return save_as(self, "png")


def chart(
    rows: int = 1,
    columns: int = 1,
    *,
    size: tuple[float, float] = (6.4, 3.5),
    follow: float = 0.8,
    ax: Any = None,
    **axes: Any,
) -> tuple[Chart, Any]:
    """Returns a figure with its axes. Call in a function that is :func:`styled`.

    Parameters
    ----------
    size
        Width and height in inches where the look has none.
    follow
        How the height follows a given width: the exponent of a power law; 1 for a map, 0 for rows of text.
    ax
        Axes of a user's own figure, as many as there are panels, instead of a new figure.
    axes
        As for :meth:`matplotlib.figure.Figure.subplots`.
    """
    if ax is not None:
        return _given(ax, rows, columns, bool(axes.get("squeeze", True)))
    look, (width, height) = current(), size
    if look.width_in is not None:
        width, height = look.width_in, height * (look.width_in / width) ** follow
    figure = Chart(figsize=(width, look.height_in or height), layout="constrained")
    figure.look = look
    return figure, figure.subplots(rows, columns, **axes)


def _given(ax: Any, rows: int, columns: int, squeeze: bool) -> tuple[Chart, Any]:
    """Returns a user's axes and their figure, which the user saves."""
    panels = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    wrong = next((each for each in panels if not isinstance(each, Axes)), None)
    if wrong is not None:
        raise InputError(f"ax: {type(wrong).__name__} is not an Axes of matplotlib; give the axes of your figure")
    if len(panels) != rows * columns:
        many = f"{rows * columns} panel{'s' * (rows * columns > 1)}"
        raise InputError(f"ax: {len(panels)} axes, and this figure has {many}; give as many axes")
    figure = cast(Chart, panels[0].get_figure(root=True))
    if not squeeze:
        return figure, panels.reshape(rows, columns)
    return figure, panels[0] if len(panels) == 1 else panels.reshape(rows, columns).squeeze()


def line_style(index: int) -> dict[str, Any]:
    """Returns the colour and dash pattern of a line by its index; after all colours they repeat with other patterns."""
    again, colour = divmod(index, len(COLOURS))
    return {"color": COLOURS[colour], "linestyle": DASHES[(colour + again) % len(DASHES)]}


def settle(figure: Figure) -> None:
    """Fixes the layout of a figure, so that each later write takes a third of the time."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)


def save(figure: Figure, path: str | os.PathLike[str], kind: str | None = None) -> Path:
    """Writes a figure. The same figure gives the same bytes.

    Parameters
    ----------
    kind
        ``"pdf"``, ``"svg"``, ``"png"`` or ``"pgf"``; by default the suffix of `path`.
    """
    path = Path(path)
    drawing = save_as(figure, format_of(path) if kind is None else kind)
    with new_file(path) as partial:
        partial.write_bytes(drawing)
    return path


def format_of(path: Path) -> str:
    """Returns the format of a file by its suffix.

    Raises
    ------
    InputError
        If it is not a format of figures.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        problem = f'"{suffix}" is not a format of figures' if suffix else "has no suffix for the format"
        raise InputError(f"{path}: {problem}; end the name in {', '.join(SUFFIXES)}")
    return suffix[1:]


def save_as(figure: Figure, kind: str) -> bytes:
    """Returns a figure as the bytes of a file: pdf, svg, png or pgf."""
    # The program by which a later command recognises its own figure, and no date.
    metadata: dict[str, dict[str, Any]] = {
        "pdf": {"Creator": "lightlag", "CreationDate": None},
        "svg": {"Creator": "lightlag", "Date": None},
        "png": {"Software": "lightlag"},
    }
    about = metadata.get(kind)
    caption = figure.caption if isinstance(figure, Chart) else ""
    if about is not None and caption:
        about["Subject" if kind == "pdf" else "Description"] = caption
    drawing = io.BytesIO()
    look = figure.look if isinstance(figure, Chart) else replace(PLAIN, has_formulas=True)
    with matplotlib.rc_context(rc(look)):
        if kind == "pgf":
            from lightlag.drawing import pgf

            drawing.write(pgf.commands(figure).encode())
        else:
            figure.savefig(drawing, format=kind, metadata=about)
    return drawing.getvalue()
