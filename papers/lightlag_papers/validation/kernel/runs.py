"""Runs of the kernel's TCP over emulated paths, kept in a file, and of ours over the same paths in simulation."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

import lightlag as ll
from lightlag.emulation.emulator import device, emulate
from lightlag.emulation.namespaces import namespaces
from lightlag.machine.children import tied
from lightlag_papers.validation.kernel.points import BULK_S, PAYLOAD, Point

FOLDER = Path(__file__).parent
SCENARIO = FOLDER / "path.toml"
FLOW = FOLDER / "flow.py"

ADDRESSES = ("10.77.0.1", "10.77.0.2")
PORT = 5201

MOST_S = 400
"""Longer than any transfer takes."""

LATE = 2e-3
"""A run is repeated if a larger share of its deliveries, and more than one, was late: the machine was busy."""

TRIES = 4
"""The run with the fewest late deliveries of so many counts, if none is better."""

FAMILY_REPEATS = 2
"""Runs of a point of a family."""

SHARE = 3
"""If this many runs can wait side by side, only one of them can forward many packets."""

JITTER = "20 us"
"""Jitter of the simulated link, if a queue may overflow."""

PHASES = 8
"""Our runs of a transfer with a pattern of losses. Each of the kernel's starts at its own moment between two ticks."""

PHASE_S = 0.0045
"""From the start of one of them to that of the next: over all, the ticks of 4 ms and the steps of 32 ms of later timers
pass in eighths."""

LATENESS = "100 us"
"""Jitter of the link in all of them but the first: so much later the emulation forwards, at most, as a rule."""

SETTINGS: dict[str, object] = {
    "net.ipv4.tcp_no_metrics_save": 1,
    "net.ipv4.tcp_rmem": "4096 33554432 33554432",
    "net.ipv4.tcp_wmem": "4096 67108864 67108864",
    "net.ipv4.tcp_moderate_rcvbuf": 0,
    "net.ipv6.conf.all.disable_ipv6": 1,
    "net.ipv6.conf.default.disable_ipv6": 1,
}
"""Inside the namespaces only, and both are new for each run: nothing is remembered from one connection to the next.
Buffers are fixed, and half of the receive buffer is window at first. Without IPv6 nothing but the flow crosses the
path."""


@dataclass(frozen=True)
class Observed:
    """Bytes that the receiver has read and the seconds they took; segments sent again and timeouts by then."""

    bytes: int
    elapsed_s: float
    retransmissions: int
    timeouts: int
    late: int = 0
    """Deliveries of the emulation more than 1 ms late; 0 in simulation."""
    packets: int = 0
    """Deliveries of the emulation."""

    @property
    def is_late(self) -> bool:
        """Whether the machine was too busy to forward in time."""
        return self.late > max(1, LATE * self.packets)

    @property
    def goodput_bps(self) -> float:
        """In bit/s."""
        return 8 * self.bytes / self.elapsed_s


def simulated(point: Point, phase: int = 0) -> Observed:
    """The run with our TCP. With a `phase` it starts so many times `PHASE_S` later, over a link with jitter.

    Real packets are some tens of microseconds late. Without that, an ACK-clocked segment meets a full queue at exactly
    the instant at which another one leaves it, and every such tie ends alike.
    """
    sets = point.sets() if point.group == "pattern" else {"links.0.jitter": JITTER, **point.sets()}
    start_s = phase * PHASE_S
    if phase:
        sets |= {"links.0.jitter": LATENESS, "seed": str(phase), "flows.0.start": f"{1e3 * start_s:g} ms"}
    flow = ll.run(SCENARIO, sets=sets).summary["flows"][0]
    if point.segments is None:
        size, elapsed_s = int(flow["delivered_bytes"]), float(BULK_S)
    else:
        if flow["finish_s"] is None:
            raise ValueError(f"{point.place}: our transfer does not end")
        size, elapsed_s = point.segments * PAYLOAD, float(flow["finish_s"]) - start_s
    return Observed(size, elapsed_s, int(flow["retransmitted_segments"]), int(flow["timeouts"]))


