"""The claims of Figs. 3 to 6, judged on the outcomes of any simulator."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lightlag.analyse import Interval, mean_interval
from lightlag.reproduce.fanet.measures import sign_test, spearman
from lightlag.reproduce.fanet.outcome import Outcome
from lightlag.reproduce.table import AS_PRINTED, BEFOREHAND, Band, Layout, Row, Verdict

Metric = Callable[[Outcome], float]

CUBIC, BBR = "CUBIC", "BBR"
"""In the paper."""

RATIO = Band(1.1, 4.0, BEFOREHAND)
FAIRNESS = Band(0.3, 1.0, BEFOREHAND)
LEAST_FALL = {"nodes": -0.7, "speed": -0.6}
"""Spearman's rank correlation of throughput and nodes, or speed."""
FACTOR = 3.0
"""Between a printed throughput and ours: the paper does not say how far its radio reaches."""
SIGNIFICANT = 0.05
FEWEST_RANKS = 3
"""Points without which a rank correlation says nothing."""


@dataclass(frozen=True)
class Printed:
    """The numbers that the text gives for an algorithm: largest and smallest, and where."""

    most_kbps: tuple[float, int]
    least_kbps: tuple[float, int]
    most_jain: tuple[float, int]
    least_jain: tuple[float, int]


PAPER = {
    ("nodes", "CUBIC"): Printed((867.729, 40), (180.579, 80), (0.8671, 80), (0.6642, 60)),
    ("nodes", "BBR"): Printed((288.185, 40), (91.271, 80), (0.7675, 40), (0.5295, 50)),
    ("speed", "CUBIC"): Printed((488.2, 5), (141.76, 5), (0.98046, 5), (0.618, 10)),
    ("speed", "BBR"): Printed((382.694, 5), (114.5539, 5), (0.67, 10), (0.487, 15)),
}
"""By what varies and the algorithm."""


@dataclass(frozen=True)
class Sweep:
    """The runs of CUBIC and BBR over swarms of several sizes or speeds; the same seed is the same swarm.

    Attributes
    ----------
    varies
        ``nodes`` or ``speed``.
    points
        Its values.
    cubic, bbr
        The outcomes at each point, by their seeds.
    others
        Those of further readings of BBR, by their labels.
    """

    varies: str
    points: tuple[int, ...]
    cubic: Mapping[int, Sequence[Outcome]]
    bbr: Mapping[int, Sequence[Outcome]]
    others: Mapping[str, Mapping[int, Sequence[Outcome]]] = field(default_factory=dict)

    @property
    def bbrs(self) -> tuple[str, ...]:
        """The readings of BBR."""
        return (BBR, *self.others)

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that ran."""
        return (CUBIC, *self.bbrs)

    def of(self, name: str) -> Mapping[int, Sequence[Outcome]]:
        """The outcomes of an algorithm by its name in the paper, or of another reading of BBR by its label."""
        return {CUBIC: self.cubic, BBR: self.bbr, **self.others}[name]

    def means(self, algorithm: str, metric: Metric) -> list[float]:
        """The means of a metric, by the points."""
        return [statistics.fmean(map(metric, self.of(algorithm)[point])) for point in self.points]

    def wins(self, metric: Metric, bbr: str = BBR) -> tuple[int, int]:
        """In how many runs CUBIC has more than a BBR in the same swarm, of all in which they differ."""
        pairs = [
            (metric(a), metric(b))
            for point in self.points
            for a, b in zip(self.cubic[point], self.of(bbr)[point], strict=True)
        ]
        different = [(a, b) for a, b in pairs if a != b]
        return sum(a > b for a, b in different), len(different)


def kbps(outcome: Outcome) -> float:
    """Average throughput of a flow, equation 4."""
    return outcome.kbps


def fairness(outcome: Outcome) -> float:
    """Jain's index, equation 5 without its misprint."""
    return outcome.fairness


THROUGHPUT_ITEM = {"nodes": "Fig. 3", "speed": "Fig. 5"}
FAIRNESS_ITEM = {"nodes": "Fig. 4", "speed": "Fig. 6"}
AXES = {"nodes": "UAVs", "speed": "m/s"}


def rows(ours: Sweep, peer: Sweep | None) -> list[Row]:
    """Every claim of the two figures over nodes, or over the speed, for each reading of BBR.

    Where several were run, the figures of the peer stand beside the last one, which is the peer's.
    """
    lines = []
    for bbr in ours.bbrs:
        beside = peer if bbr == ours.bbrs[-1] else None
        lines += [_order(ours, beside, bbr), _ratio(ours, beside, bbr)]
    beside_each = {name: None if name in ours.bbrs[:-1] else peer for name in ours.names}
    lines += [_fall(ours, beside, name) for name, beside in beside_each.items()]
    lines += [row for name, beside in beside_each.items() for row in _values(ours, beside, name)]
    lines += [_range_of_fairness(ours, beside, name) for name, beside in beside_each.items()]
    lines += [_order_of_fairness(ours, beside_each[bbr], bbr) for bbr in ours.bbrs]
    return [*lines, _trend_of_fairness(ours, peer)]


