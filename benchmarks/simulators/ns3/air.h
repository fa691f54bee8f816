// The radio shared by the ns-3 programs air-*.cc: its settings, its devices and its transmission counters.
// MIT licence, as the rest of lightlag.
//
// Where ns-3.37 has other defaults, the defaults of ns-3.30.1 apply: the NIST error model, which the Wi-Fi helpers of
// 3.33 and later replace by tables; 16.0206 dBm; preambles detected at a minimum of -82 dBm and an SNR of 4 dB.

#ifndef LIGHTLAG_AIR_H
#define LIGHTLAG_AIR_H

#include "ns3/aodv-module.h"
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/dsdv-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/olsr-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <sys/resource.h>

namespace air
{

using namespace ns3;

struct Radio
{
    std::string standard{"n"};
    std::string mode{"OfdmRate24Mbps"};
    std::string control{"OfdmRate6Mbps"};
    std::string errors{"nist"};
    bool preamble{true};
    double preambleDbm{-82};
    double preambleSnrDb{4};
    double sensitivityDbm{-101};
    double powerDbm{16.0206};
    double exponent{3};
    uint32_t retries{7};
    uint32_t rtsThreshold{65535};
    uint32_t aggregate{65535};

    void Add(CommandLine& arguments)
    {
        arguments.AddValue("standard", "a or n", standard);
        arguments.AddValue("mode", "data rate, e.g. OfdmRate24Mbps or HtMcs7", mode);
        arguments.AddValue("control", "rate of RTS and broadcasts", control);
        arguments.AddValue("errors", "nist, yans or table", errors);
        arguments.AddValue("preamble", "whether a preamble must be detected", preamble);
        arguments.AddValue("preamble-dbm", "minimum power of a preamble in dBm", preambleDbm);
        arguments.AddValue("preamble-snr", "minimum SNR of a preamble in dB", preambleSnrDb);
        arguments.AddValue("sensitivity", "minimum detectable power in dBm", sensitivityDbm);
        arguments.AddValue("power", "transmit power in dBm", powerDbm);
        arguments.AddValue("exponent", "path loss exponent", exponent);
        arguments.AddValue("retries", "maximum transmissions of a frame of any length", retries);
        arguments.AddValue("rts", "RTS threshold in bytes: longer frames use RTS", rtsThreshold);
        arguments.AddValue("aggregate", "maximum size of an A-MPDU in bytes; 0: no aggregation", aggregate);
    }
};

// Parts that ns-3 adds to the stations by default. Each one can be disabled to find the cause of a difference.
struct Surroundings
{
    bool hello{true};
    bool arp{true};
    bool queueDisc{true};

    void Add(CommandLine& arguments)
    {
        arguments.AddValue("hello", "whether AODV sends HELLO", hello);
        arguments.AddValue("arp", "whether ARP resolves the addresses of neighbours", arp);
        arguments.AddValue("queue-disc", "whether FqCoDel is above the queue of a station", queueDisc);
    }

    AodvHelper Aodv() const
    {
        AodvHelper aodv;
        aodv.Set("EnableHello", BooleanValue(hello));
        return aodv;
    }

    // Assigns addresses to devices whose nodes have the Internet stack.
    Ipv4InterfaceContainer Assign(NetDeviceContainer devices) const
    {
        Ipv4InterfaceContainer found = Ipv4AddressHelper("10.1.0.0", "255.255.0.0").Assign(devices);
        if (!queueDisc)
        {
            TrafficControlHelper().Uninstall(devices);
        }
        if (!arp)
        {
            NeighborCacheHelper().PopulateNeighborCache(devices);
        }
        return found;
    }
};

// Counters of the frames and routing messages that the stations sent.
struct Counters
{
    uint64_t frames{0};
    uint64_t repeated{0};
    uint64_t acked{0};
    uint64_t failedAttempts{0};
    uint64_t givenUp{0};
    uint64_t failedRts{0};
    uint64_t dropped{0};
    uint64_t requests{0};
    uint64_t replies{0};
    uint64_t errors{0};
    uint64_t hellos{0};
    uint64_t otherRouting{0};
    uint64_t routingBytes{0};
};

inline Counters g_counters;

// Counts a transmitted data frame; acknowledgements and RTS are not counted.
inline void
OnTransmission(Ptr<const Packet> packet, double)
{
    WifiMacHeader header;
    if (packet->PeekHeader(header) > 0 && header.IsData())
    {
        ++g_counters.frames;
        g_counters.repeated += header.IsRetry();
    }
}

inline void
OnAcked(Ptr<const WifiMpdu>)
{
    ++g_counters.acked;
}

inline void
OnDropped(WifiMacDropReason, Ptr<const WifiMpdu>)
{
    ++g_counters.dropped;
}

inline void
OnFailedAttempt(Mac48Address)
{
    ++g_counters.failedAttempts;
}

inline void
OnGivenUp(Mac48Address)
{
    ++g_counters.givenUp;
}

inline void
OnFailedRts(Mac48Address)
{
    ++g_counters.failedRts;
}

// Called for each IP packet that a node sends or forwards; counts the routing messages.
inline void
OnSent(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    Ipv4Header ip;
    Ptr<Packet> copy = packet->Copy();
    copy->RemoveHeader(ip);
    if (ip.GetProtocol() != UdpL4Protocol::PROT_NUMBER)
    {
        return;
    }
    UdpHeader udp;
    copy->RemoveHeader(udp);
    const uint16_t port = udp.GetDestinationPort();
    if (port != aodv::RoutingProtocol::AODV_PORT && port != 698 && port != 269)
    {
        return;
    }
    g_counters.routingBytes += packet->GetSize();
    if (port != aodv::RoutingProtocol::AODV_PORT)
    {
        ++g_counters.otherRouting;
        return;
    }
    aodv::TypeHeader type;
    copy->RemoveHeader(type);
    switch (type.Get())
    {
    case aodv::AODVTYPE_RREQ:
        ++g_counters.requests;
        break;
    case aodv::AODVTYPE_RREP:
        // A HELLO is a broadcast RREP (RFC 3561 section 6.9).
        ++(ip.GetDestination().IsBroadcast() || ip.GetDestination().IsSubnetDirectedBroadcast("255.255.0.0")
               ? g_counters.hellos
               : g_counters.replies);
        break;
    case aodv::AODVTYPE_RERR:
        ++g_counters.errors;
        break;
    default:
        ++g_counters.otherRouting;
    }
}

inline void
Watch(NetDeviceContainer devices)
{
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        Ptr<WifiNetDevice> device = DynamicCast<WifiNetDevice>(devices.Get(i));
        device->GetMac()->TraceConnectWithoutContext("AckedMpdu", MakeCallback(&OnAcked));
        device->GetMac()->TraceConnectWithoutContext("DroppedMpdu", MakeCallback(&OnDropped));
        device->GetPhy()->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&OnTransmission));
        Ptr<WifiRemoteStationManager> manager = device->GetRemoteStationManager();
        manager->TraceConnectWithoutContext("MacTxDataFailed", MakeCallback(&OnFailedAttempt));
        manager->TraceConnectWithoutContext("MacTxFinalDataFailed", MakeCallback(&OnGivenUp));
        manager->TraceConnectWithoutContext("MacTxRtsFailed", MakeCallback(&OnFailedRts));
    }
}

