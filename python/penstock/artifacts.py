"""Artifacts: results folders as one archive that says what made them, and whether a repetition gives the same.

    README.md     what it holds, and how to repeat it
    lock.json     versions of Penstock, Python and its packages, and the fingerprint of each run
    SHA256SUMS    a hash of every other file, as sha256sum writes it
    results/      the folders, as they are

The same folders give the same octets, whenever they are packed.
"""

import json
import platform
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, requires, version
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any

from penstock import __version__
from penstock._core import PenstockError
from penstock.catalogue import is_location
from penstock.errors import ArgumentError
from penstock.files import whole
from penstock.result import Result
from penstock.scenario import Scenario

__all__ = ["Checked", "check", "pack"]

_LOCK, _SUMS, _README, _RESULTS = "lock.json", "SHA256SUMS", "README.md", "results"
_DATE = (1980, 1, 1, 0, 0, 0)
"""The time of every file: an archive has no time of its making."""

_README_TEXT = """# {names}

Results of [Penstock](https://pypi.org/project/penstock/) {version}: {runs} of these scenarios.

{questions}

## Repeat it

```
pip install penstock=={version}
penstock artifact check {archive}
```

compares every file with its hash, and runs each scenario again with its seed. Results are the same to the last bit on
every machine. One run alone, from its folder: `penstock run scenario.toml`. `lock.json` has the
versions of all packages.
"""


@dataclass(frozen=True)
class Checked:
    """What a check of an artifact found.

    Attributes:
        files: how many files have their hash.
        changed: files that do not have it, lack one, or are not there.
        repeated: runs by their folder, with nothing where a repetition gave the same, or else what was otherwise; empty
            where no repetition was asked for.
    """

    files: int
    changed: tuple[str, ...]
    repeated: Mapping[str, str]

    @property
    def same(self) -> bool:
        """Whether everything is as it was."""
        return not self.changed and not any(self.repeated.values())


def pack(folders: Sequence[str | PathLike[str]], out: str | PathLike[str]) -> Path:
    """Write results folders into an archive.

        >>> penstock.artifacts.pack(["results/ten-gig-compare"], "artifact.zip")

    Args:
        folders: runs, comparisons, sweeps, arenas or studies: all that is in them is packed.
        out: the archive, a .zip file.

    Raises:
        ArgumentError: there is no folder, two have one name, or one has no results of a run.
        OSError: a file cannot be read or written.
    """
    paths = [Path(folder) for folder in folders]
    names = [path.resolve().name for path in paths]
    if not paths:
        raise ArgumentError("no folder to pack", "name a results folder")
    for path, name in zip(paths, names, strict=True):
        if not path.is_dir():
            raise ArgumentError(f"{path}: no such folder", "`penstock run` writes one, by default below results")
        if names.count(name) > 1:
            raise ArgumentError(f"two folders have the name {name}", "rename one of them")
    found = {
        f"{_RESULTS}/{name}/{file.relative_to(path).as_posix()}": file
        for path, name in zip(paths, names, strict=True)
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }
    runs = {
        str(PurePosixPath(entry).parent): Result.open(file.parent)
        for entry, file in found.items()
        if file.name == "summary.json" and (file.parent / "scenario.toml").is_file()
    }
    if not found:
        raise ArgumentError(f"{', '.join(map(str, paths))}: nothing to pack", "name a results folder")
    questions = dict.fromkeys((run.summary_without_flows["scenario"], run.question) for run in runs.values())
    lock = {
        "penstock": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": _packages(),
        "runs": {
            name: {
                "fingerprint": run.fingerprint(),
                "scenario": run.summary_without_flows["scenario"],
                "seed": run.summary_without_flows["seed"],
                "interrupted": run.interrupted,
            }
            for name, run in runs.items()
        },
    }
    readme = _README_TEXT.format(
        names=", ".join(names),
        version=__version__,
        runs=f"{len(runs)} runs" if len(runs) != 1 else "a run",
        questions="\n".join(f"- `{scenario}`: {question}" for scenario, question in questions) or "- see the folders",
        archive=Path(out).name,
    )
    texts = {_README: readme.encode(), _LOCK: (json.dumps(lock, indent=2) + "\n").encode()}
    sums = {name: sha256(text).hexdigest() for name, text in texts.items()}
    with whole(Path(out)) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(_entry(name), text)
        for name, file in found.items():
            octets = file.read_bytes()
            sums[name] = sha256(octets).hexdigest()
            archive.writestr(_entry(name), octets)
        archive.writestr(_entry(_SUMS), "".join(f"{digest}  {name}\n" for name, digest in sums.items()))
    return Path(out)


def check(
    archive: str | PathLike[str], *, repeat: bool = True, progress: Callable[[str, str], None] | None = None
) -> Checked:
    """Compare an archive with its hashes, and run its scenarios again.

    No code of an archive is run: a scheme that a scenario names by its file is not repeated, and counts as otherwise.

    Args:
        archive: what :func:`pack` wrote.
        repeat: whether to run each run again; those that were interrupted are left out.
        progress: called with each run and what was otherwise, if anything.

    Raises:
        ArgumentError: there is no such file, or it is no such archive.
        OSError: it cannot be read.
    """
    if not Path(archive).is_file():
        raise ArgumentError(f"{archive}: no such file", "`penstock artifact write` makes one")
    try:
        with zipfile.ZipFile(archive) as packed:
            held = {name for name in packed.namelist() if not name.endswith("/")}
            sums = dict(_sums(packed.read(_SUMS).decode()))
            lock = json.loads(packed.read(_LOCK))
            right = {name for name in held & sums.keys() if sha256(packed.read(name)).hexdigest() == sums[name]}
            changed = sorted((held | sums.keys()) - right - {_SUMS})
            repeated = {}
            for name, run in lock["runs"].items() if repeat else ():
                if run["interrupted"] or f"{name}/scenario.toml" not in right:
                    continue
                repeated[name] = _otherwise(packed.read(f"{name}/scenario.toml").decode(), run)
                if progress is not None:
                    progress(name, repeated[name])
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ArgumentError(f"{archive}: no artifact ({error})", "`penstock artifact write` makes one") from None
    return Checked(len(right), tuple(changed), repeated)


def _otherwise(text: str, run: Mapping[str, Any]) -> str:
    """Run a scenario again, in memory; return what is otherwise, or nothing."""
    if any(is_location(scheme) for scheme in _schemes(tomllib.loads(text))):
        return "its scheme is a file, which is not run"
    try:
        again = Scenario.from_toml(text, name=run["scenario"]).run(seed=run["seed"])
    except PenstockError as error:
        return str(error)
    return "" if again.fingerprint() == run["fingerprint"] else "other results"


def _schemes(value: object) -> Iterator[str]:
    """Give the schemes that a document names."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key == "scheme" and isinstance(item, str):
                yield item
            elif key == "schemes" and isinstance(item, Mapping):
                yield from item
            yield from _schemes(item)
    elif isinstance(value, list):
        for item in value:
            yield from _schemes(item)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _sums(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        digest, _, name = line.partition("  ")
        yield name, digest


def _packages() -> dict[str, str]:
    """Return the packages that Penstock asks for and that are installed, with their versions."""
    found = {}
    for requirement in requires("penstock") or ():
        name = requirement.partition(";")[0].strip()
        name = name[: next((i for i, c in enumerate(name) if not (c.isalnum() or c in "-_.")), len(name))]
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return dict(sorted(found.items()))
