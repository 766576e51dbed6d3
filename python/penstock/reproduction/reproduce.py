"""From papers to a report: each run that any claim needs is run once, each claim is answered, figures are drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock import interrupts
from penstock.errors import ArgumentError, nearest
from penstock.executors.executor import Executor
from penstock.reproduction.claim_results import Scope, answer
from penstock.reproduction.contents import PAPERS, folders
from penstock.reproduction.document import Reproduced, document, totals
from penstock.reproduction.execute import PaperJob, Values, execute
from penstock.reproduction.paper import Paper, load
from penstock.reproduction.plan import Setting, jobs
from penstock.reproduction.report import Pages, drawn
from penstock.runs import RunCallbacks

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Reproduction:
    """Claims of papers beside our measurements. A notebook shows them as a table.

    Attributes:
        papers: each paper with its answers.
        path: the report's folder; ``None`` if none was written.
        undrawn: errors of figures of the report, by paper and figure.
    """

    papers: tuple[Reproduced, ...]
    path: Path | None = None
    undrawn: Mapping[str, str] = field(default_factory=dict)

    @property
    def totals(self) -> dict[str, int]:
        """How many claims there are, and how many hold, differ and cannot be tested."""
        return totals([answer for entry in self.papers for answer in entry.answers])

    @property
    def toothless(self) -> tuple[str, ...]:
        """The claims whose negative control does not fail them, as ``paper: claim``: their tests prove nothing."""
        return tuple(f"{p.paper.name}: {a.claim.id}" for p in self.papers for a in p.answers if not a.control_fails)

    def document(self) -> dict[str, Any]:
        """Return the object of ``reproduce.json``, which ``penstock reproduce --json`` prints."""
        return document(self.papers)

    def plot(self, paper: str, figure: str, path: str | PathLike[str] | None = None) -> "Figure":
        """Draw a figure of a paper from what was measured; with ``path`` it is written there.

        Raises:
            ArgumentError: the paper or the figure is not among those that were reproduced, or nothing draws it.
            OSError: the file cannot be written.
        """
        known = {entry.paper.name: entry for entry in self.papers}
        if paper not in known:
            raise ArgumentError(
                f"{paper}: unknown paper", nearest(paper, known, f"this reproduction has {', '.join(known)}")
            )
        drawable = [name for name in known[paper].figures if name in known[paper].paper.drawings.entries]
        if figure not in drawable:
            hint = (
                f"its drawn figures are {', '.join(drawable)}"
                if drawable
                else "figures.py of the paper draws none of its figures"
            )
            raise ArgumentError(f"{figure}: {paper} draws no figure of this name", nearest(figure, drawable, hint))
        return drawn(known[paper], figure, None if path is None else Path(path))

    def write(self, folder: str | PathLike[str], *, force: bool = False) -> "Reproduction":
        """Write the report: a page for each paper, figures, scenarios; return the reproduction with its folder.

        Raises:
            OutputError: the folder exists and ``force`` is not set or it holds no report, or it cannot be written.
        """
        interrupts.writes(folder)
        return self._written(Pages.create(Path(folder), force=force), Path(folder))

    def _written(self, pages: Pages, folder: Path) -> "Reproduction":
        try:
            for entry in self.papers:
                pages.add(entry)
            pages.publish(self.papers)
        finally:
            pages.discard()
        return Reproduction(self.papers, folder, pages.undrawn)

    def _repr_html_(self) -> str:
        from penstock.display import reproduction_html

        return reproduction_html(self)

    def __repr__(self) -> str:
        counts = self.totals
        names = ", ".join(entry.paper.name for entry in self.papers)
        return f"<Reproduction of {names}: of {counts['claims']} claims {counts['holds']} hold>"


def reproduce(
    paper: str | PathLike[str] | None = None,
    figure: str | None = None,
    *,
    short: bool = False,
    controls: bool = False,
    reading: Mapping[str, Setting] | None = None,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    callbacks: RunCallbacks | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Reproduction:
    """Run the experiments of papers, each run once, on all cores, and say of each claim whether it holds.

        >>> found = penstock.reproduce("netfpga", "table-1")
        >>> found.totals
        >>> found.write("report").undrawn

    That a claim differs is a result, and no error. Of a run the numbers alone are kept that claims and figures ask for.
    A paper's folder may hold Python, ``metrics.py`` and ``figures.py``, which is run: reproduce only papers whose code
    you have read or trust; :func:`penstock.papers` runs none of it.

    Args:
        paper: a paper's name below ``./papers``, or its folder; by default all below ``./papers``.
        figure: one of its figures or tables, such as ``figure-4``; by default all.
        short: one seed each, and only the claims that one seed can decide.
        controls: whether each claim's negative control runs too, which must fail the claim; see
            :attr:`Reproduction.toothless`.
        reading: keys of the papers' profile that are set instead, to try another reading.
        out: the folder for a report, as :meth:`Reproduction.write` writes it. That it can be made is found out before
            the first run.
        force: whether to replace the folder if it exists.
        callbacks: how to watch and end the runs.
        workers: how many runs at a time; by default one for each core.
        executor: where runs run instead, such as a :class:`penstock.RayExecutor`.

    Raises:
        ArgumentError: there is no such paper or figure, or a key of ``reading`` takes part in no run.
        KeyboardInterrupt: an interrupt (Ctrl-C) came before all was run; nothing is written.
        PaperError: a paper's folder cannot be read as one.
        PenstockError: a run lost frames that it must not lose, or a metric failed.
        ScenarioError: a value of ``reading`` is not legal.
        OutputError: the folder exists and ``force`` is not set or it holds no report, or it cannot be written.
    """
    callbacks = callbacks or RunCallbacks()
    asked = dict(reading or {})
    papers = [load(folder).read_as(asked) for folder in ([folder_of(paper)] if paper is not None else folders())]
    scopes = [Scope(_figures(entry, figure), short=short, controls=controls) for entry in papers]
    planned = [PaperJob(p, job) for p, scope in zip(papers, scopes, strict=True) for job in jobs(scope.wanted(p))]
    _check(asked, planned)
    folder = None if out is None else Path(out)
    if folder is None:
        return Reproduction(_answered(papers, scopes, _measured(planned, callbacks, workers, executor)))
    interrupts.writes(folder)
    pages = Pages.create(folder, force=force)
    try:
        values = _measured(planned, callbacks, workers, executor)
        return Reproduction(_answered(papers, scopes, values))._written(pages, folder)
    finally:
        pages.discard()


def _measured(
    planned: Sequence[PaperJob], callbacks: RunCallbacks, workers: int | None, executor: Executor | None
) -> Mapping[str, Values]:
    callbacks.planned(len(planned))
    return execute(planned, callbacks, workers=workers, executor=executor)


def _answered(papers: Sequence[Paper], scopes: Sequence[Scope], values: Mapping[str, Values]) -> tuple[Reproduced, ...]:
    done = []
    for paper, scope in zip(papers, scopes, strict=True):
        taken = values.get(paper.name, {})
        answers = tuple(answer(claim, scope, taken) for claim in scope.claims(paper))
        done.append(Reproduced(paper, scope.figures, answers, scope, taken))
    return tuple(done)


def _check(reading: Mapping[str, Setting], planned: Sequence[PaperJob]) -> None:
    """Refuse a setting that leads nowhere or takes part in no run, before the first run."""
    runs = {(entry.paper.name, entry.job.run): entry.paper for entry in planned}
    unused = dict(reading)
    for (_, run), paper in runs.items():
        if reading:
            paper.scenario(run).outline(scheme=run.scheme)
            unused = {key: value for key, value in unused.items() if key not in paper.reading_of(run)}
    for key in unused:
        hint = "schemes.NAME.KEY acts only in runs of NAME, and settings of a claim stay"
        raise ArgumentError(f'reading="{key}": no run uses this key', hint)


def folder_of(name: str | PathLike[str]) -> Path:
    """Return the folder of a paper that is named, or whose folder is.

    Raises:
        ArgumentError: there is no such paper.
    """
    for folder in (Path(name), PAPERS / name):
        if (folder / "claims.toml").is_file():
            return folder
    known = [path.name for path in folders()]
    hint = _near(str(name), known, "`penstock reproduce --list` lists them")
    raise ArgumentError(f"{name}: unknown paper", hint)


def _figures(paper: Paper, wanted: str | None) -> tuple[str, ...]:
    known = [figure.name for figure in paper.figures]
    if wanted is not None and wanted not in known:
        hint = _near(wanted, known, f"its figures are {', '.join(known)}")
        raise ArgumentError(f"{wanted}: unknown figure of {paper.name}", hint)
    return (wanted,) if wanted else tuple(known)


def _near(name: str, known: list[str], otherwise: str) -> str:
    """Return a hint; a number alone is what people remember of a figure's name."""
    ends = [word for word in known if word.endswith(f"-{name}")]
    return nearest(name, known, f"did you mean {ends[0]}?" if ends else otherwise)
