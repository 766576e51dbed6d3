"""Environments for agents that learn, on the engine that runs scenarios: the same seed and actions give the same bits.

    >>> from penstock import gym
    >>> env = gym.HostRates("incast.toml", step_s=20e-6)
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(env.hold())

:class:`HostRates` is one agent that caps what hosts send (Gymnasium). :class:`PortThresholds` has an agent for each
port, which sets the thresholds of its marks (PettingZoo's parallel environments). Needs the extra ``gym``.
"""

from penstock.data_frames import MissingExtraError

try:
    import gymnasium as _gymnasium
    import pettingzoo as _pettingzoo
except ModuleNotFoundError as error:
    if error.name not in ("gymnasium", "pettingzoo"):
        raise
    raise MissingExtraError(error.name, "gym") from error

from penstock.gym.host_rates import HostRates
from penstock.gym.play import Score, play
from penstock.gym.port_thresholds import PortThresholds

del _gymnasium, _pettingzoo

__all__ = ["HostRates", "PortThresholds", "Score", "play"]
