"""Several agents in one run, as a parallel environment of PettingZoo."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.utils import seeding

from lightlag.errors import InputError
from lightlag.gym.task import FEATURES, Intervals, Source, Task, factor_of
from lightlag.records.source import Live
from lightlag.results.result import Result

try:
    from pettingzoo import ParallelEnv as Base
except ImportError:
    raise InputError(
        "lightlag.gym.parallel_env needs PettingZoo, which is not installed; pip install 'lightlag[gym]'"
    ) from None

__all__ = ["ParallelEnv"]


class ParallelEnv(Base):  # type: ignore[type-arg, misc, unused-ignore]
    """Flows of one run, each with an agent that sets its rate or window.

    Agents are the flows of the scenario with ``congestion="steered"``, by their names. All act at the same times. A
    flow that has not started yet ignores its actions, and observes zeros.

    Parameters
    ----------
    scenario
        As for :class:`lightlag.gym.Env`, like all other parameters.

    Examples
    --------
    >>> import lightlag as ll
    >>> from lightlag import gym
    >>> net = ll.presets.dumbbell(pairs=3, congestion="steered")
    >>> env = gym.parallel_env(net, steps=10)
    >>> observations, infos = env.reset(seed=1)
    >>> len(observations)
    3
    """

    metadata = {"name": "lightlag_v0", "render_modes": []}  # noqa: RUF012, the form that PettingZoo reads

    def __init__(self, scenario: Any, **task: Any) -> None:
        self.render_mode = task.pop("render_mode", None)
        self.task = Task(scenario, **task)
        self.features = tuple(self.task.observe)
        self._source = Source(self.task)
        self.possible_agents = list(self._source.flows)
        self.agents: list[str] = []
        self.observation_spaces = {name: self.task.observation_space() for name in self.possible_agents}
        self.action_spaces = {name: self.task.action_space() for name in self.possible_agents}
        count = len(self.possible_agents)
        self._episodes = self.task.episodes(1, count, 1)
        self._factor = factor_of(self.task)
        self._rewards, self._flags = np.zeros(count), np.zeros(count, np.uint8)
        self._shape = (count, len(self.features) * self.task.history)
        self._random: np.random.Generator | None = None
        self._own = self.task.reward if callable(self.task.reward) else None

    def observation_space(self, agent: str) -> Any:
        """Returns the observation space of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Returns the action space of an agent."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts a run and advances it until the first flow starts to send."""
        if seed is not None or self._random is None:
            self._random, _ = seeding.np_random(seed)
        observations = np.empty(self._shape, np.float32)
        drawn = self._source.start(self._episodes, 0, self._random, observations)
        self.agents = list(self.possible_agents)
        return dict(zip(self.agents, observations, strict=True)), {name: {"drawn": drawn} for name in self.agents}

    def step(self, actions: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Applies the actions of the agents and simulates one monitor interval.

        Agents whose transfer has ended are removed from `agents`.
        """
        observations = np.empty(self._shape, np.float32)
        factors = np.ones(len(self.possible_agents))
        for at, name in enumerate(self.possible_agents):
            if name in actions:
                factors[at] = self._factor(actions[name])
        self._episodes.step(factors, observations, self._rewards, self._flags)
        rewards = self._rewards if self._own is None else self._judge(self._own)
        on = [(at, name) for at, name in enumerate(self.possible_agents) if name in self.agents]
        self.agents = [name for at, name in on if not self._flags[at]]
        return (
            {name: observations[at] for at, name in on},
            {name: float(rewards[at]) for at, name in on},
            {name: bool(self._flags[at] == 1) for at, name in on},
            {name: bool(self._flags[at] == 2) for at, name in on},
            {name: {} for _, name in on},
        )

    def result(self) -> Result:
        """Ends the episode now, and returns the results of its run."""
        run = self._episodes.finish(0)
        if run is None:
            raise InputError("there is no episode; call reset first")
        self.agents = []
        return Result(Live(run))

    def _judge(self, reward: Any) -> np.ndarray:
        rows = np.empty((len(self.possible_agents), len(FEATURES)))
        self._episodes.intervals(rows)
        return np.broadcast_to(np.asarray(reward(Intervals(rows.T)), dtype=np.float64), len(rows))
