"""The keys that a sweep varies, and their values: lists, ranges and ranges by a factor, alone or several together."""

import json
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from penstock import _core
from penstock.toml_reader import PlacedError, nearest

Value = str | int | float | bool
"""A value of a key: a quantity as text, a number, a word, or a switch."""

MOST_VALUES = 10_000
"""Values of a key."""

_RANGE = ("from", "to", "points", "log")
_SUFFIXES = {"octets": "_octets", "s": "_s", "bit/s": "_bps"}
_TYPES = {"octets": "float", "s": "float", "bit/s": "float", "ratio": "float", "count": "int", "": "str"}


class SweepError(PlacedError):
    """A sweep that cannot be run.

    Attributes:
        file: the file; empty for a sweep that was not read from one.
        line: the line, counted from 1, where it is known.
        key: the key, as a dotted path.
        message: the error.
        hint: text to write instead.
    """


@dataclass(frozen=True)
class AxisLocation:
    """The line of an axis in its file; none by default."""

    file: Path | None = None
    line: int | None = None

    def error(self, key: str | None, message: str, hint: str) -> SweepError:
        """Return an error at a key there."""
        error = SweepError(self.file or Path(), key, message, hint, self.line)
        if self.file is None:
            error.file = ""
            error.args = (f"{key}: {message}" if key else message,)
        return error


NO_LOCATION: AxisLocation = AxisLocation()
"""The line of a value that is not read from a file."""


@dataclass(frozen=True)
class Key:
    """A key that is varied.

    Attributes:
        key: its dotted path in the scenario, such as ``topology.star.buffer``.
        unit: "octets", "s", "bit/s", "count", "ratio", or nothing for names and switches.
        values: its values, in their order, as a scenario has them.
    """

    key: str
    unit: str
    values: tuple[Value, ...]

    @property
    def type(self) -> str:
        """The type of its column: "float", "int" or "str"."""
        return _TYPES[self.unit]

    def number(self, value: Value) -> float | int | str:
        """Return a value as tables have it: a number in the unit, or a word."""
        if not self.unit:
            return json.dumps(value) if isinstance(value, bool) else str(value)
        if isinstance(value, str):
            return _core.read_quantity(value, self.unit)
        return float(value) if self.type == "float" else int(value)


@dataclass(frozen=True)
class Axis:
    """Keys that change together: the first value of each, then the second of each, and so on.

    Attributes:
        keys: one key or more, with equally many values.
        location: where it is written.
    """

    keys: tuple[Key, ...]
    location: AxisLocation

    def __len__(self) -> int:
        return len(self.keys[0].values)


def axis(values: Mapping[str, Any], location: AxisLocation) -> Axis:
    """Make an axis of keys, each with a list of values or a range.

    A range is a mapping with ``from``, ``to``, ``points``, and ``log = true`` where the values are spaced by a factor.
    Tables of tables are dotted paths.

    Raises:
        SweepError: a key has no values, a value twice, or a value that no key of a scenario has; a range is none; keys
            of one axis have different numbers of values.
    """
    flat = dict(_flat(values, ""))
    if not flat:
        raise location.error(
            None, "no key to vary", 'write, for instance, "topology.star.buffer" = ["60 KB", "150 KB"]'
        )
    keys = tuple(_key(key, given, location) for key, given in flat.items())
    first, *others = keys
    for other in others:
        if len(other.values) != len(first.values):
            raise location.error(
                other.key,
                f"has {len(other.values)} values, and {first.key} has {len(first.values)}: they change together",
                "give both as many values, or make an axis of each to run every combination",
            )
    return Axis(keys, location)


