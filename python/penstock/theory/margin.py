"""How far a configuration is from the border of stability, and which parameter is nearest to crossing it.

For each mode of a model that holds beside its equilibrium the law is linearised. Then
:mod:`penstock.theory.linear_stability` gives exact margins. SMCC has no such mode: its report is the limit cycle.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from penstock.catalogue import about
from penstock.quantity_text import bit_rate
from penstock.theory.configuration import Configuration, UnsuitedScenarioError
from penstock.theory.limit_cycle import Cycle, Settled, harmonic_balance, settled
from penstock.theory.linear_stability import (
    Array,
    DelaySystem,
    loop_margins,
    margins,
    polynomials,
    rightmost_roots,
    stable_delays_s,
)
from penstock.theory.linearisation import beside, is_at_rest, linearise
from penstock.theory.models import model_of
from penstock.theory.models.base import FluidModel
from penstock.theory.models.dcqcn import Controlled, Dcqcn
from penstock.theory.models.smcc import Smcc
from penstock.theory.models.timely import Patched, Timely
from penstock.theory.pauses import Pauses, bind, pauses
from penstock.theory.smcc_growth import Growth, growth

_WIDEST = 1000.0
"""The largest factor by which a parameter is changed, up and down."""

_FINE = 120
"""Steps in a turn of DCQCN's time scale about k_max, where a delay decides the amplitude of the queue."""

_FACTORS = 49
_ZOOMS = 5
_ZOOM_POINTS = 17

FIELDS = ("flows", "capacity_bps", "round_trip_s", "frame_octets")
"""The parts of a configuration that are varied beside the scheme's parameters."""


@dataclass(frozen=True)
class Limit:
    """The value that one parameter alone would have to have.

    Attributes:
        parameter: a field of the configuration or a parameter of the scheme, in its unit.
        value: its present value.
        border: the nearest value at which stability changes.
        factor: border / value.
    """

    parameter: str
    value: float
    border: float
    factor: float


@dataclass(frozen=True)
class Side:
    """The linear theory of one mode beside the equilibrium.

    Attributes:
        mode: name of the mode.
        stable: whether all roots of the characteristic function have negative real parts.
        phase_rad: phase margin; negative if unstable.
        gain: the factor of the loop's gain, nearest to 1, at which stability changes; infinite if none.
        delay_s: delay margin, s; negative if unstable.
        crossing_rad_s: where the phase margin was found, rad/s.
        roots: rightmost roots of the characteristic function, rad/s.
        stable_delays_s: the intervals of the loop's delay in which it is stable, s: windows, where there are several.
        limits: parameters by how little they have to change, the limiting one first.
    """

    mode: str
    stable: bool
    phase_rad: float
    gain: float
    delay_s: float
    crossing_rad_s: float
    roots: tuple[complex, ...]
    stable_delays_s: tuple[tuple[float, float], ...]
    limits: tuple[Limit, ...]


@dataclass(frozen=True)
class LimitCycle:
    """The limit cycle of a model that cannot be linearised.

    Attributes:
        delay_s: the loop's delay.
        small: the delays at which oscillations within a frame grow.
        large: the delays at which large oscillations grow until buffer or rates bound them.
        describing: the cycle by harmonic balance.
        integrated: the cycle in which the integrated model ends.
        utilization: share of the capacity that the integrated model uses.
    """

    delay_s: float
    small: Growth
    large: Growth
    describing: Cycle
    integrated: Cycle
    utilization: float


@dataclass(frozen=True)
class Jump:
    """The motion of DCQCN where there is no equilibrium: below k_max marks are too few, above it all frames are marked.

    Attributes:
        mark: the probability of a mark that an equilibrium needs.
        p_max: how likely it is just below k_max.
        k_max_octets: where it jumps to 1, octets.
        delay_s: the loop's delay, with the wait in a queue of k_max.
        cycle: the cycle in which the integrated model ends; of less than a frame, it slides along k_max.
        mean_octets: mean length of the queue, octets.
        utilization: share of the capacity that is used.
    """

    mark: float
    p_max: float
    k_max_octets: float
    delay_s: float
    cycle: Cycle
    mean_octets: float
    utilization: float


@dataclass(frozen=True)
class Swing:
    """The motion of a model that has no margin in any configuration: its queue swings about a switching line.

    Attributes:
        reason: why there is no margin, with what a closed form says.
        cycle: the cycle in which the integrated model ends.
        mean_octets: mean length of the queue, octets.
        utilization: share of the capacity that is used.
    """

    reason: str
    cycle: Cycle
    mean_octets: float
    utilization: float


