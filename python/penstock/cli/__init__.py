"""The command line.

Each command is a thin layer over the Python API. Heavy modules (the engine, NumPy, matplotlib, rich) are imported
inside the commands, so that `penstock --help` answers at once.

Exit status: 0 done; 1 the machine failed (a full disk), or a run broke a claim of its scenario, that no frame is lost
or that its scheme acts (and its results are written), or a figure could not be drawn (all else is written); 2 the input
is wrong, and nothing was written; 130 interrupted, 143 terminated.
"""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import completion, convert, options, pages
from penstock.cli.arena import arena
from penstock.cli.bounds import MOST_SEEDS, MOST_TRIALS
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
def run(
    scenario: Annotated[str, options.SCENARIO],
    scheme: Annotated[
        str | None, typer.Option(metavar="NAME", autocompletion=completion.scheme, help="The scheme to run.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", autocompletion=completion.profile, help="The scheme's named settings.")
    ] = None,
    sets: Annotated[list[str] | None, options.SETS] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=options.LARGEST_SEED, metavar="N", help="Seed of all random streams.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The results folder.  [default: results/SCENARIO-SCHEME-seedN]"),
    ] = None,
    force: Annotated[bool, options.FORCE] = False,
    json: Annotated[bool, options.JSON] = False,
    quiet: Annotated[bool, options.QUIET] = False,
    no_figures: Annotated[bool, typer.Option("--no-figures", help="Write no figures.")] = False,
    pcap: Annotated[
        str | None,
        typer.Option(
            metavar="PORTS",
            autocompletion=completion.ports,
            help="Capture every frame of these ports, such as 'sw0->h4,sw0->h0', into capture.pcapng of the folder.",
        ),
    ] = None,
    threads: Annotated[
        str,
        typer.Option(
            metavar="N|auto",
            autocompletion=completion.threads,
            help="Number of threads, or auto. The result is identical.",
        ),
    ] = "1",
    limit: Annotated[int, options.LIMIT] = 1,
) -> None:
    """Run a scenario: print its summary, write its records and figures into a folder."""
    from penstock.cli.run import Request, run_one

    request = Request(sets=sets or [], profile=profile, out=out, force=force, json=json, quiet=quiet, limit=limit)
    run_one(request, scenario, scheme=scheme, seed=seed, figures=not no_figures, pcap=pcap, threads=threads)


@app.command(short_help="Compare scenarios and schemes.")
@pages.draws
def compare(
    scenarios: Annotated[
        list[str],
        typer.Argument(
            metavar="SCENARIO…",
            autocompletion=completion.scenario,
            help="Scenario files, or names that `penstock scenarios` lists; or results folders of finished runs.",
        ),
    ],
    schemes: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            autocompletion=completion.schemes,
            help="The schemes to compare, separated by commas.  [default: each scenario's own]",
        ),
    ] = None,
    variants: Annotated[list[str] | None, options.VARIANTS] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY=A,B,C|KEY=A..B:N[:log]",
            autocompletion=completion.key,
            help="Compare at each of these values of a key. Repeatable: at every combination.",
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST_SEEDS,
            metavar="N",
            help="Number of seeds, from the scenario's on; gives mean and spread.",
        ),
    ] = 1,
    queue: Annotated[
        str | None,
        typer.Option(
            metavar="NODE->NODE",
            autocompletion=completion.queue,
            help="The queue to compare.  [default: the longest in every run]",
        ),
    ] = None,
    profile: Annotated[str | None, options.PROFILE] = None,
    sets: Annotated[list[str] | None, options.SETS] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The output folder.  [default: results/SCENARIO-compare]")
    ] = None,
    force: Annotated[bool, options.FORCE] = False,
    resume: Annotated[bool, options.RESUME_COMPARISON] = False,
    json: Annotated[bool, options.JSON] = False,
    quiet: Annotated[bool, options.QUIET] = False,
    limit: Annotated[int, options.LIMIT] = 1,
    ray: Annotated[str | None, options.RAY] = None,
) -> None:
    """Run scenarios with several schemes on all cores: one table and one figure, side by side."""
    from penstock.cli.compare import Lines, run_all
    from penstock.cli.run import Request

    request = Request(sets=sets or [], profile=profile, out=out, force=force, json=json, quiet=quiet, limit=limit)
    names = options.words(schemes)
    lines = Lines(schemes=names, variants=variants or [], vary=vary or [], seeds=seeds, queue=queue, resume=resume)
    run_all(request, scenarios, lines, ray=ray)


