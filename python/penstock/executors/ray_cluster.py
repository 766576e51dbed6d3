"""The executor of a Ray cluster: each run is a task that calls the Penstock installed on the node where it runs.

Ray sends tasks, hands results back, and says when a worker is lost; :func:`penstock.runs.run_many` sends such a run
again. Everything that a task needs is in its arguments, and everything that it makes in its answer, so that nodes share
no folder.
"""

import os
import pickle
import signal
import socket
import tempfile
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from penstock import _core, interrupts
from penstock._core import PenstockError, __version__
from penstock.data_frames import MissingExtraError
from penstock.errors import ArgumentError
from penstock.executors.executor import Executor, Job, JobOutcome, QuickTake, Session
from penstock.executors.processes import below, children, cores, kill
from penstock.result import ClaimError, Result

if TYPE_CHECKING:
    from penstock.runs import RunCallbacks

T = TypeVar("T")

LOCAL = "local"
"""The address that stands for a new cluster on this machine."""

_ANSWERS_WITHIN_S = 5.0
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
"""The first octets of HTTP/2 (RFC 9113, 3.4) with an empty frame of settings, which Ray's head answers with its own."""
_FRAME_OCTETS = 9
_SETTINGS = 4
_BETWEEN_COUNTS_S = 1.0
_WAITING = 2
"""Jobs a worker that are sent before one has ended, so that none is idle meanwhile."""
_TASK_S = 0.5
"""Time of a task that has several jobs; each task costs its sender milliseconds."""
_MOST_TOGETHER = 256
_ESSENTIAL = ("raylet", "gcs_server")
"""Ray's processes that end in order; the others have nothing to lose."""

Records = dict[str, bytes]
"""The files of a results folder, by name."""


class RayExecutor(Executor):
    """A Ray cluster.

        >>> with penstock.RayExecutor("local") as executor:
        ...     penstock.sweep("buffers.toml", out="buffers", executor=executor)

    The same Penstock and Ray must be installed on every node. A process has one such cluster at a time.

    Args:
        address: ``HOST:PORT`` of the head of a cluster that this machine is a node of; or ``local``, for a new
            cluster that ends with the process.
        workers: how many runs at a time; by default one for each CPU that the nodes offer.

    Raises:
        ArgumentError: no cluster answers at the address, or this process has one already.
        MissingExtraError: Ray is not installed: ``pip install 'penstock[ray]'``.
    """

    def __init__(self, address: str = LOCAL, *, workers: int | None = None) -> None:
        self._own: list[int] = []
        self._folder: str | None = None
        self._workers = workers
        self._closed = False
        if address != LOCAL:
            _check_answers(address)
        self._ray = _import()
        if self._ray.is_initialized():
            raise ArgumentError("this process is part of a Ray cluster already", "leave that one with ray.shutdown()")
        before = set(children(os.getpid()))
        interrupts.at_end(self._kill)
        try:
            self._connect(address)
        except BaseException as error:
            self._own = [child for child in children(os.getpid()) if child not in before]
            self._kill()
            interrupts.not_at_end(self._kill)
            if isinstance(error, KeyboardInterrupt):
                raise
            raise ArgumentError(f'ray="{address}": {_reason(error)}', _HINT) from error
        self._own = [child for child in children(os.getpid()) if child not in before]

    def _connect(self, address: str) -> None:
        # Ray reports its use to its makers unless that is switched off.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        keywords: dict[str, Any] = {"log_to_driver": False, "logging_level": "CRITICAL", "address": address}
        if address == LOCAL:
            # A short name: it becomes part of those of sockets.
            self._folder = tempfile.mkdtemp(prefix="penstock-ray-", dir="/tmp")
            cpus = self._workers or cores()
            keywords |= {"num_cpus": cpus, "include_dashboard": False, "_temp_dir": self._folder}
        taken_over = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        handlers = {number: signal.getsignal(number) for number in taken_over}
        try:
            self._ray.init(**keywords)
        except SystemExit as error:
            # Its message for a head that did not answer.
            raise TimeoutError("the cluster does not answer") from error
        finally:
            if threading.current_thread() is threading.main_thread():
                for number, handler in handlers.items():
                    signal.signal(number, handler)
        # Messages of nodes would stand on standard output, among the answer of a command.
        self._ray._private.worker.print_to_stdstream = lambda *_, **__: None

    @property
    def is_remote(self) -> bool:
        """Runs run in processes of the cluster."""
        return True

    def session(self, callbacks: "RunCallbacks") -> Session[T]:
        """Begin with the jobs of one call."""
        return _Tasks(self._ray, self._workers)

    def close(self) -> None:
        """Leave the cluster, and end it if it is this machine's own."""
        if self._closed:
            return
        self._closed = True
        # Ray gives each of its processes a second to end. Those that keep nothing are ended at once.
        kill([pid for pid, name in children(os.getpid()).items() if pid in self._own and name not in _ESSENTIAL])
        left = [pid for own in self._own for pid in below(own)]
        self._ray.shutdown()
        kill(left)
        self._own = []
        self._kill()
        interrupts.not_at_end(self._kill)

    def _kill(self) -> None:
        """End all processes of this machine's own cluster at once."""
        kill([pid for own in self._own for pid in (own, *below(own))])
        self._own = []
        if self._folder is not None:
            interrupts.remove(self._folder)


