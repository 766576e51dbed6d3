"""From other people's files to a scenario: a network with the flows of a file, or with a load of a distribution."""

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from penstock import files, workloads
from penstock._core import ScenarioError
from penstock.errors import ArgumentError
from penstock.exchange import hpcc, hpcc_config, htsim, jobs
from penstock.exchange.line_reader import NUMBER, OCTETS_MAX, UNENDED, WHOLE, ExchangeError
from penstock.exchange.networks import Network, of_fabric, of_topology, ranges, rate_text
from penstock.scenario import Scenario

QUESTION = "What do the flows of the imported files wait?"

_ENDLESS_S = 10e-3
"""How long connections without end run after the others."""

_AFTER_MAX = 1_000_000
"""The most names that all keys ``after`` of a scenario have together."""

_KINDS = {
    "topology": "a topology of HPCC",
    "flows": "flows of HPCC",
    "config": "a configuration of HPCC",
    "distribution": "a distribution of flow sizes",
    "completions": "flow completion times of HPCC",
    "fabric": "a .topo file of htsim",
    "matrix": "a connection matrix of htsim",
}
_PAIRS = (
    ("topology", "flows"),
    ("topology", "distribution"),
    ("fabric", "matrix"),
    ("fabric", "distribution"),
    # htsim builds a tree where it gets none.
    ("", "matrix"),
)
_HTSIM = {"nodes", "tiers", "podsize", "connections", "triggers", "failures"}

_OWN_TABLES = 1000
"""The most flows that have a table each, with samples and a fair share; more are listed in a trace, a line each."""

# HPCC's generator of traffic offers this where nobody says more.
_LOAD = 0.3
_LOAD_US = 10_000
_LOAD_FLOWS = 20_000


@dataclass(frozen=True)
class Imported:
    """A scenario made of other people's files, and sentences on what they did not say or what was left out."""

    scenario: Scenario
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _File:
    name: str
    kind: str
    text: str


