"""The journal of an unfinished store, read: finished runs whose tables are not written yet, as tables all the same."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from penstock.data_frames import RUNS
from penstock.sweeps.axes import Key
from penstock.sweeps.store import JOURNAL, MANIFEST, design_of, file_name, front, part_of, write_table
from penstock.sweeps.tables import Record, schema

_Row = tuple[Sequence[Any], str, Record]
"""The values in front, the hash and the record of a run."""


class JournalFiles:
    """Runs of a journal as files like those of the store, in a temporary folder that goes with this object.

    A line that is not whole, which is being written or was cut off by a kill, counts as none. So does one of another
    design, which an earlier command has left: `--resume` finds its position.

    Args:
        folder: the store.
        document: its manifest.
    """

    def __init__(self, folder: Path, document: Mapping[str, Any]) -> None:
        self._temporary = TemporaryDirectory(prefix="penstock-")
        self._path = Path(self._temporary.name)
        entries = [entry for axis in document["vary"] for entry in axis]
        keys = [Key(entry["key"], entry["unit"], tuple(entry["values"])) for entry in entries]
        columns = front(keys, [entry["column"] for entry in entries])
        self.parts: list[int] = []
        """The numbers of the files."""
        for number, runs in sorted(_runs(folder).items()):
            self.parts.append(number)
            for table in schema():
                rows = [(at, row) for at, _, record in runs for row in record[table]]
                if rows:
                    (self._path / table).mkdir(exist_ok=True)
                    at = [before for before, _ in rows]
                    hashes = [key for _, key, _ in runs]
                    write_table(self.file(table, number), table, columns, at, [row for _, row in rows], hashes)

    def file(self, table: str, number: int) -> Path:
        """Return the name of a file of a table."""
        return self._path / table / file_name(number)


def _runs(folder: Path) -> dict[int, list[_Row]]:
    """Return the runs of a journal by the number of their file, where the store has none of this number."""
    found: dict[int, dict[int, _Row]] = {}
    try:
        design = design_of((folder / MANIFEST).read_text(encoding="utf-8"))
        with (folder / JOURNAL).open("rb") as file:
            for line in file:
                entry = json.loads(line) if line.endswith(b"\n") else {}
                if entry.get("design") != design:
                    continue
                for at in entry["at"]:
                    found.setdefault(part_of(at[0]), {})[at[0]] = at, entry["key"], entry["tables"]
    except (FileNotFoundError, ValueError):
        # The sweep has finished meanwhile, or the line is the remainder of one.
        pass
    there = {number: runs for number, runs in found.items() if not (folder / RUNS / file_name(number)).is_file()}
    return {number: [run for _, run in sorted(runs.items())] for number, runs in there.items()}
