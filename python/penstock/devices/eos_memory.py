"""Memory in EOS on Trident and Tomahawk: a queue profile of the MMU, written and read.

Sources: pyavd 6.4.0 (aristanetworks/avd, ``platform.trident.mmu``), whose templates have these lines and whose schema
has the alphas 1/128 to 8; Habana, "Arista Switch Configuration", where ``ingress threshold`` and ``ingress headroom``
of a profile are those of PFC. One profile is applied to the whole switch. ``ingress resume`` stays out, for no text
says from where it counts, and so do thresholds in octets, lossy priority groups and sizes of pools.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from penstock.devices.findings import Place
from penstock.devices.model import Device, Pool, Port, Threshold
from penstock.devices.switch_memory import alpha_text, in_steps, listed, lossless_priorities, of_switch, one_alpha
from penstock.devices.switch_text import Draft

ALPHAS = {str(Fraction(2) ** exponent): exponent for exponent in range(-7, 4)}
"""Exponents of alphas by their text, 1/128 to 8."""

POOL = "shared"
"""Name of the one pool, which has no size in EOS."""

_PROFILE = "PENSTOCK"
_START = "platform trident mmu"
_MOST = 2**31 - 1


def write(device: Device, expressed: Device, lost: dict[str, None]) -> tuple[list[str], Device]:
    """Return the commands for memory, and the device with what they express.

    Args:
        device: the switch.
        expressed: the same as the other commands have it.
        lost: receives a sentence for each loss.
    """
    if not any(port.ingress for port in device.ports):
        return [], expressed
    lossless = lossless_priorities(device)
    ingress, egress = of_switch(device, "ingress", lost), of_switch(device, "egress", lost)
    paused = {priority: threshold for priority, threshold in ingress.items() if priority in lossless}
    lossy = [p for p, threshold in ingress.items() if p not in lossless and threshold.alpha_exponent is not None]
    if lossy:
        lost[f"ingress alphas of priorities {listed(lossy)}: a profile has those of PFC alone"] = None
    lost["pools: EOS has a limit of the shared headroom, and no sizes"] = None
    octets = [p for thresholds in (ingress, egress) for p, each in thresholds.items() if each.limit_octets is not None]
    if octets:
        lost[f"thresholds in octets of priorities {listed(set(octets))}: EOS has alphas"] = None
    lines: list[str] = []
    own, alpha = Threshold(pool=POOL), one_alpha(paused, "ingress threshold", lost)
    if alpha is not None:
        own = _paused(paused, in_steps(alpha, -7, 3, "ingress threshold", lost))
        lines += [f"   ! {why}" for why in dict.fromkeys(device.why(f"alpha|{priority}") for priority in paused)]
        lines += [f"   ingress reserved bytes {own.reserve_octets}"] if own.reserve_octets else []
        lines.append(f"   ingress threshold {alpha_text(own.alpha_exponent or 0)}")
        lines.append(f"   ingress headroom bytes {own.xoff_octets}")
        if len({port.ingress[p].xoff_octets for port in device.ports for p in port.pfc}) > 1:
            lost["headroom of each port: a profile has one for all, and the largest is written"] = None
        if any(threshold.xon_offset_octets for threshold in paused.values()):
            lost["the offset at which pauses end: no text says from where `ingress resume` counts"] = None
    leaving: dict[int, Threshold] = {}
    for priority, threshold in egress.items():
        queue = f"egress unicast queue {priority}"
        if threshold.alpha_exponent is None:
            continue
        step = in_steps(threshold.alpha_exponent, -7, 3, queue, lost)
        leaving[priority] = Threshold(pool=POOL, reserve_octets=threshold.reserve_octets, alpha_exponent=step)
        lines += [f"   {queue} reserved bytes {threshold.reserve_octets}"] if threshold.reserve_octets else []
        lines.append(f"   {queue} threshold {alpha_text(step)}")
    if not lines:
        return [], expressed
    start = f"{_START} queue profile {_PROFILE}"
    xoff = sum(pool.xoff_octets for pool in device.pools.values())
    lines = ["! Memory, for the whole switch.", start, *lines, "!", f"{start} apply"]
    lines += [f"{_START} headroom-pool limit bytes {xoff}"] if xoff else []
    pools = {POOL: Pool(direction="both", mode="dynamic", size_octets=None, xoff_octets=xoff)}
    ports = [
        replace(port, ingress=dict.fromkeys(port.pfc, own) if alpha is not None else {}, egress=leaving)
        for port in expressed.ports
    ]
    return [*lines, "!"], replace(expressed, ports=tuple(ports), pools=pools)


def _paused(paused: dict[int, Threshold], alpha: int) -> Threshold:
    """Return the threshold of all lossless priorities: the largest reserve and headroom of any."""
    return Threshold(
        pool=POOL,
        reserve_octets=max(each.reserve_octets for each in paused.values()),
        alpha_exponent=alpha,
        xoff_octets=max(each.xoff_octets for each in paused.values()),
    )


@dataclass
class MemoryReader:
    """What commands have set of the MMU.

    Attributes:
        draft: receives faults.
        ingress: the thresholds of PFC, by profile.
        egress: those of queues, by profile.
        applied: the profile of the switch, and the line where it is applied.
        limit: octets of the shared headroom.
        lines: the line of each profile.
    """

    draft: Draft
    ingress: dict[str, Threshold] = field(default_factory=dict)
    egress: dict[str, dict[int, Threshold]] = field(default_factory=dict)
    applied: tuple[str, int] | None = None
    limit: int = 0
    lines: dict[str, int] = field(default_factory=dict)

    def start(self, line: int, words: list[str]) -> None:
        """Read the words after ``platform trident mmu``."""
        match words:
            case ["queue", "profile", name]:
                self.lines[name] = line
                self.egress.setdefault(name, {})
            case ["queue", "profile", name, "apply"]:
                self.applied = name, line
            case ["headroom-pool", "limit", *size]:
                self.limit = self._octets(line, "headroom-pool limit", size) or 0
            case _:
                self.draft.passed(line, " ".join(words))

    def profile(self, line: int, name: str, words: list[str]) -> None:
        """Read a line of a profile."""
        own = self.ingress.get(name, Threshold(pool=POOL))
        match words:
            case ["ingress", "threshold", value]:
                alpha = self._alpha(line, f"{name} ingress threshold", value)
                self.ingress[name] = replace(own, alpha_exponent=alpha)
            case ["ingress", "headroom", *size]:
                self.ingress[name] = replace(own, xoff_octets=self._octets(line, f"{name} headroom", size) or 0)
            case ["ingress", "reserved", *size]:
                self.ingress[name] = replace(own, reserve_octets=self._octets(line, f"{name} reserved", size) or 0)
            case ["egress", "unicast", "queue", number, key, *value] if key in ("threshold", "reserved"):
                queue = self.draft.number(line, f"{name} egress queue", number, 0, 7)
                if queue is None:
                    return
                queues = self.egress.setdefault(name, {})
                threshold = queues.get(queue, Threshold(pool=POOL))
                if key == "threshold":
                    alpha = self._alpha(line, f"{name} queue {queue} threshold", "".join(value))
                    queues[queue] = replace(threshold, alpha_exponent=alpha)
                else:
                    octets = self._octets(line, f"{name} queue {queue} reserved", value) or 0
                    queues[queue] = replace(threshold, reserve_octets=octets)
            case _:
                self.draft.passed(line, " ".join(words))
        if words[:1] == ["ingress"]:
            self.lines[name] = line

    def _alpha(self, line: int, where: str, value: str) -> int | None:
        if value not in ALPHAS:
            self.draft.fault(line, where, "range", f"{value[:20]}: no such alpha", f"write {', '.join(ALPHAS)}")
        return ALPHAS.get(value)

    def _octets(self, line: int, where: str, words: list[str]) -> int | None:
        if words[:1] == ["cells"]:
            self.draft.warn(line, where, "cells of a chip that is not known: not looked at", "write bytes")
            return None
        return self.draft.number(line, where, " ".join(words[words[:1] == ["bytes"] :]), 0, _MOST)

    def pools(self) -> dict[str, Pool]:
        """Return the pool; check that the profile that is applied exists."""
        if self.applied is not None and self.applied[0] not in self.lines:
            name, line = self.applied
            self.draft.fault(line, "queue profile", "reference", f"{name}: no profile of this name", "define it")
        if not self.ingress and not any(self.egress.values()):
            return {}
        return {POOL: Pool(direction="both", mode="dynamic", size_octets=None, xoff_octets=self.limit)}

    def port(self, port: Port, profile: str, places: dict[tuple[object, ...], Place]) -> Port:
        """Return a port with the thresholds of the profile that is applied; without one those of the only profile."""
        names = list(self.lines)
        name = self.applied[0] if self.applied is not None else names[0] if len(names) == 1 else ""
        place = Place(self.lines.get(name), f"queue profile {name}")
        own = self.ingress.get(name)
        for priority in port.pfc:
            places["ingress", port.name, priority] = place
            if own is None:
                places["computed", port.name, priority] = place
        ingress = {} if own is None else dict.fromkeys(port.pfc, own)
        return replace(port, ingress=ingress, egress=self.egress.get(name, {}))
