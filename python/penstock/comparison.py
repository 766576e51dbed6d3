"""A comparison of scenarios and schemes: run by :func:`compare`, or read back from its folder."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from penstock import __version__, _core, interrupts
from penstock.catalogue import file_of, is_location
from penstock.data_frames import RUNS, Tables
from penstock.declared import Outline
from penstock.errors import ArgumentError, nearest, unread
from penstock.executors.executor import Executor
from penstock.files import alone, write_text
from penstock.metrics.seeds import measure, spreads
from penstock.metrics.values import busiest
from penstock.result import CLAIMS, ClaimError, FrameLossError, Result
from penstock.runs import PERCENTILES, Run, RunCallbacks, copies, run_many, seeds_of
from penstock.scenario import Scenario
from penstock.scheme_class import Scheme, located, place_of
from penstock.sweeps.axes import Axis
from penstock.variants import Variant, varied

if TYPE_CHECKING:
    from arro3.core import Table
    from matplotlib.figure import Figure

    from penstock.summary import Summary
    from penstock.sweeps.tables import Record

DOCUMENT = "compare.json"

FIGURES = (
    *("compare", "cdf", "pauses", "pauses-over-time"),
    *("slowdown", "percentiles", "slowdown-p50", "slowdown-p95", "slowdown-p99"),
    *("completions", "fct", "goodput", "retransmissions"),
)
"""The figures of a comparison."""


def is_comparison(folder: str | PathLike[str]) -> bool:
    """Return whether a folder is that of a comparison."""
    return (Path(folder) / DOCUMENT).is_file()


class Comparison(Tables):
    """Scenarios and schemes side by side: several lines, each a scenario with a scheme, and runs of it, one a seed.

    Made by :func:`penstock.compare` and :meth:`open`. A notebook shows it as a table.
    """

    def __init__(
        self,
        document: dict[str, Any],
        *,
        path: Path | None = None,
        runs: dict[str, list[Result]] | None = None,
        interrupted: bool = False,
    ) -> None:
        self._document = document
        self._path = path
        self._in_memory = runs or {}
        self._interrupted = interrupted

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> Self:
        """Read the folder of a comparison.

        Raises:
            OutputError: the folder is not there, or holds no comparison.
        """
        path = Path(folder)
        try:
            document = json.loads((path / DOCUMENT).read_text(encoding="utf-8"))
            document["queue"], [(line["label"], line["seeds"]) for line in document["schemes"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise unread(f"{path}: not a folder of `penstock compare`: {DOCUMENT} cannot be read ({error})") from error
        return cls(document, path=path)

    @property
    def path(self) -> Path | None:
        """The folder; ``None`` for a comparison in memory."""
        return self._path

    @property
    def interrupted(self) -> bool:
        """Whether runs were ended early, or never began: the records reach until then."""
        return self._interrupted or any("interrupted_at_s" in run for run in self._document["runs"])

    @property
    def document(self) -> dict[str, Any]:
        """The comparison in numbers: the object of ``compare.json``."""
        return self._document

    @property
    def labels(self) -> list[str]:
        """The lines, in their order: names of schemes, or of scenarios."""
        return [line["label"] for line in self._document["schemes"]]

    @cached_property
    def runs(self) -> dict[str, list[Result]]:
        """The results of each line, one a seed.

        Raises:
            OutputError: the folder of a run is not there, or not whole.
        """
        if self._path is None:
            return self._in_memory
        return {
            line["label"]: [Result.open(self._path / folder) for folder in run_folders(line)]
            for line in self._document["schemes"]
        }

    def table(self, name: str = RUNS) -> "Table":
        """Return a table as Arrow: ``runs``, a row a run, or ``queues``, ``flows`` and all else that a summary lists.

        Each row begins with the run's label, scenario, scheme and seed.

            >>> compared.to_pandas().groupby("label")["queue_mean_octets"].mean()

        Raises:
            PenstockError: there is no table of that name.
            OutputError: the folder of a run is not there, or not whole.
        """
        from penstock.sweeps.tables import table_of_runs

        return table_of_runs(name, self._records)

    @cached_property
    def _records(self) -> "list[tuple[dict[str, Any], Record]]":
        from penstock.sweeps.tables import record

        return [
            (
                {"label": line["label"], "scenario": line["scenario"], "scheme": line["scheme"], "seed": seed},
                record(run, self._document["queue"]),
            )
            for line in self._document["schemes"]
            for seed, run in zip(line["seeds"], self.runs[line["label"]], strict=True)
        ]

    @cached_property
    def broken_claims(self) -> dict[str, ClaimError]:
        """The runs that broke a claim of their scenario, as ``qcn, seed 1``, with the error."""
        if all(line.get(claim, True) for line in self._document["schemes"] for claim in CLAIMS):
            return {}
        return {
            f"{line['label']}, seed {seed}": error
            for line in self._document["schemes"]
            for seed, run in zip(line["seeds"], self.runs[line["label"]], strict=True)
            if (error := run.broken_claim()) is not None
        }

    @property
    def losses(self) -> dict[str, FrameLossError]:
        """The runs that claim to be lossless and lost frames, as ``qcn, seed 1``, with what each lost."""
        return {label: error for label, error in self.broken_claims.items() if isinstance(error, FrameLossError)}

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        show: str = "compare",
        width: float | None = None,
        font_size: float | None = None,
        title: bool = True,
    ) -> "Figure":
        """Draw the lines side by side (``compare``), the queue's distribution (``cdf``), pauses, or their flows.

        ``pauses`` has the ports that were stopped, ``pauses-over-time`` how many queues were at a time.

        Of flows that complete there are ``slowdown`` against size, ``percentiles`` of it with intervals over seeds
        (alone: ``slowdown-p50``, ``slowdown-p95``, ``slowdown-p99``), and ``completions``: how flow completion times,
        goodputs and retransmissions are spread, which are separate figures: ``fct``, ``goodput`` and
        ``retransmissions``. The other arguments are those of :meth:`Result.plot`.

        Raises:
            PenstockError: there is no such figure, nothing to draw, or a size is out of its range.
            OSError: the file cannot be written.
        """
        from penstock.figures import (
            FIGURES_OF_FLOWS,
            Page,
            comparison,
            cumulative,
            of_flows,
            on,
            pauses,
            pauses_over_time,
            save,
        )
        from penstock.figures.comparison import stopped_shares

        if show not in FIGURES:
            raise _core.PenstockError(f"show = {show!r}: the figures are {', '.join(FIGURES)}")
        queue = self._document["queue"]
        if show == "pauses" and not any(stopped_shares(runs) for runs in self.runs.values()):
            raise _core.PenstockError(
                "no queue was stopped, so there are no pauses to draw; only priority flow control stops queues"
            )
        if show == "cdf" and queue is None:
            raise _core.PenstockError("the runs have no common queue whose distribution could be drawn")
        with on(Page(width, font_size, title)):
            if show in FIGURES_OF_FLOWS:
                figure = of_flows(self.runs, show, _panels(self._document["schemes"]))
            elif show == "compare":
                firsts = {label: results[0] for label, results in self.runs.items() if results}
                figure = comparison(list(firsts.values()), labels=list(firsts), queue=queue)
            elif show == "pauses-over-time":
                figure = pauses_over_time(self.runs)
            else:
                figure = pauses(self.runs) if show == "pauses" else cumulative(self.runs, queue)
            if path is not None:
                save(figure, Path(path))
        return figure

    def write_figures(self, folder: str | PathLike[str] | None = None) -> list[Path]:
        """Write every figure as PNG and SVG, by default into the comparison's folder, and return the files.

        Raises:
            ArgumentError: the comparison is in memory, and no folder is named.
            OSError: a file cannot be written.
        """
        from penstock.figures import write_comparison

        target = folder if folder is not None else self._path
        if target is None:
            raise ArgumentError("the comparison has no folder for figures", 'write_figures("FOLDER")')
        runs = {label: results for label, results in self.runs.items() if results}
        return write_comparison(runs, self._document["queue"], Path(target), _panels(self._document["schemes"]))

    def _repr_html_(self) -> str:
        from penstock.display import comparison_html

        return comparison_html(self)

    def __repr__(self) -> str:
        place = "in memory" if self._path is None else f"in {str(self._path)!r}"
        return f"<Comparison of {', '.join(self.labels)} {place}>"


@dataclass(frozen=True, eq=False)
class _Line:
    """A line of a comparison: a scenario with a scheme, laid out."""

    label: str
    scenario: Scenario
    chosen: str | None
    """The scheme instead of the scenario's own."""
    plan: Outline
    seeds: tuple[int, ...]
    variant: str | None
    """The name of the variant, if it is one."""


