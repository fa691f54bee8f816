"""Measurements become scenarios that run, and a bad file one clear error."""

# Lines of files are clearer unbroken.
# ruff: noqa: E501

from __future__ import annotations

import json
import string
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import lightlag as ll
from lightlag.cli.app import app
from lightlag.errors import InputError
from lightlag.imports import KINDS, Options, kind_of, read, to_scenario
from lightlag.imports.page import Page


def iperf(**changes: Any) -> str:
    """An iperf3 test of two seconds."""

    def interval(start: int, rate: float) -> dict[str, Any]:
        return {
            "streams": [],
            "sum": {"start": start, "end": start + 1, "seconds": 1, "bits_per_second": rate, "omitted": False},
        }

    test: dict[str, Any] = {
        "start": {"version": "iperf 3.16", "test_start": {"protocol": "TCP", "reverse": 0}, "tcp_mss_default": 1448},
        "intervals": [interval(0, 5e6), interval(1, 10e6)],
        "end": {
            "streams": [{"sender": {"min_rtt": 40_000, "mean_rtt": 50_000}}],
            "sum_sent": {"retransmits": 3},
            "sender_tcp_congestion": "bbr",
        },
    }
    return json.dumps(test | changes)


IRTT = json.dumps(
    {
        "version": {"irtt": "0.9.1"},
        "stats": {"upstream_loss_percent": 10.0, "downstream_loss_percent": 0.0},
        "round_trips": [
            {
                "seqno": 0,
                "lost": "false",
                "delay": {"rtt": 30_000_000},
                "timestamps": {"client": {"send": {"monotonic": 1_000}}},
            },
            {"seqno": 1, "lost": "true", "delay": {}, "timestamps": {"client": {"send": {"monotonic": 500_001_000}}}},
            {
                "seqno": 2,
                "lost": "false",
                "delay": {"rtt": 50_000_000},
                "timestamps": {"client": {"send": {"monotonic": 1_000_001_000}}},
            },
        ],
    }
)
PING = """\
PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=600 ms
64 bytes from 192.0.2.1: icmp_seq=2 ttl=57 time=620 ms
64 bytes from 192.0.2.1: icmp_seq=4 ttl=57 time=610 ms

--- 192.0.2.1 ping statistics ---
4 packets transmitted, 3 received, 25% packet loss, time 3004ms
rtt min/avg/max/mdev = 600.0/610.0/620.0/8.1 ms
"""
WINDOWS = """\
Pinging 192.0.2.1 with 32 bytes of data:
Reply from 192.0.2.1: bytes=32 time=12ms TTL=57
Request timed out.
Reply from 192.0.2.1: bytes=32 time<1ms TTL=57
"""
NS2 = """\
$node_(0) set X_ 0.0
$node_(0) set Y_ 0.0
$node_(1) set X_ 30.0
$node_(1) set Y_ 40.0
$ns_ at 1.0 "$node_(1) setdest 10.0 10.0 5.0"
"""
NS3 = """\
now=+0ns node=0 pos=0:0:0 vel=0:0:0
now=+0ns node=1 pos=50:0:0 vel=-1:0:0
now=+10000000000ns node=1 pos=40:0:0 vel=0:0:0
"""


def made(tmp_path: Path, name: str, text: str | bytes, **options: Any) -> tuple[Page, dict[str, Any]]:
    """The page of a file, and its scenario as values."""
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    page = to_scenario(path, options=Options(**options))
    return page, tomllib.loads(page.text)


def test_iperf3_gives_rates_the_round_trip_and_the_algorithm(tmp_path: Path) -> None:
    page, scenario = made(tmp_path, "wifi.json", iperf())
    (link,), (flow,) = scenario["links"], scenario["flows"]
    # 10 Mbit/s of payload are 10 · 1500 / 1448 with headers.
    assert link["rate"] == "10.3591 Mbit/s"
    assert link["delay"] == "20 ms"
    assert "trace" not in link, "the goodput of the first second still grew"
    assert flow["congestion"] == "bbr"
    assert "half of the minimum RTT, 40 ms" in page.text
    assert "3 segments were retransmitted" in page.text
    assert "No sign that the path was full" in page.text


