"""Memory in NVUE: service pools, alphas, reserves and PFC's thresholds, written and read.

Sources: NVIDIA, Cumulus Linux user guide, Quality of Service, "Advanced Buffer Tuning" (buffer regions, service pools,
priority groups); NVUE reference (alphas from ``alpha_0`` to ``alpha_infinity``); release notes of 5.11, where
``ingress-pool`` became ``ingress-service-pool``. The regions hold for the whole switch, and for the profile
``default-global`` alone. A user guide before 5.4 explains ``xoff_size``, the octets of ``port_buffer_bytes`` that are
used before a pause, and ``xon_delta``, how far below it the pause ends; NVUE calls them ``xoff-threshold``,
``port-buffer`` and ``xon-threshold``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.devices.findings import Place
from penstock.devices.model import ALPHA_NONE, ALPHA_UNLIMITED, Device, Pool, Port, Threshold
from penstock.devices.switch_memory import (
    Direction,
    listed,
    lossless_priorities,
    of_switch,
    one_alpha,
    shares,
    with_memory,
)
from penstock.devices.switch_text import Draft

ALPHAS = {
    "alpha_0": ALPHA_NONE,
    **{f"alpha_1_{2**-n}": n for n in range(-7, 0)},
    **{f"alpha_{2**n}": n for n in range(7)},
    "alpha_infinity": ALPHA_UNLIMITED,
}
"""Exponents of alphas by their names."""

GROUPS = ("bulk", "control", *(f"service{n}" for n in range(1, 7)))
"""Priority groups of lossy traffic; all priorities are in the first unless another is given."""

_NAMES = {exponent: name for name, exponent in ALPHAS.items()}
_START = "nv set qos advance-buffer-config default-global"
_MOST = 2**32 - 1


def port_buffer(port: Port) -> Threshold | None:
    """Return the threshold that PFC's profile of a port has in octets; ``None`` if the switch computes it.

    A profile has one for all its priorities, and no text says how they share it: one lossless priority alone has it.
    """
    if len(port.pfc) != 1:
        return None
    threshold = port.ingress.get(port.pfc[0])
    if threshold is None or threshold.limit_octets is None or not threshold.xoff_octets:
        return None
    return Threshold(
        limit_octets=threshold.limit_octets,
        xoff_octets=threshold.xoff_octets,
        xon_offset_octets=threshold.xon_offset_octets,
    )


def write(device: Device, expressed: Device, lost: dict[str, None]) -> tuple[list[str], Device]:
    """Return the commands for memory, and the device with what they express.

    Args:
        device: the switch.
        expressed: the same as the other commands have it.
        lost: receives a sentence for each loss.
    """
    if not any(port.ingress for port in device.ports):
        return [], expressed
    lines = ["", "# Memory, for the whole switch. Before Cumulus Linux 5.11: ingress-pool, egress-pool."]
    ingress, egress = of_switch(device, "ingress", lost), of_switch(device, "egress", lost)
    lossless = lossless_priorities(device)
    pools, names = _pools(device, ingress, egress, lost)
    for name, pool in pools.items():
        direction, number = name.split("_")
        lines.append(f"{_START} {direction}-service-pool {number} memory-percent {pool.percent}")
        lines.append(f"{_START} {direction}-service-pool {number} mode {pool.mode}")
    for name, after in names.items():
        lines.append(f"# {after.replace('_', ' pool ')}: {device.why(f'pool|{name}')}.")

    def renamed(threshold: Threshold, **changes: Any) -> Threshold:
        return replace(Threshold(
            pool=names.get(threshold.pool, ""), reserve_octets=threshold.reserve_octets,
            alpha_exponent=threshold.alpha_exponent, limit_octets=threshold.limit_octets), **changes)  # fmt: skip

    written: dict[Direction, dict[int, Threshold]] = {"ingress": {}, "egress": {}}
    groups: dict[Threshold, list[int]] = {}
    for priority, threshold in ingress.items():
        if priority not in lossless:
            groups.setdefault(renamed(threshold), []).append(priority)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[1]))
    for group, (threshold, priorities) in zip(GROUPS, ordered, strict=False):
        at = f"{_START} ingress-lossy-buffer priority-group {group}"
        lines += [f"{at} switch-priority {','.join(map(str, priorities))}"] if group != GROUPS[0] else []
        lines += _region(at, threshold)
        written["ingress"] |= dict.fromkeys(priorities, threshold)
    for threshold, priorities in ordered[len(GROUPS) :]:
        lost[f"priorities {listed(priorities)}: no priority group is left for {threshold}"] = None
    for priority, threshold in egress.items():
        if priority not in lossless:
            lines += _region(f"{_START} egress-lossy-buffer traffic-class {priority}", renamed(threshold))
            written["egress"][priority] = renamed(threshold)
    both: tuple[tuple[Direction, dict[int, Threshold]], ...] = (("ingress", ingress), ("egress", egress))
    for side, thresholds in both:
        paused = {p: threshold for p, threshold in thresholds.items() if p in lossless}
        region = _lossless(side, paused, lost)
        if region is not None:
            one = renamed(region)
            lines += _region(f"{_START} {side}-lossless-buffer", one)
            written[side] |= dict.fromkeys(paused, one)
    ports = []
    for port, source in zip(expressed.ports, device.ports, strict=True):
        own, buffer = dict(written["ingress"]), port_buffer(source)
        for priority in lossless:
            if buffer is not None and priority in port.pfc:
                own[priority] = buffer
            elif priority not in port.pfc:
                own.pop(priority, None)
        ports.append(with_memory(port, own, written["egress"]))
    return lines, replace(expressed, ports=tuple(ports), pools=pools)


def _pools(
    device: Device, ingress: Mapping[int, Threshold], egress: Mapping[int, Threshold], lost: dict[str, None]
) -> tuple[dict[str, Pool], dict[str, str]]:
    """Return the service pools by name, and their names by those of the device's pools."""
    pools: dict[str, Pool] = {}
    names: dict[str, str] = {}
    directions: tuple[tuple[Direction, Mapping[int, Threshold]], ...] = (("ingress", ingress), ("egress", egress))
    for direction, thresholds in directions:
        for number, (name, percent) in enumerate(shares(device, direction, lost).items()):
            names[name] = f"{direction}_{number}"
            alphas = [each.alpha_exponent for each in thresholds.values() if each.pool == name]
            static = None in alphas
            pools[names[name]] = Pool(
                direction=direction, mode="static" if static else "dynamic", size_octets=None, percent=percent
            )
    return pools, names


