"""Dataclasses against the engine's schema, the builder, files and changes."""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import lightlag as ll
from conftest import PAIR, pair
from lightlag import _engine, presets, scenario
from lightlag.scenario import check, load_scenario

SCHEMA: dict[str, Any] = json.loads(_engine.schema())


def definition(name: str) -> dict[str, Any]:
    found: dict[str, Any] = SCHEMA["$defs"][name]
    return found


def topology(kind: str) -> dict[str, Any]:
    """The schema of a generator, wherever it is told apart by its kind."""
    for variant in definition("Topology")["oneOf"]:
        if variant["properties"]["kind"]["const"] == kind:
            rest = definition(variant["$ref"].rsplit("/", 1)[1]) if "$ref" in variant else {}
            return {
                "properties": variant["properties"] | rest.get("properties", {}),
                "required": [*variant.get("required", []), *rest.get("required", [])],
            }
    raise AssertionError(f"no topology {kind}")


MIRRORS = [
    (ll.Scenario, SCHEMA),
    (ll.Defaults, definition("Defaults")),
    (ll.Link, definition("LinkSpec")),
    (ll.Flow, definition("FlowSpec")),
    (ll.FlowTemplate, definition("FlowTemplate")),
    (ll.Record, definition("Record")),
    (ll.Pcap, definition("Pcap")),
    (ll.Proxy, definition("ProxySpec")),
    (ll.Crash, definition("Crash")),
    (ll.Tcp, definition("Options")),
    (ll.DelayedAck, definition("DelayedAckOptions")),
    (ll.Rto, definition("RtoOptions")),
    (ll.PointToPoint, topology("point-to-point")),
    (ll.Chain, topology("chain")),
    (ll.Dumbbell, topology("dumbbell")),
    (ll.Star, topology("star")),
    (ll.Satellite, topology("satellite")),
    (ll.Iot, topology("iot")),
    (ll.Terrestrial, definition("Terrestrial")),
]


@pytest.mark.parametrize(("mirror", "schema"), MIRRORS, ids=[mirror.__name__ for mirror, _ in MIRRORS])
def test_dataclasses_have_the_fields_of_the_schema(mirror: type, schema: dict[str, Any]) -> None:
    fields = {field.name.rstrip("_") for field in dataclasses.fields(mirror)}
    assert fields == set(schema["properties"])


