"""The figure of a case: rates, data in flight and queue over time, with the phases of BBR."""

from __future__ import annotations

from typing import Any

from lightlag.drawing import framing, style
from lightlag.drawing.style import Chart
from lightlag.drawing.styled import styled
from lightlag.validation.cases.curves import Curves

__all__ = ["over_time"]

SHADES = {
    "startup": "#f3d9c9",
    "drain": "#d5e6f2",
    "up": "#f3d9c9",
    "down": "#d5e6f2",
    "probe_rtt": "#dddddd",
    "refill": "#f7efdc",
}
"""Background of phases; PROBE_CRUISE has none."""
LETTERS = {"startup": "S", "drain": "D", "up": "U", "down": "d", "probe_rtt": "R", "refill": "f", "cruise": "c"}
LEGEND = "S STARTUP, D DRAIN, d PROBE_DOWN, c CRUISE, f REFILL, U PROBE_UP, R PROBE_RTT"
WIDE = 0.014
"""Minimum width of a phase with a letter, as a fraction of the figure."""


@styled
def over_time(label: str, title: str, curves: Curves) -> Chart:
    """Returns the figure of one run of a case."""
    figure, (above, below) = style.chart(2, 1, size=(6.4, 5.0), sharex=True)
    _steps(above, curves)
    above.plot(curves.ends_s, curves.goodput_bps / 1e6, label="goodput", **style.line_style(0))
    above.plot(curves.time_s, curves.pacing_bps / 1e6, label="pacing rate", **style.line_style(1) | {"linewidth": 0.8})
    above.plot(curves.time_s, curves.estimate_bps / 1e6, label="estimate", **style.line_style(2))
    below.plot(curves.time_s, curves.flight, label="in flight", **style.line_style(0))
    below.plot(curves.time_s, curves.window, label="window", **style.line_style(1) | {"linewidth": 0.8})
    below.plot(curves.queue_s, curves.queue, label="queue", **style.line_style(3))
    for axes in (above, below):
        _shade(axes, curves)
    framing.finish(above, f"{label}: {title}", LEGEND if curves.phases else "")
    framing.finish(below, "")
    above.set_ylim(0, 1.5 * max(rate for _, rate in curves.link) / 1e6)
    above.set(ylabel="Mbit/s of payload", xlabel="")
    below.set(ylabel="segments, packets", xlabel="time (s)")
    below.set_ylim(0, 1.1 * max(float(curves.flight.max()), 1.0) if len(curves.flight) else None)
    for axes in (above, below):
        axes.set_xlim(curves.start_s, curves.end_s)
    _letters(above, curves)
    return figure


def _steps(axes: Any, curves: Curves) -> None:
    """Plots the rate of the bottleneck or policer."""
    times = [max(time, curves.start_s) for time, _ in curves.link] + [curves.end_s]
    rates = [rate / 1e6 for _, rate in curves.link]
    axes.step(times, [*rates, rates[-1]], where="post", label="capacity", **style.LIMIT)


def _shade(axes: Any, curves: Curves) -> None:
    for start, end, name in curves.phases:
        if name in SHADES:
            axes.axvspan(start, end, color=SHADES[name], linewidth=0, zorder=0)
    for time in curves.marks:
        axes.axvline(time, color=style.GREY, linewidth=0.8, linestyle=(0, (2, 2)))


def _letters(axes: Any, curves: Curves) -> None:
    span = curves.end_s - curves.start_s
    for start, end, name in curves.phases:
        if end - start >= WIDE * span:
            axes.text(
                (start + end) / 2,
                0.97,
                LETTERS[name],
                transform=axes.get_xaxis_transform(),
                ha="center",
                va="top",
                fontsize=style.points(7.5),
                color=style.GREY,
            )
