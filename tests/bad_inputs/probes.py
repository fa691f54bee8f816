"""Probes that ``import`` does not take: ping in several languages, fping and irtt."""

# The calls are wrong on purpose, and texts of files are clearer on one line.
# mypy: ignore-errors
# ruff: noqa: E501

from __future__ import annotations

import bz2
import gzip
import itertools
import json
import lzma
from collections.abc import Iterator

from bad_inputs.case import Case

RATE = ("--rate", "10 Mbit/s")
HEADERS = {
    "Linux": ("PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.", "--- 192.0.2.1 ping statistics ---"),
    "macOS": ("PING 192.0.2.1 (192.0.2.1): 56 data bytes", "--- 192.0.2.1 ping statistics ---"),
    "German": ("PING 192.0.2.1 (192.0.2.1) 56(84) Bytes Daten.", "--- 192.0.2.1 Ping-Statistiken ---"),
    "French": ("PING 192.0.2.1 (192.0.2.1) 56(84) octets de données.", "--- statistiques ping 192.0.2.1 ---"),
}
DEAD = {
    "Linux": "5 packets transmitted, 0 received, 100% packet loss, time 4088ms",
    "macOS": "5 packets transmitted, 0 packets received, 100.0% packet loss",
    "German": "5 Pakete übertragen, 0 empfangen, 100% Paketverlust, Zeit 4088 ms",
    "French": "5 paquets transmis, 0 reçus, 100% packet loss, time 4088 ms",
}
UNREACHABLE = "From 192.0.2.9 icmp_seq=1 Destination Host Unreachable"
WINDOWS = {
    "English": (
        "Pinging 192.0.2.1 with 32 bytes of data:",
        "Request timed out.",
        "    Packets: Sent = 2, Received = 0, Lost = 2 (100% loss),",
    ),
    "German": (
        "Ping wird ausgeführt für 192.0.2.1 mit 32 Bytes Daten:",
        "Zeitüberschreitung der Anforderung.",
        "    Pakete: Gesendet = 2, Empfangen = 0, Verloren = 2 (100% Verlust),",
    ),
    "Polish": (
        "Badanie 192.0.2.1 z 32 bajtami danych:",
        "Upłynął limit czasu żądania.",
        "    Pakiety: Wysłane = 2, Odebrane = 0, Utracone = 2 (100% straty),",
    ),
    "Spanish": (
        "Haciendo ping a 192.0.2.1 con 32 bytes de datos:",
        "Tiempo de espera agotado para esta solicitud.",
        "    Paquetes: enviados = 2, recibidos = 0, perdidos = 2 (100% perdidos),",
    ),
}
"""Header, line of a lost probe, and summary of a ping of Windows."""


LOST = ("upstream_loss_percent", "downstream_loss_percent")


def answer(number: int | str, rtt: str = "30.1", host: str = "192.0.2.1") -> str:
    return f"64 bytes from {host}: icmp_seq={number} ttl=55 time={rtt} ms"


def probes() -> Iterator[Case]:
    yield from _pings()
    yield from _fpings()
    yield from _irtts()
    yield from _packed()


def _case(name: str, text: str | bytes, *parts: str, file: str = "ping.txt", options: tuple[str, ...] = RATE) -> Case:
    return Case(name, ("import", file, *options), files=((file, text),), parts=parts or (file,))


