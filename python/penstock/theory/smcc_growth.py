"""Whether SMCC's oscillations grow or die, over the delay: the growth of its homogeneous law, integrated.

Large oscillations, to which a frame is nothing, and oscillations within a frame follow laws that are homogeneous: twice
the state moves twice as fast. With x the offset of the queue, y its growth, v = (x(t) - x(t - h))/h what samples an
interval h apart have of it, and all of it seen a delay tau later,

    x' = y,    y' = -a1 x                          in state A: x and v have the same sign
               y' = -b2 v - share a1 x             in state B: they have not

where the share is 0 for large oscillations. Within a frame nearly all samples see no growth: that part of them which
counts as state A answers the offset in both states. Such a law has no characteristic size, but a rate of growth, its
largest Lyapunov exponent. It is measured: both are integrated from several beginnings for many turns, and scaled back
now and then. Below 0 oscillations die. The rate need not rise with delay: there are windows, delays at which
oscillations die although shorter ones let them grow. All of them between the least and the longest delay looked at are
reported.
"""

from dataclasses import dataclass

import numpy as np

from penstock.theory.linear_stability import Array
from penstock.theory.models.smcc import Smcc

_DELAYS = 96
"""Delays that are looked at: 6 per cent from one to the next. A narrower window may be missed."""

_CLOSER = 16
"""Delays between two of them, where the sign of growth changes."""

_LEAST, _LONGEST = 0.02, 5.0
"""The delays looked at, in units of the slower and the faster of the law's own times."""

_LENGTH = 150.0
"""How long is integrated, in units of 1/sqrt(a1): 24 turns, and at least as many times the delay as a tenth of it."""

_STEP = 0.03
"""Length of a step, in units of 1/sqrt(a1), or of 2/b2 if that is shorter."""

_MARGINAL = 1e-4
"""Growth in units of sqrt(a1) that counts as none: a state that chatters on the line y = 0 nearly stays where it is."""

_RESCALED = 50
"""Steps from one scaling back to the next."""

_BEGINNINGS = ((0.0, 1.0), (1.0, -1.0))
"""Offset and growth at the start. An offset alone is an equilibrium: without growth nothing changes in state B."""


@dataclass(frozen=True)
class Growth:
    """The delays at which oscillations last.

    Attributes:
        spans_s: intervals of delay in which oscillations grow, s, in rising order. The first begins at 0 if they grow
            at the least delay looked at, and the last ends in infinity if they grow at the longest.
        longest_s: the longest delay looked at, s.
    """

    spans_s: tuple[tuple[float, float], ...]
    longest_s: float

    @property
    def onset_s(self) -> float:
        """The least delay from which on oscillations grow, s; infinite if there is none."""
        return self.spans_s[0][0] if self.spans_s else float("inf")

    @property
    def windows_s(self) -> tuple[tuple[float, float], ...]:
        """Intervals of longer delay in which oscillations die again, s; the last may end in infinity."""
        return tuple(
            (before[1], after[0])
            for before, after in zip(self.spans_s, (*self.spans_s[1:], (np.inf, np.inf)), strict=True)
            if np.isfinite(before[1])
        )


def growth(model: Smcc, *, small: bool = False) -> Growth:
    """Return the delays at which oscillations of a configuration grow, up to 5/sqrt(a1) and beyond its own delay.

    Args:
        model: one configuration; its own delay does not count.
        small: of oscillations within a frame; else of those to which a frame is nothing.
    """
    pace = float(np.sqrt(np.max(np.asarray(model.a1_per_s2()))))
    damping = float(np.max(np.asarray(model.b2_per_s())))
    if pace == 0:
        # Nothing answers the offset: a queue stays where it is.
        return Growth((), np.inf)
    longest = max(_LONGEST / pace, 1.25 * float(np.max(np.asarray(model.delay_s))))
    delays = np.geomspace(_LEAST / max(pace, damping), longest, _DELAYS)
    grows = growth_per_s(model, delays, small=small) > _MARGINAL * pace
    changes = np.nonzero(grows[1:] != grows[:-1])[0]
    borders: list[float] = [] if not grows[0] else [0.0]
    if len(changes):
        closer = np.concatenate([np.linspace(delays[k], delays[k + 1], _CLOSER) for k in changes])
        rates = growth_per_s(model, closer, small=small).reshape(len(changes), _CLOSER)
        for k, fine, row in zip(changes, closer.reshape(rates.shape), rates, strict=True):
            borders.append(_border(fine, (row - _MARGINAL * pace) * (1 if grows[k + 1] else -1)))
    if len(borders) % 2:
        borders.append(np.inf)
    return Growth(tuple(zip(borders[::2], borders[1::2], strict=True)), longest)


