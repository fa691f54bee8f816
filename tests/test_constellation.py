"""The sky of a scenario: looks, passes, ways, figures and the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import lightlag as ll
from lightlag import constellation_plot, presets
from lightlag.cli import app
from lightlag.constellation import Sky


@pytest.fixture(scope="module")
def starlink() -> Sky:
    return ll.sky("starlink-550")


def test_a_sky_has_satellites_at_their_height(starlink: Sky) -> None:
    radius = np.linalg.norm(starlink.positions(0.0), axis=1) / 1e3
    # SGP4 lets a circular orbit of 550 km rise and fall by some kilometres.
    assert radius.min() > 6378.135 + 535
    assert radius.max() < 6378.135 + 565
    assert len(starlink.satellites) == 1584
    assert len(starlink.isls(0.0)) == 2 * 1584


def test_looks_agree_with_passes(starlink: Sky) -> None:
    passes = starlink.passes("London", 300.0)
    now = starlink.looks("London", 150.0)
    during = passes.filter((passes["rise_s"] <= 150.0) & (passes["set_s"] >= 150.0))
    assert set(now["satellite"]) == set(during["satellite"])
    assert now["elevation"].min() >= 25.0  # type: ignore[operator]


def test_a_way_is_that_of_the_run(starlink: Sky) -> None:
    result = ll.run("starlink-550", duration="30 s")
    rows = result.paths.filter(flow="London->New York")
    run = [(float(time[0]), part["node"].to_list()) for time, part in rows.group_by("time_s", maintain_order=True)]
    courses = [
        (since, [starlink.name(node) for node in nodes])
        for since, nodes in starlink.courses("London", "New York", 30.0)
    ]
    assert [nodes for _, nodes in run] == [nodes for _, nodes in courses]
    # Routes change before the packets of their nanosecond.
    assert all(abs(a - b) < 1e-8 for (a, _), (b, _) in zip(run, courses, strict=True))


def test_round_trips_are_no_shorter_than_light_and_no_way_is_null() -> None:
    way = ll.sky(presets.iridium(pairs=[("Anchorage", "Oslo")])).way("Anchorage", "Oslo", 120.0, 10.0)
    # 6,150 km of great circle and twice 780 km of height: above 45 ms there and back.
    assert way["rtt_ms"].min() > 45.0  # type: ignore[operator]
    apart = ll.sky(presets.oneweb(pairs=[("Dublin", "Tokyo")])).way("Dublin", "Tokyo", 60.0, 10.0)
    assert apart["rtt_ms"].null_count() == apart.height
    assert set(apart["hops"]) == {0}


def test_a_ground_track_follows_the_inclination(starlink: Sky) -> None:
    track = starlink.track("starlink-1-1", 6000.0, 20.0)
    assert 52.5 < track["latitude"].max() < 53.6  # type: ignore[operator]
    assert -53.6 < track["latitude"].min() < -52.5  # type: ignore[operator]


def test_wrong_questions_are_refused(starlink: Sky) -> None:
    with pytest.raises(ll.InputError, match="'Atlantis' is not a station; there are London"):
        starlink.passes("Atlantis", 60.0)
    with pytest.raises(ll.InputError, match="is not a satellite"):
        starlink.track("sputnik", 60.0)
    with pytest.raises(ll.InputError, match="is not a time of the run"):
        starlink.positions(-1.0)
    with pytest.raises(ll.InputError, match="0 is not a step"):
        starlink.way("London", "New York", 60.0, 0)
    with pytest.raises(ll.InputError, match="no constellation"):
        ll.sky("geo")
    with pytest.raises(ll.InputError, match="before they start"):
        constellation_plot.sky_view(starlink, "London", 60.0, until_s=30.0)


def test_figures_show_what_they_say(starlink: Sky) -> None:
    globe = constellation_plot.globe(starlink, ways=[("London", "New York")])
    assert [text.get_text() for text in globe.axes[0].get_legend().get_texts()] == ["London – New York"]  # type: ignore[union-attr]
    assert "19 satellites that it may use" in constellation_plot.sky_view(starlink, "London").axes[0].get_title()
    assert "the way changes" in constellation_plot.timeline(starlink, "London", "New York", 60.0).axes[0].get_title()
    assert constellation_plot.map_of(starlink).axes[0].get_xlim() == (-180, 180)


def test_the_command_prints_a_way_and_writes_figures(tmp_path: Path) -> None:
    call = CliRunner()
    done = call.invoke(app, ["orbit", "starlink-550", "--seconds", "60", "--json"])
    assert done.exit_code == 0
    summary = json.loads(done.stdout)
    assert (summary["from"], summary["to"], summary["outage_s"]) == ("London", "New York", 0)
    assert 41 < summary["rtt_ms"]["min"] < summary["rtt_ms"]["max"] < 60
    folder = tmp_path / "sky"
    done = call.invoke(app, ["orbit", "starlink-550", "--seconds", "60", "--station", "London", "-o", str(folder)])
    assert done.exit_code == 0
    assert "London: " in done.stdout
    written = {path.name for path in folder.iterdir()}
    assert written == {"globe.pdf", "map.pdf", "passes.parquet", "sky.pdf", "timeline.pdf", "way.parquet"}


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["geo"], "no constellation"),
        (["starlink-550", "--pair", "London"], "is not two stations"),
        (["starlink-550", "--pair", "London,Atlantis"], "is not a station"),
        (["starlink-550", "--station", "Atlantis"], "is not a station"),
        (["nowhere.toml"], "no such file"),
    ],
)
def test_the_command_refuses_what_is_not_there(arguments: list[str], part: str) -> None:
    done = CliRunner().invoke(app, ["orbit", *arguments])
    assert done.exit_code != 0
    assert part in done.output
