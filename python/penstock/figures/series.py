"""The lines of figures, taken out of a result's tables and thinned to what a page can show."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.columns import rows_of
from penstock.measures import groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.result import Result
    from penstock.summary import QueueSummary

MOST_POINTS = 250
"""The most points of a line of rates."""

_LEAST_POINTS = 60

_FRAMES_A_POINT = 16
"""Over fewer frames an average would jump by the share of one, and hide the rate."""


@dataclass(frozen=True)
class QueueSeries:
    """Samples of one queue."""

    name: str
    time_s: "NDArray[np.float64]"
    octets: "NDArray[Any]"
    utilization: "NDArray[np.float64]"
    dropped: "NDArray[Any]"
    warmup_s: float
    max_octets: int
    """The longest that it was after the warm-up, between samples too."""


@dataclass(frozen=True)
class FlowSeries:
    """Samples of one flow."""

    name: str
    time_s: "NDArray[np.float64]"
    throughput_bps: "NDArray[np.float64]"
    fair_bps: "NDArray[np.float64]"
    completed_s: float
    """The sample with its last delivery, s; infinite if it did not complete."""
    alone: bool = False
    """It is the only flow of its table, and so of interest by itself among many."""
    points: int = MOST_POINTS
    """Over how many intervals its rate is averaged to be drawn, the same for all flows of a result."""
    start_s: float = -np.inf
    """The sample before its first fair share, s: until then it is not there."""


def queue_series(result: "Result", chosen: list["QueueSummary"]) -> list[QueueSeries]:
    """Return the samples of the chosen queues."""
    several_priorities = len({q["priority"] for q in result.summary["queues"]}) > 1
    rows_of_port = rows_of(result.queues.column("queue").chunk(0))
    priority = result.column("queues", "priority")
    time_s, octets, utilization, dropped = (
        result.column("queues", name) for name in ("time_s", "queue_octets", "utilization", "frames_dropped")
    )
    longest = {(q["name"], q["priority"]): q["max_octets"] for q in result.summary["queues"]}
    series = []
    for queue in chosen:
        rows = rows_of_port.get(queue["name"])
        if rows is not None:
            rows = rows[priority[rows] == queue["priority"]]
            name = f"{queue['name']} priority {queue['priority']}" if several_priorities else queue["name"]
            columns = time_s[rows], octets[rows], utilization[rows], dropped[rows]
            maximum = longest[queue["name"], queue["priority"]]
            series.append(QueueSeries(name, *columns, result.summary["warmup_s"], maximum))
    return series


def flow_series(result: "Result") -> list[FlowSeries]:
    """Return the samples of every flow of a result, in the order of its summary."""
    time_s, throughput_bps, fair_bps = (
        result.column("rates", name) for name in ("time_s", "throughput_bps", "fair_rate_bps")
    )
    alone = {group.name for group in groups(result) if len(group.flows) == 1}
    rows_of_flow = rows_of(result.rates.column("flow").chunk(0))
    points = _points(result)
    series = []
    for flow in result.summary["flows"]:
        rows = rows_of_flow.get(flow["name"])
        if rows is not None:
            delivering = rows[throughput_bps[rows] > 0]
            over = flow["completion_time_s"] is not None and len(delivering)
            completed_s = float(time_s[delivering[-1]]) if over else np.inf
            columns = time_s[rows], throughput_bps[rows], fair_bps[rows]
            on = np.flatnonzero((fair_bps[rows] > 0) | (throughput_bps[rows] > 0))
            start_s = float(time_s[rows[max(0, on[0] - 1)]]) if len(on) else np.inf
            series.append(FlowSeries(flow["name"], *columns, completed_s, flow["name"] in alone, points, start_s))
    return series


def _points(result: "Result") -> int:
    """Return how many points a line of rates has: each an average over enough frames of the flow that has most."""
    frames = max((flow["frames_delivered"] for flow in result.summary["flows"]), default=0)
    return min(MOST_POINTS, max(_LEAST_POINTS, frames // _FRAMES_A_POINT))


def thinned(series: FlowSeries, *, fair: bool = False) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Return the delivered rate, or the fair one, as it is drawn: times in s, rates in bit/s.

    The line of a flow ends with the last mean over which it lasted: a flow that is over is not slow.
    """
    time, rate = means(series.time_s, series.throughput_bps, series.points)
    lasted = int(np.searchsorted(time, series.completed_s, side="right"))
    if not rate[:lasted].any():
        lasted += 1
    if fair:
        _, rate = means(series.time_s, series.fair_bps, series.points)
    return time[:lasted], rate[:lasted]


