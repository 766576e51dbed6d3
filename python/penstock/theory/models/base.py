"""Fluid models: state with units, a right-hand side for each mode, switching functions, limits, delays, equilibrium.

A model stands for one bottleneck and N flows of one kind. All quantities are in SI units: octets, bit/s, s. A state is
an array of shape ``(n, …)``. Row i is variable i, and the other axes are as many configurations side by side as one
likes, for every parameter may be an array that broadcasts with a row. The functions use the array's own namespace, so
that another library's arrays work where they keep to the array standard.

Rates are those that *arrive at the queue*: frames that a source sends arrive a forward delay later. With equal delays
on all paths the loop has then a single delay: a message that reaches a source now was sampled the forward and
the feedback delay ago. ``past`` holds the states at these times, one for each of ``delays_s``; with no delay they are
the present state.

Which mode holds is a matter of signs: those of the switching functions, which are zero on the switching lines.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from penstock.theory.configuration import BITS_PER_OCTET, Configuration, UnsuitedScenarioError

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Value = float | Array
"""A parameter: a number, or an array of them, one for each configuration."""


@dataclass(frozen=True)
class Variable:
    """A variable of a state: its name, which ends in its unit, and its meaning."""

    name: str
    meaning: str


QUEUE = Variable("queue_octets", "length of the queue, octets")
RATE = Variable("rate_bps", "rate of each flow as it arrives at the queue, bit/s")
TARGET = Variable("target_rate_bps", "rate that each flow recovers towards, bit/s")

ALIKE = "differences between flows (all have the mean rate)"
GLIDES = "the step of the rate at a sample: rates glide"
CYCLES = "cycles that end between two messages"
SAMPLING = "chance of samples, the table's shorter intervals where |Fb| is large, Qold of the last message"
PHASE = "the moments of measurement and of probes: their phase is the mean one"
IN_STEPS = frozenset({ALIKE, GLIDES, CYCLES, SAMPLING, PHASE})
"""Parts of schemes that continuous forms leave out, and forms in steps do not."""


def namespace(array: Array) -> Any:
    """Return the array library of ``array``: NumPy, or another that keeps to the array standard."""
    return array.__array_namespace__()


@dataclass(frozen=True)
class FluidModel(ABC):
    """One bottleneck and N flows alike; the subclass has the scheme's effect on their rate.

    Attributes:
        flows: N.
        capacity_bps: C, the rate that the bottleneck leaves to the N flows, bit/s.
        link_bps: rate of the bottleneck with the part of other traffic, bit/s.
        frame_octets: length of a frame in the queue, octets.
        wire_octets: octets that it takes of the line.
        buffer_octets: room of the queue, octets.
        line_rate_bps: the largest rate of a source, bit/s.
        min_rate_bps: the least rate of a source, bit/s.
        delay_s: forward and feedback delay together, s.
    """

    flows: Value
    capacity_bps: Value
    link_bps: Value
    frame_octets: Value
    wire_octets: Value
    buffer_octets: Value
    line_rate_bps: Value
    min_rate_bps: Value
    delay_s: Value

    scheme: ClassVar[str]
    """Name of the scheme."""
    form: ClassVar[str]
    """Name of the model among those of its scheme."""
    source: ClassVar[str]
    """Paper and equations."""
    per: ClassVar[str]
    """Whether the right-hand side is written per second or follows from what one sample does."""
    omits: ClassVar[tuple[str, ...]]
    """The parts of the scheme that are not in the model."""
    variables: ClassVar[tuple[Variable, ...]]
    """The rows of a state; the first two are the queue and the rate."""
    modes: ClassVar[tuple[str, ...]]
    """Names of the modes."""
    lines: ClassVar[tuple[str, ...]]
    """The expression that is zero on each switching line, as text."""
    delayed: ClassVar[bool] = True
    """Whether questions of stability may be put to it: it has the delay of feedback."""
    linear: ClassVar[bool] = True
    """Whether it has a linearisation at equilibrium; a model whose equilibrium lies on its switching lines has none."""
    predicts_runs: ClassVar[bool] = True
    """Whether `penstock tune` narrows its search by it; not where a model has no equilibrium to aim at."""

    @classmethod
    def of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of its scheme.

        Raises:
            UnsuitedScenarioError: the configuration is of another scheme, or the model leaves out what it asks for.
        """
        if configuration.scheme != cls.scheme:
            raise UnsuitedScenarioError(f"a model of {cls.scheme} does not describe {configuration.scheme}")
        return cls._of(configuration)

    @classmethod
    @abstractmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration that is of its scheme; see :meth:`of`."""

    @abstractmethod
    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return the right-hand side of one mode, smooth, without limits: shape of ``state``, units per second."""

    @abstractmethod
    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return the switching functions: shape ``(len(lines), …)``."""

    @abstractmethod
    def mode_of(self, positive: NDArray[np.bool_]) -> NDArray[np.int_]:
        """Return the mode that belongs to signs of the switching functions (shape ``(len(lines), …)``)."""

    @abstractmethod
    def state_at_rest(self) -> Array:
        """Return the equilibrium: a state of shape ``(n, …)``."""

    @abstractmethod
    def start(self) -> Array:
        """Return the state in which the simulator's flows begin: empty queue, line rate."""

    def why_no_margin(self) -> str | None:
        """Return the reason if the law has no margin in any configuration; None if it has one in some."""
        return None

    def comes_to_rest(self) -> Flags:
        """Return whether the queue comes to its equilibrium if nothing oscillates: shape of the configurations."""
        return np.asarray(True)

    @property
    def delays_s(self) -> tuple[Value, ...]:
        """How long ago the states in ``past`` were, s."""
        return (self.delay_s,)

    @property
    def time_scale_s(self) -> float:
        """A time in which little changes, s: integrators' steps go by it. Of all configurations the least."""
        return float(np.min(self.time_scales_s()))

    def time_scales_s(self) -> Value:
        """Return the time scale of each configuration, s."""
        return self._scale_s()

    def entered(self, before: int, after: int, state: Array) -> Array:
        """Return the state at which mode ``after`` begins that follows ``before``: most models jump nowhere."""
        return state

    def limits(self) -> tuple[Array, Array]:
        """Return the least and the greatest value of each variable: two arrays of shape ``(n, …)``."""
        low, high = self._limits()
        shape = np.broadcast_shapes(*(np.shape(value) for value in (*low, *high)))
        stack = [np.stack([np.broadcast_to(np.asarray(v, dtype=float), shape) for v in side]) for side in (low, high)]
        return stack[0], stack[1]

    def derivative(self, state: Array, past: Sequence[Array]) -> Array:
        """Return the right-hand side with modes and limits: shape of ``state``, units per second.

        At a limit nothing moves outwards: an empty queue does not fall, a full one does not grow.
        """
        xp = namespace(state)
        modes = self.modes_at(state, past)
        total = self.law(0, state, past)
        for mode in range(1, len(self.modes)):
            total = xp.where(modes == mode, self.law(mode, state, past), total)
        return self.held(state, total)

    def modes_at(self, state: Array, past: Sequence[Array]) -> NDArray[np.int_]:
        """Return the number of the mode at each state."""
        return self.mode_of(self.switches(state, past) > 0)

    def held(self, state: Array, slope: Array) -> Array:
        """Return ``slope`` without what would lead beyond a limit."""
        xp = namespace(state)
        # A row of a state may have more axes than the limits.
        more = (1,) * (state.ndim - self.limits()[0].ndim)
        low, high = (side.reshape(side.shape[:1] + more + side.shape[1:]) for side in self.limits())
        outward = ((state <= low) & (slope < 0)) | ((state >= high) & (slope > 0))
        return cast(Array, xp.where(outward, 0.0, slope))

    def without_delay(self) -> Self:
        """Return the model without any delay."""
        return self.with_changes(delay_s=0.0)

    def with_changes(self, **changes: Value) -> Self:
        """Return the model with other parameters: numbers, or arrays of them for a map."""
        return replace(self, **changes)

    # The rates of sampling at the queue, for all schemes.

    @property
    def octets_per_bit(self) -> Value:
        """Return how many octets of queue a bit of the line is: an eighth, less what frames have on the line alone."""
        return self.frame_octets / (BITS_PER_OCTET * self.wire_octets)

    @property
    def background_bps(self) -> Value:
        """The rate of the others through the bottleneck, bit/s."""
        return self.link_bps - self.capacity_bps

    def excess_octets_per_s(self, state: Array) -> Array:
        """Return (N r - C) / 8, in octets/s: y in equation (12) of Jiang et al. 2015, without the queue's limits."""
        return cast(Array, (self.flows * state[1] - self.capacity_bps) * self.octets_per_bit)

    def growth_octets_per_s(self, state: Array) -> Array:
        """Return how fast the queue grows, octets/s: 0 outwards at its limits."""
        xp = namespace(state)
        excess = self.excess_octets_per_s(state)
        stuck = ((state[0] <= 0) & (excess < 0)) | ((state[0] >= self.buffer_octets) & (excess > 0))
        return cast(Array, xp.where(stuck, 0.0, excess))

    def arrivals_octets_per_s(self, state: Array) -> Array:
        """Return what comes to the queue with the others' traffic, lost frames included, octets/s."""
        return cast(Array, (self.flows * state[1] + self.background_bps) * self.octets_per_bit)

    # The coordinates of Jiang et al. 2015.

    def to_paper(self, state: Array) -> tuple[Array, Array]:
        """Return x = q - q0 (frames) and y = N r - C (frames/s): equation (16) of Jiang et al. 2015."""
        return (state[0] - self.set_point_octets()) / self.frame_octets, self.excess_octets_per_s(
            state
        ) / self.frame_octets

    @abstractmethod
    def set_point_octets(self) -> Value:
        """Return the queue that the scheme aims at, octets."""

    def _limits(self) -> tuple[list[Value], list[Value]]:
        """Return least and greatest values; variables beyond the first two are free unless a subclass says more."""
        free = len(self.variables) - 2
        return (
            [0.0, self.min_rate_bps, *[-np.inf] * free],
            [self.buffer_octets, self.line_rate_bps, *[np.inf] * free],
        )

    @abstractmethod
    def _scale_s(self) -> Value: ...


