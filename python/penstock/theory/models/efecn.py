"""E-FECN as a fluid: FECN's allocator, whose sources begin at line rate.

BCN(0,0) answers a queue beyond Qsc, which is above the set point: it ends the start, and no small oscillation meets it.
"""

from dataclasses import dataclass
from typing import ClassVar

from penstock.theory.configuration import Configuration
from penstock.theory.models.fecn import Fecn


@dataclass(frozen=True)
class Efecn(Fecn):
    """E-FECN near its equilibrium."""

    scheme: ClassVar[str] = "efecn"
    source: ClassVar[str] = "So-In et al. 2008, sections 2 to 5; the scheme's own allocator"
    omits: ClassVar[tuple[str, ...]] = (*Fecn.omits, "BCN(0,0), which a queue beyond Qsc sends")

    @classmethod
    def _n0(cls, configuration: Configuration) -> float:
        return 1.0


MODELS = (Efecn,)
