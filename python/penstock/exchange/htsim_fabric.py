"""A scenario's network as a fabric of htsim, where it is one: hosts in racks, pods, and a core."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

from penstock.declared import Description, LinkDescription
from penstock.errors import ArgumentError
from penstock.exchange.htsim import Fabric, Tier

_HINT = "htsim's .topo has trees of two or three tiers of switches that are alike, such as leaf-spine and fat-tree"


def fabric_of(plan: Description) -> Fabric:
    """Return the network of a laid out scenario as a fabric.

    Raises:
        ArgumentError: it is none, or has values that the file cannot have; the message says where.
    """
    links: dict[tuple[str, str], list[LinkDescription]] = {}
    near: dict[str, list[str]] = {node["name"]: [] for node in plan["nodes"]}
    for link in plan["links"]:
        ends = (link["node"], link["peer"])
        if ends not in links:
            near[link["node"]].append(link["peer"])
        links.setdefault(ends, []).append(link)
    hosts = [node["name"] for node in plan["nodes"] if node["kind"] == "host"]
    switches = [node["name"] for node in plan["nodes"] if node["kind"] == "switch"]
    is_host = set(hosts)
    for host in hosts:
        own = sum(len(links[host, peer]) for peer in near[host])
        if own != 1 or near[host][0] in is_host:
            raise _not(f"the host {host} has {own} links and not one to a switch")
    racks = list(dict.fromkeys(near[host][0] for host in hosts))
    in_rack = set(racks)
    rest = [name for name in switches if name not in in_rack]
    middle = [name for name in rest if any(other in in_rack for other in near[name])]
    in_middle = set(middle)
    cores = [name for name in rest if name not in in_middle]
    for name in switches:
        allowed = is_host | in_middle if name in in_rack else in_rack | set(cores) if name in in_middle else in_middle
        if any(other not in allowed for other in near[name]):
            raise _not(f"the switch {name} has a link that neither goes up a tier nor down")
    down = _one("the racks", (sum(other in is_host for other in near[name]) for name in racks))
    if [near[host][0] for host in hosts] != [racks[place // down] for place in range(len(hosts))]:
        raise _not("hosts next to one another are not in one rack")
    if not middle:
        raise _not("there is one tier of switches")
    ups = {name: frozenset(other for other in near[name] if other in in_middle) for name in racks}
    up = _one("the racks' links upwards", (len(above) for above in ups.values()))
    pods = list(dict.fromkeys(ups.values()))
    _disjoint(pods, len(middle))
    per_pod = _one("the pods", Counter(ups.values()).values())
    if [ups[name] for name in racks] != [pods[place // per_pod] for place in range(len(racks))]:
        raise _not("racks next to one another are not in one pod")
    if not cores and len(pods) > 1:
        raise _not("there is no path from one pod to another")
    tiers = _values(links, near, (hosts, racks, middle, cores))
    core_up = 0
    if cores:
        below = {name: frozenset(near[name]) for name in cores}
        rows = list(dict.fromkeys(below.values()))
        _disjoint(rows, len(middle))
        core_up = _one("the rows of the core", Counter(below.values()).values())
        if any(len(row & pod) != 1 for row in rows for pod in pods):
            raise _not("a switch of the core has not one link to each pod")
    return _fitted(tiers, len(hosts), per_pod * down, (down, up, core_up), (len(pods), len(cores)))


T = TypeVar("T")

Values = tuple[int, int, int, int | None, int | None, int]
"""Of a tier: speed (Gb/s), delay of links and of switches (ns), queues downwards and upwards (octets), links of a
bundle."""


def _values(
    links: dict[tuple[str, str], list[LinkDescription]], near: dict[str, list[str]], levels: tuple[Sequence[str], ...]
) -> list[Values]:
    """Return what all links of a tier have."""
    found: list[Values] = []
    through_below_ps = 0
    for number, (low, high) in enumerate(pairwise(levels)):
        if not high:
            break
        above = set(high)
        bundles = [links[name, other] for name in low for other in near[name] if other in above]
        ups = [link for bundle in bundles for link in bundle]
        below = set(low)
        downs = [link for name in high for other in near[name] if other in below for link in links[name, other]]
        where = f"the links below tier {number}"
        size = _one(f"the bundles of {where}", map(len, bundles))
        rate_bps = _one(f"the rates of {where}", [link["rate_bps"] for link in ups + downs])
        up_ps, down_ps = (_one(f"the delays of {where}", [_ps(link) for link in way]) for way in (ups, downs))
        # A frame waits for the switch that it comes to, and not for the host.
        delay_ps = down_ps - through_below_ps
        through_ps = up_ps - delay_ps
        if rate_bps % 10**9 or delay_ps % 1000 or through_ps % 1000:
            reason = f"{where} have {rate_bps} bit/s and {delay_ps} ps, their upper switches {through_ps} ps"
            raise ArgumentError(f"topology: {reason}", "htsim has whole Gb/s and whole ns")
        if delay_ps <= 0 or through_ps < 0:
            raise ArgumentError(f"topology: {where} have a delay of {delay_ps} ps", "htsim's links have 1 ns at least")
        queue = _one(f"the queues of {where}", [link["buffer_octets"] for link in downs])
        queue_up = _one(f"the queues of {where}", [link["buffer_octets"] for link in ups]) if number else None
        if queue is None or (number and queue_up is None):
            raise ArgumentError(f"topology: {where} have queues in frames", "htsim's have octets")
        found.append((rate_bps // 10**9, delay_ps // 1000, through_ps // 1000, queue, queue_up, size))
        through_below_ps = through_ps
    return found


def _fitted(tiers: list[Values], nodes: int, pod: int, ways: tuple[int, int, int], counts: tuple[int, int]) -> Fabric:
    """Return the fabric whose radices and ratios htsim's reader finds right."""
    down, up, core_up = ways
    bundles = [values[5] for values in tiers]
    up *= bundles[1]
    core_up *= bundles[-1]
    pods, cores = counts
    ratio = down // up if up else 0
    middle = tiers[1][0]
    uplinks, left = divmod(nodes * tiers[0][0], middle * max(ratio, 1))
    per_switch, rest = divmod(uplinks, pods * ways[1])
    if not ratio or left or rest or not per_switch:
        raise _not(f"{down} links down from a rack and {up} up, at these rates, are in no ratio that the file can say")
    radices = [down, per_switch]
    if cores:
        lifted, left = divmod(uplinks * middle, tiers[2][0])
        per_core, rest = divmod(lifted, cores)
        if left or rest or not per_core:
            raise _not(f"{cores} switches of the core, at these rates, are in no ratio that the file can say")
        radices.append(per_core)
    built = []
    for number, (speed, delay, through, queue, _, bundle) in enumerate(tiers):
        top = number == len(tiers) - 1
        built.append(
            Tier(
                speed_gbps=speed,
                radix_down=radices[number],
                latency_ns=delay,
                radix_up=None if top else (up, core_up)[number],
                switch_latency_ns=through,
                oversubscribed=ratio if number == 0 else 1,
                bundle=bundle,
                queue_up=None if top else tiers[number + 1][4],
                queue_down=queue,
            )
        )
    return Fabric(nodes, pod if cores else nodes, tuple(built))


def _disjoint(sets: Iterable[frozenset[str]], of: int) -> None:
    """Refuse sets of switches that share some, or leave one out."""
    if len(frozenset().union(*sets)) != of or sum(map(len, sets)) != of:
        raise _not("switches of one tier have different ones above them, in parts")


def _one(what: str, values: Iterable[T]) -> T:
    """Return the value that all have."""
    found = set(values)
    if len(found) != 1:
        raise _not(f"{what} are not alike")
    return found.pop()


def _ps(link: LinkDescription) -> int:
    return round(link["latency_s"] * 1e12)


def _not(reason: str) -> ArgumentError:
    return ArgumentError(f"topology: {reason}", _HINT)
