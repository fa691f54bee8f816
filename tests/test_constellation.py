"""The constellation of a scenario: snapshots, passes, paths, figures and the command."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import lightlag as ll
from lightlag import presets
from lightlag.cli.app import app
from lightlag.constellation import player as constellation_player
from lightlag.constellation import plot as constellation_plot
from lightlag.constellation.satellites import Sky
from lightlag.plot import moving
from lightlag.records.rows import way_rows


@pytest.fixture(scope="module")
def starlink() -> Sky:
    return ll.sky("starlink-550")


def test_a_constellation_has_satellites_at_their_height(starlink: Sky) -> None:
    radius = np.linalg.norm(starlink.positions(0.0), axis=1) / 1e3
    # SGP4 lets a circular orbit of 550 km rise and fall by some kilometres.
    assert radius.min() > 6378.135 + 535
    assert radius.max() < 6378.135 + 565
    assert len(starlink.satellites) == 1584
    assert len(starlink.isls(0.0)) == 2 * 1584


def test_looks_agree_with_passes(starlink: Sky) -> None:
    passes = starlink.passes("London", 300.0)
    now = starlink.visible("London", 150.0)
    during = passes.filter((passes["rise_s"] <= 150.0) & (passes["set_s"] >= 150.0))
    assert set(now["satellite"]) == set(during["satellite"])
    assert now["elevation"].min() >= 25.0  # type: ignore[operator]


def test_a_path_matches_the_run(starlink: Sky) -> None:
    result = ll.run("starlink-550", duration="30 s")
    rows = result.paths.filter(flow="London->New York")
    run = [(float(time[0]), part["node"].to_list()) for time, part in rows.group_by("time_s", maintain_order=True)]
    courses = [
        (since, [starlink.name(node) for node in nodes])
        for since, nodes in starlink.path_changes("London", "New York", 30.0)
    ]
    assert [nodes for _, nodes in run] == [nodes for _, nodes in courses]
    # Routes change before the packets of their nanosecond.
    assert all(abs(a - b) < 1e-8 for (a, _), (b, _) in zip(run, courses, strict=True))


def test_round_trips_are_no_shorter_than_light_and_a_missing_path_is_null() -> None:
    way = ll.sky(presets.iridium(pairs=[("Anchorage", "Oslo")])).path("Anchorage", "Oslo", 120.0, 10.0)
    # 6,150 km of great circle and twice 780 km of height: above 45 ms there and back.
    assert way["rtt_ms"].min() > 45.0  # type: ignore[operator]
    apart = ll.sky(presets.oneweb(pairs=[("Dublin", "Tokyo")])).path("Dublin", "Tokyo", 60.0, 10.0)
    assert apart["rtt_ms"].null_count() == apart.height
    assert set(apart["hops"]) == {0}


def test_geostationary_satellites_fill_the_gaps_of_a_thin_shell() -> None:
    way = ll.sky("geo-leo").path("Madrid", "Lagos", 3600.0, 10.0)
    high = way.filter(way["up"].str.starts_with("geo-"))
    assert way["rtt_ms"].null_count() == 0
    assert 20 < high.height < way.height - 20
    # Up and down again over 35,786 km or more, twice; over the shell at 1,200 km never as long.
    assert high["rtt_ms"].min() > 477.0  # type: ignore[operator]
    assert way.filter(~way["up"].str.starts_with("geo-"))["rtt_ms"].max() < 50.0  # type: ignore[operator]
    # One connection of the preset has both.
    result = ll.run("geo-leo")
    trips = result.trace()["srtt_s"].drop_nans()
    assert trips.min() < 0.1 < 0.477 < trips.max()  # type: ignore[operator]
    assert result.flows["goodput_bps"][0] > 1e6


def test_a_ground_track_follows_the_inclination(starlink: Sky) -> None:
    track = starlink.track("starlink-1-1", 6000.0, 20.0)
    assert 52.5 < track["latitude"].max() < 53.6  # type: ignore[operator]
    assert -53.6 < track["latitude"].min() < -52.5  # type: ignore[operator]


def test_invalid_questions_are_rejected(starlink: Sky) -> None:
    with pytest.raises(ll.InputError, match="'Atlantis' is not a station; there are London"):
        starlink.passes("Atlantis", 60.0)
    with pytest.raises(ll.InputError, match="is not a satellite"):
        starlink.track("sputnik", 60.0)
    with pytest.raises(ll.InputError, match="is not a time of the run"):
        starlink.positions(-1.0)
    with pytest.raises(ll.InputError, match="0 is not a valid time step"):
        starlink.path("London", "New York", 60.0, 0)
    with pytest.raises(ll.InputError, match="no constellation"):
        ll.sky("geo")
    with pytest.raises(ll.InputError, match="before they start"):
        constellation_plot.sky_view(starlink, "London", 60.0, until_s=30.0)


def test_figures_show_what_they_say(starlink: Sky) -> None:
    globe = constellation_plot.globe(starlink, paths=[("London", "New York")])
    assert [text.get_text() for text in globe.axes[0].get_legend().get_texts()] == ["London – New York"]  # type: ignore[union-attr]
    assert "19 usable satellites" in str(constellation_plot.sky_view(starlink, "London").get_suptitle())
    timeline = constellation_plot.timeline(starlink, "London", "New York", 60.0).axes[0]
    assert timeline.get_title(loc="left") == "London – New York"
    assert "the path changes" in timeline.get_title(loc="right")
    assert constellation_plot.map_of(starlink).axes[0].get_xlim() == (-180, 180)


@pytest.mark.long
def test_films_have_a_frame_for_each_step_and_repeat(tmp_path: Path) -> None:
    sky = ll.sky("iridium")
    paths = [constellation_plot.film(sky, tmp_path / f"{name}.gif", until_s=60.0, every_s=20.0) for name in "ab"]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    with Image.open(paths[0]) as film:
        assert film.n_frames == 4  # type: ignore[attr-defined]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gif", "b.gif"]


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"path": "x.avi"}, '".avi" is not a format of films'),
        ({"every_s": 0.0}, "every_s: 0 s between two images"),
        ({"every_s": 1e-3}, "maximum of 5000"),
        ({"until_s": -1.0}, "-1.0 is not a time of the run"),
        ({"paths": [("London", "Atlantis")]}, "'Atlantis' is not a station"),
    ],
)
def test_films_refuse_what_they_cannot_show(starlink: Sky, options: dict[str, Any], part: str) -> None:
    with pytest.raises(ll.InputError, match=re.escape(part)):
        constellation_plot.film(starlink, **({"path": "x.gif"} | options))


@pytest.fixture(scope="module")
def oneweb() -> ll.Result:
    """Two stations with an elevation mask so high that there is no path at first, nor from 109 s to 127 s."""
    scenario = presets.oneweb(duration="140 s")
    assert scenario.constellation is not None
    return ll.run(replace(scenario, constellation=replace(scenario.constellation, elevation="45 deg")))


def test_handovers_are_below_window_and_round_trips(oneweb: ll.Result, tmp_path: Path) -> None:
    figure = constellation_plot.handovers(oneweb)
    window, delay, below = figure.axes
    assert window.get_title(loc="left") == "Handovers of Dublin->Munich"
    assert window.get_title(loc="right") == "3 path changes, 25.5 s of outage · seed 1"
    assert (window.get_ylabel(), delay.get_ylabel()) == ("cwnd (segments)", "Round trip (ms)")
    assert [text.get_text() for text in below.get_yticklabels()] == ["at Dublin", "at Munich"]
    assert {axes.get_xlim() for axes in figure.axes} == {(0.0, 140.0)}
    changes = sorted(set(oneweb.paths["time_s"]))[1:]
    for axes in figure.axes:
        places = [np.asarray(line.get_xdata()) for line in axes.lines]
        upright = [line for line in places if len(line) == 2 and line[0] == line[1]]
        assert [line[0] for line in upright] == pytest.approx(changes)
    bars = [(bar.get_y() + 0.35, bar.get_x(), bar.get_width()) for bar in below.patches if bar.get_height() == 0.7]  # type: ignore[attr-defined]
    first = [(since, width) for row, since, width in bars if row == pytest.approx(0)]
    assert np.asarray(first) == pytest.approx(
        np.asarray([(changes[0], changes[1] - changes[0]), (changes[2], 140 - changes[2])])
    )
    assert len(bars) == 4
    names = {text.get_text() for text in below.texts}
    assert names <= set(oneweb.paths["node"].cast(str))
    # The round trip over the outage is cut off and noted.
    assert delay.get_ylim()[1] < 1000
    assert delay.texts[0].get_text().startswith("up to 18,")
    drawn = np.asarray(window.lines[0].get_ydata())
    assert drawn.max() == oneweb.trace("cwnd")["cwnd_segments"].max()
    oneweb.save(tmp_path / "run")
    done = CliRunner().invoke(app, ["plot", str(tmp_path / "run"), "-m", "handovers"])
    assert done.exit_code == 0
    assert (tmp_path / "run" / "handovers.pdf").read_bytes().startswith(b"%PDF")


def test_handovers_match_a_flow_over_a_constellation(oneweb: ll.Result, result: ll.Result) -> None:
    with pytest.raises(ll.InputError, match='no flow "Dublin->Rome"; there are Dublin->Munich'):
        oneweb.plot("handovers", flow="Dublin->Rome")
    with pytest.raises(ll.InputError, match="no constellation; a plot of handovers needs one"):
        result.plot("handovers")
    untraced = ll.run("iridium", duration="1 s", sets={"record.trace": "off"})
    with pytest.raises(ll.InputError, match="no trace was recorded"):
        untraced.plot("handovers")


def _data(page: str) -> dict[str, Any]:
    """The data of a player."""
    found = re.search(r'<script type="application/json" id="recording">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_a_player_holds_positions_links_and_paths(starlink: Sky, tmp_path: Path) -> None:
    path = starlink.animation(tmp_path / "globe.html", title="<Starlink>")
    text = path.read_text("utf-8")
    assert len(text) < 1_500_000
    assert "<title>&lt;Starlink&gt;</title>" in text
    data = _data(text)
    assert (data["kind"], data["title"], data["note"]) == ("sky", "<Starlink>", "")
    places = np.frombuffer(base64.b64decode(data["places"]), "<i2").reshape(data["knots"], -1, 3) * data["unit"]
    assert (data["knots"], data["step"], data["until"]) == (7, 10.0, 60.0)
    # Two bytes a number are a resolution of 0.2 km.
    assert np.abs(places[3, :1584] * 6371.0 - starlink.positions(30.0) / 1e3).max() < 0.2
    assert np.linalg.norm(places[:, 1584:], axis=2) == pytest.approx(1.0, abs=1e-4)
    links = np.asarray(data["links"]).reshape(-1, 4)
    assert {(a, b) for a, b, *_ in links.tolist()} == set(starlink.isls(0.0))
    assert (links[:, 2:] == [0, 7]).all()
    assert [way["name"] for way in data["ways"]] == ["London – New York", "London – Singapore"]
    courses = starlink.path_changes("London", "New York", 60.0)
    assert [nodes for _, nodes in data["ways"][0]["courses"]] == [nodes for _, nodes in courses]
    assert data["ways"][0]["ends"] == [starlink.stations.index(name) for name in ("London", "New York")]
    (chart,) = data["charts"]
    assert [one["way"] for one in chart["series"]] == [0, 1]
    assert len(chart["series"][0]["values"]) == 601
    first = starlink.path("London", "New York", 0.1, 0.1)["rtt_ms"]
    assert chart["series"][0]["values"][:2] == first.round(3).to_list()


def test_a_player_handles_missing_links_and_paths() -> None:
    sky = ll.sky("iridium")
    data = _data(constellation_player.page(sky, until_s=300.0, step_s=30.0))
    links = np.asarray(data["links"]).reshape(-1, 4)
    for at in (0, 4, 10):
        up = links[(links[:, 2] <= at) & (at < links[:, 3]), :2]
        assert set(map(tuple, up.tolist())) == set(sky.isls(30.0 * at))
    assert len(links) > len(sky.isls(0.0))
    apart = ll.sky(presets.oneweb(pairs=[("Dublin", "Tokyo")]))
    data = _data(constellation_player.page(apart, until_s=20.0))
    assert [way["courses"] for way in data["ways"]] == [[[0.0, []]]]
    assert set(data["charts"][0]["series"][0]["values"]) == {None}


def test_players_of_long_times_stay_small() -> None:
    assert _data(constellation_player.page(ll.sky("iridium"), until_s=1000.0))["step"] == 10.0
    times = constellation_player._knots(1600, 6000.0, None)
    assert 60.0 < times[1] <= 120.0
    assert len(times) * 1600 * 8 < 1_000_000


def test_a_player_in_a_longer_page_is_the_same_page_in_a_frame() -> None:
    sky = ll.sky("iridium")
    frame = constellation_player.player(sky, until_s=20.0, title='"sky"')
    found = re.fullmatch(r'<iframe class="player" title="&quot;sky&quot;" srcdoc="([^"<>]*)"></iframe>', frame)
    assert found is not None
    assert html.unescape(found[1]) == constellation_player.page(sky, until_s=20.0, title='"sky"')


@pytest.mark.parametrize(
    ("ask", "part"),
    [
        (lambda sky: constellation_player.page(sky, pairs=[("London", "Atlantis")]), "'Atlantis' is not a station"),
        (lambda sky: constellation_player.page(sky, until_s=0.0), "until_s: 0 s is not a valid duration"),
        (lambda sky: constellation_player.page(sky, until_s=float("nan")), "nan is not a time of the run"),
        (lambda sky: constellation_player.page(sky, step_s=0.0), "step_s: 0 s between two positions"),
        (lambda sky: constellation_player.page(sky, step_s=600.0), "at most 120"),
        (lambda sky: constellation_player.page(sky, until_s=6000.0, step_s=1.0), "choose a longer step_s"),
        (lambda sky: sky.animation("globe.pdf"), '".pdf" is not a format of animations'),
    ],
)
def test_players_refuse_what_they_cannot_show(starlink: Sky, ask: Callable[[Sky], object], part: str) -> None:
    with pytest.raises(ll.InputError, match=re.escape(part)):
        ask(starlink)


def test_land_beyond_the_horizon_follows_it() -> None:
    flat = constellation_plot._outline(np.asarray([[0.5, 0, 0.8], [0.6, 0.1, -0.8], [-0.1, 0.6, -0.8], [0, 0.5, 0.8]]))
    assert flat[[0, -1]].tolist() == [[0.5, 0], [0, 0.5]]
    assert np.hypot(*flat[1:-1].T) == pytest.approx(1.0)
    assert np.hypot(*np.diff(flat[1:-1], axis=0).T).max() < 0.1


def test_the_command_prints_a_path_and_writes_figures(tmp_path: Path) -> None:
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
    tables = {"passes.parquet", "path.parquet"}
    written = {path.name for path in folder.iterdir()}
    assert written == tables | {"globe.html", "globe.pdf", "map.pdf", "sky.pdf", "timeline.pdf"}


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
def test_the_command_rejects_unknown_names(arguments: list[str], part: str) -> None:
    done = CliRunner().invoke(app, ["orbit", *arguments])
    assert done.exit_code != 0
    assert part in done.output


def test_a_run_has_a_globe_with_what_its_flows_measured(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["run", "starlink-550", "--set", "duration=20 s", "-o", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    result = ll.load(tmp_path / "run")
    data = _data((tmp_path / "run" / "globe.html").read_text("utf-8"))
    assert (data["until"], [way["name"] for way in data["ways"]]) == (20.0, result.flows["name"].to_list())
    sky = ll.sky("starlink-550")
    for way in data["ways"]:
        first = result.paths.filter(flow=way["name"], time_s=0.0)["node"].to_list()
        assert [sky.name(node) for node in way["courses"][0][1]] == first
    trips, rates, windows = data["charts"]
    assert [chart["unit"] for chart in data["charts"]] == ["ms", "Mbit/s", "segments"]
    assert [(one["way"], one.get("thin", False)) for one in trips["series"]] == [
        (0, True),
        (1, True),
        (0, False),
        (1, False),
    ]
    for light, measured in zip(trips["series"][:2], trips["series"][2:], strict=True):
        pairs = zip(light["values"], measured["values"], strict=True)
        assert all(smoothed is None or smoothed > least - 0.1 for least, smoothed in pairs)
    trace = result.trace().filter(result.trace()["flow"].cast(str) == data["ways"][0]["name"])
    held = trace.filter(trace["time_s"] <= 10.0)["cwnd_segments"][-1]
    assert windows["series"][0]["values"][300] == pytest.approx(held, rel=1e-4)
    mean = np.mean([value for value in rates["series"][0]["values"] if value is not None])
    assert mean == pytest.approx(result.flows["goodput_bps"][0] / 1e6, rel=0.1)


def test_a_run_without_records_has_a_globe_with_light_alone(tmp_path: Path) -> None:
    ll.run("starlink-550", duration="2 s", sets={"record.trace": "off"}).save(tmp_path / "run", pages=True)
    (chart,) = _data((tmp_path / "run" / "globe.html").read_text("utf-8"))["charts"]
    assert len(chart["series"]) == 2


def test_a_run_prints_path_changes_and_outages(oneweb: ll.Result, tmp_path: Path) -> None:
    (row,) = way_rows(oneweb)
    changes = sorted(set(oneweb.paths["time_s"]))[1:]
    assert (row["changes"], row["links"]) == (str(len(changes)), "2")
    # At the start, and between the second change and the third.
    assert row["without a path"] == f"{changes[0] + changes[2] - changes[1]:.4g} s"
    assert row["min RTT"] == f"{oneweb.flows['min_rtt_s'][0] * 1e3:.4g} ms"
    # A packet waited for a path.
    assert row["max RTT"] == f"{oneweb.trace()['rtt_s'].drop_nans().max():.4g} s"  # type: ignore[str-bytes-safe]
    (untraced,) = way_rows(ll.run("iridium", duration="1 s", sets={"record.trace": "off"}))
    assert (untraced["min RTT"][-3:], untraced["max RTT"]) == (" ms", "–")
    printed = CliRunner().invoke(app, ["run", "iridium", "--set", "duration=1 s", "-o", str(tmp_path / "run")])
    assert "without a path" in printed.stdout


def test_the_globe_of_a_long_run_ends_where_it_would_grow_too_large(
    oneweb: ll.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constellation_player, "MOST_BYTES", 8 * 590 * 2)
    monkeypatch.setattr(constellation_player, "_USUAL_BYTES", 1)
    text = constellation_player.page(ll.sky(oneweb.scenario), result=oneweb)
    data = _data(text)
    assert (data["until"], data["knots"]) == (120.0, 2)
    assert "The page shows only the first 120 s of 140 s." in text
    assert all(len(one["values"]) == 601 for chart in data["charts"] for one in chart["series"])
    with pytest.raises(ll.InputError, match="choose a longer step_s"):
        constellation_player.page(ll.sky(oneweb.scenario), result=oneweb, step_s=10.0)


def test_results_are_kept_where_the_file_of_orbits_no_longer_is(tmp_path: Path) -> None:
    elements = tmp_path / "iss.tle"
    elements.write_text(
        "1 25544U 98067A   26001.00000000  .00000000  00000-0  00000-0 0  9999\n"
        "2 25544  51.6400 208.9163 0006703  69.9862  25.2906 15.49560532    07\n"
    )
    scenario = presets.iridium(duration="1 s")
    assert scenario.constellation is not None
    of_file = replace(scenario.constellation, shells=(), file=str(elements), isls="none")
    result = ll.run(replace(scenario, constellation=of_file))
    result.save(tmp_path / "there", pages=True)
    assert (tmp_path / "there" / "globe.html").exists()
    result.save(tmp_path / "plain")
    elements.unlink()
    # The run has its constellation; a directory has only the name of the file.
    result.save(tmp_path / "later", pages=True)
    assert (tmp_path / "later" / "globe.html").exists()
    ll.load(tmp_path / "plain").save(tmp_path / "gone", pages=True)
    assert (tmp_path / "gone" / "run.json").exists()
    assert not (tmp_path / "gone" / "globe.html").exists()


@pytest.mark.long
def test_films_and_pages_of_runs(tmp_path: Path) -> None:
    result = ll.run("iridium", duration="1 s")
    result.save(tmp_path / "run")
    assert not (tmp_path / "run" / "globe.html").exists()
    call = CliRunner()
    for name in ("globe.gif", "globe.html", "globe.png"):
        done = call.invoke(app, ["plot", str(tmp_path / "run"), "-m", "globe", "-o", str(tmp_path / name)])
        assert done.exit_code == 0, done.output
        assert (tmp_path / name).stat().st_size > 10_000
    with Image.open(tmp_path / "globe.gif") as film:
        assert getattr(film, "n_frames", 0) == 11
    for metric, file, part in (
        ("cwnd", "x.gif", "there are globe, swarm"),
        ("swarm", "x.gif", "no node has a radio"),
        ("globe", "x.avi", "end the name in .pdf, .svg, .png, .pgf, .gif, .mp4, .html"),
        ("swarm", "x", "end the name in .pdf, .svg, .png, .pgf, .gif, .mp4, .html"),
        ("cwnd", "x.avi", "end the name in .pdf, .svg, .png"),
    ):
        done = call.invoke(app, ["plot", str(tmp_path / "run"), "-m", metric, "-o", str(tmp_path / file)])
        assert done.exit_code == 2
        assert part in done.output
    with pytest.raises(ll.InputError, match="no constellation"):
        moving.write(ll.run("geo", duration="1 s"), "globe", tmp_path / "x.gif")


def test_queues_and_links_of_an_idle_constellation_are_not_recorded() -> None:
    result = ll.run("starlink-550", duration="5 s", sets={"record.queue": "sampled"})
    busy = set(result.links["name"])
    assert 10 < len(busy) < 60
    assert set(result.queue["link"].cast(str)) == busy


def test_the_grid_of_a_file_is_printed_by_check_and_orbit(tmp_path: Path) -> None:
    shell = ((plane, slot) for plane in range(6) for slot in range(11))
    lines = []
    for number, (plane, slot) in enumerate(shell, 1):
        along = (360 / 11 * (slot + plane / 2)) % 360
        lines.append(f"1 {number:05}U 26001A   26001.00000000  .00000000  00000-0  00000-0 0  999\n")
        lines.append(f"2 {number:05}  86.4000 {31.6 * plane:8.4f} 0000010   0.0000 {along:8.4f} 14.34217000    0\n")
    (tmp_path / "iridium.tle").write_text("".join(lines))
    scenario = tmp_path / "sky.toml"
    scenario.write_text(
        'duration = "2 s"\n[constellation]\nstart = "2026-01-01T00:00:00Z"\nfile = "iridium.tle"\n'
        'elevation = "8.2 deg"\n'
        '[[stations]]\nname = "Anchorage"\n[[stations]]\nname = "Oslo"\n[[flows]]\nfrom = "Anchorage"\nto = "Oslo"\n'
    )
    call = CliRunner()
    done = call.invoke(app, ["check", str(scenario)])
    assert "66 satellites with 121 links between them; found 6 planes of 66 satellites at 86.4°" in done.output
    done = call.invoke(app, ["orbit", str(scenario), "--seconds", "5", "--json"])
    assert json.loads(done.output)["links"] == 121
    done = call.invoke(app, ["run", str(scenario), "--duration", "1 s", "-o", str(tmp_path / "out")])
    assert "\nConstellation: 66 satellites with 121 links between them; found 6 planes" in done.output
    assert (
        "# Its constellation: 66 satellites with 121 links between them\n"
        in call.invoke(app, ["explain", "iridium"]).output
    )
    assert ll.run(scenario).flows["goodput_bps"][0] > 0


def test_tables_that_need_much_memory_cause_a_warning_or_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from lightlag.machine import memory
    from lightlag.scenario import read_scenario

    day = read_scenario("iridium", [("duration", "24 h")])
    monkeypatch.setattr(memory, "available", lambda: 100e9)
    ((place, message),) = memory.check_tables(day)
    assert place == "record"
    assert message.startswith("tables over 86400 s may take up to 7.")
    assert memory.check_tables(read_scenario("iridium")) == []
    many = {
        "duration": "10 s",
        "topology": {"kind": "point-to-point", "rate": "1 Gbit/s", "delay": "10 ms", "flow": {"count": 10_000}},
    }
    monkeypatch.setattr(memory, "available", lambda: 50e6)
    with pytest.raises(ll.InputError, match=r"10,000 flows, and their samples over 10 s, would take 118\.4 MB"):
        memory.check_tables(read_scenario(many))
