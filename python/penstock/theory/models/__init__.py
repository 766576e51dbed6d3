"""Fluid models of the schemes."""

from penstock.theory.configuration import Configuration, UnsuitedScenarioError
from penstock.theory.models.base import FluidModel
from penstock.theory.models.bcn import Bcn
from penstock.theory.models.dcqcn import Controlled, Dcqcn
from penstock.theory.models.dctcp import Dctcp
from penstock.theory.models.fecn import Fecn
from penstock.theory.models.qcn import Averaged, Printed, Sampled
from penstock.theory.models.rocc import Rocc
from penstock.theory.models.smcc import Smcc
from penstock.theory.models.timely import Patched, Timely

MODELS: tuple[type[FluidModel], ...] = (
    *(Sampled, Averaged, Printed, Bcn, Smcc, Fecn),
    *(Dcqcn, Controlled, Dctcp, Rocc, Timely, Patched),
)
"""All models; of a scheme's, the first is the nearest to the algorithm."""

DELAYED: dict[str, type[FluidModel]] = {
    model.scheme: model for model in (Averaged, Bcn, Smcc, Fecn, Dcqcn, Dctcp, Rocc, Timely)
}
"""The model of each scheme that has a delay, for questions of stability."""


def kind_of(scheme: str) -> type[FluidModel]:
    """Return the model of a scheme that has a delay.

    Raises:
        UnsuitedScenarioError: the scheme has none.
    """
    if scheme not in DELAYED:
        raise UnsuitedScenarioError(f"there is no fluid model of {scheme}", f"use one of {', '.join(DELAYED)}")
    return DELAYED[scheme]


def model_of(configuration: Configuration, form: str | None = None) -> FluidModel:
    """Return the model of a configuration's scheme that has the name ``form``, or the one with delay.

    Raises:
        UnsuitedScenarioError: the scheme has none, or it leaves out what the configuration asks for.
    """
    scheme = configuration.scheme
    delayed = kind_of(scheme)
    if form is None:
        return delayed.of(configuration)
    forms = {model.form: model for model in MODELS if model.scheme == scheme}
    if form not in forms:
        raise UnsuitedScenarioError(f"{scheme} has no model {form!r}", f"its models are {', '.join(forms)}")
    return forms[form].of(configuration)
