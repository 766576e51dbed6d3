"""From a topology of HPCC or a fabric of htsim to the network of a scenario."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from penstock import _core
from penstock.exchange import hpcc, htsim
from penstock.exchange.line_reader import ExchangeError

BUFFER = "1000000 octets"
"""The size of an output queue where no file says it."""

_RATE_UNITS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True)
class Network:
    """The network of a scenario.

    Attributes:
        lines: its tables, as lines of TOML.
        rate_bps: the rate of each host's fastest link, bit/s, under the host's number.
        parts: the connected parts of the switches that a host's links lead to, under its number; empty where all
            switches are connected. Hosts do not forward.
        buffer: the size of an output queue, as text.
        assumed: whether the files do not say that size.
    """

    lines: Sequence[str]
    rate_bps: Mapping[int, int]
    parts: Mapping[int, frozenset[int]]
    buffer: str
    assumed: bool

    @property
    def hosts(self) -> int:
        """The number of hosts."""
        return len(self.rate_bps)

    def check_path(self, source: int, destination: int, name: str, line: int) -> None:
        """Refuse a flow of a file between hosts that no path joins.

        Raises:
            ExchangeError: there is none.
        """
        nowhere: frozenset[int] = frozenset()
        if self.parts and not self.parts.get(source, nowhere) & self.parts.get(destination, nowhere):
            reason = f"no links lead from host {source} to host {destination}; write links between them"
            raise ExchangeError(name, line, reason)


def of_topology(topology: hpcc.Topology, name: str, memory: Sequence[str] = (), buffer: str = BUFFER) -> Network:
    """Return the network of a topology of HPCC: node 7 is h7, or s7 where it is a switch.

    Args:
        topology: the topology.
        name: stands in messages.
        memory: the tables of flow control and shared memory, as lines of TOML.
        buffer: the size of an output queue, as text.

    Raises:
        ExchangeError: a link cannot be expressed; the message has its line.
    """
    switches = set(topology.switches)
    lines = ["[topology.graph]"]
    hosts = ranges(f"h{node}" for node in range(topology.nodes) if node not in switches)
    lines += [
        f"hosts = {hosts}",
        f"switches = {ranges(f's{node}' for node in topology.switches)}",
        f'buffer = "{buffer}"',
    ]
    fastest: dict[int, int] = {}
    above = list(range(topology.nodes))
    seen: dict[frozenset[int], int] = {}
    for line, at in enumerate(topology.links, start=3):
        if float(at.error_rate) > 0:
            raise ExchangeError(name, line, f"the error rate is {at.error_rate}; links here lose nothing: write 0")
        ends = frozenset((at.first, at.second))
        if ends in seen:
            reason = f"nodes {at.first} and {at.second} are joined in line {seen[ends]} already; write one faster link"
            raise ExchangeError(name, line, reason)
        seen[ends] = line
        if not ends & switches:
            raise ExchangeError(
                name, line, f"the link joins hosts {at.first} and {at.second}; put a switch between them"
            )
        rate = rate_bps(at.rate)
        if rate is None or rate == 0:
            raise ExchangeError(name, line, f"the rate is {at.rate}; write a whole number of bit/s above 0")
        try:
            delay = _delay_ps(at.delay)
        except ValueError as error:
            raise ExchangeError(name, line, f"the delay {'; '.join(error.args)}") from None
        for node in ends - switches:
            fastest[node] = max(fastest.get(node, 0), rate)
        first, second = (f"{'s' if node in switches else 'h'}{node}" for node in (at.first, at.second))
        joined = f'[[topology.graph.link]]\nends = ["{first}", "{second}"]'
        lines.append(f'\n{joined}\nrate = "{rate_text(rate)}"\ndelay = "{delay_text(delay)}"')
        if ends <= switches:
            above[_root(above, at.first)] = _root(above, at.second)
    parts: dict[int, frozenset[int]] = {}
    for at in topology.links:
        for host, switch in ((at.first, at.second), (at.second, at.first)):
            if host not in switches:
                parts[host] = parts.get(host, frozenset()) | {_root(above, switch)}
    return Network([*lines, *memory], fastest, parts, buffer, assumed=True)


def of_fabric(fabric: htsim.Fabric) -> Network:
    """Return the network of a fabric of htsim: hosts h0, h1, … rack by rack.

    A separate table stands for a leaf-spine fabric and for the k-ary fat tree with links that are alike; any other
    is a graph with switches tor0, …, agg0, … and core0, ….
    """
    tiers = fabric.tiers
    sizes = fabric.queues
    known = {size for size in sizes if size is not None}
    buffer = BUFFER if len(known) != 1 else f"{next(iter(known))} octets"
    singly = all(tier.bundle == 1 for tier in tiers)
    alike = len({tier.latency_ns for tier in tiers}) == len({tier.switch_latency_ns for tier in tiers}) == 1
    plain = alike and len(set(sizes)) == 1
    rate_bps = dict.fromkeys(range(fabric.nodes), tiers[0].speed_gbps * 10**9)
    network = Network([], rate_bps, {}, buffer, assumed=None in sizes)
    racks, middle, cores = fabric.switches
    k = 2 * tiers[0].radix_down
    shared = [f'link_delay = "{tiers[0].latency_ns} ns"', f'buffer = "{buffer}"']
    if tiers[0].switch_latency_ns:
        shared += ["", "[network]", f'node_delay = "{tiers[0].switch_latency_ns} ns"']
    if plain and len(tiers) == 2:
        lines = [
            "[topology.leaf-spine]",
            f"leaves = {racks}",
            f"spines = {middle}",
            f"hosts_per_leaf = {tiers[0].radix_down}",
            f'host_rate = "{tiers[0].speed_gbps} Gbps"',
            f'fabric_rate = "{tiers[1].speed_gbps} Gbps"',
            *_parallel(tiers[1]),
        ]
        return replace(network, lines=lines + shared)
    square = (racks, middle, cores, fabric.pod) == (k * k // 2, k * k // 2, k * k // 4, k * k // 4)
    if plain and singly and square and fabric.nodes == k**3 // 4 and len({tier.speed_gbps for tier in tiers}) == 1:
        lines = ["[topology.fat-tree]", f"k = {k}", f'link_rate = "{tiers[0].speed_gbps} Gbps"']
        return replace(network, lines=lines + shared)
    return replace(network, lines=_graph(fabric, buffer))


def _graph(fabric: htsim.Fabric, buffer: str) -> list[str]:
    """Return a fabric as a list of its links, as htsim lays them."""
    tiers = fabric.tiers
    counts = fabric.switches
    names = [("tor", counts[0]), ("agg", counts[1]), *([("core", counts[2])] if counts[2] else [])]
    switches = ", ".join(f'"{word}0..{word}{count - 1}"' for word, count in names)
    lines = [
        "[topology.graph]",
        f'hosts = "h0..h{fabric.nodes - 1}"',
        f"switches = [{switches}]",
        f'buffer = "{buffer}"',
    ]
    for (word, count), tier in zip(names, tiers, strict=True):
        if tier.switch_latency_ns:
            node = "\n[[topology.graph.node]]\nname = "
            lines += [f'{node}"{word}{i}"\ndelay = "{tier.switch_latency_ns} ns"' for i in range(count)]
    ends = [(f"h{host}", f"tor{host // tiers[0].radix_down}", 0) for host in range(fabric.nodes)]
    pods = fabric.nodes // fabric.pod
    racks, middle = counts[0] // pods, counts[1] // pods
    ends += [
        (f"tor{pod * racks + rack}", f"agg{pod * middle + at}", 1)
        for pod in range(pods)
        for rack in range(racks)
        for at in range(middle)
    ]
    up = (tiers[1].radix_up or 0) // tiers[-1].bundle
    ends += [(f"agg{agg}", f"core{agg % middle + middle * way}", 2) for agg in range(counts[1]) for way in range(up)]
    for low, high, level in ends:
        link = f'\n[[topology.graph.link]]\nends = ["{low}", "{high}"]\nrate = "{tiers[level].speed_gbps} Gbps"'
        size = fabric.queues[level]
        own = f'\nbuffer = "{size} octets"' if size is not None and f"{size} octets" != buffer else ""
        lines += [f'{link}\ndelay = "{tiers[level].latency_ns} ns"{own}', *_parallel(tiers[level])]
    return lines


def _parallel(tier: htsim.Tier) -> list[str]:
    """Return the key of links that several join the same two switches."""
    return [f"parallel = {tier.bundle}"] if tier.bundle > 1 else []


def rate_text(rate_bps: int) -> str:
    """Return a rate with the largest unit in which it is whole."""
    unit, of = next((unit, of) for unit, of in ((" Gbps", 10**9), (" Mbps", 10**6), (" bps", 1)) if rate_bps % of == 0)
    return f"{rate_bps // of}{unit}"


def delay_text(delay_ps: int) -> str:
    """Return a delay in ns, or in ps where it is no whole number of these."""
    return f"{delay_ps} ps" if delay_ps % 1000 else f"{delay_ps // 1000} ns"


def base_rtt_ps(topology: hpcc.Topology, payload: int) -> int:
    """Return the longest round-trip time between two hosts on an empty network, ps, as HPCC's simulator computes it.

    Delays count twice, and a packet of ``payload`` octets is sent once on each link of the shortest path.
    (``CalculateRoute`` in ``simulation/scratch/third.cc``)
    """
    near: dict[int, list[tuple[int, int, int]]] = {}
    for link in topology.links:
        rate = rate_bps(link.rate) or 1
        delay_ps, sending_ps = _delay_ps(link.delay), payload * 8 * 10**12 // rate
        near.setdefault(link.first, []).append((link.second, delay_ps, sending_ps))
        near.setdefault(link.second, []).append((link.first, delay_ps, sending_ps))
    switches = set(topology.switches)
    longest = 0
    for host in set(near) - switches:
        took = {host: 0}
        queue = [host]
        for now in queue:
            for other, delay_ps, sending_ps in near[now]:
                if other not in took:
                    took[other] = took[now] + 2 * delay_ps + sending_ps
                    # The list grows while it is gone through; hosts do not forward.
                    queue.extend([other] if other in switches else [])
        longest = max(longest, max((time for node, time in took.items() if node not in switches), default=0))
    return longest


def rate_bps(word: str) -> int | None:
    """Return the rate that a word of ns-3 writes, bit/s; ``None`` where it is no whole number."""
    number, prefix, unit = re.fullmatch(r"([\d.]+)([kKMGT]?)(\D*)", word).groups()  # type: ignore[union-attr]
    rate = Decimal(number) * _RATE_UNITS[prefix] * (8 if unit in ("Bps", "B/s") else 1)
    return int(rate) if rate == int(rate) else None


def _delay_ps(word: str) -> int:
    """Return the delay that a word of ns-3 writes, ps. Raises ``ValueError`` with what is wrong and a hint."""
    return round(_core.read_quantity(word, "s") * 1e12)


def ranges(names: Iterable[str]) -> str:
    """Return names of a letter and a number, in their order, as a list of TOML, neighbours as ranges."""
    runs: list[list[str]] = []
    for name in names:
        if runs and name == f"{name[0]}{int(runs[-1][-1][1:]) + 1}" and runs[-1][0][0] == name[0]:
            runs[-1] = [runs[-1][0], name]
        else:
            runs.append([name])
    return "[" + ", ".join(f'"{"..".join(run)}"' for run in runs) + "]"


def _root(above: list[int], node: int) -> int:
    """Return the node that stands for all that are joined with this one."""
    while above[node] != node:
        above[node] = above[above[node]]
        node = above[node]
    return node
