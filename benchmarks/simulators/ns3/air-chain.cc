// A chain of equally spaced nodes in ns-3: one flow from the first node to the last, over static routes or routes found
// by AODV, OLSR or DSDV. With one hop this is a link of a given length. MIT licence, as the rest of lightlag.
//
// Prints one JSON object: goodput after --start, the delay of the first packet (with AODV and --count=1 the route
// discovery time), and counts of what was sent on the air. Frame attempts include TCP acknowledgements, ARP and unicast
// routing messages.

#include "air.h"

#include <iostream>

using namespace ns3;

namespace
{

const uint16_t PORT = 5000;
const uint32_t SEGMENT = 1448;

struct Parameters
{
    air::Radio radio;
    air::Surroundings surroundings;
    uint32_t hops{1};
    double gap{40};
    std::string routing{"static"};
    std::string traffic{"udp"};
    std::string algorithm{"TcpNewReno"};
    uint32_t ackEvery{2};
    uint32_t size{1472};
    double megabits{60};
    uint32_t count{0};
    double start{1};
    double seconds{10};
    uint32_t seed{1};
};

uint64_t g_sent = 0;
uint64_t g_received = 0;
uint64_t g_bytes = 0;
double g_firstSent = 0;
double g_firstReceived = 0;
double g_lastReceived = 0;

void
Sent(Ptr<const Packet>)
{
    if (g_sent++ == 0)
    {
        g_firstSent = Simulator::Now().GetSeconds();
    }
}

void
Received(Ptr<const Packet> packet, const Address&)
{
    g_lastReceived = Simulator::Now().GetSeconds();
    if (g_received++ == 0)
    {
        g_firstReceived = g_lastReceived;
    }
    g_bytes += packet->GetSize();
}

void
Place(const Parameters& p, NodeContainer nodes)
{
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        places->Add(Vector(i * p.gap, 0, 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
}

Ipv4InterfaceContainer
Network(const Parameters& p, NodeContainer nodes, NetDeviceContainer devices)
{
    InternetStackHelper stack;
    if (p.routing == "aodv")
    {
        stack.SetRoutingHelper(p.surroundings.Aodv());
    }
    else if (p.routing == "olsr")
    {
        stack.SetRoutingHelper(OlsrHelper());
    }
    else if (p.routing == "dsdv")
    {
        stack.SetRoutingHelper(DsdvHelper());
    }
    else
    {
        NS_ABORT_MSG_IF(p.routing != "static", "--routing=" << p.routing << " is none of static, aodv, olsr, dsdv");
        stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    }
    stack.Install(nodes);
    Ipv4InterfaceContainer found = p.surroundings.Assign(devices);
    if (p.routing == "static")
    {
        Ipv4StaticRoutingHelper routes;
        const uint32_t last = nodes.GetN() - 1;
        for (uint32_t i = 0; i <= last; ++i)
        {
            Ptr<Ipv4StaticRouting> table = routes.GetStaticRouting(nodes.Get(i)->GetObject<Ipv4>());
            if (i + 1 < last)
            {
                table->AddHostRouteTo(found.GetAddress(last), found.GetAddress(i + 1), 1);
            }
            if (i > 1)
            {
                table->AddHostRouteTo(found.GetAddress(0), found.GetAddress(i - 1), 1);
            }
        }
    }
    return found;
}

void
Flow(const Parameters& p, NodeContainer nodes, Ipv4InterfaceContainer addresses)
{
    const uint32_t last = nodes.GetN() - 1;
    const InetSocketAddress receiver(addresses.GetAddress(last), PORT);
    const InetSocketAddress any(Ipv4Address::GetAny(), PORT);
    ApplicationContainer sources;
    if (p.traffic == "udp")
    {
        OnOffHelper source("ns3::UdpSocketFactory", receiver);
        source.SetConstantRate(DataRate(static_cast<uint64_t>(p.megabits * 1e6)), p.size);
        source.SetAttribute("MaxBytes", UintegerValue(uint64_t(p.count) * p.size));
        sources = source.Install(nodes.Get(0));
    }
    else
    {
        NS_ABORT_MSG_IF(p.traffic != "tcp", "--traffic=" << p.traffic << " is not udp or tcp");
        // Each write is one segment: with writes of 512 B, the default, the mean segment is 1104 B long.
        BulkSendHelper source("ns3::TcpSocketFactory", receiver);
        source.SetAttribute("SendSize", UintegerValue(SEGMENT));
        sources = source.Install(nodes.Get(0));
    }
    sources.Get(0)->TraceConnectWithoutContext("Tx", MakeCallback(&Sent));
    sources.Start(Seconds(p.start));
    PacketSinkHelper sink(p.traffic == "udp" ? "ns3::UdpSocketFactory" : "ns3::TcpSocketFactory", any);
    sink.Install(nodes.Get(last)).Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
}

} // namespace

int
main(int argc, char* argv[])
{
    Parameters p;
    CommandLine arguments(__FILE__);
    p.radio.Add(arguments);
    p.surroundings.Add(arguments);
    arguments.AddValue("hops", "number of hops in the chain", p.hops);
    arguments.AddValue("gap", "distance between neighbours in m", p.gap);
    arguments.AddValue("routing", "static, aodv, olsr or dsdv", p.routing);
    arguments.AddValue("traffic", "udp or tcp", p.traffic);
    arguments.AddValue("algorithm", "class of the congestion control", p.algorithm);
    arguments.AddValue("ack-every", "segments per ACK", p.ackEvery);
    arguments.AddValue("size", "payload of a datagram in bytes", p.size);
    arguments.AddValue("megabits", "offered UDP load in Mbit/s of payload", p.megabits);
    arguments.AddValue("count", "total number of datagrams; 0: unlimited", p.count);
    arguments.AddValue("start", "start time of the flow in s", p.start);
    arguments.AddValue("seconds", "simulated time after the start in s", p.seconds);
    arguments.AddValue("seed", "random seed", p.seed);
    arguments.Parse(argc, argv);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + p.algorithm)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(p.ackEvery));
    RngSeedManager::SetRun(p.seed);

    NodeContainer nodes(p.hops + 1);
    Place(p, nodes);
    NetDeviceContainer devices = air::Install(p.radio, nodes);
    Ipv4InterfaceContainer addresses = Network(p, nodes, devices);
    Flow(p, nodes, addresses);
    air::Watch(devices);
    air::WatchRouting(nodes);

    Simulator::Stop(Seconds(p.start + p.seconds));
    const double start = air::CpuSeconds();
    Simulator::Run();
    const double cpu = air::CpuSeconds() - start;
    std::cout << "{\"goodput_mbps\": " << g_bytes * 8e-6 / p.seconds << ", \"sent\": " << g_sent
              << ", \"received\": " << g_received
              << ", \"first_delay_ms\": " << (g_received > 0 ? (g_firstReceived - g_firstSent) * 1e3 : -1)
              << ", \"cpu_s\": " << cpu << ", ";
    air::Print(std::cout);
    std::cout << "}\n";
    Simulator::Destroy();
    return 0;
}
