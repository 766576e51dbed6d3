"""DCQCN with a window as a fluid: DCQCN, whose flows send less than their rate in round trips longer than the window.

The window is what the limiter's rate r sends in the time W. A round trip R = base + q / C that is longer lets a flow
send (r W + h) / R alone. Here h is half a frame: one more goes as long as less than the window is in flight. (Li et
al. 2019, section 5.1, "DCQCN+win"; HPCC's simulator, ``IsWinBound``)

    q' = N min(r, (r W + h) / R) - C

The other equations are DCQCN's, with the frames that are really sent.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np

from penstock.quantity_text import bit_rate, duration
from penstock.theory.configuration import BITS_PER_OCTET, Configuration, UnsuitedScenarioError
from penstock.theory.models.base import Array, Value, Variable, namespace
from penstock.theory.models.dcqcn import Dcqcn


@dataclass(frozen=True)
class DcqcnWindow(Dcqcn):
    """DCQCN, and a window that follows the rate.

    Attributes:
        window_s: W, s.
        base_s: round-trip time without a queue, s.
    """

    window_s: Value
    base_s: Value

    scheme: ClassVar[str] = "dcqcn-window"
    source: ClassVar[str] = "Zhu et al., SIGCOMM 2015, section 5; Li et al., SIGCOMM 2019, section 5.1"
    omits: ClassVar[tuple[str, ...]] = (*Dcqcn.omits, "that a window is whole frames")
    variables: ClassVar[tuple[Variable, ...]] = (
        Dcqcn.variables[0],
        Variable("rate_bps", "rate of each flow's limiter, bit/s; the window may let less through"),
        *Dcqcn.variables[2:],
    )

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration whose windows leave room for the queue that marks need."""
        model = super()._of(configuration)
        limit = float(model.state_at_rest()[1])
        if limit > configuration.line_rate_bps:
            raise UnsuitedScenarioError(
                f"the marks of an equilibrium need limiters at {bit_rate(limit)}, above line rate: windows of "
                f"{duration(configuration.number('window_time'))} hold the queue below them",
                f"set window_time to {duration(configuration.round_trip_s)}, the round trip, or more",
            )
        return model

    @classmethod
    def _parameters(cls, configuration: Configuration) -> dict[str, Any]:
        return super()._parameters(configuration) | {
            "window_s": configuration.number("window_time"),
            "base_s": configuration.round_trip_s,
        }

    def sent_bps(self, state: Array) -> Array:
        """Return the rate at which a flow's frames arrive, bit/s."""
        trip = self.base_s + state[0] / self.drain_octets_per_s
        held = (state[1] * self.window_s + self._half_frame_bits) / trip
        return cast(Array, namespace(held).where(held.real < state[1].real, held, state[1]))

    def excess_octets_per_s(self, state: Array) -> Array:
        """Return (N min(r, (r W + h) / R) - C) / 8, in octets/s."""
        return (self.flows * self.sent_bps(state) - self.capacity_bps) * self.octets_per_bit

    def _limit_bps(self, p: Array) -> Value:
        fair = super()._limit_bps(p)
        trip = self.base_s + self._marking_octets(p) / self.drain_octets_per_s
        return np.maximum(fair, (fair * trip - self._half_frame_bits) / self.window_s)

    @property
    def _half_frame_bits(self) -> Value:
        return BITS_PER_OCTET * self.wire_octets / 2


MODELS = (DcqcnWindow,)
