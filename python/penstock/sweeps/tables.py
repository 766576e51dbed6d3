"""The tables of a sweep: their columns, as the declaration of summaries in Rust has them, and the rows of a run.

A record holds the rows of one run, table by table, without the columns that every table has in front (the run, its
keys, its scheme and seed). It has no figure of the wall clock, so that the same scenario and seed give the same record.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock import _core
from penstock.data_frames import RUNS
from penstock.metrics.registry import COMPARED
from penstock.metrics.values import JudgedRun, busiest, longest

if TYPE_CHECKING:
    from arro3.core import Table

    from penstock.result import Result

Record = dict[str, list[list[Any]]]
"""The rows of a run by table."""

_LEFT_OUT = ("scenario", "question", "scheme", "seed", "run", "interrupted_at_s", "testbed")
"""Keys of a summary that are the same in every row, stand in front, or are not there in a run of a sweep: one that has
ended, in the simulator."""

_TOLD_APART = ("actions",)
"""Objects of a summary whose columns have the object's name in front: totals have keys of the same name."""

_OTHER_NAMES = {"schemes": "assigned"}
"""The table of a list of the summary, where it is not called as the list is."""

_INSIDE = {"queues": "window_queues", "flows": "window_flows", "hosts": "window_hosts", "pools": "window_pools"}
"""The table of a list in a window."""

FRONT = ("run", "scheme", "seed", "hash")
"""Names of columns in front, besides those of keys."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: its name; it ends in the unit.
        type: "int", "float", "str" or "bool".
        unit: its unit.
        description: its meaning.
    """

    name: str
    type: str
    unit: str
    description: str


@cache
def schema() -> dict[str, tuple[Column, ...]]:
    """Return the columns of each table, those in front left out."""
    objects = {entry["name"]: entry for entry in json.loads(_core.objects())}
    summary, window = objects["Summary"], objects["WindowSummary"]
    runs = _columns(RUNS, summary, objects)
    have = {column.name for column in runs}
    runs.append(Column("queue", "str", "", "The queue by which the run is judged, `node->peer`."))
    runs += [Column(m.name, "float", _UNITS[m.kind], m.description) for m in COMPARED if m.name not in have]
    tables = {RUNS: tuple(runs)}
    for key in _lists(summary):
        table = _OTHER_NAMES.get(key["name"], key["name"])
        tables[table] = tuple(_columns(table, objects[_of_list(key)], objects))
    of_window = Column("window", "str", "", "The window of measurement.")
    for key in _lists(window):
        table = _INSIDE[key["name"]]
        tables[table] = (of_window, *_columns(table, objects[_of_list(key)], objects))
    return tables


_END = b"PAR1"
"""The end of every Parquet file, and its beginning."""

_LEAST_OCTETS = 12

_UNITS = {
    "count": "",
    "octets": "octets",
    "share": "",
    "rate": "bit/s",
    "index": "",
    "time": "s",
    "ratio": "",
}


def record(result: "Result", queue: str | None) -> Record:
    """Return the rows of a run, judged by the queue of that name, or by its longest."""
    summary: Any = result.summary
    judged = queue or busiest([result.summary])
    apart = {f"{name}_{key}": value for name in _TOLD_APART for key, value in summary.get(name, {}).items()}
    flat = {**summary["totals"], **apart, **summary, "queue": judged, **_measured(result, judged)}
    found: Record = {table: [] for table in schema()}
    found[RUNS] = [_row(RUNS, flat)]
    for table in schema():
        listed = next((key for key, other in _OTHER_NAMES.items() if other == table), table)
        if listed in summary and isinstance(summary[listed], list):
            found[table] = [_row(table, _flattened(entry)) for entry in summary[listed]]
    for window in summary.get("windows", []):
        for listed, table in _INSIDE.items():
            entries = window.get(listed, [])
            found[table] += [_row(table, {"window": window["name"], **_flattened(entry)}) for entry in entries]
    return found


