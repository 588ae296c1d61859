// The four benchmark scenarios in ns-3: bench SCENARIO [bytes or simulated seconds]
// Prints one JSON line. ns-3 is set up as fast as it goes: static routes (nix vectors take minutes and gigabytes for 2000
// nodes), no queue disc above the devices, no traces but one counter of data segments.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

using namespace ns3;

namespace
{
constexpr uint32_t kSegment = 1460;
// 8 MB, which fills every path here but the one of `geo`.
constexpr uint32_t kFull = 5479;
constexpr uint16_t kPort = 5001;

// What the application writes at once: a large piece is cheaper than many, and has to fit the send buffer.
uint32_t g_write = kSegment;
uint64_t g_dataSegments = 0;
uint64_t g_retransmissions = 0;
double g_lastByte = 0;
uint64_t g_expected = 0;
uint64_t g_received = 0;
std::map<const TcpSocketBase*, SequenceNumber32> g_highest;

void
Sent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase> socket)
{
    if (packet->GetSize() == 0)
    {
        return;
    }
    ++g_dataSegments;
    auto [entry, isNew] = g_highest.try_emplace(PeekPointer(socket), header.GetSequenceNumber());
    if (!isNew)
    {
        if (header.GetSequenceNumber() <= entry->second)
        {
            ++g_retransmissions;
        }
        else
        {
            entry->second = header.GetSequenceNumber();
        }
    }
}

void
Received(Ptr<const Packet> packet, const Address&)
{
    g_received += packet->GetSize();
    if (g_expected != 0 && g_received >= g_expected)
    {
        g_lastByte = Simulator::Now().GetSeconds();
        g_expected = 0;
    }
}

// The most memory that this process has held.
uint64_t
PeakBytes()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    uint64_t kilobytes = 0;
    while (status >> word)
    {
        if (word == "VmHWM:")
        {
            status >> kilobytes;
        }
    }
    return kilobytes * 1024;
}

// A link; `rate` from `a` to `b`, `back` from `b` to `a`; drop-tail queues of `packets`.
NetDeviceContainer
Link(Ptr<Node> a, Ptr<Node> b, const char* rate, const char* back, const char* delay, uint32_t packets)
{
    PointToPointHelper helper;
    helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, packets)));
    helper.SetChannelAttribute("Delay", StringValue(delay));
    helper.SetDeviceAttribute("DataRate", StringValue(rate));
    NetDeviceContainer devices = helper.Install(a, b);
    devices.Get(1)->SetAttribute("DataRate", StringValue(back));
    return devices;
}

Ipv4InterfaceContainer
Address_(Ipv4AddressHelper& addresses, const NetDeviceContainer& devices)
{
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    addresses.NewNetwork();
    TrafficControlHelper().Uninstall(devices);
    return interfaces;
}

// `node` sends what it knows no better way for to `gateway`.
void
DefaultRoute(Ptr<Node> node, Ipv4Address gateway)
{
    Ipv4StaticRoutingHelper().GetStaticRouting(node->GetObject<Ipv4>())->SetDefaultRoute(gateway, 1);
}

// A bulk flow of `bytes` (0: without end) from `from` to `to`, which has the address `address`.
void
Flow(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint64_t bytes, Time start)
{
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), kPort));
    ApplicationContainer sinks = sink.Install(to);
    sinks.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(address, kPort));
    source.SetAttribute("MaxBytes", UintegerValue(bytes));
    source.SetAttribute("SendSize", UintegerValue(g_write));
    ApplicationContainer sources = source.Install(from);
    sources.Start(start);
    Ptr<BulkSendApplication> application = DynamicCast<BulkSendApplication>(sources.Get(0));
    // The socket exists once the application has started.
    Simulator::Schedule(start + NanoSeconds(1), [application] {
        application->GetSocket()->TraceConnectWithoutContext("Tx", MakeCallback(&Sent));
    });
}

void
Window(uint32_t segments)
{
    // ns-3.37 crashes when a receive window binds under loss with SACK, so the send buffer imposes the window.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(segments * kSegment));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(2 * segments * kSegment));
    g_write = segments < 100 ? kSegment : 100 * kSegment;
}
} // namespace

