"""QCN with Adaptive BC_LIMIT as a fluid: the averaged model, with cycles of the byte counter of the same time K.

A cycle has K r bits (Matsushima et al. 2014, equation 5), so that the byte counter counts as a second timer does.
"""

from dataclasses import dataclass
from typing import ClassVar, Self

from penstock.theory.configuration import Configuration
from penstock.theory.models.base import Value
from penstock.theory.models.qcn import Averaged


@dataclass(frozen=True)
class QcnAdaptive(Averaged):
    """QCN whose cycles last as long at every rate.

    Attributes:
        cycle_s: K, s.
    """

    cycle_s: Value

    scheme: ClassVar[str] = "qcn-adaptive"
    source: ClassVar[str] = "Alizadeh et al., SIGMETRICS 2011; Matsushima et al. 2014, equation (5)"

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of the scheme."""
        cycle_s = configuration.number("k")
        octets = configuration.fair_rate_bps * cycle_s / 8
        return cls(**cls._parameters(configuration, byte_reset_octets=octets), cycle_s=cycle_s)

    def _cycle_frames(self, frames: Value) -> Value:
        return self.cycle_s * frames


MODELS = (QcnAdaptive,)
