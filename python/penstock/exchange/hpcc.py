"""Topology and flow files of the simulator of Li et al. 2019 (HPCC), and of those that were made of it.

Source of the formats: https://github.com/alibaba-edu/High-Precision-Congestion-Control, the reader in
``simulation/scratch/third.cc``. It reads word by word and stops after the number of entries that the first line
announces; lines after that are remarks. A number keeps its spelling, so a file with one space between words and one
entry a line is written with the same octets that were read.

The other families differ in the first line of a topology and in the last fields of a flow: ns3-rdma
(https://github.com/bobzhuyb/ns3-rdma), from which HPCC's was made, counts packets and ends flows at a time; PowerTCP
and Reverie (https://github.com/inet-tub/ns3-datacenter) count racks in a topology; SimAI
(https://github.com/aliyun/SimAI) counts NVSwitches apart.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from penstock import files
from penstock.exchange.line_reader import NUMBER, OCTETS_MAX, WHOLE, ExchangeError, Lines

RATE = re.compile(r"\d+(\.\d+)?([kKMGT]?(bps|b/s|Bps|B/s))?")
"""A rate as ns-3 reads it; without a unit it is in bit/s."""
_DELAY = re.compile(r"\d+(\.\d+)?(s|ms|us|ns|ps)")
_TYPE = re.compile(r"[A-Za-z]\w{0,30}")


@dataclass(frozen=True)
class Link:
    """A link between two nodes; ``rate``, ``delay`` and ``error_rate`` as the file spells them.

    ``rate`` has its unit (``100Gbps``) or is in bit/s, ``delay`` has its unit (``0.001ms``); ``error_rate`` is the
    share of lost packets.
    """

    first: int
    second: int
    rate: str
    delay: str
    error_rate: str


@dataclass(frozen=True)
class Topology:
    """``nodes`` nodes, numbered from 0, those in ``switches`` are switches; ``remarks`` is the text after the links.

    ``head`` is the first line where it has more than HPCC's three numbers.
    """

    nodes: int
    switches: tuple[int, ...]
    links: tuple[Link, ...]
    remarks: str = ""
    head: str = ""

    @property
    def family(self) -> str:
        """The simulator whose first line it has: ``HPCC``, ``PowerTCP``, ``Reverie`` or ``SimAI``."""
        words = self.head.split()
        return "SimAI" if len(words) > 5 and _TYPE.fullmatch(words[5]) else _FAMILIES[len(words)]

    @property
    def unread(self) -> int:
        """The number of links after those that the first line announces: HPCC's simulator does not read them."""
        return _entries(self.remarks, 5)

    def text(self) -> str:
        """Return the topology as a file."""
        head = self.head or f"{self.nodes} {len(self.switches)} {len(self.links)}"
        lines = [head, " ".join(map(str, self.switches))]
        lines += [f"{at.first} {at.second} {at.rate} {at.delay} {at.error_rate}" for at in self.links]
        return "\n".join(lines) + "\n" + self.remarks


@dataclass(frozen=True)
class Flow:
    """A flow of ``octets`` octets; ``priority`` is its priority group, ``start`` its start in seconds as spelt.

    A flow of ns3-rdma has no port; its ``octets`` are packets of data, and it ends at ``stop`` at the latest.
    """

    source: int
    destination: int
    priority: int
    port: int
    octets: int
    start: str
    stop: str | None = None


