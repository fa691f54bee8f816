"""Runs of the kernel's TCP over emulated paths, stored in a file, and of our TCP over simulated paths."""

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
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import lightlag as ll
from lightlag.emulation.emulator import device, emulate
from lightlag.emulation.namespaces import namespaces
from lightlag.machine.children import tied
from lightlag_papers.kept import Lines
from lightlag_papers.validation.kernel.points import BULK_S, PAYLOAD, Point

FOLDER = Path(__file__).parent
SCENARIO = FOLDER / "path.toml"
FLOW = FOLDER / "flow.py"

ADDRESSES = ("10.77.0.1", "10.77.0.2")
PORT = 5201

MOST_S = 400
"""Time limit in s; it is longer than any transfer."""

LATE = 2e-3
"""Maximum fraction of late deliveries.

If more were late, and more than one, the run is repeated, because the machine was busy.
"""

TRIES = 4
"""Maximum number of attempts. If none is below `LATE`, the one with the fewest late deliveries is used."""

FAMILY_REPEATS = 2
"""Number of the kernel's runs at each point of a family."""

SHARE = 3
"""Ratio of the number of parallel runs to the number of those that may forward many packets."""

JITTER = "20 us"
"""Jitter of the simulated link, for points where a queue may overflow."""

PHASES = 8
"""Number of our runs of a transfer with a loss pattern. Each of the kernel's runs starts at its own time between
ticks.
"""

PHASE_S = 0.0045
"""Difference between the start times of consecutive runs. Over all `PHASES` runs, the start moves through the 4 ms
tick, and through the 32 ms steps of longer timers, in eighths.
"""

LATENESS = "100 us"
"""Jitter of the link in all these runs except the first: the typical maximum delay that the emulation adds."""

SETTINGS: dict[str, object] = {
    "net.ipv4.tcp_no_metrics_save": 1,
    "net.ipv4.tcp_rmem": "4096 33554432 33554432",
    "net.ipv4.tcp_wmem": "4096 67108864 67108864",
    "net.ipv4.tcp_moderate_rcvbuf": 0,
    "net.ipv6.conf.all.disable_ipv6": 1,
    "net.ipv6.conf.default.disable_ipv6": 1,
}
"""Kernel settings within the two namespaces, which are created for each run.

No metrics are saved from one connection to the next. Buffers are fixed, and at first half of the receive buffer is
window. Without IPv6, only the flow's packets cross the path.
"""


@dataclass(frozen=True)
class Observed:
    """The result of a run: bytes read by the receiver, time in s, retransmitted segments and timeouts by then."""

    bytes: int
    elapsed_s: float
    retransmissions: int
    timeouts: int
    late: int = 0
    """Number of deliveries of the emulation that were more than 1 ms late; 0 in simulation."""
    packets: int = 0
    """Total number of deliveries of the emulation."""

    @property
    def is_late(self) -> bool:
        """Whether the machine was too busy to forward in time."""
        return self.late > max(1, LATE * self.packets)

    @property
    def goodput_bps(self) -> float:
        """The goodput in bit/s."""
        return 8 * self.bytes / self.elapsed_s


def simulated(point: Point, phase: int = 0) -> Observed:
    """Runs the simulated TCP. With a `phase`, it starts `phase` times `PHASE_S` later, over a link with jitter.

    Real packets are some tens of microseconds late. Without jitter, an ACK-clocked segment would reach a full
    queue at exactly the instant when another segment departs, and every such tie would have the same result.
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
    """Runs the kernel's TCP and returns the result.

    Raises
    ------
    OSError
        If the run failed.
    InterruptedError
        If `stopped` was set before the run ended.
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
    # The kernel counts a retransmitted SYN as a retransmitted segment; the simulator counts segments with data.
    again = found["RetransSegs"] - found["TCPSynRetrans"]
    return Observed(found["bytes"], found["elapsed_s"], again, found["TCPTimeouts"], late=late, packets=packets)


def _best(point: Point, stopped: threading.Event) -> Observed:
    """Returns a run of the kernel's TCP without too many late deliveries, or the best of several attempts."""
    tries = [real(point, stopped)]
    while tries[-1].is_late and len(tries) < TRIES and not stopped.is_set():
        tries.append(real(point, stopped))
    return min(tries, key=lambda run: run.late / max(run.packets, 1))


def _waited(process: subprocess.Popen[str], stopped: threading.Event) -> tuple[str, str]:
    """Returns the output of the process; fails if it takes too long or is no longer needed."""
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
    """The kernel's runs in a file, one per line, written as soon as they end. Incomplete lines are ignored."""

    def __init__(self, path: Path, *, forget: bool = False) -> None:
        self.found: dict[str, Observed] = {}
        # A run stands for another one of the same kernel, path, settings and program only.
        described = (platform.release(), SCENARIO.read_text("utf-8"), FLOW.read_text("utf-8"), json.dumps(SETTINGS))
        self._about = hashlib.blake2b("\0".join(described).encode(), digest_size=8).hexdigest()
        if forget:
            path.unlink(missing_ok=True)
        self._lines = Lines(path)
        for entry in self._lines:
            with suppress(KeyError, TypeError):
                if entry["about"] == self._about:
                    self.found[entry["key"]] = Observed(**entry["observed"])

    def add(self, key: str, observed: Observed) -> None:
        """Stores a run."""
        self.found[key] = observed
        self._lines.add({"about": self._about, "key": key, "observed": asdict(observed)})


def measure(
    points: Sequence[Point], repeats: int, kept: Kept, jobs: int, progress: Callable[[str], object]
) -> dict[Point, list[Observed]]:
    """Makes the kernel's runs of every point, `jobs` at a time; stored runs are not repeated.

    Each point is run `repeats` times: the runs differ in the phase of the timers and in the other load of the
    machine. A chaotic flow runs once with each of its many seeds, and a point of a family twice.
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
    """Returns the number of the kernel's runs at a point, up to `repeats`."""
    if point.is_chaotic:
        return 1
    return min(repeats, FAMILY_REPEATS) if point.group == "family" else repeats


def simulate(points: Iterable[Point], progress: Callable[[str], object]) -> dict[Point, tuple[Observed, ...]]:
    """Runs our TCP at every point: once per phase for a transfer with a loss pattern, once for all others."""

    def every(point: Point) -> tuple[Observed, ...]:
        return tuple(simulated(point, phase) for phase in range(PHASES if point.group == "pattern" else 1))

    points = list(points)
    found = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, (point, observed) in enumerate(zip(points, pool.map(every, points), strict=True), start=1):
            found[point] = observed
            progress(f"our TCP in simulation: {done} of {len(points)} runs")
    return found
