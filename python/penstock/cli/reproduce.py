"""`penstock reproduce`: what papers claim beside what we measure."""

import json
from difflib import get_close_matches
from pathlib import Path

import typer

from penstock import interrupts
from penstock.cli.failure import FAILED, InputError, say
from penstock.cli.locate import RESULTS, assignments
from penstock.cli.progress import Progress
from penstock.reproduction.answer import Scope, answer
from penstock.reproduction.contents import contents
from penstock.reproduction.document import Reproduced, document, totals
from penstock.reproduction.execute import PaperJob, execute
from penstock.reproduction.paper import Paper, load
from penstock.reproduction.plan import jobs
from penstock.reproduction.report import Pages
from penstock.runs import Watch

PAPERS = Path("papers")


def show_list(*, as_json: bool) -> None:
    """Print the papers with their figures; no code of theirs is run."""
    papers = [contents(folder) for folder in _folders()]
    if as_json:
        entries = [
            {
                "name": paper.name,
                "title": paper.title,
                "figures": [
                    {
                        "name": figure.name,
                        "title": figure.title,
                        "claims": paper.claims[figure.name],
                        "drawn": figure.name in paper.drawn,
                    }
                    for figure in paper.figures
                ],
            }
            for paper in papers
        ]
        typer.echo(json.dumps(entries, indent=2))
        return
    from penstock.cli.report import add_row, console, listing

    table = listing("paper", "figure", "what it shows", "claims", "drawn")
    for paper in papers:
        in_all = sum(len(claims) for claims in paper.claims.values())
        add_row(table, paper.name, "", f"{paper.title} ({paper.source})", str(in_all), "")
        for figure in paper.figures:
            drawn = "yes" if figure.name in paper.drawn else "-"
            add_row(table, "", figure.name, figure.title, str(len(paper.claims[figure.name])), drawn)
    console().print(table)


def reproduce_all(
    name: str | None,
    figure: str | None,
    *,
    out: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    short: bool,
    controls: bool,
    sets: list[str],
    workers: int | None,
) -> None:
    """Run what the papers need, write the report, print what holds."""
    reading = assignments(sets)
    papers = [load(folder).read_as(reading) for folder in ([_folder(name)] if name else _folders())]
    scopes = {paper.name: Scope(_figures(paper, figure), short=short, controls=controls) for paper in papers}
    folder = out or RESULTS / "-".join(["reproduce", *([name] if name else []), *([figure] if figure else [])])
    planned = [PaperJob(p, job) for p in papers for job in jobs(scopes[p.name].wanted(p))]
    _check(reading, planned)
    interrupts.writes(folder)
    pages = Pages.create(folder, force=force)
    try:
        with Progress(quiet=quiet) as progress:
            watch = Watch(progress.task, progress.count("runs", len(planned)), progress.stop, lambda: progress.stopped)
            values = execute(planned, watch, workers=workers)
        done = []
        for paper in papers:
            scope, taken = scopes[paper.name], values.get(paper.name, {})
            answers = tuple(answer(claim, scope, taken) for claim in scope.claims(paper))
            done.append(Reproduced(paper, scope.figures, answers))
            pages.add(done[-1], scope, taken)
        pages.publish(done)
    finally:
        pages.discard()

    if as_json:
        typer.echo(json.dumps(document(done), indent=2))
    elif not quiet:
        _print(done, folder)
    for figure_of, reason in pages.undrawn.items():
        say(f"error: {figure_of} could not be drawn: {reason}")
    _fail_where_a_control_holds(done)
    if pages.undrawn:
        raise typer.Exit(FAILED)


def _check(reading: dict[str, str], planned: list[PaperJob]) -> None:
    """Refuse a setting that leads nowhere or takes part in no run, before the first run."""
    runs = {(entry.paper.name, entry.job.run): entry.paper for entry in planned}
    unused = dict(reading)
    for (_, run), paper in runs.items():
        if reading:
            paper.scenario(run).describe(scheme=run.scheme)
            unused = {key: value for key, value in unused.items() if key not in paper.reading_of(run)}
    for key in unused:
        hint = "schemes.NAME.KEY counts in runs of NAME alone, and what a claim sets itself stays"
        raise InputError(f"--set {key}: no run here has a use for it", hint)


def _print(papers: list[Reproduced], folder: Path) -> None:
    from rich.markup import escape
    from rich.text import Text

    from penstock.cli.report import console, listing
    from penstock.reproduction.wording import ours, paper_value

    out = console()
    styles = {"holds": "green", "differs": "yellow", "cannot be tested": "dim"}
    table = listing("paper", "figure", "claim", "paper", "ours", "verdict", "by how much")
    for entry in papers:
        for reply in entry.answers:
            claim, judgement = reply.claim, reply.judgement
            told = "" if claim.testable is None else judgement.why
            cells = entry.paper.name, claim.figure, claim.id, paper_value(claim), ours(reply)
            table.add_row(*map(escape, cells), Text(judgement.verdict, styles[judgement.verdict]), escape(told))
    out.print(table)
    counts = totals([reply for entry in papers for reply in entry.answers])
    out.print(
        f"\n{counts['claims']} claims: {counts['holds']} hold, {counts['differs']} differ, "
        f"{counts['untestable']} cannot be tested",
        style="bold",
    )
    out.print(f"report: {folder / 'index.html'}", style="dim")


def _fail_where_a_control_holds(papers: list[Reproduced]) -> None:
    """End as a failure does where a negative control does not fail its claim: the test then proves nothing."""
    toothless = [f"{p.paper.name}: {a.claim.id}" for p in papers for a in p.answers if not a.control_fails]
    for claim in toothless:
        say(f"error: {claim}: the negative control does not fail this claim")
    if toothless:
        say("hint: a stricter test, or a control that differs more; see claims.toml")
        raise typer.Exit(FAILED)


def _folders() -> list[Path]:
    folders = sorted(path.parent for path in PAPERS.glob("*/claims.toml"))
    if not folders:
        raise InputError(f"no paper below ./{PAPERS}", "go where ./papers is, or name a paper's folder")
    return folders


def _folder(name: str) -> Path:
    for folder in (Path(name), PAPERS / name):
        if (folder / "claims.toml").is_file():
            return folder
    raise _unknown(name, [path.parent.name for path in PAPERS.glob("*/claims.toml")], "paper", "`--list` lists them")


def _figures(paper: Paper, wanted: str | None) -> tuple[str, ...]:
    known = [figure.name for figure in paper.figures]
    if wanted is not None and wanted not in known:
        raise _unknown(wanted, known, f"figure of {paper.name}", f"there are {', '.join(known)}")
    return (wanted,) if wanted else tuple(known)


def _unknown(name: str, known: list[str], what: str, otherwise: str) -> InputError:
    near = get_close_matches(name, known, n=1, cutoff=0.4) or [word for word in known if word.endswith(f"-{name}")]
    return InputError(f"{name}: no such {what}", f"did you mean {near[0]}?" if near else otherwise)
