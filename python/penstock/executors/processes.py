"""This machine: the cores that the process may use, and processes by their parents, as Linux reports them."""

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def cores() -> int:
    """Return the number of cores that this process may use; where the system tells it of none, of all."""
    # Linux alone knows.
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable is not None else os.cpu_count() or 1


def children(of: int) -> dict[int, str]:
    """Return the processes whose parent is ``of``, with their names."""
    return {pid: name for pid, (own, name) in _every().items() if own == of}


def below(of: int) -> list[int]:
    """Return the processes that descend from ``of``."""
    parents = {pid: own for pid, (own, _) in _every().items()}
    found = [of]
    for pid in found:
        found += [child for child, own in parents.items() if own == pid]
    return found[1:]


def parent(of: int) -> int:
    """Return the parent of a process.

    Raises:
        KeyError: there is no such process.
    """
    return _every()[of][0]


def kill(pids: Iterable[int]) -> None:
    """End processes at once; one that has ended already is none."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _every() -> dict[int, tuple[int, str]]:
    """Return the parent and the name of each process."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                before, _, after = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")
            except OSError:
                # It has ended meanwhile.
                continue
            found[int(folder.name)] = int(after.split()[1]), before.partition("(")[2]
    return found
