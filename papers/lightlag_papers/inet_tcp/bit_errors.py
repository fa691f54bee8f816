"""Throughput against the bit error rate with and without SACK: Fig. 3 (§4.1)."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import lightlag as ll
from lightlag.analyse import Interval, mean_interval
from lightlag_papers.inet_tcp import model
from lightlag_papers.paper import Effort
from lightlag_papers.scenarios import scenario
from lightlag_papers.table import AS_PRINTED, BEFOREHAND, Band, Layout, Row, Verdict, number

SEEDS = 10
TAIL_SEEDS = 50
"""Number of seeds at high error rates: so little data arrives there that ten runs are not enough for a ratio."""
MODEL_SEEDS = 6
DURATION_S, START_S = 60.0, 1.2
FRAME_BYTES, PAYLOAD_BYTES = 1500, 1452
RATE_BPS = 10e6
RECEIVE_WINDOW = 65535 // PAYLOAD_BYTES
RATES = (0.0, 1e-7, 2e-7, 4e-7, 6e-7, 8e-7, 1e-6, 2e-6, 4e-6, 6e-6, 8e-6)
"""The bit error rates of the authors' example."""
PAPER: dict[float, tuple[float | None, float | None]] = {0.0: (9.49, 9.49), 2e-6: (2.58, 3.94)}
"""Throughput according to the text, without and with SACK in Mbit/s, by bit error rate."""
PAPER_GAIN = {0.0: "0 %", 1e-7: "2.57 %", 2e-6: "52.68 %", 4e-6: "above 50 %", 6e-6: "above 50 %"}
PRINTED_TAIL_GAIN = 0.5
NEAR_ZERO = 1.6
"""Upper limit of a throughput that counts as close to zero, in Mbit/s."""
SMALL, LARGE, TAIL = 6e-7, 2e-6, 4e-6
"""Limits of the bit error rates in the text.

Up to the first rate, the text calls the gain small; at the second it gives two values; starting at the third, both
throughputs are close to zero.
"""


@dataclass(frozen=True)
class Variant:
    """A variant of the sender's loss recovery.

    Attributes
    ----------
    name
        Name in the figure.
    sets
        Changes to the scenario.
    """

    name: str
    sets: dict[str, str]


SACK_ON = {"defaults.tcp.sack": "true", "defaults.tcp.recovery": "sack"}
LIMITED_TRANSMIT = {"defaults.tcp.limited_transmit": "true"}
PLAIN, SACK = Variant("without SACK", {}), Variant("with SACK", SACK_ON)
PLAIN_LIMITED = Variant("without SACK, limited transmit", LIMITED_TRANSMIT)
SACK_LIMITED = Variant("with SACK, limited transmit", SACK_ON | LIMITED_TRANSMIT)
VARIANTS = (PLAIN, SACK, PLAIN_LIMITED, SACK_LIMITED)


@dataclass(frozen=True)
class Sample:
    """The results of one run.

    Attributes
    ----------
    throughput_bps
        Payload delivered to the application divided by the duration of the run, including the idle start.
    timeouts, recoveries
        Numbers of retransmission timeouts and of fast-recovery episodes.
    waiting
        Fraction of the time after the start spent waiting for timeouts and recovering from them.
    """

    throughput_bps: float
    timeouts: int
    recoveries: int
    waiting: float


@dataclass(frozen=True)
class Point:
    """The runs of one variant at one bit error rate."""

    samples: tuple[Sample, ...]

    @property
    def throughput(self) -> Interval:
        """Mean throughput with its 95 % interval, in Mbit/s."""
        return mean_interval(sample.throughput_bps / 1e6 for sample in self.samples)

    def mean(self, of: Callable[[Sample], float]) -> float:
        """Returns the mean of a quantity over the seeds."""
        return statistics.fmean(map(of, self.samples))


Curves = dict[str, dict[float, Point]]
"""The points of each variant by bit error rate."""


