"""Paths over time for testbeds: the files agree with the scenario, with each other and with what is imported again."""

# Lines of a table are clearer unbroken.
# ruff: noqa: E501

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import lightlag as ll
from lightlag.cli.app import app
from lightlag.constellation.motion import LIGHT, Motion
from lightlag.exports import FORMS, NtnOptions, sib19
from lightlag.exports.path import PathOverTime, path_of
from lightlag.exports.theaterq import COLUMNS, MAX_LOSS
from lightlag.imports import Options, to_scenario
from lightlag.scenario.reading import read_scenario

PACKET_BITS = 12_000

CHANGING: dict[str, Any] = {
    "name": "changing",
    "duration": "4 s",
    "links": [
        {"between": ["a", "b"], "rate": "1 Gbit/s", "delay": "1 ms"},
        {
            "between": ["b", "c"],
            "rate": {"forward": "10 Mbit/s", "backward": "2 Mbit/s"},
            "delay": "20 ms",
            "queue": {"forward": "100 packets", "backward": "1 bdp"},
            "loss": {"forward": 0.01, "backward": 0},
            "changes": {
                "forward": [
                    {"at": "1 s", "rate": "5 Mbit/s", "delay": "30 ms"},
                    {"at": "2 s", "down": True},
                    {"at": "3 s", "down": False, "loss": 0.1},
                ],
                "backward": [],
            },
        },
    ],
    "flows": [{"from": "a", "to": "c"}],
}
"""A path whose second link changes each second in one direction, and never in the other."""


def path(scenario: Any, start: str, end: str, step_s: float = 0.1, **more: Any) -> PathOverTime:
    return path_of(read_scenario(scenario, more.pop("sets", ())), start, end, step_s, **more)


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


# Values


def test_the_values_of_links_follow_their_changes() -> None:
    found = path(CHANGING, "a", "c", 0.5)
    forward, backward = found.forward.at(found.times), found.backward.at(found.times)
    assert forward.rate_bps.tolist() == [10e6, 10e6, 5e6, 5e6, 0.0, 0.0, 5e6, 5e6]
    assert forward.delay_s == pytest.approx([0.021, 0.021] + 6 * [0.031])
    assert forward.loss == pytest.approx(6 * [0.01] + 2 * [0.1])
    assert set(backward.rate_bps) == {2e6}
    # 2 Mbit/s for 42 ms are 10,500 B, 7 packets of 1500 B.
    assert (found.forward.queue_packets, found.backward.queue_packets) == (100, 7)


def test_an_outage_in_which_packets_are_lost_is_a_loss() -> None:
    links = [CHANGING["links"][0], CHANGING["links"][1] | {"outage": "lose"}]
    found = path(CHANGING | {"links": links}, "a", "c", 1.0)
    values = found.forward.at(found.times)
    assert values.loss == pytest.approx([0.01, 0.01, 1.0, 0.1])
    assert values.rate_bps.tolist() == [10e6, 5e6, 5e6, 5e6]


def test_a_header_takes_its_share_of_the_rate_and_bit_errors_hit_it() -> None:
    link: dict[str, Any] = {"between": ["a", "b"], "rate": "10 Mbit/s", "delay": "1 ms", "header": "500 B"}
    link["loss"] = {"bit_error_rate": 1e-6}
    found = path({"duration": "1 s", "links": [link], "flows": [{"from": "a", "to": "b"}]}, "a", "b")
    values = found.forward.at(found.times)
    assert values.rate_bps[0] == pytest.approx(7.5e6)
    # 2000 B are 16,000 bits.
    assert values.loss[0] == pytest.approx(1 - (1 - 1e-6) ** 16_000)


def test_small_losses_in_series_are_exact() -> None:
    (text, _) = ll.export("geo", "client", "server", "csv", sets=[("links.1.loss", "1e-5")]).files.values()
    assert text.splitlines()[1] == "0.000000,20000000,0.297346667,1e-05"


@pytest.mark.parametrize(
    ("preset", "start", "end", "rate", "delay_ms"),
    [
        ("dumbbell", "client2", "server3", 100e6, 26.0),
        # Uplink 130.325 ms, downlink 135.381 ms, 20 ms in the satellite, 2 · 2.5 ms of access, bottleneck 7.5 ms.
        ("heterogeneous", "client1", "server1", 34.368e6, 298.206),
        ("heterogeneous", "terrestrial1", "terrestrial-server1", 34.368e6, 12.5),
        ("satellite-iot", "sensor1", "server", 250e3, 302.347),
    ],
)
def test_links_of_topologies_are_found(preset: str, start: str, end: str, rate: float, delay_ms: float) -> None:
    found = path(preset, start, end, 1.0)
    values = found.forward.at(found.times)
    assert values.rate_bps[0] == pytest.approx(rate)
    assert values.delay_s[0] * 1e3 == pytest.approx(delay_ms, abs=1e-3)


