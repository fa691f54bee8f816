"""Figs. 9 to 11, drawn from our runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

import lightlag as ll
from lightlag.drawing import framing, style
from lightlag_papers.cubic_inet import satellite
from lightlag_papers.cubic_inet.rtt_sweep import RTTS_S, Sweep
from lightlag_papers.cubic_inet.satellite import ALGORITHMS, FLOWS, PRINTED_WINDOW
from lightlag_papers.cubic_inet.variants import VARIANTS, Variants
from lightlag_papers.drawing import intervals, labels, steps, styled
from lightlag_papers.epochs import WindowTrace

MS = [rtt * 1e3 for rtt in RTTS_S]
TICKS_MBPS = (5, 10, 20, 40, 80)


@styled
def windows(results: dict[str, ll.Result]) -> Figure:
    """Plots Fig. 9: the windows of four flows with CUBIC (a) and NewReno (b), including inflation in fast recovery."""
    figure, panels = style.chart(2, 1, size=(6.4, 5.4), sharex=True)
    end = max(result.simulated_s for result in results.values())
    for axes, (name, result) in zip(panels, results.items(), strict=True):
        for at, flow in enumerate(result.summary["flows"]):
            trace = WindowTrace.of(result.trace("cwnd"), flow["name"])
            open_ = trace.time_s <= flow["finish_s"]
            steps(axes, trace.time_s[open_], trace.cwnd[open_], at, label=flow["name"], linewidth=0.9)
            mark: dict[str, Any] = {"marker": "v", "markersize": 6, "linestyle": "none", "clip_on": False}
            axes.plot([flow["finish_s"]], [0], color=style.COLOURS[at], zorder=5, **mark)
        first = name == "CUBIC"
        framing.finish(axes, name, f"RTT 400 ms, seed {result.seed}", legend=first)
        axes.set_xlim(0, end)
        axes.set_ylabel("window (segments)")
    grey: dict[str, Any] = {"color": style.GREY, "linewidth": 0.9, "linestyle": style.DASHES[1], "zorder": 1}
    panels[0].axhline(PRINTED_WINDOW, **grey)
    panels[0].annotate(
        "150", (end, PRINTED_WINDOW), xytext=(0, 3), textcoords="offset points", ha="right", color=style.GREY
    )
    panels[1].set_xlabel("time (s); a triangle is the end of a flow")
    return figure


@styled
def clients(sweep: Sweep) -> Figure:
    """Plots Fig. 10: the throughput of each client with CUBIC (a) and with NewReno (b)."""
    figure, panels = style.chart(2, 1, size=(6.4, 5.0), sharex=True)
    for axes, name in zip(panels, ALGORITHMS, strict=True):
        of_clients = list(zip(*(sweep.clients(name, rtt) for rtt in RTTS_S), strict=True))
        for at, client in enumerate(of_clients):
            shifted = [x + 6 * (at - (FLOWS - 1) / 2) for x in MS]
            intervals(axes, shifted, client, at, f"client {at + 1}", linewidth=1.0)
        framing.finish(axes, name, f"{sweep.seeds} seeds", legend=name == "CUBIC")
        axes.set_xlim(0, 630)
        axes.set_xticks(MS)
        axes.set_ylabel("throughput (Mbit/s)")
    panels[1].set_xlabel("round-trip time (ms)")
    return figure


@styled
def aggregate(sweep: Sweep) -> Figure:
    """Plots Fig. 11: the throughput of all clients, with the response functions and the text's two values."""
    figure, axes = style.chart()
    t = np.linspace(RTTS_S[0], RTTS_S[-1], 100)
    for at, name in enumerate(ALGORITHMS):
        intervals(axes, MS, [sweep.aggregate(name, rtt) for rtt in RTTS_S], at, name)
        steady = [FLOWS * satellite.response_bps(name, float(rtt)) / 1e6 for rtt in t]
        thin: dict[str, Any] = {"color": style.COLOURS[at], "linewidth": 0.8, "linestyle": style.DASHES[2]}
        axes.plot(t * 1e3, steady, **thin)
    mark: dict[str, Any] = {"linestyle": "none", "marker": "x", "markersize": 7, "markeredgewidth": 1.6, "zorder": 5}
    axes.plot([600, 600], [7.5, 2.0], label="paper's text", color=style.BLACK, **mark)
    framing.finish(axes, "Throughput of four clients", f"15 MiB each, {sweep.seeds} seeds; dotted: response functions")
    axes.set_xlim(0, 630)
    axes.set_xticks(MS)
    labels(axes, "throughput (Mbit/s)", "round-trip time (ms)")
    return figure


@styled
def variants(found: Variants) -> Figure:
    """Plots every variant of CUBIC on the paper's path."""
    figure, axes = style.chart(size=(6.4, 4.4))
    middle = (len(VARIANTS) - 1) / 2
    for at, label in enumerate(VARIANTS):
        shifted = [x + 5 * (at - middle) for x in MS]
        intervals(axes, shifted, [found.aggregate(label, rtt) for rtt in RTTS_S], at, label, linewidth=1.0)
    framing.finish(axes, "Every variant of CUBIC", f"four clients, 15 MiB each, {found.seeds} seeds")
    axes.set_yscale("log")
    axes.set_ylim(5, 80)
    # An interval that reaches below zero has no end on this scale, and would push the axes off the page.
    for artist in (*axes.lines, *axes.collections):
        artist.set_in_layout(False)
    axes.set_yticks(TICKS_MBPS, [str(tick) for tick in TICKS_MBPS])
    axes.minorticks_off()
    axes.set_xlim(30, 630)
    axes.set_xticks(MS)
    labels(axes, "throughput (Mbit/s)", "round-trip time (ms)")
    return figure
