"""Theorems 1, 2 and 3 of Jiang et al. 2015 as plain formulas.

They hold for numbers, for NumPy arrays and for SymPy's symbols alike: the test suite derives each from the equations of
motion in `python/tests/theorem_derivation.py`, and everything else in this package calls the same functions.

Coordinates are the paper's: x = q - q0 in frames, y = N r - C in frames/s (equation 16). ``weight_s`` is w/(p C) in s,
the weight of the queue's derivative in Fb; ``cycle_s`` is T in s; ``excess_fps`` is N R(0) - C in frames/s.
"""

from typing import Any

# Floats, arrays of floats, or SymPy's expressions.
Value = Any
# A bool, an array of them, or SymPy's inequality.
Truth = Any


def line(u: Value, v: Value, slope: Value) -> Value:
    """Return u + m v, frames, whose zeros are the switching line (equation 11; theorem 1); m = ``slope``, s."""
    return u + slope * v


def slides(rate_above: Value, rate_below: Value) -> tuple[Truth, Truth]:
    """Return the two halves of theorem 1: whether the motion leads to the switching line s = 0 from either side.

    Theorem 1 asks for s s' <= 0 as s goes to 0. From above, where s > 0, that is s' <= 0, and from below s' >= 0.

    Args:
        rate_above: limit of s' from the side on which s > 0, in the unit of s per s.
        rate_below: limit of s' from the side on which s < 0, the same.
    """
    return rate_above <= 0, rate_below >= 0


def spiral(gain: Value, capacity_fps: Value, weight_s: Value) -> Value:
    """Return what must be below 1 for the rate decrease to be a spiral (theorem 2, item 2; from equation 20).

    As printed, sqrt(Gd/(4C)) w/p; with w/(pC) for weight_s it is sqrt(Gd C/4) times that.

    Args:
        gain: Gd, 1/frame.
        capacity_fps: C, frames/s.
        weight_s: w/(pC), s.
    """
    return (gain * capacity_fps / 4) ** 0.5 * weight_s


def recovery_left(offset_frames: Value, weight_s: Value, cycle_s: Value) -> Value:
    """Return the left side of inequality (24), frames s: (2T - w/(pC)) x0."""
    return (2 * cycle_s - weight_s) * offset_frames


def recovery_right(weight_s: Value, excess_fps: Value) -> Value:
    """Return the right side of inequality (24), frames s: w^2/(pC)^2 (N R(0) - C)."""
    return weight_s**2 * excess_fps


def theorem_2(
    offset_frames: Value, weight_s: Value, cycle_s: Value, excess_fps: Value, gain: Value, capacity_fps: Value
) -> tuple[Truth, Truth, Truth]:
    """Return the three items of theorem 2 at a point of the switching line Fb = 0: QCN slides if all hold.

    Args:
        offset_frames: x0, frames.
        weight_s: w/(pC), s.
        cycle_s: T, s.
        excess_fps: N R(0) - C, frames/s.
        gain: Gd, 1/frame.
        capacity_fps: C, frames/s.
    """
    left, right = recovery_left(offset_frames, weight_s, cycle_s), recovery_right(weight_s, excess_fps)
    return left <= right, spiral(gain, capacity_fps, weight_s) < 1, offset_frames > 0


def theorem_3(same_sign_gain: Value, opposite_sign_gain: Value) -> tuple[Truth, Truth]:
    """Return the two halves of inequality (30): y = 0 is a sliding regime if both hold.

    Args:
        same_sign_gain: the least a1, 1/s², of state A.
        opposite_sign_gain: the largest b1, 1/s², of state B.
    """
    return same_sign_gain > 0, opposite_sign_gain <= 0


def asymptotes(offset_gain: Value, rate_gain: Value) -> tuple[Value, Value]:
    """Return the slopes g1 < g2, 1/s, of the asymptotes in state B where b1 < 0 (remark 2): roots of z² + b2 z + b1.

    Args:
        offset_gain: b1, 1/s².
        rate_gain: b2, 1/s.
    """
    root = (rate_gain**2 - 4 * offset_gain) ** 0.5
    return (-rate_gain - root) / 2, (-rate_gain + root) / 2
