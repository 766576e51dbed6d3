"""Figures of a comparison: panels of every scheme on common scales, the distribution of the queue, pauses."""

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import PercentFormatter

from penstock.figures.completed_flows import has_completions
from penstock.figures.completions import Panels, slowdowns
from penstock.figures.distributions import distributions
from penstock.figures.faults import draw_faults, faults
from penstock.figures.flow_bands import FLOWS_APART
from penstock.figures.pages import finish, points, shown_s, subtitle
from penstock.figures.panels import (
    colours,
    draw_queues,
    draw_rates,
    legend,
    octets_scale,
    rate_scale,
    time_axis,
    top_bps,
    top_octets,
)
from penstock.figures.series import flow_series, queue_series, set_points
from penstock.figures.style import FLOW_COLOURS, QUEUE_COLOURS, WIDTH, Drawn, line_styles, save, sheet, styled, width
from penstock.highlights import notable_queues
from penstock.metrics.seeds import groups
from penstock.metrics.values import longest, measured_octets
from penstock.quantity_text import count, duration, share
from penstock.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.summary import QueueSummary, Summary

_MOST_COLUMNS = 4
"""The most schemes beside one another; more go into several rows."""

_PANEL_IN = 4.3
"""Width of a panel in a row of several, inches, and the least where a page says how wide all is."""

_LEAST_PANEL_IN = 2.8

_PORTS_SHOWN = 24
"""The most ports in a picture of pauses: those that were stopped longest."""

_PORTS_SHOWN_NARROW = 12

_GROUPS_SHOWN = 12

_UPRIGHT = 5
"""The most lines of a picture of pauses whose names stand upright."""

_NAME: dict[str, Any] = {"fontsize": "medium", "fontweight": "bold"}

Runs = Mapping[str, Sequence[Result]]
"""The runs of each line of a comparison, a run a seed, under the line's label."""


def write_comparison(runs: Runs, queue: str | None, folder: Path, panels: Panels | None = None) -> list[Path]:
    """Write every figure of a comparison into ``folder`` as PNG and SVG, and return the files.

    Panels show the first seed of each; distributions and pauses cover all seeds. ``panels`` is that of
    :func:`penstock.figures.slowdowns`.

    Raises:
        OSError: a file cannot be written.
    """
    firsts = {label: results[0] for label, results in runs.items()}
    figures = {"compare": comparison(list(firsts.values()), labels=list(firsts), queue=queue)}
    if queue is not None:
        figures["cdf"] = cumulative(runs, queue)
    if any(stopped_shares(results) for results in runs.values()):
        figures["pauses"] = pauses(runs)
    if all(has_completions(result) for results in runs.values() for result in results):
        figures["slowdown"] = slowdowns(runs, panels)
        figures["completions"] = distributions(runs)
    written = []
    for name, figure in figures.items():
        for kind in ("png", "svg"):
            path = folder / f"{name}.{kind}"
            save(figure, path)
            written.append(path)
    return written


