"""The types of the door: what the compiled engine offers. Checked against the binary by stubtest."""

import os
from collections.abc import Callable, Sequence
from typing import Any, final

__all__ = [
    "Capture",
    "Emulation",
    "Run",
    "ScenarioError",
    "Steps",
    "Table",
    "__version__",
    "answers",
    "catalog",
    "changes_for_rtt",
    "check",
    "congestion_name",
    "counts",
    "emulate",
    "inspect",
    "is_random",
    "parse",
    "results_size",
    "run",
    "schema",
    "seconds",
    "sending",
    "serve_tcp",
]

__version__: str

class ScenarioError(ValueError):
    errors: list[tuple[str, str]]

@final
class Table:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any: ...

@final
class Run:
    @property
    def interrupted(self) -> bool: ...
    @property
    def wall_s(self) -> float: ...
    @property
    def captures(self) -> list[str]: ...
    @property
    def capture_failure(self) -> str | None: ...
    def summary(self) -> str: ...
    def table(self, name: str) -> Table: ...
    def write(
        self,
        partial: str | os.PathLike[str],
        folder: str | os.PathLike[str],
        jobs: int = 1,
        captures: str | os.PathLike[str] | None = None,
    ) -> None: ...

@final
class Steps:
    def __new__(cls, scenario: str) -> Steps: ...
    def step(self, time_s: float) -> bool: ...
    @property
    def now_s(self) -> float | None: ...
    def recorded(self) -> list[tuple[str, Table]]: ...
    def finish(self) -> Run: ...

@final
class Capture:
    def summary(self) -> str: ...
    def trace(self) -> Table | None: ...

def parse(text: str, format: str = "toml", sets: Sequence[tuple[str, str]] = ..., folder: str = "") -> str: ...
def check(text: str, format: str = "toml", sets: Sequence[tuple[str, str]] = ..., folder: str = "") -> str: ...
def run(
    scenario: str,
    progress: Callable[[float, float, int], bool] | None = None,
    interval_s: float = 0.1,
    captures: str | os.PathLike[str] | None = None,
) -> Run: ...
def answers(
    tcp: str, arrivals: Sequence[tuple[int, int]], reads: Sequence[int] | None = None
) -> list[tuple[int, int, bytes]]: ...
def inspect(
    path: str | os.PathLike[str],
    progress: Callable[[int, int, int], object] | None = None,
    interval_s: float = 0.1,
    trace: int | None = None,
    rows: int = 200_000,
) -> Capture: ...
def counts(scenario: str) -> tuple[int, int, int]: ...
def results_size(scenario: str) -> float: ...
def sending(capture: str | os.PathLike[str], flow: int | None = None) -> tuple[str, Table, Table]: ...
def schema() -> str: ...
def seconds(text: str) -> float: ...
def is_random(scenario: str) -> bool: ...
def changes_for_rtt(scenario: str, rtt: str) -> list[tuple[str, str]]: ...
def serve_tcp(options: str, watch: Callable[[str], object]) -> str: ...
def catalog() -> str: ...
def congestion_name(name: str) -> str | None: ...

@final
class Emulation:
    @property
    def about(self) -> str: ...
    @property
    def is_running(self) -> bool: ...
    def statistics(self) -> str: ...
    def stop(self) -> None: ...

def emulate(
    scenario: str,
    devices: Sequence[tuple[str | None, str, Sequence[tuple[str, int]]]],
    at: tuple[str, str] | None = None,
    mtu: int = 1500,
    duration_s: float | None = None,
    priority: str = "fifo",
) -> Emulation: ...
