"""The inner state of congestion control in the trace, and ACKs that a sender received."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import lightlag as ll

COLUMNS = ["state", "bottleneck_rate_bps", "rtprop_s", "pacing_rate_bps", "pacing_gain", "cwnd_gain", "rho"]
RECORDED = {"record.internals": "true"}


def network(*congestion: str) -> ll.Network:
    net = ll.Network("pair")
    net.link("a", "b", rate="10 Mbit/s", delay="50 ms", queue="2 bdp")
    for name in congestion:
        net.flow("a", "b", name=name, congestion=name)
    return net


def trace(congestion: str, duration: str = "20 s") -> pl.DataFrame:
    return ll.run(network(congestion), duration=duration, sets=RECORDED).trace()


@pytest.mark.parametrize("variant", ["bbr", "bbr3"])
def test_the_trace_shows_the_model_of_bbr(variant: str) -> None:
    rows = trace(variant)
    # Before the connection is established there is no congestion control.
    states = rows["state"].cast(str).drop_nulls().unique(maintain_order=True).to_list()
    assert states[:2] == ["startup", "drain"]
    assert states[2].startswith("probe_bw")
    late = rows.filter(rows["time_s"] > 5)
    # 10 Mbit/s with headers are 9.65 Mbit/s of payload; the path takes 100 ms, and a packet 1.2 ms.
    assert late["bottleneck_rate_bps"].median() == pytest.approx(9.65e6, rel=0.03)
    assert late["rtprop_s"].median() == pytest.approx(0.1013, abs=0.002)
    # The pacing rate keeps 1 % below the gain times the rate.
    ratio = late["pacing_rate_bps"] / (late["bottleneck_rate_bps"] * late["pacing_gain"])
    assert ratio.median() == pytest.approx(0.99, abs=0.011)
    assert {1.0, 1.25} <= set(late["pacing_gain"])
    assert late["cwnd_gain"].median() == 2.0
    assert rows["rho"].is_null().all()


def test_the_ns3_variant_shows_its_own_gains() -> None:
    net = ll.Network("pair")
    net.link("a", "b", rate="10 Mbit/s", delay="50 ms", queue="2 bdp")
    net.flow("a", "b", congestion={"algorithm": "bbr", "variant": "ns3"})
    rows = ll.run(net, duration="5 s", sets=RECORDED).trace()
    assert rows.filter(rows["state"].cast(str) == "startup")["pacing_gain"].max() == 2.89


def test_the_trace_shows_rho_of_hybla() -> None:
    rows = trace("hybla", "5 s")
    # The handshake takes 100 ms and two packets without payload: 100.1 ms / 25 ms.
    assert rows["rho"].drop_nulls()[-1] == pytest.approx(4.004, abs=0.001)
    assert all(rows[column].is_null().all() for column in COLUMNS[:-1])


def test_values_that_an_algorithm_lacks_are_null_next_to_one_that_has_them(tmp_path: Path) -> None:
    result = ll.run(network("cubic", "bbr"), duration="3 s", sets=RECORDED)
    rows = ll.load(result.save(tmp_path / "run")).trace()
    assert rows.equals(result.trace())
    cubic, bbr = (rows.filter(rows["flow"].cast(str) == name) for name in ("cubic", "bbr"))
    assert all(cubic[column].is_null().all() for column in COLUMNS)
    assert not bbr.filter(bbr["sent_bytes"] > 0)["state"].is_null().any()


def test_runs_that_do_not_record_it_have_neither_the_columns_nor_another_hash() -> None:
    plain = ll.run(network("bbr"), duration="3 s")
    assert not set(COLUMNS) & set(plain.trace().columns)
    recorded = ll.run(network("bbr"), duration="3 s", sets=RECORDED)
    assert recorded.trace().drop(COLUMNS).equals(plain.trace())
    assert recorded.result_hash != plain.result_hash


def test_the_state_is_the_same_for_any_number_of_threads() -> None:
    runs = [ll.run("dumbbell", duration="3 s", sets=RECORDED, threads=count, congestion="bbr") for count in (1, 2)]
    assert runs[0].result_hash == runs[1].result_hash


def test_acks_received_counts_each_ack_that_the_sender_took() -> None:
    result = ll.run(network("cubic"), duration="5 s", sets={"record.acks": "true"})
    count = result.flows["acks_received"][0]
    # The ACK of the SYN-ACK's peer acknowledges no data.
    assert 0 <= result.acks.height - count <= 1
    assert 0.4 < count / result.flows["sent_segments"][0] < 1.1
