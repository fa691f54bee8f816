"""Figures are created, labelled with units, and written in the format of the suffix."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

import lightlag as ll
from lightlag import plot
from lightlag.drawing import curves, scales, style
from lightlag.plot import comparison_over_time

UNITS = {
    "cwnd": "(segments)",
    "goodput": "bit/s)",
    "sequence": "B)",
    "rtt": "(ms)",
    "queue": "ackets",
}


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes if (legend := axes.get_legend()) for text in legend.get_texts()]


@pytest.mark.parametrize("metric", UNITS)
@pytest.mark.parametrize("run", ["result", "four_flows"])
def test_every_figure_has_units_and_a_curve(metric: str, run: str, request: pytest.FixtureRequest) -> None:
    figure = request.getfixturevalue(run).plot(metric)
    (axes,) = figure.axes
    assert axes.get_xlabel() == "Time (s)"
    assert UNITS[metric] in axes.get_ylabel()
    assert axes.get_title(loc="left")
    assert "seed" in axes.get_title(loc="right")
    assert axes.get_xlim()[0] == axes.get_ylim()[0] == 0
    assert any(len(line.get_xdata()) > 5 for line in axes.lines)


MAGIC = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


@pytest.mark.parametrize("suffix", MAGIC)
def test_the_suffix_decides_the_format_and_the_bytes_repeat(result: ll.Result, tmp_path: Path, suffix: str) -> None:
    first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
    result.plot("cwnd", first)
    assert result.plot("cwnd").save(second) == second
    assert first.read_bytes().startswith(MAGIC[suffix])
    assert first.stat().st_size > 5000
    assert first.read_bytes() == second.read_bytes()


def test_an_unknown_suffix_is_rejected(result: ll.Result, tmp_path: Path) -> None:
    with pytest.raises(ll.InputError, match=r"\.pdf, \.svg, \.png"):
        result.plot("cwnd", tmp_path / "cwnd.docx")
    with pytest.raises(ll.InputError, match="no figure of"):
        result.plot("window")  # type: ignore[arg-type]


def test_the_window_of_one_flow_comes_with_its_threshold_and_plateau(result: ll.Result) -> None:
    assert {"cwnd", "ssthresh", "Wmax", "fast recovery"} <= set(texts(plot.cwnd(result)))


def test_one_of_several_flows_can_be_drawn(four_flows: ll.Result) -> None:
    name = four_flows.flows["name"][2]
    assert name in plot.cwnd(four_flows, flow=name).axes[0].get_title(loc="left")
    with pytest.raises(ll.InputError, match='no flow "missing"'):
        plot.cwnd(four_flows, flow="missing")
    with pytest.raises(ll.InputError, match='no link direction "nowhere"'):
        plot.queue(four_flows, link="nowhere")


def test_several_flows_differ_in_dashes_too(four_flows: ll.Result) -> None:
    lines = plot.cwnd(four_flows).axes[0].lines
    assert len({line.get_color() for line in lines}) == 4
    assert len({str(line._dash_pattern) for line in lines}) == 4  # type: ignore[attr-defined]
    assert len({str(dash) for dash in style.DASHES}) == len(style.DASHES) == len(style.COLOURS)


def test_a_tangle_is_drawn_as_its_median() -> None:
    many = ll.run(ll.presets.dumbbell(pairs=12, stagger="0 s", duration="2 s"), seed=1)
    assert texts(plot.cwnd(many)) == ["median of 12 flows"]


def test_what_was_not_recorded_cannot_be_drawn(net: ll.Network) -> None:
    result = ll.run(net, duration="1 s", sets={"record.trace": "off", "record.queue": "off"})
    for metric in plot.FIGURES:
        missing = {"globe": "no constellation", "handovers": "no constellation", "waterfall": "no flow loads a page"}
        reason = missing.get(metric, "recorded" if metric in UNITS else "no node has a radio")
        with pytest.raises(ll.InputError, match=reason):
            result.plot(metric)  # type: ignore[arg-type]


def test_decimated_curves_keep_their_extremes() -> None:
    import numpy as np

    times = np.linspace(0, 1, 100_000)
    values = np.sin(50 * times)
    values[77_777] = 9.0
    x, y = curves.thin(times, values, 1000)
    assert len(x) <= 1000 + 4
    assert y.max() == 9.0
    assert (np.diff(x) > 0).all()


def test_comparisons_are_drawn_and_written(net: ll.Network, tmp_path: Path) -> None:
    comparison = ll.compare(net, ["newreno", "cubic"], replications=2, duration="60 s")
    folder = comparison.save(tmp_path / "compare", formats=("pdf", "svg"))
    names = {path.name for path in folder.iterdir()}
    assert names >= {"run.json", "runs.parquet", "summary.csv", "bars.pdf", "bars.svg", "goodput.pdf", "cwnd.svg"}
    assert all(path.stat().st_size > 0 for path in folder.iterdir())
    # One flow: fairness would be a bar of 1.
    labels = [axes.get_xlabel() for axes in comparison.plot("bars").axes]
    assert labels == [
        "Goodput (Mbit/s)",
        "Completion time (s)",
        "Retransmitted (%)",
        "Queueing (ms)",
        "Queueing p95 (ms)",
    ]
    with pytest.raises(ll.InputError, match="no comparison figure"):
        comparison.plot("pie")


def test_notebooks_get_a_diagram(result: ll.Result) -> None:
    figure = result.plot("cwnd")
    assert isinstance(figure, style.Chart)
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_means_over_time_cover_the_runs_still_going() -> None:
    import numpy as np

    def run(end: float, rate: float) -> tuple[curves.Numbers, curves.Numbers]:
        times = np.linspace(0, end, 101)
        return times, times * rate / 8

    times, mean, half = comparison_over_time.mean_over_time([run(2.0, 100.0), run(4.0, 200.0)], 1.0)
    assert times.tolist() == [0.0, 0.5, 1.5, 2.5, 3.5]
    assert mean.tolist() == pytest.approx([0, 150, 150, 200, 200])
    assert half[1] == pytest.approx(12.7062 * 50, rel=1e-4)  # s / √2 = 50
    assert half[3] == 0
    # Two of three are over after 2 s: less than half is left.
    assert comparison_over_time.mean_over_time([run(2.0, 1.0), run(2.0, 1.0), run(4.0, 1.0)], 1.0)[0][-1] == 1.5


def test_a_lone_peak_is_cut_off_and_named() -> None:
    import polars as pl
    from matplotlib.figure import Figure

    def top(windows: list[float]) -> tuple[float, list[str]]:
        axes = Figure().subplots()
        rows = pl.DataFrame({"time_s": [float(at) for at in range(len(windows))], "cwnd_segments": windows})
        axes.plot(rows["time_s"], rows["cwnd_segments"])
        scales.tame_peak(axes, [(rows["time_s"].to_numpy(), rows["cwnd_segments"].to_numpy())])
        return axes.get_ylim()[1], [text.get_text() for text in axes.texts]

    limit, texts = top([10.0, 60_000.0, *[100.0] * 30])
    assert limit == pytest.approx(160.0)
    assert texts == ["up to 60,000"]
    limit, texts = top([10.0, 300.0, *[100.0] * 30])
    assert limit > 300
    assert texts == []
