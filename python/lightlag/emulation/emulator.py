"""Real packets through the network of a scenario, in real time, between TUN devices and simulated hosts."""

from __future__ import annotations

import json
import math
import os
import platform
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lightlag import _engine
from lightlag._renamed import former_keywords
from lightlag.emulation.hosts import read_hosts
from lightlag.errors import InputError
from lightlag.scenario import ScenarioLike, Sets, load_scenario

__all__ = ["Device", "Emulation", "device", "emulate", "start_emulation"]

DEVICE = "lightlag0"
"""Default name of a device in a namespace."""

ADDRESSES = (("10.77.0.1/24", "fd77::1/64"), ("10.77.0.2/24", "fd77::2/64"))
"""Default addresses of the devices in two namespaces."""

Hosts = str | os.PathLike[str] | Sequence[Mapping[str, Any]]
"""Simulated hosts: the path of a TOML file, or a table of keys for each host."""


@dataclass(frozen=True)
class Device:
    """A TUN device: its name, the network namespace it is in (None: the one we are in), and addresses to give it."""

    name: str
    namespace: str | None = None
    addresses: tuple[str, ...] = ()

    def _options(self, node: str | None) -> dict[str, Any]:
        return {"name": self.name, "namespace": self.namespace, "addresses": self.addresses, "node": node}


def device(text: str, addresses: tuple[str, ...] = ()) -> Device:
    """Returns the device that a string names: ``tun0``, ``ns:NAMESPACE`` or ``ns:NAMESPACE/tun0``.

    Examples
    --------
    >>> device("ns:left")
    Device(name='lightlag0', namespace='left', addresses=())
    >>> device("ns:left/tun3").name
    'tun3'
    """
    if not text.startswith("ns:"):
        return Device(text, None, addresses)
    namespace, _, name = text.removeprefix("ns:").partition("/")
    if not namespace:
        raise InputError(f'"{text}" names no namespace; write ns:NAME, or ns:NAME/DEVICE')
    return Device(name or DEVICE, namespace, addresses)


class Emulation:
    """A running emulation; see :func:`emulate`."""

    def __init__(self, engine: _engine.Emulation) -> None:
        self._engine = engine
        self.about: dict[str, Any] = json.loads(engine.about)
        """Description of the emulation: devices and whether they were created, nodes, hosts, loop priority, name of the
        scenario.
        """

    @property
    def is_running(self) -> bool:
        """Whether the emulation still forwards packets: not stopped, with time left, and with both devices present."""
        return self._engine.is_running

    def statistics(self) -> dict[str, Any]:
        """Counters so far: packets and lateness by source (devices, then hosts), drops and queues by link."""
        statistics: dict[str, Any] = json.loads(self._engine.statistics())
        return statistics

    def events(self) -> list[dict[str, Any]]:
        """Events of hosts since the last call: ``ready``, ``opened``, and ``closed`` with the report of a connection.

        At most the latest 100,000 events are returned.
        """
        return [json.loads(event) for event in self._engine.events()]

    def wait(self, timeout_s: float | None = None, *, look: Callable[[Emulation], object] | None = None) -> bool:
        """Waits for the end of the emulation, calling `look` ten times per second.

        Returns true if it ended within the given time.
        """
        over = None if timeout_s is None else time.monotonic() + timeout_s
        while self.is_running and (over is None or time.monotonic() < over):
            time.sleep(0.1 if over is None else max(0.0, min(0.1, over - time.monotonic())))
            if look is not None:
                look(self)
        return not self.is_running

    def stop(self) -> None:
        """Ends the emulation and removes the devices that it created.

        Raises
        ------
        OSError
            If it had already ended, because a device was gone or the connection of a host failed.
        """
        self._engine.stop()


def start_emulation(options: Mapping[str, Any]) -> Emulation:
    """Starts an emulation with the engine's options: devices, hosts, scenario, mtu, priority, duration, seed.

    Raises
    ------
    InputError
        If an option is wrong.
    OSError
        If a device cannot be opened.
    """
    if not hasattr(_engine, "emulate"):
        raise InputError(
            f"real packets need Linux, whose TUN devices carry them, and this is {platform.system()}; use WSL, a "
            "virtual machine, or a container with /dev/net/tun"
        )
    given = {key: value for key, value in options.items() if value is not None}
    try:
        return Emulation(_engine.emulate(json.dumps(given, default=str)))
    except _engine.ScenarioError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from None


@former_keywords()
@contextmanager
def emulate(
    scenario: ScenarioLike,
    between: tuple[Device, Device],
    *,
    nodes: tuple[str, str] | None = None,
    hosts: Hosts = (),
    mtu: int = 1500,
    duration_s: float | None = None,
    priority: str = "fifo",
    sets: Sets = (),
) -> Iterator[Emulation]:
    """Forwards packets between two TUN devices and simulated hosts through a scenario, while the ``with`` block lasts.

    Parameters
    ----------
    scenario
        As for :func:`lightlag.run`. Its flows are not run: the traffic comes from devices and hosts.
    between
        The two devices. A missing device is created, and removed at the end.
    nodes
        The nodes of the devices; by default the endpoints of the first flow.
    hosts
        Simulated hosts at other nodes: a TOML file, or a table of keys for each, such as
        ``{"node": "server", "address": "10.77.0.3", "port": 5201, "role": "iperf"}``. Packets find them and the devices
        by their addresses. The key ``seed`` of `sets` also determines the sequence numbers and ports of hosts.
    mtu
        Maximum packet size in bytes.
    duration_s
        Duration in seconds; unlimited if omitted.
    priority
        Scheduling of the event loop: "fifo", "nice" or "normal"; the next lower one if it is not permitted.

    Raises
    ------
    InputError
        If names, addresses, nodes or hosts are wrong.
    OSError
        If a device cannot be opened, or the emulation has failed before its end.
    """
    a, b = between
    if (a.name, a.namespace) == (b.name, b.namespace):
        raise InputError(f'both devices are "{a.name}"; name two')
    pairs = [(str(key), str(value)) for key, value in (sets.items() if isinstance(sets, Mapping) else sets)]
    options = {
        "devices": [device._options(node) for device, node in zip(between, nodes or (None, None), strict=True)],
        "hosts": read_hosts(hosts) if isinstance(hosts, str | os.PathLike) else [dict(host) for host in hosts],
        "scenario": load_scenario(scenario, pairs),
        "mtu": mtu,
        "duration": _duration(duration_s),
        "priority": priority,
        "seed": _seed(dict(pairs).get("seed")),
    }
    emulation = start_emulation(options)
    try:
        yield emulation
    except BaseException:
        emulation.stop()
        raise
    emulation.stop()


def _duration(seconds: float | None) -> str | None:
    """Returns a number of seconds as text that the engine can read."""
    if seconds is None:
        return None
    if not 0 <= seconds < math.inf:
        raise InputError(f"duration_s: {seconds} is not a valid duration; write 0 s or more")
    return f"{round(seconds * 1e9)} ns"


def _seed(given: str | None) -> int:
    """Returns the seed for the sequence numbers and ports of hosts.

    Without a given one it differs each time, because real peers remember old connections.
    """
    return int(given) if given is not None and given.isdecimal() else secrets.randbits(53)
