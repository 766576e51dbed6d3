"""The numbers by which `penstock compare` judges schemes: taken from one run each, then summed up over seeds.

:data:`MEASURES` declares each once; `compare.json` has their keys, the table their titles, and the reference page their
definitions. The numbers of a summary are weighted with time. Percentiles and amplitudes come from the recorded samples
of the time after the warm-up, so that they are as fine as ``record.interval``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from penstock.columns import rows_of
from penstock.text import octets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.result import Result
    from penstock.summary import CompletionSummary, FlowSummary, QueueSummary, Summary

Kind = Literal["count", "octets", "share", "rate", "index", "time", "ratio"]


@dataclass(frozen=True)
class Measure:
    """A number that a run comes to, in the unit that its key ends in; frames, or a plain number, where it has none."""

    key: str
    title: str
    kind: Kind
    definition: str
    in_table: bool = True
    """Whether the table has a column for it; the others are in `compare.json` alone."""
    better: Literal["less", "more"] = "less"
    """Which of two values is the better one, all else being equal."""


MEASURES = (
    Measure(
        "frames_lost",
        "lost",
        "count",
        "Data frames and copies lost over the whole run: dropped at full queues, or lost on broken links.",
    ),
    Measure("loss_rate", "loss", "share", "Frames dropped at full queues over frames sent."),
    Measure("queue_mean_octets", "queue mean", "octets", "Mean length of the queue, weighted with time."),
    Measure("queue_std_octets", "σ", "octets", "Standard deviation of its length, weighted with time."),
    Measure("queue_p50_octets", "p50", "octets", "Median of its sampled length."),
    Measure("queue_p99_octets", "p99", "octets", "99th percentile of its sampled length."),
    Measure("queue_max_octets", "max", "octets", "Its greatest length, between samples too.", in_table=False),
    Measure(
        "queue_amplitude_octets",
        "amplitude",
        "octets",
        "Oscillation amplitude of the queue: half the distance between the 5th and the 95th percentile of its sampled "
        "length. A sine of amplitude A gives 0.99 A.",
    ),
    Measure("empty_fraction", "empty", "share", "Share of the time without an octet in the queue."),
    Measure(
        "utilization",
        "utilisation",
        "share",
        "Share of the scheduled rate of the queue's port that was used.",
        better="more",
    ),
    Measure(
        "throughput_bps",
        "throughput",
        "rate",
        "The rate that all flows of [[flow]] tables together deliver, wire overhead included.",
        better="more",
    ),
    Measure(
        "jain_index",
        "Jain",
        "index",
        "Jain's index of the controlled flows' throughputs over their fair shares.",
        better="more",
    ),
    Measure(
        "rate_amplitude_bps",
        "rate amplitude",
        "rate",
        "Oscillation amplitude of the rates: half the distance between the 5th and the 95th percentile of a flow's "
        "sampled allowed rate while the flow lasts; the mean over the controlled flows.",
    ),
    Measure("feedback_frames", "feedback", "count", "Signals that reached the sources of controlled flows."),
    Measure(
        "feedback_rate", "per frame", "share", "Signals that reached sources over data frames sent.", in_table=False
    ),
    Measure(
        "settling_time_s",
        "settled",
        "time",
        "Median of the flows' settling times, of the flows that have settled. `flows` of `of_flows` have, all runs "
        "together.",
    ),
    Measure(
        "completion_time_s",
        "completed",
        "time",
        "Mean of the flows' completion times, of the flows that have completed. `flows` of `of_flows` have, all runs "
        "together.",
    ),
    Measure(
        "slowdown_mean",
        "slowdown mean",
        "ratio",
        "Mean slowdown of finite flows that started after the warm-up: flow completion time over that on an empty "
        "network, of the flows that completed.",
    ),
    Measure("slowdown_p50", "slowdown p50", "ratio", "Median slowdown of these flows.", in_table=False),
    Measure("slowdown_p95", "slowdown p95", "ratio", "95th percentile of their slowdown.", in_table=False),
    Measure("slowdown_p99", "slowdown p99", "ratio", "99th percentile of their slowdown."),
    Measure("slowdown_p999", "slowdown p99.9", "ratio", "99.9th percentile of their slowdown.", in_table=False),
    Measure(
        "flows_left",
        "not completed",
        "count",
        "Finite flows that started after the warm-up and had not completed at the end: no percentile has them.",
    ),
    Measure("retransmissions", "sent again", "count", "Segments that transports sent again, over the whole run."),
    Measure("timeouts", "timeouts", "count", "Retransmission timeouts of transports, over the whole run."),
    Measure(
        "paused_s",
        "paused, all queues",
        "time",
        "Time that priority flow control stopped queues, the sum over all of the network, recorded or not, over the "
        "whole run.",
    ),
    Measure(
        "pause_frames", "pauses", "count", "Frames of priority flow control, pause and resume, over the whole run."
    ),
)
"""In the order of the table's columns."""

