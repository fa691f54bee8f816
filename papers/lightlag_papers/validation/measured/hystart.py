"""The end of slow start on real links: QUICoptSat 2023, and our CUBIC with HyStart over models of these links."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import lightlag as ll
from lightlag_papers.validation.measured import data, figures
from lightlag_papers.validation.measured.data import Exits
from lightlag_papers.validation.measured.fact import Fact, Section, Spread, Verdict, judge
from lightlag_papers.validation.measured.runs import HERE, Task, Values, Work
from lightlag_papers.validation.measured.tolerances import EXITS, MEDIAN_EXIT

NAME = "hystart"
SOURCE = "QUICoptSat 2023-03, Linux CUBIC (Ubuntu 20.04)"
RUNS = 40
"""Number of our runs per link: as many as measured, or ten less."""
EARLY = "rounds of Linux 6.14"
"""Name of the switch to rounds that start with the first ACK."""
SWITCHED_RUNS = 10
"""Number of our runs with a part of the model switched off."""
GEO_S, FAST_S = 14.0, 3.0
"""Time of a run after its start, which is longer than slow start."""
LATEST_S = 90.0
"""Latest start in the 120 s of the trace of Starlink's delays."""
TERRESTRIAL_MS = 15.0
"""Assumed round-trip time between the server and a proxy at the gateway."""
JITTER_MS = 10.0
"""Jitter of Starlink's return path. The mean difference of two uniform deviations of ±m is 2m/3: 6.7 ms, as Huston
reports from Australia in 2024 for consecutive pings.
"""
DELAYS = "delays.csv"

ABOUT = [
    "Real links, one iperf3 flow per run, 40 or 50 runs; the kernel counts exits of HyStart by delay and by ACK "
    "train and "
    f"records the window. Ours: {RUNS} runs with random starts. The cause of our exit is exact: the same run is "
    "repeated "
    "without the search for trains; if slow start ends at the same ACK, it was the delay.",
    "The models hold rates and round-trip times of the data set, and per link: *Starlink* the base delay of LeoCC's "
    f"trace on the forward path, in steps of 10 ms, and jitter of ±{JITTER_MS:g} ms on the return path; *LTE* uplink "
    "grants "
    "that a terminal requests, 5 ms apart and 8 ms later; *DSL* nothing else; *GEO without a tunnel* a proxy that "
    "splits "
    "the connection at the gateway (forward) or at the terminal (return) with a buffer of one bandwidth-delay product, "
    "because both operators accelerate TCP; *GEO through OpenVPN* no proxy, and a return link with capacity on demand: "
    "frames of 26.5 ms, 64 kbit/s constant, the rest 560 ms after a request. Queues hold one bandwidth-delay product. "
    "Grants, constant rates and proxy buffers are assumptions: the operators publish none.",
    "The senders ran Ubuntu 20.04 in March 2023, whose kernels start HyStart's rounds at a window of 16 segments, "
    "amid a "
    "flight (Linux from 2021 to 6.13, `hystart_late_rounds`); ours do so too.",
    "The first run had the rounds of Linux 6.14, no jitter on Starlink and larger buffers in proxies: 3 of 23 "
    "rows agreed, and no run over Starlink ended by delay. Three parts were changed after it was seen: the "
    "rounds, because kernels of that time have them (versions from memory); the jitter, from a value that was "
    "read in other authors' notes; the buffers, an assumption without a source. This section is "
    "therefore not a blind prediction; the reasons show the numbers without each part. No tolerance was changed.",
    "A row on causes agrees if the measured fraction of exits by the most frequent cause and ours differ by at most "
    f"{EXITS} standard errors; a row on windows if the medians are within {MEDIAN_EXIT:.0%} or the quartiles overlap.",
]


@dataclass(frozen=True)
class Model:
    """The model of a link: a scenario, and which parts may be switched off.

    Attributes
    ----------
    make
        Function of the link that returns the tables of links, proxies and the nodes of the flow.
    without
        The same with one part switched, for the reasons.
    part
        Description of the switch.
    """

    make: Callable[[Exits], dict[str, Any]]
    without: Callable[[Exits], dict[str, Any]] | None = None
    part: str = ""


