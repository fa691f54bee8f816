"""Link budgets against ITU's validation examples, a published budget, and the geometry of the orbit."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from conftest import Lightlag
from lightlag import _engine, satellite
from lightlag.errors import InputError
from lightlag.satellite import Budget, Hop, propagation
from lightlag.satellite.propagation import Path as Slant
from lightlag.satellite.rain import FITTED, fit

pytest.importorskip("itur")

VALIDATION = [
    (
        51.5,
        -0.14,
        0.031382984,
        14.25,
        31.07699124,
        0,
        1,
        0.226874038,
        0.455169824,
        0.495316047,
        0.261931889,
        1.212790721,
    ),
    (
        51.5,
        -0.14,
        0.031382984,
        14.25,
        31.07699124,
        0,
        0.001,
        0.226874038,
        0.455169824,
        14.89979965,
        0.910213314,
        15.60879771,
    ),
    (
        51.5,
        -0.14,
        0.031382984,
        29,
        31.07699124,
        0,
        0.01,
        0.837659939,
        1.772469073,
        23.44440963,
        0.931864062,
        26.07175081,
    ),
    (
        25.78,
        -80.22,
        0.00861728,
        14.25,
        52.67898486,
        0,
        0.1,
        0.2232322,
        0.533175112,
        6.297250576,
        0.430179368,
        7.067190804,
    ),
    (22.9, -43.23, 0, 29, 22.27833468, 0, 0.01, 1.627537069, 2.109942403, 59.62591066, 2.214953485, 63.40311131),
    (
        9.05,
        38.7,
        2.539861878,
        14.25,
        20.14335809,
        90,
        0.1,
        0.222223506,
        0.657652048,
        5.881076621,
        0.783500358,
        6.807726176,
    ),
    (9.05, 38.7, 2.539861878, 29, 20.14335809, 90, 1, 0.704136355, 2.560951657, 3.701587179, 0.723521308, 7.008331446),
    (
        9.05,
        38.7,
        2.539861878,
        29,
        20.14335809,
        90,
        0.001,
        0.704136355,
        2.560951657,
        45.67422065,
        2.514236546,
        49.00479094,
    ),
]
"""ITU-R CG-3M3J, validation examples revision 5.1 of P.618-13, for an antenna of 1 m with an efficiency of 0.65.