def _border(delays: Array, rates: Array) -> float:
    """Return the delay, s, at which rising rates become positive: between the last that is not and the next."""
    below = np.nonzero(rates <= 0)[0]
    k = int(below[-1]) if len(below) else 0
    if k + 1 >= len(rates) or rates[k + 1] == rates[k]:
        return float(delays[k])
    share = min(max(-rates[k] / (rates[k + 1] - rates[k]), 0.0), 1.0)
    return float(delays[k] + share * (delays[k + 1] - delays[k]))


def growth_per_s(model: Smcc, delays_s: Array, *, small: bool = False) -> Array:
    """Return how fast oscillations grow at each delay, 1/s, shape (m,); less than 0 where they die.

    Args:
        model: one configuration; its own delay does not count.
        delays_s: delays, s, shape (m,).
        small: of oscillations within a frame; else of those to which a frame is nothing.
    """
    pace = float(np.sqrt(np.max(np.asarray(model.a1_per_s2()))))
    damping = float(np.max(np.asarray(model.b2_per_s()))) / pace
    interval = float(np.max(np.asarray(model.interval_s))) * pace
    below, above = (float(np.max(np.asarray(part))) if small else 0.0 for part in (model.zero_below, model.zero_above))
    delays = np.tile(np.asarray(delays_s, dtype=float) * pace, len(_BEGINNINGS))
    step = _STEP / max(1.0, damping / 2)
    begin = np.repeat(np.array(_BEGINNINGS), len(delays_s), axis=0).T
    line = _DelayLine(delays, interval, step, begin[0])
    offset, slope = begin.copy()
    size, sizes = np.zeros(len(delays)), []
    for k in range(int(max(_LENGTH, 10 * delays.max()) / step)):
        seen, rise = line.middle()
        in_a = (seen > 0) == (rise > 0)
        still = np.where(seen < 0, below, above)
        # In state A a small oscillation is answered by those samples alone that see no growth and count as A.
        push = np.where(in_a, (still if small else 1.0) * seen, damping * rise + still * seen)
        after = slope - step * push
        offset, slope = offset + step / 2 * (slope + after), after
        line.put(offset)
        if k % _RESCALED == _RESCALED - 1:
            largest = np.maximum(line.largest(), np.abs(slope))
            line.scale(1 / largest)
            offset, slope = offset / largest, slope / largest
            size = size + np.log(largest)
            sizes.append(size)
    grown = np.array(sizes)[len(sizes) // 3 :]
    times = np.arange(len(grown)) * _RESCALED * step
    # A straight line through the logarithms: phases of the turn, at which they are taken, cancel.
    rates = (times - times.mean()) @ grown / np.sum((times - times.mean()) ** 2)
    return np.asarray(pace * rates.reshape(len(_BEGINNINGS), -1).max(axis=0))


class _DelayLine:
    """The offsets of the last delays, and the samples' view of them in the middle of a step.

    Times are in units of 1/sqrt(a1), offsets relative to those at the beginning.
    """

    def __init__(self, delays: Array, interval: float, step: float, begin: Array) -> None:
        self._interval = max(interval, step)
        # In the middle of the next step, half a step behind the last offset: so the midpoint rule needs no guess.
        backs = [np.maximum(lag / step - 0.5, 0.0) for lag in (delays, delays + self._interval)]
        self._whole = [back.astype(int) for back in backs]
        self._part = [back - whole for back, whole in zip(backs, self._whole, strict=True)]
        self._ring = np.tile(begin, (int(max(whole.max() for whole in self._whole)) + 2, 1))
        self._columns = np.arange(len(delays))
        self._at = 0

    def middle(self) -> tuple[Array, Array]:
        """The offset a delay ago, and its growth over the interval before."""
        values = []
        for whole, part in zip(self._whole, self._part, strict=True):
            newer = (self._at - whole) % len(self._ring)
            older = (newer - 1) % len(self._ring)
            values.append((1 - part) * self._ring[newer, self._columns] + part * self._ring[older, self._columns])
        return values[0], (values[0] - values[1]) / self._interval

    def put(self, offset: Array) -> None:
        """Append the offsets at the end of a step."""
        self._at = (self._at + 1) % len(self._ring)
        self._ring[self._at] = offset

    def largest(self) -> Array:
        """Return the greatest size of each offset within the line."""
        return np.asarray(np.abs(self._ring).max(axis=0))

    def scale(self, factor: Array) -> None:
        """Multiply the offsets of the whole line: only their growth counts."""
        self._ring *= factor
