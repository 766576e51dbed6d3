"""An answer as one document, which ``penstock tune --json`` prints, and as a scenario file."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from penstock.metrics.seeds import LEVEL
from penstock.scenario import Scenario, text_alone
from penstock.tuning import prose
from penstock.tuning.goals import mean
from penstock.tuning.measures import MEASURES
from penstock.tuning.refusals import Objection, counted
from penstock.tuning.verdict import Verdict

if TYPE_CHECKING:
    from penstock.tuning.tuning import Settings, Tuning


def document(answer: "Tuning") -> dict[str, Any]:
    """Return the answer as JSON has it: null stands for what is unknown."""
    return {
        "scenario": answer.scenario.name,
        "scheme": answer.scheme,
        "goal": asdict(answer.goal),
        "why": answer.why,
        "guards": [asdict(guard) for guard in answer.guards],
        "least_phase_margin_degrees": _number(math.degrees(answer.least_phase_rad)),
        "notes": list(answer.notes),
        "queue": answer.queue,
        "theory": {
            "unpredicted": answer.unpredicted or None,
            "points": answer.region.points,
            "resting": answer.region.resting,
            "kept": answer.region.kept,
            "bounds": {
                knob.key: {"unit": knob.unit, "of": [whole.low, whole.high], "kept": [knob.low, knob.high]}
                for whole, knob in zip(answer.space, answer.region.knobs, strict=True)
            },
        },
        "trials": answer.trials,
        "refused_by_theory": answer.refused,
        "refused_by_guards": {
            "candidates": len(answer.refusals),
            "by_guard": counted(answer.refusals),
            "reasons": [
                {
                    "parameters": {knob.key: knob.text(refusal.point[knob.name]) for knob in answer.space},
                    "objections": _objections(refusal.objections),
                }
                for refusal in answer.refusals
            ],
        },
        "best_allowed": None if answer.best_allowed is None else mean(answer.best_allowed),
        "finalists": answer.finalists,
        "tuning_seeds": list(answer.tuning_seeds),
        "choosing_seeds": list(answer.choosing_seeds),
        "verdict_seeds": list(answer.verdict_seeds),
        "changed": answer.changed,
        "proposed": answer.worth_writing,
        "proposal": _settings(answer.proposal),
        "proposal_breaks": _objections(answer.objections),
        "baseline": _settings(answer.baseline),
        "baseline_breaks": _objections(answer.own_objections),
        "others": [_settings(other) for other in answer.others],
        "verdicts": [_verdict(verdict) for verdict in answer.verdicts],
        "gain_shown": answer.gain_shown,
        "interrupted": answer.interrupted,
    }


def _settings(settings: "Settings") -> dict[str, Any]:
    return {
        "name": settings.name,
        "parameters": dict(settings.parameters),
        "phase_margin_degrees": _number(math.degrees(settings.margin.phase_rad)),
        "rest_octets": _number(settings.margin.rest_octets),
        "no_margin_because": settings.margin.reason or None,
        "packets_confirm_margin": settings.confirmed,
        "tuning": mean(settings.tuning),
        "judging": mean(settings.judging) if settings.judging else None,
    }


def _objections(objections: Sequence[Objection]) -> list[dict[str, Any]]:
    return [asdict(objection) for objection in objections]


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "against": verdict.against,
        "word": verdict.word,
        "beats": verdict.beats,
        "guards_broken": list(verdict.broken),
        "runs_alike": verdict.alike,
        "measures": [
            {
                "measure": pair.measure,
                "proposal": pair.proposal,
                "other": pair.other,
                "difference": {
                    "mean": pair.difference,
                    "std": pair.spread,
                    "interval": [_number(pair.low), _number(pair.high)],
                    "level": LEVEL,
                },
            }
            for pair in verdict.measures
        ],
    }


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def as_scenario(answer: "Tuning", name: str) -> Scenario:
    """Return the scenario with the proposal, whose comment says where it comes from; ``name`` is what was tuned."""
    lines = [
        f"{name} with parameters that `penstock tune` proposes for {answer.goal.name}: {answer.goal.definition}.",
        f"{answer.trials} points simulated, {prose.seeds(answer.tuning_seeds)}{_choice(answer)}.",
    ]
    lines += [_sentence(answer, verdict) for verdict in answer.verdicts] or ["Interrupted before a verdict."]
    question = f"{answer.scenario.question} (Parameters proposed by `penstock tune --goal {answer.goal.name}`.)"
    comment = "".join(f"# {line}\n" for line in lines) + "\n"
    text = comment + text_alone(answer.scenario)
    return Scenario.from_toml(text, name=answer.scenario.name).set("question", question)


def _choice(answer: "Tuning") -> str:
    if not answer.finalists:
        return ""
    return f"; the best {answer.finalists} with {prose.seeds(answer.choosing_seeds)} too"


def _sentence(answer: "Tuning", verdict: Verdict) -> str:
    (pair,) = (pair for pair in verdict.measures if pair.measure == answer.goal.measure)
    title, kind = MEASURES[pair.measure].title, MEASURES[pair.measure].kind
    ours, other = prose.mean_of(pair.proposal, kind), prose.mean_of(pair.other, kind)
    return (
        f"Against {verdict.against}, {prose.seeds(answer.verdict_seeds)}, which the search never saw: {title} "
        f"{ours} instead of {other}, {verdict.word}{prose.broken(verdict)}."
    )