def _lossless(direction: Direction, own: Mapping[int, Threshold], lost: dict[str, None]) -> Threshold | None:
    """Return the threshold of the one region that all lossless priorities share; ``None`` if there is none."""
    if not own:
        return None
    first = next(iter(own.values()))
    what = f"{direction}-lossless-buffer"
    alpha = one_alpha(own, what, lost)
    if alpha is None and direction == "ingress":
        # Octets of a lossless priority are those of PFC's profile.
        if len(own) > 1:
            lost[f"{what}: octets for priorities {listed(own)}: a profile of PFC has them for one alone"] = None
        return None
    reserve = max(threshold.reserve_octets for threshold in own.values())
    if direction == "ingress" and reserve:
        lost[f"{what}: a reserve of {reserve} octets: it has no such property"] = None
        reserve = 0
    limit = None if alpha is not None else min(each.limit_octets or 0 for each in own.values())
    return replace(first, reserve_octets=reserve, alpha_exponent=alpha, limit_octets=limit)


def _region(at: str, threshold: Threshold) -> list[str]:
    lines = []
    if threshold.pool:
        lines.append(f"{at} service-pool {threshold.pool.partition('_')[2]}")
    if threshold.reserve_octets:
        lines.append(f"{at} reserved {threshold.reserve_octets}")
    if threshold.alpha_exponent is not None:
        lines.append(f"{at} shared-alpha {_NAMES[threshold.alpha_exponent]}")
    elif threshold.limit_octets is not None:
        lines.append(f"{at} shared-bytes {min(threshold.limit_octets, _MOST)}")
    return lines


