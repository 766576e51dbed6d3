"""Limit cycles: amplitude and period of a queue that does not settle.

SMCC's equilibrium lies on its switching lines, so that nothing can be linearised there. :func:`describing_function` and
:func:`harmonic_balance` give the cycle in which it ends. The queue is taken for a sine of amplitude A. The scheme's
answer to it has the fundamental -N(A, w) A; with the delay in the loop a sine lasts where

    w^2 = N(A, w) exp(-j w tau).

For SMCC without a grain N does not depend on A: its law is homogeneous, doubling a state doubles its velocity. Then

    N(w) = (a1/2 - b2 w/pi) + j (a1/pi + b2 w/2),   |N|^2 = (1/4 + 1/pi^2) (a1^2 + b2^2 w^2),

and there is one delay at which every amplitude lasts; below it all oscillations die, above it all grow.

:func:`settled` integrates whole arrays of configurations at once and measures what they end in; it serves any model,
and maps over parameters.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, fields

import numpy as np

from penstock.theory.configuration import BITS_PER_OCTET
from penstock.theory.linear_stability import Array
from penstock.theory.models.base import Flags, FluidModel

_ANGLES = 720
"""Points of a turn at which a describing function is averaged; between them, so that none lies on a switching line."""

_HALVINGS = 60

_OF_DELAY = 0.05
"""Share of the delay that is a time scale, too, where the model's own is shorter."""

_COARSEST = 4.0
"""The largest time scale, as a multiple of the model's own."""

_ALIKE = 0.05
"""The largest difference of amplitudes in a cycle that counts as settled, as a share of them."""

_STILL = 1e-3
"""At equilibrium no variable moves by more than this share of it."""

_PASSAGES = 4
"""Times that a queue passes its mean upwards before its cycle counts."""


@dataclass(frozen=True)
class Cycle:
    """A limit cycle.

    Attributes:
        amplitude_octets: half the distance between the longest and the shortest queue, octets; 0 at equilibrium.
        period_s: from one maximum to the next, s; NaN where it settles.
    """

    amplitude_octets: float
    period_s: float


def describing_function(model: FluidModel, amplitude_octets: Array, frequency_rad_s: Array) -> Array:
    """N(A, w), 1/s²: the fundamental of -y' for a queue of q0 + A sin(w t) and the excess that belongs to it.

    Delay and the queue's limits are left out; the amplitude is best below what the buffer allows.

    Args:
        model: one configuration.
        amplitude_octets: A, shape (m,).
        frequency_rad_s: w, shape (m,).

    Returns:
        Complex, shape (m,).
    """
    amplitude, frequency = np.broadcast_arrays(amplitude_octets, frequency_rad_s)
    angle = 2 * np.pi * (np.arange(_ANGLES) + 0.5)[:, None] / _ANGLES
    unbounded = model.with_changes(buffer_octets=np.inf)

    def at(turned: Array) -> Array:
        queue = model.set_point_octets() + amplitude * np.sin(turned)
        excess = amplitude * frequency * np.cos(turned)
        return np.stack([queue, (model.capacity_bps + BITS_PER_OCTET * excess) / model.flows])

    # Of several delays the first is the loop's; the others say how much longer ago something was.
    lags = [delay - model.delays_s[0] for delay in model.delays_s]
    past = [at(angle - frequency * lag) for lag in lags]
    bend = -_slope(unbounded, past[0], past)[1] * model.flows / BITS_PER_OCTET
    return np.asarray(np.mean(bend * 2 * (np.sin(angle) + 1j * np.cos(angle)), axis=0) / amplitude)


def _slope(model: FluidModel, state: Array, past: list[Array]) -> Array:
    """The right-hand side without limits, in the mode that signs of the switching functions have."""
    modes = model.modes_at(state, past)
    first, *others = np.unique(modes).tolist()
    slope = model.law(first, state, past)
    for mode in others:
        slope = np.where(modes == mode, model.law(mode, state, past), slope)
    return slope


def balance(model: FluidModel, amplitude_octets: Array) -> tuple[Array, Array]:
    """The delay and the frequency at which each amplitude keeps itself going, by harmonic balance.

    Returns:
        Delays (s) and frequencies (rad/s), shape (m,) each.
    """
    amplitude = np.asarray(amplitude_octets, dtype=float)
    low = np.full(amplitude.shape, 1e-3 / model.time_scale_s)
    high = np.full(amplitude.shape, 1e3 / model.time_scale_s)
    for _ in range(_HALVINGS):
        middle = np.sqrt(low * high)
        # |N| grows more slowly than w^2.
        above = np.abs(describing_function(model, amplitude, middle)) < middle**2
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    response = describing_function(model, amplitude, high)
    return np.mod(np.angle(response), 2 * np.pi) / high, high


