"""Several figures of comparisons, or one of several, as panels of one figure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from typer.testing import CliRunner

import lightlag as ll
from conftest import pair
from lightlag import plot
from lightlag.cli.app import app
from lightlag.outcomes import kinds as comparison_kinds


@pytest.fixture(scope="module")
def compared() -> ll.Comparison:
    return ll.compare(pair(), ["cubic", "newreno"], replications=2, duration="5 s")


@pytest.fixture(scope="module")
def lossy() -> ll.Comparison:
    return ll.compare(pair(), ["cubic", "newreno"], replications=2, duration="8 s", sets={"links.0.loss": 0.02})


@pytest.fixture(scope="module")
def varied() -> ll.Comparison:
    return ll.compare(pair(), ["cubic"], vary={"links.0.loss": ["0", "1e-3"]}, replications=2, duration="5 s")


@pytest.fixture(scope="module")
def rivals() -> ll.Comparison:
    return ll.compare("dumbbell", ["cubic/bbr", "cubic/hybla"], replications=2, duration="5 s")


def rows(figure: Figure) -> list[int]:
    return [axes.get_subplotspec().rowspan.start for axes in figure.axes]  # type: ignore[union-attr]


def names(legend: Any) -> list[str]:
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def titles(panels: Sequence[Axes]) -> list[str]:
    return [axes.get_title(loc="left") for axes in panels]


def test_figures_of_a_comparison_are_panels_with_one_legend(compared: ll.Comparison) -> None:
    figure = plot.facets(compared, ["goodput", "completion", "cwnd"])
    assert rows(figure) == [0, 0, 1, 1]
    labels = [(axes.get_xlabel(), axes.get_ylabel().split(" (")[0]) for axes in figure.axes]
    assert labels == [
        ("Time (s)", "Goodput"),
        ("Completion time (s)", "Fraction of flows"),
        ("Time (s)", "cwnd"),
        ("Time (s)", "cwnd"),
    ]
    assert titles(figure.axes) == ["", "", "CUBIC", "NewReno"]
    assert names(figure.legends[0]) == ["CUBIC", "NewReno", "link"]
    assert all(axes.get_legend() is None for axes in figure.axes)
    assert figure.get_suptitle() == "pair · means of 2 runs, 95 % intervals · windows of the first seed"


def test_names_may_be_one_text(compared: ll.Comparison, result: ll.Result) -> None:
    assert len(plot.facets(compared, "goodput, completion").axes) == 2
    assert len(plot.facets(result, "cwnd").axes) == 1


def test_a_column_of_a_paper_has_one_panel_next_to_another(compared: ll.Comparison) -> None:
    with plot.using("ieee"):
        figure = plot.facets(compared, ["goodput", "completion", "cwnd"])
    assert rows(figure) == [0, 1, 2, 3]
    assert (figure.get_figwidth(), figure.get_suptitle()) == (3.5, "")


def test_without_names_every_figure_is_there(compared: ll.Comparison, varied: ll.Comparison) -> None:
    for comparison in (compared, varied):
        count = sum(comparison_kinds.panel_count(comparison, kind) for kind in comparison.figures)
        assert len(plot.facets(comparison).axes) == count


@pytest.mark.parametrize("which", ["compared", "varied", "rivals"])
def test_panels_are_as_many_as_in_the_figure_alone(which: str, request: pytest.FixtureRequest) -> None:
    comparison: ll.Comparison = request.getfixturevalue(which)
    for kind in comparison.figures:
        alone = [axes for axes in comparison.plot(kind).axes if axes.get_visible()]
        assert comparison_kinds.panel_count(comparison, kind) == len(alone), kind


def test_each_comparison_has_a_panel_with_the_same_scales(compared: ll.Comparison, lossy: ll.Comparison) -> None:
    figure = plot.facets({"few": compared, "many": lossy}, ["goodput", "completion"], separate=True)
    assert titles(figure.axes) == ["few", "many", "few", "many"]
    assert rows(figure) == [0, 0, 1, 1]
    for left, right in (figure.axes[:2], figure.axes[2:]):
        assert (left.get_xlim(), left.get_ylim()) == (right.get_xlim(), right.get_ylim())
    assert names(figure.legends[0]) == ["CUBIC", "NewReno", "link"]


def test_bars_of_two_comparisons_are_side_by_side(compared: ll.Comparison, lossy: ll.Comparison) -> None:
    figure = plot.facets({"few": compared, "many": lossy}, ["bars"], separate=True)
    assert rows(figure) == [row for row in range(len(compared.measures)) for _ in ("few", "many")]
    assert titles(figure.axes) == ["few", "many"] * len(compared.measures)
    for left, right in zip(figure.axes[::2], figure.axes[1::2], strict=True):
        assert (left.get_xlabel(), left.get_xlim()) == (right.get_xlabel(), right.get_xlim())
    assert not figure.legends


def test_several_comparisons_are_lines_next_to_each_other(compared: ll.Comparison, lossy: ll.Comparison) -> None:
    figure = plot.facets({"few": compared, "many": lossy}, ["goodput", "completion"])
    assert len(figure.axes) == 2
    assert set(names(figure.legends[0])) == {"few: CUBIC", "many: CUBIC", "few: NewReno", "many: NewReno", "link"}


def test_a_legend_that_would_be_ambiguous_stays_at_its_panel(rivals: ll.Comparison, compared: ll.Comparison) -> None:
    figure = plot.facets(rivals, ["cwnd", "goodput"])
    assert [set(names(axes.get_legend())) for axes in figure.axes] == [
        {"CUBIC", "BBR"},
        {"CUBIC", "Hybla"},
        {"CUBIC/BBR", "CUBIC/Hybla", "link"},
    ]
    assert not figure.legends
    other = ll.compare(pair(), ["newreno", "cubic"], replications=2, duration="5 s")
    figure = plot.facets({"a": compared, "b": other}, ["completion"], separate=True)
    assert [names(axes.get_legend()) for axes in figure.axes] == [["CUBIC", "NewReno"], ["NewReno", "CUBIC"]]
    assert titles(figure.axes) == ["a", "b"]


def test_separate_runs_have_panels_with_the_same_scales(result: ll.Result) -> None:
    short = ll.run(pair(), duration="2 s", seed=3)
    figure = plot.facets({"long": result, "short": short}, ["sequence", "goodput"], separate=True)
    assert titles(figure.axes) == ["long", "short", "long", "short"]
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert names(figure.axes[0].get_legend()) == ["acknowledged", "sent"]


def test_panels_go_into_axes_of_ones_own(compared: ll.Comparison) -> None:
    own = Figure()
    grid = own.subplots(2, 2).ravel()
    assert plot.facets(compared, ["goodput", "completion", "cwnd"], ax=grid) is own
    assert all(axes.lines for axes in grid)
    with pytest.raises(ll.InputError, match="4 panels; give as many axes"):
        plot.facets(compared, ["goodput", "completion", "cwnd"], ax=grid[:3])


@pytest.mark.parametrize(
    ("kinds", "part"),
    [
        (["goodput", "rtt"], '"rtt" is not a plot of comparisons; there are bars, goodput, cwnd, completion'),
        (["cwnd", "cwnd"], '"cwnd" is duplicated'),
        ([], "no plot; name some of bars, goodput"),
    ],
)
def test_an_invalid_panel_is_one_error(compared: ll.Comparison, kinds: list[str], part: str) -> None:
    with pytest.raises(ll.InputError, match=re.escape(part)):
        plot.facets(compared, kinds)


def test_a_figure_longer_than_two_pages_is_rejected(compared: ll.Comparison) -> None:
    many = {f"c{at}": compared for at in range(7)}
    with pytest.raises(ll.InputError, match="35 panels are too many for one figure"):
        plot.facets(many, ["bars"], separate=True)


def test_runs_and_comparisons_are_not_mixed(compared: ll.Comparison, result: ll.Result) -> None:
    with pytest.raises(ll.InputError, match="a figure shows results of one kind"):
        plot.facets([compared, result], ["goodput"])  # type: ignore[arg-type]


@pytest.mark.parametrize("format", ["pdf", "svg", "png", "pgf"])
def test_the_command_draws_panels(compared: ll.Comparison, lossy: ll.Comparison, format: str, tmp_path: Path) -> None:
    for name, comparison in (("few", compared), ("many", lossy)):
        comparison.save(tmp_path / name, formats=(), report=False)
    folders = [str(tmp_path / "few"), str(tmp_path / "many")]
    for arguments, figure in (
        ([folders[0], "-m", "goodput,completion,cwnd"], tmp_path / "few" / f"goodput-completion-cwnd.{format}"),
        ([*folders, "--separate", "-o", str(tmp_path / "apart")], tmp_path / f"apart.{format}"),
    ):
        done = CliRunner().invoke(app, ["plot", *arguments, "--style", "acm", "--format", format])
        assert done.exit_code == 0
        assert done.stderr.startswith("caption: ")
        assert figure.stat().st_size > 1000
