"""Workers of a dask cluster: an existing one, one on this machine, or one that a batch system starts (Slurm, PBS, SGE).

Any client that reaches a dask scheduler can run code as its user. A cluster started here therefore uses TLS with a
certificate that only its processes have, and has no HTTP servers.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import re
import secrets
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from lightlag import _engine, _signals
from lightlag.errors import InputError
from lightlag.files.input import read_text
from lightlag.machine.processors import processors
from lightlag.study import work
from lightlag.study.executors.batched import Batched, WorkerDiedError
from lightlag.study.store import CLAIMS, Store
from lightlag.study.work import Batch, Done
from lightlag.text.terminal import printable, say

__all__ = ["cluster"]

REACH_S = 10.0
"""Time limit in seconds for the reply of a scheduler."""
START_S = 120.0
"""Time limit in seconds for the first worker of a scheduler."""
LOOK_S = 1.0
"""Seconds between two checks of a batch system, which may take hours to start the first worker."""
QUEUES = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "sge": "SGECluster"}
WITHOUT_DASHBOARD = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
"""Options of a scheduler: its HTTP server, which is closed immediately, does not take a port that others may need."""
ALLOWED_DEATHS = 0
"""Number of times that the scheduler repeats a batch after its worker died.

The client that handed out the batch repeats it instead, without the runs that have finished.
"""


@contextmanager
def cluster(where: str, profile: Any, store: Store) -> Iterator[Batched]:
    """Yields the workers of a cluster.

    Parameters
    ----------
    where
        ``tcp://HOST:PORT`` or ``tls://...`` of a scheduler, ``local``, ``local:N``, ``slurm``, ``pbs`` or ``sge``.
    profile
        A TOML file for a batch system: the arguments of its class in dask-jobqueue, and ``jobs``.

    Raises
    ------
    InputError
        If the cluster cannot be reached or started, or if a worker has another engine.
    """
    try:
        import dask
        import distributed
    except ImportError:
        raise InputError('a cluster needs dask.distributed; pip install "lightlag[cluster]"') from None
    settings: dict[str, Any] = {
        "distributed.scheduler.allowed-failures": ALLOWED_DEATHS,
        "distributed.admin.tick.limit": "1h",
    }
    is_ours = "://" not in where
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(settings))
        address: Any = where
        if is_ours:
            address = stack.enter_context(_started(where, profile, store))
        elif profile is not None:
            raise InputError("profile: is for a queue; name it with --cluster slurm, pbs or sge")
        try:
            if not is_ours:
                _knock(where)
            client = stack.enter_context(distributed.Client(address, timeout=REACH_S, set_as_default=False))
        except (OSError, ValueError, TimeoutError, OverflowError, ImportError, RuntimeError) as error:
            raise InputError(
                f'{printable(where)}: no scheduler replies: {printable(error)}; start one with "dask scheduler", or '
                "name --cluster local"
            ) from None
        has_dashboard = not is_ours or address.scheduler_spec["options"].get("dashboard") is not False
        if is_ours:
            from lightlag.study.executors.http import close_servers

            close_servers(client, keep_dashboard=has_dashboard)
        if has_dashboard and (link := client.dashboard_link):
            say(f"dashboard: {link}", file=sys.stderr)
        yield Batched(Workers(client, store, where))


def _knock(address: str) -> None:
    """Connects to a scheduler as dask does, and closes the connection.

    If there is no scheduler, a dask client waits for ever if its connection is accepted, and otherwise keeps this
    process alive for seconds after the error.

    Raises
    ------
    OSError, TimeoutError
        If no scheduler answers within `REACH_S`.
    ValueError
        If it is not a valid address.
    """
    from distributed.comm import connect
    from distributed.security import Security

    async def knock() -> None:
        try:
            # It tries again until the time is over: a scheduler may be about to start.
            comm = await connect(address, timeout=REACH_S, **Security().get_connection_args("client"))
        except TypeError:
            raise ValueError("TLS needs certificates; name them in the configuration of dask") from None
        comm.abort()

    async def knock_in_time() -> None:
        try:
            await asyncio.wait_for(knock(), REACH_S)
        except TimeoutError:
            raise TimeoutError(f"no reply within {REACH_S:g} s") from None

    # A notebook has an event loop in its thread.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, knock_in_time()).result()


@contextmanager
def _started(where: str, profile: Any, store: Store) -> Iterator[Any]:
    """Yields a cluster that ends with the study."""
    kind, _, count = where.partition(":")
    if kind == "local" and re.fullmatch(r"(?!0)\d{1,4}|", count):
        from distributed import LocalCluster

        if profile is not None:
            raise InputError("profile: is for a queue; name it with --cluster slurm, pbs or sge")
        workers = int(count) if count else processors()
        options = {"n_workers": workers, "threads_per_worker": 1, "scheduler_kwargs": WITHOUT_DASHBOARD}
        # The directory that dask shares among users could be another one's.
        with (
            tempfile.TemporaryDirectory(prefix="lightlag-dask-") as directory,
            LocalCluster(**options, local_directory=directory, security=_security()) as local,
        ):
            yield local
        return
    if kind not in QUEUES or count:
        raise InputError(
            f'"{printable(where)}": is not a cluster; write tls:// or tcp://HOST:PORT, local, local:4, '
            f"{', '.join(QUEUES)}"
        )
    if profile is None:
        raise InputError(
            f"{kind}: the resources of a worker are missing; name a file with --profile, see docs/studies.md"
        )
    table = _profile(Path(profile))
    try:
        import dask_jobqueue
    except ImportError:
        raise InputError('queues need dask-jobqueue; pip install "lightlag[cluster]"') from None
    jobs = table.pop("jobs", 1)
    with ExitStack() as stack:
        if table.get("protocol", "tls://") == "tls://":
            directory = table.pop("shared_temp_directory", store.address if store.files.can_append else Path.cwd())
            table["security"] = stack.enter_context(_kept(_security(), directory))
        try:
            # Anyone may read a dashboard; a profile may ask for one.
            asked = table.get("scheduler_options", {})
            table["scheduler_options"] = asked if "dashboard_address" in asked else WITHOUT_DASHBOARD | asked
            workers = stack.enter_context(getattr(dask_jobqueue, QUEUES[kind])(**table))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{printable(profile)}: {printable(error)}; valid keys are the parameters of {QUEUES[kind]}"
            ) from None
        workers.scale(jobs=jobs)
        yield workers


def _security() -> Any:
    """Returns the certificates that dask is configured with, or new ones.

    Raises
    ------
    InputError
        If the package that creates certificates is missing.
    """
    import dask
    from distributed.security import Security

    if dask.config.get("distributed.comm.tls.ca-file"):
        return Security(require_encryption=True)
    try:
        return Security.temporary()
    except ImportError:
        raise InputError('a cluster needs cryptography for TLS; pip install "lightlag[cluster]"') from None


@contextmanager
def _kept(security: Any, parent: Any) -> Iterator[Any]:
    """Yields the certificates in files that only this user can read, where the jobs of a batch system find them.

    Raises
    ------
    InputError
        If the files cannot be written.
    """
    from distributed.security import Security

    if "\n" not in (security.tls_worker_key or ""):
        # They are in files.
        yield security
        return
    roles = ("client", "scheduler", "worker")
    try:
        directory = tempfile.TemporaryDirectory(prefix=".tls-", dir=parent)
    except (OSError, TypeError) as error:
        reason = printable(getattr(error, "strerror", None) or error)
        raise InputError(f"{printable(parent)}: the key of the cluster cannot be written there: {reason}") from None
    with directory:
        names = {"cert": Path(directory.name) / "cert.pem", "key": Path(directory.name) / "key.pem"}
        for kind, path in names.items():
            path.touch(0o600)
            path.write_text(getattr(security, f"tls_worker_{kind}"), "ascii")
        files = {f"tls_{role}_{kind}": str(path) for role in roles for kind, path in names.items()}
        yield Security(require_encryption=True, tls_ca_file=str(names["cert"]), **files)


def _profile(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except OSError as error:
        raise InputError(
            f"{printable(path)}: cannot read: {error.strerror or error}; name a file with --profile"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{printable(path)}: is not valid TOML: {printable(error)}") from None


class Workers:
    """The workers of a scheduler."""

    def __init__(self, client: Any, store: Store, where: str) -> None:
        self._client = client
        self._where = where
        self._tokens: dict[str, Any] = {}
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._wait_for_one()
        builds: dict[str, str] = self._ask(lambda: client.run(work.build))
        for worker, build in sorted(builds.items()):
            if build != _engine.__build__:
                raise InputError(
                    f"worker {worker} has lightlag {build}, and this process has {_engine.__build__}; install the "
                    "same one there"
                )
        self.workers = sum(self._ask(client.nthreads).values())
        self.place = store.address if self._shares(store) else ""

    def _wait_for_one(self) -> None:
        """Waits for the first worker.

        Raises
        ------
        InputError
            If the scheduler has no workers, or if the wait for a batch system is interrupted.
        """
        is_queue = self._where in QUEUES
        until = time.monotonic() + START_S
        if is_queue:
            say("waiting for the queue to start the first job", file=sys.stderr)
        while not self._ask(self._client.nthreads):
            if _signals.asked():
                raise InputError(f"{self._where}: no job had started; the same command submits them again")
            if not is_queue and time.monotonic() > until:
                raise InputError(f'{printable(self._where)}: has no worker; start some with "dask worker"')
            time.sleep(LOOK_S if is_queue else 0.05)

    def _shares(self, store: Store) -> bool:
        """Returns true if every worker can access the store."""
        name = f"probe-{secrets.token_hex(8)}"
        store.files.write(f"{CLAIMS}/{name}", b"")
        try:
            return all(self._ask(lambda: self._client.run(work.sees, store.address, name)).values())
        finally:
            store.files.remove(f"{CLAIMS}/{name}")

    def _ask(self, question: Callable[[], Any]) -> Any:
        """Returns the scheduler's reply to a request.

        Raises
        ------
        InputError
            If the scheduler is gone.
        """
        try:
            return question()
        except (OSError, TimeoutError) as error:
            raise self._gone(error) from None

    def _gone(self, error: Exception) -> InputError:
        return InputError(
            f"{printable(self._where)}: the scheduler no longer replies: {printable(error)}; finished runs are "
            "stored; run the same command to resume"
        )

    def submit(self, batch: Batch, *, apart_from: Any = None) -> Any:
        """Hands out a batch."""
        options: dict[str, Any] = {}
        if apart_from is not None:
            busy = {worker for worker, keys in self._ask(self._client.processing).items() if apart_from.key in keys}
            others = sorted(self._ask(self._client.nthreads).keys() - busy)
            if others:
                options["workers"] = others
        name = f"lightlag-{secrets.token_hex(8)}"
        token = self._client.submit(work.work, batch, key=name, pure=False, **options)
        token.add_done_callback(lambda _: self._ended.put(name))
        self._tokens[name] = token
        return token

    def wait(self, tokens: list[Any], seconds: float) -> list[Any]:
        """Waits for at most `seconds`; returns the batches that have ended."""
        if self._client.status not in ("running", "connecting"):
            raise self._gone(ConnectionError("the connection is closed"))
        ended = []
        with contextlib.suppress(queue.Empty):
            ended.append(self._ended.get(timeout=seconds))
            while True:
                ended.append(self._ended.get_nowait())
        return [token for name in ended if (token := self._tokens.pop(name, None)) is not None]

    def result(self, token: Any) -> list[Done]:
        """Returns the runs of a batch that has ended."""
        from concurrent.futures import CancelledError

        from distributed import CancelledError as DaskCancelledError
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        try:
            found: list[Done] = token.result(timeout=REACH_S)
        except (KilledWorker, CancelledError, DaskCancelledError):
            raise WorkerDiedError from None
        except (CommClosedError, TimeoutError) as error:
            raise self._gone(error) from None
        return found

    def stop(self, batches: Collection[str]) -> None:
        """Stops the runs of batches with these names, also on workers that other clients share."""
        with contextlib.suppress(OSError, TimeoutError, RuntimeError):
            self._client.run(work.stop, batches)

    def forget(self, token: Any) -> None:
        """Discards a batch whose result is not needed."""
        self._tokens.pop(token.key, None)
        token.cancel()
