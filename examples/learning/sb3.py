"""PPO of Stable-Baselines3 on a link that loses packets at random: ``python sb3.py [STEPS]``.

It needs ``pip install stable-baselines3``.
"""

from __future__ import annotations

import sys

import gymnasium
from policies import SECONDS, power
from stable_baselines3 import PPO

import lightlag.gym  # registers the environments


def main(steps: int) -> None:
    options = {"observe": ["rtt_ratio", "inflight_ratio", "send_ratio"], "reward": power}
    env = gymnasium.make("lightlag/Lossy-v0", steps=200, **options)
    model = PPO("MlpPolicy", env, n_steps=1000, batch_size=100, gamma=0.9, seed=1, verbose=1)
    model.learn(steps)

    judged = lightlag.gym.Env(lightlag.gym.links.lossy, steps=100_000, **options)
    observation, _ = judged.reset(seed=101)
    while judged.interval()["time"] < SECONDS:
        action, _ = model.predict(observation, deterministic=True)
        observation, *_ = judged.step(action)
    print(judged.result().flows.select("goodput_bps", "mean_rtt_s"))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000)
