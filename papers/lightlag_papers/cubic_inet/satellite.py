"""Four flows over a satellite, CUBIC compared with NewReno: Figs. 8 and 9 (§5.2)."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

import lightlag as ll
from lightlag.analyse import mean_interval
from lightlag_papers.cubic_inet import equations, model
from lightlag_papers.epochs import LOSS, OPEN, RECOVERY, WindowTrace, time_mean
from lightlag_papers.paper import Effort
from lightlag_papers.scenarios import scenario
from lightlag_papers.table import AS_PRINTED, BEFOREHAND, Band, Row, Verdict, pm

SEEDS = 10
FLOWS = 4
RTT_S = 0.4
BYTES = 15 * 2**20
SEGMENTS = BYTES // 1024
START_S = 1.2
HOP_LOSS = 5e-4
LOSS_RATE = 1 - (1 - HOP_LOSS) ** 2
"""Fraction of the data lost on two satellite links."""
SETTLED_S = 15.0
"""Start of the equilibrium that the text describes, in s."""
SHARE_OF_SEEDS = 0.8
CUBIC_LAST_S, NEWRENO_LAST_S = Band(45.0, 95.0, BEFOREHAND), Band(150.0, 320.0, BEFOREHAND)
RATIO = Band(2.2, 4.5, BEFOREHAND)
WINDOW = Band(80.0, 200.0, BEFOREHAND)
WHOLE = 0.9
"""Minimum fraction of the remaining time for which the window must exceed the limit for the claim to hold."""
PRINTED_LAST_S, PRINTED_LATE_S, PRINTED_WINDOW = 70.0, 200.0, 150.0
ALGORITHMS = {"CUBIC": '{ algorithm = "cubic", variant = "inet2023" }', "NewReno": '"newreno"'}
CONTROLS = {"CUBIC": model.PublishedCubic, "NewReno": model.Reno}


def path(rtt_s: float) -> model.Path:
    """Returns the path of a flow that is alone."""
    return model.Path(rate_bps=100e6, delay_s=rtt_s / 2, segment_bytes=1024, overhead_bytes=47)


def run(algorithm: str, seed: int, *, rtt_s: float = RTT_S, trace: bool = True) -> ll.Result:
    """Runs the scenario with one algorithm for all flows."""
    delay = f"{rtt_s / 4 * 1e3:g} ms"
    sets = {"defaults.tcp.congestion": ALGORITHMS[algorithm], "links.0.delay": delay, "links.1.delay": delay}
    return ll.run(scenario("cubic_inet/satellite"), seed=seed, sets=sets if trace else sets | {"record.trace": "off"})


def finishes(result: ll.Result) -> list[float]:
    """Returns the finish time of each flow, in seconds."""
    flows = result.summary["flows"]
    late = [flow["name"] for flow in flows if flow["finish_s"] is None]
    if late:
        raise RuntimeError(f"with seed {result.seed} {', '.join(late)} did not finish in {result.simulated_s:.0f} s")
    return [float(flow["finish_s"]) for flow in flows]


@dataclass(frozen=True)
class Jump:
    """A fast recovery that ended with a retransmission timeout.

    Attributes
    ----------
    recovery_s, timeout_s
        Start of the recovery, and time of the timeout.
    window, peak
        Window before the recovery, and maximum window including the inflation by duplicate ACKs, in segments.
    """

    recovery_s: float
    timeout_s: float
    window: float
    peak: float


@dataclass(frozen=True)
class Sample:
    """The results of one run with four flows.

    Attributes
    ----------
    finish_s
        Finish time of each flow.
    windows
        Mean window of each flow from `SETTLED_S` to its end, in segments; flows that end earlier are left out.
    above, drawn_above
        Fraction of that time with a window above 150 segments: without the inflation of fast recovery, and with it, as
        in the paper's figure.
    slopes
        Growth in congestion avoidance between losses, in segments per round trip.
    jumps
        Number of fast recoveries that ended with a timeout.
    """

    finish_s: list[float]
    windows: list[float]
    above: list[float]
    drawn_above: list[float]
    slopes: list[float]
    jumps: list[Jump]

    @property
    def last_s(self) -> float:
        """The finish time of the last flow."""
        return max(self.finish_s)


def sample(result: ll.Result) -> Sample:
    """Reduces a run to its results."""
    ends = finishes(result)
    traces = [WindowTrace.of(result.trace("cwnd"), flow["name"]) for flow in result.summary["flows"]]
    settled = [(trace, end) for trace, end in zip(traces, ends, strict=True) if end > SETTLED_S + 1]
    windows = [time_mean(trace.time_s, trace.deflated(), SETTLED_S, end) for trace, end in settled]
    above, drawn = (
        [
            time_mean(trace.time_s, (window > PRINTED_WINDOW).astype(np.float64), SETTLED_S, end)
            for (trace, end), window in zip(settled, shapes, strict=True)
        ]
        for shapes in ([trace.deflated() for trace, _ in settled], [trace.cwnd for trace, _ in settled])
    )
    slopes = [slope for trace in traces for slope in growth_per_round(trace)]
    return Sample(ends, windows, above, drawn, slopes, [jump for trace in traces for jump in jumps(trace)])


def measured(algorithm: str, seed: int) -> Sample:
    """Runs the scenario and reduces it to its results."""
    return sample(run(algorithm, seed))


def jumps(trace: WindowTrace) -> list[Jump]:
    """Returns the fast recoveries of a flow that ended with a retransmission timeout."""
    phase = trace.phase
    found = []
    for at in np.flatnonzero((phase[1:] == LOSS) & (phase[:-1] == RECOVERY)) + 1:
        begin = int(at)
        while phase[begin - 1] == RECOVERY:
            begin -= 1
        inflated = float(trace.cwnd[begin:at].max())
        found.append(Jump(float(trace.time_s[begin]), float(trace.time_s[at]), float(trace.cwnd[begin - 1]), inflated))
    return found


def growth_per_round(trace: WindowTrace, rtt_s: float = RTT_S, least_s: float = 5.0) -> list[float]:
    """Returns the growth of the window above ssthresh while no data is lost, in segments per round trip.

    The list has a value for each interval between losses of at least `least_s`.
    """
    grows = (trace.phase == OPEN) & (trace.cwnd > trace.ssthresh)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], grows, [False])).astype(int)))
    slopes = []
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        # From the first ACK that adds to the last: a round trip passes before the first.
        grown = begin + np.flatnonzero(np.diff(trace.cwnd[begin:end]) > 0) + 1
        if len(grown) < 2:
            continue
        first, last = int(grown[0]), int(grown[-1])
        seconds = float(trace.time_s[last] - trace.time_s[first])
        if seconds >= least_s:
            slopes.append(float(trace.cwnd[last] - trace.cwnd[first]) / seconds * rtt_s)
    return slopes


@dataclass(frozen=True)
class Comparison:
    """Runs of both algorithms with the same seeds, in the simulator and in the model."""

    samples: dict[str, list[Sample]]
    ideal: dict[str, list[list[float]]]
    """Finish times of the model's flows by algorithm, one list per seed."""

    @classmethod
    def run(cls, effort: Effort) -> Comparison:
        """Runs simulator and model."""
        seeds = effort.seeds_of(SEEDS)
        samples = {name: effort.map(partial(measured, name), seeds) for name in ALGORITHMS}
        ideal = {
            name: [[modelled(name, RTT_S, FLOWS * seed + at) for at in range(FLOWS)] for seed in seeds]
            for name in ALGORITHMS
        }
        return cls(samples, ideal)

    @property
    def seeds(self) -> int:
        """The number of seeds."""
        return len(self.samples["CUBIC"])

    def enough(self, good: int) -> bool:
        """Returns true if the given number of seeds is at least 80 % of all."""
        return good >= SHARE_OF_SEEDS * self.seeds

    def lasts(self, name: str) -> list[float]:
        """Returns the finish time of the last flow of each run."""
        return [one.last_s for one in self.samples[name]]

    def windows(self, name: str) -> list[float]:
        """Returns the mean window of the flows in each run."""
        return [statistics.fmean(one.windows) for one in self.samples[name] if one.windows]


