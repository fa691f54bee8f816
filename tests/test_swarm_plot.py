"""Figures of swarms, from tables: positions between rows, links, paths, figures, films and the player."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes

from lightlag.drawing import style
from lightlag.drawing.style import Chart
from lightlag.errors import InputError
from lightlag.swarm import labels
from lightlag.swarm import player as swarm_player
from lightlag.swarm import plot as swarm_plot
from lightlag.swarm.paths import Radio, Swarm, flows_of, path

# Three nodes 40 m apart; the third flies away along x with 10 m/s.
POSITIONS = pl.DataFrame(
    [
        (t, f"uav{n}", 40.0 * n + (10.0 * t if n == 2 else 0.0), 5.0 * n, 50.0 + n)
        for t in (0.0, 10.0)
        for n in range(3)
    ],
    schema=["time_s", "node", "x_m", "y_m", "z_m"],
    orient="row",
)
FLOW = "uav0->uav2"
SERVER = pl.lit("server", pl.Categorical)
PATHS = pl.DataFrame(
    [
        (2.0, FLOW, 2, 0, "uav0"),
        (2.0, FLOW, 2, 1, "uav1"),
        (2.0, FLOW, 2, 2, "uav2"),
        (6.0, FLOW, 1, 0, "uav0"),
        (6.0, FLOW, 1, 1, "uav2"),
        (7.0, "uav1->uav0", 1, 0, "uav1"),
        (7.0, "uav1->uav0", 1, 1, "uav0"),
    ],
    schema={"time_s": pl.Float64, "flow": pl.Categorical, "hops": pl.UInt32, "hop": pl.UInt32, "node": pl.Categorical},
    orient="row",
)


def test_nodes_fly_straight_between_rows_and_stay_still_outside_of_them() -> None:
    swarm = Swarm(POSITIONS)
    assert swarm.nodes == ["uav0", "uav1", "uav2"]
    assert swarm.at(2.5)[2].tolist() == pytest.approx([105, 10, 52])
    assert swarm.at(99.0)[2].tolist() == pytest.approx([180, 10, 52])
    assert (swarm.start_s, swarm.end_s) == (0.0, 10.0)


def test_names_are_ordered_by_their_numbers() -> None:
    rows = POSITIONS.with_columns(pl.col("node").replace({"uav0": "uav10", "uav1": "uav9", "uav2": "uav"}))
    assert Swarm(rows).nodes == ["uav", "uav9", "uav10"]


def test_links_need_the_snr_of_a_data_frame() -> None:
    swarm = Swarm(POSITIONS)
    first, second = swarm.links(0.0, Radio())
    assert (first[:2], second[:2]) == ((0, 1), (1, 2))
    far = math.sqrt(40**2 + 5**2 + 1)
    assert first[2] == pytest.approx(16.0206 - 46.6777 - 30 * math.log10(far) + 93.97)
    assert [link[:2] for link in swarm.links(5.0, Radio())] == [(0, 1)]
    assert len(swarm.links(5.0, Radio(power_dbm=32.0206))) == 3


def test_a_path_holds_until_data_arrives_over_another() -> None:
    assert flows_of(PATHS) == [FLOW, "uav1->uav0"]
    assert path(PATHS, 1.9, FLOW) == []
    assert path(PATHS, 2.0, FLOW) == ["uav0", "uav1", "uav2"]
    assert path(PATHS, 9.0, FLOW) == ["uav0", "uav2"]


def test_a_snapshot_shows_nodes_links_and_paths() -> None:
    figure = swarm_plot.snapshot(POSITIONS, 3.0, paths=PATHS, flows=[FLOW], radio=Radio(power_dbm=23))
    axes = figure.axes[0]
    assert axes.get_title(loc="right") == "3.0 s · 2 links · 1 path"
    assert [np.asarray(dots.get_offsets()).shape for dots in axes.collections[1:]] == [(1, 2)] * 3
    assert len(axes.collections[0].get_segments()) == 2  # type: ignore[attr-defined]
    assert hops(axes, FLOW) == [[0, 40], [40, 110]]
    assert figure.axes[1].get_ylabel() == "Height (m)"


def hops(axes: Axes, flow: str) -> list[list[float]]:
    """The x coordinates of each hop of a flow's path."""
    return [np.asarray(line.get_xdata()).tolist() for line in axes.lines if line.get_gid() == f"path {flow}"]


def test_a_snapshot_names_its_nodes_roles_and_scale() -> None:
    figure = swarm_plot.snapshot(POSITIONS, 3.0, paths=PATHS, radio=Radio(power_dbm=23))
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.texts] == ["50 m", "uav0", "uav2", "uav1"]
    (bar,) = (line for line in axes.lines if line.get_gid() == "scale")
    assert np.ptp(np.asarray(bar.get_xdata())) == pytest.approx(50)
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.get_texts()} == {
        "radio link, darker with higher SNR", f"path of {FLOW}", "source of a flow", "destination", "relay",
    }  # fmt: skip
    assert figure.caption == (
        "Swarm from above after 3.0 s: 3 nodes, 2 radio links with an SNR of at least 14 dB, darker with a higher one, "
        "and the 1 path of 2 flows with data so far. One run."
    )


