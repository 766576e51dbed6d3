"""Sweeps: which runs they come to, the records in the store, and the remains when one is killed."""

import fcntl
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import sweep_trial
from conftest import SMALL

from penstock import ArgumentError, ClaimError, Result, RunCallbacks, Scenario, Sweep, SweepError, Variant, sweep
from penstock.sweeps import store
from penstock.sweeps.axes import columns, points, typed
from penstock.sweeps.design import cases, design, read
from penstock.sweeps.sweep import RunRecorder
from penstock.sweeps.tables import record, schema

BUFFERS = {"topology.star.buffer": ["60 KB", "120 KB"]}


def _small(duration: str = "2 ms") -> Scenario:
    return Scenario.from_toml(SMALL, name="small").set("duration", duration)


def _bytes(folder: Path) -> dict[str, bytes]:
    return sweep_trial.store(folder)


def test_axes_are_crossed_and_keys_of_one_change_together() -> None:
    made = design(
        _small(), [{"schemes.qcn.w": [1, 2]}, {"topology.star.buffer": ["1 KB", "2 KB"], "flow.0.weight": [3, 4]}]
    )
    assert list(points(made.axes)) == [(1, "1 KB", 3), (1, "2 KB", 4), (2, "1 KB", 3), (2, "2 KB", 4)]
    assert [(key.unit, key.type) for key in made.keys] == [("count", "int"), ("octets", "float"), ("count", "int")]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a.b=1,2,5", (1, 2, 5)),
        ("a.b=0.5,1", (0.5, 1)),
        ("a.b=60 KB, 1 MB", ("60 KB", "1 MB")),
        ("a.b=h0..h1,h2", ("h0..h1", "h2")),
        ("a.b=true,false", (True, False)),
        ("a.b=1..9:3", (1, 5, 9)),
        ("a.b=1..3:10", (1, 2, 3)),
        ("a.b=0..1:3", (0, 1)),
        ("a.b=0.0..1.0:3", (0.0, 0.5, 1.0)),
        ("a.b=1 us..10 ms:5:log", ("1 us", "10 us", "100 us", "1 ms", "10 ms")),
        ("a.b=10 KB..30 KB:3", ("10 KB", "20 KB", "30 KB")),
    ],
)
def test_values_of_the_command_line(text: str, values: tuple[Any, ...]) -> None:
    (key,) = typed(text).keys
    assert key.values == values
    assert [type(value) for value in key.values] == [type(value) for value in values]


