"""The paper's figures, drawn from our runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import lightlag as ll
from lightlag.drawing import framing, style
from lightlag_papers.cubic_inet import equations
from lightlag_papers.cubic_inet.dumbbell import LOSS, PATH
from lightlag_papers.cubic_inet.growth import Growth
from lightlag_papers.cubic_inet.point_to_point import TABLE_1, Forced
from lightlag_papers.drawing import labels, steps, styled
from lightlag_papers.epochs import OPEN, WindowTrace


@styled
def growth(run: Growth) -> Figure:
    """Plots Fig. 1: the growth function, and a simulated epoch."""
    figure, axes = style.chart()
    w_max, k = run.epoch.w_max, equations.k(run.epoch.w_max)
    t = np.linspace(0, float(run.t_s[-1]), 400)
    theory = np.array([equations.window(float(at), w_max) for at in t])
    axes.axvspan(0, k, color=style.COLOURS[0], alpha=0.06, linewidth=0)
    axes.axvspan(k, t[-1], color=style.COLOURS[1], alpha=0.06, linewidth=0)
    axes.axhline(w_max, color=style.GREY, linewidth=0.9, linestyle=style.DASHES[1])
    axes.axvline(k, color=style.COLOURS[2], linewidth=1.1, linestyle=style.DASHES[2])
    axes.plot(t, theory, label=r"$W(t) = C\,(t-K)^3 + W_\mathrm{max}$", **style.line_style(0), linewidth=1.8)
    step = np.searchsorted(run.t_s, np.linspace(0, float(run.t_s[-1]), 40)).clip(0, len(run.t_s) - 1)
    dots: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 4, "markerfacecolor": "white"}
    dots |= {"color": style.COLOURS[1], "zorder": 4, "clip_on": False}
    axes.plot(run.t_s[step], run.window[step], label="simulated epoch", **dots)
    framing.finish(axes, "CUBIC's growth function", "β = 0.2, C = 0.4")
    axes.set_ylim(0.76 * w_max, float(theory[-1]) * 1.02)
    axes.set_xlim(0, float(t[-1]))
    low, high = axes.get_ylim()
    axes.text(k - 0.12, high - 0.02 * (high - low), "concave", ha="right", va="top", color=style.COLOURS[0])
    axes.text(k + 0.12, high - 0.02 * (high - low), "convex", ha="left", va="top", color=style.COLOURS[1])
    axes.annotate(
        r"$W_\mathrm{max}$", (t[-1], w_max), xytext=(-4, 3), textcoords="offset points", ha="right", color=style.GREY
    )
    axes.annotate(
        f"K = {k:.2f} s", (k, low), xytext=(5, 6), textcoords="offset points", ha="left", color=style.COLOURS[2]
    )
    labels(axes)
    axes.set_xlabel("time since the start of the epoch (s)")
    return figure


@styled
def window(run: Forced) -> Figure:
    """Plots Fig. 4: cwnd, ssthresh and Wmax, with the reductions of Table 1."""
    figure, axes = style.chart(size=(6.4, 3.7))
    trace = run.trace
    for epoch in run.epochs:
        axes.axvline(epoch.reduction_s, color="#dcdcdc", linewidth=0.7, zorder=0)
    steps(axes, trace.time_s, trace.cwnd, 0, label="cwnd", linewidth=1.2, zorder=3)
    steps(axes, trace.time_s, trace.ssthresh, 1, label="ssthresh", linewidth=1.3, zorder=4)
    ends = [*(epoch.reduction_s for epoch in run.epochs[1:]), float(trace.time_s[-1])]
    plateaus = [(epoch.w_max, epoch.reduction_s, end) for epoch, end in zip(run.epochs, ends, strict=True)]
    axes.hlines(*zip(*plateaus, strict=True), label="Wmax", **(style.line_style(2) | {"linewidth": 1.5}), zorder=4)
    at = [epoch.reduction_s for epoch in run.epochs]
    mark: dict[str, Any] = {"marker": 6, "markersize": 6, "linestyle": "none", "color": style.COLOURS[4]}
    axes.plot(at, np.zeros(len(at)), label="reduction (Table 1)", clip_on=False, zorder=5, **mark)
    framing.finish(axes, "One CUBIC flow", "5 Mbit/s, RTT 80 ms, losses at the paper's times")
    axes.set_xlim(0, float(trace.time_s[-1]))
    labels(axes)
    return figure


@styled
def third_epoch(run: Forced) -> Figure:
    """Plots Fig. 5: the third epoch, with K and the growth function."""
    figure, axes = style.chart()
    trace, epoch, end = run.trace, run.epochs[2], run.epochs[3].reduction_s
    near = (trace.time_s > epoch.reduction_s - 0.5) & (trace.time_s < end + 0.3)
    grown = near & (trace.time_s > epoch.reduction_s) & (trace.phase == OPEN) & ~np.isnan(trace.k_s)
    begin = float(trace.time_s[grown][0])
    t = np.linspace(begin, end, 300)
    k = epoch.k_s
    theory = equations.C * (t - begin - k) ** 3 + epoch.w_max
    axes.axhline(epoch.w_max, color=style.COLOURS[2], linewidth=1.2, linestyle=style.DASHES[2], label="Wmax")
    steps(axes, trace.time_s[near], trace.cwnd[near], 0, label="cwnd", linewidth=1.6, zorder=3)
    axes.plot(t, theory, label=r"$C\,(t-K)^3 + W_\mathrm{max}$", zorder=4, **(style.line_style(1) | {"linewidth": 1.2}))
    switch = epoch.reduction_s + k
    axes.axvline(switch, color=style.COLOURS[2], linewidth=1.4)
    framing.finish(axes, "Third epoch", "integers hold the window at Wmax around K")
    low = 0.94 * epoch.threshold
    axes.set_ylim(low, float(trace.cwnd[grown].max()) * 1.06)
    axes.set_xlim(epoch.reduction_s - 0.5, end + 0.3)
    about = f"{switch:.2f} s: switch\nexpected (paper: {TABLE_1[2].switch_expected_s:.2f} s)"
    axes.annotate(about, (switch, low), xytext=(6, 8), textcoords="offset points", color=style.COLOURS[2])
    labels(axes)
    return figure


@styled
def four_flows(result: ll.Result) -> Figure:
    """Plots Fig. 7: the windows of four flows, and below an enlarged section."""
    figure, panels = style.chart(2, 1, size=(6.4, 4.8), sharex=True, height_ratios=(1, 1.35))
    above, below = panels
    for at, flow in enumerate(result.summary["flows"]):
        trace = WindowTrace.of(result.trace("cwnd"), flow["name"])
        for axes in panels:
            steps(axes, trace.time_s, trace.deflated(), at, label=f"flow {at + 1}", linewidth=1.1)
    framing.finish(above, "Four CUBIC flows", f"100 Mbit/s, RTT 84 ms, PER 5e-4, seed {result.seed}")
    expected = equations.response(LOSS, PATH.rtt_s)
    below.axhline(expected, color=style.GREY, linewidth=1.0, linestyle=style.DASHES[1], zorder=1)
    label: dict[str, Any] = {"xytext": (0, -4), "textcoords": "offset points", "va": "top", "color": style.GREY}
    below.annotate(f"{expected:.0f}: response function", (9, expected), fontsize=8, **label)
    below.set_ylim(0, 260)
    below.set_xlim(0, 50)
    above.set_ylabel("window (segments)")
    labels(below, "window, enlarged")
    return figure
