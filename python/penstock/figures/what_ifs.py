"""The figures of a trial: a queue and stopped queues over time, completions, a line for each side."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from penstock.figures.panels import octets_scale, time_axis
from penstock.figures.style import QUEUE_COLOURS, WIDTH, Drawn, sheet, styled
from penstock.what_ifs.measuring import FigureTable
from penstock.what_ifs.outcome import Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES = ("-", (0, (4, 1.5)))


def trial_figure(trial: Trial) -> Drawn:
    """Draw a panel for each figure of a trial, with the first seed of each side."""
    with styled():
        figure = sheet(WIDTH, 0.5 + 1.9 * len(trial.figures))
        draw_lines(figure.subplots(len(trial.figures), squeeze=False)[:, 0], trial.figures)
        figure.align_ylabels()
    return figure


def draw_lines(panels: "Iterable[Axes]", tables: Sequence[FigureTable]) -> None:
    """Draw a table into each panel: a line for each side."""
    for panel, table in zip(panels, tables, strict=True):
        scale, unit = _scale(table)
        for number, (side, (x, y)) in enumerate(table.lines.items()):
            style: dict[str, Any] = {"color": QUEUE_COLOURS[number], "linestyle": _DASHES[number], "label": side}
            panel.plot(x, [value / scale for value in y], **style)
        panel.set_ylim(bottom=0)
        panel.set_ylabel(unit)
        panel.set_title(table.title.partition(": ")[2], fontsize="medium")
        time_axis(panel, max(x[-1] for x, _ in table.lines.values()))
        if len(table.lines) > 1:
            panel.legend(loc="upper right", ncols=2)


def _scale(table: FigureTable) -> tuple[float, str]:
    """Return the unit of an axis, and its name."""
    if table.name == "queue":
        scale, unit = octets_scale(max(max(y) for _, y in table.lines.values()))
        return scale, f"length ({unit})"
    return (1.0, "stopped queues") if table.name == "stopped" else (1.0, "share of flows")
