// Four transfers of 15 MiB each over a satellite in ns-3, on the path from the paper on CUBIC in INET for SIoT (2023).
// MIT licence, as the rest of lightlag.
//
// This is the scenario papers/lightlag_papers/cubic_inet/satellite.toml with fewer hops, because each hop costs ns-3
// run time: one link of 100 Mbit/s replaces the two satellite hops and loses as many packets as both, in each
// direction. All clients are at one side of the link, all servers at the other. The omitted hops take 0.2 ms per round
// trip. These settings differ from ns-3's defaults: no traffic control layer, an initial window of one segment of 1024
// bytes, no SACK, no timestamps, classic recovery instead of proportional rate reduction, buffers that do not limit the
// flow, and CUBIC with the factor 0.8 of that paper and without HyStart. These defaults are unchanged: minimum RTO of
// 1 s, an ACK for every second segment or after 200 ms.
//
// The run ends with the last transfer. Prints one JSON object with the number of lost data packets and, for each flow,
// the seconds from its start to the last byte at the server, its retransmission timeouts, and the window steps in which
// one ACK raised the window from below to above ssthresh, each as [seconds, window, ssthresh, window afterwards], in
// segments.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

const uint32_t SEGMENT = 1024;
const uint32_t FLOWS = 4;
const uint32_t BUFFER = 32 << 20;
const uint16_t PORT = 5000;
const double START_S = 1.2;

struct Parameters
{
    std::string algorithm{"TcpCubic"};
    double roundTripMs{400};
    double loss{5e-4};
    double beta{0.8};
    uint32_t bytes{15 << 20};
    uint32_t seed{1};
    double seconds{2000};
    bool sack{false};
    bool trace{false};
};

uint32_t g_lost = 0;

void
CountLoss(Ptr<const Packet>)
{
    ++g_lost;
}

// Observes one transfer at both endpoints.
class Flow
{
  public:
    Flow(uint32_t number, uint64_t bytes, uint32_t& running, bool trace)
        : m_number(number),
          m_left(bytes),
          m_running(running),
          m_trace(trace)
    {
    }

    void Received(Ptr<const Packet> packet, const Address&)
    {
        m_left -= std::min<uint64_t>(m_left, packet->GetSize());
        if (m_left == 0 && m_seconds == 0)
        {
            m_seconds = Simulator::Now().GetSeconds() - START_S;
            if (--m_running == 0)
            {
                Simulator::Stop();
            }
        }
    }

    void Watch(Ptr<BulkSendApplication> source)
    {
        Ptr<Socket> socket = source->GetSocket();
        socket->TraceConnectWithoutContext("CongState", MakeCallback(&Flow::State, this));
        socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Flow::Window, this));
        socket->TraceConnectWithoutContext("SlowStartThreshold", MakeCallback(&Flow::Threshold, this));
    }

    void Print() const
    {
        std::cout << "{\"seconds\": " << m_seconds << ", \"timeouts\": " << m_timeouts << ", \"past_ssthresh\": [";
        const char* separator = "";
        for (const auto& [time, window, threshold, after] : m_steps)
        {
            std::cout << separator << '[' << time << ", " << window << ", " << threshold << ", " << after << ']';
            separator = ", ";
        }
        std::cout << "]}";
    }

  private:
    void State(const TcpSocketState::TcpCongState_t before, const TcpSocketState::TcpCongState_t now)
    {
        m_timeouts += now == TcpSocketState::CA_LOSS ? 1 : 0;
        if (m_trace)
        {
            std::cerr << Simulator::Now().GetSeconds() << ' ' << m_number << " state "
                      << TcpSocketState::TcpCongStateName[before] << ' ' << TcpSocketState::TcpCongStateName[now] << '\n';
        }
    }

    void Window(uint32_t before, uint32_t now)
    {
        if (before < m_threshold && now >= uint64_t{m_threshold} + 2 * SEGMENT)
        {
            m_steps.push_back({Simulator::Now().GetSeconds(), double(before) / SEGMENT, double(m_threshold) / SEGMENT,
                               double(now) / SEGMENT});
        }
        if (m_trace)
        {
            std::cerr << Simulator::Now().GetSeconds() << ' ' << m_number << " cwnd " << double(now) / SEGMENT
                      << " ssthresh " << double(m_threshold) / SEGMENT << '\n';
        }
    }

    void Threshold(uint32_t, uint32_t now)
    {
        m_threshold = now;
    }

    uint32_t m_number;
    uint64_t m_left;
    uint32_t& m_running;
    bool m_trace;
    double m_seconds{0};
    uint32_t m_timeouts{0};
    uint32_t m_threshold{UINT32_MAX};
    std::vector<std::array<double, 4>> m_steps;
};

