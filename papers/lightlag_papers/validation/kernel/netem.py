"""Measures the kernel's TCP over a model of Linux's netem in user space.

netem decides about complete buffers (skbs): what the sender hands over as one GSO burst is lost, delayed and counted as
one packet. The kernel here needs no netem: two TUN devices with offloads pass complete bursts to this program, which
applies rate, delay, limit and loss to them, and passes them on::

    python netem.py --rate 10 --delay 50 --loss 1 --congestion cubic --unit burst
    python netem.py --cells netem.json --jobs 6

The second form runs the cells of `CELLS` with both units, and writes their medians; `netem.json` next to this file has
the medians of a 6.18 kernel.

The path is the one of the measurements of LANMAN 2023 (Deutschmann, Hielscher and German, doi
10.1109/LANMAN58293.2023.10189417, github.com/cs7org/lanman2023, MIT): two netem queues in sequence in both directions,
one with rate and delay, and one towards the client with 1 Gbit/s and the loss. The program prints one JSON object. It
needs root, TUN devices, namespaces and Python alone.

With the unit ``segment`` the devices offer no offload, so the kernel cuts each burst into segments before the program
receives it; senders and bursts stay the same.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import heapq
import json
import os
import random
import select
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

TUNSETIFF, TUNSETOFFLOAD, TUNSETVNETHDRSZ = 0x4004_54CA, 0x4004_54D0, 0x4004_54D8
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
TUN_F_CSUM, TUN_F_TSO4 = 1, 2
NEW_NETWORK = 0x4000_0000
"""The flag CLONE_NEWNET of setns(2)."""

VNET_HEADER = 10
"""Bytes of the header that a TUN device puts before each packet (struct virtio_net_hdr)."""
ETHERNET = 14
"""Bytes of the header that netem counts in addition to each IP packet on an Ethernet device."""
LOSSY_BPS = 1e9
"""Rate of the second netem in bit/s."""
ADDRESSES = ("10.79.0.1", "10.79.0.2")
"""Addresses of the server, which sends, and of the client."""
PORT = 5001
WRITE = 128 * 1024
"""Bytes of a write of iperf 2."""

UNITS = ("burst", "segment")
Cell = tuple[str, float, float, float, int]
CELLS: tuple[Cell, ...] = (
    *(("cubic", 10, delay, 0, 1) for delay in (50, 100, 300)),
    *(("cubic", 10, delay, loss, 3) for delay, loss in ((10, 1), (50, 1), (100, 1), (300, 1), (50, 2), (100, 2))),
    *(("cubic", 10, delay, 4, 3) for delay in (10, 50, 100)),
    *(("cubic", rate, delay, 1, 2) for rate, delay in ((50, 10), (100, 50))),
    *(("bbr", 10, delay, 0, 1) for delay in (50, 100, 300)),
    *(("bbr", 10, delay, loss, 2) for delay, loss in ((50, 1), (300, 1), (100, 4), (300, 4))),
    *(("bbr", rate, delay, 1, 2) for rate, delay in ((50, 300), (100, 100))),
)
"""Congestion control, rate in Mbit/s, delay of each direction in ms, loss in percent and number of runs."""

ORIGIN = (
    "Downloads of the running kernel's TCP over the queues of netem in user space, as netem.py describes them; "
    "own measurement, same licence as this package."
)

COUNTERS = (
    *("RetransSegs", "TCPTimeouts", "TCPLossProbes", "TCPSackRecovery", "TCPDSACKRecv", "TCPSpuriousRTOs"),
    *("TCPHystartTrainDetect", "TCPHystartDelayDetect"),
)
"""Counters of the server's kernel that a result has."""

SETTINGS = {
    "net.ipv4.tcp_rmem": "4096 131072 6291456",
    "net.ipv4.tcp_wmem": "4096 16384 4194304",
    "net.ipv6.conf.all.disable_ipv6": "1",
    "net.ipv6.conf.default.disable_ipv6": "1",
}
"""Settings of both namespaces: the memory limits are Ubuntu's."""


