"""Files that are read: pipes without writers, endless devices, and files of another kind than expected."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from conftest import PAIR, Lightlag

pytestmark = pytest.mark.long

READERS = {
    "run": ("run",),
    "check": ("check",),
    "compare": ("compare", "-c", "cubic"),
    "study": ("study", "run"),
    "add": ("study", "add", "-n", "20"),
    "import": ("import",),
    "inspect": ("inspect",),
    "replay": ("replay",),
    "orbit": ("orbit",),
    "export": ("export", "--from", "a", "--to", "b", "--as", "tc"),
    "diff": ("diff", "geo"),
    "explain": ("explain", "--partitions"),
    "hosts": ("serve-tcp", "--hosts"),
    "hosts between devices": ("emulate", "geo", "--between", "a", "b", "--hosts"),
    "path": ("serve-tcp", "--address", "192.0.2.1", "--port", "80", "--path"),
    "file": ("serve-tcp", "--address", "192.0.2.1", "--port", "80", "--file"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_pipe_without_writer_and_an_endless_device_are_rejected(
    lightlag: Lightlag, tmp_path: Path, reader: str, kind: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    name = "pipe" if kind == "pipe" else "/dev/zero"
    done = lightlag(*READERS[reader], name)
    assert done.returncode == 2, done.stdout
    assert f"{name}: " in done.stderr
    assert "internal error" not in done.stderr


@pytest.mark.parametrize("command", [("report",), ("plot",), ("diff", "geo"), ("run",), ("compare",)])
def test_a_pipe_instead_of_run_json_is_rejected(lightlag: Lightlag, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "one").mkdir()
    os.mkfifo(tmp_path / "one" / "run.json")
    done = lightlag(*command, "one")
    assert done.returncode == 2
    assert "one/run.json: cannot be read: it is not a regular file" in done.stderr


def test_a_table_that_is_a_pipe_is_rejected(lightlag: Lightlag, pair_file: Path) -> None:
    assert lightlag("run", "pair.toml", "-q", "-o", "one").returncode == 0
    table = pair_file.with_name("one") / "trace.parquet"
    table.unlink()
    os.mkfifo(table)
    done = lightlag("plot", "one")
    assert (done.returncode, done.stderr) == (
        2,
        "error: one/trace.parquet: cannot be read: it is not a regular file\n",
    )


def test_a_scenario_comes_through_a_pipe(tmp_path: Path, lightlag: Lightlag) -> None:
    line = f"{sys.executable} -m lightlag check"
    for text in (f"cat | {line} /dev/stdin", f"{line} <(cat)"):
        done = subprocess.run(
            ["bash", "-c", text], input=PAIR, capture_output=True, text=True, cwd=tmp_path, check=False
        )
        assert done.returncode == 0, done.stderr
    os.mkfifo(tmp_path / "pipe")
    # It opens the pipe once the command has.
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(PAIR,))
    writer.start()
    done = lightlag("check", "pipe")
    writer.join()
    assert done.returncode == 0, done.stderr
