"""Measurements of nuttcp, LENS and LeoReplayer, a column or a file for each direction, and a file of delays."""

# Lines of files are clearer unbroken.
# ruff: noqa: E501

from __future__ import annotations

import gzip
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import lightlag as ll
from damages import LENS_IRTT, NUTTCP, PING, SAMPLES
from lightlag.cli.app import app
from lightlag.errors import InputError
from lightlag.imports import Options, Page, kind_of, to_scenario


def made(tmp_path: Path, name: str, text: str, **options: Any) -> tuple[Page, dict[str, Any]]:
    path = tmp_path / name
    path.write_text(text)
    page = to_scenario(path, options=Options(**options))
    return page, tomllib.loads(page.text)


def rows(text: str) -> list[list[float]]:
    return [[float(cell) for cell in row.split(",")] for row in text.splitlines()[1:]]


# nuttcp


def test_nuttcp_gives_rate_round_trip_and_direction(tmp_path: Path) -> None:
    _, scenario = made(tmp_path, "t.txt", NUTTCP)
    (link,), (flow,) = scenario["links"], scenario["flows"]
    # The median of 20.97, 21.81 and 20.45 Mbit/s, with 52 B of headers for each 1460 − 12 B: · 1500 / 1448.
    assert link["rate"] == f"{20.9715 * 1500 / 1448:.6g} Mbit/s"
    assert link["delay"] == "24.05 ms"
    assert (flow["from"], flow["to"]) == ("client", "server")


def test_a_client_of_nuttcp_that_receives_is_a_download(tmp_path: Path) -> None:
    # The client prints what it is first.
    swapped = NUTTCP.replace("nuttcp-t", "nuttcp-x").replace("nuttcp-r", "nuttcp-t").replace("nuttcp-x", "nuttcp-r")
    _, scenario = made(tmp_path, "t.txt", swapped)
    assert scenario["flows"][0]["from"] == "server"


SUMMARIES = {
    "brief": "   10.0000 MB /   4.00 sec =   20.9715 Mbps 1 %TX 2 %RX 3 retrans 48.10 msRTT\n",
    "brief of the host": "   10.0000 MB /   4.00 sec =   20.9715 Mbps 1 %TX 2 %RX 3 host-retrans 48.10 msRTT\n",
    "verbose": "nuttcp-t: connect to 192.0.2.1 with mss=1460, RTT=48.100 ms af=inet\nnuttcp-t: retrans = 3\n"
    "nuttcp-r: 10.0000 MB in 4.00 real seconds = 2560.00 KB/sec = 20.9715 Mbps\n",
    "parsed": "nuttcp-t: connect=192.0.2.1 mss=1460 rtt_ms=48.1\nnuttcp-t: retrans=3\n"
    "nuttcp-r: megabytes=10.0000 real_seconds=4.00 rate_KBps=2560.00 rate_Mbps=20.9715\n",
}


@pytest.mark.parametrize("summary", SUMMARIES)
def test_both_summaries_of_nuttcp_give_the_rate_alone(summary: str, tmp_path: Path) -> None:
    page, scenario = made(tmp_path, "t.txt", SUMMARIES[summary])
    assert scenario["links"][0]["rate"] == f"{20.9715 * 1500 / 1448:.6g} Mbit/s"
    assert scenario["links"][0]["delay"] == "24.05 ms"
    assert scenario["duration"] == "4 s"
    assert "3 segments were retransmitted" in page.text


def test_a_rate_that_varies_becomes_a_trace(tmp_path: Path) -> None:
    amounts = (2.5, 2.5, 5.0, 5.0, 3.75, 3.75, 4.5)
    lines = [f"  {mb:.4f} MB /   1.00 sec = {mb * 8 * 2**20 / 1e6:.4f} Mbps  0 retrans\n" for mb in amounts]
    page, _ = made(tmp_path, "t.txt", "".join(lines), delay="20 ms")
    assert [round(rate * 1448 / 1500 / 8 / 2**20, 2) for _, rate in rows(page.files["t-trace.csv"])] == [
        *(5.0, 5.0, 3.75, 3.75, 4.5),
    ]


