// Saturated stations that send to one receiver, in ns-3: on a circle around it, or two on opposite sides that do not
// receive each other. MIT licence, as the rest of lightlag.
//
// Each frame carries a packet of --size bytes without IP, so that neither ARP nor routing sends anything. A station
// passes a new packet to its MAC whenever a packet is acknowledged or dropped, or at equal intervals with --offered.
//
// Prints one JSON object. Rates are measured after --warm-up seconds; "cpu_us" is the CPU time per delivered frame.
// "attempts" counts data frames on the air (one per MPDU of an aggregate), and "failed" counts the attempts without an
// acknowledgement. "aggregates" counts the A-MPDUs on the air, "requests" the block acknowledgement requests, and
// "window_resets" the failed requests that reset a contention window to its minimum.

#include "air-window.h"
#include "air.h"

#include <cmath>
#include <iostream>
#include <unordered_set>
#include <vector>

using namespace ns3;

namespace
{

struct Parameters
{
    air::Radio radio;
    std::string layout{"circle"};
    uint32_t stations{5};
    double radius{5};
    double other{0};
    uint32_t size{1500};
    double offered{0};
    bool keepWindow{false};
    double seconds{10};
    double warmUp{1};
    uint32_t seed{1};
};

// A station and the outcome of its frames after the warm-up.
class Station
{
  public:
    Station(Ptr<WifiNetDevice> device, Address receiver, uint32_t size, Time warmUp)
        : m_device(device),
          m_receiver(receiver),
          m_size(size),
          m_warmUp(warmUp)
    {
        device->GetMac()->TraceConnectWithoutContext("AckedMpdu", MakeCallback(&Station::Acked, this));
        device->GetMac()->TraceConnectWithoutContext("NAckedMpdu", MakeCallback(&Station::NotAcked, this));
        device->GetMac()->TraceConnectWithoutContext("DroppedMpdu", MakeCallback(&Station::Dropped, this));
        device->GetRemoteStationManager()->TraceConnectWithoutContext("MacTxDataFailed",
                                                                      MakeCallback(&Station::Failed, this));
        device->GetRemoteStationManager()->TraceConnectWithoutContext("MacTxRtsFailed",
                                                                      MakeCallback(&Station::RtsFailed, this));
    }

    // Sends one packet per interval, regardless of the outcome of earlier packets.
    void Offer(Time interval)
    {
        Send();
        Simulator::Schedule(interval, &Station::Offer, this, interval);
    }

    void Start(uint32_t waiting, bool renews)
    {
        m_renews = renews;
        for (uint32_t i = 0; i < waiting; ++i)
        {
            Send();
        }
    }

    uint64_t acked{0};
    uint64_t failed{0};
    uint64_t failedRts{0};
    uint64_t givenUp{0};

  private:
    void Send()
    {
        m_device->Send(Create<Packet>(m_size), m_receiver, 0x88b5);
    }

    void Renew()
    {
        if (m_renews)
        {
            Simulator::ScheduleNow(&Station::Send, this);
        }
    }

    bool Counts() const
    {
        return Simulator::Now() >= m_warmUp;
    }

    void Acked(Ptr<const WifiMpdu> mpdu)
    {
        if (mpdu->GetHeader().IsData())
        {
            acked += Counts();
            Renew();
        }
    }

    void NotAcked(Ptr<const WifiMpdu>)
    {
        failed += Counts();
    }

    // ns-3 reports a frame twice if it expires while it waits for its block acknowledgement: as expired and as old.
    void Dropped(WifiMacDropReason, Ptr<const WifiMpdu> mpdu)
    {
        if (mpdu->GetHeader().IsData() && m_dropped.insert(mpdu->GetPacket()->GetUid()).second)
        {
            givenUp += Counts();
            Renew();
        }
    }

    void Failed(Mac48Address)
    {
        failed += Counts();
    }

    void RtsFailed(Mac48Address)
    {
        failedRts += Counts();
    }

