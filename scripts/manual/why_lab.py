"""Records transfers of the kernel over an emulated path, one for each planted cause, and one without it.

Writes the captures, and the times of both transfers, for ``manual.why_cases``. Needs root and dumpcap.
"""

from __future__ import annotations

import contextlib
import copy
import gzip
import json
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lightlag.emulation.emulator import ADDRESSES, DEVICE, device, emulate
from lightlag.emulation.namespaces import command, namespaces

FOLDER = Path("tests/data/why")
"""Directory of the captures and of their index."""

INDEX = FOLDER / "index.json"
"""Times of the kernel with and without the cause, in seconds, and its version."""

PEER = Path(__file__).with_name("why_peer.py")

SNAP = 96
"""Bytes of each packet that are stored: headers and options."""

SETTINGS = {
    "net.ipv6.conf.all.disable_ipv6": 1,
    "net.ipv4.tcp_no_metrics_save": 1,
    "net.ipv4.tcp_slow_start_after_idle": 0,
}
"""Settings of the kernel in both namespaces; a planted cause may override them."""

SEED = "2"
"""Seed of the losses."""

LIMIT_S = 120.0
"""Maximum duration of a transfer."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer of the kernel over an emulated path.

    Attributes
    ----------
    link
        Changes to the path of 8 Mbit/s, 120 ms and a queue of one bandwidth-delay product.
    sender, receiver
        Parameters of the roles in ``why_peer.py``.
    settings
        Settings of the kernel of both endpoints.
    route
        Attributes of the sender's route, such as ``initcwnd 1``.
    """

    link: Mapping[str, Any] = field(default_factory=dict)
    sender: Mapping[str, Any] = field(default_factory=dict)
    receiver: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    route: str = ""

    def changed(self, change: Mapping[str, Any]) -> Transfer:
        """Returns the transfer with changes; tables are merged."""
        merged = {
            name: {**getattr(self, name), **value} if isinstance(value, Mapping) else value
            for name, value in change.items()
        }
        values = {name: merged.get(name, getattr(self, name)) for name in self.__slots__}
        return Transfer(**copy.deepcopy(values))


@dataclass(frozen=True, slots=True)
class Recorded:
    """A planted cause.

    Attributes
    ----------
    name
        Name of the capture.
    cause
        Name of the cause in ``lightlag.why``.
    planted
        The planted settings in words.
    healthy
        The transfer without the cause.
    plant
        The changes that add it.
    at
        Index of the endpoint where packets are captured: 0 for the left one, which sends bulk data, 1 for the other.
    """

    name: str
    cause: str
    planted: str
    plant: Mapping[str, Any]
    healthy: Transfer = field(default_factory=Transfer)
    at: int = 0


BULK = 2_500_000
"""Bytes of a transfer."""

_FAR = {"delay": "250 ms"}
_SHORT = {"size": 60_000}
_REQUESTS = Transfer(
    sender={"role": "respond", "size": 100_000},
    receiver={"role": "request", "count": 6, "size": 100_000, "think": 1.2},
)
_DOWN = [{"at": "2 s", "down": True}, {"at": "4.5 s", "down": False}]

CASES = (
    Recorded(
        "window",
        "receive window",
        "a receive buffer of 40 kB",
        {"receiver": {"options": {"receive_buffer": 20_000}}},
    ),
    Recorded(
        "window-far",
        "receive window",
        "a receive buffer of 120 kB, 500 ms",
        {"receiver": {"options": {"receive_buffer": 60_000}}},
        Transfer(link=_FAR),
        at=1,
    ),
    Recorded(
        "send-buffer",
        "send buffer",
        "a send buffer of 32 kB",
        {"sender": {"options": {"send_buffer": 16_000}}},
    ),
    Recorded("application", "application", "an application with 1 Mbit/s", {"sender": {"rate": 125_000.0}}),
    Recorded("application-far", "application", "an application with 2.5 Mbit/s", {"sender": {"rate": 312_500.0}}, at=1),
    Recorded("reader", "slow reader", "a reader with 1.5 Mbit/s", {"receiver": {"rate": 187_500.0}}),
    Recorded(
        "initial-window",
        "small initial window",
        "an initial window of one segment, for 60 kB",
        {"route": "initcwnd 1"},
        Transfer(sender=_SHORT),
    ),
    Recorded("no-sack", "no SACK", "no SACK", {"settings": {"net.ipv4.tcp_sack": 0}}),
    Recorded("losses", "losses of data", "loss of 0.4 % of the data", {"link": {"loss": {"forward": 4e-3}}}),
    Recorded("losses-far", "losses of data", "loss of 0.8 % of the data", {"link": {"loss": {"forward": 8e-3}}}, at=1),
    Recorded(
        "return-link",
        "thin return link",
        "a return link of 40 kbit/s",
        {"link": {"rate": {"forward": "8 Mbit/s", "backward": "40 kbit/s"}}},
    ),
    Recorded("outage", "outages", "an outage of 2.5 s", {"link": {"changes": _DOWN}}),
    Recorded("outage-far", "outages", "an outage of 2.5 s", {"link": {"changes": _DOWN}}, at=1),
    Recorded(
        "handovers",
        "handovers",
        "an interruption of 500 ms every 2.5 s",
        {"link": {"slots": {"period": "2.5 s", "outage": "500 ms"}}},
        Transfer(sender={"size": 3 * BULK}),
    ),
    Recorded(
        "policer",
        "policer",
        "a policer of 3 Mbit/s",
        {"link": {"police": {"rate": "3 Mbit/s", "burst": "15 kB"}}},
    ),
    Recorded("short-queue", "short queue", "a queue of six packets", {"link": {"queue": "6 packets"}}),
    Recorded(
        "others",
        "other flows",
        "three more connections",
        {"sender": {"others": 3}, "receiver": {"connections": 4}},
    ),
    Recorded(
        "idle-restart",
        "idle restart",
        "the initial window after each pause, for responses of 100 kB every 1.2 s",
        {"settings": {"net.ipv4.tcp_slow_start_after_idle": 1}},
        _REQUESTS,
    ),
    Recorded(
        "segments",
        "small segments",
        "an MSS of 180 B",
        {"sender": {"options": {"mss": 192}}},
        Transfer(sender={"size": 600_000}),
    ),
    Recorded(
        "start",
        "slow start",
        "an initial window of ten segments, for 150 kB and 500 ms",
        {"route": ""},
        Transfer(link={"delay": "250 ms"}, sender={"size": 100_000}, route="initcwnd 200"),
    ),
)
"""The cases, in the order of the page."""

