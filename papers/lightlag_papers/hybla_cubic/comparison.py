"""Hybla compared with CUBIC over one satellite path: Figs. 3 to 6 (§III)."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lightlag as ll
from lightlag.analyse import mean_interval
from lightlag.validation import theory
from lightlag_papers.epochs import WindowTrace
from lightlag_papers.hybla_cubic import equations
from lightlag_papers.paper import Effort
from lightlag_papers.scenarios import scenario
from lightlag_papers.table import Row, pm

SEEDS = 10
RATE_BPS = 34.368e6
RTT_S = 0.6
PACKET_BYTES, PAYLOAD_BYTES = 1040, 1000
PER = 1e-4
MAX_WINDOW = 5000
"""Default maximum window in packets."""
BDP = round(RATE_BPS * RTT_S / 8 / PACKET_BYTES)
SMALL_QUEUE = 50
SECONDS, JUDGED_S = 200.0, 120.0
SETTLED_S = 30.0
EARLY_S = 6 * RTT_S
"""Duration of the handshake and the first five round trips in s."""
GRID_S = np.arange(0.0, SECONDS + 0.5, 0.5)
WINDOW_S = np.arange(0.0, SECONDS, 0.1)
SATELLITE = "satellite"
DATA_LINKS = ("router1->router2", "router2->satellite", "satellite->sink")
ENOUGH, BARELY = 0.8, 0.6
BLIND = {
    "recovery": "sack",
    "prr": "true",
    "reductions": "rfc",
    "rto.every_ack": "false",
    "rtt_samples": "one_per_round",
}
"""Loss recovery and timer as in RFC 6675 and RFC 6298, which do not detect the loss of a retransmission."""


@dataclass(frozen=True)
class Setting:
    """The settings in which a run differs from others.

    Attributes
    ----------
    algorithm
        ``CUBIC``, ``Hybla`` or ``NewReno``.
    queue
        Size of the bottleneck's queue, in packets.
    paced
        Whether the segments of a window are paced.
    rho_from
        Round-trip time that defines Hybla's ρ: ``min_rtt`` or ``srtt``.
    per
        Packet error rate of the up-link and of the down-link, each.
    rtt_s, seconds
        Round-trip time, and duration.
    blind
        Whether the sender repairs like `BLIND` instead of ns-2's TCP-Linux.
    max_window
        Maximum window in packets.
    bound
        Quantity limited by the maximum window: ``cwnd``, the congestion window, as in ns-2; or ``buffer``, the receive
        buffer.
    thresholds
        First slow-start thresholds: of the ``modules``, the maximum window for Hybla and 100 packets for CUBIC;
        ``maximum``, the maximum window for both; or ``64 kB``, 64 packets for both.
    """

    algorithm: str
    queue: int = SMALL_QUEUE
    paced: bool = False
    rho_from: str = "min_rtt"
    per: float = PER
    rtt_s: float = RTT_S
    seconds: float = SECONDS
    blind: bool = False
    max_window: int = MAX_WINDOW
    bound: str = "cwnd"
    thresholds: str = "modules"

    @property
    def congestion(self) -> str:
        """The value of the setting for congestion control in a scenario."""
        own = "" if self.thresholds == "modules" else ", initial_ssthresh = 0"
        return {
            "CUBIC": f'{{ algorithm = "cubic", variant = "linux-2.6"{own} }}',
            "Hybla": f'{{ algorithm = "hybla", variant = "linux-2.6", rho_source = "{self.rho_from}" }}',
            "NewReno": '"newreno"',
        }[self.algorithm]

    def run(
        self, seed: int, *, name: str = "satellite", record: str = "sampled", changes: Mapping[str, str] | None = None
    ) -> ll.Result:
        """Runs the scenario, alone or with `shared` wired flows, and with further changes."""
        hop = f"{(self.rtt_s / 2 - 0.0075) / 2 * 1e3:.4f} ms"
        sets = {
            "duration": f"{self.seconds:g} s",
            "defaults.tcp.congestion": self.congestion,
            "defaults.tcp.pacing": str(self.paced).lower(),
            "defaults.tcp.initial_ssthresh": "64" if self.thresholds == "64 kB" else str(self.max_window),
            "links.1.queue": f"{self.queue} packets",
            "links.2.delay": hop,
            "links.3.delay": hop,
            "links.2.loss": f"{self.per:g}",
            "links.3.loss": f"{self.per:g}",
            "record.trace": record,
            "record.acks": str(record != "off").lower(),
        }
        if self.bound == "cwnd":
            sets["defaults.tcp.max_cwnd"] = str(self.max_window)
        else:
            sets["defaults.tcp.receive_buffer"] = f"{self.max_window * PAYLOAD_BYTES} B"
        if self.blind:
            sets |= {f"defaults.tcp.{key}": value for key, value in BLIND.items()}
        return ll.run(scenario(f"hybla_cubic/{name}"), seed=seed, sets=sets | dict(changes or {}))


@dataclass(frozen=True)
class Sample:
    """The results of one run.

    Attributes
    ----------
    acks, payload
        Numbers of ACKs received and of bytes delivered, at the times of `GRID_S`.
    window
        The congestion window as ns-2 plots it, in segments, at the times of `WINDOW_S`: up to the maximum, and during
        fast recovery reduced by rate halving.
    peak
        Maximum window in the first five round trips.
    settled, variation
        Mean of the window after 30 s, and its coefficient of variation.
    lost, dropped
        Number of data packets that did not arrive, and the number of those that were dropped by the queue.
    recoveries, timeouts
        Numbers of fast-recovery episodes and of retransmission timeouts.
    """

    acks: NDArray[np.float64]
    payload: NDArray[np.float64]
    window: NDArray[np.float64]
    peak: float
    settled: float
    variation: float
    lost: int
    dropped: int
    recoveries: int
    timeouts: int

    def goodput_bps(self, seconds: float) -> float:
        """Returns the goodput in the first `seconds` seconds, in bit/s."""
        return float(np.interp(seconds, GRID_S, self.payload)) * 8 / seconds


def measured(setting: Setting, seed: int) -> Sample:
    """Runs the setting and reduces it to its results."""
    import polars as pl

    result = setting.run(seed)
    (flow,) = result.summary["flows"]
    trace = WindowTrace.of(result.trace("cwnd"), SATELLITE)
    window = np.minimum(_at(trace.time_s, trace.cwnd, WINDOW_S), setting.max_window)
    rows = result.trace("goodput")
    counted = rows["time_s"].to_numpy(), rows["delivered_bytes"].cast(pl.Float64).to_numpy()
    settled = window[WINDOW_S >= SETTLED_S]
    links = [link for link in result.summary["links"] if link["name"] in DATA_LINKS]
    return Sample(
        acks=np.searchsorted(result.acks["time_s"].to_numpy(), GRID_S, side="right").astype(np.float64),
        payload=_at(*counted, GRID_S),
        window=window,
        peak=float(window[WINDOW_S <= EARLY_S].max()),
        settled=float(settled.mean()),
        variation=float(settled.std() / settled.mean()),
        lost=sum(link["dropped_queue"] + link["dropped_error"] for link in links),
        dropped=sum(link["dropped_queue"] for link in links),
        recoveries=int(flow["recoveries"]),
        timeouts=int(flow["timeouts"]),
    )


def _at(times: NDArray[np.float64], values: NDArray[np.float64], grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Resamples a value that stays constant between its changes at other times; 0 before the first change."""
    at = np.searchsorted(times, grid, side="right") - 1
    return np.where(at >= 0, values[np.maximum(at, 0)], 0.0)


