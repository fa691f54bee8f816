"""Runs the programs for ns-3 and ns-2, each scenario once: their output is stored until the program changes."""

from __future__ import annotations

import hashlib
import json
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from grid import MEGABITS, PAYLOAD, Cell, Outcome

_SOURCES = Path("benchmarks/simulators")
_BUILT = Path("target/simulators")


@dataclass(frozen=True)
class Program:
    """A simulator: its program for one flow, and its names of algorithms."""

    name: str
    package: str
    """The Debian package, whose version every page states."""
    source: Path
    algorithms: dict[str, str]
    """The simulator's name of each algorithm, by our name."""

    def command(self, algorithm: str, cell: Cell, window: int, seed: int) -> list[str]:
        """Returns the command line of one run. `window` is the receive window in segments, 0 if it is unlimited."""
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


NS3 = Program(
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
NS2 = Program(
    "ns-2",
    "ns2",
    _SOURCES / "ns2" / "one-flow.tcl",
    {name: name for name in ("cubic", "hybla", "highspeed", "htcp", "bic")},
)
PROGRAMS = (NS2, NS3)


class Kept:
    """The output of a program, which is read from a file if it is stored there, or from new runs."""

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
        """Returns the outcome of a run with `given` as its standard input. `payload` is the size of a segment in bytes,
        `seconds` the duration.
        """
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
    """Returns the numbers in the output of a program, which may also contain other text."""
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or len(lines) != 1:
        raise SystemExit(f"{' '.join(command)}: gave no numbers (exit {done.returncode}): {done.stderr.strip()[-500:]}")
    numbers: dict[str, float] = json.loads(lines[0])
    return numbers


class Runs:
    """The outcomes of a simulator."""

    def __init__(self, simulator: Program) -> None:
        self.simulator = simulator
        self._kept = Kept(simulator.package, simulator.source, simulator.package)

    @property
    def version(self) -> str:
        """The version of the simulator's package."""
        return self._kept.version

    def outcome(self, algorithm: str, cell: Cell, window: int, seed: int) -> Outcome:
        """The outcome of one run."""
        return self._kept.outcome(self.simulator.command(algorithm, cell, window, seed), cell.seconds, PAYLOAD)


def _version(package: str) -> str:
    command = ["dpkg-query", "--show", "--showformat=${Version}", package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{package} is not installed; run make simulators")
    return done.stdout.split("-")[0].split("+")[0]
