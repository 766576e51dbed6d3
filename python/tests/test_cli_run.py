"""`penstock run`: its output, its files, and how it ends."""

import io
import json
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ENDLESS, SMALL, Command, interrupt
from rich.console import Console

from penstock import FrameLossError, IdleSchemeError, Result, Scenario
from penstock.cli.report import print_table
from penstock.quantity_text import count
from penstock.reports.run_tables import queues

# The object of `run --json` is a contract that other tools build on: these are its keys and types, written out.
NUMBER = (int, float)
OPTIONAL = (int, float, type(None))
TOP = {
    "scenario": str,
    "question": str,
    "scheme": str,
    "profile": (str, type(None)),
    "seed": int,
    "duration_s": NUMBER,
    "planned_s": NUMBER,
    "warmup_s": NUMBER,
    "actions": dict,
    "totals": dict,
    "loss_rate": NUMBER,
    "feedback_rate": NUMBER,
    "jain_index": NUMBER,
    "queues": list,
    "flows": list,
    "hosts": list,
    "notes": list,
    "run": dict,
}
TOTALS = dict.fromkeys(
    (
        "frames_offered",
        "frames_discarded_at_source",
        "frames_waiting_at_source",
        "frames_sent",
        "copies_made",
        "frames_delivered",
        "frames_dropped",
        "frames_lost_on_link",
        "frames_in_flight",
        "feedback_frames",
        "tied_losses",
        "packet_hops",
        "events",
    ),
    int,
)
QUEUE = {
    "name": str,
    "priority": int,
    "mean_octets": NUMBER,
    "std_octets": NUMBER,
    "min_octets": int,
    "max_octets": int,
    "empty_fraction": NUMBER,
    "utilization": NUMBER,
    "frames_dropped": int,
    "control_frames_dropped": int,
    "frames_flushed": int,
    "frames_sent": int,
    "octets_sent": int,
    "frames_marked": int,
    "octets_marked": int,
    "feedback_frames": int,
    "paused_s": NUMBER,
    "stops": int,
    "pause_frames": int,
    "drop_rate": NUMBER,
    "set_point_octets": (int, type(None)),
}
FLOW = {
    "name": str,
    "source": str,
    "destinations": list,
    "throughput_bps": NUMBER,
    "fair_rate_bps": NUMBER,
    "mean_rate_bps": NUMBER,
    "std_rate_bps": NUMBER,
    "frames_sent": int,
    "frames_delivered": int,
    "frames_dropped": int,
    "feedback_received": int,
    "settling_time_s": OPTIONAL,
    "start_s": OPTIONAL,
    "end_s": OPTIONAL,
    "completion_time_s": OPTIONAL,
    "group": str,
    "controlled": bool,
}
HOST = {"name": str, "rate_limiters_mean": NUMBER, "rate_limiters_max": int}
RUN = {"wall_s": NUMBER, "events_per_s": NUMBER, "ns_per_packet_hop": NUMBER, "version": str}


def assert_shape(document: dict[str, Any], shape: dict[str, Any]) -> None:
    assert list(document) == list(shape)
    for key, kind in shape.items():
        assert isinstance(document[key], kind), key
        assert isinstance(document[key], bool) == (kind is bool), key


def test_json_is_the_contract_and_nothing_else(penstock: Command, small: Path) -> None:
    done = penstock("run", small, "--json", "--no-figures")
    assert done.returncode == 0
    assert done.stdout.endswith("}\n")
    assert not done.stdout.endswith("\n\n")
    summary = json.loads(done.stdout)
    assert_shape(summary, TOP)
    assert_shape(summary["totals"], TOTALS)
    for part, shape in (("queues", QUEUE), ("flows", FLOW), ("hosts", HOST)):
        assert summary[part]
        for entry in summary[part]:
            assert_shape(entry, shape)
    assert_shape(summary["run"], RUN)
    assert (summary["scenario"], summary["scheme"], summary["seed"]) == ("small", "qcn", 1)
    assert [flow["name"] for flow in summary["flows"]] == ["f0", "f1"]
    assert [flow["destinations"] for flow in summary["flows"]] == [["h2"], ["h2"]]
    assert summary["duration_s"] == 0.02


def test_counts_balance(penstock: Command, small: Path) -> None:
    summary = json.loads(penstock("run", small, "--json", "--no-figures").stdout)
    totals = summary["totals"]
    inside = totals["frames_delivered"] + totals["frames_dropped"] + totals["frames_lost_on_link"]
    assert totals["frames_sent"] + totals["copies_made"] == inside + totals["frames_in_flight"]
    assert summary["loss_rate"] == totals["frames_dropped"] / totals["frames_sent"]
    assert summary["feedback_rate"] == totals["feedback_frames"] / totals["frames_sent"]


