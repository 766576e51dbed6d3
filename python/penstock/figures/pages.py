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
    flow_series,
    queue_series,
    set_points_octets,
)
from penstock.figures.style import save, styled
from penstock.summary import notable_queues, schemes_in_words
from penstock.text import count, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.result import Result

Panel = Callable[["Axes"], None]

WIDTH = 9.6
"""Width of a page, inches."""

_LETTERS_PER_INCH = 9.5
"""How many letters of a title fit on an inch, a little less than on average."""

# The pad leaves room for the marks of drops above the panel.
SUBTITLE: dict[str, Any] = {"fontsize": 9.5, "color": "#555555", "pad": 12}


def overview(result: "Result") -> Figure:
    """Draw queue length, link utilisation and rates below one another, over the same time."""
    return _page(result, _panels(result))


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
    set_points = set_points_octets(result)
    return (
        lambda axes: draw_queues(axes, queues, set_points, top_octets(queues, set_points)),
        lambda axes: draw_utilization(axes, queues),
        lambda axes: draw_rates(axes, flows, top_bps(flows)),
    )


def _page(result: "Result", panels: Sequence[Panel]) -> Figure:
    with styled():
        figure = Figure(figsize=(WIDTH, 1.6 + 2 * len(panels)), layout="constrained")
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for draw, panel in zip(panels, axes, strict=True):
            draw(panel)
            legend(panel)
        time_axis(axes[-1], shown_s(result))
        axes[0].set_title(_subtitle(result), **SUBTITLE)
        figure.align_ylabels()
        finish(figure, result.question)
    return figure


def finish(figure: Figure, title: str) -> None:
    """Set the title and lay the page out, once for all formats that it is written in."""
    letters = int(_LETTERS_PER_INCH * figure.get_figwidth())
    figure.suptitle(textwrap.fill(title, letters), x=0.01, ha="left", fontsize=12, fontweight="bold")
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _subtitle(result: "Result") -> str:
    summary = result.summary
    dropped = summary["totals"]["frames_dropped"]
    parts = [
        schemes_in_words(summary),
        f"seed {summary['seed']}",
        f"{count(dropped)} frames dropped (loss {share(summary['loss_rate'])})" if dropped else "no frame dropped",
    ]
    if result.interrupted:
        parts.append("interrupted")
    return "   ·   ".join(part for part in parts if part)


def shown_s(result: "Result") -> float:
    """Return how much simulated time there is to show, s."""
    return result.interrupted_at_s or result.summary["duration_s"]
