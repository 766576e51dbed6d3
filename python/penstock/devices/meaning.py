"""Sums and meaning: what a configuration does on a chip and a fabric, whatever device has it."""

import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from penstock._core import read_quantity, write_quantity
from penstock.declared import Outline
from penstock.devices import demonstrations
from penstock.devices.findings import Finding, Kind, Place, Reading
from penstock.devices.model import ALPHA_UNLIMITED, Device, Port, Threshold, Watchdog
from penstock.errors import ArgumentError
from penstock.quantity_text import bit_rate, duration
from penstock.scenario import Scenario

_FRAME = 9216


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What is known beside a configuration.

    Attributes:
        memory_octets: packet memory of the chip, octets.
        cell_octets: size of its cells, octets; 1 if it is not known.
        frame_octets: the longest frame where a port does not say it, octets.
        responses: the response time of ports by their rate in bit/s, s; 802.3's quanta for others.
        priorities: the lossless priorities of the fabric.
        longest_stop_s: the longest stop under the fabric's own load, s; ``None`` if it was not run.
    """

    memory_octets: int | None = None
    cell_octets: int = 1
    frame_octets: int = _FRAME
    responses: dict[int, float] = field(default_factory=dict)
    priorities: tuple[int, ...] | None = None
    longest_stop_s: float | None = None


def surroundings(fabric: Scenario | None, chip: str | None) -> Surroundings:
    """Return what a fabric and a chip say; the chip is a name or a size, as in ``tomahawk-5`` or ``64 MB/256 octets``.

    Raises:
        ScenarioError: the fabric or the chip is not legal.
    """
    memory, cell = _chip(chip) if chip else (None, 1)
    if fabric is None:
        return Surroundings(memory_octets=memory, cell_octets=cell)
    outline = fabric.outline()
    if memory is None:
        memory, cell = _memory_of(outline)
    paused = [link for link in outline["links"] if link["flow_control"] is not None]
    mtu, priorities = _pfc_of(fabric)
    return Surroundings(
        memory_octets=memory,
        cell_octets=cell,
        frame_octets=mtu or _FRAME,
        responses={link["rate_bps"]: link["flow_control"]["response_s"] for link in paused if link["flow_control"]},
        priorities=priorities if paused else None,
    )


def _memory_of(outline: Outline) -> tuple[int | None, int]:
    pools = outline["memory"]
    known = [pool["memory_octets"] for pool in pools if pool["memory_octets"]]
    return max(known, default=None), max((pool["cell_octets"] for pool in pools), default=1)


def _pfc_of(fabric: Scenario) -> tuple[int, tuple[int, ...]]:
    pfc = tomllib.loads(fabric.resolved()).get("pfc", {})
    mtu = int(read_quantity(pfc["mtu"], "octets")) if "mtu" in pfc else 0
    return mtu, tuple(pfc.get("priorities", ()))


def _chip(text: str) -> tuple[int | None, int]:
    memory, slash, cell = text.partition("/")
    named = text.replace("-", "").isalnum() and not text[0].isdigit()
    if named:
        return _memory_of(_star(100_000_000_000, 5, 1522, f'chip = "{text}"').outline())
    return int(_size(memory, text)), max(1, int(_size(cell, text))) if slash else 1


def _size(part: str, text: str) -> float:
    # A builder's notation, 64MB/256B, or that of scenarios.
    spaced = re.sub(r"(?<=\d)(?=[A-Za-z])", " ", part.strip())
    try:
        return read_quantity(re.sub(r" B$", " octets", spaced), "octets")
    except ValueError:
        hint = "write a size as in 64MB/256B, or a chip of `penstock schema switch`"
        raise ArgumentError(f"chip={text}: no memory", hint) from None


def _star(rate_bps: int, cable_m: int, frame: int, switch: str, response: str = "") -> Scenario:
    return Scenario.from_toml(f"""