def compare(
    scenarios: Scenario | str | PathLike[str] | Sequence[Scenario | str | PathLike[str]],
    schemes: Sequence[str | type[Scheme] | Variant] = (),
    *,
    vary: Mapping[str, Any] | Sequence[Axis] = (),
    seeds: int | Sequence[int] = 1,
    profile: str | None = None,
    queue: str | None = None,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    resume: bool = False,
    callbacks: RunCallbacks | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    limit: int = 1,
) -> Comparison:
    """Run every scenario with every scheme and seed, on all cores, and return the runs side by side.

        >>> scenario = penstock.Scenario.named("netfpga/eight-sources-100us")
        >>> compared = penstock.compare(scenario, ["none", "qcn"], seeds=3)
        >>> compared.to_pandas()[["label", "seed", "queue_mean_octets"]]
        >>> compared.plot("compare.png")

    A scheme with its own settings is a line too, and a scenario may be compared at several values of its keys:

        >>> pfc = penstock.Variant("pfc", "none", {"pfc.quanta": 65535})
        >>> web = penstock.Scenario.named("loads/websearch-leaf-spine")
        >>> penstock.compare(web, ["qcn", pfc], vary={"load.0.load": [0.3, 0.5, 0.8]}).plot("load.png", show="slowdown")

    Without ``out`` the records of all runs stay in memory together; with it, they go to a folder that
    :meth:`Comparison.open` reads, and that has its name when all runs are over. An interrupt (Ctrl-C) ends the runs and
    keeps what was recorded; see :attr:`Comparison.interrupted`. A run that breaks a claim of its scenario ends none of
    the others; see :attr:`Comparison.broken_claims`.

    Args:
        scenarios: one, or several that differ in their names, each as :meth:`Scenario.of` takes it. They are left as
            they are.
        schemes: names or classes of schemes, and variants; by default each scenario runs its own scheme. A class has to
            be at the top of a file where there is a folder or an executor.
        vary: keys, each with the values at which every scenario is compared: a list, or a range with ``from``, ``to``,
            ``points`` and ``log``. Several keys are crossed, the last fastest.
        seeds: how many runs of each, with as many seeds from the scenario's on; or the seeds.
        profile: the schemes' named settings.
        queue: the queue that all are judged by, as ``NODE->NODE``; by default the one that is the longest.
        out: the folder for the records and ``compare.json``.
        force: whether to replace the folder if it exists.
        resume: whether to keep each run that has ended in the folder ``OUT.unfinished``, and to go on with those that
            an earlier call has left there, whatever ended it. A run of another scenario, or of another version, is run
            again.
        callbacks: how to watch and end the runs; :func:`penstock.printing` writes how many are done.
        workers: how many runs at a time; by default one for each core.
        executor: where runs run instead, such as a :class:`penstock.RayExecutor`.
        limit: as in :meth:`Scenario.run`.

    Raises:
        ArgumentError: there is nothing to compare, a name is there twice, or no run records the queue. Or a cluster
            runs it, or it is to be resumed, and ``out`` is not given; or another process resumes it there.
        KeyboardInterrupt: the interrupt came before anything was recorded; nothing is written.
        ScenarioError: a value is not legal; nothing has run.
        LimitError: a run came to more than the limits allow; nothing is written.
        OutputError: the folder exists and ``force`` is not set, or cannot be written.
    """
    callbacks = callbacks or RunCallbacks()
    if out is None and executor is not None and executor.is_remote:
        raise ArgumentError("a comparison on a cluster needs a folder for its records", 'out="FOLDER"')
    if out is None and resume:
        raise ArgumentError("a comparison to be resumed needs a folder for its records", 'out="FOLDER"')
    sources = [scenarios] if isinstance(scenarios, (Scenario, str, PathLike)) else scenarios
    several = [Scenario.of(source) for source in sources]
    travels = out is not None or executor is not None
    choices = [one if isinstance(one, Variant) else (located if travels else place_of)(one) for one in schemes]
    lines = _lines(_named(several, vary), choices, seeds, profile, limit)
    if queue is not None:
        _known_queue(queue, lines)
    jobs = [(line, seed) for line in lines for seed in line.seeds]
    copy = {line: copies(line.scenario) for line in lines}

    def runs(folder: Path | None, jobs: Sequence[tuple[_Line, int]]) -> list[Run]:
        return [
            Run(
                label=f"{line.label}, seed {seed}",
                scenario=copy[line],
                seed=seed,
                scheme=line.chosen,
                profile=profile,
                out=None if folder is None else folder / _run_folder(line.label, seed),
                limit=limit,
            )
            for line, seed in jobs
        ]

    def run(folder: Path | None) -> dict[tuple[_Line, int], Result]:
        there = _finished(folder, jobs, profile, limit) if folder is not None and resume else {}
        missing = [job for job in jobs if job not in there]
        callbacks.planned(len(missing))
        if there:
            callbacks.skipped(len(there))
        # The comparison tells the frames that a run lost against its claim, when all runs are over.
        made = run_many(
            runs(folder, missing), _whole, callbacks, workers=workers, executor=executor, keep_interrupted=True
        )
        done = there | {missing[place]: result for place, result in made.items()}
        if not done:
            raise KeyboardInterrupt
        return {job: done[job] for job in jobs if job in done}

    if out is None:
        done = run(None)
        kept = {line.label: [done[line, seed] for of, seed in done if of is line] for line in lines}
        return Comparison(_document(lines, done, queue), runs=kept, interrupted=len(done) < len(jobs))
    # The folder gets its name when all of it is there.
    interrupts.writes(out)
    unfinished = Path(f"{os.fspath(out)}.unfinished")
    staged = _core.Folder.create(out, force or (resume and unfinished.is_dir()))
    try:
        with alone(unfinished, "comparison") if resume else nullcontext():
            done = run(unfinished if resume else staged.partial)
            document = _document(lines, done, queue)
            if resume:
                # Of a call that was ended early the finished runs stay where the next one finds them.
                for line, seed in done:
                    name = _run_folder(line.label, seed)
                    shutil.copytree(unfinished / name, staged.partial / name, copy_function=os.link)
            write_text(staged.partial / DOCUMENT, json.dumps(document, indent=2) + "\n")
            staged.publish()
            compared = Comparison(document, path=Path(out), interrupted=len(done) < len(jobs))
            if resume and not compared.interrupted:
                shutil.rmtree(unfinished)
    finally:
        staged.discard()
    return compared


