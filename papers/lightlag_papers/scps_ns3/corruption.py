"""Bit errors, and congestion control off: Figs. 8 and 9 (§4.5)."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from lightlag.analyse import Interval, mean_interval
from lightlag_papers.paper import Effort
from lightlag_papers.readings import Readings
from lightlag_papers.scps_ns3 import asymmetry, equations, model, peer
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
from lightlag_papers.table import BEFOREHAND, Band, Layout, Row, Verdict

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
"""The window begins at one segment and grows by one with each ACK; no loss reduces it."""
STEERED = RATE_ONLY.but("SCPS-TP, Vegas steers", congestion=CONGESTION["Vegas"])
"""Corruption overrides the reaction to losses (§3.1), and nothing else: ns-3's Vegas goes on to steer the window."""
_WINDOW_NAMES = ("Vegas steers the window", "no window", "the window grows from 1")
WINDOWS = (STEERED, RATE_ONLY, FROZEN)
"""Windows that "congestion control off" can mean."""
_ACKS = '{ rate = "1.425 Mbit/s", release = "acks" }'
BY_ACKS = tuple(one.but(f"{one.label}, released by ACKs", rate_control=_ACKS) for one in WINDOWS)
"""The same with a bucket that only an ACK serves, or a timeout."""
SENDERS = (*WINDOWS, *BY_ACKS)
CURVES = (*SENDERS, NEWRENO)
DRAWN = (*WINDOWS, BY_ACKS[1], NEWRENO)
"""The curves of the figure."""
PAPER = {NEWRENO: (110, 58)} | dict.fromkeys(SENDERS, (300, 300))
"""The numbers of the text at both delays, in kbit/s."""
READINGS = {
    **{f"segments leave with their tokens; {what}": one for what, one in zip(_WINDOW_NAMES, WINDOWS, strict=True)},
    **{f"ACKs release segments; {what}": one for what, one in zip(_WINDOW_NAMES, BY_ACKS, strict=True)},
}
"""Readings of rate control and of "congestion control off", fixed before they ran."""


@dataclass(frozen=True)
class Corruption:
    """Runs at both delays.

    Attributes
    ----------
    found
        Throughputs by setting.
    ideal
        The model's, of NewReno, in kbit/s by delay.
    sequences
        What was sent over time, with the first seed.
    """

    found: Rates
    ideal: dict[float, Interval]
    sequences: dict[tuple[str, float], Sequence]

    @classmethod
    def run(cls, effort: Effort) -> Corruption:
        """Run all of it."""
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
        """Throughputs of a point in bit/s."""
        return self.found[setting(transport, delay_s)]

    def mean(self, transport: Transport, delay_s: float) -> float:
        """Its mean in kbit/s."""
        return statistics.fmean(self.of(transport, delay_s)) / 1e3


def setting(transport: Transport, delay_s: float) -> Setting:
    """A point of the test."""
    return Setting(transport, delay_s=delay_s, ber=BER)


def closed(transport: Transport, delay_s: float) -> str:
    """The closed form of a point, in kbit/s."""
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
    """Throughput where each of the ACKs, one per interval, releases a bucket of five packets, at loss rate `p`.

    Examples
    --------
    >>> round(released_bps(0.0)), round(5 * 512 * 8 / 0.069)
    (273623, 296812)
    """
    return 5 * 472 * 8 * (1 - p) / INTERVAL_S


def rows(run: Corruption) -> list[Row]:
    """The claims of the text about NewReno, and rate control against its closed form."""
    return [*_values(run, NEWRENO), _newreno_row(run), _form_row(run), _released_row(run)]


def claims(run: Corruption, one: Transport) -> list[Row]:
    """The claims of the text about SCPS-TP, each once, for a sender."""
    return [*_values(run, one), _delay_row(run, one), _ahead_row(run, one)]


def readings(run: Corruption, narrow: asymmetry.Asymmetry) -> Readings:
    """The claims about SCPS-TP under every reading, those of Fig. 3 that rate control decides among them."""
    found = {}
    for name, one in READINGS.items():
        scps = asymmetry.BY_ACKS if one in BY_ACKS else SCPS
        found[name] = [*asymmetry.text_claims(narrow, scps), *claims(run, one)]
    return Readings(found)


SCPS_BAND = Band(200, 600, BEFOREHAND)
NEWRENO_BANDS = (Band(70, 150, BEFOREHAND), Band(40, 100, BEFOREHAND))
RATIO_BAND = Band(1.4, 2.3, BEFOREHAND)
LEAST_AHEAD = (2.3, 4.0)
"""Lower ends of the bands of SCPS-TP over NewReno."""
MOST_CHANGE = 0.15