def table_of(name: str, front: Sequence[tuple[Column, Sequence[Any]]], rows: Sequence[Sequence[Any]]) -> "Table":
    """Return a table as Arrow: the columns in front, and those of the rows."""
    from arro3.core import Array, DataType, Field, Schema, Table

    types: Mapping[str, Any] = {
        "int": DataType.int64(),
        "float": DataType.float64(),
        "str": DataType.string(),
        "bool": DataType.bool(),
    }
    columns = [*front, *((column, [row[i] for row in rows]) for i, column in enumerate(schema()[name]))]
    fields = [
        Field(c.name, types[c.type], nullable=True, metadata={"unit": c.unit, "description": c.description})
        for c, _ in columns
    ]
    arrays = [Array(_of_type(values, c.type), type=types[c.type]) for c, values in columns]
    return Table.from_arrays(arrays, schema=Schema(fields))


_IN_FRONT = {
    "label": "The line of the comparison.",
    "scenario": "Name of the scenario.",
    "scheme": "Name of the scheme.",
    "seed": "Seed of the run.",
}
"""Columns in front of tables of runs that are in no store."""


def table_of_runs(name: str, runs: Sequence[tuple[Mapping[str, Any], Record]]) -> "Table":
    """Return a table of runs, each with its values of the columns in front.

    Raises:
        PenstockError: there is no table of that name.
    """
    if name not in schema():
        raise _core.PenstockError(f"no table is called {name!r}; the tables are {', '.join(schema())}")
    front = [
        (
            Column(key, "int" if key == "seed" else "str", "", _IN_FRONT[key]),
            [at[key] for at, rows in runs for _ in rows[name]],
        )
        for key in runs[0][0]
    ]
    return table_of(name, front, [row for _, rows in runs for row in rows[name]])


def read_table(path: Path) -> "Table":
    """Read a file of a table.

    Raises:
        Exception: it is not whole.
    """
    from arro3.io import read_parquet

    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(_END)))
        if size < _LEAST_OCTETS or file.read() != _END:
            raise ValueError(f"{path} is not whole")
    return read_parquet(path).read_all()


def _of_type(values: Sequence[Any], kind: str) -> list[Any]:
    # A whole number in JSON may stand for a measured one.
    if kind == "float":
        return [None if value is None else float(value) for value in values]
    return list(values)


def _measured(result: "Result", queue: str | None) -> dict[str, float | None]:
    values = JudgedRun(result, longest(result.summary, queue)).values(COMPARED)
    return dict(zip((metric.name for metric in COMPARED), values, strict=True))


def _row(table: str, values: Mapping[str, Any]) -> list[Any]:
    found = [values[name] if name in values else values.get(other) for name, other in _keys(table)]
    return [", ".join(value) if isinstance(value, list) else value for value in found]


@cache
def _keys(table: str) -> tuple[tuple[str, str], ...]:
    """Return the name of each column, and its key in an object of the table."""
    return tuple((column.name, column.name.removeprefix(f"{table}_")) for column in schema()[table])


def _flattened(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with the keys of the objects in it beside its own."""
    flat: dict[str, Any] = {}
    for key, value in entry.items():
        flat |= value if isinstance(value, dict) else {key: value}
    return flat


def _columns(table: str, about: Mapping[str, Any], objects: Mapping[str, Any]) -> list[Column]:
    """Return the columns of an object: its own keys and those of objects in it, lists of objects left out."""
    found = []
    for key in about["keys"]:
        name, kind = key["name"], key["type"].removesuffix(" | None")
        if (table == RUNS and name in _LEFT_OUT) or _of_list(key) in objects:
            continue
        if kind in objects:
            inner = _columns("", objects[kind], objects)
            found += [replace(c, name=f"{name}_{c.name}") for c in inner] if name in _TOLD_APART else inner
        else:
            # The table's name distinguishes a column that stands in front already.
            column = f"{table}_{name}" if name in FRONT else name
            found.append(Column(column, "str" if kind.startswith("list") else kind, key["unit"], key["description"]))
    return found


def _lists(about: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the keys of an object that hold lists of objects."""
    return [key for key in about["keys"] if key["type"].startswith("list[") and key["type"] != "list[str]"]


def _of_list(key: Mapping[str, Any]) -> str:
    return str(key["type"]).removeprefix("list[").removesuffix("]") if key["type"].startswith("list[") else ""
