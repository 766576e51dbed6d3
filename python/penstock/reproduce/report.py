"""The report: a page for each paper and an index, each one file that needs nothing else.

The folder also has the document (``reproduce.json``), the figures (``<paper>/<figure>.svg``) and, for each run but
for its seed, the whole scenario (``<paper>/scenarios``), which ``penstock run`` takes.
"""

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from penstock import OutputError
from penstock.reproduce import wording
from penstock.reproduce.answer import Answer, Scope
from penstock.reproduce.document import Reproduced, document, totals, why
from penstock.reproduce.execute import Values
from penstock.reproduce.plan import Run

if TYPE_CHECKING:
    from jinja2 import Environment

_DOCUMENT = "reproduce.json"
"""What tells a report's folder from others."""


@dataclass
class Pages:
    """A report under way: whole under its final name, or not there at all."""

    folder: Path
    partial: Path

    @classmethod
    def create(cls, folder: Path, *, force: bool) -> Self:
        """Start the report that is to be in ``folder``.

        Raises:
            OutputError: the folder exists and ``force`` is not set, or it holds no report.
        """
        if folder.exists() and not force:
            raise _refused(f"{folder} exists")
        if folder.exists() and not (folder / _DOCUMENT).is_file():
            raise OutputError(f"{folder} holds no report, so it is not replaced")
        partial = folder.with_name(f".{folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        return cls(folder, partial)

    def add(self, entry: Reproduced, scope: Scope, values: Values) -> None:
        """Draw a paper's figures, and write its page and its scenarios."""
        own = self.partial / entry.paper.name
        drawn = _draw(entry, scope, values, own) if scope.drawn else {}
        scenarios = _write_scenarios(entry, scope, own / "scenarios")
        figures = [
            {
                "name": figure.name,
                "title": figure.title,
                "svg": drawn.get(figure.name),
                "caption": entry.paper.drawings.entries[figure.name].caption if figure.name in drawn else "",
                "claims": [_row(answer) for answer in entry.of(figure.name)],
            }
            for figure in entry.paper.figures
            if figure.name in entry.figures
        ]
        page = _templates().get_template("paper.html.j2")
        profile = (entry.paper.folder / "profile.toml").read_text(encoding="utf-8")
        text = page.render(
            paper=entry.paper,
            figures=figures,
            totals=totals(entry.answers),
            profile=profile,
            scenarios=scenarios,
            short=scope.short,
        )
        (self.partial / f"{entry.paper.name}.html").write_text(text, encoding="utf-8")

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
        text = _templates().get_template("index.html.j2").render(rows=rows, totals=everything)
        (self.partial / "index.html").write_text(text, encoding="utf-8")
        (self.partial / _DOCUMENT).write_text(json.dumps(document(papers), indent=2) + "\n", encoding="utf-8")
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.partial.rename(self.folder)

    def discard(self) -> None:
        """Remove what is not whole."""
        shutil.rmtree(self.partial, ignore_errors=True)


def _draw(entry: Reproduced, scope: Scope, values: Values, folder: Path) -> dict[str, str]:
    """Draw the figures into ``folder`` and return them as SVG elements for a page."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    from penstock.figures.style import save, styled

    folder.mkdir()
    drawn = {}
    for name, drawing in entry.paper.drawings.entries.items():
        if name not in entry.figures:
            continue
        data = {}
        for key, source in drawing.sources.items():
            wanted = source.wanted(scope.short)
            data[key] = [values[wanted.run, wanted.quantity, seed] for seed in wanted.seeds]
        with styled(), mpl.rc_context({"svg.fonttype": "path"}):
            path = folder / f"{name}.svg"
            figure = drawing.draw(data)
            save(figure, path)
        # A figure made by pyplot stays in memory until it is closed.
        plt.close(figure)
        drawn[name] = _element(path.read_text(encoding="utf-8"), name)
    return drawn


def _element(svg: str, name: str) -> str:
    """Return the element of an SVG file; its ids are made the figure's own, since many stand on one page."""
    element = svg[svg.index("<svg") :]
    element = re.sub(r'\bid="', f'id="{name}-', element)
    element = re.sub(r'(xlink:href="|url\()#', rf"\1#{name}-", element)
    return re.sub(r' width="[^"]*pt"| height="[^"]*pt"', "", element, count=2)


def _write_scenarios(entry: Reproduced, scope: Scope, folder: Path) -> list[dict[str, str]]:
    """Write each scenario that ran, as `penstock run` takes it, and return their names and what they are."""
    folder.mkdir(parents=True)
    runs: dict[Run, None] = dict.fromkeys(want.run for want in scope.wanted(entry.paper))
    written = []
    for number, run in enumerate(runs, 1):
        name = f"{run.experiment}-{run.scheme}-{number}.toml"
        scenario = entry.paper.scenario(run).set("scheme", run.scheme)
        scenario.save(folder / name)
        written.append({"path": f"{entry.paper.name}/scenarios/{name}", "run": str(run)})
    return written


def _row(answer: Answer) -> dict[str, Any]:
    claim = answer.claim
    testable = claim.testable
    return {
        "id": claim.id,
        "figure": claim.figure,
        "says": claim.says,
        "metric": testable.metric if testable else "",
        "paper": wording.paper_value(claim),
        "ours": wording.ours(answer),
        "spread": wording.spread(answer),
        "test": wording.test(testable) if testable else "",
        "verdict": answer.judgement.verdict,
        "missed": answer.judgement.why if testable else "",
        "why": testable.because if testable else why(answer),
        "control": _control(answer),
    }


def _control(answer: Answer) -> str:
    testable = answer.claim.testable
    if testable is None:
        return ""
    control = testable.control
    told = f"numbers times {control.scaled:g}" if control.scaled != 1 else str(control.sides[0].run)
    if answer.control is None:
        return told
    return f"{told}: {'fails, as it must' if answer.control_fails else 'does not fail'}"


def _refused(message: str) -> OutputError:
    error = OutputError(message)
    error.refused = True
    return error


def _templates() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("penstock.reproduce"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
