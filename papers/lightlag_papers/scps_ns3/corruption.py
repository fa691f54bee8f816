"""Bit errors, and congestion control switched off: Figs. 8 and 9 (§4.5)."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from lightlag.analyse import Interval, mean_interval
from lightlag_papers.paper import Effort
from lightlag_papers.readings import Readings
from lightlag_papers.scps_ns3 import asymmetry, equations, model, simulators
from lightlag_papers.scps_ns3.asymmetry import ENOUGH, Sequence, in_runs
from lightlag_papers.scps_ns3.setting import (
    CONGESTION,
    FILE_BYTES,
    NEWRENO,
    SCPS,
    Rates,
    Setting,
    Transport,
    kbps,
    rates,
    shown,
)
from lightlag_papers.table import BEFOREHAND, Band, Layout, Row

BER = 1e-5
DELAYS_S = (0.05, 0.1)
MODEL_SEEDS = 5
INTERVAL_S, RATED_BPS = 0.069, 1.425e6
RATE_ONLY = Transport(
    "SCPS-TP, rate only",
    "scps",
    {
        "congestion": '"none"',
        "loss_assumption": "corruption",
        "ack_interval": "69 ms",
        "rate_control": '{ rate = "1.425 Mbit/s" }',
    },
)
FROZEN = RATE_ONLY.but("SCPS-TP, window from 1", congestion='"newreno"')
"""SCPS-TP whose window starts at one segment and grows by one per ACK; losses do not reduce it."""
STEERED = RATE_ONLY.but("SCPS-TP, Vegas steers", congestion=CONGESTION["Vegas"])
"""SCPS-TP in which corruption only overrides the reaction to losses (§3.1): ns-3's Vegas still controls the window."""
_WINDOW_NAMES = ("Vegas steers the window", "no window", "the window grows from 1")
WINDOWS = (STEERED, RATE_ONLY, FROZEN)
"""The window rules that "congestion control off" can mean."""
_ACKS = '{ rate = "1.425 Mbit/s", release = "acks" }'
BY_ACKS = tuple(one.but(f"{one.label}, released by ACKs", rate_control=_ACKS) for one in WINDOWS)
"""SCPS-TP whose token bucket is only served when an ACK arrives or a timeout occurs."""
SENDERS = (*WINDOWS, *BY_ACKS)
CURVES = (*SENDERS, NEWRENO)
DRAWN = (*WINDOWS, BY_ACKS[1], NEWRENO)
"""The curves in the figure."""
PAPER = {NEWRENO: (110, 58)} | dict.fromkeys(SENDERS, (300, 300))
"""The text's values at both delays, in kbit/s."""
READINGS = {
    **{f"segments are released by tokens; {what}": one for what, one in zip(_WINDOW_NAMES, WINDOWS, strict=True)},
    **{f"ACKs release segments; {what}": one for what, one in zip(_WINDOW_NAMES, BY_ACKS, strict=True)},
}
"""Readings of rate control and of "congestion control off"; they were fixed before the first run."""


@dataclass(frozen=True)
class Corruption:
    """All runs, at both delays.

    Attributes
    ----------
    found
        Throughputs in bit/s by setting.
    ideal
        Throughput of NewReno in the model, in kbit/s by delay.
    sequences
        Sequences of sent data over time, with the first seed.
    """

    found: Rates
    ideal: dict[float, Interval]
    sequences: dict[tuple[str, float], Sequence]

    @classmethod
    def run(cls, effort: Effort) -> Corruption:
        """Runs all points."""
        points = [setting(one, delay) for delay in DELAYS_S for one in CURVES]
        found = rates(points, effort)
        seeds = effort.seeds_of(MODEL_SEEDS)
        ideal = {}
        for delay in DELAYS_S:
            path = model.Path(delay_s=delay, queue=setting(NEWRENO, delay).forward_queue, ber=BER)
            ideal[delay] = kbps(model.transfer(path, model.Ends(), seed).throughput_bps for seed in seeds)
        drawn = effort.map(lambda point: Sequence.run(point), points)
        return cls(
            found, ideal, {(one.transport.label, one.delay_s): run for one, run in zip(points, drawn, strict=True)}
        )

    def of(self, transport: Transport, delay_s: float) -> list[float]:
        """Returns the throughputs of a point in bit/s."""
        return self.found[setting(transport, delay_s)]

    def mean(self, transport: Transport, delay_s: float) -> float:
        """Returns the mean throughput of a point in kbit/s."""
        return statistics.fmean(self.of(transport, delay_s)) / 1e3


