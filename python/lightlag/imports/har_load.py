"""A page from the requests of a browser: dependencies, delays, times of the server, and estimates of the path.

- An object waits for the redirect to it, for its initiator, or for the object that had arrived last when it was
  requested.
- Its ``delay`` is the time from the arrival of that object to its request, its ``server_time`` the time to the first
  byte without a round trip. Responses that wait for others on the path make it longer.
- The round trip is the duration of TCP handshakes: the shortest to each host, and the median of the hosts.
- The rate is the largest that arrived during an interval.
"""

from __future__ import annotations

import bisect
import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from lightlag.imports import texts
from lightlag.imports.found import LONGEST_S, Found, Load, Measured

__all__ = ["Request", "found"]

MAX_OBJECTS = 10_000
"""Maximum number of objects of a page in a scenario."""
TICK_S = 1e-3
"""Resolution of ``startedDateTime`` in seconds: an object may seem to end after the start of one that waited for it."""
SHORTEST_S = 1e-5
"""Minimum duration of a handshake in seconds; a shorter one is a difference of rounded times."""
SHORTEST_LOOKUP_S = 1e-3
"""Minimum duration of a lookup in seconds; the browser's own cache serves a shorter one."""
TWO_ROUND_TRIPS = 1.75
"""Minimum duration in round trips of a TLS handshake that is taken for version 1.2, which has two. A handshake of
version 1.3 has one, and the time for its signatures."""
SHORTEST_WINDOW_S = 0.1
"""Minimum length in seconds of the interval whose rate is measured."""
SHORTEST_RUN_S = 60.0
"""Minimum duration of the scenario in seconds. The run ends with the page."""
WIRE = 1500 / 1448
"""Bytes of a full packet for each byte of its payload."""


@dataclass(frozen=True)
class Request:
    """A request whose response arrived over the network; times are in seconds since 1970, or lengths in seconds."""

    index: int
    """Position in ``log.entries``."""
    url: str
    is_secure: bool
    host: str
    name: str
    """Last part of the path."""
    start_s: float
    blocked_s: float
    dns_s: float
    connect_s: float
    """Set-up of the connection, with TLS."""
    ssl_s: float
    wait_s: float
    """Time from the start of the request to the first byte of its response: ``send`` and ``wait``."""
    receive_s: float
    sent: int | None
    """Size of the request in bytes; None if it is unknown."""
    received: int
    """Size of the response in bytes, with its headers."""
    is_decoded: bool
    """Whether the size is the one after decompression, as the transferred one is unknown."""
    version: str | None
    """1.1, 2 or 3; None if it is unknown."""
    kind: str
    urgency: int | None
    initiator: str | None
    redirect: str | None

    @property
    def first_byte_s(self) -> float:
        """Time when the first byte arrived."""
        return self.start_s + self.blocked_s + self.dns_s + self.connect_s + self.wait_s

    @property
    def end_s(self) -> float:
        """Time when the last byte arrived."""
        return self.first_byte_s + self.receive_s


