"""Sends signals to every command at random moments, and looks at what is left: the status, the messages, the files.

    python tools/signal_trial.py [--signals 200] [--seed 1]
    python tools/signal_trial.py --command tune --kind term --after 0.412     repeats one of them

A command ends with 130 or 143 (or is done), prints no traceback, leaves no process, and nothing half-written under a
final name. Except after SIGKILL it leaves nothing that is not whole; after SIGKILL the next run tidies up. Moments
are drawn by the seed, between the start of the process and a little after the time that the command takes undisturbed.

A signal that comes before the first line of Penstock finds Python alone, which ends differently: those are
counted apart.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from penstock import PenstockError, Result, Scenario, wire
from penstock.lab.server import page_files
from penstock.reproduction.trials import JOURNAL as SEARCH
from penstock.sweeps.store import JOURNAL
from penstock.testbed import cleanup, linux

SCENARIO = """\
question = "Do two senders share one port?"
duration = "20 ms"
scheme = "qcn"
schemes.qcn.q_eq = "33 KB"
topology.star = { hosts = 3, link_rate = "1 Gbps", link_delay = "1 us", buffer = "60 KB" }

[[flow]]
from = "h0..h1"
to = "h2"
"""
PAPER = {
    "small.toml": SCENARIO.replace('schemes.qcn.q_eq = "33 KB"\n', "").replace('duration = "20 ms"\n', ""),
    "profile.toml": 'every = { "schemes.qcn.q_eq" = "33 KB" }\nexperiment.small = { duration = "20 ms" }\n',
    "claims.toml": """\
title = "Two senders"
source = "paper 9"
figure = [{ name = "figure-1", title = "A queue" }, { name = "figure-2", title = "Its use" }]

[[claim]]
id = "loss"
figure = "figure-1"
says = "QCN loses less"
paper = "less"
metric = "loss_rate"
run = { experiment = "small", scheme = "qcn" }
against = { experiment = "small", scheme = "none" }
compare = "ratio"
over = "max"
seeds = 10
test = { at_most = 0.5 }
because = "half is less"
control = { scheme = "none" }

[[claim]]
id = "use"
figure = "figure-2"
says = "The port is busy"
paper = 1.0
metric = "utilization"
with = { queue = "sw0->h2" }
run = { experiment = "small", scheme = "qcn" }
seeds = 10
test = { within = 0.2 }
because = "two senders are twice the line"
control = { scaled = 0.5 }
""",
    "readings.toml": """seeds = 5

[[choice]]
name = "set-point"
open = "nothing is said"
readings.low = { every = { "schemes.qcn.q_eq" = "20 KB" } }
readings.high = { every = { "schemes.qcn.q_eq" = "33 KB" } }

[[choice]]
name = "weight"
open = "nothing is said"
readings.two = {}
readings.four = { every = { "schemes.qcn.w" = 4 } }
""",
}
BED = (
    SCENARIO.replace("1 Gbps", "100 Mbps").replace("20 ms", "2 s")
    + """\
traffic = "constant"
rate = "40 Mbps"