def fair_shares(
    series: list[FlowSeries], grain_bps: float = 1000.0, grain_s: float = 0.0
) -> list[tuple[float, float, float]]:
    """Return the fair shares of all flows, each level once: from when (s), until when (s), and how much (bit/s).

    Levels that agree to ``grain_bps`` are one. Gaps up to ``grain_s`` are closed, and a level that lasts no longer is
    left out.
    """
    spans: dict[float, list[tuple[float, float]]] = {}
    grain_bps = max(grain_bps, 1000.0)
    for s in series:
        # A flow that is not active has no share. A sample tells of the time before it.
        levels = np.round(s.fair_bps[1:] / grain_bps) * grain_bps
        # The least of shares is one too.
        levels = np.where(s.fair_bps[1:] > 0, np.maximum(levels, grain_bps / 4), 0.0)
        edges = np.flatnonzero(np.diff(levels)) + 1
        for start, stop in zip([0, *edges], [*edges, len(levels)], strict=True):
            if stop > start and levels[start] > 0 and s.time_s[start] < s.completed_s:
                span = float(s.time_s[start]), min(float(s.time_s[stop]), s.completed_s)
                spans.setdefault(float(levels[start]), []).append(span)
    shares = []
    for level, parts in spans.items():
        parts.sort()
        start, stop = parts[0]
        for next_start, next_stop in parts[1:]:
            if next_start > stop + grain_s:
                shares.append((start, stop, level))
                start = next_start
            stop = max(stop, next_stop)
        shares.append((start, stop, level))
    return sorted(span for span in shares if span[1] - span[0] > grain_s)


def set_points_octets(result: "Result") -> list[int]:
    """Return the lengths at which the recorded queues are to be held, octets, each once, rising."""
    lengths = {queue["set_point_octets"] for queue in result.summary["queues"]}
    return sorted(length for length in lengths if length is not None)


def envelope(x: "NDArray[Any]", y: "NDArray[Any]", bins: int = 1000) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Thin a line to at most four points a bin: its first, lowest, highest and last.

    Drawn over as many pixels as there are bins, it looks as the whole line does; no peak is lost.
    """
    if len(x) <= 4 * bins:
        return x, y
    edges = np.linspace(0, len(x), bins + 1).astype(int)
    kept = np.empty((bins, 4), dtype=int)
    for i, (start, stop) in enumerate(pairwise(edges)):
        part = y[start:stop]
        kept[i] = start, start + int(part.argmin()), start + int(part.argmax()), stop - 1
    rows = np.unique(kept)
    return x[rows], y[rows]


def means(x: "NDArray[Any]", y: "NDArray[Any]", bins: int = MOST_POINTS) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Thin a line of interval averages to their means over at most ``bins`` longer intervals.

    A sample describes the interval before it, so that each mean stands at the end of its bin, and the sample at the
    beginning of a run, which has no interval, is left out.
    """
    if len(x) and x[0] == 0:
        x, y = x[1:], y[1:]
    if len(x) <= bins:
        return x, y
    size = -(-len(x) // bins)
    starts = np.arange(0, len(x), size)
    # A short rest joins the bin before it: an average over a sample or two would jump.
    if len(x) - starts[-1] < size / 2:
        starts = starts[:-1]
    stops = np.append(starts[1:], len(x))
    return x[stops - 1], np.add.reduceat(y, starts) / (stops - starts)
