"""Profile of the service link of a station for testbeds of 3GPP non-terrestrial networks: delay, Doppler, SIB19.

The serving satellite is the first one on the path from the station to the gateway. Doppler is -f r' / c, with r' the
rate of the distance between station and satellite.
"""

from __future__ import annotations

import bisect
import csv
import io
import itertools
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from lightlag.constellation.ephemeris import Ephemeris, Floats
from lightlag.constellation.motion import LIGHT, Distance, Motion, distance
from lightlag.errors import InputError
from lightlag.exports import sib19

__all__ = ["REFERENCES", "Profile", "profile"]

REFERENCES = ("gateway", "satellite")
"""Positions of the reference point of uplink timing."""

CARRIERS = (1e6, 1e12)
"""Lowest and highest carrier frequency in Hz."""


@dataclass(frozen=True)
class Profile:
    """Service link of a station over time.

    Attributes
    ----------
    rows
        One entry per time. All values but the time are None while the station has no path to the gateway.
    about
        Scenario, station, gateway and settings.
    """

    rows: list[dict[str, Any]]
    about: dict[str, Any]

    def csv(self) -> str:
        """Returns the rows as CSV."""
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({**dict.fromkeys(COLUMNS, ""), **_shown(row)} for row in self.rows)
        return text.getvalue()

    def json(self) -> str:
        """Returns the profile as JSON, with the fields of SIB19 as an object ``ntn-Config``."""
        rows = [_nested(_shown(row)) for row in self.rows]
        head = json.dumps(self.about, indent=2, ensure_ascii=False).removesuffix("\n}")
        body = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in rows)
        return f'{head},\n  "rows": [\n{body}\n  ]\n}}\n'


LINK = {
    "elevation_deg": 6,
    "azimuth_deg": 6,
    "range_m": 3,
    "delay_ms": 9,
    "doppler_hz": 3,
    "doppler_rate_hz_s": 4,
    "feeder_delay_ms": 9,
}
"""Columns of the links, with their decimals."""

CONFIG = (
    "epochTime.sfn",
    "epochTime.subFrameNR",
    *sib19.FIELDS,
    "ntn-UlSyncValidityDuration",
    "cellSpecificKoffset",
    "kmac",
)
"""Columns with fields of SIB19."""

COLUMNS = ("time_s", "satellite", *LINK, *CONFIG)


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a row with its numbers rounded."""
    decimals = {"time_s": 6, **LINK}
    return {key: round(value, decimals[key]) if key in decimals else value for key, value in row.items()}


def _nested(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a row whose fields of SIB19 are nested as in TS 38.331."""
    if "satellite" not in row:
        return {"time_s": row["time_s"], "satellite": None}
    vector = [name for name in sib19.FIELDS if name.startswith(("position", "velocity"))]
    advance = [name for name in sib19.FIELDS if name.startswith("ta-")]
    config = {
        "epochTime": {name: row[f"epochTime.{name}"] for name in ("sfn", "subFrameNR")},
        "ntn-UlSyncValidityDuration": f"s{row['ntn-UlSyncValidityDuration']}",
        "cellSpecificKoffset": row["cellSpecificKoffset"],
        **({"kmac": row["kmac"]} if "kmac" in row else {}),
        "ta-Info": {name: row[name] for name in advance},
        "ephemerisInfo": {"positionVelocity": {name: row[name] for name in vector}},
    }
    return {key: row[key] for key in ("time_s", "satellite", *LINK)} | {"ntn-Config": config}


def profile(
    ephemeris: Ephemeris,
    station: str,
    gateway: str,
    times: Floats,
    *,
    carrier_hz: float,
    validity_s: int = 5,
    reference: str = "gateway",
) -> Profile:
    """Returns the service link of a station at each time, in ascending order.

    Parameters
    ----------
    ephemeris
        The constellation.
    station, gateway
        Station with the terminal, and station that the satellite reaches, directly or over other satellites.
    carrier_hz
        Carrier frequency of the service link.
    validity_s
        Time for which a terminal may use the fields of a row, one of :data:`lightlag.exports.sib19.VALIDITIES`.
    reference
        Reference point of uplink timing. At the gateway, the common timing advance covers the path between satellite
        and gateway. At the satellite it is 0, and ``kmac`` covers this path.

    Raises
    ------
    InputError
        If a value is not valid, if there never is a path, or if a field cannot hold a value.
    """
    _check(carrier_hz, validity_s, reference)
    until = float(times[-1])
    courses = ephemeris.path_changes(station, gateway, until)
    motion = Motion(ephemeris, {node for _, nodes in courses for node in nodes}, until)
    starts = [since for since, _ in courses]
    course_of = np.array([bisect.bisect_right(starts, time) - 1 for time in times])
    rows: list[dict[str, Any]] = [{"time_s": float(time)} for time in times]
    for number, (_, nodes) in enumerate(courses):
        indices = np.flatnonzero(course_of == number)
        if nodes and len(indices):
            filled = _rows(ephemeris, motion, nodes, times[indices], carrier_hz, validity_s, reference)
            for index, row in zip(indices, filled, strict=True):
                rows[index] |= row
    if not any("satellite" in row for row in rows):
        raise InputError(
            f"there is no path from {station} to {gateway} within {until:g} s; lightlag orbit --pair shows when there "
            "is one"
        )
    about = {
        "station": station,
        "gateway": gateway,
        "start": ephemeris.start,
        "carrier_hz": carrier_hz,
        "reference": reference,
        "steps": {name: f"{field.step:g} {field.unit}" for name, field in sib19.FIELDS.items()},
    }
    return Profile(rows, about)


