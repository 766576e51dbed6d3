"""The page with every key of a scenario by its whole name, which is what a reader looks for."""

from collections.abc import Iterable, Mapping
from typing import Any

from scheme_names import code, table


def all_keys(reference: Iterable[Mapping[str, Any]]) -> str:
    """Return the page: a part for each section, a row for each key with its whole name, as `--set` takes it."""
    sections: dict[str, list[Mapping[str, Any]]] = {}
    for key in reference:
        sections.setdefault(key["section"], []).append(key)
    parts = [
        "# Every key",
        "Keys as `--set` takes them. [Scenario files](scenario.md) and the page of each scheme say more.",
    ]
    for written, keys in sections.items():
        # A list of tables is written [flow]; its keys are called flow.0.rate, or by the name of a table.
        section = written.replace("[", "").replace("]", "")
        parts.append(f"## {section or 'At the top'}")
        parts.append(
            table(
                ["Key", "Value", "Default", "Meaning"],
                (
                    [
                        code(f"{section}.{key['key']}" if section else key["key"]),
                        key["unit"],
                        default(key),
                        key["description"],
                    ]
                    for key in keys
                ),
            )
        )
    # Who types a whole name wants this page first.
    return "---\nsearch:\n  boost: 5\n---\n\n" + "\n\n".join(parts) + "\n"


def default(key: Mapping[str, Any]) -> str:
    """Return a default as a cell of a table."""
    return "*required*" if key["required"] else code(key["default"])
