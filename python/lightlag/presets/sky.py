"""Constellations that are ready to run: shells as filed or announced by their operators, with flows between cities.

Rates apply to one station and are round numbers, because operators publish neither the rates of terminals nor queue
sizes. Where a filing gives no phasing, the preset uses the one that maximises the distance between satellites.
"""

from __future__ import annotations

from collections.abc import Sequence

from lightlag.scenario import (
    Congestion,
    Constellation,
    Flow,
    Handover,
    Link,
    Record,
    SatelliteLink,
    Scenario,
    Shell,
    Station,
    Time,
)

__all__ = [
    "geo_leo",
    "iridium",
    "kuiper_630",
    "leo_iot",
    "o3b",
    "oneweb",
    "starlink_550",
    "starlink_measured",
    "telesat_1015",
]

START = "2026-01-01T00:00:00Z"


def _scenario(
    name: str,
    constellation: Constellation,
    pairs: Sequence[tuple[str, str]],
    congestion: Congestion | None,
    duration: Time,
) -> Scenario:
    """Returns a scenario with flows between stations in cities; flows from the same station share its uplink."""
    cities = dict.fromkeys(city for pair in pairs for city in pair)
    return Scenario(
        name=name,
        duration=duration,
        constellation=constellation,
        stations=tuple(Station(name=city) for city in cities),
        flows=tuple(Flow(from_=start, to=end, congestion=congestion) for start, end in pairs),
    )


def starlink_550(
    *,
    pairs: Sequence[tuple[str, str]] = (("London", "New York"), ("London", "Singapore")),
    congestion: Congestion | None = None,
    duration: Time = "60 s",
) -> Scenario:
    """The first Starlink shell with lasers between its satellites (filing of 2021: 550 km, 53 deg, 72 planes of 22).

    Examples
    --------
    >>> starlink_550(pairs=[("Paris", "Tokyo")]).stations[1].name
    'Tokyo'
    """
    constellation = Constellation(
        start=START,
        shells=(Shell(name="starlink", height="550 km", inclination="53 deg", planes=72, slots=22, phasing=39),),
        elevation="25 deg",
        isl=SatelliteLink(rate="20 Gbit/s"),
        uplink=SatelliteLink(rate="40 Mbit/s", queue="1 bdp"),
        downlink=SatelliteLink(rate="200 Mbit/s", queue="1 bdp"),
    )
    return _scenario("starlink-550", constellation, pairs, congestion, duration)


def kuiper_630(
    *,
    pairs: Sequence[tuple[str, str]] = (("Manila", "Dalian"), ("Istanbul", "Nairobi")),
    congestion: Congestion | None = None,
    duration: Time = "60 s",
) -> Scenario:
    """The first Kuiper shell (630 km, 51.9 deg, 34 planes of 34), with a minimum elevation of 30 deg."""
    constellation = Constellation(
        start=START,
        shells=(Shell(name="kuiper", height="630 km", inclination="51.9 deg", planes=34, slots=34, phasing=7),),
        elevation="30 deg",
        isl=SatelliteLink(rate="20 Gbit/s"),
        uplink=SatelliteLink(rate="40 Mbit/s", queue="1 bdp"),
        downlink=SatelliteLink(rate="200 Mbit/s", queue="1 bdp"),
    )
    return _scenario("kuiper-630", constellation, pairs, congestion, duration)


def telesat_1015(
    *,
    pairs: Sequence[tuple[str, str]] = (("Chicago", "Zhengzhou"), ("Montreal", "London")),
    congestion: Congestion | None = None,
    duration: Time = "60 s",
) -> Scenario:
    """The polar Telesat shell (1015 km, 98.98 deg, 27 planes of 13), with a minimum elevation of 10 deg."""
    constellation = Constellation(
        start=START,
        shells=(Shell(name="telesat", height="1015 km", inclination="98.98 deg", planes=27, slots=13, phasing=26),),
        elevation="10 deg",
        isl=SatelliteLink(rate="10 Gbit/s"),
        uplink=SatelliteLink(rate="40 Mbit/s", queue="1 bdp"),
        downlink=SatelliteLink(rate="200 Mbit/s", queue="1 bdp"),
    )
    return _scenario("telesat-1015", constellation, pairs, congestion, duration)


