"""The work of `penstock testbed run` and `up`."""

from dataclasses import dataclass
from pathlib import Path

import typer

from penstock import interrupts
from penstock.cli.failure import FAILED, INTERRUPTED, say
from penstock.cli.locate import RESULTS, find
from penstock.declared import Outline
from penstock.quantity_text import duration
from penstock.result import Result
from penstock.scenario import Scenario
from penstock.terminal import printable_json


@dataclass(frozen=True)
class Request:
    """The options that both have."""

    sets: list[str]
    scheme: str | None
    profile: str | None
    seed: int | None
    out: Path | None
    force: bool

    def scenario(self, name: str) -> tuple[Scenario, Outline, Path]:
        """Return the scenario, its outline, and the results folder."""
        found = find(name, self.sets)
        plan = found.outline(scheme=self.scheme, profile=self.profile, seed=self.seed)
        folder = self.out or RESULTS / f"{plan['name']}-{self.scheme or plan['scheme']}-testbed"
        return found, plan, folder


def run_one(request: Request, name: str, *, keep: Path | None, pcap: str | None, json: bool, quiet: bool) -> int:
    """Run with applications; return the exit status."""
    from penstock.testbed import run

    scenario, plan, folder = request.scenario(name)
    ports = [port.strip() for port in pcap.split(",")] if pcap is not None else []
    interrupts.writes(folder)
    with interrupts.on_interrupt():
        result = run(
            scenario,
            scheme=request.scheme,
            profile=request.profile,
            seed=request.seed,
            out=folder,
            force=request.force,
            keep=keep,
            pcap=ports,
        )
    if json:
        typer.echo(printable_json(result.summary_json), nl=False)
    elif not quiet:
        from penstock.cli.report import print_run

        print_run(result, plan, folder, [])
        if ports:
            typer.echo(f"frames of {', '.join(ports)} in {folder / 'capture.pcapng'}")
    return _judged(result, folder, quiet=quiet)


def run_network(request: Request, name: str) -> None:
    """Run without applications."""
    from penstock.testbed import up

    scenario, _, folder = request.scenario(name)

    def tell(hosts: dict[str, str]) -> None:
        for host, namespace in hosts.items():
            say(f"{host}: ip netns exec {namespace} COMMAND")
        say("the network runs; Ctrl-C ends it")

    interrupts.writes(folder)
    with interrupts.on_interrupt():
        result = up(
            scenario,
            scheme=request.scheme,
            profile=request.profile,
            seed=request.seed,
            out=folder,
            force=request.force,
            on_running=tell,
        )
    _judged(result, folder, quiet=False)


def _judged(result: Result, folder: Path, *, quiet: bool) -> int:
    """Say how late the run was, and whether its figures may be used."""
    testbed = result.summary["testbed"]
    if not quiet:
        late, worst = duration(testbed["lateness_p99_s"]), duration(testbed["lateness_max_s"])
        say(f"lateness: 99 % of the frames at most {late}, the worst {worst}")
    if result.interrupted:
        say(f"interrupted; the records up to then are in {folder}")
        return INTERRUPTED
    if not testbed["valid"]:
        say("this run is invalid: its figures must not be used")
        for fault in testbed["faults"]:
            say(f"  {fault}")
        return FAILED
    return 0
