"""Settings and calls of the environments for learning."""

# The calls are wrong on purpose, and texts of files are clearer on one line.
# mypy: ignore-errors
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bad_inputs.case import Case
from conftest import pair
from lightlag import gym

SETTINGS: dict[str, tuple[object, ...]] = {
    "observe": (5, "loss", [], ["speed"], [5], None),
    "history": (0, -1, 1.5, "3", True, 10**9),
    "action": (5, "speed", None, ""),
    "gain": (0, -1, "x", float("nan"), float("inf"), True, 1e9),
    "factors": (5, (), (0,), (-1, 2), ("x",), (float("nan"),), (1e9,)),
    "interval": (5, "", "soon", "0 ms", "0 rtt", "-1 rtt", "nan rtt", "x rtt", "1e9 s"),
    "steps": (0, -1, 1.5, "x", True, 10**12),
    "reward": (5, "money", None, ""),
    "vary": (5, "x", {"links.0.loss": 5}, {"links.0.loss": ()}, {"links.0.loss": [0.1, 0]}, {"links.0.loss": {"from": 1}}, {"links.0.loss": {"from": 0, "to": 1, "scale": "log"}}, {5: (0, 1)}),
    "render_mode": ("human", 5, ""),
    "carrot": (),
}  # fmt: skip
ACTIONS = (float("nan"), "x", None, [], [[1, 2]], object(), [0.1, 0.2])
CHOICES = (2, -1, 0.5, "x", None, [0, 1], True + 2)


def environments() -> Iterator[Case]:
    def case(name: str, call: object, *parts: str) -> Case:
        return Case(name, call=call, parts=parts)

    for key, values in SETTINGS.items():
        for value in values:
            label = f"{key}={value!r:.40}"
            yield case(f"Env({label})", lambda k=key, v=value: gym.Env(**{k: v}), key if value is not None else "")
    for thing in (5, None, b"x", [], "nowhere.toml", {"name": "x"}, object(), lambda: 5):
        yield case(f"Env({thing!r:.12})", lambda t=thing: gym.Env(t))

    def step(env: object, action: object, seed: object = 1) -> object:
        env.reset(seed=seed)
        return env.step(action)

    for action in ACTIONS:
        yield case(f"step({action!r:.12})", lambda a=action: step(gym.Env(), a), "action")
    for action in CHOICES:
        yield case(f"choice {action!r:.12}", lambda a=action: step(gym.Env(factors=(0.5, 1.0)), a))
    yield case("step without reset", lambda: gym.Env().step([0.0]), "reset")
    yield case("result without reset", lambda: gym.Env().result(), "reset")
    for count in (0, -1, 1.5, "x", True, 10**9):
        yield case(f"VectorEnv({count!r})", lambda c=count: gym.VectorEnv(c), "num_envs")
        yield case(f"threads={count!r}", lambda c=count: gym.VectorEnv(2, threads=c), "threads")
    for seed in ([1, 2, 3], [1], "x", -1, 1.5):
        yield case(f"seeds {seed!r}", lambda s=seed: gym.VectorEnv(2).reset(seed=s), "seed")
    for actions in (np.zeros(3), np.full(2, np.nan), np.zeros((2, 3)), "x", None, [0.0]):
        yield case(f"actions {actions!r:.20}", lambda a=actions: step(gym.VectorEnv(2), a))
    for at in (5, -7, "x", None):
        yield case(f"result({at!r})", lambda a=at: gym.VectorEnv(2).result(a))
    yield case("a flow that starts late", lambda: gym.Env(_late()).reset(seed=1), "steered")


def _late() -> dict[str, object]:
    scenario = pair().scenario("1 s", seed=3).to_dict()
    scenario["flows"][0]["start"] = "2 s"
    return scenario
