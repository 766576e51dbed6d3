"""The figure of `penstock theory overlay`: a fluid model over a packet simulation, queue above, rate below."""

from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.figures.pages import finish, subtitle
from penstock.figures.panels import legend, octets_scale, time_axis
from penstock.figures.series import envelope
from penstock.figures.style import FLOW_COLOURS, QUEUE_COLOURS, REFERENCE, WIDTH, Drawn, sheet, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from penstock.theory.overlay import Overlay

_FLUID = QUEUE_COLOURS[1]
_HEADROOM = 1.06


def overlay_page(found: "Overlay") -> Drawn:
    """Draw queue and rate of packets and fluid over the same time."""
    with styled():
        figure = sheet(WIDTH, 5.6)
        above, below = figure.subplots(2, 1, sharex=True)
        scale, unit = octets_scale(found.buffer_octets)
        _draw(above, found, 0, scale, QUEUE_COLOURS[0])
        point = found.set_point_octets / scale
        above.axhline(
            point, color=REFERENCE, linewidth=1.0, linestyle=(0, (5, 3)), label=f"set point {point:.3g} {unit}"
        )
        above.set_ylabel(f"queue length ({unit})")
        above.set_ylim(0, _HEADROOM * found.buffer_octets / scale)
        _draw(below, found, 1, 1e6, FLOW_COLOURS[3])
        for number, distance in enumerate(found.distances):
            share = distance.capacity_bps / distance.flows / 1e6
            label = "fair rate" if number == 0 else None
            span = distance.start_s, distance.stop_s
            below.plot(span, (share, share), color=REFERENCE, linewidth=1.0, linestyle=(0, (4, 2.5)), label=label)
        below.set_ylabel("rate of a flow (Mb/s)")
        below.set_ylim(0, None)
        for panel in (above, below):
            legend(panel)
        time_axis(below, float(found.time_s[-1]))
        seeds = f"seed {found.seeds[0]}" if len(found.seeds) == 1 else f"seeds {found.seeds[0]} to {found.seeds[-1]}"
        subtitle(above, f"{found.scheme}   ·   model: {found.form}   ·   packets: {seeds}")
        figure.align_ylabels()
        finish(figure, found.question)
    return figure


def _draw(axes: "Axes", found: "Overlay", row: int, scale: float, colour: str) -> None:
    _draw_runs(axes, found.time_s, found.packets[:, row] / scale, colour, 0.7, "packets")
    # Of a model that draws, as many runs as of the packets.
    ours = found.fluid[: len(found.packets), row] / scale
    known = np.isfinite(ours[0])
    _draw_runs(axes, found.time_s[known], ours[:, known], _FLUID, 1.3, "fluid")


def _draw_runs(
    axes: "Axes", time_s: "NDArray[Any]", runs: "NDArray[Any]", colour: str, width: float, what: str
) -> None:
    """Draw runs in lines of ``width`` points for a single one; the fainter, the more there are."""
    faint = len(runs) ** 0.5
    for number, run in enumerate(runs):
        label = what if number == 0 else None
        times, values = envelope(time_s, run)
        axes.plot(times, values, color=colour, linewidth=width / faint, alpha=1.0 / faint, label=label)
