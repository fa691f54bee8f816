"""Files as text: byte-order marks, line ends and missing last newlines are ignored; errors name a line."""

from __future__ import annotations

import bz2
import gzip
import importlib
import json
import lzma
import math
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NoReturn

from lightlag.errors import InputError
from lightlag.files.input import check_regular
from lightlag.imports.found import LONGEST_S
from lightlag.text.terminal import printable

__all__ = [
    *("fail", "head", "lines", "member", "number", "parsed", "round_trip", "short_lines", "start", "text", "tree"),
    "without_nan",
]

MOST_BYTES = 1 << 30
"""Maximum size of a measurement in bytes, after decompression."""
MAX_LINE = 1000
"""Maximum number of characters of a line that a tool prints; longer lines are ignored."""
_MAX_MESSAGE = 600
"""Maximum number of characters of an error message, which may quote the file."""
_START = 20_000


def _open_zip(packed: IO[bytes]) -> IO[bytes]:
    """Returns the one file in an archive.

    Raises
    ------
    ValueError
        If there are several, if they need a password, or if the archive is a spreadsheet.
    """
    try:
        archive = zipfile.ZipFile(packed)
        names = [one.filename for one in archive.infolist() if not one.is_dir()]
        if "[Content_Types].xml" in names or "mimetype" in names:
            raise ValueError("is a spreadsheet; save the sheet as CSV")
        # macOS adds a file for each.
        names = [name for name in names if not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise ValueError(f"is a zip archive of {len(names)} files; unpack it and name one")
        return archive.open(names[0])
    except (RuntimeError, NotImplementedError):
        raise ValueError("is a zip archive that needs a password or an unusual program; unpack it") from None


def _open_zstd(packed: IO[bytes]) -> Any:
    """Returns the contents of a file compressed by zstd.

    The standard library reads it since Python 3.14; on earlier versions pyarrow does.
    """
    try:
        # Absent before Python 3.14.
        zstd: Any = importlib.import_module("compression.zstd")
    except ImportError:
        return _open_by_arrow(packed, "zstd")
    return zstd.open(packed)


def _open_lz4(packed: IO[bytes]) -> Any:
    return _open_by_arrow(packed, "lz4")


def _open_by_arrow(packed: IO[bytes], name: str) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ValueError(
            f'is compressed by {name}; unpack it with {name} -d, or pip install "lightlag[pandas]"'
        ) from None
    return pyarrow.input_stream(packed, compression=name)


_COMPRESSED: Mapping[bytes, tuple[str, Callable[[IO[bytes]], Any]]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ\x00": ("xz", lzma.open),
    b"\x28\xb5\x2f\xfd": ("zstd", _open_zstd),
    b"\x04\x22\x4d\x18": ("lz4", _open_lz4),
    b"PK\x03\x04": ("zip", _open_zip),
}
"""Compressed formats that are read without unpacking the file first, by their magic number."""
_PACKED = {
    b"PAR1": "is a Parquet file; write it as CSV, for example with polars: read_parquet(...).write_csv(...)",
    b"\xd0\xcf\x11\xe0": "is a spreadsheet of Excel; save the sheet as CSV",
    b"SQLite format 3": "is an SQLite database; write the query as CSV: sqlite3 -header -csv FILE 'select ...'",
    b"%PDF": "is a PDF; name the file with the measurement itself",
}
"""Binary formats that cannot be read, by their magic number, each with a hint."""


def fail(path: Path, message: str, line: int | None = None) -> NoReturn:
    """Raises an error about a line of a file."""
    place = "" if line is None else f"line {line}: "
    raise InputError(f"{printable(path)}: {place}{_bounded(printable(message))}")


def _bounded(message: str) -> str:
    """Returns a message without the middle of a long one: the cause is at its start, the fix at its end."""
    return message if len(message) <= _MAX_MESSAGE else f"{message[:400]} … {message[-150:]}"


def head(path: Path, count: int) -> bytes:
    """Returns the first bytes of a file, after decompression."""
    try:
        # A kind is found and read in several passes.
        check_regular(path)
        with path.open("rb") as file:
            magic = file.read(16)
            file.seek(0)
            packing = next((name for start_, name in _COMPRESSED.items() if magic.startswith(start_)), None)
            if packing is not None:
                return _unpacked(path, *packing, file, count)
            data = file.read(count)
    except FileNotFoundError:
        fail(path, "no such file; name a measurement")
    except IsADirectoryError:
        fail(path, "is a directory; name a file in it, or a network of Hypatia with tles.txt and ground_stations.txt")
    except InputError:
        raise
    except (OSError, ValueError) as error:
        fail(path, f"cannot be read: {getattr(error, 'strerror', None) or error}")
    for start_, remedy in _PACKED.items():
        if magic.startswith(start_):
            fail(path, remedy)
    return data


def _unpacked(path: Path, name: str, opened: Callable[[IO[bytes]], Any], packed: IO[bytes], count: int) -> bytes:
    try:
        with opened(packed) as file:
            data: bytes = file.read(count)
            return data
    except ValueError as error:
        # An archive that is not opened.
        fail(path, str(error))
    except _damage() as error:
        fail(path, f"is compressed by {name} and damaged: {error}; compress or copy it again")


def _damage() -> tuple[type[Exception], ...]:
    """Returns the exceptions for a damaged compressed file.

    :mod:`compression.zstd` adds its own once it has been imported.
    """
    zstd = sys.modules.get("compression.zstd")
    found = (OSError, EOFError, RuntimeError, lzma.LZMAError, zipfile.BadZipFile, zlib.error)
    return found if zstd is None else (*found, zstd.ZstdError)


def start(path: Path) -> str:
    """Returns the start of a file as text. A truncated last line is left out, unless it is the only line."""
    data = head(path, _START)
    if len(data) < _START:
        return _decoded(data)
    found = _decoded(_CUT_LETTER.sub(b"", data))
    return found.rpartition("\n")[0] or found


_CUT_LETTER = re.compile(rb"[\xc0-\xff][\x80-\xbf]{0,2}\Z")
"""Matches an incomplete UTF-8 character at the end of a part of a file."""


def text(path: Path) -> str:
    """Returns an entire file as text: by its byte-order mark, as UTF-8, or as a code page with ASCII in its lower half.

    In the last case letters of other alphabets may be wrong; digits, units and separators are right.
    """
    data = head(path, MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        fail(path, f"is larger than {MOST_BYTES >> 30} GiB; cut it into parts")
    if not data.strip():
        fail(path, "is empty; name a file with a measurement in it")
    found = _decoded(data)
    if "\0" in found:
        at = found.index("\0")
        line = found.count("\n", 0, at) + 1
        fail(path, f"is not text: byte {at} is 0; name a file that a measuring tool wrote as text", line)
    return found


def _decoded(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").lstrip("\ufeff")
    # PowerShell writes two bytes for a character, some programs without a mark in front.
    for encoding, zero in (("utf-16-le", 1), ("utf-16-be", 0)):
        if len(data) >= 4 and data[zero:200:2].count(0) == len(data[zero:200:2]):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8-sig").lstrip("\ufeff")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def lines(path: Path) -> list[tuple[int, str]]:
    """Returns the lines that are not empty, with their numbers, counted from 1."""
    found = [(at, line) for at, line in enumerate(text(path).replace("\r\n", "\n").split("\n"), 1) if line.strip()]
    if not found:
        fail(path, "is empty; name a file with a measurement in it")
    return found


def short_lines(path: Path) -> list[tuple[int, str]]:
    """Returns the lines of a tool's output, as `lines` does, but without long lines, which another program printed."""
    return [(at, line) for at, line in lines(path) if len(line) <= MAX_LINE]


def parsed(path: Path) -> Any:
    """Returns a file of JSON as values; text before the first brace is left out."""
    return tree(path, text(path))


def tree(path: Path, text_: str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None, line: int = 0) -> Any:
    """Returns JSON as values. Not-a-number and infinity are None.

    Parameters
    ----------
    pairs
        Function that makes an object from its keys and values; keys may be duplicated.
    line
        Number of lines of the file before the text.
    """
    try:
        return json.loads(without_nan(text_), object_pairs_hook=pairs, parse_constant=lambda _: None)
    except json.JSONDecodeError as error:
        remedy = "is the file complete?" if "delimiter" in error.msg or "Unterminated" in error.msg else "save it again"
        fail(path, f"not JSON: {error.msg}; {remedy}", error.lineno + line)
    except RecursionError:
        fail(path, "not valid JSON: it is nested too deeply")
    except ValueError as error:
        # A whole number of more digits than Python reads.
        fail(path, f"not JSON that a measuring tool writes: {error}")


def without_nan(text_: str) -> str:
    """Returns JSON with null instead of "nan", which some programs write although it is not valid JSON."""
    return _NO_NUMBER.sub("null", text_)


_NO_NUMBER = re.compile(r"(?<=[:,\[ ])-?nan(?=\s*[,}\]])", re.IGNORECASE)
"""Matches a number that iperf3 could not compute: "nan", which is not valid JSON."""


def member(path: Path, of: Any, *keys: str | int) -> Any:
    """Returns a value in a JSON tree; None if it is missing."""
    for key in keys:
        if isinstance(of, dict) and isinstance(key, str):
            of = of.get(key)
        elif isinstance(of, list) and isinstance(key, int) and key < len(of):
            of = of[key]
        else:
            return None
    return of


def number(path: Path, value: Any, what: str, *, line: int | None = None, minimum: float = 0.0) -> float:
    """Returns a finite number of at least `minimum`."""
    # Python reads the digits of every script, and underscores between digits.
    is_plain = not isinstance(value, str) or (value.isascii() and "_" not in value)
    try:
        is_number = isinstance(value, (int, float, str)) and not isinstance(value, bool) and is_plain
        found = float(value) if is_number else math.nan
    except (ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        fail(path, f"{what}: {printable(repr(value)):.60} is not a number", line)
    if found < minimum:
        fail(path, f"{what}: {found:g} is below {minimum:g}", line)
    return found


def round_trip(path: Path, value: Any, unit_s: float, what: str, *, line: int | None = None) -> float:
    """Returns a round trip in seconds, from a value in the given unit; at most 480 h."""
    found = number(path, value, what, line=line) * unit_s
    if found > LONGEST_S:
        fail(path, f"{what}: {found:g} s is above 480 h; remove it, or correct its unit", line)
    return found