def _values(run: Corruption, one: Transport) -> list[Row]:
    found = []
    for at, delay in enumerate(DELAYS_S):
        values = kbps(run.of(one, delay))
        band = NEWRENO_BANDS[at] if one is NEWRENO else SCPS_BAND
        known = f"; {shown(run.ideal[delay])} (model), {shown(mean_interval(peer.ERRORS[delay]))} (ns-3.37)"
        found.append(
            Row(
                _item(delay),
                f"throughput of {one.label}, kbit/s",
                str(PAPER[one][at]) if one is NEWRENO else f"about {PAPER[one][at]}",
                closed(one, delay) + (known if one is NEWRENO else ""),
                f"{shown(values)} ({values.count} seeds)",
                Verdict.claim(values.mean in band),
                band.text,
            )
        )
    return found


def _item(delay_s: float) -> str:
    return f"Fig. {8 if delay_s == DELAYS_S[0] else 9}, {delay_s * 1e3:.0f} ms"


def _newreno_row(run: Corruption) -> Row:
    ratios = [a / b for a, b in zip(*(run.of(NEWRENO, delay) for delay in DELAYS_S), strict=True)]
    ratio = mean_interval(ratios)
    return Row(
        "Figs. 8, 9",
        "NewReno at 50 ms over that at 100 ms",
        "1.9: 110 over 58",
        "1.5 (Padhye, b = 2)",
        f"{ratio.mean:.2f} ± {ratio.half_width:.2f}",
        Verdict.claim(ratio.mean in RATIO_BAND),
        RATIO_BAND.text,
    )


def _delay_row(run: Corruption, one: Transport) -> Row:
    change = run.mean(one, DELAYS_S[1]) / run.mean(one, DELAYS_S[0]) - 1
    return Row(
        "Figs. 8, 9",
        f"{one.label}: change from 50 to 100 ms",
        "stays the same",
        "",
        f"{change:+.1%}",
        Verdict.claim(abs(change) <= MOST_CHANGE),
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
    return Row(
        "Figs. 8, 9",
        f"{one.label} over NewReno at 50 and 100 ms",
        " and ".join(printed),
        "",
        ", ".join(f"{ratio:.1f}" for ratio in ratios),
        Verdict.claim(inside and min(good) >= ENOUGH * count),
        f"{' and '.join(band.text for band in bands)}, and ahead in 8 of 10 seeds; it is in "
        f"{', '.join(map(str, good))} of {count}",
    )


def _form_row(run: Corruption) -> Row:
    """Rate control against its closed form."""
    full = equations.rated_bps(RATED_BPS, 472, equations.packet_error_rate(BER, 514)) / 1e3
    ours = [run.mean(RATE_ONLY, delay) for delay in DELAYS_S]
    return Row(
        "Figs. 8, 9",
        f"throughput of {RATE_ONLY.label} at 50 and 100 ms, kbit/s",
        "",
        f"{full:.0f} (rate less losses)",
        ", ".join(f"{value:.0f}" for value in ours),
        Verdict.check(all(0.95 * full <= value <= 1.01 * full for value in ours)),
        "95 to 101 % of it",
    )


def _released_row(run: Corruption) -> Row:
    """What a bucket that only ACKs serve comes to."""
    p = equations.packet_error_rate(BER, 514)
    rate_only = BY_ACKS[WINDOWS.index(RATE_ONLY)]
    means = [run.mean(rate_only, delay) for delay in DELAYS_S]
    one = [released_bps(p) * INTERVAL_S / (2 * delay + INTERVAL_S) / 1e3 for delay in DELAYS_S]
    most = released_bps(p) / 1e3
    return Row(
        "Figs. 8, 9",
        f"throughput of {rate_only.label} at 50 and 100 ms, kbit/s",
        "",
        f"at least {', '.join(f'{value:.0f}' for value in one)} (a bucket in a round trip and an interval), at most "
        f"{most:.0f} (a bucket in each interval)",
        ", ".join(f"{mean:.0f}" for mean in means),
        Verdict.check(all(low <= mean <= most for low, mean in zip(one, means, strict=True))),
        "between the two. An ACK releases one burst, and a burst brings one ACK: without a timeout there never are "
        "more bursts on their way. With an ACK every 69 ms, whatever arrives, it would be the larger value at any "
        "delay; the timer starts with an arrival (§3.2)",
    )


def layout(run: Corruption) -> Layout:
    """Both delays."""
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
        lines.append((*cells, shown(run.ideal[delay]), shown(mean_interval(peer.ERRORS[delay]))))
    return Layout("fig8_9", f"Throughput in kbit/s with a bit error rate of {BER:g}", header, tuple(lines))
