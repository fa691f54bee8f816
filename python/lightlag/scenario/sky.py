"""Constellations, and ground stations that use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lightlag.scenario.values import Fade, Jitter, Loss, Model, Queue, Rate, SkyRouting, Time


@dataclass(frozen=True, kw_only=True)
class Shell:
    """A Walker shell: circular orbits of one height and inclination, evenly spread."""

    name: str | None = None
    """Prefix of the names of its satellites, which are name-plane-slot. Default: ``"sat"``."""
    height: str
    """Height above the equator. Example: ``"550 km"``."""
    inclination: str
    """Inclination of the orbits to the equator. Example: ``"25 deg"``."""
    planes: int
    """Number of orbital planes. From 1 to 60,000."""
    slots: int
    """Number of satellites in each plane. From 1 to 60,000."""
    revolutions: float | None = None
    """Revolutions per day, instead of the value derived from the height."""
    phasing: int | Literal["alternating"] | None = None
    """F of the Walker notation; ``"alternating"`` puts odd planes half a slot ahead. Default: 0."""
    spread: str | None = None
    """Range of the ascending nodes of the planes: ``"360 deg"`` for a delta pattern, which is the default,
    ``"180 deg"`` for a star."""
    propagator: Literal["sgp4", "circular"] | None = None
    """SGP4 without drag (sgp4), or a circle whose plane drifts with J2 (circular). Default: ``"sgp4"``."""
    may_collide: bool | None = None
    """Whether satellites may come within a kilometre of each other, as in published simulations. Default: False."""


@dataclass(frozen=True, kw_only=True)
class SatelliteLink:
    """A transmitter of a satellite, or of a station to satellites."""

    rate: Rate | None = None
    """Bit rate."""
    rates: tuple[tuple[str, Rate], ...] | None = None
    """Minimum elevations and their rates, instead of a single rate,
    ``[["25 deg", "20 Mbit/s"], ["60 deg", "50 Mbit/s"]]``; not between satellites."""
    delay: Time | None = None
    """Delay in addition to the propagation delay: for a scheduler, or processing in the satellite."""
    jitter: Jitter | None = None
    """Jitter: ``"5 ms"`` above and below the delay, or a distribution."""
    fade: Fade | None = None
    """Rain that drives the rate; only for the uplink."""
    queue: Queue | None = None
    """Queue of the transmitter."""
    loss: Loss | None = None
    """Packet loss other than queue overflow."""
    shared: bool | None = None
    """Whether all stations share the transmitter of a satellite; only for the downlink. Default: True."""


@dataclass(frozen=True, kw_only=True)
class Handover:
    """Effects of a handover of a ground station from one satellite to another."""

    waiting: Literal["requeue", "keep", "drop"] | None = None
    """Treatment of packets that wait for the station at the old satellite. Default: ``"requeue"``."""
    lose_in_flight: bool | None = None
    """Whether packets in flight between the station and the old satellite are lost. Default: False."""
    pause: Time | None = None
    """Duration after the handover in which no packets are sent to or from the station. Default: ``"0 s"``."""
    burst: Time | None = None
    """Duration after the handover in which all packets to or from the station are lost. Default: ``"0 s"``."""
    probability: float | None = None
    """Probability that a handover has these effects. Default: 1."""


@dataclass(frozen=True, kw_only=True)
class Constellation:
    """Satellites, their links to each other and to the ground, and the rules by which stations use them."""

    start: str | None = None
    """UTC at the start of the run. Example: ``"2026-01-01T00:00:00Z"``."""
    shells: tuple[Shell, ...] | None = None
    """Walker shells of satellites."""
    file: str | None = None
    """A file of orbital elements, in addition to shells or instead of them: two-line sets, or OMM as JSON, CSV,
    keywords (KVN) or XML."""
    isls: Literal["grid", "none"] | tuple[tuple[str, str], ...] | None = None
    """Links between satellites: two within the plane and two to the adjacent planes (the planes and slots of a file are
    derived from its orbits), none, or links between the given pairs of names. Default: ``"grid"``."""
    polar_limit: str | None = None
    """Maximum latitude of links between planes. Example: ``"25 deg"``."""
    elevation: str | None = None
    """Minimum elevation of a usable satellite above the horizon; by default 25 deg."""
    visibility: Literal["elevation", "slant"] | Mapping[str, str] | None = None
    """Satellites that a station can use: satellites above the minimum elevation (elevation), satellites closer than the
    slant range at this elevation over a flat Earth, as in Hypatia (slant), or satellites closer than a given distance,
    ``{"slant": "1260 km"}``. Default: ``"elevation"``."""
    isl: SatelliteLink | None = None
    """Transmitters between satellites."""
    uplink: SatelliteLink | None = None
    """Transmitter of each station."""
    downlink: SatelliteLink | None = None
    """Transmitter of each satellite to the ground."""
    selection: Model | None = None
    """Satellites that a station uses: ``"shortest"``, the default, or a rule with its parameters,
    ``{"rule": "highest", "every": "15 s"}``."""
    routing: SkyRouting | None = None
    """Custom router that chooses the paths; by default packets take the shortest path."""
    handover: Handover | Mapping[str, Any] | None = None
    """Effects of a handover of a ground station from one satellite to another."""
    shortest: Literal["delay", "hops"] | None = None
    """Metric of the shortest path: its delay, or its number of links. Default: ``"delay"``."""
    interfaces: int | None = None
    """Maximum number of satellites that a station uses simultaneously, where it selects some. From 1 to 64.
    Default: 1."""
    interval: Time | None = None
    """Time between two computations of the geometry. Default: ``"100 ms"``."""
    exact: bool | None = None
    """Whether a change of a path is found to the millisecond, instead of at the next computation. Default: True."""
    load_penalty: Time | None = None
    """Time that is added to the delay of a link between satellites that was busy since the last computation, in
    proportion to its busy time. With zero the load has no effect. Default: ``"0 s"``."""


@dataclass(frozen=True, kw_only=True)
class StationWaypoint:
    """A position of a ship or an aircraft."""

    at: Time
    """Time at this position, since the start of the run when the station passes this waypoint."""
    city: str | None = None
    """City, whose coordinates are used."""
    latitude: str | None = None
    """Latitude, positive to the north. Example: ``"25 deg"``."""
    longitude: str | None = None
    """Longitude, positive to the east. Example: ``"25 deg"``."""
    height: str | None = None
    """Height above the ellipsoid of WGS 84. Example: ``"400 m"``."""


@dataclass(frozen=True, kw_only=True)
class Station:
    """A ground station. Without coordinates, it is in the city of its name."""

    name: str
    """Name of the node."""
    city: str | None = None
    """City, whose coordinates are used."""
    latitude: str | None = None
    """Latitude, positive to the north. Example: ``"25 deg"``."""
    longitude: str | None = None
    """Longitude, positive to the east. Example: ``"25 deg"``."""
    height: str | None = None
    """Height above the ellipsoid of WGS 84. Example: ``"400 m"``."""
    waypoints: tuple[StationWaypoint, ...] | None = None
    """Positions of a ship or an aircraft in ascending order of time, joined by great circles; instead of one
    position."""
    elevation: str | None = None
    """Minimum elevation of a usable satellite above the horizon. Example: ``"25 deg"``."""
    relay: bool | None = None
    """Whether the station relays packets between satellites, as a gateway of bent pipes. It uses all visible
    satellites. Default: False."""
    uplink: SatelliteLink | None = None
    """Transmitter of the station, if it differs from the constellation's."""
