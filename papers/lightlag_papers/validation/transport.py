"""Checks of complete algorithms: scaling of rates with the round-trip time, standing queues, and utilisation."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import lightlag as ll
from lightlag.validation import theory
from lightlag_papers.paper import Effort
from lightlag_papers.validation import laws, response
from lightlag_papers.validation.checks import Check, against
from lightlag_papers.validation.scenarios import Run

FORWARD = "client->server"
PACKET_S = 8 * 1064 / 10e6
"""Seconds to transmit a full packet at the scenario's bottleneck."""
BASE_S = 0.1
SETTLED_S = 120.0
"""Start time in s of the measurement of queues: half of the run."""


def all_checks(effort: Effort) -> list[Check]:
    """Returns the checks of all algorithms in the engine's catalogue, in the order of the table."""
    names = response.known()
    work: list[Callable[[], list[Check]]] = []
    work += [functools.partial(scaling, one) for one in SCALINGS if one.name in names]
    work += [functools.partial(standing, one) for one in STANDINGS if one.name in names]
    work += [functools.partial(utilisation, name) for name in ("bbr", "bbr3") if name in names]
    if "dctcp" in names:
        work.append(dctcp)
    return [check for group in effort.map(lambda reference: reference(), work) for check in group]


@dataclass(frozen=True)
class Scaling:
    """Change of an algorithm's rate from 50 to 500 ms under random losses.

    Attributes
    ----------
    name, options, label
        The algorithm.
    exponent
        Exponent of the window as a power of the round-trip time.
    """

    name: str
    label: str
    exponent: float
    options: str = ""

    @property
    def ratio(self) -> float:
        """The expected ratio of the rate at 50 ms to the rate at 500 ms."""
        return math.pow(10, 1 - self.exponent)


SCALINGS = (
    Scaling("reno", "Reno", 0),
    Scaling("cubic", "CUBIC in its cubic region", 0.75, "reno_friendly = false, fast_convergence = false"),
    Scaling("hybla", "Hybla", 1),
)
SCALING_LOSS = 1e-4
SCALING_LOSSES = 800


def scaling(one: Scaling) -> list[Check]:
    """Returns the check of the ratio of the rates at 50 and 500 ms, with the same losses."""
    choice = f'{{ algorithm = "{one.name}", {one.options} }}' if one.options else one.name
    rates, commands = [], []
    for rtt in (0.05, 0.5):
        expected = {
            "reno": theory.mathis(SCALING_LOSS),
            "cubic": theory.cubic(SCALING_LOSS, rtt),
            "hybla": laws.aimd(SCALING_LOSS, 1, 0.5) * rtt / 0.025,
        }[one.name]
        run = Run(
            "response",
            {
                "defaults.tcp.congestion": choice,
                "links.0.delay": f"{rtt * 500:g} ms",
                "links.0.loss": f"{{ forward = {response.power(SCALING_LOSS)}, backward = 0 }}",
                "duration": f"{SCALING_LOSSES / SCALING_LOSS * rtt / expected:.0f} s",
            },
        )
        result = run.result()
        rates.append(result.summary["flows"][0]["delivered_bytes"] * 8 / result.simulated_s)
        commands.append(run.command)
    return [
        against(
            "random losses: rate at 50 ms over rate at 500 ms",
            f"{one.label}, p = {response.power(SCALING_LOSS)}",
            " and ".join(commands),
            rates[0] / rates[1],
            one.ratio,
            unit="",
            tolerance=0.10,
            note=f"window ∝ RTT^{one.exponent:g}; {rates[0] / 1e6:.3g} and {rates[1] / 1e6:.3g} Mbit/s",
        )
    ]


@dataclass(frozen=True)
class Standing:
    """The standing queue of an algorithm in a deep buffer.

    Attributes
    ----------
    name, options, label
        The algorithm.
    least, most
        Minimum and maximum number of queued packets per flow.
    rule
        The rule for the values, and its source.
    flows
        Number of flows.
    """

    name: str
    label: str
    least: float
    most: float
    rule: str
    options: str = ""
    flows: int = 1


LEDBAT_TARGET_S = 0.1
STANDINGS = (
    Standing("vegas", "Vegas", 2, 4, "α = 2 to β = 4 segments (Brakmo and Peterson 1995)"),
    Standing("vegas", "Vegas, Linux", 2, 4, "α = 2 to β = 4 segments", 'variant = "linux"'),
    Standing("fast", "FAST", 18, 22, "α = 20 segments (Wei et al. 2006), ± 10 %"),
    Standing(
        "ledbat",
        "LEDBAT",
        0.9 * LEDBAT_TARGET_S / PACKET_S,
        1.1 * LEDBAT_TARGET_S / PACKET_S,
        "TARGET = 100 ms of queueing delay (RFC 6817 §2.4.2), ± 10 %",
        'target = "100 ms"',
    ),
    Standing(
        "copa",
        "Copa",
        1,
        3,
        "evenly between 0 and 2.5/δ: 1.25/δ = 2.5 segments in the mean (Arun, Balakrishnan 2018, §3)",
    ),
)


