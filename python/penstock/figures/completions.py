"""Figure of completions: slowdown against the size of flows, and the distribution of slowdowns."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import PercentFormatter

from penstock._core import PenstockError
from penstock.figures import tick_labels
from penstock.figures.completed_flows import CompletedFlows, FlowData, completed_flows, has_completions, question
from penstock.figures.distributions import SPREADS, Lines, distributions, left_words, steps
from penstock.figures.pages import finish, subtitle
from penstock.figures.panels import legend
from penstock.figures.slowdown_percentiles import ONE_PERCENTILE, PERCENTILES, percentiles
from penstock.figures.style import FLOW_COLOURS, WIDTH, Drawn, is_narrow, sheet, styled, width
from penstock.quantity_text import octets

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 20
"""Points of a curve against size at the most: each stands for as many flows as any other."""

_LEAST_FLOWS = 20
"""Flows for which a point stands at the least."""

_MOST_COLUMNS = 4
_PANEL_IN = 4.0
_LEAST_PANEL_IN = 2.8
_ABOVE: dict[str, Any] = {
    "xycoords": "axes fraction",
    "textcoords": "offset points",
    "fontsize": "medium",
    "fontweight": "bold",
}


_OF_SLOWDOWNS = ("slowdown", "percentiles", *ONE_PERCENTILE)
FIGURES = (*_OF_SLOWDOWNS, "completions", *SPREADS)
"""The figures of flows that complete."""


Panels = Mapping[str, tuple[str, str]]
"""For each line, by its label: the panel that it is drawn in, and its name there."""


def of_flows(runs: Mapping[str, Sequence[FlowData]], show: str, panels: Panels | None = None) -> Drawn:
    """Draw one of :data:`FIGURES`, a line a label; ``panels`` is that of :func:`slowdowns`.

    Raises:
        PenstockError: a run has no flow that completed.
    """
    if not all(line and all(map(has_completions, line)) for line in runs.values()):
        what = {
            **dict.fromkeys(_OF_SLOWDOWNS, "slowdowns"),
            "fct": "flow completion times",
            "goodput": "goodputs",
        }.get(show, show)
        raise PenstockError(
            f"there are no {what} to draw: no finite flow of a load or a transport completed in every run"
        )
    if show == "percentiles" or show in ONE_PERCENTILE:
        return percentiles(runs, [ONE_PERCENTILE[show]] if show in ONE_PERCENTILE else PERCENTILES)
    return slowdowns(runs, panels) if show == "slowdown" else distributions(runs, show)


def slowdowns(runs: Mapping[str, Sequence[FlowData]], panels: Panels | None = None) -> Drawn:
    """Draw slowdown against flow size (median and 99th percentile), and the distribution of slowdowns; a colour a line.

    Each point of a curve stands for the same number of flows and lies at their median size, so that sizes are spread as
    the flows are (Zhu et al. 2015, Li et al. 2019).

    With ``panels`` each panel shows slowdown against size for the lines that belong there, on common scales and in
    colours that stand for the same name in each; distributions are left out.
    """
    lines = {label: completed_flows(line) for label, line in runs.items()}
    title = next((asked for line in runs.values() if (asked := question(line))), "Slowdowns of flows")
    return _in_panels(lines, panels, title) if panels else _in_one(lines, title)


def _in_panels(lines: Lines, panels: Panels, title: str) -> Drawn:
    names = list(dict.fromkeys(panels[label][0] for label in lines))
    colours = dict(zip(dict.fromkeys(panels[label][1] for label in lines), _colours(len(lines)), strict=False))
    with styled():
        wide_in = max(WIDTH, _PANEL_IN * min(len(names), _MOST_COLUMNS))
        columns = max(1, min(len(names), _MOST_COLUMNS, int(width(wide_in) / _LEAST_PANEL_IN)))
        rows = math.ceil(len(names) / columns)
        figure = sheet(wide_in, 0.8 + 3.8 * rows)
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for place, (name, axes) in enumerate(zip(names, grid.flat, strict=False)):
            shown = {panels[label][1]: flows for label, flows in lines.items() if panels[label][0] == name}
            for line, flows in shown.items():
                _draw_by_size(axes, line, flows, colours[line])
            axes.tick_params(labelbottom=place + columns >= len(names))
            axes.set_xlabel("flow size" if place + columns >= len(names) else "")
            axes.set_ylabel("slowdown (thin: median, thick: 99th percentile)" if place % columns == 0 else "")
            above = subtitle(axes, left_words(shown), wide_in=0.85 * figure.get_figwidth() / columns)
            axes.annotate(name, (0, 1), xytext=(0, above), **_ABOVE)
        # The panels share their axes, and a limit that is set holds for all: only now have all curves been drawn.
        _by_size(grid[0, 0])
        for spare in grid.flat[len(names) :]:
            spare.remove()
        corner = grid[0, columns - 1]
        legend(corner, [axes for axes in grid.flat[: len(names)] if axes is not corner])
        finish(figure, title)
    return figure


def _in_one(lines: Lines, title: str) -> Drawn:
    with styled():
        figure = sheet(max(WIDTH, 11.0), 4.6)
        if is_narrow(figure):
            figure.set_figheight(7.5)
            by_size, shares = figure.subplots(2, 1)
        else:
            by_size, shares = figure.subplots(1, 2, gridspec_kw={"width_ratios": (3, 2)})
        for (label, flows), colour in zip(lines.items(), _colours(len(lines)), strict=True):
            _draw_by_size(by_size, label, flows, colour)
            done, shown = steps(flows.slowdown)
            shares.step(done, shown, where="post", color=colour, label=label)
        _by_size(by_size)
        by_size.set_xlabel("flow size")
        by_size.set_ylabel("slowdown (FCT over that on an empty network)")
        shares.set_xlabel("slowdown")
        shares.set_ylabel("share of completed flows")
        shares.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
        shares.set_ylim(0, 1.01)
        _logarithmic(shares, "x")
        subtitle(by_size, "median (thin) and 99th percentile (thick), each point of as many flows")
        subtitle(shares, left_words(lines), wide_in=0.32 * figure.get_figwidth())
        legend(by_size)
        finish(figure, title)
    return figure


def _by_size(axes: "Axes") -> None:
    """Give both axes their scales: sizes, and slowdowns."""
    axes.set_xscale("log")
    tick_labels.logarithmic(axes.xaxis, lambda x: octets(round(x)), between=False)
    _logarithmic(axes, "y")


def _draw_by_size(axes: "Axes", label: str, flows: CompletedFlows, colour: str) -> None:
    done = ~np.isnan(flows.slowdown)
    size, slowdown = flows.size_octets[done], flows.slowdown[done]
    order = np.argsort(size, kind="stable")
    points = max(1, min(_BINS, len(order) // _LEAST_FLOWS))
    bins = [part for part in np.array_split(order, points) if len(part)]
    x = [float(np.median(size[part])) for part in bins]
    for percent, thick, name in ((50, 1.0, None), (99, 2.2, label)):
        y = [float(np.percentile(slowdown[part], percent)) for part in bins]
        axes.plot(x, y, color=colour, linewidth=thick, marker="o", markersize=2.5 + thick, label=name)


def _logarithmic(axes: "Axes", axis: str) -> None:
    """Let slowdowns have a logarithmic scale from 1 on, with plain numbers."""
    getattr(axes, f"set_{axis}scale")("log")
    getattr(axes, f"set_{axis}lim")(left=1) if axis == "x" else axes.set_ylim(bottom=1)
    tick_labels.logarithmic(axes.xaxis if axis == "x" else axes.yaxis, lambda x: f"{x:g}")


def _colours(lines: int) -> list[str]:
    return [FLOW_COLOURS[i % len(FLOW_COLOURS)] for i in range(lines)]
