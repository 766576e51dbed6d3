"""The contents of the `core.toml` files: the cores, how each is built, and what is proved of it.

`python tools/cores.py COMMAND NAME...`, a command of make as report or prove, checks names alone, with nothing but
Python: make does that before it installs anything. With `tests` it prints the options by which cargo runs the tests of
these cores, with `folders` the cores that these tests need.
"""

import difflib
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RTL = Path(__file__).resolve().parent.parent
BUILD = RTL / "build"
# Sources that `make` makes; a core.toml names them as `generated`.
GENERATED = BUILD / "generated"
TOOLS = BUILD / "venv" / "bin"
# Words that may stand among the names.
OPTIONS = {
    "report": ("--write",),
    "asic": ("--write",),
    "mutate": ("--quick",),
    "planted": ("--write",),
    "coverage": ("--write",),
}


@dataclass(frozen=True)
class Build:
    """A core with one set of parameters."""

    name: str
    top: str
    parameters: dict[str, str]
    sources: tuple[Path, ...]
    clock_mhz: float
    report: bool
    cosim: bool
    placer: str
    # The ECP5 on which it is placed.
    device: str
    # A release has it as plain Verilog whatever others of its top there are.
    release: bool = False
    # For simulations for speed.
    fast: bool = False
    # For tests of `make operations` and experiments alone.
    long: bool = False
    # Widths of penstock_pkg that are not its own: PENSTOCK_DATA_W, PENSTOCK_RATE_W.
    defines: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Proof:
    """The proofs of a core: the assertions in its source, from any state that they allow."""

    name: str
    top: str
    parameters: dict[str, str]
    sources: tuple[Path, ...]
    depth: int
    mode: str
    # Modules within it whose outputs may be anything: the assertions hold whatever these do.
    anything: tuple[str, ...]
    # Clocks from the reset within which everything that its source covers is reached.
    reach: int
    # As a build's.
    defines: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Core:
    """A folder with a `core.toml`."""

    folder: Path
    title: str
    says: str
    source: str
    own_sources: tuple[Path, ...]
    # Folders of the cores that it needs, and sources that make makes.
    needs: tuple[str, ...] = ()
    generated: tuple[Path, ...] = ()
    # Its sources are mutated.
    mutation: bool = False
    builds: tuple[Build, ...] = field(default=())
    proofs: tuple[Proof, ...] = field(default=())


def all_cores() -> list[Core]:
    """Return all cores, by folder."""
    return [_core(path.parent) for path in sorted(RTL.glob("*/core.toml"))]


def options(build: Build | Proof) -> list[str]:
    """Return the parameters and widths of a build as Verilator, slang and Yosys with slang take them."""
    parameters = [f"-G{name}={value}" for name, value in build.parameters.items()]
    return [*parameters, *(f"-D{name}={value}" for name, value in build.defines.items())]


def place_of(text: str, before: str, where: str) -> tuple[int, int]:
    """Return where a text stands in another one, its blanks aside; end with a message if that is not once."""
    pattern = r"\s+".join(re.escape(word) for word in before.split())
    places = list(re.finditer(pattern, text))
    if len(places) != 1:
        raise SystemExit(f"{where} has {len(places)} times, not once: {before}")
    return places[0].span()


def builds() -> list[Build]:
    """Return every build of every core."""
    return [build for core in all_cores() for build in core.builds]


def known(command: str) -> dict[str, str]:
    """Return what a command of make can be asked for, each with the folder of its core."""
    if command in ("report", "asic"):
        return {build.name: core.folder.name for core in all_cores() for build in core.builds if build.report}
    if command == "prove":
        return {proof.name: core.folder.name for core in all_cores() for proof in core.proofs}
    if command in ("mutate", "planted", "coverage"):
        return {core.folder.name: core.folder.name for core in all_cores() if core.mutation}
    if command == "test":
        return {folder: folder for folder in _tests()}
    if command == "export":
        return {core.folder.name: core.folder.name for core in all_cores()}
    raise ValueError(command)


