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