ROWS_OF_FLOWS: tuple[Literal["settling_time_s", "completion_time_s"], ...] = ("settling_time_s", "completion_time_s")
"""The measures that a flow may lack, so that they say how many have it."""


class Spread(TypedDict):
    """A measure over several runs; ``None`` where no run has it, and no deviation of a single one."""

    mean: float | None
    std: float | None
    min: float | None
    max: float | None


class CompletionSpread(TypedDict):
    """Slowdowns of finite flows over several runs: an object of `completions` in a summary, with a spread a number.

    A run without flows of these sizes has the number 0 of them, and no slowdown.
    """

    group: str | None
    least_octets: int
    most_octets: int | None
    flows: Spread
    completed: Spread
    flows_left: Spread
    """Those that had not completed at the end."""
    slowdown_mean: Spread
    slowdown_p50: Spread
    slowdown_p95: Spread
    slowdown_p99: Spread
    slowdown_p999: Spread


Sizes = tuple[str | None, int, int | None]
"""Flows of a group, or all, from a least to a most number of octets; the last is ``None`` where there is no bound."""

Slowdown = Literal["slowdown_mean", "slowdown_p50", "slowdown_p95", "slowdown_p99", "slowdown_p999"]

SLOWDOWNS: tuple[tuple[Slowdown, str], ...] = (
    ("slowdown_mean", "mean slowdown"),
    ("slowdown_p50", "p50"),
    ("slowdown_p95", "p95"),
    ("slowdown_p99", "p99"),
    ("slowdown_p999", "p99.9"),
)
"""The slowdowns of `completions`, each with its title."""


@dataclass(frozen=True)
class Group:
    """The flows of one `[[flow]]` table."""

    name: str
    flows: list[str]


@dataclass(frozen=True)
class Measured:
    """One run in numbers."""

    values: dict[str, float | None]
    """A value for each of :data:`MEASURES`; ``None`` where the run has none."""
    flows_with: dict[str, int]
    """For each of :data:`ROWS_OF_FLOWS`, how many flows have it."""
    flows: int
    """How many flows there are."""
    groups: dict[str, float]
    """For each group of flows, the rate that one of its flows delivers on average, bit/s."""
    completions: list["CompletionSummary"]
    """Slowdowns of finite flows, all together, by size and by group; empty where the run tells none."""