def import_files(
    paths: Sequence[str | os.PathLike[str]],
    *,
    scheme: str | None = None,
    transport: str | Mapping[str, Mapping[str, Any]] | None = None,
    pfc: bool | None = None,
    name: str = "imported",
    complete: bool = False,
    control_deps: bool = True,
) -> Imported:
    """Return the scenario that other people's files describe.

    A network and its traffic: HPCC's topology with its flow file, htsim's ``.topo`` with a connection matrix, or either
    network with a distribution of flow sizes, which becomes a load. A connection matrix alone has the tree that htsim
    builds where it gets no ``.topo``. Beside HPCC's files its ``config.txt`` may stand; alone, it has an incast of two
    hosts. A job is one file of GOAL or SimAI, or those of all ranks of Chakra, with or without a network; alone, it has
    a star. The content of a file says what it is. A flow keeps its position in the order, and its name has its number;
    of HPCC also its port: f0-p100.

    Args:
        paths: the files, in any order.
        scheme: the scheme that runs; without it that of the configuration, or none.
        transport: carries the flows; the name of one, or as in ``{"tcp": {"congestion": "dctcp"}}``. Without it
            go-back-n, or what the configuration says.
        pfc: whether switches of HPCC's files have flow control; without it as the configuration says, or as HPCC: yes.
        name: the scenario's name.
        complete: a job: whether receives without a send, sends without a receive, and operations without an order are
            completed.
        control_deps: Chakra: whether nodes wait for control dependencies too, as in ASTRA-sim.

    Raises:
        ExchangeError: a file has what a scenario cannot express, or is none of these; with file, line and reason.
        ArgumentError: the files do not go together.
        OSError: a file cannot be read.
    """
    of_jobs = [Path(path) for path in paths if jobs.is_job(Path(path))]
    if of_jobs:
        job = jobs.read_job(of_jobs, complete=complete, control_deps=control_deps)
        networks = [_read(Path(path)) for path in paths if Path(path) not in of_jobs]
        return _of_job(job, of_jobs[0].name, networks, scheme, transport, name)
    given = [_read(Path(path)) for path in paths]
    notes = [f"{file.name}: {UNENDED}" for file in given if not file.text.endswith("\n")]
    if [file.kind for file in given] == ["config"]:
        given += _beside(given[0], notes)
    for file in given:
        if file.kind == "completions":
            hint = "penstock.exchange.read_fct reads it as a table for figures"
            raise ArgumentError(f"{file.name}: {_KINDS['completions']} are results, and no part of a scenario", hint)
    by_kind = {file.kind: file for file in given}
    kinds = set(by_kind) - ({"config"} if "topology" in by_kind else set())
    pair = next((pair for pair in _PAIRS if set(pair) - {""} == kinds), None)
    if pair is None or len(given) != len(by_kind):
        found = ", ".join(f"{file.name} ({_KINDS[file.kind]})" for file in given) or "no file"
        hint = "give a topology and flows of HPCC, a .topo and a .cm of htsim, or a network and a distribution of sizes"
        raise ArgumentError(f"{found}: a scenario needs one network and its traffic", hint)
    traffic = by_kind[pair[1]]
    matrix = htsim.parse_matrix(traffic.text, traffic.name) if pair[1] == "matrix" else None
    settings: list[str] = []
    payload = hpcc_config.PAYLOAD
    if pair[0] == "topology":
        net = by_kind["topology"]
        topology = hpcc.parse_topology(net.text, net.name)
        said = by_kind.get("config")
        known = hpcc_config.Config("") if said is None else hpcc_config.parse(said.text, said.name)
        payload = known.number("PACKET_PAYLOAD_SIZE", payload)
        lossless = known.number("ENABLE_PFC", 1) != 0 if pfc is None else pfc
        switches = hpcc_config.switch_lines(known, topology, scheme or known.scheme or "none", lossless)
        network = of_topology(topology, net.name, switches, f"{hpcc_config.pool_octets(known)} octets")
        _note_topology(notes, net.name, topology)
        own = known.scheme
        transport = known.transport if transport is None else transport
        if own is not None and scheme in (None, own):
            scheme = own
            settings, more = hpcc_config.scheme_lines(known, own, topology, max(network.rate_bps.values(), default=1))
            notes += more
        elif own is not None:
            notes.append(f"{known.name}: its scheme is {own}, and {scheme} is asked for: its values are not followed")
        if said is not None:
            notes.append(known.note(scheme))
            notes += known.falls()
        notes.append(_memory_note(known, lossless))
    elif pair[0] == "fabric":
        network = of_fabric(htsim.parse_fabric(by_kind["fabric"].text, by_kind["fabric"].name))
    else:
        assert matrix is not None, "a matrix may stand alone"
        network = of_fabric(htsim.own_fabric(matrix, traffic.name))
        tree = f"no .topo says the network: {matrix.nodes} hosts, 100 Gb/s and 1 us a link, as htsim builds without one"
        notes.append(f"{traffic.name}: {tree}; --set topology.… changes it")
    scheme = scheme or "none"
    carrier = _inline("go-back-n" if transport is None else transport)
    if pair[1] == "flows":
        flows = hpcc.parse_flows(traffic.text, traffic.name, topology)
        _note_unread(notes, traffic.name, flows.unread, "flows")
        parts = _of_flows(flows, traffic.name, network, carrier, payload, notes)
    elif matrix is not None:
        parts = _of_matrix(matrix, traffic.name, network, carrier, notes)
        if any(at.send_done is not None for at in matrix.connections):
            notes.append(
                f"{traffic.name}: a send_done_trigger acts here when all data has arrived, as recv_done_trigger"
            )
    else:
        sizes = workloads.parse(traffic.text, traffic.name)
        notes += sizes.notes
        parts = _of_distribution(sizes, network, carrier)
    assumed = [
        *([] if settings else [f"scheme {scheme}"]),
        f"transport {carrier}",
        *([f"{network.buffer} a queue"] if network.assumed and pair[0] != "topology" else []),
    ]
    notes.append(f"the files do not say: {', '.join(assumed)}; change these in the scenario")
    text = _document(parts, network, scheme, settings)
    try:
        scenario = Scenario.from_toml(text, origin=name, name=name)
    except ScenarioError as error:
        # It is TOML: no more can be wrong with it than its length.
        raise ExchangeError(traffic.name, None, f"the scenario {error.message}; give fewer flows or links") from None
    return Imported(scenario, tuple(notes))


