"""A scenario to start from: it runs as it is, and explains each key with the text of the reference."""

import textwrap
from itertools import groupby

from penstock.catalogue import keys, scheme_names
from penstock.declared import Key
from penstock.errors import ArgumentError, nearest

_WIDTH = 100

_VALUES = {
    "question": '"What do four senders do to one port?"',
    "duration": '"100 ms"',
    "from": '"h0..h3"',
    "to": '"h4"',
    "hosts": "5",
    "switches": "3",
    "hosts_per_switch": "2",
    "leaves": "2",
    "spines": "2",
    "fabric_rate": '"40 Gbps"',
    "groups": "5",
    "switches_per_group": "2",
    "global_links": "2",
}
"""Values of the keys that a scenario must have, where those by their kind do not fit."""

_VALUES_BY_KIND = {
    "count": "4",
    "rate": '"10 Gbps"',
    "time": '"1 us"',
    "time | length": '"1 us"',
    "size, or frames": '"150 KB"',
}

TOPOLOGIES = tuple(
    dict.fromkeys(name for key in keys() if (name := key["section"].removeprefix("topology.")) != key["section"])
)[:-1]
"""The topologies that can be chosen: all but the last, the graph, whose nodes have names."""

_OTHERS = (
    *("load", "incast", "burst", "pfc", "switch", "buffer", "wred", "change", "impairment", "credits", "retry"),
    *("collective", "job", "host", "event", "window", "group", "priority", "network", "hosts"),
)
"""Sections that a scenario can do without: they are named alone."""


def template(scheme: str, topology: str) -> str:
    """Return the text of a scenario with this scheme on this topology, one of :data:`TOPOLOGIES`.

    Raises:
        ArgumentError: there is no such scheme, or no such topology.
    """
    known = scheme_names()
    if scheme not in known:
        hint = nearest(scheme, known, f"the schemes are {', '.join(known)}", cutoff=0.3)
        raise ArgumentError(f'scheme="{scheme}": unknown scheme', hint)
    if topology not in TOPOLOGIES:
        message = f'topology="{topology}": unknown topology'
        raise ArgumentError(message, f"start from one of {', '.join(TOPOLOGIES)}")
    values = _VALUES | {"scheme": f'"{scheme}"'}
    sections = {section: list(group) for section, group in groupby(keys(), key=lambda key: key["section"])}
    parts = [
        _comment(
            "A scenario: a network, its traffic, and the scheme that controls it. The text behind # is the default, "
            "or an example; take the # away to set it. `penstock schema SECTION` explains the keys of a section."
        ),
        _keys(sections[""], values),
    ]
    settings = sections.get(f"schemes.{scheme}", [])
    if settings:
        profiles = [key for key in settings if key["key"] == "profile"]
        said = f"{settings[0]['section_description']}. `penstock schemes {scheme}` says what its parameters do."
        lines = _keys(profiles, values) + _settings([key for key in settings if key not in profiles])
        parts.append(f"{_comment(said)}\n[schemes.{scheme}]\n{lines}")
    parts += [_section(sections, f"topology.{topology}", values), _section(sections, "[flow]", values)]
    parts.append(_section(sections, "record", values))
    others = [
        (name, sections.get(name) or sections[f"[{name}]"])
        for name in _OTHERS
        if name in sections or f"[{name}]" in sections
    ]
    parts.append(_comment("There is more that a scenario may have:"))
    for _, entries in others:
        head = f"[{entries[0]['section']}]"
        parts[-1] += f"\n{_comment(f'{head}: ' + entries[0]['section_description'])}"
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _section(sections: dict[str, list[Key]], name: str, values: dict[str, str]) -> str:
    entries = sections[name]
    return f"{_comment(entries[0]['section_description'])}\n[{name}]\n{_keys(entries, values)}"


def _keys(entries: list[Key], values: dict[str, str]) -> str:
    """Write keys, each below its meaning; those that nobody needs are comments."""
    lines = []
    for key in entries:
        value = values.get(key["key"], _VALUES_BY_KIND.get(key["unit"]))
        if value is not None and (key["required"] or key["key"] in ("link_delay", "buffer")):
            line = f"{key['key']} = {value}"
        else:
            line = _optional(key)
        lines.append(f"{_comment(key['description'])}\n{line}")
    return "\n".join(lines) + "\n"


def _settings(entries: list[Key]) -> str:
    """Write parameters of a scheme as comments, in a line each."""
    return "".join(f"{_optional(key)}\n" for key in entries)


def _optional(key: Key) -> str:
    # A default is TOML, or says what a lack means.
    if key["default"] is None or not _is_value(key["default"]):
        words = "" if key["default"] is None else f"; without it: {key['default']}"
        line = f"# {key['key']} = …  ({key['unit']}{words})"
        return line if len(line) <= _WIDTH else f"# {key['key']} = …{f'  ({words[2:]})' if words else ''}"
    return f"# {key['key']} = {key['default']}"


def _is_value(default: str) -> bool:
    return default[:1] in '"-0123456789[{' or default in ("true", "false")


def _comment(text: str) -> str:
    # Words such as link names are not broken.
    return textwrap.fill(
        text, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_long_words=False, break_on_hyphens=False
    )
