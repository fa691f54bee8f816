"""Every value of every choice in the schema of scenarios, in a run that writes all its tables and pages.

The values come from the schema, so a new one is tested without a new line here. `COMPANIONS` has keys they require.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag import _engine
from lightlag.cli.app import app

Json = dict[str, Any]
SCHEMA: Json = json.loads(_engine.schema())
EVERYTHING = {
    "trace": "change",
    "queue": "sampled",
    "interval": "50 ms",
    "drops": True,
    "acks": True,
    "queueing": True,
    "pcap": {"comments": True},
}


STEADY: Json = {"kind": "constant", "rate": "100 kbit/s", "size": "200 B"}


def _radio_node(name: str, x: int) -> Json:
    return {"name": name, "media": ["air"], "at": [f"{x} m", "0 m", "10 m"]}


WIRED: Json = {
    "name": "wired",
    "duration": "1 s",
    "links": [
        {"between": ["client", "router"], "rate": "10 Mbit/s", "delay": "10 ms"},
        {"between": ["router", "server"], "rate": "2 Mbit/s", "delay": "10 ms", "queue": "20 packets"},
    ],
    "flows": [{"from": "client", "to": "server"}],
}
AIR: Json = {
    "name": "air",
    "duration": "1 s",
    "media": [{"name": "air"}],
    "nodes": [_radio_node(f"n{at}", 20 * at) for at in range(3)],
    "flows": [
        {"from": "n0", "to": "n2", "transfer": "30 kB"},
        {
            "from": "n2",
            "to": "n0",
            "transport": "udp",
            "traffic": STEADY,
        },
    ],
}
SPACE: Json = {
    "name": "space",
    "duration": "1 s",
    "constellation": {
        "start": "2026-01-01T00:00:00Z",
        "shells": [
            {
                "name": "shell",
                "height": "780 km",
                "inclination": "86.4 deg",
                "planes": 6,
                "slots": 11,
                "phasing": 3,
                "spread": "189.6 deg",
            }
        ],
        "elevation": "8.2 deg",
        "isl": {"rate": "10 Mbit/s"},
        "uplink": {"rate": "5 Mbit/s"},
        "downlink": {"rate": "5 Mbit/s"},
    },
    "stations": [{"name": "Oslo"}, {"name": "Rome"}],
    "flows": [{"from": "Oslo", "to": "Rome", "transfer": "20 kB"}],
}
PROXY: Json = WIRED | {"proxies": [{"node": "router", "buffer": "20 kB"}]}
TUNNEL: Json = WIRED | {"tunnels": [{"between": ["client", "router"]}]}
GENERATED: Json = {"name": "generated", "duration": "1 s"}
SECTIONS = {
    "links": WIRED,
    "media": AIR,
    "nodes": AIR,
    "flows": WIRED,
    "defaults": WIRED,
    "proxies": PROXY,
    "tunnels": TUNNEL,
    "constellation": SPACE,
    "stations": SPACE,
    "topology": GENERATED,
    **dict.fromkeys(("name", "duration", "seed", "ip", "record", "routing"), WIRED),
}
"""The scenario in which the keywords of each section are tested. Definitions that several sections share are tested in
the first.
"""
COMPANIONS: dict[str, Json] = {
    "media.0.standard=802.11g": {"media": [{"frequency": "2.412 GHz"}]},
    "media.0.width=80 MHz": {"media": [{"standard": "802.11ac"}]},
    "media.0.contention=": {"media": [{"kind": "rcs2"}]},
    "media.0.technique=": {"media": [{"kind": "random_access"}]},
    "media.0.spacing=": {"media": [{"kind": "random_access"}]},
    "nodes.0.mobility(trace).": {"nodes": [{"at": None, "mobility": {"file": "track.csv"}}]},
    "nodes.0.mobility(trace).format=bonnmotion": {"nodes": [{"mobility": {"file": "track.bonnmotion"}}]},
    "nodes.0.mobility(trace).format=ns2": {"nodes": [{"mobility": {"file": "track.ns2"}}]},
    "nodes.0.mobility(group).": {"nodes": [{"mobility": {"leader": "n1"}}]},
    "flows.0.transport=udp": {"flows": [{"traffic": STEADY}]},
    "flows.0.traffic(web).http=3": {"flows": [{"transport": "quic"}]},
    "flows.0.traffic(page).http=3": {"flows": [{"transport": "quic"}]},
    "topology(satellite).": {"topology": {"uplink": {"delay": "20 ms"}, "downlink": {"delay": "20 ms"}}},
    "links.0.signals.corruption=off": {"links": [{"signals": {"outage": True}}]},
    "links.0.jitter(": {"links": [{"delay": "1 s"}]},
    "links.0.trace.format=csv": {"links": [{"trace": {"file": "rates.csv"}}]},
    "links.0.trace.format=mahimahi": {"links": [{"trace": {"file": "rates.mahimahi"}}]},
    "flows.0.start(uniform).": {"flows": [{"start": {"max": "500 ms"}}]},
    "flows.0.start(pareto).": {"flows": [{"start": {"mean": "10 ms", "shape": 1.5}}]},
    "flows.0.start(lognormal).": {"flows": [{"start": {"mean": "10 ms"}}]},
    "flows.0.traffic(collect).": {
        "flows": [{}, {"from": "server", "to": "client", "transport": "udp", "traffic": STEADY}]
    },
    "flows.0.traffic(page).": {"flows": [{"traffic": {"file": "page.json"}}]},
    "flows.0.traffic(transfers).": {"flows": [{"traffic": {"every": "100 ms"}}]},
    "flows.0.traffic(periodic).size(uniform).": {"flows": [{"traffic": {"size": {"min": "1 kB", "max": "9 kB"}}}]},
    "flows.0.traffic(periodic).size(pareto).": {"flows": [{"traffic": {"size": {"mean": "10 kB", "shape": 1.5}}}]},
    "flows.0.traffic(periodic).size(lognormal).": {"flows": [{"traffic": {"size": {"mean": "10 kB"}}}]},
    "flows.0.traffic(web).objects(uniform).": {"flows": [{"traffic": {"objects": {"max": 20}}}]},
    "flows.0.traffic(web).objects(pareto).": {"flows": [{"traffic": {"objects": {"mean": 5, "shape": 1.5}}}]},
    "flows.0.traffic(web).objects(lognormal).": {"flows": [{"traffic": {"objects": {"mean": 5}}}]},
    "defaults.setup.dns=lookup": {
        "defaults": {"setup": {"dns_time": "30 ms"}},
        "flows": [{"transfer": None, "traffic": {"kind": "requests", "response": "10 kB", "count": 1}}],
    },
    "defaults.tcp.rate_control.release=": {"defaults": {"tcp": {"rate_control": {"rate": "2 Mbit/s"}}}},
    "tunnels.0.payload=udp": {"flows": [{"transport": "quic"}]},
    "defaults.quic.careful_resume.rule=picoquic": {"defaults": {"quic": {"profile": "picoquic"}}},
    "defaults.tcp.recovery=snack": {"defaults": {"tcp": {"scps": True}}},
}
"""Keys that must be set together with a value, by the beginning of the choice's path."""
FILES = {
    "track.csv": "time,node,x,y,z\n0,n0,0,0,10\n1,n0,10,0,10\n",
    "track.bonnmotion": "0 0 0 1 10 0\n",
    "track.ns2": '$node_(0) set X_ 0\n$node_(0) set Y_ 0\n$ns_ at 0.1 "$node_(0) setdest 10 0 5"\n',
    "rates.csv": "time_s,rate_bps\n0,2e6\n0.5,1e6\n",
    "rates.mahimahi": "1\n2\n3\n",
    "page.json": '{"objects": [{"id": "index", "size": 9000}, {"id": "logo", "size": "4 kB"}]}',
}


