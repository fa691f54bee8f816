// Prints values of ns-3's Wi-Fi physical layer, one per line, to compare with lightlag's values. MIT licence, as the
// rest of lightlag.
//
// There are three kinds of lines. MODE is the name of a mode, WIDTH its width in MHz, GUARD its guard interval in ns
// and STREAMS its number of spatial streams:
//
//     time MODE WIDTH GUARD STREAMS BAND BYTES NANOSECONDS
//     success MODEL MODE WIDTH GUARD STREAMS DECIBELS BYTES PROBABILITY
//     loss MODEL METRES DECIBELS
//
// `success` is the success probability of one chunk at a constant SNR. MODEL is nist, yans, bcc or ldpc; bcc and ldpc
// use the tables.

#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

struct Sending
{
    WifiMode mode;
    WifiTxVector vector;
    int width;
    int guard;
    int streams;
    std::string Name() const
    {
        char text[80];
        std::snprintf(text, sizeof text, "%s %d %d %d", mode.GetUniqueName().c_str(), width, guard, streams);
        return text;
    }
};

Sending
Make(WifiMode mode, WifiPreamble preamble, int width, int guard, int streams, bool ldpc = false)
{
    return {mode, {mode, 0, preamble, static_cast<uint16_t>(guard), 4, static_cast<uint8_t>(streams), 0,
                   static_cast<uint16_t>(width), false, false, ldpc}, width, guard, streams};
}

std::vector<Sending>
All(bool ldpc)
{
    std::vector<Sending> all;
    for (auto rate : {6, 9, 12, 18, 24, 36, 48, 54})
    {
        WifiMode mode("OfdmRate" + std::to_string(rate) + "Mbps");
        all.push_back(Make(mode, WIFI_PREAMBLE_LONG, 20, 800, 1, ldpc));
    }
    for (int guard : {800, 400})
    {
        for (int width : {20, 40})
        {
            for (int mcs = 0; mcs < 32; ++mcs)
            {
                WifiMode mode("HtMcs" + std::to_string(mcs));
                all.push_back(Make(mode, WIFI_PREAMBLE_HT_MF, width, guard, mcs / 8 + 1, ldpc));
            }
        }
        for (int width : {20, 40, 80})
        {
            for (int streams = 1; streams <= 4; ++streams)
            {
                for (int mcs = 0; mcs < 10; ++mcs)
                {
                    WifiMode mode("VhtMcs" + std::to_string(mcs));
                    if (mode.IsAllowed(width, streams))
                    {
                        all.push_back(Make(mode, WIFI_PREAMBLE_VHT_SU, width, guard, streams, ldpc));
                    }
                }
            }
        }
    }
    return all;
}

void
Times()
{
    for (auto& of : All(false))
    {
        for (uint32_t bytes : {1, 14, 32, 76, 100, 576, 1538, 4095, 16384, 65535})
        {
            auto print = [&](WifiPhyBand band, const char* name) {
                auto time = WifiPhy::CalculateTxDuration(bytes, of.vector, band);
                std::printf("time %s %s %u %lld\n", of.Name().c_str(), name, bytes,
                            static_cast<long long>(time.GetNanoSeconds()));
            };
            if (of.mode.GetModulationClass() == WIFI_MOD_CLASS_OFDM && bytes > 4095)
            {
                continue;
            }
            print(WIFI_PHY_BAND_5GHZ, "5");
            if (of.mode.GetModulationClass() == WIFI_MOD_CLASS_HT)
            {
                print(WIFI_PHY_BAND_2_4GHZ, "2.4");
            }
        }
    }
}

void
Successes(const char* name, Ptr<ErrorRateModel> model, bool ldpc, double step)
{
    for (auto& of : All(ldpc))
    {
        for (uint32_t bytes : {14u, 32u, 100u, 399u, 400u, 1458u, 1536u})
        {
            for (int i = 0; i * step <= 40; ++i)
            {
                double decibels = -5 + i * step;
                double snr = std::pow(10.0, decibels / 10);
                double success = model->GetChunkSuccessRate(of.mode, of.vector, snr, 8 * bytes);
                std::printf("success %s %s %.6g %u %.12g\n", name, of.Name().c_str(), decibels, bytes, success);
            }
        }
    }
}

void
Losses()
{
    auto a = CreateObject<ConstantPositionMobilityModel>();
    auto b = CreateObject<ConstantPositionMobilityModel>();
    auto friis = CreateObject<FriisPropagationLossModel>();
    friis->SetFrequency(5.18e9);
    auto ground = CreateObject<TwoRayGroundPropagationLossModel>();
    ground->SetFrequency(5.18e9);
    ground->SetHeightAboveZ(1.5);
    std::vector<std::pair<std::string, Ptr<PropagationLossModel>>> models{
        {"log-distance", CreateObject<LogDistancePropagationLossModel>()},
        {"friis", friis},
        {"two-ray", ground},
    };
    for (auto& [name, model] : models)
    {
        for (double metres : {1.0, 1.5, 10.0, 44.0, 50.0, 100.0, 221.0, 480.0, 500.0, 1000.0, 20000.0})
        {
            b->SetPosition(Vector(metres, 0, 0));
            std::printf("loss %s %g %.12g\n", name.c_str(), metres, -model->CalcRxPower(0, a, b));
        }
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    double step = 0.35;
    CommandLine command;
    command.AddValue("step", "SNR step in dB", step);
    command.Parse(argc, argv);
    Times();
    Losses();
    Successes("nist", CreateObject<NistErrorRateModel>(), false, step);
    Successes("yans", CreateObject<YansErrorRateModel>(), false, step);
    Successes("bcc", CreateObject<TableBasedErrorRateModel>(), false, step);
    Successes("ldpc", CreateObject<TableBasedErrorRateModel>(), true, step);
}
