"""The work of `penstock testbed run` and `up`."""

from pathlib import Path

import typer

from penstock import interrupts
from penstock.cli.failure import FAILED, INTERRUPTED, say
from penstock.cli.locate import RESULTS, find
from penstock.cli.options import words
from penstock.cli.requests import TestbedOptions
from penstock.declared import Outline
from penstock.quantity_text import duration
from penstock.result import Result
from penstock.scenario import Scenario
from penstock.terminal import printable_json


def _laid_out(given: TestbedOptions) -> tuple[Scenario, Outline, Path]:
    """Return the scenario, its outline, and the results folder."""
    found = find(given.scenario, given.sets)
    plan = found.outline(scheme=given.scheme, profile=given.profile, seed=given.seed)
    folder = given.out or RESULTS / f"{plan['name']}-{given.scheme or plan['scheme']}-testbed"
    return found, plan, folder


def run_one(given: TestbedOptions, *, keep: Path | None, pcap: str | None, force: bool, json: bool, quiet: bool) -> int:
    """Run with applications; return the exit status."""
    from penstock.testbed import run

    scenario, plan, folder = _laid_out(given)
    ports = words(pcap)
    interrupts.writes(folder)
    with interrupts.on_interrupt():
        result = run(
            scenario,
            scheme=given.scheme,
            profile=given.profile,
            seed=given.seed,
            out=folder,
            force=force,
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


def run_network(given: TestbedOptions, *, force: bool) -> None:
    """Run without applications."""
    from penstock.testbed import up

    scenario, _, folder = _laid_out(given)

    def tell(hosts: dict[str, str]) -> None:
        for host, namespace in hosts.items():
            say(f"{host}: ip netns exec {namespace} COMMAND")
        say("the network runs; Ctrl-C ends it")

    interrupts.writes(folder)
    with interrupts.on_interrupt():
        result = up(
            scenario,
            scheme=given.scheme,
            profile=given.profile,
            seed=given.seed,
            out=folder,
            force=force,
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
