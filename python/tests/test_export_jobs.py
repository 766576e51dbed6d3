"""`penstock export` of jobs as GOAL and Chakra: what is written is read again as the same job."""

import json
from pathlib import Path

import pytest
from conftest import ROOT, Command

from penstock import Scenario, _core
from penstock.exchange import export_job
from penstock.exchange.jobs import ranks_beside, read_job

DATA = ROOT / "crates/jobs/tests/data"
CHAKRA = DATA / "chakra"

SAMPLES = {
    "messages": [DATA / "goal/messages.goal"],
    "ring": [CHAKRA / f"ring_8_ranks_1MB.{rank}.et" for rank in range(8)],
    "all-reduce": [CHAKRA / f"all_reduce_4_ranks_1MB.{rank}.et" for rank in range(4)],
    "pytorch": [CHAKRA / "small_chakra.0.json"],
    "simai": [DATA / "simai/microAllReduce.txt"],
}

TWO = """
question = "How long?"
duration = "1 s"
until = "all-flows-complete"
scheme = "none"
topology.star = { hosts = 8, link_rate = "100 Gbps", link_delay = "1 us", buffer = "256 MB" }

[[collective]]
name = "data"
kind = "all-reduce"
size = "1 MiB"
group = 4
stride = 2
iterations = 2

[[collective]]
name = "experts"
kind = "all-to-all"
size = "80 KB"
compute = "1500 ns"
"""


