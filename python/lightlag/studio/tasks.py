"""Processes that make runs, comparisons and studies for clients, and their events."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lightlag.errors import InputError
from lightlag.machine.processors import processors
from lightlag.running.single import MOST_THREADS
from lightlag.studio.places import Places
from lightlag.studio.scenarios import Sent, check_competitors, check_sets, parsed, without_code
from lightlag.studio.studies import looked_through, place_of_store
from lightlag.text.terminal import printable

__all__ = ["Task", "Tasks", "prepared"]

MOST_TASKS = 8
"""Maximum number of simultaneous processes."""
MOST_SEEDS = 1000
MOST_SCENARIOS = 100
PATIENCE_S = 70.0
"""Time limit in seconds for a cancelled process to store its records."""
LONGEST_LINE = 64 << 20
KEPT_ERRORS = 4000
"""Maximum number of characters that are read of a process's error output."""
LAST_SEED = 2**63 - 1
RUN = {"scenario", "format", "files", "base", "seeds", "sets", "duration", "threads", "jobs"}
COMPARE = {
    "scenarios",
    "format",
    "files",
    "base",
    "congestion",
    "vary",
    "replications",
    "seed",
    "sets",
    "duration",
    "jobs",
}
STUDY = {"study", "store", "jobs"}


def prepared(request: Mapping[str, Any], places: Places, base: Path | None) -> dict[str, Any]:
    """Returns the task for a process, from a request; its scenarios or its study must have been checked.

    Parameters
    ----------
    base
        Base directory of file names unless the request sets one.

    Raises
    ------
    InputError, ScenarioError
        If the request cannot be carried out.
    """
    op = request["op"]
    asked = {key: value for key, value in request.items() if key not in ("id", "op")}
    known = {"run": RUN, "compare": COMPARE, "study": STUDY}[op]
    if unknown := sorted(asked.keys() - known):
        raise InputError(f"{printable(unknown[0])}: is not a key of {op}; there are {', '.join(sorted(known))}")
    if op == "study":
        return _study(asked, places)
    start = base if asked.get("base") is None else places.find(asked["base"])
    sent = Sent(places, _mapping(asked, "files"), start)
    task = {"op": op, "results": str(places.results), "duration": asked.get("duration")}
    task["jobs"] = _whole(asked, "jobs", processors(), 1, MOST_THREADS)
    task["sets"] = sets = asked.get("sets") or []
    check_sets(_pairs(sets))
    if not isinstance(task["duration"], str | None):
        raise InputError('duration: is not a time; write "20 s"')

    def tree(text: object) -> dict[str, Any]:
        if not isinstance(text, str):
            raise InputError("scenario: is not a string; send the scenario in TOML or JSON")
        found = parsed(text, "json" if asked.get("format") == "json" else "toml")
        without_code(found)
        return sent.place(found)

    if op == "run":
        seeds = asked.get("seeds") or []
        if not isinstance(seeds, list) or len(seeds) > MOST_SEEDS:
            raise InputError(f"seeds: is not a list of at most {MOST_SEEDS:,} whole numbers")
        task["seeds"] = list(dict.fromkeys(_seed(seed, "seeds") for seed in seeds))
        task["threads"] = _whole(asked, "threads", 1, 1, MOST_THREADS)
        return task | {"scenario": tree(asked.get("scenario"))}
    texts = asked.get("scenarios")
    if not isinstance(texts, list) or not 1 <= len(texts) <= MOST_SCENARIOS:
        raise InputError(f"scenarios: is not a list of 1 to {MOST_SCENARIOS} strings")
    check_competitors(asked.get("congestion"))
    check_sets(_mapping(asked, "vary"), "vary")
    task["seed"] = None if asked.get("seed") is None else _seed(asked["seed"], "seed")
    task["replications"] = _whole(asked, "replications", 10, 1, 1_000_000)
    task |= {"congestion": asked.get("congestion"), "vary": _mapping(asked, "vary")}
    return task | {"scenarios": [tree(text) for text in texts]}


def _study(asked: Mapping[str, Any], places: Places) -> dict[str, Any]:
    """Returns the task for a study in a file of the given directories.

    The process receives the checked values, not the file.
    """
    path = places.find(asked.get("study"))
    if not path.is_file():
        raise InputError(f"{printable(path.name)}: is not a file; name a study file")
    table = looked_through(path, places)
    store = place_of_store(path, places, asked.get("store")) or places.results / "store"
    task = {"op": "study", "results": str(places.results), "table": table, "store": str(store)}
    task |= {"folder": str(path.parent), "name": path.stem}
    return task | {"jobs": _whole(asked, "jobs", processors(), 1, MOST_THREADS)}


