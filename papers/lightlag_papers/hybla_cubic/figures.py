"""The paper's figures, drawn from our runs."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lightlag.analyse import mean_interval
from lightlag.drawing import framing, style
from lightlag.validation import theory
from lightlag_papers.cubic_inet import equations as cubic_equations
from lightlag_papers.cubic_inet.growth import Growth
from lightlag_papers.drawing import intervals, labels, steps, styled
from lightlag_papers.hybla_cubic import equations
from lightlag_papers.hybla_cubic.comparison import (
    BDP,
    GRID_S,
    JUDGED_S,
    PACKET_BYTES,
    PAYLOAD_BYTES,
    RATE_BPS,
    RTT_S,
    SECONDS,
    SETTLED_S,
    SMALL_QUEUE,
    WINDOW_S,
    Comparison,
    Sample,
    Setting,
)
from lightlag_papers.hybla_cubic.growth import BicGrowth
from lightlag_papers.hybla_cubic.sweeps import PERS, QUEUES, RTTS_S, Goodputs

LINES = (("Hybla", False), ("CUBIC", False), ("Hybla", True))
"""Algorithm of each line, and whether it is paced."""


def _name(algorithm: str, paced: bool) -> str:
    return f"{algorithm}, paced" if paced else algorithm


@styled
def bic(paper: BicGrowth, linux: BicGrowth) -> Figure:
    """Plots Fig. 1: BIC's growth, with its three phases."""
    figure, axes = style.chart()
    last = 46
    ideal = paper.ideal
    t = np.linspace(0, last, 500)
    edges = (0.0, ideal.linear_ends, ideal.arrives, float(last))
    for at, (begin, end) in enumerate(pairwise(edges)):
        axes.axvspan(begin, end, color=style.COLOURS[at], alpha=0.06, linewidth=0)
    axes.axhline(paper.w_max, color=style.GREY, linewidth=0.9, linestyle=style.DASHES[1])
    axes.plot(t, [ideal.window(float(at)) for at in t], label="growth function", **style.line_style(0))
    dots: dict[str, Any] = {"linestyle": "none", "markersize": 3.6, "markerfacecolor": "white", "zorder": 4}
    axes.plot(paper.window[: last + 1], label="simulated epoch", marker="o", color=style.COLOURS[1], **dots)
    axes.plot(linux.window[: last + 1], label="with Linux's numbers", marker="s", color=style.COLOURS[2], **dots)
    framing.finish(axes, "BIC's growth function", f"Wmax = {paper.w_max:.0f}, one loss")
    axes.set_ylim(1550, 2600)
    axes.set_xlim(0, last)
    for at, (begin, name) in enumerate(zip(edges, ("additive", "binary search", "max probing"), strict=False)):
        axes.text(begin + 0.4, 2580, name, va="top", color=style.COLOURS[at])
    axes.annotate(
        "Wmax", (last, paper.w_max), xytext=(-4, -11), textcoords="offset points", ha="right", color=style.GREY
    )
    labels(axes, x="round trips since the window grows again")
    return figure


@styled
def cubic(paper: Growth, linux: Growth) -> Figure:
    """Plots Fig. 2: CUBIC's growth function, and simulated epochs."""
    figure, axes = style.chart()
    w_max, k = paper.epoch.w_max, cubic_equations.k(paper.epoch.w_max)
    t = np.linspace(0, float(paper.t_s[-1]), 400)
    axes.axhline(w_max, color=style.GREY, linewidth=0.9, linestyle=style.DASHES[1])
    axes.axvline(k, color=style.COLOURS[2], linewidth=1.1, linestyle=style.DASHES[2])
    axes.plot(t, [cubic_equations.window(float(at), w_max) for at in t], label="W(t)", **style.line_style(0))
    for at, (name, run, marker) in enumerate((("paper of 2008", paper, "o"), ("Linux 2.6", linux, "s")), start=1):
        moments = np.linspace(0, float(run.t_s[-1]), 36)
        step = np.searchsorted(run.t_s, moments).clip(0, len(run.t_s) - 1)
        dots: dict[str, Any] = {"linestyle": "none", "marker": marker, "markersize": 3.8, "markerfacecolor": "white"}
        axes.plot(run.t_s[step], run.window[step], label=name, color=style.COLOURS[at], zorder=4, **dots)
    framing.finish(axes, "CUBIC's growth function", f"β = {equations.BETA}, C = 0.4, Wmax = {w_max:.0f}")
    axes.set_ylim(0.76 * w_max, None)
    axes.set_xlim(0, float(t[-1]))
    low, _ = axes.get_ylim()
    axes.annotate(f"K = {k:.2f} s", (k, low), xytext=(5, 6), textcoords="offset points", color=style.COLOURS[2])
    axes.annotate("Wmax", (t[-1], w_max), xytext=(-4, 3), textcoords="offset points", ha="right", color=style.GREY)
    labels(axes, x="time since the start of the epoch (s)")
    return figure


