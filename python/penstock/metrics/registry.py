"""Every metric, as ``crates/results/src/registry.rs`` declares it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock import _core
from penstock.quantity_text import bit_rate, count, duration, octets, ratio, share

if TYPE_CHECKING:
    from penstock.declared import Better, MetricKind, MetricLevel, MetricName


@dataclass(frozen=True)
class Metric:
    """A number of a run, in the unit that its name ends in; frames, or a plain number, where it has none.

    Attributes:
        name: its name; a run and its flows may have a metric of the same name.
        level: what it is of.
        kind: how it is written.
        better: which of two values is the better one; ``None`` where neither is.
        title: its title, clear by itself.
        column: its title in the table of a comparison; ``None`` where that has no column for it.
        source: keys of the summary, a key of its flows with what is taken over them, or a function.
        description: a sentence on it.
        compared: whether comparisons have it.
        needs_histograms: whether a run has it by ``record.percentiles`` alone, or has a better value by that.
    """

    name: "MetricName"
    level: "MetricLevel"
    kind: "MetricKind"
    better: "Better | None"
    title: str
    column: str | None
    source: Mapping[str, Sequence[Any]] | str
    description: str
    compared: bool
    needs_histograms: bool

    @property
    def flow_key(self) -> str | None:
        """The key of flows that it sums up, which a flow may lack."""
        return None if isinstance(self.source, str) or "flows" not in self.source else self.source["flows"][1]


METRICS = tuple(Metric(**entry) for entry in json.loads(_core.metrics()))
"""Every metric: those of comparisons first, in the order of the table's columns."""

COMPARED = tuple(metric for metric in METRICS if metric.compared)
"""The metrics of comparisons."""

TITLED: dict[str, Metric] = {metric.name: metric for metric in reversed(METRICS) if metric.better is not None}
"""The metrics by which runs are judged, by name."""


WRITERS: "dict[MetricKind, Callable[[float], str]]" = {
    "count": lambda x: count(round(x)) if x == round(x) or x >= 100 else f"{x:.3g}",
    "octets": octets,
    "share": share,
    "rate": bit_rate,
    "index": lambda x: f"{x:.3f}",
    "ratio": ratio,
    "time": duration,
}
"""How values of each kind are written; a mean of counts is whole where it is, or large."""


def levels(name: str) -> "dict[MetricLevel, Metric]":
    """Return the metrics of a name, by what they are of; none if there is no such metric."""
    return {metric.level: metric for metric in METRICS if metric.name == name}
