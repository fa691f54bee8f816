"""``lightlag why``: planted causes, the choice of the flow, and the command."""

from __future__ import annotations

import html
import json
import math
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from conftest import Lightlag
from lightlag.diagnosis.capture import observe
from manual import why_cases, why_lab


@pytest.fixture(scope="module")
def found() -> list[why_cases.Found]:
    return [why_cases.examine(case) for case in why_cases.CASES]


def test_planted_causes_are_found_first_with_their_gain(found: list[why_cases.Found]) -> None:
    assert [one.case.cause for one in found if not (one.is_first and one.is_sized)] == []
    assert all(one.true_gain > 0.1 for one in found)


@pytest.fixture(scope="module")
def recorded() -> list[why_cases.Found]:
    return [why_cases.examine_recorded(case) for case in why_lab.CASES]


def test_planted_causes_are_found_in_captures_of_the_kernel(recorded: list[why_cases.Found]) -> None:
    assert len(recorded) == 20
    # Bursts of 64 ms over a round trip of 120 ms meet the ACKs of earlier ones, as if these had released them.
    assert [one.case.planted for one in recorded if not one.is_first] == ["an application with 2.5 Mbit/s"]
    assert all(seen.is_repeated for one in recorded if (seen := one.diagnosis.observed))


def test_the_page_is_up_to_date(found: list[why_cases.Found], recorded: list[why_cases.Found]) -> None:
    assert why_cases.page(found, recorded).text() == why_cases.PAGE.read_text("utf-8")


def link(*between: str, **keys: Any) -> dict[str, Any]:
    return {"between": list(between), "rate": "10 Mbit/s", "delay": "20 ms", "queue": "1 bdp"} | keys


def scenario(*links: dict[str, Any], **flow: Any) -> dict[str, Any]:
    return {"name": "one", "duration": "10 s", "links": list(links), "flows": [{"from": "a", "to": "c"} | flow]}


def test_a_healthy_transfer_is_limited_by_the_rate_and_needs_one_seed() -> None:
    diagnosis = ll.why(scenario(link("a", "c"), transfer="10 MB"))
    assert diagnosis.cause is not None
    assert (diagnosis.cause.cause.name, diagnosis.seeds) == ("capacity", 1)
    assert math.isnan(diagnosis.cause.low)
    assert diagnosis.completion_s == pytest.approx(10e6 * 8 / diagnosis.goodput_bps)


def test_a_full_queue_is_reported_for_the_latency_of_others() -> None:
    diagnosis = ll.why(scenario(link("a", "c", queue="500 packets"), transfer="10 MB"), seeds=1)
    assert diagnosis.latency is not None
    assert diagnosis.latency.queueing_s > 0.2
    assert diagnosis.latency.shortened_s < 0.05
    assert any(sentence.startswith("Latency: packets wait") for sentence in diagnosis.sentences())


def test_credit_limits_quic() -> None:
    credit = {"stream_credit": "64 kB", "auto_credit": False}
    diagnosis = ll.why(scenario(link("a", "c", delay="100 ms"), transport="quic", quic=credit))
    assert diagnosis.cause is not None
    assert diagnosis.cause.cause.name == "receive window"
    assert diagnosis.cause.gain > 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"flow": "x"}, r"there is no flow 'x'; the flows are a->c"),
        ({"seeds": 0}, r"seeds: 0 is not a positive number"),
        ({"sets": {"links.0.loss": 1.0}}, r"flow 'a->c' transfers nothing with seed 1"),
        ({"sets": {"links.0.delay": "5 parsec"}}, r"links\[0\]\.delay"),
    ],
)
def test_bad_input_has_one_error(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ll.InputError, ll.ScenarioError), match=message):
        ll.why(scenario(link("a", "c")), **arguments)


def test_a_scenario_without_connections_has_an_error() -> None:
    beacon = scenario(link("a", "c"), transport="udp", traffic={"kind": "constant", "rate": "1 Mbit/s"})
    with pytest.raises(ll.InputError, match="no TCP or QUIC flow"):
        ll.why(beacon)


def test_a_scenario_that_is_invalid_without_a_cause_is_not_examined() -> None:
    diagnosis = ll.why("starlink-2026", seeds=1, duration="5 s")
    assert list(diagnosis.skipped) == ["handovers"]
    assert any(one.startswith("Not examined: handovers: links[1].ramp") for one in diagnosis.sentences())


def test_the_command_prints_the_cause_and_a_run_without_it(lightlag: Lightlag, tmp_path: Any) -> None:
    file = tmp_path / "slow.json"
    file.write_text(json.dumps(scenario(link("a", "c", delay="100 ms"), tcp={"receive_buffer": "32 kB"})))
    shown = lightlag("why", str(file), "-n", "2").stdout
    assert "Cause: receive window: the receive window is smaller than the path needs." in shown
    repeat = next(line for line in shown.splitlines() if line.startswith("Run without it: "))
    assert "-s 'flows.0.tcp.receive_buffer=\"1 GB\"'" in repeat
    longer = lightlag("why", str(file), "-n", "1", "--duration", "12 s", "-s", "links.0.delay=90 ms").stdout
    assert f"lightlag run {file} -s 'links.0.delay=90 ms' -s 'duration=12 s' -s 'flows.0.tcp" in longer
    plain = json.loads(lightlag("why", str(file), "-n", "2", "--json").stdout)
    first = plain["effects"][0]
    assert (plain["cause"], first["cause"], first["is_set"]) == ("receive window", "receive window", True)
    sets = {key: value for key, value in first["change"].items() if value is not None}
    again = ll.run(file, sets=sets).flows["goodput_bps"][0]
    assert again / plain["goodput_bps"] == pytest.approx(1 + first["gain"])


