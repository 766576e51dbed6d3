"""Episodes of scripted agents: what schemes score where an agent learns, and what an agent's actions come to."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.gym.flow_rates import FlowRates
from penstock.gym.host_rates import HostRates
from penstock.gym.port_thresholds import PortThresholds

if TYPE_CHECKING:
    from penstock.summary import Summary

Policy = Callable[[Any], Any]
"""Makes of an observation, or of the observations by agent, an action, or the actions by agent."""


@dataclass(frozen=True)
class Score:
    """What an episode came to.

    Attributes:
        reward: sum of the rewards; of several agents the mean of their sums.
        steps: number of steps.
        summary: the run in numbers.
    """

    reward: float
    steps: int
    summary: "Summary"


def play(env: HostRates | PortThresholds | FlowRates, policy: Policy | None = None, *, seed: int = 1) -> Score:
    """Play an episode; without a policy that of an agent that leaves all as it is, so that the scheme alone acts.

        >>> gym.play(gym.HostRates("incast.toml", scheme="dcqcn")).reward

    Args:
        env: the environment.
        policy: makes actions of observations.
        seed: of the run.
    """
    # The two interfaces answer in numbers and in numbers by agent.
    observation: Any
    action: Any
    reward: Any
    terminated: Any
    truncated: Any
    info: Any
    observation, _ = env.reset(seed=seed)
    sums: dict[str, float] = {}
    steps, over = 0, False
    while not over:
        action = env.hold() if policy is None else policy(observation)
        observation, reward, terminated, truncated, info = env.step(action)
        steps += 1
        if isinstance(reward, dict):
            over = not getattr(env, "agents", ())
            info = next(iter(info.values()))
        else:
            over, reward = bool(terminated or truncated), {"": reward}
        for agent, own in reward.items():
            sums[agent] = sums.get(agent, 0.0) + own
    return Score(float(np.mean([*sums.values()])), steps, info["summary"])
