// One transfer over a path with a narrow return link in ns-3, the topology of the paper of SCPS-TP in ns-3 (2017): client,
// router, server. MIT licence, as the rest of lightlag.
//
// The client's link and the channel forward have 1.5 Mbit/s; queues are drop-tail, at the devices. Set as that paper and
// the version of its time have it: no traffic control layer, an initial window of one segment, no SACK, no timestamps,
// classic recovery instead of proportional rate reduction, buffers of 300 kB. Left as they are: minimum RTO of 1 s, an ACK
// for every second segment or after 200 ms.
//
// With --interval there is one ACK in this time, as SCPS-TP has it: that is delayed ACKs without a count. Segments out of
// order are acknowledged at once even so, which makes it another protocol as soon as something is lost. Rate control is
// the client's own link with --access-queue: what a token bucket would hold back waits there.
//
// Prints one JSON object: the throughput of the whole transfer in bit/s, and segments sent again. With --trace also, on
// standard error, a line for each segment and each ACK at the sender: "time sent FROM TO" and "time ack NUMBER" in
// segments, and "time state NAME cwnd ssthresh" for each change of its state.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>

using namespace ns3;

namespace
{

struct Parameters
{
    std::string algorithm{"TcpNewReno"};
    double returnKilobits{1500};
    double delayMs{50};
    uint32_t mtu{512};
    uint32_t initialWindow{1};
    uint32_t queue{36};
    uint32_t accessQueue{36};
    uint32_t returnQueue{1000};
    uint32_t bytes{5000000};
    double intervalMs{0};
    double ber{0};
    uint32_t seed{1};
    double seconds{5000};
    bool trace{false};
};

// The end of the transfer at the receiver, and what the sender sent again.
class Observer
{
  public:
    explicit Observer(const Parameters& p)
        : m_left(p.bytes),
          m_segment(p.mtu - 40),
          m_trace(p.trace)
    {
    }

    void Received(Ptr<const Packet> packet, const Address&)
    {
        m_left -= std::min<uint64_t>(m_left, packet->GetSize());
        if (m_left == 0)
        {
            m_finish = Simulator::Now();
            Simulator::Stop();
        }
    }

    void Watch(Ptr<BulkSendApplication> source)
    {
        Ptr<Socket> socket = source->GetSocket();
        socket->TraceConnectWithoutContext("Tx", MakeCallback(&Observer::Sent, this));
        if (m_trace)
        {
            socket->TraceConnectWithoutContext("Rx", MakeCallback(&Observer::Acknowledged, this));
            socket->TraceConnectWithoutContext("CongState", MakeCallback(&Observer::State, this));
            socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Observer::Window, this));
            socket->TraceConnectWithoutContext("SlowStartThreshold", MakeCallback(&Observer::Threshold, this));
        }
    }

    double Finish() const
    {
        return m_left == 0 ? m_finish.GetSeconds() : 0;
    }

    uint64_t SentAgain() const
    {
        return m_sentAgain;
    }

  private:
    void Sent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        const uint64_t end = uint64_t{header.GetSequenceNumber().GetValue()} + packet->GetSize();
        if (packet->GetSize() > 0 && end <= m_highest)
        {
            ++m_sentAgain;
        }
        m_highest = std::max(m_highest, end);
        if (m_trace && packet->GetSize() > 0)
        {
            Line("sent") << double(end - 1 - packet->GetSize()) / m_segment << ' ' << double(end - 1) / m_segment << '\n';
        }
    }

    void Acknowledged(Ptr<const Packet>, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        Line("ack") << double(header.GetAckNumber().GetValue() - 1) / m_segment << '\n';
    }

    void State(const TcpSocketState::TcpCongState_t, const TcpSocketState::TcpCongState_t now)
    {
        Line("state") << TcpSocketState::TcpCongStateName[now] << ' ' << double(m_window) / m_segment << ' '
                      << double(m_threshold) / m_segment << '\n';
    }

    void Window(uint32_t, uint32_t now)
    {
        m_window = now;
    }

    void Threshold(uint32_t, uint32_t now)
    {
        m_threshold = now;
    }

    static std::ostream& Line(const char* what)
    {
        return std::cerr << Simulator::Now().GetSeconds() << ' ' << what << ' ';
    }

    uint64_t m_left;
    uint32_t m_segment;
    bool m_trace;
    uint32_t m_window{0};
    uint32_t m_threshold{0};
    uint64_t m_highest{1};
    uint64_t m_sentAgain{0};
    Time m_finish;
};

