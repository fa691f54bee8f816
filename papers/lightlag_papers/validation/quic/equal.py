"""QUIC and TCP with equal constants: mean goodputs over 20 paths."""

from __future__ import annotations

import math
import random
import statistics
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import lightlag as ll
from lightlag_papers.validation.measured.fact import Verdict
from lightlag_papers.validation.measured.runs import Task, Values, Work
from lightlag_papers.validation.quic.cards import FOLDER
from lightlag_papers.validation.quic.tolerances import EQUAL

__all__ = ["Equally", "Pair", "Route", "Setup", "Tested", "pairs", "setup"]

TRANSPORTS = ("quic", "tcp")


@dataclass(frozen=True)
class Route:
    """One of the 20 paths: rate, round-trip time, and loss of data packets."""

    rate_mbps: float
    rtt_ms: float
    loss: float

    @property
    def product(self) -> float:
        """Bandwidth-delay product in packets of 1500 B."""
        return self.rate_mbps * self.rtt_ms * 1e3 / 8 / 1500


Cell = tuple["Route", str]
"""A path and a congestion control."""


@dataclass(frozen=True)
class Equally:
    """Settings of QUIC, of TCP or of both that make a constant equal, or that are changed to test a suspected cause.

    `cubic` is the congestion control of both where it is CUBIC, and `queue` the one of the link. Packets between the
    two numbers of `spared`, in bandwidth-delay products since the start, are not lost at random.
    """

    name: str
    quic: dict[str, Any] = field(default_factory=dict)
    tcp: dict[str, Any] = field(default_factory=dict)
    cubic: dict[str, Any] = field(default_factory=dict)
    queue: str = ""
    spared: tuple[float, ...] = ()


@dataclass(frozen=True)
class Tested:
    """The ratio of the goodputs with one change."""

    change: str
    ratio: float


@dataclass(frozen=True)
class Setup:
    """Constants of both transports, and the paths.

    Attributes
    ----------
    seeds, max_seeds, error
        Smallest and largest number of seeds, and the maximum standard error of a ratio.
    change_seeds
        Largest number of seeds with a change.
    causes
        Causes of the differences that remain.
    equal
        Settings that differ by default and are made equal.
    changes
        Settings that test a suspected cause.
    """

    length: str
    congestion: tuple[str, ...]
    initial_window: int
    buffer: str
    seeds: int
    max_seeds: int
    change_seeds: int
    error: float
    datagram: str
    causes: str
    equal: tuple[Equally, ...]
    changes: tuple[Equally, ...]
    paths: tuple[Route, ...]


@dataclass(frozen=True)
class Pair:
    """Mean goodputs of QUIC and TCP over a path, with the standard error of their ratio and the number of seeds."""

    path: Route
    congestion: str
    quic_mbps: float
    tcp_mbps: float
    error: float
    seeds: int = 1
    tests: tuple[Tested, ...] = ()

    @property
    def ratio(self) -> float:
        """Goodput of QUIC divided by the one of TCP."""
        return self.quic_mbps / self.tcp_mbps

    @property
    def verdict(self) -> Verdict:
        """Whether the means are within the tolerance."""
        return Verdict.AGREES if abs(self.ratio - 1) <= EQUAL else Verdict.DIFFERS

    def record(self) -> dict[str, Any]:
        """Returns the pair as plain values for JSON."""
        tests = [{"change": one.change, "ratio": one.ratio} for one in self.tests]
        path = {"rate_mbps": self.path.rate_mbps, "rtt_ms": self.path.rtt_ms, "loss": self.path.loss}
        own = {"congestion": self.congestion, "quic_mbps": self.quic_mbps, "tcp_mbps": self.tcp_mbps}
        return (
            path
            | own
            | {"ratio": self.ratio, "standard_error": self.error, "seeds": self.seeds}
            | {"verdict": self.verdict.value, "changes": tests}
        )


def setup(path: Path = FOLDER / "equal.toml") -> Setup:
    """Reads the paths."""
    content = tomllib.loads(path.read_text("utf-8"))
    paths = tuple(
        Route(entry["rate_mbps"], rtt_ms, loss)
        for entry in content["paths"]
        for rtt_ms, loss in zip(entry["rtt_ms"], entry["loss"], strict=True)
    )
    settings = {key: tuple(Equally(**one) for one in content.pop(key)) for key in ("equal", "changes")}
    known = {key: value for key, value in content.items() if key not in {"name", "title", "paths", "congestion"}}
    fields: dict[str, Any] = known | settings
    return Setup(congestion=tuple(content["congestion"]), paths=paths, **fields)


def losses(constants: Setup, path: Route, seed: int) -> list[int]:
    """Returns the numbers of the lost data packets: the same for both transports, at random with `path.loss`."""
    length_s = float(constants.length.removesuffix(" s"))
    most = int(path.rate_mbps * 1e6 * length_s / 8 / 1500)
    draw = random.Random(f"equal {path.rate_mbps} {path.rtt_ms} {path.loss} {seed}")
    found: list[int] = []
    at = 0
    while path.loss:
        at += 1 + int(math.log(1 - draw.random()) / math.log(1 - path.loss))
        if at > most:
            break
        found.append(at)
    return found


