"""What the fluid model says of a scenario's own course: many points side by side, through all of its periods.

The model with delay begins at rest, a little beside it, when the measured time begins, and is integrated while flows
and links change as the scenario has them. Heun's method with a common step; what was a delay ago is looked up at whole
steps. It ranks points, and no more: a fluid has no noise of single messages, and all of its flows have one rate.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from penstock.theory.linear import Array
from penstock.theory.models.base import FluidModel
from penstock.tune.goals import Observed

_STEPS_PER_DELAY = 8
_MOST_STEPS = 3000
_BESIDE = 0.05
"""Rates begin by so much above those at rest: what is unstable shows."""


@dataclass(frozen=True)
class Course:
    """Models of all points in a period of the scenario, and when it ends, s."""

    wide: FluidModel
    stop_s: float


def forecast(
    courses: Sequence[Course], start_s: float, progress: Callable[[float], None] | None = None
) -> list[Observed]:
    """Integrate all points from ``start_s`` to the end of the last course; return each in the numbers of a run.

    Flows of a fluid share alike: its Jain's index is 1.
    """
    with np.errstate(all="ignore"):
        return _forecast(courses, start_s, progress or (lambda _: None))


def _forecast(courses: Sequence[Course], start_s: float, progress: Callable[[float], None]) -> list[Observed]:
    first = courses[0].wide
    state = _beside_rest(first)
    width = state.shape[1]
    delays = [np.broadcast_to(np.asarray(delay, dtype=float), (width,)) for delay in first.delays_s]
    length_s = courses[-1].stop_s - start_s
    step_s = max(length_s / _MOST_STEPS, float(np.min(delays[0])) / _STEPS_PER_DELAY)
    backs = [np.round(delay / step_s).astype(int) for delay in delays]
    past = np.repeat(state[None], max(int(back.max()) for back in backs) + 2, axis=0)
    columns = np.arange(width)
    count = max(1, int(length_s / step_s))
    queues = np.empty((count, width), dtype=np.float32)
    used, lost, offered = np.zeros(width), np.zeros(width), np.zeros(width)
    bounds = [_limits(course.wide, state) for course in courses]
    place = 0
    for k in range(count):
        while place < len(courses) - 1 and start_s + k * step_s >= courses[place].stop_s:
            place += 1
        model = courses[place].wide
        low, high = bounds[place]
        now = [past[(k - back) % len(past), :, columns].T for back in backs]
        slope = _slope(model, state, now)
        guess = np.clip(state + step_s * slope, low, high)
        past[(k + 1) % len(past)] = guess
        later = [past[(k + 1 - back) % len(past), :, columns].T for back in backs]
        state = np.clip(state + step_s / 2 * (slope + _slope(model, guess, later)), low, high)
        past[(k + 1) % len(past)] = state
        queues[k] = state[0]
        excess = model.excess_octets_per_s(state) * step_s
        capacity = model.capacity_bps * model.octets_per_bit * step_s
        lost += np.where(state[0] >= model.buffer_octets, np.maximum(excess, 0.0), 0.0)
        used += capacity - np.where(state[0] <= 0, np.maximum(-excess, 0.0), 0.0)
        offered += capacity
        if k % 256 == 0:
            progress(k / count)
    rows = {
        "queue_mean_octets": queues.mean(axis=0),
        "queue_std_octets": queues.std(axis=0),
        "queue_p99_octets": np.percentile(queues, 99, axis=0),
        "utilization": used / offered,
        "frames_dropped": lost / first.frame_octets,
        "jain_index": np.ones(width),
    }
    return [{key: float(row[column]) for key, row in rows.items()} for column in range(width)]


def _beside_rest(wide: FluidModel) -> Array:
    """The state at rest within the limits, with rates a little above; where there is none, a full queue."""
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
        slope = np.where(modes == mode, model.law(mode, state, past), slope)
    return slope
