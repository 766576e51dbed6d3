"""Metrics of a run: every public function here is a metric that a claim or a figure can name.

A metric has a result as its first argument, and the claim's ``with`` as the others; its name ends in its unit, or is a
plain number. It returns ``None`` where the run has no such number (a flow that never settles), and the seed then counts
as missing. Times are those of the simulation. Where no window is given, the time after the warm-up counts, and lengths
and shares are weighted with time, exact; within ``from_s`` to ``to_s`` they come from the samples, each of which
describes the interval that it ends.
"""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from penstock.figures.series import QueueSeries, means, queue_series
from penstock.result import Result
from penstock.summary import FlowSummary, QueueSummary

if TYPE_CHECKING:
    from numpy.typing import NDArray

M = TypeVar("M", bound=Callable[..., Any])

_END = float("inf")


def needs_arrivals(metric: M) -> M:
    """Mark a metric which reads the table of arrivals, so that its runs record them."""
    metric.needs_arrivals = True  # type: ignore[attr-defined]
    return metric


def queue_mean_octets(result: Result, queue: str, from_s: float | None = None, to_s: float = _END) -> float:
    """Mean length of a queue."""
    if from_s is None:
        return _queue(result, queue)["mean_octets"]
    return float(_lengths(result, queue, from_s, to_s).mean())


def queue_std_octets(result: Result, queue: str, from_s: float | None = None, to_s: float = _END) -> float:
    """Standard deviation of the length of a queue."""
    if from_s is None:
        return _queue(result, queue)["std_octets"]
    return float(_lengths(result, queue, from_s, to_s).std())


def queue_max_octets(result: Result, queue: str, from_s: float | None = None, to_s: float = _END) -> float:
    """Greatest length of a queue; in a window, that of its samples."""
    if from_s is None:
        return float(_queue(result, queue)["max_octets"])
    return float(_lengths(result, queue, from_s, to_s).max())


def empty_fraction(result: Result, queue: str, from_s: float | None = None, to_s: float = _END) -> float:
    """Share of the time without an octet in a queue."""
    if from_s is None:
        return _queue(result, queue)["empty_fraction"]
    return float((_lengths(result, queue, from_s, to_s) == 0).mean())


def utilization(result: Result, queue: str, from_s: float | None = None, to_s: float = _END) -> float:
    """Share of the rate of a queue's port that is used."""
    if from_s is None:
        return _queue(result, queue)["utilization"]
    series = _series(result, queue)
    return float(series.utilization[_inside(series.time_s, from_s, to_s)].mean())


def loss_rate(result: Result) -> float:
    """Frames dropped over frames sent, over the whole run."""
    return result.summary["loss_rate"]


def frames_dropped(result: Result, queue: str | None = None, from_s: float = 0.0, to_s: float = _END) -> float:
    """Frames dropped at a queue, or at all recorded queues."""
    names = [q["name"] for q in result.summary["queues"]] if queue is None else [queue]
    total = 0
    for name in names:
        series = _series(result, name)
        total += int(series.dropped[_inside(series.time_s, from_s, to_s)].sum())
    return float(total)


def feedback_rate(result: Result) -> float:
    """Signals that reached sources over data frames sent, over the whole run."""
    return result.summary["feedback_rate"]


def feedback_frames(
    result: Result,
    flow: str | None = None,
    queue: str | None = None,
    from_s: float = 0.0,
    to_s: float = _END,
) -> float:
    """Signals that reached a flow's source from a queue; all flows and queues unless named."""
    time_s = result.column("signals", "time_s")
    chosen = _inside(time_s, from_s, to_s)
    if flow is not None:
        chosen &= result.column("signals", "flow") == _known(flow, [f["name"] for f in result.summary["flows"]])
    if queue is not None:
        chosen &= result.column("signals", "queue") == _queue(result, queue)["name"]
    return float(chosen.sum())


def jain_index(
    result: Result, flows: Sequence[str] | None = None, from_s: float | None = None, to_s: float = _END
) -> float:
    """Jain's index of what the flows deliver in the window: (Σx)² / (n Σx²)."""
    x = np.array([throughput_bps(result, name, from_s, to_s) for name in flows or flow_names(result)])
    return float(x.sum() ** 2 / (len(x) * (x**2).sum()))


def throughput_bps(result: Result, flow: str, from_s: float | None = None, to_s: float = _END) -> float:
    """The rate that a flow delivers, wire overhead included, bit/s."""
    if from_s is None:
        return _flow(result, flow)["throughput_bps"]
    time_s, rates = flow_samples(result, "throughput_bps")
    return float(rates[flow][_inside(time_s, from_s, to_s)].mean())


def share_ratio(
    result: Result, flow: str, others: Sequence[str] | None = None, from_s: float | None = None, to_s: float = _END
) -> float:
    """The rate that a flow delivers, over the mean of the others, or of all others."""
    rest = [name for name in others or flow_names(result) if name != flow]
    own = throughput_bps(result, flow, from_s, to_s)
    return own / fmean(throughput_bps(result, name, from_s, to_s) for name in rest)


def rate_mean_bps(result: Result, flow: str, from_s: float | None = None, to_s: float = _END) -> float:
    """Mean of the rate that a flow is allowed (CR), bit/s."""
    if from_s is None:
        return _flow(result, flow)["mean_rate_bps"]
    return float(_allowed(result, flow, from_s, to_s).mean())


