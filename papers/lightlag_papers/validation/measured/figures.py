"""The figures of the scorecard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lightlag_papers.paper import Picture
from lightlag_papers.validation.measured.data import Cell, Exits
from lightlag_papers.validation.measured.fact import Fact, Spread

if TYPE_CHECKING:
    from lightlag_papers.validation.measured.hystart import Outcome

__all__ = ["cells", "exits", "own", "slot"]


def cells(pairs: Sequence[tuple[Cell, Spread, Spread]]) -> Picture:
    """Returns the scatter plot of our goodput over the kernel's."""
    from matplotlib.figure import Figure

    from lightlag.drawing import style
    from lightlag_papers.drawing import labels, styled

    @styled
    def draw() -> Figure:
        figure = Figure(figsize=(6.0, 4.2), layout="constrained")
        axes = figure.subplots()
        for at, name in enumerate(sorted({cell.congestion for cell, _, _ in pairs})):
            mine = [(kernel, ours) for cell, kernel, ours in pairs if cell.congestion == name]
            x = [kernel.value for kernel, _ in mine]
            y = [ours.value / kernel.value for kernel, ours in mine]
            errors = [
                [ours.value / kernel.value - _ratio(ours.low, kernel, ours) for kernel, ours in mine],
                [_ratio(ours.high, kernel, ours) - ours.value / kernel.value for kernel, ours in mine],
            ]
            color = style.line_style(at)["color"]
            axes.errorbar(x, y, yerr=errors, fmt="o^s"[at % 3], color=color, markersize=4, linewidth=0.7, label=name)
        axes.axhspan(0.9, 1.1, color="0.5", alpha=0.15, linewidth=0)
        axes.axhline(1.0, color="0.4", linewidth=0.8)
        axes.set_xscale("log")
        labels(axes, "goodput, lightlag / kernel", "kernel's goodput (Mbit/s)")
        axes.legend()
        return figure

    caption = "Our goodput over the kernel's, per cell; bars are the range over our seeds, the band is ±10 %."
    return Picture("measured-cells", draw(), caption)


def _ratio(value: float | None, kernel: Spread, ours: Spread) -> float:
    return (ours.value if value is None else value) / kernel.value


def exits(found: Sequence[tuple[Exits, Outcome]]) -> Picture:
    """Returns the bars of the causes that end slow start, measured and ours."""
    from matplotlib.figure import Figure

    from lightlag.drawing import style
    from lightlag_papers.drawing import styled

    @styled
    def draw() -> Figure:
        figure = Figure(figsize=(7.0, 0.42 * len(found) + 1.4), layout="constrained")
        axes = figure.subplots()
        names = []
        for at, (link, ours) in enumerate(found):
            tunnel = "" if link.tunnel == "none" else ", VPN"
            names.append(f"{link.link} {link.direction}{tunnel}")
            measured = (link.by_delay / link.runs, link.by_train / link.runs, link.none / link.runs)
            mine = (ours.delay / ours.runs, ours.train / ours.runs, ours.none / ours.runs)
            for offset, shares, alpha in ((-0.2, measured, 1.0), (0.2, mine, 0.55)):
                left = 0.0
                for kind, share in enumerate(shares):
                    color = style.line_style(kind)["color"]
                    label = ("delay", "ACK train", "neither")[kind] if at == 0 and offset < 0 else None
                    axes.barh(at + offset, share, 0.36, left=left, color=color, alpha=alpha, label=label)
                    left += share
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_xlabel("fraction of runs (upper bar measured, lower bar lightlag)")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=3)
        return figure

    return Picture("measured-exits", draw(), "Cause that ends slow start on real links: measured, and ours below it.")


def slot(profiles: Sequence[tuple[str, Sequence[float]]]) -> Picture:
    """Returns the throughput in each second of the 15-s slot, relative to its mean."""
    from matplotlib.figure import Figure

    from lightlag_papers.drawing import labels, steps, styled

    @styled
    def draw() -> Figure:
        figure = Figure(figsize=(6.0, 3.4), layout="constrained")
        axes = figure.subplots()
        for at, (name, values) in enumerate(profiles):
            steps(axes, [*range(len(values) + 1)], [*values, values[-1]], at, label=name)
        labels(axes, "throughput / mean", "second of the 15-s slot (0 = :12, :27, :42, :57)")
        axes.legend()
        return figure

    return Picture("measured-slot", draw(), "Throughput in each second of Starlink's 15-s slot, relative to its mean.")


def own(facts: Sequence[Fact]) -> Picture:
    """Returns our value over the measured one, for each row of a user's measurements."""
    from matplotlib.figure import Figure

    from lightlag.drawing import style
    from lightlag_papers.drawing import styled

    @styled
    def draw() -> Figure:
        figure = Figure(figsize=(6.0, 0.35 * len(facts) + 1.2), layout="constrained")
        axes = figure.subplots()
        ratios = [1.0 if fact.ratio is None else fact.ratio for fact in facts]
        axes.plot(ratios, range(len(facts)), **(style.line_style(0) | {"linestyle": "", "marker": "o"}))
        axes.axvline(1.0, color="0.4", linewidth=0.8)
        axes.set_yticks(range(len(facts)), [f"{fact.source}: {fact.quantity}" for fact in facts])
        axes.invert_yaxis()
        axes.set_xlabel("lightlag / measured")
        return figure

    return Picture("measured-own", draw(), "Our value divided by the measured one.")
