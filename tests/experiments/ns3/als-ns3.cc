/* SPDX-License-Identifier: GPL-2.0-only */
/* als-ns3 SCENE SEED [VARIANT]: ALS senders beside three of ns-3's Reno (ALS figures 2 to
 * 4), with the very objects that alsrtcp and alsrouter use.  VARIANT: `paper` is to the
 * letter; `ours` has max-min routers, no increase, reports each 0.2 s and early ones.
 *
 * 10 Mbit/s, 10 ms, RED from 0.5 to 0.95 of a buffer of 300 ms.  SCENE: `figure 3, each
 * 3 s` or `each 8 s`: up to 8 ALS, one more each so often; `figure 4, ...`: 7, and a
 * bandwidth of 10, 7, 9, 5, 8 Mbit/s by turns.  Prints lines as als-figures does. */
#include "als.h"

#include <cstdio>
#include <unistd.h>

namespace
{

constexpr uint32_t PACKET_BYTES = 1000;
constexpr uint32_t N_TCP = 3;
constexpr double LINK_BPS = 10e6;
constexpr double LENGTH_S = 200;
constexpr Red BUFFER{0.15, 0.285, 0.3};

/* A packet that came to the router: whose is what its IP header says; @far: on the other
 * side of the link */
void
OnPacket(Router* router, Ipv4Address far, Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    Ipv4Header header;

    packet->PeekHeader(header);
    if (header.GetSource() != far)
    {
        router->OnPacket(header.GetSource().Get(), packet->GetSize());
    }
}

struct Scene
{
    const char* name;
    uint32_t n_als;
    double start_s;
    double change_s;
    double settled_s;
};

constexpr Scene SCENES[] = {
    {"figure 3, each 3 s", 8, 3, 0, 60},
    {"figure 3, each 8 s", 8, 8, 0, 110},
    {"figure 4, each 3 s", 7, 0.5, 3, 30},
    {"figure 4, each 8 s", 7, 0.5, 8, 30},
};

void
ChangeBandwidth(Ptr<NetDevice> device, Router* router, double change_s, uint32_t n)
{
    constexpr double capacities_bps[] = {10e6, 7e6, 9e6, 5e6, 8e6};

    device->SetAttribute("DataRate",
                         DataRateValue(DataRate(static_cast<uint64_t>(capacities_bps[n % 5]))));
    router->SetBandwidth(capacities_bps[n % 5]);
    Simulator::Schedule(Seconds(change_s), &ChangeBandwidth, device, router, change_s, n + 1);
}

void
Print(const Scene& scene, const Rule& rule, const char* seed, const char* measure, double value)
{
    printf("%s;ns-3 %s;%s;%s;%.4g\n",
           scene.name,
           rule.early ? "ours" : "paper",
           seed,
           measure,
           value);
}

void
Play(const Scene& scene, const Rule& rule, const char* seed)
{
    Ptr<Node> near = NewNode(), far = NewNode();
    Ipv4Address address = Cable(near, far, LINK_BPS, 0.0045, BUFFER);
    Ptr<NetDevice> link = near->GetDevice(near->GetNDevices() - 1);
    std::vector<std::unique_ptr<Tcp>> tcps;
    std::vector<std::unique_ptr<Als>> als;
    Router router(rule, LINK_BPS);

    near->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
        "Rx", MakeBoundCallback(&OnPacket, &router, address));
    for (uint32_t i = 0; i < N_TCP + scene.n_als; i++)
    {
        Ptr<Node> host = NewNode();

        Cable(host, near, 1e9, 0.0005, NO_RED);
        if (i < N_TCP)
        {
            tcps.push_back(std::make_unique<Tcp>(host, far, address, 6000 + i));
            tcps.back()->sending.Start(Seconds(0.1 * i));
            continue;
        }
        als.push_back(std::make_unique<Als>(
            rule, std::vector{&router}, PACKET_BYTES, LINK_BPS, host, far, address, 6000 + i));
        Simulator::Schedule(Seconds(scene.start_s * (i - N_TCP)), &Als::Start, als.back().get());
    }
    if (scene.change_s > 0)
    {
        Simulator::Schedule(Seconds(scene.change_s),
                            &ChangeBandwidth, link, &router, scene.change_s, 1U);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Stop(Seconds(LENGTH_S));
    Simulator::Run();

    auto from = static_cast<size_t>(scene.settled_s), until = static_cast<size_t>(LENGTH_S);
    double tcp = 0, rate = 0, sent = 0, received = 0;
    for (auto& flow : tcps)
    {
        tcp += flow->bins.Mean(from, until) / N_TCP;
    }
    for (auto& flow : als)
    {
        rate += flow->receiver.received.Mean(from, until) / scene.n_als;
        sent += flow->media.sent.Mean(0, until);
        received += flow->receiver.received.Mean(0, until);
    }
    Print(scene, rule, seed, "an ALS", rate);
    Print(scene, rule, seed, "a TCP over an ALS", tcp / rate);
    Print(scene, rule, seed, "loss", 100 * (1 - received / sent));
}

} // namespace

int
main(int argc, char** argv)
{
    bool ours = argc == 4 && std::string(argv[3]) == "ours";

    for (const Scene& scene : SCENES)
    {
        if (argc < 3 || std::string(argv[1]) != scene.name)
        {
            continue;
        }
        ConfigureTcp();
        RngSeedManager::SetRun(strtoull(argv[2], nullptr, 10));
        Play(scene, ours ? OURS : PAPER, argv[2]);
        fflush(stdout);
        _exit(0); // ns-3's own end is slow
    }
    fprintf(stderr, "usage: als-ns3 SCENE SEED [paper | ours]\n");
    return 2;
}
