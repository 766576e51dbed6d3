"""`penstock new`: a scenario to start from."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from penstock.cli.failure import InputError, say
from penstock.cli.requests import FabricOptions, NewOptions
from penstock.scenario import Scenario


def write_new(given: NewOptions) -> None:
    """Write a commented scenario to the file ``NAME.toml``, and say how it runs."""
    name = given.name
    path = Path(name if name.endswith(".toml") else f"{name}.toml")
    # The program itself has read the whole text before it stands in a file.
    scenario = _fabric(given, path.stem) if given.fabric else _any(given, path.stem)
    if path.name in (".toml", "..toml") or path.is_dir():
        raise InputError(f"{name}: not a file name", "use, for instance, four-to-one")
    if not path.parent.is_dir():
        raise InputError(f"{path.parent}: the folder does not exist", "create it first, or leave it out")
    if path.exists() and not given.force:
        raise InputError(f"{path} exists", "replace it with --force, or take another name")
    scenario.save(path)
    typer.echo(path)
    say(f"run it with: penstock run {path}")
    if given.fabric:
        say(f"see it with: penstock show {path}")


def _any(given: NewOptions, name: str) -> Scenario:
    changed = [f"--{key}" for key, value in _of_fabric(given).items() if value != getattr(FabricOptions, key)]
    if changed:
        raise InputError(f"{', '.join(changed)}: options of --fabric", "add --fabric, or leave them out")
    return Scenario.new(name, scheme=given.scheme or "qcn", topology=given.topology)


def _fabric(given: NewOptions, name: str) -> Scenario:
    from penstock.fabrics import fabric_template

    text = fabric_template(given.scheme or "dcqcn", **_of_fabric(given))
    return Scenario.from_toml(text, origin=name, name=name)


def _of_fabric(given: NewOptions) -> dict[str, Any]:
    return {key: value for key, value in asdict(given).items() if key in FabricOptions.__dataclass_fields__}