def test_a_path_over_a_constellation_is_the_one_of_orbit() -> None:
    found = path("starlink-550", "London", "Singapore", 1.0)
    values = found.forward.at(found.times)
    expected = ll.sky("starlink-550").path("London", "Singapore", 59.0, 1.0)["rtt_ms"].to_numpy()
    assert 2e3 * values.delay_s == pytest.approx(expected, abs=1e-5)
    assert set(values.rate_bps) == {40e6}


def test_packets_wait_while_a_station_has_no_path() -> None:
    rare = ONE | {"duration": "600 s", "constellation": ONE["constellation"] | {"elevation": "60 deg"}}
    has_path = ll.sky(rare).path("A", "B", 599.0, 1.0)["rtt_ms"].is_not_null().to_list()
    assert {True, False} == set(has_path)
    found = path(rare, "A", "B", 1.0)
    values = found.forward.at(found.times)
    assert (values.rate_bps > 0).tolist() == has_path
    assert (values.loss == 0.0).all()
    waiting = 0
    for line in lines(ll.export(rare, "A", "B", "theaterq", step="1 s").files["-forward.csv"]):
        keep, _, _, rate, loss, *_ = map(int, line.split(","))
        assert loss == 0
        waiting += keep * (rate == 0)
    assert waiting == has_path.count(False) * 1_000_000
    assert "loss 100%" in ll.export(rare, "A", "B", "tc", step="1 s").files[".sh"]


def test_rates_by_elevation_follow_the_satellite_and_handovers_pause() -> None:
    rates = '[["25 deg", "10 Mbit/s"], ["60 deg", "30 Mbit/s"]]'
    sets = [("constellation.uplink.rates", rates), ("constellation.handover", '{ pause = "300 ms" }')]
    found = path("starlink-550", "London", "New York", 0.1, sets=sets)
    values = found.forward.at(found.times)
    sky = ll.sky("starlink-550")
    changes = sky.path_changes("London", "New York", 60.0)
    assert len(changes) > 1
    expected = []
    for time in found.times:
        since, nodes = [change for change in changes if change[0] <= time][-1]
        satellite = sky.satellites[nodes[1]]
        # The engine updates the rate every 2^28 ns.
        seen = sky.visible("London", math.floor(time / 0.268435456) * 0.268435456)
        elevation = seen.filter(satellite=satellite)["elevation"]
        pause = since > 0 and time < since + 0.3
        expected.append(0.0 if pause else 10e6 if not len(elevation) or elevation[0] < 60 else 30e6)
    assert values.rate_bps.tolist() == expected
    assert 0.0 in expected


def test_routes_that_follow_outages_change_the_path() -> None:
    def link(a: str, b: str, rate: str, delay: str, **more: Any) -> dict[str, Any]:
        return {"between": [a, b], "rate": rate, "delay": delay, **more}

    down = [{"at": "3 s", "down": True}, {"at": "6 s", "down": False}]
    links = [link("a", "b", "10 Mbit/s", "5 ms", changes=down), link("b", "c", "10 Mbit/s", "5 ms")]
    links += [link("a", "d", "2 Mbit/s", "50 ms"), link("d", "c", "10 Mbit/s", "5 ms")]
    scenario = {"duration": "10 s", "links": links, "flows": [{"from": "a", "to": "c"}]}
    follows = path(scenario | {"routing": "follow links"}, "a", "c", 1.0).forward.at(np.arange(10.0))
    assert follows.rate_bps.tolist() == [10e6] * 3 + [2e6] * 3 + [10e6] * 4
    assert follows.delay_s == pytest.approx([0.01] * 3 + [0.055] * 3 + [0.01] * 4)
    static = path(scenario, "a", "c", 1.0).forward.at(np.arange(10.0))
    assert static.rate_bps.tolist() == [10e6] * 3 + [0.0] * 3 + [10e6] * 4


class Short(ll.QueueDiscipline):
    """Drops packets if more than one waits."""

    def on_enqueue(self, packet: Any) -> int:
        return ll.DROP if self.packets > 1 else ll.PASS


def test_a_path_with_custom_algorithms_is_computed() -> None:
    net = ll.Network("custom")
    net.link("a", "b", rate="5 Mbit/s", delay="20 ms", queue=Short())
    net.flow("a", "b")
    found = path_of(read_scenario(net, [("duration", "1 s")]), "a", "b", 0.5)
    assert found.forward.at(found.times).rate_bps.tolist() == [5e6, 5e6]


