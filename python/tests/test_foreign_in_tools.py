"""Schemes of files in comparisons, sweeps, arenas, other processes, the suite of conformance, and the schema."""

import importlib
import json
import os
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from foreign_cases import EXAMPLES, build, changed, columns, command, scenario
from jsonschema import Draft202012Validator

import penstock
from penstock import ArgumentError
from penstock.arenas.arena_file import ArenaError, read
from penstock.runs import Run, copies

TEXT = """import penstock


class Halving(penstock.Scheme):
    name, ecn, actions = "halving", True, ("marks", "cuts", "raises")
    parameters = {"k": penstock.Parameter("threshold", "20 KB", "64 B", "1 GB")}

    class CongestionPoint(penstock.CongestionPoint):
        def mark(self, frame, octets):
            return octets > self.p.k

    class NotificationPoint(penstock.NotificationPoint):
        def acknowledge(self, frame):
            return True

    class ReactionPoint(penstock.ReactionPoint):
        def on_ack(self, ack):
            if ack.marked:
                self.rate, self.limiting = max(self.rate / 2, 1e6), True
            else:
                self.rate = min(self.rate + 5e6, self.line)
"""

ARENA = """title = "Two"
[[workload]]
name = "four"
scenario = "four.toml"
judge = "queue_mean_octets"
"""


@pytest.fixture
def halving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[penstock.Scheme]:
    """The class of a file that is imported, in a folder with a scenario and an arena."""
    (tmp_path / "halving.py").write_text(TEXT)
    (tmp_path / "four.toml").write_text(scenario(duration="1 ms").to_toml())
    (tmp_path / "arena.toml").write_text(ARENA)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("halving", None)
    found: type[penstock.Scheme] = importlib.import_module("halving").Halving
    return found


def test_a_class_is_compared_and_swept(tmp_path: Path, halving: type[penstock.Scheme]) -> None:
    case = scenario(duration="1 ms")
    wide = penstock.Variant("wide", halving, {"schemes.halving.k": "60 KB"})
    compared = penstock.compare(case, ["dctcp", halving, wide], out=tmp_path / "compared")
    table = compared.to_pandas().set_index("label")["queue_mean_octets"]
    assert list(table.index) == ["dctcp", "halving", "wide"] and table["wide"] > table["halving"]
    swept = penstock.sweep(case, {}, schemes=[halving, wide, "dctcp"], seeds=2, out=tmp_path / "swept")
    assert swept.failed == []
    last = swept.to_pandas().query("seed == 1").set_index("scheme")["queue_mean_octets"]
    assert last["Halving"] == table["halving"] and last["wide"] == table["wide"]


def test_a_class_that_no_other_process_could_load_is_refused(tmp_path: Path, halving: type[penstock.Scheme]) -> None:
    class Local(halving):  # type: ignore[valid-type, misc]
        """In no file's top."""

    case = scenario(duration="1 ms")
    for call in (
        lambda: penstock.sweep(case, {}, schemes=[Local], out=tmp_path / "swept"),
        lambda: penstock.compare(case, ["dctcp", Local], out=tmp_path / "compared"),
        lambda: penstock.arena(tmp_path / "arena", file="arena.toml", competitors=[Local]),
        lambda: penstock.Variant("own", Local),
    ):
        with pytest.raises(ArgumentError, match="is not at the top of a file") as refused:
            call()
        assert "write it into a file" in refused.value.hint
    assert not (tmp_path / "swept").exists() and not (tmp_path / "compared").exists()
    # In this process alone it runs.
    assert len(penstock.compare(case, ["dctcp", Local]).to_pandas()) == 2
    with pytest.raises(ArgumentError, match="is no scheme"):
        penstock.compare(case, ["dctcp", int])  # type: ignore[list-item]


