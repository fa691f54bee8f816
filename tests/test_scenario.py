"""Dataclasses against the engine's schema, the builder, files and changes."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import lightlag as ll
from conftest import PAIR, pair
from lightlag import _engine, presets, scenario
from lightlag.scenario import check, load_scenario
from lightlag.scenario.presets import KEPT
from manual.hints import Definitions, Table, annotated
from manual.presets import kept_anew

SCHEMA = Definitions()
UNNAMED = {ll.Directions: "one value for each direction of any key", ll.Network: "a builder"}
"""Dataclasses without a definition of their own in the schema."""


def dataclasses_of(module: Any) -> dict[str, type]:
    return {
        name: value
        for name in module.__all__
        if isinstance(value := getattr(module, name), type) and dataclasses.is_dataclass(value)
    }


MIRRORS = {mirror: SCHEMA.tables[name] for name, mirror in dataclasses_of(scenario).items() if mirror not in UNNAMED}


def test_every_dataclass_is_public() -> None:
    found = dataclasses_of(scenario)
    assert {*found.values()} == {*MIRRORS, *UNNAMED}
    assert all(getattr(ll, name) is one for name, one in found.items())


@pytest.mark.parametrize(("mirror", "schema"), MIRRORS.items(), ids=[mirror.__name__ for mirror in MIRRORS])
def test_dataclasses_are_equal_to_the_schema(mirror: type, schema: Table) -> None:
    hints = get_type_hints(mirror)
    fields = {field.name.rstrip("_"): field for field in dataclasses.fields(mirror)}
    assert set(fields) == set(schema["properties"])
    missing = dataclasses.MISSING
    required = {name for name, field in fields.items() if field.default is field.default_factory is missing}
    demanded = set(schema.get("required", [])) - {"kind"}
    # A scenario without a name has one in the engine, and none in Python.
    assert required - ({"name"} - demanded) == demanded
    for name, field in fields.items():
        assert SCHEMA.is_same(hints[field.name], schema["properties"][name]), name


def definition(name: str) -> Table:
    found: Table = SCHEMA.root["$defs"][name]
    return found


def test_links_of_every_kind_have_the_same_keys() -> None:
    keys = {field.name for field in dataclasses.fields(ll.LinkParameters)}
    assert all(set(definition(name)["properties"]) == keys for name in ("Access", "Hop", "PlainLink"))
    for name in keys - {"header", "signals"}:
        (each,) = (one for one in accepted_tables(definition("PlainLink")["properties"][name]) if "forward" in one)
        assert set(each) == {field.name for field in dataclasses.fields(ll.Directions)}


def accepted_tables(schema: Table) -> list[Table]:
    """Returns the properties of every table that a schema accepts, directly or as a variant."""
    if "$ref" in schema:
        return accepted_tables(definition(schema["$ref"].rsplit("/", 1)[1]))
    if "properties" in schema:
        return [schema["properties"]]
    return [table for variant in schema.get("anyOf", []) for table in accepted_tables(variant)]


@pytest.mark.parametrize(
    ("method", "mirror", "positional"),
    [
        (ll.Network.flow, ll.Flow, {"from_": ("source",), "to": ("destination",)}),
        (ll.Network.proxy, ll.Proxy, {"node": ("node",)}),
    ],
    ids=["flow", "proxy"],
)
def test_the_builder_takes_every_key(
    method: Callable[..., None], mirror: type, positional: dict[str, tuple[str, ...]]
) -> None:
    wanted = [
        name for field in dataclasses.fields(mirror) for name in positional.get(field.name, (field.name.rstrip("_"),))
    ]
    assert sorted(inspect.signature(method).parameters) == sorted(["self", *wanted])
    hints, of_method = get_type_hints(mirror), get_type_hints(method)
    named = [field.name for field in dataclasses.fields(mirror) if field.name not in positional]
    assert {name: annotated(of_method[name]) for name in named} == {name: annotated(hints[name]) for name in named}


def test_the_builder_takes_the_keys_of_a_line_for_a_link() -> None:
    taken = inspect.signature(ll.Network.link).parameters
    keys = inspect.signature(ll.LinkParameters).parameters
    assert list(taken) == ["self", "first", "second", *keys]
    assert all(taken[name] == keys[name] for name in keys)
    with pytest.raises(TypeError, match="bandwidth"):
        ll.Network("x").link("a", "b", rate="1 Mbit/s", delay="1 ms", bandwidth=1)  # type: ignore[call-arg]


def test_the_builder_makes_every_part_of_a_scenario() -> None:
    net = ll.Network(
        "all",
        tcp={"sack": False},
        record=ll.Record(drops=False),
        topology=ll.Star(leaves=3, rate="1 Mbit/s", delay="1 ms"),
        routing="follow links",
        congestion=("cubic", "reno"),
        ip="v6",
        constellation=ll.Constellation(file="sky.tle"),
    )
    every: dict[str, Any] = {
        "rate": "1 Mbit/s",
        "delay": "1 ms",
        "jitter": "1 us",
        "queue": "9 packets",
        "loss": 0.1,
        "fec": {"data": 5, "repair": 0},
        "reorder": True,
        "duplicate": 0.2,
        "changes": [{"at": "1 s", "down": True}],
        "trace": "a.csv",
        "outage": "lose",
        "fade": {"mean": 1.0},
        "on_demand": {"frame": "1 ms"},
        "slots": {"period": "15 s"},
        "channel": {"good": {"mean_time": "1 s"}, "bad": {"mean_time": "1 s"}},
        "ramp": {"idle": "1 Mbit/s", "time": "1 s"},
        "aggregate": {"interval": "1 ms"},
        "signals": "all",
        "header": "7 B",
    }
    net.link("hub", "far", **every)
    net.flow("leaf1", "far", name="one")
    net.proxy("hub", kind="split", buffer="1 MB", flows=["one"], crash=ll.Crash(at="1 s"))
    net.tunnel("hub", "far")
    net.media.append(ll.Medium(rate="12 Mbit/s"))
    net.stations.append(ll.Station(name="Paris"))
    net.nodes.append(ll.Node(name="far", at=["0 m", "0 m", "0 m"], radio=ll.Radio(power="20 dBm")))
    made = net.scenario("1 s", seed=2)
    assert made.links == (ll.Link(between=("hub", "far"), **every),)
    assert made.proxies[0].crash == ll.Crash(at="1 s")
    assert made.defaults == ll.Defaults(tcp={"sack": False}, congestion=("cubic", "reno"))
    assert all(getattr(made, field.name) for field in dataclasses.fields(ll.Scenario))


def test_a_network_of_a_topology_matches_the_file() -> None:
    line = {"kind": "dumbbell", "pairs": 2, "rate": "1 Mbit/s", "delay": "5 ms"}
    as_mapping = ll.Network("net", topology=line).scenario("1 s")
    as_class = ll.Network("net", topology=ll.Dumbbell(pairs=2, rate="1 Mbit/s", delay="5 ms")).scenario("1 s")
    text = 'name = "net"\nduration = "1 s"\n[topology]\nkind = "dumbbell"\npairs = 2\nrate = "1 Mbit/s"\ndelay = "5 ms"'
    assert load_scenario(as_mapping) == load_scenario(as_class) == _engine.parse(text).json()


def test_the_builder_and_the_file_make_the_same_scenario(pair_file: Path) -> None:
    built = load_scenario(pair().scenario("30 s", seed=3))
    assert built == load_scenario(pair_file) == _engine.parse(PAIR).json()


def test_the_complete_form_reads_back_as_itself(pair_file: Path) -> None:
    text = load_scenario(pair_file)
    assert _engine.parse(text, "json").json() == text


def test_paths_of_traces_are_relative_to_the_scenario(tmp_path: Path) -> None:
    trace, file = tmp_path / "cell.csv", tmp_path / "cell.toml"
    trace.write_text("time_s,rate_bps\n1,5e6\n")
    link = 'between = ["a", "b"]\nrate = "8 Mbit/s"\ndelay = "10 ms"\ntrace = "cell.csv"'
    file.write_text(f'duration = "1 s"\n[[links]]\n{link}\n[[flows]]\nfrom = "a"\nto = "b"\n')
    complete = load_scenario(file)
    assert json.loads(complete)["links"][0]["trace"] == str(trace.resolve())
    assert check(file)[0] == str(file)
    assert _engine.parse(complete, "json").counts()[1] == 1
    trace.write_text("time_s,rate_bps\n1,5e6\n2,-1\n")
    with pytest.raises(ll.ScenarioError, match=r"cell\.csv: line 3: rate_bps: -1 is negative"):
        check(file)


def test_bbr_has_the_variant_of_ns3() -> None:
    def flow(variant: str) -> dict[str, Any]:
        line = {"between": ["a", "b"], "rate": "1 Mbit/s", "delay": "1 ms"}
        tcp = {"congestion": {"algorithm": "bbr", "variant": variant}}
        return {"duration": "1 s", "links": [line], "flows": [{"from": "a", "to": "b", "tcp": tcp}]}

    for variant in ("linux", "ns3"):
        check(flow(variant))
    with pytest.raises(ll.ScenarioError, match='"ns2" is not "linux" or "ns3"'):
        check(flow("ns2"))
    tables = [one["properties"] for one in definition("Choice")["anyOf"] if "properties" in one]
    (bbr,) = [one for one in tables if one.get("algorithm", {}).get("const") == "bbr"]
    assert bbr["variant"]["enum"] == ["linux", "ns3"]


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
            access=ll.LinkParameters(rate="1 Gbit/s", delay="1 ms"),
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


AWKWARD = [
    'say "hi"',
    "a.b",
    "back\\slash",
    "über",
    "中文",
    "🛰",
    "tab\tline\n",
    "\x7f\x01\x80",
    "'",
    "#",
    "[x]",
    "",
    " ",
]


@pytest.mark.parametrize("name", AWKWARD)
def test_names_can_be_read_back_from_toml(name: str) -> None:
    made = ll.Scenario(
        name=name,
        duration="1 s",
        links=(ll.Link(between=(name, "b"), rate="1 Mbit/s", delay="1 ms"),),
        flows=(ll.Flow(from_=name, to="b", name=name, tcp={name: [{name: 1.5, "list": [name, True]}], "none": {}}),),
    )
    assert tomllib.loads(made.to_toml()) == json.loads(json.dumps(made.to_dict()))
    assert tomllib.loads(f"value = {scenario.toml_value({name: [name]})}") == {"value": {name: [name]}}


def test_a_node_of_any_name_is_the_same_from_a_file(tmp_path: Path) -> None:
    net = ll.Network("names")
    net.link('🛰 "1.0"', "sol\\3", rate="1 Mbit/s", delay="1 ms")
    net.flow('🛰 "1.0"', "sol\\3", transfer="1 kB")
    path = tmp_path / "names.toml"
    path.write_text(net.scenario("1 s").to_toml(), "utf-8")
    assert load_scenario(path) == load_scenario(net.scenario("1 s"))


def test_values_that_toml_cannot_hold_are_rejected() -> None:
    with pytest.raises(ll.InputError, match=r'"\\udc80" holds an unpaired surrogate'):
        ll.Scenario(name="\udc80", duration="1 s").to_toml()
    with pytest.raises(ll.InputError, match="no null value"):
        scenario.toml_value([None])


@pytest.mark.parametrize("name", presets.PRESETS)
def test_presets_can_be_run_without_warnings(name: str) -> None:
    warnings = presets.PRESETS[name]().check()
    if name == "swarm-default-radio":  # It is about them.
        assert [place for place, _ in warnings] == ["topology.medium", "topology.flow"]
    elif name == "asymmetric":
        ((place, message),) = warnings
        assert (place, message.split(";")[0]) == ("flows[0]", "server->router carries 12 ACKs per second")
    else:
        assert warnings == []
    assert json.loads(load_scenario(name))["name"] == name


@pytest.mark.parametrize(
    "name",
    [
        "geo",
        "meo",
        "leo",
        "moon",
        "mars",
        "scps-moon",
        "scps-mars",
        "heterogeneous",
        "satellite-iot",
        "rcs2-beam",
        "iot-direct",
        "swarm",
        "swarm-default-radio",
        "search-and-rescue",
        "adhoc-chain",
        "asymmetric",
        "deep-space",
        "long-fat",
        "lossy",
        "siot",
        "traffic",
        "starlink-2026",
        "starlink-autobahn",
        "astra-geo",
        "konnect-geo",
        "lte-2023",
        "dsl-2023",
        "netem-lanman",
        "geo-web",
        "geo-pep",
    ],
)
def test_presets_are_the_files_of_the_same_name(name: str) -> None:
    assert load_scenario(name) == load_scenario(Path(__file__).parents[1] / "scenarios" / f"{name}.toml")


def test_the_stored_presets_match_the_functions() -> None:
    assert KEPT.read_text("utf-8") == kept_anew(), "make presets writes the file again"


def test_every_shipped_scenario_is_a_preset() -> None:
    shipped = {path.stem for path in (Path(__file__).parents[1] / "scenarios").glob("*.toml")}
    assert shipped <= presets.PRESETS.keys()


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


def test_a_link_takes_a_code_for_both_directions_or_for_one() -> None:
    code: dict[str, Any] = {"data": 10, "repair": 2}
    both = scenario.Link(between=("a", "b"), rate="2 Mbit/s", delay="1 ms", fec=code)
    forward = {**code, "flush": "10 ms", "in_order": False}
    down: scenario.Directions[scenario.Fec | None] = scenario.Directions(forward=forward, backward=None)
    one = scenario.Link(between=("b", "c"), rate="2 Mbit/s", delay="1 ms", fec=down)
    flows = (scenario.Flow(from_="a", to="c"),)
    read = json.loads(load_scenario(scenario.Scenario(name="coded", duration="10 s", links=(both, one), flows=flows)))
    assert read["links"][0]["fec"] == code
    assert read["links"][1]["fec"] == {
        "forward": {"data": 10, "repair": 2, "flush": "10 ms", "in_order": False},
        "backward": None,
    }


def test_presets_take_what_people_vary() -> None:
    geo = presets.geo(rtt="500 ms", congestion="hybla", transfer=None)
    assert geo.links[1].delay == "249 ms"
    assert json.loads(load_scenario(geo))["defaults"]["tcp"]["congestion"] == "hybla"
    assert "transfer" not in json.loads(load_scenario(geo))["flows"][0]


def test_all_errors_are_reported_with_their_places(net: ll.Network) -> None:
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
