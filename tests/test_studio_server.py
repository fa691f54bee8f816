"""The server of the studio: what it answers, what it refuses, and what becomes of its runs."""

from __future__ import annotations

import base64
import gzip
import http.client
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

import lightlag as ll
from conftest import PAIR, Lightlag, pair
from lightlag.errors import InputError
from lightlag.studio.guard import MOST_BODY, Access
from lightlag.studio.places import Places
from lightlag.studio.server import application
from lightlag.studio.sockets import MOST_MESSAGE

TOKEN = "a-token-of-this-test"
HOST = "127.0.0.1:8765"
ORIGIN = f"http://{HOST}"
MINE = {"authorization": f"Bearer {TOKEN}", "host": HOST}
POST = MINE | {"origin": ORIGIN}
ENDLESS = (
    PAIR.replace('"30 s"', '"100000000 s"').replace('transfer = "2 MB"\n', "")
    + """
[record]
trace = "off"
queue = "off"
drops = false
"""
)
WRITES = "from pathlib import Path\nPath(__file__).with_name('was-run').touch()\n"
"""Code that leaves a file when it is run."""


class Echo:
    """Stands in for the engine: it answers with the request."""

    def ask(self, request: str) -> bytes:
        head = json.dumps({"asked": json.loads(request)}).encode()
        if b'"panic"' in head:
            raise RuntimeError("the engine has fallen over")
        return struct.pack("<I", len(head)) + head + bytes(-(4 + len(head)) % 8)


Socket = Callable[..., AbstractContextManager[WebSocketTestSession]]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>lightlag</title>")
    (folder / "assets" / "engine.wasm").write_bytes(b"\0asm" + bytes(5000))
    (folder / "assets" / "app.js").write_text("export {};\n" * 300)
    (folder / "assets" / "app.js.br").write_bytes(b"brotli, as the build wrote it")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "results").mkdir()
    return tmp_path / "results"


@pytest.fixture
def client(folder: Path, page: Path) -> Iterator[TestClient]:
    with TestClient(application(Access(8765, TOKEN), Places.of([folder]), door=Echo, page=page), f"http://{HOST}") as c:
        yield c


@pytest.fixture
def sockets(client: TestClient) -> Socket:
    def opened(path: str, token: str | None = TOKEN, **headers: str) -> AbstractContextManager[WebSocketTestSession]:
        @contextmanager
        def session() -> Iterator[WebSocketTestSession]:
            with client.websocket_connect(path, headers={"host": HOST, "origin": ORIGIN} | headers) as one:
                if token is not None:
                    one.send_json({"token": token})
                    assert one.receive_json() == {"event": "welcome"}
                yield one

        made: AbstractContextManager[WebSocketTestSession] = session()
        return made

    return opened


def events(task: WebSocketTestSession, number: int = 1) -> list[dict[str, Any]]:
    """The events of a task up to its end."""
    found = []
    while not found or found[-1]["event"] != "end":
        found.append(task.receive_json())
        assert found[-1].pop("id") == number
    return found


def carried_out(sockets: Socket, **request: Any) -> list[dict[str, Any]]:
    with sockets("/tasks") as task:
        task.send_json({"id": 1} | request)
        return events(task)


def failure(found: list[dict[str, Any]]) -> str:
    assert [event["event"] for event in found] == ["failed", "end"]
    return str(found[0]["message"])


def unpacked(answer: bytes) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
    """The head of an answer, and its tables."""
    (length,) = struct.unpack_from("<I", answer)
    head = json.loads(answer[4 : 4 + length])
    start = (4 + length + 7) // 8 * 8
    forms = {"f64": ("d", 8), "u32": ("I", 4), "u8": ("B", 1)}
    tables = {}
    for name, table in head["tables"].items():
        columns: dict[str, list[Any]] = {}
        for column in table["columns"]:
            letter, size = forms[column["type"]]
            assert column["at"] % size == 0
            values = struct.unpack_from(f"<{table['rows']}{letter}", answer, start + column["at"])
            names = column.get("names")
            columns[column["name"]] = (
                [names[one] if one < len(names) else None for one in values] if names is not None else [*values]
            )
        tables[name] = pl.DataFrame(columns)
    return head, tables


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


