"""Forward error correction of links, as users meet it: results, reports, captures, comparisons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from conftest import Lightlag


def coded(code: dict[str, Any] | None, loss: float = 0.02) -> ll.Network:
    net = ll.Network("coded")
    net.link("gateway", "terminal", rate="10 Mbit/s", delay="280 ms", loss=loss, fec=code)
    net.flow("gateway", "terminal", transfer="2 MB")
    return net


def test_the_links_table_counts_repair_packets_and_what_they_repaired() -> None:
    # (13, 10) at 2 %: p · P(Bin(12, p) ≥ 3) = 3·10⁻⁵.
    forward = ll.run(coded({"data": 10, "repair": 3}), duration="60 s").links.row(0, named=True)
    assert forward["repaired"] > 10
    assert (forward["dropped_error"], forward["residual_loss"]) == (0, 0.0)
    plain = ll.run(coded(None), duration="60 s").links.row(0, named=True)
    assert (plain["repair_packets"], plain["repaired"], plain["residual_loss"]) == (0, 0, None)
    assert plain["dropped_error"] > 10


def test_a_code_that_is_too_weak_leaves_the_residual_loss() -> None:
    net = ll.Network("weak")
    net.link("gateway", "terminal", rate="10 Mbit/s", delay="1 ms", loss=0.2, fec={"data": 4, "repair": 1})
    traffic = {"kind": "constant", "rate": "2 Mbit/s", "size": "972 B"}
    net.flow("gateway", "terminal", transport="udp", traffic=traffic)
    result = ll.run(net, duration="100 s")
    forward = result.links.row(0, named=True)
    # p · (1 − (1 − p)⁴) = 0.118 of 25,720 datagrams, which are lost up to four at a time.
    assert forward["residual_loss"] == pytest.approx(0.2 * (1 - 0.8**4), abs=3 * 2 * (0.118 / 25_720) ** 0.5)
    assert 0 <= result.flows["datagrams_lost"][0] - forward["dropped_error"] <= 10, (
        "the rest is in flight or in a block"
    )


def test_a_run_with_a_code_writes_everything(lightlag: Lightlag, tmp_path: Path) -> None:
    (tmp_path / "coded.toml").write_text(
        """\
duration = "5 s"
record = { trace = "change", queue = "sampled", drops = true, acks = true, queueing = true, pcap = { comments = true } }
[[links]]
between = ["a", "b"]
rate = "2 Mbit/s"
delay = "20 ms"
loss = { forward = 0.05 }
fec = { data = 5, repair = 1 }
[[flows]]
from = "a"
to = "b"
"""
    )
    done = lightlag("run", "coded.toml", "--out", "out", "--report")
    assert (done.returncode, done.stderr) == (0, "")
    assert "repair packets" in done.stdout
    assert "repaired" in done.stdout
    result = ll.load(tmp_path / "out")
    link = result.links.row(0, named=True)
    assert link["repaired"] > 0
    assert link["dropped_error"] > 0
    # The capture of the receiver has what was delivered, and no repair packet.
    (connection,) = ll.inspect(result.captures["b"]).connections
    arrived = connection.packets().filter(side="client")
    sent = result.flows["sent_segments"][0]
    assert 0 <= sent + 2 - link["dropped_error"] - len(arrived) <= 40, "the rest is in flight"
    assert (arrived["bytes"] <= 1460).all()


def test_the_code_rate_is_an_axis_of_a_comparison() -> None:
    net = coded({"data": 10, "repair": 0})
    comparison = ll.compare(net, ["cubic"], vary={"links.0.fec.repair": [0, 3]}, duration="60 s", replications=2)
    runs = comparison.runs
    plain, protected = (runs.filter(repair=repair)["goodput_bps"].mean() for repair in (0, 3))
    assert protected > 1.2 * plain  # type: ignore[operator]


def test_explain_and_check_name_the_keys(lightlag: Lightlag, pair_file: Path) -> None:
    explained = lightlag("explain", "links.fec")
    assert explained.returncode == 0
    assert all(key in explained.stdout for key in ("data", "repair", "flush", "in_order"))
    wrong = lightlag("check", pair_file, "--set", "links.0.fec={ data = 250, repair = 6 }")
    assert wrong.returncode == 2
    assert "links[0].fec.repair: 6 and data exceed 255 packets" in wrong.stderr