CONNECTIONS = {"others": "3"}
"""Indices of the examined connections; by default the one with the most data."""


def capture(case: Recorded) -> Path:
    """Returns the path of a capture."""
    return FOLDER / f"{case.name}.pcapng.gz"


def transfer(what: Transfer, at: int, written: Path | None) -> float:
    """Runs a transfer, with a capture at an endpoint if `written` is a path, and returns its time in seconds."""
    path = {"between": ["left", "right"], "rate": "8 Mbit/s", "delay": "60 ms", "queue": "1 bdp"}
    scenario = {
        "name": "kernel",
        "duration": "600 s",
        "links": [path | dict(what.link)],
        "flows": [{"from": "left", "to": "right"}],
    }
    with namespaces("why", settings=SETTINGS | dict(what.settings)) as pair:
        devices = [device(f"ns:{name}", addresses[:1]) for name, addresses in zip(pair, ADDRESSES, strict=True)]
        with emulate(scenario, (devices[0], devices[1]), nodes=("left", "right"), sets={"seed": SEED}):
            if what.route:
                words = f"ip route change 10.77.0.0/24 dev {DEVICE} {what.route}".split()
                subprocess.run(command(pair[0], words), check=True)
            with _captured(pair[at], written):
                return _played(pair, what)


def _played(pair: list[str], what: Transfer) -> float:
    sender = {"role": "send", "size": BULK, "options": {}} | dict(what.sender)
    receiver = {"role": "receive", "options": {}} | dict(what.receiver)
    addresses = [addresses[0].split("/")[0] for addresses in ADDRESSES]
    roles = {pair[0]: sender, pair[1]: receiver}
    servers = [name for name, role in roles.items() if role["role"] in ("receive", "respond")]
    first = servers[0]
    second = next(name for name in pair if name != first)
    roles[second]["address"] = addresses[pair.index(first)]
    server = _start(first, roles[first])
    assert server.stdout is not None
    if "listens" not in server.stdout.readline():
        raise OSError(server.communicate()[1])
    client = _start(second, roles[second])
    try:
        output, errors = client.communicate(timeout=LIMIT_S)
        if client.returncode:
            raise OSError(errors)
        return float(json.loads(output.splitlines()[-1])["seconds"])
    finally:
        for process in (client, server):
            process.kill()
            process.communicate()


def _start(namespace: str, role: Mapping[str, Any]) -> subprocess.Popen[str]:
    words = ["chrt", "-f", "5", sys.executable, "-S", str(PEER), json.dumps(role)]
    return subprocess.Popen(command(namespace, words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@contextlib.contextmanager
def _captured(namespace: str, path: Path | None) -> Iterator[None]:
    if path is None:
        yield
        return
    words = ["dumpcap", "-q", "-i", DEVICE, "-s", str(SNAP), "-B", "64", "-w", str(path), "-f", "tcp"]
    process = subprocess.Popen(command(namespace, words), stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("File:"):
            break
    try:
        yield
        _settled(path)
    finally:
        process.terminate()
        process.communicate()


def _settled(path: Path) -> None:
    """Waits until the file does not grow: dumpcap writes packets in batches."""
    sizes = [-1]
    while len(sizes) < 4 or len(set(sizes[-3:])) > 1:
        time.sleep(0.5)
        sizes.append(path.stat().st_size)


def main() -> None:
    """Records the named captures, or all, and writes the index."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    index = json.loads(INDEX.read_text("utf-8")) if INDEX.exists() else {}
    for case in [case for case in CASES if case.name in sys.argv[1:]] or CASES:
        raw = FOLDER / f"{case.name}.pcapng"
        healthy = transfer(case.healthy, case.at, None)
        planted = transfer(case.healthy.changed(case.plant), case.at, raw)
        packed = gzip.compress(raw.read_bytes(), 9, mtime=0)
        raw.unlink()
        capture(case).write_bytes(packed)
        kernel = platform.release().split("-")[0]
        index[case.name] = {"healthy_s": round(healthy, 4), "planted_s": round(planted, 4), "kernel": kernel}
        INDEX.write_text(json.dumps(dict(sorted(index.items())), indent=2) + "\n", "utf-8")
        print(f"{case.name}: {planted:.3f} s, {healthy:.3f} s without: x {planted / healthy:.3g}", flush=True)


if __name__ == "__main__":
    main()
