"""The values of metrics in a result: the engine's for a whole run, else from the samples of its tables.

Without a window the time after the warm-up counts, and lengths and shares are weighted with time, exact. From
``from_s`` to ``to_s`` they come from the samples, each of which describes the interval that it ends.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.metrics.registry import Metric, levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.declared import MetricName
    from penstock.figures.series import QueueSeries
    from penstock.result import Result
    from penstock.summary import FlowSummary, QueueSummary, Summary

END = float("inf")


@dataclass(frozen=True)
class JudgedRun:
    """A run, judged by a queue where there is one."""

    result: "Result"
    queue: "QueueSummary | None"

    def value(self, metric: Metric) -> float | None:
        """Return a metric of the run or of the queue; ``None`` where the run has none."""
        return self.values([metric])[0]

    def values(self, metrics: Sequence[Metric]) -> list[float | None]:
        """Return several of them."""
        names = [(metric.name, metric.level == "queue") for metric in metrics]
        return self.result._core.measures(names, None if self.queue is None else self.queue["name"])


def with_flow_key(summary: "Summary", metric: Metric) -> list[float]:
    """Return what the flows that have it have of the key that a metric sums up."""
    values: Iterable[Any] = (flow.get(str(metric.flow_key)) for flow in summary["flows"])
    return [value for value in values if value is not None]


_Taken = Callable[["NDArray[Any]"], Any]

WINDOWED: Mapping["MetricName", tuple[str, _Taken]] = {
    "queue_mean_octets": ("octets", np.mean),
    "queue_std_octets": ("octets", np.std),
    "min_octets": ("octets", np.min),
    "queue_max_octets": ("octets", np.max),
    "empty_fraction": ("octets", lambda octets: (octets == 0).mean()),
    "utilization": ("utilization", np.mean),
    "throughput_bps": ("throughput_bps", np.mean),
    "mean_rate_bps": ("rate_bps", np.mean),
    "std_rate_bps": ("rate_bps", np.std),
}
"""The metrics of queues and flows that samples give in a window: the samples, and what is taken over them."""


@dataclass(frozen=True)
class MetricFunction:
    """A metric as a function of a result, and of the queue or the flow that it is of: so claims and figures name it.

    Its name ends in its unit, or is a plain number. It returns ``None`` where the run has no such number.

    Attributes:
        name: the metric.
    """

    name: "MetricName"

    @property
    def __signature__(self) -> Signature:
        """The arguments: the result, a queue or a flow, and a window where samples give it."""
        at = levels(self.name)
        taken = [Parameter("result", Parameter.POSITIONAL_OR_KEYWORD)]
        if "queue" in at:
            taken.append(Parameter("queue", Parameter.POSITIONAL_OR_KEYWORD))
        elif "flow" in at:
            default = None if "run" in at else Parameter.empty
            taken.append(Parameter("flow", Parameter.POSITIONAL_OR_KEYWORD, default=default))
        if self.name in WINDOWED:
            window = (("from_s", None), ("to_s", END))
            taken += [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default) for name, default in window]
        return Signature(taken)

    @property
    def needs_histograms(self) -> bool:
        """Whether its runs are to keep histograms."""
        return any(metric.needs_histograms for metric in levels(self.name).values())

    def __call__(self, result: "Result", *of: Any, **named: Any) -> Any:
        """Take it.

        Raises:
            ValueError: no queue or flow has this name.
        """
        given = self.__signature__.bind(result, *of, **named).arguments
        at, from_s = levels(self.name), given.get("from_s")
        window = 0.0 if from_s is None else from_s, given.get("to_s", END)
        if "queue" in given:
            queue = queue_of(result, given["queue"])
            if from_s is None:
                return JudgedRun(result, queue).value(at["queue"])
            series = _series(result, queue)
            column, take = WINDOWED[self.name]
            return float(take(getattr(series, column)[inside(series.time_s, *window)].astype(float)))
        if given.get("flow") is not None:
            flow = flow_of(result, given["flow"])
            if from_s is None:
                keys: Any = at["flow"].source
                return flow.get(keys["keys"][0])
            column, take = WINDOWED[self.name]
            time_s, samples = flow_samples(result, column)
            return float(take(samples[flow["name"]][inside(time_s, *window)].astype(float)))
        return JudgedRun(result, None).value(at["run"])


def busiest(summaries: Iterable["Summary"]) -> str | None:
    """Return the queue by which runs are judged: the longest on average, in the run that keeps it shortest.

    A queue that one scheme alone fills, as pauses fill the trunks behind a congested port, says nothing of the others.
    """
    runs = list(summaries)
    means: dict[str, list[float]] = {}
    for summary in runs:
        longest_of: dict[str, float] = {}
        for queue in summary["queues"]:
            longest_of[queue["name"]] = max(longest_of.get(queue["name"], 0.0), queue["mean_octets"])
        for name, mean in longest_of.items():
            means.setdefault(name, []).append(mean)

    def rank(name: str) -> tuple[float, float]:
        return min(means[name]) if len(means[name]) == len(runs) else 0.0, sum(means[name])

    return max(means, key=rank, default=None)


def longest(summary: "Summary", name: str | None) -> "QueueSummary | None":
    """Return the queue of a run called ``name``; of its priorities, the longest on average."""
    return max((q for q in summary["queues"] if q["name"] == name), key=lambda q: q["mean_octets"], default=None)


def measured_octets(result: "Result", queue: "QueueSummary") -> "NDArray[Any]":
    """Return the samples of a queue's length after the warm-up, octets."""
    rows = result.rows_of("queues", [queue["name"]], "time_s", "priority", "queue_octets").get(queue["name"])
    if rows is None:
        return np.empty(0, dtype=np.uint64)
    measured = (rows["priority"] == queue["priority"]) & (rows["time_s"] >= result.summary["warmup_s"])
    samples: NDArray[Any] = rows["queue_octets"][measured]
    return samples