def test_a_run_travels_by_the_location_of_its_class(tmp_path: Path, halving: type[penstock.Scheme]) -> None:
    case = scenario(duration="1 ms")
    here = case.run(scheme=halving, seed=1)
    place = penstock.scheme_class.located(halving)
    run = Run(label="one", scenario=copies(case), seed=1, scheme=place)
    (tmp_path / "run.pickle").write_bytes(pickle.dumps(run))
    code = (
        "import pickle\nrun = pickle.loads(open('run.pickle', 'rb').read())\n"
        "result = run.scenario().run(scheme=run.scheme, seed=run.seed)\nprint(result.summary_json)\n"
    )
    words = [sys.executable, "-c", code]
    there = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    found, wanted = json.loads(there.stdout), json.loads(here.summary_json)
    assert {key: value for key, value in found.items() if key != "run"} == {
        key: value for key, value in wanted.items() if key != "run"
    }


def test_a_file_that_has_changed_runs_again(tmp_path: Path, halving: type[penstock.Scheme]) -> None:
    case = scenario(duration="1 ms")

    def means() -> tuple[float, float]:
        swept = penstock.sweep(case, {}, schemes=["halving.py:Halving"], out="swept", resume=True)
        compared = penstock.compare(case, ["halving.py:Halving", "none"], out="compared", resume=True)
        return swept.column("queue_mean_octets")[0], compared.to_pandas()["queue_mean_octets"][0]

    first = means()
    # An interrupted comparison has left its runs behind.
    (tmp_path / "compared").rename(tmp_path / "compared.unfinished")
    assert means() == first
    (tmp_path / "compared").rename(tmp_path / "compared.unfinished")
    (tmp_path / "halving.py").write_text(TEXT.replace("20 KB", "60 KB"))
    later = (tmp_path / "halving.py").stat().st_mtime + 5
    os.utime(tmp_path / "halving.py", (later, later))
    second = means()
    assert second[0] == second[1] > first[0] == first[1]


def test_an_arena_takes_schemes_of_files(tmp_path: Path, halving: type[penstock.Scheme]) -> None:
    library = build(EXAMPLES / "dctcp.c", tmp_path)
    found = penstock.arena("ranked", file="arena.toml", competitors=["dctcp", halving, library])
    by_name = {total.competitor.name: total for total in found.totals}
    assert set(by_name) == {"dctcp", "Halving", "libdctcp"}
    values = {standing.competitor.name: standing.values for standing in found.standings["four"]}
    assert values["dctcp"] == values["libdctcp"] != values["Halving"]
    assert found.write_report().is_file()
    page = (tmp_path / "ranked/scheme-Halving.html").read_text()
    assert "20 KB" in page, "its parameters are in the report"
    assert [total.competitor for total in penstock.Arena.open("ranked").totals] == [
        total.competitor for total in found.totals
    ]
    shown = command(tmp_path, "arena", "arena.toml", "--competitors", "all,halving.py:Halving", "--list", "--json")
    names = [one["name"] for one in json.loads(shown.stdout)["competitors"]]
    assert names[-1] == "Halving" and "dctcp" in names and len(names) > 20


def test_the_file_of_an_arena_names_schemes_of_files(tmp_path: Path, halving: type[penstock.Scheme]) -> None:
    own = '[[competitor]]\nname = "own"\nscheme = "halving.py:Halving"\nset = { schemes.halving.k = "60 KB" }\n'
    (tmp_path / "arena.toml").write_text(ARENA + own)
    found = penstock.arena("ranked", file="arena.toml", competitors=["own", "none"])
    assert {total.competitor.scheme for total in found.totals} == {"halving.py:Halving", "none"}
    (tmp_path / "arena.toml").write_text(ARENA + own.replace("halving.py", "nothing.py"))
    with pytest.raises(ArenaError, match=r"competitor\.0\.scheme: nothing\.py: no such file"):
        read("arena.toml")
    with pytest.raises(ArgumentError, match="no such file"):
        read("10g").of((), ["nothing.py:Halving"])
    # Thresholds are the same time at ten times the rate.
    (fast,) = read("100g").of((), ["halving.py:Halving"]).competitors
    assert fast.settings == {"schemes.halving.k": "200 KB"}


