"""Signals while algorithms that do not return run in threads and processes other than the main one."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import lightlag as ll
from conftest import PAIR, Lightlag
from studio import gone, runs
from test_children import descendants
from test_study import keys_written

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform != "linux", reason="children are found in /proc")]

MINE = """\
import time
from pathlib import Path
import lightlag as ll


class Mine(ll.CongestionControl):
    def on_congestion(self, event):
        pass

    def on_ack(self, ack):
        Path(__file__).with_name("hangs").touch()
"""
LOOP = "        while True:\n            time.sleep(0.001)\n"
SWALLOW = """\
        while True:
            try:
                while True:
                    time.sleep(0.001)
            except BaseException:
                pass
"""
SWALLOW_INTERRUPTS = SWALLOW.replace("BaseException", "KeyboardInterrupt")
STUDY = 'scenarios = ["pair.toml"]\ncongestion = ["cubic", "mine.py:Mine"]\nreplications = 2\n'
STUDIED = ("study", "run", "study.toml", "--quiet", "--out", "out", "--store", "store")


def started(folder: Path, body: str, *command: str) -> subprocess.Popen[str]:
    """Starts a command with the algorithm Mine, whose ``on_ack`` has this body and does not return."""
    (folder / "mine.py").write_text(MINE + body)
    (folder / "pair.toml").write_text(PAIR.replace('"30 s"', '"1 s"'))
    (folder / "study.toml").write_text(STUDY)
    process = subprocess.Popen(
        [sys.executable, "-m", "lightlag", *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (folder / "hangs").exists():
        assert process.poll() is None, process.communicate()[1]
    return process


@pytest.mark.parametrize(
    ("where", "body", "number"),
    [
        ("--processes", LOOP, signal.SIGINT),
        ("--processes", SWALLOW, signal.SIGTERM),
        ("--processes", SWALLOW_INTERRUPTS, signal.SIGINT),
        ("--jobs", SWALLOW, signal.SIGTERM),
    ],
    ids=["loop", "swallows all", "swallows interrupts", "threads"],
)
def test_one_signal_ends_a_study_whose_algorithm_does_not_return(
    tmp_path: Path, where: str, body: str, number: signal.Signals
) -> None:
    study = started(tmp_path, body, *STUDIED, where, "2")
    # The runs of the other algorithm come first where two can run.
    while not keys_written(tmp_path / "store"):
        assert study.poll() is None
    children = descendants(study.pid)
    study.send_signal(number)
    _, error = study.communicate()
    assert study.returncode == 128 + number, error
    finished = ll.open_study(tmp_path / "out").about["finished"]
    assert 1 <= finished <= 2
    assert f"interrupted; {finished} of 4 runs have finished and are stored" in error
    for child in children:
        gone(child)


def test_a_second_signal_ends_a_study_and_its_processes_immediately(tmp_path: Path) -> None:
    study = started(tmp_path, SWALLOW, *STUDIED, "--processes", "2")
    children = descendants(study.pid)
    assert any(map(runs, children))
    while study.poll() is None:
        study.terminate()
    assert study.returncode == 143
    # The process that removes semaphores writes to the same pipe, without a message.
    # A third signal may arrive before the end; it has the same message.
    assert {line.split(";")[0] for line in study.communicate()[1].splitlines()} == {"error: interrupted"}
    for child in children:
        gone(child)


def test_a_signal_ends_a_study_on_dask_whose_algorithm_does_not_return(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    study = started(tmp_path, LOOP, *STUDIED, "--cluster", "local:2")
    while len(keys_written(tmp_path / "store")) < 2:
        assert study.poll() is None
    study.terminate()
    _, error = study.communicate()
    assert study.returncode == 143, error
    assert error.splitlines()[-1].startswith("error: interrupted; 2 of 4 runs have finished")
    assert ll.open_study(tmp_path / "out").about["finished"] == 2


@pytest.mark.parametrize("body", [LOOP, SWALLOW], ids=["loop", "swallows all"])
def test_one_signal_ends_a_comparison_whose_algorithm_does_not_return(tmp_path: Path, body: str) -> None:
    compare = started(
        tmp_path, body, "compare", "pair.toml", "-c", "cubic,mine.py:Mine", "-n", "1", "-j", "1", "-o", "out"
    )
    compare.terminate()
    _, error = compare.communicate()
    assert compare.returncode == 143, error
    assert "1 of 2 runs had finished" in error
    assert [one.congestion for one in ll.load_comparison(tmp_path / "out").outcomes] == ["cubic"]


@pytest.mark.parametrize("body", [LOOP, SWALLOW], ids=["loop", "swallows all"])
def test_one_signal_ends_the_validation_of_an_algorithm_that_does_not_return(tmp_path: Path, body: str) -> None:
    validation = started(tmp_path, body, "validate", "congestion", "mine.py:Mine", "-o", "out")
    validation.terminate()
    _, error = validation.communicate()
    assert validation.returncode == 143, error
    assert "interrupted before a section had finished; nothing was stored" in error


SECOND_HANGS = """
import os, signal, sys
from pathlib import Path
# As the command, which watches signals.
sys.argv = ["lightlag"]
from lightlag.errors import Interrupted
from lightlag.validation import congestion, assessment

section = assessment._section

def marked(*arguments):
    Path("first-is-over").touch()
    return section(*arguments)

assessment._section = marked
from lightlag import _signals
with _signals.held():
    try:
        congestion("mine.py:Mine", sections=["rtt", "queue"], replications=1, scale=0.1)
    except Interrupted as error:
        print([one.name for one in error.result.sections], flush=True)
    os._exit(0)
"""
HANGS_LATER = """\
        if not Path(__file__).with_name("first-is-over").exists():
            return
        import os, signal
        # Of several runs one signals: a second signal would end the process.
        try:
            Path(__file__).with_name("signalled").touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGTERM)
        except FileExistsError:
            pass
        while True:
            try:
                while True:
                    time.sleep(0.001)
            except BaseException:
                pass
"""


def test_sections_of_a_validation_that_had_finished_are_kept(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE + HANGS_LATER)
    done = subprocess.run(
        [sys.executable, "-c", SECOND_HANGS], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == "['rtt']\n", done.stderr


@pytest.mark.parametrize("kind", ["nobody", "silent", "no address", "no certificates"])
def test_a_command_ends_with_its_error_if_no_scheduler_answers(kind: str, lightlag: Lightlag, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "pair.toml").write_text(PAIR)
    (tmp_path / "study.toml").write_text(STUDY.replace("mine.py:Mine", "reno"))
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        if kind != "nobody":
            # The kernel accepts connections, and no program reads from them.
            silent.listen()
        host = "127.0.0.1" if kind == "no address" else f"127.0.0.1:{silent.getsockname()[1]}"
        address = f"{'tls' if kind == 'no certificates' else 'tcp'}://{host}"
        done = lightlag("study", "run", "study.toml", "--cluster", address)
    assert done.returncode == 2, done.stderr
    *_, error = done.stderr.splitlines()
    assert error.startswith(f"error: {address}: no scheduler replies: ")
    assert not (tmp_path / "results").exists()