def standing(one: Standing) -> list[Check]:
    """Returns the check of the mean queue in the second half of a run."""
    choice = f'{{ algorithm = "{one.name}", {one.options} }}' if one.options else one.name
    run = Run("bottleneck", {"defaults.tcp.congestion": choice, "record.trace": "off"})
    time_s, packets = queue(run.result())
    late = packets[time_s >= SETTLED_S]
    mean = float(late.mean())
    middle = (one.least + one.most) / 2
    check = Check(
        "alone on 10 Mbit/s, 100 ms: packets that wait",
        one.label,
        run.command,
        f"{mean:.3g} (5 to 95 %: {np.quantile(late, 0.05):.3g} to {np.quantile(late, 0.95):.3g})",
        f"{one.least:.3g} to {one.most:.3g}",
        f"{mean / middle - 1:+.0%} of the middle",
        one.least <= mean <= one.most,
        one.rule,
    )
    return [check]


def queue(result: ll.Result) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns times in s, and numbers of packets queued at the bottleneck, not counting the one in transmission."""
    import polars as pl

    rows = result.queue.filter(pl.col("link").cast(pl.String) == FORWARD)
    return rows["time_s"].to_numpy(), rows["packets"].to_numpy().astype(np.float64)


LEAST_UTILISATION = 0.97
LEAST_WINDOW = 4.5
"""Minimum window in segments: BBR v1 probes for the round-trip time with a window of four."""


def utilisation(name: str) -> list[Check]:
    """Returns checks of the utilisation of a bottleneck by a single BBR flow, outside PROBE_RTT."""
    run = Run("bottleneck", {"defaults.tcp.congestion": name, "record.queue": "off"})
    trace = run.result().trace()
    time_s, cwnd = trace["time_s"].to_numpy(), trace["cwnd_segments"].to_numpy()
    delivered = trace["delivered_bytes"].to_numpy().astype(np.float64)
    steps, carried = np.diff(time_s), np.diff(delivered) * 8
    late = time_s[1:] >= SETTLED_S / 2
    probing = np.zeros(len(steps), dtype=np.bool_)
    small = time_s[cwnd <= (LEAST_WINDOW if name == "bbr" else 0.6 * np.median(cwnd))]
    for at in small:
        # A segment that is not sent in a round trip is missing in the next one.
        probing |= (time_s[1:] >= at) & (time_s[1:] <= at + 2 * BASE_S)
    share = 1024 / 1064 * 10e6
    found: list[Check] = []
    for label, kept in (("without PROBE_RTT", late & ~probing), ("PROBE_RTT included", late)):
        ours = float(carried[kept].sum() / steps[kept].sum()) / share
        found.append(
            Check(
                "alone on 10 Mbit/s, 100 ms: share of the bottleneck",
                f"{'BBR v1' if name == 'bbr' else 'BBR v3'}, {label}",
                run.command if not found else "the same run",
                f"{ours:.1%}",
                f"at least {LEAST_UTILISATION:.0%}",
                f"{ours - 1:+.1%} of the capacity",
                ours >= LEAST_UTILISATION if kept is not late else None,
                f"{probing[late].mean():.1%} of the time is left out" if kept is not late else "",
            )
        )
    return found


DCTCP_GAIN = 1 / 16
THRESHOLDS = (10, 40, 160)


def dctcp() -> list[Check]:
    """Returns checks of DCTCP's estimate α, calculated from its reductions, against the fraction of marks."""
    return [check for threshold in THRESHOLDS for check in _marked(threshold)]


def _marked(threshold: int) -> list[Check]:
    """Returns the checks for one marking threshold of the queue.

    Over a cycle of n round trips, the mean of α is F, the fraction of marked packets, because α is linearly
    filtered from it. The reduction occurs at the first mark of a window, before that window is included in α. At
    that time α has its minimum: F n g (1 - g)^(n - 1) / (1 - (1 - g)^n).
    """
    run = Run(
        "bottleneck",
        {
            "defaults.tcp.congestion": "dctcp",
            # The reductions are read off the window, so it has to fall immediately.
            "defaults.tcp.prr_marks": "false",
            "links.0.queue": f'{{ forward = {{ discipline = "step", threshold = "{threshold} packets" }}, '
            'backward = "4000 packets" }',
            "record.trace": "change",
            "record.queue": "off",
        },
    )
    result = run.result()
    trace = result.trace("cwnd")
    time_s, cwnd = trace["time_s"].to_numpy(), trace["cwnd_segments"].to_numpy()
    cut = np.flatnonzero((cwnd[1:] < 0.999 * cwnd[:-1]) & (time_s[1:] > SETTLED_S / 2))
    alpha = float(np.mean(2 * (1 - cwnd[cut + 1] / cwnd[cut])))
    link, flow = result.summary["links"][0], result.summary["flows"][0]
    fraction = link["marked"] / flow["sent_segments"]
    rounds = float(np.mean(np.diff(time_s[cut + 1]))) / flow["mean_rtt_s"]
    kept = 1 - DCTCP_GAIN
    smallest = fraction * rounds * DCTCP_GAIN * math.pow(kept, rounds - 1) / (1 - math.pow(kept, rounds))
    window = BASE_S / PACKET_S + threshold
    point = f"marks above {threshold} packets"
    return [
        against(
            "DCTCP: α at a reduction, from the fraction of marked packets F",
            point,
            run.command,
            alpha,
            smallest,
            unit="",
            tolerance=0.10,
            note=f"F = {fraction:.3g}, {rounds:.1f} round trips between {len(cut)} reductions",
        ),
        Check(
            "DCTCP: α = √(2/(C·RTT + K)) (Alizadeh et al. 2010)",
            point,
            "the same run",
            f"{alpha:.4g}",
            f"{math.sqrt(2 / window):.4g}",
            f"{alpha / math.sqrt(2 / window) - 1:+.1%}",
            None,
            "the formula takes α for constant over a cycle, and the marked window for one round trip",
        ),
    ]
