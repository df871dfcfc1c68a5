/* SPDX-License-Identifier: GPL-2.0-only */
/* als-ns3 SCENE SEED [VARIANT]: ALS senders beside three of ns-3's Reno (ALS figures 2 to
 * 4), with the very objects that alsrtcp and alsrouter use.  VARIANT: `paper` is to the
 * letter; `ours` has max-min routers, no increase, reports each 0.2 s and early ones.
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
    return ours ? 0.2 : 5;
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

/* After half of RTCP's interval to one and a half of it */
Time
NextReport(Ptr<UniformRandomVariable> random)
{
    return Seconds(Interval() * random->GetValue(0.5, 1.5));
}

/* What its reports are for; they take no way */
class Sender;

/* Counts what arrives, and returns what the router answered */
class Receiver
{
  public:
    Receiver(Ptr<Node> node, uint16_t port, Sender* sender)
        : m_sender(sender)
    {
        fmx_als_receiver_init(&m_receiver);
        fmx_asmp_loss_init(&m_loss);
        m_in = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        m_in->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        m_in->SetRecvCallback(MakeCallback(&Receiver::OnPacket, this));
    }

    void Start()
    {
        m_report = Simulator::Schedule(NextReport(m_random), &Receiver::Report, this);
    }

    void OnRequest(const FmxAlsShare& share)
    {
        fmx_als_receiver_on_request(&m_receiver, &share, 1, Now());
        if (ours && fmx_als_receiver_take_urgent(&m_receiver))
        {
            m_report.Cancel();
            m_report = Simulator::ScheduleNow(&Receiver::Report, this);
        }
    }

    Bins received;

  private:
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

    void Report();

    Sender* m_sender;
    Ptr<Socket> m_in;
    Ptr<UniformRandomVariable> m_random{CreateObject<UniformRandomVariable>()};
    FmxAlsReceiver m_receiver;
    FmxAsmpLoss m_loss;
    EventId m_report;
};

/* The library's sender: its rate, its requests and its adaptation points */
class Sender
{
  public:
    Sender(Router* router, Ipv4Address host)
        : m_router(router),
          m_host(host)
    {
        FmxAlsSenderParams params;

        fmx_als_sender_params_default(&params);
        params.wish_bps = static_cast<uint32_t>(LINK_BPS);
        params.n_layers = 1;
        if (ours)
        {
            params.interval = 200 * FMX_MSECOND;
            params.memory = 3 * params.interval;
            params.increase_bps = 0;
        }
        fmx_als_sender_init(&m_sender, &params, m_slots, m_receivers, PLACES, 1, 0);
    }

    void Start(Receiver* receiver)
    {
        m_receiver = receiver;
        Simulator::Schedule(Seconds(m_random->GetValue(0.5, 1.5)), &Sender::Request, this);
        Simulator::Schedule(Seconds(1), &Sender::Tick, this);
    }

    void OnReport(const FmxAlsReport& report)
    {
        fmx_als_sender_on_report(&m_sender, &report, Now());
    }

    double RateBps() const
    {
        return fmx_als_sender_get_rate_bps(&m_sender, 0);
    }

  private:
    void Request()
    {
        uint8_t data[FMX_ALS_SHARE_BYTES];
        FmxAlsShare share;

        fmx_als_sender_get_request(&m_sender, &share);
        fmx_als_share_write(&share, data, sizeof data);
        m_router->Cut(data, m_host);
        fmx_als_share_read(&share, data, sizeof data);
        m_receiver->OnRequest(share);
        Simulator::Schedule(NextReport(m_random), &Sender::Request, this);
    }

    void Tick()
    {
        fmx_als_sender_on_timeout(&m_sender, Now());
        Simulator::Schedule(MilliSeconds(ours ? 10 : 100), &Sender::Tick, this);
    }

    Router* m_router;
    Receiver* m_receiver{nullptr};
    Ipv4Address m_host;
    Ptr<UniformRandomVariable> m_random{CreateObject<UniformRandomVariable>()};
    FmxAlsSender m_sender;
    FmxAgingSlot m_slots[PLACES];
    FmxAlsSenderReceiver m_receivers[PLACES];
};

void
Receiver::Report()
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
        m_sender->OnReport(report);
    }
    m_report = Simulator::Schedule(NextReport(m_random), &Receiver::Report, this);
}

/* Packets at a sender's rate */
class Media
{
  public:
    Media(const Sender& sender, Ptr<Node> node, Ipv4Address address, uint16_t port)
        : m_sender(sender)
    {
        m_out = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        m_out->Bind();
        m_out->Connect(InetSocketAddress(address, port));
    }

    void Send()
    {
        uint8_t payload[PACKET_BYTES - HEADER_BYTES]{};

        memcpy(payload, &m_seq, sizeof m_seq);
        m_seq++;
        m_out->Send(Create<Packet>(payload, sizeof payload));
        sent.Add(PACKET_BYTES);
        Simulator::Schedule(
            Seconds(PACKET_BYTES * 8 / m_sender.RateBps() * m_random->GetValue(0.9, 1.1)),
            &Media::Send,
            this);
    }

    Bins sent;

  private:
    const Sender& m_sender;
    Ptr<Socket> m_out;
    Ptr<UniformRandomVariable> m_random{CreateObject<UniformRandomVariable>()};
    uint16_t m_seq{0};
};

/* An ALS: who sends on one side, who receives on the other */
struct Als
{
    Als(Router* router, Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint16_t port)
        : sender(router, from->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal()),
          media(sender, from, address, port),
          receiver(to, port, &sender)
    {
    }

    void Start()
    {
        media.Send();
        sender.Start(&receiver);
        receiver.Start();
    }

    Sender sender;
    Media media;
    Receiver receiver;
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
        rate += flow->receiver.received.Mean(from, until) / scene.n_als;
        sent += flow->media.sent.Mean(0, until);
        received += flow->receiver.received.Mean(0, until);
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
