"""Controls a flow with PPO of Stable-Baselines3. `pip install "lightlag[gym]" stable-baselines3` also installs PyTorch.

This is only an example: lightlag does not need these packages, and no test runs it.
"""

import gymnasium
from stable_baselines3 import PPO

import lightlag.gym  # registers the environments

STEPS = 4_096

assert lightlag.gym, "used by being imported"
env = gymnasium.make("lightlag/Lossy-v0")
model = PPO("MlpPolicy", env, seed=1).learn(STEPS)
observation, info = env.reset(seed=1)
total, done = 0.0, False
while not done:
    action, _ = model.predict(observation, deterministic=True)
    observation, reward, terminated, truncated, info = env.step(action)
    total += reward
    done = terminated or truncated
print(f"reward of an episode after {STEPS:,} steps: {total:.1f}")
