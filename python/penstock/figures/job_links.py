"""Figure of links: when messages of each job were under way over each link, or over the links of a tier."""

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgb

from penstock._core import PenstockError
from penstock.figures.pages import finish, subtitle
from penstock.figures.panels import legend, time_axis
from penstock.figures.style import FLOW_COLOURS, WIDTH, Drawn, sheet, styled
from penstock.quantity_text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from penstock.result import Result

FIGURE = "links"
"""Its name."""

_COLUMNS = 1600
_ROWS = 512
"""Rows of the picture at the most: each has as many links as any other, and the mean of their colours."""

_NAMED = 40
"""Up to this many links, each has its name; of more, each tier has one."""

_SEVERAL = "#BB5566"
_IDLE = "#FFFFFF"


def job_links(result: "Result") -> Drawn:
    """Draw a row for each link that a job uses, over time, in the colour of the job; links of a tier are neighbours.

    Raises:
        PenstockError: the run has no job, or no message of one has arrived.
    """
    if not result.summary_in_brief.get("jobs"):
        raise PenstockError(
            "there is no job whose links could be drawn: the scenario has no [[collective]] and no [[job]]"
        )
    spans = {name: result.column("links", name) for name in ("job", "port", "begin_s", "end_s")}
    if not len(spans["port"]):
        raise PenstockError("no message of a job has arrived over a link")
    jobs = list(dict.fromkeys(spans["job"]))
    links = sorted(set(spans["port"]), key=_order)
    with styled():
        figure = sheet(WIDTH, 1.6 + min(5.5, max(1.0, 0.18 * len(links))))
        axes = figure.subplots()
        _draw(axes, busy(links, jobs, spans, result.end_s), result.end_s)
        _name(axes, links)
        _explain(axes, jobs)
        subtitle(axes, f"{count(len(links))} links with messages of {'a job' if len(jobs) == 1 else 'jobs'} under way")
        time_axis(axes, result.end_s)
        finish(figure, result.question)
    return figure


def tier(port: str) -> str:
    """Return the tier of a port, its name without numbers: ``leaf0->spine3`` is of ``leaf->spine``."""
    return re.sub(r"\d+", "", port)


def busy(
    links: list[str], jobs: list[str], spans: "dict[str, NDArray[Any]]", end_s: float, columns: int = _COLUMNS
) -> "NDArray[Any]":
    """Return who uses each link, a row a link and a column a part of the time: 0 nobody, 1 and more a job, -1 several.

    Args:
        links: the links, in the order of the rows.
        jobs: the jobs, in the order of their numbers.
        spans: the columns ``job``, ``port``, ``begin_s`` and ``end_s`` of the table ``links``.
        end_s: when the last column ends, s.
        columns: how many there are.
    """
    rows = {link: row for row, link in enumerate(links)}
    row = np.array([rows[port] for port in spans["port"]])
    first, last = (np.rint(spans[key] / end_s * columns).astype(int) for key in ("begin_s", "end_s"))
    found = np.zeros((len(links), columns), dtype=np.int32)
    for number, job in enumerate(jobs, start=1):
        own = spans["job"] == job
        active = np.zeros((len(links), columns + 1), dtype=np.int32)
        np.add.at(active, (row[own], first[own]), 1)
        np.add.at(active, (row[own], last[own]), -1)
        uses = active.cumsum(axis=1)[:, :-1] > 0
        found = np.where(uses, np.where(found == 0, number, -1), found)
    return found


def _order(port: str) -> tuple[str, list[int], str]:
    return tier(port), [int(number) for number in re.findall(r"\d+", port)], port


def _colour(number: int) -> str:
    return FLOW_COLOURS[(number - 1) % len(FLOW_COLOURS)]


def _draw(axes: "Axes", used: "NDArray[Any]", end_s: float) -> None:
    most = int(used.max())
    # The last one is that of -1.
    colours = np.array([to_rgb(_IDLE), *(to_rgb(_colour(job)) for job in range(1, most + 1)), to_rgb(_SEVERAL)])
    together = -(-len(used) // _ROWS)
    rows = np.stack([colours[used[at : at + together]].mean(axis=0) for at in range(0, len(used), together)])
    bottom = len(rows) * together - 0.5
    axes.imshow(rows, aspect="auto", interpolation="nearest", extent=(0, end_s, bottom, -0.5), zorder=1)
    axes.set_ylim(len(used) - 0.5, -0.5)
    axes.grid(visible=False)


def _name(axes: "Axes", links: list[str]) -> None:
    """Name each link, or where there are many each tier with a line between them."""
    tiers = [tier(link) for link in links]
    begins = [row for row in range(len(links)) if row == 0 or tiers[row] != tiers[row - 1]]
    axes.hlines(np.array(begins[1:]) - 0.5, *axes.get_xlim(), color="#888888", linewidth=0.8, zorder=2)
    if len(links) <= _NAMED:
        axes.set_yticks(range(len(links)), links)
        axes.tick_params(axis="y", labelsize="small")
        return
    ends = [*begins[1:], len(links)]
    middles = [(begin + end - 1) / 2 for begin, end in zip(begins, ends, strict=True)]
    texts = [f"{tiers[begin]} ({count(end - begin)})" for begin, end in zip(begins, ends, strict=True)]
    axes.set_yticks(middles, texts)


def _explain(axes: "Axes", jobs: list[str]) -> None:
    square: dict[str, Any] = {"linestyle": "", "marker": "s", "markersize": 8}
    most = len(FLOW_COLOURS)
    for number, job in enumerate(jobs[:most], start=1):
        label = job if len(jobs) <= most or number < most else f"{job}, and others by turns"
        axes.plot([], [], color=_colour(number), label=label, **square)
    if len(jobs) > 1:
        axes.plot([], [], color=_SEVERAL, label="several jobs", **square)
    legend(axes)