def oneweb(
    *,
    pairs: Sequence[tuple[str, str]] = (("Dublin", "Munich"),),
    congestion: Congestion | None = None,
    duration: Time = "120 s",
) -> Scenario:
    """OneWeb (1200 km, a star of 12 planes of 49 at 87.9 deg) as bent pipes, without links between satellites."""
    shell = Shell(
        name="oneweb", height="1200 km", inclination="87.9 deg", planes=12, slots=49, phasing=10, spread="180 deg"
    )
    constellation = Constellation(
        start=START,
        shells=(shell,),
        isls="none",
        elevation="25 deg",
        uplink=SatelliteLink(rate="30 Mbit/s", queue="1 bdp"),
        downlink=SatelliteLink(rate="200 Mbit/s", queue="1 bdp"),
    )
    return _scenario("oneweb", constellation, pairs, congestion, duration)


def iridium(
    *,
    pairs: Sequence[tuple[str, str]] = (("Anchorage", "Oslo"),),
    congestion: Congestion | None = None,
    duration: Time = "300 s",
) -> Scenario:
    """Iridium NEXT (780 km, a star of 6 planes of 11 at 86.4 deg, nodes every 31.6 deg); minimum elevation 8.2 deg.

    Links between planes are off beyond 68 deg of latitude, and there are none across the seam.
    """
    shell = Shell(
        name="iridium", height="780 km", inclination="86.4 deg", planes=6, slots=11, phasing=3, spread="189.6 deg"
    )
    constellation = Constellation(
        start=START,
        shells=(shell,),
        polar_limit="68 deg",
        elevation="8.2 deg",
        isl=SatelliteLink(rate="10 Mbit/s"),
        uplink=SatelliteLink(rate="512 kbit/s", queue="50 packets"),
        downlink=SatelliteLink(rate="1.5 Mbit/s", queue="100 packets"),
    )
    return _scenario("iridium", constellation, pairs, congestion, duration)


def o3b(
    *,
    pairs: Sequence[tuple[str, str]] = (("Quito", "Lima"), ("Singapore", "Jakarta")),
    congestion: Congestion | None = None,
    duration: Time = "120 s",
) -> Scenario:
    """O3b (8062 km above the equator, 20 satellites) without links between satellites; minimum elevation 10 deg."""
    shell = Shell(name="o3b", height="8062 km", inclination="0 deg", planes=1, slots=20, propagator="circular")
    constellation = Constellation(
        start=START,
        shells=(shell,),
        isls="none",
        elevation="10 deg",
        uplink=SatelliteLink(rate="50 Mbit/s", queue="1 bdp"),
        downlink=SatelliteLink(rate="200 Mbit/s", queue="1 bdp"),
    )
    return _scenario("o3b", constellation, pairs, congestion, duration)


def geo_leo(
    *,
    pairs: Sequence[tuple[str, str]] = (("Madrid", "Lagos"),),
    congestion: Congestion | None = None,
    duration: Time = "600 s",
) -> Scenario:
    """A hybrid of a sparse LEO shell, which leaves gaps, and three geostationary satellites that fill them.

    Packets take the LEO shell where it has coverage, with a delay of about 20 ms, otherwise a geostationary satellite,
    with 250 ms: the round-trip time jumps by a factor of ten within one connection.
    """
    leo = Shell(name="leo", height="1200 km", inclination="50 deg", planes=6, slots=8, phasing=1)
    geo = Shell(name="geo", height="35786 km", inclination="0 deg", planes=1, slots=3, propagator="circular")
    constellation = Constellation(
        start=START,
        shells=(leo, geo),
        isls="none",
        elevation="15 deg",
        uplink=SatelliteLink(rate="20 Mbit/s", queue="1 bdp"),
        downlink=SatelliteLink(rate="50 Mbit/s", queue="1 bdp"),
    )
    return _scenario("geo-leo", constellation, pairs, congestion, duration)