def typed(text: str) -> Axis:
    """Read an axis from a command line: ``KEY=A,B,C`` or ``KEY=A..B:POINTS[:log]``; ``;`` between keys of one axis.

    Raises:
        SweepError: it is not of that form, or as for :func:`axis`.
    """
    found: dict[str, Any] = {}
    for part in text.split(";"):
        key, equals, values = (word.strip() for word in part.partition("="))
        if not equals or not key:
            raise NO_LOCATION.error(
                text or None,
                "not of the form KEY=A,B,C or KEY=A..B:POINTS[:log]",
                "for instance topology.star.buffer='60 KB,150 KB', or flow.0.rate='1 Gbps..8 Gbps:4:log'",
            )
        if key in found:
            raise NO_LOCATION.error(key, "appears twice", "name each key once, with all of its values")
        found[key] = _typed_range(key, values) or [_scalar(value.strip()) for value in values.split(",") if value]
    return axis(found, NO_LOCATION)


def check_distinct(axes: Sequence[Axis]) -> None:
    """Refuse a key that two axes vary.

    Raises:
        SweepError: there is one.
    """
    seen: set[str] = set()
    for entry in axes:
        for key in entry.keys:
            if key.key in seen:
                raise entry.location.error(key.key, "is varied twice", "name each key once, with all of its values")
            seen.add(key.key)


def points(axes: Sequence[Axis]) -> Iterable[tuple[Value, ...]]:
    """Yield every combination of the axes' values, the last axis fastest: a value for each key, in their order."""
    for indices in product(*(range(len(entry)) for entry in axes)):
        yield tuple(key.values[at] for entry, at in zip(axes, indices, strict=True) for key in entry.keys)


def columns(keys: Sequence[Key], taken: Iterable[str]) -> list[str]:
    """Name the column of each key: the end of its path that no other key and no other column has, with its unit."""
    used = set(taken)
    names: list[str] = []
    lasts = [key.key.rpartition(".")[2] for key in keys]
    for key, last in zip(keys, lasts, strict=True):
        parts = [part.replace("-", "_") for part in key.key.split(".")]
        suffix = _SUFFIXES.get(key.unit, "")
        # The number of a table says nothing without the list that it counts, and a word that two keys end in little.
        longer = lasts.count(last) > 1 or (len(parts) > 1 and parts[-2].isdigit())
        ends = ["_".join(parts[start:]) for start in range(len(parts) - 1, -1, -1)][longer:]
        fit = [end.removesuffix(suffix) + suffix for end in ends if not end[0].isdigit()]
        fit = fit or ["_".join(parts) + suffix]
        fit += [f"set_{fit[-1]}", f"set_{len(names)}_{fit[-1]}"]
        names.append(next(name for name in fit if name not in used))
        used.add(names[-1])
    return names


def _flat(values: Mapping[str, Any], before: str) -> Iterable[tuple[str, Any]]:
    for key, value in values.items():
        path = f"{before}.{key}" if before else key
        if isinstance(value, Mapping) and not _is_range(value):
            yield from _flat(value, path)
        else:
            yield path, value


def _is_range(value: Mapping[str, Any]) -> bool:
    """Say whether a table is a range; `from` and `to` are keys of flows too, which have lists of values here."""
    return any(word in value and not isinstance(value[word], list | Mapping) for word in _RANGE)


def _key(key: str, given: Any, location: AxisLocation) -> Key:
    _check(key, (), location)
    if isinstance(given, Mapping):
        values = _spread(key, given, location)
    elif isinstance(given, str) or not isinstance(given, Iterable):
        raise location.error(key, f"{given!r} is not a list of values", f"write {key} = [A, B], or a range")
    else:
        values = tuple(given)
    if not values:
        raise location.error(key, "has no values", "write at least one")
    if len(values) > MOST_VALUES:
        raise location.error(key, f"has {len(values)} values", f"write at most {MOST_VALUES}")
    for value in values:
        _check(key, (value,), location)
        if values.count(value) > 1:
            raise location.error(key, f"has the value {value!r} twice", "write each once")
    return Key(key, _unit(values), values)


def key_of(key: str, values: tuple[Value, ...]) -> Key:
    """Return a key with these values, in the unit that all of them have.

    Raises:
        SweepError: it is ``seed`` or ``scheme``, or a value is none that a key can have.
    """
    _check(key, values, NO_LOCATION)
    return Key(key, _unit(values), values)