@dataclass
class Stage:
    """A netem queue: rate, then delay; the limit counts what waits and what is delayed (``netem_enqueue``)."""

    rate_bps: float
    delay_s: float
    loss: float
    limit: int
    draw: random.Random
    free_at: float = 0.0
    held: deque[float] = field(default_factory=deque)
    lost: int = 0
    full: int = 0
    most: int = 0

    def depart(self, now: float, size: int) -> float | None:
        """Returns when a buffer of `size` bytes that arrives now departs; None if it is lost."""
        if self.loss and self.draw.random() < self.loss:
            self.lost += 1
            return None
        while self.held and self.held[0] <= now:
            self.held.popleft()
        if len(self.held) >= self.limit:
            self.full += 1
            return None
        self.free_at = max(self.free_at, now + self.delay_s) + 8 * size / self.rate_bps
        self.held.append(self.free_at)
        self.most = max(self.most, len(self.held))
        return self.free_at


def segments(packet: bytes) -> tuple[int, int]:
    """Returns the number of segments of a buffer and the bytes that netem counts for it."""
    kind, size = packet[1], struct.unpack_from("=H", packet, 4)[0]
    ip = packet[VNET_HEADER:]
    headers = 4 * (ip[0] & 15) + 4 * (ip[4 * (ip[0] & 15) + 12] >> 4) if ip[9] == socket.IPPROTO_TCP else 20
    payload = len(ip) - headers
    count = -(-payload // size) if kind and size else 1
    return count, len(ip) + ETHERNET + (count - 1) * (headers + ETHERNET)


class Emulator:
    """Passes packets between two TUN devices, through two netem queues in each direction."""

    def __init__(self, devices: tuple[int, int], options: argparse.Namespace) -> None:
        draws = [random.Random(f"{options.seed} {name}") for name in ("data", "acks")]
        loss = options.loss / 100
        rate, delay, limit = options.rate * 1e6, options.delay / 1e3, options.limit
        sat = [Stage(rate, delay, 0, limit, draw) for draw in draws]
        lossy = [
            Stage(LOSSY_BPS, 0, loss, limit, draws[0]),
            Stage(LOSSY_BPS, 0, 0 if options.clean_acks else loss, limit, draws[1]),
        ]
        self.devices = devices
        # The server is next to the queue with the rate, the client next to the lossy one.
        self.stages = ([sat[0], lossy[0]], [lossy[1], sat[1]])
        self.due: list[tuple[float, int, int, int, bytes]] = []
        self.number = 0
        self.sizes: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
        self.highest: int | None = None
        self.late = 0.0
        self.moved = 0
        self.running = True

    def run(self) -> None:
        """Passes packets on until `running` is false."""
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        while self.running:
            now = time.monotonic()
            wait = min(0.1, max(0.0, self.due[0][0] - now)) if self.due else 0.1
            ready = select.select(self.devices, [], [], wait)[0]
            for device in ready:
                self.take(self.devices.index(device))
            self.deliver()

    def take(self, side: int) -> None:
        """Reads every packet that one side has sent."""
        while True:
            try:
                packet = os.read(self.devices[side], 70_000)
            except BlockingIOError:
                return
            if packet[VNET_HEADER] >> 4 == 4:
                self.note(side, packet)
                self.enter(time.monotonic(), side, 0, packet)

    def enter(self, now: float, side: int, place: int, packet: bytes) -> None:
        """Offers a packet to a queue."""
        at = self.stages[side][place].depart(now, segments(packet)[1])
        if at is not None:
            self.number += 1
            heapq.heappush(self.due, (at, self.number, side, place, packet))

    def deliver(self) -> None:
        """Moves what is due to the next queue, or to the other side."""
        while self.due and self.due[0][0] <= time.monotonic():
            at, _, side, place, packet = heapq.heappop(self.due)
            if place == 0:
                self.enter(at, side, 1, packet)
                continue
            self.late = max(self.late, time.monotonic() - at)
            self.moved += 1
            with contextlib.suppress(OSError):
                os.write(self.devices[1 - side], packet)

    def note(self, side: int, packet: bytes) -> None:
        """Counts the segments of a buffer with data: first transmissions and retransmissions separately."""
        ip = packet[VNET_HEADER:]
        if side or ip[9] != socket.IPPROTO_TCP:
            return
        tcp = ip[4 * (ip[0] & 15) :]
        length = len(tcp) - 4 * (tcp[12] >> 4)
        if length:
            sequence = struct.unpack_from("!I", tcp, 4)[0]
            ahead = 1 if self.highest is None else (sequence - self.highest + (1 << 31)) % (1 << 32) - (1 << 31)
            self.sizes[ahead < 0][segments(packet)[0]] += 1
            if ahead >= 0:
                self.highest = (sequence + length) % (1 << 32)


def enter(namespace: str) -> None:
    """Moves the calling thread to another network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    place = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if libc.setns(place, NEW_NETWORK) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{namespace}: {os.strerror(number)}")
    finally:
        os.close(place)


def device(namespace: str, address: str, peer: str, *, offload: bool) -> int:
    """Returns a TUN device in a namespace, which passes complete bursts if `offload` is set."""
    enter(namespace)
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"path0", IFF_TUN | IFF_NO_PI | IFF_VNET_HDR))
    fcntl.ioctl(tun, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 if offload else 0)
    for arguments in (
        ["addr", "add", address, "peer", peer, "dev", "path0"],
        ["link", "set", "path0", "txqueuelen", "10000", "up"],
    ):
        subprocess.run(["ip", "-n", namespace, *arguments], check=True)
    return tun


def counters(namespace: str) -> dict[str, int]:
    """Returns counters of TCP in a namespace."""
    found: dict[str, int] = {}
    for file in ("snmp", "netstat"):
        command = ["ip", "netns", "exec", namespace, "cat", f"/proc/net/{file}"]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            found.update(zip(names.split()[1:], map(int, values.split()[1:]), strict=True))
    return {name: found[name] for name in COUNTERS}


def send(connection: socket.socket, seconds: float) -> None:
    """Sends until the time is over, in writes of iperf's size."""
    data = bytes(WRITE)
    end = time.monotonic() + seconds
    connection.settimeout(0.2)
    while time.monotonic() < end:
        with contextlib.suppress(TimeoutError):
            connection.send(data)


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Runs one download and returns its goodput and counts."""
    names = [f"netem-{os.getpid()}-{side}" for side in ("server", "client")]
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        for name in names:
            subprocess.run(["ip", "netns", "add", name], check=True)
            subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
            for key, value in SETTINGS.items():
                subprocess.run(["ip", "netns", "exec", name, "sysctl", "-qw", f"{key}={value}"], check=True)
        offload = options.unit == "burst"
        devices = (
            device(names[0], ADDRESSES[0], ADDRESSES[1], offload=offload),
            device(names[1], ADDRESSES[1], ADDRESSES[0], offload=offload),
        )
        emulator = Emulator(devices, options)
        emulation = threading.Thread(target=emulator.run)
        emulation.start()
        try:
            found = flow(names, options)
        finally:
            emulator.running = False
            emulation.join()
        sat, lossy = emulator.stages[0]
        first, again = ({str(size): count for size, count in sorted(one.items())} for one in emulator.sizes)
        return {
            **vars(options),
            **found,
            "segments_a_burst": first,
            "segments_a_repair": again,
            "lost_bursts": lossy.lost,
            "full": sat.full,
            "most_held": sat.most,
            "late_ms": round(1e3 * emulator.late, 1),
            "kernel": os.uname().release,
        }
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)
        os.close(own)


def flow(names: list[str], options: argparse.Namespace) -> dict[str, object]:
    """Runs the download: goodput from the client's connection to the last byte that it reads."""
    enter(names[0])
    listener = socket.create_server((ADDRESSES[0], PORT))
    enter(names[1])
    client = socket.create_connection((ADDRESSES[0], PORT), timeout=30)
    server = listener.accept()[0]
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, options.congestion.encode())
    start = time.monotonic()
    sender = threading.Thread(target=send, args=(server, options.seconds))
    sender.start()
    client.settimeout(0.2)
    received, by_second = 0, [0] * int(options.seconds)
    while (elapsed := time.monotonic() - start) < options.seconds:
        with contextlib.suppress(TimeoutError):
            count = len(client.recv(1 << 20))
            received += count
            by_second[min(int(elapsed), len(by_second) - 1)] += count
    found = {
        "goodput_bps": round(8 * received / options.seconds),
        **counters(names[0]),
        "mbps": [round(8e-6 * count, 2) for count in by_second] if options.trace else None,
    }
    sender.join()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    server.close()
    return found


