"""The metrics of this paper alone: the one queue and its link, period by period.

The service rate falls at DROP_S and returns at RISE_S. Three periods are at rest (``before``, ``low``, ``after``: from
half a second after the start, from a second after each change on), two are the seconds after the changes (``drop``,
``rise``).

Those of connections of TCP, which the paper leaves to others, are at the end.
"""

from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from penstock import Result
from penstock.figures.series import QueueSeries, queue_series
from penstock.metrics.values import flow_samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUEUE = "sw0->h8"
FRAME_OCTETS = 1000
Q_EQ_OCTETS = 33_000
DROP_S, RISE_S, END_S = 2.3, 6.0, 10.0
PERIODS = {
    "all": (0.5, END_S),
    "before": (0.5, DROP_S),
    "drop": (DROP_S, DROP_S + 1),
    "low": (DROP_S + 1, RISE_S),
    "rise": (RISE_S, RISE_S + 1),
    "after": (RISE_S + 1, END_S),
}
SMOOTHED_SAMPLES = 20
"""Utilisation is judged and drawn as a mean over so many samples, 20 ms."""


def length_samples_frames(result: Result, period: str) -> "NDArray[Any]":
    """For distances between runs: the queue at its samples in a period, in frames."""
    series = _series(result)
    lengths: NDArray[Any] = series.octets[_within(series.time_s, period)] / FRAME_OCTETS
    return lengths


def length_mean_octets(result: Result, period: str) -> float:
    """Mean length of the queue in a period."""
    series = _series(result)
    return float(series.octets[_within(series.time_s, period)].mean())


def length_mean_frames(result: Result, period: str) -> float:
    """Mean length of the queue in a period, in frames."""
    return length_mean_octets(result, period) / FRAME_OCTETS


def length_std_octets(result: Result, period: str) -> float:
    """Standard deviation of the length of the queue in a period."""
    series = _series(result)
    return float(series.octets[_within(series.time_s, period)].std())


def link_use(result: Result, period: str) -> float:
    """Mean utilisation of the link in a period."""
    series = _series(result)
    return float(_used(series)[_within(series.time_s, period)].mean())


def link_idle(result: Result, period: str) -> float:
    """The capacity of the link that is left in a period."""
    return 1 - link_use(result, period)


def recovery_s(result: Result, share: float = 0.95) -> float | None:
    """Time from the return of the service rate until the link is used to ``share``, as a mean over 20 ms."""
    series = _series(result)
    used = _smoothed(_used(series))
    busy = np.flatnonzero((series.time_s > RISE_S + 0.02) & (used >= share))
    return float(series.time_s[busy[0]] - RISE_S) if len(busy) else None


def drained_s(result: Result) -> float | None:
    """Time from the drop until the queue, which it fills, is first back at one and a half Qeq or less."""
    series = _series(result)
    low = np.flatnonzero(_between(series.time_s, DROP_S, RISE_S))
    lengths = series.octets[low]
    full = np.flatnonzero(lengths > 1.5 * Q_EQ_OCTETS)
    if not len(full):
        return 0.0
    back = np.flatnonzero(lengths[full[0] :] <= 1.5 * Q_EQ_OCTETS)
    return float(series.time_s[low[full[0] + back[0]]] - DROP_S) if len(back) else None


def delay_line_octets(result: Result, one_way_s: float) -> float:
    """The most octets that a delay line of ``one_way_s`` holds when all sources send at their allowed rates."""
    _, rates = flow_samples(result, "rate_bps")
    return float(np.sum(list(rates.values()), axis=0).max() * one_way_s / 8)


def timeouts_of(result: Result, name: str) -> float:
    """Retransmission timeouts of the finite connections whose names begin with ``name``."""
    names, late = (result.column("completions", column) for column in ("flow", "timeouts"))
    return float(sum(int(number) for flow, number in zip(names, late, strict=True) if str(flow).startswith(name)))


def host_queue_octets(result: Result) -> float:
    """Octets that wait in a host for their reaction point: mean over time and over the connections."""
    return fmean(flow["transmit_queue_mean_octets"] for flow in result.summary["flows"])


def host_queue_drops(result: Result, name: str = "") -> float:
    """Segments that found no room in their host, of the connections whose names begin with ``name``."""
    return float(sum(f["segments_discarded"] for f in result.summary["flows"] if f["name"].startswith(name)))


