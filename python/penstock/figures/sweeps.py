"""Figures of sweeps: a metric against a key, a map over two, panels over a third, the Pareto front of two metrics."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import MaxNLocator

from penstock.errors import ArgumentError
from penstock.figures import tick_labels
from penstock.figures.axis_scales import Powers
from penstock.figures.pages import SUBTITLE, finish, points, subtitle
from penstock.figures.panels import legend, octets_scale, rate_scale
from penstock.figures.pareto_labels import front_of, number_points, reserve
from penstock.figures.style import FLOW_COLOURS, REFERENCE, WIDTH, Drawn, is_narrow, lay_out, sheet, styled, width
from penstock.sweeps.view import Cell, Dimension, Metric, View, dominant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LINES = 8
"""More lines in a panel have no colours left, and hide one another."""

_MOST_PANELS = 24
_LEAST_PANEL_IN = 2.3
_MOST_COLUMNS = 4
_FEW_WORDS = 4
"""Fewer labels along an axis than this do not show what lies between them."""

_RULER_EM = 6.0
"""Room left of a panel for numbers and their name."""

_ABOVE_PT = 4.0
"""Distance of a panel's name from the panel, points."""

_LEGEND_PT = 8.0
"""Distance of explanations above a panel from it, points."""

_LINE_EM = 2.0
"""Height of a panel's name, and its distance from the line above it."""

_MARKERS = "osD^vP*X"
_NAME: dict[str, Any] = {"fontsize": "medium", "fontweight": "bold"}


def sweep_figure(view: View) -> Drawn:
    """Draw a view of a sweep.

    Raises:
        ArgumentError: it has too many lines or panels.
    """
    return {"lines": _lines, "map": _map, "pareto": _pareto}[view.show](view)


def _lines(view: View) -> Drawn:
    """Draw the mean over seeds against a key, and a band from least to most; a line for each scheme and value."""
    x = view.x
    assert x is not None
    by = [d for d in (view.y, view.scheme) if d is not None and d is not view.panel and d.several(view.cells)]
    groups = _groups(view.cells, by)
    if len(groups) > _MOST_LINES:
        raise ArgumentError(
            f"{len(groups)} lines in a panel: more than {_MOST_LINES} hide one another",
            "fix a key or the scheme with where=KEY=VALUE, or show a map",
        )
    (metric,) = view.metrics
    scale, label = _metric_scale(metric, [float(cell.values.max()) for cell in view.cells])
    with styled():
        figure, panels = _sheet(view, 4.0)
        for axes, at in panels:
            for number, (key, cells) in enumerate(groups.items()):
                own = [cell for cell in cells if _is_at(cell, view.panel, at)]
                own.sort(key=lambda cell: _order(x, cell))
                if not own:
                    continue
                places = [_place(x, cell.at[x.column]) for cell in own]
                values = [cell.values[0] / scale for cell in own]
                colour = FLOW_COLOURS[number]
                axes.plot(
                    places,
                    [value.mean() for value in values],
                    color=colour,
                    marker=_MARKERS[number],
                    markersize=3.5,
                    label=", ".join(key) or None,
                )
                if view.seeds > 1:
                    low, high = [value.min() for value in values], [value.max() for value in values]
                    axes.fill_between(places, low, high, color=colour, alpha=0.18, linewidth=0)
            _ruler(axes, x)
        _dress(figure, panels, _axis_label(x), label)
        if groups.keys() != {()}:
            legend(_corner(panels), [axes for axes, _ in panels])
        seeds = f"mean of {view.seeds} seeds, band from least to most" if view.seeds > 1 else ""
        _subtitle(view, panels, seeds)
        finish(figure, view.question)
    return figure


def _map(view: View) -> Drawn:
    """Draw the mean over seeds over two keys, in colours; a panel for each scheme and value of a third."""
    x, y = view.x, view.y
    assert x is not None and y is not None
    (metric,) = view.metrics
    means = [float(cell.mean[0]) for cell in view.cells]
    scale, label = _metric_scale(metric, means)
    low, high = min(means) / scale, max(means) / scale
    with styled():
        figure, panels = _sheet(view, 3.6)
        for axes, at in panels:
            grid = np.full((len(y.values), len(x.values)), np.nan)
            for cell in view.cells:
                if _is_at(cell, view.panel, at[:1]) and _is_at(cell, view.scheme, at[1:]):
                    row, column = y.values.index(cell.at[y.column]), x.values.index(cell.at[x.column])
                    grid[row, column] = cell.mean[0] / scale
            # A field for each value, wherever it lies: a run has no width.
            mesh = axes.imshow(
                np.ma.masked_invalid(grid), origin="lower", aspect="auto", cmap="viridis", vmin=low, vmax=high
            )
            axes.set_facecolor("#dddddd")
            tick_labels.words(axes.xaxis, x.words)
            tick_labels.words(axes.yaxis, y.words)
            axes.grid(visible=False)
        figure.colorbar(mesh, ax=[axes for axes, _ in panels], label=label)
        _dress(figure, panels, x.title, y.title)
        text = f"{metric.name}, mean of {view.seeds} seeds" if view.seeds > 1 else metric.name
        _subtitle(view, panels, text, left_em=tick_labels.width_em(y.words) + _RULER_EM / 2)
        lay_out(figure)
        if _is_turned(panels[0][0], x):
            for axes, _ in panels:
                tick_labels.words(axes.xaxis, x.words, turned=True)
        finish(figure, view.question)
    return figure


