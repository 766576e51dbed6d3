"""Why a search proposes its candidate, or nothing: a paragraph with three metrics, before and after."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.quantity_text import octets
from penstock.tuning import prose
from penstock.tuning.goals import mean
from penstock.tuning.measures import MEASURES, Observed
from penstock.tuning.refusals import Objection, counted, title_of

if TYPE_CHECKING:
    from penstock.tuning.tuning import Settings, Tuning


def shown_measures(answer: "Tuning") -> tuple[str, ...]:
    """Return three metrics: that of the goal, and two by which a proposal might pay for it."""
    paid = "paused_s" if any(guard.measure == "queue_max_octets" for guard in answer.guards) else "frames_dropped"
    if answer.goal.measure == paid:
        return paid, "queue_p99_octets", "utilization"
    return answer.goal.measure, "utilization" if answer.goal.guards_utilization else "queue_p99_octets", paid


def why(answer: "Tuning") -> str:
    """Return why this is proposed, or nothing is: a paragraph."""
    sentences = [_outcome(answer)]
    if answer.own_objections:
        sentences.append(f"The scenario's own parameters break a guard themselves: {_reasons(answer.own_objections)}.")
    sentences += _confirmation(answer)
    if answer.refusals:
        causes = ", ".join(f"{title_of(key)} {number}" for key, number in counted(answer.refusals).items())
        sentences.append(f"Guards refused {len(answer.refusals)} of {answer.trials} candidates: {causes}.")
    return " ".join(sentences)


def _outcome(answer: "Tuning") -> str:
    if answer.verdicts:
        of = _changes(answer, answer.proposal.judging, answer.baseline.judging)
        seeds = f"on {prose.seeds(answer.verdict_seeds)}, which the search never used, "
        if answer.gain_shown:
            return f"Proposed: {seeds}{of}, and every guard is kept."
        return f"Nothing is proposed: {seeds}{_refuted(answer)}: {of}."
    if answer.changed:
        of = _changes(answer, answer.proposal.tuning, answer.baseline.tuning)
        return f"The best so far, which no other seeds have judged: {of}."
    if answer.interrupted:
        return f"Nothing is proposed: interrupted after {answer.trials} candidates."
    if answer.best_allowed is None:
        return "Nothing is proposed: no candidate keeps the guards."
    own = answer.baseline.tuning[: len(answer.best_allowed)]
    return (
        "Nothing is proposed: no candidate that keeps the guards is better than the scenario's own parameters. "
        f"The best of these candidates comes to {_changes(answer, answer.best_allowed, own)}."
    )


def _refuted(answer: "Tuning") -> str:
    """What packets say against the best candidate on seeds that are new to the search."""
    if answer.objections:
        return f"packets contradict the best candidate ({_reasons(answer.objections)})"
    failed = next(verdict for verdict in answer.verdicts if not verdict.beats)
    if failed.word == "no difference shown":
        return f"packets show no gain of the best candidate against {failed.against}"
    return f"packets contradict the best candidate ({failed.word} than {failed.against}{prose.broken(failed)})"


def _changes(answer: "Tuning", ours: Sequence[Observed], own: Sequence[Observed]) -> str:
    """The three metrics, after and before."""
    after, before = mean(ours), mean(own)
    parts = [
        f"{MEASURES[key].title} {prose.value(after[key], kind)} instead of {prose.value(before[key], kind)}"
        for key in shown_measures(answer)
        for kind in [MEASURES[key].kind]
    ]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _confirmation(answer: "Tuning") -> list[str]:
    """Whether packets bear out the margin of the candidate, or of the scenario's own parameters."""
    settings = answer.proposal if answer.changed else answer.baseline
    return [] if settings.confirmed is None else [f"{margin_in_words(settings)}."]


def margin_in_words(settings: "Settings") -> str:
    """Return the fluid's word of a stable equilibrium, and that of packets."""
    at, margin = mean(settings.judging or settings.tuning), settings.margin
    word = "confirm" if settings.confirmed else "contradict"
    return (
        f"The fluid is stable at {octets(margin.rest_octets)}, by {math.degrees(margin.phase_rad):.1f} degrees, and "
        f"packets {word} it: their queue is {octets(at['queue_mean_octets'])} ± {octets(at['queue_std_octets'])}"
    )


def _reasons(objections: Sequence[Objection]) -> str:
    return "; ".join(objection.reason for objection in objections)
