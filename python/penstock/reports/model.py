"""What a report is made of, whatever it is about: a verdict, sections of text, tables and pictures, and its origin.

Commands build a :class:`Report` of these parts, and :func:`penstock.reports.write` makes one HTML file of it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from penstock import library
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


_BROKEN_AT, _LONGEST_NAME = 28, 48
"""Letters, from which on a sentence in a cell is broken into lines, and those of the longest name."""

_GAP = 2

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
        """Whether most cells of a column that have a value are numbers; the first column has names."""
        columns = [[row[place] for row in self.rows] for place in range(1, len(self.head))]
        known = [[cell for cell in cells if cell not in (None, "", "-")] for cells in columns]
        return (False, *(not cells or 2 * sum(map(_is_number, cells)) > len(cells) for cells in known))

    @property
    def named(self) -> bool:
        """Whether the first column has names, which stand on one line, and no sentences."""
        return all(len(text_of(row[0])) <= _LONGEST_NAME for row in self.rows)

    @property
    def letters(self) -> tuple[int, ...]:
        """The width of each column and the gap after it: its longest cell, or the longest word of its heading."""
        found = []
        for place, heading in enumerate(self.head):
            words = heading.split() if self.numeric[place] else [heading]
            longest = max(map(len, (*words, *(text_of(row[place]) for row in self.rows), "")))
            whole = self.numeric[place] or (place == 0 and self.named)
            found.append(_GAP + (longest if whole else min(longest, _BROKEN_AT)))
        return tuple(found)

    def turned(self) -> "Table":
        """Return the table with its rows as columns."""
        columns = [[row[place] for row in self.rows] for place in range(1, len(self.head))]
        return Table(
            [self.head[0], *(text_of(row[0]) for row in self.rows)],
            [[heading, *cells] for heading, cells in zip(self.head[1:], columns, strict=True)],
            title=self.title,
            note=self.note,
        )

    def fitting(self, most: int) -> "list[Table]":
        """Return the table in parts of at most ``most`` letters side by side, each with the first column."""
        first, *rest = self.letters
        parts: list[list[int]] = [[]]
        for place, letters in enumerate(rest, 1):
            if parts[-1] and first + sum(self.letters[n] for n in parts[-1]) + letters > most:
                parts.append([])
            parts[-1].append(place)
        return [
            Table(
                [self.head[n] for n in (0, *part)],
                [[row[n] for n in (0, *part)] for row in self.rows],
                title="" if number else self.title,
                note=self.note if number == len(parts) - 1 else "",
            )
            for number, part in enumerate(parts)
        ]


def text_of(cell: Cell) -> str:
    """Return the text of a cell; nothing where there is no value."""
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
            shipped = path.is_relative_to(library.OURS)
            shown = f"{path.relative_to(library.OURS).with_suffix('')} of Penstock" if shipped else origin
            return cls(shown, _hash(path.read_bytes()), text, keys_set)
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
