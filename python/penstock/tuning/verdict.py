"""Whether a proposal is better: differences run by run, on seeds that the search never saw.

The same seed draws the same random numbers in both runs of a pair, and the common part of a network's seeds cancels.
The interval is Student's, of 95 %: in one of twenty verdicts the true mean difference is outside.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean, stdev
from typing import Literal

from penstock.metrics.seeds import Statistics, half_interval, spread
from penstock.tuning.goals import Goal, Guard, broken
from penstock.tuning.measures import OBSERVED, Observed

Word = Literal["better", "worse", "no difference shown"]


@dataclass(frozen=True)
class Paired:
    """A measure of the proposal and of its counterpart, over the same seeds.

    Attributes:
        measure: a key of :data:`penstock.tuning.measures.MEASURES`.
        proposal: its values over the seeds.
        other: the same of the counterpart.
        difference: mean of proposal less other.
        spread: standard deviation of the differences.
        low: lower end of the interval of the mean difference; -inf with one seed.
        high: its upper end.
    """

    measure: str
    proposal: Statistics
    other: Statistics
    difference: float
    spread: float
    low: float
    high: float


@dataclass(frozen=True)
class Verdict:
    """The outcome of a comparison.

    Attributes:
        against: the settings that the proposal is compared with, as text.
        word: the verdict on the goal's measure.
        broken: guards that the proposal does not keep on these seeds.
        beats: better, and no guard broken.
        measures: the goal's metrics, if others do not have them, and those of all runs.
        alike: every seed gives the same run, of the proposal and of the other: nothing is random, and there is no
            interval to speak of.
    """

    against: str
    word: Word
    broken: tuple[str, ...]
    beats: bool
    measures: tuple[Paired, ...]
    alike: bool


def judge(
    goal: Goal, kept: Sequence[Guard], proposal: Sequence[Observed], other: Sequence[Observed], against: str
) -> Verdict:
    """Return the verdict on runs of the proposal and of another, of the same seeds in the same order."""
    measures = tuple(
        paired(key, [run[key] for run in proposal], [run[key] for run in other]) for key in (*goal.more, *OBSERVED)
    )
    (found,) = (pair for pair in measures if pair.measure == goal.measure)
    word: Word = "no difference shown"
    if goal.sign * found.low < 0 and goal.sign * found.high < 0:
        word = "better"
    elif goal.sign * found.low > 0 and goal.sign * found.high > 0:
        word = "worse"
    at_fault = tuple(guard.measure for guard in broken(kept, proposal))
    alike = all(run == runs[0] for runs in (proposal, other) for run in runs)
    return Verdict(against, word, at_fault, word == "better" and not at_fault, measures, alike)


def paired(measure: str, proposal: Sequence[float], other: Sequence[float]) -> Paired:
    """Return a measure of both, and the interval of the mean of their differences."""
    differences = [a - b for a, b in zip(proposal, other, strict=True)]
    middle, count = fmean(differences), len(differences)
    deviation = stdev(differences) if count > 1 else 0.0
    half = half_interval(deviation, count) if count > 1 else inf
    return Paired(measure, spread(proposal), spread(other), middle, deviation, middle - half, middle + half)
