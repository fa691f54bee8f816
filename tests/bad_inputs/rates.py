"""Measurements of rates that ``import`` does not take: iperf3 in JSON and in text, mahimahi, and tables."""

# The calls are wrong on purpose, and texts of files are clearer on one line.
# mypy: ignore-errors
# ruff: noqa: E501

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator

from bad_inputs.case import Case

DELAY = ("--delay", "20 ms")
RATE = ("--rate", "10 Mbit/s")


def rates() -> Iterator[Case]:
    yield from _jsons()
    yield from _streams()
    yield from _texts()
    yield from _tables()


def _case(name: str, file: str, text: str | bytes, *parts: str, options: tuple[str, ...] = DELAY) -> Case:
    return Case(name, ("import", file, *options), files=((file, text),), parts=parts or (file,))


def interval(at: int, **sums: object) -> dict:
    summed = {
        "start": float(at),
        "end": at + 1.0,
        "seconds": 1.0,
        "bytes": 1250000,
        "bits_per_second": 1e7,
        "omitted": False,
    }
    return {"streams": [], "sum": summed | sums}  # fmt: skip


def document(**changes: object) -> dict:
    start = {"version": "iperf 3.16", "test_start": {"protocol": "TCP", "num_streams": 1, "reverse": 0}}
    return {"start": start, "intervals": [interval(0), interval(1)], "end": {}, **changes}


def _jsons() -> Iterator[Case]:
    def case(name: str, tree: object, *parts: str) -> Case:
        return _case(f"iperf3 {name}", "i.json", json.dumps(tree), *parts, options=(*DELAY, "--from", "iperf3"))

    for key, values in {
        "start": ("x", [], True, -1),
        "end": ("x", [], True, -1, 0.0, 2e6),
        "bits_per_second": ("x", {}, True, -5.0, 1e16),
    }.items():
        for value in values:
            yield case(f"{key}={value!r}", document(intervals=[interval(0), interval(1, **{key: value})]), key)
        if key != "bits_per_second":
            tree = document()
            del tree["intervals"][1]["sum"][key]
            yield case(f"no {key}", tree, key)
    for name, tree in {
        "no intervals and no end": document(intervals=[]),
        "intervals as a table": document(intervals={}),
        "intervals of numbers": document(intervals=[1, 2]),
        "intervals of lists": document(intervals=[[], []]),
        "intervals without sums": document(intervals=[{"streams": []}]),
        "sums as a list": document(intervals=[{"sum": [1]}]),
        "all omitted": document(intervals=[interval(0, omitted=True)]),
        "an error": {"error": "unable to connect to server: Connection refused"},
        "an error before any interval": document(intervals=[], error="the server is busy"),
        "an error of control characters": {"error": "\x1b[31m" * 3},
        "nothing arrived": document(intervals=[interval(0, bits_per_second=0.0), interval(1, bits_per_second=0.0)]),
        "a number": 3,
        "an empty object": {},
        "start alone": {"start": document()["start"]},
    }.items():
        yield case(name, tree)
    for side in ("sum_sent", "sum_received"):
        for value in ("x", -1.0, True, 1e16):
            tree = document(
                intervals=[], end={side: {"bits_per_second": value, "seconds": 10.0, "start": 0, "end": 10.0}}
            )
            yield case(f"end.{side}.bits_per_second={value!r}", tree)
    udp = {"test_start": {"protocol": "UDP", "num_streams": 1, "reverse": 1, "blksize": 1448}}
    for value in (101, "x", True):
        counted = [interval(at, lost_percent=value, packets=1000, lost_packets=100, jitter_ms=0.1) for at in range(2)]
        yield case(f"UDP lost_percent={value!r}", document(start=udp, intervals=counted), "lost_percent")
    both = document()
    both["start"]["test_start"]["bidir"] = 1
    for value in ("x", -1.0, True, 1e16):
        tree = copy.deepcopy(both)
        for one in tree["intervals"]:
            one["sum_bidir_reverse"] = one["sum"] | {"bits_per_second": value}
        yield case(f"the reverse of --bidir {value!r}", tree, "bits_per_second")
    text = json.dumps(document())
    for name, wrong in {
        "cut": text[:-40],
        "a warning and nothing": "warning: this system does not seem to support IPv6\n",
        "two commas": text.replace(", ", ",, ", 1),
        "a text that does not end": text.replace('"TCP"', '"TCP', 1),
    }.items():
        yield _case(f"iperf3 {name}", "i.json", wrong, options=(*DELAY, "--from", "iperf3"))
    yield _case("iperf3 without a delay", "i.json", text, "--delay", options=())
    for option, wrong in itertools.product(("--delay", "--rate"), ("fast", "5", "-1 s", "nan s", "1e99 s", "")):
        options = (option, wrong) if option == "--delay" else (*DELAY, option, wrong)
        yield _case(f"iperf3 {option} {wrong}", "i.json", text, f"{option}: ", options=options)