@dataclass
class MemoryReader:
    """What commands have set of memory.

    Attributes:
        draft: receives faults.
        pools: properties of service pools, by name such as ``ingress_0``.
        regions: thresholds by region: ``("ingress", "lossless")``, ``("ingress", "bulk")``, ``("egress", 3)``.
        groups: the priority group of each priority that has another than the first.
        buffers: octets of ``port-buffer``, ``xoff-threshold`` and ``xon-threshold``, by profile of PFC.
        lines: the line of each of them.
    """

    draft: Draft
    pools: dict[str, Pool] = field(default_factory=dict)
    regions: dict[tuple[Direction, str | int], Threshold] = field(default_factory=dict)
    groups: dict[int, str] = field(default_factory=dict)
    buffers: dict[str, dict[str, int]] = field(default_factory=dict)
    lines: dict[tuple[object, ...], int] = field(default_factory=dict)

    def read(self, line: int, text: str, words: list[str]) -> None:
        """Read the words after the profile's name."""
        match words:
            case [
                ("ingress-pool" | "ingress-service-pool" | "egress-pool" | "egress-service-pool") as kind,
                number,
                key,
                value,
            ]:
                self._pool(line, text, "ingress" if kind.startswith("ingress") else "egress", number, key, value)
            case [("ingress-lossless-buffer" | "egress-lossless-buffer") as kind, key, value]:
                self._region(line, text, "ingress" if kind.startswith("ingress") else "egress", "lossless", key, value)
            case ["ingress-lossy-buffer", "priority-group", group, key, value]:
                if group not in GROUPS:
                    remedy = f"write {', '.join(GROUPS)}"
                    self.draft.fault(line, f"priority-group {group[:20]}", "range", "no such group", remedy)
                elif key == "switch-priority":
                    for priority in self.draft.numbers(line, f"priority-group {group}", value, 7):
                        self.groups[priority] = group
                else:
                    self._region(line, text, "ingress", group, key, value)
            case ["egress-lossy-buffer", "traffic-class", of, key, value]:
                for tc in self.draft.numbers(line, "egress-lossy-buffer traffic-class", of, 15):
                    self._region(line, text, "egress", tc, key, value)
            case _:
                self.draft.passed(line, text)

    def buffer(self, line: int, profile: str, key: str, value: str) -> None:
        """Read a size of a profile of PFC."""
        number = self.draft.number(line, f"pfc {profile} {key}", value, 0, _MOST)
        if number is not None:
            self.buffers.setdefault(profile, {})[key] = number
            self.lines["buffer", profile] = line

    def _pool(self, line: int, text: str, direction: Direction, number: str, key: str, value: str) -> None:
        where, name = f"{direction}-service-pool {number[:10]}", f"{direction}_{number}"
        if self.draft.number(line, where, number, 0, 7) is None:
            return
        pool = self.pools.get(name, Pool(direction=direction, mode="dynamic", size_octets=None))
        if key == "memory-percent":
            percent = self.draft.number(line, where, value, 0, 100)
            pool = replace(pool, percent=percent)
            self.lines["pool", name] = line
        elif key == "mode":
            if value not in ("static", "dynamic"):
                self.draft.fault(line, where, "range", f"{value[:20]}: no mode", "write static or dynamic")
                return
            pool = replace(pool, mode="static" if value == "static" else "dynamic")
        else:
            self.draft.passed(line, text)
        self.pools[name] = pool
        total = sum(each.percent or 0 for each in self.pools.values() if each.direction == direction)
        if key == "memory-percent" and total > 100:
            text = f"{total} per cent in all {direction} pools"
            self.draft.fault(line, where, "sum", text, "write 100 per cent at the most")

    def _region(self, line: int, text: str, direction: Direction, region: str | int, key: str, value: str) -> None:
        where = f"{direction} {region} {key}"
        threshold = self.regions.get((direction, region), Threshold())
        if key == "shared-alpha":
            if value not in ALPHAS:
                remedy = f"write one of {', '.join(ALPHAS)}"
                self.draft.fault(line, where, "range", f"{value[:20]}: no such alpha", remedy)
                return
            threshold = replace(threshold, alpha_exponent=ALPHAS[value])
        elif key == "service-pool":
            number = self.draft.number(line, where, value, 0, 7)
            threshold = replace(threshold, pool="" if number is None else f"{direction}_{number}")
        elif key in ("reserved", "shared-bytes"):
            octets = self.draft.number(line, where, value, 0, _MOST)
            if octets is None:
                return
            reserve = key == "reserved"
            threshold = (
                replace(threshold, reserve_octets=octets) if reserve else replace(threshold, limit_octets=octets)
            )
        else:
            self.draft.passed(line, text)
        self.regions[direction, region] = threshold
        self.lines[direction, region] = line

    def modes(self) -> None:
        """Find octets in dynamic pools and alphas in static ones."""
        for (direction, region), threshold in self.regions.items():
            pool = self.pools.get(threshold.pool)
            line, where = self.lines[direction, region], f"{direction} {region}"
            if pool is not None and pool.mode == "static" and threshold.alpha_exponent is not None:
                self.draft.fault(line, where, "meaning", "an alpha in a static pool", "write shared-bytes")
            elif pool is not None and pool.mode == "dynamic" and threshold.limit_octets is not None:
                self.draft.fault(line, where, "meaning", "shared-bytes in a dynamic pool", "write shared-alpha")

    def port(self, port: Port, profile: str, places: dict[tuple[object, ...], Place]) -> Port:
        """Return a port with its thresholds; add where they stand."""
        ingress, egress = {}, {}
        for priority in port.queues:
            lossless = priority in port.pfc
            group = "lossless" if lossless else self.groups.get(priority, GROUPS[0])
            elsewhere = any(priority in each for each in self.draft.pfc.values())
            if (lossless or not elsewhere) and ("ingress", group) in self.regions:
                ingress[priority] = self.regions["ingress", group]
                places["ingress", port.name, priority] = Place(self.lines["ingress", group], f"ingress {group}")
            key = "lossless" if elsewhere else priority
            if ("egress", key) in self.regions:
                egress[priority] = self.regions["egress", key]
        buffer = self.buffers.get(profile, {})
        for priority in port.pfc:
            place = Place(self.lines.get(("buffer", profile)), f"pfc {profile}")
            if {"port-buffer", "xoff-threshold"} <= buffer.keys():
                limit = buffer["xoff-threshold"]
                ingress[priority] = Threshold(
                    limit_octets=limit,
                    xoff_octets=max(0, buffer["port-buffer"] - limit),
                    xon_offset_octets=buffer.get("xon-threshold", 0),
                )
                places["ingress", port.name, priority] = place
            else:
                places["computed", port.name, priority] = place
        return replace(port, ingress=ingress, egress=egress)

    def sizes(self) -> None:
        """Find buffers that end where the pause begins."""
        for profile, buffer in self.buffers.items():
            size, limit = buffer.get("port-buffer"), buffer.get("xoff-threshold")
            if size is not None and limit is not None and size <= limit:
                text = f"port-buffer {size} has no octet beyond xoff-threshold {limit}: frames are lost after the pause"
                line = self.lines["buffer", profile]
                self.draft.fault(line, f"pfc {profile}", "sum", text, f"write more than {limit}")
