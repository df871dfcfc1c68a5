/* SPDX-License-Identifier: GPL-2.0-only */
/* als-layers-ns3 SEED [paper | ours]: ALS in layers for unequal receivers (ALS figures 7 to
 * 9), with the very objects that alsrtcp and alsrouter use: branches of 1, 3 and 2 Mbit/s,
 * nine of ns-3's Reno on each; receiver 0 joins at 100 s.
 *
 * `ours` has max-min routers, no increase, reports each 0.2 s and early ones.  A layer's
 * packets go to the branches whose receiver holds it; reports take no way.  Prints lines
 * as test-als-layers does. */
#include "fairmix/als/fmx-als-receiver.h"
#include "fairmix/als/fmx-als-router.h"
#include "fairmix/als/fmx-als-sender.h"
#include "fairmix/asmp/fmx-asmp-loss.h"

#include "wires.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace
{

constexpr uint32_t PACKET_BYTES = 500;
constexpr uint32_t HEADER_BYTES = 28;
constexpr uint32_t SEGMENT_BYTES = 512;
constexpr uint32_t PLACES = 64;
constexpr unsigned N_BRANCHES = 3;
constexpr unsigned N_LAYERS = 3;
constexpr unsigned N_TCP = 9;
constexpr std::array<double, N_BRANCHES> CAPACITY_BPS{1e6, 3e6, 2e6};
constexpr double JOIN_S = 100;
constexpr double LENGTH_S = 150;
constexpr Red BUFFER{0.4, 0.76, 0.8};

struct Phase
{
    const char* name;
    size_t from_s;
    size_t until_s;
};

/* as write_als.py has them for real pipelines */
constexpr std::array<Phase, 2> PHASES{{{"before", 50, 100}, {"after", 115, 150}}};

bool ours;

FmxTime
Now()
{
    return static_cast<FmxTime>(Simulator::Now().GetNanoSeconds());
}

/* What a packet begins with */
struct Head
{
    uint16_t seq;
    uint16_t layer;
};

/* A branch: the router before it, the receiver behind it */
class Branch
{
  public:
    Branch(Ptr<Node> hub, unsigned index)
        : m_hub(hub),
          m_far(NewNode()),
          m_index(index)
    {
        FmxAlsRouterParams params;

        fmx_als_router_params_default(&params);
        params.bandwidth_bps = static_cast<uint64_t>(CAPACITY_BPS[index]);
        if (ours)
        {
            params.rule = FMX_ALS_ROUTER_MAX_MIN;
            params.target_utilisation = 0.995;
        }
        fmx_als_router_init(&m_router, &params, m_slots, m_connections, PLACES, 1, 0);
        fmx_als_receiver_init(&m_receiver);
        fmx_asmp_loss_init(&m_loss);
        m_address = Cable(hub, m_far, CAPACITY_BPS[index], 0.0095, BUFFER);
        m_in = Socket::CreateSocket(m_far, UdpSocketFactory::GetTypeId());
        m_in->Bind(InetSocketAddress(Ipv4Address::GetAny(), 5004));
        m_in->SetRecvCallback(MakeCallback(&Branch::OnPacket, this));
        m_out = Socket::CreateSocket(hub, UdpSocketFactory::GetTypeId());
        m_out->Bind();
        m_out->Connect(InetSocketAddress(m_address, 5004));
        for (unsigned k = 0; k < N_TCP; k++)
        {
            Ptr<Node> host = NewNode();

            Cable(host, hub, 1e9, 0.0005, NO_RED);
            m_tcps.push_back(std::make_unique<Tcp>(host, m_far, m_address, 6000 + k));
            m_tcps.back()->sending.Start(Seconds(0.1 * k));
        }
    }

    void Join()
    {
        m_held = 1;
    }

    bool IsThere() const
    {
        return m_held > 0;
    }

    /* A TCP's packet from its host to this branch */
    void OnForwarded(const Ipv4Header& header, uint32_t bytes)
    {
        if (header.GetDestination() == m_address)
        {
            fmx_als_router_on_packet(&m_router, header.GetSource().Get(), bytes, Now());
        }
    }

    void Send(const Head& head)
    {
        uint8_t payload[PACKET_BYTES - HEADER_BYTES]{};

        if (head.layer >= m_held)
        {
            return;
        }
        memcpy(payload, &head, sizeof head);
        fmx_als_router_on_packet(&m_router, 0, PACKET_BYTES, Now());
        m_out->Send(Create<Packet>(payload, sizeof payload));
    }

    void OnRequest(FmxAlsShare request, const FmxAlsLayer* layers)
    {
        uint8_t data[FMX_ALS_SHARE_BYTES];

        fmx_als_share_write(&request, data, sizeof data);
        fmx_als_router_on_request(&m_router, 0, Now());
        fmx_als_request_cut(data,
                            sizeof data,
                            fmx_als_router_get_share_bps(&m_router, Now()),
                            fmx_als_router_get_utilisation(&m_router, Now()));
        fmx_als_share_read(&request, data, sizeof data);
        fmx_als_receiver_on_request(&m_receiver, &request, 1, Now());
        fmx_als_receiver_on_layers(&m_receiver, layers, N_LAYERS, Now());
        m_held = fmx_als_receiver_get_n_layers(&m_receiver, Now());
    }

    bool TakeUrgent()
    {
        return ours && fmx_als_receiver_take_urgent(&m_receiver);
    }

    bool GetReport(FmxAlsReport* report)
    {
        FmxAlsShare share;
        double lost;

        *report = FmxAlsReport{};
        report->ssrc = m_index + 1;
        if (fmx_asmp_loss_report(&m_loss, &lost))
        {
            report->loss = std::floor(std::fmin(255, 256 * lost)) / 256;
        }
        if (!fmx_als_receiver_get_return(&m_receiver, &share, Now()))
        {
            return false;
        }
        report->share_bps = share.share_bps;
        report->utilisation = share.utilisation;
        report->answered = share.answered;
        return true;
    }

    unsigned GetHeld() const
    {
        return m_held;
    }

    void Print(const Phase& phase, double held) const
    {
        double tcp = 0;

        for (const auto& flow : m_tcps)
        {
            tcp += flow->bins.Mean(phase.from_s, phase.until_s) / N_TCP;
        }
        printf(" %.0f kbit/s, %.2f layers, a TCP %.0f;",
               m_received.Mean(phase.from_s, phase.until_s),
               held,
               tcp);
    }

  private:
    void OnPacket(Ptr<Socket> socket)
    {
        while (Ptr<Packet> packet = socket->Recv())
        {
            Head head;

            packet->CopyData(reinterpret_cast<uint8_t*>(&head), sizeof head);
            m_received.Add(PACKET_BYTES);
            if (head.layer == 0)
            {
                fmx_asmp_loss_on_packet(&m_loss, head.seq);
            }
        }
    }

    Ptr<Node> m_hub, m_far;
    unsigned m_index;
    unsigned m_held{0};
    Ipv4Address m_address;
    Ptr<Socket> m_in, m_out;
    std::vector<std::unique_ptr<Tcp>> m_tcps;
    Bins m_received;
    FmxAlsRouter m_router;
    FmxAgingSlot m_slots[PLACES];
    FmxAlsConnection m_connections[PLACES];
    FmxAlsReceiver m_receiver;
    FmxAsmpLoss m_loss;
};

class Session
{
  public:
    Session()
        : m_hub(NewNode())
    {
        FmxAlsSenderParams params;

        for (unsigned i = 0; i < N_BRANCHES; i++)
        {
            m_branches.push_back(std::make_unique<Branch>(m_hub, i));
        }
        fmx_als_sender_params_default(&params);
        params.wish_bps = 3000000;
        params.n_layers = N_LAYERS;
        params.memory = 15 * FMX_SECOND;
        if (ours)
        {
            params.interval = 200 * FMX_MSECOND;
            params.increase_bps = 0;
        }
        fmx_als_sender_init(&m_sender, &params, m_slots, m_receivers, PLACES, 1, 0);
        m_hub->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
            "Rx", MakeCallback(&Session::OnForwarded, this));
    }

    void Run()
    {
        for (unsigned i = 0; i < N_BRANCHES; i++)
        {
            Simulator::Schedule(Seconds(i == 0 ? JOIN_S : 0), &Session::Join, this, i);
        }
        for (unsigned layer = 0; layer < N_LAYERS; layer++)
        {
            Simulator::Schedule(Seconds(0), &Session::SendMedia, this, layer);
        }
        Simulator::Schedule(NextReport(), &Session::Request, this);
        Simulator::Schedule(Seconds(0.1), &Session::Tick, this);
        Simulator::Schedule(Seconds(1), &Session::Sample, this);
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        Simulator::Stop(Seconds(LENGTH_S));
        Simulator::Run();
    }

    void Print() const
    {
        for (const Phase& phase : PHASES)
        {
            printf("# %s, ns-3, %s: base %.0f, others %.0f kbit/s; receivers 0, 1, 2:",
                   ours ? "ours" : "paper",
                   phase.name,
                   m_rates[0].Mean(phase.from_s, phase.until_s),
                   m_rates[1].Mean(phase.from_s, phase.until_s));
            for (unsigned i = 0; i < N_BRANCHES; i++)
            {
                m_branches[i]->Print(phase, m_held[i].Mean(phase.from_s, phase.until_s));
            }
            printf("\n");
        }
    }

  private:
    /* RTCP's: half to one and a half of it */
    Time NextReport()
    {
        return Seconds((ours ? 0.2 : 5) * m_random->GetValue(0.5, 1.5));
    }

    void OnForwarded(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
    {
        Ipv4Header header;

        packet->PeekHeader(header);
        for (auto& branch : m_branches)
        {
            branch->OnForwarded(header, packet->GetSize());
        }
    }

    void Join(unsigned i)
    {
        m_branches[i]->Join();
        m_reports[i] = Simulator::Schedule(NextReport(), &Session::Report, this, i);
    }

    void SendMedia(unsigned layer)
    {
        double bps = fmx_als_sender_get_rate_bps(&m_sender, layer);

        if (!(bps > 0))
        {
            Simulator::Schedule(MilliSeconds(100), &Session::SendMedia, this, layer);
            return;
        }
        for (auto& branch : m_branches)
        {
            branch->Send(Head{m_seq[layer], static_cast<uint16_t>(layer)});
        }
        m_seq[layer]++;
        Simulator::Schedule(Seconds(PACKET_BYTES * 8 / bps * m_random->GetValue(0.9, 1.1)),
                            &Session::SendMedia,
                            this,
                            layer);
    }

    /* The layers' places as they are announced: 239.1.2.k */
    void Announce(FmxAlsLayer* layers) const
    {
        constexpr uint8_t group[]{0xff, 0xff, 239, 1, 2};

        for (unsigned k = 0; k < N_LAYERS; k++)
        {
            layers[k] = FmxAlsLayer{};
            layers[k].size_bps = fmx_als_sender_get_size_bps(&m_sender, k);
            memcpy(&layers[k].address[10], group, sizeof group);
            layers[k].address[15] = static_cast<uint8_t>(k);
            layers[k].port = static_cast<uint16_t>(5004 + 2 * k);
        }
    }

    void Request()
    {
        FmxAlsLayer layers[N_LAYERS];
        FmxAlsShare request;

        Announce(layers);
        fmx_als_sender_get_request(&m_sender, &request);
        for (unsigned i = 0; i < N_BRANCHES; i++)
        {
            if (!m_branches[i]->IsThere())
            {
                continue;
            }
            m_branches[i]->OnRequest(request, layers);
            if (m_branches[i]->TakeUrgent())
            {
                m_reports[i].Cancel();
                m_reports[i] = Simulator::ScheduleNow(&Session::Report, this, i);
            }
        }
        Simulator::Schedule(NextReport(), &Session::Request, this);
    }

    void Report(unsigned i)
    {
        FmxAlsReport report;

        if (m_branches[i]->GetReport(&report))
        {
            fmx_als_sender_on_report(&m_sender, &report, Now());
        }
        m_reports[i] = Simulator::Schedule(NextReport(), &Session::Report, this, i);
    }

    void Tick()
    {
        if (Now() >= fmx_als_sender_next_timeout(&m_sender))
        {
            fmx_als_sender_on_timeout(&m_sender, Now());
        }
        Simulator::Schedule(MilliSeconds(10), &Session::Tick, this);
    }

    /* Once a second: what is sent, and who holds how many layers */
    void Sample()
    {
        for (unsigned layer = 0; layer < N_LAYERS; layer++)
        {
            m_rates[layer].kbit.resize(static_cast<size_t>(Simulator::Now().GetSeconds()));
            m_rates[layer].kbit.push_back(fmx_als_sender_get_rate_bps(&m_sender, layer) / 1e3);
        }
        for (unsigned i = 0; i < N_BRANCHES; i++)
        {
            m_held[i].kbit.resize(static_cast<size_t>(Simulator::Now().GetSeconds()));
            m_held[i].kbit.push_back(m_branches[i]->GetHeld());
        }
        Simulator::Schedule(Seconds(1), &Session::Sample, this);
    }

    Ptr<Node> m_hub;
    std::vector<std::unique_ptr<Branch>> m_branches;
    Ptr<UniformRandomVariable> m_random{CreateObject<UniformRandomVariable>()};
    FmxAlsSender m_sender;
    FmxAgingSlot m_slots[PLACES];
    FmxAlsSenderReceiver m_receivers[PLACES];
    std::array<uint16_t, N_LAYERS> m_seq{};
    std::array<EventId, N_BRANCHES> m_reports;
    std::array<Bins, N_LAYERS> m_rates;
    std::array<Bins, N_BRANCHES> m_held; /* not kbit, but layers */
};

} // namespace

int
main(int argc, char** argv)
{
    if (argc < 2)
    {
        fprintf(stderr, "usage: als-layers-ns3 SEED [paper | ours]\n");
        return 2;
    }
    ours = argc == 3 && std::string(argv[2]) == "ours";
    g_segment = SEGMENT_BYTES;
    ConfigureTcp();
    RngSeedManager::SetRun(strtoull(argv[1], nullptr, 10));

    Session session;
    session.Run();
    session.Print();
    fflush(stdout);
    _exit(0); // ns-3's own end is slow
}
