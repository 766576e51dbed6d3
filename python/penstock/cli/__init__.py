"""The command line.

Each command is a thin layer over the Python API. Heavy modules (the engine, NumPy, matplotlib, rich) are imported
inside the commands, so that `penstock --help` answers at once.

Exit status:

- 0: done.
- 1: the machine failed (a full disk), or a figure could not be drawn (all else is written). Or a run broke a claim of
  its scenario, that no frame is lost or that its scheme acts (its results are written).
- 2: the input is wrong, and nothing was written.
- 130: interrupted; 143: terminated.
"""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import completion, device_requests, options, pages, requests
from penstock.cli.artifact import app as artifact
from penstock.cli.dcb import app as dcb
from penstock.cli.failure import Commands
from penstock.cli.testbed import app as testbed
from penstock.cli.theory import app as theory
from penstock.cli.wire import app as wire

app = typer.Typer(
    name="penstock",
    cls=Commands,
    help="A workbench for congestion management in data-center Ethernet.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Help in plain text: rich's needs a Markdown reader, and that alone takes as long as everything else together.
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        from penstock import __version__

        typer.echo(f"penstock {__version__}")
        raise typer.Exit


@app.callback()
def penstock(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """A workbench for congestion management in data-center Ethernet."""


@app.command(short_help="Run a scenario with one scheme.")
@pages.draws
@options.grouped
def run(given: requests.RunOptions) -> None:
    """Run a scenario: print its summary, write its records and figures into a folder."""
    from penstock.cli.run import run_one

    run_one(given)


@app.command(short_help="Compare scenarios and schemes.")
@pages.draws
@options.grouped
def compare(given: requests.CompareOptions) -> None:
    """Run scenarios with several schemes on all cores: one table and one figure, side by side."""
    from penstock.cli.compare import compare_all

    compare_all(given)


@app.command(short_help="Run a scenario over values of its keys, schemes and seeds.")
@options.grouped
def sweep(given: requests.SweepOptions) -> None:
    """Run a scenario with every combination of values, schemes and seeds, on all cores, into a store of Parquet.

    Each run is kept when it has finished: after Ctrl-C, a kill or a full disk, --resume goes on. `penstock query` and
    `penstock plot` read the store.
    """
    from penstock.cli.sweep import sweep_all

    sweep_all(given)


@app.command(short_help="Compare all schemes on a set of workloads, and rank them in a report.")
@options.grouped
def arena(given: requests.ArenaOptions) -> None:
    """Run every workload with every scheme, on all cores, and write one report: ranks, a page for each of them.

    Each run is kept when it has finished: after Ctrl-C, a kill or a full disk, --resume goes on. It adds more seeds,
    workloads or competitors, too.
    """
    from penstock.cli.arena import arena_any

    arena_any(given)


@app.command(short_help="Check a scheme of your own: does it keep the rules of the contract?")
def conform(
    location: Annotated[
        str, typer.Argument(metavar="LOCATION", help="A library or a class, such as ./libmine.so or my.py:MyScheme.")
    ],
) -> None:
    """Call a scheme of a file in random sequences, which are the same each time, and check each answer.

    Status 1 if it breaks a rule: the message has the rule and a short sequence of calls that breaks it.
    """
    from penstock.cli.conform import conform_one

    conform_one(location)


@app.command(short_help="Query a sweep's results with SQL.")
def query(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", autocompletion=completion.folder, help="The results folder of a sweep.")
    ],
    sql: Annotated[
        str | None,
        typer.Argument(metavar="SQL", help="A query, such as 'select * from runs'.  [default: list the tables]"),
    ] = None,
    json: Annotated[bool, options.JSON] = False,
) -> None:
    """Query a sweep's tables with SQL (DuckDB) and print CSV; without a query, list tables and columns."""
    from penstock.cli.query import print_answer

    print_answer(folder, sql, json=json)


@app.command(short_help="Reproduce the papers: compare their claims with measurements.")
@options.grouped
def reproduce(given: requests.ReproduceOptions) -> None:
    """Run a paper's experiments: draw its figures, and judge each of its claims.

    That a claim differs is a result, and no failure. A paper's folder may hold Python, metrics.py and figures.py, which
    is run with all your rights: reproduce only papers whose code you have read or trust. --list runs none of it.

    With --search, readings are fitted on one half of the figures and judged on the other, and the halves exchanged.
    Ctrl-C keeps what has run, and the same command goes on.
    """
    from penstock.cli.reproduce import reproduce_any

    reproduce_any(given)


@app.command(short_help="Propose parameters: theory narrows, simulation confirms.")
@options.grouped
def tune(given: requests.TuneOptions) -> None:
    """Propose parameters for a scenario, and judge them on seeds that the search did not use.

    Fluid models say where to look, simulations find the best there on all cores, and others judge it.
    """
    from penstock.cli.tune import tune_one

    tune_one(given)


@app.command(short_help="Run scenarios in a browser, with controls and live plots.")
def lab(
    scenario: Annotated[
        str | None,
        typer.Argument(
            metavar="SCENARIO",
            autocompletion=completion.scenario,
            help="The scenario that it opens: a file, or a name that `penstock scenarios` lists.  [default: its first]",
        ),
    ] = None,
    sets: Annotated[list[str] | None, options.SETS] = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, metavar="N", help="The port; 0 for a free one.")] = 0,
    browser: Annotated[bool, typer.Option(" /--no-browser", show_default=False, help="Open no browser.")] = True,
) -> None:
    """Serve the laboratory on this machine only, and open it in a browser, until Ctrl-C.

    The page runs scenarios with the engine of `penstock run`, and sends nothing anywhere.
    """
    from penstock.cli.lab import serve

    serve(scenario, sets=sets or [], port=port, browser=browser)


