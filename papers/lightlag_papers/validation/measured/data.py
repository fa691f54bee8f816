"""The measured data of this package, as rows with their types. Every error names the file and the line."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TypeVar

from lightlag.errors import InputError

__all__ = ["FOLDER", "Cell", "Exits", "Target", "autobahn", "base_delays", "capacity", "cells", "exits", "targets"]

FOLDER = Path(__file__).parent / "data"
KERNEL = "lanman2023-netem-kernel"
EXITS = "quicoptsat-hystart"
LEOCC = "leocc-starlink-trace"
AUTOBAHN = "starlink-autobahn-2024"
FJORD = "fjordlink-dish"
TARGETS = "draft-kuhn-quic-4-sat-07"

FILES = {
    KERNEL: ("LICENSE-MIT.txt", "delay-loss.csv", "delay-rate.csv"),
    EXITS: ("LICENSE-MIT.txt", "LinuxHyStart_2023-03_extendedStatistics.ods", "hystart-exits.csv"),
    LEOCC: ("LICENSE-MIT.txt", "min-delay-10ms.txt", "starlink-120s.down.gz"),
    AUTOBAHN: ("LICENSE-CC-BY-SA-4.0.txt", "throughput-1s.csv"),
    FJORD: ("LICENSE-CC-BY-4.0.txt", "dish-1s-2024-12-12.csv"),
    TARGETS: ("NOTICE.txt", "targets.csv"),
}
"""The files of each data set; the first one is its licence."""

T = TypeVar("T")


@dataclass(frozen=True)
class Cell:
    """A cell of the kernel's measurement over netem, with the goodput of its repetitions."""

    congestion: str
    rate_mbps: float
    delay_ms: float
    loss_percent: float
    goodput_mbps: tuple[float, ...]

    @property
    def place(self) -> str:
        """The path of the cell as text."""
        return f"{self.rate_mbps:g} Mbit/s, RTT {2 * self.delay_ms:g} ms, loss {self.loss_percent:g} %"


@dataclass(frozen=True)
class Exits:
    """The end of slow start on one link: counts of runs by cause, and the window at exits by delay."""

    link: str
    forward_mbps: float
    return_mbps: float
    rtt_ms: float
    bdp_packets: float
    direction: str
    tunnel: str
    runs: int
    by_delay: int
    by_train: int
    none: int
    window: tuple[float, float, float] | None
    """Median and quartiles in packets; None if no run, or too few, ended by delay."""


@dataclass(frozen=True)
class Target:
    """A target time of draft-kuhn-quic-4-sat for a download or an upload."""

    scenario: str
    down_mbps: float
    up_mbps: float
    rtt_ms: float
    has_loss: bool
    direction: str
    size_mb: float
    target_s: float


def rows(path: Path, make: Callable[[dict[str, str]], T]) -> Iterator[T]:
    """Yields the rows of a CSV file, converted by `make`.

    Raises
    ------
    InputError
        If the file is missing, or a row lacks a column or has a value of the wrong type.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for line, row in enumerate(csv.DictReader(file), start=2):
                try:
                    yield make(row)
                except (KeyError, TypeError, ValueError) as error:
                    raise InputError(
                        f"{path}, line {line}: {_why(error)}; restore the file from the distribution"
                    ) from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; reinstall lightlag-papers") from None


def _why(error: Exception) -> str:
    return f"has no column {error}" if isinstance(error, KeyError) else f"{error}"


def cells(folder: Path = FOLDER) -> list[Cell]:
    """Returns the cells without local loss recovery; each (rate, delay, loss) of a congestion control is one cell.

    A cell that both figures of the paper have, such as 10 Mbit/s with 1 % of loss, is one cell per figure.
    """
    found: list[Cell] = []
    for name in ("delay-loss.csv", "delay-rate.csv"):
        places: dict[tuple[str, float, float, float], list[float]] = {}
        for recovery, place, goodput in rows(folder / KERNEL / name, _goodput):
            if not recovery:
                places.setdefault(place, []).append(goodput)
        found += [Cell(*place, tuple(values)) for place, values in sorted(places.items())]
    return found


def _goodput(row: dict[str, str]) -> tuple[bool, tuple[str, float, float, float], float]:
    place = (
        row["congestion"],
        float(row["rate_mbps"]),
        float(row["one_way_delay_ms"]),
        float(row["loss_percent"]),
    )
    recovery = {"True": True, "False": False}[row["local_loss_recovery"]]
    return recovery, place, float(row["goodput_bps"]) / 1e6


def exits(folder: Path = FOLDER) -> list[Exits]:
    """Returns the end of slow start on each real link."""
    return list(rows(folder / EXITS / "hystart-exits.csv", _exits))


def _exits(row: dict[str, str]) -> Exits:
    middle, low, high = (row[f"{name}_cwnd_at_delay_exit"] for name in ("median", "p25", "p75"))
    return Exits(
        row["link"],
        float(row["forward_mbps"]),
        float(row["return_mbps"]),
        float(row["rtt_ms"]),
        float(row["bdp_packets_forward"]),
        row["direction"],
        row["tunnel"],
        int(row["runs"]),
        int(row["exits_by_delay"]),
        int(row["exits_by_train"]),
        int(row["no_exit"]),
        (float(middle), float(low), float(high)) if middle else None,
    )


def targets(folder: Path = FOLDER) -> list[Target]:
    """Returns the target times."""
    return list(rows(folder / TARGETS / "targets.csv", _target))


def _target(row: dict[str, str]) -> Target:
    return Target(
        row["scenario"],
        float(row["down_mbps"]),
        float(row["up_mbps"]),
        float(row["rtt_ms"]),
        row["loss"] != "0",
        row["direction"],
        float(row["size_mb"]),
        float(row["target_s"]),
    )


def autobahn(folder: Path = FOLDER) -> list[tuple[int, int, float, float]]:
    """Returns each measured second on the Autobahn.

    The values are the time in s since the first one, the second of the minute, and the throughput down and up in
    Mbit/s.
    """
    found = list(rows(folder / AUTOBAHN / "throughput-1s.csv", _second))
    first = found[0][0] if found else 0
    return [(when - first, when % 60, down, up) for when, down, up in found]


def _second(row: dict[str, str]) -> tuple[int, float, float]:
    # Intervals start within some milliseconds of a full second.
    when = round(datetime.fromisoformat(row["utc_start_download"]).replace(tzinfo=UTC).timestamp())
    return when, float(row["download_mbps"]), float(row["upload_mbps"])


@cache
def base_delays(folder: Path = FOLDER) -> tuple[float, ...]:
    """Returns the base delays of LeoCC's trace in ms, one for each 10 ms."""
    path = folder / LEOCC / "min-delay-10ms.txt"
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; reinstall lightlag-papers") from None
    found = []
    for line, value in enumerate(text.split(), start=1):
        try:
            found.append(float(value))
        except ValueError:
            raise InputError(
                f"{path}, line {line}: {value!r:.40} is not a number; restore the file from the distribution"
            ) from None
    return tuple(found)


@cache
def capacity(folder: Path = FOLDER) -> tuple[int, ...]:
    """Returns the times in ms of the opportunities to send 1500 bytes, from LeoCC's trace."""
    path = folder / LEOCC / "starlink-120s.down.gz"
    try:
        text = gzip.decompress(path.read_bytes()).decode("ascii")
        return tuple(int(value) for value in text.split())
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{path}: {reason}; reinstall lightlag-papers") from None
    except ValueError as error:
        raise InputError(f"{path}: {error}; restore the file from the distribution") from None
