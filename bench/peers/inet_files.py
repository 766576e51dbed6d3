"""Files of INET: a network over point-to-point links, and a TCP connection for each flow."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from penstock.exchange.hpcc import Flow, Topology

STOP_S = 0.2
"""When a simulation ends at the latest."""
LATER_S = Decimal("0.001")
"""Flows start as much later: handshakes are over by then."""
FIRST_PORT = 1000
"""That of the first flow's sink: each flow has another."""
_VECTOR = re.compile(r"^vector (\d+) Network\.n(\d+)\.app\[(\d+)\] packetReceived:", re.MULTILINE)


def network(topology: Topology) -> str:
    """Return `network.ned`: hosts and routers, called n and their number."""
    nodes = ("Router" if node in topology.switches else "StandardHost" for node in range(topology.nodes))
    lines = [
        "import inet.networklayer.configurator.ipv4.Ipv4NetworkConfigurator;",
        "import inet.node.inet.Router;",
        "import inet.node.inet.StandardHost;",
        "import ned.DatarateChannel;",
        "",
        "network Network",
        "{",
        "    submodules:",
        "        configurator: Ipv4NetworkConfigurator;",
        *(f"        n{number}: {node};" for number, node in enumerate(nodes)),
        "    connections:",
    ]
    for at in topology.links:
        channel = f"DatarateChannel {{ datarate = {at.rate}; delay = {at.delay}; }}"
        lines.append(f"        n{at.first}.pppg++ <--> {channel} <--> n{at.second}.pppg++;")
    return "\n".join([*lines, "}"]) + "\n"


def apps(flows: Sequence[Flow]) -> dict[int, list[int]]:
    """Return, by host, the numbers of the flows that begin or end there: one application each, in this order."""
    found: dict[int, list[int]] = {}
    for number, flow in enumerate(flows):
        for host in (flow.source, flow.destination):
            found.setdefault(host, []).append(number)
    return found


def configuration(topology: Topology, flows: Sequence[Flow], settings: Mapping[str, str]) -> str:
    """Return `omnetpp.ini`; a run of it writes what each sink receives, and when, into `flows.vec`.

    Args:
        topology: the network.
        flows: each has a connection, which is open `LATER_S` before the first starts.
        settings: `tcp`, a class of INET; `sack`; `buffer`, packets in a port of a switch; `mark`, packets, 0 for none.
    """
    lines = [
        "[General]",
        "network = Network",
        f"sim-time-limit = {STOP_S}s",
        "output-vector-file = flows.vec",
        "**.app[*].packetReceived.statistic-recording = true",
        "**.statistic-recording = false",
        "**.scalar-recording = false",
        f'**.tcp.tcpAlgorithmClass = "{settings["tcp"]}"',
        "**.tcp.mss = 1460",
        "**.tcp.advertisedWindow = 16000000",
        "**.tcp.windowScalingSupport = true",
        f"**.tcp.sackSupport = {settings['sack']}",
        "**.tcp.nagleEnabled = false",
        "**.tcp.increasedIWEnabled = true",
        f"**.tcp.ecnWillingness = {str(settings['mark'] != '0').lower()}",
    ]
    for switch in topology.switches:
        values = _port_of_a_switch(int(settings["mark"]), settings["buffer"])
        lines += [f"*.n{switch}.ppp[*].queue.{key} = {value}" for key, value in values.items()]
    for host, numbers in sorted(apps(flows).items()):
        lines += [f"*.n{host}.{key} = {value}" for key, value in _host(host, numbers, flows).items()]
    return "\n".join(lines) + "\n"


def _port_of_a_switch(marks: int, buffer: str) -> dict[str, str]:
    """Return the queue of a port: the end of the queue is lost, or `marks` packets before a packet mark it."""
    if not marks:
        return {"packetCapacity": buffer}
    red = {"wq": "1", "minth": f"{marks - 0.001}", "maxth": str(marks), "maxp": "1", "useEcn": "true"}
    red["packetCapacity"] = buffer
    return {"typename": '"RedDropperQueue"'} | {f"red.{key}": value for key, value in red.items()}


def _host(host: int, numbers: Sequence[int], flows: Sequence[Flow]) -> dict[str, str]:
    """Return a host: an application for each of its flows, and a queue in which they take turns and lose nothing."""
    values = {"numApps": str(len(numbers))}
    for app, number in enumerate(numbers):
        flow, port = flows[number], str(FIRST_PORT + number)
        sender = {
            "typename": '"TcpSessionApp"',
            "connectAddress": f'"n{flow.destination}"',
            "connectPort": port,
            "tOpen": "0s",
            "tSend": f"{LATER_S + Decimal(flow.start)}s",
            "sendBytes": f"{flow.octets}B",
            "tClose": "-1s",
        }
        sink = {"typename": '"TcpSinkApp"', "localPort": port}
        values |= {f"app[{app}].{key}": value for key, value in (sender if host == flow.source else sink).items()}
    ports = [FIRST_PORT + number for number in numbers]
    filters = ", ".join(f"expr(tcp.destPort == {port} || tcp.srcPort == {port})" for port in ports)
    queue = {
        "typename": '"PriorityQueue"',
        "numQueues": str(len(ports)),
        "classifier.typename": '"ContentBasedClassifier"',
        "classifier.packetFilters": f"[{filters}]",
        "scheduler.typename": '"WrrScheduler"',
        "scheduler.weights": f'"{" ".join("1" for _ in ports)}"',
        "**.packetCapacity": "-1",
    }
    return values | {f"ppp[*].queue.{key}": value for key, value in queue.items()}


def ended_s(text: str, flows: Sequence[Flow]) -> dict[int, float]:
    """Return when the last octet of each flow came, s, by its number: the last line of its sink in `flows.vec`."""
    hosts = apps(flows)
    sinks = {at[1]: hosts[int(at[2])][int(at[3])] for at in _VECTOR.finditer(text)}
    lines = (line.split() for line in text.splitlines())
    return {sinks[words[0]]: float(words[2]) for words in lines if len(words) == 4 and words[0] in sinks}
