/* SPDX-License-Identifier: GPL-2.0-only */
/* A branch of a group in layers: the router before it, nine TCPs on it, and the receiver
 * behind it, to which the layers that it holds are sent. */
#ifndef FMX_NS3_ALS_BRANCH_H
#define FMX_NS3_ALS_BRANCH_H

#include "als.h"

#include <array>

namespace
{

constexpr uint32_t PACKET_BYTES = 500;
constexpr uint32_t SEGMENT_BYTES = 512;
constexpr unsigned N_TCP = 9;
constexpr Red BUFFER{0.4, 0.76, 0.8};

/* What a packet begins with */
struct Head
{
    uint16_t seq;
    uint16_t layer;
};

class Branch
{
  public:
    Branch(const Rule& rule, Ptr<Node> hub, double bps)
        : m_rule(rule),
          m_router(rule, bps)
    {
        Ptr<Node> far = NewNode();

        fmx_als_receiver_init(&m_receiver);
        fmx_asmp_loss_init(&m_loss);
        m_address = Cable(hub, far, bps, 0.0095, BUFFER);
        m_in = Socket::CreateSocket(far, UdpSocketFactory::GetTypeId());
        m_in->Bind(InetSocketAddress(Ipv4Address::GetAny(), 5004));
        m_in->SetRecvCallback(MakeCallback(&Branch::OnPacket, this));
        m_out = Socket::CreateSocket(hub, UdpSocketFactory::GetTypeId());
        m_out->Bind();
        m_out->Connect(InetSocketAddress(m_address, 5004));
        for (unsigned k = 0; k < N_TCP; k++)
        {
            Ptr<Node> host = NewNode();

            Cable(host, hub, 1e9, 0.0005, NO_RED);
            m_tcps.push_back(std::make_unique<Tcp>(host, far, m_address, 6000 + k));
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
            m_router.OnPacket(header.GetSource().Get(), bytes);
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
        m_router.OnPacket(0, PACKET_BYTES);
        m_out->Send(Create<Packet>(payload, sizeof payload));
    }

    void OnRequest(FmxAlsShare request, const FmxAlsLayer* layers, unsigned n_layers)
    {
        m_router.Cut(&request, 0);
        fmx_als_receiver_on_request(&m_receiver, &request, 1, Now());
        fmx_als_receiver_on_layers(&m_receiver, layers, n_layers, Now());
        m_held = fmx_als_receiver_get_n_layers(&m_receiver, Now());
    }

    bool TakeUrgent()
    {
        return m_rule.early && fmx_als_receiver_take_urgent(&m_receiver);
    }

    bool Report(FmxAlsReport* report)
    {
        return GetReport(&m_receiver, &m_loss, report);
    }

    unsigned GetHeld() const
    {
        return m_held;
    }

    /* Of one TCP beside it */
    double TcpKbit(size_t from_s, size_t until_s) const
    {
        double sum = 0;

        for (const auto& flow : m_tcps)
        {
            sum += flow->bins.Mean(from_s, until_s);
        }
        return sum / N_TCP;
    }

    Bins received;

  private:
    void OnPacket(Ptr<Socket> socket)
    {
        while (Ptr<Packet> packet = socket->Recv())
        {
            Head head;

            packet->CopyData(reinterpret_cast<uint8_t*>(&head), sizeof head);
            received.Add(PACKET_BYTES);
            if (head.layer == 0)
            {
                fmx_asmp_loss_on_packet(&m_loss, head.seq);
            }
        }
    }

    const Rule& m_rule;
    Router m_router;
    unsigned m_held{0};
    Ipv4Address m_address;
    Ptr<Socket> m_in, m_out;
    std::vector<std::unique_ptr<Tcp>> m_tcps;
    FmxAlsReceiver m_receiver;
    FmxAsmpLoss m_loss;
};

} // namespace

#endif /* FMX_NS3_ALS_BRANCH_H */
