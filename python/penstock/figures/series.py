"""What figures draw, taken out of a result's tables and thinned to what a page can show."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock import _core
from penstock.columns import codes
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

QUEUES_SHOWN = 4
"""The most queues in one panel: more lines than this hide one another."""

_NOTABLE = 0.05
"""A queue whose mean is below this part of the longest one's, without a drop or signal, is not worth a line."""


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


def notable_queues(queues: Iterable["QueueSummary"], most: int = QUEUES_SHOWN) -> list["QueueSummary"]:
    """Choose the queues to draw: those that drop, signal or fill, the longest first, at most ``most``, at least one."""
    ranked = sorted(queues, key=lambda q: (-q["frames_dropped"], -q["mean_octets"], -q["utilization"], q["name"]))
    if not ranked:
        return []
    least = _NOTABLE * max(q["mean_octets"] for q in queues)
    chosen = [q for q in ranked if q["frames_dropped"] or q["feedback_frames"] or q["mean_octets"] > least]
    return (chosen or ranked[:1])[:most]


def queue_series(result: "Result", chosen: list["QueueSummary"]) -> list[QueueSeries]:
    """Return the samples of the chosen queues."""
    several_priorities = len({q["priority"] for q in result.summary["queues"]}) > 1
    numbers, words = codes(result.queues.column("queue").chunk(0))
    priority = result.column("queues", "priority")
    time_s, octets, utilization, dropped = (
        result.column("queues", name) for name in ("time_s", "queue_octets", "utilization", "frames_dropped")
    )
    longest = {(q["name"], q["priority"]): q["max_octets"] for q in result.summary["queues"]}
    series = []
    for queue in chosen:
        if queue["name"] in words:
            rows = np.flatnonzero((numbers == words.index(queue["name"])) & (priority == queue["priority"]))
            name = f"{queue['name']} priority {queue['priority']}" if several_priorities else queue["name"]
            columns = time_s[rows], octets[rows], utilization[rows], dropped[rows]
            maximum = longest[queue["name"], queue["priority"]]
            series.append(QueueSeries(name, *columns, result.summary["warmup_s"], maximum))
    return series


def flow_series(result: "Result") -> list[FlowSeries]:
    """Return the samples of every flow of a result, in the order of its summary."""
    numbers, words = codes(result.rates.column("flow").chunk(0))
    time_s, throughput_bps, fair_bps = (
        result.column("rates", name) for name in ("time_s", "throughput_bps", "fair_rate_bps")
    )
    # One pass over the table serves all flows: a stable sort keeps each flow's samples in order of time.
    order = np.argsort(numbers, kind="stable")
    bounds = np.searchsorted(numbers[order], np.arange(len(words) + 1))
    alone = {group.name for group in groups(result) if len(group.flows) == 1}
    rows_of = {word: order[bounds[i] : bounds[i + 1]] for i, word in enumerate(words)}
    points = _points(result)
    series = []
    for flow in result.summary["flows"]:
        rows = rows_of.get(flow["name"])
        if rows is not None:
            delivering = rows[throughput_bps[rows] > 0]
            over = flow["completion_time_s"] is not None and len(delivering)
            completed_s = float(time_s[delivering[-1]]) if over else np.inf
            columns = time_s[rows], throughput_bps[rows], fair_bps[rows]
            series.append(FlowSeries(flow["name"], *columns, completed_s, flow["name"] in alone, points))
    return series


def _points(result: "Result") -> int:
    """Return how many points a line of rates has: each an average over enough frames of the flow that has most."""
    frames = max((flow["frames_delivered"] for flow in result.summary["flows"]), default=0)
    return min(MOST_POINTS, max(_LEAST_POINTS, frames // _FRAMES_A_POINT))


def fair_shares(series: list[FlowSeries]) -> list[tuple[float, float, float]]:
    """Return the fair shares of all flows, each level once: from when (s), until when (s), and how much (bit/s)."""
    spans: dict[float, list[tuple[float, float]]] = {}
    for s in series:
        # Shares that agree to a kb/s are one; a flow that is not active has none. A sample tells of the time before it.
        levels = np.round(s.fair_bps[1:] / 1000) * 1000
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
            if next_start > stop:
                shares.append((start, stop, level))
                start = next_start
            stop = max(stop, next_stop)
        shares.append((start, stop, level))
    return sorted(shares)


def question(result: "Result") -> str:
    """Return the question of the scenario that ran, or its name if it asks none."""
    document = tomllib.loads(result.scenario_toml)
    return str(document.get("question") or result.summary["scenario"])


def equilibrium_octets(result: "Result") -> float | None:
    """Return the queue length that the scheme aims at, octets; ``None`` where it has no ``q_eq`` or ``q0``."""
    document = tomllib.loads(result.scenario_toml)
    parameters = document.get("schemes", {}).get(result.summary["scheme"], {})
    text = parameters.get("q_eq", parameters.get("q0"))
    return None if text is None else _core.parse_octets(text)


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