def _finished(
    folder: Path, jobs: Sequence[tuple[_Line, int]], profile: str | None, limit: int
) -> dict[tuple[_Line, int], Result]:
    """Return the runs that an earlier call has left in a folder, and remove all others from it."""
    folder.mkdir(parents=True, exist_ok=True)
    there = {}
    for line, seed in jobs:
        path = folder / _run_folder(line.label, seed)
        if not path.is_dir():
            continue
        result = Result.open(path)
        summary = result.summary_in_brief
        wanted = line.scenario.resolved(scheme=line.chosen, profile=profile, seed=seed, limit=limit)
        is_same = result.scenario_toml == wanted and summary["run"]["version"] == __version__
        scheme = line.chosen or line.scenario.scheme
        if is_location(scheme):
            # The scenario names the file of a scheme, and not what was in it.
            is_same = is_same and file_of(scheme).stat().st_mtime < path.stat().st_mtime
        if is_same and not result.interrupted:
            there[line, seed] = result
        else:
            shutil.rmtree(path)
    return there


def _whole(_place: int, result: Result, _loss: ClaimError | None) -> Result:
    return result


def _named(scenarios: Sequence[Scenario], vary: Mapping[str, Any] | Sequence[Axis]) -> dict[str, Scenario]:
    """Return every scenario, at every value of the keys that are varied, under its name in labels."""
    names = [scenario.name for scenario in scenarios]
    for name in names:
        if names.count(name) > 1:
            hint = "give one its own name: the key name in its file"
            raise ArgumentError(f"two scenarios have the name {name}", hint)
    if not vary:
        return dict(zip(names, scenarios, strict=True))
    made = ((scenario.name, words, at) for scenario in scenarios for words, at in varied(scenario, vary).items())
    return {words if len(scenarios) == 1 else f"{name}, {words}": at for name, words, at in made}


