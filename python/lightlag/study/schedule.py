"""The remaining runs of a study, in order: seed by seed, and for each seed the longest run first."""

from __future__ import annotations

import hashlib
import heapq
import json
import secrets
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from lightlag import _engine
from lightlag.errors import InputError
from lightlag.outcomes.plan import Cell, Plan, Run, files_of
from lightlag.study.design import Budget, StudyDesign
from lightlag.study.store import Store
from lightlag.study.target import Verdict
from lightlag.study.work import Done, Task

__all__ = ["Schedule", "Shard", "State", "batches"]

GUESS = 0.001
"""Estimated CPU seconds per simulated second, before any run has finished."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard of a study: shard `number` of `count`, counted from 1.

    Runs are assigned to shards in turn, so that every shard has the same number of runs of each cell. With a target,
    entire cells are assigned, because a cell is checked as a unit.
    """

    number: int = 1
    count: int = 1

    @classmethod
    def of(cls, text: str) -> Shard:
        """Parses a shard such as ``"3/16"``.

        Raises
        ------
        InputError
            If it is not a valid shard.
        """
        number, _, count = text.partition("/")
        if not (number.isascii() and number.isdigit() and count.isascii() and count.isdigit()):
            raise InputError(f"--shard: {text!r:.40} is not I/N; write 1/16 for the first of 16")
        if not 1 <= int(number) <= int(count) <= 1_000_000:
            raise InputError(f"--shard: {text!r:.40} is not a share from 1 to N, with N up to 1,000,000")
        return cls(int(number), int(count))

    def seeds(self, cell: int, count: int) -> range:
        """Returns the indices of the seeds that this shard runs for a cell.

        `count` is the number of seeds of the cell, `cell` its index in the plan.
        """
        return range((self.number - 1 - cell) % self.count, count, self.count)

    def has(self, cell: int) -> bool:
        """Returns true if the entire cell at this index belongs to the shard."""
        return cell % self.count == self.number - 1


@dataclass(slots=True)
class State:
    """A cell in progress."""

    cell: Cell
    prior: float
    """Estimated cost before the first run of the cell: its simulated seconds."""
    limit: int
    """Number of seeds to run, as far as known so far."""
    seeds: range
    """Maximum number of seeds, counted from the first seed of the study."""
    next: int = 0
    """Number of seeds that were handed out or found finished."""
    open: int = 0
    """Number of runs of the cell that are in progress."""
    finished: int = 0
    failed: int = 0
    files: dict[str, str] | None = None
    """The files that the cell reads, with their digests, once they were requested."""
    costs: int = 0
    cost_s: float = 0.0
    values: list[float | None] = field(default_factory=list)
    verdict: Verdict | None = None


