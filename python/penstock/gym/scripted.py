"""A scheme as a scripted agent: DCQCN's reaction point, which decides on the rates of :class:`FlowRates`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.gym.flow_rates import FlowRates

if TYPE_CHECKING:
    from numpy.typing import NDArray

ONE = 1 << 30
"""Alpha has 30 fraction bits."""


@dataclass
class _Flow:
    """State of a reaction point: rates in bit/s, times in ps."""

    line: int
    rate: int
    target: int
    alpha: int = ONE
    alpha_at: int | None = None
    byte_stage: int = 0
    time_stage: int = 0
    timer: int | None = None
    signals: int = 0
    next_octet: int | None = None


class Dcqcn:
    """The reaction point of DCQCN (Zhu et al. 2015, section 3.2), with the readings of the scheme ``dcqcn``'s defaults.

    It needs ``FlowRates(scheme="dcqcn", action="share", signals=True)``, and is called with each observation. The run
    is then that of the scheme itself, bit for bit, but for the counts of the scheme's decisions and limiters.

    Args:
        env: the environment, which it asks for signals and wakes.
        g_inverse: 1/g.
        alpha_time_ps: K, ps.
        time_reset_ps: T, ps.
        byte_reset: B, octets.
        f: F.
        r_ai: additive increase, bit/s.
        r_hai: hyper-active increase, bit/s.
        min_rate: the least rate, bit/s.
    """

    def __init__(
        self,
        env: FlowRates,
        *,
        g_inverse: int = 256,
        alpha_time_ps: int = 55_000_000,
        time_reset_ps: int = 55_000_000,
        byte_reset: int = 10_000_000,
        f: int = 5,
        r_ai: int = 10_000_000,
        r_hai: int = 50_000_000,
        min_rate: int = 10_000_000,
    ) -> None:
        self._env = env
        self._g_inverse, self._alpha_time, self._time_reset = g_inverse, alpha_time_ps, time_reset_ps
        self._byte_reset, self._f, self._r_ai, self._r_hai, self._min_rate = byte_reset, f, r_ai, r_hai, min_rate
        self._flows: dict[str, _Flow] = {}

    def __call__(self, _observations: dict[str, "NDArray[Any]"]) -> dict[str, "NDArray[Any]"]:
        """Return the shares of the flows that decide."""
        env, now, actions = self._env, self._env.now_ps, {}
        if now == 0:
            self._flows = {agent: self._fresh(agent) for agent in env.agents}
        for agent in env.due:
            own = self._flows[agent]
            learnt = env.learnt(agent)
            # Signals and octets are counted; a timer of this instant may still be to come.
            if learnt.signals > own.signals:
                own.signals = learnt.signals
                self._cut(own, now)
                self._count_octets(agent, own, learnt.sent_octets)
            elif own.next_octet is not None and learnt.sent_octets >= own.next_octet:
                own.byte_stage += 1
                self._increase(own)
                self._count_octets(agent, own, learnt.sent_octets)
            elif own.timer is not None and own.timer <= now:
                own.time_stage += 1
                own.timer = now + self._time_reset
                self._increase(own)
            env.wake_at(agent, own.timer)
            actions[agent] = np.array([own.rate / own.line])
        return actions

    def _fresh(self, agent: str) -> _Flow:
        line = round(self._env.line_bps(agent))
        return _Flow(line, line, line)

    def _count_octets(self, agent: str, own: _Flow, sent: int) -> None:
        """Start the byte counter, where the rate is limited."""
        own.next_octet = sent + self._byte_reset if own.timer is not None else None
        self._env.wake_after(agent, self._byte_reset if own.timer is not None else None)

    def _cut(self, own: _Flow, now: int) -> None:
        """Equation (1), with alpha as it has fallen since (equation 2)."""
        if own.alpha_at is not None:
            for _ in range((now - own.alpha_at) // self._alpha_time):
                if own.alpha < self._g_inverse:
                    break
                own.alpha -= own.alpha // self._g_inverse
        own.target = own.rate
        own.rate = max(own.rate - (own.rate * own.alpha >> 31), self._min_rate)
        own.byte_stage = own.time_stage = 0
        own.timer = now + self._time_reset if own.rate < own.line else None
        own.alpha += ONE // self._g_inverse - own.alpha // self._g_inverse
        own.alpha_at = now

    def _increase(self, own: _Flow) -> None:
        """Fast recovery, then equations (3) and (4)."""
        slow, fast = sorted((own.byte_stage, own.time_stage))
        if slow > self._f:
            own.target += self._r_hai * (slow - self._f)
        elif fast >= self._f:
            own.target += self._r_ai
        own.rate = min(own.rate + (own.target - own.rate + 1) // 2, own.line)
        if own.rate >= own.line:
            own.timer = own.next_octet = None
