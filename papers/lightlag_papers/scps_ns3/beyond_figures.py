"""Figures on the questions beyond the paper."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lightlag.drawing import framing, style
from lightlag_papers.drawing import intervals, labels, styled
from lightlag_papers.scps_ns3 import ack_intervals, compression, outages, repairs, satellite
from lightlag_papers.scps_ns3.figures import MODEL_LINE, THROUGHPUT
from lightlag_papers.scps_ns3.setting import kbps


def _error_rates(axes: Axes, bers: Sequence[float]) -> None:
    """Labels bit error rates at equal distances."""
    axes.set_xticks(range(len(bers)), [f"{ber:.0e}".replace("e-0", "e-") if ber else "0" for ber in bers])
    axes.set_xlim(-0.15, len(bers) - 0.85)
    axes.set_xlabel("bit error rate")


def _ticks(axes: Axes, values: Sequence[float]) -> None:
    """Sets a logarithmic axis that is labelled with these values."""
    axes.set_xscale("log")
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.xaxis.minorticks_off()


@styled
def repair(run: repairs.Repairs) -> Figure:
    """Plots throughput against the bit error rate, by kind of loss recovery."""
    figure, panels = style.chart(1, 2, size=(7.2, 3.8), sharey=True)
    for axes, delay in zip(panels, repairs.DELAYS_S, strict=True):
        axes.plot([repairs.most_bps(ber, delay) / 1e3 for ber in repairs.BERS], label="at most", **MODEL_LINE)
        for at, one in enumerate(repairs.KINDS):
            points = [kbps(run.rates(one, delay, ber)) for ber in repairs.BERS]
            intervals(axes, range(len(points)), points, at, one.label)
        framing.finish(axes, f"Delay {delay * 1e3:.0f} ms", legend=False)
        _error_rates(axes, repairs.BERS)
    panels[0].set_ylim(0, 1400)
    panels[0].set_ylabel(THROUGHPUT)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


@styled
def intervals_of_acks(run: ack_intervals.Intervals) -> Figure:
    """Plots throughput against the ACK interval, with one panel per kind of transport."""
    figure, panels = style.chart(1, len(ack_intervals.KINDS), size=(7.2, 3.4), sharey=True)
    titles = ("Vegas", "Rate control alone", "with a bucket for ACKs")
    for axes, one, title in zip(panels, ack_intervals.KINDS, titles, strict=True):
        for at, rate in enumerate(ack_intervals.RETURNS_BPS):
            points = [kbps(run.found[ack_intervals.point(one, t, rate)]) for t in ack_intervals.INTERVALS_S]
            intervals(axes, ack_intervals.INTERVALS_S, points, at, f"{rate / 1e3:g} kbit/s")
        framing.finish(axes, title, legend=False)
        _ticks(axes, ack_intervals.INTERVALS_S)
        axes.set_xlim(0.045, 0.9)
        axes.set_xlabel("ACK interval (s)")
    panels[0].set_ylim(0, 1400)
    panels[0].set_ylabel(THROUGHPUT)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, [f"return link {name}" for name in names], loc="outside lower center", ncols=4)
    return figure


@styled
def outage(run: outages.Outages) -> Figure:
    """Plots how much an outage delays a file, beyond its own length."""
    figure, axes = style.chart(size=(6.4, 3.8))
    for at, one in enumerate(outages.KINDS):
        samples = [each for length in outages.OUTAGES_S for each in run.found[one.label, length]]
        dots = [(each.length_s, max(each.late_s, 0.03)) for each in samples if each.late_s is not None]
        axes.plot(
            *zip(*dots, strict=True), linestyle="none", marker="o", markersize=2.4, color=style.COLOURS[at], alpha=0.5
        )
        means = [(d, statistics.fmean(run.late(one, d))) for d in outages.OUTAGES_S if not run.given_up(one, d)]
        axes.plot(*zip(*means, strict=True), label=one.label, **style.line_style(at))
        gone = [each.length_s for each in samples if each.late_s is None]
        axes.plot(gone, [250.0] * len(gone), linestyle="none", marker="x", markersize=5, color=style.COLOURS[at])
    lengths = [outages.OUTAGES_S[0], 2 * LATEST_S]
    axes.plot(lengths, [length / 2 for length in lengths], label="half of the outage", **MODEL_LINE)
    framing.finish(axes, "After an outage", "crosses: aborted")
    _ticks(axes, outages.OUTAGES_S)
    axes.set_yscale("log")
    axes.set_xlim(3.5, 800)
    axes.set_ylim(0.025, 400)
    labels(axes, "later than the outage is long (s)", "length of the outage (s)")
    return figure


LATEST_S = 60.0


@styled
def geo(run: satellite.Satellite) -> Figure:
    """Plots goodput over GEO against the bit error rate."""
    figure, axes = style.chart(size=(6.4, 3.8))
    for at, name in enumerate(satellite.KINDS):
        intervals(axes, range(len(satellite.BERS)), [run.mean(name, ber) for ber in satellite.BERS], at, name)
    axes.plot([satellite.holes_mbps(ber) for ber in satellite.BERS], label="six holes a round trip", **MODEL_LINE)
    framing.finish(axes, "GEO with bit errors", "10 Mbit/s, 600 ms")
    _error_rates(axes, satellite.BERS)
    axes.set_ylim(0, 10)
    axes.set_ylabel("goodput (Mbit/s)")
    return figure


@styled
def headers(run: compression.Compression) -> Figure:
    """Plots the gain by compressed headers against the MTU, with one panel per kind of transport."""
    figure, panels = style.chart(1, 2, size=(7.2, 3.5), sharey=True)
    titles = ("Rate control alone", "Vegas")
    for axes, one, title in zip(panels, compression.KINDS, titles, strict=True):
        for at, rate in enumerate(compression.RETURNS_BPS):
            gains = [100 * (run.gain(one, mtu, rate) - 1) for mtu in compression.MTUS]
            axes.plot(
                compression.MTUS,
                gains,
                label=f"{rate / 1e3:g} kbit/s",
                marker="o",
                markersize=3,
                **style.line_style(at),
            )
        ideal = [100 * (compression.data_gain(mtu) - 1) for mtu in compression.MTUS]
        axes.plot(compression.MTUS, ideal, label="data headers alone", **MODEL_LINE)
        framing.finish(axes, title, legend=False)
        axes.set_xlim(0, 1550)
        axes.set_xlabel("MTU (bytes)")
    panels[0].set_ylim(-15, 70)
    panels[0].set_ylabel("gain of throughput (%)")
    handles, names = panels[0].get_legend_handles_labels()
    names = [f"return link {name}" if "kbit/s" in name else name for name in names]
    figure.legend(handles, names, loc="outside lower center", ncols=3)
    return figure
