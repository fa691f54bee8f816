"""Values that may have several forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from lightlag._engine import CongestionControl, LossResponse, QueueDiscipline, Router, SatelliteRouter
from lightlag._engine import Traffic as OwnTraffic

T = TypeVar("T")


@dataclass(frozen=True)
class Directions(Generic[T]):
    """One value for each direction of a link; ``forward`` is from its first node to its second."""

    forward: T
    backward: T


Size: TypeAlias = str
Time: TypeAlias = str
Rate: TypeAlias = str
Start: TypeAlias = Time | Mapping[str, Any]
"""A time, or a distribution that is sampled once per seed: {"uniform": ["0 s", "1 s"]} or {"exponential": "1 s"}."""
Delay: TypeAlias = Time | Mapping[str, Any]
"""A time, or a path of light: ``{"distance": "384400 km"}``; ``{"orbit": "geo", "elevation": "40 deg"}`` from
the ground to a satellite, and with two elevations up to it and down; ``{"height": "550 km", "satellites": 22}`` between
neighbours in a plane. ``"processing": "5 ms"`` adds to either."""
Loss: TypeAlias = float | Mapping[str, Any]
"""A packet error rate, ``{"bit_error_rate": 1e-6}``, ``{"at": ["2.9 s"]}``, or packets by number,
``{"packets": [1000, 1003], "direction": "forward"}``; with ``"where": "before queue"`` packets are lost when they
arrive at the link. In bursts: ``{"mean": 0.01, "burst": 5}``, or
``{"good": {"mean_time": "10 s"}, "bad": {"mean_time": "200 ms", "loss": 0.5}}``."""
Queue: TypeAlias = str | Mapping[str, Any] | QueueDiscipline | type[QueueDiscipline]
"""A queue: its limit, ``"1 bdp"``; ``{"discipline": "codel", "limit": "1000 packets", "interval": "600 ms"}``; a
discipline in a file, ``{"python": "mine.py:Mine"}``; or a custom class or an object of one, also as the ``discipline``
of a table.
"""
Reorder: TypeAlias = bool | Mapping[str, Any]
"""Reordering: ``{"probability": 0.01, "delay": "5 ms"}``; ``["1 ms", "10 ms"]`` draws the delay between the two. True
lets packets overtake where the delay of the link becomes shorter."""
Changes: TypeAlias = Sequence[Mapping[str, Any]]
"""Changes of a link at given times:
``[{"at": "30 s", "rate": "5 Mbit/s"}, {"at": "60 s", "down": True}, {"at": "70 s", "down": False}]``.
"""
Jitter: TypeAlias = str | Mapping[str, Any]
"""Jitter of a link: ``"5 ms"``, or
``{"distribution": "normal", "deviation": "2 ms", "max": "6 ms", "correlation": 0.9}``.
"""
Traffic: TypeAlias = Mapping[str, Any] | OwnTraffic | type[OwnTraffic]
"""Traffic of an application: ``{"kind": "constant", "rate": "1 Mbit/s"}``, or one of the kinds bulk, on_off, periodic,
poisson, burst, transfers, requests, web, page with their keys. Sizes and times that vary are tables,
``{"distribution": "exponential", "mean": "10 kB"}``. Also a traffic source in a file, ``{"python": "mine.py:Mine"}``;
or a custom class or an object of one.
"""
Setup: TypeAlias = Mapping[str, Any]
"""Set-up of connections: ``{"tls": "1.3"}`` (none, 1.2, 1.3, 1.3 0-RTT); also ``dns`` (cached, lookup) with
``dns_time``, ``certificate`` and ``resumption``."""
LossAssumption: TypeAlias = str | Mapping[str, Any] | LossResponse | type[LossResponse]
"""Assumed cause of a loss: ``"congestion"`` or ``"corruption"``; a loss response in a file,
``{"python": "mine.py:Mine"}``; or a custom class or an object of one.
"""
SkyRouting: TypeAlias = Mapping[str, Any] | SatelliteRouter | type[SatelliteRouter]
"""A custom router in a file, ``{"python": "mine.py:Mine"}``; or a custom class or an object of one."""
RoutingProtocol: TypeAlias = str | Mapping[str, Any] | Router | type[Router]
"""A routing protocol: ``"aodv"``, ``{"protocol": "olsr", "hello_interval": "1 s"}``; a custom router in a file,
``{"python": "mine.py:Mine"}``; or a custom class or an object of one.
"""
Model: TypeAlias = str | Mapping[str, Any]
"""A model by its name, or as a mapping with its parameters: ``{"model": "log-distance", "exponent": 2.5}``."""
Trace: TypeAlias = str | Mapping[str, Any]
"""The path of a CSV file with time_s and any of rate_bps, delay_s and loss, or
``{"file": "cell.down", "format": "mahimahi"}``. The path is relative to the directory of the
scenario file. ``"repeat": True`` starts a CSV file again after its last row.
"""
Fade: TypeAlias = Mapping[str, Any]
"""Rain fade: ``{"mean": -0.5, "deviation": 1.2, "clear_sky": "15 dB", "symbol_rate": "20 MBd"}``: mean and deviation of
ln A, where A is the attenuation in dB; also correlation_time, margin, hysteresis, loop_delay, step, offset, modcods
and power_control."""
Fec: TypeAlias = Mapping[str, Any]
"""Forward error correction, ``{"data": 10, "repair": 2}``: data and repair packets of a block; also flush, the timeout
that closes a block that is not full, and in_order.
"""
OnDemand: TypeAlias = Mapping[str, Any]
"""Bandwidth on demand: ``{"frame": "26.5 ms", "latency": "560 ms"}``; also the rates ``constant`` and ``free``, which
need no request, and ``max_rate``."""
Slots: TypeAlias = Mapping[str, Any]
"""Slot grid: ``{"period": "15 s", "phase": "12 s", "outage": "100 ms"}``; also ``step``, the delay drawn for each slot,
``loss`` with ``before`` and ``after``, and ``dip`` with ``dip_time``."""
Channel: TypeAlias = Mapping[str, Any]
"""Channel with a good and a bad state: ``{"good": {"mean_time": "10 s"}, "bad": {"mean_time": "200 ms"}}``; the bad
state may have ``delay``, ``loss`` and ``rate``."""
Ramp: TypeAlias = Mapping[str, Any]
"""Capacity that follows demand: ``{"idle": "100 Mbit/s", "time": "400 ms"}``; also ``rest`` and ``reset``."""
Aggregate: TypeAlias = Mapping[str, Any]
"""Frames: ``{"interval": "1.33 ms", "max": 32}``, with the maximum number of packets per frame."""
Signals: TypeAlias = Literal["off", "outage", "corruption", "all"] | Mapping[str, Any]
"""Events that stations report to flows: ``"all"``, or ``{"outage": True, "corruption": "receiver"}`` (off, receiver,
sender, both); also the times ``recent`` and ``interval``."""
Routing: TypeAlias = Literal["static", "follow links"] | Mapping[str, Any]
"""Rule for routes: ``"static"``, or ``{"kind": "follow links", "convergence": "200 ms", "ttl": 64}``."""
Dscp: TypeAlias = (
    Literal[
        "CS0",
        "LE",
        "CS1",
        "AF11",
        "AF12",
        "AF13",
        "CS2",
        "AF21",
        "AF22",
        "AF23",
        "CS3",
        "AF31",
        "AF32",
        "AF33",
        "CS4",
        "AF41",
        "AF42",
        "AF43",
        "CS5",
        "VA",
        "EF",
        "CS6",
        "CS7",
    ]
    | int
)
"""A code point of differentiated services (DSCP), by its name or its number."""
Congestion: TypeAlias = str | Mapping[str, Any] | CongestionControl | type[CongestionControl]
"""The name of an algorithm, ``{"algorithm": "cubic", "variant": "rfc8312", "beta": 0.7}``, an algorithm in a file,
``{"python": "mine.py:Mine"}``, or a custom class or an object of one.
"""
