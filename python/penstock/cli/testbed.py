"""`penstock testbed`: real frames and applications. Each command is a thin layer over `penstock.testbed`."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import completion, options, pages, requests
from penstock.cli.failure import Commands, say

app = typer.Typer(
    name="testbed",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def testbed() -> None:
    """A scenario with real frames and applications, on Linux."""
    from penstock.testbed.errors import need_linux

    need_linux()


@app.command("run", short_help="Run a scenario with its applications.")
@pages.draws
@options.grouped
def run_testbed(
    given: requests.TestbedOptions,
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the outputs of applications and processes.")
    ] = None,
    pcap: Annotated[
        str | None,
        typer.Option(
            metavar="PORTS",
            autocompletion=completion.ports,
            help="Capture the frames of these ports, such as 'sw0->h4,sw0->h0', into capture.pcapng of the folder.",
        ),
    ] = None,
    force: Annotated[bool, options.FORCE] = False,
    json: Annotated[bool, options.JSON] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Make namespaces and wires, start a process for each node and the applications, and write results as `run` does.

    It needs the right to make network namespaces, which root has. A run that was late is marked invalid, and ends with
    status 1: its results are written all the same.
    """
    from penstock.cli.testbed_runs import run_one

    status = run_one(given, keep=keep, pcap=pcap, force=force, json=json, quiet=quiet)
    if status:
        raise typer.Exit(status)


@app.command("up", short_help="Run a scenario's network, for your applications.")
@options.grouped
def up_testbed(
    given: requests.TestbedOptions,
    force: Annotated[bool, options.FORCE] = False,
) -> None:
    """Run the network until the scenario's end or Ctrl-C, and say how to start programs in its hosts.

    Their packets to UDP or TCP port 5201 of a flow's destination are the first flow's, to 5202 the second's.
    """
    from penstock.cli.testbed_runs import run_network

    run_network(given, force=force)


@app.command("down", short_help="End testbeds, and remove the remains of one.")
def down_testbed(
    scenario: Annotated[str | None, typer.Argument(metavar="[SCENARIO]", help="Its name; all without it.")] = None,
) -> None:
    """End running testbeds, and remove namespaces and processes of those that were killed."""
    from penstock.testbed import down

    ended = down(None if scenario is None else Path(scenario).name.removesuffix(".toml"))
    for prefix in ended:
        say(f"ended {prefix}")
    if not ended:
        say("no testbed runs, and none has left anything")