class Schedule:
    """Hands out runs; updates costs and the numbers of seeds from the runs that end."""

    def __init__(self, study: StudyDesign, store: Store, shard: Shard | None = None, *, dry: bool = False) -> None:
        """With `dry`, it only inspects what has finished: it hands out no runs, and does not enforce the budget."""
        self.plan: Plan = study.plan()
        self.target = study.target
        self.budget: Budget = Budget() if dry else study.budget
        self.store = store
        self.finished = 0
        """Number of finished runs of the study, including runs found in the store."""
        self.found = 0
        """Number of finished runs that were found in the store."""
        self.failures: dict[str, tuple[Run, str]] = {}
        """Runs that failed, by key."""
        self.cpu_s = 0.0
        """CPU time of new runs in seconds."""
        self.left: set[str] = set()
        """Keys of the runs that a dry schedule would hand out."""
        self._start = time.monotonic()
        self._made = 0
        self._cost_s = 0.0
        self._prior = 0.0
        self._open: dict[str, tuple[State, int]] = {}
        limit = self.target.looks[0] if self.target else self.plan.design.replications
        share = Shard() if shard is None else shard
        whole = range(self.plan.design.replications)
        self.states: list[State] = []
        for at, cell in enumerate(self.plan.cells):
            prior = _engine.seconds(str(json.loads(cell.text)["duration"]))
            if self.target is None:
                seeds = share.seeds(at, limit)
                self.states.append(State(cell, prior, len(seeds), seeds))
            elif share.has(at):
                self.states.append(State(cell, prior, limit, whole))
        self.states = [state for state in self.states if state.limit]
        self._total = sum(state.limit for state in self.states)
        self._digests: dict[str, str] = {}
        self._heap: list[tuple[int, float, int, int]] = []
        self._later: deque[tuple[Run, int]] = deque()
        """Runs that are postponed, because another client has started them."""
        self._first = 0 if dry else secrets.randbelow(len(self.states) or 1)
        """Index of the cell that goes first among cells of equal cost.

        Two clients of one store start at different cells.
        """
        self._is_dry = dry
        for at, state in enumerate(self.states):
            self._pass(at)
            if state.next < state.limit:
                self._push(at)
            else:
                self._look(at)
        if dry:
            while (taken := self.take()) is not None:
                self.left.add(taken[1].key)

    @property
    def total(self) -> int:
        """Total number of runs of the study, as far as known so far."""
        return self._total

    @property
    def is_over(self) -> bool:
        """Whether the study is done: no run is left, and none is in progress."""
        return not (self._heap or self._open or self._later)

    @property
    def is_spent(self) -> bool:
        """Whether the budget is spent."""
        budget = self.budget
        return (
            (budget.runs is not None and self._made >= budget.runs)
            or (budget.cpu_s is not None and self.cpu_s >= budget.cpu_s)
            or (budget.wall_s is not None and time.monotonic() - self._start >= budget.wall_s)
        )

    def cost(self, state: State) -> float:
        """Estimates the CPU seconds of a run of a cell: measured in this cell, or in proportion to simulated time."""
        return state.cost_s / state.costs if state.costs else state.prior * self._ratio

    @property
    def has_costs(self) -> bool:
        """Whether a new run has finished, so that costs are measured."""
        return self._prior > 0

    @property
    def _ratio(self) -> float:
        """CPU seconds per simulated second, over all new runs."""
        return self._cost_s / self._prior if self._prior else GUESS

    def left_s(self) -> float:
        """Returns the estimated CPU seconds of the remaining runs, including the ones in progress."""
        return sum(self.cost(state) * (state.limit - state.next + state.open) for state in self.states)

    def take(self) -> tuple[Run, Task] | None:
        """Returns the next run; None if there is none now: all are in progress or finished, or the budget is spent."""
        while not self.is_spent:
            if self._heap:
                at = heapq.heappop(self._heap)[-1]
                state = self.states[at]
                run = self._next(state)
                state.next += 1
                state.open += 1
                if state.next < state.limit:
                    self._push(at)
                may_wait = True
            elif self._later:
                run, at = self._later.popleft()
                may_wait = False
            else:
                return None
            task = self._begin(run, at, may_wait=may_wait)
            if task is not None:
                return run, task
        return None

    def _begin(self, run: Run, at: int, *, may_wait: bool) -> Task | None:
        """Returns the task of a run; None if it has finished, or if it is postponed.

        A run is postponed if another client has started it and other runs can come first.
        """
        state, key = self.states[at], run.key
        self.store.glance()
        if key in self.store:
            state.open -= 1
            self._find(at, key)
            self._look(at)
            return None
        if not self._is_dry and not self.store.claim(key) and may_wait:
            self._later.append((run, at))
            return None
        self._made += 1
        self._open[key] = (state, at)
        return Task(key, state.cell.text, run.seed, self.budget.run_s, self._files(state))

    def done(self, run: Run, done: Done) -> None:
        """Records a run that has ended."""
        state, at = self._open.pop(done.key)
        self.store.release(done.key)
        state.open -= 1
        self.cpu_s += done.cost_s
        if done.failure is not None:
            state.failed += 1
            self.failures[done.key] = (run, done.failure)
        else:
            if done.cost_s:
                state.costs += 1
                state.cost_s += done.cost_s
                self._cost_s += done.cost_s
                self._prior += state.prior
            self._count(at, done.value)
        self._look(at)

    def expected(self, key: str) -> float:
        """Returns the expected CPU seconds of a run that was handed out."""
        return self.cost(self._open[key][0])

    def give_back(self, key: str) -> None:
        """Releases a run that was handed out but will not be made now."""
        if (found := self._open.pop(key, None)) is not None:
            found[0].open -= 1
            self.store.release(key)

    def release(self) -> None:
        """Releases all runs that were handed out, so that other clients need not wait for them."""
        for key in list(self._open):
            self.give_back(key)

    def _next(self, state: State) -> Run:
        return Run(state.cell, self.plan.design.seed + state.seeds[state.next])

    def _pass(self, at: int) -> None:
        """Skips the next runs of a cell that have already finished."""
        state = self.states[at]
        while state.next < state.limit and (key := self._next(state).key) in self.store:
            state.next += 1
            self._find(at, key)

    def _find(self, at: int, key: str) -> None:
        self.found += 1
        self._count(at, None if self.target is None else self.store.value(key, self.target.metric))

    def _push(self, at: int) -> None:
        state = self.states[at]
        place = (at - self._first) % len(self.states)
        heapq.heappush(self._heap, (state.next, -self.cost(state), place, at))

    def _count(self, at: int, value: float | None) -> None:
        self.finished += 1
        self.states[at].finished += 1
        if self.target is not None:
            self.states[at].values.append(value)

    def _look(self, at: int) -> None:
        """Checks a cell once all its runs have ended: it stops, or continues to the next check."""
        state = self.states[at]
        if self.target is None or state.open or state.next < state.limit:
            return
        state.verdict = self.target.judge(state.values, state.limit)
        if not state.verdict.is_over:
            following = next(look for look in self.target.looks if look > state.limit)
            self._total += following - state.limit
            state.limit = following
            self._push(at)
            self._check_budget()

    def _check_budget(self) -> None:
        """Fails if the target takes more runs than the budget has.

        This is decided as soon as every cell was checked once.

        Raises
        ------
        InputError
            If it does; the message has the number of runs that the target would take.
        """
        if self.target is None or self.budget.runs is None or any(state.verdict is None for state in self.states):
            return
        needed = sum(self._needed(state) for state in self.states)
        left = needed - self.finished
        if left > max(0, self.budget.runs - self._made):
            raise InputError(
                f"until: {self.target.text} takes about {needed:,} runs, as they spread so far, {left:,} more than "
                f"have finished; budget.runs = {self.budget.runs:,} is too little; allow more, or a wider interval"
            )

    def _needed(self, state: State) -> int:
        assert self.target is not None
        verdict = state.verdict
        if verdict is None or verdict.is_over or verdict.seeds_needed is None:
            return state.limit
        return min(self.target.max_seeds, max(state.limit, verdict.seeds_needed))

    def _files(self, state: State) -> dict[str, str]:
        """Returns the files that a cell reads, with their digests."""
        if state.files is None:
            state.files = {}
            for path in files_of(json.loads(state.cell.text)):
                name = str(path)
                if name not in self._digests:
                    self._digests[name] = hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
                state.files[name] = self._digests[name]
        return state.files


def batches(schedule: Schedule, seconds: float, max_runs: int) -> Iterator[list[tuple[Run, Task]]]:
    """Yields runs in batches of about `seconds` each, as far as their cost is known."""
    while True:
        batch: list[tuple[Run, Task]] = []
        total = 0.0
        while total < seconds and len(batch) < max_runs and (taken := schedule.take()) is not None:
            batch.append(taken)
            total += schedule.expected(taken[1].key)
        if not batch:
            return
        yield batch
