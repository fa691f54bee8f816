"""Directions and distances between stations and geostationary satellites."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lightlag.errors import InputError

EARTH_RADIUS_KM = 6378.137
"""Equatorial radius of WGS 84. The Earth is a sphere here: slant ranges are exact to 10 km."""

ORBIT_RADIUS_KM = 42164.17
"""Radius of the geostationary orbit."""


@dataclass(frozen=True)
class Look:
    """The direction and the distance from a station to a satellite."""

    elevation: float
    """Degrees above the horizon, without refraction."""
    azimuth: float
    """Degrees from north, clockwise."""
    slant_range_km: float
    """Distance."""


def look(latitude: float, longitude: float, satellite: float) -> Look:
    """Returns the look angles to a geostationary satellite.

    Parameters
    ----------
    latitude, longitude
        The station, in degrees north and east.
    satellite
        Longitude of the satellite in degrees east.

    Raises
    ------
    InputError
        The coordinates are invalid, or the satellite is below the horizon.

    Examples
    --------
    >>> at_equator = look(0, 10, 10)
    >>> round(at_equator.slant_range_km), round(at_equator.elevation)
    (35786, 90)
    """
    for name, value, most in (("latitude", latitude, 90.0), ("longitude", longitude, 180.0)):
        if not -most <= value <= most:
            raise InputError(f"{name}: {value:g} deg is outside ITU's maps, from {-most:g} deg to {most:g} deg")
    away = math.radians((satellite - longitude + 180) % 360 - 180)
    north = math.radians(latitude)
    cosine = math.cos(north) * math.cos(away)
    # The angle at the Earth's centre, from the sine as well: near 0 the cosine alone is not precise.
    sine = math.hypot(math.cos(north) * math.sin(away), math.sin(north))
    ratio = EARTH_RADIUS_KM / ORBIT_RADIUS_KM
    elevation = math.degrees(math.atan2(cosine - ratio, sine))
    if elevation < 0:
        raise InputError(
            f"satellite.longitude: a satellite at {satellite:g} deg is {-elevation:.1f} deg below the horizon of a "
            f"station at {latitude:g} deg north, {longitude:g} deg east; choose one closer to its longitude"
        )
    azimuth = math.degrees(math.atan2(math.sin(away), -math.sin(north) * math.cos(away))) % 360
    distance = math.sqrt(EARTH_RADIUS_KM**2 + ORBIT_RADIUS_KM**2 - 2 * EARTH_RADIUS_KM * ORBIT_RADIUS_KM * cosine)
    return Look(elevation, azimuth, distance)
