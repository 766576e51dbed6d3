"""Grids of claims.toml: the claims that they stand for, in the file's order, and grids that are refused."""

from pathlib import Path
from typing import Any

import pytest

from penstock.reproduction.grid import claims_of
from penstock.reproduction.paper_file import PaperError, whole
from penstock.toml_reader import Table

GRID = """\
[[claim]]
id = "first"

[[grid]]
case = [
    { sources = "one", number = 1, control = { scheme = "none" } },
    { sources = "eight", number = 8, delay = "250 us", control = { scaled = 2.0 } },
]
period = [{ period = "before", most = 3.5 }, { period = "after", most = 7 }]

[[grid.claim]]
id = "{sources}-{period}"
says = "{number} sources, {period} the drop"
run = { experiment = "hardware-{sources}", set = { "link.delay" = "{delay}" } }
test = { at_most = "{most}" }
seeds = ["{number}", 20]
control = "{control}"

[[claim]]
id = "between"

[[grid]]
case = [{ name = "a" }, { name = "b" }]

[[grid.claim]]
id = "{name}"
"""


def claims(folder: Path, text: str = GRID) -> list[Table]:
    """Return the claims of a file with this text."""
    path = folder / "claims.toml"
    path.write_text(text, encoding="utf-8")
    return claims_of(whole(path), path)


def test_a_claim_stands_for_every_combination(tmp_path: Path) -> None:
    found = claims(tmp_path)
    ids = ["one-before", "one-after", "eight-before", "eight-after"]
    assert [claim.values["id"] for claim in found] == ["first", *ids, "between", "a", "b"]
    assert found[1].values == {
        "id": "one-before",
        "says": "1 sources, before the drop",
        "run": {"experiment": "hardware-one", "set": {}},
        "test": {"at_most": 3.5},
        "seeds": [1, 20],
        "control": {"scheme": "none"},
    }
    assert found[4].values["run"] == {"experiment": "hardware-eight", "set": {"link.delay": "250 us"}}
    assert found[4].values["test"] == {"at_most": 7}
    assert found[4].values["control"] == {"scaled": 2.0}


def test_a_claim_of_a_grid_has_the_line_of_its_table(tmp_path: Path) -> None:
    lines = [number for number, line in enumerate(GRID.splitlines(), 1) if line in ("[[claim]]", "[[grid.claim]]")]
    one, first, between, last = lines
    assert [claim.line for claim in claims(tmp_path)] == [one, first, first, first, first, between, last, last]


def test_an_axis_counts_only_where_its_words_are_used(tmp_path: Path) -> None:
    found = claims(tmp_path, GRID.replace('id = "{sources}-{period}"\nsays = "{number} sources, {period} the drop"', "")
        .replace('test = { at_most = "{most}" }', ""))  # fmt: skip
    assert [claim.values["control"] for claim in found[1:3]] == [{"scheme": "none"}, {"scaled": 2.0}]
    assert len(found) == 6


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('"{sources}-{period}"', '"{source}-{period}"', "no axis has the placeholder {source} did you mean sources?"),
        ("{ period = ", "{ number = ", "{number} is also a placeholder of case"),
        ("{number} sources", "{delay}, {number} sources", "needs {delay}, which a row lacks"),
        ('id = "{name}"', 'id = "name"', "uses no placeholder of the grid"),
        ('case = [{ name = "a" }, { name = "b" }]', "", "at least one row on each axis"),
        ('case = [{ name = "a" }, { name = "b" }]', "case = []", "at least one row on each axis"),
        ('case = [{ name = "a" }, { name = "b" }]', "case = [1]", "1 is not a table"),
        pytest.param(
            '[{ name = "a" }, { name = "b" }]', f"[{'{ name = 1 },' * 10_001}]", "too many claims", id="10001 rows"
        ),
    ],
)
def test_bad_grids_are_refused(tmp_path: Path, before: str, after: str, words: str) -> None:
    assert GRID.count(before) >= 1
    with pytest.raises(PaperError) as caught:
        claims(tmp_path, GRID.replace(before, after, 1))
    error: Any = caught.value
    assert words in f"{error.message} {error.hint}"
    assert error.line is not None
