"""Rates by host: one agent sees all queues and caps what each host sends."""

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from penstock.gym.episode import DROPPED, Draw, Episode
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
        scenario: the scenario, or its file.
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
        self._episode = Episode(scenario, step_s, scheme, draws)
        self._most_octets = most_octets
        hosts, ports = len(self._episode.hosts), len(self._episode.ports)
        self.hosts = [name for name, _ in self._episode.hosts]
        self.ports = [name for name, _ in self._episode.ports]
        self.action_space = Box(LEAST_SHARE, 1.0, (hosts,), np.float64)
        self.observation_space = Box(0.0, 1.0, (3 * ports + hosts,), np.float64)
        self._shares = np.ones(hosts)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple["NDArray[Any]", dict[str, Any]]:
        """Begin an episode. The run has this seed; without one, a seed that the episode before has drawn."""
        super().reset(seed=seed)
        own = int(self.np_random.integers(2**31)) if seed is None else seed
        self._episode.begin(own, self.np_random)
        self._shares = np.ones(len(self.hosts))
        return self._observation(), {"seed": own, "settings": dict(self._episode.settings)}

    def step(self, action: "NDArray[Any]") -> tuple["NDArray[Any]", float, bool, bool, dict[str, Any]]:
        """Cap the hosts, and go on for a step."""
        shares = np.minimum(np.maximum(np.asarray(action, dtype=float), LEAST_SHARE), 1.0)
        for place in np.flatnonzero(shares != self._shares).tolist():
            self._episode.run.cap(place, float(shares[place]) * self._episode.hosts[place][1])
        self._shares = shares
        over = self._episode.advance()
        observation, mean = self._observation(), float(shares.mean())
        queue = float(observation[: 3 * len(self.ports) : 3].max(initial=0.0))
        complete = self._episode.complete
        info = {"summary": self._episode.finish()} if over else {}
        return observation, mean - 2.0 * queue * mean, complete, over and not complete, info

    def hold(self) -> "NDArray[Any]":
        """Return the action that caps no host: a plain run of the scenario's scheme."""
        return np.ones(len(self.hosts))

    def _observation(self) -> "NDArray[Any]":
        episode = self._episode
        queue = np.minimum(episode.queued_octets / self._most_octets, 1.0)
        ports = np.column_stack([queue, episode.utilization, episode.share(DROPPED)])
        return np.concatenate([ports.ravel(), self._shares])