def counted(runs: Sequence[Mapping[str, Any]], key: str) -> dict[str, int]:
    """Returns the sum of the histograms of several runs, in the order of the number of segments."""
    total: Counter[str] = Counter()
    for run in runs:
        total.update(run[key])
    return dict(sorted(total.items(), key=lambda item: int(item[0])))


def summary(cell: Cell, unit: str, runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the medians of the runs of a cell."""
    congestion, rate, delay, loss, _ = cell
    first, again = (counted(runs, f"segments_a_{kind}") for kind in ("burst", "repair"))
    return {
        "congestion": congestion,
        "rate_mbps": rate,
        "one_way_delay_ms": delay,
        "loss_percent": loss,
        "unit": unit,
        "runs": len(runs),
        "goodput_bps": round(statistics.median(run["goodput_bps"] for run in runs)),
        "lost_bursts": statistics.median(run["lost_bursts"] for run in runs),
        "full": statistics.median(run["full"] for run in runs),
        "most_held": max(run["most_held"] for run in runs),
        "segments_a_burst": first,
        "segments_a_repair": again,
        "late_ms": max(run["late_ms"] for run in runs),
    }


def measure_cells(out: str, jobs: int) -> None:
    """Runs every cell with both units and writes the medians."""
    parts = [(cell, unit, seed) for cell in CELLS for unit in UNITS for seed in range(1, cell[-1] + 1)]

    def one(part: tuple[Cell, str, int]) -> Any:
        (congestion, rate, delay, loss, _), unit, seed = part
        values = {"congestion": congestion, "rate": rate, "delay": delay, "loss": loss, "unit": unit, "seed": seed}
        options = [text for key, value in values.items() for text in (f"--{key}", str(value))]
        done = subprocess.run([sys.executable, __file__, *options], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    with ThreadPoolExecutor(jobs) as pool:
        runs = list(zip(parts, pool.map(one, parts), strict=True))
    rows = [
        summary(cell, unit, [run for (of, by, _), run in runs if (of, by) == (cell, unit)])
        for cell in CELLS
        for unit in UNITS
    ]
    write(out, os.uname().release, rows)


def write(out: str, kernel: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Writes the medians with their origin, one row on a line."""
    about = {"origin": ORIGIN, "kernel": kernel, "seconds": 60}
    lines = ",\n".join(f"    {json.dumps(row)}" for row in rows)
    with open(out, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(json.dumps(about, indent=2)[:-2] + f',\n  "rows": [\n{lines}\n  ]\n}}\n')


def main() -> int:
    """Runs the download that the arguments describe, and prints its result."""
    parser = argparse.ArgumentParser(description="A download of the kernel's TCP over netem in user space.")
    parser.add_argument("--rate", type=float, default=10, help="rate in Mbit/s")
    parser.add_argument("--delay", type=float, default=50, help="delay of each direction in ms")
    parser.add_argument("--loss", type=float, default=0, help="loss in percent, of each direction")
    parser.add_argument("--limit", type=int, default=1000, help="packets that a netem queue holds")
    parser.add_argument("--congestion", default="cubic", help="congestion control of the kernel")
    parser.add_argument("--unit", choices=UNITS, default="burst", help="what netem decides about")
    parser.add_argument("--seconds", type=float, default=60, help="length of the download")
    parser.add_argument("--seed", type=int, default=1, help="seed of the losses")
    parser.add_argument("--clean-acks", action="store_true", help="lose no ACKs")
    parser.add_argument("--trace", action="store_true", help="also print the goodput of each second")
    parser.add_argument("--cells", metavar="FILE", help="run all cells instead and write their medians")
    parser.add_argument("--jobs", type=int, default=4, help="with --cells, number of downloads at a time")
    options = parser.parse_args()
    if options.cells:
        measure_cells(options.cells, options.jobs)
    else:
        del options.cells, options.jobs
        print(json.dumps(measure(options)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
