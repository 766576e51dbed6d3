"""The terminal: standard output and standard error take any text, and pass no escape sequence on but Penstock's own.

Names of files, of scenarios and of nodes come from others. A terminal obeys what it finds in them, and not every one
writes every letter.
"""

import codecs
import io
import os
import sys
from typing import Any, TextIO

_OBEYED = (*range(0x20), *range(0x7F, 0xA0), 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Control characters, and those that turn the direction of writing."""

_SHOWN = {
    code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _OBEYED if chr(code) not in ("\n", "\t")
}

_PLAIN = {"\u202f": " ", "\u2009": " ", "σ": "sigma", "…": "...", "→": "->", "′": "'", "─": "-", "━": "-", "╸": "-"}
"""The sign for a letter that the terminal's encoding lacks; any other becomes its number."""


def printable(text: str) -> str:
    """Return a text with its control characters made visible, but for ends of lines and tabs."""
    return text.translate(_SHOWN)


def printable_json(text: str) -> str:
    """Return JSON text without control characters that a terminal obeys; it means the same."""
    return text.translate({code: f"\\u{code:04x}" for code in _SHOWN if code >= 0x7F})


class Plain(io.TextIOWrapper):
    """A stream that makes control characters visible."""

    def write(self, text: str, /) -> int:
        """Write a text."""
        super().write(printable(text))
        return len(text)


class Styled:
    """The same stream for a caller that makes the colours, and has made the texts of others visible."""

    def __init__(self, stream: Plain) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text as it is."""
        return io.TextIOWrapper.write(self._stream, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def styled(stream: TextIO) -> Any:
    """Return what writes colours on a standard stream."""
    return Styled(stream) if isinstance(stream, Plain) else stream


def take_over() -> None:
    """Make the standard streams such streams; one that is closed is there again, and says so when it is written to."""
    codecs.register_error("penstock", _instead)
    # A file of results must not get the number of a standard stream. A standard output that was
    # closed is opened to be read, so that writing to it fails.
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    sys.stdout = _plain(sys.stdout, 1)
    sys.stderr = _plain(sys.stderr, 2)


def _plain(stream: TextIO | None, number: int) -> Plain:
    if stream is None:
        return Plain(io.BufferedWriter(io.FileIO(number, "w", closefd=False)), "utf-8", "penstock")
    buffered = isinstance(stream, io.TextIOWrapper) and not stream.line_buffering
    stream.flush()
    return Plain(stream.detach(), stream.encoding, "penstock", line_buffering=not buffered)  # type: ignore[attr-defined]


def _instead(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    words = "".join(
        _PLAIN.get(letter) or letter.encode("ascii", "backslashreplace").decode("ascii") for letter in lacking
    )
    return words, error.end
