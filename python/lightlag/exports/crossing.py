"""Rate, delay and loss of the path over a constellation from one station to another."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from lightlag.constellation.ephemeris import Ephemeris
from lightlag.constellation.motion import Motion
from lightlag.exports.quantities import bits_per_second, degrees, seconds
from lightlag.exports.timetable import loss_of
from lightlag.exports.values import PACKET, Floats, NotComputedError, Values, in_series

__all__ = ["Crossing"]

RATE_INTERVAL_S = 2.0**28 / 1e9
"""Seconds between two updates of a rate that depends on the elevation, as in the engine."""


class Crossing:
    """The path from one station to another, which changes over time.

    Parameters
    ----------
    ephemeris
        The constellation.
    scenario
        The complete scenario.
    until_s
        Last time that will be requested.
    """

    def __init__(self, ephemeris: Ephemeris, scenario: Mapping[str, Any], start: str, end: str, until_s: float) -> None:
        self._ephemeris = ephemeris
        table = scenario["constellation"]
        station: Mapping[str, Any] = next((one for one in scenario["stations"] if one["name"] == start), {})
        self.up = station.get("uplink") or table["uplink"]
        self.across, self.down = table["isl"], table["downlink"]
        self._handover = _handover(table.get("handover") or {})
        for name, link in (("uplink", self.up), ("isl", self.across), ("downlink", self.down)):
            if link.get("fade"):
                raise NotComputedError(f"the {name} has fade: rain is drawn in a run")
        self._courses = ephemeris.path_changes(start, end, until_s)
        by_elevation = any(link.get("rates") for link in (self.up, self.down))
        nodes = {node for _, nodes in self._courses for node in nodes} if by_elevation else set[int]()
        self._motion = Motion(ephemeris, nodes, until_s) if by_elevation else None

    def at(self, times: Floats, *, has_delay: bool = True) -> Values:
        """Returns the values at each time; without the delay, which takes longest, if it is not needed."""
        # Without a path, packets wait at the station.
        values = Values(np.zeros(len(times)), np.full(len(times), np.nan), np.zeros(len(times)))
        starts = np.array([since for since, _ in self._courses])
        current = np.searchsorted(starts, times + 1e-9, side="right") - 1
        for number, (_, nodes) in enumerate(self._courses):
            where = current == number
            if nodes and where.any():
                values.put(where, self._along(nodes, times[where], has_delay))
        self._hand_over(values, times)
        return values

    def _along(self, nodes: list[int], times: Floats, has_delay: bool) -> Values:
        links = [self.up, *[self.across] * (len(nodes) - 3), self.down]
        rates = [np.full(len(times), bits_per_second(link["rate"])) for link in links]
        if self.up.get("rates"):
            rates[0] = self._by_elevation(self.up["rates"], nodes[0], nodes[1], times)
        if self.down.get("rates"):
            rates[-1] = self._by_elevation(self.down["rates"], nodes[-1], nodes[-2], times)
        light = self._ephemeris.light_times(nodes, times) if has_delay else np.zeros(len(times))
        parts = []
        for link, rate in zip(links, rates, strict=True):
            delay = seconds(link["delay"]) if "delay" in link else 0.0
            parts.append(Values(rate, np.full(len(times), delay), np.full(len(times), loss_of(link["loss"], PACKET))))
        path = in_series(parts)
        return Values(path.rate_bps, path.delay_s + light, path.loss)

    def _by_elevation(self, rates: list[list[str]], station: int, satellite: int, times: Floats) -> Floats:
        assert self._motion is not None
        since = np.floor(times / RATE_INTERVAL_S) * RATE_INTERVAL_S
        elevation, _ = self._motion.look(station, satellite, since)
        bounds = np.array([degrees(bound) for bound, _ in rates])
        values = np.array([bits_per_second(rate) for _, rate in rates])
        # The first rate also applies below its elevation.
        return values[np.maximum(np.searchsorted(bounds, elevation, side="right") - 1, 0)]

    def _hand_over(self, values: Values, times: Floats) -> None:
        """Applies the pauses and bursts of losses after handovers of a station."""
        pause, burst = self._handover
        for (_, before), (since, after) in itertools.pairwise(self._courses):
            if before and after and (before[1], before[-2]) != (after[1], after[-2]):
                values.rate_bps[(times >= since) & (times < since + pause)] = 0.0
                values.loss[(times >= since) & (times < since + burst)] = 1.0

    def slowest(self) -> Mapping[str, Any]:
        """Returns the transmitter with the lowest rate."""
        links = [self.up, self.down] if self._ephemeris.link_count == 0 else [self.up, self.across, self.down]
        return min(links, key=lambda link: bits_per_second(link["rate"]))


def _handover(table: Mapping[str, Any]) -> tuple[float, float]:
    """Returns the pause and the burst of losses after a handover, in seconds."""
    pause, burst = (seconds(table[key]) if key in table else 0.0 for key in ("pause", "burst"))
    if (pause or burst) and 0.0 < table.get("probability", 1.0) < 1.0:
        raise NotComputedError("handovers have effects with a probability, which is drawn in a run")
    return (pause, burst) if table.get("probability", 1.0) else (0.0, 0.0)
