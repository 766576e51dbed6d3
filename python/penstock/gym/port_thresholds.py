"""Thresholds by port: an agent for each port sets at which lengths of its queue frames are marked."""

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.spaces import Box
from pettingzoo import ParallelEnv

from penstock.errors import ArgumentError
from penstock.gym.draws import Draw
from penstock.gym.episode import MARKED, Episode
from penstock.scenario import Scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray

THRESHOLDS = ("k_min", "k_max", "p_max")
"""The parameters of marking by a ramp: DCQCN's names."""


class PortThresholds(ParallelEnv[str, "NDArray[Any]", "NDArray[Any]"]):  # type: ignore[misc, unused-ignore]
    """An agent for each port with a congestion point (Yan et al. 2021, "ACC: Automatic ECN tuning", SIGCOMM).

    The scheme must mark by a ramp with the parameters ``k_min``, ``k_max`` and ``p_max``, as ``dcqcn`` does.

    Observation: six numbers from 0 to 1 for each port.

    ============ ======================================================================
    queue        octets in the queue over ``most_octets``
    utilisation  share of the step in which the line was used
    marks        frames marked in the step over frames sent
    thresholds   ``k_min``, ``k_max`` and ``p_max`` in force, as an action has them
    ============ ======================================================================

    Action: ``k_min`` and ``k_max`` from 0 (``least_octets``) to 1 (``most_octets``), by factors; and ``p_max`` itself.
    A ``k_max`` below ``k_min`` is raised to it.

    Reward: ``weight`` times the utilisation, and the rest times 1 - queue: ACC's, with a straight line in place of its
    steps.

    The end of the run truncates an episode for every agent; one whose flows with a size have all ended before is
    terminated. The last ``infos`` have the run's ``summary``.

    Args:
        scenario: the scenario, its file or its name.
        step_s: simulated time of a step, s.
        scheme: instead of the scenario's.
        draws: keys of the scenario that each episode draws, by its seed.
        least_octets: the least threshold, octets.
        most_octets: the largest threshold, and the queue that counts as 1, octets.
        weight: the part of the utilisation in the reward.

    Raises:
        ArgumentError: the scheme has no such thresholds, or a setting is out of its range.
        ScenarioError: the scenario is wrong.
    """

    metadata: dict[str, Any] = {"name": "penstock_port_thresholds", "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | str | PathLike[str],
        *,
        step_s: float = 50e-6,
        scheme: str | None = None,
        draws: Mapping[str, Draw] | None = None,
        least_octets: float = 1e3,
        most_octets: float = 1e7,
        weight: float = 0.5,
    ) -> None:
        if not 0 < least_octets < most_octets or not 0 <= weight <= 1:
            raise ArgumentError(
                f"thresholds from {least_octets} to {most_octets} octets with weight {weight} are out of range",
                "for instance least_octets=1e3, most_octets=1e7, weight=0.5",
            )
        self._episode = Episode(scenario, step_s, scheme, draws)
        self._least, self._most, self._weight = least_octets, most_octets, weight
        self.possible_agents = [name for name, _ in self._episode.ports]
        self.agents: list[str] = []
        self._in_force: NDArray[Any] = np.empty((0, 3))
        self._random = np.random.default_rng()
        try:
            [self._episode.run.parameter(0, name) for name in THRESHOLDS]
        except (ValueError, IndexError) as error:
            raise ArgumentError(f"no thresholds to set: {error}", "take a scheme that marks by a ramp: dcqcn") from None
        self._spaces = {agent: Box(0.0, 1.0, (6,), np.float64) for agent in self.possible_agents}
        self._actions = {agent: Box(0.0, 1.0, (3,), np.float64) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Box:
        """Return the space of a port's observations."""
        return self._spaces[agent]

    def action_space(self, agent: str) -> Box:
        """Return the space of a port's actions."""
        return self._actions[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, "NDArray[Any]"], dict[str, dict[str, Any]]]:
        """Begin an episode. The run has this seed; without one, a seed that is drawn."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        own = int(self._random.integers(2**31)) if seed is None else seed
        self._episode.begin(own, self._random)
        self.agents = list(self.possible_agents)
        self._in_force = self._first()
        info = {"seed": own, "settings": dict(self._episode.settings)}
        return self._observations(), {agent: dict(info) for agent in self.agents}

    def step(
        self, actions: dict[str, "NDArray[Any]"]
    ) -> tuple[
        dict[str, "NDArray[Any]"],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Set the thresholds, and go on for a step."""
        run = self._episode.run
        for place, agent in enumerate(self.possible_agents):
            wanted = [min(max(float(part), 0.0), 1.0) for part in actions.get(agent, ())]
            if wanted and wanted != self._in_force[place].tolist():
                wanted[1] = max(wanted[:2])
                values = (self._octets(wanted[0]), self._octets(wanted[1]), wanted[2])
                run.retune(place, list(zip(THRESHOLDS, values, strict=True)))
                self._in_force[place] = wanted
        over = self._episode.advance()
        found, agents = self._observations(), self.agents
        rewards = {
            agent: self._weight * float(own[1]) + (1 - self._weight) * (1 - float(own[0]))
            for agent, own in found.items()
        }
        complete = self._episode.complete
        summary = {"summary": self._episode.finish()} if over else {}
        if over:
            self.agents = []
        return (
            found,
            rewards,
            dict.fromkeys(agents, complete),
            dict.fromkeys(agents, over and not complete),
            {agent: dict(summary) for agent in agents},
        )

    def hold(self) -> dict[str, "NDArray[Any]"]:
        """Return the actions that leave the thresholds as they are: a plain run of the scenario's scheme."""
        return {agent: own.copy() for agent, own in zip(self.possible_agents, self._in_force, strict=True)}

    def _octets(self, part: float) -> float:
        return self._least * float((self._most / self._least) ** part)

    def _first(self) -> "NDArray[Any]":
        """Return the thresholds of all ports as actions have them."""
        ports = range(len(self.possible_agents))
        values = np.array([[self._episode.run.parameter(place, name) for name in THRESHOLDS] for place in ports])
        part = np.log(np.maximum(values[:, :2], self._least) / self._least) / np.log(self._most / self._least)
        return np.column_stack([part, values[:, 2]])

    def _observations(self) -> dict[str, "NDArray[Any]"]:
        episode = self._episode
        queue = episode.queued_octets / self._most
        state = np.column_stack([queue, episode.utilization, episode.share(MARKED), self._in_force])
        np.minimum(state, 1.0, out=state)
        return dict(zip(self.possible_agents, state, strict=True))
