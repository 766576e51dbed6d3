"""The lines of figures, taken out of a result's tables and thinned to what a page can show."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from penstock.catalogue import about
from penstock.columns import codes, to_floats, to_numpy
from penstock.scenario import Scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.result import Result

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


class Flows(Sequence[FlowSeries]):
    """The samples of every flow of a result, all at the same times: a column a flow.

    An entry is made when it is asked for, so that what is drawn of a hundred thousand flows costs no object each.

    Attributes:
        names: the flows' names.
        time_s: times of the samples, s.
        throughput_bps: delivered rates: a row a sample.
        fair_bps: fair shares, likewise.
        completed_s: :attr:`FlowSeries.completed_s` of each.
        alone: :attr:`FlowSeries.alone` of each.
        start_s: :attr:`FlowSeries.start_s` of each.
        points: :attr:`FlowSeries.points` of all.
    """

    def __init__(
        self,
        names: list[str],
        time_s: "NDArray[Any]",
        throughput_bps: "NDArray[Any]",
        fair_bps: "NDArray[Any]",
        completed_s: "NDArray[Any]",
        alone: "NDArray[Any]",
        start_s: "NDArray[Any]",
        points: int,
    ) -> None:
        self.names = names
        self.time_s = time_s
        self.throughput_bps = throughput_bps
        self.fair_bps = fair_bps
        self.completed_s = completed_s
        self.alone = alone
        self.start_s = start_s
        self.points = points

    @classmethod
    def of(cls, series: Sequence[FlowSeries]) -> "Flows":
        """Put series side by side; they have the same times."""
        if isinstance(series, Flows):
            return series
        time_s = series[0].time_s if len(series) else np.empty(0)
        rates = np.array([(s.throughput_bps, s.fair_bps) for s in series]).reshape(len(series), 2, len(time_s))
        ends = np.array([(s.completed_s, s.start_s) for s in series]).reshape(len(series), 2)
        alone = np.array([s.alone for s in series], dtype=bool)
        points = series[0].points if len(series) else MOST_POINTS
        return cls(
            [s.name for s in series], time_s, rates[:, 0].T, rates[:, 1].T, ends[:, 0], alone, ends[:, 1], points
        )

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, at: int) -> FlowSeries: ...
    @overload
    def __getitem__(self, at: slice) -> "Flows": ...
    def __getitem__(self, at: int | slice) -> "FlowSeries | Flows":
        if isinstance(at, slice):
            return self.chosen(np.arange(len(self))[at])
        return FlowSeries(
            self.names[at],
            self.time_s,
            self.throughput_bps[:, at],
            self.fair_bps[:, at],
            float(self.completed_s[at]),
            bool(self.alone[at]),
            self.points,
            float(self.start_s[at]),
        )

    def chosen(self, places: "NDArray[Any]") -> "Flows":
        """Return the flows at some indices."""
        rates = self.throughput_bps[:, places], self.fair_bps[:, places]
        ends = self.completed_s[places], self.alone[places], self.start_s[places]
        return Flows([self.names[at] for at in places], self.time_s, *rates, *ends, self.points)


def queue_series(result: "Result", chosen: Sequence[Mapping[str, Any]]) -> list[QueueSeries]:
    """Return the samples of the chosen queues, each of which has a ``name`` and a ``priority``."""
    shown = result.queues_shown
    several_priorities = len(np.unique(shown["priority"])) > 1
    columns = ("time_s", "queue_octets", "utilization", "frames_dropped")
    rows_of_port = result.rows_of("queues", [queue["name"] for queue in chosen], "priority", *columns)
    wanted = {(queue["name"], queue["priority"]) for queue in chosen}
    every = zip(zip(shown["name"], shown["priority"].tolist(), strict=True), shown["max_octets"].tolist(), strict=True)
    longest = {queue: octets for queue, octets in every if queue in wanted}
    warmup_s = result.summary_in_brief["warmup_s"]
    series = []
    for queue in chosen:
        rows = rows_of_port.get(queue["name"])
        if rows is not None:
            own = rows["priority"] == queue["priority"]
            name = f"{queue['name']} priority {queue['priority']}" if several_priorities else queue["name"]
            maximum = longest[queue["name"], queue["priority"]]
            time_s, octets, utilization, dropped = (rows[column][own] for column in columns)
            series.append(QueueSeries(name, time_s, octets, utilization, dropped, warmup_s, maximum))
    return series


def flow_series(result: "Result") -> Flows:
    """Return the samples of every flow of a result, in the order of its summary."""
    flows = _flow_table(result)
    names, rows = _rows_of_flows(result, flows["name"])
    columns = (result.column("rates", name) for name in ("time_s", "throughput_bps", "fair_rate_bps"))
    times, throughput_bps, fair_bps = (column[rows] for column in columns)
    time_s = times[:, 0] if len(names) else np.empty(0)
    of_each = dict(zip(flows["name"], flows["completed"].tolist(), strict=True))
    single = {group for group, number in Counter(flows["group"]).items() if number == 1}
    over = np.array([of_each[name] for name in names], dtype=bool)
    last = _last(throughput_bps > 0)
    ended = over & (last >= 0)
    on = (fair_bps > 0) | (throughput_bps > 0)
    first = np.where(on.any(axis=0), np.maximum(on.argmax(axis=0) - 1, 0), -1) if len(time_s) else -over.astype(int)
    at = np.append(time_s, np.inf)
    alone = np.array([name in single for name in names], dtype=bool)
    # Place -1 is the infinity behind the samples.
    return Flows(
        names, time_s, throughput_bps, fair_bps, at[np.where(ended, last, -1)], alone, at[first], _points(flows)
    )


def _flow_table(result: "Result") -> "dict[str, NDArray[Any]]":
    """Return columns of the table of flows, which is read faster than the summary; and whether each completed."""
    columns = "name", "group", "completion_time_s", "frames_delivered"
    table = result.columns_of("flows", *columns)
    name, group, completed, delivered = (table.column(column).chunk(0) for column in columns)
    return {
        "name": to_numpy(name),
        "group": to_numpy(group),
        "completed": ~np.isnan(to_floats(completed)),
        "frames_delivered": to_numpy(delivered),
    }


def _rows_of_flows(result: "Result", known: "NDArray[Any]") -> "tuple[list[str], NDArray[Any]]":
    """Return the flows with samples, in the order of the summary, and the rows of each: a column a flow."""
    numbers, words = codes(result.rates.column("flow").chunk(0))
    places = {word: place for place, word in enumerate(words)}
    names = [name for name in known if name in places]
    if not names:
        return [], np.empty((0, 0), dtype=int)
    # Every sample has a row of each flow.
    rows = np.argsort(numbers, kind="stable").reshape(len(words), -1)
    return names, rows[[places[name] for name in names]].T


def _last(marks: "NDArray[Any]") -> "NDArray[Any]":
    """Return the last row of each column that is marked; -1 where none is."""
    if not len(marks):
        return np.full(marks.shape[1], -1)
    found: NDArray[Any] = np.where(marks.any(axis=0), len(marks) - 1 - marks[::-1].argmax(axis=0), -1)
    return found


def _points(flows: "Mapping[str, NDArray[Any]]") -> int:
    """Return how many points a line of rates has: each an average over enough frames of the flow that has most."""
    frames = int(flows["frames_delivered"].max(initial=0))
    return min(MOST_POINTS, max(_LEAST_POINTS, frames // _FRAMES_A_POINT))


def thinned(series: FlowSeries, *, fair: bool = False) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Return the delivered rate, or the fair one, as it is drawn: times in s, rates in bit/s.

    The line of a flow ends with the last mean over which it lasted: a finished flow is not slow.
    """
    time, rates = drawn(Flows.of([series]), fair=fair)
    lasted = int(np.isfinite(rates[:, 0]).sum())
    return time[:lasted], rates[:lasted, 0]


