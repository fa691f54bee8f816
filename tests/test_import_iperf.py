"""The output of iperf3 and iperf 2 tests, in every form, becomes the path that they measured."""

# Lines of files are clearer unbroken.
# ruff: noqa: E501

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag.errors import InputError
from lightlag.imports import Options, kind_of, to_scenario
from lightlag.imports.page import Page

OVERHEAD = 1500 / 1448


def total(start: float, bps: float, **more: Any) -> dict[str, Any]:
    return {"start": start, "end": start + 1, "seconds": 1, "bits_per_second": bps, "omitted": False, **more}


def iperf(rates: list[float], rtts: list[float] | None = None, **changes: Any) -> dict[str, Any]:
    """An iperf3 test with one second for each rate, and the sender's RTTs in ms."""
    streams = [[] if rtts is None else [{"rtt": int(rtt * 1000)}] for rtt in rtts or rates]
    rows = zip(range(len(rates)), rates, streams, strict=True)
    return {
        "start": {"version": "iperf 3.16", "test_start": {"protocol": "TCP", "reverse": 0}, "tcp_mss_default": 1448},
        "intervals": [{"streams": stream, "sum": total(at, bps)} for at, bps, stream in rows],
        "end": {"sum_received": {"bits_per_second": sum(rates) / len(rates), "seconds": len(rates)}},
        **changes,
    }


def made(tmp_path: Path, text: str | bytes, name: str = "test.json", **options: Any) -> tuple[Page, dict[str, Any]]:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    page = to_scenario(path, options=Options(**({"delay": "20 ms"} | options)))
    return page, tomllib.loads(page.text)


def mbps(rate: str) -> float:
    value, unit = rate.split()
    return float(value) * {"bit/s": 1e-6, "kbit/s": 1e-3, "Mbit/s": 1.0, "Gbit/s": 1e3}[unit]


