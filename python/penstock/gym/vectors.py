"""Many runs at a time for agents that learn: vector environments of Gymnasium, on threads of the engine."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from penstock import _core
from penstock.errors import ArgumentError
from penstock.executors.processes import cores
from penstock.gym.draws import Draw
from penstock.gym.flow_rates import LEAST_SHARE as LEAST_OF_FLOW
from penstock.gym.flow_rates import TARGET, WIDTH, flow_agents
from penstock.gym.host_rates import LEAST_SHARE as LEAST_OF_HOST
from penstock.gym.runs import COMPLETE, ENDED, OVER, Runs, checked_step
from penstock.scenario import Scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Vector(VectorEnv["NDArray[Any]", "NDArray[Any]", "NDArray[Any]"]):  # type: ignore[misc, unused-ignore]
    """Runs that are stepped together, each with one entry or more."""

    def __init__(self, runs: Runs, width: int, agents: int, action: Box, seen: Box, mode: AutoresetMode | str) -> None:
        try:
            self._mode = AutoresetMode(mode)
        except ValueError:
            modes = ", ".join(repr(own.value) for own in AutoresetMode)
            raise ArgumentError(f"autoreset_mode: {mode!r} is none", f"write one of {modes}") from None
        self._runs, self._agents = runs, agents
        runs.allot(width * agents, agents)
        self.num_envs = runs.count * agents
        self.metadata = {"render_modes": [], "autoreset_mode": self._mode}
        self.single_observation_space, self.single_action_space = seen, action
        self.observation_space = batch_space(seen, self.num_envs)
        self.action_space = batch_space(action, self.num_envs)
        self._randoms = [np.random.default_rng() for _ in range(runs.count)]
        self._over = np.zeros(runs.count, bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple["NDArray[Any]", dict[str, Any]]:
        """Begin an episode of each run; run ``i`` has the seed ``seed + i``, or the ``i``-th of a list.

        ``options={"reset_mask": ...}``, True for each entry to be reset, leaves the other runs as they are.
        """
        count = self._runs.count
        seeds = [seed + i for i in range(count)] if isinstance(seed, int) else list(seed or [None] * count)
        if len(seeds) != count:
            raise ArgumentError(f"seed: {len(seeds)} seeds for {count} runs", "give one seed for each run, or a number")
        mask = (options or {}).get("reset_mask")
        chosen = range(count) if mask is None else np.flatnonzero(np.reshape(mask, (count, -1)).any(axis=1)).tolist()
        infos: dict[str, Any] = {}
        for place in chosen:
            self._begin(place, infos, seeds[place])
        self._runs.read()
        return self._observations(), infos

    def step(
        self, actions: "NDArray[Any]"
    ) -> tuple["NDArray[Any]", "NDArray[Any]", "NDArray[Any]", "NDArray[Any]", dict[str, Any]]:
        """Take a step of each run; what becomes of those that have ended is for ``autoreset_mode``."""
        runs = self._runs
        infos: dict[str, Any] = {}
        runs.step(np.ascontiguousarray(actions, np.float64))
        if self._mode is AutoresetMode.NEXT_STEP and self._over.any():
            for place in np.flatnonzero(self._over).tolist():
                self._begin(place, infos, None)
            runs.read()
        flags = runs.flags
        over = (flags & OVER) > 0
        terminated = over & ((flags & (COMPLETE | ENDED)) > 0)
        rewards, found = runs.rewards.ravel().copy(), self._observations()
        ended = np.flatnonzero(over[:, 0] & ~self._over).tolist()
        self._over = over[:, 0].copy()
        if ended:
            for place in ended:
                self._end(place, infos, found)
            if self._mode is AutoresetMode.SAME_STEP:
                runs.read()
                found = self._observations()
        return found, rewards, terminated.ravel(), (over & ~terminated).ravel(), infos

    def hold(self) -> "NDArray[Any]":
        """Return the actions that leave all as it is."""
        return self._all(1.0)

    def _all(self, action: float) -> "NDArray[Any]":
        return np.full(self.action_space.shape or (), action)

    def _begin(self, place: int, infos: dict[str, Any], seed: int | None) -> None:
        if seed is not None:
            self._randoms[place] = np.random.default_rng(seed)
        self._tell(place, infos, self._runs.begin(place, seed, self._randoms[place]))
        self._over[place] = False

    def _end(self, place: int, infos: dict[str, Any], found: "NDArray[Any]") -> None:
        summary = {"summary": self._runs.finish(place)}
        if self._mode is AutoresetMode.SAME_STEP:
            for entry in self._entries(place):
                infos.setdefault("final_obs", np.full(self.num_envs, None))[entry] = found[entry]
                infos.setdefault("_final_obs", np.zeros(self.num_envs, bool))[entry] = True
            self._tell(place, infos.setdefault("final_info", {}), summary)
            self._begin(place, infos, None)
        else:
            self._tell(place, infos, summary)

    def _tell(self, place: int, infos: dict[str, Any], info: dict[str, Any]) -> None:
        """Add what is known of a run, as Gymnasium has it: arrays over all entries, and masks of those that have it."""
        for key, value in info.items():
            empty = np.zeros(self.num_envs, np.int64) if isinstance(value, int) else np.full(self.num_envs, None)
            for entry in self._entries(place):
                infos.setdefault(key, empty)[entry] = value
                infos.setdefault(f"_{key}", np.zeros(self.num_envs, bool))[entry] = True

    def _entries(self, place: int) -> range:
        return range(place * self._agents, (place + 1) * self._agents)

    def _observations(self) -> "NDArray[Any]":
        return self._runs.seen.reshape(self.num_envs, -1).copy()


class HostRatesVector(_Vector):
    """Runs of :class:`HostRates`, one an entry; run ``i`` is that of the single environment with the same seed.

    Args:
        scenario: the scenario, its file or its name.
        num_envs: how many runs.
        step_s: simulated time of a step, s.
        scheme: instead of the scenario's.
        draws: keys of the scenario that each episode draws, by its seed.
        most_octets: the queue that counts as 1, octets.
        threads: threads of the engine; by default one for each core.
        autoreset_mode: Gymnasium's, when runs that have ended begin again.

    Raises:
        ArgumentError: the step is no time, there is no such mode, or a draw is neither values nor a range.
        ScenarioError: the scenario is wrong.
    """

    def __init__(
        self,
        scenario: Scenario | str | PathLike[str],
        num_envs: int = 1,
        *,
        step_s: float = 20e-6,
        scheme: str | None = None,
        draws: Mapping[str, Draw] | None = None,
        most_octets: float = 1e6,
        threads: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        count = _counted("num_envs", num_envs)
        core = _core.Agents.hosts(count, _threads(threads), checked_step(step_s), most_octets, LEAST_OF_HOST)
        runs = Runs(core, count, scenario, scheme, draws)
        self.hosts, self.ports = runs.names, runs.ports
        hosts, width = len(self.hosts), 3 * len(self.ports) + len(self.hosts)
        action = Box(LEAST_OF_HOST, 1.0, (hosts,), np.float64)
        super().__init__(runs, width, 1, action, Box(0.0, 1.0, (width,), np.float64), autoreset_mode)


class FlowRatesVector(_Vector):
    """Runs of :class:`FlowRates` with a fixed step, an entry for each flow: one policy decides for all of them.

    A flow that has ended keeps its entry until its run ends, with reward 0.

    Args:
        scenario: the scenario, its file or its name; each of its flows has its own rate limiter.
        num_envs: how many flows in all: a multiple of those of a run; by default those of one run.
        step_s: simulated time of a step, s.
        scheme: instead of the scenario's; ``timely`` or ``dcqcn``.
        draws: keys of the scenario that each episode draws, by its seed.
        action: ``factor`` or ``share``.
        target: of inflation * sqrt(rate / line).
        threads: threads of the engine; by default one for each core.
        autoreset_mode: Gymnasium's, when runs that have ended begin again.

    Raises:
        ArgumentError: as those of :class:`FlowRates` and :class:`HostRatesVector`, or the number is no multiple.
        ScenarioError: the scenario is wrong.
    """

    def __init__(
        self,
        scenario: Scenario | str | PathLike[str],
        num_envs: int | None = None,
        *,
        step_s: float = 20e-6,
        scheme: str | None = "timely",
        draws: Mapping[str, Draw] | None = None,
        action: str = "factor",
        target: float = TARGET,
        threads: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        one = Runs(flow_agents(1, 1, step_s, action=action, target=target), 1, scenario, scheme, draws)
        self.flows = one.names
        entries = _counted("num_envs", len(self.flows) if num_envs is None else num_envs)
        count = entries // len(self.flows)
        if count * len(self.flows) != entries:
            several = f"{len(self.flows)} flows a run, for instance num_envs={8 * len(self.flows)}"
            raise ArgumentError(f"num_envs: {num_envs} is no multiple of the flows of a run", f"there are {several}")
        core = flow_agents(count, _threads(threads), step_s, action=action, target=target)
        runs = Runs(core, count, scenario, scheme, draws)
        self._factors = action == "factor"
        low = np.array([0.0, -target, 0.0, -target])
        limits = Box(-1.0 if self._factors else LEAST_OF_FLOW, 1.0, (1,), np.float64)
        super().__init__(runs, WIDTH, len(self.flows), limits, Box(low, np.inf, (WIDTH,), np.float64), autoreset_mode)

    def hold(self) -> "NDArray[Any]":
        """Return the actions that leave rates as they are; those of shares let all flows send at their line's."""
        return self._all(0.0 if self._factors else 1.0)


def _counted(name: str, count: int) -> int:
    if not isinstance(count, int) or count < 1:
        raise ArgumentError(f"{name}: {count!r} is no number of environments", f"write {name}=8")
    return count


def _threads(threads: int | None) -> int:
    return _counted("threads", cores() if threads is None else threads)


gymnasium.register("penstock/HostRates-v0", "penstock.gym:HostRates", vector_entry_point="penstock.gym:HostRatesVector")
gymnasium.register("penstock/FlowRates-v0", vector_entry_point="penstock.gym:FlowRatesVector")
