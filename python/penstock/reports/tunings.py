"""The report of `penstock tune`: parameters old and proposed, the verdict on other seeds, and what was searched."""

import math
from collections.abc import Sequence

from penstock.declared import Outline
from penstock.metrics.seeds import LEVEL
from penstock.quantity_text import count, octets, share
from penstock.reports import fabric
from penstock.reports.model import Part, Points, Report, Section, Source, Table
from penstock.reports.page import picture
from penstock.tuning import Tuning, prose
from penstock.tuning.beside import Beside
from penstock.tuning.goals import Guard
from penstock.tuning.measures import MEASURES
from penstock.tuning.refusals import counted, title_of
from penstock.tuning.tuning import OWN, Settings
from penstock.tuning.verdict import Verdict

_CAPTION = (
    "The proposal over what it is compared with: mean and 95 % interval; left of the dashed line it is less. "
    "A measure that is 0 in the other has no mark."
)


def parameters(answer: Tuning) -> Table:
    """Return the tuned parameters: those that the scenario and its standard have, then the proposal."""
    sets = [*answer.others, *([answer.proposal] if answer.changed else [])]
    return Table(
        ("", *(heading(answer, settings) for settings in sets)),
        [
            *((key, *(str(settings.parameters[key]) for settings in sets)) for key in answer.proposal.parameters),
            ("phase margin", *(margin(settings) for settings in sets)),
            ("equilibrium queue", *(rest(settings) for settings in sets)),
            ("packets", *(confirmed(settings) for settings in sets)),
        ],
    )


def heading(answer: Tuning, settings: Settings) -> str:
    """Return the heading of a set of parameters."""
    if settings is answer.proposal and not answer.worth_writing:
        return "candidate"
    return {OWN: "scenario's own"}.get(settings.name, settings.name)


def confirmed(settings: Settings) -> str:
    """Return whether packets confirm the margin of a set of parameters."""
    return "-" if settings.confirmed is None else "confirm" if settings.confirmed else "contradict"


def margin(settings: Settings) -> str:
    """Return the phase margin of a set of parameters."""
    phase = settings.margin.phase_rad
    return f"{math.degrees(phase):.1f} degrees" if math.isfinite(phase) else "none"


def rest(settings: Settings) -> str:
    """Return the queue in the equilibrium of a set of parameters."""
    own = settings.margin.rest_octets
    return octets(own) if math.isfinite(own) else "none"


def judged(verdict: Verdict) -> Table:
    """Return every measure of a verdict: of the proposal and the other, the difference and its interval."""
    rows = []
    for pair in verdict.measures:
        title, kind = MEASURES[pair.measure].title, MEASURES[pair.measure].kind
        interval = (
            f"{prose.value(pair.low, kind, signed=True)} to {prose.value(pair.high, kind, signed=True)}"
            if math.isfinite(pair.low)
            else "one seed"
        )
        rows.append(
            (
                title,
                prose.over_seeds(pair.proposal, kind),
                prose.over_seeds(pair.other, kind),
                prose.value(pair.difference, kind, signed=True),
                interval,
            )
        )
    return Table(("", "proposal", "compared with", "difference", f"{100 * LEVEL:.0f} % interval"), rows)


def in_words(answer: Tuning, verdict: Verdict) -> str:
    """Return a verdict on the goal in a sentence."""
    (found,) = (pair for pair in verdict.measures if pair.measure == answer.goal.measure)
    of = found.other["mean"] or 0.0
    change = f" by {share(abs(found.difference) / of)}" if of > 0 and verdict.word != "no difference shown" else ""
    return f"{MEASURES[found.measure].title}: {verdict.word}{change}{prose.broken(verdict)}"


def guard(guard: Guard) -> str:
    """Return a bound that a proposal has to keep."""
    title, kind = MEASURES[guard.measure].title, MEASURES[guard.measure].kind
    return f"{title} {'at most' if guard.sign > 0 else 'at least'} {prose.value(guard.bound, kind)}"