STREAM = "\n".join(
    json.dumps({"event": event, "data": data})
    for event, data in (
        ("start", iperf([1.0])["start"]),
        *(("interval", {"streams": [], "sum": total(at, 10e6)}) for at in range(3)),
        ("end", {"sum_received": {"bits_per_second": 10e6}}),
    )
)
TEN = json.dumps(iperf([10e6] * 4))
TEXT = """\
Connecting to host 192.0.2.2, port 5201
[  5] local 192.0.2.1 port 40000 connected to 192.0.2.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   320 KBytes  2.62 Mbits/sec    0   14.1 KBytes       (omitted)
[  5]   0.00-1.00   sec  1.19 MBytes  10.0 Mbits/sec    0    160 KBytes
[  5]   1.00-2.00   sec  1.19 MBytes  10.0 Mbits/sec    3    160 KBytes
[  5]   2.00-3.00   sec  1.19 MBytes  10.0 Mbits/sec    0    160 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-3.00   sec  3.58 MBytes  10.0 Mbits/sec    3             sender
[  5]   0.00-3.04   sec  3.58 MBytes  9.87 Mbits/sec                  receiver

iperf Done.
"""
FORMS: dict[str, Any] = {
    "json": TEN,
    "a warning in front": "Warning: --bidir is experimental\n" + json.dumps(iperf([10e6] * 4), indent=1),
    "events": STREAM,
    "events of a test that was killed": STREAM.rsplit("\n", 1)[0] + '\n{"event": "int',
    "no intervals (-i 0)": json.dumps(iperf([10e6] * 4) | {"intervals": []}),
    "-nan": TEN.replace('"seconds": 1,', '"seconds": 1, "jitter_ms": -nan, "x": nan,', 1),
    "stopped": json.dumps(iperf([10e6] * 4, end={}, error="interrupt - the client has terminated")),
    "a server's log": json.dumps(iperf([3e6] * 4), indent=1) + "\n" + json.dumps(iperf([10e6] * 4), indent=1) + "\n",
    "a log that ends with a failed test": TEN + "\n" + '{"start": {}, "intervals": [], "end": {}, "error": "busy"}\n',
    "a list": f"[\n{TEN},\n{TEN}\n]\n",
    "UTF-16": TEN.encode("utf-16"),
    "text": TEXT,
    "text with times": "".join(f"Sat Nov 28 08:00:00 2026 {line}\n" for line in TEXT.splitlines()),
    "text in other units": TEXT.replace("10.0 Mbits/sec", "1.19 MBytes/sec"),
    "text in kilobits": TEXT.replace("10.0 Mbits/sec", "10000 Kbits/sec"),
    "text without the end": TEXT[: TEXT.index("- - -")],
    "text of a test that was stopped": TEXT[: TEXT.index("- - -")] + "iperf3: interrupt - the client has terminated\n",
    "text of two tests": TEXT.replace("10.0 M", "3.0 M") + TEXT,
    "text with the server's": TEXT + "\nServer output:\n" + TEXT[TEXT.index("[  5]   0.00") : TEXT.index("- - -")].replace("10.0", "9.0"),
    "totals alone": TEXT[: TEXT.index("[  5]   0.00")] + TEXT[TEXT.index("- - -") :].replace("9.87", "10.0"),
    "parallel": "".join(
        f"[{stream:>3}] {at:6.2f}-{at + 1:.2f} sec  1.19 MBytes  {rate} Mbits/sec\n" for at in range(3) for stream, rate in ((5, 4.0), (7, 6.0), ("SUM", 10.0))
    ),
    "iperf 2": "[  3] local 192.0.2.1 port 4 connected with 192.0.2.2 port 5001\n"
    + "".join(f"[  3]  {at}.0- {at + 1}.0 sec  1.19 MBytes  10.0 Mbits/sec\n" for at in range(3))
    + "[  3]  0.0- 3.0 sec  3.58 MBytes  10.0 Mbits/sec\n",
    "iperf 2 as CSV": "".join(f"20260101120000,192.0.2.1,4,192.0.2.2,5001,3,{at}.0-{at + 1}.0,1250000,10000000\n" for at in range(3)),
    "SCTP": TEN.replace('"TCP"', '"SCTP"'),
    "omitted intervals": json.dumps(iperf([1e6] + [10e6] * 4)).replace('"omitted": false', '"omitted": true', 1),
}  # fmt: skip


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_every_form_of_a_test_is_the_same_link(tmp_path: Path, text: str | bytes) -> None:
    page, scenario = made(tmp_path, text)
    assert mbps(scenario["links"][0]["rate"]) == pytest.approx(10 * OVERHEAD, rel=0.005)
    assert "trace" not in scenario["links"][0]
    assert "outage" not in page.text


def test_a_stopped_test_is_reported(tmp_path: Path) -> None:
    for form in ("stopped", "text of a test that was stopped"):
        assert "The test ended early (interrupt" in made(tmp_path, FORMS[form])[0].text
    assert "has 2 tests" in made(tmp_path, FORMS["text of two tests"])[0].text
    assert "2 connections were measured together" in made(tmp_path, FORMS["parallel"])[0].text


def bidirectional(end: str) -> str:
    """A test in both directions; iperf3 up to 3.10 writes the same keys twice."""
    rows = ",".join(
        f'{{"streams": [], "sum": {json.dumps(total(at, 10e6, sender=True))}, "sum{end}": {json.dumps(total(at, 40e6, sender=False))}}}'
        for at in range(4)
    )
    start = json.dumps(iperf([1.0])["start"])
    sums = ", ".join(
        f'"sum_{kind}{key}": {{"bits_per_second": {bps}}}'
        for key, bps in (("", 10e6), (end, 40e6))
        for kind in ("sent", "received")
    )
    return f'{{"start": {start}, "intervals": [{rows}], "end": {{{sums}}}}}'


BOTH = {
    "3.7": bidirectional(""),
    "3.11": bidirectional("_bidir_reverse"),
    "text": "".join(
        f"[  5][TX-C] {at:6.2f}-{at + 1:.2f} sec  1.19 MBytes  10.0 Mbits/sec    0    160 KBytes\n"
        f"[  7][RX-C] {at:6.2f}-{at + 1:.2f} sec  4.77 MBytes  40.0 Mbits/sec\n"
        for at in range(4)
    ),
}


