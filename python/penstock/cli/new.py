"""`penstock new`: a scenario to start from."""

from pathlib import Path

import typer

from penstock.cli.failure import InputError, say
from penstock.scenario import Scenario


def write_new(name: str, *, scheme: str, topology: str, force: bool) -> None:
    """Write a commented scenario to the file ``NAME.toml``, and say how it runs."""
    path = Path(name if name.endswith(".toml") else f"{name}.toml")
    # The program itself has read the whole text before it stands in a file.
    scenario = Scenario.new(path.stem, scheme=scheme, topology=topology)
    if path.name in (".toml", "..toml") or path.is_dir():
        raise InputError(f"{name}: not a file name", "use, for instance, four-to-one")
    if not path.parent.is_dir():
        raise InputError(f"{path.parent}: the folder does not exist", "create it first, or leave it out")
    if path.exists() and not force:
        raise InputError(f"{path} exists", "replace it with --force, or take another name")
    scenario.save(path)
    typer.echo(path)
    say(f"run it with: penstock run {path}")
