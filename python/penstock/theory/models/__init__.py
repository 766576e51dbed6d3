"""Fluid models of the schemes."""

from penstock.theory.configuration import Configuration, Unsuited
from penstock.theory.models.base import FluidModel
from penstock.theory.models.bcn import Bcn
from penstock.theory.models.dcqcn import Dcqcn
from penstock.theory.models.fecn import Fecn
from penstock.theory.models.qcn import Averaged
from penstock.theory.models.smcc import Smcc

DELAYED: dict[str, type[FluidModel]] = {model.scheme: model for model in (Averaged, Bcn, Smcc, Fecn, Dcqcn)}
"""Of each scheme the model that has a delay: what stability is asked of."""


def model_of(configuration: Configuration) -> FluidModel:
    """Return the model with delay of a configuration's scheme.

    Raises:
        Unsuited: the scheme has none, or it leaves out what the configuration asks for.
    """
    try:
        kind = DELAYED[configuration.scheme]
    except KeyError:
        raise Unsuited(f"{configuration.scheme} has no fluid model", f"{', '.join(DELAYED)} have one") from None
    return kind.of(configuration)