def _pareto(view: View) -> Drawn:
    """Draw two metrics against one another, a point a combination, and those that no other beats as a line."""
    first, second = view.metrics
    scales = [_metric_scale(m, [float(c.mean[i]) for c in view.cells]) for i, m in enumerate(view.metrics)]
    front = dominant(view)
    with styled():
        figure = sheet(WIDTH, 5.2)
        axes = figure.subplots()
        places = np.array([cell.mean for cell in view.cells]) / [scale for scale, _ in scales]
        for number, (key, cells) in enumerate(_groups(view.cells, [view.scheme]).items()):
            own = [i for i, cell in enumerate(view.cells) if any(cell is other for other in cells)]
            axes.plot(
                places[own, 0],
                places[own, 1],
                _MARKERS[number % len(_MARKERS)],
                color=FLOW_COLOURS[number % len(FLOW_COLOURS)],
                markersize=4.5,
                alpha=0.75,
                label=key[0],
            )
        steps: dict[str, Any] = {"drawstyle": "steps-post", "color": REFERENCE, "linewidth": 1.0, "zorder": 1}
        axes.plot(places[front, 0], places[front, 1], label="Pareto front", **steps)
        for ruler, (_, label), metric in ((axes.xaxis, scales[0], first), (axes.yaxis, scales[1], second)):
            ruler.set_label_text(f"{label}, {metric.better} is better")
        axes.margins(0.08, 0.1)
        text = f"a point for each of {len(view.cells)} combinations"
        legend(axes)
        _subtitle(view, [(axes, ())], f"{text}, mean of {view.seeds} seeds" if view.seeds > 1 else text)
        named = front_of(view, places, front)
        reserve(figure, named)
        finish(figure, view.question)
        number_points(axes, view, named)
    return figure


def _sheet(view: View, panel_in: float) -> tuple[Drawn, list[tuple["Axes", tuple[Any, ...]]]]:
    """Return a figure with a panel for each value of the panels' key, and in a map for each scheme."""
    values: list[tuple[Any, ...]] = [(value,) for value in view.panel.values] if view.panel else [()]
    values = [at for at in values if not at or any(_is_at(cell, view.panel, at) for cell in view.cells)]
    if view.show == "map":
        schemes = [s for s in view.scheme.values if any(cell.at["scheme"] == s for cell in view.cells)]
        own = [] if view.panel is view.scheme else schemes
        values = [(*(at or (None,)), scheme) for at in values for scheme in own] or [(*at, None) for at in values]
    if len(values) > _MOST_PANELS:
        raise ArgumentError(
            f"{len(values)} panels: more than {_MOST_PANELS} cannot be read", "fix a key with where=KEY=VALUE"
        )
    columns = min(len(values), _MOST_COLUMNS)
    wide_in = max(WIDTH, panel_in * columns) if len(values) > 1 else WIDTH
    columns = max(1, min(columns, int(width(wide_in) / _LEAST_PANEL_IN)))
    side = len({at[1] for at in values}) if view.show == "map" else 1
    if columns > side:
        # The schemes of a value stand beside one another.
        columns -= columns % side
    rows = math.ceil(len(values) / columns)
    figure = sheet(wide_in, 1.2 + (panel_in if rows == 1 else 0.75 * panel_in) * rows)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for spare in grid.flat[len(values) :]:
        spare.remove()
    return figure, list(zip(grid.flat, values, strict=False))


def _dress(figure: Drawn, panels: Sequence[tuple["Axes", tuple[Any, ...]]], x: str, y: str) -> None:
    """Name the axes at the edges of the figure."""
    for axes, _ in panels:
        place = axes.get_subplotspec()
        assert place is not None
        columns = place.get_gridspec().ncols
        last_row = place.num1 + columns >= len(panels)
        axes.tick_params(labelbottom=last_row)
        if last_row:
            axes.set_xlabel(x)
        if place.is_first_col():
            axes.set_ylabel(y)
    figure.align_ylabels()


