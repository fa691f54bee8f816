"""The figures of the paper."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lightlag.drawing import framing, style
from lightlag_papers.drawing import intervals, labels, styled
from lightlag_papers.fanet.claims import ALGORITHMS, AXES, PAPER
from lightlag_papers.fanet.readings import Curve, Evidence

X = {"nodes": "number of UAVs", "speed": "speed (m/s)"}


@styled
def throughput(seen: Evidence, varies: str) -> Figure:
    """Plots the mean throughput of a flow, and the values that the text gives for the first and the last point."""
    figure, axes = style.chart()
    _curves(axes, seen.throughput)
    _printed(axes, seen.throughput["CUBIC"].points, varies)
    _finish(axes, seen.throughput["CUBIC"], varies, "Throughput of a flow", "kbit/s")
    return figure


@styled
def jain(seen: Evidence, varies: str) -> Figure:
    """Plots Jain's index, and the range that the text gives."""
    figure, axes = style.chart()
    _curves(axes, seen.jain)
    for at, algorithm in enumerate(ALGORITHMS):
        printed = PAPER[varies, algorithm]
        axes.axhspan(printed.min_jain[0], printed.max_jain[0], color=style.COLOURS[at], alpha=0.12, linewidth=0)
    _finish(axes, seen.jain["CUBIC"], varies, "Fairness", "Jain's index", "shaded: the paper")
    axes.set_ylim(0, 1)
    return figure


@styled
def ranges(found: Mapping[str, Evidence]) -> Figure:
    """Plots throughput by density for each radio range, on a logarithmic axis."""
    figure, panels = style.chart(1, len(found), size=(6.4, 3.2), sharey=True)
    for axes, (name, seen) in zip(panels, found.items(), strict=True):
        _curves(axes, seen.throughput)
        _printed(axes, seen.throughput["CUBIC"].points, "nodes")
        axes.set_title(name, loc="right", fontsize=8.5, color=style.GREY)
        axes.set_xlabel("UAVs")
        axes.set_xticks(seen.throughput["CUBIC"].points)
        axes.set_yscale("log")
    panels[0].set_ylabel("throughput of a flow (kbit/s)")
    panels[0].legend(loc="best")
    return figure


def _curves(axes: Axes, curves: Mapping[str, Curve]) -> None:
    for at, (algorithm, curve) in enumerate(curves.items()):
        intervals(axes, curve.points, curve.intervals, at, algorithm)


def _printed(axes: Axes, points: tuple[int, ...], varies: str) -> None:
    for at, algorithm in enumerate(ALGORITHMS):
        printed = PAPER[varies, algorithm]
        for point, (value, _) in ((points[0], printed.max_kbps), (points[-1], printed.min_kbps)):
            axes.plot(point, value, "x", color=style.COLOURS[at], markersize=7, clip_on=False)


def _finish(axes: Axes, curve: Curve, varies: str, title: str, y: str, paper: str = "crosses: the paper") -> None:
    labels(axes, y, X[varies])
    framing.finish(axes, title, f"{paper} · by {AXES[varies]}")
    axes.set_xticks(curve.points)
    axes.set_xlim(min(curve.points), max(curve.points))
