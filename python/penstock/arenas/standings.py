"""The standings of an arena: each workload's judgement of each competitor, and the ranks that follow.

A competitor's rank on a workload is one more than the number of those that are surely better: each of their seeds is
better than each of the competitor's. So two whose seeds overlap may share a rank. The interval of a rank ends at the
number of those that are not surely worse. One seed shows no spread: there, one is surely better where the numbers
differ by more than :data:`TIE_SHARE`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.arenas.arena_file import Competitor, Entries, Judge, Workload
from penstock.data_frames import RUNS
from penstock.declared import MetricName
from penstock.sweeps.sweep import Sweep

_Row = Mapping[str, Any]

LEFT_SHARE = 0.01
"""With a larger share of flows that have not completed a percentile of slowdowns is infinite: they would decide it."""

TIE_SHARE = 0.01
"""With one seed, numbers that differ by no more than this share of the worse one share a rank."""

SHOWN: tuple[MetricName, ...] = (
    "slowdown_p50",
    "flows_left",
    "frames_lost",
    "retransmissions",
    "queue_mean_octets",
    "queue_p99_octets",
    "throughput_bps",
    "jain_index",
    "feedback_rate",
    "pause_frames",
    "path_queue_s",
    "path_limited_s",
)
"""The numbers that stand beside the judge's, where runs have them; of :data:`penstock.metrics.registry.COMPARED`."""

CAUSES: tuple[MetricName, ...] = ("timeouts", "empty_fraction")
"""Further numbers, which sentences on causes need."""


SENT = "frames_sent"
"""The frames that sources sent, to which counts of actions are compared."""

_ACTIONS = "actions_"


@dataclass(frozen=True)
class Standing:
    """A competitor on a workload.

    Attributes:
        workload: the workload.
        competitor: the competitor.
        values: the judge's number for each seed; infinite where flows have not completed.
        rank: 1 for the best.
        ratio: how many times worse than the best its mean is, 1 for the best; infinite for an infinite mean.
        shown: means over seeds of the numbers in :data:`SHOWN` and :data:`CAUSES`.
        sizes: for each class of sizes, its most octets and the mean of the 99th percentile of slowdowns.
        fault: the reason why it did not run.
        last: the end of the interval that begins with the rank: how many are not surely worse, itself included.
        among: the number of competitors.
        actions: means over seeds of the counts of its actions, by their columns in the table of runs, and :data:`SENT`.
    """

    workload: Workload
    competitor: Competitor
    values: tuple[float, ...]
    rank: int
    ratio: float
    shown: Mapping[str, float]
    sizes: tuple[tuple[float, float], ...] = ()
    fault: str = ""
    last: int = 0
    among: int = 0
    actions: Mapping[str, float] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """The mean of the judge's number over seeds; not a number where it did not run."""
        return sum(self.values) / len(self.values) if self.values else math.nan


@dataclass(frozen=True)
class Total:
    """A competitor over all workloads.

    Attributes:
        competitor: the competitor.
        mean_rank: the mean of its ranks.
        mean_last: the mean of the ends of their intervals.
        ranks: its ranks, by the names of the workloads.
        wins: how often it is first.
        ratio: the geometric mean of its ratios to the best, of those that are finite.
        unfinished: on how many workloads its ratio is infinite.
    """

    competitor: Competitor
    mean_rank: float
    mean_last: float
    ranks: Mapping[str, int]
    wins: int
    ratio: float
    unfinished: int

    @property
    def completed(self) -> int:
        """On how many workloads its ratio is finite."""
        return len(self.ranks) - self.unfinished


def of_workload(workload: Workload, competitors: Sequence[Competitor], sweep: Sweep) -> list[Standing]:
    """Return the standings of a workload, the best first."""
    runs, classes = _rows(sweep, RUNS), _rows(sweep, "completions")
    faults = {entry["scheme"]: entry["reason"] for entry in sweep.failed}
    values = {
        competitor.name: tuple(
            _value(workload.judge, run, [entry for entry in classes if entry["run"] == run["run"]])
            for run in runs
            if run["scheme"] == competitor.name
        )
        for competitor in competitors
    }
    means = {name: sum(own) / len(own) for name, own in values.items() if own}
    best = (min if workload.judge.better == "less" else max)(means.values(), default=math.nan)
    found = [
        Standing(
            workload,
            competitor,
            own := values[competitor.name],
            1 + sum(surely_better(other, own, workload.judge) for other in values.values()),
            _ratio(means.get(competitor.name, math.nan), best, workload.judge),
            _shown([run for run in runs if run["scheme"] == competitor.name]),
            _sizes([entry for entry in classes if entry["scheme"] == competitor.name], workload.judge.group),
            faults.get(competitor.name, ""),
            len(competitors) - sum(surely_better(own, other, workload.judge) for other in values.values()),
            len(competitors),
            _actions([run for run in runs if run["scheme"] == competitor.name]),
        )
        for competitor in competitors
    ]
    return sorted(found, key=lambda standing: (standing.rank, standing.ratio))