def measure(result: "Result", queue: str | None) -> Measured:
    """Take the measures of a run, judged by the queue of that name."""
    summary = result.summary
    chosen = longest(summary, queue)
    values: dict[str, float | None] = {
        "loss_rate": summary["loss_rate"],
        "frames_lost": summary["totals"]["frames_dropped"] + summary["totals"]["frames_lost_on_link"],
        "rate_amplitude_bps": _rate_amplitude_bps(result),
        "feedback_frames": summary["totals"]["feedback_frames"],
        "feedback_rate": summary["feedback_rate"],
    }
    if summary["flows"]:
        values["throughput_bps"] = _together_bps(summary)
        values["jain_index"] = summary["jain_index"]
    if chosen:
        values |= {
            "queue_mean_octets": chosen["mean_octets"],
            "queue_std_octets": chosen["std_octets"],
            "queue_max_octets": chosen["max_octets"],
            "empty_fraction": chosen["empty_fraction"],
            "utilization": chosen["utilization"],
        }
        samples = measured_octets(result, chosen)
        if len(samples):
            p5, p50, p95, p99 = (float(x) for x in np.percentile(samples, (5, 50, 95, 99)))
            values |= {
                "queue_p50_octets": p50,
                "queue_p99_octets": p99,
                "queue_amplitude_octets": (p95 - p5) / 2,
            }
    if lines := summary.get("completions"):
        # The first is that of all flows.
        whole = lines[0]
        values |= {
            "slowdown_mean": whole["slowdown_mean"],
            "slowdown_p50": whole["slowdown_p50"],
            "slowdown_p95": whole["slowdown_p95"],
            "slowdown_p99": whole["slowdown_p99"],
            "slowdown_p999": whole["slowdown_p999"],
            "flows_left": whole["flows"] - whole["completed"],
        }
    if "retransmissions" in summary["totals"]:
        values["retransmissions"] = summary["totals"]["retransmissions"]
        values["timeouts"] = summary["totals"]["timeouts"]
    if "pause_frames" in summary["totals"]:
        values["pause_frames"] = summary["totals"]["pause_frames"]
        values["paused_s"] = summary["totals"].get("paused_s")
    known = {key: [time for flow in summary["flows"] if (time := flow[key]) is not None] for key in ROWS_OF_FLOWS}
    if known["settling_time_s"]:
        values["settling_time_s"] = median(known["settling_time_s"])
    if known["completion_time_s"]:
        values["completion_time_s"] = fmean(known["completion_time_s"])
    throughput_bps = {flow["name"]: flow["throughput_bps"] for flow in summary["flows"]}
    return Measured(
        values={m.key: values.get(m.key) for m in MEASURES},
        flows_with={key: len(times) for key, times in known.items()},
        flows=len(summary["flows"]),
        groups={group.name: fmean(throughput_bps[flow] for flow in group.flows) for group in groups(result)},
        completions=summary.get("completions", []),
    )


def _together_bps(summary: "Summary") -> float:
    """Return the rate of all flows together. That of a flow with a size covers only the time that it is there."""
    measured_s = summary["duration_s"] - summary["warmup_s"]
    parts = (
        flow["throughput_bps"] * (flow["active_s"] / measured_s if "active_s" in flow and measured_s > 0 else 1.0)
        for flow in summary["flows"]
    )
    return sum(parts)


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


def groups(result: "Result") -> list[Group]:
    """Return the flows of a result in groups: those of one ``[[flow]]`` table, under the table's name."""
    flows: dict[str, list[str]] = {}
    for flow in result.summary["flows"]:
        flows.setdefault(flow["group"], []).append(flow["name"])
    return [Group(name, names) for name, names in flows.items()]


def spread(values: Iterable[float | None]) -> Spread:
    """Return mean, sample standard deviation and extremes of the values that there are."""
    known = [value for value in values if value is not None]
    if not known:
        return {"mean": None, "std": None, "min": None, "max": None}
    return {
        "mean": fmean(known),
        "std": stdev(known) if len(known) > 1 else None,
        "min": min(known),
        "max": max(known),
    }


def spreads(runs: Sequence[Measured]) -> dict[str, Any]:
    """Sum runs up: every measure's spread, that of what each group of flows delivers, and those of slowdowns by size.

    The key `completions`, a list of :class:`CompletionSpread`, is there where a run has them.
    """
    entry: dict[str, Any] = {m.key: spread(run.values[m.key] for run in runs) for m in MEASURES}
    for key in ROWS_OF_FLOWS:
        entry[key] |= {
            "flows": sum(run.flows_with[key] for run in runs),
            "of_flows": sum(run.flows for run in runs),
        }
    names = dict.fromkeys(name for run in runs for name in run.groups)
    entry["groups"] = [
        {"name": name, "throughput_bps": spread(run.groups[name] for run in runs if name in run.groups)}
        for name in names
    ]
    if lines := _completions(runs):
        entry["completions"] = lines
    return entry


