"""`penstock table`: a table of a run as comma-separated values, or a table for a paper of several runs."""

import csv
import sys
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from penstock.cli.failure import InputError
from penstock.cli.locate import check_folder, is_results
from penstock.open_folder import open as open_folder
from penstock.printed_tables import FORMATS, printed_table
from penstock.result import Result

_ROWS = 20_000
"""Rows that are written at a time."""


def print_means(folder: Path, metrics: list[str], by: list[str], against: str | None, form: str) -> None:
    """Print means over seeds of a comparison, sweep or arena, as :func:`penstock.printed_table` has them."""
    check_folder(folder)
    if is_results(folder):
        raise InputError(f"--metrics: {folder} is one run", "`penstock table DIR TABLE COLUMN…` prints its tables")
    if form not in FORMATS:
        raise InputError(f"--format {form}: no such format", f"one of {', '.join(FORMATS)}")
    found = open_folder(folder)
    assert not isinstance(found, Result)
    print(printed_table(found, metrics, by=by, against=against).write(form), end="")


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
