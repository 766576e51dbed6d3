"""The command line as a process, without the second that a new process takes to load Python, NumPy and matplotlib.

A server loads them once and forks for each command. The child has the standard streams, the folder, the environment and
the exit status of a process that `python -m penstock` begins. Tests of the start itself (signals while Penstock loads,
imports, closed streams, a full disk) start a process and do not come here.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LOADED = (
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.pyplot",
    "penstock.cli",
    "penstock.cli.compare",
    "penstock.cli.report",
    "penstock.cli.reproduce",
    "penstock.cli.run",
    "penstock.cli.sweep",
    "penstock.figures",
)
"""The modules that commands need and that take long to load; they start no threads."""


class Commands:
    """A server, which begins with the first command, and its side of the conversation."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None

    def run(self, arguments: list[str], cwd: Path, timeout_s: float) -> "subprocess.CompletedProcess[str]":
        """Run a command in a folder to its end, as ``subprocess.run`` does."""
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        server = self._server
        assert server.stdin is not None and server.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            streams = [Path(folder, name) for name in ("stdout", "stderr")]
            wanted = {
                "arguments": arguments,
                "cwd": str(cwd),
                "streams": list(map(str, streams)),
                "env": {**os.environ},
            }
            server.stdin.write(json.dumps(wanted) + "\n")
            server.stdin.flush()
            if not select.select([server.stdout], [], [], timeout_s)[0]:
                self.close()
                raise subprocess.TimeoutExpired(["penstock", *arguments], timeout_s)
            answer = server.stdout.readline()
            assert answer, f"the server of commands ended: {server.wait()}"
            out, err = (stream.read_text(encoding="utf-8") for stream in streams)
        return subprocess.CompletedProcess(["penstock", *arguments], json.loads(answer), out, err)

    def close(self) -> None:
        """End the server and a command that it may be waiting for."""
        if self._server is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._server.pid, signal.SIGKILL)
            self._server.communicate()
            self._server = None


def _command(wanted: dict[str, Any]) -> None:
    """Be the process of a command, from `python -m penstock` on."""
    for number, name in enumerate((os.devnull, *wanted["streams"])):
        file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(file, number)
        os.close(file)
    os.chdir(wanted["cwd"])
    os.environ.clear()
    os.environ.update(wanted["env"])
    from penstock import __main__ as program

    sys.modules["__main__"] = program
    sys.argv = [program.__file__, *wanted["arguments"]]
    # `-m` looks in the folder first, for a module that a test has put there.
    sys.path[0] = wanted["cwd"]
    program.main()


def _serve() -> None:
    """Fork for each line of standard input, and answer with the exit status of the child."""
    for name in LOADED:
        __import__(name)
    answers = os.fdopen(os.dup(1), "w")
    questions = os.fdopen(os.dup(0))
    for line in questions:
        child = os.fork()
        if not child:
            try:
                answers.close()
                questions.close()
                _command(json.loads(line))
            finally:
                os._exit(70)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        answers.write(f"{status}\n")
        answers.flush()


if __name__ == "__main__":
    _serve()
