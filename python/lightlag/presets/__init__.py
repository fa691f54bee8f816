"""Scenarios that are ready to run, with their most common parameters."""

from __future__ import annotations

import math
from collections.abc import Callable

from lightlag import _engine
from lightlag.presets.access import (
    astra_geo,
    dsl_2023,
    konnect_geo,
    lte_2023,
    netem_lanman,
    starlink_2026,
    starlink_autobahn,
)
from lightlag.presets.examples import asymmetric, deep_space, long_fat, lossy, siot, traffic
from lightlag.presets.sky import (
    geo_leo,
    iridium,
    kuiper_630,
    leo_iot,
    o3b,
    oneweb,
    starlink_550,
    starlink_measured,
    telesat_1015,
)
from lightlag.presets.web import geo_pep, geo_web, page_file
from lightlag.scenario import (
    Changes,
    Congestion,
    Defaults,
    Delay,
    Dumbbell,
    Flow,
    FlowTemplate,
    Iot,
    Link,
    LinkParameters,
    Medium,
    Node,
    Radio,
    Record,
    RoutingProtocol,
    Rto,
    Satellite,
    Scenario,
    Swarm,
    Tcp,
    Terrestrial,
)

__all__ = [
    "PRESETS",
    "adhoc_chain",
    "astra_geo",
    "asymmetric",
    "deep_space",
    "dsl_2023",
    "dumbbell",
    "geo",
    "geo_leo",
    "geo_pep",
    "geo_web",
    "heterogeneous",
    "iot_direct",
    "iridium",
    "konnect_geo",
    "kuiper_630",
    "leo",
    "leo_iot",
    "long_fat",
    "lossy",
    "lte_2023",
    "mars",
    "meo",
    "moon",
    "netem_lanman",
    "o3b",
    "oneweb",
    "page_file",
    "rcs2_beam",
    "satellite_iot",
    "scps_mars",
    "scps_moon",
    "search_and_rescue",
    "siot",
    "starlink_550",
    "starlink_2026",
    "starlink_autobahn",
    "starlink_measured",
    "swarm",
    "swarm_default_radio",
    "telesat_1015",
    "traffic",
]

DRAWN_START = {"uniform": ["0 s", "1 s"]}
"""Random start times of flows that share a bottleneck: with another seed the flows have other phases."""


def geo(
    *,
    rate: str = "20 Mbit/s",
    rtt: str | None = None,
    loss: float = 1e-4,
    queue: str = "1 bdp",
    transfer: str | None = "20 MB",
    congestion: Congestion | None = None,
    receive_buffer: str = "2.8 MB",
    duration: str = "120 s",
) -> Scenario:
    """A download over a geostationary satellite: a long round trip and a few corrupted packets.

    Up to the satellite at 40 degrees above the horizon, down at 25 degrees, and 40 ms of processing: a round trip of
    595 ms, unless `rtt` overrides it. By default the receive buffer has the size of the payload that the default path
    and its queue can hold together.

    Examples
    --------
    >>> geo(congestion="hybla").links[1].delay
    {'orbit': 'geo', 'elevation': ['40 deg', '25 deg'], 'processing': '40 ms'}
    >>> geo(rtt="600 ms").links[1].delay
    '299 ms'
    """
    delay: Delay = {"orbit": "geo", "elevation": ["40 deg", "25 deg"], "processing": "40 ms"}
    tcp = _tcp(congestion, receive_buffer)
    return _path("geo", rate, delay if rtt is None else _delay(rtt), loss, queue, transfer, tcp, duration)


def meo(
    *,
    rate: str = "50 Mbit/s",
    rtt: str | None = None,
    loss: float = 1e-4,
    queue: str = "1 bdp",
    transfer: str | None = "50 MB",
    congestion: Congestion | None = None,
    receive_buffer: str = "1.8 MB",
    duration: str = "120 s",
) -> Scenario:
    """A download over a satellite in medium orbit (8062 km): a quarter of the round trip of a geostationary one.

    Up at 40 degrees above the horizon, down at 25 degrees, and 10 ms of processing: a round trip of 156 ms, unless
    `rtt` overrides it. By default the receive buffer has the size of the payload that the default path and its queue
    can hold together.
    """
    delay: Delay = {"orbit": "meo", "elevation": ["40 deg", "25 deg"], "processing": "10 ms"}
    tcp = _tcp(congestion, receive_buffer)
    return _path("meo", rate, delay if rtt is None else _delay(rtt), loss, queue, transfer, tcp, duration)