@dataclass
class Source:
    """One of the N sources of a form that goes sample by sample, and its memory.

    Attributes:
        rate_bps: the rate of it that arrives at the queue, bit/s.
        due_octets: octets that it sends until it changes its rate by itself; infinite if only messages change it.
        ahead_frames: how far its next frame is ahead, in frames; None if that is to be drawn.
    """

    rate_bps: float
    due_octets: float = math.inf
    ahead_frames: float | None = None


class InSteps(FluidModel):
    """A model that has a second form, in which rates change by whole steps."""

    @property
    def omits_in_steps(self) -> tuple[str, ...]:
        """The parts of the scheme that are not in that form."""
        return tuple(what for what in self.omits if what not in IN_STEPS)


class Clocked(InSteps):
    """A model whose sources have one rate, which a switch's clock changes."""

    offered: bool
    """Whether frames that the full queue refuses count as load."""

    @property
    @abstractmethod
    def clock_s(self) -> float:
        """The interval of the clock, s."""

    @abstractmethod
    def next_rate_bps(self, rate_bps: float, octets: float, queue_octets: float) -> float:
        """Return the rate that follows an interval in which ``octets`` came, and the queue was so long at its end."""


class Stepwise(InSteps):
    """A model that has a form in which whole samples change single sources."""

    @property
    @abstractmethod
    def even(self) -> bool:
        """Whether nothing is drawn in the distance from one sample to the next."""

    @abstractmethod
    def frames_between(self, offset_octets: float, growth_octets: float, random: np.random.Generator) -> float:
        """Return how many frames pass from a sample that shows an offset and a growth to the next."""

    def source_at(self, state: Array) -> Source:
        """Return a source as the fluid's state has it on the average."""
        return Source(float(state[1]))

    def speaks(self, offset_octets: float, growth_octets: float) -> bool:
        """Return whether a sample makes a message."""
        return True

    def keeps(self, spoke: bool) -> bool:
        """Return whether the growth that the next sample shows is that from this one on."""
        return True

    @abstractmethod
    def on_message(
        self, source: Source, offset_octets: float, growth_octets: float, random: np.random.Generator
    ) -> None:
        """Change a source as a message says."""


