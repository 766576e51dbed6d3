"""Shell completions: scenarios, schemes, profiles, keys, queues, columns.

The shell asks at each press of a key, so that the engine alone is imported here, and neither NumPy nor matplotlib. A
word that cannot be completed is no error: the scenario's run will tell all its faults.
"""

import json
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any

import typer

Words = list[tuple[str, str]]
"""Completions, each with its description for the shell."""


def _quietly(complete: Callable[..., Words]) -> Callable[..., Words]:
    """On error, offer no completions."""

    @wraps(complete)
    def completing(*args: Any, **kwargs: Any) -> Words:
        try:
            return complete(*args, **kwargs)
        except Exception:
            return []

    return completing


@_quietly
def scenario(incomplete: str) -> Words:
    """Complete the name of a scenario, or a file."""
    from penstock.library import known

    return _beginning(incomplete, [(name, "") for name in known()]) + _files(incomplete, ".toml")


@_quietly
def toml_file(incomplete: str) -> Words:
    """Complete a TOML file."""
    return _files(incomplete, ".toml")


@_quietly
def arena(incomplete: str) -> Words:
    """Complete an arena of Penstock, or a TOML file."""
    from penstock.arenas.arena_file import OWN

    return [*_beginning(incomplete, [(name, "") for name in OWN]), *_files(incomplete, ".toml")]


@_quietly
def folder(incomplete: str) -> Words:
    """Complete a folder of results."""
    return _files(incomplete, None)


@_quietly
def scheme(incomplete: str) -> Words:
    """Complete a scheme."""
    return _beginning(incomplete, _schemes())


_DEVICES = [
    ("sonic", "config_db.json"),
    ("nvue", "Cumulus Linux, nv set"),
    ("eos", "Arista"),
    ("nxos", "Cisco Nexus"),
    ("junos", "Juniper, set"),
    ("mlnx_qos", "ConnectX"),
    ("dcb", "iproute2"),
]


@_quietly
def formats(incomplete: str) -> Words:
    """Complete a simulator or a device for which files can be written."""
    simulators = [("hpcc", "topology, flows, completions"), ("htsim", ".topo and .cm")]
    return _beginning(incomplete, [*simulators, *_DEVICES])


@_quietly
def device_formats(incomplete: str) -> Words:
    """Complete the format of a device's configuration."""
    return _beginning(incomplete, _DEVICES)


@_quietly
def schemes(incomplete: str) -> Words:
    """Complete the last of a list of schemes, separated by commas."""
    before, comma, last = incomplete.rpartition(",")
    words = [(name, title) for name, title in _schemes() if name not in before.split(",")]
    return [(f"{before}{comma}{name}", title) for name, title in _beginning(last, words)]


@_quietly
def profile(ctx: typer.Context, incomplete: str) -> Words:
    """Complete a profile of the scheme that is named, or the scenario's; otherwise of any."""
    from penstock.catalogue import schemes as every

    chosen = _chosen_schemes(ctx)
    words = [
        (entry["name"], entry["description"])
        for about in every()
        if not chosen or about["name"] in chosen
        for entry in about["profiles"]
    ]
    return _beginning(incomplete, list(dict(words).items()))


@_quietly
def key(ctx: typer.Context, incomplete: str) -> Words:
    """Complete the key of ``KEY=VALUE``, and the value where it is one of a few names."""
    from penstock.catalogue import keys

    chosen = _chosen_schemes(ctx)
    words: Words = []
    for entry in keys():
        section = entry["section"].strip("[]")
        if section.startswith("schemes.") and chosen and section.removeprefix("schemes.") not in chosen:
            continue
        # The tables of a list are counted.
        place = f"{section}.0" if entry["section"].startswith("[") else section
        path = f"{place}.{entry['key']}" if place else entry["key"]
        if incomplete.startswith(f"{path}="):
            values = [value.strip().strip('"') for value in entry["unit"].split("|")]
            if len(values) > 1 and all(value.replace("-", "").isalnum() for value in values):
                words += [(f"{path}={value}", "") for value in values]
        else:
            words.append((f"{path}=", entry["description"]))
    return _beginning(incomplete, words)


@_quietly
def parameters(ctx: typer.Context, incomplete: str) -> Words:
    """Complete the last of a list of parameters of the scheme, separated by commas."""
    from penstock.catalogue import schemes as every

    chosen = _chosen_schemes(ctx)
    before, comma, last = incomplete.rpartition(",")
    words = [
        (f"schemes.{about['name']}.{entry['name']}", entry["description"])
        for about in every()
        if about["name"] in chosen
        for entry in about["parameters"]
        if entry["minimum"] is not None
    ]
    return [(f"{before}{comma}{name}", said) for name, said in _beginning(last, words)]


