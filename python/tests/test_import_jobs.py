"""`penstock import` of files of jobs: the scenario that it writes runs to its end, and wrong files are refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Command

DATA = ROOT / "crates/jobs/tests/data"
RING = [DATA / f"chakra/ring_8_ranks_1MB.{rank}.et" for rank in range(8)]

GOAL = """num_ranks 2
rank 0 {
a: calc 100000
b: send 1000000b to 1 tag 7
b requires a
}
rank 1 {
a: recv 1000000b from 0 tag 7
b: calc 200000
b requires a
}
"""


@pytest.fixture
def goal(tmp_path: Path) -> Path:
    path = tmp_path / "two.goal"
    path.write_text(GOAL, encoding="utf-8")
    return path


def ended(penstock: Command, tmp_path: Path, *files: Path) -> Any:
    """Import files, run the scenario, and return its one job, which must have ended."""
    made = penstock("import", *files, "-o", "made.toml")
    assert made.returncode == 0, made.stderr
    run = penstock("run", "made.toml", "--no-figures", "--json", "--out", tmp_path / "out")
    assert run.returncode == 0, run.stderr
    (job,) = json.loads(run.stdout)["jobs"]
    assert job["job_time_s"] is not None
    assert job["iterations_ended"] == job["iterations"] == 1
    return job


def refused(penstock: Command, tmp_path: Path, *files: Path) -> str:
    """Return the message by which an import is refused; nothing may be written."""
    made = penstock("import", *files, "-o", "made.toml")
    assert made.returncode == 2, made.stderr
    assert not (tmp_path / "made.toml").exists()
    return made.stderr


def test_goal_runs_to_its_end(penstock: Command, goal: Path, tmp_path: Path) -> None:
    job = ended(penstock, tmp_path, goal)
    assert job["ranks"] == 2
    # 100 us and 200 us of computation, and 1 MB at 100 Gb/s between them, with headers and two delays of 1 us.
    assert 382e-6 < job["job_time_s"] < 390e-6


def test_chakra_runs_to_its_end(penstock: Command, tmp_path: Path) -> None:
    job = ended(penstock, tmp_path, *RING)
    assert job["ranks"] == 8


def test_simai_runs_to_its_end(penstock: Command, tmp_path: Path) -> None:
    job = ended(penstock, tmp_path, DATA / "simai/microAllReduce.txt")
    assert job["ranks"] == 8


def test_a_receive_without_a_send_is_refused(penstock: Command, goal: Path, tmp_path: Path) -> None:
    goal.write_text(GOAL.replace("recv 1000000b from 0 tag 7", "recv 1000000b from 0 tag 8"), encoding="utf-8")
    message = refused(penstock, tmp_path, goal)
    assert 'two.goal: node 1 "b" of rank 0 (send of 1000000 octets to rank 1, tag 7) has no receive' in message
    assert "--complete" in message


def test_a_circle_is_refused(penstock: Command, goal: Path, tmp_path: Path) -> None:
    goal.write_text(GOAL.replace("b requires a", "b requires a\na requires b", 1), encoding="utf-8")
    message = refused(penstock, tmp_path, goal)
    assert (
        'two.goal: the graph cannot end: node 0 "a" of rank 0 (computation on unit 0) waits for node 1 "b"' in message
    )


def test_goal_that_is_cut_off_is_refused_with_its_line(penstock: Command, goal: Path, tmp_path: Path) -> None:
    goal.write_text(GOAL[: GOAL.index("1000000b from")], encoding="utf-8")
    assert "two.goal:8" in refused(penstock, tmp_path, goal)


def test_chakra_that_is_cut_off_is_refused_with_its_octet(penstock: Command, tmp_path: Path) -> None:
    files = []
    for path in RING:
        files.append(tmp_path / path.name)
        files[-1].write_bytes(path.read_bytes()[: -5 if path is RING[3] else None])
    assert f"{RING[3].name}: octet 2801: " in refused(penstock, tmp_path, *files)


def test_a_rank_without_file_is_refused(penstock: Command, tmp_path: Path) -> None:
    message = refused(penstock, tmp_path, *RING[:7])
    assert f"{RING[0].name}: octet 121: " in message
    assert "comm_src is 7, and the ranks are 0 to 6; give all files" in message


def test_a_gap_in_the_ranks_is_refused(penstock: Command, tmp_path: Path) -> None:
    message = refused(penstock, tmp_path, *RING[:3], *RING[4:])
    assert f"{RING[4].name}: there is no file of rank 3" in message


def test_simai_that_is_cut_off_is_refused(penstock: Command, tmp_path: Path) -> None:
    cut = tmp_path / "micro.txt"
    text = (DATA / "simai/microAllReduce.txt").read_text(encoding="utf-8")
    cut.write_text(text[: len(text) - 8], encoding="utf-8")
    assert "micro.txt:4: the file ends where" in refused(penstock, tmp_path, cut)


def test_a_job_is_not_exported_as_flows_without_waits(penstock: Command, goal: Path, tmp_path: Path) -> None:
    assert penstock("import", goal, "-o", "made.toml").returncode == 0
    exported = penstock("export", "made.toml", tmp_path / "out", "--to", "hpcc")
    assert exported.returncode == 2
    assert "job.0: its messages wait for one another" in exported.stderr
