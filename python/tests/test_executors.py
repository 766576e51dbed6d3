"""The executor's interface, with a cluster that stands for any; addresses of Ray. tools/check_ray.py has real ones."""

import os
import pickle
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL

import penstock
from penstock import ArgumentError, ClaimError, MissingExtraError, Result, Scenario, __version__
from penstock.executors import ray_cluster
from penstock.executors.executor import Executor, Job, JobOutcome, Session
from penstock.executors.processes import below, children, parent
from penstock.executors.ray_cluster import RayExecutor, unpacked, work
from penstock.runs import MOST_LOSSES, LostWorkerError, Run, RunCallbacks, copies, run_many
from penstock.sweeps.sweep import Sweep


def _seed(_index: int, result: Result, _loss: ClaimError | None) -> int:
    return int(result.summary["seed"])


def _whole(_index: int, result: Result, _loss: ClaimError | None) -> Result:
    return result


def _runs(count: int) -> list[Run]:
    copy = copies(Scenario.from_toml(SMALL, name="small"))
    return [Run(f"seed {seed}", copy, seed) for seed in range(1, count + 1)]


class _FakeCluster(Executor):
    """Workers that are asked in turn: a job and its end travel as bytes, and workers are lost as ``losing`` says."""

    def __init__(self, room: int = 3, losing: Callable[[int, int], bool] = lambda *_: False) -> None:
        self.room = room
        self.losing = losing
        self.sent: list[int] = []
        self.stopped = 0
        self.most_waiting = 0
        self.looks: Callable[[], None] = lambda: None

    @property
    def is_remote(self) -> bool:
        return True

    def session(self, callbacks: RunCallbacks) -> "_FakeTasks":
        return _FakeTasks(self)

    def close(self) -> None:
        pass


class _FakeTasks(Session[Any]):
    def __init__(self, owner: _FakeCluster) -> None:
        self.owner = owner
        self.jobs: deque[bytes] = deque()

    @property
    def room(self) -> int:
        return self.owner.room

    def submit(self, job: Job[Any]) -> None:
        self.jobs.append(pickle.dumps(job))
        self.owner.sent.append(job.index)
        self.owner.most_waiting = max(self.owner.most_waiting, len(self.jobs))

    def ended(self, timeout_s: float) -> Sequence[JobOutcome[Any]]:
        self.owner.looks()
        # The last one first: ends come in any order.
        job: Job[Any] = pickle.loads(self.jobs.pop())
        if self.owner.losing(job.index, self.owner.sent.count(job.index)):
            return [JobOutcome(job.index, lost="its node is gone")]
        ended, _ = pickle.loads(pickle.dumps(work(job, __version__)))
        return [ended]

    def stop(self) -> Sequence[JobOutcome[Any]]:
        self.owner.stopped += 1
        self.jobs.clear()
        return []


def test_a_cluster_answers_as_the_cores_do() -> None:
    cluster = _FakeCluster()
    assert list(run_many(_runs(7), _seed, RunCallbacks(), executor=cluster).items()) == [(i, i + 1) for i in range(7)]
    assert cluster.most_waiting == 3
    assert sorted(cluster.sent) == list(range(7))


def test_a_run_whose_worker_is_lost_is_sent_again() -> None:
    lost: list[tuple[str, str]] = []
    cluster = _FakeCluster(losing=lambda index, times: index == 2 and times <= MOST_LOSSES)
    found = run_many(_runs(4), _seed, RunCallbacks(lost=lambda *words: lost.append(words)), executor=cluster)
    assert found == {0: 1, 1: 2, 2: 3, 3: 4}
    assert lost == [("seed 3", "its node is gone")] * MOST_LOSSES
    assert cluster.sent.count(2) == MOST_LOSSES + 1


def test_a_run_that_ends_every_worker_is_a_failure() -> None:
    failed: list[tuple[int, str]] = []
    cluster = _FakeCluster(losing=lambda index, _: index == 1)
    found = run_many(
        _runs(3), _seed, RunCallbacks(), executor=cluster, fail=lambda index, e: failed.append((index, str(e)))
    )
    assert found == {0: 1, 2: 3}
    assert failed == [(1, "the worker of this run was lost 4 times, at last because its node is gone")]
    with pytest.raises(LostWorkerError, match="seed 2: the worker of this run was lost 4 times"):
        run_many(_runs(3), _seed, RunCallbacks(), executor=cluster)


