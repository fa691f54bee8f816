"""The server of the studio: its replies, and the requests that it rejects."""

from __future__ import annotations

import base64
import gzip
import http.client
import json
import os
import re
import socket
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from websockets.exceptions import ConnectionClosed, InvalidStatus

import lightlag as ll
from conftest import PAIR, Lightlag, pair
from lightlag.errors import InputError
from lightlag.studio.guard import MOST_BODY, Access
from lightlag.studio.needs import missing
from lightlag.studio.places import Places
from lightlag.studio.server import _listening as listening
from lightlag.studio.server import application
from lightlag.studio.sockets import MOST_MESSAGE, MOST_SOCKETS
from studio import (
    HOST,
    MINE,
    ORIGIN,
    POST,
    TOKEN,
    WRITES,
    Echo,
    Server,
    Socket,
    carried_out,
    failure,
    unpacked,
)
from studio import client as client
from studio import folder as folder
from studio import page as page
from studio import server as server
from studio import sockets as sockets

# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_has_types_tags_and_a_strict_policy(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self' 'wasm-unsafe-eval';" in policy
    assert "default-src 'none';" in policy
    assert "unsafe-inline" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert not [name for name in answer.headers if name.startswith("access-control")]
    again = client.get("/", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/assets/engine.wasm").headers["content-type"] == "application/wasm"
    assert "immutable" in client.get("/assets/engine.wasm").headers["cache-control"]
    assert client.get("/", headers={"if-none-match": '"another"'}).status_code == 200


def test_the_page_comes_compressed_to_who_takes_it(client: TestClient, page: Path) -> None:
    with client.stream("GET", "/assets/engine.wasm", headers={"accept-encoding": "gzip"}) as answer:
        content = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(content) == (page / "assets" / "engine.wasm").read_bytes()
    with client.stream("GET", "/assets/app.js", headers={"accept-encoding": "gzip, br"}) as answer:
        content = b"".join(answer.iter_raw())
    assert (answer.headers["content-encoding"], content) == ("br", b"brotli, as the build wrote it")
    plain = client.get("/assets/app.js", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.headers["etag"] != answer.headers["etag"]


def test_without_a_page_the_error_explains_how_to_build_it(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"the studio needs its page, which is not built; add what is missing with: make .*page"
    ):
        application(Access(8765, TOKEN), Places.of([folder]), door=Echo, page=tmp_path / "nothing")


# --- who may ask ------------------------------------------------------------------------------------------------------

REFUSED_HEADERS = {
    "another host": ({"host": "evil.example:8765"}, 403),
    "another port": ({"host": "127.0.0.1:80"}, 403),
    "no port": ({"host": "127.0.0.1"}, 403),
    "all addresses": ({"host": "0.0.0.0:8765"}, 403),
    "a name that ends so": ({"host": "127.0.0.1:8765.evil.example"}, 403),
    "an empty host": ({"host": ""}, 403),
    "another origin": ({"origin": "https://evil.example"}, 403),
    "an origin with another scheme": ({"origin": f"https://{HOST}"}, 403),
    "the other name of this host": ({"origin": "http://localhost:8765"}, 403),
    "an opaque origin": ({"origin": "null"}, 403),
    "another site": ({"sec-fetch-site": "cross-site"}, 403),
    "a site of the same domain": ({"sec-fetch-site": "same-site"}, 403),
    "no token": ({"authorization": ""}, 401),
    "a wrong token": ({"authorization": "Bearer wrong"}, 401),
    "a part of the token": ({"authorization": f"Bearer {TOKEN[:-1]}"}, 401),
    "the token without its kind": ({"authorization": TOKEN}, 401),
    "another kind": ({"authorization": f"Basic {TOKEN}"}, 401),
    "a token in other letters": ({"authorization": "Bearer \xfc\xff"}, 401),
}


@pytest.mark.parametrize("case", REFUSED_HEADERS)
def test_requests_of_others_are_rejected(client: TestClient, case: str) -> None:
    headers, status = REFUSED_HEADERS[case]
    raw = [(name.encode(), value.encode("latin-1")) for name, value in (MINE | headers).items()]
    answer = client.get("/api/about", headers=raw)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]
    assert str(Path.cwd()) not in answer.text


def test_both_names_of_this_machine_are_accepted(client: TestClient) -> None:
    for host in (HOST, "localhost:8765", "LOCALHOST:8765"):
        assert client.get("/api/about", headers=MINE | {"host": host}).json()["version"] == ll.__version__
    assert client.get("/api/about", headers=MINE | {"origin": ORIGIN}).status_code == 200


def test_a_change_must_name_our_origin(client: TestClient) -> None:
    for origin in (None, "null", "https://evil.example", "http://localhost:8765"):
        headers = MINE | ({} if origin is None else {"origin": origin})
        assert client.post("/api/report", headers=headers, json={"place": "0/x"}).status_code == 403
    assert client.post("/api/report", headers=POST, json={"place": "0/x"}).status_code == 400


def test_other_methods_and_preflights_are_rejected(client: TestClient) -> None:
    for method in ("OPTIONS", "PUT", "DELETE", "PATCH", "TRACE"):
        answer = client.request(method, "/api/report", headers=POST | {"access-control-request-method": "POST"})
        assert answer.status_code == 405
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_large_and_broken_requests_are_rejected(client: TestClient) -> None:
    assert client.post("/api/report", headers=POST, content=b" " * (MOST_BODY + 1)).status_code == 413
    for content in (b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"place": 1}', b'{"place": {}}'):
        assert client.post("/api/report", headers=POST, content=content).status_code == 400
    assert client.get("/" + "a" * 10_000, headers=MINE).status_code == 414


# --- directories ------------------------------------------------------------------------------------------------------

OUTSIDE = [
    *("..", "../secret", "0/..", "0/../secret", "0/a/../../secret", "0/./a", "0//a", "0/", "/0/a", "/etc/passwd"),
    *("//etc/passwd", "0//etc/passwd", "0/\\..\\secret", "..\\secret", "0/%2e%2e/secret", "0/..%2fsecret"),
    *("0/a\0b", "0/\n", "1/a", "99999/a", "-1/a", "٠/a", "0/" + "a/" * 3000, "0/" + "a" * 300, "0/" + "a" * 5000),
    *("0/link", "0/link/run.json", "0/loop", "0/loop/x", "0/.hidden", "C:/x", "file:///etc/passwd", "0/~/x", "~", ""),
    *("0/pipe", "0/leak", "0/nothing"),
]


@pytest.mark.parametrize("place", OUTSIDE)
def test_no_path_leads_out_of_the_directories(client: TestClient, folder: Path, place: str) -> None:
    secret = folder.parent / "secret"
    ll.run(pair(), duration="1 s").save(secret)
    (folder / "link").symlink_to(secret)
    (folder / "loop").symlink_to(folder / "loop")
    (folder / ".hidden").symlink_to(secret)
    os.mkfifo(folder / "pipe")
    # A results directory with a table from elsewhere.
    ll.run(pair(), duration="1 s").save(folder / "leak")
    (folder / "leak" / "trace.parquet").unlink()
    (folder / "leak" / "trace.parquet").symlink_to(secret / "trace.parquet")
    asked = {"place": place, "table": "trace"}
    for path in ("summary", "table", "file", "study"):
        answer = client.get(f"/api/{path}", headers=MINE, params=asked)
        if path == "file" and answer.status_code == 200:
            # A path that exists, but is not a scenario.
            answer_error = answer.json()["error"]
            assert answer_error
            assert not answer.json()["text"]
            continue
        assert answer.status_code in (400, 414), (path, answer.text)
        assert "secret/" not in answer.json()["error"]["message"]
    assert client.post("/api/report", headers=POST, json={"place": place}).status_code == 400
    listed = client.get("/api/results", headers=MINE).json()["entries"]
    assert [entry["place"] for entry in listed] == ["0/leak"]


@pytest.mark.parametrize("path", ["/../secret", "/%2e%2e/secret", "/..%2fsecret", "/assets/../../secret", "//secret"])
def test_no_path_of_the_page_leads_out_of_it(client: TestClient, page: Path, path: str) -> None:
    (page.parent / "secret").write_text("secret")
    (page / "link.html").symlink_to(page.parent / "secret")
    assert client.get(ORIGIN + path).status_code == 404
    assert client.get("/link.html").status_code == 404


def test_links_inside_the_directories_are_followed(client: TestClient, folder: Path) -> None:
    ll.run(pair(), duration="1 s").save(folder / "first")
    (folder / "latest").symlink_to(folder / "first")
    answer = client.get("/api/summary", headers=MINE, params={"place": "0/latest"})
    assert answer.json()["scenario"]["name"] == "pair"


# --- results ----------------------------------------------------------------------------------------------------------


def test_results_are_listed_by_kind(client: TestClient, folder: Path) -> None:
    assert client.get("/api/results", headers=MINE).json() == {"entries": [], "more": False}
    result = ll.run(pair(), duration="2 s")
    result.save(folder / "deep" / "one")
    ll.compare(pair(), ["cubic", "reno"], replications=2, duration="2 s").save(folder / "two")
    (folder / "pair.toml").write_text(PAIR)
    (folder / "three.toml").write_text('scenarios = ["pair.toml"]\ncongestion = ["cubic"]\nreplications = 2\n')
    ll.Study.read(folder / "three.toml").run(out=folder / "three")
    (folder / "other.toml").write_text("a = 1\n")
    (folder / "bad.toml").write_text("a = \n")
    (folder / "broken").mkdir()
    (folder / "broken" / "run.json").write_text('{"result_hash": 3')
    (folder / "paper").mkdir()
    (folder / "paper" / "run.json").write_text('{"reproduction": "cubic-inet"}')
    found = {entry["place"]: entry for entry in client.get("/api/results", headers=MINE).json()["entries"]}
    kinds = {place: entry["kind"] for place, entry in found.items()}
    assert kinds == {
        "0/deep/one": "run",
        "0/two": "comparison",
        "0/three": "study",
        "0/three.toml": "study file",
        "0/pair.toml": "scenario",
        "0/paper": "reproduction",
    }
    assert found["0/deep/one"]["hash"] == result.result_hash
    assert (found["0/two"]["finished"], found["0/two"]["complete"]) == (4, True)
    for place, words in [("0/deep/one", "pair"), ("0/two", "CUBIC"), ("0/three", "cubic")]:
        opened = client.post("/api/report", headers=POST, json={"place": place})
        assert opened.status_code == 200, opened.text
        address = opened.json()["address"]
        answer = client.get(address)
        assert answer.status_code == 200
        assert words.lower() in answer.text.lower()
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("sandbox allow-scripts; default-src 'none';")
        assert "allow-same-origin" not in policy
    assert client.get("/report/guessed").status_code == 404
    state = client.get("/api/study", headers=MINE, params={"place": "0/three.toml", "store": "0/store"}).json()
    assert (state["finished"], state["total"], state["failures"]) == (2, 2, {})


def test_tables_come_as_columns_in_parts(client: TestClient, folder: Path) -> None:
    result = ll.run(pair(), duration="10 s")
    result.save(folder / "one")
    for name in ("trace", "flows", "links", "drops"):
        wanted = result.table(name)
        asked = {"place": "0/one", "table": name}
        head, tables = unpacked(client.get("/api/table", headers=MINE, params=asked).content)
        assert head["total"] == wanted.height
        found = tables[name]
        assert found.columns == wanted.columns
        for column in wanted.columns:
            if wanted[column].dtype.is_numeric():
                numbers = wanted[column].cast(pl.Float64).fill_null(float("nan"))
                assert found[column].equals(numbers.alias(column), null_equal=True), column
            elif wanted[column].dtype == pl.Boolean:
                assert found[column].cast(pl.Boolean).to_list() == wanted[column].to_list()
            else:
                assert found[column].to_list() == wanted[column].cast(pl.String).to_list()
    part = asked = {"place": "0/one", "table": "trace", "first": "3", "rows": "2", "columns": "flow,time_s"}
    head, tables = unpacked(client.get("/api/table", headers=MINE, params=part).content)
    assert tables["trace"]["time_s"].to_list() == result.trace()["time_s"][3:5].to_list()
    assert tables["trace"].columns == ["flow", "time_s"]
    for wrong in (
        {"table": "passwords"},
        {"table": "../trace"},
        {"columns": "nothing"},
        {"rows": "-1"},
        {"first": "x"},
    ):
        assert client.get("/api/table", headers=MINE, params=part | wrong).status_code == 400


def test_the_file_comes_with_what_it_names(folder: Path, page: Path, tmp_path: Path) -> None:
    trace = "time_s,rate_bps\n0,1e6\n"
    (tmp_path / "work").mkdir()
    file = tmp_path / "work" / "pair.toml"
    (tmp_path / "work" / "rate.csv").write_text(trace)
    places = Places.of([folder, tmp_path / "work"])

    def about(name: str) -> dict[str, Any]:
        app = application(Access(8765, TOKEN), places, name, door=Echo, page=page)
        with TestClient(app, f"http://{HOST}") as client:
            found: dict[str, Any] = client.get("/api/about", headers=MINE).json()["file"]
            return found

    file.write_text(PAIR.replace("loss = 1e-3", 'trace = "rate.csv"'))
    found = about(str(file))
    assert (found["error"], found["text"]) == (None, file.read_text())
    assert base64.b64decode(found["files"]["rate.csv"]).decode() == trace
    file.write_text(PAIR.replace("loss = 1e-3", 'trace = "../secret.csv"'))
    assert "outside the directories" in about(str(file))["error"]
    file.write_text(PAIR + 'tcp.congestion.python = "mine.py:Mine"\n')
    assert "is code" in about(str(file))["error"]
    assert about("geo")["text"] == ll.presets.geo().to_toml()
    assert "no such file" in about(str(tmp_path / "work" / "none.toml"))["error"]
    file.write_bytes(b"\xff")
    assert "UTF-8" in about(str(file))["error"]


def test_a_run_gives_its_scenario_back_with_its_files(folder: Path, page: Path, tmp_path: Path) -> None:
    (tmp_path / "rate.csv").write_text("time_s,rate_bps\n0,1e6\n")
    file = tmp_path / "pair.toml"
    file.write_text(PAIR.replace("loss = 1e-3", 'trace = "rate.csv"'))
    made = ll.run(file)
    made.save(folder / "pair")
    (folder / "other").mkdir()
    (folder / "other" / "run.json").write_text('{"study": "s"}')

    def opened(places: Places, place: str) -> dict[str, Any]:
        with TestClient(application(Access(8765, TOKEN), places, door=Echo, page=page), f"http://{HOST}") as client:
            found: dict[str, Any] = client.get("/api/file", params={"place": place}, headers=MINE).json()
            return found

    found = opened(Places.of([folder, tmp_path]), "0/pair")
    assert (found["error"], found["format"]) == (None, "json")
    assert [base64.b64decode(one) for one in found["files"].values()] == [(tmp_path / "rate.csv").read_bytes()]
    (tmp_path / "again.json").write_text(found["text"])
    assert ll.run(tmp_path / "again.json").result_hash == made.result_hash
    # Its file is not read if its directory was not given.
    alone = opened(Places.of([folder]), "0/pair")
    assert "outside the directories" in alone["error"]
    assert alone["files"] == {}
    assert "holds no run" in opened(Places.of([folder]), "0/other")["error"]


# --- the door ---------------------------------------------------------------------------------------------------------


def test_the_door_replies_with_the_id_first(sockets: Socket) -> None:
    with sockets("/door") as door, sockets("/door") as other:
        for number in (0, 7, 2**32 - 1):
            door.send_json({"id": number, "op": "about"})
            other.send_json({"id": 1, "op": "step", "run": number})
            answer = door.receive_bytes()
            assert struct.unpack_from("<I", answer) == (number,)
            assert answer[4:] == Echo().ask('{"op": "about"}')
            assert other.receive_bytes()[4:] == Echo().ask(json.dumps({"op": "step", "run": number}))
        door.send_json({"id": 3, "op": "panic"})
        assert b"fallen over" in door.receive_bytes()
        door.send_json({"id": 4, "op": "about"})
        assert struct.unpack_from("<I", door.receive_bytes()) == (4,)


@pytest.mark.parametrize("path", ["/door", "/tasks"])
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:8765"},
        {"origin": ""},
        {"host": "evil.example:8765"},
        {"host": "evil.example:8765", "origin": "http://evil.example:8765"},
    ],
)
def test_sockets_of_other_pages_are_rejected(sockets: Socket, path: str, headers: dict[str, str]) -> None:
    with pytest.raises(WebSocketDisconnect), sockets(path, **headers):
        pass


