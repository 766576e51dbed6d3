"""`penstock check`: faults of a device's configuration, line by line."""

import json as jsonlib
from dataclasses import asdict

import typer

from penstock.cli.device_requests import CheckOptions
from penstock.cli.failure import FAILED, InputError, say
from penstock.cli.locate import find
from penstock.cli.report_file import check_report, command, write_report
from penstock.devices import FORMATS, check, read_file, sonic, write_scenarios
from penstock.devices.findings import Finding
from penstock.reports import Source
from penstock.reports.checks import of_check


def check_one(given: CheckOptions) -> None:
    """Check a configuration; status 1 if it has an error."""
    if given.form is not None and given.form not in FORMATS:
        raise InputError(f"--format {given.form}: unknown format", f"write {', '.join(FORMATS)}")
    check_report(given.report, force=given.force)
    for path in filter(None, (given.config, given.peer)):
        if not path.is_file():
            raise InputError(f"{path}: is not a file", "give a configuration, such as config_db.json")
    reading = read_file(given.config, given.form)
    other = None if given.peer is None else read_file(given.peer)
    fabric = None if given.fabric is None else find(given.fabric, [])
    if given.load and fabric is None:
        raise InputError("--load: there is no fabric that could run", "name its scenario with --fabric")
    findings = check(reading, fabric=fabric, chip=given.chip, other=other, load=given.load)
    if given.yang is not None:
        from penstock.devices.sonic_yang import validate

        text = given.config.read_text(encoding="utf-8")
        findings += validate(sonic.tables_of(text, str(given.config)), given.yang)
    if given.scenarios is not None:
        findings = write_scenarios(findings, given.scenarios)
    errors = sum(finding.severity == "error" for finding in findings)
    if given.report is not None:
        sources = [Source.of_file(path) for path in (given.config, given.peer) if path is not None]
        outline = None if fabric is None else fabric.outline()
        sources += [] if fabric is None else [Source.of_scenario(fabric)]
        report = of_check(str(given.config), findings, outline=outline, sources=sources, command=command())
        write_report(report, given.report)
    if given.json:
        shown = [{key: value for key, value in asdict(one).items() if key != "scenario"} for one in findings]
        typer.echo(jsonlib.dumps({"file": str(given.config), "errors": errors, "findings": shown}, indent=2))
    else:
        for finding in findings:
            typer.echo(_line(str(given.config), finding))
        warnings = sum(finding.severity == "warning" for finding in findings)
        say(f"errors: {errors}, warnings: {warnings}")
    if errors:
        raise typer.Exit(FAILED)


def _line(file: str, finding: Finding) -> str:
    place = file if finding.line is None else f"{file}:{finding.line}"
    text = f"{place}: {finding.severity}: {finding.where}: {finding.message}"
    text += f"; {finding.remedy}" if finding.remedy else ""
    return f"{text} [{finding.scenario_file}]" if finding.scenario_file else text
