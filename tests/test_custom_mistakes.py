"""Custom algorithms that never return, and methods with signatures that the engine cannot call."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import lightlag as ll
from conftest import PAIR

START = """\
import os, signal, threading, time
import lightlag as ll


class Mine(ll.CongestionControl):
    def on_congestion(self, event):
        pass

"""
SIGNAL = "        os.kill(os.getpid(), signal.SIGTERM)\n"
"""Sends the signal from the method itself, so that the test does not depend on timing."""
SWALLOWS = """\
        while True:
            try:
                time.sleep(0.01)
            except BaseException:
                pass
            count = getattr(self, "count", 0) + 1
            self.count = count
            if count == 100:
                os.kill(os.getpid(), signal.SIGTERM)
"""


def started(folder: Path, body: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command with the algorithm Mine, whose ``on_ack`` has this body, on a pair of nodes."""
    (folder / "mine.py").write_text(START + "    def on_ack(self, ack):\n" + body)
    (folder / "pair.toml").write_text(PAIR)
    arguments = [sys.executable, "-m", "lightlag", *command]
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "body",
    [
        "        while True:\n            pass\n",
        "        time.sleep(1e6)\n",
        "        lock = threading.Lock()\n        lock.acquire()\n        lock.acquire()\n",
        "        while True:\n            try:\n                pass\n            except Exception:\n"
        "                pass\n",
    ],
    ids=["loop", "sleep", "lock", "except"],
)
def test_a_signal_ends_an_algorithm_that_does_not_return(tmp_path: Path, body: str) -> None:
    done = started(tmp_path, SIGNAL + body, "run", "pair.toml", "-c", "mine.py:Mine", "-o", "out")
    assert done.returncode == 143, done.stderr
    assert "error: interrupted at" in done.stderr
    assert (tmp_path / "out" / "run.json").is_file()


def test_the_second_signal_ends_an_algorithm_that_swallows_every_exception(tmp_path: Path) -> None:
    done = started(tmp_path, SIGNAL + SWALLOWS, "run", "pair.toml", "-c", "mine.py:Mine", "-o", "out")
    assert done.returncode == 143, done.stderr
    assert "error: interrupted; ended immediately" in done.stderr


def test_an_interrupted_comparison_keeps_the_runs_of_algorithms_that_return(tmp_path: Path) -> None:
    hangs = SIGNAL + "        while True:\n            pass\n"
    done = started(
        tmp_path, hangs, "compare", "pair.toml", "-c", "cubic,mine.py:Mine", "-n", "1", "-j", "1", "-o", "out"
    )
    assert done.returncode == 143, done.stderr
    assert "1 of 2 runs had finished" in done.stderr
    assert [one.congestion for one in ll.load_comparison(tmp_path / "out").outcomes] == ["cubic"]


METHODS = {
    "async": ("    async def on_ack(self, ack):\n        pass\n", 9, "is async"),
    "generator": ("    def on_ack(self, ack):\n        yield 1\n", 9, "has a yield"),
    "async generator": ("    async def on_ack(self, ack):\n        yield 1\n", 9, "is async"),
    "too few": ("    def on_ack(self):\n        pass\n", 9, r"takes \(self\)"),
    "static": ("    @staticmethod\n    def on_ack(ack):\n        pass\n", 9, "is a static method"),
    "property": ("    @property\n    def on_ack(self):\n        pass\n", 9, "is a property"),
    "misspelt": (
        "    def on_ack(self, ack):\n        pass\n\n    def on_recoverd(self, moment):\n        pass\n",
        12,
        ".*did you mean on_recovered",
    ),
}


@pytest.mark.parametrize(("text", "line", "message"), METHODS.values(), ids=METHODS)
def test_a_method_that_cannot_be_called_is_rejected_with_file_and_line(
    net: ll.Network, tmp_path: Path, text: str, line: int, message: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(START + text)
    with pytest.raises(ValueError, match=rf"mine\.py:{line}: Mine\.\w+: {message}"):
        ll.run(net, congestion={"python": f"{path}:Mine"}, duration="5 s")


def test_a_field_that_a_compiled_class_does_not_declare_is_named_with_its_line(net: ll.Network, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    path = tmp_path / "mine.py"
    method = "    def on_ack(self, ack):\n        self.cwnd += 1.0\n        self.hist = 1.0\n"
    path.write_text(START.replace("class Mine", "@ll.compiled\nclass Mine") + method)
    with pytest.raises(ValueError, match=r"mine\.py:12: Mine\.on_ack: .*no field hist"):
        ll.run(net, congestion={"python": f"{path}:Mine"}, duration="5 s")
