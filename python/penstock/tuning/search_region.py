"""Where the theory says that it is worth simulating.

Points are spread evenly between the bounds. Only points are candidates that have an equilibrium within the limits of
queue and rates in every period of the scenario. Kept are the half of these to which the :class:`FluidScorer` gives the
better scores, and every point that scores no worse than the scenario's own parameters. The fluid model with delay,
integrated through the scenario, is judged by the same goal and guards as a simulation. Its own prediction for the
scenario's parameters stands for the standard. An unstable point oscillates there, and a stable but slow one loses
frames or leaves the line idle. A phase margin alone is no criterion; the how-to shows why. The answer reports it.

A prediction serves every goal, and each goal has its own region: a calm point is not always a quick one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from penstock.theory.configuration import Configuration, UnsuitedScenarioError
from penstock.theory.linear_stability import Array
from penstock.theory.margin import stack_models
from penstock.theory.models import model_of
from penstock.theory.models.base import FluidModel
from penstock.tuning.fluid_prediction import PeriodModels, predict, step_for
from penstock.tuning.goals import Goal, guards, score
from penstock.tuning.linear_margins import resting
from penstock.tuning.measures import Observed
from penstock.tuning.search_space import Knob, Point, moved, point_of

Progress = Callable[[float], object]
Predictions = Mapping[int, Observed]
"""Runs of points in the fluid model, by their indices among all that were asked for."""

_KEPT = 0.5
"""The share that is kept of the points that have an equilibrium."""


@dataclass(frozen=True)
class FluidScorer:
    """A judge of points by theory: the fluid's prediction, scored like a simulation.

    Attributes:
        periods: the scenario's, as far as they are measured.
        warmup_s: where the measured time begins, s.
        tuned: the parameters that a point has values of.
        own: the prediction of the scenario's own parameters, which the guards are taken from.
        step_s: of a prediction at most; the same points are to get the same scores, beside any others.
    """

    periods: tuple[Configuration, ...]
    warmup_s: float
    tuned: tuple[Knob, ...]
    own: Observed
    step_s: float = np.inf

    @classmethod
    def of(cls, periods: Sequence[Configuration], warmup_s: float, tuned: Sequence[Knob]) -> "FluidScorer":
        """Return the scorer of a scenario.

        Raises:
            UnsuitedScenarioError: the model leaves out what the scenario's own parameters ask for.
        """
        for period in periods:
            model_of(period)
        new = cls(tuple(periods), warmup_s, tuple(tuned), {})
        (own,) = new.predictions([point_of(periods[0], tuned)]).values()
        return replace(new, own=own)

    def scores(self, goal: Goal, predictions: Predictions, count: int) -> Array:
        """Score the predictions of ``count`` points by a goal.

        Returns:
            A score for each point, the less the better, shape (count,); NaN where there is no model.
        """
        found = np.full(count, np.nan)
        kept = guards(goal, [self.own])
        for index, seen in predictions.items():
            found[index] = score(goal, kept, [seen], self.periods[0].buffer_octets)
        return found

    def predictions(self, points: Sequence[Point], progress: Progress | None = None) -> Predictions:
        """Integrate the points that have a model in all periods; return what each comes to, by its index."""
        indices, models_of_periods = self._courses(points)
        if not indices:
            return {}
        return dict(zip(indices, predict(models_of_periods, self.warmup_s, progress, self.step_s), strict=True))

    def in_steps_for(self, points: Sequence[Point]) -> "FluidScorer":
        """Return a scorer whose predictions have the steps that all of these points need."""
        indices, models_of_periods = self._courses(points)
        return replace(self, step_s=step_for(models_of_periods, self.warmup_s)) if indices else self

    def _courses(self, points: Sequence[Point]) -> tuple[list[int], list[PeriodModels]]:
        """Places of the points that have a model in all periods, and their models side by side."""
        models: dict[int, list[FluidModel]] = {}
        for index, point in enumerate(points):
            try:
                models[index] = [model_of(moved(period, self.tuned, point)) for period in self.periods]
            except UnsuitedScenarioError:
                continue
        if not models:
            return [], []
        return list(models), [
            PeriodModels(stack_models([here[index] for here in models.values()]), period.stop_s)
            for index, period in enumerate(self.periods)
        ]


@dataclass(frozen=True)
class Region:
    """Where to search for a goal.

    Attributes:
        goal: the goal.
        knobs: the tuned parameters, between the bounds of the points that theory keeps.
        points: how many points theory looked at; 0 where it predicts nothing.
        resting: how many of them have an equilibrium within the limits of queue and rates.
        kept: how many it keeps; all, if none has.
        scorer: the judge of points; ``None`` where theory predicts nothing.
        limit: the largest score of the scorer's that is kept; infinite if none has, or nobody judges.
        starts: kept points to begin with: the best and some of the others, by turns.
    """

    goal: Goal
    knobs: tuple[Knob, ...]
    points: int
    resting: int
    kept: int
    scorer: FluidScorer | None
    limit: float
    starts: tuple[Point, ...]

    def holds(self, points: Sequence[Point]) -> list[bool]:
        """Whether theory keeps each of the points."""
        if self.scorer is None or self.limit == np.inf:
            return [True] * len(points)
        rests = resting(self.scorer.periods, self.scorer.tuned, points)
        scores = self.scorer.scores(self.goal, self.scorer.predictions(points), len(points))
        return [bool(held) for held in rests & (scores <= self.limit)]


def whole(tuned: Sequence[Knob], spread: Sequence[Point], goals: Sequence[Goal], *, starts: int) -> dict[str, Region]:
    """Return for each goal, by its name, the whole space: for a search of which theory predicts nothing.

    The search begins with points that fill the space, of which no two goals have the same.
    """
    return {
        goal.name: Region(goal, tuple(tuned), 0, 0, 0, None, np.inf, tuple(spread[index :: len(goals)][:starts]))
        for index, goal in enumerate(goals)
    }


def narrow(
    scorer: FluidScorer,
    spread: Sequence[Point],
    goals: Iterable[Goal],
    *,
    starts: int,
    progress: Progress | None = None,
) -> dict[str, Region]:
    """Return for each goal, by its name, the part of the space that theory keeps, by points that fill the space.

    ``starts`` is the number of points that each goal begins with, at most; no two goals begin with the same.
    """
    scorer = scorer.in_steps_for(spread)
    predictions = scorer.predictions(spread, progress)
    rests = resting(scorer.periods, scorer.tuned, spread)
    of_own = scorer.predictions([point_of(scorer.periods[0], scorer.tuned)])
    found: dict[str, Region] = {}
    for goal in goals:
        taken = [point for region in found.values() for point in region.starts]
        scores = np.where(rests, scorer.scores(goal, predictions, len(spread)), np.nan)
        (own_score,) = scorer.scores(goal, of_own, 1)
        found[goal.name] = _region(scorer, goal, spread, scores, float(own_score), taken, starts)
    return found


def _region(
    scorer: FluidScorer,
    goal: Goal,
    spread: Sequence[Point],
    scores: Array,
    own_score: float,
    taken: Sequence[Point],
    starts: int,
) -> Region:
    """The region of a goal; ``scores`` has NaN for a point without equilibrium, and ``taken`` others' beginnings."""
    points, rests = len(spread), np.isfinite(scores)
    if not rests.any():
        free = [point for point in spread if point not in taken]
        return Region(goal, scorer.tuned, points, 0, points, scorer, np.inf, tuple(free[:starts]))
    # A point with a prediction no worse than the scenario's own, which packets know, is worth a simulation too.
    limit = max(float(np.quantile(scores[rests], _KEPT)), own_score)
    ranked = [index for index in np.argsort(scores, kind="stable").tolist() if rests[index] and scores[index] <= limit]
    kept = [spread[index] for index in ranked]
    own = point_of(scorer.periods[0], scorer.tuned)
    within = tuple(
        replace(
            knob,
            low=min(point[knob.name] for point in (*kept, own)),
            high=max(point[knob.name] for point in (*kept, own)),
        )
        for knob in scorer.tuned
    )
    free = [point for point in kept if point not in taken]
    begin = [free[index] for index in starting_ranks(len(free), starts)]
    return Region(goal, within, points, int(rests.sum()), len(kept), scorer, limit, tuple(begin))


def starting_ranks(kept: int, count: int) -> list[int]:
    """Return the ranks of the points to begin with: half are the best, half lie evenly between them and the last.

    The best alone lie close together, at the end where the fluid is calm, or its queue short. Where packets break a
    guard there, the search would begin without a single point that keeps it, and often never find one. They alternate,
    so that a short search begins with both.
    """
    best = min(kept, (count + 1) // 2)
    rest = min(kept - best, count - best)
    others = [best + (turn + 1) * (kept - best) // rest - 1 for turn in range(rest)]
    return [rank for pair in zip_longest(range(best), others) for rank in pair if rank is not None]
