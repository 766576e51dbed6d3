"""Fixtures that several tests share: a small scenario, and the command line as a separate process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tiers
from forked_cli import Commands

from penstock import Result, Scenario
from penstock.testbed import TestbedError, linux

if TYPE_CHECKING:
    from penstock.reproduction.paper import Paper

# A job of a shell's background begins with Ctrl-C ignored, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# As in commands, and before NumPy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

NEEDED = "PENSTOCK_NEEDS_NAMESPACES"
"""The environment variable that makes a failure of each test that would be skipped, since no namespaces can be made."""

ROOT = Path(__file__).resolve().parents[2]
"""The repository: its scenarios are below."""

SMALL = """\
question = "Do two senders share one port?"
duration = "20 ms"
scheme = "qcn"

[schemes.qcn]
q_eq = "33 KB"

[topology.star]
hosts = 3
link_rate = "1 Gbps"
link_delay = "1 us"
buffer = "60 KB"

[[flow]]
from = "h0..h1"
to = "h2"
"""
"""Two greedy senders to one port: 2 Gb/s meet 1 Gb/s, so that frames queue, signals flow and, at first, frames drop."""

QUICK = """\
question = "Is the tuner quick where the scenario is small?"
duration = "120 ms"
warmup = "40 ms"
scheme = "qcn"

[schemes.qcn]
profile = "ieee-2010"

[topology.dumbbell]
sources = 10
receivers = 1
link_rate = "1 Gbps"
bottleneck_rate = "1 Gbps"
link_delay = "400 us"
buffer = "150 KB"

[[flow]]
from = "h0..h9"
to = "h10"

[record]
queues = ["sw0->sw1"]
"""
"""The scenario with long delay at a tenth of its rate, with ten sources: as hard to tune, and over in a blink."""

ENDLESS = ["--set", "duration=100000 s", "--set", "record.interval=100 ms"]
"""Options that make the small scenario run for hours."""

Command = Callable[..., subprocess.CompletedProcess[str]]


@cache
def paper(name: str) -> "Paper":
    """Return a paper of the repository, which takes a second to read; nothing changes it."""
    from penstock.reproduction.paper import load

    return load(ROOT / "papers" / name)


def quick(scheme: str = "qcn", **settings: Any) -> Scenario:
    """Return a very short scenario, with a scheme and its settings."""
    scenario = Scenario.from_toml(QUICK.replace('profile = "ieee-2010"', ""), name="quick").set("scheme", scheme)
    for key, value in settings.items():
        scenario.set(f"schemes.{scheme}.{key}", value)
    return scenario


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a file with the small scenario."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def _processor_s(process: int) -> float:
    """Return the processor's time that a process has taken, s; without /proc the time that a clock has."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except FileNotFoundError:
        return time.monotonic()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def interrupt(
    arguments: list[str],
    out: Path,
    by: signal.Signals = signal.SIGINT,
    *,
    hidden: bool = True,
    until: Callable[[], bool] | None = None,
) -> tuple[int, str, str]:
    """Start the command line, end it when it is at work on ``out`` (by Ctrl-C), and return its status and its output.

    ``hidden`` says that ``out`` has its name only when it is whole. It is at work when ``until`` holds; without that,
    when it has worked for half a second since its unfinished folder is there, beside the final name.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock", *arguments, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 60

        def wait(for_: Callable[[], bool]) -> None:
            while not for_() and time.monotonic() < deadline:
                time.sleep(0.05)

        wait(lambda: any(out.parent.glob("*")))
        begun = _processor_s(process.pid)
        wait(until or (lambda: _processor_s(process.pid) > begun + 0.5))
        assert out.exists() != hidden
        process.send_signal(by)
        stdout, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, stdout, stderr


@pytest.fixture(scope="session")
def result() -> Result:
    """Return the small scenario's result, in memory."""
    return Scenario.from_toml(SMALL, name="small").run(seed=1)


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    """Return the server that forks a process for each command."""
    server = Commands()
    yield server
    server.close()


@pytest.fixture
def penstock(commands: Commands, tmp_path: Path) -> Command:
    """Return a function that runs the command line in an empty folder."""

    def command(*arguments: str | Path, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        return commands.run([str(argument) for argument in arguments], cwd, timeout_s=300)

    return command


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Keep the tests of a file, which share fixtures, in one process; give each its tier."""
    for item in items:
        item.add_marker(pytest.mark.xdist_group(item.path.stem))
        if "namespaces" in getattr(item, "fixturenames", ()):
            item.add_marker("namespaces")
        if not any(item.get_closest_marker(tier) for tier in tiers.TIERS):
            item.add_marker(tiers.tier_of(item))
    yield
    if config.getoption("loadgroup", default=False) and any("@" not in item.nodeid for item in items):
        raise pytest.UsageError("pytest-xdist groups no tests with this pytest: make .venv/.dev installs one that fits")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave modules without unit tests unread where unit tests alone are asked for: to load all takes long."""
    asked = config.getoption("markexpr") == "unit" and collection_path.suffix == ".py"
    return True if asked and collection_path.stem not in tiers.UNIT else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the slowest tests beside the budgets of their tiers."""
    tiers.report(terminalreporter)


@pytest.fixture(autouse=True)
def _tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no unit test run the engine or start a process."""
    if request.node.get_closest_marker("unit"):
        monkeypatch.setattr(Scenario, "run", tiers.refused("runs the engine"))
        monkeypatch.setattr(subprocess, "Popen", tiers.refused("starts a process"))


@pytest.fixture
def namespaces() -> None:
    """Skip where no testbed can be made, and say why; fail where one is needed."""
    try:
        linux.check(["iperf3", "ping"])
    except TestbedError as fault:
        if os.environ.get(NEEDED):
            pytest.fail(f"{NEEDED} is set, but {fault}")
        pytest.skip(str(fault))
