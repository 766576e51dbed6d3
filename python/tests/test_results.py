"""Results held to what a reader takes them for: tables, totals, times, names."""

import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import penstock
from penstock.cli import app
from penstock.comparison import Comparison
from penstock.errors import ArgumentError
from penstock.exchange.hpcc_completions import read_fct
from penstock.figures.panels import draw_rates
from penstock.figures.series import FlowSeries
from penstock.highlights import notable_queues, notable_queues_of
from penstock.scenario import Scenario
from penstock.sweeps.tables import schema

STAR = """
question = "What does a result say?"
duration = "2 ms"
scheme = "none"
[topology.star]
hosts = 4
link_rate = "10 Gbps"
link_delay = "1 us"
buffer = "30 KB"
"""

FINITE = (
    STAR
    + """
[[flow]]
name = "short"
from = "h0"
to = "h3"
size = "100 KB"
start = "100 us"
frame = "1000 octets"
[[flow]]
name = "endless"
from = "h1"
to = "h2"
start = "200 us"
stop = "1 ms"
"""
)


@pytest.mark.parametrize("table", ["queues", "rates"])
def test_a_table_of_several_row_groups_is_read_by_every_library(tmp_path: Path, table: str) -> None:
    # A row group has 131 072 rows; 2 ms / 10 ns are 200 001 samples.
    scenario = Scenario.from_toml(FINITE).set("record.interval", "10 ns").set("record.queues", '["sw0->h3"]')
    result = penstock.Result.open(scenario.run(out=tmp_path / "long").path or "")
    name = "queue" if table == "queues" else "flow"
    rows, names = (200_001, ["sw0->h3"]) if table == "queues" else (400_002, ["endless", "short"])
    frame = result.to_pandas(table)
    assert (len(frame), sorted(frame[name].cat.categories)) == (rows, names)
    assert sorted(result.to_polars(table)[name].cast(str).unique()) == names
    assert sorted(set(result.column(table, name))) == names


def test_names_of_the_flows_of_a_load_are_one_list_in_memory() -> None:
    scenario = Scenario.named("loads/websearch-leaf-spine").set("duration", "5 ms").set("record.signals", "true")
    result = scenario.run(scheme="dcqcn")
    categories = list(result.to_pandas("signals")["flow"].cat.categories)
    assert len(categories) == len(set(categories)) > 1


def test_flows_have_starts_and_ends_without_a_transport() -> None:
    result = Scenario.from_toml(FINITE).run()
    flows = {flow["name"]: flow for flow in result.to_pandas("flows").to_dict("records")}
    # 100 frames of 1000 octets at 10 Gb/s, 1 us of delay twice, and the last frame over the second line.
    end_s = 100e-6 + 100 * 1000 * 0.8e-9 + 2e-6 + 1000 * 0.8e-9
    assert [flows["short"]["start_s"], flows["short"]["end_s"]] == pytest.approx([100e-6, end_s], abs=1e-12)
    assert [flows["endless"]["start_s"], flows["endless"]["end_s"]] == pytest.approx([200e-6, 1e-3], abs=1e-12)
    completions = result.to_pandas("completions")
    assert list(completions["flow"]) == ["short"]
    assert completions["end_s"].iloc[0] == pytest.approx(end_s, abs=1e-12)
    assert completions["slowdown"].iloc[0] == pytest.approx(1)
    assert result.finished_at_s == pytest.approx(end_s, abs=1e-12)
    lost = Scenario.from_toml(FINITE).set("flow.endless.to", "h3").set("flow.short.start", "300 us").run()
    assert lost.finished_at_s is None, "frames of the short one are missing"


def test_totals_are_the_sums_of_their_parts() -> None:
    # h3 receives from three and sends to one of them, so that acknowledgements wait behind data, and are dropped there.
    scenario = Scenario.from_toml(
        STAR
        + """
        [[flow]]
        name = "many"
        from = "h0..h2"
        to = "h3"
        size = "1 MB"
        transport = "go-back-n"
        [[flow]]
        name = "crossing"
        from = "h1..h3"
        to = "h0"
        size = "1 MB"
        transport = "go-back-n"
        """
    ).set("record.queues", "switches")
    summary = scenario.run().summary
    dropped = sum(queue["frames_dropped"] for queue in summary["queues"])
    assert (
        dropped == summary["totals"]["frames_dropped"] == sum(flow["frames_dropped"] for flow in summary["flows"]) > 0
    )
    assert sum(queue["control_frames_dropped"] for queue in summary["queues"]) > 0


PAUSED = Scenario.from_toml(
    """
    question = "Which port is congested?"
    duration = "2 ms"
    scheme = "none"
    [topology.leaf-spine]
    leaves = 3
    spines = 2
    hosts_per_leaf = 8
    host_rate = "10 Gbps"
    fabric_rate = "40 Gbps"
    link_delay = "1 us"
    buffer = "500 KB"
    [pfc]
    [[flow]]
    name = "incast"
    from = "h0..h15"
    to = "h23"
    [[flow]]
    name = "victim"
    from = "h0"
    to = "h22"
    """
)


def test_the_congested_port_is_shown_before_those_that_wait_for_it() -> None:
    result = PAUSED.copy().run()
    assert notable_queues_of(result)[0]["name"] == "leaf2->h23"
    assert notable_queues(result.summary["queues"])[0]["name"] == "leaf2->h23"


