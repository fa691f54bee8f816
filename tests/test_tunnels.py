"""Tunnels of DATAGRAM frames, through the package: builder, table, trace, warnings and text."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import lightlag as ll
from lightlag.cli.app import app


def shown(monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """Returns what a command prints, without line breaks."""
    monkeypatch.setenv("COLUMNS", "200")
    done = CliRunner().invoke(app, list(words))
    return " ".join((done.stdout + done.stderr).split())


def network(**keys: object) -> ll.Network:
    net = ll.Network("masque")
    net.link("terminal", "gateway", rate="10 Mbit/s", delay="20 ms", queue="1 bdp")
    net.link("gateway", "server", rate="100 Mbit/s", delay="5 ms")
    net.flow("server", "terminal", transport="quic", transfer="1 MB", name="inner")
    net.tunnel("terminal", "gateway", **keys)  # type: ignore[arg-type]
    return net


def test_a_result_has_the_directions_of_a_tunnel() -> None:
    result = ll.run(network(queue="200 packets"), duration="30 s", seed=3)
    tunnels = result.tunnels
    assert tunnels.select("from", "to").rows() == [("terminal", "gateway"), ("gateway", "terminal")]
    down = tunnels.row(1, named=True)
    gone = down["dropped_queue"] + down["dropped_size"] + down["dropped_closed"] + down["lost_packets"]
    assert down["entered_packets"] >= down["delivered_packets"] + gone
    assert down["delivered_bytes"] > 1_000_000
    assert result.flows["name"].to_list() == ["inner"]
    # The connection of the tunnel has rows in the trace, under its own name.
    assert set(result.table("trace")["flow"].unique()) == {"inner", "tunnel terminal-gateway"}


def test_a_result_without_tunnels_says_how_to_get_some() -> None:
    net = network()
    net.tunnels.clear()
    with pytest.raises(ll.InputError, match=r"write \[\[tunnels\]\] with between"):
        _ = ll.run(net, duration="1 s").tunnels


def test_a_scenario_with_a_tunnel_survives_its_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = network(payload="udp", flows=("inner",), start="1 s", quic={"congestion": "bbr"}).scenario("20 s")
    file = tmp_path / "masque.toml"
    file.write_text(scenario.to_toml(), encoding="utf-8")
    text = shown(monkeypatch, "run", str(file), "-o", str(tmp_path / "out"))
    assert "terminal->gateway" in text
    assert "bbr" in text
    assert ll.run(file).result_hash == ll.run(scenario).result_hash


def test_check_names_the_size_that_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = network()
    net.flow("terminal", "server", transfer="1 MB")
    file = tmp_path / "masque.toml"
    file.write_text(net.scenario("20 s").to_toml(), encoding="utf-8")
    text = shown(monkeypatch, "check", str(file))
    assert "drops those above 1.438 kB" in text
    assert "tunnels[0].quic.datagram to" in text
