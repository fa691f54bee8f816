"""One flow over one lossy link: Fig. 4, Table 1 and Fig. 5 (§5.1)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import lightlag as ll
from lightlag_papers.cubic_inet import equations, model
from lightlag_papers.epochs import Epoch, WindowTrace, band, epochs
from lightlag_papers.paper import Effort
from lightlag_papers.scenarios import scenario
from lightlag_papers.table import AS_PRINTED, BEFOREHAND, Layout, Row, Verdict, number

FLOW = "client->server"
SEGMENTS = 20 * 1024
"""Length of the transfer in segments of 1024 B: 20 MiB."""
PATH = model.Path(rate_bps=5e6, delay_s=0.04, segment_bytes=1024, overhead_bytes=47)


@dataclass(frozen=True)
class Printed:
    """A row of the paper's Table 1."""

    reduction_s: float
    switch_expected_s: float
    switched: bool

    @property
    def k_s(self) -> float:
        """K as printed: time from the reduction to the expected switch, in seconds."""
        return self.switch_expected_s - self.reduction_s


TABLE_1 = (
    Printed(2.90, 7.61, False),
    Printed(8.72, 13.42, True),
    Printed(16.32, 21.09, True),
    Printed(26.16, 31.25, False),
    Printed(27.70, 30.70, False),
    Printed(30.43, 34.83, False),
    Printed(32.24, 33.53, False),
    Printed(34.80, 38.59, False),
)
CONSISTENT = 4
"""Number of rows at the start of Table 1 that growth between single losses explains."""
K_TOLERANCE = 0.04
COMPLETION_S = (36.0, 50.0)
MEDIAN_COMPLETION_S = 41.0
SEEDS = 30
LOSSES = 8


def loss_time(reduction_s: float) -> float:
    """Returns the time of the packet loss that causes a window reduction at a given time.

    The third duplicate ACK causes the reduction. It arrives after the transmission of the lost packet and three
    more, the one-way delay, the transmission of the ACK, and the delay back. Another half packet is added because
    the loss affects the first packet whose transmission starts at or after the requested time.

    Examples
    --------
    >>> f"{loss_time(2.90):.4f}"
    '2.8122'
    """
    return reduction_s - (4.5 * PATH.segment_s + 2 * PATH.delay_s + PATH.ack_s)


def forced(reductions: Sequence[float], *, delayed_ack: bool = True) -> ll.Result:
    """Returns the transfer in which losses reduce the window at exactly these times."""
    times = ", ".join(f'"{loss_time(time):.6f} s"' for time in reductions)
    sets = {"links.0.loss": f"{{ forward = {{ at = [{times}] }}, backward = 0 }}"}
    if not delayed_ack:
        sets["defaults.tcp.delayed_ack"] = "false"
    return ll.run(scenario("cubic_inet/point_to_point"), seed=1, sets=sets)


@dataclass(frozen=True)
class Forced:
    """The transfer with the reductions of Table 1."""

    result: ll.Result
    trace: WindowTrace
    epochs: list[Epoch]
    model: list[model.ModelEpoch]

    @classmethod
    def run(cls) -> Forced:
        """Runs simulator and model."""
        times = [row.reduction_s for row in TABLE_1]
        result = forced(times)
        trace = WindowTrace.of(result.trace("cwnd"), FLOW)
        idealised = model.simulate(PATH, segments=SEGMENTS, reductions=times)
        return cls(result, trace, epochs(trace), idealised.epochs)


def forced_rows(run: Forced) -> list[Row]:
    """Returns the rows for Table 1, with its own reductions, and for the text's statements about Fig. 4."""
    rows: list[Row] = []
    for number_, (printed, ours, ideal) in enumerate(zip(TABLE_1, run.epochs, run.model, strict=False), start=1):
        rows += _table_rows(number_, printed, ours, ideal)
    return rows + _text_rows(run)


