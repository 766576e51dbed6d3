"""A run in numbers: the metrics by which a search compares points, each with its title.

Queue and utilisation are the bottleneck's, of the time after the warm-up, and Jain's index is of that time. Frames that
full queues drop count in the whole network and over the whole run. So a start that floods the network is paid for by
the same parameters that make the rest of the run smooth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from penstock._core import PenstockError
from penstock.columns import to_floats
from penstock.metrics.registry import TITLED
from penstock.metrics.values import JudgedRun, longest

if TYPE_CHECKING:
    from penstock.declared import MetricKind
    from penstock.result import Result


Observed = Mapping[str, float]
"""A run in numbers: :data:`OBSERVED`, and the metrics of its goal beside these."""

OBSERVED: tuple[str, ...] = (
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
"""The metrics of every run that goals and guards are of."""

COMPLETIONS = {"fct_p50_s": 50.0, "fct_p95_s": 95.0, "fct_p99_s": 99.0, "fct_p999_s": 99.9}
"""Percentiles of flow completion times by name, with their ranks."""


@dataclass(frozen=True)
class Measure:
    """A metric as an answer shows it.

    Attributes:
        title: its title.
        kind: how its values are written.
    """

    title: str
    kind: "MetricKind"


_WITHOUT = {"jain_index": 1.0}
"""The metrics that are not 0 where a run has none: without flows to compare no flow is at a disadvantage.

Pauses are among the others: without flow control there are none.
"""

MEASURES: dict[str, Measure] = {
    **{name: Measure(TITLED[name].title, TITLED[name].kind) for name in (*OBSERVED, "flows_left")},
    **{name: Measure(f"completion p{rank:g}", "time") for name, rank in COMPLETIONS.items()},
}
"""Every metric of a search, by name."""


def observe(result: "Result", queue: str, more: Sequence[str] = ()) -> dict[str, float]:
    """Return a run in numbers, by the queue of that name: :data:`OBSERVED`, then those that are named.

    Raises:
        PenstockError: the queue is not recorded.
    """
    found = longest(result.summary, queue)
    if found is None:
        raise PenstockError(f"queue {queue} is not recorded; add it to record.queues")
    run = JudgedRun(result, found)
    seen = {}
    for name in (*OBSERVED, *more):
        value = completion_s(result, COMPLETIONS[name]) if name in COMPLETIONS else run.value(TITLED[name])
        seen[name] = _WITHOUT.get(name, 0.0) if value is None else float(value)
    return seen


def completion_s(result: "Result", rank: float) -> float:
    """Return a percentile of the completion times of finite flows that started after the warm-up, s.

    A flow that has not completed counts with the time that it has been there: its completion takes longer than that.
    0 where no flow started.
    """
    table = result.columns_of("completions", "start_s", "end_s")
    start_s, end_s = (to_floats(table.column(name).chunk(0)) for name in ("start_s", "end_s"))
    times_s = np.where(np.isnan(end_s), result.end_s, end_s) - start_s
    measured = times_s[start_s >= result.summary["warmup_s"]]
    return float(np.percentile(measured, rank, method="inverted_cdf")) if len(measured) else 0.0


def has_finite_flows(result: "Result") -> bool:
    """Return whether a finite flow started after the warm-up."""
    return any(line["flows"] for line in result.summary.get("completions", []))


def busiest(result: "Result") -> str:
    """Return the recorded queue that is longest on average.

    Raises:
        PenstockError: no queue is recorded.
    """
    queues = result.summary["queues"]
    if not queues:
        raise PenstockError("no queue is recorded; name those of the bottleneck in record.queues")
    return max(queues, key=lambda queue: queue["mean_octets"])["name"]