def test_of_several_failures_the_first_run_counts() -> None:
    # Places 2, 1 and 0 end in this order; 1 is sent again after 2 has failed.
    runs = [*_runs(1), *(Run(f"wrong {i}", copies(Scenario.from_toml(SMALL)), 1, f"wrong{i}") for i in (1, 2, 3))]
    cluster = _FakeCluster(losing=lambda index, times: index == 1 and times == 1)
    with pytest.raises(penstock.ScenarioError, match="wrong1"):
        run_many(runs, _seed, RunCallbacks(), executor=cluster)
    assert cluster.sent == [0, 1, 2, 1]
    assert cluster.stopped == 1


def test_an_interrupt_stops_the_cluster_and_keeps_what_had_ended() -> None:
    cluster = _FakeCluster(room=1)

    def look() -> None:
        if len(cluster.sent) == 3:
            raise KeyboardInterrupt

    cluster.looks = look
    assert run_many(_runs(9), _seed, RunCallbacks(), executor=cluster) == {0: 1, 1: 2}
    assert (cluster.sent, cluster.stopped) == ([0, 1, 2], 1)
    asked = _FakeCluster(room=1)
    assert run_many(_runs(9), _seed, RunCallbacks(stopped=lambda: len(asked.sent) == 3), executor=asked) == {
        0: 1,
        1: 2,
        2: 3,
    }
    assert asked.stopped == 1


def test_an_exception_of_keep_stops_the_cluster() -> None:
    def keep(_index: int, _value: int) -> None:
        raise OSError(28, "No space left on device")

    cluster = _FakeCluster()
    with pytest.raises(OSError, match="No space left"):
        run_many(_runs(9), _seed, RunCallbacks(), executor=cluster, keep=keep)
    assert cluster.stopped == 1


def test_a_store_has_the_same_bytes_whoever_runs_it(tmp_path: Path) -> None:
    buffers = {"topology.star.buffer": ["20 KB", "60 KB"]}
    scenario = Scenario.from_toml(SMALL, name="small").set("duration", "2 ms")
    stores = {}
    for name, executor in (("cores", None), ("cluster", _FakeCluster(losing=lambda index, times: times <= index % 3))):
        kept = penstock.sweep(
            scenario, buffers, schemes=["none", "qcn"], seeds=3, series=True, out=tmp_path / name, executor=executor
        )
        assert isinstance(kept, Sweep)
        files = (path for path in kept.path.rglob("*") if path.is_file())
        stores[name] = {path.relative_to(kept.path): path.read_bytes() for path in files}
    assert stores["cores"] == stores["cluster"]


def test_errors_arrive_with_their_place_and_their_words() -> None:
    (wrong,) = [Run("wrong", copies(Scenario.from_toml(SMALL)), 1, "qnc")]
    ended, _ = work(Job(0, wrong, _seed, False), __version__)
    error = pickle.loads(pickle.dumps(ended)).error
    assert isinstance(error, penstock.ScenarioError)
    assert (error.key, "qnc" in error.message) == ("scheme", True)
    assert f"on {socket.gethostname()}" in error.__notes__[0]

    def take(_index: int, _result: Result, _loss: ClaimError | None) -> None:
        raise MissingExtraError("duckdb", "sweep")

    (run,) = _runs(1)
    words, _ = work(Job(0, run, take, False), __version__)
    # Its arguments are not those that it keeps: it arrives as text.
    assert "MissingExtraError: duckdb is not installed" in str(pickle.loads(pickle.dumps(words)).error)


def test_another_version_on_a_node_is_refused() -> None:
    (run,) = _runs(1)
    ended, _ = work(Job(0, run, _seed, False), "9.9.9")
    assert not ended.values
    assert f"has Penstock {__version__}" in str(ended.error)
    assert "9.9.9: install the same on every node" in str(ended.error)


@pytest.mark.parametrize("lossless", [False, True])
def test_records_travel_to_their_folder(lossless: bool, tmp_path: Path) -> None:
    scenario = Scenario.from_toml(SMALL, name="small").set("lossless", lossless).set("scheme", "none")
    (run,) = [Run("one", copies(scenario), 7, out=tmp_path / "there" / "run")]
    ended, records = pickle.loads(pickle.dumps(work(Job(0, run, _seed, False), __version__)))
    assert ended.values == (7,)
    assert not (tmp_path / "there").exists()
    (tmp_path / "there").mkdir()
    assert run.out is not None
    result, loss = unpacked(records, run.out)
    assert (loss is not None) is lossless
    there = copies(scenario)()
    if not lossless:
        assert result.fingerprint() == there.run(seed=7).fingerprint()
    with pytest.raises(penstock.OutputError):
        unpacked(records, run.out)