@dataclass(frozen=True)
class BitErrors:
    """All points of the figure, from the simulator and from the model.

    Attributes
    ----------
    curves
        The simulator's results by variant and bit error rate.
    ideal
        The model's mean throughput in Mbit/s without and with SACK, by bit error rate.
    ideal_up_to_threshold
        The model's mean throughputs at `LARGE` if a window equal to ssthresh is still in slow start.
    """

    curves: Curves
    ideal: dict[float, tuple[float, float]]
    ideal_up_to_threshold: tuple[float, float]

    @classmethod
    def run(cls, effort: Effort) -> BitErrors:
        """Runs simulator and model."""
        wanted = [
            (variant, ber, seed)
            for variant in VARIANTS
            for ber in RATES
            for seed in effort.seeds_of(TAIL_SEEDS if ber >= TAIL else SEEDS)
        ]
        samples = effort.collect(lambda run: sample(*run), wanted, lambda run: (run[0].name, run[1]))
        curves: Curves = {
            variant.name: {ber: Point(tuple(samples[variant.name, ber])) for ber in RATES} for variant in VARIANTS
        }
        count = len(effort.seeds_of(MODEL_SEEDS))
        ideal = {ber: _ideal(ber, count) for ber in RATES}
        return cls(curves, ideal, _ideal(LARGE, count, up_to_threshold=True))

    def gain(self, ber: float) -> Interval:
        """Returns the relative gain of throughput by SACK, with a 95 % interval from the propagation of both errors."""
        plain, sack = (self.curves[variant.name][ber].throughput for variant in (PLAIN, SACK))
        ratio = sack.mean / plain.mean
        half = ratio * math.hypot(sack.half_width / sack.mean, plain.half_width / plain.mean)
        return Interval(ratio - 1, half, plain.count)


def sets(variant: Variant, ber: float) -> dict[str, str]:
    """Returns the changes to the scenario for one point."""
    return {"links.0.loss": f"{{ bit_error_rate = {ber:g} }}" if ber else "0"} | variant.sets


def sample(variant: Variant, ber: float, seed: int) -> Sample:
    """Runs one seed of a point."""
    result = ll.run(scenario("inet_tcp/bit_errors"), seed=seed, sets=sets(variant, ber))
    flow = result.summary["flows"][0]
    return Sample(
        throughput_bps=flow["delivered_bytes"] * 8 / DURATION_S,
        timeouts=flow["timeouts"],
        recoveries=flow["recoveries"],
        waiting=flow["limited_s"]["timeout"] / (DURATION_S - START_S),
    )


def packet_error_rate(ber: float) -> float:
    """Returns the probability that a full frame is lost.

    Examples
    --------
    >>> f"{packet_error_rate(2e-6):.4f}"
    '0.0237'
    """
    return -math.expm1(8 * FRAME_BYTES * math.log1p(-ber))


def _ideal(ber: float, seeds: int, *, up_to_threshold: bool = False) -> tuple[float, float]:
    link = model.Link(8 * FRAME_BYTES / RATE_BPS, packet_error_rate(ber), RECEIVE_WINDOW)
    means = []
    for sack in (False, True):
        runs = [
            model.simulate(link, seconds=DURATION_S - START_S, sack=sack, seed=seed, up_to_threshold=up_to_threshold)
            for seed in range(1, seeds + 1)
        ]
        means.append(statistics.fmean(run.delivered for run in runs) * PAYLOAD_BYTES * 8 / DURATION_S / 1e6)
    return means[0], means[1]


def rows(run: BitErrors) -> list[Row]:
    """Returns the rows for the text's claims about Fig. 3."""
    return [
        *_lossless_rows(run),
        _small_gain_row(run),
        _rising_row(run),
        *_large_rows(run),
        *_tail_rows(run),
        _slow_start_row(run),
        *_limited_transmit_rows(run),
    ]


def layouts(run: BitErrors) -> list[Layout]:
    """Returns the tables with all points of the figure and with the effect of limited transmit."""
    unit = "lightlag, Mbit/s"
    header = ("BER", "without SACK: paper", "model", unit, "with SACK: paper", "model", unit, "gain: paper", "lightlag")
    switched = ("off", "timeouts", "on", "timeouts")
    limited = ("BER", "PER", f"without SACK: {switched[0]}", *switched[1:], f"with SACK: {switched[0]}", *switched[1:])
    title = "Fig. 3: throughput against the bit error rate, mean and 95 % interval"
    extra = "Limited transmit off and on: throughput in Mbit/s, and timeouts per run"
    return [
        Layout("fig3", title, header, tuple(_line(run, ber) for ber in RATES)),
        Layout("limited-transmit", extra, limited, tuple(_limited_line(run, ber) for ber in RATES)),
    ]


