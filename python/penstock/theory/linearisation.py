"""Linearisation of fluid models at their equilibrium, by automatic differentiation.

The derivative along each variable is taken with a complex step (Squire and Trapp, "Using complex variables to
estimate derivatives of real functions", SIAM Review 40, 1998). In f'(x) = Im f(x + i h) / h is no difference of near
numbers, so that h may be 1e-30 and the result is exact to rounding. It needs laws that are analytic where they are
taken; the tests compare it with differences.

A model with a switching line through its equilibrium has no derivative there, but each mode has one: the laws on either
side of the line.
"""

import numpy as np

from penstock.theory.linear_stability import Array, DelaySystem
from penstock.theory.models.base import FluidModel

_STEP = 1e-30
"""Step as a share of a variable's scale: its square vanishes beside everything."""

_DRIFT = 1e-6
"""An equilibrium is one where variables drift by no more than this share in a time scale."""

_BESIDE = 1e-6
"""How far beside an equilibrium its modes are looked up, as a share of the queue there."""


def linearise(model: FluidModel, mode: int = 0) -> DelaySystem:
    """The linear delay system of one mode of a model, or of an array of models, at its equilibrium.

    Args:
        model: parameters may be arrays, one value for each configuration.
        mode: number of the mode whose law holds.

    Returns:
        Matrices of shape (..., n, n), in states that are scaled by :func:`scales`.
    """
    at = model.state_at_rest()
    scale = scales(at)
    n = len(at)
    delay = model.delays_s[0]
    shape = np.broadcast_shapes(at.shape[1:], np.shape(delay))
    instant, delayed = np.empty((*shape, n, n)), np.empty((*shape, n, n))
    point = at.astype(complex)
    for column in range(n):
        moved = point.copy()
        moved[column] += 1j * _STEP * scale[column]
        for matrix, now, then in ((instant, moved, point), (delayed, point, moved)):
            slope = np.asarray(model.law(mode, now, (then,)))
            gradient = slope.imag / _STEP / scale
            matrix[..., :, column] = np.moveaxis(np.broadcast_to(gradient, (n, *shape)), 0, -1)
    return DelaySystem(instant, delayed, np.broadcast_to(np.asarray(delay, dtype=float), shape), names(model))


def is_at_rest(model: FluidModel, mode: int) -> Array:
    """Whether the equilibrium is within the limits, and the law of a mode zero there: shape of the configurations."""
    at = model.state_at_rest()
    low, high = model.limits()
    drift = np.abs(model.law(mode, at, (at,) * len(model.delays_s))) / scales(at) * model.time_scales_s()
    columns = (slice(None), *([None] * (at.ndim - 1))) if low.ndim == 1 else ...
    inside = (at >= low[columns]) & (at <= high[columns])
    return np.asarray(np.all(np.isfinite(at) & inside & (drift < _DRIFT), axis=0))


def scales(state: Array) -> Array:
    """The unit of each variable: its value at equilibrium, or 1 where that is 0; shape of ``state``."""
    size = np.abs(state)
    return np.where(size > 0, size, 1.0)


def names(model: FluidModel) -> tuple[str, ...]:
    """Names of a model's variables, with their units."""
    return tuple(variable.name for variable in model.variables)


def beside(model: FluidModel) -> tuple[Array, ...]:
    """The states a trifle below and above the equilibrium, in the queue: the modes that hold there hold beside it."""
    at = model.state_at_rest()
    shift = np.zeros_like(at)
    shift[0] = _BESIDE * scales(at)[0]
    return at - shift, at + shift
