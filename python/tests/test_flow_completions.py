"""Transports, loads and slowdowns as users see them: the API, the tables, the commands, the figures."""

from pathlib import Path

import numpy as np
import pytest
from conftest import Command

from penstock import PenstockError, Result, Scenario, compare
from penstock.comparison import Comparison
from penstock.theory.configuration import configuration

LOAD = """
question = "What do flows wait?"
duration = "6 ms"
warmup = "1 ms"
scheme = "qcn"
[schemes.qcn]
q_eq = "33 KB"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 2
host_rate = "10 Gbps"
fabric_rate = "10 Gbps"
link_delay = "1 us"
buffer = "150 KB"
[[load]]
name = "web"
load = 0.5
size = { exponential = { mean = "20 KB" } }
transport = "tcp"
end = "5 ms"
[record]
interval = "100 us"
"""

PLAIN = LOAD[: LOAD.index("[[load]]")] + '[[flow]]\nfrom = "h0"\nto = "h3"\n[record]\ninterval = "100 us"\n'


@pytest.fixture(scope="module")
def result() -> Result:
    return Scenario.from_toml(LOAD).run()


def test_completions_have_a_row_a_flow(result: Result) -> None:
    summary = result.summary
    sizes, slowdown = (result.column("completions", name) for name in ("size_octets", "slowdown"))
    start_s, end_s, ideal_s = (
        result.column("completions", name).astype(float) for name in ("start_s", "end_s", "ideal_s")
    )
    done = ~np.isnan(end_s)
    assert len(sizes) > 200
    assert np.allclose(slowdown.astype(float)[done], (end_s - start_s)[done] / ideal_s[done])
    # Nothing is quicker than an empty network.
    assert slowdown.astype(float)[done].min() >= 1 - 1e-9
    whole = summary["completions"][0]
    measured = done & (start_s >= summary["warmup_s"])
    assert whole["completed"] == measured.sum()
    assert whole["flows"] == (start_s >= summary["warmup_s"]).sum()
    assert whole["slowdown_mean"] == pytest.approx(slowdown.astype(float)[measured].mean())
    by_size = [line for line in summary["completions"][1:] if line["group"] is None]
    assert sum(line["flows"] for line in by_size) == whole["flows"]


def test_flows_of_a_load_are_told_together(result: Result) -> None:
    assert result.summary["flows"] == []
    assert result.summary["totals"]["frames_delivered"] > 0
    assert result.summary["totals"]["retransmissions"] == result.column("completions", "retransmissions").sum()


def test_the_same_seed_gives_the_same_flows(result: Result) -> None:
    again = Scenario.from_toml(LOAD).run()
    assert again.column("completions", "end_s").tolist() == result.column("completions", "end_s").tolist()


def test_a_run_prints_slowdowns_by_size(penstock: Command, tmp_path: Path) -> None:
    (tmp_path / "load.toml").write_text(LOAD, encoding="utf-8")
    done = penstock("run", "load.toml", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "slowdown: flow completion time over that on an empty network" in done.stdout
    assert "all, to 10 KB" in done.stdout
    assert "sent again" in done.stdout
    assert "Jain index" not in done.stdout, "there is no flow to tell one by one"
    assert (tmp_path / "out" / "slowdown.png").stat().st_size > 10_000


def test_schemes_are_compared_by_their_slowdowns(tmp_path: Path) -> None:
    compared = compare(Scenario.from_toml(LOAD), ["none", "qcn", "dctcp"], seeds=2, out=tmp_path / "out")
    for line in compared.document["schemes"]:
        assert line["slowdown_mean"]["mean"] >= 1
        assert line["slowdown_p99"]["mean"] >= line["slowdown_p50"]["mean"]
        assert line["flows_left"]["mean"] >= 0
    compared.plot(tmp_path / "slowdown.pdf", show="slowdown", width=3.3, font_size=8)
    assert (tmp_path / "slowdown.pdf").stat().st_size > 5000
    Comparison.open(tmp_path / "out").plot(tmp_path / "again.png", show="slowdown")


def test_without_finite_flows_there_is_nothing_to_draw() -> None:
    compared = compare(Scenario.from_toml(PLAIN), ["none"])
    assert compared.document["schemes"][0]["slowdown_mean"]["mean"] is None
    with pytest.raises(PenstockError, match="no slowdowns to draw"):
        compared.plot(show="slowdown")


def test_no_theory_has_flows_that_come_and_go() -> None:
    with pytest.raises(PenstockError, match="flows come and go with a"):
        configuration(Scenario.from_toml(LOAD))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("load = 0.5", "load = 1.5", "expected a number from 0.000001 to 1"),
        ('transport = "tcp"', 'transport = { tcp = { congestion = "vegas" } }', '"vegas" is not known here'),
        ('transport = "tcp"', 'transport = "tcp"\nacks = 4', "no flow has priority 4"),
        ('mean = "20 KB"', 'mean = "0 B"', '"0 B" is zero'),
    ],
)
def test_wrong_loads_are_refused_with_their_line(old: str, new: str, words: str) -> None:
    with pytest.raises(PenstockError, match=words) as refused:
        Scenario.from_toml(LOAD.replace(old, new)).describe()
    assert "load.0" in str(refused.value)
