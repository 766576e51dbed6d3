"""The planar models of Jiang et al. 2015: two laws, the line where they meet, and the limits of queue and rate.

States are the paper's, x = q - q0 in frames and y = N r - C in frames/s (equation 16). Parameters are those of the
fluid models in :mod:`penstock.theory.models`, which have the parts that these leave out: delay, Active Increase, a
target rate that changes. These have a plane, with fields, lines and theorems. A switch that comes late is in
:mod:`phase`.

The rate laws of the paper, (15) and (25), are printed as time derivatives, but say what one message does. Both readings
are models here:

``printed``
    as printed: a message acts once a second. Figures 6 to 9 are of this kind, with other gains.
``sampled``
    as the algorithm acts: a source gets p r messages a second, so that Gd becomes Gd p r, alpha becomes alpha p r and
    beta becomes beta p r. And a cycle of Fast Recovery halves the distance to the target rate, which is ln 2/T, where
    the print has 1/(2T); the timer, where it is on, ends cycles too.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np

from penstock.theory import jiang2015, theorems
from penstock.theory.configuration import BITS_PER_OCTET, Configuration, UnsuitedScenarioError
from penstock.theory.models.base import FluidModel
from penstock.theory.models.qcn import Printed as QcnPrinted
from penstock.theory.models.qcn import Sampled as QcnModel
from penstock.theory.models.smcc import Smcc as SmccModel

Model = Literal["printed", "sampled"]
MODELS: tuple[Model, ...] = ("printed", "sampled")

_INFINITE = float("inf")


@dataclass(frozen=True)
class Limits:
    """Where queue and rates end.

    Attributes:
        low_frames: x of the empty queue, frames.
        high_frames: x of the full queue, frames.
        slowest_fps: y where all sources send at their least rate, frames/s.
        fastest_fps: y where all send at their line's, frames/s.
    """

    low_frames: float = -_INFINITE
    high_frames: float = _INFINITE
    slowest_fps: float = -_INFINITE
    fastest_fps: float = _INFINITE


class Plane(Protocol):
    """The parts of a model that a phase portrait needs."""

    @property
    def names(self) -> tuple[str, str]:
        """The names of the laws: where ``side`` is above 0, and where it is not."""

    @property
    def limits(self) -> Limits:
        """Limits of queue and rate."""

    def side(self, x: Any, y: Any) -> Any:
        """Return what is above 0 where the first law rules, and 0 on the switching line."""

    def gradient(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Return the derivatives of ``side`` by x and by y."""

    def motion(self, law: int, x: Any, y: Any) -> tuple[Any, Any]:
        """Return (x', y') in frames/s and frames/s² under law 0 or 1."""


class Switched(Plane, Protocol):
    """A plane whose switching lines are drawn."""

    @property
    def on_axes(self) -> bool:
        """Whether they are the axes, and the motion slides along all of y = 0: theorem 3."""