def modelled(name: str, rtt_s: float, seed: int) -> float:
    """Returns the finish time of a flow of the model, which is alone on its path."""
    return model.simulate(
        path(rtt_s), segments=SEGMENTS, start_s=START_S, loss=LOSS_RATE, seed=seed, control=CONTROLS[name]
    ).finish_s


def response_bps(name: str, rtt_s: float) -> float:
    """Returns the rate of a flow according to its response function, in bit/s of payload."""
    window = equations.response(LOSS_RATE, rtt_s) if name == "CUBIC" else equations.reno(LOSS_RATE, segments_per_ack=2)
    return window * 1024 * 8 / rtt_s


def rows(found: Comparison) -> list[Row]:
    """Returns the rows for the text's statements about Fig. 9."""
    return [
        _last_row(found, "CUBIC", CUBIC_LAST_S, f"none after {PRINTED_LAST_S:.0f}", _before_70(found)),
        _last_row(found, "NewReno", NEWRENO_LAST_S, "two of four after 200", _after_200(found)),
        _ratio_row(found),
        _order_row(found),
        *_window_rows(found),
        _slope_row(found),
        _jump_row(found),
    ]


def spread(values: Sequence[float], digits: int = 0) -> str:
    """Formats the mean with its interval, and the extremes."""
    return f"{pm(mean_interval(values), digits)} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def _before_70(found: Comparison) -> str:
    good = sum(last <= PRINTED_LAST_S for last in found.lasts("CUBIC"))
    return f"all flows have finished by {PRINTED_LAST_S:.0f} s in {good} of {found.seeds} seeds"


