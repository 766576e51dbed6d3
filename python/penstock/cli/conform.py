"""`penstock conform`: whether a scheme of a file keeps the rules of the contract."""

import typer

from penstock import ScenarioError
from penstock.catalogue import about, is_location
from penstock.cli.failure import FAILED, InputError, say
from penstock.scheme_class import check_scheme


def conform_one(location: str) -> None:
    """Check a scheme; status 1 if it breaks a rule.

    Raises:
        InputError: the text is no location.
        ArgumentError: there is no such scheme, or it is refused.
    """
    if not is_location(location):
        raise InputError(f"{location}: is no location of a scheme", "as in ./libmine.so or my.py:MyScheme")
    name = about(location)["name"]
    try:
        check_scheme(location)
    except ScenarioError as error:
        place = error.file if error.line is None else f"{error.file}:{error.line}"
        say(f"{place}: {error.message}")
        raise typer.Exit(FAILED) from None
    typer.echo(f"{name} keeps the rules of the contract")
