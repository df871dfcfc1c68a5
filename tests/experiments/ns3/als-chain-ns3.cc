/* SPDX-License-Identifier: GPL-2.0-only */
/* als-chain-ns3 SEED [paper | ours]: the chain of five routers (ALS figures 5 and 6, table
 * 1), packet by packet, with the very objects that alsrtcp and alsrouter use: links of 1
 * Mbit/s and 5 ms, seven ALS with hosts of their own, which begin within a second.
 *
 * `ours` has max-min routers, no increase, reports each second and early ones.  Reports take
 * no way.  Prints lines as test-als-chain does. */
#include "als.h"

#include <array>
#include <cstdio>
#include <unistd.h>

namespace
{

constexpr uint32_t PACKET_BYTES = 250;
constexpr unsigned N_LINKS = 4;
constexpr unsigned N = 7;
constexpr double LINK_BPS = 1e6;
constexpr Red BUFFER{0.15, 0.285, 0.3};
constexpr double LAST_S = 60;
constexpr double SAMPLE_S = 0.1;

struct Path
{
    unsigned from; // router
    unsigned to;
    double share_bps;
};

constexpr std::array<Path, N> PATHS{{{0, 4, 250e3},
                                     {0, 2, 250e3},
                                     {0, 1, 500e3},
                                     {1, 2, 250e3},
                                     {1, 3, 250e3},
                                     {2, 3, 500e3},
                                     {3, 4, 750e3}}};

/* How a run is judged: who stays so near his share has it */
struct Judgement
{
    const char* name;
    double tolerance;
    double settled_s;
};

constexpr Rule OURS_EACH_SECOND{FMX_ALS_ROUTER_MAX_MIN, 0.995, 1, 1, 3, 0, true};

/* What leaves a node over a link passes the router before that. */
void
OnForward(Router* router,
          uint32_t link,
          const Ipv4Header& header,
          Ptr<const Packet> packet,
          uint32_t interface)
{
    if (interface == link)
    {
        router->OnPacket(header.GetSource().Get(), packet->GetSize() + header.GetSerializedSize());
    }
}

class Chain
{
  public:
    explicit Chain(const Rule& rule)
    {
        m_nodes.push_back(NewNode());
        for (unsigned i = 0; i < N_LINKS; i++)
        {
            Ptr<Node> near = m_nodes.back();

            m_nodes.push_back(NewNode());
            Cable(near, m_nodes.back(), LINK_BPS, 0.005, BUFFER);
            m_routers.push_back(std::make_unique<Router>(rule, LINK_BPS));
            near->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
                "UnicastForward",
                MakeBoundCallback(&OnForward,
                                  m_routers.back().get(),
                                  near->GetObject<Ipv4>()->GetNInterfaces() - 1));
        }
        for (unsigned k = 0; k < N; k++)
        {
            Connect(rule, k);
        }
    }

    void Run(double length_s, std::vector<Judgement>* judgements)
    {
        m_judgements = judgements;
        Simulator::Schedule(Seconds(SAMPLE_S), &Chain::Sample, this);
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        Simulator::Stop(Seconds(length_s));
        Simulator::Run();
    }

    void Print(const Judgement& judgement, double length_s) const
    {
        double sent = 0, received = 0;

        printf("# %s, ns-3: settled after %.0f s;", judgement.name, judgement.settled_s);
        for (const auto& als : m_als)
        {
            auto from = static_cast<size_t>(length_s - LAST_S);
            auto until = static_cast<size_t>(length_s);

            printf(" %.0f", als->receiver.received.Mean(from, until));
            sent += als->media.sent.Mean(from, until);
            received += als->receiver.received.Mean(from, until);
        }
        printf(" kbit/s, loss %.2f %%\n", 100 * (1 - received / sent));
    }

  private:
    void Connect(const Rule& rule, unsigned k)
    {
        const Path& path = PATHS[k];
        Ptr<Node> from = NewNode(), to = NewNode();
        std::vector<Router*> routers;

        Cable(from, m_nodes[path.from], 1e9, 2e-6, NO_RED);
        for (unsigned i = path.from; i < path.to; i++)
        {
            routers.push_back(m_routers[i].get());
        }
        m_als.push_back(std::make_unique<Als>(rule,
                                              routers,
                                              PACKET_BYTES,
                                              LINK_BPS,
                                              from,
                                              to,
                                              Cable(m_nodes[path.to], to, 1e9, 2e-6, NO_RED),
                                              6000 + k));
        Simulator::Schedule(Seconds(m_random->GetValue(0, 1)), &Als::Start, m_als.back().get());
    }

    void Sample()
    {
        double now_s = Simulator::Now().GetSeconds();

        for (Judgement& judgement : *m_judgements)
        {
            for (unsigned k = 0; k < N; k++)
            {
                double off = m_als[k]->sender.RateBps() / PATHS[k].share_bps - 1;

                if (std::fabs(off) > judgement.tolerance)
                {
                    judgement.settled_s = now_s;
                }
            }
        }
        Simulator::Schedule(Seconds(SAMPLE_S), &Chain::Sample, this);
    }

    std::vector<Ptr<Node>> m_nodes;
    std::vector<std::unique_ptr<Router>> m_routers;
    std::vector<std::unique_ptr<Als>> m_als;
    std::vector<Judgement>* m_judgements{nullptr};
    Ptr<UniformRandomVariable> m_random{CreateObject<UniformRandomVariable>()};
};

} // namespace

int
main(int argc, char** argv)
{
    bool ours = argc == 3 && std::string(argv[2]) == "ours";
    double length_s = ours ? 120 : 300;

    if (argc < 2)
    {
        fprintf(stderr, "usage: als-chain-ns3 SEED [paper | ours]\n");
        return 2;
    }
    std::vector<Judgement> judgements =
        ours ? std::vector<Judgement>{{"max-min, 1 s", 0.02, 0}}
             : std::vector<Judgement>{{"equal, 5 s", 0.05, 0}, {"equal, 5 s, to 10 %", 0.1, 0}};

    RngSeedManager::SetRun(strtoull(argv[1], nullptr, 10));

    Chain chain(ours ? OURS_EACH_SECOND : PAPER);
    chain.Run(length_s, &judgements);
    for (const Judgement& judgement : judgements)
    {
        chain.Print(judgement, length_s);
    }
    fflush(stdout);
    _exit(0); // ns-3's own end is slow
}