@dataclass(frozen=True)
class Step:
    """A step from a table to the value of a key, or from a list to its first item."""

    key: str | None
    form: Json
    """The schema of the table."""


@dataclass(frozen=True)
class Choice:
    """A value, and the steps that lead to it."""

    steps: tuple[Step, ...]
    word: str

    def __str__(self) -> str:
        """Returns the keys that lead to the keyword, with the selected variants of tables:
        ``media.0.routing(aodv).hello=off``.
        """
        text = ""
        for step in self.steps:
            form = ",".join(map(str, _fixed(step.form).values()))
            text += (f"({form})" if form else "") + f".{step.key or 0}"
        return f"{text[1:]}={self.word}"


def _followed(schema: Json) -> Json:
    while "$ref" in schema:
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        schema = SCHEMA["$defs"][_name(schema)] | rest
    return schema


def _name(schema: Json) -> str:
    return str(schema.get("$ref", "")).rsplit("/", 1)[-1]


def _fixed(form: Json) -> Json:
    """Returns the keys with a constant value, which select this variant of a table."""
    return {key: value["const"] for key, value in form.get("properties", {}).items() if "const" in value}


def _sample(schema: Json) -> Any:
    """A value that a schema allows."""
    schema = _followed(schema)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("examples", "enum"):
        if key in schema:
            return schema[key][0]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return _sample(schema[key][0])
    match schema.get("type"):
        case "array":
            return [_sample(schema["items"])] * schema.get("minItems", 1)
        case "object":
            return _table(schema)
        case "string":
            return "x"
    return max(schema.get("minimum", 1), min(1, schema.get("maximum", 10) / 10))


