"""NSCC as a fluid: windows that marks and delay together steer to a target of queueing delay.

uet-htsim, ``uec.cpp``; Bonato et al., arXiv 2404.01630. With w the window in octets, d the delay in the queue of a
round trip ago, m its mean over acknowledgements, t the target, T the network's round trip and T0 the path's own:

    q' = N w / R - C,                            R = T0 + q / C
    w' = eta / T + (1 - p) alpha (t - d) / R     d < t,  p the share of marked frames
    w' = eta / T - gamma w (m - t) / (m T0)      d >= t, all are marked
    m' = v w / (P R) (d - m)

At rest every frame is late and marked, and the decrease takes the one step eta that each round trip adds:
m = t / (1 - x), x = eta T0 / (gamma w T). The rest is a little above the target, and marks have to be certain there.
Frames that are in time and marked change nothing, so that eta alone brings the queue back. The two laws meet at the
target with slopes that differ by far: the queue swings, and how far the integrated cycle says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from penstock.theory.configuration import BITS_PER_OCTET, Configuration, UnsuitedScenarioError
from penstock.theory.models.base import ALIKE, QUEUE, RATE, Array, Flags, Value, Variable, common, namespace, stack
from penstock.theory.models.delays import EndToEnd

# `REFERENCE_BDP` and the reference round trip of `crates/schemes/src/nscc/mod.rs`.
_REFERENCE_OCTETS = 150_000.0
_REFERENCE_S = 12e-6
_LARGEST = 0.5
"""The largest share of a window that a decrease takes."""


@dataclass(frozen=True)
class Nscc(EndToEnd):
    """NSCC without trimmed frames.

    Attributes:
        target_s: t, s.
        gamma: factor of a decrease.
        weight: v, weight of an acknowledgement in the mean delay.
        alpha_octets_per_s: alpha, octets a second.
        eta_octets: eta.
        network_s: T, s.
        k_min_octets: queue up to which nothing is marked.
        k_max_octets: queue from which on all is marked.
    """

    target_s: Value
    gamma: Value
    weight: Value
    alpha_octets_per_s: Value
    eta_octets: Value
    network_s: Value
    k_min_octets: Value
    k_max_octets: Value

    scheme: ClassVar[str] = "nscc"
    form: ClassVar[str] = "published"
    source: ClassVar[str] = "uet-htsim, uec.cpp; Bonato et al., arXiv 2404.01630 (SMaRTT)"
    per: ClassVar[str] = "per second: the effect of a round trip, spread over it"
    omits: ClassVar[tuple[str, ...]] = (
        "quick adapt, fast increase, fair increase, the largest window: they begin and end congestion",
        "cuts once a round trip, and increases once in eight frames: they are spread",
        "medians of delays",
        "that the wait of a frame in the queue changes: it is that at rest, and part of the delay",
        ALIKE,
    )
    variables: ClassVar[tuple[Variable, ...]] = (
        QUEUE,
        RATE,
        Variable("mean_delay_s", "mean delay in the queue, s"),
    )
    modes: ClassVar[tuple[str, ...]] = ("in time", "late")
    lines: ClassVar[tuple[str, ...]] = ("delay less its target",)
    linear: ClassVar[bool] = False
    predicts_runs: ClassVar[bool] = False

    @classmethod
    def _of(cls, configuration: Configuration) -> Self:
        """Return the model of a configuration of NSCC."""
        number, word = configuration.number, configuration.parameters
        network, packet = number("network_rtt"), number("packet")
        target = number("target_qdelay") or network * (0.75 if word["trimming"] else 1.0)
        a = network * configuration.line_rate_bps / BITS_PER_OCTET / _REFERENCE_OCTETS
        model = cls(
            **common(configuration, min(packet * BITS_PER_OCTET / network, configuration.fair_rate_bps / 2)),
            segment_octets=packet,
            base_s=configuration.round_trip_s,
            waits=True,
            target_s=target,
            gamma=number("gamma"),
            weight=number("delay_alpha"),
            alpha_octets_per_s=number("alpha_frames") * packet * a / _REFERENCE_S,
            eta_octets=number("eta_frames") * packet * a,
            network_s=network,
            k_min_octets=number("k_min"),
            k_max_octets=number("k_max"),
        )
        rest = float(model.state_at_rest()[0])
        if word["marking"] != "threshold" or not number("k_max") <= rest:
            raise UnsuitedScenarioError(
                f"at rest the queue has {rest:.3g} octets, and there every frame has to be marked",
                f"set marking to threshold, and k_max to {rest:.3g} octets at the most",
            )
        return model

    @property
    def delays_s(self) -> tuple[Value, ...]:
        """How long ago the frame joined the queue whose delay a source sees now, s."""
        wait = self.set_point_octets() / self.drain_octets_per_s if self.waits else 0.0
        return (self.delay_s + wait,)

    def law(self, mode: int, state: Array, past: Sequence[Array]) -> Array:
        """Return growth or decrease; the delay is that of ``past``."""
        xp = namespace(state)
        trip, mean = self.round_trip_s(state[0]), state[2]
        sent = state[1] * self.octets_per_bit
        seen = past[0][0] / self.drain_octets_per_s
        change = self.eta_octets / self.network_s
        if mode == 0:
            marked = xp.clip((past[0][0] - self.k_min_octets) / (self.k_max_octets - self.k_min_octets), 0.0, 1.0)
            change = change + (1 - marked) * self.alpha_octets_per_s * (self.target_s - seen) / trip
        else:
            lost = xp.where(mean.real > self.target_s, self.gamma * (1 - self.target_s / mean), 0.0)
            change = change - xp.where(lost.real < _LARGEST, lost, _LARGEST) * sent * trip / self.base_s
        longer = self.growth_octets_per_s(state) / self.drain_octets_per_s
        rate = (change / self.octets_per_bit - state[1] * longer) / trip
        follows = self.weight * sent / self.segment_octets * (seen - mean)
        return cast(Array, xp.stack([self.excess_octets_per_s(state), rate, follows]))

    def switches(self, state: Array, past: Sequence[Array]) -> Array:
        """Return the delay less its target, s."""
        return cast(Array, (past[0][0] / self.drain_octets_per_s - self.target_s)[None])

    def mode_of(self, positive: Flags) -> NDArray[np.int_]:
        """Return whether frames are late."""
        return np.asarray(positive[0]).astype(int)

    def state_at_rest(self) -> Array:
        """Return where a decrease takes what a round trip adds: a little above the target."""
        fair, delay = self.capacity_bps / self.flows, np.asarray(self.target_s, dtype=float)
        for _ in range(40):
            window = fair * self.octets_per_bit * (self.base_s + delay)
            lost = self.eta_octets * self.base_s / (self.gamma * window * self.network_s)
            delay = self.target_s / np.maximum(1 - lost, 1e-3)
        return stack(delay * self.drain_octets_per_s, fair, delay)

    def why_no_margin(self) -> str:
        """Return how near the equilibrium is to the line where the law changes."""
        rest = float(np.asarray(self.state_at_rest()[0]))
        above = rest - float(np.asarray(self.target_s * self.drain_octets_per_s))
        return (
            f"the equilibrium, a queue of {rest:.4g} octets, is {above:.3g} octets above the target of delay, where "
            "another law begins: every oscillation of frames crosses that line, and there is no margin"
        )

    def start(self) -> Array:
        """Return an empty queue, sources at line rate, and no delay."""
        return stack(0.0, self.line_rate_bps, 0.0)

    def set_point_octets(self) -> Value:
        """Return the queue at rest, octets."""
        return cast(Value, self.state_at_rest()[0])

    def _limits(self) -> tuple[list[Value], list[Value]]:
        low, high = super()._limits()
        # A mean of zero would make the share of a decrease infinite.
        return [*low[:2], 1e-9], high

    def _scale_s(self) -> Value:
        return self.base_s + self.set_point_octets() / self.drain_octets_per_s


MODELS = (Nscc,)