class Task:
    """A task and its process. Iterate over it for its events; each is a mapping with ``event``."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._errors = asyncio.create_task(_tail(process))
        self._end: asyncio.Task[None] | None = None

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        assert self._process.stdout is not None, "it is a pipe"
        end: dict[str, Any] | None = None
        try:
            async for line in self._process.stdout:
                event = json.loads(line)
                if event["event"] == "end":
                    # Sent once the process has ended.
                    end = event
                else:
                    yield event
        except ValueError:
            # The line is too long, or not an event of a worker: the rest of the output cannot be read.
            self.kill()
        code = await self._process.wait()
        if end is None:
            yield {"event": "failed", "message": await self._reason(code)}
            end = {"event": "end", "cancelled": self._end is not None}
        yield end

    def cancel(self) -> None:
        """Requests the end of the task; records so far are stored.

        A process that does not stop within a time limit is killed.
        """
        if self._end is None:
            self._end = asyncio.create_task(self._cancelled())

    def kill(self) -> None:
        """Kills the process immediately."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def wait(self) -> None:
        """Waits until the process has ended."""
        await self._process.wait()

    async def _cancelled(self) -> None:
        assert self._process.stdin is not None, "it is a pipe"
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), PATIENCE_S)
        except TimeoutError:
            self.kill()

    async def _reason(self, code: int) -> str:
        said = (await self._errors).strip().splitlines()
        how = f"by signal {-code}" if code < 0 else f"with status {code}"
        why = f": {printable(said[-1])}" if said else ""
        return f"the process of this task ended {how}{why}; results that it had written remain"


class Tasks:
    """The processes of all clients."""

    def __init__(self) -> None:
        self._running: set[Task] = set()
        self._watched: set[asyncio.Task[None]] = set()
        self._starting = 0

    async def start(self, task: Mapping[str, Any]) -> Task:
        """Starts a process with a task.

        Raises
        ------
        InputError
            If the maximum number of processes is reached.
        """
        if len(self._running) + self._starting >= MOST_TASKS:
            raise InputError(f"{MOST_TASKS} tasks run already; wait for one, or cancel one")
        self._starting += 1
        try:
            process = await _process()
        finally:
            self._starting -= 1
        started = Task(process)
        self._running.add(started)
        watch = asyncio.create_task(self._forget(started))
        self._watched.add(watch)
        watch.add_done_callback(self._watched.discard)
        assert process.stdin is not None, "it is a pipe"
        # A process that has ended meanwhile reports the reason.
        with suppress(ConnectionError):
            process.stdin.write(json.dumps(task, default=str).encode() + b"\n")
            await process.stdin.drain()
        return started

    async def close(self) -> None:
        """Cancels all tasks and waits until their records are stored."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*(task.wait() for task in running))

    def kill(self) -> None:
        """Kills all processes immediately."""
        for task in self._running:
            task.kill()

    async def _forget(self, task: Task) -> None:
        await task.wait()
        self._running.discard(task)


async def _process() -> asyncio.subprocess.Process:
    """Starts a process, which waits for its task.

    It imports modules from the same places as this process, not from the current directory.
    """
    package = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "lightlag.studio.worker"),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        limit=LONGEST_LINE,
        env=os.environ | {"PYTHONPATH": path},
        # Ctrl-C reaches it through the server.
        start_new_session=True,
    )


async def _tail(process: asyncio.subprocess.Process) -> str:
    """Returns the last part of a process's error output."""
    assert process.stderr is not None, "it is a pipe"
    text = ""
    while part := await process.stderr.read(65536):
        text = (text + part.decode("utf-8", "replace"))[-KEPT_ERRORS:]
    return text


def _mapping(asked: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = asked.get(key)
    if found is not None and not isinstance(found, dict):
        raise InputError(f"{key}: is not a table of names and values")
    return found or {}


def _pairs(sets: Any) -> list[tuple[str, Any]]:
    pairs = list(sets.items()) if isinstance(sets, dict) else sets
    if not isinstance(pairs, list) or not all(isinstance(one, (list, tuple)) and len(one) == 2 for one in pairs):
        raise InputError('sets: is not a list of pairs; write [["links.0.loss", 1e-4]]')
    return [(str(key), value) for key, value in pairs]


def _whole(asked: Mapping[str, Any], key: str, default: int, least: int, most: int) -> int:
    value = asked.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(f"{key}: {printable(repr(value)):.40} is not a whole number from {least} to {most:,}")
    return value


def _seed(value: Any, key: str) -> int:
    return _whole({key: value}, key, 0, 0, LAST_SEED)
