// A swarm of nodes flying in a box, with AODV and bulk transfers between random pairs, in ns-3: the experiment of
// Alrayes et al., "A Study on Performance of CUBIC TCP and TCP BBR in FANETs", 2021. MIT licence, as the rest of
// lightlag.
//
// The nodes follow the Gauss-Markov model in three dimensions (α = 0.85, steps of 0.5 s and the noise of the example in
// ns-3's documentation). Their positions, the flows and the start times depend only on the seed, the number of nodes
// and the speed, so that each algorithm and each radio is tested on an identical swarm. --places writes the positions
// and --pairs the flows as CSV. The paths are exact, because the model changes a velocity only at its steps.
//
// The initial window is one segment, the default of ns-3.30.1 but not of ns-3.37. Segments have 1448 bytes of payload
// and timestamps, as in the paper. All other TCP settings are ns-3's defaults: buffers of 128 KiB, an ACK for every
// second segment or after 200 ms, a minimum RTO of 1 s.
//
// Prints one JSON object; "flows" has one row per transfer: source, destination, bytes received, seconds from the first
// segment to the last byte (0 if no byte arrived), mean time in ms from the first transmission of a segment to the
// delivery of its last byte in order, timeouts (including handshake timeouts), and mean hop count of the data.

#include "air.h"

#include <algorithm>
#include <deque>
#include <fstream>
#include <iostream>
#include <set>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

const uint32_t SEGMENT = 1448;
const uint16_t FIRST_PORT = 5000;
const uint64_t CHANCES = 1000000;

struct Parameters
{
    air::Radio radio;
    air::Surroundings surroundings;
    uint32_t nodes{60};
    double speed{25};
    uint32_t flows{30};
    std::string algorithm{"TcpCubic"};
    std::string routing{"aodv"};
    double seconds{100};
    uint32_t seed{1};
    uint32_t chance{0};
    uint32_t ackEvery{2};
    uint32_t initialWindow{1};
    std::string places;
    std::string pairs;
};

// One transfer: its endpoints and its measurements.
class Transfer
{
  public:
    Transfer(uint32_t from, uint32_t to, double start)
        : m_from(from),
          m_to(to),
          m_start(start)
    {
    }

    void Install(NodeContainer nodes, Ipv4InterfaceContainer addresses, uint16_t port)
    {
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        m_sink = DynamicCast<PacketSink>(sink.Install(nodes.Get(m_to)).Get(0));
        m_sink->TraceConnectWithoutContext("Rx", MakeCallback(&Transfer::Received, this));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(addresses.GetAddress(m_to), port));
        source.SetAttribute("SendSize", UintegerValue(SEGMENT));
        ApplicationContainer sources = source.Install(nodes.Get(m_from));
        sources.Start(Seconds(m_start));
        m_source = DynamicCast<BulkSendApplication>(sources.Get(0));
        Simulator::Schedule(Seconds(m_start) + NanoSeconds(1), &Transfer::Watch, this);
    }

    void Arrived(uint8_t ttl)
    {
        ++m_segments;
        m_hops += 64 - ttl + 1;
    }

    void Print(std::ostream& out) const
    {
        const double delay = m_delivered > 0 ? m_delay / m_delivered * 1e3 : 0;
        const double hops = m_segments > 0 ? m_hops / m_segments : 0;
        out << '[' << m_from << ", " << m_to << ", " << m_bytes << ", " << m_last << ", " << delay << ", " << m_timeouts
            << ", " << hops << ']';
    }

    void PrintPair(std::ostream& out) const
    {
        out << m_from << ',' << m_to << ',' << m_start << '\n';
    }

    uint64_t Bytes() const
    {
        return m_bytes;
    }

  private:
    void Watch()
    {
        Ptr<Socket> socket = m_source->GetSocket();
        socket->TraceConnectWithoutContext("Tx", MakeCallback(&Transfer::Sent, this));
        socket->TraceConnectWithoutContext("RTO", MakeCallback(&Transfer::Timeout, this));
    }

    void Sent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        // Payload starts at sequence number 1, and no transfer reaches 4 GiB.
        const uint64_t end = uint64_t(header.GetSequenceNumber().GetValue()) - 1 + packet->GetSize();
        // The trace of the first SYN is not connected yet.
        m_timeouts += (header.GetFlags() & TcpHeader::SYN) != 0;
        if (packet->GetSize() == 0 || end <= m_highest)
        {
            return;
        }
        if (m_highest == 0)
        {
            m_first = Simulator::Now().GetSeconds();
        }
        m_highest = end;
        m_outstanding.emplace_back(end, Simulator::Now());
    }

    // Only a timeout exactly doubles the RTO, to the nanosecond.
    void Timeout(Time before, Time now)
    {
        m_timeouts += now == before + before;
    }

    void Received(Ptr<const Packet> packet, const Address&)
    {
        m_bytes += packet->GetSize();
        m_last = Simulator::Now().GetSeconds() - m_first;
        while (!m_outstanding.empty() && m_outstanding.front().first <= m_bytes)
        {
            m_delay += (Simulator::Now() - m_outstanding.front().second).GetSeconds();
            ++m_delivered;
            m_outstanding.pop_front();
        }
    }

    uint32_t m_from;
    uint32_t m_to;
    double m_start;
    Ptr<PacketSink> m_sink;
    Ptr<BulkSendApplication> m_source;
    uint64_t m_bytes{0};
    uint64_t m_highest{0};
    uint64_t m_delivered{0};
    uint64_t m_segments{0};
    uint64_t m_timeouts{0};
    double m_first{0};
    double m_last{0};
    double m_delay{0};
    double m_hops{0};
    std::deque<std::pair<uint64_t, Time>> m_outstanding;
};

