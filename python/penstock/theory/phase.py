"""Trajectories in the phase plane: two laws, the switching line, the slide along it, and a switch that comes late.

A trajectory is integrated with SciPy's ``solve_ivp``, piece by piece: each piece follows one law, and ends where the
state meets the switching line or an end of queue or rate. Where both laws lead to the line, it goes on along the line
as Filippov has it: with that mean of both laws which stays on it. (Jiang et al. 2015 cite Utkin's equivalent control,
[16]; for two laws, linear in the switch, both are the same.)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.integrate import solve_ivp

from penstock.theory import theorems
from penstock.theory.planar import Plane

if TYPE_CHECKING:
    from numpy.typing import NDArray

SLIDE = 2
"""The number of the slide, beside the laws 0 and 1."""

_MOST_PIECES = 4000
"""A trajectory that switches more often is cut off: it chatters."""

# The least number of points of a piece, its points for each step, and the tolerance of the integration.
_POINTS = 60
_POINTS_PER_STEP = 4
_RELATIVE = 1e-9
# A state that is this share of its size away from an end is at it.
_ON_LINE = 1e-9
# Beside the other law's, a speed of this share is none: on y = 0, state B of SMCC does not move.
_STILL = 1e-6


@dataclass(frozen=True)
class Trajectory:
    """A trajectory.

    Attributes:
        time_s: times, s, shape (n,).
        x_frames: q - q0, frames, shape (n,).
        y_fps: N r - C, frames/s, shape (n,).
        law: 0 or 1, the laws of the plane, or ``SLIDE``; shape (n,).
    """

    time_s: "NDArray[np.float64]"
    x_frames: "NDArray[np.float64]"
    y_fps: "NDArray[np.float64]"
    law: "NDArray[np.int64]"

    def pieces(self) -> "list[tuple[int, NDArray[np.float64], NDArray[np.float64]]]":
        """Return the stretches of one law each: the law, x in frames and y in frames/s."""
        ends = np.flatnonzero(np.diff(self.law)) + 1
        parts = zip(np.split(self.law, ends), np.split(self.x_frames, ends), np.split(self.y_fps, ends), strict=True)
        return [(int(law[0]), x, y) for law, x, y in parts]


def speeds(plane: Plane, x: float, y: float) -> tuple[float, float]:
    """Return how fast ``side`` grows under law 0 and under law 1, in the unit of ``side`` per s."""
    by_x, by_y = plane.gradient(x, y)
    rates = [by_x * motion[0] + by_y * motion[1] for motion in (plane.motion(0, x, y), plane.motion(1, x, y))]
    return rates[0], rates[1]


def is_sliding(plane: Plane, x: float, y: float) -> bool:
    """Whether a point of the switching line is in the sliding regime: theorem 1, and not both speeds 0."""
    above, below = _towards(plane, x, y)
    return all(theorems.slides(above, below)) and above < below


def _towards(plane: Plane, x: float, y: float) -> tuple[float, float]:
    """Return the speeds at x (frames) and y (frames/s), each with a little that counts as none."""
    above, below = speeds(plane, x, y)
    slack = _STILL * max(abs(above), abs(below))
    return above - slack, below + slack


def slide(plane: Plane, x: float, y: float) -> tuple[float, float]:
    """Return (x', y') of the slide at a point of the switching line, in frames/s and frames/s²."""
    above, below = speeds(plane, x, y)
    part = min(1.0, max(0.0, below / (below - above)))
    first, second = plane.motion(0, x, y), plane.motion(1, x, y)
    return part * first[0] + (1 - part) * second[0], part * first[1] + (1 - part) * second[1]


def field(plane: Plane, x: Any, y: Any) -> tuple[Any, Any]:
    """Return the direction field (x', y') at points given as arrays, in frames/s and frames/s²."""
    first, second = plane.motion(0, x, y), plane.motion(1, x, y)
    decreasing = plane.side(x, y) > 0
    return np.where(decreasing, first[0], second[0]), np.where(decreasing, first[1], second[1])


def follow(plane: Plane, x_frames: float, y_fps: float, duration_s: float, *, delay_s: float = 0.0) -> Trajectory:
    """Return the trajectory from a state.

    Args:
        plane: the model.
        x_frames: q - q0 at the start, frames.
        y_fps: N r - C at the start, frames/s.
        duration_s: how long to follow it, s.
        delay_s: how late a switch is, s (figure 4). With a delay there is no slide, but a chatter.
    """
    walk = _Walk(plane, x_frames, y_fps, delay_s)
    while walk.time_s < duration_s and len(walk.parts) < _MOST_PIECES:
        walk.go(duration_s)
    times, states, laws = zip(*walk.parts, strict=True)
    both = np.concatenate(states, axis=1)
    return Trajectory(np.concatenate(times), both[0], both[1], np.concatenate(laws))


def messages(plane: Plane, x_frames: float, y_fps: float, interval_s: float, count: int) -> Trajectory:
    """Return the path of a scheme that acts at samples alone, ``interval_s`` apart: first x moves, then y steps.

    From sample to sample y stays as it is and x grows by y times the interval, s. At a sample y changes at once by what
    its law gives over that interval, with the offset of then: equation (25) is of this kind.

    Args:
        plane: the model; its law 1 must not need x, or need it as it is at the sample.
        x_frames: q - q0 at the start, frames.
        y_fps: N r - C at the start, frames/s.
        interval_s: time between samples, s.
        count: how many samples.
    """
    x, y = x_frames, y_fps
    rows = [(0.0, x, y, int(plane.side(x, y) < 0))]
    for number in range(1, count + 1):
        x += y * interval_s
        law = int(plane.side(x, y) < 0)
        rows.append((number * interval_s, x, y, law))
        y += plane.motion(law, x, y)[1] * interval_s
        rows.append((number * interval_s, x, y, law))
    table = np.array(rows)
    return Trajectory(table[:, 0], table[:, 1], table[:, 2], table[:, 3].astype(np.int64))


class _Walk:
    """A trajectory as it grows, from x (frames) and y (frames/s) on."""

    def __init__(self, plane: Plane, x: float, y: float, delay_s: float) -> None:
        self.plane, self.delay_s = plane, delay_s
        self.time_s, self.state = 0.0, np.array([x, y], dtype=float)
        # A rate that must not fall or rise any more, and a queue that is empty or full.
        self.held = [False, False]
        self.late: list[tuple[float, int]] = []
        self.parts: list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]] = []
        side = plane.side(x, y)
        self.law = self._chosen() if side == 0 else int(side < 0)
        self.inside = self.law
        self._hold()

    def go(self, until_s: float) -> None:
        """Follow one law to the next event."""
        if self._at_rest():
            rest = np.tile(self.state[:, None], 2)
            self.parts.append((np.array([self.time_s, until_s]), rest, np.full(2, SLIDE)))
            self.time_s = until_s
            return
        stop_s = min([until_s, *(at for at, _ in self.late[:1])])
        watched = self._events()
        found = solve_ivp(
            self._motion,
            (self.time_s, stop_s),
            self.state,
            method="RK45",
            rtol=_RELATIVE,
            atol=np.maximum(np.abs(self.state), 1.0) * _RELATIVE,
            max_step=max((stop_s - self.time_s) / 8, 1e-15),
            events=[event for event, _ in watched],
            dense_output=True,
        )
        end = float(found.t[-1])
        times = np.linspace(self.time_s, end, max(_POINTS, _POINTS_PER_STEP * len(found.t)))
        # With dense_output there is a solution between the steps, which scipy-stubs cannot know.
        states = np.asarray(found.sol(times))  # type: ignore[misc]
        states[:, -1] = found.y[:, -1]
        self.parts.append((times, states, np.full(len(times), self.law)))
        self.time_s, self.state = end, np.array(found.y[:, -1])
        for hits, (_, act) in zip(found.t_events or [], watched, strict=True):
            if len(hits):
                act()
        if self.late and self.time_s >= self.late[0][0]:
            self.law = self.late.pop(0)[1]
            self._hold()

    def _at_rest(self) -> bool:
        """Whether the state slides nowhere, as on y = 0."""
        if self.law != SLIDE:
            return False
        moves = np.abs(slide(self.plane, *self.state)).max()
        return bool(moves <= _STILL * np.abs(self.plane.motion(0, *self.state)).max())

    def _motion(self, _: float, state: "NDArray[np.float64]") -> list[float]:
        x, y = state
        motion = slide(self.plane, x, y) if self.law == SLIDE else self.plane.motion(self.law, x, y)
        return [0.0 if held else rate for held, rate in zip(self.held, motion, strict=True)]

    def _events(self) -> "list[tuple[Callable[..., float], Callable[[], None]]]":
        """Return the events that end the piece, each with its action."""
        plane, ends = self.plane, self._ends()
        events: list[tuple[Callable[..., float], Callable[[], None]]] = []

        def watch(function: Callable[[float, float], float], direction: int, act: Callable[[], None]) -> None:
            def event(_: float, state: "NDArray[np.float64]") -> float:
                return function(*state)

            event.terminal = True  # type: ignore[attr-defined]
            event.direction = direction  # type: ignore[attr-defined]
            events.append((event, act))

        if self.law == SLIDE:
            watch(lambda x, y: -_towards(plane, x, y)[0], -1, lambda: self._leave(0))
            watch(lambda x, y: _towards(plane, x, y)[1], -1, lambda: self._leave(1))
        else:
            watch(plane.side, 1 if self.inside else -1, self._cross)
        for axis, (low, high) in enumerate(ends):
            if self.held[axis]:
                at_low = self.state[axis] <= low
                watch(self._raw(axis), 1 if at_low else -1, self._hold)
            else:
                watch(lambda x, y, axis=axis, low=low: (x, y)[axis] - low, -1, self._hold)  # type: ignore[misc]
                watch(lambda x, y, axis=axis, high=high: (x, y)[axis] - high, 1, self._hold)  # type: ignore[misc]
        return events

    def _raw(self, axis: int) -> Callable[[float, float], float]:
        """Return the rate at which a coordinate would change if it were not held."""
        if self.law == SLIDE:
            return lambda x, y: float(slide(self.plane, x, y)[axis])
        return lambda x, y: float(self.plane.motion(self.law, x, y)[axis])

    def _ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        limits = self.plane.limits
        return (limits.low_frames, limits.high_frames), (limits.slowest_fps, limits.fastest_fps)

    def _hold(self) -> None:
        """Hold each coordinate that is at an end and would go beyond; let go of the others."""
        ends = self._ends()
        # Where y is 0 but for rounding, the queue stays; so large is rounding.
        rounding = _ON_LINE * max(1.0, *(abs(end) for end in ends[1] if np.isfinite(end)), 0.0), 0.0
        for axis, (low, high) in enumerate(ends):
            size = _ON_LINE * max(1.0, *(abs(end) for end in (low, high) if np.isfinite(end)), 0.0)
            rate = self._raw(axis)(*self.state)
            at_low, at_high = self.state[axis] <= low + size, self.state[axis] >= high - size
            self.held[axis] = bool((at_low and rate < -rounding[axis]) or (at_high and rate > rounding[axis]))
            if self.held[axis]:
                self.state[axis] = low if at_low else high

    def _cross(self) -> None:
        """The state meets the switching line."""
        if self.delay_s:
            self.inside = 1 - self.inside
            self.late.append((self.time_s + self.delay_s, self.inside))
            return
        self.law = SLIDE if is_sliding(self.plane, *self.state) else 1 - self.inside
        if self.law != SLIDE:
            self.inside = self.law
        self._hold()

    def _leave(self, law: int) -> None:
        """The slide ends: one of the laws leads away."""
        self.law = self.inside = law
        self._hold()

    def _chosen(self) -> int:
        """The law of a state on the line: the slide, or the law that leads away from it."""
        if is_sliding(self.plane, *self.state):
            return SLIDE
        above, _ = speeds(self.plane, *self.state)
        return 0 if above > 0 else 1
