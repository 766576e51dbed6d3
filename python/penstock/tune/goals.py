"""What a run is judged by: three goals, and what a proposal may not pay for them with.

All measures are of the bottleneck's queue and of the time after the warm-up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Literal

import numpy as np

from penstock._core import PenstockError
from penstock.columns import rows_of
from penstock.measures import longest, measured_octets

if TYPE_CHECKING:
    from penstock.result import Result

Name = Literal["stability", "latency", "utilization"]

Observed = Mapping[str, float]
"""A run in numbers, by the keys of :data:`MEASURES`."""

MEASURES: dict[str, tuple[str, str]] = {
    "queue_mean_octets": ("queue, mean", "octets"),
    "queue_std_octets": ("queue, standard deviation", "octets"),
    "queue_p99_octets": ("queue, 99th percentile", "octets"),
    "utilization": ("utilisation", "share"),
    "frames_dropped": ("frames dropped", "count"),
    "jain_index": ("Jain's index", "index"),
}
"""What a run is observed by, with its title and its kind."""

UTILIZATION_SLACK = 0.01
"""So much less of the bottleneck's rate than the standard's a proposal may use, in mean over the seeds."""

JAIN_SLACK = 0.05
"""So much lower than the standard's Jain's index may be, in mean over the seeds."""

RESERVE = 0.5
"""So large a share of both the search leaves unused: what just keeps a guard on its seeds may break it on others."""

_FULL_QUEUE_COSTS = 0.001
"""What a mean queue as long as the buffer takes from a utilisation: of two that use all, the shorter queue wins."""


@dataclass(frozen=True)
class Goal:
    """What is to be made least or greatest.

    Attributes:
        name: what it is called.
        measure: what it is about, a key of :data:`MEASURES`.
        sign: 1 if less is better, -1 if more is.
        definition: in a sentence.
    """

    name: Name
    measure: str
    sign: int
    definition: str


GOALS: dict[Name, Goal] = {
    "stability": Goal(
        "stability", "queue_std_octets", 1, "the least standard deviation of the queue's length, weighted with time"
    ),
    "latency": Goal(
        "latency", "queue_p99_octets", 1, "the least 99th percentile of the queue's length, of recorded samples"
    ),
    "utilization": Goal(
        "utilization", "utilization", -1, "the greatest share of the bottleneck's rate that is used; then a short queue"
    ),
}


@dataclass(frozen=True)
class Guard:
    """What a proposal has to keep.

    Attributes:
        measure: a key of :data:`MEASURES`.
        bound: its least value, or its largest if ``sign`` is 1; in mean over the seeds.
        sign: 1 if less is better, -1 if more is.
    """

    measure: str
    bound: float
    sign: int

    def excess(self, value: float) -> float:
        """Return by how much a value is on the wrong side; 0 if it is not."""
        return max(0.0, self.sign * (value - self.bound))


def guards(goal: Goal, standard: Sequence[Observed], *, reserve: float = 0.0) -> tuple[Guard, ...]:
    """Return what a proposal has to keep, from runs with the standard's parameters; less ``reserve`` of the slacks.

    No more drops; Jain's index not lower by more than :data:`JAIN_SLACK`; and unless utilisation is the goal itself, no
    less of it by more than :data:`UTILIZATION_SLACK`. Without the last, an empty queue would be the best of all.
    """
    at = mean(standard)
    kept = [
        Guard("frames_dropped", at["frames_dropped"], 1),
        Guard("jain_index", at["jain_index"] - JAIN_SLACK * (1 - reserve), -1),
    ]
    if goal.measure != "utilization":
        kept.insert(0, Guard("utilization", at["utilization"] - UTILIZATION_SLACK * (1 - reserve), -1))
    return tuple(kept)


def mean(runs: Sequence[Observed]) -> dict[str, float]:
    """Return the mean of every measure."""
    return {key: fmean(run[key] for run in runs) for key in MEASURES}


def score(goal: Goal, kept: Sequence[Guard], runs: Sequence[Observed], buffer_octets: float) -> float:
    """Return what the search makes least: below 1 the goal, from 1 on what breaks a guard.

    A queue counts in buffers, so that all that keep the guards are below 1 and rank before all that break one.
    """
    at = mean(runs)
    broken = sum(_share(guard, at[guard.measure]) for guard in kept)
    if broken > 0:
        return 1.0 + broken
    if goal.measure == "utilization":
        return (
            1.0
            - at["utilization"] * (1 - _FULL_QUEUE_COSTS)
            - _FULL_QUEUE_COSTS * (1 - at["queue_mean_octets"] / buffer_octets)
        )
    return min(at[goal.measure] / buffer_octets, 1.0)


def _share(guard: Guard, value: float) -> float:
    """How far a guard is broken: drops by their logarithm, or a flood of them would hide all else."""
    excess = guard.excess(value)
    return float(np.log1p(excess)) if guard.measure == "frames_dropped" else excess


def observe(result: "Result", queue: str) -> dict[str, float]:
    """Return a run in numbers, by the queue of that name.

    Raises:
        PenstockError: the queue is not recorded.
    """
    found = longest(result.summary, queue)
    if found is None:
        raise PenstockError(f"queue {queue} is not recorded; record.queues chooses what is")
    octets = measured_octets(result, found)
    rows = rows_of(result.queues.column("queue").chunk(0))[queue]
    late = result.column("queues", "time_s")[rows] >= result.summary["warmup_s"]
    own = result.column("queues", "priority")[rows] == found["priority"]
    dropped = result.column("queues", "frames_dropped")[rows[late & own]]
    return {
        "queue_mean_octets": float(found["mean_octets"]),
        "queue_std_octets": float(found["std_octets"]),
        "queue_p99_octets": float(np.percentile(octets, 99)),
        "utilization": float(found["utilization"]),
        "frames_dropped": float(dropped.sum()),
        "jain_index": float(result.summary["jain_index"]),
    }
