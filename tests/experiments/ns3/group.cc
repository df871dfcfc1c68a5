/* SPDX-License-Identifier: GPL-2.0-only */
#include "group.h"

#include <sstream>

using namespace ns3;

namespace
{

constexpr uint32_t MEDIA = 1;
constexpr double CLOCK_RATE = 8000;
constexpr uint32_t HEADER_BYTES = 28;   /* IP and UDP */
constexpr uint32_t SENDER_BYTES = 28 + 28;      /* SR, CNAME */
constexpr uint32_t RECEIVER_BYTES = 32 + 28;    /* RR, CNAME */
constexpr uint32_t APP_BYTES = 12;
constexpr double ONE_WAY_S = 0.05;      /* between receivers */
constexpr double COMPENSATION = 1.21828;        /* RFC 3550 6.3.1 */
constexpr double RTCP_SHARE = 0.05 * 0.75;      /* RFC 3550 6.2: receivers' part */
constexpr uint32_t MEMBERS_MAX = 20000;
constexpr uint32_t RTTS = 32;           /* in a report, as asmprtcp */

/* What a packet to the group carries: media, or a report with round trips. */
struct ToGroup
{
    uint32_t seq;
    uint32_t ts;
    uint32_t mid32;
    uint8_t rtts[FMX_ASMP_RTT_BYTES(RTTS)];
};

constexpr uint32_t MEDIA_BYTES = 12;    /* of ToGroup, in a media packet */

/* What a receiver's report carries. */
struct ToSender
{
    uint32_t ssrc;
    FmxReportBlock block;
    bool has_rate;
    bool here;
    bool bye;
    FmxAsmpRate rate;
};

/* on the wire */
uint32_t
ReportBytes(const ToSender& data)
{
    return HEADER_BYTES + RECEIVER_BYTES +
           (data.has_rate ? APP_BYTES + FMX_ASMP_RATE_BYTES : 0) +
           (data.here ? APP_BYTES + FMX_ASMP_HERE_BYTES : 0);
}

FmxTime
FmxNow()
{
    return static_cast<FmxTime>(Simulator::Now().GetNanoSeconds());
}

uint32_t
Mid32()
{
    return static_cast<uint32_t>(static_cast<uint64_t>(Simulator::Now().GetSeconds() * 65536));
}

uint32_t
RtpTime()
{
    return static_cast<uint32_t>(Simulator::Now().GetSeconds() * CLOCK_RATE);
}

/* @used bytes of @data in a packet of @wire_bytes */
template <typename T>
Ptr<Packet>
Wrap(const T& data, uint32_t used, uint32_t wire_bytes)
{
    auto packet = Create<Packet>(reinterpret_cast<const uint8_t*>(&data), used);
    if (wire_bytes > HEADER_BYTES + used)
    {
        packet->AddAtEnd(Create<Packet>(wire_bytes - HEADER_BYTES - used));
    }
    return packet;
}

} // namespace

/* --- the sender --- */

GroupSender::GroupSender(const GroupParams& params, Address media, Address rtcp, Recorder* recorder)
    : m_params(params),
      m_media(media),
      m_rtcp(rtcp),
      m_recorder(recorder),
      m_random(CreateObject<UniformRandomVariable>()),
      m_memory(MEMBERS_MAX * FMX_ASMP_BYTES_PER_RECEIVER)
{
    FmxAsmpSenderParams p;

    fmx_asmp_sender_params_default(&p);
    p.algorithm = params.algorithm;
    p.initial_bps = static_cast<uint32_t>(params.initial_bps);
    p.max_bps = static_cast<uint32_t>(params.max_bps);
    fmx_asmp_sender_init(&m_sender, &p, m_memory.data(), MEMBERS_MAX, 1);
}

GroupSender::~GroupSender() = default;

const GroupParams&
GroupSender::Params() const
{
    return m_params;
}

void
GroupSender::AddListeners(GroupListeners* listeners)
{
    m_listeners.push_back(listeners);
}

void
GroupSender::CountMember(int change)
{
    m_members += change;
}

double
GroupSender::IntervalS() const
{
    double bytes_per_s = RTCP_SHARE * fmx_asmp_sender_target_bps(&m_sender) / 8;

    return std::max(m_params.min_interval_s, (m_members + 1) * m_rtcp_bytes / bytes_per_s);
}

