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
from penstock.quantity_text import bit_rate, count, duration, events, octets, share
from penstock.terminal import printable
from penstock.wire.capture import MRC_COUNTS, grouped

BY = ("flow", "qp", "source", "port")
TABLES = ("notified", "paused", "roce", "faults", "series", "paused_series")
"""The lists of counts that can be printed as CSV."""
_MOST_ROWS = 40
"""Rows of a table on the terminal: a thousand queue pairs have a thousand."""


def show_statistics(
    file: Path,
    *,
    types: wire.EtherTypes,
    rate: str | None,
    storm: str | None,
    every: str | None,
    by: str,
    csv_of: str | None,
    json: bool,
) -> None:
    """Print who notified whom in a capture, and how hard; of a damaged one, the part before the damage."""
    if not file.is_file():
        raise InputError(f"{file}: no such file", "give a pcap or pcapng file")
    if by not in BY:
        raise InputError(f"--by {by}: unknown", nearest(by, BY, "write flow, qp, source or port"))
    if csv_of is not None and csv_of not in TABLES:
        raise InputError(f"--csv {csv_of}: unknown", nearest(csv_of, TABLES, f"write one of {', '.join(TABLES)}"))
    if csv_of is not None and json:
        raise InputError("--csv and --json: two forms of output", "leave one of them out")
    if csv_of in ("series", "paused_series") and every is None:
        raise InputError(f"--csv {csv_of}: a time series has an interval", "add, for instance, --every 1ms")
    counted = wire.statistics(
        file,
        types,
        rate_bps=None if rate is None else _rate_bps(rate),
        storm_s=None if storm is None else _seconds("--storm", storm),
        every_s=None if every is None else _seconds("--every", every),
    )
    damage = counted["damage"]
    if damage is not None and not counted["frames"]:
        raise wire.CaptureError(str(file), damage["offset"], damage["message"])
    if by == "source":
        counted["notified"], counted["roce"] = wire.by_source(counted), wire.roce_by_source(counted)
    elif by == "port":
        counted["notified"] = wire.by_port(counted)
    elif by == "qp":
        counted["roce"] = counted["queue_pairs"]
    if csv_of is not None:
        _print_csv(counted[csv_of])
    elif json:
        print_json(counted)
    else:
        _print_statistics(counted, by, storm or "200 ms", every)
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


def _seconds(option: str, text: str) -> float:
    """Return the time that an option writes, such as ``1ms``."""
    try:
        seconds = read_quantity(text, "s")
    except ValueError as error:
        raise InputError(f"{option} {text}: this is not a time", "write, for instance, 1ms or '100 us'") from error
    if not 1e-9 <= seconds <= 1e5:
        raise InputError(f"{option} {text}: this is too short or too long", "write 1 ns to 100000 s")
    return float(seconds)


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


def _print_statistics(counted: dict[str, Any], by: str, storm: str, every: str | None) -> None:
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
        _print_paused(counted["paused"], storm)
    if counted["roce"]:
        _print_roce(counted["roce"], by)
    if every is not None:
        _print_peaks(counted, every)


def _most(rows: list[dict[str, Any]], key: str, by: str) -> list[dict[str, Any]]:
    """Return the rows that a terminal shows: of many, those with the most; and say that there are more."""
    if len(rows) <= _MOST_ROWS:
        return rows
    shorter = "" if by in ("source", "port") else "--by source and --by port have shorter ones, "
    typer.echo(f"the {_MOST_ROWS} of {count(len(rows))} rows with the most {key}: {shorter}--csv and --json have all")
    return sorted(rows, key=lambda row: -row[key])[:_MOST_ROWS]


def _print_notified(rows: list[dict[str, Any]], by: str) -> None:
    rows = _most(rows, "frames", by)
    numbers = ("frames", "a second", "how hard")
    if by in ("source", "port"):
        table = listing("interface", "message", "from", "to", "flows", *numbers)
        for row in rows:
            sender = row["source"] if by == "source" else _stations(row["sources"])
            hosts = _stations(row["destinations"])
            values = (count(row["flows"]), count(row["frames"]), _rate(row["frames_per_s"]), _strength(row))
            add_row(table, _port(row), row["format"], sender, hosts, *values)
    else:
        table = listing("interface", "message", "from", "congestion point", "to", "flow", *numbers)
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
                _rate(row["frames_per_s"]),
                _strength(row),
            )
    console().print(table)


def _print_paused(senders: list[dict[str, Any]], storm: str) -> None:
    words = ("stops", "resumes", "pauses", "paused", "longest", "storms", "share", "asked for behind the end")
    table = listing("interface", "pauses from", "priority", *words)
    for sender in senders:
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
        add_row(table, _port(sender), sender["source"], _priority(sender), *numbers, *times)
    console().print(table)
    if any(sender["paused_s"] is None for sender in senders):
        typer.echo("paused times need the line's rate, which the file has not: --rate 100G gives it")
    if any(sender["storms"] for sender in senders):
        typer.echo(f"a storm is a pause of {storm} or more")


def _print_roce(rows: list[dict[str, Any]], by: str) -> None:
    ends = {"source": ["from"], "qp": ["from", "to", "queue pair"]}.get(by, [])
    titles = (
        ("MRC SACKs", "to skip", "NACKs", "probes") if any(seen[key] for seen in rows for key in MRC_COUNTS) else ()
    )
    table = listing("interface", *ends, "RoCE data", "marked CE", "share", "CNPs", "a second", *titles)
    for seen in _most(rows, "data", by):
        names = [seen["source"]] if by == "source" else []
        if by == "qp":
            names = [seen["source"], seen["destination"], "-" if seen["qp"] is None else str(seen["qp"])]
        part = "-" if seen["share"] is None else share(seen["share"])
        numbers = (count(seen["data"]), count(seen["marked"]), part, count(seen["cnps"]), _rate(seen["cnps_per_s"]))
        of_mrc = [count(seen[key]) for key in MRC_COUNTS[: len(titles)]]
        add_row(table, _port(seen), *names, *numbers, *of_mrc)
    console().print(table)


def _print_peaks(counted: dict[str, Any], every: str) -> None:
    """Print the intervals in which most frames were marked, most was paused, and most CNPs came."""
    table = listing("interface", f"peak of {every}", "priority", "value", "from")
    for key, title, show in (
        ("share", "share marked CE", share),
        ("cnps", "CNPs", count),
        ("octets", "octets", octets),
    ):
        for rows in grouped(counted["series"], ("interface",)):
            if (row := max(rows, key=lambda row: row[key] or 0))[key]:
                add_row(table, _port(row), title, "-", show(row[key]), _clock(row["from_s"]))
    for rows in grouped(counted["paused_series"], ("interface", "source", "priority")):
        if (row := max(rows, key=lambda row: row["share"]))["share"]:
            title = f"share paused by {row['source']}"
            add_row(table, _port(row), title, _priority(row), share(row["share"]), _clock(row["from_s"]))
    if table.row_count:
        console().print(table)
    typer.echo("--csv series and --csv paused_series print all intervals")


def _stations(number: int) -> str:
    return f"{count(number)} {'station' if number == 1 else 'stations'}"


def _clock(seconds: float) -> str:
    return f"{seconds:.6f} s"


def _rate(per_second: float | None) -> str:
    return "-" if per_second is None else events(per_second)


def _priority(sender: dict[str, Any]) -> str:
    return "all" if sender["priority"] is None else str(sender["priority"])


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
