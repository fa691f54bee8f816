// One flow over one bottleneck in ns-3, to compare what TCP achieves. MIT licence, as the rest of lightlag.
//
// Two nodes and a point-to-point link; the sender has a drop-tail queue. Data packets are lost independently on
// arrival, each with the same probability.
//
// These settings differ from ns-3's defaults, so that both simulators run the same model: no traffic control layer (its
// FqCoDel would be above the device queue), large socket buffers, segments of 1448 bytes, many data retries, and no
// HyStart in CUBIC, whose threshold differs between simulators. These defaults are unchanged: initial window of 10
// segments, minimum RTO of 1 s, proportional rate reduction, an ACK for every second segment or after 200 ms.
//
// Prints one JSON object: payload at the receiving application, retransmitted segments, and the congestion window in
// segments, averaged over the time since the connection was established. With --trace=PERIOD_MS the program also prints
// the window as lines "time cwnd ssthresh rtt" on standard error.

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

const uint32_t SEGMENT = 1448;

struct Parameters
{
    std::string algorithm{"TcpNewReno"};
    double megabits{10};
    double roundTripMs{50};
    double loss{0};
    uint32_t queue{41};
    uint32_t window{0};
    double seconds{60};
    uint32_t seed{1};
    bool hystart{false};
    double traceMs{0};
};

// Observes the sender during the run.
class Observer
{
  public:
    void Watch(Ptr<BulkSendApplication> source)
    {
        Ptr<Socket> socket = source->GetSocket();
        socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Observer::Window, this));
        socket->TraceConnectWithoutContext("SlowStartThreshold", MakeCallback(&Observer::Threshold, this));
        socket->TraceConnectWithoutContext("RTT", MakeCallback(&Observer::RoundTrip, this));
        socket->TraceConnectWithoutContext("Tx", MakeCallback(&Observer::Sent, this));
    }

    void Sample(Time period)
    {
        std::cerr << Simulator::Now().GetSeconds() << ' ' << m_window / SEGMENT << ' ' << m_threshold / SEGMENT << ' '
                  << m_roundTrip.GetSeconds() << '\n';
        Simulator::Schedule(period, &Observer::Sample, this, period);
    }

    double MeanWindow(Time end)
    {
        Advance(end);
        const double seconds = (end - m_begin).GetSeconds();
        return m_begun && seconds > 0 ? m_area / SEGMENT / seconds : 0;
    }

    uint64_t SentAgain() const
    {
        return m_sentAgain;
    }

    uint64_t SentSegments() const
    {
        return m_sent;
    }

  private:
    // The window's trace fires for the first time when the handshake is complete.
    void Window(uint32_t, uint32_t window)
    {
        if (!m_begun)
        {
            m_begun = true;
            m_begin = m_last = Simulator::Now();
        }
        Advance(Simulator::Now());
        m_window = window;
    }

    void Threshold(uint32_t, uint32_t threshold)
    {
        m_threshold = threshold;
    }

    void RoundTrip(Time, Time roundTrip)
    {
        m_roundTrip = roundTrip;
    }

    void Sent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        if (packet->GetSize() == 0)
        {
            return;
        }
        // Extends the 32-bit sequence number to an offset that does not wrap: no segment is 2 GiB from m_highest.
        const uint32_t sequence = header.GetSequenceNumber().GetValue();
        const int32_t distance = static_cast<int32_t>(sequence - static_cast<uint32_t>(m_highest));
        const uint64_t begin = m_highest + distance;
        ++m_sent;
        if (begin < m_highest)
        {
            ++m_sentAgain;
        }
        m_highest = std::max(m_highest, begin + packet->GetSize());
    }

    void Advance(Time now)
    {
        m_area += m_window * (now - m_last).GetSeconds();
        m_last = now;
    }

    bool m_begun{false};
    Time m_begin;
    Time m_last;
    Time m_roundTrip;
    double m_area{0};
    double m_window{0};
    double m_threshold{0};
    uint64_t m_highest{1};
    uint64_t m_sent{0};
    uint64_t m_sentAgain{0};
};

void
SetDefaults(const Parameters& p)
{
    const uint32_t buffer = 64 << 20;
    // 3.37 crashes when a loss is repaired at the edge of a receive window; the send buffer bounds the flight as well.
    const uint32_t window = p.window > 0 ? p.window * SEGMENT : buffer;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + p.algorithm)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(100));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(p.hystart));
    RngSeedManager::SetSeed(p.seed);
}

// Builds the link and its losses; returns the address of the receiver.
Ipv4Address
Build(const Parameters& p, NodeContainer nodes)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(p.megabits * 1e6))));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(static_cast<uint64_t>(p.roundTripMs / 2 * 1e3))));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, p.queue)));
    NetDeviceContainer devices = link.Install(nodes);

    if (p.loss > 0)
    {
        Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(p.loss);
        devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    }

    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    const Ipv4Address receiver = addresses.Assign(devices).GetAddress(1);
    // IP passes packets directly to the devices, whose queues are the drop-tail queues above.
    TrafficControlHelper().Uninstall(devices);
    return receiver;
}

} // namespace

int
main(int argc, char* argv[])
{
    Parameters p;
    CommandLine arguments(__FILE__);
    arguments.AddValue("algorithm", "congestion control class, e.g. TcpCubic", p.algorithm);
    arguments.AddValue("megabits", "rate of the link in Mbit/s", p.megabits);
    arguments.AddValue("rtt", "base round-trip time in ms", p.roundTripMs);
    arguments.AddValue("loss", "probability that a data packet is lost", p.loss);
    arguments.AddValue("queue", "queue limit in packets", p.queue);
    arguments.AddValue("window", "maximum segments in flight, set by the send buffer; 0: 64 MiB", p.window);
    arguments.AddValue("seconds", "simulated time in s", p.seconds);
    arguments.AddValue("seed", "random seed of the losses", p.seed);
    arguments.AddValue("hystart", "whether CUBIC uses HyStart", p.hystart);
    arguments.AddValue("trace", "period of the trace in ms; 0: none", p.traceMs);
    arguments.Parse(argc, argv);

    SetDefaults(p);
    NodeContainer nodes(2);
    const uint16_t port = 5000;
    const Ipv4Address receiver = Build(p, nodes);

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    ApplicationContainer sinks = sink.Install(nodes.Get(1));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(receiver, port));
    source.SetAttribute("SendSize", UintegerValue(SEGMENT));
    Ptr<BulkSendApplication> sender = DynamicCast<BulkSendApplication>(source.Install(nodes.Get(0)).Get(0));

    // The socket is created when the application starts, before it receives a packet.
    Observer observer;
    Simulator::Schedule(NanoSeconds(1), &Observer::Watch, &observer, sender);
    if (p.traceMs > 0)
    {
        const Time period = MicroSeconds(static_cast<uint64_t>(1e3 * p.traceMs));
        Simulator::Schedule(period, &Observer::Sample, &observer, period);
    }
    const Time end = Seconds(p.seconds);
    Simulator::Stop(end);
    Simulator::Run();

    std::cout << "{\"delivered_bytes\": " << DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx()
              << ", \"sent_segments\": " << observer.SentSegments()
              << ", \"retransmitted_segments\": " << observer.SentAgain()
              << ", \"mean_cwnd_segments\": " << observer.MeanWindow(end) << "}\n";
    Simulator::Destroy();
    return 0;
}