double
GroupSender::RandomInterval(double interval_s) const
{
    return interval_s * m_random->GetValue(0.5, 1.5) / COMPENSATION;
}

uint32_t
GroupSender::Members() const
{
    return m_members;
}

void
GroupSender::CountRtcp(uint32_t bytes)
{
    m_rtcp_bytes += (bytes - m_rtcp_bytes) / 16;
    m_recorder->Count(m_params.name + "-rtcp", bytes);
}

void
GroupSender::StartApplication()
{
    m_socket = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
    m_socket->Bind(InetSocketAddress(Ipv4Address::GetAny(),
                                     InetSocketAddress::ConvertFrom(m_rtcp).GetPort()));
    m_socket->SetRecvCallback(MakeCallback(&GroupSender::OnFeedback, this));
    Tell("start");
    Send();
    m_times.Start(0, 1);
    Simulator::Schedule(Seconds(1), &GroupSender::OnReportTimer, this);
    Simulator::Schedule(Seconds(1), &GroupSender::Tick, this);
}

void
GroupSender::StopApplication()
{
    m_socket->Close();
    m_socket = nullptr;
}

void
GroupSender::Send()
{
    double bps = fmx_asmp_sender_target_bps(&m_sender);
    uint32_t bytes = m_params.packet_bytes;
    ToGroup data{};

    if (m_socket == nullptr)
    {
        return;
    }
    if (bytes == 0)
    {
        bytes = std::max(HEADER_BYTES + MEDIA_BYTES,
                         static_cast<uint32_t>(bps / 8 * m_params.packet_s));
    }
    data.seq = m_seq++;
    data.ts = RtpTime();
    m_socket->SendTo(Wrap(data, MEDIA_BYTES, bytes), 0, m_media);
    m_recorder->Count(m_params.name, bytes);
    fmx_asmp_sender_on_sent(&m_sender, bytes, FmxNow());
    Simulator::Schedule(Seconds(bytes * 8 / bps * m_random->GetValue(0.9, 1.1)),
                        &GroupSender::Send,
                        this);
}

/* Its own reports have a quarter of the bandwidth, always enough for the least interval. */
void
GroupSender::OnReportTimer()
{
    double now_s = Simulator::Now().GetSeconds();

    if (m_socket == nullptr)
    {
        return;
    }
    if (!m_times.HasReported() || m_times.IsDue(now_s, RandomInterval(m_params.min_interval_s)))
    {
        SendReport();
        m_times.OnRegular(now_s, RandomInterval(m_params.min_interval_s));
    }
    Simulator::Schedule(Seconds(m_times.NextS() - now_s), &GroupSender::OnReportTimer, this);
}

void
GroupSender::SendReport()
{
    FmxAsmpRttHeader header;
    FmxAsmpRtt rtts[RTTS];
    ToGroup data{};

    fmx_asmp_sender_take_rtts(&m_sender, &header, rtts, RTTS, FmxNow());
    fmx_asmp_rtt_write(&header, rtts, data.rtts, sizeof data.rtts);
    data.ts = RtpTime();
    data.mid32 = Mid32();
    uint32_t bytes =
        HEADER_BYTES + SENDER_BYTES + APP_BYTES + FMX_ASMP_RTT_BYTES(header.n_rtts);
    m_socket->SendTo(Wrap(data, sizeof data, bytes), 0, m_rtcp);
    CountRtcp(bytes);
}

void
GroupSender::OnFeedback(Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        ToSender data;

        packet->CopyData(reinterpret_cast<uint8_t*>(&data), sizeof data);
        CountRtcp(ReportBytes(data));
        if (data.bye)
        {
            fmx_asmp_sender_on_bye(&m_sender, data.ssrc, FmxNow());
            Tell("bye");
            continue;
        }
        fmx_asmp_sender_on_report(&m_sender, data.ssrc, &data.block, Mid32(), FmxNow());
        if (data.here)
        {
            fmx_asmp_sender_on_here(&m_sender, data.ssrc, FmxNow());
        }
        if (!data.has_rate)
        {
            fmx_asmp_sender_on_no_rate(&m_sender, data.ssrc);
            continue;
        }
        m_rates++;
        fmx_asmp_sender_on_rate(&m_sender, data.ssrc, &data.rate, FmxNow());
        for (auto listeners : m_listeners)
        {
            Simulator::Schedule(Seconds(ONE_WAY_S),
                                &GroupListeners::OnPeer,
                                listeners,
                                data.ssrc,
                                data.rate);
        }
    }
}