def test_measured_values_are_the_computed_ones() -> None:
    computed, measured = path(CHANGING, "a", "c"), path(CHANGING, "a", "c", measure=True)
    assert "as requested" in measured.origin
    times = computed.times
    for name in ("forward", "backward"):
        expected, found = (getattr(one, name).at(times) for one in (computed, measured))
        is_up = (expected.rate_bps > 0) & np.roll(expected.rate_bps > 0, 1)
        # A probe of 64 B takes 0.05 to 0.26 ms on the link, and one packet of 1500 B in a step is 120 kbit/s.
        assert found.delay_s[is_up] - expected.delay_s[is_up] == pytest.approx(0.15e-3, abs=0.12e-3)
        lost = expected.loss * expected.rate_bps
        steady = is_up & (np.roll(expected.rate_bps, 1) == expected.rate_bps)
        difference = found.rate_bps[steady] - (expected.rate_bps - lost)[steady]
        # Losses are random: 4 standard deviations of at most 83 packets with a loss of 10 %, 11 packets.
        assert np.abs(difference).max() <= 11 * PACKET_BITS / 0.1
        assert np.abs(difference.mean()) <= 2 * PACKET_BITS / 0.1
    assert (measured.forward.at(times).loss[21:29] == 1.0).all()


def test_a_radio_medium_is_measured() -> None:
    found = path("adhoc-chain", "node0", "node1", 0.5, sets=[("duration", "2 s")])
    assert "crosses the medium air" in found.origin
    values = found.forward.at(found.times)
    # One station at 24 Mbit/s: a cycle of 681.5 µs for each packet of 1500 B is 17.6 Mbit/s, before management frames.
    assert values.rate_bps == pytest.approx(17.5e6, rel=0.03)
    assert (values.delay_s < 2e-3).all()
    assert (values.loss == 0.0).all()


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("fec", "{ data = 10, repair = 2 }", "fec"),
        ("on_demand", '{ frame = "26.5 ms", latency = "560 ms" }', "on_demand"),
        ("loss", "{ packets = [3] }", "single packets"),
    ],
)
def test_what_follows_only_from_a_run_is_measured(key: str, value: str, reason: str) -> None:
    sets = [("duration", "2 s"), (f"links.1.{key}", value)]
    assert reason in path("geo", "client", "server", 0.5, sets=sets).origin


# Forms


def test_mahimahi_imports_to_the_same_rate(tmp_path: Path) -> None:
    files = ll.export(CHANGING, "a", "c", "mahimahi").save(tmp_path / "cell")
    assert [file.name for file in files] == ["cell.up", "cell.down"]
    times = np.array([int(line) for line in files[0].read_text().split()])
    for second, rate in enumerate((10e6, 5e6, 0.0, 5e6)):
        count = ((times > second * 1000) & (times <= second * 1000 + 1000)).sum()
        # Opportunities are whole packets.
        assert count * PACKET_BITS == pytest.approx(rate, abs=PACKET_BITS)
    page = to_scenario(files[1], options=Options(delay="21 ms"))
    for name, text in {f"{page.name}.toml": page.text, **page.files}.items():
        (tmp_path / name).write_text(text)
    again = path(tmp_path / f"{page.name}.toml", "server", "client", 0.5)
    assert again.forward.at(again.times).rate_bps == pytest.approx(2e6, abs=PACKET_BITS / 0.5)
    twice = ll.export(tmp_path / f"{page.name}.toml", "client", "server", "mahimahi")
    assert twice.files[".down"] == files[1].read_text()


def test_an_opportunity_is_in_the_ms_in_which_its_last_bit_passes() -> None:
    link: dict[str, Any] = {"between": ["a", "b"], "rate": "5 Mbit/s", "delay": "1 ms"}
    files = ll.export({"duration": "24 ms", "links": [link], "flows": [{"from": "a", "to": "b"}]}, "a", "b", "mahimahi")
    # 12,000 bits at 5 Mbit/s take 2.4 ms.
    assert files.files[".up"].split() == ["3", "5", "8", "10", "12", "15", "17", "20", "22", "24"]