@pytest.mark.parametrize("path", ["/door", "/tasks"])
@pytest.mark.parametrize(
    "first",
    [
        '{"token": "wrong"}',
        '{"token": null}',
        '{"token": ["a"]}',
        "{}",
        "[]",
        "x",
        "[" * 50_000,
        '{"id": 1, "op": "about"}',
    ],
)
def test_a_socket_without_the_token_is_closed(sockets: Socket, path: str, first: str) -> None:
    with sockets(path, token=None) as one:
        one.send_text(first)
        with pytest.raises(WebSocketDisconnect) as closed:
            one.receive_text()
        assert closed.value.code == 4401


def test_an_engine_that_cannot_be_created_is_reported(folder: Path, page: Path) -> None:
    def broken() -> Echo:
        raise RuntimeError("no engine today")

    app = application(Access(8765, TOKEN), Places.of([folder]), door=broken, page=page)
    headers = {"host": HOST, "origin": ORIGIN}
    with TestClient(app, ORIGIN) as client, client.websocket_connect("/door", headers=headers) as door:
        door.send_json({"token": TOKEN})
        door.receive_json()
        for number in (1, 2):
            door.send_json({"id": number, "op": "about"})
            assert b"no engine today" in door.receive_bytes()


def test_connections_have_a_limit(sockets: Socket) -> None:
    with ExitStack() as stack:
        for _ in range(MOST_SOCKETS):
            stack.enter_context(sockets("/door"))
        one = stack.enter_context(sockets("/tasks", token=None))
        one.send_json({"token": TOKEN})
        with pytest.raises(WebSocketDisconnect) as closed:
            one.receive_text()
        assert closed.value.code == 4429