def rate_std_bps(result: Result, flow: str, from_s: float | None = None, to_s: float = _END) -> float:
    """Standard deviation of the rate that a flow is allowed (CR), bit/s."""
    if from_s is None:
        return _flow(result, flow)["std_rate_bps"]
    return float(_allowed(result, flow, from_s, to_s).std())


def settling_s(
    result: Result,
    flow: str,
    start_s: float = 0.0,
    to_s: float = _END,
    band: float = 0.05,
    over_s: float = 0.0,
) -> float | None:
    """Time from ``start_s`` until a flow's throughput stays within ``band`` of its fair share, up to ``to_s``.

    The clock starts at ``start_s``: 0 for the run's start, the flow's own start for that. Throughput is averaged over
    ``over_s`` before it is judged, or taken sample by sample. ``None`` if it never stays.
    """
    time_s, rates = flow_samples(result, "throughput_bps")
    _, fair = flow_samples(result, "fair_rate_bps")
    chosen = _inside(time_s, start_s, to_s)
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
    result: Result, column: str = "throughput_bps", bins: int = 300, from_s: float = 0.0, to_s: float = _END
) -> dict[str, tuple["NDArray[Any]", "NDArray[Any]"]]:
    """For figures: time in s and a column of the table of rates, for each flow, averaged over at most ``bins``."""
    time_s, rates = flow_samples(result, column)
    chosen = _inside(time_s, from_s, to_s)
    return {name: means(time_s[chosen], values[chosen], bins) for name, values in rates.items()}


def queue_lengths(
    result: Result, queues: Sequence[str], points: int = 3000, from_s: float = 0.0, to_s: float = _END
) -> dict[str, tuple["NDArray[Any]", "NDArray[Any]"]]:
    """For figures: time in s and length in octets of each of the queues, every sample or every n-th."""
    drawn = {}
    for name in queues:
        series = _series(result, name)
        rows = np.flatnonzero(_inside(series.time_s, from_s, to_s))
        rows = rows[:: max(1, len(rows) // points)]
        drawn[name] = series.time_s[rows].copy(), series.octets[rows].copy()
    return drawn


def queue_distribution(
    result: Result, queue: str, from_s: float = 0.0, to_s: float = _END
) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """For figures: lengths in octets, sorted, and the share of the samples that are no longer."""
    return distribution(_lengths(result, queue, from_s, to_s))


def distribution(values: "NDArray[Any]") -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Return the values that occur, sorted, and the share of all that are no greater: a distribution function."""
    occur, counts = np.unique(values, return_counts=True)
    return occur, np.cumsum(counts) / len(values)


def wasserstein(a: "NDArray[Any]", b: "NDArray[Any]") -> float:
    """Return the distance of two samples' distributions in their own unit: the area between their two functions."""
    points = np.sort(np.concatenate((a, b)).astype(float))
    share_a, share_b = (np.searchsorted(np.sort(x), points[:-1], side="right") / len(x) for x in (a, b))
    return float((np.abs(share_a - share_b) * np.diff(points)).sum())


def flow_names(result: Result) -> list[str]:
    """Return the names of all flows."""
    return [flow["name"] for flow in result.summary["flows"]]


def flow_samples(result: Result, column: str) -> tuple["NDArray[Any]", dict[str, "NDArray[Any]"]]:
    """Return the times of the samples, s, and a column of the table of rates for each flow."""
    names = flow_names(result)
    # Every sample has a row a flow, in the order of the summary.
    table = result.column("rates", column).reshape(-1, len(names))
    return result.column("rates", "time_s")[:: len(names)], {name: table[:, i] for i, name in enumerate(names)}


def _inside(time_s: "NDArray[Any]", from_s: float, to_s: float) -> "NDArray[Any]":
    """Return which samples describe the time from ``from_s`` to ``to_s``: a sample ends its interval."""
    inside: NDArray[Any] = (time_s > from_s) & (time_s <= to_s)
    return inside


def _allowed(result: Result, flow: str, from_s: float, to_s: float) -> "NDArray[Any]":
    time_s, rates = flow_samples(result, "rate_bps")
    allowed: NDArray[Any] = rates[flow][_inside(time_s, from_s, to_s)].astype(float)
    return allowed


def _lengths(result: Result, queue: str, from_s: float, to_s: float) -> "NDArray[Any]":
    series = _series(result, queue)
    lengths: NDArray[Any] = series.octets[_inside(series.time_s, from_s, to_s)].astype(float)
    return lengths


def _series(result: Result, queue: str) -> QueueSeries:
    (series,) = queue_series(result, [_queue(result, queue)])
    return series


def _queue(result: Result, name: str) -> QueueSummary:
    queues = result.summary["queues"]
    _known(name, [queue["name"] for queue in queues])
    return next(queue for queue in queues if queue["name"] == name)


def _flow(result: Result, name: str) -> FlowSummary:
    _known(name, flow_names(result))
    return next(flow for flow in result.summary["flows"] if flow["name"] == name)


def _known(name: str, names: Sequence[str]) -> str:
    if name not in names:
        raise ValueError(f"{name!r} is not recorded; the recorded ones are {', '.join(names)}")
    return name
