"""Link budgets from TOML."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from lightlag.errors import InputError
from lightlag.satellite.budget import TILTS, Budget, Hop
from lightlag.text.terminal import meant, printable

EXAMPLE = """\
# A forward link at Ku band: a gateway near Munich, a terminal near London.
availability  = 99.9              # percent of the year

[satellite]
longitude     = "19.2 deg"        # east

[carrier]
symbol_rate   = "30 MBd"
modcods       = "dvb-s2"          # or "dvb-s2 short", "dvb-s2x", "dvb-s2x short", "dvb-s2x vl-snr"
pilots        = false
implementation_margin = "1 dB"

[uplink]
latitude      = "48.1 deg"
longitude     = "11.6 deg"
frequency     = "14.25 GHz"
eirp          = "70 dBW"          # of the station
g_over_t      = "5 dB/K"          # of the satellite
diameter      = "4.5 m"
polarization  = "vertical"

[downlink]
latitude      = "51.5 deg"
longitude     = "-0.14 deg"
frequency     = "11.7 GHz"
eirp          = "50 dBW"          # of the satellite, for this carrier
g_over_t      = "14.5 dB/K"       # of the station in clear sky
noise_temperature = "120 K"       # its system noise: rain raises it
diameter      = "0.75 m"
polarization  = "horizontal"
interference  = "22 dB"           # C/I
"""
"""A budget to start from."""

UNITS: dict[str, dict[str, float]] = {
    "angle": {"deg": 1.0},
    "frequency": {"GHz": 1.0, "MHz": 1e-3},
    "power": {"dBW": 1.0},
    "merit": {"dB/K": 1.0},
    "ratio": {"dB": 1.0},
    "length": {"m": 1.0, "km": 1e3},
    "temperature": {"K": 1.0},
    "symbols": {"MBd": 1e6, "kBd": 1e3, "GBd": 1e9, "Bd": 1.0},
}
"""Units of each kind of quantity, with factors; examples use the first one."""

HOP = {
    "latitude": ("angle", "48.1 deg"),
    "longitude": ("angle", "11.6 deg"),
    "altitude": ("length", "500 m"),
    "frequency": ("frequency", "14.25 GHz"),
    "eirp": ("power", "50 dBW"),
    "g_over_t": ("merit", "5 dB/K"),
    "losses": ("ratio", "0.5 dB"),
    "diameter": ("length", "1.2 m"),
    "noise_temperature": ("temperature", "120 K"),
    "interference": ("ratio", "22 dB"),
}
"""Quantities of a hop, each with its kind and an example."""

FIELDS = {
    "frequency": "frequency_ghz",
    "altitude": "altitude_km",
    "diameter": "diameter_m",
    "noise_temperature": "noise_temperature_k",
}
"""Names of fields where they differ from the key."""

REQUIRED = ("latitude", "longitude", "frequency", "eirp", "g_over_t")


def _quantity(value: object, place: str, kind: str, example: str) -> float:
    parts = (
        re.fullmatch(r"\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(\S+)\s*", value) if isinstance(value, str) else None
    )
    factor = UNITS[kind].get(parts[2]) if parts else None
    if parts is None or factor is None or not math.isfinite(float(parts[1])):
        raise InputError(f'{place}: {printable(repr(value))} is not a quantity such as "{example}"')
    return float(parts[1]) * factor


def _table(tree: dict[str, Any], key: str, known: tuple[str, ...]) -> dict[str, Any]:
    table = tree.get(key, {})
    if not isinstance(table, dict):
        raise InputError(f"{key}: {printable(repr(table))} is not a table; write [{key}]")
    _known(table, known, f"{key}.")
    return table


def _known(table: dict[str, Any], known: tuple[str, ...], place: str) -> None:
    for key in table:
        if key not in known:
            raise InputError(
                f"{place}{printable(key)}: is not a key here; {meant(key, known)}known are {', '.join(known)}"
            )


def _required(table: dict[str, Any], place: str, key: str, example: str) -> Any:
    if key not in table:
        raise InputError(f'{place}.{key}: is missing; write one such as "{example}"')
    return table[key]


def _number(value: object, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{place}: {printable(repr(value))} is not a number")
    return float(value)


def _hop(tree: dict[str, Any], side: str) -> Hop | None:
    if side not in tree:
        return None
    table = _table(tree, side, (*HOP, "polarization", "efficiency"))
    fields: dict[str, Any] = {}
    for key in REQUIRED:
        _required(table, side, key, HOP[key][1])
    for key, (kind, example) in HOP.items():
        if key in table:
            fields[FIELDS.get(key, key)] = _quantity(table[key], f"{side}.{key}", kind, example)
    if "altitude" in table:
        fields["altitude_km"] /= 1e3
    if "efficiency" in table:
        fields["efficiency"] = _number(table["efficiency"], f"{side}.efficiency")
        if not 0 < fields["efficiency"] <= 1:
            raise InputError(f"{side}.efficiency: {fields['efficiency']:g} is not above 0 and up to 1")
    if "polarization" in table:
        given = table["polarization"]
        if given not in TILTS:
            raise InputError(f"{side}.polarization: {printable(repr(given))} is not one of {', '.join(TILTS)}")
        fields["polarization"] = given
    for key in ("diameter_m", "noise_temperature_k"):
        if not fields.get(key, 1.0) > 0:
            raise InputError(f"{side}.{key.rpartition('_')[0]}: must be above 0")
    return Hop(**fields)


def parse(text: str) -> Budget:
    """Reads a budget in TOML.

    Raises
    ------
    InputError
        A key is missing, unknown or has an invalid value. The message names the key.
    """
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not valid TOML: {error}") from None
    _known(tree, ("availability", "satellite", "carrier", "uplink", "downlink"), "")
    satellite = _table(tree, "satellite", ("longitude",))
    carrier = _table(tree, "carrier", ("symbol_rate", "modcods", "pilots", "implementation_margin"))
    rate = _required(carrier, "carrier", "symbol_rate", "30 MBd")
    place = _required(satellite, "satellite", "longitude", "19.2 deg")
    pilots = carrier.get("pilots", False)
    if not isinstance(pilots, bool):
        raise InputError(f"carrier.pilots: {printable(repr(pilots))} is not true or false")
    return Budget(
        satellite=_quantity(place, "satellite.longitude", "angle", "19.2 deg"),
        symbol_rate=_quantity(rate, "carrier.symbol_rate", "symbols", "30 MBd"),
        uplink=_hop(tree, "uplink"),
        downlink=_hop(tree, "downlink"),
        modcods=str(carrier.get("modcods", "dvb-s2")),
        pilots=pilots,
        implementation_margin=_quantity(
            carrier.get("implementation_margin", "0 dB"), "carrier.implementation_margin", "ratio", "1 dB"
        ),
        availability=_number(tree.get("availability", 99.9), "availability"),
    )


def read(file: str, availability: float | None = None) -> Budget:
    """Reads a budget from a TOML file; ``availability`` replaces the value in the file, in percent."""
    try:
        budget = parse(Path(file).read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(f"{printable(file)}: does not exist; lightlag explain link-budget prints an example") from None
    except UnicodeDecodeError:
        raise InputError(f"{printable(file)}: is not valid UTF-8; write it in UTF-8") from None
    except InputError as error:
        raise InputError(f"{printable(file)}: {error}") from None
    return budget if availability is None else replace(budget, availability=availability)