@app.command(short_help="Run a scenario over values of its keys, schemes and seeds.")
def sweep(
    what: Annotated[
        str,
        typer.Argument(
            metavar="SWEEP.toml|SCENARIO",
            autocompletion=completion.scenario,
            help="A sweep file; or a scenario file or name, with --vary.",
        ),
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY=A,B,C|KEY=A..B:N[:log]",
            autocompletion=completion.key,
            help="Values of a key. Repeatable: every combination runs. With ; between, keys change together.",
        ),
    ] = None,
    schemes: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            autocompletion=completion.schemes,
            help="The schemes, separated by commas.  [default: the scenario's own]",
        ),
    ] = None,
    variants: Annotated[list[str] | None, options.VARIANTS] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_SEEDS, metavar="N", help="Number of seeds, from the scenario's on."),
    ] = None,
    profile: Annotated[str | None, options.PROFILE] = None,
    queue: Annotated[
        str | None,
        typer.Option(
            metavar="NODE->NODE",
            autocompletion=completion.queue,
            help="The queue to measure.  [default: the longest of each]",
        ),
    ] = None,
    sets: Annotated[list[str] | None, options.SETS] = None,
    series: Annotated[bool, typer.Option("--series", help="Keep the time series of every run.")] = False,
    limit: Annotated[int, options.LIMIT] = 1,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="The store.  [default: results/NAME-sweep]")
    ] = None,
    resume: Annotated[bool, options.RESUME] = False,
    jobs: Annotated[int | None, options.JOBS] = None,
    ray: Annotated[str | None, options.RAY] = None,
    json: Annotated[bool, options.JSON] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Run a scenario with every combination of values, schemes and seeds, on all cores, into a store of Parquet.

    Each run is kept when it has finished: after Ctrl-C, a kill or a full disk, --resume goes on. `penstock query` and
    `penstock plot` read the store.
    """
    from penstock.cli.sweep import Asked, sweep_all

    asked = Asked(
        vary=vary or [],
        schemes=options.words(schemes),
        variants=variants or [],
        seeds=seeds,
        profile=profile,
        queue=queue,
        sets=sets or [],
        series=series,
        limit=limit,
    )
    sweep_all(what, asked, out=out, resume=resume, workers=jobs, ray=ray, json=json, quiet=quiet)


app.command(short_help="Compare all schemes on a set of workloads, and rank them in a report.")(arena)


@app.command(short_help="Query a sweep's results with SQL.")
def query(
    folder: Annotated[Path, typer.Argument(metavar="DIR", autocompletion=completion.folder, help="A folder of sweep.")],
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
def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(metavar="PAPER", help="A paper's name below ./papers, or its folder.  [default: all]"),
    ] = None,
    figure: Annotated[
        str | None, typer.Argument(metavar="FIGURE", help="One of its figures or tables, such as figure-4.")
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List papers and figures; run nothing.")] = False,
    short: Annotated[
        bool, typer.Option("--short", help="One seed each; only the claims that one seed can decide.")
    ] = False,
    controls: Annotated[
        bool, typer.Option("--controls", help="Run each claim's negative control too, which must fail the claim.")
    ] = False,
    sets: Annotated[list[str] | None, options.READING] = None,
    search: Annotated[bool, options.SEARCH] = False,
    jobs: Annotated[int | None, options.JOBS] = None,
    ray: Annotated[str | None, options.RAY] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder of the report or the search.  [default: results/reproduce-PAPER-FIGURE, or "
            "results/reproduce-PAPER-search]",
        ),
    ] = None,
    force: Annotated[bool, options.FORCE] = False,
    json: Annotated[bool, options.JSON] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Run a paper's experiments: draw its figures, and judge each of its claims.

    That a claim differs is a result, and no failure. A paper's folder may hold Python, metrics.py and figures.py, which
    is run with all your rights: reproduce only papers whose code you have read or trust. --list runs none of it.

    With --search, readings are fitted on one half of the figures and judged on the other, and the halves exchanged.
    Ctrl-C keeps what has run, and the same command goes on.
    """
    from penstock.cli.reproduce import reproduce_all, show_list
    from penstock.cli.search import search_all

    if list_all:
        show_list(as_json=json)
        return
    if search:
        others = {"FIGURE": figure, "--short": short, "--controls": controls, "--set": sets, "--force": force}
        search_all(
            paper,
            [name for name, given in others.items() if given],
            out=out,
            as_json=json,
            quiet=quiet,
            workers=jobs,
            ray=ray,
        )
        return
    reproduce_all(
        paper,
        figure,
        out=out,
        force=force,
        as_json=json,
        quiet=quiet,
        short=short,
        controls=controls,
        sets=sets or [],
        workers=jobs,
        ray=ray,
    )