def test_a_run_names_the_command_or_prints_the_causes_with_a_run_without_the_first(
    lightlag: Lightlag, tmp_path: Path
) -> None:
    file = tmp_path / "slow.json"
    file.write_text(json.dumps(scenario(link("a", "c", delay="100 ms"), tcp={"receive_buffer": "32 kB"})))
    lines = lightlag("run", str(file), "-o", str(tmp_path / "one")).stdout.splitlines()
    limit = "a->c: for 94% of its time the receive window limited it"
    assert lines[-1] == f"{limit}; its causes: lightlag why {tmp_path / 'one'}"
    shown = lightlag("run", str(file), "--why", "-d", "12 s", "--seed", "3", "-o", str(tmp_path / "two")).stdout
    assert not any("its causes: lightlag why" in line for line in shown.splitlines())
    diagnosis = ll.why(tmp_path / "two")
    for sentence in diagnosis.sentences():
        assert sentence in shown
    repeat = shown.splitlines()[-1]
    assert repeat.startswith(f"Run without it: lightlag run {file} --duration '12 s' --seed 3 -s 'flows.0.tcp")
    for option in ("--json", "--quiet"):
        failed = lightlag("run", str(file), "--why", option)
        assert failed.returncode == 2
        assert failed.stderr == f"error: --why: cannot be combined with {option}; use lightlag why with that option\n"


def test_the_report_states_the_command_or_the_causes(lightlag: Lightlag, tmp_path: Path) -> None:
    result = ll.run(scenario(link("a", "c", delay="100 ms"), tcp={"receive_buffer": "32 kB"}))
    folder = result.save(tmp_path / "results")
    lightlag("report", str(folder))
    page = (folder / "report.html").read_text()
    assert "<code>lightlag why .</code> measures the causes" in page
    assert "Cause: receive window" not in page
    lightlag("report", str(folder), "--why", "--force")
    page = (folder / "report.html").read_text()
    diagnosis = ll.why(result)
    for sentence in [diagnosis.headline(), *diagnosis.sentences()[1:]]:
        assert f"<li>{html.escape(sentence)}</li>" in page
    assert "95 % interval" in page
    assert "lightlag why ." not in page
    ll.compare(result.scenario, ["cubic", "reno"], replications=1, progress=False).save(tmp_path / "compared")
    failed = lightlag("report", str(tmp_path / "compared"), "--why")
    assert failed.returncode == 2
    assert "has several runs; name the results of one run" in failed.stderr


def test_the_results_of_a_run_are_diagnosed_and_other_directories_have_an_error(tmp_path: Any) -> None:
    result = ll.run(scenario(link("a", "c", delay="100 ms"), tcp={"receive_buffer": "32 kB"}))
    result.save(tmp_path / "results")
    diagnosis = ll.why(tmp_path / "results", seeds=1)
    assert diagnosis.cause is not None
    assert diagnosis.cause.cause.name == "receive window"
    with pytest.raises(ll.InputError, match=r"run\.json"):
        ll.why(tmp_path)


CAPTURES = Path(__file__).parent / "data/captures"


def test_the_scenario_of_a_capture_is_written_and_repeats_the_diagnosis(lightlag: Lightlag, tmp_path: Path) -> None:
    out = tmp_path / "real.toml"
    capture = CAPTURES / "linux-cubic-sender.pcap"
    shown = lightlag("why", str(capture), "-o", str(out)).stdout
    assert "The capture, at the sender: transfer 0.3937 s; the model: " in shown
    assert f"Run without it: lightlag run {out} -s " in shown
    plain = json.loads(lightlag("why", str(capture), "--flow", "0", "--json").stdout)
    assert plain["capture"]["vantage"] == "sender"
    assert ll.run(out).flows["goodput_bps"][0] == plain["goodput_bps"]
    assert ll.why(out, seeds=1).to_json()["effects"] == plain["effects"]
    refused = lightlag("why", str(capture), "-o", str(out))
    assert (refused.returncode, "--force" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{captures}/zero-sender.pcap", "--flow", "x"], "flow 'x': is not the index of a connection"),
        (["{captures}/zero-sender.pcap", "--flow", "7"], "there is no connection 7"),
        (["{folder}/cut.pcap"], "cannot be repeated"),
        (["{folder}/ping.txt"], "is of kind ping, without packets; name a capture, or a scenario"),
        (["{folder}/one.toml", "-o", "x.toml"], "--out x.toml: writes the scenario of a capture, and"),
    ],
)
def test_captures_that_cannot_be_diagnosed_have_one_error(
    arguments: list[str], message: str, lightlag: Lightlag, tmp_path: Path
) -> None:
    whole = (CAPTURES / "linux-cubic-sender.pcap").read_bytes()
    # The header of the file, and then the packets after the handshake.
    offset = 24
    for _ in range(3):
        offset += 16 + int.from_bytes(whole[offset + 8 : offset + 12], "little")
    (tmp_path / "cut.pcap").write_bytes(whole[:24] + whole[offset:])
    lines = [f"64 bytes from 10.0.0.1: icmp_seq={number} ttl=64 time=20.1 ms" for number in range(1, 5)]
    (tmp_path / "ping.txt").write_text("\n".join(["PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.", *lines]))
    (tmp_path / "one.toml").write_text('[[links]]\nbetween = ["a", "b"]\n')
    words = [one.format(captures=CAPTURES, folder=tmp_path) for one in arguments]
    refused = lightlag("why", *words)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr


def _later(packet: bytes, seconds: int) -> bytes:
    """Returns a packet of a pcap file with a later time."""
    return (int.from_bytes(packet[:4], "little") + seconds).to_bytes(4, "little") + packet[4:]


@pytest.mark.parametrize("name", ["linux-cubic-sender", "loss-receiver", "nosack-sender", "zero-sender"])
@pytest.mark.parametrize("damage", ["no data", "no ACKs", "few", "gaps", "cut", "clock"])
def test_a_damaged_capture_is_diagnosed_or_has_an_error(name: str, damage: str, tmp_path: Path) -> None:
    whole = (CAPTURES / f"{name}.pcap").read_bytes()
    packets, offset = [], 24
    while offset < len(whole):
        after = offset + 16 + int.from_bytes(whole[offset + 8 : offset + 12], "little")
        packets.append(whole[offset:after])
        offset = after
    head, rest = packets[:3], packets[3:]
    left = {
        "no data": [packet for packet in rest if len(packet) < 120],
        "no ACKs": [packet for packet in rest if len(packet) >= 120],
        "few": rest[::9],
        "gaps": [packet for index, packet in enumerate(rest) if index % 40 > 12],
        "cut": rest[:4],
        "clock": [_later(packet, 60 * (index % 3 == 1)) for index, packet in enumerate(rest)],
    }[damage]
    file = tmp_path / "damaged.pcap"
    file.write_bytes(whole[:24] + b"".join(head + left))
    found, message = None, ""
    try:
        found = observe(file)
    except ll.InputError as error:
        message = str(error)
    if found is None:
        assert message.startswith(str(file))
    else:
        assert found.real_s > 0
        assert math.isfinite(found.model_s)


def test_losses_of_given_packets_are_removed() -> None:
    lost = {"packets": list(range(20, 400, 20)), "direction": "forward"}
    diagnosis = ll.why(scenario(link("a", "c", loss=lost), transfer="2 MB"))
    assert diagnosis.cause is not None
    assert diagnosis.cause.cause.name == "losses of data"
    assert diagnosis.cause.change == {"links.0.loss.forward": 0.0}


def test_a_faster_return_link_is_no_cause() -> None:
    rate = {"forward": "2 Mbit/s", "backward": "1 Gbit/s"}
    diagnosis = ll.why(scenario(link("a", "c", rate=rate)), duration="5 s")
    assert "thin return link" not in [effect.cause.name for effect in diagnosis.effects]
    assert diagnosis.cause is not None
    assert diagnosis.cause.change == {"links.0.rate.forward": "4000000 bit/s"}


def test_a_flow_without_a_cause_is_described_in_two_lines(lightlag: Lightlag, tmp_path: Any) -> None:
    file = tmp_path / "fast.json"
    traffic = {"kind": "requests", "request": "500 B", "response": "1 kB", "think": "10 ms"}
    file.write_text(json.dumps(scenario(link("a", "c"), traffic=traffic)))
    first, second = lightlag("why", str(file)).stdout.splitlines()
    assert first.startswith("a->c: ")
    assert second == "No cause has an effect of 10 % or more."


def test_flows_between_the_same_nodes_are_told_apart() -> None:
    plain = scenario(link("a", "c"))
    plain["flows"] = [dict(plain["flows"][0]) for _ in range(3)]
    names = ll.run(plain).flows["name"].to_list()
    assert names == ["a->c", "a->c #2", "a->c #3"]
    diagnosis = ll.why(plain, "a->c #3", seeds=1)
    assert diagnosis.skipped == {}
    assert "other flows" in [effect.cause.name for effect in diagnosis.effects if effect.gain > 1]


def test_a_flow_that_transfers_nothing_with_some_seeds_has_an_error() -> None:
    rarely = {"between": ["a", "c"], "rate": "10 Mbit/s", "delay": "20 ms", "loss": 0.9}
    with pytest.raises(ll.InputError, match=r"flow 'a->c' transfers nothing with seed \d+: there is no speed"):
        ll.why(scenario(rarely), duration="2 s", seeds=20)