def side_by_side(run: Forced) -> Layout:
    """Returns Table 1 in the paper's layout, with our values added."""
    header = ("reduction, s", "ours", "switch expected, s", "ours", "K, s", "ours", "profile switch", "ours")
    lines = tuple(
        (
            number(printed.reduction_s),
            number(ours.reduction_s),
            number(printed.switch_expected_s),
            number(ours.reduction_s + ours.k_s),
            number(printed.k_s),
            number(ours.k_s),
            _yes(printed.switched),
            _yes(ours.switched),
        )
        for printed, ours in zip(TABLE_1, run.epochs, strict=False)
    )
    return Layout(
        "table1", "Table 1: the paper's and ours, with losses forced for the paper's reductions", header, lines
    )


def _table_rows(place: int, printed: Printed, ours: Epoch, ideal: model.ModelEpoch) -> list[Row]:
    item = f"Table 1, row {place} ({printed.reduction_s:.2f} s)"
    deviation = ours.k_s / printed.k_s - 1
    holds = abs(deviation) <= K_TOLERANCE
    if place <= CONSISTENT:
        at = f"W = {ours.window:.1f} at {ours.reduction_s:.3f} s"
        reason = f"{deviation:+.1%}, tolerance {K_TOLERANCE:.0%} ({BEFOREHAND}); {at}"
    elif holds:
        reason = f"{deviation:+.1%}; not expected: rows 5 to 8 do not follow from one loss per window"
    else:
        plain, converging = implied_window(printed.k_s, False), implied_window(printed.k_s, True)
        reason = (
            f"{deviation:+.1%}, tolerance {K_TOLERANCE:.0%}; W = {ours.window:.1f}; the printed K requires W = "
            f"{plain:.0f}, or {converging:.0f} with fast convergence"
        )
    return [
        Row.claim(
            item,
            "K, s",
            number(printed.k_s),
            f"{ours.k_s:.2f} (W = {ours.window:.0f})",
            holds,
            reason,
            theory=f"{ideal.k:.2f} (W = {ideal.window:.0f})" if ideal.k is not None else "",
        ),
        Row(
            item,
            "profile switch",
            _yes(printed.switched),
            _yes(ideal.switched),
            _yes(ours.switched),
            Verdict.claim(printed.switched == ours.switched) if place <= CONSISTENT else Verdict.UNDECIDED,
            f"the same, {AS_PRINTED}" if place <= CONSISTENT else "nothing follows from it where K differs",
        ),
    ]


def implied_window(k_s: float, converging: bool) -> float:
    """Returns the window at the loss that follows from a printed K: the inverse of :func:`equations.k_published`.

    Examples
    --------
    >>> round(implied_window(4.71, False))
    214
    """
    return (equations.C * k_s**3 + 1) / (equations.BETA / 2 if converging else equations.BETA)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _text_rows(run: Forced) -> list[Row]:
    """Returns the rows for the text's claims about Figs. 4 and 5."""
    trace = run.trace
    first, second, third = run.epochs[:3]
    in_recovery = trace.phase == "recovery"
    peaks = [
        float(trace.cwnd[in_recovery & (trace.time_s >= a.reduction_s) & (trace.time_s < b.reduction_s)].max())
        for a, b in zip(run.epochs, run.epochs[1:], strict=False)
    ]
    spiked = sum(peak > epoch.window for peak, epoch in zip(peaks, run.epochs, strict=False))
    deflated = _deflations(trace)
    still, level = longest_rest(trace, third, run.epochs[3].reduction_s)
    return [
        Row.claim(
            "Fig. 4",
            "fast recovery inflates cwnd above the window at the loss",
            "a spike at each loss",
            f"{spiked} of {len(peaks)} losses, up to {max(peaks):.0f} segments",
            spiked == len(peaks),
            f"at every loss, {AS_PRINTED}",
            theory="(1 - β)W + W = 1.8 W",
        ),
        Row.claim(
            "Fig. 4",
            "new data acknowledged: cwnd falls to ssthresh",
            "yes",
            f"{sum(deflated)} of {len(deflated)} recoveries",
            all(deflated),
            f"after every recovery, {AS_PRINTED}",
            theory="RFC 6582 §3.2, option 2",
        ),
        Row.claim(
            "Fig. 4",
            "second epoch keeps Wmax and ssthresh",
            "the same",
            f"{second.w_max / first.w_max - 1:+.1%} ({first.w_max:.1f} and {second.w_max:.1f} segments)",
            abs(second.w_max / first.w_max - 1) <= 0.02,
            f"tolerance 2 % ({BEFOREHAND})",
            theory=f"{run.model[1].w_max / run.model[0].w_max - 1:+.1%}",
        ),
        Row.claim(
            "Fig. 5",
            "third epoch: longest time without a change of cwnd, s",
            "almost constant around Wmax for some time",
            f"{still:.2f}, at {level - third.w_max:+.1f} segments from Wmax",
            still >= 1 and abs(level - third.w_max) <= 1 and third.switched,
            f"at least 1 s, within one segment of Wmax, and convex growth after it ({BEFOREHAND})",
            theory=f"up to {equations.PLATEAU_S:.2f} (C|t - K|³ < 1)",
        ),
    ]


