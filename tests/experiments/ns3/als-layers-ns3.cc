/* SPDX-License-Identifier: GPL-2.0-only */
/* als-layers-ns3 SEED [paper | ours]: ALS in layers for unequal receivers (ALS figures 7 to
 * 9), with the very objects that alsrtcp and alsrouter use: branches of 1, 3 and 2 Mbit/s,
 * nine of ns-3's Reno on each; receiver 0 joins at 100 s.
 *
 * `ours` has max-min routers, no increase, reports each 0.2 s and early ones.  A layer's
 * packets go to the branches whose receiver holds it; reports take no way.  Prints lines
 * as test-als-layers does. */
#include "als-branch.h"

#include <cstdio>
#include <unistd.h>

namespace
{

constexpr unsigned N_BRANCHES = 3;
constexpr unsigned N_LAYERS = 3;
constexpr std::array<double, N_BRANCHES> CAPACITY_BPS{1e6, 3e6, 2e6};
constexpr double JOIN_S = 100;
constexpr double LENGTH_S = 150;
constexpr double MEMORY_S = 15;

struct Phase
{
    const char* name;
    size_t from_s;
    size_t until_s;
};

/* as write_als.py has them for real pipelines */
constexpr std::array<Phase, 2> PHASES{{{"before", 50, 100}, {"after", 115, 150}}};

class Session
{
  public:
    explicit Session(const Rule& rule)
        : m_rule(rule),
          m_hub(NewNode())
    {
        FmxAlsSenderParams params;

        for (double bps : CAPACITY_BPS)
        {
            m_branches.push_back(std::make_unique<Branch>(rule, m_hub, bps));
        }
        fmx_als_sender_params_default(&params);
        params.wish_bps = 3000000;
        params.n_layers = N_LAYERS;
        params.memory = fmx_time_from_s(MEMORY_S);
        params.interval = fmx_time_from_s(rule.adaptation_s);
        params.increase_bps = rule.increase_bps;
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
        Simulator::Schedule(NextReport(m_rule, m_random), &Session::Request, this);
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
                   m_rule.early ? "ours" : "paper",
                   phase.name,
                   m_rates[0].Mean(phase.from_s, phase.until_s),
                   m_rates[1].Mean(phase.from_s, phase.until_s));
            for (unsigned i = 0; i < N_BRANCHES; i++)
            {
                printf(" %.0f kbit/s, %.2f layers, a TCP %.0f;",
                       m_branches[i]->received.Mean(phase.from_s, phase.until_s),
                       m_held[i].Mean(phase.from_s, phase.until_s),
                       m_branches[i]->TcpKbit(phase.from_s, phase.until_s));
            }
            printf("\n");
        }
    }

  private:
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
        m_reports[i] = Simulator::Schedule(NextReport(m_rule, m_random), &Session::Report, this, i);
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
            m_branches[i]->OnRequest(request, layers, N_LAYERS);
            if (m_branches[i]->TakeUrgent())
            {
                m_reports[i].Cancel();
                m_reports[i] = Simulator::ScheduleNow(&Session::Report, this, i);
            }
        }
        Simulator::Schedule(NextReport(m_rule, m_random), &Session::Request, this);
    }

    void Report(unsigned i)
    {
        FmxAlsReport report;

        if (m_branches[i]->Report(&report))
        {
            report.ssrc = i + 1;
            fmx_als_sender_on_report(&m_sender, &report, Now());
        }
        m_reports[i] = Simulator::Schedule(NextReport(m_rule, m_random), &Session::Report, this, i);
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

    const Rule& m_rule;
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
    g_segment = SEGMENT_BYTES;
    ConfigureTcp();
    RngSeedManager::SetRun(strtoull(argv[1], nullptr, 10));

    Session session(argc == 3 && std::string(argv[2]) == "ours" ? OURS : PAPER);
    session.Run();
    session.Print();
    fflush(stdout);
    _exit(0); // ns-3's own end is slow
}
