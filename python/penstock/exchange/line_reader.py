"""Tools that the readers of other people's files share: an error with its line, and lines taken entry by entry."""

import re

from penstock.errors import TextFileError

ENTRIES_MAX = 2_000_000
"""The most nodes, links, flows, connections or triggers of a file."""

UNENDED = "its last line has no line break; if the file is cut off there, a number may lack digits"
"""A note on a file whose last number may be shorter than it was."""

OCTETS_MAX = 200_000_000
"""The longest file that is read, octets."""

WHOLE = re.compile(r"\d{1,19}")
NUMBER = re.compile(r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?")

_SHOWN_MAX = 40


class ExchangeError(TextFileError):
    """A file of another simulator that cannot be used: it names the file, the line and the reason."""


def cut(word: str) -> str:
    """Return a word at a length that a message can show."""
    return word[:_SHOWN_MAX]


class Lines:
    """The lines of a file, taken one entry a line; ``name`` stands in messages.

    Attributes:
        at: the number of the line that was taken last, counted from 1.
    """

    def __init__(self, text: str, name: str) -> None:
        self._lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
        self._name = name
        self.at = 0

    def error(self, reason: str) -> ExchangeError:
        """Return an error at the line that was taken last."""
        return ExchangeError(self._name, max(self.at, 1), reason)

    def take(self, count: int, what: str) -> list[str]:
        """Return the fields of the next line, which are to be ``count``."""
        words = self.words(what) if count else self._take()
        if len(words) != count:
            raise self.error(f"the line has {len(words)} fields and not {count}; write {what}")
        return words

    def words(self, what: str) -> list[str]:
        """Return the fields of the next line, which is to be there."""
        if (self.at >= len(self._lines) or not self._lines[self.at].strip()) and self._ended():
            raise ExchangeError(self._name, None, f"the file ends too early; write {what}")
        return self._take()

    def _take(self) -> list[str]:
        words = self._lines[self.at].split() if self.at < len(self._lines) else []
        self.at += 1
        return words

    def next_words(self) -> list[str] | None:
        """Return the fields of the next line that has any and is no comment (``#``); ``None`` at the end."""
        while self.at < len(self._lines):
            words = self._lines[self.at].split()
            self.at += 1
            if words and not words[0].startswith("#"):
                return words
        return None

    def whole(self, word: str) -> int:
        """Return a whole number, not negative."""
        self.match(WHOLE, word, "a whole number of 0 or more", "1000")
        return int(word)

    def count(self, word: str) -> int:
        """Return a number of entries."""
        number = self.whole(word)
        if number > ENTRIES_MAX:
            raise self.error(f"the number is {number}; write {ENTRIES_MAX} at most")
        return number

    def node(self, word: str, nodes: int) -> int:
        """Return a node's number."""
        number = self.whole(word)
        if number >= nodes:
            raise self.error(f"there is no node {number}; the {nodes} nodes are numbered from 0")
        return number

    def match(self, pattern: re.Pattern[str], word: str, what: str, example: str) -> None:
        """Refuse a word that is not of a pattern."""
        if not word.isascii() or not pattern.fullmatch(word):
            raise self.error(f"{cut(word)!r} is not {what}; write one such as {example}")

    def remarks(self) -> str:
        """Return the text that is left."""
        return "\n".join(self._lines[self.at :])

    def _ended(self) -> bool:
        """Say whether only empty lines are left."""
        return not any(line.strip() for line in self._lines[self.at :])
