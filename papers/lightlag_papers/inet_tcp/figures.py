"""The paper's figures, drawn from our runs."""

from __future__ import annotations

from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lightlag.drawing import framing, style
from lightlag.drawing.looks import current
from lightlag_papers.inet_tcp.bit_errors import (
    PAPER,
    PLAIN,
    PLAIN_LIMITED,
    RATES,
    SACK,
    SACK_LIMITED,
    BitErrors,
    Variant,
)


def throughput(run: BitErrors) -> Figure:
    """Plots Fig. 3: throughput against the bit error rate, and below it the same with limited transmit."""
    with matplotlib.rc_context(style.rc(current())):
        return _throughput(run)


def _throughput(run: BitErrors) -> Figure:
    figure, (above, below) = style.chart(2, 1, size=(6.4, 5.2), sharex=True, sharey=True)
    _curves(above, run, (PLAIN, SACK))
    _curves(below, run, (PLAIN_LIMITED, SACK_LIMITED))
    x = [ber * 1e6 for ber in RATES]
    thin: dict[str, Any] = {"color": style.GREY, "linewidth": 0.9, "linestyle": style.DASHES[2], "zorder": 2}
    mark: dict[str, Any] = {"linestyle": "none", "marker": "x", "markersize": 7, "markeredgewidth": 1.6, "zorder": 5}
    mark |= {"color": style.BLACK, "clip_on": False}
    for at in (0, 1):
        above.plot(x, [run.ideal[ber][at] for ber in RATES], label="_" if at else "model", **thin)
        printed = [(ber * 1e6, pair[at]) for ber, pair in PAPER.items()]
        above.plot(*zip(*printed, strict=True), label="_" if at else "paper", **mark)
    framing.finish(above, "Reno over a link with bit errors", "10 Mbit/s, limited transmit off")
    framing.finish(below, "", "limited transmit on", legend=False)
    below.set_xlabel("bit error rate (10⁻⁶)")
    for axes in (above, below):
        axes.set_ylabel("throughput (Mbit/s)")
        axes.set_xlim(0, x[-1])
        axes.set_ylim(0, 10)
    return figure


def _curves(axes: Axes, run: BitErrors, variants: tuple[Variant, Variant]) -> None:
    for at, variant in enumerate(variants):
        points = [run.curves[variant.name][ber].throughput for ber in RATES]
        look: dict[str, Any] = style.line_style(at) | {"marker": "o", "markersize": 3, "capsize": 2, "elinewidth": 0.8}
        axes.errorbar(
            [ber * 1e6 for ber in RATES],
            [point.mean for point in points],
            yerr=[point.half_width for point in points],
            label=variant.name,
            clip_on=False,
            zorder=3,
            **look,
        )
