"""Several results in one figure: lines and bars named after directories, and errors where that cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner

import lightlag as ll
from conftest import pair
from lightlag import plot
from lightlag.cli.app import app
from lightlag.comparison.comparison import Comparison
from lightlag.drawing import style
from lightlag.outcomes.kinds import kinds
from lightlag.plot import overlay


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes if (legend := axes.get_legend()) for text in legend.get_texts()]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the runs a, b and geo, and the comparisons ca, cb, cv and cw."""
    folder = tmp_path_factory.mktemp("folders")
    short: dict[str, Any] = {"duration": "30 s"}
    ll.run(pair(), seed=3, **short).save(folder / "a")
    ll.run(pair(), seed=4, sets={"links.0.loss": 0.01}, **short).save(folder / "b")
    ll.run("geo", duration="8 s").save(folder / "geo")
    bare: dict[str, Any] = {"formats": (), "report": False}
    ll.compare(pair(), ["cubic", "newreno"], replications=2, **short).save(folder / "ca", **bare)
    ll.compare(pair(), ["cubic", "hybla"], replications=3, seed=7, **short).save(folder / "cb", **bare)
    vary: dict[str, Any] = {"links.0.delay": ["20 ms", "50 ms"]}
    ll.compare(pair(), ["cubic"], vary=vary, replications=1, **short).save(folder / "cv", **bare)
    vary = {"links.0.delay": ["0.05 s", "80 ms"]}
    ll.compare(pair(), ["cubic"], vary=vary, replications=1, **short).save(folder / "cw", **bare)
    return folder


@pytest.fixture
def runs(folders: Path) -> list[ll.Result]:
    return [ll.load(folders / "a"), ll.load(folders / "b")]


@pytest.mark.parametrize("metric", plot.OVER_TIME)
def test_figures_over_time_show_several_results(runs: list[ll.Result], metric: str) -> None:
    figure = plot.OVER_TIME[metric](runs)
    (axes,) = figure.axes
    part = "client->server"
    assert [text for text in texts(figure) if part in text and "link" not in text] == [f"a: {part}", f"b: {part}"]
    lines = [line for line in axes.lines if part in str(line.get_label()) and "link" not in str(line.get_label())]
    assert [line.get_color() for line in lines] == list(style.COLOURS[:2])
    assert lines[0]._dash_pattern != lines[1]._dash_pattern  # type: ignore[attr-defined]
    assert axes.get_title(loc="right").endswith("pair · CUBIC · seeds 3, 4")
    assert axes.get_xlim()[1] == max(run.simulated_s for run in runs)


def test_a_figure_of_one_result_in_a_list_matches_the_result(runs: list[ll.Result]) -> None:
    for metric, draw in plot.OVER_TIME.items():
        assert texts(draw(runs[:1])) == texts(draw(runs[0])), metric
    assert texts(plot.cwnd(runs[:1]))[0] == "cwnd"


def test_names_are_scenarios_where_these_differ(runs: list[ll.Result], folders: Path, tmp_path: Path) -> None:
    geo = ll.load(folders / "geo")
    assert list(overlay.named([runs[0], geo], ll.Result)) == ["pair", "geo"]
    assert list(overlay.named([*runs, geo], ll.Result)) == ["a", "b", "geo"]
    same_end = ll.load(runs[0].save(tmp_path / "a"))
    assert list(overlay.named([runs[0], same_end], ll.Result)) == [str(folders / "a"), str(tmp_path / "a")]
    live = ll.run(pair(), duration="1 s")
    assert list(overlay.named([live, runs[0]], ll.Result)) == ["pair 1", "pair 2"]
    assert texts(plot.cwnd({"lossy": runs[1], "clean": runs[0]})) == ["lossy: client->server", "clean: client->server"]


def test_more_flows_than_lines_are_a_median_for_each_result(four_flows: ll.Result, runs: list[ll.Result]) -> None:
    given = {"x": four_flows, "y": four_flows, "z": runs[0]}
    assert set(texts(plot.cwnd(given))) == {"x: median of 4 flows", "y: median of 4 flows", "z: client->server"}
    assert set(texts(plot.goodput(given))) == {
        *("x: all 4 flows", "y: all 4 flows", "z: client->server"),
        *("x, y: link router-left->router-right: 10 Mbit/s", "z: link client->server: 5 Mbit/s"),
    }
    assert len(texts(plot.rtt({"x": four_flows, "y": four_flows}))) == 8


def test_sums_match_the_flows(four_flows: ll.Result, runs: list[ll.Result]) -> None:
    drawn = plot.goodput({"x": four_flows, "y": four_flows, "z": runs[0]}, interval_s=1.0).axes[0]
    (alone,) = (
        line for line in plot.goodput(four_flows, interval_s=1.0).axes[0].lines if line.get_label() == "all flows"
    )
    (line,) = (line for line in drawn.lines if line.get_label() == "x: all 4 flows")
    assert list(line.get_ydata()) == pytest.approx(list(alone.get_ydata()))  # type: ignore[arg-type]


