"""Keys of a scenario that each episode draws by its seed."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from penstock import _core
from penstock.errors import ArgumentError
from penstock.sweeps.axes import Value, key_of

Draw = Sequence[Value] | Mapping[str, Any]
"""Values of a key, of which each episode has one; or ``{"from": A, "to": B}``, with ``"log": True`` by factors."""


class Draws:
    """Keys, and how each is drawn.

    Args:
        draws: the keys, each with values or a range.

    Raises:
        ArgumentError: one is neither values nor a range.
    """

    def __init__(self, draws: Mapping[str, Draw] | None) -> None:
        self._draws = {key: _checked(key, draw) for key, draw in (draws or {}).items()}

    def settings(self, random: np.random.Generator) -> tuple[tuple[str, str], ...]:
        """Draw a value of each key, as text of a scenario."""
        return tuple((key, _drawn(own, random)) for key, own in self._draws.items())


def _checked(key: str, draw: Draw) -> Draw:
    hint = f'write {{"{key}": ["1 us", "2 us"]}}, or {{"{key}": {{"from": "1 us", "to": "9 us"}}}}'
    ends: tuple[Any, ...] = (draw.get("from"), draw.get("to")) if isinstance(draw, Mapping) else tuple(draw)
    if not ends or isinstance(draw, str) or None in ends:
        raise ArgumentError(f"draws: {key}: {draw!r} is neither a list of values nor a range", hint)
    own = key_of(key, ends)
    if isinstance(draw, Mapping):
        low, high = (own.number(end) for end in ends)
        if not own.unit or isinstance(low, str) or isinstance(high, str) or not 0 <= low < high:
            raise ArgumentError(f"draws: {key}: from {ends[0]!r} to {ends[1]!r} is not a range", hint)
        return {"low": low, "high": high, "unit": own.unit, "log": bool(draw.get("log", False)) and low > 0}
    return draw


def _drawn(draw: Draw, random: np.random.Generator) -> str:
    if not isinstance(draw, Mapping):
        value = draw[int(random.integers(len(draw)))]
        return value if isinstance(value, str) else json.dumps(value)
    low, high = draw["low"], draw["high"]
    number = float(np.exp(random.uniform(np.log(low), np.log(high)))) if draw["log"] else random.uniform(low, high)
    if draw["unit"] == "count":
        return str(round(number))
    return repr(number) if draw["unit"] == "ratio" else _core.write_quantity(number, draw["unit"])
