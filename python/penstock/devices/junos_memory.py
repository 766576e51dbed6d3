"""Memory in Junos Evolved on QFX: partitions of the shared buffer and alphas, written and read.

Sources: Juniper, CLI reference (``buffer-partition`` of ingress and egress, ``buffer-dynamic-threshold`` with 0 to 10,
``mru`` of a congestion notification profile, ``xon``); Juniper TechPost, "QFX5K-Series Switches Packet Buffer
Architecture". Alpha 0 is 1/128, each next one is twice as much, and 10 is 8. On QFX5130, 5220, 5230 and 5240 the
lossless and the lossy partition have the same share at ingress and egress, and headroom is kept at egress, too.
All ingress partitions add up to exactly 100 per cent. ``xon`` is in cells of the chip, which no configuration has, and
stays out.
"""

from dataclasses import dataclass, field, replace

from penstock.devices.findings import Place
from penstock.devices.model import Device, Pool, Port, Threshold, percentages
from penstock.devices.switch_memory import Direction, in_steps, listed, lossless_priorities, of_switch, one_alpha
from penstock.devices.switch_text import Draft

FIRST = -7
"""Exponent of the alpha that Junos numbers 0."""

STEPS = 11
"""Numbers of alphas: 1/128 to 8."""

MRU_DEFAULT = 2500
"""Octets of the frames for which headroom is computed without ``mru``, at priorities that the user configures."""

_COS = "set class-of-service"
_PARTITIONS = ("lossless", "lossless-headroom", "lossy", "multicast")


def write(device: Device, expressed: Device, lost: dict[str, None]) -> tuple[list[str], dict[int, int], Device]:
    """Return the commands for memory, the number of each lossy queue's alpha, and the device with what they express.

    Args:
        device: the switch.
        expressed: the same as the other commands have it.
        lost: receives a sentence for each loss.
    """
    if not any(port.ingress for port in device.ports):
        return [], {}, expressed
    lossless = lossless_priorities(device)
    ingress, egress = of_switch(device, "ingress", lost), of_switch(device, "egress", lost)
    parts = _shares(device, ingress, lossless, lost)
    lines = ["# Memory, for the whole switch: a change stops traffic on all ports. Before QFX5130, add multicast."]
    pools = {}
    for direction in ("ingress", "egress"):
        for kind in ("lossless", "lossy"):
            at = f"{_COS} shared-buffer {direction} buffer-partition {kind}"
            lines.append(f"{at} percent {parts[kind]}")
            headroom = parts["headroom"] if (direction, kind) == ("ingress", "lossless") else None
            if headroom is not None:
                lines.append(f"{_COS} shared-buffer ingress buffer-partition lossless-headroom percent {headroom}")
            pools[f"{direction}_{kind}"] = Pool(
                direction="ingress" if direction == "ingress" else "egress",
                mode="dynamic",
                size_octets=None,
                percent=parts[kind],
                xoff_percent=headroom,
            )
    thresholds: dict[Direction, dict[int, Threshold]] = {"ingress": {}, "egress": {}}
    octets: set[int] = set()
    both: tuple[tuple[Direction, dict[int, Threshold]], ...] = (("ingress", ingress), ("egress", egress))
    for direction, found in both:
        for kind in ("lossless", "lossy"):
            own = {p: each for p, each in found.items() if (p in lossless) == (kind == "lossless")}
            octets |= {priority for priority, each in own.items() if each.limit_octets is not None}
            if (direction, kind) == ("egress", "lossy"):
                continue
            what = f"{direction} partition {kind}"
            alpha = one_alpha(own, what, lost)
            if alpha is None:
                continue
            step = in_steps(alpha, FIRST, FIRST + STEPS - 1, what, lost)
            at = f"{_COS} shared-buffer {direction} buffer-partition {kind}"
            lines.append(f"{at} dynamic-threshold {step - FIRST}")
            one = Threshold(pool=f"{direction}_{kind}", alpha_exponent=step)
            thresholds[direction] |= dict.fromkeys(own, one)
    numbers: dict[int, int] = {}
    for priority, each in egress.items():
        if priority not in lossless and each.alpha_exponent is not None:
            what = f"scheduler of priority {priority}"
            step = in_steps(each.alpha_exponent, FIRST, FIRST + STEPS - 1, what, lost)
            numbers[priority] = step - FIRST
            thresholds["egress"][priority] = Threshold(pool="egress_lossy", alpha_exponent=step)
    if octets:
        lost[f"thresholds in octets of priorities {listed(octets)}: partitions have alphas"] = None
    if any(each.reserve_octets for found in (ingress, egress) for each in found.values()):
        lost["reserves: dedicated buffers are divided by `buffer-size`, in per cent of a port's own"] = None
    ports = [
        replace(
            port,
            ingress={p: each for p, each in thresholds["ingress"].items() if p not in lossless or p in port.pfc},
            egress=thresholds["egress"],
        )
        for port in expressed.ports
    ]
    return lines, numbers, replace(expressed, ports=tuple(ports), pools=pools)


def _shares(device: Device, ingress: dict[int, Threshold], lossless: set[int], lost: dict[str, None]) -> dict[str, int]:
    """Return the shares of lossless priorities, of headroom and of lossy ones: whole per cent that add up to 100."""
    sizes = {"lossless": 0, "headroom": 0, "lossy": 0}
    for name, pool in device.pools.items():
        if pool.direction == "egress":
            continue
        users = [priority for priority, threshold in ingress.items() if threshold.pool == name]
        paused = [priority for priority in users if priority in lossless]
        size = pool.size_octets or 0
        if paused and len(paused) < len(users):
            text = f"{name}: priorities {listed(users)} share it; Junos has a partition for lossless ones"
            lost[f"{text}, which gets {len(paused)} of {len(users)} parts"] = None
        part = size * len(paused) // len(users) if users else 0
        sizes["lossless"] += part
        sizes["lossy"] += size - part
        sizes["headroom"] += pool.xoff_octets
    lost["partitions are in whole per cent of the shared buffer"] = None
    return percentages({key: max(1, size) for key, size in sizes.items()})


