"""From a scenario, or a folder of results, to other people's files."""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from penstock import files, workloads
from penstock._core import read_quantity
from penstock.declared import Description, FlowDescription, LinkDescription
from penstock.errors import ArgumentError, nearest
from penstock.exchange import hpcc, hpcc_completions, htsim
from penstock.exchange.htsim_fabric import fabric_of
from penstock.result import Result
from penstock.scenario import Scenario

FORMATS = ("hpcc", "htsim")
"""The simulators for which files are written."""

_PORT = 100
_SOURCE_PORT = 10_000
_PRIORITY = 3
"""Port and priority group of HPCC's own files."""

_OCTETS_MAX = 2**31 - 1
"""The longest connection that htsim reads, octets."""

_TOLD = {
    "name",
    "from",
    "to",
    "size",
    "start",
    "after",
    "after_each",
    "delay",
    "stagger",
    "repeat",
    "every",
    "priority",
}
"""Keys of a flow that files tell, or that the flows of a table follow from."""

_WAITS = ("after", "after_each")

_ELSEWHERE = {"transport", "acks", "frame", "controlled", "weight", "excess", "traffic", "rate", "on", "off", "random"}
"""Keys that the other simulator's own settings stand for, and those of a kind of traffic, which is asked for itself."""


@dataclass(frozen=True)
class _Flow:
    """A flow as files have it: the nodes' numbers, and its table in the scenario, at index ``key_path``."""

    about: FlowDescription
    source: int
    destination: int
    octets: int
    start_ps: int
    key_path: str
    table: int | None


def export(
    source: Scenario | Result,
    *,
    to: str,
    seed: int | None = None,
    limit: int = 1,
) -> dict[str, str]:
    """Return the files that describe a scenario to another simulator, each under its name.

    ``hpcc``: topology.txt, flow.txt with every flow, those of loads too; of each load with points as sizes
    NAME-cdf.txt; and of a result fct.txt, its completed flows. ``htsim``: network.topo and connections.cm.
    Nodes are numbered in the order of the scenario, hosts first; h7 and s12 keep their numbers where all are so called.

    Args:
        source: a scenario, or a result, whose scenario is meant.
        to: one of :data:`FORMATS`.
        seed: draws what the scenario leaves to chance, instead of the scenario's.
        limit: as that of :meth:`Scenario.run`.

    Raises:
        ArgumentError: the format is not known, or a key says what the files cannot; with key and reason.
        ScenarioError: a value of the scenario is not legal.
    """
    if to not in FORMATS:
        raise ArgumentError(f"to={to!r}: unknown format", nearest(to, FORMATS, f"write {' or '.join(FORMATS)}"))
    result = source if isinstance(source, Result) else None
    scenario = Scenario.from_toml(source.scenario_toml) if isinstance(source, Result) else source
    plan = scenario.describe(seed=seed, limit=limit)
    document = tomllib.loads(scenario.to_toml())
    if document.get("change"):
        raise ArgumentError("change: these formats cannot express links that change", "take the table out")
    for key in ("impairment", "host", "event"):
        if document.get(key):
            raise ArgumentError(f"{key}: these formats cannot express faults", "take the table out")
    for key in ("credits", "retry"):
        if document.get(key):
            raise ArgumentError(f"{key}: these formats cannot express it", "take the table out")
    for at, link in enumerate(document["topology"].get("graph", {}).get("link", [])):
        if "credits" in link:
            key = f"topology.graph.link.{at}.credits"
            raise ArgumentError(f"{key}: these formats cannot express it", "take the key out")
    numbers = _numbers(plan, keep=to == "hpcc")
    flows = _flows(plan, document, numbers, endless=to == "htsim")
    if to == "htsim":
        return {"network.topo": fabric_of(plan).text(), "connections.cm": _matrix(plan, document, flows).text()}
    ordered = sorted(flows, key=lambda flow: flow.start_ps)
    written = {"topology.txt": _topology(plan, numbers).text(), "flow.txt": _hpcc_flows(document, ordered).text()}
    for load in document.get("load", []):
        sizes = _distribution(load)
        if sizes is not None:
            written[f"{load.get('name', 'load0')}-cdf.txt"] = sizes.text()
    if result is not None:
        written["fct.txt"] = _completed(result, ordered)
    return written


def write(written: Mapping[str, str | bytes], folder: str | os.PathLike[str]) -> list[Path]:
    """Write files into a folder, which is made if it is not there, and return them; each is whole or not there.

    Raises:
        OSError: a file cannot be written.
    """
    root = Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    for name, content in written.items():
        octets = content.encode() if isinstance(content, str) else content
        files.write_octets(root / name, octets)
    return [root / name for name in written]


