"""`penstock headroom`: the exact need of each kind of port beside vendors' formulas, and tables of SONiC."""

import json as jsonlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from penstock._core import read_quantity
from penstock.cli.device_requests import HeadroomOptions
from penstock.cli.failure import InputError, say
from penstock.cli.locate import RESULTS, find
from penstock.cli.report import add_row, console, listing, print_fitting
from penstock.files import write_text
from penstock.headroom import (
    Judgement,
    Kind,
    Port,
    Proof,
    Response,
    Survey,
    Table,
    findings,
    formulas,
    judge,
    prove,
    read_response,
    read_table,
    row_scenario,
    survey,
)
from penstock.headroom.survey import merged, short
from penstock.quantity_text import bit_rate, count, duration, octets, share


def headroom(given: HeadroomOptions) -> None:
    """Print the headroom of a fabric, or judge a table."""
    response = None if given.response is None else read_response(given.response)
    table = None if given.table is None else read_table(given.table)
    if given.fabric is not None:
        _refuse(
            given, ("cell", "scenarios", "mtu"), "options of --table alone; a fabric has pfc.mtu and [[switch]] cell"
        )
        _of_fabric(given, given.fabric, response, table)
    elif table is not None:
        _refuse(given, ("prove", "out"), "options of a fabric; name one")
        _of_table(given, table, response)
    else:
        raise InputError(
            "nothing to do: no fabric and no --table", "name a scenario with [pfc], or a pg_profile_lookup.ini"
        )


def _refuse(given: HeadroomOptions, names: Sequence[str], reason: str) -> None:
    changed = [f"--{name}" for name in names if getattr(given, name) != getattr(HeadroomOptions, name)]
    if changed:
        raise InputError(f"{', '.join(changed)}: {reason}", "leave them out")


def _of_fabric(given: HeadroomOptions, name: str, response: Response | None, table: Table | None) -> None:
    if given.out is not None and not given.prove:
        raise InputError("--out is the folder of --prove", "add --prove, or leave it out")
    own = formulas(
        lossless_mtu=given.lossless_mtu,
        small_packet_percentage=given.small_packets,
        shared_headroom=given.shared_headroom,
        gearbox_ns=given.gearbox,
        delay_bits=given.pfc_delay,
    )
    scenario = find(name, given.sets)
    found = survey(scenario, response=response, lanes=given.lanes, table=table, by=own, limit=given.limit)
    proofs: list[tuple[Proof, Path]] = []
    if given.prove:
        folder = given.out or RESULTS / f"{scenario.name}-headroom"
        for kind in found.kinds:
            proof = prove(kind.port)
            path = folder / f"headroom-{kind.port.speed_mbps // 1000}G-{kind.port.cable_m:g}m.toml"
            proofs.append((proof, path))
            folder.mkdir(parents=True, exist_ok=True)
            write_text(path, proof.scenario)
    if given.json:
        typer.echo(jsonlib.dumps(_document(found, proofs, table), indent=2))
        return
    _print_survey(found, table)
    for kind, (proof, path) in zip(found.kinds, proofs, strict=False):
        _print_proof(kind, proof, path)


def _document(found: Survey, proofs: Sequence[tuple[Proof, Path]], table: Table | None) -> dict[str, Any]:
    document = {**asdict(found), "table": None if table is None else table.file}
    for kind, (proof, path) in zip(document["kinds"], proofs, strict=False):
        about = {key: value for key, value in asdict(proof).items() if key not in ("need", "scenario")}
        kind["proof"] = {**about, "formula": proof.formula, "holds": proof.holds, "file": str(path)}
    return document


def _print_survey(found: Survey, table: Table | None) -> None:
    screen = console()
    screen.print(
        f"{found.fabric}: headroom of a line and a lossless priority ({', '.join(map(str, found.priorities))})"
    )
    ports = listing(
        "ports", "", "number", "rate", "cable", "MTU", "cell", "lanes", "response", "octets", "cells", "memory"
    )
    for kind in found.kinds:
        own = kind.port
        add_row(
            ports,
            kind.nodes,
            f"-> {kind.peers}",
            count(len(kind.ports)),
            bit_rate(own.speed_mbps * 1e6),
            f"{own.cable_m:g} m",
            octets(own.mtu),
            "-" if own.cell == 1 else octets(own.cell),
            str(own.lanes),
            duration(own.response() / 1e12),
            count(kind.need.octets),
            None if kind.need.cells is None else count(kind.need.cells),
            count(kind.need.memory),
        )
    print_fitting(screen, ports)
    screen.print()
    chips = [chip for chip in found.chips if chip.memory_octets is not None]
    columns = [f"{short(kind.port)} (of the need)" for kind in found.kinds]
    rows = listing(
        "octets", *columns, *(f"{chip.switches} has left of {octets(chip.memory_octets or 0)}" for chip in chips)
    )
    add_row(
        rows,
        "exact minimum",
        *(count(kind.need.memory) for kind in found.kinds),
        *(octets(chip.left_octets["exact"]) for chip in chips),
    )
    for name, (index, *_) in merged(found.kinds):
        entries = [kind.entries[index] for kind in found.kinds]
        cells = [
            None
            if entry.xoff_octets is None
            else f"{count(entry.xoff_octets)} ({share(entry.xoff_octets / entry.need_octets)})"
            for entry in entries
        ]
        left = [chip.left_octets.get(entries[0].key) for chip in chips]
        add_row(rows, name, *cells, *(None if rest is None else _left(rest) for rest in left))
    print_fitting(screen, rows)
    screen.print("Need: in the cells of the chip that a formula is for, or in those of the fabric.")
    if table is not None:
        for kind in found.kinds:
            screen.print(f"{short(kind.port)}: {kind.entries[-1].source}")
    for sentence in found.findings:
        screen.print(sentence)
    for note in found.notes:
        say(f"note: {note}")


