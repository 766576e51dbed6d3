"""The fluid model through a scenario's own course: many points side by side, through all of its periods.

The model with delay begins a little beside its equilibrium when the measured time begins, and is integrated while flows
and links change as the scenario has them. Heun's method with a common step; values of a delay ago are looked up at
whole steps. It ranks points, and no more: a fluid has no noise of single messages, and all of its flows have one rate.

A fluid at its equilibrium does not deviate at all, and of two points that settle the one with the long queue would seem
as steady as the other. So the deviation has a part for single frames: independent arrivals and departures that keep n
frames in a queue on average let their number vary by √n (Poisson's distribution).

The step is no longer than the fastest of the models allows, however long the run is. With a longer one the method
itself oscillates where the fluid settles, and a quick and steady point is taken for a bad one. DCQCN's fast timers at
10 Gb/s ask for less than 27 µs. Where that makes too many steps, periods are cut: each is integrated for a share of its
length, and the second half of this share stands for all that follows it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.theory.linear_stability import Array
from penstock.theory.linearisation import is_at_rest, linearise
from penstock.theory.models.base import FluidModel
from penstock.tuning.measures import Observed

_STEPS = 3000
_MOST_STEPS = 4000
_STEPS_PER_DELAY = 8
_SAFE = 1.4
"""A step times the fastest rate at most: beyond 2 the method oscillates by itself."""
_BESIDE = 0.05
"""How far rates begin above those at equilibrium, as a share of them: an unstable point shows."""


@dataclass(frozen=True)
class PeriodModels:
    """Models of all points in a period of the scenario, and when it ends, s."""

    wide: FluidModel
    stop_s: float


def predict(
    models_of_periods: Sequence[PeriodModels],
    start_s: float,
    progress: Callable[[float], object] | None = None,
    step_s: float = np.inf,
) -> list[Observed]:
    """Integrate all points from ``start_s`` to the end of the last course; return each in the numbers of a run.

    Steps are of ``step_s`` at most, s, and of less if the fastest model needs it. Flows of a fluid share alike: its
    Jain's index is 1. It does not know losses before ``start_s``.
    """
    with np.errstate(all="ignore"):
        return _predict(
            models_of_periods, start_s, progress or (lambda _: None), min(step_s, step_for(models_of_periods, start_s))
        )


def _predict(
    models_of_periods: Sequence[PeriodModels], start_s: float, progress: Callable[[float], object], step_s: float
) -> list[Observed]:
    first = models_of_periods[0].wide
    state = _beside_rest(first)
    width = state.shape[1]
    delays = [np.broadcast_to(np.asarray(delay, dtype=float), (width,)) for delay in first.delays_s]
    backs = [np.round(delay / step_s).astype(int) for delay in delays]
    past = np.repeat(state[None], max(int(back.max()) for back in backs) + 2, axis=0)
    columns = np.arange(width)
    places, weights = _steps(models_of_periods, start_s, step_s)
    queues = np.empty((len(places), width), dtype=np.float32)
    used, lost, offered = np.zeros(width), np.zeros(width), np.zeros(width)
    bounds = [_limits(course.wide, state) for course in models_of_periods]
    for k, place in enumerate(places):
        model = models_of_periods[place].wide
        low, high = bounds[place]
        now = [past[(k - back) % len(past), :, columns].T for back in backs]
        slope = _slope(model, state, now)
        guess = np.clip(state + step_s * slope, low, high)
        past[(k + 1) % len(past)] = guess
        later = [past[(k + 1 - back) % len(past), :, columns].T for back in backs]
        state = np.clip(state + step_s / 2 * (slope + _slope(model, guess, later)), low, high)
        past[(k + 1) % len(past)] = state
        queues[k] = state[0]
        lasts_s = step_s * weights[k]
        excess = model.excess_octets_per_s(state) * lasts_s
        capacity = model.capacity_bps * model.octets_per_bit * lasts_s
        lost += np.where(state[0] >= model.buffer_octets, np.maximum(excess, 0.0), 0.0)
        used += capacity - np.where(state[0] <= 0, np.maximum(-excess, 0.0), 0.0)
        offered += capacity
        if k % 256 == 0:
            progress(k / len(places))
    mean = np.average(queues, axis=0, weights=weights)
    rows = {
        "queue_mean_octets": mean,
        "queue_std_octets": np.sqrt(
            np.average((queues - mean) ** 2, axis=0, weights=weights) + first.frame_octets * mean
        ),
        "queue_p99_octets": _percentile_99(queues, weights),
        "utilization": used / offered,
        "frames_dropped": lost / first.frame_octets,
        "frames_dropped_measured": lost / first.frame_octets,
        "jain_index": np.ones(width),
        "queue_max_octets": queues.max(axis=0),
        "paused_s": np.zeros(width),
    }
    return [{key: float(row[column]) for key, row in rows.items()} for column in range(width)]


def step_for(models_of_periods: Sequence[PeriodModels], start_s: float) -> float:
    """Return the step that all models can be integrated with, s.

    It is a three-thousandth of the run, but not less than an eighth of the least delay. It is less than Heun's
    method takes without oscillating itself, which is 2 over the fastest rate at which a model answers at once.
    """
    length_s = models_of_periods[-1].stop_s - start_s
    delay_s = min(float(np.min(course.wide.delays_s[0])) for course in models_of_periods)
    fastest = max(_fastest_per_s(course.wide) for course in models_of_periods)
    return min(max(length_s / _STEPS, delay_s / _STEPS_PER_DELAY), _SAFE / fastest if fastest > 0 else np.inf)


def _fastest_per_s(wide: FluidModel) -> float:
    """The largest eigenvalue at equilibrium of what answers without delay, 1/s; 0 without a linearisation."""
    if not wide.linear:
        return 0.0
    found = 0.0
    with np.errstate(all="ignore"):
        for mode in range(len(wide.modes)):
            instant = linearise(wide, mode).instant
            here = np.broadcast_to(is_at_rest(wide, mode), instant.shape[:-2]) & np.isfinite(instant).all(axis=(-1, -2))
            if here.any():
                found = max(found, float(np.abs(np.linalg.eigvals(instant[here])).max()))
    return found


def _steps(models_of_periods: Sequence[PeriodModels], start_s: float, step_s: float) -> tuple[list[int], Array]:
    """The course of each step, and for how many steps of the run it stands."""
    starts = [start_s, *(course.stop_s for course in models_of_periods[:-1])]
    lengths = [
        max(course.stop_s - start, 0.0) / step_s for start, course in zip(starts, models_of_periods, strict=True)
    ]
    share = min(1.0, _MOST_STEPS / sum(lengths))
    places: list[int] = []
    weights: list[float] = []
    for place, length in enumerate(lengths):
        count = math.ceil(share * length)
        half = count // 2
        places += [place] * count
        weights += [1.0] * half + [(length - half) / (count - half)] * (count - half)
    return places, np.array(weights)


def _percentile_99(queues: NDArray[np.float32], weights: Array) -> Array:
    """The length that a queue exceeds for a hundredth of the time, shape (points,)."""
    order = np.argsort(queues, axis=0)
    passed = np.cumsum(weights[order], axis=0) >= 0.99 * weights.sum()
    place = np.argmax(passed, axis=0)
    columns = np.arange(queues.shape[1])
    return np.asarray(queues[order[place, columns], columns], dtype=float)


def _beside_rest(wide: FluidModel) -> Array:
    """The equilibrium within the limits, with rates a little above; where there is none, a full queue."""
    rest = np.asarray(wide.state_at_rest(), dtype=float)
    low, high = _limits(wide, rest)
    state = np.clip(np.where(np.isfinite(rest), rest, high), low, high)
    state[1] = np.clip(state[1] * (1 + _BESIDE), low[1], high[1])
    return state


def _limits(model: FluidModel, state: Array) -> tuple[Array, Array]:
    low, high = model.limits()
    return np.broadcast_to(low.reshape(len(low), -1), state.shape), np.broadcast_to(
        high.reshape(len(high), -1), state.shape
    )


def _slope(model: FluidModel, state: Array, past: Sequence[Array]) -> Array:
    """The right-hand side in the mode that holds; limits are the caller's."""
    modes = model.modes_at(state, past)
    slope = model.law(0, state, past)
    for mode in range(1, len(model.modes)):
        here = modes == mode
        if here.any():
            slope = np.where(here, model.law(mode, state, past), slope)
    return slope
