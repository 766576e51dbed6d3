"""The outcome of a search for readings as the text of search.toml."""

from collections.abc import Mapping
from typing import Any

_HEAD = """\
# Written by `penstock reproduce {paper} --search`: readings fitted on one half of the figures, judged on the other.
# Numbers are claims that hold: of half 1, of half 2, and of the figures aside. `alone` has one change from the profile
# each, with {seeds} seeds a claim; all else has all seeds. `own` is the profile's reading at that time.
"""


def text(document: Mapping[str, Any]) -> str:
    """Return a search's document as TOML."""
    lines = [_HEAD.format(**document)]
    lines += [
        f"{key} = {_value(document[key])}" for key in ("paper", "readings", "tried", "refused", "seeds", "changed")
    ]
    lines += [f"half_{number} = {_value(half)}" for number, half in enumerate(document["halves"], 1)]
    lines += [f"{key} = {_value(document[key])}" for key in ("aside", "claims", "profile", "own")]
    for fit in document["fits"]:
        lines += ["", "[[fit]]", *(f"{key} = {_value(value)}" for key, value in fit.items())]
    lines += ["", "[alone]", f'"the profile" = {_value(document["start"])}']
    for entry in document["alone"]:
        holds = "refused" if entry["holds"] is None else entry["holds"]
        changed = f"{entry['choice']} = {entry['reading']}"
        lines.append(f"{_value(changed)} = {_value(holds)}")
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_value(key)} = {_value(inner)}" for key, inner in value.items())
        return f"{{ {inside} }}" if value else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(inner) for inner in value)}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(value)
