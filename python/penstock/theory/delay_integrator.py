"""Integration of fluid models with delay: the method of steps, of fourth order.

The classical Runge-Kutta method takes steps of fixed length, and a cubic Hermite polynomial between them gives the
past, which is as exact as the method. Points that would lower the order are kept out of the steps. These end where
a mode changes or a variable meets a limit, and where the discontinuity that this makes comes back through the
delays, four times over. A step may be longer than a delay; the past that lies inside the step itself comes from the
polynomial before it, and the step is then taken a second time with its own.

Of libraries, jitcdde 1.8 (BSD, kept) compiles C at run time and stops at no switching line; ddeint 0.3 interpolates
linearly; diffrax has no delays. All of them would need the switching on top.

A mode lasts for at least ``least_mode_s``, by default a thousandth of a step: without that, a model that slides and
has too little delay to leave the line would change modes for ever. Where modes would follow one another faster, the one
at the step's end holds.
"""

import heapq
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement
from typing import cast

import numpy as np

from penstock.theory.models.base import Array, Flags, FluidModel

_ORDER = 4
"""Of the method, and so how often a discontinuity must be stepped on."""

Right = Callable[[float, Array, Sequence[Array]], Array]
"""A right-hand side: of the time (s), the state, and the states at each delay."""


class History:
    """Steps and slopes, with a cubic between them."""

    def __init__(self, start_s: float, before: Callable[[float], Array], state: Array) -> None:
        """Begin at ``start_s`` with ``state``; ``before`` is the state at earlier times."""
        self._before = before
        self.time_s = [start_s]
        self.states = [state]
        # Slopes at both ends of each step: at an event the next step begins with another slope.
        self.slopes: list[tuple[Array, Array]] = []

    def add(self, time_s: float, state: Array, slope_left: Array, slope_right: Array) -> None:
        """Add a step that ends at ``time_s``, s, with the slopes at its beginning and its end."""
        self.time_s.append(time_s)
        self.states.append(state)
        self.slopes.append((slope_left, slope_right))

    def at(self, time_s: float) -> Array:
        """Return the state at a time, s; beyond the last step the last cubic goes on."""
        if time_s <= self.time_s[0]:
            return self._before(time_s) if time_s < self.time_s[0] else self.states[0]
        if not self.slopes:
            return self.states[0]
        k = min(bisect_right(self.time_s, time_s) - 1, len(self.slopes) - 1)
        return _hermite(time_s, self.time_s[k], self.time_s[k + 1], self.states[k], self.states[k + 1], *self.slopes[k])


@dataclass(frozen=True)
class DelayedTrajectory:
    """The result of an integration with delay.

    Attributes:
        time_s: ends of the steps, s.
        states: the states there, shape (n, times).
        modes: the mode of each step, one less than times.
        history: the states at any time.
    """

    time_s: Array
    states: Array
    modes: Array
    history: History

    def at(self, time_s: Array) -> Array:
        """Return the states at ``time_s``, s, shape (n, times)."""
        return np.stack([self.history.at(float(t)) for t in time_s], axis=1)


def _hermite(t: float, t0: float, t1: float, y0: Array, y1: Array, d0: Array, d1: Array) -> Array:
    """Return the state at ``t`` by the cubic with states and slopes at ``t0`` and ``t1``; times in s."""
    h = t1 - t0
    s = (t - t0) / h
    # The form in which what is small stays small.
    return y0 + s * h * d0 + s * s * (3 * (y1 - y0) - h * (2 * d0 + d1)) + s**3 * (2 * (y0 - y1) + h * (d0 + d1))


