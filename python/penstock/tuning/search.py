"""The search: Optuna proposes points where the theory allows them, and the packet simulator says what they are worth.

Goals with the same guards propose points by turns, and each run is scored by every one of them. A point that one goal
proposed is the answer to another if it is the best by that one. So the points do not depend on which of the goals is
asked for, and no answer is worse, by its own goal, than a point that was proposed for another.

Points come in batches of fixed size, on any number of cores, so that the same seed gives the same search.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from penstock.data_frames import MissingExtraError
from penstock.executors.executor import Executor
from penstock.result import ClaimError, Result
from penstock.runs import PERCENTILES, Run, RunCallbacks, copies, run_many
from penstock.scenario import Scenario
from penstock.tuning.goals import Guard, score
from penstock.tuning.initial_points import place_of, refusal, value_at
from penstock.tuning.measures import Observed, observe
from penstock.tuning.search_region import Region
from penstock.tuning.search_space import Point, set_to

if TYPE_CHECKING:
    import optuna


_BATCH = 8
"""Points that are simulated at a time: the sampler learns from them when all are done."""

_LEARNING = 2 * _BATCH
"""Points that the search learns from before it looks near the best of them."""

_FINALISTS = 4
"""Points, the best by each goal of the search, that are simulated with more seeds."""

_STEP = 0.1
"""Standard deviation of a step away from the best point, as a share of what lies between a knob's bounds."""

_ROUNDS = 6
"""Times that the theory is asked for each batch; it leaves some proposals out."""


def require_optuna() -> None:
    """Refuse a search without Optuna before the theory, which takes a while, is asked.

    Raises:
        MissingExtraError: it is not installed.
    """
    if find_spec("optuna") is None:
        raise MissingExtraError("optuna", "tune")


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: runs that are running were ended, and are of no use."""


@dataclass(frozen=True)
class Trial:
    """A point that was simulated.

    Attributes:
        point: its values.
        scores: the numbers that the search makes least, by the goal's name; see :func:`penstock.tuning.goals.score`.
        runs: one for each seed.
    """

    point: Point
    scores: Mapping[str, float]
    runs: tuple[Observed, ...]

    def with_runs(self, more: Sequence[Observed]) -> "Trial":
        """Return the point with further runs; its scores stay those of the search's seeds."""
        return replace(self, runs=(*self.runs, *more))


@dataclass(frozen=True)
class Observing:
    """The parts of a run that are kept, taken in its thread or on its machine.

    Attributes:
        queue: the queue by which it is judged.
        more: the goal's metrics that not every run has.
    """

    queue: str
    more: Sequence[str] = ()

    def __call__(self, _index: int, result: Result, _loss: ClaimError | None) -> Observed:
        """Take it. A point that loses frames is no failure: it breaks the guard on drops."""
        return observe(result, self.queue, self.more)


def simulate(
    scenarios: Sequence[Scenario],
    seeds: Sequence[int],
    queue: str,
    callbacks: RunCallbacks,
    executor: Executor | None = None,
    *,
    more: Sequence[str] = (),
) -> list[tuple[Observed, ...]]:
    """Run every scenario with every seed on all cores; return what each comes to, in order of the seeds.

    Raises:
        Interrupted: Ctrl-C.
        ScenarioError: a value is not legal.
    """
    runs = [
        Run(f"{scenario.name}, seed {seed}", copy, seed)
        for scenario, copy in [(scenario, copies(scenario.with_(PERCENTILES))) for scenario in scenarios]
        for seed in seeds
    ]
    found = run_many(runs, Observing(queue, more), callbacks, executor=executor)
    if len(found) < len(runs):
        raise Interrupted
    width = len(seeds)
    observed = [found[index] for index in range(len(runs))]
    return [tuple(observed[first : first + width]) for first in range(0, len(observed), width)]


@dataclass
class _Aim:
    """The search for one goal: where, with which guards, and with which memory of Optuna's.

    Attributes:
        region: the part of the space that theory keeps.
        kept: the guards.
        study: Optuna's memory, which proposes points.
        asked: how many points it has been asked for.
    """

    region: Region
    kept: Sequence[Guard]
    study: "optuna.study.Study"
    asked: int = 0


