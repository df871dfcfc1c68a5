/* SPDX-License-Identifier: GPL-2.0-only */
#include "bundle.h"

#include "fairmix/base/fmx-units.h"

#include <cstring>
#include <numeric>
#include <sstream>

using namespace ns3;

namespace
{

constexpr unsigned OVERHEAD_BYTES = FMX_IP_UDP_BYTES + FMX_RTP_HEADER_BYTES;
constexpr unsigned PROBE_BYTES = OVERHEAD_BYTES + 4;
constexpr uint32_t FIRST_SSRC = 0x1000;

FmxTime
FmxNow()
{
    return static_cast<FmxTime>(Simulator::Now().GetNanoSeconds());
}

/* The middle 32 bits of an NTP time whose epoch is the start of the run. */
uint32_t
NtpMid32()
{
    return static_cast<uint32_t>(static_cast<uint64_t>(Simulator::Now().GetSeconds() * 65536));
}

Time
Until(FmxTime when)
{
    FmxTime now = FmxNow();
    return NanoSeconds(when > now ? when - now : 0);
}

} // namespace

BundleSender::BundleSender(const BundleParams& params, Address to, Recorder* recorder)
    : m_params(params),
      m_to(to),
      m_recorder(recorder),
      m_random(CreateObject<UniformRandomVariable>()),
      m_rate(nullptr),
      m_sink{&BundleSender::OnEvent, this},
      m_target_bps(0),
      m_adapt{},
      m_plan{},
      m_streams(params.streams),
      m_order(params.streams),
      m_assignment(params.streams, FMX_ADAPT_HELD),
      m_seq(params.streams + FMX_ADAPT_MAX_MIXES + 1)
{
    m_adapt.mix_min_bps = fmx_adapt_mix_wire_bps(&params.mix, params.mix.min_bitrate_bps);
    m_adapt.mix_max_bps = fmx_adapt_mix_wire_bps(&params.mix, params.mix.max_bitrate_bps);
    m_adapt.headroom = params.headroom;
    for (auto& stream : m_streams)
    {
        stream = FmxSelectStream{};
        stream.wire_bps = static_cast<uint32_t>(params.stream_bps);
    }
    std::iota(m_order.begin(), m_order.end(), 0);
}

BundleSender::~BundleSender()
{
    delete m_rate;
}

void
BundleSender::StartApplication()
{
    m_socket = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
    m_socket->Bind();
    m_socket->Connect(m_to); // which takes the address's TOS
    m_socket->SetIpTos(m_params.ecn ? 2 : 0); // ECT(0)
    m_socket->SetRecvCallback(MakeCallback(&BundleSender::OnFeedback, this));
    if (m_params.strategy == "dpm")
    {
        FmxRateSenderParams p;

        fmx_rate_sender_params_default(&p);
        p.klass = fmx_rate_class_find(m_params.controller.c_str());
        NS_ABORT_MSG_IF(p.klass == nullptr, "no controller " << m_params.controller);
        p.min_bps = static_cast<uint64_t>(m_params.min_bps);
        p.max_bps = static_cast<uint64_t>(m_params.streams * m_params.stream_bps * 1.1);
        p.initial_bps = p.min_bps;
        p.segment_bytes = m_params.segment_bytes;
        p.sink = &m_sink;
        m_rate = new FmxRateSender;
        fmx_rate_sender_init(m_rate, &p, FmxNow());
        Update();
        Tell("start");
    }
    else
    {
        Plan(m_params.strategy == "forward-all" ? FMX_TARGET_UNLIMITED
             : m_params.strategy == "mix-all"
                 ? m_adapt.mix_max_bps
                 : static_cast<uint64_t>(3 * m_params.stream_bps + m_adapt.mix_max_bps));
    }
    for (unsigned i = 0; i < m_params.streams; i++)
    {
        Simulator::Schedule(Seconds(m_random->GetValue(0, m_params.packet_s)),
                            &BundleSender::OnTalker,
                            this,
                            i);
    }
    for (unsigned i = 0; i < FMX_ADAPT_MAX_MIXES; i++)
    {
        Simulator::Schedule(Seconds(m_random->GetValue(0, fmx_time_to_s(m_params.mix.packet_time))),
                            &BundleSender::OnMix,
                            this,
                            i);
    }
    Simulator::Schedule(Seconds(1), &BundleSender::OnSecond, this);
}

const FmxRateSender*
BundleSender::Rate() const
{
    return m_rate;
}

