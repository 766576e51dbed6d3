"""The store of a sweep: a folder of Parquet files with a manifest, from which nothing finished is lost.

    sweep.json                  the manifest: the sweep, and the runs that failed
    runs/00000.parquet          one row a run, for a hundred runs each; the other tables likewise (flows/, queues/, …)
    series/queues/HASH.parquet  time series of a run, where they are kept, under the run's hash
    unfinished.jsonl            finished runs whose tables are not written yet: while a sweep goes on, or was killed

A finished run is a line of ``unfinished.jsonl`` at once. When a hundred runs that follow one another are there, their
tables are written, ``runs`` the last. Rows follow the order of the sweep and no file has a time of day. So the
finished store does not show in which order, how often interrupted, or on which machines the runs ran. The writing
process holds a lock on ``unfinished.jsonl``, which the system takes away when the process ends, however it ends.
"""

import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from arro3.io import write_parquet

from penstock import __version__
from penstock.data_frames import RUNS
from penstock.errors import ArgumentError
from penstock.files import whole, write_text
from penstock.sweeps.axes import Key, columns
from penstock.sweeps.design import Case, Design
from penstock.sweeps.tables import FRONT, Column, Record, read_table, schema, table_of

MANIFEST = "sweep.json"
JOURNAL = "unfinished.jsonl"
SERIES = "series"
FORMAT = 1

_RUNS_A_FILE = 100
_HASH = Column("hash", "str", "", "A hash of all that the row follows from.")
_BETWEEN_FLUSHES_S = 1.0


def is_sweep(folder: str | os.PathLike[str]) -> bool:
    """Return whether a folder is the store of a sweep."""
    return (Path(folder) / MANIFEST).is_file()


