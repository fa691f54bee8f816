"""``lightlag explain link-budget``: a link budget as a table, and its rain as keys of a scenario."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag.errors import InputError
from lightlag.text.table import print_rows
from lightlag.text.terminal import print_json, say

if TYPE_CHECKING:
    from lightlag.satellite import Budget
    from lightlag.text.table import Row


def show(file: str | None, availability: float | None, into: str | None, as_json: bool) -> None:
    """Prints a budget, or an example of its file if there is none; writes its rain into a scenario."""
    from lightlag.satellite import EXAMPLE, fade, rain_fit, read, write_fade

    if file is None:
        if into is not None or availability is not None or as_json:
            raise InputError("link-budget: name the file of a budget; without options the command prints an example")
        print(EXAMPLE, end="")
        return
    budget = read(file, availability)
    table = fade(budget)
    side = list(budget.hops)[-1]
    if as_json:
        print_json(_json(budget) | {"fade": table, "fade_hop": side})
    else:
        print_rows(_hops(budget), f"Link budget, {budget.availability:g} % of the year")
        print_rows(_ratios(budget), "Combined")
        print_rows(_margins(budget), f"MODCODs: {budget.modcods}, margin in dB")
        rain = rain_fit(budget, side)
        say(f"Rain on the {side}, within {100 * rain.worst_error:.0f} % of P.618 from 0.01 % to 1 % of the year:")
        say(f"fade = {_toml(table)}")
    if into is not None:
        scenario, link, direction = _target(into)
        write_fade(scenario, link, table, direction)
        say(f"wrote fade of links[{link}] in {scenario}")


def _target(into: str) -> tuple[Path, int, str | None]:
    """Splits ``mine.toml:1.forward`` into a file, a link and a direction."""
    file, _, place = into.rpartition(":")
    number, _, direction = place.partition(".")
    if not file or not number.isdecimal() or direction not in ("", "forward", "backward"):
        raise InputError(f"--into: {into!r} is not FILE:LINK or FILE:LINK.forward, such as mine.toml:1")
    if not Path(file).is_file():
        raise InputError(f"--into: {file} does not exist")
    return Path(file), int(number), direction or None


def _toml(table: dict[str, Any]) -> str:
    import tomlkit

    inline = tomlkit.inline_table()
    inline.update(table)
    return inline.as_string()


def _hops(budget: Budget) -> list[Row]:
    """Returns one row per quantity, with its source and its values on each hop."""
    from lightlag.satellite.propagation import attenuation, recommendation

    unavailable = 100 - budget.availability
    sides = list(budget.hops)
    losses = {side: attenuation(budget.path(side), unavailable) for side in sides}
    clear = {side: budget.hop(side) for side in sides}
    faded = {side: budget.hop(side, budget.excess(side, unavailable)) for side in sides}
    at = f"exceeded for {unavailable:.3g} %"
    lines: list[tuple[str, str, dict[Any, float], str]] = [
        ("elevation", "geometry", {side: budget.looks[side].elevation for side in sides}, "deg"),
        ("slant range", "geometry", {side: budget.looks[side].slant_range_km for side in sides}, "km"),
        ("EIRP", "given", {side: budget.hops[side].eirp for side in sides}, "dBW"),
        ("free-space loss", "P.525", {side: budget.free_space(side) for side in sides}, "dB"),
        ("other losses", "given", {side: budget.hops[side].losses for side in sides}, "dB"),
        ("G/T", "given", {side: budget.hops[side].g_over_t for side in sides}, "dB/K"),
        ("gases, clear sky", recommendation("gas"), budget.gases, "dB"),
        ("C/N0, clear sky", "", {side: clear[side].carrier_to_noise_density for side in sides}, "dB Hz"),
        (f"gases, {at}", recommendation("gas"), {side: losses[side].gas for side in sides}, "dB"),
        ("clouds", recommendation("cloud"), {side: losses[side].cloud for side in sides}, "dB"),
        ("scintillation", f"{recommendation('rain')} §2.4", {side: losses[side].scintillation for side in sides}, "dB"),
        ("rain", _rain_sources(), {side: losses[side].rain for side in sides}, "dB"),
        ("total", f"{recommendation('rain')} §2.5", {side: losses[side].total for side in sides}, "dB"),
        ("noise rise", f"{recommendation('rain')} §3", {side: faded[side].noise_rise for side in sides}, "dB"),
        ("C/N0, faded", "", {side: faded[side].carrier_to_noise_density for side in sides}, "dB Hz"),
    ]
    return [
        {"": name, "source": source} | {side: f"{values[side]:.2f}" for side in sides} | {"unit": unit}
        for name, source, values, unit in lines
    ]


def _rain_sources() -> str:
    from lightlag.satellite.propagation import recommendation

    return ", ".join(recommendation(part) for part in ("rain", "rain rate", "specific attenuation", "rain height"))


def _ratios(budget: Budget) -> list[Row]:
    unavailable = 100 - budget.availability
    states = {"clear sky": budget.es_n0()} | {
        f"{side} faded": budget.es_n0({side: budget.excess(side, unavailable)}) for side in budget.hops
    }
    return [{"state": state, "Es/N0 in dB": f"{value:.2f}"} for state, value in states.items()]


def _margins(budget: Budget) -> list[Row]:
    from lightlag.text.quantities import rate

    return [
        {
            "MODCOD": margin.name,
            "bit/symbol": f"{margin.bits_per_symbol:.6f}",
            "rate": rate(margin.rate_bps),
            "needs": f"{margin.threshold:.2f}",
            "clear sky": f"{margin.clear_sky:.2f}",
        }
        | {f"{side} faded": f"{value:.2f}" for side, value in margin.faded.items()}
        | {"available": "< 95 %" if margin.availability is None else f"{margin.availability:.3f} %"}
        for margin in budget.margins
    ]


def _json(budget: Budget) -> dict[str, Any]:
    from lightlag.satellite.propagation import attenuation

    unavailable = 100 - budget.availability
    hops = {
        side: {
            "elevation_deg": budget.looks[side].elevation,
            "azimuth_deg": budget.looks[side].azimuth,
            "slant_range_km": budget.looks[side].slant_range_km,
            "free_space_loss_db": budget.free_space(side),
            "clear_sky_gas_db": budget.gases[side],
            "attenuation_db": asdict(attenuation(budget.path(side), unavailable)),
            "clear_sky_c_n0_db_hz": budget.hop(side).carrier_to_noise_density,
            "faded_c_n0_db_hz": budget.hop(side, budget.excess(side, unavailable)).carrier_to_noise_density,
        }
        for side in budget.hops
    }
    return {
        "availability": budget.availability,
        "hops": hops,
        "clear_sky_es_n0_db": budget.es_n0(),
        "modcods": [asdict(margin) for margin in budget.margins],
    }
