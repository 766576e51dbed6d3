"""Slowdowns over the size of messages, ours beside the published ones."""

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from penstock.figures.style import FLOW_COLOURS
from penstock.reproduction.drawing import Data, Figures, Source

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = Figures()

_PUBLISHED = {
    "50": ((1.109, 1.132, 1.133, 1.192, 1.967), (1.291, 1.301, 1.448, 1.944, 4.124)),
    "80": ((1.176, 1.245, 1.273, 1.460, 4.521), (1.358, 1.467, 1.689, 2.428, 9.507)),
}
_SIZES = ("2-6", "7-53", "54-667", "668-3333", "over 3333")


def _at(share: float) -> Source:
    return Source.of("w5", "homa", "by_size", seeds=range(1, 4), settings={"load.0.load": share})


@FIGURES.draw("slowdowns", **{"50": _at(0.4725), "80": _at(0.756)})
def slowdowns(data: Data) -> "Figure":
    """Median and 99th percentile by size, three seeds (short: one): lines are ours, crosses published."""
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
    for axis, (load, published) in zip(axes, _PUBLISHED.items(), strict=True):
        ours = np.mean(data[load], axis=0)
        for at, (name, colour) in enumerate(zip(("median", "99th percentile"), FLOW_COLOURS, strict=False)):
            axis.plot(_SIZES, ours[:, at], color=colour, marker="o", label=name)
            axis.plot(_SIZES, published[at], color=colour, marker="x", linestyle="none")
        axis.set(xlabel="packets of the message", title=f"{load} % load", yscale="log")
    axes[0].set(ylabel="slowdown")
    axes[0].legend(loc="upper left")
    return figure