def _deflations(trace: WindowTrace) -> list[bool]:
    """Returns for each fast recovery that ended without a timeout whether cwnd equalled ssthresh at its end."""
    phase = trace.phase
    ends = [i + 1 for i in range(len(phase) - 1) if phase[i] == "recovery" and phase[i + 1] == "open"]
    return [abs(trace.cwnd[i] - trace.ssthresh[i]) < 0.01 for i in ends]


def longest_rest(trace: WindowTrace, epoch: Epoch, end_s: float) -> tuple[float, float]:
    """Returns the maximum time in an epoch without a change of the window, in seconds, and the window then."""
    inside = (trace.time_s > epoch.reduction_s) & (trace.time_s < end_s) & (trace.phase == "open")
    times, window = trace.time_s[inside], trace.cwnd[inside]
    changes = np.concatenate(([0], np.flatnonzero(np.diff(window)) + 1))
    rests = np.diff(np.append(times[changes], end_s))
    longest = int(rests.argmax())
    return float(rests[longest]), float(window[changes[longest]])


def control_rows() -> list[Row]:
    """Returns the row for an ACK for every segment and the same reductions; it does not match the paper's traces."""
    times = [row.reduction_s for row in TABLE_1[:CONSISTENT]]
    result = forced(times, delayed_ack=False)
    found = epochs(WindowTrace.of(result.trace("cwnd"), FLOW))
    ours = [min(found, key=lambda epoch: abs(epoch.reduction_s - time)) for time in times]
    ideal = model.simulate(PATH, segments=SEGMENTS, reductions=times, delayed_ack=(1, 0.0)).epochs
    timeouts = result.summary["flows"][0]["timeouts"]
    return [
        Row.informing(
            "Table 1, control",
            "W of row 1 and K of rows 1 to 4 with an ACK for every segment",
            f"W = {ours[0].window:.0f}, K = {_list([epoch.k_s for epoch in ours])}",
            f"far from the table's W = 214, K = {_list([row.k_s for row in TABLE_1[:CONSISTENT]])}: the paper's "
            "receiver delayed its ACKs. The queue alone takes more than the least "
            f"retransmission timeout of 1 s here, so that timeouts occur ({timeouts}), which the model does not know",
            theory=f"W = {ideal[0].window:.0f}, K = {_list([epoch.k for epoch in ideal])}",
        )
    ]


def _list(values: Sequence[float | None]) -> str:
    return ", ".join("-" if value is None or math.isnan(value) else number(value) for value in values)


@dataclass(frozen=True)
class Sample:
    """The results of one transfer with random losses."""

    losses: int
    completion_s: float
    timeouts: int
    checked: int
    matched: int
    without_plateau: int


def random_rows(effort: Effort) -> list[Row]:
    """Returns the rows for random losses, over many seeds."""
    seeds = effort.seeds_of(SEEDS)
    samples = effort.map(lambda seed: sample(ll.run(scenario("cubic_inet/point_to_point"), seed=seed)), seeds)
    ideal = [model.simulate(PATH, segments=SEGMENTS, loss=5e-4, seed=seed) for seed in seeds]
    return [_losses_row(samples, ideal), *_completion_rows(samples, ideal), _relation_row(samples)]


