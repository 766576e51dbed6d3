"""The output of `penstock wire`."""

import json as jsonlib
from pathlib import Path
from typing import Any

import typer

from penstock import wire
from penstock.cli.failure import InputError, say
from penstock.cli.locate import assignments
from penstock.cli.report import add_row, console, listing
from penstock.errors import ArgumentError, nearest
from penstock.terminal import printable, printable_json


def ether_types(smcc: str | None, experimental: str | None, cim: str | None) -> wire.EtherTypes:
    """Return the EtherTypes that options name."""
    given = {"smcc": smcc, "experimental": experimental, "cim": cim}
    return wire.EtherTypes(**{name: _number(name, text) for name, text in given.items() if text is not None})


def _number(name: str, text: str) -> int:
    try:
        value = int(text, 16) if text.lower().startswith("0x") else int(text)
    except ValueError:
        value = -1
    if not 0x0600 <= value <= 0xFFFF:
        raise InputError(f"--{name} {text}: this is not an EtherType", "give a number from 0x0600 to 0xffff")
    return value


def show_frames(what: str, *, most: int, types: wire.EtherTypes, json: bool) -> None:
    """Print the layers of a frame, or of the first frames of a capture."""
    if _is_file(what):
        _show_capture(Path(what), most=most, types=types, json=json)
        return
    try:
        frame = wire.decode(what, types)
    except ArgumentError as error:
        hint = "give a file that there is, or the octets of a frame, such as 0180c2000001…"
        raise InputError(f"{what}: no file has this name, and it is not hexadecimal", hint) from error
    if not frame.data:
        raise InputError("the frame has no octets", "give its octets in hexadecimal")
    if json:
        print_json([_in_json(frame, None)])
    else:
        _print_frame(frame)


def _is_file(what: str) -> bool:
    try:
        return Path(what).is_file()
    except OSError:
        # The octets of a longer frame are too long for the name of a file.
        return False


def _show_capture(file: Path, *, most: int, types: wire.EtherTypes, json: bool) -> None:
    shown: list[dict[str, Any]] = []
    damage = None
    try:
        for number, captured in enumerate(wire.read(file), start=1):
            if number > most:
                say(f"{file} has more frames: --most {10 * most} shows more")
                break
            frame = captured.decode(types)
            if json:
                shown.append(_in_json(frame, captured))
                continue
            time = "" if captured.time_ns is None else f", {_seconds(captured.time_ns)} s"
            name = captured.interface_name or f"interface {captured.interface}"
            cut = len(captured.data) < captured.octets
            length = f"captured {len(captured.data)} of {captured.octets}" if cut else f"{captured.octets}"
            typer.echo(f"frame {number}: {length} octets, {printable(name)}{time}")
            if captured.comment:
                typer.echo(f"  comment: {printable(captured.comment)}")
            _print_frame(frame)
    except wire.CaptureError as error:
        damage = error
    if json:
        print_json(shown)
    if damage is not None:
        raise damage


def _in_json(frame: wire.Frame, captured: wire.Captured | None) -> dict[str, Any]:
    layers = [
        {
            "name": layer.name,
            "title": layer.title,
            "offset": layer.offset,
            "octets": layer.octets,
            "missing": layer.missing,
            "encapsulated": layer.encapsulated,
            "fields": {field.name: field.text if field.value is None else field.value for field in layer.fields},
            "parts": [list(part) for part in layer.parts],
            "fault": layer.fault,
            "unchecked": layer.unchecked,
            "notes": list(layer.notes),
        }
        for layer in frame.layers
    ]
    document: dict[str, Any] = {"data": frame.data.hex(), "layers": layers}
    if captured is not None:
        document |= {
            "time_ns": captured.time_ns,
            "interface": captured.interface,
            "interface_name": captured.interface_name,
            "octets": frame.octets,
            "comment": captured.comment,
        }
    return document


