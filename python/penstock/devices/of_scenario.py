"""From a scenario to the configuration of each of its switches and network interfaces."""

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from penstock._core import read_quantity
from penstock.declared import FlowControlDescription, LinkDescription, Outline
from penstock.devices.model import (
    ALPHA_NONE,
    ALPHA_UNLIMITED,
    Device,
    Pool,
    Port,
    Queue,
    Threshold,
    Watchdog,
    Wred,
    watchdogs,
)
from penstock.quantity_text import bit_rate, duration, octets
from penstock.scenario import Scenario

PortName = Callable[[int, int], str]
"""The name of a port from its index on the device and its rate in bit/s."""

_NS_PER_M = 5.05


def devices(scenario: Scenario, port_name: PortName, *, limit: int = 1) -> list[Device]:
    """Return the switches of a scenario, then the network interfaces of its hosts.

    Args:
        scenario: the fabric.
        port_name: names the ports, as the target has it.
        limit: as that of :meth:`Scenario.run`.

    Raises:
        ScenarioError: a value of the scenario is not legal.
    """
    outline = scenario.outline(limit=limit)
    builder = _Builder(outline, tomllib.loads(scenario.resolved()), port_name)
    kinds = {node["name"]: node["kind"] for node in outline["nodes"]}
    ordered = sorted(kinds, key=lambda name: kinds[name] == "host")
    return [builder.device(name, is_switch=kinds[name] == "switch") for name in ordered]