@dataclass
class MemoryReader:
    """What commands have set of the shared buffer.

    Attributes:
        draft: receives faults.
        percent: shares of partitions, by direction and partition, per cent, with the line.
        alphas: numbers of alphas, likewise.
        mrus: octets of the frames for which headroom is computed, by profile and code point.
    """

    draft: Draft
    percent: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    alphas: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    mrus: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)

    def read(self, line: int, words: list[str]) -> None:
        """Read the words after ``shared-buffer``."""
        match words:
            case [("ingress" | "egress") as direction, "buffer-partition", name, key, value]:
                where = f"{direction} partition {name[:20]}"
                if name not in _PARTITIONS or (direction == "egress" and name == "lossless-headroom"):
                    remedy = f"write {', '.join(_PARTITIONS)}; headroom at ingress alone"
                    self.draft.fault(line, where, "range", "no such partition", remedy)
                elif key == "percent":
                    number = self.draft.number(line, where, value, 0, 100)
                    if number is not None:
                        self.percent[direction, name] = number, line
                elif key == "dynamic-threshold":
                    number = self.draft.number(line, where, value, 0, STEPS - 1)
                    if number is not None:
                        self.alphas[direction, name] = number, line
                else:
                    self.draft.fault(
                        line, where, "syntax", f"{key[:20]}: no such setting", "write percent or dynamic-threshold"
                    )
            case _:
                self.draft.passed(line, f"shared-buffer {' '.join(words)}")

    def mru(self, line: int, profile: str, code: str, value: str) -> None:
        """Read the longest frame of a code point."""
        number = self.draft.number(line, f"congestion-notification-profile {profile} mru", value, 64, 16_000)
        if number is not None:
            self.mrus.setdefault(profile, {})[code] = number, line

    def pools(self) -> dict[str, Pool]:
        """Return the partitions as pools; check that those of ingress add up to 100."""
        ingress = {name: share for (direction, name), share in self.percent.items() if direction == "ingress"}
        total = sum(share for share, _ in ingress.values())
        if ingress and total != 100:
            line = max(line for _, line in ingress.values())
            text = f"{total} per cent in all ingress partitions"
            self.draft.fault(line, "shared-buffer ingress", "sum", text, "write shares of exactly 100 per cent")
        pools = {}
        for (direction, name), (share, _) in self.percent.items():
            if name in ("lossless", "lossy"):
                headroom = ingress.get("lossless-headroom") if (direction, name) == ("ingress", "lossless") else None
                pools[f"{direction}_{name}"] = Pool(
                    direction="ingress" if direction == "ingress" else "egress",
                    mode="dynamic",
                    size_octets=None,
                    percent=share,
                    xoff_percent=None if headroom is None else headroom[0],
                )
        return pools

    def places(self) -> dict[tuple[object, ...], Place]:
        """Return where the shares of partitions stand."""
        return {
            ("pool", f"{direction}_{name}"): Place(line, f"shared-buffer {direction} {name}")
            for (direction, name), (_, line) in self.percent.items()
        }

    def frames(self, name: str, profile: str, mtu: int) -> None:
        """Find code points whose headroom is computed for shorter frames than a port takes.

        Args:
            name: the port.
            profile: its congestion notification profile.
            mtu: the longest frame of the port without FCS, octets; 0 if it is not known.
        """
        own = self.mrus.get(profile, {})
        short = [(value, line) for value, line in own.values() if value < mtu]
        if short:
            value, line = min(short)
            text = f"{name} takes frames of {mtu} octets, and headroom is computed for {value}: frames are lost"
            self.draft.fault(line, f"congestion-notification-profile {profile}", "meaning", text, f"write mru {mtu}")
        elif mtu > MRU_DEFAULT and not own:
            text = f"{name} takes frames of {mtu} octets; without mru headroom is computed for {MRU_DEFAULT}"
            self.draft.warn(
                self.draft.lines.get(("pfc", profile)),
                f"congestion-notification-profile {profile}",
                text,
                f"add mru {mtu}",
            )

    def port(self, port: Port, numbers: dict[int, int], places: dict[tuple[object, ...], Place]) -> Port:
        """Return a port with the alphas of its priorities; ``numbers`` are those of its schedulers."""
        paused = {priority for priorities in self.draft.pfc.values() for priority in priorities}
        ingress, egress = {}, {}
        for priority in port.queues:
            kind = "lossless" if priority in paused else "lossy"
            if priority not in paused or priority in port.pfc:
                number = self.alphas.get(("ingress", kind))
                if number is not None:
                    ingress[priority] = Threshold(pool=f"ingress_{kind}", alpha_exponent=number[0] + FIRST)
            leaving = numbers.get(priority, self.alphas.get(("egress", kind), (None, 0))[0])
            if leaving is not None:
                egress[priority] = Threshold(pool=f"egress_{kind}", alpha_exponent=leaving + FIRST)
        for priority in port.pfc:
            # Headroom follows from the length of the cable and the MRU.
            places["computed", port.name, priority] = Place(None, f"{port.name} headroom")
        return replace(port, ingress=ingress, egress=egress)