def _of_job(
    job: jobs.JobText,
    file: str,
    networks: Sequence[_File],
    scheme: str | None,
    transport: str | Mapping[str, Mapping[str, Any]] | None,
    name: str,
) -> Imported:
    """Return the scenario of a job, on a network of another simulator or on a star."""
    notes = [f"{file}: {note}" for note in job.notes]
    if [one.kind for one in networks] not in ([], ["topology"], ["fabric"]):
        found = ", ".join(f"{one.name} ({_KINDS[one.kind]})" for one in networks)
        raise ArgumentError(f"{found}: beside a job stands one network at the most", "give a topology or a .topo")
    carrier = _inline("go-back-n" if transport is None else transport)
    if networks:
        (net,) = networks
        if net.kind == "topology":
            network = of_topology(hpcc.parse_topology(net.text, net.name), net.name)
        else:
            network = of_fabric(htsim.parse_fabric(net.text, net.name))
        lines, hosts = network.lines, network.hosts
    else:
        lines, hosts = jobs.star_of(job.ranks), max(2, job.ranks)
        notes.append(f"{file}: no file says the network: {hosts} hosts with {jobs.STAR}; --set topology.… changes it")
    scheme = scheme or "none"
    notes.append(f"the files do not say: scheme {scheme}, transport {carrier}; change these in the scenario")
    text = jobs.document(job, lines, hosts, scheme, carrier)
    return Imported(Scenario.from_toml(text, origin=name, name=name), tuple(notes))


def _beside(config: _File, notes: list[str]) -> list[_File]:
    """Return a network and flows for a configuration alone, and note them."""
    topology, flows = hpcc_config.incast_of(hpcc_config.parse(config.text, config.name))
    rate = topology.links[0].rate.removesuffix("bps")
    assumed = f"two hosts send 10 MB each to a third, over links of {rate_text(int(rate))}, the fastest of its maps"
    notes.append(f"{config.name}: no file has network and flows: {assumed}; give a topology and flows, or change these")
    return [_File(config.name, "topology", topology.text()), _File(config.name, "flows", flows.text())]


def _note_topology(notes: list[str], name: str, topology: hpcc.Topology) -> None:
    _note_unread(notes, name, topology.unread, "links")
    if topology.family != "HPCC":
        own = "; its NVSwitches are switches as all others" if topology.family == "SimAI" else ""
        notes.append(f"{name}: line 1 is that of {topology.family}{own}")


def _memory_note(known: hpcc_config.Config, lossless: bool) -> str:
    size = f"{known.number('BUFFER_SIZE', hpcc_config.POOL_MB)} x 2^20 octets of memory"
    if not lossless:
        return f"no flow control; a switch has {size}, of which a line takes an eighth of what is free at the most"
    stops = "and stops a line that holds an eighth of what is free (at any rate; HPCC's more on faster links)"
    return f"flow control is on, as HPCC has it: a switch has {size}, {stops}; --no-pfc turns it off"


@dataclass(frozen=True)
class _Parts:
    """The traffic of a scenario: flows a line each, or a load or a trace; when it begins, and how long it may take."""

    flows: Sequence[str]
    tables: str
    first: str
    duration_s: float
    endless: bool = False


def _document(parts: _Parts, network: Network, scheme: str, settings: Sequence[str]) -> str:
    """Return the text of the scenario."""
    head = [f'question = "{QUESTION}"', f'duration = "{_rounded_us(parts.duration_s)} us"']
    if not re.fullmatch(r"0(\.0*)? .*", parts.first):
        head.append(f'warmup = "{parts.first}"')
    head.append(f'scheme = "{scheme}"')
    if not parts.endless and not parts.tables.startswith("[[load]]"):
        # The duration is a limit, and no more: the run ends with the last flow.
        head.append('until = "all-flows-complete"')
    if parts.flows:
        head += ["", "flow = [", *(f"  {flow}," for flow in parts.flows), "]"]
    if settings:
        head += ["", *settings]
    return "\n".join([*head, "", *network.lines, *([""] if parts.tables else []), parts.tables]).rstrip("\n") + "\n"


