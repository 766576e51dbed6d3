"""Receive buffers of a host's network interface: what ``mlnx_qos`` and ``dcb`` have in common."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from penstock.devices.findings import Finding, Kind, Place
from penstock.devices.model import Device, Port, Threshold

LOSSY_BUFFER = 65_536
"""Size that is written for the buffer of all lossy priorities, octets."""

_JUMBO = 9216
_CELL = 128


def connectx_xoff(rate_bps: int, cable_m: int, mtu: int) -> int:
    """Return the xoff of the ConnectX driver, octets, in its arithmetic of whole numbers.

    Linux, drivers/net/ethernet/mellanox/mlx5/core/en/port_buffer.c (calculate_xoff).

    Args:
        rate_bps: line rate, bit/s; less than 40 Gb/s counts as that.
        cable_m: length of the cable, m.
        mtu: the MTU, octets.
    """
    speed = max(rate_bps // 1_000_000, 40_000)
    return (301 + 216 * cable_m // 100) * speed // 1000 + 272 * mtu // 100


def lossless_buffer(rate_bps: int, cable_m: int, frame: int, needed: int) -> int:
    """Return the size of a lossless receive buffer, octets.

    It is what the driver asks for (xoff, the larger of MTU and 9216, a cell), or the headroom needed and two frames,
    rounded up to KiB.

    Args:
        rate_bps: line rate, bit/s.
        cable_m: length of the cable, m.
        frame: the longest frame, octets.
        needed: headroom that the port needs, octets.
    """
    longest = max(frame, _JUMBO)
    least = max(connectx_xoff(rate_bps, cable_m, longest) + longest + _CELL, needed + 2 * longest)
    return math.ceil(least / 1024) * 1024


def with_buffers(device: Device) -> tuple[Device, list[str]]:
    """Return a device whose lossless priorities have a receive buffer each, and what has no room."""
    ports, lost = [], []
    for port in device.ports:
        lossless = port.pfc[:7]
        if port.pfc[7:]:
            lost.append(f"{port.name}: 8 lossless priorities share buffers; the last has that of the lossy ones")
        ingress: dict[int, Threshold] = dict.fromkeys(range(8), Threshold(pool="buffer0", limit_octets=LOSSY_BUFFER))
        for number, priority in enumerate(lossless, start=1):
            needed = port.ingress[priority].xoff_octets if priority in port.ingress else 0
            size = lossless_buffer(port.rate_bps, port.cable_m or 0, port.frame_octets, needed)
            ingress[priority] = Threshold(pool=f"buffer{number}", limit_octets=size)
        ports.append(replace(port, ingress=ingress if lossless else {}, rate_bps=0, frame_octets=0))
    return replace(device, name="", ports=tuple(ports), pcp={}), lost


@dataclass
class Interface:
    """What commands have set of an interface; lists are by priority or by buffer.

    Attributes:
        pfc: the priorities with PFC.
        cable_m: length of the cable, m.
        delay_bits: round trip in bit times.
        buffers: the buffer of each priority.
        sizes: the size of each buffer, octets.
        trust: the field that says the priority.
        dscp: the priority of each DSCP.
        lines: the line of each setting.
    """

    pfc: list[bool] | None = None
    cable_m: int | None = None
    delay_bits: int | None = None
    buffers: list[int] | None = None
    sizes: list[int] | None = None
    trust: str = ""
    dscp: dict[int, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def port(self, name: str) -> Port:
        """Return the interface as a port."""
        ingress: dict[int, Threshold] = {}
        if self.buffers is not None or self.sizes is not None:
            buffers = self.buffers or [0] * 8
            sizes = self.sizes or [0] * 8
            ingress = {p: Threshold(pool=f"buffer{n}", limit_octets=sizes[n]) for p, n in enumerate(buffers)}
        return Port(
            name=name,
            cable_m=self.cable_m,
            delay_bits=self.delay_bits,
            pfc=tuple(priority for priority, on in enumerate(self.pfc or ()) if on),
            ingress=ingress,
        )


def device_of(
    interfaces: Mapping[str, Interface], command: str
) -> tuple[Device, dict[tuple[object, ...], Place], list[Finding]]:
    """Return the device of interfaces, where its values stand, and the faults that its buffers have."""
    places: dict[tuple[object, ...], Place] = {}
    findings: list[Finding] = []
    for name, interface in interfaces.items():
        for key in ("pfc", "cable", "port"):
            places[key, name] = Place(interface.lines.get(key), f"{command} {name} {key}")
        for code in interface.dscp:
            places["dscp", code] = Place(interface.lines.get(f"dscp {code}"), f"{command} {name} dscp {code}")
        for priority in range(8):
            places["ingress", name, priority] = Place(interface.lines.get("sizes"), f"{command} {name} buffers")
        findings += _shared(name, interface, command)
    dscp = {code: priority for interface in interfaces.values() for code, priority in interface.dscp.items()}
    ports = tuple(interface.port(name) for name, interface in interfaces.items())
    return Device(kind="nic", ports=ports, dscp=dscp), places, findings


def _shared(name: str, interface: Interface, command: str) -> list[Finding]:
    """Find lossless priorities in a buffer with lossy ones, or in one without memory."""
    found = []
    if interface.pfc is None or not any(interface.pfc) or interface.buffers is None:
        return []
    line = interface.lines.get("buffers")
    for priority, on in enumerate(interface.pfc):
        if not on:
            continue
        own = interface.buffers[priority]
        lossy = [p for p, other in enumerate(interface.buffers) if other == own and not interface.pfc[p]]
        if lossy:
            text = f"the lossless priority {priority} shares buffer {own} with {', '.join(map(str, lossy))}"
            found.append(fault(line, f"{command} {name} buffers", "meaning", text, "give it a buffer without others"))
        if interface.sizes is not None and interface.sizes[own] == 0:
            text = f"buffer {own} of the lossless priority {priority} has no memory"
            at = interface.lines.get("sizes")
            found.append(fault(at, f"{command} {name} buffers", "sum", text, f"give buffer {own} a size"))
    return found


def fault(line: int | None, where: str, kind: Kind, message: str, remedy: str = "") -> Finding:
    """Return an error."""
    return Finding(line=line, where=where, severity="error", kind=kind, message=message, remedy=remedy)


def warning(line: int | None, where: str, message: str, remedy: str = "", kind: Kind = "meaning") -> Finding:
    """Return a warning."""
    return Finding(line=line, where=where, severity="warning", kind=kind, message=message, remedy=remedy)


def note(line: int | None, where: str, message: str) -> Finding:
    """Return a note on a line that is not looked at."""
    return Finding(line=line, where=where, severity="note", kind="syntax", message=message)
