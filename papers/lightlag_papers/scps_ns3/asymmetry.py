"""A narrow return link: Figs. 3 and 4 (§4.2)."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lightlag_papers.paper import Effort
from lightlag_papers.scps_ns3 import equations, model, simulators
from lightlag_papers.scps_ns3.setting import NEWRENO, SCPS, VEGAS, Rates, Setting, Transport, kbps, rates, shown
from lightlag_papers.table import AS_PRINTED, BEFOREHAND, Band, Layout, Row

RETURNS_BPS = (1.5e6, 15e3, 5e3, 3e3, 2e3, 1.5e3)
NARROW_BPS = tuple(rate for rate in RETURNS_BPS if rate <= 5e3)
TEXT_BPS = 5e3
"""Rate of the return link in bit/s for the text's numbers."""
SCPS_BAND, NEWRENO_BAND = Band(500, 1200, BEFOREHAND), Band(80, 250, BEFOREHAND)
"""Bands for the text's values of 800 and 160 kbit/s."""
RATIO_BAND = Band(3, 9, BEFOREHAND)
"""Band for the text's "about 5 times"."""
PEER_TOLERANCE = 0.2
QUEUES = (5, 36, 1000)
CURVES = (SCPS, NEWRENO, VEGAS)
ENOUGH = 0.8
EARLY_S = 30.0
INTERVAL_S = 0.1
LINUX_VEGAS = SCPS.but("SCPS-TP, Linux's Vegas", congestion='{ algorithm = "vegas", variant = "linux" }')
PAPERS_VEGAS = SCPS.but("SCPS-TP, Vegas of 1995", congestion='"vegas"')
SEGMENTS = PAPERS_VEGAS.but("SCPS-TP, Vegas of 1995, segments counted", growth="per_segment")
NOT_RATED = SCPS.but("SCPS-TP without rate control", rate_control='{ rate = "1 Gbit/s" }')
BELOW = NOT_RATED.but("SCPS-TP, rate control below it", **{"links.0.queue": "1000 packets"})
VARIANTS = (SCPS, BELOW, LINUX_VEGAS, PAPERS_VEGAS, SEGMENTS, NOT_RATED)
"""Variants of SCPS-TP. The verdicts refer to the first one, which is the paper's."""
BY_ACKS = SCPS.but("SCPS-TP, released by ACKs", rate_control='{ rate = "1.5 Mbit/s", release = "acks" }')
TEXT_ITEM = "Fig. 3, 5 kbit/s"
MODELS = {
    SCPS: model.Ends(vegas=True, ack_interval_s=INTERVAL_S, rate_bps=1.5e6),
    NEWRENO: model.Ends(),
    VEGAS: model.Ends(vegas=True),
}


@dataclass(frozen=True)
class Asymmetry:
    """All runs for Fig. 3.

    Attributes
    ----------
    found
        Throughputs in bit/s by setting.
    ideal
        Throughputs in the model in bit/s, by label and rate of the return link.
    """

    found: Rates
    ideal: dict[tuple[str, float], float]

    @classmethod
    def run(cls, effort: Effort) -> Asymmetry:
        """Runs all curves with the deep return queue, TCP and SCPS-TP also with other queues; and the model."""
        wanted = [Setting(one, rate) for rate in RETURNS_BPS for one in (*CURVES, *VARIANTS)]
        wanted.append(Setting(BY_ACKS, TEXT_BPS))
        wanted += [Setting(one, rate, return_queue=q) for rate in RETURNS_BPS for one in CURVES for q in QUEUES]
        found = rates(wanted, effort)
        points = [(one, rate) for rate in RETURNS_BPS for one in CURVES]
        ideal = effort.map(lambda point: ideal_bps(Setting(*point)), points)
        return cls(found, {(one.label, rate): value for (one, rate), value in zip(points, ideal, strict=True)})

    def of(self, transport: Transport, return_bps: float, queue: int = QUEUES[-1]) -> list[float]:
        """Returns the throughputs of a point in bit/s."""
        return self.found[Setting(transport, return_bps, return_queue=queue)]

    def mean(self, transport: Transport, return_bps: float) -> float:
        """Returns the mean throughput of a point in kbit/s."""
        return statistics.fmean(self.of(transport, return_bps)) / 1e3

    def model(self, transport: Transport, return_bps: float) -> float:
        """Returns the throughput of a point in the model, in kbit/s."""
        return self.ideal[transport.label, return_bps] / 1e3


PLAIN = dataclasses.replace(MODELS[SCPS], smoothed=False)
"""Model of SCPS-TP whose Vegas uses unsmoothed round-trip samples, as in Linux."""