def _lines(
    scenarios: Mapping[str, Scenario],
    schemes: Sequence[str | Variant],
    seeds: int | Sequence[int],
    profile: str | None,
    limit: int,
) -> list[_Line]:
    """Lay out every line's plan, which finds what is wrong with any before the first runs."""
    names = [entry.name if isinstance(entry, Variant) else entry for entry in schemes]
    if len(set(names)) != len(names):
        raise ArgumentError(f"schemes={json.dumps(names)}: a scheme is named twice", "name each once")
    several = len(seeds_of(seeds, 0)) > 1
    hint = 'name schemes with schemes=["A", "B"], another scenario, or seeds=N'
    if not scenarios:
        raise ArgumentError("no scenario to compare", hint)
    if len(scenarios) == 1 and not schemes and not several:
        raise ArgumentError("a comparison needs at least two runs", hint)
    choices: list[str | Variant | None] = [*schemes] or [None]
    made = [
        _line(name, scenario, choice, seeds, profile, limit, alone=len(scenarios) == 1)
        for name, scenario in scenarios.items()
        for choice in choices
    ]
    labels = [line.label for line in made]
    for label in labels:
        if labels.count(label) > 1:
            raise ArgumentError(f"two schemes are called {label}", "give the class, or the library, another name")
    return made


