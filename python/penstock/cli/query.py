"""`penstock query`: a sweep's tables, asked in SQL."""

import csv
import json as json_text
import sys
from pathlib import Path

from penstock.cli.failure import InputError, say
from penstock.cli.locate import RESULTS, is_results
from penstock.sweeps.store import MANIFEST, is_sweep
from penstock.sweeps.sweep import Sweep


def print_answer(folder: Path, sql: str | None, *, json: bool) -> None:
    """Print the answer to a query, or the tables to ask."""
    if not is_sweep(folder):
        raise _no_sweep(folder)
    sweep = Sweep(folder)
    if sql is None:
        tables: dict[str, list[str]] = {name: sweep.table(name).column_names for name in sweep.tables}
        if json:
            print(json_text.dumps(tables | {"series": sweep.series}, indent=2))
            return
        for name, columns in tables.items():
            print(f"{name}: {', '.join(columns)}")
        for name in sweep.series:
            print(f"series_{name}: time series, with the columns of the table {name} of a result")
        return
    if not sweep.finished:
        say(f"{folder} is not finished: runs are missing, and `penstock sweep … --resume` goes on")
    answer = sweep.query(sql)
    values = [answer.column(place).to_pylist() for place in range(answer.num_columns)]
    if json:
        rows = [dict(zip(answer.column_names, row, strict=True)) for row in zip(*values, strict=True)]
        print(json_text.dumps(rows, indent=2, default=str))
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(answer.column_names)
    writer.writerows(zip(*values, strict=True))


def _no_sweep(folder: Path) -> InputError:
    """Return the error for a path that is not that of a sweep; its hint names one that is there, if there is one."""
    there = sorted(str(path.parent) for path in RESULTS.glob(f"*/{MANIFEST}"))
    hint = f"name the folder of a sweep, such as {there[-1]}" if there else "`penstock sweep` writes such a folder"
    if not folder.exists():
        return InputError(f"{folder}: there is no such folder", hint)
    if not folder.is_dir():
        return InputError(f"{folder}: is a file, not the folder of a sweep", hint)
    held = "holds a run, not a sweep" if is_results(folder) else f"holds no sweep: there is no {MANIFEST} in it"
    return InputError(f"{folder} {held}", hint)