@_quietly
def axis(ctx: typer.Context, incomplete: str) -> Words:
    """Complete the key of an axis: a field of a configuration, or a number among the scheme's parameters."""
    from penstock.catalogue import FIELDS
    from penstock.catalogue import schemes as every

    chosen = _chosen_schemes(ctx)
    words = [(f"{name.removesuffix('_bps').removesuffix('_octets').removesuffix('_s')}=", "") for name in FIELDS]
    words += [
        (f"{entry['name']}=", entry["description"])
        for about in every()
        if about["name"] in chosen
        for entry in about["parameters"]
        if entry["minimum"] is not None
    ]
    return _beginning(incomplete, [*words, ("delay=", "both delays together")])


@_quietly
def threads(incomplete: str) -> Words:
    """Complete a number of threads."""
    return _beginning(incomplete, [("auto", "as many as pay"), ("2", ""), ("4", ""), ("8", ""), ("16", "")])


@_quietly
def frame_format(incomplete: str) -> Words:
    """Complete a format of frames."""
    from penstock.wire.frame import formats

    return _beginning(incomplete, [(entry["name"], entry["title"]) for entry in formats()])


@_quietly
def kind(incomplete: str) -> Words:
    """Complete a kind of frame."""
    from penstock.wire.frame import kinds

    return _beginning(incomplete, [(entry["name"], entry["title"]) for entry in kinds()])


@_quietly
def frame_field(ctx: typer.Context, incomplete: str) -> Words:
    """Complete the key of ``KEY=VALUE``: a field of the kind of frame that is named before."""
    from penstock.wire.frame import formats, kinds

    (chosen,) = (entry for entry in kinds() if entry["name"] == ctx.params.get("kind"))
    wanted = [entry["name"] for entry in chosen["formats"]]
    fields = [
        (f"{entry['name']}.{field['name']}" if "." in incomplete else field["name"], field["meaning"])
        for entry in formats()
        if entry["name"] in wanted
        for field in entry["fields"]
    ]
    words = dict([*fields, *([(chosen["rest"], "octets behind the formats")] if chosen["rest"] else [])])
    return _beginning(incomplete, [(f"{name}=", said) for name, said in words.items()])


@_quietly
def device(incomplete: str) -> Words:
    """Complete a network interface."""
    import socket

    return _beginning(incomplete, [(name, "") for _, name in socket.if_nameindex()])


@_quietly
def device_or_scenario(incomplete: str) -> Words:
    """Complete a network interface or a scenario."""
    return [*device(incomplete), *scenario(incomplete)]


@_quietly
def reaction_point(incomplete: str) -> Words:
    """Complete the key of ``KEY=VALUE``: a value of reaction points in Linux."""
    from penstock.dcb.objects import members, tables

    said = {entry.key: entry.meaning for table in tables() for entry in table.objects}
    words = [(f"{member.name}=", said.get(member.name, "the state of the defense")) for member in members()]
    return _beginning(incomplete, words)


@_quietly
def node(ctx: typer.Context, incomplete: str) -> Words:
    """Complete a node of the scenario."""
    found = [entry["name"] for given in _scenarios(ctx) for entry in json.loads(_load(given).outline())["nodes"]]
    return _beginning(incomplete, [(name, "") for name in dict.fromkeys(found)])


@_quietly
def section(incomplete: str) -> Words:
    """Complete a section of a scenario file."""
    from penstock.catalogue import keys

    words = {entry["section"].strip("[]"): entry["section_description"] for entry in keys() if entry["section"]}
    return _beginning(incomplete, list(words.items()))


@_quietly
def queue(ctx: typer.Context, incomplete: str) -> Words:
    """Complete a queue that a scenario records."""
    found = [name for given in _scenarios(ctx) for name in json.loads(_load(given).outline())["queues"]]
    return _beginning(incomplete, [(name, "") for name in dict.fromkeys(found)])


@_quietly
def ports(ctx: typer.Context, incomplete: str) -> Words:
    """Complete the last of a list of the scenario's ports, separated by commas."""
    before, comma, last = incomplete.rpartition(",")
    links = [link["name"] for given in _scenarios(ctx) for link in json.loads(_load(given).outline())["links"]]
    words = [(name, "") for name in dict.fromkeys(links) if name not in before.split(",")]
    return [(f"{before}{comma}{name}", said) for name, said in _beginning(last, words)]


