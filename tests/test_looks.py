"""Looks of figures, custom axes, panels, and axes that show everything."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner

import lightlag as ll
from conftest import pair
from lightlag import plot
from lightlag.cli.app import app
from lightlag.constellation import plot as constellation_plot
from lightlag.drawing import framing, looks, pgf, scales, style


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes if (legend := axes.get_legend()) for text in legend.get_texts()]


@pytest.fixture(scope="module")
def peaked() -> dict[str, ll.Result]:
    """CUBIC, and Hybla with a window that far exceeds the capacity of the path for several seconds."""
    hybla = ll.run("geo", seed=1, sets={"flows.0.congestion": "hybla"})
    return {"cubic": ll.run("geo", seed=1), "hybla": hybla}


# --- sizes and fonts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "inches"),
    [("3.5in", 3.5), ("8.89 cm", 3.5), ("88.9mm", 3.5), ("252.945pt", 3.5), ("252bp", 3.5), ("700px", 3.5), (3.5, 3.5)],
)
def test_lengths_have_units(length: str | float, inches: float) -> None:
    assert looks.inches(length) == pytest.approx(inches, abs=1e-4)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"style": "IEEE"}, 'no style "IEEE" (did you mean "ieee"?); there are plain, ieee, acm, slide'),
        ({"width": "3.5"}, "width: 3.5 is not a length; write a number with one of in, cm, mm, pt, bp, px: 3.5in"),
        ({"width": "wide"}, "width: wide is not a length"),
        ({"height": "3 yards"}, "height: 3 yards is not a length"),
        ({"width": "1mm"}, "width: 1mm is not between 1.5 in and 40 in"),
        ({"height": "9e9in"}, "height: 9e9in is not a length"),
        ({"width": float("nan")}, "width: nan is not between"),
        ({"font": "DejaVu Sanz"}, 'no font family "DejaVu Sanz" is installed (did you mean "DejaVu Sans"?)'),
    ],
)
def test_an_invalid_look_is_one_error(options: dict[str, Any], part: str) -> None:
    with pytest.raises(ll.InputError, match=re.escape(part)):
        looks.of(**options)


@pytest.mark.parametrize(("name", "width"), [("ieee", 3.5), ("acm", 241.14749 / 72.27), ("slide", 140 / 25.4)])
def test_styles_are_as_wide_as_their_templates(result: ll.Result, name: str, width: float) -> None:
    with plot.using(name):
        figure = plot.cwnd(result)
    assert figure.get_figwidth() == pytest.approx(width, abs=1e-3)
    (axes,) = figure.axes
    sizes = [text.get_fontsize() for text in (axes.xaxis.label, axes.yaxis.label, *axes.get_xticklabels())]
    assert min(map(float, sizes)) >= 8
    assert axes.xaxis.label.get_fontname() == ("DejaVu Sans" if name == "slide" else "STIXGeneral")
    assert bool(axes.get_title(loc="left")) == (name == "slide")
    with plot.using(name, titles=True):
        assert plot.cwnd(result).axes[0].get_title(loc="left")


def test_a_look_ends_with_its_block(result: ll.Result) -> None:
    before = plot.cwnd(result)
    with plot.using("slide"), plot.using("ieee", width="7.16in", height="50mm", font="mono"):
        figure = plot.cwnd(result)
    assert list(figure.get_size_inches()) == pytest.approx([7.16, 50 / 25.4], abs=1e-3)
    assert figure.axes[0].xaxis.label.get_fontname() == "DejaVu Sans Mono"
    after = plot.cwnd(result)
    assert list(after.get_size_inches()) == list(before.get_size_inches())
    assert after.axes[0].xaxis.label.get_fontname() == "DejaVu Sans"


def test_a_figure_is_written_in_the_look_that_it_was_drawn_in(result: ll.Result, tmp_path: Path) -> None:
    with plot.using(width="700px", height="400px"):
        figure = plot.cwnd(result)
    png = figure.save(tmp_path / "a.png").read_bytes()
    assert [int.from_bytes(png[at : at + 4], "big") for at in (16, 20)] == [700, 400]
    with plot.using("ieee"):
        paper = plot.cwnd(result)
    assert b"STIXGeneral" in paper.save(tmp_path / "paper.pdf").read_bytes()


# --- PGF --------------------------------------------------------------------------------------------------------------


def test_pgf_needs_no_latex_and_repeats(result: ll.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with plot.using("ieee"):
        figure = plot.rtt(result)
    first = figure.save(tmp_path / "a.pgf").read_text()
    assert figure.save(tmp_path / "b.pgf").read_text() == first
    assert r"\begin{pgfpicture}" in first
    assert r"\pgfqpoint{3.500000in}" in first
    assert r"\includegraphics" not in first
    assert {path.name for path in tmp_path.iterdir()} == {"a.pgf", "b.pgf"}


def test_texts_of_pgf_are_not_commands() -> None:
    with plot.using("ieee"):
        figure, axes = style.chart()
    axes.set_title(r"50 % of a_b & #1 {x} \input~^ <->")
    assert r"50 \% of a\_b \& \#1 \{x\} \textbackslash{}input\textasciitilde{}\^{}" in pgf.commands(figure)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is missing: apt-get install texlive-pictures")
def test_latex_sets_pgf(peaked: dict[str, ll.Result], tmp_path: Path) -> None:
    with plot.using("acm", titles=True):
        plot.facets(peaked).save(tmp_path / "figure.pgf")
    document = r"\documentclass{article}\usepackage{pgf}\begin{document}\input{figure.pgf}\end{document}"
    (tmp_path / "paper.tex").write_text(document)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "paper.pdf").read_bytes().startswith(b"%PDF")


# --- custom axes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", plot.OVER_TIME)
def test_figures_are_drawn_into_given_axes(result: ll.Result, metric: str) -> None:
    own = Figure(layout="constrained")
    first, second = own.subplots(1, 2)
    assert result.plot(metric, ax=second) is own  # type: ignore[arg-type]
    assert not first.lines
    assert len(second.lines) == len(result.plot(metric).axes[0].lines)  # type: ignore[arg-type]
    assert second.get_ylabel().replace("\n", " ") == result.plot(metric).axes[0].get_ylabel()  # type: ignore[arg-type]
    assert list(own.get_size_inches()) == [6.4, 4.8]


def test_figures_with_panels_take_as_many_axes(result: ll.Result, net: ll.Network) -> None:
    own = Figure()
    grid = own.subplots(2, 2)
    assert plot.facets(result, ax=grid) is own
    assert all(axes.lines for axes in grid.flat)
    with pytest.raises(ll.InputError, match="ax: 2 axes, and this figure has 4 panels"):
        plot.facets(result, ax=grid[0])
    with pytest.raises(ll.InputError, match="ax: 2 axes, and this figure has 1 panel;"):
        plot.cwnd(result, ax=grid[0])
    with pytest.raises(ll.InputError, match="ax: str is not an Axes of matplotlib"):
        plot.cwnd(result, ax="left")  # type: ignore[arg-type]
    compared = ll.compare(net, ["newreno", "cubic"], replications=2, duration="20 s")
    for kind in compared.figures:
        panels = Figure().subplots(1, len(compared.plot(kind).axes), squeeze=False)
        assert compared.plot(kind, ax=panels) is panels.flat[0].figure, kind
        assert panels.flat[0].figure.get_suptitle() == ""


def test_a_sky_plot_needs_polar_axes() -> None:
    sky = ll.sky("iridium")
    station = sky.stations[0]
    assert constellation_plot.sky_view(sky, station, ax=Figure().add_subplot(projection="polar")).axes
    with pytest.raises(ll.InputError, match="polar"):
        constellation_plot.sky_view(sky, station, ax=Figure().add_subplot())


# --- panels -----------------------------------------------------------------------------------------------------------


def test_panels_share_the_time_and_a_legend(peaked: dict[str, ll.Result]) -> None:
    figure = plot.facets(peaked, ["cwnd", "rtt", "goodput", "sequence"])
    cwnd, rtt, goodput, sequence = figure.axes
    assert len({axes.get_subplotspec().rowspan.start for axes in figure.axes}) == 2  # type: ignore[union-attr]
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert [axes.get_xlabel() for axes in figure.axes] == ["", "", "Time (s)", "Time (s)"]
    labels = [axes.get_ylabel() for axes in (cwnd, rtt, goodput, sequence)]
    assert [label.split("\n")[0].split(" ")[0] for label in labels] == ["cwnd", "RTT", "Goodput", "Payload"]
    (shared,) = figure.legends
    assert [text.get_text() for text in shared.get_texts()] == ["cubic: client->server", "hybla: client->server"]
    assert texts(figure) == ["link gateway->server: 20 Mbit/s"]
    with plot.using("ieee"):
        narrow = plot.facets(peaked)
    assert len({axes.get_subplotspec().rowspan.start for axes in narrow.axes}) == 4  # type: ignore[union-attr]


def test_a_panel_without_data_gives_a_reason() -> None:
    result = ll.run(pair(), duration="5 s", sets={"record.queue": "off"})
    figure = plot.facets(result)
    (said,) = (text.get_text().replace("\n", " ") for text in figure.axes[3].texts)
    assert said == "pair: no queue was recorded; run it with --set record.queue=sampled"
    assert figure.axes[0].lines
    framing.say_empty(figure.axes[0], "nothing")


@pytest.mark.parametrize(
    ("metrics", "part"),
    [
        (["cwnd", "globe"], '"globe" is not a plot over time'),
        (["cwnd", "cwnd"], '"cwnd" is duplicated'),
        ([], "no metric; name some of cwnd, goodput"),
    ],
)
def test_panels_are_figures_over_time(result: ll.Result, metrics: list[str], part: str) -> None:
    with pytest.raises(ll.InputError, match=part):
        plot.facets(result, metrics)


# --- axes that show everything ----------------------------------------------------------------------------------------


def test_windows_far_above_others_for_long_take_a_logarithmic_axis(peaked: dict[str, ll.Result]) -> None:
    (axes,) = plot.cwnd(peaked).axes
    assert axes.get_yscale() == "log"
    assert axes.get_ylabel() == "Congestion window (segments, log)"
    low, high = axes.get_ylim()
    for line in axes.lines:
        values = np.asarray(line.get_ydata(), dtype=float)
        assert low < values.min() <= values.max() < high
    assert plot.cwnd(peaked["cubic"]).axes[0].get_yscale() == "linear"


def test_a_link_near_the_goodput_is_a_line_and_one_far_above_a_note() -> None:
    def drawn(rate: str) -> Figure:
        net = ll.Network("slow")
        net.link("a", "b", rate=rate, delay="10 ms")
        net.flow("a", "b", transfer="100 MB", tcp={"receive_buffer": "20 kB"})
        return plot.goodput(ll.run(net, duration="5 s"))

    near = drawn("8 Mbit/s")
    assert texts(near) == ["a->b", "link a->b: 8 Mbit/s"]
    assert near.axes[0].get_ylim()[1] > 8
    far = drawn("1 Gbit/s")
    assert texts(far) == []
    assert "link a->b: 1 Gbit/s" in far.axes[0].get_title(loc="right")


def test_intervals_are_shown_or_named() -> None:
    panels = [Figure().subplots()]
    assert scales.cut_intervals(panels, 10.0, 19.0, "ms") == pytest.approx(1.05 * 19)
    assert not panels[0].texts
    assert scales.cut_intervals(panels, 10.0, 90.0, "ms") == pytest.approx(21)
    assert [text.get_text() for text in panels[0].texts] == ["▲ intervals up to 90 ms"]


def test_ticks_are_written_as_scenarios_write_them() -> None:
    assert [scales.tick(value) for value in (1e-5, 0.001, 20.0, 1e9, 2.5e-7)] == [
        "1e-5",
        "0.001",
        "20",
        "1e9",
        "2.5e-7",
    ]
    given: dict[str, Any] = {"links.0.loss": ["1e-4", "1e-3", "1e-2"]}
    compared = ll.compare(pair(), ["cubic"], vary=given, replications=2, duration="10 s")
    figure = compared.plot("goodput-vs-loss")
    figure.draw_without_rendering()
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["10⁻⁴", "10⁻³", "10⁻²"]


def test_a_comparison_without_traces_reports_it_in_its_panel(net: ll.Network) -> None:
    compared = ll.compare(net, ["newreno"], replications=2, duration="1 s")
    figure = compared.plot("goodput")
    assert figure.axes[0].lines
    unfinished = ll.compare(net, ["newreno", "cubic"], vary={"links.0.rate": ["1 kbit/s", "9 Mbit/s"]}, replications=1)
    first, _ = unfinished.plot("completion").axes
    assert [text.get_text() for text in first.texts] == ["no flow finished"]


def test_names_are_not_formulas(tmp_path: Path) -> None:
    net = ll.Network("p$q_$")
    net.link("a$_", "b${", rate="5 Mbit/s", delay="20 ms")
    net.flow("a$_", "b${", transfer="100 kB")
    result = ll.run(net, duration="5 s")
    for metric in plot.OVER_TIME:
        for suffix in ("png", "pgf"):
            assert result.plot(metric, tmp_path / f"{metric}.{suffix}").axes  # type: ignore[arg-type]
    assert plot.facets(result).save(tmp_path / "facets.svg").stat().st_size > 0


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("looks")
    ll.run(pair(), seed=3, duration="10 s").save(folder / "run")
    compared = ll.compare(pair(), ["cubic"], replications=2, duration="5 s")
    compared.save(folder / "compared", formats=(), report=False)
    return folder


@pytest.mark.parametrize("format", ["pdf", "svg", "png", "pgf"])
def test_the_command_takes_a_style_and_a_format(folder: Path, format: str) -> None:
    options = ["--style", "ieee", "--width", "88mm", "--font", "serif", "--format", format]
    done = CliRunner().invoke(app, ["plot", str(folder / "run"), "-m", "cwnd,rtt", *options])
    assert done.exit_code == 0
    assert done.stderr.startswith("caption: ")
    path = folder / "run" / f"cwnd-rtt.{format}"
    assert done.stdout.replace("\n", "") == str(path)
    assert path.stat().st_size > 1000


def test_metrics_may_be_named_one_by_one(folder: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["plot", str(folder / "run"), "-m", "cwnd", "-m", "rtt", "--format", "svg"])
    assert done.exit_code == 0
    assert done.stderr.startswith("caption: ")
    assert done.stdout.replace("\n", "") == str(folder / "run" / "cwnd-rtt.svg")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("run", "--format", "gif"), '--format: "gif" is not a format of figures; there are pdf, svg, png, pgf'),
        (("run", "--format", "svg", "-o", "x.pdf"), "--format svg: x.pdf ends in .pdf; leave one of them out"),
        (("run", "-o", "mine"), "mine: has no suffix for the format; end the name in .pdf, .svg, .png, .pgf"),
        (("run", "--style", "ieeee"), 'no style "ieeee" (did you mean "ieee"?)'),
        (("run", "--width", "3.5"), "width: 3.5 is not a length"),
        (("run", "--font", "Nothing"), 'no font family "Nothing"'),
        (("run", "-m", "cwnd,bars"), '"bars" is not a plot over time'),
        (("run", "-m", "cwnd,"), '"" is not a plot over time'),
        (
            ("compared", "-m", "goodput,rtt"),
            '"rtt" is not a plot of comparisons; there are bars, goodput, cwnd',
        ),
    ],
)
def test_what_the_command_cannot_draw_is_one_error(
    folder: Path, arguments: tuple[str, ...], part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, ["plot", *arguments])
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert part in done.stderr


CAPTURE = Path(__file__).parent / "data/captures/linux-cubic-sender.pcap"


def size_of(path: Path) -> tuple[float, float]:
    """Width and height of an SVG in inches."""
    found = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', path.read_text())
    assert found is not None
    return float(found[1]) / 72, float(found[2]) / 72


@pytest.mark.parametrize(
    ("command", "figures"),
    [
        (("inspect", str(CAPTURE), "-o", "out/one"), ["one"]),
        (("replay", str(CAPTURE), "-q", "-o", "out"), ["sequence"]),
        (("compare-capture", str(CAPTURE), str(CAPTURE), "-o", "out/both"), ["both"]),
        (("orbit", "iridium", "--seconds", "30", "-o", "out"), ["globe", "map", "sky", "timeline"]),
    ],
    ids=lambda one: one[0],
)
def test_every_command_that_draws_takes_a_look(
    command: tuple[str, ...], figures: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if "/" in command[-1]:
        Path("out").mkdir()
    done = CliRunner().invoke(app, [*command, "--style", "ieee", "--height", "2in", "--format", "svg"])
    assert done.exit_code == 0, done.output
    for name in figures:
        assert size_of(tmp_path / "out" / f"{name}.svg") == (3.5, 2.0)


@pytest.mark.parametrize("command", [("inspect", str(CAPTURE)), ("compare-capture", "a", "b")])
def test_an_unknown_figure_format_is_reported_before_a_capture_is_read(command: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, [*command, "-o", "mine"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: mine: has no suffix for the format")


@pytest.mark.parametrize("command", [("inspect", str(CAPTURE)), ("compare-capture", "a", "b"), ("orbit", "iridium")])
def test_a_look_without_a_figure_is_an_error(command: tuple[str, ...]) -> None:
    for options in (("--style", "acm"), ("--format", "svg"), ("--no-titles",)):
        done = CliRunner().invoke(app, [*command, *options])
        assert done.exit_code == 2
        assert done.stderr.startswith(
            "error: --style, --width, --height, --font, --titles, --dpi and --format need a figure; add --out"
        )


@pytest.mark.parametrize("command", ["plot", "inspect", "compare-capture", "replay", "orbit"])
def test_commands_that_draw_say_the_same_of_their_options(command: str) -> None:
    from typer.main import get_command

    commands: Any = get_command(app)
    names = {"style", "width", "height", "font", "titles", "dpi", "format"}

    def said(name: str) -> dict[str, tuple[list[str], str]]:
        return {one.name: (one.opts, one.help) for one in commands.commands[name].params if one.name in names}

    assert said(command).keys() == names
    assert said(command) == said("plot")


def test_a_look_reaches_figures_of_matplotlib_itself() -> None:
    import matplotlib.pyplot as plt

    with plot.using("ieee"):
        figure, axes = plt.subplots()
        assert figure.get_figwidth() == 3.5
        assert axes.xaxis.label.get_fontfamily()[0] == "STIXGeneral"
        assert plt.rcParams["savefig.dpi"] == 600
    plt.close(figure)
    assert plt.rcParams["savefig.dpi"] != 600


def test_panels_above_each_other_share_the_label_of_their_variable() -> None:
    given: dict[str, Any] = {"links.0.loss": [1e-5, 1e-3], "links.0.delay": ["5 ms", "50 ms"]}
    compared = ll.compare(pair(), ["cubic", "newreno"], vary=given, replications=1, duration="3 s")
    with plot.using("ieee"):
        panels = compared.plot("goodput-vs-loss").axes
    assert [axes.get_xlabel() for axes in panels] == ["", "Loss"]
    markers = {line.get_marker() for line in panels[0].lines}
    assert len(markers) == 2