@styled
def windows(found: Comparison, reading: str) -> Figure:
    """Plots Fig. 4: the windows over time with the first seed, and below an enlarged section."""
    figure, panels = style.chart(2, 1, size=(6.4, 5.0), sharex=True, height_ratios=(1, 1.4))
    for at, (name, sample) in enumerate((("Hybla", found.hybla[0]), ("CUBIC", found.cubic[0]))):
        for axes in panels:
            steps(axes, WINDOW_S, sample.window, at, label=name, linewidth=1.0, linestyle="solid")
    framing.finish(panels[0], "Congestion windows", f"{reading}, seed 1")
    late = WINDOW_S >= SETTLED_S
    highest = max(float(one[0].window[late].max()) for one in (found.cubic, found.hybla))
    panels[1].set_ylim(0, 1.05 * highest)
    panels[1].set_xlim(0, SECONDS)
    panels[0].set_ylabel("window (segments)")
    labels(panels[1], "window, enlarged")
    return figure


@styled
def acks(found: Comparison, reading: str) -> Figure:
    """Plots Fig. 5: the number of ACKs received."""
    return _over_time(found, reading, "ACKs received", "ACKs (thousands)", lambda one: one.acks / 1e3)


@styled
def goodput(found: Comparison, reading: str) -> Figure:
    """Plots Fig. 6: the mean goodput since the start."""
    seconds = np.maximum(GRID_S, GRID_S[1])
    rate = "goodput (Mbit/s)"
    return _over_time(found, reading, "Goodput since the start", rate, lambda one: one.payload * 8 / seconds / 1e6)


def _over_time(found: Comparison, reading: str, title: str, quantity: str, value: Callable[[Sample], Any]) -> Figure:
    """Plots the mean and the extremes over all seeds, and on the right the first seconds."""
    figure, panels = style.chart(1, 2, size=(6.4, 3.3), width_ratios=(2, 1))
    for at, (name, samples) in enumerate((("Hybla", found.hybla), ("CUBIC", found.cubic))):
        runs = np.array([value(one) for one in samples])
        for axes in panels:
            axes.plot(GRID_S, runs.mean(axis=0), label=name, **style.line_style(at))
            axes.fill_between(
                GRID_S, runs.min(axis=0), runs.max(axis=0), color=style.COLOURS[at], alpha=0.16, linewidth=0
            )
            axes.set_xlabel("time (s)")
    framing.finish(panels[0], title, f"{reading}, {found.seeds} seeds")
    early = 30.0
    inside = early >= GRID_S
    top = max(float(np.array([value(one)[inside] for one in half]).max()) for half in (found.hybla, found.cubic))
    panels[0].set_xlim(0, SECONDS)
    panels[1].set_xlim(0, early)
    panels[1].set_ylim(0, 1.05 * top)
    panels[1].set_title("the first 30 s", loc="left", fontsize=8.5, color=style.GREY)
    panels[0].set_ylabel(quantity)
    return figure


