"""Throughput over the active time of flows, and the delay of their data, from the trace."""

from __future__ import annotations

import pytest

import lightlag as ll


def network(**flow: object) -> ll.Network:
    net = ll.Network("pair")
    net.link("a", "b", rate="10 Mbit/s", delay="100 ms", queue="1000 packets")
    net.flow("a", "b", **flow)  # type: ignore[arg-type]
    return net


def test_throughput_counts_from_the_first_transmission_to_the_last_arrival() -> None:
    result = ll.run(network(transfer="2 MB", start="1 s"), duration="60 s")
    (row,) = result.transfers.rows(named=True)
    flow = result.flows.row(0, named=True)
    # The handshake takes a round trip, of 200 ms and the time of two segments without payload.
    assert row["first_sent_s"] == pytest.approx(1.2001, abs=1e-4)
    assert (row["last_arrival_s"], row["arrived_bytes"]) == (flow["finish_s"], 2_000_000)
    assert row["throughput_bps"] == pytest.approx(16e6 / (flow["finish_s"] - row["first_sent_s"]))
    assert row["throughput_bps"] > 1.05 * flow["goodput_bps"]


def test_the_delay_without_a_queue_matches_the_path() -> None:
    # A window of one segment: 100 ms, and 1500 B at 10 Mbit/s take 1.2 ms. Rows are 1 ms apart.
    net = network(transfer="50 kB", tcp={"receive_buffer": "1448 B", "delayed_ack": False})
    result = ll.run(net, duration="60 s", sets={"record.interval": "1 ms"})
    assert result.transfers["mean_delay_s"][0] == pytest.approx(0.1012, abs=0.001)


def test_a_standing_queue_adds_its_wait_to_the_delay() -> None:
    # 400 kB in flight at 10 Mbit/s: a round trip of 331 ms with headers, including 100 ms for the return path of ACKs.
    net = network(tcp={"profile": "rfc", "receive_buffer": "400 kB"})
    result = ll.run(net, duration="60 s", sets={"record.interval": "10 ms"})
    assert result.transfers["mean_delay_s"][0] == pytest.approx(result.flows["mean_rtt_s"][0] - 0.1, rel=0.03)


def test_flows_without_data_have_no_row() -> None:
    net = network(name="carries", transfer="10 kB")
    net.flow("a", "b", name="late", start="9.9 s")
    net.flow(
        "a", "b", name="datagrams", transport="udp", traffic={"kind": "constant", "rate": "8 kbit/s", "size": "100 B"}
    )
    result = ll.run(net, duration="10 s")
    assert result.transfers["flow"].cast(str).to_list() == ["carries"]


def test_the_sender_of_the_first_leg_counts_where_a_proxy_splits_a_flow() -> None:
    net = ll.Network("split")
    net.link("a", "proxy", rate="10 Mbit/s", delay="10 ms")
    net.link("proxy", "b", rate="10 Mbit/s", delay="100 ms")
    net.flow("a", "b", transfer="200 kB")
    net.proxy("proxy", buffer="1 MB")
    (row,) = ll.run(net, duration="60 s").transfers.rows(named=True)
    assert row["arrived_bytes"] == 200_000
    assert 0.11 < row["mean_delay_s"] < 1.0


def test_a_run_without_a_trace_names_what_to_record() -> None:
    result = ll.run(network(transfer="10 kB"), duration="10 s", sets={"record.trace": "off"})
    with pytest.raises(ll.InputError, match='no trace was recorded; run with trace = "change" under'):
        _ = result.transfers
