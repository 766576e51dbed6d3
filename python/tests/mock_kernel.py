"""A kernel of one's own at the other end of a socket pair: the DCB family of rtnetlink, by hand from ``dcbnl.h``."""

import errno
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

RTM_GETDCB, RTM_SETDCB, NLMSG_ERROR = 78, 79, 2
IEEE_SET, IEEE_GET = 20, 21
IFNAME, IEEE, QCN, QCN_STATS = 1, 13, 8, 9

QCN_OCTETS, STATS_OCTETS = 360, 96


@dataclass
class MockKernel:
    """A kernel with interfaces.

    Attributes:
        devices: the octets of ``ieee_qcn`` of each interface, or an error number that its driver gives.
        stats: the octets of ``ieee_qcn_stats`` that every interface has.
        privileged: every caller may set.
        refuses_set: the error number with which every driver refuses to set; as an octet in the answer.
        silent: it answers nothing.
        mangle: octets of an answer that are replaced, by their offset.
        commands: the commands that came, in order.
    """

    devices: dict[str, bytes | int | None]
    stats: bytes = bytes(STATS_OCTETS)
    privileged: bool = True
    refuses_set: int = 0
    silent: bool = False
    mangle: dict[int, int] = field(default_factory=dict)
    commands: list[int] = field(default_factory=list)

    def answer(self, request: bytes) -> bytes:
        """Answer a message as the kernel does."""
        length, kind, flags, sequence, port = struct.unpack_from("=IHHII", request)
        family, command, padding = struct.unpack_from("=BBH", request, 16)
        assert (length, flags, port, family, padding) == (len(request), 1, 0, 0, 0)
        assert (kind, command) in ((RTM_GETDCB, IEEE_GET), (RTM_SETDCB, IEEE_SET))
        self.commands.append(command)
        attributes = dict(parse(request[20:]))
        name = attributes[IFNAME].rstrip(b"\0").decode()
        if kind == RTM_SETDCB and not self.privileged:
            return error(errno.EPERM, request)
        if name not in self.devices:
            return error(errno.ENODEV, request)
        device = self.devices[name]
        if isinstance(device, int):
            return error(device, request)
        if kind == RTM_SETDCB:
            if not self.refuses_set:
                (values,) = (value for inner, value in parse(attributes[IEEE]) if inner == QCN)
                assert len(values) == QCN_OCTETS
                self.devices[name] = values
            return message(RTM_SETDCB, sequence, IEEE_SET, attribute(IEEE, bytes([-self.refuses_set & 0xFF])))
        # An ETS structure, which is none of our business, comes first.
        nested = attribute(1, bytes(56))
        if device is not None:
            nested += attribute(QCN, device) + attribute(QCN_STATS, self.stats)
        rest = attribute(IFNAME, name.encode() + b"\0") + attribute(IEEE, nested)
        return message(RTM_GETDCB, sequence, IEEE_GET, rest)


def parse(octets: bytes) -> Iterator[tuple[int, bytes]]:
    """Give type and value of each attribute."""
    at = 0
    while at < len(octets):
        length, kind = struct.unpack_from("=HH", octets, at)
        yield kind & 0x3FFF, octets[at + 4 : at + length]
        at += (length + 3) & ~3


def attribute(kind: int, value: bytes) -> bytes:
    """Return an attribute."""
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def message(kind: int, sequence: int, command: int, rest: bytes) -> bytes:
    """Return a message of the DCB family."""
    return struct.pack("=IHHIIBBH", 20 + len(rest), kind, 0, sequence, 4711, 0, command, 0) + rest


def error(number: int, request: bytes) -> bytes:
    """Return the message that refuses a request."""
    (sequence,) = struct.unpack_from("=I", request, 8)
    return struct.pack("=IHHIIi", 36, NLMSG_ERROR, 0, sequence, 4711, -number) + request[:16]


@contextmanager
def running(kernel: MockKernel) -> Iterator[socket.socket]:
    """Let the kernel answer, and give the socket to ask through."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)

    def serve() -> None:
        while request := its.recv(1 << 16):
            if kernel.silent:
                continue
            octets = bytearray(kernel.answer(request))
            for place, octet in kernel.mangle.items():
                octets[place] = octet
            its.send(octets)

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    try:
        yield ours
    finally:
        ours.send(b"")
        server.join(timeout=5)
        ours.close()
        its.close()
    assert not server.is_alive()