def totals(entries: Entries, standings: Mapping[str, Sequence[Standing]]) -> list[Total]:
    """Return the competitors over all workloads, the best mean rank first."""
    found = []
    for competitor in entries.competitors:
        own = [standing for rows in standings.values() for standing in rows if standing.competitor is competitor]
        finite = [standing.ratio for standing in own if math.isfinite(standing.ratio)]
        found.append(
            Total(
                competitor,
                sum(standing.rank for standing in own) / len(own),
                sum(standing.last for standing in own) / len(own),
                {standing.workload.name: standing.rank for standing in own},
                sum(standing.rank == 1 for standing in own),
                math.exp(sum(map(math.log, finite)) / len(finite)) if finite else math.inf,
                len(own) - len(finite),
            )
        )
    return sorted(found, key=lambda total: (total.mean_rank, total.unfinished, total.ratio))


def surely_better(one: Sequence[float], other: Sequence[float], judge: Judge) -> bool:
    """Return whether each value of ``one`` is better than each of ``other``; one without values is the worst.

    Of a single seed each, the values have to differ by more than :data:`TIE_SHARE`.
    """
    if not one or not other:
        return bool(one) and not other
    less, more = (max(one), min(other)) if judge.better == "less" else (max(other), min(one))
    if len(one) == len(other) == 1 and math.isfinite(more):
        return more - less > TIE_SHARE * more
    return less < more


def _rows(sweep: Sweep, table: str) -> list[_Row]:
    if table not in sweep.tables:
        return []
    data = sweep.table(table)
    columns = [data.column(name).to_pylist() for name in data.column_names]
    return [dict(zip(data.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def _value(judge: Judge, run: _Row, classes: Sequence[_Row]) -> float:
    if not judge.of_flows:
        value = run[judge.metric]
        # A job that has not ended has no time.
        return float(value) if value is not None else math.inf if judge.better == "less" else math.nan
    whole = next(entry for entry in _of_group(classes, judge.group) if _of_all_sizes(entry))
    flows, completed, value = whole["flows"], whole["completed"], whole[judge.metric]
    return math.inf if value is None or flows - completed > LEFT_SHARE * flows else float(value)


def _of_group(classes: Sequence[_Row], group: str | None) -> list[_Row]:
    """Return the classes of a group of flows. Where one group alone has flows that end, runs do not name it."""
    named = group if any(entry["group"] is not None for entry in classes) else None
    return [entry for entry in classes if entry["group"] == named]


def _of_all_sizes(entry: _Row) -> bool:
    return not entry["least_octets"] and entry["most_octets"] is None


def _ratio(mean: float, best: float, judge: Judge) -> float:
    if math.isnan(mean):
        return math.inf
    worse, better = (mean, best) if judge.better == "less" else (best, mean)
    return worse / better if better > 0 and math.isfinite(better) else math.inf


def _shown(runs: Sequence[_Row]) -> dict[str, float]:
    found: dict[str, float] = {}
    for key in (*SHOWN, *CAUSES):
        values = [float(value) for run in runs if (value := run[key]) is not None and math.isfinite(value)]
        if values:
            found[key] = sum(values) / len(values)
    return found


def _actions(runs: Sequence[_Row]) -> dict[str, float]:
    counted = [key for key in (runs[0] if runs else ()) if key == SENT or key.startswith(_ACTIONS)]
    return {
        key: sum(known) / len(known)
        for key in counted
        if (known := [float(run[key]) for run in runs if run[key] is not None])
    }


def _sizes(classes: Sequence[_Row], group: str | None) -> tuple[tuple[float, float], ...]:
    found: dict[float, list[float]] = {}
    for entry in _of_group(classes, group):
        if not _of_all_sizes(entry) and entry["slowdown_p99"] is not None:
            most = entry["most_octets"]
            found.setdefault(math.inf if most is None else float(most), []).append(float(entry["slowdown_p99"]))
    return tuple((most, sum(values) / len(values)) for most, values in sorted(found.items()))