@dataclass(frozen=True)
class MarginReport:
    """The theory of a configuration's stability.

    Attributes:
        configuration: of what.
        model: name and source of the model.
        equilibrium: the value of each variable.
        sides: one for each mode beside it; none for SMCC.
        limit_cycle: that of SMCC; None for others.
        jump: the behaviour of DCQCN where an equilibrium needs more marks than p_max allows; None elsewhere.
        swing: the motion of a model that has no margin in any configuration; None for others.
        pauses: the motion under flow control whose thresholds lie below the equilibrium; None where they do not.
    """

    configuration: Configuration
    model: str
    equilibrium: Mapping[str, float]
    sides: tuple[Side, ...] = ()
    limit_cycle: LimitCycle | None = None
    jump: Jump | None = None
    swing: Swing | None = None
    pauses: Pauses | None = None
    omits: tuple[str, ...] = field(default=())

    @property
    def stable(self) -> bool:
        """Whether small oscillations die out on every side of the equilibrium; not so without a side."""
        return bool(self.sides) and all(side.stable for side in self.sides)

    def _repr_html_(self) -> str:
        from penstock.display import report_html

        return report_html(self)


def report(configuration: Configuration) -> MarginReport:
    """Stability of a configuration.

    Raises:
        UnsuitedScenarioError: its scheme has no model, or no equilibrium.
    """
    model = model_of(configuration)
    confined = why_confined(model)
    if confined is not None:
        raise UnsuitedScenarioError(*confined)
    rest = model.state_at_rest()
    by_name = {variable.name: float(value) for variable, value in zip(model.variables, rest, strict=True)}
    title = f"{model.scheme}, {model.form}: {model.source}"
    without = model.why_no_margin()
    if without is not None:
        return MarginReport(configuration, title, by_name, swing=swing(model, without), omits=model.omits)
    if bind(configuration, model):
        held = pauses(configuration, model)
        return MarginReport(configuration, title, by_name, pauses=held, omits=model.omits)
    if isinstance(model, Smcc):
        return MarginReport(configuration, title, by_name, limit_cycle=limit_cycle(model), omits=model.omits)
    modes = modes_beside(model)
    if isinstance(model, Dcqcn) and np.any(marks_jump(model)):
        return MarginReport(configuration, title, by_name, jump=jump(model), omits=model.omits)
    none_at = [mode for mode in modes if not is_at_rest(model, mode)]
    if none_at:
        raise UnsuitedScenarioError(
            *_why_restless(model, configuration, none_at[0] if len(none_at) < len(modes) else None)
        )
    sides = tuple(_side(configuration, model, mode) for mode in modes)
    return MarginReport(configuration, title, by_name, sides=sides, omits=model.omits)


def why_confined(model: FluidModel) -> tuple[str, str] | None:
    """Reason and hint if no rates that the sources may have fill the link and no more; None if some do."""
    flows, capacity, least, line = (
        float(value) for value in (model.flows, model.capacity_bps, model.min_rate_bps, model.line_rate_bps)
    )
    if flows * least >= capacity:
        return (
            f"all flows at their least rate of {bit_rate(least)} fill the link: the queue stays full, come what may",
            "use fewer flows, or a smaller least rate",
        )
    if flows * line <= capacity:
        return (
            f"all flows at line rate, {bit_rate(line)} each, do not exceed the capacity: the queue stays empty",
            "add flows, or make the bottleneck slower",
        )
    return None


def _why_restless(model: FluidModel, given: Configuration, beside: int | None) -> tuple[str, str]:
    """Reason and hint; ``beside`` is the mode next to an equilibrium that only another mode has."""
    if isinstance(model, Patched) and not model.comes_to_rest():
        trip, low, high = (1e6 * float(time) for time in (model.round_trip_at_rest_s(), model.t_low_s, model.t_high_s))
        return (
            f"the equilibrium needs round trips of {trip:.4g} us, and its law holds between {low:g} and {high:g} us",
            "move t_ref, or use fewer flows or a larger beta",
        )
    if isinstance(model, Timely) and not isinstance(model, Patched):
        return (
            "TIMELY by the gradient has no equilibrium: where the queue does not change rates rise, and any division "
            "of the link is as good as any other (Zhu et al. 2016)",
            'the patched law has one: schemes.timely.law = "patched"',
        )
    queue = float(model.state_at_rest()[0])
    if beside is not None:
        away = abs(queue - float(np.max(np.asarray(model.set_point_octets()))))
        return (
            f"the equilibrium is {away:.2g} octets from the switching line, and beyond that the mode "
            f"'{model.modes[beside]}' has none: every larger oscillation leaves the range of a linear law",
            "`penstock theory overlay` shows the limit cycle; a larger R_AI or shorter cycles move it off the line",
        )
    return (
        f"the equilibrium needs a queue of {queue:g} octets, and the buffer has {given.buffer_octets:g}",
        "use a larger buffer, or fewer flows",
    )


