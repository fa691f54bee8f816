"""Messages of the studio's WebSockets: each gets an answer or a clear error, whatever its values are."""

from __future__ import annotations

import json
import struct
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import PAIR
from lightlag import _engine, presets
from lightlag.errors import InputError, ScenarioError
from lightlag.studio.messages import parsed_message
from lightlag.studio.places import Places
from lightlag.studio.sockets import _asked
from lightlag.studio.tasks import COMPARE, RUN, STUDY, prepared
from studio import Socket
from studio import client as client
from studio import folder as folder
from studio import page as page
from studio import sockets as sockets

many = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), database=None)

OPS: tuple[str, ...] = (
    "about",
    "check",
    "edit",
    "write",
    "inspect",
    "network",
    "start",
    "step",
    "finish",
    "close",
    "sky",
    "flight",
)
OPS += ("places_at", "courses", "leave")
KEYS: tuple[str, ...] = (
    "op",
    "toml",
    "files",
    "sets",
    "path",
    "value",
    "scenario",
    "data",
    "seed",
    "packets",
    "captures",
    "run",
)
KEYS += ("until_s", "events", "whole", "place", "time_s", "from", "to", "more")

texts = st.sampled_from(
    ["", "\0", "\ud800", "name", "links.0.loss", "1e-4", "{", "0/pair.toml", "10 ms", PAIR]
) | st.text(max_size=8)
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from([2**64, 1e300]) | texts
values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)


def head(answer: bytes) -> dict[str, Any]:
    (length,) = struct.unpack_from("<I", answer)
    found: dict[str, Any] = json.loads(answer[4 : 4 + length])
    return found


@many
@given(
    st.lists(st.tuples(st.sampled_from(OPS), st.dictionaries(st.sampled_from(KEYS), values, max_size=4)), max_size=4)
)
def test_every_value_gets_an_answer_of_the_engine_or_an_error(requests: list[tuple[str, dict[str, Any]]]) -> None:
    door = _engine.Door()
    usual = {"toml": PAIR, "run": 0, "place": 0, "until_s": 0.1, "time_s": 0.1, "from": 0, "to": 0}
    usual |= {"path": "name", "value": "x", "data": "", "scenario": {}}
    for op, given_values in requests:
        wanted = {key: usual[key] for key in _needed(op)} | {"id": 1, "op": op} | given_values
        request = parsed_message(json.dumps(wanted))
        request.pop("id")
        found = head(_asked(request, door))
        assert "error" not in found or isinstance(found["error"]["message"], str)


def _needed(op: str) -> tuple[str, ...]:
    needed = {
        **dict.fromkeys(("check", "network", "start", "sky", "flight"), ("toml",)),
        **dict.fromkeys(("finish", "close"), ("run",)),
        "edit": ("toml", "path", "value"),
        "write": ("scenario",),
        "inspect": ("data",),
        "step": ("run", "until_s"),
        "places_at": ("place", "time_s"),
        "courses": ("place", "from", "to", "until_s"),
        "leave": ("place",),
    }
    return needed.get(op, ())


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"sets": 5}, 'sets: 5 is not a list of pairs of strings; write [["links.0.loss", "1e-4"]]'),
        ({"sets": [["a"]]}, 'sets: [["a"]] is not a list of pairs of strings; write [["links.0.loss", "1e-4"]]'),
        ({"sets": None}, 'sets: null is not a list of pairs of strings; write [["links.0.loss", "1e-4"]]'),
        ({"toml": ["x"]}, 'toml: ["x"] is not a string'),
        ({"files": {"a": 1}}, 'files: {"a": 1} is not a table of names and base64 strings'),
        ({"op": {}}, "op: {} is not a string"),
        ({"op": "step", "run": -1}, "run: -1 is not a whole number of at least 0"),
        ({"op": "step", "run": True}, "run: true is not a whole number of at least 0"),
        ({"op": "places_at", "time_s": "1 s"}, 'time_s: "1 s" is not a number'),
        ({"op": "start", "captures": 1}, "captures: 1 is not true or false"),
    ],
)
def test_a_value_of_another_type_is_named(sockets: Socket, wrong: dict[str, Any], expected: str) -> None:
    with sockets("/door") as door:
        door.send_json({"id": 1, "op": "check", "toml": PAIR} | wrong)
        assert head(door.receive_bytes()[4:]) == {"error": {"message": expected}}


def test_a_value_that_nests_deeply_is_an_error(sockets: Socket) -> None:
    with sockets("/door") as door:
        for depth in (100, 500):
            deep = "[" * depth + "]" * depth
            door.send_text(f'{{"id": 1, "op": "check", "toml": "", "sets": {deep}}}')
            assert "sets: " in head(door.receive_bytes()[4:])["error"]["message"]


def test_half_of_a_surrogate_pair_becomes_the_replacement_character() -> None:
    assert parsed_message('{"id": 1, "a": ["\\ud83d\\ude00", "\\ud83d"]}')["a"] == ["\U0001f600", "\ufffd"]


def test_nodes_are_followed_up_to_the_end_of_their_scenario() -> None:
    door = _engine.Door()
    ask = partial(_asked, door=door)
    opened = head(ask({"op": "flight", "toml": presets.swarm(duration="10 s").to_toml()}))
    answers = [ask({"op": "places_at", "place": opened["place"], "time_s": time}) for time in (5, 10, 1e300)]
    first, last, later = (answer[4 + struct.unpack_from("<I", answer)[0] :].lstrip(b"\0") for answer in answers)
    assert first != last == later


@many
@given(op=st.sampled_from(["run", "compare", "study"]), data=st.data())
def test_every_task_is_prepared_or_rejected(
    op: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "tasks"
    folder.mkdir(exist_ok=True)
    (folder / "pair.toml").write_text(PAIR)
    (folder / "study.toml").write_text('scenarios = ["pair.toml"]\ncongestion = ["cubic"]\n')
    keys = sorted({"run": RUN, "compare": COMPARE, "study": STUDY}[op])
    usual: dict[str, dict[str, Any]] = {
        "run": {"scenario": PAIR},
        "compare": {"scenarios": [PAIR]},
        "study": {"study": "0/study.toml"},
    }
    changed = data.draw(st.dictionaries(st.sampled_from(keys), values, max_size=3))
    request = parsed_message(json.dumps({"id": 1, "op": op, **usual[op], **changed}))
    with suppress(InputError, ScenarioError, OSError):
        task = prepared(request, Places.of([folder]), None)
        assert json.loads(json.dumps(task, default=str))["op"] == op