inline void
WatchRouting(NodeContainer nodes)
{
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        nodes.Get(i)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("Tx", MakeCallback(&OnSent));
    }
}

inline std::string
ErrorModel(const std::string& name)
{
    if (name == "nist")
    {
        return "ns3::NistErrorRateModel";
    }
    if (name == "yans")
    {
        return "ns3::YansErrorRateModel";
    }
    NS_ABORT_MSG_IF(name != "table", "--errors=" << name << " is none of nist, yans, table");
    return "ns3::TableBasedErrorRateModel";
}

// Installs ad hoc stations on one channel of 20 MHz; their nodes already have positions.
inline NetDeviceContainer
Install(const Radio& radio, NodeContainer nodes)
{
    NS_ABORT_MSG_IF(radio.standard != "a" && radio.standard != "n", "--standard=" << radio.standard << " is not a or n");
    YansWifiChannelHelper medium;
    medium.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    medium.AddPropagationLoss("ns3::LogDistancePropagationLossModel", "Exponent", DoubleValue(radio.exponent));

    YansWifiPhyHelper phy;
    phy.SetErrorRateModel(ErrorModel(radio.errors));
    if (radio.preamble)
    {
        phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel",
                                      "MinimumRssi",
                                      DoubleValue(radio.preambleDbm),
                                      "Threshold",
                                      DoubleValue(radio.preambleSnrDb));
    }
    else
    {
        phy.DisablePreambleDetectionModel();
    }
    phy.Set("RxSensitivity", DoubleValue(radio.sensitivityDbm));
    phy.Set("TxPowerStart", DoubleValue(radio.powerDbm));
    phy.Set("TxPowerEnd", DoubleValue(radio.powerDbm));
    phy.Set("ChannelSettings", StringValue("{36, 20, BAND_5GHZ, 0}"));
    phy.SetChannel(medium.Create());

    WifiMacHelper mac;
    if (radio.standard == "n")
    {
        mac.SetType("ns3::AdhocWifiMac", "BE_MaxAmpduSize", UintegerValue(radio.aggregate));
    }
    else
    {
        mac.SetType("ns3::AdhocWifiMac");
    }
    WifiHelper wifi;
    wifi.SetStandard(radio.standard == "n" ? WIFI_STANDARD_80211n : WIFI_STANDARD_80211a);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue(radio.mode),
                                 "ControlMode",
                                 StringValue(radio.control),
                                 "MaxSsrc",
                                 UintegerValue(radio.retries),
                                 "MaxSlrc",
                                 UintegerValue(radio.retries),
                                 "RtsCtsThreshold",
                                 UintegerValue(radio.rtsThreshold));
    return wifi.Install(phy, mac, nodes);
}

inline double
CpuSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

inline uint64_t
PeakKib()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

// Prints the counters as the members of a JSON object.
inline void
Print(std::ostream& out)
{
    const Counters& c = g_counters;
    out << "\"frames\": " << c.frames << ", \"repeated_frames\": " << c.repeated << ", \"acked_frames\": " << c.acked << ", \"failed_attempts\": " << c.failedAttempts
        << ", \"frames_given_up\": " << c.givenUp << ", \"failed_rts\": " << c.failedRts
        << ", \"frames_dropped\": " << c.dropped << ", \"rreq\": " << c.requests << ", \"rrep\": " << c.replies
        << ", \"rerr\": " << c.errors << ", \"hello\": " << c.hellos << ", \"other_routing\": " << c.otherRouting
        << ", \"routing_bytes\": " << c.routingBytes;
}

} // namespace air

#endif
