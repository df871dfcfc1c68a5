/* SPDX-License-Identifier: GPL-2.0-only */
#include "recorder.h"

#include <stdexcept>

using namespace ns3;

Recorder::Recorder(const std::string& folder)
    : m_log(flowlog_open(folder.c_str(), 100000000)),
      m_senders(std::fopen((folder + "/senders.csv").c_str(), "w"))
{
    if (m_log == nullptr || m_senders == nullptr)
    {
        throw std::runtime_error("cannot write to " + folder);
    }
    // flowlog keeps pointers to names: they must not move
    m_flows.reserve(FLOWLOG_MAX_FLOWS);
    m_links.reserve(FLOWLOG_MAX_LINKS);
    std::fprintf(m_senders,
                 "t_s,flow,event,target_bps,rtt_ms,loss_event_rate,loss_fraction,"
                 "sent_bps,separate,mixes\n");
}

Recorder::~Recorder()
{
    std::fclose(m_senders);
}

void
Recorder::AddFlow(const std::string& name, Ptr<Node> from, Ptr<Node> to, uint16_t port, bool tcp)
{
    m_flows.push_back({name, port, tcp, false, false});
    flowlog_add_flow(m_log, m_flows.back().name.c_str());
    from->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
        "Tx",
        MakeCallback(&Recorder::OnSent, this));
    to->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
        "Rx",
        MakeCallback(&Recorder::OnReceived, this));
}

Recorder::Flow&
Recorder::Find(const std::string& name)
{
    for (auto& flow : m_flows)
    {
        if (flow.name == name)
        {
            return flow;
        }
    }
    throw std::runtime_error("no flow " + name);
}

void
Recorder::AddCounted(const std::string& name)
{
    m_flows.push_back({name, 0, false, false, false});
    flowlog_add_flow(m_log, m_flows.back().name.c_str());
}

void
Recorder::Count(const std::string& name, uint32_t bytes)
{
    flowlog_packet p{};

    p.key = ~m_counted++;
    p.flow = static_cast<int>(&Find(name) - m_flows.data());
    p.bytes = bytes;
    flowlog_sent(m_log, &p, Simulator::Now().GetNanoSeconds());
    flowlog_received(m_log, &p, Simulator::Now().GetNanoSeconds());
}

void
Recorder::AddGroup(Ptr<Node> from)
{
    from->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
        "Tx",
        MakeCallback(&Recorder::OnSentToGroup, this));
}

void
Recorder::AddListener(const std::string& name, Ptr<Node> to, uint16_t port)
{
    m_flows.push_back({name, port, false, true, false});
    flowlog_add_flow(m_log, m_flows.back().name.c_str());
    to->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
        "Rx",
        MakeBoundCallback(&Recorder::OnHeard, this, m_flows.size() - 1));
}

void
Recorder::SetJoined(const std::string& name, bool joined)
{
    Find(name).joined = joined;
}

void
Recorder::AddRouter(Ptr<Node> router)
{
    router->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
        "Rx",
        MakeCallback(&Recorder::OnEntered, this));
}

void
Recorder::AddLink(const std::string& name, Ptr<SimpleNetDevice> device)
{
    m_links.push_back(name);
    int link = flowlog_add_link(m_log, m_links.back().c_str());
    device->GetQueue()->TraceConnectWithoutContext(
        "Dequeue",
        MakeBoundCallback(&Recorder::OnPassed, this, link, device));
}

/* false: no flow of ours */
bool
Recorder::Read(Ptr<const Packet> packet, flowlog_packet* out) const
{
    uint8_t ip[96];
    uint32_t size = packet->CopyData(ip, sizeof ip);

    if (size < 40)
    {
        return false;
    }
    uint32_t header = (ip[0] & 15u) * 4u;
    uint16_t port = static_cast<uint16_t>(ip[header + 2] << 8 | ip[header + 3]);
    for (size_t f = 0; f < m_flows.size(); f++)
    {
        if (m_flows[f].port != port || ip[9] != (m_flows[f].tcp ? 6 : 17))
        {
            continue;
        }
        const uint8_t* rtp = ip + header + 8;
        out->flow = static_cast<int>(f);
        out->bytes = packet->GetSize();
        out->key = flowlog_key(ip, size);
        out->ssrc = 0;
        if (!m_flows[f].tcp && size >= header + 20 && rtp[0] >> 6 == 2)
        {
            out->ssrc = uint32_t{rtp[8]} << 24 | uint32_t{rtp[9]} << 16 | uint32_t{rtp[10]} << 8 |
                        rtp[11];
        }
        return true;
    }
    return false;
}

void
Recorder::OnSent(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    flowlog_packet p;
    if (Read(packet, &p))
    {
        flowlog_sent(m_log, &p, Simulator::Now().GetNanoSeconds());
    }
}

/* A packet of its own for each listener */
void
Recorder::OnSentToGroup(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    flowlog_packet p;

    if (!Read(packet, &p))
    {
        return;
    }
    uint64_t key = p.key;
    uint16_t port = m_flows[p.flow].port;
    for (size_t f = 0; f < m_flows.size(); f++)
    {
        if (m_flows[f].listener && m_flows[f].joined && m_flows[f].port == port)
        {
            p.flow = static_cast<int>(f);
            p.key = key + f;
            flowlog_sent(m_log, &p, Simulator::Now().GetNanoSeconds());
        }
    }
}

void
Recorder::OnHeard(Recorder* self, size_t flow, Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    flowlog_packet p;

    if (self->m_flows[flow].joined && self->Read(packet, &p) &&
        self->m_flows[p.flow].port == self->m_flows[flow].port)
    {
        p.flow = static_cast<int>(flow);
        p.key += flow;
        flowlog_received(self->m_log, &p, Simulator::Now().GetNanoSeconds());
    }
}

void
Recorder::OnReceived(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    flowlog_packet p;
    if (Read(packet, &p))
    {
        flowlog_received(m_log, &p, Simulator::Now().GetNanoSeconds());
    }
}

void
Recorder::OnEntered(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    flowlog_packet p;
    if (Read(packet, &p))
    {
        flowlog_entered(m_log, p.key, Simulator::Now().GetNanoSeconds());
    }
}

void
Recorder::OnPassed(Recorder* self,
                   int link,
                   Ptr<SimpleNetDevice> device,
                   Ptr<const Packet> packet)
{
    DataRateValue rate;
    flowlog_packet p;

    if (self->Read(packet, &p))
    {
        device->GetAttribute("DataRate", rate);
        Time done = Simulator::Now() + rate.Get().CalculateBytesTxTime(packet->GetSize());
        flowlog_passed(self->m_log, link, &p, done.GetNanoSeconds());
    }
}

void
Recorder::Tick()
{
    flowlog_advance(m_log, Simulator::Now().GetNanoSeconds());
    Simulator::Schedule(MilliSeconds(100), &Recorder::Tick, this);
}

void
Recorder::Finish()
{
    flowlog_close(m_log, Simulator::Now().GetNanoSeconds());
}

void
Recorder::Sender(const std::string& line)
{
    std::fprintf(m_senders, "%.3f,%s\n", Simulator::Now().GetSeconds(), line.c_str());
}