void
SetDefaults(const Parameters& p)
{
    const TypeId algorithm = TypeId::LookupByName("ns3::" + p.algorithm);
    const TypeId recovery = TypeId::LookupByName("ns3::TcpClassicRecovery");
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(algorithm));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(recovery));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(p.mtu - 40));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(p.initialWindow));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(300000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(300000));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    if (p.intervalMs > 0)
    {
        Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1000000));
        Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MicroSeconds(1e3 * p.intervalMs)));
    }
    RngSeedManager::SetSeed(p.seed);
}

void
SetDevice(Ptr<NetDevice> device, double bitsPerSecond, uint32_t packets)
{
    Ptr<PointToPointNetDevice> end = DynamicCast<PointToPointNetDevice>(device);
    end->SetDataRate(DataRate(static_cast<uint64_t>(bitsPerSecond)));
    Ptr<DropTailQueue<Packet>> queue = CreateObject<DropTailQueue<Packet>>();
    queue->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, packets));
    end->SetQueue(queue);
}

void
AddErrors(Ptr<NetDevice> device, double ber)
{
    Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
    errors->SetUnit(RateErrorModel::ERROR_UNIT_BIT);
    errors->SetRate(ber);
    device->SetAttribute("ReceiveErrorModel", PointerValue(errors));
}

// Both links and the routes; gives the address of the server.
Ipv4Address
Build(const Parameters& p, NodeContainer nodes)
{
    PointToPointHelper link;
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(10)));
    NetDeviceContainer access = link.Install(nodes.Get(0), nodes.Get(1));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(static_cast<uint64_t>(1e3 * p.delayMs))));
    NetDeviceContainer channel = link.Install(nodes.Get(1), nodes.Get(2));
    SetDevice(access.Get(0), 1.5e6, p.accessQueue);
    SetDevice(access.Get(1), 1.5e6, p.returnQueue);
    SetDevice(channel.Get(0), 1.5e6, p.queue);
    SetDevice(channel.Get(1), 1e3 * p.returnKilobits, p.returnQueue);
    if (p.ber > 0)
    {
        AddErrors(channel.Get(0), p.ber);
        AddErrors(channel.Get(1), p.ber);
    }

    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    addresses.Assign(access);
    addresses.NewNetwork();
    const Ipv4Address server = addresses.Assign(channel).GetAddress(1);
    TrafficControlHelper().Uninstall(access);
    TrafficControlHelper().Uninstall(channel);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return server;
}

} // namespace

int
main(int argc, char* argv[])
{
    Parameters p;
    CommandLine arguments(__FILE__);
    arguments.AddValue("algorithm", "class of the congestion control, as TcpVegas", p.algorithm);
    arguments.AddValue("return", "rate of the return link in kbit/s", p.returnKilobits);
    arguments.AddValue("delay", "of the channel, one way, in ms", p.delayMs);
    arguments.AddValue("mtu", "in bytes", p.mtu);
    arguments.AddValue("initial-window", "in segments", p.initialWindow);
    arguments.AddValue("queue", "packets that may wait for the channel", p.queue);
    arguments.AddValue("access-queue", "packets that may wait at the client", p.accessQueue);
    arguments.AddValue("return-queue", "packets that may wait on the way back", p.returnQueue);
    arguments.AddValue("bytes", "of the file", p.bytes);
    arguments.AddValue("interval", "one ACK in so many ms; 0: of two segments or after 200 ms", p.intervalMs);
    arguments.AddValue("ber", "bit error rate of the channel, both ways", p.ber);
    arguments.AddValue("seed", "of the errors", p.seed);
    arguments.AddValue("trace", "segments, ACKs and states at the sender on standard error", p.trace);
    arguments.Parse(argc, argv);

    SetDefaults(p);
    NodeContainer nodes(3);
    const Ipv4Address server = Build(p, nodes);
    const uint16_t port = 5000;
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    ApplicationContainer sinks = sink.Install(nodes.Get(2));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(server, port));
    source.SetAttribute("MaxBytes", UintegerValue(p.bytes));
    source.SetAttribute("SendSize", UintegerValue(p.mtu - 40));
    Ptr<BulkSendApplication> sender = DynamicCast<BulkSendApplication>(source.Install(nodes.Get(0)).Get(0));

    Observer observer(p);
    sinks.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Observer::Received, &observer));
    Simulator::Schedule(NanoSeconds(1), &Observer::Watch, &observer, sender);
    Simulator::Stop(Seconds(p.seconds));
    Simulator::Run();

    const double seconds = observer.Finish();
    std::cout << "{\"throughput_bps\": " << (seconds > 0 ? 8.0 * p.bytes / seconds : 0)
              << ", \"retransmitted_segments\": " << observer.SentAgain() << "}\n";
    Simulator::Destroy();
    return 0;
}