@dataclass(frozen=True)
class _Row:
    """A flow that begins at a time, as texts of a scenario have it, and its start, ps."""

    name: str
    source: str
    destination: str
    size: str | None
    start: str
    start_ps: int
    priority: int | None = None
    stop: str | None = None


def _parts(rows: Sequence[_Row], carrier: str, first: str, limit_s: float) -> _Parts:
    """Return flows that begin at times, with their tables; many, whose starts are in order, as a trace a priority."""
    in_order = all(before.start_ps <= row.start_ps for before, row in pairwise(rows))
    endless = any(row.size is None for row in rows)
    if len(rows) > _OWN_TABLES and in_order and not endless and all(row.stop is None for row in rows):
        traces = []
        for priority in dict.fromkeys(row.priority for row in rows):
            lines = ["[[trace]]", *([] if priority is None else [f"priority = {priority}"]), f"transport = {carrier}"]
            lines += ["flows = '''", "name, from, to, size, start"]
            of_priority = (row for row in rows if row.priority == priority)
            lines += [f"{row.name}, {row.source}, {row.destination}, {row.size}, {row.start}" for row in of_priority]
            traces.append("\n".join([*lines, "'''"]))
        return _Parts([], "\n\n".join(traces), first, limit_s)
    flows = []
    for row in rows:
        ends = f'from = "{row.source}", to = "{row.destination}"'
        more = "" if row.stop is None else f'stop = "{row.stop}", '
        more += "" if row.priority is None else f"priority = {row.priority}, "
        size = "" if row.size is None else f'size = "{row.size}", '
        flows.append(f'{{ name = "{row.name}", {ends}, {size}start = "{row.start}", {more}transport = {carrier} }}')
    return _Parts(flows, "", first, limit_s, endless=endless)


def _of_flows(flows: hpcc.Flows, name: str, network: Network, carrier: str, payload: int, notes: list[str]) -> _Parts:
    """Return the flows of HPCC or ns3-rdma; the first stands in line 2 of their file."""
    if not flows.flows:
        raise ExchangeError(name, 1, "there are 0 flows; write one at least")
    rows: list[_Row] = []
    traffic = _Traffic(network)
    in_packets = flows.in_packets
    for number, at in enumerate(flows.flows):
        line = number + 2
        if not 1 <= at.priority <= 7:
            raise ExchangeError(
                name, line, f"the priority group is {at.priority}; write one from 1 to 7 (0 is for control)"
            )
        network.check_path(at.source, at.destination, name, line)
        start, start_ps = _seconds(at.start, "start", name, line)
        octets = at.octets * (payload if in_packets else 1)
        traffic.add(at.source, at.destination, octets, float(start))
        stop = None if at.stop is None else f"{_seconds(at.stop, 'stop', name, line)[0]:f} s"
        ends = f"h{at.source}", f"h{at.destination}"
        own = f"f{number}" if in_packets else f"f{number}-p{at.port}"
        rows.append(_Row(own, *ends, f"{octets} octets", f"{start:f} s", start_ps, at.priority, stop))
    if in_packets:
        notes.append(f"{name}: flows of ns3-rdma: sizes are packets of {payload} octets, and a flow ends at its stop")
    if len({row.priority for row in rows}) > 1:
        groups = "HPCC serves priority groups in turn, and priorities here go before one another, 7 first"
        notes.append(f"{name}: {groups}; shares differ where groups meet")
    first = min(Decimal(at.start) for at in flows.flows).normalize()
    limit_s = traffic.limit_s()
    if in_packets:
        limit_s = min(limit_s, max(float(at.stop) for at in flows.flows if at.stop is not None) + 1e-3)
    return _parts(rows, carrier, f"{first:f} s", limit_s)


