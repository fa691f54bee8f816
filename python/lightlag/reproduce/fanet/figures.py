"""The figures of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lightlag import framing, style
from lightlag.analyse import mean_interval
from lightlag.reproduce.drawing import intervals, labels, styled
from lightlag.reproduce.fanet.claims import AXES, PAPER, Metric, Sweep, fairness, kbps
from lightlag.reproduce.fanet.outcome import Outcome

X = {"nodes": "number of UAVs", "speed": "speed (m/s)"}


@styled
def throughput(ours: Sweep, peer: Sweep | None) -> Figure:
    """Average throughput of a flow: ours, ns-3's, and the numbers that the text prints."""
    figure, axes = style.chart()
    _curves(axes, ours, peer, kbps)
    for at, algorithm in enumerate(("CUBIC", "BBR")):
        printed = PAPER[ours.varies, algorithm]
        extremes = [printed.most_kbps] + ([printed.least_kbps] if ours.varies == "nodes" else [])
        for value, point in extremes:
            axes.plot(point, value, "x", color=style.COLOURS[at], markersize=7, clip_on=False)
    _finish(axes, ours, "Throughput of a flow", "kbit/s")
    return figure


@styled
def jain(ours: Sweep, peer: Sweep | None) -> Figure:
    """Jain's index: ours, ns-3's, and the numbers that the text prints."""
    figure, axes = style.chart()
    _curves(axes, ours, peer, fairness)
    for at, algorithm in enumerate(("CUBIC", "BBR")):
        printed = PAPER[ours.varies, algorithm]
        for value, point in (printed.most_jain, printed.least_jain):
            axes.plot(point, value, "x", color=style.COLOURS[at], markersize=7, clip_on=False)
    _finish(axes, ours, "Fairness", "Jain's index")
    axes.set_ylim(0, 1)
    return figure


@styled
def readings(sweeps: Mapping[str, Sweep]) -> Figure:
    """Throughput by density in both readings of the radio: the scale of the axis is that of decades."""
    figure, panels = style.chart(1, len(sweeps), size=(6.4, 3.2), sharey=True)
    for axes, (name, sweep) in zip(panels, sweeps.items(), strict=True):
        _curves(axes, sweep, None, kbps)
        axes.set_title(f"{name} radio", loc="right", fontsize=8.5, color=style.GREY)
        axes.set_xlabel(X[sweep.varies])
        axes.set_xticks(sweep.points)
        axes.set_yscale("log")
    panels[0].set_ylabel("throughput of a flow (kbit/s)")
    panels[0].legend(loc="best")
    return figure


@styled
def lines(points: Sequence[float], found: Mapping[str, Sequence[Sequence[Outcome]]], x: str, title: str) -> Figure:
    """Throughput of several contenders over one thing that varies."""
    figure, axes = style.chart()
    for at, (name, runs) in enumerate(found.items()):
        intervals(axes, points, [mean_interval(map(kbps, one)) for one in runs], at, name)
    labels(axes, "throughput of a flow (kbit/s)", x)
    framing.finish(axes, title)
    axes.set_xticks(points)
    axes.set_xlim(min(points), max(points))
    return figure


def _curves(axes: Axes, ours: Sweep, peer: Sweep | None, metric: Metric) -> None:
    for at, algorithm in enumerate(ours.names):
        found = [mean_interval(map(metric, ours.of(algorithm)[point])) for point in ours.points]
        intervals(axes, ours.points, found, at, algorithm)
        if peer is not None and algorithm in peer.names:
            values = peer.means(algorithm, metric)
            look: dict[str, Any] = {
                "color": style.COLOURS[at],
                "markersize": 4.5,
                "linestyle": "none",
                "clip_on": False,
            }
            axes.plot(peer.points, values, "s", fillstyle="none", label=f"{algorithm}, ns-3.37", **look)


def _finish(axes: Axes, ours: Sweep, title: str, y: str) -> None:
    labels(axes, y, X[ours.varies])
    framing.finish(axes, title, f"crosses: the paper · by {AXES[ours.varies]}")
    axes.set_xticks(ours.points)
    axes.set_xlim(min(ours.points), max(ours.points))