def _pings() -> Iterator[Case]:
    for language, (header, statistics) in HEADERS.items():
        dead = f"{header}\n\n{statistics}\n{DEAD[language]}\n"
        yield _case(f"no answer in {language}", dead, "none of 5 probes received a reply")
        yield _case(f"unreachable in {language}", dead.replace("\n\n", f"\n{UNREACHABLE}\n"), "none of 5 probes")
        other = f"{header}\n{answer(1)}\n{header.replace('192.0.2.1', '192.0.2.7')}\n{answer(1, host='192.0.2.7')}\n"
        yield _case(f"two hosts in {language}", other, "192.0.2.1 and 192.0.2.7")
        for name, wrong in (("a negative", "-3.0"), ("a word", "soon"), ("nothing", ""), ("no number", "nan")):
            text = f"{header}\n{answer(1, wrong)}\n"
            yield _case(f"{name} round trip in {language}", text, "ping.txt")
        yield _case(f"a number of 33 bits in {language}", f"{header}\n{answer(2**32)}\n", "line 2", "4294967296")
        yield _case(f"no rate in {language}", f"{header}\n{answer(1)}\n", "--rate", options=())
        yield _case(f"only the header in {language}", f"{header}\n", "no reply")
    for language, (header, lost, summary) in WINDOWS.items():
        yield _case(f"Windows, no answer in {language}", f"{header}\n{lost}\n{lost}\n\n{summary}\n", "none of 2 probes")
        yield _case(f"Windows, {language} in UTF-16", f"{header}\n{lost}\n{summary}\n".encode("utf-16"), "none of ")
        yield _case(f"Windows, only the summary in {language}", f"{header}\n{summary}\n", "none of 2 probes")
    for unit in ("ns", "min", "h", "m"):
        text = f"{HEADERS['Linux'][0]}\n{answer(1).replace(' ms', f' {unit}')}\n"
        yield _case(f"a round trip in {unit}", text, unit)
    for interval in ("0", "-1", "nan", "x", "1e9", "1e-9", ""):
        text = f"{HEADERS['Linux'][0]}\n{answer(1)}\n"
        arguments = ("import", "ping.txt", *RATE, "--interval", interval)
        yield Case(f"--interval {interval}", arguments, files=(("ping.txt", text),), parts=("--interval",), usage=True)
    huge = f"{HEADERS['Linux'][0]}\n{answer(1)}\n{HEADERS['Linux'][1]}\n9999999999 packets transmitted, 1 received, 99% packet loss\n"
    yield _case("a summary of too many probes", huge, "ping.txt")


def _fpings() -> Iterator[Case]:
    line = "192.0.2.1 : [{}], 64 bytes, {} ms (30.1 avg, 0% loss)\n"
    good = line.format(0, "30.1")
    for name, text in (
        ("two hosts", good + good.replace("192.0.2.1", "192.0.2.7")),
        (
            "no reply",
            "192.0.2.1 : [0], timed out (NaN avg, 100% loss)\n192.0.2.1 : [1], timed out (NaN avg, 100% loss)\n",
        ),
        ("a round trip of text", line.format(0, "soon")),
        ("a negative round trip", line.format(0, "-3.0")),
        ("a round trip of years", line.format(0, "1e15")),
        ("a number without end", line.format("9" * 30, "30.1")),
        ("a number of text", line.format("one", "30.1")),
        ("dead in quiet mode", "192.0.2.1 : - - - - -\n"),
        ("a summary alone", "192.0.2.1 : xmt/rcv/%loss = 5/0/100%\n"),
    ):
        for kind in ((), ("--from", "fping")):
            options = (*RATE, *kind)
            yield _case(f"fping {name} {' '.join(kind)}", text, "f.txt", file="f.txt", options=options)
    yield _case("fping without a rate", good, "--rate", file="f.txt", options=())


def _irtts() -> Iterator[Case]:
    def trip(at: int) -> dict:
        sent = 1_700_000_000_000_000_000 + at * 10**9
        return {
            "seqno": at,
            "lost": "false",
            "timestamps": {"client": {"send": {"wall": sent, "monotonic": sent}}},
            "delay": {"rtt": 30_000_000, "send": 10_000_000, "receive": 20_000_000},
        }

    def document(*trips: object, **more: object) -> str:
        return json.dumps({"round_trips": list(trips), "stats": {}, **more})

    def changed(*path: str, value: object) -> str:
        tree = trip(1)
        place = tree
        for step in path[:-1]:
            place = place[step]
        if value is ...:
            del place[path[-1]]
        else:
            place[path[-1]] = value
        return document(trip(0), tree)

    lost = trip(0) | {"lost": "true", "delay": {}}
    for name, text in (
        ("no trips", document()),
        ("trips of numbers", document(1, 2)),
        ("trips as a table", json.dumps({"round_trips": {"a": 1}})),
        ("trips as a text", json.dumps({"round_trips": "none"})),
        ("all lost", document(lost, lost)),
        ("cut", document(trip(0), trip(1))[:200]),
        ("a list", f"[{document(trip(0))}]"),
    ):
        yield _case(f"irtt {name}", text, "i.json", file="i.json", options=(*RATE, "--from", "irtt"))
    for path, values in (
        (("timestamps",), (..., None, 7, "now")),
        (("timestamps", "client"), (..., None, [])),
        (("timestamps", "client", "send"), (..., None, 7)),
        (("timestamps", "client", "send", "monotonic"), ("x", [], True, -1e300)),
        (("delay", "rtt"), ("x", -5, [], True, 1e300)),
    ):
        for value in values:
            shown = "is missing" if value is ... else repr(value)
            text = changed(*path, value=value)
            yield _case(f"irtt {'.'.join(path)} {shown}", text, "i.json", file="i.json")
    for key in LOST:
        for value in (101, "x", True, []):
            text = document(trip(0), trip(1), stats=dict.fromkeys(LOST, 1) | {key: value})
            yield _case(f"irtt {key} {value!r}", text, "i.json", key, file="i.json")


