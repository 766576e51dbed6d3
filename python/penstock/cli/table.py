"""`penstock table`: a table of a results folder, as comma-separated values."""

import csv
import sys
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from penstock.cli.failure import InputError
from penstock.cli.locate import check_folder
from penstock.result import Result

_ROWS = 20_000
"""Rows that are written at a time."""


def print_table(folder: Path, table: str | None, columns: list[str]) -> None:
    """Print columns of a table, all without a choice; without a table, the list of tables."""
    check_folder(folder)
    result = Result.open(folder)
    if table is None:
        for name in result.tables:
            print(f"{name}: {', '.join(result._table(name).column_names)}")
        return
    if table not in result.tables:
        raise InputError(f"{table}: no recorded table has this name", f"the tables are {', '.join(result.tables)}")
    have = result._table(table).column_names
    for column in columns:
        if column not in have:
            near = get_close_matches(column, have, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]}?" if near else f"its columns are {', '.join(have)}"
            raise InputError(f"{column}: {table} has no column of this name", hint)
    chosen = columns or have
    values = [result.column(table, column) for column in chosen]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(chosen)
    for first in range(0, len(values[0]), _ROWS):
        # Python's own numbers, which are written as short as they can be read back.
        parts = [np.asarray(column[first : first + _ROWS]).tolist() for column in values]
        writer.writerows(zip(*parts, strict=True))
