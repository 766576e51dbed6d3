"""State of running testbeds, and the removal of one's remains, however it ended."""

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from penstock.testbed import linux
from penstock.testbed.errors import TestbedError

_NAME = re.compile(r"pt-(\d+)-[0-9a-f]{4}-.+")
"""Namespaces of testbeds: the process that has made them, a random number, the node."""

_TEMPORARY = "penstock-testbed-run-"
"""How the names of the folders begin in which processes write."""

_PATIENCE_S = 5.0
"""How long a process may take to end by itself."""


@dataclass
class State:
    """A running testbed, in a file, so that another process can end it.

    ``folder`` is where its processes write. ``owner`` and ``processes`` are process numbers, each with the time of its
    start: a number alone may be another's later.
    """

    prefix: str
    scenario: str
    owner: tuple[int, int]
    folder: str
    processes: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def new(cls, scenario: str) -> "State":
        """Return the state of a testbed that this process begins, with a folder for what its processes write."""
        own = os.getpid()
        folder = tempfile.mkdtemp(prefix=_TEMPORARY)
        return cls(f"pt-{own}-{secrets.token_hex(2)}", scenario, (own, started(own) or 0), folder)

    @property
    def file(self) -> Path:
        """The file that holds it."""
        return _folder() / f"{self.prefix}.json"

    def save(self) -> None:
        """Write the file, whole or not at all."""
        partial = self.file.with_suffix(".partial")
        partial.write_text(json.dumps(asdict(self)))
        partial.replace(self.file)

    def alive(self) -> bool:
        """Return whether the process that made it still runs."""
        return started(self.owner[0]) == self.owner[1]

    def remove(self) -> None:
        """Kill its processes, delete its namespaces, its folder and its file."""
        for number, start in self.processes:
            if started(number) == start:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
        _delete(namespaces(self.prefix))
        if Path(self.folder).name.startswith(_TEMPORARY):
            shutil.rmtree(self.folder, ignore_errors=True)
        self.file.unlink(missing_ok=True)


def _folder() -> Path:
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"penstock-testbed-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def started(process: int) -> int | None:
    """Return when a process started, in ticks since the system's start; ``None`` if it has ended."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    # The name in parentheses may hold blanks: fields count from behind it.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] == "Z" else int(fields[19])


def namespaces(prefix: str) -> list[str]:
    """Return the namespaces whose names begin with a testbed's prefix."""
    try:
        return sorted(path.name for path in linux.NAMESPACES.iterdir() if path.name.startswith(f"{prefix}-"))
    except OSError:
        return []


def _delete(names: list[str]) -> None:
    for name in names:
        with contextlib.suppress(TestbedError):
            linux.ip("netns", "delete", name)


def _states() -> list[State]:
    states = []
    for file in sorted(_folder().glob("pt-*.json")):
        try:
            data = json.loads(file.read_text())
            owner = (int(data["owner"][0]), int(data["owner"][1]))
            processes = [(int(number), int(start)) for number, start in data["processes"]]
            states.append(State(data["prefix"], data["scenario"], owner, data["folder"], processes))
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            # No state of ours, or one that was being written by a process that is gone.
            file.unlink(missing_ok=True)
    return states


def clear() -> list[str]:
    """Remove what testbeds have left whose process is gone, and return their prefixes."""
    removed = []
    for state in _states():
        if not state.alive():
            state.remove()
            removed.append(state.prefix)
    removed += _orphans()
    return removed


def _orphans() -> list[str]:
    """Remove namespaces of a testbed without a state, if the process that made them is gone."""
    found: dict[str, list[str]] = {}
    try:
        names = sorted(path.name for path in linux.NAMESPACES.iterdir())
    except OSError:
        return []
    known = {state.prefix for state in _states()}
    for name in names:
        match = _NAME.fullmatch(name)
        if match and started(int(match[1])) is None:
            prefix = "-".join(name.split("-")[:3])
            if prefix not in known:
                found.setdefault(prefix, []).append(name)
    for names in found.values():
        _delete(names)
    return sorted(found)


def down(scenario: str | None = None) -> list[str]:
    """End running testbeds of a scenario, or all of this user, and remove what others have left.

    Args:
        scenario: a scenario's name; ``None`` for all.

    Returns:
        The prefixes of the testbeds that were ended or whose leftovers were removed.
    """
    ended = []
    for state in _states():
        if scenario is not None and state.scenario != scenario:
            continue
        if state.alive() and state.owner[0] != os.getpid():
            _end(state)
        state.remove()
        ended.append(state.prefix)
    return ended + clear()


def _end(state: State) -> None:
    """Ask a testbed's process to end, and make it."""
    number = state.owner[0]
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, signal.SIGINT)
        limit = time.monotonic() + _PATIENCE_S
        while state.alive() and time.monotonic() < limit:
            time.sleep(0.05)
        if state.alive():
            os.kill(number, signal.SIGKILL)
