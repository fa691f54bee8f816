"""Beyond the paper: SCPS-TP compared with BBR and Hybla over a geostationary satellite with bit errors."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

import lightlag as ll
from lightlag.analyse import Interval, mean_interval
from lightlag_papers.paper import Effort
from lightlag_papers.scenarios import scenario
from lightlag_papers.scps_ns3 import equations
from lightlag_papers.scps_ns3.asymmetry import ENOUGH, in_runs
from lightlag_papers.table import Layout, Row, Verdict, pm

RATE_BPS, RTT_S, PACKET = 9.5e6, 0.6, 1500
MSS = 1460
INTERVAL_S = 0.1
BERS = (0.0, 1e-8, 1e-7, 1e-6, 3e-6, 1e-5)
SEEDS = 10
HOLES, UNITS = 6, 160
"""Maximum number of holes that an ACK reports without a bit vector, and units that it covers with one."""
_SCPS = {"profile": "scps", "mss": f"{MSS} B", "rate_control": '{ rate = "9.5 Mbit/s" }'}
_RATED = _SCPS | {"congestion": '"none"', "loss_assumption": "corruption"}
_VEGAS = _SCPS | {"loss_assumption": '"congestion"'}
KINDS: dict[str, Mapping[str, str]] = {
    "SCPS-TP, rate only": _RATED,
    "SCPS-TP, rate only, bit vector": _RATED | {"scps": '{ snack = "long" }'},
    "rate only, SACK and RACK": _RATED | {"scps": "false", "sack": "true", "recovery": "rack"},
    "SCPS-TP, Vegas": _VEGAS,
    "SCPS-TP, Vegas, notified": _VEGAS,
    "BBR": {"congestion": '"bbr"'},
    "Hybla, paced": {"congestion": '"hybla"', "pacing": "true"},
    "CUBIC": {"congestion": '"cubic"'},
}
SCPS, VECTOR, RACK, VEGAS, TOLD, BBR, HYBLA, CUBIC = KINDS


@dataclass(frozen=True)
class Satellite:
    """Goodputs for each seed in Mbit/s, by name and bit error rate."""

    found: dict[tuple[str, float], list[float]]

    @classmethod
    def run(cls, effort: Effort) -> Satellite:
        """Runs all points."""
        seeds = effort.seeds_of(SEEDS)
        runs = [(name, ber, seed) for ber in BERS for name in KINDS for seed in seeds]
        return cls(effort.collect(lambda run: goodput(*run), runs, lambda run: run[:2]))

    def mean(self, name: str, ber: float) -> Interval:
        """Returns the mean of a point with its interval, in Mbit/s."""
        return mean_interval(self.found[name, ber])


def goodput(name: str, ber: float, seed: int, seconds: float = 120.0) -> float:
    """Runs one seed of a point, and returns the goodput in Mbit/s."""
    sets = {f"defaults.tcp.{key}": value for key, value in KINDS[name].items()}
    sets |= {"links.1.loss": f"{{ bit_error_rate = {ber:g} }}" if ber else "0", "duration": f"{seconds:g} s"}
    if name == TOLD:
        sets["links.1.signals"] = '"corruption"'
    (flow,) = ll.run(scenario("scps_ns3/geo"), seed=seed, sets=sets).summary["flows"]
    return float(flow["goodput_bps"]) / 1e6


def holes_mbps(ber: float) -> float:
    """Returns the maximum rate if ACKs report six holes: six losses are repaired per round trip plus interval.

    Examples
    --------
    >>> [round(holes_mbps(ber), 1) for ber in (1e-6, 3e-6, 1e-5)]
    [8.4, 2.8, 0.9]
    """
    p = equations.packet_error_rate(ber, PACKET + 2)
    full = equations.rated_bps(RATE_BPS, MSS, p)
    return min(full, HOLES / p / (RTT_S + INTERVAL_S) * MSS * 8 if p else full) / 1e6


def vector_mbps() -> float:
    """Returns the maximum rate with a bit vector, which follows from its length.

    Examples
    --------
    >>> round(vector_mbps(), 1)
    2.7
    """
    return UNITS / (RTT_S + INTERVAL_S) * MSS * 8 / 1e6


ITEM = "beyond: GEO"


def rows(run: Satellite) -> list[Row]:
    """Returns the rows on the order of the transports at each point."""
    return [
        *(_ahead_row(run, ber) for ber in BERS[2:]),
        _told_row(run),
        _holes_row(run),
        _vector_row(run),
        _rack_row(run),
    ]


def _ahead_row(run: Satellite, ber: float) -> Row:
    best = max((BBR, HYBLA, CUBIC), key=lambda name: run.mean(name, ber).mean)
    good = in_runs(run.found[SCPS, ber], run.found[best, ber], lambda a, b: a > b)
    count = len(run.found[SCPS, ber])
    expected = ber <= 1e-6
    return Row(
        ITEM,
        f"BER {ber:g}: goodput, Mbit/s, of {'; '.join(KINDS)}".replace("e-0", "e-"),
        "",
        f"at most {equations.rated_bps(RATE_BPS, MSS, equations.packet_error_rate(ber, PACKET + 2)) / 1e6:.2f}"
        + ("; SCPS-TP ahead, losses cost it nothing" if expected else ""),
        ", ".join(pm(run.mean(name, ber)) for name in KINDS),
        Verdict.check(good >= ENOUGH * count) if expected else Verdict.NOT_JUDGED,
        f"rate control alone above {best}, the best of the others, in {good} of {count} seeds"
        + ("" if expected else ": its reports, not its rate, are the limit here (below)"),
    )


def _told_row(run: Satellite) -> Row:
    bers = [ber for ber in BERS if 1e-8 < ber <= 1e-6]
    good = [in_runs(run.found[TOLD, ber], run.found[VEGAS, ber], lambda a, b: a > b) for ber in bers]
    count = len(run.found[TOLD, bers[0]])
    return Row.check(
        ITEM,
        f"BER {', '.join(f'{ber:.0e}'.replace('e-0', 'e-') for ber in bers)}: SCPS-TP with Vegas, with and without "
        "notification of each damaged packet by the station, Mbit/s",
        "notified losses do not reduce the window",
        "; ".join(f"{pm(run.mean(TOLD, ber))}, {pm(run.mean(VEGAS, ber))}" for ber in bers),
        min(good) >= ENOUGH * count,
        f"more with notification in 8 of 10 seeds; it is in {', '.join(map(str, good))} of {count}",
    )


def _holes_row(run: Satellite) -> Row:
    ours, ideal = run.mean(SCPS, 3e-6).mean, holes_mbps(3e-6)
    return Row.check(
        ITEM,
        "BER 3e-6: SCPS-TP, rate only, Mbit/s",
        f"{ideal:.2f} (six holes in a round trip and an interval)",
        f"{ours:.2f}",
        abs(ours / ideal - 1) <= 0.25,
        "within 25 %: repairs that are lost again, and reports that cover several segments",
    )


def _vector_row(run: Satellite) -> Row:
    found = [run.mean(VECTOR, ber).mean for ber in BERS[3:]]
    return Row.check(
        ITEM,
        "BER 1e-6, 3e-6, 1e-5: SCPS-TP, rate only, with a bit vector, Mbit/s",
        f"{vector_mbps():.2f} (160 segments in a round trip and an interval)",
        ", ".join(f"{value:.2f}" for value in found),
        statistics.fmean(found[1:]) / vector_mbps() <= 1.3 and min(found[1:]) / vector_mbps() >= 0.7,
        "the last two within 30 %: the path holds 500 segments and more, the vector 160. With few losses six holes "
        "reach further, with many the vector does",
    )


def _rack_row(run: Satellite) -> Row:
    bers = BERS[-2:]
    good = [in_runs(run.found[RACK, ber], run.found[SCPS, ber], lambda a, b: a > b) for ber in bers]
    count = len(run.found[RACK, bers[0]])
    return Row.check(
        ITEM,
        "BER 3e-6, 1e-5: rate control with SACK and RACK instead of SNACK, and with SNACK, Mbit/s",
        "above SNACK: RACK detects a loss by time, without an entry in a report",
        "; ".join(f"{pm(run.mean(RACK, ber))}, {pm(run.mean(SCPS, ber))}" for ber in bers),
        min(good) >= ENOUGH * count,
        f"in 8 of 10 seeds; it is in {', '.join(map(str, good))} of {count}",
    )


def layout(run: Satellite) -> Layout:
    """Returns the table of all points."""
    header = ("BER", "PER", *KINDS, "six holes, at most")
    lines = [
        (
            f"{ber:g}",
            f"{equations.packet_error_rate(ber, PACKET + 2):.2%}",
            *(pm(run.mean(name, ber)) for name in KINDS),
            f"{holes_mbps(ber):.2f}",
        )
        for ber in BERS
    ]
    title = f"Goodput over GEO in Mbit/s: 10 Mbit/s, 600 ms, queue of 1 BDP, 120 s, {len(run.found[SCPS, 0.0])} seeds"
    return Layout("geo", title, header, tuple(lines))