@dataclass(frozen=True)
class Comparison:
    """Runs of both algorithms with the same seeds.

    Attributes
    ----------
    max_window
        The maximum window in packets.
    cubic, hybla
        The results for each seed.
    """

    max_window: int
    cubic: list[Sample]
    hybla: list[Sample]

    @classmethod
    def run(cls, effort: Effort, **setting: Any) -> Comparison:
        """Runs both algorithms, with these fields of their `Setting`."""
        seeds = effort.seeds_of(SEEDS)
        cubic, hybla = (
            effort.map(partial(measured, Setting(algorithm, **setting)), seeds) for algorithm in ("CUBIC", "Hybla")
        )
        return cls(Setting("CUBIC", **setting).max_window, cubic, hybla)

    @property
    def seeds(self) -> int:
        """The number of seeds."""
        return len(self.cubic)

    def holds(self, good: int, share: float = ENOUGH) -> bool:
        """Returns true if the given number of seeds is at least this fraction of all."""
        return good >= share * self.seeds

    def both(self) -> list[tuple[Sample, Sample]]:
        """Pairs of the results of CUBIC and Hybla, one for each seed."""
        return list(zip(self.cubic, self.hybla, strict=True))

    def passes(self, series: str) -> list[float]:
        """Returns for each seed the last time in s when CUBIC's count does not exceed Hybla's."""
        behind = [getattr(cubic, series) <= getattr(hybla, series) for cubic, hybla in self.both()]
        return [float(GRID_S[np.flatnonzero(one)[-1]]) for one in behind]

    def hybla_ahead(self, series: str) -> list[float]:
        """Returns Hybla's maximum lead over CUBIC for each seed."""
        return [float((getattr(hybla, series) - getattr(cubic, series)).max()) for cubic, hybla in self.both()]