void
GroupSender::Tick()
{
    fmx_asmp_sender_on_timeout(&m_sender, FmxNow());
    Tell("second");
    Simulator::Schedule(Seconds(1), &GroupSender::Tick, this);
}

/* A line of senders.csv; mixes: rates told since the last one */
void
GroupSender::Tell(const char* event)
{
    FmxAsmpSenderStats stats;
    std::ostringstream line;

    fmx_asmp_sender_get_stats(&m_sender, &stats);
    line << m_params.name << ',' << event << ',' << stats.target_bps << ','
         << stats.limiting_rtt / 1e6 << ",,,," << stats.n_receivers << ',' << m_rates;
    m_rates = 0;
    m_recorder->Sender(line.str());
}

/* --- the receivers --- */

struct GroupListeners::One
{
    uint32_t ssrc;
    FmxAsmpReceiver receiver;
    EventId timer, wait;
    ReportTimes times;
    uint32_t highest{0}, highest_before{0}, received{0};
    uint32_t lsr{0};
    double lsr_s{0};
};

GroupListeners::GroupListeners(GroupSender* sender,
                               uint32_t first_ssrc,
                               uint32_t n,
                               double loss,
                               uint16_t port,
                               Address feedback)
    : m_sender(sender),
      m_loss(loss),
      m_port(port),
      m_feedback(feedback),
      m_random(CreateObject<UniformRandomVariable>())
{
    FmxAsmpReceiverParams params;

    fmx_asmp_receiver_params_default(&params);
    params.algorithm = sender->Params().algorithm;
    params.clock_rate_hz = CLOCK_RATE;
    params.rounds = sender->Params().rounds && params.algorithm == FMX_ASMP_FAIR;
    if (!sender->Params().smooth)
    {
        params.gamma_congested = params.gamma_unloaded = 1;
    }
    for (uint32_t i = 0; i < n; i++)
    {
        m_ones.push_back(std::make_unique<One>());
        m_ones.back()->ssrc = first_ssrc + i;
        fmx_asmp_receiver_init(&m_ones.back()->receiver, &params, MEDIA);
    }
    sender->AddListeners(this);
}

GroupListeners::~GroupListeners() = default;

void
GroupListeners::StartApplication()
{
    m_media = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
    m_media->Bind(InetSocketAddress(Ipv4Address::GetAny(), m_port));
    m_media->SetRecvCallback(MakeCallback(&GroupListeners::OnMedia, this));
    m_rtcp = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
    m_rtcp->Bind(InetSocketAddress(Ipv4Address::GetAny(), static_cast<uint16_t>(m_port + 1)));
    m_rtcp->SetRecvCallback(MakeCallback(&GroupListeners::OnSenderReport, this));
    for (auto& one : m_ones)
    {
        one->times.Start(Simulator::Now().GetSeconds(), Interval(*one));
        SetTimer(*one);
    }
}

void
GroupListeners::StopApplication()
{
    for (auto& one : m_ones)
    {
        ToSender data{};

        one->timer.Cancel();
        one->wait.Cancel();
        if (one->times.HasReported())
        {
            m_sender->CountMember(-1);
        }
        data.ssrc = one->ssrc;
        data.bye = true;
        m_rtcp->SendTo(Wrap(data, sizeof data, 0), 0, m_feedback);
    }
    m_media->Close();
}

void
GroupListeners::OnMedia(Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        ToGroup data;

        packet->CopyData(reinterpret_cast<uint8_t*>(&data), MEDIA_BYTES);
        for (auto& one : m_ones)
        {
            if (m_loss > 0 && m_random->GetValue() < m_loss)
            {
                continue;
            }
            fmx_asmp_receiver_on_packet(&one->receiver,
                                        static_cast<uint16_t>(data.seq),
                                        data.ts,
                                        packet->GetSize() + HEADER_BYTES,
                                        FmxNow());
            if (one->received++ == 0 && one->highest == 0)
            {
                one->highest_before = data.seq - 1;
            }
            one->highest = data.seq;
            if (fmx_asmp_receiver_take_urgent(&one->receiver, FmxNow()))
            {
                ReportEarly(*one);
            }
        }
    }
}