def slowdown(result: Result, of: str = "mean", least_octets: int = 0, most_octets: int | None = None) -> float | None:
    """Slowdown of the finite flows of these sizes: its ``mean``, or a percentile such as ``p50`` or ``p99``.

    Sizes are those of the summary's buckets, the default is all flows. It is the flow completion time over that on an
    empty network. ``None`` where a flow had not completed, whose slowdown nobody knows.
    """
    rows = [row for row in result.summary["completions"] if row["group"] is None]
    (row,) = [row for row in rows if (row["least_octets"], row["most_octets"]) == (least_octets, most_octets)]
    if row["completed"] < row["flows"]:
        return None
    value: float | None = row[f"slowdown_{of}"]  # type: ignore[literal-required]
    return value


def sawtooth_ratio(result: Result, round_trip_s: float) -> float:
    """Mean queue after the rise over that of one NewReno connection by its sawtooth, without frames on their way.

    The window W grows by a frame a round trip, from half of its peak, which is the buffer and the bandwidth-delay
    product P. A round trip lasts W / C above P, the time of P below it. Above P the queue is W - P.
    """
    frame, buffer, rate_bps = float(FRAME_OCTETS), 150_000.0, 0.95e9
    # A frame crosses two links, an acknowledgement of 64 octets two as well.
    product = (round_trip_s * rate_bps + 8 * (frame * (1 + 0.95) + 2 * 64)) / 8
    peak = buffer + product
    windows = np.arange(peak / 2, peak, frame / 10)
    times = np.maximum(windows, product)
    expected = float((np.maximum(windows - product, 0) * times).sum() / times.sum())
    return length_mean_octets(result, "after") / expected


def course(result: Result, from_s: float = 0.0, to_s: float = END_S, bins: int = 1000) -> dict[str, "NDArray[Any]"]:
    """For figures: time in s and queue in KB, in each bin the shortest and the longest; and utilisation, over 20 ms."""
    series = _series(result)
    rows = np.flatnonzero(_between(series.time_s, from_s, to_s))
    parts = np.array_split(rows, min(bins, len(rows)))
    ends = [part[pick(series.octets[part])] for part in parts for pick in (np.argmin, np.argmax)]
    drawn, used = np.unique(ends), rows[:: max(1, len(rows) // bins)]
    return {
        "time_s": series.time_s[drawn],
        "kilooctets": series.octets[drawn] / 1000,
        "used_time_s": series.time_s[used],
        "used": _smoothed(_used(series))[used],
    }


def periods(result: Result) -> dict[str, dict[str, float]]:
    """For figures: mean queue in KB and link use in each period."""
    return {
        name: {"kilooctets": length_mean_octets(result, name) / 1000, "used": link_use(result, name)}
        for name in PERIODS
    }


def lengths(result: Result) -> dict[str, "NDArray[Any]"]:
    """For figures: the samples of the queue in frames in each period."""
    return {name: length_samples_frames(result, name) for name in PERIODS}


def _series(result: Result) -> QueueSeries:
    (series,) = queue_series(result, [queue for queue in result.summary["queues"] if queue["name"] == QUEUE])
    return series


def _used(series: QueueSeries) -> "NDArray[Any]":
    """Return each sample's utilisation; octets of a frame under way at the drop beyond the new rate do not count."""
    return np.minimum(series.utilization, 1.0)


def _smoothed(values: "NDArray[Any]") -> "NDArray[Any]":
    """Return the mean of each value and the ones before it, as many as there are up to SMOOTHED_SAMPLES."""
    sums = np.cumsum(np.concatenate(([0.0], values)))
    last = np.arange(1, len(values) + 1)
    first = np.maximum(last - SMOOTHED_SAMPLES, 0)
    smoothed: NDArray[Any] = (sums[last] - sums[first]) / (last - first)
    return smoothed


def _within(time_s: "NDArray[Any]", period: str) -> "NDArray[Any]":
    return _between(time_s, *PERIODS[period])


def _between(time_s: "NDArray[Any]", from_s: float, to_s: float) -> "NDArray[Any]":
    """Return which samples describe the time from ``from_s`` to ``to_s``: a sample ends its interval."""
    inside: NDArray[Any] = (time_s > from_s) & (time_s <= to_s)
    return inside
