"""Headroom in a report: a fabric's need beside formulas and tables, or the rows of a table that are judged."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from penstock.declared import Outline
from penstock.fabrics import port_kinds
from penstock.headroom import Judgement, Kind, Proof, Survey
from penstock.headroom import Table as Rows
from penstock.headroom.survey import merged, short
from penstock.quantity_text import bit_rate, count, duration, octets, share
from penstock.reports import fabric
from penstock.reports.model import Cell, Mark, Part, Points, Report, Section, Source, Table
from penstock.reports.page import picture

_CAPTION = "Headroom by formula, over the exact need. Left of the dashed line frames can be lost."
_KINDS = {"shared": "share a headroom pool", "private": "have private headroom", "other": "have other sizes"}


def title(found: Survey) -> str:
    """Return the line above the tables of a survey."""
    priorities = ", ".join(map(str, found.priorities))
    return f"{found.fabric}: headroom of a line and a lossless priority ({priorities})"


def ports(found: Survey) -> Table:
    """Return a line for each kind of port: what its headroom follows from, and the exact need."""
    head = ("ports", "to", "number", "rate", "cable", "MTU", "cell", "lanes", "response", "octets", "cells", "memory")
    return Table(
        head,
        [
            (
                kind.nodes,
                kind.peers,
                count(len(kind.ports)),
                bit_rate(kind.port.speed_mbps * 1e6),
                f"{kind.port.cable_m:g} m",
                octets(kind.port.mtu),
                "-" if kind.port.cell == 1 else octets(kind.port.cell),
                str(kind.port.lanes),
                duration(kind.port.response() / 1e12),
                count(kind.need.octets),
                None if kind.need.cells is None else count(kind.need.cells),
                count(kind.need.memory),
            )
            for kind in found.kinds
        ],
    )


def needs(found: Survey) -> Table:
    """Return a line for the exact need and for each formula, with its share of the need and the rest of each chip."""
    chips = [chip for chip in found.chips if chip.memory_octets is not None]
    columns = [f"{short(kind.port)} (of the need)" for kind in found.kinds]
    head = ("octets", *columns, *(f"{chip.switches} has left of {octets(chip.memory_octets or 0)}" for chip in chips))
    rows: list[Sequence[Cell]] = [
        (
            "exact minimum",
            *(count(kind.need.memory) for kind in found.kinds),
            *(octets(chip.left_octets["exact"]) for chip in chips),
        )
    ]
    for name, (index, *_) in merged(found.kinds):
        entries = [kind.entries[index] for kind in found.kinds]
        cells = [
            None
            if entry.xoff_octets is None
            else f"{count(entry.xoff_octets)} ({share(entry.xoff_octets / entry.need_octets)})"
            for entry in entries
        ]
        left = [chip.left_octets.get(entries[0].key) for chip in chips]
        rows.append((name, *cells, *(None if rest is None else _left(rest) for rest in left)))
    return Table(head, rows, note="Need: in the cells of the chip that a formula is for, or in those of the fabric.")


def _left(rest: int) -> str:
    return octets(rest) if rest >= 0 else f"{octets(-rest)} too few"


def proof_in_words(kind: Kind, proof: Proof, path: Path) -> str:
    """Return the outcome of an attack on a kind of port; ``path`` is the scenario that loses."""
    unit = "octets" if proof.need.cells is None else "cells"
    verdict = "as the formula says" if proof.holds else f"but the formula says {count(proof.formula)}"
    return (
        f"{short(kind.port)}: {count(proof.least)} {unit} lose nothing in {count(proof.attacks)} attacks "
        f"({count(proof.frames)} frames), {verdict}; {count(proof.least - 1)} lose {count(proof.lost)}: {path}"
    )


def rows(judged: Sequence[Judgement]) -> Table:
    """Return the rows of a table of SONiC, each with its need and its verdict."""
    return Table(
        ("line", "speed", "cable", "size", "xon", "xoff", "threshold", "need", "cells", "verdict"),
        [
            (
                str(one.row.line),
                bit_rate(one.row.speed_mbps * 1e6),
                f"{one.row.cable_m:g} m",
                count(one.row.size),
                count(one.row.xon),
                count(one.row.xoff),
                one.row.alpha,
                count(one.need.memory),
                None if one.need.cells is None else count(one.need.cells),
                Mark(f"{count(one.missing)} octets too few", False) if one.missing else Mark("enough", True),
            )
            for one in judged
        ],
    )


def rows_in_words(table: Rows, judged: Sequence[Judgement]) -> str:
    """Return how many rows of a table are below the need."""
    below = sum(one.missing > 0 for one in judged)
    kinds = Counter(one.row.kind for one in judged)
    return f"{table.file}: {count(below)} of {count(len(judged))} rows are below the need; " + ", ".join(
        f"{count(number)} {_KINDS[kind]}" for kind, number in sorted(kinds.items())
    )


def of_survey(
    found: Survey,
    outline: Outline,
    proofs: Sequence[tuple[Proof, Path]] = (),
    *,
    table: Rows | None = None,
    sources: Sequence[Source] = (),
    command: str = "",
) -> Report:
    """Return the report of a fabric's headroom.

    Args:
        found: the survey.
        outline: the plan of the same scenario.
        proofs: proofs of the kinds of ports, in their order, each with the scenario that loses.
        table: the table that the survey compares with.
        sources: the scenario and the table.
        command: the command that repeats it.
    """
    from penstock.figures.headroom import shares

    evidence: list[Part] = [
        picture(lambda: shares(found.kinds), _CAPTION, "shares"),
        needs(found),
        ports(found),
    ]
    sections = [Section("Headroom of a line and a lossless priority", evidence)]
    if found.findings:
        sections.append(Section("What formulas and tables miss", [Points(found.findings)]))
    if proofs:
        sentences = [proof_in_words(kind, *proof) for kind, proof in zip(found.kinds, proofs, strict=False)]
        sections.append(Section("Proof by attack", [Points(sentences)]))
    verdict, good = _verdict(found, outline, table)
    return Report(
        title=found.fabric,
        kind="Headroom",
        question=outline["question"],
        verdict=verdict,
        good=good,
        sections=[*sections, fabric.section(outline)],
        assumptions=[
            "The need is the worst case: a line full of frames that waste most of each cell, a frame of full length "
            "on the way back, and the longest response that the ports may have.",
            f"The longest frame has {octets(found.kinds[0].port.mtu)}. A cable takes 5.05 ns a metre, unless the "
            "scenario gives its delay.",
            *found.notes,
        ],
        sources=sources,
        command=command,
    )


def _verdict(found: Survey, outline: Outline, table: Rows | None) -> tuple[str, bool]:
    if table is not None:
        entries = [(kind, kind.entries[-1]) for kind in found.kinds]
        below = [(kind, entry) for kind, entry in entries if entry.missing_octets]
        if not below:
            return f"{table.file} has enough headroom for every kind of port that it has a row for.", True
        kind, entry = max(below, key=lambda one: one[1].missing_octets)
        return (
            f"{table.file} is below the need at {count(len(below))} of {count(len(entries))} kinds of ports; "
            f"{short(kind.port)} lacks most: {octets(entry.missing_octets)} of {octets(entry.need_octets)}."
        ), False
    lacking = [
        (kind.headroom_needed_octets - kind.headroom_octets, kind)
        for kind in port_kinds(outline)
        if kind.headroom_octets is not None
        and kind.headroom_needed_octets is not None
        and kind.headroom_octets < kind.headroom_needed_octets
    ]
    if lacking:
        missing, own = max(lacking, key=lambda one: one[0])
        return (
            f"The headroom is not enough: {own.nodes} to {own.peers} lacks {octets(missing)} a line and priority.",
            False,
        )
    small = [chip for chip in found.chips if chip.left_octets.get("exact", 0) < 0]
    if small:
        return (
            f"The exact need does not fit: {small[0].switches} lacks {octets(-small[0].left_octets['exact'])}.",
            False,
        )
    sizes = ", ".join(f"{octets(kind.need.memory)} at {short(kind.port)}" for kind in found.kinds)
    return f"The headroom is enough: a line and priority need {sizes}, and have it.", True


def of_rows(
    table: Rows,
    judged: Sequence[Judgement],
    findings: Sequence[str],
    *,
    sources: Sequence[Source] = (),
    command: str = "",
) -> Report:
    """Return the report of a table of SONiC whose rows have been judged; ``findings`` are contradictions in it."""
    sections = [Section("Rows", [rows(judged)])]
    if findings:
        sections.append(Section("Rows that contradict each other", [Points(findings)]))
    port = judged[0].need.cell if judged else 1
    return Report(
        title=Path(table.file).name,
        kind="Headroom of a table",
        verdict=f"{rows_in_words(table, judged)}.",
        good=not any(one.missing for one in judged),
        sections=sections,
        assumptions=[
            "Each row is judged by the worst case of its speed and cable, with the response that 802.3 allows.",
            "Need counts octets." if port == 1 else f"Need counts whole cells of {port} octets.",
        ],
        sources=sources,
        command=command,
    )