def comparison(results: Sequence[Result], *, labels: Sequence[str] | None = None, queue: str | None = None) -> Drawn:
    """Draw schemes side by side: a queue panel above a rate panel for each, on common scales, with the same queues.

    Where all flows come from loads, there are no rates of single flows and no panels of them.

    ``queue`` is the one to draw; without it, those that fill, drop or signal most.
    """
    names = labels or [result.summary["scheme"] for result in results]
    every = _longest_of_each(results)
    chosen = notable_queues([q for q in every if queue in (None, q["name"])])
    queues = [queue_series(result, _of(result, chosen)) for result in results]
    flows = [flow_series(result) for result in results]
    points = [set_points(result) for result in results]
    highest_octets = max(top_octets(series, held) for series, held in zip(queues, points, strict=True))
    highest_bps = max(top_bps(series) for series in flows)
    # The same name has the same colour everywhere, so that one legend serves all.
    queue_colours = colours((series.name for shown in queues for series in shown), QUEUE_COLOURS)
    # Many flows share one colour.
    few = (shown for shown in flows if len(shown) <= FLOWS_APART)
    flow_colours = colours((series.name for shown in few for series in shown), FLOW_COLOURS)
    columns = min(len(results), _MOST_COLUMNS) if len(results) <= _MOST_COLUMNS else math.ceil(math.sqrt(len(results)))
    with styled():
        wide_in = max(WIDTH, 2 + _PANEL_IN * columns)
        columns = min(columns, max(1, int(width(wide_in) / _LEAST_PANEL_IN)))
        rows = math.ceil(len(results) / columns)
        each = 2 if any(flows) else 1
        figure = sheet(wide_in, 0.6 + (4.9 if each == 2 else 2.8) * rows)
        panels = figure.subplots(each * rows, columns, sharex=True, squeeze=False)
        named: list[tuple[Axes, str, str]] = []
        for place, (result, name) in enumerate(zip(results, names, strict=True)):
            row, column = divmod(place, columns)
            own = panels[each * row : each * row + each, column]
            upper, lower = own[0], own[-1]
            if place:
                for axes, first in zip(own, panels[:each, 0], strict=True):
                    axes.sharey(first)
            draw_queues(upper, queues[place], points[place], highest_octets, queue_colours)
            if each == 2:
                draw_rates(lower, flows[place], highest_bps, flow_colours)
            found = faults(result)
            for axes in own:
                draw_faults(axes, found, shown_s(result), named=axes is upper)
            named.append((upper, name, _details(result)))
            if column > 0:
                for axes in own:
                    axes.set_ylabel("")
                    axes.tick_params(labelleft=False)
            # The last panel of a column has the axis of time.
            last = place + columns >= len(results)
            lower.tick_params(labelbottom=last)
            if last:
                time_axis(lower, max(shown_s(r) for r in results))
        for place in range(len(results), rows * columns):
            row, column = divmod(place, columns)
            for axes in panels[each * row : each * row + each, column]:
                axes.remove()
        drawn = [panels[each * (i // columns) : each * (i // columns) + each, i % columns] for i in range(len(results))]
        for kind in range(each):
            corner = panels[kind, columns - 1]
            legend(corner, [pair[kind] for pair in drawn if pair[kind] is not corner])
        for upper, name, details in named:
            above = subtitle(upper, details, wide_in=0.85 * figure.get_figwidth() / columns)
            upper.annotate(
                name, (0, 1), xytext=(0, above), xycoords="axes fraction", textcoords="offset points", **_NAME
            )
        finish(figure, _title(results))
    return figure


def cumulative(runs: Runs, queue: str) -> Drawn:
    """Draw the distribution of a queue's length: for each line, in what share of the samples it is at most so long."""
    with styled():
        figure = sheet(WIDTH, 5.2)
        axes = figure.subplots()
        samples = {label: _samples(results, queue) for label, results in runs.items()}
        samples = {label: octets for label, octets in samples.items() if len(octets)}
        scale, unit = octets_scale(max((float(octets[-1]) for octets in samples.values()), default=0.0))
        for (label, octets), (colour, dashes) in zip(samples.items(), line_styles(), strict=False):
            # A step at each length that occurs.
            lengths, counts = np.unique(octets, return_counts=True)
            shares = np.cumsum(counts) / len(octets)
            axes.step(
                np.concatenate(([lengths[0]], lengths)) / scale,
                np.concatenate(([0.0], shares)),
                where="post",
                color=colour,
                linestyle=dashes,
                label=label,
                linewidth=1.5,
            )
        axes.set_xlabel(f"queue length ({unit})")
        axes.set_ylabel("share of samples")
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1.01)
        axes.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0))
        seeds = max(len(results) for results in runs.values())
        legend(axes)
        subtitle(axes, f"queue {queue}, after the warm-up" + (f", {seeds} seeds together" if seeds > 1 else ""))
        finish(figure, _title([results[0] for results in runs.values()]))
    return figure


