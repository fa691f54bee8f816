"""The runs of a validation: scenarios with seeds, measured side by side."""

from __future__ import annotations

import json
import threading
import tomllib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, wait
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from lightlag import _engine, _signals
from lightlag.errors import InputError
from lightlag.machine.watchdog import LOOK_S, Watchdog, await_stopped, threads
from lightlag.outcomes.variables import file_of, name_of
from lightlag.results.result import Result
from lightlag.running.single import run_read
from lightlag.scenario.plain import plain as in_scenario
from lightlag.text.terminal import printable
from lightlag.validation.invariants import broken

__all__ = ["Choice", "Measured", "Setup", "Stopped", "Task", "dumbbell", "label_of", "measure_all", "read_choice"]

Choice: TypeAlias = str | Mapping[str, Any]
"""A congestion control in the form of the key ``congestion`` of a scenario."""

PAYLOAD = 1024
"""Payload of a segment in the validation scenarios, in bytes."""
SAMPLES = 400
"""Number of samples of a run."""

TCP: dict[str, Any] = {
    "profile": "linux",
    "tso": False,
    "mss": f"{PAYLOAD} B",
    "timestamps": False,
    "delayed_ack": False,
    "growth": "per_segment",
    "receive_buffer": "64 MiB",
}
"""TCP settings that closed forms assume: one ACK per segment and no bursts; the receive window never limits."""


class Stopped(KeyboardInterrupt):
    """Raised if a signal ended the runs of a section."""


@dataclass(frozen=True)
class Setup:
    """The settings that all sections share."""

    choice: Choice
    replications: int
    seed: int
    scale: float
    """Duration of the runs, as a multiple of the default."""

    @property
    def label(self) -> str:
        """The congestion control as text."""
        return label_of(self.choice)

    @property
    def seeds(self) -> range:
        """Seeds, which are the same for every algorithm and point."""
        return range(self.seed, self.seed + self.replications)


@dataclass(frozen=True)
class Task:
    """One run to be made."""

    point: tuple[Any, ...]
    scenario: Mapping[str, Any] | str
    """A scenario, or the name of a preset."""
    seed: int
    measure: Callable[[Result], dict[str, float]]
    changes: Mapping[str, str] = field(default_factory=dict)
    following: Callable[[Result], Task | None] | None = None
    """Returns the run that replaces this one, with an event placed by the results of this one, or None."""
    curves: Callable[[Result], Any] | None = None
    """Returns the curves of the run for a figure."""

    def parse(self) -> _engine.Scenario:
        """Returns the scenario with its seed."""
        from lightlag.scenario import read_scenario

        return read_scenario(self.scenario, [*self.changes.items(), ("seed", str(self.seed))])


@dataclass(frozen=True)
class Measured:
    """The metrics of one run."""

    point: tuple[Any, ...]
    seed: int
    values: dict[str, float]
    broken: list[str]
    """Messages about invariants that do not hold."""
    result_hash: str
    curves: Any = None


def read_choice(text: Choice) -> Choice:
    """Reads a congestion control from text (a name, a table or a file), a table or a custom class."""
    if not isinstance(text, str):
        return cast("Choice", in_scenario(text))
    if file := file_of(text):
        return file
    if not text.lstrip().startswith("{"):
        return text
    try:
        return dict(tomllib.loads(f"value = {text}")["value"])
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"congestion: {printable(text)} is not a table: {error}; write '{{ algorithm = \"cubic\", beta = 0.8 }}'"
        ) from None


def label_of(choice: Choice) -> str:
    """Returns a congestion control as text."""
    if isinstance(choice, str):
        return choice
    told = ("algorithm", "python", "plugin")
    rest = ", ".join(f"{key} = {json.dumps(value)}" for key, value in choice.items() if key not in told)
    return f"{name_of(choice)} ({rest})" if rest else name_of(choice)


def dumbbell(
    choices: Sequence[Choice],
    *,
    seconds: float,
    rate: str,
    rtts_s: Sequence[float],
    queue: str,
    starts: Sequence[float],
    jitter: str = "0 s",
) -> dict[str, Any]:
    """Returns a scenario of flows that share a bottleneck.

    Each flow has an access link, whose delay makes up the rest of its round trip.
    """
    least = min(rtts_s)
    flows, links = [], [{"between": ["left", "right"], "rate": rate, "delay": f"{least * 450:g} ms", "queue": queue}]
    for at, (rtt, start) in enumerate(zip(rtts_s, starts, strict=True)):
        delay = rtt / 2 - least * 0.45
        edge = {"rate": "1 Gbit/s", "queue": "100000 packets"} | ({} if jitter == "0 s" else {"jitter": jitter})
        links.append({"between": [f"client{at}", "left"], "delay": f"{delay * 1e3:g} ms", **edge})
        drawn = {"uniform": [f"{start:g} s", f"{start + 1:g} s"]}
        flows.append({"from": f"client{at}", "to": "right", "start": drawn})
    return {
        "name": "validation",
        "duration": f"{seconds:g} s",
        "defaults": {"tcp": TCP, "congestion": list(choices)},
        "links": links,
        "flows": flows,
        "record": record(seconds),
    }


def record(seconds: float) -> dict[str, Any]:
    """Returns the record settings that the metrics need."""
    samples = {"trace": "sampled", "queue": "off", "drops": False, "queueing": True}
    return samples | {"interval": f"{max(seconds / SAMPLES, 0.01):.3f} s"}


def measure_all(tasks: Sequence[Task], jobs: int, done: Callable[[], object]) -> list[Measured]:
    """Makes runs in parallel; the results are in the order of the tasks.

    Raises
    ------
    Stopped
        If a signal ended the runs.
    """
    stop = threading.Event()

    def goes_on(*_: object) -> bool:
        return not (stop.is_set() or _signals.asked())

    def work(task: Task) -> Measured | None:
        if not goes_on():
            return None
        result = run_read(task.parse(), goes_on, 0.05)
        while not result.interrupted and task.following is not None and (after := task.following(result)) is not None:
            task = after
            result = run_read(task.parse(), goes_on, 0.05)
        if result.interrupted:
            return None
        curves = None if task.curves is None else task.curves(result)
        measured = Measured(task.point, task.seed, task.measure(result), broken(result), result.result_hash, curves)
        done()
        return measured

    is_stopped = False
    with Watchdog(), threads(jobs) as pool:
        runs = [pool.submit(work, task) for task in tasks]
        try:
            while not is_stopped:
                ended, left = wait(runs, LOOK_S, return_when=FIRST_EXCEPTION)
                if not left or any(run.exception() for run in ended):
                    break
                is_stopped = _signals.asked()
            stop.set()
            found = [run.result() for run in (await_stopped(pool, runs) if is_stopped else runs)]
        except KeyboardInterrupt:
            stop.set()
            await_stopped(pool, runs)
            raise Stopped from None
        finally:
            stop.set()
    finished = [one for one in found if one is not None]
    if len(finished) < len(tasks):
        raise Stopped
    return finished
