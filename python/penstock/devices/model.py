"""The quality of service of a switch or a network interface, in the words of no vendor.

A priority is traffic class, priority group, queue and priority of PFC at once, as in configurations of RoCE fabrics.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

Key = TypeVar("Key", int, str)

ALPHA_NONE = -8
"""The exponent of a dynamic threshold of 0: reserves alone."""

ALPHA_UNLIMITED = 7
"""The exponent of a dynamic threshold without limit (Mellanox/SAI-Implementation, mlnx_sai_buffer.c)."""


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Memory that ports share.

    Attributes:
        direction: whether it counts frames by the port where they arrived or by the one where they leave.
        mode: whether thresholds are alphas or octets.
        size_octets: reserves and shared memory, octets; ``None`` if the device computes it.
        xoff_octets: memory for frames that arrive after a pause, in addition, octets.
        percent: size as a share of the memory that pools have, per cent, where the target has that instead of octets.
        xoff_percent: likewise ``xoff_octets``.
    """

    direction: Literal["ingress", "egress", "both"]
    mode: Literal["dynamic", "static"]
    size_octets: int | None
    xoff_octets: int = 0
    percent: int | None = None
    xoff_percent: int | None = None


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """The memory of a port and priority in a pool.

    Attributes:
        pool: name of the pool; empty where the target has none.
        reserve_octets: memory that no other has, octets.
        alpha_exponent: n of alpha = 2^n in a dynamic pool, -8 (0) to 7 (no limit).
        limit_octets: the threshold in a static pool, octets.
        xoff_octets: headroom, for frames that arrive after a pause, octets; 0 if lossy.
        xon_octets: occupancy below which a pause always ends, octets.
        xon_offset_octets: how far below the threshold a pause ends, octets.
    """

    pool: str = ""
    reserve_octets: int = 0
    alpha_exponent: int | None = None
    limit_octets: int | None = None
    xoff_octets: int = 0
    xon_octets: int = 0
    xon_offset_octets: int = 0


@dataclass(frozen=True, kw_only=True)
class Wred:
    """Early detection in a queue: nothing up to ``min_octets``, then evenly up to the probability at ``max_octets``.

    Attributes:
        min_octets: octets, or per cent of the queue by ``unit``.
        max_octets: likewise.
        percent: probability at the maximum, per cent.
        ecn: whether frames are marked instead of dropped.
        unit: the unit of both thresholds; Junos has per cent.
    """

    min_octets: int
    max_octets: int
    percent: int
    ecn: bool = True
    unit: Literal["octets", "percent"] = "octets"


@dataclass(frozen=True, kw_only=True)
class Queue:
    """How a port sends a priority.

    Attributes:
        wred: early detection.
        weight: weight among the priorities that share what strict ones leave; ``None`` if strict.
        max_rate_bps: the most that it sends, bit/s.
    """

    wred: Wred | None = None
    weight: int | None = None
    max_rate_bps: int | None = None


@dataclass(frozen=True, kw_only=True)
class Watchdog:
    """The watchdog of priority flow control.

    Attributes:
        detection_ms: how long a queue is paused before it acts, ms.
        restoration_ms: how long no pause frame may arrive until it ends, ms; 0 if the target has no such time.
        poll_ms: polling interval, ms; 0 if the target has none.
        action: what becomes of frames meanwhile.
    """

    detection_ms: int
    restoration_ms: int
    poll_ms: int = 0
    action: Literal["drop", "forward", "alert"] = "drop"


