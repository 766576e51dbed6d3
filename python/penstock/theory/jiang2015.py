"""The equations of motion of Jiang et al. 2015, without delay: (5), (10), (12), (14) to (18), (26), (27).

Each is written once, for numbers, NumPy arrays and SymPy's symbols: phase portraits integrate these functions, and
`python/tests/theorem_derivation.py` derives the theorems from them.

Coordinates are the paper's: x = q - q0 in frames, y = N r - C in frames/s (equation 16), time in s. A law returns the
derivative (x', y') in frames/s and frames/s².
"""

from typing import Any

# Floats, arrays of floats, or SymPy's expressions.
Value = Any
Motion = tuple[Any, Any]


def growth(rate_fps: Value, flows: Value, capacity_fps: Value) -> Value:
    """Return q' of equation (12), frames/s: N r - C."""
    return flows * rate_fps - capacity_fps


def feedback(offset_frames: Value, growth_frames: Value, weight: Value) -> Value:
    """Return Fb of equations (1) and (14), frames; negative is congestion."""
    return -(offset_frames + weight * growth_frames)


def decrease(feedback_frames: Value, rate_fps: Value, gain: Value) -> Value:
    """Return r' of the rate decrease in equation (15), Gd Fb r.

    The print mixes units: Gd Fb r is the change by one message, and the time derivative follows with the messages that
    a source gets in a second, p r; see :func:`penstock.theory.planar.QcnPlane.of`.
    """
    return gain * feedback_frames * rate_fps


def recovery(rate_fps: Value, target_fps: Value, cycle_s: Value) -> Value:
    """Return r' of Fast Recovery in equation (15), frames/s²."""
    return -rate_fps / (2 * cycle_s) + target_fps / (2 * cycle_s)


def oscillator(u: Value, v: Value, damping: Value, stiffness: Value) -> Motion:
    """Return (u', v') of equation (5): a = ``damping``, 1/s, b = ``stiffness``, 1/s²; u in frames, v in frames/s."""
    return v, -stiffness * u - damping * v


def climber(v: Value, push: Value, drag: Value) -> Motion:
    """Return (u', v') of equation (10): g = ``push``, frames/s², h = ``drag``, 1/s; v in frames/s."""
    return v, push - drag * v


def qcn_decrease(x: Value, y: Value, weight_s: Value, gain: Value, capacity_fps: Value) -> Motion:
    """Return (x', y') of equation (17), QCN's rate decrease.

    Args:
        x: offset of the queue, frames.
        y: rate in excess of the link's, frames/s.
        weight_s: w/(pC), s.
        gain: Gd, 1/frame; for a result in seconds, Gd times messages/s (see ``QcnPlane.of``).
        capacity_fps: C, frames/s.
    """
    return y, -gain * (x + weight_s * y) * (y + capacity_fps)


def qcn_recovery(y: Value, cycle_s: Value, excess_fps: Value) -> Motion:
    """Return (x', y') of equation (18), QCN's Fast Recovery.

    Args:
        y: rate in excess of the link's, frames/s.
        cycle_s: T, s.
        excess_fps: N R(0) - C, frames/s.
    """
    return y, excess_fps / (2 * cycle_s) - y / (2 * cycle_s)


def smcc_same_sign(x: Value, y: Value, offset_gain: Value, rate_gain: Value) -> Motion:
    """Return (x', y') of equation (26), state A, with a1 = ``offset_gain`` in 1/s² and a2 = ``rate_gain`` in 1/s."""
    return y, -offset_gain * x - rate_gain * y


def smcc_opposite_sign(x: Value, y: Value, offset_gain: Value, rate_gain: Value) -> Motion:
    """Return (x', y') of equation (27), state B, with b1 = ``offset_gain`` in 1/s² and b2 = ``rate_gain`` in 1/s."""
    return y, -offset_gain * x - rate_gain * y
