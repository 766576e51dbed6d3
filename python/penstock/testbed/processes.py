"""The processes of a testbed's nodes, and the applications in its hosts."""

import contextlib
import os
import shlex
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from math import inf
from pathlib import Path

from penstock.testbed.cleanup import State, started
from penstock.testbed.errors import TestbedError
from penstock.testbed.fabric import Fabric
from penstock.testbed.layout import Layout, Node, Program, Sender

_READY_S = 60.0
"""The longest that all nodes may take until they are ready."""

_AHEAD_NS = 100_000_000
"""From the moment at which all nodes are ready to the start of the run."""

_END_S = 5.0
"""The longest that a process may take to end."""

_LOOK_S = 0.005
"""From a look at whether a process has ended to the next."""

_COMES_UP_S = 1.0
"""A sender that has lived so long has found its receiver."""

_TRIES = 10
"""How often a sender is started again that has not."""

_TRANSFER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("transfer.py")))
"""The program of flows with a size."""

_DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
"""The end of this process ends all that it has started."""


class Nodes:
    """The processes of a layout's nodes."""

    def __init__(self, layout: Layout, fabric: Fabric, state: State, folder: Path) -> None:
        self._layout = layout
        self._fabric = fabric
        self._state = state
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._controls: dict[str, socket.socket] = {}

    def begin(self) -> int:
        """Start all processes, and the run when all are ready.

        Returns:
            The start of the run, ns since 1970.

        Raises:
            TestbedError: a process does not come up.
        """
        for node in self._layout["nodes"]:
            self._start(node)
        self._state.save()
        limit = time.monotonic() + _READY_S
        for name, control in self._controls.items():
            control.settimeout(max(limit - time.monotonic(), 0.01))
            try:
                ready = control.recv(16)
            except TimeoutError:
                ready = b""
            if ready != b"ready":
                raise TestbedError(f"the process of {name} does not come up: {self._said(name)}")
        origin = time.time_ns() + _AHEAD_NS
        for node in self._layout["nodes"]:
            wires = self._fabric.wires(node)
            control = self._controls[node["name"]]
            control.send(struct.pack("=Q", origin))
            socket.send_fds(control, [b"".join(wire.kind for wire in wires)], [wire.number for wire in wires])
        return origin

    def _start(self, node: Node) -> None:
        name = node["name"]
        own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        log = self._folder / f"{name}.jsonl"
        command = [
            *_DIES_WITH_US,
            *(sys.executable, "-m", "penstock.testbed.node"),
            *(str(self._folder / "scenario.toml"), name, str(log)),
        ]
        with its, (self._folder / f"{name}.err").open("wb") as errors:
            process = subprocess.Popen(
                command, stdin=its.fileno(), stdout=errors, stderr=errors, start_new_session=True
            )
        self._processes[name], self._controls[name] = process, own
        self._state.processes.append((process.pid, started(process.pid) or 0))

    def failed(self) -> str | None:
        """Return what a process has said that has failed; ``None`` while none has."""
        for name, process in self._processes.items():
            if process.poll() not in (None, 0):
                return f"the process of {name} has failed: {self._said(name)}"
        return None

    def running(self) -> bool:
        """Return whether some process still runs."""
        return any(process.poll() is None for process in self._processes.values())

    def end(self) -> None:
        """Ask all processes to end, and make them."""
        for control in self._controls.values():
            control.close()
        limit = time.monotonic() + _END_S
        for process in self._processes.values():
            if not _ended(process, limit - time.monotonic()):
                _kill(process)

    def _said(self, name: str) -> str:
        text = (self._folder / f"{name}.err").read_text(errors="replace").strip()
        return text.splitlines()[-1] if text else "it says nothing"