@dataclass(frozen=True)
class Flows:
    """The flows of a file in their order; ``remarks`` is the text after them."""

    flows: tuple[Flow, ...]
    remarks: str = ""

    @property
    def in_packets(self) -> bool:
        """Whether these are flows of ns3-rdma, whose sizes are packets."""
        return any(at.stop is not None for at in self.flows)

    @property
    def unread(self) -> int:
        """The number of flows after those that the first line announces: HPCC's simulator does not read them."""
        return _entries(self.remarks, 6)

    def text(self) -> str:
        """Return the flows as a file."""
        lines = [str(len(self.flows))]
        lines += [
            f"{at.source} {at.destination} {at.priority} {at.port} {at.octets} {at.start}"
            if at.stop is None
            else f"{at.source} {at.destination} {at.priority} {at.octets} {at.start} {at.stop}"
            for at in self.flows
        ]
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
    nodes, switch_count, link_count, head = _head(lines)
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
        lines.match(RATE, words[2], "a rate", "100Gbps")
        lines.match(_DELAY, words[3], "a delay", "0.001ms")
        lines.match(NUMBER, words[4], "an error rate", "0")
        if float(words[4]) > 1:
            raise lines.error(f"the error rate is {words[4]}; write a share from 0 to 1")
        links.append(Link(first, second, *words[2:]))
    return Topology(nodes, switches, tuple(links), lines.remarks(), head)


def _head(lines: Lines) -> tuple[int, int, int, str]:
    """Return the numbers of nodes, switches and links in the first line, and the line where it is not HPCC's own."""
    words = lines.words("the numbers of nodes, switches and links")
    if len(words) == 3:
        nodes, switches, links = map(lines.count, words)
        return nodes, switches, links, ""
    head = " ".join(words)
    if len(words) in (6, 7) and _TYPE.fullmatch(words[5]):
        nodes, _, nv_switches, switches, links = map(lines.count, words[:5])
        return nodes, nv_switches + switches, links, head
    if len(words) in (4, 6):
        # Racks, and in Reverie's the rates of their links, follow the number of switches.
        nodes, switches, _, links = map(lines.count, words[:4])
        for word in words[4:]:
            lines.match(RATE, word, "a rate", "25000000000")
        return nodes, switches, links, head
    reason = f"the line has {len(words)} fields and not 3; write the numbers of nodes, switches and links"
    raise lines.error(f"{reason}, or the first line of PowerTCP (4 fields), Reverie (6) or SimAI (6 or 7)")


_FAMILIES = {0: "HPCC", 4: "PowerTCP", 6: "Reverie"}


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
    in_packets = _with_stops(text)
    for index in range(count):
        ends = "packets, start and stop" if in_packets else "port, octets and start"
        what = f"flow {index + 1} of {count}: source, destination, priority group, {ends} in seconds"
        words = lines.take(6, what)
        source, destination = (lines.node(word, topology.nodes) for word in words[:2])
        for node in (source, destination):
            if node in switches:
                raise lines.error(f"node {node} is a switch; write a host")
        if source == destination:
            raise lines.error(f"the flow goes from host {source} to itself; write two hosts")
        if in_packets:
            words.insert(3, "0")
        priority, port, octets = (lines.whole(word) for word in words[2:5])
        if octets == 0:
            raise lines.error(f"the flow has 0 {'packets' if in_packets else 'octets'}; write one at least")
        start, stop = words[5], words[6] if in_packets else None
        lines.match(NUMBER, start, "a start in seconds", "2.000001")
        if stop is not None:
            lines.match(NUMBER, stop, "a stop in seconds", "9.5")
            if float(stop) <= float(start):
                raise lines.error(f"the flow stops at {stop} and starts at {start}; write a later stop")
        elif flows and float(start) < float(flows[-1].start):
            raise lines.error(f"the start {start} is before {flows[-1].start}; order the flows by their start")
        flows.append(Flow(source, destination, priority, port, octets, start, stop))
    return Flows(tuple(flows), lines.remarks())


def _with_stops(text: str) -> bool:
    """Say whether a flow file is ns3-rdma's: some flow has a start with a fraction where HPCC has octets."""
    lines = (line.split() for line in text.split("\n")[1:])
    flows = (words for words in lines if len(words) == 6 and all(map(WHOLE.fullmatch, words[:4])))
    return any("." in words[4] and NUMBER.fullmatch(words[4]) for words in flows)


def _entries(remarks: str, words_each: int) -> int:
    """Return how many lines of the remarks have the form of an entry: two nodes first, and this number of fields."""
    lines = (line.split() for line in remarks.split("\n"))
    return sum(len(words) == words_each and all(map(WHOLE.fullmatch, words[:2])) for words in lines)
