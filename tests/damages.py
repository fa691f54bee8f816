"""Good measurements of every kind, and damages of files."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hypatia_files import hypatia_network

__all__ = ["DAMAGES", "SAMPLES", "Sample"]


@dataclass(frozen=True)
class Sample:
    """A good measurement, and the values that damages change."""

    kind: str
    file: str
    text: str
    value: str
    """A number in the middle of the file that the importer reads, ``around`` is the text around it."""
    around: str = "{}"
    unit: tuple[str, str] = ("", "")
    """The unit of a number, with a letter of its surroundings, and the same with a unit that does not exist."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """Other files of the measurement, which are not damaged."""

    def with_value(self, value: str) -> bytes:
        """Returns the measurement with another number."""
        before = self.around.format(self.value)
        assert self.text.count(before) == 1, f"{self.kind}: {before!r} occurs {self.text.count(before)} times"
        return self.text.replace(before, self.around.format(value)).encode()


IPERF3 = json.dumps(
    {
        "start": {"version": "iperf 3.16", "timestamp": {"timesecs": 1_700_000_000}, "test_start": {"protocol": "TCP"}},
        "intervals": [
            {"sum": {"start": at, "end": at + 1, "bits_per_second": bps, "omitted": False, "sender": True}}
            for at, bps in enumerate((2_500_000, 9_990_000, 10_010_000, 10_020_000, 10_030_000, 10_040_000))
        ],
        "end": {"sum_sent": {"seconds": 6}, "streams": [{"sender": {"min_rtt": 40_000}}]},
    },
    indent=1,
)
HAR = json.dumps(
    {
        "log": {
            "version": "1.2",
            "creator": {"name": "browser", "version": "140"},
            "entries": [
                {
                    "startedDateTime": f"2026-01-31T12:00:00.{start:03}Z",
                    "time": 60 + wait,
                    "request": {"url": f"https://example.org/{name}", "headersSize": 400, "bodySize": 0},
                    "response": {
                        "status": 200,
                        "httpVersion": "h2",
                        "headersSize": 300,
                        "bodySize": size,
                        "content": {"size": size, "mimeType": kind},
                    },
                    "timings": {"connect": 40, "ssl": 20, "send": 0, "wait": wait, "receive": 20},
                }
                for start, name, size, wait, kind in (
                    (0, "", 30_000, 50, "text/html"),
                    (200, "a.css", 8_000, 47, "text/css"),
                    (400, "b.png", 50_000, 45, "image/png"),
                )
            ],
        }
    },
    indent=1,
)
IPERF = """\
Connecting to host 192.0.2.2, port 5201
[  5] local 192.0.2.1 port 40000 connected to 192.0.2.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  1.25 MBytes  10.5 Mbits/sec    0    160 KBytes
[  5]   1.00-2.00   sec  1.26 MBytes  10.6 Mbits/sec    0    160 KBytes
[  5]   2.00-3.00   sec  1.27 MBytes  10.7 Mbits/sec    1    160 KBytes
[  5]   3.00-4.00   sec  1.25 MBytes  10.5 Mbits/sec    0    160 KBytes
"""
NUTTCP = """\
nuttcp-t: v8.1.4: socket
nuttcp-t: buflen=65536, nstream=1, port=5001 tcp -> 192.0.2.1
nuttcp-t: connect to 192.0.2.1 with mss=1460, RTT=48.100 ms af=inet
nuttcp-r: interval reporting every 1.00 second
    2.5000 MB /   1.00 sec =   20.9715 Mbps     0 retrans    200 KB-cwnd
    2.6000 MB /   1.00 sec =   21.8104 Mbps     1 retrans    200 KB-cwnd
    2.4375 MB /   1.00 sec =   20.4472 Mbps     0 retrans    200 KB-cwnd