def restless(wide: FluidModel) -> list[str]:
    """For each of an array of models, why linear theory has no margin for it; "" where it has one."""
    beside_it = modes_beside_each(wide)
    at_rest = np.array(
        [np.broadcast_to(is_at_rest(wide, mode), beside_it[mode].shape) for mode in range(len(beside_it))]
    )
    some, every = np.any(beside_it & at_rest, axis=0), np.all(~beside_it | at_rest, axis=0)
    jumps = marks_jump(wide)
    words = np.select(
        [every, jumps, some],
        [
            "",
            "an equilibrium needs more marks than p_max allows: the queue oscillates about k_max, or slides along it "
            "(`penstock theory margin` has the amplitude)",
            "the equilibrium lies on a switching line, and beyond the line there is none",
        ],
        "the equilibrium needs a queue longer than the buffer, or shorter than zero",
    )
    return [str(word) for word in np.atleast_1d(words)]


def marks_jump(model: FluidModel) -> Array:
    """Whether an equilibrium of DCQCN needs more marks than p_max allows; shape of the configurations.

    A controller marks with any probability: it has no p_max, and no length from which on all frames are marked.
    """
    if not isinstance(model, Dcqcn) or isinstance(model, Controlled):
        return np.zeros(np.shape(model.state_at_rest()[0]), dtype=bool)
    return np.asarray(model.mark_at_rest() > model.p_max)


def modes_beside(model: FluidModel) -> tuple[int, ...]:
    """The modes that hold at the equilibrium or next to it: on either side of a switching line through it."""
    return tuple(mode for mode, here in enumerate(modes_beside_each(model)) if np.any(here))


def modes_beside_each(model: FluidModel) -> Array:
    """Whether each mode holds at or next to each equilibrium of an array of models: shape (modes, ...)."""
    delays = len(model.delays_s)
    found = [model.modes_at(state, (state,) * delays) for state in beside(model)]
    return np.array([np.any([modes == mode for modes in found], axis=0) for mode in range(len(model.modes))])


def limit_cycle(model: Smcc) -> LimitCycle:
    """The limit cycle of one configuration of SMCC."""
    delay = float(np.max(np.asarray(model.delay_s)))
    ends = settled(model)
    return LimitCycle(
        delay,
        growth(model, small=True),
        growth(model),
        harmonic_balance(model),
        _cycle(ends),
        float(ends.utilization[0]),
    )


def jump(model: Dcqcn) -> Jump:
    """The motion of one configuration of DCQCN about the threshold where marks jump."""
    ends = settled(model, turns=30, steps_per_turn=_FINE)
    return Jump(
        mark=float(model.mark_at_rest()),
        p_max=float(np.max(np.asarray(model.p_max))),
        k_max_octets=float(np.max(np.asarray(model.k_max_octets))),
        delay_s=float(np.max(np.asarray(model.delays_s[0]))),
        cycle=_cycle(ends),
        mean_octets=float(ends.mean_octets[0]),
        utilization=float(ends.utilization[0]),
    )


def swing(model: FluidModel, reason: str) -> Swing:
    """The motion of one configuration of a model without a margin."""
    ends = settled(model)
    return Swing(reason, _cycle(ends), float(ends.mean_octets[0]), float(ends.utilization[0]))


def cycle(model: FluidModel) -> Cycle:
    """The cycle in which one configuration ends, integrated from the simulator's start; of size 0 in equilibrium."""
    return _cycle(settled(model))


def _cycle(ends: Settled) -> Cycle:
    return Cycle(float(ends.amplitude_octets[0]), float(ends.period_s[0]))


def gain_margin(system: DelaySystem) -> float:
    """The factor nearest to 1 by which what is fed back has to grow or shrink for stability to change."""
    speed = float(np.linalg.norm(system.instant) + np.linalg.norm(system.delayed)) or 1.0
    p, q = polynomials(DelaySystem(system.instant / speed, system.delayed / speed, 0.0))
    tau = np.asarray(system.delay_s) * speed

    def stable(factors: Array) -> Array:
        wide = np.broadcast_to(p, (len(factors), len(p)))
        return loop_margins(wide, factors[:, None] * q, np.broadcast_to(tau, factors.shape)).stable.astype(float)

    return nearest_change(stable, 1 / _WIDEST, _WIDEST)


def nearest_change(stable: Callable[[Array], Array], least: float, most: float) -> float:
    """The factor nearest to 1, by its logarithm, at which ``stable`` changes.

    Args:
        stable: of factors of shape (m,), 1, 0, or NaN where that cannot be said.
        least: the least factor to look at, at most 1.
        most: the largest, at least 1.

    Returns:
        The factor, to a relative 1e-6; infinite if there is none.
    """
    found = [_change_towards(stable, bound) for bound in (least, most) if bound > 0 and abs(np.log(bound)) > 1e-9]
    return min(found, key=lambda factor: abs(np.log(factor)), default=np.inf)


