"""Other congestion controls with a fixed ACK frequency: Fig. 5 (§4.2)."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from lightlag_papers.paper import Effort
from lightlag_papers.scps_ns3 import simulators
from lightlag_papers.scps_ns3.asymmetry import NARROW_BPS, QUEUES, RETURNS_BPS, TEXT_BPS
from lightlag_papers.scps_ns3.setting import Rates, Setting, Transport, kbps, rates, scps, shown, tcp
from lightlag_papers.table import BEFOREHAND, Layout, Row

ALGORITHMS = ("Westwood", "HighSpeed", "Hybla")
LEAST_GAIN = 1.3
NO_GAIN = (0.6, 1.2)
UNRATED = {"rate_control": '{ rate = "1 Gbit/s" }'}


@dataclass(frozen=True)
class Algorithms:
    """Throughputs of each congestion control, in TCP and in SCPS-TP."""

    found: Rates

    @classmethod
    def run(cls, effort: Effort) -> Algorithms:
        """Runs Fig. 5, and at one rate also other return queues and SCPS-TP without rate control."""
        wanted = [Setting(make(name), rate) for rate in RETURNS_BPS for name in ALGORITHMS for make in (tcp, scps)]
        for queue in QUEUES:
            for name in ALGORITHMS:
                both = (tcp(name), scps(name), unrated(name))
                wanted += [Setting(one, TEXT_BPS, return_queue=queue) for one in both]
        return cls(rates(wanted, effort))

    def mean(self, transport: Transport, return_bps: float, queue: int = QUEUES[-1]) -> float:
        """Returns the mean throughput of a point in kbit/s."""
        return statistics.fmean(self.found[Setting(transport, return_bps, return_queue=queue)]) / 1e3

    def gain(self, name: str, return_bps: float, queue: int = QUEUES[-1], *, rated: bool = True) -> float:
        """Returns the ratio of SCPS-TP's throughput to TCP's."""
        upper = scps(name) if rated else unrated(name)
        return self.mean(upper, return_bps, queue) / self.mean(tcp(name), return_bps, queue)


def unrated(name: str) -> Transport:
    """Returns SCPS-TP with this congestion control, without its token bucket."""
    one = scps(name)
    return Transport(f"{one.label}, no rate control", one.file, {**one.sets, **UNRATED})


def rows(run: Algorithms) -> list[Row]:
    """Returns the rows on the algorithms that gain from a fixed ACK frequency."""
    return [*(_gain_row(run, name) for name in ALGORITHMS), _queues_row(run)]


def _gain_row(run: Algorithms, name: str) -> Row:
    gains = [run.gain(name, rate) for rate in NARROW_BPS]
    gains_expected = name != "Hybla"
    low, high = NO_GAIN
    holds = min(gains) > LEAST_GAIN if gains_expected else low <= min(gains) and max(gains) <= high
    return Row.claim(
        "Fig. 5",
        f"{name}: SCPS-TP over TCP at 5, 3, 2 and 1.5 kbit/s",
        "improved" if gains_expected else "not improved",
        ", ".join(f"{gain:.1f}" for gain in gains),
        holds,
        f"above {LEAST_GAIN} ({BEFOREHAND})" if gains_expected else f"within {low} to {high} ({BEFOREHAND}). {HYBLA}",
        theory=_peers(name),
    )


def _peers(name: str) -> str:
    """Returns the gains measured in ns-3, as text; ns-3 no longer has the Westwood of that time."""
    if (name, "tcp") not in simulators.ALGORITHMS:
        return ""
    pairs = zip(simulators.ALGORITHMS[name, "scps"], simulators.ALGORITHMS[name, "tcp"], strict=True)
    gains = [a / b for a, b in pairs][-len(NARROW_BPS) :]
    return ", ".join(f"{gain:.1f}" for gain in gains) + " (ns-3.37)"


HYBLA = (
    "TCP Hybla is limited by its ACK clock like every other algorithm (119 kbit/s at 5 kbit/s). With few ACKs it "
    "gains most: ρ = RTT/RTT0 is 2 to 7, each ACK adds 2^ρ - 1 segments, 3 to 100, and rate control prevents its "
    "bursts from filling the queue. ns-3.37 agrees. Hybla also gains with every tested return queue with which "
    "Westwood and HighSpeed gain, with or without rate control"
)


def _queues_row(run: Algorithms) -> Row:
    parts = []
    for rated in (True, False):
        gains = [
            "/".join(f"{run.gain(name, TEXT_BPS, queue, rated=rated):.1f}" for name in ALGORITHMS) for queue in QUEUES
        ]
        parts.append(f"{', '.join(gains)}{'' if rated else ' without rate control'}")
    return Row.informing(
        "Fig. 5, 5 kbit/s",
        f"gain of {'/'.join(ALGORITHMS)} with a return queue of 5, 36 and 1000 packets",
        "; ".join(parts),
        "where ACKs are dropped TCP is faster, and the gain smaller; without rate control bursts overflow the first "
        "queue",
    )


def layout(run: Algorithms) -> Layout:
    """Returns the table of all points of Fig. 5."""
    header = ("return rate, kbit/s", *(text for name in ALGORITHMS for text in (name, f"as SCPS-TP, {name}", "gain")))
    lines = []
    for rate in RETURNS_BPS:
        cells = [f"{rate / 1e3:g}"]
        for name in ALGORITHMS:
            cells += [shown(kbps(run.found[Setting(make(name), rate)])) for make in (tcp, scps)]
            cells.append(f"{run.gain(name, rate):.1f}")
        lines.append(tuple(cells))
    return Layout("fig5", "Fig. 5: throughput in kbit/s by the rate of the return link", header, tuple(lines))