class _Builder:
    def __init__(self, outline: Outline, resolved: Mapping[str, Any], port_name: PortName) -> None:
        self.outline, self.port_name = outline, port_name
        self.links = {link["name"]: link for link in outline["links"]}
        self.by_node: dict[str, list[LinkDescription]] = {}
        for link in outline["links"]:
            self.by_node.setdefault(link["node"], []).append(link)
        self.pfc: Mapping[str, Any] = resolved.get("pfc", {})
        self.lossless = tuple(sorted(self.pfc.get("priorities", ())))
        self.buffers: Sequence[Mapping[str, Any]] = resolved.get("buffer", [])
        self.classes = {table["priority"]: table for table in resolved.get("priority", [])}
        self.wreds: Sequence[Mapping[str, Any]] = resolved.get("wred", [])
        self.schemes: Mapping[str, Mapping[str, Any]] = resolved.get("schemes", {})
        self.network: Mapping[str, Any] = resolved.get("network", {})
        self.switches: Sequence[Mapping[str, Any]] = resolved.get("switch", [])
        named = {assigned["priority"] for assigned in outline["schemes"]} | set(self.classes) | set(self.lossless)
        named |= {priority for table in self.wreds for priority in table["priorities"]}
        named |= {priority for table in self.buffers for priority in _priorities(table)}
        self.priorities = sorted(named)
        self.assigned = {assigned["priority"]: assigned for assigned in outline["schemes"]}

    def device(self, name: str, *, is_switch: bool) -> Device:
        reasons: dict[str, str] = {}
        beyond: dict[str, None] = {}
        links = self.by_node.get(name, [])
        ports = [self._port(link, index, is_switch, reasons, beyond) for index, link in enumerate(links)]
        own = [pool for pool in self.outline["memory"] if pool["switch"] == name]
        memory = own[0]["memory_octets"] if own else None
        pools: dict[str, Pool] = {}
        if is_switch:
            pools = self._pools(name, ports, memory, reasons)
        common, others = watchdogs(self._watchdogs(links, ports, reasons) if is_switch else {})
        return Device(
            name=name,
            kind="switch" if is_switch else "nic",
            ports=tuple(ports),
            pools=pools,
            dscp={code: number for number in self.priorities for code in self._dscp(number)},
            pcp={self.classes.get(number, {}).get("pcp", number): number for number in self.priorities},
            watchdog=common,
            watchdogs=others,
            memory_octets=memory,
            cell_octets=max((pool["cell_octets"] for pool in own), default=1),
            reasons=reasons,
            beyond=tuple(beyond),
        )

    def _dscp(self, priority: int) -> list[int]:
        return list(self.classes.get(priority, {}).get("dscp", [8 * priority]))

    def _watchdogs(
        self, links: Sequence[LinkDescription], ports: Sequence[Port], reasons: dict[str, str]
    ) -> dict[str, Watchdog | None]:
        """Return the watchdog of each paused port of a switch."""
        table = self.pfc.get("watchdog")
        if table is None:
            reasons["watchdog"] = "the scenario has no [pfc.watchdog]: nothing ends a storm of pauses"
        else:
            reasons["watchdog"] = f"[pfc.watchdog]: after {table['after']}, restoration {table['restoration']}"
        found = {}
        for link, port in zip(links, ports, strict=True):
            own = link["watchdog"]
            if port.pfc:
                found[port.name] = (
                    None
                    if own is None
                    else Watchdog(
                        detection_ms=max(1, round(own["detection_s"] * 1000)),
                        restoration_ms=max(1, round(own["restoration_s"] * 1000)),
                        poll_ms=round(own["poll_s"] * 1000),
                        action=own["action"],
                    )
                )
        return found

    def _port(
        self, link: LinkDescription, index: int, is_switch: bool, reasons: dict[str, str], beyond: dict[str, None]
    ) -> Port:
        rate = link["rate_bps"]
        arriving = self.links[link["reverse"]]["flow_control"] if is_switch else link["flow_control"]
        frame = int(read_quantity(self.pfc["mtu"], "octets")) if "mtu" in self.pfc else 0
        paused = arriving is not None or link["flow_control"] is not None
        name = self.port_name(index, rate)
        cable = link["cable_m"]
        if cable is None:
            beyond["topology: a delay is no length of a cable, so no length is written"] = None
        elif cable != math.ceil(cable):
            beyond[f"topology: a cable of {cable:g} m is written as {math.ceil(cable)} m"] = None
        for key, table in (("credit_octets", "credits"), ("replay_octets", "retry")):
            if link[key] is not None:  # type: ignore[literal-required]
                beyond[f"[[{table}]]: nothing is written about it"] = None
        ingress: dict[int, Threshold] = {}
        if is_switch:
            ingress = {p: self._ingress(link, arriving, p, reasons, beyond) for p in self.priorities}
        elif arriving is not None:
            # The interface needs for the pauses that it sends what the switch at the other end needs for its own.
            need = arriving["headroom_needed_octets"]
            ingress = {p: Threshold(xoff_octets=need) for p in self.lossless}
        if arriving is not None:
            reasons[f"xoff|{name}"] = self._why_xoff(link, arriving, frame)
        switched = self.priorities if is_switch else []
        return Port(
            name=name,
            link=link["name"],
            rate_bps=rate,
            frame_octets=frame,
            cable_m=None if cable is None else math.ceil(cable),
            delay_bits=None if is_switch or cable is None else math.ceil(2 * cable * _NS_PER_M * rate / 1e9),
            pfc=self.lossless if paused else (),
            ingress=ingress,
            egress={p: self._egress(link, p, beyond) for p in switched},
            queues={p: self._queue(link, p, reasons, beyond) for p in switched},
        )

    def _why_xoff(self, link: LinkDescription, arriving: FlowControlDescription, frame: int) -> str:
        need = f"{arriving['headroom_needed_octets']} octets arrive after a pause"
        if arriving["pools"]:
            pool = arriving["pools"][0]
            need += f", {pool['headroom_needed_octets']} as short frames in cells of {pool['cell_octets']}"
        cable = "" if link["cable_m"] is None else f", {link['cable_m']:g} m"
        response = duration(arriving["response_s"])
        return f"{need} ({bit_rate(link['rate_bps'])}{cable}, frames of {frame}, response {response})"

    def _table(self, switch: str, priority: int) -> Mapping[str, Any] | None:
        for table in self.buffers:
            if priority in _priorities(table) and (table["switches"] == "all" or switch in table["switches"]):
                return table
        return None

    def _ingress(
        self,
        link: LinkDescription,
        arriving: FlowControlDescription | None,
        priority: int,
        reasons: dict[str, str],
        beyond: dict[str, None],
    ) -> Threshold:
        lossless = priority in self.lossless and arriving is not None
        table = self._table(link["node"], priority)
        if table is None:
            if not lossless:
                return Threshold(pool="ingress_lossy_pool", limit_octets=self._own_buffer(link))
            assert arriving is not None
            return Threshold(
                pool="ingress_lossless_pool",
                limit_octets=arriving["xoff_octets"],
                xoff_octets=arriving["headroom_octets"],
                xon_offset_octets=arriving["xoff_octets"] - arriving["xon_octets"],
            )
        exponent = _exponent(_of(table["ingress_alpha"], priority, "none"), "ingress_alpha", beyond)
        reserve = int(read_quantity(_of(table["ingress_reserve"], priority, "0 octets"), "octets"))
        threshold = Threshold(pool=self._pool_name(table), reserve_octets=reserve, alpha_exponent=exponent)
        reasons[f"alpha|{priority}"] = f"ingress_alpha of [[buffer]] for priority {priority}"
        if not lossless:
            return threshold
        assert arriving is not None
        pool = next((pool for pool in arriving["pools"] if pool["name"] == table["name"]), None)
        return Threshold(
            pool=threshold.pool,
            reserve_octets=reserve,
            alpha_exponent=exponent,
            xoff_octets=arriving["headroom_octets"] if pool is None else pool["headroom_octets"],
            xon_offset_octets=arriving["xoff_octets"] - arriving["xon_octets"],
        )

    def _pool_name(self, table: Mapping[str, Any]) -> str:
        """Return the name that SONiC's buffer manager looks for, that of the table if it has several of the kind."""
        lossless = any(priority in self.lossless for priority in _priorities(table))
        alike = [
            other["name"]
            for other in self.buffers
            if any(priority in self.lossless for priority in _priorities(other)) == lossless
        ]
        name = "ingress_lossless_pool" if lossless else "ingress_lossy_pool"
        return name if alike[0] == table["name"] else f"ingress_{table['name']}"

    def _egress(self, link: LinkDescription, priority: int, beyond: dict[str, None]) -> Threshold:
        table = self._table(link["node"], priority)
        lossless = priority in self.lossless
        name = "egress_lossless_pool" if lossless else "egress_lossy_pool"
        if table is None:
            return Threshold(pool=name, limit_octets=self._own_buffer(link))
        if lossless:
            # Its ingress threshold limits it; a queue alone may fill the memory.
            return Threshold(pool=name, limit_octets=self._memory(link["node"]))
        exponent = _exponent(_of(table["alpha"], priority, "none"), "alpha", beyond)
        reserve = int(read_quantity(_of(table["reserve"], priority, "0 octets"), "octets"))
        return Threshold(pool=name, reserve_octets=reserve, alpha_exponent=exponent)

    def _own_buffer(self, link: LinkDescription) -> int:
        return link["buffer_octets"] or 0

    def _memory(self, switch: str) -> int:
        own = [pool for pool in self.outline["memory"] if pool["switch"] == switch]
        held = sum(pool["reserved_octets"] + pool["shared_octets"] + pool["headroom_octets"] for pool in own)
        return next((pool["memory_octets"] for pool in own if pool["memory_octets"]), held)

    def _pools(
        self, switch: str, ports: Sequence[Port], memory: int | None, reasons: dict[str, str]
    ) -> dict[str, Pool]:
        pools: dict[str, Pool] = {}
        own = {pool["pool"]: pool for pool in self.outline["memory"] if pool["switch"] == switch}
        for table in self.buffers:
            pool = own.get(table["name"])
            if pool is not None:
                name = self._pool_name(table)
                size = pool["shared_octets"] + pool["reserved_octets"]
                pools[name] = Pool(
                    direction="ingress", mode="dynamic", size_octets=size, xoff_octets=pool["headroom_octets"]
                )
                of = "" if memory is None else f" of {octets(memory)}"
                reasons[f"pool|{name}"] = (
                    f"{pool['shared_octets']} shared + {pool['reserved_octets']} reserved octets{of}; xoff is the "
                    f"headroom of all lines, {pool['headroom_needed_octets']} octets needed"
                )
        # Memory that is each port's alone: a static pool as large as all of it.
        for direction in ("ingress", "egress"):
            held: dict[str, list[Threshold]] = {}
            for port in ports:
                for threshold in (port.ingress if direction == "ingress" else port.egress).values():
                    held.setdefault(threshold.pool, []).append(threshold)
            for name, thresholds in held.items():
                if name in pools:
                    continue
                if any(threshold.alpha_exponent is not None for threshold in thresholds):
                    pools[name] = Pool(direction="egress", mode="dynamic", size_octets=self._memory(switch))
                    reasons[f"pool|{name}"] = "frames that leave are counted again: the memory of the switch"
                    continue
                shared = direction == "egress" and own
                size = self._memory(switch) if shared else sum(each.limit_octets or 0 for each in thresholds)
                pools[name] = Pool(
                    direction="ingress" if direction == "ingress" else "egress",
                    mode="static",
                    size_octets=size,
                    xoff_octets=0 if shared else sum(each.xoff_octets for each in thresholds),
                )
                reasons[f"pool|{name}"] = "the memory of the switch" if shared else "the sum of the ports' own buffers"
        return pools

    def _queue(self, link: LinkDescription, priority: int, reasons: dict[str, str], beyond: dict[str, None]) -> Queue:
        table = self.classes.get(priority, {})
        limit = table.get("max_rate")
        wred = self._wred(link, priority, reasons, beyond)
        return Queue(
            wred=wred,
            weight=table.get("weight"),
            max_rate_bps=None if limit is None else round(read_quantity(limit, "bit/s")),
        )

    def _wred(
        self, link: LinkDescription, priority: int, reasons: dict[str, str], beyond: dict[str, None]
    ) -> Wred | None:
        rate = link["rate_bps"]
        for table in self.wreds:
            if priority in table["priorities"] and (table["ports"] == "all" or link["name"] in table["ports"]):
                reasons[f"wred|{priority}|{rate}"] = f"[[wred]] of priority {priority}"
                ends = _threshold(table["min"], rate), _threshold(table["max"], rate)
                return Wred(
                    min_octets=ends[0],
                    max_octets=ends[1],
                    percent=_percent(table["probability"], beyond),
                    ecn=table["ecn"],
                )
        assigned = self.assigned.get(priority)
        if assigned is None:
            return None
        keys, name = assigned["parameters"], assigned["name"]
        if keys.get("marking") == "threshold" and ("k" in keys or "k_min" in keys):
            low, high, most = ("k_min", "k_max", keys.get("p_max", 1.0)) if "k_min" in keys else ("k", "k", 1.0)
            written = {} if "profile" in self.classes.get(priority, {}) else self.schemes.get(name, {})
            ends = (
                _threshold(written.get(low, keys[low]), rate),
                _threshold(written.get(high, keys[high]), rate),
            )
            reasons[f"wred|{priority}|{rate}"] = f"{low}, {high} of [schemes.{name}] at {bit_rate(rate)}"
            return Wred(min_octets=ends[0], max_octets=ends[1], percent=_percent(float(most), beyond))
        if name not in ("none", "timely", "swift", "nscc"):
            beyond[f"{name}: no configuration of these devices has this scheme; its queues are written without ECN"] = (
                None
            )
        mark = self.network.get("ecn_threshold")
        if mark is not None:
            at = _threshold(mark, rate)
            reasons[f"wred|{priority}|{rate}"] = "network.ecn_threshold: a step"
            return Wred(min_octets=at, max_octets=at, percent=100)
        return None