def test_csv_imports_to_the_same_path_and_runs(tmp_path: Path) -> None:
    forward, backward = ll.export(CHANGING, "a", "c", "csv").save(tmp_path / "path")
    table = pl.read_csv(forward)
    assert table.rows() == [
        (0.0, 1e7, 0.021, 0.01),
        (1.0, 5e6, 0.031, 0.01),
        (2.0, 0.0, 0.031, 0.01),
        (3.0, 5e6, 0.031, 0.1),
    ]
    columns = ("time=time_s:s", "rate=rate_bps:bit/s", "delay=delay_s:s", "loss=loss:1")
    page = to_scenario(forward, options=Options(columns=columns[:3]))
    for name, text in {f"{page.name}.toml": page.text, **page.files}.items():
        (tmp_path / name).write_text(text)
    again = path(tmp_path / f"{page.name}.toml", "client", "server", 0.5, sets=[("duration", "4 s")])
    original = path(CHANGING, "a", "c", 0.5)
    expected, found = (one.forward.at(one.times) for one in (original, again))
    assert found.rate_bps.tolist() == expected.rate_bps.tolist()
    assert found.delay_s == pytest.approx(expected.delay_s, abs=1e-9)
    link: dict[str, Any] = {"between": ["a", "c"], "rate": "1 Mbit/s", "delay": "1 ms"}
    link["trace"] = {"forward": str(forward), "backward": str(backward)}
    traced = path({"duration": "4 s", "links": [link], "flows": [{"from": "a", "to": "c"}]}, "a", "c", 0.5)
    for one, other in ((traced.forward, original.forward), (traced.backward, original.backward)):
        for key in ("rate_bps", "delay_s", "loss"):
            assert getattr(one.at(traced.times), key) == pytest.approx(getattr(other.at(traced.times), key))


def test_theaterq_has_the_columns_and_units_of_its_kernel_module() -> None:
    found = ll.export(CHANGING, "a", "c", "theaterq")
    rows = [[int(value) for value in line.split(",")] for line in lines(found.files["-forward.csv"])]
    assert all(len(row) == len(COLUMNS) for row in rows)
    expected = path(CHANGING, "a", "c")
    values, starts = expected.forward.at(expected.times), np.round(expected.times * 1e6)
    since = 0
    for keep, latency, jitter, rate, loss, limit, *duplicates, route, queue in rows:
        index = int(np.flatnonzero(starts == since)[0])
        assert latency == round(values.delay_s[index] * 1e9)
        assert rate == round(values.rate_bps[index])
        assert loss / MAX_LOSS == pytest.approx(values.loss[index], abs=1 / MAX_LOSS)
        assert (jitter, limit, duplicates, route, queue) == (0, 100, [0, 0], 1, 0)
        since += keep
    assert since == 4_000_000
    head = [line for line in found.files["-forward.csv"].splitlines() if line.startswith("#")]
    assert any("ingest EXTENDED" in line for line in head)


NETEM = re.compile(
    r'tc qdisc (?P<verb>replace|change) dev "\$(?P<device>forward|backward)" root handle 1: netem '
    r"delay (?P<delay>[\d.]+)us rate (?P<rate>\d+)bit loss (?P<loss>[\d.]+)% limit (?P<limit>\d+)"
)


def test_a_script_of_tc_has_the_values_of_the_path(tmp_path: Path) -> None:
    (script,) = ll.export("starlink-550", "London", "Singapore", "tc", step="500 ms", duration="5 s").save(
        tmp_path / "a.sh"
    )
    assert script.stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    found = path("starlink-550", "London", "Singapore", 0.5, sets=[("duration", "5 s")])
    time, seen = 0, {"forward": 0, "backward": 0}
    for line in lines(script.read_text()):
        if line.startswith("at "):
            assert int(line[3:]) > time
            time = int(line[3:])
        if not (command := NETEM.match(line)):
            continue
        values = getattr(found, command["device"]).at(np.array([time / 1e6]))
        assert command["verb"] == ("replace" if time == 0 else "change")
        assert float(command["delay"]) == pytest.approx(values.delay_s[0] * 1e6, abs=1e-3)
        assert int(command["rate"]) == values.rate_bps[0] == 40_000_000
        assert float(command["loss"]) == 0.0
        # The queue, and the packets in flight.
        in_flight = math.ceil(40e6 * float(command["delay"]) * 1e-6 / PACKET_BITS)
        assert int(command["limit"]) == found.forward.queue_packets + in_flight
        seen[command["device"]] += 1
    assert seen == {"forward": 10, "backward": 10}
    assert time == 5_000_000


def test_an_outage_is_a_loss_of_everything_for_tc() -> None:
    commands = lines(ll.export(CHANGING, "a", "c", "tc").files[".sh"])
    after = commands[commands.index("at 2000000") + 1]
    assert "loss 100%" in after
    assert " rate " not in after