def found(path: Path, requests: Sequence[Request]) -> Found:
    """Returns the facts of the requests of a page, which are in the order of their starts."""
    if len(requests) > MAX_OBJECTS:
        texts.fail(path, f"has {len(requests)} responses, more than {MAX_OBJECTS}, the maximum of a page; cut the file")
    start_s = requests[0].start_s
    end_s = max(requests, key=lambda request: request.end_s).end_s
    if (last := max(requests, key=lambda request: request.start_s)).start_s - start_s > LONGEST_S:
        texts.fail(
            path,
            f"log.entries[{last.index}].startedDateTime: is {last.start_s - start_s:g} s after the first, more than "
            "480 h; correct it",
        )
    hosts = len({request.host for request in requests})
    title = f"A page of {_counted(len(requests), 'object')} on {_counted(hosts, 'host')}, as HAR."
    page = Found(title, is_backward=True, duration_s=max(SHORTEST_RUN_S, min(4 * (end_s - start_s), LONGEST_S)))
    page.origin_s = start_s
    page.notes.append(f"In the browser the last object arrived after {end_s - start_s:.4g} s.")
    rtt = _round_trip(requests)
    if rtt is not None:
        page.delay = Measured(rtt.value / 2, f"half of {rtt.origin}")
    if not any(request.connect_s >= SHORTEST_S for request in requests):
        page.notes.append("The browser had opened its connections before; the scenario opens them during the load.")
    page.rate, window_s = _rate(requests, 0.0 if rtt is None else rtt.value)
    page.notes.append(
        f"The rate is what arrived in the busiest {window_s * 1e3:.4g} ms; the link may be faster. Give its rate with "
        "--rate."
    )
    http, reason = _http(requests, page.notes)
    setup, origins = _setup(requests, rtt)
    parents = _parents(requests)
    page.load = Load(_objects(requests, parents, 0.0 if rtt is None else rtt.value), http, reason, setup, origins)
    _note_assumptions(requests, parents, page.notes)
    return page


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _round_trip(requests: Sequence[Request]) -> Measured | None:
    """Returns the round trip to a typical host in seconds."""
    shortest: dict[str, float] = {}
    for request in requests:
        # The handshake of QUIC is the one of TLS.
        handshake_s = request.connect_s - request.ssl_s
        if handshake_s < SHORTEST_S and request.version == "3":
            handshake_s = request.connect_s
        if handshake_s >= SHORTEST_S:
            shortest[request.host] = min(handshake_s, shortest.get(request.host, handshake_s))
    if shortest:
        of = "to the only host"
        if len(shortest) > 1:
            of = f"to each host, the median of {len(shortest)} hosts with up to {_ms(max(shortest.values()))}"
        return Measured(median(shortest.values()), f"the shortest handshake {of}")
    waits = [request.wait_s for request in requests if request.wait_s >= SHORTEST_S]
    return Measured(min(waits), "the shortest wait for a response, as the file has no handshake") if waits else None


def _rate(requests: Sequence[Request], rtt_s: float) -> tuple[Measured, float]:
    """Returns the maximum rate in an interval with headers of packets, and the length of the interval in seconds."""
    window_s = max(SHORTEST_WINDOW_S, 2 * rtt_s)
    slopes: dict[float, float] = defaultdict(float)
    for request in requests:
        receive_s = max(request.receive_s, TICK_S)
        slopes[request.end_s - receive_s] += request.received / receive_s
        slopes[request.end_s] -= request.received / receive_s
    times, sums, slope = sorted(slopes), [0.0], 0.0
    for time_s, after_s in itertools.pairwise(times):
        slope += slopes[time_s]
        sums.append(sums[-1] + slope * (after_s - time_s))

    def arrived(time_s: float) -> float:
        at = bisect.bisect_right(times, time_s)
        if at == 0 or at == len(times):
            return 0.0 if at == 0 else sums[-1]
        part = (time_s - times[at - 1]) / (times[at] - times[at - 1])
        return sums[at - 1] + part * (sums[at] - sums[at - 1])

    # The maximum of a piecewise linear function is at one of its corners.
    most = max(
        arrived(start_s + window_s) - arrived(start_s) for time_s in times for start_s in (time_s, time_s - window_s)
    )
    return Measured(8 * WIRE * most / window_s, "a lower bound from the responses, with headers of packets"), window_s


def _http(requests: Sequence[Request], notes: list[str]) -> tuple[str, str]:
    """Returns the version of HTTP of most responses, and the reason."""
    versions = Counter(request.version for request in requests if request.version is not None)
    if 2 * sum(versions.values()) < len(requests):
        # HTTP/2 needs TLS in browsers.
        version = "2" if _is_secure(requests) else "1.1"
        return version, f"HTTP/{version} is assumed: the file does not name the version of most responses"
    if versions["3"]:
        notes.append(f"{_counted(versions['3'], 'response')} of HTTP/3 are taken for HTTP/2 over TCP.")
    two = versions["2"] + versions["3"]
    version, count = ("2", two) if two >= versions["1.1"] else ("1.1", versions["1.1"])
    return version, f"HTTP/{version}: {count} of {_counted(len(requests), 'response')}"


def _is_secure(requests: Sequence[Request]) -> bool:
    return 2 * sum(request.is_secure for request in requests) > len(requests)


