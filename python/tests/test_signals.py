"""Signals: how commands end by them, and their remains; the long trial is `tools/signal_trial.py`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import signal_trial
from conftest import SMALL

from penstock import Result, Scenario, _core, interrupts
from penstock.theory.axes import read
from penstock.theory.maps import compute_map, simulate
from penstock.theory.overlay import overlay


@pytest.mark.parametrize(
    ("command", "kind", "after_s", "second_s"),
    [
        ("run-long", "int", 1.2, 0.0),
        ("run-long", "int-twice", 1.2, 0.05),
        ("compare-long", "int-twice", 1.2, 0.1),
        ("run-long", "term", 2.5, 0.0),
        ("compare-long", "term", 1.2, 0.0),
        ("reproduce", "term", 0.9, 0.0),
        ("reproduce-search", "kill", 1.5, 0.0),
        ("reproduce-search", "int", 1.5, 0.0),
        ("overlay", "int", 1.5, 0.0),
        # The next command searches to its end, for a quarter of a minute.
        pytest.param("tune", "kill", 1.5, 0.0, marks=pytest.mark.science),
        ("figures", "int", 0.3, 0.0),
    ],
)
def test_a_signal_ends_a_command_and_leaves_nothing_half_done(
    command: str, kind: str, after_s: float, second_s: float
) -> None:
    counts, bad = signal_trial.try_all([signal_trial.Trial(command, kind, after_s, second_s)])
    assert not bad
    assert "hangs" not in "".join(counts)


def test_the_trial_sees_what_is_half_written(tmp_path: Path) -> None:
    results = tmp_path / "results"
    (results / "half-qcn-seed1").mkdir(parents=True)
    (results / "empty.toml").touch()
    (results / "figure.png").write_bytes(b"\x89PNG")
    (results / ".out.partial-here-1-0").mkdir()
    found = signal_trial.untidy(tmp_path, killed=True)
    assert len(found) == 3, found
    assert len(signal_trial.untidy(tmp_path, killed=False)) == 4


def test_signals_are_taken_over_before_anything_is_loaded() -> None:
    words = "import sys; before = set(sys.modules); import penstock.__main__; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {name for name in loaded if "penstock" in name} == {
        "penstock",
        "penstock.__main__",
        "penstock.interrupts",
        "penstock.lazy_names",
    }
    assert len(loaded) < 8, loaded


@pytest.mark.parametrize("stop", ["", "lambda: None"])
@pytest.mark.parametrize(("number", "status", "rest"), [("SIGTERM", 143, ""), ("SIGINT", 0, "kept True\n")])
def test_results_are_kept_from_an_interrupt_and_not_from_a_termination(
    stop: str, number: str, status: int, rest: str
) -> None:
    words = f"""
import os, signal
from penstock import interrupts
interrupts.install()
with interrupts.on_interrupt({stop}) as kept:
    try:
        os.kill(os.getpid(), signal.{number})
    except KeyboardInterrupt:
        pass
print("kept", kept.asked)
"""
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (status, rest), done.stderr


def test_a_signal_may_come_while_threads_are_loaded() -> None:
    words = """
import os, signal, sys, types
from penstock import interrupts
sys.modules["threading"] = types.ModuleType("threading")
interrupts.install()
os.kill(os.getpid(), signal.SIGTERM)
"""
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (143, "error: terminated\n")


def test_signals_that_are_ignored_stay_ignored() -> None:
    words = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); from penstock import interrupts;"
        "interrupts.install(); print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN,"
        "signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_a_run_that_was_ended_early_is_compared_with_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = Scenario.from_toml(SMALL, name="small")

    def interrupted(self: Scenario, **_: object) -> Result:
        def stop(*_: float) -> None:
            raise KeyboardInterrupt

        # A run of milliseconds ends before the question.
        long = Scenario.from_toml(self.to_toml()).set("duration", "1000 s").set("record.interval", "100 ms")
        return Result(long._core.run(progress=stop))

    drawn = compute_map(scenario, read("flows=2..3:2", "qcn"), read("delay=10us..20us:2", "qcn"), "margin")
    monkeypatch.setattr(Scenario, "run", interrupted)
    assert Scenario.from_toml(SMALL).run().interrupted
    with pytest.raises(KeyboardInterrupt):
        overlay(scenario)
    with pytest.raises(KeyboardInterrupt):
        simulate(scenario, drawn, 1)


def test_hidden_names_are_those_of_the_engine(tmp_path: Path) -> None:
    folder = _core.Folder.create(tmp_path / "out", False)
    assert folder.partial.name.startswith(interrupts.prefix("out", os.getpid()))
    folder.discard()