def scenario(constants: Setup, path: Route, congestion: str, transport: str, seed: int) -> dict[str, Any]:
    """Returns an endless transfer over a path, with the constants in the terms of each transport."""
    lost = losses(constants, path, seed)
    buffer, window = constants.buffer, constants.initial_window
    flow: dict[str, Any] = {"from": "sender", "to": "receiver", "transport": transport, "congestion": congestion}
    if transport == "quic":
        credit = {"stream_credit": buffer, "connection_credit": buffer, "auto_credit": False}
        flow["quic"] = {"datagram": constants.datagram, "initial_window": window, "pacing": False, **credit}
    else:
        sizes = {"receive_buffer": buffer, "send_buffer": buffer}
        flow["tcp"] = {"profile": "rfc", "initial_window": window, "pacing": False, **sizes}
    content = {
        "name": "equal",
        "duration": constants.length,
        "links": [
            {
                "between": ["sender", "receiver"],
                "rate": f"{path.rate_mbps:g} Mbit/s",
                "delay": f"{path.rtt_ms / 2:g} ms",
                "queue": "1 bdp",
                "loss": {"forward": {"packets": lost} if lost else 0, "backward": 0},
            }
        ],
        "flows": [flow],
        "record": {"trace": "off", "queue": "off", "drops": False},
    }
    for one in constants.equal:
        change(content, path, one)
    return content


def change(content: dict[str, Any], path: Route, settings: Equally) -> None:
    """Changes the settings of a scenario over a path."""
    (flow,), (link,) = content["flows"], content["links"]
    flow[flow["transport"]] |= settings.quic if flow["transport"] == "quic" else settings.tcp
    if settings.cubic and flow["congestion"] != "newreno":
        flow["congestion"] = settings.cubic
    if settings.queue:
        link["queue"] = settings.queue
    if settings.spared and (losses := link["loss"]["forward"]):
        first, last = (products * path.product for products in settings.spared)
        lost = [number for number in losses["packets"] if not first <= number <= last]
        link["loss"]["forward"] = {"packets": lost} if lost else 0


def goodput(result: ll.Result) -> Values:
    """Returns the goodput in Mbit/s."""
    return {"value": result.summary["flows"][0]["goodput_bps"] / 1e6}


def pairs(work: Work, constants: Setup) -> list[Pair]:
    """Runs all paths with both transports, and the changes where they differ."""
    cells = [(path, congestion) for congestion in constants.congestion for path in constants.paths]
    first = _run(work, "equal constants", constants, cells, Equally(""))
    places = [at for at, pair in enumerate(first) if pair.verdict is Verdict.DIFFERS]
    tests: dict[int, list[Tested]] = {at: [] for at in places}
    constants = replace(constants, max_seeds=constants.change_seeds)
    for one in constants.changes:
        found = _run(work, f"equal constants, {one.name}", constants, [cells[at] for at in places], one)
        for at, pair in zip(places, found, strict=True):
            tests[at].append(Tested(one.name, pair.ratio))
    return [replace(pair, tests=tuple(tests.get(at, ()))) for at, pair in enumerate(first)]


def _run(work: Work, said: str, constants: Setup, cells: Sequence[Cell], settings: Equally) -> list[Pair]:
    """Returns the pairs of cells with changed settings. Cells with a large error get twice as many seeds."""
    goodputs: list[tuple[list[float], list[float]]] = [([], []) for _ in cells]
    wanted = {at: constants.seeds if path.loss else 1 for at, (path, _) in enumerate(cells)}
    while wanted:
        tasks = []
        for at, count in wanted.items():
            for transport, known in zip(TRANSPORTS, goodputs[at], strict=True):
                for seed in range(len(known) + 1, count + 1):
                    content = scenario(constants, *cells[at], transport, seed)
                    change(content, cells[at][0], settings)
                    tasks.append(Task(content, seed, goodput))
        found = iter(work.run(said, tasks))
        for at, count in wanted.items():
            for known in goodputs[at]:
                known += [next(found)["value"] for _ in range(len(known), count)]
        wanted = {
            at: min(2 * count, constants.max_seeds)
            for at, count in wanted.items()
            if count < constants.max_seeds and _error(*goodputs[at]) > constants.error
        }
    return [
        Pair(path, congestion, statistics.fmean(quic), statistics.fmean(tcp), _error(quic, tcp), len(quic))
        for (path, congestion), (quic, tcp) in zip(cells, goodputs, strict=True)
    ]


def _error(quic: Sequence[float], tcp: Sequence[float]) -> float:
    """Returns the standard error of the ratio of two means of pairs with the same losses."""
    if len(quic) < 2:
        return 0.0
    ratio = sum(quic) / sum(tcp)
    rest = [one - ratio * other for one, other in zip(quic, tcp, strict=True)]
    return float(statistics.stdev(rest) / statistics.fmean(tcp) / math.sqrt(len(rest)))