class Applications:
    """The senders: iperf3 for the flows, and the programs of the scenario."""

    def __init__(self, layout: Layout, fabric: Fabric, state: State, folder: Path) -> None:
        self._layout = layout
        self._fabric = fabric
        self._state = state
        self._folder = folder
        self._addresses = {node["name"]: node["address"] or "" for node in layout["nodes"] if node["host"]}
        self._ahead: list[tuple[float, Callable[[], None]]] = []
        self._senders: list[tuple[Sender, subprocess.Popen[bytes]]] = []
        self._now = 0.0
        self._programs: list[tuple[Program, subprocess.Popen[bytes]]] = []
        self._all: list[subprocess.Popen[bytes]] = []
        self._tries: dict[str, int] = {}
        self._begun: dict[str, float] = {}
        self._faults: dict[str, str] = {}

    def serve(self) -> None:
        """Start the receivers, so that they listen when the run begins."""
        flows = [flow for flow in self._layout["flows"] if flow["iperf3"]]
        for flow in flows:
            address, port = self._addresses[flow["destination"]], str(flow["port"])
            command = ["iperf3", "-s", "-p", port, "-B", address]
            if transferred(flow):
                command = [*_TRANSFER, "receive", address, port]
            self._run(flow["destination"], command, f"{flow['name']}.receiver")
        for flow in flows:
            self._plan(flow["start_s"], partial(self._send, flow, flow["start_s"]))
        for program in self._layout["applications"]:
            self._plan(program["start_s"], partial(self._program, program))
        self._state.save()

    def _plan(self, at_s: float, start: Callable[[], None]) -> None:
        self._ahead.append((at_s, start))
        self._ahead.sort(key=lambda entry: entry[0])

    def step(self, now_s: float) -> None:
        """Start and stop what is due, ``now_s`` after the start of the run."""
        self._now = now_s
        while self._ahead and self._ahead[0][0] <= now_s:
            _, entry = self._ahead.pop(0)
            entry()
        for flow, process in list(self._senders):
            if process.poll() not in (None, 0):
                self._senders.remove((flow, process))
                self._again(flow, now_s)
                continue
            if process.poll() == 0 or now_s - self._begun[flow["name"]] >= _COMES_UP_S:
                # Nothing keeps it from its receiver any more.
                self._faults.pop(flow["name"], None)
            if now_s >= flow["stop_s"]:
                _terminate(process)
                self._senders.remove((flow, process))

    def _again(self, flow: Sender, now_s: float) -> None:
        """Start a sender once more that found no receiver: it may not have listened yet."""
        name = flow["name"]
        said = self._said(f"{name}.sender")
        if now_s - self._begun[name] >= _COMES_UP_S:
            self._faults[name] = f"The sender of flow {name} ended early: {said}."
            return
        self._faults[name] = f"The sender of flow {name} does not come up: {said}."
        tries = self._tries[name] = self._tries.get(name, 0) + 1
        at_s = now_s + 0.1 * tries
        if tries <= _TRIES and at_s < flow["stop_s"]:
            self._plan(at_s, partial(self._send, flow, at_s))

    def _send(self, flow: Sender, now_s: float) -> None:
        self._begun[flow["name"]] = now_s
        process = self._run(flow["source"], self._command(flow), f"{flow['name']}.sender")
        self._senders.append((flow, process))

    def _command(self, flow: Sender) -> list[str]:
        if transferred(flow):
            address, port = self._addresses[flow["destination"]], str(flow["port"])
            return [*_TRANSFER, "send", address, port, str(flow["size"]), str(flow["tcp"]), str(flow["length"])]
        command = ["iperf3", "-c", self._addresses[flow["destination"]], "-p", str(flow["port"])]
        if flow["tcp"] is not None:
            command += ["-C", flow["tcp"], "-M", str(flow["length"])]
        else:
            command += ["-u", "-l", str(flow["length"])]
        # Frames at even distances: iperf3 otherwise sends once in a millisecond.
        command += ["-b", str(flow["rate_bps"] or 0), "--pacing-timer", "100"]
        if flow["size"] is not None:
            command += ["-n", str(flow["size"])]
        else:
            # It is stopped from here; by itself it would first ask its receiver for figures, over the network.
            command += ["-t", "86400"]
        return command

    def _program(self, program: Program) -> None:
        command = program["command"]
        for name, address in self._addresses.items():
            command = command.replace(f"{{{name}}}", address)
        number = len(self._programs)
        process = self._run(program["host"], shlex.split(command), f"application-{number}")
        self._programs.append((program, process))

    def _run(self, host: str, command: list[str], name: str) -> "subprocess.Popen[bytes]":
        inside = [*_DIES_WITH_US, "ip", "netns", "exec", self._fabric.namespace(host), *command]
        with (self._folder / f"{name}.txt").open("wb") as said:
            process = subprocess.Popen(
                inside, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
            )
        self._all.append(process)
        self._state.processes.append((process.pid, started(process.pid) or 0))
        return process

    def faults(self) -> list[str]:
        """Return what went wrong, in sentences."""
        for flow, process in self._senders:
            if process.poll() not in (None, 0):
                self._again(flow, self._now)
        found = [self._faults[name] for name in sorted(self._faults)]
        for number, (program, process) in enumerate(self._programs):
            if process.poll() not in (None, 0):
                said = self._said(f"application-{number}")
                found.append(f"{program['command']!r} in {program['host']} failed: {said}.")
        return found

    def end(self) -> None:
        """End all."""
        for process in self._all:
            _terminate(process)

    def _said(self, name: str) -> str:
        text = (self._folder / f"{name}.txt").read_text(errors="replace").strip()
        return text.splitlines()[-1].rstrip(".") if text else "it says nothing"


def transferred(flow: Sender) -> bool:
    """Return whether a flow is TCP with a size, which iperf3 does not complete."""
    return flow["tcp"] is not None and flow["size"] is not None


def _terminate(process: "subprocess.Popen[bytes]") -> None:
    if _ended(process, 0):
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGTERM)
    if not _ended(process, _END_S / 5):
        _kill(process)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    _ended(process, inf)


def _ended(process: "subprocess.Popen[bytes]", within_s: float) -> bool:
    """Return whether a process has ended, or does so within a time, s.

    A Ctrl-C within ``Popen.poll`` may leave its lock taken, and ``Popen.wait`` would wait for it for ever.
    """
    limit = time.monotonic() + within_s
    try:
        while not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if time.monotonic() >= limit:
                return False
            time.sleep(_LOOK_S)
    except ChildProcessError:
        # Its status was read before.
        pass
    process.poll()
    return True