[testbed]
lateness = "10 s"
"""
)
LEAVES = SCENARIO.replace(
    'topology.star = { hosts = 3, link_rate = "1 Gbps",',
    'topology.leaf-spine = { leaves = 3, spines = 2, hosts_per_leaf = 1, host_rate = "1 Gbps", fabric_rate = "1 Gbps",',
)
FILES = {
    "leaves.toml": LEAVES,
    "arena.toml": '[[workload]]\nname = "small"\nscenario = "small.toml"\njudge = "queue_mean_octets"\n',
    "finite.toml": SCENARIO + 'size = "10 KB"\ntransport = "tcp"\n',
    "bed.toml": BED,
    "topology.txt": "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n",
    "flow.txt": "1\n0 1 3 100 5000 0\n",
}
LONG = ("--set", "duration=100000 s", "--set", "record.interval=100 ms")

COMMANDS = {
    "run": ("run", "small.toml", "--force"),
    "run-long": ("run", "small.toml", "--force", *LONG),
    "run-pcap": ("run", "small.toml", "--force", "--pcap", "sw0->h2,sw0->h0"),
    "run-threads-long": ("run", "leaves.toml", "--force", "--threads", "2", *LONG),
    "compare": ("compare", "small.toml", "--schemes", "qcn,none", "--seeds", "3", "--force"),
    "compare-long": ("compare", "small.toml", "--schemes", "qcn,none", "--force", *LONG),
    "sweep": ("sweep", "small.toml", "--vary", "schemes.qcn.w=1,2,3", "--seeds", "20", "--series", "--resume"),
    "sweep-long": ("sweep", "small.toml", "--seeds", "4", "--resume", *LONG),
    "arena": ("arena", "arena.toml", "--competitors", "none,qcn", "--seeds", "20", "--resume"),
    "query": ("query", "store", "select 1 as one"),
    "reproduce": ("reproduce", "paper", "--force"),
    "reproduce-search": ("reproduce", "paper", "--search"),
    "reproduce-list": ("reproduce", "--list"),
    "tune": (
        "tune",
        "small.toml",
        "--goal",
        "latency",
        "--keys",
        "w",
        "--trials",
        "4",
        "--seeds",
        "1",
        "--verdict-seeds",
        "2",
        "--force",
    ),
    "margin": ("theory", "margin", "small.toml"),
    "map": ("theory", "map", "small.toml", "--x", "flows=2..8:4", "--y", "delay=10us..1ms:4", "--simulate", "1"),
    "sliding": ("theory", "sliding", "small.toml", "--simulate", "--set", "duration=500 ms"),
    "phase": ("theory", "phase", "small.toml"),
    "figures": ("theory", "figures", "2"),
    "overlay": ("theory", "overlay", "small.toml", "--seeds", "2"),
    "import": ("import", "topology.txt", "flow.txt", "-o", "imported.toml", "--force"),
    "export": ("export", "finite.toml", "exported", "--to", "hpcc", "--force"),
    "wire-encode": ("wire", "encode", "cnm", "quantized_feedback=25", "--out", "a.pcapng", "--force"),
    "wire-formats": ("wire", "formats", "cnm"),
    "dcb-show": ("dcb", "show"),
    "dcb-plan": ("dcb", "plan", "small.toml"),
    "lab-long": ("lab", "small.toml", "--no-browser"),
    "testbed-run": ("testbed", "run", "bed.toml", "--force"),
    "testbed-up-long": ("testbed", "up", "bed.toml", "--set", "duration=1000 s"),
    "testbed-down": ("testbed", "down"),
    "new": ("new", "fresh", "--force"),
    "plot": ("plot", "done", "--show", "queue"),
    "table": ("table", "done", "queues", "time_s", "queue_octets"),
    "wire-decode": ("wire", "decode", "done/capture.pcapng"),
    "wire-stats": ("wire", "stats", "done/capture.pcapng"),
    "wire-install": ("wire", "install-dissector", "--folder", "plugins"),
    "schemes": ("schemes", "qcn"),
    "scenarios": ("scenarios", "."),
    "schema": ("schema",),
    "help": ("--help",),
}
ENDLESS_S = 4.0
"""For how long a command that does not end by itself is left alone at most, s."""

KINDS = {"int": signal.SIGINT, "int-twice": signal.SIGINT, "term": signal.SIGTERM, "kill": signal.SIGKILL}
ENDS = {"int": (130,), "int-twice": (130,), "term": (143,), "kill": (-signal.SIGKILL,)}
PATIENCE_S = 60.0
WITHIN_S = (1.0, 5.0)
"""Ends are counted by how long they took, s: on a machine with nothing else to do, a second."""


@dataclass(frozen=True)
class Trial:
    """A signal.

    Attributes:
        command: one of COMMANDS.
        kind: one of KINDS.
        after_s: how long after the start, s.
        second_s: how long after the first the second one comes, if it does, s.
    """

    command: str
    kind: str
    after_s: float
    second_s: float

    def __str__(self) -> str:
        words = f"--command {self.command} --kind {self.kind} --after {self.after_s:.4f}"
        second = f" --second {self.second_s:.4f}" if self.kind == "int-twice" else ""
        return f"python tools/signal_trial.py {words}{second}"


def main() -> int:
    """Sends the signals, says what came of them, and returns whether any came to a bad end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--signals", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--command", choices=COMMANDS)
    parser.add_argument("--kind", choices=KINDS, default="int")
    parser.add_argument("--after", type=float, default=1.0)
    parser.add_argument("--second", type=float, default=0.1)
    given = parser.parse_args()
    missing = lacking_here()
    for command, why in missing.items():
        print(f"{command} is left out: {why}")
    if given.command:
        trials = [Trial(given.command, given.kind, given.after, given.second)]
    else:
        trials = drawn(given.signals, given.seed, tuple(command for command in COMMANDS if command not in missing))
    counts, bad = try_all(trials)
    for words, count in sorted(counts.items()):
        print(f"{count:5} {words}")
    print(f"{len(trials)} signals to {len({trial.command for trial in trials})} commands: {len(bad)} bad ends")
    return 1 if bad else 0


