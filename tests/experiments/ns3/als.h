/* SPDX-License-Identifier: GPL-2.0-only */
/* An ALS of ns-3's: the library's sender, its packets, the library's receiver, and the
 * library's router before a link.  Reports take no way. */
#ifndef FMX_NS3_ALS_H
#define FMX_NS3_ALS_H

#include "fairmix/als/fmx-als-receiver.h"
#include "fairmix/als/fmx-als-router.h"
#include "fairmix/als/fmx-als-sender.h"
#include "fairmix/asmp/fmx-asmp-loss.h"

#include "wires.h"

#include <cmath>
#include <cstring>

namespace
{

constexpr uint32_t HEADER_BYTES = 28;
constexpr uint32_t PLACES = 64;

/* How routers share, how full a link is to be, how often senders and receivers report
 * and adapt, for how long a report counts, AIR, and whether news is told early */
struct Rule
{
    FmxAlsRouterRule share;
    double utilisation;
    double report_s;
    double adaptation_s;
    double memory_s;
    uint32_t increase_bps;
    bool early;
};

constexpr Rule PAPER{FMX_ALS_ROUTER_EQUAL, 0.9, 5, 5, 5, 5000, false};
constexpr Rule OURS{FMX_ALS_ROUTER_MAX_MIN, 0.995, 0.2, 0.2, 0.6, 0, true};

inline FmxTime
Now()
{
    return static_cast<FmxTime>(Simulator::Now().GetNanoSeconds());
}

/* After half of RTCP's interval to one and a half of it */
inline Time
NextReport(const Rule& rule, Ptr<UniformRandomVariable> random)
{
    return Seconds(rule.report_s * random->GetValue(0.5, 1.5));
}

/* Before a link: it counts what the link's queue is given. */
class Router
{
  public:
    Router(const Rule& rule, double bps)
    {
        FmxAlsRouterParams params;

        fmx_als_router_params_default(&params);
        params.bandwidth_bps = static_cast<uint64_t>(bps);
        params.rule = rule.share;
        params.target_utilisation = rule.utilisation;
        fmx_als_router_init(&m_router, &params, m_slots, m_connections, PLACES, 1, 0);
    }

    void OnPacket(uint64_t connection, uint32_t bytes)
    {
        fmx_als_router_on_packet(&m_router, connection, bytes, Now());
    }

    /* What it answers, on the request's way */
    void Cut(FmxAlsShare* request, uint64_t connection)
    {
        uint8_t data[FMX_ALS_SHARE_BYTES];

        fmx_als_share_write(request, data, sizeof data);
        fmx_als_router_on_request(&m_router, connection, Now());
        fmx_als_request_cut(data,
                            sizeof data,
                            fmx_als_router_get_share_bps(&m_router, Now()),
                            fmx_als_router_get_utilisation(&m_router, Now()));
        fmx_als_share_read(request, data, sizeof data);
    }

    void SetBandwidth(double bps)
    {
        fmx_als_router_set_bandwidth(&m_router, static_cast<uint64_t>(bps));
    }

  private:
    FmxAlsRouter m_router;
    FmxAgingSlot m_slots[PLACES];
    FmxAlsConnection m_connections[PLACES];
};

/* What a receiver has to report of losses, and of what routers answered */
inline bool
GetReport(FmxAlsReceiver* receiver, FmxAsmpLoss* loss, FmxAlsReport* report)
{
    FmxAlsShare share;
    double lost;

    *report = FmxAlsReport{};
    if (fmx_asmp_loss_report(loss, &lost))
    {
        report->loss = std::floor(std::fmin(255, 256 * lost)) / 256;
    }
    if (!fmx_als_receiver_get_return(receiver, &share, Now()))
    {
        return false;
    }
    report->ssrc = 9;
    report->share_bps = share.share_bps;
    report->utilisation = share.utilisation;
    report->answered = share.answered;
    return true;
}

/* What its reports are for */
class Sender;

/* Counts what arrives, and returns what the routers answered */
class Receiver
{
  public:
    Receiver(const Rule& rule, uint32_t packet_bytes, Ptr<Node> node, uint16_t port, Sender* sender)
        : m_rule(rule),
          m_packet_bytes(packet_bytes),
          m_sender(sender)
    {
        fmx_als_receiver_init(&m_receiver);
        fmx_asmp_loss_init(&m_loss);
        m_in = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        m_in->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        m_in->SetRecvCallback(MakeCallback(&Receiver::OnPacket, this));
    }