void
BundleSender::Leave()
{
    if (m_socket != nullptr)
    {
        StopApplication();
    }
}

void
BundleSender::StopApplication()
{
    m_timer.Cancel();
    m_socket->Close();
    m_socket = nullptr;
}

bool
BundleSender::Speaking() const
{
    double now = Simulator::Now().GetSeconds();
    bool speaking = true;

    for (auto& [t, value] : m_params.speaking)
    {
        if (t <= now)
        {
            speaking = value > 0;
        }
    }
    return speaking;
}

void
BundleSender::OnTalker(unsigned i)
{
    if (m_socket == nullptr)
    {
        return;
    }
    Simulator::Schedule(Seconds(m_random->GetValue(0, m_params.jitter_s)),
                        &BundleSender::OnPacket,
                        this,
                        i);
    Simulator::Schedule(Seconds(m_params.packet_s), &BundleSender::OnTalker, this, i);
}

void
BundleSender::OnPacket(unsigned i)
{
    if (m_socket != nullptr && m_assignment[i] == FMX_ADAPT_SEPARATE && Speaking())
    {
        SendRtp(i, static_cast<unsigned>(m_params.stream_bps * m_params.packet_s / 8 + 0.5));
    }
}

void
BundleSender::OnMix(unsigned i)
{
    if (m_socket == nullptr)
    {
        return;
    }
    double packet_s = fmx_time_to_s(m_params.mix.packet_time);

    // what top-3 does not forward is dropped, not mixed
    if (i < m_plan.n_mixes && m_params.strategy != "top-3" && Speaking())
    {
        SendRtp(m_params.streams + i,
                static_cast<unsigned>(m_plan.mix_bps * packet_s / 8 + 0.5));
    }
    Simulator::Schedule(Seconds(packet_s), &BundleSender::OnMix, this, i);
}

// Who does not listen is stopped by the circuit breaker alone.
bool
BundleSender::MaySend() const
{
    FmxRateSenderStats stats;

    if (m_rate == nullptr || !m_params.ignore_feedback)
    {
        return m_rate == nullptr || fmx_rate_sender_may_send(m_rate);
    }
    fmx_rate_sender_get_stats(m_rate, &stats, FmxNow());
    return stats.state != FMX_RATE_SENDER_STOPPED;
}

void
BundleSender::SendRtp(unsigned index, unsigned bytes)
{
    uint32_t ssrc = FIRST_SSRC + index;
    uint16_t seq = m_seq[index]++;
    uint8_t header[FMX_RTP_HEADER_BYTES] = {0x80, 0};

    if (index != m_params.streams + FMX_ADAPT_MAX_MIXES && !MaySend())
    {
        m_seq[index]--;
        return;
    }
    header[2] = static_cast<uint8_t>(seq >> 8);
    header[3] = static_cast<uint8_t>(seq);
    for (int k = 0; k < 4; k++)
    {
        header[8 + k] = static_cast<uint8_t>(ssrc >> (24 - 8 * k));
    }
    Ptr<Packet> packet = Create<Packet>(header, sizeof header);
    packet->AddAtEnd(Create<Packet>(bytes - OVERHEAD_BYTES));
    m_socket->Send(packet);
    if (m_rate != nullptr)
    {
        fmx_rate_sender_on_sent(m_rate, ssrc, seq, bytes, FmxNow());
        Update();
    }
}

void
BundleSender::OnFeedback(Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        uint8_t data[1500];
        uint32_t size = packet->CopyData(data, sizeof data);

        // what follows the RTCP header and the reporter's SSRC
        if (m_rate != nullptr && size > 8)
        {
            fmx_rate_sender_on_ccfb(m_rate, data + 8, size - 8, FmxNow());
            Update();
        }
    }
}

void
BundleSender::OnTimeout()
{
    fmx_rate_sender_on_timeout(m_rate, FmxNow());
    Update();
}

void
BundleSender::Update()
{
    uint64_t target = fmx_rate_sender_target_bps(m_rate);

    if (m_params.ignore_feedback)
    {
        target = static_cast<uint64_t>(m_params.streams * m_params.stream_bps);
    }
    if (target != m_target_bps)
    {
        m_target_bps = target;
        Plan(target);
    }
    if (fmx_rate_sender_take_probe(m_rate, FmxNow()))
    {
        SendRtp(m_params.streams + FMX_ADAPT_MAX_MIXES, PROBE_BYTES);
        return; // came here again
    }
    FmxTime next = fmx_rate_sender_next_timeout(m_rate);
    m_timer.Cancel();
    if (next != FMX_TIME_NONE)
    {
        m_timer = Simulator::Schedule(Until(next), &BundleSender::OnTimeout, this);
    }
}

