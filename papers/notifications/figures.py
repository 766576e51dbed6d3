"""A figure for each source, beside the run that fails its claims: queues in KB, over time in ms."""

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
from penstock.figures.style import QUEUE_COLOURS
from penstock.reproduction.drawing import Data, Figures, Source

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

FIGURES = Figures()


@FIGURES.draw(
    "fast-cnp",
    fast=Source.of("far", "fast-cnp", "queue_lengths", queues=["near->core"]),
    dcqcn=Source.of("far", "dcqcn", "queue_lengths", queues=["near->core"]),
)
def fast_cnp(data: Data) -> "Figure":
    """The queue of four greedy flows when the switch notifies their sources, and when the destination does."""
    return _queues({"Fast CNP": data["fast"][0], "DCQCN": data["dcqcn"][0]})


@FIGURES.draw(
    "ici",
    ici=Source.of("burst-long", "ici", "queue_lengths", queues=["spine0->leaf0"]),
    dcqcn=Source.of(
        "burst-long", "dcqcn", "queue_lengths", settings={"pfc.priorities": "[3]"}, queues=["spine0->leaf0"]
    ),
)
def ici(data: Data) -> "Figure":
    """The queue of the trunk that victims and answers share, with ICI and with DCQCN under pauses."""
    return _queues({"ICI": data["ici"][0], "DCQCN": data["dcqcn"][0]})


def _queues(courses: dict[str, dict[str, tuple["NDArray[Any]", "NDArray[Any]"]]]) -> "Figure":
    figure, axes = plt.subplots(layout="constrained")
    for (name, course), colour in zip(courses.items(), QUEUE_COLOURS, strict=False):
        for time_s, octets in course.values():
            axes.plot(time_s * 1e3, octets / 1e3, label=name, color=colour, linewidth=1)
    axes.set(xlabel="time (ms)", ylabel="queue (KB)")
    axes.legend()
    return figure