def test_datagrams_of_nuttcp_that_a_full_link_dropped_are_no_random_loss(tmp_path: Path) -> None:
    text = "".join("  5.3682 MB / 1.00 sec = 45.0320 Mbps 1500 / 6997 ~drop/pkt 21.44 ~%loss\n" for _ in range(6))
    page, scenario = made(tmp_path, "t.txt", text, delay="20 ms")
    assert "21.4 % of the datagrams were lost" in page.text
    assert "loss" not in scenario["links"][0]
    # 45.03 Mbit/s arrived of 45.03 / (1 − 0.2144).
    sent = scenario["flows"][0]["traffic"]["rate"]
    assert float(sent.removesuffix(" Mbit/s")) == pytest.approx(45.032 / (1 - 1500 / 6997), rel=1e-5)


def test_numbers_of_a_row_that_disagree_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 5: 2\.5000 MB in 1\.00 s are 20\.97 Mbit/s, and the line has 29\.97"):
        made(tmp_path, "t.txt", NUTTCP.replace("20.9715", "29.9715"))


# LENS


def test_lens_counts_lost_probes_for_their_direction(tmp_path: Path) -> None:
    page, scenario = made(tmp_path, "l.csv", LENS_IRTT, rate="50 Mbit/s")
    # One of 5 probes did not reach the server, and one was lost somewhere: 1.5 of 5. The client lost 0.5 of the 3.5 that arrived.
    assert scenario["links"][0]["loss"] == {"forward": pytest.approx(0.3), "backward": pytest.approx(0.5 / 3.5)}
    assert rows(page.files["l-trace.csv"]) == [[0, 0.0206], [0.02, 0.02185], [0.04, 0.02145]]


