"""Fast CNP as a fluid: DCQCN's model with a notification of the switch, whose delay is the way back to the source.

The limit of notifications stands at the switch instead of the destination, which changes no equation. A notification
is sent as its frame joins the queue, so that no wait in the queue is part of the delay.

With QCN's reaction each notification cuts by the same Gd |Fb|: alpha stays at 2 Gd |Fb|.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from penstock.theory.configuration import Configuration, UnsuitedScenarioError
from penstock.theory.models.base import ALIKE, Array, Value, namespace, stack
from penstock.theory.models.dcqcn import Dcqcn


@dataclass(frozen=True)
class FastCnp(Dcqcn):
    """Fast CNP with the reaction of DCQCN or of QCN.

    Attributes:
        cut: share of the rate that a notification cuts, Gd |Fb|; NaN where it is half of alpha.
    """

    cut: Value = np.nan

    scheme: ClassVar[str] = "fast-cnp"
    source: ClassVar[str] = "Zhu et al., SIGCOMM 2015, section 5, with the delay of a notification of the switch"
    omits: ClassVar[tuple[str, ...]] = ("Hyper-Active Increase", ALIKE)

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of Fast CNP."""
        word = configuration.parameters
        if word["reaction"] == "pause" or word["mark_ecn"] or word["proxy"] or word["marking"] == "pi":
            raise UnsuitedScenarioError(
                "the model of fast-cnp has notifications of the switch alone, by thresholds, which cut a rate",
                "set reaction to dcqcn or qcn, marking to threshold, and mark_ecn and proxy to false",
            )
        return super()._of(configuration)

    @classmethod
    def _parameters(cls, configuration: Configuration) -> dict[str, Any]:
        """Return the fields of the model, from a configuration."""
        number = configuration.number
        cut = number("fb") / number("gd_inverse") if configuration.parameters["reaction"] == "qcn" else np.nan
        return super()._parameters(configuration) | {"waits": False, "cut": cut}

    def start(self) -> Array:
        """Return an empty queue and line rate, which is the target; alpha is 1, or stays at twice the cut."""
        alpha = np.where(np.isnan(self.cut), 1.0, 2 * np.asarray(self.cut))
        return stack(0.0, self.line_rate_bps, self.line_rate_bps, alpha)

    def _rates(self, p: Array, frames: Value) -> tuple[Array, Array, Array, Array]:
        """Return DCQCN's rates; instead of the share of intervals with a notification, alpha follows twice the cut."""
        cuts, news, cycles, increase = super()._rates(p, frames)
        of_alpha = namespace(news).where(np.isnan(self.cut), news, 2 * np.asarray(self.cut))
        return cuts, of_alpha, cycles, increase


MODELS = (FastCnp,)