void
BundleSender::Plan(uint64_t target_bps)
{
    fmx_adapt_plan_streams(&m_adapt,
                           target_bps,
                           m_streams.data(),
                           m_order.data(),
                           m_assignment.data(),
                           m_streams.size(),
                           &m_plan);
    for (size_t i = 0; i < m_streams.size(); i++)
    {
        bool separate = m_assignment[i] == FMX_ADAPT_SEPARATE;

        if (separate != m_streams[i].separate)
        {
            m_streams[i].separate = separate;
            m_streams[i].since = FmxNow();
        }
        m_streams[i].mix = m_assignment[i] >= 0 ? static_cast<uint32_t>(m_assignment[i]) : 0;
    }
    Tell("plan");
}

void
BundleSender::Tell(const char* event)
{
    FmxRateSenderStats stats{};
    std::ostringstream line;

    if (m_recorder == nullptr)
    {
        return;
    }
    if (m_rate != nullptr)
    {
        fmx_rate_sender_get_stats(m_rate, &stats, FmxNow());
    }
    line << m_params.name << ',' << event << ',' << m_target_bps << ','
         << fmx_time_to_s(stats.rtt) * 1e3 << ',' << stats.loss_event_rate << ','
         << stats.loss_fraction << ',' << static_cast<uint64_t>(stats.sent_bps) << ','
         << m_plan.n_separate << ',' << m_plan.n_mixes;
    m_recorder->Sender(line.str());
}

void
BundleSender::OnSecond()
{
    if (m_socket != nullptr)
    {
        Tell("");
        Simulator::Schedule(Seconds(1), &BundleSender::OnSecond, this);
    }
}

void
BundleSender::OnEvent(void* user, const FmxEvent* event)
{
    auto self = static_cast<BundleSender*>(user);

    if (event->reason != nullptr && self->m_rate != nullptr)
    {
        self->Tell(event->reason);
    }
}

BundleSink::BundleSink(uint16_t port)
    : m_port(port),
      m_memory(64)
{
}

void
BundleSink::StartApplication()
{
    FmxCcfbCollectorParams p;

    fmx_ccfb_collector_params_default(&p);
    fmx_ccfb_collector_init(&m_collector,
                            &p,
                            m_memory.data(),
                            static_cast<uint32_t>(m_memory.size()));
    m_socket = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
    m_socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), m_port));
    m_socket->SetIpRecvTos(true);
    m_socket->SetRecvCallback(MakeCallback(&BundleSink::OnPacket, this));
}

void
BundleSink::StopApplication()
{
    m_timer.Cancel();
    m_socket->Close();
}

void
BundleSink::OnPacket(Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->RecvFrom(m_from))
    {
        uint8_t header[FMX_RTP_HEADER_BYTES];
        FmxCcfbArrival arrival{};

        if (packet->CopyData(header, sizeof header) < sizeof header)
        {
            continue;
        }
        arrival.seq = static_cast<uint16_t>(header[2] << 8 | header[3]);
        arrival.ssrc = uint32_t{header[8]} << 24 | uint32_t{header[9]} << 16 |
                       uint32_t{header[10]} << 8 | header[11];
        arrival.wire_bytes = packet->GetSize() + FMX_IP_UDP_BYTES;
        if (SocketIpTosTag tos; packet->PeekPacketTag(tos))
        {
            arrival.ecn = tos.GetTos() & 3;
        }
        fmx_ccfb_collector_on_packet(&m_collector, &arrival, FmxNow());
    }
    Update();
}

void
BundleSink::OnTimeout()
{
    uint8_t data[1400];

    while (size_t size =
               fmx_ccfb_collector_write(&m_collector, data, sizeof data, NtpMid32(), FmxNow()))
    {
        m_socket->SendTo(Create<Packet>(data, static_cast<uint32_t>(size)), 0, m_from);
    }
    Update();
}

void
BundleSink::Update()
{
    FmxTime next = fmx_ccfb_collector_next_timeout(&m_collector);

    m_timer.Cancel();
    if (next != FMX_TIME_NONE)
    {
        m_timer = Simulator::Schedule(Until(next), &BundleSink::OnTimeout, this);
    }
}
