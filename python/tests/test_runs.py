"""Many runs at a time: order, interruption, failures of single runs."""

import itertools
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

import pytest
from conftest import SMALL

from penstock import ClaimError, PenstockError, Result, Scenario, ScenarioError, runs
from penstock.executors import local
from penstock.runs import Run, RunCallbacks, copies, run_many


def _runs(count: int, scenario: Callable[[], Scenario] | None = None) -> list[Run]:
    copy = copies(Scenario.from_toml(SMALL, name="small"))
    return [Run(f"seed {seed}", scenario or copy, seed) for seed in range(1, count + 1)]


def _endless() -> Scenario:
    return Scenario.from_toml(SMALL).set("duration", "100000 s").set("record.interval", "100 ms")


def _seed(_index: int, result: Result, _loss: ClaimError | None) -> int:
    return int(result.summary["seed"])


def test_answers_come_in_the_order_of_the_runs() -> None:
    done = []
    found = run_many(_runs(5), _seed, RunCallbacks(done=lambda: done.append(1)))
    assert list(found.items()) == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    assert len(done) == 5


def test_a_copy_is_the_scenario_as_it_was() -> None:
    scenario = Scenario.from_toml(SMALL, name="small")
    copy = copies(scenario)
    before = scenario.to_toml()
    scenario.set("seed", 77)
    assert copy().to_toml() == before
    assert copy().name == "small"


def test_no_run_begins_after_a_stop() -> None:
    asked = threading.Event()

    def take(index: int, result: Result, loss: ClaimError | None) -> int:
        if index == 1:
            asked.set()
        return _seed(index, result, loss)

    assert run_many(_runs(5), take, RunCallbacks(stopped=asked.is_set), workers=1) == {0: 1, 1: 2}


def test_an_interrupt_keeps_what_is_done() -> None:
    def take(index: int, result: Result, loss: ClaimError | None) -> int:
        if index == 2:
            raise KeyboardInterrupt
        return _seed(index, result, loss)

    found = run_many(_runs(50), take, RunCallbacks(), workers=1)
    # The thread goes on with the next runs until the main thread has dropped them.
    assert [found[0], found[1]] == [1, 2]
    assert 2 not in found


class _Interrupt:
    """A trace function that interrupts the main thread at a line of the code that hands runs to threads."""

    def __init__(self, line: int) -> None:
        self.left = line
        self.function = ""

    def __call__(self, frame: FrameType, event: str, _: object) -> "_Interrupt | None":
        if frame.f_code.co_filename not in (local.__file__, runs.__file__):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                self.function = frame.f_code.co_name
                raise KeyboardInterrupt
        return self


def test_an_interrupt_at_any_line_ends_the_runs_and_keeps_what_is_done() -> None:
    def late(*_: object) -> None:
        raise TimeoutError("the runs do not end")

    before = signal.signal(signal.SIGALRM, late)
    try:
        for line in itertools.count(1):
            taken: list[int] = []

            def take(index: int, result: Result, loss: ClaimError | None, taken: list[int] = taken) -> int:
                taken.append(index)
                return _seed(index, result, loss)

            interrupt = _Interrupt(line)
            signal.alarm(30)
            sys.settrace(interrupt)
            try:
                found = run_many(_runs(3), take, RunCallbacks(), workers=1)
            except KeyboardInterrupt:
                # Before the first run, or as the second one, while the runs end.
                continue
            finally:
                sys.settrace(None)
            # A run whose start is interrupted is nobody's.
            assert sorted(found) == sorted(taken) or interrupt.function == "submit", line
            if interrupt.left > 0:
                break
        assert line > 50
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_ctrl_c_ends_runs_that_nobody_watches() -> None:
    started = threading.Event()

    def scenario() -> Scenario:
        started.set()
        return _endless()

    def press() -> None:
        started.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    # As in a notebook: the main thread gets the exception, the runs are in others.
    threading.Thread(target=press).start()
    runs = [Run("first", copies(Scenario.from_toml(SMALL)), 7), Run("endless", scenario, 8)]
    assert run_many(runs, _seed, RunCallbacks(), workers=1) == {0: 7}


@pytest.mark.parametrize("kept", [False, True])
def test_a_run_that_ends_early_is_taken_only_where_it_is_asked_for(kept: bool) -> None:
    def progress(*_: float) -> None:
        raise KeyboardInterrupt

    done = []
    found = run_many(
        _runs(1, _endless),
        lambda _index, result, _loss: result.interrupted,
        RunCallbacks(run=lambda _: progress, done=lambda: done.append(1)),
        keep_interrupted=kept,
    )
    assert found == ({0: True} if kept else {})
    assert len(done) == len(found)


def test_the_first_failure_ends_the_others() -> None:
    def wrong() -> Scenario:
        return Scenario.from_toml(SMALL, origin="there.toml").set("scheme", "qnc")

    runs = [Run("wrong", wrong, 1), Run("endless", _endless, 2), Run("waiting", _endless, 3)]
    with pytest.raises(ScenarioError, match="qnc") as caught:
        run_many(runs, _seed, RunCallbacks(), workers=2)
    assert caught.value.file == "there.toml"


def test_an_exception_of_take_is_a_failure() -> None:
    def take(index: int, _result: Result, _loss: ClaimError | None) -> None:
        raise PenstockError(f"run {index}")

    with pytest.raises(PenstockError, match="run 0"):
        run_many(_runs(2), take, RunCallbacks())


def test_a_lost_frame_is_told_with_the_result() -> None:
    scenario = Scenario.from_toml(SMALL, name="small").set("lossless", True).set("scheme", "none")
    found = run_many(_runs(1, copies(scenario)), lambda _, result, loss: (result, loss), RunCallbacks())
    result, loss = found[0]
    assert loss is not None
    assert loss.result is result