def test_ping_gives_delays_and_losses(tmp_path: Path) -> None:
    page, scenario = made(tmp_path, "ping.txt", PING, rate="20 Mbit/s")
    (link,) = scenario["links"]
    assert link["delay"] == "300 ms"
    assert link["loss"] == pytest.approx(1 - 0.75**0.5)
    assert page.files["ping-trace.csv"] == "time_s,delay_s\n0,0.3\n1,0.31\n3,0.305\n"
    _, scenario = made(tmp_path, "windows.txt", WINDOWS, rate="20 Mbit/s", interval_s=0.5)
    assert scenario["links"][0]["loss"] == pytest.approx(1 - (2 / 3) ** 0.5)


def test_irtt_distinguishes_the_directions(tmp_path: Path) -> None:
    page, scenario = made(tmp_path, "irtt.json", IRTT, rate="20 Mbit/s")
    assert scenario["links"][0]["loss"] == {"forward": 0.1}
    assert page.files["irtt-trace.csv"] == "time_s,delay_s\n0,0.015\n1,0.025\n"


def test_mahimahi_becomes_what_the_engine_reads(tmp_path: Path) -> None:
    page, scenario = made(tmp_path, "cell.down", b"\xef\xbb\xbf0\r\n5\r\n10", delay="20 ms")
    assert page.files == {"cell.opportunities": "0\n5\n10\n"}
    assert scenario["links"][0]["trace"] == {"backward": {"file": "cell.opportunities", "format": "mahimahi"}}
    assert scenario["links"][0]["rate"] == "3.6 Mbit/s"


TABLES = {
    "commas": "time_s,rate_mbps,rtt_ms,loss_pct\n0,10,40,1\n1,5,60,0\n",
    "semicolons and decimal commas": "Time [s];Rate (Mbit/s);RTT [ms];Loss [%]\n0;10,0;40;1\n1;5,0;60;0\n",
    "tabs, byte-order mark, no last newline": "\ufefft\trate_mbps\trtt_ms\tloss_%\n0\t10\t40\t1\n1\t5\t60\t0",
    "blanks and comments": "# drive test\ntime rate_mbps rtt_ms loss_pct\n0 10 40 1\n1 5 60 0\n",
    "epoch and quotes": '"timestamp","rate_mbps","rtt_ms","loss_pct"\n1700000000,"10","40","1"\n1700000001,"5","60","0"\n',
    "dates": "date,rate_mbps,rtt_ms,loss_pct\n2026-01-31T12:00:00,10,40,1\n2026-01-31T12:00:01,5,60,0\n",
}


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_tables_of_any_form_are_the_same_link(tmp_path: Path, text: str, encoding: str) -> None:
    page, scenario = made(tmp_path, "log.csv", text.encode(encoding))
    assert (
        page.files["log-trace.csv"] == "time_s,rate_bps,delay_s,loss\n0,10000000,0.02,0.00501256289\n1,5000000,0.03,0\n"
    )
    assert scenario["links"][0]["rate"] == "10 Mbit/s"


def test_columns_are_named_with_their_units(tmp_path: Path) -> None:
    text = "when,what,dl\n0,a,10\n1500,b,\n3000,c,2.5\n"
    page, _ = made(tmp_path, "x.csv", text, delay="5 ms", columns=("time=when:ms", "rate=dl:Mbit/s"))
    assert page.files["x-trace.csv"] == "time_s,rate_bps\n0,10000000\n1.5,10000000\n3,2500000\n"
    page, _ = made(tmp_path, "y.csv", "0 1\n1 2\n", delay="5 ms", columns=("time=1:s", "rate=2:MB/s"))
    assert page.files["y-trace.csv"] == "time_s,rate_bps\n0,8000000\n1,16000000\n"


def test_hypatia_gives_delays_and_outages(tmp_path: Path) -> None:
    (tmp_path / "networkx_rtt_1_to_2.txt").write_text("0,40000000\n100000000,0\n200000000,44000000\n")
    page, scenario = made(
        tmp_path, "networkx_path_1_to_2.txt", "0,1-7-2\n100000000,Unreachable\n200000000,1-8-2\n", rate="10 Mbit/s"
    )
    (trace,) = page.files.values()
    assert trace == "time_s,rate_bps,delay_s\n0,10000000,0.02\n0.1,0,0.02\n0.2,10000000,0.022\n"
    assert "0.2 s: 1 8 2" in page.text
    assert scenario["links"][0]["delay"] == "20 ms"