def test_without_a_page_the_error_says_how_to_build_it(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no page; build it .* make studio"):
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
    "a site beside": ({"sec-fetch-site": "same-site"}, 403),
    "no token": ({"authorization": ""}, 401),
    "a wrong token": ({"authorization": "Bearer wrong"}, 401),
    "a part of the token": ({"authorization": f"Bearer {TOKEN[:-1]}"}, 401),
    "the token without its kind": ({"authorization": TOKEN}, 401),
    "another kind": ({"authorization": f"Basic {TOKEN}"}, 401),
    "a token in other letters": ({"authorization": "Bearer \xfc\xff"}, 401),
}


@pytest.mark.parametrize("case", REFUSED_HEADERS)
def test_requests_of_others_are_refused(client: TestClient, case: str) -> None:
    headers, status = REFUSED_HEADERS[case]
    raw = [(name, value.encode("latin-1")) for name, value in (MINE | headers).items()]
    answer = client.get("/api/about", headers=raw)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]
    assert str(Path.cwd()) not in answer.text


def test_both_names_of_this_machine_are_answered(client: TestClient) -> None:
    for host in (HOST, "localhost:8765", "LOCALHOST:8765"):
        assert client.get("/api/about", headers=MINE | {"host": host}).json()["version"] == ll.__version__
    assert client.get("/api/about", headers=MINE | {"origin": ORIGIN}).status_code == 200


def test_a_change_must_name_our_origin(client: TestClient) -> None:
    for origin in (None, "null", "https://evil.example", "http://localhost:8765"):
        headers = MINE | ({} if origin is None else {"origin": origin})
        assert client.post("/api/report", headers=headers, json={"place": "0/x"}).status_code == 403
    assert client.post("/api/report", headers=POST, json={"place": "0/x"}).status_code == 400


def test_other_methods_and_preflights_are_refused(client: TestClient) -> None:
    for method in ("OPTIONS", "PUT", "DELETE", "PATCH", "TRACE"):
        answer = client.request(method, "/api/report", headers=POST | {"access-control-request-method": "POST"})
        assert answer.status_code == 405
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_large_and_broken_requests_are_refused(client: TestClient) -> None:
    assert client.post("/api/report", headers=POST, content=b" " * (MOST_BODY + 1)).status_code == 413
    for content in (b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"place": 1}', b'{"place": {}}'):
        assert client.post("/api/report", headers=POST, content=content).status_code == 400
    assert client.get("/" + "a" * 10_000, headers=MINE).status_code == 414


# --- folders ----------------------------------------------------------------------------------------------------------

OUTSIDE = [
    *("..", "../secret", "0/..", "0/../secret", "0/a/../../secret", "0/./a", "0//a", "0/", "/0/a", "/etc/passwd"),
    *("//etc/passwd", "0//etc/passwd", "0/\\..\\secret", "..\\secret", "0/%2e%2e/secret", "0/..%2fsecret"),
    *("0/a\0b", "0/\n", "1/a", "99999/a", "-1/a", "٠/a", "0/" + "a/" * 3000, "0/" + "a" * 300, "0/" + "a" * 5000),
    *("0/link", "0/link/run.json", "0/loop", "0/loop/x", "0/.hidden", "C:/x", "file:///etc/passwd", "0/~/x", "~", ""),
    *("0/pipe", "0/leak", "0/nothing"),
]


