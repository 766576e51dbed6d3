"""Runs sweeps on real Ray clusters, ends workers and nodes in the middle, and compares with this machine's cores.

    python tools/check_ray.py

Ray and Penstock's own wheel are installed into a separate environment, .build/ray, from requirements/ray.txt. The
clusters are a head and two nodes of one worker each on this machine, and those of `--ray local`. A store must have the
same bytes wherever it ran and whatever was lost; comparisons, tuning, an arena and reproductions must say the same. An
address that does not answer is refused within seconds; an interrupt leaves no worker behind. The exit status says
whether all of it holds. Times are printed, and bounded only where somebody would have to wait without a reason.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".build" / "ray"
REQUIREMENTS = [ROOT / "requirements" / name for name in ("run.txt", "ray.txt")]

SCENARIO = """\
question = "Do two senders share one port?"
duration = "4 s"
scheme = "qcn"
schemes.qcn.q_eq = "33 KB"
topology.star = { hosts = 3, link_rate = "1 Gbps", link_delay = "1 us", buffer = "60 KB" }

[[flow]]
from = "h0..h1"
to = "h2"
"""
SWEEP = """\
scenario = "small.toml"
schemes = ["none", "qcn"]
seeds = 10
series = true

[[vary]]
"topology.star.buffer" = ["60 KB", "90 KB"]
"""
RUNS = 40
PATIENCE_S = 400.0
REFUSED_WITHIN_S = 15.0
"""Five seconds for an answer; the rest is for Python to start on a busy machine."""
GONE_WITHIN_S = 10.0
WORKERS = ("ray::work", "ray::IDLE")
"""How the names of Ray's workers begin."""
CLASS = ROOT / "examples" / "foreign" / "dctcp.py"
COMPARE = ("compare", "small.toml", "--schemes", f"none,qcn,{CLASS}:Dctcp", "--seeds", "2", "--json")
TUNE = ("tune", "small.toml", "--goal", "latency", "--trials", "4", "--seeds", "1", "--verdict-seeds", "2", "--json")
ARENA = ("arena", "--workloads", "incast-16", "--competitors", "none,qcn", "--json")
REPRODUCE = ("reproduce", str(ROOT / "papers" / "sliding-mode"), "--short", "--json")


def main() -> int:
    """Makes the environment, goes on in it, and returns the exit status."""
    if Path(sys.prefix) != ENVIRONMENT:
        os.execv(python_with_ray(), [str(ENVIRONMENT / "bin" / "python"), __file__])
    # A machine that does much else is slow to start a node.
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_raylet_start_wait_time_s": "120"}
    with tempfile.TemporaryDirectory() as name:
        trial = Trial(Path(name))
        trial.addresses_are_refused()
        trial.local_cluster()
        trial.signals_end_all()
        with cluster() as address:
            trial.whole_cluster(address)
            trial.other_commands(address)
            trial.workers_are_lost(address)
            trial.cluster_is_interrupted(address)
            trial.node_is_lost(address)
    print(f"{trial.tried} checks: {trial.bad or 'no'} failures")
    return 1 if trial.bad else 0


def python_with_ray() -> Path:
    """Returns the Python of the environment that has Ray as it is pinned, and Penstock as it is."""
    python, mark = ENVIRONMENT / "bin" / "python", ENVIRONMENT / "installed.txt"
    pins = "".join(path.read_text(encoding="utf-8") for path in REQUIREMENTS)
    pip = (python, "-m", "pip", "install", "--quiet")
    if not mark.is_file() or mark.read_text(encoding="utf-8") != pins:
        venv.create(ENVIRONMENT, clear=True, with_pip=True)
        for path in REQUIREMENTS:
            subprocess.run([*pip, "--no-deps", "--require-hashes", "-r", path], check=True)
        mark.write_text(pins, encoding="utf-8")
    wheels = ENVIRONMENT / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    maturin = (sys.executable, "-m", "maturin", "build", "--release", "--locked", "--quiet", "--out", wheels)
    subprocess.run(maturin, cwd=ROOT, check=True)
    subprocess.run([*pip, "--no-deps", "--force-reinstall", *wheels.glob("*.whl")], check=True)
    return python


