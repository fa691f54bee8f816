"""Tables of measurements: times, missing values, losses and directions, and files that no reader recognises."""

# Lines of files are clearer unbroken.
# ruff: noqa: E501

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lightlag.cli.app import app
from lightlag.errors import InputError
from lightlag.imports import KINDS, Options, kind_of, texts, to_scenario
from lightlag.imports.page import Page


def made(tmp_path: Path, data: str | bytes, name: str = "log.csv", **options: Any) -> tuple[Page, dict[str, Any]]:
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    page = to_scenario(path, options=Options(**({"rate": "10 Mbit/s"} | options)))
    return page, tomllib.loads(page.text)


def rows(page: Page) -> list[list[str]]:
    """The rows of the only trace."""
    (trace,) = page.files.values()
    return [row.split(",") for row in trace.splitlines()[1:]]


TIMES = {
    "seconds since 1970": ("1706700000.5", "1706700002.5"),
    "milliseconds since 1970": ("1706700000000", "1706700002000"),
    "microseconds since 1970": ("1706700000000000", "1706700002000000"),
    "nanoseconds since 1970": ("1706700000000000000", "1706700002000000000"),
    "a zone": ("2026-01-31T12:00:00+01:00", "2026-01-31T11:00:02Z"),
    "a zone by its name": ("2026-01-31 12:00:00 UTC", "2026-01-31 12:00:02 UTC"),
    "a zone of the United States": ("2026-01-31 12:00:00 CDT", "2026-01-31 17:00:02 UTC"),
    "a zone of Europe": ("2026-01-31 12:00:00 cest", "2026-01-31 12:00:02 +0200"),
    "a zone without a colon": ("2026-01-31 12:00:00.5 +0100", "2026-01-31 12:00:02.5 +0100"),
    "day.month.year": ("31.01.2026 23:59:59", "01.02.2026 00:00:01"),
    "day/month/year": ("31/01/2026 12:00:00", "31/01/2026 12:00:02"),
    "month/day/year": ("01/31/2026 11:59:59 AM", "01/31/2026 12:00:01 PM"),
    "year/month/day": ("2026/01/31 12:00:00", "2026/01/31 12:00:02"),
    "digits": ("20260131235959", "20260201000001"),
    "a month by its name": ("31 Jan 2026 23:59:59 +0100", "01 Feb 2026 00:00:01 +0100"),
    "the output of date": ("Sat Jan 31 23:59:59 2026", "Sun Feb 1 00:00:01 2026"),
    "past midnight": ("23:59:59", "00:00:01"),
    "in the afternoon": ("11:59:59 AM", "12:00:01 PM"),
}


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
def test_times_have_many_forms(tmp_path: Path, times: tuple[str, str]) -> None:
    page, scenario = made(tmp_path, f"timestamp,rtt_ms\n{times[0]},40\n{times[1]},42\n")
    assert rows(page) == [["0", "0.02"], ["2", "0.021"]]
    assert scenario["duration"] == "3 s"


def test_an_ambiguous_order_of_day_and_month_is_an_error(tmp_path: Path) -> None:
    text = "date,rtt_ms\n01/02/2026 12:00,40\n01/02/2026 12:01,41\n"
    with pytest.raises(
        InputError,
        match="line 2: date: '01/02/2026 12:00' may start with the day or the month; write --column time=date:d/m/y",
    ):
        made(tmp_path, text)
    for order in ("d/m/y", "m/d/y"):
        assert made(tmp_path, text, columns=(f"time=date:{order}",))[1]["duration"] == "61 s"
    # A later row that is only possible one way decides.
    assert made(tmp_path, text + "13/02/2026 12:00,41\n")[1]["duration"] == f"{12 * 86_400 + 1} s"


def test_seconds_that_can_only_be_milliseconds_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="for milliseconds write --column time=t:ms"):
        made(tmp_path, "t,rtt_ms\n1706700000000,40\n1706700001000,41\n", columns=("time=t:s",))


@pytest.mark.parametrize("code", ["-1", "", "timeout", "NaN", "*", "-"])
def test_a_round_trip_below_zero_or_none_is_a_lost_probe(tmp_path: Path, code: str) -> None:
    page, scenario = made(tmp_path, f"time_s,rtt_ms\n0,{code}\n1,40\n2,{code}\n3,44\n")
    assert [row[1] for row in rows(page)] == ["0.02", "0.02", "0.02", "0.022"]
    assert scenario["links"][0]["loss"] == pytest.approx(1 - 0.5**0.5)
    assert scenario["links"][0]["delay"] == "20 ms"


