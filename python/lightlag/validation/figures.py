"""The figures of a validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightlag.drawing import framing, scales, style
from lightlag.drawing.style import Chart
from lightlag.drawing.styled import styled

if TYPE_CHECKING:
    from lightlag.validation.assessment import Assessment

__all__ = ["figures"]


def figures(assessment: Assessment) -> dict[str, Chart]:
    """Returns the figures of finished sections, by section."""
    from lightlag.validation.cases.figure import over_time

    drawn = {"response": _response, "cubic": _share, "queue": _delay}
    charts = {}
    for one in assessment.sections:
        if one.curves is not None:
            charts[one.name] = over_time(assessment.congestion, one.title, one.curves)
        elif one.name in drawn:
            charts[one.name] = drawn[one.name](assessment.congestion, one.rows)
    return charts


@styled
def _response(label: str, rows: list[dict[str, Any]]) -> Chart:
    figure, axes = style.chart()
    rtts = list(dict.fromkeys(row["rtt_s"] for row in rows))
    for at, rtt in enumerate(rtts):
        own = [row for row in rows if row["rtt_s"] == rtt]
        p = [row["p"] for row in own]
        axes.errorbar(
            p,
            [row["window_segments"] for row in own],
            yerr=[row["window_segments_half_width"] for row in own],
            label=f"{rtt * 1e3:g} ms",
            marker="o",
            markersize=3,
            **style.line_style(at),
        )
        form = {"color": style.line_style(at)["color"], "linewidth": 0.7, "linestyle": (0, (1, 2))}
        axes.plot(p, [row["cubic_segments"] for row in own], label="CUBIC's form" if at == 0 else None, **form)
    reno = [row for row in rows if row["rtt_s"] == rtts[0]]
    axes.plot(
        [row["p"] for row in reno],
        [row["reno_segments"] for row in reno],
        label="Reno's form",
        color=style.GREY,
        linewidth=0.8,
    )
    framing.finish(axes, label, "response to loss")
    axes.set(xscale="log", yscale="log", xlabel="probability of loss (log)", ylabel="mean window (segments, log)")
    axes.autoscale()
    scales.in_numbers(axes.xaxis)
    scales.in_numbers(axes.yaxis)
    return figure


@styled
def _share(label: str, rows: list[dict[str, Any]]) -> Chart:
    figure, axes = style.chart()
    _line(axes, rows, "share", 0, None)
    axes.axhline(0.5, **style.LIMIT)
    framing.finish(axes, label, "fraction of the goodput against CUBIC", legend=False)
    axes.set(xlabel="queue (BDP)", ylabel="fraction", ylim=(0, 1))
    return figure


@styled
def _delay(label: str, rows: list[dict[str, Any]]) -> Chart:
    figure, axes = style.chart()
    _line(axes, rows, "delay_mean_s", 0, "mean")
    _line(axes, rows, "delay_p95_s", 1, "95th percentile")
    framing.finish(axes, label, "wait at the bottleneck")
    axes.set(xlabel="queue (BDP)", ylabel="wait (s)")
    return figure


def _line(axes: Any, rows: list[dict[str, Any]], name: str, at: int, label: str | None) -> None:
    """Plots a metric against the size of the queue, with its confidence intervals."""
    axes.errorbar(
        [row["queue_bdp"] for row in rows],
        [row[name] for row in rows],
        yerr=[row[f"{name}_half_width"] for row in rows],
        label=label,
        marker="o",
        markersize=3,
        **style.line_style(at),
    )
