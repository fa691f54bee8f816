"""Position, velocity and acceleration of satellites and stations in the Earth-fixed frame, at any time of a run.

The engine computes positions. A polynomial of degree 6 through 7 of them, 10 s apart, gives the position between them
and its derivatives. For an orbit with the angular rate ω and the radius r the error of the position is below
ω⁷ r h⁷ / 7 with h = 10 s: 1e-7 m in low orbits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lightlag.constellation.ephemeris import Ephemeris, Floats, time_of_run

__all__ = ["LIGHT", "Distance", "Motion", "State", "distance", "geocentric"]

LIGHT = 299_792_458.0
"""Speed of light in m/s."""

EQUATOR, FLATTENING = 6_378_137.0, 1 / 298.257_223_563
"""WGS 84: equatorial radius in metres, and flattening."""

SPACING = 10.0
"""Seconds between two positions of a polynomial."""
NODES = 7
"""Number of positions of a polynomial."""
NEARBY = 0.5
"""Half of the interval in seconds over which the velocity of a moving station is measured."""


@dataclass(frozen=True)
class State:
    """Position in m, velocity in m/s and acceleration in m/s², each with one row per time."""

    position: Floats
    velocity: Floats
    acceleration: Floats


@dataclass(frozen=True)
class Distance:
    """Distance of two nodes in m, its rate in m/s, and the rate of the rate in m/s²; one value per time."""

    metres: Floats
    rate: Floats
    acceleration: Floats


class Motion:
    """Motion of some satellites and of all stations of a constellation.

    Parameters
    ----------
    ephemeris
        The constellation.
    nodes
        Indices of the satellites; indices of stations are ignored.
    until_s
        Last time that will be requested, in seconds since the start.

    Examples
    --------
    >>> import lightlag as ll, numpy as np
    >>> sky = ll.sky("starlink-550")
    >>> state = Motion(sky, [0], 10.0).of(0, np.array([5.0]))
    >>> bool(np.allclose(state.position[0], sky.positions(5.0)[0], atol=1e-5))
    True
    """

    def __init__(self, ephemeris: Ephemeris, nodes: Iterable[int], until_s: float) -> None:
        self._ephemeris = ephemeris
        count = len(ephemeris.satellites)
        self._rows = {node: row for row, node in enumerate(sorted({node for node in nodes if node < count}))}
        knots = int(time_of_run(until_s) // SPACING) + NODES + 1
        chosen = list(self._rows)
        self._knots = np.empty((knots, len(chosen), 3))
        sites = np.empty((knots, len(ephemeris.stations), 3))
        for knot in range(knots):
            time = min(knot * SPACING, 1e8)
            self._knots[knot] = ephemeris.positions(time)[chosen]
            sites[knot] = ephemeris.sites(time)
        self._moves = [bool(np.any(sites[:, station] != sites[0, station])) for station in range(sites.shape[1])]
        powers = np.arange(NODES)
        middle = np.arange(NODES) - NODES // 2
        self._coefficients = np.linalg.inv(middle[:, None].astype(np.float64) ** powers)

    def of(self, node: int, times: Floats) -> State:
        """Returns the state of a satellite or a station, by its index among all nodes, at each time."""
        count = len(self._ephemeris.satellites)
        return self._station(node - count, times) if node >= count else self._satellite(node, times)

    def _satellite(self, node: int, times: Floats) -> State:
        row = self._rows[node]
        first = np.clip(np.floor(times / SPACING).astype(np.int64) - NODES // 2, 0, len(self._knots) - NODES)
        values = self._knots[first[:, None] + np.arange(NODES), row]
        polynomial = np.einsum("pk,tkc->tpc", self._coefficients, values)
        x = times / SPACING - first - NODES // 2
        state = []
        for order in range(3):
            powers = np.arange(NODES - order)
            state.append(np.einsum("tp,tpc->tc", x[:, None] ** powers, polynomial) / SPACING**order)
            polynomial = polynomial[:, 1:] * np.arange(1, NODES - order)[:, None]
        return State(*state)

    def _station(self, station: int, times: Floats) -> State:
        def position(time: float) -> Floats:
            return np.asarray(geocentric(self._ephemeris.sites(max(time, 0.0)))[station])

        if not self._moves[station]:
            fixed = np.tile(position(0.0), (len(times), 1))
            return State(fixed, np.zeros_like(fixed), np.zeros_like(fixed))
        here = np.array([position(time) for time in times])
        after = np.array([position(time + NEARBY) for time in times])
        before = np.array([position(time - NEARBY) for time in times])
        spans = times + NEARBY - np.maximum(times - NEARBY, 0.0)
        return State(here, (after - before) / spans[:, None], np.zeros_like(here))

    def look(self, station: int, satellite: int, times: Floats) -> tuple[Floats, Floats]:
        """Returns elevation and azimuth of a satellite at a station in degrees; both by their index among all nodes."""
        sites = self._sites(station, times)
        to = self.of(satellite, times).position - self.of(station, times).position
        upwards, east = up(sites), eastwards(sites)
        height = np.einsum("tc,tc->t", to, upwards) / np.linalg.norm(to, axis=1)
        to_east = np.einsum("tc,tc->t", to, east)
        to_north = np.einsum("tc,tc->t", to, np.cross(upwards, east))
        return np.degrees(np.arcsin(np.clip(height, -1.0, 1.0))), np.degrees(np.arctan2(to_east, to_north)) % 360.0

    def _sites(self, node: int, times: Floats) -> Floats:
        station = node - len(self._ephemeris.satellites)
        if not self._moves[station]:
            return np.tile(self._ephemeris.sites(0.0)[station], (len(times), 1))
        return np.array([self._ephemeris.sites(time)[station] for time in times])


def distance(a: State, b: State) -> Distance:
    """Returns the distance of two nodes and its derivatives.

    With d the vector between them: r = |d|, r' = d·d' / r, r'' = (d'·d' + d·d'' - r'²) / r.
    """
    d, v, w = b.position - a.position, b.velocity - a.velocity, b.acceleration - a.acceleration
    metres = np.linalg.norm(d, axis=1)
    rate = np.einsum("tc,tc->t", d, v) / metres
    acceleration = (np.einsum("tc,tc->t", v, v) + np.einsum("tc,tc->t", d, w) - rate**2) / metres
    return Distance(metres, rate, acceleration)


def geocentric(sites: Floats) -> Floats:
    """Returns the Earth-fixed positions in metres of sites: latitude and longitude in degrees, and height in metres."""
    latitude, longitude, height = np.radians(sites[:, 0]), np.radians(sites[:, 1]), sites[:, 2]
    squared = FLATTENING * (2.0 - FLATTENING)
    normal = EQUATOR / np.sqrt(1.0 - squared * np.sin(latitude) ** 2)
    across = (normal + height) * np.cos(latitude)
    high = (normal * (1.0 - squared) + height) * np.sin(latitude)
    return np.stack([across * np.cos(longitude), across * np.sin(longitude), high], axis=1)


def up(sites: Floats) -> Floats:
    """Returns the unit vectors that point vertically upwards from the ellipsoid."""
    latitude, longitude = np.radians(sites[:, 0]), np.radians(sites[:, 1])
    flat = np.cos(latitude)
    return np.stack([flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)], axis=1)


def eastwards(sites: Floats) -> Floats:
    """Returns the unit vectors that point to the east."""
    longitude = np.radians(sites[:, 1])
    return np.stack([-np.sin(longitude), np.cos(longitude), np.zeros_like(longitude)], axis=1)