def leo(
    *,
    rate: str = "100 Mbit/s",
    rtt: str | None = None,
    loss: float = 1e-4,
    queue: str = "1 bdp",
    transfer: str | None = "400 MB",
    congestion: Congestion | None = None,
    receive_buffer: str = "1.2 MB",
    duration: str = "120 s",
) -> Scenario:
    """A download over satellites in low orbit (550 km), with a handover and a step of the delay every 15 s.

    Satellites 5 degrees apart pass overhead. Every 15 s the next one takes over, among those at least 25 degrees above
    the horizon of both the terminal and a gateway 300 km away. Processing and fibre add 15 ms in each direction: round
    trips from 40 to 44 ms. With `rtt` the delay is constant. By default the receive buffer has the size of the payload
    that the default path and its queue can hold together.

    Examples
    --------
    >>> [change["at"] for change in leo(duration="60 s").links[1].changes]
    ['15 s', '30 s', '45 s']
    """
    tcp = _tcp(congestion, receive_buffer)
    if rtt is not None:
        return _path("leo", rate, _delay(rtt), loss, queue, transfer, tcp, duration)
    first, *later = _passes(_engine.seconds(duration))
    changes = [{"at": f"{HANDOVER * slot} s", "delay": delay} for slot, delay in enumerate(later, start=1)]
    return _path("leo", rate, first, loss, queue, transfer, tcp, duration, changes or None)


def moon(
    *,
    rate: str = "10 Mbit/s",
    distance: str = "384400 km",
    loss: float = 1e-5,
    queue: str = "1 bdp",
    transfer: str | None = "20 MB",
    congestion: Congestion | None = None,
    receive_buffer: str = "6.5 MB",
    duration: str = "10 min",
) -> Scenario:
    """A path to the Moon: the round trip of 2.6 s is longer than the first timeout of TCP.

    Initial timeouts of 6 s let the connection start: with 1 s the SYN would be sent three times before its first reply
    arrives, and the flow would start with a window of one segment.
    """
    tcp = _tcp(congestion, receive_buffer, Rto(initial="6 s", syn="6 s"))
    return _path("moon", rate, {"distance": distance}, loss, queue, transfer, tcp, duration)


def mars(
    *,
    rate: str = "1 Mbit/s",
    distance: str = "0.5 au",
    loss: float = 1e-5,
    queue: str = "1 bdp",
    transfer: str | None = "5 MB",
    congestion: Congestion | None = None,
    receive_buffer: str = "120 MB",
    duration: str = "24 h",
) -> Scenario:
    """A path to Mars when it is near: light takes 4 minutes, and TCP works only with timeouts set for this delay.

    Initial timeouts of 15 min and a bound of 1 h replace 1 s and 120 s, with which every segment would time out before
    its ACK can arrive. Even so, a round of slow start takes 8 minutes.
    """
    tcp = _tcp(congestion, receive_buffer, Rto(initial="15 min", syn="15 min", max="1 h"))
    return _path("mars", rate, {"distance": distance}, loss, queue, transfer, tcp, duration)


def scps_moon(
    *,
    rate: str = "10 Mbit/s",
    distance: str = "384400 km",
    loss: float = 1e-5,
    queue: str = "1 bdp",
    transfer: str | None = "20 MB",
    congestion: Congestion = "none",
    receive_buffer: str = "3.5 MB",
    duration: str = "10 min",
) -> Scenario:
    """A path to the Moon with SCPS-TP, whose first timeout, rate and end of slow start are configured from the path.

    Rate control replaces congestion control, and losses are attributed to corruption. The receive buffer holds the data
    that arrives at this rate during a round trip and the repair of a loss.
    """
    tcp = _scps(congestion, receive_buffer)
    return _path("scps-moon", rate, {"distance": distance}, loss, queue, transfer, tcp, duration)


