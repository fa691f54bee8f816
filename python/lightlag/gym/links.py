"""The networks of the registered environments, as functions that build them."""

from __future__ import annotations

from collections.abc import Callable

from lightlag.scenario import Network

__all__ = ["LINKS", "geo", "leo", "link", "lossy"]


def link(rate: str = "12 Mbit/s", rtt: str = "40 ms", queue: str = "1 bdp", loss: float = 0.0) -> Network:
    """A flow over a bottleneck without other traffic. By default the bandwidth-delay product is 40 packets."""
    network = Network("link")
    network.link("sender", "receiver", rate=rate, delay=_half(rtt), queue=queue, loss=loss)
    network.flow("sender", "receiver", name="agent", congestion="steered")
    return network


def lossy() -> Network:
    """A flow over a bottleneck that loses one packet in a hundred, which does not signal congestion."""
    return link(loss=0.01)


def leo() -> Network:
    """A path over satellites in low orbit: 50 Mbit/s, 60 ms, losses of 0.1 %, a queue of one BDP."""
    return link("50 Mbit/s", "60 ms", loss=0.001)


def geo() -> Network:
    """A path over a geostationary satellite: 20 Mbit/s, 600 ms, losses of 0.01 %, a queue of one BDP."""
    return link("20 Mbit/s", "600 ms", loss=0.0001)


def _half(rtt: str) -> str:
    number, unit = rtt.split()
    return f"{float(number) / 2:g} {unit}"


LINKS: dict[str, Callable[[], Network]] = {"Link": link, "Lossy": lossy, "Leo": leo, "Geo": geo}
"""Functions that build a network, by the name of the environment."""
