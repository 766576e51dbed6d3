"""The headroom of a fabric: exact need of each kind of port, formulas, a table's row, and the rest of each chip."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from penstock._core import read_quantity
from penstock.declared import LinkDescription, Outline
from penstock.errors import ArgumentError
from penstock.fabrics import memory, names_in_short, port_kinds
from penstock.headroom.formulas import LEAST_MTU, NS_PER_M, QUANTA, Formula, Port, formulas
from penstock.headroom.responses import Response
from penstock.headroom.single_port import Need
from penstock.headroom.single_port import need as exact_need
from penstock.headroom.tables import Table
from penstock.scenario import Scenario

_SPEEDS = (*sorted(QUANTA), 1_600_000)
_CABLES_M = (*range(1, 301), *range(310, 2001, 10))


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A formula's or a table's headroom for a kind of port.

    Attributes:
        key: its name in JSON.
        name: its name in a table.
        source: standard, file or row.
        xoff_octets: headroom of a port and priority; ``None`` where the table has no row for it.
        need_octets: the exact need in the cells of the chip that the formula is for, or in those of the fabric.
        missing_octets: how much of it is lacking; 0 where xoff is enough.
    """

    key: str
    name: str
    source: str
    xoff_octets: int | None
    need_octets: int
    missing_octets: int


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Ports that are alike: those that pause the far end of their line.

    Attributes:
        nodes: the nodes whose lines come in, and ``peers``, the nodes that pause them, in short.
        ports: names of the ports that are paused.
        port: speed, cable, MTU, cell, lanes and response.
        need: the exact minimum.
        entries: the formulas, and the table's row.
    """

    nodes: str
    peers: str
    ports: tuple[str, ...]
    port: Port
    need: Need
    entries: tuple[Entry, ...]


@dataclass(frozen=True, kw_only=True)
class ChipRest:
    """The memory that a chip has left for shared use.

    Attributes:
        switches: switches that are alike, in short.
        memory_octets: packet memory of each; ``None`` where the scenario does not give it.
        reserved_octets: reserves of queues and lines.
        headroom_octets: headroom of all lines and lossless priorities, by the formula's key; ``exact`` for the need.
        left_octets: the rest of the memory, likewise; less than 0 where it is too small.
    """

    switches: str
    memory_octets: int | None
    reserved_octets: int
    headroom_octets: dict[str, int]
    left_octets: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Survey:
    """The headroom of a fabric.

    Attributes:
        fabric: name of the scenario.
        priorities: its lossless priorities.
        kinds: kinds of ports.
        chips: kinds of chips.
        findings: sentences on formulas that are below the need, fall with the cable, or fall at a speed.
        notes: the notes of the plan on flow control.
    """

    fabric: str
    priorities: tuple[int, ...]
    kinds: tuple[Kind, ...]
    chips: tuple[ChipRest, ...]
    findings: tuple[str, ...]
    notes: tuple[str, ...]


def survey(
    scenario: Scenario,
    *,
    response: Response | None = None,
    lanes: int | None = None,
    table: Table | None = None,
    by: Sequence[Formula] | None = None,
    limit: int = 1,
) -> Survey:
    """Compute the headroom of each kind of port of a fabric, exactly and by every formula.

    Args:
        scenario: the fabric, with ``[pfc]``.
        response: response of the peers, instead of ``pfc.response``; links with their own keep it.
        lanes: lanes of every port; ``None``: 8 at 800 Gb/s and more, otherwise 4.
        table: a ``pg_profile_lookup.ini`` to compare with.
        by: the formulas; ``None``: all, with their usual settings.
        limit: as in :meth:`penstock.Scenario.run`.

    Raises:
        ArgumentError: the scenario has no ``[pfc]``, or no port can be paused.
        ScenarioError: a value is not legal.
    """
    document = tomllib.loads(scenario.to_toml())
    if "pfc" not in document:
        raise ArgumentError(
            f"{scenario.name}: no [pfc], so that no port is paused", "add [pfc] with priorities and mtu"
        )
    outline = scenario.outline(limit=limit)
    settled = tomllib.loads(scenario.resolved(limit=limit))["pfc"]
    mtu = max(LEAST_MTU, int(read_quantity(settled["mtu"], "octets")))
    if not any(link["flow_control"] for link in outline["links"]):
        raise ArgumentError(f"{scenario.name}: no port can be paused", "list ports that lead to switches in pfc.ports")
    layouts = dict.fromkeys({link["rate_bps"] for link in outline["links"]}, outline)
    if response is not None:
        for rate in layouts:
            time = response.time(max(1, rate // 10**6), mtu, outline["wire_overhead_octets"])
            layouts[rate] = scenario.copy().set("pfc.response", f"{time} ps").outline(limit=limit)
    listed = formulas() if by is None else by
    links = {link["name"]: link for rate, own in layouts.items() for link in own["links"] if link["rate_bps"] == rate}
    groups: dict[tuple[Port, Need], list[str]] = {}
    for found in port_kinds(outline):
        key = _port(links[found.ports[0]], mtu, outline["wire_overhead_octets"], lanes)
        if key is not None:
            groups.setdefault(key, []).extend(found.ports)
    kinds = tuple(_kind(port, need, names, links, listed, table) for (port, need), names in groups.items())
    priorities = tuple(settled["priorities"])
    return Survey(
        fabric=scenario.name,
        priorities=priorities,
        kinds=kinds,
        chips=tuple(_chips(outline, kinds, len(priorities))),
        findings=tuple(_findings(kinds, listed)),
        notes=tuple(note for note in outline["notes"] if note.startswith(("flow control", "buffer", "switch"))),
    )


def _port(link: LinkDescription, mtu: int, overhead: int, lanes: int | None) -> tuple[Port, Need] | None:
    """Return the port and its need; ``None`` where nothing pauses the link."""
    about = link["flow_control"]
    if about is None:
        return None
    pool = max(about["pools"], key=lambda own: own["cell_octets"], default=None)
    cell = 1 if pool is None else pool["cell_octets"]
    delay = round(link["latency_s"] * 10**12)
    cable = link["cable_m"] if link["cable_m"] is not None else float(delay / (NS_PER_M * 1000))
    speed = max(1, link["rate_bps"] // 10**6)
    port = Port(
        speed_mbps=speed,
        cable_m=cable,
        mtu=mtu,
        cell=cell,
        lanes=lanes or (8 if speed >= 800_000 else 4),
        response_ps=round(about["response_s"] * 10**12),
        delay_ps=delay,
        wire_overhead=overhead,
    )
    cells = pool["headroom_needed_octets"] // cell if pool is not None and cell > 1 else None
    return port, Need(octets=about["headroom_needed_octets"], cells=cells, cell=cell)


def _kind(
    port: Port,
    need: Need,
    names: list[str],
    links: dict[str, LinkDescription],
    listed: Sequence[Formula],
    table: Table | None,
) -> Kind:
    entries = [
        _entry(formula.key, formula.name, formula.source, formula.xoff(port), need, own)
        for formula in listed
        for own in [port if formula.cell is None else replace(port, cell=formula.cell)]
    ]
    if table is not None:
        row = table.row(port.speed_mbps, port.cable_m)
        if row is None:
            source = f"{table.file}: no row for {port.speed_mbps} Mb/s and {port.cable_m:g} m"
        else:
            source = f"{table.file}:{row.line}, {row.speed_mbps} Mb/s and {row.cable_m:g} m"
        entries.append(_entry("table", "table", source, None if row is None else row.xoff, need, port))
    return Kind(
        nodes=names_in_short(links[name]["node"] for name in names),
        peers=names_in_short(links[name]["peer"] for name in names),
        ports=tuple(names),
        port=port,
        need=need,
        entries=tuple(entries),
    )


def _entry(key: str, name: str, source: str, xoff: int | None, need: Need, port: Port) -> Entry:
    own = need if port.cell == need.cell else exact_need(port)
    # A part of a cell holds no frame.
    missing = 0 if xoff is None else max(0, own.memory - xoff // port.cell * port.cell)
    return Entry(key=key, name=name, source=source, xoff_octets=xoff, need_octets=own.memory, missing_octets=missing)


def _chips(outline: Outline, kinds: Sequence[Kind], priorities: int) -> list[ChipRest]:
    of_port = {name: kind for kind in kinds for name in kind.ports}
    chips = []
    for chip in memory(outline):
        own = chip.pools[0]["switch"]
        lines = [of_port[link["name"]] for link in outline["links"] if link["peer"] == own and link["name"] in of_port]
        taken = {"exact": priorities * sum(kind.need.memory for kind in lines)}
        for index, entry in enumerate(lines[0].entries if lines else ()):
            sizes = [kind.entries[index].xoff_octets for kind in lines]
            if None not in sizes:
                whole = sum(
                    -(-(size or 0) // kind.port.cell) * kind.port.cell for size, kind in zip(sizes, lines, strict=True)
                )
                taken[entry.key] = priorities * whole
        reserved = sum(pool["reserved_octets"] for pool in chip.pools)
        left = (
            {} if chip.memory_octets is None else {key: chip.memory_octets - reserved - n for key, n in taken.items()}
        )
        chips.append(
            ChipRest(
                switches=chip.switches,
                memory_octets=chip.memory_octets,
                reserved_octets=reserved,
                headroom_octets=taken,
                left_octets=left,
            )
        )
    return chips


def merged(kinds: Sequence[Kind]) -> list[tuple[str, list[int]]]:
    """Return names of entries and their indices: formulas of NVIDIA's chips that agree at all ports stand together."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for index, entry in enumerate(kinds[0].entries):
        family = entry.name.startswith("NVIDIA") and entry.name.partition(",")[2]
        values = tuple((kind.entries[index].xoff_octets, kind.entries[index].need_octets) for kind in kinds)
        key = (family, values) if family is not False else (entry.key,)
        groups.setdefault(key, []).append(index)
    named = []
    for indices in groups.values():
        first, rest = kinds[0].entries[indices[0]].name, [kinds[0].entries[index].name for index in indices[1:]]
        name, comma, tail = first.partition(",")
        others = "".join(f", -{other.partition(',')[0].rpartition('-')[2]}" for other in rest)
        named.append((f"{name}{others}{comma}{tail}", indices))
    return named