def test_folder_holds_records_and_figures(penstock: Command, small: Path, tmp_path: Path) -> None:
    assert penstock("run", small).returncode == 0
    folder = tmp_path / "results" / "small-qcn-seed1"
    figures = {f"{name}.{kind}" for name in ("overview",) for kind in ("png", "svg")}
    tables = {f"{name}.parquet" for name in ("queues", "rates", "signals", "flows")}
    assert {path.name for path in folder.iterdir()} == figures | tables | {"scenario.toml", "summary.json"}
    # The resolved scenario runs again to the same result.
    again = json.loads(
        penstock("run", folder / "scenario.toml", "--json", "--out", tmp_path / "again", "--no-figures").stdout
    )
    first = json.loads((folder / "summary.json").read_text())
    for summary in (first, again):
        del summary["run"]
    assert first == again | {"scenario": "small"}


def test_people_get_a_table(penstock: Command, small: Path) -> None:
    done = penstock("run", small)
    assert done.returncode == 0
    for part in ("Do two senders share one port?", "sw0->h2", "f0", "f1", "Mb/s", "Jain", "results/small-qcn-seed1"):
        assert part in done.stdout
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert "means and counts cover the whole run" in done.stdout
    assert done.stdout.count("sw0->h2") == 1
    warm = penstock("run", small, "--set", "warmup=5 ms", "--out", "warm", "--no-figures").stdout
    assert "from 5 ms on" in warm
    assert "feedback, settling and pauses over the whole run" in warm


def test_many_flows_are_three_columns(penstock: Command, small: Path) -> None:
    text = (
        small.read_text().replace("hosts = 3", "hosts = 19").replace('"h0..h1"', '"h0..h17"').replace('"h2"', '"h18"')
    )
    small.write_text(text)
    finished = penstock("run", str(small), "--json", "--no-figures", "--out", "json")
    flows = json.loads(finished.stdout)["flows"]
    output = penstock("run", str(small), "--no-figures", "--out", "results").stdout
    (head,) = (line.split() for line in output.splitlines() if "18 flows" in line)
    assert head == ["18", "flows", "least", "median", "most"]
    (dropped,) = (re.split(" {2,}", line) for line in output.splitlines() if line.startswith("dropped"))
    counts = sorted(flow["frames_dropped"] for flow in flows)
    assert dropped == ["dropped", *(count(counts[place]) for place in (0, 9, -1))]
    assert max(counts) > 0


def test_narrow_terminal_keeps_numbers_whole(small: Path) -> None:
    out = Console(width=40, record=True, file=io.StringIO())
    print_table(out, queues(Scenario.load(small).run().summary["queues"]))
    text = out.export_text()
    # Columns that do not fit come below, with the names once more.
    assert text.count("sw0->h2") > 1
    for word in ("mean", "empty", "utilisation", "feedback"):
        assert text.count(word) == 1
    assert "…" not in text
    assert max(len(line) for line in text.splitlines()) <= 40


def test_quiet_says_nothing(penstock: Command, small: Path, tmp_path: Path) -> None:
    done = penstock("run", small, "--quiet", "--no-figures", "--out", tmp_path / "out")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not list((tmp_path / "out").glob("*.png"))


def test_options_reach_the_run(penstock: Command, small: Path) -> None:
    done = penstock(
        "run",
        small,
        "--scheme",
        "none",
        "--seed",
        "7",
        "--set",
        "duration=5 ms",
        "--set",
        "flow.0.stop=4 ms",
        "--json",
        "--no-figures",
    )
    summary = json.loads(done.stdout)
    assert (summary["scheme"], summary["seed"], summary["duration_s"]) == ("none", 7, 0.005)
    assert summary["totals"]["feedback_frames"] == 0


def test_profile_is_named_in_the_summary(penstock: Command, small: Path) -> None:
    summary = json.loads(penstock("run", small, "--profile", "ieee-2010", "--json", "--no-figures").stdout)
    assert summary["profile"] == "ieee-2010"


