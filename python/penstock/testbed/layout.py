"""The layout of a testbed, as the extension makes it from a scenario."""

import json
from typing import TypedDict, cast

from penstock import _core
from penstock.testbed.errors import TestbedError


class Node(TypedDict):
    """A host or a switch; ``address`` is a host's IPv4 address, ``peers`` are the neighbours in the order of ports.

    With ``ecn`` the kernel of a host asks for marks on its TCP connections (RFC 3168).
    """

    name: str
    host: bool
    mac: str
    address: str | None
    ecn: bool
    peers: list[str]


class Sender(TypedDict):
    """The sender of a flow. Times are the machine's, s after the start; ``rate_bps`` is the rate of UDP's data."""

    name: str
    source: str
    destination: str
    tcp: str | None
    port: int
    rate_bps: int | None
    length: int
    size: int | None
    start_s: float
    stop_s: float
    iperf3: bool


class Program(TypedDict):
    """A program in a host; it begins ``start_s`` after the start."""

    host: str
    command: str
    start_s: float


class Layout(TypedDict):
    """A testbed: namespaces, wires, addresses, applications. ``notes`` are known differences from the simulator."""

    nodes: list[Node]
    wires: list[tuple[str, str]]
    flows: list[Sender]
    applications: list[Program]
    host_mtu: int
    wire_mtu: int
    time_scale: int
    duration_s: float
    notes: list[str]


def lay_out(resolved: str) -> Layout:
    """Return the layout of a resolved scenario's testbed.

    Raises:
        TestbedError: the testbed cannot do what the scenario asks for.
    """
    try:
        return cast("Layout", json.loads(_core.testbed_layout(resolved)))
    except _core.TestbedRunError as fault:
        raise TestbedError(str(fault), unsuited=True) from None
