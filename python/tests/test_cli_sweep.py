"""`penstock sweep` and `penstock query`, as processes."""

import json
import signal
from pathlib import Path

import pytest
from conftest import ENDLESS, ROOT, Command, interrupt

from penstock.sweeps.store import JOURNAL

VARY = ("--vary", "topology.star.buffer=20 KB,60 KB", "--set", "duration=2 ms")


def test_a_sweep_is_run_and_asked(penstock: Command, small: Path) -> None:
    options = (*VARY, "--schemes", "none", "--seeds", "2")
    done = penstock("sweep", small, *options)
    assert done.returncode == 0, done.stderr
    assert "small over buffer_octets: 4 runs in results/small-sweep\nof 4 runs 4 ran\n" in done.stdout
    assert "note: nothing in this scenario is drawn: the seeds give the same run" in done.stdout
    sql = "select buffer_octets, count(*) as runs from runs group by all order by all"
    asked = penstock("query", "results/small-sweep", sql)
    assert asked.stdout == "buffer_octets,runs\n20000.0,2\n60000.0,2\n"
    as_json = penstock("query", "results/small-sweep", sql, "--json")
    assert json.loads(as_json.stdout)[1] == {"buffer_octets": 60_000.0, "runs": 2}
    listed = penstock("query", "results/small-sweep")
    assert listed.stdout.startswith("runs: run, buffer_octets, scheme, seed, hash,")
    again = penstock("sweep", small, *options)
    assert again.returncode == 2
    assert "hint: go on with it with --resume" in again.stderr
    assert penstock("sweep", small, *options, "--resume", "--quiet").returncode == 0
    wrong = penstock("query", "results/small-sweep", "select nix from runs")
    assert (wrong.returncode, "nix" in wrong.stderr, "Traceback" in wrong.stderr) == (2, True, False)


def test_failed_runs_are_told_and_the_others_kept(penstock: Command, small: Path) -> None:
    done = penstock("sweep", small, *VARY, "--schemes", "none,qcn", "--json")
    assert done.returncode == 1
    assert "run 1 (topology.star.buffer = 20 KB, qcn, seed 1): schemes.qcn.q_eq: 33 KB" in done.stderr
    assert "1 of 4 runs failed" in done.stderr
    assert json.loads(done.stdout)["failed"][0]["run"] == 1