@pytest.mark.parametrize("path", ["/door", "/tasks"])
@pytest.mark.parametrize("text", ["", "{", "[]", "1", '{"op": "about"}', '{"id": -1}', '{"id": "a"}', "[" * 50_000])
def test_a_socket_with_bad_json_is_closed(sockets: Socket, path: str, text: str) -> None:
    with sockets(path) as one:
        one.send_text(text)
        with pytest.raises(WebSocketDisconnect) as closed:
            one.receive_bytes()
        assert closed.value.code == 4400


def test_the_door_uses_the_engine_of_this_machine(folder: Path, page: Path) -> None:
    (folder / "rate.csv").write_text("time_s,rate_bps\n0,1e6\n")
    app = application(Access(8765, TOKEN), Places.of([folder]), page=page)
    headers = {"host": HOST, "origin": ORIGIN}

    def ask(**request: Any) -> dict[str, Any]:
        door.send_json({"id": 5} | request)
        answer = door.receive_bytes()
        assert struct.unpack_from("<I", answer) == (5,)
        (length,) = struct.unpack_from("<I", answer, 4)
        head: dict[str, Any] = json.loads(answer[8 : 8 + length])
        return head

    with TestClient(app, ORIGIN) as client, client.websocket_connect("/door", headers=headers) as door:
        door.send_json({"token": TOKEN})
        door.receive_json()
        run = ask(op="start", toml=PAIR)["run"]
        while not ask(op="step", run=run, until_s=30.0, events=10_000)["over"]:
            pass
        assert (
            ask(op="finish", run=run)["summary"]["result_hash"] == ll.run(pair(), duration="30 s", seed=3).result_hash
        )
        # Files of the disk are not there for it.
        for name in (str(folder / "rate.csv"), "/etc/passwd"):
            found = ask(op="check", toml=PAIR.replace("loss = 1e-3", f'trace = "{name}"'))
            assert found["errors"]
            assert "root:" not in json.dumps(found)


