"""A figure for each source: queues in KB over time in ms, shares of the line as bars."""

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from penstock.figures.style import FLOW_COLOURS, QUEUE_COLOURS
from penstock.reproduction.drawing import Data, Figures, Source

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = Figures()


@FIGURES.draw(
    "powertcp",
    **{
        scheme: Source.of("four-sources", scheme, "course", settings={"flow.1.start": "4 ms"}, queue="sw0->h4")
        for scheme in ("powertcp", "theta-powertcp", "hpcc")
    },
)
def powertcp(data: Data) -> "Figure":
    """The queue of two flows, and from 4 ms on of four, with both forms of PowerTCP and with HPCC."""
    figure, axis = plt.subplots(figsize=(6.6, 3), layout="constrained")
    for scheme, colour in zip(("powertcp", "theta-powertcp", "hpcc"), QUEUE_COLOURS, strict=False):
        time_s, octets = data[scheme][0]
        axis.plot(time_s * 1e3, octets / 1e3, color=colour, label=scheme, linewidth=0.8)
    axis.set(xlabel="time (ms)", ylabel="queue (KB)", ylim=(0, 60))
    axis.legend(loc="upper right")
    return figure


_FORMS = {"Swift": "kumar-2020", "LSwift": "lswift", "MSwift": "mswift"}


@FIGURES.draw(
    "spraying",
    **{
        name: Source.of(
            "few-congested",
            "swift",
            "line_share",
            settings={"schemes.swift.profile": profile},
            name="sprayed",
            line_bps=100e9,
        )
        for name, profile in _FORMS.items()
    },
)
def spraying(data: Data) -> "Figure":
    """What four flows have of their lines, one of whose eight paths two long flows keep full."""
    figure, axis = plt.subplots(figsize=(4.4, 3), layout="constrained")
    axis.bar(list(_FORMS), [100 * data[name][0] for name in _FORMS], color=FLOW_COLOURS[0])
    axis.set(ylabel="throughput (% of the line)", ylim=(0, 105))
    return figure