def _rk4(
    right: Right, history: History, delays: Sequence[float], t: float, y: Array, h: float, k1: Array | None = None
) -> tuple[Array, Array, Array, list[Array]]:
    """Take a step of ``h`` s from ``t`` s on that begins with the slope ``k1``, if that is known.

    Returns:
        The state at its end, the slopes at its beginning and its end, and the past as seen from there.
    """

    def past(at: float) -> list[Array]:
        return [history.at(at - delay) for delay in delays]

    middle, end = past(t + h / 2), past(t + h)
    if k1 is None:
        k1 = right(t, y, past(t))
    k2 = right(t + h / 2, y + h / 2 * k1, middle)
    k3 = right(t + h / 2, y + h / 2 * k2, middle)
    k4 = right(t + h, y + h * k3, end)
    after = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    if any(delay < h for delay in delays):
        # Once more, with this step's own cubic where the past lies inside it.
        first = k1, right(t + h, after, end)

        def own(at: float) -> list[Array]:
            return [_hermite(at - d, t, t + h, y, after, *first) if at - d > t else history.at(at - d) for d in delays]

        middle, end = own(t + h / 2), own(t + h)
        k2 = right(t + h / 2, y + h / 2 * k1, middle)
        k3 = right(t + h / 2, y + h / 2 * k2, middle)
        k4 = right(t + h, y + h * k3, end)
        after = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return after, k1, right(t + h, after, end), end


def solve(
    right: Right, delays_s: Sequence[float], state: Array, start_s: float, stop_s: float, step_s: float
) -> History:
    """Integrate ``right`` without modes or limits, with fourth order in ``step_s``; the past is ``state``."""
    history = History(start_s, lambda _: state, state)
    due = _Breakpoints(delays_s, stop_s)
    due.follow(start_s)
    now, y = start_s, state
    slope = None
    while now < stop_s:
        h = due.step(now, step_s)
        y, left, slope, _ = _rk4(right, history, delays_s, now, y, h, slope)
        now += h
        history.add(now, y, left, slope)
    return history


class _Breakpoints:
    """Times at which a step must end: those to which a discontinuity comes back through the delays."""

    def __init__(self, delays_s: Sequence[float], stop_s: float) -> None:
        self._stop_s = stop_s
        delays = sorted({d for d in delays_s if d > 0})
        sums = {sum(some) for k in range(1, _ORDER + 1) for some in combinations_with_replacement(delays, k)}
        self._sums = sorted(sums)
        self._due: list[float] = []

    def follow(self, time_s: float) -> None:
        """Add the times at which a discontinuity at ``time_s`` comes back."""
        for later in self._sums:
            heapq.heappush(self._due, time_s + later)

    def step(self, now_s: float, most_s: float) -> float:
        """Return the length of the step that begins at ``now_s``, s: ``most_s`` or less."""
        tiny = 1e-6 * most_s
        while self._due and self._due[0] <= now_s + tiny:
            heapq.heappop(self._due)
        end = min(self._stop_s, self._due[0] if self._due else np.inf)
        if end - now_s <= most_s * (1 + 1e-9):
            return end - now_s
        # Two halves rather than a whole step and a sliver.
        return most_s if end - now_s > 2 * most_s else (end - now_s) / 2


def integrate(
    model: FluidModel,
    state: Array,
    stop_s: float,
    *,
    start_s: float = 0.0,
    step_s: float | None = None,
    before: Callable[[float], Array] | None = None,
    least_mode_s: float | None = None,
    event_share: float = 1e-10,
) -> DelayedTrajectory:
    """Integrate one configuration of ``model`` from ``state`` (shape (n,)) to ``stop_s``.

    Args:
        model: the model; its delays are numbers.
        state: the state at ``start_s``.
        stop_s: when to end, s.
        start_s: when to begin, s.
        step_s: length of a step, s; by default a tenth of the model's time scale.
        before: the state before ``start_s``; by default it was ``state``.
        least_mode_s: how long a mode lasts at least, s.
        event_share: how exactly events are found, as a share of a step; the order of convergence needs the default.
    """
    delays = [float(np.max(delay)) for delay in model.delays_s]
    step = step_s or model.time_scale_s / 10
    if step / 2 < min(delays) < step:
        # A step that is shorter than all delays needs no separate past, and is taken once and not twice.
        step = min(delays) * (1 - 1e-6)
    least = least_mode_s or step / 1000
    history = History(start_s, before or (lambda _: state), np.array(state, dtype=float))
    due = _Breakpoints(delays, stop_s)
    due.follow(start_s)
    low, high = (side.reshape(len(side), -1)[:, 0] for side in model.limits())
    now, y = start_s, np.array(state, dtype=float)
    signs = model.switches(y, [history.at(now - delay) for delay in delays]) > 0
    modes: list[int] = []
    piece: _Piece | None = None
    while now < stop_s:
        if piece is None:
            piece, slope = _Piece.at(model, signs, y, [history.at(now - delay) for delay in delays], low, high)
        h = due.step(now, step)
        after, left, right, past = _rk4(piece.slope, history, delays, now, y, h, slope)
        broken = not piece.holds(after, past)
        if broken:
            inside = partial(_inside, history, delays, (now, now + h, y, after, left, right))
            most = _first(partial(_broken, piece, inside, now), h, event_share)
            signs = model.switches(*inside(now + most)) > 0
            h = max(most, min(h, least))
            after, left, right, _ = _rk4(piece.slope, history, delays, now, y, h, slope)
        now += h
        history.add(now, after, left, right)
        modes.append(piece.mode)
        y = np.clip(after, low, high)
        if broken:
            due.follow(now)
            followed = int(model.mode_of(signs))
            if followed != piece.mode:
                y = np.clip(model.entered(piece.mode, followed, y), low, high)
        history.states[-1] = y
        # Where nothing has changed, the next step begins with the slope that this one has ended with.
        piece, slope = (None if broken or (y != after).any() else piece), right
    return DelayedTrajectory(np.array(history.time_s), np.stack(history.states, axis=1), np.array(modes), history)


