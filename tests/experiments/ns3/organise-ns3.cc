/* SPDX-License-Identifier: GPL-2.0-only */
/* organise-ns3 SCENE SEED [organised]: twelve who talk, four behind each of three links,
 * in ns-3: what changes if one of each four mixes for the others (DPM, section 3.2).
 *
 * SCENE is "alone" (300 kbit/s) or "tcp" (600 kbit/s, and a CUBIC on each).  The rate sender,
 * what is sent apart, the grouping and the election are the library's; the network and TCP
 * are ns-3's.  Six are willing, two behind each link.  Who is asked answers, who is told goes,
 * after 200 ms.  Prints, of the last minute of four: voices apart at each, kbit/s of voices down
 * each link; and who moved, wrongly, until when. */
#include "bundle.h"

#include "fairmix/topology/fmx-mixer-election.h"
#include "fairmix/topology/fmx-shared-bottleneck.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <array>
#include <unistd.h>

using namespace ns3;

namespace
{

constexpr unsigned CLIENTS = 12;
constexpr unsigned LINKS = 3;
constexpr unsigned OUTSIDE = CLIENTS;
constexpr double END_S = 240;
constexpr double STEADY_S = 180;
constexpr double ANSWER_S = 0.2;
constexpr double STEP_S = 0.35;
constexpr uint16_t AUDIO_PORT = 5000;
constexpr uint16_t TCP_PORT = 6000;

unsigned
LinkOf(unsigned client)
{
    return client % LINKS;
}

FmxTime
FmxNow()
{
    return static_cast<FmxTime>(Simulator::Now().GetNanoSeconds());
}

/* Hosts, routers and the three links */
class Net
{
  public:
    Net(double rate_bps, bool tcp);

    Ptr<Node> mixer;
    std::array<Ptr<Node>, CLIENTS> clients;
    std::array<Ipv4Address, CLIENTS> addresses;
    std::array<uint64_t, LINKS> voice_bytes{};

  private:
    Ptr<Node> NewNode();
    NetDeviceContainer Cable(Ptr<Node> a, Ptr<Node> b, double bps, double delay_s);
    void AddTcp(unsigned link, Ptr<Node> near);
    static void OnPassed(Net* self, unsigned link, Ptr<const Packet> packet);

    Ptr<UniformRandomVariable> m_random{CreateObject<UniformRandomVariable>()};
    uint32_t m_net{0x0a000000};
};

Net::Net(double rate_bps, bool tcp)
{
    Ptr<Node> core = NewNode();

    mixer = NewNode();
    Cable(mixer, core, 1e9, 0.0001);
    for (unsigned link = 0; link < LINKS; link++)
    {
        Ptr<Node> near = NewNode();
        auto ends = Cable(core, near, rate_bps, m_random->GetValue(0.01, 0.04));

        DynamicCast<SimpleNetDevice>(ends.Get(0))
            ->GetQueue()
            ->TraceConnectWithoutContext("Dequeue",
                                         MakeBoundCallback(&Net::OnPassed, this, link));
        for (unsigned i = link; i < CLIENTS; i += LINKS)
        {
            clients[i] = NewNode();
            Cable(near, clients[i], 1e8, m_random->GetValue(0.0005, 0.005));
            addresses[i] = Ipv4Address(m_net - 2);
        }
        if (tcp)
        {
            AddTcp(link, near);
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
}

Ptr<Node>
Net::NewNode()
{
    InternetStackHelper stack;
    Ptr<Node> node = CreateObject<Node>();

    stack.SetIpv6StackInstall(false);
    stack.Install(node);
    return node;
}

/* A queue of 250 ms at either end */
NetDeviceContainer
Net::Cable(Ptr<Node> a, Ptr<Node> b, double bps, double delay_s)
{
    SimpleNetDeviceHelper helper;
    NodeContainer ends(a, b);

    helper.SetNetDevicePointToPointMode(true);
    helper.DisableFlowControl();
    helper.SetQueue("ns3::DropTailQueue<Packet>",
                    "MaxSize",
                    StringValue(std::to_string(static_cast<unsigned>(bps / 8 * 0.25)) + "B"));
    helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(bps))));
    helper.SetChannelAttribute("Delay", TimeValue(Seconds(delay_s)));

    NetDeviceContainer devices = helper.Install(ends);
    for (uint32_t k = 0; k < 2; k++)
    {
        Ptr<Ipv4> ip = ends.Get(k)->GetObject<Ipv4>();
        uint32_t i = ip->AddInterface(devices.Get(k));

        ip->AddAddress(i, Ipv4InterfaceAddress(Ipv4Address(m_net + 1 + k), Ipv4Mask("/30")));
        ip->SetMetric(i, 1);
        ip->SetUp(i);
    }
    m_net += 4;
    return devices;
}

