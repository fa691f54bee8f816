"""Measurements of ns-3 on this path: version 3.37, `benchmarks/simulators/ns3/asymmetric.cc`.

    make target/simulators/ns3-asymmetric
    target/simulators/ns3-asymmetric --algorithm=TcpVegas --return=5 --interval=100 --access-queue=100000

ns-3 has no SCPS-TP. An ACK every 0.1 s is a delayed ACK without a limit on the number of segments, and a deep
queue at the client stands for rate control: without losses, the paper's SCPS-TP does the same. Throughputs are in
kbit/s.
"""

from __future__ import annotations

from lightlag_papers.scps_ns3.setting import NEWRENO, SCPS, VEGAS, Setting

RETURNS_BPS = (1.5e6, 15e3, 5e3, 3e3, 2e3, 1.5e3)
DELAYS_S = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
MTUS = (100, 256, 512, 750, 1000, 1250, 1500)

BY_RETURN = {
    NEWRENO: (1203.1, 356.0, 119.3, 71.6, 47.8, 29.0),
    VEGAS: (424.7, 235.0, 112.2, 67.4, 44.9, 16.9),
    SCPS: (772.3, 788.1, 824.8, 488.8, 355.3, 275.0),
}
BY_DELAY = {
    (NEWRENO, 1.5e6): (1203.1, 967.5, 720.4, 683.3, 610.5, 460.9),
    (SCPS, 1.5e6): (772.3, 540.6, 447.5, 381.6, 329.3, 291.7),
    (NEWRENO, 3e3): (71.6, 71.6, 71.5, 71.4, 71.3, 71.2),
    (SCPS, 3e3): (488.8, 427.7, 362.7, 315.5, 279.9, 249.0),
}
BY_MTU = {
    NEWRENO: (19.7, 32.8, 71.6, 107.7, 145.4, 183.1, 220.8),
    SCPS: (260.1, 402.4, 488.8, 548.7, 605.8, 682.0, 739.7),
}
ALGORITHMS = {
    ("HighSpeed", "tcp"): (1238.1, 356.0, 119.3, 71.6, 47.8, 29.0),
    ("HighSpeed", "scps"): (1117.8, 1078.6, 1002.7, 826.5, 319.3, 235.2),
    ("Hybla", "tcp"): (1226.8, 356.0, 119.4, 71.7, 14.7, 12.1),
    ("Hybla", "scps"): (1117.8, 1078.6, 1315.9, 1244.6, 828.5, 621.3),
}
"""Throughputs by rate of the return link, as TCP and with an ACK every 0.1 s; 3.37 lacks the Westwood of 2017."""
ERRORS = {
    0.05: (97.3, 102.0, 100.6, 105.0, 103.7, 104.7, 99.4, 99.7, 100.8, 103.3),
    0.1: (56.2, 59.0, 58.0, 60.8, 60.3, 59.7, 56.7, 57.7, 58.0, 59.6),
}
"""Throughput of NewReno with a bit error rate of 1e-5, for ten seeds, by delay."""

SHORT_QUEUE, SHORT_QUEUE_UNLIMITED = (659.5, 399.2), (660.5, 420.8)
"""Throughputs of NewReno with a short return queue, as means over the ten delays of our runs.

The options are `--return=15 --return-queue=36`, first with an ACK for each segment
(`--ns3::TcpSocket::DelAckCount=1`), then for every second one. The second pair is without limited transmit
(`--ns3::TcpSocketBase::LimitedTransmit=false`).
"""
BY_DELAY_UNLIMITED = (1213.3, 1020.6, 833.8, 706.3, 545.4, 435.3)
"""Throughput of NewReno by delay, without limited transmit."""


def kbps(setting: Setting) -> float | None:
    """Returns the throughput of a point in kbit/s; None if it was not measured."""
    one, rate = setting.transport, setting.return_bps
    if setting.mtu != 512:
        return BY_MTU[one][MTUS.index(setting.mtu)] if one in BY_MTU and rate == 3e3 else None
    if setting.delay_s != 0.05:
        found = BY_DELAY.get((one, rate))
        return found[DELAYS_S.index(setting.delay_s)] if found else None
    return BY_RETURN[one][RETURNS_BPS.index(rate)] if one in BY_RETURN and rate in RETURNS_BPS else None


def ratio(a: Setting, b: Setting) -> float:
    """Returns the ratio of the throughputs of two points; None if one of them was not measured."""
    values = [kbps(one) for one in (a, b)]
    return (values[0] or float("nan")) / (values[1] or float("nan"))


def shown(setting: Setting) -> str:
    """Returns the throughput of a point as text; empty if it was not measured."""
    value = kbps(setting)
    return "" if value is None else f"{value:.0f}"
