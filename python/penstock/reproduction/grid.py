"""The claims of claims.toml: single rows, and grids of rows that differ in a few placeholders.

    [[grid]]
    case = [
        { sources = "one", figure = "figure-8" },
        { sources = "eight", figure = "figure-11", delay = "250 us" },
    ]
    period = [{ period = "before", most = 3.3 }, { period = "drop", most = 7.5 }]

    [[grid.claim]]
    id = "{sources}-queue-{period}"
    figure = "{figure}"
    test = { at_most = "{most}" }
    run = { experiment = "hardware-{sources}", scheme = "qcn", set = { "topology.star.link_delay" = "{delay}" } }

Every key of a grid but ``claim`` is an axis: a list of rows, which give values to placeholders. A claim of the grid
stands for one claim for each combination of rows of those axes whose placeholders it uses. A text that is one
placeholder takes its value as it is, a number or a table too. A key is left out where its text is one placeholder and
the row has no value for it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from penstock.toml_reader import Table, lines_of, nearest

_WORD = re.compile(r"\{(\w+)\}")
_MOST_CLAIMS = 10_000
_ABSENT = object()


def claims_of(document: Table, path: Path) -> list[Table]:
    """Take the claims of claims.toml, those of grids included, in the order in which the file has them.

    Raises:
        PaperError: a grid has no axis, two axes have the same word, or a claim uses a word that no axis has.
    """
    found = document.tables("claim", lines_of(path, "claim"))
    lines = lines_of(path, "grid.claim")
    for grid in document.tables("grid", lines_of(path, "grid")):
        claims = grid.tables("claim", lines)
        del lines[: len(claims)]
        axes = {axis: [row.values for row in grid.tables(axis)] for axis in list(grid.values)}
        if not claims or not axes or not all(axes.values()):
            hint = "write an axis, NAME = [{ word = value }, …], and below it [[grid.claim]]"
            raise grid.error(None, "a grid needs at least one claim, and at least one row on each axis", hint)
        of_word = _axes_by_word(grid, axes)
        for claim in claims:
            found += _each(claim, axes, of_word)
    return sorted(found, key=lambda claim: claim.line or 0)


def _axes_by_word(grid: Table, axes: Mapping[str, list[dict[str, Any]]]) -> dict[str, str]:
    """Return the axis of each word."""
    found: dict[str, str] = {}
    for axis, rows in axes.items():
        for word in {word for row in rows for word in row}:
            if found.setdefault(word, axis) != axis:
                raise grid.error(
                    axis, f"{{{word}}} is also a placeholder of {found[word]}", "give each axis different placeholders"
                )
    return found


def _each(claim: Table, axes: Mapping[str, list[dict[str, Any]]], of_word: Mapping[str, str]) -> Iterator[Table]:
    """Yield the claims that a claim of a grid stands for."""
    used = sorted(set(_words(claim.values)))
    for word in used:
        if word not in of_word:
            raise claim.error(None, f"no axis has the placeholder {{{word}}}", nearest(word, of_word))
    over = [rows for axis, rows in axes.items() if any(of_word[word] == axis for word in used)]
    if not over:
        raise claim.error(None, "uses no placeholder of the grid", "write it as [[claim]], or use one such as {name}")
    if prod(len(rows) for rows in over) > _MOST_CLAIMS:
        raise claim.error(None, "stands for too many claims", f"at most {_MOST_CLAIMS}: write shorter axes")
    for rows in product(*over):
        values = {word: value for row in rows for word, value in row.items()}
        yield replace(claim, values=_filled(claim, claim.values, values))


def _words(value: Any) -> Iterator[str]:
    """Yield the placeholders in the texts of a value, at any depth."""
    if isinstance(value, str):
        yield from _WORD.findall(value)
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _words(inner)


def _filled(claim: Table, value: Any, values: Mapping[str, Any]) -> Any:
    """Return a value with its placeholders replaced; `_ABSENT` for one that has no value here."""
    if isinstance(value, str):
        if whole := _WORD.fullmatch(value):
            return values.get(whole[1], _ABSENT)
        for word in _words(value):
            if word not in values:
                raise claim.error(None, f'"{value}" needs {{{word}}}, which a row lacks', f"add {word} = … to each row")
        return _WORD.sub(lambda found: str(values[found[1]]), value)
    if isinstance(value, Mapping):
        filled = {key: _filled(claim, inner, values) for key, inner in value.items()}
        return {key: inner for key, inner in filled.items() if inner is not _ABSENT}
    if isinstance(value, list):
        return [inner for inner in (_filled(claim, entry, values) for entry in value) if inner is not _ABSENT]
    return value