def test_the_last_lines_say_what_became_of_all_runs(penstock: Command, small: Path, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    settings = f'scenario = "{small}"\nset.duration = "2 ms"\nschemes = ["none", "qcn"]\n'
    vary = '[[vary]]\ntopology.star.buffer = ["20 KB", "60 KB"]\n'
    file.write_text(settings + vary)
    done = penstock("sweep", file)
    assert (done.returncode, "\nof 4 runs 3 ran, 1 was refused\n" in done.stdout) == (1, True), done.stdout
    # The set point is beyond the small buffer, and none has no use of the other key.
    file.write_text(f"{settings}seeds = 2\n{vary}[[vary]]\nschemes.qcn.w = [2, 4]\n")
    more = penstock("sweep", file, "--out", "results/more")
    message = "of 16 runs 8 ran, 4 were refused, 4 are the same as others"
    assert (more.returncode, message in more.stdout) == (1, True), more.stdout
    again = penstock("sweep", file, "--out", "results/more", "--resume")
    message = "of 16 runs 8 were there already, 4 were refused, 4 are the same as others"
    assert message in again.stdout


def test_wrong_input_is_told_with_a_hint(penstock: Command, small: Path, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text('scenario = "smal.toml"\n[[vary]]\n"schemes.qcn.w" = []\n')
    for arguments, message, hint in (
        ((small, "--vary", "topology.star.bufer=1 KB"), "topology.star.bufer: unknown key", "buffer"),
        ((small, "--vary", "topology.star.buffer"), "not of the form KEY=A,B,C", "for instance"),
        ((small, "--vary", "topology.star.buffer="), "has no values", "at least one"),
        ((small, "--schemes", "qnc"), "'qnc' is not a scheme", "qcn"),
        ((small, "--queue", "sw0->h9"), "no recorded queue is called sw0->h9", "sw0->h2"),
        (("nowhere.toml",), "neither a file nor a scenario", "scenarios"),
        ((file,), "sweep.toml: scenario: smal.toml: neither a file nor", "did you mean"),
        ((file, "--seeds", "2"), "takes no --vary", "into the file"),
    ):
        done = penstock("sweep", *arguments)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert message in done.stderr
        assert hint in done.stderr.split("hint:")[1]
        assert not (tmp_path / "results").exists()


def test_a_query_of_a_folder_that_is_no_sweep_is_refused(penstock: Command, small: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert penstock("run", small, "--out", "results/run", "--no-figures").returncode == 0
    refusals = [
        ("nowhere", "nowhere: there is no such folder"),
        ("empty", "empty holds no sweep: there is no sweep.json in it"),
        ("small.toml", "small.toml: is a file, not the folder of a sweep"),
        ("results/run", "results/run holds a run, not a sweep"),
    ]
    for folder, message in refusals:
        done = penstock("query", folder, "select 1")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"error: {message}\nhint: `penstock sweep` writes such a folder\n"
    assert penstock("sweep", small, *VARY, "--schemes", "none", "--quiet").returncode == 0
    assert "hint: name the folder of a sweep, such as results/small-sweep" in penstock("query", "nowhere").stderr


@pytest.mark.parametrize("command", ["sweep", "compare", "tune", "arena"])
def test_a_cluster_without_ray_is_refused(penstock: Command, small: Path, tmp_path: Path, command: str) -> None:
    # It stands in for an environment without Ray.
    (tmp_path / "ray.py").write_text('raise ModuleNotFoundError("No module named ray", name="ray")\n')
    arguments: dict[str, tuple[str | Path, ...]] = {
        "arena": (),
        "compare": (small, "--seeds", "2"),
        "sweep": (small,),
        "tune": (small, "--goal", "latency"),
    }
    out = "results/out.toml" if command == "tune" else "results/out"
    done = penstock(command, *arguments[command], "--ray", "local", "--out", out)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert (
        "error: --ray local: this needs ray, which is not installed\nhint: pip install 'penstock[ray]'" in done.stderr
    )
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("command", ["sweep", "compare", "tune", "reproduce"])
def test_every_command_of_many_runs_refuses_a_cluster_that_is_not_there(
    penstock: Command, small: Path, tmp_path: Path, command: str
) -> None:
    arguments: dict[str, tuple[str | Path, ...]] = {
        "compare": (small, "--seeds", "2"),
        "reproduce": (ROOT / "papers" / "bottleneck",),
        "sweep": (small, "--seeds", "2"),
        "tune": (small, "--goal", "latency"),
    }
    done = penstock(command, *arguments[command], "--ray", "nowhere")
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "error: --ray nowhere: not an address of a Ray cluster" in done.stderr
    assert "HOST:PORT" in done.stderr
    assert not (tmp_path / "results").exists()


def test_ctrl_c_keeps_what_is_done(penstock: Command, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "results" / "out"
    out.parent.mkdir()
    file = tmp_path / "sweep.toml"
    settings = f'scenario = "{small}"\nseeds = 2\nset."record.interval" = "100 ms"\n'
    file.write_text(settings + '[[vary]]\nduration = ["200 ms", "100000 s"]\n')
    journal = out / JOURNAL

    def two_have_ended() -> bool:
        return journal.is_file() and journal.read_bytes().count(b"\n") >= 2

    status, _, words = interrupt(["sweep", str(file)], out, hidden=False, until=two_have_ended)
    assert status == 130
    assert f"interrupted; 2 of 4 runs are in {out}" in words
    assert "--resume goes on" in words
    assert penstock("query", out, "select run from runs order by run").stdout == "run\n0\n1\n"


def test_a_termination_says_how_to_go_on(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "results" / "out"
    out.parent.mkdir()
    status, _, words = interrupt(["sweep", str(small), *ENDLESS], out, signal.SIGTERM, hidden=False)
    assert status == 143
    assert f"terminated while runs went on; the finished ones are in {out}, and --resume goes on" in words
