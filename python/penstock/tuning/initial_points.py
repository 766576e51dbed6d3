"""Points that fill the space between the bounds, of those that the scenario takes.

Each bound alone is legal, but values may contradict one another: DCQCN's Kmax is never less than its Kmin. Theory is
asked about legal points alone. Its answers about others mean nothing, and yet would decide which half it keeps.
"""

import re
from collections.abc import Sequence
from math import log

from penstock._core import ScenarioError
from penstock.catalogue import about
from penstock.scenario import Scenario
from penstock.theory.axes import written
from penstock.theory.configuration import Configuration, UnsuitedScenarioError
from penstock.tuning.search_space import Knob, Point, set_to

_BLOCKS = 8
"""Points of the sequence at the most, as a multiple of those wanted, where most of them are not legal."""


def refusal(scenario: Scenario, tuned: Sequence[Knob], point: Point) -> ScenarioError | None:
    """Return why a scenario does not take a point; nothing if it does."""
    try:
        set_to(scenario, tuned, point).describe()
    except ScenarioError as error:
        return error
    return None


def spread(
    scenario: Scenario, own: Configuration, tuned: Sequence[Knob], count: int, seed: int
) -> list[dict[str, float]]:
    """Return points that fill the space evenly (Sobol's sequence, scrambled by the seed) and that the scenario takes.

    They are ``count``, or fewer where but a small part of the space is legal.

    Raises:
        UnsuitedScenarioError: the bounds leave no legal point.
    """
    from scipy.stats import qmc

    sequence = qmc.Sobol(len(tuned), rng=seed)
    points: list[dict[str, float]] = []
    refused: ScenarioError | None = None
    for _ in range(_BLOCKS):
        for row in sequence.random(count).tolist():
            point = {knob.name: knob.snapped(value_at(knob, place)) for knob, place in zip(tuned, row, strict=True)}
            why = refusal(scenario, tuned, point)
            refused = refused or why
            if why is None:
                points.append(point)
            if len(points) == count:
                return points
        # A block without a legal point is answer enough.
        if not points and refused is not None:
            raise _contradiction(refused, own, tuned)
    return points


def value_at(knob: Knob, place: float) -> float:
    """Return the value at a share of the distance between the bounds: of the logarithms, where it is drawn by them."""
    if knob.log:
        return float(knob.low * (knob.high / knob.low) ** place)
    return knob.low + place * (knob.high - knob.low)


def place_of(knob: Knob, value: float) -> float:
    """Return which share of the distance between the bounds a value is at: the inverse of :func:`value_at`."""
    if knob.high == knob.low:
        return 0.0
    if knob.log:
        return log(value / knob.low) / log(knob.high / knob.low)
    return (value - knob.low) / (knob.high - knob.low)


def _contradiction(refused: ScenarioError, own: Configuration, tuned: Sequence[Knob]) -> UnsuitedScenarioError:
    """Name the bounds that leave no legal point, and the remedies."""
    # Parameters are known by their names; "a", which is one of FECN's, is a word too.
    said = set(re.findall(r"\w{2,}", f"{refused.message} {refused.hint}")) | {str(refused.key).rpartition(".")[2]}
    involved = [knob for knob in tuned if knob.name in said] or list(tuned)
    spans = ",".join(f"{knob.key}={knob.text(knob.low)}..{knob.text(knob.high)}" for knob in involved)
    rule = refused.hint or refused.message
    # Parameters in the rule that are not tuned stand as the scenario has them.
    fixed = sorted(name for name in said & set(own.parameters) if name not in {knob.name for knob in tuned})
    if not fixed:
        why = rule if len(involved) > 1 else refused.message
        return UnsuitedScenarioError(
            f"keys {spans}: no point between these bounds is legal: {why}", "write bounds with room for that"
        )
    name = fixed[0]
    key = f"schemes.{own.scheme}.{name}"
    known = about(own.scheme)
    (unit,) = (parameter["unit"] for parameter in known["parameters"] if parameter["name"] == name)
    value = written(own.number(name), unit) if isinstance(own.parameters[name], float | int) else own.parameters[name]
    return UnsuitedScenarioError(
        f"keys {spans}: no value between these bounds goes with {name}, which is {value}: {rule}",
        f"write other bounds, set {key} to another value, or tune it too: {spans},{key}=A..B",
    )
