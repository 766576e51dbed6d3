"""The report of `penstock what-if`: the answers, settings present and proposed, a section for each trial."""

from collections.abc import Sequence

from penstock.declared import Outline
from penstock.reports import fabric
from penstock.reports.differences import differences
from penstock.reports.model import Mark, Part, Points, Report, Section, Source, Table
from penstock.reports.page import picture
from penstock.scenario import Scenario
from penstock.what_ifs.answers import value
from penstock.what_ifs.cycles import Cycle
from penstock.what_ifs.outcome import Measure, Trial, WhatIf

_INTERVAL = (
    "Numbers are means over the seeds, ± half of the 95 % interval. Both sides have the same seeds, and so the same "
    "traffic. They differ where the interval of the difference between runs of one seed leaves zero out."
)


def numbers(trial: Trial) -> Table:
    """Return the numbers of a trial, a row each."""
    proposal = any(measure.proposed is not None for measure in trial.measures)
    return Table(("", "present", *(("proposed", "difference") if proposal else ())), [_row(m) for m in trial.measures])


def _row(measure: Measure) -> tuple[str, ...]:
    sides = [one for one in (measure.present, measure.proposed, measure.difference) if one is not None]
    return measure.title, *(value(measure.name, one) for one in sides)


def other_cycles(trial: Trial) -> list[str]:
    """Return the cycles of buffers after the first, which the answer names."""
    return [f"another circle{_where(cycle)}: {', '.join(cycle.ports)}" for cycle in trial.cycles[1:]]


def _where(cycle: Cycle) -> str:
    return f" with {' and '.join(cycle.down)} down" if cycle.down else ""


def of_what_if(found: WhatIf, outline: Outline, *, sources: Sequence[Source] = (), command: str = "") -> Report:
    """Return the report of trials.

    Args:
        found: the trials.
        outline: the plan of the fabric.
        sources: the scenario of the fabric, and that of the proposal.
        command: the command that repeats it.
    """
    verdict, good = _verdict(found)
    answers = Table(
        ("trial", "answer", *(["proposed"] if found.proposed is not None else [])),
        [
            (trial.name, trial.sentence, *([_mark(trial)] if found.proposed is not None else []))
            for trial in found.trials
        ],
    )
    sections = [Section("Answers", [answers, _INTERVAL])]
    first = {scenario.side: scenario.toml for trial in found.trials[:1] for scenario in trial.scenarios[:2]}
    if len(first) > 1:
        resolved = {side: Scenario.from_toml(text, name=side).resolved() for side, text in first.items()}
        sections.append(Section("Settings that differ", [differences(resolved)]))
    sections += [_section(trial) for trial in found.trials]
    scenarios = {scenario.name: scenario for trial in found.trials for scenario in trial.scenarios}
    return Report(
        title=found.fabric,
        kind="What if",
        verdict=verdict,
        good=good,
        sections=[*sections, fabric.section(outline)],
        assumptions=found.notes,
        sources=[*sources, *(Source(f"{name}.toml", scenario.sha256) for name, scenario in scenarios.items())],
        seeds=found.seeds,
        command=command,
    )


def _section(trial: Trial) -> Section:
    from penstock.figures.what_ifs import trial_figure

    parts: list[Part] = [trial.question, trial.sentence]
    if trial.measures:
        parts.append(numbers(trial))
    if trial.figures:
        caption = "The first seed of each side."
        parts.append(picture(lambda: trial_figure(trial), caption, trial.name.replace(".", "-")))
    if remarks := [*other_cycles(trial), *trial.notes]:
        parts.append(Points(remarks))
    return Section(trial.name, parts)


def _better(trial: Trial) -> bool | None:
    """Return whether the proposal is better in the number that answers a trial; ``None`` without a difference."""
    if not trial.measures or not trial.measures[0].differs or trial.measures[0].better is None:
        return None
    difference = trial.measures[0].difference
    assert difference is not None
    return ((difference["mean"] or 0) > 0) == (trial.measures[0].better == "more")


def _mark(trial: Trial) -> Mark:
    better = _better(trial)
    return Mark("no difference" if better is None else "better" if better else "worse", better)


def _verdict(found: WhatIf) -> tuple[str, bool | None]:
    if found.proposed is None:
        return found.trials[-1].sentence, None
    judged = {trial.name: _better(trial) for trial in found.trials}
    better, worse = ([name for name, of in judged.items() if of is wanted] for wanted in (True, False))
    if not better and not worse:
        return f"No difference can be seen in {len(judged)} trials.", None
    parts = [f"{word} in {', '.join(names)}" for word, names in (("better", better), ("worse", worse)) if names]
    rest = len(judged) - len(better) - len(worse)
    text = f"The proposed settings are {' and '.join(parts)}"
    return f"{text}; no difference can be seen in {rest} of {len(judged)} trials." if rest else f"{text}.", not worse