def _setup(requests: Sequence[Request], rtt: Measured | None) -> tuple[dict[str, str], list[str]]:
    """Returns the set-up of connections, and the origins of its values."""
    setup: dict[str, str] = {}
    origins = []
    lookups = [request.dns_s for request in requests if request.dns_s >= SHORTEST_LOOKUP_S]
    if lookups:
        setup |= {"dns": "lookup", "dns_time": _ms(median(lookups))}
        origins.append("the only lookup" if len(lookups) == 1 else f"the median of {len(lookups)} lookups")
    handshakes = [request.ssl_s for request in requests if request.is_secure and request.ssl_s >= SHORTEST_S]
    if handshakes and _is_secure(requests):
        trips = median(handshakes) / rtt.value if rtt is not None else 1.0
        setup["tls"] = "1.2" if trips >= TWO_ROUND_TRIPS else "1.3"
        origins.append(f"TLS handshakes took {trips:.2g} round trips")
    return setup, origins


@dataclass(frozen=True)
class _Parent:
    """The object that another one waits for."""

    at: int | None
    """Its index; None for an object that waits for none."""
    delay_s: float
    """Time from its arrival to the request."""
    is_early: bool = False
    """Whether the request was sent before it had arrived."""


def _parents(requests: Sequence[Request]) -> list[_Parent]:
    """Returns the parent of each request. A parent starts earlier, so that there are no cycles."""
    ends = sorted((request.end_s, at) for at, request in enumerate(requests))
    by_url: dict[str, int] = {}
    by_redirect: dict[str, int] = {}
    found = []
    for at, request in enumerate(requests):
        cause = by_redirect.get(request.url)
        if cause is None and request.initiator is not None:
            cause = by_url.get(request.initiator)
        if cause is None:
            cause = _latest(ends, at, request.start_s + TICK_S)
        since_s = requests[0].start_s if cause is None else requests[cause].end_s
        found.append(_Parent(cause, max(request.start_s - since_s, 0.0), since_s > request.start_s + TICK_S))
        by_url[request.url] = at
        if request.redirect is not None:
            by_redirect[request.redirect] = at
    return found


def _latest(ends: Sequence[tuple[float, int]], before: int, limit_s: float) -> int | None:
    """Returns the request that ended last before a time, among those with a lower index."""
    for position in range(bisect.bisect_right(ends, (limit_s, before)) - 1, -1, -1):
        if ends[position][1] < before:
            return ends[position][1]
    return None


def _objects(requests: Sequence[Request], parents: Sequence[_Parent], rtt_s: float) -> str:
    """Returns the file of the page: an object in each line."""
    names = [f"{request.index}-{request.name or request.kind}" for request in requests]
    rows = []
    for at, (request, parent) in enumerate(zip(requests, parents, strict=True)):
        row: dict[str, Any] = {"id": names[at], "size": request.received}
        if request.sent is not None:
            row["request"] = request.sent
        row["type"] = request.kind
        if request.urgency is not None:
            row["urgency"] = request.urgency
        row["host"] = request.host
        row["after"] = [] if parent.at is None else [names[parent.at]]
        row |= _times({"delay": parent.delay_s, "server_time": max(request.wait_s - rtt_s, 0.0)})
        rows.append(f"  {json.dumps(row)}")
    return '{"objects": [\n' + ",\n".join(rows) + "\n]}\n"


def _times(given: dict[str, float]) -> dict[str, str]:
    return {key: _ms(value_s) for key, value_s in given.items() if value_s >= 1e-6}


def _ms(time_s: float) -> str:
    # Browsers give microseconds.
    return f"{round(time_s * 1e3, 3):.12g} ms"


def _note_assumptions(requests: Sequence[Request], parents: Iterable[_Parent], notes: list[str]) -> None:
    early = sum(parent.is_early for parent in parents)
    if early:
        notes.append(
            f"{_counted(early, 'object')} had been requested before the initiator had arrived completely; in the "
            "scenario they wait for it."
        )
    decoded = sum(request.is_decoded for request in requests)
    if decoded:
        notes.append(f"{_counted(decoded, 'size')} may be too large: the file has only the sizes after decompression.")
