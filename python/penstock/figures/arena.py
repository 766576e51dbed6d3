"""Figures of an arena: ranks at a glance, judging numbers, slowdowns by size, a competitor beside the best."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from penstock.arenas.arena_file import Workload
from penstock.arenas.standings import Standing, Total
from penstock.figures.panels import octets_scale
from penstock.figures.style import DROP, FLOW_COLOURS, REFERENCE, Drawn, sheet, styled
from penstock.metrics.registry import TITLED, WRITERS
from penstock.quantity_text import octets

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW_IN = 0.235
"""Height of a row with a name, inches."""

_MOST_LINES = 6
_MARKERS = "osD^vP"
_QUEUE = "queue_p99_octets"


def ranks(totals: Sequence[Total], workloads: Sequence[Workload]) -> Drawn:
    """Draw the rank of each competitor on each workload as a table of colours, the best competitor on top."""
    with styled():
        figure = sheet(9.6, 1.5 + _ROW_IN * len(totals))
        axes = figure.subplots()
        table = [[total.ranks[workload.name] for workload in workloads] for total in totals]
        fields: dict[str, Any] = {"cmap": "YlGnBu_r", "vmin": 1, "vmax": len(totals), "edgecolors": "white"}
        axes.pcolormesh(range(len(workloads) + 1), range(len(totals) + 1), table, linewidth=0.6, **fields)
        axes.invert_yaxis()
        for y, row in enumerate(table):
            for x, rank in enumerate(row):
                dark = rank < 0.45 * len(totals)
                axes.text(
                    x + 0.5,
                    y + 0.5,
                    str(rank),
                    ha="center",
                    va="center",
                    color="white" if dark else REFERENCE,
                    fontsize="small",
                )
        axes.set_yticks([y + 0.5 for y in range(len(totals))], [total.competitor.name for total in totals])
        axes.set_xticks([x + 0.5 for x in range(len(workloads))], [w.title for w in workloads], rotation=40, ha="left")
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
    return figure


def judged(standings: Sequence[Standing]) -> Drawn:
    """Draw a workload: for each competitor the number that judges it, and the 99th percentile of the queue.

    A dot is the mean over seeds, a line reaches from the least to the most. Where flows have not completed, a triangle
    stands at the edge.
    """
    judge = standings[0].workload.judge
    with styled():
        figure = sheet(9.6, 1.1 + _ROW_IN * len(standings))
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        finite = [value for standing in standings for value in standing.values if math.isfinite(value)]
        kind = TITLED[judge.metric].kind
        logarithmic = (judge.of_flows or kind == "time") and bool(finite)
        if logarithmic:
            left.set_xscale("log")
        edge = max(finite, default=1.0) * (1.6 if logarithmic else 1.05)
        for y, standing in enumerate(standings):
            own = [value for value in standing.values if math.isfinite(value)]
            colour = FLOW_COLOURS[0] if standing.rank > 1 else FLOW_COLOURS[2]
            if own and len(own) == len(standing.values):
                left.plot([min(own), max(own)], [y, y], color=colour, linewidth=2)
                left.plot([standing.mean], [y], "o", color=colour, markersize=5)
            elif standing.values:
                left.plot([edge], [y], ">", color=DROP, markersize=6, clip_on=False)
        left.set_yticks(range(len(standings)), [standing.competitor.name for standing in standings])
        left.set_ylim(len(standings) - 0.4, -0.6)
        of = f" of {judge.group}" if judge.group else ""
        left.set_xlabel(f"{TITLED[judge.metric].title}{of}" + (", logarithmic" if logarithmic else ""))
        if logarithmic:
            _plain(left)
        if kind in ("time", "rate", "octets"):
            left.xaxis.set_major_formatter(FuncFormatter(lambda value, _: WRITERS[kind](value)))
        _queue(right, standings)
    return figure


def by_size(standings: Sequence[Standing]) -> Drawn | None:
    """Draw the 99th percentile of slowdowns against size: the best competitors, and that without control.

    Returns:
        ``None`` where the flows have one class of sizes.
    """
    shown = [standing for standing in standings if standing.sizes][: _MOST_LINES - 1]
    shown += [s for s in standings if s.competitor.name == "none" and s.sizes and s not in shown]
    edges = sorted({most for standing in shown for most, _ in standing.sizes})
    if len(edges) < 2:
        return None
    with styled():
        figure = sheet(9.6, 3.6)
        axes = figure.subplots()
        for number, standing in enumerate(shown):
            places = [edges.index(most) for most, _ in standing.sizes]
            is_none = standing.competitor.name == "none"
            axes.plot(
                places,
                [value for _, value in standing.sizes],
                marker=_MARKERS[number % len(_MARKERS)],
                markersize=5,
                color="#999999" if is_none else FLOW_COLOURS[number % len(FLOW_COLOURS)],
                linestyle="--" if is_none else "-",
                label=standing.competitor.name,
            )
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        names = [f"to {octets(most)}" if math.isfinite(most) else f"above {octets(edges[-2])}" for most in edges]
        axes.set_xticks(range(len(edges)), names)
        axes.set_xlabel("size of flows")
        axes.set_ylabel("slowdown, 99th percentile")
        axes.legend(ncols=2, loc="upper right")
    return figure


def beside_the_best(standings: Mapping[str, Standing]) -> Drawn:
    """Draw a competitor: how many times worse than the best it is on each workload, by the workload's name."""
    rows = list(standings.values())
    with styled():
        figure = sheet(9.6, 0.9 + _ROW_IN * len(rows))
        axes = figure.subplots()
        finite = [standing.ratio for standing in rows if math.isfinite(standing.ratio)]
        edge = max([*finite, 2.0]) * 1.5
        for y, standing in enumerate(rows):
            if math.isfinite(standing.ratio):
                colour = FLOW_COLOURS[2] if standing.rank == 1 else FLOW_COLOURS[0]
                axes.plot([1, max(standing.ratio, 1.004)], [y, y], color=colour, linewidth=5, solid_capstyle="butt")
                axes.plot([standing.ratio], [y], "o", color=colour, markersize=5)
            else:
                axes.plot([edge], [y], ">", color=DROP, markersize=6, clip_on=False)
        axes.set_xscale("log")
        axes.set_xlim(0.97, edge)
        _plain(axes)
        axes.set_yticks(range(len(rows)), [standing.workload.title for standing in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel("times the best, logarithmic")
    return figure


def _queue(axes: "Axes", standings: Sequence[Standing]) -> None:
    lengths = [standing.shown.get(_QUEUE, math.nan) for standing in standings]
    scale, unit = octets_scale(max((value for value in lengths if not math.isnan(value)), default=1.0))
    axes.barh(range(len(standings)), [value / scale for value in lengths], height=0.55, color="#88CCEE")
    axes.set_xlabel(f"queue, 99th percentile ({unit})")
    axes.xaxis.set_major_locator(MaxNLocator(5))


def _plain(axes: "Axes") -> None:
    """Write the powers and their parts on a logarithmic x axis as plain numbers."""
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 300 else (1.0,)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}".replace(",", "\u202f")))
    axes.xaxis.set_minor_formatter(NullFormatter())
