"""The numbers of finished runs in the folder of a what-if: a run that has ended is kept at once, and is not run again.

``runs.jsonl`` has a line for each run, which begins with a hash of all that the run follows from: scenario, seed, port
and version. So runs are found again whatever ended the call before, and more seeds or trials run what is missing. A
line that was cut off by a kill counts as none, as in the journal of a sweep.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from penstock import __version__
from penstock.what_ifs.measuring import RunNumbers

JOURNAL = "runs.jsonl"


class KeptRuns:
    """Finished runs by their keys, and the file that has them.

    Args:
        folder: the folder of the what-if; ``None`` keeps nothing.
        resume: whether runs that are there count.
    """

    def __init__(self, folder: Path | None, *, resume: bool) -> None:
        self._path = None if folder is None else folder / JOURNAL
        # As they are in the file: lines of another version, with other keys, are never made to runs.
        self._found: dict[str, dict[str, Any]] = {}
        if self._path is None:
            return
        whole = list(_lines(self._path)) if resume and self._path.is_file() else []
        self._found = {entry["key"]: entry["run"] for _, entry in whole}
        # The remainder of a line goes, so that the next one begins on its own.
        self._path.write_bytes(b"".join(line for line, _ in whole))

    def get(self, key: str) -> RunNumbers | None:
        """Return a finished run; ``None`` if it is not there."""
        run = self._found.get(key)
        return None if run is None else RunNumbers(**{**run, "lines": _as_pairs(run["lines"])})

    def keep(self, key: str, run: RunNumbers) -> None:
        """Keep a finished run.

        Raises:
            OSError: it cannot be written.
        """
        self._found[key] = asdict(run)
        if self._path is not None:
            with self._path.open("ab") as file:
                file.write(json.dumps({"key": key, "run": asdict(run)}, separators=(",", ":")).encode() + b"\n")


def key_of(toml: str, seed: int, port: str | None, *, lines: bool) -> str:
    """Return the hash of all that a run's numbers follow from.

    Args:
        toml: the scenario.
        seed: its seed.
        port: the port by whose queue it is judged.
        lines: whether the lines of its figures are kept.
    """
    return hashlib.sha256(json.dumps([__version__, toml, seed, port, lines]).encode()).hexdigest()


def _lines(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Give the whole lines of a journal, and what they say."""
    for line in path.read_bytes().splitlines(keepends=True):
        try:
            entry = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("key"), str) and isinstance(entry.get("run"), dict):
            yield line, entry


def _as_pairs(lines: Mapping[str, Sequence[list[float]]]) -> dict[str, tuple[list[float], list[float]]]:
    return {name: (x, y) for name, (x, y) in lines.items()}
