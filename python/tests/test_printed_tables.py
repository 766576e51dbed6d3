"""Tables for papers: means, intervals and stars by hand, and what is refused."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from arro3.core import Array, DataType, Table
from conftest import Command

import penstock

KINDS = {str: DataType.string(), int: DataType.int64(), float: DataType.float64()}

Columns = Mapping[str, Sequence[Any]]


def found(columns: Columns) -> Any:
    """Return something whose table has these columns."""
    kinds = {name: KINDS[type(next(v for v in values if v is not None))] for name, values in columns.items()}
    table = Table.from_pydict({name: Array(list(values), type=kinds[name]) for name, values in columns.items()})
    return SimpleNamespace(table=lambda: table)


# Pairs by seed differ by 2, 3 and 4 KB: 3 KB with an error of 1/√3 KB. So t is 5.196, between 4.303 and 9.925.
PAIRED = found(
    {
        "label": ["none"] * 3 + ["qcn"] * 3 + ["bcn"] * 3,
        "seed": [1, 2, 3] * 3,
        "queue_mean_octets": [10e3, 20e3, 30e3, 8e3, 17e3, 26e3, 10e3, 20e3, 30.5e3],
        "jain_index": [1.0, 1.0, 1.0, 0.5, 0.5, None, 0.9, 1.0, 1.1],
    }
)


def test_a_star_is_a_difference_seed_by_seed() -> None:
    table = penstock.printed_table(PAIRED, ["queue_mean_octets", "jain_index"], against="none")
    # The half of the interval of 10, 20 and 30 KB is 4.303 · 10 / √3 KB.
    assert table.to_markdown().splitlines() == [
        "| label | queue mean, KB | Jain |",
        "| --- | ---: | ---: |",
        "| none | 20 ± 25 | 1.00 ± 0.00 |",
        "| qcn | 17 ± 22\\* | 0.500 ± 0.000\\*\\*\\* |",
        "| bcn | 20 ± 25 | 1.00 ± 0.25 |",
    ]
    assert "qcn & $17 \\pm 22^{*}$ & $0.500 \\pm 0.000^{***}$ \\\\\n" in table.to_latex()
    rows = list(csv.DictReader(StringIO(table.to_csv())))
    assert [row["queue_mean_octets_mark"] for row in rows] == ["", "*", ""]
    assert float(rows[0]["queue_mean_octets_low"]) == pytest.approx(20e3 - 4.302653 * 10e3 / 3**0.5)


def test_other_seeds_are_tested_by_welch() -> None:
    """Means of 1 and 3 s with variances of 0.02/2 each: t is 2 / 0.1414 = 14.1 at 2 degrees of freedom, beyond 9.92."""
    columns: Columns = {"label": ["a", "a", "b", "b"], "seed": [1, 2, 3, 4], "queue_delay_p99_s": [0.9, 1.1, 2.9, 3.1]}
    table = penstock.printed_table(found(columns), ["queue_delay_p99_s"], against="a")
    assert [cell.mark for (cell,) in table.rows.values()] == ["", "**"]
    assert table.to_markdown().splitlines()[2:] == ["| a | 1.0 ± 1.3 |", "| b | 3.0 ± 1.3\\*\\* |"]


def test_rows_of_an_arena_are_tested_within_their_workload() -> None:
    columns: Columns = {
        "workload": ["w"] * 4 + ["v"] * 4,
        "run": [*range(8)],
        "scheme": ["none", "none", "qcn_a", "qcn_a"] * 2,
        "seed": [1, 2] * 4,
        "throughput_bps": [5e9, 5e9, 9e9, 9e9, 9e9, 9e9, 9e9, 9e9],
    }
    table = penstock.printed_table(found(columns), ["throughput_bps"], against="none")
    marks = {row: cell.mark for row, (cell,) in table.rows.items()}
    assert marks == {("w", "none"): "", ("w", "qcn_a"): "***", ("v", "none"): "", ("v", "qcn_a"): ""}
    assert r"w & qcn\_a & $9.00 \pm 0.00^{***}$ \\" in table.to_latex()


def test_one_seed_has_no_interval() -> None:
    columns: Columns = {"label": ["a", "b"], "seed": [1, 1], "queue_mean_octets": [1234.5, None]}
    table = penstock.printed_table(found(columns), ["queue_mean_octets"], against="a")
    assert table.to_markdown().splitlines()[2:] == ["| a | 1.23 |", "| b | - |"]
    assert table.to_csv().splitlines()[1:] == ["a,1234.5,,,", "b,,,,"]


@pytest.mark.parametrize(
    ("keys", "part"),
    [
        ({"metrics": ["queue_mean_octet"]}, "did you mean queue_mean_octets"),
        ({"metrics": ["queue_mean_octets"], "against": "qnc"}, "did you mean qcn"),
        ({"metrics": ["queue_mean_octets"], "by": ["lable"]}, "did you mean label"),
    ],
)
def test_what_is_not_there_is_refused(keys: dict[str, Any], part: str) -> None:
    with pytest.raises(penstock.ArgumentError) as refused:
        penstock.printed_table(PAIRED, **keys)
    assert part in f"{refused.value} {refused.value.hint}"
    with pytest.raises(penstock.ArgumentError):
        penstock.printed_table(PAIRED, ["jain_index"]).write("html")  # type: ignore[arg-type]


def test_the_command_prints_a_comparison(penstock: Command, small: Path) -> None:
    compared = penstock("compare", small, "--schemes", "none,qcn", "--seeds", "3", "--out", "both")
    assert compared.returncode == 0, compared.stderr
    words = ("table", "both", "--metrics", "queue_mean_octets,throughput_bps", "--against", "none")
    printed = penstock(*words)
    assert printed.returncode == 0, printed.stderr
    assert [line.split(" | ")[0] for line in printed.stdout.splitlines()[2:]] == ["| none", "| qcn"]
    latex = penstock(*words, "--format", "latex").stdout
    assert latex.startswith("\\begin{tabular}{lrr}\n\\toprule\n")
    assert latex.endswith("\\end{tabular}\n")
    refused = penstock(*words, "--format", "html")
    assert (refused.returncode, "one of latex, markdown, csv" in refused.stderr) == (2, True)
    one = penstock("table", "both/qcn-seed1", "--metrics", "jain_index")
    assert (one.returncode, "is one run" in one.stderr) == (2, True), one.stderr
