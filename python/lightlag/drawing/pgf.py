r"""Figures as PGF: LaTeX commands. Text has the fonts of the document that includes the figure.

matplotlib's own PGF backend measures text with LaTeX, so that a figure depends on what is installed. This backend uses
matplotlib's own fonts: it needs no LaTeX, and the same figure gives the same bytes. Texts are plain: LaTeX's special
characters are escaped.

Include it with ``\input{figure.pgf}`` and ``\usepackage{pgf}``.
"""

from __future__ import annotations

import io
import re
from typing import Any

from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_pgf import RendererPgf
from matplotlib.figure import Figure

__all__ = ["commands", "escaped"]

_HEAD = """\
% A figure of lightlag. Put \\usepackage{pgf} into the preamble, and \\input{THIS FILE} where the figure appears.
\\begingroup%
\\makeatletter%
\\ifdefined\\mathdefault\\else\\def\\mathdefault#1{#1}\\fi%
"""
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "^": r"\^{}",
    "~": r"\textasciitilde{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}",
    "·": r"\ensuremath{\cdot}",
    "×": r"\ensuremath{\times}",
    "±": r"\ensuremath{\pm}",
    "°": r"\ensuremath{^\circ}",
    "→": r"\ensuremath{\rightarrow}",
    "▲": r"\ensuremath{\uparrow}",
    "–": "--",
    "…": r"\ldots{}",
    "\N{MINUS SIGN}": r"\ensuremath{-}",
}
_SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def escaped(text: str) -> str:
    r"""Escapes text for LaTeX.

    Examples
    --------
    >>> escaped("50 % of links_0")
    '50 \\% of links\\_0'
    >>> escaped("10⁻⁵")
    '10\\ensuremath{^{-5}}'
    """
    return re.sub("[⁻⁰¹²³⁴-⁹]+|[^⁻⁰¹²³⁴-⁹]", _escaped, text)


def _escaped(found: re.Match[str]) -> str:
    """Returns a character, or digits of an exponent, for LaTeX."""
    part = found[0]
    exponent = part.translate(_SUPERSCRIPTS)
    return _SPECIAL.get(part, part) if exponent == part else rf"\ensuremath{{^{{{exponent}}}}}"


class _Renderer(RendererPgf):
    """Draws texts escaped, and measures them in matplotlib's fonts."""

    def draw_text(
        self, gc: Any, x: float, y: float, s: str, prop: Any, angle: float, ismath: Any = False, mtext: Any = None
    ) -> None:
        super().draw_text(gc, x, y, s if ismath else escaped(s), prop, angle, ismath, mtext)  # type: ignore[no-untyped-call]

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> tuple[float, float, float]:
        return RendererBase.get_text_width_height_descent(self, s, prop, ismath)


def commands(figure: Figure) -> str:
    """Returns the commands of a figure, all as lines and areas: no external images are written."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    figure.set_layout_engine("none")
    rasterized = [artist for artist in figure.findobj() if artist.get_rasterized()]
    for artist in rasterized:
        artist.set_rasterized(False)
    written = io.StringIO()
    written.write("%% Creator: lightlag\n")
    if caption := getattr(figure, "caption", ""):
        written.write(f"%% Caption: {' '.join(escaped(caption).split())}\n")
    written.write(_HEAD)
    width, height = figure.get_size_inches()
    written.write("\\begin{pgfpicture}%\n")
    written.write(f"\\pgfpathrectangle{{\\pgfpointorigin}}{{\\pgfqpoint{{{width:f}in}}{{{height:f}in}}}}%\n")
    written.write("\\pgfusepath{use as bounding box, clip}%\n")
    renderer: Any = _Renderer
    figure.draw(renderer(figure, written))
    written.write("\\end{pgfpicture}%\n\\makeatother%\n\\endgroup%\n")
    for artist in rasterized:
        artist.set_rasterized(True)
    if engine is not None:
        figure.set_layout_engine(engine)
    return written.getvalue()