def _seconds(word: str, what: str, name: str, line: int) -> tuple[Decimal, int]:
    """Return a time in s, and in ps."""
    time = Decimal(word).normalize()
    if time * 10**12 != int(time * 10**12):
        raise ExchangeError(name, line, f"the {what} {word} is finer than a picosecond; write 12 digits at most")
    return time, int(time * 10**12)


def _of_matrix(matrix: htsim.Matrix, name: str, network: Network, carrier: str, notes: list[str]) -> _Parts:
    """Return the connections of htsim."""
    if matrix.nodes > network.hosts:
        reason = f"there are {matrix.nodes} hosts, and the .topo file has {network.hosts}; give files that go together"
        raise ExchangeError(name, None, reason)
    if not matrix.connections:
        raise ExchangeError(name, None, "there is no connection; write one at least")
    matrix = _without_messages(matrix, name, notes)
    names = _names(matrix)
    before: dict[int, list[int]] = {at.ident: [] for at in matrix.triggers}
    for index, at in enumerate(matrix.connections):
        for ident in dict.fromkeys(at.activates):
            before[ident].append(index)
    _check_shots(matrix, name, before)
    traffic = _Traffic(network)
    for index in _in_order(matrix, name, before):
        at = matrix.connections[index]
        waits = before[at.trigger] if at.trigger is not None else []
        traffic.add(at.source, at.destination, at.octets, (at.start_ps or 0) / 1e12, index, waits)
    first = f"{min((at.start_ps for at in matrix.connections if at.start_ps is not None), default=0)} ps"
    endless = any(at.octets == 0 for at in matrix.connections)
    limit_s = traffic.limit_s() + (_ENDLESS_S if endless else 0)
    if endless:
        notes.append(
            f"{name}: connections of size 0 have no end: the run ends after its duration, which is chosen here"
        )
    if all(at.trigger is None for at in matrix.connections):
        rows = []
        for own, at in zip(names, matrix.connections, strict=True):
            ends = f"h{at.source}", f"h{at.destination}"
            size = f"{at.octets} octets" if at.octets else None
            rows.append(_Row(own, *ends, size, f"{at.start_ps} ps", at.start_ps or 0))
        return _parts(rows, carrier, first, limit_s)
    lines = []
    for index, at in enumerate(matrix.connections):
        if at.trigger is None:
            begins = f'start = "{at.start_ps} ps"'
        else:
            begins = f"after = {ranges(names[place] for place in before[at.trigger])}"
        size = f'size = "{at.octets} octets", ' if at.octets else ""
        lines.append(
            f'{{ name = "{names[index]}", from = "h{at.source}", to = "h{at.destination}", '
            f"{size}{begins}, transport = {carrier} }}"
        )
    return _Parts(lines, "", first, limit_s, endless=endless)


def _without_messages(matrix: htsim.Matrix, name: str, notes: list[str]) -> htsim.Matrix:
    """Return the matrix with one flow for messages that a connection has at one time: it sends them in turn."""
    if all(at.message is None for at in matrix.connections):
        return matrix
    together: dict[tuple[int | None, int | None], htsim.Connection] = {}
    found: list[htsim.Connection | tuple[int | None, int | None]] = []
    for at in matrix.connections:
        key = at.ident, at.start_ps
        plain = at.trigger is None and not at.activates and at.octets
        if at.message is None or not plain:
            found.append(replace(at, message=None))
        elif key in together:
            together[key] = replace(together[key], octets=together[key].octets + at.octets)
        else:
            together[key] = replace(at, message=None)
            found.append(key)
    connections: list[htsim.Connection] = []
    seen: set[int] = set()
    for one in found:
        at = together[one] if isinstance(one, tuple) else one
        # A later message of a connection has a flow without its number.
        connections.append(replace(at, ident=None) if at.ident in seen else at)
        seen |= set() if at.ident is None else {at.ident}
    alike = "messages of a connection at one time are one flow here, which ends with the last of them"
    later = len(connections) > len({at.ident for at in matrix.connections})
    notes.append(f"{name}: {alike}{'; a later one has a flow whose window begins again' if later else ''}")
    return replace(matrix, connections=tuple(connections))