@dataclass(frozen=True)
class _Piece:
    """The state of affairs until the next event: a mode, and the variables at their limits."""

    model: FluidModel
    mode: int
    signs: Flags
    at_low: Flags
    at_high: Flags
    low: Array
    high: Array

    @classmethod
    def at(
        cls, model: FluidModel, signs: Flags, y: Array, past: Sequence[Array], low: Array, high: Array
    ) -> "tuple[_Piece, Array]":
        """Return the piece that begins at a state, and the slope there."""
        mode = int(model.mode_of(signs))
        slope = model.law(mode, y, past)
        # An event leaves a variable within rounding of its limit.
        near = 1e-12 * np.where(np.isfinite(high), np.abs(high), 0.0)
        at_low, at_high = (y <= low + near) & (slope <= 0), (y >= high - near) & (slope >= 0)
        return cls(model, mode, signs, at_low, at_high, low, high), np.where(at_low | at_high, 0.0, slope)

    def slope(self, _: float, y: Array, past: Sequence[Array]) -> Array:
        """Return the right-hand side at a time, s, and a state, units per second: 0 for variables at a limit."""
        slope = self.model.law(self.mode, y, past)
        return cast(Array, np.where(self.at_low | self.at_high, 0.0, slope))

    def holds(self, y: Array, past: Sequence[Array]) -> bool:
        """Return whether no event has come until a state: the mode is the same, and so are the variables at limits."""
        if bool(np.any((self.model.switches(y, past) > 0) != self.signs)):
            return False
        held = self.at_low | self.at_high
        if bool(np.any(~held & ((y < self.low) | (y > self.high)))):
            return False
        if not held.any():
            return True
        slope = self.model.law(self.mode, y, past)
        return not bool(np.any((self.at_low & (slope > 0)) | (self.at_high & (slope < 0))))


def _inside(
    history: History, delays: Sequence[float], step: tuple[float, float, Array, Array, Array, Array], t: float
) -> tuple[Array, list[Array]]:
    """Return state and past at a time within a step, s, which is not in the history yet."""
    past = [_hermite(t - d, *step) if t - d > step[0] else history.at(t - d) for d in delays]
    return _hermite(t, *step), past


def _broken(piece: _Piece, inside: Callable[[float], tuple[Array, list[Array]]], now: float, theta: float) -> bool:
    return not piece.holds(*inside(now + theta))


def _first(broken: Callable[[float], bool], h: float, share: float) -> float:
    """Return the first time, s, at which ``broken`` is true, of those that bisection of (0, h] s finds."""
    good, bad = 0.0, h
    while bad - good > share * h:
        middle = (good + bad) / 2
        good, bad = (good, middle) if broken(middle) else (middle, bad)
    return bad
