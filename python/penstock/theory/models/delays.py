"""Feedback-delay terms of models: feedback waits for the end of an interval, or in the queue."""

from dataclasses import dataclass
from typing import Self

from penstock.theory.models.base import Array, FluidModel, Value


@dataclass(frozen=True)
class AtIntervals(FluidModel):
    """A model whose rates change by a step every interval: each answers to the state of half of one ago.

    Attributes:
        interval_s: T, s.
    """

    interval_s: Value

    @property
    def delays_s(self) -> tuple[Value, ...]:
        """How long ago the queue was, in the mean, to which rates answer, s."""
        return (self.delay_s + self.interval_s,)

    def without_delay(self) -> Self:
        """Refuse: a step every interval is a delay by itself."""
        raise ValueError(f"the model of {self.scheme} needs its interval")


@dataclass(frozen=True)
class Waiting(FluidModel):
    """A model whose sources hear of the queue by frames that have waited in it.

    Attributes:
        waits: whether that wait, as long as at the set point, is part of the delay.
    """

    waits: bool

    @property
    def drain_octets_per_s(self) -> Value:
        """How fast a full line takes frames out of the queue, octets/s."""
        return self.link_bps * self.octets_per_bit

    def without_delay(self) -> Self:
        """Return the model without any delay, that in the queue included."""
        return self.with_changes(delay_s=0.0, waits=False)


@dataclass(frozen=True)
class EndToEnd(Waiting):
    """A model whose sources act on acknowledgements.

    Attributes:
        segment_octets: octets that an acknowledgement answers, or that a window grows by.
        base_s: round-trip time without a queue, s. :meth:`without_delay` leaves it as it is.
    """

    segment_octets: Value
    base_s: Value

    def round_trip_s(self, queue_octets: Array) -> Array:
        """Return the round-trip time of a frame that finds the queue so long, s."""
        return self.base_s + queue_octets / self.drain_octets_per_s