def theory(answer: Tuning) -> str:
    """Return what the fluid model said of where to look."""
    region = answer.region
    if region.scorer is None:
        return f"{answer.unpredicted}; simulation alone searches"
    if region.resting:
        return (
            f"{region.resting} of {region.points} points have an equilibrium within the limits "
            f"of queue and rates; the best {region.kept} by the fluid model are kept"
        )
    return f"no point of {region.points} has an equilibrium within the limits of queue and rates; all are kept"


def kept(answer: Tuning) -> list[str]:
    """Return what the search keeps: guards, and the phase margin."""
    bounds = [guard(one) for one in answer.guards]
    if math.isfinite(answer.least_phase_rad):
        least = f"{math.degrees(answer.least_phase_rad):.1f} degrees"
        bounds.append(f"a phase margin, where there is one, at least {least}")
    return bounds


def _search_pictures(answer: Tuning) -> list[Part]:
    """Return the picture of the search, and the candidates that guards refused, by reason."""
    parts: list[Part] = []
    if answer.candidates:
        from penstock.figures.tuning import search

        caption = "Each simulated point, mean over the seeds of the search: its goal, and the guards that refused most."
        parts.append(picture(lambda: search(answer), caption, "search"))
    if answer.refusals:
        rows = [(title_of(key), count(number)) for key, number in counted(answer.refusals).items()]
        parts.append(Table(("refused by", "candidates"), rows, note="One candidate may break several guards."))
    return parts


def of_tuning(
    answer: Tuning,
    outline: Outline,
    *,
    both: Beside | None = None,
    sources: Sequence[Source] = (),
    command: str = "",
) -> Report:
    """Return the report of a tuning.

    Args:
        answer: the answer.
        outline: the plan of the scenario that was tuned.
        both: its own parameters and the candidate's over time; ``None`` without a candidate.
        sources: that scenario.
        command: the command that repeats it.
    """
    sections = [Section("Why", [answer.why]), Section("Parameters, old and proposed", [parameters(answer)])]
    if answer.verdicts:
        from penstock.figures.tuning import differences

        drawn = picture(lambda: differences(answer.verdicts), _CAPTION, "differences")
        sections.append(Section("The proposal at a glance", [drawn]))
    for verdict in answer.verdicts:
        parts: list[Part] = [f"{in_words(answer, verdict)}.", judged(verdict)]
        if verdict.alike:
            parts.append("Every seed gives the same run: nothing in the scenario is random, and there is no interval.")
        sections.append(Section(f"Against {verdict.against}, {prose.seeds(answer.verdict_seeds)}", parts))
    if both is not None:
        from penstock.figures.tuning import over_time

        caption = f"Seed {both.seed} of the verdict, with the scenario's own parameters and with the candidate's."
        drawn = picture(lambda: over_time(both), caption, "beside")
        sections.append(Section("Before and after, over time", [drawn]))
    search: list[Part] = [
        f"The search makes this as good as it can: {answer.goal.definition}, at {answer.queue}.",
        "It keeps these bounds:",
        Points(kept(answer)),
        *_search_pictures(answer),
        f"Theory: {theory(answer)}. Simulated: {count(answer.trials)} points, {prose.seeds(answer.tuning_seeds)}.",
    ]
    sections += [Section("Search", search), fabric.section(outline)]
    verdict_text, good = _verdict(answer)
    return Report(
        title=f"{answer.scenario.name}, {answer.scheme}, for {answer.goal.name}",
        kind="Tuning",
        question=answer.scenario.question,
        verdict=verdict_text,
        good=good,
        sections=sections,
        assumptions=[
            f"The verdict is on {prose.seeds(answer.verdict_seeds)}, which the search never used.",
            *answer.notes,
        ],
        sources=sources,
        seeds=[*answer.tuning_seeds, *answer.choosing_seeds, *answer.verdict_seeds],
        command=command,
    )


def _verdict(answer: Tuning) -> tuple[str, bool | None]:
    """Return the first sentence of the reasons, and whether a gain is shown, or packets contradict the candidate."""
    first, _, rest = answer.why.partition(". ")
    good = True if answer.gain_shown else False if answer.objections else None
    return f"{first}." if rest else first, good
