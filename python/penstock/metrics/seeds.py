"""The metrics of comparisons: taken from one run each, then summed up over seeds.

The registry declares each once; `compare.json` has their names, the table their titles, and the reference page their
descriptions.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import cos, pi, sin, sqrt, tan
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from penstock.metrics.registry import COMPARED
from penstock.metrics.values import JudgedRun, longest, with_flow_key
from penstock.quantity_text import octets

if TYPE_CHECKING:
    from penstock.result import Result
    from penstock.summary import CompletionSummary


LEVEL = 0.95
"""Of the intervals of means."""


class Statistics(TypedDict):
    """A metric over several runs; ``None`` where no run has it, and no deviation of a single one."""

    mean: float | None
    std: float | None
    interval: list[float] | None
    """The interval in which the mean of endless seeds lies with 95 % confidence, by Student's distribution."""
    min: float | None
    max: float | None


class CompletionStatistics(TypedDict):
    """Slowdowns of finite flows over several runs: an object of `completions` in a summary, with a spread a number.

    A run without flows of these sizes has the number 0 of them, and no slowdown.
    """

    group: str | None
    least_octets: int
    most_octets: int | None
    flows: Statistics
    completed: Statistics
    flows_left: Statistics
    """Those that had not completed at the end."""
    slowdown_mean: Statistics
    slowdown_p50: Statistics
    slowdown_p95: Statistics
    slowdown_p99: Statistics
    slowdown_p999: Statistics


Sizes = tuple[str | None, int, int | None]
"""Flows of a group, or all, from a number of octets to another; the last is ``None`` where there is no bound."""

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
    """A value for each of :data:`COMPARED`; ``None`` where the run has none."""
    flows_with: dict[str, int]
    """For each of them that sums flows up, how many flows have it."""
    flows: int
    """How many flows there are."""
    groups: dict[str, float]
    """For each group of flows, the rate that one of its flows delivers on average, bit/s."""
    completions: list["CompletionSummary"]
    """Slowdowns of finite flows, all together, by size and by group; empty where the run has none."""


def measure(result: "Result", queue: str | None) -> Measured:
    """Take the metrics of a run, judged by the queue of that name."""
    summary = result.summary
    run = JudgedRun(result, longest(summary, queue))
    throughput_bps = {flow["name"]: flow["throughput_bps"] for flow in summary["flows"]}
    return Measured(
        values=dict(zip((metric.name for metric in COMPARED), run.values(COMPARED), strict=True)),
        flows_with={m.name: len(with_flow_key(summary, m)) for m in COMPARED if m.flow_key is not None},
        flows=len(summary["flows"]),
        groups={group.name: fmean(throughput_bps[flow] for flow in group.flows) for group in groups(result)},
        completions=summary.get("completions", []),
    )


def groups(result: "Result") -> list[Group]:
    """Return the flows of a result in groups: those of one ``[[flow]]`` table, under the table's name."""
    flows: dict[str, list[str]] = {}
    for flow in result.summary["flows"]:
        flows.setdefault(flow["group"], []).append(flow["name"])
    return [Group(name, names) for name, names in flows.items()]


def spread(values: Iterable[float | None]) -> Statistics:
    """Return mean, sample standard deviation, 95 % interval and extremes of the values that there are."""
    known = [value for value in values if value is not None]
    if not known:
        return {"mean": None, "std": None, "interval": None, "min": None, "max": None}
    mean, deviation = fmean(known), stdev(known) if len(known) > 1 else None
    half = None if deviation is None else half_interval(deviation, len(known))
    return {
        "mean": mean,
        "std": deviation,
        "interval": None if half is None else [mean - half, mean + half],
        "min": min(known),
        "max": max(known),
    }


def half_interval(std: float, count: int) -> float:
    """Return by how much the 95 % interval of the mean of ``count`` values reaches beyond it, to each side."""
    return student(count - 1) * std / sqrt(count)


