"""From command-line arguments to a scenario and to a folder for its results."""

import os
from collections.abc import Sequence
from difflib import get_close_matches
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


def is_scenario(name: str) -> bool:
    """Whether ``name`` is a file or a scenario's name, or looks like one rather than like a network interface."""
    return Path(name).is_file() or library.locate(name) is not None or "/" in name or name.endswith(".toml")


def check_folder(folder: Path) -> None:
    """Refuse a results folder that does not exist, with those that are there."""
    if folder.exists():
        return
    near = get_close_matches(folder.name, [path.name for path in _folders(folder.parent)], n=1, cutoff=0.5)
    among = [str(path) for path in _folders(folder.parent) or _folders(RESULTS)][:_FOLDERS_NAMED]
    hint = f"did you mean {folder.parent / near[0]}?" if near else f"there are {', '.join(among)}" if among else ""
    raise InputError(f"{folder}: no such folder", hint or "`penstock run` writes one, by default below results")


_FOLDERS_NAMED = 5
_DOCUMENTS = ("summary.json", "compare.json", "sweep.json")


def _folders(folder: Path) -> list[Path]:
    """Return the folders of results in a folder."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if any((path / name).is_file() for name in _DOCUMENTS))


def is_results(folder: Path) -> bool:
    """Return whether a path is that of a results folder of one run."""
    return (folder / "summary.json").is_file()


def assignments(
    given: Sequence[str], option: str = "--set ", *, example: str = "duration='1 s'", once: bool = False
) -> dict[str, str]:
    """Return the value of each key in ``KEY=VALUE``: the last of a key, unless each may be there only ``once``.

    ``option`` stands in front of each, with a blank behind; nothing where they are arguments.
    """
    found: dict[str, str] = {}
    for assignment in given:
        key, equals, value = (part.strip() for part in assignment.partition("="))
        if not equals or not key:
            raise InputError(
                f"{option}{assignment}: not of the form KEY=VALUE", f"write, for instance, {option}{example}"
            )
        if once and key in found:
            raise InputError(f"{key} has two values", "leave one of them out")
        found[key] = value
    return found


# The octets that the hidden name of an unfinished file adds to the final one.
_HIDDEN = 60
_LONGEST_NAME = 255

FIGURES = (".png", ".svg", ".pdf")
"""Endings of figures' names."""


def file_to_write(path: Path, endings: Sequence[str] = FIGURES, *, option: str = "--out") -> Path:
    """Return ``path``, if a file of that name can be written: asked before the work, not after it."""
    if path.suffix not in endings:
        ends = " or ".join([", ".join(endings[:-1]), endings[-1]] if len(endings) > 1 else endings)
        raise InputError(f"{option} {path}: unknown type of file", f"use a name that ends in {ends}")
    if path.is_dir():
        raise InputError(
            f"{option} {path}: is a folder, not a file", f"write, for instance, {path / ('out' + endings[0])}"
        )
    if len(os.fsencode(path.name)) + _HIDDEN > _LONGEST_NAME:
        raise InputError(f"{option} {path}: the name is too long", f"use at most {_LONGEST_NAME - _HIDDEN} octets")
    above = next(folder for folder in path.absolute().parents if folder.exists())
    if not above.is_dir():
        raise InputError(f"{option} {path}: {above} is a file, not a folder", "name another folder")
    if not os.access(above, os.W_OK | os.X_OK):
        raise InputError(f"{option} {path}: no permission to write in {above}", "name a folder in which you may write")
    return path


def _path(name: str) -> Path:
    path = Path(name)
    if path.exists():
        return path
    found = library.locate(name)
    if found is not None:
        return found
    raise InputError(f"{name}: neither a file nor a scenario of Penstock", library.hint(name, Path()))
