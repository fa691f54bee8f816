"""Environments for policies that learn."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import lightlag as ll
from lightlag import gym
from lightlag.errors import InputError, ScenarioError

EXAMPLES = Path(__file__).parents[1] / "examples/learning"


def steps(env: gym.Env, actions: list[Any], seed: int = 1) -> list[tuple[list[float], float]]:
    observation, _ = env.reset(seed=seed)
    seen = [(observation.tolist(), 0.0)]
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(action)
        seen.append((observation.tolist(), reward))
        if terminated or truncated:
            break
    return seen


@pytest.mark.parametrize("name", ["Link", "Lossy", "Leo", "Geo"])
@pytest.mark.parametrize(
    "options", [{}, {"action": "window", "factors": (0.5, 0.9, 1, 1.1, 2), "history": 4}], ids=["rate", "window"]
)
def test_gymnasium_s_own_check_passes(name: str, options: dict[str, Any]) -> None:
    env = gymnasium.make(f"lightlag/{name}-v0", render_mode="rgb_array", **options)
    assert isinstance(env.unwrapped, gym.Env)
    check_env(env.unwrapped)


def test_pettingzoo_s_own_check_passes() -> None:
    from pettingzoo.test import parallel_api_test, parallel_seed_test

    net = ll.presets.dumbbell(pairs=3, congestion="steered")
    parallel_api_test(gym.parallel_env(net, steps=40), num_cycles=100)
    parallel_seed_test(lambda: gym.parallel_env(net, steps=20, interval="50 ms"), num_cycles=40)


def test_a_registered_environment_makes_vectors_of_its_own() -> None:
    envs = gymnasium.make_vec("lightlag/Lossy-v0", num_envs=3, steps=5)
    assert isinstance(envs.unwrapped, gym.VectorEnv)
    observations, _ = envs.reset(seed=1)
    assert observations.shape == (3, 6)
    assert envs.observation_space.contains(observations)


def test_a_steady_rate_is_what_the_link_delivers() -> None:
    env = gym.Env(gain=1.0, interval="100 ms", observe=["delivery_rate", "rtt_ratio", "pacing_rate"])
    env.reset(seed=1)
    env.step([1.0])
    rate = env.interval()["pacing_rate"]
    env.step([6.0 / rate - 1.0 if rate < 6.0 else 1.0 - rate / 6.0])
    delivered, ratios, rates = np.array([env.step([0.0])[0] for _ in range(40)])[10:].T
    assert rates == pytest.approx(6.0, rel=1e-6)
    assert delivered.mean() == pytest.approx(6.0, rel=0.02)
    assert ratios.max() < 1.1


def test_episodes_of_a_seed_are_the_same_and_the_next_one_is_another() -> None:
    env = gym.Env(gym.links.lossy, vary={"links.0.rate": {"from": "1 Mbit/s", "to": "100 Mbit/s", "scale": "log"}})
    actions = [[0.5], [0.1], [-0.2], [0.9]] * 5
    first, again, other = steps(env, actions, 1), steps(env, actions, 1), steps(env, actions, 2)
    assert first == again != other
    env.reset(seed=1)
    rates = [env.reset()[1]["drawn"]["links.0.rate"] for _ in range(3)]
    assert len(set(rates)) == 3


def test_an_environment_in_a_vector_is_the_same_as_alone() -> None:
    options: dict[str, Any] = {"scenario": gym.links.lossy, "steps": 12, "vary": {"links.0.delay": ["5 ms", "50 ms"]}}
    actions = np.array([[0.5], [-0.3], [0.2]] * 10, dtype=np.float32)
    alone = []
    for seed in (7, 8, 9):
        # As a vector does: each environment has its own stream of episodes, and restarts immediately.
        env = gym.VectorEnv(1, threads=1, **options)
        env.reset(seed=seed)
        alone.append([[part[0] for part in env.step(action[None])[:4]] for action in actions])
    for threads in (1, 2):
        envs = gym.VectorEnv(3, threads=threads, **options)
        envs.reset(seed=7)
        for at, action in enumerate(actions):
            together = envs.step(np.repeat(action[None], 3, axis=0))
            for env_at in range(3):
                for array, one in zip(together[:4], alone[env_at][at], strict=True):
                    np.testing.assert_array_equal(array[env_at], one)


def test_an_ended_episode_restarts_with_the_next_step() -> None:
    envs = gym.VectorEnv(2, steps=4)
    first, _ = envs.reset(seed=1)
    still = np.zeros((2, 1), np.float32)
    for step in range(1, 5):
        *_, terminated, truncated, _ = envs.step(still)
        assert not terminated.any()
        assert truncated.tolist() == [step == 4] * 2
    observations, rewards, terminated, truncated, infos = envs.step(still)
    np.testing.assert_array_equal(observations, first)
    assert rewards.tolist() == [0.0, 0.0]
    assert not truncated.any()
    assert not terminated.any()
    assert "drawn" in infos


def test_a_transfer_that_arrives_terminates() -> None:
    net = gym.links.link()
    env = gym.Env(net.scenario().to_dict() | {"flows": [{"from": "sender", "to": "receiver", "transfer": "200 kB"}]})
    env.reset(seed=1)
    for _ in range(100):
        *_, terminated, truncated, _ = env.step([1.0])
        if terminated or truncated:
            break
    assert (terminated, truncated) == (True, False)
    assert env.result().summary["flows"][0]["delivered_bytes"] == 200_000


def test_a_result_covers_the_run_so_far() -> None:
    env = gym.Env(gym.links.lossy)
    steps(env, [[0.5]] * 10)
    time = env.interval()["time"]
    result = env.result()
    assert result.simulated_s == pytest.approx(time)
    assert result.flows["congestion"].to_list() == ["steered"]
    assert result.flows["delivered_bytes"][0] > 0
    with pytest.raises(InputError, match="call reset first"):
        env.result()


def test_rewards_are_their_formulas() -> None:
    for name in gym.REWARDS:
        env = gym.Env(gym.links.lossy, reward=name, observe=["loss"])
        env.reset(seed=3)
        for _ in range(30):
            _, reward, *_ = env.step([0.2])
            it = env.interval()
            packets = it["delivery_rate"] / 8 * 1e6 / 1448
            expected = {
                "aurora": 10 * packets - 1000 * it["rtt"] - 2000 * it["loss"],
                "utility": it["send_rate"] ** 0.9
                - 900 * it["send_rate"] * max(0.0, it["rtt_gradient"])
                - 11.35 * it["send_rate"] * it["loss"],
            }
            if name in expected:
                assert reward == pytest.approx(expected[name], rel=1e-6, abs=1e-9)
            else:
                assert reward <= 1.0 + 1e-9


def test_a_reward_of_one_s_own_serves_both_kinds_of_environments() -> None:
    def power(it: gym.Intervals) -> Any:
        return it.delivery_rate / np.maximum(it.rtt_ratio, 1.0)

    env = gym.Env(reward=power)
    envs = gym.VectorEnv(1, reward=power)
    alone = [reward for _, reward in steps(env, [[0.5]] * 5)][1:]
    envs.reset(seed=1)
    together = [float(envs.step(np.array([[0.5]], np.float32))[1][0]) for _ in range(5)]
    assert alone == together
    assert alone[-1] > 0
    with pytest.raises(AttributeError, match="it has rtt_gradient"):
        gym.Env(reward=lambda it: it.speed)._own(env_interval(env))  # type: ignore[misc]


def env_interval(env: gym.Env) -> gym.Intervals:
    return gym.Intervals(list(env.interval().values()))


def test_agents_that_share_a_link_have_their_names_and_their_ends() -> None:
    net = gym.links.link()
    net.flow("sender", "receiver", name="short", start="500 ms", transfer="50 kB", congestion="steered")
    env = gym.parallel_env(net, interval="100 ms", steps=60, observe=["delivery_rate"])
    observations, _ = env.reset(seed=1)
    assert env.possible_agents == ["agent", "short"]
    assert observations["short"].tolist() == [0.0]
    ends: dict[str, tuple[bool, bool]] = {}
    while env.agents:
        acting = list(env.agents)
        observations, rewards, terminated, truncated, _ = env.step({name: np.zeros(1) for name in acting})
        assert set(observations) == set(rewards) == set(acting)
        ends |= {name: (terminated[name], truncated[name]) for name in acting}
    assert ends == {"agent": (False, True), "short": (True, False)}


def test_diagrams_are_rendered() -> None:
    env = gym.Env(render_mode="rgb_array")
    steps(env, [[0.5]] * 20)
    picture = env.render()
    assert picture.shape == (480, 640, 3)
    assert picture.dtype == np.uint8
    assert len(np.unique(picture)) > 10
    text = gym.Env(render_mode="ansi")
    steps(text, [[0.5]] * 3)
    assert "Mbit/s" in text.render()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"action": "speed"}, "action: 'speed' is not one of rate, window"),
        ({"observe": ["delivery", "speed"]}, "observe: 'speed' is not one of rtt_gradient"),
        ({"observe": []}, "observe: is not a list of features"),
        ({"reward": "money"}, "reward: 'money' is not one of aurora, orca, utility"),
        ({"interval": "soon"}, "interval: "),
        ({"interval": "0 rtt"}, "interval: 0.0 is not a number above 0"),
        ({"interval": "0 ms"}, "interval: 0.0 is not a number above 0"),
        ({"history": 0}, "history: 0 is not an integer from 1"),
        ({"steps": 2.5}, "steps: 2.5 is not an integer"),
        ({"gain": float("nan")}, "gain: nan is not a number above 0"),
        ({"factors": ()}, "factors: is empty"),
        ({"factors": (1, 0)}, "factors: 0 is not a number above 0"),
        ({"vary": {"links.0.loss": [0.1, 0.0]}}, "vary.links.0.loss: 0.1 is not below 0"),
        ({"vary": {"links.0.loss": ()}}, "vary.links.0.loss: has no value"),
        ({"render_mode": "human"}, "render_mode: 'human' is not one of rgb_array, ansi"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        gym.Env(**options)
    assert message in str(error.value)


def test_wrong_scenarios_and_actions_are_named() -> None:
    with pytest.raises(ScenarioError, match=r"links\[0\]\.speed"):
        gym.Env(vary={"links.0.speed": ("1 Mbit/s",)})
    with pytest.raises(InputError, match="the scenario has 3 flows"):
        gym.Env(ll.presets.dumbbell(pairs=3, congestion="steered"))
    env = gym.Env()
    env.reset(seed=1)
    with pytest.raises(InputError, match="action: is not a number"):
        env.step([float("nan")])
    discrete = gym.Env(factors=(0.5, 1.0))
    discrete.reset(seed=1)
    for wrong in (2, -1, 0.5):
        with pytest.raises(InputError, match="is not an integer from 0 to 1"):
            discrete.step(wrong)
    envs = gym.VectorEnv(2, factors=(0.5, 1.0))
    with pytest.raises(InputError, match="call reset first"):
        envs.step(np.array([0, 1]))
    envs.reset(seed=1)
    with pytest.raises(InputError, match="is not an integer from 0 to 1"):
        envs.step(np.array([0, 2]))
    with pytest.raises(InputError, match="3 seeds for 2 environments"):
        envs.reset(seed=[1, 2, 3])
    late = gym.links.link().scenario().to_dict()
    late["flows"][0]["start"] = "2 s"
    with pytest.raises(InputError, match="before a steered flow starts to send"):
        gym.Env(late | {"duration": "1 s"}).reset(seed=1)


def test_without_gymnasium_the_remedy_is_named() -> None:
    code = "import sys; sys.modules['gymnasium'] = None\nimport lightlag.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'lightlag[gym]'" in done.stderr


@pytest.mark.long
def test_learned_policies_beat_cubic_where_packets_are_lost_at_random() -> None:
    sys.path.insert(0, str(EXAMPLES))
    try:
        policies: Any = importlib.import_module("policies")
    finally:
        sys.path.remove(str(EXAMPLES))
    cubic = policies.goodput_of("cubic", seeds=range(101, 104))
    weights = policies.train(generations=8)
    for policy in (policies.Linear(weights), policies.Gradient()):
        # Measured: 3.2 Mbit/s for CUBIC on a link of 12 Mbit/s that loses a packet in a hundred.
        assert policies.goodput_of(policy, seeds=range(101, 104)) > 2 * cubic


def test_the_notebook_runs() -> None:
    cells = json.loads((EXAMPLES / "learning.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code
    program = "import matplotlib; matplotlib.use('agg')\n" + "\n".join(code)
    done = subprocess.run([sys.executable, "-c", program], cwd=EXAMPLES, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