@styled
def queues(found: Goodputs) -> Figure:
    """Plots goodput by queue, with and without pacing."""
    figure, axes = style.chart(size=(6.4, 3.2))
    kinds = (*LINES, ("NewReno", False))
    width = 0.8 / len(kinds)
    for at, (algorithm, paced) in enumerate(kinds):
        points = [mean_interval(found[Setting(algorithm, queue, paced, seconds=JUDGED_S)]) for queue in QUEUES.values()]
        x = [place + (at - (len(kinds) - 1) / 2) * width for place in range(len(QUEUES))]
        means = [point.mean for point in points]
        axes.bar(
            x, means, 0.92 * width, color=style.COLOURS[at], alpha=0.82, linewidth=0, label=_name(algorithm, paced)
        )
        half = [0.0 if point.count < 2 else point.half_width for point in points]
        axes.errorbar(x, means, yerr=half, fmt="none", ecolor=style.BLACK, elinewidth=0.9, capsize=2)
    seeds = len(next(iter(found.values())))
    framing.finish(axes, "The queue decides", f"goodput of {JUDGED_S:.0f} s, {seeds} seeds")
    axes.set_xlim(-0.5, len(QUEUES) - 0.5)
    axes.set_xticks(range(len(QUEUES)), [f"{name} ({count} packets)" for name, count in QUEUES.items()])
    axes.set_xticklabels(["50 packets", *(f"{name} ({QUEUES[name]} packets)" for name in list(QUEUES)[1:])])
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel("goodput (Mbit/s)")
    return figure


@styled
def errors(found: Goodputs) -> Figure:
    """Plots goodput against the packet error rate, with a small and a larger queue."""
    figure, panels = style.chart(1, 2, size=(6.4, 3.5), sharey=True)
    for axes, queue in zip(panels, (SMALL_QUEUE, BDP // 2), strict=True):
        for at, (algorithm, paced) in enumerate(LINES):
            points = [mean_interval(found[Setting(algorithm, queue, paced, per=per, seconds=JUDGED_S)]) for per in PERS]
            intervals(axes, PERS, points, at, _name(algorithm, paced) if axes is panels[0] else "")
        _responses(axes)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(f"queue {queue} packets", loc="right", fontsize=8.5, color=style.GREY)
        axes.set_xlabel("packet error rate of a hop")
    panels[0].set_ylabel("goodput (Mbit/s)")
    panels[0].set_ylim(0.1, 40)
    figure.suptitle(
        "Goodput against errors; dotted: response functions", x=0.01, ha="left", fontweight="bold", fontsize=10.5
    )
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _responses(axes: Axes) -> None:
    """Plots the response functions of Hybla and CUBIC, up to the rate of the link."""
    most = RATE_BPS * PAYLOAD_BYTES / PACKET_BYTES
    for at, kind in enumerate(("Hybla", "CUBIC")):
        windows = [
            equations.hybla(2 * per, RTT_S) if kind == "Hybla" else theory.cubic(2 * per, RTT_S, beta=0.8)
            for per in PERS
        ]
        rates = [min(window * PAYLOAD_BYTES * 8 / RTT_S, most) / 1e6 for window in windows]
        axes.plot(PERS, rates, color=style.COLOURS[at], linewidth=0.9, linestyle=style.DASHES[2], zorder=1)


@styled
def round_trips(found: Goodputs) -> Figure:
    """Plots goodput against the round-trip time."""
    figure, axes = style.chart()
    x = [rtt * 1e3 for rtt in RTTS_S]
    for at, (algorithm, paced) in enumerate((*LINES, ("NewReno", False))):
        settings = [Setting(algorithm, paced=paced, rtt_s=rtt, seconds=JUDGED_S) for rtt in RTTS_S]
        intervals(axes, x, [mean_interval(found[one]) for one in settings], at, _name(algorithm, paced))
    largest = max(statistics.fmean(values) for values in found.values())
    framing.finish(axes, "Goodput against the round-trip time", f"queue {SMALL_QUEUE} packets, PER 1e-4 a hop")
    axes.set_ylim(0, 1.15 * largest)
    axes.set_xlim(0, 620)
    labels(axes, "goodput (Mbit/s)", "round-trip time (ms)")
    return figure
