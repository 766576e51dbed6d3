"""The page of commands: the help of each, and what an example of it prints, which is run when the page is made."""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import typer
from penstock.cli import app
from typer.testing import CliRunner

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 18
"""Lines of an output that are shown; `…` stands for the others."""

EXAMPLES: dict[str, str] = {
    "new": "penstock new rack --fabric --leaves 2 --spines 2 --hosts 4",
    "run": "penstock run baseline/ten-gig --no-figures --out first",
    "compare": "penstock compare baseline/ten-gig --schemes dcqcn,hpcc --out compared",
    "sweep": 'penstock sweep baseline/ten-gig --set "warmup=50 ms" --vary "schemes.qcn.q_eq=20 KB,33 KB" --out swept',
    "arena": "penstock arena --list",
    "conform": "penstock conform examples/foreign/aimd.py:Aimd",
    "query": 'penstock query swept "select q_eq_octets, queue_mean_octets from runs order by all"',
    "reproduce": "penstock reproduce netfpga --list",
    "schemes": "penstock schemes dcqcn k_min",
    "scenarios": "penstock scenarios",
    "schema": "penstock schema buffer",
    "show": "penstock show rack.toml --no-figures",
    "headroom": "penstock headroom rack.toml",
    "what-if": "penstock what-if rack.toml --incast 4 --seeds 1 --out asked",
    "plot": "penstock plot first --show queue --width 3.3in --out queue.svg",
    "table": "penstock table first flows",
    "export": "penstock export rack.toml out --to sonic",
    "import": "penstock import files/topology.txt files/flow.txt -o back.toml",
    "check": "penstock check out/leaf0.config_db.json --fabric rack.toml",
    "artifact write": "penstock artifact write first --out first.zip",
    "artifact check": "penstock artifact check first.zip",
    "theory margin": "penstock theory margin baseline/ten-gig",
    "theory table": "penstock theory table --out margins.svg",
    "theory map": "penstock theory map baseline/ten-gig --scheme bcn --x flows=1..40:8 --y delay=20us..400us:8",
    "theory sliding": "penstock theory sliding theory/figure-5",
    "theory phase": "penstock theory phase theory/figure-5 --at 1 --target 550e6 --out plane.svg",
    "theory figures": "penstock theory figures 2 --out figure-2.svg",
    "theory overlay": "penstock theory overlay sliding-mode/three-sources --set 'duration=0.3 s' --set 'warmup=0.1 s'",
    "dcb plan": "penstock dcb plan baseline/ten-gig",
    "wire formats": "penstock wire formats",
    "wire encode": "penstock wire encode pause pause_time=65535 --out pause.pcap",
    "wire decode": "penstock wire decode pause.pcap",
    "wire stats": "penstock wire stats storm/capture.pcapng --storm 1ms",
}
"""An example of each command that has one, in the order in which they run: later ones read what earlier ones wrote."""

BEFORE = {
    "import": "penstock export incast/roce-sixteen files --to hpcc",
    "wire stats": "penstock run faults/pfc-storm --no-figures --pcap 'h8->leaf1' --out storm",
}
"""What an example needs besides."""

WITHOUT = {
    "lab": "opens a browser",
    "tune": "searches for minutes; [Tune parameters](../how-to/tune-parameters.md) shows what it prints",
    "testbed run": "runs in real time; [Run a scenario on the testbed](../how-to/run-the-testbed.md) shows it",
    "testbed up": "changes this machine's network",
    "testbed down": "changes this machine's network",
    "dcb show": "reads the network cards of this machine",
    "dcb set": "changes the network cards of this machine",
    "wire install-dissector": "writes into Wireshark's folder of the reader",
}
"""Commands without an example, and why."""


def commands() -> str:
    """The help of every command, as the command prints it, with an example of it and its output."""
    printed = examples()
    parts = []
    for words in ([], *named(app)):
        name = " ".join(words)
        parts += [f"## {' '.join(['penstock', *words])}", f"```text\n{help_of(words)}\n```"]
        if name in printed:
            parts.append(
                f"An example, as this page's build ran it:\n\n```console\n$ {EXAMPLES[name]}\n{printed[name]}\n```"
            )
        elif name in WITHOUT:
            parts.append(f"*No example: it {WITHOUT[name]}.*")
    return "\n\n".join(parts)


def examples() -> dict[str, str]:
    """Run the examples in an empty folder, and return what each prints, cut to some lines.

    Raises:
        CalledProcessError: a command failed.
    """
    printed = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("examples", "papers"):
            Path(folder, name).symlink_to(ROOT / name)
        for name, command in EXAMPLES.items():
            if name in BEFORE:
                typed(BEFORE[name], folder)
            printed[name] = cut(typed(command, folder))
    return printed


def typed(command: str, folder: str) -> str:
    """Run a command in a folder, and return what it prints."""
    words = [sys.executable, "-m", *shlex.split(command)]
    # What is shown is that of a terminal; the folder's name says nothing to a reader.
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    return (done.stdout + done.stderr).replace(folder, ".")


def cut(text: str) -> str:
    """The first lines of an output, without blanks at their ends."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return "\n".join(lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], "…"])


def named(commands: typer.Typer, before: Sequence[str] = ()) -> Iterable[list[str]]:
    """Return the words of each command, those of groups included."""
    for command in commands.registered_commands:
        if command.callback:
            yield [*before, command.name or command.callback.__name__]
    for group in commands.registered_groups:
        inner = [*before, str(group.name)]
        yield inner
        if group.typer_instance:
            yield from named(group.typer_instance, inner)


def help_of(arguments: list[str]) -> str:
    """Return the text that `penstock ARGUMENTS --help` prints."""
    # As on a terminal of 80 columns.
    done = CliRunner().invoke(
        app, [*arguments, "--help"], prog_name="penstock", terminal_width=78, catch_exceptions=False
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())
