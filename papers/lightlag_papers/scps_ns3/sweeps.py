"""Long delays and segment sizes: Figs. 6 and 7 (§4.3, §4.4)."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from itertools import pairwise

from lightlag_papers.paper import Effort
from lightlag_papers.scps_ns3 import equations, simulators
from lightlag_papers.scps_ns3.asymmetry import (
    BELOW,
    ENOUGH,
    LINUX_VEGAS,
    NEWRENO_BAND,
    PAPERS_VEGAS,
    SCPS_BAND,
    ideal_bps,
    in_runs,
)
from lightlag_papers.scps_ns3.setting import NEWRENO, SCPS, Rates, Setting, Transport, kbps, rates, shown
from lightlag_papers.table import AS_PRINTED, BEFOREHAND, Band, Layout, Row

DELAYS_S = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
MTUS = (100, 256, 512, 750, 1000, 1250, 1500)
EQUAL_BPS, NARROW_BPS = 1.5e6, 3e3
PAIR = (SCPS, NEWRENO)
PRINTED = {(EQUAL_BPS, NEWRENO): 1100, (EQUAL_BPS, SCPS): 550, (NARROW_BPS, SCPS): 354, (NARROW_BPS, NEWRENO): 82}
"""Throughput at 100 ms according to the text, in kbit/s."""
TEXT_S = 0.1


@dataclass(frozen=True)
class Sweep:
    """All runs for a figure.

    Attributes
    ----------
    found
        Throughputs in bit/s.
    ideal
        Throughputs in the model, in bit/s.
    """

    found: Rates
    ideal: dict[Setting, float]

    @classmethod
    def run(cls, settings: list[Setting], effort: Effort, others: tuple[Setting, ...] = ()) -> Sweep:
        """Runs settings, and also others for which there is no model."""
        return cls(
            rates([*settings, *others], effort),
            dict(zip(settings, effort.map(ideal_bps, settings), strict=True)),
        )

    def mean(self, setting: Setting) -> float:
        """Returns the mean throughput of a setting in kbit/s."""
        return statistics.fmean(self.found[setting]) / 1e3

    def model(self, setting: Setting) -> float:
        """Returns the throughput of a setting in the model, in kbit/s."""
        return self.ideal[setting] / 1e3


def delays(effort: Effort) -> Sweep:
    """Runs the points of Fig. 6."""
    wanted = [Setting(one, rate, delay) for rate in (EQUAL_BPS, NARROW_BPS) for one in PAIR for delay in DELAYS_S]
    others = tuple(
        Setting(one, rate, TEXT_S) for rate in (EQUAL_BPS, NARROW_BPS) for one in (BELOW, LINUX_VEGAS, PAPERS_VEGAS)
    )
    return Sweep.run(wanted, effort, others)


def sizes(effort: Effort) -> Sweep:
    """Runs the points of Fig. 7."""
    return Sweep.run([Setting(one, NARROW_BPS, mtu=mtu) for one in PAIR for mtu in MTUS], effort)


def delay_rows(run: Sweep) -> list[Row]:
    """Returns the rows for the claims about Fig. 6."""
    return [
        *(_value_row(run, rate, one) for rate, one in PRINTED),
        _ratio_row(run, EQUAL_BPS, NEWRENO, SCPS, Band(1.4, 3.0, BEFOREHAND), "twice"),
        _ratio_row(run, NARROW_BPS, SCPS, NEWRENO, Band(2.5, 7.0, BEFOREHAND), "4.3: 354 over 82"),
        _order_row(run, EQUAL_BPS, NEWRENO, SCPS),
        _order_row(run, NARROW_BPS, SCPS, NEWRENO),
        *(_decreasing_row(run, rate, one) for rate in (EQUAL_BPS, NARROW_BPS) for one in PAIR),
        _reading_row(run),
    ]


def _ratio_of(rate: float) -> str:
    return "1:1" if rate == EQUAL_BPS else "500:1"


def _value_row(run: Sweep, rate: float, one: Transport) -> Row:
    setting = Setting(one, rate, TEXT_S)
    printed, values = PRINTED[rate, one], kbps(run.found[setting])
    band = Band.like(SCPS_BAND, 800, printed) if one is SCPS else Band.like(NEWRENO_BAND, 160, printed)
    return Row.claim(
        f"Fig. 6, {_ratio_of(rate)}, 100 ms",
        f"throughput of {one.label}, kbit/s",
        "550: half of 1100" if (rate, one) == (EQUAL_BPS, SCPS) else str(printed),
        shown(values),
        values.mean in band,
        band.text,
        theory=f"{run.model(setting):.0f} (model), {simulators.shown(setting)} (ns-3.37)",
    )


def _ratio_row(run: Sweep, rate: float, a: Transport, b: Transport, band: Band, paper: str) -> Row:
    pair = (Setting(a, rate, TEXT_S), Setting(b, rate, TEXT_S))
    ratio = run.mean(pair[0]) / run.mean(pair[1])
    return Row.claim(
        f"Fig. 6, {_ratio_of(rate)}, 100 ms",
        f"{a.label} over {b.label}",
        paper,
        f"{ratio:.2f}",
        ratio in band,
        band.text,
        theory=f"{run.model(pair[0]) / run.model(pair[1]):.1f} (model), {simulators.ratio(*pair):.1f} (ns-3.37)",
    )


def _order_row(run: Sweep, rate: float, a: Transport, b: Transport) -> Row:
    later = [delay for delay in DELAYS_S if rate == NARROW_BPS or delay >= TEXT_S]
    agree = [
        in_runs(run.found[Setting(a, rate, delay)], run.found[Setting(b, rate, delay)], lambda x, y: x > y)
        for delay in later
    ]
    count = len(run.found[Setting(a, rate, TEXT_S)])
    return Row.claim(
        f"Fig. 6, {_ratio_of(rate)}",
        f"{a.label} above {b.label} at {', '.join(f'{delay * 1e3:.0f}' for delay in later)} ms",
        f"{a.label} better",
        "; ".join(f"{run.mean(Setting(a, rate, d)):.0f}, {run.mean(Setting(b, rate, d)):.0f}" for d in later),
        min(agree) >= ENOUGH * count,
        f"{AS_PRINTED}, in 8 of 10 runs at each; it is in {', '.join(map(str, agree))} of {count}",
    )


def _decreasing_row(run: Sweep, rate: float, one: Transport) -> Row:
    settings = [Setting(one, rate, delay) for delay in DELAYS_S]
    means = [run.mean(setting) for setting in settings]
    later = means[DELAYS_S.index(TEXT_S) :]
    steps = [b / a - 1 for a, b in pairwise(later)]
    holds = max(steps) <= 0.05
    return Row.claim(
        f"Fig. 6, {_ratio_of(rate)}",
        f"{one.label} at 50 to 300 ms, kbit/s",
        "falls with the delay",
        ", ".join(f"{mean:.0f}" for mean in means),
        holds,
        f"no step up by more than 5 % at 100 ms and above ({BEFOREHAND})",
        theory=_ideals(run, settings),
    )


def _ideals(run: Sweep, settings: list[Setting]) -> str:
    ideal = ", ".join(f"{run.model(setting):.0f}" for setting in settings)
    return f"{ideal} (model); {', '.join(map(simulators.shown, settings))} (ns-3.37)"


def _reading_row(run: Sweep) -> Row:
    means = [
        [run.mean(Setting(one, rate, TEXT_S)) for one in (SCPS, BELOW, LINUX_VEGAS, PAPERS_VEGAS)]
        for rate in (EQUAL_BPS, NARROW_BPS)
    ]
    return Row.informing(
        "Fig. 6, 100 ms",
        "SCPS-TP with rate control in the connection (used for the verdicts), below it, with Linux's Vegas, with "
        "the Vegas of 1995, kbit/s, at 1:1 and 500:1",
        "; ".join(", ".join(f"{value:.0f}" for value in line) for line in means),
        "the text has 550 and 354: the second is the paper at 1:1, and ns-3.37 at both",
    )


def delay_layout(run: Sweep) -> Layout:
    """Returns the table of all points of Fig. 6."""
    curves = [(one, rate) for rate in (EQUAL_BPS, NARROW_BPS) for one in PAIR]
    names = [f"{one.label}, {_ratio_of(rate)}" for one, rate in curves]
    header = ("delay, ms", *(text for name in names for text in (name, "model", "ns-3.37")))
    lines = []
    for delay in DELAYS_S:
        cells = [f"{delay * 1e3:.0f}"]
        for one, rate in curves:
            setting = Setting(one, rate, delay)
            cells += [shown(kbps(run.found[setting])), f"{run.model(setting):.0f}", simulators.shown(setting)]
        lines.append(tuple(cells))
    return Layout("fig6", "Fig. 6: throughput in kbit/s by the delay of the channel", header, tuple(lines))


def size_rows(run: Sweep) -> list[Row]:
    """Returns the rows for the claims about Fig. 7."""
    return [*(_rising_row(run, one) for one in PAIR), _above_row(run), _clock_row(run)]


def _rising_row(run: Sweep, one: Transport) -> Row:
    settings = [Setting(one, NARROW_BPS, mtu=mtu) for mtu in MTUS]
    means = [run.mean(setting) for setting in settings]
    holds = all(b > a for a, b in pairwise(means))
    return Row.claim(
        "Fig. 7",
        f"{one.label} with MTU {', '.join(map(str, MTUS))}, kbit/s",
        "rises with the MTU",
        ", ".join(f"{mean:.0f}" for mean in means),
        holds,
        f"each step up, {AS_PRINTED}",
        theory=_ideals(run, settings),
    )


def _above_row(run: Sweep) -> Row:
    ratios = [run.mean(Setting(SCPS, NARROW_BPS, mtu=m)) / run.mean(Setting(NEWRENO, NARROW_BPS, mtu=m)) for m in MTUS]
    return Row.claim(
        "Fig. 7",
        "SCPS-TP over NewReno at each MTU",
        "SCPS-TP again outperforms NewReno",
        ", ".join(f"{ratio:.1f}" for ratio in ratios),
        min(ratios) >= 2,
        f"at least 2 at each ({BEFOREHAND})",
    )


def _clock_row(run: Sweep) -> Row:
    closed = [equations.ack_clock_bps(NARROW_BPS, mtu - 40) / 1e3 for mtu in MTUS]
    ours = [run.mean(Setting(NEWRENO, NARROW_BPS, mtu=mtu)) for mtu in MTUS]
    return Row.check(
        "Fig. 7",
        "NewReno with each MTU, kbit/s",
        ", ".join(f"{value:.0f}" for value in closed) + " (ACK clock)",
        ", ".join(f"{value:.0f}" for value in ours),
        all(0.5 <= a / b <= 2 for a, b in zip(ours, closed, strict=True)),
        "within a factor of 2. With 100 B the buffer holds 5000 segments: their 2500 ACKs overflow the return queue "
        "of 1000, and each remaining ACK covers more",
    )


def size_layout(run: Sweep) -> Layout:
    """Returns the table of all points of Fig. 7."""
    header = ("MTU", *(text for one in PAIR for text in (one.label, "model", "ns-3.37")), "ACK clock")
    lines = []
    for mtu in MTUS:
        cells = [str(mtu)]
        for one in PAIR:
            setting = Setting(one, NARROW_BPS, mtu=mtu)
            cells += [shown(kbps(run.found[setting])), f"{run.model(setting):.0f}", simulators.shown(setting)]
        lines.append((*cells, f"{equations.ack_clock_bps(NARROW_BPS, mtu - 40) / 1e3:.0f}"))
    return Layout("fig7", "Fig. 7: throughput in kbit/s by the MTU, return link 3 kbit/s", header, tuple(lines))