def print_json(document: object) -> None:
    """Print an object as JSON that no capture's text can turn into orders to a terminal."""
    typer.echo(printable_json(jsonlib.dumps(document, indent=2)))


def _print_frame(frame: wire.Frame) -> None:
    for layer in frame.layers:
        inner = "  " if layer.encapsulated else ""
        within = ", of the sampled frame" if layer.encapsulated else ""
        title = layer.title or layer.name.replace("_", " ")
        length = f"{layer.octets} of {layer.octets + layer.missing}" if layer.missing else f"{layer.octets}"
        typer.echo(f"{inner}  {layer.offset:4} {title}{within}, {length} octets")
        for field in layer.fields:
            typer.echo(f"{inner}         {field.label} = {field.text}")
        for name, text in layer.parts:
            typer.echo(f"{inner}         {name} = {printable(text)}")
        if not layer.fields:
            data = frame.data[layer.offset : layer.offset + layer.octets]
            if any(data):
                typer.echo(f"{inner}         {data[:32].hex(' ')}{' …' if len(data) > 32 else ''}")
        for note in layer.notes:
            typer.echo(f"{inner}         note: {note}")
        if layer.unchecked is not None:
            typer.echo(f"{inner}         not checked: {layer.unchecked}")
        if layer.fault is not None:
            typer.echo(f"{inner}         fault: {layer.fault}")


def show_encoded(kind: str, values: list[str], *, out: Path | None, force: bool) -> None:
    """Print a frame in hexadecimal, or write it into a capture."""
    given = assignments(values, "", example="quantized_feedback=25", once=True)
    known = {entry["name"]: entry for entry in wire.kinds()}
    if kind not in known:
        raise InputError(f"{kind}: unknown kind of frame", nearest(kind, known, f"the kinds are {', '.join(known)}"))
    names = _keys(known[kind])
    for key in given:
        if key not in names:
            raise InputError(
                f"{key}: a frame of kind {kind} has no field of this name",
                nearest(key, names, "penstock wire formats NAME lists the fields of a format"),
            )
    frame = wire.encode(kind, given)
    if out is None:
        typer.echo(frame.hex())
        return
    if out.exists() and not force:
        raise InputError(f"{out}: the file exists", "give another name, or --force to replace it")
    wire.write(out, [frame])
    typer.echo(out)


def _keys(kind: dict[str, Any]) -> list[str]:
    fields = {entry["name"]: [field["name"] for field in entry["fields"]] for entry in wire.formats()}
    names = [entry["name"] for entry in kind["formats"]]
    plain = [field for name in names for field in fields[name]]
    full = [f"{name}.{field}" for name in names for field in fields[name]]
    rest = [kind["rest"]] if kind["rest"] else []
    return [*plain, *full, *rest]


def show_formats(name: str | None, *, json: bool) -> None:
    """Print the formats and kinds, or one format's fields."""
    formats = wire.formats()
    if name is not None:
        chosen = [entry for entry in formats if entry["name"] == name]
        if not chosen:
            words = [entry["name"] for entry in formats]
            raise InputError(f"{name}: unknown format", nearest(name, words, f"the formats are {', '.join(words)}"))
        formats = chosen
    if json:
        print_json(formats if name is None else formats[0])
        return
    out = console()
    if name is not None:
        (entry,) = formats
        typer.echo(f"{entry['title']}: {entry['source']}")
        table = listing("field", "standard's name", "octet", "bits", "meaning")
        for field in entry["fields"]:
            place = str(field["first_bit"] // 8)
            add_row(table, field["name"], field["label"], place, str(field["bits"]), field["meaning"])
        out.print(table)
        return
    table = listing("format", "name", "octets", "source")
    for entry in formats:
        add_row(table, entry["name"], entry["title"], str(entry["octets"]), entry["source"])
    out.print(table)
    table = listing("kind of frame", "title")
    for entry in wire.kinds():
        add_row(table, entry["name"], entry["title"])
    out.print(table)


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds // 10**9}.{nanoseconds % 10**9:09}"
