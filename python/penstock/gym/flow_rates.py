"""Rates by flow: an agent for each flow decides on its rate, from the round trips and signals that reach its source."""

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium.spaces import Box
from pettingzoo import ParallelEnv

from penstock import _core
from penstock.errors import ArgumentError
from penstock.gym.draws import Draw
from penstock.gym.runs import COMPLETE, DUE, ENDED, OVER, Runs, checked_step
from penstock.scenario import Scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray

TARGET = 0.768
"""RL-CC's target of the inflation of the round trip by the root of the rate's share (`distill_network.py`)."""

LEAST_SHARE = 1e-3
"""The least share of its line that a flow may have."""

WIDTH = 4
"""Numbers of an observation."""


class Learnt(NamedTuple):
    """What the source of a flow has learnt since the start of the run."""

    acks: int
    """Acknowledgements of the scheme."""
    marked: int
    """Of them, those that echo a mark."""
    signals: int
    """Notifications, such as DCQCN's congestion notification packets."""
    round_trips_s: float
    """Round trips of all acknowledgements, added up, s."""
    sent_octets: int
    """Octets of frames sent, with FCS, without wire overhead."""
    rate_bps: int
    """The rate that the flow may use, bit/s."""


def flow_agents(
    runs: int,
    threads: int,
    step_s: float,
    *,
    acks: int | None = None,
    signals: bool = False,
    action: str = "factor",
    native: bool = False,
    target: float = TARGET,
) -> "_core.Agents":
    """Return the engine's runs with an agent for each flow; the arguments are those of :class:`FlowRates`.

    Raises:
        ArgumentError: one of them is out of range.
    """
    if action not in ("factor", "share"):
        raise ArgumentError(f"action: {action!r} is no kind of action", "write 'factor', or 'share'")
    if acks is not None and acks < 1:
        raise ArgumentError(f"acks: {acks!r} is no number of acknowledgements", "write acks=1, or leave it out")
    factors = action == "factor"
    return _core.Agents.flows(
        runs, threads, checked_step(step_s), target, LEAST_SHARE, factors, acks or 0, signals, not native
    )


