"""Custom algorithms: congestion control, queue disciplines, traffic and routers as classes in Python.

Examples
--------
>>> import lightlag as ll
>>> class Aimd(ll.CongestionControl):
...     "Additive increase, multiplicative decrease."
...
...     beta: float = ll.parameter(0.5, min=0.1, max=0.9)
...
...     def on_ack(self, ack):
...         if ack.may_grow:
...             self.cwnd += ack.growth if self.cwnd < self.ssthresh else ack.growth / self.cwnd
...
...     def on_congestion(self, event):
...         self.ssthresh = max(2.0, self.beta * event.flight / self.segment_size)
...         self.cwnd = 1.0 if event.cause in (ll.TIMEOUT, ll.REPEATED_TIMEOUT) else self.ssthresh
>>> net = ll.Network("pair")
>>> net.link("a", "b", rate="2 Mbit/s", delay="20 ms")
>>> net.flow("a", "b", transfer="100 kB", congestion=Aimd(beta=0.7))
>>> ll.run(net, duration="30 s").flows["congestion"].to_list()
['aimd']

`docs/custom-algorithms.md` is a tutorial.
"""

from __future__ import annotations

from lightlag.custom.algorithm import choice, is_custom, named, register
from lightlag.custom.base import (
    CONGESTION,
    CORRUPTION,
    DROP,
    GROUND,
    HOLD,
    LOSS,
    MARK,
    PASS,
    REPEATED_TIMEOUT,
    REROUTE,
    TIMEOUT,
    UNREACHABLE,
    CongestionControl,
    LossResponse,
    QueueDiscipline,
    Router,
    SatelliteRouter,
    Traffic,
    parameter,
    state,
    uniform,
)
from lightlag.custom.files import load
from lightlag.custom.jit import compiled

__all__ = [
    "CONGESTION",
    "CORRUPTION",
    "DROP",
    "GROUND",
    "HOLD",
    "LOSS",
    "MARK",
    "PASS",
    "REPEATED_TIMEOUT",
    "REROUTE",
    "TIMEOUT",
    "UNREACHABLE",
    "CongestionControl",
    "LossResponse",
    "QueueDiscipline",
    "Router",
    "SatelliteRouter",
    "Traffic",
    "choice",
    "compiled",
    "is_custom",
    "load",
    "named",
    "parameter",
    "register",
    "state",
    "uniform",
]
