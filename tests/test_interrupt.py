"""Ctrl-C from outside, as the terminal sends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import lightlag as ll


def cpu_seconds(process: subprocess.Popen[str]) -> float:
    """What a process has used so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupted(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    """A command that gets SIGINT when it is certainly running: starting takes a quarter of this CPU time."""
    process = subprocess.Popen(
        [sys.executable, "-m", "lightlag", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while cpu_seconds(process) < 1.5:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    return process


LONG = ["--set", "duration=400000 s", "--set", "record.trace=sampled", "--set", "record.interval=10 s"]


def test_ctrl_c_ends_a_run_and_keeps_what_was_recorded(tmp_path: Path) -> None:
    process = interrupted(["run", "dumbbell", "--quiet", *LONG], tmp_path)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert stderr.startswith("error: interrupted at ")
    assert "results/dumbbell" in stderr
    result = ll.load(tmp_path / "results" / "dumbbell")
    assert result.interrupted
    assert 0 < result.simulated_s < 400_000
    assert len(result.trace()) > 0
    assert result.flows["delivered_bytes"].min() > 0  # type: ignore[operator]


def test_ctrl_c_of_a_json_run_still_prints_one_object(tmp_path: Path) -> None:
    process = interrupted(["run", "dumbbell", "--json", *LONG], tmp_path)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert json.loads(stdout)["simulated_s"] > 0
    assert not (tmp_path / "results").exists()


def test_ctrl_c_ends_a_comparison_in_threads(tmp_path: Path) -> None:
    process = interrupted(["compare", "dumbbell", "--quiet", "--jobs", "2", *LONG], tmp_path)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "nothing to keep" in stderr
    assert not (tmp_path / "results").exists()