def wanted(command: str, names: list[str]) -> set[str]:
    """Return the names that were asked for, all if none was; a core's folder stands for all that it has.

    Ends with a message and status 2 if a name is not known.
    """
    there = known(command)
    found: set[str] = set()
    for name in [name for name in names if name not in OPTIONS.get(command, ())]:
        of_name = {each for each, folder in there.items() if name in (each, folder)}
        if not of_name:
            sys.stderr.write(f"CORES: {_unknown(command, name, there)}\n")
            sys.exit(2)
        found |= of_name
    return found or set(there)


def _tests() -> dict[str, list[str]]:
    """Return the tests of each core, by its folder: those of rtl/cosim that lie in it."""
    tests: dict[str, list[str]] = {}
    for each in tomllib.loads((RTL / "cosim" / "Cargo.toml").read_text())["test"]:
        folder = Path(each["path"]).parts[1]
        tests.setdefault(folder, []).append(each["name"])
    return tests


def _unknown(command: str, name: str, there: dict[str, str]) -> str:
    """Return what is wrong with a name, and what would be right."""
    if any(name == core.folder.name for core in all_cores()):
        return f"nothing of the core {name} is part of make {command}"
    if near := difflib.get_close_matches(name, {*there, *there.values()}, 1):
        return f"make {command} knows no {name}; did you mean {near[0]}?"
    return f"make {command} knows no {name}; it knows {', '.join(sorted(there))}"


def _core(folder: Path) -> Core:
    said = _read(folder)
    sources = _sources(folder)
    made = tuple(
        Build(
            name=each["name"],
            top=each["top"],
            parameters=each.get("parameters", {}),
            sources=sources,
            clock_mhz=each.get("clock_mhz", 125.0),
            report=each.get("report", True),
            cosim=each.get("cosim", True),
            placer=each.get("placer", "heap"),
            device=each.get("device", "25k"),
            release=each.get("release", False),
            fast=each.get("fast", False),
            long=each.get("long", False) or each.get("experiment", False),
            defines=each.get("defines", {}),
        )
        for each in _with_widths(said.get("build", []))
    )
    proofs = tuple(
        Proof(
            name=each["name"],
            top=each["top"],
            parameters=each.get("parameters", {}),
            sources=sources,
            depth=each.get("depth", 10),
            mode=each.get("mode", "prove"),
            anything=tuple(each.get("anything", [])),
            reach=each.get("reach", 20),
            defines=each.get("defines", {}),
        )
        for each in _with_widths(said.get("proof", []))
    )
    own = tuple(folder / source for source in said["sources"])
    return Core(
        folder,
        said["title"],
        said["says"],
        said.get("source", ""),
        own,
        needs=tuple(said.get("needs", [])),
        generated=tuple(GENERATED / source for source in said.get("generated", [])),
        mutation="mutation" in said,
        builds=made,
        proofs=proofs,
    )


def _with_widths(said: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return builds or proofs and, behind each, those of its other widths, whose names end with the width."""
    found = []
    for each in said:
        found.append(each)
        for width in each.get("widths", []):
            defines = {**each.get("defines", {}), "PENSTOCK_DATA_W": str(width)}
            found.append({**each, "name": f"{each['name']}_{width}", "defines": defines, "release": False})
    return found


def _sources(folder: Path) -> tuple[Path, ...]:
    """Return the sources of a core after those of what it needs, each once."""
    said = _read(folder)
    found: dict[Path, None] = {}
    for need in said.get("needs", []):
        found.update(dict.fromkeys(_sources(RTL / need)))
    found.update(dict.fromkeys(GENERATED / source for source in said.get("generated", [])))
    found.update(dict.fromkeys(folder / source for source in said["sources"]))
    return tuple(found)


def _read(folder: Path) -> dict[str, Any]:
    path = folder / "core.toml"
    try:
        return tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as wrong:
        raise SystemExit(f"{path}: {wrong}") from wrong


if __name__ == "__main__":
    if sys.argv[1] == "tests":
        print(*(f"--test {test}" for name in sys.argv[2:] for test in _tests().get(name, [])))
    elif sys.argv[1] == "folders":
        # A bench may have benches of other cores in it, which compile with these alone.
        folders = [folder for name in sys.argv[2:] for folder in (name, *_read(RTL / name).get("benches", []))]
        print(",".join(dict.fromkeys(folders)))
    else:
        wanted(sys.argv[1], sys.argv[2:])