@pytest.mark.parametrize("place", OUTSIDE)
def test_no_place_leads_out_of_the_folders(client: TestClient, folder: Path, place: str) -> None:
    secret = folder.parent / "secret"
    ll.run(pair(), duration="1 s").save(secret)
    (folder / "link").symlink_to(secret)
    (folder / "loop").symlink_to(folder / "loop")
    (folder / ".hidden").symlink_to(secret)
    os.mkfifo(folder / "pipe")
    # A folder of results with a table from elsewhere.
    ll.run(pair(), duration="1 s").save(folder / "leak")
    (folder / "leak" / "trace.parquet").unlink()
    (folder / "leak" / "trace.parquet").symlink_to(secret / "trace.parquet")
    asked = {"place": place, "table": "trace"}
    for path in ("summary", "table", "file", "study"):
        answer = client.get(f"/api/{path}", headers=MINE, params=asked)
        if path == "file" and answer.status_code == 200:
            # A place that is there, but no scenario.
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


def test_links_inside_the_folders_are_followed(client: TestClient, folder: Path) -> None:
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
    study = {"scenarios": [pair().scenario().to_dict()], "congestion": ["cubic"], "replications": 2}
    (folder / "three.toml").write_text('scenarios = ["pair.toml"]\ncongestion = ["cubic"]\nreplications = 2\n')
    ll.Study(study["scenarios"], congestion=["cubic"], replications=2, name="three").run(out=folder / "three")
    (folder / "pair.toml").write_text(PAIR)
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
        address = client.post("/api/report", headers=POST, json={"place": place}).json()["address"]
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
        wanted = result.table(name)  # type: ignore[arg-type]
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
    assert "outside of the folders" in about(str(file))["error"]
    file.write_text(PAIR + 'tcp.congestion.python = "mine.py:Mine"\n')
    assert "is code" in about(str(file))["error"]
    assert about("geo")["text"] == ll.presets.geo().to_toml()
    assert "is not there" in about(str(tmp_path / "work" / "none.toml"))["error"]
    file.write_bytes(b"\xff")
    assert "UTF-8" in about(str(file))["error"]


# --- the door ---------------------------------------------------------------------------------------------------------


def test_the_door_answers_with_the_id_in_front(sockets: Socket) -> None:
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
def test_sockets_of_other_pages_are_refused(sockets: Socket, path: str, headers: dict[str, str]) -> None:
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


@pytest.mark.parametrize("path", ["/door", "/tasks"])
@pytest.mark.parametrize("text", ["", "{", "[]", "1", '{"op": "about"}', '{"id": -1}', '{"id": "a"}', "[" * 50_000])
def test_a_socket_with_bad_json_is_closed(sockets: Socket, path: str, text: str) -> None:
    with sockets(path) as one:
        one.send_text(text)
        with pytest.raises(WebSocketDisconnect) as closed:
            one.receive_bytes()
        assert closed.value.code == 4400


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
    """Files with code beside the results, which nobody may run."""
    (folder / "mine.py").write_text(WRITES)
    (folder / "libmine.so").write_bytes(b"")
    yield
    assert not (folder / "was-run").exists()


@pytest.mark.parametrize("case", CODE)
@pytest.mark.usefixtures("code")
def test_code_in_a_scenario_is_refused(sockets: Socket, case: str) -> None:
    text = CODE[case]
    assert "is code, which the page never runs" in failure(carried_out(sockets, op="run", scenario=text, base="0"))
    assert "is code" in failure(carried_out(sockets, op="compare", scenarios=[text], base="0"))
    with sockets("/door") as door:
        for op in ("check", "start", "network"):
            door.send_json({"id": 1, "op": op, "toml": text})
            assert b"is code" in door.receive_bytes()