def _subtitle(
    view: View, panels: Sequence[tuple["Axes", tuple[Any, ...]]], text: str, *, left_em: float = _RULER_EM
) -> None:
    """Set a line below the title, and above each panel its name; ``left_em`` is the space left of a panel."""
    schemes = () if view.scheme.several(view.cells) else (str(view.cells[0].at["scheme"]),)
    words = "   ·   ".join(dict.fromkeys(part for part in (*schemes, *view.fixed, text) if part))
    figure = panels[0][0].get_figure(root=True)
    assert figure is not None
    size_pt = points("font.size")
    wide_in = figure.get_figwidth() - left_em * size_pt / 72 if is_narrow(figure) else None
    if len(panels) == 1:
        name = _panel_name(view, panels[0][1])
        words = f"{name}   ·   {words}" if name and name not in words else words
        subtitle(panels[0][0], words, wide_in=wide_in)
        return
    first = panels[0][0]
    explanations = first.get_legend()
    above_pt = {axes: _ABOVE_PT for axes, _ in panels}
    if explanations is not None and is_narrow(figure):
        above_pt[first] += _LEGEND_PT + explanations.get_window_extent().height * 72 / figure.dpi
    # The names of the panels stand on a separate line below it.
    subtitle(first, words, wide_in=wide_in)
    text = first.get_title(mpl.rcParams["axes.titlelocation"])
    first.set_title(text, pad=above_pt[first] + _LINE_EM * size_pt, **SUBTITLE)
    for axes, at in panels:
        axes.annotate(_panel_name(view, at), (0, 1), xytext=(0, above_pt[axes]), **_ABOVE, **_NAME)


_ABOVE: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}


def _panel_name(view: View, at: tuple[Any, ...]) -> str:
    parts = []
    if view.panel is not None and at and at[0] is not None:
        word = view.panel.word(at[0])
        parts.append(word if view.panel is view.scheme else f"{view.panel.title} {word}")
    if len(at) > 1 and at[1] is not None and view.scheme.several(view.cells):
        parts.append(str(at[1]))
    return ", ".join(parts)


def _corner(panels: Sequence[tuple["Axes", tuple[Any, ...]]]) -> "Axes":
    """Return the panel beside which explanations stand: the last of the first row, or the first of a narrow figure."""
    first = panels[0][0]
    figure, place = first.get_figure(root=True), first.get_subplotspec()
    assert figure is not None and place is not None
    if is_narrow(figure):
        return first
    return panels[min(len(panels), place.get_gridspec().ncols) - 1][0]


def _groups(cells: Sequence[Cell], by: Sequence[Dimension]) -> dict[tuple[str, ...], list[Cell]]:
    """Return the cells of each combination of dimensions, under its text, in the sweep's order."""
    found: dict[tuple[str, ...], list[Cell]] = {}
    ordered = sorted(cells, key=lambda cell: [_order(d, cell) for d in by])
    for cell in ordered:
        key = tuple(
            d.word(cell.at[d.column]) if d.column == "scheme" else f"{d.title} {d.word(cell.at[d.column])}" for d in by
        )
        found.setdefault(key, []).append(cell)
    return found


def _order(dimension: Dimension, cell: Cell) -> float:
    value = cell.at[dimension.column]
    return float(value) if dimension.numeric else dimension.values.index(value)


def _is_at(cell: Cell, dimension: Dimension | None, at: tuple[Any, ...]) -> bool:
    return dimension is None or not at or at[0] is None or cell.at[dimension.column] == at[0]


def _place(dimension: Dimension, value: Any) -> float:
    """Return the position of a value along an axis; names lie at 0, 1, 2, …."""
    return float(value) / _unit(dimension)[0] if dimension.numeric else dimension.values.index(value)


def _unit(dimension: Dimension) -> tuple[float, str]:
    if not dimension.numeric:
        return 1.0, ""
    return _unit_scale(dimension.unit, max(abs(float(value)) for value in dimension.values))


def _unit_scale(unit: str, most: float) -> tuple[float, str]:
    """Return the unit of an axis whose largest value is ``most``: its size in ``unit``, and its name."""
    if unit == "octets":
        return octets_scale(most)
    if unit == "bit/s":
        return rate_scale(most)
    if unit == "s":
        return (1.0, "s") if most >= 1 else (1e-3, "ms") if most >= 1e-3 else (1e-6, "µs")
    return 1.0, ""


def _axis_label(dimension: Dimension) -> str:
    unit = _unit(dimension)[1]
    return f"{dimension.title} ({unit})" if unit else dimension.title


def _metric_scale(metric: Metric, values: Sequence[float]) -> tuple[float, str]:
    if metric.kind == "share":
        return 0.01, f"{metric.name} (%)"
    scale, unit = _unit_scale(metric.unit, max(map(abs, values)))
    return scale, f"{metric.name} ({unit})" if unit else metric.name


def _ruler(axes: "Axes", x: Dimension) -> None:
    """Set the scale of the x axis, and its marks: at the values, where they are few."""
    if not x.numeric:
        axes.set_xlim(-0.3, len(x.values) - 0.7)
        tick_labels.words(axes.xaxis, x.words)
        return
    if x.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(Powers())
    places = sorted(_place(x, value) for value in x.values)
    if len(places) <= 6:
        tick_labels.chosen(axes.xaxis, places, lambda value: f"{value:.4g}")
    elif x.unit == "count" and not x.log:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _is_turned(axes: "Axes", x: Dimension) -> bool:
    """Return whether names below a map are rotated, where not all have room side by side: if more are seen so."""
    lying, standing = (tick_labels.fitting(axes.xaxis, x.words, turned=turned) for turned in (False, True))
    return lying < len(x.words) and (standing == len(x.words) or lying < _FEW_WORDS)
