"""NewReno without SACK after an overshoot, beside ns-3: one rule at a time."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from lightlag_papers.paper import Effort
from lightlag_papers.scps_ns3 import peer
from lightlag_papers.scps_ns3.setting import FORWARD_BPS, NEWRENO, Rates, Setting, Transport, rates
from lightlag_papers.table import BEFOREHAND, Row, Verdict

RETURN_BPS, RETURN_QUEUE = 15e3, 36
TOLERANCE = 0.1
EACH = NEWRENO.but("NewReno, an ACK a segment", delayed_ack="false")
PAIR = (EACH, NEWRENO)


def by_rfc(one: Transport) -> Transport:
    """The same with the reductions of RFC 5681 and RFC 6582."""
    return one.but(f"{one.label}, RFC", reductions='"rfc"')


@dataclass(frozen=True)
class Overshoot:
    """Throughputs of each run."""

    found: Rates

    @classmethod
    def run(cls, effort: Effort) -> Overshoot:
        """Run every point as ns-3 and as the RFCs."""
        wanted = [*map(narrow, PAIR), *(Setting(NEWRENO, FORWARD_BPS, delay) for delay in peer.DELAYS_S)]
        return cls(rates([*wanted, *(rfc(one) for one in wanted)], effort))

    def kbps(self, setting: Setting) -> float:
        """The mean of a point."""
        return statistics.fmean(self.found[setting]) / 1e3


def narrow(one: Transport) -> Setting:
    """A slow return link with a short queue: every third to tenth ACK arrives."""
    return Setting(one, RETURN_BPS, return_queue=RETURN_QUEUE)


def rfc(setting: Setting) -> Setting:
    """A point with the reductions of the RFCs."""
    return Setting(by_rfc(setting.transport), setting.return_bps, setting.delay_s, return_queue=setting.return_queue)


def rows(run: Overshoot) -> list[Row]:
    """Both places where ns-3 and we were apart."""
    delays = [Setting(NEWRENO, FORWARD_BPS, delay) for delay in peer.DELAYS_S]
    return [
        _row(
            run,
            "15 kbit/s back, a queue of 36 packets there: NewReno, an ACK for each segment, for every second, kbit/s",
            [narrow(one) for one in PAIR],
            peer.SHORT_QUEUE,
            peer.SHORT_QUEUE_UNLIMITED,
        ),
        _row(
            run,
            "1:1, NewReno at 50, 100, 150, 200, 250, 300 ms, kbit/s",
            delays,
            peer.BY_DELAY[NEWRENO, FORWARD_BPS],
            peer.BY_DELAY_UNLIMITED,
        ),
    ]


def _row(
    run: Overshoot, what: str, points: list[Setting], theirs: tuple[float, ...], unlimited: tuple[float, ...]
) -> Row:
    ours = [run.kbps(point) for point in points]
    before = [run.kbps(rfc(point)) for point in points]
    apart = [a / b - 1 for a, b in zip(ours, theirs, strict=True)]
    return Row(
        "beyond: overshoot",
        what,
        "",
        f"{_list(theirs)} (ns-3.37); {_list(unlimited)} (ns-3.37 without limited transmit)",
        f"{_list(ours)}; {_list(before)} with the reductions of the RFCs",
        Verdict.check(all(abs(value) <= TOLERANCE for value in apart)),
        f"each within {TOLERANCE:.0%} of ns-3.37 ({BEFOREHAND}): {', '.join(f'{value:+.0%}' for value in apart)}. The "
        "notes name the rules that decide",
    )


def _list(values: tuple[float, ...] | list[float]) -> str:
    return ", ".join(f"{value:.0f}" for value in values)


NOTES = (
    "**After an overshoot** NewReno without SACK was far from ns-3: 471 kbit/s against 659 with an ACK a segment over "
    "15 kbit/s and a return queue of 36 packets, 895 against 683 at equal rates and 200 ms. In traces "
    "(`asymmetric.cc --trace`, 50 and 200 ms) both enter and leave fast recovery and the repair after its timeout "
    "within 3 ms of each other; what differs is what they keep. Three rules of ns-3 follow, and profile `ns3` has them "
    '(`reductions = "ns3"`). *The threshold of the timeout*: half of what is in the network, of which each duplicate '
    "ACK is one segment less. Of 423 segments and 46 duplicates (ACK 1895, at 10.9 s) it keeps 188.5, where we bounded "
    "FlightSize by the window that was halved already and kept 105; that is all of the first difference. *The end of "
    "an episode*: duplicates of an ACK that is just its end begin the next, where RFC 6582 wants an ACK of more. After "
    "a timeout duplicates answer what was sent again in vain, and the window is halved once more for nothing (99.5 to "
    "49.5 segments at 15.1 s, 200 ms). *Partial ACKs* leave the window at ssthresh or above.",
    "**A fourth rule of ns-3 is not copied**, and remains between it and us at long delays. With limited "
    "transmit each duplicate ACK marks the segment behind the head as SACKed. When the next ACK makes that segment the "
    "head, `TcpTxBuffer::DiscardUpTo` takes the mark for an error, calls the segment lost and sends it again, though "
    "nothing is. The copy brings another duplicate ACK, which marks the next segment: from 15.8 s on (200 ms) nearly "
    "each ACK is answered by such a copy, 7240 in a file of 10594 segments, 2340 without limited transmit and some 570 "
    "with us. Each copy is acknowledged at once, and the window of a TCP that counts ACKs grows the faster.",
)