def drawn(flows: Flows, *, fair: bool = False) -> tuple["NDArray[Any]", "NDArray[Any]"]:
    """Return the same of all flows, as far as the longest line: a column a flow, NaN where its line has ended."""
    time, rates = means(flows.time_s, flows.throughput_bps, flows.points)
    lasted = np.searchsorted(time, flows.completed_s, side="right")
    row = np.arange(len(time))[:, np.newaxis]
    lasted += ~((rates != 0) & (row < lasted)).any(axis=0)
    if fair:
        _, rates = means(flows.time_s, flows.fair_bps, flows.points)
    end = min(len(time), int(lasted.max(initial=0)))
    return time[:end], np.where(row < lasted, rates, np.nan)[:end]


def fair_shares(
    series: Sequence[FlowSeries], grain_bps: float = 1000.0, grain_s: float = 0.0
) -> list[tuple[float, float, float]]:
    """Return the fair shares of all flows, each level once: from when (s), until when (s), and how much (bit/s).

    Levels that agree to ``grain_bps`` are one. Gaps up to ``grain_s`` are closed, and a level that lasts no longer is
    left out.
    """
    spans: dict[float, list[tuple[float, float]]] = {}
    grain_bps = max(grain_bps, 1000.0)
    if not len(series):
        return []
    flows = Flows.of(series)
    # A flow that is not active has no share. A sample covers the time before it.
    shares_bps = flows.fair_bps[1:]
    # The least of shares is one too.
    levels = np.where(shares_bps > 0, np.maximum(np.round(shares_bps / grain_bps) * grain_bps, grain_bps / 4), 0.0)
    starts, stops, columns = _runs(levels)
    time_s = flows.time_s
    kept = (levels[starts, columns] > 0) & (time_s[starts] < flows.completed_s[columns])
    starts, stops, columns = starts[kept], stops[kept], columns[kept]
    ends = np.minimum(time_s[stops], flows.completed_s[columns])
    # Most flows have their span in common with others.
    for level, start, stop in _distinct(levels[starts, columns], time_s[starts], ends):
        spans.setdefault(level, []).append((start, stop))
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