void
Net::AddTcp(unsigned link, Ptr<Node> near)
{
    Ptr<Node> to = NewNode();

    Cable(near, to, 1e8, m_random->GetValue(0.0005, 0.005));
    InetSocketAddress address(Ipv4Address(m_net - 2), static_cast<uint16_t>(TCP_PORT + link));
    PacketSinkHelper sink("ns3::TcpSocketFactory", address);
    BulkSendHelper bulk("ns3::TcpSocketFactory", address);

    bulk.SetAttribute("SendSize", UintegerValue(14480));
    sink.Install(to).Start(Seconds(0));
    bulk.Install(mixer).Start(Seconds(m_random->GetValue(1, 6)));
}

/* static */
void
Net::OnPassed(Net* self, unsigned link, Ptr<const Packet> packet)
{
    Ipv4Header header;

    packet->PeekHeader(header);
    if (header.GetProtocol() == 17 && Simulator::Now().GetSeconds() >= STEADY_S)
    {
        self->voice_bytes[link] += packet->GetSize();
    }
}

/* The mixer's part: who is behind which link, and who is to go where */
class Organiser
{
  public:
    Organiser(Net* net, bool organised);

    void Print(const char* scene) const;

  private:
    void Step();
    void Arrive();
    void Organise();
    void Act();
    double CountVoices() const;

    Net* m_net;
    bool m_organised;
    std::array<Ptr<BundleSender>, CLIENTS> m_senders;
    FmxSharedBottleneck m_shared;
    std::array<FmxSharedFlow, CLIENTS> m_flows;
    std::array<FmxSharedPair, FMX_SHARED_BOTTLENECK_PAIRS(CLIENTS)> m_pairs;
    FmxMixerElection m_election;
    std::array<FmxElectionSeat, CLIENTS> m_seats;

    std::array<unsigned, CLIENTS> m_mixer; // OUTSIDE: the one outside
    std::array<unsigned, CLIENTS> m_to;    // is on its way there, or answers, ...
    std::array<FmxTime, CLIENTS> m_at;     // ... then; NONE: neither
    std::array<unsigned, CLIENTS> m_below{};
    unsigned m_wrong{0};
    double m_last_move_s{0};
    double m_voices{0};
    double m_looks{0};
};

BundleParams
VoicesOfOthers(const FmxElectionParams& election)
{
    BundleParams params{};

    params.strategy = "dpm";
    params.controller = "shortq";
    params.segment_bytes = 1460;
    params.streams = CLIENTS - 1;
    params.stream_bps = election.voice_bps;
    params.packet_s = 0.02;
    params.jitter_s = 0.003;
    params.mix.min_bitrate_bps = 6000;
    params.mix.max_bitrate_bps = 32000;
    params.mix.packet_time = 60 * FMX_MSECOND;
    params.mix.n_contributors = params.streams;
    params.mix.levels = true;
    params.min_bps = fmx_adapt_mix_wire_bps(&params.mix, params.mix.min_bitrate_bps);
    params.headroom = 0.05;
    return params;
}

Organiser::Organiser(Net* net, bool organised)
    : m_net(net),
      m_organised(organised)
{
    FmxSharedBottleneckParams shared;
    FmxElectionParams election;
    auto random = CreateObject<UniformRandomVariable>();

    fmx_shared_bottleneck_params_default(&shared);
    fmx_shared_bottleneck_init(&m_shared, &shared, m_flows.data(), m_pairs.data(), CLIENTS);
    fmx_election_params_default(&election);
    fmx_mixer_election_init(&m_election, &election, m_seats.data(), CLIENTS);
    m_mixer.fill(OUTSIDE);
    m_to.fill(OUTSIDE);
    m_at.fill(FMX_TIME_NONE);
    for (unsigned i = 0; i < CLIENTS; i++)
    {
        InetSocketAddress address(net->addresses[i], AUDIO_PORT);
        auto sink = CreateObject<BundleSink>(AUDIO_PORT);

        m_senders[i] = CreateObject<BundleSender>(VoicesOfOthers(election), address, nullptr);
        net->clients[i]->AddApplication(sink);
        net->mixer->AddApplication(m_senders[i]);
        m_senders[i]->SetStartTime(Seconds(random->GetValue(0, 5)));
    }
    Simulator::Schedule(Seconds(6), &Organiser::Step, this);
}