def claims(found: Comparison) -> list[Row]:
    """Returns the rows for the text's statements about Figs. 4 to 6, each once."""
    return [
        _spike_row(found),
        _loss_row(found),
        _oscillation_row(found),
        _mean_window_row(found),
        *(_lead_row(found, *which) for which in (("Fig. 5", "acks", "ACKs"), ("Fig. 6", "payload", "goodput"))),
        *(_later_row(found, *which) for which in (("Fig. 5", "acks"), ("Fig. 6", "payload"))),
    ]


def reasons(found: Comparison) -> list[Row]:
    """Returns the rows about the causes that limit both algorithms."""
    return [_mechanism_row(found), _oracle_row(found)]


def _spike_row(found: Comparison) -> Row:
    cubic, hybla = ([one.peak for one in samples] for samples in (found.cubic, found.hybla))
    good = sum(b >= 5 * a for a, b in zip(cubic, hybla, strict=True))
    return Row.claim(
        "Fig. 4",
        "largest window in the first five round trips, segments: Hybla, CUBIC",
        "Hybla starts at the maximum, CUBIC at the minimum",
        f"{statistics.fmean(hybla):.0f}, {statistics.fmean(cubic):.0f}",
        statistics.fmean(hybla) >= 5 * statistics.fmean(cubic) and found.holds(good),
        f"Hybla's at least 5 times CUBIC's; it is in {good} of {found.seeds} seeds",
        theory=f"{found.max_window} (2^ρ - 1 a segment); 32 (doubling)",
    )


def _loss_row(found: Comparison) -> Row:
    cubic, hybla = ([one.lost for one in samples] for samples in (found.cubic, found.hybla))
    good = sum(b >= 10 * a for a, b in zip(cubic, hybla, strict=True))
    return Row.claim(
        "Fig. 4",
        "data packets lost: Hybla, CUBIC",
        "Hybla loses packets very soon",
        f"{pm(mean_interval(hybla), 0)}, {pm(mean_interval(cubic), 0)}",
        statistics.fmean(hybla) >= 10 * statistics.fmean(cubic) and found.holds(good),
        f"at least 10 times as many; it is in {good} of {found.seeds} seeds",
    )


def _oscillation_row(found: Comparison) -> Row:
    cubic, hybla = ([one.variation for one in samples] for samples in (found.cubic, found.hybla))
    good = sum(b > a for a, b in zip(cubic, hybla, strict=True))
    return Row.claim(
        "Fig. 4",
        f"standard deviation over mean of the window after {SETTLED_S:.0f} s: Hybla, CUBIC",
        "Hybla oscillates, CUBIC is far more stable",
        f"{pm(mean_interval(hybla))}, {pm(mean_interval(cubic))}",
        statistics.fmean(hybla) > statistics.fmean(cubic) and found.holds(good),
        f"Hybla's larger; it is in {good} of {found.seeds} seeds",
    )


def _mean_window_row(found: Comparison) -> Row:
    cubic, hybla = ([one.settled for one in samples] for samples in (found.cubic, found.hybla))
    good = sum(a > b for a, b in zip(cubic, hybla, strict=True))
    return Row.claim(
        "Fig. 4",
        f"mean window after {SETTLED_S:.0f} s, segments: Hybla, CUBIC",
        "Hybla's average is lower",
        f"{pm(mean_interval(hybla), 0)}, {pm(mean_interval(cubic), 0)}",
        statistics.fmean(cubic) > statistics.fmean(hybla) and found.holds(good),
        f"CUBIC's larger; it is in {good} of {found.seeds} seeds",
    )


