"""Studies on a real dask cluster of worker processes on this machine, during faults."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag.errors import InputError
from lightlag.study.campaign import Where, carry_out
from lightlag.study.executors import batched
from lightlag.study.store import open_store
from test_children import descendants
from test_study import contents, keys_written, small

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")]

DASK = [sys.executable, "-m", "dask"]
SEEDS = 80


def busy() -> ll.Study:
    """A study of 640 runs that lasts long enough for a fault."""
    return small(replications=SEEDS, set={"duration": "30 s", "links.0.rate": "20 Mbit/s"})


class Cluster:
    """A scheduler and workers, each in its own process; a worker that ends is restarted, as by a batch system."""

    def __init__(self, folder: Path, workers: int = 4, *, options: tuple[str, ...] = ("--no-nanny",)) -> None:
        self._folder = folder
        self._options = options
        self._log = (folder / "cluster.log").open("ab")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self._over = threading.Event()
        self.scheduler = self._scheduler()
        self.workers = [self._worker() for _ in range(workers)]
        self._keeper = threading.Thread(target=self._keep)
        self._keeper.start()

    def _scheduler(self) -> subprocess.Popen[bytes]:
        return self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def _worker(self) -> subprocess.Popen[bytes]:
        options = ["--nthreads", "1", "--no-dashboard", "--local-directory", str(self._folder), *self._options]
        return self._start("worker", self.address, *options)

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*DASK, *arguments], stdout=self._log, stderr=self._log, start_new_session=True)

    def _keep(self) -> None:
        while not self._over.wait(0.1):
            for at, worker in enumerate(self.workers):
                if worker.poll() is not None:
                    self.workers[at] = self._worker()

    def restart_scheduler(self) -> None:
        """Kills the scheduler, and starts another one at the same address."""
        self.scheduler.kill()
        self.scheduler.wait()
        self.scheduler = self._scheduler()

    def end(self) -> None:
        """Kills the scheduler and all workers."""
        self._over.set()
        self._keeper.join()
        for process in (*self.workers, self.scheduler):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._log.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    running = Cluster(tmp_path)
    try:
        yield running
    finally:
        running.end()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The results of the study without faults."""
    folder = tmp_path_factory.mktemp("undisturbed")
    busy().run(folder / "out", progress=False)
    return contents(folder / "out")


def finish(study: ll.Study, place: str, store: Path) -> None:
    """Runs a study until it is complete, and resumes it each time that it is interrupted."""
    for _ in range(10):
        with contextlib.suppress(InputError):
            if carry_out(study, open_store(store), Where(cluster=place)).is_complete:
                return
    raise AssertionError("the study does not end")


