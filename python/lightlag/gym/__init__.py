"""Environments for policies that learn to control congestion: Gymnasium for one flow, PettingZoo for many.

An agent sets the pacing rate or the window of a flow once per monitor interval, and observes the result. Runs are
simulated in this process; several step on all cores.

Importing this module registers ``lightlag/Link-v0``, ``lightlag/Lossy-v0``, ``lightlag/Leo-v0`` and
``lightlag/Geo-v0``.

Examples
--------
>>> import gymnasium, lightlag.gym
>>> env = gymnasium.make("lightlag/Lossy-v0", steps=100)
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step([0.5])
>>> env.unwrapped.features
('rtt_gradient', 'rtt_ratio', 'send_ratio', 'delivery', 'loss', 'inflight_ratio')

``docs/learning.md`` is a tutorial.
"""

from __future__ import annotations

from typing import Any

from lightlag.errors import InputError

try:
    import gymnasium
except ImportError:
    raise InputError("lightlag.gym needs Gymnasium, which is not installed; pip install 'lightlag[gym]'") from None

from lightlag.gym import links
from lightlag.gym.env import Env
from lightlag.gym.task import FEATURES, REWARDS, Intervals, Task
from lightlag.gym.vector import VectorEnv

__all__ = ["FEATURES", "REWARDS", "Env", "Intervals", "Task", "VectorEnv", "links", "parallel_env"]


def parallel_env(*args: Any, **kwargs: Any) -> Any:
    """Several agents in one run, with the parallel API of PettingZoo: a :class:`lightlag.gym.parallel.ParallelEnv`."""
    from lightlag.gym.parallel import ParallelEnv

    return ParallelEnv(*args, **kwargs)


for _name, _link in links.LINKS.items():
    gymnasium.register(
        f"lightlag/{_name}-v0",
        entry_point="lightlag.gym.env:Env",
        vector_entry_point="lightlag.gym.vector:VectorEnv",
        kwargs={"scenario": _link},
    )
