"""Runs a list of TCP flows over a network of links in ns-3, by the Python of the environment that has its wheel.

    python ns3_flows.py FOLDER

The folder has topology.txt and flow.txt in HPCC's formats, and settings.json: `tcp`, a class of ns-3, and
`mark_packets`, 0 where nothing marks. For each flow that ends it prints a line of JSON: its number in flow.txt, and
`took_us`, from the first segment that its sender hands down to the last octet at its receiver.
"""

import json
import sys
from pathlib import Path
from typing import Any

from ns import ns

MSS = 1460
BUFFER_PACKETS = 1000
STOP_S = 0.2

# A call from the event loop into Python costs as much as hundreds of events.
PROBE = """
#include "ns3/core-module.h"
#include "ns3/applications-module.h"
namespace probe {
std::vector<double> begun, ended;
std::vector<uint64_t> left;
unsigned long running;
void Sent(int flow, ns3::Ptr<const ns3::Packet>) {
    if (begun[flow] < 0) begun[flow] = ns3::Simulator::Now().GetSeconds();
}
void Received(int flow, ns3::Ptr<const ns3::Packet> packet, const ns3::Address&) {
    uint64_t octets = packet->GetSize();
    if (left[flow] > octets) { left[flow] -= octets; return; }
    left[flow] = 0;
    ended[flow] = ns3::Simulator::Now().GetSeconds();
    if (--running == 0) ns3::Simulator::Stop();
}
void Watch(int flow, uint64_t octets, ns3::Ptr<ns3::Application> source, ns3::Ptr<ns3::Application> sink) {
    begun.push_back(-1);
    ended.push_back(-1);
    left.push_back(octets);
    running++;
    source->TraceConnectWithoutContext("Tx", ns3::MakeBoundCallback(&Sent, flow));
    sink->TraceConnectWithoutContext("Rx", ns3::MakeBoundCallback(&Received, flow));
}
}
"""


def main() -> None:
    """Runs the flows of a folder."""
    folder = Path(sys.argv[1])
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    head, switches, *links = (line.split() for line in (folder / "topology.txt").read_text().splitlines())
    flows = [line.split() for line in (folder / "flow.txt").read_text().splitlines()[1:]]
    ns.cppyy.cppdef(PROBE)
    set_tcp(settings["tcp"])
    nodes = ns.NodeContainer()
    nodes.Create(int(head[0]))
    ns.InternetStackHelper().Install(nodes)
    addresses = laid(nodes, links, set(switches), int(settings["mark_packets"]))
    for number, (source, destination, _, _, octets, start) in enumerate(flows):
        add_flow(nodes, addresses[destination], number, int(source), int(destination), int(octets), float(start))
    ns.Ipv4GlobalRoutingHelper.PopulateRoutingTables()
    ns.Simulator.Stop(ns.Seconds(STOP_S))
    ns.Simulator.Run()
    probe = ns.cppyy.gbl.probe
    for number in range(len(flows)):
        if probe.ended[number] >= 0:
            print(json.dumps({"flow": number, "took_us": (probe.ended[number] - probe.begun[number]) * 1e6}))
    ns.Simulator.Destroy()


def set_tcp(congestion: str) -> None:
    """Sets what all sockets begin with: as Penstock's, where ns-3 has another default."""
    for path, value in {
        "TcpL4Protocol::SocketType": ns.StringValue(f"ns3::{congestion}"),
        "TcpSocket::SegmentSize": ns.UintegerValue(MSS),
        "TcpSocket::InitialCwnd": ns.UintegerValue(10),
        "TcpSocket::DelAckCount": ns.UintegerValue(2),
        "TcpSocket::DelAckTimeout": ns.TimeValue(ns.MicroSeconds(40)),
        "TcpSocket::SndBufSize": ns.UintegerValue(1 << 24),
        "TcpSocket::RcvBufSize": ns.UintegerValue(1 << 24),
        "TcpSocketBase::MinRto": ns.TimeValue(ns.MilliSeconds(1)),
        # Without it a flow whose handshake finds a full queue begins three seconds later.
        "TcpSocket::ConnTimeout": ns.TimeValue(ns.MilliSeconds(1)),
        "TcpSocketBase::ClockGranularity": ns.TimeValue(ns.MicroSeconds(1)),
        "TcpSocketBase::Sack": ns.BooleanValue(True),
        "TcpSocketBase::Timestamp": ns.BooleanValue(False),
        "TcpCubic::HyStart": ns.BooleanValue(False),
    }.items():
        ns.Config.SetDefault(f"ns3::{path}", value)