def lacking_here() -> dict[str, str]:
    """Returns the commands that cannot run on this machine or in this checkout, each with the reason."""
    missing = {}
    try:
        page_files()
    except PenstockError as error:
        missing["lab-long"] = str(error)
    try:
        linux.check(["iperf3"])
    except PenstockError as error:
        missing |= {command: str(error) for command in COMMANDS if command.startswith("testbed")}
    return missing


def drawn(signals: int, seed: int, commands: tuple[str, ...] = tuple(COMMANDS)) -> list[Trial]:
    """Returns a number of trials: every command and every kind in turn, at moments that the seed draws."""
    draw = random.Random(seed)
    lasts_s = {command: undisturbed_s(command) for command in commands}
    pairs = [(command, kind) for kind in KINDS for command in commands]
    trials = []
    for number in range(signals):
        command, kind = pairs[number % len(pairs)]
        trials.append(Trial(command, kind, draw.uniform(0, 1.1 * lasts_s[command]), draw.uniform(0, 0.3)))
    return trials


def undisturbed_s(command: str) -> float:
    """Returns how long a command takes, s; it has to end well."""
    if command.endswith("-long"):
        return ENDLESS_S
    with tempfile.TemporaryDirectory() as name:
        folder = prepared(Path(name))
        started = time.monotonic()
        process = start(command, folder)
        _, words = process.communicate(timeout=PATIENCE_S)
        if process.returncode:
            sys.exit(f"{command} undisturbed ends with {process.returncode}: {words}")
        return time.monotonic() - started


def try_all(trials: list[Trial]) -> tuple[Counter[str], list[str]]:
    """Returns how often which signal came to which end, and the bad ends; those are printed, too."""
    # A job of a shell's background begins with Ctrl-C ignored, and so would all that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    counts: Counter[str] = Counter()
    bad = []
    for trial in trials:
        with tempfile.TemporaryDirectory() as name:
            end, faults = tried(trial, prepared(Path(name)))
        counts[f"{trial.kind}: {end}"] += 1
        if faults:
            bad.append(f"{trial.command}, {end}: {'; '.join(faults)}")
            print(f"{bad[-1]}\n  repeat: {trial}", flush=True)
    return counts, bad


def tried(trial: Trial, folder: Path) -> tuple[str, list[str]]:
    """Returns how a command ended, and what is wrong with that."""
    process = start(trial.command, folder)
    time.sleep(trial.after_s)
    by_itself = process.poll() is not None
    listening = by_itself or obeys(process.pid)
    process.send_signal(KINDS[trial.kind])
    sent = time.monotonic()
    if trial.kind == "int-twice":
        time.sleep(trial.second_s)
        process.send_signal(signal.SIGINT)
    try:
        _, words = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "hangs", [f"does not end in {PATIENCE_S:g} s"]
    took_s = time.monotonic() - sent
    status = process.returncode
    killed = trial.kind == "kill"
    # Processes of a testbed die with it, and need a moment for that where it was killed.
    limit = sent + (PATIENCE_S if killed else 0)
    while (left := of_session(process.pid)) and time.monotonic() < limit:
        time.sleep(0.05)
    faults = [f"process {number} is left" for number in left]
    if killed and trial.command.endswith("-long"):
        cleanup.clear()
    if not killed or trial.command.endswith("-long"):
        faults += namespaces_of(process.pid)
    faults += untidy(folder, killed=killed)
    if status == 0:
        return "done before", faults
    if not listening and not killed:
        return "before the first line of Penstock", faults
    if by_itself or status not in ENDS[trial.kind]:
        faults.append(f"ends with {status}: {words[-500:]}")
    if "Traceback" in words or "Exception ignored" in words or "Error:" in words:
        faults.append(f"says: {words[-800:]}")
    if killed and not faults and not trial.command.endswith("-long"):
        faults += in_the_way(trial.command, folder)
    if trial.kind == "int" and trial.command.endswith("-long"):
        return f"ends with {status} when its record is drawn", faults
    return f"ends with {status} within {next((s for s in WITHIN_S if took_s < s), PATIENCE_S):g} s", faults


