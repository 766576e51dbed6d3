"""Kills a sweep at random moments, goes on with it, and compares the store with that of an undisturbed sweep.

    python tools/sweep_trial.py [--kills 20] [--seed 1] [--times 1]
    python tools/sweep_trial.py --after 0.412      repeats one of them

A sweep of 200 runs gets SIGKILL between its start and the time that it takes undisturbed, `--times` times in a row,
each time after it has gone on. Then it goes on to its end. Every file must have the same bytes as undisturbed, and
there must be no other file. The moments are drawn by the seed. A sweep that ends before its moment counts as none:
as many more are tried as are missing.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
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
BETWEEN_LOOKS_S = 0.002
MOST_TRIALS = 5
"""This many times as many sweeps as are to be killed begin: some are still at work at their moment."""


@dataclass(frozen=True)
class Moment:
    """The moment of a kill, after the start of the command.

    Attributes:
        runs: once this number of runs of the sweep have finished.
        then_s: so long after that, s.
    """

    runs: int = 0
    then_s: float = 0.0


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
        undisturbed = finished(folder, "undisturbed")
        lasts_s = time.monotonic() - started
        print(f"undisturbed: {RUNS} runs in {lasts_s:.2f} s, {len(undisturbed)} files")
        draw = random.Random(given.seed)
        wanted = given.kills if given.after is None else 1
        sweeps = kills = bad = number = 0
        while sweeps < wanted and number < MOST_TRIALS * wanted:
            number += 1
            if given.after is None:
                moments = [Moment(then_s=draw.uniform(0, lasts_s)) for _ in range(given.times)]
            else:
                moments = [Moment(then_s=given.after)]
            killed, apart = tried(moments, folder, f"trial-{number}", undisturbed)
            after = ", ".join(f"{moment.then_s:.3f}" for moment in moments)
            print(f"killed {killed} of {len(moments)} times, after {after} s: {apart or 'equal'}", flush=True)
            sweeps += killed > 0
            kills += killed
            bad += bool(apart)
    print(f"{sweeps} sweeps killed, {kills} times: {bad} differ from the undisturbed one")
    return 1 if bad or sweeps < wanted else 0


def prepared(folder: Path, duration: str, *, series: bool) -> Path:
    """Returns the folder with a scenario and a sweep file in it."""
    (folder / "small.toml").write_text(SCENARIO.format(duration=duration), encoding="utf-8")
    (folder / "sweep.toml").write_text(SWEEP.format(series=str(series).lower()), encoding="utf-8")
    return folder


def tried(
    moments: Sequence[Moment], folder: Path, out: str, undisturbed: dict[str, bytes], *options: str
) -> tuple[int, str]:
    """Kills a sweep, with these options of the command, at moments one after the other, and goes on to its end.

    Returns how often it was killed before its end, and how its store differs from the undisturbed one.
    """
    killed = 0
    for moment in moments:
        process = start(folder, out, "--resume", *options)
        while process.poll() is None and runs_in(folder / out) < moment.runs:
            time.sleep(BETWEEN_LOOKS_S)
        time.sleep(moment.then_s)
        process.send_signal(signal.SIGKILL)
        killed += process.wait(PATIENCE_S) == -signal.SIGKILL
    return killed, difference(undisturbed, finished(folder, out, "--resume"))


def runs_in(folder: Path) -> int:
    """Returns how many runs of an unfinished sweep have finished: each is a line of its journal."""
    try:
        return (folder / "unfinished.jsonl").read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def start(folder: Path, out: str, *options: str) -> "subprocess.Popen[bytes]":
    """Starts the sweep."""
    command = [sys.executable, "-m", "penstock", "sweep", "sweep.toml", "--out", out, "--quiet"]
    return subprocess.Popen([*command, *options], cwd=folder)


def finished(folder: Path, out: str, *options: str) -> dict[str, bytes]:
    """Runs the sweep to its end, and returns its store."""
    if start(folder, out, *options).wait(PATIENCE_S):
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
