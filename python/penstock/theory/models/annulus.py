"""Annulus as a fluid: where the near loop holds, QCN's averaged model with the delay to the near queue and back.

The lower of QCN's rate and DCTCP's window holds. Below DCTCP's threshold no frame is marked: the window grows until it
limits nothing, and QCN's rate alone is left. So the model is QCN's if the queue's equilibrium lies below K, and if the
bottleneck is among the first queues of the path. The delay of the path behind the bottleneck is in no equation.
"""

from dataclasses import dataclass
from typing import ClassVar, Self

from penstock.quantity_text import octets
from penstock.theory.configuration import Configuration, UnsuitedScenarioError
from penstock.theory.models.qcn import Averaged


@dataclass(frozen=True)
class Annulus(Averaged):
    """Annulus' near loop."""

    scheme: ClassVar[str] = "annulus"
    source: ClassVar[str] = "Alizadeh et al., SIGMETRICS 2011, for the near loop of Saeed et al., SIGCOMM 2020"
    omits: ClassVar[tuple[str, ...]] = (*Averaged.omits, "DCTCP's window, which a queue beyond K cuts")

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of Annulus whose bottleneck is near."""
        number, word = configuration.number, configuration.parameters
        if configuration.queues_before >= number("near_hops"):
            raise UnsuitedScenarioError(
                f"{configuration.queues_before} queues are before the bottleneck, and near_hops is "
                f"{number('near_hops'):g}: it sends no messages, and DCTCP alone holds",
                "take scheme dctcp, or a larger near_hops",
            )
        model = cls(**cls._parameters(configuration))
        rest = float(model.state_at_rest()[0])
        if word["end_to_end"] == "dctcp" and rest >= number("k"):
            raise UnsuitedScenarioError(
                f"DCTCP marks from {octets(number('k'))} on, and QCN would rest at {octets(rest)}: both loops act",
                "set k above that, or end_to_end to none",
            )
        return model


MODELS = (Annulus,)
