"""Many runs at a time: order, interruption, failures of single runs."""

import threading
from collections.abc import Callable

import pytest
from conftest import SMALL

from penstock import FrameLossError, PenstockError, Result, Scenario, ScenarioError
from penstock.runs import Run, Watch, copies, run_many


def _runs(count: int, scenario: Callable[[], Scenario] | None = None) -> list[Run]:
    copy = copies(Scenario.from_toml(SMALL, name="small"))
    return [Run(f"seed {seed}", scenario or copy, seed) for seed in range(1, count + 1)]


def _seed(_place: int, result: Result, _loss: FrameLossError | None) -> int:
    return int(result.summary["seed"])


def test_answers_come_in_the_order_of_the_runs() -> None:
    done = []
    found = run_many(_runs(5), _seed, Watch(done=lambda: done.append(1)))
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

    def take(place: int, result: Result, loss: FrameLossError | None) -> int:
        if place == 1:
            asked.set()
        return _seed(place, result, loss)

    assert run_many(_runs(5), take, Watch(stopped=asked.is_set), workers=1) == {0: 1, 1: 2}


def test_an_interrupt_keeps_what_is_done() -> None:
    stops = []

    def take(place: int, result: Result, loss: FrameLossError | None) -> int:
        if place == 2:
            raise KeyboardInterrupt
        return _seed(place, result, loss)

    found = run_many(_runs(50), take, Watch(stop=lambda: stops.append(1)), workers=1)
    # The thread goes on with the next runs until the main thread has dropped them.
    assert [found[0], found[1]] == [1, 2]
    assert 2 not in found
    assert stops == [1]


@pytest.mark.parametrize("kept", [False, True])
def test_a_run_that_ends_early_is_taken_only_where_it_is_asked_for(kept: bool) -> None:
    def progress(*_: float) -> None:
        raise KeyboardInterrupt

    endless = Scenario.from_toml(SMALL).set("duration", "100000 s").set("record.interval", "100 ms")
    done = []
    found = run_many(
        _runs(1, copies(endless)),
        lambda _place, result, _loss: result.interrupted,
        Watch(run=lambda _: progress, done=lambda: done.append(1)),
        keep_interrupted=kept,
    )
    assert found == ({0: True} if kept else {})
    assert len(done) == len(found)


def test_the_first_failure_ends_the_others() -> None:
    stops = []

    def scenario() -> Scenario:
        return Scenario.from_toml(SMALL, origin="there.toml").set("scheme", "qnc")

    with pytest.raises(ScenarioError, match="qnc") as caught:
        run_many(_runs(3, scenario), _seed, Watch(stop=lambda: stops.append(1)))
    assert caught.value.file == "there.toml"
    assert stops == [1]


def test_what_take_raises_is_a_failure() -> None:
    def take(place: int, _result: Result, _loss: FrameLossError | None) -> None:
        raise PenstockError(f"run {place}")

    with pytest.raises(PenstockError, match="run 0"):
        run_many(_runs(2), take, Watch())


def test_a_lost_frame_is_told_with_the_result() -> None:
    scenario = Scenario.from_toml(SMALL, name="small").set("lossless", True).set("scheme", "none")
    found = run_many(_runs(1, copies(scenario)), lambda _, result, loss: (result, loss), Watch())
    result, loss = found[0]
    assert loss is not None
    assert loss.result is result
