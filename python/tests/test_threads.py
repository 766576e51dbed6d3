"""One run on several threads: the same result, the choice and its reason, wrong numbers."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ENDLESS, Command, interrupt

from penstock import Result, Scenario, ScenarioError

LEAVES = """\
question = "Is it the same on several threads?"
duration = "200 us"
scheme = "qcn"
[topology.leaf-spine]
leaves = 4
spines = 2
hosts_per_leaf = 2
host_rate = "10 Gbps"
fabric_rate = "10 Gbps"
link_delay = "1 us"
buffer = "150 KB"
[[flow]]
from = "h0..h5"
to = "h7"
[record]
signals = true
"""


def numbers(text: str) -> Any:
    """Return a summary without the cost of its run."""
    summary = json.loads(text)
    del summary["run"]
    return summary


def test_threads_change_nothing() -> None:
    """Records and summary are those of one thread; the result says how many threads it had, and why."""
    scenario = Scenario.from_toml(LEAVES, name="leaves")
    one, two = scenario.run(), scenario.run(threads=2)
    assert numbers(one.summary_json) == numbers(two.summary_json)
    for table in ("queues", "rates", "signals"):
        assert one.to_polars(table).equals(two.to_polars(table)), table
    assert one.threads == (1, "")
    assert two.threads is not None and two.threads[0] == 2 and "events a thread" in two.threads[1]


def test_a_run_that_cannot_be_cut_says_why() -> None:
    """A run that needs the whole network has one thread."""
    scenario = Scenario.from_toml(LEAVES, name="leaves")
    scenario.set("network.feedback", '{ ideal = "2 us" }')
    assert scenario.run(threads=4).threads == (1, "ideal feedback, which crosses no line")
    few = Scenario.from_toml(LEAVES, name="leaves").run(threads="auto").threads
    assert few is not None and few[0] == 1 and few[1]


@pytest.mark.parametrize("wrong", [0, -1, 1025, "many", 1.5, "2"])
def test_numbers_that_no_run_has(wrong: Any) -> None:
    """They are refused by name, with a remedy."""
    with pytest.raises(ScenarioError, match="neither a number of threads from 1 to 1024 nor auto"):
        Scenario.from_toml(LEAVES, name="leaves").run(threads=wrong)


def test_the_command_says_what_it_chose(penstock: Command, tmp_path: Path) -> None:
    """On standard error, with the reason; a wrong number ends with status 2 and writes nothing."""
    (tmp_path / "leaves.toml").write_text(LEAVES)
    done = penstock("run", "leaves.toml", "--threads", "2", "--no-figures", "--json", cwd=tmp_path)
    assert done.returncode == 0 and "2 threads: some" in done.stderr
    quiet = penstock("run", "leaves.toml", "--threads", "2", "--no-figures", "--quiet", "--force", cwd=tmp_path)
    assert (quiet.returncode, quiet.stderr) == (0, "")
    wrong = penstock("run", "leaves.toml", "--threads", "0", "--out", "none", cwd=tmp_path)
    assert wrong.returncode == 2 and "--threads: 0 is neither" in wrong.stderr
    assert not (tmp_path / "none").exists()


def test_an_interrupt_ends_all_threads(tmp_path: Path) -> None:
    """Ctrl-C keeps the records up to then."""
    leaves, out = tmp_path / "leaves.toml", tmp_path / "results" / "long"
    leaves.write_text(LEAVES)
    status, _, stderr = interrupt(["run", str(leaves), "--threads", "2", *ENDLESS], out)
    assert status == 130 and "2 threads: some" in stderr and "interrupted at" in stderr
    kept = Result.open(out)
    assert kept.interrupted and kept.threads is None