@app.command(short_help="Propose parameters: theory narrows, simulation confirms.")
def tune(
    scenario: Annotated[str, options.SCENARIO],
    goal: Annotated[str, typer.Option("--goal", metavar="GOAL", help="stability, latency or utilization.")],
    scheme: Annotated[
        str | None,
        typer.Option(metavar="NAME", autocompletion=completion.scheme, help="The scheme, instead of the scenario's."),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.profile,
            help="Named settings from which the search starts.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.profile,
            help="The profile to compare with.  [default: the first that fits]",
        ),
    ] = None,
    keys: Annotated[
        str | None,
        typer.Option(
            metavar="KEY[=A..B],…",
            autocompletion=completion.parameters,
            help="Parameters to tune, such as schemes.qcn.w=1..8,schemes.qcn.q_eq.  [default: all]",
        ),
    ] = None,
    sets: Annotated[list[str] | None, options.SETS] = None,
    trials: Annotated[int, typer.Option(min=1, max=MOST_TRIALS, metavar="N", help="How many points to simulate.")] = 96,
    seeds: Annotated[
        int,
        typer.Option(
            min=1, max=MOST_SEEDS, metavar="N", help="Seeds for each point; twice as many choose between the best."
        ),
    ] = 3,
    verdict_seeds: Annotated[
        int,
        typer.Option(
            "--verdict-seeds", min=2, max=MOST_SEEDS, metavar="N", help="Further seeds, for the final verdict."
        ),
    ] = 10,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The scenario with the proposal.  [default: results/SCENARIO-GOAL.toml]"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace that file if it exists.")] = False,
    ray: Annotated[str | None, options.RAY] = None,
    json: Annotated[bool, options.JSON] = False,
    quiet: Annotated[bool, options.QUIET] = False,
) -> None:
    """Propose parameters for a scenario, and judge them on seeds that the search did not use.

    Fluid models say where to look, simulations find the best there on all cores, and others judge it.
    """
    from penstock.cli.tune import tune_one

    tune_one(
        scenario,
        goal,
        scheme=scheme,
        profile=profile,
        against=against,
        keys=options.words(keys),
        sets=sets or [],
        trials=trials,
        seeds=seeds,
        verdict_seeds=verdict_seeds,
        ray=ray,
        out=out,
        force=force,
        json=json,
        quiet=quiet,
    )


@app.command(short_help="Open the laboratory: scenarios live in a browser.")
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
    json: Annotated[bool, options.JSON] = False,
) -> None:
    """List the schemes, or one scheme's parameters and profiles."""
    from penstock.cli.listing import show_schemes

    show_schemes(name, json=json)


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
def new_scenario(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The scenario's name: NAME.toml is written.")],
    scheme: Annotated[
        str, typer.Option(metavar="NAME", autocompletion=completion.scheme, help="The scheme that it runs.")
    ] = "qcn",
    topology: Annotated[
        str, typer.Option(metavar="NAME", help="Its topology: a table of `penstock schema topology`.")
    ] = "star",
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write a scenario that runs as it is, with a comment for each key of its sections."""
    from penstock.cli.new import write_new

    write_new(name, scheme=scheme, topology=topology, force=force)


@app.command("plot", short_help="Draw a figure of a results folder, in any size.")
def plot_results(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", autocompletion=completion.folder, help="A folder of run, compare or sweep."),
    ],
    show: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Run: overview, queue, utilization or rates. Comparison: compare, cdf or pauses. Both, "
            "if flows complete: slowdown, completions, fct, goodput or retransmissions. Sweep: lines, map or "
            "pareto.  [default: the first]",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[,NAME]",
            autocompletion=completion.metric,
            help="For a sweep: metric to plot. For a Pareto front give two; prefix + if larger is better.  "
            "[default: queue_mean_octets; and throughput_bps]",
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option(metavar="KEY", autocompletion=completion.varied, help="For a sweep: the key along the x axis."),
    ] = None,
    y: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            autocompletion=completion.varied,
            help="For a sweep: the key with a line for each value, or the y axis of a map.",
        ),
    ] = None,
    panel: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            autocompletion=completion.varied,
            help="For a sweep: the key with a panel for each value, or scheme.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            autocompletion=completion.varied,
            help="For a sweep: show only the runs with this value. Repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The figure, PNG, SVG or PDF.  [default: DIR/NAME.pdf]")
    ] = None,
    width: Annotated[float | None, pages.WIDTH] = None,
    font_size: Annotated[float | None, pages.FONT_SIZE] = None,
    title: Annotated[bool, pages.TITLE] = True,
) -> None:
    """Draw a figure of an earlier run, comparison or sweep, with a size and type that suit a paper.

    Without --width and --font-size, a matplotlibrc in this folder or one's own says how large both are.
    """
    from penstock.cli.plot import FigureAxes, plot_folder

    places = FigureAxes(metric, x, y, panel, where or [])
    plot_folder(folder, places, show=show, out=out, width=width, font_size=font_size, title=title)


@app.command("table", short_help="Print a table of a results folder as CSV.")
def print_columns(
    folder: Annotated[Path, typer.Argument(metavar="DIR", autocompletion=completion.folder, help="A folder of run.")],
    table: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", autocompletion=completion.table, help="queues, rates, signals, flows, …"),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Argument(metavar="COLUMN…", autocompletion=completion.column, help="Its columns.  [default: all]"),
    ] = None,
) -> None:
    """Print columns of a table of an earlier run as CSV; without a table, list the tables."""
    from penstock.cli.table import print_table

    print_table(folder, table, columns or [])


app.command("import", short_help="Import another simulator's files as a scenario.")(convert.import_scenario)
app.command("export", short_help="Export a scenario as another simulator's files.")(convert.export_scenario)
app.add_typer(testbed, name="testbed", short_help="Run a scenario with real frames and applications, on Linux.")
app.add_typer(theory, name="theory", short_help="Fluid models of a scenario: stability, sliding mode, phase plane.")
app.add_typer(dcb, name="dcb", short_help="Congestion notification domains: managed objects, devices, plans.")
app.add_typer(wire, name="wire", short_help="Frames as octets: decode, encode, count in captures, show in Wireshark.")