def _names(matrix: htsim.Matrix) -> list[str]:
    """Return the flows' names: f and the number of a connection, or c and its position where it has no number."""
    return [f"c{index}" if at.ident is None else f"f{at.ident}" for index, at in enumerate(matrix.connections)]


def _check_shots(matrix: htsim.Matrix, name: str, before: Mapping[int, Sequence[int]]) -> None:
    """Refuse triggers that ``after`` cannot stand for."""
    targets: dict[int, int] = {}
    for at in matrix.connections:
        if at.trigger is not None:
            targets[at.trigger] = targets.get(at.trigger, 0) + 1
    pairs = sum(targets[ident] * len(waits) for ident, waits in before.items())
    for trigger in matrix.triggers:
        ident = trigger.ident
        if trigger.kind == "multishot" and (len(before[ident]) != 1 or targets[ident] != 1):
            reason = f"the multishot {ident} starts one connection at each activation, in the order of time, "
            raise ExchangeError(name, trigger.line, f"{reason}which no key says; give each connection a oneshot")
        if pairs > _AFTER_MAX and targets[ident] * len(before[ident]) * len(before) >= pairs:
            reason = f"connections would wait for {pairs} others in all, of which {len(before[ident])} for each of "
            raise ExchangeError(
                name, trigger.line, f"{reason}{targets[ident]} after this trigger; {_AFTER_MAX} are the most"
            )


def _in_order(matrix: htsim.Matrix, name: str, before: Mapping[int, Sequence[int]]) -> list[int]:
    """Return the indices of connections so that each comes after those that it waits for."""
    waiting: dict[int, list[int]] = {ident: [] for ident in before}
    left = {ident: len(waits) for ident, waits in before.items()}
    order = []
    for index, at in enumerate(matrix.connections):
        if at.trigger is None:
            order.append(index)
        else:
            waiting[at.trigger].append(index)
    for index in order:
        for ident in dict.fromkeys(matrix.connections[index].activates):
            left[ident] -= 1
            # The list grows while it is gone through.
            order.extend(waiting[ident] if left[ident] == 0 else [])
    if len(order) < len(matrix.connections):
        reached = set(order)
        stuck = next(at for index, at in enumerate(matrix.connections) if index not in reached)
        reason = f"the trigger {stuck.trigger} waits, directly or not, for a connection that it starts itself"
        raise ExchangeError(name, stuck.line, f"{reason}; let the first connection have a start")
    return order


def _of_distribution(sizes: workloads.Distribution, network: Network, carrier: str) -> _Parts:
    """Return a load with the sizes of a distribution, until about as many flows have begun as a run is quick with."""
    flows_per_s = _LOAD * sum(network.rate_bps.values()) / (8 * sizes.mean_octets)
    end_us = max(1, min(_LOAD_US, int(_LOAD_FLOWS / flows_per_s * 1e6)))
    points = [f'{{ size = "{octets} octets", share = {share} }}' for octets, share in _rising(sizes.points)]
    lines = [
        "[[load]]",
        f"load = {_LOAD}",
        f'end = "{end_us} us"',
        f"transport = {carrier}",
        "size.points = [",
        *(f"  {point}," for point in points),
        "]",
    ]
    return _Parts([], "\n".join(lines), "0 s", (end_us + _LOAD_US) * 1e-6)


def _rising(points: Sequence[workloads.Point]) -> list[tuple[int, str]]:
    """Return sizes and shares that rise from point to point, as a scenario has them."""
    found: list[tuple[int, Decimal]] = []
    for at in points:
        # The least size that a flow has stands for none.
        octets, share = max(1, at.octets), Decimal(repr(at.percent)) / 100
        if found and (found[-1][1] == share == 0 or found[-1][0] == octets):
            # No flow is below this size.
            found.pop()
        elif found and found[-1][1] >= share:
            # No flow has a size between the two: as good as none.
            share = found[-1][1] + Decimal("1e-15")
        found.append((octets, share))
    return [(octets, _share(share)) for octets, share in found]