def real(point: Point, stopped: threading.Event) -> Observed:
    """The run with the kernel's TCP.

    Raises
    ------
    OSError
        If it failed.
    InterruptedError
        If `stopped` was set before its end.
    """
    amount = ("seconds", BULK_S) if point.segments is None else ("bytes", point.segments * PAYLOAD)
    settings = {**SETTINGS, "net.ipv4.tcp_sack": int(point.sack), **dict(point.settings)}
    with namespaces("llk", settings=settings) as (left, right):
        ends = tuple(device(f"ns:{name}", (f"{ip}/24",)) for name, ip in zip((left, right), ADDRESSES, strict=True))
        arguments = (left, right, ADDRESSES[1], PORT, point.algorithm, *amount, *(point.writes or (0, 1)))
        flow = tied([sys.executable, "-S", "-E", str(FLOW), *map(str, arguments)])
        pipe = subprocess.PIPE
        with subprocess.Popen(flow, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
            try:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdout.readline()
                # The path's clock and the flow start together, within some milliseconds.
                with emulate(SCENARIO, (ends[0], ends[1]), sets=point.sets()) as emulation:
                    process.stdin.write("\n")
                    process.stdin.flush()
                    out, complaint = _waited(process, stopped)
                    directions = emulation.statistics()["directions"]
            finally:
                process.kill()
        if process.returncode != 0:
            last = complaint.strip().rpartition("\n")[2]
            raise OSError(f"{point.place}: the kernel's flow failed: {last or process.returncode}")
    late, packets = (sum(one[key] for one in directions) for key in ("late_packets", "delivered_packets"))
    found = json.loads(out)
    # The kernel counts a repeated SYN as a segment sent again; ours counts segments with data.
    again = found["RetransSegs"] - found["TCPSynRetrans"]
    return Observed(found["bytes"], found["elapsed_s"], again, found["TCPTimeouts"], late=late, packets=packets)


def _best(point: Point, stopped: threading.Event) -> Observed:
    """A run of the kernel's in time, or the best of some."""
    tries = [real(point, stopped)]
    while tries[-1].is_late and len(tries) < TRIES and not stopped.is_set():
        tries.append(real(point, stopped))
    return min(tries, key=lambda run: run.late / max(run.packets, 1))


def _waited(process: subprocess.Popen[str], stopped: threading.Event) -> tuple[str, str]:
    """The output of the process, unless it takes too long or is no longer needed."""
    until = time.monotonic() + MOST_S
    while True:
        try:
            return process.communicate(timeout=0.2)
        except subprocess.TimeoutExpired:
            if stopped.is_set():
                raise InterruptedError from None
            if time.monotonic() > until:
                raise OSError(f"the kernel's flow did not end within {MOST_S} s") from None


class Kept:
    """The kernel's runs in a file, a line each, written as they end. A line that breaks off is left out."""

    def __init__(self, path: Path, *, forget: bool = False) -> None:
        self.path = path
        self.found: dict[str, Observed] = {}
        self._lock = threading.Lock()
        # A run stands for another one of the same kernel, path, settings and program only.
        described = (platform.release(), SCENARIO.read_text("utf-8"), FLOW.read_text("utf-8"), json.dumps(SETTINGS))
        self._about = hashlib.blake2b("\0".join(described).encode(), digest_size=8).hexdigest()
        if forget:
            path.unlink(missing_ok=True)
        text = path.read_text("utf-8", "replace") if path.exists() else ""
        # A line that broke off stays alone.
        self._torn = bool(text) and not text.endswith("\n")
        for line in text.splitlines():
            try:
                entry = json.loads(line)
                if entry["about"] == self._about:
                    self.found[entry["key"]] = Observed(**entry["observed"])
            except (ValueError, KeyError, TypeError):
                continue

    def add(self, key: str, observed: Observed) -> None:
        """Write a run."""
        entry = {"about": self._about, "key": key, "observed": asdict(observed)}
        line = json.dumps(entry, separators=(",", ":"), allow_nan=False)
        with self._lock:
            self.found[key] = observed
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"\n{line}\n" if self._torn else f"{line}\n")
                self._torn = False


def measure(
    points: Sequence[Point], repeats: int, kept: Kept, jobs: int, progress: Callable[[str], object]
) -> dict[Point, list[Observed]]:
    """The kernel's runs of every point, so many at a time; those that are kept are not repeated.

    `repeats` of each: one differs from the next by when its timers tick and what else the machine did. A chaotic flow
    runs once with each of its many seeds, a family twice.
    """
    wanted = [(point, f"{point.key} {number}") for point in points for number in range(1, _repeats(point, repeats) + 1)]
    missing = [(point, key) for point, key in wanted if key not in kept.found]
    stopped = threading.Event()

    def one(point: Point, key: str) -> None:
        if not stopped.is_set():
            kept.add(key, _best(point, stopped))

    done = 0
    for heavy, workers in ((False, jobs), (True, max(1, jobs // SHARE))):
        with ThreadPoolExecutor(workers) as pool:
            try:
                futures = [pool.submit(one, point, key) for point, key in missing if point.is_heavy == heavy]
                for future in as_completed(futures):
                    future.result()
                    done += 1
                    progress(f"the kernel's TCP over emulated paths: {done} of {len(missing)} runs")
            except BaseException:
                stopped.set()
                pool.shutdown(cancel_futures=True)
                raise
    found: dict[Point, list[Observed]] = {}
    for point, key in wanted:
        found.setdefault(point, []).append(kept.found[key])
    return found


def _repeats(point: Point, repeats: int) -> int:
    """Runs of the kernel at a point, at most so many."""
    if point.is_chaotic:
        return 1
    return min(repeats, FAMILY_REPEATS) if point.group == "family" else repeats


def simulate(points: Iterable[Point], progress: Callable[[str], object]) -> dict[Point, tuple[Observed, ...]]:
    """Our runs of every point: of a transfer with a pattern of losses one for each phase, of others one."""

    def every(point: Point) -> tuple[Observed, ...]:
        return tuple(simulated(point, phase) for phase in range(PHASES if point.group == "pattern" else 1))

    points = list(points)
    found = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, (point, observed) in enumerate(zip(points, pool.map(every, points), strict=True), start=1):
            found[point] = observed
            progress(f"our TCP in simulation: {done} of {len(points)} runs")
    return found
