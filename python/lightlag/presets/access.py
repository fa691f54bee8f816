"""Presets of access links that were measured: Starlink, geostationary satellites, LTE, DSL, and netem.

Each number has its source in the comments of the file in ``scenarios``; the others are marked there as choices of ours.
"""

from __future__ import annotations

from lightlag.scenario import (
    Aggregate,
    Congestion,
    Defaults,
    Directions,
    Flow,
    Link,
    Loss,
    Queue,
    Ramp,
    Scenario,
    Slots,
    Tcp,
    Time,
)

__all__ = [
    "astra_geo",
    "dsl_2023",
    "konnect_geo",
    "lte_2023",
    "netem_lanman",
    "starlink_2026",
    "starlink_autobahn",
]

STEPS = {"distribution": "lognormal", "median": "17 ms", "sigma": 0.6}
"""Additional delay of a slot, one for both directions."""


def starlink_2026(
    *, congestion: Congestion | None = None, per_flow: bool = True, transfer: str | None = None, duration: Time = "60 s"
) -> Scenario:
    """A download over Starlink as measured in 2026: slots of 15 s, rates that follow demand, head-drop queues.

    With 100 and 30 Mbit/s at rest, a queue raises the rates to 340 and 60 Mbit/s within 400 ms. One study found queues
    per flow (doi 10.1145/3789240.3829162), another one none (arXiv 2605.27717): `per_flow` selects. Both
    drop at the head of a queue.

    Examples
    --------
    >>> starlink_2026(congestion="bbr").links[1].queue.forward["limit"]
    '1500 packets'
    """
    down, up = _queue("1500 packets", per_flow), _queue("4000 packets", per_flow)
    slots: Slots = {"period": "15 s", "phase": "12 s", "outage": "100 ms"}
    frames: Aggregate = {"interval": "1.33 ms"}
    losses: Directions[Loss] = Directions({"mean": 0.0033, "burst": 1.2}, 4e-4)
    terminal = Link(
        between=("gateway", "terminal"),
        rate=Directions("340 Mbit/s", "60 Mbit/s"),
        delay="7.4 ms",
        queue=Directions(down, up),
        loss=losses,
        slots=Directions({**slots, "step": STEPS}, slots),
        ramp=Directions(_ramp("100 Mbit/s"), _ramp("30 Mbit/s")),
        aggregate=frames,
    )
    return Scenario(
        name="starlink-2026",
        duration=duration,
        defaults=_defaults(congestion),
        links=(Link(between=("server", "gateway"), rate="10 Gbit/s", delay="2 ms"), terminal),
        flows=(Flow(name="download", from_="server", to="terminal", transfer=transfer),),
    )


def starlink_autobahn(*, congestion: Congestion | None = None, duration: Time = "120 s") -> Scenario:
    """A download and an upload over Starlink in a moving car: bridges block the link for 7 % of the time.

    The rates apply in seconds with a link, so that their means over a run are 218 and 15.6 Mbit/s.
    """
    slots: Slots = {"period": "15 s", "phase": "12 s", "outage": "100 ms", "dip": 0.82}
    terminal = Link(
        between=("gateway", "terminal"),
        rate=Directions("237 Mbit/s", "17 Mbit/s"),
        delay="7.4 ms",
        queue=Directions(_queue("1500 packets", True), _queue("4000 packets", True)),
        slots=Directions({**slots, "step": STEPS}, slots),
        channel={"good": {"mean_time": "28 s"}, "bad": {"mean_time": "2 s", "loss": 1, "rate": 0.01}},
        aggregate={"interval": "1.33 ms"},
    )
    return Scenario(
        name="starlink-autobahn",
        duration=duration,
        defaults=_defaults(congestion),
        links=(Link(between=("server", "gateway"), rate="10 Gbit/s", delay="2 ms"), terminal),
        flows=(
            Flow(name="download", from_="server", to="terminal"),
            Flow(name="upload", from_="terminal", to="server"),
        ),
    )


def astra_geo(*, congestion: Congestion | None = None, duration: Time = "60 s") -> Scenario:
    """A download over a geostationary satellite of Astra: 20 and 2 Mbit/s, 600 ms, measured in 2023."""
    return _measured("astra-geo", "20 Mbit/s", "2 Mbit/s", "299 ms", "2 bdp", congestion, duration)


def konnect_geo(*, congestion: Congestion | None = None, duration: Time = "60 s") -> Scenario:
    """A download over Eutelsat's geostationary satellite Konnect: 50 and 5 Mbit/s, 600 ms, measured in 2023."""
    return _measured("konnect-geo", "50 Mbit/s", "5 Mbit/s", "299 ms", "2 bdp", congestion, duration)


def lte_2023(*, congestion: Congestion | None = None, duration: Time = "60 s") -> Scenario:
    """A download over LTE: 50 and 25 Mbit/s, 35 ms, in subframes of 1 ms, measured in 2023."""
    frames: Aggregate = {"interval": "1 ms"}
    return _measured("lte-2023", "50 Mbit/s", "25 Mbit/s", "16 ms", "5 bdp", congestion, duration, frames)


def dsl_2023(*, congestion: Congestion | None = None, duration: Time = "60 s") -> Scenario:
    """A download over DSL: 50 and 10 Mbit/s, 25 ms, measured in 2023."""
    return _measured("dsl-2023", "50 Mbit/s", "10 Mbit/s", "11.5 ms", "3 bdp", congestion, duration)


def netem_lanman(
    *,
    rate: str = "10 Mbit/s",
    delay: Time = "300 ms",
    loss: float = 0.01,
    congestion: Congestion | None = None,
    duration: Time = "60 s",
) -> Scenario:
    """A cell of a published experiment with the kernel over netem: downloads of 60 s at 10 Mbit/s and 600 ms.

    netem loses, delays and counts bursts of the sender (GSO) as one packet, and the receiver gets a burst as one.
    """
    defaults = Defaults(tcp=Tcp(profile="linux", congestion=congestion, receive_offload=True))
    lossy: Loss = {"bursts": loss, "where": "after queue"} if loss else 0
    link = Link(
        between=("server", "client"),
        rate=rate,
        delay=delay,
        queue={"discipline": "netem", "limit": "1000 packets"},
        loss=lossy,
        header="14 B",
    )
    return Scenario(
        name="netem-lanman",
        duration=duration,
        defaults=defaults,
        links=(link,),
        flows=(Flow(name="download", from_="server", to="client"),),
    )


def _measured(
    name: str,
    down: str,
    up: str,
    delay: str,
    queue: str,
    congestion: Congestion | None,
    duration: Time,
    frames: Aggregate | None = None,
) -> Scenario:
    """Returns a download over an access link with these rates."""
    link = Link(between=("gateway", "terminal"), rate=Directions(down, up), delay=delay, queue=queue, aggregate=frames)
    return Scenario(
        name=name,
        duration=duration,
        defaults=_defaults(congestion),
        links=(Link(between=("server", "gateway"), rate="1 Gbit/s", delay="1 ms"), link),
        flows=(Flow(name="download", from_="server", to="terminal"),),
    )


def _queue(limit: str, per_flow: bool) -> Queue:
    """Returns a queue that drops at its head."""
    if per_flow:
        return {"discipline": "per_flow", "limit": limit, "drop": "head"}
    return {"discipline": "head_drop", "limit": limit}


def _ramp(idle: str) -> Ramp:
    return {"idle": idle, "time": "400 ms", "reset": True}


def _defaults(congestion: Congestion | None) -> Defaults | None:
    return None if congestion is None else Defaults(tcp=Tcp(congestion=congestion))
