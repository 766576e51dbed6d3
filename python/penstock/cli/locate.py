"""From what a person types to a scenario and to a folder for its results."""

from pathlib import Path

from penstock import library
from penstock.cli.failure import InputError
from penstock.scenario import Scenario

RESULTS = Path("results")


def find(name: str, sets: list[str]) -> Scenario:
    """Read the scenario that ``name`` means, a path or a name, and apply each ``KEY=VALUE``."""
    scenario = Scenario.load(_path(name))
    for key, value in assignments(sets).items():
        scenario.set(key, value)
    return scenario


def assignments(sets: list[str]) -> dict[str, str]:
    """Return what each ``KEY=VALUE`` of ``--set`` sets, the last of a key."""
    found = {}
    for assignment in sets:
        key, equals, value = assignment.partition("=")
        if not equals or not key.strip():
            raise InputError(f"--set {assignment}: no KEY=VALUE", "for instance --set duration='1 s'")
        found[key.strip()] = value.strip()
    return found


def _path(name: str) -> Path:
    path = Path(name)
    if path.exists():
        return path
    found = library.locate(name)
    if found is not None:
        return found
    near = library.near(name)
    hint = f"did you mean {near}?" if near else "`penstock scenarios` lists those that have a name"
    raise InputError(f"{name}: no such file, and no scenario of that name", hint)
