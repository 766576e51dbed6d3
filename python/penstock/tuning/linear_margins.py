"""Linear theory of points: whether and where they have an equilibrium, and with which phase margin.

Each period's model is linearised at its equilibrium; the least margin of all modes and periods counts. SMCC has no
linearisation: its number is the phase that is left until an oscillation as large as its target lasts (harmonic
balance). Below a target that it does not reach (:mod:`penstock.theory.equilibrium`) it counts as having none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penstock.theory.configuration import Configuration, UnsuitedScenarioError
from penstock.theory.limit_cycle import balance
from penstock.theory.linear_stability import Array, margins
from penstock.theory.linearisation import is_at_rest, linearise
from penstock.theory.margin import stack_models
from penstock.theory.models import model_of
from penstock.theory.models.base import Flags, FluidModel
from penstock.tuning.search_space import Knob, Point, moved


@dataclass(frozen=True)
class LinearMargins:
    """The linear theory of one point.

    Attributes:
        phase_rad: phase margin; NaN where no equilibrium lies within the limits of queue and rates.
        rest_octets: length of the queue at equilibrium, the longest of all periods; NaN likewise.
        reason: why there is no number, or "".
    """

    phase_rad: float
    rest_octets: float
    reason: str = ""


def linear_margins(periods: Sequence[Configuration]) -> LinearMargins:
    """Return what linear theory says of a scenario's periods."""
    phase, queue = np.inf, 0.0
    for given in periods:
        try:
            model = model_of(given)
        except UnsuitedScenarioError as unsuited:
            return LinearMargins(np.nan, np.nan, str(unsuited))
        with np.errstate(all="ignore"):
            if not rests(model):
                return LinearMargins(np.nan, np.nan, "no equilibrium within the limits of queue and rates")
            here = _phase_rad(model) if model.linear else _oscillation_phase_rad(model)
        phase, queue = min(phase, here), max(queue, float(model.state_at_rest()[0]))
    return LinearMargins(phase, queue)


def resting(periods: Sequence[Configuration], tuned: Sequence[Knob], points: Sequence[Point]) -> Flags:
    """Whether each point has an equilibrium within the limits of queue and rates in every period; shape (points,)."""
    found = np.ones(len(points), dtype=bool)
    for period in periods:
        models: list[FluidModel] = []
        places: list[int] = []
        for place, point in enumerate(points):
            try:
                models.append(model_of(moved(period, tuned, point)))
            except UnsuitedScenarioError:
                continue
            places.append(place)
        here = np.zeros(len(points), dtype=bool)
        if models:
            with np.errstate(all="ignore"):
                here[places] = rests(stack_models(models))
        found &= here
    return found


def rests(wide: FluidModel) -> Flags:
    """Whether models have an equilibrium within their limits, in any mode, and come to it; shape of the models."""
    modes = np.broadcast_arrays(*(is_at_rest(wide, mode) for mode in range(len(wide.modes))))
    found: Flags = np.any(modes, axis=0) & wide.comes_to_rest()
    return found


def _phase_rad(model: FluidModel) -> float:
    """The least phase margin of the modes that hold at the equilibrium, within a turn."""
    modes = [mode for mode in range(len(model.modes)) if bool(is_at_rest(model, mode))]
    return min(float(np.clip(margins(linearise(model, mode)).phase_rad, -np.pi, np.pi)) for mode in modes)


def _oscillation_phase_rad(model: FluidModel) -> float:
    """By how much the loop's delay falls short of that at which an oscillation of the target's size lasts."""
    target, buffer = float(model.set_point_octets()), float(model.buffer_octets)
    amplitude: Array = np.array([max(min(target, buffer - target), float(model.frame_octets))])
    delay, frequency = balance(model, amplitude)
    return float(np.clip((delay[0] - float(model.delays_s[0])) * frequency[0], -np.pi, np.pi))
