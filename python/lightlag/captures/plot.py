"""Figures of captures: one connection, or a real one compared with a simulated one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from lightlag import analyse
from lightlag.captures.sides import Curve, Side
from lightlag.drawing import framing, scales, style
from lightlag.drawing.curves import thin
from lightlag.drawing.styled import styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lightlag.drawing.style import Chart

__all__ = ["comparison", "connection"]


@styled
def connection(side: Side, ends: tuple[str, str], *, ax: Sequence[Axes] | None = None) -> Chart:
    """Plots the sequence over time with retransmissions, and the bytes in flight, of the side that sent more data.

    Parameters
    ----------
    side
        The connection.
    ends
        The names of its sender and its receiver.
    ax
        Axes to draw into: for the sequence and for the bytes in flight.
    """
    figure, (upper, lower) = style.chart(2, 1, size=(6.4, 5.2), ax=ax, sharex=True, height_ratios=(1.5, 1))
    end = _end(side)
    factor, unit = scales.unit_of(float(np.max(side.sent.values, initial=0.0)), "B")
    _line(upper, side.sent, factor, "sent", 0)
    _line(upper, side.acked, factor, "acknowledged", 1)
    _dots(upper, side.retransmitted, factor, "retransmitted", style.BLACK, "x")
    sender, receiver = ends
    framing.finish(upper, "Sequence", f"{side.title} · {sender} to {receiver}", end_s=end)
    upper.set_ylabel(f"data ({unit})")
    factor, unit = scales.unit_of(float(np.max(side.in_flight.values, initial=0.0)), "B")
    _line(lower, side.in_flight, factor, "in flight", 0)
    framing.finish(lower, "In flight", legend=False, end_s=end)
    lower.set_ylabel(f"in flight ({unit})")
    lower.set_xlabel("time (s)")
    figure.align_ylabels()
    return figure


@styled
def comparison(real: Side, simulated: Side, *, ax: Sequence[Axes] | None = None) -> Chart:
    """Plots the sequence, bytes in flight and goodput of a real connection and a simulated one over the same time.

    Parameters
    ----------
    ax
        Axes to draw into: for the sequence, the bytes in flight and the goodput.
    """
    sides = (real, "real"), (simulated, "simulated")
    figure, panels = style.chart(3, 1, size=(6.4, 7.4), ax=ax, sharex=True, height_ratios=(1.3, 1, 1))
    end = max(_end(side) for side, _ in sides)
    highest = max(float(np.max(side.sent.values, initial=0.0)) for side, _ in sides)
    factor, unit = scales.unit_of(highest, "B")
    for at, (side, label) in enumerate(sides):
        _line(panels[0], side.sent, factor, label, at)
        _dots(panels[0], side.retransmitted, factor, f"retransmitted, {label}", style.COLOURS[at], "x+"[at])
    note = f"{real.title} · {simulated.title}"
    framing.finish(panels[0], "Sequence", note, end_s=end)
    panels[0].set_ylabel(f"data sent ({unit})")
    _windows(panels[1], sides, end)
    _goodputs(panels[2], sides, end)
    for axes in panels:
        axes.yaxis.set_major_locator(MaxNLocator(5))
    panels[2].set_xlabel("time (s)")
    figure.align_ylabels()
    return figure


def _windows(axes: Axes, sides: Any, end: float) -> None:
    curves = [(side.in_flight, f"in flight, {label}", at) for at, (side, label) in enumerate(sides)]
    curves += [(side.cwnd, f"cwnd, {label}", 2 + at) for at, (side, label) in enumerate(sides) if side.cwnd is not None]
    flights = max(float(np.max(curve.values, initial=0.0)) for curve, _, at in curves if at < 2)
    factor, unit = scales.unit_of(flights, "B")
    for curve, label, at in curves:
        _line(axes, curve, factor, label, at)
    framing.finish(axes, "In flight", end_s=end)
    axes.set_ylim(top=1.25 * flights / factor if flights else 1.0)
    axes.set_ylabel(f"in flight ({unit})")


def _goodputs(axes: Axes, sides: Any, end: float) -> None:
    # ACK progress is stepwise at a loss: an interval is no shorter than two round trips.
    rtts = [side.summary["mean_rtt_s"] or 0.0 for side, _ in sides]
    width = analyse.bin_width(max(end, 250 * max(rtts)))
    edges = np.arange(0.0, end + width, width)
    means = []
    for side, _ in sides:
        curve = side.acked
        if len(curve.times) == 0:
            means.append(np.zeros(len(edges) - 1))
            continue
        before = np.searchsorted(curve.times, edges, side="right") - 1
        reached = np.where(before >= 0, curve.values[np.maximum(before, 0)], 0.0)
        means.append(np.diff(np.maximum.accumulate(reached)) * 8 / width)
    factor, unit = scales.unit_of(max(float(np.max(mean, initial=0.0)) for mean in means), "bit/s")
    for at, ((_, label), mean) in enumerate(zip(sides, means, strict=True)):
        # Up to the interval in which the connection ended.
        last = np.flatnonzero(mean)[-1] + 1 if mean.any() else 0
        steps = np.concatenate((mean[:1], mean[:last])) / factor
        axes.plot(edges[: last + 1], steps, drawstyle="steps-pre", label=label, **style.line_style(at))
    framing.finish(axes, "Goodput", f"means over {width:g} s", end_s=end)
    axes.set_ylabel(f"goodput ({unit})")


def _line(axes: Axes, curve: Curve, factor: float, label: str, at: int) -> None:
    times, values = thin(curve.times, curve.values)
    axes.plot(times, values / factor, drawstyle="steps-post", label=label, **style.line_style(at))


def _dots(axes: Axes, curve: Curve | None, factor: float, label: str, colour: str, marker: str) -> None:
    if curve is not None and len(curve.times):
        look: dict[str, Any] = {"linestyle": "none", "marker": marker, "markersize": 4.5, "color": colour}
        axes.plot(curve.times, curve.values / factor, label=label, zorder=4, rasterized=len(curve.times) > 2000, **look)


def _end(side: Side) -> float:
    return max((float(curve.times[-1]) for curve in (side.sent, side.acked) if len(curve.times)), default=0.0)
