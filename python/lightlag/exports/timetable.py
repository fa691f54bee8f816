"""Rate, delay and loss of a direction of a link over time, from its table in a complete scenario."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lightlag.exports.quantities import bits_per_second, byte_count, seconds
from lightlag.exports.route import Link
from lightlag.exports.values import PACKET, Floats, NotComputedError, Values

__all__ = ["LinkTimetable", "loss_of", "of_side", "packets_of"]

DEFAULT_QUEUE = "1000 packets"
ONLY_IN_A_RUN = {
    "fade": "rain is drawn in a run",
    "on_demand": "the rate follows the requests of a run",
    "fec": "what error correction repairs follows from a run",
}
"""Keys whose effect cannot be computed, with the reason."""


@dataclass
class Phase:
    """Properties of a link since a time."""

    since: float
    rate: float
    delay: float
    loss: float
    is_up: bool = True


@dataclass
class LinkTimetable:
    """Phases of a direction of a link.

    Attributes
    ----------
    phases
        In the order of time; the first starts at 0.
    loses
        Whether packets of an outage are lost; otherwise they wait.
    overhead
        Bytes of the link on the wire for each byte of a packet of 1500 bytes, at least 1.
    opportunities
        Times in ms of the opportunities to send 1500 bytes, which replace the rate; None without them.
    """

    phases: list[Phase]
    loses: bool
    overhead: float
    opportunities: Floats | None = None
    _since: Floats = field(init=False)

    def __post_init__(self) -> None:
        self._since = np.array([phase.since for phase in self.phases])

    def at(self, times: Floats) -> Values:
        """Returns the values at each time. A time within a nanosecond of a change counts as after it."""
        index = np.searchsorted(self._since, times + 1e-9, side="right") - 1

        def taken(key: str) -> Floats:
            return np.array([getattr(phase, key) for phase in self.phases], dtype=np.float64)[index]

        is_up = taken("is_up") > 0
        rate = taken("rate") / self.overhead
        if self.opportunities is not None:
            rate = self._offered(times)
        if self.loses:
            return Values(rate, taken("delay"), np.where(is_up, taken("loss"), 1.0))
        return Values(np.where(is_up, rate, 0.0), taken("delay"), taken("loss"))

    def _offered(self, times: Floats) -> Floats:
        """Returns the rate of the opportunities in each interval that starts at these times, up to the next one."""
        ends = np.append(times[1:], times[-1] + (times[-1] - times[-2] if len(times) > 1 else 1.0))
        spans = ends - times
        return (self.count(ends) - self.count(times)) * PACKET * 8 / spans

    def count(self, times: Floats) -> Floats:
        """Returns the number of opportunities up to each time, inclusive; those at time 0 belong to the time after it.

        The trace repeats: its last time is the time 0 of the next round.
        """
        assert self.opportunities is not None
        rounds, rest = np.divmod(np.round(times * 1e3, 6), self.opportunities[-1])
        within = np.searchsorted(self.opportunities, rest, side="right")
        return np.where(times > 0.0, rounds * len(self.opportunities) + within, 0.0)


def of_side(link: Link, duration_s: float) -> LinkTimetable:
    """Returns the timetable of a direction of a link.

    Raises
    ------
    NotComputedError
        If its properties follow only from a run.
    """

    def value(key: str, otherwise: Any = None) -> Any:
        return _sided(link.table.get(key, otherwise), link.side)

    for key, reason in ONLY_IN_A_RUN.items():
        if value(key) is not None:
            raise NotComputedError(f"{link.name} has {key}: {reason}")
    header = byte_count(value("header", "0 B"))
    frame = int(PACKET + header)
    first = Phase(0.0, link.rate_bps, link.delay_s, loss_of(value("loss", 0.0), frame))
    table = LinkTimetable([first], link.is_relay or value("outage") == "lose", frame / PACKET)
    trace = value("trace")
    if trace is not None:
        return _traced(table, trace if isinstance(trace, dict) else {"file": trace}, duration_s)
    phases = [first]
    for change in value("changes", []):
        loss = None if "loss" not in change else loss_of(change["loss"], frame)
        rate = None if "rate" not in change or link.is_relay else bits_per_second(change["rate"])
        delay = None if "delay" not in change else seconds(change["delay"])
        _change(phases, seconds(change["at"]), rate, delay, loss, change.get("down"))
    return LinkTimetable(phases, table.loses, table.overhead)


def _sided(value: Any, side: str) -> Any:
    """Returns the value of a direction, if the directions have their own values."""
    return value[side] if isinstance(value, dict) and value.keys() == {"forward", "backward"} else value


def _change(
    phases: list[Phase], at: float, rate: float | None, delay: float | None, loss: float | None, down: bool | None
) -> None:
    last = phases[-1]
    changed = Phase(
        at,
        last.rate if rate is None else rate,
        last.delay if delay is None else delay,
        last.loss if loss is None else loss,
        last.is_up if down is None else not down,
    )
    if last.since == at:
        phases.pop()
    phases.append(changed)


def _traced(table: LinkTimetable, trace: Mapping[str, Any], duration_s: float) -> LinkTimetable:
    file = Path(trace["file"])
    if trace.get("format") == "mahimahi":
        times = np.array([float(line) for line in file.read_text("utf-8").split()])
        return LinkTimetable(table.phases, table.loses, 1.0, times)
    phases = list(table.phases)
    for at, row in _rows(file, bool(trace.get("repeat")), duration_s):
        rate = row.get("rate_bps")
        down = None if rate is None else round(rate) == 0
        _change(phases, at, None if down or rate is None else round(rate), row.get("delay_s"), row.get("loss"), down)
    return LinkTimetable(phases, table.loses, table.overhead)


def _rows(file: Path, repeats: bool, duration_s: float) -> Iterator[tuple[float, dict[str, float]]]:
    """Yields the rows of a trace with their times, and its repetitions up to the end."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = [{key.strip(): float(text) for key, text in row.items()} for row in csv.DictReader(lines)]
    period = rows[-1]["time_s"]
    rounds = max(math.ceil(duration_s / period), 1) if repeats else 1
    for number in range(rounds):
        for row in rows:
            yield row["time_s"] + number * period, row


