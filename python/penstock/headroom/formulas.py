"""Published formulas of headroom, a function each: octets that a port may still receive after it was to be paused.

Each has the arithmetic of its source, roundings included, and takes a :class:`Port`. ``xoff`` is always the memory
above the threshold for one port and one priority, so that the results stand side by side with the exact need.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from penstock.errors import ArgumentError

QUANTUM_BITS = 512
"""Bit times of a quantum of pause time (IEEE 802.3, 31B.2)."""

QUANTA = {
    100: 1,
    1_000: 2,
    10_000: 67,
    25_000: 80,
    40_000: 118,
    50_000: 147,
    100_000: 394,
    200_000: 453,
    400_000: 905,
    800_000: 905,
}
"""Quanta until a port of this speed, Mb/s, obeys a pause frame (802.3, 31B.3.7; the table of SONiC's scripts)."""

PAUSE_FRAME = 64
"""Octets of a PFC frame with FCS (802.3 annex 31D)."""

WIRE_OVERHEAD = 20
"""Octets of preamble and least gap."""

LEAST_MTU = 256
"""No port's longest frame has fewer octets: signals of schemes have up to as many, and share its priorities."""

NS_PER_M = Fraction(505, 100)
"""Delay of a cable, ns/m: light in fibre."""

_PS = 10**12


@dataclass(frozen=True, kw_only=True)
class Port:
    """A port that receives, and the line to it.

    Attributes:
        speed_mbps: rate of the line, Mb/s.
        cable_m: length of the cable, m.
        mtu: the longest frame, octets with FCS, at least :data:`LEAST_MTU`.
        cell: size of a memory cell, octets; 1 where the switch counts octets.
        lanes: electrical lanes of the port.
        response_ps: from the arrival of a pause frame until the peer starts no more frames, ps; ``None``: that of 802.3
            for the speed, or for the nearest one (:meth:`response`).
        delay_ps: one way over the cable, with the delay of the node; ``None``: 5.05 ns a metre.
        wire_overhead: octets of a frame on the line beyond its length.
    """

    speed_mbps: int
    cable_m: float
    mtu: int = 9216
    cell: int = 1
    lanes: int = 4
    response_ps: int | None = None
    delay_ps: int | None = None
    wire_overhead: int = WIRE_OVERHEAD

    def __post_init__(self) -> None:
        """Refuse values that no port has.

        Raises:
            ArgumentError: a value is out of range.
        """
        for name, value, least, most in (
            ("speed_mbps", self.speed_mbps, 1, 10_000_000),
            ("cable_m", self.cable_m, 0, 1_000_000),
            ("mtu", self.mtu, LEAST_MTU, 65_535),
            ("cell", self.cell, 1, 65_535),
            ("lanes", self.lanes, 1, 64),
            ("response_ps", self.response_ps or 0, 0, _PS),
            ("delay_ps", self.delay_ps or 0, 0, _PS),
        ):
            if not least <= value <= most:
                raise ArgumentError(f"{name}={value}: out of range", f"{least} to {most}")

    def delay(self) -> int:
        """Return the delay of the line one way, ps."""
        return round(self.cable_m * NS_PER_M * 1000) if self.delay_ps is None else self.delay_ps

    def response(self) -> int:
        """Return the time until the peer obeys a pause frame, ps."""
        if self.response_ps is not None:
            return self.response_ps
        nearest = min(QUANTA, key=lambda speed: max(speed, self.speed_mbps) / min(speed, self.speed_mbps))
        return QUANTA[nearest] * QUANTUM_BITS * 10**6 // nearest

    def wire(self) -> Fraction:
        """Return the octets of the line between the frame that reaches XOFF and the stop of the peer.

        The line both ways, a frame that has just begun on the way back, the pause frame, and the response.
        """
        time = Fraction((2 * self.delay() + self.response()) * self.speed_mbps * 10**6, 8 * _PS)
        return time + self.mtu + PAUSE_FRAME + 2 * self.wire_overhead


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A buffer profile as a formula gives it.

    Attributes:
        xon: octets at or below which the peer may go on.
        xoff: octets of headroom above the threshold.
        size: octets reserved for the port and priority.
    """

    xon: int
    xoff: int
    size: int


def annex_o(port: Port) -> int:
    """Return the headroom of IEEE 802.1Q, annex O, octets.

    The cable both ways, the response, a longest frame in either direction, and the PFC frame; delays of interfaces are
    parts of the response. The frame that crosses the threshold and cells are not in it.
    """
    return math.ceil(port.wire() + port.mtu + port.wire_overhead)


Revision = Literal["2023-08-15", "2024-09-11", "2026-07-28", "2026-08-01"]
"""A revision of ``buffer_headroom_mellanox.lua``: 4957df86, 3943093d, b20a5969, 422271e7 of sonic-swss."""


@dataclass(frozen=True)
class _Spectrum:
    cell: int
    pipeline_kib: int


# sonic-buildimage 086b03bd, platform/mellanox/asic_table.j2.
_SPECTRUM = {
    1: _Spectrum(96, 19),
    2: _Spectrum(144, 19),
    3: _Spectrum(144, 19),
    4: _Spectrum(192, 19),
    5: _Spectrum(192, 19),
    6: _Spectrum(256, 42),
}
_BEFORE = "before-2026-07-28"
_TOFINO_2_CELL = 176
_MAC_PHY_KIB, _PEER_KIB = 0.8, 3.8
_SPEED_OF_LIGHT = 198_000_000


def _whole_kib(octets: float) -> int:
    return math.ceil(octets / 1024) * 1024


def _share(percentage: float) -> None:
    if not 0 <= percentage <= 100:
        raise ArgumentError(f"small_packet_percentage={percentage:g}: out of range", "0 to 100")


def nvidia(
    port: Port,
    spectrum: int,
    *,
    revision: Revision = "2026-08-01",
    lossless_mtu: int = 1024,
    small_packet_percentage: float = 50,
    shared_headroom: bool = False,
    gearbox_ns: float = 0,
    cell: int | None = None,
) -> Profile:
    """Return the profile of SONiC's formula for NVIDIA's switches, octets.

    Source: sonic-swss e6b0c5b5, ``cfgmgr/buffer_headroom_mellanox.lua``, with the constants of sonic-buildimage
    086b03bd. Its cells are those of the chip, and its response that of the table, whatever ``port`` says of both.

    Args:
        port: speed, cable, MTU and lanes.
        spectrum: generation of the chip, 1 to 6.
        revision: since 2024-09-11 small packets count by octets, a cell of a small packet is whole, and Spectrum-4 and
            -5 have octets on a tile. Since 2026-07-28 a private headroom has 2 KiB more, where small packets alone
            would need it; since 2026-08-01 Spectrum-6 has 18 KiB more.
        lossless_mtu: octets of a large packet of lossless traffic.
        small_packet_percentage: share of packets of 64 octets, per cent of their number.
        shared_headroom: whether ports share a headroom pool.
        gearbox_ns: delay of the gearbox of MSN3800, 400; otherwise 0.
        cell: octets of a cell; ``None``: that of the chip.

    Raises:
        ArgumentError: there is no such generation, or a percentage or size is out of range.
    """
    if spectrum not in _SPECTRUM:
        raise ArgumentError(f"spectrum={spectrum}: no such generation", "1 to 6")
    _share(small_packet_percentage)
    if lossless_mtu < 1:
        raise ArgumentError(f"lossless_mtu={lossless_mtu}: out of range", "at least 1")
    chip, speed = _SPECTRUM[spectrum], port.speed_mbps
    own, early = cell or chip.cell, revision < "2024-09-11"
    factor = own / 64 if own > 128 else 2 * own / (1 + own)
    small = small_packet_percentage
    if not early:
        factor = math.ceil(factor)
        small = 100 * 64 / ((small_packet_percentage * 64 + (100 - small_packet_percentage) * lossless_mtu) / 100)
    occupancy = (100 - small + small * factor) / 100
    cable = _cable(port, 1024 if early else 1000)
    delay = port.mtu + cable + 2 * _gearbox(speed, gearbox_ns) + _MAC_PHY_KIB * 1024 + _peer(speed, _PEER_KIB)
    delay += speed / 1000 * 120 / 8 if spectrum in (4, 5) and not early else 0
    xoff = _whole_kib(lossless_mtu + delay * occupancy)
    if spectrum == 6 and revision >= "2026-08-01":
        xoff += 18 * 1024
    if revision >= "2026-07-28" and not shared_headroom and small_packet_percentage != 100:
        xoff += 2048 if xoff + 2048 < _whole_kib(lossless_mtu + delay * factor) else 0
    eight = port.lanes == 8
    xon = (chip.pipeline_kib * (2 if eight else 1) - (1 if eight and early else 0)) * 1024
    size = xon if shared_headroom else _whole_kib(xoff + xon + (port.mtu if eight else 0))
    return Profile(xon=xon, xoff=xoff, size=size)


def _cable(port: Port, kilo: int) -> float:
    return 2 * port.cable_m * port.speed_mbps * 1_000_000_000 / _SPEED_OF_LIGHT / (8 * kilo)


def _gearbox(speed: int, delay_ns: float) -> float:
    return speed * delay_ns / (8 * 1024)


def _peer(speed: int, otherwise_kib: float) -> float:
    """Return the octets until the peer obeys: by the table of quanta, or a constant for a speed that it lacks."""
    return QUANTA[speed] * QUANTUM_BITS / 8 if speed in QUANTA else otherwise_kib * 1024


def barefoot(
    port: Port, *, lossless_mtu: int = 1024, small_packet_percentage: float = 50, gearbox_ns: float = 0
) -> Profile:
    """Return the profile of SONiC's formula for Tofino-2, octets.

    Source: sonic-swss e6b0c5b5, ``cfgmgr/buffer_headroom_barefoot.lua``; constants of Tofino-2 from
    ``platform/barefoot/asic_table.j2``, which has none for Tofino: SONiC has tables of that chip, and they are no
    formula (:func:`penstock.headroom.judge` takes them). The headroom is always a shared pool.

    Raises:
        ArgumentError: a percentage is out of range.
    """
    _share(small_packet_percentage)
    speed, cell, pipeline_kib, mac_phy_kib, peer_kib = port.speed_mbps, _TOFINO_2_CELL, 68, 0.8, 9
    occupancy = (100 - small_packet_percentage + small_packet_percentage * (cell / 64)) / 100
    # The script's table ends at 400 Gb/s.
    peer = _peer(speed if speed <= 400_000 else 0, peer_kib) * (2 if speed == 400_000 else 1)
    cable = _cable(port, 1024)
    delay = port.mtu + cable + 2 * _gearbox(speed, gearbox_ns) + mac_phy_kib * 1024 + peer
    xon = pipeline_kib * 1024
    return Profile(xon=xon, xoff=_whole_kib(lossless_mtu + delay * occupancy), size=xon)


def connectx(port: Port) -> int:
    """Return ``xoff`` of the driver of ConnectX, octets.

    Source: Linux, ``mlx5/core/en/port_buffer.c``: whole numbers of 32 bits, divided at each step, at least 40 Gb/s.
    ``port.mtu`` stands for the MTU that the driver uses. A fraction of a metre is cut off.
    """
    wrap = 2**32
    per_gbps = (301 + 216 * int(port.cable_m) % wrap // 100) % wrap
    return (per_gbps * max(port.speed_mbps, 40_000) % wrap // 1000 + 272 * port.mtu % wrap // 100) % wrap


def mlxsw(port: Port, *, delay_bits: int | None = None, cell: int | None = None) -> int:
    """Return the headroom that Linux sets up on Spectrum for a buffer under PFC, octets in whole cells.

    Source: Linux, ``mlxsw/spectrum_buffers.c``: twice the cells of the delay, and those of a frame; twice all that on a
    port of eight lanes.

    Args:
        port: MTU, cells and lanes.
        delay_bits: the operator's ``dcb pfc set … delay``, bit times, which 802.1Q bounds by 65 535; ``None``: the need
            after annex O, whatever that bound.
        cell: size of a cell, octets; ``None``: that of the port, or of 96 if it counts octets.

    Raises:
        ArgumentError: the delay has more than 16 bits.
    """
    if delay_bits is not None and not 0 <= delay_bits <= 65_535:
        raise ArgumentError(f"delay_bits={delay_bits}: out of range", "0 to 65535, as `dcb pfc set … delay` takes")
    own = cell or (port.cell if port.cell > 1 else _SPECTRUM[1].cell)
    delay = annex_o(port) if delay_bits is None else -(-delay_bits // 8)
    cells = 2 * -(-delay // own) + -(-port.mtu // own)
    return cells * own * (2 if port.lanes == 8 else 1)


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A formula with its settings.

    Attributes:
        key: its name in JSON, such as ``spectrum-4``.
        name: its name in a table.
        source: the standard or file.
        xoff: the headroom of a port and priority, octets.
        cell: cells of the chip that it is for, octets; ``None``: any.
    """

    key: str
    name: str
    source: str
    xoff: Callable[[Port], int]
    cell: int | None = None


def formulas(
    *,
    lossless_mtu: int = 1024,
    small_packet_percentage: float = 50,
    shared_headroom: bool = False,
    gearbox_ns: float = 0,
    delay_bits: int | None = None,
) -> list[Formula]:
    """Return all formulas, those of both revisions of NVIDIA's where a private headroom distinguishes them.

    The settings are those of :func:`nvidia`, :func:`barefoot` and :func:`mlxsw`.
    """
    _share(small_packet_percentage)

    def of_spectrum(spectrum: int, revision: Revision) -> Callable[[Port], int]:
        return lambda port: (
            nvidia(
                port,
                spectrum,
                revision=revision,
                lossless_mtu=lossless_mtu,
                small_packet_percentage=small_packet_percentage,
                shared_headroom=shared_headroom,
                gearbox_ns=gearbox_ns,
            ).xoff
        )

    lua, listed = "sonic-swss, buffer_headroom_mellanox.lua", []
    for spectrum, chip in _SPECTRUM.items():
        name, key = f"NVIDIA Spectrum-{spectrum}", f"spectrum-{spectrum}"
        now = Formula(key=key, name=name, source=lua, xoff=of_spectrum(spectrum, "2026-08-01"), cell=chip.cell)
        before = Formula(
            key=f"{key}-{_BEFORE}",
            name=f"{name}, {_BEFORE.replace('-', ' ', 1)}",
            source=f"{lua} at 3943093d",
            xoff=of_spectrum(spectrum, "2024-09-11"),
            cell=chip.cell,
        )
        differs = spectrum == 6 or not (shared_headroom or small_packet_percentage == 100)
        listed += [now, before] if differs else [now]
    tofino = "sonic-swss, buffer_headroom_barefoot.lua"
    driver = "Linux, mlx5/core/en/port_buffer.c"
    linux = "Linux, mlxsw/spectrum_buffers.c"
    return [
        Formula(key="annex-o", name="802.1Q annex O", source="IEEE 802.1Q, annex O", xoff=annex_o),
        *listed,
        Formula(
            key="tofino-2",
            name="Barefoot Tofino-2",
            source=tofino,
            cell=_TOFINO_2_CELL,
            xoff=lambda port: (
                barefoot(
                    port,
                    lossless_mtu=lossless_mtu,
                    small_packet_percentage=small_packet_percentage,
                    gearbox_ns=gearbox_ns,
                ).xoff
            ),
        ),
        Formula(key="connectx", name="ConnectX (mlx5)", source=driver, xoff=connectx),
        Formula(
            key="mlxsw", name="Spectrum under Linux", source=linux, xoff=lambda port: mlxsw(port, delay_bits=delay_bits)
        ),
    ]