def setting(transport: Transport, delay_s: float) -> Setting:
    """Returns the setting of a point with bit errors."""
    return Setting(transport, delay_s=delay_s, ber=BER)


def closed(transport: Transport, delay_s: float) -> str:
    """Returns the closed form for a point in kbit/s, as text."""
    p = equations.packet_error_rate(BER, 514)
    if transport is NEWRENO:
        pair = [equations.padhye_bps(p, 2 * delay_s, 472, delayed=b) / 1e3 for b in (2, 1)]
        return f"{pair[0]:.0f} to {pair[1]:.0f} (Padhye)"
    full = equations.rated_bps(RATED_BPS, 472, p)
    if transport is RATE_ONLY:
        return f"at most {full / 1e3:.0f} (rate less losses)"
    if transport is FROZEN:
        return f"at most {equations.ramp_bps(FILE_BYTES, full, 2 * delay_s, INTERVAL_S, 472) / 1e3:.0f} (growth an ACK)"
    if transport in BY_ACKS:
        return f"at most {released_bps(p) / 1e3:.0f} (a bucket an ACK)"
    return ""


def released_bps(p: float) -> float:
    """Returns the throughput at loss rate `p` if each ACK, one per interval, releases a bucket of five packets.

    Examples
    --------
    >>> round(released_bps(0.0)), round(5 * 512 * 8 / 0.069)
    (273623, 296812)
    """
    return 5 * 472 * 8 * (1 - p) / INTERVAL_S


def rows(run: Corruption) -> list[Row]:
    """Returns the rows for the text's claims about NewReno, and for rate control compared with its closed form."""
    return [*_values(run, NEWRENO), _newreno_row(run), _form_row(run), _released_row(run)]


def claims(run: Corruption, one: Transport) -> list[Row]:
    """Returns the rows for the text's claims about SCPS-TP, each once, for a variant of the sender."""
    return [*_values(run, one), _delay_row(run, one), _ahead_row(run, one)]


def readings(run: Corruption, narrow: asymmetry.Asymmetry) -> Readings:
    """Returns the claims about SCPS-TP under every reading, and the claims of Fig. 3 that depend on rate control."""
    found = {}
    for name, one in READINGS.items():
        scps = asymmetry.BY_ACKS if one in BY_ACKS else SCPS
        found[name] = [*asymmetry.text_claims(narrow, scps), *claims(run, one)]
    return Readings(found)


SCPS_BAND = Band(200, 600, BEFOREHAND)
NEWRENO_BANDS = (Band(70, 150, BEFOREHAND), Band(40, 100, BEFOREHAND))
RATIO_BAND = Band(1.4, 2.3, BEFOREHAND)
LEAST_AHEAD = (2.3, 4.0)
"""Lower limits of the bands for the ratio of SCPS-TP to NewReno, at both delays."""
MOST_CHANGE = 0.15


def _values(run: Corruption, one: Transport) -> list[Row]:
    found = []
    for at, delay in enumerate(DELAYS_S):
        values = kbps(run.of(one, delay))
        band = NEWRENO_BANDS[at] if one is NEWRENO else SCPS_BAND
        known = f"; {shown(run.ideal[delay])} (model), {shown(mean_interval(simulators.ERRORS[delay]))} (ns-3.37)"
        found.append(
            Row.claim(
                _item(delay),
                f"throughput of {one.label}, kbit/s",
                str(PAPER[one][at]) if one is NEWRENO else f"about {PAPER[one][at]}",
                f"{shown(values)} ({values.count} seeds)",
                values.mean in band,
                band.text,
                theory=closed(one, delay) + (known if one is NEWRENO else ""),
            )
        )
    return found


def _item(delay_s: float) -> str:
    return f"Fig. {8 if delay_s == DELAYS_S[0] else 9}, {delay_s * 1e3:.0f} ms"


def _newreno_row(run: Corruption) -> Row:
    ratios = [a / b for a, b in zip(*(run.of(NEWRENO, delay) for delay in DELAYS_S), strict=True)]
    ratio = mean_interval(ratios)
    return Row.claim(
        "Figs. 8, 9",
        "NewReno at 50 ms divided by NewReno at 100 ms",
        "1.9: 110 over 58",
        f"{ratio.mean:.2f} ± {ratio.half_width:.2f}",
        ratio.mean in RATIO_BAND,
        RATIO_BAND.text,
        theory="1.5 (Padhye, b = 2)",
    )


