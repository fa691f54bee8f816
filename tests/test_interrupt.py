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


def test_an_interrupted_comparison_goes_on_where_it_ended(tmp_path: Path) -> None:
    arguments = ["compare", "dumbbell", "-c", "cubic,newreno", "-n", "40", "--figures", "none", "--jobs", "1"]
    arguments += ["--set", "duration=100 s"]
    process = interrupted([*arguments, "--quiet"], tmp_path)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "the same command goes on from there" in stderr
    folder = tmp_path / "results" / "dumbbell-compare"
    kept = ll.load_comparison(folder)
    assert 0 < len(kept.outcomes) < 80
    assert not kept.is_complete
    assert [path.name for path in folder.parent.iterdir()] == ["dumbbell-compare"]

    def again(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "lightlag", *arguments, *more]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)

    # Others may not take its place.
    done = again("--set", "duration=99 s")
    assert (done.returncode, folder.exists()) == (2, True)
    assert "exists" in done.stderr
    done = again()
    assert done.returncode == 0, done.stderr
    whole = ll.load_comparison(folder)
    assert whole.is_complete
    assert len(whole.outcomes) == 80
    hashes = {(one.congestion, one.seed): one.result_hash for one in whole.outcomes}
    assert all(hashes[one.congestion, one.seed] == one.result_hash for one in kept.outcomes)
    # What is complete stays.
    assert again().returncode == 2


def test_what_a_killed_comparison_had_finished_is_not_repeated(tmp_path: Path) -> None:
    arguments = ["compare", "dumbbell", "-c", "cubic", "-n", "60", "--figures", "none", "--quiet", "--jobs", "1"]
    arguments += ["--set", "duration=100 s"]
    process = subprocess.Popen([sys.executable, "-m", "lightlag", *arguments], cwd=tmp_path)
    journal = tmp_path / "results" / ".dumbbell-compare.unfinished.jsonl"
    while not (journal.exists() and journal.read_text().count("\n") >= 3):
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait(timeout=60)
    kept = journal.read_text().splitlines()
    # Nobody would believe such a run: it is there at the end only if it was not repeated.
    entry = json.loads(kept[0])
    entry["outcome"]["goodput_bps"] = 1.0
    journal.write_text("\n".join([json.dumps(entry), *kept[1:]]))
    subprocess.run([sys.executable, "-m", "lightlag", *arguments], cwd=tmp_path, check=True, timeout=300)
    whole = ll.load_comparison(tmp_path / "results" / "dumbbell-compare")
    assert whole.is_complete
    assert sorted(one.goodput_bps for one in whole.outcomes)[:2][0] == 1.0
    assert not journal.exists()


def test_ctrl_c_ends_a_comparison_in_threads(tmp_path: Path) -> None:
    process = interrupted(["compare", "dumbbell", "--quiet", "--jobs", "2", *LONG], tmp_path)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "nothing to keep" in stderr
    assert not (tmp_path / "results").exists()