def _order(ours: Sweep, peer: Sweep | None, bbr: str) -> Row:
    def text(sweep: Sweep) -> str:
        wins, count = sweep.wins(kbps, _in(sweep, bbr))
        above = sum(a > b for a, b in _both(sweep, kbps, bbr))
        chance = sign_test(wins, count)
        return f"{above} of {len(sweep.points)} points, {wins} of {count} swarms (p = {chance:.1g})"

    wins, count = ours.wins(kbps, bbr)
    everywhere = all(a > b for a, b in _both(ours, kbps, bbr))
    return Row(
        THROUGHPUT_ITEM[ours.varies],
        f"throughput of CUBIC above that of {bbr}",
        "at every point",
        _beside(peer, text),
        text(ours),
        Verdict.claim(everywhere and sign_test(wins, count) < SIGNIFICANT),
        f"in the mean at every point ({AS_PRINTED}), and a sign test over all swarms with p < {SIGNIFICANT} "
        f"({BEFOREHAND})",
    )


def _ratio(ours: Sweep, peer: Sweep | None, bbr: str) -> Row:
    def text(sweep: Sweep) -> str:
        return ", ".join(f"{ratio:.2f}" for ratio in _ratios(sweep, bbr))

    printed = [PAPER[ours.varies, name] for name in (CUBIC, BBR)]
    most = printed[0].most_kbps[0] / printed[1].most_kbps[0]
    least = printed[0].least_kbps[0] / printed[1].least_kbps[0]
    return Row(
        THROUGHPUT_ITEM[ours.varies],
        f"CUBIC over {bbr} at {_points(ours)}",
        f"{most:.2f} for the largest, {least:.2f} for the smallest values",
        _beside(peer, text),
        text(ours),
        Verdict.claim(all(ratio in RATIO for ratio in _ratios(ours, bbr))),
        f"each within {RATIO.text}",
    )


def _fall(ours: Sweep, peer: Sweep | None, algorithm: str) -> Row:
    def text(sweep: Sweep) -> str:
        return ranked(sweep, _in(sweep, algorithm), kbps)

    least = LEAST_FALL[ours.varies]
    what = "the number of UAVs" if ours.varies == "nodes" else "the speed"
    return Row(
        THROUGHPUT_ITEM[ours.varies],
        f"{algorithm}: rank correlation of throughput and {what}",
        "falls",
        _beside(peer, text),
        text(ours),
        Verdict.claim(spearman(ours.points, ours.means(algorithm, kbps)) <= least),
        f"at most {least} ({BEFOREHAND})",
    )


def _values(ours: Sweep, peer: Sweep | None, algorithm: str) -> list[Row]:
    printed = PAPER[ours.varies, _in_paper(algorithm)]
    # Both extremes over the speed are said to be at 5 m/s; the text's own trend places the largest there.
    placed = (("largest", printed.most_kbps, True), ("smallest", printed.least_kbps, ours.varies == "nodes"))
    return [_value(ours, peer, algorithm, *one) for one in placed]


def _value(
    ours: Sweep, peer: Sweep | None, algorithm: str, which: str, printed: tuple[float, int], judged: bool
) -> Row:
    value, point = printed
    band = Band(value / FACTOR, value * FACTOR, BEFOREHAND)
    mine = statistics.fmean(map(kbps, ours.of(algorithm)[point]))

    def text(sweep: Sweep) -> str:
        if point not in sweep.points:
            return ""
        return shown(mean_interval(map(kbps, sweep.of(_in(sweep, algorithm))[point])))

    return Row(
        THROUGHPUT_ITEM[ours.varies],
        f"{algorithm}: throughput at {point} {AXES[ours.varies]}, kbit/s",
        f"{value:.0f}, the {which}",
        _beside(peer, text),
        text(ours),
        Verdict.claim(mine in band) if judged else Verdict.UNDECIDED,
        f"within {band.text}, a factor of {FACTOR:g}"
        if judged
        else "the text places the largest and the smallest value at the same speed",
    )