@cache
def student(freedom: int, level: float = LEVEL) -> float:
    """Return the number that Student's t is within with this probability.

    For whole degrees of freedom the probability is a finite sum. (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4)
    """
    odd, low, high = freedom % 2, 0.0, pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        total, term = 0.0, cos(angle) if odd else 1.0
        for power in range(odd, freedom - 1, 2):
            total += term
            term *= (power + 1) / (power + 2) * cos(angle) ** 2
        within = (angle + sin(angle) * total) * 2 / pi if odd else sin(angle) * total
        low, high = (angle, high) if within < level else (low, angle)
    return sqrt(freedom) * tan(low)


def written(value: Statistics, text: Callable[[float], str]) -> str:
    """Write a spread: the mean, ± the standard deviation, and in brackets ± the half of the 95 % interval."""
    mean, deviation, interval = value["mean"], value["std"], value["interval"]
    if mean is None:
        return "-"
    if deviation is None or interval is None:
        return text(mean)
    return f"{text(mean)} ± {text(deviation)} (± {text((interval[1] - interval[0]) / 2)})"


def spreads(runs: Sequence[Measured]) -> dict[str, Any]:
    """Sum runs up: every metric's spread, that of what each group of flows delivers, and those of slowdowns by size.

    The key `completions`, a list of :class:`CompletionStatistics`, is there where a run has them.
    """
    entry: dict[str, Any] = {m.name: spread(run.values[m.name] for run in runs) for m in COMPARED}
    for key in (m.name for m in COMPARED if m.flow_key is not None):
        entry[key] |= {
            "flows": sum(run.flows_with[key] for run in runs),
            "of_flows": sum(run.flows for run in runs),
        }
    names = dict.fromkeys(name for run in runs for name in run.groups)
    entry["groups"] = [
        {"name": name, "throughput_bps": spread(run.groups[name] for run in runs if name in run.groups)}
        for name in names
    ]
    if row := _completions(runs):
        entry["completions"] = row
    return entry


def by_size(entries: Iterable[Mapping[str, Any]]) -> dict[Sizes, dict[str, CompletionStatistics]]:
    """Return the slowdowns of a comparison's lines by the flows that they are of: for each line, by its label.

    All flows come first, then those of one size, then each group alike. Lines without such flows are left out.
    """
    found: dict[Sizes, dict[str, CompletionStatistics]] = {}
    for entry in entries:
        for row in entry.get("completions", []):
            found.setdefault(sizes_of(row), {})[entry["label"]] = row
    return {sizes: found[sizes] for sizes in _in_order(found)}


def _completions(runs: Sequence[Measured]) -> list[CompletionStatistics]:
    """Sum slowdowns up over runs, in the order of :func:`by_size`."""
    found: dict[Sizes, list[CompletionSummary]] = {}
    for run in runs:
        for row in run.completions:
            found.setdefault(sizes_of(row), []).append(row)

    def over(sizes: Sizes) -> CompletionStatistics:
        own = found[sizes]
        none = [0] * (len(runs) - len(own))
        group, least, most = sizes
        return {
            "group": group,
            "least_octets": least,
            "most_octets": most,
            "flows": spread([*(line["flows"] for line in own), *none]),
            "completed": spread([*(line["completed"] for line in own), *none]),
            "flows_left": spread([*(line["flows"] - line["completed"] for line in own), *none]),
            "slowdown_mean": spread(line["slowdown_mean"] for line in own),
            "slowdown_p50": spread(line["slowdown_p50"] for line in own),
            "slowdown_p95": spread(line["slowdown_p95"] for line in own),
            "slowdown_p99": spread(line["slowdown_p99"] for line in own),
            "slowdown_p999": spread(line["slowdown_p999"] for line in own),
        }

    return [over(sizes) for sizes in _in_order(found)]


def sizes_of(row: "CompletionSummary | CompletionStatistics") -> Sizes:
    """Return the flows that slowdowns are of."""
    return row["group"], row["least_octets"], row["most_octets"]


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
