"""Figure of jobs: when each rank computes and communicates, and where its iterations end."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.ticker import MaxNLocator

from penstock._core import PenstockError
from penstock.figures.faults import draw_faults, faults
from penstock.figures.pages import finish, subtitle
from penstock.figures.panels import legend, time_axis
from penstock.figures.style import REFERENCE, WIDTH, Drawn, sheet, styled
from penstock.quantity_text import bit_rate, count, duration, octets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from penstock.result import Result
    from penstock.summary import JobSummary

FIGURE = "jobs"
"""Its name."""

# Paul Tol's "high contrast" palette: distinct for colour-blind readers and in grey print.
_KINDS = {
    "waits, or does not end": "#FFFFFF",
    "computes": "#004488",
    "communicates": "#DDAA33",
    "both at once": "#BB5566",
}
"""What a rank does, with its colour: the place is a sum of 1 if it computes and 2 if it communicates."""

_COMPUTES = ("compute",)
_COMMUNICATES = ("collective", "send", "receive")

_COLUMNS = 1600
_ROWS = 512
"""Rows of the picture at the most: each has as many ranks as any other, and the mean of their colours."""

_RANKS_APART = 64
"""Up to this many ranks, a line lies between them."""

_ITERATIONS = 40
"""Up to this many iterations, the end of each is drawn."""

_PANELS = 6


def has_jobs(result: "Result") -> bool:
    """Return whether a result has jobs."""
    return bool(result.summary_in_brief.get("jobs"))


def jobs(result: "Result") -> Drawn:
    """Draw a panel for each of the first jobs: a row a rank, over time.

    Raises:
        PenstockError: the run has no job.
    """
    of_run = result.summary_in_brief.get("jobs", [])
    if not of_run:
        raise PenstockError("there is no job to draw: the scenario has no [[collective]] and no [[job]]")
    shown = of_run[:_PANELS]
    names = result.column("jobs", "job")
    columns = {name: result.column("jobs", name) for name in ("rank", "iteration", "work", "begin_s", "end_s")}
    heights = [_height_in(job["ranks"]) for job in shown]
    with styled():
        figure = sheet(WIDTH, 1.1 + sum(heights))
        panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        for place, (job, axes) in enumerate(zip(shown, panels, strict=True)):
            own = names == job["name"]
            _draw(axes, job, {name: column[own] for name, column in columns.items()}, result.end_s)
            draw_faults(axes, faults(result), result.end_s, named=False)
            more = len(of_run) - len(shown) if place == 0 else 0
            if place == 0:
                _explain(axes)
            subtitle(axes, _words(job) + (f"   ·   and {count(more)} more jobs" if more else ""))
        time_axis(panels[-1], result.end_s)
        finish(figure, result.question)
    return figure


def picture(ranks: int, spans: dict[str, "NDArray[Any]"], end_s: float, columns: int = _COLUMNS) -> "NDArray[Any]":
    """Return what ranks do, a row a rank and a column a part of the time: a place in the kinds of work.

    Args:
        ranks: how many there are.
        spans: the columns ``rank``, ``work``, ``begin_s`` and ``end_s`` of a job's rows.
        end_s: when the last column ends, s.
        columns: how many there are.
    """
    found = np.zeros((ranks, columns), dtype=np.uint8)
    for bit, works in ((1, _COMPUTES), (2, _COMMUNICATES)):
        own = np.isin(spans["work"].astype(str), works)
        rank = spans["rank"][own].astype(int)
        first, last = (np.rint(spans[key][own] / end_s * columns).astype(int) for key in ("begin_s", "end_s"))
        # What begins adds one to all columns from there on, and what ends takes it away.
        active = np.zeros((ranks, columns + 1), dtype=np.int32)
        np.add.at(active, (rank, first), 1)
        np.add.at(active, (rank, last), -1)
        found += np.uint8(bit) * (active.cumsum(axis=1)[:, :-1] > 0)
    return found


def _draw(axes: "Axes", job: "JobSummary", spans: dict[str, "NDArray[Any]"], end_s: float) -> None:
    ranks = job["ranks"]
    colours = np.array([to_rgb(colour) for colour in _KINDS.values()])
    together = -(-ranks // _ROWS)
    kinds = picture(ranks, spans, end_s)
    rows = np.stack([colours[kinds[at : at + together]].mean(axis=0) for at in range(0, ranks, together)])
    top = ranks - 0.5
    axes.imshow(
        rows, aspect="auto", interpolation="nearest", extent=(0, end_s, len(rows) * together - 0.5, -0.5), zorder=1
    )
    if ranks <= _RANKS_APART:
        axes.hlines(np.arange(1, ranks) - 0.5, 0, end_s, color="white", linewidth=1.5, zorder=2)
    if job["iterations"] <= _ITERATIONS:
        _draw_ends(axes, spans)
    axes.grid(visible=False)
    axes.set_ylim(top, -0.5)
    axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 4, 5, 10]))
    axes.set_ylabel("rank")


def _draw_ends(axes: "Axes", spans: dict[str, "NDArray[Any]"]) -> None:
    """Draw where each iteration ends, rank after rank."""
    whole = spans["work"] == "iteration"
    rank, iteration, end_s = (spans[name][whole] for name in ("rank", "iteration", "end_s"))
    for number in np.unique(iteration):
        own = np.flatnonzero(iteration == number)
        own = own[np.argsort(rank[own])]
        edges = (rank[own].astype(float)[:, None] + (-0.5, 0.5)).ravel()
        axes.plot(np.repeat(end_s[own], 2), edges, color=REFERENCE, linewidth=1.2, zorder=3)


def _explain(axes: "Axes") -> None:
    """Explain the colours, beside or above the first panel."""
    square: dict[str, Any] = {"linestyle": "", "marker": "s", "markersize": 8, "markeredgecolor": "#888888"}
    for kind, colour in _KINDS.items():
        axes.plot([], [], color=colour, markeredgewidth=0.5, label=kind, **square)
    axes.plot([], [], color=REFERENCE, linewidth=1.2, label="an iteration ends")
    legend(axes)


def _height_in(ranks: int) -> float:
    return 1.0 + min(3.0, 0.15 * ranks)


def _words(job: "JobSummary") -> str:
    """Return the line above a panel."""
    parts = [f"{job['name']}: {job['kind']} of {octets(job['size_octets'])}" if "kind" in job else job["name"]]
    parts.append(f"{count(job['ranks'])} ranks")
    if job["job_time_s"] is None:
        parts.append(f"not ended ({count(job['iterations_ended'])} of {count(job['iterations'])} iterations)")
    else:
        parts.append(f"ended after {duration(job['job_time_s'])}")
    if job["bus_bandwidth_bps"] is not None:
        parts.append(f"bus bandwidth {bit_rate(job['bus_bandwidth_bps'])}")
    return "   ·   ".join(parts)