@app.command("schemes", short_help="List the schemes, or one with its parameters.")
def list_schemes(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", autocompletion=completion.scheme, help="One scheme, with its parameters and profiles."
        ),
    ] = None,
    parameter: Annotated[
        str | None,
        typer.Argument(metavar="PARAMETER", help="One of its parameters: meaning, range, source, values of profiles."),
    ] = None,
    json: Annotated[bool, options.JSON] = False,
) -> None:
    """List the schemes, or one scheme's parameters and profiles, or one parameter."""
    from penstock.cli.listing import show_schemes

    show_schemes(name, parameter, json=json)


@app.command("scenarios", short_help="List scenario files and their questions.")
def list_scenarios(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", help="Where to look.  [default: ./scenarios, and those of Penstock]"),
    ] = None,
    json: Annotated[bool, options.JSON] = False,
) -> None:
    """List scenario files with the question that each answers: yours, and those that come with Penstock."""
    from penstock.cli.listing import show_scenarios

    show_scenarios(folder, json=json)


@app.command("schema", short_help="Explain the keys of a scenario file.")
def show_schema(
    section: Annotated[
        str | None,
        typer.Argument(
            metavar="SECTION",
            autocompletion=completion.section,
            help="One section, such as flow, topology.star or schemes.qcn.  [default: all]",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON Schema on standard output, for editors.")] = False,
) -> None:
    """Explain the keys of a scenario file; with --json, print their JSON Schema."""
    from penstock.cli.listing import show_keys

    show_keys(section, json=json)


@app.command("new", short_help="Write a scenario to start from.")
@options.grouped
def new_scenario(given: requests.NewOptions) -> None:
    """Write a scenario that runs as it is, with a comment for each key of its sections.

    With --fabric: leaves and spines with cables, chips, priority flow control and a load.
    """
    from penstock.cli.new import write_new

    write_new(given)


@app.command("show", short_help="Show a scenario's network: ports, headroom, memory, a picture.")
def show_network(
    scenario: Annotated[str, options.SCENARIO],
    sets: Annotated[list[str] | None, options.SETS] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The picture.  [default: results/SCENARIO-fabric.svg]")
    ] = None,
    json: Annotated[bool, options.JSON] = False,
    no_figures: Annotated[bool, typer.Option("--no-figures", help="Draw nothing.")] = False,
    limit: Annotated[int, options.LIMIT] = 1,
) -> None:
    """Show what a scenario's network is built of, without a run.

    Prints the ports with rate, cable, pause thresholds and headroom, those that are alike in one line; the memory of
    switches; and the notes of the plan.
    """
    from penstock.cli.show import show

    show(scenario, sets or [], out=out, json=json, figure=not (no_figures or json), limit=limit)


@app.command("headroom", short_help="Headroom of a fabric's ports: the exact need, vendors' formulas, a table.")
@options.grouped
def headroom_of(given: device_requests.HeadroomOptions) -> None:
    """Compare the exact headroom of each kind of port with 802.1Q annex O, vendors' formulas and a table of SONiC.

    The need is the simulator's, exact to the octet and the cell; with --prove, an attacker finds it by search. Without
    a fabric, each row of --table is judged.
    """
    from penstock.cli.headroom import headroom

    headroom(given)


@app.command("what-if", short_help="Ask what incasts, storms, broken links do to a fabric, now and as proposed.")
@options.grouped
def what_if_of(given: device_requests.WhatIfOptions) -> None:
    """Try a fabric with its present settings and with proposed ones: each trial has an answer with a number.

    Trials: an incast, a storm of pauses, a link down or degraded, a slow receiver, a victim of an incast, and a search
    of all routes for deadlocks. --set and --proposed give the proposed settings. The scenario of each trial is kept.
    """
    from penstock.cli.what_if import what_if_of

    what_if_of(given)


@app.command("plot", short_help="Draw a figure of a results folder, in any size.")
@options.grouped
def plot_results(given: requests.PlotOptions) -> None:
    """Draw a figure of an earlier run, comparison or sweep, with a size and type that suit a paper.

    Without --width and --font-size, a matplotlibrc in this folder or one's own says how large both are.
    """
    from penstock.cli.plot import plot_folder

    plot_folder(given)


@app.command("table", short_help="Print a table: of a run as CSV, of several runs for a paper.")
def print_columns(
    folder: Annotated[Path, typer.Argument(metavar="DIR", autocompletion=completion.folder, help="A results folder.")],
    table: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", autocompletion=completion.table, help="queues, rates, signals, flows, …"),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Argument(metavar="COLUMN…", autocompletion=completion.column, help="Its columns.  [default: all]"),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[,NAME…]",
            autocompletion=completion.metric,
            help="Of a comparison, sweep or arena: means over seeds with 95 % intervals of these metrics.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN[,COLUMN…]",
            help="The columns whose values make a row.  [default: label; varied keys and scheme; workload and scheme]",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE", help="Mark differences from this row, such as none: * 95 %, ** 99 %, *** 99.9 %."
        ),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", metavar="NAME", help="latex, markdown or csv.", show_default=True)
    ] = "markdown",
) -> None:
    """Print a table of a run as CSV, or means over seeds for a paper; without a table, list the tables."""
    from penstock.cli.table import print_means, print_table

    if metrics is not None:
        print_means(folder, metrics.split(","), by.split(",") if by else [], against, form)
    else:
        print_table(folder, table, columns or [])