void
SetDefaults(const Parameters& p)
{
    const TypeId algorithm = TypeId::LookupByName("ns3::" + p.algorithm);
    const TypeId recovery = TypeId::LookupByName("ns3::TcpClassicRecovery");
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(algorithm));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(recovery));
    Config::SetDefault("ns3::TcpCubic::Beta", DoubleValue(p.beta));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BUFFER));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BUFFER));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(p.sack));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    RngSeedManager::SetRun(p.seed);
}

// Builds the link, its errors and the addresses; returns the servers' address.
Ipv4Address
Build(const Parameters& p, const NodeContainer& nodes)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(static_cast<uint64_t>(1e3 * p.roundTripMs / 2))));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("10000p"));
    NetDeviceContainer ends = link.Install(nodes);
    for (uint32_t i = 0; i < ends.GetN(); ++i)
    {
        Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(1 - (1 - p.loss) * (1 - p.loss));
        ends.Get(i)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    }
    ends.Get(1)->TraceConnectWithoutContext("PhyRxDrop", MakeCallback(&CountLoss));
    InternetStackHelper().Install(nodes);
    const Ipv4Address servers = Ipv4AddressHelper("10.0.0.0", "255.255.255.252").Assign(ends).GetAddress(1);
    TrafficControlHelper().Uninstall(ends);
    return servers;
}

} // namespace

int
main(int argc, char* argv[])
{
    Parameters p;
    CommandLine arguments(__FILE__);
    arguments.AddValue("algorithm", "congestion control class", p.algorithm);
    arguments.AddValue("rtt", "round-trip time in ms", p.roundTripMs);
    arguments.AddValue("loss", "packet loss probability per satellite link and direction", p.loss);
    arguments.AddValue("beta", "fraction of its window that CUBIC retains after a loss", p.beta);
    arguments.AddValue("bytes", "bytes per transfer", p.bytes);
    arguments.AddValue("seed", "random seed of the losses", p.seed);
    arguments.AddValue("seconds", "maximum simulated time in s", p.seconds);
    arguments.AddValue("sack", "whether both endpoints use SACK", p.sack);
    arguments.AddValue("trace", "states and windows on standard error", p.trace);
    arguments.Parse(argc, argv);

    SetDefaults(p);
    NodeContainer nodes(2);
    const Ipv4Address servers = Build(p, nodes);

    uint32_t running = FLOWS;
    std::vector<Flow> flows;
    flows.reserve(FLOWS);
    for (uint32_t i = 0; i < FLOWS; ++i)
    {
        flows.emplace_back(i + 1, p.bytes, running, p.trace);
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT + i));
        sink.Install(nodes.Get(1)).Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Flow::Received, &flows[i]));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(servers, PORT + i));
        source.SetAttribute("MaxBytes", UintegerValue(p.bytes));
        source.SetAttribute("SendSize", UintegerValue(SEGMENT));
        ApplicationContainer sources = source.Install(nodes.Get(0));
        sources.Start(Seconds(START_S));
        Ptr<BulkSendApplication> sender = DynamicCast<BulkSendApplication>(sources.Get(0));
        Simulator::Schedule(Seconds(START_S) + NanoSeconds(1), &Flow::Watch, &flows[i], sender);
    }
    Simulator::Stop(Seconds(p.seconds));
    Simulator::Run();

    std::cout << "{\"flows\": [";
    for (uint32_t i = 0; i < FLOWS; ++i)
    {
        std::cout << (i > 0 ? ", " : "");
        flows[i].Print();
    }
    std::cout << "], \"lost\": " << g_lost << "}\n";
    Simulator::Destroy();
    return 0;
}
