"""Environments for agents that learn, on the engine that runs scenarios: the same seed and actions give the same bits.

    >>> from penstock import gym
    >>> env = gym.HostRates("incast.toml", step_s=20e-6)
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(env.hold())

:class:`HostRates` is one agent that caps what hosts send (Gymnasium). :class:`FlowRates` has an agent for each flow,
which decides on its rate, and :class:`PortThresholds` one for each port, which sets the thresholds of its marks
(PettingZoo's parallel environments). :class:`HostRatesVector` and :class:`FlowRatesVector` step many runs at a time.
Needs the extra ``gym``.
"""

from penstock.data_frames import MissingExtraError

try:
    import gymnasium as _gymnasium
    import pettingzoo as _pettingzoo
except ModuleNotFoundError as error:
    if error.name not in ("gymnasium", "pettingzoo"):
        raise
    raise MissingExtraError(error.name, "gym") from error

from penstock.gym.flow_rates import FlowRates, Learnt
from penstock.gym.host_rates import HostRates
from penstock.gym.play import Score, play
from penstock.gym.port_thresholds import PortThresholds
from penstock.gym.scripted import Dcqcn
from penstock.gym.vectors import FlowRatesVector, HostRatesVector

del _gymnasium, _pettingzoo

__all__ = [
    "Dcqcn",
    "FlowRates",
    "FlowRatesVector",
    "HostRates",
    "HostRatesVector",
    "Learnt",
    "PortThresholds",
    "Score",
    "play",
]
