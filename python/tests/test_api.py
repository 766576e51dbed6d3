"""The Python API: scenarios from text and from keywords, results as tables and figures."""

import ast
import importlib
import inspect
import json
import pickle
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import SMALL, Command

import penstock
from penstock import OutputError, PenstockError, Result, Scenario, ScenarioError
from penstock.catalogue import keys
from penstock.declared import Description, FairPeriod, FlowDescription, Key, Node, Outline, Parameter, Profile, Scheme
from penstock.runs import copies
from penstock.summary import FlowSummary, HostSummary, QueueSummary, RunSummary, Summary, Totals
from penstock.tuning.tuning import _standard

KEYWORDS: dict[str, Any] = {
    "question": "Do two senders share one port?",
    "duration": "20 ms",
    "scheme": "qcn",
    "schemes": {"qcn": {"q_eq": "33 KB"}},
    "topology": {"star": {"hosts": 3, "link_rate": "1 Gbps", "link_delay": "1 us", "buffer": "60 KB"}},
    "flow": [{"from": "h0..h1", "to": "h2"}],
}


def content(result: Result) -> dict[str, Any]:
    """Return everything that the same seed repeats: the summary but for ``run``, and every column of every table."""
    summary = json.loads(result.summary_json)
    del summary["run"]
    columns = {
        f"{name}.{column}": result.column(name, column).tolist()
        for name in result.tables
        for column in pa.table(getattr(result, name)).column_names
    }
    return {"summary": summary, **columns}


def test_summary_without_flows_is_the_summary_but_for_them(result: Result) -> None:
    assert result.summary["flows"]
    assert result.summary_without_flows == {**result.summary, "flows": []}
    assert result.summary_in_brief == {**result.summary, "queues": [], "flows": [], "hosts": []}


def test_columns_of_a_table_are_those_of_the_whole(tmp_path: Path, result: Result) -> None:
    in_folder = Scenario(name="small", **KEYWORDS).run(out=tmp_path / "out")
    for run in (result, in_folder):
        part = run.columns_of("flows", "throughput_bps", "name")
        assert pa.table(part).to_pydict() == pa.table(run.flows).select(["name", "throughput_bps"]).to_pydict()
    with pytest.raises(PenstockError, match="no recorded table is called 'nothing'"):
        result.columns_of("nothing", "name")


def test_keywords_toml_and_file_are_the_same_scenario(tmp_path: Path, result: Result) -> None:
    built = Scenario(name="small", **KEYWORDS)
    built.save(tmp_path / "saved.toml")
    loaded = Scenario.load(tmp_path / "saved.toml")
    assert (built.name, built.question, built.scheme, built.schemes) == ("small", KEYWORDS["question"], "qcn", ["qcn"])
    assert content(built.run()) == content(loaded.run()) == content(result)


def test_every_key_at_the_top_of_a_file_is_a_keyword() -> None:
    known = penstock.schema()["properties"]
    assert set(inspect.signature(Scenario).parameters) == set(known)


def test_keywords_make_loads_incasts_and_traces() -> None:
    traffic: dict[str, Any] = {
        "until": "all-flows-complete",
        "load": [{"load": 0.5, "size": "10 KB", "end": "1 ms", "transport": "tcp"}],
        "incast": [{"fan_in": 2, "size": "2 KB", "every": "5 ms", "transport": "tcp"}],
        "trace": [{"flows": "from, to, size, start\nh0, h1, 1 KB, 1 us\nh1, h0, 2 KB, 0 s", "transport": "tcp"}],
        "testbed": {"time_scale": 2},
    }
    # Flows of separate tables are not needed then.
    keywords = {key: value for key, value in KEYWORDS.items() if key != "flow"}
    summary = Scenario(**keywords, **traffic).run().summary
    groups = {line["group"] for line in summary["completions"] if line["completed"]}
    assert groups == {None, "load0", "incast0", "trace0"}
    assert 1e-3 < summary["ended_at_s"] < 20e-3
    with pytest.raises(ScenarioError, match="there is no flow") as caught:
        Scenario(**keywords).run()
    assert "[[trace]]" in (caught.value.hint or "")
    with pytest.raises(ScenarioError, match="h9") as caught:
        Scenario(**keywords, trace=[{"flows": "from, to, size, start\nh0, h9, 1 KB, 1 us"}]).run()
    assert caught.value.key == "trace.0.flows"


def test_resolved_scenario_is_itself(result: Result) -> None:
    text = result.scenario_toml
    again = Scenario.from_toml(text, name="small")
    assert again.resolved() == text
    assert content(again.run()) == content(result)


def test_same_seed_same_content_through_python_and_command_line(
    penstock: Command, small: Path, tmp_path: Path, result: Result
) -> None:
    assert penstock("run", small, "--out", tmp_path / "out", "--no-figures", "--quiet").returncode == 0
    assert content(Result.open(tmp_path / "out")) == content(result)


