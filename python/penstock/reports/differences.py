"""Settings in which scenarios differ: the table of old and new values."""

import tomllib
from collections.abc import Mapping
from typing import Any

from penstock.reports.model import Table

_MOST_ROWS = 40
_NO_SETTINGS = ("name", "question", "seed")


def differences(scenarios: Mapping[str, str], head: str = "setting") -> Table:
    """Return a row for each key whose value differs, a column for each scenario.

    Parameters of a scheme that only some of them run are left out: the scheme itself differs.

    Args:
        scenarios: TOML texts by label, with every default written out, as :meth:`penstock.Scenario.resolved` does.
        head: the heading of the keys.
    """
    values = {label: _leaves(tomllib.loads(text)) for label, text in scenarios.items()}
    keys = dict.fromkeys(key for own in values.values() for key in own)
    differing = [
        key
        for key in keys
        if len({own.get(key) for own in values.values()}) > 1
        and key not in _NO_SETTINGS
        and all(any(other.startswith(_scheme(key)) for other in own) for own in values.values())
    ]
    more = len(differing) - _MOST_ROWS
    return Table(
        (head, *values),
        [(key, *(own.get(key) for own in values.values())) for key in differing[:_MOST_ROWS]],
        note=f"and {more} more keys" if more > 0 else "",
    )


def _scheme(key: str) -> str:
    """Return the beginning of all keys of a parameter's scheme; of other keys nothing, with which all begin."""
    table, _, rest = key.partition(".")
    return f"{table}.{rest.partition('.')[0]}." if table == "schemes" else ""


def _leaves(value: Any, path: str = "") -> dict[str, str]:
    """Return the text of each value below a table or list, by its dotted path."""
    if isinstance(value, dict):
        items: list[tuple[str, Any]] = list(value.items())
    elif isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        items = [(str(place), entry) for place, entry in enumerate(value)]
    else:
        return {path: ", ".join(map(str, value)) if isinstance(value, list) else _text(value)}
    found: dict[str, str] = {}
    for key, entry in items:
        found |= _leaves(entry, f"{path}.{key}" if path else key)
    return found


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
