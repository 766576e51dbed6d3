"""The table and the figure of jobs: what ranks do over time, jobs that do not end, many ranks, wrong requests."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command

from penstock import PenstockError, Result, Scenario
from penstock.figures import has_jobs, has_paths, job_links, jobs, slowest_path
from penstock.figures.job_links import busy, tier
from penstock.figures.job_paths import causes
from penstock.figures.jobs import picture
from penstock.reports import job_paths, run_tables

STAR: Any = {"star": {"hosts": 8, "link_rate": "100 Gbps", "link_delay": "1 us", "buffer": "1 MB"}}
COMPUTE_S = 100e-6
STEP_S = 1e6 * 80e-12 + 0.12e-6 + 2e-6
"""A message of 1 MB at 100 Gb/s: its octets, a frame of 1500 over the second link, and 1 us on each of them."""


def ring(duration: str = "1 s", **keys: Any) -> Scenario:
    table: Any = {"kind": "all-reduce", "size": "8 MB", "iterations": 2, "compute": "100 us", **keys}
    return Scenario(
        question="How long does it take?",
        duration=duration,
        until="all-flows-complete",
        scheme="none",
        topology=STAR,
        collective=[table],
        record={"interval": "1 ms"},
    )


@pytest.fixture(scope="module")
def result() -> Result:
    return ring().run()


def test_the_picture_has_what_each_rank_does() -> None:
    # A rank computes for 4 s, sends from 3 s to 6 s; another waits, and receives from 5 s to the end.
    spans: dict[str, Any] = {
        "rank": np.array([0, 0, 1, 1], dtype=np.uint64),
        "work": np.array(["compute", "send", "receive", "iteration"], dtype=object),
        "begin_s": np.array([0.0, 3.0, 5.0, 0.0]),
        "end_s": np.array([4.0, 6.0, 8.0, 8.0]),
    }
    assert picture(2, spans, 8.0, columns=8).tolist() == [[1, 1, 1, 3, 2, 2, 0, 0], [0, 0, 0, 0, 0, 2, 2, 2]]


def test_a_ring_of_a_run_is_drawn_in_turn(result: Result) -> None:
    names = ("rank", "work", "begin_s", "end_s")
    drawn = picture(8, {name: result.column("jobs", name) for name in names}, result.end_s)
    # Two iterations, each of them a computation and 14 steps.
    computed = COMPUTE_S / (COMPUTE_S + 14 * STEP_S)
    assert (drawn == 1).mean() == pytest.approx(computed, abs=0.002)
    assert (drawn == 2).mean() == pytest.approx(1 - computed, abs=0.002)


def test_the_table_has_times_and_bandwidths(result: Result) -> None:
    (row,) = run_tables.jobs(result.summary["jobs"]).rows
    # 2 (n - 1) / n = 1.75, of 64 Mbit in 14 steps of 82.12 us.
    assert row[:7] == ("job0", "all-reduce", "ring", "8", "2", "2.50 ms", "1.25 ms")
    assert row[7:] == ("1.15 ms", "55.7 Gb/s", "97.4 Gb/s", "97.4 %", "1.15 ms", "0 s")


def test_the_slowest_path_of_an_idle_ring_is_computation_and_octets(result: Result) -> None:
    (job,) = result.summary["jobs"]
    parts = job_paths.of_job(job)
    assert sum(parts.values()) == pytest.approx(job["job_time_s"], rel=1e-9)
    assert parts["computing"] == pytest.approx(2 * COMPUTE_S, rel=1e-9)
    assert parts["ideal"] == pytest.approx(28 * STEP_S, rel=1e-9)
    # Two computations and 28 messages, one after the other.
    begin_s, end_s = (result.column("paths", key) for key in ("begin_s", "end_s"))
    assert len(begin_s) == 30
    assert begin_s[0] == 0
    assert end_s[:-1] == pytest.approx(begin_s[1:], abs=1e-15)
    assert job_paths.sentence(job) == (
        "slowest path of job0, 2.50 ms: 92.0 % sending as on an idle network, 8.0 % computing"
    )
    assert set(causes({name: result.column("paths", name) for name in result.paths.column_names})) == {
        "computing",
        "ideal",
    }


def two_into_one(**keys: Any) -> Result:
    """Return a run in which two hosts send 1.5 MB each to hosts at another switch, over one link of their rate."""
    graph = "num_ranks 4\n"
    graph += "".join(f"rank {rank} {{\nsend 1500000b to {rank + 2} tag 1\n}}\n" for rank in (0, 1))
    graph += "".join(f"rank {rank} {{\nrecv 1500000b from {rank - 2} tag 1\n}}\n" for rank in (2, 3))
    dumbbell: Any = {
        "sources": 2,
        "receivers": 2,
        "link_rate": "10 Gbps",
        "bottleneck_rate": "10 Gbps",
        "buffer": "10 MB",
    }
    dumbbell |= {"link_delay": "1 us", "bottleneck_delay": "1 us"}
    whole: Any = {"question": "Where?", "duration": "1 s", "until": "all-flows-complete", "scheme": "none", **keys}
    return Scenario(**whole, topology={"dumbbell": dumbbell}, job=[{"graph": graph}]).run()


def test_a_queue_is_the_cause_of_a_message_that_shares_a_link() -> None:
    result = two_into_one()
    (job,) = result.summary["jobs"]
    # 1000 frames of 1.2 us, and 1000 of the other message before the last; two more links, and 3 us there and back.
    assert job["job_time_s"] == pytest.approx(2000 * 1.2e-6 + 2 * 1.2e-6 + 6e-6, rel=1e-6)
    parts = job_paths.of_job(job)
    assert parts["ideal"] == pytest.approx(1000 * 1.2e-6 + 2 * 1.2e-6 + 3e-6, rel=1e-6)
    assert parts["queue"] == pytest.approx(1000 * 1.2e-6, rel=1e-6)
    assert job["path_port"] == "sw0->sw1"
    assert job["path_port_s"] == pytest.approx(1000 * 1.2e-6, rel=0.01)
    assert "% in queues (99.8 % of the waits at sw0->sw1)" in job_paths.sentence(job)


def test_a_pause_of_the_host_is_the_cause_where_flow_control_stops_it() -> None:
    pfc: Any = {"buffer": "100 KB", "xoff": "30 KB", "xon": "20 KB"}
    parts = job_paths.of_job(two_into_one(pfc=pfc).summary["jobs"][0])
    assert parts["pause"] > 0.9 * 1000 * 1.2e-6 - 60e3 * 0.8e-9
    assert parts["pause"] + parts["queue"] == pytest.approx(1000 * 1.2e-6, rel=0.05)


def test_links_of_a_job_are_busy_in_turn() -> None:
    spans: dict[str, Any] = {
        "job": np.array(["a", "a", "b"], dtype=object),
        "port": np.array(["h0->sw0", "h1->sw0", "h1->sw0"], dtype=object),
        "begin_s": np.array([0.0, 4.0, 6.0]),
        "end_s": np.array([4.0, 7.0, 8.0]),
    }
    used = busy(["h0->sw0", "h1->sw0"], ["a", "b"], spans, 8.0, columns=8)
    assert used.tolist() == [[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, -1, 2]]
    assert tier("leaf10->spine3") == "leaf->spine"


def test_the_links_of_a_ring_are_busy_but_for_its_computations(result: Result) -> None:
    (axes,) = job_links(result).axes
    assert axes.get_yticklabels()[0].get_text() == "h0->sw0"
    begin_s, end_s = (result.column("links", key) for key in ("begin_s", "end_s"))
    # 16 links, each busy in two iterations.
    assert len(begin_s) == 16 * 2
    assert (end_s - begin_s).sum() == pytest.approx(16 * 28 * STEP_S, rel=1e-9)


def test_the_slowest_path_is_drawn(result: Result) -> None:
    assert has_paths(result)
    (axes,) = slowest_path(result).axes
    (lines,) = axes.collections
    assert len(lines.get_paths()) == 30


def test_a_job_that_does_not_end_says_so() -> None:
    cut = ring(duration="1300 us").run()
    (row,) = run_tables.jobs(cut.summary["jobs"]).rows
    assert row[4:6] == ("1 of 2", "not ended")
    assert "not ended (1 of 2 iterations)" in jobs(cut).axes[0].get_title(loc="left")
    assert not has_paths(cut)
    assert not cut.paths.num_rows
    with pytest.raises(PenstockError, match="no slowest path"):
        slowest_path(cut)


def test_a_graph_has_no_bandwidth() -> None:
    graph = "num_ranks 2\nrank 0 {\ncalc 1000\n}\nrank 1 {\ncalc 3000\n}\n"
    keys: Any = {"question": "How long?", "duration": "1 ms", "scheme": "none", "topology": STAR}
    other = Scenario(**keys, job=[{"graph": graph}], until="all-flows-complete").run()
    table = run_tables.jobs(other.summary["jobs"])
    assert table.head[-3:] == ("iteration", "exposed", "straggling")
    assert table.rows == [("graph0", "graph", None, "2", "1", "3 us", "3 us", "0 s", "2 us")]


def test_a_run_without_jobs_has_no_such_figure() -> None:
    flow: Any = {"from": "h0", "to": "h1"}
    other = Scenario(question="How much?", duration="1 ms", scheme="none", topology=STAR, flow=[flow]).run()
    assert not has_jobs(other)
    assert not run_tables.jobs([]).rows
    with pytest.raises(PenstockError, match=r"no \[\[collective\]\]"):
        other.plot(show="jobs")


def test_many_ranks_share_the_rows_of_the_picture() -> None:
    keys: Any = {"ranks_per_host": 128, "local_rate": "3600 Gbps", "inside": "direct", "iterations": 1, "size": "1 MB"}
    (panel,) = jobs(ring(**keys).run()).axes
    (image,) = panel.images
    rows = image.get_array()
    assert rows is not None
    assert rows.shape == (512, 1600, 3)
    assert panel.get_ylim() == (1023.5, -0.5)


def test_the_command_draws_and_prints_jobs(penstock: Command, tmp_path: Path) -> None:
    file = tmp_path / "ring.toml"
    file.write_text(ring().to_toml(), encoding="utf-8")
    out = tmp_path / "out"
    shown = penstock("run", file, "--out", out, "--report", "report.html")
    assert "97.4 Gb/s" in shown.stdout
    page = (tmp_path / "report.html").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
    assert "job0 took 2.50 ms at a bus bandwidth of 97.4 Gb/s" in page
    assert "Jobs</h2>" in page
    assert (out / "jobs.png").is_file()
    assert (out / "jobs.svg").is_file()
    penstock("plot", str(out), "--show", "jobs", "--width", "3.5", "--out", str(tmp_path / "jobs.pdf"))
    assert (tmp_path / "jobs.pdf").is_file()