question = "How much headroom does a port need?"
duration = "1 ms"
scheme = "none"
[topology.star]
hosts = 2
link_rate = "{rate_bps} bps"
link_delay = "{cable_m} m"
[network]
wire_overhead = "20 octets"
[[switch]]
{switch}
[[buffer]]
alpha = "none"
[pfc]
priorities = [3]
mtu = "{frame} octets"
buffer = "140 MB"
{response}
[[flow]]
from = "h1"
to = "h0"
priority = 3
frame = "64 octets"
""")


@lru_cache(maxsize=1024)
def headroom_needed(rate_bps: int, cable_m: int, frame: int, cell: int, response_s: float | None = None) -> int:
    """Return the headroom that a port and priority need, octets in whole cells, as ``penstock show`` computes it.

    Args:
        rate_bps: line rate, bit/s.
        cable_m: length of the cable, m.
        frame: the longest frame in both directions, octets.
        cell: size of a memory cell, octets.
        response_s: from the arrival of a pause frame until the port stops, s; the quanta of 802.3 without.

    Raises:
        ScenarioError: a number is beyond what scenarios have.
    """
    response = "" if response_s is None else f'response = "{write_quantity(response_s, "s")}"'
    keys = f'memory = "4 GB"\ncell = "{cell} octets"'
    links = _star(rate_bps, cable_m, max(64, frame), keys, response).outline()["links"]
    about = next(link["flow_control"] for link in links if link["name"] == "h1->sw0")
    assert about is not None
    return about["pools"][0]["headroom_needed_octets"]


def examine(reading: Reading, around: Surroundings) -> list[Finding]:
    """Return faults of sum and meaning; each fault of a profile is said once, for the port that it hurts most."""
    rules = _Examination(reading, around)
    rules.pools()
    rules.ports()
    rules.watchdog()
    return list(rules.findings())


class _Examination:
    def __init__(self, reading: Reading, around: Surroundings) -> None:
        self.reading, self.device, self.around = reading, reading.device, around
        self._found: dict[tuple[str, str], tuple[float, Finding, set[str]]] = {}

    def findings(self) -> Iterator[Finding]:
        for _, finding, ports in self._found.values():
            if len(ports) > 1:
                many = f"{finding.message} (and {len(ports) - 1} more ports)"
                yield Finding(**{**vars(finding), "message": many})
            else:
                yield finding

    def add(
        self,
        place: Place,
        rule: str,
        message: str,
        remedy: str = "",
        *,
        kind: Kind = "meaning",
        severity: Literal["error", "warning", "note"] = "error",
        weight: float = 0,
        port: str = "",
        scenario: str | None = None,
        once: bool = False,
    ) -> None:
        finding = Finding(
            line=place.line,
            where=place.where,
            severity=severity,
            kind=kind,
            message=message,
            remedy=remedy,
            scenario=scenario,
        )
        key = ("" if once else place.where, rule)
        before = self._found.get(key)
        ports = (before[2] if before else set()) | ({port} if port else set())
        if before is None or weight > before[0]:
            self._found[key] = (weight, finding, ports)
        else:
            self._found[key] = (before[0], before[1], ports)

    def pools(self) -> None:
        device, memory = self.device, self.around.memory_octets
        ingress = {name: pool for name, pool in device.pools.items() if pool.direction != "egress"}
        asked = sum((pool.size_octets or 0) + pool.xoff_octets for pool in ingress.values())
        if ingress:
            largest = max(ingress, key=lambda name: ingress[name].size_octets or 0)
            place = self.reading.place("pool", largest)
            parts = " + ".join(
                f"{name} {pool.size_octets or 0}" + (f" + xoff {pool.xoff_octets}" if pool.xoff_octets else "")
                for name, pool in ingress.items()
            )
            if memory is not None and asked > memory:
                left = memory - asked + (ingress[largest].size_octets or 0)
                remedy = f"write a size of {left} or less" if left > 0 else "write smaller pools"
                self.add(place, "sum", f"{parts} = {asked} octets; the chip has {memory}", remedy, kind="sum")
            # As a rule the static egress pool is the memory of the chip.
            egress = [
                pool.size_octets or 0
                for pool in device.pools.values()
                if pool.direction == "egress" and pool.mode == "static"
            ]
            if memory is None and egress and asked > sum(egress):
                text = f"{parts} = {asked} octets; static egress pools, as a rule the chip's memory, have {sum(egress)}"
                self.add(place, "sum", text, "name the chip with --chip to be sure", kind="sum", severity="warning")
        for name, pool in device.pools.items():
            place = self.reading.place("pool", name)
            if pool.direction == "egress" and memory is not None and (pool.size_octets or 0) > memory:
                self.add(place, "egress", f"{pool.size_octets} octets; the chip has {memory}",
                         f"write {memory} or less", kind="sum")  # fmt: skip
            self._held(name)

    def _held(self, name: str) -> None:
        """Check reserves and headrooms of ports against the pool that they are in."""
        pool, place = self.device.pools[name], self.reading.place("pool", name)
        held = [
            threshold
            for port in self.device.ports
            for threshold in (*port.ingress.values(), *port.egress.values())
            if threshold.pool == name
        ]
        reserves = sum(threshold.reserve_octets for threshold in held)
        size, memory = pool.size_octets, self.around.memory_octets
        if size is None and pool.percent is not None and memory is not None:
            size = memory * pool.percent // 100
        if size is not None and reserves > size:
            text = f"{len(held)} priorities of ports reserve {reserves} octets; the pool has {size}"
            self.add(place, "reserves", text, "write smaller sizes in its profiles", kind="sum")
        xoffs = [threshold.xoff_octets for threshold in held if threshold.xoff_octets]
        if pool.xoff_octets and xoffs:
            if pool.xoff_octets < max(xoffs):
                text = f"xoff {pool.xoff_octets} is less than the {max(xoffs)} octets of one priority"
                self.add(place, "xoff", text, f"write {sum(xoffs)} for all at once", kind="sum")
            elif pool.xoff_octets < sum(xoffs):
                text = (
                    f"{len(xoffs)} priorities have {sum(xoffs)} octets of headroom; xoff {pool.xoff_octets} is shared"
                )
                remedy = f"write {sum(xoffs)}, or accept losses if all are paused at once"
                self.add(place, "xoff", text, remedy, kind="sum", severity="warning")

    def ports(self) -> None:
        for port in self.device.ports:
            for priority in port.pfc:
                self._lossless(port, priority)
            for priority, threshold in port.ingress.items():
                if threshold.xoff_octets and priority not in port.pfc and self.device.kind == "switch":
                    place = self.reading.place("ingress", port.name, priority)
                    text = f"{port.name} has headroom for priority {priority}, and no PFC for it: it is never used"
                    self.add(place, "idle", text, f"add {priority} to its PFC", severity="warning", port=port.name)
            if self.around.priorities is not None and port.pfc and set(port.pfc) != set(self.around.priorities):
                text = f"{port.name} has PFC for {_list(port.pfc)}; the fabric for {_list(self.around.priorities)}"
                place = self.reading.place("pfc", port.name)
                remedy = f"write {_list(self.around.priorities)}"
                self.add(place, "fabric", text, remedy, severity="warning", port=port.name)

    def _lossless(self, port: Port, priority: int) -> None:
        threshold = port.ingress.get(priority)
        computed = ("computed", port.name, priority) in self.reading.places
        has_memory = any(each.ingress for each in self.device.ports) or bool(self.device.pools)
        if not computed and has_memory and (threshold is None or not threshold.xoff_octets):
            lacks = "no priority group" if threshold is None else "a priority group without xoff"
            shown = self._needed(port)
            text = f"{port.name} pauses priority {priority}, which has {lacks}: frames are lost after the pause"
            remedy = f"give it a profile with xoff {shown}" if shown else "give it a profile with xoff"
            scenario = self._headroom_scenario(port, self.reading.place("pfc", port.name).where, 0)
            place = self.reading.place("pfc", port.name)
            self.add(place, f"no group {priority}", text, remedy, port=port.name, scenario=scenario)
        elif threshold is not None and threshold.xoff_octets:
            self._headroom(port, priority, threshold)
            self._cells(port, priority, threshold)
        self._marks(port, priority, threshold)

    def _needed(self, port: Port) -> int | None:
        if not port.rate_bps or port.cable_m is None:
            return None
        frame = port.frame_octets or self.around.frame_octets
        response = self.around.responses.get(port.rate_bps)
        return headroom_needed(port.rate_bps, port.cable_m, frame, self.around.cell_octets, response)

    def _headroom_scenario(self, port: Port, where: str, xoff: int) -> str | None:
        if not port.rate_bps:
            return None
        response = self.around.responses.get(port.rate_bps)
        return demonstrations.headroom(
            where,
            rate_bps=port.rate_bps,
            cable_m=port.cable_m or 0,
            frame=port.frame_octets or self.around.frame_octets,
            cell=self.around.cell_octets,
            xoff=xoff,
            response="" if response is None else f'response = "{write_quantity(response, "s")}"\n',
        )

    def _headroom(self, port: Port, priority: int, threshold: Threshold) -> None:
        needed = self._needed(port)
        place = self.reading.place("ingress", port.name, priority)
        if needed is None:
            lacks = "speed" if not port.rate_bps else "length of cable"
            text = f"{port.name} has no {lacks}, so its headroom is not checked"
            self.add(place, "unchecked", text, severity="note", port=port.name)
            return
        cell = self.around.cell_octets
        usable = threshold.xoff_octets // cell * cell
        if usable < needed:
            frame = port.frame_octets or self.around.frame_octets
            cells = f", cells of {cell}" if cell > 1 else ""
            text = (
                f"xoff {threshold.xoff_octets} < {needed} needed by {port.name} "
                f"({port.cable_m} m, {bit_rate(port.rate_bps)}, frames of {frame}{cells})"
            )
            scenario = self._headroom_scenario(port, place.where, threshold.xoff_octets)
            self.add(place, "xoff", text, f"write {needed}", weight=needed, port=port.name, scenario=scenario)

    def _cells(self, port: Port, priority: int, threshold: Threshold) -> None:
        cell, place = self.around.cell_octets, self.reading.place("ingress", port.name, priority)
        if 0 < threshold.xon_offset_octets < cell:
            text = (
                f"xon_offset {threshold.xon_offset_octets} is less than a cell of {cell}: a pause ends where it begins"
            )
            self.add(place, "xon_offset", text, f"write a multiple of {cell}", port=port.name)

    def _marks(self, port: Port, priority: int, threshold: Threshold | None) -> None:
        queue = port.queues.get(priority)
        if queue is None:
            return
        place = self.reading.place("wred", port.name, priority)
        if queue.wred is None:
            text = f"{port.name} marks nothing in the lossless queue {priority}: only pauses slow its senders"
            place = self.reading.place("pfc", port.name)
            self.add(place, f"no ecn {priority}", text, "give it ECN", severity="warning", port=port.name, once=True)
            return
        wred = queue.wred
        if not wred.ecn:
            text = f"the lossless queue {priority} of {port.name} drops early instead of marking"
            self.add(place, "drops", text, "enable ECN in it", port=port.name)
        if wred.unit == "percent":
            return
        cell = self.around.cell_octets
        if wred.max_octets > wred.min_octets and wred.min_octets // cell == wred.max_octets // cell:
            text = f"{wred.min_octets} and {wred.max_octets} octets are the same cell of {cell}: a step"
            self.add(place, "cells", text, f"write thresholds at least {cell} apart", port=port.name)
        if threshold is None:
            return
        sharing = max(1, len(self.device.ports) - 1)
        pool = self.device.pools.get(threshold.pool)
        size = (pool.size_octets if pool else None) or 0
        two, every = (_paused_at(threshold, size, lines) for lines in (min(2, sharing), sharing))
        if two is None or every is None or wred.min_octets <= two:
            return
        if wred.min_octets > every:
            text = (
                f"marks begin at {wred.min_octets}; all {sharing} lines are paused when the queue has {every}: "
                "it is never marked"
            )
            lines = sharing
        else:
            lines = next(n for n in range(3, sharing + 1) if (_paused_at(threshold, size, n) or 0) >= wred.min_octets)
            text = (
                f"marks begin at {wred.min_octets}; two lines are paused when the queue has {two}: with fewer than "
                f"{lines} lines pauses come first"
            )
            lines = 2
        scenario = None
        if port.rate_bps and threshold.alpha_exponent is not None:
            scenario = demonstrations.marks(
                place.where,
                rate_bps=port.rate_bps,
                lines=min(lines, 64),
                size=size,
                alpha=2.0**threshold.alpha_exponent,
                low=wred.min_octets,
                high=wred.max_octets,
                percent=wred.percent,
            )
        self.add(
            place, "marks", text, f"write less than {two}", weight=wred.min_octets, port=port.name, scenario=scenario
        )

    def watchdog(self) -> None:
        pausing = [port for port in self.device.ports if port.pfc]
        first_of: dict[Watchdog | None, Port] = {}
        for port in pausing:
            first_of.setdefault(self.device.watchdog_of(port.name), port)
        if None in first_of and self.device.kind == "switch":
            at = "" if self.device.watchdog is None else f" at {first_of[None].name}"
            text = f"PFC without a watchdog{at}: nothing ends a storm of pauses"
            where = self.reading.place("pfc", pausing[0].name).where.partition("|")[0]
            self.add(Place(None, where), "no watchdog", text, severity="warning")
        rates = [port.rate_bps for port in pausing if port.rate_bps]
        if self.around.longest_stop_s is not None:
            self._watchdog_under_load(first_of, self.around.longest_stop_s)
            return
        names = {threshold.pool for port in pausing for p, threshold in port.ingress.items() if p in port.pfc}
        sizes = [pool.size_octets or 0 for name, pool in self.device.pools.items() if name in names]
        size = max(sizes, default=self.around.memory_octets or 0)
        if not rates or not size:
            return
        longest_s = size * 8 / min(rates)
        for own, port in first_of.items():
            if own is None or own.detection_ms >= longest_s * 1e3:
                continue
            place = self._watchdog_place(own, port)
            text = (
                f"detection after {own.detection_ms} ms; {size} octets take {duration(longest_s)} through the slowest "
                f"port ({bit_rate(min(rates))}): congestion looks like a storm"
            )
            scenario = demonstrations.watchdog(
                place.where,
                fast_bps=max(max(rates), 2 * min(rates)),
                slow_bps=min(rates),
                size=size,
                detection_ms=own.detection_ms,
                longest_s=longest_s,
            )
            self.add(place, "detection", text, f"write {math.ceil(longest_s * 1e3) + 1} or more", scenario=scenario)

    def _watchdog_place(self, own: Watchdog, port: Port) -> Place:
        """Return the place of a watchdog: that of all ports, or of one that has its own."""
        common = own == self.device.watchdog
        return self.reading.place("watchdog") if common else self.reading.place("watchdog", port.name)

    def _watchdog_under_load(self, first_of: Mapping[Watchdog | None, Port], longest_s: float) -> None:
        for own, port in first_of.items():
            if own is not None and own.detection_ms < longest_s * 1e3:
                text = (
                    f"detection after {own.detection_ms} ms; under the fabric's own load a line is stopped for "
                    f"{duration(longest_s)}: congestion looks like a storm"
                )
                remedy = f"write {math.ceil(longest_s * 1e3) + 1} or more"
                self.add(self._watchdog_place(own, port), "detection", text, remedy)


def _paused_at(threshold: Threshold, size: int, lines: int) -> int | None:
    """Return the octets that a queue holds when all of its lines are paused; ``None`` if nothing limits them.

    A line is paused at alpha times the free memory: n hold n alpha / (1 + n alpha) of it (Choudhury and Hahne 1998).
    """
    if threshold.limit_octets is not None and threshold.alpha_exponent is None:
        return lines * threshold.limit_octets
    if threshold.alpha_exponent is None or not size:
        return None
    if threshold.alpha_exponent == ALPHA_UNLIMITED:
        return size
    alpha = 2.0**threshold.alpha_exponent if threshold.alpha_exponent > -8 else 0.0
    return round(size * lines * alpha / (1 + lines * alpha)) + lines * threshold.reserve_octets


def compare(one: Reading, other: Reading) -> list[Finding]:
    """Return DSCPs and priorities that are lossless on one side of a link alone; lines are those of ``one``."""
    found = []
    mine, theirs = _lossless(one.device), _lossless(other.device)
    name = other.device.name or "the other side"
    for number in sorted(mine ^ theirs):
        place = next((one.place("pfc", port.name) for port in one.device.ports if port.pfc), Place(None, "PFC"))
        sides = ("has", "has not") if number in mine else ("has not", "has")
        text = f"this side {sides[0]} PFC for priority {number}, {name} {sides[1]}"
        remedy = f"write {_list(sorted(theirs))} on both sides, or {_list(sorted(mine))}"
        found.append(_of_sides(place, text, remedy, 8 * number, number))
    if not (one.device.dscp and other.device.dscp):
        return found
    for dscp in sorted(set(one.device.dscp) | set(other.device.dscp)):
        here, there = one.device.dscp.get(dscp, 0), other.device.dscp.get(dscp, 0)
        is_mine, is_theirs = here in mine, there in theirs
        if is_mine == is_theirs and (here == there or not is_mine):
            continue
        if is_mine != is_theirs:
            sides = ("lossless", "lossy") if is_mine else ("lossy", "lossless")
            text = f"DSCP {dscp} is {sides[0]} here (priority {here}) and {sides[1]} at {name} (priority {there})"
        else:
            text = f"DSCP {dscp} has priority {here} here and {there} at {name}: pauses name another queue"
        remedy = f"write {there} here, or {here} there"
        found.append(_of_sides(one.place("dscp", dscp), text, remedy, dscp, here if is_mine else there))
    return found


def _of_sides(place: Place, message: str, remedy: str, dscp: int, priority: int) -> Finding:
    return Finding(
        line=place.line,
        where=place.where,
        severity="error",
        kind="meaning",
        message=message,
        remedy=remedy,
        scenario=demonstrations.one_side(place.where, dscp, priority),
    )


def _lossless(device: Device) -> set[int]:
    return {priority for port in device.ports for priority in port.pfc}


def _list(priorities: tuple[int, ...] | list[int]) -> str:
    return ",".join(str(priority) for priority in priorities) or "none"
