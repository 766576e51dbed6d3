"""The executor of this machine: a thread for each core. The engine releases Python's lock while it runs."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeVar

from penstock.executors.executor import Ended, Executor, Job, Session
from penstock.executors.processes import cores

if TYPE_CHECKING:
    from penstock.runs import Watch
    from penstock.scenario import Progress

T = TypeVar("T")

_BETWEEN_LOOKS_S = 0.1
_WAITING = 64
"""Jobs that wait for a thread, so that none is idle while the caller deals with what has ended."""


class Cores(Executor):
    """The cores of this machine.

    Args:
        workers: number of threads, by default one for each core that the process may use.
    """

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or cores()
        self._pool = ThreadPoolExecutor(max_workers=self._workers)

    def session(self, watch: "Watch") -> Session[T]:
        """Begin with the jobs of one call."""
        return _Threads(self._pool, self._workers, watch)

    def close(self) -> None:
        """End the threads; a run that is under way ends first."""
        self._pool.shutdown()


class _Threads(Session[T]):
    def __init__(self, pool: ThreadPoolExecutor, workers: int, watch: "Watch") -> None:
        self._pool = pool
        self._room = workers + _WAITING
        self._watch = watch
        self._over = threading.Event()
        self._ends: SimpleQueue[Ended[T]] = SimpleQueue()
        self._outstanding = 0

    @property
    def room(self) -> int:
        return self._room

    def submit(self, job: Job[T]) -> None:
        self._pool.submit(self._work, job)
        self._outstanding += 1

    def ended(self, timeout_s: float) -> Sequence[Ended[T]]:
        found: list[Ended[T]] = []
        try:
            found.append(self._ends.get(timeout=timeout_s))
            while True:
                found.append(self._ends.get_nowait())
        except Empty:
            self._outstanding -= len(found)
            return found

    def stop(self) -> Sequence[Ended[T]]:
        self._over.set()
        found: list[Ended[T]] = []
        while self._outstanding:
            found += self.ended(_BETWEEN_LOOKS_S)
        return found

    def _is_over(self) -> bool:
        return self._over.is_set() or self._watch.stopped()

    def _work(self, job: Job[T]) -> None:
        try:
            if self._is_over():
                ended: Ended[T] = Ended(job.place)
            else:
                ended = job(_Ending(self._watch.run(job.run.label), self._is_over))
        except BaseException as error:
            ended = Ended(job.place, error=error)
        self._ends.put(ended)


class _Ending:
    """The progress of a run that ends once ``ended`` answers yes."""

    def __init__(self, progress: "Progress | None", ended: Callable[[], bool]) -> None:
        self._progress = progress or (lambda *_: None)
        self._laying_out: Callable[[], object] = getattr(progress, "laying_out", lambda: None)
        self._ended = ended

    def __call__(self, simulated_s: float, duration_s: float, events: int, wall_s: float) -> None:
        self._go_on()
        self._progress(simulated_s, duration_s, events, wall_s)

    def laying_out(self) -> None:
        self._go_on()
        self._laying_out()

    def _go_on(self) -> None:
        if self._ended():
            raise KeyboardInterrupt