def _line(run: BitErrors, ber: float) -> tuple[str, ...]:
    cells = [_rate(ber)[4:]]
    for at, variant in enumerate((PLAIN, SACK)):
        printed = PAPER.get(ber, (None, None))[at]
        cells.append("" if printed is None else number(printed))
        cells += [number(run.ideal[ber][at]), shown(run.curves[variant.name][ber].throughput)]
    gain = run.gain(ber)
    return (*cells, PAPER_GAIN.get(ber, ""), f"{gain.mean:+.1%} ± {gain.half_width:.1%}")


def _limited_line(run: BitErrors, ber: float) -> tuple[str, ...]:
    cells = [_rate(ber)[4:], f"{packet_error_rate(ber):.5f}"]
    for variant in (PLAIN, PLAIN_LIMITED, SACK, SACK_LIMITED):
        point = run.curves[variant.name][ber]
        cells += [number(point.throughput.mean), number(point.mean(lambda s: s.timeouts), 1)]
    return tuple(cells)


def shown(interval: Interval) -> str:
    """Formats a mean with its interval."""
    return f"{interval.mean:.3f} ± {interval.half_width:.3f}"


def _rate(ber: float) -> str:
    return f"BER {ber:g}".replace("e-0", "e-")


def _lossless_rows(run: BitErrors) -> list[Row]:
    plain, sack = (run.curves[variant.name][0.0].throughput for variant in (PLAIN, SACK))
    closed = RATE_BPS * PAYLOAD_BYTES / FRAME_BYTES * (DURATION_S - START_S) / DURATION_S / 1e6
    return [
        Row.claim(
            "Fig. 3, BER 0",
            "throughput, Mbit/s, without and with SACK",
            "9.49 and 9.49",
            f"{plain.mean:.3f} and {sack.mean:.3f}",
            all(9.35 <= one.mean <= 9.70 for one in (plain, sack)) and abs(sack.mean / plain.mean - 1) <= 1e-3,
            f"both within 9.35 to 9.70 and equal within 0.1 % ({BEFOREHAND})",
            theory=f"{closed:.3f}: 10 · 1452/1500 · 58.8/60",
        )
    ]


def _gain_row(run: BitErrors, ber: float, verdict: Verdict, note: str) -> Row:
    gain, (plain, sack) = run.gain(ber), run.ideal[ber]
    return Row(
        f"Fig. 3, {_rate(ber)}",
        "gain by SACK",
        PAPER_GAIN.get(ber, ""),
        f"{sack / plain - 1:+.1%} (model)",
        f"{gain.mean:+.1%} ± {gain.half_width:.1%} ({gain.count} seeds)",
        verdict,
        note,
    )


def _within_row(run: BitErrors, ber: float, band: Band) -> Row:
    """Returns the row for a gain that the text gives as a number."""
    percent = Band(100 * band.low, 100 * band.high, band.origin).text
    return _gain_row(run, ber, Verdict.claim(run.gain(ber).mean in band), f"percent: {percent}")


def _small_gain_row(run: BitErrors) -> Row:
    return _within_row(run, 1e-7, Band(0, 0.06, BEFOREHAND))


def _rising_row(run: BitErrors) -> Row:
    """Returns the row for the gains up to an error rate of 6e-7: below 10 %, and rising."""
    rates = [ber for ber in RATES if ber <= SMALL]
    gains = [run.gain(ber) for ber in rates]
    small = all(gain.mean < 0.13 for gain in gains)
    rising = all(b.mean + b.half_width >= a.mean - a.half_width for a, b in itertools.pairwise(gains))
    ideal = ", ".join(f"{run.ideal[ber][1] / run.ideal[ber][0] - 1:+.1%}" for ber in rates)
    return Row.claim(
        f"Fig. 3, BER 0 to {SMALL:g}".replace("e-0", "e-"),
        "gain by SACK at each rate",
        "rising continuously, below 10 %",
        ", ".join(f"{gain.mean:+.1%} ± {gain.half_width:.1%}" for gain in gains),
        small and rising,
        f"below 10 % (± 3 points, {BEFOREHAND}), and no rate's interval below the interval of the rate before",
        theory=f"{ideal} (model)",
    )