@pytest.mark.usefixtures("code")
def test_code_in_json_and_in_changes_is_refused(sockets: Socket) -> None:
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
            assert (b"is code" in door.receive_bytes()) == ("/etc/passwd" not in str(value))
        vary = failure(carried_out(sockets, op="compare", scenarios=[PAIR], vary={key: [value]}, base="0"))
        assert "names a file" in vary
    broken = '{ "\\x70ython" = "mine.py:Mine" }'
    assert "no value of TOML" in failure(carried_out(sockets, op="run", scenario=PAIR, sets=[["flows.0", broken]]))
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
def test_code_in_a_study_is_refused(client: TestClient, sockets: Socket, folder: Path, study: str) -> None:
    (folder / "pair.toml").write_text(PAIR)
    (folder / "code.toml").write_text(CODE["flow"])
    (folder.parent / "secret.toml").write_text(PAIR)
    (folder / "study.toml").write_text(study)
    (folder / "store").mkdir()
    (folder / "store" / "store.json").write_text("{}")
    found = failure(carried_out(sockets, op="watch", study="0/study.toml"))
    assert re.search("is code|names a file|outside of the folders", found), found
    assert client.get("/api/study", headers=MINE, params={"place": "0/study.toml"}).status_code == 400


# --- runs -------------------------------------------------------------------------------------------------------------


def test_runs_are_those_of_the_command_line(sockets: Socket, folder: Path) -> None:
    found = carried_out(
        sockets, op="run", scenario=PAIR, seeds=[3, 4, 3], sets=[["links.0.loss", 1e-2]], duration="9 s"
    )
    results = [event for event in found if event["event"] == "result"]
    assert sorted(event["place"] for event in results) == ["0/pair-seed3", "0/pair-seed4"]
    for event in results:
        wanted = ll.run(pair(), sets={"links.0.loss": 1e-2}, seed=event["seed"], duration="9 s")
        assert event["result_hash"] == wanted.result_hash
        assert ll.load(folder / event["place"].removeprefix("0/")).result_hash == wanted.result_hash
    assert found[0]["event"] == "start"
    assert found[0]["total"] == 2
    assert found[-1] == {"event": "end", "cancelled": False}
    # Nothing is replaced.
    again = [carried_out(sockets, op="run", scenario=PAIR, duration="9 s") for _ in range(2)]
    places = [event["place"] for one in again for event in one if event["event"] == "result"]
    assert places == ["0/pair", "0/pair-2"]


def test_files_that_come_along_are_kept_for_another_run(sockets: Socket, folder: Path, lightlag: Lightlag) -> None:
    text = PAIR.replace("loss = 1e-3", 'trace = "../rate.csv"')
    files = {"../rate.csv": base64.b64encode(b"time_s,rate_bps\n0,1e6\n5,2e6\n").decode()}
    found = carried_out(sockets, op="run", scenario=text, files=files, duration="9 s")
    (result,) = [event for event in found if event["event"] == "result"]
    done = lightlag("run", folder / "pair", "--out", "again", "--json")
    assert json.loads(done.stdout)["result_hash"] == result["result_hash"]
    assert "did not come with" in failure(carried_out(sockets, op="run", scenario=text))
    assert "outside of the folders" in failure(carried_out(sockets, op="run", scenario=text, base="0"))
    assert "base 64" in failure(carried_out(sockets, op="run", scenario=text, files={"../rate.csv": "%"}))


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../secret.csv", "link.csv", "pipe", ".", "/dev/zero", "a\0b", "none.csv"]
)
def test_a_trace_from_elsewhere_is_refused(sockets: Socket, folder: Path, name: str) -> None:
    (folder.parent / "secret.csv").write_text("time_s,rate_bps\n0,1e6\n")
    (folder / "link.csv").symlink_to(folder.parent / "secret.csv")
    os.mkfifo(folder / "pipe")
    quoted = json.dumps(name)
    for trace in (
        quoted,
        f"{{ file = {quoted} }}",
        f"{{ forward = {quoted} }}",
        f"{{ backward = {{ file = {quoted} }} }}",
    ):
        text = PAIR.replace("loss = 1e-3", f"trace = {trace}")
        found = carried_out(sockets, op="run", scenario=text, base="0")
        assert re.search(
            "outside of the folders|is no file|is not there|neither|cannot be read|can be read", failure(found)
        )
        assert found[0]["errors"][0]["path"].startswith("links[0].trace")