nuttcp-t: 7.5375 MB in 3.00 real seconds = 2572.80 KB/sec = 21.0764 Mbps
nuttcp-r: 7.5375 MB in 3.05 real seconds = 2530.62 KB/sec = 20.7309 Mbps
"""
NUTTCP_PARSED = """\
megabytes=2.5000 real_sec=1.00 rate_Mbps=20.9715 drop=1 pkt=2561 data_loss=0.03905
megabytes=2.6000 real_sec=1.00 rate_Mbps=21.8104 drop=0 pkt=2662 data_loss=0.00000
megabytes=2.4375 real_sec=1.00 rate_Mbps=20.4472 drop=2 pkt=2498 data_loss=0.08006
megabytes=7.5375 real_seconds=3.00 rate_Mbps=21.0764 tx_cpu=2 rx_cpu=1 drop=3 pkt=7721 data_loss=0.03886
"""
PING = """\
PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
[1700000000.048] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=55 time=48.1 ms
[1700000001.045] 64 bytes from 192.0.2.1: icmp_seq=2 ttl=55 time=44.9 ms
[1700000002.061] 64 bytes from 192.0.2.1: icmp_seq=3 ttl=55 time=61.3 ms
[1700000003.047] 64 bytes from 192.0.2.1: icmp_seq=4 ttl=55 time=47.3 ms
"""
FPING = """\
[1700000000.05] 192.0.2.1 : [0], 64 bytes, 40.1 ms (40.1 avg, 0% loss)
[1700000001.05] 192.0.2.1 : [1], 64 bytes, 41.0 ms (40.5 avg, 0% loss)
[1700000002.05] 192.0.2.1 : [2], 64 bytes, 43.7 ms (41.6 avg, 0% loss)
"""
IRTT = json.dumps(
    {
        "stats": {"upstream_loss_percent": 0.0, "downstream_loss_percent": 0.0},
        "round_trips": [
            {
                "seqno": at,
                "delay": {"rtt": rtt},
                "timestamps": {
                    "client": {"send": {"wall": 1_700_000_000_000_000_000 + at * 10**9, "monotonic": at * 10**9}}
                },
            }
            for at, rtt in enumerate((30_000_000, 31_000_000, 33_000_000))
        ],
    },
    indent=1,
)
IRTT_TEXT = """\
[192.0.2.1:2112] [Connected] connection established
seq=0 rtt=30.1ms rd=15.2ms sd=14.9ms ipdv=n/a
seq=1 rtt=31.2ms rd=15.2ms sd=16ms ipdv=1.1ms
seq=2 rtt=33.3ms rd=16.2ms sd=17.1ms ipdv=2.1ms
                duration: 2.1s (wait 99.9ms)
   packets sent/received: 3/3 (0.00% loss)
 server packets received: 3/3 (0.00%/0.00% loss up/down)