def _packed() -> Iterator[Case]:
    text = f"{HEADERS['Linux'][0]}\n{answer(1)}\n".encode() * 40
    packings = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
    for (name, compress), (fault, hurt) in itertools.product(
        packings.items(),
        {
            "cut": lambda data: data[: len(data) // 2],
            "only the first bytes": lambda data: data[:6],
            "a changed byte": lambda data: data[:30] + bytes([data[30] ^ 0xFF]) + data[31:],
        }.items(),
    ):
        yield _case(f"{name} {fault}", hurt(compress(text)), "ping.z", name, file="ping.z")
    for name, compress in packings.items():
        yield _case(f"{name} of nothing", compress(b""), "ping.z", "is empty", file="ping.z")
        yield _case(f"{name} of zeros", compress(bytes(500)), "ping.z", file="ping.z")
        yield _case(f"{name} of prose", compress(b"Dear all,\nwe measured.\n"), "is not recognised", file="ping.z")
    for name, magic in {
        "zstd": b"\x28\xb5\x2f\xfd",
        "lz4": b"\x04\x22\x4d\x18",
        "zip": b"PK\x03\x04",
        "Parquet": b"PAR1",
        "Excel": b"\xd0\xcf\x11\xe0",
        "SQLite": b"SQLite format 3\0",
        "PDF": b"%PDF-1.7\n",
    }.items():
        yield _case(name, magic + bytes(range(200)), name, file="data.bin")
    for name, text, part in (
        ("a web page", "<!DOCTYPE html>\n<html></html>\n", "is a web page"),
        ("mtr", "Start: 2026-01-01T00:00:00+0000\nHOST: a  Loss%   Snt\n", "mtr"),
        ("traceroute", "traceroute to 192.0.2.1 (192.0.2.1), 30 hops max\n 1  a  1 ms\n", "traceroute"),
        ("tracert", "Tracing route to 192.0.2.1 over a maximum of 30 hops\n", "traceroute"),
        ("RouterOS", "  SEQ HOST     SIZE TTL TIME  STATUS\n    0 192.0.2.1  56  55 30ms\n", "RouterOS"),
        ("Cisco IOS", "Sending 5, 100-byte ICMP Echos to 192.0.2.1, timeout is 2 seconds:\n!!!!!\n", "Cisco IOS"),
        ("Test-Connection", "Source        Destination     IPV4Address\n------        -----------\n", "Test-Connection"),
        ("a speed test", "   Speedtest by Ookla\n\n     Latency: 11.2 ms\n", "speed test"),
        ("a scenario", 'duration = "1 s"\n[[links]]\nrate = "1 Mbit/s"\n', "lightlag run"),
        ("a scenario in JSON", '{"links": [], "flows": []}', "lightlag run"),
        ("a study", 'scenarios = ["geo"]\n', "lightlag study run"),
        ("a program", "#!/bin/sh\nping 192.0.2.1\n", "is a program"),
        ("prose", "Dear all,\nplease find the figures attached.\n", "is not recognised", ),
        ("a mail", "From: a\nTo: b\nSubject: c\n\nd\n", "is not recognised"),
        ("JSON of something else", '{"speed": 3}', "is not recognised"),
        ("a log", "Jan  1 00:00:00 host kernel: eth0: link up\nJan  1 00:00:01 host kernel: eth0: down\n", "is not recognised"),
    ):  # fmt: skip
        yield _case(name, text, part, file="thing.txt")