def test_a_round_trip_of_zero_among_others_is_an_error(tmp_path: Path) -> None:
    text = "time_s,rtt_ms\n0.00,0.00\n0.01,120\n0.02,110\n"
    with pytest.raises(InputError, match=r"line 2: rtt_ms: 0 is not a valid round trip.*--missing 0"):
        made(tmp_path, text)
    assert made(tmp_path, text, missing=("0",))[1]["links"][0]["loss"] == pytest.approx(1 - (2 / 3) ** 0.5)


def test_a_rate_below_zero_is_an_error(tmp_path: Path) -> None:
    text = "time_s,rate_mbps\n0,40\n1,-1\n2,42\n"
    with pytest.raises(
        InputError, match="line 3: rate_mbps: -1 is below 0; if it stands for no value, write --missing -1"
    ):
        made(tmp_path, text, delay="20 ms")
    page, _ = made(tmp_path, text, delay="20 ms", missing=("-1",))
    assert [row[1] for row in rows(page)] == ["40000000", "40000000", "42000000"]


def test_loss_next_to_a_round_trip_is_measured_over_the_round_trip(tmp_path: Path) -> None:
    page, _ = made(tmp_path, "time_s,rtt_ms,loss_pct\n0,40,19\n1,41,0\n")
    assert [float(row[2]) for row in rows(page)] == pytest.approx([0.1, 0.0])
    page, _ = made(tmp_path, "time_s,delay_ms,loss_pct\n0,40,19\n1,41,0\n")
    assert [float(row[2]) for row in rows(page)] == pytest.approx([0.19, 0.0]), "one way"


DISH = "time_s,dl_mbps,ul_mbps,rtt_ms\n0,150,10,40\n1,151,11,41\n"


@pytest.mark.parametrize("columns", [("down=dl_mbps:Mbit/s", "up=ul_mbps:Mbit/s"), ()], ids=["named", "by their names"])
def test_both_directions_have_a_rate_and_a_trace(tmp_path: Path, columns: tuple[str, ...]) -> None:
    page, scenario = made(tmp_path, DISH, columns=columns, rate=None)
    (link,), (flow,) = scenario["links"], scenario["flows"]
    assert link["rate"] == {"forward": "11 Mbit/s", "backward": "151 Mbit/s"}
    traces = {side: page.files[name].splitlines()[1] for side, name in link["trace"].items()}
    assert traces == {"forward": "0,10000000,0.02", "backward": "0,150000000,0.02"}
    assert flow["from"] == "server", "a download"


def test_one_rate_for_both_directions_is_reported(tmp_path: Path) -> None:
    page, _ = made(tmp_path, DISH, columns=("rate=dl_mbps:Mbit/s",), rate=None)
    assert "Both directions have this rate" in page.text