"""
LENS_PING = "timestamp,rtt\n1700000000.0,41.2\n1700000000.5,43.7\n1700000001.0,-1\n1700000001.5,42.2\n"
LENS_IRTT = """\
timestamp,rtt,uplink,downlink
1700000000000000000,41.2,20.1,21.1
1700000000010000000,0,-1,0
1700000000020000000,43.7,22.1,21.6
1700000000030000000,-1,0,0
1700000000040000000,42.9,21.1,21.8
"""
TABLE = """\
timestamp,dl_mbps,ul_mbps,rtt_ms,loss_pct
2026-01-31T12:00:00Z,150.5,10.5,40.25,0.5
2026-01-31T12:00:01Z,151.5,11.5,41.75,0.25
2026-01-31T12:00:02Z,152.5,12.5,42.5,0.75
2026-01-31T12:00:03Z,153.5,13.5,43.5,0.5
"""
MOVEMENTS = """\
$node_(0) set X_ 0.5
$node_(0) set Y_ 0.5
$node_(1) set X_ 30.25
$node_(1) set Y_ 40.5
$ns_ at 1.0 "$node_(1) setdest 10.5 10.5 5.5"
"""
COURSES = """\
now=+0ns node=0 pos=0:0:0 vel=0:0:0
now=+0ns node=1 pos=50:0:0 vel=-1.25:0:0
now=+10000000000ns node=1 pos=37.5:0:0 vel=0:0:0
"""
VEHICLES = """\
<?xml version="1.0" encoding="UTF-8"?>
<fcd-export>
<timestep time="0.00"><vehicle id="car" x="1.5" y="0"/><vehicle id="bus" x="40.5" y="0"/></timestep>
<timestep time="1.00"><vehicle id="car" x="3.25" y="0"/><vehicle id="bus" x="41.5" y="0"/></timestep>
<timestep time="2.00"><vehicle id="car" x="5.5" y="0"/><vehicle id="bus" x="42.5" y="0"/></timestep>
</fcd-export>
"""
NETWORK = hypatia_network()
WAYPOINTS = "0.0 0.5 0.5 5.5 10.5 10.5\n0.0 30.25 40.5 8.0 20.5 20.5\n0.0 3.5 4.5 9.0 2.5 2.5\n"
SAMPLES: Mapping[str, Sample] = {
    "iperf3": Sample("iperf3", "t.json", IPERF3, "10020000", unit=("bits_per_second", "bits_per_fortnight")),
    "har": Sample("har", "page.har", HAR, "47", '"wait": {},'),
    "iperf": Sample("iperf", "t.txt", IPERF, "10.7", unit=("Mbits/sec", "Mbits/fortnight")),
    "nuttcp": Sample("nuttcp", "t.txt", NUTTCP, "21.8104", unit=("Mbps", "Mfps")),
    "nuttcp -fparse": Sample("nuttcp", "p.txt", NUTTCP_PARSED, "21.8104", unit=("rate_Mbps", "rate_Mfps")),
    "ping": Sample("ping", "p.txt", PING, "44.9", unit=(" ms", " parsec")),
    "fping": Sample("fping", "f.txt", FPING, "41.0", unit=(" ms", " parsec")),
    "irtt": Sample("irtt", "i.json", IRTT, "31000000"),
    "irtt text": Sample("irtt", "i.txt", IRTT_TEXT, "31.2", unit=("ms", "parsec")),
    "LENS ping": Sample("lens", "l.csv", LENS_PING, "43.7", unit=("rtt", "parsecs")),
    "LENS irtt": Sample("lens", "l.csv", LENS_IRTT, "43.7", unit=("rtt", "parsecs")),
    "table": Sample("csv", "t.csv", TABLE, "152.5", unit=("dl_mbps", "dl_mfps")),
    "mahimahi": Sample("mahimahi", "c.down", "1\n4\n9\n13\n17\n", "9"),
    "delays": Sample("delays", "d.txt", "12\n12\n16.5\n14\n12\n", "16.5"),
    "hypatia": Sample(
        "hypatia",
        "networkx_rtt_1_to_2.txt",
        "0,40000000\n100000000,41000000\n200000000,42000000\n",
        "41000000",
        beside={"networkx_path_1_to_2.txt": "0,1-7-2\n"},
    ),
    **{
        f"hypatia {file}": Sample("hypatia-network", file, NETWORK[file], value, beside=NETWORK)
        for file, value in (("tles.txt", "142.9412"), ("isls.txt", "0 4"), ("ground_stations.txt", "38.913811"))
    },
    "ns2": Sample("ns2", "m.tcl", MOVEMENTS, "30.25"),
    "ns3": Sample("ns3", "m.mob", COURSES, "37.5"),
    "sumo": Sample("sumo", "m.xml", VEHICLES, "3.25", 'x="{}"'),
    "bonnmotion": Sample("bonnmotion", "m.movements", WAYPOINTS, "20.5 20.5"),
}
"""A good measurement of each kind that is text."""


def _lines(sample: Sample) -> list[str]:
    return sample.text.splitlines(keepends=True)


def _cut_line(sample: Sample) -> bytes:
    lines = _lines(sample)
    at = next(at for at, line in enumerate(lines) if sample.value in line)
    lines[at] = lines[at][: lines[at].index(sample.value) + 1] + "\n"
    return "".join(lines).encode()


def _long_line(sample: Sample) -> bytes:
    lines = _lines(sample)
    at = next(at for at, line in enumerate(lines) if sample.value in line)
    lines[at] = lines[at].rstrip("\n") + ",7,7,7\n"
    return "".join(lines).encode()


def _garbage(size: int) -> bytes:
    return random.Random(7).randbytes(size)


def _in_middle(sample: Sample, data: bytes) -> bytes:
    good = sample.text.encode()
    return good[: len(good) // 2] + data + good[len(good) // 2 :]


def _half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _without_zones(sample: Sample) -> bytes:
    return re.sub(r"(:02)Z", r"\1", sample.text).encode()


DAMAGES: Mapping[str, Callable[[Sample], bytes]] = {
    # Damages that change nothing.
    "line ends of Windows": lambda one: one.text.replace("\n", "\r\n").encode(),
    "a byte-order mark": lambda one: b"\xef\xbb\xbf" + one.text.encode(),
    "UTF-16": lambda one: one.text.encode("utf-16"),
    "compressed": lambda one: gzip.compress(one.text.encode(), mtime=0),
    "no last line end": lambda one: one.text.rstrip("\n").encode(),
    "blank lines": lambda one: one.text.encode() + b"\n\n \n",
    # Damages that leave nothing.
    "empty": lambda one: b"",
    "blank": lambda one: b" \n\n",
    "NUL bytes": lambda one: _in_middle(one, b"\0\0\0"),
    "binary": lambda one: _garbage(2000),
    "compressed garbage": lambda one: gzip.compress(_garbage(2000), mtime=0),
    "half of a compressed file": lambda one: _half(gzip.compress(one.text.encode(), mtime=0)),
    "a web page": lambda one: b"<!doctype html>\n<html><body>404 not found</body></html>\n",
    # Damages of the content.
    "cut in the middle": lambda one: _half(one.text.encode()),
    "only the first line": lambda one: _lines(one)[0].encode(),
    "the first line twice": lambda one: (_lines(one)[0] + one.text).encode(),
    "bytes in the middle": lambda one: _in_middle(one, b"\xfe\x80\x81\x1b\x07"),
    "other separators": lambda one: one.text.replace(",", "|").replace(" ", "|").encode(),
    "decimal commas": lambda one: re.sub(r"(\d)\.(\d)", r"\1,\2", one.text).encode(),
    "lines backwards": lambda one: "".join(reversed(_lines(one))).encode(),
    "another unit": lambda one: (
        one.text.replace(*one.unit).encode() if one.unit[0] else one.with_value(one.value + " parsec")
    ),
    "a line too short": _cut_line,
    "a line too long": _long_line,
    "no zone in one row": _without_zones,
    # Damages of a value.
    "a huge number": lambda one: one.with_value("9" * 40),
    "too large for a number": lambda one: one.with_value("1e400"),
    "a negative number": lambda one: one.with_value(f"-{one.value}"),
    "not a number": lambda one: one.with_value("nan"),
    "infinite": lambda one: one.with_value("inf"),
    "a letter O": lambda one: one.with_value("4O.3"),
    "two points": lambda one: one.with_value("4.0.3"),
    "no number": lambda one: one.with_value(""),
    "digits of other scripts": lambda one: one.with_value("٤٥"),
}
"""Damages by name: functions from a good measurement to the bytes of a damaged one."""