def test_a_script_of_tc_waits_for_its_times_and_cleans_up(tmp_path: Path) -> None:
    """The script runs with programs that record their calls instead of tc and sleep."""
    record = tmp_path / "calls"
    for name in ("tc", "sleep"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {record}\n')
        (tmp_path / name).chmod(0o755)
    scenario = CHANGING | {"duration": "1 h", "links": [CHANGING["links"][0]], "flows": [{"from": "a", "to": "b"}]}
    (script,) = ll.export(scenario, "a", "b", "tc").save(tmp_path / "a.sh")
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    assert subprocess.run([script], env=environment, capture_output=True, check=False).returncode != 0
    subprocess.run([script, "up0", "down0"], env=environment, check=True)
    calls = record.read_text().splitlines()
    # 1 Gbit/s for 1 ms are 84 packets of 1500 B in flight, rounded up.
    set_up = "root handle 1: netem delay 1000.000us rate 1000000000bit loss 0% limit 1084"
    assert calls[:2] == [f"tc qdisc replace dev {device} {set_up}" for device in ("up0", "down0")]
    assert calls[-2:] == [f"tc qdisc del dev {device} root" for device in ("up0", "down0")]
    (slept,) = calls[2:-2]
    assert 0.0 < float(slept.removeprefix("sleep ")) <= 3600.0


@pytest.mark.skipif(shutil.which("tc") is None, reason="no tc")
def test_tc_understands_the_commands() -> None:
    """An unknown option is reported before a device that does not exist."""
    (command,) = [
        line
        for line in lines(ll.export("geo", "client", "server", "tc").files[".sh"])
        if "$forward" in line and "netem" in line
    ]
    tc = shutil.which("tc")
    assert tc is not None

    def said(text: str) -> str:
        words = text.replace('"$forward"', "no-such-dev").split()
        return subprocess.run([tc, *words[1:]], capture_output=True, text=True, check=False).stderr

    assert "Cannot find device" in said(command)
    assert "Cannot find device" not in said(command.replace("netem delay", "netem wait"))


# Non-terrestrial networks

ONE: dict[str, Any] = {
    "name": "one",
    "duration": "60 s",
    "constellation": {
        "start": "2026-01-01T00:00:00Z",
        "shells": [
            {
                "height": "550 km",
                "inclination": "53 deg",
                "planes": 20,
                "slots": 30,
                "phasing": 7,
                "propagator": "circular",
            }
        ],
        "isls": "none",
        "elevation": "5 deg",
    },
    "stations": [
        {"name": "A", "latitude": "50 deg", "longitude": "8 deg"},
        {"name": "B", "latitude": "48 deg", "longitude": "11 deg"},
    ],
    "flows": [{"from": "A", "to": "B"}],
}
"""Circular orbits at 550 km, and two stations that are connected through one satellite."""


def rows(export: ll.Export, end: str = ".csv") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(export.files[end])))


def test_delay_and_doppler_agree_with_the_positions_of_the_engine() -> None:
    found = rows(ll.export(ONE, "A", "B", "ntn", step="5 s", ntn=NtnOptions("20 GHz")))
    sky = ll.sky(ONE)
    h = 0.02
    for row in found[1:]:
        time = float(row["time_s"])
        seen = sky.visible("A", time).filter(satellite=row["satellite"])
        assert float(row["elevation_deg"]) == pytest.approx(seen["elevation"][0], abs=1e-5)
        assert float(row["azimuth_deg"]) == pytest.approx(seen["azimuth"][0], abs=1e-5)
        assert float(row["range_m"]) == pytest.approx(seen["range_km"][0] * 1e3, abs=1e-2)
        assert float(row["delay_ms"]) == pytest.approx(float(row["range_m"]) / LIGHT * 1e3, abs=1e-8)
        before, after = (
            sky.visible("A", time + shift).filter(satellite=row["satellite"])["range_km"][0] * 1e3 for shift in (-h, h)
        )
        # Positions are rounded to 1e-8 m and times to 1 ns, 8e-6 m along the orbit: 4e-4 m/s, 0.03 Hz at 20 GHz.
        assert float(row["doppler_hz"]) == pytest.approx(-(after - before) / (2 * h) / LIGHT * 20e9, abs=0.1)


def test_both_links_of_a_path_over_lasers_are_half_of_its_round_trip() -> None:
    found = rows(ll.export("starlink-550", "London", "Singapore", "ntn", step="5 s"))
    expected = ll.sky("starlink-550").path("London", "Singapore", 59.0, 5.0)
    for row, rtt, satellite in zip(found, expected["rtt_ms"], expected["up"], strict=True):
        assert row["satellite"] == satellite
        assert 2 * (float(row["delay_ms"]) + float(row["feeder_delay_ms"])) == pytest.approx(rtt, abs=1e-5)
        assert sib19.decoded("ta-Common", int(row["ta-Common"])) == pytest.approx(
            2e3 * float(row["feeder_delay_ms"]), abs=2.1e-3
        )