def harmonic_balance(model: FluidModel, points: int = 200) -> Cycle:
    """The limit cycle at the model's delay, from the describing function.

    Of the amplitudes that keep themselves going the largest counts; one that the buffer would cut off is infinite.
    """
    delay = float(np.max(np.asarray(model.delays_s[0])))
    set_point = float(np.max(np.asarray(model.set_point_octets())))
    room = min(set_point, float(np.max(np.asarray(model.buffer_octets))) - set_point)
    amplitudes = np.geomspace(room * 1e-4, room, points)
    delays, frequencies = balance(model, amplitudes)
    if delay <= delays.min():
        return Cycle(0.0, np.nan)
    rises = np.nonzero((delays[:-1] <= delay) & (delays[1:] > delay))[0]
    if len(rises) == 0:
        return Cycle(np.inf, 2 * np.pi / float(frequencies[-1]))
    k = rises[-1]
    share = (delay - delays[k]) / (delays[k + 1] - delays[k])
    amplitude = amplitudes[k] + share * (amplitudes[k + 1] - amplitudes[k])
    return Cycle(float(amplitude), 2 * np.pi / float(frequencies[k] + share * (frequencies[k + 1] - frequencies[k])))


@dataclass(frozen=True)
class Settled:
    """The behaviour of models in the long run; arrays of the shape of the configurations.

    Attributes:
        mean_octets: mean length of the queue, octets.
        amplitude_octets: half the distance between the longest and the shortest queue, octets.
        period_s: mean time between passages upwards through the mean, s; NaN with fewer than two.
        utilization: share of the capacity that is used.
    """

    mean_octets: Array
    amplitude_octets: Array
    period_s: Array
    utilization: Array


def settled(
    model: FluidModel,
    *,
    turns: float = 60,
    steps_per_turn: int = 40,
    blocks: int = 4,
    state: Array | None = None,
    progress: Callable[[float], None] | None = None,
) -> Settled:
    """Integrate configurations side by side, each with its delay and its own step, until they settle or are in a cycle.

    Heun's method with linear interpolation of the past: second order where nothing switches, first at switches, in
    steps so short that this is a per cent. For single trajectories there is :mod:`penstock.theory.delay_integrator`.
    A block is integrated and its last two thirds compared. At an equilibrium nothing moved in the last. In a cycle the
    queue passed its mean four times, with the amplitude that it had before. Where neither can be said, another block
    follows, twice as long, whose halves are compared.

    Args:
        model: parameters are arrays of one shape (m,), or numbers.
        turns: how long the first block is, in units of the model's time scale (or a twentieth of its delay, if that is
            longer) times 2 pi.
        steps_per_turn: steps in one such unit.
        blocks: how many blocks at most.
        state: where to begin, shape (n, m); by default where the simulator's flows begin.
        progress: called with the share that is done.
    """
    begin = np.asarray(model.start() if state is None else state, dtype=float)
    width = np.broadcast_shapes((1,), *(np.shape(getattr(model, field.name)) for field in fields(model)))
    begin = np.broadcast_to(begin.reshape(len(begin), -1), (len(begin), *width))
    march = BlockIntegrator(model, begin, steps_per_turn)
    columns = np.arange(begin.shape[1])
    measures = np.full((4, begin.shape[1]), np.nan)
    report = progress or (lambda _: None)
    third = int(turns * steps_per_turn) // 3
    before, part = third, third
    for block in range(blocks):
        # A course that is not settled by then takes as long again: the share that is done is that of the rest, halved.
        done = 1 - 0.5**block
        records = []
        for place, count in enumerate((before, part, part)):
            record = _Record(march.model, march.state)
            for k in range(count):
                march.step()
                record.add(march.state, march.step_s)
                if k % 256 == 0:
                    report(done + 0.5 ** (block + 1) * (place + k / count) / 3)
            records.append(record)
        last, sure = records[2].result(), records[2].settled_since(records[1])
        measures[:, columns] = last.mean_octets, last.amplitude_octets, last.period_s, last.utilization
        if sure.all():
            break
        columns = columns[~sure]
        march = march.of(~sure)
        before, part = 0, part * (3 if block == 0 else 2)
    return Settled(*measures)