@pytest.mark.parametrize(("name", "text"), [("swarm.ns_movements", NS2), ("course.mob", NS3)])
def test_movements_become_nodes_with_radios(tmp_path: Path, name: str, text: str) -> None:
    page, scenario = made(tmp_path, name, text)
    assert [node["name"] for node in scenario["nodes"]] == ["node0", "node1"]
    assert len(page.files) == 1
    assert "up to 50 m from the first one" in page.text


@pytest.mark.parametrize("end", ["a", "b"])
def test_a_capture_becomes_its_path(tmp_path: Path, end: str) -> None:
    net = ll.Network("short")
    net.link("a", "b", rate="10 Mbit/s", delay="30 ms", queue="1 bdp")
    net.flow("a", "b", transfer="2 MB")
    result = ll.run(net, duration="20 s", sets={"record.pcap": {"at": [end]}})
    result.save(tmp_path / "run")
    page = to_scenario(next((tmp_path / "run" / "captures").glob("*.pcapng")), name="path")
    link = tomllib.loads(page.text)["links"][0]
    assert float(link["delay"].removesuffix(" ms")) == pytest.approx(30, abs=0.5)
    assert float(link["rate"].removesuffix(" Mbit/s")) == pytest.approx(10, abs=0.2)
    assert tomllib.loads(page.text)["flows"][0]["transfer"] == "2000000 B"


def test_a_transfer_that_never_filled_its_path_still_shows_the_rate(tmp_path: Path) -> None:
    net = ll.Network("far")
    net.link("a", "b", rate="40 Mbit/s", delay="300 ms", queue="1 bdp")
    net.flow("a", "b", transfer="3 MB")
    ll.run(net, duration="60 s", sets={"record.pcap": {"at": ["a"]}}).save(tmp_path / "run")
    page = to_scenario(next((tmp_path / "run" / "captures").glob("*.pcapng")), name="path")
    (link,) = tomllib.loads(page.text)["links"]
    assert float(link["rate"].removesuffix(" Mbit/s")) == pytest.approx(40, rel=0.1)


def test_the_command_writes_a_scenario_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(TABLES["commas"])
    call = CliRunner()
    done = call.invoke(app, ["import", "log.csv", "-o", "mine/log.toml"])
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "now: lightlag run mine/log.toml"
    assert call.invoke(app, ["run", "mine/log.toml", "-q", "-o", "out"]).exit_code == 0
    again = call.invoke(app, ["import", "log.csv", "-o", "mine/log.toml"])
    assert again.exit_code == 2
    assert "exists already" in again.stderr
    assert (tmp_path / "log.csv").read_text() == TABLES["commas"], "the measurement stays"


