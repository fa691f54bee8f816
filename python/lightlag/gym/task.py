"""The observations and actions of agents, and their runs: shared by all environments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces

from lightlag import _engine
from lightlag.errors import InputError, ScenarioError
from lightlag.outcomes.variables import text_of
from lightlag.scenario import ScenarioLike, read_scenario
from lightlag.study.sampling import Range
from lightlag.text.terminal import printable

__all__ = ["FEATURES", "REWARDS", "Intervals", "Reward", "Task"]

FEATURES: dict[str, str] = {
    name: f"{meaning} ({unit})" if unit else meaning for name, unit, _, _, meaning in _engine.gym_features()
}
"""Values that an agent can observe, with their meanings."""
REWARDS: tuple[str, ...] = tuple(_engine.gym_rewards())
"""Rewards of published learners: Aurora's, Orca's, and the utility of PCC Vivace."""

STEERED = _engine.let_flows_be_steered()
"""The congestion control of flows that agents steer."""

Reward: TypeAlias = "str | Callable[[Intervals], Any] | None"

_RANGES = {name: (low, high) for name, _, low, high, _ in _engine.gym_features()}
_OBSERVED = ("rtt_gradient", "rtt_ratio", "send_ratio", "delivery", "loss", "inflight_ratio")
_MOST_STEPS = 2**31
_MOST_SECONDS = 1e6
_MOST_HISTORY = 10_000


class Intervals:
    """The last monitor interval of an agent: each of :data:`FEATURES` is an attribute.

    In a vector environment the attributes are arrays with a number for each environment, so a reward that is written
    with the operators and functions of NumPy serves both.
    """

    def __init__(self, columns: Any) -> None:
        for name, column in zip(FEATURES, columns, strict=True):
            setattr(self, name, column)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"an interval has no {printable(name)}; it has {', '.join(FEATURES)}")


@dataclass(frozen=True, slots=True)
class Task:
    """The observations and actions of agents.

    Attributes
    ----------
    scenario
        As for :func:`lightlag.run`, or a function that returns one. Agents steer its flows with
        ``congestion="steered"``; if there are none, the first flow that is listed.
    observe
        Names from :data:`FEATURES`.
    history
        Number of monitor intervals in an observation; the newest is last.
    action
        Controlled quantity: "rate", the pacing rate, with a window that does not limit it; or "window".
    gain
        An action `a` from -1 to 1 multiplies by ``1 + gain * a``, and a negative one divides by ``1 - gain * a``
        (Aurora, Jay et al. 2019, equation 1; there 0.025).
    factors
        Factors of discrete actions, used instead of `gain`, such as ``(0.5, 0.9, 1, 1.1, 2)``.
    interval
        Duration of a step: a time such as "20 ms", or a number of round trips such as "1 rtt". The round trip is the
        mean of the last step; with several agents, the shortest of their means.
    steps
        Number of steps of an episode, which is then truncated.
    reward
        A name from :data:`REWARDS`, or a function of :class:`Intervals`.
    vary
        Keys of the scenario that are drawn again for each episode, each with a range ``["1 ms", "300 ms"]``, a table
        ``{"from": "1 Mbit/s", "to": "1 Gbit/s", "scale": "log"}``, a tuple of values, or a function of a
        :class:`numpy.random.Generator`.
    """

    scenario: ScenarioLike | Callable[[], ScenarioLike]
    observe: Sequence[str] = _OBSERVED
    history: int = 1
    action: str = "rate"
    gain: float = 0.25
    factors: Sequence[float] | None = None
    interval: str = "1 rtt"
    steps: int = 400
    reward: Reward = "aurora"
    vary: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        _one_of("action", self.action, ("rate", "window"))
        if isinstance(self.observe, str) or not isinstance(self.observe, Sequence) or not self.observe:
            raise InputError("observe: is not a list of features; write one such as ['delivery', 'loss']")
        for name in self.observe:
            _one_of("observe", name, tuple(FEATURES))
        if not callable(self.reward):
            _one_of("reward", self.reward, REWARDS)
        _whole("history", self.history, _MOST_HISTORY)
        _whole("steps", self.steps, _MOST_STEPS)
        if self.factors is None:
            _number("gain", self.gain, 0, 100)
        elif not isinstance(self.factors, (Sequence, np.ndarray)) or not len(self.factors):
            raise InputError("factors: is empty; write factors such as (0.9, 1, 1.1)")
        for factor in () if self.factors is None else self.factors:
            _number("factors", factor, 0, 1e6)
        self.length()
        self.ranges()

    def length(self) -> tuple[float, bool]:
        """Returns the length of a step: a number, and whether it is in seconds rather than in round trips."""
        text = str(self.interval).strip()
        if text.endswith("rtt"):
            try:
                number = float(text.removesuffix("rtt"))
            except ValueError:
                number = math.nan
            return _number("interval", number, 0, 1e3, "write a number of round trips such as 1 rtt"), False
        try:
            seconds = _engine.seconds(text)
        except ValueError as error:
            raise InputError(f"interval: {error}; or write a number of round trips such as 1 rtt") from None
        return _number("interval", seconds, 0, _MOST_SECONDS, "write a time such as 20 ms"), True

    def ranges(self) -> dict[str, Callable[[np.random.Generator], str]]:
        """Returns a function for each key that varies, which draws a random value."""
        vary = {} if self.vary is None else self.vary
        if not isinstance(vary, Mapping) or not all(isinstance(key, str) for key in vary):
            raise InputError("vary: is not a table of keys and ranges; write {'links.0.loss': [0, 0.01]}")
        return {key: _draw(key, given) for key, given in vary.items()}

    def observation_space(self) -> spaces.Box:
        """Returns the observation space: `history` consecutive rows of features."""
        low, high = (np.tile(np.array([_RANGES[name][end] for name in self.observe]), self.history) for end in (0, 1))
        return spaces.Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)

    def action_space(self) -> spaces.Space[Any]:
        """Returns the action space: a number from -1 to 1, or an index of `factors`."""
        if self.factors is None:
            return spaces.Box(-1.0, 1.0, (1,), dtype=np.float32)
        return spaces.Discrete(len(self.factors))

    def episodes(self, places: int, agents: int, threads: int) -> _engine.Episodes:
        """Returns slots for episodes in the engine."""
        length, in_seconds = self.length()
        reward = None if callable(self.reward) else self.reward
        is_rate = self.action == "rate"
        return _engine.Episodes(
            places, agents, threads, is_rate, length, in_seconds, reward, self.steps, list(self.observe), self.history
        )


class Source:
    """The runs of a task."""

    def __init__(self, task: Task) -> None:
        scenario = task.scenario() if callable(task.scenario) else task.scenario
        read = read_scenario(scenario)
        self.flows = read.flows_with(STEERED)
        if not self.flows:
            read = read_scenario(scenario, [("flows.0.congestion", STEERED)])
            self.flows = read.flows_with(STEERED)
        self._text = read.json()
        self._draws = task.ranges()
        # Every key can be set, at least once.
        self._draw(np.random.default_rng(0))

    def check_alone(self) -> None:
        """Fails if there is more than one flow to steer."""
        if len(self.flows) != 1:
            raise InputError(
                f'the scenario has {len(self.flows)} flows with congestion = "{STEERED}": an environment controls one; '
                "use lightlag.gym.parallel_env for several"
            )

    def start(
        self, episodes: _engine.Episodes, place: int, random: np.random.Generator, observations: np.ndarray
    ) -> dict[str, str]:
        """Starts an episode in a slot, with its own seed. Returns the values that were drawn for it."""
        scenario, drawn = self._draw(random)
        try:
            episodes.start(place, scenario, self.flows, observations)
        except ScenarioError:
            raise
        except ValueError as error:
            raise InputError(str(error)) from None
        return drawn

    def _draw(self, random: np.random.Generator) -> tuple[_engine.Scenario, dict[str, str]]:
        drawn = {key: draw(random) for key, draw in self._draws.items()}
        seed = str(int(random.integers(2**53)))
        return _engine.parse(self._text, "json", [*drawn.items(), ("seed", seed)]), drawn


def factor_of(task: Task) -> Callable[[Any], float]:
    """Returns a function that converts an action to the factor of the rate or the window."""
    if task.factors is None:
        gain = task.gain

        def factor(action: Any) -> float:
            try:
                number = float(np.asarray(action).item())
            except (TypeError, ValueError):
                number = math.nan
            if number >= 0.0:
                return 1.0 + gain * min(number, 1.0)
            if number < 0.0:
                return 1.0 / (1.0 + gain * min(-number, 1.0))
            raise InputError("action: is not a number; write one from -1 to 1")

        return factor
    factors = [float(one) for one in task.factors]

    def chosen(action: Any) -> float:
        if not isinstance(action, (int, np.integer)) and not (isinstance(action, np.ndarray) and action.ndim == 0):
            raise InputError(_no_choice(action, len(factors)))
        if not 0 <= action < len(factors):
            raise InputError(_no_choice(action, len(factors)))
        return factors[int(action)]

    return chosen


def factors_of(task: Task) -> Callable[[np.ndarray], Any]:
    """Returns a function that converts the actions of all environments to such factors."""
    if task.factors is None:
        gain = task.gain

        def each(actions: np.ndarray) -> Any:
            if np.isnan(actions).any():
                raise InputError(f"action of environment {int(np.isnan(actions).argmax())}: is not a number")
            steps = 1.0 + gain * np.minimum(np.abs(actions, dtype=np.float64), 1.0)
            np.divide(1.0, steps, out=steps, where=actions < 0.0)
            return steps

        return each
    factors = np.array(task.factors, dtype=np.float64)

    def chosen(actions: np.ndarray) -> Any:
        if actions.dtype.kind not in "iu" or actions.min() < 0 or actions.max() >= len(factors):
            raise InputError(_no_choice(actions, len(factors)))
        return factors[actions]

    return chosen


def _no_choice(action: Any, count: int) -> str:
    return f"action: {printable(repr(action)):.60} is not an integer from 0 to {count - 1}"


def _draw(key: str, given: Any) -> Callable[[np.random.Generator], str]:
    if callable(given):
        return lambda random: text_of(given(random))
    if isinstance(given, tuple):
        if not given:
            raise InputError(f"vary.{key}: has no value; give at least one")
        texts = [text_of(value) for value in given]
        return lambda random: texts[int(random.integers(len(texts)))]
    span = Range.of(given, f"vary.{key}")
    return lambda random: span.value(float(random.random()))


def _one_of(place: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise InputError(f"{place}: {printable(repr(value)):.60} is not one of {', '.join(known)}")


def _whole(place: str, value: Any, most: int) -> None:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not 1 <= value <= most:
        raise InputError(f"{place}: {printable(repr(value)):.60} is not an integer from 1 to {most:,}")


def _number(place: str, value: Any, above: float, most: float, remedy: str = "") -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not above < number <= most:
        raise InputError(
            f"{place}: {printable(repr(value)):.60} is not a number above {above:g}, up to {most:g}"
            + (f"; {remedy}" if remedy else "")
        )
    return number
