"""The paths of the test cases: a sender, a router, and a bottleneck link to the receiver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lightlag.validation.cases.phases import BITS, Run
from lightlag.validation.cases.traffic import Phased
from lightlag.validation.tasks import Choice

__all__ = ["Path"]

TCP: dict[str, Any] = {"profile": "linux", "tso": False, "receive_buffer": "64 MiB"}
"""TCP of Linux without bursts; the receive window never limits."""
ACCESS_S = 0.001
"""Propagation delay of the sender's access link."""
JITTER = "20 us"
"""Jitter of the access link, so that the runs of an algorithm without random decisions also differ between seeds."""


@dataclass(frozen=True)
class Path:
    """A path with one flow, named ``test``."""

    rate_bps: float = 20e6
    rtt_s: float = 0.05
    queue: Any = "250 kB"
    seconds: float = 20.0
    changes: tuple[Mapping[str, Any], ...] = ()
    """Changes of the bottleneck in the direction of the data."""
    back: tuple[Mapping[str, Any], ...] = ()
    """Changes of the bottleneck in the direction of the ACKs."""
    traffic: Any = None
    """Traffic of the application; without it the application always has data."""
    link: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of the bottleneck."""
    jitter: str = JITTER
    """Jitter of the access link."""
    policed_bps: float = 0.0
    """Rate of a policer before the queue; 0 without one."""

    @property
    def payload_bps(self) -> float:
        """Rate of the bottleneck in payload."""
        return self.rate_bps * BITS

    @property
    def capacity_bps(self) -> float:
        """Payload rate of the policer or the bottleneck."""
        return (self.policed_bps or self.rate_bps) * BITS

    @property
    def product(self) -> float:
        """Bandwidth-delay product in bytes of payload."""
        return self.payload_bps * self.rtt_s / 8

    def changed(self, *changes: Mapping[str, Any]) -> Path:
        """Returns the path with more changes of the bottleneck, which are sorted by time."""
        every = sorted((*self.changes, *changes), key=lambda change: float(str(change["at"]).split()[0]))
        return replace(self, changes=tuple(every))

    def limited(self, run: Run, at_s: float, rate_bps: float = 0.0, resume_s: float = 0.0) -> Path:
        """Returns the path with an application that is limited since a given time.

        Until then it is as in `run`, which had the same seed and unlimited data. A rate of zero is a pause, and with
        `resume_s` the application has unlimited data again after that time.
        """
        first = int(run.value(run.sent, at_s))
        gap = round(1448 * 8e9 / rate_bps) if rate_bps else 0
        rest = int(self.rate_bps * self.seconds / 8) if resume_s else 0
        resume = round((resume_s or self.seconds + 1) * 1e9)
        return replace(self, traffic=Phased(first, round(at_s * 1e9), gap, resume, rest))

    def scenario(self, choice: Choice) -> dict[str, Any]:
        """Returns the scenario."""
        flow = {"from": "sender", "to": "receiver", "name": "test"}
        one_way = self.rtt_s / 2 - ACCESS_S
        link = {
            "between": ["router", "receiver"],
            "rate": f"{self.rate_bps / 1e6:.9g} Mbit/s",
            "delay": f"{one_way * 1e3:.9g} ms",
            "queue": {"forward": self.queue, "backward": "100000 packets"},
            **self.link,
        }
        if self.changes or self.back:
            link["changes"] = {"forward": list(self.changes), "backward": list(self.back)}
        access = {"rate": "1 Gbit/s", "delay": f"{ACCESS_S * 1e3:g} ms", "queue": "100000 packets"}
        if self.jitter != "0 s":
            access["jitter"] = self.jitter
        return {
            "name": "bbr-case",
            "duration": f"{self.seconds:g} s",
            "defaults": {"tcp": TCP, "congestion": [choice]},
            "links": [{"between": ["sender", "router"], **access}, link],
            "flows": [flow if self.traffic is None else flow | {"traffic": self.traffic}],
            "record": {
                "trace": "change",
                "internals": True,
                "queue": "sampled",
                "interval": "1 ms",
                "queueing": True,
                "drops": True,
            },
        }


def pulses(period_s: float, open_s: float, start_s: float, end_s: float) -> Sequence[Mapping[str, Any]]:
    """Returns the changes of a link that is open only briefly in each period, so that packets leave it in bursts."""
    found: list[Mapping[str, Any]] = []
    count = int((end_s - start_s) / period_s)
    for number in range(count):
        at = start_s + number * period_s
        found.append({"at": f"{at:.6f} s", "down": True})
        found.append({"at": f"{at + period_s - open_s:.6f} s", "down": False})
    return found