def test_pauses_of_hosts_are_kept_whatever_queues_are_recorded() -> None:
    all_queues, switches = (PAUSED.copy().set("record.queues", shown).run().summary for shown in ("used", "switches"))
    hosts: list[Any] = [host for host in switches["hosts"] if host.get("paused_s")]
    assert [host["name"] for host in hosts] == [f"h{i}" for i in range(16)]
    of_queues = {q["name"].partition("->")[0]: q["paused_s"] for q in all_queues["queues"] if q["name"][0] == "h"}
    assert {host["name"]: host["paused_s"] for host in hosts} == {name: s for name, s in of_queues.items() if s}
    total_s = switches["totals"].get("paused_s")
    assert total_s == all_queues["totals"].get("paused_s")
    assert total_s == pytest.approx(sum(queue["paused_s"] for queue in all_queues["queues"]))


def test_a_legend_names_only_what_is_drawn() -> None:
    import matplotlib.pyplot as plt

    axes = plt.figure().subplots()
    flow = FlowSeries("f", np.arange(4.0), np.full(4, 1e9), np.zeros(4), np.inf)
    draw_rates(axes, [flow])
    assert axes.get_legend_handles_labels()[1] == ["f"]
    plt.close("all")


def test_notes_are_those_of_the_command_line() -> None:
    sprayed = (
        Scenario.named("load-balancing/permutation").set("network.load_balancing", "spray").set("duration", "1 ms")
    )
    notes = sprayed.run().notes
    assert notes == sprayed.describe()["notes"]
    assert any("reordering = 1" in note for note in notes)
    patient = sprayed.copy()
    for table in range(len(patient.describe()["flows"])):
        try:
            patient.set(f"flow.{table}.transport", "{ selective = { reordering = 64 } }")
        except penstock.ScenarioError:
            break
    assert not any("reordering = 1" in note for note in patient.describe()["notes"])


def test_completion_times_of_other_programs_are_a_data_frame(tmp_path: Path) -> None:
    (tmp_path / "fct.txt").write_text("0b000101 0b000201 10000 100 4490 2000000212 4466 4400\n")
    read = read_fct(tmp_path / "fct.txt")
    assert read.to_pandas()["slowdown"].tolist() == read.to_polars()["slowdown"].to_list() == [4466 / 4400]


def test_a_comparison_goes_on_where_it_was_ended(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(FINITE)
    out = tmp_path / "out"
    runs: list[int] = []

    def stopped() -> bool:
        return len(runs) >= 2

    begun: list[str] = []

    def run(label: str) -> None:
        # The third waits for the report of two: a slow main thread would find all of them done.
        begun.append(label)
        for _ in range(6000 if len(begun) > 2 else 0):
            if stopped():
                break
            time.sleep(0.01)

    callbacks = penstock.RunCallbacks(run=run, done=lambda: runs.append(1), stopped=stopped)
    first = penstock.compare(scenario, ["none", "qcn"], seeds=3, out=out, resume=True, callbacks=callbacks, workers=1)
    assert first.interrupted
    planned: list[int] = []
    skipped: list[int] = []
    callbacks = penstock.RunCallbacks(planned=planned.append, skipped=skipped.append)
    second = penstock.compare(scenario, ["none", "qcn"], seeds=3, out=out, resume=True, callbacks=callbacks)
    assert planned[0] + skipped[0] == 6
    assert skipped[0] >= 2
    assert not second.interrupted
    whole = penstock.compare(scenario, ["none", "qcn"], seeds=3)
    assert [r.fingerprint() for line in Comparison.open(out).runs.values() for r in line] == [
        r.fingerprint() for line in whole.runs.values() for r in line
    ]
    assert not (tmp_path / "out.unfinished").exists()
    with pytest.raises(ArgumentError, match="needs a folder"):
        penstock.compare(scenario, ["none", "qcn"], resume=True)


def test_a_comparison_takes_no_run_of_another_scenario(tmp_path: Path) -> None:
    out, kept = tmp_path / "out", tmp_path / "out.unfinished"
    kept.mkdir()
    Scenario.from_toml(FINITE).set("duration", "1 ms").run(out=kept / "none-seed1")
    shutil.copytree(kept / "none-seed1", kept / "qcn-seed1")
    skipped: list[int] = []
    callbacks = penstock.RunCallbacks(skipped=skipped.append)
    compared = penstock.compare(Scenario.from_toml(FINITE), ["none", "qcn"], out=out, resume=True, callbacks=callbacks)
    assert skipped == []
    assert [run["duration_s"] for run in compared.document["runs"]] == [2e-3, 2e-3]


def test_progress_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    penstock.compare(Scenario.from_toml(FINITE), ["none", "qcn"], callbacks=penstock.printing(0))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("1 of 2 runs, about ")
    assert lines[1] == "2 of 2 runs"


@pytest.mark.parametrize("command", ["plot", "table"])
def test_a_folder_that_does_not_exist_is_named_as_such(tmp_path: Path, command: str) -> None:
    Scenario.from_toml(FINITE).run(out=tmp_path / "there")
    asked = CliRunner().invoke(app, [command, str(tmp_path / "ther")])
    assert asked.exit_code == 2
    assert f"{tmp_path / 'ther'}: no such folder" in asked.output
    assert f"did you mean {tmp_path / 'there'}?" in asked.output


def test_the_runs_of_a_sweep_have_no_columns_of_a_testbed() -> None:
    names = {column.name for column in schema()["runs"]}
    assert "finished_at_s" in names
    assert not names & {"time_scale", "real_time", "lateness_p50_s", "given_up_s"}
