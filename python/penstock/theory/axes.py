"""Axes of maps: from arguments, such as ``feedback_delay=0us..2ms:200``, to configurations along it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from penstock import _core
from penstock.catalogue import FIELDS, about, keys
from penstock.scenario import Scenario
from penstock.theory.configuration import Configuration, UnsuitedScenarioError, configuration
from penstock.theory.linear_stability import Array

_POINTS = 40
_MOST_POINTS = 2000
_MOST = 1_000_000

_UNITS = {
    "time": "s",
    "size": "octets",
    "size, or frames": "octets",
    "rate": "bit/s",
    "count": "count",
    "number": "ratio",
}
"""Units of an axis, by the names that the reference of scenario keys has."""


@dataclass(frozen=True)
class Axis:
    """One axis of a map.

    Attributes:
        key: as it was typed.
        name: a field of the configuration, a parameter of the scheme, or a key of the scenario.
        unit: "octets", "s", "bit/s", "count" or "ratio".
        values: the values along it, in ``unit``, shape (n,).
        log: whether they are spaced by a factor.
    """

    key: str
    name: str
    unit: str
    values: Array
    log: bool


def read(text: str | Mapping[str, Any], scheme: str) -> Axis:
    """Read ``KEY=A..B[:N][:log]``, or one key with its values.

    Both ends are written as in a scenario: with a unit (``33 KB``, ``10 us``, ``1 Gbps``), or without one where the key
    has none.

    Raises:
        UnsuitedScenarioError: it is not of that form, or there is no such key.
    """
    if isinstance(text, Mapping):
        return _of_values(text, scheme)
    key, equals, span = (part.strip() for part in text.partition("="))
    parts = span.split(":")
    first, dots, last = (part.strip() for part in parts[0].partition(".."))
    options = [option.strip() for option in parts[1:]]
    log = "log" in options
    counts = [option for option in options if option != "log"]
    if not equals or not dots or len(counts) > 1 or not all(count.isdigit() for count in counts):
        raise UnsuitedScenarioError(
            f"{text}: not of the form KEY=A..B[:N][:log]", "for instance flows=2..64:32 or feedback_delay=10us..1ms:log"
        )
    # A number of more digits than that is too large whatever it is.
    points = int(counts[0][:9]) if counts else _POINTS
    name, unit = meaning(key, scheme)
    low, high = quantity(first, unit), quantity(last, unit)
    if points > _MOST_POINTS:
        raise UnsuitedScenarioError(f"{text}: too many points along an axis", f"write {_MOST_POINTS} points or fewer")
    if unit == "count" and high > _MOST:
        raise UnsuitedScenarioError(f"{text}: a count is at most {_MOST}", "for instance flows=1..64")
    if not low < high:
        raise UnsuitedScenarioError(f"{text}: {last} is not above {first}", "write the smaller bound first")
    if points < 2 or low < 0 or (log and low == 0):
        raise UnsuitedScenarioError(
            f"{text}: from {first} to {last} in {points} steps is no axis",
            "write 2 points or more, from 0 or more, and from above 0 with log",
        )
    if name == "flows" and low < 1:
        raise UnsuitedScenarioError(
            f"{text}: with fewer than one flow there is nothing to control", "for instance flows=1..64"
        )
    values = np.geomspace(low, high, points) if log else np.linspace(low, high, points)
    if unit == "count":
        values = np.unique(np.round(values))
    return Axis(key, name, unit, values, log)


def _of_values(given: Mapping[str, Any], scheme: str) -> Axis:
    if len(given) != 1:
        raise UnsuitedScenarioError(f"an axis of {len(given)} keys", 'name one with its values: {"flows": [1, 2, 4]}')
    ((key, listed),) = given.items()
    name, unit = meaning(key, scheme)
    values = np.asarray(listed)
    if values.ndim != 1 or not np.issubdtype(values.dtype, np.number) or not np.isfinite(values).all():
        raise UnsuitedScenarioError(f"{key}: not a list of numbers", f"write them in {unit}, such as [1, 2, 4]")
    if not 2 <= len(values) <= _MOST_POINTS or values[0] < 0 or (np.diff(values) <= 0).any():
        raise UnsuitedScenarioError(
            f"{key}: values that do not rise", f"write 2 to {_MOST_POINTS} from 0 on, each once"
        )
    if unit == "count" and (values[-1] > _MOST or (values != np.round(values)).any()):
        raise UnsuitedScenarioError(f"{key}: a count is a whole number, at most {_MOST}", "for instance [1, 2, 4]")
    if name == "flows" and values[0] < 1:
        raise UnsuitedScenarioError(f"{key}: with fewer than one flow there is nothing to control", "begin at 1")
    log = bool(values[0] > 0 and len(values) > 2 and np.allclose(np.diff(np.log(values), 2), 0.0))
    return Axis(key, name, unit, values.astype(float), log)


def quantity(text: str, unit: str) -> float:
    """Read a quantity, and return it in ``unit``: "octets", "s", "bit/s", "count" or "ratio".

    Raises:
        UnsuitedScenarioError: the text is none in this unit.
    """
    try:
        return _core.read_quantity(text, unit)
    except ValueError as wrong:
        raise UnsuitedScenarioError(*wrong.args) from None


def written(value: float, unit: str) -> str | int | float:
    """Return a value in ``unit`` as a scenario has it: a text where there is a unit, else a number."""
    if unit == "count":
        return round(value)
    return float(value) if unit == "ratio" else _core.write_quantity(value, unit)


def apply(scenario: Scenario, base: Configuration, settings: Mapping[str, float]) -> Configuration:
    """The configuration of a scenario with fields, parameters, or keys of the scenario at other values.

    Args:
        scenario: is left as it is.
        base: its configuration.
        settings: values by :attr:`Axis.name`, in the axes' units.

    Raises:
        ScenarioError: a key of the scenario does not take the value.
        UnsuitedScenarioError: there is no such configuration.
    """
    changed = base
    planned = {name: value for name, value in settings.items() if name not in FIELDS and name not in base.parameters}
    if planned:
        copy = scenario.copy()
        for name, value in planned.items():
            copy.set(name, written(value, _unit_of_key(name)))
        changed = configuration(copy, scheme=base.scheme)
    for name, value in settings.items():
        if name not in planned:
            changed = _with(changed, name, value)
    return changed


def _with(base: Configuration, name: str, value: float) -> Configuration:
    if name == "round_trip_s":
        share = base.forward_delay_s / base.round_trip_s if base.round_trip_s > 0 else 0.0
        return replace(base, forward_delay_s=value * share, feedback_delay_s=value * (1 - share))
    if name == "capacity_bps":
        # The rates of others stay as they were.
        return replace(base, capacity_bps=value, link_bps=base.link_bps - base.capacity_bps + value)
    if name == "link_bps":
        return replace(base, capacity_bps=value - (base.link_bps - base.capacity_bps), link_bps=value)
    if name in FIELDS:
        changes: dict[str, Any] = {name: round(value) if name == "flows" else value}
        return replace(base, **changes)
    return replace(base, parameters={**base.parameters, name: value})


def meaning(key: str, scheme: str) -> tuple[str, str]:
    """Return what a key of an axis names, and its unit.

    Raises:
        UnsuitedScenarioError: it names no number.
    """
    parameters = about(scheme)["parameters"]
    units = {parameter["name"]: parameter["unit"] for parameter in parameters if parameter["minimum"] is not None}
    bare = key.removeprefix(f"schemes.{scheme}.")
    short = {name.removesuffix("_bps").removesuffix("_octets").removesuffix("_s"): name for name in FIELDS}
    if bare in units:
        return bare, units[bare]
    if key in FIELDS or key in short:
        name = short.get(key, key)
        return name, FIELDS[name]
    if key == "delay":
        return "round_trip_s", "s"
    if "." in key and not key.startswith("schemes."):
        return key, _unit_of_key(key)
    near = get_close_matches(bare, [*units, *short, *FIELDS, "delay"], n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}?" if near else f"`penstock schemes {scheme}` lists the parameters"
    raise UnsuitedScenarioError(
        f"{key} is neither a field of a configuration nor a number among {scheme}'s parameters", hint
    )


def _unit_of_key(key: str) -> str:
    """The unit of a key of the scenario, such as ``flow.0.rate``."""
    path = [part for part in key.split(".") if not part.isdigit()]
    for known in keys():
        if [*filter(None, known["section"].strip("[]").split(".")), known["key"]] == path:
            for kind in known["unit"].split(" | "):
                if kind in _UNITS:
                    return _UNITS[kind]
            raise UnsuitedScenarioError(f"{key} is not a number", f"it is {known['unit']}")
    raise UnsuitedScenarioError(f"{key} is not a key of a scenario", "`penstock schema` lists the keys")