def prepared(folder: Path) -> Path:
    """Returns the folder with a scenario, its results, a paper, and the store of a sweep without runs in it."""
    (folder / "store").mkdir()
    (folder / "store" / "sweep.json").write_text('{"finished": true, "failed": [], "runs": 0, "vary": []}\n')
    for name, text in {"small.toml": SCENARIO, **FILES}.items():
        (folder / name).write_text(text, encoding="utf-8")
    Scenario.from_toml(SCENARIO, name="small").run(out=folder / "done", pcap=["sw0->h2"])
    (folder / "papers" / "paper").mkdir(parents=True)
    for name, text in PAPER.items():
        (folder / "papers" / "paper" / name).write_text(text, encoding="utf-8")
    return folder


def start(command: str, folder: Path) -> "subprocess.Popen[str]":
    """Starts a command in a new session."""
    return subprocess.Popen(
        [sys.executable, "-m", "penstock", *COMMANDS[command]],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def obeys(process: int) -> bool:
    """Whether a process has taken over SIGTERM, which Python leaves alone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return True
    caught = next((int(line.split()[1], 16) for line in lines if line.startswith("SigCgt:")), None)
    return caught is None or bool(caught >> (signal.SIGTERM - 1) & 1)


def of_session(session: int) -> list[int]:
    """Returns the processes of a session that are still there."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                state, _, _, own = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[:4]
            except OSError:
                continue
            if int(own) == session and state != "Z":
                found.append(int(entry.name))
    return found


def namespaces_of(process: int | str = "*") -> list[str]:
    """Returns the namespaces of the testbeds that a process, or any one, has made, as faults."""
    return [f"namespace {path.name} is left" for path in sorted(linux.NAMESPACES.glob(f"pt-{process}-*"))]


def untidy(folder: Path, *, killed: bool) -> list[str]:
    """Returns what is half-written below a folder: under a hidden name only where the process was killed."""
    faults = []
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden and killed:
            continue
        if hidden:
            faults.append(f"{path.relative_to(folder)} is left")
        elif path.is_file() and path.name not in (JOURNAL, SEARCH) and (why := broken(path)):
            faults.append(f"{path.relative_to(folder)}: {why}")
        elif path.is_dir() and path.parent.name == "results" and path.name != "theory":
            faults += [f"{path.name}: no {name}" for name in lacking(path)]
    return faults


def lacking(folder: Path) -> list[str]:
    """Returns the files that a folder of results lacks."""
    if "-sweep" in folder.name:
        return [] if any((folder / name).is_file() for name in ("sweep.json", JOURNAL)) else ["sweep.json"]
    if folder.name == "arena":
        return [] if any((folder / "runs").glob("*/*.json*")) else ["runs"]
    if "-compare" in folder.name:
        return [] if (folder / "compare.json").is_file() else ["compare.json"]
    if folder.name.endswith("-search"):
        return [] if (folder / SEARCH).is_file() else [SEARCH]
    if "reproduce" in folder.name:
        return [name for name in ("index.html", "reproduce.json") if not (folder / name).is_file()]
    try:
        result = Result.open(folder)
        for table in result.tables:
            result._table(table)
    except PenstockError as error:
        return [f"result: {error}"]
    return []


def broken(path: Path) -> str:
    """Returns why a file is no whole one; nothing if it is."""
    data = path.read_bytes()
    ends = {".png": b"IEND\xaeB`\x82", ".svg": b"</svg>\n", ".html": b"</html>\n", ".parquet": b"PAR1", ".toml": b"\n"}
    end = ends.get(path.suffix)
    if end is not None and not data.rstrip(b"\n").endswith(end.rstrip(b"\n")):
        return f"does not end in {end!r}"
    try:
        if path.suffix == ".json":
            json.loads(data)
        elif path.suffix == ".toml":
            tomllib.loads(data.decode())
        elif path.suffix == ".pcapng" and (damage := wire.statistics(path)["damage"]):
            return str(damage["message"])
    except ValueError as error:
        return str(error)
    return "" if data else "is empty"


def in_the_way(command: str, folder: Path) -> list[str]:
    """Returns what is wrong with the next run of a command after it was killed."""
    before = namespaces_of()
    process = start(command, folder)
    _, words = process.communicate(timeout=PATIENCE_S)
    faults = untidy(folder, killed=False) + [fault for fault in before if fault in namespaces_of()]
    return (
        faults if process.returncode == 0 else [*faults, f"run again it ends with {process.returncode}: {words[-500:]}"]
    )


if __name__ == "__main__":
    sys.exit(main())
