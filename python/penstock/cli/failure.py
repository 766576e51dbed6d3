"""Errors, reported on standard error and in the exit status."""

import errno
import re
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from penstock.terminal import printable

FAILED = 1
WRONG_INPUT = 2
INTERRUPTED = 130


class InputError(Exception):
    """The command line asks for something impossible; ``hint`` says what could be."""

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
            # Of a command as a process signals have ended it already, but where one keeps the records.
            status = _report("interrupted", "", INTERRUPTED)
        except ModuleNotFoundError as error:
            status = _of_an_extra(error)
        except OSError as error:
            # A reader of our output that has gone away is the command line's own business.
            if isinstance(error, BrokenPipeError):
                raise
            status = _os_failure(error)
        except Exception as error:
            status = _of_the_engine(error)
        raise typer.Exit(status)


def say(message: str) -> None:
    """Print a line on standard error."""
    print(printable(message), file=sys.stderr, flush=True)


# The extra of the package that has a module; `pyproject.toml` lists them.
_EXTRAS = {
    "scipy": "theory",
    "optuna": "tune",
    "jax": "jax",
    "duckdb": "sweep",
    "ray": "ray",
    "scapy": "wire",
}


def _of_an_extra(error: ModuleNotFoundError) -> int:
    module = (error.name or "").partition(".")[0]
    extra = _EXTRAS.get(module)
    if extra is None:
        raise error
    return _missing(module, extra)


def _missing(package: str, extra: str) -> int:
    return _report(f"this needs {package}, which is not installed", f"pip install 'penstock[{extra}]'", FAILED)


def _of_the_engine(error: Exception) -> int:
    from penstock import ArgumentError, LimitError, MissingExtraError, OutputError, PenstockError, ScenarioError
    from penstock.errors import DeviceError, TextFileError
    from penstock.testbed.errors import TestbedError
    from penstock.theory.configuration import UnsuitedScenarioError
    from penstock.toml_reader import PlacedError

    if isinstance(error, ScenarioError | PlacedError):
        place = ":".join(str(part) for part in (error.file, error.line) if part not in (None, ""))
        parts = [part for part in (place, error.key, error.message) if part]
        return _report(": ".join(parts), error.hint or "", WRONG_INPUT)
    if isinstance(error, MissingExtraError):
        return _missing(error.package, error.extra)
    if isinstance(error, ArgumentError):
        return _report(error.message, error.hint, WRONG_INPUT)
    if isinstance(error, DeviceError):
        return _report(error.message, error.hint, FAILED)
    if isinstance(error, TextFileError):
        return _report(str(error), "", WRONG_INPUT)
    if isinstance(error, OutputError) and error.refused:
        return _report(str(error), error.hint or "", WRONG_INPUT)
    if isinstance(error, LimitError):
        return _report(str(error), error.hint, WRONG_INPUT)
    if isinstance(error, MemoryError):
        return _report(str(error) or "there is not enough memory", "", FAILED)
    if isinstance(error, TestbedError):
        return _report(error.message, error.hint, WRONG_INPUT if error.unsuited else FAILED)
    if isinstance(error, UnsuitedScenarioError):
        return _report(error.reason, error.hint, WRONG_INPUT)
    if isinstance(error, PenstockError):
        return _report(str(error), "", FAILED)
    raise error


# Python's names on the command line: a keyword argument is an option, mostly of the same name.
_ARGUMENT = re.compile(r"^<arguments>: (\w+): ")
_SETTER = re.compile(r"as given by set\(\)")
_GIVEN = re.compile(r"as given by (profile|scheme|seed)=")
_KEYWORD = re.compile(
    r"(?<![\w.])(against|deadlock|degrade|down|goal|incast|library|limit|links_down|metric|model|panel|queue|ray|reading|resume|"
    r"scheme|schemes|seeds|slow|storm|to|topology|victim|where|x|y)="
    r'(?:\[([^\]]*)\]|"([^"]*)"|([\w.-]+))'
)
_FLAGS = {"reading": "set", "links_down": "links-down"}


def as_options(text: str) -> str:
    """Return what Python says of its keywords, said of the options of the command line."""
    text = _ARGUMENT.sub(r"--\1: ", text)
    return _KEYWORD.sub(_as_option, _GIVEN.sub(r"as given by --\1", _SETTER.sub("as given by --set", text)))


def _as_option(keyword: re.Match[str]) -> str:
    name, entries, quoted, bare = keyword.groups()
    value = entries.replace('"', "").replace(", ", ",") if entries is not None else quoted or bare or ""
    flag = f"--{_FLAGS.get(name, name)}"
    return flag if value == "True" else f"{flag} {value}"


def _report(message: str, hint: str, status: int) -> int:
    say(f"error: {as_options(message)}")
    if hint:
        say(f"hint: {as_options(hint)}")
    return status


def _os_failure(error: OSError) -> int:
    """Report the system's refusal; a name that it does not take is wrong input."""
    hint = _WRONG_NAMES.get(error.errno or 0)
    return _report(_os_message(error), hint or "", FAILED if hint is None else WRONG_INPUT)


_WRONG_NAMES = {
    errno.ENAMETOOLONG: "a name has at most 255 octets; results add up to 60 to it",
    errno.ENOTDIR: "a part of the path is a file, not a folder: name another",
    errno.EISDIR: "name a file, not a folder",
    errno.EACCES: "name a folder where you may read and write",
    errno.EPERM: "name a folder where you may read and write",
    errno.EROFS: "name a folder where you may read and write",
    errno.ELOOP: "a symbolic link points to itself: name another path",
}


def _os_message(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else f"standard output: {error.strerror}"
