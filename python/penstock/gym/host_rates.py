"""Rates by host: one agent sees all queues and caps what each host sends."""

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from penstock import _core
from penstock.gym.draws import Draw
from penstock.gym.runs import COMPLETE, OVER, Runs, checked_step
from penstock.scenario import Scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_SHARE = 1e-3
"""The least share of a line that a host may have: a rate of zero would never end a flow."""


class HostRates(gymnasium.Env["NDArray[Any]", "NDArray[Any]"]):  # type: ignore[misc, unused-ignore]
    """One agent that caps hosts (Ruffy, Przystupa, Beschastnikh 2018, "Iroko").

    The scheme of the scenario acts as well; with ``none`` the agent alone does. A host's flows share its cap equally.

    Observation: for each port with a congestion point three numbers from 0 to 1, then the last action.

    ============ ======================================================================
    queue        octets in the queue over ``most_octets``
    utilisation  share of the step in which the line was used
    loss         frames dropped in the step over frames dropped and sent
    action       the share of each host, 1 before the first step
    ============ ======================================================================

    Action: for each host that sends the share of its line's rate that it may use, from 0.001 to 1.

    Reward: a - 2 q a, where a is the mean of the action and q the largest of the queues (Iroko's "joint" reward).

    The end of the run truncates an episode; one whose flows with a size have all ended before is terminated. The
    last ``info`` has the run's ``summary``.

    Args:
        scenario: the scenario, its file or its name.
        step_s: simulated time of a step, s.
        scheme: instead of the scenario's.
        draws: keys of the scenario that each episode draws, by its seed.
        most_octets: the queue that counts as 1, octets.

    Raises:
        ArgumentError: the step is no time, or a draw neither values nor a range.
        ScenarioError: the scenario is wrong.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(
        self,
        scenario: Scenario | str | PathLike[str],
        *,
        step_s: float = 20e-6,
        scheme: str | None = None,
        draws: Mapping[str, Draw] | None = None,
        most_octets: float = 1e6,
    ) -> None:
        core = _core.Agents.hosts(1, 1, checked_step(step_s), most_octets, LEAST_SHARE)
        self._runs = Runs(core, 1, scenario, scheme, draws)
        self.hosts, self.ports = self._runs.names, self._runs.ports
        hosts, width = len(self.hosts), 3 * len(self.ports) + len(self.hosts)
        self._runs.allot(width, 1)
        self.action_space = Box(LEAST_SHARE, 1.0, (hosts,), np.float64)
        self.observation_space = Box(0.0, 1.0, (width,), np.float64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple["NDArray[Any]", dict[str, Any]]:
        """Begin an episode. The run has this seed; without one, a seed that the episode before has drawn."""
        super().reset(seed=seed)
        info = self._runs.begin(0, seed, self.np_random)
        self._runs.read()
        return self._runs.seen[0].copy(), info

    def step(self, action: "NDArray[Any]") -> tuple["NDArray[Any]", float, bool, bool, dict[str, Any]]:
        """Cap the hosts, and go on for a step."""
        runs = self._runs
        runs.step(np.ascontiguousarray(action, np.float64))
        flags = int(runs.flags[0, 0])
        complete = bool(flags & COMPLETE)
        info = {"summary": runs.finish(0)} if flags & OVER else {}
        return runs.seen[0].copy(), float(runs.rewards[0, 0]), complete, bool(flags & OVER) and not complete, info

    def hold(self) -> "NDArray[Any]":
        """Return the action that caps no host: a plain run of the scenario's scheme."""
        return np.ones(len(self.hosts))