def _change_towards(stable: Callable[[Array], Array], bound: float) -> float:
    low, high, points = 0.0, float(np.log(bound)), _FACTORS
    for _ in range(_ZOOMS):
        steps = np.linspace(low, high, points)
        values = stable(np.exp(steps))
        known = ~np.isnan(values)
        # Beyond a value of which nothing can be said nothing is sought.
        last = len(values) if known.all() else int(np.argmin(known))
        changes = np.nonzero(values[1:last] != values[: last - 1])[0]
        if len(changes) == 0:
            return np.inf
        low, high, points = float(steps[changes[0]]), float(steps[changes[0] + 1]), _ZOOM_POINTS
    return float(np.exp(high))


def vary(configuration: Configuration, parameter: str, factor: float) -> Configuration:
    """The configuration with one of :data:`FIELDS` or of the scheme's parameters multiplied by ``factor``."""
    if parameter == "round_trip_s":
        return replace(
            configuration,
            forward_delay_s=configuration.forward_delay_s * factor,
            feedback_delay_s=configuration.feedback_delay_s * factor,
        )
    if parameter == "capacity_bps":
        # The traffic of others stays.
        more = configuration.capacity_bps * (factor - 1)
        return replace(
            configuration, capacity_bps=configuration.capacity_bps + more, link_bps=configuration.link_bps + more
        )
    if parameter in FIELDS:
        # Between whole numbers of flows lies the border.
        changes: dict[str, Any] = {parameter: getattr(configuration, parameter) * factor}
        return replace(configuration, **changes)
    parameters = dict(configuration.parameters)
    parameters[parameter] = configuration.number(parameter) * factor
    return replace(configuration, parameters=parameters)


def stack_models(models: list[FluidModel]) -> FluidModel:
    """One model whose parameters are arrays, of models of the same kind."""
    first = models[0]
    changes: dict[str, Any] = {}
    for entry in fields(first):
        if not isinstance(getattr(first, entry.name), bool | str | Mapping):
            changes[entry.name] = np.array([getattr(model, entry.name) for model in models], dtype=float)
    return first.with_changes(**changes)


def _side(configuration: Configuration, model: FluidModel, mode: int) -> Side:
    system = linearise(model, mode)
    found = margins(system)
    return Side(
        mode=model.modes[mode],
        stable=bool(found.stable),
        phase_rad=float(found.phase_rad),
        gain=gain_margin(system),
        delay_s=float(found.delay_s),
        crossing_rad_s=float(found.crossing_rad_s),
        roots=tuple(complex(root) for root in rightmost_roots(system)),
        stable_delays_s=stable_delays_s(system),
        limits=_limits(configuration, mode),
    )


def _limits(configuration: Configuration, mode: int) -> tuple[Limit, ...]:
    known = about(configuration.scheme)
    ranges = {
        entry["name"]: (float(entry["minimum"]), float(entry["maximum"]))
        for entry in known["parameters"]
        if entry["minimum"] is not None and entry["maximum"] is not None and not isinstance(entry["default"], bool)
    }
    found = []
    for parameter in (*FIELDS, *ranges):
        value = float(getattr(configuration, parameter) if parameter in FIELDS else configuration.number(parameter))
        if value <= 0:
            continue
        least, most = ranges.get(parameter, (0.0, np.inf))

        def stable(factors: Array, parameter: str = parameter) -> Array:
            return _stability(configuration, mode, parameter, factors)

        factor = nearest_change(stable, min(1.0, max(1 / _WIDEST, least / value)), max(1.0, min(_WIDEST, most / value)))
        if np.isfinite(factor):
            found.append(Limit(parameter, value, value * factor, factor))
    return tuple(sorted(found, key=lambda limit: abs(np.log(limit.factor))))


def _stability(configuration: Configuration, mode: int, parameter: str, factors: Array) -> Array:
    """1 where stable, 0 where not, NaN where the model does not hold; for each factor."""
    models: list[FluidModel] = []
    built: list[int] = []
    for index, factor in enumerate(factors):
        try:
            models.append(model_of(vary(configuration, parameter, float(factor))))
            built.append(index)
        except UnsuitedScenarioError:
            continue
    values = np.full(len(factors), np.nan)
    if models:
        wide = stack_models(models)
        with np.errstate(all="ignore"):
            known = is_at_rest(wide, mode)
            values[built] = np.where(known, margins(linearise(wide, mode)).stable.astype(float), np.nan)
    return values
