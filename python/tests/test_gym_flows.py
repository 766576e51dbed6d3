"""Rates by flow: the checker of PettingZoo, published states and actions, DCQCN as a scripted agent bit for bit."""

import json
from typing import Any

import pytest
from conftest import SMALL

from penstock import ArgumentError, Scenario

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

import numpy as np
from pettingzoo.test import parallel_api_test

from penstock import gym
from penstock.gym import FlowRates

STEP_S = 500e-6
LINE_BPS = 1e9

PUBLISHED = [
    (0.2503, 1.0501),
    (0.5042, 1.1008),
    (0.7186, 1.1437),
    (-0.4070, 0.9247),
    (0.0220, 1.0044),
    (0.2582, 1.0516),
    (-0.6513, 0.8847),
    (-0.4879, 0.9111),
    (-0.3130, 0.9411),
]
"""Outputs of the network published in benja263/rl-cc at a877485 and its program's factors, for its nine states."""


def _small(scheme: str, **keys: Any) -> Scenario:
    own = {f"schemes.{scheme}.{name}": value for name, value in keys.items()}
    return Scenario.from_toml(SMALL, name="small").with_({"scheme": scheme, **own})


def _dcqcn(**keys: Any) -> Scenario:
    return _small("dcqcn", k_min="20 KB", k_max="60 KB", p_max=0.1, **keys)


def test_the_checker_of_pettingzoo_passes() -> None:
    parallel_api_test(FlowRates(_small("timely"), step_s=STEP_S), num_cycles=100)
    parallel_api_test(FlowRates(_small("timely"), step_s=STEP_S, acks=4, action="share"), num_cycles=100)


def test_an_action_changes_the_rate_by_the_published_factor() -> None:
    env = FlowRates(_small("timely"), step_s=50e-6)
    env.reset(seed=1)
    agent, other = env.possible_agents
    # Both begin at the line's rate, from which a factor above 1 leads nowhere.
    env.step({agent: np.array([-1.0]), other: np.array([-1.0])})
    rate = LINE_BPS / 1.2
    assert env.learnt(agent).rate_bps == pytest.approx(rate, rel=1e-8)
    env.step({agent: np.array([-1.0])})
    rate /= 1.2
    for output, factor in sorted(PUBLISHED):
        seen = env.step({agent: np.array([output])})[0][agent]
        assert seen[2] == pytest.approx(factor, abs=1e-4)
        rate *= seen[2]
        assert env.learnt(agent).rate_bps == pytest.approx(rate, rel=1e-8)
    # The negative control: without the reciprocal, the factor of -0.6513 would be another one.
    straight = 1 - 0.2 * 0.6513
    assert abs(straight - 0.8847) > 0.01


def test_an_observation_is_the_state_of_two_decisions() -> None:
    env = FlowRates(_small("timely"), step_s=STEP_S)
    first, _ = env.reset(seed=1)
    agent, other = env.possible_agents
    # At the line's rate and without a queue: 1 - 0.768.
    assert first[agent].tolist() == pytest.approx([1.0, 0.232, 1.0, 0.232])
    for _ in range(4):
        seen, rewards, *_ = env.step({agent: np.array([-1.0]), other: np.array([-1.0])})
    again, rewards, *_ = env.step({agent: np.array([0.5]), other: np.array([-1.0])})
    assert again[agent][2] == pytest.approx(1.1)
    assert again[agent][:2].tolist() == seen[agent][2:].tolist()
    assert rewards[agent] == pytest.approx(-(again[agent][3] ** 2))


def test_the_error_of_an_empty_network_is_that_of_the_rate_alone() -> None:
    env = FlowRates(_small("timely", segment="1 KB").set("flow.0.from", "h0"), step_s=STEP_S, action="share")
    env.reset(seed=1)
    (agent,) = env.possible_agents
    for _ in range(3):
        seen = env.step({agent: np.array([0.25])})[0][agent]
    # No queue: an inflation of 1, and the root of 0.25.
    assert seen[3] == pytest.approx(0.5 - 0.768, abs=1e-3)


