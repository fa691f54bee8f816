"""Axes of figures: units, ticks, and values far above all others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from lightlag.drawing import style
from lightlag.drawing.framing import width_in
from lightlag.drawing.style import points
from lightlag.text.powers import in_powers, power_of_ten, tick_texts
from lightlag.text.quantities import scaled

__all__ = ["cut_intervals", "in_numbers", "in_powers", "log_values", "power_of_ten", "tame_peak", "tick", "tick_texts"]
__all__ += ["unit_of"]

Numbers = npt.NDArray[np.float64]

_PEAK = 4.0
"""Minimum height of a peak, as a multiple of the default level."""
_DECADES = 20.0
"""Multiple of the default level; values above it that are not a single peak lead to a logarithmic axis."""
_MOST = 2.0
"""Upper limit of an axis that shows intervals, as a multiple of the largest mean."""


def unit_of(largest: float, unit: str) -> tuple[float, str]:
    """Returns a divisor and the resulting unit, with a prefix for bit/s and B."""
    if unit in ("%", "ms"):
        return {"%": 0.01, "ms": 1e-3}[unit], unit
    if unit not in ("bit/s", "B"):
        return 1.0, unit
    value, prefix = scaled(largest)
    return (largest / value if value else 1.0), f"{prefix}{unit}"


def tick(value: float) -> str:
    """Formats a number as scenarios, titles and legends write it: 1e-5, not 1e-05."""
    return re.sub(r"e([+-])0+(?=\d)", lambda sign: "e-" if sign[1] == "-" else "e", f"{value:g}").replace("e+", "e")


def in_numbers(axis: Any) -> None:
    """Labels the ticks of a logarithmic axis with plain numbers, or all of them with powers of ten."""

    def text(value: float, _: object) -> str:
        low, high = sorted(map(float, axis.get_view_interval()))
        if in_powers((low, high)):
            return power_of_ten(value)
        return f"{value:,.0f}" if value >= 1 else tick(value)

    axis.set_major_locator(LogLocator(numticks=6))
    axis.set_major_formatter(FuncFormatter(text))
    axis.set_minor_formatter(NullFormatter())


def log_values(axes: Axes, minimum: float, maximum: float) -> None:
    """Makes the y axis logarithmic, with a margin around these values, and states this in its label."""
    axes.set_yscale("log")
    axes.set_ylim(minimum / 1.3, maximum * 1.3)
    in_numbers(axes.yaxis)
    label = axes.get_ylabel()
    if label:
        axes.set_ylabel(label.replace(")", ", log)") if ")" in label else f"{label} (log)")
    else:
        axes.set_title(f"{axes.get_title(loc='left')} · log axis", loc="left", fontsize=points(9))


def tame_peak(axes: Axes, curves: Sequence[tuple[Numbers, Numbers]]) -> None:
    """Keeps values far above all others from flattening the rest. Call it once the axes have their labels.

    A short peak is cut off, with a mark that states its height. If values are far above the default ones for more than
    a tenth of the time, the axis is logarithmic.

    Parameters
    ----------
    curves
        Times and values, in the unit of the axes.
    """
    levels = [_levels(times, values) for times, values in curves if len(times) > 1]
    if not levels:
        return
    median = min(level for level, _ in levels)
    usual = max(level for _, level in levels)
    peak, at = max((float(np.nanmax(values)), float(times[np.nanargmax(values)])) for times, values in curves)
    if peak > _PEAK * usual > 0 and usual <= _DECADES * median:
        top = 1.6 * usual
        axes.set_ylim(top=top)
        _mark(axes, at, f"up to {peak:,.0f}")
    elif peak > _DECADES * median > 0:
        log_values(axes, min(_least(values) for _, values in curves), peak)


def _levels(times: Numbers, values: Numbers) -> tuple[float, float]:
    """Returns the time-weighted median of a step curve, and its time-weighted 90th percentile."""
    known = np.isfinite(values[:-1])
    if not known.any():
        return 0.0, 0.0
    steps, lengths = values[:-1][known], np.diff(times)[known]
    order = np.argsort(steps)
    share = np.cumsum(lengths[order])
    at = np.minimum(np.searchsorted(share, np.array([0.5, 0.9]) * share[-1]), len(order) - 1)
    median, usual = steps[order[at]]
    return float(median), float(usual)


def _least(values: Numbers) -> float:
    above = values[np.isfinite(values) & (values > 0)]
    return float(above.min()) if len(above) else 1.0


def _mark(axes: Axes, x: float, text: str) -> None:
    """Adds an arrow at the upper edge of axes, with the values that are cut off there."""
    low, high = axes.get_xlim()
    size = points(8)
    figure = axes.get_figure(root=True)
    room = 0.75 * float(figure.get_figwidth()) if figure is not None else 4.0
    is_late = (x - low) / ((high - low) or 1.0) * room + width_in(text, size) + 0.2 > room
    arrow: dict[str, Any] = {"marker": "^", "markersize": points(4.5), "color": style.BLACK, "clip_on": False}
    axes.plot([x], [1.0], transform=axes.get_xaxis_transform(), linestyle="none", zorder=6, **arrow)
    axes.annotate(
        text,
        (x, 1.0),
        xycoords=axes.get_xaxis_transform(),
        xytext=(points(-6 if is_late else 6), points(-3)),
        textcoords="offset points",
        ha="right" if is_late else "left",
        va="top",
        fontsize=size,
        color=style.BLACK,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.85},
        zorder=5,
    )


def cut_intervals(panels: Sequence[Axes], largest: float, highest: float, unit: str = "") -> float:
    """Returns the upper end of an axis with intervals. It shows all of them, unless they are far longer than the means.

    Parameters
    ----------
    largest, highest
        The largest mean, and the highest end of an interval.
    unit
        Unit of both, for the note in the first panel that states the range of intervals that are cut off.
    """
    if highest <= 1.05 * _MOST * largest or largest == 0:
        return 1.05 * highest or 1.0
    text = f"▲ intervals up to {highest:.3g}{f' {unit}' if unit else ''}"
    panels[0].text(
        0.99, 0.99, text, transform=panels[0].transAxes, ha="right", va="top", fontsize=points(7.5), color=style.GREY
    )
    return 1.05 * _MOST * largest