class Store:
    """The store of a sweep that is run; :meth:`open` makes one or goes on with one.

    Attributes:
        path: the folder.
        failures: why runs failed or cannot run, by the hash of the run.
    """

    def __init__(self, path: Path, made: Design, cases: Sequence[Case], journal: int) -> None:
        self.path = path
        self.failures: dict[str, str] = {case.key: case.fault for case in cases if case.fault is not None}
        self._made = made
        self._parts = [cases[first : first + _RUNS_A_FILE] for first in range(0, len(cases), _RUNS_A_FILE)]
        self._journal = journal
        self._flushed_s = 0.0
        self._lock = threading.Lock()
        # Several combinations may be the same run: they write a quantity with two units, or vary another scheme.
        self._cases_of: dict[str, list[Case]] = {}
        for case in cases:
            self._cases_of.setdefault(case.key, []).append(case)
        self._design = design_of(self._manifest_text(finished=False))
        self._columns = [column.name for column in front_columns(made)]
        self._begins: dict[str, int] = {}
        """Where the record of a run begins in the journal."""
        self._stored: dict[str, int] = {}
        """Runs of files that were there, and are as they are to be, with the number of the file."""
        self._last: tuple[int, dict[str, Record]] = (-1, {})
        """The file that was read last, and its records."""
        self._written: set[int] = set()
        """Numbers of files that are as they are to be."""

    @classmethod
    def open(cls, path: Path, made: Design, cases: Sequence[Case], *, resume: bool) -> Self:
        """Make a store, or go on with one.

        Raises:
            ArgumentError: there is something else under its name, or a store and ``resume`` is not set; another sweep
                is at work there, or the store is that of another one.
            OSError: it cannot be written.
        """
        if path.is_dir() and any(path.iterdir()):
            if not is_sweep(path) and not (path / JOURNAL).is_file():
                raise ArgumentError(f"{path} exists and holds no sweep", "name another folder")
            if not resume:
                if _is_at_work(path):
                    raise _at_work(path)
                hint = "go on with it with resume=True, or name another folder"
                raise ArgumentError(f"{path} holds a sweep already", hint)
        path.mkdir(parents=True, exist_ok=True)
        journal = _locked(path)
        try:
            _check_same(path, made)
            store = cls(path, made, cases, journal)
            store._take_stock()
            store._write_manifest(finished=False)
        except BaseException:
            if not os.fstat(journal).st_size:
                (path / JOURNAL).unlink()
            os.close(journal)
            raise
        return store

    @property
    def missing(self) -> list[Case]:
        """The runs that are not there and have not failed, each once, in order."""
        found: dict[str, Case] = {}
        for part in self._parts:
            for case in part:
                if not (case.key in self._begins or case.key in self._stored or case.key in self.failures):
                    found.setdefault(case.key, case)
        return list(found.values())

    def keep(self, case: Case, record: Record, series: Mapping[str, bytes]) -> None:
        """Keep a run that has finished. Any thread may call it.

        Raises:
            OSError: it cannot be written; all that was kept before is still there.
        """
        for table, data in series.items():
            target = self.path / SERIES / table / f"{case.key}.parquet"
            target.parent.mkdir(parents=True, exist_ok=True)
            with whole(target) as partial:
                partial.write_bytes(data)
        with self._lock:
            self._append(case.key, record)
            self._write_what_is_whole(case.key)

    def fail(self, case: Case, reason: str) -> None:
        """Note that a run has failed. Any thread may call it."""
        with self._lock:
            self.failures[case.key] = reason
            self._write_what_is_whole(case.key)

    def close(self) -> bool:
        """Write the tables of all that is there, and the manifest; return whether no run is missing.

        Raises:
            OSError: the disk is full; all that was kept is still there.
        """
        with self._lock:
            for number in range(len(self._parts)):
                if number not in self._written:
                    self._write(number)
            complete = not self.missing
            self._write_manifest(finished=complete)
            if complete:
                self._remove_strangers()
            # While the lock is held: a process that waits for it finds that the name is gone, and makes a new file.
            (self.path / JOURNAL).unlink()
            os.close(self._journal)
        return complete

    def leave(self) -> None:
        """Let go of the folder as it is: the journal has what was kept."""
        os.close(self._journal)

    def _append(self, key: str, record: Record) -> None:
        at = [_in_front(self._made, case) for case in self._cases_of[key]]
        entry = {"key": key, "design": self._design, "at": at, "tables": record}
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        begin = os.lseek(self._journal, 0, os.SEEK_END)
        try:
            left = memoryview(line)
            while left:
                left = left[os.write(self._journal, left) :]
            if time.monotonic() - self._flushed_s > _BETWEEN_FLUSHES_S:
                os.fsync(self._journal)
                self._flushed_s = time.monotonic()
        except OSError as error:
            # The next line begins where this one did.
            os.ftruncate(self._journal, begin)
            raise OSError(error.errno, error.strerror, str(self.path / JOURNAL)) from None
        self._begins[key] = begin

    def _record(self, key: str) -> Record:
        """Return the record of a run that is in the journal, or in a file."""
        begin = self._begins.get(key)
        if begin is None:
            number = self._stored[key]
            if self._last[0] != number:
                self._last = number, _records(self.path, number)
            return self._last[1][key]
        with (self.path / JOURNAL).open("rb") as file:
            file.seek(begin)
            record: Record = json.loads(file.readline())["tables"]
        return record

    def _write_what_is_whole(self, key: str) -> None:
        for number in dict.fromkeys(part_of(case.index) for case in self._cases_of[key]):
            if number not in self._written and all(
                case.key in self._begins or case.key in self._stored or case.key in self.failures
                for case in self._parts[number]
            ):
                self._write(number)
                self._written.add(number)

    def _write(self, number: int) -> None:
        """Write the tables of a file's runs, of those that are there; ``runs`` is the last."""
        there = [case for case in self._parts[number] if case.key in self._begins or case.key in self._stored]
        records = [self._record(case.key) for case in there]
        keys = front_columns(self._made)
        for table in sorted(schema(), key=lambda name: name == RUNS):
            rows = [(case, row) for case, record in zip(there, records, strict=True) for row in record[table]]
            target = self.path / table / file_name(number)
            if not rows:
                target.unlink(missing_ok=True)
                continue
            at = [_in_front(self._made, case) for case, _ in rows]
            hashes = [case.key for case in there]
            target.parent.mkdir(exist_ok=True)
            with whole(target) as partial:
                write_table(partial, table, keys, at, [row for _, row in rows], hashes)

    def _write_manifest(self, *, finished: bool) -> None:
        text = self._manifest_text(finished=finished)
        path = self.path / MANIFEST
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_text(path, text)

    def _manifest_text(self, *, finished: bool) -> str:
        return json.dumps(self._manifest(finished), indent=2) + "\n"

    def _manifest(self, finished: bool) -> dict[str, Any]:
        made = self._made
        named = dict(zip((key.key for key in made.keys), column_names(made), strict=True))
        cases = [case for part in self._parts for case in part]
        return {
            "format": FORMAT,
            "version": __version__,
            "finished": finished,
            "runs": len(cases),
            "scenario": made.scenario.name,
            "question": made.scenario.question,
            "vary": [
                [
                    {"key": key.key, "column": named[key.key], "unit": key.unit, "values": list(key.values)}
                    for key in axis.keys
                ]
                for axis in made.axes
            ],
            "schemes": list(dict.fromkeys(case.scheme for case in cases)),
            "seeds": list(made.seeds),
            "profile": made.profile,
            "queue": made.queue,
            "series": made.series,
            "numbers": [column.name for column in schema()[RUNS] if column.type in ("int", "float")],
            "limit": made.limit,
            "failed": [
                {
                    "run": case.index,
                    **{key.key: value for key, value in zip(made.keys, case.settings, strict=True)},
                    "scheme": case.scheme,
                    "seed": case.seed,
                    "reason": self.failures[case.key],
                    "refused": case.fault is not None,
                }
                for case in cases
                if finished and case.key in self.failures
            ],
            "toml": made.scenario.to_toml(),
        }

    def _take_stock(self) -> None:
        """Find what is there: files that stay as they are, and runs of others, which go to the journal."""
        self._read_journal()
        # The lock is ours: files with hidden names are those that a killed process has left.
        for left in self.path.rglob(".*.partial-*"):
            left.unlink(missing_ok=True)
        for number in parts_of(self.path):
            try:
                whole_table = read_table(self.path / RUNS / file_name(number))
                records = _records(self.path, number)
                stale = whole_table.column_names[: len(self._columns)] != self._columns
            except Exception:
                # A file that is not whole has no runs; they are run again.
                records, stale = {}, True
            wanted = [case.key for case in self._parts[number]] if number < len(self._parts) else []
            if not stale and whole_table.column("hash").to_pylist() == wanted:
                self._written.add(number)
                self._stored |= dict.fromkeys(records, number)
                continue
            for key, record in records.items():
                if key in self._cases_of and key not in self._begins:
                    self._append(key, record)
            os.fsync(self._journal)
            for table in sorted(schema(), key=lambda name: name != RUNS):
                (self.path / table / file_name(number)).unlink(missing_ok=True)

    def _read_journal(self) -> None:
        """Find the runs in the journal, and take off what a killed process has left of a line."""
        begin = 0
        with (self.path / JOURNAL).open("rb") as file:
            for line in file:
                try:
                    entry = json.loads(line)
                    key, whole_line = entry["key"], set(entry["tables"]) == set(schema()) and line.endswith(b"\n")
                except (ValueError, KeyError, TypeError):
                    break
                if not whole_line:
                    break
                if key in self._cases_of:
                    self._begins[key] = begin
                begin += len(line)
        os.ftruncate(self._journal, begin)

    def _remove_strangers(self) -> None:
        """Remove files of runs that are no more part of the sweep."""
        parts = set(range(len(self._parts)))
        for table in schema():
            for path in (self.path / table).glob("*.parquet"):
                if not path.stem.isdecimal() or int(path.stem) not in parts:
                    path.unlink()
        for path in (self.path / SERIES).glob("*/*.parquet"):
            if path.stem not in self._cases_of:
                path.unlink()