def _table(form: Json) -> Json:
    properties = form.get("properties", {})
    return {key: _sample(properties[key]) for key in form.get("required", [])} | _fixed(form)


def _choices() -> list[Choice]:
    """Returns the keywords of the schema, each definition at its shortest path."""
    found, visited = [], set()
    sections = sorted(SCHEMA["properties"], key=list(SECTIONS).index)
    waiting: deque[tuple[Json, tuple[Step, ...]]] = deque(
        (SCHEMA["properties"][key], (Step(key, SCHEMA),)) for key in sections
    )
    while waiting:
        schema, steps = waiting.popleft()
        name = _name(schema)
        if name in visited:
            continue
        visited |= {name} - {""}
        schema = _followed(schema)
        words = [schema.get("const"), *schema.get("enum", [])]
        found += [Choice(steps, word) for word in words if isinstance(word, str)]
        waiting.extend((form, steps) for key in ("anyOf", "oneOf", "allOf") for form in schema.get(key, []))
        if "items" in schema:
            waiting.append((schema["items"], (*steps, Step(None, schema))))
        waiting.extend((value, (*steps, Step(key, schema))) for key, value in schema.get("properties", {}).items())
    return found


def _put(value: Any, steps: tuple[Step, ...], word: str) -> Any:
    """Returns a value with the keyword at the end of some steps; missing tables get the keys that they require."""
    if not steps:
        return word
    step, rest = steps[0], steps[1:]
    if step.key is None:
        items = value if isinstance(value, list) and value else [None]
        return [_put(items[0], rest, word), *items[1:]]
    fixed = _fixed(step.form)
    fits = isinstance(value, dict) and fixed.items() <= value.items()
    table = (value if fits else _table(step.form)) | fixed
    return table | {step.key: _put(table.get(step.key), rest, word)}


def _beside(value: Any, other: Any) -> Any:
    """Returns a value updated with the keys of another one. Keys that are None there are removed; lists are updated
    item by item.
    """
    if isinstance(value, dict) and isinstance(other, dict):
        merged = value | {key: _beside(value.get(key), item) for key, item in other.items()}
        return {key: item for key, item in merged.items() if item is not None}
    if isinstance(value, list) and isinstance(other, list):
        first = [_beside(*pair) for pair in zip(value, other, strict=False)]
        return [*first, *value[len(other) :], *other[len(value) :]]
    return other


def _scenario(choice: Choice) -> Json:
    section = choice.steps[0].key
    assert section is not None
    scenario: Json = _put(SECTIONS[section] | {"record": EVERYTHING}, choice.steps, choice.word)
    for start, companion in COMPANIONS.items():
        if str(choice).startswith(start):
            scenario = _beside(scenario, companion)
    return scenario


CHOICES = _choices()


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_a_run_with_each_word_of_each_choice_writes_everything(
    choice: Choice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    Path("scenario.json").write_text(json.dumps(_scenario(choice)))
    app(["run", "scenario.json", "--out", "out", "--report"], standalone_mode=False)
    result = ll.load("out")
    assert result.scenario
    assert (tmp_path / "out" / "report.html").is_file()


def test_each_companion_belongs_to_a_word() -> None:
    names = [str(choice) for choice in CHOICES]
    assert [start for start in COMPANIONS if not any(name.startswith(start) for name in names)] == []