def zipped(data: bytes, *names: str) -> bytes:
    """An archive of files with the same contents."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        for name in names or ["dish.csv"]:
            files.writestr(name, data)
    return archive.getvalue()


def by_arrow(name: str) -> Any:
    def pack(data: bytes) -> bytes:
        pyarrow = pytest.importorskip("pyarrow")
        buffer = pyarrow.BufferOutputStream()
        with pyarrow.CompressedOutputStream(buffer, name) as stream:
            stream.write(data)
        return bytes(buffer.getvalue().to_pybytes())

    return pack


PACKINGS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
    "zstd": by_arrow("zstd"),
    "lz4": by_arrow("lz4"),
}


@pytest.mark.parametrize("pack", PACKINGS.values(), ids=PACKINGS)
def test_compressed_files_are_read(tmp_path: Path, pack: Any) -> None:
    packed = pack(DISH.encode())
    assert made(tmp_path, packed, "dish.csv.gz")[1]["name"] == "dish"
    with pytest.raises(InputError, match="and damaged"):
        made(tmp_path, packed[:-10], "cut.csv.gz")


def test_a_file_that_unpacks_to_too_much_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lightlag.imports.texts.MOST_BYTES", 1 << 20)
    data = DISH.encode() + b"2,152,12,42\n" * 100_000
    for pack in (gzip.compress, zipped):
        with pytest.raises(InputError, match="is larger than"):
            made(tmp_path, pack(data))


def test_an_archive_of_several_files_is_not_guessed_at(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a zip archive of 2 files; unpack it and name one"):
        made(tmp_path, zipped(DISH.encode(), "a.csv", "b.csv"))
    assert made(tmp_path, zipped(DISH.encode(), "a.csv", "__MACOSX/._a.csv"))[1]["flows"]
    with pytest.raises(InputError, match="is a spreadsheet; save the sheet as CSV"):
        made(tmp_path, zipped(b"<xml/>", "[Content_Types].xml", "xl/workbook.xml"))


SCENARIO = """\
name = "x"
[[links]]
between = ["a", "b"]
rate = "1 Mbit/s"
delay = "1 ms"
"""
OTHERS: dict[str, tuple[str | bytes, str]] = {
    "a scenario": (SCENARIO, "is a scenario already"),
    "a scenario in JSON": ('{"links": [], "flows": []}', "is a scenario already"),
    "a compressed scenario": (gzip.compress(SCENARIO.encode()), "is a scenario already"),
    "a study": ('scenario = "x.toml"\n[vary]\n"links.0.loss" = [0, 0.1]\n', "is a study"),
    "a letter": (
        "Dear reader,\n\nthis is a letter, with commas.\nIt is not a table,\nnor anything else.\n",
        "is not recognised",
    ),
    "words": ("a,b,c\nfoo,bar,baz\nfoo,bar,baz\n", "is not recognised"),
    "JSON": ('{"a": 1}', "is not recognised"),
    "a list in JSON": ("[1, 2, 3]", "is not recognised"),
    "XML": ('<?xml version="1.0"?><a/>', "is not recognised"),
    "mtr": (
        "Start: 2026-01-01T00:00:00+0000\nHOST: me    Loss%   Snt   Last   Avg  Best  Wrst StDev\n  1.|-- 10.0.0.1   0.0%    10    0.4   0.5   0.3   0.9   0.1\n",
        "is a report by mtr",
    ),
    "traceroute": (
        "traceroute to a (192.0.2.1), 30 hops max, 60 byte packets\n 1  10.0.0.1 (10.0.0.1)  0.4 ms\n",
        "output of traceroute",
    ),
    "Cisco": (
        "Sending 5, 100-byte ICMP Echos to 192.0.2.1, timeout is 2 seconds:\n!!!!!\nSuccess rate is 100 percent (5/5), round-trip min/avg/max = 40/41/44 ms\n",
        "Cisco IOS",
    ),
    "RouterOS": (
        "  SEQ HOST                                     SIZE TTL TIME  STATUS\n    0 192.0.2.1                                  56  55 40ms\n    sent=1 received=1 packet-loss=0% min-rtt=40ms avg-rtt=40ms max-rtt=40ms\n",
        "RouterOS",
    ),
    "a web page": ("<!DOCTYPE html>\n<html></html>\n", "is a web page"),
    "a program": ("#!/bin/sh\nping -c 3 192.0.2.1\n", "is a program"),
    "zstd": (bytes.fromhex("28b52ffd") + b"abc", "compressed by zstd"),
    "zip": (b"PK\x03\x04abc", "compressed by zip and damaged"),
    "Parquet": (b"PAR1abc", "Parquet"),
    "bytes": (b"\x01\x02\x00\xff" * 100, "is not text"),
    "a speed test": ('{"type":"result","download":{"bandwidth":1}}', "speed test"),
}


@pytest.mark.parametrize(("data", "message"), OTHERS.values(), ids=OTHERS)
def test_what_no_reader_recognises_is_named(tmp_path: Path, data: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=r"^[^\n]*$") as error:
        made(tmp_path, data, "file")
    assert message in str(error.value)
    assert "column" not in str(error.value), "it is never taken for a table"
    if message == "is not recognised":
        for known in ("iperf3", "ping", "irtt", "mahimahi", "table", "pcap"):
            assert known in str(error.value)


def test_a_device_or_a_pipe_is_rejected_immediately(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(InputError, match=r"is a device or a pipe|is not a regular file"):
            kind_of(path)


def test_columns_make_a_table_of_anything_else(tmp_path: Path) -> None:
    page, _ = made(tmp_path, "x y\na 1\nb 2\n", columns=("time=y:s", "rtt=y:ms"))
    assert "A table with 2 rows" in page.text


def test_every_kind_has_a_reader() -> None:
    from lightlag.imports import _reader

    for kind in KINDS:
        reader = _reader(kind)
        assert reader.ABOUT
        assert callable(reader.recognises)
        assert callable(reader.read)


def test_nothing_is_written_when_the_check_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(DISH)
    failed = CliRunner().invoke(app, ["import", "log.csv", "--delay", "soon"])
    assert failed.exit_code == 2
    assert "--delay: " in failed.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]
    failed = CliRunner().invoke(app, ["import", "log.csv", "-o", "log.json"])
    assert failed.exit_code == 2
    assert "write --out log.toml" in failed.stderr


def test_the_warnings_of_check_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    far = "".join(f"$node_({node}) set X_ {node * 500}.0\n$node_({node}) set Y_ 0.0\n" for node in range(2))
    (tmp_path / "far.txt").write_text(far + '$ns_ at 1.0 "$node_(1) setdest 510.0 10.0 5.0"\n')
    call = CliRunner()
    done = call.invoke(app, ["import", "far.txt"])
    assert done.exit_code == 0, done.stderr
    checked = call.invoke(app, ["check", "far.toml"])
    assert checked.exit_code == 0
    warnings = [text for text in checked.stdout.splitlines() if text.startswith("warning: ")]
    assert warnings, "two nodes with 500 m between them"
    assert [text for text in done.stderr.splitlines() if text.startswith("warning: ")] == warnings


def test_a_rejected_option_shows_control_characters_as_escapes(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        made(tmp_path, "time,rate_mbps\n0,1\n1,2\n", columns=("t\x1ame=1:s",))
    assert "\x1a" not in str(refused.value)
    assert "t\\x1ame" in str(refused.value)


@pytest.mark.parametrize("letters", range(3))
def test_a_long_file_is_recognised_wherever_its_start_ends(tmp_path: Path, letters: int) -> None:
    path = tmp_path / "long.txt"
    rounds = ",".join(
        f'{{"delay": {{"rtt": 30000000}}, "timestamps": {{"client": {{"send": {{"wall": {at}}}}}}}}}'
        for at in range(500)
    )
    path.write_text(f'{{"round_trips": [{rounds}]}}')
    assert kind_of(path) == "irtt", "one line"
    # A UTF-8 file stays one if the part that is looked at ends within a letter.
    rows = "".join(f"{at};{at % 9 + 1}\n" for at in range(8_000))
    path.write_text(f"# {'x' * letters}{'ж' * 10_000}\nt;скорость\n{rows}", encoding="utf-8")
    assert texts.start(path).startswith(f"# {'x' * letters}ж")


LONG = "x" * 50_000


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("a.csv", f"time,{LONG}\n1,2\n2,3\n", ()),
        ("a.csv", "time,rate\n1,2\n2,3\n", (f"rate=rate:{LONG}",)),
        ("a.csv", "time,rate\n1,2\n2,3\n", (f"{LONG}=rate",)),
        ("a.csv", f"time,{LONG}\n1,2\n2,3\n", ("rate=speed:Mbit/s",)),
        ("a.json", f'{{"intervals": [], "error": "{LONG}"}}', ()),
        ("a.tcl", f"$node_(0) set X_ {LONG}\n$node_(1) set X_ 1\n", ()),
        ("a.xml", f"<fcd-export>\n<timestep time='5'><vehicle id='{LONG}' x='1' y='0'/></timestep>"
         f"<timestep time='1'><vehicle id='{LONG}' x='1' y='0'/></timestep>\n</fcd-export>", ()),
    ],
)  # fmt: skip
def test_an_error_quotes_a_part_of_a_long_value(tmp_path: Path, name: str, text: str, columns: tuple[str]) -> None:
    with pytest.raises(InputError) as refused:
        made(tmp_path, text, name, columns=columns)
    assert len(str(refused.value)) < 1500


def test_a_long_cell_that_is_not_a_date_is_rejected(tmp_path: Path) -> None:
    # Blanks in a cell once took a time that grows with the square of their number.
    with pytest.raises(InputError, match="is neither a number nor a date"):
        made(tmp_path, f"time,rate_mbps\n1{' ' * 100_000}x,3\n2,3\n")