    Ptr<WifiNetDevice> m_device;
    Address m_receiver;
    uint32_t m_size;
    Time m_warmUp;
    bool m_renews{true};
    std::unordered_set<uint64_t> m_dropped;
};

// Counters of all stations after the warm-up.
uint64_t g_aggregates = 0;
uint64_t g_requests = 0;

void
Sent(Time warmUp, WifiConstPsduMap psdus, WifiTxVector, double)
{
    if (Simulator::Now() >= warmUp)
    {
        Ptr<const WifiPsdu> psdu = psdus.begin()->second;
        g_aggregates += psdu->GetNMpdus() > 1;
        g_requests += psdu->GetHeader(0).IsBlockAckReq();
    }
}

// Positions the receiver, which is the first node, at the origin.
void
Place(const Parameters& p, NodeContainer nodes)
{
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    if (p.layout == "pair")
    {
        NS_ABORT_MSG_IF(p.stations != 2, "--layout=pair has --stations=2");
        places->Add(Vector(-p.radius, 0, 0));
        places->Add(Vector(p.other > 0 ? p.other : p.radius, 0, 0));
    }
    else
    {
        NS_ABORT_MSG_IF(p.layout != "circle", "--layout=" << p.layout << " is not circle or pair");
        for (uint32_t i = 0; i < p.stations; ++i)
        {
            const double angle = 2 * M_PI * i / p.stations;
            places->Add(Vector(p.radius * std::cos(angle), p.radius * std::sin(angle), 0));
        }
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
}

} // namespace

int
main(int argc, char* argv[])
{
    Parameters p;
    CommandLine arguments(__FILE__);
    p.radio.Add(arguments);
    arguments.AddValue("layout", "circle, or pair: two stations that do not receive each other", p.layout);
    arguments.AddValue("stations", "number of sending stations", p.stations);
    arguments.AddValue("radius", "distance to the receiver in m", p.radius);
    arguments.AddValue("other", "distance of the second station of a pair in m; 0: equal to radius", p.other);
    arguments.AddValue("size", "packet size in bytes", p.size);
    arguments.AddValue("offered", "offered load per station in Mbit/s; 0: saturated", p.offered);
    arguments.AddValue("keep-window", "double the contention window after each failed request", p.keepWindow);
    arguments.AddValue("seconds", "simulated time after the warm-up in s", p.seconds);
    arguments.AddValue("warm-up", "warm-up time in s, not counted", p.warmUp);
    arguments.AddValue("seed", "random seed", p.seed);
    arguments.Parse(argc, argv);
    RngSeedManager::SetRun(p.seed);
    air::g_keepsWindow = p.keepWindow;

    NodeContainer nodes(1 + p.stations);
    Place(p, nodes);
    NetDeviceContainer devices = air::Install(p.radio, nodes);
    PacketSocketHelper().Install(nodes);
    std::vector<Station> stations;
    stations.reserve(p.stations);
    const bool aggregates = p.radio.standard == "n" && p.radio.mode.rfind("Ht", 0) == 0 && p.radio.aggregate > 0;
    for (uint32_t i = 1; i <= p.stations; ++i)
    {
        stations.emplace_back(DynamicCast<WifiNetDevice>(devices.Get(i)),
                              devices.Get(0)->GetAddress(),
                              p.size,
                              Seconds(p.warmUp));
        if (p.offered > 0)
        {
            // Each station in turn sends two packets first, to negotiate block acknowledgements: a negotiation request
            // that expires stays pending forever in ns-3, and its station sends nothing more.
            Simulator::Schedule(Seconds(0.01 * i), &Station::Start, &stations.back(), 2u, false);
            const Time interval = Seconds(8e-6 * p.size / p.offered);
            Simulator::Schedule(Seconds(0.5) + MicroSeconds(100 * i), &Station::Offer, &stations.back(), interval);
            continue;
        }
        // Queues a window of 64 MPDUs and another 64 that wait for it.
        Simulator::Schedule(MicroSeconds(100 * i), &Station::Start, &stations.back(), aggregates ? 128u : 4u, true);
    }

    for (uint32_t i = 0; aggregates && i < devices.GetN(); ++i)
    {
        DynamicCast<WifiNetDevice>(devices.Get(i))
            ->GetPhy()
            ->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Sent).Bind(Seconds(p.warmUp)));
    }
    Simulator::Schedule(Seconds(p.warmUp), [] { air::g_windowResets = 0; });
    Simulator::Stop(Seconds(p.warmUp + p.seconds));
    const double start = air::CpuSeconds();
    Simulator::Run();
    const double cpu = air::CpuSeconds() - start;

    Station sum(DynamicCast<WifiNetDevice>(devices.Get(0)), devices.Get(0)->GetAddress(), 0, Seconds(0));
    std::cout << "{\"goodput_mbps\": [";
    for (std::size_t i = 0; i < stations.size(); ++i)
    {
        const Station& one = stations[i];
        std::cout << (i > 0 ? ", " : "") << one.acked * 8e-6 * p.size / p.seconds;
        sum.acked += one.acked;
        sum.failed += one.failed;
        sum.failedRts += one.failedRts;
        sum.givenUp += one.givenUp;
    }
    const double share = (p.warmUp + p.seconds) / p.seconds;
    std::cout << "], \"acked\": " << sum.acked << ", \"attempts\": " << sum.acked + sum.failed
              << ", \"failed\": " << sum.failed << ", \"failed_rts\": " << sum.failedRts << ", \"given_up\": "
              << sum.givenUp << ", \"aggregates\": " << g_aggregates << ", \"requests\": " << g_requests
              << ", \"window_resets\": " << air::g_windowResets
              << ", \"cpu_s\": " << cpu << ", \"cpu_us\": " << cpu * 1e6 / share / sum.acked
              << ", \"events\": " << Simulator::GetEventCount() << "}\n";
    Simulator::Destroy();
    return 0;
}
