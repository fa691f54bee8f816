"""The figures on open questions, which are not from a paper."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from lightlag.drawing import style
from lightlag_papers.drawing import styled
from lightlag_papers.open_questions.candidates import algorithms, alone
from lightlag_papers.open_questions.fairness import QUEUES, TRIPS, Pairs, RoundTrips
from lightlag_papers.open_questions.losses import ORBITS, PERS, Grid
from lightlag_papers.open_questions.paths import GEO
from lightlag_papers.open_questions.sizes import SIZES, Transfers
from lightlag_papers.open_questions.start_up import JITTER, SECONDS, SLOW_STARTS, SlowStarts, Start

MARKERS = ("o", "s", "D", "v")
SHARES = LinearSegmentedColormap.from_list("shares", [style.COLOURS[1], "white", style.COLOURS[0]])
"""Colours from less than half of the fair share to more."""
CHOSEN = ("newreno", "cubic", "hybla", "bbr", "peach", "star", "wave")
"""The algorithms shown in figures with too little space for all."""


def _by_name(axes: Axes, names: list[str]) -> None:
    """Labels one row per algorithm, the first at the top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.grid(axis="x")


@styled
def start_up(found: dict[str, Start]) -> Figure:
    """Plots the round trips until the link is full, and the packets dropped until then and thereafter."""
    names = list(found)
    figure, panels = style.chart(1, 2, size=(6.4, 0.9 + 0.25 * len(names)), sharey=True)
    rounds, dropped = panels
    for at, one in enumerate(found.values()):
        if one.rounds is None:
            rounds.text(0.1, at, "not within a minute", va="center", fontsize=7.5, color=style.GREY)
        else:
            rounds.barh(at, one.rounds, 0.62, color=style.COLOURS[0], alpha=0.82, linewidth=0)
        dropped.barh(at, one.lost, 0.62, color=style.COLOURS[1], alpha=0.82, linewidth=0)
    for axes in panels:
        _by_name(axes, names)
    rounds.axvline(GEO.fills_after(), color=style.GREY, linewidth=0.9, linestyle=style.DASHES[1])
    rounds.set_xlabel("round trips until 90 % of the link")
    dropped.set_xlabel(f"packets dropped in {SECONDS:.0f} s")
    figure.suptitle("Start-up over GEO; dashed: doublings", x=0.01, ha="left", fontweight="bold", fontsize=10.5)
    return figure


@styled
def slow_starts(found: SlowStarts) -> Figure:
    """Plots CUBIC's first seconds over GEO with three kinds of slow start, without and with jitter."""
    figure, panels = style.chart(1, 2, size=(6.4, 3.2), sharey=True)
    for axes, jitter in zip(panels, (False, True), strict=True):
        for at, kind in enumerate(SLOW_STARTS):
            one = found["GEO", jitter, kind]
            axes.plot(one.time_s, one.payload / 1e6, label=kind, **style.line_style(at))
        axes.set_title(f"jitter ±{JITTER}" if jitter else "no jitter", loc="right", fontsize=8.5, color=style.GREY)
        axes.set_xlim(0, 20)
        axes.set_ylim(0, 20)
        axes.set_xlabel("time (s)")
    panels[0].set_ylabel("delivered (MB)")
    panels[0].legend(loc="upper left")
    panels[0].set_title("CUBIC over GEO", loc="left", fontweight="bold")
    return figure


@styled
def errors(grid: Grid) -> Figure:
    """Plots the goodput of all algorithms at all error rates, over GEO and LEO."""
    names = [one.label for one in alone()]
    figure, panels = style.chart(1, 2, size=(6.4, 1.15 + 0.25 * len(names)), sharey=True)
    for axes, orbit in zip(panels, ORBITS, strict=True):
        for at, per in enumerate(PERS):
            means = [grid.mean(orbit, per, name).mean for name in names]
            dots: dict[str, Any] = {"linestyle": "none", "marker": MARKERS[at], "markersize": 4.5, "clip_on": False}
            dots |= {"color": style.COLOURS[at], "markerfacecolor": style.COLOURS[at] if per else "white"}
            axes.plot(means, range(len(names)), label=f"PER {per:g}", zorder=4 - 0.1 * at, **dots)
        lows = [grid.mean(orbit, PERS[-1], name).mean for name in names]
        highs = [grid.mean(orbit, PERS[0], name).mean for name in names]
        axes.hlines(range(len(names)), lows, highs, color="#cfcfcf", linewidth=1.4, zorder=1)
        _by_name(axes, names)
        axes.set_xlim(0, orbit.rate_bps / 1e6)
        axes.set_xlabel("goodput (Mbit/s)")
        about = f"{orbit.name}: {orbit.rate_bps / 1e6:g} Mbit/s, {orbit.rtt_s * 1e3:g} ms"
        axes.set_title(about, loc="left", fontsize=9, color=style.GREY)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(PERS))
    figure.suptitle("What errors leave", x=0.01, ha="left", fontweight="bold", fontsize=10.5)
    return figure


