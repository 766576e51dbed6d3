"""AF-QCN as a fluid: among flows alike none sends more than its share, and the queue's part of the feedback is left.

With Fb_AF = 0 a message says (1 - alpha) Fb_QCN; or all of it, or nothing, as the option ``below_share`` has it.
"""

from dataclasses import dataclass
from typing import ClassVar, Self

from penstock.theory.configuration import Configuration, UnsuitedScenarioError
from penstock.theory.models.qcn import Averaged


@dataclass(frozen=True)
class AfQcn(Averaged):
    """AF-QCN with flows that are all alike."""

    scheme: ClassVar[str] = "af-qcn"
    source: ClassVar[str] = "Alizadeh et al., SIGMETRICS 2011; the formula of AF-QCN with equal flows"
    omits: ClassVar[tuple[str, ...]] = (*Averaged.omits, "that estimates of flows' rates differ, and which they strike")

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of the scheme."""
        left = {"weighted": 1 - configuration.number("alpha"), "qcn": 1.0, "nothing": 0.0}
        share = left[str(configuration.parameters["below_share"])]
        if share == 0:
            raise UnsuitedScenarioError(
                "flows at their fair share get no message, whatever the queue: there is no equilibrium",
                'set schemes.af-qcn.below_share to "weighted" or "qcn", and alpha below 1',
            )
        parameters = cls._parameters(configuration)
        return cls(**parameters | {"gain_per_octet": parameters["gain_per_octet"] * share})


MODELS = (AfQcn,)
