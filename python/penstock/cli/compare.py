"""`penstock compare`: scenarios and schemes side by side, over several seeds."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import typer

from penstock import _core, interrupts
from penstock.cli.failure import INTERRUPTED, InputError, say
from penstock.cli.locate import RESULTS, find
from penstock.cli.progress import Progress
from penstock.cli.run import Request, drawing, fail_on_drawing, fail_on_loss
from penstock.files import write_text
from penstock.measures import busiest, measure, spreads
from penstock.result import FrameLossError, Result
from penstock.runs import Run, Watch, copies, run_many
from penstock.scenario import Description, Scenario


@dataclass(frozen=True, eq=False)
class Entry:
    """A line of the comparison: a scenario with a scheme."""

    label: str
    folder: str
    """What the names of its runs' folders begin with."""
    scenario: Scenario
    chosen: str | None
    """The scheme instead of the scenario's own."""
    plan: Description


@dataclass(frozen=True)
class Job:
    """One run of a comparison."""

    entry: Entry
    seed: int

    @property
    def folder(self) -> str:
        """Name of its folder below the comparison's."""
        return f"{self.entry.folder}-seed{self.seed}"


def run_all(request: Request, scenarios: Sequence[str], *, schemes: list[str], seeds: int, queue: str | None) -> None:
    """Run every scenario with every scheme and seed, write the folder, print one table."""
    entries = _entries(request, scenarios, schemes, seeds)
    if queue is not None:
        _known_queue(queue, entries)
    jobs = [Job(entry, entry.plan["seed"] + i) for entry in entries for i in range(seeds)]
    folder = request.out or RESULTS / f"{_folder_name(entries)}-compare"

    # The folder gets its name when all of it is there.
    interrupts.writes(folder)
    staged = _core.Folder.create(folder, request.force)
    try:
        with Progress(quiet=request.quiet) as progress, interrupts.keeping(progress.stop):
            done, losses = _run_jobs(request, jobs, staged.partial, progress)
        if not done:
            raise KeyboardInterrupt
        # An interrupt that falls between two runs stops neither, but those that have not begun are missing.
        interrupted = len(done) < len(jobs) or any(result.interrupted for result in done.values())
        document = _document(entries, done, queue)
        write_text(staged.partial / "compare.json", json.dumps(document, indent=2) + "\n")
        # Drawing takes seconds, and who interrupts waits for none.
        _, undrawn = (None, None) if interrupted else drawing(lambda: _draw(document, done, staged.partial))
        staged.publish()
    finally:
        staged.discard()

    if request.json:
        typer.echo(json.dumps(document, indent=2))
    elif not request.quiet:
        from penstock.cli.report import print_comparison

        print_comparison(document, folder)
    if undrawn is not None:
        fail_on_drawing(undrawn, folder)
    if interrupted:
        say(f"interrupted; what was recorded until then is in {folder}")
        say(f"hint: penstock plot {folder} draws it")
        raise typer.Exit(INTERRUPTED)
    if losses:
        fail_on_loss({f"{job.entry.label}, seed {job.seed}": loss for job, loss in losses.items()}, folder)


def _entries(request: Request, scenarios: Sequence[str], schemes: list[str], seeds: int) -> list[Entry]:
    """Lay out every line's plan, which finds what is wrong with any before the first runs."""
    if len(set(schemes)) != len(schemes):
        raise InputError(f"--schemes {','.join(schemes)}: a scheme is named twice", "name each once")
    if len(scenarios) == 1 and not schemes and seeds == 1:
        raise InputError(
            "one run is nothing to compare", "name schemes with --schemes A,B, another scenario, or --seeds N"
        )
    found = [find(name, request.sets) for name in scenarios]
    names = [scenario.name for scenario in found]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two scenarios are called {name}", "give one a name of its own: the key name in its file")
    choices: list[str | None] = [*schemes] or [None]
    entries = []
    for scenario in found:
        for chosen in choices:
            plan = scenario.describe(scheme=chosen, profile=request.profile, limit=request.limit)
            last = plan["seed"] + seeds - 1
            scenario.describe(scheme=chosen, profile=request.profile, seed=last, limit=request.limit)
            if len(found) == 1:
                # What was chosen, if anything: with priorities of their own schemes, the plan's are all called "mixed".
                label = folder = chosen or plan["scheme"]
            elif chosen is None:
                label = folder = scenario.name
            else:
                label, folder = f"{scenario.name}: {chosen}", f"{scenario.name}-{chosen}"
            entries.append(Entry(label, folder, scenario, chosen, plan))
    return entries


