"""Runs of the programs for ns-3, and the files of the repository that store their output."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

_BUILT = Path("target/simulators")
_NICE = 0


class Runnable(Protocol):
    """A result that can be stored: numbers under a key, with the CPU time `cpu_s`."""

    @property
    def key(self) -> str:
        """The key of the run in its file."""

    def numbers(self) -> dict[str, Any]:
        """The numbers of the run."""


@dataclass(frozen=True)
class Run:
    """One call of a program."""

    program: str
    options: Mapping[str, str | float]

    @property
    def key(self) -> str:
        """The key of the run in its file."""
        return " ".join([self.program, *self._arguments()])

    def numbers(self) -> dict[str, Any]:
        """The object that the program prints.

        Raises
        ------
        SystemExit
            If it prints none.
        """
        command = [str(_BUILT / self.program), *self._arguments()]
        done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=lambda: os.nice(_NICE))
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode != 0 or len(lines) != 1:
            raise SystemExit(f"{self.key}: gave no numbers (exit {done.returncode}): {done.stderr.strip()[-500:]}")
        numbers: dict[str, Any] = json.loads(lines[0])
        return numbers

    def _arguments(self) -> list[str]:
        return [f"--{name}={value}" for name, value in self.options.items()]


def keep(runs: Iterable[Runnable], file: Path) -> None:
    """Executes the runs that the file lacks, and writes the file after each. An interruption loses only runs in
    progress.
    """
    kept = read(file)
    lock = threading.Lock()

    def one(run: Runnable) -> None:
        numbers = run.numbers()
        with lock:
            kept[run.key] = numbers
            write(kept, file)
        print(run.key, f"{numbers['cpu_s']:.1f} s", flush=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, [run for run in runs if run.key not in kept]))


def read(file: Path) -> dict[str, dict[str, Any]]:
    """The numbers of each run by its key."""
    return dict(json.loads(file.read_text("utf-8"))) if file.exists() else {}


def version(package: str) -> str:
    """The version of a Debian package."""
    command = ["dpkg-query", "--show", "--showformat=${Version}", package]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("-")[0].split("+")[0]


def write(kept: Mapping[str, object], file: Path) -> None:
    """Writes the numbers of each run by its key, one line per run."""
    lines = (f" {json.dumps(key)}: {json.dumps(kept[key], allow_nan=False)}" for key in sorted(kept))
    fresh = file.with_suffix(".new")
    fresh.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    fresh.replace(file)