@styled
def sizes(found: Transfers) -> Figure:
    """Plots the used fraction of the link by transfer size, without and with errors."""
    figure, panels = style.chart(1, 2, size=(6.4, 3.6), sharey=True)
    shown = [one.label for one in algorithms() if one.label.removesuffix(" (r)") in CHOSEN]
    for axes, per in zip(panels, (0.0, 1e-3), strict=True):
        for at, name in enumerate(shown):
            shares = [100 * found.share(per, name, size) for size in SIZES]
            axes.plot(SIZES, shares, marker="o", markersize=3, label=name, clip_on=False, **style.line_style(at))
        if not per:
            bare = [100 * size * 8 / GEO.slow_start_s(size) / GEO.most_bps for size in SIZES]
            cross: dict[str, Any] = {"linestyle": "none", "marker": "x", "markersize": 6, "color": style.BLACK}
            axes.plot(SIZES, bare, label="slow start alone", zorder=1, **cross)
        axes.set_xscale("log")
        axes.set_xticks(SIZES, ["10 kB", "100 kB", "1 MB", "10 MB", "100 MB"])
        axes.minorticks_off()
        axes.set_xlim(SIZES[0], SIZES[-1])
        axes.set_ylim(0, 100)
        axes.set_title(f"PER {per:g}", loc="right", fontsize=8.5, color=style.GREY)
    panels[0].set_ylabel("share of the link (%)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.suptitle("Transfers over GEO", x=0.01, ha="left", fontweight="bold", fontsize=10.5)
    return figure


@styled
def pairs(found: Pairs) -> Figure:
    """Plots the matrix of shares."""
    names = [one.label for one in algorithms()]
    side = 1.6 + 0.36 * len(names)
    figure, axes = style.chart(size=(side + 0.5, side))
    shares = np.array([[found.share(one, other) for other in names] for one in names])
    axes.imshow(100 * shares, cmap=SHARES, vmin=0, vmax=100)
    for row, line in enumerate(shares):
        for column, share in enumerate(line):
            ink = "white" if abs(share - 0.5) > 0.35 else style.BLACK
            axes.text(column, row, f"{100 * share:.0f}", ha="center", va="center", fontsize=7.5, color=ink)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_title("Goodput (%) of the row, competing with the column", loc="left", fontweight="bold", pad=8)
    axes.set_xlabel("GEO, 10 Mbit/s, queue of 1 BDP, 200 s")
    return figure


@styled
def round_trips(found: RoundTrips) -> Figure:
    """Plots the fractions of goodput of three flows with different round-trip times."""
    names = [one.label for one in algorithms()]
    figure, panels = style.chart(1, 2, size=(6.4, 1.15 + 0.25 * len(names)), sharey=True)
    for axes, queue in zip(panels, QUEUES, strict=True):
        for at, name in enumerate(names):
            begin, total = 0.0, sum(found.means(queue, name))
            for trip, mean in enumerate(found.means(queue, name)):
                width = 100 * mean / total
                label = TRIPS[trip] if at == 0 else "_"
                axes.barh(at, width, 0.66, begin, color=style.COLOURS[trip], alpha=0.82, linewidth=0, label=label)
                begin += width
            axes.text(102, at, f"{found.jain(queue, name):.2f}", va="center", fontsize=7.5)
        _by_name(axes, names)
        axes.set_xlim(0, 100)
        axes.set_xlabel("fraction of the goodput (%)")
        axes.set_title(f"queue of {queue}", loc="left", fontsize=9, color=style.GREY)
        axes.set_title("Jain", loc="right", fontsize=8, color=style.GREY)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(TRIPS))
    figure.suptitle("Three round-trip times at one bottleneck", x=0.01, ha="left", fontweight="bold", fontsize=10.5)
    return figure