def written(source: list[Path], name: str, folder: Path, *, messages: bool = False) -> list[Path]:
    """Write a job into a folder and return its files."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for file, octets in export_job(source, name, messages=messages).files.items():
        paths.append(folder / file)
        paths[-1].write_bytes(octets)
    return paths


@pytest.mark.parametrize("sample", [name for name in SAMPLES if name != "messages"])
def test_each_sample_is_the_same_job_by_every_format(sample: str, tmp_path: Path) -> None:
    # The text of GOAL has all of a graph, its collectives as messages.
    expected = export_job(SAMPLES[sample], "x.goal").files["x.goal"]
    for ending in ("et", "json"):
        files = written(SAMPLES[sample], f"x.{ending}", tmp_path / ending)
        assert export_job(files, "x.goal").files["x.goal"] == expected
        assert export_job(files, f"x.{ending}").files == {path.name: path.read_bytes() for path in files}
    goal = written(SAMPLES[sample], "x.goal", tmp_path)
    again = written(goal, "y.goal", tmp_path)
    assert again[0].read_bytes() == expected


def test_goal_with_starts_is_the_same_by_goal_and_refused_by_chakra(tmp_path: Path) -> None:
    (path,) = written(SAMPLES["messages"], "x.goal", tmp_path)
    assert export_job([path], "x.goal").files["x.goal"] == path.read_bytes()
    with pytest.raises(ValueError, match=r'node 2 \("c" of rank 0\): a trace has no dependency on a start'):
        export_job([path], "x.et")


def test_messages_of_chakra_are_those_of_goal(tmp_path: Path) -> None:
    files = written(SAMPLES["all-reduce"], "x.json", tmp_path, messages=True)
    nodes = json.loads(files[0].read_text(encoding="utf-8"))["workload_graph"]
    sent = [node["comm_size"] for node in nodes if node["NodeType"] == 5]
    # A ring of 4 sends 2 (n - 1) parts of 1 MiB / 4; a negative control: the collective itself is one node of type 7.
    assert sent == [2**18] * 6
    assert {node["NodeType"] for node in nodes} == {1, 5, 6}
    whole = written(SAMPLES["all-reduce"], "y.json", tmp_path)
    (node,) = json.loads(whole[0].read_text(encoding="utf-8"))["workload_graph"]
    assert (node["NodeType"], node["comm_type"], node["comm_size"]) == (7, 0, 2**20)


def test_groups_are_written_beside_the_traces_and_read_again(tmp_path: Path) -> None:
    files = export_job(Scenario.from_toml(TWO), "two.et").files
    assert len(files) == 17
    assert json.loads(files["two-data.groups.json"]) == {"0": [0, 2, 4, 6], "1": [1, 3, 5, 7]}
    for name, octets in files.items():
        (tmp_path / name).write_bytes(octets)
    beside = ranks_beside(tmp_path / "two-data.3.et")
    assert [path.name for path in beside] == [f"two-data.{rank}.et" for rank in range(8)] + ["two-data.groups.json"]
    job = read_job(beside)
    # Two rings of 4: 6 sends of 256 KiB at each of 8 ranks.
    assert (job.ranks, job.text.count("send 262144b")) == (8, 48)
    one = read_job(beside[3:4])
    assert one.text == job.text
    assert one.notes[0] == "two-data.3.et stands for the files of all 8 ranks beside it"
    with pytest.raises(ValueError, match=r'two-data.0.et: octet 21: .* there is no group "0"'):
        read_job(beside[:-1])


@pytest.mark.parametrize("text", ["[1]", "{", '{"0": [-1]}', '{"0": [true]}', '{"0": 1}', "[" * 100_000])
def test_wrong_groups_are_refused_with_the_file(text: str, tmp_path: Path) -> None:
    groups = tmp_path / "x.groups.json"
    groups.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"x\.groups\.json"):
        read_job([*SAMPLES["all-reduce"], groups])


def test_groups_alone_are_no_job(tmp_path: Path) -> None:
    groups = tmp_path / "x.groups.json"
    groups.write_text('{"0": [0, 1]}', encoding="utf-8")
    for read in (lambda: read_job([groups]), lambda: export_job([groups], "x.goal"), lambda: read_job([])):
        with pytest.raises(ValueError, match="groups of a job, and no trace; give its traces too"):
            read()


def test_what_files_do_not_say_is_noted() -> None:
    tree = TWO.replace('kind = "all-reduce"', 'kind = "all-reduce"\nalgorithm = "tree"')
    notes = export_job(Scenario.from_toml(tree), "two.et").notes
    assert notes == (
        "two-data: 8 nodes have an algorithm, channels, chunks or a latency, which traces lack",
        "two-data: the files have one of its 2 iterations",
    )


def test_numbers_and_names_of_traces_in_json_are_whole(tmp_path: Path) -> None:
    goal = tmp_path / "x.goal"
    goal.write_text(
        "num_ranks 2\nrank 0 {\nsend 18446744073709551615b to 1 tag 4294967294\n}\n"
        "rank 1 {\nrecv 18446744073709551615b from -1 tag -1\n}\n",
        encoding="utf-8",
    )
    files = written([goal], "x.json", tmp_path)
    (sent,) = json.loads(files[0].read_text(encoding="utf-8"))["workload_graph"]
    (received,) = json.loads(files[1].read_text(encoding="utf-8"))["workload_graph"]
    assert (sent["comm_size"], sent["comm_tag"]) == (2**64 - 1, 2**32 - 2)
    assert (received["comm_src"], received["comm_tag"]) == (-1, -1)
    assert export_job(files, "x.goal").files == export_job([goal], "x.goal").files


def test_a_drawn_time_is_refused_with_its_node() -> None:
    drawn = TWO.replace('"1500 ns"', '{ uniform = { minimum = "1 us", maximum = "2 us" } }')
    with pytest.raises(ValueError, match=r'job experts: node 1 \("compute" of rank 0\): a trace has no drawn times'):
        export_job(Scenario.from_toml(drawn), "two.et")


def test_a_command_writes_and_import_reads(penstock: Command, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TWO.replace('compute = "1500 ns"', ""), encoding="utf-8")
    exported = penstock("export", "two.toml", "out/two.json")
    assert exported.returncode == 0, exported.stderr
    assert exported.stdout.split()[-1] == "out/two-experts.7.json"
    assert "note: two-data: the files have one of its 2 iterations" in exported.stderr
    again = penstock("export", "two.toml", "out/two.json")
    assert (again.returncode, "two-data.0.json exists" in again.stderr) == (2, True)
    assert penstock("export", "out/two-experts.0.json", "experts.goal").returncode == 0
    assert penstock("import", "experts.goal", "-o", "experts.toml").returncode == 0
    run = penstock("run", "experts.toml", "--no-figures", "--json")
    (job,) = json.loads(run.stdout)["jobs"]
    # 7 messages of 10 KB at a time: 70 KB at 100 Gb/s with headers, and two delays of 1 us there and back.
    assert 9.6e-6 < job["job_time_s"] < 11.5e-6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("two.toml", "out"), "out: no format is given"),
        (("two.toml", "out.txt"), "no format is given"),
        (("two.toml", "out", "--to", "goal"), "--to goal: unknown format"),
        (("two.toml", "out", "--to", "htsim"), "name a file of jobs"),
        (("two.toml", "out", "--to", "htsim", "--messages"), "--messages with --to htsim"),
        (("four-sources", "out.goal"), "the scenario has no job"),
        (("x.goal", "out.goal", "--seed", "2"), "a file of a job has no scenario"),
        (("x.goal", "out.et"), "x.goal:2: "),
        (("none.goal", "out.et"), "none.goal"),
    ],
)
def test_wrong_input_of_the_command(
    arguments: tuple[str, ...], message: str, penstock: Command, tmp_path: Path
) -> None:
    (tmp_path / "two.toml").write_text(TWO, encoding="utf-8")
    (tmp_path / "x.goal").write_text("num_ranks 1\nrank 0 { calk 1 }\n", encoding="utf-8")
    refused = penstock("export", *arguments)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert not (tmp_path / "out").exists()


def test_a_job_that_cannot_end_is_not_written() -> None:
    goal = b"num_ranks 2\nrank 0 {\nsend 8b to 1 tag 1\n}\nrank 1 {\n}\n"
    with pytest.raises(ValueError, match=r"x: node 0 of rank 0 .* has no receive.*; 1 sends without a receive, first"):
        _core.job_files([("x", goal)], False, True, {}, "goal", False)
    # Completed, it is.
    files, notes = _core.job_files([("x", goal)], True, True, {}, "goal", False)
    assert b"recv 8b from 0 tag 1" in files[0][1]
    assert notes == ["1 sends without a receive, first a node of rank 0 (x:3); the receives are added"]