def scps_mars(
    *,
    rate: str = "1 Mbit/s",
    distance: str = "0.5 au",
    loss: float = 1e-5,
    queue: str = "1 bdp",
    transfer: str | None = "5 MB",
    congestion: Congestion = "none",
    receive_buffer: str = "70 MB",
    duration: str = "24 h",
) -> Scenario:
    """A path to Mars with SCPS-TP: a transfer takes two and a half round trips of 8 minutes, plus its sending time.

    The route is configured from the path. The first round trip is the handshake. The window of a SYN is not scaled, so
    64 KiB are sent after the handshake, and the rest one round trip later.
    """
    tcp = _scps(congestion, receive_buffer)
    return _path("scps-mars", rate, {"distance": distance}, loss, queue, transfer, tcp, duration)


def heterogeneous(
    *,
    satellite_rate: str = "34.368 Mbit/s",
    bottleneck: str = "34.368 Mbit/s",
    terrestrial: int = 3,
    loss: float = 1e-4,
    queue: str = "1 bdp",
    congestion: Congestion | None = None,
    terrestrial_congestion: Congestion = "newreno",
    receive_buffer: str = "5 MB",
    duration: str = "120 s",
) -> Scenario:
    """One flow over a geostationary satellite and three on the ground share a bottleneck.

    As in the comparison of Hybla and CUBIC (2010): an E3 channel with errors on its uplink and downlink; wired sources
    at 100 Mbit/s, 2.5 to 7.5 ms away, without errors. Round trips of 596 ms and of 25 to 35 ms. Elevations of 25 and 10
    degrees, 20 ms of processing, the rate of the bottleneck and its queue are our choice.
    """
    hop = {"rate": satellite_rate, "loss": loss, "queue": queue}
    flows = [Flow(name="satellite", from_="client1", to="server1")]
    for pair in range(1, terrestrial + 1):
        source, sink = f"terrestrial{pair}", f"terrestrial-server{pair}"
        flows.append(Flow(name=source, from_=source, to=sink, start=DRAWN_START, congestion=terrestrial_congestion))
    wired = Terrestrial(pairs=terrestrial, rate="100 Mbit/s", delay="2.5 ms", last_delay="7.5 ms")
    return Scenario(
        name="heterogeneous",
        duration=duration,
        defaults=Defaults(tcp=_tcp(congestion, receive_buffer)),
        topology=Satellite(
            pairs=1,
            orbit="geo",
            elevation=("25 deg", "10 deg"),
            processing="20 ms",
            uplink=hop,
            downlink=hop,
            access=LinkParameters(rate="100 Mbit/s", delay="2.5 ms"),
            bottleneck=LinkParameters(rate=bottleneck, delay="7.5 ms", queue=queue),
            terrestrial=wired if terrestrial else None,
        ),
        flows=tuple(flows),
    )


def satellite_iot(
    *,
    sinks: int = 20,
    sensors: int = 50,
    message: str = "100 B",
    every: str = "30 s",
    rate: str = "1 Mbit/s",
    loss: float = 1e-3,
    queue: str = "100 packets",
    buffer: str = "64 kB",
    congestion: Congestion | None = None,
    duration: str = "600 s",
) -> Scenario:
    """Sensors send messages by UDP to sinks; each sink has one TCP connection over a geostationary satellite.

    Each sensor sends a message of `message` at random times, one in `every` on average.
    """
    return Scenario(
        name="satellite-iot",
        duration=duration,
        defaults=Defaults(tcp=_tcp(congestion)),
        topology=Iot(
            sinks=sinks,
            sensors=sensors,
            rate=rate,
            delay={"orbit": "geo", "elevation": ["40 deg", "25 deg"], "processing": "40 ms"},
            queue=queue,
            loss=loss,
            sensor=FlowTemplate(traffic={"kind": "poisson", "size": message, "every": every}),
            flow=FlowTemplate(traffic={"kind": "collect", "buffer": buffer}),
        ),
        record=Record(trace="off"),
    )


