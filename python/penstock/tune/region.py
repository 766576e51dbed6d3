"""Where the theory says that it is worth simulating.

Points are spread evenly between the bounds. Of each the fluid model with delay is linearised where it rests, in every
period of the scenario, and its phase margin taken, the least of all modes and periods; for SMCC, which has no
linearisation, the phase that is left until a swing as large as its target keeps itself going (harmonic balance).

Kept are points that rest within the limits of queue and rates with a phase margin of at least :data:`AMPLE_RAD`. Where
too few have that, the tenth of all points with the largest margins is kept; where none rests, all are. For latency the
half of the kept points whose queue rests lowest counts. The search goes on between the least and the largest value
that a kept point has, and simulates nothing that the criterion leaves out.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from penstock.theory.configuration import Configuration, Unsuited
from penstock.theory.cycle import balance
from penstock.theory.linear import Array, margins
from penstock.theory.linearisation import is_at_rest, linearise
from penstock.theory.margin import stack_models
from penstock.theory.models import model_of
from penstock.theory.models.base import FluidModel
from penstock.theory.rest import rest
from penstock.tune.goals import Goal
from penstock.tune.space import Knob, Point, moved

Progress = Callable[[float], None]

AMPLE_RAD = math.radians(20)
"""A phase margin that is enough. With less, queues of simulated QCN swung twice as far, see the how-to; more did not
help."""

_FEW = 0.1
"""Below this share of the points, what is kept is the best of them by margin."""

_POINTS = 256
_POINTS_SMCC = 128
_BATCH = 32


@dataclass(frozen=True)
class Outlook:
    """What theory says of points; arrays of shape (points,).

    Attributes:
        phase_rad: phase margin; NaN where nothing rests within the limits of queue and rates.
        rest_octets: length of the queue at rest, the longest of all periods.
    """

    phase_rad: Array
    rest_octets: Array


@dataclass(frozen=True)
class Region:
    """Where to search.

    Attributes:
        knobs: what is tuned, between the bounds of what theory keeps.
        points: how many points theory looked at.
        kept: how many of them it keeps.
        least_phase_rad: phase margin that a point needs; -inf if none is asked for.
        longest_rest_octets: queue at rest that a point may have; infinite if any.
        starts: kept points to begin with, spread evenly.
    """

    knobs: tuple[Knob, ...]
    points: int
    kept: int
    least_phase_rad: float
    longest_rest_octets: float
    starts: tuple[Point, ...]

    def holds(self, periods: Sequence[Configuration], point: Point) -> bool:
        """Whether theory keeps a point."""
        if self.least_phase_rad == -math.inf:
            return True
        seen = outlook(periods, self.knobs, [point])
        return bool(seen.phase_rad[0] >= self.least_phase_rad and seen.rest_octets[0] <= self.longest_rest_octets)


def narrow(
    periods: Sequence[Configuration],
    tuned: Sequence[Knob],
    goal: Goal,
    *,
    seed: int,
    starts: int,
    progress: Progress | None = None,
) -> Region:
    """Return the part of the space between the knobs' bounds that theory keeps."""
    count = _POINTS_SMCC if periods[0].scheme == "smcc" else _POINTS
    points = _spread(tuned, count, seed)
    seen = _in_batches(periods, tuned, points, progress)
    known = np.isfinite(seen.phase_rad)
    if not known.any():
        return Region(tuple(tuned), count, count, -math.inf, math.inf, tuple(points[:starts]))
    ample = known & (seen.phase_rad >= AMPLE_RAD)
    least = AMPLE_RAD
    if ample.sum() < _FEW * count:
        ranked = np.sort(seen.phase_rad[known])[::-1]
        least = float(ranked[min(len(ranked), math.ceil(_FEW * count)) - 1])
        ample = known & (seen.phase_rad >= least)
    longest = math.inf
    if goal.name == "latency":
        longest = float(np.median(seen.rest_octets[ample]))
    kept = [point for point, fits in zip(points, ample & (seen.rest_octets <= longest), strict=True) if fits]
    within = tuple(
        replace(knob, low=min(point[knob.name] for point in kept), high=max(point[knob.name] for point in kept))
        for knob in tuned
    )
    return Region(within, count, len(kept), least, longest, tuple(kept[:starts]))


def outlook(periods: Sequence[Configuration], tuned: Sequence[Knob], points: Sequence[Point]) -> Outlook:
    """Return what theory says of points, over all periods."""
    phase, longest = np.full(len(points), np.inf), np.zeros(len(points))
    for period in periods:
        models: list[FluidModel] = []
        places: list[int] = []
        for place, point in enumerate(points):
            given = moved(period, tuned, point)
            try:
                model = model_of(given)
            except Unsuited:
                continue
            if given.scheme != "smcc" or rest(given).place == "target":
                models.append(model)
                places.append(place)
        here, queue = np.full(len(points), np.nan), np.full(len(points), np.nan)
        if models:
            wide = stack_models(models)
            with np.errstate(all="ignore"):
                here[places] = _swing_phase_rad(wide) if wide.scheme == "smcc" else _phase_rad(wide)
                queue[places] = wide.state_at_rest()[0]
        # NaN stays NaN: what has no rest in one period has none.
        phase, longest = np.minimum(phase, here), np.maximum(longest, queue)
    return Outlook(phase, longest)


def _phase_rad(wide: FluidModel) -> Array:
    """The least phase margin of the modes that are at rest, within a turn; NaN where none is."""
    least = np.full(np.shape(wide.state_at_rest()[0]), np.nan)
    for mode in range(len(wide.modes)):
        phase = np.clip(margins(linearise(wide, mode)).phase_rad, -np.pi, np.pi)
        least = np.where(is_at_rest(wide, mode), np.fmin(least, phase), least)
    return least


def _swing_phase_rad(wide: FluidModel) -> Array:
    """Of SMCC: by how much the loop's delay falls short of that at which a swing of the target's size lasts."""
    room = np.minimum(wide.set_point_octets(), wide.buffer_octets - wide.set_point_octets())
    delay, frequency = balance(wide, np.maximum(room, wide.frame_octets))
    return np.clip((delay - wide.delays_s[0]) * frequency, -np.pi, np.pi)


def _spread(tuned: Sequence[Knob], count: int, seed: int) -> list[dict[str, float]]:
    """Points that fill the space evenly (Sobol's sequence, scrambled by the seed)."""
    from scipy.stats import qmc

    places = qmc.Sobol(len(tuned), rng=seed).random(count)
    points = []
    for row in places:
        point = {}
        for knob, place in zip(tuned, row.tolist(), strict=True):
            value = (
                knob.low * (knob.high / knob.low) ** place if knob.log else knob.low + place * (knob.high - knob.low)
            )
            point[knob.name] = knob.snapped(value)
        points.append(point)
    return points


def _in_batches(
    periods: Sequence[Configuration],
    tuned: Sequence[Knob],
    points: Sequence[Point],
    progress: Progress | None,
) -> Outlook:
    parts = []
    for first in range(0, len(points), _BATCH):
        parts.append(outlook(periods, tuned, points[first : first + _BATCH]))
        if progress is not None:
            progress(min(1.0, (first + _BATCH) / len(points)))
    return Outlook(
        np.concatenate([part.phase_rad for part in parts]), np.concatenate([part.rest_octets for part in parts])
    )