std::vector<Transfer> g_transfers;

// Called when a segment with payload arrives at its destination.
void
Delivered(const Ipv4Header& ip, Ptr<const Packet> packet, uint32_t)
{
    if (ip.GetProtocol() != TcpL4Protocol::PROT_NUMBER)
    {
        return;
    }
    TcpHeader tcp;
    packet->PeekHeader(tcp);
    const uint16_t port = tcp.GetDestinationPort();
    if (port >= FIRST_PORT && port < FIRST_PORT + g_transfers.size() && packet->GetSize() > tcp.GetLength() * 4u)
    {
        g_transfers[port - FIRST_PORT].Arrived(ip.GetTtl());
    }
}

std::string
Uniform(double low, double high)
{
    return "ns3::UniformRandomVariable[Min=" + std::to_string(low) + "|Max=" + std::to_string(high) + "]";
}

void
Place(const Parameters& p, NodeContainer nodes)
{
    Ptr<RandomBoxPositionAllocator> box = CreateObject<RandomBoxPositionAllocator>();
    box->SetAttribute("X", StringValue(Uniform(0, 400)));
    box->SetAttribute("Y", StringValue(Uniform(0, 400)));
    box->SetAttribute("Z", StringValue(Uniform(0, 100)));
    box->AssignStreams(100);
    MobilityHelper mobility;
    mobility.SetPositionAllocator(box);
    mobility.SetMobilityModel(
        "ns3::GaussMarkovMobilityModel",
        "Bounds",
        BoxValue(Box(0, 400, 0, 400, 0, 100)),
        "TimeStep",
        TimeValue(Seconds(0.5)),
        "Alpha",
        DoubleValue(0.85),
        "MeanVelocity",
        StringValue(Uniform(0, p.speed)),
        "MeanDirection",
        StringValue(Uniform(0, 6.283185307)),
        "MeanPitch",
        StringValue(Uniform(0, 0.05)),
        "NormalVelocity",
        StringValue("ns3::NormalRandomVariable[Mean=0.0|Variance=0.0|Bound=0.0]"),
        "NormalDirection",
        StringValue("ns3::NormalRandomVariable[Mean=0.0|Variance=0.2|Bound=0.4]"),
        "NormalPitch",
        StringValue("ns3::NormalRandomVariable[Mean=0.0|Variance=0.02|Bound=0.04]"));
    mobility.Install(nodes);
    mobility.AssignStreams(nodes, 1000);
}

void
WritePlace(std::ofstream* out, uint32_t node, Ptr<const MobilityModel> mobility)
{
    const Vector place = mobility->GetPosition();
    *out << Simulator::Now().GetSeconds() << ',' << node << ',' << place.x << ',' << place.y << ',' << place.z << '\n';
}

void
WritePlaces(std::ofstream* out, NodeContainer nodes)
{
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        WritePlace(out, i, nodes.Get(i)->GetObject<MobilityModel>());
    }
}

