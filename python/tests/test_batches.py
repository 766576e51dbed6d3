"""Many short runs in one process: the rows of a sweep and of single runs, failures, interrupts, wrong input."""

import os
import signal
import threading
from pathlib import Path

import pytest
from conftest import SMALL

import penstock
from penstock import ArgumentError, RunCallbacks, Scenario, SweepError
from penstock.metrics.registry import COMPARED
from penstock.metrics.seeds import measure
from penstock.metrics.values import busiest
from penstock.runs import PERCENTILES

BUFFERS = {"topology.star.buffer": ["60 KB", "150 KB"]}


def _small() -> Scenario:
    return Scenario.from_toml(SMALL, name="small")


def test_rows_are_those_of_a_sweep(tmp_path: Path) -> None:
    many = penstock.run_many(_small(), BUFFERS, seeds=3).table()
    swept = penstock.sweep(_small(), BUFFERS, seeds=3, out=tmp_path / "out").table()
    names = [name for name in swept.column_names if name != "hash"]
    assert many.column_names == names
    for name in names:
        assert many.column(name).to_pylist() == swept.column(name).to_pylist(), name


def test_rows_are_those_of_single_runs() -> None:
    found = penstock.run_many(_small(), [{"schemes.qcn.q_eq": "20 KB"}, {"schemes.qcn.q_eq": "40 KB"}], seeds=[5, 2])
    table = found.table()
    assert table.column("q_eq_octets").to_pylist() == [20e3, 20e3, 40e3, 40e3]
    assert table.column("seed").to_pylist() == [5, 2, 5, 2]
    for row, (length, seed) in enumerate([("20 KB", 5), ("20 KB", 2), ("40 KB", 5), ("40 KB", 2)]):
        result = _small().with_({"schemes.qcn.q_eq": length, **PERCENTILES}).run(seed=seed)
        queue = busiest([result.summary])
        assert table.column("queue").to_pylist()[row] == queue
        values = measure(result, queue).values
        for metric in COMPARED:
            assert table.column(metric.name).to_pylist()[row] == values[metric.name], metric.name
        assert table.column("events").to_pylist()[row] == result.summary["totals"]["events"]


def test_without_settings_the_scenario_runs_with_its_seed() -> None:
    own = _small().set("seed", 9)
    found = penstock.run_many(own)
    assert (len(found), found.failed, found.interrupted) == (1, [], False)
    assert found.table().column("seed").to_pylist() == [9]
    assert penstock.run_many(own, queue="sw0->h2").table().column("queue").to_pylist() == ["sw0->h2"]


def test_a_run_that_fails_ends_no_other() -> None:
    done: list[int] = []
    settings = {"schemes.qcn.q_eq": ["20 KB", "-1 KB", "40 KB"]}
    found = penstock.run_many(_small(), settings, callbacks=RunCallbacks(done=lambda: done.append(1)))
    assert found.table().column("run").to_pylist() == [0, 2]
    (failure,) = found.failed
    assert (failure["run"], failure["schemes.qcn.q_eq"], failure["seed"]) == (1, "-1 KB", 1)
    assert "q_eq" in failure["reason"]
    assert len(done) == 2


def test_ctrl_c_keeps_the_rows_that_there_are() -> None:
    endless = _small().set("duration", "10000 s")
    begun = threading.Event()

    def run(_label: str) -> None:
        begun.set()

    def press() -> None:
        begun.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    settings = {"duration": ["20 ms", "10000 s"]}
    found = penstock.run_many(endless, settings, workers=1, callbacks=RunCallbacks(run=run))
    assert found.interrupted
    assert found.table().column("run").to_pylist() == [0]


def test_wrong_settings_are_refused_with_a_remedy() -> None:
    with pytest.raises(ArgumentError, match="is not a list of values") as caught:
        penstock.run_many(_small(), {"topology.star.buffer": "60 KB"})
    assert "topology.star.buffer" in caught.value.hint
    with pytest.raises(ArgumentError, match=r"entry 1 .* has not the keys of the first one"):
        penstock.run_many(_small(), [{"warmup": "1 ms"}, {"duration": "1 ms"}])
    with pytest.raises(SweepError, match="seeds are not varied as a key is"):
        penstock.run_many(_small(), {"seed": [1, 2]})
    with pytest.raises(ArgumentError, match="seeds"):
        penstock.run_many(_small(), seeds=0)
    with pytest.raises(penstock.PenstockError, match="no table is called 'flows'"):
        penstock.run_many(_small()).table("flows")