def _share(share: Decimal) -> str:
    """Return a share in the digits that were written."""
    return f"{share:f}" if "." in f"{share:f}" else f"{share:f}.0"


class _Traffic:
    """How long flows may take: ten times as long as the busiest host's link and the longest chain of flows need."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._busy_s: dict[tuple[bool, int], float] = {}
        self._ends_s: dict[int, float] = {}
        self._last_s = self._start_s = 0.0

    def add(
        self,
        source: int,
        destination: int,
        octets: int,
        start_s: float,
        index: int = -1,
        after: Iterable[int] = (),
    ) -> None:
        """Count a flow that starts at a time (s), and after others have ended."""
        took = [octets * 8 / self._network.rate_bps[host] for host in (source, destination)]
        for end, host, time in zip((False, True), (source, destination), took, strict=True):
            self._busy_s[end, host] = self._busy_s.get((end, host), 0.0) + time
        begins_s = max((self._ends_s[one] for one in after), default=start_s)
        self._ends_s[index] = begins_s + max(took)
        self._start_s = max(self._start_s, start_s)
        self._last_s = max(self._last_s, self._ends_s[index])

    def limit_s(self) -> float:
        """Return the time, s."""
        return self._start_s + 10 * (max(self._busy_s.values()) + self._last_s - self._start_s) + 1e-3


def _rounded_us(time_s: float) -> int:
    """Return a time in whole microseconds, up to the next number with three digits that count."""
    step = 10 ** max(0, math.floor(math.log10(time_s * 1e6)) - 2)
    return int(math.ceil(time_s * 1e6 / step) * step)


def _inline(value: Any) -> str:
    """Return a value as TOML on one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_inline(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    text = str(value)
    if not text.isprintable() or '"' in text or "\\" in text:
        raise ArgumentError(f"invalid transport name {text!r}", "write, for instance, tcp or go-back-n")
    return f'"{text}"'


def _note_unread(notes: list[str], name: str, count: int, what: str) -> None:
    if count:
        notes.append(f"{name}: {count} {what} after those that line 1 announces are left out, as HPCC's simulator does")


def _read(path: Path) -> _File:
    """Read a file and detect its kind from its first line."""
    text = files.read_text(path, OCTETS_MAX, ExchangeError)
    lines = (line for line in text.splitlines() if line.strip() and line.strip()[0] != "#")
    line = next(lines, None)
    first = None if line is None else line.split()
    if first is None:
        raise ExchangeError(str(path), None, f"the file is empty; give {', or '.join(_KINDS.values())}")
    if first[0].lower() in _HTSIM:
        heads = {line.split(maxsplit=1)[0].lower() for line in text.splitlines() if line.strip()}
        return _File(str(path), "fabric" if heads & {"tiers", "podsize", "tier"} else "matrix", text)
    second = next(lines, "").split()
    # A distribution may have other separators.
    pair = re.split(r"[\s,;]+", re.split("#|//", line or "", maxsplit=1)[0].strip())
    if len(pair) == 2 and all(map(NUMBER.fullmatch, pair)):
        return _File(str(path), "distribution", text)
    if re.fullmatch(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+", first[0]) and len(first) > 1:
        return _File(str(path), "config", text)
    whole = all(map(WHOLE.fullmatch, first))
    if len(first) == 8:
        return _File(str(path), "completions", text)
    if whole and len(first) == 1:
        return _File(str(path), "flows", text)
    # Behind the first line of a topology stand the numbers of its switches.
    numbered = bool(second) and all(map(WHOLE.fullmatch, second))
    if (whole and len(first) == 3) or (all(map(WHOLE.fullmatch, first[:4])) and len(first) in (4, 6, 7) and numbered):
        return _File(str(path), "topology", text)
    line_number = next(i for i, line in enumerate(text.splitlines(), 1) if line.split() == first)
    reason = (
        f"this begins no file that is known; give {', or '.join(_KINDS.values())}, or a job in GOAL, of SimAI or Chakra"
    )
    raise ExchangeError(str(path), line_number, reason)