// Draws distinct ordered pairs of distinct nodes, and start times within the first second.
void
Draw(const Parameters& p)
{
    Ptr<UniformRandomVariable> node = CreateObject<UniformRandomVariable>();
    node->SetStream(10);
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    start->SetStream(11);
    std::set<std::pair<uint32_t, uint32_t>> taken;
    while (g_transfers.size() < p.flows)
    {
        const uint32_t from = node->GetInteger(0, p.nodes - 1);
        const uint32_t to = node->GetInteger(0, p.nodes - 1);
        if (from != to && taken.emplace(from, to).second)
        {
            g_transfers.emplace_back(from, to, start->GetValue(0, 1));
        }
    }
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
    else
    {
        NS_ABORT_MSG_IF(p.routing != "dsdv", "--routing=" << p.routing << " is none of aodv, olsr, dsdv");
        stack.SetRoutingHelper(DsdvHelper());
    }
    stack.Install(nodes);
    return p.surroundings.Assign(devices);
}

void
SetDefaults(const Parameters& p)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + p.algorithm)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(p.initialWindow));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(p.ackEvery));
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(p.seed);
}

void
Print(const Parameters& p, double cpu)
{
    uint64_t bytes = 0;
    for (const Transfer& transfer : g_transfers)
    {
        bytes += transfer.Bytes();
    }
    std::cout << "{\"nodes\": " << p.nodes << ", \"seconds\": " << p.seconds << ", \"cpu_s\": " << cpu
              << ", \"max_rss_kib\": " << air::PeakKib() << ", \"events\": " << Simulator::GetEventCount()
              << ", \"delivered_bytes\": " << bytes << ", ";
    air::Print(std::cout);
    std::cout << ", \"flows\": [";
    for (std::size_t i = 0; i < g_transfers.size(); ++i)
    {
        std::cout << (i > 0 ? ", " : "");
        g_transfers[i].Print(std::cout);
    }
    std::cout << "]}\n";
}

} // namespace

int
main(int argc, char* argv[])
{
    Parameters p;
    CommandLine arguments(__FILE__);
    p.radio.Add(arguments);
    p.surroundings.Add(arguments);
    arguments.AddValue("nodes", "number of nodes", p.nodes);
    arguments.AddValue("speed", "maximum mean speed of a node in m/s, drawn uniformly from 0", p.speed);
    arguments.AddValue("flows", "bulk transfers between different pairs", p.flows);
    arguments.AddValue("algorithm", "class of the congestion control, as TcpCubic", p.algorithm);
    arguments.AddValue("routing", "aodv, olsr or dsdv", p.routing);
    arguments.AddValue("seconds", "simulated time in s", p.seconds);
    arguments.AddValue("seed", "random seed of the swarm and of the simulation", p.seed);
    arguments.AddValue("chance", "random sequence of the simulation; does not change the swarm", p.chance);
    arguments.AddValue("ack-every", "segments per ACK", p.ackEvery);
    arguments.AddValue("initial-window", "initial window in segments", p.initialWindow);
    arguments.AddValue("places", "output file for the paths of the nodes", p.places);
    arguments.AddValue("pairs", "output file for the flows: source, destination, start", p.pairs);
    arguments.Parse(argc, argv);

    SetDefaults(p);
    NodeContainer nodes(p.nodes);
    Place(p, nodes);
    Draw(p);
    RngSeedManager::SetRun(p.seed + CHANCES * p.chance);
    NetDeviceContainer devices = air::Install(p.radio, nodes);
    Ipv4InterfaceContainer addresses = Network(p, nodes, devices);
    for (std::size_t i = 0; i < g_transfers.size(); ++i)
    {
        g_transfers[i].Install(nodes, addresses, FIRST_PORT + i);
    }
    air::Watch(devices);
    air::WatchRouting(nodes);

    std::ofstream places;
    if (!p.places.empty())
    {
        places.open(p.places);
        places.precision(10);
        places << "time,node,x,y,z\n";
        for (uint32_t i = 0; i < p.nodes; ++i)
        {
            nodes.Get(i)->GetObject<MobilityModel>()->TraceConnectWithoutContext(
                "CourseChange",
                MakeBoundCallback(&WritePlace, &places, i));
        }
        Simulator::Schedule(Seconds(p.seconds) - NanoSeconds(1), &WritePlaces, &places, nodes);
    }
    if (!p.pairs.empty())
    {
        std::ofstream pairs(p.pairs);
        pairs.precision(10);
        pairs << "source,destination,start\n";
        for (const Transfer& transfer : g_transfers)
        {
            transfer.PrintPair(pairs);
        }
    }
    for (uint32_t i = 0; i < p.nodes; ++i)
    {
        nodes.Get(i)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("LocalDeliver", MakeCallback(&Delivered));
    }

    Simulator::Stop(Seconds(p.seconds));
    const double start = air::CpuSeconds();
    Simulator::Run();
    Print(p, air::CpuSeconds() - start);
    Simulator::Destroy();
    return 0;
}
