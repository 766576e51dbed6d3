"""Errors of the library's own functions; those of the engine are made in ``penstock._core``."""

from difflib import get_close_matches

from penstock._core import OutputError, PenstockError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class ArgumentError(PenstockError, ValueError):
    """An argument that a function cannot take.

    Attributes:
        message: the fault.
        hint: the remedy.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(f"{message}; {hint}" if hint else message)


class DeviceError(PenstockError):
    """A network interface of which the kernel says nothing, or that it does not change.

    Attributes:
        message: the refusal.
        hint: the remedy.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(f"{message}; {hint}" if hint else message)


class TextFileError(PenstockError, ValueError):
    """A text file of other people's format that cannot be used.

    Attributes:
        file: the file's name.
        line: the line, counted from 1; ``None`` where the whole file is meant.
        reason: the fault and the remedy.
    """

    def __init__(self, file: str, line: int | None, reason: str) -> None:
        self.file = file
        self.line = line
        self.reason = reason
        super().__init__(f"{file}: {reason}" if line is None else f"{file}:{line}: {reason}")


def nearest(word: str, known: "Iterable[str]", otherwise: str, *, cutoff: float = 0.4) -> str:
    """Return a hint for a word that is not known: the known word most like it, or else ``otherwise``."""
    near = get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return f"did you mean {near[0]}?" if near else otherwise


def unread(message: str) -> OutputError:
    """Return the error of a folder that cannot be read."""
    error = OutputError(message)
    error.refused = False
    return error
