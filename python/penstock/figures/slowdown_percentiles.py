"""Figure of slowdown by size, as papers print it: a panel a percentile, a line a scheme, with intervals over seeds."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.figures import tick_labels
from penstock.figures.completed_flows import CompletedFlows, FlowData, completed_flows, question
from penstock.figures.pages import finish, subtitle
from penstock.figures.panels import legend
from penstock.figures.style import FLOW_COLOURS, WIDTH, Drawn, is_narrow, sheet, styled
from penstock.metrics.seeds import half_interval
from penstock.quantity_text import octets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

PERCENTILES = (50, 95, 99)

ONE_PERCENTILE = {f"slowdown-p{percent}": percent for percent in PERCENTILES}
"""The figures of one panel."""

_MARKERS = "os^DvPX*"
"""By line, so that grey print tells them apart."""

_BINS = 8
"""Sizes at the most, each of as many flows."""

_LEAST_FLOWS = 20
"""Flows of a run for which its percentile in a bin counts."""


def percentiles(runs: Mapping[str, Sequence[FlowData]], percents: Sequence[int] = PERCENTILES) -> Drawn:
    """Draw percentiles of slowdowns against flow size, in a panel each on a common scale.

    All lines have the same bins of sizes, with as many flows in each. A point is the mean over a line's runs, and lies
    at the median size of its bin; with several runs a band has the 95 % interval of that mean (Student's t).
    """
    lines = {label: [completed_flows([run]) for run in line] for label, line in runs.items()}
    every = [flows for line in lines.values() for flows in line]
    edges = _edges(every)
    title = next((asked for line in runs.values() if (asked := question(line))), "Slowdowns of flows")
    with styled():
        figure = sheet(max(WIDTH, 11.0) if len(percents) > 1 else WIDTH, 4.2)
        if is_narrow(figure):
            figure.set_figheight(0.9 + 1.7 * len(percents))
            panels = figure.subplots(len(percents), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        else:
            panels = figure.subplots(1, len(percents), sharex=True, sharey=True, squeeze=False)[0]
        for axes, percent in zip(panels, percents, strict=True):
            for place, (label, line) in enumerate(lines.items()):
                style = FLOW_COLOURS[place % len(FLOW_COLOURS)], _MARKERS[place % len(_MARKERS)]
                _draw(axes, label, line, edges, percent, *style)
            axes.set_ylabel("slowdown, median" if percent == 50 else f"slowdown, {percent} %")
        _scale(panels[0])
        for axes in panels if not is_narrow(figure) else panels[-1:]:
            axes.set_xlabel("flow size")
        legend(panels[0 if is_narrow(figure) else -1])
        seeds = max(len(line) for line in lines.values())
        if seeds > 1:
            subtitle(panels[0], f"mean of {seeds} seeds and its 95 % interval")
        finish(figure, title)
    return figure


def _edges(every: Sequence[CompletedFlows]) -> "NDArray[Any]":
    """Return the ends of the bins of sizes: quantiles of all completed flows."""
    size = np.concatenate([flows.size_octets[~np.isnan(flows.slowdown)] for flows in every])
    least = min(int((~np.isnan(flows.slowdown)).sum()) for flows in every)
    bins = max(1, min(_BINS, least // _LEAST_FLOWS))
    return np.unique(np.quantile(size, np.linspace(0, 1, bins + 1)))


def _draw(
    axes: "Axes",
    label: str,
    line: Sequence[CompletedFlows],
    edges: "NDArray[Any]",
    percent: int,
    colour: str,
    marker: str,
) -> None:
    x, mean, half = [], [], []
    bins = max(1, len(edges) - 1)
    for place in range(bins):
        size: list[float] = []
        values: list[float] = []
        for flows in line:
            done = ~np.isnan(flows.slowdown)
            # The last bin has its upper end, too.
            inside = np.minimum(np.searchsorted(edges, flows.size_octets, side="right") - 1, bins - 1) == place
            chosen = flows.slowdown[done & inside]
            if len(chosen) >= min(_LEAST_FLOWS, int(done.sum())) and len(chosen):
                values.append(float(np.percentile(chosen, percent)))
                size += flows.size_octets[done & inside].tolist()
        if values:
            x.append(float(np.median(size)))
            mean.append(float(np.mean(values)))
            half.append(half_interval(float(np.std(values, ddof=1)), len(values)) if len(values) > 1 else 0.0)
    axes.plot(x, mean, color=colour, marker=marker, markersize=3, linewidth=1.6, label=label)
    if len(line) > 1:
        low, high = np.subtract(mean, half), np.add(mean, half)
        axes.fill_between(x, np.maximum(low, 1), high, color=colour, alpha=0.18, linewidth=0)


def _scale(axes: "Axes") -> None:
    """Give both axes their scales: sizes, and slowdowns from 1 on."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(bottom=1)
    tick_labels.logarithmic(axes.xaxis, lambda x: octets(round(x)), between=False)
    tick_labels.logarithmic(axes.yaxis, lambda x: f"{x:g}")
