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


_FORMS = {"Falcon": "htsim-100g", "Swift": "kumar-2020", "LSwift": "lswift", "MSwift": "mswift"}


def _share(scheme: str, profile: str) -> Source:
    settings = {f"schemes.{scheme}.profile": profile}
    return Source.of("few-late", scheme, "line_share", settings=settings, name="sprayed", line_bps=400e9)


@FIGURES.draw(
    "spraying",
    **{name: _share("swift", profile) for name, profile in _FORMS.items()},
    NSCC=_share("nscc", "htsim-400g"),
    MNSCC=_share("nscc", "mnscc"),
)
def spraying(data: Data) -> "Figure":
    """What four flows have of their lines while one of their eight paths is late."""
    return _bars({name: 100 * data[name][0] for name in (*_FORMS, "NSCC", "MNSCC")}, "throughput (% of the line)")


@FIGURES.draw(
    "permutation",
    **{
        name: Source.of(
            "permutation", scheme, "inflation_percent", settings={f"schemes.{scheme}.profile": profile}, name="sprayed"
        )
        for name, scheme, profile in (
            ("MSwift", "swift", "mswift"),
            ("NSCC", "nscc", "htsim-800g"),
            ("MNSCC", "nscc", "mnscc"),
        )
    },
)
def permutation(data: Data) -> "Figure":
    """By how much the last of 124 sprayed messages takes longer than without a queue."""
    return _bars({name: data[name][0] for name in ("MSwift", "NSCC", "MNSCC")}, "last message (% longer)")


def _bars(values: dict[str, float], label: str) -> "Figure":
    figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
    axis.bar(list(values), list(values.values()), color=FLOW_COLOURS[0])
    axis.set(ylabel=label, ylim=(0, None))
    return figure
