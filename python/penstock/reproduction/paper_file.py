"""The error of a paper's folder, and the reading of its TOML files."""

from pathlib import Path
from typing import Any

from penstock.toml_reader import PlacedError, Table, parse


class PaperError(PlacedError):
    """A folder that is not a valid paper.

    Attributes:
        file: the file, or the folder.
        line: the line, counted from 1, where it is known.
        key: the key, as a dotted path.
        message: the error.
        hint: text to write instead.
    """


def read(path: Path) -> dict[str, Any]:
    """Read a TOML file of a paper.

    Raises:
        PaperError: the file does not exist, or is not TOML.
    """
    return parse(path, PaperError, f"a paper's folder has a {path.name}")


def whole(path: Path) -> Table:
    """Read a TOML file of a paper as a table that is taken apart.

    Raises:
        PaperError: the file does not exist, or is not TOML.
    """
    return Table.of(path, "", read(path), PaperError)
