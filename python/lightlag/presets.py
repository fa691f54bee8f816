"""Scenarios ready to run, with the parameters that people vary."""

from __future__ import annotations

from collections.abc import Callable

from lightlag import _engine
from lightlag.scenario import Congestion, Defaults, Dumbbell, Flow, FlowTemplate, Link, Scenario, Tcp

__all__ = ["PRESETS", "dumbbell", "geo", "leo"]


def geo(
    *,
    rate: str = "10 Mbit/s",
    rtt: str = "600 ms",
    loss: float = 1e-4,
    queue: str = "1 bdp",
    transfer: str | None = "20 MB",
    congestion: Congestion | None = None,
    receive_buffer: str = "1.4 MB",
    duration: str = "120 s",
) -> Scenario:
    """A download over a geostationary satellite: a long round trip and a few corrupted packets.

    The receive buffer is the payload that the default path and its queue hold together.

    Examples
    --------
    >>> geo(congestion="hybla").links[1].delay
    '299 ms'
    """
    tcp = _tcp(congestion, receive_buffer)
    return _satellite("geo", rate, rtt, loss, queue, transfer, tcp, duration)


def leo(
    *,
    rate: str = "100 Mbit/s",
    rtt: str = "40 ms",
    loss: float = 1e-4,
    queue: str = "1 bdp",
    transfer: str | None = "100 MB",
    congestion: Congestion | None = None,
    receive_buffer: str = "960 kB",
    duration: str = "300 s",
) -> Scenario:
    """A download over a satellite in low orbit: a short round trip, more rate, the same corruption.

    The receive buffer is the payload that the default path and its queue hold together.
    """
    tcp = _tcp(congestion, receive_buffer)
    return _satellite("leo", rate, rtt, loss, queue, transfer, tcp, duration)


def dumbbell(
    *,
    pairs: int = 4,
    rate: str = "100 Mbit/s",
    delay: str = "24 ms",
    loss: float | None = None,
    queue: str = "1 bdp",
    stagger: str = "1 s",
    congestion: Congestion | None = None,
    duration: str = "60 s",
) -> Scenario:
    """Flows that start one after the other and share a bottleneck."""
    flow = FlowTemplate(stagger=stagger)
    return Scenario(
        name="dumbbell",
        duration=duration,
        defaults=Defaults(tcp=_tcp(congestion)),
        topology=Dumbbell(pairs=pairs, rate=rate, delay=delay, loss=loss, queue=queue, flow=flow),
    )


def _satellite(
    name: str,
    rate: str,
    rtt: str,
    loss: float,
    queue: str,
    transfer: str | None,
    tcp: Tcp,
    duration: str,
) -> Scenario:
    """client, a clean access link of 1 ms, gateway, the satellite link, server."""
    delay = f"{_engine.seconds(rtt) / 2 * 1e3 - 1:.12g} ms"
    return Scenario(
        name=name,
        duration=duration,
        defaults=Defaults(tcp=tcp),
        links=(
            Link(between=("client", "gateway"), rate="1 Gbit/s", delay="1 ms"),
            Link(between=("gateway", "server"), rate=rate, delay=delay, queue=queue, loss=loss),
        ),
        flows=(Flow(from_="client", to="server", transfer=transfer),),
    )


def _tcp(congestion: Congestion | None, receive_buffer: str | None = None) -> Tcp:
    return Tcp(congestion=congestion, receive_buffer=receive_buffer)


PRESETS: dict[str, Callable[[], Scenario]] = {"geo": geo, "leo": leo, "dumbbell": dumbbell}
"""Presets by name, with their defaults."""