@pytest.mark.parametrize("acks", [1, 7])
def test_an_agent_decides_after_its_number_of_acknowledgements(acks: int) -> None:
    env = FlowRates(_small("timely", segment="1 KB"), step_s=1.0, acks=acks, action="share")
    env.reset(seed=1)
    before = dict.fromkeys(env.agents, 0)
    for _ in range(50):
        infos = env.step({agent: np.array([0.4]) for agent in env.agents})[4]
        due = [agent for agent, info in infos.items() if info["due"]]
        assert due == env.due != []
        for agent in due:
            assert env.learnt(agent).acks == before[agent] + acks
            before[agent] += acks


def _compared(summary: Any, *, scripted: bool = False) -> Any:
    """The run in numbers; ``scripted`` leaves out decisions of the scheme's sources, their limiters, and events."""
    own = json.loads(json.dumps(summary))
    del own["run"]
    if scripted:
        for entry, counts in (("actions", ("cuts", "raises")), ("totals", ("events",))):
            for count in counts:
                del own[entry][count]
        for host in own["hosts"]:
            del host["rate_limiters_mean"], host["rate_limiters_max"]
    return own


@pytest.mark.parametrize("byte_reset", [10_000_000, 60_000])
def test_dcqcn_as_a_scripted_agent_is_the_native_scheme_bit_for_bit(byte_reset: int) -> None:
    scenario = _dcqcn(byte_reset=f"{byte_reset} octets")
    env = FlowRates(scenario, step_s=1.0, scheme="dcqcn", action="share", signals=True)
    score = gym.play(env, gym.Dcqcn(env, byte_reset=byte_reset), seed=3)
    plain = scenario.run(seed=3).summary
    native = _compared(plain, scripted=True)
    assert _compared(score.summary, scripted=True) == native
    # The negative control: with another gain of alpha the run is another one.
    other = gym.play(env, gym.Dcqcn(env, byte_reset=byte_reset, g_inverse=255), seed=3)
    assert _compared(other.summary, scripted=True)["flows"] != native["flows"]


@pytest.mark.parametrize("acks", [None, 3])
def test_native_sources_play_the_plain_run_and_have_a_score(acks: int | None) -> None:
    env = FlowRates(_small("timely"), step_s=STEP_S, acks=acks, native=True)
    score = gym.play(env, seed=3)
    assert _compared(score.summary) == _compared(_small("timely").run(seed=3).summary)
    assert score.reward < 0


def test_agents_whose_flows_end_leave_and_the_run_goes_on_to_its_end() -> None:
    scenario = _small("timely").with_({"flow.0.size": "200 KB", "duration": "20 ms"})
    env = FlowRates(scenario, step_s=STEP_S, action="share")
    score = gym.play(env, lambda found: {agent: np.array([0.4]) for agent in found}, seed=1)
    # 200 KB at 400 Mb/s take 4 ms.
    assert score.steps == 9
    assert score.summary["duration_s"] == pytest.approx(20e-3)


def test_what_agents_cannot_decide_on_is_refused_with_a_remedy() -> None:
    for scheme, fault in (("qcn", "no parameter min_rate"), ("swift", "has a window"), ("none", "no parameter")):
        with pytest.raises(ArgumentError, match=fault) as caught:
            FlowRates(_small(scheme), scheme=scheme)
        assert "dcqcn" in caught.value.hint
    with pytest.raises(ArgumentError, match="is no kind of action"):
        FlowRates(_small("timely"), action="rate")
    with pytest.raises(ArgumentError, match="is no number of acknowledgements"):
        FlowRates(_small("timely"), acks=0)
    with pytest.raises(ArgumentError, match="is not the time of a step"):
        FlowRates(_small("timely"), step_s=-1.0)