@pytest.mark.parametrize(
    ("vary", "key", "message", "hint"),
    [
        ({"topology.star.bufer": ["60 KB"]}, "topology.star.bufer", "unknown key", 'did you mean "buffer"?'),
        ({"topology.star.buffer": []}, "topology.star.buffer", "has no values", "at least one"),
        ({"topology.star.buffer": "60 KB"}, "topology.star.buffer", "is not a list", "[A, B]"),
        ({"topology.star.buffer": ["60 KB", "fast"]}, "topology.star.buffer", '"fast" is not a size', "150 KB"),
        ({"topology.star.buffer": ["60 KB", "60 KB"]}, "topology.star.buffer", "twice", "once"),
        ({"schemes.qcn.w": [float("nan")]}, "schemes.qcn.w", "not a value", "a number"),
        ({"flow.3.rate": ["1 Gbps"]}, "flow.3.rate", "there is no flow.3", "flow.0"),
        ({"seed": [1, 2]}, "seed", "not varied as a key", "seeds = N"),
        ({"schemes.qcn.w": {"from": 1, "to": 2}}, "schemes.qcn.w.points", "is missing", "points = N"),
        ({"schemes.qcn.w": {"from": 2, "to": 1, "points": 3}}, "schemes.qcn.w", "not a range", "a larger one"),
        ({"schemes.qcn.w": {"from": 0, "to": 1, "points": 3, "log": True}}, "schemes.qcn.w", "not a range", "above 0"),
        ({"schemes.qcn.w": {"from": 1, "to": "2 KB", "points": 3}}, "schemes.qcn.w", "same unit", "as the key has"),
        ({"schemes.qcn.w": {"from": 1, "to": 2, "pionts": 3}}, "schemes.qcn.w.pionts", "unknown key", "points"),
        ([{"schemes.qcn.w": [1, 2], "flow.0.weight": [1]}], "flow.0.weight", "1 values", "as many"),
        ([{"schemes.qcn.w": [1]}, {"schemes.qcn.w": [2]}], "schemes.qcn.w", "varied twice", "once"),
    ],
)
def test_wrong_keys_and_values_are_refused(vary: Any, key: str, message: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(SweepError) as caught:
        sweep(_small(), vary, out=tmp_path / "out")
    assert caught.value.key == key
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "line", "key", "message"),
    [
        ("schemse = []", None, "schemse", "unknown key"),
        ("schemes = []", None, "schemes", "empty list"),
        ('schemes = ["qnc"]', None, "schemes", "'qnc' is not a scheme"),
        ("seeds = 0", None, "seeds", "not a count of seeds"),
        ("seeds = [1, 1]", None, "seeds", "twice"),
        ("seeds = [-1]", None, "seeds", "not a seed"),
        ('queue = "sw0->h3"', None, "queue", "no recorded queue"),
        ("[set]\nduration = [1]", None, "set.duration", "not a value"),
        ('[[vary]]\n"schemes.qcn.ww" = [1]', 2, "schemes.qcn.ww", "unknown key"),
        ('[[vary]]\n"schemes.qcn.w" = [1]\n[[vary]]\nduration = ["x"]', 4, "duration", "not a"),
    ],
)
def test_wrong_files_are_refused_with_their_place(
    text: str, line: int | None, key: str, message: str, small: Path
) -> None:
    file = small.with_name("sweep.toml")
    file.write_text(f'scenario = "small.toml"\n{text}\n', encoding="utf-8")
    with pytest.raises(SweepError) as caught:
        cases(read(file))
    assert (caught.value.file, caught.value.line, caught.value.key) == (str(file), line, key)
    assert message in caught.value.message
    assert caught.value.hint


def test_a_file_says_what_keywords_say(small: Path) -> None:
    file = small.with_name("sweep.toml")
    file.write_text(
        'scenario = "small.toml"\nschemes = ["none", "qcn"]\nseeds = [3, 5]\nset.duration = "2 ms"\n'
        '[[vary]]\ntopology.star.buffer = ["60 KB", "120 KB"]\n',
        encoding="utf-8",
    )
    from_file = cases(read(file))
    from_words = cases(design(_small(), BUFFERS, schemes=["none", "qcn"], seeds=[3, 5]))
    assert [case.key for case in from_file] == [case.key for case in from_words]
    assert len(from_file) == 8


def test_a_scheme_with_settings_of_its_own_stands_beside_the_others(small: Path, tmp_path: Path) -> None:
    file = small.with_name("sweep.toml")
    file.write_text(
        'scenario = "small.toml"\nschemes = ["qcn"]\nset.duration = "2 ms"\n'
        '[[variant]]\nname = "deep"\nscheme = "qcn"\nset.schemes.qcn.q_eq = "50 KB"\n',
        encoding="utf-8",
    )
    deep = Variant("deep", "qcn", {"schemes.qcn.q_eq": "50 KB"})
    from_file = cases(read(file))
    from_words = cases(design(_small(), {}, schemes=["qcn", deep]))
    assert [(case.scheme, case.chosen, case.key) for case in from_file] == [
        (case.scheme, case.chosen, case.key) for case in from_words
    ]
    assert [case.scheme for case in from_file] == ["qcn", "deep"]
    # It is the run that the same key, set for all, gives.
    plain = cases(design(_small().set("schemes.qcn.q_eq", "50 KB"), {}, schemes=["qcn"]))
    assert from_words[1].key == plain[0].key
    found = sweep(file, out=tmp_path / "out")
    assert list(found.column("scheme")) == ["qcn", "deep"]