    void Start()
    {
        m_report = Simulator::Schedule(NextReport(m_rule, m_random), &Receiver::Report, this);
    }

    void OnRequest(const FmxAlsShare& share)
    {
        fmx_als_receiver_on_request(&m_receiver, &share, 1, Now());
        if (m_rule.early && fmx_als_receiver_take_urgent(&m_receiver))
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
            received.Add(m_packet_bytes);
        }
    }

    inline void Report();

    const Rule& m_rule;
    uint32_t m_packet_bytes;
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
    /* @routers: on its way */
    Sender(const Rule& rule, std::vector<Router*> routers, Ipv4Address host, double wish_bps)
        : m_rule(rule),
          m_routers(std::move(routers)),
          m_host(host)
    {
        FmxAlsSenderParams params;

        fmx_als_sender_params_default(&params);
        params.wish_bps = static_cast<uint32_t>(wish_bps);
        params.n_layers = 1;
        params.interval = fmx_time_from_s(rule.adaptation_s);
        params.memory = fmx_time_from_s(rule.memory_s);
        params.increase_bps = rule.increase_bps;
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
        FmxAlsShare share;

        fmx_als_sender_get_request(&m_sender, &share);
        for (Router* router : m_routers)
        {
            router->Cut(&share, m_host.Get());
        }
        m_receiver->OnRequest(share);
        Simulator::Schedule(NextReport(m_rule, m_random), &Sender::Request, this);
    }

    void Tick()
    {
        fmx_als_sender_on_timeout(&m_sender, Now());
        Simulator::Schedule(MilliSeconds(m_rule.early ? 10 : 100), &Sender::Tick, this);
    }

    const Rule& m_rule;
    std::vector<Router*> m_routers;
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
    FmxAlsReport report;

    if (GetReport(&m_receiver, &m_loss, &report))
    {
        m_sender->OnReport(report);
    }
    m_report = Simulator::Schedule(NextReport(m_rule, m_random), &Receiver::Report, this);
}

/* Packets at a sender's rate */
class Media
{
  public:
    Media(const Sender& sender,
          uint32_t packet_bytes,
          Ptr<Node> node,
          Ipv4Address address,
          uint16_t port)
        : m_sender(sender),
          m_packet_bytes(packet_bytes)
    {
        m_out = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        m_out->Bind();
        m_out->Connect(InetSocketAddress(address, port));
    }

    void Send()
    {
        std::vector<uint8_t> payload(m_packet_bytes - HEADER_BYTES);

        memcpy(payload.data(), &m_seq, sizeof m_seq);
        m_seq++;
        m_out->Send(Create<Packet>(payload.data(), payload.size()));
        sent.Add(m_packet_bytes);
        Simulator::Schedule(
            Seconds(m_packet_bytes * 8 / m_sender.RateBps() * m_random->GetValue(0.9, 1.1)),
            &Media::Send,
            this);
    }

    Bins sent;

  private:
    const Sender& m_sender;
    uint32_t m_packet_bytes;
    Ptr<Socket> m_out;
    Ptr<UniformRandomVariable> m_random{CreateObject<UniformRandomVariable>()};
    uint16_t m_seq{0};
};

/* An ALS: who sends on one side, who receives on the other */
struct Als
{
    Als(const Rule& rule,
        std::vector<Router*> routers,
        uint32_t packet_bytes,
        double wish_bps,
        Ptr<Node> from,
        Ptr<Node> to,
        Ipv4Address address,
        uint16_t port)
        : sender(rule,
                 std::move(routers),
                 from->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal(),
                 wish_bps),
          media(sender, packet_bytes, from, address, port),
          receiver(rule, packet_bytes, to, port, &sender)
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

} // namespace

#endif /* FMX_NS3_ALS_H */