def check(tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    """Results equal an undisturbed study's, and no finished run was repeated."""
    written = keys_written(tmp_path / "store")
    assert len(written) == len(set(written)) == 8 * SEEDS
    busy().run(tmp_path / "out", store=tmp_path / "store", progress=False)
    assert contents(tmp_path / "out") == undisturbed


def test_workers_that_are_killed_change_nothing(
    cluster: Cluster, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    over = threading.Event()
    store = tmp_path / "store"
    open_store(store)
    killed = 0

    def kill() -> None:
        nonlocal killed
        draw = random.Random(1)
        while not over.wait(1.5):
            if keys_written(store):
                draw.choice(cluster.workers).kill()
                killed += 1

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        finish(busy(), cluster.address, store)
    finally:
        over.set()
        killer.join()
    assert killed
    check(tmp_path, undisturbed)


def test_a_client_that_is_killed_leaves_what_has_finished(
    cluster: Cluster, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    store = tmp_path / "store"
    open_store(store)
    study = tmp_path / "study.toml"
    study.write_text(busy().to_toml())
    command = [sys.executable, "-m", "lightlag", "study", "run", str(study), "--cluster", cluster.address]
    command += ["--store", str(store), "--out", str(tmp_path / "by-command"), "--quiet"]
    for share in (0.2, 0.6):
        client = subprocess.Popen(command)
        while client.poll() is None and len(keys_written(store)) < share * 8 * SEEDS:
            time.sleep(0.05)
        client.kill()
        client.wait()
    kept = len(keys_written(store))
    assert kept > 0
    assert subprocess.run(command, check=False).returncode == 0
    check(tmp_path, undisturbed)


def test_a_scheduler_that_is_killed_ends_the_study_with_a_message(
    cluster: Cluster, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    store = tmp_path / "store"
    open_store(store)
    errors: list[str] = []

    def client() -> None:
        try:
            carry_out(busy(), open_store(store), Where(cluster=cluster.address))
        except InputError as error:
            errors.append(str(error))

    first = threading.Thread(target=client)
    first.start()
    while first.is_alive() and len(keys_written(store)) < 100:
        time.sleep(0.05)
    cluster.restart_scheduler()
    first.join()
    assert not errors or "the scheduler no longer replies" in errors[0]
    finish(busy(), cluster.address, store)
    check(tmp_path, undisturbed)


def test_a_worker_that_hangs_is_not_waited_for(
    cluster: Cluster, tmp_path: Path, undisturbed: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batched, "OVERDUE_S", 2.0)
    stopped: list[int] = []

    def stop() -> None:
        while not stopped:
            time.sleep(0.05)
            if len(keys_written(tmp_path / "store")) > 20:
                cluster.workers[0].send_signal(signal.SIGSTOP)
                stopped.append(cluster.workers[0].pid)

    open_store(tmp_path / "store")
    stopper = threading.Thread(target=stop)
    stopper.start()
    finish(busy(), cluster.address, tmp_path / "store")
    stopper.join()
    check(tmp_path, undisturbed)


def test_a_run_that_takes_all_memory_fails_alone(tmp_path: Path) -> None:
    running = Cluster(tmp_path, 2, options=("--nworkers", "1", "--memory-limit", "450 MB"))
    try:
        net: dict[str, Any] = {
            "name": "crowd",
            "duration": "2 s",
            "topology": {
                "kind": "dumbbell",
                "pairs": 2,
                "rate": "10 Mbit/s",
                "delay": "10 ms",
                "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
            },
        }
        study = ll.Study(net, congestion=["cubic"], vary={"topology.pairs": [2, 100_000]}, replications=1)
        found = carry_out(study, open_store(tmp_path / "store"), Where(cluster=running.address))
        reasons = {run.point[0]: reason for run, reason in found.schedule.failures.values()}
        assert set(reasons) == {"100000"}
        assert "because memory ran out" in reasons["100000"] or "no memory" in reasons["100000"]
        assert (found.schedule.finished, len(found.schedule.failures)) == (1, 1)
    finally:
        running.end()


def test_workers_with_another_engine_are_rejected_by_name(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lightlag.study import work

    def other() -> str:
        return "0.0.9+0123456789abcdef"

    monkeypatch.setattr(work, "build", other)
    with pytest.raises(InputError, match=r"worker tcp://127.0.0.1:\d+ has lightlag 0.0.9\+0123456789abcdef, and this"):
        carry_out(small(replications=1), open_store(tmp_path / "store"), Where(cluster=cluster.address))


def test_workers_that_do_not_see_the_store_send_their_runs(
    cluster: Cluster, tmp_path: Path, undisturbed: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    from lightlag.study.executors import cluster as module

    monkeypatch.setattr(module.Workers, "_shares", lambda self, store: False)
    finish(busy(), cluster.address, tmp_path / "store")
    check(tmp_path, undisturbed)


def test_a_disk_that_fills_up_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk], check=False, capture_output=True)
    if mount.returncode != 0:
        pytest.skip("only root may mount a small disk")
    study = small(replications=40, curves=True)
    try:
        with (disk / "ballast").open("wb") as ballast:
            ballast.write(bytes(63 << 20))
        store = disk / "store"
        with pytest.raises(OSError, match=r"store: cannot write: No space left on device"):
            carry_out(study, open_store(store), Where(jobs=2))
        (disk / "ballast").unlink()
        kept = set(keys_written(store))
        assert kept
        found = carry_out(study, open_store(store))
        assert found.is_complete
        assert found.schedule.found == len(kept)
        assert len(keys_written(store)) == 320
        study.run(tmp_path / "full", store=store, progress=False)
        study.run(tmp_path / "roomy", store=tmp_path / "store", progress=False)
        assert contents(tmp_path / "full") == contents(tmp_path / "roomy")
    finally:
        subprocess.run(["umount", disk], check=True)


def queue_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for Slurm that starts the jobs on this machine, and its profile."""
    queue = tmp_path / "queue"
    queue.mkdir()
    for name, text in {
        "sbatch": 'cp "$1" "$1.job"; setsid bash "$1.job" >> JOBS.log 2>&1 & echo $! >> JOBS; echo "Submitted job $!"',
        "scancel": 'kill -- "-$1"',
    }.items():
        (queue / name).write_text(f"#!/bin/bash\n{text}\n".replace("JOBS", str(tmp_path / "jobs")))
        (queue / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{queue}:{os.environ['PATH']}")
    profile = tmp_path / "slurm.toml"
    profile.write_text(
        'jobs = 2\ncores = 1\nprocesses = 1\nmemory = "1 GB"\nwalltime = "00:10:00"\ninterface = "lo"\n'
        f'python = "{sys.executable}"\nlocal_directory = "{tmp_path}"\nlog_directory = "{tmp_path}"\n'
    )
    return profile


def test_a_queue_starts_the_workers(
    tmp_path: Path, undisturbed: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = queue_on_this_machine(tmp_path, monkeypatch)
    found = carry_out(busy(), open_store(tmp_path / "store"), Where(cluster="slurm", profile=profile))
    assert found.is_complete
    assert len((tmp_path / "jobs").read_text().split()) == 2
    check(tmp_path, undisturbed)


# A cluster that rejects its arguments also complains when it is collected.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cores = ", "is not valid TOML"),
        ('coresnow = 1\nmemory = "1 GB"', "valid keys are the parameters of SLURMCluster"),
        ("jobs = 1", "valid keys are the parameters of SLURMCluster"),
        ("scheduler_options = 5", "valid keys are the parameters of SLURMCluster"),
        (
            'shared_temp_directory = "/nowhere"',
            "/nowhere: the key of the cluster cannot be written there: No such file",
        ),
    ],
)
def test_bad_profiles(tmp_path: Path, text: str, message: str) -> None:
    profile = tmp_path / "slurm.toml"
    profile.write_text(text)
    with pytest.raises(InputError, match=message):
        carry_out(busy(), open_store(tmp_path / "store"), Where(cluster="slurm", profile=profile))


# --- strangers --------------------------------------------------------------------------------------------------------


def listening(processes: list[int]) -> set[int]:
    """Returns the TCP ports that processes listen on."""
    sockets: set[str] = set()
    for process in processes:
        for file in Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(OSError):
                sockets.add(str(file.readlink()))
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == "0A" and f"socket:[{rest[5]}]" in sockets:
                found.add(int(local.rpartition(":")[2], 16))
    return found


def answered(port: int, *, tls: bool) -> bytes:
    """Returns the reply of a port to a client without a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.suppress(ssl.SSLError, ConnectionError))
        one = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        if tls:
            one = stack.enter_context(context.wrap_socket(one))
        one.sendall(b"GET /health HTTP/1.0\r\n\r\n")
        return one.recv(1000)
    return b""  # type: ignore[unreachable,unused-ignore]


@pytest.mark.skipif(sys.platform != "linux", reason="ports are found in /proc")
@pytest.mark.parametrize("where", ["local:2", "slurm"])
def test_a_cluster_that_is_started_answers_no_strangers(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, study = tmp_path / "store", tmp_path / "study.toml"
    study.write_text(busy().to_toml())
    command = [sys.executable, "-m", "lightlag", "study", "run", str(study), "--cluster", where, "--quiet"]
    command += ["--store", str(store), "--out", str(tmp_path / "out")]
    if where == "slurm":
        command += ["--profile", str(queue_on_this_machine(tmp_path, monkeypatch))]
    client = subprocess.Popen(command)
    try:
        while not keys_written(store):
            assert client.poll() is None
        ports: set[int] = set()
        # The scheduler, two workers, and what watches each of them. The second worker may come after the first result.
        while len(ports) < 5:
            assert client.poll() is None
            jobs = [int(job) for job in (tmp_path / "jobs").read_text().split()] if where == "slurm" else []
            processes = [
                client.pid,
                *descendants(client.pid),
                *jobs,
                *(one for job in jobs for one in descendants(job)),
            ]
            ports = listening(processes)
        for port in ports:
            assert answered(port, tls=False)[:1] in (b"", b"\x15"), "an alert of TLS, or nothing"
            assert answered(port, tls=True) == b""
        keys = [path for path in store.glob(".tls-*/*") if path.is_file()]
        assert len(keys) == (2 if where == "slurm" else 0)
        for path in (*keys, *{key.parent for key in keys}):
            assert path.stat().st_mode & 0o077 == 0
    finally:
        client.terminate()
        client.wait()
    assert not list(store.glob(".tls-*"))


def test_without_the_package_for_certificates_the_error_names_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(InputError, match=r'a cluster needs cryptography for TLS; pip install "lightlag\[cluster\]"'):
        carry_out(small(replications=1), open_store(tmp_path / "store"), Where(cluster="local:1"))