def _after_200(found: Comparison) -> str:
    late = mean_interval(sum(end > PRINTED_LATE_S for end in one.finish_s) for one in found.samples["NewReno"])
    return f"{pm(late, 1)} of 4 flows finish after {PRINTED_LATE_S:.0f} s"


def _last_row(found: Comparison, name: str, band: Band, paper: str, more: str) -> Row:
    lasts = found.lasts(name)
    ideal = [max(ends) for ends in found.ideal[name]]
    good = sum(last in band for last in lasts)
    outside = [f"{last:.0f}" for last in lasts if last not in band]
    lucky = f"; outside: {', '.join(outside)} s, where every flow had the luck of a long slow start" if outside else ""
    single = BYTES * 8 / response_bps(name, RTT_S)
    return Row.claim(
        "Fig. 9",
        f"{name}: the last of four flows finishes, s",
        paper,
        f"{spread(lasts)}, {found.seeds} seeds",
        statistics.fmean(lasts) in band and found.enough(good),
        f"{band.text} in the mean and in 8 of 10 seeds; it is in {good} of {found.seeds}. "
        f"{more[0].upper()}{more[1:]}{lucky}",
        theory=f"{single:.0f} (response function, one flow); {spread(ideal)} (model)",
    )


def _ratio_row(found: Comparison) -> Row:
    means = {name: [statistics.fmean(one.finish_s) for one in found.samples[name]] for name in ALGORITHMS}
    ratios = [slow / fast for slow, fast in zip(means["NewReno"], means["CUBIC"], strict=True)]
    ideal = statistics.fmean(end for ends in found.ideal["NewReno"] for end in ends) / statistics.fmean(
        end for ends in found.ideal["CUBIC"] for end in ends
    )
    ours = statistics.fmean(means["NewReno"]) / statistics.fmean(means["CUBIC"])
    good = sum(ratio > 1 for ratio in ratios)
    return Row.claim(
        "Fig. 9",
        "mean time of completion, NewReno over CUBIC",
        "all four flows finish significantly later",
        f"{ours:.2f} ({spread(means['NewReno'], 1)} and {spread(means['CUBIC'], 1)} s)",
        ours in RATIO and found.enough(good),
        f"{RATIO.text}; CUBIC is faster in {good} of {found.seeds} seeds",
        theory=f"{response_bps('CUBIC', RTT_S) / response_bps('NewReno', RTT_S):.1f} (response functions); {ideal:.1f} "
        "(model)",
    )


