"""The report: a page for each paper and an index, each one file that needs nothing else.

The folder also has the document (``reproduce.json``), the figures (``<paper>/<figure>.svg``) and, for each run but
for its seed, the whole scenario (``<paper>/scenarios``), which ``penstock run`` takes.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from penstock import _core
from penstock.files import write_text
from penstock.html import element, templates
from penstock.reproduction import prose
from penstock.reproduction.claim_results import ClaimResult
from penstock.reproduction.document import Reproduced, document, totals, why
from penstock.reproduction.plan import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOCUMENT = "reproduce.json"
"""The file that tells a report's folder from others (`crates/runner/src/folder.rs`)."""


@dataclass
class Pages:
    """An unfinished report: whole under its final name, or not there at all.

    Attributes:
        staged: its folder.
        undrawn: errors of figures, by paper and figure; their claims are in the report all the same.
    """

    staged: _core.Folder
    undrawn: dict[str, str] = field(default_factory=dict)

    @classmethod
    def create(cls, folder: Path, *, force: bool) -> Self:
        """Start the report that is to be in ``folder``.

        Raises:
            OutputError: the folder exists and ``force`` is not set, or it holds no report.
        """
        return cls(_core.Folder.create(folder, force, report=True))

    def add(self, entry: Reproduced) -> None:
        """Draw a paper's figures, and write its page and its scenarios."""
        partial = self.staged.partial
        own = partial / entry.paper.name
        elements = self._draw(entry, own) if entry.scope.drawn else {}
        scenarios = _write_scenarios(entry, own / "scenarios")
        figures = [
            {
                "name": figure.name,
                "title": figure.title,
                "svg": elements.get(figure.name),
                "caption": entry.paper.drawings.entries[figure.name].caption if figure.name in elements else "",
                "claims": [_row(answer) for answer in entry.of(figure.name)],
            }
            for figure in entry.paper.figures
            if figure.name in entry.figures
        ]
        page = templates("penstock.reproduction").get_template("paper.html.j2")
        profile = (entry.paper.folder / "profile.toml").read_text(encoding="utf-8")
        text = page.render(
            paper=entry.paper,
            figures=figures,
            totals=totals(entry.answers),
            profile=profile,
            scenarios=scenarios,
            short=entry.scope.short,
        )
        write_text(partial / f"{entry.paper.name}.html", text)

    def publish(self, papers: Sequence[Reproduced]) -> None:
        """Write the index and the document, and give the folder its name."""
        rows = [
            {
                "paper": entry.paper,
                "totals": totals(entry.answers),
                "figures": [
                    {"name": figure.name, "title": figure.title, "claims": [_row(a) for a in entry.of(figure.name)]}
                    for figure in entry.paper.figures
                    if figure.name in entry.figures
                ],
                "differing": [_row(answer) for answer in entry.answers if answer.judgement.verdict == "differs"],
            }
            for entry in papers
        ]
        everything = totals([answer for entry in papers for answer in entry.answers])
        text = templates("penstock.reproduction").get_template("index.html.j2").render(rows=rows, totals=everything)
        write_text(self.staged.partial / "index.html", text)
        write_text(self.staged.partial / _DOCUMENT, json.dumps(document(papers), indent=2) + "\n")
        self.staged.publish()

    def discard(self) -> None:
        """Remove what is not whole."""
        self.staged.discard()

    def _draw(self, entry: Reproduced, folder: Path) -> dict[str, str]:
        """Draw the figures into ``folder`` and return them as SVG elements for a page."""
        folder.mkdir()
        elements = {}
        for name in entry.paper.drawings.entries:
            if name not in entry.figures:
                continue
            try:
                path = folder / f"{name}.svg"
                drawn(entry, name, path)
                elements[name] = element(path.read_text(encoding="utf-8"), name)
            except OSError:
                raise
            except Exception as error:
                # The runs took hours, perhaps; a figure of the paper's own making must not lose them.
                self.undrawn[f"{entry.paper.name}: {name}"] = f"{type(error).__name__}: {error}"
        return elements


def drawn(entry: Reproduced, name: str, path: Path | None = None) -> "Figure":
    """Draw a figure of a paper from what was taken of its runs; with ``path`` it is written there."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    from penstock.figures.style import save, styled

    drawing = entry.paper.drawings.entries[name]
    data = {}
    for key, source in drawing.sources.items():
        wanted = source.wanted(entry.scope.short)
        data[key] = [entry.values[wanted.run, wanted.quantity, seed] for seed in wanted.seeds]
    # The labels are the paper's own, and may be formulas.
    with styled(), mpl.rc_context({"svg.fonttype": "path", "text.parse_math": True}):
        figure = drawing.draw(data)
        if path is not None:
            save(figure, path)
    # A figure made by pyplot stays in memory until it is closed.
    plt.close(figure)
    return figure


def _write_scenarios(entry: Reproduced, folder: Path) -> list[dict[str, str]]:
    """Write each scenario that ran, as `penstock run` takes it, and return their names and meanings."""
    folder.mkdir(parents=True)
    runs: dict[Run, None] = dict.fromkeys(want.run for want in entry.scope.wanted(entry.paper))
    written = []
    for number, run in enumerate(runs, 1):
        name = f"{run.experiment}-{run.scheme}-{number}.toml"
        scenario = entry.paper.scenario(run).set("scheme", run.scheme)
        scenario.save(folder / name)
        written.append({"path": f"{entry.paper.name}/scenarios/{name}", "run": str(run)})
    return written


def _row(answer: ClaimResult) -> dict[str, Any]:
    claim = answer.claim
    testable = claim.testable
    return {
        "id": claim.id,
        "figure": claim.figure,
        "says": claim.says,
        "metric": testable.metric if testable else "",
        "paper": prose.paper_value(claim),
        "ours": prose.ours(answer),
        "spread": prose.spread(answer),
        "test": prose.test(testable) if testable else "",
        "verdict": answer.judgement.verdict,
        "missed": answer.judgement.why if testable else "",
        "why": testable.because if testable else why(answer),
        "control": _control(answer),
    }


def _control(answer: ClaimResult) -> str:
    testable = answer.claim.testable
    if testable is None:
        return ""
    control = testable.control
    text = f"numbers times {control.scaled:g}" if control.scaled != 1 else str(control.sides[0].run)
    if answer.control is None:
        return text
    return f"{text}: {'fails, as it must' if answer.control_fails else 'does not fail'}"
