"""What goes wrong, told on standard error and in the exit status."""

import sys
from typing import Any

import typer
from typer.core import TyperGroup

FAILED = 1
WRONG_INPUT = 2
INTERRUPTED = 130


class InputError(Exception):
    """The command line asks for what cannot be; ``hint`` says what could."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Commands(TyperGroup):
    """The commands, with every failure turned into a message and an exit status."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            status = _report(str(error), error.hint, WRONG_INPUT)
        except KeyboardInterrupt:
            status = _report("interrupted", "", INTERRUPTED)
        except OSError as error:
            # A reader of our output that has gone away is the command line's own business.
            if isinstance(error, BrokenPipeError):
                raise
            status = _report(_os_message(error), "", FAILED)
        except Exception as error:
            status = _of_the_engine(error)
        raise typer.Exit(status)


def say(message: str) -> None:
    """Print a line on standard error."""
    print(message, file=sys.stderr, flush=True)


def _of_the_engine(error: Exception) -> int:
    from penstock import LimitError, OutputError, PenstockError, ScenarioError
    from penstock.reproduce.reading import PaperError
    from penstock.theory.configuration import Unsuited

    if isinstance(error, ScenarioError | PaperError):
        place = ":".join(str(part) for part in (error.file, error.line) if part not in (None, ""))
        parts = [part for part in (place, error.key, error.message) if part]
        return _report(": ".join(parts), error.hint or "", WRONG_INPUT)
    if isinstance(error, OutputError) and error.refused:
        return _report(str(error), "replace results with --force, or name another folder with --out", WRONG_INPUT)
    if isinstance(error, LimitError):
        return _report(str(error), error.hint, WRONG_INPUT)
    if isinstance(error, MemoryError):
        return _report(str(error) or "there is not enough memory", "", FAILED)
    if isinstance(error, Unsuited):
        return _report(error.reason, error.hint, WRONG_INPUT)
    if isinstance(error, PenstockError):
        return _report(str(error), "", FAILED)
    raise error


def _report(message: str, hint: str, status: int) -> int:
    say(f"error: {message}")
    if hint:
        say(f"hint: {hint}")
    return status


def _os_message(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)
