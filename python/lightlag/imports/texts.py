"""Files as text: byte-order marks, line ends and missing last newlines do not matter; mistakes have a line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from lightlag._input import check_regular
from lightlag._text import printable
from lightlag.errors import InputError

__all__ = ["SIGNS", "fail", "head", "lines", "member", "number", "parsed", "start", "text"]

MOST_BYTES = 1 << 30
_START = 20_000

_PING = re.compile(r"(?:icmp_seq|icmp_req|seq)[= ]\d+.*?time[=<]|bytes=\d+ time[=<]|^PING |^Pinging ", re.IGNORECASE)
_NS3 = re.compile(r"^now=\S+ node=\d+ pos=")
_HYPATIA = re.compile(r"^\d+,(?:\d+(?:-\d+)+|Unreachable)$")
_NANOSECONDS = re.compile(r"^\d+,\d+(?:\.\d+)?$")


def _any(pattern: re.Pattern[str]) -> Callable[[list[str]], bool]:
    return lambda lines: any(pattern.search(line.strip()) for line in lines)


def _all(pattern: re.Pattern[str]) -> Callable[[list[str]], bool]:
    return lambda lines: bool(lines) and all(pattern.match(line.strip()) for line in lines)


def _steps(lines: list[str]) -> bool:
    """Rows of whole nanoseconds with a round trip in nanoseconds, without a header."""
    first = [line.split(",")[0] for line in lines[:2]]
    return _all(_NANOSECONDS)(lines) and len(first) == 2 and int(first[1]) - int(first[0]) >= 1_000_000


SIGNS: tuple[tuple[str, Callable[[list[str]], bool]], ...] = (
    ("ping", _any(_PING)),
    ("ns3", _any(_NS3)),
    ("hypatia", _all(_HYPATIA)),
    ("hypatia", _steps),
    ("mahimahi", _all(re.compile(r"^\d+$"))),
)
"""Kinds of text files with the look of their first lines."""


def fail(path: Path, message: str, line: int | None = None) -> NoReturn:
    """Raises an error about a place in a file."""
    place = "" if line is None else f"line {line}: "
    raise InputError(f"{printable(path)}: {place}{printable(message)}")


def head(path: Path, count: int) -> bytes:
    """The first bytes."""
    try:
        # A kind is found and read in several passes.
        check_regular(path)
        with path.open("rb") as file:
            return file.read(count)
    except FileNotFoundError:
        fail(path, "no such file; name a measurement")
    except IsADirectoryError:
        fail(path, "is a folder; name a file in it")
    except (OSError, ValueError) as error:
        fail(path, f"cannot be read: {getattr(error, 'strerror', None) or error}")


def start(path: Path) -> str:
    """The start of a file as text, with characters for what is none."""
    return _decoded(head(path, _START)) or head(path, _START).decode("utf-8-sig", "replace")


def text(path: Path) -> str:
    """A whole file as text, by its byte-order mark or as UTF-8."""
    data = head(path, MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        fail(path, f"is larger than {MOST_BYTES >> 30} GiB; cut it into parts")
    if not data.strip():
        fail(path, "is empty; name a file with a measurement in it")
    found = _decoded(data)
    if found is None:
        at = len(data.decode("utf-8-sig", "ignore").encode()) if data else 0
        fail(path, f"is not text in UTF-8 (near byte {at}); save it as UTF-8")
    return found


def _decoded(data: bytes) -> str | None:
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return data.decode("utf-16" if marked else "utf-8-sig").lstrip("\ufeff")
    except UnicodeDecodeError:
        return None


def lines(path: Path) -> list[tuple[int, str]]:
    """The lines that are not empty, with their numbers from 1 on."""
    found = [(at, line) for at, line in enumerate(text(path).replace("\r\n", "\n").split("\n"), 1) if line.strip()]
    if not found:
        fail(path, "is empty; name a file with a measurement in it")
    return found


def parsed(path: Path) -> Any:
    """A file of JSON as values."""
    try:
        return json.loads(text(path), parse_constant=lambda word: fail(path, f"{word} is not a number of JSON"))
    except json.JSONDecodeError as error:
        remedy = "is the file complete?" if "delimiter" in error.msg or "Unterminated" in error.msg else "save it again"
        fail(path, f"not JSON: {error.msg}; {remedy}", error.lineno)
    except RecursionError:
        fail(path, "not JSON that anybody writes: it is nested too deeply")


def member(path: Path, of: Any, *keys: str | int) -> Any:
    """A value in a tree of JSON; None if it is not there."""
    for key in keys:
        if isinstance(of, dict) and isinstance(key, str):
            of = of.get(key)
        elif isinstance(of, list) and isinstance(key, int) and key < len(of):
            of = of[key]
        else:
            return None
    return of


def number(path: Path, value: Any, what: str, *, line: int | None = None, least: float = 0.0) -> float:
    """A finite number from `least` on."""
    try:
        found = float(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        fail(path, f"{what}: {printable(repr(value)):.60} is not a number", line)
    if found < least:
        fail(path, f"{what}: {found:g} is below {least:g}", line)
    return found