def _check(carrier_hz: float, validity_s: int, reference: str) -> None:
    if not CARRIERS[0] <= carrier_hz <= CARRIERS[1]:
        raise InputError(f'carrier: {carrier_hz:g} Hz is not between 1 MHz and 1 THz; write it as "2 GHz"')
    if validity_s not in sib19.VALIDITIES:
        known = ", ".join(map(str, sib19.VALIDITIES))
        raise InputError(f"validity: {validity_s} s is not a duration of TS 38.331; write one of {known}")
    if reference not in REFERENCES:
        raise InputError(f"reference: {reference!r} is not a reference point; write {' or '.join(REFERENCES)}")


def _rows(
    ephemeris: Ephemeris,
    motion: Motion,
    nodes: list[int],
    times: Floats,
    carrier_hz: float,
    validity_s: int,
    reference: str,
) -> list[dict[str, Any]]:
    """Returns the values at times when the path has these nodes."""
    states = [motion.of(node, times) for node in nodes]
    hops = [distance(a, b) for a, b in itertools.pairwise(states)]
    service = hops[0]
    feeder = Distance(*(sum(getattr(hop, key) for hop in hops[1:]) for key in ("metres", "rate", "acceleration")))
    elevation, azimuth = motion.look(nodes[0], nodes[1], times)
    satellite = states[1]
    is_advanced = reference == "gateway"
    rows = []
    for at, time in enumerate(times):
        advance = _advance(feeder, at) if is_advanced else (0.0, 0.0, 0.0)
        row: dict[str, Any] = {
            "satellite": ephemeris.name(nodes[1]),
            "elevation_deg": float(elevation[at]),
            "azimuth_deg": float(azimuth[at]),
            "range_m": float(service.metres[at]),
            "delay_ms": float(service.metres[at] / LIGHT * 1e3),
            "doppler_hz": float(-service.rate[at] / LIGHT * carrier_hz),
            "doppler_rate_hz_s": float(-service.acceleration[at] / LIGHT * carrier_hz),
            "feeder_delay_ms": float(feeder.metres[at] / LIGHT * 1e3),
        }
        row["epochTime.sfn"], row["epochTime.subFrameNR"] = sib19.epoch(float(time))
        values = [*satellite.position[at], *satellite.velocity[at], *(1e6 * value for value in advance)]
        row |= {name: sib19.encoded(name, float(value)) for name, value in zip(sib19.FIELDS, values, strict=True)}
        row["ntn-UlSyncValidityDuration"] = validity_s
        covered = max(_later(_advance(service, at), after) + _later(advance, after) for after in (0.0, validity_s))
        row["cellSpecificKoffset"] = sib19.offset("cellSpecificKoffset", covered, sib19.MAX_OFFSET)
        if not is_advanced:
            later = max(_later(_advance(feeder, at), after) for after in (0.0, validity_s))
            row["kmac"] = sib19.offset("kmac", later, sib19.MAX_KMAC)
        rows.append(row)
    return rows


def _advance(link: Distance, at: int) -> tuple[float, float, float]:
    """Returns the round trip over a distance in s, its drift in s/s, and the coefficient of Δt² in s/s².

    This coefficient is half of the second derivative, and not below 0, which TS 38.331 excludes: between the Earth and
    a satellite above the horizon, distances accelerate upwards.
    """
    curve = max(float(link.acceleration[at]) / LIGHT, 0.0)
    return 2.0 * float(link.metres[at]) / LIGHT, 2.0 * float(link.rate[at]) / LIGHT, curve


def _later(advance: tuple[float, float, float], seconds: float) -> float:
    return advance[0] + advance[1] * seconds + advance[2] * seconds**2