def _numbers(plan: Description, *, keep: bool) -> dict[str, int]:
    """Return the number of each node: that of its name, if the names of all are so, or its index with hosts first."""
    names = [node["name"] for node in plan["nodes"]]
    words = [
        re.fullmatch("h(0|[1-9][0-9]*)" if n["kind"] == "host" else "s(0|[1-9][0-9]*)", n["name"])
        for n in plan["nodes"]
    ]
    own = [int(word[1]) for word in words if word is not None]
    if keep and sorted(own) == list(range(len(names))):
        return dict(zip(names, own, strict=True))
    ordered = sorted(plan["nodes"], key=lambda node: node["kind"] != "host")
    return {node["name"]: number for number, node in enumerate(ordered)}


def _flows(plan: Description, document: Mapping[str, Any], numbers: Mapping[str, int], *, endless: bool) -> list[_Flow]:
    """Return the flows, if they are such as files of flows know: so much data from one host to another.

    ``endless``: the files know flows without end, of 0 octets.
    """
    tables = _tables(document)
    found = []
    for index, about in enumerate(plan["flows"]):
        table = tables[index] if index < len(tables) else None
        key_path = f"flow.{table}" if table is not None else about["name"]
        keys = document["flow"][table] if table is not None else {}
        other = next((key for key in keys if key not in _TOLD | _ELSEWHERE), None)
        if len(about["destinations"]) != 1:
            raise ArgumentError(f"{key_path}.to: these formats cannot express a flow to a group", "write a host")
        if other is not None:
            raise ArgumentError(f"{key_path}.{other}: these formats have no such key", "take it out")
        if about["traffic"] != "greedy":
            reason = f"{about['traffic']} traffic cannot be expressed in these formats, whose flows send at any rate"
            raise ArgumentError(f"{key_path}.traffic: {reason}", "take it out, with rate, on and off")
        if about["size_octets"] is None and not endless:
            raise ArgumentError(
                f"{key_path}.size: the flow {about['name']} has no end", 'write, for instance, size = "2 MB"'
            )
        if table is not None:
            _check_transport(keys, key_path)
        (destination,) = about["destinations"]
        start_ps = round((about["start_s"] or 0.0) * 1e12)
        ends = numbers[about["source"]], numbers[destination]
        found.append(_Flow(about, *ends, about["size_octets"] or 0, start_ps, key_path, table))
    for kind in ("collective", "job"):
        if document.get(kind):
            hint = "a list of flows has no such waits; name a file of jobs, as in job.goal, job.et or job.json"
            raise ArgumentError(f"{kind}.0: its messages wait for one another", hint)
    for kind in ("load", "incast", "trace"):
        for number, keys in enumerate(document.get(kind, [])):
            _check_transport(keys, f"{kind}.{number}")
    if not found:
        raise ArgumentError("the scenario has no flow", "write one at least, or a load with a size")
    return found


def _check_transport(keys: Mapping[str, Any], key_path: str) -> None:
    """Refuse flows without a transport: their sizes count frames."""
    if keys.get("transport", "none") in ("none", {"none": {}}):
        reason = "counts frames where there is no transport, and these files count data"
        raise ArgumentError(f"{key_path}.size: {reason}", 'write, for instance, transport = "go-back-n"')


def _tables(document: Mapping[str, Any]) -> list[int]:
    """Return for each flow that is listed by itself the number of its table."""
    tables = []
    for number, table in enumerate(document.get("flow", [])):
        count = max(len(_expanded(table["from"])), len(_expanded(table["to"]))) * table.get("repeat", 1)
        tables += [number] * count
    return tables


def _expanded(names: str | Sequence[str]) -> list[str]:
    """Return the names that a key stands for, those of ranges too."""
    found: list[str] = []
    for text in [names] if isinstance(names, str) else names:
        low, dots, high = text.partition("..")
        if dots:
            letters = low.rstrip("0123456789")
            found += [f"{letters}{number}" for number in range(int(low[len(letters) :]), int(high[len(letters) :]) + 1)]
        else:
            found.append(text)
    return found


def _pairs_of_links(plan: Description) -> list[tuple[str, str, LinkDescription]]:
    """Return each link once, with the nodes at its ends.

    Raises:
        ArgumentError: its directions differ.
    """
    links = {link["name"]: link for link in plan["links"]}
    found = []
    seen: set[str] = set()
    for name, link in links.items():
        if name in seen:
            continue
        seen.add(link["reverse"])
        if links[link["reverse"]]["rate_bps"] != link["rate_bps"]:
            raise ArgumentError(
                f"topology: the link {name} differs in its directions", "a link of these files has one rate"
            )
        found.append((link["node"], link["peer"], link))
    return found