class Search:
    """A search, batch by batch.

    Attributes:
        tried: the simulated points, in order.
        refused: how many proposals the theory left out.
    """

    def __init__(
        self,
        scenario: Scenario,
        regions: Mapping[str, Region],
        kept: Mapping[str, Sequence[Guard]],
        seeds: Sequence[int],
        *,
        queue: str,
        buffer_octets: float,
        penalty: Callable[[Point, Sequence[Observed]], float],
        executor: Executor | None = None,
        more: Sequence[str] = (),
    ) -> None:
        with warnings.catch_warnings():
            # Its bar of progress asks for a package of notebooks, and is not shown.
            warnings.simplefilter("ignore")
            import optuna

        # Its messages on each trial would be most of what a person sees.
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._scenario, self._seeds = scenario, seeds
        self._executor, self._more = executor, more
        self._queue, self._buffer_octets, self._penalty = queue, buffer_octets, penalty
        self._aims: list[_Aim] = []
        for index, (name, region) in enumerate(regions.items()):
            sampler = optuna.samplers.TPESampler(seed=seeds[0] + index, n_startup_trials=_LEARNING, constant_liar=True)
            study = optuna.create_study(sampler=sampler)
            for start in region.starts:
                study.enqueue_trial(dict(start))
            self._aims.append(_Aim(region, kept[name], study))
        self._steps = np.random.default_rng(seeds[0])
        self.tried: list[Trial] = []
        self.refused = 0

    def learn(self, point: Point, runs: Sequence[Observed]) -> None:
        """Let the search know the result of a point that was simulated before it, against theory too.

        The scenario's own parameters keep the guards, or nearly. Where few points do, the search would else look for
        long without one that does.
        """
        for aim in self._aims:
            _tell(aim, point, self._score(aim, point, runs))

    def run(self, trials: int, callbacks: RunCallbacks) -> None:
        """Simulate ``trials`` points, or fewer if the theory leaves out too many.

        Raises:
            Interrupted: Ctrl-C; the points simulated until then are in ``tried``.
        """
        while len(self.tried) < trials:
            batch = self._ask(min(_BATCH, trials - len(self.tried)))
            if not batch:
                break
            scenarios = [set_to(self._scenario, aim.region.knobs, point) for aim, _, point in batch]
            runs = simulate(scenarios, self._seeds, self._queue, callbacks, self._executor, more=self._more)
            for (asker, trial, point), observed in zip(batch, runs, strict=True):
                scores = {aim.region.goal.name: self._score(aim, point, observed) for aim in self._aims}
                for aim in self._aims:
                    worth = scores[aim.region.goal.name]
                    if aim is asker:
                        aim.study.tell(trial, worth)
                    else:
                        _tell(aim, point, worth)
                self.tried.append(Trial(point, scores, observed))

    def best(self, goal: str) -> Trial | None:
        """The point with the least score by a goal; the first of several."""
        return min(self.tried, key=lambda tried: tried.scores[goal], default=None)

    def finalists(self, goal: str, allowed: Sequence[Trial]) -> list[Trial]:
        """The points that more seeds decide between: the best few by each goal of the search, first by that asked for.

        ``allowed`` are those that may be proposed.
        """
        names = sorted((aim.region.goal.name for aim in self._aims), key=lambda name: name != goal)
        found: list[Trial] = []
        for name in names:
            ranked = sorted(allowed, key=lambda tried: tried.scores[name])
            found += [tried for tried in ranked[:_FINALISTS] if tried not in found]
        return found

    def _score(self, aim: _Aim, point: Point, runs: Sequence[Observed]) -> float:
        """The score of runs; a point with a penalty ranks with those that break a guard."""
        found, penalty = score(aim.region.goal, aim.kept, runs, self._buffer_octets), self._penalty(point, runs)
        return max(found, 1.0) + penalty if penalty > 0 else found

    def _ask(self, count: int) -> "list[tuple[_Aim, optuna.trial.Trial, Point]]":
        """Return ``count`` points that the theory keeps, in rounds; fewer if the rounds end first."""
        import optuna

        batch: list[tuple[_Aim, optuna.trial.Trial, Point]] = []
        for _ in range(_ROUNDS):
            first = len(self.tried) + len(batch)
            turns = [self._aims[(first + index) % len(self._aims)] for index in range(count - len(batch))]
            asked = [(aim, *self._proposal(aim)) for aim in turns]
            held = self._held([(aim, point) for aim, _, point in asked])
            for (aim, trial, point), fits in zip(asked, held, strict=True):
                if fits and refusal(self._scenario, aim.region.knobs, point) is None:
                    batch.append((aim, trial, point))
                else:
                    self.refused += 1
                    aim.study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            if len(batch) == count:
                break
        return batch

    def _proposal(self, aim: _Aim) -> "tuple[optuna.trial.Trial, Point]":
        """A point by one goal: of its starting points first, then by turns Optuna's and a step from the best."""
        best = self.best(aim.region.goal.name)
        learned = len(self.tried) >= _LEARNING and aim.asked >= len(aim.region.starts)
        if best is not None and learned and aim.asked % 2 == 1:
            aim.study.enqueue_trial(self._beside(aim, best.point))
        aim.asked += 1
        trial = aim.study.ask()
        return trial, {
            knob.name: knob.snapped(trial.suggest_float(knob.name, knob.low, knob.high, log=knob.log))
            for knob in aim.region.knobs
        }

    def _held(self, proposals: Sequence[tuple[_Aim, Point]]) -> list[bool]:
        """Whether theory keeps each point in the region of its goal."""
        found = [False] * len(proposals)
        for aim in self._aims:
            indices = [index for index, (asker, _) in enumerate(proposals) if asker is aim]
            held = aim.region.holds([proposals[index][1] for index in indices]) if indices else []
            for index, fits in zip(indices, held, strict=True):
                found[index] = fits
        return found

    def _beside(self, aim: _Aim, point: Point) -> dict[str, float]:
        """A point a random step away from another: half of the knobs move, on average."""
        knobs = aim.region.knobs
        steps = np.where(self._steps.random(len(knobs)) < 0.5, self._steps.normal(0.0, _STEP, len(knobs)), 0.0)
        return {
            # Its position may be a rounding error beyond the bounds, which Optuna warns of.
            knob.name: min(max(value_at(knob, place_of(knob, point[knob.name]) + step), knob.low), knob.high)
            for knob, step in zip(knobs, steps.tolist(), strict=True)
        }


def _tell(aim: _Aim, point: Point, worth: float) -> None:
    """Let a goal's study know of a point that it did not propose, if that lies between its bounds."""
    import optuna

    knobs = aim.region.knobs
    if all(knob.low <= point[knob.name] <= knob.high for knob in knobs):
        spans: dict[str, optuna.distributions.BaseDistribution] = {
            knob.name: optuna.distributions.FloatDistribution(knob.low, knob.high, log=knob.log) for knob in knobs
        }
        aim.study.add_trial(optuna.trial.create_trial(params=dict(point), distributions=spans, value=worth))