def test_existing_folder_is_kept_unless_forced(penstock: Command, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    done = penstock("run", small, "--out", out)
    assert done.returncode == 2
    assert "exists already" in done.stderr
    assert "--force" in done.stderr
    # Not even --force removes files that are no result of Penstock.
    assert penstock("run", small, "--out", out, "--force").returncode == 2
    assert [path.name for path in out.iterdir()] == ["mine.txt"]
    (out / "mine.txt").unlink()
    for scheme in ("qcn", "none"):
        assert penstock("run", small, "--out", out, "--force", "--scheme", scheme, "--no-figures").returncode == 0
        assert json.loads((out / "summary.json").read_text())["scheme"] == scheme


def test_name_below_scenarios(penstock: Command, tmp_path: Path) -> None:
    (tmp_path / "scenarios" / "two").mkdir(parents=True)
    (tmp_path / "scenarios" / "two" / "senders.toml").write_text(SMALL)
    assert penstock("run", "two/senders", "--quiet", "--no-figures").returncode == 0
    assert (tmp_path / "results" / "senders-qcn-seed1").is_dir()
    done = penstock("run", "two/sender")
    assert done.returncode == 2
    assert "did you mean two/senders?" in done.stderr


def test_name_that_no_file_system_takes_is_wrong_input(penstock: Command, small: Path, tmp_path: Path) -> None:
    done = penstock("run", small, "--out", tmp_path / ("x" * 300))
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {tmp_path / 'xxx'}")
    assert ".partial" not in done.stderr
    assert "hint: name a folder of at most 200 letters" in done.stderr


def test_full_disk_leaves_no_half_of_a_result(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "results" / "out"
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "run", str(small), "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
        # No file may grow beyond 4 KiB: writing fails as it does on a full disk.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert list(out.parent.iterdir()) == []


def test_killed_run_leaves_nothing_under_its_name(penstock: Command, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "results" / "out"
    status, _, _ = interrupt(["run", str(small), *ENDLESS], out, signal.SIGKILL)
    assert status == -signal.SIGKILL
    assert not out.exists()
    # The next run of that name removes the remains of the killed one under a hidden one.
    assert len(list(out.parent.iterdir())) == 1
    assert penstock("run", small, "--out", out, "--no-figures").returncode == 0
    assert [path.name for path in out.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("json_wanted", [False, True])
def test_interrupt_keeps_what_was_recorded(small: Path, tmp_path: Path, json_wanted: bool) -> None:
    out = tmp_path / "results" / "long"
    options = [*ENDLESS, *(["--json"] if json_wanted else [])]
    status, stdout, stderr = interrupt(["run", str(small), *options], out)
    assert status == 130
    assert "interrupted at" in stderr
    assert f"penstock plot {out}" in stderr
    assert not list(out.glob("*.png")), "drawing would take longer than a user waits"
    assert [path.name for path in out.parent.iterdir()] == ["long"]
    kept = Result.open(out)
    assert kept.interrupted
    assert kept.interrupted_at_s is not None
    assert kept.interrupted_at_s > 0
    time_s = kept.column("queues", "time_s")
    assert 0 < time_s.max() <= kept.interrupted_at_s
    if json_wanted:
        assert json.loads(stdout)["interrupted_at_s"] == kept.interrupted_at_s
    else:
        assert "sw0->h2" in stdout


# The command, interrupted by the last thing that the run tells.
AT_THE_END = """
import os, signal
from penstock.cli import progress
task = progress.Progress.task
def ends(self, label):
    advance = task(self, label)
    def tell(simulated_s, duration_s, *rest):
        advance(simulated_s, duration_s, *rest)
        if simulated_s >= duration_s:
            os.kill(os.getpid(), signal.SIGINT)
    return tell
progress.Progress.task = ends
from penstock.__main__ import main
main()
"""


def test_interrupt_at_the_end_of_the_run_is_not_lost(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "whole"
    command = [sys.executable, "-c", AT_THE_END, "run", str(small), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert f"interrupted when the run had ended; the records are whole and in {out}" in done.stderr
    assert f"penstock plot {out}" in done.stderr
    assert not Result.open(out).interrupted
    assert not list(out.glob("*.png"))


FLOW_CONTROL = 'lossless = true\npfc = { buffer = "60 KB" }\n'


def test_kept_claim_of_losslessness(penstock: Command, tmp_path: Path) -> None:
    (tmp_path / "kept.toml").write_text(FLOW_CONTROL + SMALL)
    done = penstock("run", "kept.toml", "--scheme", "none", "--no-figures", "--out", "out")
    assert done.returncode == 0
    assert "lossless, as claimed" in done.stdout
    result = Result.open(tmp_path / "out")
    assert result.summary["lossless"] is True
    assert result.summary["totals"]["frames_dropped"] == 0
    assert result.summary["totals"]["pause_frames"] > 0
    # Two sources of 1 Gb/s share a port of 1 Gb/s: each is stopped for half of the time, but for the beginning.
    stopped = {queue["name"]: queue["paused_s"] for queue in result.summary["queues"]}
    assert list(stopped) == ["h0->sw0", "h1->sw0", "sw0->h2"]
    assert 0.4 < (stopped["h0->sw0"] + stopped["h1->sw0"]) / 2 / 0.02 < 0.6
    assert stopped["sw0->h2"] == 0
    assert result.column("queues", "paused_s").sum() == pytest.approx(sum(stopped.values()), rel=1e-6)
    assert "paused" in done.stdout
    # The table of thresholds, and their assumptions.
    stops = next(line for line in done.stdout.splitlines() if line.startswith("h0->sw0 and"))
    assert "60 KB" in stops
    # 802.3's response at 1 Gb/s.
    assert "1.02 us" in stops
    assert "frames of at most" in done.stdout


def test_broken_claim_of_losslessness_fails_after_all_is_written(penstock: Command, tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("lossless = true\n" + SMALL)
    done = penstock("run", "broken.toml", "--scheme", "none", "--json", "--out", "out")
    assert done.returncode == 1
    summary = json.loads(done.stdout)
    assert summary["lossless"] is False
    assert "claims to be lossless and lost" in done.stderr
    assert "first at sw0->h2 (by 500 us)" in done.stderr
    assert "hint: " in done.stderr
    kept = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"summary.json", "queues.parquet", "overview.png"} <= kept
    output = penstock("run", "broken.toml", "--scheme", "none", "--no-figures", "--out", "results")
    assert "not lossless, though the scenario claims it" in " ".join(output.stdout.split())
    result = Scenario.load(tmp_path / "broken.toml").run(scheme="none")
    with pytest.raises(FrameLossError) as caught:
        result.raise_for_claims()
    assert caught.value.result.summary["totals"] == summary["totals"]


def test_a_scheme_without_effect_fails_a_run_that_claims_it_acts(penstock: Command, tmp_path: Path) -> None:
    idle = "require_action = true\n" + SMALL + 'traffic = "constant"\nrate = "10 Mbps"\n'
    (tmp_path / "idle.toml").write_text(idle)
    done = penstock("run", "idle.toml", "--json", "--out", "out")
    assert done.returncode == 1
    summary = json.loads(done.stdout)
    assert summary["acted"] is False
    assert summary["actions"] == {"notifications": 0, "cuts": 0, "raises": 0}
    assert "claims that its scheme acts, and qcn had no effect: notifications 0, cuts 0, raises 0" in done.stderr
    assert "hint: " in done.stderr
    assert (tmp_path / "out" / "overview.png").exists()
    output = penstock("run", "idle.toml", "--no-figures", "--out", "results")
    assert "it did not act, though the scenario claims it" in " ".join(output.stdout.split())
    result = Scenario.load(tmp_path / "idle.toml").run()
    assert [(claim.name, claim.holds) for claim in result.claims] == [("acted", False)]
    assert "had no effect: notifications 0" in result.claims[0].message
    with pytest.raises(IdleSchemeError) as caught:
        result.raise_for_claims()
    assert caught.value.result.summary["totals"] == summary["totals"]
    # No scheme that declares no actions breaks the claim, and none breaks it where there is something to do.
    assert Scenario.load(tmp_path / "idle.toml").run(scheme="none").summary.get("acted") is None
    (tmp_path / "busy.toml").write_text("require_action = true\n" + SMALL)
    done = penstock("run", "busy.toml", "--no-figures", "--out", "busy")
    assert done.returncode == 0, done.stderr
    assert "actions of the scheme: notifications " in done.stdout
    assert "it acted, as claimed" in done.stdout


def test_schemes_of_priorities_are_told(penstock: Command, tmp_path: Path) -> None:
    text = SMALL.replace("[topology.star]", '[[priority]]\npriority = 3\nscheme = "none"\n\n[topology.star]')
    text += '\n[[flow]]\nfrom = "h0"\nto = "h2"\npriority = 3\n'
    (tmp_path / "mixed.toml").write_text(text)
    done = penstock("run", "mixed.toml", "--no-figures", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "mixed: qcn at priority 0, none at priority 3" in done.stdout
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["scheme"] == "mixed"
    assert summary["schemes"] == [
        {"priority": 0, "scheme": "qcn", "profile": None},
        {"priority": 3, "scheme": "none", "profile": None},
    ]
    for options, folder in (([], "mixed-mixed-seed1"), (["--scheme", "none"], "mixed-none-seed1")):
        assert penstock("run", "mixed.toml", "--no-figures", "--quiet", *options).returncode == 0
        assert (tmp_path / "results" / folder).is_dir()