def test_a_class_is_tuned(tmp_path: Path, halving: type[penstock.Scheme]) -> None:
    few = ("--trials", "4", "--seeds", "1", "--verdict-seeds", "2", "--out", "tuned.toml", "--json")
    done = command(tmp_path, "tune", "four.toml", "--for", "latency", "--scheme", "halving.py:Halving", *few)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # An eighth and eight times of 20 KB, all of which simulation searches.
    bounds = found["theory"]["bounds"]["schemes.halving.k"]
    assert bounds == {"unit": "octets", "of": [2500, 160_000], "kept": [2500, 160_000]}
    assert found["trials"] == 4 and list(found["proposal"]["parameters"]) == ["schemes.halving.k"]


@pytest.mark.parametrize("name", ["dctcp.c", "dcqcn.c", "qcn.c", "aimd.c"])
def test_libraries_keep_the_contract(tmp_path: Path, name: str) -> None:
    penstock.check_scheme(build(EXAMPLES / name, tmp_path))


def test_classes_keep_the_contract(halving: type[penstock.Scheme]) -> None:
    penstock.check_scheme(f"{EXAMPLES}/dctcp.py:Dctcp")
    penstock.check_scheme(halving)


@pytest.mark.science
@pytest.mark.parametrize("example", ["dcqcn.py:Dcqcn", "qcn_802_1qau.py:Qcn"])
def test_classes_that_draw_keep_the_contract(example: str) -> None:
    penstock.check_scheme(f"{EXAMPLES}/{example}")


def test_conform_says_which_rule_is_broken(tmp_path: Path, halving: type[penstock.Scheme]) -> None:
    kept = command(tmp_path, "conform", "halving.py:Halving")
    assert (kept.returncode, kept.stdout) == (0, "halving keeps the rules of the contract\n")
    text = (EXAMPLES / "dctcp.c").read_text()
    for before, after, message in (
        (
            "own->settled += ack->acked",
            "static uint64_t calls; own->cwnd += ++calls % 7;\n    own->settled += ack->acked",
            "the same calls give the same answers",
        ),
        ("    tag->label = PENSTOCK_ECN;", "limits->rate = -5;", "rp_on_send sets the rate to -5 bit/s"),
        ("if (own->settled == 0) own->cwnd", "own->cwnd", "configured with the parameters that it has"),
    ):
        assert before in text
        build(text.replace(before, after), tmp_path, "-Wno-unused-parameter")
        broken = command(tmp_path, "conform", "./libscheme.so")
        assert broken.returncode == 1, broken.stdout
        assert broken.stderr.startswith("./libscheme.so: ") and message in broken.stderr
    changed(tmp_path, "self.sent += release.octets", "self.sent += release.octet")
    raised = command(tmp_path, "conform", "mine.py:Dctcp")
    assert raised.returncode == 1
    assert "mine.py:23: AttributeError" in raised.stderr
    for wrong in ("qcn", "./nothing.so", "mine.py:None"):
        assert command(tmp_path, "conform", wrong).returncode == 2


def test_the_schema_takes_schemes_of_files(halving: type[penstock.Scheme]) -> None:
    validator = Draft202012Validator(penstock.schema())
    own = scenario("halving.py:Halving", schemes={"halving": {"k": "30 KB"}})
    change = [{"at": "0.5 ms", "schemes": {"halving": {"k": "50 KB"}}}]
    for case in (own, scenario("halving.py:Halving", change=change)):
        assert validator.is_valid(tomllib.loads(case.to_toml()))
        assert case.resolved()
    assert not validator.is_valid(tomllib.loads(own.to_toml().replace("halving.py:Halving", "halving")))
    assert not validator.is_valid(tomllib.loads(own.to_toml().replace('"30 KB"', "1").replace("halving]", "dctcp]")))
    assert columns(own.run(seed=1), "flows")