# --- code -------------------------------------------------------------------------------------------------------------

CODE = {
    "flow": PAIR + 'congestion = { python = "mine.py:Mine" }\n',
    "flow's tcp": PAIR + 'tcp = { congestion = { plugin = "libmine.so" } }\n',
    "a quoted key": PAIR + 'congestion = { "pyth\\u006fn" = "mine.py:Mine" }\n',
    "queue": PAIR.replace('"50 packets"', '{ limit = "50 packets", python = "mine.py:Mine" }'),
    "a direction": PAIR.replace('"50 packets"', '{ forward = { limit = "5 packets", plugin = "x.so" } }'),
    "defaults": PAIR + '[defaults]\ncongestion = [{ python = "mine.py:Mine" }, "cubic"]\n',
    "traffic": PAIR + 'traffic = { python = "mine.py:Mine" }\n',
}


@pytest.fixture
def code(folder: Path) -> Iterator[None]:
    """Files with code next to the results, which must never run."""
    (folder / "mine.py").write_text(WRITES)
    (folder / "libmine.so").write_bytes(b"")
    yield
    assert not (folder / "was-run").exists()


@pytest.mark.parametrize("case", CODE)
@pytest.mark.usefixtures("code")
def test_code_in_a_scenario_is_rejected(sockets: Socket, case: str) -> None:
    text = CODE[case]
    assert "is code, which the studio never runs" in failure(carried_out(sockets, op="run", scenario=text, base="0"))
    assert "is code" in failure(carried_out(sockets, op="compare", scenarios=[text], base="0"))
    with sockets("/door") as door:
        for op in ("check", "start", "network"):
            door.send_json({"id": 1, "op": op, "toml": text})
            assert b"is code" in door.receive_bytes()


