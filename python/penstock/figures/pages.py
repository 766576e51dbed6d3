"""Whole figures: panels with a title, ready to be written."""

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.font_manager import FontProperties

from penstock.figures.faults import draw_faults, faults
from penstock.figures.panels import (
    draw_queues,
    draw_rates,
    draw_utilization,
    legend,
    time_axis,
    top_octets,
)
from penstock.figures.series import (
    flow_series,
    queue_series,
    set_points,
)
from penstock.figures.style import WIDTH, Drawn, grow, is_narrow, save, sheet, styled, titled, written_dpi
from penstock.highlights import notable_queues_of, schemes_in_words
from penstock.quantity_text import count, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from penstock.result import Result

Panel = Callable[["Axes"], None]

_LETTERS_AN_EM = 1.58
"""How many letters of a title fit on an em of its type, a little less than on average."""

_LETTERS_OF_A_LINE = 1.8
"""The same of a subtitle, which is not bold."""

SUBTITLE: dict[str, Any] = {"fontsize": "medium", "color": "#555555"}

_PAD = 12
"""Room for the marks of drops above a panel, points."""

PANELS = ("overview", "queue", "utilization", "rates")
"""The figures of a run."""


def overview(result: "Result", show: str = "overview") -> Drawn:
    """Draw queue length, link utilisation and rates below one another, over the same time; or one of :data:`PANELS`."""
    panels = _panels(result)
    if show != "overview":
        return _page(result, (panels[PANELS.index(show) - 1],))
    # Where all flows come from loads, none is shown by itself.
    return _page(result, panels if result.columns_of("flows", "name").num_rows else panels[:2])


def draw_panel(result: "Result", name: str, axes: "Axes") -> None:
    """Draw one of :data:`PANELS` but the overview into axes, with its legend and the time axis."""
    _panels(result)[PANELS.index(name) - 1](axes)
    draw_faults(axes, faults(result), shown_s(result))
    axes.legend()
    time_axis(axes, shown_s(result))


def write_all(result: "Result", folder: Path) -> list[Path]:
    """Write the figures of a result into ``folder`` as PNG and SVG, and return the files.

    These are the overview, where flows complete their slowdowns and times, and where there are jobs their ranks,
    links and slowest paths. A panel of the overview by itself is :func:`overview` with ``show``; to write each of them
    too would take three times as long.

    Raises:
        OSError: a file cannot be written.
    """
    # Those modules draw with the parts of this one.
    from penstock.figures.completed_flows import has_completions
    from penstock.figures.completions import slowdowns
    from penstock.figures.distributions import distributions
    from penstock.figures.job_links import FIGURE as FIGURE_OF_LINKS
    from penstock.figures.job_links import job_links
    from penstock.figures.job_paths import FIGURE as FIGURE_OF_PATHS
    from penstock.figures.job_paths import has_paths, slowest_path
    from penstock.figures.jobs import FIGURE, has_jobs, jobs

    drawn = {"overview": overview(result)}
    written = []
    if has_completions(result):
        runs = {result.summary_in_brief["scheme"]: [result]}
        drawn["slowdown"] = slowdowns(runs)
        drawn["completions"] = distributions(runs)
    if has_jobs(result):
        drawn[FIGURE] = jobs(result)
        if result.links.num_rows:
            drawn[FIGURE_OF_LINKS] = job_links(result)
    if has_paths(result):
        drawn[FIGURE_OF_PATHS] = slowest_path(result)
    for name, figure in drawn.items():
        for kind in ("png", "svg"):
            path = folder / f"{name}.{kind}"
            save(figure, path)
            written.append(path)
    return written


def _panels(result: "Result") -> tuple[Panel, Panel, Panel]:
    queues = queue_series(result, notable_queues_of(result))
    flows = flow_series(result)
    points = set_points(result)
    return (
        lambda axes: draw_queues(axes, queues, points, top_octets(queues, points)),
        lambda axes: draw_utilization(axes, queues),
        lambda axes: draw_rates(axes, flows),
    )


def _page(result: "Result", panels: Sequence[Panel]) -> Drawn:
    with styled():
        figure = sheet(WIDTH, 1.6 + 2 * len(panels))
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        explained: set[str] = set()
        found = faults(result)
        for draw, panel in zip(panels, axes, strict=True):
            draw(panel)
            draw_faults(panel, found, shown_s(result), named=panel is axes[0])
            words = set(panel.get_legend_handles_labels()[1])
            # Where explanations stand between the panels, those of the panel above, with the same colours, serve.
            if not (is_narrow(figure) and words <= explained):
                legend(panel)
            explained |= words
        time_axis(axes[-1], shown_s(result))
        subtitle(axes[0], _subtitle(result))
        figure.align_ylabels()
        finish(figure, result.question)
    return figure


def finish(figure: "Figure", title: str) -> None:
    """Set the title, if the page has one, and lay the page out, once for all formats that it is written in."""
    if titled():
        letters = fitting(figure.get_figwidth(), points("figure.titlesize"), _LETTERS_AN_EM)
        figure.suptitle(textwrap.fill(title, letters), x=0.01, ha="left", fontweight="bold")
    if is_narrow(figure):
        legends = [found for axes in figure.axes if (found := axes.get_legend()) is not None]
        grow(figure, sum(found.get_window_extent().height for found in legends) / figure.dpi)
    engine = figure.get_layout_engine()
    if engine is not None:
        with written_dpi(figure):
            engine.execute(figure)
            _keep_names(figure)
    # Without any engine: a figure that has one, even one that does nothing, is drawn twice for each file.
    figure.set_layout_engine(None)


def _keep_names(figure: "Figure") -> None:
    """Leave the names of axes where they are: each drawing would compute their positions, and find the same."""
    for axes in figure.axes:
        # Whoever asks for the size of a panel has all its parts positioned.
        axes.get_tightbbox(bbox_extra_artists=[])
        for axis in (axes.xaxis, axes.yaxis):
            place = axis.label.get_transform().transform(axis.label.get_position())
            axis.set_label_coords(*axes.transAxes.inverted().transform(place))


def subtitle(axes: "Axes", text: str, *, wide_in: float | None = None) -> float:
    """Set the line below the title, above a panel and its explanations, if the page has a title.

    ``wide_in`` is what the line may take, inches. Returns how much then stands above the panel, points.
    """
    figure = axes.get_figure(root=True)
    above = float(_PAD)
    explanations = axes.get_legend()
    if figure is not None and is_narrow(figure):
        wide_in = wide_in or 0.9 * figure.get_figwidth()
        if explanations is not None:
            above += explanations.get_window_extent().height * 72 / figure.dpi
    if not titled():
        return above
    size_pt = points("font.size")
    if wide_in is not None:
        text = textwrap.fill(text, fitting(wide_in, size_pt, _LETTERS_OF_A_LINE), break_long_words=False)
    # Searching for obstacles of the line takes time at every drawing; only an axis above the panel is one.
    axes.set_title(text, y=None if axes.child_axes else 1.0, pad=above, **SUBTITLE)
    return above + 1.3 * size_pt * (1 + text.count("\n"))


def fitting(wide_in: float, size_pt: float, letters_an_em: float) -> int:
    """Return how many letters fit on a width in inches."""
    return max(10, int(wide_in * 72 / size_pt * letters_an_em))


def points(key: str) -> float:
    """Return a size of type among matplotlib's settings, points."""
    # A size may be a word, such as "large".
    settings: Any = mpl.rcParams
    return float(FontProperties(size=settings[key]).get_size_in_points())


def _subtitle(result: "Result") -> str:
    summary = result.summary_in_brief
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
    return result.end_s
