"""The outcome of trials as data: numbers over seeds, sentences, scenarios, lines of figures."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from penstock.metrics.seeds import Statistics
from penstock.what_ifs.cycles import Cycle
from penstock.what_ifs.measuring import FigureTable


@dataclass(frozen=True, kw_only=True)
class MadeScenario:
    """A scenario of a trial.

    Attributes:
        name: its name; its file is ``NAME.toml``.
        side: ``present`` or ``proposed``.
        toml: its text, which `penstock run` repeats.
        sha256: the hash of the text.
    """

    name: str
    side: str
    toml: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A number of a trial over the seeds.

    Attributes:
        name: its name, which ends in its unit.
        title: its title.
        kind: how it is written, as for metrics.
        better: ``less``, ``more``, or ``None`` where neither is.
        present: with the present settings.
        proposed: with the proposed settings; ``None`` without a proposal.
        difference: proposed less present, of the same seed each; ``None`` without a proposal.
    """

    name: str
    title: str
    kind: str
    better: str | None
    present: Statistics
    proposed: Statistics | None
    difference: Statistics | None

    @property
    def differs(self) -> bool | None:
        """Whether the 95 % interval of the difference leaves 0 out; ``None`` without a proposal, or with one seed."""
        interval = None if self.difference is None else self.difference["interval"]
        return None if interval is None else not interval[0] <= 0 <= interval[1]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A trial.

    Attributes:
        kind: ``as-is``, ``incast``, ``storm``, ``down``, ``degrade``, ``slow``, ``victim`` or ``deadlock``.
        name: its name, such as ``incast-128``.
        question: the question.
        sentence: the answer.
        port: the port by whose queue its runs are judged; ``None`` where each is by its longest on average.
        measures: its numbers.
        scenarios: its scenarios, those without the disturbance included.
        figures: the lines of its figures, of the first seed.
        cycles: cycles of buffers, of a search for deadlocks.
        notes: remarks on how it was set up, and on its runs.
    """

    kind: str
    name: str
    question: str
    sentence: str
    port: str | None
    measures: tuple[Measure, ...]
    scenarios: tuple[MadeScenario, ...]
    figures: tuple[FigureTable, ...]
    cycles: tuple[Cycle, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """The outcome of trials, as :func:`penstock.what_if` returns it.

    A trial has ``question``, ``sentence``, ``measures``, ``scenarios``, ``figures``, ``cycles``, ``notes``. A measure
    has ``present``, ``proposed`` and ``difference``, each with ``mean``, ``std`` and the 95 % ``interval``.

    Attributes:
        fabric: name of the fabric.
        proposed: the proposed settings by key, or the name of the scenario that has them; ``None`` without.
        seeds: the seeds.
        trials: the trials, in order.
        notes: the notes of the first run of each scenario, each once.
        version: version of Penstock.
        path: the folder with the scenarios and ``what-if.json``; ``None`` in memory.
    """

    fabric: str
    proposed: Mapping[str, Any] | str | None
    seeds: tuple[int, ...]
    trials: tuple[Trial, ...]
    notes: tuple[str, ...]
    version: str
    path: Path | None

    @property
    def document(self) -> dict[str, Any]:
        """The trials in numbers: the object of ``what-if.json``, which has scenarios by their hash alone."""
        document = asdict(self)
        document["path"] = None if self.path is None else str(self.path)
        for trial, own in zip(document["trials"], self.trials, strict=True):
            for scenario in trial["scenarios"]:
                del scenario["toml"]
            for measure, of in zip(trial["measures"], own.measures, strict=True):
                measure["differs"] = of.differs
        return document