def test_mistakes_are_told_with_their_places(sockets: Socket) -> None:
    found = carried_out(sockets, op="run", scenario=PAIR.replace('"5 Mbit/s"', '"5 apples"'))
    assert [event["event"] for event in found] == ["failed", "end"]
    assert found[0]["errors"][0]["path"] == "links[0].rate"
    for request, words in [
        ({"op": "run"}, "is no text"),
        ({"op": "run", "scenario": "a = "}, "is no TOML"),
        ({"op": "run", "scenario": "[]", "format": "json"}, "is no table"),
        ({"op": "run", "scenario": PAIR, "seeds": [-1]}, "seeds"),
        ({"op": "run", "scenario": PAIR, "seeds": "1"}, "seeds"),
        ({"op": "run", "scenario": PAIR, "jobs": 0}, "jobs"),
        ({"op": "run", "scenario": PAIR, "threads": True}, "threads"),
        ({"op": "run", "scenario": PAIR, "sets": [1]}, "sets"),
        ({"op": "run", "scenario": PAIR, "files": []}, "files"),
        ({"op": "run", "scenario": PAIR, "out": "/tmp/x"}, "out"),
        ({"op": "run", "scenario": PAIR, "base": "../.."}, "name of a place"),
        ({"op": "compare", "scenarios": []}, "scenarios"),
        ({"op": "compare", "scenarios": [PAIR], "congestion": ["cubix"]}, "cubix"),
        ({"op": "compare", "scenarios": [PAIR], "replications": "many"}, "replications"),
        ({"op": "watch", "study": "0/none.toml"}, "is not there"),
        ({"op": "fly"}, "op"),
        ({}, "op"),
    ]:
        assert words in failure(carried_out(sockets, **request))


def test_a_name_of_a_scenario_leads_nowhere(sockets: Socket, folder: Path) -> None:
    before = set(folder.parent.iterdir())
    text = PAIR.replace('"pair"', '"../../up"')
    found = carried_out(sockets, op="run", scenario=text, duration="1 s")
    assert {path.name for path in folder.iterdir() if path.is_dir()} <= {"up"}
    assert found[-1]["event"] == "end"
    assert set(folder.parent.iterdir()) == before


def test_a_comparison_is_that_of_the_command_line(sockets: Socket, folder: Path) -> None:
    vary = {"links.0.loss": [0.0, 1e-2]}
    request = {
        "scenarios": [PAIR],
        "congestion": ["cubic", "hybla"],
        "vary": vary,
        "replications": 3,
        "duration": "9 s",
    }
    found = carried_out(sockets, op="compare", **request)
    (result,) = [event for event in found if event["event"] == "result"]
    wanted = ll.compare(pair(), ["cubic", "hybla"], vary=vary, replications=3, duration="9 s", seed=3)
    assert pl.DataFrame(result["summary"])["mean"].to_list() == wanted.summary.fill_nan(None)["mean"].to_list()
    assert [event["finished"] for event in found if event["event"] == "progress"] == list(range(1, 13))
    assert ll.load_comparison(folder / "pair-compare").summary.equals(wanted.summary, null_equal=True)
    assert (folder / "pair-compare" / "report.html").is_file()


def test_a_study_is_watched_to_its_end(sockets: Socket, folder: Path) -> None:
    (folder / "pair.toml").write_text(PAIR)
    (folder / "short.toml").write_text('scenarios = ["pair.toml"]\ncongestion = ["cubic", "reno"]\nreplications = 3\n')
    study = ll.Study.read(folder / "short.toml")
    assert "has no store yet" in failure(carried_out(sockets, op="watch", study="0/short.toml"))
    ll.Study([str(folder / "pair.toml")], congestion=["cubic"], replications=3).run(
        out=folder / "part", store=folder / "store"
    )
    with sockets("/tasks") as task:
        task.send_json({"id": 1, "op": "watch", "study": "0/short.toml"})
        first = task.receive_json()
        assert (first["event"], first["finished"], first["total"]) == ("status", 3, 6)
        study.run(out=folder / "short", store=folder / "store")
        found = events(task)
    assert (found[-2]["finished"], found[-2]["total"]) == (6, 6)
    assert found[-1] == {"event": "end", "cancelled": False}


