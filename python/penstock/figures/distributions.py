"""Figures of completions: how flow completion times, goodputs and retransmissions are spread among flows."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import PercentFormatter

from penstock.figures import tick_labels
from penstock.figures.completed_flows import CompletedFlows, FlowData, completed_flows, question
from penstock.figures.pages import finish, subtitle
from penstock.figures.panels import legend
from penstock.figures.style import FLOW_COLOURS, WIDTH, Drawn, is_narrow, line_styles, sheet, styled
from penstock.quantity_text import bit_rate, count, duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_POINTS = 1000
"""Steps of a curve at the most: more than a page has dots for."""

_LINEAR = 4.0
"""The quotient of an axis's ends below which the axis is linear."""

Lines = Mapping[str, CompletedFlows]
"""The flows of each line of a figure, under its label."""


def left_words(lines: Lines) -> str:
    """Say how many flows there are, and of which how many had not completed."""
    left = [f"{label} {count(of.left)} of {count(len(of.fct_s))}" for label, of in lines.items() if of.left]
    if left:
        return f"not completed: {', '.join(left)}"
    numbers = {len(of.fct_s) for of in lines.values()}
    each = " a line" if len(lines) > 1 else ""
    return f"all {count(numbers.pop())} flows completed{each}" if len(numbers) == 1 else "all flows completed"


def steps(values: "NDArray[Any]") -> "tuple[NDArray[Any], NDArray[Any]]":
    """Return where a distribution steps and the share of values that are at most so large, thinned to what one sees.

    The least value, the largest ones and an even choice of all others stay, with the shares that they have.
    """
    known = np.sort(values[~np.isnan(values)])
    if not len(known):
        return known, known
    chosen = np.linspace(0, len(known) - 1, min(len(known), _POINTS)).round().astype(int)
    # A flow in a thousand is what one asks for in a tail.
    chosen = np.unique(np.concatenate([chosen, np.arange(max(0, len(known) - 20), len(known))]))
    return known[chosen], (chosen + 1) / len(known)


def distributions(runs: Mapping[str, Sequence[FlowData]], show: str = "completions") -> Drawn:
    """Draw how flows are spread: by completion time, by goodput, by retransmissions; or one of :data:`SPREADS`.

    A line a label; the flows are those that started after the warm-up. The number of lines and of their points does
    not grow with the flows.
    """
    lines = {label: completed_flows(line) for label, line in runs.items()}
    drawing = [SPREADS[show]] if show in SPREADS else list(SPREADS.values())
    with styled():
        figure = sheet(WIDTH, 4.6) if len(drawing) == 1 else sheet(max(WIDTH, 13.0), 4.4)
        if len(drawing) > 1 and is_narrow(figure):
            figure.set_figheight(3.2 * len(drawing))
            panels = figure.subplots(len(drawing), 1, squeeze=False)[:, 0]
        else:
            panels = figure.subplots(1, len(drawing), squeeze=False)[0]
        for draw, panel in zip(drawing, panels, strict=True):
            draw(panel, lines)
        legend(panels[0] if is_narrow(figure) else panels[-1])
        wide_in = None if is_narrow(figure) else 0.8 * figure.get_figwidth()
        subtitle(panels[0], left_words(lines), wide_in=wide_in)
        finish(figure, next((asked for line in runs.values() if (asked := question(line))), "Completions of flows"))
    return figure


def _completion_times(axes: "Axes", lines: Lines) -> None:
    _draw(axes, {label: of.fct_s for label, of in lines.items()}, duration)
    axes.set_xlabel("flow completion time")


def _goodputs(axes: "Axes", lines: Lines) -> None:
    _draw(axes, {label: of.goodput_bps for label, of in lines.items()}, bit_rate)
    axes.set_xlabel("goodput of a flow (size over completion time)")


def _draw(axes: "Axes", values: "Mapping[str, NDArray[Any]]", text: Callable[[float], str]) -> None:
    """Draw the share of the completed flows that have at most so much."""
    for (label, of), (colour, dashes) in zip(values.items(), line_styles(), strict=False):
        x, shares = steps(of)
        axes.step(x, shares, where="post", color=colour, linestyle=dashes, label=label, linewidth=1.5)
    low, high = axes.dataLim.intervalx
    # Of less than a few powers of ten, the axis of whole ones would say too little.
    if high > _LINEAR * low:
        axes.set_xscale("log")
        tick_labels.logarithmic(axes.xaxis, text)
    else:
        tick_labels.linear(axes.xaxis, text)
    axes.set_ylabel("share of completed flows")
    axes.set_ylim(0, 1.01)
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))


def _retransmissions(axes: "Axes", lines: Lines) -> None:
    """Draw the share of flows whose transport sent at least a given number of segments again, completed or not."""
    least = 1.0
    silent = []
    for (label, of), (colour, dashes) in zip(lines.items(), line_styles(), strict=False):
        again = of.retransmissions[~np.isnan(of.retransmissions)]
        numbers, flows = np.unique(again[again > 0], return_counts=True)
        if not len(numbers):
            silent.append(f"{label}: {'nothing sent again' if len(again) else 'not known'}")
            # It stands in the legend.
            axes.plot([], [], color=colour, linestyle=dashes, label=label, linewidth=1.5)
            continue
        shares = np.cumsum(flows[::-1])[::-1] / len(again)
        least = min(least, float(shares[-1]))
        keep = np.unique(np.linspace(0, len(numbers) - 1, min(len(numbers), _POINTS)).round().astype(int))
        axes.plot(numbers[keep], shares[keep], color=colour, linestyle=dashes, label=label, linewidth=1.5)
    axes.set_xlabel("segments that a flow sent again, at least")
    axes.set_ylabel("share of flows")
    if len(silent) < len(lines):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(left=0.9)
        axes.set_ylim(0.7 * least, 1.3)
        tick_labels.logarithmic(axes.xaxis, lambda x: count(round(x)) if x >= 1 else "", between=False)
        tick_labels.logarithmic(axes.yaxis, lambda y: f"{100 * y:g}%", between=False)
    else:
        axes.set_xticks([])
        axes.set_yticks([])
    if silent:
        shown = silent if len(silent) <= len(FLOW_COLOURS) else [*silent[: len(FLOW_COLOURS)], "…"]
        axes.text(0.97, 0.97, "\n".join(shown), transform=axes.transAxes, ha="right", va="top", color="#555555")


SPREADS: dict[str, Callable[["Axes", Lines], None]] = {
    "fct": _completion_times,
    "goodput": _goodputs,
    "retransmissions": _retransmissions,
}
"""The figures of one panel."""