@pytest.mark.parametrize(("mirror", "schema"), MIRRORS, ids=[mirror.__name__ for mirror, _ in MIRRORS])
def test_dataclasses_require_what_the_schema_requires(mirror: type, schema: dict[str, Any]) -> None:
    required = {
        field.name.rstrip("_")
        for field in dataclasses.fields(mirror)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    assert required - {"name"} == set(schema.get("required", [])) - {"kind"}


@pytest.mark.parametrize(
    ("mirror", "field", "choices"),
    [
        (ll.Tcp, "profile", "Profile"),
        (ll.Tcp, "rtt_samples", "RttSamples"),
        (ll.Tcp, "recovery", "Scheme"),
        (ll.Rto, "variance_gain", "VarianceGain"),
        (ll.Record, "trace", "TraceMode"),
        (ll.Record, "queue", "QueueMode"),
        (ll.Scenario, "ip", "IpVersion"),
    ],
)
def test_choices_are_those_of_the_schema(mirror: type, field: str, choices: str) -> None:
    schema = definition(choices)
    named = set(schema.get("enum", [])) | {variant["const"] for variant in schema.get("oneOf", [])}
    literals = {choice for hint in get_args(get_type_hints(mirror)[field]) for choice in get_args(hint)}
    assert literals == named


def test_the_builder_and_the_file_make_the_same_scenario(pair_file: Path) -> None:
    built = load_scenario(pair().scenario("30 s", seed=3))
    assert built == load_scenario(pair_file) == _engine.parse(PAIR)


def test_the_complete_form_reads_back_as_itself(pair_file: Path) -> None:
    text = load_scenario(pair_file)
    assert _engine.parse(text, "json") == text


def test_paths_of_traces_begin_where_the_scenario_stands(tmp_path: Path) -> None:
    trace, file = tmp_path / "cell.csv", tmp_path / "cell.toml"
    trace.write_text("time_s,rate_bps\n1,5e6\n")
    link = 'between = ["a", "b"]\nrate = "8 Mbit/s"\ndelay = "10 ms"\ntrace = "cell.csv"'
    file.write_text(f'duration = "1 s"\n[[links]]\n{link}\n[[flows]]\nfrom = "a"\nto = "b"\n')
    complete = load_scenario(file)
    assert json.loads(complete)["links"][0]["trace"] == str(trace.resolve())
    assert check(file)[0] == str(file)
    assert json.loads(_engine.check(complete, "json"))["errors"] == []
    trace.write_text("time_s,rate_bps\n1,5e6\n2,-1\n")
    with pytest.raises(ll.ScenarioError, match=r"cell\.csv: line 3: rate_bps: -1 is negative"):
        check(file)


def test_a_scenario_of_every_part_is_accepted() -> None:
    everything = ll.Scenario(
        name="everything",
        duration="1 s",
        seed=5,
        defaults=ll.Defaults(
            tcp=ll.Tcp(
                profile="rfc",
                congestion={"algorithm": "cubic", "variant": "rfc8312"},
                mss="1024 B",
                sack=True,
                delayed_ack=ll.DelayedAck(segments=2, timeout="100 ms"),
                rto=ll.Rto(min="500 ms"),
                growth={"abc": 2},
            )
        ),
        topology=ll.Dumbbell(
            pairs=2,
            rate="10 Mbit/s",
            delay=ll.Directions("10 ms", "12 ms"),
            queue="1 bdp",
            access=ll.Line(rate="1 Gbit/s", delay="1 ms"),
            flow=ll.FlowTemplate(count=2, transfer="10 kB", stagger="10 ms"),
        ),
        links=(
            ll.Link(
                between=("router-right", "far"),
                rate=ll.Directions("1.5 Mbit/s", "5 kbit/s"),
                delay="1 ms",
                queue={"discipline": "codel", "interval": "600 ms"},
                loss={"bit_error_rate": 1e-7},
                reorder={"probability": 0.01, "delay": "5 ms"},
                duplicate=ll.Directions(0.001, 0.0),
                jitter=ll.Directions("500 us", {"distribution": "normal", "deviation": "100 us", "correlation": 0.5}),
                changes=[{"at": "200 ms", "down": True}, {"at": "300 ms", "down": False, "loss": 0.1}],
                outage="lose",
                header="7 B",
            ),
        ),
        flows=(ll.Flow(from_="client1", to="far", name="long", start="100 ms", congestion="hybla"),),
        record=ll.Record(trace="sampled", queue="off", drops=False, interval="10 ms"),
    )
    complete = json.loads(load_scenario(everything))
    assert complete["topology"]["pairs"] == 2
    assert complete["links"][0]["rate"] == {"forward": "1.5 Mbit/s", "backward": "5 kbit/s"}
    assert complete["defaults"]["tcp"]["rto"] == {"min": "500 ms"}
    assert complete["flows"][0]["tcp"]["congestion"] == "hybla"


def test_changes_reach_every_kind_of_value(net: ll.Network) -> None:
    result = ll.run(
        net,
        duration="2 s",
        sets={
            "links.0.loss": {"at": ["500 ms", "1 s"]},
            "flows.0.congestion": "hybla",
            "record.drops": True,
            "defaults.tcp.initial_window": 2,
        },
    )
    assert result.scenario["links"][0]["loss"] == {"at": ["500 ms", "1 s"]}
    assert result.scenario["flows"][0]["tcp"]["congestion"] == "hybla"
    assert result.scenario["defaults"]["tcp"]["initial_window"] == 2
    assert result.scenario["duration"] == "2 s"


def test_json_files_are_scenarios_too(tmp_path: Path, pair_file: Path) -> None:
    path = tmp_path / "pair.json"
    path.write_text(load_scenario(pair_file))
    assert load_scenario(path) == load_scenario(pair_file)


@pytest.mark.parametrize("name", presets.PRESETS)
def test_a_scenario_as_toml_reads_back(name: str, tmp_path: Path) -> None:
    path = tmp_path / "preset.toml"
    path.write_text(presets.PRESETS[name]().to_toml())
    assert load_scenario(path) == load_scenario(name)


@pytest.mark.parametrize("name", presets.PRESETS)
def test_presets_can_be_run_without_warnings(name: str) -> None:
    assert presets.PRESETS[name]().check() == []
    assert json.loads(load_scenario(name))["name"] == name


@pytest.mark.parametrize(
    "name", ["geo", "meo", "leo", "moon", "mars", "scps-moon", "scps-mars", "heterogeneous", "satellite-iot"]
)
def test_presets_are_the_files_of_the_same_name(name: str) -> None:
    assert load_scenario(name) == load_scenario(Path(__file__).parents[1] / "scenarios" / f"{name}.toml")


def test_delays_of_presets_follow_from_orbits() -> None:
    def delay(scenario: scenario.Scenario) -> float:
        return _engine.seconds(json.loads(load_scenario(scenario))["links"][1]["delay"]) * 1e3

    # Slant ranges at 40 and 25 degrees, light time in ms.
    assert delay(presets.geo()) == pytest.approx(126.02 + 130.33 + 40, abs=0.02)
    assert delay(presets.meo()) == pytest.approx(31.65 + 35.15 + 10, abs=0.02)
    assert delay(presets.moon()) == pytest.approx(1282.2, abs=0.1)


def test_satellites_in_low_orbit_hand_over_every_15_s() -> None:
    links = json.loads(load_scenario("leo"))["links"]
    changes = links[1]["changes"]
    assert [_engine.seconds(change["at"]) for change in changes] == list(range(15, 120, 15))
    delays = [_engine.seconds(delay) * 1e3 for delay in [links[1]["delay"], *(change["delay"] for change in changes)]]
    # Between overhead and 25 degrees at both ends, and no two in a row alike.
    assert all(15 + 2 * 1.83 <= delay <= 15 + 2 * 3.75 for delay in delays)
    assert all(abs(one - other) > 0.1 for one, other in itertools.pairwise(delays))
    assert presets.leo(rtt="40 ms").links[1].changes is None


def test_links_take_rain_and_requests() -> None:
    rain = {"mean": -0.5, "deviation": 1.2, "clear_sky": "15 dB", "symbol_rate": "1 MBd"}
    requests: scenario.Directions[Any] = scenario.Directions(forward={"latency": "560 ms"}, backward=None)
    delay = {"orbit": "geo", "elevation": "30 deg"}
    one = scenario.Link(between=("a", "b"), rate="2 Mbit/s", delay=delay, fade=rain, on_demand=requests)
    flows = (scenario.Flow(from_="a", to="b"),)
    read = json.loads(load_scenario(scenario.Scenario(name="wet", duration="10 s", links=(one,), flows=flows)))
    assert read["links"][0]["fade"]["correlation_time"] == "5000 s"
    assert read["links"][0]["on_demand"]["forward"]["frame"] == "26.5 ms"


def test_presets_take_what_people_vary() -> None:
    geo = presets.geo(rtt="500 ms", congestion="hybla", transfer=None)
    assert geo.links[1].delay == "249 ms"
    assert json.loads(load_scenario(geo))["defaults"]["tcp"]["congestion"] == "hybla"
    assert "transfer" not in json.loads(load_scenario(geo))["flows"][0]


def test_errors_come_all_at_once_with_their_places(net: ll.Network) -> None:
    net.links.append(scenario.Link(between=("server", "x"), rate="0 bit/s", delay="-1 ms", loss=1.3))
    net.flow("client", "nowhere")
    with pytest.raises(ll.ScenarioError) as caught:
        ll.run(net)
    places = [place for place, _ in caught.value.errors]
    assert {"links[1].rate", "links[1].delay", "links[1].loss"} <= set(places)
    assert len(str(caught.value).splitlines()) == len(places)
    assert isinstance(caught.value, ValueError)


def test_errors_of_a_file_name_it(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(PAIR.replace("5 Mbit/s", "5 Mbit"))
    with pytest.raises(ll.ScenarioError, match=r"wrong\.toml: links\[0\]\.rate: ") as caught:
        load_scenario(path)
    assert caught.value.errors[0][0] == "links[0].rate"


def test_warnings_teach(net: ll.Network) -> None:
    net.flow("client", "server", tcp={"receive_buffer": "10 kB"})
    _, warnings = check(net)
    assert any("bandwidth-delay product" in message for _, message in warnings)