@pytest.mark.parametrize("text", BOTH.values(), ids=BOTH)
def test_both_directions_of_a_test_have_their_rates_and_flows(tmp_path: Path, text: str) -> None:
    _, scenario = made(tmp_path, text)
    (link,) = scenario["links"]
    assert mbps(link["rate"]["forward"]) == pytest.approx(10 * OVERHEAD, rel=0.001)
    assert mbps(link["rate"]["backward"]) == pytest.approx(40 * OVERHEAD, rel=0.001)
    assert [flow["from"] for flow in scenario["flows"]] == ["client", "server"]


def test_slow_start_is_not_part_of_the_link(tmp_path: Path) -> None:
    rates = [0.2e6, 1e6, 4e6, 15e6, 38e6, *[41.6e6] * 10]
    _, scenario = made(tmp_path, json.dumps(iperf(rates)))
    assert mbps(scenario["links"][0]["rate"]) == pytest.approx(41.6 * OVERHEAD, rel=0.001)
    assert "trace" not in scenario["links"][0]


def test_a_queue_in_the_rtts_shows_that_the_path_was_full(tmp_path: Path) -> None:
    full, _ = made(tmp_path, json.dumps(iperf([5e6, 10e6, 10e6, 10e6], [40, 80, 90, 80])))
    assert "The path was full: the RTT shows a queue in 3 of 4 intervals" in full.text
    assert "may be faster" not in full.text
    limited, _ = made(tmp_path, json.dumps(iperf([10e6] * 4, [40, 40, 41, 40])))
    assert "No sign that the path was full (no RTT shows a queue)" in limited.text
    unknown, _ = made(tmp_path, json.dumps(iperf([10e6] * 4)))
    assert "(the file has no RTTs that would show a queue)" in unknown.text


def test_a_given_rate_replaces_what_arrived(tmp_path: Path) -> None:
    rates = [5e6, 20e6, 8e6, 30e6, 12e6, 25e6, 9e6, 22e6]
    page, scenario = made(tmp_path, json.dumps(iperf(rates)))
    assert page.files, "a goodput that varies is a trace"
    page, scenario = made(tmp_path, json.dumps(iperf(rates)), rate="50 Mbit/s")
    assert scenario["links"][0]["rate"] == "50 Mbit/s"
    assert not page.files


def test_a_stalled_sender_is_not_an_outage_of_the_link(tmp_path: Path) -> None:
    page, _ = made(tmp_path, json.dumps(iperf([1e6, 20e6, 12e6, 0, 0.1e6, 25e6, 14e6, 22e6, 18e6])))
    (trace,) = page.files.values()
    rates = [float(row.split(",")[1]) for row in trace.splitlines()[1:]]
    assert min(rates) > 10e6


def udp(lost_percent: float, bps: float, *, is_reverse: bool, server: bool = False) -> str:
    """A test with 1 Gbit/s of datagrams, some of which arrived, as a sending client or a receiver reports it."""
    arrived = bps * (1 - lost_percent / 100)
    setup = {"protocol": "UDP", "reverse": int(is_reverse), "blksize": 1448, "target_bitrate": int(bps)}
    if is_reverse:
        intervals = [{"sum": total(at, arrived, lost_percent=lost_percent, sender=False)} for at in range(4)]
    else:
        intervals = [{"sum": total(at, bps, packets=86000, sender=True)} for at in range(4)]
    end = {"sum": {"bits_per_second": bps, "lost_percent": lost_percent, "seconds": 4}}
    test: dict[str, Any] = {"start": {"test_start": setup}, "intervals": intervals, "end": end}
    if server:
        received = [{"sum": total(at, arrived, lost_percent=lost_percent, sender=False)} for at in range(4)]
        test["server_output_json"] = {"intervals": received}
    return json.dumps(test)


UDP_TEXT = (
    "[  5] local 192.0.2.1 port 4 connected to 192.0.2.2 port 5201\n[ ID] Interval  Transfer  Bitrate  Total Datagrams\n"
    + "".join(f"[  5] {at:6.2f}-{at + 1:.2f} sec  119 MBytes  1.00 Gbits/sec  86000\n" for at in range(4))
    + "[ ID] Interval  Transfer  Bitrate  Jitter  Lost/Total Datagrams\n"
    + "[  5]   0.00-4.00 sec  477 MBytes  1.00 Gbits/sec  0.000 ms  0/344000 (0%)  sender\n"
    + "[  5]   0.00-4.04 sec  47.7 MBytes  100 Mbits/sec  0.122 ms  309600/344000 (90%)  receiver\n"
)