def sample(result: ll.Result) -> Sample:
    """Returns the values of a run that the random check needs."""
    flow: dict[str, Any] = result.summary["flows"][0]
    forward: dict[str, Any] = result.summary["links"][0]
    finish = flow["finish_s"]
    if finish is None:
        raise RuntimeError(f"the transfer with seed {result.seed} did not finish in {result.simulated_s:.0f} s")
    counts = relation(epochs(WindowTrace.of(result.trace("cwnd"), FLOW)))
    return Sample(int(forward["dropped_error"]), float(finish), int(flow["timeouts"]), *counts)


def relation(found: Sequence[Epoch], tolerance: float = 0.01) -> tuple[int, int, int]:
    """Counts the epochs of a run by the K that follows their reductions.

    The three counts are: the epochs after a fast recovery, the number of these with the K that their window requires,
    and the epochs after a timeout, where the published code has no plateau (K = 0).

    Fast convergence acts when the window at the loss is below the Wmax of the epoch before.
    """
    checked = matched = without_plateau = 0
    w_last = 0.0
    for epoch in found:
        if epoch.timeout:
            w_last = 0.0
            without_plateau += 1
            continue
        converging = epoch.window < w_last - 1e-9
        w_last = epoch.window * (1 - equations.BETA / 2) if converging else epoch.window
        if not epoch.grew:
            continue
        expected = equations.k_published(epoch.window, converging=converging)
        checked += 1
        matched += abs(epoch.k_s - expected) <= tolerance * max(expected, 0.1)
    return checked, matched, without_plateau


def _losses_row(samples: Sequence[Sample], ideal: Sequence[model.ModelRun]) -> Row:
    losses = [float(sample.losses) for sample in samples]
    low, high = band(losses)
    modelled = band([float(run.losses) for run in ideal])
    return Row.claim(
        "Fig. 4, random losses",
        "data packets lost",
        str(LOSSES),
        f"{low:.0f} to {high:.0f}, mean {statistics.fmean(losses):.1f} ({len(samples)} seeds)",
        low <= LOSSES <= high,
        f"the 5 to 95 % band of the seeds must contain the paper's number ({BEFOREHAND})",
        theory=f"{modelled[0]:.0f} to {modelled[1]:.0f}, mean {SEGMENTS * 5e-4:.1f}",
    )


def _completion_rows(samples: Sequence[Sample], ideal: Sequence[model.ModelRun]) -> list[Row]:
    times = [sample.completion_s for sample in samples]
    median = statistics.median(times)
    modelled = [run.finish_s for run in ideal]
    within = COMPLETION_S[0] <= min(times) and max(times) <= COMPLETION_S[1] and median <= MEDIAN_COMPLETION_S
    ours = f"{min(times):.1f} to {max(times):.1f}, median {median:.1f} ({len(samples)} seeds)"
    last = TABLE_1[-1].reduction_s
    timeouts = sum(sample.timeouts for sample in samples)
    return [
        Row.claim(
            "Fig. 4, random losses",
            "time of completion, s",
            f"after {last:.2f}",
            ours,
            min(times) > last,
            f"later than the last row of Table 1 with every seed, {AS_PRINTED}",
        ),
        Row.check(
            "Fig. 4, random losses",
            "time of completion, s",
            f"{min(modelled):.1f} to {max(modelled):.1f}, median {statistics.median(modelled):.1f} (model)",
            ours,
            within,
            f"all within {COMPLETION_S[0]:.0f} to {COMPLETION_S[1]:.0f} s and the median at most "
            f"{MEDIAN_COMPLETION_S:.0f} s; {timeouts} timeouts in total (the model has none)",
        ),
    ]


def _relation_row(samples: Sequence[Sample]) -> Row:
    checked = sum(sample.checked for sample in samples)
    matched = sum(sample.matched for sample in samples)
    after_timeouts = sum(sample.without_plateau for sample in samples)
    return Row.check(
        "Table 1, random losses",
        "epochs whose K follows from the window at the loss",
        "0.4 K³ = 0.2 W - 1; 0.1 W - 1 with fast convergence",
        f"{matched} of {checked} ({len(samples)} seeds)",
        checked > 0 and matched == checked,
        f"within 1 % of K, as in rows 1 to 4 of the table; {after_timeouts} epochs after a timeout have no plateau "
        "and are left out",
    )
