"""`penstock import` of files of jobs: the scenario that it writes runs to its end, and wrong files are refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Command

from penstock.exchange import import_files

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


ALONE = "num_ranks 2\nrank 0 {\ncalc 1000\n}\nrank 1 {\nrecv 10b from 0 tag 1\nrecv 10b from 0 tag 1\n}\n"


def test_what_is_lost_is_counted_and_completed_only_if_asked(penstock: Command, tmp_path: Path) -> None:
    path = tmp_path / "alone.goal"
    path.write_text(ALONE, encoding="utf-8")
    message = refused(penstock, tmp_path, path)
    assert "alone.goal: node 1 of rank 1 (receive of 10 octets from rank 0, tag 1) has no send" in message
    assert "2 receives without a send, first a node of rank 1 (" in message
    assert "alone.goal:6); 1 pairs of one unit or stream without an order" in message
    made = penstock("import", path, "-o", "made.toml", "--complete")
    assert made.returncode == 0
    # Each kind of loss once, with what is done about it.
    assert made.stderr.count("2 receives without a send") == 1
    assert "; the sends are added" in made.stderr
    assert made.stderr.count("; they have the order of the file") == 1
    run = penstock("run", "made.toml", "--no-figures", "--json", "--out", tmp_path / "out")
    (job,) = json.loads(run.stdout)["jobs"]
    # Two frames of 72 octets with headers, one after the other, over two links of 1 us at 100 Gb/s.
    assert 2.01e-6 < job["job_time_s"] < 4.1e-6


def test_an_order_that_nothing_holds_is_noted_and_held_if_asked(penstock: Command, tmp_path: Path) -> None:
    path = tmp_path / "loose.goal"
    path.write_text(
        "num_ranks 1\nrank 0 {\nsend 8b to 0 tag 1\nrecv 8b from 0 tag 1\na: calc 3000\nb: calc 2000\n}\n",
        encoding="utf-8",
    )
    times = []
    for flags in ([], ["--complete"]):
        made = penstock("import", path, "-o", "made.toml", "--force", *flags)
        assert made.returncode == 0, made.stderr
        assert ("; they have the order of the file" in made.stderr) == bool(flags)
        assert made.stderr.count("pairs of one unit or stream without an order, first ") == 1
        run = penstock("run", "made.toml", "--no-figures", "--json", "--out", tmp_path / "out", "--force")
        times.append(json.loads(run.stdout)["jobs"][0]["job_time_s"])
    # Both computations are on one cpu, and a message inside of a host takes no time here: 5 us.
    assert times == [pytest.approx(5e-6), pytest.approx(5e-6)]


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        (
            (
                "a: send 1b to 1 tag 1\nb: recv 1b from 1 tag 2\na requires b",
                "a: send 1b to 0 tag 2\nb: recv 1b from 0 tag 1\na requires b",
            ),
            'waits for node 3 "b" of rank 1',
        ),
        (("send 1b to 2 tag 1", ""), "x.goal:3: there is no rank 2; the 2 ranks are numbered from 0"),
        (("send 1b to -1 tag 1", ""), "x.goal:3: a rank is due here"),
        (("send 18446744073709551616b to 1 tag 1", ""), "write 18446744073709551615 at most"),
        (("a requires b\na: calc 1\nb: calc 1", ""), 'x.goal:3: no operation of rank 0 above has the label "a"'),
        (("a: calc 1\na: calc 1", ""), 'x.goal:4: the label "a" appears twice in rank 0'),
        (("send 1b to 1 tag 1", "recv 2b from 0 tag 1"), "the same size at both"),
        (("send 1b to 1 tag 1", "recv 1b from 0 tag 1\nrecv 1b from 0 tag 1"), "there are 1 sends and 2 receives"),
        (("calc 1", "recv 1b from -1 tag -1"), "0 sends go to rank 1, which has 1 receives"),
    ],
)
def test_graphs_that_cannot_be_are_refused(
    ranks: tuple[str, str], message: str, penstock: Command, tmp_path: Path
) -> None:
    path = tmp_path / "x.goal"
    path.write_text(f"num_ranks 2\nrank 0 {{\n{ranks[0]}\n}}\nrank 1 {{\n{ranks[1]}\n}}\n", encoding="utf-8")
    assert message in refused(penstock, tmp_path, path)


def test_large_sizes_and_any_tag_and_two_receives_on_one_key_run(penstock: Command, tmp_path: Path) -> None:
    path = tmp_path / "x.goal"
    path.write_text(
        "num_ranks 2\nrank 0 {\na: send 3000000000b to 1 tag 7\nb: send 6000000000b to 1 tag 7\nb requires a\n"
        "send 8b to 1 tag 9\n}\nrank 1 {\na: recv 3000000000b from 0 tag 7\nb: recv 6000000000b from 0 tag 7\n"
        "b requires a\nrecv 8b from 0 tag 9\n}\n",
        encoding="utf-8",
    )
    sets = ["--set", "job.0.ranks_per_host=2", "--set", "job.0.local_rate=100 Gbps"]
    assert penstock("import", path, "-o", "made.toml", *sets).returncode == 0
    run = penstock("run", "made.toml", "--no-figures", "--json", "--out", tmp_path / "out")
    (job,) = json.loads(run.stdout)["jobs"]
    # 9 GB and 8 octets inside of a host at 100 Gb/s: no frames.
    assert job["job_time_s"] == pytest.approx(9_000_000_008 * 8 / 100e9, rel=1e-9)


def test_chakra_with_a_node_zero_and_numbers_of_64_bits(penstock: Command, tmp_path: Path) -> None:
    for rank, peer in ((0, "comm_dst"), (1, "comm_src")):
        node = {"id": 0, "type": 5 + rank, "name": "n", "comm_size": 2**32, peer: 1 - rank, "comm_tag": -rank}
        graph = {"workload_graph": [node, {"id": 1, "type": 4, "data_deps": [0], "runtime": 1, "ctrl_deps": []}]}
        (tmp_path / f"x.{rank}.json").write_text(json.dumps(graph), encoding="utf-8")
    files = [tmp_path / f"x.{rank}.json" for rank in range(2)]
    assert penstock("import", *files, "-o", "made.toml").returncode == 0
    assert "send 4294967296b to 1 tag 0" in (tmp_path / "made.toml").read_text(encoding="utf-8")
    twice = files[0].read_text(encoding="utf-8").replace('"id": 1', '"id": 0')
    files[0].write_text(twice, encoding="utf-8")
    (tmp_path / "made.toml").unlink()
    assert "another node of the file has its number" in refused(penstock, tmp_path, *files)


def test_a_rank_that_lacks_its_collective_is_named_by_its_file(penstock: Command, tmp_path: Path) -> None:
    files = [tmp_path / f"all.{rank}.et" for rank in range(4)]
    for rank, path in enumerate(files):
        octets = (DATA / f"chakra/all_reduce_4_ranks_1MB.{rank}.et").read_bytes()
        # The metadata have 8 octets.
        path.write_bytes(octets[:8] if rank == 2 else octets)
    assert "all.0.et: rank 2 has 0 collectives of group 0, rank 0 has 1" in refused(penstock, tmp_path, *files)


def test_simai_that_is_cut_off_at_any_octet_is_refused_as_text(tmp_path: Path) -> None:
    text = (DATA / "simai/microAllReduce.txt").read_bytes()
    cut = tmp_path / "micro.txt"
    for octets in range(len(text)):
        cut.write_bytes(text[:octets])
        with pytest.raises(ValueError, match=r"micro\.txt") as refusal:
            import_files([cut])
        assert ": octet " not in str(refusal.value)


def test_a_matrix_whose_last_line_has_no_end_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "x.cm"
    text = "Nodes 16\nConnections 1\n0->13 start 0 size 2000000\n"
    for end, noted in ((len(text), False), (len(text) - 3, True)):
        path.write_text(text[:end], encoding="utf-8")
        assert any("its last line has no line break" in note for note in import_files([path]).notes) == noted


def test_a_trace_of_pytorch_runs(penstock: Command, tmp_path: Path) -> None:
    made = penstock("import", DATA / "chakra/small_chakra.0.json", "-o", "made.toml")
    assert made.returncode == 0, made.stderr
    assert "1 computations have another cpu than their unit" in made.stderr
    run = penstock("run", "made.toml", "--no-figures", "--json", "--out", tmp_path / "out")
    (job,) = json.loads(run.stdout)["jobs"]
    # On the processor 318 + 28 + 85 + 79 + 153 us, one after another.
    assert job["job_time_s"] == pytest.approx(663e-6)
