// One flow of ns-3 over one bottleneck: ns3 CONTROL RATE_MBPS RTT_MS QUEUE_PACKETS LOSS SECONDS [SEED]
// Prints one JSON line: what was delivered, sent again, and cwnd in segments each second.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace ns3;

namespace
{
constexpr uint32_t kSegment = 1460;
uint64_t g_received = 0;
uint64_t g_sent = 0;
uint64_t g_again = 0;
SequenceNumber32 g_highest;
double g_cwnd = 0;
std::vector<double> g_windows;

void
Received(Ptr<const Packet> packet, const Address&)
{
    g_received += packet->GetSize();
}

void
Sent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    if (packet->GetSize() == 0)
    {
        return;
    }
    ++g_sent;
    if (header.GetSequenceNumber() < g_highest)
    {
        ++g_again;
    }
    else
    {
        g_highest = header.GetSequenceNumber() + packet->GetSize();
    }
}

void
Cwnd(uint32_t, uint32_t now)
{
    g_cwnd = static_cast<double>(now) / kSegment;
}

void
Sample()
{
    g_windows.push_back(g_cwnd);
    Simulator::Schedule(Seconds(1), &Sample);
}
} // namespace

int
main(int argc, char* argv[])
{
    if (argc < 7 || argc > 8)
    {
        std::fprintf(stderr, "usage: ns3 TcpCubic|TcpBbr|... RATE_MBPS RTT_MS QUEUE_PACKETS LOSS SECONDS [SEED]\n");
        return 2;
    }
    const std::string control = std::string("ns3::") + argv[1];
    const double seconds = std::atof(argv[6]);
    RngSeedManager::SetRun(argc > 7 ? std::atoi(argv[7]) : 1);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(control)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(16000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(32000000));
    // Its TcpWestwood is the one of 2001 unless it is told.
    Config::SetDefault("ns3::TcpWestwood::ProtocolType", StringValue("WestwoodPlus"));
    // Slow start alone is the same in both then.
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));

    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    NodeContainer nodes;
    nodes.Create(2);
    stack.Install(nodes);
    PointToPointHelper helper;
    helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(std::string(argv[4]) + "p")));
    helper.SetChannelAttribute("Delay", TimeValue(MilliSeconds(std::atoi(argv[3]) / 2)));
    helper.SetDeviceAttribute("DataRate", StringValue(std::string(argv[2]) + "Mbps"));
    NetDeviceContainer devices = helper.Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    Ptr<RateErrorModel> loss = CreateObject<RateErrorModel>();
    loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    loss->SetRate(std::atof(argv[5]));
    devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(loss));

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001));
    sink.Install(nodes.Get(1)).Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), 5001));
    source.SetAttribute("SendSize", UintegerValue(100 * kSegment));
    ApplicationContainer sources = source.Install(nodes.Get(0));
    Ptr<BulkSendApplication> application = DynamicCast<BulkSendApplication>(sources.Get(0));
    Simulator::Schedule(NanoSeconds(1), [application] {
        application->GetSocket()->TraceConnectWithoutContext("Tx", MakeCallback(&Sent));
        application->GetSocket()->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Cwnd));
    });
    Simulator::Schedule(Seconds(1), &Sample);
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::printf("{\"goodput_bps\": %.0f, \"sent\": %llu, \"again\": %llu, \"cwnd\": [",
                static_cast<double>(g_received) * 8 / seconds,
                static_cast<unsigned long long>(g_sent),
                static_cast<unsigned long long>(g_again));
    for (size_t i = 0; i < g_windows.size(); ++i)
    {
        std::printf("%s%.1f", i == 0 ? "" : ", ", g_windows[i]);
    }
    std::printf("]}\n");
    std::fflush(stdout);
    std::_Exit(0);
}
