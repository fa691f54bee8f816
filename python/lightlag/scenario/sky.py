"""Constellations, and ground stations that use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lightlag.scenario.radio import Model
from lightlag.scenario.values import Fade, Jitter, Loss, Queue, Rate, SkyRouting, Time


@dataclass(frozen=True, kw_only=True)
class Shell:
    """A Walker shell: circular orbits of one height and inclination, evenly spread."""

    name: str | None = None
    """The satellites are ``name-plane-slot``; by default ``sat``."""
    height: str
    """Above the equator, ``"550 km"``."""
    inclination: str
    """Of the orbits to the equator, ``"53 deg"``."""
    planes: int
    slots: int
    """Satellites in each plane."""
    revolutions: float | None = None
    """Revolutions a day, in the place of those that the height gives."""
    phasing: int | Literal["alternating"] | None = None
    """F of the Walker notation, by default 0; ``"alternating"`` puts odd planes half a slot ahead."""
    spread: str | None = None
    """Of the planes' nodes: ``"360 deg"`` for a delta pattern, which is the default, ``"180 deg"`` for a star."""
    propagator: Literal["sgp4", "circular"] | None = None
    """SGP4 without drag, which is the default, or a circle whose plane drifts with J2."""
    may_collide: bool | None = None
    """Whether satellites may come within a kilometre of each other, as in published simulations."""


@dataclass(frozen=True, kw_only=True)
class SkyLine:
    """A transmitter in the sky or to it."""

    rate: Rate | None = None
    rates: tuple[tuple[str, Rate], ...] | None = None
    """Elevations with the rate from there on, ``(("25 deg", "20 Mbit/s"), ("60 deg", "50 Mbit/s"))``; not between
    satellites."""
    delay: Time | None = None
    """Time that a packet takes beside the light: for a scheduler, or in the satellite."""
    jitter: Jitter | None = None
    fade: Fade | None = None
    """Rain that drives the rate; only of the uplink."""
    queue: Queue | None = None
    loss: Loss | None = None
    shared: bool | None = None
    """Whether all stations share the transmitter of a satellite, which is the default; only of the downlink."""


@dataclass(frozen=True, kw_only=True)
class Handover:
    """Effects of a handover of a ground station from one satellite to another."""

    waiting: Literal["requeue", "keep", "drop"] | None = None
    """The fate of packets that wait for the station at the old satellite; by default they go the new way."""
    lose_in_flight: bool | None = None
    """Whether what is between the station and the old satellite is lost."""
    pause: Time | None = None
    """The time for which nothing leaves for the station or from it."""
    burst: Time | None = None
    """The time for which everything is lost that is sent to the station or from it."""
    probability: float | None = None
    """Probability that a handover has the pause, the burst and the losses; by default 1."""


@dataclass(frozen=True, kw_only=True)
class Constellation:
    """Satellites, the links between them and to the ground, and how stations use them."""

    start: str | None = None
    """UTC at the start of the run, ``"2026-01-01T00:00:00Z"``."""
    shells: tuple[Shell, ...] | None = None
    file: str | None = None
    """A file of orbital elements, two-line sets or OMM as JSON, CSV, keywords or XML, beside or instead of shells."""
    isls: Literal["grid", "none"] | tuple[tuple[str, str], ...] | None = None
    """Links between satellites: two in the plane and two to the planes next to it, none, or those of these pairs.
    Planes and slots of a file are found in its orbits."""
    polar_limit: str | None = None
    """Latitude beyond which links between planes are off."""
    elevation: str | None = None
    """Above the horizon, from which on a station uses a satellite; by default 25 deg."""
    visibility: Literal["elevation", "slant"] | Mapping[str, str] | None = None
    """Whether the elevation is a true one, or gives the longest distance on a flat Earth, as in Hypatia; or the
    distance itself, ``{"slant": "1260 km"}``."""
    isl: SkyLine | None = None
    uplink: SkyLine | None = None
    """The transmitter of each station."""
    downlink: SkyLine | None = None
    """The transmitter of each satellite to the ground."""
    selection: Model | None = None
    """The satellites that a station uses: ``"shortest"`` (default), ``{"rule": "highest", "every": "15 s"}``."""
    routing: SkyRouting | None = None
    """The router of one's own that chooses the ways; by default they are the shortest."""
    handover: Handover | Mapping[str, Any] | None = None
    shortest: Literal["delay", "hops"] | None = None
    """The measure of ways."""
    interfaces: int | None = None
    """Satellites that a station uses at once, where it selects some."""
    interval: Time | None = None
    """Time between two looks at the sky; by default 100 ms."""
    exact: bool | None = None
    """Whether a change of a way is found to the millisecond, and not at the next look."""
    load_penalty: Time | None = None
    """The time by which a link between satellites counts as longer that was busy since the last look."""


@dataclass(frozen=True, kw_only=True)
class SkyWaypoint:
    """A place that a ship or an aircraft passes."""

    at: Time
    city: str | None = None
    latitude: str | None = None
    longitude: str | None = None
    height: str | None = None


@dataclass(frozen=True, kw_only=True)
class Station:
    """A station on the ground. Without a place it is the city of its name."""

    name: str
    city: str | None = None
    latitude: str | None = None
    """To the north; negative is south."""
    longitude: str | None = None
    """To the east; negative is west."""
    height: str | None = None
    """Above the ellipsoid of WGS 84."""
    waypoints: tuple[SkyWaypoint, ...] | None = None
    """Places that it passes, in the order of time, with great circles between them; in the place of one."""
    elevation: str | None = None
    """Above the horizon, from which on it uses a satellite."""
    relay: bool | None = None
    """Whether it passes on packets from satellite to satellite: a gateway of bent pipes. It uses all satellites that it
    sees."""
    uplink: SkyLine | None = None
    """Its transmitter, in the place of that of the constellation."""