class Trial:
    """Sweeps below a folder, and their outcome.

    Attributes:
        tried: how many checks there were.
        bad: how many failed.
    """

    def __init__(self, folder: Path) -> None:
        from sweep_trial import store

        self.tried = self.bad = 0
        self._folder = folder
        (folder / "small.toml").write_text(SCENARIO, encoding="utf-8")
        (folder / "sweep.toml").write_text(SWEEP, encoding="utf-8")
        started = time.monotonic()
        self._run("sweep", "sweep.toml", "--out", "undisturbed")
        self._undisturbed = store(folder / "undisturbed")
        print(f"cores: {RUNS} runs in {time.monotonic() - started:.1f} s, {len(self._undisturbed)} files")

    def addresses_are_refused(self) -> None:
        """An address where nothing, or something else, answers."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            silent = f"127.0.0.1:{server.getsockname()[1]}"
            with socket.create_server(("127.0.0.1", 0)) as other:
                closed = f"127.0.0.1:{other.getsockname()[1]}"
            for address in (closed, silent, "nonsense"):
                started = time.monotonic()
                done = self._start("sweep", "sweep.toml", "--out", "refused", "--ray", address)
                _, errors = done.communicate(timeout=PATIENCE_S)
                took_s = time.monotonic() - started
                right = done.returncode == 2 and address in errors and "hint:" in errors and took_s < REFUSED_WITHIN_S
                self._check(right, f"refused after {took_s:.1f} s: {errors.splitlines()[0]}")
        self._check(not (self._folder / "refused").exists(), "nothing is written for them")

    def local_cluster(self) -> None:
        """A new cluster."""
        started = time.monotonic()
        self._run("sweep", "sweep.toml", "--out", "local", "--ray", "local")
        self._same("local", f"--ray local, in {time.monotonic() - started:.1f} s")

    def signals_end_all(self) -> None:
        """Ctrl-C, a second one, termination and SIGKILL, with a new cluster."""
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)):
            out = f"local-{number}"
            process = self._start("sweep", "sweep.toml", "--out", out, "--ray", "local")
            working(process, process.pid)
            ours = every_below(process.pid)
            took_s, left = ended_by(process, number, ours)
            case = f"{signal.Signals(number).name} with --ray local: over after {took_s:.2f} s"
            if number == signal.SIGKILL:
                # Ray's agents outlive their node for a while; its workers must not.
                names = remaining(ours, GONE_WITHIN_S, *WORKERS)
                self._check(not names, f"{case}, and no worker is left after {GONE_WITHIN_S:g} s: {names or 'none'}")
            else:
                self._check(process.returncode == status, f"{case}, with status {process.returncode}")
                self._check(not left, f"{signal.Signals(number).name} leaves no process: {left or 'none'}")
            self._run("sweep", "sweep.toml", "--out", out, "--resume")
            self._same(out, f"a sweep that {signal.Signals(number).name} ended, gone on with on the cores")

    def whole_cluster(self, address: str) -> None:
        """A cluster of which nothing is lost."""
        started = time.monotonic()
        self._run("sweep", "sweep.toml", "--out", "cluster", "--ray", address)
        self._same("cluster", f"a cluster of two nodes, in {time.monotonic() - started:.1f} s")

    def other_commands(self, address: str) -> None:
        """Compare the words of other commands on the cluster and on the cores."""
        from penstock import Comparison

        for command in (COMPARE, TUNE, ARENA, REPRODUCE):
            said = {}
            for name, ray in (("cores", ()), ("cluster", ("--ray", address))):
                suffix = ".toml" if command[0] == "tune" else ""
                out = f"{command[0]}-{name}{suffix}"
                said[name] = json.loads(self._run(*command, "--out", out, *ray))
            for document in said.values():
                forget_times(document)
            self._check(said["cores"] == said["cluster"], f"{command[0]} says the same on the cluster")
        opened = [Comparison.open(self._folder / f"compare-{name}").runs for name in ("cores", "cluster")]
        marks = [[run.fingerprint() for runs in own.values() for run in runs] for own in opened]
        self._check(marks[0] == marks[1], f"the records of {len(marks[0])} compared runs are the same")

    def workers_are_lost(self, address: str) -> None:
        """Workers get SIGKILL while they work."""
        process = self._start("sweep", "sweep.toml", "--out", "workers", "--ray", address, "--json")
        killed = 0
        while killed < 4 and (workers := working(process, os.getpid())):
            with contextlib.suppress(ProcessLookupError):
                os.kill(workers[0], signal.SIGKILL)
                killed += 1
            time.sleep(0.5)
        said, errors = process.communicate(timeout=PATIENCE_S)
        again = errors.count("is sent again")
        self._check(process.returncode == 0 and again > 0, f"{killed} workers killed: {again} runs sent again")
        self._check(bool(json.loads(said)["finished"]), "standard output has the manifest, and nothing of Ray's")
        self._same("workers", "a sweep whose workers were killed")

    def cluster_is_interrupted(self, address: str) -> None:
        """Ctrl-C of a sweep on a cluster that stays."""
        process = self._start("sweep", "sweep.toml", "--out", "interrupted", "--ray", address)
        working(process, os.getpid())
        took_s, _ = ended_by(process, signal.SIGINT, [])
        self._check(process.returncode == 130, f"SIGINT with a cluster: over after {took_s:.2f} s, with status 130")
        busy = remaining(every_below(os.getpid()), GONE_WITHIN_S, WORKERS[0])
        self._check(not busy, f"no worker of the cluster goes on: {busy or 'none'}")
        self._run("sweep", "sweep.toml", "--out", "interrupted", "--resume", "--ray", address)
        self._same("interrupted", "gone on with on the cluster")

    def node_is_lost(self, address: str) -> None:
        """A whole node gets SIGKILL while its worker works: all processes of it, of which Ray's raylet is the first."""
        from penstock.executors.processes import kill, parent

        process = self._start("sweep", "sweep.toml", "--out", "nodes", "--ray", address)
        time.sleep(0.5 * bool(working(process, os.getpid())))
        raylet = parent(working(process, os.getpid())[0])
        kill([raylet, *every_below(raylet)])
        _, errors = process.communicate(timeout=PATIENCE_S)
        again = errors.count("is sent again")
        self._check(process.returncode == 0 and again > 0, f"one of two nodes killed: {again} runs sent again")
        self._same("nodes", "a sweep that has lost a node")

    def _same(self, out: str, case: str) -> None:
        from sweep_trial import difference, store

        apart = difference(self._undisturbed, store(self._folder / out))
        self._check(not apart, f"{case}: {apart or 'the same bytes'}")

    def _check(self, right: bool, case: str) -> None:
        self.tried += 1
        self.bad += not right
        print(f"{case}{'' if right else '  WRONG'}", flush=True)

    def _run(self, *arguments: str) -> str:
        process = self._start(*arguments)
        said, errors = process.communicate(timeout=PATIENCE_S)
        if process.returncode:
            raise SystemExit(f"penstock {' '.join(arguments)} ended with {process.returncode}:\n{errors}")
        return said

    def _start(self, *arguments: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "penstock", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self._folder, stdout=pipe, stderr=pipe, text=True)