@dataclass(frozen=True)
class QcnPlane:
    """QCN without delay, equations (16) to (18).

    Attributes:
        capacity_fps: C, the rate that the link leaves to the sources, frames/s.
        weight_s: w/(pC), the weight of q' in Fb, s. All frames of the link are sampled, so that C is here the whole
            link's rate.
        gain: Gd of equation (17), 1/frame; in the model ``sampled`` Gd p C/N, per frame and second.
        cycle_s: T of equation (18), s; in the model ``sampled`` what makes 1/(2T) the rate of the recovery.
        excess_fps: N R(0) - C, frames/s.
        limits: of queue and rate.
        grows_with_rate: whether the messages that a source gets grow with its rate, as they do in ``sampled``; the
            gain then grows with (y + C)/C.
    """

    capacity_fps: float
    weight_s: float
    gain: float
    cycle_s: float
    excess_fps: float
    limits: Limits = Limits()
    grows_with_rate: bool = False
    names: tuple[str, str] = ("rate decrease", "Fast Recovery")

    scheme: ClassVar[str] = QcnModel.scheme
    theorem: ClassVar[int] = 2
    on_axes: ClassVar[bool] = False

    @classmethod
    def of(cls, given: Configuration, *, model: Model = "sampled", target_bps: float | None = None) -> Self:
        """Return the plane of a configuration.

        Args:
            given: its scheme is QCN.
            model: which reading of (15), see above.
            target_bps: R(0), the target rate of each source, bit/s; by default the line's, as after the first decrease.

        Raises:
            UnsuitedScenarioError: the scheme is not QCN, or samples more often the larger |Fb| is; or a target rate
                that is none.
        """
        fluid = QcnModel.of(given) if model == "sampled" else QcnPrinted.of(given)
        rate_bps = given.line_rate_bps if target_bps is None else target_bps
        if not 0 < rate_bps < math.inf:
            raise UnsuitedScenarioError(
                f"a target rate of {rate_bps:g} bit/s is not possible", "use a rate above 0, for instance 1e9"
            )
        per_frame_bits = BITS_PER_OCTET * float(fluid.wire_octets)
        probability, fair_fps = float(fluid.share_sampled), given.capacity_fps / given.flows
        cycle_s = float(fluid.byte_reset_octets) / given.frame_octets / fair_fps
        if isinstance(fluid, QcnPrinted):
            gain = float(fluid.gd_per_frame)
        else:
            gain = float(fluid.gain_per_octet) * given.frame_octets * probability * fair_fps
            cycles_per_s = 1 / cycle_s + (1 / given.number("rpg_time_reset") if given.parameters["timer_on"] else 0.0)
            cycle_s = 1 / (2 * math.log(2) * cycles_per_s)
        target_fps = rate_bps / per_frame_bits
        return cls(
            capacity_fps=given.capacity_fps,
            weight_s=float(fluid.w) * per_frame_bits / (probability * given.link_bps),
            gain=gain,
            cycle_s=cycle_s,
            excess_fps=given.flows * target_fps - given.capacity_fps,
            limits=_limits(fluid),
            grows_with_rate=model == "sampled",
        )

    def side(self, x: Any, y: Any) -> Any:
        """Return -Fb, frames: above 0 the rate decreases (equation 14)."""
        return theorems.line(x, y, self.weight_s)

    def gradient(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Return the derivatives of -Fb: 1, and w/(pC) in s."""
        return 1.0 + 0.0 * x, self.weight_s + 0.0 * y

    def motion(self, law: int, x: Any, y: Any) -> tuple[Any, Any]:
        """Return (x', y') of (17), law 0, or (18), law 1."""
        if law:
            return jiang2015.qcn_recovery(y, self.cycle_s, self.excess_fps)
        gain = self.gain * (y + self.capacity_fps) / self.capacity_fps if self.grows_with_rate else self.gain
        return jiang2015.qcn_decrease(x, y, self.weight_s, gain, self.capacity_fps)

    @property
    def stiffness(self) -> float:
        """Gd C of equation (19), 1/s²."""
        return self.gain * self.capacity_fps

    @property
    def slow_per_s(self) -> float:
        """How fast the slower of its motions goes, 1/s."""
        return 1 / (2 * self.cycle_s)


@dataclass(frozen=True)
class SmccPlane:
    """SMCC and its generalisations without delay, equations (26) and (27).

    Attributes:
        a1: gain of the offset in state A, 1/s².
        b2: gain of the growth in state B, 1/s.
        a2: gain of the growth in state A, 1/s; SMCC has 0.
        b1: gain of the offset in state B, 1/s²; SMCC has 0.
        limits: of queue and rate.
    """

    a1: float
    b2: float
    a2: float = 0.0
    b1: float = 0.0
    limits: Limits = Limits()
    names: tuple[str, str] = ("state A", "state B")

    scheme: ClassVar[str] = SmccModel.scheme
    theorem: ClassVar[int] = 3
    on_axes: ClassVar[bool] = True

    @classmethod
    def of(cls, given: Configuration, *, model: Model = "sampled", target_bps: float | None = None) -> Self:
        """Return the plane of a configuration; of two stages, with the larger alpha.

        By the paper, a1 = N alpha and b2 = N beta/(pC). Per second, with p C/N messages to each source, a1 = alpha p C
        and b2 = beta, both with C as the sources have it and p C of (13) as the whole link has it.

        Raises:
            UnsuitedScenarioError: the scheme is not SMCC, or a target rate is given: its sources have none.
        """
        fluid = SmccModel.of(given)
        if target_bps is not None:
            raise UnsuitedScenarioError(
                f"sources of {given.scheme} have no target rate", f"leave it out, or use {QcnPlane.scheme}"
            )
        # Frames/s for each frame of offset, and of growth.
        octets_per_bit = float(fluid.octets_per_bit)
        alpha, beta = float(fluid.alpha) * octets_per_bit, float(fluid.beta) * octets_per_bit
        probability = float(fluid.share_sampled)
        messages_per_s = probability * given.capacity_fps / given.flows if model == "sampled" else 1.0
        samples_per_s = probability * given.link_bps / (BITS_PER_OCTET * float(fluid.wire_octets))
        return cls(
            a1=given.flows * messages_per_s * alpha,
            b2=given.flows * messages_per_s * beta / samples_per_s,
            limits=_limits(fluid),
        )

    @property
    def stiffness(self) -> float:
        """a1 of equation (26), 1/s²."""
        return self.a1

    @property
    def slow_per_s(self) -> float:
        """b2 of equation (27), 1/s."""
        return self.b2

    def side(self, x: Any, y: Any) -> Any:
        """Return x y, frames²/s: above 0 is state A."""
        return x * y

    def gradient(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Return the derivatives of x y."""
        return y, x

    def motion(self, law: int, x: Any, y: Any) -> tuple[Any, Any]:
        """Return (x', y') of (26), law 0, or (27), law 1."""
        if law:
            return jiang2015.smcc_opposite_sign(x, y, self.b1, self.b2)
        return jiang2015.smcc_same_sign(x, y, self.a1, self.a2)


@dataclass(frozen=True)
class PairPlane:
    """The example of section 2.3: (5) where u + m v is above 0, and (10) where it is not.

    Attributes:
        slope: m of equation (11), s.
        damping: a of equation (5), 1/s.
        stiffness: b of equation (5), 1/s².
        push: g of equation (10), frames/s².
        drag: h of equation (10), 1/s.
    """

    slope: float
    damping: float
    stiffness: float
    push: float
    drag: float
    limits: Limits = Limits()
    names: tuple[str, str] = ("rate decrease", "rate increase")

    on_axes: ClassVar[bool] = False

    def side(self, x: Any, y: Any) -> Any:
        """Return u + m v."""
        return theorems.line(x, y, self.slope)

    def gradient(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Return the derivatives of u + m v."""
        return 1.0 + 0.0 * x, self.slope + 0.0 * y

    def motion(self, law: int, x: Any, y: Any) -> tuple[Any, Any]:
        """Return (u', v') of (5), law 0, or (10), law 1."""
        return (
            jiang2015.climber(y, self.push, self.drag)
            if law
            else jiang2015.oscillator(x, y, self.damping, self.stiffness)
        )


_PLANES: dict[str, type[QcnPlane] | type[SmccPlane]] = {plane.scheme: plane for plane in (QcnPlane, SmccPlane)}


def plane_of(
    given: Configuration, *, model: Model = "sampled", target_bps: float | None = None
) -> QcnPlane | SmccPlane:
    """Return the plane of a configuration.

    Args:
        given: the configuration.
        model: which reading of (15) and (25), see above.
        target_bps: R(0) of a scheme with target rates, bit/s, see :meth:`QcnPlane.of`.

    Raises:
        UnsuitedScenarioError: the scheme has no plane, or no target rates; or see :meth:`QcnPlane.of`.
    """
    if given.scheme not in _PLANES:
        known = " and ".join(_PLANES)
        raise UnsuitedScenarioError(
            f"there is no planar model of {given.scheme}", f"use one of {known} (Jiang et al. 2015)"
        )
    return _PLANES[given.scheme].of(given, model=model, target_bps=target_bps)


def round_s(plane: QcnPlane | SmccPlane) -> float:
    """Return a time in which the plane's motion goes round once, s."""
    turn = 2 * math.pi / math.sqrt(plane.stiffness) if plane.stiffness > 0 else 0.0
    return float(turn + (5 / plane.slow_per_s if plane.slow_per_s > 0 else 0.0))


def theorem_of(scheme: str) -> int | None:
    """Return the number of Jiang et al.'s theorem on the sliding of a scheme; None if there is none."""
    return _PLANES[scheme].theorem if scheme in _PLANES else None


def _limits(fluid: FluidModel) -> Limits:
    (empty, slowest), (full, fastest) = (side[:2] for side in fluid.limits())
    low, high = fluid.to_paper(np.array([empty, slowest])), fluid.to_paper(np.array([full, fastest]))
    return Limits(float(low[0]), float(high[0]), float(low[1]), float(high[1]))