def _large_rows(run: BitErrors) -> list[Row]:
    found = []
    for at, (variant, band) in enumerate(((PLAIN, Band(1.9, 3.1, BEFOREHAND)), (SACK, Band(3.1, 5.3, BEFOREHAND)))):
        point = run.curves[variant.name][LARGE]
        printed = PAPER[LARGE][at]
        assert printed is not None
        found.append(
            Row.claim(
                f"Fig. 3, {_rate(LARGE)}",
                f"throughput, Mbit/s, {variant.name}",
                number(printed),
                f"{shown(point.throughput)} ({len(point.samples)} seeds)",
                point.throughput.mean in band,
                f"{band.text}; {point.mean(lambda s: s.timeouts):.1f} timeouts per run",
                theory=f"{run.ideal[LARGE][at]:.2f} (model)",
            )
        )
    return [*found, _within_row(run, LARGE, Band(0.25, 1.20, BEFOREHAND))]


def _tail_rows(run: BitErrors) -> list[Row]:
    """Returns the rows for the error rates where both throughputs are close to zero.

    The text mentions two such rates; the list of rates has a third.
    """
    found = []
    for ber in (ber for ber in RATES if ber >= TAIL):
        printed = ber in PAPER_GAIN
        gain = run.gain(ber)
        if printed:
            interval = f"the entire interval above 50 %, {AS_PRINTED}; it is from {gain.low:.0%} to {gain.high:.0%}"
            found.append(_gain_row(run, ber, Verdict.claim(gain.low > PRINTED_TAIL_GAIN), interval))
        else:
            found.append(_gain_row(run, ber, Verdict.check(gain.mean > 0.25), "above 25 %"))
        throughputs = [run.curves[variant.name][ber].throughput for variant in (PLAIN, SACK)]
        found.append(
            Row(
                f"Fig. 3, {_rate(ber)}",
                "throughput, Mbit/s, without and with SACK",
                "close to zero" if printed else "",
                " and ".join(number(value) for value in run.ideal[ber]) + " (model)",
                " and ".join(shown(one) for one in throughputs),
                Verdict.claim(all(one.mean < NEAR_ZERO for one in throughputs)) if printed else Verdict.NOT_JUDGED,
                f"both below {NEAR_ZERO}, a sixth of the link ({BEFOREHAND})" if printed else "",
            )
        )
    return found


def _slow_start_row(run: BitErrors) -> Row:
    """Returns the row on the effect of INET's end of slow start, from the model."""
    plain, sack = run.ideal_up_to_threshold
    return Row.informing(
        f"Fig. 3, {_rate(LARGE)}",
        "throughput, Mbit/s, without and with SACK, if slow start continues at ssthresh",
        "",
        "INET's rule; lightlag ends slow start there. After recovery the window is ssthresh, and a segment more helps",
        theory=f"{plain:.2f} and {sack:.2f} (model)",
    )


def _limited_transmit_rows(run: BitErrors) -> list[Row]:
    """Returns rows beyond the paper: the same points with limited transmit."""
    found = []
    for without, limited in ((PLAIN, PLAIN_LIMITED), (SACK, SACK_LIMITED)):
        before, after = (run.curves[variant.name][LARGE] for variant in (without, limited))
        share = [_timeouts_an_episode(point.samples) for point in (before, after)]
        waiting = [point.mean(lambda s: s.waiting) for point in (before, after)]
        found.append(
            Row.informing(
                f"limited transmit, {_rate(LARGE)}",
                f"fraction of timeouts among all reactions to loss, {without.name}: off and on",
                f"{share[0]:.1%} and {share[1]:.1%}",
                f"not in the paper; {shown(before.throughput)} and {shown(after.throughput)} Mbit/s, "
                f"{waiting[0]:.0%} and {waiting[1]:.0%} of the time spent on timeouts",
                theory="smaller (RFC 3042 §2)",
            )
        )
    return found


def _timeouts_an_episode(samples: Sequence[Sample]) -> float:
    timeouts = sum(sample.timeouts for sample in samples)
    return timeouts / (timeouts + sum(sample.recoveries for sample in samples))
