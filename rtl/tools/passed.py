"""Whether the cores' tests have passed with the sources as they are.

    python tools/passed.py begin    before the tests: forgets the last pass, and notes what is tested
    python tools/passed.py end      after they passed: keeps the note, if the sources are still those that were tested
    python tools/passed.py ask      status 0 and one line if they have passed with these sources, 1 if they must run

The tests depend on these, compared by contents, not by times. They are every file of rtl/ that is not generated, the
Rust crates that the lock step is built with (from Cargo), and the pinned versions of the tools. Besides, they are the
versions of the compilers, and the variables of the environment that shorten or change a test. In continuous integration
the tests always run. Standard library only: it is asked before anything is installed.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

RTL = Path(__file__).resolve().parent.parent
ROOT = RTL.parent
PASSED = RTL / "build" / "passed"
BEGUN = RTL / "build" / "begun"

# Folders of generated files, below any of the folders.
_MADE = {RTL / "build", RTL / "cosim" / "target"}
_MADE_NAMES = {"__pycache__", ".mypy_cache", ".ruff_cache", "target"}
# Files outside of rtl/ and the crates: crates inherit from the root's Cargo.toml, make installs the pinned versions.
_FILES = ("Cargo.toml", "clippy.toml", "rustfmt.toml", "tools/check.sh", "requirements/rtl.txt")
# The Verilog tools are pinned, but for Icarus Verilog, which comes from the system.
_VERSIONS = (["rustc", "-vV"], ["c++", "--version"], ["iverilog", "-V"], [sys.executable, "--version"])
_VARIABLES = ("PENSTOCK_", "PROPTEST_")
_COMPILER_VARIABLES = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "RUSTFLAGS")


def main(arguments: list[str]) -> int:
    """Does one of the three, as the module's text says; gives the exit status."""
    match arguments:
        case ["begin"]:
            PASSED.unlink(missing_ok=True)
            BEGUN.parent.mkdir(exist_ok=True)
            BEGUN.write_text(digest() or "")
        case ["end"]:
            if BEGUN.read_text() == digest():
                BEGUN.rename(PASSED)
        case ["ask"]:
            if in_continuous_integration() or not PASSED.is_file() or PASSED.read_text() != digest():
                return 1
            print("rtl: not tested again: cores and tests passed, and nothing that they are built from has changed")
        case _:
            print("usage: passed.py begin|end|ask", file=sys.stderr)
            return 2
    return 0


def in_continuous_integration() -> bool:
    """Whether the environment says so: ``CI`` is set, and not to a word for no."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false", "no")


def digest() -> str | None:
    """A hash of all that the tests are made from; ``None`` if Cargo cannot say which crates those are."""
    folders = crates()
    if folders is None:
        return None
    total = hashlib.sha256()
    named = [ROOT / name for name in _FILES]
    for path in sorted({*named, *(path for folder in [RTL, *folders] for path in sources(folder))}):
        hash_entry(total, str(path.relative_to(ROOT)), path.read_bytes() if path.is_file() else b"absent")
    for command in _VERSIONS:
        hash_entry(total, command[0], version(command))
    for name, value in sorted(os.environ.items()):
        if name.startswith(_VARIABLES) or name in _COMPILER_VARIABLES:
            hash_entry(total, name, value.encode())
    return total.hexdigest()


def hash_entry(total: "hashlib._Hash", name: str, contents: bytes) -> None:
    """Adds ``contents`` under ``name``; lengths keep one from running into the next."""
    total.update(f"{name}\n{len(contents)}\n".encode())
    total.update(contents)


def sources(folder: Path) -> Iterator[Path]:
    """The files below ``folder`` that are not made."""
    for path in folder.iterdir():
        if path in _MADE or path.name in _MADE_NAMES:
            continue
        if path.is_dir():
            yield from sources(path)
        else:
            yield path


def crates() -> list[Path] | None:
    """Folders of the crates in this repository that the lock step is built with, outside of rtl/."""
    command = ["cargo", "metadata", "--locked", "--quiet", "--format-version", "1", "--manifest-path"]
    run = subprocess.run([*command, str(RTL / "cosim" / "Cargo.toml")], capture_output=True, check=False)
    if run.returncode != 0:
        return None
    packages = json.loads(run.stdout)["packages"]
    folders = {Path(package["manifest_path"]).parent for package in packages if package["source"] is None}
    return [folder for folder in folders if not folder.is_relative_to(RTL)]


def version(command: list[str]) -> bytes:
    """Return the version text of a tool; empty if it is not there."""
    try:
        return subprocess.run(command, capture_output=True, check=False).stdout
    except FileNotFoundError:
        return b""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
