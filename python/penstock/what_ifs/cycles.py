"""Cycles of buffers that routes close: the condition of a deadlock under priority flow control.

A port waits for the ports to which frames go on from the buffer behind it. The graph of these dependencies over all
shortest paths between hosts, and over the paths that flows list, has a cycle or not (Dally and Seitz 1987). Without one
no deadlock can form; with one it can. Links that are down leave other shortest paths, so each is taken out in turn.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from penstock.declared import LinkDescription
from penstock.errors import ArgumentError
from penstock.what_ifs.fabric import Fabric

MOST_STEPS = 20_000_000
"""Ports times destinations times situations that a search looks at."""

Edge = tuple[str, str]
"""A port, and a port that frames take after it."""


@dataclass(frozen=True, kw_only=True)
class Cycle:
    """Ports whose buffers wait for one another in a circle.

    Attributes:
        ports: the ports, in the order in which frames take them; the last waits for the first again.
        down: links that are down, as ``leaf0--spine1``; none where the cycle is there with all links.
        routes: for each port a route over it and the next one, as its ports between switches.
    """

    ports: tuple[str, ...]
    down: tuple[str, ...]
    routes: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class CycleSearch:
    """The outcome of a search.

    Attributes:
        routes: shortest paths between all pairs of hosts with all links up, and paths that flows list.
        situations: sets of links that were taken out, the empty one included.
        with_cycle: number of situations that have a cycle.
        links_down: the most links that were down at once.
        cycles: different cycles, those with the fewest links down first; a shortest one of each situation.
    """

    routes: int
    situations: int
    with_cycle: int
    links_down: int
    cycles: tuple[Cycle, ...]


class _Network:
    """The links of switches that are up, and where hosts are."""

    def __init__(self, fabric: Fabric, down: Iterable[str]) -> None:
        dead = set(down)
        self.leaving: dict[str, list[LinkDescription]] = {switch: [] for switch in fabric.switches}
        for name, link in fabric.links.items():
            if fabric.is_between_switches(name) and name not in dead:
                self.leaving[link["node"]].append(link)
        # Hosts at the same switches have the same routes.
        at: dict[str, set[str]] = {host: set() for host in fabric.hosts}
        for link in fabric.links.values():
            if link["node"] in at and link["peer"] in fabric.switches:
                at[link["node"]].add(link["peer"])
        self.groups: dict[frozenset[str], list[str]] = {}
        for host, switches in at.items():
            self.groups.setdefault(frozenset(switches), []).append(host)

    def distances(self, to: frozenset[str]) -> dict[str, int]:
        """Return the number of links from each switch to the nearest of ``to``. Links lead both ways."""
        found = dict.fromkeys(sorted(to), 0)
        waiting = deque(found)
        while waiting:
            switch = waiting.popleft()
            for link in self.leaving[switch]:
                if link["peer"] not in found:
                    found[link["peer"]] = found[switch] + 1
                    waiting.append(link["peer"])
        return found

    def nearer(self, switch: str, distance: Mapping[str, int]) -> list[LinkDescription]:
        """Return the links over which shortest paths go on."""
        own = distance[switch]
        return [link for link in self.leaving[switch] if distance.get(link["peer"], own) < own]

    def used(self, to: frozenset[str], distance: Mapping[str, int]) -> list[str]:
        """Return the switches that shortest paths from hosts cross, farthest first."""
        found = dict.fromkeys(
            gate
            for group in self.groups
            for gate in sorted(group)
            if gate in distance and distance[gate] == min(distance.get(other, len(distance)) for other in group)
        )
        waiting = deque(found)
        while waiting:
            for link in self.nearer(waiting.popleft(), distance):
                if link["peer"] not in found:
                    found[link["peer"]] = None
                    waiting.append(link["peer"])
        return sorted(found, key=lambda switch: -distance[switch])

    def dependencies(self) -> dict[Edge, frozenset[str]]:
        """Return the dependencies of ports of switches, each with the switches of hosts to which a route has it."""
        found: dict[Edge, frozenset[str]] = {}
        for to in self.groups:
            distance = self.distances(to)
            for switch in self.used(to, distance):
                for link in self.nearer(switch, distance):
                    for following in self.nearer(link["peer"], distance):
                        found.setdefault((link["name"], following["name"]), to)
        return found

    def paths(self) -> int:
        """Return the number of shortest paths between different hosts."""
        total = 0
        for to, hosts in self.groups.items():
            distance = self.distances(to)
            number = dict.fromkeys(to, 1)
            for switch in sorted(distance, key=distance.__getitem__):
                if switch not in number:
                    number[switch] = sum(number[link["peer"]] for link in self.nearer(switch, distance))
            for group, sources in self.groups.items():
                nearest = min((distance[gate] for gate in group if gate in distance), default=None)
                own = sum(number[gate] for gate in group if distance.get(gate) == nearest) if nearest is not None else 0
                total += own * (len(sources) * len(hosts) - (len(hosts) if group == to else 0))
        return total

    def route(self, edge: Edge, to: frozenset[str], links: Mapping[str, LinkDescription]) -> tuple[str, ...]:
        """Return the ports of a shortest path with an edge: from a switch that has hosts to one of ``to``."""
        distance = self.distances(to)
        gates = {gate for group in self.groups for gate in group}
        before = {link["peer"]: link for switch in self.used(to, distance) for link in self.nearer(switch, distance)}
        route = [links[name] for name in edge]
        while route[0]["node"] not in gates:
            route.insert(0, before[route[0]["node"]])
        while distance[route[-1]["peer"]]:
            route.append(self.nearer(route[-1]["peer"], distance)[0])
        return tuple(link["name"] for link in route)


def search(fabric: Fabric, *, links_down: int = 1, listed: Sequence[Sequence[str]] = (), most: int = 32) -> CycleSearch:
    """Search the routes of a fabric for cycles of buffers, with all links and with some down.

    Args:
        fabric: the network.
        links_down: the most links between switches that are down at once, 0 to 2.
        listed: the paths that flows list, as nodes; a flow keeps its path when a link is down, unless the path has it.
        most: the most different cycles that are returned.

    Raises:
        ArgumentError: ``links_down`` is out of range, or the fabric has too many links for it.
    """
    if links_down not in (0, 1, 2):
        raise ArgumentError(f"links_down={links_down}: out of range", "write 0, 1 or 2")
    between = [link for name, link in fabric.links.items() if fabric.is_between_switches(name)]
    physical = {frozenset((link["name"], link["reverse"])): link["name"] for link in reversed(between)}
    situations = [down for number in range(links_down + 1) for down in combinations(reversed(physical), number)]
    whole = _Network(fabric, ())
    if len(situations) * len(whole.groups) * len(between) > MOST_STEPS:
        message = f"links_down={links_down}: {len(situations)} sets of links are too many for this fabric"
        raise ArgumentError(message, f"write {links_down - 1}")
    paths = [_ports(fabric, path) for path in listed]
    found: dict[frozenset[str], Cycle] = {}
    with_cycle = 0
    for down in situations:
        dead = frozenset().union(*down)
        network = _Network(fabric, dead)
        edges = network.dependencies()
        explicit = {edge: path for path in paths if not dead & set(path) for edge in pairwise(path)}
        cycle = _shortest([*edges, *explicit])
        if cycle is None:
            continue
        with_cycle += 1
        if frozenset(cycle) in found or len(found) >= most:
            continue
        circle = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
        found[frozenset(cycle)] = Cycle(
            ports=tuple(cycle),
            down=tuple(physical[pair].replace("->", "--") for pair in down),
            routes=tuple(
                explicit[edge] if edge in explicit else network.route(edge, edges[edge], fabric.links)
                for edge in circle
            ),
        )
    return CycleSearch(
        routes=whole.paths() + len(listed),
        situations=len(situations),
        with_cycle=with_cycle,
        links_down=links_down,
        cycles=tuple(found.values()),
    )


def _ports(fabric: Fabric, path: Sequence[str]) -> tuple[str, ...]:
    """Return the ports between switches of a listed path; of parallel links a node ends in the number of its link."""
    bare = [path[0], *(name if name in fabric.switches else name.rpartition(".")[0] or name for name in path[1:])]
    names = [f"{node}->{peer}" for node, peer in zip(bare, path[1:], strict=False)]
    return tuple(name for name in names if name in fabric.links and fabric.is_between_switches(name))


def _shortest(edges: Iterable[Edge]) -> list[str] | None:
    """Return a shortest cycle of a directed graph, from its first port in the order of names; None without one."""
    after: dict[str, set[str]] = {}
    for first, second in edges:
        after.setdefault(first, set()).add(second)
        after.setdefault(second, set())
    # What has no successor that is left is on no cycle.
    while ended := {port for port, following in after.items() if not following}:
        after = {port: following - ended for port, following in after.items() if port not in ended}
    best: list[str] | None = None
    for start in sorted(after):
        cycle = _through(start, after)
        if cycle is not None and (best is None or len(cycle) < len(best)):
            best = cycle
    return best


def _through(start: str, after: Mapping[str, set[str]]) -> list[str] | None:
    """Return a shortest cycle through a port."""
    came_from = {start: start}
    waiting = deque([start])
    while waiting:
        port = waiting.popleft()
        for following in sorted(after[port]):
            if following == start:
                cycle = [port]
                while cycle[0] != start:
                    cycle.insert(0, came_from[cycle[0]])
                return cycle
            if following not in came_from:
                came_from[following] = port
                waiting.append(following)
    return None
