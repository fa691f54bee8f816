"""Creates figures in the current look."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ParamSpec

import matplotlib
import numpy as np
from cycler import cycler

from lightlag.drawing import framing, names
from lightlag.drawing.looks import Look, current, within
from lightlag.drawing.looks import of as look_of
from lightlag.drawing.style import COLOURS, Chart, rc

__all__ = ["styled", "using"]

P = ParamSpec("P")


@contextmanager
def using(
    style: str = "plain",
    *,
    width: str | float | None = None,
    height: str | float | None = None,
    font: str | None = None,
    titles: bool | None = None,
    dpi: int | None = None,
    labels: Mapping[str, str] | None = None,
) -> Iterator[Look]:
    r"""Applies this look to the figures created within the block; they keep it when they are saved.

    Figures that you make with matplotlib itself get its fonts, size, colours and resolution as well.

    Parameters
    ----------
    style
        A name of :data:`LOOKS`.
    width, height
        Lengths such as ``"3.5in"``, ``"88mm"``, ``"252pt"`` or ``"700px"``, or numbers of inches. A point is a TeX
        point, 1/72.27 in, as ``\the\columnwidth`` prints; pixels refer to a PNG: 600 per inch for ``ieee`` and ``acm``,
        otherwise 200.
    font
        ``"serif"``, ``"sans"``, ``"mono"`` or a font family that is installed.
    titles
        Whether there are titles and notes above; by default as in the style.
    dpi
        Pixels per inch of a PNG, from 50 to 2400; by default as in the style.
    labels
        Names in figures to replace, such as ``{"cubic": "Linux's CUBIC", "loss": "Packet loss"}``: of algorithms,
        variables, runs, flows and metrics.

    Raises
    ------
    InputError
        If there is no such style or font, or if a length is invalid.

    Examples
    --------
    >>> import lightlag as ll
    >>> result = ll.run(ll.presets.geo(transfer="1 MB"), seed=1)
    >>> with ll.plot.using("ieee"):
    ...     figure = ll.plot.cwnd(result)
    >>> float(figure.get_figwidth())
    3.5
    """
    with within(look_of(style, width=width, height=height, font=font, titles=titles, dpi=dpi)) as look:
        own: dict[Any, Any] = {"figure.constrained_layout.use": True, "text.parse_math": True}
        own["axes.prop_cycle"] = cycler(color=COLOURS)
        if look.width_in is not None:
            own["figure.figsize"] = _size_of(look)
        with matplotlib.rc_context(rc(look) | own), names.within(labels):
            yield look


def _size_of(look: Look) -> tuple[float, float]:
    """Returns the size of a user's own figure in inches: the width of the look, and a height in the golden ratio."""
    width = look.width_in or 6.4
    return width, look.height_in or round(width * 0.618, 4)


def styled(draw: Callable[P, Chart]) -> Callable[P, Chart]:
    """Makes a function draw in the current look; what it draws into a user's axes keeps their settings."""

    @functools.wraps(draw)
    def wrapper(*args: P.args, **options: P.kwargs) -> Chart:
        if (ax := options.get("ax")) is not None:
            figure = draw(*args, **options)
            panels = np.atleast_1d(np.asarray(ax, dtype=object)).ravel().tolist()
            framing.capitalise(panels)
            framing.fit_labels(figure, panels)
            return figure
        with matplotlib.rc_context(rc(current())):
            figure = draw(*args, **options)
            framing.capitalise(figure.axes)
            framing.share_labels(figure.axes)
            framing.fit_labels(figure)
            return figure

    return wrapper
