"""`penstock wire`: frames as octets. Each command is a thin layer over `penstock.wire`."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import completion
from penstock.cli.failure import Commands

app = typer.Typer(
    name="wire",
    cls=Commands,
    help="Frames as octets: decode, encode, count in captures, show in Wireshark.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

_JSON = typer.Option("--json", help="Print JSON on standard output and nothing else there.")
_SMCC = typer.Option("--smcc", metavar="TYPE", help="EtherType of SMCC's messages.  [default: 0x88b5]")
_EXPERIMENTAL = typer.Option(
    "--experimental", metavar="TYPE", help="EtherType of probes and of messages of BCN.  [default: 0x88b6]"
)
_CIM = typer.Option("--cim", metavar="TYPE", help="One more EtherType of congestion isolation messages (802.1Qcz).")


@app.command("decode", short_help="Show the fields of frames.")
def decode_frames(
    what: Annotated[str, typer.Argument(metavar="FILE|HEX", help="A pcap or pcapng file, or a frame in hexadecimal.")],
    most: Annotated[int, typer.Option("--most", min=1, metavar="N", help="Number of frames of a file to show.")] = 20,
    smcc: Annotated[str | None, _SMCC] = None,
    experimental: Annotated[str | None, _EXPERIMENTAL] = None,
    cim: Annotated[str | None, _CIM] = None,
    json: Annotated[bool, _JSON] = False,
) -> None:
    """Show the layers of frames, and their fields by the standard's names; faults and oddities are marked.

    A frame begins with its destination address and ends before its check sequence.
    """
    from penstock.cli.wire.show import ether_types, show_frames

    show_frames(what, most=most, types=ether_types(smcc, experimental, cim), json=json)


@app.command("encode", short_help="Encode a frame from the values of its fields.")
def encode_frame(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", autocompletion=completion.kind, help="The kind: cnm, pfc, lldp, cnp, …")
    ],
    values: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUE…",
            autocompletion=completion.frame_field,
            help="Values of fields, such as quantized_feedback=25 or vlan.vid=100.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a pcapng file with the frame.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace that file if it exists.")] = False,
) -> None:
    """Print the octets of a frame, without its check sequence, in hexadecimal; or write them into a capture.

    EtherTypes, lengths and checksums that are not given are those that are right.
    """
    from penstock.cli.wire.show import show_encoded

    show_encoded(kind, values or [], out=out, force=force)


@app.command("formats", short_help="List the formats, or the fields of one.")
def list_formats(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", autocompletion=completion.frame_format, help="One format.")
    ] = None,
    json: Annotated[bool, _JSON] = False,
) -> None:
    """List the formats and the kinds of frames, or the fields of one format."""
    from penstock.cli.wire.show import show_formats

    show_formats(name, json=json)


@app.command("stats", short_help="Count notifications and pauses in a capture.")
def count_capture(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A pcap or pcapng file, of anyone's.")],
    smcc: Annotated[str | None, _SMCC] = None,
    experimental: Annotated[str | None, _EXPERIMENTAL] = None,
    cim: Annotated[str | None, _CIM] = None,
    rate: Annotated[
        str | None,
        typer.Option(metavar="RATE", help="Rate of all lines, such as 200G.  [default: that of each in the file]"),
    ] = None,
    storm: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="The least pause that is a storm.  [default: 200 ms, SONiC's detection time]"
        ),
    ] = None,
    every: Annotated[
        str | None, typer.Option(metavar="TIME", help="Make time series with this interval, such as 1ms.")
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="flow|qp|source|port",
            help="Count notifications by flow, sender or port, and RoCE by port, queue pair or sender.",
        ),
    ] = "flow",
    csv: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE", help="Print CSV of one table: notified, paused, roce, faults, series or paused_series."
        ),
    ] = None,
    json: Annotated[bool, _JSON] = False,
) -> None:
    """Count the notifications, pauses, congestion marks and faults of a capture by sender, flow and interface.

    A pause lasts until the resume, or until its quanta have expired; a frame replaces the time that is left.

    Of a damaged file the frames before the damage are counted; then the status is 2.
    """
    from penstock.cli.wire.show import ether_types
    from penstock.cli.wire.stats import show_statistics

    types = ether_types(smcc, experimental, cim)
    show_statistics(file, types=types, rate=rate, storm=storm, every=every, by=by, csv_of=csv, json=json)


@app.command("install-dissector", short_help="Teach Wireshark and tshark these formats.")
def install(
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder of plugins.  [default: ~/.local/lib/wireshark/plugins]"),
    ] = None,
) -> None:
    """Write the dissector to where Wireshark and tshark find it, and print its path."""
    from penstock.wire import install_dissector

    typer.echo(install_dissector(folder))
