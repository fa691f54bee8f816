"""The scorecard of measured paths: its data with their licences, small parts of each section, and all of it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag.errors import InputError
from lightlag_papers.kept import KeptRuns
from lightlag_papers.validation.measured import SECTIONS, data, geo, hystart, netem, own, page, starlink, validate
from lightlag_papers.validation.measured.fact import Fact, Section, Spread, Verdict, judge
from lightlag_papers.validation.measured.runs import Task, Work, goodput


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path)


def test_every_data_set_is_there_with_its_licence_and_attribution() -> None:
    assert {path.name for path in data.FOLDER.iterdir() if path.is_dir()} == data.FILES.keys()
    about = (data.FOLDER / "README.md").read_text("utf-8")
    for folder, files in data.FILES.items():
        assert {path.name for path in (data.FOLDER / folder).iterdir()} == set(files)
        licence = (data.FOLDER / folder / files[0]).read_text("utf-8")
        assert re.search("Permission is hereby granted|creativecommons.org/licenses/by|Internet-Draft", licence)
        assert f"| `{folder}/` |" in about
    share_alike = (data.FOLDER / data.AUTOBAHN / data.FILES[data.AUTOBAHN][0]).read_text("utf-8")
    assert "ShareAlike 4.0" in share_alike
    assert "Attribution:" in share_alike


def test_the_data_are_complete() -> None:
    cells = data.cells()
    # 2 algorithms with 4 delays and 5 losses, and with 4 rates and 4 delays.
    assert len(cells) == 2 * (4 * 5 + 4 * 4)
    assert {len(cell.goodput_mbps) for cell in cells} == {9}
    assert [cell.congestion for cell in cells].count("bbr") == 36
    links = data.exits()
    assert len(links) == 13
    assert all(link.by_delay + link.by_train + link.none == link.runs for link in links)
    assert all(low <= middle <= high for middle, low, high in (link.window for link in links if link.window))
    assert len(data.targets()) == 18
    seconds = data.autobahn()
    assert len(seconds) == 4861
    assert sum(down for _, _, down, _ in seconds) / 4861 == pytest.approx(217.66, abs=0.01)
    assert len(data.base_delays()) == 11_999
    assert len(data.capacity()) == 487_652


def damaged(folder: str, file: str, change: Callable[[str], str], tmp_path: Path) -> Path:
    """Copies the data, changes one file, and returns the directory."""
    copy = tmp_path / "data"
    shutil.copytree(data.FOLDER, copy)
    path = copy / folder / file
    path.write_text(change(path.read_text("utf-8")), "utf-8")
    return copy


@pytest.mark.parametrize(
    ("read", "folder", "file", "old", "new", "message"),
    [
        (data.cells, data.KERNEL, "delay-loss.csv", "9559185", "fast", r"delay-loss.csv, line 2: .*'fast'"),
        (data.cells, data.KERNEL, "delay-rate.csv", "goodput_bps", "goodput", r"line 2: has no column 'goodput_bps'"),
        (data.exits, data.EXITS, "hystart-exits.csv", ",40,0,7,33", ",40,0,seven,33", r"line 2: .*'seven'"),
        (data.targets, data.TARGETS, "targets.csv", ",85", ",", r"targets.csv, line 4: could not convert"),
        (data.autobahn, data.AUTOBAHN, "throughput-1s.csv", "2024-04-19 16:23:00.001", "then", r"line 2: .*'then'"),
        (data.base_delays, data.LEOCC, "min-delay-10ms.txt", "12\n", "x\n", r"min-delay-10ms.txt, line 1: 'x' is not"),
    ],
)
def test_a_damaged_file_is_named_with_the_line(
    read: Callable[[Path], Any], folder: str, file: str, old: str, new: str, message: str, tmp_path: Path
) -> None:
    copy = damaged(folder, file, lambda text: text.replace(old, new, 1), tmp_path)
    with pytest.raises(InputError, match=message):
        read(copy)
    (copy / folder / file).unlink()
    with pytest.raises(InputError, match=re.escape(file)):
        read(tmp_path / "data")


def test_a_value_agrees_within_its_tolerance_or_by_its_range() -> None:
    assert judge(Spread(100.0), Spread(109.0), 0.1) is Verdict.AGREES
    assert judge(Spread(100.0), Spread(111.0, 90.0, 120.0), 0.1) is Verdict.DIFFERS
    assert judge(Spread(100.0, 80.0, 130.0), Spread(111.0, 125.0, 140.0), 0.1) is Verdict.AGREES
    assert judge(Spread(100.0, 80.0, 120.0), Spread(131.0, 125.0, 140.0), 0.1) is Verdict.DIFFERS


def test_the_kernels_goodput_without_losses_is_reproduced(work: Work) -> None:
    names = {"cubic, 10 Mbit/s, RTT 100 ms, loss 0 %", "bbr, 10 Mbit/s, RTT 100 ms, loss 0 %"}
    cells = [cell for cell in data.cells() if f"{cell.congestion}, {cell.place}" in names]
    found = netem.section(work, cells, most=1)
    assert len(cells) == 2
    assert [fact.verdict for fact in found.facts] == [Verdict.AGREES] * 4
    assert [fact.ours.value for fact in found.facts[:2] if fact.ours] == [1.0, 1.0]


def test_a_cell_that_differs_names_the_switches_with_their_numbers(work: Work) -> None:
    (cell, *_) = [cell for cell in data.cells() if cell.congestion == "cubic" and cell.loss_percent == 2]
    far = replace(cell, goodput_mbps=tuple(5 * value for value in cell.goodput_mbps))
    fact = netem.section(work, [far], most=1).facts[1]
    assert fact.verdict is Verdict.DIFFERS
    assert re.search(r"single losses: ratio \d\.\d\d; segments received one by one: ratio \d\.\d\d", fact.reason)


def exits(name: str, direction: str = "forward", tunnel: str = "none") -> data.Exits:
    (found,) = [one for one in data.exits() if (one.link, one.direction, one.tunnel) == (name, direction, tunnel)]
    return found


def test_the_cause_of_an_exit_is_the_one_without_which_it_changes(work: Work) -> None:
    link = exits("DSL")
    makes = [hystart.model(link).make]
    (early,) = hystart.outcomes(work, "", [link], makes, 2, late=False)
    # 50 Mbit/s and 25 ms are 104 packets. A train of ACKs ends slow start in the round that fills the path.
    assert (early.text, early.windows) == ("0/2/0", ())
    assert all(104 < window < 4 * 104 for window in early.untrained)
    # A round that starts amid a flight measures the queue of its second half.
    (late,) = hystart.outcomes(work, "", [link], makes, 2)
    assert late.text == "2/0/0"
    starlink = exits("Starlink")
    (jitter,) = hystart.outcomes(work, "", [starlink], [hystart.model(starlink).make], 4)
    assert jitter.delay == 4


def test_a_loss_and_no_end_are_no_exits() -> None:
    ended = {"time_s": 1.0, "window": 50.0, "phase": "open"}
    later = {"time_s": 1.1, "window": 60.0, "phase": "open"}
    assert hystart.cause(ended, ended) == "delay"
    assert hystart.cause(ended, later) == "train"
    assert hystart.cause({**ended, "phase": "recovery"}, ended) == "none"
    assert hystart.cause({"time_s": None, "window": None, "phase": None}, ended) == "none"


def test_a_profile_has_the_mean_of_each_second_of_the_slot() -> None:
    # Slots start at :12, :27, :42 and :57; only the second from :26 to :27 is slow.
    values = starlink.profile([(second, 5.0 if second == 26 else 10.0) for second in range(12, 27)])
    mean = (14 * 10 + 5) / 15
    assert values == pytest.approx([10 / mean] * 14 + [5 / mean])


def test_a_missed_target_names_other_senders(work: Work) -> None:
    found = geo.section(work, data.targets()[:1])
    (fact,) = found.facts
    assert fact.verdict is Verdict.DIFFERS
    # The handshake, half a round trip and 2 MB at 10 Mbit/s: 0.975 + 1.66 s.
    assert "BBR" in fact.reason
    assert "2.63 s" in fact.reason
    assert fact.ours is not None
    assert fact.ours.value > 2.63


def report(path: Path, seed: int, *, loss: float) -> None:
    """Writes a test by iperf3 of 40 s over 20 Mbit/s and 50 ms, as our own run measures it."""
    link = {"between": ["a", "b"], "rate": "20 Mbit/s", "delay": "25 ms", "queue": "1 bdp"}
    net = {
        "name": "iperf",
        "duration": "40 s",
        "defaults": {"tcp": {"profile": "linux", "congestion": "bbr"}},
        "links": [link | {"loss": {"forward": loss, "backward": 0.0}}],
        "flows": [{"from": "a", "to": "b"}],
        "record": {"trace": "sampled", "queue": "off", "interval": "1 s"},
    }
    trace = ll.run(net, seed=seed).trace()
    rows = list(zip(trace["time_s"], trace["arrived_bytes"], trace["rtt_s"], strict=True))
    intervals = []
    for (start, before, _), (end, after, rtt) in pairwise(rows):
        one = {"start": start, "end": end, "seconds": end - start, "bytes": after - before, "omitted": False}
        one |= {"bits_per_second": 8 * (after - before) / (end - start), "sender": True}
        intervals.append({"streams": [one | {"rtt": round(1e6 * rtt)}], "sum": one})
    total = {"start": 0, "end": 40, "seconds": 40, "bytes": rows[-1][1], "bits_per_second": rows[-1][1] / 5}
    start = {"version": "iperf 3.16", "test_start": {"protocol": "TCP", "num_streams": 1, "reverse": 0}}
    ends = {"sum_sent": total, "sum_received": total, "sender_tcp_congestion": "bbr"}
    path.write_text(json.dumps({"start": start, "intervals": intervals, "end": ends}), "utf-8")


def test_a_users_measurement_is_fitted_on_one_half_and_compared_on_the_other(work: Work, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    report(folder / "test.json", 5, loss=1e-3)
    (folder / "notes.txt").write_text("a rainy day\n")
    (one,), others = own.measurements(folder)
    assert others == ["notes.txt"]
    assert one.congestion == "bbr"
    path = own.fitted(work, one)
    assert path.rate_bps == pytest.approx(20e6, rel=0.1)
    assert path.delay_s == pytest.approx(0.025, rel=0.1)
    found = own.section(work, folder)
    throughput = found.facts[0]
    assert (throughput.quantity, throughput.verdict) == ("throughput", Verdict.AGREES)
    assert "notes.txt" in found.about[1]


def test_a_capture_is_a_measurement_of_its_largest_connection(tmp_path: Path) -> None:
    net = {
        "duration": "10 s",
        "links": [{"between": ["a", "b"], "rate": "5 Mbit/s", "delay": "25 ms", "queue": "1 bdp"}],
        "flows": [{"from": "a", "to": "b"}],
        "record": {"pcap": {"at": ["a"]}},
    }
    folder = ll.run(net, seed=1).save(tmp_path / "run") / "captures"
    (one,), others = own.measurements(folder)
    assert others == []
    assert not one.is_udp
    # 5 Mbit/s with headers of 52 bytes for each 1448 of payload; the queue adds up to 50 ms to 50 ms.
    assert one.arrived[-2].bps == pytest.approx(5e6 * 1448 / 1500, rel=0.02)
    assert one.delay_s == pytest.approx(0.025, rel=0.1)
    assert all(0.05 <= rtt <= 0.11 for _, rtt in one.rtts())


def test_a_users_measurement_is_compared_with_a_given_scenario(work: Work, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    report(folder / "test.json", 5, loss=0.0)
    slow = tmp_path / "slow.toml"
    slow.write_text(
        'duration = "20 s"\n[[links]]\nbetween = ["a", "b"]\nrate = "5 Mbit/s"\ndelay = "25 ms"\nqueue = "1 bdp"\n'
        '[[flows]]\nfrom = "a"\nto = "b"\n'
    )
    throughput = own.section(work, folder, slow).facts[0]
    assert throughput.verdict is Verdict.DIFFERS
    assert throughput.ratio == pytest.approx(0.25, abs=0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"section": "netm"}, 'no section "netm"; did you mean "netem"'),
        ({"data": "nowhere"}, "--data nowhere: does not exist"),
        ({"data": "file"}, "--data file: is a file"),
        ({"data": "empty"}, "--data empty: holds no measurement .* iperf3"),
        ({"data": "notes"}, "--data notes: holds no measurement .*it has notes.txt"),
        ({"data": "empty", "scenario": "nowhere.toml"}, "--scenario nowhere.toml: does not exist"),
        ({"out": "nowhere/pages"}, "there is no directory nowhere"),
    ],
)
def test_wrong_options_are_named(
    options: dict[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    Path("empty").mkdir()
    Path("notes").mkdir()
    Path("notes/notes.txt").write_text("a rainy day\n")
    with pytest.raises(InputError, match=message):
        validate(options.pop("out", None), **options)  # type: ignore[arg-type]


def fails(_: ll.Result) -> dict[str, Any]:
    raise InterruptedError


def test_finished_runs_are_stored_and_not_repeated(tmp_path: Path) -> None:
    cell = data.cells()[0]
    tasks = [Task(netem.scenario(cell), 1, goodput), Task(netem.scenario(cell), 2, fails)]
    store = tmp_path / "runs.jsonl"
    with pytest.raises(InterruptedError):
        Work(tmp_path, 1, KeptRuns(store)).run("", tasks)
    kept = KeptRuns(store)
    assert len(kept) == 1
    stored = kept.find(tasks[0].key)
    assert stored == tasks[0].run()
    kept.add(tasks[1].key, {"goodput_mbps": 1.0})
    assert Work(tmp_path, 1, kept).run("", tasks) == [stored, {"goodput_mbps": 1.0}]
    assert tasks[0].key != tasks[1].key


def test_the_page_shows_good_and_bad_rows_and_the_licences() -> None:
    rows = [
        Fact("A 2020", "a link", "goodput", "Mbit/s", Spread(10.0, 9.0, 11.0), Spread(10.5), Verdict.AGREES, "within"),
        Fact("B 2021", "a link", "RTT", "ms", Spread(50.0), None, Verdict.DIFFERS, "no jitter: 40"),
        Fact("C 2022", "a link", "loss", "", Spread(0.0), Spread(0.1), Verdict.NO_VERDICT, "not read"),
    ]
    text = page.measured_page([Section("x", "Links", ["About."], rows)]).text()
    assert "**1 of 2 measured facts agree within the tolerances.** 1 more are shown" in text
    assert "| A 2020 | a link | goodput | 10 (9 to 11) Mbit/s | 10.5 Mbit/s | 1.05 | agrees | within |" in text
    assert "| B 2021 | a link | RTT | 50 ms | not computed |  | **differs** | no jitter: 40 |" in text
    assert "CC BY-SA 4.0" in text


@pytest.mark.long
def test_the_whole_scorecard(tmp_path: Path) -> None:
    card = validate(tmp_path / "pages", jobs=2, kept=tmp_path / "runs.jsonl")
    assert [one.name for one in card.sections] == list(SECTIONS)
    record = json.loads((tmp_path / "pages" / "measured.json").read_text("utf-8"))
    assert record == json.loads(json.dumps(card.record()))
    text = (tmp_path / "pages" / "measured.md").read_text("utf-8")
    for one in card.sections:
        assert f"## {one.title}" in text
        for picture in one.figures:
            assert (tmp_path / "pages" / "images" / f"{picture.name}.png").stat().st_size > 5_000
    # BBR over netem and the end of slow start on Starlink agree.
    (bbr,) = [fact for fact in card.sections[0].facts if fact.setting == "bbr, 36 cells"]
    assert bbr.verdict is Verdict.AGREES
    assert not (tmp_path / "runs.jsonl").exists()
