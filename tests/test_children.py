"""Child processes end when their parent is killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from studio import gone, runs
from test_study import keys_written, small

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="children are found in /proc")


def descendants(process: int) -> list[int]:
    """The processes that a process has started, and those that they have started."""
    found: list[int] = []
    # Threads and processes come and go.
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{process}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                for child in map(int, (task / "children").read_text().split()):
                    found += [child, *descendants(child)]
    return found


def killed(parent: subprocess.Popen[str], is_at_work: Callable[[], bool]) -> list[int]:
    """Kills a process as soon as it is working, and returns the processes that it has started."""
    while not is_at_work():
        assert parent.poll() is None, parent.returncode
    found = descendants(parent.pid)
    parent.kill()
    parent.wait()
    return found


@pytest.mark.parametrize("where", [["--processes", "2"], ["--cluster", "local:2"]], ids=["processes", "cluster"])
def test_workers_of_a_study_end_with_it(where: list[str], tmp_path: Path) -> None:
    study, store = tmp_path / "study.toml", tmp_path / "store"
    study.write_text(small(replications=200, set={"duration": "30 s", "links.0.rate": "20 Mbit/s"}).to_toml())
    command = [sys.executable, "-m", "lightlag", "study", "run", str(study), *where, "--quiet"]
    command += ["--store", str(store), "--out", str(tmp_path / "out")]
    parent = subprocess.Popen(command, text=True)
    workers = killed(parent, lambda: bool(keys_written(store)))
    assert len([one for one in workers if runs(one)]) >= 1
    for worker in workers:
        gone(worker)


@pytest.mark.parametrize(
    "start",
    [
        "from lightlag.comparison.painters import Painter; one = Painter()._process",
        "from lightlag.machine.children import tied; one = subprocess.Popen(tied(['/bin/sleep', '1d']))",
    ],
    ids=["painter", "tied"],
)
def test_a_process_that_waits_ends_with_the_one_that_started_it(start: str) -> None:
    program = f"import subprocess, time; {start}; print(one.pid, flush=True); time.sleep(86400)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert runs(child)
        parent.send_signal(signal.SIGKILL)
        gone(child)


POOL = """
import multiprocessing, os, sys, time
from concurrent.futures import ProcessPoolExecutor
from lightlag.machine.children import end_with_parent
pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), end_with_parent)
print(pool.submit(os.getpid).result(), flush=True)
pool.submit(eval, "__import__('ctypes').PyDLL(None).sleep(86400)")
time.sleep(86400)
"""


def test_a_worker_whose_native_code_holds_the_lock_of_python_ends_with_its_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", POOL], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        while "nanosleep" not in Path(f"/proc/{worker}/wchan").read_text():
            assert runs(worker)
        parent.kill()
        gone(worker)


def test_a_tied_process_whose_parent_has_ended_does_not_start() -> None:
    from lightlag.machine.children import tied

    # The number of another process: the parent has already ended when the kernel is called.
    command = tied([sys.executable, "-c", "print('runs')"])
    command[5] = "1"
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""
    command = tied([sys.executable, "-c", "import json; print(json.dumps('runs'))"])
    assert json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout) == "runs"
