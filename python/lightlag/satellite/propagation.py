"""Attenuation in the atmosphere by recommendations of ITU-R, computed by the package ``itur``."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lightlag.errors import InputError

FREQUENCIES_GHZ = (1.0, 55.0)
"""Range of P.618 §2.2.1.1: rain attenuation up to 55 GHz. Below 1 GHz the ionosphere dominates (P.531)."""

MIN_ELEVATION = 5.0
"""Scintillation by P.618 §2.4.1 needs an elevation of at least 5 deg."""

PERCENTAGES = (0.001, 5.0)
"""Percentages of the year for which P.618 §2.2.1.1 predicts rain attenuation."""

RECOMMENDATIONS = {
    "gas": ("itu676", "P.676"),
    "cloud": ("itu840", "P.840"),
    "rain": ("itu618", "P.618"),
    "rain rate": ("itu837", "P.837"),
    "rain height": ("itu839", "P.839"),
    "specific attenuation": ("itu838", "P.838"),
}


@dataclass(frozen=True)
class Path:
    """A path through the atmosphere from a station to a satellite."""

    latitude: float
    """Degrees north."""
    longitude: float
    """Degrees east."""
    altitude_km: float | None
    """Height above sea level; by default from the map of P.1511."""
    elevation: float
    """Degrees above the horizon."""
    frequency_ghz: float
    """Carrier frequency."""
    tilt: float
    """Polarisation tilt in degrees: 0 is horizontal, 90 is vertical, 45 is circular."""
    diameter_m: float
    """Antenna diameter of the station."""
    efficiency: float
    """Aperture efficiency of this antenna."""

    def __post_init__(self) -> None:
        least, most = FREQUENCIES_GHZ
        if not least <= self.frequency_ghz <= most:
            raise InputError(
                f"frequency: {self.frequency_ghz:g} GHz is outside the range of ITU-R P.618, {least:g} GHz to "
                f"{most:g} GHz"
            )
        if self.elevation < MIN_ELEVATION:
            raise InputError(
                f"satellite.longitude: an elevation of {self.elevation:.1f} deg is below {MIN_ELEVATION:g} deg, the "
                "limit of ITU-R P.618 §2.4.1; choose a satellite closer to the station's longitude"
            )


@dataclass(frozen=True)
class Attenuation:
    """Attenuations in dB that are exceeded for some percentage of the year."""

    gas: float
    cloud: float
    scintillation: float
    rain: float
    total: float
    """Gas + √((rain + cloud)² + scintillation²) (P.618 §2.5)."""


def _itur() -> Any:
    try:
        import itur
    except ImportError:
        raise InputError('attenuation by rain and gases needs itur; pip install "lightlag[rain]"') from None
    return itur


def _number(quantity: Any) -> float:
    return float(getattr(quantity, "value", quantity))


def recommendation(part: str) -> str:
    """Returns the recommendation of a part of the attenuation, with its version: ``"P.838-3"``."""
    module, name = RECOMMENDATIONS[part]
    _itur()
    import importlib

    version = importlib.import_module(f"itur.models.{module}").get_version()
    return f"{name}-{version}"


def _altitude(path: Path) -> float:
    if path.altitude_km is not None:
        return path.altitude_km
    return _number(_itur().topographic_altitude(path.latitude, path.longitude))


@lru_cache(maxsize=1024)
def attenuation(path: Path, percentage: float) -> Attenuation:
    """Returns the attenuations that are exceeded for this percentage of the average year.

    Raises
    ------
    InputError
        The percentage is outside 0.001 to 5, or ``itur`` is not installed.
    """
    least, most = PERCENTAGES
    if not least <= percentage <= most:
        raise InputError(f"{percentage:g} % is outside the range of ITU-R P.618, {least:g} % to {most:g} % of the year")
    itur = _itur()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = itur.atmospheric_attenuation_slant_path(
            path.latitude,
            path.longitude,
            path.frequency_ghz,
            path.elevation,
            percentage,
            path.diameter_m,
            hs=_altitude(path),
            eta=path.efficiency,
            tau=path.tilt,
            return_contributions=True,
        )
    gas, cloud, rain, scintillation, total = (_number(part) for part in parts)
    return Attenuation(gas, cloud, scintillation, rain, total)


@lru_cache(maxsize=256)
def clear_sky(path: Path) -> float:
    """Returns the attenuation in dB by gases that is exceeded for half of the year."""
    itur = _itur()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = itur.atmospheric_attenuation_slant_path(
            path.latitude,
            path.longitude,
            path.frequency_ghz,
            path.elevation,
            50,
            path.diameter_m,
            hs=_altitude(path),
            return_contributions=True,
            include_rain=False,
            include_clouds=False,
            include_scintillation=False,
        )
    return _number(parts[0])


@lru_cache(maxsize=256)
def rain_probability(latitude: float, longitude: float) -> float:
    """Returns the percentage of the year in which it rains at a place (P.837)."""
    _itur()
    from itur.models import itu837

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _number(itu837.rainfall_probability(latitude, longitude))