def _topology(plan: Description, numbers: Mapping[str, int]) -> hpcc.Topology:
    """Return the network as HPCC has it."""
    latency_s = {link["name"]: link["latency_s"] for link in plan["links"]}
    links = []
    for first, second, link in _pairs_of_links(plan):
        delay_ps, back_ps = (round(latency_s[name] * 1e12) for name in (link["name"], link["reverse"]))
        if delay_ps != back_ps:
            reason = f"from {first} to {second} a frame takes {delay_ps} ps, and {back_ps} ps back"
            hint = "a node there has no separate delay: take node_delay and host_delay out"
            raise ArgumentError(f"network.node_delay: {reason}", hint)
        links.append(hpcc.Link(numbers[first], numbers[second], _rate(link["rate_bps"]), _delay(delay_ps), "0"))
    switches = [numbers[node["name"]] for node in plan["nodes"] if node["kind"] == "switch"]
    return hpcc.Topology(len(numbers), tuple(switches), tuple(links))


def _hpcc_flows(document: Mapping[str, Any], flows: Sequence[_Flow]) -> hpcc.Flows:
    """Return flows, ordered by their start, as HPCC has them."""
    priority = flows[0].about["priority"]
    written = []
    for flow in flows:
        table = document["flow"][flow.table] if flow.table is not None else {}
        if (key := next((key for key in _WAITS if key in table), None)) is not None:
            hint = "write a start, or export to htsim"
            raise ArgumentError(f"{flow.key_path}.{key}: flows of HPCC begin at times alone", hint)
        if 0 in (priority, flow.about["priority"]) and flow.about["priority"] != priority:
            reason = f"is {flow.about['priority']} and was {priority} before; group 0 is HPCC's for control"
            raise ArgumentError(f"{flow.key_path}.priority: {reason}", "give the flows priorities from 1 to 7")
        ends = flow.source, flow.destination
        start = f"{Decimal(flow.start_ps) / 10**12:.{9 if flow.start_ps % 1000 == 0 else 12}f}"
        written.append(
            hpcc.Flow(*ends, flow.about["priority"] or _PRIORITY, _port(flow.about["name"]), flow.octets, start)
        )
    return hpcc.Flows(tuple(written))


def _port(name: str) -> int:
    """Return the destination port that a flow's name tells, or that of HPCC's files."""
    word = re.fullmatch(r".*-p([0-9]{1,5})", name)
    return int(word[1]) if word else _PORT


def _rate(rate_bps: int) -> str:
    """Return a rate as ns-3 reads it."""
    unit, of = next((unit, of) for unit, of in (("Gbps", 10**9), ("Mbps", 10**6), ("bps", 1)) if rate_bps % of == 0)
    return f"{rate_bps // of}{unit}"


def _delay(delay_ps: int) -> str:
    """Return a delay as ns-3 reads it."""
    return f"{delay_ps}ps" if delay_ps % 1000 else f"{delay_ps // 1000}ns"


def _distribution(load: Mapping[str, Any]) -> workloads.Distribution | None:
    """Return the sizes of a load, if they are points of a distribution."""
    size = load.get("size")
    if isinstance(size, Mapping) and "workload" in size:
        return workloads.distribution(size["workload"])
    if not isinstance(size, Mapping) or "points" not in size:
        return None
    points = []
    for at in size["points"]:
        octets = int(read_quantity(at["size"], "octets"))
        percent = float(Decimal(repr(at["share"])) * 100)
        points.append(workloads.Point(0 if octets == 1 and percent == 0 else octets, percent))
    return workloads.Distribution("points", tuple(points))