def test_other_seed_other_content(result: Result) -> None:
    assert (
        content(Scenario.from_toml(SMALL, name="small").run(seed=2))["signals.time_s"]
        != content(result)["signals.time_s"]
    )


def test_set_takes_text_and_numbers() -> None:
    scenario = Scenario.from_toml(SMALL).set("duration", "5 ms").set("flow.0.weight", 3).set("record.arrivals", True)
    assert scenario.describe()["duration_s"] == 0.005
    assert "weight = 3" in scenario.to_toml()
    arrivals = scenario.run()
    assert arrivals.arrivals.num_rows > 0


def test_describe(result: Result) -> None:
    plan = Scenario.from_toml(SMALL).describe(scheme="none", seed=9)
    assert (plan["scheme"], plan["seed"], plan["interval_s"]) == ("none", 9, 2e-5)
    flow = plan["flows"][1]
    assert (flow["name"], flow["source"], flow["destinations"]) == ("f1", "h1", ["h2"])
    assert [(hop["link"], hop["back"], hop["after"]) for hop in flow["hops"]] == [
        ("h1->sw0", "sw0->h1", None),
        ("sw0->h2", "h2->sw0", 0),
    ]
    assert plan["links"][0].keys() == {
        "name",
        "node",
        "peer",
        "reverse",
        "cable_m",
        "rate_bps",
        "latency_s",
        "buffer_octets",
        "buffer_frames",
        "congestion_points",
        "flow_control",
        "watchdog",
        "credit_octets",
        "replay_octets",
    }
    assert plan["schemes"][0]["parameters"] == {}
    assert "sw0->h2" in plan["queues"]
    # Two greedy flows share 1 Gb/s for the whole run.
    assert plan["fair"] == [
        {"start_s": 0.0, "stop_s": 0.02, "max_min_bps": [5e8, 5e8], "proportional_bps": [pytest.approx(5e8)] * 2}
    ]
    assert [flow["fair_rate_bps"] for flow in result.summary["flows"]] == [5e8, 5e8]


