"""Whole figures: panels with a title, ready to be written."""

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from penstock.figures.panels import (
    draw_queues,
    draw_rates,
    draw_utilization,
    legend,
    time_axis,
    top_bps,
    top_octets,
)
from penstock.figures.series import (
    equilibrium_octets,
    flow_series,
    notable_queues,
    question,
    queue_series,
)
from penstock.figures.style import save, styled
from penstock.text import count, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.result import Result
    from penstock.summary import QueueSummary

Panel = Callable[["Axes"], None]

_WIDTH = 9.6
"""Width of a page, inches."""

_LETTERS_PER_INCH = 9.5
"""How many letters of a title fit on an inch, a little less than on average."""

# The pad leaves room for the marks of drops above the panel.
_SUBTITLE: dict[str, Any] = {"fontsize": 9.5, "color": "#555555", "pad": 12}


def overview(result: "Result") -> Figure:
    """Draw queue length, link utilisation and rates below one another, over the same time."""
    return _page(result, _panels(result))


def comparison(results: Sequence["Result"]) -> Figure:
    """Draw schemes side by side: a queue panel above a rate panel for each, on common scales, with the same queues."""
    chosen = notable_queues(_longest_of_each(results))
    queues = [queue_series(result, chosen) for result in results]
    flows = [flow_series(result) for result in results]
    set_points = [equilibrium_octets(result) for result in results]
    highest_octets = max(top_octets(series, point) for series, point in zip(queues, set_points, strict=True))
    highest_bps = max(top_bps(series) for series in flows)
    with styled():
        figure = Figure(figsize=(max(_WIDTH, 2 + 4.6 * len(results)), 5.6), layout="constrained")
        panels = figure.subplots(2, len(results), sharex=True, sharey="row", squeeze=False)
        for column, result in enumerate(results):
            upper, lower = panels[:, column]
            draw_queues(upper, queues[column], set_points[column], highest_octets)
            draw_rates(lower, flows[column], highest_bps)
            time_axis(lower, _shown_s(result))
            upper.set_title(_subtitle(result), **_SUBTITLE)
            if column > 0:
                upper.set_ylabel("")
                lower.set_ylabel("")
        # One legend a row serves all: the same name has the same colour.
        for row in panels:
            legend(row[-1], row[:-1])
        _finish(figure, question(results[0]))
    return figure


def write_all(result: "Result", folder: Path) -> list[Path]:
    """Write every figure of a result into ``folder`` as PNG and SVG, and return the files.

    Raises:
        OSError: a file cannot be written.
    """
    queue, utilization, rates = panels = _panels(result)
    pages = {"overview": panels, "queue": (queue,), "utilization": (utilization,), "rates": (rates,)}
    written = []
    for name, shown in pages.items():
        figure = _page(result, shown)
        for kind in ("png", "svg"):
            path = folder / f"{name}.{kind}"
            save(figure, path)
            written.append(path)
    return written


def _panels(result: "Result") -> tuple[Panel, Panel, Panel]:
    queues = queue_series(result, notable_queues(result.summary["queues"]))
    flows = flow_series(result)
    set_point = equilibrium_octets(result)
    return (
        lambda axes: draw_queues(axes, queues, set_point, top_octets(queues, set_point)),
        lambda axes: draw_utilization(axes, queues),
        lambda axes: draw_rates(axes, flows, top_bps(flows)),
    )


def _page(result: "Result", panels: Sequence[Panel]) -> Figure:
    with styled():
        figure = Figure(figsize=(_WIDTH, 1.6 + 2 * len(panels)), layout="constrained")
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for draw, panel in zip(panels, axes, strict=True):
            draw(panel)
            legend(panel)
        time_axis(axes[-1], _shown_s(result))
        axes[0].set_title(_subtitle(result), **_SUBTITLE)
        figure.align_ylabels()
        _finish(figure, question(result))
    return figure


def _finish(figure: Figure, title: str) -> None:
    """Set the title and lay the page out, once for all formats that it is written in."""
    letters = int(_LETTERS_PER_INCH * figure.get_figwidth())
    figure.suptitle(textwrap.fill(title, letters), x=0.01, ha="left", fontsize=12, fontweight="bold")
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _longest_of_each(results: Sequence["Result"]) -> list["QueueSummary"]:
    """Return each queue as it was in the run that made it longest."""
    longest: dict[tuple[str, int], QueueSummary] = {}
    for result in results:
        for candidate in result.summary["queues"]:
            key = candidate["name"], candidate["priority"]
            if key not in longest or candidate["mean_octets"] > longest[key]["mean_octets"]:
                longest[key] = candidate
    return list(longest.values())


def _subtitle(result: "Result") -> str:
    summary = result.summary
    dropped = summary["totals"]["frames_dropped"]
    parts = [
        summary["scheme"],
        f"profile {summary['profile']}" if summary["profile"] else "",
        f"seed {summary['seed']}",
        f"{count(dropped)} frames dropped (loss {share(summary['loss_rate'])})" if dropped else "no frame dropped",
    ]
    if result.interrupted:
        parts.append("interrupted")
    return "   ·   ".join(part for part in parts if part)


def _shown_s(result: "Result") -> float:
    return result.interrupted_at_s or result.summary["duration_s"]
