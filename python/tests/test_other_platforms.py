"""Other systems than Linux: some commands refuse and say so, and the rest works there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import penstock
from penstock import ArgumentError, testbed
from penstock.executors.processes import cores

SMALL = """\
question = "Does it run elsewhere?"
duration = "1 ms"
scheme = "none"
topology.star = { hosts = 2, link_rate = "1 Gbps", buffer = "60 KB" }

[[flow]]
from = "h0"
to = "h1"
"""


def test_the_testbed_is_refused_where_there_are_no_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(testbed.TestbedError, match="needs Linux"):
        _ = testbed.run


def test_without_the_system_s_word_every_core_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cores() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    assert cores() == os.cpu_count()


def test_a_store_is_refused_where_files_have_no_locks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # So it is on Windows.
    monkeypatch.setitem(sys.modules, "fcntl", None)
    scenario = penstock.Scenario.from_toml(SMALL)
    with pytest.raises(ArgumentError, match="need Linux or macOS"):
        penstock.sweep(scenario, {"topology.star.buffer": ["60 KB", "90 KB"]}, out=tmp_path / "store")
    assert not list(tmp_path.glob("store/*"))


def test_signals_that_a_system_lacks_are_not_asked_for() -> None:
    lacking = "import _signal; del _signal.SIGHUP; from penstock import interrupts; interrupts.install()"
    subprocess.run([sys.executable, "-c", lacking], check=True)
