"""The options of the commands about devices: see `penstock.cli.requests`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import completion, options


@dataclass(kw_only=True, eq=False, repr=False)
class HeadroomOptions:
    """The options of `penstock headroom`."""

    fabric: Annotated[
        str | None,
        typer.Argument(
            metavar="FABRIC",
            autocompletion=completion.scenario,
            help="A scenario with [pfc].  [default: none; --table is judged alone]",
        ),
    ] = None
    sets: Annotated[list[str], options.SETS] = field(default_factory=list)
    table: Annotated[Path | None, typer.Option(metavar="FILE", help="A pg_profile_lookup.ini of SONiC.")] = None
    response: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Until a peer stops: '12 packets' (of the MTU, or '12 packets of 1 KB'), '905 quanta' or '1.2 us'.  "
            "[default: that of the fabric, or of 802.3]",
        ),
    ] = None
    lanes: Annotated[
        int | None,
        typer.Option(min=1, max=64, metavar="N", help="Lanes of a port.  [default: 8 from 800 Gb/s on, otherwise 4]"),
    ] = None
    lossless_mtu: Annotated[
        int, typer.Option(min=1, max=65_535, metavar="OCTETS", help="SONiC's formulas: length of a large packet.")
    ] = 1024
    small_packets: Annotated[
        float, typer.Option(min=0, max=100, metavar="PERCENT", help="SONiC's formulas: share of packets of 64 octets.")
    ] = 50
    shared_headroom: Annotated[
        bool, typer.Option("--shared-headroom", help="NVIDIA's formula: ports share a headroom pool.")
    ] = False
    gearbox: Annotated[float, typer.Option(min=0, metavar="NS", help="SONiC's formulas: delay of a gearbox.")] = 0
    pfc_delay: Annotated[
        int | None,
        typer.Option(
            min=0, max=65_535, metavar="BITS", help="Linux: the delay of `dcb pfc set`.  [default: by annex O]"
        ),
    ] = None
    mtu: Annotated[
        str, typer.Option(metavar="SIZE", help="--table alone: the longest frame; a fabric has pfc.mtu.")
    ] = "9216 octets"
    cell: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="--table alone: a memory cell.  [default: the chip's that divides all sizes]"
        ),
    ] = None
    prove: Annotated[
        bool, typer.Option("--prove", help="Find the minimum by attack in simulation, and keep what loses.")
    ] = False
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="--prove: folder of the scenarios that lose.  [default: results/FABRIC-headroom]"
        ),
    ] = None
    scenarios: Annotated[
        Path | None, typer.Option(metavar="DIR", help="--table alone: write a scenario for each row.")
    ] = None
    report: Annotated[Path | None, options.REPORT] = None
    force: Annotated[bool, options.FORCE_REPORT] = False
    json: Annotated[bool, options.JSON] = False
    limit: Annotated[int, options.LIMIT] = 1


@dataclass(kw_only=True, eq=False, repr=False)
class CheckOptions:
    """The options of `penstock check`."""

    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="A configuration, such as config_db.json.")]
    peer: Annotated[
        Path | None, typer.Argument(metavar="PEER", help="The configuration at the other side of a link.")
    ] = None
    fabric: Annotated[
        str | None,
        typer.Option(
            metavar="SCENARIO",
            autocompletion=completion.scenario,
            help="The scenario of the fabric: memory, cells, frames, response times, lossless priorities.",
        ),
    ] = None
    load: Annotated[
        bool,
        typer.Option("--load", help="Run the fabric: watchdogs are compared with the longest stop under its load."),
    ] = False
    chip: Annotated[
        str | None,
        typer.Option(metavar="NAME|MEMORY/CELL", help="The chip instead of the fabric's: tomahawk-5, or 64MB/256B."),
    ] = None
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            autocompletion=completion.device_formats,
            help="sonic, nvue, eos, nxos, junos, mlnx_qos or dcb.  [default: by its text]",
        ),
    ] = None
    scenarios: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a scenario that shows each fault of meaning.")
    ] = None
    yang: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Ask yanglint, too, with SONiC's YANG models of this folder."),
    ] = None
    report: Annotated[Path | None, options.REPORT] = None
    force: Annotated[bool, options.FORCE_REPORT] = False
    json: Annotated[bool, options.JSON] = False


@dataclass(kw_only=True, eq=False, repr=False)
class WhatIfOptions:
    """The options of `penstock what-if`."""

    fabric: Annotated[str, options.SCENARIO]
    incast: Annotated[
        list[int], typer.Option(metavar="N", help="N flows from hosts of other racks to one host. Repeatable.")
    ] = field(default_factory=list)
    storm: Annotated[
        list[str], typer.Option(metavar="HOST", help="A host pauses its switch for half of the time. Repeatable.")
    ] = field(default_factory=list)
    down: Annotated[
        list[str], typer.Option(metavar="LINK", help="A link goes down, such as leaf0--spine1. Repeatable.")
    ] = field(default_factory=list)
    degrade: Annotated[
        list[str],
        typer.Option(metavar="LINK=RATE", help="A link has another rate: leaf0--spine0=50%, or =100G. Repeatable."),
    ] = field(default_factory=list)
    slow: Annotated[
        list[str],
        typer.Option(metavar="HOST=RATE", help="A host takes frames at a rate, such as h3=10G. Repeatable."),
    ] = field(default_factory=list)
    victim: Annotated[
        bool, typer.Option("--victim", help="A flow shares links with an incast, and not its receiver.")
    ] = False
    deadlock: Annotated[
        bool, typer.Option("--deadlock", help="Search all routes for cycles of buffers, and try one in simulation.")
    ] = False
    links_down: Annotated[
        int, typer.Option(min=0, max=2, metavar="N", help="--deadlock: the most links that are down at once.")
    ] = 1
    proposed: Annotated[
        str | None,
        typer.Option(
            metavar="SCENARIO", autocompletion=completion.scenario, help="A scenario that has the proposed settings."
        ),
    ] = None
    sets: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            autocompletion=completion.key,
            help="A proposed setting, such as buffer.0.ingress_alpha=1. Repeatable.",
        ),
    ] = field(default_factory=list)
    to: Annotated[
        str | None, typer.Option(metavar="HOST", help="The host that incasts go to.  [default: the first]")
    ] = None
    size: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Of a flow of an incast.  [default: all flows together take a quarter of the measured time]",
        ),
    ] = None
    receive_buffer: Annotated[
        str, typer.Option(metavar="SIZE", help="--slow: receive buffer of a host that has none in the scenario.")
    ] = "1 MB"
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Simulated time.  [default: that of the scenario]")
    ] = None
    seeds: Annotated[
        int, typer.Option(min=1, max=options.MOST_SEEDS, metavar="N", help="Runs of each scenario, a seed each.")
    ] = 5
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the scenarios and what-if.json.  [default: results/NAME-what-if]"),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Replace files of the folder if it exists.")] = False
    resume: Annotated[bool, options.RESUME] = False
    report: Annotated[Path | None, options.REPORT] = None
    jobs: Annotated[int | None, options.JOBS] = None
    json: Annotated[bool, options.JSON] = False
    quiet: Annotated[bool, options.QUIET] = False
    limit: Annotated[int, options.LIMIT] = 1