def _delay_row(run: Corruption, one: Transport) -> Row:
    change = run.mean(one, DELAYS_S[1]) / run.mean(one, DELAYS_S[0]) - 1
    return Row.claim(
        "Figs. 8, 9",
        f"{one.label}: change from 50 to 100 ms",
        "stays the same",
        f"{change:+.1%}",
        abs(change) <= MOST_CHANGE,
        f"within {MOST_CHANGE:.0%} ({BEFOREHAND})",
    )


def _ahead_row(run: Corruption, one: Transport) -> Row:
    ratios, bands, printed, good = [], [], [], []
    for at, delay in enumerate(DELAYS_S):
        scps, newreno = PAPER[one][at], PAPER[NEWRENO][at]
        printed.append(f"{scps / newreno:.1f} ({scps} over {newreno})")
        bands.append(Band.down_to(LEAST_AHEAD[at], scps / newreno))
        good.append(in_runs(run.of(one, delay), run.of(NEWRENO, delay), lambda a, b: a > b))
        ratios.append(run.mean(one, delay) / run.mean(NEWRENO, delay))
    count = len(run.of(one, DELAYS_S[0]))
    inside = all(ratio in band for ratio, band in zip(ratios, bands, strict=True))
    return Row.claim(
        "Figs. 8, 9",
        f"{one.label} over NewReno at 50 and 100 ms",
        " and ".join(printed),
        ", ".join(f"{ratio:.1f}" for ratio in ratios),
        inside and min(good) >= ENOUGH * count,
        f"{' and '.join(band.text for band in bands)}, and ahead in 8 of 10 seeds; it is in "
        f"{', '.join(map(str, good))} of {count}",
    )


def _form_row(run: Corruption) -> Row:
    """Returns the row that compares rate control with its closed form."""
    full = equations.rated_bps(RATED_BPS, 472, equations.packet_error_rate(BER, 514)) / 1e3
    ours = [run.mean(RATE_ONLY, delay) for delay in DELAYS_S]
    return Row.check(
        "Figs. 8, 9",
        f"throughput of {RATE_ONLY.label} at 50 and 100 ms, kbit/s",
        f"{full:.0f} (rate less losses)",
        ", ".join(f"{value:.0f}" for value in ours),
        all(0.95 * full <= value <= 1.01 * full for value in ours),
        "95 to 101 % of it",
    )


def _released_row(run: Corruption) -> Row:
    """Returns the row on the rate of a token bucket that is served only by ACKs."""
    p = equations.packet_error_rate(BER, 514)
    rate_only = BY_ACKS[WINDOWS.index(RATE_ONLY)]
    means = [run.mean(rate_only, delay) for delay in DELAYS_S]
    one = [released_bps(p) * INTERVAL_S / (2 * delay + INTERVAL_S) / 1e3 for delay in DELAYS_S]
    most = released_bps(p) / 1e3
    return Row.check(
        "Figs. 8, 9",
        f"throughput of {rate_only.label} at 50 and 100 ms, kbit/s",
        f"at least {', '.join(f'{value:.0f}' for value in one)} (a bucket in a round trip and an interval), at most "
        f"{most:.0f} (a bucket in each interval)",
        ", ".join(f"{mean:.0f}" for mean in means),
        all(low <= mean <= most for low, mean in zip(one, means, strict=True)),
        "between the two. An ACK releases one burst, and a burst causes one ACK: without a timeout the number of "
        "bursts in transit never grows. With an ACK every 69 ms, independent of arrivals, the larger value would "
        "hold at any delay; the timer starts with an arrival (§3.2)",
    )


def layout(run: Corruption) -> Layout:
    """Returns the table with both delays."""
    header = (
        "delay, ms",
        *(text for one in CURVES for text in (one.label, "paper", "closed form")),
        "model",
        "ns-3.37",
    )
    lines = []
    for at, delay in enumerate(DELAYS_S):
        cells = [f"{delay * 1e3:.0f}"]
        for one in CURVES:
            cells += [shown(kbps(run.of(one, delay))), str(PAPER[one][at]), closed(one, delay)]
        lines.append((*cells, shown(run.ideal[delay]), shown(mean_interval(simulators.ERRORS[delay]))))
    return Layout("fig8_9", f"Throughput in kbit/s with a bit error rate of {BER:g}", header, tuple(lines))
