"""The positions of satellites, their visibility, and the paths between stations, as the engine computes them."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from lightlag.errors import AlgorithmError, InputError
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    from lightlag import _engine

__all__ = ["Ephemeris", "Floats", "geographic", "time_of_run", "times_until"]

T = TypeVar("T")
Floats = npt.NDArray[np.float64]

MOST_SAMPLES = 1_000_000
"""Maximum number of samples of a path or a track."""


class Ephemeris:
    """Satellites and ground stations over time, and the paths between stations.

    Base class of :class:`lightlag.constellation.Sky`.
    """

    def __init__(self, engine: _engine.Sky) -> None:
        self._engine = engine
        self.start: str = engine.start
        """Start time of runs in UTC."""
        self.satellites: list[str] = engine.satellites
        """Names of the satellites, by index."""
        self.stations: list[str] = engine.stations
        """Names of the stations."""
        self.link_count: int = engine.link_count
        """Number of links between satellites, whether up or down."""

    def about(self) -> str:
        """Number of satellites and links between them; for a file of orbital elements also the planes that were found
        in it.
        """
        text = f"{len(self.satellites)} satellites with {self.link_count} links between them"
        for inclination, revolutions, planes, satellites, links in self._engine.found_shells[:3]:
            text += (
                f"; found {planes} planes of {satellites} satellites at {inclination:.1f}° and {revolutions:.2f} "
                f"revolutions a day, with {links} links"
            )
        return text

    def __repr__(self) -> str:
        stations = ", ".join(self.stations)
        return f"{type(self).__name__}({len(self.satellites)} satellites, stations {stations}, from {self.start})"

    def _station(self, name: str) -> int:
        if name not in self.stations:
            raise InputError(
                f"{printable(name)!r} is not a station; there are {', '.join(map(printable, self.stations))}"
            )
        return self.stations.index(name)

    def _satellite(self, name: str) -> int:
        if name not in self.satellites:
            raise InputError(f"{printable(name)!r} is not a satellite; there are {self.satellites[0]} and others")
        return self.satellites.index(name)

    def name(self, node: int) -> str:
        """Returns the name of a node by its index: satellites come first, then stations."""
        count = len(self.satellites)
        return self.satellites[node] if node < count else self.stations[node - count]

    def positions(self, time_s: float) -> Floats:
        """Returns the positions of all satellites, one row each.

        They are in metres, in a frame that rotates with the Earth; its x axis points to 0° E.
        """
        return np.asarray(self._engine.positions(time_of_run(time_s)), dtype=np.float64).reshape(-1, 3)

    def station_coordinates(self, time_s: float = 0.0) -> Floats:
        """Latitude and longitude of each station in degrees, one row per station."""
        return self.sites(time_s)[:, :2]

    def sites(self, time_s: float = 0.0) -> Floats:
        """Latitude and longitude in degrees and height in metres above WGS 84 of each station, one row per station."""
        return np.asarray(self._engine.station_coordinates(time_of_run(time_s)), dtype=np.float64).reshape(-1, 3)

    def isls(self, time_s: float) -> list[tuple[int, int]]:
        """Returns the links between satellites that are up, each as the indices of its two satellites."""
        return [(a, b) for a, b in self._engine.isls(time_of_run(time_s))]

    def visible(self, station: str, time_s: float) -> pl.DataFrame:
        """Returns the satellites that a station can use at a time, with azimuth and elevation in degrees and range in
        km.
        """
        found = self._engine.visible(self._station(station), time_of_run(time_s))
        rows = [(self.satellites[at], azimuth, elevation, metres / 1e3) for at, azimuth, elevation, metres in found]
        columns = {"satellite": pl.String, "azimuth": pl.Float64, "elevation": pl.Float64, "range_km": pl.Float64}
        return pl.DataFrame(rows, schema=columns, orient="row").sort("elevation", descending=True)

    def passes(self, station: str, until_s: float) -> pl.DataFrame:
        """Returns the passes over a station: a row for each, with rise and set in seconds and the highest elevation."""
        found = self._engine.passes(self._station(station), time_of_run(until_s))
        rows = [(self.satellites[at], rise, end, end - rise, height) for at, rise, end, height in found]
        columns = ("satellite", "rise_s", "set_s", "duration_s", "highest_deg")
        types = dict(zip(columns, (pl.String, *[pl.Float64] * 4), strict=True))
        return pl.DataFrame(rows, schema=types, orient="row")

    def track(self, satellite: str, until_s: float, step_s: float = 10.0) -> pl.DataFrame:
        """Returns the ground track of a satellite: latitude and longitude in degrees, height in km above a sphere."""
        at = self._satellite(satellite)
        times = times_until(until_s, step_s)
        places = np.asarray([self.positions(time)[at] for time in times])
        north, east, height = geographic(places)
        return pl.DataFrame({"time_s": times, "latitude": north, "longitude": east, "height_km": height})

    def path_changes(self, start: str, end: str, until_s: float) -> list[tuple[float, list[int]]]:
        """Returns each path between two stations: its start in seconds and the indices of its nodes, empty while there
        is no path.
        """
        return _chosen(self._engine.path_changes, self._station(start), self._station(end), time_of_run(until_s))

    def path(self, start: str, end: str, until_s: float, step_s: float = 1.0) -> pl.DataFrame:
        """Returns the path between two stations over time.

        Each sample is one row: the round trip at the speed of light in ms, null while there is no path; the number of
        links; the satellites that the stations use; and the index of the path, which grows by one at each change.
        """
        courses = self.path_changes(start, end, until_s)
        times = times_until(until_s, step_s)
        starts = [since for since, _ in courses]
        numbers = [bisect.bisect_right(starts, time) - 1 for time in times]
        rtt: list[float | None] = [None] * len(times)
        for number, (_, nodes) in enumerate(courses):
            mine = [at for at, of in enumerate(numbers) if of == number]
            if nodes and mine:
                seconds = self._engine.light_times(nodes, [times[at] for at in mine])
                for at, one_way in zip(mine, seconds, strict=True):
                    rtt[at] = 2e3 * one_way
        ways = [courses[number][1] for number in numbers]
        return pl.DataFrame(
            {
                "time_s": times,
                "rtt_ms": pl.Series(rtt, dtype=pl.Float64),
                "hops": [max(len(nodes) - 1, 0) for nodes in ways],
                "up": pl.Series([self.name(nodes[1]) if nodes else None for nodes in ways], dtype=pl.String),
                "down": pl.Series([self.name(nodes[-2]) if nodes else None for nodes in ways], dtype=pl.String),
                "path": numbers,
            }
        )

    def light_times(self, nodes: Sequence[int], times: Floats) -> Floats:
        """Returns the propagation time in seconds along a path at each time; nodes are given by their indices."""
        return np.asarray(self._engine.light_times(list(nodes), times.tolist()), dtype=np.float64)

    def pairs(self, until_s: float) -> pl.DataFrame:
        """Returns all pairs of stations over time, sampled every ``interval`` of the scenario, up to, but not
        including, ``until_s``.

        One row per pair: the minimum and maximum round trip at the speed of light in ms, null if there never was a
        path; the number of changes of the path between samples, including losing and regaining it; and the fraction of
        samples without a path.
        """
        samples = math.ceil(time_of_run(until_s) / self._engine.interval)
        if samples * len(self.stations) ** 2 > MOST_SAMPLES * 100:
            raise InputError(
                f"{samples} samples of {len(self.stations)} stations are too many; choose a longer interval"
            )
        rows = []
        for start, end, lengths, changes, outages in _chosen(self._engine.pairs, until_s):
            least, most = (None, None) if lengths is None else [2e3 * metres / 299_792_458.0 for metres in lengths]
            rows.append((self.stations[start], self.stations[end], least, most, changes, outages / max(samples, 1)))
        columns = {
            "from": pl.String,
            "to": pl.String,
            "least_rtt_ms": pl.Float64,
            "greatest_rtt_ms": pl.Float64,
            "changes": pl.UInt32,
            "out": pl.Float64,
        }
        return pl.DataFrame(rows, schema=columns, orient="row")


def _chosen(ask: Callable[..., T], *arguments: Any) -> T:
    """Calls the engine, and reports the error of a custom router, which may choose the paths."""
    try:
        return ask(*arguments)
    except RuntimeError as failure:
        raise AlgorithmError(printable(str(failure), keep="\n")) from None


def geographic(places: Floats) -> tuple[Floats, Floats, Floats]:
    """Returns latitude, longitude and height of positions, on a sphere of the mean radius."""
    radius = np.linalg.norm(places, axis=1)
    north = np.degrees(np.arcsin(places[:, 2] / radius))
    east = np.degrees(np.arctan2(places[:, 1], places[:, 0]))
    return north, east, radius / 1e3 - 6371.0


def time_of_run(seconds: float) -> float:
    if not (math.isfinite(seconds) and 0.0 <= seconds <= 1e8):
        raise InputError(f"{seconds} is not a time of the run; write 0 s or more")
    return float(seconds)


def times_until(until_s: float, step_s: float) -> list[float]:
    if not (math.isfinite(step_s) and step_s > 0.0):
        raise InputError(f"{step_s} is not a valid time step; write seconds above 0")
    count = math.floor(time_of_run(until_s) / step_s) + 1
    if count > MOST_SAMPLES:
        raise InputError(f"{count} samples are more than {MOST_SAMPLES}; choose a longer step")
    return [at * step_s for at in range(count)]
