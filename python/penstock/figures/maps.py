"""Figures of maps over two parameters: colours for the metric, a line for its border, marks for simulations."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import TwoSlopeNorm
from matplotlib.ticker import MaxNLocator

from penstock.figures.axis_scales import Powers
from penstock.figures.pages import finish, subtitle
from penstock.figures.style import REFERENCE, Drawn, sheet, styled
from penstock.theory.maps import METRICS, Map, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

    from penstock.theory.axes import Axis

_SCALES = {"octets": (1e3, "KB"), "s": (1e-6, "µs"), "bit/s": (1e6, "Mb/s")}
_OSCILLATES = 0.4
"""A simulated queue oscillates where its deviation is more than this share of its mean."""


def map_figure(name: str, drawn: Map, points: list[Point]) -> Drawn:
    """Draw a map."""
    words, unit, border = METRICS[drawn.metric]
    factor, shown = _SCALES.get(unit, (1.0, unit))
    values = drawn.values / factor
    with styled():
        figure = sheet(7.2, 5.2)
        axes = figure.subplots()
        x, y = _ticks(drawn.x), _ticks(drawn.y)
        settings = _colours(drawn, values, border)
        mesh = axes.pcolormesh(x, y, np.ma.masked_invalid(values), shading="nearest", rasterized=True, **settings)
        figure.colorbar(
            mesh,
            ax=axes,
            extend="both" if drawn.metric == "margin" else "neither",
            label=f"{words}\n({shown})" if len(words) > 30 else f"{words} ({shown})",
        )
        finite = values[np.isfinite(values)]
        if np.isfinite(border) and finite.size and finite.min() < border < finite.max():
            axes.contour(x, y, values, levels=[border / factor], colors=REFERENCE, linewidths=1.6)
        _mark(axes, drawn, points, mesh)
        for axis, set_scale, ruler in (
            (drawn.x, axes.set_xscale, axes.xaxis),
            (drawn.y, axes.set_yscale, axes.yaxis),
        ):
            if axis.log:
                set_scale("log")
                ruler.set_major_formatter(Powers())
                ruler.set_minor_formatter(Powers(labelOnlyBase=False, minor_thresholds=(1, 0.4)))
            elif axis.unit == "count":
                ruler.set_major_locator(MaxNLocator(integer=True))
            ruler.set_label_text(_label(axis))
        axes.grid(visible=False)
        same = drawn.metric in ("amplitude", "utilization")
        marks = "discs, same colours" if same else "○ the queue settles, ● it oscillates"
        simulated = f"; simulated: {marks}" if points else ""
        subtitle(axes, f"{drawn.scheme}{simulated}")
        finish(figure, f"{name}: {words}")
    return figure


def _colours(drawn: Map, values: Any, border: float) -> dict[str, Any]:
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if drawn.metric == "margin":
        # Red is unstable on every map.
        most = min(90.0, max(-low, high, 1.0))
        return {"cmap": "RdBu", "norm": TwoSlopeNorm(border, -most, most)}
    if drawn.metric == "sliding":
        return {"cmap": "RdBu", "norm": TwoSlopeNorm(border, 0.0, min(max(high, 1.5), 2.0))}
    return {"cmap": "viridis", "vmin": low, "vmax": high if high > low else low + 1.0}


def _mark(axes: "Axes", drawn: Map, points: list[Point], mesh: "QuadMesh") -> None:
    factor = _SCALES.get(METRICS[drawn.metric][1], (1.0, ""))[0]
    for point in points:
        if drawn.metric in ("amplitude", "utilization"):
            measured = point.amplitude_octets if drawn.metric == "amplitude" else point.utilization
            face: Any = mesh.to_rgba(np.array([measured / factor]))[0]
        else:
            face = REFERENCE if point.deviation_octets > _OSCILLATES * point.mean_octets else "white"
        place = point.x / _scale(drawn.x), point.y / _scale(drawn.y)
        axes.plot(*place, "o", markersize=8, markeredgecolor="white", markerfacecolor=REFERENCE, zorder=4)
        axes.plot(*place, "o", markersize=6, markeredgecolor=REFERENCE, markerfacecolor=face, zorder=5)


def _ticks(axis: "Axis") -> Any:
    return axis.values / _scale(axis)


def _scale(axis: "Axis") -> float:
    return _SCALES.get(axis.unit, (1.0, ""))[0]


def _label(axis: "Axis") -> str:
    words = axis.name.removesuffix("_bps").removesuffix("_octets").removesuffix("_s").replace("_", " ")
    unit = _SCALES.get(axis.unit, (1.0, ""))[1]
    return f"{words} ({unit})" if unit else words
