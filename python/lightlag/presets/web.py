"""Presets of web pages over a geostationary satellite, with and without performance-enhancing proxies (PEPs).

Each number has its source in the comments of the file in ``scenarios``; the others are marked there as choices of ours.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from lightlag.errors import InputError
from lightlag.scenario import Congestion, Defaults, Directions, Flow, Link, Proxy, Scenario, Tcp, Time, Traffic
from lightlag.text.terminal import printable

__all__ = ["geo_pep", "geo_web", "page_file"]

Http = Literal["1.1", "2", "3"]
Tls = Literal["none", "1.2", "1.3", "1.3 0-RTT"]

PAGE: dict[str, Any] = {
    "kind": "web",
    "count": 1,
    "html": "18432 B",
    "objects": 70,
    "object": {
        "distribution": "empirical",
        "values": ["9984 B", "26155 B", "33536 B", "59961 B", "48512 B"],
        "weights": [8, 24, 4, 18, 16],
    },
    "server_time": "100 ms",
}
"""The median desktop page of the Web Almanac 2024: one size for each type of object, drawn with the frequency of the
type."""

PAGES = Path(__file__).with_name("pages")


def page_file(name: str) -> Path:
    """Returns the file of a web page that is part of lightlag: etsi-kepler, desktop-2024 or mobile-2024.

    Raises
    ------
    InputError
        If there is no such page.

    Examples
    --------
    >>> page_file("etsi-kepler").name
    'etsi-kepler.json'
    """
    names = sorted(path.stem for path in PAGES.glob("*.json"))
    if name not in names:
        raise InputError(f'no page "{printable(name)}"; there are {", ".join(names)}')
    return PAGES / f"{name}.json"


def geo_web(
    *,
    page: str | os.PathLike[str] | None = None,
    http: Http = "2",
    tls: Tls = "1.3",
    loss: float = 0,
    congestion: Congestion | None = None,
    duration: Time = "60 s",
) -> Scenario:
    """A web page over a geostationary satellite without a PEP: 50 and 5 Mbit/s, 600 ms.

    `page` is a file with the objects of a page, such as ``page_file("etsi-kepler")``; by default sizes are drawn from
    the medians of the Web Almanac 2024. HTTP/3 goes over QUIC, which contains TLS 1.3.

    Examples
    --------
    >>> geo_web(tls="1.2").defaults.setup["tls"]
    '1.2'
    """
    return _scenario("geo-web", page, http, tls, loss, congestion, duration, ())


def geo_pep(
    *,
    page: str | os.PathLike[str] | None = None,
    http: Http = "2",
    tls: Tls = "1.3",
    loss: float = 0,
    buffer: str = "8 MB",
    initial_window: int = 100,
    prefetch: bool = False,
    congestion: Congestion | None = None,
    duration: Time = "60 s",
) -> Scenario:
    """The page of `geo_web` with PEPs at gateway and terminal, which split TCP; TLS still goes from end to end.

    `buffer` and `initial_window`, in segments, apply to the connections between the PEPs. With `prefetch` they fetch
    the objects of pages without TLS ahead of the browser.

    Examples
    --------
    >>> [proxy.node for proxy in geo_pep().proxies]
    ['gateway', 'terminal']
    """
    far = Tcp(initial_window=initial_window)
    proxies = (
        Proxy(node="gateway", buffer=buffer, server=far, prefetch=prefetch or None),
        Proxy(node="terminal", buffer=buffer, client=far),
    )
    return _scenario("geo-pep", page, http, tls, loss, congestion, duration, proxies)


def _scenario(
    name: str,
    page: str | os.PathLike[str] | None,
    http: Http,
    tls: Tls,
    loss: float,
    congestion: Congestion | None,
    duration: Time,
    proxies: tuple[Proxy, ...],
) -> Scenario:
    transport: Literal["quic"] | None = "quic" if http == "3" else None
    traffic: Traffic = {**PAGE, "http": http}
    if page is not None:
        traffic = {"kind": "page", "file": os.fspath(page), "http": http, "count": 1}
    tcp = None if congestion is None else Tcp(congestion=congestion)
    satellite = Link(
        between=("gateway", "terminal"),
        rate=Directions("50 Mbit/s", "5 Mbit/s"),
        delay="279 ms",
        queue="2 bdp",
        loss=loss or None,
    )
    return Scenario(
        name=name,
        duration=duration,
        defaults=Defaults(tcp=tcp, setup={"dns": "lookup", "dns_time": "600 ms", "tls": tls}),
        links=(
            Link(between=("server", "gateway"), rate="1 Gbit/s", delay="20 ms"),
            satellite,
            Link(between=("terminal", "browser"), rate="1 Gbit/s", delay="1 ms"),
        ),
        flows=(Flow(name="page", from_="server", to="browser", transport=transport, traffic=traffic),),
        proxies=proxies,
    )
