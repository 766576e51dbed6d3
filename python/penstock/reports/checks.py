"""The report of `penstock check`: findings in a configuration, and what to write instead."""

from collections import Counter
from collections.abc import Sequence

from penstock.declared import Outline
from penstock.devices import Finding
from penstock.quantity_text import count
from penstock.reports import fabric
from penstock.reports.model import Mark, Report, Section, Source, Table

_KINDS = {
    "syntax": "Syntax",
    "reference": "References",
    "range": "Ranges",
    "sum": "Sums: memory of the chip and of pools",
    "meaning": "Meaning: effects of settings together",
}


def of_check(
    file: str,
    findings: Sequence[Finding],
    *,
    outline: Outline | None = None,
    sources: Sequence[Source] = (),
    command: str = "",
) -> Report:
    """Return the report of a configuration that has been checked.

    Args:
        file: the configuration.
        findings: its faults, and notes on parts that were not checked.
        outline: the plan of the fabric that it is checked against; ``None`` without one.
        sources: the configuration, the other side of the link, the scenario of the fabric.
        command: the command that repeats it.
    """
    sections = []
    for kind, title in _KINDS.items():
        own = [finding for finding in findings if finding.kind == kind and finding.severity != "note"]
        if own:
            sections.append(Section(title, [_table(own)]))
    if outline is not None:
        sections.append(fabric.section(outline))
    counts = Counter(finding.severity for finding in findings)
    return Report(
        title=file,
        kind="Check of a configuration",
        verdict=_verdict(findings, counts["error"], counts["warning"]),
        good=counts["error"] == 0,
        sections=sections,
        assumptions=[
            "A finding of meaning holds for the worst case: full lines, the longest response, short frames in cells."
            if outline is not None
            else "Without the scenario of a fabric, headroom, marks and sums are checked as far as the file goes.",
            *dict.fromkeys(f"Not checked: {one.where}: {one.message}" for one in findings if one.severity == "note"),
        ],
        sources=sources,
        command=command,
    )


def _table(findings: Sequence[Finding]) -> Table:
    shown = any(finding.scenario_file for finding in findings)
    return Table(
        ("setting", "line", "", "found", "remedy", *(["shown by"] if shown else [])),
        [
            (
                one.where,
                None if one.line is None else str(one.line),
                Mark(one.severity, False if one.severity == "error" else None),
                one.message,
                one.remedy or None,
                *([one.scenario_file] if shown else []),
            )
            for one in findings
        ],
    )


def _verdict(findings: Sequence[Finding], errors: int, warnings: int) -> str:
    if not errors:
        rest = f"; warnings: {count(warnings)}" if warnings else ""
        return f"No error is found{rest}."
    first = next(finding for finding in findings if finding.severity == "error")
    place = "" if first.line is None else f"line {first.line}, "
    more = f" Errors in all: {count(errors)}." if errors > 1 else ""
    return f"The configuration has an error in {place}{first.where}: {first.message}.{more}"