def _plain(link: Exits, *, one_way_ms: float | None = None, **extra: Any) -> dict[str, Any]:
    """Returns a link with the rates and the round-trip time of a data set, from `server` to `client`."""
    delay = link.rtt_ms / 2 if one_way_ms is None else one_way_ms
    return {
        "between": ["server", "client"],
        "rate": {"forward": f"{link.forward_mbps:g} Mbit/s", "backward": f"{link.return_mbps:g} Mbit/s"},
        "delay": f"{delay:g} ms",
        "queue": "1 bdp",
    } | extra


def _wire(link: Exits) -> dict[str, Any]:
    return {"links": [_plain(link)]}


def _starlink(link: Exits) -> dict[str, Any]:
    """Returns a terrestrial link with the changing base delay of Starlink, then the access link."""
    space_ms = statistics.median(data.base_delays())
    access = _plain(link, one_way_ms=link.rtt_ms / 2 - space_ms / 2)
    access["between"] = ["gateway", "client"]
    # The deviation must not exceed the delay.
    access["delay"] = {"forward": access["delay"], "backward": access["delay"]}
    access["jitter"] = {"forward": "0 ms", "backward": f"{min(JITTER_MS, link.rtt_ms / 2 - space_ms / 2):g} ms"}
    changing = {
        "between": ["server", "gateway"],
        "rate": "10 Gbit/s",
        "delay": {"forward": f"{space_ms:g} ms", "backward": "10 us"},
        "queue": "10000 packets",
        "trace": {"forward": f"{HERE}/{DELAYS}"},
    }
    return {"links": [changing, access]}


def _steady(link: Exits) -> dict[str, Any]:
    """Returns the model of Starlink without jitter."""
    path = _starlink(link)
    del path["links"][1]["jitter"]
    return path


def _large(link: Exits) -> dict[str, Any]:
    """Returns the model with a proxy whose buffer does not limit slow start."""
    return _split(link, 4000.0)


def _lte(link: Exits) -> dict[str, Any]:
    """Returns a link whose terminal sends within grants that it requests."""
    grants = {"frame": "5 ms", "latency": "8 ms"}
    one_way_ms = (link.rtt_ms - 8 - 2.5) / 2
    return {"links": [_plain(link, one_way_ms=one_way_ms, on_demand={"backward": grants})]}


def _demand(link: Exits) -> dict[str, Any]:
    """Returns a geostationary link whose terminal gets most of its capacity on demand."""
    demand = {"frame": "26.5 ms", "latency": "560 ms", "constant": "64 kbit/s"}
    return {"links": [_plain(link, on_demand={"backward": demand})]}


def _split(link: Exits, buffer_kb: float | None = None) -> dict[str, Any]:
    """Returns a geostationary link with a proxy at the sender's side."""
    satellite = _plain(link)
    if buffer_kb is None:
        buffer_kb = (link.forward_mbps if link.direction == "forward" else link.return_mbps) * link.rtt_ms / 8
    near: dict[str, Any] = {"rate": "1 Gbit/s", "queue": "1000 packets"}
    if link.direction == "forward":
        satellite["between"] = ["proxy", "client"]
        near |= {"between": ["server", "proxy"], "delay": f"{TERRESTRIAL_MS / 2:g} ms"}
    else:
        satellite["between"] = ["server", "proxy"]
        near |= {"between": ["proxy", "client"], "delay": "0.5 ms"}
    return {"links": [near, satellite], "proxies": [{"node": "proxy", "buffer": f"{round(buffer_kb)} kB"}]}


def model(link: Exits) -> Model:
    """Returns the model of a link."""
    if link.link == "Starlink":
        return Model(_starlink, _steady, "without jitter")
    if link.link == "LTE":
        return Model(_lte, _wire, "without uplink grants")
    if "GEO" in link.link and link.tunnel == "none":
        return Model(_split, _large, "with a proxy buffer of 4 MB")
    if "GEO" in link.link:
        return Model(_demand, _wire, "without capacity on demand")
    return Model(_wire)


