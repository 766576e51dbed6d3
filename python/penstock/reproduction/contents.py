"""The contents of a paper's folder, read without running any of its code: for lists."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import ArgumentError
from penstock.reproduction.grid import claims_of
from penstock.reproduction.paper import Figure, figure_of
from penstock.reproduction.paper_file import PaperError, whole
from penstock.toml_reader import lines_of

PAPERS = Path("papers")
"""The folder that is searched for papers."""


@dataclass(frozen=True)
class Contents:
    """A paper as its claims.toml has it.

    Attributes:
        name: the folder's name.
        title: the paper's title.
        source: its citation, by author and year.
        figures: its figures and tables.
        claims: the claims of each figure by its name.
        drawn: the names of the figures that its figures.py draws.
    """

    name: str
    title: str
    source: str
    figures: tuple[Figure, ...]
    claims: dict[str, list[str]]
    drawn: frozenset[str]


def papers() -> list[Contents]:
    """Return what the papers below ``./papers`` hold, in the order of their names; no code of theirs is run.

    :func:`penstock.reproduce` reproduces one.

        >>> [(paper.name, [figure.name for figure in paper.figures]) for paper in penstock.papers()]

    Raises:
        ArgumentError: there is no paper.
        PaperError: a paper's ``claims.toml``, or its ``figures.py``, cannot be read.
    """
    return [contents(folder) for folder in folders()]


def folders() -> list[Path]:
    """Return the folders of the papers below ``./papers``.

    Raises:
        ArgumentError: there is no paper.
    """
    found = sorted(path.parent for path in PAPERS.glob("*/claims.toml"))
    if not found:
        raise ArgumentError(
            f"there is no paper below ./{PAPERS}",
            "change to the folder that contains ./papers, or name a paper's folder",
        )
    return found


def contents(folder: Path) -> Contents:
    """Read the contents of a paper's folder.

    Raises:
        PaperError: its claims.toml, or its figures.py, cannot be read.
    """
    path = folder / "claims.toml"
    document = whole(path)
    title, source = document.text("title"), document.text("source")
    figures = tuple(figure_of(table) for table in document.tables("figure", lines_of(path, "figure")))
    claims: dict[str, list[str]] = {figure.name: [] for figure in figures}
    for table in claims_of(document, path):
        name = table.text("id")
        claims[table.word("figure", claims)].append(name)
    return Contents(folder.resolve().name, title, source, figures, claims, _drawn(folder / "figures.py", figures))


def _drawn(path: Path, figures: tuple[Figure, ...]) -> frozenset[str]:
    """Return the figures that ``FIGURES.draw("name", …)`` names, or may name: ``f"figure-{number}"`` in a loop."""
    if not path.is_file():
        return frozenset()
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError, RecursionError) as error:
        raise PaperError(path, None, f"is not valid Python: {error}") from None
    patterns = [
        _pattern(call.args[0])
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "draw"
        and call.args
    ]
    return frozenset(f.name for f in figures if any(re.fullmatch(pattern, f.name) for pattern in patterns))


def _pattern(name: ast.expr) -> str:
    """Return a pattern of the texts that an expression may give."""
    if isinstance(name, ast.Constant):
        return re.escape(str(name.value))
    parts = name.values if isinstance(name, ast.JoinedStr) else []
    return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in parts)
