"""Page loads that browsers recorded as HAR: the objects of the page, their dependencies, and the path."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import lightlag as ll
from lightlag.cli.app import app
from lightlag.errors import InputError
from lightlag.imports import Options, Page, kind_of, to_scenario

START = datetime(2026, 1, 31, 12, tzinfo=UTC)


def entry(start_ms: float, url: str = "https://example.org/a", **given: Any) -> dict[str, Any]:
    """A request that took 100 ms over HTTP/2, unless other keys are given; phases are keys of ``timings``."""
    phases = {"send": 0, "wait": 60, "receive": 40} | given.pop("timings", {})
    response = {"status": 200, "httpVersion": "h2", "headersSize": 200, "bodySize": 10_000} | given.pop("response", {})
    content = {"content": {"size": 20_000, "mimeType": given.pop("mime", "image/png")}}
    return {
        "startedDateTime": (START + timedelta(milliseconds=start_ms)).isoformat().replace("+00:00", "Z"),
        "time": sum(length for phase, length in phases.items() if phase != "ssl" and length > 0),
        "request": {"url": url, "headersSize": 300, "bodySize": 0} | given.pop("request", {}),
        "response": content | response,
        "timings": phases,
    } | given


FIRST: dict[str, Any] = {
    "timings": {"dns": 30, "connect": 80, "ssl": 40, "send": 1, "wait": 69, "receive": 20},
    "mime": "text/html",
}
"""Keys of a request over a new connection: a lookup of 30 ms, and 40 ms for TCP and for TLS; it takes 200 ms."""


def log(*entries: dict[str, Any], **given: Any) -> str:
    return json.dumps({"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": entries} | given})


def imported(folder: Path, text: str, **options: str) -> Page:
    (folder / "page.har").write_text(text)
    return to_scenario(folder / "page.har", options=Options(**options))  # type: ignore[arg-type]


def objects(page: Page) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(page.files[f"{page.name}-page.json"])["objects"]
    return listed


def run(folder: Path, page: Page) -> ll.Result:
    for name, text in {f"{page.name}.toml": page.text, **page.files}.items():
        (folder / name).write_text(text)
    return ll.run(folder / f"{page.name}.toml", seed=1)


def test_a_page_becomes_a_scenario(tmp_path: Path) -> None:
    urls = ["https://example.org/index.html", "https://example.org/a.css?v=1", "https://cdn.example.org/b.js"]
    page = imported(
        tmp_path,
        log(
            entry(0, urls[0], **FIRST),
            entry(205, urls[1], mime="text/css", _initiator={"type": "parser", "url": urls[0]}, _priority="VeryHigh"),
            entry(330, urls[2], mime="text/javascript", timings={"wait": 30}, _initiator=urls[1]),
            entry(340, "https://example.org/c/?q", request={"headersSize": -1}),
        ),
    )
    assert objects(page) == [
        {
            "id": "0-index.html", "size": 10_200, "request": 300, "type": "document", "host": "example.org",
            "after": [], "server_time": "30 ms",
        },
        {
            "id": "1-a.css", "size": 10_200, "request": 300, "type": "css", "urgency": 0, "host": "example.org",
            "after": ["0-index.html"], "delay": "5 ms", "server_time": "20 ms",
        },
        # 305 ms is the end of a.css. A wait below a round trip is none of the server.
        {
            "id": "2-b.js", "size": 10_200, "request": 300, "type": "script", "host": "cdn.example.org",
            "after": ["1-a.css"], "delay": "25 ms",
        },
        # Without an initiator: the object that ended last before.
        {
            "id": "3-image", "size": 10_200, "type": "image", "host": "example.org",
            "after": ["1-a.css"], "delay": "35 ms", "server_time": "20 ms",
        },
    ]  # fmt: skip
    scenario = tomllib.loads(page.text)
    assert scenario["links"][0]["delay"] == "20 ms"
    assert scenario["flows"] == [
        {
            "from": "server",
            "to": "client",
            "traffic": {"kind": "page", "file": "page-page.json", "http": "2", "count": 1},
            "setup": {"dns": "lookup", "dns_time": "30 ms", "tls": "1.3"},
        }
    ]
    for part in ("A page of 4 objects on 2 hosts", "arrived after 0.44 s", "TLS handshakes took 1 round trips"):
        assert part in page.text
    assert run(tmp_path, page).summary["flows"][0]["pages"]["count"] == 1


def test_the_rate_is_the_one_of_the_busiest_interval(tmp_path: Path) -> None:
    # 100 kB in 100 ms are 8 Mbit/s, with headers 8 · 1500/1448 = 8.287 Mbit/s. Two round trips are 80 ms.
    big: dict[str, Any] = {"response": {"bodySize": 99_800}, "timings": {"wait": 60, "receive": 100}}
    page = imported(tmp_path, log(entry(0, **FIRST), entry(300, **big), entry(500, response={"bodySize": 1000})))
    # The times of the file are exact to 1 µs.
    rate = float(tomllib.loads(page.text)["links"][0]["rate"].removesuffix(" Mbit/s"))
    assert rate == pytest.approx(8 * 1500 / 1448, rel=1e-4)
    assert "busiest 100 ms; the link may be faster" in page.text
    given = imported(tmp_path, log(entry(0, **FIRST)), rate="50 Mbit/s", delay="300 ms")
    link = tomllib.loads(given.text)["links"][0]
    assert (link["rate"], link["delay"]) == ("50 Mbit/s", "300 ms")
    # The time of the server is of the measured path, not of the given one.
    assert objects(given)[0]["server_time"] == "30 ms"


@pytest.mark.parametrize(
    ("keys", "size"),
    [
        ({}, 10_200),
        ({"_transferSize": 7_777}, 7_777),
        ({"_transferSize": -1}, 10_200),
        ({"headersSize": -1}, 10_000),
        ({"headersSize": -1, "headers": [{"name": "server", "value": "abc"}]}, 10_000 + len("server: abc\r\n")),
        ({"bodySize": -1}, 20_200),
        ({"bodySize": -1, "content": {"size": 20_000, "compression": 15_000}}, 5_200),
        ({"bodySize": 0, "status": 302, "content": {"size": 0}}, 200),
    ],
)
def test_sizes_are_of_the_transferred_bytes(tmp_path: Path, keys: dict[str, Any], size: int) -> None:
    page = imported(tmp_path, log(entry(0, response=keys)))
    assert objects(page)[0]["size"] == size
    assert ("may be too large" in page.text) == (size == 20_200)


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"response": {"status": 304}}, "from the cache"),
        ({"_fromCache": "memory"}, "from the cache"),
        ({"response": {"_transferSize": 0}}, "from the cache"),
        ({"response": {"headersSize": -1, "bodySize": 0}}, "from the cache"),
        ({"timings": {"wait": 0, "receive": 0}}, "from the cache"),
        ({"response": {"status": 0}}, "that failed"),
        ({"response": {"_error": "net::ERR_ABORTED"}}, "that failed"),
        ({"url": "data:image/png;base64,AA"}, "without HTTP"),
        ({"url": "wss://example.org/live"}, "without HTTP"),
        ({"response": {"status": 101}}, "without HTTP"),
    ],
)
def test_what_no_server_sent_is_left_out(tmp_path: Path, keys: dict[str, Any], reason: str) -> None:
    page = imported(tmp_path, log(entry(0, **FIRST), entry(300, **keys)))
    assert len(objects(page)) == 1
    assert f"left out: 1 {reason}." in page.text
    with pytest.raises(InputError, match=rf"none of 1 requests has a response .* \(1 {reason}\); record the page"):
        imported(tmp_path, log(entry(300, **keys)))


def test_the_first_page_up_to_its_load_event_counts(tmp_path: Path) -> None:
    timings = {"onContentLoad": -1, "onLoad": 450}
    pages = [
        {"id": "none", "startedDateTime": START.isoformat(), "pageTimings": {}},
        {"id": "one", "startedDateTime": START.isoformat(), "pageTimings": timings},
        {"id": "two", "startedDateTime": START.isoformat(), "pageTimings": timings},
    ]
    entries = [
        entry(50, pageref="one", **FIRST), entry(400, pageref="one"), entry(460, pageref="one"), entry(0, pageref="two")
    ]  # fmt: skip
    page = imported(tmp_path, log(*entries, pages=pages))
    assert [one["id"] for one in objects(page)] == ["0-a", "1-a"]
    assert "left out: 1 after the load event, 1 on other pages." in page.text
    assert "The load event was 0.4 s after the first request." in page.text
    pages[1]["pageTimings"] = {"onLoad": -1}
    assert len(objects(imported(tmp_path, log(*entries, pages=pages)))) == 3


def test_redirects_scripts_and_early_requests_are_dependencies(tmp_path: Path) -> None:
    script = {"type": "script", "stack": {"callFrames": [], "parent": {"callFrames": [{"url": "https://a.org/x.js"}]}}}
    page = imported(
        tmp_path,
        log(
            entry(0, "http://a.org/", response={"status": 301, "redirectURL": "https://a.org/en/"}),
            entry(110, "https://a.org/en/", timings={"wait": 60, "receive": 300}),
            # The document has not arrived completely.
            entry(250, "https://a.org/x.js", _initiator={"url": "https://a.org/en/"}),
            entry(500, "https://a.org/data", _initiator=script),
            entry(50, "https://b.org/early"),
        ),
    )
    found = {one["id"]: (one["after"], one.get("delay")) for one in objects(page)}
    assert found == {
        "0-image": ([], None),
        "4-early": ([], "50 ms"),
        "1-image": (["0-image"], "10 ms"),
        "2-x.js": (["1-image"], None),
        "3-data": (["2-x.js"], "150 ms"),
    }
    assert "1 object had been requested before the initiator had arrived" in page.text


def connection(connect: float, ssl: float, version: str = "h2", url: str = "https://a.org/", **more: Any) -> Any:
    timings = {"connect": connect, "ssl": ssl, "wait": 90, "receive": 10}
    return entry(0, url, timings=timings, response={"httpVersion": version}, **more)


@pytest.mark.parametrize(
    ("entries", "delay", "setup", "http"),
    [
        ([connection(80, 40)], "20 ms", {"tls": "1.3"}, "2"),
        # Two round trips for TLS.
        ([connection(120, 80)], "20 ms", {"tls": "1.2"}, "2"),
        # Firefox: `time` is the sum of all phases, so that TLS follows `connect`.
        ([connection(40, 40, time=180)], "20 ms", {"tls": "1.3"}, "2"),
        # QUIC has one handshake.
        ([connection(40, 40, "h3")], "20 ms", {"tls": "1.3"}, "2"),
        ([connection(40, -1, "http/1.1", "http://a.org/")], "20 ms", None, "1.1"),
        # The median of the shortest handshake to each host: 30, 60 and 90 ms.
        (
            [connection(2 * rtt, rtt, url=f"https://{host}.org/") for host, rtt in
             (("a", 30), ("a", 300), ("b", 60), ("c", 90))],
            "30 ms", {"tls": "1.3"}, "2",
        ),
        # Without a handshake: the shortest wait.
        ([connection(-1, -1), entry(0, timings={"wait": 50})], "25 ms", None, "2"),
        ([connection(-1, -1, "unknown")], "45 ms", None, "2"),
        ([connection(-1, -1, "", "http://a.org/")], "45 ms", None, "1.1"),
    ],
)  # fmt: skip
def test_handshakes_give_the_round_trip_and_the_setup(
    tmp_path: Path, entries: list[Any], delay: str, setup: dict[str, str] | None, http: str
) -> None:
    page = imported(tmp_path, log(*entries))
    scenario = tomllib.loads(page.text)
    assert scenario["links"][0]["delay"] == delay
    assert scenario["flows"][0].get("setup") == setup
    assert scenario["flows"][0]["traffic"]["http"] == http
    assert ("are taken for HTTP/2 over TCP" in page.text) == ("h3" in json.dumps(entries))


def changed(change: Callable[[dict[str, Any]], None]) -> str:
    document = json.loads(log(entry(0, **FIRST), entry(300)))
    change(document["log"])
    return json.dumps(document)


def second(path: str, value: Any) -> str:
    """A HAR file with another value in its second request."""

    def change(of: dict[str, Any]) -> None:
        *keys, last = path.split(".")
        target = of["entries"][1]
        for key in keys:
            target = target[key]
        target[last] = value

    return changed(change)


WRONG = {
    "torn": (log(entry(0))[:-40], r"line 1: not JSON: .*; is the file complete\?"),
    "not HAR": ('{"log": 3}', "is JSON, but not HAR: it has no log; save"),
    "version": (
        log(entry(0), version="2.0"),
        "has not the version 1.1 or 1.2, but log.version '2.0'; save it as HAR 1.2",
    ),
    "none": (log(), "has no requests in log.entries; load the page"),
    "no list": (changed(lambda of: of.update(entries={})), "has no requests in log.entries"),
    "not a request": (changed(lambda of: of["entries"].append(7)), r"log.entries\[2\]: 7 is not a request"),
    "url": (second("request.url", None), r"log.entries\[1\].request.url: None is not an address"),
    "request": (second("request", []), r"log.entries\[1\].request.url: None is not an address"),
    "status": (second("response.status", "ok"), r"log.entries\[1\].response.status: 'ok' is not a number"),
    "negative": (second("timings.wait", -5), r"log.entries\[1\].timings.wait: -5 is below -1"),
    "negative time": (second("time", -100), r"log.entries\[1\].time: -100 is below -1"),
    "long": (second("timings.receive", 1e13), r"log.entries\[1\].timings.receive: 1e\+10 s is above 480 h; correct it"),
    "text": (second("timings.dns", "fast"), r"log.entries\[1\].timings.dns: 'fast' is not a number"),
    "size": (second("response.bodySize", 1e13), r"log.entries\[1\].response.bodySize: 1e\+13 B is above 1 TB"),
    "negative size": (second("response.headersSize", -7), r"log.entries\[1\].response.headersSize: -7 is below -1"),
    "date": (second("startedDateTime", "noon"), r"log.entries\[1\].startedDateTime: 'noon' is not a time such as"),
    "no date": (second("startedDateTime", None), r"log.entries\[1\].startedDateTime: None is not a time"),
    "late": (second("startedDateTime", "2027-01-31T12:00:00Z"), r"log.entries\[1\].startedDateTime: .* correct it"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_one_error(tmp_path: Path, name: str) -> None:
    text, message = WRONG[name]
    (tmp_path / "page.har").write_text(text)
    with pytest.raises(InputError) as raised:
        to_scenario(tmp_path / "page.har", kind="har")
    assert re.search(message, str(raised.value)), str(raised.value)
    assert str(raised.value).startswith(f"{tmp_path / 'page.har'}: ")


def test_a_page_has_at_most_10_000_objects(tmp_path: Path) -> None:
    many = log(*[entry(at / 10, f"https://a.org/{at}") for at in range(10_001)])
    with pytest.raises(InputError, match="has 10001 responses, more than 10000, the maximum of a page; cut the file"):
        imported(tmp_path, many)


def test_other_files_add_delays_and_the_other_direction(tmp_path: Path) -> None:
    text = log(entry(0, **FIRST), entry(300))
    (tmp_path / "up.csv").write_text("time_s,rate_mbps\n0,5\n30,4\n60,4\n")
    (tmp_path / "ping.csv").write_text(
        "timestamp,rtt_ms\n2026-01-31T11:59:58Z,70\n2026-01-31T12:00:02Z,90\n2026-01-31T12:00:30Z,90\n"
    )
    (tmp_path / "page.har").write_text(text)
    page = to_scenario(tmp_path / "page.har", options=Options(up=tmp_path / "up.csv"))
    scenario = tomllib.loads(page.text)
    assert [flow["traffic"]["kind"] for flow in scenario["flows"]] == ["page"]
    assert scenario["links"][0]["trace"] == {"forward": "page-trace.csv"}
    page = to_scenario(tmp_path / "page.har", options=Options(delays=tmp_path / "ping.csv"))
    # The page starts 2 s before the second probe; the clocks agree.
    assert page.files["page-trace.csv"].splitlines() == ["time_s,delay_s", "0,0.035", "2,0.045", "30,0.045"]
    assert len(objects(page)) == 2


def test_the_command_writes_scenario_and_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.har").write_text(log(entry(0, **FIRST), entry(300)))
    assert kind_of(tmp_path / "page.har") == "har"
    assert CliRunner().invoke(app, ["import", "page.har", "--rate", "20 Mbit/s"]).exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} >= {"page.toml", "page-page.json"}
    assert CliRunner().invoke(app, ["run", "page.toml", "--out", "loaded", "-q"]).exit_code == 0


PAGE = [
    {"id": "index", "size": 20_000, "type": "document", "server_time": "30 ms"},
    {"id": "style", "size": 9_000, "type": "css", "after": ["index"], "delay": "15 ms"},
    {"id": "code", "size": 60_000, "type": "script", "after": ["index"], "delay": "20 ms", "host": "cdn"},
    {"id": "data", "size": 4_000, "after": ["code"], "delay": "40 ms", "server_time": "50 ms"},
    {"id": "logo", "size": 30_000, "type": "image", "after": ["style"]},
]
LINK = {"rate": "20 Mbit/s", "delay": "40 ms", "queue": "1 bdp"}


def recorded(result: ll.Result, initiators: dict[str, str | None]) -> str:
    """A run as a browser would record it: the set-up of a connection is part of its first request."""
    entries: list[dict[str, Any]] = []
    used: set[str] = set()
    rtt_s = 2 * 0.04
    for row in result.objects.sort("time_s", "start_s").iter_rows(named=True):
        before_s = row["start_s"] - row["time_s"]
        is_first = row["connection"] not in used
        used.add(row["connection"])
        phases = {"connect": before_s, "ssl": before_s - rtt_s} if is_first else {"blocked": before_s}
        phases |= {"wait": row["first_byte_s"] - row["start_s"], "receive": row["end_s"] - row["first_byte_s"]}
        entries.append(
            entry(
                1e3 * row["time_s"],
                f"https://{row['connection'].replace('>', '').replace('#', '-')}/{row['object']}",
                timings={phase: 1e3 * length_s for phase, length_s in phases.items()},
                response={"_transferSize": row["bytes"]},
                _initiator=initiators[row["object"]],
            )
        )
    urls = {one["request"]["url"].rsplit("/", 1)[1]: one["request"]["url"] for one in entries}
    for one in entries:
        one["_initiator"] = urls.get(one["_initiator"])
    return log(*entries)


def test_a_run_that_is_written_as_har_is_the_same_page_again(tmp_path: Path) -> None:
    (tmp_path / "page.json").write_text(json.dumps({"objects": PAGE}))
    traffic = {"kind": "page", "file": "page.json", "http": "2", "count": 1}
    scenario = {
        "name": "first",
        "duration": "60 s",
        "links": [{"between": ["server", "client"], **LINK}],
        "flows": [{"from": "server", "to": "client", "traffic": traffic, "setup": {"tls": "1.3"}}],
    }
    (tmp_path / "first.json").write_text(json.dumps(scenario))
    first = ll.run(tmp_path / "first.json", seed=1)
    text = recorded(first, {str(one["id"]): (one.get("after") or [None])[0] for one in PAGE})  # type: ignore[index]
    page = imported(tmp_path, text, rate=LINK["rate"])
    assert tomllib.loads(page.text)["links"][0]["delay"] == "40 ms"
    again = run(tmp_path, page)
    took = {name: result.objects.sort("time_s", "start_s") for name, result in (("first", first), ("again", again))}
    assert took["first"]["bytes"].to_list() == took["again"]["bytes"].to_list()
    # The server's time contains the transmission of the request and of the first packet of a response (0.8 ms at
    # 20 Mbit/s), which the path adds again, for each of up to three objects on a chain. A packet of one connection may
    # be before the logo of the other instead of after it: 30 kB with headers are 12.5 ms.
    for column in ("time_s", "start_s", "first_byte_s", "end_s"):
        pairs = zip(took["first"][column], took["again"][column], strict=True)
        assert all(-0.0125 <= later - sooner <= 0.0125 + 3 * 0.0008 for sooner, later in pairs), column
