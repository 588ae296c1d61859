// The dumbbells of the benchmark in htsim (Broadcom/csg-htsim): bench dumbbell-N [simulated seconds]
// Prints one JSON line. What differs from bench/scenarios/dumbbell-*.toml, because htsim has no other:
// - Its TCP is NewReno without SACK, and looks every 10 ms whether a timer of at least 250 ms is over.
// - Ssthresh begins at a flow's share of path and buffer: without SACK, the losses of an unbounded slow start take the
//   whole run to repair, and ten flows then send a tenth of the segments.
// - Packets have no headers: segments of 1500 bytes stand for 1460 of payload and 40 of headers.
// - Queues are measured in bytes, the packet in service included.
// - It has no receive window; the sender's largest cwnd stands for it.

#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace
{
constexpr int kPacket = 1500;
constexpr int kPayload = 1460;
// 8 MB of payload.
constexpr uint32_t kWindow = 5479;
// In packets, as much as the path holds.
constexpr int64_t kBuffer = 4166;
constexpr int64_t kUnlimited = 1000000;

// One direction of a link: a drop-tail queue of `packets`, and a pipe.
class Link
{
  public:
    Link(EventList& events, double gigabits, int milliseconds, int64_t packets)
        : m_queue(speedFromGbps(gigabits), packets * kPacket, events, nullptr),
          m_pipe(timeFromMs(milliseconds), events)
    {
    }

    void AddTo(Route& route)
    {
        route.push_back(&m_queue);
        route.push_back(&m_pipe);
    }

  private:
    Queue m_queue;
    Pipe m_pipe;
};

// A sender that remembers how far it once was: htsim's own goes back after a timeout.
class Sender : public TcpSrc
{
  public:
    Sender(EventList& events, uint32_t ssthresh)
        : TcpSrc(nullptr, nullptr, events)
    {
        _cwnd = 2 * kPacket;
        _maxcwnd = kWindow * kPacket;
        _ssthresh = ssthresh * kPacket;
    }

    // Called at the start and after a timeout.
    void doNextEvent() override
    {
        m_highest = Highest();
        TcpSrc::doNextEvent();
    }

    uint64_t Segments() const
    {
        return _packets_sent / kPacket;
    }

    uint64_t Retransmissions() const
    {
        return Segments() - std::min(Segments(), Highest() / kPacket);
    }

  private:
    uint64_t Highest() const
    {
        return std::max(m_highest, _highest_sent);
    }

    uint64_t m_highest = 0;
};

// A connection, and the links and routes that are its alone.
struct Connection
{
    Connection(EventList& events, Link& there, Link& back, uint32_t ssthresh)
        : sender(events, ssthresh),
          near(events, 10, 1, kUnlimited),
          nearBack(events, 10, 1, kUnlimited),
          far(events, 10, 1, kUnlimited),
          farBack(events, 10, 1, kUnlimited)
    {
        near.AddTo(out);
        there.AddTo(out);
        far.AddTo(out);
        out.push_back(&sink);
        farBack.AddTo(in);
        back.AddTo(in);
        nearBack.AddTo(in);
        in.push_back(&sender);
    }

    Sender sender;
    TcpSink sink;
    Link near;
    Link nearBack;
    Link far;
    Link farBack;
    Route out;
    Route in;
};

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
} // namespace

int
main(int argc, char* argv[])
{
    const std::string scenario = argc > 1 ? argv[1] : "";
    const int count = scenario.rfind("dumbbell-", 0) == 0 ? std::atoi(scenario.c_str() + 9) : 0;
    if (count < 1)
    {
        std::fprintf(stderr, "usage: bench dumbbell-N [simulated seconds]\n");
        return 2;
    }
    const double length = argc > 2 ? std::atof(argv[2]) : 10;
    const auto began = std::chrono::steady_clock::now();
    // It reports every timeout there.
    std::cout.setstate(std::ios::failbit);

    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(length));
    Packet::set_packet_size(kPacket);
    Link there(events, 1, 23, kBuffer);
    Link back(events, 1, 23, kBuffer);
    TcpRtxTimerScanner timers(timeFromMs(10), events);
    const uint32_t share = std::max<int64_t>(2, 2 * kBuffer / count);
    std::vector<std::unique_ptr<Connection>> connections;
    for (int i = 0; i < count; ++i)
    {
        connections.push_back(std::make_unique<Connection>(events, there, back, share));
        Connection& made = *connections.back();
        timers.registerTcp(made.sender);
        made.sender.connect(made.out, made.in, made.sink, timeFromMs(i));
    }
    while (events.doNextEvent())
    {
    }

    uint64_t segments = 0;
    uint64_t retransmissions = 0;
    uint64_t delivered = 0;
    for (const auto& connection : connections)
    {
        segments += connection->sender.Segments();
        retransmissions += connection->sender.Retransmissions();
        delivered += connection->sink._cumulative_ack / kPacket * kPayload;
    }
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    std::printf("{\"simulator\": \"htsim\", \"scenario\": \"%s\", \"data_segments\": %llu, \"bytes_delivered\": %llu, "
                "\"finish_s\": %.6f, \"wall_s\": %.3f, \"retransmissions\": %llu, \"peak_bytes\": %llu}\n",
                scenario.c_str(),
                static_cast<unsigned long long>(segments),
                static_cast<unsigned long long>(delivered),
                timeAsSec(events.now()),
                wall,
                static_cast<unsigned long long>(retransmissions),
                static_cast<unsigned long long>(PeakBytes()));
    std::fflush(stdout);
    // The network is not taken down: its destruction is not simulation, and would count as such.
    std::_Exit(0);
}
