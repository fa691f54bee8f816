"""A run over the paper's topology (Fig. 2): which transport, and what its path is like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import lightlag as ll
from lightlag.analyse import Interval, mean_interval
from lightlag_papers.paper import Effort
from lightlag_papers.scps_ns3.scenarios import scenario

FILE_BYTES = 5_000_000
FORWARD_BPS = 1.5e6
DELAY_S = 0.05
MTU_BYTES = 512
HEADERS_BYTES, PPP_BYTES = 40, 2
ACK_BYTES = HEADERS_BYTES + PPP_BYTES
FORWARD_QUEUE, RETURN_QUEUE = 36, 1000
RUNS = 10
SPREAD = 0.01
"""Runs without chance are repeated with delays within so much of the nominal one."""


@dataclass(frozen=True)
class Transport:
    """The behaviour of the ends.

    Attributes
    ----------
    label
        In tables and figures.
    file
        Scenario file: ``tcp`` or ``scps``.
    sets
        Changes to its TCP; a key with a dot changes another part of the scenario.
    """

    label: str
    file: str
    sets: Mapping[str, str] = field(default_factory=dict, hash=False)

    def but(self, label: str, **sets: str) -> Transport:
        """The same with other settings."""
        return Transport(label, self.file, {**self.sets, **sets})


CONGESTION = {
    "NewReno": '"newreno"',
    "Vegas": '{ algorithm = "vegas", variant = "ns3" }',
    "Westwood": '"westwood"',
    "HighSpeed": '{ algorithm = "highspeed", response = "linux" }',
    "Hybla": '{ algorithm = "hybla", reference_rtt = "50 ms", count = "acks" }',
}
"""The algorithms as ns-3 has them."""


def tcp(algorithm: str) -> Transport:
    """An algorithm in ns-3's TCP."""
    return Transport(algorithm, "tcp", {"congestion": CONGESTION[algorithm]})


def scps(algorithm: str) -> Transport:
    """The same in SCPS-TP."""
    return Transport(f"SCPS-TP, {algorithm}", "scps", {"congestion": CONGESTION[algorithm]})


NEWRENO, VEGAS = tcp("NewReno"), tcp("Vegas")
SCPS = scps("Vegas").but("SCPS-TP")


@dataclass(frozen=True)
class Setting:
    """A transport on a path.

    Attributes
    ----------
    transport
        Who sends.
    return_bps
        Rate of the way back; forward it is 1.5 Mbit/s.
    delay_s
        One way over the satellite's channel.
    mtu
        In bytes.
    return_queue
        Packets.
    ber
        Bit error rate of the channel, in both directions.
    changes
        More changes of the scenario.
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
        """One bandwidth-delay product in packets, rounded down."""
        return int(FORWARD_BPS * 2 * self.delay_s / 8) // (self.mtu + PPP_BYTES)

    def sets(self) -> dict[str, str]:
        """The changes of the scenario."""
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
        """Run it. Without errors nothing is random: the seed then stands for a delay near the nominal one."""
        setting = self if self.ber else replace(self, delay_s=self.delay_s * (1 + shift(seed)))
        # The queue stays that of the nominal delay.
        changes = setting.sets() | {key: value for key, value in self.sets().items() if key.endswith("queue")}
        return ll.run(scenario(self.transport.file), seed=seed, sets=changes | sets)


def shift(seed: int) -> float:
    """The relative shift of the delay of a run: none for the first, then to either side by turns.

    Examples
    --------
    >>> [round(shift(seed), 4) for seed in range(1, 6)]
    [0.0, 0.002, -0.002, 0.004, -0.004]
    """
    step = seed // 2
    return SPREAD / (RUNS // 2) * (step if seed % 2 == 0 else -step)


Rates = dict[Setting, list[float]]
"""Throughput of each run in bit/s: the file over the time until its last byte is there."""


def rates(settings: Iterable[Setting], effort: Effort, runs: int = RUNS) -> Rates:
    """Run settings, each so many times."""
    wanted = list(dict.fromkeys(settings))
    seeds = effort.seeds_of(runs)
    found = effort.map(_rate, [(setting, seed) for setting in wanted for seed in seeds])
    return {setting: found[at * len(seeds) : (at + 1) * len(seeds)] for at, setting in enumerate(wanted)}


def _rate(run: tuple[Setting, int]) -> float:
    setting, seed = run
    (flow,) = setting.run(seed).summary["flows"]
    return float(flow["goodput_bps"])


def kbps(values: Iterable[float]) -> Interval:
    """Mean and 95 % interval in kbit/s."""
    return mean_interval(value / 1e3 for value in values)


def shown(interval: Interval) -> str:
    """A mean with its half width, in whole numbers from 100 on."""
    digits = 0 if interval.mean >= 100 else 1
    half = "" if interval.count < 2 else f" ± {interval.half_width:.{digits}f}"
    return f"{interval.mean:.{digits}f}{half}"
