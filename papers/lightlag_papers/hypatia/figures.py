"""The figures: round-trip times over time, windows on a path that changes, and all pairs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

import lightlag as ll
from lightlag.drawing import style
from lightlag.drawing.style import Chart
from lightlag.drawing.styled import styled
from lightlag_papers.hypatia.setting import DURATION_S, FLEETS, PAIRS, pairs_of
from lightlag_papers.hypatia.transport import PATH, Flow
from lightlag_papers.hypatia.ways import Spread


@styled
def round_trips() -> Chart:
    """Plots the propagation round-trip time of three pairs over the three constellations, by slant range and
    elevation mask.
    """
    figure, axes = style.chart(3, 1, size=(6.4, 6.6), sharex=True)
    for (start, end), one in zip(PAIRS[:3], axes, strict=True):
        for number, fleet in enumerate(FLEETS):
            for slant in (True, False):
                path = ll.sky(pairs_of(fleet, slant=slant)).path(start, end, DURATION_S, 0.2)
                look = style.line_style(number) | {"linestyle": "-" if slant else ":"}
                label = f"{fleet.name}, {'slant' if slant else 'mask'}"
                one.plot(path["time_s"], path["rtt_ms"], label=label, **look)
        one.set_title(f"{start} – {end}")
        one.set_ylabel("RTT of light (ms)")
        one.set_xlim(0, DURATION_S)
    axes[-1].set_xlabel("time (s)")
    axes[0].legend(ncols=3, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.15))
    return figure


@styled
def windows(flows: Mapping[str, Flow]) -> Chart:
    """Plots window and round-trip time of NewReno and Vegas on the path that changes."""
    figure, axes = style.chart(2, 1, size=(6.4, 4.8), sharex=True)
    for number, (name, flow) in enumerate(flows.items()):
        trace = flow.trace
        look = style.line_style(number)
        axes[0].plot(trace["time_s"], trace["cwnd_segments"], label=name, **look)
        samples = trace.drop_nulls("rtt_s").filter(pl.col("rtt_s") < 0.5)
        axes[1].plot(samples["time_s"], samples["rtt_s"] * 1e3, label=name, **look)
    first = next(iter(flows.values()))
    axes[1].plot(first.light_s, first.light_ms, color=style.BLACK, linewidth=0.8, label="light")
    for since in sorted(set(first.result.paths["time_s"].to_list()))[1:]:
        for one in axes:
            one.axvline(since, color=style.GREY, linewidth=0.5, zorder=0)
    axes[0].set_ylabel("cwnd (segments)")
    axes[1].set_ylabel("RTT (ms)")
    axes[1].set_xlabel("time (s)")
    axes[0].set_title(f"{PATH[0]} – {PATH[1]} over Kuiper; lines mark another way")
    axes[0].set_xlim(0, DURATION_S)
    axes[0].legend()
    axes[1].legend()
    return figure


@styled
def spreads(found: Mapping[tuple[str, bool], Spread]) -> Chart:
    """Plots the statistics of all pairs: maximum round-trip time, and ratio of maximum to minimum."""
    figure, axes = style.chart(1, 2, size=(7.0, 3.2))
    for number, fleet in enumerate(FLEETS):
        for slant in (True, False):
            spread = found[fleet.name, slant]
            look = style.line_style(number) | {"linestyle": "-" if slant else ":"}
            label = f"{fleet.name}, {'slant' if slant else 'mask'}"
            for one, values in zip(axes, (spread.greatest, spread.ratio), strict=True):
                one.plot(np.sort(values), np.linspace(0, 1, len(values)), label=label, **look)
    axes[0].set_xlabel("maximum RTT (ms)")
    axes[1].set_xlabel("maximum over minimum RTT")
    axes[1].set_xlim(1, 2)
    axes[0].set_ylabel("fraction of 4950 pairs")
    axes[0].legend(fontsize="small")
    return figure