def write_table(
    path: Path,
    table: str,
    columns: Sequence[Column],
    at: Sequence[Sequence[Any]],
    rows: Sequence[Sequence[Any]],
    hashes: Sequence[str],
) -> None:
    """Write a file of a table: rows, each with its values ``at`` the columns in front, and in ``runs`` the hashes."""
    before: list[tuple[Column, Sequence[Any]]] = [(column, [row[i] for row in at]) for i, column in enumerate(columns)]
    if table == RUNS:
        before.append((_HASH, hashes))
    write_parquet(table_of(table, before, rows), path, compression="zstd(3)")


def column_names(made: Design) -> list[str]:
    """Name the columns of the varied keys."""
    return columns(made.keys, [*FRONT, *(column.name for table in schema().values() for column in table)])


def front_columns(made: Design) -> list[Column]:
    """Return the columns in front of every table."""
    return front(made.keys, column_names(made))


def front(keys: Sequence[Key], names: Sequence[str]) -> list[Column]:
    """Return the columns in front of every table: the keys' are called by ``names``."""
    varied = [
        Column(name, key.type, key.unit if key.unit in ("octets", "s", "bit/s") else "", f"The key `{key.key}`.")
        for key, name in zip(keys, names, strict=True)
    ]
    return [
        Column("run", "int", "", "The number of the run, from 0."),
        *varied,
        Column("scheme", "str", "", "The scheme."),
        Column("seed", "int", "", "The seed."),
    ]


