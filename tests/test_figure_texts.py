"""Texts of figures: names, labels, captions, heat maps, notes about missing values; and the list of figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from typer.testing import CliRunner

import lightlag as ll
from conftest import pair
from lightlag import plot
from lightlag.cli.app import app
from lightlag.drawing import names, pgf, scales, style
from lightlag.outcomes.kinds import map_of
from lightlag.plot import heatmap, listing
from lightlag.plot.captions import COMPLETION
from lightlag.scenario import congestion_names

Labels = dict[str, str]


@pytest.fixture(scope="module")
def grid() -> ll.Comparison:
    """Two variables, and a transfer that some algorithms finish at no seed."""
    net = ll.Network("grid")
    net.link("client", "server", rate="10 Mbit/s", delay="20 ms", queue="1 bdp")
    net.flow("client", "server", transfer="3 MB")
    vary: dict[str, list[Any]] = {"links.0.loss": ["1e-5", "1e-3", "0.2"], "links.0.delay": ["5ms", "50ms"]}
    return ll.compare(net, ["cubic", "hybla", "bbr3"], vary=vary, replications=3, duration="8 s")


@pytest.fixture(scope="module")
def folder(grid: ll.Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return grid.save(tmp_path_factory.mktemp("texts") / "grid", formats=(), report=False)


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for one in figure.legends for text in one.get_texts()]


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


# --- names and labels -------------------------------------------------------------------------------------------------


def test_every_algorithm_has_a_name_for_figures() -> None:
    assert set(congestion_names()) <= names.ALGORITHMS.keys()
    assert len(set(names.ALGORITHMS.values())) == len(names.ALGORITHMS)


def test_algorithms_are_written_as_in_their_papers(grid: ll.Comparison) -> None:
    assert legend(grid.plot("goodput-vs-loss")) == ["CUBIC", "Hybla", "BBRv3"]


def test_labels_replace_names_of_algorithms_variables_and_metrics(grid: ll.Comparison) -> None:
    labels = {"cubic": "Linux", "loss": "packet loss probability", "goodput": "Throughput", "nothing": "ignored"}
    figure = grid.plot("goodput-vs-loss", labels=labels)
    assert legend(figure) == ["Linux", "Hybla", "BBRv3"]
    assert figure.axes[-1].get_xlabel() == "packet loss probability"
    assert figure.axes[0].get_ylabel() == "Throughput (Mbit/s)"
    assert legend(grid.plot("goodput-vs-loss")) == ["CUBIC", "Hybla", "BBRv3"]
    with plot.using("ieee", labels=labels):
        assert legend(grid.plot("goodput-vs-delay")) == ["Linux", "Hybla", "BBRv3"]


def test_labels_replace_names_of_runs_and_flows(result: ll.Result) -> None:
    figure = plot.facets({"a": result, "b": result}, ["cwnd", "rtt"], labels={"a": "before", "client->server": "load"})
    assert legend(figure) == ["before: load", "b: load"]
    title = result.plot("cwnd", labels={"client->server": "download"}).axes[0].get_title(loc="left")
    assert title == "Congestion window of download"


@pytest.mark.parametrize("labels", [["cubic=CUBIC"], {"cubic": 1}, "cubic=CUBIC"])
def test_labels_are_a_mapping_of_texts(grid: ll.Comparison, labels: Any) -> None:
    with pytest.raises(ll.InputError, match="is not a mapping of names to texts"):
        grid.plot("goodput-vs-loss", labels=labels)


def test_the_command_takes_labels_and_rejects_unknown_ones(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.svg"
    done = run("plot", str(folder), "-m", "goodput-vs-loss", "-o", str(out), "--label", "cubic=My CUBIC = mine")
    assert done.exit_code == 0, done.stderr
    assert "My CUBIC = mine" in done.stderr
    for label, part in (
        ("cubc=C", 'the figure has no name "cubc" (did you mean "cubic"?); it has '),
        ("cubic", "--label cubic: is not NAME=TEXT; write for example --label cubic=CUBIC"),
        ("=C", "--label =C: is not NAME=TEXT"),
    ):
        done = run("plot", str(folder), "-m", "goodput-vs-loss", "-o", str(tmp_path / "no.svg"), "--label", label)
        assert done.exit_code == 2
        assert part in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "no.svg").exists()


def test_labels_of_a_comparison_need_figures_and_known_names(pair_file: Path, tmp_path: Path) -> None:
    before = ["compare", str(pair_file), "-c", "cubic", "-n", "1", "-o", str(tmp_path / "out"), "-q"]
    assert "--label: needs figures for print; add --figures pdf" in run(*before, "--label", "cubic=C").stderr
    done = run(*before, "--label", "cubik=C", "--figures", "svg")
    assert 'has no name "cubik" (did you mean "cubic"?)' in done.stderr
    assert not (tmp_path / "out").exists()
    assert run(*before, "--label", "cubic=Mine", "--figures", "svg").exit_code == 0
    assert "Mine" in (tmp_path / "out" / "bars.svg").read_text()


def test_helpers_that_render_have_the_same_labels() -> None:
    from lightlag.comparison import painters

    compared = ll.compare(pair(), ["cubic"], replications=1, duration="1 s")
    with painters.painters(1) as helpers, names.within({"cubic": "Labelled"}):
        drawn = painters.draw(compared, ["svg"], helpers)
        assert len(drawn) == len(compared.figures)
        assert all(b"Labelled" in drawing for drawing in drawn.values())


# --- numbers on axes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "written"),
    [
        (["1e-05", "0.0001", "0.001"], ["10⁻⁵", "10⁻⁴", "10⁻³"]),
        (["0.001", "0.01", "0.1"], ["10⁻³", "10⁻²", "10⁻¹"]),
        (["0.01", "0.1"], ["0.01", "0.1"]),
        (["1", "1e7"], ["1", "10⁷"]),
        (["5ms", "1.5 s"], ["5 ms", "1.5 s"]),
        (["drop-tail", "codel"], ["drop-tail", "codel"]),
    ],
)
def test_an_axis_has_plain_numbers_or_powers_of_ten(values: list[str], written: list[str]) -> None:
    assert scales.tick_texts(values) == written


def test_ticks_of_a_logarithmic_axis_are_of_one_kind() -> None:
    for low, high, written in ((1e-5, 1e-1, "10⁻⁵"), (1.0, 1e4, "10,000")):
        axes = Figure().subplots()
        axes.set_yscale("log")
        axes.set_ylim(low, high)
        scales.in_numbers(axes.yaxis)
        axes.get_figure(root=True).draw_without_rendering()  # type: ignore[union-attr]
        texts = [text.get_text() for text in axes.get_yticklabels()]
        assert written in texts
        assert (
            len({"10" in text and "," not in text and text != "10" for text in texts if text not in ("1", "10", "100")})
            == 1
        )


def test_axes_over_decades_and_their_titles_have_powers_of_ten(grid: ll.Comparison) -> None:
    figure = grid.plot("goodput-vs-loss")
    figure.draw_without_rendering()
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["10⁻⁵", "10⁻³", "2×10⁻¹"]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["delay 5 ms", "delay 50 ms"]
    other = grid.plot("goodput-vs-delay")
    assert [axes.get_title(loc="left") for axes in other.axes] == ["loss 10⁻⁵", "loss 10⁻³", "loss 2×10⁻¹"]


def test_charts_of_a_report_write_numbers_in_the_same_way(grid: ll.Comparison) -> None:
    from lightlag.report.comparison_charts import charts

    (first,) = (chart for chart in charts(grid) if chart.name == "goodput-vs-loss")
    panel = first.panels[0].plain
    assert [text for _, text in panel["x"]["ticks"]] == ["10⁻⁵", "10⁻³", "2×10⁻¹"]
    assert (panel["x"]["label"], panel["title"]) == ("Loss", "Goodput (Mbit/s), delay 5 ms")


# --- heat maps --------------------------------------------------------------------------------------------------------


def test_a_heat_map_has_a_panel_per_algorithm_and_the_means_in_its_cells(grid: ll.Comparison) -> None:
    figure = grid.plot("goodput-heatmap")
    *panels, bar = figure.axes
    assert [axes.get_title(loc="left") for axes in panels] == ["CUBIC", "Hybla", "BBRv3"]
    assert bar.get_ylabel() == "Goodput (Mbit/s)"
    assert len({axes.collections[0].norm.vmax for axes in panels}) == 1
    goodput = next(one for one in grid.measures if one.column == "goodput_bps")
    for axes, name in zip(panels, grid.algorithms, strict=True):
        texts = {text.get_position(): text.get_text() for text in axes.texts}
        for column, loss in enumerate(("1e-5", "1e-3", "0.2")):
            for row, delay in enumerate(("5ms", "50ms")):
                mean = grid.interval(name, goodput, (loss, delay)).mean / 1e6
                assert float(texts[column + 0.5, row + 0.5].replace("10", "10")) == pytest.approx(mean, rel=6e-3)
    assert [text.get_text() for text in panels[0].get_yticklabels()] == ["5", "50"]
    assert panels[0].get_ylabel() == "Delay (ms)"


def test_the_best_map_names_the_conclusion_of_each_cell(grid: ll.Comparison) -> None:
    from lightlag.report.answer import answer

    figure = grid.plot("best-heatmap")
    (axes,) = figure.axes
    best = {one.point: one.level for one in answer(grid).points}
    shown = {text.get_position(): text.get_text() for text in axes.texts}
    for column, loss in enumerate(("1e-5", "1e-3", "0.2")):
        for row, delay in enumerate(("5ms", "50ms")):
            assert shown[column + 0.5, row + 0.5] == names.algorithm(best[loss, delay][0])
    tied = any(len(level) > 1 for level in best.values())
    assert ("not distinguishable from another" in legend(figure)) == tied


def test_cells_without_a_finished_run_are_marked(grid: ll.Comparison) -> None:
    figure = grid.plot("completion-heatmap")
    assert "–  no run finished" in legend(figure)
    assert "–" in {text.get_text() for axes in figure.axes for text in axes.texts}


def test_heat_maps_need_two_variables_of_which_most_pairs_have_runs() -> None:
    one = ll.compare(pair(), ["cubic"], vary={"links.0.loss": [0, 1e-3]}, replications=1, duration="2 s")
    assert map_of(one) is None
    assert not [name for name in one.figures if "heatmap" in name]
    with pytest.raises(ll.InputError, match='no comparison figure "goodput-heatmap"; there are goodput-vs-loss'):
        one.plot("goodput-heatmap")


def test_a_third_variable_has_panels_of_its_own() -> None:
    vary: dict[str, list[Any]] = {"links.0.loss": [0, 1e-3], "links.0.delay": ["5 ms", "9 ms"]}
    vary["defaults.tcp.sack"] = [True, False]
    three = ll.compare(pair(), ["cubic", "newreno"], vary=vary, replications=1, duration="2 s")
    shown = map_of(three)
    assert shown is not None
    assert (shown.across.label, shown.up.label, len(shown.others)) == ("loss", "delay", 2)
    titles = [axes.get_title(loc="left") for axes in three.plot("goodput-heatmap").axes[:-1]]
    assert titles == ["CUBIC, sack true", "NewReno, sack true", "CUBIC, sack false", "NewReno, sack false"]
    assert len(three.plot("best-heatmap").axes) == 2


def test_numbers_in_cells_can_be_read_on_every_colour() -> None:
    import matplotlib

    colours = matplotlib.colormaps["viridis"](np.linspace(0, 1, 64))[:, :3]
    for colour in colours:
        on = (1.0, 1.0, 1.0) if heatmap._contrast(tuple(colour)) == "white" else (0.1, 0.1, 0.1)

        def light(of: Any) -> float:
            parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in of]
            return float(np.dot(parts, (0.2126, 0.7152, 0.0722)))

        low, high = sorted((light(colour), light(on)))
        assert (high + 0.05) / (low + 0.05) >= 4.0


# --- values that are missing ------------------------------------------------------------------------------------------


def test_algorithms_that_never_finish_are_marked_and_named(grid: ll.Comparison) -> None:
    never = {point for name, point in grid.cells() if not grid.values(name, COMPLETION, point)}
    assert never, "the fixture has a loss that no transfer survives"
    figure = grid.plot("completion-vs-loss")
    assert "no run finished" in legend(figure)
    lines = [line for axes in figure.axes for line in axes.lines]
    crosses = [line for line in lines if line.get_marker() == "x" and np.size(line.get_xdata())]
    expected = [cell for cell in grid.cells() if not grid.values(cell[0], COMPLETION, cell[1])]
    assert len(crosses) == len(expected)
    assert "No run finished within the simulated time: " in figure.caption
    assert "no run finished" not in legend(grid.plot("goodput-vs-loss"))
    bars = ll.compare(pair(), ["cubic", "newreno"], replications=1, duration="1 s", sets={"links.0.loss": 0.3})
    if not any(bars.values(name, COMPLETION) for name in bars.algorithms):
        assert "completion time" not in {measure.title.lower() for measure in bars.measures}


# --- captions ---------------------------------------------------------------------------------------------------------


def test_a_caption_states_seeds_and_intervals(grid: ll.Comparison) -> None:
    assert grid.plot("goodput-vs-loss").caption == (
        "Goodput against loss: scenario grid, CUBIC, Hybla and BBRv3. Means of n = 3 seeds per point (seeds 1 to 3); "
        "bands are 95 % confidence intervals of the mean (Student's t)."
    )
    for kind in ("completion", "best-heatmap", "goodput"):
        assert "scenario grid" in grid.plot(kind).caption, kind
    assert "seed 1" in grid.plot("cwnd").caption


def test_a_caption_of_identical_runs_has_no_intervals() -> None:
    net = ll.Network("certain")
    net.link("a", "b", rate="5 Mbit/s", delay="20 ms")
    net.flow("a", "b", transfer="100 kB")
    same = ll.compare(net, ["cubic", "newreno"], replications=2, duration="2 s")
    assert "identical, because nothing is random, so there are no intervals" in same.plot("bars").caption
    once = ll.compare(net, ["cubic"], replications=1, duration="2 s")
    assert "One run per algorithm (seed 1), without intervals." in once.plot("bars").caption


def test_a_caption_of_runs_has_scenario_algorithm_and_seed(result: ll.Result) -> None:
    assert result.plot("cwnd").caption == "Congestion window of client->server: pair, CUBIC, seed 3."
    with plot.using("ieee"):
        figure = plot.facets(result, ["cwnd", "rtt"])
    assert figure.caption == "Congestion window and round-trip time over time: pair, CUBIC, seed 3."


@pytest.mark.parametrize("kind", ["pdf", "png", "svg", "pgf"])
def test_a_file_contains_its_caption(grid: ll.Comparison, kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"figure.{kind}"
    figure = grid.plot("goodput-vs-loss", path)
    data = path.read_bytes()
    start = "Goodput against loss: scenario grid, CUBIC, Hybla and BBRv3."
    if kind == "png":
        with Image.open(path) as image:
            assert image.info["Description"] == figure.caption
            assert image.info["Software"] == "lightlag"
    elif kind == "pgf":
        assert f"% Caption: {start}" in data.decode()
    elif kind == "svg":
        assert f"<dc:description>{start}" in data.decode()
    else:
        assert f"/Subject ({start}".encode() in data or b"/Subject" in data
    assert grid.plot("goodput-vs-loss", tmp_path / f"again.{kind}") is not figure
    assert (tmp_path / f"again.{kind}").read_bytes() == data


def test_the_command_prints_the_caption_and_writes_it_for_latex(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "figure.pdf"
    done = run("plot", str(folder), "-m", "goodput-vs-loss", "-o", str(out), "--caption")
    assert (done.exit_code, done.stdout.strip().replace("\n", "")) == (0, str(out))
    assert done.stderr.startswith("caption: Goodput against loss: scenario grid")
    head, caption = (tmp_path / "figure.txt").read_text().splitlines()
    assert head.startswith("%")
    assert caption.startswith("Goodput against loss: scenario grid")
    assert r"95 \% confidence intervals" in caption
    (tmp_path / "other.txt").write_text("mine")
    done = run("plot", str(folder), "-o", str(tmp_path / "other.pdf"), "--caption")
    assert done.exit_code == 2
    assert "other.txt: exists already, and lightlag did not write it" in done.stderr
    assert (tmp_path / "other.txt").read_text() == "mine"
    assert run("plot", str(folder), "-m", "goodput-vs-loss", "-o", str(out), "--caption").exit_code == 0


def test_exponents_are_superscripts_of_latex() -> None:
    assert pgf.escaped("loss 10⁻⁵ & 3×10²") == r"loss 10\ensuremath{^{-5}} \& 3\ensuremath{\times}10\ensuremath{^{2}}"


# --- the list of figures ----------------------------------------------------------------------------------------------


def test_each_listed_figure_can_be_plotted(grid: ll.Comparison, result: ll.Result) -> None:
    assert grid.plots().names == grid.figures
    assert all(one.about.endswith(".") for one in (*grid.plots(), *result.plots(), *listing.possible()))
    for name in result.plots().names:
        assert result.plot(name).axes  # type: ignore[arg-type]
    assert result.plots().names == ["cwnd", "goodput", "sequence", "rtt", "queue"]
    assert {one.name for one in listing.possible()} >= {*plot.FIGURES, "bars", "best-heatmap", "goodput-vs-KEY"}
    assert "goodput-heatmap" in repr(grid.plots())
    assert "<table>" in grid.plots()._repr_html_()


def test_a_run_lists_only_what_was_recorded() -> None:
    bare = ll.run(pair(), duration="2 s", sets={"record.queue": "off", "record.trace": "off"})
    assert bare.plots().names == []


def test_the_command_lists_figures(folder: Path) -> None:
    done = run("plot", "--list")
    assert done.exit_code == 0
    assert re.search(r"^ queue +packets +Packets waiting", done.stdout, re.M)
    done = run("plot", str(folder), "--list")
    assert re.search(r"^ best-heatmap +– +The algorithm with the highest goodput", done.stdout, re.M)
    done = run("plot")
    assert done.exit_code == 2
    assert "no results directory; name one" in done.stderr


# --- styles -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "dpi"), [("ieee", 600), ("acm", 600), ("plain", 200)])
def test_a_png_has_the_resolution_of_its_style(result: ll.Result, name: str, dpi: int, tmp_path: Path) -> None:
    with plot.using(name):
        result.plot("cwnd", tmp_path / "own.png")
    with plot.using(name, dpi=300):
        figure = result.plot("cwnd", tmp_path / "set.png")
    for file, expected in (("own.png", dpi), ("set.png", 300)):
        with Image.open(tmp_path / file) as image:
            assert image.info["dpi"][0] == pytest.approx(expected, abs=0.1)
            assert image.width == pytest.approx(expected * figure.get_figwidth(), abs=1)


@pytest.mark.parametrize("dpi", [0, 49, 5000])
def test_a_resolution_out_of_range_is_one_error(dpi: int) -> None:
    with pytest.raises(ll.InputError, match=f"dpi: {dpi} is not between 50 and 2400"), plot.using("ieee", dpi=dpi):
        pass


def test_a_style_reaches_figures_of_ones_own(tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    before = plt.rcParams.copy()
    with plot.using("ieee", dpi=300):
        figure, axes = plt.subplots()
        (line,) = axes.plot([1, 2])
        axes.set_xlabel("x")
        figure.savefig(tmp_path / "own.png")
    plt.close(figure)
    assert list(figure.get_size_inches()) == pytest.approx([3.5, 2.163])
    assert axes.xaxis.label.get_fontsize() == 8
    assert axes.xaxis.label.get_fontname() == "STIXGeneral"
    assert line.get_color() == style.COLOURS[0]
    with Image.open(tmp_path / "own.png") as image:
        assert image.width == 1050
    assert {name: value for name, value in plt.rcParams.items() if name != "backend"} == {
        name: value for name, value in before.items() if name != "backend"
    }