void
Organiser::Act()
{
    FmxElectionAction action;

    while (fmx_mixer_election_next_action(&m_election, &action, FmxNow()))
    {
        if (m_at[action.neighbour] == FMX_TIME_NONE)
        {
            m_at[action.neighbour] = FmxNow() + static_cast<FmxTime>(fmx_time_from_s(ANSWER_S));
            m_to[action.neighbour] =
                action.kind == FMX_ELECTION_MOVE ? action.mixer : OUTSIDE;
        }
    }
}

/* What was said has been heard. */
void
Organiser::Arrive()
{
    for (unsigned i = 0; i < CLIENTS; i++)
    {
        unsigned to = m_to[i];

        if (m_at[i] > FmxNow())
        {
            continue;
        }
        m_at[i] = FMX_TIME_NONE;
        if (to == OUTSIDE)
        {
            FmxElectionAnswer answer{true, m_below[i], 0};

            fmx_mixer_election_answered(&m_election, i, &answer, FmxNow());
            continue;
        }
        m_mixer[i] = to;
        m_below[to]++;
        m_wrong += LinkOf(i) != LinkOf(to);
        m_last_move_s = Simulator::Now().GetSeconds();
        m_senders[i]->Leave();
        fmx_mixer_election_remove(&m_election, i, true);
        fmx_shared_bottleneck_forget(&m_shared, i);
    }
}

void
Organiser::Organise()
{
    std::array<uint32_t, CLIENTS> groups;

    for (unsigned i = 0; i < CLIENTS; i++)
    {
        FmxRateSenderStats stats;
        FmxElectionNeighbour about{};

        groups[i] = fmx_shared_bottleneck_group(&m_shared, i);
        if (m_mixer[i] != OUTSIDE)
        {
            continue;
        }
        fmx_rate_sender_get_stats(m_senders[i]->Rate(), &stats, FmxNow());
        about.may_mix = i >= CLIENTS / 2;
        about.rtt = stats.rtt;
        about.target_bps = static_cast<double>(stats.target_bps);
        fmx_mixer_election_set(&m_election, i, &about);
    }
    fmx_mixer_election_update(&m_election, groups.data(), CLIENTS, FmxNow());
    Act();
}

/* That a client hears apart, in the mean */
double
Organiser::CountVoices() const
{
    FmxElectionParams params;
    double n = 0;

    fmx_election_params_default(&params);
    for (unsigned i = 0; i < CLIENTS; i++)
    {
        unsigned mixer = m_mixer[i] == OUTSIDE ? i : m_mixer[i];
        auto bps = static_cast<double>(fmx_rate_sender_target_bps(m_senders[mixer]->Rate()));
        double used;

        n += m_below[mixer] +
             fmx_election_voices(&params, bps, CLIENTS - 1 - m_below[mixer], &used);
    }
    return n / CLIENTS;
}

void
Organiser::Step()
{
    for (unsigned i = 0; i < CLIENTS; i++)
    {
        FmxDelayShapeStats shape;

        fmx_rate_sender_get_delay_shape(m_senders[i]->Rate(), &shape);
        fmx_shared_bottleneck_set(&m_shared, i, &shape);
    }
    fmx_shared_bottleneck_update(&m_shared);
    Arrive();
    if (m_organised)
    {
        Organise();
    }
    if (Simulator::Now().GetSeconds() >= STEADY_S)
    {
        m_voices += CountVoices();
        m_looks++;
    }
    Simulator::Schedule(Seconds(STEP_S), &Organiser::Step, this);
}

void
Organiser::Print(const char* scene) const
{
    unsigned moved = 0;
    double kbps = 0;

    for (unsigned i = 0; i < CLIENTS; i++)
    {
        moved += m_mixer[i] != OUTSIDE;
    }
    for (uint64_t bytes : m_net->voice_bytes)
    {
        kbps += static_cast<double>(bytes) * 8 / (END_S - STEADY_S) / 1e3 / LINKS;
    }
    printf("%s,%d,%.3f,%.1f,%u,%u,%.1f\n",
           scene, m_organised, m_voices / m_looks, kbps, moved, m_wrong, m_last_move_s);
}

} // namespace

int
main(int argc, char** argv)
{
    std::string scene = argc >= 3 ? argv[1] : "";

    if (scene != "alone" && scene != "tcp")
    {
        fprintf(stderr, "usage: organise-ns3 alone|tcp SEED [organised]\n");
        return 2;
    }
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(TypeId::LookupByName("ns3::TcpCubic")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    RngSeedManager::SetRun(strtoull(argv[2], nullptr, 10));

    Net net(scene == "tcp" ? 600e3 : 300e3, scene == "tcp");
    Organiser organiser(&net, argc > 3);

    Simulator::Stop(Seconds(END_S));
    Simulator::Run();
    organiser.Print(scene.c_str());
    fflush(stdout);
    _exit(0); // ns-3's own end is slow
}
