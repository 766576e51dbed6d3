"""What a report is made of, whatever it is about: a verdict, sections of text, tables and pictures, and its origin.

Commands build a :class:`Report` of these parts, and :func:`penstock.reports.write` makes one HTML file of it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from penstock.scenario import parts_of

if TYPE_CHECKING:
    from penstock.scenario import Scenario


@dataclass(frozen=True)
class Mark:
    """A cell of a table that judges: a word in a colour.

    Attributes:
        text: the word.
        good: whether it is good or bad news; ``None`` for neither.
    """

    text: str
    good: bool | None = None


Cell = str | Mark | None
"""A cell: its text with the unit; ``None`` where there is no value."""


@dataclass(frozen=True)
class Table:
    """A table. The first column has names; columns of numbers are aligned on the right.

    Attributes:
        head: headings of the columns.
        rows: rows, each with a cell for each column.
        title: the heading above it.
        note: a sentence below it.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    note: str = ""

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column has numbers alone, which begin with a digit or a sign; the first column has names."""
        columns = ([row[place] for row in self.rows] for place in range(1, len(self.head)))
        return (False, *(all(cell in (None, "", "-") or _is_number(cell) for cell in cells) for cells in columns))

    @property
    def letters(self) -> int:
        """The width of the table: the longest cell of each column, or the longest word of its heading."""
        columns = zip(*(map(_text, row) for row in self.rows), strict=True)
        return sum(
            max(map(len, (*cells, *heading.split()))) for heading, cells in zip(self.head, columns, strict=False)
        )


def _text(cell: Cell) -> str:
    return cell.text if isinstance(cell, Mark) else cell or ""


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, str) and cell.lstrip("+-−×~<>≤≥ ")[:1].isdigit()


@dataclass(frozen=True)
class Picture:
    """A picture inside the page.

    Attributes:
        source: an element of SVG, or a ``data:`` address.
        caption: a sentence below it.
    """

    source: str
    caption: str


@dataclass(frozen=True)
class Points:
    """A list of sentences."""

    sentences: Sequence[str]


@dataclass(frozen=True)
class Listing:
    """Text as it stands in a file or a terminal.

    Attributes:
        text: the text.
        title: the line above it.
    """

    text: str
    title: str = ""


Part = str | Table | Picture | Points | Listing
"""A part of a section; a plain text is a paragraph."""


@dataclass(frozen=True)
class Section:
    """A section.

    Attributes:
        title: its heading.
        parts: its contents, in order.
    """

    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Source:
    """A file from which the report follows.

    Attributes:
        name: its name or path, as it was given.
        sha256: the hash of its octets, 64 hexadecimal digits.
        text: the text that stands in the report; empty for a file whose text is left out.
        settings: keys that were set beside the file; ``text`` has their values, the file has not.
    """

    name: str
    sha256: str
    text: str = ""
    settings: Sequence[str] = ()

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """Return a file without its text.

        Raises:
            OSError: it cannot be read.
        """
        return cls(str(path), _hash(path.read_bytes()))

    @classmethod
    def of_scenario(cls, scenario: "Scenario") -> Self:
        """Return the file of a scenario with its text; of one without a file, the hash is that of its text."""
        text, origin, name, keys_set = parts_of(scenario)
        path = Path(origin)
        if path.is_file():
            return cls(origin, _hash(path.read_bytes()), text, keys_set)
        return cls(name, _hash(text.encode()), text)


def _hash(octets: bytes) -> str:
    return hashlib.sha256(octets).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Report:
    """A report: first a verdict, then the evidence, then all that is needed to repeat it.

    Attributes:
        title: the subject, such as the name of a fabric.
        kind: what was done, such as ``Headroom``; it stands above the title.
        verdict: the answer in a sentence, with its number.
        good: whether that is good or bad news; ``None`` for neither.
        question: the question that it answers; empty where the verdict alone serves.
        sections: the evidence.
        assumptions: sentences on what the answer rests on, and where it ends.
        sources: the files from which it follows.
        seeds: the seeds of all runs; none where nothing is random.
        command: the command that repeats it.
    """

    title: str
    kind: str
    verdict: str
    good: bool | None = None
    question: str = ""
    sections: Sequence[Section]
    assumptions: Sequence[str] = ()
    sources: Sequence[Source] = ()
    seeds: Sequence[int] = ()
    command: str = ""