def test_a_comparison_on_a_cluster_needs_a_folder() -> None:
    scenario = Scenario.from_toml(SMALL, name="small")
    with pytest.raises(ArgumentError, match="needs a folder"):
        penstock.compare(scenario, ["none", "qcn"], executor=_FakeCluster())


@contextmanager
def _server(answer: bytes) -> Iterator[str]:
    """A port that takes connections, and says ``answer`` to each."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        over = threading.Event()

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(answer)
                over.wait(60)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            over.set()
            thread.join()


def test_an_address_that_does_not_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "_ANSWERS_WITHIN_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        closed = f"127.0.0.1:{server.getsockname()[1]}"
    with pytest.raises(ArgumentError, match="connection refused") as caught:
        RayExecutor(closed)
    assert "ray start --head" in caught.value.hint
    with _server(b"") as silent, pytest.raises(ArgumentError, match=r"does not answer within 0\.2 s"):
        RayExecutor(silent)
    with _server(b"220 mail.example ESMTP\r\n") as other, pytest.raises(ArgumentError, match="something else answers"):
        RayExecutor(other)
    for address in ("nonsense", "auto", "", ":6379", "host:0", "host:99999", "ray://host:10001"):
        with pytest.raises(ArgumentError, match="not an address of a Ray cluster") as caught:
            RayExecutor(address)
        assert "HOST:PORT" in caught.value.hint


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'penstock\[ray\]'"):
        RayExecutor("local")
    # A folder of this name is not Ray.
    monkeypatch.delitem(sys.modules, "ray")
    (tmp_path / "ray").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(MissingExtraError):
        RayExecutor("local")


def test_processes_are_found_by_their_parents() -> None:
    nested = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen([sys.executable, "-c", nested], stdin=subprocess.PIPE) as child:
        while not below(child.pid):
            pass
        assert child.pid in children(os.getpid())
        assert parent(child.pid) == os.getpid()
        assert set(children(child.pid)) == set(below(child.pid))
        assert set(below(child.pid)) < set(below(os.getpid()))
        child.communicate(b"\n")
    assert child.pid not in children(os.getpid())


class _FakeRay:
    """As much of Ray as a session asks for: tasks run when they are waited for, the first loses its worker."""

    class exceptions:  # noqa: N801 - as Ray has it
        class RayError(Exception):
            pass

        class WorkerCrashedError(RayError):
            pass

        NodeDiedError = OutOfMemoryError = ObjectLostError = LocalRayletDiedError = WorkerCrashedError

    def __init__(self, loses: int) -> None:
        self.sizes: list[int] = []
        self.tasks: dict[int, Any] = {}
        self.loses = loses

    def remote(self, **_: Any) -> Any:
        def task(function: Any) -> Any:
            return type("Task", (), {"remote": lambda _, *given: self._send(function, given)})()

        return task

    def _send(self, function: Any, given: Any) -> int:
        self.sizes.append(len(given[0]))
        self.tasks[len(self.sizes)] = function, pickle.dumps(given)
        return len(self.sizes)

    def wait(self, references: list[int], num_returns: int, timeout: float) -> tuple[list[int], list[int]]:
        return references[:num_returns], references[num_returns:]

    def get(self, reference: int) -> Any:
        if reference == self.loses:
            raise self.exceptions.WorkerCrashedError("its node is gone")
        function, given = self.tasks[reference]
        return function(*pickle.loads(given))


def test_short_runs_travel_in_batches_and_alone_after_a_loss() -> None:
    ray = _FakeRay(loses=3)
    session = ray_cluster._Tasks[Any](ray, 2)

    class Cluster(_FakeCluster):
        def session(self, callbacks: RunCallbacks) -> Any:
            return session

    lost: list[str] = []
    callbacks = RunCallbacks(lost=lambda label, _: lost.append(label))
    found = penstock.run_many(Scenario.from_toml(SMALL), seeds=40, callbacks=callbacks, executor=Cluster())
    rows = found.table().to_struct_array().to_pylist()
    assert rows == penstock.run_many(Scenario.from_toml(SMALL), seeds=40).table().to_struct_array().to_pylist()
    # The first tasks tell how short runs are; all of one task are lost together, and then each goes alone.
    assert ray.sizes[:2] == [1, 1]
    assert ray.sizes[2] == len(lost) > 1
    assert ray.sizes.count(1) >= 2 + len(lost)
    assert len(ray.sizes) < 40 + len(lost)
