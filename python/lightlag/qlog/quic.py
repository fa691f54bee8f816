"""The logs of QUIC connections, which the engine writes into one file during a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lightlag.qlog.sequence import SEPARATOR, Sequences

__all__ = ["copy", "number"]


def number(flow: int, *, is_receiver: bool) -> int:
    """Returns the number of a log in the file of the engine.

    Parameters
    ----------
    flow
        Index of the flow.
    """
    return 2 * flow + is_receiver


def copy(path: Path, files: Mapping[int, Path], sequences: Sequences) -> None:
    """Copies logs into files of their own.

    Each line is the number of a log and its next record, a JSON text of qlog.

    Parameters
    ----------
    path
        The file of the engine.
    files
        The new file of each log, by its number. Other logs are left out.
    """
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            log, _, record = line.partition(SEPARATOR)
            # The disk was full in the middle of the last record.
            if record.endswith("\n") and (file := files.get(int(log))) is not None:
                sequences.add(file, SEPARATOR + record)
