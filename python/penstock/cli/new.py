"""`penstock new`: a scenario to start from."""

from difflib import get_close_matches
from pathlib import Path

import typer

from penstock.catalogue import schemes
from penstock.cli.failure import InputError, say
from penstock.scenario import Scenario
from penstock.starting import TOPOLOGIES, template


def write_new(name: str, *, scheme: str, topology: str, force: bool) -> None:
    """Write a commented scenario to the file ``NAME.toml``, and say how it runs."""
    known = [about["name"] for about in schemes()]
    if scheme not in known:
        near = get_close_matches(scheme, known, n=1, cutoff=0.3)
        hint = f"did you mean {near[0]}?" if near else f"the schemes are {', '.join(known)}"
        raise InputError(f"--scheme {scheme}: no such scheme", hint)
    if topology not in TOPOLOGIES:
        raise InputError(f"--topology {topology}: no such topology to start from", f"one of {', '.join(TOPOLOGIES)}")
    path = Path(name if name.endswith(".toml") else f"{name}.toml")
    if path.name in (".toml", "..toml") or path.is_dir():
        raise InputError(f"{name}: no name of a file", "for instance four-to-one")
    if not path.parent.is_dir():
        raise InputError(f"{path.parent}: no such folder", "make it first, or leave it out")
    if path.exists() and not force:
        raise InputError(f"{path} exists", "replace it with --force, or take another name")
    # Whatever stands in the file has been read by the program itself.
    Scenario.from_toml(template(scheme, topology), origin=str(path), name=path.stem).save(path)
    typer.echo(path)
    say(f"run it with: penstock run {path}")