# --- on real sockets --------------------------------------------------------------------------------------------------


class Server:
    """The server in a process of its own."""

    def __init__(self, folder: Path, page: Path, *more: str) -> None:
        program = (
            "import sys; from pathlib import Path; from test_studio_server import Echo\n"
            "from lightlag.studio.server import serve\n"
            "serve(None, [Path(sys.argv[1])], 0, opens=False, door=Echo, page=Path(sys.argv[2]))"
        )
        path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, str(folder), str(page)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )
        assert self.process.stdout is not None
        found = re.match(r"lightlag studio: http://127\.0\.0\.1:(\d+)/#token=([\w-]+)$", self.process.stdout.readline())
        assert found is not None
        self.port, self.token = int(found[1]), found[2]
        assert len(self.token) >= 32

    @property
    def workers(self) -> list[int]:
        """Processes of tasks."""
        number = self.process.pid
        return [int(one) for one in Path(f"/proc/{number}/task/{number}/children").read_text().split()]

    def socket(self, path: str, token: str | None = None, origin: str | None = None) -> ClientConnection:
        found = connect(
            f"ws://127.0.0.1:{self.port}{path}",
            origin=f"http://127.0.0.1:{self.port}" if origin is None else origin,  # type: ignore[arg-type]
            max_size=None,
            compression=None,
        )
        found.send(json.dumps({"token": self.token if token is None else token}))
        assert json.loads(found.recv()) == {"event": "welcome"}
        return found

    def end(self) -> int:
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGINT)
        return self.process.wait()


@pytest.fixture
def server(folder: Path, page: Path) -> Iterator[Server]:
    one = Server(folder, page)
    yield one
    one.process.kill()
    one.process.wait()
    assert one.process.stdout is not None
    one.process.stdout.close()


def until(socket: ClientConnection, kind: str) -> dict[str, Any]:
    """The next event of a kind."""
    while True:
        event: dict[str, Any] = json.loads(socket.recv())
        if event["event"] == kind:
            return event


def gone(process: int) -> None:
    """Waits until a process has ended."""
    with suppress(ProcessLookupError):
        handle = os.pidfd_open(process)
        select.select([handle], [], [])
        os.close(handle)


def test_bytes_that_no_client_library_sends_are_refused(server: Server) -> None:
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
            one.send("x" * (MOST_MESSAGE + 1))
            with pytest.raises(ConnectionClosed) as closed:
                one.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
        other.send('{"id": 1, "op": "about"}')
        assert other.recv()[4:] == Echo().ask('{"op": "about"}')  # type: ignore[comparison-overlap]


def test_two_clients_run_at_the_same_time_and_one_cancels(server: Server, folder: Path) -> None:
    with server.socket("/tasks") as one, server.socket("/tasks") as other:
        for client in (one, other):
            client.send(json.dumps({"id": 1, "op": "run", "scenario": ENDLESS}))
        for client in (one, other):
            until(client, "progress")
        # Of another client.
        other.send(json.dumps({"id": 2, "op": "cancel"}))
        one.send(json.dumps({"id": 1, "op": "cancel"}))
        result = until(one, "result")
        assert result["interrupted"]
        assert until(one, "end")["cancelled"]
        assert ll.load(folder / result["place"].removeprefix("0/")).interrupted
        until(other, "progress")
        (worker,) = server.workers
        # Its client is gone without a word.
        other.socket.shutdown(socket.SHUT_RDWR)
        gone(worker)
    kept = {path.name: ll.load(path).interrupted for path in folder.iterdir() if (path / "run.json").exists()}
    assert kept == {"pair": True, "pair-2": True}
    assert server.workers == []
    assert server.end() == 0


