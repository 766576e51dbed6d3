"""Fluid models of the schemes.

A scheme names the module of its models in its ``INFO``. The module lists them in ``MODELS``, the nearest to the
algorithm first.
"""

from importlib import import_module

from penstock.catalogue import schemes
from penstock.theory.configuration import Configuration, UnsuitedScenarioError
from penstock.theory.models.base import FluidModel
from penstock.theory.models.without import WITHOUT

MODELS: tuple[type[FluidModel], ...] = tuple(
    model
    for scheme in schemes()
    if scheme["fluid"]
    for model in import_module(f"penstock.theory.models.{scheme['fluid']}").MODELS
)
"""All models; of a scheme's, the first is the nearest to the algorithm."""

DELAYED: dict[str, type[FluidModel]] = {model.scheme: model for model in reversed(MODELS) if model.delayed}
"""The model of each scheme that has a delay, for questions of stability."""


def kind_of(scheme: str) -> type[FluidModel]:
    """Return the model of a scheme that has a delay.

    Raises:
        UnsuitedScenarioError: the scheme has none.
    """
    if scheme in WITHOUT:
        raise UnsuitedScenarioError(f"there is no fluid model of {scheme}: {WITHOUT[scheme]}", "choose another scheme")
    if scheme not in DELAYED:
        raise UnsuitedScenarioError(f"there is no fluid model of {scheme}", f"use one of {', '.join(sorted(DELAYED))}")
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