def scenario(
    link: Exits, make: Callable[[Exits], dict[str, Any]], start_s: float, *, trains: bool = True, late: bool = True
) -> dict[str, Any]:
    """Returns the scenario of one run, which starts at `start_s`.

    Parameters
    ----------
    link, make
        The link, and the function that returns its model.
    start_s
        Start of the flow.
    trains
        Whether trains of ACKs end slow start.
    late
        Whether rounds start at the low window, as in Linux from 2021 to 6.13.
    """
    path = make(link)
    congestion: dict[str, Any] = {"algorithm": "cubic", "hystart_late_rounds": late}
    if not trains:
        congestion["hystart_ack_spacing"] = "0 s"
    ends = ("server", "client") if link.direction == "forward" else ("client", "server")
    length = GEO_S if link.rtt_ms > 500 else FAST_S
    return {
        "name": "slow-start",
        "duration": f"{start_s + length:.3f} s",
        "defaults": {"tcp": {"profile": "linux", "congestion": congestion}},
        **path,
        "flows": [{"from": ends[0], "to": ends[1], "start": f"{start_s:.6f} s"}],
        "record": {"trace": "change", "queue": "off", "drops": False, "interval": "1 s"},
    }


def first_exit(result: ll.Result) -> Values:
    """Returns time, window and phase of the sender when slow start ended; null values if it did not."""
    trace = result.trace()
    if "leg" in trace.columns:
        trace = trace.filter(trace["leg"] == 1)
    ended = trace.filter(trace["ssthresh_segments"].is_finite())
    if ended.is_empty():
        return {"time_s": None, "window": None, "phase": None}
    row = ended.row(0, named=True)
    return {"time_s": row["time_s"], "window": row["ssthresh_segments"], "phase": str(row["phase"])}


@dataclass(frozen=True)
class Outcome:
    """The end of slow start in our runs: counts by cause, and the windows at exits by delay."""

    delay: int
    train: int
    none: int
    windows: tuple[float, ...]
    untrained: tuple[float, ...] = ()
    """Windows at exits by delay of the same runs without the search for trains."""

    @property
    def runs(self) -> int:
        """Number of runs."""
        return self.delay + self.train + self.none

    @property
    def text(self) -> str:
        """The counts as text."""
        return f"{self.delay}/{self.train}/{self.none}"


def cause(both: Values, without_trains: Values) -> str:
    """Returns the cause of the end of slow start: "delay", "train", or "none" for a loss or no end.

    Parameters
    ----------
    both
        The end of slow start in a run with both signs of HyStart.
    without_trains
        The end in the same run without the search for trains.
    """
    if both["time_s"] is None or both["phase"] != "open":
        return "none"
    return "delay" if without_trains["time_s"] == both["time_s"] else "train"


def outcomes(
    work: Work, said: str, links: Sequence[Exits], makes: Sequence[Any], runs: int, *, late: bool = True
) -> list[Outcome]:
    """Returns the ends of slow start on each link, with its model."""
    _write_delays(work)
    tasks = []
    for link, make in zip(links, makes, strict=True):
        # Starts follow from the name of the link, so that links do not share them.
        draw = random.Random(f"{link.link} {link.direction} {link.tunnel}")
        for seed in range(1, runs + 1):
            start_s = draw.uniform(0.0, LATEST_S)
            for trains in (True, False):
                content = scenario(link, make, start_s, trains=trains, late=late)
                tasks.append(Task(content, seed, first_exit, directory=work.directory))
    ends = iter(work.run(said, tasks))
    found = []
    for _ in links:
        pairs = [(next(ends), next(ends)) for _ in range(runs)]
        causes = [cause(*pair) for pair in pairs]
        windows = tuple(both["window"] for (both, _), name in zip(pairs, causes, strict=True) if name == "delay")
        untrained = tuple(alone["window"] for _, alone in pairs if alone["phase"] == "open")
        counts = (causes.count("delay"), causes.count("train"), causes.count("none"))
        found.append(Outcome(*counts, windows, untrained))
    return found


def _write_delays(work: Work) -> None:
    """Writes the trace of Starlink's base delays."""
    rows = (f"{0.01 * at:.2f},{ms / 1e3:g}" for at, ms in enumerate(data.base_delays()))
    (work.directory / DELAYS).write_text("time_s,delay_s\n" + "\n".join(rows) + "\n", "utf-8")


