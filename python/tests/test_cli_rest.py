"""`penstock compare`, `schemes`, `scenarios`, `schema`, and the command line as a whole."""

import json
import subprocess
import sys
from pathlib import Path

from conftest import ENDLESS, SMALL, Command, interrupt

PARAMETER = ["name", "unit", "default", "minimum", "maximum", "source", "description"]


def test_help_imports_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "penstock", "--help"], capture_output=True, text=True, check=True
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "penstock.cli" in imported
    heavy = {"numpy", "matplotlib", "arro3", "arro3.core", "nanoarrow", "rich", "tomli_w", "penstock._core"}
    assert not imported & heavy
    for command in ("run", "compare", "schemes", "scenarios", "schema"):
        assert f"\n  {command} " in done.stdout


def test_version(penstock: Command) -> None:
    from penstock import __version__

    assert penstock("--version").stdout == f"penstock {__version__}\n"


def test_compare_json(penstock: Command, small: Path, tmp_path: Path) -> None:
    done = penstock("compare", small, "--schemes", "qcn,none", "--seeds", "2", "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert list(document) == ["scenario", "question", "queue", "schemes", "runs"]
    assert document["queue"] == "sw0->h2"
    assert [(entry["scheme"], entry["seeds"]) for entry in document["schemes"]] == [("qcn", [1, 2]), ("none", [1, 2])]
    losses = [run["loss_rate"] for run in document["runs"] if run["scheme"] == "none"]
    none = document["schemes"][1]
    assert none["loss_rate"]["mean"] == sum(losses) / 2
    # Two greedy senders into one port of half their rate, without control: half is lost, but for the buffer.
    assert 0.4 < none["loss_rate"]["mean"] < 0.5
    assert document["schemes"][0]["loss_rate"]["mean"] < none["loss_rate"]["mean"]

    # Two flows, two seeds; none of them ends.
    assert none["completion_time_s"] == {"mean": None, "std": None, "flows": 0, "of_flows": 4}

    folder = tmp_path / "results" / "small-compare"
    assert json.loads((folder / "compare.json").read_text()) == document
    runs = {"qcn-seed1", "qcn-seed2", "none-seed1", "none-seed2"}
    assert {path.name for path in folder.iterdir()} == runs | {"compare.json", "compare.png", "compare.svg"}
    assert [path.name for path in folder.parent.iterdir()] == ["small-compare"]


def test_compare_runs_as_run_does(penstock: Command, small: Path) -> None:
    compared = json.loads(penstock("compare", small, "--schemes", "none,qcn", "--json").stdout)["runs"][1]
    alone = json.loads(penstock("run", small, "--json", "--no-figures").stdout)
    del compared["run"], alone["run"]
    assert compared == alone


def test_compare_table_and_existing_folder(penstock: Command, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = penstock("compare", small, "--schemes", "qcn,none", "--out", out)
    assert done.returncode == 0
    assert done.stderr == ""
    for word in ("qcn", "none", "utilisation", "sw0->h2"):
        assert word in done.stdout
    kept = (out / "compare.json").read_bytes()
    assert penstock("compare", small, "--schemes", "qcn", "--out", out).returncode == 2
    assert (out / "compare.json").read_bytes() == kept
    assert penstock("compare", small, "--schemes", "qcn", "--out", out, "--force").returncode == 0
    assert not (out / "none-seed1").exists()


def test_interrupted_comparison_keeps_what_was_recorded(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "results" / "compared"
    status, stdout, stderr = interrupt(["compare", str(small), "--schemes", "qcn,none", "--json", *ENDLESS], out)
    assert status == 130
    assert str(out) in stderr
    assert [path.name for path in out.parent.iterdir()] == ["compared"]
    runs = json.loads(stdout)["runs"]
    assert runs
    assert all(run["interrupted_at_s"] > 0 for run in runs)


def test_schemes_json(penstock: Command) -> None:
    entries = json.loads(penstock("schemes", "--json").stdout)
    assert {"qcn", "none"} <= {entry["name"] for entry in entries}
    for entry in entries:
        assert list(entry) == ["name", "title", "source", "parameters"]
        for parameter in entry["parameters"]:
            assert list(parameter) == PARAMETER
            assert parameter["source"]
            assert parameter["description"]
    alone = json.loads(penstock("schemes", "qcn", "--json").stdout)
    assert alone == [entry for entry in entries if entry["name"] == "qcn"]


def test_schemes_for_people(penstock: Command) -> None:
    assert "qcn" in penstock("schemes").stdout
    shown = penstock("schemes", "qcn").stdout
    for word in ("q_eq", "KB", "paper-netfpga"):
        assert word in shown


def test_scenarios(penstock: Command, tmp_path: Path) -> None:
    (tmp_path / "scenarios" / "two").mkdir(parents=True)
    (tmp_path / "scenarios" / "two" / "senders.toml").write_text(SMALL)
    (tmp_path / "scenarios" / "broken.toml").write_text("question = ")
    broken, senders = json.loads(penstock("scenarios", "--json").stdout)
    assert senders == {
        "name": "two/senders",
        "path": "scenarios/two/senders.toml",
        "question": "Do two senders share one port?",
        "scheme": "qcn",
        "error": None,
    }
    assert broken["name"] == "broken"
    assert broken["error"]
    assert "Do two senders share one port?" in penstock("scenarios").stdout


def test_schema(penstock: Command) -> None:
    schema = json.loads(penstock("schema", "--json").stdout)
    assert "flow" in schema["properties"]
    keys = penstock("schema").stdout
    for word in ("duration", "link_rate", "wire_overhead"):
        assert word in keys


def test_reader_that_goes_away_is_no_crash(small: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock", "schemes", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()
    process.wait(timeout=60)