def dumbbell(
    *,
    pairs: int = 4,
    rate: str = "100 Mbit/s",
    delay: str = "24 ms",
    loss: float | None = None,
    queue: str = "1 bdp",
    stagger: str = "1 s",
    congestion: Congestion | None = None,
    duration: str = "60 s",
) -> Scenario:
    """Flows that start one after the other and share a bottleneck.

    A random time of up to a second, drawn for each seed, is added to the start of each flow.
    """
    flow = FlowTemplate(stagger=stagger, start=DRAWN_START)
    return Scenario(
        name="dumbbell",
        duration=duration,
        defaults=Defaults(tcp=_tcp(congestion)),
        topology=Dumbbell(pairs=pairs, rate=rate, delay=delay, loss=loss, queue=queue, flow=flow),
    )


HANDOVER = 15
"""Time in seconds from one handover to the next."""
_RADIUS, _HEIGHT, _GRAVITY = 6378.137, 550.0, 398600.4418
_SPACING, _BASELINE, _LEAST = math.radians(5), 300 / _RADIUS, math.radians(25)


def _passes(duration: float) -> list[Delay]:
    """Returns the delay in each slot between handovers, from the elevations in the middle of the slot.

    Satellites move along the great circle through the terminal, at 0, and the gateway. The satellites that are visible
    from both take turns.
    """
    speed = math.sqrt(_GRAVITY / (_RADIUS + _HEIGHT) ** 3)
    delays: list[Delay] = []
    for slot in range(max(1, math.ceil(duration / HANDOVER))):
        ahead = speed * HANDOVER * (slot + 0.5) % _SPACING
        places = [ahead + number * _SPACING for number in range(-8, 9)]
        both = [(_elevation(place), _elevation(place - _BASELINE)) for place in places]
        seen = [pair for pair in both if min(pair) >= _LEAST]
        up, down = seen[slot % len(seen)]
        elevation = [f"{math.degrees(angle):.2f} deg" for angle in (up, down)]
        delays.append({"orbit": "leo-550", "elevation": elevation, "processing": "15 ms"})
    return delays


def _elevation(angle: float) -> float:
    """Returns the elevation of a satellite at this angle from the ground station, seen from the centre of the Earth."""
    return math.atan2(math.cos(angle) - _RADIUS / (_RADIUS + _HEIGHT), abs(math.sin(angle)))


def _path(
    name: str,
    rate: str,
    delay: Delay,
    loss: float,
    queue: str,
    transfer: str | None,
    tcp: Tcp,
    duration: str,
    changes: Changes | None = None,
) -> Scenario:
    """Returns a scenario of client, loss-free access link of 1 ms, gateway, link through space, and server."""
    return Scenario(
        name=name,
        duration=duration,
        defaults=Defaults(tcp=tcp),
        links=(
            Link(between=("client", "gateway"), rate="1 Gbit/s", delay="1 ms"),
            Link(between=("gateway", "server"), rate=rate, delay=delay, queue=queue, loss=loss, changes=changes),
        ),
        flows=(Flow(from_="client", to="server", transfer=transfer),),
    )


def _delay(rtt: str) -> str:
    """Returns the one-way delay of the link through space: half of `rtt`, without the delay of the access link."""
    return f"{_engine.seconds(rtt) / 2 * 1e3 - 1:.12g} ms"


def _tcp(congestion: Congestion | None, receive_buffer: str | None = None, rto: Rto | None = None) -> Tcp:
    return Tcp(congestion=congestion, receive_buffer=receive_buffer, rto=rto)


def _scps(congestion: Congestion, receive_buffer: str) -> Tcp:
    return Tcp(
        profile="scps",
        congestion=congestion,
        loss_assumption="corruption",
        receive_buffer=receive_buffer,
        route="path",
    )