@pytest.mark.usefixtures("code")
def test_code_in_json_and_in_changes_is_rejected(sockets: Socket) -> None:
    flow = {"from": "client", "to": "server", "congestion": {"python": "mine.py:Mine"}}
    text = json.dumps({"duration": "1 s", "links": [], "flows": [flow]})
    assert "is code" in failure(carried_out(sockets, op="run", scenario=text, format="json", base="0"))
    for key, value in [
        ("flows.0.tcp.congestion.python", "mine.py:Mine"),
        ("flows[0].tcp.congestion['python']", "mine.py:Mine"),
        ("flows.0.congestion", '{ python = "mine.py:Mine" }'),
        ("flows.0.congestion", '{ "pyth\\u006fn" = "mine.py:Mine" }'),
        ("flows.0.congestion", {"plugin": "x.so"}),
        ("links.0.trace", "/etc/passwd"),
        ("links.record.trace", "/etc/passwd"),
        ("links.0", '{ trace = "/etc/passwd" }'),
        ("constellation.file", "/etc/passwd"),
    ]:
        found = failure(carried_out(sockets, op="run", scenario=PAIR, sets=[[key, value]], base="0"))
        assert "names a file" in found
        with sockets("/door") as door:
            door.send_json({"id": 1, "op": "check", "toml": PAIR, "sets": [[key, value]]})
            refused = b"is code" if isinstance(value, str) else b"is not a list of pairs of strings"
            assert (refused in door.receive_bytes()) == ("/etc/passwd" not in str(value))
        vary = failure(carried_out(sockets, op="compare", scenarios=[PAIR], vary={key: [value]}, base="0"))
        assert "names a file" in vary
    broken = '{ "\\x70ython" = "mine.py:Mine" }'
    assert "not a TOML value" in failure(carried_out(sockets, op="run", scenario=PAIR, sets=[["flows.0", broken]]))
    with sockets("/door") as door:
        door.send_json({"id": 1, "op": "check", "toml": f"a = {broken}\n{PAIR}"})
        assert b"may name code" in door.receive_bytes()
        door.send_json(
            {"id": 2, "op": "edit", "toml": PAIR, "path": "flows[0].tcp.congestion.python", "value": "m.py:M"}
        )
        assert b"is code" in door.receive_bytes()
    for congestion in (["mine.py:Mine"], ["libmine.so"], [{"python": "mine.py:Mine"}], {"a": "mine.py:Mine"}):
        found = failure(carried_out(sockets, op="compare", scenarios=[PAIR], congestion=congestion, base="0"))
        assert "is code" in found