def ideal_bps(setting: Setting, ends: model.Ends | None = None) -> float:
    """Returns the throughput of a setting in bit/s, from the model of ns-3's rules."""
    path = model.Path(
        setting.return_bps, setting.delay_s, setting.mss, setting.mtu + 2, setting.forward_queue, setting.ber
    )
    return model.transfer(path, ends or MODELS[setting.transport]).throughput_bps


def in_runs(a: list[float], b: list[float], holds: Callable[[float, float], bool]) -> int:
    """Returns the number of runs in which the two values have this order."""
    return sum(map(holds, a, b))


def rows(run: Asymmetry) -> list[Row]:
    """Returns the rows for the text's claims about Fig. 3, except the claims in :func:`text_claims`."""
    return [
        *_value_rows(run),
        _order_row(run),
        _falling_row(run),
        _faster_row(run),
        *_clock_rows(run),
        *_queue_rows(run),
        _readings_row(run),
    ]


def text_claims(run: Asymmetry, scps: Transport = SCPS) -> list[Row]:
    """Returns the rows for SCPS-TP at 5 kbit/s in the text, which depend on the reading of its rate control."""
    known = scps is SCPS
    values = kbps(run.of(scps, TEXT_BPS))
    ideal = (
        f"{run.model(SCPS, TEXT_BPS):.0f} (model), {simulators.shown(Setting(SCPS, TEXT_BPS))} (ns-3.37)"
        if known
        else ""
    )
    found = [
        Row.claim(
            TEXT_ITEM,
            f"throughput of {scps.label}, kbit/s",
            "approximately 800",
            shown(values),
            values.mean in SCPS_BAND,
            SCPS_BAND.text,
            theory=ideal,
        )
    ]
    for other, paper, band in ((NEWRENO, "about 5", RATIO_BAND), (VEGAS, "almost 10", Band.like(RATIO_BAND, 5, 10))):
        ratio = run.mean(scps, TEXT_BPS) / run.mean(other, TEXT_BPS)
        ns3 = simulators.ratio(Setting(SCPS, TEXT_BPS), Setting(other, TEXT_BPS))
        model_ratio = run.model(SCPS, TEXT_BPS) / run.model(other, TEXT_BPS)
        found.append(
            Row.claim(
                TEXT_ITEM,
                f"{scps.label} over {other.label}",
                paper,
                f"{ratio:.1f}",
                ratio in band,
                band.text,
                theory=f"{model_ratio:.1f} (model), {ns3:.1f} (ns-3.37)" if known else "",
            )
        )
    return found


def _value_rows(run: Asymmetry) -> list[Row]:
    found = []
    for one, paper, band in (
        (NEWRENO, "160: a fifth of 800", NEWRENO_BAND),
        (VEGAS, "80: a tenth of 800", Band.like(NEWRENO_BAND, 160, 80)),
    ):
        values = kbps(run.of(one, TEXT_BPS))
        closed = equations.ack_clock_bps(TEXT_BPS, 472) / 1e3
        found.append(
            Row.claim(
                TEXT_ITEM,
                f"throughput of {one.label}, kbit/s",
                paper,
                shown(values),
                values.mean in band,
                band.text
                + ("" if one is not VEGAS else ". The paper's Vegas has less than its ACK clock; ns-3.37's does not"),
                theory=f"{run.model(one, TEXT_BPS):.0f} (model), {simulators.shown(Setting(one, TEXT_BPS))} (ns-3.37); "
                f"ACK clock {closed:.0f}",
            )
        )
    return found


def _order_row(run: Asymmetry) -> Row:
    agree = [
        min(
            in_runs(run.of(a, rate), run.of(b, rate), lambda x, y: x > y)
            for a, b in ((SCPS, NEWRENO), (NEWRENO, VEGAS))
        )
        for rate in NARROW_BPS
    ]
    count = len(run.of(SCPS, TEXT_BPS))
    return Row.claim(
        "Fig. 3",
        "order of throughputs at 5, 3, 2 and 1.5 kbit/s",
        "SCPS-TP, NewReno, Vegas",
        "; ".join(", ".join(f"{run.mean(one, rate):.0f}" for one in CURVES) for rate in NARROW_BPS),
        min(agree) >= ENOUGH * count,
        f"this order in 8 of 10 runs; it is in {', '.join(map(str, agree))} of {count}",
    )


