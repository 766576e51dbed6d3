"""The goals by which a scenario is tuned, and guards that a proposal may not pay for them with.

The guards are taken from runs with the scenario's own parameters. A proposal keeps what these keep, and never more in a
queue than the switch has memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from penstock.tuning.measures import COMPLETIONS, MEASURES, Observed

UTILIZATION_SLACK = 0.01
"""So much less of the bottleneck's rate than the scenario's own parameters a proposal may use, in mean of the seeds."""

JAIN_SLACK = 0.05
"""So much lower may Jain's index be, in mean over the seeds."""

DROP_SLACK = 0.01
"""By such a share more frames a proposal may drop over the whole run, in mean over the seeds.

Losses while flows start at their lines' rates, before a first message can come back, differ by some tenths of a per
cent from seed to seed, under any parameters. Where the scenario's own parameters drop none, none may be dropped.
"""

PAUSE_SLACK = 0.05
"""By such a share longer the pauses of all queues together may be, in mean over the seeds; none, where there are none.

Under flow control nothing is lost, and all that a queue holds is paid for by pauses, of other flows as well.
"""

LEFT_SLACK = 0.05
"""By such a share more flows may be left at the end, in mean over the seeds; none, where none is.

Percentiles of completion count them too, by the time that they have been there. Which flows of a load are left depends
on when the run ends.
"""

RESERVE = 0.5
"""The search leaves so large a share of the slacks unused: a guard just kept on its seeds may break on others."""

_DROPS = ("frames_dropped", "frames_dropped_measured")

_FULL_QUEUE_COSTS = 0.001
"""A mean queue as long as the buffer costs so much of a utilisation: of two that use all, the shorter queue wins."""


_UNIT_S = 1e-3
"""A goal in seconds counts as its share of itself and this: below 1, and in the order of the times."""


@dataclass(frozen=True)
class Goal:
    """A quantity that is to be made least or greatest.

    Attributes:
        name: its name.
        measure: the quantity, a key of :data:`penstock.tuning.measures.MEASURES`.
        sign: 1 if less is better, -1 if more is.
        definition: in a sentence.
    """

    name: str
    measure: str
    sign: int
    definition: str

    @property
    def guards_utilization(self) -> bool:
        """Whether a proposal may not pay with utilisation; a line whose flows end sooner is less used."""
        return self.measure != "utilization" and not self.of_completions

    @property
    def of_completions(self) -> bool:
        """Whether it is a percentile of flow completion times."""
        return self.measure in COMPLETIONS

    @property
    def predicted(self) -> bool:
        """Whether a fluid has the quantity: it knows neither pauses nor flows that end."""
        return not self.of_completions and self.measure != "paused_s"

    @property
    def more(self) -> tuple[str, ...]:
        """The metrics that its runs are observed by, beside those of all runs."""
        return (self.measure, "flows_left") if self.of_completions else ()


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
    "pauses": Goal("pauses", "paused_s", 1, "the least time for which flow control stops queues, all queues together"),
    **{
        name: Goal(
            name, measure, 1, f"the least {rank:g}th percentile of the completion times of flows that have a size"
        )
        for measure, rank in COMPLETIONS.items()
        for name in [measure.removesuffix("_s").replace("_", "-")]
    },
}


@dataclass(frozen=True)
class Guard:
    """A bound that a proposal has to keep.

    Attributes:
        measure: a key of :data:`penstock.tuning.measures.MEASURES`.
        bound: its least value, or its largest if ``sign`` is 1; in mean over the seeds.
        sign: 1 if less is better, -1 if more is.
    """

    measure: str
    bound: float
    sign: int

    def excess(self, value: float) -> float:
        """Return by how much a value is on the wrong side; 0 if it is not."""
        return max(0.0, self.sign * (value - self.bound))


def companions(goal: Goal) -> list[Goal]:
    """Return the goals that share a search, the goal itself among them: they have the same guards, and a fluid's word.

    A point that keeps the guards of one keeps those of all.
    """
    shared = [each for each in GOALS.values() if each.guards_utilization and each.predicted]
    return shared if goal in shared else [goal]


