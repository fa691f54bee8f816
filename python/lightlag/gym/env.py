"""One agent in one run, as a Gymnasium environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from lightlag.errors import InputError
from lightlag.gym import links
from lightlag.gym.task import FEATURES, Intervals, Source, Task, factor_of
from lightlag.records.source import Live
from lightlag.results.result import Result

__all__ = ["Env"]


class Env(gymnasium.Env[np.ndarray, Any]):
    """A flow whose rate or window an agent sets.

    Parameters
    ----------
    scenario
        As in :class:`lightlag.gym.Task`, like all other parameters; by default :func:`lightlag.gym.links.link`.
    render_mode
        "rgb_array" for an image of the episode so far, "ansi" for a line of text.

    Raises
    ------
    InputError
        If a parameter is not valid; the message names it.
    ScenarioError
        If the scenario cannot be run.

    Examples
    --------
    >>> import lightlag as ll
    >>> from lightlag import gym
    >>> env = gym.Env(ll.presets.geo(), observe=["delivery", "loss"], vary={"links.1.loss": [0, 0.01]})
    >>> observation, info = env.reset(seed=1)
    >>> observation.shape, info["drawn"]
    ((2,), {'links.1.loss': '0.00511822'})
    """

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 4}  # noqa: RUF012, the form that Gymnasium reads

    def __init__(self, scenario: Any = links.link, *, render_mode: str | None = None, **task: Any) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"render_mode: {render_mode!r:.40} is not one of rgb_array, ansi")
        self.task = Task(scenario, **task)
        self.render_mode = render_mode
        self.features = tuple(self.task.observe)
        self.observation_space = self.task.observation_space()
        self.action_space = self.task.action_space()
        self._source = Source(self.task)
        self._source.check_alone()
        self._episodes = self.task.episodes(1, 1, 1)
        self._factor = factor_of(self.task)
        self._factors, self._rewards, self._flags = np.ones(1), np.zeros(1), np.zeros(1, np.uint8)
        self._width = self.observation_space.shape[0]
        self._own = self.task.reward if callable(self.task.reward) else None
        self._course: list[np.ndarray] | None = [] if render_mode else None
        self._has_started = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts a run and advances it until the flow starts to send.

        ``info["drawn"]`` has the values that were drawn for the keys that vary. The same `seed` gives the same
        episodes.
        """
        super().reset(seed=seed)
        observation = np.empty(self._width, np.float32)
        drawn = self._source.start(self._episodes, 0, self.np_random, observation)
        self._has_started = True
        if self._course is not None:
            self._course = [self._row()]
        return observation, {"drawn": drawn}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Applies an action and simulates one monitor interval.

        The episode terminates when the transfer of the flow finishes, and is truncated after its number of steps or at
        the end of the scenario's duration.
        """
        if not self._has_started:
            raise InputError("there is no episode; call reset first")
        observation = np.empty(self._width, np.float32)
        self._factors[0] = self._factor(action)
        self._episodes.step(self._factors, observation, self._rewards, self._flags)
        flag = self._flags[0]
        reward = float(self._rewards[0] if self._own is None else self._own(Intervals(self._row())))
        if self._course is not None:
            self._course.append(self._row())
        return observation, reward, bool(flag == 1), bool(flag == 2), {}

    def interval(self) -> dict[str, float]:
        """Returns the last monitor interval, with all of :data:`lightlag.gym.FEATURES`."""
        return dict(zip(FEATURES, self._row().tolist(), strict=True))

    def result(self) -> Result:
        """Ends the episode now, and returns the results of its run: flows, links, traces, figures."""
        run = self._episodes.finish(0)
        if run is None:
            raise InputError("there is no episode; call reset first")
        return Result(Live(run))

    def render(self) -> Any:
        """Returns the episode so far: delivery rate, round-trip time and losses over time."""
        if self._course is None:
            return None
        from lightlag.gym import picture

        return picture.draw(self._course) if self.render_mode == "rgb_array" else picture.line(self._course)

    def _row(self) -> np.ndarray:
        row = np.empty(len(FEATURES))
        self._episodes.intervals(row)
        return row
