"""Writes the hashes of the pinned Python packages into requirements/*.txt, so that pip installs those and no others.

    python tools/pin_hashes.py             after a version has changed; needs uv (pip install uv) and the package index
    python tools/pin_hashes.py --check     says which pins have no hash, without either

A file keeps its comment at the top and its pins, a line each; below each pin stand the hashes of all files that the
index has of this version, for every platform. `make` installs with `--require-hashes`.
"""

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "requirements"
PIN = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!_]+")
HASH = "--hash=sha256:"


def main() -> int:
    """Writes the hashes, or checks that they are there; the exit status says whether one is missing."""
    check = sys.argv[1:] == ["--check"]
    for path in sorted(FOLDER.glob("*.txt")):
        if not check:
            path.write_text(hashed(path.read_text(encoding="utf-8")), encoding="utf-8")
    missing = {path.name: bare(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.txt"))}
    for name, pins in missing.items():
        for pin in pins:
            print(f"requirements/{name}: {pin} has no hash: python tools/pin_hashes.py", file=sys.stderr)
    return 1 if any(missing.values()) else 0


def hashed(text: str) -> str:
    """Returns a file of pins with the hashes that the index has."""
    comment = [line for line in text.splitlines() if line.startswith("#")]
    pins = [line.split()[0] for line in text.splitlines() if PIN.match(line)]
    # The files are whole already: a package that they do not pin must not come in.
    command = ["uv", "pip", "compile", "--quiet", "--no-deps", "--generate-hashes", "--no-header", "--no-annotate", "-"]
    done = subprocess.run(command, input="\n".join(pins), capture_output=True, text=True, check=True)
    return "\n".join([*comment, done.stdout])


def bare(text: str) -> list[str]:
    """Returns the pins of a file without a hash, and lines that pin nothing."""
    entries = [entry for entry in text.replace("\\\n", " ").splitlines() if entry.strip() and entry[0] != "#"]
    return [entry.split()[0] for entry in entries if HASH not in entry or not PIN.match(entry)]


if __name__ == "__main__":
    sys.exit(main())