def _order_row(found: Comparison) -> Row:
    good = sum(
        fast.last_s < statistics.median(slow.finish_s)
        for fast, slow in zip(found.samples["CUBIC"], found.samples["NewReno"], strict=True)
    )
    strict = sum(
        fast.last_s < min(slow.finish_s)
        for fast, slow in zip(found.samples["CUBIC"], found.samples["NewReno"], strict=True)
    )
    return Row.check(
        "Fig. 9",
        "seeds in which every CUBIC flow finishes before NewReno's median",
        "",
        f"{good} of {found.seeds}",
        found.enough(good),
        f"8 of 10; before NewReno's first flow in {strict}",
    )


def _window_rows(found: Comparison) -> list[Row]:
    """Returns the row for the text's equilibrium above 150 segments, compared with the actual window."""
    windows = found.windows("CUBIC")
    mean = statistics.fmean(windows)
    good = sum(window in WINDOW for window in windows)
    above = mean_interval(share for one in found.samples["CUBIC"] for share in one.above)
    drawn = mean_interval(share for one in found.samples["CUBIC"] for share in one.drawn_above)
    return [
        Row.claim(
            "Fig. 9a",
            f"CUBIC: fraction of the flows' time after {SETTLED_S:.0f} s with a window above {PRINTED_WINDOW:.0f} "
            "segments",
            f"windows above {PRINTED_WINDOW:.0f} for all of the remaining time",
            f"{above.mean:.0%}; {drawn.mean:.0%} with the inflation of fast recovery, as the paper draws it",
            drawn.mean >= WHOLE,
            f"{AS_PRINTED}: at least {WHOLE:.0%} of the time. After slow start the window is {PRINTED_WINDOW:.0f} "
            f"segments or more, but CUBIC's steady state is {equations.response(LOSS_RATE, RTT_S):.0f}",
        ),
        Row.check(
            "Fig. 9a",
            f"CUBIC: mean window from {SETTLED_S:.0f} s to the end, segments",
            f"{equations.response(LOSS_RATE, RTT_S):.0f} (response function, steady state)",
            f"{spread(windows)}, {len(windows)} seeds",
            mean in WINDOW and found.enough(good),
            f"{WINDOW.text} in the mean and in 8 of 10 seeds; it is in {good}. Without the inflation of fast recovery",
        ),
    ]


def _slope_row(found: Comparison) -> Row:
    slopes = [slope for one in found.samples["NewReno"] for slope in one.slopes]
    ours = mean_interval(slopes)
    return Row.claim(
        "Fig. 9b",
        "NewReno: growth between losses, segments per round trip",
        "1/cwnd for each ACK: linear",
        f"{pm(ours, 3)} ({len(slopes)} intervals of 5 s or more)",
        abs(ours.mean / 0.5 - 1) <= 0.05,
        f"tolerance 5 % ({BEFOREHAND}). Equation 3 of RFC 5681 adds slightly less than one segment per round trip, "
        "because the window grows within it and the flight is an integer",
        theory="0.50 (an ACK for every second segment)",
    )


def _jump_row(found: Comparison) -> Row:
    """Returns the rows for the text's Flow 1: a late first loss, a jump of the window, and a timeout 2 s later."""
    samples = found.samples["CUBIC"]
    seen = [jump for one in samples for jump in one.jumps]
    runs = sum(bool(one.jumps) for one in samples)
    waits = [jump.timeout_s - jump.recovery_s for jump in seen]
    about = (
        f"{len(seen)} flows in {runs} of {found.seeds} seeds: from {min(j.window for j in seen):.0f} to "
        f"{max(j.window for j in seen):.0f} segments up to {max(j.peak for j in seen):.0f}, timeout "
        f"{min(waits):.1f} to {max(waits):.1f} s later"
        if seen
        else f"in none of {found.seeds} seeds"
    )
    return Row(
        "Fig. 9a",
        "a window that jumps in fast recovery, and a retransmission timeout after it",
        "Flow 1: jump at 10 s, timeout at 12 s",
        "",
        about,
        Verdict.claim(runs > 0) if found.seeds >= SEEDS else Verdict.UNDECIDED,
        "a single event of one run: it has to occur. A slow start without losses reaches many hundred segments; "
        "then several are lost in one window, NewReno repairs one per round trip, and only the first partial ACK "
        "restarts the timer of 1 s (RFC 6582 §4, impatient)",
    )