def test_queues_of_all_results_are_of_the_same_links(runs: list[ll.Result]) -> None:
    chosen = plot.queue(runs, link="server->client")
    assert texts(chosen) == ["a: server->client", "b: server->client"]
    with pytest.raises(ll.InputError, match=r'no link direction "gateway->server" in .*a; there are client->server'):
        plot.queue(runs, link="gateway->server")


@pytest.mark.parametrize("metric", sorted(plot.FIGURES.keys() - plot.OVER_TIME.keys()))
def test_other_figures_show_one_result(runs: list[ll.Result], metric: str) -> None:
    with pytest.raises(ll.InputError, match=f'"{metric}" shows one result; of several there are cwnd, goodput'):
        plot.FIGURES[metric](runs)


def test_algorithms_of_several_comparisons_are_side_by_side(folders: Path) -> None:
    both = [ll.load_comparison(folders / name) for name in ("ca", "cb")]
    figure = plot.comparisons(both)
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == ["ca: CUBIC", "cb: CUBIC", "ca: NewReno", "cb: Hybla"]
    merged = overlay.merged(overlay.named(both, Comparison))
    assert kinds(merged) == both[0].figures
    for measure in merged.measures:
        assert merged.values("cb: cubic", measure) == both[1].values("cubic", measure)
    assert "pair: mean of 2 to 3 runs" in str(figure.get_suptitle())
    assert "seeds 1, 7" in str(plot.comparisons(both, "cwnd").get_suptitle())
    assert overlay.merged({"x": both[0]}) is both[0]


def test_points_of_several_comparisons_are_quantities(folders: Path) -> None:
    given = {name: ll.load_comparison(folders / name) for name in ("cv", "cw")}
    merged = overlay.merged(given)
    assert merged.points == [("20 ms",), ("50 ms",), ("80 ms",)]
    assert [one.point for one in merged.of("cw: cubic")] == [("50 ms",), ("80 ms",)]
    (axes,) = plot.comparisons(given, "goodput-vs-delay").axes
    assert [line.get_label() for line in axes.lines] == ["cv: CUBIC", "cw: CUBIC"]
    for kind in kinds(merged):
        assert plot.comparisons(given, kind).axes, kind


def test_comparisons_vary_the_same_keys(folders: Path) -> None:
    given = [ll.load_comparison(folders / name) for name in ("ca", "cv")]
    with pytest.raises(ll.InputError, match=r"ca varies nothing, and cv links\.0\.delay; a figure shows"):
        plot.comparisons(given)


def test_results_of_two_kinds_are_rejected(runs: list[ll.Result], folders: Path) -> None:
    compared = ll.load_comparison(folders / "ca")
    with pytest.raises(ll.InputError, match="ca is a comparison, and the others are runs"):
        plot.cwnd([*runs, compared])  # type: ignore[list-item]
    with pytest.raises(ll.InputError, match="a is a run, and the others are comparisons"):
        plot.comparisons([compared, runs[0]])  # type: ignore[list-item]
    with pytest.raises(ll.InputError, match="'geo' is not a Result"):
        plot.cwnd(["geo"])  # type: ignore[list-item]
    with pytest.raises(ll.InputError, match="no result; give at least one"):
        plot.cwnd([])


@pytest.fixture
def call(folders: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.chdir(folders)
    return CliRunner()


def test_plot_takes_several_directories(call: CliRunner, tmp_path: Path) -> None:
    out = tmp_path / "both.svg"
    done = call.invoke(app, ["plot", "a", "b", "-m", "rtt", "-o", str(out)])
    assert (done.exit_code, done.stdout.replace("\n", "")) == (0, str(out))
    done = call.invoke(app, ["plot", "ca", "cb", "-o", str(tmp_path / "bars.png")])
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")


def test_the_figure_of_several_is_in_no_directory(call: CliRunner, tmp_path: Path, folders: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).symlink_to(folders / name)
    with pytest.MonkeyPatch.context() as moved:
        moved.chdir(tmp_path)
        assert call.invoke(app, ["plot", "a", "b"]).stdout == "cwnd.pdf\n"
        assert (tmp_path / "cwnd.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("a", "ca"), ("ca is a comparison, and the others are runs",)),
        (("ca", "a"), ("a is a run, and the others are comparisons",)),
        (("a", "b", "-m", "globe"), ('"globe" shows one result',)),
        (("a", "b", "-m", "swarm", "-o", "x.gif"), ("x.gif: animations show one result",)),
        (("a", "b", "-m", "bars"), ('no figure of "bars"; there are cwnd',)),
        (("ca", "cb", "-m", "rtt"), ('no comparison figure "rtt"; there are bars',)),
        (("ca", "cv"), ("ca varies nothing, and cv links.0.delay",)),
        (("a", "a"), ("a: is duplicated",)),
        (("a", "./a/"), ("a: is duplicated",)),
        (("ca", "cb", "ca"), ("ca: is duplicated",)),
        (("a", "nowhere"), ("nowhere: is not a results directory",)),
        (("a", "b", "-o", "x.docx"), (".pdf, .svg, .png",)),
    ],
)
def test_what_cannot_be_drawn_together_is_one_error(
    call: CliRunner, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    done = call.invoke(app, ["plot", *arguments])
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    for part in parts:
        assert part in done.stderr