@contextlib.contextmanager
def cluster() -> Iterator[str]:
    """Yields the address of a cluster: a head without workers, to which commands connect, and two nodes of one each."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        for _ in range(2):
            made.add_node(num_cpus=1)
        yield made.address
    finally:
        ours = every_below(os.getpid())
        made.shutdown()
        from penstock.executors.processes import kill

        kill(ours)


def working(process: "subprocess.Popen[str]", below_pid: int) -> list[int]:
    """Waits until workers below a process run a task for a command, and returns them; none if that ends before."""
    while process.poll() is None:
        found = [pid for pid in every_below(below_pid) if name_of(pid).startswith("ray::work")]
        if found:
            return found
        time.sleep(0.02)
    return []


def ended_by(process: "subprocess.Popen[str]", number: int, ours: list[int]) -> tuple[float, list[str]]:
    """Sends a signal; returns how long the process then lasts, s, and which of some processes are there after it."""
    started = time.monotonic()
    process.send_signal(number)
    process.communicate(timeout=PATIENCE_S)
    took_s = time.monotonic() - started
    # The system takes a moment to end a process after the signal.
    return took_s, remaining(ours, 1.0, "")


def remaining(pids: list[int], within_s: float, *begins: str) -> list[str]:
    """Waits until processes whose names begin so are gone, at most so long; returns the names of those left."""
    until = time.monotonic() + within_s
    while True:
        names = [name for pid in pids if (name := name_of(pid)) and name.startswith(begins)]
        if not names or time.monotonic() >= until:
            return names
        time.sleep(0.1)


def every_below(pid: int) -> list[int]:
    """Returns the processes that descend from one."""
    from penstock.executors.processes import below

    return below(pid)


def name_of(pid: int) -> str:
    """Returns the name of a process; nothing of one that has ended."""
    try:
        before, _, after = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")
    except OSError:
        return ""
    return "" if after.split()[0] == "Z" else before.partition("(")[2]


def forget_times(document: Any) -> None:
    """Removes what differs between two runs of one command: figures of the wall clock, and names of files."""
    if isinstance(document, dict):
        for key in ("run", "file"):
            document.pop(key, None)
    for entry in document.values() if isinstance(document, dict) else document if isinstance(document, list) else ():
        forget_times(entry)


if __name__ == "__main__":
    sys.exit(main())
