"""`penstock run`: one scenario, one scheme, one seed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NoReturn, TypeVar, cast

import typer

from penstock import interrupts
from penstock.catalogue import label_of
from penstock.cli.failure import FAILED, INTERRUPTED, say
from penstock.cli.locate import RESULTS, find
from penstock.cli.options import words
from penstock.cli.progress import Progress
from penstock.cli.report_file import check_report, command, write_report
from penstock.cli.requests import RunOptions
from penstock.declared import Outline
from penstock.quantity_text import duration
from penstock.reports import Source
from penstock.result import ClaimError, Result
from penstock.terminal import printable_json

T = TypeVar("T")


def run_one(given: RunOptions) -> None:
    """Run, write the folder, print the summary."""
    scenario = find(given.scenario, given.sets)
    scheme, threads, figures = given.scheme, given.threads, not given.no_figures
    # Laying the scenario out finds what is wrong with it before anything is written.
    plan = scenario.outline(scheme=scheme, profile=given.profile, seed=given.seed, limit=given.limit)
    # Where priorities name their schemes, the plan's is called "mixed" under any choice for the others.
    folder = (
        given.out or RESULTS / f"{plan['name']}-{label_of(scheme) if scheme else plan['scheme']}-seed{plan['seed']}"
    )

    check_report(given.report, force=given.force)
    source = Source.of_scenario(scenario)
    ports = words(given.pcap)
    if ports and plan["feedback_s"] is not None and not given.quiet:
        say("note: feedback is ideal: signals of the scheme cross no port, and the capture has none of them")

    interrupts.writes(folder)
    with Progress(quiet=given.quiet) as progress, interrupts.on_interrupt() as kept:
        result = scenario.run(
            scheme=scheme,
            profile=given.profile,
            seed=given.seed,
            out=folder,
            force=given.force,
            progress=progress.task(plan["scheme"]),
            limit=given.limit,
            pcap=ports,
            # Any other word is refused with the values that would be right.
            threads=int(threads) if threads.isdecimal() else cast(Literal["auto"], threads),
        )
    if result.python_share is not None and not given.quiet:
        say(f"{result.python_share:.0%} of the time went into the methods of the scheme in Python")
    if result.threads is not None and result.threads[1] and not given.quiet:
        number, reason = result.threads
        say(f"{number} {'thread' if number == 1 else 'threads'}: {reason}")
    if kept.asked or result.interrupted:
        if result.interrupted:
            at = duration(result.interrupted_at_s or 0.0)
            say(f"interrupted at {at} of {duration(plan['duration_s'])}; the records up to then are in {folder}")
        else:
            # The run had come to its end, and could not be ended any more.
            say(f"interrupted when the run had ended; the records are whole and in {folder}")
        # Drawing takes seconds, and an interrupt must not wait for it.
        if figures:
            say(f"hint: penstock plot {folder} draws it")
            figures = False
    whole = f"the records are whole and in {folder}"
    with interrupts.exit_note(f"while drawing; {whole}"):
        drawn, undrawn = drawing(lambda: _figures(result, folder)) if figures else ([], None)
        if given.report is not None and not (kept.asked or result.interrupted):
            _, unreported = drawing(lambda: _report(given, source, result, plan))
            undrawn = undrawn or unreported

    if given.json:
        typer.echo(printable_json(result.summary_json), nl=False)
    elif not given.quiet:
        from penstock.cli.report import print_run

        print_run(result, plan, folder, drawn or [])
        if ports:
            typer.echo(f"frames of {', '.join(ports)} in {folder / 'capture.pcapng'}")
    if undrawn is not None:
        fail_on_drawing(undrawn, folder)
    if kept.asked or result.interrupted:
        raise typer.Exit(INTERRUPTED)
    # The search for the cause needs the records and the figures, so that the failure comes last.
    if (broken := result.broken_claim()) is not None:
        fail_on_claims({plan["name"]: broken}, folder)


def fail_on_claims(broken: Mapping[str, ClaimError], folder: Path) -> NoReturn:
    """Say which runs broke a claim of their scenario, and end with the status of a failure."""
    for label, error in broken.items():
        say(f"error: {label}: {error.message}")
    for hint in dict.fromkeys(error.hint for error in broken.values()):
        say(f"hint: {hint}")
    say(f"the records are whole and in {folder}")
    raise typer.Exit(FAILED)


def drawing(draw: Callable[[], T]) -> tuple[T | None, Exception | None]:
    """Draw; a fault in drawing must not lose the records, and is reported when all else is done."""
    try:
        return draw(), None
    except Exception as error:
        return None, error


def fail_on_drawing(error: Exception, folder: Path) -> NoReturn:
    """Say that there is no figure and why, and end with the status of a failure."""
    say(f"error: the figures could not be drawn: {type(error).__name__}: {error}")
    say(f"the records are whole and in {folder}")
    raise typer.Exit(FAILED)


def _figures(result: Result, folder: Path) -> list[Path]:
    """Write the figures of a run, and return their files."""
    _load_matplotlib()
    from penstock.figures import write_all

    return write_all(result, folder)


def _report(given: RunOptions, source: Source, result: Result, plan: Outline) -> None:
    """Write the report of a run, with figures where the run draws some."""
    from penstock.reports import of_run

    if given.report is not None:
        report = of_run(result, plan, sources=[source], command=command(), pictures=not given.no_figures)
        write_report(report, given.report, quiet=given.quiet)


def _load_matplotlib() -> None:
    """Load matplotlib without lists of properties in the descriptions of its classes.

    It writes them as it is loaded, which takes a tenth of the time of a short run, and no command shows them.
    """
    from matplotlib import artist

    artist.kwdoc = _no_words
    artist.Artist._update_set_signature_and_docstring = classmethod(_no_words)  # type: ignore[attr-defined]


def _no_words(artist: object) -> str:
    return ""
