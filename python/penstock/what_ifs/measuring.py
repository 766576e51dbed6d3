"""The numbers of one run of a trial, and what its figures show: most by the registry of metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.columns import to_floats, to_numpy
from penstock.metrics.registry import levels
from penstock.metrics.values import JudgedRun, busiest, longest
from penstock.result import Result
from penstock.what_ifs.making import SENDERS, VICTIM

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.declared import Better, MetricKind

_OF_RUN = ("paused_s", "pause_frames", "frames_lost", "frames_delivered", "slowdown_p99", "flows_left")
_OF_QUEUE = ("queue_p50_octets", "queue_p99_octets", "queue_max_octets")

_POINTS = 200
"""The most points of a line of a figure."""


@dataclass(frozen=True)
class About:
    """What a number of a trial is: as the registry of metrics has it, or a number of trials alone.

    Attributes:
        title: its title.
        kind: how it is written.
        better: which of two values is better; ``None`` where neither is.
    """

    title: str
    kind: "MetricKind"
    better: "Better | None"


_OWN = {
    "delivered_share": About("frames delivered, of those without it", "share", "more"),
    "longest_pause_s": About("longest pause of a queue", "time", "less"),
    "completion_p99_s": About("completion p99 of the incast", "time", "less"),
    "victim_goodput_bps": About("goodput of the victim", "rate", "more"),
    "victim_alone_bps": About("goodput of the victim without the incast", "rate", "more"),
    "victim_completion_s": About("completion of the victim", "time", "less"),
    "victim_completion_alone_s": About("completion of the victim without the incast", "time", "less"),
    "deadlocked": About("runs that end in a deadlock", "share", "less"),
    "deadlock_s": About("when the deadlock began", "time", "more"),
}
"""The numbers that no metric is: they name flows of trials, or compare two runs."""


@cache
def about(name: str) -> About:
    """Return what a number is."""
    if name in _OWN:
        return _OWN[name]
    found = levels(name)
    metric = found.get("run") or found["queue"]
    return About(metric.title, metric.kind, metric.better)


@dataclass(frozen=True, kw_only=True)
class FigureTable:
    """The lines of a figure, each a side of a trial with its first seed.

    Attributes:
        name: what it is of: ``queue``, ``stopped`` or ``completions``.
        title: its title.
        x: the quantity along it, with its unit, as ``time_s``.
        y: the quantity up it, likewise; a bare name is a plain number.
        lines: points of each line.
    """

    name: str
    title: str
    x: str
    y: str
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]


_FIGURES = {
    "queue": ("queue of {port}", "time_s", "queue_octets"),
    "stopped": ("queues that flow control has stopped", "time_s", "queues"),
    "completions": ("completion of the flows of the incast", "completion_s", "share"),
}
"""The figures of runs: title, and quantities along and up."""


@dataclass(frozen=True)
class RunNumbers:
    """One run.

    Attributes:
        values: its numbers by name; ``None`` where it has none.
        lines: points of the lines of its figures, by the figure's name.
        notes: the notes of the run.
        port: the port by whose queue it is judged.
        duration_s: simulated time, s.
    """

    values: Mapping[str, float | None]
    lines: Mapping[str, tuple[list[float], list[float]]]
    notes: Sequence[str]
    port: str | None
    duration_s: float


def numbers(result: Result, port: str | None) -> RunNumbers:
    """Take the numbers of a run, judged by the queue of a port; ``None`` stands for the busiest."""
    summary = result.summary
    judged = port or busiest([summary])
    run = JudgedRun(result, longest(summary, judged))
    values: dict[str, float | None] = {name: run.value(levels(name)["run"]) for name in _OF_RUN}
    values |= {name: run.value(levels(name)["queue"]) for name in _OF_QUEUE}
    time_s, stopped, _ = _stops(result)
    values["longest_pause_s"] = longest_stop_s(result)
    completions, unfinished = _completions_of_senders(result)
    if len(completions):
        values["completion_p99_s"] = float(np.percentile(completions, 99, method="inverted_cdf"))
    values |= _of_victim(result)
    values["unfinished"] = unfinished + (values.get("unfinished") or 0)
    deadlocks = [entry for entry in summary.get("deadlocks", []) if entry["ended_s"] is None]
    values["deadlocked"] = float(bool(deadlocks))
    values["deadlock_s"] = deadlocks[0]["since_s"] if deadlocks else None
    lines = {"stopped": _thinned(time_s, stopped)}
    if run.queue is not None:
        rows = result.rows_of("queues", [run.queue["name"]], "time_s", "priority", "queue_octets")[run.queue["name"]]
        own = rows["priority"] == run.queue["priority"]
        lines["queue"] = _thinned(rows["time_s"][own], rows["queue_octets"][own].astype(float))
    if len(completions):
        ordered = np.sort(completions)
        lines["completions"] = ordered.tolist(), ((np.arange(len(ordered)) + 1) / len(ordered)).tolist()
    return RunNumbers(values, lines, result.notes, judged, result.end_s)


def figure_tables(name: str, first: Mapping[str, RunNumbers]) -> list[FigureTable]:
    """Return the lines of the figures of several sides, a run of each; ``name`` begins the titles."""
    found = []
    for figure, (title, x, y) in _FIGURES.items():
        lines = {side: run.lines[figure] for side, run in first.items() if run.lines.get(figure, ([], []))[0]}
        # Where no queue is ever stopped there is nothing to see.
        if any(any(y) for _, y in lines.values()):
            port = next(iter(first.values())).port
            text = f"{name}: {title.format(port=port)}"
            found.append(FigureTable(name=figure, title=text, x=x, y=y, lines=lines))
    return found


def longest_stop_s(result: Result) -> float | None:
    """Return the longest stop of a queue in a run, s; ``None`` without flow control.

    Of stops that have ended it is the 99.9th percentile of a queue, within 1 %. One that has not ended counts too.
    """
    if "paused_s" not in result.summary["totals"]:
        return None
    ended_s = max((queue.get("pause_p999_s", 0.0) for queue in result.summary["queues"]), default=0.0)
    return max(ended_s, _stops(result)[2])


def _stops(result: Result) -> "tuple[NDArray[Any], NDArray[Any], float]":
    """Return times of samples, the mean number of stopped queues before each, and the longest stop at the end, s."""
    if "paused_s" not in result.queues.column_names:
        return np.empty(0), np.empty(0), 0.0
    times, first = np.unique(result.column("queues", "time_s"), return_index=True)
    # Every sample has a row a queue.
    paused = result.column("queues", "paused_s").reshape(len(times), -1)
    if len(first) < 2:
        return times, np.zeros(len(times)), 0.0
    interval = np.diff(times, prepend=2 * times[0] - times[1])
    whole = paused >= 0.999 * interval[:, None]
    # From the last sample back for as long as the queue was stopped throughout.
    trailing = np.logical_and.accumulate(whole[::-1], axis=0)[::-1]
    unended = (paused * trailing).sum(axis=0).max(initial=0.0)
    return times, paused.sum(axis=1) / interval, float(unended)


def _completions_of_senders(result: Result) -> "tuple[NDArray[Any], int]":
    """Return completion times of an incast, s, and how many flows have not completed: those count until the end."""
    if "completions" not in result.tables:
        return np.empty(0), 0
    table = result.columns_of("completions", "group", "start_s", "end_s")
    group = to_numpy(table.column("group").chunk(0))
    start, end = (to_floats(table.column(name).chunk(0)) for name in ("start_s", "end_s"))
    chosen = np.array([str(name).startswith(SENDERS) for name in group], dtype=bool) & np.isfinite(start)
    ended = np.where(np.isfinite(end), end, result.end_s)
    return (ended - start)[chosen], int((~np.isfinite(end[chosen])).sum())


def _of_victim(result: Result) -> dict[str, float | None]:
    """Return goodput and completion time of the victim; one that has not completed counts until the end."""
    for flow in result.summary["flows"]:
        if flow["name"] == VICTIM and flow["start_s"] is not None:
            completion_s = flow["completion_time_s"]
            return {
                "victim_goodput_bps": flow.get("goodput_bps", flow["throughput_bps"]),
                "unfinished": float(completion_s is None),
                "victim_completion_s": result.end_s - flow["start_s"] if completion_s is None else completion_s,
            }
    return {}


def _thinned(x: "NDArray[Any]", y: "NDArray[Any]") -> tuple[list[float], list[float]]:
    """Return means over at most :data:`_POINTS` intervals."""
    if not len(x):
        return [], []
    places = np.linspace(0, len(x), min(len(x), _POINTS) + 1).astype(int)
    ends = places[1:] - 1
    return x[ends].tolist(), (np.add.reduceat(y, places[:-1]) / np.diff(places)).tolist()