def _completed(result: Result, flows: Sequence[_Flow]) -> str:
    """Return the completed flows of a result as HPCC writes them: to the last acknowledgement, at the sender.

    A run that ends with its last flow lacks the acknowledgement of that one: the shortest return path stands for it.
    """
    by_name = {flow.about["name"]: flow for flow in flows}
    names = ("flow", "start_s", "end_s", "acked_s", "ideal_s", "ideal_acked_s")
    columns = [result.column("completions", name).tolist() for name in names]
    next_port: dict[tuple[int, int], int] = {}
    ports = {}
    for flow in flows:
        ends = flow.source, flow.destination
        ports[flow.about["name"]] = _SOURCE_PORT + next_port.setdefault(ends, 0)
        next_port[ends] += 1
    done = []
    for name, start_s, end_s, acked_s, ideal_s, ideal_acked_s in zip(*columns, strict=True):
        if end_s is not None and end_s == end_s:
            flow = by_name[name]
            known = acked_s is not None and acked_s == acked_s
            ended_s = acked_s if known else end_s + ideal_acked_s - ideal_s
            times = (round(start_s * 1e9), round((ended_s - start_s) * 1e9), round(ideal_acked_s * 1e9))
            ends = flow.source, flow.destination
            done.append(hpcc_completions.Completed(*ends, ports[name] % 2**16, _port(name), flow.octets, *times))
    # The simulator writes a line when a flow ends.
    return hpcc_completions.text(sorted(done, key=lambda flow: flow.start_ns + flow.fct_ns))


def _matrix(plan: Description, document: Mapping[str, Any], flows: Sequence[_Flow]) -> htsim.Matrix:
    """Return the flows as htsim has them."""
    waits = _waits(document, flows)
    # A trigger for each set of connections that others wait for.
    fired = {key: number for number, key in enumerate(dict.fromkeys(waits.values()), start=1)}
    activates: dict[int, list[int]] = {}
    for key, number in fired.items():
        for position in key:
            activates.setdefault(position, []).append(number)
    started_by = {index: fired[key] for index, key in waits.items()}
    for index, numbers in activates.items():
        if len(numbers) > 2:
            name = flows[index].about["name"]
            waiting = next(flows[position] for position, key in waits.items() if index in key)
            reason = f"flows wait for {name} with {len(numbers)} different sets of others"
            raise ArgumentError(
                f"{waiting.key_path}.after: {reason}", "a connection of htsim activates two triggers at the most"
            )
    idents = _idents(flows, need=bool(fired))
    connections = []
    for index, flow in enumerate(flows):
        if flow.octets > _OCTETS_MAX:
            reason = f"is {flow.octets} octets, and htsim reads {_OCTETS_MAX} at the most"
            raise ArgumentError(f"{flow.key_path}.size: {reason}", "write a shorter flow, or several")
        if flow.about["priority"] != flows[0].about["priority"]:
            reason = f"is {flow.about['priority']} and was {flows[0].about['priority']} before; connections are alike"
            raise ArgumentError(f"{flow.key_path}.priority: {reason}", "give all flows the same")
        own = activates.get(index, [])
        connections.append(
            htsim.Connection(
                flow.source,
                flow.destination,
                flow.octets,
                idents[index],
                None if index in started_by else flow.start_ps,
                started_by.get(index),
                # A flow that waits for an end here waits for the arrival of the last octet.
                send_done=own[1] if len(own) == 2 else None,
                recv_done=own[0] if own else None,
            )
        )
    triggers = [
        htsim.Trigger(number, "oneshot" if len(key) == 1 else "barrier", 0 if len(key) == 1 else len(key))
        for key, number in fired.items()
    ]
    hosts = sum(node["kind"] == "host" for node in plan["nodes"])
    return htsim.Matrix(hosts, tuple(connections), tuple(triggers))


def _waits(document: Mapping[str, Any], flows: Sequence[_Flow]) -> dict[int, tuple[int, ...]]:
    """Return the indices of the flows that each flow waits for, by the index of the waiting flow."""
    positions = {flow.about["name"]: index for index, flow in enumerate(flows)}
    own: dict[int, list[int]] = {}
    for index, flow in enumerate(flows):
        if flow.table is not None:
            own.setdefault(flow.table, []).append(index)
    waits = {}
    for number, indices in own.items():
        table = document["flow"][number]
        key = next((key for key in _WAITS if key in table), None)
        if key is None:
            continue
        for other in ("delay", "stagger", "every"):
            if read_quantity(table.get(other, "0 s"), "s") != 0:
                raise ArgumentError(f"flow.{number}.{other}: a trigger of htsim starts flows at once", "take it out")
        others = [positions[name] for name in _expanded(table[key])]
        together = tuple(sorted(others))
        for position, index in enumerate(indices):
            waits[index] = (others[position],) if key == "after_each" else together
    return waits


def _idents(flows: Sequence[_Flow], *, need: bool) -> list[int | None]:
    """Return the numbers of connections: those of the names, as imports give them, or their positions from 1."""
    words = [re.fullmatch(r"f([1-9][0-9]{0,8})|c[0-9]+", flow.about["name"]) for flow in flows]
    own = [None if word is None or word[1] is None else int(word[1]) for word in words]
    if all(words) and not (need and None in own):
        return own
    return [index + 1 for index in range(len(flows))]