@pytest.mark.parametrize(
    "study",
    [
        'scenarios = ["code.toml"]\n',
        'scenarios = ["pair.toml"]\ncongestion = ["mine.py:Mine"]\n',
        'scenarios = ["pair.toml"]\n[set]\n"flows.0.tcp.congestion.python" = "mine.py:Mine"\n',
        'scenarios = ["pair.toml"]\n[vary]\n"flows.0.congestion" = ["{ python = \'mine.py:Mine\' }"]\n',
        'scenarios = ["pair.toml"]\n[[axes]]\nkey = "flows.0.tcp.congestion.plugin"\nvalues = ["x.so"]\n',
        'scenarios = ["../secret.toml"]\n',
        'scenarios = ["/etc/passwd"]\n',
    ],
)
@pytest.mark.usefixtures("code")
def test_code_in_a_study_is_rejected(client: TestClient, sockets: Socket, folder: Path, study: str) -> None:
    (folder / "pair.toml").write_text(PAIR)
    (folder / "code.toml").write_text(CODE["flow"])
    (folder.parent / "secret.toml").write_text(PAIR)
    (folder / "study.toml").write_text(study)
    (folder / "store").mkdir()
    (folder / "store" / "store.json").write_text("{}")
    for op in ("watch", "study"):
        found = failure(carried_out(sockets, op=op, study="0/study.toml"))
        assert re.search("is code|names a file|outside the directories", found), found
    assert client.get("/api/study", headers=MINE, params={"place": "0/study.toml"}).status_code == 400


