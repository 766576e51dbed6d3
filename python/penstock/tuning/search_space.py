"""Which parameters are tuned, and between which bounds.

The scheme says what an operator sets, and where it has an effect: a parameter that its choices (like QCN's `sampling`)
leave without effect is not tuned. Bounds reach from an eighth of the scenario's and the standard's values to eight
times them, within the catalogue's range, the buffer and the line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, inf, log10

from penstock.catalogue import about
from penstock.declared import Condition, Parameter
from penstock.scenario import Scenario
from penstock.theory.axes import meaning, read, written
from penstock.theory.configuration import Configuration, UnsuitedScenarioError

_SPAN = 8.0
"""Factor of the bounds below and above the values that are known."""

_DIGITS = 3
"""Digits of a proposed value: few enough to read, and more than matter."""

_ROOM = 0.75
"""The largest share of the buffer that a set point takes: above it there has to be room for frames in flight."""


@dataclass(frozen=True)
class Knob:
    """A parameter that is tuned.

    Attributes:
        key: of the scenario, such as ``schemes.qcn.w``.
        name: of the scheme's parameter.
        unit: octets, bit/s, s, count or ratio; of the bounds.
        low: the least value.
        high: the largest value.
        also: parameters that follow it.
    """

    key: str
    name: str
    unit: str
    low: float
    high: float
    also: tuple[str, ...] = ()

    @property
    def log(self) -> bool:
        """Whether values are drawn by their logarithm."""
        return self.low > 0

    def snapped(self, value: float) -> float:
        """Return the nearest value that has three digits, is whole where it has to be, and within the bounds."""
        if value != 0:
            value = round(value, _DIGITS - 1 - floor(log10(abs(value))))
        if self.unit in ("octets", "bit/s", "count"):
            value = float(round(value))
        return min(max(value, self.low), self.high)

    def text(self, value: float) -> str | int | float:
        """Return a value as a scenario has it."""
        return written(value, self.unit)


Point = Mapping[str, float]
"""A value for each knob, by its name, in its unit."""


def knobs(own: Configuration, standard: Mapping[str, float | str | bool], keys: Sequence[str]) -> list[Knob]:
    """Return what is tuned.

    Args:
        own: the scenario's configuration.
        standard: the standard's parameters.
        keys: ``KEY`` or ``KEY=A..B``, such as ``schemes.qcn.w=1..8`` or ``w``; none for all that are usually tuned, and
            for all numbers of a scheme of a file.

    Raises:
        UnsuitedScenarioError: the scheme has nothing to tune, a key is none of its numbers, or its bounds are illegal.
    """
    known = about(own.scheme)
    numbers = {p["name"]: p for p in known["parameters"] if p["minimum"] is not None}
    if not numbers:
        raise UnsuitedScenarioError(
            f"{own.scheme} has nothing to tune", "name a scheme that has parameters: scheme=NAME"
        )
    if not keys:
        # A scheme of a file does not say which of them are usually tuned.
        usual = [numbers[group[0]] for group in known["tuned"]] or list(numbers.values())
        found = [_usual(own, p, standard) for p in usual if _idle(own, p) is None and own.number(p["name"]) > 0]
    else:
        found = [_asked(own, key, numbers, standard) for key in keys]
    for knob in found:
        if [other.name for other in found].count(knob.name) > 1:
            raise UnsuitedScenarioError(f"keys: {knob.name} is named twice", "name each once")
    return found


def _asked(
    own: Configuration, text: str, numbers: Mapping[str, Parameter], standard: Mapping[str, float | str | bool]
) -> Knob:
    key, equals, span = (part.strip() for part in text.partition("="))
    name, _ = meaning(key, own.scheme)
    if name not in numbers:
        raise UnsuitedScenarioError(
            f"{key} is not a parameter of {own.scheme}", f"`penstock schemes {own.scheme}` lists them"
        )
    parameter = numbers[name]
    idle = _idle(own, parameter)
    if idle is not None:
        other = idle["parameter"]
        raise UnsuitedScenarioError(
            f"{key} has no effect while {other} is {_word(own.parameters[other])}",
            f"set schemes.{own.scheme}.{other} to {_word(idle['values'][0])}, or leave {key} out of the keys",
        )
    if not equals:
        if own.number(name) <= 0:
            raise UnsuitedScenarioError(f"{key} is 0, from which no bounds follow", f"write them: {key}=A..B")
        return _usual(own, parameter, standard)
    try:
        axis = read(f"{key}={span.split(':')[0]}", own.scheme)
    except UnsuitedScenarioError as wrong:
        named = wrong.reason if wrong.reason.startswith(key) else f"{text}: {wrong.reason}"
        raise UnsuitedScenarioError(named, wrong.hint) from None
    low, high = float(axis.values[0]), float(axis.values[-1])
    least, most = _range(parameter)
    if low < least or high > most:
        raise UnsuitedScenarioError(
            f"{text}: {name} reaches from {parameter['written']['minimum']} to {parameter['written']['maximum']}",
            "write bounds within that",
        )
    return replace(_usual(own, parameter, standard), low=low, high=high)


def _range(parameter: Parameter) -> tuple[float, float]:
    """The least and the greatest value of a parameter that is a number: all that are tuned are."""
    least, most = parameter["minimum"], parameter["maximum"]
    return -inf if least is None else float(least), inf if most is None else float(most)


def _usual(own: Configuration, parameter: Parameter, standard: Mapping[str, float | str | bool]) -> Knob:
    """The knob of a parameter with the bounds that it has unless others are asked for."""
    name, unit = parameter["name"], parameter["unit"]
    known = [value for value in (own.number(name), float(standard[name])) if value > 0] or [1.0]
    least, most = _range(parameter)
    if parameter["queue_length"]:
        # A set point of less than a frame empties the queue at every sample.
        least, most = max(least, own.frame_octets), min(most, _ROOM * own.buffer_octets)
    elif unit == "bit/s":
        most = min(most, own.line_rate_bps)
    also = {group[0]: tuple(group[1:]) for group in about(own.scheme)["tuned"]}
    knob = Knob(f"schemes.{own.scheme}.{name}", name, unit, least, most, also.get(name, ()))
    low, high = (knob.snapped(value) for value in (min(known) / _SPAN, max(known) * _SPAN))
    return replace(knob, low=low, high=high)


def _idle(own: Configuration, parameter: Parameter) -> Condition | None:
    """The condition of a parameter that has no effect as its scheme is set; None for one that has."""
    when = parameter["when"]
    return when if when is not None and own.parameters[when["parameter"]] not in when["values"] else None


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def point_of(own: Configuration, tuned: Sequence[Knob]) -> dict[str, float]:
    """Return the scenario's own values."""
    return {knob.name: own.number(knob.name) for knob in tuned}


def moved(given: Configuration, tuned: Sequence[Knob], point: Point) -> Configuration:
    """Return a configuration with a point's values."""
    values = {name: point[knob.name] for knob in tuned for name in (knob.name, *knob.also)}
    return replace(given, parameters={**given.parameters, **values})


def set_to(scenario: Scenario, tuned: Sequence[Knob], point: Point) -> Scenario:
    """Return a copy of a scenario with a point's values."""
    copy = scenario.copy()
    for knob in tuned:
        table = knob.key.rpartition(".")[0]
        for name in (knob.name, *knob.also):
            copy.set(f"{table}.{name}", knob.text(point[knob.name]))
    return copy
