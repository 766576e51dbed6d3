"""`penstock schemes`, `scenarios`, `schema`, and the command line as a whole."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT, SMALL, Command
from jsonschema import Draft202012Validator

from penstock import Scenario, ScenarioError, catalogue, schema

PARAMETER = ["name", "unit", "default", "minimum", "maximum", "source", "description"]


def imported_by(*arguments: str) -> tuple[set[str], str]:
    """Return the modules that a command imports, and what it prints."""
    words = f"""
import sys
from penstock import __main__, interrupts
interrupts.finish = lambda status: print(status, *sys.modules, file=sys.stderr)
sys.argv = ["penstock", *{list(arguments)!r}]
__main__.main()
"""
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    status, *imported = done.stderr.splitlines()[-1].split()
    assert status == "0", done.stderr
    return set(imported), done.stdout


OF_OTHER_COMMANDS = {
    *("duckdb", "jax", "jinja2", "optuna", "pandas", "polars", "pyarrow", "ray", "scapy", "scipy"),
    *("matplotlib.pyplot", "tkinter"),
    *(f"penstock.{part}" for part in ("arenas", "comparison", "dcb", "exchange", "lab", "reproduction", "sweeps")),
    *(f"penstock.{part}" for part in ("testbed", "theory", "tuning", "wire")),
}
"""Modules that neither the help nor a run of a scenario has a use for."""


def test_help_imports_nothing_heavy() -> None:
    imported, printed = imported_by("--help")
    assert "penstock.cli" in imported
    heavy = {"numpy", "matplotlib", "arro3", "arro3.core", "nanoarrow", "rich", "tomli_w", "penstock._core"}
    assert not imported & (heavy | OF_OTHER_COMMANDS)
    for command in ("run", "compare", "schemes", "scenarios", "schema"):
        assert f"\n  {command} " in printed


def test_a_command_that_draws_nothing_imports_no_matplotlib() -> None:
    imported, _ = imported_by("schemes")
    assert "rich" in imported
    assert "matplotlib" not in imported


def test_a_run_imports_nothing_that_it_does_not_use(small: Path, tmp_path: Path) -> None:
    imported, _ = imported_by("run", str(small), "--out", str(tmp_path / "out"))
    assert (tmp_path / "out" / "overview.svg").is_file()
    assert {"matplotlib", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg"} <= imported
    assert not imported & OF_OTHER_COMMANDS
    without, _ = imported_by("run", str(small), "--out", str(tmp_path / "without"), "--no-figures")
    assert not without & (OF_OTHER_COMMANDS | {"matplotlib", "PIL", "penstock.figures"})


def test_version(penstock: Command) -> None:
    from penstock import __version__

    assert penstock("--version").stdout == f"penstock {__version__}\n"


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
    lines = penstock("schemes").stdout.splitlines()
    for scheme in catalogue.schemes():
        (line,) = [line for line in lines if line.split()[:1] == [scheme["name"]]]
        assert scheme["title"] in line
    shown = penstock("schemes", "qcn").stdout
    for word in ("q_eq", "KB", "paper-netfpga"):
        assert word in shown
    rows = {line.split()[0]: line for line in shown.splitlines() if line and not line.startswith(" ")}
    # Exact, as a file would have it: the unit, the default, the range.
    assert rows["q_eq"].split()[1:10] == ["octets", "26", "KB", "100", "octets", "to", "4.294967295", "GB", "Set"]
    assert "1 us to 1000 s" in rows["rpg_time_reset"]
    assert "table | probability" in rows["sampling"]
    assert "rpgTimeReset" in rows["rpg_time_reset"]
    assert "rpg_time_reset = 25 ms" in shown


def test_one_parameter_has_its_source_and_the_values_of_profiles(penstock: Command) -> None:
    shown = [line.split(maxsplit=1) for line in penstock("schemes", "qcn", "q_eq").stdout.splitlines()]
    assert ["default", "26 KB"] in [[word.strip() for word in line] for line in shown]
    assert ["source", "cpQSp, CpQueueSizeSetPoint"] in [[word.strip() for word in line] for line in shown]
    assert ["paper-netfpga", "33 KB"] in [[word.strip() for word in line] for line in shown]
    (entry,) = json.loads(penstock("schemes", "qcn", "q_eq", "--json").stdout)
    assert [parameter["name"] for parameter in entry["parameters"]] == ["q_eq"]


def test_scenarios(penstock: Command, tmp_path: Path) -> None:
    (tmp_path / "scenarios" / "two").mkdir(parents=True)
    (tmp_path / "scenarios" / "two" / "senders.toml").write_text(SMALL)
    (tmp_path / "scenarios" / "broken.toml").write_text("question = ")
    broken, senders, *_ = json.loads(penstock("scenarios", "--json").stdout)
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
    printed = json.loads(penstock("schema", "--json").stdout)
    assert "flow" in printed["properties"]
    keys = penstock("schema").stdout
    for word in ("duration", "link_rate", "wire_overhead"):
        assert word in keys


def test_schema_admits_every_scenario_and_its_resolved_form(penstock: Command) -> None:
    printed = json.loads(penstock("schema", "--json").stdout)
    Draft202012Validator.check_schema(printed)
    validator = Draft202012Validator(printed)
    paths = sorted((ROOT / "scenarios").rglob("*.toml"))
    assert len(paths) >= 20
    for path in paths:
        for text in (path.read_text(encoding="utf-8"), Scenario.load(path).resolved()):
            assert [error.message for error in validator.iter_errors(tomllib.loads(text))] == [], path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"20 ms"', '"20 m"'),
        ('"20 ms"', "20"),
        ('"qcn"', '"qnc"'),
        ("q_eq", "qeq"),
        ("hosts = 3", "hosts = 1"),
        ("[topology.star]", "[topology.star]\nports = 3"),
        ('to = "h2"', ""),
        ('to = "h2"', 'to = "h2"\npriority = 8'),
        ("[topology.star]", "[pfc]\npriorities = [8]\n[topology.star]"),
        ("[topology.star]", "[pfc]\npriorities = [3, 3]\n[topology.star]"),
        ("[topology.star]", "[[group]]\nname = 'g'\n[topology.star]"),
        ("[topology.star]", "[[priority]]\npriority = 9\n[topology.star]"),
        ('to = "h2"', 'to = "h2"\nsize = { uniform = { minimum = "1 KB" } }'),
    ],
)
def test_schema_refuses_what_penstock_refuses(old: str, new: str) -> None:
    validator = Draft202012Validator(schema())
    assert validator.is_valid(tomllib.loads(SMALL))
    wrong = SMALL.replace(old, new, 1)
    assert not validator.is_valid(tomllib.loads(wrong))
    with pytest.raises(ScenarioError):
        Scenario.from_toml(wrong).describe()


@pytest.mark.parametrize(("scheme", "key"), [("hpcc", "base_rtt"), ("homa", "rtt_octets")])
def test_schema_has_the_word_for_what_follows_from_the_network(scheme: str, key: str) -> None:
    validator = Draft202012Validator(schema())
    document = tomllib.loads(SMALL) | {"scheme": scheme}
    assert validator.is_valid(document | {"schemes": {scheme: {key: "auto"}}})
    assert not validator.is_valid(document | {"schemes": {scheme: {key: "automatic"}}})


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