void
GroupListeners::OnSenderReport(Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        FmxAsmpRttHeader header;
        ToGroup data;

        packet->CopyData(reinterpret_cast<uint8_t*>(&data), sizeof data);
        for (auto& one : m_ones)
        {
            one->lsr = data.mid32;
            one->lsr_s = Simulator::Now().GetSeconds();
            fmx_asmp_receiver_on_sender_report(&one->receiver,
                                               data.ts,
                                               static_cast<FmxTime>(data.ts / CLOCK_RATE * 1e9),
                                               FmxNow(),
                                               FmxNow());
            if (fmx_asmp_rtt_read(&header, data.rtts, sizeof data.rtts))
            {
                fmx_asmp_receiver_on_rtt(&one->receiver, one->ssrc, &header, data.rtts);
            }
        }
    }
}

void
GroupListeners::OnPeer(uint32_t ssrc, const FmxAsmpRate& rate)
{
    for (auto& one : m_ones)
    {
        if (one->ssrc != ssrc)
        {
            fmx_asmp_receiver_on_peer(&one->receiver, &rate, FmxNow());
        }
    }
}

/* Td with its random factor; RFC 3550 6.2: half of it until the first report */
double
GroupListeners::Interval(const One& one) const
{
    return m_sender->RandomInterval((one.times.HasReported() ? 1 : 0.5) * m_sender->IntervalS());
}

void
GroupListeners::SetTimer(One& one)
{
    one.timer.Cancel();
    one.timer = Simulator::Schedule(Seconds(one.times.NextS()) - Simulator::Now(),
                                    &GroupListeners::OnTimer,
                                    this,
                                    &one);
}

void
GroupListeners::OnTimer(One* one)
{
    double now_s = Simulator::Now().GetSeconds();

    if (one->times.IsDue(now_s, Interval(*one)))
    {
        if (!one->times.HasReported())
        {
            m_sender->CountMember(1);
            Schedule(*one);
        }
        Report(*one);
        one->times.OnRegular(now_s, Interval(*one));
    }
    SetTimer(*one);
}

/* Of a large session: this one's turn to speak for others.  With rounds who has
 * something to tell may do so in each; suppression keeps them few. */
void
GroupListeners::OnWait(One* one)
{
    bool rounds = one->receiver.params.rounds;

    if (!fmx_asmp_receiver_on_timeout(&one->receiver, FmxNow()))
    {
        if (rounds)
        {
            Schedule(*one);
        }
        return;
    }
    if (rounds && !one->times.MayBeEarly())
    {
        Report(*one);
        return;
    }
    ReportEarly(*one);
}

void
GroupListeners::ReportEarly(One& one)
{
    if (!m_sender->Params().early || !one.times.MayBeEarly())
    {
        return;
    }
    Report(one);
    one.times.OnEarly();
    SetTimer(one);
}

void
GroupListeners::Report(One& one)
{
    uint32_t expected = one.highest - one.highest_before;
    double now_s = Simulator::Now().GetSeconds();
    ToSender data{};

    data.ssrc = one.ssrc;
    data.block.ssrc = MEDIA;
    data.block.fraction_lost =
        expected > one.received
            ? static_cast<uint8_t>(255 * (expected - one.received) / expected)
            : 0;
    data.block.ext_highest_seq = one.highest;
    data.block.lsr = one.lsr;
    data.block.dlsr = static_cast<uint32_t>((now_s - one.lsr_s) * 65536);
    data.has_rate = fmx_asmp_receiver_report(&one.receiver, &data.rate, FmxNow());
    data.here = one.receiver.params.rounds && (!data.has_rate || !one.times.HasReported());
    one.highest_before = one.highest;
    one.received = 0;
    m_rtcp->SendTo(Wrap(data, sizeof data, ReportBytes(data)), 0, m_feedback);
    Schedule(one);
}

/* A new round */
void
GroupListeners::Schedule(One& one)
{
    fmx_asmp_receiver_schedule(&one.receiver,
                               fmx_time_from_s(m_sender->IntervalS()),
                               m_sender->Members(),
                               m_random->GetValue(0, 1),
                               FmxNow());
    one.wait.Cancel();
    FmxTime next = fmx_asmp_receiver_next_timeout(&one.receiver);
    if (next != FMX_TIME_NONE)
    {
        one.wait = Simulator::Schedule(NanoSeconds(next - FmxNow()),
                                       &GroupListeners::OnWait,
                                       this,
                                       &one);
    }
}