_HINT = "name HOST:PORT of the head of a cluster that this machine is a node of, such as 192.0.2.2:6379, or local"


class _Tasks(Session[T]):
    """The jobs of one call.

    A task is a job, or several jobs that take little and end soon: a task costs milliseconds. A job whose worker was
    lost goes alone the next time, so that it takes no other with it.
    """

    def __init__(self, ray: Any, workers: int | None) -> None:
        self._ray = ray
        self._workers = workers
        self._task = ray.remote(num_cpus=1, max_retries=0)(work_all)
        self._jobs: dict[Any, list[Job[T]]] = {}
        self._waiting: list[Job[T]] = []
        self._alone: set[int] = set()
        self._together = 1
        self._tasks = 0
        self._counted_s = 0.0

    @property
    def room(self) -> int:
        if self._workers is not None:
            return self._workers * self._together
        if not self._tasks or time.monotonic() - self._counted_s > _BETWEEN_COUNTS_S:
            cpus = int(self._ray.cluster_resources().get("CPU", 0))
            self._tasks, self._counted_s = _WAITING * max(1, cpus), time.monotonic()
        return self._tasks * self._together

    def submit(self, job: Job[T]) -> None:
        quick = isinstance(job.take, QuickTake) and job.take.quick and job.run.out is None
        if not quick or job.index in self._alone:
            self._send([job])
            return
        self._waiting.append(job)
        if len(self._waiting) >= self._together:
            self._send_waiting()

    def ended(self, timeout_s: float) -> Sequence[JobOutcome[T]]:
        self._send_waiting()
        if not self._jobs:
            return []
        self._ray.wait(list(self._jobs), num_returns=1, timeout=timeout_s)
        ready, _ = self._ray.wait(list(self._jobs), num_returns=len(self._jobs), timeout=0)
        return [ended for reference in ready for ended in self._answer(reference)]

    def stop(self) -> Sequence[JobOutcome[T]]:
        self._waiting = []
        found = self.ended(0)
        for reference in self._jobs:
            self._ray.cancel(reference, force=True)
        self._jobs = {}
        return found

    def _send_waiting(self) -> None:
        if self._waiting:
            self._send(self._waiting)
            self._waiting = []

    def _send(self, jobs: list[Job[T]]) -> None:
        # Records go to a folder of this machine, and values are taken from them here.
        sent = [job if job.run.out is None else Job(job.index, job.run, _nothing, job.keep_interrupted) for job in jobs]
        self._jobs[self._task.remote(sent, __version__)] = jobs

    def _answer(self, reference: Any) -> Sequence[JobOutcome[T]]:
        jobs = self._jobs.pop(reference)
        errors = self._ray.exceptions
        lost = (
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.OutOfMemoryError,
            errors.ObjectLostError,
            errors.LocalRayletDiedError,
        )
        try:
            ends, took_s = self._ray.get(reference)
        except lost as error:
            self._alone.update(job.index for job in jobs)
            return [JobOutcome(job.index, lost=_reason(error)) for job in jobs]
        except errors.RayError as error:
            return [JobOutcome(job.index, error=PenstockError(_of_a_node(error))) for job in jobs]
        self._together = max(1, min(_MOST_TOGETHER, int(_TASK_S * len(jobs) / max(took_s, 1e-6))))
        return [self._taken(job, ended, records) for job, (ended, records) in zip(jobs, ends, strict=True)]

    def _taken(self, job: Job[T], ended: JobOutcome[T], records: Records | None) -> JobOutcome[T]:
        if records is None or job.run.out is None:
            return JobOutcome(job.index, ended.values, ended.error)
        try:
            return job.taken(*unpacked(records, job.run.out))
        except Exception as error:
            return JobOutcome(job.index, error=error)