class BlockIntegrator:
    """Steps of many configurations at once, each with its own step and delay.

    Attributes:
        state: where they are, shape (n, m).
        step_s: length of a step, s, shape (m,).
    """

    def __init__(
        self, model: FluidModel, state: Array, steps_per_turn: int, before: Callable[[Array], Array] | None = None
    ) -> None:
        """Begin at ``state``; ``before`` gives the states (n, m) at earlier times (s, shape (m,)), else the same."""
        width = state.shape[1]
        # One array among the limits makes all of them as wide as the state.
        model = model.with_changes(
            buffer_octets=np.broadcast_to(np.asarray(model.buffer_octets, dtype=float), (width,))
        )
        self.model = model
        self.state = state
        scale = np.broadcast_to(np.asarray(model.time_scales_s(), dtype=float), (width,))
        delays = [np.broadcast_to(np.asarray(delay, dtype=float), (width,)) for delay in model.delays_s]
        # A loop turns no faster than its delay lets it.
        scale = np.clip(delays[0] * _OF_DELAY, scale, scale * _COARSEST)
        self.step_s = 2 * np.pi * scale / steps_per_turn
        # A delay of less than a step is a step's share: the past lies between the last state and this one.
        self._back = [delay / self.step_s for delay in delays]
        depth = int(max(np.max(back) for back in self._back)) + 3
        self._past = np.empty((depth, *state.shape))
        for k in range(depth):
            # Place -k of the ring is k steps ago.
            self._past[-k] = state if before is None or k == 0 else before(-k * self.step_s)
        self._at = 0
        self._columns = np.arange(width)
        self._low, self._high = (np.broadcast_to(side.reshape(len(side), -1), state.shape) for side in model.limits())

    def step(self) -> None:
        """Take one step."""
        first = self._slope(self.state, self._then(0))
        guess = np.clip(self.state + self.step_s * first, self._low, self._high)
        self._put(guess)
        second = self._slope(guess, self._then(1))
        self.state = np.clip(self.state + self.step_s / 2 * (first + second), self._low, self._high)
        self._put(self.state)
        self._at = (self._at + 1) % len(self._past)

    def of(self, columns: Flags) -> "BlockIntegrator":
        """Some of the configurations, shape (m,), which go on from where they are."""
        few = copy(self)
        shape = columns.shape
        changes = {
            field.name: np.asarray(value)[columns]
            for field in fields(self.model)
            if np.shape(value := getattr(self.model, field.name)) == shape
        }
        few.model = self.model.with_changes(**changes)
        few.state, few.step_s = self.state[:, columns], self.step_s[columns]
        few._back = [back[columns] for back in self._back]
        few._past = self._past[:, :, columns]
        few._low, few._high = self._low[:, columns], self._high[:, columns]
        few._columns = np.arange(few.state.shape[1])
        return few

    def _slope(self, state: Array, past: list[Array]) -> Array:
        slope = _slope(self.model, state, past)
        outward = ((state <= self._low) & (slope < 0)) | ((state >= self._high) & (slope > 0))
        return np.where(outward, 0.0, slope)

    def _put(self, state: Array) -> None:
        self._past[(self._at + 1) % len(self._past)] = state

    def _then(self, ahead: int) -> list[Array]:
        """The delayed states, as seen from ``ahead`` steps after the present: shape (n, m) each."""
        depth = len(self._past)
        past = []
        for back in self._back:
            whole = np.floor(back).astype(int)
            part = back - whole
            newer = (self._at + ahead - whole) % depth
            older = (newer - 1) % depth
            past.append(
                (1 - part) * self._past[newer, :, self._columns].T + part * self._past[older, :, self._columns].T
            )
        return past


class _Record:
    """Measurements that are taken while configurations are integrated."""

    def __init__(self, model: FluidModel, state: Array) -> None:
        width = state.shape[1]
        self._model = model
        self._time = np.zeros(width)
        self._area, self._used = np.zeros(width), np.zeros(width)
        self._most, self._least = np.full(width, -np.inf), np.full(width, np.inf)
        self._queues: list[Array] = []
        self._step_s = np.zeros(width)
        self._highest, self._lowest = state.copy(), state.copy()

    def add(self, state: Array, step_s: Array) -> None:
        """Add the states, shape (n, m), that hold for a step of each configuration, s, shape (m,)."""
        queue = state[0]
        excess = self._model.excess_octets_per_s(state) * BITS_PER_OCTET
        idle = np.where((queue <= 0) & (excess < 0), -excess, 0.0)
        self._time += step_s
        self._area += queue * step_s
        self._used += (1 - idle / self._model.capacity_bps) * step_s
        self._most, self._least = np.maximum(self._most, queue), np.minimum(self._least, queue)
        self._highest, self._lowest = np.maximum(self._highest, state), np.minimum(self._lowest, state)
        self._queues.append(queue.astype(np.float32))
        self._step_s = step_s

    def settled_since(self, before: "_Record") -> Flags:
        """Whether nothing moves, or a cycle is what it was before; shape (m,)."""
        scale = np.abs(self._highest)
        scale[0] = np.maximum(scale[0], self._model.frame_octets)
        # A motion shows one delay later.
        long = self._time >= 2 * np.asarray(self._model.delays_s[0])
        rests = long & np.all(self._highest - self._lowest <= _STILL * scale, axis=0)
        now, then = self._most - self._least, before._most - before._least
        cycles = (self._rises().sum(axis=0) >= _PASSAGES) & (np.abs(now - then) <= _ALIKE * now)
        return np.asarray(rests | cycles)

    def _rises(self) -> Flags:
        above = np.array(self._queues) > (self._area / self._time).astype(np.float32)
        return np.asarray(above[1:] & ~above[:-1])

    def result(self) -> Settled:
        """Return mean, amplitude, period and utilisation of the time that was recorded."""
        mean = self._area / self._time
        rises = self._rises()
        count = rises.sum(axis=0)
        first = rises.argmax(axis=0)
        last = len(rises) - 1 - rises[::-1].argmax(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            period = np.where(count >= 2, (last - first) / (count - 1) * self._step_s, np.nan)
        return Settled(mean, (self._most - self._least) / 2, period, self._used / self._time)