def test_a_killed_worker_is_told_and_the_rest_goes_on(server: Server) -> None:
    with server.socket("/tasks") as one:
        one.send(json.dumps({"id": 1, "op": "run", "scenario": ENDLESS}))
        until(one, "progress")
        (worker,) = server.workers
        os.kill(worker, signal.SIGKILL)
        assert "signal 9" in until(one, "failed")["message"]
        assert not until(one, "end")["cancelled"]
        one.send(json.dumps({"id": 1, "op": "run", "scenario": PAIR, "duration": "1 s"}))
        assert until(one, "result")["place"].startswith("0/pair")
    assert server.workers == []


def test_a_comparison_that_was_cancelled_goes_on(server: Server, folder: Path) -> None:
    request = {"id": 1, "op": "compare", "scenarios": [PAIR], "congestion": ["cubic", "hybla"], "replications": 2000}
    with server.socket("/tasks") as one:
        one.send(json.dumps(request | {"jobs": 1}))
        until(one, "progress")
        (worker,) = server.workers
        one.send(json.dumps({"id": 1, "op": "cancel"}))
        result = until(one, "result")
        until(one, "end")
        finished = result["finished"]
        assert 0 < finished < 4000
        assert not result["complete"]
        assert not ll.load_comparison(folder / "pair-compare").is_complete
        gone(worker)
        # What a killed worker had finished is kept, too.
        one.send(json.dumps(request | {"jobs": 1}))
        more = until(one, "progress")["finished"]
        assert more == finished + 1
        (worker,) = server.workers
        os.kill(worker, signal.SIGKILL)
        until(one, "end")
        one.send(json.dumps(request | {"jobs": 1}))
        assert until(one, "progress")["finished"] > more
    gone(server.workers[0]) if server.workers else None
    assert not ll.load_comparison(folder / "pair-compare").is_complete


def test_ctrl_c_keeps_the_records_of_runs(server: Server, folder: Path) -> None:
    with server.socket("/tasks") as one:
        one.send(json.dumps({"id": 1, "op": "run", "scenario": ENDLESS}))
        until(one, "progress")
        (worker,) = server.workers
        assert server.end() == 0
        gone(worker)
    assert ll.load(folder / "pair").interrupted
    assert server.process.stdout is not None
    assert server.process.stdout.read().endswith("stopped\n")


def test_a_killed_server_leaves_no_worker(server: Server, folder: Path) -> None:
    with server.socket("/tasks") as one:
        one.send(json.dumps({"id": 1, "op": "run", "scenario": ENDLESS}))
        until(one, "progress")
        (worker,) = server.workers
        server.process.kill()
        gone(worker)
    assert ll.load(folder / "pair").interrupted


# --- the command ------------------------------------------------------------------------------------------------------


def test_a_port_in_use_is_an_error(lightlag: Lightlag) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = lightlag("studio", "--no-browser", "--port", str(port))
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: --port {port}: cannot be had")


def test_a_folder_that_is_none_is_an_error(lightlag: Lightlag) -> None:
    done = lightlag("studio", "--no-browser", "--folder", "results", "--folder", "nothing")
    assert done.returncode == 2
    assert "is no folder" in done.stderr


def test_without_the_extra_the_error_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['uvicorn'] = None; sys.argv = ['lightlag', 'studio']\n"
        "from lightlag.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert done.stderr == 'error: the studio needs uvicorn; pip install "lightlag[studio]"\n'


def test_the_command_line_imports_no_server() -> None:
    heavy = {"starlette", "uvicorn", "asyncio", "lightlag.studio"}
    program = f"import sys, lightlag.cli; print(sorted({heavy} & {{*sys.modules}}))"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[]\n"
