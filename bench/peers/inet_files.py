"""Files of INET: a network over point-to-point links, and a TCP connection for each flow."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from penstock.exchange.hpcc import Flow, Topology

App = tuple[int, int]
"""A host, and the number of an application there."""

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


def ends(topology: Topology, flows: Sequence[Flow]) -> list[tuple[App, App]]:
    """Return sender and sink of each flow."""
    taken = [0] * topology.nodes
    found = []
    for flow in flows:
        apps = []
        for host in (flow.source, flow.destination):
            apps.append((host, taken[host]))
            taken[host] += 1
        found.append((apps[0], apps[1]))
    return found


def configuration(topology: Topology, flows: Sequence[Flow], settings: Mapping[str, str]) -> str:
    """Return `omnetpp.ini`; a run of it writes what each sink receives, and when, into `flows.vec`.

    Args:
        topology: the network.
        flows: each has a connection, which is open `LATER_S` before the first starts.
        settings: `tcp`, a class of INET; `sack`; `buffer`, packets in a port of a switch; `mark`, packets, 0 for none.
    """
    marks = int(settings["mark"])
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
        f"**.tcp.ecnWillingness = {str(marks > 0).lower()}",
    ]
    for switch in topology.switches:
        queue = f"*.n{switch}.ppp[*].queue"
        if marks:
            red = {"wq": "1", "minth": f"{marks - 0.001}", "maxth": str(marks), "maxp": "1", "useEcn": "true"}
            red["packetCapacity"] = settings["buffer"]
            lines.append(f'{queue}.typename = "RedDropperQueue"')
            lines += [f"{queue}.red.{key} = {value}" for key, value in red.items()]
        else:
            lines.append(f"{queue}.packetCapacity = {settings['buffer']}")
    ports: dict[int, list[int]] = {}
    for port, (flow, apps) in enumerate(zip(flows, ends(topology, flows), strict=True), start=FIRST_PORT):
        sends, receives = (f"*.n{host}.app[{app}]" for host, app in apps)
        values = {
            "typename": '"TcpSessionApp"',
            "connectAddress": f'"n{flow.destination}"',
            "connectPort": str(port),
            "tOpen": "0s",
            "tSend": f"{LATER_S + Decimal(flow.start)}s",
            "sendBytes": f"{flow.octets}B",
            "tClose": "-1s",
        }
        lines += [f"{sends}.{key} = {value}" for key, value in values.items()]
        lines += [f'{receives}.typename = "TcpSinkApp"', f"{receives}.localPort = {port}"]
        for host, _ in apps:
            ports.setdefault(host, []).append(port)
    for host, own in sorted(ports.items()):
        queue = f"*.n{host}.ppp[*].queue"
        filters = ", ".join(f"expr(tcp.destPort == {port} || tcp.srcPort == {port})" for port in own)
        lines += [
            f"*.n{host}.numApps = {len(own)}",
            # Flows take turns, as in Penstock's hosts, and nothing is lost.
            f'{queue}.typename = "PriorityQueue"',
            f"{queue}.numQueues = {len(own)}",
            f'{queue}.classifier.typename = "ContentBasedClassifier"',
            f"{queue}.classifier.packetFilters = [{filters}]",
            f'{queue}.scheduler.typename = "WrrScheduler"',
            f'{queue}.scheduler.weights = "{" ".join("1" for _ in own)}"',
            f"{queue}.**.packetCapacity = -1",
        ]
    return "\n".join(lines) + "\n"


def received(text: str) -> dict[App, float]:
    """Return when each sink received its last octets, s: the last line of each vector of `flows.vec`."""
    vectors = {at[1]: (int(at[2]), int(at[3])) for at in _VECTOR.finditer(text)}
    lines = (line.split() for line in text.splitlines())
    return {vectors[words[0]]: float(words[2]) for words in lines if len(words) == 4 and words[0] in vectors}