def test_errors_say_where(tmp_path: Path, small: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(SMALL.replace("link_rate", "link_rat"), origin="mine.toml").run()
    error = caught.value
    assert (error.file, error.line) == ("mine.toml", 10)
    assert error.key is not None
    assert "link_rat" in error.key
    assert error.hint is not None
    assert "link_rate" in error.hint
    with pytest.raises(ScenarioError):
        Scenario.load(tmp_path / "nowhere.toml")
    with pytest.raises(TypeError):
        Scenario(**KEYWORDS | {"flwo": []})  # a misspelt keyword
    with pytest.raises(ScenarioError):
        Scenario(**KEYWORDS | {"duration": "20"}).run()
    out = tmp_path / "out"
    Scenario.load(small).run(out=out)
    with pytest.raises(OutputError):
        Scenario.load(small).run(out=out)
    assert Scenario.load(small).run(out=out, force=True).path == out
    with pytest.raises(OutputError):
        Result.open(tmp_path / "nowhere")
    assert issubclass(ScenarioError, PenstockError)
    assert issubclass(OutputError, PenstockError)


@pytest.mark.parametrize("seed", [-1, 2**63, 2**64, 2**200])
def test_seed_out_of_range_is_an_error_of_the_scenario(seed: int) -> None:
    with pytest.raises(ScenarioError, match=str(seed)) as caught:
        Scenario.from_toml(SMALL).describe(seed=seed)
    assert caught.value.key == "seed"


def test_paths_are_whatever_stands_for_a_path(small: Path, tmp_path: Path) -> None:
    class Somewhere:
        def __init__(self, path: Path) -> None:
            self.path = path

        def __fspath__(self) -> str:
            return str(self.path)

    out = Scenario.load(Somewhere(small)).run(out=Somewhere(tmp_path / "out")).path
    assert out == tmp_path / "out"
    assert Result.open(Somewhere(tmp_path / "out")).path == out


def test_keys_can_be_set_while_a_run_goes_on() -> None:
    scenario = Scenario.from_toml(SMALL).set("duration", "1 s")
    result = scenario.run(progress=lambda *_: scenario.set("duration", "2 s"))
    assert result.summary["duration_s"] == 1
    assert scenario.describe()["duration_s"] == 2


def test_types_have_the_keys_that_there_are(result: Result) -> None:
    plan, summary = Scenario.from_toml(SMALL).describe(), result.summary
    outline = Scenario.from_toml(SMALL).outline()
    assert dict(outline) == {key: value for key, value in plan.items() if key in outline}
    scheme = next(scheme for scheme in penstock.schemes() if scheme["name"] == "qcn")
    for kind, value in (
        (Description, plan),
        (Outline, outline),
        (Node, plan["nodes"][0]),
        (FlowDescription, plan["flows"][0]),
        (FairPeriod, plan["fair"][0]),
        (Totals, summary["totals"]),
        (QueueSummary, summary["queues"][0]),
        (FlowSummary, summary["flows"][0]),
        (HostSummary, summary["hosts"][0]),
        (RunSummary, summary["run"]),
        (Scheme, scheme),
        (Parameter, scheme["parameters"][0]),
        (Profile, scheme["profiles"][0]),
        (Key, keys()[0]),
    ):
        assert set(value) == kind.__required_keys__, kind
    assert set(summary) - Summary.__optional_keys__ == Summary.__required_keys__
    assert set(summary) & Summary.__optional_keys__ == {"actions", "notes"}


def test_tables_and_columns(result: Result) -> None:
    assert result.tables == ["queues", "rates", "signals", "flows"]
    assert result.queues.column_names[:7] == [
        "time_s",
        "queue",
        "priority",
        "queue_octets",
        "queue_frames",
        "utilization",
        "frames_dropped",
    ]
    assert result.rates.column_names[:5] == ["time_s", "flow", "rate_bps", "throughput_bps", "fair_rate_bps"]
    assert result.signals.column_names[:4] == ["time_s", "flow", "queue", "rate_bps"]
    assert result.column("flows", "name").tolist() == ["f0", "f1"]
    assert result.signals.num_rows == result.summary["totals"]["feedback_frames"]
    dropped = int(result.column("queues", "frames_dropped").sum())
    assert dropped == result.summary["totals"]["frames_dropped"] > 0
    with pytest.raises(PenstockError, match=r"record\.arrivals"):
        _ = result.arrivals
    with pytest.raises(PenstockError, match="queue_octets"):
        result.column("queues", "octets")


def address(array: "np.ndarray[Any, Any]") -> int:
    return int(array.__array_interface__["data"][0])


@pytest.mark.parametrize(
    ("table", "column"), [("queues", "time_s"), ("queues", "queue_octets"), ("rates", "throughput_bps")]
)
def test_no_reader_copies(result: Result, table: str, column: str) -> None:
    arrow = getattr(result, table)
    view = result.column(table, column)
    assert not view.flags.writeable
    # pyarrow tells where the memory of a column is; every other reader must use the same address.
    there = pa.table(arrow)[column].chunk(0).buffers()[1].address
    assert address(view) == there
    assert address(pl.DataFrame(arrow)[column].to_numpy()) == there
    assert address(pa.table(arrow).to_pandas(split_blocks=True)[column].to_numpy()) == there
    frame: Any = pd.DataFrame
    assert frame.from_arrow(arrow)[column].tolist() == view.tolist()
    assert view.tolist() == pa.table(arrow)[column].to_pylist()


def test_view_outlives_result() -> None:
    view = Scenario.from_toml(SMALL).run().column("queues", "time_s")
    assert view[-1] == pytest.approx(0.02)
    assert (np.diff(view) >= 0).all()


def test_progress_and_other_threads_go_on() -> None:
    scenario = Scenario.from_toml(SMALL).set("duration", "20 s")
    ticks, over = 0, threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not over.is_set():
            ticks += 1
            time.sleep(0.001)

    seen: list[tuple[float, float, int, float]] = []
    other = threading.Thread(target=tick)
    other.start()
    start = time.perf_counter()
    scenario.run()
    wall_s = time.perf_counter() - start
    over.set()
    other.join()
    # A run that kept Python's lock would let the other thread tick a few times at most.
    assert ticks > wall_s / 0.001 / 10

    scenario.run(progress=lambda *report: seen.append(report))
    simulated_s = [report[0] for report in seen]
    assert simulated_s == sorted(simulated_s)
    assert {report[1] for report in seen} == {20.0}
    assert len(seen) <= 10 * seen[-1][3] + 2


def test_catalogue() -> None:
    qcn = next(scheme for scheme in penstock.schemes() if scheme["name"] == "qcn")
    assert qcn["integer_state"]
    assert "paper-netfpga" in {profile["name"] for profile in qcn["profiles"]}
    assert (qcn["set_point"], qcn["signals"]) == ("q_eq", {"path": "backward", "octets": 64})
    assert ["sample_probability", "sample_probability_max"] in qcn["tuned"]
    parameters = {parameter["name"]: parameter for parameter in qcn["parameters"]}
    assert parameters["q_eq"]["queue_length"] and not parameters["sample_base"]["queue_length"]
    assert parameters["w"]["when"] is None
    assert parameters["sample_step"]["when"] == {"parameter": "sampling", "values": ["step"]}
    assert parameters["rpg_time_reset"]["when"] == {"parameter": "timer_on", "values": [True]}
    assert parameters["rpg_time_reset"]["description"].endswith("Has an effect only where `timer_on` is `true`.")
    assert penstock.schema()["type"] == "object"


@pytest.mark.parametrize("package", ["penstock", "penstock.theory", "penstock.testbed"])
def test_public_names_are_those_of_the_stub_and_each_is_what_it_imports(package: str) -> None:
    module = importlib.import_module(package)
    stub = ast.parse(Path(str(module.__file__)).with_suffix(".pyi").read_text(encoding="utf-8"))
    lines = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    declared = {str(alias.asname): (str(node.module), alias.name) for node in lines for alias in node.names}
    assert module.__all__ == sorted(declared) == dir(module)
    assert len(lines) == len(declared) == len(stub.body)
    for public, (home, name) in declared.items():
        assert getattr(module, public) is getattr(importlib.import_module(home), name)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing_of_that_name'"):
        _ = module.nothing_of_that_name


def test_every_public_package_is_a_public_name() -> None:
    assert {"dcb", "exchange", "testbed", "theory", "wire", "workloads"} <= set(dir(penstock))
    names: dict[str, Any] = {}
    exec("from penstock import *", names)
    assert set(dir(penstock)) <= set(names)


def test_a_run_after_an_outline_is_of_the_scenario_as_it_is_now() -> None:
    scenario = Scenario(**KEYWORDS)
    # The outline's plan is kept for a run that asks for the same.
    first = scenario.run().fingerprint()
    assert scenario.outline()["seed"] == 1
    assert scenario.run().fingerprint() == first
    assert scenario.run().fingerprint() == first
    scenario.outline(seed=2)
    assert scenario.run().summary["seed"] == 1
    scenario.outline()
    assert scenario.run(seed=3).summary["seed"] == 3
    scenario.outline()
    scenario.set("seed", 4)
    assert scenario.run().summary["seed"] == 4


def test_rows_of_some_queues_are_those_of_the_whole_table(result: Result) -> None:
    (part,) = result.rows_of("queues", ["sw0->h2", "nobody"], "time_s", "queue_octets").values()
    assert (part["time_s"] == result.column("queues", "time_s")).all()
    assert (part["queue_octets"] == result.column("queues", "queue_octets")).all()
    assert result.rows_of("queues", ["nobody"], "time_s") == {}
    flow = result.summary["flows"][1]["name"]
    rates = result.rows_of("rates", [flow], "throughput_bps")[flow]["throughput_bps"]
    assert (rates == result.column("rates", "throughput_bps")[1 :: len(result.summary["flows"])]).all()
    with pytest.raises(PenstockError, match="no recorded table is called 'arrivals'"):
        result.rows_of("arrivals", ["sw0->h2"], "time_s")


LATE = SMALL + '\n[[change]]\nlink = "sw0->h2"\nat = "15 ms"\nrate = "0.5 Gbps"\n'
"""A change that a shorter run leaves out, where its duration was set; in a file it would be a mistake."""


@pytest.mark.parametrize(
    ("duration", "resolved"), [("15 ms", True), ("600 ms", False)], ids=["flows are cut off", "nothing is cut off"]
)
def test_a_saved_scenario_runs_as_it_does(tmp_path: Path, duration: str, resolved: bool) -> None:
    scenario = Scenario.named("baseline/ten-gig").set("duration", duration).set("warmup", "5 ms")
    scenario.save(tmp_path / "saved.toml")
    saved = Scenario.load(tmp_path / "saved.toml")
    assert saved.describe()["flows"] == scenario.describe()["flows"]
    assert (saved.to_toml() != scenario.to_toml()) == resolved


def test_a_scenario_that_cannot_run_is_saved_as_it_is(tmp_path: Path) -> None:
    scenario = Scenario.named("baseline/ten-gig").set("duration", "15 ms")  # the warm-up lasts 100 ms
    scenario.save(tmp_path / "saved.toml")
    assert (tmp_path / "saved.toml").read_text() == scenario.to_toml()


def test_a_copy_knows_its_file_and_the_keys_that_were_set() -> None:
    scenario = Scenario.from_toml(LATE, origin="late.toml", name="late").set("duration", "10 ms")
    note = "a change is left out: the duration was set, and the run ends at 10 ms"
    for copy in (scenario.copy(), pickle.loads(pickle.dumps(scenario)), copies(scenario)()):
        assert copy.name == "late"
        assert note in copy.outline()["notes"]
        with pytest.raises(ScenarioError, match=r"late\.toml:.* warmup"):
            copy.set("warmup", "1 s").describe()
    assert note in scenario.outline()["notes"]
    # So does the standard that `penstock tune` compares with.
    assert note in _standard(scenario, "qcn", None)[1].outline()["notes"]
    with pytest.raises(ScenarioError, match=r"a change at or after the end of the run"):
        Scenario.from_toml(scenario.to_toml()).describe()
