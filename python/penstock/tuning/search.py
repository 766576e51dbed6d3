"""The search: Optuna proposes points where the theory allows them, and the packet simulator says what they are worth.

Points come in batches of fixed size, whatever the number of cores, so that the same seed gives the same search.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from penstock.frames import MissingExtraError
from penstock.result import FrameLossError, Result
from penstock.runs import Run, Watch, copies, run_many
from penstock.scenario import Scenario
from penstock.tuning.goals import Goal, Guard, Observed, observe, score
from penstock.tuning.region import Region
from penstock.tuning.space import Point, set_to
from penstock.tuning.spread import place_of, refusal, value_at

if TYPE_CHECKING:
    import optuna


_BATCH = 8
"""So many points at a time: the sampler learns from them when all are done."""

_LEARNING = 2 * _BATCH
"""So many points the search learns from before it looks near the best of them."""

_STEP = 0.1
"""Standard deviation of a step away from the best point, as a share of what lies between a knob's bounds."""

_ROUNDS = 6
"""For each batch the theory is asked so many times; it leaves some of what is proposed out."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: runs that are under way were ended, and are of no use."""


@dataclass(frozen=True)
class Tried:
    """A point that was simulated.

    Attributes:
        point: its values.
        score: what the search makes least, see :func:`penstock.tuning.goals.score`.
        runs: one for each seed.
    """

    point: Point
    score: float
    runs: tuple[Observed, ...]


def simulate(
    scenarios: Sequence[Scenario], seeds: Sequence[int], queue: str, watch: Watch
) -> list[tuple[Observed, ...]]:
    """Run every scenario with every seed on all cores; return what each comes to, in order of the seeds.

    Raises:
        Interrupted: Ctrl-C.
        ScenarioError: a value is not legal.
    """
    runs = [
        Run(f"{scenario.name}, seed {seed}", copy, seed)
        for scenario, copy in [(scenario, copies(scenario)) for scenario in scenarios]
        for seed in seeds
    ]

    def take(_place: int, result: Result, _loss: FrameLossError | None) -> Observed:
        # A point that loses frames is no failure: it breaks the guard on drops.
        return observe(result, queue)

    found = run_many(runs, take, watch)
    if len(found) < len(runs):
        raise Interrupted
    width = len(seeds)
    observed = [found[place] for place in range(len(runs))]
    return [tuple(observed[first : first + width]) for first in range(0, len(observed), width)]


class Search:
    """A search, batch by batch.

    Attributes:
        tried: what was simulated, in order.
        refused: how many proposals the theory left out.
    """

    def __init__(
        self,
        scenario: Scenario,
        region: Region,
        goal: Goal,
        kept: Sequence[Guard],
        seeds: Sequence[int],
        *,
        queue: str,
        buffer_octets: float,
    ) -> None:
        try:
            import optuna
        except ModuleNotFoundError as error:
            raise MissingExtraError("optuna", "tune") from error

        # Its messages on each trial would be most of what a person sees.
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._scenario, self._region = scenario, region
        self._goal, self._kept, self._seeds = goal, kept, seeds
        self._queue, self._buffer_octets = queue, buffer_octets
        self._study = optuna.create_study(
            sampler=optuna.samplers.TPESampler(seed=seeds[0], n_startup_trials=_LEARNING, constant_liar=True)
        )
        for start in region.starts:
            self._study.enqueue_trial(dict(start))
        self._steps = np.random.default_rng(seeds[0])
        self.tried: list[Tried] = []
        self.refused = 0

    def learn(self, point: Point, runs: Sequence[Observed]) -> None:
        """Let the search know what a point comes to that was simulated before it, whatever theory says of it.

        The scenario's own parameters keep the guards, or nearly. Where few points do, the search would else look for
        long without one that does.
        """
        import optuna

        knobs = self._region.knobs
        if all(knob.low <= point[knob.name] <= knob.high for knob in knobs):
            spans: dict[str, optuna.distributions.BaseDistribution] = {
                knob.name: optuna.distributions.FloatDistribution(knob.low, knob.high, log=knob.log) for knob in knobs
            }
            worth = score(self._goal, self._kept, runs, self._buffer_octets)
            self._study.add_trial(optuna.trial.create_trial(params=dict(point), distributions=spans, value=worth))

    def run(self, trials: int, watch: Watch) -> None:
        """Simulate so many points, or fewer if the theory leaves out too many.

        Raises:
            Interrupted: Ctrl-C; what was simulated until then is in ``tried``.
        """
        while len(self.tried) < trials:
            batch = self._ask(min(_BATCH, trials - len(self.tried)))
            if not batch:
                break
            scenarios = [set_to(self._scenario, self._region.knobs, point) for _, point in batch]
            runs = simulate(scenarios, self._seeds, self._queue, watch)
            for (trial, point), observed in zip(batch, runs, strict=True):
                worth = score(self._goal, self._kept, observed, self._buffer_octets)
                self._study.tell(trial, worth)
                self.tried.append(Tried(point, worth, observed))

    @property
    def best(self) -> Tried | None:
        """The point with the least score; the first of several."""
        return min(self.tried, key=lambda tried: tried.score, default=None)

    def _ask(self, count: int) -> "list[tuple[optuna.trial.Trial, Point]]":
        """So many points that theory keeps, in rounds; fewer if after all rounds there are none more."""
        import optuna

        batch: list[tuple[optuna.trial.Trial, Point]] = []
        for _ in range(_ROUNDS):
            asked = [self._proposal(near=place % 2 == 1) for place in range(len(batch), count)]
            held = self._region.holds([point for _, point in asked])
            for (trial, point), fits in zip(asked, held, strict=True):
                if fits and refusal(self._scenario, self._region.knobs, point) is None:
                    batch.append((trial, point))
                else:
                    self.refused += 1
                    self._study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            if len(batch) == count:
                break
        return batch

    def _proposal(self, *, near: bool) -> "tuple[optuna.trial.Trial, Point]":
        best = self.best
        if near and best is not None and len(self.tried) >= _LEARNING:
            self._study.enqueue_trial(self._beside(best.point))
        trial = self._study.ask()
        knobs = self._region.knobs
        return trial, {
            knob.name: knob.snapped(trial.suggest_float(knob.name, knob.low, knob.high, log=knob.log)) for knob in knobs
        }

    def _beside(self, point: Point) -> dict[str, float]:
        """A point a random step away from another: half of the knobs move, on average."""
        knobs = self._region.knobs
        steps = np.where(self._steps.random(len(knobs)) < 0.5, self._steps.normal(0.0, _STEP, len(knobs)), 0.0)
        return {
            knob.name: value_at(knob, min(max(place_of(knob, point[knob.name]) + step, 0.0), 1.0))
            for knob, step in zip(knobs, steps.tolist(), strict=True)
        }