def test_names_of_a_crowded_swarm_do_not_overlap() -> None:
    rows = [(0.0, f"node{at}", 7.0 * (at % 10), 7.0 * (at // 10), 0.0) for at in range(100)]
    crowd = pl.DataFrame(rows, schema=["time_s", "node", "x_m", "y_m", "z_m"], orient="row")
    figure = swarm_plot.snapshot(crowd, 0.0)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    named = [text for text in axes.texts if text.get_text().startswith("node")]
    assert 20 < len(named) <= 100
    boxes = [text.get_window_extent() for text in named]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert (len(named) < 100) == ("do not fit" in figure.caption)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ({"f": [0, 1, 2]}, ["source", "relay", "destination", "other"]),
        ({"f": [0, 2], "g": [2, 0]}, ["both", "other", "both", "other"]),
        ({"f": [0, 1, 2], "g": [1, 3]}, ["source", "source", "destination", "destination"]),
        ({"f": []}, ["other"] * 4),
    ],
)
def test_roles_follow_from_paths(paths: dict[str, list[int]], expected: list[str]) -> None:
    assert labels.roles(paths, 4) == expected


def test_airtime_puts_the_busiest_first_and_stacks_kinds() -> None:
    radios = pl.DataFrame({"node": ["a", "b"], "unicast_airtime_s": [1.0, 3.0], "control_airtime_s": [0.5, 0.25]})
    (axes,) = swarm_plot.airtime(radios).axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["b", "a"]
    tops = [patch.get_y() + patch.get_height() for patch in axes.patches[2:]]  # type: ignore[attr-defined]
    assert tops == pytest.approx([3.25, 1.5])
    (single,) = swarm_plot.airtime(pl.DataFrame({"node": ["a"], "airtime_s": [2.0]})).axes
    assert [patch.get_height() for patch in single.patches] == [2.0]  # type: ignore[attr-defined]


def test_the_timeline_starts_with_the_first_data_and_shows_hops() -> None:
    (axes,) = swarm_plot.route_timeline(PATHS, 10.0).axes
    bars = [(bar.get_x(), bar.get_width()) for bar in axes.patches if bar.get_width()]  # type: ignore[attr-defined]
    assert bars == [(2.0, 4.0), (6.0, 4.0), (7.0, 3.0)]
    assert [text.get_text() for text in axes.get_yticklabels()] == [FLOW, "uav1->uav0"]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["1 hop", "2 hops"]


def test_sweeps_have_means_and_intervals() -> None:
    points = pl.DataFrame({"nodes": [40, 40, 80, 80], "kbps": [90.0, 110.0, 40.0, 60.0], "congestion": ["cubic"] * 4})
    (axes,) = swarm_plot.sweep(points, x="nodes", y="kbps", label="Throughput (kbit/s)").axes
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == [100, 50]
    assert axes.get_ylabel() == "Throughput (kbit/s)"
    # t(0.975, 1) = 12.706, times sqrt(200 / 2).
    bottom, top = axes.collections[0].get_segments()[0][:, 1]  # type: ignore[attr-defined]
    assert (top - bottom) / 2 == pytest.approx(127.06, rel=1e-3)


def test_films_have_a_frame_for_each_step_and_repeat(tmp_path: Path) -> None:
    from PIL import Image

    paths = [swarm_plot.animate(POSITIONS, tmp_path / f"{name}.gif", every_s=5.0) for name in "ab"]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    with Image.open(paths[0]) as film:
        assert film.n_frames == 3  # type: ignore[attr-defined]
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".gif"] == []


# Six flows one after the other: their legend has several rows in the end.
LATER = pl.concat(
    [
        PATHS.head(3).with_columns(time_s=pl.lit(float(at)), flow=pl.lit(f"uav0->station number {at}", pl.Categorical))
        for at in range(6)
    ]
)


def test_the_legend_of_a_snapshot_is_below_the_map() -> None:
    figure = swarm_plot.snapshot(POSITIONS, 10.0, paths=LATER).figure
    figure.draw_without_rendering()
    axes, scale = figure.axes
    (legend,) = figure.legends
    assert len([text for text in legend.get_texts() if text.get_text().startswith("path of ")]) == 6
    assert legend.get_window_extent().y1 <= scale.get_window_extent().y0
    assert axes.get_window_extent().width > 0.6 * figure.bbox.width, "the map fills the room"


def test_frames_of_a_film_have_one_size_while_its_legend_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Chart] = []
    heights: list[float] = []
    rows: list[int] = []
    original = style.chart

    def chart(**size: object) -> tuple[Chart, object]:
        figure, axes = original(**size)  # type: ignore[arg-type]
        made.append(figure)
        return figure, axes

    def progress(*_: int) -> None:
        heights.append(float(made[0].get_figheight()))
        rows.append(len(made[0].legends[0].get_texts()))

    monkeypatch.setattr(style, "chart", chart)
    swarm_plot.animate(POSITIONS, tmp_path / "later.gif", every_s=1.0, paths=LATER, progress=progress)
    assert rows[1] < rows[-1]
    assert len(heights) == 11
    assert len(set(heights)) == 1