def swarm(
    *,
    nodes: int = 60,
    flows: int = 30,
    speed: str = "25 m/s",
    power: str = "32.02 dBm",
    routing: RoutingProtocol = "aodv",
    congestion: Congestion | None = None,
    duration: str = "100 s",
) -> Scenario:
    """A swarm of drones on one radio channel that forward each other's flows.

    The nodes fly through a box of 400 m x 400 m x 100 m (Gauss-Markov), share 802.11n at 24 Mbit/s, and 30 pairs of
    them send as much as TCP allows. The set-up comes from a paper that compares CUBIC with BBR in FANETs, with 16 dB
    more power than ns-3's default, so that most pairs can reach each other over a few hops.

    Examples
    --------
    >>> swarm(nodes=40).topology.nodes
    40
    """
    return _swarm("swarm", nodes, flows, speed, power, routing, congestion, duration)


def swarm_default_radio(
    *,
    nodes: int = 60,
    flows: int = 30,
    speed: str = "25 m/s",
    routing: RoutingProtocol = "aodv",
    congestion: Congestion | None = None,
    duration: str = "100 s",
) -> Scenario:
    """The swarm with the power of ns-3's default radio: data frames reach 44 m, and few pairs are connected."""
    return _swarm("swarm-default-radio", nodes, flows, speed, "16.0206 dBm", routing, congestion, duration)


def _swarm(
    name: str,
    nodes: int,
    flows: int,
    speed: str,
    power: str,
    routing: RoutingProtocol,
    congestion: Congestion | None,
    duration: str,
) -> Scenario:
    return Scenario(
        name=name,
        duration=duration,
        defaults=None if congestion is None else Defaults(tcp=Tcp(congestion=congestion)),
        topology=Swarm(
            nodes=nodes,
            area=["400 m", "400 m", "100 m"],
            mobility=_flight(speed),
            medium=Medium(rate="24 Mbit/s", power=power, routing=routing),
            flows=flows,
            flow=FlowTemplate(start=DRAWN_START),
        ),
    )


def _flight(speed: str) -> dict[str, object]:
    """Returns a Gauss-Markov model with constant speed and gentle turns, as common in studies of swarms."""
    return {
        "model": "gauss-markov",
        "alpha": 0.85,
        "time_step": "500 ms",
        "speed_min": "0 m/s",
        "speed_max": speed,
        "speed_variance": 0.0,
        "direction_variance": 0.2,
        "pitch_variance": 0.02,
    }


def search_and_rescue(
    *,
    nodes: int = 20,
    routing: RoutingProtocol = "aodv",
    congestion: Congestion | None = None,
    duration: str = "60 s",
) -> Scenario:
    """A swarm on a search, with a gateway on the ground and a geostationary satellite from the gateway to the server.

    Six drones each send an image of 2 MB to the server. The gateway's radio is in the middle of the field, with an
    antenna of 6 dB.
    """
    delay: Delay = {"orbit": "geo", "elevation": ["40 deg", "25 deg"], "processing": "40 ms"}
    return Scenario(
        name="search-and-rescue",
        duration=duration,
        defaults=None if congestion is None else Defaults(tcp=Tcp(congestion=congestion)),
        topology=Swarm(
            nodes=nodes,
            area=["600 m", "600 m", "80 m"],
            mobility=_flight("15 m/s"),
            medium=Medium(rate="24 Mbit/s", power="32.02 dBm", routing=routing),
            flows=0,
        ),
        nodes=(Node(name="gateway", at=["300 m", "300 m", "2 m"], radio=Radio(gain="6 dB")),),
        links=(Link(between=("gateway", "server"), rate="5 Mbit/s", delay=delay, queue="1 bdp"),),
        flows=tuple(Flow(from_=f"uav{at}", to="server", transfer="2 MB", start=DRAWN_START) for at in range(1, 7)),
    )


