"""Requests for work and memory without end: refused, raised, estimated, interrupted."""

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import penstock
from penstock import _core

STAR = """
question = "Q"
duration = "{duration}"
scheme = "none"
[topology.star]
hosts = {hosts}
link_rate = "{rate}"
buffer = "{buffer}"
{more}
"""
FLOW = '[[flow]]\nfrom = "h0"\nto = "h1"\n'


def star(
    flow: str = FLOW, *, duration: str = "1 ms", hosts: int = 2, rate: str = "1 Gbps", buffer: str = "150 KB"
) -> str:
    """Return the text of a star."""
    return STAR.format(duration=duration, hosts=hosts, rate=rate, buffer=buffer, more=flow)


def many_rows() -> str:
    """Return the text of a run of 120 million rows."""
    repeat = 'repeat = 11\nevery = "1 ps"\n'
    return star(FLOW + repeat + '[record]\ninterval = "100 ps"\n')


def test_limits_are_raised_by_an_argument() -> None:
    scenario = penstock.Scenario.from_toml(many_rows())
    for ask in (scenario.describe, scenario.resolved, scenario.run):
        with pytest.raises(penstock.ScenarioError, match="120000000 rows of samples; 100000000 are the most") as caught:
            ask()
        assert (caught.value.hint or "").endswith("or raise the limits: limit=2")
    assert len(scenario.describe(limit=2)["flows"]) == 11


def test_limits_are_raised_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "many.toml"
    file.write_text(many_rows())
    command = [sys.executable, "-m", "penstock", "run", str(file), "--out", str(tmp_path / "out")]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "many.toml:15: record.interval: 120000000 rows" in refused.stderr
    assert "--limit 2" in refused.stderr
    assert not (tmp_path / "out").exists()
    # A run that is allowed may still be short.
    file.write_text(star())
    allowed = subprocess.run([*command, "--limit", "1000", "--no-figures"], capture_output=True, text=True, check=False)
    assert allowed.returncode == 0, allowed.stderr


def started(text: str, folder: Path) -> "subprocess.Popen[str]":
    """Start a run that does not end, and wait until its folder is there."""
    file = folder / "endless.toml"
    file.write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock", "run", str(file), "--out", str(folder / "out"), "--no-figures"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and len(list(folder.iterdir())) < 2:
        time.sleep(0.05)
    time.sleep(0.5)
    return process


def interrupt(process: "subprocess.Popen[str]") -> tuple[float, str]:
    """Interrupt a run; return how long it took to end, and its output."""
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    return time.monotonic() - sent, said


ON_OFF = 'traffic = "on-off"\nrate = "1 Gbps"\non = "1 ps"\noff = "0 s"\nexcess = "discard"\n'
BUCKET = """
[hosts]
queue = "1 frames"
pacer = { token_bucket = { depth = "1000 GB", interval = "1 us", granularity = "1 bps" } }
"""
LATE = 'start = "600 s"\nframe = "64 octets"\n'


@pytest.mark.parametrize(
    "text",
    [
        star(FLOW + ON_OFF, duration="100 s"),
        star(FLOW + BUCKET),
        star(FLOW + LATE, duration="2000 s", rate="100 Gbps"),
    ],
    ids=["a frame each picosecond", "all of a second at one instant", "a late start after a long silence"],
)
def test_an_endless_run_is_interrupted_within_a_second(text: str, tmp_path: Path) -> None:
    took_s, said = interrupt(started(text, tmp_path))
    # A second, and the time that the machine needs to write the results when it is busy.
    assert took_s < 5, said


def test_discarded_frames_without_number_take_no_time() -> None:
    flow = FLOW + 'traffic = "constant"\nrate = "100 Tbps"\nframe = "64 octets"\nexcess = "discard"\n'
    result = penstock.Scenario.from_toml(star(flow, duration="1 s", rate="1 bps")).run()
    assert result.summary["totals"]["frames_offered"] == 195_312_500_000


def slow_layout() -> penstock.Scenario:
    """Return a scenario whose fair shares take some seconds."""
    lot = '[topology.parking-lot]\nswitches = 400\nlink_rate = "1 Gbps"\ntrunk_rate = "1 Gbps"\nbuffer = "150 KB"\n'
    flow = '[[flow]]\nfrom = "h0..h399"\nto = "h400..h799"\nstagger = "1 ps"\n'
    text = f'question = "Q"\nduration = "1 ms"\nscheme = "none"\n{lot}{flow}'
    return penstock.Scenario.from_toml(text)


def test_a_layout_in_another_thread_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    """Signals reach the main thread alone: the runs of a comparison ask whether to go on."""

    class Asked:
        def __call__(self, *_: float) -> None:
            raise AssertionError("it does not come to a run")

        def laying_out(self) -> None:
            raise KeyboardInterrupt

    started = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(slow_layout().run, out=tmp_path / "out", progress=Asked(), limit=1000)
        with pytest.raises(KeyboardInterrupt):
            run.result()
    assert time.monotonic() - started < 5
    assert list(tmp_path.iterdir()) == []


def test_a_layout_is_interrupted() -> None:
    """Fair shares of some seconds: Ctrl-C ends their computation."""
    scenario = slow_layout()
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            scenario.describe(limit=1000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert time.monotonic() - started < 5


def test_a_very_long_run_says_how_long(tmp_path: Path) -> None:
    """Nobody looks at it through a terminal, and still it is said."""
    process = started(star(duration="1000000 s"), tmp_path)
    assert process.stderr is not None
    said = process.stderr.readline()
    interrupt(process)
    assert said.startswith("none: this run will take up to about "), said
    assert "days" in said, said


GREEDY = """
import resource, sys
import penstock
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 300_000_000,) * 2)
try:
    penstock.Scenario.from_toml(sys.argv[1]).run()
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads how much it has from /proc")
def test_memory_that_cannot_be_had_is_an_error() -> None:
    """Two sources at 100 Gb/s fill a queue of 4 GB with frames of 64 octets; the process may have 300 MB more."""
    flow = '[[flow]]\nfrom = "h0..h1"\nto = "h2"\nframe = "64 octets"\n'
    text = star(flow, hosts=3, duration="100 ms", rate="100 Gbps", buffer="4 GB")
    done = subprocess.run([sys.executable, "-c", GREEDY, text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "MB of memory, more than the system has available" in done.stdout, done.stdout


def test_times_at_their_limits_are_exact() -> None:
    """Each frame is in flight for longer than the run; samples come in order."""
    network = '[network]\nnode_delay = "2000000 s"\nnode_delay_at = "all"\n'
    text = star(FLOW + network).replace("hosts = 2", 'hosts = 2\nlink_delay = "2000000 s"')
    totals = penstock.Scenario.from_toml(text).run().summary["totals"]
    assert (totals["frames_sent"], totals["frames_delivered"]) == (84, 0)
    record = '[record]\ninterval = "1000000 s"\n'
    slow = penstock.Scenario.from_toml(star(FLOW + record, duration="2000000 s", rate="1 bps")).run()
    times = slow.queues["time_s"].to_pylist()
    assert times == [0, 1e6, 2e6]


def test_limits_have_a_reference() -> None:
    limits = {limit["what"]: limit for limit in json.loads(_core.limits())}
    assert limits["nodes"]["most"] == 10_000
    assert all(limit["meaning"].endswith(".") for limit in limits.values())
