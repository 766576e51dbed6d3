"""Scenarios by name: those below ./scenarios, and those that come with Penstock.

Nothing heavy is imported here: the shell asks for names at each press of a key.
"""

from difflib import get_close_matches
from pathlib import Path

HERE = Path("scenarios")
"""The reader's own: they come first."""

OURS = Path(__file__).parent / "scenarios"
"""Those of the package. The folder ``scenarios`` at the top of a checkout is a link to it."""


def names(folder: Path) -> list[str]:
    """Return the names of the scenario files in ``folder`` and below, sorted."""
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.toml"))


def known() -> dict[str, Path]:
    """Return each name with its file: one's own first, then those of the package that no file of one's own hides."""
    found = {name: HERE / f"{name}.toml" for name in names(HERE)} if HERE.is_dir() else {}
    return found | {name: OURS / f"{name}.toml" for name in names(OURS) if name not in found}


def locate(name: str) -> Path | None:
    """Return the file that a name means, with or without ``.toml``; ``None`` if there is none."""
    for folder in (HERE, OURS):
        below = folder / name
        for candidate in (below, below.with_name(f"{below.name}.toml")):
            if name and candidate.is_file():
                return candidate
    return None


def near(name: str) -> str | None:
    """Return the name that is most like ``name``; the last part of a name alone is what people remember."""
    words = {word: full for full in known() for word in (full, full.rpartition("/")[2])}
    matches = get_close_matches(name.removesuffix(".toml"), words, n=1, cutoff=0.65)
    return words[matches[0]] if matches else None


def hint(name: str, folder: Path) -> str:
    """Return what to write instead of a name that is neither a file, seen from ``folder``, nor a scenario."""
    path = folder / name
    files = {file.stem: str(Path(name).with_stem(file.stem)) for file in path.parent.glob("*.toml")}
    matches = get_close_matches(path.stem, files, n=1, cutoff=0.65)
    found = files[matches[0]] if matches else near(name)
    return f"did you mean {found}?" if found else "`penstock scenarios` lists those that have a name"