def loss_of(loss: Any, frame: int) -> float:
    """Returns the probability that a frame with this number of bytes is lost, from a loss model.

    Examples
    --------
    >>> round(loss_of({"bit_error_rate": 1e-6}, 1500), 5)
    0.01193
    >>> good, bad = {"mean_time": "1 s", "loss": 0.0}, {"mean_time": "200 ms", "loss": 0.6}
    >>> round(loss_of({"good": good, "bad": bad}, 1500), 6)
    0.1
    """
    if not isinstance(loss, dict):
        return float(loss or 0.0)
    for key in ("rate", "packet_error_rate", "mean"):
        if key in loss:
            return float(loss[key])
    if "bit_error_rate" in loss:
        return -math.expm1(8 * frame * math.log1p(-loss["bit_error_rate"]))
    if "bad" in loss:
        states = [loss["good"], loss["bad"]]
        weights = [seconds(state["mean_time"]) for state in states]
        lost = sum(weight * state["loss"] for weight, state in zip(weights, states, strict=True))
        return float(lost / sum(weights))
    raise NotComputedError("single packets are lost, by their times or numbers")


def packets_of(queue: Any, rate_bps: float, round_trip_s: float) -> int:
    """Returns the limit of a queue in packets of 1500 bytes, rounded up.

    Examples
    --------
    >>> packets_of("1 bdp", 20e6, 0.6), packets_of("64 kB", 20e6, 0.6), packets_of({"discipline": "codel"}, 20e6, 0.6)
    (1000, 43, 1000)
    """
    limit = queue.get("limit", DEFAULT_QUEUE) if isinstance(queue, dict) else queue or DEFAULT_QUEUE
    number, _, unit = limit.partition(" ")
    if unit.startswith("packet"):
        return int(number)
    size = float(number) * rate_bps * round_trip_s / 8 if unit == "bdp" else byte_count(limit)
    return max(math.ceil(size / PACKET - 1e-9), 1)