def _line(
    name: str,
    scenario: Scenario,
    choice: str | Variant | None,
    seeds: int | Sequence[int],
    profile: str | None,
    limit: int,
    *,
    alone: bool,
) -> _Line:
    """Lay a line out, with its first and its last seed."""
    chosen: str | None
    called: str | None
    scenario = scenario.with_(PERCENTILES)
    with choice.named() if isinstance(choice, Variant) else nullcontext():
        if isinstance(choice, Variant):
            scenario, chosen, called = choice.of(scenario), choice.chosen, choice.name
        else:
            chosen = called = choice
        plan = scenario.outline(scheme=chosen, profile=profile, limit=limit)
        if isinstance(choice, str) and is_location(choice):
            called = plan["scheme"]
        numbers = seeds_of(seeds, plan["seed"])
        scenario.outline(scheme=chosen, profile=profile, seed=max(numbers), limit=limit)
    # The choice, if there was one: with a scheme for each priority, the plan's are all called "mixed".
    own = called or plan["scheme"]
    of_several = f"{name}: {called}" if called else name
    return _Line(
        own if alone else of_several, scenario, chosen, plan, numbers, called if isinstance(choice, Variant) else None
    )


def _known_queue(queue: str, lines: Sequence[_Line]) -> None:
    known = list(dict.fromkeys(name for line in lines for name in line.plan["queues"]))
    if queue not in known:
        otherwise = "`penstock run` lists the recorded queues; record.queues chooses them"
        raise ArgumentError(f'queue="{queue}": no recorded queue has this name', nearest(queue, known, otherwise))


def _document(lines: Sequence[_Line], done: Mapping[tuple[_Line, int], Result], queue: str | None) -> dict[str, Any]:
    """Return the comparison as ``compare.json`` holds it."""
    summaries = [result.summary for result in done.values()]
    queue = queue or busiest(summaries)
    # Tables in a folder are read run by run and let go: all of them together may not fit into memory.
    measured = {
        job: measure(result if result.path is None else Result.open(result.path), queue) for job, result in done.items()
    }
    scenarios = list(dict.fromkeys((line.scenario.name, line.scenario.question) for line in lines))
    entries = []
    for line in lines:
        own = [job for job in done if job[0] is line]
        entries.append(
            {
                "label": line.label,
                "scenario": line.scenario.name,
                "scheme": line.plan["scheme"],
                **({"variant": line.variant} if line.variant is not None else {}),
                "profile": line.plan["profile"],
                "seeds": [seed for _, seed in own],
                **claims_kept([done[job] for job in own]),
                **({"undrawn": True} if _alike([done[job].summary for job in own]) else {}),
                **spreads([measured[job] for job in own]),
            }
        )
    return {
        "scenario": scenarios[0][0] if len(scenarios) == 1 else None,
        "question": scenarios[0][1] if len(scenarios) == 1 else None,
        "queue": queue,
        "schemes": entries,
        "runs": summaries,
    }


def claims_kept(results: Sequence[Result]) -> dict[str, bool]:
    """Return for each claim that a scenario makes whether all of its runs kept it."""
    made = {claim: [result.summary[claim] for result in results if claim in result.summary] for claim in CLAIMS}
    return {claim: all(kept) for claim, kept in made.items() if kept}


def _alike(summaries: "Sequence[Summary]") -> bool:
    """Return whether several seeds gave the same run: nothing in it is drawn."""
    found = [{key: value for key, value in summary.items() if key not in ("seed", "run")} for summary in summaries]
    return len(found) > 1 and all(one == found[0] for one in found)


def run_folders(line: dict[str, Any]) -> list[str]:
    """Return the names of the folders of a line's runs, in the order of its seeds."""
    return [_run_folder(line["label"], seed) for seed in line["seeds"]]


def _run_folder(label: str, seed: int) -> str:
    return f"{label.replace(': ', '-').replace('/', '-')}-seed{seed}"


def _panels(entries: Sequence[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """Return for each line, by its label, the scenario and the scheme as panels and explanations name them.

    Nothing where there is one scenario, or no scenario has several lines.
    """
    scenarios = [entry["scenario"] for entry in entries]
    if len(set(scenarios)) in (1, len(scenarios)):
        return {}
    parts = {entry["label"]: entry["label"].rpartition(": ") for entry in entries}
    return {label: (name, scheme) for label, (name, _, scheme) in parts.items()}
