"""Real packets through the links of a scenario, in real time, between two TUN devices of this machine."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.scenario import ScenarioLike, Sets, load_scenario

__all__ = ["Device", "Emulation", "device", "emulate"]

DEVICE = "lightlag0"
"""Default name of a device in a namespace."""

ADDRESSES = (("10.77.0.1/24", "fd77::1/64"), ("10.77.0.2/24", "fd77::2/64"))
"""Default addresses of the devices in two namespaces."""

Statistics = Mapping[str, Any]


@dataclass(frozen=True)
class Device:
    """A TUN device: its name, the network namespace it is in (None: the one we are in), and addresses to give it."""

    name: str
    namespace: str | None = None
    addresses: tuple[str, ...] = ()

    def _for_engine(self) -> tuple[str | None, str, list[tuple[str, int]]]:
        return self.namespace, self.name, [_split(address) for address in self.addresses]


def device(text: str, addresses: tuple[str, ...] = ()) -> Device:
    """The device that a text names: ``tun0``, ``ns:NAMESPACE`` or ``ns:NAMESPACE/tun0``.

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
    """An emulation that runs; see :func:`emulate`."""

    def __init__(self, engine: _engine.Emulation) -> None:
        self._engine = engine
        self.about: dict[str, Any] = json.loads(engine.about)
        """Devices and whether they were made, nodes, priority of the loop, name of the scenario."""

    @property
    def is_running(self) -> bool:
        """Whether it still forwards: not stopped, with time left, and with both devices present."""
        return self._engine.is_running

    def statistics(self) -> dict[str, Any]:
        """Counts so far: packets and lateness by direction, drops and queues by link."""
        statistics: dict[str, Any] = json.loads(self._engine.statistics())
        return statistics

    def wait(self, timeout_s: float | None = None, *, look: Callable[[Emulation], object] | None = None) -> bool:
        """Waits until it ends, calling `look` ten times a second; whether it has ended within the time given."""
        over = None if timeout_s is None else time.monotonic() + timeout_s
        while self.is_running and (over is None or time.monotonic() < over):
            time.sleep(0.1 if over is None else max(0.0, min(0.1, over - time.monotonic())))
            if look is not None:
                look(self)
        return not self.is_running

    def stop(self) -> None:
        """Ends it and removes the devices that it made.

        Raises
        ------
        OSError
            If it had ended before because a device was gone.
        """
        self._engine.stop()


@contextmanager
def emulate(
    scenario: ScenarioLike,
    between: tuple[Device, Device],
    *,
    at: tuple[str, str] | None = None,
    mtu: int = 1500,
    duration_s: float | None = None,
    priority: str = "fifo",
    sets: Sets = (),
) -> Iterator[Emulation]:
    """Forwards the packets of two TUN devices through the links of a scenario, as long as the ``with`` block lasts.

    Parameters
    ----------
    scenario
        As for :func:`lightlag.run`. Its flows are not run: the traffic is that of the devices.
    between
        The two devices. One that is not there is made, and removed at the end.
    at
        The nodes at which they sit; by default the ends of the first flow.
    mtu
        The largest packet, in bytes.
    duration_s
        When to end by itself.
    priority
        How the loop is scheduled: "fifo", "nice" or "normal"; if it may not have that, the next lower one.

    Raises
    ------
    InputError
        If names, addresses or nodes are wrong.
    OSError
        If a device cannot be opened, or was gone before the end.
    """
    a, b = between
    if (a.name, a.namespace) == (b.name, b.namespace):
        raise InputError(f'both devices are "{a.name}"; name two')
    pairs = [(str(key), str(value)) for key, value in (sets.items() if isinstance(sets, Mapping) else sets)]
    text = load_scenario(scenario, pairs)
    try:
        engine = _engine.emulate(text, (a._for_engine(), b._for_engine()), at, mtu, duration_s, priority)
    except _engine.ScenarioError:
        raise
    except (ValueError, OverflowError) as error:
        raise InputError(str(error)) from None
    emulation = Emulation(engine)
    try:
        yield emulation
    except BaseException:
        engine.stop()
        raise
    emulation.stop()


def _split(address: str) -> tuple[str, int]:
    """``10.0.0.1/24`` as address and prefix."""
    ip, slash, prefix = address.partition("/")
    if not slash or not prefix.isdigit() or int(prefix) > 128:
        raise InputError(f'"{address}" is not an address with a prefix; write for example 10.0.0.1/24')
    return ip, int(prefix)
