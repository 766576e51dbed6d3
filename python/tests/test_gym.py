"""Environments for agents: the checkers of Gymnasium and PettingZoo, plain runs bit for bit, draws by seed."""

import json
from typing import Any

import pytest
from conftest import SMALL

from penstock import ArgumentError, Scenario

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

import numpy as np
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test

from penstock import gym
from penstock.gym import HostRates, PortThresholds

STEP_S = 500e-6


def _dcqcn() -> Scenario:
    return Scenario.from_toml(SMALL, name="small").with_(
        {"scheme": "dcqcn", "schemes.dcqcn.k_min": "20 KB", "schemes.dcqcn.k_max": "60 KB", "schemes.dcqcn.p_max": 0.1}
    )


def _plain(summary: Any) -> Any:
    return json.dumps({key: value for key, value in summary.items() if key != "run"}, sort_keys=True)


def test_the_checkers_of_both_interfaces_pass() -> None:
    check_env(HostRates(_dcqcn(), step_s=STEP_S), skip_render_check=True)
    parallel_api_test(PortThresholds(_dcqcn(), step_s=STEP_S), num_cycles=100)


@pytest.mark.parametrize("kind", [HostRates, PortThresholds])
@pytest.mark.parametrize("step_s", [STEP_S, 333e-6])
def test_an_agent_that_changes_nothing_plays_the_plain_run(kind: Any, step_s: float) -> None:
    score = gym.play(kind(_dcqcn(), step_s=step_s), seed=3)
    plain = _dcqcn().run(seed=3).summary
    assert _plain(score.summary) == _plain(plain)
    assert score.steps == int(np.ceil(plain["duration_s"] / step_s))


def test_a_host_sends_no_faster_than_its_cap() -> None:
    scenario = Scenario.from_toml(SMALL, name="small").set("scheme", "none")
    env = HostRates(scenario, step_s=STEP_S)
    assert env.hosts == ["h0", "h1"]
    # Of 1 Gb/s, 200 Mb/s and 300 Mb/s: half of the line of h2, and no queue.
    score = gym.play(env, lambda _: np.array([0.2, 0.3]))
    rates = [flow["throughput_bps"] for flow in score.summary["flows"]]
    assert rates == pytest.approx([200e6, 300e6], rel=0.01)
    assert score.summary["totals"]["frames_dropped"] == 0
    assert score.reward == pytest.approx(0.25 * score.steps, rel=0.01)
    # Without caps both lines are full, and half of the frames are lost.
    assert gym.play(env).summary["totals"]["frames_dropped"] > 0


def test_thresholds_of_a_port_decide_where_its_queue_stands() -> None:
    env = PortThresholds(_dcqcn(), step_s=STEP_S)
    (agent,) = [name for name in env.possible_agents if name == "sw0->h2"]

    def marks(part: float) -> int:
        score = gym.play(env, lambda _: {agent: np.array([part, part, 1.0])})
        return sum(queue["frames_marked"] for queue in score.summary["queues"] if queue["name"] == agent)

    # A threshold of 1 KB marks every frame that meets another one; one of 10 MB is above the buffer.
    assert marks(0.0) > 100
    assert marks(1.0) == 0


def test_an_observation_is_what_the_step_was() -> None:
    env = HostRates(Scenario.from_toml(SMALL, name="small").set("scheme", "none"), step_s=STEP_S)
    first, info = env.reset(seed=1)
    assert info["seed"] == 1
    assert first.tolist()[-2:] == [1.0, 1.0]
    queue, used, lost = env.step(np.array([0.25, 0.25]))[0][3 * env.ports.index("sw0->h2") :][:3]
    assert (queue, lost) == (pytest.approx(0, abs=0.01), 0)
    assert used == pytest.approx(0.5, abs=0.02)


def test_the_same_seed_draws_the_same_episode() -> None:
    frames = ["1000 octets", "1500 octets"]
    draws: dict[str, Any] = {"topology.star.link_delay": {"from": "1 us", "to": "9 us"}, "flow.0.frame": frames}
    env = HostRates(_dcqcn(), step_s=STEP_S, draws=draws)

    def episode(seed: int | None) -> tuple[dict[str, str], list[float]]:
        _, info = env.reset(seed=seed)
        return info["settings"], env.step(env.hold())[0].tolist()

    first, second, again = episode(4), episode(None), episode(4)
    assert first == again
    assert first != second
    assert 1e-6 <= float(first[0]["topology.star.link_delay"].split()[0]) * 1e-6 <= 9e-6
    assert first[0]["flow.0.frame"] in frames


def test_wrong_settings_are_refused_with_a_remedy() -> None:
    with pytest.raises(ArgumentError, match="no thresholds to set") as caught:
        PortThresholds(Scenario.from_toml(SMALL, name="small"))
    assert "dcqcn" in caught.value.hint
    with pytest.raises(ArgumentError, match="is not the time of a step"):
        HostRates(_dcqcn(), step_s=0.0)
    with pytest.raises(ArgumentError, match="is not a range"):
        HostRates(_dcqcn(), draws={"warmup": {"from": "2 ms", "to": "1 ms"}})
    with pytest.raises(ArgumentError, match="out of range"):
        PortThresholds(_dcqcn(), least_octets=0)
