"""Trials of a fabric with the present settings and with those proposed: made, run over seeds, and answered.

>>> fabric = penstock.Scenario.load("rack.toml")
>>> found = penstock.what_if(fabric, incast=[16], victim=True, proposed={"buffer.0.ingress_alpha": "1"})
>>> print(found.trials[0].sentence)
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from penstock import __version__
from penstock.errors import ArgumentError
from penstock.files import alone, write_text
from penstock.metrics.seeds import spread
from penstock.quantity_text import UNDRAWN
from penstock.result import ClaimError, Result
from penstock.runs import Run, RunCallbacks, copies, run_many, seeds_of
from penstock.scenario import Scenario
from penstock.what_ifs import answers, making
from penstock.what_ifs.kept_runs import JOURNAL, KeptRuns, key_of
from penstock.what_ifs.measuring import RunNumbers, about, figure_tables, numbers
from penstock.what_ifs.outcome import MadeScenario, Measure, Trial, WhatIf
from penstock.what_ifs.questions import Asked, Case, Question, questions

DOCUMENT = "what-if.json"


def what_if(
    fabric: Scenario,
    *,
    incast: int | Sequence[int] = (),
    storm: str | Sequence[str] = (),
    down: str | Sequence[str] = (),
    degrade: Mapping[str, str] | None = None,
    slow: Mapping[str, str] | None = None,
    victim: bool = False,
    deadlock: bool = False,
    proposed: Scenario | Mapping[str, str | int | float | bool] | None = None,
    to: str | None = None,
    size: str | None = None,
    receive_buffer: str = "1 MB",
    links_down: int = 1,
    duration: str | None = None,
    seeds: int | Sequence[int] = 5,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    resume: bool = False,
    callbacks: RunCallbacks | None = None,
    workers: int | None = None,
    limit: int = 1,
) -> WhatIf:
    """Ask what happens to a fabric in trials, with its present settings and with those proposed.

        >>> fabric = penstock.Scenario.load("rack.toml")
        >>> found = penstock.what_if(fabric, down="leaf0--spine1", degrade={"leaf0--spine0": "50%"})
        >>> [trial.sentence for trial in found.trials]

    Each trial makes scenarios of the fabric's: its own traffic with a disturbance, or traffic that takes its place.

    Args:
        fabric: a scenario; it is left as it is.
        incast: numbers of flows from hosts of other racks to ``to``, beside the fabric's own traffic.
        storm: hosts that pause their switch for the middle half of the measured time.
        down: links that go down after a quarter of the measured time, as ``A--B``.
        degrade: links with their rates from the start, as ``50%`` or ``10G``; ``A--B`` has both directions.
        slow: hosts with the rates at which they take frames from their receive buffer.
        victim: whether to try a flow beside an incast that shares links with it, and not its receiver.
        deadlock: whether to search all routes for cycles of buffers, and to try the first in simulation.
        proposed: the proposed settings: keys with values, as for :meth:`penstock.Scenario.with_`, or a scenario with
            the same hosts and links, whose traffic, duration, warm-up and seed are not used.
        to: the host that incasts go to; by default the first.
        size: octets of a flow of an incast; by default all together take a quarter of the measured time.
        receive_buffer: receive buffer of slow hosts that have none in the fabric.
        links_down: the most links that are down at once in the search for cycles: 0 to 2.
        duration: simulated time instead of the fabric's.
        seeds: how many runs of each scenario, from the fabric's seed on; or the seeds.
        out: the folder for the scenarios and ``what-if.json``.
        force: whether to write into the folder if it exists.
        resume: whether to go on with the finished runs of the folder, whatever ended the call that left them. A run of
            another scenario, or of another version, is run again.
        callbacks: how to watch and end the runs.
        workers: how many runs at a time; by default one for each core.
        limit: as in :meth:`penstock.Scenario.run`.

    Raises:
        ArgumentError: no trial is asked for, a name or rate is wrong, the folder exists, or another process writes it.
        KeyboardInterrupt: the runs were interrupted; the folder has those that had finished, for ``resume``.
        ScenarioError: a value is not legal.
        LimitError: a run came to more than the limits allow.
    """
    if resume and out is None:
        raise ArgumentError("trials to be resumed need a folder for their runs", 'out="FOLDER"')
    if out is not None and Path(out).exists() and not (force or resume):
        unfinished = (Path(out) / JOURNAL).is_file() and not (Path(out) / DOCUMENT).is_file()
        go_on = "go on with its runs with resume=True, " if unfinished else ""
        raise ArgumentError(f"{out} exists", f"{go_on}name another folder, or replace its files with force=True")
    callbacks = callbacks or RunCallbacks()
    asked = Asked(
        incast=[incast] if isinstance(incast, int) else incast,
        storm=[storm] if isinstance(storm, str) else storm,
        down=[down] if isinstance(down, str) else down,
        degrade=degrade or {},
        slow=slow or {},
        victim=victim,
        deadlock=deadlock,
        to=to,
        size=size,
        receive_buffer=receive_buffer,
        links_down=links_down,
    )
    present = making.base(fabric, limit, duration)
    sides = {"present": present}
    if proposed is not None:
        other = proposed if isinstance(proposed, Scenario) else fabric.with_(proposed)
        sides["proposed"] = making.with_settings_of(present, other, limit)
    asked_for = questions(asked, sides)
    chosen = seeds_of(seeds, present.fabric.outline["seed"])
    cases = {case.name: case for one in asked_for for case in (one.case, one.reference) if case is not None}
    made = {
        (name, side): _made(case, side, of, alone=len(sides) == 1)
        for name, case in cases.items()
        for side, of in sides.items()
    }
    folder = None if out is None else Path(out)
    with alone(folder, "what-if") if folder is not None else nullcontext():
        kept = KeptRuns(folder, resume=resume)
        found = _run(cases, made, chosen, kept, callbacks, workers, limit)
    trials = tuple(_trial(one, made, found, tuple(sides), chosen) for one in asked_for)
    answer = WhatIf(
        fabric=present.name,
        proposed=_named(proposed),
        seeds=chosen,
        trials=trials,
        notes=tuple(dict.fromkeys(note for several in found.values() for note in several[0].notes)),
        version=__version__,
        path=folder,
    )
    if answer.path is not None:
        for scenario in made.values():
            write_text(answer.path / f"{scenario.name}.toml", scenario.toml)
        write_text(answer.path / DOCUMENT, json.dumps(answer.document, indent=2) + "\n")
    return answer


def _named(proposed: Scenario | Mapping[str, Any] | None) -> Mapping[str, Any] | str | None:
    return proposed.name if isinstance(proposed, Scenario) else None if proposed is None else dict(proposed)


def _made(case: Case, side: str, of: making.Base, *, alone: bool) -> MadeScenario:
    name = case.name if alone else f"{case.name}-{side}"
    text = making.text_of(case.make(of), name, case.question)
    return MadeScenario(name=name, side=side, toml=text, sha256=hashlib.sha256(text.encode()).hexdigest())


_Key = tuple[str, str]
"""A case, and a side."""


def _run(
    cases: Mapping[str, Case],
    made: Mapping[_Key, MadeScenario],
    seeds: Sequence[int],
    kept: KeptRuns,
    callbacks: RunCallbacks,
    workers: int | None,
    limit: int,
) -> dict[_Key, list[RunNumbers]]:
    """Run every scenario with every seed, but for the runs that are kept."""
    every = {
        (key, seed): key_of(made[key].toml, seed, cases[key[0]].port, lines=seed == seeds[0])
        for key in made
        for seed in seeds
    }
    jobs = [job for job, name in every.items() if kept.get(name) is None]
    read = {key: Scenario.from_toml(one.toml, origin=one.name, name=one.name) for key, one in made.items()}
    for scenario in read.values():
        scenario.outline(limit=limit)
    runs = [
        Run(label=f"{made[key].name}, seed {seed}", scenario=copies(read[key]), seed=seed, limit=limit)
        for key, seed in jobs
    ]

    def take(place: int, result: Result, _broken: ClaimError | None) -> RunNumbers:
        (case, _), seed = jobs[place]
        taken = numbers(result, cases[case].port)
        return taken if seed == seeds[0] else replace(taken, lines={})

    callbacks.planned(len(runs))
    if len(jobs) < len(every):
        callbacks.skipped(len(every) - len(jobs))
    run_many(runs, take, callbacks, workers=workers, keep=lambda place, numbers: kept.keep(every[jobs[place]], numbers))
    found: dict[_Key, list[RunNumbers]] = {}
    for (key, _), name in every.items():
        run = kept.get(name)
        if run is None:
            raise KeyboardInterrupt
        found.setdefault(key, []).append(run)
    return found


def _trial(
    asked: Question,
    made: Mapping[_Key, MadeScenario],
    found: Mapping[_Key, list[RunNumbers]],
    sides: Sequence[str],
    seeds: Sequence[int],
) -> Trial:
    own = [] if asked.case is None else [(asked.case.name, side) for side in sides]
    reference = [] if asked.reference is None else [(asked.reference.name, side) for side in sides]
    measures: list[Measure] = []
    for name in asked.measures if own else ():
        taken = {}
        for place, key in enumerate(own):
            taken[key[1]] = _values(name, found[key], found[reference[place]] if reference else [])
        if any(value is not None for several in taken.values() for value in several):
            measures.append(_measure(name, taken))
    runs = [run for key in own for run in found[key]]
    notes = [*asked.notes]
    if left := sum(run.values["unfinished"] or 0 for run in runs):
        notes.append(f"{left:.0f} flows of the trial had not completed at the end; their completion counts until then")
    if len(seeds) > 1 and runs and all(one.present["std"] == 0 for one in measures):
        notes.append(UNDRAWN.format(asked.name).removeprefix("note: "))
    return Trial(
        kind=asked.kind,
        name=asked.name,
        question=asked.question,
        sentence=_sentence(asked, {one.name: one for one in measures}, len(seeds)),
        port=None if asked.case is None else asked.case.port,
        measures=tuple(measures),
        scenarios=tuple(made[key] for key in (*own, *reference)),
        figures=tuple(figure_tables(asked.name, {key[1]: found[key][0] for key in own})),
        cycles=() if asked.cycles is None else asked.cycles.cycles,
        notes=tuple(notes),
    )


_OF_REFERENCE = {
    "victim_alone_bps": "victim_goodput_bps",
    "victim_completion_alone_s": "victim_completion_s",
}
"""The numbers of a run without the disturbance, by their names in a trial."""


def _values(name: str, runs: Sequence[RunNumbers], without: Sequence[RunNumbers]) -> list[float | None]:
    """Return a number of each run; of some also the run of the same seed without the disturbance is needed."""
    if name in _OF_REFERENCE:
        return [run.values.get(_OF_REFERENCE[name]) for run in without]
    if name == "delivered_share":
        pairs = [(run.values["frames_delivered"], other.values["frames_delivered"]) for run, other in
                 zip(runs, without, strict=True)]  # fmt: skip
        return [own / whole if own is not None and whole else None for own, whole in pairs]
    return [run.values.get(name) for run in runs]


def _measure(name: str, taken: Mapping[str, Sequence[float | None]]) -> Measure:
    of = about(name)
    present, proposed = taken["present"], taken.get("proposed")
    pairs = zip(present, proposed or [], strict=proposed is not None)
    return Measure(
        name=name,
        title=of.title,
        kind=of.kind,
        better=of.better,
        present=spread(present),
        proposed=None if proposed is None else spread(proposed),
        difference=None
        if proposed is None
        else spread(None if old is None or new is None else new - old for old, new in pairs),
    )


def _sentence(asked: Question, measures: Mapping[str, Measure], seeds: int) -> str:
    if asked.cycles is not None:
        storm = "" if asked.case is None else asked.case.name.removeprefix("deadlock-storm-")
        return answers.of_cycles(asked.cycles, measures, seeds, storm=storm)
    name = next((name for name in asked.clauses if name in measures), None)
    if name is None:
        return "The runs have none of the numbers that answer the question."
    return answers.sentence(measures[name], asked.clauses[name], seeds, more=_beside(name, measures))


def _beside(name: str, measures: Mapping[str, Measure]) -> str:
    """Return the remark beside an answer: what a victim gets alone, and the slowdown of a disturbed fabric."""
    alone, slowdown = measures.get("victim_alone_bps"), measures.get("slowdown_p99")
    if alone is not None:
        return f"{answers.value(alone.name, alone.present)} without the incast"
    if name != "delivered_share" or slowdown is None:
        return ""
    text = f"p99 slowdown {answers.value(slowdown.name, slowdown.present)}"
    return text if slowdown.proposed is None else f"{text}, proposed {answers.value(slowdown.name, slowdown.proposed)}"