def pauses(runs: Runs) -> Drawn:
    """Draw which ports priority flow control stopped, how long, and the rate that each group of flows delivers.

    The stopped ports are the saturation tree: from the congested port back to the hosts.
    """
    stopped = {label: stopped_shares(results) for label, results in runs.items()}
    ports = sorted({port for shares in stopped.values() for port in shares})
    # Ports that differ by less than one sees go by name: s9 before s10.
    ports.sort(
        key=lambda port: (-max(round(shares.get(port, 0.0), 2) for shares in stopped.values()), _by_number(port))
    )
    delivered, hidden_groups = _groups_shown({label: _delivered_bps(results) for label, results in runs.items()})
    with styled():
        wide_in = max(WIDTH, 7 + 1.0 * len(runs))
        # Beside one another, where there is room for the names of both.
        above = width(wide_in) < _LEAST_PANEL_IN * 2.5
        shown = ports[: _PORTS_SHOWN_NARROW if above else _PORTS_SHOWN]
        line_in = 0.26 * points("font.size") / 9.5
        ports_in = 1.9 + line_in * len(shown)
        groups_in = 1.9 + (0.65 * len(runs) + 0.35) * line_in * len(next(iter(delivered.values()), {}))
        height_in = ports_in + groups_in if above else max(5.0, ports_in, groups_in)
        figure = sheet(wide_in, height_in)
        if not any(delivered.values()):
            # All flows come from loads, which have no groups.
            left, right = figure.subplots(), None
        elif above:
            figure.set_figheight(height_in)
            ratios = {"height_ratios": (ports_in, groups_in)}
            left, right = figure.subplots(2, 1, gridspec_kw=ratios)
        else:
            left, right = figure.subplots(1, 2)
        many = len(runs) > _UPRIGHT
        table = np.array([[stopped[label].get(port, 0.0) for label in runs] for port in shown])
        # A port that was never stopped stays white.
        left.imshow(
            np.ma.masked_equal(table, 0), cmap="YlOrRd", vmin=0, vmax=max(0.01, float(table.max())), aspect="auto"
        )
        left.grid(visible=False)
        for (y, x), value in np.ndenumerate(table):
            colour = "white" if value > 0.6 * table.max() else "black"
            text = share(value) if value else "–"
            left.text(x, y, text, ha="center", va="center", fontsize="xx-small" if many else "small", color=colour)
        left.set_yticks(range(len(shown)), shown)
        labels = list(runs) if many else [_stacked(label) for label in runs]
        left.set_xticks(range(len(runs)), labels, rotation=90 if many else 0)
        hidden = f" (the {len(shown)} of {len(ports)} that were stopped longest)" if len(ports) > len(shown) else ""
        panel_in = figure.get_figwidth() * (0.42 if right is not None and not above else 0.65)
        subtitle(left, f"share of the run for which a port was stopped{hidden}", wide_in=panel_in)
        if right is not None:
            _draw_groups(right, delivered)
            text = f"throughput of each group of flows, the mean of its flows{hidden_groups}"
            subtitle(right, text, wide_in=panel_in)
        finish(figure, _title([results[0] for results in runs.values()]))
    return figure


def _stacked(label: str) -> str:
    """Break a label into short lines, first behind its sign of equality."""
    return "\n".join(textwrap.fill(part, 14) for part in label.replace("=", "=\n").split("\n"))


