"""Runs written as the output of measuring tools, imported and run again: goodput, round trip and loss agree."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag.imports import Options, to_scenario

MSS = 1448


def measured(
    duration: str = "30 s", congestion: str | None = None, tcp: dict[str, Any] | None = None, **link: Any
) -> ll.Result:
    """A download over a link."""
    net = ll.Network("measured")
    net.link("server", "client", **{"queue": "1 bdp"} | link)
    net.flow("server", "client", congestion=congestion, tcp=tcp)
    return ll.run(net, duration=duration, seed=2)


def as_json(result: ll.Result, *, has_rtt: bool, is_backward: bool = False) -> str:
    """The report of a run in the form of iperf3 --json: from the sender, or from a receiver, which has no RTTs."""
    goodput = result.goodput(1.0)
    rtts = result.trace("rtt").drop_nulls("srtt_s")
    intervals = []
    for row in goodput.iter_rows(named=True):
        start, bps = row["time_s"] - 1.0, row["goodput_bps"]
        total = {"start": start, "end": start + 1.0, "seconds": 1.0, "bits_per_second": bps, "omitted": False}
        stream: dict[str, Any] = {"socket": 5, "sender": has_rtt, **total}
        before = rtts.filter(rtts["time_s"] <= start + 1.0)
        if has_rtt and len(before):
            stream["rtt"] = round(before["srtt_s"][-1] * 1e6)
        intervals.append({"streams": [stream], "sum": total | {"sender": has_rtt}})
    mean = result.flows["goodput_bps"][0]
    end: dict[str, Any] = {"sum_sent": {"bits_per_second": mean}, "sum_received": {"bits_per_second": mean}}
    if has_rtt:
        end["streams"] = [{"sender": {"min_rtt": round(result.flows["min_rtt_s"][0] * 1e6)}}]
    setup = {"protocol": "TCP", "num_streams": 1, "reverse": int(is_backward)}
    start_ = {"version": "iperf 3.16", "test_start": setup, "tcp_mss_default": MSS}
    return json.dumps({"start": start_, "intervals": intervals, "end": end})


def as_text(result: ll.Result) -> str:
    """A run as iperf3 -R prints it."""
    rows = [
        f"[  5] {end - 1:6.2f}-{end:<6.2f} sec  1.00 MBytes  {bps / 1e6:.1f} Mbits/sec\n"
        for end, bps in result.goodput(1.0)["time_s", "goodput_bps"].iter_rows()
    ]
    head = "Connecting to host 192.0.2.2, port 5201\nReverse mode, remote host 192.0.2.2 is sending\n"
    return head + "[ ID] Interval           Transfer     Bitrate\n" + "".join(rows) + "\niperf Done.\n"


def as_nuttcp(result: ll.Result) -> str:
    """A run as ``nuttcp -r -v -i1`` prints it."""
    rows = [
        f"{bps / 8 / 2**20:10.4f} MB / {1:6.2f} sec = {bps / 1e6:9.4f} Mbps\n"
        for _, bps in result.goodput(1.0)["time_s", "goodput_bps"].iter_rows()
    ]
    return "nuttcp-r: v8.1.4: socket\nnuttcp-r: connect to 192.0.2.1 with mss=1460\n" + "".join(rows)


def again(tmp_path: Path, name: str, text: str, **options: Any) -> tuple[ll.Result, dict[str, Any]]:
    """The run of an imported file, and its scenario."""
    source = tmp_path / name
    source.write_text(text)
    page = to_scenario(source, options=Options(**options))
    for file, content in {f"{page.name}.toml": page.text, **page.files}.items():
        (tmp_path / file).write_text(content)
    return ll.run(tmp_path / f"{page.name}.toml", seed=5), tomllib.loads(page.text)


def goodput(result: ll.Result) -> float:
    return float(result.flows["goodput_bps"][0])


PATHS: dict[str, dict[str, Any]] = {
    "GEO": {"rate": "41.6 Mbit/s", "delay": "300 ms"},
    "LEO": {"rate": "100 Mbit/s", "delay": "20 ms"},
    "a full queue": {"rate": "10 Mbit/s", "delay": "50 ms", "queue": "5 bdp"},
    "a short queue": {"rate": "20 Mbit/s", "delay": "40 ms", "queue": "0.3 bdp"},
    "loss": {"rate": "50 Mbit/s", "delay": "40 ms", "loss": 1e-3},
    "a small window": {"rate": "100 Mbit/s", "delay": "100 ms", "tcp": {"receive_buffer": "256 kB"}},
    "BBR over a lossy GEO": {"rate": "30 Mbit/s", "delay": "280 ms", "loss": 1e-3, "congestion": "bbr"},
}


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
@pytest.mark.parametrize("form", ["sender", "receiver", "text", "nuttcp"])
def test_an_imported_test_by_iperf_runs_at_its_goodput(tmp_path: Path, path: dict[str, Any], form: str) -> None:
    real = measured(**path)
    printed = {"text": as_text, "nuttcp": as_nuttcp}.get(form)
    text = as_json(real, has_rtt=form == "sender", is_backward=True) if printed is None else printed(real)
    given = {} if form == "sender" else {"delay": path["delay"]}
    repeated, scenario = again(tmp_path, "test.json" if printed is None else "test.txt", text, **given)
    assert scenario["flows"][0]["from"] == "server"
    assert goodput(repeated) == pytest.approx(goodput(real), rel=0.15)


@pytest.mark.parametrize("sent", ["5 Mbit/s", "40 Mbit/s"])
def test_imported_datagrams_arrive_once_more(tmp_path: Path, sent: str) -> None:
    """A link of 20 Mbit/s loses some of a load of 5 Mbit/s at random, and half of 40 Mbit/s by queue overflow."""
    net = ll.Network("measured")
    net.link("client", "server", rate="20 Mbit/s", delay="40 ms", loss=0.02)
    net.flow("client", "server", transport="udp", traffic={"kind": "constant", "rate": sent, "size": f"{MSS} B"})
    real = ll.run(net, duration="30 s", seed=2)
    bps = float(sent.split()[0]) * 1e6
    lost = 100 * (1 - goodput(real) / bps)
    rows = [
        {"sum": {"start": at, "end": at + 1, "seconds": 1, "bits_per_second": bps, "omitted": False, "sender": True}}
        for at in range(30)
    ]
    setup = {"protocol": "UDP", "reverse": 0, "blksize": MSS}
    end = {"sum": {"bits_per_second": bps, "lost_percent": lost, "seconds": 30}}
    text = json.dumps({"start": {"test_start": setup}, "intervals": rows, "end": end})
    repeated, _ = again(tmp_path, "udp.json", text, delay="40 ms")
    assert goodput(repeated) == pytest.approx(goodput(real), rel=0.02)
