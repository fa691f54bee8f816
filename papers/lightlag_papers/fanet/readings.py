"""Readings of the paper: each fixes everything that the paper leaves open, and is evaluated as a unit."""

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
    Candidate,
    Radio,
    Setting,
    Source,
)


class Throughput(enum.Enum):
    """The time over which a flow's throughput is calculated."""

    RUN = "over the run"
    ACTIVE = "equation 4"
    """The time from the first segment sent to the last byte received."""

    def of(self, flow: Flow, seconds: float) -> float:
        """Returns the throughput of a flow in kbit/s, in a run of the given duration in seconds."""
        return flow.bps / 1e3 if self is Throughput.ACTIVE else flow.bytes * 8e-3 / seconds


class Fairness(enum.Enum):
    """The flows over which Jain's index is calculated."""

    ALL = "all flows"
    SERVED = "served flows"


@dataclass(frozen=True)
class Ground:
    """The part of a reading that determines which swarms are simulated.

    Attributes
    ----------
    source
        The part of the paper that gives the numbers of UAVs and connections.
    radio
        The radio of the UAVs.
    """

    source: Source
    radio: Radio

    def points(self, varies: str) -> tuple[int, ...]:
        """Returns the points of a figure: numbers of UAVs, or speeds in m/s."""
        return tuple(nodes for nodes, _ in self.source.swarms) if varies == "nodes" else SPEEDS

    def settings(self, varies: str, candidate: Candidate) -> list[Setting]:
        """Returns the settings of the points of a figure."""
        if varies == "nodes":
            return [self._setting(candidate, nodes, FULL_SPEED, flows) for nodes, flows in self.source.swarms]
        return [self._setting(candidate, MIDDLE, speed, self.source.flows) for speed in SPEEDS]

    def _setting(self, candidate: Candidate, nodes: int, speed: float, flows: int) -> Setting:
        return Setting(candidate, self.radio, nodes, speed, flows)


GROUNDS = tuple(Ground(*one) for one in itertools.product(SOURCES, RADIOS))


@dataclass(frozen=True)
class Reading:
    """A reading of the paper: a value for each setting that the paper leaves open.

    Attributes
    ----------
    ground
        The simulated swarms.
    throughput, fairness
        The metrics.
    bbr
        The version of BBR.
    """

    ground: Ground
    throughput: Throughput
    fairness: Fairness
    bbr: Candidate

    @property
    def words(self) -> tuple[str, ...]:
        """The answers as text, in the order of `QUESTIONS`."""
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
"""All readings; they were fixed before the first run."""


CONFIDENCE = 0.95


@dataclass(frozen=True)
class Curve:
    """A metric over the points of a figure.

    Attributes
    ----------
    points
        Numbers of UAVs, or speeds in m/s.
    values
        For each point, the values of its swarms in the order of the seeds; NaN if a swarm has no value.
    """

    points: tuple[int, ...]
    values: tuple[tuple[float, ...], ...]

    @cached_property
    def intervals(self) -> list[Interval]:
        """The mean at each point with its 95 % confidence interval.

        The relative spread between swarms is about the same at every point, so it is estimated from all points
        together. A few swarms per point are then enough.
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
        """The mean at each point."""
        return [interval.mean for interval in self.intervals]


@dataclass(frozen=True)
class Evidence:
    """The measurements for one reading in one experiment, by algorithm as named in the paper.

    Attributes
    ----------
    throughput
        Mean throughput of a flow in kbit/s, including flows that delivered nothing.
    jain
        Jain's index of the throughputs.
    broken
        Number of links that AODV considered broken, per second.
    """

    throughput: Mapping[str, Curve]
    jain: Mapping[str, Curve]
    broken: Mapping[str, Curve]


Outcomes = Mapping[Setting, Sequence[Outcome]]
"""The outcomes of each setting, in the order of the seeds."""


def evidence(reading: Reading, varies: str, outcomes: Outcomes) -> Evidence:
    """Returns the measurements of a reading if the number of UAVs (`nodes`) or the `speed` varies."""
    ground = reading.ground

    def curves(metric: Callable[[Outcome], float]) -> dict[str, Curve]:
        found = {}
        for name, candidate in (("CUBIC", CUBIC), ("BBR", reading.bbr)):
            values = [tuple(map(metric, outcomes[setting])) for setting in ground.settings(varies, candidate)]
            found[name] = Curve(ground.points(varies), tuple(values))
        return found

    return Evidence(
        curves(lambda run: mean_kbps(run, reading.throughput)),
        curves(lambda run: jain_index(run, reading.throughput, reading.fairness)),
        curves(lambda run: run.air.broken / run.seconds),
    )


def mean_kbps(run: Outcome, throughput: Throughput) -> float:
    """Returns the mean throughput of a flow in kbit/s; flows that delivered nothing count as 0."""
    return math.fsum(throughput.of(flow, run.seconds) for flow in run.flows) / len(run.flows)


def jain_index(run: Outcome, throughput: Throughput, fairness: Fairness) -> float:
    """Returns Jain's index of the throughputs; NaN if no flow delivered anything."""
    flows = run.flows if fairness is Fairness.ALL else [flow for flow in run.flows if flow.bytes]
    return jain(throughput.of(flow, run.seconds) for flow in flows)
