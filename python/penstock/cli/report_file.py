"""The option `--report`: where the report goes, and the command that stands in it."""

import shlex
import sys
from pathlib import Path

from penstock.cli.failure import InputError, say
from penstock.cli.locate import file_to_write
from penstock.reports import Report, write


def check_report(path: Path | None, *, force: bool) -> None:
    """Refuse a report that cannot be written, or would replace a file: asked before the work, not after it."""
    if path is not None and file_to_write(path, (".html",), option="--report").exists() and not force:
        raise InputError(f"--report {path}: the file exists", "replace it with --force, or name another file")


def write_report(report: Report, path: Path, *, quiet: bool = False) -> None:
    """Write a report, and say so on standard error."""
    write(report, path)
    if not quiet:
        say(f"report: {path}")


def command() -> str:
    """Return the command line that runs, as a shell takes it."""
    return shlex.join(["penstock", *sys.argv[1:]])
