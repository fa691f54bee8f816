// lightlag's dumbbell benches in ns-3, to compare speed. MIT licence, as the rest of lightlag.
//
// The defaults match benchmarks/scenarios/dumbbell-8.toml: eight CUBIC flows, 100 Mbit/s, a round-trip time of 50 ms, a
// drop-tail queue of one BDP, 1448 bytes of payload per segment, SACK, timestamps, delayed ACKs for two segments.
//
// These settings differ from ns-3's defaults, so that both simulators run the same model: no traffic control layer (its
// FqCoDel would be above the device queue), large socket buffers, MSS, minimum RTO of 200 ms. Routes are ns-3's
// nix-vectors, which scale with the number of hosts better than its routing tables.
//
// Prints one JSON object. A packet-hop is one packet crossing one link. It is counted when a device has sent the
// packet, or when a device's queue has dropped it.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <iostream>
#include <string>
#include <sys/resource.h>

using namespace ns3;

namespace
{

struct Parameters
{
    uint32_t pairs{8};
    double megabits{100};
    double accessMegabits{1000};
    double roundTripMs{50};
    double staggerMs{100};
    double seconds{10};
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
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
}

// Installs a link with the given rate, delay and queue limit in packets, and packet counters on both devices.
NetDeviceContainer
Join(Ptr<Node> a, Ptr<Node> b, double megabits, double delayMs, uint32_t packets)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(megabits * 1e6))));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(static_cast<uint64_t>(delayMs * 1e3))));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, packets)));
    NetDeviceContainer devices = link.Install(a, b);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        devices.Get(i)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&CountPacket));
        devices.Get(i)->TraceConnectWithoutContext("MacTxDrop", MakeCallback(&CountPacket));
    }
    return devices;
}

void
Build(const Parameters& p)
{
    NodeContainer routers;
    NodeContainer clients;
    NodeContainer servers;
    routers.Create(2);
    clients.Create(p.pairs);
    servers.Create(p.pairs);
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4NixVectorHelper());
    stack.Install(NodeContainer(routers, clients, servers));

    const double accessMs = 1;
    const auto bdp = static_cast<uint32_t>(p.megabits * 1e3 * p.roundTripMs / 8 / 1500);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    auto join = [&](Ptr<Node> a, Ptr<Node> b, double megabits, double delayMs, uint32_t packets) {
        Ipv4InterfaceContainer interfaces = addresses.Assign(Join(a, b, megabits, delayMs, packets));
        addresses.NewNetwork();
        return interfaces;
    };
    join(routers.Get(0), routers.Get(1), p.megabits, p.roundTripMs / 2 - 2 * accessMs, bdp);

    const uint16_t port = 5000;
    for (uint32_t i = 0; i < p.pairs; ++i)
    {
        join(clients.Get(i), routers.Get(0), p.accessMegabits, accessMs, 1000);
        Ipv4InterfaceContainer edge = join(routers.Get(1), servers.Get(i), p.accessMegabits, accessMs, 1000);

        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(servers.Get(i)).Start(Seconds(0));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(edge.GetAddress(1), port));
        source.SetAttribute("SendSize", UintegerValue(1448));
        source.Install(clients.Get(i)).Start(MicroSeconds(static_cast<uint64_t>(1e3 * i * p.staggerMs)));
    }

    // IP passes packets directly to the devices, whose queues are the drop-tail queues above.
    TrafficControlHelper traffic;
    for (uint32_t n = 0; n < NodeList::GetNNodes(); ++n)
    {
        Ptr<Node> node = NodeList::GetNode(n);
        for (uint32_t d = 0; d < node->GetNDevices(); ++d)
        {
            if (DynamicCast<PointToPointNetDevice>(node->GetDevice(d)))
            {
                traffic.Uninstall(node->GetDevice(d));
            }
        }
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    Parameters p;
    CommandLine arguments(__FILE__);
    arguments.AddValue("pairs", "number of client-server pairs", p.pairs);
    arguments.AddValue("megabits", "rate of the bottleneck in Mbit/s", p.megabits);
    arguments.AddValue("access", "rate of the access links in Mbit/s", p.accessMegabits);
    arguments.AddValue("rtt", "base round-trip time in ms", p.roundTripMs);
    arguments.AddValue("stagger", "time between flow starts in ms", p.staggerMs);
    arguments.AddValue("seconds", "simulated time in s", p.seconds);
    arguments.Parse(argc, argv);

    SetDefaults();
    Build(p);
    Simulator::Stop(Seconds(p.seconds));
    const double begin = CpuSeconds();
    Simulator::Run();
    const double cpu = CpuSeconds() - begin;

    uint64_t delivered = 0;
    for (uint32_t n = 2 + p.pairs; n < NodeList::GetNNodes(); ++n)
    {
        delivered += DynamicCast<PacketSink>(NodeList::GetNode(n)->GetApplication(0))->GetTotalRx();
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::cout << "{\"packet_hops\": " << g_packetHops << ", \"cpu_s\": " << cpu
              << ", \"max_rss_kib\": " << usage.ru_maxrss << ", \"delivered_bytes\": " << delivered << "}\n";
    Simulator::Destroy();
    return 0;
}
