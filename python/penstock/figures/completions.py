"""Figure of completions: slowdown against the size of flows, and the distribution of slowdowns."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FuncFormatter, NullFormatter, PercentFormatter

from penstock._core import PenstockError
from penstock.figures.distributions import SPREADS, distributions, left_words, steps
from penstock.figures.finite import Finite, Told, finite, has_completions, question
from penstock.figures.pages import finish, subtitle
from penstock.figures.panels import legend
from penstock.figures.style import FLOW_COLOURS, WIDTH, Drawn, is_narrow, sheet, styled
from penstock.text import octets

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 20
"""Points of a curve against size at the most: each stands for as many flows as any other."""

_LEAST_FLOWS = 20
"""Flows for which a point stands at the least."""


FIGURES = ("slowdown", "completions", *SPREADS)
"""The figures of flows that complete."""


def of_flows(runs: Mapping[str, Sequence[Told]], show: str) -> Drawn:
    """Draw one of :data:`FIGURES`, a line a label.

    Raises:
        PenstockError: a run has no flow that completed.
    """
    if not all(told and all(map(has_completions, told)) for told in runs.values()):
        what = {"slowdown": "slowdowns", "fct": "flow completion times", "goodput": "goodputs"}.get(show, show)
        raise PenstockError(
            f"there are no {what} to draw: no finite flow of a load or a transport completed in every run"
        )
    return slowdowns(runs) if show == "slowdown" else distributions(runs, show)


def slowdowns(runs: Mapping[str, Sequence[Told]]) -> Drawn:
    """Draw slowdown against flow size (median and 99th percentile), and the distribution of slowdowns; a colour a line.

    Each point of a curve stands for the same number of flows and lies at their median size, so that sizes are spread as
    the flows are (Zhu et al. 2015, Li et al. 2019).
    """
    lines = {label: finite(told) for label, told in runs.items()}
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
        by_size.set_xscale("log")
        by_size.xaxis.set_major_formatter(FuncFormatter(lambda x, _: octets(round(x))))
        by_size.xaxis.set_minor_formatter(NullFormatter())
        by_size.set_xlabel("flow size")
        by_size.set_ylabel("slowdown (FCT over that on an empty network)")
        shares.set_xlabel("slowdown")
        shares.set_ylabel("share of completed flows with at most this slowdown")
        shares.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
        shares.set_ylim(0, 1.01)
        for axes, axis in ((by_size, "y"), (shares, "x")):
            _logarithmic(axes, axis)
        subtitle(by_size, "median (thin) and 99th percentile (thick), each point of as many flows")
        subtitle(shares, left_words(lines), wide_in=0.32 * figure.get_figwidth())
        legend(by_size)
        finish(figure, next((asked for told in runs.values() if (asked := question(told))), "Slowdowns of flows"))
    return figure


def _draw_by_size(axes: "Axes", label: str, flows: Finite, colour: str) -> None:
    done = ~np.isnan(flows.slowdown)
    size, slowdown = flows.size_octets[done], flows.slowdown[done]
    order = np.argsort(size, kind="stable")
    points = max(1, min(_BINS, len(order) // _LEAST_FLOWS))
    bins = [part for part in np.array_split(order, points) if len(part)]
    x = [float(np.median(size[part])) for part in bins]
    for percent, width, name in ((50, 1.0, None), (99, 2.2, label)):
        y = [float(np.percentile(slowdown[part], percent)) for part in bins]
        axes.plot(x, y, color=colour, linewidth=width, marker="o", markersize=2.5 + width, label=name)


def _logarithmic(axes: "Axes", axis: str) -> None:
    """Let slowdowns have a logarithmic scale from 1 on, with plain numbers."""
    getattr(axes, f"set_{axis}scale")("log")
    getattr(axes, f"set_{axis}lim")(left=1) if axis == "x" else axes.set_ylim(bottom=1)
    scale = axes.xaxis if axis == "x" else axes.yaxis
    scale.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    scale.set_minor_formatter(FuncFormatter(lambda x, _: f"{x:g}" if f"{x:e}"[0] in "25" else ""))


def _colours(lines: int) -> list[str]:
    return [FLOW_COLOURS[i % len(FLOW_COLOURS)] for i in range(lines)]