class FlowRates(ParallelEnv[str, "NDArray[Any]", "NDArray[Any]"]):  # type: ignore[misc, unused-ignore]
    """An agent for each flow (Tessler et al. 2021, RL-CC; Fuhrer et al. 2022, and their program at a877485).

    The scheme's congestion points and notification points work, and its signals and acknowledgements reach sources;
    the agents alone decide on rates. ``timely`` brings round trips, ``dcqcn`` notifications of marks.

    Observation: four numbers, those that RL-CC's published network takes.

    =============== ===================================================================
    factor, error   of the decision before
    factor          by which the last action changed the rate
    error           inflation * sqrt(rate / line) - target, where the inflation is the mean round trip since the last
                    decision over that of the empty network; without acknowledgements, the error before
    =============== ===================================================================

    The program evaluates its network on states with the other order. That order, or errors of the other sign, starve
    flows here: see the page of measurements.

    Action: a number ``a`` from -1 to 1 that multiplies the rate, by 1 + 0.2 a, or by 1 / (1 - 0.2 a) below 0. With
    ``action="share"`` it is the share of its line that the flow may use, from 0.001 to 1. Flows start at their line's.

    Reward: -error^2, at each decision (Tessler et al. 2021).

    A step ends after ``step_s``, or earlier where an agent is due: after its number of acknowledgements, after a
    signal, or when it is woken. ``info["due"]`` says who decides; actions of others are ignored. An agent whose flow
    has ended is terminated. The end of the run truncates the others. The last ``infos`` have the ``summary``.

    Attributes:
        due: the agents that decide now.

    Args:
        scenario: the scenario, its file or its name; each of its flows has its own rate limiter.
        step_s: the longest time of a step, s.
        scheme: instead of the scenario's; ``timely`` or ``dcqcn``.
        acks: an agent decides after this number of acknowledgements.
        signals: an agent decides after each signal.
        action: ``factor`` or ``share``.
        native: the sources of the scheme decide, and actions change nothing: any scheme has a score so.
        draws: keys of the scenario that each episode draws, by its seed.
        target: of inflation * sqrt(rate / line).

    Raises:
        ArgumentError: the scheme has windows or no least rate, flows share a limiter, or an argument is out of range.
        ScenarioError: the scenario is wrong.
    """

    metadata: dict[str, Any] = {"name": "penstock_flow_rates", "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | str | PathLike[str],
        *,
        step_s: float = 20e-6,
        scheme: str | None = "timely",
        acks: int | None = None,
        signals: bool = False,
        action: str = "factor",
        native: bool = False,
        draws: Mapping[str, Draw] | None = None,
        target: float = TARGET,
    ) -> None:
        self._core = flow_agents(1, 1, step_s, acks=acks, signals=signals, action=action, native=native, target=target)
        self._runs = Runs(self._core, 1, scenario, scheme, draws)
        self.possible_agents = self._runs.names
        self.agents: list[str] = []
        self._place = {agent: place for place, agent in enumerate(self.possible_agents)}
        flows = len(self.possible_agents)
        self._runs.allot(WIDTH * flows, flows)
        self._native, self._factors = native, action == "factor"
        self._random = np.random.default_rng()
        self.due: list[str] = []
        low = np.array([0.0, -target, 0.0, -target])
        self._space = Box(low, np.inf, (WIDTH,), np.float64)
        self._action = Box(-1.0 if self._factors else LEAST_SHARE, 1.0, (1,), np.float64)

    def observation_space(self, agent: str) -> Box:
        """Return the space of a flow's observations."""
        return self._space

    def action_space(self, agent: str) -> Box:
        """Return the space of a flow's actions."""
        return self._action

    @property
    def now_ps(self) -> int:
        """Simulated time, ps."""
        return self._core.times(0)[0]

    def line_bps(self, agent: str) -> float:
        """Return the rate of the line of a flow's source, bit/s."""
        return self._runs.lines[self._place[agent]]

    def learnt(self, agent: str) -> Learnt:
        """Return what the source of a flow has learnt since the start of the run."""
        return Learnt(*self._core.learnt(0, self._place[agent]))

    def wake_at(self, agent: str, ps: int | None) -> None:
        """Let an agent decide at a time, ps; None for no such time."""
        self._core.wake_at(0, self._place[agent], ps)

    def wake_after(self, agent: str, octets: int | None) -> None:
        """Let an agent decide once its flow has sent this number of further octets; None for no such number."""
        self._core.wake_after(0, self._place[agent], octets)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, "NDArray[Any]"], dict[str, dict[str, Any]]]:
        """Begin an episode. The run has this seed; without one, a seed that is drawn."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        info = self._runs.begin(0, seed, self._random)
        self._runs.read()
        self.agents = list(self.possible_agents)
        self.due = list(self.agents)
        return self._observations(), {agent: {**info, "due": True} for agent in self.agents}

    def step(
        self, actions: dict[str, "NDArray[Any]"]
    ) -> tuple[
        dict[str, "NDArray[Any]"],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Change the rates of those that are due, and go on for a step."""
        runs, agents = self._runs, self.agents
        wanted = np.full(len(self.possible_agents), np.nan)
        for agent in () if self._native else self.due:
            if agent in actions:
                wanted[self._place[agent]] = float(np.asarray(actions[agent]).ravel()[0])
        runs.step(wanted)
        found, flags = self._observations(), [int(flag) for flag in runs.flags[0]]
        while not flags[0] & OVER and all(own & ENDED for own in flags):
            # Nobody decides any more: the run goes on to its end.
            runs.step(np.full(len(self.possible_agents), np.nan))
            flags = [int(flag) for flag in runs.flags[0]]
        bits = {agent: flags[self._place[agent]] for agent in agents}
        over = bool(flags[0] & OVER)
        summary = {"summary": runs.finish(0)} if over else {}
        rewards = runs.rewards[0].tolist()
        complete = bool(flags[0] & COMPLETE)
        ended = {agent: bool(own & ENDED) or complete for agent, own in bits.items()}
        self.due = [agent for agent, own in bits.items() if own & DUE]
        self.agents = [] if over else [agent for agent in agents if not ended[agent]]
        return (
            found,
            {agent: rewards[self._place[agent]] for agent in agents},
            ended,
            {agent: over and not ended[agent] for agent in agents},
            {agent: {"due": bool(own & DUE), **summary} for agent, own in bits.items()},
        )

    def hold(self) -> dict[str, "NDArray[Any]"]:
        """Return the actions that leave rates as they are; those of shares let all flows send at their line's."""
        return {agent: np.array([0.0 if self._factors else 1.0]) for agent in self.agents}

    def _observations(self) -> dict[str, "NDArray[Any]"]:
        rows = self._runs.seen.reshape(-1, WIDTH).copy()
        return {agent: rows[self._place[agent]] for agent in self.agents}