def test_wrong_variants_are_refused_with_their_place(small: Path) -> None:
    file = small.with_name("sweep.toml")
    for text, line, key, message in (
        ('name = "deep"\nscheme = "qnc"', 2, "variant.0.name", 'unknown scheme "qnc"'),
        ('name = "a;b"', 2, "variant.0.name", "invalid variant name"),
        ('name = "deep"\nset.schemes.qcn.qeq = "1 KB"', None, "schemes", "variant deep: schemes.qcn.qeq: unknown"),
        ('name = "deep"\nsets = 3', 2, "variant.0.sets", "unknown key"),
        ('name = "deep"\n[[variant]]\nname = "deep"', None, "schemes", "'deep' appears twice"),
    ):
        file.write_text(f'scenario = "small.toml"\n[[variant]]\n{text}\n', encoding="utf-8")
        with pytest.raises(SweepError) as caught:
            cases(read(file))
        assert (caught.value.line, caught.value.key) == (line, key)
        assert message in caught.value.message
        assert caught.value.hint


def test_columns_are_called_by_the_end_of_the_key() -> None:
    keys = [
        "topology.star.buffer=1 KB",
        "flow.0.rate=1 Gbps",
        "flow.1.rate=1 Gbps",
        "duration=1 s",
        "flow.0.traffic=greedy",
    ]
    made = [key for text in keys for key in typed(text).keys]
    assert columns(made, ["duration_s"]) == [
        "buffer_octets",
        "flow_0_rate_bps",
        "flow_1_rate_bps",
        "set_duration_s",
        "flow_0_traffic",
    ]


def test_every_number_of_a_summary_is_in_the_tables(result: Result) -> None:
    summary: Any = result.summary
    (row,) = record(result, None)["runs"]
    named = dict(zip((column.name for column in schema()["runs"]), row, strict=True))
    for key, value in {**summary["totals"], **summary}.items():
        if isinstance(value, int | float) and key != "seed":
            assert named[key] == value, key
    for table in ("queues", "flows", "hosts"):
        assert len(record(result, None)[table]) == len(summary[table])
    assert named["queue"] == "sw0->h2"
    assert named["queue_mean_octets"] == summary["queues"][0]["mean_octets"]
    assert not {"wall_s", "events_per_s"} & named.keys()


def test_a_store_has_a_row_a_run(tmp_path: Path) -> None:
    found = sweep(_small(), BUFFERS, schemes=["none", "qcn"], seeds=2, series=True, out=tmp_path / "out")
    assert found.finished
    assert not found.failed
    assert found.columns == {"topology.star.buffer": "buffer_octets"}
    assert list(found.column("buffer_octets")) == [60_000.0] * 4 + [120_000.0] * 4
    assert list(found.column("scheme")) == ["none", "none", "qcn", "qcn"] * 2
    assert list(found.column("seed")) == [1, 2] * 4
    assert found.tables == ["runs", "queues", "flows", "hosts"]
    alone = _small().set("topology.star.buffer", "120 KB").run(seed=2)
    assert (
        found.column("actions_cuts")[:1] == [None]
        and found.column("actions_cuts")[7] == alone.summary["actions"]["cuts"]
    )
    assert found.repeated == {(size, name): name == "none" for size in (60e3, 120e3) for name in ("none", "qcn")}
    assert found.column("queue_mean_octets")[7] == alone.summary["queues"][0]["mean_octets"]
    assert found.column("throughput_bps", "flows")[-1] == alone.summary["flows"][-1]["throughput_bps"]
    field = found.table("flows").schema.field("throughput_bps")
    assert field.metadata_str["unit"] == "bit/s"
    series = found.query("select max(queue_octets), count(*) from series_queues where run = 7")
    queue = alone.column("queues", "queue_octets")
    assert series.column(0).to_pylist() == [queue.max()]
    assert series.column(1).to_pylist() == [len(queue)]


