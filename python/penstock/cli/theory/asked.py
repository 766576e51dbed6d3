"""The arguments of every command of `penstock theory`: a scenario, a scheme and settings. Declared once."""

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from penstock.cli import completion, options


@dataclass(frozen=True)
class Asked:
    """A scenario as the command line names it.

    Attributes:
        name: its file, or its name.
        scheme: the scheme, if not the scenario's.
        profile: the scheme's named settings.
        sets: ``KEY=VALUE`` of each ``--set``.
    """

    name: str
    scheme: str | None
    profile: str | None
    sets: list[str]


def finite(value: float | None) -> float | None:
    """Refuse an option's value that is infinite or no number."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number.")
    return value


def _asked(
    scenario: Annotated[str, options.SCENARIO],
    scheme: Annotated[
        str | None,
        typer.Option(metavar="NAME", autocompletion=completion.scheme, help="The scheme, instead of the scenario's."),
    ] = None,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", autocompletion=completion.profile, help="The scheme's named settings.")
    ] = None,
    sets: Annotated[list[str] | None, options.SETS] = None,
) -> Asked:
    return Asked(scenario, scheme, profile, sets or [])


def asks(command: Callable[..., None]) -> Callable[..., None]:
    """Replace a command's first parameter by the argument and the options of an :class:`Asked`."""
    shared = list(inspect.signature(_asked, eval_str=True).parameters.values())
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

    @functools.wraps(command)
    def asking(**given: Any) -> None:
        asked = _asked(**{parameter.name: given.pop(parameter.name) for parameter in shared})
        command(asked, **given)

    # The command line is made from this. By name alone: an option without default may follow one with.
    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*shared, *own)]
    asking.__signature__ = inspect.Signature(parameters, return_annotation=None)  # type: ignore[attr-defined]
    asking.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters} | {"return": None}
    return asking
