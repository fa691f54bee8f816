"""Positions of the nodes of a swarm, links between them and paths of flows at a given time, from tables.

``positions`` has the columns ``time_s``, ``node``, ``x_m``, ``y_m`` and ``z_m``; between its rows nodes move in a
straight line. ``paths`` has ``time_s``, ``flow``, ``hop`` and ``node``: the nodes that a packet of a flow passed,
counted from 0. A path is valid until data of the flow arrives over another one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lightlag._renamed import renamed
from lightlag.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Radio", "Swarm", "flows_of", "path", "paths", "radio_of"]

Numbers = npt.NDArray[np.float64]

POSITIONS = ("time_s", "node", "x_m", "y_m", "z_m")
PATHS = ("time_s", "flow", "hop", "node")


@dataclass(frozen=True)
class Radio:
    """A radio model: the signal of one node at another without fading, with log-distance path loss.

    Attributes
    ----------
    power_dbm
        Power of a transmitter.
    exponent
        Exponent of the path loss.
    reference_db
        Loss at 1 m.
    noise_dbm
        Noise of a receiver: 20 MHz and a noise figure of 7 dB.
    least_snr_db
        Minimum signal-to-noise ratio for a full data frame, in dB.

    Examples
    --------
    >>> float(Radio().snr_db(44.0).round(1))
    14.0
    """

    power_dbm: float = 16.0206
    exponent: float = 3.0
    reference_db: float = 46.6777
    noise_dbm: float = -93.97
    least_snr_db: float = 14.0

    def snr_db(self, distance_m: float | Numbers) -> Numbers:
        """Returns the signal-to-noise ratio in dB at a distance; distances below 1 m count as 1 m."""
        far = np.maximum(np.asarray(distance_m, dtype=np.float64), 1.0)
        return self.power_dbm - self.reference_db - 10 * self.exponent * np.log10(far) - self.noise_dbm


def radio_of(scenario: Mapping[str, Any]) -> Radio:
    """Returns the radio of the first medium of a complete scenario. Without log-distance loss, no links are shown.

    Examples
    --------
    >>> radio_of({"media": [{"power": "20 dBm", "propagation": "friis"}]}).power_dbm
    -inf
    """
    swarm = scenario.get("topology") or {}
    media = [*scenario.get("media", []), *([swarm["medium"]] if "medium" in swarm else [])]
    medium = media[0] if media else {}
    # A model without parameters is its name alone.
    loss = medium.get("propagation", {})
    if isinstance(loss, str):
        loss = {"model": loss}
    if loss.get("model", "log-distance") != "log-distance":
        return Radio(power_dbm=-math.inf)
    known = Radio()
    return Radio(
        power_dbm=_decibels(medium.get("power"), known.power_dbm),
        exponent=float(loss.get("exponent", known.exponent)),
        reference_db=_decibels(loss.get("reference_loss"), known.reference_db),
    )


def _decibels(text: str | None, otherwise: float) -> float:
    return otherwise if text is None else float(text.split()[0])


class Swarm:
    """The nodes of a swarm with their positions over time."""

    def __init__(self, positions: pl.DataFrame) -> None:
        _need(positions, POSITIONS, "positions")
        if positions.is_empty():
            raise InputError("positions: no row; record the positions of the swarm")
        parts = positions.sort("time_s", maintain_order=True).partition_by("node", maintain_order=True)
        parts.sort(key=lambda part: _order(str(part["node"][0])))
        self.nodes = [str(part["node"][0]) for part in parts]
        self._times = [part["time_s"].to_numpy().astype(np.float64) for part in parts]
        self._places = [part.select(POSITIONS[2:]).to_numpy().astype(np.float64) for part in parts]
        self.start_s = float(min(times[0] for times in self._times))
        self.end_s = float(max(times[-1] for times in self._times))
        every = np.concatenate(self._places)
        self.low, self.high = every.min(axis=0), every.max(axis=0)

    def at(self, time_s: float) -> Numbers:
        """Returns the positions of all nodes in m, as rows of x, y and z.

        Nodes do not move before their first and after their last row.
        """
        found = [
            [np.interp(time_s, times, places[:, axis]) for axis in range(3)]
            for times, places in zip(self._times, self._places, strict=True)
        ]
        return np.array(found)

    def links(self, time_s: float, radio: Radio) -> list[tuple[int, int, float]]:
        """Returns the pairs of nodes in range of each other for data frames, with their SNR in dB."""
        places = self.at(time_s)
        apart = np.linalg.norm(places[:, None] - places[None], axis=2)
        snr = radio.snr_db(apart)
        first, second = np.nonzero(np.triu(snr >= radio.least_snr_db, 1))
        return [(int(a), int(b), float(snr[a, b])) for a, b in zip(first, second, strict=True)]


def paths(table: pl.DataFrame, flow: str) -> list[tuple[float, list[str]]]:
    """Returns the paths of a flow, each with its start time."""
    _need(table, PATHS, "paths")
    rows = table.filter(table["flow"].cast(str) == flow).sort("time_s", "hop", maintain_order=True)
    found: list[tuple[float, list[str]]] = []
    for time_s, hop, node in rows.select("time_s", "hop", "node").iter_rows():
        if hop == 0:
            found.append((float(time_s), []))
        found[-1][1].append(str(node))
    return found


def path(table: pl.DataFrame, time_s: float, flow: str) -> list[str]:
    """Returns the nodes on the path of a flow at a given time; empty before its first data has arrived."""
    until = [nodes for since, nodes in paths(table, flow) if since <= time_s]
    return until[-1] if until else []


def flows_of(paths: pl.DataFrame) -> list[str]:
    """Returns the flows in a table of paths, in the order in which their first data arrived."""
    _need(paths, PATHS, "paths")
    return [
        str(flow) for flow in paths.sort("time_s", maintain_order=True)["flow"].cast(str).unique(maintain_order=True)
    ]


def _need(frame: pl.DataFrame, columns: Iterable[str], name: str) -> None:
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise InputError(f"{name}: no column {', '.join(missing)}; there are {', '.join(frame.columns)}")


def _order(name: str) -> tuple[str, int, str]:
    """Sort key that orders names by their prefix, then by the number at their end."""
    digits = len(name) - len(name.rstrip("0123456789"))
    return (name[: len(name) - digits], int(name[-digits:]) if digits else -1, name)


def __getattr__(name: str) -> Any:
    raise AttributeError(renamed(f"swarm.paths.{name}") or f"module {__name__!r} has no attribute {name!r}")