def laid(nodes: Any, links: list[list[str]], switches: set[str], mark_packets: int) -> dict[str, Any]:
    """Lays the links, with queues at switches, and returns the addresses of hosts."""
    addresses: dict[str, Any] = {}
    given = ns.Ipv4AddressHelper()
    for number, (first, second, rate, delay, _) in enumerate(links):
        helper = ns.PointToPointHelper()
        helper.SetDeviceAttribute("DataRate", ns.StringValue(rate))
        helper.SetChannelAttribute("Delay", ns.StringValue(delay))
        # A queue discipline of ns-3 has the queue, its device one packet.
        helper.SetQueue("ns3::DropTailQueue", "MaxSize", ns.StringValue("1p"))
        devices = helper.Install(nodes.Get(int(first)), nodes.Get(int(second)))
        for place, node in enumerate((first, second)):
            waits = discipline(mark_packets, rate) if node in switches else turns()
            waits.Install(devices.Get(place))
        given.SetBase(ns.Ipv4Address(f"10.{number // 256}.{number % 256}.0"), ns.Ipv4Mask("255.255.255.0"))
        reached = given.Assign(devices)
        for place, node in enumerate((first, second)):
            if node not in switches:
                addresses[node] = reached.GetAddress(place)
    return addresses


def turns() -> Any:
    """Returns the queue discipline of a host: flows take turns, as in Penstock's hosts, and nothing is lost."""
    helper = ns.TrafficControlHelper()
    settings = {
        "MaxSize": ns.StringValue("100000p"),
        # CoDel, which drops what waits for longer than this, never acts.
        "Target": ns.StringValue("100s"),
        "Interval": ns.StringValue("1000s"),
    }
    helper.SetRootQueueDisc("ns3::FqCoDelQueueDisc", *(word for pair in settings.items() for word in pair))
    return helper


def discipline(mark_packets: int, rate: str) -> Any:
    """Returns the queue discipline of a switch: the end of the queue is lost, or a threshold of its length marks."""
    helper = ns.TrafficControlHelper()
    limit = ns.StringValue(f"{BUFFER_PACKETS}p")
    if not mark_packets:
        helper.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", limit)
        return helper
    settings = {
        "MaxSize": limit,
        "MinTh": ns.DoubleValue(mark_packets),
        "MaxTh": ns.DoubleValue(mark_packets + 0.001),
        "QW": ns.DoubleValue(1),
        "Gentle": ns.BooleanValue(False),
        "UseEcn": ns.BooleanValue(True),
        "UseHardDrop": ns.BooleanValue(False),
        "MeanPktSize": ns.UintegerValue(MSS + 42),
        "LinkBandwidth": ns.StringValue(rate),
    }
    helper.SetRootQueueDisc("ns3::RedQueueDisc", *(word for pair in settings.items() for word in pair))
    return helper


def add_flow(nodes: Any, reached: Any, number: int, source: int, destination: int, octets: int, start_s: float) -> None:
    """Adds a flow, to a port of its receiver that no other has."""
    port = 1000 + number
    anywhere = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), port).ConvertTo()
    sink = ns.PacketSinkHelper("ns3::TcpSocketFactory", anywhere).Install(nodes.Get(destination))
    sender = ns.BulkSendHelper("ns3::TcpSocketFactory", ns.InetSocketAddress(reached, port).ConvertTo())
    sender.SetAttribute("MaxBytes", ns.UintegerValue(octets))
    sender.SetAttribute("SendSize", ns.UintegerValue(MSS))
    sends = sender.Install(nodes.Get(source))
    # A sender that starts with its sink finds no one to connect to.
    sends.Start(ns.Seconds(start_s + 1e-6))
    ns.cppyy.gbl.probe.Watch(number, octets, sends.Get(0), sink.Get(0))


if __name__ == "__main__":
    main()
