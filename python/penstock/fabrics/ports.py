"""The ports of a fabric, those that are alike together, and the memory of its switches."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from penstock.declared import LinkDescription, Outline, PoolMemory

_NUMBERED = re.compile(r"^(.*?)(0|[1-9][0-9]*)$")


@dataclass(frozen=True, kw_only=True)
class PortKind:
    """Ports that are alike.

    Attributes:
        nodes: the nodes that have them, in short, as in ``leaf0..leaf7``.
        peers: the nodes at the other end, likewise.
        ports: their names.
        rate_bps: rate of each, bit/s.
        cable_m: length of the cable, m; ``None`` where the delay is given instead.
        latency_s: from the end of a transmission until the peer acts, s.
        response_s: from the arrival of a pause frame until the port stops, s; ``None`` without priority flow control.
        xoff_octets: where the far end pauses the port if no other line holds memory.
        xoff_together_octets: the same if all lossless lines hold as much.
        headroom_octets: memory for a line and priority after the pause, in whole cells where a pool has it.
        headroom_needed_octets: what frames, delays and response need, in the same cells.
        credit_octets: memory at the far end for each priority with credits; ``None`` without.
        replay_octets: replay buffer of link-level retry; ``None`` without.
    """

    nodes: str
    peers: str
    ports: tuple[str, ...]
    rate_bps: int
    cable_m: float | None
    latency_s: float
    response_s: float | None
    xoff_octets: int | None
    xoff_together_octets: int | None
    headroom_octets: int | None
    headroom_needed_octets: int | None
    credit_octets: int | None
    replay_octets: int | None


@dataclass(frozen=True, kw_only=True)
class SwitchMemory:
    """The pools of switches that are alike; reserves, shared parts and headrooms add up to the memory.

    Attributes:
        switches: the switches in short.
        memory_octets: packet memory of each; ``None`` where the scenario does not give it.
        pools: the pools of the first of them.
        oversubscription: rate of the links to hosts over that to switches; ``None`` without either.
    """

    switches: str
    memory_octets: int | None
    pools: tuple[PoolMemory, ...]
    oversubscription: float | None


def port_kinds(outline: Outline) -> list[PortKind]:
    """Return the ports, those that are alike together: from like nodes to like nodes with the same numbers."""
    groups: dict[tuple[object, ...], list[LinkDescription]] = {}
    for link in outline["links"]:
        numbers = tuple(_flow_control(link).items())
        key = (
            _prefix(link["node"]),
            _prefix(link["peer"]),
            link["rate_bps"],
            link["cable_m"],
            link["latency_s"],
            link["credit_octets"],
            link["replay_octets"],
            numbers,
        )
        groups.setdefault(key, []).append(link)
    return [_kind(group) for group in groups.values()]


def _kind(group: list[LinkDescription]) -> PortKind:
    first = group[0]
    return PortKind(
        nodes=names_in_short(link["node"] for link in group),
        peers=names_in_short(link["peer"] for link in group),
        ports=tuple(link["name"] for link in group),
        rate_bps=first["rate_bps"],
        cable_m=first["cable_m"],
        latency_s=first["latency_s"],
        credit_octets=first["credit_octets"],
        replay_octets=first["replay_octets"],
        **_flow_control(first),  # type: ignore[arg-type]
    )


def _flow_control(link: LinkDescription) -> dict[str, float | int | None]:
    about = link["flow_control"]
    keys = ("xoff_octets", "xoff_together_octets", "headroom_octets", "headroom_needed_octets")
    if about is None:
        return dict.fromkeys(("response_s", *keys))
    # Of several pools the one that pauses first; without one the ingress buffer of the line.
    pool = min(about["pools"], key=lambda own: own["xoff_together_octets"], default=None)
    if pool is None:
        values = (about["xoff_octets"], about["xoff_octets"], about["headroom_octets"], about["headroom_needed_octets"])
    else:
        values = (
            pool["xoff_alone_octets"],
            pool["xoff_together_octets"],
            pool["headroom_octets"],
            pool["headroom_needed_octets"],
        )
    return {"response_s": about["response_s"], **dict(zip(keys, values, strict=True))}


def memory(outline: Outline) -> list[SwitchMemory]:
    """Return the memory of the switches, those that are alike together; switches without pools are left out."""
    pools: dict[str, list[PoolMemory]] = {}
    for pool in outline["memory"]:
        pools.setdefault(pool["switch"], []).append(pool)
    subscribed = {node["name"]: node["oversubscription"] for node in outline["nodes"]}
    groups: dict[tuple[object, ...], list[str]] = {}
    for switch, own in pools.items():
        numbers = tuple(tuple(str(value) for key, value in pool.items() if key != "switch") for pool in own)
        groups.setdefault((_prefix(switch), subscribed[switch], numbers), []).append(switch)
    return [
        SwitchMemory(
            switches=names_in_short(switches),
            memory_octets=pools[switches[0]][0]["memory_octets"],
            pools=tuple(pools[switches[0]]),
            oversubscription=subscribed[switches[0]],
        )
        for switches in groups.values()
    ]


def names_in_short(names: Iterable[str]) -> str:
    """Write names with ranges for those that are numbered one after another, such as ``leaf0..leaf7, spine0``."""
    parts: list[tuple[str, int | None, int | None]] = []
    for prefix, number in sorted({_split(name) for name in names}, key=lambda part: (part[0], part[1] or 0)):
        last = parts[-1] if parts else None
        if last and number is not None and last[0] == prefix and last[2] == number - 1:
            parts[-1] = (prefix, last[1], number)
        else:
            parts.append((prefix, number, number))
    return ", ".join(_range(*part) for part in parts)


def _range(prefix: str, first: int | None, last: int | None) -> str:
    if first is None:
        return prefix
    return f"{prefix}{first}" if first == last else f"{prefix}{first}..{prefix}{last}"


def _split(name: str) -> tuple[str, int | None]:
    found = _NUMBERED.match(name)
    return (found[1], int(found[2])) if found else (name, None)


def _prefix(name: str) -> str:
    return _split(name)[0]
