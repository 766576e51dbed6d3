"""Integration of fluid models without delay: SciPy's solver from event to event, and sliding where a model slides.

Between events nothing switches: one mode holds, and the same variables lie at their limits. Events are the zeros of the
switching functions, the limits, and the moment at which a variable leaves its limit again. The solver finds them on its
dense output, and starts again behind each; a right-hand side with kinks never reaches it.

At a switching line s = 0 the two modes beside it decide, by how fast s changes under each:

    ds/dt at s < 0    ds/dt at s > 0
    > 0               < 0               slides (Filippov): both modes in the shares that hold s at zero
    > 0               >= 0              crosses upwards
    <= 0              < 0               crosses downwards
    <= 0              >= 0              keeps to the side on which it is

Sliding ends when one share reaches zero; a speed of a millionth of the other counts as leading to the line, so that a
line of equilibria is one to slide on. Without this rule the solver would change modes for ever without getting on.
Where two lines meet, the rule is taken for the line that is reached, with the modes that the signs of the other
functions leave. A trajectory that slides along two lines at once would still switch without end. After twenty events
that follow one another within a 400th of the model's time scale, the mode is held for a 20th of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from penstock.theory.models.base import Array, FluidModel

_MOST_EVENTS = 20_000
"""More events than this are no trajectory any more but an error."""

_SLACK = 1e-6
"""A mode beside a line leads away from it if it does so faster than this part of the other's speed."""

_STILL = 1e-8
"""A model that moves by less than this part of its equilibrium in its own time scale does not move."""

_QUICK = 20
"""The most events that follow one another at once; then the mode is held for a while."""


@dataclass(frozen=True)
class Segment:
    """A piece of a trajectory in which nothing switches.

    Attributes:
        start_s: when it begins, s.
        stop_s: when it ends, s.
        mode: number of the mode; while sliding, of the mode on the negative side.
        sliding: number of the switching line along which it slides, or None.
        dense: the states of shape (n, times) at an array of times.
    """

    start_s: float
    stop_s: float
    mode: int
    sliding: int | None
    dense: Callable[[Array], Array]


@dataclass
class Trajectory:
    """The result of an integration: segments in the order of time.

    Attributes:
        segments: the pieces.
        time_s: the solver's own points, s.
        states: the states there, shape (n, times).
    """

    segments: list[Segment] = field(default_factory=list)
    time_s: Array = field(default_factory=lambda: np.empty(0))
    states: Array = field(default_factory=lambda: np.empty((0, 0)))

    def at(self, time_s: Array) -> Array:
        """Return the states at ``time_s``, shape (n, times); between an event and its jump, those after it."""
        starts = np.array([segment.start_s for segment in self.segments])
        which = np.clip(np.searchsorted(starts, time_s, side="right") - 1, 0, len(starts) - 1)
        out = np.empty((len(self.states), len(time_s)))
        for number in np.unique(which):
            rows = which == number
            out[:, rows] = self.segments[number].dense(np.asarray(time_s)[rows])
        return out


@dataclass(frozen=True)
class _Regime:
    """The state of affairs between two events."""

    signs: tuple[bool, ...]
    low: tuple[bool, ...]
    high: tuple[bool, ...]
    sliding: int | None = None


def integrate(
    model: FluidModel,
    state: Array,
    stop_s: float,
    *,
    start_s: float = 0.0,
    rtol: float = 1e-7,
    most_events: int = _MOST_EVENTS,
) -> Trajectory:
    """Integrate one configuration of ``model`` from ``state`` (shape (n,)) to ``stop_s``.

    Raises:
        ValueError: the model has a delay (:meth:`FluidModel.without_delay` takes it away).
        RuntimeError: more than ``most_events`` events, or the solver gives up.
    """
    if any(np.any(np.asarray(delay) > 0) for delay in model.delays_s):
        raise ValueError(
            f"{model.scheme} ({model.form}) has delays: integrate it with penstock.theory.delay_integrator"
        )
    run = _Run(model, rtol)
    return run.to(np.array(state, dtype=float), start_s, stop_s, most_events)


