"""Figure of pauses over time: how many queues priority flow control stops at a time, a line a scheme."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock._core import PenstockError
from penstock.columns import to_floats
from penstock.figures.completed_flows import question
from penstock.figures.faults import draw_faults, faults
from penstock.figures.pages import finish, shown_s, subtitle
from penstock.figures.panels import legend, time_axis
from penstock.figures.series import MOST_POINTS
from penstock.figures.style import WIDTH, Drawn, line_styles, sheet, styled
from penstock.quantity_text import duration
from penstock.result import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray


def pauses_over_time(runs: Mapping[str, Sequence[Result]]) -> Drawn:
    """Draw how many of the recorded queues are stopped at a time, as a mean over each step and over a line's runs.

    A saturation tree that grows is a line that rises: from the congested port's neighbours back to the hosts.

    Raises:
        PenstockError: no recorded queue was stopped.
    """
    end_s = max(shown_s(result) for line in runs.values() for result in line)
    lines = {label: [_stopped(result) for result in line] for label, line in runs.items()}
    every = [one for line in lines.values() for one in line]
    if not any(total_s.any() for _, total_s in every):
        raise PenstockError(
            "no recorded queue was stopped, so there are no pauses to draw; only priority flow control stops queues"
        )
    # A step is no shorter than the samples that it is a mean of.
    steps = max(1, min([MOST_POINTS, *(len(time_s) for time_s, total_s in every if total_s.any())]))
    edges_s = np.linspace(0, end_s, steps + 1)
    first = next(result for line in runs.values() for result in line)
    with styled():
        figure = sheet(WIDTH, 3.8)
        axes = figure.subplots()
        for (label, line), (colour, dashes) in zip(lines.items(), line_styles(), strict=False):
            # What has ended stops nothing.
            until_s = np.mean([np.interp(edges_s, *one) for one in line], axis=0)
            axes.stairs(
                np.diff(until_s) / np.diff(edges_s),
                edges_s,
                baseline=None,
                color=colour,
                linestyle=dashes,
                label=label,
                linewidth=1.3,
            )
        draw_faults(axes, faults(first), end_s)
        axes.set_ylabel("stopped queues")
        axes.set_ylim(bottom=0)
        time_axis(axes, end_s)
        legend(axes)
        seeds = max(len(line) for line in runs.values())
        means = f"means over {duration(end_s / steps)}" + (f" and {seeds} seeds" if seeds > 1 else "")
        subtitle(axes, f"queues that priority flow control stops at a time, {means}")
        finish(figure, question([first]))
    return figure


def _stopped(result: Result) -> "tuple[NDArray[Any], NDArray[Any]]":
    """Return the times of the samples, s, and for how long all queues together had been stopped by then, s."""
    # Without flow control there is no such column.
    if not result.summary_in_brief["totals"].get("paused_s"):
        return np.zeros(1), np.zeros(1)
    table = result.columns_of("queues", "time_s", "paused_s")
    time_s, paused_s = (to_floats(table.column(name).chunk(0)) for name in ("time_s", "paused_s"))
    moments_s, place = np.unique(time_s, return_inverse=True)
    return moments_s, np.cumsum(np.bincount(place, weights=paused_s))