def by_size(entries: Iterable[Mapping[str, Any]]) -> dict[Sizes, dict[str, CompletionSpread]]:
    """Return the slowdowns of a comparison's lines by the flows that they are of: for each line, by its label.

    All flows come first, then those of one size, then each group alike. Lines without such flows are left out.
    """
    found: dict[Sizes, dict[str, CompletionSpread]] = {}
    for entry in entries:
        for line in entry.get("completions", []):
            found.setdefault(sizes_of(line), {})[entry["label"]] = line
    return {sizes: found[sizes] for sizes in _in_order(found)}


def _completions(runs: Sequence[Measured]) -> list[CompletionSpread]:
    """Sum slowdowns up over runs, in the order of :func:`by_size`."""
    found: dict[Sizes, list[CompletionSummary]] = {}
    for run in runs:
        for line in run.completions:
            found.setdefault(sizes_of(line), []).append(line)

    def over(sizes: Sizes) -> CompletionSpread:
        lines = found[sizes]
        none = [0] * (len(runs) - len(lines))
        group, least, most = sizes
        return {
            "group": group,
            "least_octets": least,
            "most_octets": most,
            "flows": spread([*(line["flows"] for line in lines), *none]),
            "completed": spread([*(line["completed"] for line in lines), *none]),
            "flows_left": spread([*(line["flows"] - line["completed"] for line in lines), *none]),
            "slowdown_mean": spread(line["slowdown_mean"] for line in lines),
            "slowdown_p50": spread(line["slowdown_p50"] for line in lines),
            "slowdown_p95": spread(line["slowdown_p95"] for line in lines),
            "slowdown_p99": spread(line["slowdown_p99"] for line in lines),
            "slowdown_p999": spread(line["slowdown_p999"] for line in lines),
        }

    return [over(sizes) for sizes in _in_order(found)]


def sizes_of(line: "CompletionSummary | CompletionSpread") -> Sizes:
    """Return the flows that slowdowns are of."""
    return line["group"], line["least_octets"], line["most_octets"]


def in_words(sizes: Sizes) -> str:
    """Name flows by their group and sizes, such as ``all, 10 KB to 100 KB``."""
    group, least, most = sizes
    name = group or "all"
    if most is not None:
        # Sizes begin one octet above the one before: the round number says as much.
        return f"{name}, to {octets(most)}" if least == 0 else f"{name}, {octets(least - 1)} to {octets(most)}"
    return f"{name}, above {octets(least - 1)}" if least else name


def _in_order(found: Iterable[Sizes]) -> list[Sizes]:
    """Sort flows: all of them, those of one size, then each group alike; groups as they come."""
    several = list(found)
    ranks = {group: rank for rank, group in enumerate(dict.fromkeys([None, *(group for group, _, _ in several)]))}
    return sorted(several, key=lambda sizes: (ranks[sizes[0]], sizes[1] > 0 or sizes[2] is not None, sizes[1]))


def _rate_amplitude_bps(result: "Result") -> float | None:
    time_s, rate_bps, fair_bps = (result.column("rates", name) for name in ("time_s", "rate_bps", "fair_rate_bps"))
    measured = (time_s >= result.summary["warmup_s"]) & (fair_bps > 0)
    rows_of_flow = rows_of(result.rates.column("flow").chunk(0))
    amplitudes = []
    for flow in result.summary["flows"]:
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
        return float("inf")
    active = np.flatnonzero(fair_bps > 0)
    return float(time_s[active[0]]) + flow["completion_time_s"] if len(active) else float("inf")
