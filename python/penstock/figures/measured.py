"""Measured watermarks and counters beside simulated ones, a row a port and priority."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.figures.pages import finish, points
from penstock.figures.panels import octets_scale
from penstock.figures.style import FLOW_COLOURS, REFERENCE, WIDTH, Drawn, save, sheet, styled
from penstock.telemetry.measures import MEASURES
from penstock.telemetry.overlay import Overlay, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS_SHOWN = 16
"""The most ports of a panel: those whose measured and simulated values lie farthest apart."""

_ROW_IN = 0.24
_PANEL_IN = 0.75


def measured_figure(found: Overlay, title: str) -> Drawn:
    """Draw a panel for each watermark and counter: the measured value, and that of each line with its interval."""
    panels = [(name, own) for name in MEASURES if (own := _shown([row for row in found.rows if row.measure == name]))]
    heights = [_PANEL_IN + _ROW_IN * len(rows) for _, rows in panels]
    with styled():
        figure = sheet(WIDTH, 1.2 + sum(heights))
        several = figure.subplots(len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
        for (name, rows), axes in zip(panels, several, strict=True):
            _panel(axes, name, rows, found.labels)
        several[0].legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2)
        finish(figure, title)
    return figure


def write_measured(found: Overlay, title: str, folder: Path) -> list[Path]:
    """Write the figure into a folder as PNG and SVG, and return the files; none if there is nothing to draw.

    Raises:
        OSError: a file cannot be written.
    """
    if not any(_shown([row for row in found.rows if row.measure == name]) for name in MEASURES):
        return []
    figure = measured_figure(found, title)
    paths = [folder / f"measured.{kind}" for kind in ("png", "svg")]
    for path in paths:
        save(figure, path)
    return paths


def _shown(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with a simulated value that have something to show; of many, those that lie farthest apart."""
    known = [row for row in rows if any(line.mean is not None for line in row.simulated.values())]
    some = [row for row in known if row.measured or any(line.mean for line in row.simulated.values())]
    apart = sorted(some, key=lambda row: -max(abs(row.measured - (v.mean or 0)) for v in row.simulated.values()))
    kept = {id(row) for row in apart[:_ROWS_SHOWN]}
    return [row for row in some if id(row) in kept]


def _panel(axes: "Axes", name: str, rows: Sequence[Row], labels: Sequence[str]) -> None:
    highest = max(max(row.measured, *(line.high or line.mean or 0 for line in row.simulated.values())) for row in rows)
    unit = rows[0].unit
    factor, words = octets_scale(highest) if unit == "octets" else (1.0, unit)
    heights = range(len(rows))
    step = 0.5 / max(1, len(labels))
    for index, label in enumerate(labels):
        colour = FLOW_COLOURS[index % len(FLOW_COLOURS)]
        offset = (index - (len(labels) - 1) / 2) * step
        own = [(height + offset, row.simulated[label]) for height, row in zip(heights, rows, strict=True)]
        known = [(at, line) for at, line in own if line.mean is not None]
        means = [(line.mean or 0) / factor for _, line in known]
        style: dict[str, Any] = {"color": colour, "zorder": 3}
        axes.plot(means, [at for at, _ in known], "o", markersize=5, label=f"simulated, {label}", **style)
        bars = [(at, line.low, line.high) for at, line in known if line.low is not None and line.high is not None]
        name_of_bars = f"95 % of other seeds, {label}" if bars else "_"
        lows, highs = ([bar[side] / factor for bar in bars] for side in (1, 2))
        axes.hlines([at for at, *_ in bars], lows, highs, label=name_of_bars, **style)
    axes.plot(
        [row.measured / factor for row in rows],
        list(heights),
        "|",
        color=REFERENCE,
        markersize=points("font.size") * 1.4,
        markeredgewidth=2,
        label="measured",
        zorder=4,
    )
    axes.set_yticks(list(heights), [f"{row.link} ({row.port}), priority {row.priority}" for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(left=0)
    axes.margins(x=0.05)
    axes.set_xlabel(f"{MEASURES[name].title}, {words}")