def _folder_name(entries: Sequence[Entry]) -> str:
    """Name up to three scenarios, of more the first and how many others."""
    names = list(dict.fromkeys(entry.scenario.name for entry in entries))
    return "-".join(names) if len(names) <= 3 else f"{names[0]}-and-{len(names) - 1}-more"


def _known_queue(queue: str, entries: Sequence[Entry]) -> None:
    known = list(dict.fromkeys(name for entry in entries for name in entry.plan["queues"]))
    if queue not in known:
        near = get_close_matches(queue, known, n=1, cutoff=0.4)
        hint = (
            f"did you mean {near[0]}?"
            if near
            else "`penstock run` lists the recorded queues; record.queues chooses them"
        )
        raise InputError(f"--queue {queue}: no such queue is recorded", hint)


def _run_jobs(
    request: Request, jobs: list[Job], folder: Path, progress: Progress
) -> tuple[dict[Job, Result], dict[Job, FrameLossError]]:
    """Run all jobs; return those that ran, in their order, and what those that broke their claim lost."""
    scenarios = {entry: copies(entry.scenario) for entry in dict.fromkeys(job.entry for job in jobs)}
    losses: dict[Job, FrameLossError] = {}
    runs = [
        Run(
            label=f"{job.entry.label}, seed {job.seed}",
            scenario=scenarios[job.entry],
            seed=job.seed,
            scheme=job.entry.chosen,
            profile=request.profile,
            out=folder / job.folder,
            limit=request.limit,
        )
        for job in jobs
    ]

    def take(place: int, result: Result, loss: FrameLossError | None) -> Result:
        if loss is not None:
            # Told when all runs are written and compared.
            losses[jobs[place]] = loss
        return result

    watch = Watch(progress.task, progress.count("runs", len(jobs)), progress.stop, lambda: progress.stopped)
    done = run_many(runs, take, watch, keep_interrupted=True)
    return {jobs[place]: result for place, result in done.items()}, losses


def _document(entries: list[Entry], done: dict[Job, Result], queue: str | None) -> dict[str, Any]:
    """Return the comparison as `--json` prints it and `compare.json` holds it."""
    summaries = [result.summary for result in done.values()]
    queue = queue or busiest(summaries)
    # Tables are read run by run and let go: all of them together may not fit into memory.
    measured = {job: measure(Result.open(result.path), queue) for job, result in done.items() if result.path}
    scenarios = list(dict.fromkeys((entry.scenario.name, entry.scenario.question) for entry in entries))
    lines = []
    for entry in entries:
        own = [job for job in done if job.entry is entry]
        lines.append(
            {
                "label": entry.label,
                "scenario": entry.scenario.name,
                "scheme": entry.plan["scheme"],
                "profile": entry.plan["profile"],
                "seeds": [job.seed for job in own],
                **_lossless([done[job] for job in own]),
                **spreads([measured[job] for job in own]),
            }
        )
    return {
        "scenario": scenarios[0][0] if len(scenarios) == 1 else None,
        "question": scenarios[0][1] if len(scenarios) == 1 else None,
        "queue": queue,
        "schemes": lines,
        "runs": summaries,
    }


def _lossless(results: list[Result]) -> dict[str, bool]:
    """Say whether a scenario that claims to lose no frame has lost none; nothing of one that does not claim it."""
    claims = [claim for result in results if (claim := result.summary.get("lossless")) is not None]
    return {"lossless": all(claims)} if claims else {}


def _draw(document: dict[str, Any], done: dict[Job, Result], folder: Path) -> None:
    from penstock.figures import write_comparison

    runs: dict[str, list[Result]] = {}
    for job, result in done.items():
        runs.setdefault(job.entry.label, []).append(result)
    write_comparison(runs, document["queue"], folder)
