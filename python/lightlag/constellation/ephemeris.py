"""The places of satellites, who sees them, and the ways between stations, as the engine computes them."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
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
"""The most times at which a way or a track is sampled."""


class Ephemeris:
    """Satellites and ground stations over time, and the ways between stations; :class:`lightlag.constellation.Sky`
    is one.
    """

    def __init__(self, engine: _engine.Sky) -> None:
        self._engine = engine
        self.start: str = engine.start
        """The time in UTC at which runs start."""
        self.satellites: list[str] = engine.satellites
        """The names of the satellites, by their numbers."""
        self.stations: list[str] = engine.stations
        """The names of the stations."""
        self.link_count: int = engine.link_count
        """The number of links between satellites, up or not."""

    def about(self) -> str:
        """Satellites and links between them, with the planes that were found in a file of elements."""
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
        """The name of a node: satellites have the first numbers, stations those behind."""
        count = len(self.satellites)
        return self.satellites[node] if node < count else self.stations[node - count]

    def positions(self, time_s: float) -> Floats:
        """The positions of all satellites, a row each: metres in the frame that turns with the Earth (x to 0° E)."""
        return np.asarray(self._engine.positions(time_of_run(time_s)), dtype=np.float64).reshape(-1, 3)

    def places(self, time_s: float = 0.0) -> Floats:
        """Latitude and longitude of the stations in degrees, a row each."""
        return np.asarray(self._engine.places(time_of_run(time_s)), dtype=np.float64).reshape(-1, 3)[:, :2]

    def isls(self, time_s: float) -> list[tuple[int, int]]:
        """The links between satellites that are up, by the numbers of their ends."""
        return [(a, b) for a, b in self._engine.isls(time_of_run(time_s))]

    def looks(self, station: str, time_s: float) -> pl.DataFrame:
        """The satellites that a station may use at a time: azimuth and elevation in degrees, range in km."""
        found = self._engine.looks(self._station(station), time_of_run(time_s))
        rows = [(self.satellites[at], azimuth, elevation, metres / 1e3) for at, azimuth, elevation, metres in found]
        columns = {"satellite": pl.String, "azimuth": pl.Float64, "elevation": pl.Float64, "range_km": pl.Float64}
        return pl.DataFrame(rows, schema=columns, orient="row").sort("elevation", descending=True)

    def passes(self, station: str, until_s: float) -> pl.DataFrame:
        """The passes over a station: a row for each, with rise and set in seconds and the highest elevation."""
        found = self._engine.passes(self._station(station), time_of_run(until_s))
        rows = [(self.satellites[at], rise, end, end - rise, height) for at, rise, end, height in found]
        columns = ("satellite", "rise_s", "set_s", "duration_s", "highest_deg")
        types = dict(zip(columns, (pl.String, *[pl.Float64] * 4), strict=True))
        return pl.DataFrame(rows, schema=types, orient="row")

    def track(self, satellite: str, until_s: float, step_s: float = 10.0) -> pl.DataFrame:
        """The ground track of a satellite: latitude and longitude in degrees, height in km above a sphere."""
        at = self._satellite(satellite)
        times = times_until(until_s, step_s)
        places = np.asarray([self.positions(time)[at] for time in times])
        north, east, height = geographic(places)
        return pl.DataFrame({"time_s": times, "latitude": north, "longitude": east, "height_km": height})

    def courses(self, start: str, end: str, until_s: float) -> list[tuple[float, list[int]]]:
        """The ways between two stations: since when, and the numbers of the nodes; none while there is no way."""
        return _chosen(self._engine.courses, self._station(start), self._station(end), time_of_run(until_s))

    def way(self, start: str, end: str, until_s: float, step_s: float = 1.0) -> pl.DataFrame:
        """The way between two stations over time.

        A row for each sample: the round trip of light in ms, null while there is no way; the number of links, the
        satellites that the stations use, and the number of the way, which grows by one whenever it changes.
        """
        courses = self.courses(start, end, until_s)
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
                "way": numbers,
            }
        )

    def pairs(self, until_s: float) -> pl.DataFrame:
        """All pairs of stations over time, sampled every ``interval`` of the scenario, up to but without ``until_s``.

        A row for each pair: the least and the greatest round trip of light in ms, null if there never was a way; how
        often the way changed from one sample to the next, to lose it and to find it included; and the share of the
        samples without a way.
        """
        samples = math.ceil(time_of_run(until_s) / self._engine.interval)
        if samples * len(self.stations) ** 2 > MOST_SAMPLES * 100:
            raise InputError(f"{samples} samples of {len(self.stations)} stations are too many; take a longer interval")
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
    """The answer of the engine, where a router of one's own may choose the ways and fail."""
    try:
        return ask(*arguments)
    except RuntimeError as failure:
        raise AlgorithmError(printable(str(failure), keep="\n")) from None


def geographic(places: Floats) -> tuple[Floats, Floats, Floats]:
    """Latitude, longitude and height of positions, on a sphere of the mean radius."""
    radius = np.linalg.norm(places, axis=1)
    north = np.degrees(np.arcsin(places[:, 2] / radius))
    east = np.degrees(np.arctan2(places[:, 1], places[:, 0]))
    return north, east, radius / 1e3 - 6371.0


def time_of_run(seconds: float) -> float:
    if not (math.isfinite(seconds) and 0.0 <= seconds <= 1e8):
        raise InputError(f"{seconds} is not a time of the run; write seconds from 0 on")
    return float(seconds)


def times_until(until_s: float, step_s: float) -> list[float]:
    if not (math.isfinite(step_s) and step_s > 0.0):
        raise InputError(f"{step_s} is not a step in time; write seconds above 0")
    count = math.floor(time_of_run(until_s) / step_s) + 1
    if count > MOST_SAMPLES:
        raise InputError(f"{count} samples are more than {MOST_SAMPLES}; take a longer step")
    return [at * step_s for at in range(count)]
