"""Runs the programs for ns-3 and ns-2, each scenario once: what they print is kept until the program changes."""

from __future__ import annotations

import hashlib
import json
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from grid import MEGABITS, PAYLOAD, Cell, Outcome

_SOURCES = Path("benchmarks/peers")
_BUILT = Path("target/peers")


@dataclass(frozen=True)
class Peer:
    """A simulator: its program of one flow, and how it names algorithms."""

    name: str
    package: str
    """The Debian package whose version stands beside every number."""
    source: Path
    algorithms: dict[str, str]
    """Our name of each algorithm, and its own."""

    def command(self, algorithm: str, cell: Cell, window: int, seed: int) -> list[str]:
        """The command line of one run; `window` is the receive window in segments, 0 for an open one."""
        name = self.algorithms[algorithm]
        if self.package == "ns2":
            shown = window or 20_000
            values = (MEGABITS, cell.round_trip_ms, cell.loss, cell.bdp, shown, cell.seconds, seed)
            return ["ns", str(self.source), name, *map(str, values)]
        options = {
            "algorithm": name,
            "megabits": MEGABITS,
            "rtt": cell.round_trip_ms,
            "loss": cell.loss,
            "queue": cell.bdp,
            "window": window,
            "seconds": cell.seconds,
            "seed": seed,
        }
        return [str(_BUILT / "ns3-one-flow"), *(f"--{key}={value}" for key, value in options.items())]


NS3 = Peer(
    "ns-3",
    "libns3-dev",
    _SOURCES / "ns3" / "one-flow.cc",
    {
        "newreno": "TcpNewReno",
        "cubic": "TcpCubic",
        "hybla": "TcpHybla",
        "highspeed": "TcpHighSpeed",
        "vegas": "TcpVegas",
        "veno": "TcpVeno",
        "htcp": "TcpHtcp",
        "bbr": "TcpBbr",
    },
)
NS2 = Peer(
    "ns-2",
    "ns2",
    _SOURCES / "ns2" / "one-flow.tcl",
    {name: name for name in ("cubic", "hybla", "highspeed", "htcp", "bic")},
)
PEERS = (NS2, NS3)


class Kept:
    """The output of a program, from the file that keeps it or from new runs."""

    def __init__(self, package: str, source: Path, name: str) -> None:
        self.version = _version(package)
        self._file = _BUILT / f"{name}.json"
        self._lock = threading.Lock()
        self._origin = hashlib.sha256(source.read_bytes()).hexdigest()[:16] + " " + self.version
        self._kept = self._load()

    def _load(self) -> dict[str, dict[str, float]]:
        if not self._file.exists():
            return {}
        kept = json.loads(self._file.read_text("utf-8"))
        return kept["runs"] if kept["origin"] == self._origin else {}

    def outcome(self, command: list[str], seconds: float, payload: int, given: str = "") -> Outcome:
        """The outcome of one run that reads the text `given`, with segments of `payload` bytes."""
        key = " ".join(command[1:])
        if given:
            key += " < " + hashlib.sha256(given.encode()).hexdigest()[:16]
        if key not in self._kept:
            numbers = _run(command, given)
            with self._lock:
                self._kept[key] = numbers
                self._save()
        numbers = self._kept[key]
        assert numbers["delivered_bytes"] % payload == 0, "segments of another size"
        goodput = numbers["delivered_bytes"] * 8e-6 / seconds
        return Outcome(goodput, numbers["retransmitted_segments"], numbers["mean_cwnd_segments"])

    def _save(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._file.with_suffix(".new")
        fresh.write_text(json.dumps({"origin": self._origin, "runs": self._kept}, indent=1, allow_nan=False), "utf-8")
        fresh.replace(self._file)


def _run(command: list[str], given: str) -> dict[str, float]:
    """The numbers that a program prints, among whatever else it prints."""
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or len(lines) != 1:
        raise SystemExit(f"{' '.join(command)}: gave no numbers (exit {done.returncode}): {done.stderr.strip()[-500:]}")
    numbers: dict[str, float] = json.loads(lines[0])
    return numbers


class Runs:
    """The outcomes of a peer."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self._kept = Kept(peer.package, peer.source, peer.package)

    @property
    def version(self) -> str:
        """The version of its package."""
        return self._kept.version

    def outcome(self, algorithm: str, cell: Cell, window: int, seed: int) -> Outcome:
        """The outcome of one run."""
        return self._kept.outcome(self.peer.command(algorithm, cell, window, seed), cell.seconds, PAYLOAD)


def _version(package: str) -> str:
    command = ["dpkg-query", "--show", "--showformat=${Version}", package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{package} is not installed; run make peers")
    return done.stdout.split("-")[0].split("+")[0]