int
main(int argc, char* argv[])
{
    if (argc < 2)
    {
        std::fprintf(stderr, "usage: bench geo|geo-fast|dumbbell-N [bytes for geo, simulated seconds for the others]\n");
        return 2;
    }
    const auto began = std::chrono::steady_clock::now();
    const std::string scenario = argv[1];
    const double length = argc > 2 ? std::atof(argv[2]) : 0;

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));

    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    // What is left of the bottleneck, with it, and what is right of it: a router needs one route to the other side.
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    Ipv4AddressHelper far("10.1.0.0", "255.255.255.252");
    NodeContainer nodes;

    if (scenario == "geo" || scenario == "geo-fast")
    {
        const bool fast = scenario == "geo-fast";
        Window(fast ? kFull : 44);
        nodes.Create(3);
        stack.Install(nodes);
        const char* access = fast ? "1Gbps" : "10Mbps";
        Ipv4InterfaceContainer first =
            Address_(addresses, Link(nodes.Get(0), nodes.Get(1), access, access, fast ? "1ms" : "10ms", 1000000));
        NetDeviceContainer satellite = Link(nodes.Get(1),
                                            nodes.Get(2),
                                            fast ? "100Mbps" : "2.048Mbps",
                                            fast ? "100Mbps" : "256kbps",
                                            "250ms",
                                            1000000);
        Ipv4InterfaceContainer interfaces = Address_(addresses, satellite);
        DefaultRoute(nodes.Get(0), first.GetAddress(1));
        DefaultRoute(nodes.Get(2), interfaces.GetAddress(0));
        if (fast)
        {
            Ptr<RateErrorModel> loss = CreateObject<RateErrorModel>();
            loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
            loss->SetRate(1e-5);
            satellite.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(loss));
            Simulator::Stop(Seconds(length > 0 ? length : 600));
        }
        else
        {
            g_expected = length > 0 ? static_cast<uint64_t>(length) : 50000000;
        }
        Flow(nodes.Get(0), nodes.Get(2), interfaces.GetAddress(1), g_expected, Seconds(0));
        Simulator::Run();
    }
    else if (scenario.rfind("dumbbell-", 0) == 0)
    {
        const uint32_t count = std::atoi(scenario.c_str() + 9);
        Window(kFull);
        nodes.Create(2 + 2 * count);
        stack.Install(nodes);
        Ipv4InterfaceContainer middle =
            Address_(addresses, Link(nodes.Get(0), nodes.Get(1), "1Gbps", "1Gbps", "23ms", 4166));
        DefaultRoute(nodes.Get(0), middle.GetAddress(1));
        DefaultRoute(nodes.Get(1), middle.GetAddress(0));
        for (uint32_t i = 0; i < count; ++i)
        {
            Ptr<Node> sender = nodes.Get(2 + 2 * i);
            Ptr<Node> receiver = nodes.Get(3 + 2 * i);
            Ipv4InterfaceContainer near =
                Address_(addresses, Link(sender, nodes.Get(0), "10Gbps", "10Gbps", "1ms", 1000000));
            Ipv4InterfaceContainer interfaces =
                Address_(far, Link(nodes.Get(1), receiver, "10Gbps", "10Gbps", "1ms", 1000000));
            DefaultRoute(sender, near.GetAddress(1));
            DefaultRoute(receiver, interfaces.GetAddress(0));
            Flow(sender, receiver, interfaces.GetAddress(1), 0, MilliSeconds(i));
        }
        Simulator::Stop(Seconds(length > 0 ? length : 10));
        Simulator::Run();
    }
    else
    {
        std::fprintf(stderr, "no such scenario: %s\n", scenario.c_str());
        return 2;
    }

    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const double finish = g_lastByte > 0 ? g_lastByte : Simulator::Now().GetSeconds();
    std::printf("{\"simulator\": \"ns-3\", \"scenario\": \"%s\", \"data_segments\": %llu, \"bytes_delivered\": %llu, "
                "\"finish_s\": %.6f, \"wall_s\": %.3f, \"retransmissions\": %llu, \"peak_bytes\": %llu}\n",
                scenario.c_str(),
                static_cast<unsigned long long>(g_dataSegments),
                static_cast<unsigned long long>(g_received),
                finish,
                wall,
                static_cast<unsigned long long>(g_retransmissions),
                static_cast<unsigned long long>(PeakBytes()));
    std::fflush(stdout);
    // The network is not taken down: its destruction is not simulation, and would count as such.
    std::_Exit(0);
}
