"""TCP options of each end of a flow, and the send buffer."""

from __future__ import annotations

import json
from typing import Any

import pytest

import lightlag as ll
from lightlag import _engine

RTT_S = 0.2
RATE = 20e6


def net(flow: dict[str, Any]) -> ll.Network:
    """A flow over 20 Mbit/s and 200 ms, a bandwidth-delay product of 500 kB."""
    network = ll.Network("ends", tcp={"profile": "rfc", "receive_buffer": "4 MB"})
    network.link("a", "b", rate="20 Mbit/s", delay="100 ms", queue="400 packets")
    network.flow("a", "b", **flow)
    return network


def run(flow: dict[str, Any], *, duration: str = "30 s", loss: float = 0.0) -> ll.Result:
    return ll.run(net(flow), seed=3, duration=duration, sets={"links.0.loss": loss})


def rate(flow: dict[str, Any]) -> float:
    """Goodput of the last 10 s, in bit/s."""
    trace = run(flow).trace()
    late = trace.filter(trace["time_s"] > 20.0)
    first, last = late.row(0, named=True), late.row(-1, named=True)
    return float(8 * (last["delivered_bytes"] - first["delivered_bytes"]) / (last["time_s"] - first["time_s"]))


def test_a_receive_buffer_counts_at_the_end_that_receives() -> None:
    small = {"receive_buffer": "50 kB"}
    window = 8 * 50e3 / RTT_S
    assert rate({"server": small}) == pytest.approx(window, rel=0.06)
    assert rate({"client": small}) > 0.8 * RATE


def test_one_end_without_window_scaling_leaves_64_kb() -> None:
    for end in ("client", "server"):
        assert rate({end: {"window_scaling": False}}) == pytest.approx(8 * 65_535 / RTT_S, rel=0.06)


def test_an_endpoint_without_settings_uses_the_tcp_of_the_flow() -> None:
    both = {"sack": False, "receive_buffer": "300 kB"}
    flows: list[dict[str, Any]] = [
        {"tcp": both},
        {"client": both, "server": both},
        {"tcp": both, "client": {}},
        {"tcp": {"sack": True, "receive_buffer": "1 MB"}, "client": both, "server": both},
    ]
    assert len({run(flow, loss=0.001).result_hash for flow in flows}) == 1


def test_the_client_of_a_dialogue_is_the_requesting_endpoint() -> None:
    traffic = {"kind": "requests", "response": "4 MB", "think": "100 ms"}
    small = {"receive_buffer": "30 kB"}

    def bytes_of(**ends: Any) -> float:
        return float(run({"traffic": traffic, **ends}).flows["delivered_bytes"][0])

    assert bytes_of(client=small) < 0.5 * bytes_of(server=small)


SWITCHES: dict[str, Any] = {
    "profile": "linux",
    "congestion": "bbr",
    "mss": "600 B",
    "sack": False,
    "timestamps": False,
    "ecn": "accecn",
    "window_scaling": False,
    "receive_buffer": "auto",
    "send_buffer": "30 kB",
    "receive_window": "inet",
    "fast_open": "cookie known",
    "delayed_ack": False,
    "tso": True,
    "recovery": "reno",
    "scps": True,
    "ack_interval": "50 ms",
    "rate_control": {"rate": "10 Mbit/s"},
    "route": "path",
    "nagle": True,
}


@pytest.mark.parametrize("end", ["client", "server"])
@pytest.mark.parametrize("key", SWITCHES)
def test_a_transfer_arrives_completely_whatever_one_end_has(key: str, end: str) -> None:
    flows = run({"transfer": "300 kB", end: {key: SWITCHES[key]}}, duration="10 min", loss=0.005).flows
    assert flows["finish_s"][0] is not None
    assert flows["delivered_bytes"][0] == 300_000


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ({"client": {"mss": "1 B"}}, "flows[0].client.mss"),
        (
            {"server": {"send_buffer": "1 kB"}},
            "flows[0].server.send_buffer: 1 kB holds less than one segment",
        ),
        ({"tcp": {"mss": "1 B"}}, "flows[0].tcp.mss"),
        ({"tcp": {"sack": False}, "client": {"prr": True}}, "flows[0].client.prr"),
        (
            {"transport": "udp", "traffic": {"kind": "constant", "rate": "1 Mbit/s"}, "server": {"sack": False}},
            'flows[0].server: cannot be combined with transport = "udp"',
        ),
    ],
)
def test_what_an_end_cannot_have_is_named(flow: dict[str, Any], message: str) -> None:
    with pytest.raises(ll.ScenarioError) as error:
        run(flow)
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_send_buffer_limits_like_a_window() -> None:
    # 34 segments of 1448 bytes fit into 50 kB; the first write ends with a smaller one.
    flow = {"tcp": {"send_buffer": "50 kB", "delayed_ack": False}}
    assert rate(flow) == pytest.approx(8 * 33.5 * 1448 / RTT_S, rel=0.03)
    assert rate({"server": {"send_buffer": "50 kB"}}) > 0.8 * RATE


def test_a_sender_that_waits_for_its_buffer_is_limited_by_the_application() -> None:
    flows = run({"tcp": {"send_buffer": "50 kB"}}).flows
    assert flows["limited_application_s"][0] > 25


@pytest.mark.parametrize("traffic", [{"kind": "bulk"}, {"kind": "poisson", "every": "10 ms", "size": "9 kB"}])
def test_a_bounded_send_buffer_loses_nothing(traffic: dict[str, Any]) -> None:
    flow = {"transfer": "1 MB", "traffic": traffic, "tcp": {"send_buffer": "20 kB"}}
    flows = run(flow, duration="5 min", loss=0.01).flows
    assert flows["finish_s"][0] is not None
    assert flows["delivered_bytes"][0] == 1_000_000


def offers(rule: dict[str, Any]) -> list[int]:
    """Windows of a receiver with a buffer of two and a half segments, whose reader takes 100 bytes between ACKs."""
    tcp = {"profile": "inet", "mss": "1000 B", "receive_buffer": "2500 B", **rule}
    # Duplicates have an ACK each.
    arrivals = [(0, 1000), (1000, 1000), (2000, 500)] + [(2000, 500)] * 30
    answers = _engine.answers(json.dumps(tcp), arrivals, [0, 0, 0] + [100] * 30)
    return [window for _, window, _ in answers]


def test_inet_offers_no_window_below_a_segment() -> None:
    inet, stevens = offers({}), offers({"receive_window": "stevens"})
    # A quarter of the buffer is 625 bytes.
    assert all(window == 0 or window >= 1000 for window in inet[3:])
    assert any(0 < window < 1000 for window in stevens[3:])
    assert inet[-1] >= 1000
