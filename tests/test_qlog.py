"""Logs in qlog 0.3: their form, and their agreement with the sender, with the captures and with the results."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import lightlag as ll
from conftest import PAIR, pair
from lightlag.cli.app import app
from lightlag.qlog import sequence
from lightlag.qlog.direction import Direction
from lightlag.qlog.flight import Flight
from qlog_files import EVENTS, FILE, Log, acked_by, data_of, has, read
from test_capture import CASES, scenario

WITHOUT_SACK = {"no SACK", "no options", "recovery reno", "recovery newreno"}
"""Senders that guess from duplicate ACKs how much is in flight."""
WITH_SNACK = {"profile scps", "SCPS", "SCPS with bit vectors"}
"""Senders that learn of losses from options that are not SACK."""


@dataclass
class Logged:
    """A run of all cases, and its logs."""

    result: ll.Result
    folder: Path

    def sender(self, name: str) -> Log:
        return read(self.folder / f"{self.stem(name)}.sqlog")

    def receiver(self, name: str) -> Log:
        return read(self.folder / f"{self.stem(name)}-receiver.sqlog")

    def flow(self, name: str) -> dict[str, Any]:
        return next(flow for flow in self.result.summary["flows"] if flow["name"] == name)

    @staticmethod
    def stem(name: str) -> str:
        return "".join(letter if letter.isalnum() or letter in "-_.@" else "_" for letter in name)


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Logged:
    asked = scenario("v4")
    asked["record"] |= {"trace": "change", "pcap": {"comments": True}}
    folder = tmp_path_factory.mktemp("qlog")
    result = ll.run(asked)
    assert len(result.qlog(folder)) == 2 * len(CASES)
    return Logged(result, folder)


@pytest.mark.parametrize("name", CASES)
def test_files_have_the_fields_of_qlog_0_3(logged: Logged, name: str) -> None:
    for log, side in ((logged.sender(name), "client"), (logged.receiver(name), "server")):
        assert has(FILE, log.header), log.header
        assert log.header["trace"]["vantage_point"]["type"] == side
        times = [event["time"] for event in log.events]
        assert times == sorted(times)
        for event in log.events:
            assert event.keys() == {"time", "name", "data"}
            assert has(EVENTS[event["name"]], event["data"]), event
    assert logged.sender(name).named("recovery:metrics_updated")


@pytest.mark.parametrize("name", [name for name in CASES if name not in WITHOUT_SACK | WITH_SNACK])
def test_the_bytes_in_flight_are_what_was_sent_and_neither_acknowledged_nor_lost(logged: Logged, name: str) -> None:
    sizes: dict[int, int] = {}
    in_flight = checked = 0
    gone: set[int] = set()
    for event in logged.sender(name).events:
        data = event["data"]
        number = data.get("header", {}).get("packet_number")
        if event["name"] == "transport:packet_sent":
            start, end = data_of(data["frames"]) or (0, 0)
            sizes[number] = end - start
            in_flight += end - start
        elif event["name"] == "transport:packet_received":
            acked = set(acked_by(event)) - gone
            gone |= acked
            in_flight -= sum(sizes[each] for each in acked)
        elif event["name"] == "recovery:packet_lost":
            assert number not in gone, "a packet is lost once, and before its ACK"
            gone.add(number)
            in_flight -= sizes[number]
        elif event["name"] == "recovery:loss_undone":
            gone.remove(number)
            in_flight += sizes[number]
        elif "bytes_in_flight" in data:
            assert data["bytes_in_flight"] == in_flight, event
            checked += 1
    assert checked >= 3


@pytest.mark.parametrize("name", CASES)
def test_only_packets_that_were_sent_are_acknowledged_or_lost(logged: Logged, name: str) -> None:
    for log in (logged.sender(name), logged.receiver(name)):
        sent, received = set[int](), set[int]()
        for event in log.events:
            number = event["data"].get("header", {}).get("packet_number")
            if event["name"] == "transport:packet_sent":
                assert number == len(sent)
                sent.add(number)
                assert received.issuperset(acked_by(event))
            elif event["name"] == "transport:packet_received":
                received.add(number)
                assert sent.issuperset(acked_by(event))
            elif number is not None:
                assert number in sent


@pytest.mark.parametrize("name", CASES)
def test_the_counts_are_those_of_the_results(logged: Logged, name: str) -> None:
    flow, top, sent, again = logged.flow(name), 0, 0, 0
    log = logged.sender(name)
    for event in log.named("transport:packet_sent"):
        start, end = data_of(event["data"]["frames"]) or (0, 0)
        if event["data"]["raw"]["payload_length"] and end > start:
            sent += 1
            again += start < top
            top = max(top, end)
    assert (sent, again) == (flow["sent_segments"], flow["retransmitted_segments"])
    # The FIN counts as one byte.
    assert top in (flow["delivered_bytes"], flow["delivered_bytes"] + 1)
    lost = len(log.named("recovery:packet_lost")) - len(log.named("recovery:loss_undone"))
    if name not in WITHOUT_SACK | {"tahoe"}:
        # A tail probe repeats what is not lost, and go-back-N loses what it need not repeat.
        assert abs(lost - again) <= 1 + 2 * flow["timeouts"]


@pytest.mark.parametrize("name", CASES)
def test_packets_are_those_of_the_captures(logged: Logged, name: str) -> None:
    number = list(CASES).index(name)
    for node, log in ((f"s{number}", logged.sender(name)), (f"r{number}", logged.receiver(name))):
        [connection] = ll.inspect(logged.result.captures[node]).connections
        theirs = connection.packets().sort("time_s", maintain_order=True)
        own = "client" if node.startswith("s") else "server"
        is_ours = theirs["side"].cast(pl.String) == own
        for event_name, seen in (("sent", theirs.filter(is_ours)), ("received", theirs.filter(~is_ours))):
            packets = log.named(f"transport:packet_{event_name}")
            # Times of a capture count from its first packet.
            times = [event["time"] - log.events[0]["time"] for event in packets]
            assert times == pytest.approx([at * 1e3 for at in seen["time_s"]], abs=1e-6)
            assert [event["data"]["raw"]["payload_length"] for event in packets] == seen["bytes"].to_list()


@pytest.mark.parametrize("name", CASES)
def test_both_ends_give_a_packet_the_same_number(logged: Logged, name: str) -> None:
    ends = (logged.sender(name), logged.receiver(name))
    for here, there in (ends, ends[::-1]):
        sent = {event["data"]["header"]["packet_number"]: event for event in here.named("transport:packet_sent")}
        arrived = there.named("transport:packet_received")
        for event in arrived:
            packet = sent[event["data"]["header"]["packet_number"]]
            assert packet["time"] < event["time"]
            assert packet["data"]["raw"] == event["data"]["raw"]
            assert packet["data"]["header"] == event["data"]["header"]
            probe = "trigger" in packet["data"] and data_of(packet["data"]["frames"]) is None
            assert probe or data_of(packet["data"]["frames"]) == data_of(event["data"]["frames"])


@pytest.mark.parametrize("name", [name for name in CASES if "duplica" not in name and name != "no D-SACK"])
def test_packets_that_do_not_arrive_were_dropped(logged: Logged, name: str) -> None:
    drops = logged.result.drops.filter(logged.result.drops["flow"].cast(pl.String) == name)
    ends = (logged.sender(name), logged.receiver(name))
    for (here, there), backward in ((ends, False), (ends[::-1], True)):
        sent, arrived = here.named("transport:packet_sent"), there.named("transport:packet_received")
        numbers = {event["data"]["header"]["packet_number"] for event in arrived}
        assert len(numbers) == len(arrived)
        assert len(sent) - len(arrived) == len(drops.filter(drops["backward"] == backward))


@pytest.mark.parametrize("name", CASES)
def test_metrics_are_those_of_the_trace(logged: Logged, name: str) -> None:
    trace = logged.result.trace().filter(logged.result.trace()["flow"].cast(pl.String) == name)
    segment = 1 if trace.is_empty() else None
    metrics: dict[str, float] = {}
    at = 0
    events = logged.sender(name).named("recovery:metrics_updated")
    for row in trace.iter_rows(named=True):
        while at < len(events) and events[at]["time"] <= row["time_s"] * 1e3 + 1e-9:
            metrics |= events[at]["data"]
            at += 1
        if not metrics:
            continue
        assert metrics["bytes_in_flight"] == row["inflight_bytes"]
        if row["rtt_s"] is not None:
            assert metrics["latest_rtt"] == pytest.approx(row["rtt_s"] * 1e3, abs=1e-6)
            assert metrics["min_rtt"] <= metrics["latest_rtt"]
        # After the handshake, the window of the trace is in segments of a constant size.
        if row["rtt_s"] is not None:
            segment = segment or metrics["congestion_window"] / row["cwnd_segments"]
            assert metrics["congestion_window"] == pytest.approx(row["cwnd_segments"] * segment, rel=1e-9)
    assert at >= 1


def test_ipv6_and_the_same_bytes_again(tmp_path: Path) -> None:
    contents = []
    for number in (1, 2):
        ll.run(pair(), duration="5 s", seed=3, sets={"ip": "v6"}, qlog=tmp_path / f"{number}")
        contents.append([(tmp_path / f"{number}" / name).read_bytes() for name in FILES])
    assert contents[0] == contents[1]
    started = read(tmp_path / "1" / FILES[0]).named("connectivity:connection_started")[0]["data"]
    assert (started["ip_version"], started["src_ip"], started["dst_ip"]) == ("v6", "fd00::1", "fd00::2")


FILES = ("client-to-server.sqlog", "client-to-server-receiver.sqlog")


def test_a_log_starts_with_the_handshake(tmp_path: Path) -> None:
    """A segment and its ACK over 10 ms: the events at each time, worked by hand."""
    net = ll.Network("tiny")
    net.link("a", "b", rate="1 Gbit/s", delay="10 ms")
    net.flow("a", "b", transfer="1 kB", congestion="newreno")
    ll.run(net, duration="1 s", qlog=tmp_path / "log.sqlog")
    log = read(tmp_path / "log.sqlog")
    assert log.header["title"] == "tiny: a->b"
    packets = [
        (
            round(event["time"]),
            event["name"].removeprefix("transport:packet_"),
            event["data"]["header"]["packet_number"],
            acked_by(event),
            data_of(event["data"]["frames"]),
        )
        for event in log.named("transport:packet_sent", "transport:packet_received")
    ]
    assert packets[:5] == [
        (0, "sent", 0, [], None),  # SYN
        (20, "received", 0, [0], None),  # SYN, ACK
        (20, "sent", 1, [0], None),  # ACK
        (20, "sent", 2, [], (0, 1001)),  # the data, with a FIN
        (40, "received", 1, [2], (0, 1)),  # the ACK, with the FIN of the receiver
    ]
    names = [event["name"].split(":")[1] for event in log.events]
    assert names[:3] == ["connection_started", "connection_state_updated", "parameters_set"]
    assert log.named("connectivity:connection_closed")[0]["data"] == {"trigger": "clean"}
    [first, *_] = log.named("recovery:metrics_updated")
    # Ten segments of 1,460 B: the initial window before the timestamps are negotiated.
    assert first["data"] == {"congestion_window": 14_600, "bytes_in_flight": 0}
    samples = [
        event["data"]["latest_rtt"] for event in log.named("recovery:metrics_updated") if "latest_rtt" in event["data"]
    ]
    assert samples[0] == pytest.approx(20, abs=0.01)


def test_both_directions_of_a_dialogue_have_data(tmp_path: Path) -> None:
    net = ll.Network("web")
    net.link("server", "client", rate="10 Mbit/s", delay="10 ms")
    net.flow("server", "client", traffic={"kind": "requests", "response": "20 kB", "count": 3})
    result = ll.run(net, duration="10 s", qlog=tmp_path)
    client, server = read(tmp_path / "server-to-client-receiver.sqlog"), read(tmp_path / "server-to-client.sqlog")
    assert client.header["trace"]["vantage_point"] == {"name": "client", "type": "client"}
    assert server.header["trace"]["vantage_point"] == {"name": "server", "type": "server"}
    top = [
        max(
            end
            for event in log.named("transport:packet_sent")
            if (data := data_of(event["data"]["frames"]))
            for end in data[1:]
        )
        for log in (client, server)
    ]
    # Three requests of 300 B and three responses; a FIN counts as a byte.
    assert top[0] in (900, 901)
    assert top[1] in (60_000, 60_001)
    assert result.flows["delivered_bytes"].to_list() == [60_000]
    assert {number for event in client.named("transport:packet_sent") for number in acked_by(event)} == {
        event["data"]["header"]["packet_number"]
        for event in client.named("transport:packet_received")
        if data_of(event["data"]["frames"]) or event["data"]["header"]["flags"] & 2
    }


def test_a_split_flow_has_the_connection_at_each_end(tmp_path: Path) -> None:
    net = ll.Network("split")
    net.link("a", "m", rate="10 Mbit/s", delay="10 ms")
    net.link("m", "b", rate="10 Mbit/s", delay="100 ms", loss=0.01)
    net.flow("a", "b", transfer="300 kB")
    asked = net.scenario("30 s", seed=2).to_dict() | {"proxies": [{"node": "m", "buffer": "1 MB"}]}
    result = ll.run(asked, qlog=tmp_path)
    sender, receiver = read(tmp_path / "a-to-b.sqlog"), read(tmp_path / "a-to-b-receiver.sqlog")
    assert result.legs.height == 2
    assert result.legs["retransmitted_segments"].to_list()[1] > 0
    assert sender.named("recovery:packet_lost") == []
    for log in (sender, receiver):
        numbers = [event["data"]["header"]["packet_number"] for event in log.named("transport:packet_received")]
        assert numbers == list(range(len(numbers)))
    assert {number for event in sender.named("transport:packet_received") for number in acked_by(event)} == {
        event["data"]["header"]["packet_number"]
        for event in sender.named("transport:packet_sent")
        if data_of(event["data"]["frames"]) or event["data"]["header"]["flags"] & 2
    }


def test_the_pacing_rate_is_logged_with_internals(tmp_path: Path) -> None:
    net = pair()
    net.flow("client", "server", transfer="500 kB", congestion="bbr", name="bbr")
    result = ll.run(net, duration="5 s", seed=3, sets={"record.internals": True}, qlog=tmp_path)
    rates = {
        event["data"]["pacing_rate"]
        for event in read(tmp_path / "bbr.sqlog").named("recovery:metrics_updated")
        if "pacing_rate" in event["data"]
    }
    trace = result.trace().filter(pl.col("flow").cast(pl.String) == "bbr")
    assert rates == {round(rate) for rate in trace["pacing_rate_bps"].drop_nulls()}
    assert len(rates) > 3


def test_small_buffers_write_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = ll.run(pair(), duration="5 s", seed=3, qlog=tmp_path / "large")
    monkeypatch.setattr(sequence, "_BUFFERED", 100)
    result.qlog(tmp_path / "small")
    for name in FILES:
        assert (tmp_path / "large" / name).read_bytes() == (tmp_path / "small" / name).read_bytes()


def test_logs_change_no_result_and_can_be_made_from_a_directory(tmp_path: Path) -> None:
    plain = ll.run(pair(), duration="5 s", seed=3)
    logged = ll.run(pair(), duration="5 s", seed=3, qlog=tmp_path / "live")
    assert plain.result_hash == logged.result_hash
    logged.save(tmp_path / "run")
    written = ll.load(tmp_path / "run").qlog(tmp_path / "loaded", flows="client->server")
    assert sorted(path.name for path in written) == sorted(FILES)
    for name in FILES:
        assert (tmp_path / "live" / name).read_bytes() == (tmp_path / "loaded" / name).read_bytes()


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pair.toml").write_text(PAIR)
    return CliRunner()


RUN = ("run", "pair.toml", "-d", "1 s", "-q")


def test_the_command_line_writes_logs(call: CliRunner, tmp_path: Path) -> None:
    assert call.invoke(app, [*RUN, "--qlog", "logs"]).exit_code == 0
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == sorted(FILES)
    assert sorted(path.name for path in (tmp_path / "results/pair/captures").iterdir()) == [
        "client.pcapng",
        "server.pcapng",
    ]
    done = call.invoke(app, [*RUN, "--qlog", "one.sqlog", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["simulated_s"] == 1
    assert not (tmp_path / "results/pair-2").exists()
    assert (tmp_path / "one.sqlog").read_bytes() == (tmp_path / "logs" / FILES[0]).read_bytes()
    # Files of lightlag are replaced; others only with --force.
    assert call.invoke(app, [*RUN, "--qlog", "one.sqlog", "--json"]).exit_code == 0
    (tmp_path / "one.sqlog").write_text("mine")
    assert call.invoke(app, [*RUN, "--qlog", "one.sqlog", "--json"]).exit_code == 2
    assert (tmp_path / "one.sqlog").read_text() == "mine"
    assert call.invoke(app, [*RUN, "--qlog", "one.sqlog", "--json", "--force"]).exit_code == 0
    assert read(tmp_path / "one.sqlog").events


def test_what_cannot_be_logged_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ll.InputError, match="no captures of both endpoints with comments"):
        ll.run(pair(), duration="1 s").qlog(tmp_path / "none")
    udp = ll.Network("udp")
    udp.link("a", "b", rate="1 Mbit/s", delay="10 ms")
    udp.flow("a", "b", transport="udp", traffic={"kind": "constant", "rate": "100 kbit/s"})
    with pytest.raises(ll.InputError, match="no flow of TCP or QUIC"):
        ll.run(udp, duration="1 s", qlog=tmp_path / "udp")
    two = pair()
    two.flow("client", "server", transfer="1 kB", name="second")
    with pytest.raises(ll.InputError, match=r"two\.sqlog: is one file .* there are 2 flows; name a directory"):
        ll.run(two, duration="1 s", qlog=tmp_path / "two.sqlog")
    result = ll.run(two, duration="1 s", qlog=tmp_path / "two")
    with pytest.raises(
        ll.InputError, match='"third" is not a captured flow of TCP or QUIC; there are client->server, second'
    ):
        result.qlog(tmp_path / "third", flows="third")
    assert result.qlog(tmp_path / "second.sqlog", flows="second") == [tmp_path / "second.sqlog"]
    capture = result.captures["client"]
    capture.write_bytes(capture.read_bytes()[:-3])
    with pytest.raises(ll.InputError, match=r"client\.pcapng: the capture is incomplete"):
        result.qlog(tmp_path / "cut")


def test_flows_whose_names_are_equal_files_are_kept_apart(tmp_path: Path) -> None:
    net = ll.Network("names")
    net.link("a", "b", rate="1 Mbit/s", delay="10 ms")
    for name in ("x y", "x/y", "X_Y", "x_y-receiver"):
        net.flow("a", "b", transfer="1 kB", name=name)
    ll.run(net, duration="1 s", qlog=tmp_path)
    titles = {path.name: read(path).header["title"] for path in tmp_path.iterdir()}
    assert len(titles) == 8
    assert Counter(titles.values()) == dict.fromkeys(
        (f"names: {name}" for name in ("x y", "x/y", "X_Y", "x_y-receiver")), 2
    )


# ------------------------------------------------------------------------------------------- data in flight


def test_sack_blocks_acknowledge_packets() -> None:
    """Ten packets of 100 B, of which 2 and 5 are lost: numbers and bytes worked by hand."""
    flight = Flight()
    for number in range(10):
        flight.add(number, 100 * number, 100 * number + 100)
    assert flight.acknowledge(200, []) == [0, 1]
    assert flight.acknowledge(200, [(300, 400)]) == [3]
    assert flight.acknowledge(200, [(300, 500)]) == [4]
    assert flight.acknowledge(200, [(600, 1000), (300, 500)]) == [6, 7, 8, 9]
    assert flight.acknowledge(200, [(600, 1000), (300, 500)]) == []
    assert (flight.size, flight.latest) == (200, 9)
    flight.lose(2)
    flight.add(10, 200, 300)
    assert flight.size == 200
    # The retransmission fills the first hole; then packet 5 arrives late, after it was declared lost.
    assert flight.acknowledge(500, [(600, 1000)]) == [10]
    flight.lose(5)
    assert flight.acknowledge(1000, []) == [5]
    assert (flight.size, flight.una, flight.top) == (0, 1000, 1000)


@pytest.mark.parametrize("seed", range(20))
def test_the_data_in_flight_agrees_with_a_list_of_bytes(seed: int) -> None:
    """Random transmissions, ACKs, losses and restorations against a model that marks each byte."""
    draw = random.Random(seed)
    flight, una, top = Flight(), 0, 0
    sent: dict[int, range] = {}
    reported: set[int] = set()
    state: dict[int, str] = {}
    for number in itertools.count():
        if number == 400:
            break
        if draw.random() < 0.7 or top == una:
            data = range(top, top + draw.randint(1, 9))
        else:
            start = draw.randrange(una, top)
            data = range(start, min(top, start + draw.randint(1, 9)))
        top = max(top, data.stop)
        flight.add(number, data.start, data.stop)
        sent[number], state[number] = data, "out"
        if draw.random() < 0.2:
            out = [each for each, now in state.items() if now == "out"]
            state[chosen := draw.choice(out)] = "lost"
            flight.lose(chosen)
        if draw.random() < 0.1 and (lost := flight.lost()):
            state[lost[0].number] = "out"
            flight.restore(lost[0].number)
        blocks = []
        if draw.random() < 0.5:
            start = draw.randrange(una, top)
            blocks = [(start, draw.randint(start + 1, top))]
        ack = draw.randint(una, top) if draw.random() < 0.3 else una
        found = flight.acknowledge(ack, blocks)
        una = ack
        reported |= {byte for start, end in blocks for byte in range(start, end)}
        reported |= set(range(una))
        complete = {each for each, data in sent.items() if reported.issuperset(data)}
        outstanding = {each for each in complete if state[each] == "out"}
        assert outstanding <= set(found) <= complete
        for each in complete:
            state[each] = "gone"
        assert flight.size == sum(len(sent[each]) for each, now in state.items() if now == "out")
        assert [each.number for each in flight.outstanding()] == [each for each, now in state.items() if now == "out"]


@pytest.mark.parametrize("initial", [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 5000])
def test_sequence_numbers_wrap(initial: int) -> None:
    direction = Direction(initial=initial)
    offset = 0
    while offset < 2**33:
        assert direction.offset((initial + 1 + offset) % 2**32) == offset
        direction.flight.top = offset
        offset += 10**9
