"""A capture of the testbed's wires: the frames that reach the far ends of some ports, in a pcapng file.

It reads separate packet sockets beside those of the nodes, in a thread, and writes as it goes, so that memory does
not grow with the run.
"""

import difflib
import selectors
import socket
import struct
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from penstock._core import wire_pcapng
from penstock.testbed import linux
from penstock.testbed.errors import TestbedError
from penstock.testbed.fabric import Fabric
from penstock.testbed.layout import Layout

FILE = "capture.pcapng"

_LONGEST = 2048
"""Octets of the longest frame that is read."""

_TURN = 256
"""Frames that are read from one socket before the others have their turn."""

_WAIT_S = 0.05
"""Between two looks at the sockets, if nothing comes."""

_SETTLED_NS = 10_000_000
"""The longest from the kernel's stamp on a frame until the frame can be read."""

# linux/if_packet.h, asm-generic/socket.h
_SOL_PACKET = 263
_PACKET_AUXDATA = 8
_SCM_TIMESTAMPNS = 35
_TP_STATUS_VLAN_VALID = 1 << 4
_AUXDATA = struct.Struct("=IIIHHHH")


def check_ports(layout: Layout, ports: Sequence[str]) -> None:
    """Refuse ports that are none.

    Raises:
        TestbedError: there is no such port.
    """
    known = [f"{a}->{b}" for wire in layout["wires"] for a, b in (wire, wire[::-1])]
    for port in ports:
        if port not in known:
            near = difflib.get_close_matches(port, known, n=1, cutoff=0.0)
            hint = f'did you mean "{near[0]}"?' if near else ""
            raise TestbedError(f'--pcap: there is no port "{port}"', hint, unsuited=True)


class Capture:
    """The frames of some ports, in a file, from :meth:`begin` to :meth:`end`.

    Times are when a frame has reached the far end of its line, on the network's clock.
    """

    def __init__(self, fabric: Fabric, layout: Layout, ports: Sequence[str], file: Path) -> None:
        self._ports = list(dict.fromkeys(ports))
        self._scale = layout["time_scale"]
        self._file = file
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._waiting: list[tuple[int, int, bytes]] = []
        self._failure: OSError | None = None
        self._origin_ns = 0
        self._sockets = [fabric.listener(*port.split("->")) for port in self._ports]
        self._head = bytes(wire_pcapng(self._ports, []))

    def begin(self, origin_ns: int) -> None:
        """Begin to write; the run starts at this time, ns since 1970."""
        self._origin_ns = origin_ns
        self._thread = threading.Thread(target=self._work, name="capture", daemon=True)
        self._thread.start()

    def end(self) -> list[str]:
        """End the file, and return what it lacks, in sentences."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        if self._failure is not None:
            return [f"The capture could not be written: {self._failure}."]
        lost = sum(linux.unread(opened) for opened in self._sockets)
        return [f"The capture lacks {lost} frames, which were not read in time."] if lost else []

    def _work(self) -> None:
        try:
            with self._file.open("wb") as file, selectors.DefaultSelector() as ready:
                file.write(self._head)
                for number, opened in enumerate(self._sockets):
                    ready.register(opened, selectors.EVENT_READ, number)
                while True:
                    over = self._over.is_set()
                    found = ready.select(0 if over else _WAIT_S)
                    # The time comes first: frames that are read in a later turn are younger.
                    settled_ns = time.time_ns()
                    for key, _ in found:
                        settled_ns = min(settled_ns, self._read(key.data))
                    file.write(self._settled(settled_ns - _SETTLED_NS))
                    if over and not found:
                        break
                file.write(self._settled(None))
        except OSError as error:
            self._failure = error

    def _read(self, number: int) -> int:
        """Read a turn of a socket, and return the time before which none of its frames is unread."""
        last_ns = sys.maxsize
        for _ in range(_TURN):
            try:
                octets, messages, _, _ = self._sockets[number].recvmsg(_LONGEST, 256)
            except BlockingIOError:
                return sys.maxsize
            except OSError as error:
                # The interface is being removed.
                self._failure = self._failure or error
                return sys.maxsize
            self._waiting.append(_stamped(octets, messages, number))
            last_ns = self._waiting[-1][0]
        return last_ns

    def _settled(self, before_ns: int | None) -> bytes:
        """Return the blocks of the frames of before a time, or of all."""
        self._waiting.sort(key=lambda frame: frame[0])
        count = len(self._waiting)
        if before_ns is not None:
            count = next((i for i, frame in enumerate(self._waiting) if frame[0] >= before_ns), count)
        chosen, self._waiting = self._waiting[:count], self._waiting[count:]
        written: list[tuple[int, int, bytes, int, str | None]] = [
            (number, max(time_ns - self._origin_ns, 0) // self._scale, octets, len(octets), None)
            for time_ns, number, octets in chosen
        ]
        return bytes(wire_pcapng(self._ports, written))[len(self._head) :]


def _stamped(octets: bytes, messages: "list[tuple[int, int, bytes]]", number: int) -> tuple[int, int, bytes]:
    """Return a frame's time, its interface, and its octets with the 802.1Q tag that the kernel has taken off."""
    time_ns = 0
    for level, kind, data in messages:
        if (level, kind) == (socket.SOL_SOCKET, _SCM_TIMESTAMPNS):
            seconds, rest = struct.unpack_from("=qq", data)
            time_ns = seconds * 1_000_000_000 + rest
        elif (level, kind) == (_SOL_PACKET, _PACKET_AUXDATA):
            status, _, _, _, _, tci, _ = _AUXDATA.unpack_from(data)
            if status & _TP_STATUS_VLAN_VALID:
                octets = octets[:12] + struct.pack("!HH", 0x8100, tci) + octets[12:]
    return time_ns, number, octets
