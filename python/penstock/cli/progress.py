"""Progress on standard error, for runs that take longer than a second."""

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from penstock import interrupts
from penstock.cli.failure import say
from penstock.quantity_text import duration, events
from penstock.runs import RunCallbacks
from penstock.scenario import Progress as Watcher
from penstock.terminal import printable, styled

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

_SCREEN_BACK = b"\r\x1b[J\x1b[?25h"
"""The sequence that removes the bars from a terminal and shows the cursor again."""

_SILENT_S = 1.0
"""Wall time before the first bar, s: a very short run needs no bar."""


_ESTIMATE_S = 3.0
"""Wall time after which the rest of a run is estimated, s: its speed is known by then."""

_BETWEEN_LINES_S = 10.0
"""Wall time between two lines on many runs where there is no terminal, s."""

_LONG_S = 600.0
"""Time left above which it is printed once as a separate line, s."""


@dataclass(frozen=True)
class _Task:
    """The function that a run calls, see :meth:`penstock.scenario.Scenario.run`."""

    update: Watcher
    laying_out: Callable[[], None]

    def __call__(self, simulated_s: float, duration_s: float, events_so_far: int, wall_s: float) -> None:
        self.update(simulated_s, duration_s, events_so_far, wall_s)


@dataclass
class Counts:
    """What has become of many runs so far; of runs that are the same, one counts.

    Attributes:
        done: runs that have run now, and whose results are kept.
        skipped: those that were there already.
        failed: those that have failed.
        refused: those that cannot run, as their values do not go together.
    """

    done: int = 0
    skipped: int = 0
    failed: int = 0
    refused: int = 0


class Progress:
    """A bar for each run: simulated time, events per second, time left.

    Without a terminal there are no bars. A message still says that a run takes long, and with ``lines`` how many of
    many runs are done.
    """

    def __init__(self, *, quiet: bool, lines: bool = False) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._lines = lines and not quiet
        self._announced = quiet
        self._bars: Bars | None = None
        self._lock = threading.Lock()
        self._stopped = False
        self.counts = Counts()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()
            interrupts.on_screen(b"")

    @property
    def stopped(self) -> bool:
        """Whether all is to end."""
        return self._stopped

    def stop(self) -> None:
        """End every run and calculation that reports here; each run keeps what it recorded."""
        self._stopped = True

    def task(self, label: str) -> Watcher:
        """Return a function that a run calls to show its progress under ``label``; any thread may call it."""
        row = None

        def update(simulated_s: float, duration_s: float, events_so_far: int, wall_s: float) -> None:
            nonlocal row
            self._go_on()
            left_s = wall_s * (duration_s - simulated_s) / simulated_s if simulated_s else 0.0
            if wall_s >= _ESTIMATE_S and not self._announced:
                self._tell(label, simulated_s, duration_s, wall_s, left_s)
            if not self._shown or wall_s < _SILENT_S:
                return
            simulated = f"{duration(simulated_s)} of {duration(duration_s)}"
            speed = f"{events(events_so_far / wall_s)} events/s"
            left = f"{duration(round(left_s))} left"
            with self._lock:
                bars = self._start()
                if row is None:
                    row = bars.add_task(printable(label), total=duration_s, simulated=simulated, speed=speed, left=left)
                # Of many runs, those that are over leave the screen to the others.
                bars.update(
                    row,
                    completed=simulated_s,
                    simulated=simulated,
                    speed=speed,
                    left=left,
                    visible=simulated_s < duration_s,
                )

        return _Task(update, self._go_on)

    def _go_on(self) -> None:
        if self._stopped:
            raise KeyboardInterrupt

    def callbacks(self) -> RunCallbacks:
        """Return what many runs report to: a bar for each that takes long, and one for how many are done."""
        total: int | None = None
        row = None
        counts = self.counts
        started = printed_s = time.monotonic()

        def planned(count: int) -> None:
            nonlocal total
            total = count

        def skip(count: int) -> None:
            counts.skipped = count

        def refuse(count: int) -> None:
            counts.refused = count

        def fail(_label: str, _reason: str) -> None:
            with self._lock:
                counts.failed += 1
                show()

        def lost(label: str, reason: str) -> None:
            say(f"{label}: the worker was lost, and the run is sent again: {reason}")

        def finish() -> None:
            with self._lock:
                counts.done += 1
                show()

        def show() -> None:
            nonlocal row, printed_s
            now = time.monotonic()
            if total == 1 or now - started < _SILENT_S:
                return
            over = counts.done + counts.failed
            words = f"{counts.done} done" if total is None else f"{counts.done} of {total} done"
            for number, word in ((counts.failed, "failed"), (counts.refused, "refused"), (counts.skipped, "skipped")):
                words += f", {number} {word}" if number else ""
            left = ""
            if total is not None and over < total:
                left = f"{duration(round((now - started) * (total - over) / over))} left"
            if not self._shown:
                if self._lines and now - printed_s >= _BETWEEN_LINES_S:
                    printed_s = now
                    say(f"{words}, {left}" if left else words)
                return
            bars = self._start()
            if row is None:
                row = bars.add_task("runs", total=total, simulated="", speed="", left="")
            bars.update(row, completed=None if total is None else over, simulated=words, left=left)

        return RunCallbacks(
            planned=planned,
            skipped=skip,
            refused=refuse,
            run=self.task,
            done=finish,
            failed=fail,
            lost=lost,
            theory=self.part("theory"),
            stopped=lambda: self._stopped,
        )

    def part(self, label: str) -> Callable[[float], None]:
        """Return a function to call with the share of a calculation that is done."""
        row = None
        started = time.monotonic()

        def update(share: float) -> None:
            nonlocal row
            self._go_on()
            if not self._shown or time.monotonic() - started < _SILENT_S:
                return
            with self._lock:
                bars = self._start()
                if row is None:
                    row = bars.add_task(printable(label), total=1.0, simulated="", speed="", left="")
                left_s = (time.monotonic() - started) * (1 - share) / share if share else 0.0
                left = f"{duration(round(left_s))} left" if 0 < share < 1 else ""
                bars.update(row, completed=share, left=left, visible=share < 1)

        return update

    def _tell(self, label: str, simulated_s: float, duration_s: float, wall_s: float, left_s: float) -> None:
        """Say once how long the run will take, if that is very long."""
        with self._lock:
            if self._announced:
                return
            self._announced = True
        done = f"{duration(simulated_s)} of {duration(duration_s)} in {duration(round(wall_s))}"
        if left_s >= _LONG_S:
            left = f"this run will take up to about {duration(left_s)} at this speed"
            say(f"{label}: {left} ({done}); Ctrl-C ends it early")
        elif not simulated_s:
            say(f"{label}: no simulated time has passed yet ({done}); Ctrl-C ends it early")

    def _start(self) -> "Bars":
        if self._bars is None:
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bars

            from penstock.cli.report import Screen

            self._bars = Bars(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=30),
                TextColumn("{task.percentage:3.0f} %"),
                TextColumn("{task.fields[simulated]}"),
                TextColumn("{task.fields[speed]}"),
                TextColumn("{task.fields[left]}"),
                console=Screen(file=styled(sys.stderr)),
                transient=True,
            )
            interrupts.on_screen(_SCREEN_BACK)
            self._bars.start()
        return self._bars