def _in_front(made: Design, case: Case) -> list[Any]:
    numbers = [key.number(value) for key, value in zip(made.keys, case.settings, strict=True)]
    return [case.index, *numbers, case.scheme, case.seed]


def design_of(manifest: str) -> str:
    """Return a mark of the design that the text of an unfinished store's manifest describes."""
    return sha256(manifest.encode()).hexdigest()[:16]


def part_of(place: int) -> int:
    """Return the number of the file that has a run."""
    return place // _RUNS_A_FILE


def file_name(number: int) -> str:
    """Return the name of a file of a table."""
    return f"{number:05}.parquet"


def parts_of(path: Path) -> list[int]:
    """Return the numbers of the files of a store whose tables are all there, in order."""
    return sorted(int(file.stem) for file in (path / RUNS).glob("*.parquet") if file.stem.isdecimal())


def _records(path: Path, number: int) -> dict[str, Record]:
    """Read the records of a file's runs, by their hash."""
    found: dict[int, Record] = {}
    keys: dict[int, str] = {}
    for table, own in sorted(schema().items(), key=lambda entry: entry[0] != RUNS):
        file = path / table / file_name(number)
        if not file.is_file():
            continue
        read = read_table(file)
        runs = read.column("run").to_pylist()
        if table == RUNS:
            keys = dict(zip(runs, read.column("hash").to_pylist(), strict=True))
            found = {run: {name: [] for name in schema()} for run in runs}
        for run, *row in zip(runs, *(read.column(column.name).to_pylist() for column in own), strict=True):
            found[run][table].append(row)
    return {keys[run]: record for run, record in found.items()}


def _locked(path: Path) -> int:
    """Open the journal, and hold it against all others.

    Raises:
        ArgumentError: somebody holds it, or the system is Windows, which has no such locks.
    """
    try:
        import fcntl
    except ModuleNotFoundError:
        raise ArgumentError(f"{path}: stores of sweeps need Linux or macOS", "on Windows, use WSL") from None
    name = path / JOURNAL
    while True:
        journal = os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if name.stat().st_ino == os.fstat(journal).st_ino:
                return journal
        except BlockingIOError:
            os.close(journal)
            raise _at_work(path) from None
        except FileNotFoundError:
            pass
        # The one before has finished, and its journal is gone.
        os.close(journal)


def _is_at_work(path: Path) -> bool:
    """Return whether a process holds the journal of a folder."""
    try:
        import fcntl

        journal = os.open(path / JOURNAL, os.O_RDONLY)
    except (ModuleNotFoundError, OSError):
        return False
    try:
        fcntl.flock(journal, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(journal)
    return False


def _at_work(path: Path) -> ArgumentError:
    hint = "wait until it is done, end it, or name another folder"
    return ArgumentError(f"{path}: another sweep is at work in this folder", hint)


def _check_same(path: Path, made: Design) -> None:
    """Refuse the store of another sweep: one of another scenario, or over other keys.

    Raises:
        ArgumentError: it is.
    """
    if not is_sweep(path):
        return
    try:
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        theirs = manifest["scenario"], [key["key"] for axis in manifest["vary"] for key in axis], manifest["format"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArgumentError(f"{path}: {MANIFEST} cannot be read ({error})", "name another folder") from error
    ours = made.scenario.name, [key.key for key in made.keys], FORMAT
    if theirs != ours:
        raise ArgumentError(
            f"{path} is the store of another sweep: of {_described(*theirs)}, not of {_described(*ours)}",
            "name another folder",
        )


def _described(scenario: str, keys: Sequence[str], form: int) -> str:
    return f"{scenario} over {', '.join(keys) or 'no key'}" + ("" if form == FORMAT else f", in format {form}")
