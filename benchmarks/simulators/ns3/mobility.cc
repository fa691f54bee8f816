// Positions of ns-3's nodes: Gauss-Markov in 400 m x 400 m x 100 m, or stationary random waypoint in 400 m x 300 m. MIT
// licence, as the rest of lightlag.
//
// Prints one JSON object at each of 100, 200 and 400 s: the mean squares of the positions relative to the centre and of
// the climb rate, the mean speed of the moving nodes, and the fractions of nodes that pause or are within 40 m of a
// wall in x.

#include "ns3/core-module.h"
#include "ns3/mobility-module.h"

#include <cmath>
#include <iostream>

using namespace ns3;

namespace
{

void
Report(NodeContainer nodes, Vector middle)
{
    double x = 0, y = 0, z = 0, climb = 0, speeds = 0, edge = 0, paused = 0;
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        auto model = (*node)->GetObject<MobilityModel>();
        Vector place = model->GetPosition();
        Vector velocity = model->GetVelocity();
        double speed = std::sqrt(velocity.x * velocity.x + velocity.y * velocity.y + velocity.z * velocity.z);
        x += std::pow(place.x - middle.x, 2);
        y += std::pow(place.y - middle.y, 2);
        z += std::pow(place.z - middle.z, 2);
        climb += velocity.z * velocity.z;
        speeds += speed;
        paused += speed == 0;
        edge += std::abs(place.x - middle.x) > 160;
    }
    double n = nodes.GetN();
    std::cout << "{\"time_s\": " << Simulator::Now().GetSeconds() << ", \"x2_m2\": " << x / n << ", \"y2_m2\": " << y / n
              << ", \"z2_m2\": " << z / n << ", \"climb2\": " << climb / n << ", \"moving_speed\": " << speeds / (n - paused)
              << ", \"paused\": " << paused / n << ", \"edge\": " << edge / n << "}" << std::endl;
}

} // namespace

int
main(int argc, char** argv)
{
    std::string model = "gauss-markov";
    uint32_t count = 10000;
    uint32_t seed = 1;
    CommandLine command;
    command.AddValue("model", "gauss-markov or random-waypoint", model);
    command.AddValue("nodes", "number of nodes", count);
    command.AddValue("seed", "run number", seed);
    command.Parse(argc, argv);
    RngSeedManager::SetRun(seed);

    NodeContainer nodes(count);
    MobilityHelper mobility;
    Vector middle(200, 200, 50);
    if (model == "gauss-markov")
    {
        auto uniform = [](double most) {
            return StringValue("ns3::UniformRandomVariable[Min=0|Max=" + std::to_string(most) + "]");
        };
        mobility.SetPositionAllocator("ns3::RandomBoxPositionAllocator",
                                      "X", uniform(400), "Y", uniform(400), "Z", uniform(100));
        mobility.SetMobilityModel(
            "ns3::GaussMarkovMobilityModel",
            "Bounds", BoxValue(Box(0, 400, 0, 400, 0, 100)),
            "TimeStep", TimeValue(Seconds(0.5)),
            "Alpha", DoubleValue(0.85),
            "MeanVelocity", StringValue("ns3::UniformRandomVariable[Min=10|Max=20]"),
            "MeanDirection", StringValue("ns3::UniformRandomVariable[Min=0|Max=6.283185307]"),
            "MeanPitch", StringValue("ns3::ConstantRandomVariable[Constant=0]"),
            "NormalVelocity", StringValue("ns3::NormalRandomVariable[Mean=0|Variance=0|Bound=0]"),
            "NormalDirection", StringValue("ns3::NormalRandomVariable[Mean=0|Variance=0.2|Bound=10]"),
            "NormalPitch", StringValue("ns3::NormalRandomVariable[Mean=0|Variance=0.02|Bound=10]"));
    }
    else
    {
        middle = Vector(200, 150, 0);
        mobility.SetMobilityModel(
            "ns3::SteadyStateRandomWaypointMobilityModel",
            "MinSpeed", DoubleValue(1), "MaxSpeed", DoubleValue(20),
            "MinPause", DoubleValue(5), "MaxPause", DoubleValue(35),
            "MinX", DoubleValue(0), "MaxX", DoubleValue(400), "MinY", DoubleValue(0), "MaxY", DoubleValue(300));
    }
    mobility.Install(nodes);
    for (double time : {100.0, 200.0, 400.0})
    {
        Simulator::Schedule(Seconds(time), &Report, nodes, middle);
    }
    Simulator::Stop(Seconds(401));
    Simulator::Run();
    Simulator::Destroy();
}