def section(work: Work, links: Sequence[Exits] | None = None, runs: int = RUNS) -> Section:
    """Returns the rows of all links, with the switches that explain deviations."""
    links = data.exits() if links is None else links
    models = [model(link) for link in links]
    ours = outcomes(work, "HyStart", links, [one.make for one in models], runs)
    few = min(runs, SWITCHED_RUNS)
    without = outcomes(work, "HyStart, switches", links, [one.without or one.make for one in models], few)
    early = outcomes(work, "HyStart, other rounds", links, [one.make for one in models], few, late=False)
    found = Section(NAME, "End of slow start on real links", list(ABOUT))
    for link, one, mine, other, rounds in zip(links, models, ours, without, early, strict=True):
        switched = {EARLY: rounds} | ({} if one.without is None else {one.part: other})
        found.facts.append(_cause_fact(link, mine, switched))
        if link.window is not None:
            found.facts.append(_window_fact(link, mine, switched))
    found.figures.append(figures.exits(list(zip(links, ours, strict=True))))
    return found


def _setting(link: Exits) -> str:
    tunnel = "" if link.tunnel == "none" else ", OpenVPN"
    rate = link.forward_mbps if link.direction == "forward" else link.return_mbps
    return f"{link.link} {link.direction}{tunnel}, {rate:g} Mbit/s, RTT {link.rtt_ms:g} ms"


def _cause_fact(link: Exits, ours: Outcome, switched: Mapping[str, Outcome]) -> Fact:
    counts = {"delay": link.by_delay, "train": link.by_train, "none": link.none}
    main = max(counts, key=lambda name: counts[name])
    mine = {"delay": ours.delay, "train": ours.train, "none": ours.none}
    measured, share = counts[main] / link.runs, mine[main] / ours.runs
    verdict = Verdict.AGREES if same_share(counts[main], link.runs, mine[main], ours.runs) else Verdict.DIFFERS
    reason = f"delay/train/neither: measured {link.by_delay}/{link.by_train}/{link.none}, ours {ours.text}"
    reason += "".join(f"; {part} {outcome.text}" for part, outcome in switched.items())
    if main == "delay" and verdict is Verdict.DIFFERS:
        reason += f"; without the search for trains {len(ours.untrained)} of {ours.runs} by delay"
    quantity = {"delay": "exits by delay", "train": "exits by ACK train", "none": "no exit by HyStart"}[main]
    return Fact(
        SOURCE, _setting(link), f"fraction with {quantity}", "", Spread(measured), Spread(share), verdict, reason
    )


def same_share(count: int, runs: int, our_count: int, our_runs: int) -> bool:
    """Returns true if two fractions differ by at most `EXITS` standard errors.

    Examples
    --------
    >>> same_share(33, 40, 28, 40), same_share(40, 40, 30, 40)
    (True, False)
    """
    p = (count + our_count + 1) / (runs + our_runs + 2)
    error = math.sqrt(p * (1 - p) * (1 / runs + 1 / our_runs))
    return abs(count / runs - our_count / our_runs) <= EXITS * error


def _window_fact(link: Exits, ours: Outcome, switched: Mapping[str, Outcome]) -> Fact:
    assert link.window is not None
    middle, low, high = link.window
    quantity, unit = "median window at an exit by delay", "packets"
    measured = Spread(middle, low, high)
    others = [
        f"{part} {statistics.median(outcome.windows):.0f}" if outcome.windows else f"{part} no exit by delay"
        for part, outcome in switched.items()
    ]
    if not ours.windows:
        reason = f"no run of ours ends by delay; {'; '.join(others)}"
        return Fact(SOURCE, _setting(link), quantity, unit, measured, None, Verdict.DIFFERS, reason)
    mine = quartiles(ours.windows)
    reason = f"{len(ours.windows)} of our {ours.runs} runs, quartiles in brackets; {'; '.join(others)}"
    return Fact(SOURCE, _setting(link), quantity, unit, measured, mine, judge(measured, mine, MEDIAN_EXIT), reason)


def quartiles(values: Sequence[float]) -> Spread:
    """Returns the median with the quartiles."""
    if len(values) < 2:
        return Spread(values[0])
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(middle, low, high)
