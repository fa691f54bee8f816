"""Link budgets: C/N0 and Es/N0 of an uplink, a downlink, and both combined."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeAlias

from lightlag._engine import modcods as _modcods
from lightlag.errors import InputError
from lightlag.satellite import propagation
from lightlag.satellite.geometry import Look, look
from lightlag.satellite.propagation import PERCENTAGES, Path

BOLTZMANN_DB = 10 * math.log10(1.380649e-23)
"""Boltzmann's constant in dBW/(K Hz)."""

LIGHT_M_S = 299_792_458.0
"""Speed of light."""

RAIN_TEMPERATURE_K = 275.0
"""Mean radiating temperature of the atmosphere (P.618 §3)."""

TILTS = {"horizontal": 0.0, "vertical": 90.0, "circular": 45.0}
"""Polarisation tilt in degrees."""

CURVE = (0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0)
"""Percentages of the curve of exceeded attenuations, which is interpolated between them."""

Side: TypeAlias = Literal["uplink", "downlink"]
"""A hop of a link."""


def free_space_loss(slant_range_km: float, frequency_ghz: float) -> float:
    """Returns the free-space basic transmission loss in dB (ITU-R P.525).

    Examples
    --------
    >>> round(free_space_loss(35786, 12), 1)
    205.1
    """
    return 20 * math.log10(4 * math.pi * slant_range_km * frequency_ghz * 1e12 / LIGHT_M_S)


def carrier_to_noise_density(eirp: float, losses: float, g_over_t: float) -> float:
    """Returns C/N0 in dB Hz: ``eirp`` in dBW, all ``losses`` in dB, ``g_over_t`` in dB/K."""
    return eirp - losses + g_over_t - BOLTZMANN_DB


def combined(ratios: list[float]) -> float:
    """Returns the ratio in dB of a carrier to the sum of the noises of these ratios in dB."""
    return -10 * math.log10(math.fsum(10 ** (-ratio / 10) for ratio in ratios))


def _exceeded(curve: list[tuple[float, float]], attenuation: float) -> float | None:
    """Returns the percentage for which an attenuation is exceeded, by interpolation of logarithms."""
    if attenuation < curve[-1][1]:
        return None
    if attenuation >= curve[0][1]:
        return curve[0][0]
    for (p, upper), (next_p, lower) in pairwise(curve):
        if lower <= attenuation:
            part = math.log(upper / attenuation) / math.log(upper / lower) if lower > 0 else 1.0
            return math.exp(math.log(p) + part * math.log(next_p / p))
    return curve[-1][0]


@dataclass(frozen=True, kw_only=True)
class Hop:
    """An uplink or a downlink between a station and the satellite."""

    latitude: float
    """Degrees north."""
    longitude: float
    """Degrees east."""
    altitude_km: float | None = None
    """Height above sea level; by default from the map of P.1511."""
    frequency_ghz: float
    """Carrier frequency."""
    eirp: float
    """EIRP of the carrier in dBW, at its operating point."""
    g_over_t: float
    """G/T of the receiver in clear sky, in dB/K."""
    losses: float = 0.0
    """Losses in dB other than propagation: pointing, polarisation, feeders that EIRP and G/T do not contain."""
    polarization: Literal["horizontal", "vertical", "circular"] = "circular"
    """Polarisation."""
    diameter_m: float = 1.2
    """Antenna diameter of the station, for scintillation."""
    efficiency: float = 0.65
    """Aperture efficiency of this antenna."""
    noise_temperature_k: float | None = None
    """System noise temperature of the receiver in clear sky. If it is known, rain on a downlink raises the noise."""
    interference: float | None = None
    """C/I in dB of all interference and intermodulation, in the bandwidth of the symbol rate; none by default."""


@dataclass(frozen=True)
class HopResult:
    """A hop with its attenuation."""

    clear_sky: float
    """Attenuation by gases in dB."""
    excess: float
    """Further attenuation in dB."""
    noise_rise: float
    """Increase of the noise in dB."""
    carrier_to_noise_density: float
    """C/N0 in dB Hz, with interference."""


