// One transfer over a path with a narrow return link in ns-3. The topology (client, router, server) is from the paper
// on SCPS-TP in ns-3 (2017). MIT licence, as the rest of lightlag.
//
// The client's link and the forward channel run at 1.5 Mbit/s; the devices have drop-tail queues. These settings follow
// the paper and the ns-3 version of that year: no traffic control layer, an initial window of one segment, no SACK, no
// timestamps, classic recovery instead of proportional rate reduction, buffers of 300 kB. These defaults are unchanged:
// minimum RTO of 1 s, an ACK for every second segment or after 200 ms.
//
// With --interval the receiver sends one ACK per interval, like SCPS-TP: delayed ACKs without a segment count. ns-3
// still acknowledges out-of-order segments immediately, so the protocol differs from SCPS-TP as soon as a packet is
// lost. The client's own link and --access-queue emulate rate control: packets that a token bucket would delay wait in
// that queue.
//
// Prints one JSON object: the throughput of the entire transfer in bit/s, and the retransmitted segments. With --trace
// the program also prints lines on standard error: "time sent FROM TO" for each segment and "time ack NUMBER" for each
// ACK at the sender, in segments, and "time state NAME cwnd ssthresh" for each change of the sender's state.

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

// Observes the end of the transfer at the receiver and the sender's retransmissions.
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

// Builds both links and the routes; returns the address of the server.
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
    arguments.AddValue("algorithm", "congestion control class, e.g. TcpVegas", p.algorithm);
    arguments.AddValue("return", "rate of the return link in kbit/s", p.returnKilobits);
    arguments.AddValue("delay", "one-way delay of the channel in ms", p.delayMs);
    arguments.AddValue("mtu", "MTU in bytes", p.mtu);
    arguments.AddValue("initial-window", "initial window in segments", p.initialWindow);
    arguments.AddValue("queue", "queue limit of the channel in packets", p.queue);
    arguments.AddValue("access-queue", "queue limit of the client in packets", p.accessQueue);
    arguments.AddValue("return-queue", "queue limit of the return path in packets", p.returnQueue);
    arguments.AddValue("bytes", "size of the file in bytes", p.bytes);
    arguments.AddValue("interval", "time between ACKs in ms; 0: every two segments or 200 ms", p.intervalMs);
    arguments.AddValue("ber", "bit error rate of the channel in both directions", p.ber);
    arguments.AddValue("seed", "random seed of the errors", p.seed);
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
