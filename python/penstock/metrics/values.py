"""The values of metrics in a result: from its summary, or from the samples of its tables.

Without a window the time after the warm-up counts, and lengths and shares are weighted with time, exact. From
``from_s`` to ``to_s`` they come from the samples, each of which describes the interval that it ends.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter, Signature
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.columns import rows_of
from penstock.metrics.registry import Metric, levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.declared import MetricName
    from penstock.figures.series import QueueSeries
    from penstock.result import Result
    from penstock.summary import FlowSummary, QueueSummary, Summary

END = float("inf")

_OVER: dict[str, Callable[[Any], float]] = {"median": median, "mean": fmean, "sum": sum}


@dataclass(frozen=True)
class JudgedRun:
    """A run, judged by a queue where there is one."""

    result: "Result"
    queue: "QueueSummary | None"

    @property
    def summary(self) -> "Summary":
        """The numbers of the run."""
        return self.result.summary

    @cached_property
    def octets(self) -> "NDArray[Any]":
        """The samples of the queue's length after the warm-up, octets."""
        return np.empty(0) if self.queue is None else measured_octets(self.result, self.queue)

    def value(self, metric: Metric) -> float | None:
        """Return a metric of the run or of the queue; ``None`` where the run has none."""
        if metric.level == "queue" and self.queue is None:
            return None
        if isinstance(metric.source, str):
            return FUNCTIONS[metric.name](self)
        if metric.flow_key is not None:
            found = with_flow_key(self.summary, metric)
            return _OVER[metric.source["flows"][0]](found) if found else None
        if metric.level == "queue":
            value = _sum(metric, self.queue)
            # A run without histograms has samples.
            return FUNCTIONS[metric.name](self) if value is None and metric.name in FUNCTIONS else value
        first = [*self.summary.get("completions", [])[:1], *self.summary.get("jobs", [])[:1]]
        return _sum(metric, self.summary, self.summary["totals"], *first)


def _sum(metric: Metric, *places: Any) -> float | None:
    """Return the sum of the keys of a metric, each from the first object that has it; ``None`` if one is missing."""
    keys = metric.source["keys"]  # type: ignore[index]
    values: list[Any] = [next((place[key] for place in places if key in place), None) for key in keys]
    return None if None in values else sum(values)


def with_flow_key(summary: "Summary", metric: Metric) -> list[float]:
    """Return what the flows that have it have of the key that a metric sums up."""
    values: Iterable[Any] = (flow.get(str(metric.flow_key)) for flow in summary["flows"])
    return [value for value in values if value is not None]


def _percentile(rank: float) -> Callable[[JudgedRun], float | None]:
    return lambda run: float(np.percentile(run.octets, rank)) if len(run.octets) else None


def _queue_amplitude_octets(run: JudgedRun) -> float | None:
    return float(np.diff(np.percentile(run.octets, (5, 95)))[0]) / 2 if len(run.octets) else None


def _throughput_bps(run: JudgedRun) -> float | None:
    """Return the rate of all flows together. That of a flow with a size covers only the time that it is there."""
    measured_s = run.summary["duration_s"] - run.summary["warmup_s"]
    flows = run.summary["flows"]
    parts = (
        flow["throughput_bps"] * (flow["active_s"] / measured_s if "active_s" in flow and measured_s > 0 else 1.0)
        for flow in flows
    )
    return sum(parts) if flows else None


def _flows_left(run: JudgedRun) -> float | None:
    # The first is that of all flows.
    every = run.summary.get("completions", [])[:1]
    return every[0]["flows"] - every[0]["completed"] if every else None


def _frames_dropped_measured(run: JudgedRun) -> float | None:
    if run.queue is None:
        return None
    series = _series(run.result, run.queue)
    return float(series.dropped[inside(series.time_s, series.warmup_s, END)].sum())


def _rate_amplitude_bps(run: JudgedRun) -> float | None:
    result = run.result
    time_s, rate_bps, fair_bps = (result.column("rates", name) for name in ("time_s", "rate_bps", "fair_rate_bps"))
    measured = (time_s >= run.summary["warmup_s"]) & (fair_bps > 0)
    rows_of_flow = rows_of(result.rates.column("flow").chunk(0))
    amplitudes = []
    for flow in run.summary["flows"]:
        rows = rows_of_flow.get(flow["name"])
        if not flow["controlled"] or rows is None:
            continue
        samples = rate_bps[rows[measured[rows] & (time_s[rows] <= _end_s(flow, time_s[rows], fair_bps[rows]))]]
        if len(samples):
            p5, p95 = np.percentile(samples, (5, 95))
            amplitudes.append(float(p95 - p5) / 2)
    return fmean(amplitudes) if amplitudes else None


def _end_s(flow: "FlowSummary", time_s: "NDArray[Any]", fair_bps: "NDArray[Any]") -> float:
    """Return when a flow ends: it completes, or never, as far as the samples go."""
    if flow["completion_time_s"] is None:
        return END
    active = np.flatnonzero(fair_bps > 0)
    return float(time_s[active[0]]) + flow["completion_time_s"] if len(active) else END


FUNCTIONS: Mapping["MetricName", Callable[[JudgedRun], float | None]] = {
    "queue_p50_octets": _percentile(50),
    "queue_p90_octets": _percentile(90),
    "queue_p95_octets": _percentile(95),
    "queue_p99_octets": _percentile(99),
    "queue_p999_octets": _percentile(99.9),
    "queue_amplitude_octets": _queue_amplitude_octets,
    "throughput_bps": _throughput_bps,
    "jain_index": lambda run: run.summary["jain_index"] if run.summary["flows"] else None,
    "rate_amplitude_bps": _rate_amplitude_bps,
    "flows_left": _flows_left,
    "frames_dropped_measured": _frames_dropped_measured,
}
"""The metrics that no summary has, or some alone; those of :mod:`penstock.metrics.samples` have arguments as well."""

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
                return _sum(at["flow"], flow)
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