BAD = {
    "nothing": ("x.csv", "", {}, "x.csv: is empty"),
    "no header": ("x.csv", "time_s,rate_mbps\n", {}, "line 1: has a header and no rows"),
    "no unit": ("x.csv", "time,rate\n0,1\n", {}, 'line 1: column "rate" has no unit; write --column rate=rate:Mbit/s'),
    "no time": ("x.csv", "a,rate_mbps\n0,1\n", {}, "line 1: no column is a time; there are a, rate_mbps"),
    "no link": ("x.csv", "time,x\n0,1\n", {}, "line 1: no column is a rate"),
    "a short row": ("x.csv", "time,rate_mbps\n0,1\n1\n", {}, "line 3: 1 fields where the header has 2"),
    "no number": ("x.csv", "time,rate_mbps\n0,fast\n", {}, "line 2: rate_mbps: 'fast' is not a number"),
    "several runs": ("x.csv", "time,rate_mbps\n" + "0,1\n1,1\n2,1\n3,1\n" * 2, {}, "line 6: time: 0 goes back in time from 3; if the file has several runs, keep one"),
    "negative": ("x.csv", "time,rate_mbps\n0,-1\n", {}, "line 2: rate_mbps: -1 is below 0"),
    "percent": ("x.csv", "time,loss\n0,5\n", {}, "line 2: a loss of 5 is above 1; of percent"),
    "no such column": ("x.csv", "time,a_mbps\n0,1\n", {"columns": ("rate=b:Mbit/s",)}, 'has no column "b"; there are time, a_mbps'),
    "no such unit": ("x.csv", "time,a\n0,1\n", {"columns": ("rate=a:parsec",)}, "'parsec' is not a unit of rate"),
    "no such key": ("x.csv", "time,a\n0,1\n", {"columns": ("speed=a",)}, '"speed" is not one of time, rate'),
    "no delay": ("x.csv", "time,rate_mbps\n0,1\n", {}, 'has no delay; give the delay of the link, as --delay "20 ms"'),
    "no rate": ("p.txt", PING, {}, 'has no rate; give the rate of the link, as --rate "20 Mbit/s"'),
    "no answer": ("p.txt", "PING a\nRequest timeout for icmp_seq 0\n", {}, "none of 1 probes received a reply"),
    "a failed test": ("i.json", '{"intervals": [], "error": "unable to connect"}', {}, "the test failed: unable to connect"),
    "half a test": ("i.json", iperf()[:200], {}, "line 1: not JSON"),
    "no interval": ("i.json", '{"intervals": []}', {}, "has no intervals"),
    "going back": ("c.up", "5\n3\n", {}, "line 2: the time goes back from 5 to 3"),
    "all at zero": ("c.up", "0\n0\n", {}, "the last time is 0"),
    "a path alone": ("networkx_path_1_to_2.txt", "0,1-7-2\n", {}, "put the file of its round trips into the same directory"),
    "other Tcl": ("m.tcl", NS2 + "$node_(1) set X_ [expr 2]\n", {}, 'line 6: "$node_(1) set X_ [expr 2]" is not a valid line'),
    "bytes": ("x.csv", b"time,rate\n\x00\xff\n", {}, "is not text: byte 10 is 0"),
    "a cut capture": ("x.pcap", bytes.fromhex("d4c3b2a1") + b"\0" * 8, {}, "x.pcap"),
    "columns of no table": ("c.up", "1\n2\n", {"columns": ("rate=a",)}, "--column names the columns of a table"),
    "a rate that is none": ("c.up", "1\n2\n", {"delay": "soon"}, "--delay: "),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "options", "message"), BAD.values(), ids=BAD)
def test_a_bad_file_is_one_clear_error(
    tmp_path: Path, name: str, text: str | bytes, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as error:
        made(tmp_path, name, text, **options)
    assert message in str(error.value), error.value


def test_what_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "none", "no such file"), (tmp_path, "is a directory")):
        with pytest.raises(InputError, match=message):
            kind_of(path)
    with pytest.raises(InputError, match='"excel" is not a valid file format'):
        read(tmp_path / "none", "excel")


WORDS = st.sampled_from(
    [*TABLES.values(), PING, WINDOWS, NS2, NS3, IRTT, iperf(), "0\n5\n", "0,1-7-2\n", "0,40000000\n", "{", "[", '"', "now=", "nan", "1e999"]
)  # fmt: skip
TEXTS = st.lists(WORDS | st.text(string.printable + "é\ufeff\u2028\0", max_size=30), max_size=4).map("".join)


def outcome(path: Path, kind: str | None) -> str:
    """The scenario of a file, or the one error that it has; anything else is raised."""
    try:
        return to_scenario(path, kind=kind, options=Options(rate="1 Mbit/s", delay="1 ms")).text
    except InputError as error:
        message = str(error)
    return message if path.name in message and "\n" not in message else ""


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=TEXTS.map(lambda text: text.encode()) | st.binary(max_size=200),
    kind=st.sampled_from([None, *KINDS]),
    cut=st.integers(0, 400),
)
def test_no_file_is_a_defect(tmp_path: Path, text: bytes, kind: str | None, cut: int) -> None:
    path = tmp_path / "networkx_rtt_any.csv"
    path.write_bytes(text[: len(text) - cut] if cut < len(text) else text)
    assert outcome(path, kind)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tree=st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["intervals", "sum", "end", "start", "streams", "round_trips", "delay", "rtt", "stats", "sender"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=15,
    ),
    kind=st.sampled_from(["iperf3", "irtt"]),
)
def test_no_json_is_a_defect(tmp_path: Path, tree: Any, kind: str) -> None:
    path = tmp_path / "any.json"
    path.write_text(json.dumps(tree))
    assert outcome(path, kind)