def _falling_row(run: Asymmetry) -> Row:
    means = [run.mean(SCPS, rate) for rate in RETURNS_BPS]
    drop = 1 - means[-1] / means[RETURNS_BPS.index(TEXT_BPS)]
    return Row.claim(
        "Fig. 3",
        "SCPS-TP at 1500, 15, 5, 3, 2 and 1.5 kbit/s, kbit/s",
        "falls with the ratio of the rates",
        ", ".join(f"{mean:.0f}" for mean in means),
        all(b <= a for a, b in pairwise(means)) and drop >= 0.3,
        f"nowhere rising ({AS_PRINTED}), and 30 % or more ({BEFOREHAND}) from 5 to 1.5 kbit/s; it is {drop:.0%}. The "
        "knee is where ACKs of 3.36 "
        "kbit/s no longer fit. The last step is up because a round is a whole number of ACK times there: three of "
        "168 ms at 2 kbit/s, two of 224 ms at 1.5, with the same window. In ns-3.37 the first two are up",
        theory=", ".join(f"{run.model(SCPS, rate):.0f}" for rate in RETURNS_BPS) + " (model)",
    )


def _faster_row(run: Asymmetry) -> Row:
    kept = {one: run.mean(one, TEXT_BPS) / run.mean(one, RETURNS_BPS[0]) for one in CURVES}
    return Row.claim(
        "Fig. 3",
        "throughput at 5 kbit/s as a fraction of the throughput at equal rates: SCPS-TP, NewReno, Vegas",
        "NewReno and Vegas drop much faster",
        ", ".join(f"{share:.0%}" for share in kept.values()),
        kept[SCPS] >= 2 * max(kept[NEWRENO], kept[VEGAS]),
        f"SCPS-TP retains at least twice the fraction of the others ({BEFOREHAND})",
    )


def _clock_rows(run: Asymmetry) -> list[Row]:
    """Returns the rows that compare TCP with ns-3, with its ACK clock, and with the model of ns-3's rules."""
    found = []
    for one in (NEWRENO, VEGAS):
        points = RETURNS_BPS[1:]
        ours = [run.mean(one, rate) for rate in points]
        ideal = [run.model(one, rate) for rate in points]
        theirs = [simulators.kbps(Setting(one, rate)) or float("nan") for rate in points]
        apart = [a / b - 1 for a, b in zip(ours, theirs, strict=True)]
        closed = ", ".join(f"{equations.ack_clock_bps(rate, 472) / 1e3:.0f}" for rate in points)
        found.append(
            Row.check(
                "Fig. 3",
                f"{one.label} at 15, 5, 3, 2 and 1.5 kbit/s, kbit/s",
                f"{', '.join(f'{value:.0f}' for value in theirs)} (ns-3.37); "
                f"{', '.join(f'{value:.0f}' for value in ideal)} (model); ACK clock {closed}",
                ", ".join(f"{value:.0f}" for value in ours),
                all(abs(value) <= PEER_TOLERANCE for value in apart),
                f"each within {PEER_TOLERANCE:.0%} of ns-3.37: {', '.join(f'{value:+.0%}' for value in apart)}",
            )
        )
    return found


def _queue_rows(run: Asymmetry) -> list[Row]:
    found = []
    for one in CURVES:
        means = [statistics.fmean(run.of(one, TEXT_BPS, queue)) / 1e3 for queue in QUEUES]
        found.append(
            Row.informing(
                TEXT_ITEM,
                f"{one.label} with a return queue of 5, 36 and 1000 packets, kbit/s",
                ", ".join(f"{mean:.0f}" for mean in means),
                "a short queue drops ACKs, and each remaining ACK covers more: it helps NewReno. The paper's 160 is "
                "near the deep one"
                if one is NEWRENO
                else "never as many ACKs as would fill it",
                theory="NewReno: 275 to 660 with a short queue (idealised model)" if one is NEWRENO else "",
            )
        )
    return found


def _readings_row(run: Asymmetry) -> Row:
    means = [run.mean(one, TEXT_BPS) for one in VARIANTS]
    return Row.informing(
        "Fig. 3, 5 kbit/s",
        "SCPS-TP with ns-3's Vegas and rate control in the connection (used for the verdicts), and below it; with "
        "Linux's Vegas, with the Vegas of 1995, with the latter and segments counted; without rate control; kbit/s",
        ", ".join(f"{mean:.0f}" for mean in means),
        "the text has 800. Where ns-3's Vegas includes the wait for tokens in the round trip, as in a queue below "
        "TCP, the value agrees with ns-3.37 and the paper. The variant of Vegas and the counting of ACKs have as "
        "much influence; without a bucket the burst after an ACK overflows the first queue",
    )


