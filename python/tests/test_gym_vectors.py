"""Vector environments: single environments bit for bit, both kinds of automatic reset, threads, draws."""

from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL
from foreign_cases import EXAMPLES

from penstock import ArgumentError, Scenario, ScenarioError

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from penstock.gym import FlowRates, FlowRatesVector, HostRates, HostRatesVector, PortThresholds

STEP_S = 2e-3
"""Ten steps are an episode."""

DRAWS: dict[str, Any] = {"topology.star.link_delay": {"from": "1 us", "to": "9 us"}}


def _none() -> Scenario:
    return Scenario.from_toml(SMALL, name="small").set("scheme", "none")


@pytest.mark.parametrize("threads", [1, 2])
def test_entries_are_single_environments_bit_for_bit(threads: int) -> None:
    many = HostRatesVector(_none(), 3, step_s=STEP_S, draws=DRAWS, threads=threads)
    seen, infos = many.reset(seed=5)
    rng = np.random.default_rng(0)
    singles = [HostRates(_none(), step_s=STEP_S, draws=DRAWS) for _ in range(3)]
    own = [env.reset(seed=5 + i) for i, env in enumerate(singles)]
    assert [info["seed"] for _, info in own] == infos["seed"].tolist()
    assert np.array_equal(seen, [first for first, _ in own])
    for _ in range(10):
        actions = rng.uniform(0.1, 0.6, (3, 2))
        found, rewards, terminated, truncated, infos = many.step(actions)
        results = [env.step(action) for env, action in zip(singles, actions, strict=True)]
        assert np.array_equal(found, [result[0] for result in results])
        assert rewards.tolist() == [result[1] for result in results]
        assert truncated.tolist() == [result[3] for result in results]
        assert not terminated.any()
    summaries = [result[4]["summary"] for result in results]
    assert truncated.all()
    for ours, theirs in zip(infos["summary"], summaries, strict=True):
        assert ours["flows"] == theirs["flows"]
    # Next step: the episode after, whose seed the single environment draws likewise.
    found, rewards, _, truncated, infos = many.step(actions)
    again = [env.reset() for env in singles]
    assert np.array_equal(found, [first for first, _ in again])
    assert infos["seed"].tolist() == [info["seed"] for _, info in again]
    assert not truncated.any()
    assert not rewards.any()


def test_the_same_step_begins_the_next_episode_and_keeps_the_last_observation() -> None:
    many = HostRatesVector(_none(), 2, step_s=STEP_S, autoreset_mode="SameStep")
    late = HostRatesVector(_none(), 2, step_s=STEP_S)
    first, _ = many.reset(seed=1)
    late.reset(seed=1)
    for _ in range(10):
        found, _, _, truncated, infos = many.step(many.hold())
        last, *_ = late.step(late.hold())
    assert truncated.all()
    assert np.array_equal(found, first)
    assert np.array_equal(np.stack(infos["final_obs"]), last)
    assert len(infos["final_info"]["summary"][0]["flows"]) == 2


def test_without_automatic_reset_a_mask_says_which_runs_begin() -> None:
    many = HostRatesVector(_none(), 2, step_s=STEP_S, autoreset_mode=AutoresetMode.DISABLED)
    first, _ = many.reset(seed=1)
    for _ in range(12):
        found, *_ = many.step(many.hold())
    again, _ = many.reset(seed=[1, 2], options={"reset_mask": np.array([True, False])})
    assert np.array_equal(again[0], first[0])
    assert np.array_equal(again[1], found[1])


def test_every_flow_of_every_run_is_an_entry() -> None:
    scenario = Scenario.from_toml(SMALL, name="small").set("scheme", "timely")
    many = FlowRatesVector(scenario, 4, step_s=STEP_S)
    one = FlowRates(scenario, step_s=STEP_S)
    many.reset(seed=3)
    one.reset(seed=3)
    for _ in range(10):
        found, rewards, _, truncated, _ = many.step(np.full((4, 1), -0.5))
        seen, own, *_ = one.step({flow: np.array([-0.5]) for flow in one.agents})
        assert np.array_equal(found[:2], [*seen.values()])
        assert rewards[:2].tolist() == [*own.values()]
    assert truncated.all()


FAILS = """import penstock


class Fails(penstock.Scheme):
    ecn = True

    class CongestionPoint(penstock.CongestionPoint):
        def mark(self, frame, octets):
            if frame.seq > 300_000:
                raise ValueError("far")
            return False
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_in_a_scheme_has_its_line_on_any_thread(tmp_path: Path, threads: int) -> None:
    (tmp_path / "fails.py").write_text(FAILS)
    many = HostRatesVector(_none(), 3, step_s=STEP_S, scheme=f"{tmp_path}/fails.py:Fails", threads=threads)
    for _ in range(2):
        # Another episode of the same environment begins, and ends likewise.
        many.reset(seed=1)
        with pytest.raises(ScenarioError, match="ValueError: far") as raised:
            for _ in range(10):
                many.step(many.hold())
        assert (raised.value.file, raised.value.line) == (f"{tmp_path}/fails.py", 10)
        with pytest.raises(ScenarioError, match="ValueError: far"):
            many.step(many.hold())


def test_an_exception_in_a_scheme_ends_the_episode_of_ports(tmp_path: Path) -> None:
    text = (EXAMPLES / "dcqcn.py").read_text()
    (tmp_path / "fails.py").write_text(text.replace("self.marked += 1", 'raise ValueError("far")'))
    base = _none().set("topology.star.buffer", "150 KB")
    env = PortThresholds(base, step_s=STEP_S, scheme=f"{tmp_path}/fails.py:Dcqcn")
    env.reset(seed=1)
    with pytest.raises(ScenarioError, match="ValueError: far"):
        for _ in range(10):
            env.step({})
    with pytest.raises(ValueError, match=r"reset\(\) begins another one"):
        env.step({})


def test_gymnasium_makes_them_by_name() -> None:
    many: Any = gymnasium.make_vec(
        "penstock/HostRates-v0", num_envs=2, vectorization_mode="vector_entry_point", scenario=_none(), step_s=STEP_S
    )
    assert many.reset(seed=1)[0].shape == many.observation_space.shape
    assert many.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


def test_wrong_settings_are_refused_with_a_remedy() -> None:
    with pytest.raises(ArgumentError, match="no multiple of the flows"):
        FlowRatesVector(Scenario.from_toml(SMALL, name="small"), 3)
    with pytest.raises(ArgumentError, match="autoreset_mode"):
        HostRatesVector(_none(), 2, autoreset_mode="never")
    with pytest.raises(ArgumentError, match="num_envs"):
        HostRatesVector(_none(), 0)
    with pytest.raises(ArgumentError, match="3 actions for 2 hosts"):
        HostRates(_none()).step(np.ones(3))
    with pytest.raises(ArgumentError, match="seeds for"):
        HostRatesVector(_none(), 2).reset(seed=[1])
