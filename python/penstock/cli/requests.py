"""The options of the larger commands, each declared once: a command's options are the fields of its class.

The classes have no more methods than they need: each takes time at every start of the command line.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import completion, options, pages
from penstock.cli.options import MOST_SEEDS, MOST_TRIALS


@dataclass(kw_only=True, eq=False, repr=False)
class RunOptions:
    """The options of `penstock run`."""

    scenario: Annotated[str, options.SCENARIO]
    scheme: Annotated[
        str | None, typer.Option(metavar="NAME", autocompletion=completion.scheme, help="The scheme to run.")
    ] = None
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", autocompletion=completion.profile, help="A named set of the scheme's parameters."),
    ] = None
    sets: Annotated[list[str], options.SETS] = field(default_factory=list)
    seed: Annotated[int | None, options.SEED] = None
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The results folder.  [default: results/SCENARIO-SCHEME-seedN]"),
    ] = None
    force: Annotated[bool, options.FORCE] = False
    json: Annotated[bool, options.JSON] = False
    quiet: Annotated[bool, options.QUIET] = False
    no_figures: Annotated[bool, typer.Option("--no-figures", help="Write no figures.")] = False
    report: Annotated[Path | None, options.REPORT] = None
    pcap: Annotated[
        str | None,
        typer.Option(
            metavar="PORTS",
            autocompletion=completion.ports,
            help="Capture every frame of these ports, such as 'sw0->h4,sw0->h0', into capture.pcapng of the folder.",
        ),
    ] = None
    threads: Annotated[
        str,
        typer.Option(
            metavar="N|auto",
            autocompletion=completion.threads,
            help="Number of threads, or auto. The result is identical.",
        ),
    ] = "1"
    limit: Annotated[int, options.LIMIT] = 1


@dataclass(kw_only=True, eq=False, repr=False)
class FabricOptions:
    """The options of `penstock new --fabric`."""

    leaves: Annotated[int, typer.Option(min=1, max=1024, metavar="N", help="Leaf switches of a fabric.")] = 8
    spines: Annotated[int, typer.Option(min=1, max=1024, metavar="N", help="Its spine switches.")] = 4
    hosts: Annotated[int, typer.Option(min=1, max=1024, metavar="N", help="Its hosts, at each leaf.")] = 32
    speed: Annotated[str, typer.Option(metavar="RATE", help="Rate of its hosts, such as 200G.")] = "200G"
    uplink: Annotated[
        str, typer.Option(metavar="[Nx]RATE", help="Links from each leaf to each spine, such as 2x400G.")
    ] = "400G"
    cable: Annotated[
        str,
        typer.Option(
            metavar="TIER=LENGTH,…",
            help="Lengths of cables: 5m, or host=5m,spine0..1=40m,spine2..3=300m for four spines.",
        ),
    ] = "host=5m,spine=40m"
    chip: Annotated[
        str,
        typer.Option(metavar="MEMORY/CELL|NAME", help="Packet memory of a switch: 64MB/256B, or such as tomahawk-5."),
    ] = "64MB/256B"


@dataclass(kw_only=True, eq=False, repr=False)
class NewOptions(FabricOptions):
    """The options of `penstock new`."""

    name: Annotated[str, typer.Argument(metavar="NAME", help="The scenario's name: NAME.toml is written.")]
    scheme: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.scheme,
            help="The scheme that it runs.  [default: qcn, of a fabric dcqcn]",
        ),
    ] = None
    topology: Annotated[
        str, typer.Option(metavar="NAME", help="Its topology: a table of `penstock schema topology`.")
    ] = "star"
    fabric: Annotated[
        bool, typer.Option("--fabric", help="Write a fabric of leaves and spines, by the options below.")
    ] = False
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False


@dataclass(kw_only=True, eq=False, repr=False)
class CompareOptions:
    """The options of `penstock compare`."""

    scenarios: Annotated[
        list[str],
        typer.Argument(
            metavar="SCENARIO…",
            autocompletion=completion.scenario,
            help="Scenario files, or names that `penstock scenarios` lists; or results folders of finished runs.",
        ),
    ]
    schemes: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            autocompletion=completion.schemes,
            help="The schemes to compare, separated by commas.  [default: each scenario's own]",
        ),
    ] = None
    variants: Annotated[list[str], options.VARIANTS] = field(default_factory=list)
    vary: Annotated[
        list[str],
        typer.Option(
            "--vary",
            metavar="KEY=A,B,C|KEY=A..B:N[:log]",
            autocompletion=completion.key,
            help="Compare at each of these values of a key. Repeatable: at every combination.",
        ),
    ] = field(default_factory=list)
    seeds: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST_SEEDS,
            metavar="N",
            help="Number of seeds, from the scenario's on; gives mean and spread.",
        ),
    ] = 1
    queue: Annotated[
        str | None,
        typer.Option(
            metavar="NODE->NODE",
            autocompletion=completion.queue,
            help="The queue to compare.  [default: the longest in every run]",
        ),
    ] = None
    measured: Annotated[
        list[str],
        typer.Option(
            "--measured",
            metavar="[DEVICE=]FILE",
            help="Watermarks and counters to lay over the runs: output of SONiC's show commands, or CSV. Repeatable.",
        ),
    ] = field(default_factory=list)
    measured_columns: Annotated[
        str | None,
        typer.Option(
            metavar="MEANING=COLUMN,…",
            help="The columns of a CSV file: port, queue (or priority) and value; device, measure, unit, time.",
        ),
    ] = None
    measured_as: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What a CSV file has: queue, pg-shared, pg-headroom, pfc-rx, pfc-tx, paused, ecn-marked, dropped.",
        ),
    ] = None
    measured_names: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            autocompletion=completion.device_formats,
            help="Ports have the names that `penstock export --to FORMAT` writes.",
        ),
    ] = "sonic"
    measured_ports: Annotated[
        str | None,
        typer.Option(metavar="NAME=PORT,…", help="More names of ports: 'leaf0:Ethernet0=leaf0->h0'."),
    ] = None
    measured_over: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="How long counters were measured, such as '60 s'; else they have times."),
    ] = None
    profile: Annotated[str | None, options.PROFILE] = None
    sets: Annotated[list[str], options.SETS] = field(default_factory=list)
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The output folder.  [default: results/SCENARIO-compare]")
    ] = None
    force: Annotated[bool, options.FORCE] = False
    report: Annotated[Path | None, options.REPORT] = None
    resume: Annotated[bool, options.RESUME_COMPARISON] = False
    json: Annotated[bool, options.JSON] = False
    quiet: Annotated[bool, options.QUIET] = False
    limit: Annotated[int, options.LIMIT] = 1
    ray: Annotated[str | None, options.RAY] = None


@dataclass(kw_only=True, eq=False, repr=False)
class SweepOptions:
    """The options of `penstock sweep`."""

    what: Annotated[
        str,
        typer.Argument(
            metavar="SWEEP.toml|SCENARIO",
            autocompletion=completion.scenario,
            help="A sweep file; or a scenario file or name, with --vary.",
        ),
    ]
    vary: Annotated[
        list[str],
        typer.Option(
            "--vary",
            metavar="KEY=A,B,C|KEY=A..B:N[:log]",
            autocompletion=completion.key,
            help="Values of a key. Repeatable: every combination runs. With ; between, keys change together.",
        ),
    ] = field(default_factory=list)
    schemes: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            autocompletion=completion.schemes,
            help="The schemes, separated by commas.  [default: the scenario's own]",
        ),
    ] = None
    variants: Annotated[list[str], options.VARIANTS] = field(default_factory=list)
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_SEEDS, metavar="N", help="Number of seeds, from the scenario's on."),
    ] = None
    profile: Annotated[str | None, options.PROFILE] = None
    queue: Annotated[
        str | None,
        typer.Option(
            metavar="NODE->NODE",
            autocompletion=completion.queue,
            help="The queue to measure.  [default: the longest of each]",
        ),
    ] = None
    sets: Annotated[list[str], options.SETS] = field(default_factory=list)
    series: Annotated[bool, typer.Option("--series", help="Keep the time series of every run.")] = False
    limit: Annotated[int, options.LIMIT] = 1
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="The folder for the runs.  [default: results/NAME-sweep]"),
    ] = None
    resume: Annotated[bool, options.RESUME] = False
    jobs: Annotated[int | None, options.JOBS] = None
    ray: Annotated[str | None, options.RAY] = None
    json: Annotated[bool, options.JSON] = False
    quiet: Annotated[bool, options.QUIET] = False


@dataclass(kw_only=True, eq=False, repr=False)
class ReproduceOptions:
    """The options of `penstock reproduce`."""

    paper: Annotated[
        str | None,
        typer.Argument(metavar="PAPER", help="A paper's name below ./papers, or its folder.  [default: all]"),
    ] = None
    figure: Annotated[
        str | None, typer.Argument(metavar="FIGURE", help="One of its figures or tables, such as figure-4.")
    ] = None
    list_all: Annotated[bool, typer.Option("--list", help="List papers and figures; run nothing.")] = False
    short: Annotated[bool, typer.Option("--short", help="One seed each; only the claims that one seed can decide.")] = (
        False
    )
    controls: Annotated[
        bool, typer.Option("--controls", help="Run each claim's negative control too, which must fail the claim.")
    ] = False
    sets: Annotated[list[str], options.READING] = field(default_factory=list)
    search: Annotated[bool, options.SEARCH] = False
    jobs: Annotated[int | None, options.JOBS] = None
    ray: Annotated[str | None, options.RAY] = None
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder of the report or the search.  [default: results/reproduce-PAPER-FIGURE, or "
            "results/reproduce-PAPER-search]",
        ),
    ] = None
    force: Annotated[bool, options.FORCE] = False
    json: Annotated[bool, options.JSON] = False
    quiet: Annotated[bool, options.QUIET] = False


@dataclass(kw_only=True, eq=False, repr=False)
class TuneOptions:
    """The options of `penstock tune`."""

    scenario: Annotated[str, options.SCENARIO]
    goal: Annotated[
        str,
        typer.Option(
            "--goal",
            "--for",
            metavar="GOAL",
            help="stability, latency, utilization, pauses, or fct-p50, fct-p95, fct-p99, fct-p999: completion times.",
        ),
    ]
    scheme: Annotated[
        str | None,
        typer.Option(metavar="NAME", autocompletion=completion.scheme, help="The scheme, instead of the scenario's."),
    ] = None
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.profile,
            help="Named settings from which the search starts.",
        ),
    ] = None
    against: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.profile,
            help="A profile to beat too.  [default: the scenario's own values alone]",
        ),
    ] = None
    keys: Annotated[
        str | None,
        typer.Option(
            metavar="KEY[=A..B],…",
            autocompletion=completion.parameters,
            help="Parameters to tune, such as schemes.qcn.w=1..8,schemes.qcn.q_eq.  [default: all]",
        ),
    ] = None
    sets: Annotated[list[str], options.SETS] = field(default_factory=list)
    trials: Annotated[int, typer.Option(min=1, max=MOST_TRIALS, metavar="N", help="How many points to simulate.")] = 96
    seeds: Annotated[
        int,
        typer.Option(
            min=1, max=MOST_SEEDS, metavar="N", help="Seeds for each point; twice as many choose between the best."
        ),
    ] = 3
    verdict_seeds: Annotated[
        int,
        typer.Option(
            "--verdict-seeds", min=2, max=MOST_SEEDS, metavar="N", help="Further seeds, for the final verdict."
        ),
    ] = 10
    phase_margin: Annotated[
        str,
        typer.Option(
            "--phase-margin",
            metavar="DEGREES|none",
            help="The least of a proposal, or the scenario's own if that is less; none for no such guard.",
        ),
    ] = "0"
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The scenario with the proposal.  [default: results/SCENARIO-GOAL.toml]"),
    ] = None
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Draw the search, and both settings over time, as PNG and SVG into this folder."
        ),
    ] = None
    report: Annotated[Path | None, options.REPORT] = None
    force: Annotated[bool, typer.Option("--force", help="Replace these files if they exist.")] = False
    ray: Annotated[str | None, options.RAY] = None
    json: Annotated[bool, options.JSON] = False
    quiet: Annotated[bool, options.QUIET] = False


@dataclass(kw_only=True, eq=False, repr=False)
class PlotOptions:
    """The options of `penstock plot`."""

    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            autocompletion=completion.folder,
            help="The results folder of a run, a comparison or a sweep.",
        ),
    ]
    show: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Run: overview, queue, utilization, rates, jobs, path or links. Comparison: compare or pauses. Both: "
            "cdf and pauses-over-time; if flows complete slowdown, percentiles, slowdown-p50, slowdown-p95, "
            "slowdown-p99, completions, fct, goodput or retransmissions. Sweep: lines, map or pareto.  "
            "[default: the first]",
        ),
    ] = None
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[,NAME]",
            autocompletion=completion.metric,
            help="For a sweep: metric to plot. For a Pareto front give two; prefix + if larger is better.  "
            "[default: queue_mean_octets; and throughput_bps]",
        ),
    ] = None
    x: Annotated[
        str | None,
        typer.Option(metavar="KEY", autocompletion=completion.varied, help="For a sweep: the key along the x axis."),
    ] = None
    y: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            autocompletion=completion.varied,
            help="For a sweep: the key with a line for each value, or the y axis of a map.",
        ),
    ] = None
    panel: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            autocompletion=completion.varied,
            help="For a sweep: the key with a panel for each value, or scheme.",
        ),
    ] = None
    where: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=VALUE",
            autocompletion=completion.varied,
            help="For a sweep: show only the runs with this value. Repeatable.",
        ),
    ] = field(default_factory=list)
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The figure, PNG, SVG or PDF.  [default: DIR/NAME.pdf]")
    ] = None
    width: Annotated[float | None, pages.WIDTH] = None
    font_size: Annotated[float | None, pages.FONT_SIZE] = None
    title: Annotated[bool, pages.TITLE] = True


@dataclass(kw_only=True, eq=False, repr=False)
class ArenaOptions:
    """The options of `penstock arena`."""

    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="ARENA",
            autocompletion=completion.arena,
            help="An arena of Penstock (10g, 100g, 400g), or the file of one.  [default: 10g]",
        ),
    ] = None
    workloads: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            autocompletion=completion.workloads,
            help="The workloads, separated by commas.  [default: all]",
        ),
    ] = None
    competitors: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            autocompletion=completion.competitors,
            help="Schemes and variants that the file names, and locations of your own schemes, such as my.py:MyScheme, "
            "separated by commas; all stands for those of the file.  [default: all]",
        ),
    ] = None
    seeds: Annotated[int, typer.Option(min=1, max=MOST_SEEDS, metavar="N", help="Number of seeds, from 1 on.")] = 1
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder for runs and report.")] = Path(
        "results/arena"
    )
    tune: Annotated[
        int,
        typer.Option(
            min=0,
            max=MOST_TRIALS,
            metavar="N",
            help="Tune each scheme with N simulated points, too, and rank them once more.  [default: 0, no]",
            show_default=False,
        ),
    ] = 0
    resume: Annotated[bool, options.RESUME] = False
    list_: Annotated[bool, typer.Option("--list", help="Print workloads and competitors, and run nothing.")] = False
    jobs: Annotated[int | None, options.JOBS] = None
    ray: Annotated[str | None, options.RAY] = None
    json: Annotated[bool, options.JSON] = False
    quiet: Annotated[bool, options.QUIET] = False


@dataclass(kw_only=True, eq=False, repr=False)
class ImportOptions:
    """The options of `penstock import`."""

    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="A network and its traffic: topology and flows of HPCC, with its config.txt if there is one; .topo "
            "and .cm of htsim; or a network and a distribution of flow sizes. A config.txt alone has an incast. A job "
            "in GOAL, of SimAI or of Chakra (one file for all NAME.RANK.et beside it, or all), with or without a "
            "network.",
        ),
    ]
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The scenario: a name that ends in .toml.")]
    scheme: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.scheme,
            help="The scheme that it runs.  [default: that of config.txt, or none]",
        ),
    ] = None
    transport: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The flows' transport: a name, or a table of TOML with parameters.  [default: that of config.txt, or "
            "go-back-n]",
        ),
    ] = None
    pfc: Annotated[
        bool | None,
        typer.Option("--pfc/--no-pfc", help="Flow control of HPCC's switches.  [default: that of config.txt, or on]"),
    ] = None
    complete: Annotated[
        bool,
        typer.Option(
            "--complete", help="Complete a job: receives without a send, sends without a receive, missing orders."
        ),
    ] = False
    control_deps: Annotated[
        bool, typer.Option("--control-deps/--no-control-deps", help="Chakra: follow control dependencies too.")
    ] = True
    sets: Annotated[list[str], options.SETS] = field(default_factory=list)
    force: Annotated[bool, typer.Option("--force", help="Replace that file if it exists.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes.")] = False


@dataclass(kw_only=True, eq=False, repr=False)
class ExportOptions:
    """The options of `penstock export`."""

    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO",
            autocompletion=completion.scenario,
            help="A scenario file or name, or a results folder, whose completed flows are written too (hpcc). For jobs "
            "also a file of one; that of a rank of Chakra stands for all ranks.",
        ),
    ]
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|FILE",
            help="The folder for the files; or, without --to, what files of jobs are called: NAME.goal (GOAL), NAME.et "
            "or NAME.json (Chakra, a file a rank).",
        ),
    ]
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            autocompletion=completion.formats,
            help="A simulator: hpcc or htsim. Switches: sonic, nvue, eos, nxos or junos. Hosts: mlnx_qos or dcb.",
        ),
    ] = None
    messages: Annotated[
        bool, typer.Option("--messages", help="Chakra: write collectives as their sends and receives.")
    ] = False
    sets: Annotated[list[str], options.SETS] = field(default_factory=list)
    seed: Annotated[int | None, options.SEED] = None
    force: Annotated[bool, typer.Option("--force", help="Replace files of these names if they exist.")] = False
    limit: Annotated[int, options.LIMIT] = 1


@dataclass(kw_only=True, eq=False, repr=False)
class TestbedOptions:
    """The options of `penstock testbed run` and `up`."""

    scenario: Annotated[str, options.SCENARIO]
    scheme: Annotated[
        str | None, typer.Option(metavar="NAME", autocompletion=completion.scheme, help="The scheme to run.")
    ] = None
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", autocompletion=completion.profile, help="A named set of the scheme's parameters."),
    ] = None
    sets: Annotated[list[str], options.SETS] = field(default_factory=list)
    seed: Annotated[int | None, options.SEED] = None
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The results folder.  [default: results/SCENARIO-SCHEME-testbed]")
    ] = None
