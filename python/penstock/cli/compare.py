"""`penstock compare`: scenarios and schemes side by side, over several seeds."""

import json
from collections.abc import Sequence
from pathlib import Path

import typer

from penstock import interrupts
from penstock.cli.failure import INTERRUPTED, InputError, say
from penstock.cli.locate import RESULTS, find, is_results
from penstock.cli.measured import draw, laid_over, measured_files, print_overlay, telemetry
from penstock.cli.options import runs_on, words
from penstock.cli.progress import Progress
from penstock.cli.report_file import check_report, command, write_report
from penstock.cli.requests import CompareOptions
from penstock.cli.run import drawing, fail_on_claims, fail_on_drawing
from penstock.comparison import Comparison, compare
from penstock.reports import Source
from penstock.result import Result
from penstock.scenario import Scenario
from penstock.side_by_side import side_by_side
from penstock.sweeps import axes
from penstock.telemetry import Overlay
from penstock.variants import typed


def compare_all(given: CompareOptions) -> None:
    """Run every scenario with every scheme and seed, write the folder with its figures, print one table."""
    check_report(given.report, force=given.force)
    names = given.scenarios
    folders = [Path(name) for name in names if is_results(Path(name))]
    if folders:
        if len(folders) < len(names):
            other = next(name for name in names if not is_results(Path(name)))
            raise InputError(f"{other}: not a results folder, as the others are", f"run it first: penstock run {other}")
        _put_together(given, folders)
        return
    scenarios = [find(name, given.sets) for name in names]
    sources = [Source.of_scenario(scenario) for scenario in scenarios]
    measured = telemetry(given, scenarios)
    if measured is not None:
        scenarios = [measured.names.recorded(scenarios[0])]
    folder = given.out or RESULTS / f"{_in_short([scenario.name for scenario in scenarios])}-compare"
    with (
        runs_on(given.ray) as executor,
        Progress(quiet=given.quiet) as progress,
        interrupts.on_interrupt(progress.stop),
    ):
        comparison = compare(
            scenarios,
            [*words(given.schemes), *(typed(text) for text in given.variants)],
            vary=[axes.typed(text) for text in given.vary],
            seeds=given.seeds,
            profile=given.profile,
            queue=given.queue,
            out=folder,
            force=given.force,
            resume=given.resume,
            callbacks=progress.callbacks(),
            executor=executor,
            limit=given.limit,
        )
    # An interrupt that falls between the last run and the end of the writing has stopped none.
    laid = None if measured is None else laid_over(measured, comparison, folder)
    stopped = comparison.interrupted or progress.stopped
    _show(given, comparison, folder, scenarios, sources, interrupted=stopped, measured=laid)


def _put_together(given: CompareOptions, folders: Sequence[Path]) -> None:
    """Put the runs of results folders side by side."""
    refused = {
        "--schemes": given.schemes is not None,
        "--variant": given.variants,
        "--vary": given.vary,
        "--seeds": given.seeds > 1,
        "--resume": given.resume,
        "--set": given.sets,
        "--profile": given.profile,
        "--ray": given.ray,
        "--measured": given.measured,
    }
    for option, value in refused.items():
        if value:
            raise InputError(f"{option}: the runs of results folders have ended", "leave it out, or name scenarios")
    labels = [folder.resolve().name for folder in folders]
    for label in labels:
        if labels.count(label) > 1:
            raise InputError(f"two results folders have the name {label}", "rename one of them")
    results = {label: Result.open(folder) for label, folder in zip(labels, folders, strict=True)}
    folder = given.out or RESULTS / f"{_in_short(labels)}-compare"
    comparison = side_by_side(results, queue=given.queue, out=folder, force=given.force)
    sources = [Source.of_file(own / "scenario.toml") for own in folders]
    _show(given, comparison, folder, [], sources, interrupted=False)


def _show(
    given: CompareOptions,
    comparison: Comparison,
    folder: Path,
    scenarios: Sequence[Scenario],
    sources: Sequence[Source],
    *,
    interrupted: bool,
    measured: Overlay | None = None,
) -> None:
    """Draw a comparison, print its table, and end with the status that it calls for."""
    # Drawing takes seconds, and an interrupt must not wait for it.
    with interrupts.exit_note(f"while drawing; the records are whole and in {folder}"):
        _, undrawn = (None, None) if interrupted else drawing(comparison.write_figures)
        if measured is not None and undrawn is None and not interrupted:
            title = f"{given.scenarios[0]}: measured beside simulated"
            _, undrawn = drawing(lambda: draw(measured, title, folder))
        if given.report is not None and not interrupted:
            _, unreported = drawing(lambda: _report(given, comparison, scenarios, sources, measured))
            undrawn = undrawn or unreported

    if given.json:
        typer.echo(json.dumps(comparison.document, indent=2))
    elif not given.quiet:
        from penstock.cli.report import print_comparison

        print_comparison(comparison.document, folder)
        if measured is not None:
            print_overlay(measured)
    if undrawn is not None:
        fail_on_drawing(undrawn, folder)
    if interrupted:
        say(f"interrupted; the records up to then are in {folder}")
        say(f"hint: penstock plot {folder} draws it")
        raise typer.Exit(INTERRUPTED)
    if comparison.broken_claims:
        fail_on_claims(comparison.broken_claims, folder)


def _report(
    given: CompareOptions,
    comparison: Comparison,
    scenarios: Sequence[Scenario],
    sources: Sequence[Source],
    measured: Overlay | None,
) -> None:
    """Write the report of a comparison, with the network if all scenarios have the same, and measured values."""
    from penstock.reports import of_comparison

    if given.report is None:
        return
    plans = [scenario.outline(limit=given.limit) for scenario in scenarios]
    alike = bool(plans) and all(plan["links"] == plans[0]["links"] for plan in plans)
    outline = plans[0] if alike else None
    files = [] if measured is None else [Source.of_file(path) for path in measured_files(given)]
    origin = [*sources, *files]
    report = of_comparison(comparison, outline=outline, measured=measured, sources=origin, command=command())
    write_report(report, given.report, quiet=given.quiet)


def _in_short(names: Sequence[str]) -> str:
    """Name up to three scenarios, of more the first and how many others."""
    return "-".join(names) if len(names) <= 3 else f"{names[0]}-and-{len(names) - 1}-more"
