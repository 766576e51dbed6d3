"""`penstock.compare`: the function that the command calls."""

import json
import os
import signal
import threading
from pathlib import Path

import pytest
from conftest import SMALL

import penstock
from penstock import (
    ArgumentError,
    Comparison,
    OutputError,
    PenstockError,
    RunCallbacks,
    Scenario,
    ScenarioError,
    SweepError,
    Variant,
)


def _small(name: str = "small") -> Scenario:
    return Scenario.from_toml(SMALL, name=name)


def _numbers(comparison: Comparison) -> list[object]:
    """Return the part that the same runs repeat: all but their cost."""
    document = json.loads(json.dumps(comparison.document))
    for run in document["runs"]:
        del run["run"]
    return [document["queue"], document["schemes"], document["runs"]]


def test_scenarios_are_given_as_they_are_by_file_and_by_name(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    _small().save(file)
    given, read = penstock.compare(_small(), ["qcn"]), penstock.compare(str(file), ["qcn"])
    assert _numbers(read) == _numbers(given)
    assert Scenario.of(file).to_toml() == Scenario.of(str(file)).to_toml()
    assert Scenario.of("baseline/ten-gig").question == Scenario.named("baseline/ten-gig").question
    with pytest.raises(PenstockError, match="did you mean baseline/ten-gig"):
        penstock.compare("baseline/ten-gigs", ["qcn"])


def test_in_memory_and_in_a_folder_are_the_same(tmp_path: Path) -> None:
    in_memory = penstock.compare(_small(), ["none", "qcn"], seeds=2)
    in_folder = penstock.compare(_small(), ["none", "qcn"], seeds=2, out=tmp_path / "out")
    read_back = Comparison.open(tmp_path / "out")
    assert in_memory.path is None
    assert in_folder.path == read_back.path == tmp_path / "out"
    assert _numbers(in_memory) == _numbers(in_folder) == _numbers(read_back)
    for comparison in (in_memory, in_folder, read_back):
        assert not comparison.interrupted
        assert [(label, len(runs)) for label, runs in comparison.runs.items()] == [("none", 2), ("qcn", 2)]
        assert [run.summary["seed"] for run in comparison.runs["qcn"]] == [1, 2]
    in_memory.plot(tmp_path / "memory.svg")
    in_folder.plot(tmp_path / "folder.svg")
    assert (tmp_path / "memory.svg").read_bytes() == (tmp_path / "folder.svg").read_bytes()
    assert "none" in in_memory._repr_html_()


def test_runs_are_those_of_the_scenario() -> None:
    scenario = _small()
    before = scenario.to_toml()
    compared = penstock.compare(scenario, ["none", "qcn"])
    assert scenario.to_toml() == before
    alone = scenario.set("record.percentiles", True).run(scheme="none")
    assert compared.runs["none"][0].fingerprint() == alone.fingerprint()


def test_figures_go_where_they_are_asked_to(tmp_path: Path) -> None:
    in_memory = penstock.compare(_small(), ["none", "qcn"])
    with pytest.raises(ArgumentError, match="write_figures"):
        in_memory.write_figures()
    names = {path.name for path in in_memory.write_figures(tmp_path)}
    assert names == {"compare.png", "compare.svg", "cdf.png", "cdf.svg"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_several_scenarios_run_their_own_schemes() -> None:
    other = _small("other").set("scheme", "none")
    compared = penstock.compare([_small(), other])
    assert [(line["label"], line["scheme"]) for line in compared.document["schemes"]] == [
        ("small", "qcn"),
        ("other", "none"),
    ]


def test_a_watch_is_told_of_each_run() -> None:
    planned: list[int] = []
    labels: list[str] = []
    done: list[int] = []

    def run(label: str) -> None:
        labels.append(label)

    callbacks = RunCallbacks(planned=planned.append, run=run, done=lambda: done.append(1))
    penstock.compare(_small(), ["none", "qcn"], seeds=2, callbacks=callbacks, workers=1)
    assert planned == [4]
    assert labels == ["none, seed 1", "none, seed 2", "qcn, seed 1", "qcn, seed 2"]
    assert len(done) == 4


def test_the_record_until_a_stop_is_kept(tmp_path: Path) -> None:
    done: list[int] = []
    callbacks = RunCallbacks(done=lambda: done.append(1), stopped=lambda: len(done) == 2)
    endless = _small("endless").set("duration", "100000 s").set("record.interval", "100 ms")
    compared = penstock.compare([_small(), endless], seeds=2, out=tmp_path / "out", callbacks=callbacks, workers=1)
    assert compared.interrupted
    assert compared.document["schemes"][0]["seeds"] == [1, 2]
    # The third run may have begun when the second was reported.
    assert all(run.interrupted for run in compared.runs["endless"])
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_ctrl_c_keeps_what_was_recorded() -> None:
    started = threading.Event()

    def press() -> None:
        started.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    def progress(*_: float) -> None:
        started.set()

    threading.Thread(target=press).start()
    endless = _small().set("duration", "100000 s").set("record.interval", "100 ms")
    compared = penstock.compare(endless, ["none", "qcn"], callbacks=RunCallbacks(run=lambda _: progress), workers=2)
    assert compared.interrupted
    assert all(run.interrupted for runs in compared.runs.values() for run in runs)


def test_nothing_recorded_is_nothing_written(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        penstock.compare(_small(), ["none", "qcn"], out=tmp_path / "out", callbacks=RunCallbacks(stopped=lambda: True))
    assert not list(tmp_path.iterdir())


def test_a_run_that_loses_frames_ends_no_other(tmp_path: Path) -> None:
    scenario = _small().set("lossless", True)
    expected = {
        label: penstock.compare(scenario, ["none", "qcn"], out=out).losses
        for label, out in (("memory", None), ("folder", tmp_path / "out"))
    }
    for losses in expected.values():
        assert list(losses) == ["none, seed 1", "qcn, seed 1"]
        assert "claims to be lossless and lost" in losses["none, seed 1"].message
        assert losses["none, seed 1"].result.summary["scheme"] == "none"
    assert penstock.compare(_small(), ["none", "qcn"]).losses == {}


@pytest.mark.parametrize(
    ("arguments", "words", "hint"),
    [
        ({"schemes": ["qcn", "qcn"]}, 'schemes=["qcn", "qcn"]: a scheme is named twice', "name each once"),
        ({}, "a comparison needs at least two runs", 'schemes=["A", "B"]'),
        ({"seeds": 0}, "seeds: 0 is not a count of seeds", "write 1 to 10000, or a list of seeds"),
        ({"seeds": 2, "queue": "sw0->h3"}, 'queue="sw0->h3": no recorded queue has this name', "did you mean sw0->h2?"),
    ],
)
def test_a_comparison_that_is_not_possible_is_refused(arguments: dict[str, object], words: str, hint: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        penstock.compare(_small(), **arguments)  # type: ignore[arg-type]
    assert caught.value.message == words
    assert hint in caught.value.hint
    assert isinstance(caught.value, ValueError)


def test_wrong_arguments_are_found_before_the_first_run(tmp_path: Path) -> None:
    runs: list[str] = []
    callbacks = RunCallbacks(run=runs.append)
    with pytest.raises(ArgumentError, match="two scenarios have the name small"):
        penstock.compare([_small(), _small()], callbacks=callbacks)
    with pytest.raises(ArgumentError, match="no scenario to compare"):
        penstock.compare([], ["qcn", "none"], callbacks=callbacks)
    with pytest.raises(ScenarioError, match="qnc"):
        penstock.compare(_small(), ["none", "qnc"], callbacks=callbacks)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").touch()
    with pytest.raises(OutputError):
        penstock.compare(_small(), ["none", "qcn"], out=tmp_path / "out", force=True, callbacks=callbacks)
    assert runs == []


PFC = Variant("pfc", "none", {"pfc.quanta": 65535})


def test_a_variant_is_a_scheme_with_settings_of_its_own(tmp_path: Path) -> None:
    scenario = _small()
    before = scenario.to_toml()
    compared = penstock.compare(scenario, ["none", PFC], out=tmp_path / "out")
    assert scenario.to_toml() == before
    assert compared.labels == ["none", "pfc"]
    entries = compared.document["schemes"]
    assert [(entry["scheme"], entry.get("variant")) for entry in entries] == [("none", None), ("none", "pfc")]
    # Flow control stops the senders, so that the queue loses nothing.
    lost = {label: runs[0].summary["totals"]["frames_dropped"] for label, runs in compared.runs.items()}
    assert lost["none"] > 0
    assert lost["pfc"] == 0
    alone = _small().set("pfc.quanta", 65535).set("record.percentiles", True).run(scheme="none")
    assert Comparison.open(tmp_path / "out").runs["pfc"][0].fingerprint() == alone.fingerprint()


def test_every_scenario_is_compared_at_every_value() -> None:
    vary = {"topology.star.buffer": ["60 KB", "90 KB"]}
    compared = penstock.compare(_small(), ["none", Variant("slow", "qcn", {"flow.0.start": "1 ms"})], vary=vary)
    assert compared.labels == [f"buffer={size}: {line}" for size in ("60 KB", "90 KB") for line in ("none", "slow")]
    assert [entry["scenario"] for entry in compared.document["schemes"]][::2] == [
        "small, buffer=60 KB",
        "small, buffer=90 KB",
    ]
    filled = [entry["queue_max_octets"]["mean"] for entry in compared.document["schemes"] if entry["scheme"] == "none"]
    assert filled == [60_000, 90_000]


@pytest.mark.parametrize("name", ["", "a/b", "a: b", ".a", " a", "a" * 61])
def test_a_name_under_which_nothing_can_be_filed_is_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="invalid variant name") as caught:
        Variant(name)
    assert "such as pfc" in caught.value.hint


def test_variants_that_cannot_be_compared() -> None:
    with pytest.raises(ArgumentError, match="named twice"):
        penstock.compare(_small(), ["none", Variant("none", "qcn")])
    with pytest.raises(ArgumentError, match=r"variant pfc: pfc\.quanat"):
        penstock.compare(_small(), ["none", Variant("pfc", "none", {"pfc.quanat": 3})])
    with pytest.raises(SweepError, match="schemes are not varied"):
        penstock.compare(_small(), vary={"scheme": ["qcn", "none"]})
    with pytest.raises(SweepError, match="has no values"):
        penstock.compare(_small(), ["none"], vary={"flow.0.rate": []})
