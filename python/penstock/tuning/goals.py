"""The metrics of a run by which it is tuned: three goals, and guards that a proposal may not pay for them with.

Queue and utilisation are the bottleneck's, of the time after the warm-up, and Jain's index is of that time. Frames that
full queues drop count in the whole network and over the whole run. So a start that floods the network is paid for by
the same parameters that make the rest of the run smooth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from penstock._core import PenstockError
from penstock.metrics.registry import TITLED
from penstock.metrics.values import JudgedRun, longest

if TYPE_CHECKING:
    from penstock.declared import MetricName
    from penstock.result import Result


Observed = Mapping[str, float]
"""A run in numbers, by the keys of :data:`OBSERVED`."""

OBSERVED: tuple["MetricName", ...] = (
    "queue_mean_octets",
    "queue_std_octets",
    "queue_p99_octets",
    "utilization",
    "frames_dropped",
    "frames_dropped_measured",
    "jain_index",
    "queue_max_octets",
    "paused_s",
)
"""The metrics of a run that goals and guards are of; their titles are in the registry."""

UTILIZATION_SLACK = 0.01
"""So much less of the bottleneck's rate than the standard's a proposal may use, in mean over the seeds."""

JAIN_SLACK = 0.05
"""So much lower than the standard's Jain's index may be, in mean over the seeds."""

DROP_SLACK = 0.01
"""By such a share more frames than the standard a proposal may drop over the whole run, in mean over the seeds.

Losses while flows start at their lines' rates, before a first message can come back, differ by some tenths of a per
cent from seed to seed, under any parameters. Where the standard drops none, none may be dropped.
"""

PAUSE_SLACK = 0.05
"""By such a share longer the pauses of all queues together may be, in mean over the seeds; none, where there are none.