def test_a_store_of_ten_thousand_rows_is_asked_in_one_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    made = design(_small(), {"topology.star.buffer": ["60 KB", "120 KB"]}, seeds=list(range(1, 5001)))
    one = sweep(_small(), BUFFERS, out=out)
    (row,), front = record(_small().run(), None)["runs"], store.front_columns(made)
    mean = [column.name for column in schema()["runs"]].index("queue_mean_octets")
    for number in range(100):
        runs = range(100 * number, 100 * number + 100)
        at = [[run, (60e3, 120e3)[run % 2], "qcn", 1 + run // 2] for run in runs]
        rows = [[*row[:mean], float(run), *row[mean + 1 :]] for run in runs]
        store.write_table(out / "runs" / store.file_name(number), "runs", front, at, rows, [f"{run}" for run in runs])
    (out / "sweep.json").write_text(json.dumps(one.document | {"runs": 10_000, "seeds": list(made.seeds)}))

    def read(path: Path) -> None:
        raise AssertionError(f"{path} is read as a whole")

    # The tables stay on the disk: DuckDB takes from the files that it needs.
    monkeypatch.setattr("penstock.sweeps.sweep.read_table", read)
    found = Sweep(out)
    sql = "select buffer_octets, count(*) as runs, sum(queue_mean_octets) as means from runs group by all order by all"
    assert found.query(sql).to_struct_array().to_pylist() == [
        {"buffer_octets": 60e3, "runs": 5000, "means": float(sum(range(0, 10_000, 2)))},
        {"buffer_octets": 120e3, "runs": 5000, "means": float(sum(range(1, 10_000, 2)))},
    ]
    # Of the columns it reads those that are asked for.
    plan = " ".join(map(str, found.query(f"explain analyze {sql}").column(1).to_pylist()))
    assert "parquet" in plan.lower()
    assert ("queue_mean_octets" in plan, "queue_max_octets" in plan, "hash" in plan) == (True, False, False)
    (only,) = found.query("select queue_mean_octets from runs where run = 7321").column(0).to_pylist()
    assert only == 7321.0
    assert found.query("select count(distinct seed) from runs").column(0).to_pylist() == [5000]


def test_queries_that_cannot_be_answered_are_refused(tmp_path: Path) -> None:
    found = sweep(_small(), {}, out=tmp_path / "out")
    for sql, message in (("select nix from runs", "nix"), ("selct", "syntax"), ("select 1 from windows", "windows")):
        with pytest.raises(ArgumentError, match=message) as caught:
            found.query(sql)
        assert "the tables are runs, queues" in caught.value.hint
    with pytest.raises(ArgumentError, match="queue_meen_octets") as caught:
        found.column("queue_meen_octets")
    assert "queue_mean_octets" in caught.value.hint


def test_the_same_run_is_run_once(tmp_path: Path) -> None:
    done = []
    both = {"topology.star.buffer": ["60 KB", "60000 B"]}
    found = sweep(_small(), both, out=tmp_path / "out", callbacks=RunCallbacks(done=lambda: done.append(1)))
    assert len(done) == 1
    assert list(found.column("run")) == [0, 1]
    assert len(set(found.column("hash"))) == 1


def test_values_of_another_schemes_key_are_the_same_run(tmp_path: Path) -> None:
    planned: list[int] = []
    done: list[int] = []
    weights = {"schemes.qcn.w": [1, 2, 4]}
    callbacks = RunCallbacks(planned=planned.append, done=lambda: done.append(1))
    found = sweep(_small(), weights, schemes=["none", "qcn"], seeds=2, out=tmp_path / "out", callbacks=callbacks)
    # None reads no key of QCN: its two seeds run once each, QCN's six runs once each.
    assert planned == [8]
    assert len(done) == 8
    # All are reported, each with its value.
    assert found.finished
    rows = list(zip(*(found.column(name) for name in ("w", "scheme", "seed")), strict=True))
    assert rows == [(w, scheme, seed) for w in (1, 2, 4) for scheme in ("none", "qcn") for seed in (1, 2)]
    by_scheme = {
        scheme: {key for key, own in zip(found.column("hash"), found.column("scheme"), strict=True) if own == scheme}
        for scheme in ("none", "qcn")
    }
    assert {scheme: len(keys) for scheme, keys in by_scheme.items()} == {"none": 2, "qcn": 6}
    # Where priorities name their schemes, the settings of each of them count.
    above = '[[flow]]\nfrom = "h0"\nto = "h2"\npriority = 3\n[[priority]]\npriority = 3\nscheme = "qcn"\n'
    both = Scenario.from_toml(SMALL + above, name="small")
    keys = {case.key for case in cases(design(both, weights, schemes=["none"]))}
    assert len(keys) == 3
    # More values of it run QCN alone.
    more = {"schemes.qcn.w": [1, 2, 4, 8]}
    sweep(_small(), more, schemes=["none", "qcn"], seeds=2, out=tmp_path / "out", resume=True, callbacks=callbacks)
    assert planned == [8, 2]


def test_a_combination_that_is_not_legal_stops_no_other(tmp_path: Path) -> None:
    # 33 KB are QCN's set point: it is beyond a buffer of 20 KB.
    planned, refused = list[int](), list[int]()
    found = sweep(
        _small(),
        {"topology.star.buffer": ["20 KB", "60 KB"]},
        schemes=["none", "qcn"],
        out=tmp_path / "out",
        callbacks=RunCallbacks(planned=planned.append, refused=refused.append),
    )
    assert (planned, refused) == ([3], [1])
    assert found.finished
    assert found.table().num_rows == 3
    (failed,) = found.failed
    assert (failed["run"], failed["topology.star.buffer"], failed["scheme"]) == (1, "20 KB", "qcn")
    assert "beyond the buffer" in failed["reason"]


def test_a_run_that_fails_is_told_and_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = RunRecorder.__call__

    def failing(self: RunRecorder, index: int, result: Result, loss: ClaimError | None) -> Any:
        if result.summary["seed"] == 2:
            raise MemoryError("there is not enough memory")
        return whole(self, index, result, loss)

    monkeypatch.setattr(RunRecorder, "__call__", failing)
    messages: list[tuple[str, str]] = []
    callbacks = RunCallbacks(failed=lambda label, reason: messages.append((label, reason)))
    found = sweep(_small(), BUFFERS, seeds=3, out=tmp_path / "out", callbacks=callbacks)
    assert sorted(label for label, _ in messages) == [
        f"topology.star.buffer = {b}, qcn, seed 2" for b in ("120 KB", "60 KB")
    ]
    assert [entry["reason"] for entry in found.failed] == ["there is not enough memory"] * 2
    assert list(found.column("seed")) == [1, 3, 1, 3]
    monkeypatch.undo()
    again = sweep(_small(), BUFFERS, seeds=3, out=tmp_path / "out", resume=True)
    assert not again.failed
    sweep(_small(), BUFFERS, seeds=3, out=tmp_path / "undisturbed")
    assert _bytes(tmp_path / "out") == _bytes(tmp_path / "undisturbed")


def test_changed_runs_alone_run_again(tmp_path: Path) -> None:
    out, done = tmp_path / "out", []
    callbacks = RunCallbacks(done=lambda: done.append(1))
    sweep(_small(), BUFFERS, seeds=2, out=out, callbacks=callbacks)
    sweep(_small(), BUFFERS, seeds=2, out=out, resume=True, callbacks=callbacks)
    assert len(done) == 4
    more = {"topology.star.buffer": ["90 KB", "60 KB", "120 KB"]}
    found = sweep(_small(), more, seeds=2, out=out, resume=True, callbacks=callbacks)
    assert len(done) == 6
    assert list(found.column("buffer_octets")) == [90_000.0] * 2 + [60_000.0] * 2 + [120_000.0] * 2
    sweep(_small("3 ms"), more, seeds=2, out=out, resume=True, callbacks=callbacks)
    assert len(done) == 12
    sweep(_small("3 ms"), more, seeds=2, out=tmp_path / "undisturbed")
    assert _bytes(out) == _bytes(tmp_path / "undisturbed")


def test_files_are_split_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_RUNS_A_FILE", 3)
    found = sweep(_small(), BUFFERS, seeds=4, out=tmp_path / "out")
    assert [path.name for path in found.files("runs")] == ["00000.parquet", "00001.parquet", "00002.parquet"]
    assert list(found.column("run")) == list(range(8))
    # The third is not whole any more: its two runs alone run again.
    before, done = _bytes(tmp_path / "out"), []
    found.files("runs")[2].write_bytes(b"PAR1")
    sweep(
        _small(),
        BUFFERS,
        seeds=4,
        out=tmp_path / "out",
        resume=True,
        callbacks=RunCallbacks(done=lambda: done.append(1)),
    )
    assert len(done) == 2
    assert _bytes(tmp_path / "out") == before
    # Fewer runs: the files of the others go.
    fewer = sweep(_small(), BUFFERS, seeds=2, out=tmp_path / "out", resume=True)
    assert list(fewer.column("seed")) == [1, 2, 1, 2]
    assert [path.name for path in fewer.files("flows")] == ["00000.parquet", "00001.parquet"]


def test_an_interrupt_keeps_what_is_done(tmp_path: Path) -> None:
    stop, done = threading.Event(), []

    def finish() -> None:
        done.append(1)
        if len(done) == 3:
            stop.set()

    callbacks = RunCallbacks(done=finish, stopped=stop.is_set)
    # More runs than one thread has at once: all of those may have ended when the third is reported.
    found = sweep(_small(), BUFFERS, seeds=40, out=tmp_path / "out", workers=1, callbacks=callbacks)
    assert not found.finished
    assert found.table().num_rows == len(done) >= 3
    left: list[int] = []
    sweep(_small(), BUFFERS, seeds=40, out=tmp_path / "out", resume=True, callbacks=RunCallbacks(planned=left.append))
    assert left == [80 - len(done)]
    sweep(_small(), BUFFERS, seeds=40, out=tmp_path / "undisturbed")
    assert _bytes(tmp_path / "out") == _bytes(tmp_path / "undisturbed")


def test_a_full_disk_loses_no_finished_run(tmp_path: Path) -> None:
    # A limit on the size of a file stands in for the end of a disk: the journal ends in the middle of a line.
    program = f"""
import resource, sys
sys.path[:0] = {sys.path!r}
from test_sweep import _small, BUFFERS
from penstock import sweep
resource.setrlimit(resource.RLIMIT_FSIZE, (7000, 7000))
sweep(_small(), BUFFERS, seeds=10, out="out", workers=1)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert "unfinished.jsonl" in done.stderr.splitlines()[-1], done.stderr
    kept = (tmp_path / "out/unfinished.jsonl").read_bytes()
    assert kept.endswith(b"\n")
    finished, left = kept.count(b"\n"), list[int]()
    assert finished >= 2
    sweep(_small(), BUFFERS, seeds=10, out=tmp_path / "out", resume=True, callbacks=RunCallbacks(planned=left.append))
    assert left == [20 - finished]
    sweep(_small(), BUFFERS, seeds=10, out=tmp_path / "undisturbed")
    assert _bytes(tmp_path / "out") == _bytes(tmp_path / "undisturbed")


def test_a_killed_sweep_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    # Killed while its first file is filled, then its second: by the runs that have finished, however quick they are.
    # Two at a time, for the many cores of some machine would be through with the rest before they are counted.
    folder = sweep_trial.prepared(tmp_path, "500 ms", series=False)
    undisturbed = sweep_trial.finished(folder, "undisturbed")
    assert Sweep(folder / "undisturbed").table().num_rows == sweep_trial.RUNS
    moments = [sweep_trial.Moment(runs=20), sweep_trial.Moment(runs=110)]
    killed, difference = sweep_trial.tried(moments, folder, "out", undisturbed, "--jobs", "2")
    assert killed == len(moments)
    assert not difference


def test_finished_runs_of_a_killed_sweep_can_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_RUNS_A_FILE", 4)
    out = tmp_path / "out"
    whole = sweep(_small(), BUFFERS, seeds=5, series=True, out=tmp_path / "undisturbed")
    done: list[int] = []

    def finish() -> None:
        done.append(1)
        if len(done) == 7:
            raise OSError("the process is gone")

    with pytest.raises(OSError, match="gone"):
        sweep(_small(), BUFFERS, seeds=5, series=True, out=out, workers=1, callbacks=RunCallbacks(done=finish))
    # Four are in a file, three in the journal.
    assert [path.name for path in (out / "runs").iterdir()] == ["00000.parquet"]
    killed = Sweep(out)
    assert not killed.finished
    for table in whole.tables:
        ours, theirs = killed.table(table), whole.table(table)
        assert ours.schema == theirs.schema
        rows = [i for i, run in enumerate(theirs.column("run").to_pylist()) if run < 7]
        assert ours.to_struct_array().to_pylist() == theirs.to_struct_array().to_pylist()[: len(rows)]
    answer = killed.query("select count(*) as runs, count(distinct hash) as hashes from runs")
    assert answer.to_struct_array().to_pylist() == [{"runs": 7, "hashes": 7}]
    assert killed.query("select count(distinct run) from series_queues").column(0).to_pylist() == [7]
    # A design of more values numbers runs differently; until it goes on, the journal's are not taken for others.
    text = (out / "sweep.json").read_text()
    (out / "sweep.json").write_text(text.replace('"runs": 10', '"runs": 11'))
    assert Sweep(out).table().num_rows == 4
    (out / "sweep.json").write_text(text)
    sweep(_small(), BUFFERS, seeds=5, series=True, out=out, resume=True)
    assert _bytes(out) == _bytes(tmp_path / "undisturbed")


def test_a_line_that_a_kill_has_cut_is_taken_off(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sweep(_small(), BUFFERS, seeds=2, out=tmp_path / "undisturbed")
    stop, done = threading.Event(), []

    def finish() -> None:
        done.append(1)
        if len(done) == 2:
            stop.set()
            raise OSError("the process is gone")

    with pytest.raises(OSError, match="gone"):
        sweep(_small(), BUFFERS, seeds=2, out=out, workers=1, callbacks=RunCallbacks(done=finish, stopped=stop.is_set))
    with (out / "unfinished.jsonl").open("ab") as file:
        file.write(b'{"key":"0123","tables":{"ru')
    left: list[int] = []
    sweep(_small(), BUFFERS, seeds=2, out=out, resume=True, callbacks=RunCallbacks(planned=left.append))
    assert left == [2]
    assert _bytes(out) == _bytes(tmp_path / "undisturbed")


def test_folders_of_others_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sweep(_small(), BUFFERS, out=out)
    before = _bytes(out)
    with pytest.raises(ArgumentError, match="holds a sweep already"):
        sweep(_small(), BUFFERS, out=out)
    with pytest.raises(ArgumentError, match=r"of small over topology\.star\.buffer, not of small over schemes\.qcn\.w"):
        sweep(_small(), {"schemes.qcn.w": [1]}, out=out, resume=True)
    with pytest.raises(ArgumentError, match="not of other over"):
        sweep(Scenario.from_toml(SMALL, name="other"), BUFFERS, out=out, resume=True)
    journal = os.open(out / "unfinished.jsonl", os.O_RDWR | os.O_CREAT)
    fcntl.flock(journal, fcntl.LOCK_EX)
    for resume in (True, False):
        with pytest.raises(ArgumentError, match="another sweep is at work") as caught:
            sweep(_small(), BUFFERS, out=out, resume=resume)
        assert caught.value.hint == "wait until it is done, end it, or name another folder"
    os.close(journal)
    (out / "unfinished.jsonl").unlink()
    assert _bytes(out) == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear reader")
    with pytest.raises(ArgumentError, match="holds no sweep"):
        sweep(_small(), BUFFERS, out=tmp_path / "mine", resume=True)
    assert list((tmp_path / "mine").iterdir()) == [tmp_path / "mine/letter.txt"]
    (out / "sweep.json").write_text("{", encoding="utf-8")
    with pytest.raises(ArgumentError, match=r"sweep\.json cannot be read"):
        sweep(_small(), BUFFERS, out=out, resume=True)


def test_the_manifest_says_what_the_sweep_is(tmp_path: Path) -> None:
    found = sweep(_small(), BUFFERS, schemes=["qcn"], seeds=[7], out=tmp_path / "out")
    manifest = json.loads((tmp_path / "out/sweep.json").read_text())
    assert manifest == found.document
    assert (manifest["scenario"], manifest["schemes"], manifest["seeds"], manifest["runs"]) == (
        "small",
        ["qcn"],
        [7],
        2,
    )
    expected = _small().set("record.percentiles", True)
    assert Scenario.from_toml(manifest["toml"]).to_toml() == expected.to_toml()
