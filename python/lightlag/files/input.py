"""Files that lightlag reads. Each has a maximum size, and no read waits for ever for another process to fill a pipe.

A path given by a user may be a pipe, such as ``/dev/stdin`` or ``<(...)`` in a shell. The files of results directories
are regular files.
"""

from __future__ import annotations

import gzip
import os
import zlib
from functools import cache
from pathlib import Path

from lightlag import _engine
from lightlag.text.terminal import printable

__all__ = [
    "MAX_RESULTS_BYTES",
    "MAX_TEXT_BYTES",
    "binary_reason",
    "check_regular",
    "is_capture",
    "parquet_errors",
    "parquet_reason",
    "read_bytes",
    "read_results",
    "read_text",
]

MAX_TEXT_BYTES = 256 << 20
"""Maximum size of a scenario, a study or another file that a user writes: 256 MiB."""
MAX_RESULTS_BYTES = 8 << 30
"""Maximum size of a file in a results directory: 8 GiB."""


_GZIP = b"\x1f\x8b"
_CAPTURES = tuple(bytes.fromhex(start) for start in ("0a0d0d0a", "a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1"))
"""Magic numbers at the start of pcapng and pcap files."""


def is_capture(path: str | os.PathLike[str]) -> bool:
    """Returns true if a file starts like a capture in pcapng or pcap, also if it is compressed with gzip."""
    with Path(path).open("rb") as file:
        start = file.read(4)
    if start.startswith(_GZIP):
        try:
            with gzip.open(path) as packed:
                start = packed.read(4)
        except (OSError, EOFError, zlib.error):
            return False
    return start in _CAPTURES


def binary_reason(path: str | os.PathLike[str], error: UnicodeDecodeError) -> str:
    """Returns the error of a file that is not text, with the commands that read it if it is a capture."""
    if Path(path).is_file() and is_capture(path):
        return (
            "is a capture, not a text file; lightlag inspect describes it, why diagnoses it, replay repeats it, and "
            "import makes a scenario of its path"
        )
    return f"byte {error.start} is not UTF-8; save the file as UTF-8 text"


def read_bytes(path: str | os.PathLike[str], max_bytes: int = MAX_TEXT_BYTES, *, only_files: bool = False) -> bytes:
    """Returns the contents of a file, a pipe or a device.

    Parameters
    ----------
    only_files
        Reject pipes and devices.

    Raises
    ------
    OSError
        If it cannot be read, is larger than `max_bytes`, or is a pipe that no process writes to.
    """
    return _engine.read_file(path, max_bytes, only_files)


def read_text(path: str | os.PathLike[str], encoding: str = "utf-8") -> str:
    """Returns the contents of a text file, a pipe or a device.

    Raises
    ------
    OSError
        As :func:`read_bytes`.
    UnicodeDecodeError
        If it is not text in this encoding.
    """
    return read_bytes(path).decode(encoding)


def read_results(path: str | os.PathLike[str]) -> str:
    """Returns the text of a file in a results directory.

    Raises
    ------
    OSError
        As :func:`read_bytes`; also if it is not a regular file.
    UnicodeDecodeError
        If it is not text in UTF-8.
    """
    return read_bytes(path, MAX_RESULTS_BYTES, only_files=True).decode("utf-8")


def check_regular(path: str | os.PathLike[str]) -> None:
    """Fails if a path is not a regular file, before a library opens it.

    Raises
    ------
    OSError
        If it is a pipe or a device. A missing file and a directory are left to the library.
    """
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError("it is not a regular file")


@cache
def parquet_errors() -> tuple[type[BaseException], ...]:
    """Returns the exceptions that polars raises for a damaged Parquet file; for some files it panics."""
    import polars as pl

    return OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException


def parquet_reason(error: BaseException) -> str:
    """Returns the reason why a Parquet file cannot be read. The text of a polars panic would not help a reader."""
    import polars as pl

    if isinstance(error, pl.exceptions.PanicException):
        return "its contents are damaged"
    return printable(str(error).partition("\n")[0])