def _lead_row(found: Comparison, item: str, series: str, what: str) -> Row:
    ahead, until = found.hybla_ahead(series), found.passes(series)
    good = sum(lead > 0 for lead in ahead)
    scale, unit = (1.0, "ACKs") if series == "acks" else (1e6, "MB")
    return Row.claim(
        item,
        f"Hybla's largest lead over CUBIC in {what}, and when CUBIC passes it for good, s",
        "marginal advantage for Hybla initially",
        f"{pm(mean_interval(lead / scale for lead in ahead), 0 if series == 'acks' else 1)} {unit}; "
        f"{pm(mean_interval(until), 0)} ({min(until):.0f} to {max(until):.0f})",
        found.holds(good) and statistics.fmean(until) < SECONDS / 2,
        f"a lead, which ends in the first half of {SECONDS:.0f} s; there is one in {good} of {found.seeds} seeds",
    )


def _later_row(found: Comparison, item: str, series: str) -> Row:
    if series == "payload":
        cubic, hybla = ([one.goodput_bps(JUDGED_S) / 1e6 for one in half] for half in (found.cubic, found.hybla))
        what, digits = f"goodput of {JUDGED_S:.0f} s, Mbit/s", 2
    else:
        cubic, hybla = (
            [float(np.interp(JUDGED_S, GRID_S, one.acks)) / 1e3 for one in half] for half in (found.cubic, found.hybla)
        )
        what, digits = f"ACKs received in {JUDGED_S:.0f} s, thousands", 1
    good = sum(a >= b for a, b in zip(cubic, hybla, strict=True))
    return Row.claim(
        item,
        f"{what}: Hybla, CUBIC",
        "Hybla falls behind CUBIC",
        f"{pm(mean_interval(hybla), digits)}, {pm(mean_interval(cubic), digits)}",
        statistics.fmean(cubic) >= statistics.fmean(hybla) and found.holds(good, BARELY),
        f"CUBIC's larger, in at least 6 of 10 seeds; it is in {good} of {found.seeds}",
        theory="1.9, 2.5 (idealised model, lost retransmissions not seen)" if series == "payload" else "",
    )


def _mechanism_row(found: Comparison) -> Row:
    hybla, cubic = (
        [mean_interval(getattr(one, count) for one in samples) for count in ("recoveries", "timeouts")]
        for samples in (found.hybla, found.cubic)
    )
    return Row.informing(
        "Fig. 4",
        f"fast recoveries in {SECONDS:.0f} s, timeouts: Hybla; CUBIC",
        "; ".join(f"{pm(recoveries, 0)}, {pm(timeouts, 1)}" for recoveries, timeouts in (hybla, cubic)),
        "Hybla's limit: in congestion avoidance an ACK adds ρ²/W segments, more than one below 576, so two or three "
        "are sent per ACK and 50 packets overflow within some round trips. Random losses contribute little",
    )


def _oracle_row(found: Comparison) -> Row:
    p = 2 * PER
    window = theory.cubic(p, RTT_S, beta=1 - equations.BETA)
    random_ = theory.cubic_random(p, RTT_S, beta=1 - equations.BETA)
    rate = PAYLOAD_BYTES * 8 / RTT_S / 1e6
    hybla = equations.hybla(p, RTT_S)
    ours = mean_interval(one.goodput_bps(SECONDS) / 1e6 for one in found.cubic)
    return Row.informing(
        "Fig. 6",
        f"goodput of {SECONDS:.0f} s against random losses alone, Mbit/s: CUBIC",
        pm(ours),
        f"CUBIC is held by random losses and by its start. Hybla's response function would be W = {hybla:.0f}, "
        f"{hybla * rate:.0f} Mbit/s of {RATE_BPS / 1e6:.0f}: it is held by what it does to the queue",
        theory=f"{window * rate:.1f} (W = {window:.0f}, equal distances); {random_ * rate:.1f} (random distances)",
    )
