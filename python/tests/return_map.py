"""The return map of a queue that oscillates: each maximum over the one before. Its fixed points are cycles."""

import numpy as np

from penstock.theory.configuration import BITS_PER_OCTET
from penstock.theory.limit_cycle import BlockIntegrator, balance
from penstock.theory.linear_stability import Array
from penstock.theory.models.base import FluidModel


def return_map(model: FluidModel, amplitudes_octets: Array, *, laps: int = 6, steps_per_turn: int = 400) -> Array:
    """Successive maxima of the queue's offset: the orbit of a Poincare map from each amplitude.

    Trajectories begin on the sine that harmonic balance has for their amplitude. The first return still carries that
    beginning; from the second on the map is the model's own.

    Args:
        model: one configuration, with its delay.
        amplitudes_octets: where to begin, shape (m,).
        laps: how many returns.
        steps_per_turn: steps in 2 pi time scales.

    Returns:
        Offsets of the maxima, octets, shape (laps, m); NaN where the queue settles before.
    """
    amplitude = np.asarray(amplitudes_octets, dtype=float)
    width = len(amplitude)
    _, frequency = balance(model, amplitude)

    def sine(time_s: Array) -> Array:
        queue = model.set_point_octets() + amplitude * np.cos(frequency * time_s)
        excess = -amplitude * frequency * np.sin(frequency * time_s)
        return np.stack([queue, (model.capacity_bps + BITS_PER_OCTET * excess) / model.flows])

    march = BlockIntegrator(model, sine(np.zeros(width)), steps_per_turn, before=sine)
    found = np.full((laps, width), np.nan)
    lap = np.zeros(width, dtype=int)
    columns = np.arange(width)
    offset, rising = march.state[0] - model.set_point_octets(), np.zeros(width, dtype=bool)
    for _ in range(4 * laps * steps_per_turn):
        march.step()
        now = march.state[0] - model.set_point_octets()
        top = rising & (now <= offset) & (lap < laps)
        found[lap[top], columns[top]] = offset[top]
        lap[top] += 1
        rising, offset = now > offset, now
        if np.all(lap >= laps):
            break
    return found
