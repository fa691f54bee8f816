"""Hypatia's three constellations and its city pairs, with Hypatia's visibility limit and with a true elevation mask."""

from __future__ import annotations

import functools
import importlib.resources
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import lightlag as ll
from lightlag.scenario import Scenario

CITIES = {
    "Rio de Janeiro": (-22.90278, -43.2075),
    "St Petersburg": (59.929858, 30.326228),
    "Manila": (14.6042, 120.9822),
    "Dalian": (38.913811, 121.602322),
    "Istanbul": (41.0138, 28.9497),
    "Nairobi": (-1.28333, 36.81667),
    "Paris": (48.85341, 2.3488),
    "Moscow": (55.754996, 37.621849),
    "Chicago": (41.85003, -87.65005),
    "Zhengzhou": (34.75778, 113.64861),
    "Luanda": (-8.83682, 13.23432),
}
"""Latitude and longitude of each city in degrees."""
PAIRS = (
    ("Rio de Janeiro", "St Petersburg"),
    ("Manila", "Dalian"),
    ("Istanbul", "Nairobi"),
    ("Paris", "Moscow"),
    ("Chicago", "Zhengzhou"),
    ("Paris", "Luanda"),
)
DURATION_S = 200.0
RATE, QUEUE = "10 Mbit/s", "100 packets"
"""Rate and queue of every link in Hypatia's experiments with TCP."""


@dataclass(frozen=True)
class Fleet:
    """One of Hypatia's constellations.

    Attributes
    ----------
    shell
        The shell of satellites; odd planes are half a slot ahead.
    slant
        Elevation that gives Hypatia's maximum slant range, for a flat Earth and the height of the shell.
    mask
        Minimum elevation that Hypatia intends.
    """

    name: str
    shell: ll.Shell
    slant: str
    mask: str

    def constellation(self, *, slant: bool, **more: Any) -> ll.Constellation:
        """Returns the constellation, with Hypatia's visibility limit or with a true elevation mask."""
        return ll.Constellation(
            start="2000-01-01T00:00:00Z",
            shells=(self.shell,),
            elevation=self.slant if slant else self.mask,
            visibility="slant" if slant else "elevation",
            **more,
        )


def _shell(name: str, height: str, inclination: str, revolutions: float, planes: int, slots: int) -> ll.Shell:
    return ll.Shell(
        name=name,
        height=height,
        inclination=inclination,
        revolutions=revolutions,
        planes=planes,
        slots=slots,
        phasing="alternating",
        may_collide=True,
    )


FLEETS = (
    Fleet("Kuiper", _shell("kuiper", "630 km", "51.9 deg", 14.80, 34, 34), "30 deg", "30 deg"),
    # 15.19 revolutions per day correspond to 509 km; Hypatia's limit corresponds to 550 km, 1089.686 km of slant.
    Fleet("Starlink", _shell("starlink", "509 km", "53 deg", 15.19, 72, 22), "27.84789 deg", "25 deg"),
    Fleet("Telesat", _shell("telesat", "1015 km", "98.98 deg", 13.66, 27, 13), "10 deg", "10 deg"),
)


def stations(names: Sequence[str]) -> tuple[ll.Station, ...]:
    """Returns ground stations in these cities."""
    return tuple(
        ll.Station(name=name, latitude=f"{CITIES[name][0]} deg", longitude=f"{CITIES[name][1]} deg") for name in names
    )


@functools.cache
def cities() -> list[tuple[str, float, float]]:
    """Returns the hundred largest cities: name, latitude and longitude."""
    text = importlib.resources.files(__package__).joinpath("cities.json").read_text("utf-8")
    return [(name, north, east) for name, north, east in json.loads(text)["cities"]]


def pairs_of(fleet: Fleet, *, slant: bool) -> Scenario:
    """Returns a scenario with the pairs of cities, and only negligible traffic."""
    names = tuple(dict.fromkeys(name for pair in PAIRS for name in pair))
    return ll.Scenario(
        name=f"hypatia-{fleet.name.lower()}",
        duration=f"{DURATION_S:g} s",
        constellation=fleet.constellation(slant=slant),
        stations=stations(names),
        flows=tuple(ll.Flow(from_=start, to=end, transfer="1 kB") for start, end in PAIRS),
    )


def all_cities(fleet: Fleet, *, slant: bool) -> Scenario:
    """Returns a scenario with a station in each of the hundred cities, sampled once per second."""
    places = cities()
    return ll.Scenario(
        name=f"hypatia-{fleet.name.lower()}-100",
        duration=f"{DURATION_S:g} s",
        constellation=fleet.constellation(slant=slant, interval="1 s"),
        stations=tuple(
            ll.Station(name=f"{number} {name}", latitude=f"{north} deg", longitude=f"{east} deg")
            for number, (name, north, east) in enumerate(places)
        ),
        flows=(ll.Flow(from_=f"0 {places[0][0]}", to=f"1 {places[1][0]}", transfer="1 kB"),),
    )


def one_flow(
    pair: tuple[str, str],
    congestion: Any,
    *,
    profile: str = "ns3",
    tcp: dict[str, Any] | None = None,
    fleet: Fleet = FLEETS[0],
) -> Scenario:
    """Returns a scenario with one endless flow between a pair of cities. As in Hypatia, links have 10 Mbit/s and 100
    packets.
    """
    line = ll.SatelliteLink(rate=RATE, queue=QUEUE)
    return ll.Scenario(
        name="hypatia-flow",
        duration=f"{DURATION_S:g} s",
        constellation=fleet.constellation(
            slant=True, isl=line, uplink=line, downlink=line, exact=False, handover=ll.Handover(waiting="keep")
        ),
        stations=stations(pair),
        flows=(ll.Flow(name="flow", from_=pair[0], to=pair[1]),),
        defaults=ll.Defaults(
            tcp={"profile": profile, "congestion": congestion, "receive_buffer": "16 MiB", **(tcp or {})}
        ),
    )
