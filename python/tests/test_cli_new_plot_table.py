"""`penstock new`, `schema SECTION`, `scenarios` outside of a checkout, `plot` and `table`, in this process."""

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, SMALL, Command
from typer.testing import CliRunner

from penstock import ArgumentError, PenstockError, Result, Scenario, library, scenarios
from penstock.catalogue import keys, schema, schemes
from penstock.cli import app
from penstock.scenario_template import TOPOLOGIES, template

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs the command line in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[int, str, str]:
        done = CliRunner().invoke(app, list(arguments))
        return done.exit_code, done.stdout, done.stderr

    return command


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the results folder of the small scenario."""
    path = tmp_path_factory.mktemp("results") / "small"
    Scenario.from_toml(SMALL, name="small").run(out=path)
    return path


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_new_scenario_runs_as_it_is(topology: str) -> None:
    for scheme in [about["name"] for about in schemes()]:
        scenario = Scenario.from_toml(template(scheme, topology), name="new")
        assert len(scenario.describe()["flows"]) == 4
        assert scenario.scheme == scheme
    assert scenario.set("duration", "1 ms").run().summary["totals"]["frames_delivered"] > 0


@pytest.mark.parametrize("scheme", ["qcn", "dcqcn", "none"])
def test_each_comment_of_a_new_scenario_can_be_taken_away(scheme: str) -> None:
    text = template(scheme, "star")
    lines = text.splitlines()
    names = "|".join({key["key"] for key in keys()})
    taken = 0
    for number, line in enumerate(lines):
        if re.match(rf"# ({names}) = [^…]*$", line):
            changed = "\n".join([*lines[:number], line[2:], *lines[number + 1 :]])
            Scenario.from_toml(changed).describe()
            taken += 1
    assert taken >= 15
    # The sections that are there are there with all of their keys.
    sections = {"", "topology.star", "[flow]", "record", f"schemes.{scheme}"}
    for key in keys():
        if key["section"] in sections:
            assert re.search(rf"^(# )?{key['key']} = ", text, re.MULTILINE), key["key"]
    assert max(len(line) for line in lines) <= 120


def test_new_writes_a_file_once(run: Run, tmp_path: Path) -> None:
    status, printed, said = run("new", "mine")
    assert (status, printed) == (0, "mine.toml\n")
    assert "penstock run mine.toml" in said
    assert tomllib.loads((tmp_path / "mine.toml").read_text())["scheme"] == "qcn"
    before = (tmp_path / "mine.toml").read_bytes()
    for asked, word in (
        (("new", "mine", "--scheme", "bcn"), "--force"),
        (("new", "other", "--scheme", "qnc"), "did you mean qcn?"),
        (("new", "other", "--topology", "ring"), "star, dumbbell"),
        (("new", "nowhere/other"), "create it first"),
        (("new", ""), "not a file name"),
    ):
        status, _, said = run(*asked)
        assert status == 2, asked
        assert word in said
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]
    assert (tmp_path / "mine.toml").read_bytes() == before
    assert run("new", "mine", "--force", "--topology", "fat-tree")[0] == 0
    assert "[topology.fat-tree]" in (tmp_path / "mine.toml").read_text()


def test_schema_of_a_section(run: Run) -> None:
    for word in ("flow", "[flow]", "[[flow]]"):
        status, printed, _ = run("schema", word)
        assert status == 0
        assert "excess" in printed
        assert "link_rate" not in printed
    assert "link_rate" in run("schema", "star")[1]
    assert "trunk_rate" in run("schema", "topology")[1]
    assert json.loads(run("schema", "flow", "--json")[1])["properties"]["excess"]
    assert json.loads(run("schema", "schemes.qcn", "--json")[1])["properties"]["q_eq"]
    assert "fat-tree" in json.loads(run("schema", "topology", "--json")[1])["properties"]
    status, _, said = run("schema", "flows")
    assert status == 2
    assert "did you mean flow?" in said


def test_scenarios_are_there_outside_of_a_checkout(run: Run, tmp_path: Path) -> None:
    listed = {entry["name"]: entry for entry in json.loads(run("scenarios", "--json")[1])}
    in_checkout = library.names(ROOT / "scenarios")
    assert sorted(listed) == in_checkout == scenarios()
    assert all(Path(entry["path"]).is_file() and entry["error"] is None for entry in listed.values())
    # One's own come first, and hide those of the same name.
    own = tmp_path / "scenarios" / "baseline" / "ten-gig.toml"
    own.parent.mkdir(parents=True)
    own.write_text(SMALL)
    (tmp_path / "scenarios" / "mine.toml").write_text(SMALL)
    listed = {entry["name"]: entry for entry in json.loads(run("scenarios", "--json")[1])}
    assert next(iter(listed.values()))["path"] == "scenarios/baseline/ten-gig.toml"
    assert len(listed) == len(in_checkout) + 1
    assert Scenario.named("baseline/ten-gig").question == Scenario.named("mine").question
    assert Scenario.named("netfpga/eight-sources-100us.toml").name == "eight-sources-100us"
    with pytest.raises(PenstockError, match="did you mean netfpga/eight-sources-100us"):
        Scenario.named("eight-sources-10us")
    status, _, said = run("run", "eight-sources-10us")
    assert status == 2
    assert "did you mean netfpga/eight-sources-100us?" in said


def test_plot_draws_a_page_of_a_folder(run: Run, tmp_path: Path, folder: Path) -> None:
    asked = ("plot", str(folder), "--out", "f.pdf", "--show", "queue", "--width", "3.3", "--font-size", "8")
    assert run(*asked, "--no-title")[:2] == (0, "f.pdf\n")
    assert b"/Type3" not in (tmp_path / "f.pdf").read_bytes()
    for words, said in (
        (("--show", "compare"), "the figures of a run are overview"),
        (("--out", "f.docx"), ".png, .svg or .pdf"),
        (("--out", "nowhere/f.png"), "the folder does not exist"),
    ):
        status, _, message = run("plot", str(folder), *words)
        assert status == 2
        assert said in message
    assert run("plot", str(folder), "--width", "0")[0] == 2
    assert run("plot", "nothing")[0] != 0
    assert [path.name for path in tmp_path.iterdir()] == ["f.pdf"]


def test_table_prints_columns(run: Run, folder: Path) -> None:
    result = Result.open(folder)
    assert [line.partition(":")[0] for line in run("table", str(folder))[1].splitlines()] == result.tables
    status, printed, _ = run("table", str(folder), "queues", "time_s", "queue", "queue_octets")
    assert status == 0
    head, *rows = printed.splitlines()
    assert head == "time_s,queue,queue_octets"
    assert len(rows) == len(result.queues)
    assert float(rows[7].split(",")[0]) == result.column("queues", "time_s")[7]
    column = ("queues", "queue_octet")
    for words, said in ((("queue",), "the tables are queues"), (column, "did you mean queue_octets?")):
        status, printed, message = run("table", str(folder), *words)
        assert (status, printed) == (2, "")
        assert said in message


def test_the_function_gives_what_the_command_writes(penstock: Command, tmp_path: Path) -> None:
    assert penstock("new", "two", "--scheme", "bcn", "--topology", "dumbbell").returncode == 0
    scenario = Scenario.new("two", scheme="bcn", topology="dumbbell")
    assert scenario.to_toml() == (tmp_path / "two.toml").read_text()
    assert (scenario.name, scenario.describe()["scheme"]) == ("two", "bcn")
    with pytest.raises(ArgumentError, match='scheme="qnc": unknown scheme; did you mean qcn'):
        Scenario.new("two", scheme="qnc")
    with pytest.raises(ArgumentError, match='topology="ring": unknown topology; start from one of star'):
        Scenario.new("two", topology="ring")


def test_keys_and_schema_of_a_section() -> None:
    assert {key["section"] for key in keys("[[flow]]")} == {"[flow]"}
    assert keys("star") == keys("topology.star")
    assert {key["section"] for key in keys("topology")} > {"topology.star", "topology.dumbbell"}
    assert schema("topology.star") == schema()["properties"]["topology"]["properties"]["star"]
    with pytest.raises(ArgumentError, match="flw: unknown section of a scenario file; did you mean flow"):
        schema("flw")
