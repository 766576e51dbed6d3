"""Topology, flow and completion files of the simulator of Li et al. 2019 (HPCC).

Source of the formats: https://github.com/alibaba-edu/High-Precision-Congestion-Control, the reader in
``simulation/scratch/third.cc``. It reads word by word and stops after the number of entries that the first line
announces; lines after that are remarks. A number keeps its spelling, so a file with one space between words and one
entry a line is written with the same octets that were read.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from penstock import files
from penstock.exchange.reading import NUMBER, OCTETS_MAX, WHOLE, ExchangeError, Lines

_RATE = re.compile(r"\d+(\.\d+)?[kKMGT]?(bps|b/s|Bps|B/s)")
_DELAY = re.compile(r"\d+(\.\d+)?(s|ms|us|ns|ps)")


@dataclass(frozen=True)
class Link:
    """A link between two nodes; ``rate``, ``delay`` and ``error_rate`` as the file spells them.

    ``rate`` has its unit (``100Gbps``), ``delay`` too (``0.001ms``); ``error_rate`` is the share of lost packets.
    """

    first: int
    second: int
    rate: str
    delay: str
    error_rate: str


@dataclass(frozen=True)
class Topology:
    """``nodes`` nodes, numbered from 0, those in ``switches`` are switches; ``remarks`` is the text after the links."""

    nodes: int
    switches: tuple[int, ...]
    links: tuple[Link, ...]
    remarks: str = ""

    @property
    def unread(self) -> int:
        """The number of links after those that the first line announces: HPCC's simulator does not read them."""
        return _entries(self.remarks, 5)

    def text(self) -> str:
        """Return the topology as a file."""
        lines = [f"{self.nodes} {len(self.switches)} {len(self.links)}", " ".join(map(str, self.switches))]
        lines += [f"{at.first} {at.second} {at.rate} {at.delay} {at.error_rate}" for at in self.links]
        return "\n".join(lines) + "\n" + self.remarks


@dataclass(frozen=True)
class Flow:
    """A flow of ``octets`` octets; ``priority`` is its priority group, ``start`` its start in seconds as spelt."""

    source: int
    destination: int
    priority: int
    port: int
    octets: int
    start: str


@dataclass(frozen=True)
class Flows:
    """The flows of a file in their order; ``remarks`` is the text after them."""

    flows: tuple[Flow, ...]
    remarks: str = ""

    @property
    def unread(self) -> int:
        """The number of flows after those that the first line announces: HPCC's simulator does not read them."""
        return _entries(self.remarks, 6)

    def text(self) -> str:
        """Return the flows as a file."""
        lines = [str(len(self.flows))]
        lines += [f"{at.source} {at.destination} {at.priority} {at.port} {at.octets} {at.start}" for at in self.flows]
        return "\n".join(lines) + "\n" + self.remarks


def read_topology(path: str | os.PathLike[str]) -> Topology:
    """Read a topology file.

    Raises:
        ExchangeError: it is not one; the message has the line.
        OSError: it cannot be read.
    """
    return parse_topology(files.read_text(Path(path), OCTETS_MAX, ExchangeError), os.fspath(path))


def parse_topology(text: str, name: str) -> Topology:
    """Read a topology from its text; ``name`` stands in messages.

    Raises:
        ExchangeError: the text is not a topology; the message has the line.
    """
    lines = Lines(text, name)
    nodes, switch_count, link_count = map(lines.count, lines.take(3, "the numbers of nodes, switches and links"))
    if switch_count > nodes:
        raise lines.error(f"there are {switch_count} switches among {nodes} nodes; write no more switches than nodes")
    switches = tuple(lines.node(word, nodes) for word in lines.take(switch_count, "the switches"))
    if len(set(switches)) != switch_count:
        raise lines.error("a switch is named twice; name each once")
    links = []
    for index in range(link_count):
        words = lines.take(5, f"link {index + 1} of {link_count}: two nodes, rate, delay and error rate")
        first, second = (lines.node(word, nodes) for word in words[:2])
        if first == second:
            raise lines.error(f"the link joins node {first} with itself; write two nodes")
        lines.match(_RATE, words[2], "a rate", "100Gbps")
        lines.match(_DELAY, words[3], "a delay", "0.001ms")
        lines.match(NUMBER, words[4], "an error rate", "0")
        if float(words[4]) > 1:
            raise lines.error(f"the error rate is {words[4]}; write a share from 0 to 1")
        links.append(Link(first, second, *words[2:]))
    return Topology(nodes, switches, tuple(links), lines.remarks())


def read_flows(path: str | os.PathLike[str], topology: Topology) -> Flows:
    """Read a flow file; its flows are between hosts of ``topology``.

    Raises:
        ExchangeError: it is not one; the message has the line.
        OSError: it cannot be read.
    """
    return parse_flows(files.read_text(Path(path), OCTETS_MAX, ExchangeError), os.fspath(path), topology)


def parse_flows(text: str, name: str, topology: Topology) -> Flows:
    """Read flows between hosts of ``topology`` from their text; ``name`` stands in messages.

    Raises:
        ExchangeError: the text has no such flows; the message has the line.
    """
    lines = Lines(text, name)
    switches = set(topology.switches)
    count = lines.count(lines.take(1, "the number of flows")[0])
    flows: list[Flow] = []
    for index in range(count):
        what = f"flow {index + 1} of {count}: source, destination, priority group, port, octets and start in seconds"
        words = lines.take(6, what)
        source, destination = (lines.node(word, topology.nodes) for word in words[:2])
        for node in (source, destination):
            if node in switches:
                raise lines.error(f"node {node} is a switch; write a host")
        if source == destination:
            raise lines.error(f"the flow goes from host {source} to itself; write two hosts")
        priority, port, octets = (lines.whole(word) for word in words[2:5])
        if octets == 0:
            raise lines.error("the flow has 0 octets; write one at least")
        lines.match(NUMBER, words[5], "a start in seconds", "2.000001")
        if flows and float(words[5]) < float(flows[-1].start):
            raise lines.error(f"the start {words[5]} is before {flows[-1].start}; order the flows by their start")
        flows.append(Flow(source, destination, priority, port, octets, words[5]))
    return Flows(tuple(flows), lines.remarks())


def _entries(remarks: str, words_each: int) -> int:
    """Return how many lines of the remarks are of the form of an entry: two nodes first, and so many words."""
    lines = (line.split() for line in remarks.split("\n"))
    return sum(len(words) == words_each and all(map(WHOLE.fullmatch, words[:2])) for words in lines)