def test_the_one_way_delays_of_lens_are_columns_of_a_table(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(LENS_IRTT)
    columns = ("time=timestamp:ns", "up_delay=uplink:ms", "down_delay=downlink:ms", "rtt=rtt:ms")
    options = Options(rate="50 Mbit/s", columns=columns, missing=("0", "-1"))
    page = to_scenario(tmp_path / "l.csv", kind="csv", options=options)
    trace = tomllib.loads(page.text)["links"][0]["trace"]
    assert rows(page.files[trace["forward"]])[0][1] == pytest.approx(0.0201)
    assert rows(page.files[trace["backward"]])[0][1] == pytest.approx(0.0211)


# irtt


@pytest.mark.parametrize("indent", [None, 2])
def test_irtt_writes_json_in_one_line_or_many(indent: int | None, tmp_path: Path) -> None:
    trips = [
        {"delay": {"rtt": 30_000_000 + at}, "timestamps": {"client": {"send": {"monotonic": at * 10_000_000}}}}
        for at in range(500)
    ]
    page, _ = made(tmp_path, "i.json", json.dumps({"round_trips": trips}, indent=indent), rate="1 Mbit/s")
    assert "500 replies to 500 probes of irtt" in page.text


def test_the_text_of_irtt_gives_the_interval_and_the_loss_of_each_direction(tmp_path: Path) -> None:
    text = """\
[192.0.2.1:2112] [Connected] connection established
seq=0 rtt=30.1ms rd=15.2ms sd=14.9ms ipdv=n/a
seq=2 rtt=1.0312s rd=16.2ms sd=15ms ipdv=1.1ms
seq=3 rtt=30.9ms rd=15.2ms sd=15.7ms ipdv=312µs
                duration: 1m1s (wait 1s)
   packets sent/received: 5/3 (40.00% loss)
 server packets received: 4/5 (20.00%/25.00% loss up/down)
"""
    page, scenario = made(tmp_path, "i.txt", text, rate="1 Mbit/s")
    # Five probes in 61 − 1 s: one every 15 s.
    assert rows(page.files["i-trace.csv"]) == [[0, 0.01505], [30, 0.5156], [45, 0.01545]]
    assert scenario["links"][0]["loss"] == {"forward": 0.2, "backward": 0.25}


# Tables with a column for each direction


AUTOBAHN = """\
utc_start_download,download_mbps,utc_start_upload,upload_mbps,speed_kmh
2024-04-19 16:23:02.001,30,2024-04-19 16:23:00.000,3,36.2
2024-04-19 16:23:01.001,20,2024-04-19 16:23:01.000,2,33.5
2024-04-19 16:23:03.001,40,,,31.7
"""


def test_each_direction_has_its_own_times(tmp_path: Path) -> None:
    page, scenario = made(tmp_path, "a.csv", AUTOBAHN, delay="20 ms")
    trace = scenario["links"][0]["trace"]
    assert rows(page.files[trace["backward"]]) == [[1.001, 20e6], [2.001, 30e6], [3.001, 40e6]]
    assert rows(page.files[trace["forward"]]) == [[0, 3e6], [1, 2e6]]
    assert "The rows of the file are not in the order of time; they are sorted." in page.text


def test_delays_and_losses_may_have_a_column_for_each_direction(tmp_path: Path) -> None:
    text = "t,dl,ul,downlink_delay_ms,uplink_delay_ms,down_loss,up_loss\n0,9,2,20,30,0.01,0.02\n1,8,1,21,31,0.03,0.04\n"
    page, scenario = made(tmp_path, "a.csv", text, columns=("down=dl:MB/s", "up=ul:MB/s"))
    trace = scenario["links"][0]["trace"]
    assert rows(page.files[trace["backward"]]) == [[0, 72e6, 0.02, 0.01], [1, 64e6, 0.021, 0.03]]
    assert rows(page.files[trace["forward"]]) == [[0, 16e6, 0.03, 0.02], [1, 8e6, 0.031, 0.04]]


@pytest.mark.parametrize("start", ["0", "1700000000"])
def test_rows_out_of_order_are_sorted(start: str, tmp_path: Path) -> None:
    stamps = [int(start) + at for at in (4, 0, 3, 1, 2)]
    text = "time_s,rtt_ms\n" + "".join(f"{at},{40 + at - int(start)}\n" for at in stamps)
    page, _ = made(tmp_path, "a.csv", text, rate="1 Mbit/s")
    assert rows(page.files["a-trace.csv"]) == [[at, (40 + at) / 2000] for at in range(5)]
    assert "they are sorted" in page.text


# Files of one path


def test_a_file_for_each_direction(tmp_path: Path) -> None:
    (tmp_path / "up.csv").write_text("timestamp,rate_mbps\n1700000001,1\n1700000003,2\n1700000005,3\n")
    page, scenario = made(
        tmp_path,
        "down.csv",
        "timestamp,rate_mbps\n1700000000,10\n1700000002,20\n1700000004,30\n",
        up=tmp_path / "up.csv",
        delay="20 ms",
    )
    (link,), (flow, other) = scenario["links"], scenario["flows"]
    assert link["rate"] == {"forward": "3 Mbit/s", "backward": "30 Mbit/s"}
    # Both were measured from second 1 to second 5, where the first file ends.
    assert rows(page.files[link["trace"]["backward"]]) == [[0, 10e6], [1, 20e6], [3, 30e6]]
    assert rows(page.files[link["trace"]["forward"]]) == [[0, 1e6], [2, 2e6]]
    assert scenario["duration"] == "4 s"
    assert (flow["from"], other["from"]) == ("server", "client")
    assert "have 4 s in common, starting at 2023-11-14T22:13:21Z" in page.text


def test_a_date_beyond_the_calendar_is_no_common_clock(tmp_path: Path) -> None:
    (tmp_path / "up.csv").write_text("time_s,rate_mbps\n1e12,1\n1000000000001,2\n")
    text = "time_s,rate_mbps\n1e12,10\n1000000000001,20\n"
    with pytest.raises(InputError, match="is far in the future"):
        made(tmp_path, "down.csv", text, up=tmp_path / "up.csv", delay="20 ms")
    test = json.loads(SAMPLES["irtt"].text)
    for trip in test["round_trips"]:
        trip["timestamps"]["client"]["send"]["wall"] = 10**300
    (tmp_path / "i.json").write_text(json.dumps(test))
    text = "timestamp,rate_mbps\n1700000000,10\n1700000001,20\n"
    page, _ = made(tmp_path, "down.csv", text, delays=tmp_path / "i.json")
    assert "down.csv and i.json have no common clock" in page.text


def test_tests_that_ran_one_after_the_other_start_together(tmp_path: Path) -> None:
    (tmp_path / "up.csv").write_text("timestamp,rate_mbps\n1700000100,1\n1700000101,2\n")
    text = "timestamp,rate_mbps\n1700000000,10\n1700000001,20\n1700000002,20\n"
    page, scenario = made(tmp_path, "down.csv", text, up=tmp_path / "up.csv", delay="20 ms")
    assert "were not measured at the same time: 97 s lie between them" in page.text
    assert scenario["duration"] == "2 s"
    assert rows(page.files[scenario["links"][0]["trace"]["forward"]]) == [[0, 1e6], [1, 2e6]]


def test_traces_of_mahimahi_for_both_directions_are_two_files(tmp_path: Path) -> None:
    (tmp_path / "c.up").write_text("4\n8\n")
    page, scenario = made(tmp_path, "c.down", "1\n2\n3\n", up=tmp_path / "c.up", delay="20 ms")
    trace = scenario["links"][0]["trace"]
    assert {side: page.files[one["file"]] for side, one in trace.items()} == {
        "backward": "1\n2\n3\n",
        "forward": "4\n8\n",
    }


def test_a_ping_gives_delays_and_losses_next_to_rates(tmp_path: Path) -> None:
    # One of the four probes is not in the log.
    (tmp_path / "p.txt").write_text(PING.replace(PING.splitlines(keepends=True)[2], ""))
    text = "timestamp,dl_mbps,ul_mbps\n1699999999,10,1\n1700000001,20,2\n1700000003,30,3\n"
    page, scenario = made(tmp_path, "t.csv", text, delays=tmp_path / "p.txt")
    (link,) = scenario["links"]
    down = rows(page.files[link["trace"]["backward"]])
    # The first probe was sent at 1,700,000,000.048 − 0.0481 s: 0.9999 s after the first row of the table.
    assert down == [
        [0, 10e6, 0.02405],
        [1.0001, 20e6, 0.02405],
        [1.9998, 20e6, 0.03065],
        [2.9998, 20e6, 0.02365],
        [3.0001, 30e6, 0.02365],
    ]
    assert link["loss"] == pytest.approx(1 - 0.75**0.5)


def test_leoreplayer_gives_opportunities_and_delays(tmp_path: Path) -> None:
    times = [at for at in range(1, 1000, 2) for _ in range(2)]
    (tmp_path / "delay.txt").write_text("12\n" * 50 + "20\n" * 50)
    with gzip.open(tmp_path / "bw.down.gz", "wt") as file:
        file.writelines(f"{at}\n" for at in times)
    page = to_scenario(tmp_path / "bw.down.gz", options=Options(delays=tmp_path / "delay.txt"))
    trace = tomllib.loads(page.text)["links"][0]["trace"]
    # 20 opportunities of 12,000 bits in each 20 ms are 12 Mbit/s; the delay changes after 50 · 10 ms.
    assert rows(page.files[trace["backward"]]) == [[0, 12e6, 0.012], [0.5, 12e6, 0.02]]
    assert rows(page.files[trace["forward"]]) == [[0, 0.012], [0.5, 0.02]]


def test_counted_opportunities_carry_what_the_trace_carries(tmp_path: Path) -> None:
    # Opportunities of 8 to 48 Mbit/s, with a gap of 60 ms, shorter than an outage.
    times = [at for at in range(4000) if not 1000 <= at < 1060 for _ in range(1 + at // 1000)]
    (tmp_path / "c.down").write_text("".join(f"{at}\n" for at in times))
    (tmp_path / "d.txt").write_text("20\n" * 400)
    goodput = []
    for name, options in {"plain": Options(delay="20 ms"), "counted": Options(delays=tmp_path / "d.txt")}.items():
        page = to_scenario(tmp_path / "c.down", name=name, options=options)
        for file, text in {f"{name}.toml": page.text, **page.files}.items():
            (tmp_path / file).write_text(text)
        flows = ll.run(tmp_path / f"{name}.toml", sets={"flows.0.congestion": "bbr"}).flows
        goodput.append(float(flows["goodput_bps"][0]))
    # An interval of 20 ms has no bursts, and a trace repeats while one that is counted ends.
    assert goodput[1] == pytest.approx(goodput[0], rel=0.05)


def test_the_start_of_an_iperf3_test_aligns_it_with_a_ping(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text(PING)
    test = json.loads(SAMPLES["iperf3"].text)
    test["start"]["timestamp"]["timesecs"] = 1_700_000_002
    page, scenario = made(tmp_path, "t.json", json.dumps(test), delays=tmp_path / "p.txt")
    # The ping continues for 2 s after the start of the test: 61.3 ms were sent just before, 47.3 ms later.
    assert scenario["duration"].startswith("1.9997")
    assert rows(page.files["t-backward-trace.csv"]) == [[0, 0.03065], [pytest.approx(0.9997), 0.02365]]


def test_a_column_is_for_every_table_that_has_it(tmp_path: Path) -> None:
    (tmp_path / "probes.csv").write_text("t;answer\n0;44\n2;-\n4;48\n")
    page, _ = made(
        tmp_path,
        "rates.csv",
        "t,mb\n0,1\n2,2\n4,3\n",
        delays=tmp_path / "probes.csv",
        columns=("time=t:s", "rate=mb:MB/s", "rtt=answer:ms"),
    )
    assert rows(page.files["rates-trace.csv"]) == [[0, 8e6, 0.022], [2, 16e6, 0.022], [4, 24e6, 0.024]]
    with pytest.raises(InputError, match=r'rates\.csv has no column "nothing"; there are t, mb'):
        made(
            tmp_path,
            "rates.csv",
            "t,mb\n0,1\n2,2\n",
            delays=tmp_path / "probes.csv",
            columns=("time=t:s", "rate=nothing:MB/s", "rtt=answer:ms"),
        )


WRONG: dict[str, tuple[dict[str, str], list[str], tuple[str, ...]]] = {
    "no rate": ({"a": PING, "b": PING}, ["--up", "b"], ("a: has no rate", "--delays")),
    "no rate next to delays": ({"a": PING, "b": PING}, ["--delays", "b"], ("a: has no rate",)),
    "the other without a rate": ({"a": "1\n2\n", "b": PING}, ["--up", "b"], ("b: has no rate",)),
    "both directions twice": (
        {"a": AUTOBAHN, "b": AUTOBAHN},
        ["--up", "b"],
        ("a: has the rates of both directions", "leave --up out"),
    ),
    "delays without delays": (
        {"a": AUTOBAHN, "b": "time,rate_mbps\n0,1\n1,2\n"},
        ["--delays", "b"],
        ("b: has no delay and no loss", "name the output of ping"),
    ),
    "nodes that move": ({"a": SAMPLES["ns2"].text, "b": PING}, ["--delays", "b"], ("a: is not a measurement of one link",)),
    "columns of no table": (
        {"a": "1\n2\n", "b": PING},
        ["--delays", "b", "-c", "rate=x:Mbit/s"],
        ("--column and --missing are for tables", "leave them out"),
    ),
    "no such file": ({"a": AUTOBAHN}, ["--delays", "b"], ("b: no such file",)),
    "a directory": ({"a": AUTOBAHN}, ["--delays", "."], ("is a directory",)),
    "a delay of hours": ({"a": AUTOBAHN, "b": "12\n38000000\n"}, ["--delays", "b"], ("b: line 2: ", "write milliseconds")),
    "a line without a delay": ({"a": AUTOBAHN, "b": "12\n\n12\n"}, ["--delays", "b"], ("b: line 2: the line is empty",)),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_files_that_do_not_fit_together_are_one_error(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, options, parts = WRONG[case]
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        Path(name).write_text(text)
    done = CliRunner().invoke(app, ["import", "a", *options, "--delay", "20 ms", "-o", "x.toml"])
    assert done.exit_code == 2
    assert all(part in done.stderr for part in parts), done.stderr
    assert not Path("x.toml").exists()


def test_the_command_takes_several_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("down.csv").write_text("time_s,mbps\n0,20\n1,10\n2,30\n")
    Path("up.csv").write_text("time_s,mbps\n0,2\n1,1\n2,3\n")
    Path("delay.txt").write_text("20.5\n21\n22\n")
    call = CliRunner()
    options = ["--up", "up.csv", "--delays", "delay.txt", "--interval", "1", "-o", "path.toml"]
    done = call.invoke(app, ["import", "down.csv", *options])
    assert done.exit_code == 0, done.stderr
    assert call.invoke(app, ["run", "path.toml", "-q", "-o", "out"]).exit_code == 0
    assert Path("path-trace.csv").read_text() == (
        "time_s,rate_bps,delay_s\n0,20000000,0.0205\n1,10000000,0.021\n2,30000000,0.022\n"
    )
    again = call.invoke(app, ["import", "down.csv", "--up", "up.csv", "-o", "up.csv", "-f"])
    assert again.exit_code == 2, "a measurement is not overwritten"


def test_delays_are_recognised_only_where_they_cannot_be_a_trace(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("12\n16\n")
    (tmp_path / "b").write_text("12.5\n1.6e+01\n")
    assert [kind_of(tmp_path / name) for name in "ab"] == ["mahimahi", "delays"]
