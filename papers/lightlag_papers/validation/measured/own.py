"""A user's own measurements against a scenario, or against a path that is fitted to their first half."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightlag as ll
from lightlag import imports
from lightlag.errors import InputError
from lightlag.imports.found import Arrived, Found
from lightlag.text.terminal import printable
from lightlag_papers.validation.measured import figures
from lightlag_papers.validation.measured.fact import Fact, Section, Spread, Verdict, number
from lightlag_papers.validation.measured.runs import Task, Values, Work
from lightlag_papers.validation.measured.tolerances import OWN

__all__ = ["FittedPath", "Measured", "fitted", "measurements", "section"]

HEADERS = 1500 / 1448
"""Size of a packet divided by its payload."""
LEAST = 8
"""Minimum number of values of a measurement: four to fit and four to compare."""
WINDOWS = 20
"""Number of intervals into which the connection of a capture is divided."""
SEEDS = 3
STEPS = 9
"""Number of halvings of the logarithm of the loss, from `MOST_LOSS` down to `LEAST_LOSS`."""
LEAST_LOSS, MOST_LOSS = 1e-6, 0.1
FULL = 0.95
"""Minimum fraction of the rate that a connection without random losses is assumed to reach."""
LONGEST_S = 600.0
"""Maximum simulated time; a longer measurement is compared by a run of this length."""

ABOUT_FITTED = (
    "Rate, delay, queue and loss were fitted to the first half of the measurements; each row compares the second "
    "half with "
    "a run of the fitted path. The rate is the 95th percentile of the throughput of the first half, the delay half its "
    "minimum round trip, the queue its 95th percentile of the round trip less the minimum, and the loss gives the "
    "connection the mean throughput of the first half."
)
ABOUT_GIVEN = "Each row compares the complete measurement with a run of the scenario."


@dataclass(frozen=True)
class Measured:
    """One measurement: throughput or round trips over time.

    Attributes
    ----------
    file
        Name of the file.
    arrived
        Throughput over time, with round trips where the tool reports them; empty for probes.
    probes
        Time and round trip of each probe, in s.
    congestion
        Congestion control of the sender; CUBIC if the file has none.
    is_udp
        Whether datagrams were sent.
    delay_s
        Half of the minimum round trip, if the file reports one.
    loss
        Fraction of lost packets over the complete measurement, if the file has it.
    """

    file: str
    arrived: tuple[Arrived, ...]
    probes: tuple[tuple[float, float], ...]
    congestion: str
    is_udp: bool
    delay_s: float | None
    loss: float | None

    @property
    def length_s(self) -> float:
        """Duration of the measurement, to the end of its last value."""
        times = [one.time_s for one in self.arrived] or [when for when, _ in self.probes]
        return times[-1] + (times[-1] - times[0]) / max(len(times) - 1, 1)

    def rtts(self) -> list[tuple[float, float]]:
        """Returns times and round trips in s."""
        return [*self.probes] or [(one.time_s, one.rtt_s) for one in self.arrived if one.rtt_s]


@dataclass(frozen=True)
class FittedPath:
    """A fitted path: rate in bit/s, one-way delay and jitter in s, queue in bytes, and loss."""

    rate_bps: float
    delay_s: float
    queue_bytes: float
    loss: float
    jitter_s: float = 0.0

    @property
    def text(self) -> str:
        """The path as text."""
        jitter = f", jitter {1e3 * self.jitter_s:.3g} ms" if self.jitter_s else ""
        return (
            f"{self.rate_bps / 1e6:.4g} Mbit/s, delay {1e3 * self.delay_s:.4g} ms{jitter}, queue "
            f"{self.queue_bytes / 1e3:.4g} kB, loss {self.loss:.2g}"
        )


def measurements(folder: Path) -> tuple[list[Measured], list[str]]:
    """Returns the measurements in a directory, and the names of files that no reader recognises.

    Raises
    ------
    InputError
        If there is no such directory, no measurement in it, or a file of a known format has an error.
    """
    if not folder.is_dir():
        reason = (
            "is a file; name the directory that holds it" if folder.exists() else "does not exist; name a directory"
        )
        raise InputError(f"--data {printable(folder)}: {reason} with measurements")
    found: list[Measured] = []
    others: list[str] = []
    for path in sorted(one for one in folder.iterdir() if one.is_file()):
        try:
            kind = imports.kind_of(path)
        except InputError:
            others.append(path.name)
            continue
        if kind == "capture":
            found += [captured] if (captured := _captured(path)) is not None else []
            continue
        facts = imports.read(path, kind)
        both = [_measured(path.name, one) for one in (facts, facts.other) if one is not None]
        found += [measured for measured in both if measured is not None]
    if not found:
        seen = f"; it has {', '.join(map(printable, others))}" if others else ""
        raise InputError(
            f"--data {printable(folder)}: holds no measurement with at least {LEAST} values{seen}; name a directory "
            "with "
            "output of iperf3, irtt or ping, tables or captures"
        )
    return found, others


def _measured(file: str, found: Found) -> Measured | None:
    """Returns a measurement of a file; None if it has too few values over time."""
    arrived = tuple(found.arrived)
    probes = tuple((row.time_s, 2 * row.delay_s) for row in found.rows if row.delay_s is not None)
    if not arrived:
        rates = [Arrived(row.time_s, row.rate_bps / HEADERS) for row in found.rows if row.rate_bps is not None]
        arrived = tuple(rates)
    if max(len(arrived), len(probes)) < LEAST:
        return None
    congestion = found.congestion[0] if found.congestion else "cubic"
    loss = max((one.value for one in found.loss.values()), default=None)
    delay = found.delay.value if found.delay else None
    return Measured(file, arrived, probes, congestion, found.is_udp, delay, loss)


def _captured(path: Path) -> Measured | None:
    """Returns throughput and round trips of the largest connection of a capture; None if it is too short.

    The throughput is the progress of the acknowledgements, and a round trip lasts from the first transmission of a
    segment to the first acknowledgement that covers it, so the capture should be from the sender's side.
    """
    connection = ll.inspect(path).largest()
    packets = connection.packets().sort("time_s", maintain_order=True)
    first: dict[int, float] = {}
    ends: list[int] = []
    progress: list[tuple[float, int]] = []
    rtts: list[tuple[float, float]] = []
    at = 0
    columns = ("time_s", "side", "start", "unique_bytes", "bytes", "ack")
    for when, side, start, unique, size, ack in packets.select(columns).iter_rows():
        if side == connection.sender:
            end = start + size
            if unique:
                first[end] = when
                ends.append(end)
            elif size:
                # A round trip of a retransmitted segment is ambiguous (Karn).
                first.pop(end, None)
            continue
        while at < len(ends) and ends[at] <= ack:
            sent = first.pop(ends[at], None)
            if sent is not None and ends[at] == ack:
                rtts.append((when, when - sent))
            at += 1
        if not progress or ack > progress[-1][1]:
            progress.append((when, ack))
    if len(progress) < 2:
        return None
    return _windows(path.name, progress, rtts)


def _windows(file: str, progress: Sequence[tuple[float, int]], rtts: Sequence[tuple[float, float]]) -> Measured | None:
    """Returns a measurement of a connection in `WINDOWS` intervals of the same length."""
    start, end = progress[0][0], progress[-1][0]
    step = (end - start) / WINDOWS
    if step <= 0 or not rtts:
        return None
    edges = [start + step * index for index in range(WINDOWS + 1)]
    reached = [max((ack for when, ack in progress if when <= edge + 1e-9), default=0) for edge in edges]
    arrived = []
    for index, edge in enumerate(edges[:-1]):
        inside = [rtt for when, rtt in rtts if edge <= when < edge + step]
        bps = 8 * (reached[index + 1] - reached[index]) / step
        arrived.append(Arrived(edge - start, bps, statistics.median(inside) if inside else None))
    return Measured(file, tuple(arrived), (), "cubic", False, min(rtt for _, rtt in rtts) / 2, None)


def percentile(values: Sequence[float], fraction: float) -> float:
    """Returns a percentile by the nearest rank.

    Examples
    --------
    >>> percentile([4.0, 1.0, 2.0, 3.0], 0.5)
    2.0
    """
    ordered = sorted(values)
    return ordered[max(0, min(len(ordered) - 1, round(fraction * len(ordered)) - 1))]


def scenario(path: FittedPath, one: Measured, length_s: float) -> dict[str, Any]:
    """Returns the scenario of a measurement over a path."""
    link: dict[str, Any] = {
        "between": ["sender", "receiver"],
        "rate": f"{path.rate_bps / 1e6:.6g} Mbit/s",
        "delay": f"{1e3 * path.delay_s:.6g} ms",
        "queue": f"{max(1500, round(path.queue_bytes))} B",
    }
    if path.loss:
        link["loss"] = {"forward": float(f"{path.loss:.6g}"), "backward": 0.0}
    if path.jitter_s:
        link["jitter"] = {"forward": f"{1e3 * path.jitter_s:.6g} ms", "backward": "0 ms"}
    flow: dict[str, Any] = {"from": "sender", "to": "receiver"}
    tcp: dict[str, Any] = {"profile": "linux", "congestion": one.congestion}
    if not one.arrived:
        flow["traffic"] = {"kind": "periodic", "every": f"{max(0.02, length_s / 1000):.6g} s", "size": "56 B"}
        tcp["delayed_ack"] = False
    elif one.is_udp:
        sent = statistics.fmean(each.bps / (1 - (each.loss or 0.0)) for each in one.arrived)
        flow |= {"transport": "udp", "traffic": {"kind": "constant", "rate": f"{sent / 1e6:.6g} Mbit/s"}}
    return {
        "name": "own",
        "duration": f"{length_s:.6g} s",
        "defaults": {"tcp": tcp},
        "links": [link],
        "flows": [flow],
        "record": {"trace": "sampled", "queue": "off", "drops": False, "interval": f"{length_s / 200:.6g} s"},
    }


def halves(result: ll.Result) -> Values:
    """Returns throughput in bit/s and round trips in s of each half of a run, and the lost fraction of all packets."""
    trace = result.trace()
    flow = result.summary["flows"][0]
    length_s = result.simulated_s
    sent = flow["sent_segments"]
    found: Values = {"loss": flow["datagrams"]["lost"] / sent if "datagrams" in flow and sent else None}
    for at, name in enumerate(("first", "second")):
        part = trace.filter((trace["time_s"] >= at * length_s / 2) & (trace["time_s"] <= (at + 1) * length_s / 2))
        bps = None
        if part.height > 1:
            bytes_, times = part["arrived_bytes"], part["time_s"]
            bps = 8 * (bytes_[-1] - bytes_[0]) / (times[-1] - times[0])
        found[f"{name}_bps"] = bps
        found[f"{name}_rtts"] = part["rtt_s"].drop_nans().drop_nulls().to_list()
    if "datagrams" in flow:
        found["first_bps"] = found["second_bps"] = 8 * flow["delivered_bytes"] / length_s
    return found


def fitted(work: Work, one: Measured) -> FittedPath:
    """Returns the path that fits the first half of a measurement.

    Raises
    ------
    InputError
        If neither round trips nor a delay are known.
    """
    half = one.length_s / 2
    rtts = [rtt for when, rtt in one.rtts() if when < half]
    if not rtts and one.delay_s is None:
        raise InputError(
            f"{printable(one.file)}: has no round trips, which a fit needs; add a ping of the path, or name a scenario "
            "with --scenario"
        )
    least = min(rtts) if rtts else 2 * (one.delay_s or 0.0)
    if not one.arrived:
        low, high = percentile(rtts, 0.05), percentile(rtts, 0.95)
        # 90 % of the values of a uniform deviation of ±j are within 1.8 j.
        middle = statistics.median(rtts) / 2
        return FittedPath(100e6, middle, 1e6, one.loss or 0.0, min((high - low) / 1.8, 0.99 * middle))
    rates = [each.bps for each in one.arrived if each.time_s < half]
    rate = percentile(rates, 0.95) * HEADERS
    queueing = max(percentile(rtts, 0.95) - least, 0.0) if len(rtts) >= LEAST // 2 else least
    path = FittedPath(rate, least / 2, max(queueing, 0.005) * rate / 8, 0.0)
    if one.is_udp:
        losses = [each.loss for each in one.arrived if each.loss is not None and each.time_s < half]
        return FittedPath(rate, path.delay_s, path.queue_bytes, statistics.fmean(losses) if losses else 0.0)
    target = statistics.fmean(rates)
    return path if target >= FULL * rate / HEADERS else _with_loss(work, one, path, target)


def _with_loss(work: Work, one: Measured, path: FittedPath, target_bps: float) -> FittedPath:
    """Returns the path with the loss that gives the connection the measured throughput, by halving its logarithm."""
    low, high = LEAST_LOSS, MOST_LOSS
    for _ in range(STEPS):
        loss = (low * high) ** 0.5
        trial = FittedPath(path.rate_bps, path.delay_s, path.queue_bytes, loss)
        runs = _runs(work, f"fit of {one.file}", scenario(trial, one, min(one.length_s, LONGEST_S)))
        reached = statistics.fmean(run["first_bps"] or 0.0 for run in runs)
        low, high = (loss, high) if reached > target_bps else (low, loss)
    return FittedPath(path.rate_bps, path.delay_s, path.queue_bytes, (low * high) ** 0.5)


def _runs(work: Work, said: str, content: Mapping[str, Any]) -> list[Values]:
    return work.run(said, [Task(content, seed, halves) for seed in range(1, SEEDS + 1)])


def section(work: Work, directory: Path, given: Path | None = None) -> Section:
    """Returns the rows of a user's measurements.

    Parameters
    ----------
    work
        Runs the simulations.
    directory
        Directory with the measurements.
    given
        A scenario file; None to fit a path to each measurement.
    """
    if given is not None and not given.is_file():
        raise InputError(f"--scenario {printable(given)}: does not exist; name a scenario file")
    found, others = measurements(directory)
    card = Section("own", "Own measurements", [ABOUT_FITTED if given is None else ABOUT_GIVEN])
    if others:
        card.about.append(f"Not recognised, and left out: {', '.join(map(printable, others))}.")
    for one in found:
        if given is None:
            path = fitted(work, one)
            runs = _runs(work, one.file, scenario(path, one, min(one.length_s, LONGEST_S)))
            setting = path.text
        else:
            tasks = [Task(given, seed, halves) for seed in range(1, SEEDS + 1)]
            runs, setting = work.run(one.file, tasks), given.name
        card.facts += _facts(one, runs, setting, is_fitted=given is None)
    card.figures.append(figures.own(card.facts))
    return card


def _facts(one: Measured, runs: Sequence[Values], setting: str, *, is_fitted: bool) -> list[Fact]:
    """Returns the rows of one measurement."""
    half = one.length_s / 2 if is_fitted else 0.0
    facts = []

    def add(
        quantity: str,
        unit: str,
        values: Sequence[tuple[float, float]],
        ours: Sequence[float],
        middle: Callable[[Sequence[float]], float],
    ) -> None:
        later = [value for when, value in values if when >= half]
        earlier = [value for when, value in values if when < one.length_s / 2]
        if not later or not earlier or not ours:
            return
        measured = Spread(middle(later), percentile(later, 0.25), percentile(later, 0.75))
        tolerance = OWN
        if measured.value:
            tolerance = max(OWN, abs(middle(earlier) / measured.value - 1))
        mine = Spread.of(list(ours))
        near = abs(mine.value - measured.value) <= tolerance * abs(measured.value)
        reason = f"within {tolerance:.0%}; first half {number(middle(earlier))} {unit}".rstrip()
        verdict = Verdict.AGREES if near else Verdict.DIFFERS
        facts.append(Fact(printable(one.file), setting, quantity, unit, measured, mine, verdict, reason))

    names = ("second",) if is_fitted else ("first", "second")
    throughput = [
        statistics.fmean([run[f"{name}_bps"] / 1e6 for name in names if run[f"{name}_bps"]] or [0]) for run in runs
    ]
    if one.arrived:
        add(
            "throughput",
            "Mbit/s",
            [(each.time_s, each.bps / 1e6) for each in one.arrived],
            throughput,
            statistics.fmean,
        )
    rtts = [[1e3 * rtt for name in names for rtt in run[f"{name}_rtts"]] for run in runs]
    rtts = [values for values in rtts if values]
    measured_rtts = [(when, 1e3 * rtt) for when, rtt in one.rtts()]
    add("median RTT", "ms", measured_rtts, [statistics.median(values) for values in rtts], statistics.median)
    add(
        "95th percentile of the RTT",
        "ms",
        measured_rtts,
        [percentile(values, 0.95) for values in rtts],
        lambda values: percentile(values, 0.95),
    )
    losses = [(each.time_s, each.loss) for each in one.arrived if each.loss is not None]
    add("loss", "", losses, [run["loss"] for run in runs if run["loss"] is not None], statistics.fmean)
    return facts
