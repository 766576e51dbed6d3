"""Kills a sweep at random moments, goes on with it, and compares the store with that of an undisturbed sweep.

    python tools/sweep_trial.py [--kills 20] [--seed 1] [--times 1]
    python tools/sweep_trial.py --after 0.412      repeats one of them

A sweep of 200 runs gets SIGKILL between its start and the time that it takes undisturbed, `--times` times in a row,
each time after it has gone on; then it goes on to its end. Every file must have the same bytes as undisturbed, and
there must be no other file. The moments are drawn by the seed.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

SCENARIO = """\
question = "Do two senders share one port?"
duration = "{duration}"
scheme = "qcn"
schemes.qcn.q_eq = "33 KB"
topology.star = {{ hosts = 3, link_rate = "1 Gbps", link_delay = "1 us", buffer = "60 KB" }}

[[flow]]
from = "h0..h1"
to = "h2"
"""
SWEEP = """\
scenario = "small.toml"
schemes = ["none", "qcn"]
seeds = 10
series = {series}

[[vary]]
"topology.star.buffer" = ["60 KB", "80 KB", "100 KB", "120 KB", "140 KB"]

[[vary]]
"topology.star.link_delay" = ["1 us", "10 us"]
"""
RUNS = 200
PATIENCE_S = 300.0


@dataclass(frozen=True)
class Trial:
    """Kills of one sweep.

    Attributes:
        after_s: how long after each start the signal comes, s.
    """

    after_s: tuple[float, ...]


def main() -> int:
    """Kills, goes on, compares, says what came of it, and returns whether a store differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--after", type=float)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = prepared(Path(name), "100 ms", series=True)
        started = time.monotonic()
        undisturbed = finished(folder, "undisturbed", resume=False)
        lasts_s = time.monotonic() - started
        print(f"undisturbed: {RUNS} runs in {lasts_s:.2f} s, {len(undisturbed)} files")
        draw = random.Random(given.seed)
        if given.after is not None:
            trials = [Trial((given.after,))]
        else:
            trials = [Trial(tuple(draw.uniform(0, lasts_s) for _ in range(given.times))) for _ in range(given.kills)]
        bad = 0
        for number, trial in enumerate(trials):
            killed, told = tried(trial, folder, f"trial-{number}", undisturbed)
            moments = ", ".join(f"{after_s:.3f}" for after_s in trial.after_s)
            print(f"killed {killed} of {len(trial.after_s)} times, after {moments} s: {told or 'equal'}", flush=True)
            bad += bool(told)
    print(f"{len(trials)} sweeps: {bad} differ")
    return 1 if bad else 0


def prepared(folder: Path, duration: str, *, series: bool) -> Path:
    """Returns the folder with a scenario and a sweep file in it."""
    (folder / "small.toml").write_text(SCENARIO.format(duration=duration), encoding="utf-8")
    (folder / "sweep.toml").write_text(SWEEP.format(series=str(series).lower()), encoding="utf-8")
    return folder


def tried(trial: Trial, folder: Path, out: str, undisturbed: dict[str, bytes]) -> tuple[int, str]:
    """Returns how often a sweep was killed before its end, and how its store differs from the undisturbed one."""
    killed = 0
    for after_s in trial.after_s:
        process = start(folder, out, resume=True)
        time.sleep(after_s)
        process.send_signal(signal.SIGKILL)
        killed += process.wait(PATIENCE_S) == -signal.SIGKILL
    return killed, difference(undisturbed, finished(folder, out, resume=True))


def start(folder: Path, out: str, *, resume: bool) -> "subprocess.Popen[bytes]":
    """Starts the sweep."""
    command = [sys.executable, "-m", "penstock", "sweep", "sweep.toml", "--out", out, "--quiet"]
    return subprocess.Popen([*command, *(["--resume"] if resume else [])], cwd=folder)


def finished(folder: Path, out: str, *, resume: bool) -> dict[str, bytes]:
    """Runs the sweep to its end, and returns its store."""
    if start(folder, out, resume=resume).wait(PATIENCE_S):
        sys.exit(f"the sweep into {out} fails")
    return store(folder / out)


def store(folder: Path) -> dict[str, bytes]:
    """Returns the bytes of each file of a store."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def difference(one: dict[str, bytes], other: dict[str, bytes]) -> str:
    """Returns how two stores differ; nothing if they do not."""
    names = sorted(one.keys() ^ other.keys())
    if names:
        return f"{len(names)} files are in one store alone, such as {names[0]}"
    differing = [name for name in one if one[name] != other[name]]
    return f"{len(differing)} files differ, such as {differing[0]}" if differing else ""


if __name__ == "__main__":
    sys.exit(main())
