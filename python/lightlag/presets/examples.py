"""Presets that each show one effect: the files in ``scenarios`` that are neither constellations nor swarms."""

from __future__ import annotations

from lightlag.scenario import (
    Congestion,
    Defaults,
    Directions,
    Flow,
    Link,
    PointToPoint,
    Rto,
    Scenario,
    Tcp,
    Time,
    Traffic,
)

__all__ = ["asymmetric", "deep_space", "long_fat", "lossy", "siot", "traffic"]


def asymmetric(*, back: str = "5 kbit/s", congestion: Congestion | None = None, duration: Time = "120 s") -> Scenario:
    """A path whose bottleneck is the link of the ACKs: 1.5 Mbit/s forward, 5 kbit/s back.

    The return link carries 12 ACKs per second, so the data never reaches the rate of its own link.
    """
    return Scenario(
        name="asymmetric",
        duration=duration,
        defaults=_defaults(congestion),
        links=(
            Link(between=("client", "router"), rate="100 Mbit/s", delay="10 us"),
            Link(
                between=("router", "server"),
                rate=Directions("1.5 Mbit/s", back),
                delay="50 ms",
                queue=Directions("36 packets", "1000 packets"),
            ),
        ),
        flows=(Flow(from_="client", to="server", transfer="5 MB", tcp=Tcp(mss="472 B")),),
    )


def deep_space(*, loss: float = 1e-5, congestion: Congestion = "hybla", duration: Time = "10 min") -> Scenario:
    """A path to the Moon over a ground station and a relay, with a round trip longer than TCP's first timeout of 1 s.

    Every round of slow start costs 2.6 s.
    """
    return Scenario(
        name="deep-space",
        duration=duration,
        defaults=Defaults(tcp=Tcp(congestion=congestion, receive_buffer="4 MB", rto=Rto(initial="6 s", min="1 s"))),
        links=(
            Link(between=("control", "ground-station"), rate="1 Gbit/s", delay="20 ms"),
            Link(between=("ground-station", "lunar-relay"), rate="10 Mbit/s", delay="1.28 s", queue="1 bdp", loss=loss),
            Link(between=("lunar-relay", "rover"), rate="20 Mbit/s", delay="10 ms"),
        ),
        flows=(Flow(name="upload", from_="control", to="rover", transfer="50 MB"),),
    )


def long_fat(*, congestion: Congestion | None = None, duration: Time = "60 s") -> Scenario:
    """A long fat network: one flow over 1 Gbit/s and 600 ms needs 75 MB, more than 50,000 segments, in flight."""
    return Scenario(
        name="long-fat",
        duration=duration,
        defaults=Defaults(tcp=Tcp(congestion=congestion, receive_buffer="256 MB")),
        topology=PointToPoint(rate="1 Gbit/s", delay="300 ms", queue="1 bdp"),
    )


def lossy(*, bit_error_rate: float = 1e-6, duration: Time = "120 s") -> Scenario:
    """Corruption that TCP takes for congestion: a transfer by three algorithms, each over its own radio link.

    With one bit error in a million, 1.2 % of the full packets are lost, but hardly any ACKs.
    """
    algorithms = ("newreno", "cubic", "hybla")
    loss = {"bit_error_rate": bit_error_rate}
    return Scenario(
        name="lossy",
        duration=duration,
        links=tuple(
            Link(between=(f"a{at}", f"b{at}"), rate="10 Mbit/s", delay="50 ms", queue="1 bdp", header="7 B", loss=loss)
            for at in range(1, len(algorithms) + 1)
        ),
        flows=tuple(
            Flow(name=name, from_=f"a{at}", to=f"b{at}", transfer="10 MB", congestion=name)
            for at, name in enumerate(algorithms, 1)
        ),
    )


