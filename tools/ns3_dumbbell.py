"""Runs dumbbells of TCP flows in ns-3, for `check_ns3.py`, by the Python of the environment that has ns-3's wheel.

    python tools/ns3_dumbbell.py < settings

Settings are a line of JSON a run, as `check_ns3.py` has them in `Dumbbell`. For each it prints a line of JSON: the
goodput of each flow in bit/s, and the mean and the maximum of the bottleneck's queue in packets. The queue is
those that wait in the queue discipline and in the device, without the one in transmission.
"""

import json
import sys
from typing import Any

from ns import ns

# Sampling and counting at a moment are C++: a call from the event loop into Python costs as much as hundreds of events.
PROBE = """
#include "ns3/core-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
namespace probe {
double sum, peak;
unsigned long samples;
std::vector<double> before;
void Sample(ns3::Ptr<ns3::QueueDisc> disc, ns3::Ptr<ns3::PointToPointNetDevice> device, double every_s) {
    double waiting = disc->GetNPackets() + device->GetQueue()->GetNPackets();
    sum += waiting;
    samples += 1;
    peak = std::max(peak, waiting);
    ns3::Simulator::Schedule(ns3::Seconds(every_s), &Sample, disc, device, every_s);
}
void Watch(ns3::Ptr<ns3::QueueDisc> disc, ns3::Ptr<ns3::PointToPointNetDevice> device, double from_s, double every_s) {
    sum = peak = 0;
    samples = 0;
    before.clear();
    ns3::Simulator::Schedule(ns3::Seconds(from_s), &Sample, disc, device, every_s);
}
void Remember(ns3::Ptr<ns3::PacketSink> sink, int flow) { before[flow] = sink->GetTotalRx(); }
void Count(ns3::Ptr<ns3::PacketSink> sink, int flow, double from_s) {
    before.resize(flow + 1);
    ns3::Simulator::Schedule(ns3::Seconds(from_s), &Remember, sink, flow);
}
}
"""


def main() -> None:
    """Runs the settings on standard input, one after another."""
    ns.cppyy.cppdef(PROBE)
    for line in sys.stdin:
        print(json.dumps(measured(json.loads(line))), flush=True)


def measured(at: dict[str, Any]) -> dict[str, Any]:
    """Runs one dumbbell and returns its measures."""
    set_tcp(at)
    flows = at["flows"]
    ns.RngSeedManager.SetRun(at["seed"])
    nodes = ns.NodeContainer()
    nodes.Create(2 * flows + 2)
    left, right = nodes.Get(2 * flows), nodes.Get(2 * flows + 1)
    ns.InternetStackHelper().Install(nodes)
    core = links(at["bottleneck_bps"], at["bottleneck_delay_s"], "1p").Install(left, right)
    discs = discipline(at).Install(core)
    if at["loss"]:
        loses = ns.CreateObject[ns.RateErrorModel]()
        loses.SetAttribute("ErrorUnit", ns.StringValue("ERROR_UNIT_PACKET"))
        loses.SetAttribute("ErrorRate", ns.DoubleValue(at["loss"]))
        core.Get(1).SetAttribute("ReceiveErrorModel", ns.PointerValue(loses))
    addresses = ns.Ipv4AddressHelper()
    addresses.SetBase(ns.Ipv4Address("10.1.0.0"), ns.Ipv4Mask("255.255.255.0"))
    addresses.Assign(core)
    probe = ns.cppyy.gbl.probe
    probe.Watch(discs.Get(0), core.Get(0).GetObject[ns.PointToPointNetDevice](), at["warmup_s"], at["sample_s"])
    hosts = links(at["host_bps"], at["host_delay_s"], "100000p")
    plain = ns.TrafficControlHelper()
    sinks = []
    for flow in range(flows):
        for host, side, switch in ((flow, 2, left), (flows + flow, 3, right)):
            devices = hosts.Install(nodes.Get(host), switch)
            addresses.SetBase(ns.Ipv4Address(f"10.{side}.{flow}.0"), ns.Ipv4Mask("255.255.255.0"))
            reached = addresses.Assign(devices).GetAddress(0)
            # An address brings a queue discipline of ns-3's choice with it.
            plain.Uninstall(devices)
        anywhere = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), 5000).ConvertTo()
        received = ns.PacketSinkHelper("ns3::TcpSocketFactory", anywhere).Install(nodes.Get(flows + flow))
        sinks.append(received.Get(0).GetObject[ns.PacketSink]())
        probe.Count(sinks[-1], flow, at["warmup_s"])
        sender = ns.BulkSendHelper("ns3::TcpSocketFactory", ns.InetSocketAddress(reached, 5000).ConvertTo())
        sender.SetAttribute("MaxBytes", ns.UintegerValue(0))
        sender.SetAttribute("SendSize", ns.UintegerValue(at["mss"]))
        # A sender that starts with its sink finds no one to connect to.
        sender.Install(nodes.Get(flow)).Start(ns.Seconds(at["stagger_s"] * flow + 1e-6))
    ns.Ipv4GlobalRoutingHelper.PopulateRoutingTables()
    ns.Simulator.Stop(ns.Seconds(at["duration_s"]))
    ns.Simulator.Run()
    span_s = at["duration_s"] - at["warmup_s"]
    goodputs = [8 * (sink.GetTotalRx() - probe.before[flow]) / span_s for flow, sink in enumerate(sinks)]
    found = {"goodput_bps": goodputs, "mean_packets": probe.sum / probe.samples, "max_packets": probe.peak}
    ns.Simulator.Destroy()
    return found