class _Run:
    """An integration of one model: its limits, its tolerances, and the rules at its lines."""

    def __init__(self, model: FluidModel, rtol: float) -> None:
        self.model = model
        self.rtol = rtol
        low, high = model.limits()
        self.low, self.high = low.reshape(len(low), -1)[:, 0], high.reshape(len(high), -1)[:, 0]
        rest = np.abs(model.state_at_rest())
        scale = rest.reshape(len(rest), -1)[:, 0]
        self.scale = np.where(scale > 0, scale, 1.0)
        self.scale[0] = max(self.scale[0], float(np.max(model.frame_octets)))
        # Where a trajectory stands on a limit or a line, it is this near.
        self.near = 1e-9

    def to(self, state: Array, now: float, stop: float, most_events: int) -> Trajectory:
        """Return the trajectory of a state at ``now`` until ``stop``, s."""
        pieces: list[Segment] = []
        times, states = [np.array([now])], [state[:, None]]
        regime = self._settle(state, self._signs(state, None), None)
        events = quick = 0
        hold = self.model.time_scale_s / 20
        while now < stop:
            held = quick > _QUICK
            solved = self._solve(state, now, min(now + hold, stop) if held else stop, regime, held)
            fired = [k for k, hits in enumerate(solved.t_events or []) if len(hits)]
            end = float(solved.t[-1])
            mode = self._mode(regime.signs)
            pieces.append(Segment(now, end, mode, regime.sliding, _dense(solved.sol, now)))
            times.append(solved.t[1:])
            states.append(solved.y[:, 1:])
            quick = quick + 1 if end - now < hold / 20 else 0
            state, now = solved.y[:, -1].copy(), end
            if held:
                values = self._switch(state) > 0
                signs = [regime.signs[k] if k == regime.sliding else bool(v) for k, v in enumerate(values)]
                state, regime = self._resume(np.clip(state, self.low, self.high), regime, signs)
                continue
            if not fired:
                break
            events += 1
            if events > most_events:
                raise RuntimeError(f"{events} events by {now:g} s: the modes change without end")
            state, regime = self._after(state, regime, fired[0], mode)
            states[-1][:, -1:] = state[:, None]
        return Trajectory(pieces, np.concatenate(times), np.concatenate(states, axis=1))

    def _solve(self, state: Array, now: float, stop: float, regime: _Regime, held: bool) -> Any:
        checks = [] if held else self._checks(regime)
        solved = solve_ivp(
            lambda _, y: self._slope(y, regime),
            (now, stop),
            state,
            method="RK45",
            dense_output=True,
            events=checks,
            rtol=self.rtol,
            atol=self.rtol * 1e-2 * self.scale,
            first_step=min(self.model.time_scale_s * 1e-3, stop - now),
            max_step=max(self.model.time_scale_s, (stop - now) / 1e5),
        )
        if solved.status < 0:
            raise RuntimeError(f"the solver gave up at {solved.t[-1]:g} s: {solved.message}")
        return solved

    # Right-hand side of a regime.

    def _mode(self, signs: Sequence[bool]) -> int:
        return int(self.model.mode_of(np.array(signs, dtype=bool)))

    def _slope(self, state: Array, regime: _Regime) -> Array:
        if regime.sliding is None:
            slope = self._law(state, regime.signs)
        else:
            below, above = self._sides(state, regime)
            share = self._share(state, regime.sliding, below, above)
            slope = share * above + (1 - share) * below
        return np.where(regime.low, np.maximum(slope, 0.0), np.where(regime.high, np.minimum(slope, 0.0), slope))

    def _law(self, state: Array, signs: Sequence[bool]) -> Array:
        return self.model.law(self._mode(signs), state, (state,) * len(self.model.delays_s))

    def _sides(self, state: Array, regime: _Regime) -> tuple[Array, Array]:
        line = regime.sliding
        signs = list(regime.signs)
        sides = []
        for sign in (False, True):
            signs[line or 0] = sign
            slope = self._law(state, signs)
            slope = np.where(regime.low, np.maximum(slope, 0.0), np.where(regime.high, np.minimum(slope, 0.0), slope))
            sides.append(slope)
        return sides[0], sides[1]

    def _share(self, state: Array, line: int, below: Array, above: Array) -> float:
        """Return the share of the positive side that holds the switching function at zero."""
        down, up = self._rate_of(state, line, above), self._rate_of(state, line, below)
        # Where neither side leads anywhere, only rounding would share them out.
        still = _STILL * float(np.abs(self._gradient(state, line)) @ self.scale) / self.model.time_scale_s
        return min(max(up / (up - down), 0.0), 1.0) if up - down > still else 0.0

    def _switch(self, state: Array) -> Array:
        return self.model.switches(state, (state,) * len(self.model.delays_s))

    def _rate_of(self, state: Array, line: int, slope: Array) -> float:
        """Return how fast a switching function changes along ``slope``: its gradient by central differences.

        Each variable has its own step: along ``slope`` itself a slow variable's change would drown in rounding.
        """
        moving = np.flatnonzero(slope)
        return float(self._gradient(state, line, moving) @ slope[moving])

    def _gradient(self, state: Array, line: int, which: NDArray[np.int_] | None = None) -> Array:
        found = []
        for i in range(len(state)) if which is None else which:
            step = np.zeros_like(state)
            step[i] = 1e-6 * self.scale[i]
            change = self._switch(state + step)[line] - self._switch(state - step)[line]
            found.append(change / (2 * step[i]))
        return np.array(found)

    # Events.

    def _checks(self, regime: _Regime) -> list[Any]:
        """Return the events of a regime; `_after` knows them by their order: lines, limits, releases, shares."""
        checks: list[Callable[[float, Array], float]] = []
        directions: list[float] = []
        for line, sign in enumerate(regime.signs):
            if line == regime.sliding:
                checks.append(_never)
            else:
                checks.append(partial(self._at_zero, line))
            directions.append(-1.0 if sign else 1.0)
        for i in range(len(self.low)):
            for held, bound, direction in ((regime.low, self.low, -1.0), (regime.high, self.high, 1.0)):
                # A held variable is free again when its own slope turns inwards.
                if held[i]:
                    checks.append(partial(self._own_slope, i, regime))
                    directions.append(-direction)
                else:
                    checks.append(partial(self._at_bound, i, bound[i]) if np.isfinite(bound[i]) else _never)
                    directions.append(direction)
        if regime.sliding is not None:
            line = regime.sliding
            checks += [partial(self._speed, regime, line, positive) for positive in (False, True)]
            directions += [-1.0, 1.0]
        for check, direction in zip(checks, directions, strict=True):
            check.terminal = True  # type: ignore[attr-defined]
            check.direction = direction  # type: ignore[attr-defined]
        return checks

    def _at_zero(self, line: int, _: float, state: Array) -> float:
        return float(self._switch(state)[line])

    def _at_bound(self, i: int, bound: float, _: float, state: Array) -> float:
        return float((state[i] - bound) / self.scale[i])

    def _own_slope(self, i: int, regime: _Regime, _: float, state: Array) -> float:
        return float(self._law(state, regime.signs)[i])

    def _speed(self, regime: _Regime, line: int, positive: bool, _: float, state: Array) -> float:
        """Return how fast a side leads to the line on which it slides, with the slack: at 0 sliding ends."""
        below, above = self._sides(state, regime)
        rise, fall = self._rate_of(state, line, below), self._rate_of(state, line, above)
        slack = _SLACK * (abs(rise) + abs(fall))
        return fall - slack if positive else rise + slack

    def _after(self, state: Array, regime: _Regime, event: int, mode: int) -> tuple[Array, _Regime]:
        """Return state and regime behind an event."""
        lines, n = len(regime.signs), len(self.low)
        signs = list(regime.signs)
        # The solver's polynomial knows a limit to its tolerance alone.
        state = np.where(regime.low, self.low, np.where(regime.high, self.high, np.clip(state, self.low, self.high)))
        if event < lines:
            return self._at_line(state, regime, event, mode)
        if event < lines + 2 * n:
            i, upper = divmod(event - lines, 2)
            if (regime.high if upper else regime.low)[i]:
                return self._resume(state, regime, signs, released=i)
            state[i] = (self.high if upper else self.low)[i]
            return self._resume(state, regime, signs)
        # One side of the line on which it slides no longer leads to it: that side is left for.
        line = regime.sliding or 0
        signs[line] = event == lines + 2 * n + 1
        return state, self._settle(state, signs, None)

    def _at_line(self, state: Array, regime: _Regime, line: int, mode: int) -> tuple[Array, _Regime]:
        signs = list(regime.signs)
        came_from = signs[line]
        signs[line] = not came_from
        after = self._mode(signs)
        jumped = self.model.entered(mode, after, state)
        trial = _Regime(tuple(signs), regime.low, regime.high, line)
        below, above = self._sides(jumped, trial)
        rise, fall = self._rate_of(jumped, line, below), self._rate_of(jumped, line, above)
        slack = _SLACK * (abs(rise) + abs(fall))
        if rise > -slack and fall < slack:
            # Both lead to the line: it slides, and modes are not entered one by one.
            return state, self._settle(state, signs, line)
        if not (fall < 0 if came_from else rise > 0):
            signs[line] = came_from
            return self._resume(state, regime, signs)
        return self._resume(jumped, regime, signs)

    def _resume(
        self, state: Array, regime: _Regime, signs: list[bool], released: int | None = None
    ) -> tuple[Array, _Regime]:
        """Return what follows an event that has another cause than the line on which it slides, if it does.

        It goes on sliding if both sides still lead to that line; otherwise it leaves for the side that does not.
        """
        line = regime.sliding
        if line is None:
            return state, self._settle(state, signs, None, released)
        trial = self._settle(state, signs, line, released)
        below, above = self._sides(state, trial)
        rise, fall = self._rate_of(state, line, below), self._rate_of(state, line, above)
        slack = _SLACK * (abs(rise) + abs(fall))
        if rise > -slack and fall < slack:
            return state, trial
        signs[line] = fall >= slack
        return state, self._settle(state, signs, None, released)

    def _signs(self, state: Array, known: Sequence[bool] | None) -> list[bool]:
        """Return on which side of each line a state lies; on a line itself, to which it is led."""
        values = self._switch(state)
        signs = [bool(value > 0) for value in values] if known is None else list(known)
        for line, value in enumerate(values):
            if value == 0 and known is None:
                signs[line] = self._rate_of(state, line, self._law(state, signs)) > 0
        return signs

    def _settle(self, state: Array, signs: Sequence[bool], sliding: int | None, released: int | None = None) -> _Regime:
        """Return the regime at a state: which variables lie at a limit that their slope leads out of.

        At the moment of its release a slope is zero to rounding, so that its sign says nothing: ``released`` is free.
        """
        slope = self._law(state, signs)
        at_low = state <= self.low + self.near * self.scale
        at_high = state >= self.high - self.near * self.scale
        low: NDArray[np.bool_] = at_low & (slope <= 0)
        high: NDArray[np.bool_] = at_high & (slope >= 0)
        if released is not None:
            low[released] = high[released] = False
        return _Regime(
            tuple(bool(s) for s in signs), tuple(bool(v) for v in low), tuple(bool(v) for v in high), sliding
        )


def _never(_time: float, _state: Array) -> float:
    return 1.0


def _dense(solution: Callable[[Array], Array], start: float) -> Callable[[Array], Array]:
    return lambda time_s: np.asarray(solution(np.maximum(time_s, start)))
