"""Does QCN slide (theorem 2)? Does SMCC (theorem 3)? Verdicts on a configuration, and along a simulated run.

Inequality (24) depends on a state, x0 and R(0). Of a configuration alone one can say how far it reaches. The largest x0
from which QCN slides grows in proportion to N R(0) - C, so that `reach_frames`, for target rates one per cent above the
fair share, says all of it. It is infinite where 2T <= w/(pC): then QCN slides from any x0 > 0 as long as N R(0) >= C.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from penstock.result import Result
from penstock.theory import theorems
from penstock.theory.configuration import BITS_PER_OCTET, Configuration, UnsuitedScenarioError
from penstock.theory.planar import Model, QcnPlane, SmccPlane, theorem_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Word = Literal["always", "near the target", "never"]

_ONE_PER_CENT = 0.01


@dataclass(frozen=True)
class Side:
    """An inequality with the numbers on both sides.

    Attributes:
        name: its name in the paper.
        left: the number on the left, in ``unit``.
        relation: ``<=``, ``<`` or ``>``.
        right: the number on the right, in ``unit``.
        unit: of both.
        holds: whether it holds.
    """

    name: str
    left: float
    relation: str
    right: float
    unit: str
    holds: bool


@dataclass(frozen=True)
class Verdict:
    """The verdict of theorem 2 or 3 on a configuration.

    Attributes:
        theorem: 2 or 3.
        model: which reading of the rate laws, see :mod:`penstock.theory.planar`.
        word: from where the scheme slides, without regard to a state.
        sides: the inequalities. Those of theorem 2 are at the state (x0, R(0)).
        slides: whether it slides from that state; theorem 3 has none, and says any.
        reach_frames: largest x0 from which it slides if target rates are one per cent above the fair share, frames.
        offset_frames: x0, frames; ``None`` with theorem 3.
        target_bps: R(0), bit/s; ``None`` with theorem 3.
        sample_s: time from one sample to the next, s; ``None`` with theorem 3.
        sample_frames: how far the queue moves in that time if target rates are one per cent above the fair share, and
            rates have reached them, frames. Where that is more than ``reach_frames``, the queue leaves the reach
            between two samples, and packets oscillate; ``None`` with theorem 3.
    """

    theorem: int
    model: Model
    word: Word
    sides: tuple[Side, ...]
    slides: bool
    reach_frames: float
    offset_frames: float | None = None
    target_bps: float | None = None
    sample_s: float | None = None
    sample_frames: float | None = None

    @property
    def outrun(self) -> bool:
        """Whether the queue leaves the reach between two samples: then packets oscillate where the theorem slides."""
        return self.sample_frames is not None and self.sample_frames > self.reach_frames


def verdict(
    given: Configuration,
    *,
    model: Model = "printed",
    offset_octets: float | None = None,
    target_bps: float | None = None,
) -> Verdict:
    """Return the verdict of theorem 2 (QCN) or 3 (SMCC) on a configuration.

    Args:
        given: the configuration.
        model: which reading of (15) and (25).
        offset_octets: x0 of theorem 2, octets; by default a quarter of the set point.
        target_bps: R(0) of theorem 2, of each source, bit/s; by default the line's rate, as after the first decrease.

    Raises:
        UnsuitedScenarioError: no such theorem on the scheme, an offset beyond the buffer, a target rate that is none,
            or either of them for theorem 3, which has neither.
    """
    theorem = theorem_of(given.scheme)
    if theorem is None:
        raise UnsuitedScenarioError(
            f"{given.scheme} has no theorem on sliding",
            f"theorem 2 is on {QcnPlane.scheme}, theorem 3 on {SmccPlane.scheme} (Jiang et al. 2015)",
        )
    if theorem == 3:
        for what, value in (("offset", offset_octets), ("target rate", target_bps)):
            if value is not None:
                raise UnsuitedScenarioError(
                    f"theorem 3, on {given.scheme}, has no {what}", f"leave it out, or take {QcnPlane.scheme}"
                )
        return _theorem_3(SmccPlane.of(given, model=model), model)
    target = given.number("q_eq")
    offset = target / 4 if offset_octets is None else offset_octets
    if not -target <= offset <= given.buffer_octets - target:
        raise UnsuitedScenarioError(
            f"an offset of {offset:g} octets is outside of the queue",
            f"use one from {-target:g} to {given.buffer_octets - target:g} octets beside q_eq",
        )
    rate = given.line_rate_bps if target_bps is None else target_bps
    plane = QcnPlane.of(given, model=model, target_bps=rate)
    return _theorem_2(plane, model, offset / given.frame_octets, rate, plane.weight_s / given.number("w"))


def _theorem_2(plane: QcnPlane, model: Model, offset_frames: float, target_bps: float, sample_s: float) -> Verdict:
    weight_s, cycle_s, excess_fps = plane.weight_s, plane.cycle_s, plane.excess_fps
    near, spiral, above = theorems.theorem_2(
        offset_frames, weight_s, cycle_s, excess_fps, plane.gain, plane.capacity_fps
    )
    left, right = (
        theorems.recovery_left(offset_frames, weight_s, cycle_s),
        theorems.recovery_right(weight_s, excess_fps),
    )
    sides = (
        Side("(24): (2T - w/(pC)) x0 <= (w/(pC))² (N R(0) - C)", left, "<=", right, "frames s", bool(near)),
        Side(
            "sqrt(Gd/(4C)) w/p < 1",
            theorems.spiral(plane.gain, plane.capacity_fps, weight_s),
            "<",
            1.0,
            "",
            bool(spiral),
        ),
        Side("x0 > 0", offset_frames, ">", 0.0, "frames", bool(above)),
        Side("for any x0: 2T <= w/(pC)", 2 * cycle_s, "<=", weight_s, "s", bool(2 * cycle_s <= weight_s)),
    )
    reach = theorems.recovery_right(weight_s, _ONE_PER_CENT * plane.capacity_fps)
    steepness = theorems.recovery_left(1.0, weight_s, cycle_s)
    return Verdict(
        theorem=2,
        model=model,
        word="always" if steepness <= 0 else "near the target",
        sides=sides,
        slides=bool(near and spiral and above),
        reach_frames=reach / steepness if steepness > 0 else float("inf"),
        offset_frames=offset_frames,
        target_bps=target_bps,
        sample_s=sample_s,
        sample_frames=_ONE_PER_CENT * plane.capacity_fps * sample_s,
    )


def _theorem_3(plane: SmccPlane, model: Model) -> Verdict:
    same, opposite = theorems.theorem_3(plane.a1, plane.b1)
    sides = (
        Side("(30): min a1 > 0", plane.a1, ">", 0.0, "1/s²", bool(same)),
        Side("(30): max b1 <= 0", plane.b1, "<=", 0.0, "1/s²", bool(opposite)),
    )
    holds = bool(same and opposite)
    return Verdict(3, model, "always" if holds else "never", sides, holds, float("inf") if holds else 0.0)


@dataclass(frozen=True)
class SlidingShare:
    """Theorem 2 along a simulated run of QCN.

    Attributes:
        above_share: part of the samples with x > 0.
        holds_share: part of the samples with x > 0 at which (24) holds, with the queue and the target rates of then;
            NaN where no sample is above the target.
        deviation_octets: standard deviation of the queue, octets: the amplitude of its oscillations.
        excess_share: median of (N R(0) - C)/C.
    """

    above_share: float
    holds_share: float
    deviation_octets: float
    excess_share: float


def along(result: Result, given: Configuration, *, model: Model = "printed", settle_s: float = 0.0) -> SlidingShare:
    """Return how often theorem 2 holds along a simulated run, over the time of a configuration.

    Args:
        result: a run of the scenario that the configuration is of; at least 1 ms between samples suits.
        given: the configuration: its scheme is QCN, and its queue is recorded.
        model: which reading of (15).
        settle_s: how much of the beginning to leave out, s.

    Raises:
        UnsuitedScenarioError: the scheme is not QCN, or no sample is left.
        PenstockError: the run did not record what this needs.
    """
    plane = QcnPlane.of(given, model=model)
    time_s = result.column("queues", "time_s")
    here = result.column("queues", "queue") == given.queue
    inside = here & (time_s > given.start_s + settle_s) & (time_s <= given.stop_s)
    if not inside.any():
        raise UnsuitedScenarioError(
            "the run has no sample after it has settled", "make the period longer, or sample more often"
        )
    octets = result.column("queues", "queue_octets")[inside].astype(float)
    offset = (octets - given.number("q_eq")) / given.frame_octets
    per_frame_bits = BITS_PER_OCTET * (given.frame_octets + given.wire_overhead_octets)
    targets = _targets_bps(result, time_s[inside], controlled(result, given)) / per_frame_bits
    excess = targets - plane.capacity_fps
    near = theorems.recovery_left(offset, plane.weight_s, plane.cycle_s) <= theorems.recovery_right(
        plane.weight_s, excess
    )
    above = offset > 0
    return SlidingShare(
        above_share=float(above.mean()),
        holds_share=float(near[above].mean()) if above.any() else float("nan"),
        deviation_octets=float(octets.std()),
        excess_share=float(np.median(excess / plane.capacity_fps)),
    )


def controlled(result: Result, given: Configuration) -> list[str]:
    """Return the names of the flows that the configuration counts: those that have a rate limiter."""
    names, rates = result.column("rates", "flow"), result.column("rates", "rp_target_rate_bps")
    limited = [name for name in dict.fromkeys(names.tolist()) if np.isfinite(rates[names == name].astype(float)).any()]
    if len(limited) != given.flows:
        raise UnsuitedScenarioError(
            f"the run has {len(limited)} limited flows and the configuration {given.flows}",
            "give a run of the scenario that the configuration is from",
        )
    return limited


def _targets_bps(result: Result, time_s: "NDArray[Any]", flows: Iterable[str]) -> "NDArray[np.float64]":
    """Return the sum of the flows' target rates at the given times, bit/s."""
    names, times = result.column("rates", "flow"), result.column("rates", "time_s")
    rates = result.column("rates", "rp_target_rate_bps")
    total = np.zeros(len(time_s))
    for flow in flows:
        own = names == flow
        at = np.searchsorted(times[own], time_s).clip(max=int(own.sum()) - 1)
        total += rates[own][at].astype(float)
    return total
