"""The readings of the paper: each fixes everything that the paper leaves open, and is judged as a whole."""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lightlag.analyse import Interval, jain, student_t
from lightlag_papers.fanet.outcome import Flow, Outcome
from lightlag_papers.fanet.setting import (
    BBRS,
    CUBIC,
    FULL_SPEED,
    MIDDLE,
    RADIOS,
    SOURCES,
    SPEEDS,
    Contender,
    Radio,
    Setting,
    Source,
)


class Throughput(enum.Enum):
    """The time over which the throughput of a flow is taken."""

    RUN = "over the run"
    ACTIVE = "equation 4"
    """From the first segment that is sent to the last byte that arrives."""

    def of(self, flow: Flow, seconds: float) -> float:
        """The throughput in kbit/s of a flow in a run of so many seconds."""
        return flow.bps / 1e3 if self is Throughput.ACTIVE else flow.bytes * 8e-3 / seconds


class Fairness(enum.Enum):
    """The flows that Jain's index covers."""

    ALL = "all flows"
    SERVED = "served flows"


@dataclass(frozen=True)
class Ground:
    """The part of a reading that decides which swarms run.

    Attributes
    ----------
    source
        The place of the paper from which the numbers of UAVs and connections are taken.
    radio
        The transmitters.
    """

    source: Source
    radio: Radio

    def points(self, varies: str) -> tuple[int, ...]:
        """The numbers of UAVs, or the speeds in m/s."""
        return tuple(nodes for nodes, _ in self.source.swarms) if varies == "nodes" else SPEEDS

    def settings(self, varies: str, contender: Contender) -> list[Setting]:
        """The setting of each point."""
        if varies == "nodes":
            return [self._setting(contender, nodes, FULL_SPEED, flows) for nodes, flows in self.source.swarms]
        return [self._setting(contender, MIDDLE, speed, self.source.flows) for speed in SPEEDS]

    def _setting(self, contender: Contender, nodes: int, speed: float, flows: int) -> Setting:
        return Setting(contender, self.radio, nodes, speed, flows)


GROUNDS = tuple(Ground(*one) for one in itertools.product(SOURCES, RADIOS))


@dataclass(frozen=True)
class Reading:
    """One answer to every question that the paper leaves open.

    Attributes
    ----------
    ground
        The swarms.
    throughput, fairness
        The metrics.
    bbr
        The code of BBR.
    """

    ground: Ground
    throughput: Throughput
    fairness: Fairness
    bbr: Contender

    @property
    def words(self) -> tuple[str, ...]:
        """The answers, in the order of `QUESTIONS`."""
        ground = self.ground
        return (
            ground.source.name,
            ground.radio.name,
            self.throughput.value,
            self.fairness.value,
            self.bbr.label,
        )


QUESTIONS = ("UAVs and flows", "range", "throughput", "Jain's index", "BBR")
READINGS = tuple(Reading(*one) for one in itertools.product(GROUNDS, Throughput, Fairness, BBRS))
"""Every reading, written down before the first of them ran."""


CONFIDENCE = 0.95


@dataclass(frozen=True)
class Curve:
    """A metric over the points of a figure.

    Attributes
    ----------
    points
        Numbers of UAVs, or speeds in m/s.
    values
        The values of the swarms of each point, by their seeds; NaN where a swarm has none.
    """

    points: tuple[int, ...]
    values: tuple[tuple[float, ...], ...]

    @cached_property
    def intervals(self) -> list[Interval]:
        """The mean of each point with its confidence interval of 95 %.

        Swarms differ by about the same fraction of the mean at every point, so all points share one estimate of it:
        a few swarms of each then suffice.
        """
        known = [[value for value in swarms if not math.isnan(value)] for swarms in self.values]
        means = [math.fsum(swarms) / len(swarms) if swarms else math.nan for swarms in known]
        pooled = [(swarms, mean) for swarms, mean in zip(known, means, strict=True) if mean > 0]
        freedom = sum(len(swarms) - 1 for swarms, _ in pooled)
        if freedom == 0:
            return [Interval(mean, math.nan, len(swarms)) for swarms, mean in zip(known, means, strict=True)]
        squares = math.fsum((value / mean - 1) ** 2 for swarms, mean in pooled for value in swarms)
        half = student_t(CONFIDENCE, freedom) * math.sqrt(squares / freedom)
        return [
            Interval(mean, half * mean / math.sqrt(len(swarms)) if swarms else math.nan, len(swarms))
            for swarms, mean in zip(known, means, strict=True)
        ]

    @property
    def means(self) -> list[float]:
        """The mean of each point."""
        return [interval.mean for interval in self.intervals]


@dataclass(frozen=True)
class Evidence:
    """The measurements of one reading in one experiment, by the paper's names of the algorithms.

    Attributes
    ----------
    throughput
        Mean throughput of a flow in kbit/s, flows without any data included.
    jain
        Jain's index of the throughputs.
    broken
        Links that AODV took for broken, per second.
    """

    throughput: Mapping[str, Curve]
    jain: Mapping[str, Curve]
    broken: Mapping[str, Curve]


Outcomes = Mapping[Setting, Sequence[Outcome]]
"""The outcomes of settings, by their seeds."""


def evidence(reading: Reading, varies: str, outcomes: Outcomes) -> Evidence:
    """The measurements of a reading where the UAVs (`nodes`) or the speed (`speed`) vary."""
    ground = reading.ground

    def curves(metric: Callable[[Outcome], float]) -> dict[str, Curve]:
        found = {}
        for name, contender in (("CUBIC", CUBIC), ("BBR", reading.bbr)):
            values = [tuple(map(metric, outcomes[setting])) for setting in ground.settings(varies, contender)]
            found[name] = Curve(ground.points(varies), tuple(values))
        return found

    return Evidence(
        curves(lambda run: mean_kbps(run, reading.throughput)),
        curves(lambda run: jain_index(run, reading.throughput, reading.fairness)),
        curves(lambda run: run.air.broken / run.seconds),
    )


def mean_kbps(run: Outcome, throughput: Throughput) -> float:
    """The mean throughput of a flow in kbit/s, flows without any data counted as 0."""
    return math.fsum(throughput.of(flow, run.seconds) for flow in run.flows) / len(run.flows)


def jain_index(run: Outcome, throughput: Throughput, fairness: Fairness) -> float:
    """Jain's index of the throughputs; NaN if no flow has any."""
    flows = run.flows if fairness is Fairness.ALL else [flow for flow in run.flows if flow.bytes]
    return jain(throughput.of(flow, run.seconds) for flow in flows)
