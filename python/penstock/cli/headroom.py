"""`penstock headroom`: the exact need of each kind of port beside vendors' formulas, and tables of SONiC."""

import json as jsonlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from penstock._core import read_quantity
from penstock.cli.device_requests import HeadroomOptions
from penstock.cli.failure import InputError, say
from penstock.cli.locate import RESULTS, find
from penstock.cli.report import console, print_table
from penstock.cli.report_file import check_report, command, write_report
from penstock.files import write_text
from penstock.headroom import (
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
from penstock.headroom.survey import short
from penstock.quantity_text import count
from penstock.reports import Source
from penstock.reports import headroom as parts


def headroom(given: HeadroomOptions) -> None:
    """Print the headroom of a fabric, or judge a table."""
    check_report(given.report, force=given.force)
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
    if given.report is not None:
        sources = [Source.of_scenario(scenario), *([Source.of_file(given.table)] if given.table else [])]
        outline = scenario.outline(limit=given.limit)
        report = parts.of_survey(found, outline, proofs, table=table, sources=sources, command=command())
        write_report(report, given.report)
    if given.json:
        typer.echo(jsonlib.dumps(_document(found, proofs, table), indent=2))
        return
    _print_survey(found, table)
    for kind, (proof, path) in zip(found.kinds, proofs, strict=False):
        console().print(parts.proof_in_words(kind, proof, path))
        if proof.need != kind.need:
            say(f"note: {kind.ports[0]} needs more: its line back differs, its rate changes, or frames are copied")


def _document(found: Survey, proofs: Sequence[tuple[Proof, Path]], table: Table | None) -> dict[str, Any]:
    document = {**asdict(found), "table": None if table is None else table.file}
    for kind, (proof, path) in zip(document["kinds"], proofs, strict=False):
        about = {key: value for key, value in asdict(proof).items() if key not in ("need", "scenario")}
        kind["proof"] = {**about, "formula": proof.formula, "holds": proof.holds, "file": str(path)}
    return document


def _print_survey(found: Survey, table: Table | None) -> None:
    screen = console()
    screen.print(parts.title(found))
    print_table(screen, parts.ports(found))
    screen.print()
    print_table(screen, parts.needs(found))
    if table is not None:
        for kind in found.kinds:
            screen.print(f"{short(kind.port)}: {kind.entries[-1].source}")
    for sentence in found.findings:
        screen.print(sentence)
    for note in found.notes:
        say(f"note: {note}")


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
    if given.report is not None and given.table is not None:
        sources = [Source.of_file(given.table)]
        write_report(parts.of_rows(table, judged, found, sources=sources, command=command()), given.report)
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
    screen = console()
    print_table(screen, parts.rows(judged))
    screen.print(parts.rows_in_words(table, judged))
    for sentence in found:
        screen.print(sentence)
    if cell is None:
        say("note: the sizes name no chip; need is in octets, and larger in cells: give --cell, such as --cell 192")
    elif given.cell is None:
        say(f"note: all sizes are whole cells of {cell} octets; another cell with --cell")
    if given.scenarios is not None:
        say(f"written: {count(len(table.rows))} scenarios in {given.scenarios}")


def _size(text: str, name: str) -> int:
    try:
        size = read_quantity(text if not text.isdigit() else f"{text} octets", "octets")
    except ValueError as error:
        raise InputError(f"--{name} {text}: not a size", "write, for instance, '9216 octets'") from error
    # It refuses what no port has.
    Port(**{"speed_mbps": 100_000, "cable_m": 1, name: int(size)})
    return int(size)