def guards(
    goal: Goal,
    baseline: Sequence[Observed],
    *others: Sequence[Observed],
    memory_octets: float | None = None,
    reserve: float = 0.0,
) -> tuple[Guard, ...]:
    """Return what a proposal has to keep, from runs with the scenario's own parameters; less ``reserve`` of the slacks.

    No more drops in the whole run by more than :data:`DROP_SLACK`, and none more after the warm-up; Jain's index not
    lower by more than :data:`JAIN_SLACK`; and unless utilisation is the goal itself, no less of it by more than
    :data:`UTILIZATION_SLACK`. Without the last, an empty queue would be the best of all. Of flows that end, no more are
    left at the end of the run, by more than :data:`LEFT_SLACK`.

    Under flow control, where ``memory_octets`` is given, no longer pauses by more than :data:`PAUSE_SLACK`, and no more
    in the queue than the memory, whatever the scenario's own parameters have there: nothing else bounds it.

    ``others`` are runs with other settings that a proposal has to be no worse than: of two bounds the tighter one
    counts.
    """
    sets = [mean(runs) for runs in (baseline, *others)]
    at = {key: min(one[key] for one in sets) for key in sets[0]}
    at |= {key: max(one[key] for one in sets) for key in ("jain_index", "utilization")}
    kept = [
        Guard("frames_dropped", at["frames_dropped"] * (1 + DROP_SLACK * (1 - reserve)), 1),
        Guard("frames_dropped_measured", at["frames_dropped_measured"], 1),
        Guard("jain_index", at["jain_index"] - JAIN_SLACK * (1 - reserve), -1),
    ]
    if goal.of_completions:
        kept.append(Guard("flows_left", at["flows_left"] * (1 + LEFT_SLACK * (1 - reserve)), 1))
    if memory_octets is not None:
        if goal.measure != "paused_s":
            kept.append(Guard("paused_s", at["paused_s"] * (1 + PAUSE_SLACK * (1 - reserve)), 1))
        kept.append(Guard("queue_max_octets", memory_octets, 1))
    if goal.guards_utilization:
        kept.insert(0, Guard("utilization", at["utilization"] - UTILIZATION_SLACK * (1 - reserve), -1))
    return tuple(kept)


def broken(kept: Sequence[Guard], runs: Sequence[Observed]) -> tuple[Guard, ...]:
    """Return the guards that runs do not keep, in mean over the seeds."""
    at = mean(runs)
    return tuple(guard for guard in kept if guard.excess(at[guard.measure]) > 0)


def mean(runs: Sequence[Observed]) -> dict[str, float]:
    """Return the mean of every metric."""
    return {key: fmean(run[key] for run in runs) for key in runs[0]}


def score(goal: Goal, kept: Sequence[Guard], runs: Sequence[Observed], buffer_octets: float) -> float:
    """Return what the search makes least: below 1 the goal, from 1 on what breaks a guard.

    A queue counts in buffers, so that all that keep the guards are below 1 and rank before all that break one.
    """
    at = mean(runs)
    shares = {guard.measure: _share(guard, at[guard.measure]) for guard in kept}
    # A frame that is dropped after the warm-up is dropped in the whole run too, and counts once.
    drops = max((shares.pop(measure) for measure in _DROPS if measure in shares), default=0.0)
    excess = drops + sum(shares.values())
    if excess > 0:
        return 1.0 + excess
    if goal.measure == "utilization":
        return (
            1.0
            - at["utilization"] * (1 - _FULL_QUEUE_COSTS)
            - _FULL_QUEUE_COSTS * (1 - at["queue_mean_octets"] / buffer_octets)
        )
    value = at[goal.measure]
    if MEASURES[goal.measure].kind == "time":
        return value / (_UNIT_S + value)
    return min(value / buffer_octets, 1.0)


def _share(guard: Guard, value: float) -> float:
    """How far a guard is broken.

    Drops, pauses and octets count by the logarithm of what is too much of them over what the bound allows.
    Otherwise a flood would hide all else, and so would a hundredth more where the start alone drops twenty
    thousand.
    """
    excess = guard.excess(value)
    if guard.measure in (*_DROPS, "queue_max_octets", "flows_left"):
        return float(np.log1p(excess / (1 + guard.bound)))
    # A pause of a microsecond is the least to speak of.
    return float(np.log1p(excess / (1e-6 + guard.bound))) if guard.measure == "paused_s" else excess
