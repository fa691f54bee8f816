"""Algorithms of one's own: congestion control, queue disciplines, traffic and routers as classes in Python.

Examples
--------
>>> import lightlag as ll
>>> class Aimd(ll.CongestionControl):
...     "Additive increase, multiplicative decrease."
...
...     beta: float = ll.parameter(0.5, least=0.1, most=0.9)
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

`docs/own-algorithm.md` is a tutorial.
"""

from __future__ import annotations

from lightlag.own.algorithm import choice, is_own, named, register
from lightlag.own.base import (
    AGAIN,
    CONGESTION,
    CORRUPTION,
    DROP,
    GROUND,
    LOSS,
    MARK,
    NOWHERE,
    PASS,
    REPEATED_TIMEOUT,
    TIMEOUT,
    WAIT,
    CongestionControl,
    LossResponse,
    QueueDiscipline,
    Router,
    SkyRouter,
    Traffic,
    parameter,
    state,
    uniform,
)
from lightlag.own.files import load
from lightlag.own.jit import compiled

__all__ = [
    "AGAIN",
    "CONGESTION",
    "CORRUPTION",
    "DROP",
    "GROUND",
    "LOSS",
    "MARK",
    "NOWHERE",
    "PASS",
    "REPEATED_TIMEOUT",
    "TIMEOUT",
    "WAIT",
    "CongestionControl",
    "LossResponse",
    "QueueDiscipline",
    "Router",
    "SkyRouter",
    "Traffic",
    "choice",
    "compiled",
    "is_own",
    "load",
    "named",
    "parameter",
    "register",
    "state",
    "uniform",
]