@app.command("import", short_help="Import another simulator's files as a scenario.")
@options.grouped
def import_scenario(given: requests.ImportOptions) -> None:
    """Make a scenario of the files of HPCC's simulator and its kin, or of htsim.

    A feature beyond scenarios is refused with file, line and reason; a fact that the files lack is noted.
    """
    from penstock.cli.exchange import import_one

    import_one(given)


@app.command("export", short_help="Export a scenario as files of other simulators, or as configurations of devices.")
@options.grouped
def export_scenario(given: requests.ExportOptions) -> None:
    """Write a scenario as files of HPCC's simulator or of htsim: network and flows.

    A setting that these files cannot express is refused with key and reason, before anything is written.

    Or write the configuration of each switch (sonic, nvue, eos, nxos, junos) or host (mlnx_qos, dcb): pools, headroom,
    PFC, ECN, classes. The reason of each value stands beside it; a setting that a device cannot have is named.

    Or, without --to, write jobs as GOAL or Chakra: from a scenario with [[collective]] or [[job]], or from job files.
    """
    from penstock.cli.exchange import export_one

    export_one(given)


@app.command("check", short_help="Check a device's configuration: syntax, references, limits, sums, meaning.")
@options.grouped
def check_configuration(given: device_requests.CheckOptions) -> None:
    """Check the configuration of a switch or host, line by line: what is wrong, and what to write instead.

    Reads config_db.json of SONiC, nv set of NVUE, EOS, NX-OS, set commands of Junos, and mlnx_qos and dcb. Status 1 if
    an error is found.
    """
    from penstock.cli.check import check_one

    check_one(given)


app.add_typer(artifact, name="artifact", short_help="Results folders as one archive that anybody can repeat.")
app.add_typer(testbed, name="testbed", short_help="Run a scenario with real frames and applications, on Linux.")
app.add_typer(theory, name="theory", short_help="Fluid models of a scenario: stability, sliding mode, phase plane.")
app.add_typer(dcb, name="dcb", short_help="Congestion notification domains: managed objects, devices, plans.")
app.add_typer(wire, name="wire", short_help="Frames as octets: decode, encode, count in captures, show in Wireshark.")
