"""Writes the types of a summary, python/penstock/summary.py, from their declaration in Rust.

    python tools/generate_types.py

A test holds the file to the declaration, crates/sim/src/metrics.rs and crates/results/src/summary.rs.
"""

import json
import textwrap
from pathlib import Path
from typing import Any

from penstock import _core

ROOT = Path(__file__).resolve().parent.parent

FILE = ROOT / "python/penstock/summary.py"
HEAD = '''"""The types of a run's summary, as ``summary.json`` and ``penstock run --json`` hold it.

Counts cover the whole run; means, deviations, extremes, throughput and utilisation cover the time after the warm-up and
are time-weighted, not sampled.

Written by ``python tools/generate_types.py`` from the declaration in Rust: change that, not this file.
"""

from typing import NotRequired, TypedDict
'''
WIDTH = 120


def text() -> str:
    """The module."""
    return "\n\n".join([HEAD, *(typed(about) for about in json.loads(_core.objects()))])


def typed(about: dict[str, Any]) -> str:
    """The type of an object, each key with what it holds."""
    lines = [f"class {about['name']}(TypedDict):", *docstring(about["description"]), ""]
    for key in about["keys"]:
        unit = f", {key['unit']}" if key["unit"] and key["unit"] != "frames" else ""
        kind = f"NotRequired[{key['type']}]" if key["optional"] else key["type"]
        first, rest = sentence(key["description"])
        lines += [f"    {key['name']}: {kind}", *docstring(f"{first}{unit}.{rest}")]
    return "\n".join(lines) + "\n"


def sentence(description: str) -> tuple[str, str]:
    """The first sentence of a description, without its full stop, and the rest."""
    first, stop, rest = description.partition(". ")
    return (first, f" {rest}") if stop else (description.removesuffix("."), "")


def docstring(words: str) -> list[str]:
    """The lines of a docstring: in one line if they fit, else with the first sentence by itself."""
    words = words.replace("`", "``")
    whole = f'    """{words}"""'
    if len(whole) <= WIDTH:
        return [whole]
    first, stop, rest = words.partition(". ")
    lines = wrapped(f'"""{first}{stop.strip()}')
    return [*lines, *(["", *wrapped(rest)] if rest else []), '    """']


def wrapped(words: str) -> list[str]:
    """Words in indented lines."""
    lines = textwrap.wrap(words, WIDTH - 4, break_on_hyphens=False, break_long_words=False)
    return [f"    {line}" for line in lines]


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