def test_doppler_of_a_pass_has_the_bound_of_a_circular_orbit() -> None:
    """A satellite that passes overhead with the speed v has the range rate v cos(ε) R / r at the elevation ε.

    At r = 6928 km, v = √(μ / r) = 7585 m/s: 46.6 kHz at 2 GHz and the horizon, if the Earth did not rotate. Relative to
    the ground, whose frame moves with 505 m/s at this radius, v = √(7585² - 2 · 7585 · 505 cos 53° + 505²) = 7292 m/s
    at the equator, 44.8 kHz.
    """
    sky = ll.sky(ONE)
    motion = Motion(sky, range(len(sky.satellites)), 600.0)
    times = np.arange(0.0, 600.0, 1.0)
    station = len(sky.satellites)
    home = motion.of(station, times)
    largest = 0.0
    for satellite in range(len(sky.satellites)):
        elevation, _ = motion.look(station, satellite, times)
        state = motion.of(satellite, times)
        d = state.position - home.position
        rate = np.einsum("tc,tc->t", d, state.velocity) / np.linalg.norm(d, axis=1)
        seen = elevation >= 0.0
        if not seen.any():
            continue
        radius = np.linalg.norm(state.position, axis=1)
        # The velocity in the Earth-fixed frame, and so the range rate, includes the rotation of the Earth.
        speed = np.linalg.norm(state.velocity, axis=1)
        ground = np.linalg.norm(home.position, axis=1)
        bound = speed * np.cos(np.radians(elevation)) * ground / radius
        # The vertical of the ellipsoid is up to 0.2° from the direction of the centre.
        assert (np.abs(rate[seen]) <= bound[seen] + speed[seen] * math.sin(math.radians(0.2))).all()
        largest = max(largest, float(np.abs(rate[seen]).max()))
    assert 2e9 * largest / LIGHT == pytest.approx(44.8e3, rel=0.01)


def test_delay_follows_from_the_slant_range_at_an_elevation() -> None:
    """The slant range d(ε) = √(r² - (R cos ε)²) - R sin ε, with R the distance of the station from the centre."""
    sky = ll.sky(ONE)
    found = rows(ll.export(ONE, "A", "B", "ntn", step="1 s"))
    radius = float(np.linalg.norm(Motion(sky, [], 0.0).of(len(sky.satellites), np.zeros(1)).position))
    for row in found:
        satellite = sky.satellites.index(row["satellite"])
        r = float(np.linalg.norm(sky.positions(float(row["time_s"]))[satellite]))
        # The vertical of the ellipsoid is up to 0.2° from the direction of the centre.
        slant = [
            math.sqrt(r**2 - (radius * math.cos(e)) ** 2) - radius * math.sin(e)
            for e in (math.radians(float(row["elevation_deg"]) + shift) for shift in (0.2, -0.2))
        ]
        assert slant[0] / LIGHT * 1e3 <= float(row["delay_ms"]) <= slant[1] / LIGHT * 1e3


def test_sib19_decodes_within_half_a_step() -> None:
    found = rows(ll.export(ONE, "A", "B", "ntn", step="2 s"))
    sky = ll.sky(ONE)
    changes = sky.path_changes("A", "B", 60.0)
    nodes = sorted({node for _, path in changes for node in path})
    motion = Motion(sky, nodes, 60.0)
    for row in found:
        times = np.array([float(row["time_s"])])
        satellite = sky.satellites.index(row["satellite"])
        state = motion.of(satellite, times)
        gateway = motion.of(len(sky.satellites) + 1, times)
        d, v = state.position[0] - gateway.position[0], state.velocity[0]
        r = float(np.linalg.norm(d))
        rate = float(d @ v) / r
        acceleration = (float(v @ v) + float(d @ state.acceleration[0]) - rate**2) / r
        values = dict(
            zip(
                sib19.FIELDS,
                [*state.position[0], *v, 2e6 * r / LIGHT, 2e6 * rate / LIGHT, max(1e6 * acceleration / LIGHT, 0.0)],
                strict=True,
            )
        )
        for name, value in values.items():
            assert sib19.decoded(name, int(row[name])) == pytest.approx(value, abs=sib19.FIELDS[name].step / 2 * 1.0001)
        assert float(row["feeder_delay_ms"]) == pytest.approx(r / LIGHT * 1e3, abs=1e-6)
        covered = 2 * (float(row["delay_ms"]) + float(row["feeder_delay_ms"]))
        # Drifts of up to 48 µs/s for 5 s on both links are 0.5 ms.
        assert covered <= int(row["cellSpecificKoffset"]) <= covered + 1.5


