"""A run over the paper's topology (Fig. 2): its transport and its path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import lightlag as ll
from lightlag.analyse import Interval, mean_interval
from lightlag_papers.paper import Effort
from lightlag_papers.scenarios import scenario

FILE_BYTES = 5_000_000
FORWARD_BPS = 1.5e6
DELAY_S = 0.05
MTU_BYTES = 512
HEADERS_BYTES, PPP_BYTES = 40, 2
ACK_BYTES = HEADERS_BYTES + PPP_BYTES
FORWARD_QUEUE, RETURN_QUEUE = 36, 1000
RUNS = 10
SPREAD = 0.01
"""Maximum relative change of the delay, by which runs without randomness are varied."""


@dataclass(frozen=True)
class Transport:
    """The transport of the endpoints.

    Attributes
    ----------
    label
        Label in tables and figures.
    file
        Scenario file: ``tcp`` or ``scps``.
    sets
        Changes to the TCP; a key with a dot changes another part of the scenario.
    """

    label: str
    file: str
    sets: Mapping[str, str] = field(default_factory=dict, hash=False)

    def but(self, label: str, **sets: str) -> Transport:
        """Returns the transport with further settings, under another label."""
        return Transport(label, self.file, {**self.sets, **sets})


CONGESTION = {
    "NewReno": '"newreno"',
    "Vegas": '{ algorithm = "vegas", variant = "ns3" }',
    "Westwood": '"westwood"',
    "HighSpeed": '{ algorithm = "highspeed", response = "linux" }',
    "Hybla": '{ algorithm = "hybla", reference_rtt = "50 ms", count = "acks" }',
}
"""The congestion controls, configured as in ns-3."""


def tcp(algorithm: str) -> Transport:
    """Returns ns-3's TCP with this congestion control."""
    return Transport(algorithm, "tcp", {"congestion": CONGESTION[algorithm]})


def scps(algorithm: str) -> Transport:
    """Returns SCPS-TP with this congestion control."""
    return Transport(f"SCPS-TP, {algorithm}", "scps", {"congestion": CONGESTION[algorithm]})


NEWRENO, VEGAS = tcp("NewReno"), tcp("Vegas")
SCPS = scps("Vegas").but("SCPS-TP")


@dataclass(frozen=True)
class Setting:
    """A transport on a path.

    Attributes
    ----------
    transport
        Transport of the sender.
    return_bps
        Rate of the return path; the forward rate is 1.5 Mbit/s.
    delay_s
        One-way delay of the satellite's channel.
    mtu
        MTU in bytes.
    return_queue
        Size of the return queue in packets.
    ber
        Bit error rate of the channel, in both directions.
    changes
        Further changes to the scenario.
    """

    transport: Transport
    return_bps: float = FORWARD_BPS
    delay_s: float = DELAY_S
    mtu: int = MTU_BYTES
    return_queue: int = RETURN_QUEUE
    ber: float = 0.0
    changes: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def mss(self) -> int:
        """Payload of a full segment."""
        return self.mtu - HEADERS_BYTES

    @property
    def forward_queue(self) -> int:
        """Size of the forward queue: one bandwidth-delay product in packets, rounded down."""
        return int(FORWARD_BPS * 2 * self.delay_s / 8) // (self.mtu + PPP_BYTES)

    def sets(self) -> dict[str, str]:
        """Returns the changes to the scenario."""
        queue = f"{self.forward_queue} packets"
        own = {key if "." in key else f"defaults.tcp.{key}": value for key, value in self.transport.sets.items()}
        path = {
            "defaults.tcp.mss": f"{self.mss} B",
            "links.0.queue": queue,
            "links.1.delay": f"{self.delay_s * 1e3:.6f} ms",
            "links.1.queue": f'{{ forward = "{queue}", backward = "{self.return_queue} packets" }}',
            "links.1.rate": f'{{ forward = "1.5 Mbit/s", backward = "{self.return_bps:g} bit/s" }}',
            "links.1.loss": f"{{ bit_error_rate = {self.ber:g} }}" if self.ber else "0",
        }
        return path | own | dict(self.changes)

    def run(self, seed: int, **sets: str) -> ll.Result:
        """Runs the setting. Without bit errors nothing is random, and the seed selects a delay near the nominal one."""
        setting = self if self.ber else replace(self, delay_s=self.delay_s * (1 + shift(seed)))
        # The queue keeps the size for the nominal delay.
        changes = setting.sets() | {key: value for key, value in self.sets().items() if key.endswith("queue")}
        return ll.run(scenario(f"scps_ns3/{self.transport.file}"), seed=seed, sets=changes | sets)


def shift(seed: int) -> float:
    """Returns the relative change of a run's delay: zero for the first run, then alternately to both sides.

    Examples
    --------
    >>> [round(shift(seed), 4) for seed in range(1, 6)]
    [0.0, 0.002, -0.002, 0.004, -0.004]
    """
    step = seed // 2
    return SPREAD / (RUNS // 2) * (step if seed % 2 == 0 else -step)


Rates = dict[Setting, list[float]]
"""Throughputs of the runs of each setting in bit/s: the file size divided by the time until the last byte arrives."""


def rates(settings: Iterable[Setting], effort: Effort, runs: int = RUNS) -> Rates:
    """Makes the given number of runs of each setting."""
    wanted = list(dict.fromkeys(settings))
    seeds = effort.seeds_of(runs)
    return effort.collect(_rate, [(setting, seed) for setting in wanted for seed in seeds], lambda run: run[0])


def _rate(run: tuple[Setting, int]) -> float:
    setting, seed = run
    (flow,) = setting.run(seed).summary["flows"]
    return float(flow["goodput_bps"])


def kbps(values: Iterable[float]) -> Interval:
    """Returns the mean and its 95 % interval in kbit/s."""
    return mean_interval(value / 1e3 for value in values)


def shown(interval: Interval) -> str:
    """Formats a mean with its half-width, as integers if the mean is 100 or more."""
    digits = 0 if interval.mean >= 100 else 1
    half = "" if interval.count < 2 else f" ± {interval.half_width:.{digits}f}"
    return f"{interval.mean:.{digits}f}{half}"