@pytest.mark.parametrize(
    "text",
    [
        udp(90, 1e9, is_reverse=False),
        udp(90, 1e9, is_reverse=True),
        udp(90, 1e9, is_reverse=False, server=True),
        UDP_TEXT,
    ],
    ids=["client", "reverse", "with the server's intervals", "text"],
)
def test_datagrams_that_a_full_link_dropped_are_lost_once(tmp_path: Path, text: str) -> None:
    page, _ = made(tmp_path, text)
    (tmp_path / "again.toml").write_text(page.text)
    result = ll.run(tmp_path / "again.toml")
    assert result.flows["goodput_bps"][0] == pytest.approx(100e6, rel=0.02)


@pytest.mark.parametrize("is_reverse", [False, True])
def test_a_few_lost_datagrams_are_loss_of_the_link(tmp_path: Path, is_reverse: bool) -> None:
    page, scenario = made(tmp_path, udp(2, 10e6, is_reverse=is_reverse))
    side = "backward" if is_reverse else "forward"
    assert scenario["links"][0]["loss"] == {side: pytest.approx(0.02)}
    (tmp_path / "again.toml").write_text(page.text)
    result = ll.run(tmp_path / "again.toml", duration="30 s")
    assert result.flows["goodput_bps"][0] == pytest.approx(9.8e6, rel=0.01)


def test_totals_say_what_the_intervals_lack(tmp_path: Path) -> None:
    rows = TEXT.index("[  5]   0.00")
    cut = TEXT[:rows] + TEXT[TEXT.index("[  5]   2.00") :]
    page, scenario = made(tmp_path, cut)
    assert "intervals of 1 s of a test of 3.04 s" in page.text
    assert scenario["duration"] == "3.04 s"
    buffered = iperf([10e6] * 4, end={"sum_received": {"bits_per_second": 8e6, "seconds": 4}})
    page, _ = made(tmp_path, json.dumps(buffered))
    assert "On average 8 Mbit/s arrived by the totals, and 10 Mbit/s by the intervals" in page.text


BAD = {
    "a failed test": (
        '{"start": {}, "intervals": [], "end": {}, "error": "unable to connect"}',
        "the test failed: unable to connect",
    ),
    "nothing arrived": (json.dumps(iperf([0.0, 0.0])), "nothing arrived in any interval"),
    "all omitted": (TEN.replace("false", "true"), "all are omitted; shorten --omit"),
    "a rate of no link": (json.dumps(iperf([1e16])), "above 1e15"),
    "text of two streams": (FORMS["parallel"].replace("SUM", "  9"), "3 streams and no [SUM] rows"),
    "an interval backwards": (TEN.replace('"end": 1,', '"end": -1,', 1), "end: -1 is below 0"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_a_bad_test_is_one_clear_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=r"^[^\n]*$") as error:
        made(tmp_path, text)
    assert message in str(error.value)


def test_forms_are_distinguished(tmp_path: Path) -> None:
    path = tmp_path / "unknown"
    path.write_text(TEXT)
    with pytest.raises(InputError, match=r"has no JSON; .* with --from iperf"):
        to_scenario(path, kind="iperf3")
    for text, kind in ((TEN, "iperf3"), (STREAM, "iperf3"), (TEXT, "iperf"), (UDP_TEXT, "iperf")):
        path.write_text(text)
        assert kind_of(path) == kind


def test_a_direction_in_which_nothing_arrived_has_no_flow(tmp_path: Path) -> None:
    test = iperf([10e6] * 4)
    for at, interval in enumerate(test["intervals"]):
        interval["sum_bidir_reverse"] = total(at, 0.0)
    page, scenario = made(tmp_path, json.dumps(test))
    assert len(scenario["flows"]) == 1
    assert "Nothing arrived in the other direction" in page.text
