"""The paper's figures, drawn from our runs."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lightlag.drawing import framing, style
from lightlag_papers.drawing import intervals, labels, styled
from lightlag_papers.scps_ns3 import corruption, simulators
from lightlag_papers.scps_ns3.algorithms import ALGORITHMS, Algorithms
from lightlag_papers.scps_ns3.asymmetry import (
    BELOW,
    CURVES,
    LINUX_VEGAS,
    PAPERS_VEGAS,
    QUEUES,
    RETURNS_BPS,
    TEXT_BPS,
    Asymmetry,
    Sequence,
)
from lightlag_papers.scps_ns3.corruption import Corruption
from lightlag_papers.scps_ns3.setting import NEWRENO, SCPS, Setting, Transport, kbps, scps, tcp
from lightlag_papers.scps_ns3.sweeps import DELAYS_S, EQUAL_BPS, MTUS, NARROW_BPS, PRINTED, TEXT_S, Sweep

THROUGHPUT = "throughput (kbit/s)"
RATIOS = [EQUAL_BPS / rate for rate in RETURNS_BPS]
PAPER_MARK: dict[str, Any] = {"linestyle": "none", "marker": "x", "markersize": 7, "markeredgewidth": 1.6, "zorder": 5}
PAPER_MARK |= {"color": style.BLACK, "clip_on": False}
PEER_MARK: dict[str, Any] = {
    "linestyle": "none",
    "marker": "s",
    "markersize": 4.2,
    "markerfacecolor": "none",
    "zorder": 4,
}
PEER_MARK |= {"markeredgecolor": style.BLACK, "markeredgewidth": 0.9, "clip_on": False}
MODEL_LINE: dict[str, Any] = {"color": style.GREY, "linewidth": 0.9, "linestyle": style.DASHES[2], "zorder": 2}


def ratio_axis(axes: Axes, shown: tuple[int, ...] = (1, 10, 100, 1000)) -> None:
    """Sets a logarithmic axis that is labelled with the ratios of the rates."""
    axes.set_xscale("log")
    axes.set_xticks(shown, [f"{ratio}:1" for ratio in shown])
    axes.xaxis.minorticks_off()
    axes.set_xlim(1, RATIOS[-1])
    axes.set_xlabel("data rate to ACK rate")


@styled
def asymmetry(run: Asymmetry) -> Figure:
    """Plots Fig. 3: the curves with a verdict, and the model; on the right other readings of SCPS-TP."""
    figure, panels = style.chart(1, 2, size=(7.2, 3.8), sharey=True)
    for at, one in enumerate(CURVES):
        points = [kbps(run.of(one, rate)) for rate in RETURNS_BPS]
        intervals(panels[0], RATIOS, points, at, one.label)
        ideal = [run.model(one, rate) for rate in RETURNS_BPS]
        panels[0].plot(RATIOS, ideal, label="_" if at else "model", **MODEL_LINE)
        ns3 = [simulators.kbps(Setting(one, rate)) for rate in RETURNS_BPS]
        panels[0].plot(RATIOS, ns3, label="_" if at else "ns-3.37", **PEER_MARK)
    panels[0].plot([300] * 3, [800, 160, 80], label="paper", **PAPER_MARK)
    for at, (one, name) in enumerate(
        (
            (SCPS, "judged"),
            (BELOW, "rate control below"),
            (LINUX_VEGAS, "Linux's Vegas"),
            (PAPERS_VEGAS, "Vegas of 1995"),
        )
    ):
        intervals(panels[1], RATIOS, [kbps(run.of(one, rate)) for rate in RETURNS_BPS], at and at + 2, name)
    panels[1].plot([300], [800], **PAPER_MARK)
    framing.finish(panels[0], "Asymmetric channel", legend=False)
    framing.finish(panels[1], "Readings of SCPS-TP", legend=False)
    panels[1].legend(loc="lower left")
    for axes in panels:
        ratio_axis(axes, (1, 10, 100, 300, 1000))
    panels[0].set_ylim(0, 1400)
    panels[0].set_ylabel(THROUGHPUT)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure


@styled
def queues(run: Asymmetry) -> Figure:
    """Plots Fig. 3 with other return queues."""
    figure, panels = style.chart(1, 3, size=(7.2, 3.2), sharey=True)
    for axes, one in zip(panels, CURVES, strict=True):
        for at, queue in enumerate(QUEUES):
            points = [kbps(run.of(one, rate, queue)) for rate in RETURNS_BPS]
            intervals(axes, RATIOS, points, at + 3, f"{queue} packets")
        framing.finish(axes, one.label, legend=False)
        ratio_axis(axes)
    panels[0].set_ylim(0, 1400)
    panels[0].set_ylabel(THROUGHPUT)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, [f"return queue {name}" for name in names], loc="outside lower center", ncols=3)
    return figure


@styled
def sequences(found: dict[str, Sequence]) -> Figure:
    """Plots Fig. 4: the sequence numbers sent, at 5 kbit/s."""
    figure, axes = style.chart(size=(6.4, 3.4))
    _sequences(axes, list(found.items()), 120.0)
    framing.finish(axes, "Sequence numbers sent", f"return link {TEXT_BPS / 1e3:.0f} kbit/s", end_s=120.0)
    labels(axes, "sequence number (MB)")
    return figure


def _sequences(axes: Axes, found: list[tuple[str, Sequence]], end_s: float) -> None:
    for at, (label, run) in enumerate(found):
        inside = run.time_s <= min(end_s, run.finish_s)
        axes.plot(run.time_s[inside], run.sent[inside] / 1e6, label=label, **style.line_style(at))


@styled
def algorithms(run: Algorithms) -> Figure:
    """Plots Fig. 5, with one panel per algorithm."""
    figure, panels = style.chart(1, 3, size=(7.2, 3.3), sharey=True)
    for axes, name in zip(panels, ALGORITHMS, strict=True):
        for at, (make, label) in enumerate(((scps, "as SCPS-TP"), (tcp, "as TCP"))):
            points = [kbps(run.found[Setting(make(name), rate)]) for rate in RETURNS_BPS]
            intervals(axes, RATIOS, points, at, label)
        framing.finish(axes, name, legend=False)
        ratio_axis(axes)
    panels[0].set_ylim(0, 1400)
    panels[0].set_ylabel(THROUGHPUT)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


PAIR: tuple[tuple[Transport, int], ...] = ((SCPS, 0), (NEWRENO, 1))


@styled
def delays(run: Sweep) -> Figure:
    """Plots Fig. 6: throughput against the delay, with one panel per ratio of the rates."""
    figure, panels = style.chart(1, 2, size=(7.2, 3.4), sharey=True)
    x = [delay * 1e3 for delay in DELAYS_S]
    for axes, rate, title in ((panels[0], EQUAL_BPS, "Equal rates"), (panels[1], NARROW_BPS, "500:1")):
        for one, at in PAIR:
            settings = [Setting(one, rate, delay) for delay in DELAYS_S]
            intervals(axes, x, [kbps(run.found[setting]) for setting in settings], at, one.label)
            axes.plot(x, [run.model(setting) for setting in settings], label="_" if at else "model", **MODEL_LINE)
            axes.plot(x, list(map(simulators.kbps, settings)), label="_" if at else "ns-3.37", **PEER_MARK)
        axes.plot([TEXT_S * 1e3] * 2, [PRINTED[rate, one] for one, _ in PAIR], label="paper", **PAPER_MARK)
        framing.finish(axes, title, legend=False)
        axes.set_xlim(40, 310)
        axes.set_xlabel("delay of the channel (ms)")
    panels[0].set_ylim(0, 1400)
    panels[0].set_ylabel(THROUGHPUT)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


@styled
def sizes(run: Sweep) -> Figure:
    """Plots Fig. 7: throughput against the MTU."""
    figure, axes = style.chart()
    for one, at in PAIR:
        settings = [Setting(one, NARROW_BPS, mtu=mtu) for mtu in MTUS]
        intervals(axes, MTUS, [kbps(run.found[setting]) for setting in settings], at, one.label)
        axes.plot(MTUS, [run.model(setting) for setting in settings], label="_" if at else "model", **MODEL_LINE)
        axes.plot(MTUS, list(map(simulators.kbps, settings)), label="_" if at else "ns-3.37", **PEER_MARK)
    framing.finish(axes, "Segment size", "return link 3 kbit/s")
    axes.set_xlim(0, 1550)
    labels(axes, THROUGHPUT, "MTU (bytes)")
    return figure


@styled
def errors(run: Corruption) -> Figure:
    """Plots Figs. 8 and 9: the sequence numbers sent, with bit errors."""
    figure, panels = style.chart(1, 2, size=(7.2, 3.6), sharey=True)
    for axes, delay, number in zip(panels, corruption.DELAYS_S, (8, 9), strict=True):
        found = [(one.label, run.sequences[one.label, delay]) for one in corruption.DRAWN]
        _sequences(axes, found, 150.0)
        for rate in (300.0, float(corruption.PAPER[NEWRENO][corruption.DELAYS_S.index(delay)])):
            end = min(150.0, 40e3 / rate)
            axes.plot([0, end], [0, end * rate / 8e3], label="paper" if rate == 300.0 else "_", **MODEL_LINE)
        framing.finish(axes, f"Fig. {number}: {delay * 1e3:.0f} ms", legend=False, end_s=150.0)
        axes.set_xlabel("time (s)")
    panels[0].set_ylabel("sequence number (MB)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