Latitude, longitude, height in km, GHz, elevation, tilt, percentage; attenuation by gas (P.676-12), cloud (P.840-8),
rain and scintillation (P.618-13), and in total, in dB.
"""

SPECIFIC = [
    (14.25, 31.07699124, 26.48052, 0, 1.58130839),
    (29.0, 52.67898486, 78.2994993, 0, 13.59290086),
    (14.25, 20.14335809, 42.91007183, 90, 2.35032323),
    (29.0, 20.14335809, 42.91007183, 90, 6.83364556),
]
"""The same examples of P.838-3: GHz, elevation, mm/h, tilt, dB/km."""

GASES = [
    (31.07699124, 14.25, 13.79653679, 283.6108756, 1009.485612, 33.72946527, 0.031382984, 0.226874038),
    (52.67898486, 14.25, 22.7920384, 297.5746539, 1012.215224, 59.22233196, 0.00861728, 0.229295863),
    (22.27833468, 29, 21.24753319, 297.4535413, 1013.25, 53.4851113, 0, 1.757604101),
    (20.14335809, 29, 12.54721426, 290.2100933, 743.1872158, 27.51187059, 2.539861878, 0.741297893),
]
"""The same examples of P.676-12: elevation, GHz, g/m³, K, hPa, kg/m², km, dB."""

KU = satellite.parse(satellite.EXAMPLE)


@pytest.mark.parametrize("row", VALIDATION, ids=lambda row: f"{row[0]:g} {row[3]:g} GHz {row[6]:g} %")
def test_attenuation_matches_the_validation_examples_of_itu(row: tuple[float, ...]) -> None:
    latitude, longitude, altitude, frequency, elevation, tilt, percentage, *expected = row
    path = Slant(latitude, longitude, altitude, elevation, frequency, tilt, 1.0, 0.65)
    ours = satellite.attenuation(path, percentage)
    assert [ours.gas, ours.cloud, ours.rain, ours.scintillation, ours.total] == pytest.approx(expected, abs=0.01)


@pytest.mark.filterwarnings("ignore")
def test_parts_of_the_attenuation_match_the_validation_examples_of_itu() -> None:
    import itur

    for frequency, elevation, rate, tilt, expected in SPECIFIC:
        assert itur.models.itu838.rain_specific_attenuation(rate, frequency, elevation, tilt).value == pytest.approx(
            expected, abs=0.01
        )
    for elevation, frequency, density, temperature, pressure, vapour, height, expected in GASES:
        ours = itur.gaseous_attenuation_slant_path(
            frequency, elevation, density, pressure, temperature, vapour, height, mode="approx"
        )
        assert ours.value == pytest.approx(expected, abs=0.01)
    # P.837-7: 4.53654368 % at Kuala Lumpur, 1.41773353 % at Rio de Janeiro.
    for latitude, longitude, expected in ((3.133, 101.7, 4.53654368), (22.9, -43.23, 1.41773353)):
        assert propagation.rain_probability(latitude, longitude) == pytest.approx(expected, abs=0.001)


def test_ranges_of_the_geostationary_orbit() -> None:
    # 35,786 km below the satellite, 41,679 km at the horizon.
    assert satellite.look(0, 19, 19).slant_range_km == pytest.approx(35_786, abs=1)
    horizon = math.degrees(math.acos(6378.137 / 42164.17))
    edge = satellite.look(0, 0, horizon - 1e-9)
    assert (edge.slant_range_km, edge.elevation) == pytest.approx((41_679, 0), abs=1)
    # By vectors: east, north and up of a station, and the difference of positions.
    for latitude, longitude, place in ((51.5, -0.14, 19.2), (-33.9, 18.4, 36), (1.3, 103.8, 98), (60, 170, -160)):
        north, east = math.radians(latitude), math.radians(longitude)
        up = (math.cos(north) * math.cos(east), math.cos(north) * math.sin(east), math.sin(north))
        orbit = (42164.17 * math.cos(math.radians(place)), 42164.17 * math.sin(math.radians(place)), 0.0)
        away = [far - 6378.137 * near for far, near in zip(orbit, up, strict=True)]
        height = sum(a * b for a, b in zip(away, up, strict=True))
        eastward = -away[0] * math.sin(east) + away[1] * math.cos(east)
        ours = satellite.look(latitude, longitude, place)
        assert ours.slant_range_km == pytest.approx(math.hypot(*away))
        assert ours.elevation == pytest.approx(math.degrees(math.asin(height / math.hypot(*away))))
        flat = math.sqrt(math.hypot(*away) ** 2 - height**2)
        assert math.sin(math.radians(ours.azimuth)) == pytest.approx(eastward / flat)
    # South of a northern station, north of a southern one, and across the date line.
    assert satellite.look(51.5, 0, 0).azimuth == pytest.approx(180)
    assert satellite.look(-33.9, 18.4, 18.4).azimuth % 360 == pytest.approx(0, abs=1e-9)
    assert satellite.look(10, 179, -179).azimuth == pytest.approx(180 - 11.4, abs=0.3)


def test_a_published_budget() -> None:
    # EURASIP JWCN 2020, doi 10.1186/s13638-020-01674-9, table 1: carrier EIRP 38.3 dBm at 2.2 GHz, free-space loss
    # 162.2 dB, depointing 10 dB, antenna gain 38.2 dBi, 130 K; C/N0 81.8 dB Hz and Eb/N0 16.5 dB at 3.4 Mbit/s.
    density = satellite.carrier_to_noise_density(38.3 - 30, 162.2 + 10, 38.2 - 10 * math.log10(130))
    assert density == pytest.approx(81.8, abs=0.05)
    # Its Eb/N0 follows from the rounded C/N0, so that two roundings add.
    assert density - 10 * math.log10(3.4e6) == pytest.approx(16.5, abs=0.1)
    # A free-space loss of 162.2 dB at 2.2 GHz is a range of 1,400 km.
    assert satellite.free_space_loss(1_397, 2.2) == pytest.approx(162.2, abs=0.05)


def test_hops_combine_as_noise_adds() -> None:
    assert satellite.combined([80.0, 80.0]) == pytest.approx(80 - 10 * math.log10(2))
    assert satellite.combined([80.0, 200.0]) == pytest.approx(80)
    up, down = (KU.hop(side).carrier_to_noise_density for side in ("uplink", "downlink"))
    assert KU.es_n0() == pytest.approx(satellite.combined([up, down]) - 10 * math.log10(30e6))
    hop = KU.hops["downlink"]
    plain = replace(hop, interference=None)
    alone = Budget(satellite=19.2, symbol_rate=30e6, downlink=plain)
    by_hand = hop.eirp - alone.free_space("downlink") - alone.gases["downlink"] + hop.g_over_t + 228.5991672
    assert alone.hop("downlink").carrier_to_noise_density == pytest.approx(by_hand, abs=1e-6)
    # Rain of 3 dB over a receiver of 120 K: 275 K · (10^(−A0/10) − 10^(−(A0+3)/10)) more, A0 of gases.
    gas = 10 ** (-alone.gases["downlink"] / 10)
    rise = 10 * math.log10(1 + 275 * gas * (1 - 10**-0.3) / 120)
    assert alone.hop("downlink", 3.0).noise_rise == pytest.approx(rise)
    assert alone.es_n0() - alone.es_n0({"downlink": 3.0}) == pytest.approx(3 + rise)


def test_margins_and_availability() -> None:
    margins = KU.margins
    assert [(margin.name, margin.threshold) for margin in margins[:2]] == [("QPSK 1/4", -1.35), ("QPSK 1/3", -0.24)]
    for margin in margins:
        assert margin.clear_sky == pytest.approx(KU.es_n0() - margin.threshold)
        assert margin.faded["downlink"] <= margin.clear_sky
    available = [margin.availability or 0 for margin in margins]
    assert available == sorted(available, reverse=True)
    # At the availability of a MODCOD a fade of one hop leaves its threshold: with one hop exactly.
    alone = Budget(satellite=19.2, symbol_rate=30e6, downlink=KU.downlink)
    some = next(margin for margin in alone.margins if margin.availability is not None and margin.availability < 99.98)
    assert some.availability is not None
    at_limit = alone.es_n0({"downlink": alone.excess("downlink", 100 - some.availability)})
    assert at_limit == pytest.approx(some.threshold, abs=0.05)
    # 256APSK is far out of reach: unavailable, not an error.
    assert replace(KU, modcods="dvb-s2x").margins[-1].availability is None


PLACES = {
    "London, Ku": (51.5, -0.14, 31.0, 14.25),
    "Munich, Ka": (48.1, 11.6, 34.0, 19.7),
    "Singapore, Ku": (1.3, 103.8, 60.0, 12.0),
}


@pytest.mark.parametrize("place", PLACES)
def test_the_generated_rain_follows_p_618(place: str) -> None:
    """Attenuations of the engine are within 20 % of P.618 at 0.03 %, 0.1 %, 0.3 % and 1 % of the time.

    P.618's curve is not log-normal. Below a latitude of 36 deg it has a step at 1 % (β of step 10 vanishes), where the
    fit is 34 % too high in Singapore: 1.7 dB for 1.3 dB. There the bound is 0.5 dB. 2·10⁶ independent samples exceed
    the quantile of 0.03 % 600 ± 25 times, which is 2 % of the attenuation.
    """
    latitude, longitude, elevation, frequency = PLACES[place]
    path = Slant(latitude, longitude, None, elevation, frequency, 45.0, 1.0, 0.65)
    curve = [(percentage, satellite.attenuation(path, percentage).rain) for percentage in FITTED]
    rain = fit(curve)
    samples = sorted(_engine.attenuations((rain.mean, rain.deviation, 0.0, 1.0), 100.0, 2_000_000, 1), reverse=True)
    for percentage, predicted in curve:
        if percentage not in (0.03, 0.1, 0.3, 1.0):
            continue
        generated = samples[round(len(samples) * percentage / 100)]
        is_step = percentage == 1.0 and abs(latitude) < 36
        assert abs(generated - predicted) < (0.5 if is_step else 0.2 * predicted), percentage
        assert generated == pytest.approx(rain.exceeded(percentage), rel=0.05), percentage


def test_dry_times_follow_p_837() -> None:
    rain = satellite.rain_fit(KU, "downlink", dry=True)
    probability = propagation.rain_probability(51.5, -0.14)
    samples = _engine.attenuations((rain.mean, rain.deviation, rain.offset, 1.0), 100.0, 200_000, 1)
    # 99 %: 2.576 √(p (1 − p)/n) = 0.13 % of the time.
    assert 100 * sum(loss > 0 for loss in samples) / len(samples) == pytest.approx(probability, abs=0.13)
    assert rain.exceeded(probability) == pytest.approx(0, abs=1e-12)


def test_the_budget_becomes_rain_of_a_scenario(tmp_path: Path) -> None:
    table = satellite.fade(KU)
    net = ll.Network("rain")
    net.link("gateway", "terminal", rate="10 Mbit/s", delay="260 ms", fade=table)
    net.flow("gateway", "terminal", transfer="100 kB")
    result = ll.run(net, duration="60 s", seed=1)
    assert result.summary["flows"][0]["delivered_bytes"] == 100_000
    file = tmp_path / "mine.toml"
    file.write_text("# kept\n" + ll.presets.geo().to_toml())
    satellite.write_fade(file, 1, table, "forward")
    text = file.read_text()
    assert text.startswith("# kept\n")
    assert [name for name, _ in _engine.parse(text).rain_outages()] == ["gateway->server"]
    with pytest.raises(InputError, match=r"links\[7\] does not exist; it has"):
        satellite.write_fade(file, 7, table)


def test_the_outage_of_the_scenario_is_that_of_the_budget() -> None:
    """Both state the fraction of time below the lowest MODCOD; the fit is within 20 % of the attenuation."""
    ka = Hop(latitude=1.3, longitude=103.8, frequency_ghz=19.7, eirp=58, g_over_t=16)
    budget = Budget(satellite=98, symbol_rate=60e6, downlink=ka)
    table = satellite.fade(budget)
    link: dict[str, Any] = {"between": ["a", "b"], "rate": "10 Mbit/s", "delay": "260 ms", "fade": {"forward": table}}
    tree = {"duration": "10 s", "links": [link], "flows": [{"from": "a", "to": "b", "transfer": "1 kB"}]}
    [(name, share)] = _engine.parse(json.dumps(tree), "json").rain_outages()
    assert name.startswith("a->b")
    lowest = budget.margins[0]
    assert lowest.availability is not None
    reserve = budget.reserve("downlink", lowest.threshold)
    slack = [satellite.rain_fit(budget, "downlink").exceeded(100 * share) / reserve]
    assert slack == pytest.approx([1.0], rel=0.2)
    assert 0.2 < 100 * share / (100 - lowest.availability) < 5


ERRORS = {
    "latitude": (
        replace(KU, downlink=Hop(latitude=91, longitude=0, frequency_ghz=12, eirp=50, g_over_t=15)),
        "outside ITU",
    ),
    "horizon": (replace(KU, satellite=120.0), "below the horizon"),
    "elevation": (replace(KU, uplink=None, satellite=69.0), "limit of ITU-R P.618"),
    "frequency": (
        replace(KU, downlink=Hop(latitude=51.5, longitude=0, frequency_ghz=60, eirp=50, g_over_t=15)),
        "1 GHz to 55 GHz",
    ),
    "table": (replace(KU, modcods="dvb-s3"), "write one of dvb-s2"),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_names_the_limit(kind: str) -> None:
    budget, message = ERRORS[kind]
    with pytest.raises(InputError, match=message):
        assert budget.margins


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"14.25 GHz"', "14.25"), r'uplink.frequency: 14.25 is not a quantity such as "14.25 GHz"'),
        (('"70 dBW"', '"70 dB"'), "uplink.eirp: '70 dB' is not a quantity"),
        (("eirp ", "erip "), 'uplink.erip: is not a key here; did you mean "eirp"?'),
        (('longitude     = "19.2 deg"', ""), "satellite.longitude: is missing"),
        (('"vertical"', '"left"'), "uplink.polarization: 'left' is not one of"),
        (("99.9 ", "100 "), "availability: 100 % is outside the range"),
        (('symbol_rate   = "30 MBd"', 'symbol_rate = "0 Bd"'), "symbol_rate: 0 Bd is not above 0 Bd"),
        (("[uplink]", "[uplinks]"), "uplinks: is not a key here"),
        (("[satellite]", "[satellite"), "is not valid TOML"),
    ],
)
def test_an_invalid_file_gives_one_error(change: tuple[str, str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        satellite.parse(satellite.EXAMPLE.replace(*change))
    assert str(caught.value).startswith(message) or message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_itur_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "itur", None)
    propagation.attenuation.cache_clear()
    propagation.clear_sky.cache_clear()
    with pytest.raises(InputError, match=r'needs itur; pip install "lightlag\[rain\]"'):
        assert replace(KU).margins


def test_the_command_prints_a_table_and_writes_a_scenario(lightlag: Lightlag, tmp_path: Path) -> None:
    example = lightlag("explain", "link-budget")
    assert example.stdout == satellite.EXAMPLE
    (tmp_path / "budget.toml").write_text(example.stdout)
    shown = lightlag("explain", "link-budget", "budget.toml")
    assert shown.returncode == 0, shown.stderr
    for text in ("P.525", "P.618-13", "P.676-12", "P.837-7", "QPSK 1/4", "0.490243", "fade = {mean"):
        assert text in shown.stdout, shown.stdout
    (tmp_path / "mine.toml").write_text(lightlag("explain", "geo").stdout)
    written = lightlag("explain", "link-budget", "budget.toml", "--into", "mine.toml:1.forward", "--json")
    assert written.returncode == 0, written.stderr
    checked = lightlag("check", "mine.toml")
    assert checked.returncode == 0, checked.stderr
    assert "rain stops it for" in checked.stdout
    wrong = lightlag("explain", "hybla", "budget.toml")
    assert (wrong.returncode, "belong to link-budget" in wrong.stderr) == (2, True)
