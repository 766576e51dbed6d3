"""The network of a testbed: namespaces, wires, and the sockets on them."""

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from penstock.testbed import linux
from penstock.testbed.cleanup import State
from penstock.testbed.errors import TestbedError
from penstock.testbed.layout import Layout, Node

HOST_INTERFACE = "eth0"
"""The interface that applications see."""

_HOST_QUEUE = 16
"""Frames that wait between an application and its interface's process; more wait there, where they are counted."""


_LISTENER_BUFFER = 64 << 20
"""Octets that the kernel keeps for a capture, which has no priority of real time: those of seconds at 100 Mb/s."""


@dataclass(frozen=True)
class Wire:
    """An end of a wire: a packet socket (``p``) or a TAP (``t``), by its number."""

    kind: bytes
    number: int


class Fabric:
    """Namespaces and wires of a layout. All ends of wires between nodes are in one namespace, away from the hosts."""

    def __init__(self, layout: Layout, state: State) -> None:
        self._layout = layout
        self._prefix = state.prefix
        self._open = ExitStack()
        self._ends: dict[tuple[str, str], socket.socket] = {}
        self._hosts: dict[str, Wire] = {}
        self._packet_sockets: list[socket.socket] = []
        self._names: dict[tuple[str, str], str] = {}

    def namespace(self, host: str) -> str:
        """Return the name of a host's namespace."""
        return f"{self._prefix}-{host}"

    def build(self) -> None:
        """Make everything.

        Raises:
            TestbedError: the system refuses.
        """
        try:
            self._build()
        except OSError as error:
            raise TestbedError(f"the system refuses to make the network: {error}") from None

    def _build(self) -> None:
        fabric = f"{self._prefix}-fabric"
        linux.ip("netns", "add", fabric)
        mtu = self._layout["wire_mtu"]
        names = {(a, b): (f"wire{i}a", f"wire{i}b") for i, (a, b) in enumerate(self._layout["wires"])}
        hosts = [node for node in self._layout["nodes"] if node["host"]]
        with linux.inside(fabric):
            linux.without_ipv6()
        lines = [f"link add {a} mtu {mtu} type veth peer name {b} mtu {mtu}" for a, b in names.values()]
        lines += [f"link set {end} arp off up" for ends in names.values() for end in ends]
        linux.ip_batch(fabric, lines)
        with linux.inside(fabric):
            for wire, ends in names.items():
                for (own, peer), end in zip((wire, wire[::-1]), ends, strict=True):
                    self._names[own, peer] = end
                    self._ends[own, peer] = self._packet(end)
        for i, host in enumerate(hosts):
            self._host(host, fabric, f"host{i}")

    def _packet(self, interface: str) -> socket.socket:
        opened = self._open.enter_context(linux.packet_socket(interface))
        self._packet_sockets.append(opened)
        return opened

    def _host(self, node: Node, fabric: str, end: str) -> None:
        """Make a host's namespace, with a TAP, or with a veth where the system gives no TAP."""
        own = self.namespace(node["name"])
        linux.ip("netns", "add", own)
        mtu, name = self._layout["host_mtu"], node["name"]
        with linux.inside(own):
            linux.without_ipv6()
            if node["ecn"]:
                linux.with_ecn()
            try:
                number = linux.tap(HOST_INTERFACE)
            except OSError:
                veth = True
            else:
                veth = False
                self._open.callback(os.close, number)
                self._hosts[name] = Wire(b"t", number)
        if veth:
            linux.ip_batch(own, [f"link add {HOST_INTERFACE} type veth peer name {end} netns {fabric}"])
            linux.ip_batch(fabric, [f"link set {end} arp off mtu {mtu} up"])
            with linux.inside(fabric):
                self._hosts[name] = Wire(b"p", self._packet(end).fileno())
        linux.ip_batch(
            own,
            [
                "link set lo up",
                f"link set {HOST_INTERFACE} address {node['mac']} mtu {mtu} txqueuelen {_HOST_QUEUE} up",
                f"address add {node['address']}/16 dev {HOST_INTERFACE}",
            ],
        )
        if veth:
            # Otherwise checksums are left to hardware that is not there.
            linux.offload_off(own, HOST_INTERFACE)

    def wires(self, node: Node) -> list[Wire]:
        """Return the wires of a node, in the order in which its process takes them."""
        ends = [Wire(b"p", self._ends[node["name"], peer].fileno()) for peer in node["peers"]]
        return [*ends, self._hosts[node["name"]]] if node["host"] else ends

    def listener(self, sender: str, receiver: str) -> socket.socket:
        """Open one more socket for the frames that a node sends to its neighbour: where they come out of the wire.

        Raises:
            TestbedError: the system refuses.
        """
        try:
            with linux.inside(f"{self._prefix}-fabric"):
                return self._open.enter_context(linux.packet_socket(self._names[receiver, sender], _LISTENER_BUFFER))
        except OSError as error:
            raise TestbedError(f"the system refuses to capture frames: {error}") from None

    def unread(self) -> int:
        """Return how many frames the kernel has dropped, since no process read them."""
        return sum(linux.unread(opened) for opened in self._packet_sockets)

    def close(self) -> None:
        """Close all sockets; TAPs vanish with that."""
        self._open.close()


@contextmanager
def fabric(layout: Layout, state: State) -> Iterator[Fabric]:
    """Make the network of a layout, and close it in the end; its namespaces go with the state."""
    made = Fabric(layout, state)
    try:
        made.build()
        yield made
    finally:
        made.close()
