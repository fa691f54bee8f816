"""Downloads, paths and tolerances. They preceded the first measurement, except for the path at 20 Mbit/s."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

TOLERANCE = 0.10
"""Maximum deviation of the measured from the simulated time on a path without random loss."""

COMPUTING = 0.5
"""Fraction of a download during which an endpoint computes or waits for a processor. Above it, a late last byte has no
verdict: the endpoint limits the download, and the simulation has no processing times.
"""

SEEDS = (1, 2, 3)
"""Seeds of the random losses; the row has the median."""

WINDOW = 30_000_000
"""Raised credit in bytes, far above the bandwidth-delay product and the queue of both paths."""

SIZES = {"1 MB": 1_000_000, "10 MiB": 10 << 20}
STACKS = ("aioquic", "quinn")

AIOQUIC = "1.2.0"
"""Version from PyPI: the one that the profile follows. `tools/quic-peer/Cargo.toml` has the version of quinn."""


@dataclass(frozen=True)
class Path:
    """A path between the server and the client. Rates are in Mbit/s, the delay of one direction in ms."""

    name: str
    down: int
    up: int
    delay: int
    loss: float = 0.0

    def title(self) -> str:
        """Returns the name with the loss rate."""
        return f"{self.name}, loss {100 * self.loss:g} %" if self.loss else self.name

    def link(self) -> dict[str, Any]:
        """Returns the link of a scenario. The queue of the return path holds 100 packets."""
        return {
            "between": ["server", "client"],
            "rate": {"forward": f"{self.down} Mbit/s", "backward": f"{self.up} Mbit/s"},
            "delay": f"{self.delay} ms",
            "queue": {"forward": "1 bdp", "backward": "100 packets"},
            "loss": self.loss,
        }


GEO = Path("GEO", 20, 2, 300)
LEO = Path("LEO", 100, 20, 20)
SLOW_LEO = Path("LEO at 20 Mbit/s", 20, 4, 20)
LOSSY_LEO = Path("LEO", 100, 20, 20, 0.01)


@dataclass(frozen=True)
class Cell:
    """A download. ``window`` is the credit in bytes at both endpoints; None is the default of the stack."""

    path: Path
    stack: str
    size: str
    window: int | None = WINDOW

    def name(self) -> str:
        """Returns a description of the download."""
        return f"{self.path.title()}, {self.stack}, {self.size}, {self.credit()} credit"

    def credit(self) -> str:
        """Returns the kind of credit."""
        return "default" if self.window is None else "raised"

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of the runs: one without random loss."""
        return SEEDS if self.path.loss else SEEDS[:1]

    def scenario(self, seed: int, certificate: int) -> dict[str, Any]:
        """Returns the scenario of the download. The emulation uses its link. ``certificate`` is the size of
        the certificate in bytes.
        """
        quic: dict[str, Any] = {"profile": self.stack, "certificate": f"{certificate} B"}
        if self.window is not None:
            quic |= {"stream_credit": f"{self.window} B", "connection_credit": f"{self.window} B"}
            if self.stack == "quinn":
                quic["send_buffer"] = f"{self.window} B"
        response = {"kind": "requests", "response": f"{SIZES[self.size]} B", "count": 1}
        flow = {"from": "server", "to": "client", "transport": "quic", "traffic": response, "quic": quic}
        return {"duration": "300 s", "seed": seed, "links": [self.path.link()], "flows": [flow]}


def lossless() -> list[Cell]:
    """Returns the downloads with a verdict. aioquic has a slower path as well, because its processor time limits the
    other one.
    """
    raised = [Cell(path, stack, size) for path, stack, size in itertools.product((GEO, LEO), STACKS, SIZES)]
    slow = [Cell(SLOW_LEO, "aioquic", size) for size in SIZES]
    return raised + slow + [Cell(GEO, stack, size, None) for stack, size in itertools.product(STACKS, SIZES)]


def lossy() -> list[Cell]:
    """Returns the downloads that are only shown."""
    return [Cell(LOSSY_LEO, stack, size) for stack, size in itertools.product(STACKS, SIZES)]