def _data(page: str) -> dict[str, Any]:
    """The data of a player."""
    found = re.search(r'<script type="application/json" id="recording">(.*?)</script>', page)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_a_swarm_without_links_has_a_figure() -> None:
    apart = POSITIONS.with_columns(x_m=pl.col("x_m") * 1000)
    assert "0 links" in swarm_plot.snapshot(apart, 0.0).figure.axes[0].get_title(loc="right")
    assert _data(swarm_player.page(apart, every_s=5.0))["links"] == [[], [], []]


def test_the_player_holds_every_frame_and_escapes_names() -> None:
    odd = POSITIONS.with_columns(pl.col("node").replace({"uav2": "</script>"}))
    page = swarm_player.page(odd, every_s=2.0, title="<swarm>", radio=Radio())
    assert "<title>&lt;swarm&gt;</title>" in page
    assert page.count("</script>") == 2
    data = _data(page)
    assert (data["from"], data["until"], data["low"], data["high"]) == (0, 10, [0, 0, 50], [180, 10, 52])
    assert data["times"] == [0, 2, 4, 6, 8, 10]
    assert sorted(data["nodes"]) == ["</script>", "uav0", "uav1"]
    assert len(data["places"]) == len(data["links"]) == 6
    moving = data["nodes"].index("</script>")
    assert [picture[moving][0] for picture in data["places"]] == [80, 100, 120, 140, 160, 180]
    assert swarm_player.page(odd, every_s=2.0, title="<swarm>", radio=Radio()) == page


def test_the_player_shows_paths_as_node_indices() -> None:
    first, second = _data(swarm_player.page(POSITIONS, every_s=3.0, paths=PATHS))["ways"]
    assert first == {"name": FLOW, "courses": [[2, [0, 1, 2]], [6, [0, 2]]]}
    assert second == {"name": "uav1->uav0", "courses": [[7, [1, 0]]]}
    (alone,) = _data(swarm_player.page(POSITIONS, every_s=3.0, paths=PATHS, flows=["uav1->uav0"]))["ways"]
    assert alone == second


def test_a_path_that_is_in_no_frame_is_left_out() -> None:
    (way, _) = _data(swarm_player.page(POSITIONS, every_s=10.0, paths=PATHS))["ways"]
    assert way["courses"] == [[6, [0, 2]]]


def test_links_of_the_player_are_fainter_where_the_signal_is_weaker() -> None:
    radio = Radio()
    close = POSITIONS.with_columns(x_m=pl.col("x_m") / 2)
    page = swarm_player.page(close, every_s=10.0, radio=radio)
    strengths = {(a, b): strength for a, b, strength in _data(page)["links"][0]}
    snr = {(a, b): snr_db for a, b, snr_db in Swarm(close).links(0.0, radio)}
    assert strengths.keys() == snr.keys()
    assert [0.15 <= strength <= 1 for strength in strengths.values()] == [True] * len(snr)
    assert strengths[0, 1] > strengths[0, 2]


def test_paths_are_drawn_as_far_as_their_nodes_have_positions() -> None:
    behind = PATHS.head(3).extend(PATHS.head(1).with_columns(hop=pl.lit(3, pl.UInt32), node=SERVER))
    assert swarm_plot.current(Swarm(POSITIONS), behind, 2.0, None) == {FLOW: [0, 1, 2]}
    axes = swarm_plot.snapshot(POSITIONS, 2.0, paths=behind).axes[0]
    assert [len(hop) for hop in hops(axes, FLOW)] == [2, 2]
    timeline = swarm_plot.route_timeline(behind, 10.0).figure.axes[0]
    assert timeline.get_legend_handles_labels()[1][-1] == "3 hops"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Swarm(POSITIONS.drop("z_m")), "positions: no column z_m"),
        (lambda: Swarm(POSITIONS.head(0)), "positions: no row"),
        (lambda: swarm_plot.snapshot(POSITIONS, 0.0, paths=PATHS, flows=["x"]), 'no flow "x" in the paths'),
        (lambda: swarm_plot.animate(POSITIONS, "x.avi"), '".avi" is not a format of films'),
        (lambda: swarm_plot.animate(POSITIONS, "x.gif", every_s=0.0), "every_s: 0 s"),
        (lambda: swarm_player.player(POSITIONS, every_s=1e-4), "maximum of 5000"),
        (lambda: swarm_plot.airtime(POSITIONS), "interfaces: no column node or airtime_s"),
        (lambda: swarm_plot.route_timeline(PATHS.head(0), 10.0), "paths: no flow"),
        (lambda: swarm_plot.sweep(POSITIONS, x="speed", y="x_m", by="node"), "points: no column speed"),
    ],
)
def test_bad_tables_and_values_get_one_clear_error(call: object, words: str) -> None:
    assert callable(call)
    with pytest.raises(InputError, match=re.escape(words)):
        call()


def test_figures_do_not_change_the_style_of_others() -> None:
    before = dict(matplotlib.rcParams)
    swarm_plot.snapshot(POSITIONS, 1.0)
    assert dict(matplotlib.rcParams) == before