def test_the_common_timing_advance_can_be_extrapolated_over_its_validity() -> None:
    """TS 38.213 §4.2: (ta-Common + ta-CommonDrift Δt + ta-CommonDriftVariant Δt²) / 2 is the delay to the gateway."""
    found = rows(ll.export(ONE, "A", "B", "ntn", step="1 s"))
    worst = 0.0
    for row, later in zip(found, found[5:], strict=False):
        if row["satellite"] != later["satellite"]:
            continue
        common, drift, variant = (
            sib19.decoded(name, int(row[name])) for name in ("ta-Common", "ta-CommonDrift", "ta-CommonDriftVariant")
        )
        delay_us = (common + drift * 5 + variant * 25) / 2
        worst = max(worst, abs(delay_us - float(later["feeder_delay_ms"]) * 1e3))
    # The third derivative of the range is below 2 m/s³: 2 · 5³ / 6 = 42 m, 0.14 µs.
    assert 0.0 < worst < 0.14


def test_epochs_count_frames_and_json_has_the_same_fields() -> None:
    export = ll.export(ONE, "A", "B", "ntn", step="2.511 s")
    found, nested = rows(export), json.loads(export.files[".json"])["rows"]
    for row, other in zip(found, nested, strict=True):
        millis = round(float(row["time_s"]) * 1e3)
        assert (int(row["epochTime.sfn"]), int(row["epochTime.subFrameNR"])) == (millis // 10 % 1024, millis % 10)
        config = other["ntn-Config"]
        flat = config["ephemerisInfo"]["positionVelocity"] | config["ta-Info"]
        assert {name: int(row[name]) for name in sib19.FIELDS} == flat
        assert config["epochTime"] == {"sfn": millis // 10 % 1024, "subFrameNR": millis % 10}
        assert (config["ntn-UlSyncValidityDuration"], row["kmac"]) == ("s5", "")


def test_a_reference_point_at_the_satellite_moves_the_feeder_link_to_kmac() -> None:
    found = rows(ll.export(ONE, "A", "B", "ntn", step="10 s", ntn=NtnOptions(validity_s=10, reference="satellite")))
    for row in found:
        assert (row["ta-Common"], row["ta-CommonDrift"], row["ta-CommonDriftVariant"]) == ("0", "0", "0")
        assert 2 * float(row["feeder_delay_ms"]) <= int(row["kmac"]) <= 2 * float(row["feeder_delay_ms"]) + 1.5
        assert 2 * float(row["delay_ms"]) <= int(row["cellSpecificKoffset"]) <= 2 * float(row["delay_ms"]) + 1.5
        assert row["ntn-UlSyncValidityDuration"] == "10"


def test_a_field_that_cannot_hold_its_value_is_an_error() -> None:
    with pytest.raises(ll.InputError, match=r"velocityVX: 7900 m/s is not between -7864\.32 and 7864\.26 m/s"):
        sib19.encoded("velocityVX", 7900.0)


def test_a_moving_station_has_its_own_doppler() -> None:
    ship: dict[str, Any] = {"name": "A", "waypoints": [{"at": "0 s", "latitude": "50 deg", "longitude": "8 deg"}]}
    ship["waypoints"].append({"at": "60 s", "latitude": "50.1 deg", "longitude": "8 deg"})
    moving = ONE | {"stations": [ship, ONE["stations"][1]]}
    sky = ll.sky(moving)
    row = rows(ll.export(moving, "A", "B", "ntn", step="30 s"))[1]
    h = 0.02
    before, after = (
        sky.visible("A", 30.0 + shift).filter(satellite=row["satellite"])["range_km"][0] * 1e3 for shift in (-h, h)
    )
    assert float(row["doppler_hz"]) == pytest.approx(-(after - before) / (2 * h) / LIGHT * 2e9, abs=0.1)


# Wrong input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("geo", "--from", "client", "--to", "x", "--as", "tc"), '--to: "x" is not a node of the network (its nodes: client, gateway, server); name one of them'),
        (("geo", "--from", "x", "--to", "server", "--as", "tc"), '--from: "x" is not a node'),
        (("geo", "--from", "client", "--to", "client", "--as", "tc"), 'both are "client"; name two nodes'),
        (("geo", "--from", "client", "--to", "server", "--as", "thaterq"), 'did you mean "theaterq"? there are mahimahi, theaterq, tc, csv, ntn'),
        (("geo", "--from", "client", "--to", "server", "--as", "csv", "--step", "0 s"), 'step: 0 s is not above 0; write a time such as "100 ms"'),
        (("geo", "--from", "client", "--to", "server", "--as", "csv", "--step", "-1 s"), 'write a time above 0, such as "100 ms"'),
        (("geo", "--from", "client", "--to", "server", "--as", "csv", "--step", "1 us"), "more than 1000000; choose a longer step"),
        (("geo", "--from", "client", "--to", "server", "--as", "tc", "--carrier", "2 GHz"), "--carrier: is only for --as ntn; leave it out"),
        (("geo", "--from", "client", "--to", "server", "--as", "ntn"), "has no constellation, which ntn needs; write [constellation]"),
        (("iridium", "--from", "Oslo", "--to", "Paris", "--as", "ntn"), "'Paris' is not a station; there are "),
        (("iridium", "--from", "Oslo", "--to", "Anchorage", "--as", "ntn", "--carrier", "2e9"), 'write it with its unit, as "2 GHz"'),
        (("iridium", "--from", "Oslo", "--to", "Anchorage", "--as", "ntn", "--carrier", "2 Hz"), "is not between 1 MHz and 1 THz"),
        (("iridium", "--from", "Oslo", "--to", "Anchorage", "--as", "ntn", "--validity", "7"), "write one of 5, 10, 15"),
        (("iridium", "--from", "Oslo", "--to", "Anchorage", "--as", "ntn", "--reference", "x"), "write gateway or satellite"),
        (("iridium", "--from", "Oslo", "--to", "Anchorage", "--as", "ntn", "--measure"), "--measure: cannot be combined"),
        (("two.toml", "--from", "a", "--to", "d", "--as", "tc"), '"d" is unreachable from "a"; add a link that connects them'),
        (("two.toml", "--from", "a", "--to", "b", "--as", "mahimahi", "-d", "1 ms"), "carries no packet of 1500 bytes in 0.001 s; choose a longer duration"),
        (("endless.toml", "--from", "a", "--to", "b", "--as", "tc"), "duration: is missing; specify the maximum simulated time"),
        (("geo", "--from", "client", "--to", "server", "--as", "csv", "-o", "-"), "-: cannot hold 2 files; name their common start with --out"),
        (("geo", "--from", "client", "--to", "server", "--as", "csv", "-o", "."), ".: is a directory; name the common start of 2 files in it"),
        (("geo", "--from", "client", "--to", "server", "--as", "tc", "-o", "."), ".: is a directory; name a file in it"),
        (("geo", "--from", "client", "--to", "server", "--as", "tc", "-o", "there.sh"), "there.sh: exists already; replace it with --force, or name another --out"),
        (("geo", "--from", "client", "--to", "server", "--as", "mahimahi", "-o", "cell"), "cell.down: exists already; replace it with --force"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_error_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    link = '[[links]]\nbetween = ["a", "b"]\nrate = "1 Mbit/s"\ndelay = "1 ms"\n'
    flow = '[[flows]]\nfrom = "a"\nto = "b"\n'
    Path("endless.toml").write_text(link + flow)
    Path("two.toml").write_text('duration = "1 s"\n' + link + link.replace('"a", "b"', '"c", "d"') + flow)
    for name in ("there.sh", "cell.down"):
        Path(name).write_text("mine\n")
    before = sorted(Path().iterdir())
    done = CliRunner().invoke(app, ["export", *arguments])
    assert done.exit_code == 2, done.output
    found = " ".join(done.stderr.split())
    assert found.startswith("error: ")
    assert found.count("error: ") == 1
    assert message in found
    assert sorted(Path().iterdir()) == before


def test_a_station_without_a_path_is_an_error() -> None:
    far = {"name": "B", "latitude": "-50 deg", "longitude": "-170 deg"}
    for form in ("ntn", "tc"):
        with pytest.raises(ll.InputError, match="there is no path"):
            ll.export(ONE | {"stations": [ONE["stations"][0], far]}, "A", "B", form)


def test_force_replaces_and_a_suffix_selects_the_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    line = ["export", "geo", "--from", "client", "--to", "server", "--as", "tc"]
    assert CliRunner().invoke(app, line).exit_code == 0
    assert CliRunner().invoke(app, [*line, "--force"]).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["geo-client-server.sh"]
    line = ["export", "iridium", "--from", "Oslo", "--to", "Anchorage", "--as", "ntn", "-d", "1 s", "-q"]
    assert CliRunner().invoke(app, [*line, "-o", "a.json"]).output == ""
    assert json.loads(Path("a.json").read_text())["carrier_hz"] == 2e9
    assert CliRunner().invoke(app, [*line, "-o", "a.csv"]).exit_code == 0
    assert len(rows_of(Path("a.csv"))) == 10


def rows_of(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.read_text())))


def test_the_same_scenario_gives_the_same_bytes() -> None:
    for form in FORMS:
        scenario, start, end = (ONE, "A", "B") if form == "ntn" else (CHANGING, "a", "c")
        first, second = (ll.export(scenario, start, end, form, duration="2 s").files for _ in range(2))
        assert first == second


def test_every_form_is_described() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lightlag", "export", "--help"], capture_output=True, text=True, check=True
    )
    assert all(form in done.stdout for form in FORMS)
