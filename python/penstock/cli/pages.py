"""The options of every command that draws: the size of its figures, and the texts on them. Declared once."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from penstock.cli.failure import InputError
from penstock.cli.options import with_parameters


def _inches(text: str) -> float:
    """Read a width in inches; their unit may stand behind it, as in `3.3in`."""
    number = text.strip().removesuffix("in").strip()
    try:
        return float(number)
    except ValueError:
        raise typer.BadParameter(f"'{text}' is not a number of inches: write, for instance, 3.3in.") from None


WIDTH = typer.Option(
    "--width", metavar="IN", parser=_inches, help="Width of the figure, inches.  [default: suits a screen]"
)
FONT_SIZE = typer.Option("--font-size", metavar="PT", help="Size of all type, points.")
TITLE = typer.Option("--title/--no-title", help="Whether a title stands above the panels.")

_HINT = "for a column of a paper, --width 3.3 --font-size 8"


def _options(
    width: Annotated[float | None, WIDTH] = None,
    font_size: Annotated[float | None, FONT_SIZE] = None,
    title: Annotated[bool, TITLE] = True,
) -> None:
    """Declare the options."""


def draws(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a page, and let it draw on that page."""
    shared = list(inspect.signature(_options, eval_str=True).parameters.values())
    own = list(inspect.signature(command, eval_str=True).parameters.values())

    @functools.wraps(command)
    def drawing(**given: Any) -> None:
        asked = [given.pop(parameter.name) for parameter in shared]
        if asked == [parameter.default for parameter in shared]:
            # Without figures matplotlib is not imported, which takes as long as a short run.
            command(**given)
            return
        from penstock._core import PenstockError
        from penstock.figures import Page, on

        try:
            page = Page(*asked)
        except PenstockError as error:
            raise InputError(f"--{str(error).replace('font_size', 'font-size').replace(' = ', ' ')}", _HINT) from error
        with on(page):
            command(**given)

    return with_parameters(drawing, [*own, *shared])