@_quietly
def workloads(ctx: typer.Context, incomplete: str) -> Words:
    """Complete the last of a list of an arena's workloads, separated by commas."""
    return _last_of(incomplete, [(workload.name, workload.title) for workload in _entries(ctx).workloads])


@_quietly
def competitors(ctx: typer.Context, incomplete: str) -> Words:
    """Complete the last of a list of an arena's competitors, separated by commas."""
    return _last_of(incomplete, [(competitor.name, "") for competitor in _entries(ctx).competitors])


@_quietly
def table(ctx: typer.Context, incomplete: str) -> Words:
    """Complete a table of a result."""
    from penstock import _core

    known = _core.Result.open(str(ctx.params["folder"])).tables
    words = [(about["name"], about["description"]) for about in json.loads(_core.tables()) if about["name"] in known]
    return _beginning(incomplete, words)


@_quietly
def column(ctx: typer.Context, incomplete: str) -> Words:
    """Complete a column of a table of a result, those of its scheme included."""
    from penstock import _core

    name = str(ctx.params["table"])
    (about,) = (entry for entry in json.loads(_core.tables()) if entry["name"] == name)
    said = {entry["name"]: entry["description"] for entry in about["columns"]}
    have = _core.Result.open(str(ctx.params["folder"])).table(name).column_names
    taken = ctx.params.get("columns") or []
    return _beginning(incomplete, [(word, said.get(word, "")) for word in have if word not in taken])


@_quietly
def varied(ctx: typer.Context, incomplete: str) -> Words:
    """Complete a key that a sweep varies, or the scheme."""
    manifest = _manifest(ctx)
    words = [(key["key"].rpartition(".")[2], key["key"]) for axis in manifest["vary"] for key in axis]
    return _beginning(incomplete, [*words, ("scheme", "")])


@_quietly
def metric(ctx: typer.Context, incomplete: str) -> Words:
    """Complete the last of a list of numbers of a sweep's runs, separated by commas."""
    before, comma, last = incomplete.rpartition(",")
    words = [(name, "") for name in _manifest(ctx)["numbers"]]
    return [(f"{before}{comma}{name}", said) for name, said in _beginning(last, words)]


def _entries(ctx: typer.Context) -> Any:
    """Return the arena that stands on the command line."""
    from penstock.arenas.arena_file import STANDARD, read

    return read(ctx.params.get("file") or next(iter(ctx.args), STANDARD))


def _last_of(incomplete: str, words: Words) -> Words:
    before, comma, last = incomplete.rpartition(",")
    there = before.split(",")
    return [(f"{before}{comma}{name}", said) for name, said in _beginning(last, words) if name not in there]


def _manifest(ctx: typer.Context) -> Any:
    """Return the manifest of the sweep that stands on the command line."""
    given = ctx.params.get("folder") or ctx.args[0]
    return json.loads((Path(str(given)) / "sweep.json").read_text(encoding="utf-8"))


def _beginning(incomplete: str, words: Iterable[tuple[str, str]]) -> Words:
    return [(word, said) for word, said in words if word.startswith(incomplete)]


def _files(incomplete: str, suffix: str | None) -> Words:
    """Return the folders, and the files of a kind, whose paths begin so."""
    above, slash, begun = incomplete.rpartition("/")
    found: Words = []
    folder = Path(above + slash or ".")
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name.startswith(begun) and not (path.name.startswith(".") and not begun):
            if path.is_dir():
                found.append((f"{above}{slash}{path.name}/", ""))
            elif suffix is not None and path.suffix == suffix:
                found.append((f"{above}{slash}{path.name}", ""))
    return found


def _schemes() -> Words:
    from penstock.catalogue import schemes as every

    return [(about["name"], about["title"]) for about in every()]


def _scenarios(ctx: typer.Context) -> list[str]:
    """Return the scenarios that stand on the command line."""
    # Behind an option that has no value yet they are not parsed: they are left over.
    given = ctx.params.get("scenario") or ctx.params.get("scenarios") or ctx.args
    return [given] if isinstance(given, str) else list(given)


def _load(name: str) -> Any:
    from penstock import _core
    from penstock.library import locate

    path = Path(name)
    return _core.Scenario.load(path if path.is_file() else locate(name) or path)


def _chosen_schemes(ctx: typer.Context) -> list[str]:
    """Return the schemes that the command line names, otherwise those of its scenarios."""
    named = ctx.params.get("scheme") or ctx.params.get("schemes")
    if named:
        return [word.strip() for word in named.split(",")]
    return [_load(given).scheme for given in _scenarios(ctx)]
