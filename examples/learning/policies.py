"""Two small policies for a link that loses packets at random: one is trained, the other one climbs a utility function.

``python policies.py`` trains the first for some seconds, and compares both with CUBIC and BBR.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Protocol

import numpy as np

import lightlag as ll
from lightlag import gym

SECONDS = 20.0
"""Duration of a measured run, in seconds."""


class Policy(Protocol):
    """A policy that acts in an environment."""

    def start(self) -> None:
        """Called when an episode starts."""

    def act(self, observation: np.ndarray) -> float:
        """Returns the action, from -1 to 1."""


def power(it: gym.Intervals) -> np.ndarray:
    """Returns the reward: the delivery rate in Mbit/s over the square of the round-trip time relative to its minimum.

    Losses reduce it, so that a full queue does not pay off either.
    """
    return it.delivery_rate * (1.0 - it.loss) / np.maximum(it.rtt_ratio, 1.0) ** 2


class Linear:
    """A linear policy: tanh of the weighted sum of the features plus a bias."""

    OPTIONS: ClassVar = {"observe": ["rtt_ratio", "inflight_ratio", "send_ratio"], "reward": power}

    def __init__(self, weights: np.ndarray) -> None:
        self.weights = weights

    def start(self) -> None:
        pass

    def act(self, observation: np.ndarray) -> float:
        return float(np.tanh(observation @ self.weights[:-1] + self.weights[-1]))


def train(generations: int = 8, seed: int = 1) -> np.ndarray:
    """Returns weights of :class:`Linear`, trained by the cross-entropy method.

    The best 6 of 32 candidates per generation set the distribution of the next ones.
    """
    vary = {"links.0.loss": [0.005, 0.02]}
    envs = gym.VectorEnv(32, gym.links.lossy, steps=200, vary=vary, **Linear.OPTIONS)
    random = np.random.default_rng(seed)
    features = len(envs.features)
    mean, deviation = np.zeros(features + 1), np.full(features + 1, 2.0)
    for generation in range(generations):
        weights = mean + deviation * random.standard_normal((envs.num_envs, features + 1))
        observations, _ = envs.reset(seed=1000 * generation)
        score = np.zeros(envs.num_envs)
        for _ in range(100):
            actions = np.tanh(np.einsum("nf,nf->n", observations, weights[:, :-1]) + weights[:, -1])
            observations, rewards, *_ = envs.step(actions.astype(np.float32)[:, None])
            score += rewards
        best = weights[np.argsort(score)[-6:]]
        mean, deviation = best.mean(axis=0), best.std(axis=0) + 0.05
    return mean


class Gradient:
    """Climbs a utility function by trying a rate a little above and one a little below (after PCC Vivace, NSDI 2018).

    Each of the two rates is used for two round trips, and the second one is evaluated: data sent now is acknowledged
    one round trip later. Steps in the same direction grow.
    """

    OPTIONS: ClassVar = {"gain": 1.0, "observe": ["send_rate", "loss", "rtt_gradient", "interval"]}
    TRIED = 0.1
    FEW = 0.12
    """Megabits (ten packets). An interval that sent less is too small for a decision."""
    LARGEST = 0.3

    def start(self) -> None:
        self.rate, self.set = 1.0, 1.0
        self.at, self.utilities, self.streak = 0, [0.0, 0.0], 0
        self.doubling, self.last = True, -np.inf

    def act(self, observation: np.ndarray) -> float:
        send_rate, loss, gradient, interval = (float(value) for value in observation)
        # The utility of Vivace with a milder price of loss: 1 % of it is this link's own.
        utility = send_rate**0.9 - 900 * send_rate * max(0.0, gradient - 0.03) - 2 * send_rate * loss
        if self.doubling:
            if self.at % 2 == 1:
                # A few packets say nothing.
                self.doubling = utility > self.last or send_rate * interval < self.FEW
                self.last = utility
                self.rate *= 1.5 if self.doubling else 1 / 1.5
            self.at += 1
            return self._go(self.rate)
        self.utilities[self.at // 2 % 2] = utility
        self.at += 1
        if self.at % 4 == 0:
            up, down = self.utilities
            direction = 1 if up > down else -1
            self.streak = self.streak + direction if self.streak * direction >= 0 else direction
            step = min(self.TRIED * abs(self.streak), self.LARGEST)
            self.rate *= 1 + step if direction > 0 else 1 / (1 + step)
        return self._go(self.rate * (1 + self.TRIED if self.at // 2 % 2 == 0 else 1 - self.TRIED))

    def _go(self, rate: float) -> float:
        """Returns the action that changes the rate from the last one to this one, both in units of the first rate."""
        factor = min(max(rate / self.set, 0.5), 2.0)
        self.set *= factor
        return factor - 1 if factor >= 1 else 1 - 1 / factor


def run(policy: Policy | str, seed: int) -> ll.Result:
    """Runs :data:`SECONDS` with a policy, or with an algorithm of lightlag."""
    if isinstance(policy, str):
        sets = {"flows.0.congestion": policy}
        return ll.run(gym.links.lossy(), sets=sets, duration=f"{SECONDS} s", seed=seed)
    env = gym.Env(gym.links.lossy, steps=100_000, **policy.OPTIONS)
    observation, _ = env.reset(seed=seed)
    policy.start()
    while env.interval()["time"] < SECONDS:
        observation, *_ = env.step([policy.act(observation)])
    return env.result()


def goodput_of(policy: Policy | str, seeds: Iterable[int] = range(101, 106)) -> float:
    """Returns the mean goodput in Mbit/s over the seeds, none of which was used in training."""
    return float(np.mean([run(policy, seed).flows["goodput_bps"][0] for seed in seeds]) / 1e6)


if __name__ == "__main__":
    for name, policy in {
        "cubic": "cubic",
        "bbr": "bbr",
        "gradient": Gradient(),
        "linear": Linear(train()),
    }.items():
        result = run(policy, 101)
        print(f"{name:10} {goodput_of(policy):6.2f} Mbit/s  {1e3 * result.flows['mean_rtt_s'][0]:6.1f} ms")