def _streams() -> Iterator[Case]:
    def events(*events: tuple[str, object]) -> str:
        return "".join(json.dumps({"event": event, "data": data}) + "\n" for event, data in events)

    start, end = ("start", document()["start"]), ("end", {})
    for name, text in {
        "start alone": events(start),
        "no interval": events(start, end),
        "an error": events(start, ("error", "control socket has closed unexpectedly")),
        "data of another type": events(start, ("interval", 7)),
        "an interval without a sum": events(start, ("interval", {"streams": []})),
        "a rate of text": events(start, ("interval", interval(0, bits_per_second="fast"))),
        "a negative rate": events(start, ("interval", interval(0, bits_per_second=-1))),
        "an end before the start": events(start, ("interval", interval(0, end=-3.0))),
        "a cut line": events(start, ("interval", interval(0)))[:-30],
        "events without data": '{"event": "start"}\n{"event": "interval"}\n',
        "events of numbers": '{"event": 1, "data": 2}\n',
    }.items():
        yield _case(f"json-stream {name}", "s.json", text, options=(*DELAY, "--from", "iperf3"))


def _texts() -> Iterator[Case]:
    head = (
        "Connecting to host 192.0.2.1, port 5201\n[  5] local 192.0.2.2 port 40000 connected to 192.0.2.1 port 5201\n"
    )
    head += "[ ID] Interval           Transfer     Bitrate\n"

    def row(span: str = "0.00-1.00", rate: str = "10.0 Mbits/sec", stream: str = "5") -> str:
        return f"[{stream:>3}]   {span}   sec  1.19 MBytes  {rate}\n"

    for name, text in {
        "the head alone": head,
        "a rate above all": head + row(rate="99999999 Gbits/sec"),
        "a span that ends first": head + row(span="5.00-1.00"),
        "a span of years": head + row(span="0.00-9999999.00"),
        "two streams without a sum": head + row() + row(stream="7"),
        "all omitted": head + row().rstrip() + "  (omitted)\n",
        "an error": "iperf3: error - unable to connect to server: Connection refused\n",
        "a rate of 0 alone": head + row(rate="0.00 bits/sec") + row("1.00-2.00", "0.00 bits/sec"),
        "a unit that is none": head + row(rate="10.0 Mfurlong/s"),
    }.items():
        yield _case(f"iperf text {name}", "i.txt", text, options=(*DELAY, "--from", "iperf"))


