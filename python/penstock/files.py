"""Files that are whole under their final names, or not there at all.

Text and octets go to a hidden sibling first, which is flushed to the disk and then gets the name. The sibling's name
tells the process: two that write the same file do not meet, and the next one removes the sibling that a killed one has
left.
"""

import itertools
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from penstock import interrupts
from penstock.errors import ArgumentError, TextFileError

_count = itertools.count()


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8.

    Raises:
        OSError: it cannot be written; a file that had the name before is as it was.
    """
    with whole(path) as partial:
        partial.write_text(text, encoding="utf-8")


def write_octets(path: Path, octets: bytes) -> None:
    """Write a file.

    Raises:
        OSError: it cannot be written; a file that had the name before is as it was.
    """
    with whole(path) as partial:
        partial.write_bytes(octets)


def read_text(path: Path, octets_max: int, kind: type[TextFileError] = TextFileError) -> str:
    """Read a text file in UTF-8 of ``octets_max`` octets at most.

    Raises:
        TextFileError: it is longer, or no text; of the class ``kind``.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(octets_max + 1)
    if len(data) > octets_max:
        raise kind(str(path), None, f"the file has more than {octets_max} octets; give a shorter one")
    try:
        # Editors of some systems begin a file with a byte order mark.
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise kind(str(path), line, "this is not text; give a text file in UTF-8") from None


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give the name under which to write what is to be called ``path``; it gets its name when the block ends well.

    Raises:
        OSError: the file cannot be written; one that had the name before is as it was.
    """
    # Where the name is a link, the file behind it is meant.
    target = Path(os.path.realpath(path))
    _remove_leftovers(target)
    interrupts.writes(target)
    partial = target.with_name(f"{interrupts.prefix(target.name, os.getpid())}{next(_count)}")
    try:
        yield partial
        _flush(partial)
        partial.replace(target)
    except OSError as error:
        # A write that fails tells no name, and the hidden one tells nobody anything.
        if error.filename is None or Path(os.fsdecode(error.filename)) == partial:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Make a folder, if it is not there, and hold it against other processes until the block ends, however it ends.

    On Windows, which has no such locks, nothing is held.

    Raises:
        BlockingIOError: another process holds it.
        OSError: it cannot be made.
    """
    try:
        import fcntl
    except ModuleNotFoundError:
        folder.mkdir(parents=True, exist_ok=True)
        yield
        return
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            own = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # One that has just finished may have removed the folder.
            if folder.exists() and folder.stat().st_ino == os.fstat(own).st_ino:
                yield
                return
        finally:
            os.close(own)


@contextmanager
def alone(folder: Path, kind: str) -> Iterator[None]:
    """Hold a folder against other commands of a kind, such as "comparison", until the block ends.

    Raises:
        ArgumentError: another one is at work there.
    """
    holding = ExitStack()
    try:
        holding.enter_context(held(folder))
    except BlockingIOError:
        hint = "wait until it is done, end it, or name another folder"
        raise ArgumentError(f"{folder}: another {kind} is at work in this folder", hint) from None
    with holding:
        yield


def _flush(path: Path) -> None:
    """Have the system write a file to the disk: a full one fails here at the latest."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _remove_leftovers(target: Path) -> None:
    """Remove what processes of this machine that are no more have left beside ``target``."""
    before = interrupts.prefix(target.name, "")[:-1]
    try:
        entries = list(target.parent.iterdir())
    except OSError:
        return
    for entry in entries:
        process = entry.name.removeprefix(before).partition("-")[0] if entry.name.startswith(before) else ""
        if process.isdecimal() and Path("/proc/self").exists() and not Path(f"/proc/{process}").exists():
            interrupts.remove(str(entry))
