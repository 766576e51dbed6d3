"""The catalogue: the schemes with their parameters, and the keys of a scenario file."""

import json
from functools import cache
from pathlib import Path
from typing import Any, cast

from penstock import _core, library
from penstock.declared import Key, Scheme
from penstock.errors import ArgumentError, nearest

FIELDS = {
    "flows": "count",
    "capacity_bps": "bit/s",
    "link_bps": "bit/s",
    "frame_octets": "octets",
    "buffer_octets": "octets",
    "line_rate_bps": "bit/s",
    "forward_delay_s": "s",
    "feedback_delay_s": "s",
    "round_trip_s": "s",
}
"""Fields of a configuration of :mod:`penstock.theory` that the axis of a map may have, with their units.

``round_trip_s`` moves both delays.
"""


def scenarios() -> list[str]:
    """Return the names of all scenarios: those below ./scenarios, and those that come with Penstock.

    :meth:`Scenario.named` reads one.
    """
    return list(library.known())


def schemes() -> list[Scheme]:
    """Return every scheme, in the order of the registry."""
    return cast(list[Scheme], json.loads(_core.schemes()))


def scheme_names() -> list[str]:
    """Return the names of :func:`schemes`."""
    return list(_by_name())


def is_location(name: str) -> bool:
    """Return whether a text names a scheme by its location, such as ``./libmine.so`` or ``my.py:MyScheme``."""
    return any(mark in name for mark in "/.:\\")


def file_of(location: str) -> Path:
    """Return the file of a scheme's location: that of the library, or that of the class."""
    return Path(location.rpartition(".py:")[0] + ".py" if ".py:" in location else location)


def label_of(name: str) -> str:
    """Return the name that a scheme has in figures and folders: of a location, that of the class or the library."""
    return (
        name.replace("\\", "/").rpartition("/")[2].rpartition(":")[2].partition(".")[0] if is_location(name) else name
    )


def about(name: str) -> Scheme:
    """Return what is known of a scheme, by its name, or by its location if it is one of a file.

    Raises:
        ArgumentError: there is none of that name, or it cannot be loaded.
    """
    if name in _by_name():
        return _by_name()[name]
    found, message, hint = _core.scheme(name)
    if found is None:
        said = message if is_location(name) else f"{name}: {message}"
        raise ArgumentError(said, hint or nearest(name, _by_name(), f"the schemes are {', '.join(_by_name())}"))
    return cast(Scheme, json.loads(found))


@cache
def _by_name() -> dict[str, Scheme]:
    return {entry["name"]: entry for entry in schemes()}


def schema(section: str | None = None) -> dict[str, Any]:
    """Return the JSON schema of a scenario file, or of one section of it, for editors and other tools.

    A section is named as in :func:`keys`.

    Raises:
        ArgumentError: there is no such section.
    """
    part = cast(dict[str, Any], json.loads(_core.schema()))
    if section is None:
        return part
    sections = {key["section"] for key in keys(section)}
    path = sections.pop() if len(sections) == 1 else section
    for name in filter(None, path.strip("[]").split(".")):
        part = part["properties"][name]
        part = part.get("items", part)
    return part


_MEANT: dict[str, str] = {
    **dict.fromkeys(("pool", "pools", "shared", "shared_buffer", "memory", "mmu", "cells", "alpha"), "buffer"),
    **dict.fromkeys(("headroom", "pause", "priority_flow_control", "xoff", "xon", "lossless"), "pfc"),
    **dict.fromkeys(("transport", "transports", "tcp", "roce", "rdma"), "the key transport of flow, load and incast"),
    **dict.fromkeys(("traffic", "sources"), "flow, load, incast and trace"),
    **dict.fromkeys(("loads", "workload", "workloads"), "load"),
    **dict.fromkeys(("queues", "sampling", "samples", "recording"), "record"),
    **dict.fromkeys(("links", "switches", "routes", "routing", "ecmp", "ecn", "marking"), "network and topology"),
    **dict.fromkeys(("failure", "failures", "changes", "flap", "flapping"), "change"),
    **dict.fromkeys(("netem", "loss", "ber", "corruption", "errors", "impairments"), "impairment"),
    **dict.fromkeys(("cbfc", "credit"), "credits"),
    **dict.fromkeys(("llr", "retransmission", "replay"), "retry"),
    **dict.fromkeys(("storm", "events"), "event"),
    **dict.fromkeys(("parameters", "profiles", "profile"), "schemes; `penstock schemes NAME` lists those of one"),
    **dict.fromkeys(("nic", "nics", "interfaces", "receiver", "receivers"), "hosts and host"),
}
"""Words that are the name of no section, and the section that has the keys."""


def keys(section: str | None = None) -> list[Key]:
    """Return the documentation of every key of a scenario file, or of one section, such as ``topology.star``.

    The brackets of a section may be left out. Its last part alone names it as well (``star``), and its first part all
    of them (``topology``).

    Raises:
        ArgumentError: there is no such section.
    """
    known = cast(list[Key], json.loads(_core.reference()))
    if section is None:
        return known
    names = {key["section"]: key["section"].strip("[]") or "scenario" for key in known}
    word = section.strip("[]")
    chosen = [full for full, name in names.items() if name == word]
    chosen = chosen or [full for full, name in names.items() if name.rpartition(".")[2] == word]
    chosen = chosen or [full for full, name in names.items() if name.startswith(f"{word}.")]
    meant = _MEANT.get(word.lower().replace("-", "_"))
    if not chosen and meant is not None:
        raise ArgumentError(f"{section}: unknown section of a scenario file", f"it is in {meant}")
    if not chosen:
        hint = nearest(word, names.values(), f"the sections are {', '.join(names.values())}")
        raise ArgumentError(f"{section}: unknown section of a scenario file", hint)
    return [key for key in known if key["section"] in chosen]
