// One flow over a geostationary satellite in ns-3, to compare speed: the scenario benchmarks/scenarios/satellite.toml.
// MIT licence, as the rest of lightlag.
//
// client - gateway - satellite - gateway - server. Both hops of the satellite have the same rate and delay and a
// drop-tail queue of one BDP; packets are lost only by queue overflow. One bulk transfer with CUBIC, 1448 bytes of
// payload per segment, SACK, timestamps, delayed ACKs for two segments.
//
// These settings differ from ns-3's defaults, so that both simulators run the same model: no traffic control layer (its
// FqCoDel would be above the device queue), large socket buffers, MSS.
//
// Prints one JSON object. "cpu_s" is the CPU time of the simulation without its setup.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <iostream>
#include <sys/resource.h>

using namespace ns3;

namespace
{

struct Parameters
{
    double megabits{20};
    double accessMegabits{1000};
    double hopMs{130};
    double accessMs{1};
    double seconds{60};
};

uint64_t g_packetHops = 0;

void
CountPacket(Ptr<const Packet>)
{
    ++g_packetHops;
}

double
CpuSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

void
SetDefaults()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
}

// Builds the links of the chain in order; returns the address of the server.
Ipv4Address
Build(const Parameters& p, NodeContainer nodes)
{
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4NixVectorHelper());
    stack.Install(nodes);
    const double roundTripMs = 2 * (2 * p.hopMs + 2 * p.accessMs);
    const auto bdp = static_cast<uint32_t>(p.megabits * 1e3 * roundTripMs / 8 / 1500);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    Ipv4Address last;
    for (uint32_t hop = 0; hop + 1 < nodes.GetN(); ++hop)
    {
        const bool isAccess = hop == 0 || hop + 2 == nodes.GetN();
        const double megabits = isAccess ? p.accessMegabits : p.megabits;
        const double delayMs = isAccess ? p.accessMs : p.hopMs;
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(megabits * 1e6))));
        link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(static_cast<uint64_t>(delayMs * 1e3))));
        link.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, bdp)));
        NetDeviceContainer devices = link.Install(nodes.Get(hop), nodes.Get(hop + 1));
        for (uint32_t i = 0; i < devices.GetN(); ++i)
        {
            devices.Get(i)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&CountPacket));
            devices.Get(i)->TraceConnectWithoutContext("MacTxDrop", MakeCallback(&CountPacket));
        }
        last = addresses.Assign(devices).GetAddress(1);
        addresses.NewNetwork();
        // IP passes packets directly to the devices, whose queues are the drop-tail queues above.
        TrafficControlHelper().Uninstall(devices);
    }
    return last;
}

} // namespace

int
main(int argc, char* argv[])
{
    Parameters p;
    CommandLine arguments(__FILE__);
    arguments.AddValue("megabits", "rate of the satellite's links in Mbit/s", p.megabits);
    arguments.AddValue("access", "rate of the links to client and server in Mbit/s", p.accessMegabits);
    arguments.AddValue("hop", "delay of each link of the satellite in ms", p.hopMs);
    arguments.AddValue("seconds", "simulated time in s", p.seconds);
    arguments.Parse(argc, argv);

    SetDefaults();
    NodeContainer nodes(5);
    const Ipv4Address server = Build(p, nodes);
    const uint16_t port = 5000;
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    ApplicationContainer sinks = sink.Install(nodes.Get(4));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(server, port));
    source.SetAttribute("SendSize", UintegerValue(1448));
    source.Install(nodes.Get(0));

    Simulator::Stop(Seconds(p.seconds));
    const double begin = CpuSeconds();
    Simulator::Run();
    const double cpu = CpuSeconds() - begin;

    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::cout << "{\"packet_hops\": " << g_packetHops << ", \"cpu_s\": " << cpu << ", \"max_rss_kib\": "
              << usage.ru_maxrss << ", \"delivered_bytes\": " << DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx()
              << "}\n";
    Simulator::Destroy();
    return 0;
}
