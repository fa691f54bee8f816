"""Path between two nodes of a scenario over time, in both directions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lightlag import _engine
from lightlag.constellation.satellites import Sky
from lightlag.errors import InputError
from lightlag.exports.crossing import Crossing
from lightlag.exports.probes import measured
from lightlag.exports.quantities import seconds
from lightlag.exports.route import Air, Course, Link, Space, courses
from lightlag.exports.timetable import LinkTimetable, of_side, packets_of
from lightlag.exports.values import Direction, Floats, NotComputedError, Values, in_series

__all__ = ["MAX_STEPS", "PathOverTime", "path_of", "times_of"]

MAX_STEPS = 1_000_000
"""Maximum number of steps of an export."""


@dataclass(frozen=True)
class PathOverTime:
    """Both directions of a path.

    Attributes
    ----------
    name
        Name of the scenario.
    start, end
        Nodes at the ends of the path.
    duration_s
        End of the path; it starts at 0.
    step_s
        Time between two values.
    forward, backward
        Direction from ``start`` to ``end``, and the other one.
    origin
        Whether the values were computed from the scenario, or measured, and why.
    """

    name: str
    start: str
    end: str
    duration_s: float
    step_s: float
    forward: Direction
    backward: Direction
    origin: str

    @property
    def times(self) -> Floats:
        """Start of each step in seconds."""
        return times_of(self.duration_s, self.step_s)


def times_of(duration_s: float, step_s: float) -> Floats:
    """Returns the start of each step before the end.

    Raises
    ------
    InputError
        If the step is not above 0, or there are too many.
    """
    if not (math.isfinite(step_s) and step_s > 0.0):
        raise InputError(f'step: {step_s:g} s is not above 0; write a time such as "100 ms"')
    count = math.ceil(duration_s / step_s - 1e-9)
    if count > MAX_STEPS:
        raise InputError(
            f"step: {count} steps of {step_s:g} s are more than {MAX_STEPS}; choose a longer step or a shorter duration"
        )
    return np.arange(max(count, 1), dtype=np.float64) * step_s


def path_of(scenario: _engine.Scenario, start: str, end: str, step_s: float, *, measure: bool = False) -> PathOverTime:
    """Returns the path between two nodes.

    Its values are computed from links and the constellation. They are measured by :mod:`lightlag.exports.probes` if the
    path crosses a medium, or if a link has a property that follows only from a run.

    Parameters
    ----------
    measure
        Measure values that could be computed.

    Raises
    ------
    InputError
        If a node does not exist, there is no path, or the step is not valid.
    """
    plain = json.loads(scenario.json())
    duration = seconds(scenario.duration)
    times_of(duration, step_s)
    ways = courses(plain, start, end)
    origin = "computed from the scenario"
    try:
        if measure:
            raise NotComputedError("as requested")
        directions = _computed(scenario, plain, ways, duration)
    except NotComputedError as reason:
        origin = f"measured by probes in a run ({reason})"
        directions = measured(plain, start, end, duration, step_s)
    path = PathOverTime(scenario.name, start, end, duration, step_s, *directions, origin)
    values = [one.at(path.times) for one in directions]
    if not any(((one.loss < 1.0) & (one.rate_bps > 0.0)).any() for one in values):
        raise InputError(f'there is no path from "{start}" to "{end}" within {duration:g} s; choose other nodes')
    return path


def _computed(
    scenario: _engine.Scenario, plain: Mapping[str, Any], ways: tuple[list[Course], list[Course]], duration_s: float
) -> tuple[Direction, Direction]:
    engine_sky = scenario.sky()
    sky = None if engine_sky is None else Sky(engine_sky)
    both = [_Composed(way, sky, plain, duration_s) for way in ways]
    first = np.zeros(1)
    delays = [one.at(first).delay_s[0] for one in both]
    round_trip = float(np.nansum(delays))
    for one in both:
        one.queue_packets = one.queue(round_trip)
    return both[0], both[1]


class _Composed(Direction):
    """A direction of links and crossings of the constellation, which may change over time."""

    def __init__(self, ways: list[Course], sky: Sky | None, plain: Mapping[str, Any], duration_s: float) -> None:
        parts: dict[Link | Space | Air, LinkTimetable | Crossing] = {}
        for hop in {hop for way in ways for hop in way.hops}:
            if isinstance(hop, Air):
                raise NotComputedError(f"it crosses the medium {hop.medium}")
            if isinstance(hop, Link):
                parts[hop] = of_side(hop, duration_s)
            else:
                assert sky is not None
                parts[hop] = Crossing(sky, plain, hop.start, hop.end, duration_s)
        self._ways = [(way.since_s, [(hop, parts[hop]) for hop in way.hops]) for way in ways]

    def at(self, times: Floats) -> Values:
        return self._values(times, has_delay=True)

    def rates(self, times: Floats) -> Floats:
        values = self._values(times[:-1], has_delay=False)
        return np.where(values.loss < 1.0, values.rate_bps, 0.0)

    def _values(self, times: Floats, *, has_delay: bool) -> Values:
        values = Values.nowhere(len(times))
        starts = np.array([since for since, _ in self._ways])
        current = np.searchsorted(starts, times + 1e-9, side="right") - 1
        for number, (_, hops) in enumerate(self._ways):
            where = current == number
            if hops and where.any():
                parts = [
                    part.at(times, has_delay=has_delay) if isinstance(part, Crossing) else part.at(times)
                    for _, part in hops
                ]
                along = in_series(parts)
                values.put(where, Values(along.rate_bps[where], along.delay_s[where], along.loss[where]))
        return values

    def queue(self, round_trip_s: float) -> int:
        """Returns the limit of the queue at the slowest transmitter of the first path, in packets."""
        hops = next((hops for _, hops in self._ways if hops), [])
        found = []
        for hop, part in hops:
            if isinstance(part, Crossing):
                slowest = part.slowest()
                found.append((part.at(np.zeros(1)).rate_bps[0], slowest.get("queue")))
            elif isinstance(hop, Link) and not hop.is_relay:
                queue = hop.table.get("queue")
                sided = queue[hop.side] if isinstance(queue, dict) and hop.side in queue else queue
                found.append((hop.rate_bps, sided))
        rate, queue = min(found, key=lambda entry: entry[0])
        return packets_of(queue, float(rate), round_trip_s)