def starlink_measured(*, congestion: Congestion | None = None, duration: Time = "30 s") -> Scenario:
    """A download over Starlink as users measure it: a bent pipe to a gateway, steps of 15 s, losses in bursts.

    The terminal selects the highest satellite every 15 s, the gateway uses any (the global schedule: arXiv 2310.09242).
    Bursts of 16.7 ms take 1 % of the time (picoquic issue 1221; 1 to 2 % of packets are lost without congestion: Huston
    2024), and one follows each handover. Rates are 200 and 20 Mbit/s. Scheduler delays of 14 and 10 ms bring the round
    trip to the measured 30 to 60 ms (UCLouvain 2022: quartiles 40, 50, 60 ms, minimum 20). Over 30 s BBR was measured
    above 120 Mbit/s, CUBIC near 20 (wirelessmoves 2023): ``lightlag reproduce hypatia`` compares.
    """
    bursts = {"good": {"mean_time": "1.65 s"}, "bad": {"mean_time": "16.7 ms"}}
    gateway = SatelliteLink(rate="1 Gbit/s", delay="10 ms", jitter="5 ms", queue="1000 packets")
    constellation = Constellation(
        start=START,
        shells=(Shell(name="starlink", height="550 km", inclination="53 deg", planes=72, slots=22, phasing=39),),
        isls="none",
        elevation="25 deg",
        selection={"rule": "highest", "every": "15 s"},
        uplink=SatelliteLink(rate="20 Mbit/s", delay="14 ms", jitter="7 ms", queue="300 packets"),
        downlink=SatelliteLink(rate="200 Mbit/s", queue="1000 packets", loss=bursts),
        handover=Handover(burst="16.7 ms"),
    )
    return Scenario(
        name="starlink-measured",
        duration=duration,
        constellation=constellation,
        stations=(Station(name="Brussels"), Station(name="gateway", city="Munich", relay=True, uplink=gateway)),
        links=(Link(between=("gateway", "server"), rate="10 Gbit/s", delay="4 ms"),),
        flows=(Flow(name="download", from_="server", to="Brussels", congestion=congestion),),
    )


FIELDS = """
    Madrid Barcelona Lisbon Paris London Dublin Brussels Zurich Munich Oslo
    Stockholm Helsinki Warsaw Berlin Prague Vienna Kyiv Rome Milan Athens
""".split()
"""Locations of the sensors of :func:`leo_iot`."""


def leo_iot(
    *, sensors: int = 500, congestion: Congestion | None = None, duration: Time = "1800 s", transfer: str = "2 kB"
) -> Scenario:
    """Sensors in twenty fields below a sparse shell: 10,000 connections, most of which wait for a satellite.

    Each field has a station, which receives from its ``sensors`` over slow radio links. Each sensor opens one TCP
    connection at its own time, and sends its readings to the operator, whose gateway uses the same satellites as bent
    pipes. 16 satellites leave gaps of minutes, while connections keep retrying. The SIoT paper, in which the satellite
    does not move, names this as future work.
    """
    shell = Shell(name="iot", height="780 km", inclination="60 deg", planes=4, slots=4, phasing=1)
    constellation = Constellation(
        start=START,
        shells=(shell,),
        isls="none",
        elevation="5 deg",
        uplink=SatelliteLink(rate="512 kbit/s", queue="200 packets"),
        downlink=SatelliteLink(rate="2 Mbit/s", queue="200 packets"),
    )
    operator = "Frankfurt"
    names = [(field, f"{field.lower().replace(' ', '-')}-{at + 1}") for field in FIELDS for at in range(sensors)]
    return Scenario(
        name="leo-iot",
        duration=duration,
        constellation=constellation,
        stations=(
            Station(name=operator, latitude="50.11 deg", longitude="8.68 deg", relay=True),
            *(Station(name=field) for field in FIELDS),
        ),
        links=tuple(Link(between=(name, field), rate="50 kbit/s", delay="5 ms") for field, name in names),
        flows=tuple(
            Flow(
                from_=name,
                to=operator,
                transfer=transfer,
                start={"uniform": ["0 s", "1200 s"]},
                congestion=congestion,
                tcp={"syn_retries": 20},
            )
            for _, name in names
        ),
        record=Record(trace="off", queue="off", drops=False),
    )