@dataclass(frozen=True)
class Margin:
    """A MODCOD with its margins."""

    name: str
    bits_per_symbol: float
    threshold: float
    """Required Es/N0 in dB, with the implementation margin."""
    rate_bps: float
    clear_sky: float
    """Margin in dB."""
    faded: dict[Side, float]
    """Margin in dB if one hop is faded for the unavailable time of the budget."""
    availability: float | None
    """Percentage of the year in which its threshold is met; ``None`` if a hop stops it for more than 5 %."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The budget of a link over a geostationary satellite with a transparent payload.

    A link with one hop describes a regenerative payload, or a station next to it. The satellite's EIRP does not follow
    the uplink's attenuation: the transponder controls its level, or the uplink its power.
    """

    satellite: float
    """Longitude of the satellite in degrees east."""
    symbol_rate: float
    """Symbols per second."""
    uplink: Hop | None = None
    downlink: Hop | None = None
    modcods: str = "dvb-s2"
    """Table of MODCODs."""
    pilots: bool = False
    """Whether frames have pilots."""
    implementation_margin: float = 0.0
    """Loss of the modem against the ideal Es/N0, in dB."""
    availability: float = 99.9
    """Percentage of the year."""

    def __post_init__(self) -> None:
        if self.uplink is None and self.downlink is None:
            raise InputError("a budget needs an uplink, a downlink, or both")
        if not self.symbol_rate > 0:
            raise InputError(f"symbol_rate: {self.symbol_rate:g} Bd is not above 0 Bd")
        least, most = (100 - percentage for percentage in reversed(PERCENTAGES))
        if not least <= self.availability <= most:
            raise InputError(
                f"availability: {self.availability:g} % is outside the range of ITU-R P.618, {least:g} % to {most:g} %"
            )

    @property
    def hops(self) -> dict[Side, Hop]:
        """The hops."""
        given: dict[Side, Hop | None] = {"uplink": self.uplink, "downlink": self.downlink}
        return {side: hop for side, hop in given.items() if hop is not None}

    @cached_property
    def looks(self) -> dict[Side, Look]:
        """Directions to the satellite."""
        return {side: look(hop.latitude, hop.longitude, self.satellite) for side, hop in self.hops.items()}

    def path(self, side: Side) -> Path:
        """Returns the path of a hop through the atmosphere."""
        hop = self.hops[side]
        return Path(
            hop.latitude,
            hop.longitude,
            hop.altitude_km,
            self.looks[side].elevation,
            hop.frequency_ghz,
            TILTS[hop.polarization],
            hop.diameter_m,
            hop.efficiency,
        )

    @cached_property
    def gases(self) -> dict[Side, float]:
        """Attenuation by gases in clear sky, in dB."""
        return {side: propagation.clear_sky(self.path(side)) for side in self.hops}

    def free_space(self, side: Side) -> float:
        """Returns the free-space loss of a hop in dB."""
        return free_space_loss(self.looks[side].slant_range_km, self.hops[side].frequency_ghz)

    def hop(self, side: Side, excess: float = 0.0) -> HopResult:
        """Returns a hop with this attenuation in dB in addition to gases."""
        hop, gas = self.hops[side], self.gases[side]
        losses = self.free_space(side) + gas + excess + hop.losses
        rise = 0.0
        if side == "downlink" and hop.noise_temperature_k is not None:
            sky = RAIN_TEMPERATURE_K * (10 ** (-gas / 10) - 10 ** (-(gas + excess) / 10))
            rise = 10 * math.log10(1 + sky / hop.noise_temperature_k)
        density = carrier_to_noise_density(hop.eirp, losses, hop.g_over_t - rise)
        if hop.interference is not None:
            density = combined([density, hop.interference + 10 * math.log10(self.symbol_rate)])
        return HopResult(gas, excess, rise, density)

    def es_n0(self, excess: dict[Side, float] | None = None) -> float:
        """Returns Es/N0 in dB of both hops combined, with these attenuations in addition to gases."""
        excess = excess or {}
        densities = [self.hop(side, excess.get(side, 0.0)).carrier_to_noise_density for side in self.hops]
        return combined(densities) - 10 * math.log10(self.symbol_rate)

    def excess(self, side: Side, percentage: float) -> float:
        """Returns the attenuation in dB, above gases in clear sky, that is exceeded for this percentage."""
        return max(propagation.attenuation(self.path(side), percentage).total - self.gases[side], 0.0)

    @cached_property
    def curves(self) -> dict[Side, list[tuple[float, float]]]:
        """Percentages of the year, ascending, each with the exceeded attenuation in dB above gases."""
        return {side: [(p, self.excess(side, p)) for p in CURVE] for side in self.hops}

    def reserve(self, side: Side, threshold: float) -> float:
        """Returns the attenuation of one hop in dB, from 0 to 100, that leaves Es/N0 at a threshold."""
        low, high = 0.0, 100.0
        while high - low > 1e-4:
            middle = (low + high) / 2
            if self.es_n0({side: middle}) < threshold:
                high = middle
            else:
                low = middle
        return low

    def outage(self, threshold: float) -> float | None:
        """Returns the percentage of the year in which Es/N0 is below a threshold; ``None`` if it is above 5 % on a hop.

        The fades of the two hops count as disjoint; each may cause the outage for its own percentage. Below 0.001 % the
        result is 0.001 % per hop.
        """
        if self.es_n0() < threshold:
            return None
        parts = [_exceeded(curve, self.reserve(side, threshold)) for side, curve in self.curves.items()]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None

    @cached_property
    def margins(self) -> list[Margin]:
        """Every MODCOD of the table with its margins, by increasing threshold."""
        unavailable = 100 - self.availability
        clear = self.es_n0()
        faded = {side: self.es_n0({side: self.excess(side, unavailable)}) for side in self.hops}
        try:
            rows = _modcods(self.modcods, self.pilots)
        except ValueError as error:
            raise InputError(f"modcods: {error}") from None
        found = []
        for name, bits, ideal in sorted(rows, key=lambda row: (row[2], row[1])):
            threshold = ideal + self.implementation_margin
            outage = self.outage(threshold)
            found.append(
                Margin(
                    name,
                    bits,
                    threshold,
                    bits * self.symbol_rate,
                    clear - threshold,
                    {side: value - threshold for side, value in faded.items()},
                    None if outage is None else 100 - outage,
                )
            )
        return found
