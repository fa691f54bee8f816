"""Many runs that step together on all cores, as a vector environment of Gymnasium."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector import VectorEnv as Base
from gymnasium.vector.utils import batch_space

from lightlag._renamed import former_keywords
from lightlag.errors import InputError
from lightlag.gym import links
from lightlag.gym.task import FEATURES, Intervals, Source, Task, factors_of
from lightlag.machine.processors import processors
from lightlag.records.source import Live
from lightlag.results.result import Result
from lightlag.text.terminal import printable

__all__ = ["VectorEnv"]


class VectorEnv(Base[np.ndarray, np.ndarray, np.ndarray]):
    """Many runs, each with a flow whose rate or window an agent sets.

    An episode that has ended restarts with the next step, as defined by `AutoresetMode.NEXT_STEP`. An environment has
    the same episodes whatever the number of threads.

    Parameters
    ----------
    num_envs
        Number of environments.
    scenario
        As for :class:`lightlag.gym.Env`, like all other parameters.
    threads
        Number of threads. Defaults to one per processor.

    Examples
    --------
    >>> from lightlag import gym
    >>> envs = gym.VectorEnv(8, steps=50)
    >>> observations, infos = envs.reset(seed=1)
    >>> observations, rewards, terminated, truncated, infos = envs.step(envs.action_space.sample())
    >>> observations.shape, rewards.shape
    ((8, 6), (8,))
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012, the form that Gymnasium reads

    def __init__(
        self, num_envs: int = 1, scenario: Any = links.link, *, threads: int | None = None, **task: Any
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or not 1 <= num_envs <= 1_000_000:
            raise InputError(f"num_envs: {num_envs!r:.40} is not an integer from 1 to 1,000,000")
        is_count = isinstance(threads, int) and not isinstance(threads, bool)
        if threads is not None and not (is_count and 1 <= threads <= 1024):
            raise InputError(f"threads: {threads!r:.40} is not an integer from 1 to 1,024")
        task.pop("render_mode", None)
        self.task = Task(scenario, **task)
        self.num_envs = num_envs
        self.features = tuple(self.task.observe)
        self.single_observation_space = self.task.observation_space()
        self.single_action_space = self.task.action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._source = Source(self.task)
        self._source.check_alone()
        self._shape = (num_envs, len(self.features) * self.task.history)
        self._episodes = self.task.episodes(num_envs, 1, threads or processors())
        self._factors = factors_of(self.task)
        self._flags = np.zeros(num_envs, np.uint8)
        self._randoms: list[np.random.Generator] = []
        self._own = self.task.reward if callable(self.task.reward) else None

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts a run in each environment; ``infos["drawn"]`` has the values drawn for each."""
        seeds = self._seeds(seed)
        if not self._randoms or any(one is not None for one in seeds):
            fresh = [np.random.default_rng(one) for one in seeds]
            kept = self._randoms or fresh
            self._randoms = [new if one is not None else old for one, new, old in zip(seeds, fresh, kept, strict=True)]
        observations = np.zeros(self._shape, np.float32)
        self._flags[:] = 0
        return observations, self._start(range(self.num_envs), observations)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Applies an action in each environment and simulates one monitor interval.

        In an environment whose episode had ended, the next episode starts instead.
        """
        if not self._randoms:
            raise InputError("there are no episodes; call reset first")
        ended = np.flatnonzero(self._flags)
        observations = np.empty(self._shape, np.float32)
        rewards = np.empty(self.num_envs)
        given = np.asarray(actions)
        if given.dtype.kind not in "iuf" or given.size != self.num_envs:
            raise InputError(f"actions: is not an array of {self.num_envs} numbers, one for each environment")
        factors = self._factors(given.reshape(self.num_envs))
        self._episodes.step(factors, observations, rewards, self._flags)
        if self._own is not None:
            rewards = np.array(self._own(self.intervals()), dtype=np.float64)
            rewards[ended] = 0.0
        infos = self._start(ended, observations) if ended.size else {}
        return observations, rewards, self._flags == 1, self._flags == 2, infos

    def intervals(self) -> Intervals:
        """Returns the last monitor intervals, an array for each feature."""
        rows = np.empty((self.num_envs, len(FEATURES)))
        self._episodes.intervals(rows)
        return Intervals(rows.T)

    @former_keywords("VectorEnv.result")
    def result(self, environment: int) -> Result:
        """Ends the episode of an environment now, and returns the results of its run."""
        is_place = isinstance(environment, (int, np.integer)) and 0 <= environment < self.num_envs
        run = self._episodes.finish(environment) if is_place else None
        if run is None:
            raise InputError(f"environment {environment!r:.40} has no episode; call reset first")
        self._flags[environment] = 2
        return Result(Live(run))

    def _seeds(self, seed: Any) -> list[int | None]:
        seeds = [seed] if isinstance(seed, (int, np.integer)) else seed
        is_whole = isinstance(seeds, (list, tuple, np.ndarray)) and all(
            one is None or (isinstance(one, (int, np.integer)) and one >= 0) for one in seeds
        )
        if seed is not None and not is_whole:
            raise InputError(
                f"seed: {printable(repr(seed)):.40} is not an integer of 0 or more, or a list of such integers"
            )
        if seed is None or isinstance(seed, (int, np.integer)):
            return [None if seed is None else int(seed) + at for at in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise InputError(
                f"seed: {len(seed)} seeds for {self.num_envs} environments; give one for each, or a number"
            )
        return list(seed)

    def _start(self, places: Any, observations: np.ndarray) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for at in places:
            drawn = self._source.start(self._episodes, int(at), self._randoms[at], observations[at])
            infos = self._add_info(infos, {"drawn": drawn}, int(at))
        return infos