@dataclass(frozen=True, kw_only=True)
class Port:
    """A port.

    Attributes:
        name: its name on the device.
        link: the port of the scenario, as in ``leaf0->h0``; no part of a comparison.
        rate_bps: line rate, bit/s; 0 if it is not known.
        frame_octets: the longest frame with header, one tag and FCS, octets; 0 if it is not known.
        cable_m: length of its cable, m.
        delay_bits: the round trip of its cable in bit times, as ``dcb pfc`` has it.
        pfc: priorities with priority flow control.
        ingress: memory of frames that arrive, by priority.
        egress: memory of frames that leave, by priority.
        queues: how it sends, by priority.
    """

    name: str
    link: str = field(default="", compare=False)
    rate_bps: int = 0
    frame_octets: int = 0
    cable_m: int | None = None
    delay_bits: int | None = None
    pfc: tuple[int, ...] = ()
    ingress: Mapping[int, Threshold] = field(default_factory=dict)
    egress: Mapping[int, Threshold] = field(default_factory=dict)
    queues: Mapping[int, Queue] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Device:
    """A switch or a network interface.

    Attributes:
        name: its name.
        kind: what it is.
        ports: its ports.
        pools: its pools by name.
        dscp: the priority of each DSCP that is mapped.
        pcp: the priority of each priority code point that is mapped.
        watchdog: that of priority flow control.
        watchdogs: those of ports that have another, and ports that have none, by name; see :func:`watchdogs`.
        memory_octets: packet memory, octets; no part of a comparison, for no configuration has it.
        cell_octets: size of a cell, octets; likewise.
        reasons: why values are as they are, by a key of the writers; likewise.
        beyond: settings of the scenario that no configuration expresses; likewise.
    """

    name: str = ""
    kind: Literal["switch", "nic"] = "switch"
    ports: tuple[Port, ...] = ()
    pools: Mapping[str, Pool] = field(default_factory=dict)
    dscp: Mapping[int, int] = field(default_factory=dict)
    pcp: Mapping[int, int] = field(default_factory=dict)
    watchdog: Watchdog | None = None
    watchdogs: Mapping[str, Watchdog | None] = field(default_factory=dict)
    memory_octets: int | None = field(default=None, compare=False)
    cell_octets: int = field(default=1, compare=False)
    reasons: Mapping[str, str] = field(default_factory=dict, compare=False)
    beyond: tuple[str, ...] = field(default=(), compare=False)

    def watchdog_of(self, port: str) -> Watchdog | None:
        """Return the watchdog of a port."""
        return self.watchdogs.get(port, self.watchdog)

    def why(self, key: str) -> str:
        """Return the reason of a value."""
        return self.reasons.get(key, "")


@dataclass(frozen=True, kw_only=True)
class Written:
    """The configuration of a device as text.

    Attributes:
        files: texts by file name.
        expressed: the device as the text has it: reading the text gives it again.
        lost: sentences on what the target cannot express, or rounds.
    """

    files: Mapping[str, str]
    expressed: Device
    lost: tuple[str, ...] = ()


def watchdogs(of_ports: Mapping[str, Watchdog | None]) -> tuple[Watchdog | None, dict[str, Watchdog | None]]:
    """Return the watchdog of most ports, or the quicker one of two, and those of the other ports by name."""
    given = [own for own in of_ports.values() if own is not None]
    common = min(given, key=lambda own: (-given.count(own), own.detection_ms, own.restoration_ms), default=None)
    return common, {name: own for name, own in of_ports.items() if own != common}


def with_ports(device: Device, ports: list[Port], **changes: object) -> Device:
    """Return a device with other ports, and with other changes."""
    return replace(device, ports=tuple(ports), **changes)  # type: ignore[arg-type]


def percentages(weights: Mapping[Key, int]) -> dict[Key, int]:
    """Return weights in whole per cent that add up to 100, each at least 1."""
    total = sum(weights.values())
    shares = {key: max(1, weight * 100 // total) for key, weight in weights.items()}
    by_remainder = sorted(weights, key=lambda key: (-(weights[key] * 100 % total), key))
    for key in by_remainder[: max(0, 100 - sum(shares.values()))]:
        shares[key] += 1
    excess = sum(shares.values()) - 100
    if excess > 0:
        shares[max(shares, key=lambda key: shares[key])] -= excess
    return shares