def _range_of_fairness(ours: Sweep, peer: Sweep | None, algorithm: str) -> Row:
    def text(sweep: Sweep) -> str:
        return ", ".join(f"{value:.2f}" for value in sweep.means(_in(sweep, algorithm), fairness))

    printed = PAPER[ours.varies, _in_paper(algorithm)]
    (least, lowest), (most, highest) = printed.least_jain, printed.most_jain
    return Row(
        FAIRNESS_ITEM[ours.varies],
        f"{algorithm}: Jain's index at {_points(ours)}",
        f"{least:.2f} (at {lowest}) to {most:.2f} (at {highest})",
        _beside(peer, text),
        text(ours),
        Verdict.claim(all(value in FAIRNESS for value in ours.means(algorithm, fairness))),
        f"each within {FAIRNESS.text}; flows without any data count",
    )


def _order_of_fairness(ours: Sweep, peer: Sweep | None, bbr: str) -> Row:
    def text(sweep: Sweep) -> str:
        above = sum(a > b for a, b in _both(sweep, fairness, bbr))
        return f"{above} of {len(sweep.points)} points"

    above = sum(a > b for a, b in _both(ours, fairness, bbr))
    return Row(
        FAIRNESS_ITEM[ours.varies],
        f"Jain's index of CUBIC above that of {bbr}",
        "at most points",
        _beside(peer, text),
        text(ours),
        Verdict.claim(2 * above > len(ours.points)),
        f"in the mean at more than half of the points ({AS_PRINTED})",
    )


def _trend_of_fairness(ours: Sweep, peer: Sweep | None) -> Row:
    def text(sweep: Sweep) -> str:
        ranks = {name: ranked(sweep, name, fairness) for name in sweep.names}
        return ", ".join(f"{name} {rank}" for name, rank in ranks.items() if rank)

    return Row(
        FAIRNESS_ITEM[ours.varies],
        f"rank correlation of Jain's index and {'the number of UAVs' if ours.varies == 'nodes' else 'the speed'}",
        "",
        _beside(peer, text),
        text(ours),
        Verdict.NOT_JUDGED,
        'the paper sees "no relationship", which five points can neither show nor refute',
    )


def ranked(sweep: Sweep, algorithm: str, metric: Metric) -> str:
    """The rank correlation of a metric and what varies; empty where too few points say nothing."""
    if len(sweep.points) < FEWEST_RANKS:
        return ""
    rank = spearman(sweep.points, sweep.means(algorithm, metric))
    return "constant" if math.isnan(rank) else f"{rank:.2f}"


def layout(sweeps: Mapping[str, Sweep], name: str, title: str) -> Layout:
    """Throughput and fairness at every point, a line for each simulator, point and algorithm."""
    header = ("runs of", "at", "algorithm", "seeds", "kbit/s", "over the whole run", "Jain", "Jain of served", "served")
    lines = []
    for whose, sweep in sweeps.items():
        for point in sweep.points:
            for algorithm in sweep.names:
                runs = sweep.of(algorithm)[point]
                numbers = (
                    shown(mean_interval(run.kbps for run in runs)),
                    shown(mean_interval(run.whole_kbps for run in runs)),
                    shown(mean_interval(run.fairness for run in runs), 2),
                    shown(mean_interval(run.fairness_of_served for run in runs), 2),
                    f"{statistics.fmean(run.served for run in runs):.1f}",
                )
                lines.append((whose, f"{point} {AXES[sweep.varies]}", algorithm, str(len(runs)), *numbers))
    return Layout(name, title, header, tuple(lines))


def shown(interval: Interval, digits: int = 0) -> str:
    """A mean with the half width of its interval, which a single value does not have."""
    half = "" if interval.count < 2 else f" ± {interval.half_width:.{digits}f}"
    return f"{interval.mean:.{digits}f}{half}"


def _in(sweep: Sweep, name: str) -> str:
    """A contender's name in a sweep; a peer has one BBR."""
    return name if name in sweep.names else BBR


def _in_paper(name: str) -> str:
    return CUBIC if name == CUBIC else BBR


def _both(sweep: Sweep, metric: Metric, bbr: str) -> list[tuple[float, float]]:
    return list(zip(sweep.means(CUBIC, metric), sweep.means(_in(sweep, bbr), metric), strict=True))


def _ratios(sweep: Sweep, bbr: str) -> list[float]:
    return [a / b if b else float("inf") for a, b in _both(sweep, kbps, bbr)]


def _points(sweep: Sweep) -> str:
    *first, last = map(str, sweep.points)
    return f"{', '.join(first)} and {last} {AXES[sweep.varies]}"


def _beside(peer: Sweep | None, text: Callable[[Sweep], str]) -> str:
    """The same of ns-3, with its points where they are not all."""
    if peer is None or not (value := text(peer)):
        return ""
    return f"{value} (ns-3.37 at {', '.join(map(str, peer.points))})"