def work_all(jobs: Sequence[Job[T]], version: str) -> tuple[list[tuple[JobOutcome[T], Records | None]], float]:
    """Run jobs on a node, one after the other; return how each ended, with its records, and the time of all, s."""
    begun_s = time.monotonic()
    return [work(job, version) for job in jobs], time.monotonic() - begun_s


def work(job: Job[T], version: str) -> tuple[JobOutcome[T], Records | None]:
    """Run a job on a node; return how it ended, and the files of its records if they are to go to a folder."""
    if version != __version__:
        reason = f"{socket.gethostname()} has Penstock {__version__}, and the sweep is that of {version}"
        return JobOutcome(job.index, error=PenstockError(f"{reason}: install the same on every node")), None
    if job.run.out is None:
        return _sendable(job(None)), None
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        ended = replace(job, run=replace(job.run, out=out))(None)
        records = packed(out) if ended.values else None
    return _sendable(ended), records


def packed(folder: Path) -> Records:
    """Return the files of a results folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def unpacked(records: Records, out: Path) -> tuple[Result, ClaimError | None]:
    """Write a results folder, which has its name once it is whole, and return what it holds as a run returns it.

    Raises:
        OutputError: the folder is there already, or cannot be written.
        OSError: a file cannot be written.
    """
    staged = _core.Folder.create(out, False)
    try:
        for name, data in records.items():
            (staged.partial / name).write_bytes(data)
        staged.publish()
    finally:
        staged.discard()
    result = Result.open(out)
    return result, result.broken_claim()


def _nothing(_index: int, _result: Result, _loss: ClaimError | None) -> None:
    """Take nothing."""


def _sendable(ended: JobOutcome[T]) -> JobOutcome[T]:
    """Return an end whose error arrives: one that cannot be pickled becomes text, and each says where it was raised."""
    error = ended.error
    if error is None:
        return ended
    error.add_note(f"on {socket.gethostname()}:\n" + "".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = PenstockError(f"{type(error).__name__}: {error}")
    return replace(ended, error=error)


def _import() -> Any:
    try:
        import ray
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise MissingExtraError("ray", "ray") from error
    if not hasattr(ray, "init"):
        # A folder of this name, which Python takes for a package.
        raise MissingExtraError("ray", "ray")
    return ray


def _check_answers(address: str) -> None:
    """Find out within seconds whether the head of a cluster answers; Ray itself tries for two minutes.

    Raises:
        ArgumentError: it does not.
    """
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ArgumentError(f'ray="{address}": not an address of a Ray cluster', _HINT)
    try:
        with socket.create_connection((host, int(port)), timeout=_ANSWERS_WITHIN_S) as connection:
            connection.sendall(_GREETING)
            answer = connection.recv(_FRAME_OCTETS)
    except TimeoutError:
        reason = f"it does not answer within {_ANSWERS_WITHIN_S:g} s"
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    else:
        if len(answer) == _FRAME_OCTETS and answer[3] == _SETTINGS:
            return
        reason = "something else answers there"
    raise ArgumentError(
        f'ray="{address}": no Ray cluster there: {reason}', "start one with `ray start --head`, or local"
    )


def _reason(error: BaseException) -> str:
    """Return the first sentence of what Ray says, which goes on for a page."""
    return str(error).strip().partition("\n")[0].partition(". ")[0].rstrip(".") or type(error).__name__


def _of_a_node(error: Exception) -> str:
    if "No module named 'penstock" in str(error):
        return "a node of the cluster has no Penstock: pip install 'penstock[ray]' on every node, of the same version"
    return f"a node of the cluster could not run it: {_reason(error)}"
