"""The table and the figure of jobs: what ranks do over time, jobs that do not end, many ranks, wrong requests."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Command

from penstock import PenstockError, Result, Scenario
from penstock.figures import has_jobs, jobs
from penstock.figures.jobs import picture
from penstock.reports import run_tables

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


def test_a_job_that_does_not_end_says_so() -> None:
    cut = ring(duration="1300 us").run()
    (row,) = run_tables.jobs(cut.summary["jobs"]).rows
    assert row[4:6] == ("1 of 2", "not ended")
    assert "not ended (1 of 2 iterations)" in jobs(cut).axes[0].get_title(loc="left")


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