def set_tcp(at: dict[str, Any]) -> None:
    """Sets what all sockets begin with: as Penstock's, where ns-3 has another default."""
    for path, value in {
        "TcpL4Protocol::SocketType": ns.StringValue(f"ns3::{at['ns3_tcp']}"),
        "TcpSocket::SegmentSize": ns.UintegerValue(at["mss"]),
        "TcpSocket::InitialCwnd": ns.UintegerValue(10),
        "TcpSocket::DelAckCount": ns.UintegerValue(at["ack_every"]),
        "TcpSocket::DelAckTimeout": ns.TimeValue(ns.Seconds(at["ack_delay_s"])),
        "TcpSocket::SndBufSize": ns.UintegerValue(1 << 24),
        "TcpSocket::RcvBufSize": ns.UintegerValue(1 << 24),
        "TcpSocketBase::MinRto": ns.TimeValue(ns.Seconds(at["rto_min_s"])),
        "TcpSocketBase::Sack": ns.BooleanValue(True),
        # Twelve octets more in each segment.
        "TcpSocketBase::Timestamp": ns.BooleanValue(False),
        # RFC 9438 leaves slow start as it is.
        "TcpCubic::HyStart": ns.BooleanValue(False),
    }.items():
        ns.Config.SetDefault(f"ns3::{path}", value)


def links(rate_bps: int, delay_s: float, queue: str) -> Any:
    """Returns the helper that lays links of this rate and delay."""
    helper = ns.PointToPointHelper()
    helper.SetDeviceAttribute("DataRate", ns.StringValue(f"{rate_bps}bps"))
    helper.SetChannelAttribute("Delay", ns.TimeValue(ns.Seconds(delay_s)))
    helper.SetQueue("ns3::DropTailQueue", "MaxSize", ns.StringValue(queue))
    return helper


def discipline(at: dict[str, Any]) -> Any:
    """Returns the bottleneck's queue discipline: the end of the queue is lost, or a threshold of its length marks."""
    helper = ns.TrafficControlHelper()
    longest = ns.StringValue(f"{at['buffer_packets']}p")
    if not at["mark_packets"]:
        helper.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", longest)
        return helper
    # RED of the queue as it is now, without a slope: above the threshold every packet is marked.
    threshold = at["mark_packets"]
    settings = {
        "MaxSize": longest,
        "MinTh": ns.DoubleValue(threshold),
        "MaxTh": ns.DoubleValue(threshold + 0.001),
        "QW": ns.DoubleValue(1),
        "Gentle": ns.BooleanValue(False),
        "UseEcn": ns.BooleanValue(True),
        "UseHardDrop": ns.BooleanValue(False),
        "MeanPktSize": ns.UintegerValue(at["mss"] + 42),
        "LinkBandwidth": ns.StringValue(f"{at['bottleneck_bps']}bps"),
    }
    helper.SetRootQueueDisc("ns3::RedQueueDisc", *(word for pair in settings.items() for word in pair))
    return helper


if __name__ == "__main__":
    main()