def _tables() -> Iterator[Case]:
    def case(name: str, text: str | bytes, *parts: str, options: tuple[str, ...] = (*RATE, *DELAY)) -> Case:
        return _case(f"table {name}", "t.csv", text, *parts, options=options)

    for unit, cells in {
        "time_s": ("0", "x", "-1e300", "nan", "inf", "1 s", "12:61", "25:00:00"),
        "time_ms": ("0", "soon", "1e300"),
        "timestamp": ("2026-01-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-02-30 00:00:00", "yesterday", "2026-01-01T25:00:00Z"),
        "date": ("31.12.2026 10:00:00", "32.12.2026 10:00:00", "12/31/2026 10:00:00", "31/31/2026 10:00:00"),
    }.items():  # fmt: skip
        good, *wrong = cells
        for cell in wrong:
            if cell == "12/31/2026 10:00:00":
                continue
            yield case(f"{unit}={cell}", f"{unit},rtt_ms\n{good},40\n{cell},41\n", "line 3")
    for column, values in {
        "rtt_ms": ("x", "1e12", "1e400", "40 parsec", "0x1"),
        "delay_ms": ("x", "1e12", "true"),
        "loss": ("x", "1.5", "-0.5"),
        "loss_pct": ("x", "150", "many"),
        "rate_mbps": ("x", "1e12", "1,5,"),
    }.items():
        for value in values:
            text = f"time_s,{column}\n0,0.1\n1,{value}\n2,0.1\n"
            yield case(f"{column}={value}", text, "line 3")
    for name, text in {
        "a header alone": "time_s,rtt_ms\n",
        "two headers": "time_s,rtt_ms\ntime_s,rtt_ms\n",
        "no time": "rtt_ms,loss_pct\n40,1\n41,0\n",
        "nothing that changes": "time_s,name\n0,a\n1,b\n",
        "a column twice": "time_s,rtt_ms,rtt_ms\n0,40,41\n",
        "a row too long": "time_s,rtt_ms\n0,40\n1,41,42\n",
        "a row too short": "time_s,rtt_ms,loss\n0,40,0\n1,41\n",
        "several runs": "time_s,rtt_ms\n" + "1,40\n2,41\n3,42\n4,40\n" * 2,
        "a zone in some rows": "timestamp,rtt_ms\n2026-01-02T00:00:00Z,40\n2026-01-02T00:00:01,41\n",
        "one time": "timestamp,rtt_ms\n2026-01-02T00:00:00Z,40\n2026-01-02T00:00:00Z,41\n",
        "all probes lost": "time_s,rtt_ms\n0,-1\n1,-1\n",
        "all cells empty": "time_s,rtt_ms\n0,\n1,\n",
        "an empty time": "time_s,rtt_ms\n0,40\n,41\n",
        "a span of 30 days": "time_s,rtt_ms\n0,40\n2592000,41\n",
        "mixed zones": "timestamp,rtt_ms\n2026-01-01T00:00:00Z,40\nyesterday,41\n",
        "a word": "carrot\n",
        "numbers alone": "1,2\n3,4\n",
    }.items():
        yield case(name, text, options=(*RATE, "--from", "csv"))
    good = "time_s,rtt_ms,speed\n0,40,3\n1,41,4\n"
    for column in (
        *("up", "up=", "up=speed", "up=speed:", "up=speed:s", "down=nothing:Mbit/s", "rtt=rtt_ms:Mbit/s", "time=speed:B"),
        *("loss=speed:kB", "delay=speed:%", "rate=speed:Mbit", "carrot=speed:ms", "=speed:ms", "time=:s", "up=speed:mbit/s/s"),
    ):  # fmt: skip
        yield case(f"-c {column}", good, "--column" if "nothing" not in column else "nothing", options=("-c", column))
    yield case("a key twice", good, "--column", options=("-c", "up=speed:Mbit/s", "-c", "up=rtt_ms:Mbit/s"))
    for option in (("--missing", "0"), ("-c", "rate=x:Mbit/s")):
        text = "".join(f"64 bytes from 192.0.2.1: icmp_seq={at} ttl=5 time=30 ms\n" for at in range(3))
        yield _case(f"{option[0]} of a ping", "p.txt", text, "of a table", options=(*RATE, "--from", "ping", *option))
    for out in ("x.json", "t.csv"):
        yield case(f"--out {out}", good.replace("speed", "name"), out, options=(*RATE, "--out", out))
