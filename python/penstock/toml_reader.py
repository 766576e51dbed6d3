"""Reading TOML files of our own: every value is checked when it is read; an error names file, line, key, and a hint."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

from penstock import PenstockError

MOST = 1e300
"""Numbers of claims are smaller."""


class PlacedError(PenstockError):
    """A file that is not what it is to be, with the line of the error.

    Attributes:
        file: the file, or the folder.
        line: the line, counted from 1, where it is known.
        key: the key, as a dotted path.
        message: the error.
        hint: text to write instead.
    """

    def __init__(self, file: Path, key: str | None, message: str, hint: str = "", line: int | None = None) -> None:
        self.file = str(file)
        self.line = line
        self.key = key
        self.message = message
        self.hint = hint
        position = self.file if line is None else f"{self.file}:{line}"
        super().__init__(": ".join(part for part in (position, key, message) if part))


def parse(path: Path, kind: type[PlacedError], missing: str) -> dict[str, Any]:
    """Read a TOML file; ``missing`` is the hint for one that is not there.

    Raises:
        PlacedError: the file does not exist, or is not TOML; of the class ``kind``.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise kind(path, None, "no such file", missing) from None
    except IsADirectoryError:
        raise kind(path, None, "is a folder, not a file", missing) from None
    except UnicodeDecodeError as error:
        raise kind(path, None, f"not text in UTF-8: {error.reason}", "save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        line = getattr(error, "lineno", None)
        raise kind(path, None, f"not TOML: {error}", "see https://toml.io", line) from None
    except (RecursionError, ValueError) as error:
        # Tables in tables without end, or a number of thousands of digits.
        raise kind(path, None, f"cannot be read: {error}", "write it with fewer levels and digits") from None


def nearest(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return a hint: the known word that is meant, or all of them."""
    words = list(known)
    near = get_close_matches(word, words, n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else otherwise or f"known are {', '.join(words)}"


@dataclass
class Table:
    """A table of a TOML file that is taken apart key by key; a key that is left at the end is an error."""

    file: Path
    path: str
    """The table's own dotted path."""
    values: dict[str, Any]
    kind: type[PlacedError]
    """The class of its errors."""
    line: int | None = None

    @classmethod
    def of(cls, file: Path, path: str, value: Any, kind: type[PlacedError], line: int | None = None) -> Self:
        """Take ``value`` for a table.

        Raises:
            PlacedError: it is not a table; of the class ``kind``.
        """
        if not isinstance(value, Mapping):
            raise kind(file, path, f"{value!r} is not a table", f"write {path} = {{ key = value }}", line)
        return cls(file, path, dict(value), kind, line)

    def error(self, key: str | None, message: str, hint: str = "") -> PlacedError:
        """Return an error at one of the table's keys, or at the table itself."""
        path = ".".join(part for part in (self.path, key) if part)
        return self.kind(self.file, path or None, message, hint, self.line)

    def text(self, key: str, default: str | None = None) -> str:
        """Take a text; without ``default`` it must be there."""
        value = self._take(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self.error(key, f"{value!r} is not a text", f'write {key} = "…"')
        return value

    def word(self, key: str, words: Iterable[str], default: str | None = None) -> str:
        """Take one of ``words``."""
        value = self.text(key, default)
        if value not in words:
            raise self.error(key, f"{value!r} is not known here", nearest(value, words))
        return value

    def number(self, key: str) -> float:
        """Take a number."""
        value = self._take(key, None)
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < MOST:
            raise self.error(
                key, f"{value!r} is not a number", "write a number, in the unit in which the metric's name ends"
            )
        return float(value)

    def switch(self, key: str, default: bool) -> bool:
        """Take true or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self.error(key, f"{value!r} is neither true nor false")
        return value

    def raw(self, key: str, default: Any = None) -> Any:
        """Take a value of any type; ``default`` if the key is missing."""
        return self.values.pop(key, default)

    def table(self, key: str) -> "Table":
        """Take a table; an empty one if it is not there."""
        path = ".".join(part for part in (self.path, key) if part)
        return Table.of(self.file, path, self.values.pop(key, {}), self.kind, self.line)

    def tables(self, key: str, lines: list[int] | None = None) -> list["Table"]:
        """Take a list of tables, ``[[key]]``; ``lines`` are the lines on which they begin."""
        value = self.values.pop(key, [])
        if not isinstance(value, list):
            raise self.error(key, "is not a list of tables", f"write [[{key}]]")
        found = []
        for i, entry in enumerate(value):
            line = lines[i] if lines and i < len(lines) else self.line
            path = ".".join(part for part in (self.path, key, str(i)) if part)
            found.append(Table.of(self.file, path, entry, self.kind, line))
        return found

    def end(self, known: Iterable[str]) -> None:
        """Refuse keys that have not been taken; ``known`` are the possible ones."""
        for key in self.values:
            raise self.error(key, "unknown key", nearest(key, known))

    def has(self, key: str) -> bool:
        """Say whether the key is there and not taken yet."""
        return key in self.values

    def _take(self, key: str, default: Any) -> Any:
        if key not in self.values and default is None:
            raise self.error(key, "is missing", f"add {key} = …")
        return self.values.pop(key, default)


def lines_of(path: Path, header: str) -> list[int]:
    """Return the lines on which tables of a list begin, ``[[header]]``."""
    text = path.read_text(encoding="utf-8")
    return [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == f"[[{header}]]"]
