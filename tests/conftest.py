"""Networks and runs that many tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import lightlag as ll

# Imports aioquic, which only the environment of `make interop-quic` has.
collect_ignore = ["interop_quic/aioquic_peer.py"]

PAIR = """\
name = "pair"
duration = "30 s"
seed = 3

[[links]]
between = ["client", "server"]
rate = "5 Mbit/s"
delay = "20 ms"
queue = "50 packets"
loss = 1e-3

[[flows]]
from = "client"
to = "server"
transfer = "2 MB"
"""


def pair() -> ll.Network:
    """The scenario of ``PAIR``, built in Python."""
    net = ll.Network("pair")
    net.link("client", "server", rate="5 Mbit/s", delay="20 ms", queue="50 packets", loss=1e-3)
    net.flow("client", "server", transfer="2 MB")
    return net


@pytest.fixture
def net() -> ll.Network:
    return pair()


@pytest.fixture
def pair_file(tmp_path: Path) -> Path:
    path = tmp_path / "pair.toml"
    path.write_text(PAIR)
    return path


@pytest.fixture(scope="session")
def result() -> ll.Result:
    return ll.run(pair(), duration="30 s", seed=3)


@pytest.fixture(scope="session")
def four_flows() -> ll.Result:
    """Flows that share a bottleneck with losses by overflow."""
    return ll.run(ll.presets.dumbbell(pairs=4, rate="10 Mbit/s", duration="15 s"), seed=1)


Lightlag = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def lightlag(tmp_path: Path) -> Lightlag:
    """The command line in a process of its own, in an empty directory."""

    def command(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "lightlag", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path if cwd is None else cwd,
            env={**os.environ, "COLUMNS": "120", "NO_COLOR": "1"},
            check=False,
        )

    return command
