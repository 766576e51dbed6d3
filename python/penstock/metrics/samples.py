"""Metrics that have more arguments than a queue, a flow and a window, and what figures show of samples.

Each public function of a result is a metric that a claim or a figure can name; so is every metric of the registry that
is of a run, a queue or a flow. ``None`` stands for a number that a run does not have (a flow that never settles): the
seed then counts as missing.
"""

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from penstock.figures.series import means
from penstock.metrics.registry import METRICS
from penstock.metrics.values import END, MetricFunction, flow_names, flow_samples, inside, known, queue_of, series_of
from penstock.result import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

M = TypeVar("M", bound=Callable[..., Any])

throughput_bps, mean_rate_bps, std_rate_bps = (
    MetricFunction("throughput_bps"),
    MetricFunction("mean_rate_bps"),
    MetricFunction("std_rate_bps"),
)
queue_mean_octets, queue_std_octets = MetricFunction("queue_mean_octets"), MetricFunction("queue_std_octets")
completion_time_s, empty_fraction, utilization = (
    MetricFunction("completion_time_s"),
    MetricFunction("empty_fraction"),
    MetricFunction("utilization"),
)


def needs_arrivals(metric: M) -> M:
    """Mark a metric which reads the table of arrivals, so that its runs record them."""
    metric.needs_arrivals = True  # type: ignore[attr-defined]
    return metric


def frames_dropped(result: Result, queue: str | None = None, from_s: float | None = None, to_s: float = END) -> float:
    """Frames dropped at a queue, or in the whole network; in a window without a queue, at all recorded queues."""
    if queue is None and from_s is None:
        return float(result.summary["totals"]["frames_dropped"])
    names = [q["name"] for q in result.summary["queues"]] if queue is None else [queue]
    every = [series_of(result, name) for name in names]
    return float(sum(int(of.dropped[inside(of.time_s, from_s or 0.0, to_s)].sum()) for of in every))


def feedback_frames(
    result: Result,
    flow: str | None = None,
    queue: str | None = None,
    from_s: float = 0.0,
    to_s: float = END,
) -> float:
    """Signals that reached a flow's source from a queue; all flows and queues unless named."""
    time_s = result.column("signals", "time_s")
    chosen = inside(time_s, from_s, to_s)
    if flow is not None:
        chosen &= result.column("signals", "flow") == known(flow, [f["name"] for f in result.summary["flows"]])
    if queue is not None:
        chosen &= result.column("signals", "queue") == queue_of(result, queue)["name"]
    return float(chosen.sum())


def throughput_jain_index(
    result: Result, flows: Sequence[str] | None = None, from_s: float | None = None, to_s: float = END
) -> float:
    """Jain's index of what the flows deliver in the window: (Σx)² / (n Σx²)."""
    x = np.array([throughput_bps(result, name, from_s, to_s) for name in flows or flow_names(result)])
    return float(x.sum() ** 2 / (len(x) * (x**2).sum()))


def share_ratio(
    result: Result, flow: str, others: Sequence[str] | None = None, from_s: float | None = None, to_s: float = END
) -> float:
    """The rate that a flow delivers, over the mean of the others, or of all others."""
    rest = [name for name in others or flow_names(result) if name != flow]
    own: float = throughput_bps(result, flow, from_s, to_s)
    return own / fmean(throughput_bps(result, name, from_s, to_s) for name in rest)


def settling_s(
    result: Result,
    flow: str,
    start_s: float = 0.0,
    to_s: float = END,
    band: float = 0.05,
    over_s: float = 0.0,
) -> float | None:
    """Time from ``start_s`` until a flow's throughput stays within ``band`` of its fair share, up to ``to_s``.

    The clock starts at ``start_s``: 0 for the run's start, the flow's own start for that. Throughput is averaged over
    ``over_s`` before it is judged, or taken sample by sample. ``None`` if it never stays.
    """
    time_s, rates = flow_samples(result, "throughput_bps")
    _, fair = flow_samples(result, "fair_rate_bps")
    chosen = inside(time_s, start_s, to_s)
    times, rate, share = time_s[chosen], rates[flow][chosen].astype(float), fair[flow][chosen].astype(float)
    if over_s and len(times) > 1:
        width = max(1, round(over_s / (times[1] - times[0])))
        sums = np.cumsum(np.concatenate(([0.0], rate)))
        first = np.maximum(np.arange(len(rate)) + 1 - width, 0)
        rate = (sums[1:] - sums[first]) / (np.arange(len(rate)) + 1 - first)
    outside = np.flatnonzero(np.abs(rate - share) > band * share)
    if not len(outside):
        return 0.0
    # From the sample after the last that is outside on; a run that ends outside has not settled.
    return None if outside[-1] == len(times) - 1 else float(times[outside[-1]] - start_s)


def rate_series(
    result: Result, column: str = "throughput_bps", bins: int = 300, from_s: float = 0.0, to_s: float = END
) -> dict[str, tuple["NDArray[Any]", "NDArray[Any]"]]:
    """For figures: time in s and a column of the table of rates, for each flow, averaged over at most ``bins``."""
    time_s, rates = flow_samples(result, column)
    chosen = inside(time_s, from_s, to_s)
    return {name: means(time_s[chosen], values[chosen], bins) for name, values in rates.items()}


def queue_lengths(
    result: Result, queues: Sequence[str], points: int = 3000, from_s: float = 0.0, to_s: float = END
) -> dict[str, tuple["NDArray[Any]", "NDArray[Any]"]]:
    """For figures: time in s and length in octets of each of the queues, every sample or that number of them."""
    drawn = {}
    for name in queues:
        series = series_of(result, name)
        rows = np.flatnonzero(inside(series.time_s, from_s, to_s))
        rows = rows[:: max(1, len(rows) // points)]
        drawn[name] = series.time_s[rows].copy(), series.octets[rows].copy()
    return drawn


def queue_distribution(
    result: Result, queue: str, from_s: float = 0.0, to_s: float = END
) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """For figures: lengths in octets, sorted, and the share of the samples that are no longer."""
    series = series_of(result, queue)
    return distribution(series.octets[inside(series.time_s, from_s, to_s)])


def distribution(values: "NDArray[Any]") -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Return the values that occur, sorted, and the share of all that are no greater: a distribution function."""
    occur, counts = np.unique(values, return_counts=True)
    return occur, np.cumsum(counts) / len(values)


def wasserstein(a: "NDArray[Any]", b: "NDArray[Any]") -> float:
    """Return the distance of two samples' distributions in their own unit: the area between their two functions."""
    points = np.sort(np.concatenate((a, b)).astype(float))
    share_a, share_b = (np.searchsorted(np.sort(x), points[:-1], side="right") / len(x) for x in (a, b))
    return float((np.abs(share_a - share_b) * np.diff(points)).sum())


def offered() -> Mapping[str, Callable[..., Any]]:
    """Return the metrics that claims and figures of every paper can name, by name."""
    names = dict.fromkeys(metric.name for metric in METRICS if metric.level in ("run", "queue", "flow"))
    public = {name: function for name, function in globals().items() if getattr(function, "__module__", "") == __name__}
    own = {name: f for name, f in public.items() if callable(f) and next(iter(signature(f).parameters), "") == "result"}
    return {name: MetricFunction(name) for name in names} | own