# --- the command ------------------------------------------------------------------------------------------------------


def test_a_port_in_use_is_an_error(lightlag: Lightlag) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = lightlag("studio", "--no-browser", "--port", str(port))
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: --port {port}: cannot be bound")


def test_it_listens_at_the_given_address(lightlag: Lightlag) -> None:
    done = lightlag("studio", "--no-browser", "--listen", "everywhere")
    assert done.returncode == 2
    assert done.stderr.startswith('error: --listen: "everywhere" is not an IPv4 address; write 127.0.0.1, or 0.0.0.0')
    for address in ("127.0.0.1", "0.0.0.0"):
        with listening(0, address) as listener:
            assert listener.getsockname()[0] == address


def test_without_a_port_the_next_free_one_is_taken(folder: Path, page: Path) -> None:
    one, other = Server(folder, page, None), Server(folder, page, None, "nothing.toml")
    assert one.port != other.port
    assert one.token != other.token
    assert one.end() == 0
    # An error in the file is reported, and the server keeps running.
    assert other.end() == 0
    assert "error: nothing.toml: no such file" in other.close()
    assert one.close() == ""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems hide the arguments of processes")
@pytest.mark.parametrize("is_there", [True, False])
def test_the_browser_gets_the_token_in_no_argument(
    tmp_path: Path, page: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    results, told = tmp_path / "results", tmp_path / "told"
    if is_there:
        results.mkdir()
    os.mkfifo(told)
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {told}\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    server = Server(results, page, opens=True)
    try:
        address = told.read_text().strip()
        assert server.token not in address
        file = Path(address.removeprefix("file://"))
        assert file.parent == (results if is_there else tmp_path)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert f"url=http://127.0.0.1:{server.port}/#token={server.token}" in file.read_text()
        assert server.end() == 0
        assert not file.exists()
    finally:
        server.close()


def test_a_path_that_is_not_a_directory_is_an_error(lightlag: Lightlag) -> None:
    done = lightlag("studio", "--no-browser", "--folder", "results", "--folder", "nothing")
    assert done.returncode == 2
    assert "is not a directory" in done.stderr


def test_without_its_packages_the_command_names_all_of_them(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['starlette'] = sys.modules['uvicorn'] = None; sys.argv = ['lightlag', 'studio']\n"
        "from lightlag.cli.app import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: the studio needs starlette")
    assert "uvicorn" in line
    assert "; " in line


def test_everything_missing_is_in_one_message_with_one_command(tmp_path: Path) -> None:
    page, tree = tmp_path / "page", tmp_path / "tree"
    (tree / "crates").mkdir(parents=True)
    (tree / "Makefile").touch()
    absent = ("no_such_server", "no_such_socket")
    everything = "the studio needs no_such_server, no_such_socket and its page, which is not built; "
    both = f"pip install no_such_server no_such_socket && make -C {tree} page"
    assert missing(page, tree, absent) == f"{everything}add what is missing with: {both}"
    assert "pip install lightlag-*.whl" in str(missing(page, tmp_path, absent))
    page.mkdir()
    (page / "index.html").touch()
    assert missing(page, tree, absent[:1]) == (
        "the studio needs no_such_server; add what is missing with: pip install no_such_server"
    )
    assert missing(page, tree) is None


def test_the_command_line_imports_no_server() -> None:
    heavy = {"starlette", "uvicorn", "asyncio", "lightlag.studio"}
    program = f"import sys, lightlag.cli; print(sorted({heavy} & {{*sys.modules}}))"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[]\n"


# --- on the wire ---


def test_bytes_that_no_client_library_sends_are_rejected(server: Server) -> None:
    host = f"127.0.0.1:{server.port}"

    def status(target: str, *headers: str, method: str = "GET") -> int:
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            lines = [f"{method} {target} HTTP/1.1", *headers, "Connection: close", "", ""]
            raw.sendall("\r\n".join(lines).encode("latin-1"))
            answer = http.client.HTTPResponse(raw)
            answer.begin()
            assert b"root:" not in answer.read()
            return answer.status

    mine = (f"Host: {host}", f"Authorization: Bearer {server.token}")
    assert status("/api/about", *mine) == 200
    assert status("/api/about", mine[1]) in (400, 403)
    assert status("/api/about", "Host: evil.example", *mine) in (400, 403)
    assert status("/api/about", f"Host: {host}, evil.example", mine[1]) == 403
    assert status("http://evil.example/api/about", *mine) in (400, 403, 404)
    for target in (
        *("/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd"),
        *("/%00", "/assets/%2e%2e/%2e%2e/x", "/\\..\\..\\etc\\passwd", "/.%2e/x", "/%c0%ae%c0%ae/etc/passwd"),
    ):
        assert status(target, *mine) in (400, 404), target
        place = target.lstrip("/") or "x"
        assert status(f"/api/summary?place=0/{place}", *mine) == 400
    assert status("/" + "a" * 9000, *mine) in (400, 414)
    assert status("/api/about", *mine, "Origin: https://evil.example") == 403


def test_sockets_on_the_wire_need_origin_and_token(server: Server) -> None:
    for origin in ("https://evil.example", "null", f"http://localhost:{server.port}"):
        with pytest.raises(InvalidStatus) as refused:
            server.socket("/tasks", origin=origin)
        assert refused.value.response.status_code == 403
    for path in ("/door", "/tasks"):
        with pytest.raises(ConnectionClosed) as closed:
            server.socket(path, token="wrong")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401


def test_a_message_that_is_too_large_ends_its_connection_alone(server: Server) -> None:
    with server.socket("/door") as other:
        with server.socket("/door") as one:
            # The server closes it while the client still sends, which some clients do not treat as an orderly end.
            with suppress(ConnectionClosed):
                one.send("x" * (MOST_MESSAGE + 1))
            with pytest.raises(ConnectionClosed):
                one.recv()
        other.send('{"id": 1, "op": "about"}')
        assert other.recv()[4:] == Echo().ask('{"op": "about"}')
