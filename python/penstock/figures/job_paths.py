"""Figure of slowest paths: the computations and messages that determined the end of each job, from rank to rank."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

from penstock._core import PenstockError
from penstock.figures.pages import finish, subtitle
from penstock.figures.panels import legend, time_axis
from penstock.figures.style import WIDTH, Drawn, sheet, styled
from penstock.quantity_text import count, duration
from penstock.reports.job_paths import CAUSES, of_job

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from penstock.result import Result

FIGURE = "path"
"""Its name."""

# Paul Tol's "bright" palette; grey is the least time.
_COLOURS = {
    "computing": "#004488",
    "local": "#88CCEE",
    "ideal": "#BBBBBB",
    "queue": "#EE6677",
    "pause": "#AA3377",
    "limited": "#DDAA33",
    "lost": "#CC3311",
    "host": "#228833",
}

_PANELS = 6


def has_paths(result: "Result") -> bool:
    """Return whether a result has the slowest path of a job."""
    return any(of_job(job) for job in result.summary_in_brief.get("jobs", []))


def slowest_path(result: "Result") -> Drawn:
    """Draw a panel for each of the first jobs: its slowest path over time, from rank to rank.

    A message is a line from its sender to its receiver. Its colour is that of its longest wait, or grey where no
    tenth of its time was a wait.

    Raises:
        PenstockError: no job of the run has a slowest path.
    """
    shown = [job for job in result.summary_in_brief.get("jobs", []) if of_job(job)][:_PANELS]
    if not shown:
        raise PenstockError("there is no slowest path to draw: no [[collective]] and no [[job]] has ended")
    keys = ("rank", "to_rank", "work", "begin_s", "end_s", *(f"{cause}_s" for cause in _of_messages()))
    names = result.column("paths", "job")
    columns = {name: result.column("paths", name) for name in keys}
    with styled():
        figure = sheet(WIDTH, 1.1 + 3.0 * len(shown))
        panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        for place, (job, axes) in enumerate(zip(shown, panels, strict=True)):
            own = names == job["name"]
            _draw(axes, {name: column[own] for name, column in columns.items()})
            if place == 0:
                _explain(axes)
            parts = of_job(job)
            longest = max(parts, key=lambda cause: parts[cause])
            words = f"{duration(parts[longest])} {CAUSES[longest]}"
            subtitle(axes, f"{job['name']}: slowest path of {duration(sum(parts.values()))}   ·   {words}")
        time_axis(panels[-1], result.end_s)
        finish(figure, result.question)
    return figure


def causes(pieces: "dict[str, NDArray[Any]]") -> "NDArray[Any]":
    """Return for each piece of a path its longest wait, or ``ideal`` for a message whose waits are short.

    Args:
        pieces: the columns ``work``, ``begin_s``, ``end_s`` and those of the causes, of a job's rows in ``paths``.
    """
    work = pieces["work"].astype(str)
    kinds = np.array(_of_messages())
    spent = np.nan_to_num(np.stack([pieces[f"{cause}_s"].astype(float) for cause in kinds]))
    time_s = pieces["end_s"] - pieces["begin_s"]
    excess = spent.copy()
    excess[0] = 0
    chosen = np.where(excess.sum(axis=0) >= 0.1 * time_s, kinds[excess.argmax(axis=0)], "ideal")
    found: NDArray[Any] = np.where(work == "message", chosen, np.where(work == "local", "local", "computing"))
    return found


def _of_messages() -> list[str]:
    return [cause for cause in CAUSES if cause not in ("computing", "local")]


def _draw(axes: "Axes", pieces: "dict[str, NDArray[Any]]") -> None:
    begin_s, end_s, rank = pieces["begin_s"], pieces["end_s"], pieces["rank"].astype(float)
    to = pieces["to_rank"].astype(float)
    to = np.where(np.isnan(to), rank, to)
    lines = np.stack([np.stack([begin_s, rank], axis=1), np.stack([end_s, to], axis=1)], axis=1)
    colours = [_COLOURS[cause] for cause in causes(pieces)]
    axes.add_collection(LineCollection(list(lines), colors=colours, linewidths=2.0, zorder=3, capstyle="round"))
    last = max(rank.max(), to.max())
    axes.set_ylim(last + 0.5, -0.5)
    axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 4, 5, 10]))
    axes.set_ylabel(f"rank ({count(len(rank))} pieces)")


def _explain(axes: "Axes") -> None:
    for cause, colour in _COLOURS.items():
        axes.plot([], [], color=colour, linewidth=2.5, label=CAUSES[cause])
    legend(axes)