def rcs2_beam(
    *,
    terminals: int = 100,
    transfer: str = "500 kB",
    congestion: Congestion | None = None,
    duration: str = "120 s",
) -> Scenario:
    """Terminals that share the return link of a geostationary beam, as in DVB-RCS2.

    Each terminal sends a file by TCP to the gateway. It requests slots for its waiting packets, first by random
    access and then in its bursts, and waits two round trips for the first of them.

    Examples
    --------
    >>> rcs2_beam(terminals=10).topology.nodes
    11
    """
    return Scenario(
        name="rcs2-beam",
        duration=duration,
        defaults=None if congestion is None else Defaults(tcp=Tcp(congestion=congestion)),
        topology=Swarm(
            nodes=terminals + 1,
            medium=Medium(
                name="beam",
                kind="rcs2",
                carriers=4,
                slots=40,
                contention_slots=20,
                contention="crdsa-2",
                rate_based="512 kbit/s",
            ),
            flow=FlowTemplate(transfer=transfer, start={"uniform": ["0 s", "10 s"]}),
        ),
        record=Record(trace="off"),
    )


def iot_direct(
    *,
    sensors: int = 10_000,
    every: str = "1200 s",
    duration: str = "1 h",
) -> Scenario:
    """Sensors that send messages with LoRa to a satellite in low orbit, without any coordination.

    Each sensor sends 20 B at random times, on one of 8 channels and with one of 6 spreading factors. Nothing is
    repeated.

    Examples
    --------
    >>> iot_direct(sensors=10).topology.nodes
    11
    """
    return Scenario(
        name="iot-direct",
        duration=duration,
        topology=Swarm(
            nodes=sensors + 1,
            medium=Medium(
                name="satellite",
                kind="random_access",
                technique="lora",
                delay="4 ms",
                channels=8,
                power_spread="3 dB",
            ),
            flow=FlowTemplate(transport="udp", traffic={"kind": "poisson", "size": "20 B", "every": every}),
        ),
        record=Record(trace="off"),
    )


def adhoc_chain(
    *,
    hops: int = 4,
    gap: float = 40,
    routing: str = "static",
    congestion: Congestion | None = None,
    duration: str = "30 s",
) -> Scenario:
    """Nodes in a row, each in range of its neighbours only, with one flow from the first to the last.

    Neighbours are `gap` metres apart. The receivers are sensitive (detection at -101 dBm), so that a node receives
    two neighbours on each side, and few of its frames collide with frames of hidden nodes.
    """
    return Scenario(
        name="adhoc-chain",
        duration=duration,
        defaults=None if congestion is None else Defaults(tcp=Tcp(congestion=congestion)),
        media=(Medium(rate="24 Mbit/s", detection="-101 dBm", routing=routing),),
        nodes=tuple(Node(name=f"node{at}", at=[f"{gap * at:g} m", "0 m", "0 m"]) for at in range(hops + 1)),
        flows=(Flow(from_="node0", to=f"node{hops}"),),
    )


PRESETS: dict[str, Callable[[], Scenario]] = {
    "geo": geo,
    "meo": meo,
    "leo": leo,
    "moon": moon,
    "mars": mars,
    "scps-moon": scps_moon,
    "scps-mars": scps_mars,
    "heterogeneous": heterogeneous,
    "satellite-iot": satellite_iot,
    "rcs2-beam": rcs2_beam,
    "iot-direct": iot_direct,
    "dumbbell": dumbbell,
    "swarm": swarm,
    "swarm-default-radio": swarm_default_radio,
    "search-and-rescue": search_and_rescue,
    "adhoc-chain": adhoc_chain,
    "starlink-550": starlink_550,
    "kuiper-630": kuiper_630,
    "telesat-1015": telesat_1015,
    "oneweb": oneweb,
    "iridium": iridium,
    "o3b": o3b,
    "geo-leo": geo_leo,
    "leo-iot": leo_iot,
    "starlink-measured": starlink_measured,
    "asymmetric": asymmetric,
    "deep-space": deep_space,
    "long-fat": long_fat,
    "lossy": lossy,
    "siot": siot,
    "traffic": traffic,
    "starlink-2026": starlink_2026,
    "starlink-autobahn": starlink_autobahn,
    "astra-geo": astra_geo,
    "konnect-geo": konnect_geo,
    "lte-2023": lte_2023,
    "dsl-2023": dsl_2023,
    "netem-lanman": netem_lanman,
    "geo-web": geo_web,
    "geo-pep": geo_pep,
}
"""Functions that build the presets, by name; their parameters have defaults."""


def __dir__() -> list[str]:
    return sorted(__all__)