def _left(rest: int) -> str:
    return octets(rest) if rest >= 0 else f"{octets(-rest)} too few"


def _print_proof(kind: Kind, proof: Proof, path: Path) -> None:
    unit = "octets" if proof.need.cells is None else "cells"
    verdict = "as the formula says" if proof.holds else f"but the formula says {count(proof.formula)}"
    console().print(
        f"{short(kind.port)}: {count(proof.least)} {unit} lose nothing in {count(proof.attacks)} attacks "
        f"({count(proof.frames)} frames), {verdict}; {count(proof.least - 1)} lose {count(proof.lost)}: {path}"
    )
    if proof.need != kind.need:
        say(f"note: {kind.ports[0]} needs more: its line back differs, its rate changes, or frames are copied")


def _of_table(given: HeadroomOptions, table: Table, response: Response | None) -> None:
    mtu = _size(given.mtu, "mtu")
    cell = table.cell() if given.cell is None else _size(given.cell, "cell")
    judged = judge(table, mtu=mtu, cell=cell, response=response)
    if given.scenarios is not None:
        given.scenarios.mkdir(parents=True, exist_ok=True)
        for row in table.rows:
            path = given.scenarios / f"line{row.line}-{row.speed_mbps}-{row.cable_m:g}m.toml"
            write_text(path, row_scenario(row, cell=cell or 1, mtu=mtu))
    found = findings(table)
    short_rows = [one for one in judged if one.missing]
    if given.json:
        document = {
            "table": table.file,
            "mtu_octets": mtu,
            "cell_octets": cell,
            "below": len(short_rows),
            "rows": [{**asdict(one), "kind": one.row.kind, "need_memory_octets": one.need.memory} for one in judged],
            "findings": found,
        }
        typer.echo(jsonlib.dumps(document, indent=2))
        return
    _print_rows(judged)
    screen = console()
    kinds = Counter(one.row.kind for one in judged)
    screen.print(
        f"{table.file}: {count(len(short_rows))} of {count(len(judged))} rows are below the need; "
        + ", ".join(f"{count(number)} {_KINDS[kind]}" for kind, number in sorted(kinds.items()))
    )
    for sentence in found:
        screen.print(sentence)
    if cell is None:
        say("note: the sizes name no chip; need is in octets, and larger in cells: give --cell, such as --cell 192")
    elif given.cell is None:
        say(f"note: all sizes are whole cells of {cell} octets; another cell with --cell")
    if given.scenarios is not None:
        say(f"written: {count(len(table.rows))} scenarios in {given.scenarios}")


_KINDS = {"shared": "share a headroom pool", "private": "have private headroom", "other": "have other sizes"}


def _size(text: str, name: str) -> int:
    try:
        size = read_quantity(text if not text.isdigit() else f"{text} octets", "octets")
    except ValueError as error:
        raise InputError(f"--{name} {text}: not a size", "write, for instance, '9216 octets'") from error
    # It refuses what no port has.
    Port(**{"speed_mbps": 100_000, "cable_m": 1, name: int(size)})
    return int(size)


def _print_rows(judged: Sequence[Judgement]) -> None:
    rows = listing("line", "speed", "cable", "size", "xon", "xoff", "threshold", "need", "cells", "verdict")
    for one in judged:
        row = one.row
        verdict = f"{count(one.missing)} octets too few" if one.missing else "enough"
        add_row(
            rows,
            str(row.line),
            bit_rate(row.speed_mbps * 1e6),
            f"{row.cable_m:g} m",
            count(row.size),
            count(row.xon),
            count(row.xoff),
            row.alpha,
            count(one.need.memory),
            None if one.need.cells is None else count(one.need.cells),
            verdict,
        )
    print_fitting(console(), rows)