def _findings(kinds: Sequence[Kind], listed: Sequence[Formula]) -> list[str]:
    found = []
    for name, (index, *_) in merged(kinds):
        below = [short(kind.port) for kind in kinds if kind.entries[index].missing_octets]
        if below:
            where = "every port" if len(below) == len(kinds) > 1 else ", ".join(below)
            found.append(f"{name}: below the need at {where}")
    for name, (index, *_) in merged(kinds):
        if index < len(listed) and "before" not in listed[index].key:
            found.extend(falls(replace(listed[index], name=name), [kind.port for kind in kinds]))
    return found


def falls(formula: Formula, ports: Sequence[Port]) -> list[str]:
    """Return sentences on where a formula asks for less on a longer cable, or at a higher speed of these ports' cables.

    Cables are tried up to 2 km, metre by metre up to 300 m. Speeds are those of 802.3 up to 1.6 Tb/s, each with its own
    response.
    """
    found = []
    for port in {(port.speed_mbps, port.lanes): port for port in ports}.values():
        values = [(m, formula.xoff(replace(port, cable_m=m, delay_ps=None))) for m in _CABLES_M]
        for (_, shorter), (metres, longer) in pairwise(values):
            if longer < shorter:
                found.append(
                    f"{formula.name}: falls from {shorter} to {longer} octets with a cable of {metres} m "
                    f"at {port.speed_mbps / 1000:g} Gb/s"
                )
                break
    at_speeds: dict[str, list[str]] = {}
    for port in {port.cable_m: port for port in ports}.values():
        own = [formula.xoff(replace(port, speed_mbps=speed, response_ps=None)) for speed in _SPEEDS]
        for n, (slower, faster) in enumerate(pairwise(own)):
            if faster < slower:
                step = f"{_SPEEDS[n] / 1000:g} to {_SPEEDS[n + 1] / 1000:g} Gb/s"
                at_speeds.setdefault(step, []).append(f"{slower} to {faster} octets at {port.cable_m:g} m")
    found.extend(f"{formula.name}: falls from {step}, from {', '.join(where)}" for step, where in at_speeds.items())
    return found


def short(port: Port) -> str:
    """Return a port in short: its speed and cable."""
    return f"{port.speed_mbps / 1000:g} Gb/s {port.cable_m:g} m"
