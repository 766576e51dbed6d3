"""Runs in steps, one or many, and agents that decide between two steps; the engine makes observations and rewards."""

import json
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock import _core
from penstock.errors import ArgumentError
from penstock.gym.draws import Draw, Draws
from penstock.scenario import Scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.summary import Summary

OVER, COMPLETE, DUE, ENDED = 1, 2, 4, 8
"""Bits of an agent's flags: its run has ended; all flows with a size ended before; it decides now; its flow ended."""


def checked_step(step_s: float) -> float:
    """Return the time of a step, s.

    Raises:
        ArgumentError: it is none.
    """
    if not 1e-9 <= step_s < float("inf"):
        raise ArgumentError(f"step_s: {step_s!r} is not the time of a step", "for instance 20e-6, for 20 us")
    return step_s


class Runs:
    """Runs of one scenario, each with its seed and what it draws.

    Args:
        core: the engine's runs.
        count: how many there are.
        scenario: the scenario, its file or its name.
        scheme: instead of the scenario's.
        draws: keys of the scenario that each run draws.

    Attributes:
        names: of the things that an action sets: hosts, or flows.
        ports: names of the ports that are observed.
        lines: rates of the lines of hosts or of flows, bit/s.
        round_trips_s: of flows, through the empty network, s.
        seen: a row of numbers for each run, written by each step.
        rewards: of each run and agent.
        flags: of each run and agent, the bits of this module.

    Raises:
        ArgumentError: a draw is neither values nor a range.
        ScenarioError: the scenario is wrong.
    """

    def __init__(
        self,
        core: "_core.Agents",
        count: int,
        scenario: Scenario | str | PathLike[str],
        scheme: str | None,
        draws: Mapping[str, Draw] | None,
    ) -> None:
        self._scenario = Scenario.of(scenario).copy()
        self._core, self._scheme, self._draws = core, scheme, Draws(draws)
        self.count = count
        self._begin(0, 0, np.random.default_rng(0))
        names = core.names(0)
        self.ports = [name for name, _ in core.ports(0)]
        self.names = [name for name, _, _ in names]
        self.lines = [line for _, line, _ in names]
        self.round_trips_s = [time for _, _, time in names]

    def allot(self, width: int, agents: int) -> None:
        """Make room for ``width`` numbers that each run shows, and for rewards and flags of its agents."""
        self.seen: NDArray[Any] = np.zeros((self.count, width))
        self.rewards: NDArray[Any] = np.zeros((self.count, agents))
        self.flags: NDArray[Any] = np.zeros((self.count, agents), np.uint8)

    def begin(self, place: int, seed: int | None, random: np.random.Generator) -> dict[str, Any]:
        """Begin a run; without a seed with one that is drawn. Returns the seed, and what was drawn."""
        own = int(random.integers(2**31)) if seed is None else seed
        return {"seed": own, "settings": dict(self._begin(place, own, random))}

    def read(self) -> None:
        """Read the state of runs that have begun since the last step."""
        self._core.write(self.seen, self.rewards, self.flags)

    def step(self, actions: "NDArray[Any]") -> None:
        """Take a step of each run that has not ended. An action that is no number changes nothing.

        Raises:
            ArgumentError: there are more or fewer actions than hosts or flows.
        """
        if actions.size != self.count * len(self.names):
            raise ArgumentError(
                f"{actions.size} actions for {self.count * len(self.names)} hosts or flows",
                f"one for each of {', '.join(self.names[:4])}, in each run",
            )
        self._core.step(actions, self.seen, self.rewards, self.flags)

    def finish(self, place: int) -> "Summary":
        """End a run, and return its summary."""
        summary: Summary = json.loads(self._core.finish(place))
        return summary

    def _begin(self, place: int, seed: int, random: np.random.Generator) -> tuple[tuple[str, str], ...]:
        settings = self._draws.settings(random)
        try:
            self._core.begin(place, self._scenario._core, settings, self._scheme, seed)
        except ValueError as error:
            raise ArgumentError(str(error), "take the scheme timely or dcqcn, and a scenario with flows") from None
        return settings
