"""Bit errors, and congestion control off: Figs. 8 and 9 (§4.5)."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from lightlag.analyse import Interval, mean_interval
from lightlag.reproduce.paper import Effort
from lightlag.reproduce.scps_ns3 import equations, model, peer
from lightlag.reproduce.scps_ns3.asymmetry import ENOUGH, Sequence, in_runs
from lightlag.reproduce.scps_ns3.setting import FILE_BYTES, NEWRENO, Rates, Setting, Transport, kbps, rates, shown
from lightlag.reproduce.table import Layout, Row, Verdict

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
CURVES = (RATE_ONLY, FROZEN, NEWRENO)
PAPER = {NEWRENO: (110, 58), FROZEN: (300, 300)}
"""What the text says at both delays, in kbit/s; of SCPS-TP as its program was, not as its rate would allow."""
MODELS = {NEWRENO: model.Ends(), FROZEN: model.Ends(ack_interval_s=INTERVAL_S, rate_bps=RATED_BPS, corruption=True)}


@dataclass(frozen=True)
class Corruption:
    """Runs at both delays.

    Attributes
    ----------
    found
        Throughputs by setting.
    ideal
        The model's, of NewReno and of ns-3's SCPS-TP, in kbit/s by delay.
    sequences
        What was sent over time, with the first seed.
    """

    found: Rates
    ideal: dict[tuple[str, float], Interval]
    sequences: dict[tuple[str, float], Sequence]

    @classmethod
    def run(cls, effort: Effort) -> Corruption:
        """Run all of it."""
        points = [setting(one, delay) for delay in DELAYS_S for one in CURVES]
        found = rates(points, effort)
        seeds = effort.seeds_of(MODEL_SEEDS)
        ideal = {}
        for one, ends in MODELS.items():
            for delay in DELAYS_S:
                path = model.Path(delay_s=delay, queue=setting(one, delay).forward_queue, ber=BER)
                ideal[one.label, delay] = kbps(model.transfer(path, ends, seed).throughput_bps for seed in seeds)
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
    """What a closed form says of a point, in kbit/s."""
    p = equations.packet_error_rate(BER, 514)
    if transport is NEWRENO:
        pair = [equations.padhye_bps(p, 2 * delay_s, 472, delayed=b) / 1e3 for b in (2, 1)]
        return f"{pair[0]:.0f} to {pair[1]:.0f} (Padhye)"
    full = equations.rated_bps(RATED_BPS, 472, p)
    if transport is RATE_ONLY:
        return f"at most {full / 1e3:.0f} (rate less losses)"
    return f"at most {equations.ramp_bps(FILE_BYTES, full, 2 * delay_s, INTERVAL_S, 472) / 1e3:.0f} (growth an ACK)"


def rows(run: Corruption) -> list[Row]:
    """The claims of the text."""
    return [
        *_value_rows(run),
        _newreno_row(run),
        *(_delay_row(run, one) for one in (RATE_ONLY, FROZEN)),
        *(_ahead_row(run, one, delay) for one in (RATE_ONLY, FROZEN) for delay in DELAYS_S),
        _explained_row(run),
    ]


BANDS = {
    (NEWRENO, 0.05): (70, 150),
    (NEWRENO, 0.1): (40, 100),
    (RATE_ONLY, 0.05): (900, 1.5e3),
    (RATE_ONLY, 0.1): (900, 1.5e3),
    (FROZEN, 0.05): (200, 600),
    (FROZEN, 0.1): (200, 600),
}
FROZEN_REASON = (
    "a window that only grows does not hold a sender back for long: from 15 s on at 50 ms, from 28 s on at 100 ms, "
    "the rate is the limit. What holds the paper's back, it seems, is ns-3's fast recovery, which its text leaves as "
    "it is: below"
)


def _value_rows(run: Corruption) -> list[Row]:
    found = []
    for (one, delay), (low, high) in BANDS.items():
        values = kbps(run.of(one, delay))
        holds = low <= values.mean <= high
        band = f"at least {low}" if one is RATE_ONLY else f"within {low} to {high}"
        ideal = run.ideal.get((one.label, delay))
        known = ""
        if one is NEWRENO and ideal:
            known = f"; {shown(ideal)} (model), {shown(mean_interval(peer.ERRORS[delay]))} (ns-3.37)"
        found.append(
            Row(
                _item(delay),
                f"throughput of {one.label}, kbit/s",
                str(PAPER[one][DELAYS_S.index(delay)]) if one in PAPER else "",
                closed(one, delay) + known,
                f"{shown(values)} ({values.count} seeds)",
                Verdict.of(holds),
                band + ("" if holds else f": {FROZEN_REASON}"),
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
        "1.9",
        "1.5 (Padhye, b = 2)",
        f"{ratio.mean:.2f} ± {ratio.half_width:.2f}",
        Verdict.of(1.4 <= ratio.mean <= 2.3),
        "within 1.4 to 2.3",
    )


def _delay_row(run: Corruption, one: Transport) -> Row:
    change = run.mean(one, DELAYS_S[1]) / run.mean(one, DELAYS_S[0]) - 1
    holds = abs(change) <= 0.15
    why = ". A window that counts what is repaired needs more of it where a repair takes longer"
    return Row(
        "Figs. 8, 9",
        f"{one.label}: change from 50 to 100 ms",
        "stays the same",
        "",
        f"{change:+.1%}",
        Verdict.of(holds),
        "within 15 %" + ("" if holds else why),
    )


def _ahead_row(run: Corruption, one: Transport, delay_s: float) -> Row:
    paper = PAPER[FROZEN][0] / PAPER[NEWRENO][DELAYS_S.index(delay_s)]
    least = 2.3 if delay_s == DELAYS_S[0] else 4.0
    good = in_runs(run.of(one, delay_s), run.of(NEWRENO, delay_s), lambda a, b: a >= least * b)
    ratio = run.mean(one, delay_s) / run.mean(NEWRENO, delay_s)
    return Row(
        _item(delay_s),
        f"{one.label} over NewReno",
        f"{paper:.1f}",
        "",
        f"{ratio:.1f}",
        Verdict.of(ratio >= least and good >= ENOUGH * len(run.of(one, delay_s))),
        f"at least {least}; it is in {good} of {len(run.of(one, delay_s))} seeds",
    )


def _explained_row(run: Corruption) -> Row:
    ideal = [run.ideal[FROZEN.label, delay] for delay in DELAYS_S]
    return Row(
        "Figs. 8, 9",
        "SCPS-TP at 50 and 100 ms with ns-3's fast recovery, kbit/s",
        "300, 300",
        f"{', '.join(map(shown, ideal))} (model)",
        "",
        Verdict.NOT_JUDGED,
        "the threshold and the reduction are overwritten, the rest of fast "
        "recovery is not. Each ACK in an episode takes what it acknowledges off the window and gives one segment back. "
        "ACKs of two segments hardly notice, those of 69 ms, which cover ten and more, empty it",
    )


def layout(run: Corruption) -> Layout:
    """Both delays."""
    header = ("delay, ms", *(text for one in CURVES for text in (one.label, "paper", "closed form", "model")))
    lines = []
    for at, delay in enumerate(DELAYS_S):
        cells = [f"{delay * 1e3:.0f}"]
        for one in CURVES:
            ideal = run.ideal.get((one.label, delay))
            known = shown(ideal) if ideal else ""
            paper = str(PAPER[one][at]) if one in PAPER else ""
            cells += [shown(kbps(run.of(one, delay))), paper, closed(one, delay), known]
        lines.append(tuple(cells))
    return Layout("fig8_9", f"Throughput in kbit/s with a bit error rate of {BER:g}", header, tuple(lines))
