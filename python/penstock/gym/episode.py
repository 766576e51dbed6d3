"""An episode: a run of a scenario that is taken in steps, with keys drawn by seed."""

import json
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock import _core
from penstock.gym.draws import Draw, Draws
from penstock.gym.runs import checked_step
from penstock.scenario import Scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.summary import Summary

QUEUED, USED_S, DROPPED, SENT, MARKED = range(5)
"""Columns of the state of queues: octets; then since the start s of the line, and frames dropped, sent and marked."""


class Episode:
    """A run in steps; :meth:`begin` starts one.

    Args:
        scenario: the scenario, its file or its name.
        step_s: simulated time of a step, s.
        scheme: instead of the scenario's.
        draws: keys of the scenario that each episode draws, by its seed.

    Raises:
        ArgumentError: the step is no time, or a draw neither values nor a range.
        ScenarioError: the scenario is wrong.
    """

    def __init__(
        self,
        scenario: Scenario | str | PathLike[str],
        step_s: float,
        scheme: str | None,
        draws: Mapping[str, Draw] | None,
    ) -> None:
        self._scenario = Scenario.of(scenario).copy()
        self.step_s = checked_step(step_s)
        self._scheme = scheme
        self._draws = Draws(draws)
        self.begin(0, np.random.default_rng(0))

    def begin(self, seed: int, draw: np.random.Generator) -> None:
        """Start an episode: a run with this seed, and keys that ``draw`` draws."""
        self.settings = self._draws.settings(draw)
        self.run = _core.Stepper(self._scenario._core, self.settings, self._scheme, None, seed)
        self.ports = self.run.ports
        self._before = self._after = np.zeros((len(self.ports), 5))

    def advance(self) -> bool:
        """Take a step; return whether the run has come to its end."""
        self.run.advance(self.step_s)
        self._before, self._after = self._after, np.asarray(self.run.queues(), dtype=float).reshape(-1, 5)
        return self.run.over

    @property
    def complete(self) -> bool:
        """Whether every flow with a size has ended, in a run that lasts until then."""
        return self.run.over and self.run.now_s < self.duration_s - 1e-12

    @property
    def duration_s(self) -> float:
        """Time of the whole run, s."""
        return self.run.duration_s

    @property
    def queued_octets(self) -> "NDArray[Any]":
        """Octets in the queue of each port, now."""
        queued: NDArray[Any] = self._after[:, QUEUED]
        return queued

    @property
    def utilization(self) -> "NDArray[Any]":
        """Share of the last step in which each port's line was used."""
        used: NDArray[Any] = np.minimum((self._after[:, USED_S] - self._before[:, USED_S]) / self.step_s, 1.0)
        return used

    def share(self, column: int) -> "NDArray[Any]":
        """Share of the frames of the last step that each port has dropped or marked, of those dropped or sent."""
        step = self._after - self._before
        frames = step[:, SENT] + (step[:, DROPPED] if column == DROPPED else 0.0)
        share: NDArray[Any] = np.minimum(step[:, column] / np.maximum(frames, 1.0), 1.0)
        return share

    def finish(self) -> "Summary":
        """End the run, and return its summary."""
        summary: Summary = json.loads(self.run.finish())
        return summary
