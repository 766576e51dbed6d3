"""The effect of signals on a command: it ends at once, with nothing half-written, or keeps what it has recorded.

An exception in the middle of anything, as Python's KeyboardInterrupt is one, gets lost in callbacks and meets code
that was not made for it. The next one may come while it is dealt with. Therefore the handler itself ends the process:
it removes what is not whole, says so, and exits. Only where what was recorded is worth keeping does a first Ctrl-C ask
the runs to end instead; see :class:`on_interrupt`. SIGKILL leaves what is not whole under a hidden name that tells the
process; the next command that writes there removes it.

This module imports next to nothing: Ctrl-C counts from the first moment on, and the rest of Penstock takes a while to
load.
"""
# pathlib and contextlib take longer to load than all that is here.
# ruff: noqa: PTH100, PTH106, PTH108, PTH112, PTH114, PTH118, PTH123, PTH208, SIM105

import os
import sys
import time

# The module signal is this one with names for its numbers, which take longer to load than all else here.
from _signal import SIG_IGN, SIGINT, SIGTERM, getsignal, signal  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn, Self

# The word for each; the exit status is that of shells, 128 and the signal's number.
_SIGNALS = {SIGINT: "interrupted", SIGTERM: "terminated"}
try:
    from _signal import SIGHUP

    _SIGNALS[SIGHUP] = "the terminal is gone"
except ImportError:
    # Windows has none.
    pass

_PASSES = 100
_BETWEEN_PASSES_S = 0.01


class _State:
    """The state that the handlers go by."""

    def __init__(self) -> None:
        self.on_interrupt: on_interrupt | None = None
        """The results that a first Ctrl-C keeps; ``None`` where it ends the command."""
        self.kept = ""
        """The text about the results that are kept when the command is ended."""
        self.targets: list[str] = []
        """Final names of what is being written."""
        self.at_end: list[Callable[[], None]] = []
        """Functions that are called before a signal ends the process."""
        self.on_screen = b""
        """The function that gives the terminal back as it was."""


_state = _State()


def install() -> None:
    """Take over the signals that end a command, but for those that its parent wants ignored."""
    for number in _SIGNALS:
        if getsignal(number) != SIG_IGN:
            signal(number, _handle)


class on_interrupt:  # noqa: N801 (a context manager)
    """Within it the first Ctrl-C calls ``stop``, or raises KeyboardInterrupt without one; the second ends the command.

    Where :func:`install` was not called, as in a notebook, it does nothing.

    Attributes:
        asked: whether Ctrl-C came.
    """

    def __init__(self, stop: "Callable[[], None] | None" = None) -> None:
        self.asked = False
        self._stop = stop

    def __enter__(self) -> "Self":
        _state.on_interrupt = self
        return self

    def __exit__(self, *_: object) -> None:
        _state.on_interrupt = None

    def ask(self) -> None:
        """Ask for an end that keeps the results."""
        self.asked = True
        if self._stop is None:
            raise KeyboardInterrupt
        self._stop()

    def begin_no_more(self) -> None:
        """See to it that no further run begins to write."""
        if self._stop is not None:
            self._stop()


class exit_note:  # noqa: N801
    """Within it, whoever ends the command sees ``words``: which results are whole already, and where."""

    def __init__(self, words: str) -> None:
        self._words = words

    def __enter__(self) -> None:
        _state.kept = self._words

    def __exit__(self, *_: object) -> None:
        _state.kept = ""


def writes(target: str | os.PathLike[str]) -> None:
    """Note that the command writes what is to be called ``target``: a signal that ends it removes what is not whole."""
    path = os.path.abspath(os.fspath(target))
    _state.targets.append(os.path.realpath(path) if os.path.isdir(path) else path)


def at_end(call: "Callable[[], None]") -> None:
    """Note a function, a quick one, for a signal that ends the command to call.

    It ends processes of this one's own, or removes what is not a file.
    """
    _state.at_end.append(call)


def not_at_end(call: "Callable[[], None]") -> None:
    """Take back what was noted with :func:`at_end`."""
    _state.at_end = [other for other in _state.at_end if other != call]


def on_screen(restoring: bytes) -> None:
    """Note what gives the terminal behind standard error back as it was, or nothing."""
    _state.on_screen = restoring


def prefix(name: str, process: int | str) -> str:
    """Return what the hidden name begins with under which ``process`` writes what is to be called ``name``.

    Folders that the engine writes have the same names (`crates/runner/src/folder.rs`); the number of a process means
    something on one machine only.
    """
    return f".{name}.partial-{machine()}-{process}-"


def machine() -> str:
    """Return the name of this machine, as the engine has it."""
    try:
        with open("/proc/sys/kernel/hostname", encoding="utf-8", errors="surrogateescape") as file:
            return file.read().strip()
    except OSError:
        return ""


def remove(path: str) -> None:
    """Remove a file or a folder with all that is in it, as far as the system lets us."""
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            for entry in os.listdir(path):
                remove(os.path.join(path, entry))
            os.rmdir(path)
        else:
            os.unlink(path)
    except OSError:
        pass


def finish(status: int) -> "NoReturn":
    """End the process in order; from here on no signal does anything."""
    _ignore()
    status = _flush(status)
    if "atexit" in sys.modules:
        # Exit functions of libraries tidy up: matplotlib's removes its temporary folder.
        try:
            sys.modules["atexit"]._run_exitfuncs()
        except BaseException:
            status = status or 1
    os._exit(status)


def _flush(status: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough.
        status = status or 1
    except OSError as error:
        if not status:
            _say(f"error: standard output: {error.strerror}")
        status = status or 1
    try:
        sys.stderr.flush()
    except OSError:
        status = status or 1
    return status


def _handle(number: int, frame: "FrameType | None") -> None:
    kept, _state.on_interrupt = _state.on_interrupt, None
    if number == SIGINT and kept is not None:
        kept.ask()
        return
    _end(number, kept)


def _end(number: int, kept: on_interrupt | None) -> "NoReturn":
    _ignore()
    if kept is not None:
        kept.begin_no_more()
    for call in _state.at_end:
        try:
            call()
        except Exception:
            pass
    _sweep()
    if _state.on_screen:
        os.write(2, _state.on_screen)
    word = _SIGNALS[number]
    _say(f"{word} {_state.kept}" if _state.kept else f"error: {word}")
    os._exit(128 + number)


def _ignore() -> None:
    for number in _SIGNALS:
        signal(number, SIG_IGN)


def _say(line: str) -> None:
    try:
        os.write(2, f"{line}\n".encode(errors="backslashreplace"))
    except OSError:
        pass


def _sweep() -> None:
    """Remove what is not whole. Runs of other threads may still be writing there: until nothing is found twice."""
    # While it is loaded it has no threads yet, and may lack the function.
    running = getattr(sys.modules.get("threading"), "active_count", lambda: 1)
    clean = 0
    for _ in range(_PASSES):
        found = _unfinished()
        for path in found:
            remove(path)
        clean = 0 if found else clean + 1
        if clean and (clean > 1 or running() < 2):
            return
        time.sleep(_BETWEEN_PASSES_S)


def _unfinished() -> list[str]:
    found = []
    for target in _state.targets:
        folder, name = os.path.split(target)
        own = prefix(name, os.getpid())
        try:
            entries = os.listdir(folder)
        except OSError:
            continue
        found += [os.path.join(folder, entry) for entry in entries if entry.startswith(own)]
    return found
