"""Looks of figures: width, height and fonts of a paper's columns or of a slide.

=========  ==============================================================================================
``plain``  Each figure in a size of its own, sans serif at 9 pt.
``ieee``   3.5 in, one column. IEEE Author Center, *Create graphics for your article*: one column is 3.5 in
           wide, two are 7.16 in; labels have 8 to 10 pt in Times or Helvetica.
``acm``    3.337 in, one column of ``sigconf``. acmart 2.x lays a page of 8.5 in out with margins of 54 pt and 24 pt
           between two columns, 241.15 pt each; two are 7.006 in. Its text has 9 pt, serif, its notes 8 pt.
``slide``  140 mm. Beamer's user guide, *Aspect ratio*: a slide of 16:9 has 160 × 90 mm, of which margins
           take 10 mm on each side. Sans serif at 11 pt, thicker lines.
=========  ==============================================================================================

Titles belong in the caption of a paper: ``ieee`` and ``acm`` leave them out, except the titles of panels.

Serif is STIXGeneral, which resembles Times, and sans serif DejaVu Sans: both come with matplotlib, so that a figure is
the same on every machine.

Examples
--------
>>> from lightlag.drawing import looks
>>> looks.inches("88.9mm"), looks.inches("252pt")
(3.5, 3.4869)
>>> looks.of("ieee").width_in, looks.of("ieee", width="7.16in").width_in
(3.5, 7.16)
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from lightlag.errors import InputError
from lightlag.text.terminal import printable

__all__ = ["FAMILIES", "LOOKS", "Look", "current", "inches", "of", "within"]

FAMILIES = {"serif": "STIXGeneral", "sans": "DejaVu Sans", "mono": "DejaVu Sans Mono"}
"""Fonts that come with matplotlib, by their generic names."""

_UNITS: dict[str, float | None] = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27, "bp": 1 / 72, "px": None}
_LEAST_IN, _MOST_IN = 1.5, 40.0
_LEAST_DPI, _MOST_DPI = 50, 2400


@dataclass(frozen=True)
class Look:
    """The look of figures.

    Attributes
    ----------
    width_in, height_in
        In inches. None stands for the figure's own width, or for a height that suits the width.
    font
        A name of :data:`FAMILIES`, or a font family that is installed.
    size_pt, small_pt
        Of labels, and of ticks, legends and notes, in points.
    line_pt
        The width of lines, in points.
    titled
        Whether figures have a title and a note above them.
    dpi
        Pixels of a PNG per inch. IEEE and ACM require 300 for colour and grey, and 600 for line art.
    has_formulas
        Whether text between two dollars is a formula. Names of nodes and flows are not.
    """

    name: str
    width_in: float | None = None
    height_in: float | None = None
    font: str = "sans"
    size_pt: float = 9.0
    small_pt: float = 8.5
    line_pt: float = 1.4
    titled: bool = True
    has_formulas: bool = False
    dpi: int = 200


PLAIN = Look("plain")
LOOKS: dict[str, Look] = {
    "plain": PLAIN,
    "ieee": Look("ieee", 3.5, font="serif", size_pt=8, small_pt=8, line_pt=1.1, titled=False, dpi=600),
    "acm": Look(
        "acm", round(241.14749 / 72.27, 3), font="serif", size_pt=8, small_pt=8, line_pt=1.1, titled=False, dpi=600
    ),
    "slide": Look("slide", round(140 / 25.4, 3), font="sans", size_pt=11, small_pt=10, line_pt=2.2),
}
"""Looks by name."""

_current: ContextVar[Look] = ContextVar("look", default=PLAIN)


def current() -> Look:
    """Returns the look of the figures that are being created."""
    return _current.get()


@contextmanager
def within(look: Look) -> Iterator[Look]:
    """As :func:`using`, but takes an existing :class:`Look`."""
    token = _current.set(look)
    try:
        yield look
    finally:
        _current.reset(token)


def of(
    style: str = "plain",
    *,
    width: str | float | None = None,
    height: str | float | None = None,
    font: str | None = None,
    titles: bool | None = None,
    dpi: int | None = None,
) -> Look:
    """Returns a look for the parameters of :func:`using`."""
    if style not in LOOKS:
        raise InputError(f'no style "{printable(style)}"{_near(style, list(LOOKS))}; there are {", ".join(LOOKS)}')
    if font is not None:
        _check_font(font)
    if dpi is not None and not (_LEAST_DPI <= dpi <= _MOST_DPI):
        raise InputError(f"dpi: {dpi} is not between {_LEAST_DPI} and {_MOST_DPI} pixels per inch")
    pixels = LOOKS[style].dpi if dpi is None else dpi
    given: dict[str, Any] = {
        "width_in": None if width is None else inches(width, "width", pixels),
        "height_in": None if height is None else inches(height, "height", pixels),
        "font": font,
        "titled": titles,
        "dpi": dpi,
    }
    return dataclasses.replace(LOOKS[style], **{name: value for name, value in given.items() if value is not None})


def inches(length: str | float, what: str = "length", dpi: int = PLAIN.dpi) -> float:
    """Converts a length to inches. It is a number of inches, or text with a unit.

    Parameters
    ----------
    what
        The name of the length in an error.
    dpi
        Pixels per inch.

    Raises
    ------
    InputError
        If it is not a length, or too short or too long for a figure.
    """
    value = float(length) if isinstance(length, (int, float)) else _of_text(length, what, dpi)
    if not _LEAST_IN <= value <= _MOST_IN:
        raise InputError(f"{what}: {printable(str(length))} is not between {_LEAST_IN:g} in and {_MOST_IN:g} in")
    return round(value, 4)


def _of_text(length: str, what: str, dpi: int) -> float:
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+)\s*", length.lower())
    if match is None or match[2] not in _UNITS:
        units = ", ".join(_UNITS)
        raise InputError(f"{what}: {printable(length)} is not a length; write a number with one of {units}: 3.5in")
    value = float(match[1]) * (_UNITS[match[2]] or 1 / dpi)
    return value if math.isfinite(value) else math.inf


def _check_font(font: str) -> None:
    if font in FAMILIES:
        return
    from matplotlib.font_manager import fontManager

    names = sorted({entry.name for entry in fontManager.ttflist})
    if font not in names:
        near = _near(font, [*FAMILIES, *names])
        raise InputError(
            f'font: no font family "{printable(font)}" is installed{near}; {", ".join(FAMILIES)} are always there'
        )


def _near(name: str, names: list[str]) -> str:
    """Returns a question that suggests the nearest name; empty if no name is near."""
    lower = {each.lower(): each for each in names}
    found = difflib.get_close_matches(name.lower(), lower, 1)
    return f' (did you mean "{lower[found[0]]}"?)' if found else ""