class Stateless(Stepwise):
    """A stepwise model whose messages change a rate by an amount that depends on nothing else of the source."""

    @abstractmethod
    def step_bps(self, rate_bps: float, offset_octets: float, growth_octets: float) -> float:
        """Return by how much a sampled flow changes its rate, bit/s."""

    def on_message(
        self, source: Source, offset_octets: float, growth_octets: float, random: np.random.Generator
    ) -> None:
        """Change a source as a message says."""
        change = self.step_bps(source.rate_bps, offset_octets, growth_octets)
        source.rate_bps = min(max(source.rate_bps + change, float(self.min_rate_bps)), float(self.line_rate_bps))


class Recovering(Stepwise):
    """A model whose sources change their rates by themselves too, whenever they have sent what was due."""

    @abstractmethod
    def ended(self, source: Source, random: np.random.Generator) -> None:
        """Change a source that has sent what was due."""


def common(configuration: Configuration, min_rate: str | float) -> dict[str, Value]:
    """Return the parameters that all models have, from a configuration.

    Args:
        configuration: the configuration.
        min_rate: the least rate of a source, bit/s, or the name of the scheme's parameter.
    """
    least = configuration.number(min_rate) if isinstance(min_rate, str) else min_rate
    return {
        "flows": float(configuration.flows),
        "capacity_bps": configuration.capacity_bps,
        "link_bps": configuration.link_bps,
        "frame_octets": configuration.frame_octets,
        "wire_octets": configuration.frame_octets + configuration.wire_overhead_octets,
        "buffer_octets": configuration.buffer_octets,
        "line_rate_bps": configuration.line_rate_bps,
        "min_rate_bps": min(least, configuration.line_rate_bps),
        "delay_s": configuration.round_trip_s,
    }


def stack(*rows: Any) -> Array:
    """Return a state of rows that broadcast."""
    return np.stack(np.broadcast_arrays(*(np.asarray(row, dtype=float) for row in rows)))
