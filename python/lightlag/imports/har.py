"""Page loads that a browser has recorded as HAR (HTTP Archive 1.2): sizes and times of the requests.

Times are in milliseconds; -1 is an unknown size or a phase that did not take place. ``connect`` includes ``ssl``; the
browsers that write them as separate phases are recognised by ``time``, the sum of all phases. Browsers add keys of
their own, which start with an underscore: ``_initiator`` (the cause of the request), ``_priority``, ``_transferSize``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from lightlag.imports import har_load, texts
from lightlag.imports.found import LONGEST_S, Found, Options
from lightlag.imports.har_load import Request
from lightlag.imports.sample import Sample
from lightlag.text.terminal import printable

__all__ = ["ABOUT", "read", "recognises"]

ABOUT = "a page load as HAR"

MAX_BYTES = 1e12
"""Maximum size of a request or a response in bytes."""
MAX_DEPTH = 20
"""Maximum number of nested stacks that are searched for the script that caused a request."""
_START = re.compile(r'^\s*\{\s*"log"\s*:\s*\{')
_URL = re.compile(r"^(https?)://(?:[^/?#@]*@)?([^/?#@]+)([^?#]*)", re.IGNORECASE)
_VERSIONS = ("1.1", "1.2")
_PROTOCOLS = (
    ("3", re.compile(r"h3|http/3|.*quic")),
    ("2", re.compile(r"h2|http/2")),
    ("1.1", re.compile(r"(?:http/)?1(?:\.[01])?$")),
)
"""Versions of HTTP, with their names in ``httpVersion``."""
_KINDS = {"document": "document", "stylesheet": "css", "font": "font", "script": "script", "image": "image"}
"""Resource types of Chrome, with the type of object."""
_MIME = (
    ("text/html", "document"),
    ("text/css", "css"),
    ("font", "font"),
    ("javascript", "script"),
    ("ecmascript", "script"),
    ("image/", "image"),
)
"""Parts of MIME types, with the type of object."""
_URGENCIES = {"VeryHigh": 0, "High": 1, "Medium": 2, "Low": 3, "VeryLow": 4}
"""Priorities of Chrome in their order, as urgencies of RFC 9218 §4.1."""


def recognises(sample: Sample) -> bool:
    """Returns True for JSON that starts with a log."""
    return _START.match(sample.text) is not None


def read(path: Path, options: Options) -> Found:
    """Returns the page with its objects, and the rate and the delay that its times suggest."""
    log = texts.member(path, texts.parsed(path), "log")
    if not isinstance(log, dict):
        texts.fail(path, "is JSON, but not HAR: it has no log; save the requests of a browser as HAR")
    version = log.get("version") or _VERSIONS[0]
    if version not in _VERSIONS:
        texts.fail(
            path,
            f"has not the version {' or '.join(_VERSIONS)}, but log.version {version!r:.40}; save it as HAR 1.2",
        )
    entries = log.get("entries")
    if not isinstance(entries, list) or not entries:
        texts.fail(path, "has no requests in log.entries; load the page while the browser records, and save it again")
    page, ref = _first_page(path, log, entries)
    left_out: Counter[str] = Counter()
    requests = []
    load_s = _load_event(path, page)
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            texts.fail(path, f"log.entries[{index}]: {entry!r:.40} is not a request; save the file again")
        if ref is not None and entry.get("pageref") != ref:
            left_out["on other pages"] += 1
            continue
        reason = _exclusion(path, entry, index)
        request = _request(path, entry, index) if reason is None else None
        if request is None:
            left_out[reason or "from the cache"] += 1
        elif load_s is not None and request.start_s > load_s:
            left_out["after the load event"] += 1
        else:
            requests.append(request)
    if not requests:
        texts.fail(
            path,
            f"none of {len(entries)} requests has a response from the network ({_counted(left_out)}); record the page "
            "with its cache disabled",
        )
    found = har_load.found(path, sorted(requests, key=lambda request: (request.start_s, request.index)))
    if left_out:
        found.notes.append(f"Requests that are left out: {_counted(left_out)}.")
    if load_s is not None:
        first_s = min(request.start_s for request in requests)
        found.notes.append(f"The load event was {max(load_s - first_s, 0):.4g} s after the first request.")
    return found


def _counted(left_out: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in left_out.items())


def _first_page(path: Path, log: dict[str, Any], entries: list[Any]) -> tuple[tuple[int, Any] | None, str | None]:
    """Returns the first page that has requests, with its index, and its id; None if the file names no pages."""
    pages = log.get("pages")
    for index, page in enumerate(pages if isinstance(pages, list) else []):
        ref = texts.member(path, page, "id")
        if isinstance(ref, str) and any(texts.member(path, entry, "pageref") == ref for entry in entries):
            return (index, page), ref
    return None, None


def _load_event(path: Path, page: tuple[int, Any] | None) -> float | None:
    """Returns the time of the load event of a page in seconds since 1970, if the file has it."""
    if page is None:
        return None
    index, of = page
    place = f"log.pages[{index}]"
    after_s = _milliseconds(path, texts.member(path, of, "pageTimings", "onLoad"), f"{place}.pageTimings.onLoad")
    if after_s <= 0:
        return None
    return _instant(path, of.get("startedDateTime"), f"{place}.startedDateTime") + after_s


def _exclusion(path: Path, entry: dict[str, Any], index: int) -> str | None:
    """Returns the reason why an entry is not a response from the network, or None."""
    url = texts.member(path, entry, "request", "url")
    if not isinstance(url, str):
        texts.fail(path, f"log.entries[{index}].request.url: {url!r:.40} is not an address; save the file again")
    if _URL.match(url) is None:
        return "without HTTP"
    status = texts.number(
        path, texts.member(path, entry, "response", "status"), f"log.entries[{index}].response.status", minimum=-1e6
    )
    if status == 304 or entry.get("_fromCache"):
        return "from the cache"
    if status <= 0 or texts.member(path, entry, "response", "_error"):
        return "that failed"
    return "without HTTP" if status == 101 else None


def _request(path: Path, entry: dict[str, Any], index: int) -> Request | None:
    """Returns a request; None if its response came from a cache: it has no size, or took no time."""
    place = f"log.entries[{index}]"
    request, response = entry["request"], entry["response"]
    received, is_decoded = _received(path, response, f"{place}.response")
    phases = {
        phase: _milliseconds(path, texts.member(path, entry, "timings", phase), f"{place}.timings.{phase}")
        for phase in ("blocked", "dns", "connect", "ssl", "send", "wait", "receive")
    }
    ssl_s = phases.pop("ssl")
    total_s = sum(phases.values())
    if _milliseconds(path, entry.get("time"), f"{place}.time") - total_s > ssl_s / 2 > 0:
        phases["connect"] += ssl_s
    wait_s = phases["send"] + phases["wait"]
    start_s = _instant(path, entry.get("startedDateTime"), f"{place}.startedDateTime")
    if received == 0 or wait_s + phases["receive"] == 0:
        return None
    url: str = request["url"]
    matched = _URL.match(url)
    assert matched is not None, "other addresses are excluded"
    redirect = response.get("redirectURL")
    return Request(
        index=index,
        url=url,
        is_secure=matched[1].lower() == "https",
        host=printable(matched[2].lower())[:200],
        name=re.sub(r"[^A-Za-z0-9._-]+", "_", matched[3].rsplit("/", 1)[-1])[:40],
        start_s=start_s,
        blocked_s=phases["blocked"],
        dns_s=phases["dns"],
        connect_s=phases["connect"],
        ssl_s=min(ssl_s, phases["connect"]),
        wait_s=wait_s,
        receive_s=phases["receive"],
        sent=_sent(path, request, f"{place}.request"),
        received=received,
        is_decoded=is_decoded,
        version=_protocol(entry),
        kind=_kind(path, entry),
        urgency=_URGENCIES.get(str(entry.get("_priority"))),
        initiator=_initiator(path, entry.get("_initiator")),
        redirect=_joined(url, redirect) if isinstance(redirect, str) and redirect else None,
    )


def _joined(url: str, redirect: str) -> str | None:
    try:
        return urljoin(url, redirect)
    except ValueError:
        return None


def _received(path: Path, response: dict[str, Any], place: str) -> tuple[int, bool]:
    """Returns the size of a response in bytes, and whether it is the size after decompression.

    The size is 0 if the response came from a cache. The body has ``bodySize`` bytes, or if that is unknown,
    ``content.size`` without ``content.compression``.
    """
    total = _bytes(path, response.get("_transferSize"), f"{place}._transferSize")
    if total is not None:
        return total, False
    headers = _bytes(path, response.get("headersSize"), f"{place}.headersSize")
    body = _bytes(path, response.get("bodySize"), f"{place}.bodySize")
    content = _bytes(path, texts.member(path, response, "content", "size"), f"{place}.content.size")
    if body == 0 and content and not headers:
        return 0, False
    headers = _listed(path, response) if headers is None else headers
    if body is not None:
        return headers + body, False
    saved = _bytes(path, texts.member(path, response, "content", "compression"), f"{place}.content.compression")
    if content is None or saved is None:
        return headers + (content or 0), bool(content)
    return headers + max(content - saved, 0), False


def _sent(path: Path, request: dict[str, Any], place: str) -> int | None:
    """Returns the size of a request in bytes; None if it is unknown."""
    headers = _bytes(path, request.get("headersSize"), f"{place}.headersSize")
    body = _bytes(path, request.get("bodySize"), f"{place}.bodySize")
    return (headers or _listed(path, request)) + (body or 0) or None


def _listed(path: Path, message: dict[str, Any]) -> int:
    """Returns the size of the listed headers as HTTP/1.1 writes them, in bytes: ``name: value`` and a line end each."""
    headers = message.get("headers")
    parts = [
        text
        for header in (headers if isinstance(headers, list) else [])
        for key in ("name", "value")
        if isinstance(text := texts.member(path, header, key), str)
    ]
    return sum(map(len, parts)) + 2 * len(parts)


def _bytes(path: Path, value: Any, place: str) -> int | None:
    """Returns a size in bytes; None if it is unknown."""
    if value is None:
        return None
    size = texts.number(path, value, place, minimum=-1)
    if size > MAX_BYTES:
        texts.fail(path, f"{place}: {size:g} B is above 1 TB; correct it")
    return round(size) if size >= 0 else None


def _milliseconds(path: Path, value: Any, place: str) -> float:
    """Returns a length of time in seconds; 0 if it is missing or -1."""
    if value is None:
        return 0.0
    length_s = texts.number(path, value, place, minimum=-1) / 1e3
    if length_s > LONGEST_S:
        texts.fail(path, f"{place}: {length_s:g} s is above 480 h; correct it")
    return max(length_s, 0.0)


def _instant(path: Path, value: Any, place: str) -> float:
    """Returns a date of ISO 8601 in seconds since 1970; without a zone it is UTC."""
    try:
        when = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        texts.fail(path, f"{place}: {value!r:.40} is not a time such as 2026-01-31T12:00:00.000Z; save the file again")
    return (when.replace(tzinfo=when.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()


def _protocol(entry: dict[str, Any]) -> str | None:
    for text in (entry["response"].get("httpVersion"), entry["request"].get("httpVersion"), entry.get("_protocol")):
        for version, pattern in _PROTOCOLS:
            if isinstance(text, str) and pattern.match(text.lower()):
                return version
    return None


def _kind(path: Path, entry: dict[str, Any]) -> str:
    """Returns the type of an object, from Chrome's resource type or from the MIME type."""
    if isinstance(resource := entry.get("_resourceType"), str):
        return _KINDS.get(resource, "other")
    mime = texts.member(path, entry, "response", "content", "mimeType")
    return next((kind for part, kind in _MIME if isinstance(mime, str) and part in mime.lower()), "other")


def _initiator(path: Path, given: Any) -> str | None:
    """Returns the address of the document or script that caused a request."""
    if isinstance(given, str):
        return given
    return next(_causes(path, given), None)


def _causes(path: Path, given: Any) -> Iterator[str]:
    url = texts.member(path, given, "url")
    if isinstance(url, str) and url:
        yield url
    stack = texts.member(path, given, "stack")
    for _ in range(MAX_DEPTH):
        frames = texts.member(path, stack, "callFrames")
        for frame in frames if isinstance(frames, list) else []:
            url = texts.member(path, frame, "url")
            if isinstance(url, str) and url:
                yield url
        stack = texts.member(path, stack, "parent")