def _check(key: str, values: Sequence[Any], location: AxisLocation) -> None:
    if key == "seed":
        raise location.error(key, "seeds are not varied as a key is", "write seeds = N, or a list of seeds")
    if key == "scheme":
        raise location.error(key, "schemes are not varied as a key is", 'write schemes = ["A", "B"]')
    for value in values:
        if not isinstance(value, str | int | float | bool) or value in (math.inf, -math.inf) or value != value:
            raise location.error(
                key, f"{value!r} is not a value of a key", "write a quantity as text, a number, a name, true or false"
            )


def _unit(values: Sequence[Value]) -> str:
    """Return the unit of values; nothing for names, for switches, and where they have different units."""
    if any(isinstance(value, bool) for value in values):
        return ""
    if all(isinstance(value, int) for value in values):
        return "count"
    if all(isinstance(value, int | float) for value in values):
        return "ratio"
    for unit in _SUFFIXES:
        if all(isinstance(value, str) and _reads(value, unit) for value in values):
            return unit
    return ""


def _reads(text: str, unit: str) -> bool:
    try:
        _core.read_quantity(text, unit)
    except ValueError:
        return False
    return True


def _spread(key: str, given: Mapping[str, Any], location: AxisLocation) -> tuple[Value, ...]:
    """Return the values of a range."""
    for word in given:
        if word not in _RANGE:
            raise location.error(f"{key}.{word}", "unknown key of a range", nearest(word, _RANGE))
    for word in _RANGE[:3]:
        if word not in given:
            hint = f"write {key} = {{ from = A, to = B, points = N }}, and log = true for values spaced by a factor"
            raise location.error(f"{key}.{word}", "is missing", hint)
    log, count = given.get("log", False), given["points"]
    if not isinstance(log, bool):
        raise location.error(f"{key}.log", f"{log!r} is neither true nor false", "write log = true or leave it out")
    if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= MOST_VALUES:
        raise location.error(f"{key}.points", f"{count!r} is not a number of points", f"write 2 to {MOST_VALUES}")
    ends = (given["from"], given["to"])
    unit = _unit(ends)
    if not unit or any(isinstance(end, bool) for end in ends):
        raise location.error(
            key, f"from {ends[0]!r} to {ends[1]!r}: not two numbers in the same unit", "write both as the key has them"
        )
    low, high = (_core.read_quantity(end, unit) if isinstance(end, str) else float(end) for end in ends)
    if not -math.inf < low < high < math.inf or (log and low <= 0):
        raise location.error(
            key, f"from {ends[0]} to {ends[1]} is not a range", "go from a value to a larger one, from above 0 with log"
        )
    numbers = np.geomspace(low, high, count) if log else np.linspace(low, high, count)
    if unit == "count":
        values: list[Value] = [int(number) for number in np.unique(np.round(numbers))]
    elif unit == "ratio":
        # Twelve digits, so that 0.1, 0.2, 0.3 are called so.
        values = [float(f"{number:.12g}") for number in numbers]
    else:
        values = [_core.write_quantity(float(number), unit) for number in numbers]
    # The ends are as they are written.
    values[0], values[-1] = ends
    return tuple(dict.fromkeys(values))


def _typed_range(key: str, text: str) -> dict[str, Any] | None:
    """Return the range that ``A..B:POINTS[:log]`` stands for; nothing if the text is none, as ``h0..h3`` is none."""
    span, *options = (part.strip() for part in text.split(":"))
    low, dots, high = (part.strip() for part in span.partition(".."))
    ends = (_scalar(low), _scalar(high))
    if not dots or "," in text or not _unit(ends):
        return None
    counts = [option for option in options if option != "log"]
    if len(counts) != 1 or not counts[0].isdigit():
        raise NO_LOCATION.error(
            key, f"{text}: not of the form A..B:POINTS[:log]", "for instance '1 us..1 ms:5:log', for five values"
        )
    return {"from": ends[0], "to": ends[1], "points": int(counts[0][:9]), "log": "log" in options}


def _scalar(text: str) -> Value:
    """Return what a text of the command line stands for: a number or a switch, else itself."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return text
    return value if isinstance(value, str | int | float | bool) else text