def _distinct(*columns: "NDArray[Any]") -> list[tuple[float, ...]]:
    """Return the rows that occur, each once."""
    place = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        words, numbers = np.unique(column, return_inverse=True)
        place = place * len(words) + numbers
    _, first = np.unique(place, return_index=True)
    return list(zip(*(column[first].tolist() for column in columns), strict=True))


def _runs(levels: "NDArray[Any]") -> "tuple[NDArray[Any], NDArray[Any], NDArray[Any]]":
    """Return the runs of equal values in each column: the first row, the one behind the last, the column."""
    if not len(levels):
        return np.empty(0, dtype=int), np.empty(0, dtype=int), np.empty(0, dtype=int)
    edge = np.vstack([np.ones((1, levels.shape[1]), dtype=bool), levels[1:] != levels[:-1]])
    columns, starts = np.nonzero(edge.T)
    last = np.append(columns[1:] != columns[:-1], True)
    return starts, np.where(last, len(levels), np.append(starts[1:], 0)), columns


@dataclass(frozen=True)
class SetPoint:
    """A length at which queues are to be held, and when."""

    octets: float
    start_s: float = -np.inf
    stop_s: float = np.inf


def set_points(result: "Result") -> list[SetPoint]:
    """Return the lengths at which the recorded queues are to be held, each once, rising."""
    shown = result.queues_shown
    lengths_octets = shown["set_point_octets"]
    held = set(shown["priority"][~np.isnan(lengths_octets)].tolist())
    # To lay a scenario out takes time: only one that changes parameters is.
    if not held or "[change.schemes." not in result.scenario_toml:
        return [SetPoint(length) for length in np.unique(lengths_octets[~np.isnan(lengths_octets)]).tolist()]
    plan = Scenario.from_toml(result.scenario_toml).describe()
    found = set()
    for scheme in plan["schemes"]:
        if scheme["priority"] in held:
            own = [change for change in plan["parameter_changes"] if change["priority"] == scheme["priority"]]
            starts = [-np.inf, *(change["at_s"] for change in own), np.inf]
            name = str(about(scheme["name"])["set_point"])
            lengths = [float(entry["parameters"][name]) for entry in (scheme, *own)]
            # A change of another parameter leaves the length as it is.
            kept = [i for i, length in enumerate(lengths) if i == 0 or length != lengths[i - 1]]
            for i, following in zip(kept, [*kept[1:], len(lengths)], strict=True):
                found.add(SetPoint(lengths[i], starts[i], starts[following]))
    return sorted(found, key=lambda point: (point.octets, point.start_s))


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
    """Thin a line of interval averages, or a column each of several, to means over at most ``bins`` longer intervals.

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
    lengths = (stops - starts).reshape(-1, *[1] * (y.ndim - 1))
    return x[stops - 1], np.add.reduceat(y, starts, axis=0) / lengths