def _priorities(table: Mapping[str, Any]) -> set[int]:
    """Return the priorities of a buffer, those that only its tables by priority name among them."""
    keys = ("alpha", "ingress_alpha", "reserve", "ingress_reserve")
    named = {int(key) for name in keys if isinstance(table[name], Mapping) for key in table[name] if key.isdigit()}
    return set(table["priorities"]) | named


def _of(value: Any, priority: int, otherwise: Any) -> Any:
    if isinstance(value, Mapping) and "dynamic_th" not in value:
        return value.get(str(priority), otherwise)
    return value


def _exponent(value: Any, key: str, beyond: dict[str, None]) -> int:
    """Return n of the largest 2^n that an alpha reaches: a larger one would hold more memory than was simulated."""
    if isinstance(value, Mapping):
        return int(value["dynamic_th"])
    if value == "none":
        return ALPHA_UNLIMITED
    alpha = float(Fraction(value)) if isinstance(value, str) else float(value)
    if alpha <= 0:
        return ALPHA_NONE
    exponent = max(ALPHA_NONE + 1, min(ALPHA_UNLIMITED - 1, math.floor(math.log2(alpha) + 1e-9)))
    if 2.0**exponent != alpha:
        beyond[f"{key}: {alpha:g} is no power of two from 1/128 to 64, so {2.0**exponent:g} is written"] = None
    return exponent


def _threshold(value: Any, rate_bps: int) -> int:
    """Return a threshold in octets, written as a size, a number of octets, or a time at the line rate."""
    if not isinstance(value, str):
        return round(float(value))
    try:
        return round(float(read_quantity(value, "octets")))
    except ValueError:
        pass
    return round(float(read_quantity(value, "s")) * rate_bps / 8)


def _percent(probability: float, beyond: dict[str, None]) -> int:
    percent = min(100, max(0, round(probability * 100)))
    if abs(percent - probability * 100) > 1e-9:
        beyond[f"probability: {probability:g} is written as {percent} per cent"] = None
    return percent