def _by_number(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts names with numbers in them by these."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


Delivered = dict[str, dict[str, float]]
"""For each line of a comparison what a flow of each group delivers, bit/s."""


def _groups_shown(delivered: Delivered) -> tuple[Delivered, str]:
    """Choose the groups to show, and say which they are: of many, those in which the lines differ most."""
    names = list(dict.fromkeys(name for rates in delivered.values() for name in rates))
    if len(names) <= _GROUPS_SHOWN:
        return delivered, ""

    def apart(name: str) -> float:
        rates = [of_line.get(name, 0.0) for of_line in delivered.values()]
        return max(rates) - min(rates)

    chosen = sorted(names, key=apart, reverse=True)[:_GROUPS_SHOWN]
    # In the order of the scenario.
    kept = {label: {n: rates.get(n, 0.0) for n in names if n in chosen} for label, rates in delivered.items()}
    return kept, f" (the {_GROUPS_SHOWN} of {count(len(names))} that differ most)"


def _draw_groups(axes: "Axes", delivered: Delivered) -> None:
    """Draw what a flow of each group delivers, as lying bars, whose names have room; a colour a line."""
    names = list(dict.fromkeys(name for rates in delivered.values() for name in rates))
    highest = max((rate for rates in delivered.values() for rate in rates.values()), default=0.0)
    scale, unit = rate_scale(highest)
    thick = 0.8 / len(delivered)
    for i, ((label, rates), (colour, _)) in enumerate(zip(delivered.items(), line_styles(), strict=False)):
        places = np.arange(len(names)) - 0.4 + (i + 0.5) * thick
        lengths = [rates.get(name, 0.0) / scale for name in names]
        bars = axes.barh(places, lengths, height=0.9 * thick, color=colour, label=label)
        axes.bar_label(bars, [f"{length:.3g}" for length in lengths], fontsize="x-small", padding=2)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.margins(x=0.12)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(f"delivered by a flow ({unit})")
    legend(axes)


def stopped_shares(results: Sequence[Result]) -> dict[str, float]:
    """Return for each port that was stopped for which share of the run, the mean of the runs."""
    total: dict[str, float] = {}
    for result in results:
        of_run: dict[str, float] = {}
        for queue in result.summary["queues"]:
            of_run[queue["name"]] = max(of_run.get(queue["name"], 0.0), queue["paused_s"] / shown_s(result))
        # Where the queues of hosts are not recorded, the hosts have their pauses.
        recorded = {name.partition("->")[0] for name in of_run}
        for host in result.summary["hosts"]:
            if host["name"] not in recorded:
                of_run[host["name"]] = host.get("paused_s", 0.0) / shown_s(result)
        for port, value in of_run.items():
            total[port] = total.get(port, 0.0) + value / len(results)
    return {port: value for port, value in total.items() if value > 0}


def _delivered_bps(results: Sequence[Result]) -> dict[str, float]:
    """Return what a flow of each group delivers on average, bit/s, the mean of the runs."""
    rates: dict[str, list[float]] = {}
    for result in results:
        throughput_bps = {flow["name"]: flow["throughput_bps"] for flow in result.summary["flows"]}
        for group in groups(result):
            rates.setdefault(group.name, []).append(fmean(throughput_bps[flow] for flow in group.flows))
    return {name: fmean(values) for name, values in rates.items()}


def _samples(results: Sequence[Result], queue: str) -> Any:
    """Return the sampled lengths of a queue in all runs, octets, sorted."""
    parts = []
    for result in results:
        chosen = longest(result.summary, queue)
        if chosen is not None:
            # Read again where there is a folder: the tables of all runs may not fit into memory together.
            own = Result.open(result.path) if result.path else result
            parts.append(measured_octets(own, chosen))
    return np.sort(np.concatenate(parts)) if parts else np.empty(0)


def _of(result: Result, chosen: list["QueueSummary"]) -> list["QueueSummary"]:
    """Return the chosen queues that a run has; if it has none, as in another topology, its own longest."""
    own = {(q["name"], q["priority"]) for q in result.summary["queues"]}
    return [q for q in chosen if (q["name"], q["priority"]) in own] or notable_queues(result.summary["queues"], 1)


def _longest_of_each(results: Sequence[Result]) -> list["QueueSummary"]:
    """Return each queue as it was in the run that made it longest."""
    longest_of: dict[tuple[str, int], QueueSummary] = {}
    for result in results:
        for candidate in result.summary["queues"]:
            key = candidate["name"], candidate["priority"]
            if key not in longest_of or candidate["mean_octets"] > longest_of[key]["mean_octets"]:
                longest_of[key] = candidate
    return list(longest_of.values())


def _title(results: Sequence[Result]) -> str:
    """Return the question that all runs answer, or the names of their scenarios where they answer several."""
    questions = dict.fromkeys(result.question for result in results)
    if len(questions) == 1:
        return next(iter(questions))
    return ", ".join(dict.fromkeys(result.summary["scenario"] for result in results))


def _details(result: Result) -> str:
    summary = result.summary
    dropped = summary["totals"]["frames_dropped"]
    parts = [
        f"profile {summary['profile']}" if summary["profile"] else "",
        f"seed {summary['seed']}",
        f"{count(dropped)} dropped ({share(summary['loss_rate'])})" if dropped else "no frame dropped",
        _stopped(summary),
        "interrupted" if result.interrupted else "",
    ]
    return " · ".join(part for part in parts if part)


def _stopped(summary: "Summary") -> str:
    """Say for how long queues were stopped: a sum, which may be longer than the run."""
    paused_s = summary["totals"].get("paused_s")
    return f"queues stopped for {duration(paused_s)} added up" if paused_s else ""