def flow_names(result: "Result") -> list[str]:
    """Return the names of all flows."""
    return [flow["name"] for flow in result.summary["flows"]]


def flow_samples(result: "Result", column: str) -> tuple["NDArray[Any]", dict[str, "NDArray[Any]"]]:
    """Return the times of the samples, s, and a column of the table of rates for each flow."""
    names = flow_names(result)
    # Every sample has a row a flow, in the order of the summary.
    table = result.column("rates", column).reshape(-1, len(names))
    return result.column("rates", "time_s")[:: len(names)], {name: table[:, i] for i, name in enumerate(names)}


def inside(time_s: "NDArray[Any]", from_s: float, to_s: float) -> "NDArray[Any]":
    """Return which samples describe the time from ``from_s`` to ``to_s``: a sample ends its interval."""
    found: NDArray[Any] = (time_s > from_s) & (time_s <= to_s)
    return found


def queue_of(result: "Result", name: str) -> "QueueSummary":
    """Return the queue of a name, of its priorities the longest; a ``ValueError`` if none is recorded."""
    known(name, [queue["name"] for queue in result.summary["queues"]])
    return longest(result.summary, name)  # type: ignore[return-value]


def flow_of(result: "Result", name: str) -> "FlowSummary":
    """Return the flow of a name; a ``ValueError`` if there is none."""
    known(name, flow_names(result))
    return next(flow for flow in result.summary["flows"] if flow["name"] == name)


def known(name: str, names: list[str]) -> str:
    """Return a name that is one of several.

    Raises:
        ValueError: it is none of them.
    """
    if name not in names:
        raise ValueError(f"{name!r} is not recorded; the recorded ones are {', '.join(names)}")
    return name


def _series(result: "Result", queue: "QueueSummary") -> "QueueSeries":
    # Figures take time to import, and read metrics.
    from penstock.figures.series import queue_series

    (series,) = queue_series(result, [queue])
    return series


def series_of(result: "Result", name: str) -> "QueueSeries":
    """Return the samples of the queue of a name."""
    return _series(result, queue_of(result, name))