def siot(*, loss: float = 5e-4, duration: Time = "300 s") -> Scenario:
    """A sensor network over a satellite: CUBIC next to Hybla over a lossy 400 ms path, in segments of 1024 B."""
    return Scenario(
        name="siot",
        duration=duration,
        defaults=Defaults(tcp=Tcp(profile="linux", congestion="cubic", mss="1024 B")),
        links=(
            Link(between=("client", "gateway"), rate="1 Gbit/s", delay="1 ms"),
            Link(between=("gateway", "server"), rate="100 Mbit/s", delay="200 ms", queue="10000 packets", loss=loss),
        ),
        flows=(
            Flow(name="f1", from_="client", to="server", transfer="15 MiB"),
            Flow(
                name="f2",
                from_="client",
                to="server",
                transfer="15 MiB",
                start="1.2 s",
                tcp=Tcp(congestion="hybla", receive_buffer="8 MB"),
            ),
        ),
    )


def traffic(*, loss: float = 1e-4, congestion: Congestion | None = None, duration: Time = "120 s") -> Scenario:
    """Applications over a satellite: web pages, requests, transfers, a call, a stream and alarms share 20 Mbit/s."""
    down, up = ("internet", "home"), ("home", "internet")
    return Scenario(
        name="traffic",
        duration=duration,
        defaults=_defaults(congestion),
        links=(
            Link(between=("internet", "gateway"), rate="20 Mbit/s", delay="280 ms", queue="1 bdp", loss=loss),
            Link(between=("gateway", "home"), rate="100 Mbit/s", delay="2 ms"),
        ),
        flows=(
            _flow("browser", down, _PAGES),
            _flow("multiplexed", down, _MULTIPLEXED, start="1 s"),
            _flow("database", down, _DATABASE),
            _flow("downloads", down, _DOWNLOADS),
            _flow("call", up, _CALL, "udp"),
            _flow("stream", down, {"kind": "constant", "rate": "4 Mbit/s", "size": "1316 B"}, "udp", start="10 s"),
            _flow("upload", up, {"kind": "constant", "rate": "200 kbit/s"}),
            _flow("thermometer", up, _THERMOMETER, "udp"),
            _flow("events", up, {"kind": "poisson", "size": _exponential("300 B"), "every": "200 ms"}, "udp"),
            _flow("alarm", up, {"kind": "burst", "size": "5 kB", "messages": 20, "every": _exponential("30 s")}, "udp"),
        ),
    )


def _defaults(congestion: Congestion | None) -> Defaults | None:
    return None if congestion is None else Defaults(tcp=Tcp(congestion=congestion))


def _exponential(mean: str) -> dict[str, str]:
    return {"distribution": "exponential", "mean": mean}


def _flow(
    name: str, ends: tuple[str, str], traffic: Traffic, transport: str | None = None, start: Time | None = None
) -> Flow:
    udp = {"transport": transport} if transport is not None else {}
    return Flow(name=name, from_=ends[0], to=ends[1], traffic=traffic, start=start, **udp)  # type: ignore[arg-type]


_PAGES = {
    "kind": "web",
    "html": {"distribution": "lognormal", "mean": "30 kB", "sigma": 1.0},
    "objects": {"distribution": "uniform", "min": 5, "max": 40},
    "object": {"distribution": "pareto", "mean": "15 kB", "shape": 1.2, "max": "2 MB"},
    "server_time": "20 ms",
    "think": _exponential("5 s"),
}
_MULTIPLEXED = {
    "kind": "web",
    "http": "2",
    "html": "30 kB",
    "objects": 20,
    "object": "15 kB",
    "think": "5 s",
    "count": 10,
}
_DATABASE = {
    "kind": "requests",
    "request": "200 B",
    "response": {"distribution": "empirical", "values": ["1 kB", "20 kB"], "weights": [9, 1]},
    "server_time": _exponential("10 ms"),
    "think": "500 ms",
}
_DOWNLOADS = {
    "kind": "transfers",
    "load": 0.3,
    "size": {"distribution": "pareto", "mean": "200 kB", "shape": 1.5, "max": "20 MB"},
    "stop": "100 s",
}
_CALL = {
    "kind": "on_off",
    "rate": "64 kbit/s",
    "size": "160 B",
    "on": _exponential("1 s"),
    "off": _exponential("1.35 s"),
}
_THERMOMETER = {
    "kind": "periodic",
    "size": "100 B",
    "every": "1 s",
    "first": {"distribution": "uniform", "min": "0 s", "max": "1 s"},
}