Under flow control nothing is lost, and all that a queue holds is paid for by pauses, of other flows as well.
"""

RESERVE = 0.5
"""The search leaves so large a share of the slacks unused: a guard just kept on its seeds may break on others."""

_DROPS: tuple["MetricName", ...] = ("frames_dropped", "frames_dropped_measured")

_FULL_QUEUE_COSTS = 0.001
"""A mean queue as long as the buffer costs so much of a utilisation: of two that use all, the shorter queue wins."""


@dataclass(frozen=True)
class Goal:
    """A quantity that is to be made least or greatest.

    Attributes:
        name: its name.
        measure: the quantity, a key of :data:`OBSERVED`.
        sign: 1 if less is better, -1 if more is.
        definition: in a sentence.
    """

    name: str
    measure: "MetricName"
    sign: int
    definition: str

    @property
    def guards_utilization(self) -> bool:
        """Whether a proposal may not pay with utilisation: the other guards are the same for every goal."""
        return self.measure != "utilization"


GOALS: dict[str, Goal] = {
    "stability": Goal(
        "stability", "queue_std_octets", 1, "the least standard deviation of the queue's length, weighted with time"
    ),
    "latency": Goal(
        "latency", "queue_p99_octets", 1, "the least 99th percentile of the queue's length, weighted with time"
    ),
    "utilization": Goal(
        "utilization", "utilization", -1, "the greatest share of the bottleneck's rate that is used; then a short queue"
    ),
}


@dataclass(frozen=True)
class Guard:
    """A bound that a proposal has to keep.

    Attributes:
        measure: a key of :data:`OBSERVED`.
        bound: its least value, or its largest if ``sign`` is 1; in mean over the seeds.
        sign: 1 if less is better, -1 if more is.
    """

    measure: "MetricName"
    bound: float
    sign: int

    def excess(self, value: float) -> float:
        """Return by how much a value is on the wrong side; 0 if it is not."""
        return max(0.0, self.sign * (value - self.bound))


def companions(goal: Goal) -> list[Goal]:
    """Return the goals with the same guards, the goal itself among them: a point that keeps those of one keeps all."""
    return [each for each in GOALS.values() if each.guards_utilization == goal.guards_utilization]


def guards(
    goal: Goal,
    standard: Sequence[Observed],
    *others: Sequence[Observed],
    memory_octets: float | None = None,
    reserve: float = 0.0,
) -> tuple[Guard, ...]:
    """Return what a proposal has to keep, from runs with the standard's parameters; less ``reserve`` of the slacks.

    No more drops in the whole run by more than :data:`DROP_SLACK`, and none more after the warm-up; Jain's index not
    lower by more than :data:`JAIN_SLACK`; and unless utilisation is the goal itself, no less of it by more than
    :data:`UTILIZATION_SLACK`. Without the last, an empty queue would be the best of all.

    Under flow control, where ``memory_octets`` is given, no longer pauses by more than :data:`PAUSE_SLACK`, and no more
    in the queue than that, or than was there before: nothing else bounds it.

    ``others`` are runs with other settings that a proposal has to be no worse than, such as the scenario's own: of two
    bounds the tighter one counts.
    """
    sets = [mean(runs) for runs in (standard, *others)]
    at = {key: min(one[key] for one in sets) for key in OBSERVED}
    at |= {key: max(one[key] for one in sets) for key in ("jain_index", "utilization")}
    kept = [
        Guard("frames_dropped", at["frames_dropped"] * (1 + DROP_SLACK * (1 - reserve)), 1),
        Guard("frames_dropped_measured", at["frames_dropped_measured"], 1),
        Guard("jain_index", at["jain_index"] - JAIN_SLACK * (1 - reserve), -1),
    ]
    if memory_octets is not None:
        kept.append(Guard("paused_s", at["paused_s"] * (1 + PAUSE_SLACK * (1 - reserve)), 1))
        kept.append(Guard("queue_max_octets", max(memory_octets, at["queue_max_octets"]), 1))
    if goal.guards_utilization:
        kept.insert(0, Guard("utilization", at["utilization"] - UTILIZATION_SLACK * (1 - reserve), -1))
    return tuple(kept)


def mean(runs: Sequence[Observed]) -> dict[str, float]:
    """Return the mean of every metric."""
    return {key: fmean(run[key] for run in runs) for key in OBSERVED}


def score(goal: Goal, kept: Sequence[Guard], runs: Sequence[Observed], buffer_octets: float) -> float:
    """Return what the search makes least: below 1 the goal, from 1 on what breaks a guard.

    A queue counts in buffers, so that all that keep the guards are below 1 and rank before all that break one.
    """
    at = mean(runs)
    shares = {guard.measure: _share(guard, at[guard.measure]) for guard in kept}
    # A frame that is dropped after the warm-up is dropped in the whole run too, and counts once.
    drops = max((shares.pop(measure) for measure in _DROPS if measure in shares), default=0.0)
    broken = drops + sum(shares.values())
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
    """How far a guard is broken.

    Drops, pauses and octets count by the logarithm of what is too much of them over what the bound allows.
    Otherwise a flood would hide all else, and so would a hundredth more where the start alone drops twenty
    thousand.
    """
    excess = guard.excess(value)
    if guard.measure in _DROPS or guard.measure == "queue_max_octets":
        return float(np.log1p(excess / (1 + guard.bound)))
    # A pause of a microsecond is the least to speak of.
    return float(np.log1p(excess / (1e-6 + guard.bound))) if guard.measure == "paused_s" else excess


def observe(result: "Result", queue: str) -> dict[str, float]:
    """Return a run in numbers, by the queue of that name.

    Raises:
        PenstockError: the queue is not recorded.
    """
    found = longest(result.summary, queue)
    if found is None:
        raise PenstockError(f"queue {queue} is not recorded; add it to record.queues")
    run = JudgedRun(result, found)
    # Without flow control there are no pauses.
    return {name: float(run.value(TITLED[name]) or 0.0) for name in OBSERVED}
