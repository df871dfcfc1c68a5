/* SPDX-License-Identifier: GPL-2.0-only */
/* als-ns3 SCENE SEED [VARIANT]: ALS senders beside three of ns-3's Reno (ALS figures 2 to
 * 4), with the very objects that alsrtcp and alsrouter use.  VARIANT: `paper` is to the
 * letter; `ours` has max-min routers, no increase, reports each 0.45 s and early ones.
 *
 * 10 Mbit/s, 10 ms, RED from 0.5 to 0.95 of a buffer of 300 ms.  SCENE: `figure 3, each
 * 3 s` or `each 8 s`: up to 8 ALS, one more each so often; `figure 4, ...`: 7, and a
 * bandwidth of 10, 7, 9, 5, 8 Mbit/s by turns.  Prints lines as als-figures does. */
#include "fairmix/als/fmx-als-receiver.h"
#include "fairmix/als/fmx-als-router.h"
#include "fairmix/als/fmx-als-sender.h"
#include "fairmix/asmp/fmx-asmp-loss.h"

#include "wires.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace
{

constexpr uint32_t PACKET_BYTES = 1000;
constexpr uint32_t HEADER_BYTES = 28;
constexpr uint32_t PLACES = 64;
constexpr uint32_t N_TCP = 3;
constexpr double LINK_BPS = 10e6;
constexpr double LENGTH_S = 200;
constexpr Red BUFFER{0.15, 0.285, 0.3};

bool ours;

/* RTCP's: half to one and a half of it */
double
Interval()
{
    return ours ? 0.45 : 5;
}

FmxTime
Now()
{
    return static_cast<FmxTime>(Simulator::Now().GetNanoSeconds());
}

/* The router in front of the link: it sees what its queue is given. */
class Router
{
  public:
    Router()
    {
        FmxAlsRouterParams params;

        fmx_als_router_params_default(&params);
        params.bandwidth_bps = static_cast<uint64_t>(LINK_BPS);
        if (ours)
        {
            params.rule = FMX_ALS_ROUTER_MAX_MIN;
            params.target_utilisation = 0.995;
        }
        fmx_als_router_init(&m_router, &params, m_slots, m_connections, PLACES, 1, 0);
    }

    /* A packet on its way to the link: whose is what its IP header says */
    void OnPacket(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
    {
        Ipv4Header header;

        packet->PeekHeader(header);
        if (header.GetSource() == m_far)
        {
            return;
        }
        fmx_als_router_on_packet(&m_router, header.GetSource().Get(), packet->GetSize(), Now());
    }

    void Cut(uint8_t* request, Ipv4Address from)
    {
        fmx_als_router_on_request(&m_router, from.Get(), Now());
        fmx_als_request_cut(request,
                            FMX_ALS_SHARE_BYTES,
                            fmx_als_router_get_share_bps(&m_router, Now()),
                            fmx_als_router_get_utilisation(&m_router, Now()));
    }

    void SetBandwidth(double bps)
    {
        fmx_als_router_set_bandwidth(&m_router, static_cast<uint64_t>(bps));
    }

    void SetFar(Ipv4Address far)
    {
        m_far = far;
    }

  private:
    FmxAlsRouter m_router;
    FmxAgingSlot m_slots[PLACES];
    FmxAlsConnection m_connections[PLACES];
    Ipv4Address m_far;
};

/* A sender on one side, its receiver on the other; reports take no way */
class Als
{
  public:
    Als(Router* router, Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint16_t port)
        : m_router(router),
          m_host(from->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal())
    {
        FmxAlsSenderParams params;

        fmx_als_sender_params_default(&params);
        params.wish_bps = static_cast<uint32_t>(LINK_BPS);
        params.n_layers = 1;
        if (ours)
        {
            params.interval = 450 * FMX_MSECOND;
            params.memory = 3 * params.interval;
            params.increase_bps = 0;
        }
        fmx_als_sender_init(&m_sender, &params, m_slots, m_receivers, PLACES, 1, 0);
        fmx_als_receiver_init(&m_receiver);
        fmx_asmp_loss_init(&m_loss);
        m_out = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
        m_out->Bind();
        m_out->Connect(InetSocketAddress(address, port));
        m_in = Socket::CreateSocket(to, UdpSocketFactory::GetTypeId());
        m_in->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        m_in->SetRecvCallback(MakeCallback(&Als::OnPacket, this));
    }

    void Start()
    {
        Send();
        Simulator::Schedule(Seconds(m_random->GetValue(0.5, 1.5)), &Als::Request, this);
        m_report = Simulator::Schedule(Seconds(Interval() * m_random->GetValue(0.5, 1.5)),
                                       &Als::Report,
                                       this);
        Simulator::Schedule(Seconds(1), &Als::Tick, this);
    }

    Bins sent;
    Bins received;

  private:
    void Send()
    {
        double bps = fmx_als_sender_get_rate_bps(&m_sender, 0);

        uint8_t payload[PACKET_BYTES - HEADER_BYTES]{};

        memcpy(payload, &m_seq, sizeof m_seq);
        m_seq++;
        m_out->Send(Create<Packet>(payload, sizeof payload));
        sent.Add(PACKET_BYTES);
        Simulator::Schedule(Seconds(PACKET_BYTES * 8 / bps * m_random->GetValue(0.9, 1.1)),
                            &Als::Send,
                            this);
    }

    void OnPacket(Ptr<Socket> socket)
    {
        while (Ptr<Packet> packet = socket->Recv())
        {
            uint16_t seq;

            packet->CopyData(reinterpret_cast<uint8_t*>(&seq), sizeof seq);
            fmx_asmp_loss_on_packet(&m_loss, seq);
            received.Add(PACKET_BYTES);
        }
    }

    void Request()
    {
        uint8_t data[FMX_ALS_SHARE_BYTES];
        FmxAlsShare share;

        fmx_als_sender_get_request(&m_sender, &share);
        fmx_als_share_write(&share, data, sizeof data);
        m_router->Cut(data, m_host);
        fmx_als_share_read(&share, data, sizeof data);
        fmx_als_receiver_on_request(&m_receiver, &share, 1, Now());
        if (ours && fmx_als_receiver_take_urgent(&m_receiver))
        {
            m_report.Cancel();
            m_report = Simulator::ScheduleNow(&Als::Report, this);
        }
        Simulator::Schedule(Seconds(Interval() * m_random->GetValue(0.5, 1.5)),
                            &Als::Request,
                            this);
    }

    void Report()
    {
        FmxAlsReport report{};
        FmxAlsShare share;
        double lost;

        if (fmx_asmp_loss_report(&m_loss, &lost))
        {
            report.loss = std::floor(std::fmin(255, 256 * lost)) / 256;
        }
        if (fmx_als_receiver_get_return(&m_receiver, &share, Now()))
        {
            report.ssrc = 9;
            report.share_bps = share.share_bps;
            report.utilisation = share.utilisation;
            report.answered = share.answered;
            fmx_als_sender_on_report(&m_sender, &report, Now());
        }
        m_report = Simulator::Schedule(Seconds(Interval() * m_random->GetValue(0.5, 1.5)),
                                       &Als::Report,
                                       this);
    }

    void Tick()
    {
        fmx_als_sender_on_timeout(&m_sender, Now());
        Simulator::Schedule(MilliSeconds(100), &Als::Tick, this);
    }

    Router* m_router;
    Ipv4Address m_host;
    Ptr<Socket> m_out, m_in;
    Ptr<UniformRandomVariable> m_random{CreateObject<UniformRandomVariable>()};
    FmxAlsSender m_sender;
    FmxAgingSlot m_slots[PLACES];
    FmxAlsSenderReceiver m_receivers[PLACES];
    FmxAlsReceiver m_receiver;
    EventId m_report;
    FmxAsmpLoss m_loss;
    uint16_t m_seq{0};
};

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
Print(const Scene& scene, const char* seed, const char* measure, double value)
{
    printf("%s;ns-3 %s;%s;%s;%.4g\n", scene.name, ours ? "ours" : "paper", seed, measure, value);
}

void
Play(const Scene& scene, const char* seed)
{
    Ptr<Node> near = NewNode(), far = NewNode();
    Ipv4Address address = Cable(near, far, LINK_BPS, 0.0045, BUFFER);
    Ptr<NetDevice> link = near->GetDevice(near->GetNDevices() - 1);
    std::vector<std::unique_ptr<Tcp>> tcps;
    std::vector<std::unique_ptr<Als>> als;
    Router router;

    router.SetFar(address);
    near->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
        "Rx", MakeCallback(&Router::OnPacket, &router));
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
        als.push_back(std::make_unique<Als>(&router, host, far, address, 6000 + i));
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
        rate += flow->received.Mean(from, until) / scene.n_als;
        sent += flow->sent.Mean(0, until);
        received += flow->received.Mean(0, until);
    }
    Print(scene, seed, "an ALS", rate);
    Print(scene, seed, "a TCP over an ALS", tcp / rate);
    Print(scene, seed, "loss", 100 * (1 - received / sent));
}

} // namespace

int
main(int argc, char** argv)
{
    ours = argc == 4 && std::string(argv[3]) == "ours";
    for (const Scene& scene : SCENES)
    {
        if (argc < 3 || std::string(argv[1]) != scene.name)
        {
            continue;
        }
        ConfigureTcp();
        RngSeedManager::SetRun(strtoull(argv[2], nullptr, 10));
        Play(scene, argv[2]);
        fflush(stdout);
        _exit(0); // ns-3's own end is slow
    }
    fprintf(stderr, "usage: als-ns3 SCENE SEED [paper | ours]\n");
    return 2;
}
