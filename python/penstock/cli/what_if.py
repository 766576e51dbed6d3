"""`penstock what-if`: trials of a fabric with the present settings and with those proposed."""

import json as jsonlib
from collections.abc import Sequence

import typer
from rich.markup import escape

from penstock import interrupts
from penstock.cli.device_requests import WhatIfOptions
from penstock.cli.failure import InputError
from penstock.cli.locate import RESULTS, assignments, find
from penstock.cli.progress import Progress
from penstock.cli.report import console, print_table
from penstock.cli.report_file import check_report, command, write_report
from penstock.reports import Source, what_ifs
from penstock.scenario import Scenario
from penstock.what_ifs.outcome import WhatIf
from penstock.what_ifs.what_if import DOCUMENT, what_if


def what_if_of(given: WhatIfOptions) -> None:
    """Run the trials, and print an answer and a table for each."""
    check_report(given.report, force=given.force)
    fabric = find(given.fabric, [])
    folder = given.out or RESULTS / f"{fabric.name}-what-if"
    if folder.exists() and not (given.force or given.resume):
        hint = "replace its files with --force, or name another folder with --out"
        raise InputError(f"{folder} exists", f"go on with its runs with --resume, {hint}")
    settings = assignments(given.sets)
    proposed = settings or None if given.proposed is None else find(given.proposed, given.sets)
    # The hashes are those of the files as they are read.
    sources = [Source.of_scenario(one) for one in (fabric, proposed) if isinstance(one, Scenario)]
    note = f"the runs that had finished are in {folder}; go on with --resume"
    with (
        interrupts.exit_note(note),
        Progress(quiet=given.quiet) as progress,
        interrupts.on_interrupt(progress.stop),
    ):
        found = what_if(
            fabric,
            incast=given.incast,
            storm=given.storm,
            down=given.down,
            degrade=_pairs("degrade", given.degrade, "LINK=RATE", "leaf0--spine0=50%"),
            slow=_pairs("slow", given.slow, "HOST=RATE", "h3=10G"),
            victim=given.victim,
            deadlock=given.deadlock,
            proposed=proposed,
            to=given.to,
            size=given.size,
            receive_buffer=given.receive_buffer,
            links_down=given.links_down,
            duration=given.duration,
            seeds=given.seeds,
            out=folder,
            force=given.force,
            resume=given.resume,
            callbacks=progress.callbacks(),
            workers=given.jobs,
            limit=given.limit,
        )
    if given.report is not None:
        outline = fabric.outline(limit=given.limit)
        report = what_ifs.of_what_if(found, outline, sources=sources, command=command())
        write_report(report, given.report, quiet=given.quiet)
    if given.json:
        typer.echo(jsonlib.dumps(found.document, indent=2))
    elif not given.quiet:
        _print(found)


def _pairs(option: str, texts: Sequence[str], form: str, example: str) -> dict[str, str]:
    """Read the texts ``NAME=RATE`` of an option."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, rate = (part.strip() for part in text.partition("="))
        if not (name and equals and rate):
            raise InputError(f"--{option} {text}: not of the form {form}", f"write, for instance, --{option} {example}")
        if name in found:
            raise InputError(f"--{option} {name}: is there twice", "leave one of them out")
        found[name] = rate
    return found


def _print(found: WhatIf) -> None:
    screen = console()
    for trial in found.trials:
        screen.print(f"[bold]{escape(trial.name)}[/bold]: {escape(trial.sentence)}", soft_wrap=True)
        for note in trial.notes:
            screen.print(escape(f"note: {note}"), style="dim", soft_wrap=True)
        for remark in what_ifs.other_cycles(trial):
            screen.print(escape(remark), style="dim", soft_wrap=True)
        if trial.measures:
            print_table(screen, what_ifs.numbers(trial))
        screen.print()
    for note in found.notes:
        screen.print(escape(f"note: {note}"), style="dim", soft_wrap=True)
    made = next(scenario for trial in reversed(found.trials) for scenario in trial.scenarios)
    screen.print(f"numbers in {escape(str(found.path))}/{DOCUMENT}", soft_wrap=True)
    screen.print(f"repeat a trial with: penstock run {escape(str(found.path))}/{made.name}.toml", soft_wrap=True)
