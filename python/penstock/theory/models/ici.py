"""Improved congestion isolation as a fluid: DCQCN at the congesting queue.

Flows that fill a bottleneck all congest it: isolation picks every one of them, and their frames wait in the congesting
queue alone. That queue marks by its own length, and reaction points are DCQCN's. So the loop is DCQCN's.
"""

from dataclasses import dataclass
from typing import ClassVar

from penstock.theory.models.base import ALIKE
from penstock.theory.models.dcqcn import Dcqcn


@dataclass(frozen=True)
class Ici(Dcqcn):
    """ICI with all flows of the bottleneck isolated."""

    scheme: ClassVar[str] = "ici"
    source: ClassVar[str] = "Zhu et al., SIGCOMM 2015, section 5, at the queue of isolated flows"
    omits: ClassVar[tuple[str, ...]] = (
        *(what for what in Dcqcn.omits if what != ALIKE),
        "that flows return to the monitored queue where the congesting one runs empty, and its pauses",
        ALIKE,
    )


MODELS = (Ici,)