def layout(run: Asymmetry) -> Layout:
    """Returns the table of all points of Fig. 3."""
    header = (
        *("return rate, kbit/s", "ratio", "ACK clock"),
        *(text for one in CURVES for text in (one.label, "model", "ns-3.37")),
        *(one.label for one in VARIANTS[1:]),
    )
    lines = []
    for rate in RETURNS_BPS:
        cells = [f"{rate / 1e3:g}", f"{1.5e6 / rate:.0f}:1", f"{equations.ack_clock_bps(rate, 472) / 1e3:.0f}"]
        cells[2] = "" if rate == RETURNS_BPS[0] else cells[2]
        for one in CURVES:
            cells += [
                shown(kbps(run.of(one, rate))),
                f"{run.model(one, rate):.0f}",
                simulators.shown(Setting(one, rate)),
            ]
        lines.append((*cells, *(shown(kbps(run.of(one, rate))) for one in VARIANTS[1:])))
    count = len(run.of(SCPS, TEXT_BPS))
    title = (
        f"Fig. 3: throughput in kbit/s by the rate of the return link, {count} runs; the model of ns-3's rules; ns-3.37"
    )
    return Layout("fig3", title, header, tuple(lines))


def queue_layout(run: Asymmetry) -> Layout:
    """Returns the table on the influence of the return queue."""
    header = ("return rate, kbit/s", *(f"{one.label}, {queue} packets" for one in CURVES for queue in QUEUES))
    lines = [
        (f"{rate / 1e3:g}", *(shown(kbps(run.of(one, rate, queue))) for one in CURVES for queue in QUEUES))
        for rate in RETURNS_BPS
    ]
    return Layout("return_queue", "Throughput in kbit/s by the size of the return queue", header, tuple(lines))


@dataclass(frozen=True)
class Sequence:
    """Data sent by one flow over time.

    Attributes
    ----------
    time_s, sent
        Times, and the highest byte sent so far.
    finish_s
        Time when the last byte arrived.
    throughput_bps
        File size divided by that time.
    """

    time_s: NDArray[np.float64]
    sent: NDArray[np.float64]
    finish_s: float
    throughput_bps: float

    @classmethod
    def run(cls, setting: Setting, seed: int = 1) -> Sequence:
        """Runs a setting and keeps the sequence of sent data."""
        result = setting.run(seed, **{"record.trace": "sampled", "record.interval": "100 ms"})
        (flow,) = result.summary["flows"]
        trace = result.trace("sequence")
        times, sent = (trace[name].to_numpy().astype(np.float64) for name in ("time_s", "sent_bytes"))
        return cls(times, sent, float(flow["finish_s"]), float(flow["goodput_bps"]))

    def slope_bps(self, begin: float = 0.5) -> float:
        """Returns the slope of the regression line after this fraction of the transfer, in bit/s."""
        last = float(self.time_s[np.argmax(self.sent)])
        inside = (self.time_s >= begin * last) & (self.time_s <= last)
        return 8 * float(np.polyfit(self.time_s[inside], self.sent[inside], 1)[0])


def sequences(effort: Effort) -> dict[str, Sequence]:
    """Runs each curve of Fig. 4, at 5 kbit/s."""
    runs = effort.map(lambda one: Sequence.run(Setting(one, TEXT_BPS)), CURVES)
    return {one.label: run for one, run in zip(CURVES, runs, strict=True)}


def sequence_rows(found: dict[str, Sequence]) -> list[Row]:
    """Returns the rows on the slopes of Fig. 4."""
    slopes = [run.slope_bps() / 1e3 for run in found.values()]
    early = [float(np.interp(EARLY_S, run.time_s, run.sent)) / 1e6 for run in found.values()]
    lines = [
        Row.claim(
            "Fig. 4",
            f"slope over the second half at 5 kbit/s, kbit/s: {', '.join(found)}",
            "SCPS-TP steepest, then NewReno, Vegas",
            ", ".join(f"{slope:.1f}" for slope in slopes),
            all(a > b for a, b in pairwise(slopes)),
            f"in this order, {AS_PRINTED}; one run each{SLOPES_NOTE}",
        ),
        Row.check(
            "Fig. 4",
            f"MB sent after {EARLY_S:.0f} s: {', '.join(found)}",
            "the order of their throughputs",
            ", ".join(f"{value:.2f}" for value in early),
            all(a > b for a, b in pairwise(early)),
            "in this order",
        ),
    ]
    for (label, run), slope in zip(found.items(), slopes, strict=True):
        lines.append(
            Row.check(
                "Fig. 4",
                f"{label}: slope over throughput of Fig. 3",
                "1, reduced by slow start",
                f"{slope * 1e3 / run.throughput_bps:.2f}",
                abs(slope * 1e3 / run.throughput_bps - 1) <= 0.25,
                "within 25 %" + ("" if label != SCPS.label else START_NOTE),
            )
        )
    return lines


SLOPES_NOTE = (
    ". NewReno and Vegas are equal because they have the same ACK clock. NewReno's line is above Vegas' by the "
    "buffer that slow start filled"
)
START_NOTE = (
    ". While the window is small there is one ACK per round trip and interval, which adds one segment: the link is "
    "full only after 18 s of 40. The mean includes the start, the slope does not"
)
