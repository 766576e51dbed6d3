"""Memory in commands that hold for a whole switch: thresholds of all its ports as one, and alphas in steps."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from penstock.devices.model import ALPHA_NONE, ALPHA_UNLIMITED, Device, Port, Threshold, percentages

Direction = Literal["ingress", "egress"]


def lossless_priorities(device: Device) -> set[int]:
    """Return the priorities that any port pauses."""
    return {priority for port in device.ports for priority in port.pfc}


def of_switch(device: Device, direction: Direction, lost: dict[str, None]) -> dict[int, Threshold]:
    """Return the threshold of each priority on all ports; where they differ, one that holds no more than any.

    A limit as large as its pool is none, and becomes an alpha without limit. The headroom is the largest of all ports.

    Args:
        device: the switch.
        direction: whose memory.
        lost: receives a sentence for each difference.
    """
    by_priority: dict[int, list[Threshold]] = {}
    lossless = lossless_priorities(device)
    for port in device.ports:
        thresholds = port.ingress if direction == "ingress" else port.egress
        for priority, threshold in thresholds.items():
            if direction == "egress" or priority not in lossless or priority in port.pfc:
                by_priority.setdefault(priority, []).append(_without_limit(device, threshold))
    found = {}
    for priority, several in sorted(by_priority.items()):
        first = several[0]
        alphas = [each.alpha_exponent for each in several if each.alpha_exponent is not None]
        limits = [each.limit_octets for each in several if each.limit_octets is not None]
        one = replace(
            first,
            reserve_octets=max(each.reserve_octets for each in several),
            alpha_exponent=min(alphas, default=None),
            limit_octets=None if alphas else min(limits, default=None),
            xoff_octets=max(each.xoff_octets for each in several),
            xon_offset_octets=max(each.xon_offset_octets for each in several),
        )
        same = {(each.pool, each.reserve_octets, each.alpha_exponent, each.limit_octets) for each in several}
        if len(same) > 1:
            text = f"priority {priority}, {direction}: ports differ, and one value holds for the switch"
            lost[f"{text}: the least threshold and the largest reserve are written"] = None
        found[priority] = one
    return found


def _without_limit(device: Device, threshold: Threshold) -> Threshold:
    pool = device.pools.get(threshold.pool)
    size, limit = (None if pool is None else pool.size_octets), threshold.limit_octets
    if size is None or limit is None or limit < size or pool is None or pool.direction == "ingress":
        return threshold
    return replace(threshold, alpha_exponent=ALPHA_UNLIMITED, limit_octets=None)


def one_alpha(thresholds: Mapping[int, Threshold], what: str, lost: dict[str, None]) -> int | None:
    """Return the alpha exponent that priorities share, the least of theirs; ``None`` if one has octets instead.

    Args:
        thresholds: by priority.
        what: the place where the target has one alpha.
        lost: receives a sentence if they differ.
    """
    alphas = {threshold.alpha_exponent for threshold in thresholds.values()}
    known = [alpha for alpha in alphas if alpha is not None]
    if len(known) != len(alphas) or not known:
        return None
    if len(known) > 1:
        lost[f"{what} has one alpha for priorities {listed(thresholds)}: {alpha_text(min(known))} is written"] = None
    return min(known)


def in_steps(exponent: int, low: int, high: int, what: str, lost: dict[str, None]) -> int:
    """Return an alpha exponent within the steps of a target; add what is lost."""
    if low <= exponent <= high:
        return exponent
    after = min(max(exponent, low), high)
    lost[f"{what}: alpha {alpha_text(exponent)} is written as {alpha_text(after)}, the nearest that there is"] = None
    return after


def alpha_text(exponent: int) -> str:
    """Return an alpha as a number: ``1/8``, ``4``, ``0``, or ``no limit``."""
    if exponent in (ALPHA_NONE, ALPHA_UNLIMITED):
        return "0" if exponent == ALPHA_NONE else "no limit"
    return str(Fraction(2) ** exponent)


def listed(priorities: object) -> str:
    """Return priorities as text, as in ``3, 4``."""
    return ", ".join(str(priority) for priority in sorted(priorities))  # type: ignore[call-overload]


def shares(device: Device, direction: Direction, lost: dict[str, None]) -> dict[str, int]:
    """Return the pools of a direction in whole per cent of the memory; more than all of it is divided in proportion.

    Args:
        device: the switch.
        direction: whose pools; those without a size are left out.
        lost: receives a sentence on the unit, and one on pools that overlap.
    """
    sizes = {name: pool.size_octets for name, pool in device.pools.items()
             if pool.direction == direction and pool.size_octets}  # fmt: skip
    held = sum((pool.size_octets or 0) + pool.xoff_octets for pool in device.pools.values()
               if pool.direction == "ingress")  # fmt: skip
    memory = device.memory_octets or held
    if not sizes or not memory:
        return {}
    lost[f"pools are in whole per cent of {memory} octets"] = None
    if sum(sizes.values()) > memory:
        lost[f"{direction} pools overlap: {' + '.join(sizes)} exceed the memory, and are divided in proportion"] = None
        return percentages(sizes)
    return {name: max(1, size * 100 // memory) for name, size in sizes.items()}


def with_memory(port: Port, ingress: Mapping[int, Threshold], egress: Mapping[int, Threshold]) -> Port:
    """Return a port with the thresholds of its switch: those of lossless priorities only where it pauses them."""
    return replace(port, ingress=dict(ingress), egress=dict(egress))
