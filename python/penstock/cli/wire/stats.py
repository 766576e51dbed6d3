"""The output of `penstock wire stats`."""

import csv
import sys
from pathlib import Path
from typing import Any

import typer

from penstock import wire
from penstock._core import read_quantity
from penstock.cli.failure import WRONG_INPUT, InputError, say
from penstock.cli.report import add_row, console, listing
from penstock.cli.wire.show import print_json
from penstock.errors import nearest
from penstock.quantity_text import bit_rate, count, duration, octets, share
from penstock.terminal import printable

BY = ("flow", "source")
TABLES = ("notified", "paused", "roce", "faults")
"""The lists of counts that can be printed as CSV."""


def show_statistics(
    file: Path, *, types: wire.EtherTypes, rate: str | None, by: str, csv_of: str | None, json: bool
) -> None:
    """Print who notified whom in a capture, and how hard; of a damaged one, the part before the damage."""
    if not file.is_file():
        raise InputError(f"{file}: no such file", "give a pcap or pcapng file")
    if by not in BY:
        raise InputError(f"--by {by}: unknown", nearest(by, BY, "write flow or source"))
    if csv_of is not None and csv_of not in TABLES:
        raise InputError(f"--csv {csv_of}: unknown", nearest(csv_of, TABLES, f"write one of {', '.join(TABLES)}"))
    if csv_of is not None and json:
        raise InputError("--csv and --json: two forms of output", "leave one of them out")
    counted = wire.statistics(file, types, rate_bps=None if rate is None else _rate_bps(rate))
    damage = counted["damage"]
    if damage is not None and not counted["frames"]:
        raise wire.CaptureError(str(file), damage["offset"], damage["message"])
    if by == "source":
        counted["notified"] = wire.by_source(counted)
    if csv_of is not None:
        _print_csv(counted[csv_of])
    elif json:
        print_json(counted)
    else:
        _print_statistics(counted, by)
    if damage is not None:
        say(f"error: {file}: {damage['message']}")
        say(f"hint: the {counted['frames']} frames before this offset are counted")
        raise typer.Exit(WRONG_INPUT)


def _rate_bps(text: str) -> int:
    """Return the rate that an option writes: ``200 Gbps``, or as operators write it, ``200G``."""
    try:
        rate = read_quantity(f"{text}bps" if text[-1:] in ("k", "K", "M", "G", "T") else text, "bit/s")
    except ValueError as error:
        raise InputError(f"--rate {text}: this is not a rate", "write, for instance, 200G or '200 Gbps'") from error
    if rate < 1:
        raise InputError(f"--rate {text}: a line has a rate above 0", "write, for instance, 200G")
    return int(rate)


def _print_csv(entries: list[dict[str, Any]]) -> None:
    """Print a list as CSV, one column a key; those of the strength are ``strength_least`` and so on."""
    rows = [_flat(entry) for entry in entries]
    if not rows:
        return
    writer = csv.DictWriter(sys.stdout, dict.fromkeys(key for row in rows for key in row), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def _flat(entry: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for key, value in entry.items():
        if key == "strength":
            row |= {f"strength_{part}": (value or {}).get(part) for part in ("least", "mean", "most")}
        elif isinstance(value, list):
            row[key] = " ".join(map(str, value))
        else:
            row[key] = printable(value) if isinstance(value, str) else value
    return row


def _print_statistics(counted: dict[str, Any], by: str) -> None:
    formats = ", ".join(f"{name} {count(frames)}" for name, frames in counted["formats"].items())
    typer.echo(f"{count(counted['frames'])} frames, {octets(counted['octets'])}{': ' if formats else ''}{formats}")
    cut = f", not captured whole {count(counted['cut'])}" if counted["cut"] else ""
    typer.echo(f"with a CN-TAG {count(counted['tagged'])}, with a fault {count(counted['faulty'])}{cut}")
    for fault in counted["faults"]:
        more = ", …" if fault["frames"] > len(fault["numbers"]) else ""
        numbers = ", ".join(map(str, fault["numbers"]))
        typer.echo(f"  {count(fault['frames'])} with {fault['first']} (frames {numbers}{more})")
    if counted["not_ethernet"]:
        typer.echo(f"not Ethernet, and not counted: {count(counted['not_ethernet'])}")
    if counted["notified"]:
        _print_notified(counted["notified"], by)
    if counted["paused"]:
        _print_paused(counted["paused"])
    if counted["roce"]:
        table = listing("interface", "RoCE data", "marked CE", "share", "CNPs")
        for seen in counted["roce"]:
            part = "-" if seen["share"] is None else share(seen["share"])
            add_row(table, _port(seen), *(count(seen[key]) for key in ("data", "marked")), part, count(seen["cnps"]))
        console().print(table)


def _print_notified(rows: list[dict[str, Any]], by: str) -> None:
    if by == "source":
        table = listing("interface", "message", "from", "to", "flows", "frames", "how hard")
        for row in rows:
            hosts = f"{count(row['destinations'])} stations"
            numbers = (count(row[key]) for key in ("flows", "frames"))
            add_row(table, _port(row), row["format"], row["source"], hosts, *numbers, _strength(row))
    else:
        table = listing("interface", "message", "from", "congestion point", "to", "flow", "frames", "how hard")
        for row in rows:
            flow = "-" if row["flow"] is None else str(row["flow"])
            add_row(
                table,
                _port(row),
                row["format"],
                row["source"],
                row["cp_id"] or "-",
                row["destination"],
                flow if row["to"] is None else f"{flow} to {row['to']}",
                count(row["frames"]),
                _strength(row),
            )
    console().print(table)


def _print_paused(senders: list[dict[str, Any]]) -> None:
    words = ("stops", "resumes", "pauses", "paused", "longest", "storms", "share", "asked for behind the end")
    table = listing("interface", "pauses from", "priority", *words)
    for sender in senders:
        priority = "all" if sender["priority"] is None else str(sender["priority"])
        numbers = [count(sender[key]) for key in ("stops", "resumes")]
        if sender["paused_s"] is None:
            times = ["-"] * 6
        else:
            part = "-" if sender["share"] is None else share(sender["share"])
            paused, longest, behind = (duration(sender[key]) for key in ("paused_s", "longest_s", "open_s"))
            times = [
                count(sender["pauses"]),
                paused,
                longest,
                count(sender["storms"]),
                part,
                behind if sender["open_s"] else "-",
            ]
        add_row(table, _port(sender), sender["source"], priority, *numbers, *times)
    console().print(table)
    if any(sender["paused_s"] is None for sender in senders):
        typer.echo("paused times need the line's rate, which the file has not: --rate 100G gives it")


def _picoseconds(time: float) -> str:
    return duration(time / 1e12)


def _port(entry: dict[str, Any]) -> str:
    return printable(entry["interface_name"] or str(entry["interface"]))


def _strength(row: dict[str, Any]) -> str:
    strength = row["strength"]
    if strength is None:
        return "-"
    values = strength["least"], strength["mean"], strength["most"]
    (unit,) = (entry["message"]["strength"]["unit"] for entry in wire.formats() if entry["name"] == row["format"])
    if unit == "|Fb|":
        least, mean, most = values
        return f"|Fb| {least}..{most}, mean {mean:.1f}"
    show = {"bit/s": bit_rate, "ps": _picoseconds, "octets": octets}[unit]
    least, mean, most = (show(value) for value in values)
    return f"{least} .. {most}, mean {mean}"
