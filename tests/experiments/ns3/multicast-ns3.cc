/* SPDX-License-Identifier: GPL-2.0-only */
/* multicast-ns3 SCENARIO asmp|asmp-fair SEED [MIN-INTERVAL-S [PACKET-BYTES]]
 *
 * A multicast sender and its receivers beside ns-3's Reno, with the very objects
 * that asmprtcp uses.  Each receiver is behind a bottleneck of its own, so a copy
 * for each of them on a wide link from the sender is the same as multicast.  RED
 * queues of 200 ms.  Reports follow RFC 3550, with MIN-INTERVAL-S (5) between them
 * at least; receivers with "asmp-fair" report a loss early where that is below 5
 * (RFC 4585).  PACKET-BYTES (1500, as TCP's: RED drops by bytes) is the size on the
 * wire; 0: 50 packets a second.
 *
 * SCENARIO: shares (ASMP figures 14-20), halves (29-31), joiner (like 11, 12).
 * Prints one line: name and value by turns, rates in kbit/s. */
#include "fairmix/asmp/fmx-asmp-sender.h"

#include "wires.h"

#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace
{

constexpr uint16_t PORT = 5000;
constexpr uint32_t MEDIA = 1;
constexpr double CLOCK_RATE = 8000;
constexpr uint32_t HEADER_BYTES = 28;

struct Setting
{
    FmxAsmpAlgorithm algorithm;
    double min_interval_s;
    uint32_t packet_bytes;
} setting;

FmxTime
Now()
{
    return static_cast<FmxTime>(Simulator::Now().GetNanoSeconds());
}

uint32_t
Mid32()
{
    return static_cast<uint32_t>(Simulator::Now().GetSeconds() * 65536);
}

/* What a packet of the sender carries: media, or a report with round trips. */
struct Wire
{
    uint32_t is_report;
    uint32_t seq;
    uint32_t ts;
    uint32_t mid32;
    uint8_t data[FMX_ASMP_RTT_BYTES(16)];
};

class Sender;

/* A group: a copy for each receiver */
class Group
{
  public:
    explicit Group(Ptr<Node> node)
        : m_node(node)
    {
    }

    void Add(Ipv4Address address)
    {
        auto socket = Socket::CreateSocket(m_node, UdpSocketFactory::GetTypeId());
        socket->Bind();
        socket->Connect(InetSocketAddress(address, PORT));
        m_sockets.push_back(socket);
    }

    void Send(const Wire& wire, uint32_t wire_bytes)
    {
        for (auto& socket : m_sockets)
        {
            Ptr<Packet> packet =
                Create<Packet>(reinterpret_cast<const uint8_t*>(&wire), sizeof wire);
            if (wire_bytes > HEADER_BYTES + sizeof wire)
            {
                packet->AddAtEnd(Create<Packet>(wire_bytes - HEADER_BYTES - sizeof wire));
            }
            socket->Send(packet);
        }
    }

  private:
    Ptr<Node> m_node;
    std::vector<Ptr<Socket>> m_sockets;
};

class Receiver
{
  public:
    Receiver(Sender* sender, uint32_t ssrc, Ptr<Node> node, double back_s);
    void Start();
    void Stop();

    Bins bins;

  private:
    void OnPacket(Ptr<Socket> socket);
    void OnReport(const Wire& wire);
    void Report();
    void Schedule(double part = 1);

    Sender* m_sender;
    uint32_t m_ssrc;
    double m_back_s;
    Ptr<Socket> m_socket;
    Ptr<UniformRandomVariable> m_random{CreateObject<UniformRandomVariable>()};
    FmxAsmpReceiver m_receiver;
    EventId m_next;
    bool m_there{false};
    double m_last_report_s{0};
    uint32_t m_highest{0};
    uint32_t m_highest_before{0};
    uint32_t m_received{0};
    uint32_t m_lsr{0};
    double m_lsr_s{0};
};

/* The library's sender: its target, its reports, and what the receivers' say */
class Sender
{
  public:
    Sender(Group& group, uint32_t initial_bps)
        : m_group(group),
          m_memory(64 * FMX_ASMP_BYTES_PER_RECEIVER)
    {
        FmxAsmpSenderParams params;

        fmx_asmp_sender_params_default(&params);
        params.algorithm = setting.algorithm;
        params.initial_bps = initial_bps;
        fmx_asmp_sender_init(&m_sender, &params, m_memory.data(), 64, 1);
        Simulator::Schedule(Seconds(1), &Sender::SendReport, this);
        Simulator::Schedule(Seconds(1), &Sender::Tick, this);
    }

    void OnReport(uint32_t ssrc, FmxReportBlock block, bool has_rate, FmxAsmpRate rate)
    {
        fmx_asmp_sender_on_report(&m_sender, ssrc, &block, Mid32(), Now());
        if (has_rate)
        {
            fmx_asmp_sender_on_rate(&m_sender, ssrc, &rate, Now());
        }
    }

    void OnBye(uint32_t ssrc)
    {
        fmx_asmp_sender_on_bye(&m_sender, ssrc, Now());
    }

    void OnSent(uint32_t bytes)
    {
        fmx_asmp_sender_on_sent(&m_sender, bytes, Now());
    }

    double TargetBps() const
    {
        return fmx_asmp_sender_target_bps(&m_sender);
    }

    Bins target;

  private:
    void SendReport()
    {
        FmxAsmpRttHeader header;
        FmxAsmpRtt rtts[16];
        Wire wire{};

        fmx_asmp_sender_take_rtts(&m_sender, &header, rtts, 16, Now());
        fmx_asmp_rtt_write(&header, rtts, wire.data, sizeof wire.data);
        wire.is_report = 1;
        wire.ts = static_cast<uint32_t>(Simulator::Now().GetSeconds() * CLOCK_RATE);
        wire.mid32 = Mid32();
        m_group.Send(wire, 0);
        Simulator::Schedule(
            Seconds(setting.min_interval_s * m_random->GetValue(0.5, 1.5) / 1.21828),
            &Sender::SendReport,
            this);
    }

    void Tick()
    {
        fmx_asmp_sender_on_timeout(&m_sender, Now());
        target.Add(static_cast<uint32_t>(TargetBps() / 8));
        Simulator::Schedule(Seconds(1), &Sender::Tick, this);
    }

    Group& m_group;
    std::vector<char> m_memory;
    FmxAsmpSender m_sender;
    Ptr<UniformRandomVariable> m_random{CreateObject<UniformRandomVariable>()};
};

/* Packets at the sender's target */
class Media
{
  public:
    Media(Group& group, Sender& sender)
        : m_group(group),
          m_sender(sender)
    {
        Simulator::Schedule(Seconds(0), &Media::Send, this);
    }

    Bins sent;

  private:
    void Send()
    {
        double bps = m_sender.TargetBps();
        uint32_t bytes = setting.packet_bytes;
        Wire wire{};

        if (bytes == 0)
        {
            bytes = std::max<uint32_t>(HEADER_BYTES + sizeof wire, bps / 8 / 50);
        }
        wire.seq = m_seq++;
        wire.ts = static_cast<uint32_t>(Simulator::Now().GetSeconds() * CLOCK_RATE);
        m_group.Send(wire, bytes);
        sent.Add(bytes);
        m_sender.OnSent(bytes);
        Simulator::Schedule(Seconds(bytes * 8 / bps * m_random->GetValue(0.9, 1.1)),
                            &Media::Send,
                            this);
    }

    Group& m_group;
    Sender& m_sender;
    Ptr<UniformRandomVariable> m_random{CreateObject<UniformRandomVariable>()};
    uint32_t m_seq{0};
};

/* All of them on one node */
struct Source
{
    Source(Ptr<Node> node, uint32_t initial_bps)
        : node(node),
          group(node),
          sender(group, initial_bps),
          media(group, sender)
    {
    }

    Ptr<Node> node;
    Group group;
    Sender sender;
    Media media;
};

Receiver::Receiver(Sender* sender, uint32_t ssrc, Ptr<Node> node, double back_s)
    : m_sender(sender),
      m_ssrc(ssrc),
      m_back_s(back_s)
{
    FmxAsmpReceiverParams params;

    fmx_asmp_receiver_params_default(&params);
    params.algorithm = setting.algorithm;
    params.clock_rate_hz = CLOCK_RATE;
    fmx_asmp_receiver_init(&m_receiver, &params, MEDIA);
    m_socket = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
    m_socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
    m_socket->SetRecvCallback(MakeCallback(&Receiver::OnPacket, this));
}

void
Receiver::Start()
{
    m_there = true;
    Schedule(0.5); // [RFC3550 6.2]: half of it until the first report
}

void
Receiver::Stop()
{
    m_there = false;
    m_next.Cancel();
    Simulator::Schedule(Seconds(m_back_s), &Sender::OnBye, m_sender, m_ssrc);
}

void
Receiver::Schedule(double part)
{
    m_next = Simulator::Schedule(
        Seconds(part * setting.min_interval_s * m_random->GetValue(0.5, 1.5) / 1.21828),
        &Receiver::Report,
        this);
}

void
Receiver::OnReport(const Wire& wire)
{
    FmxAsmpRttHeader header;

    m_lsr = wire.mid32;
    m_lsr_s = Simulator::Now().GetSeconds();
    fmx_asmp_receiver_on_sender_report(&m_receiver,
                                       wire.ts,
                                       static_cast<FmxTime>(wire.ts / CLOCK_RATE * 1e9),
                                       Now(),
                                       Now());
    if (fmx_asmp_rtt_read(&header, wire.data, sizeof wire.data))
    {
        fmx_asmp_receiver_on_rtt(&m_receiver, m_ssrc, &header, wire.data);
    }
}

void
Receiver::OnPacket(Ptr<Socket> socket)
{
    while (Ptr<Packet> packet = socket->Recv())
    {
        Wire wire;

        packet->CopyData(reinterpret_cast<uint8_t*>(&wire), sizeof wire);
        if (!m_there)
        {
            continue;
        }
        if (wire.is_report)
        {
            OnReport(wire);
            continue;
        }
        bins.Add(packet->GetSize() + HEADER_BYTES);
        fmx_asmp_receiver_on_packet(&m_receiver,
                                    static_cast<uint16_t>(wire.seq),
                                    wire.ts,
                                    packet->GetSize() + HEADER_BYTES,
                                    Now());
        m_received++;
        m_highest = std::max(m_highest, wire.seq);
        double since_s = Simulator::Now().GetSeconds() - m_last_report_s;
        if (fmx_asmp_receiver_take_urgent(&m_receiver, Now()) && setting.min_interval_s < 5 &&
            since_s >= setting.min_interval_s / 2)
        {
            m_next.Cancel();
            Report();
        }
    }
}

void
Receiver::Report()
{
    uint32_t expected = m_highest - m_highest_before;
    FmxReportBlock block{};
    FmxAsmpRate rate{};

    block.ssrc = MEDIA;
    block.fraction_lost =
        expected > m_received ? static_cast<uint8_t>(255 * (expected - m_received) / expected) : 0;
    block.ext_highest_seq = m_highest;
    block.lsr = m_lsr;
    block.dlsr = static_cast<uint32_t>((Simulator::Now().GetSeconds() - m_lsr_s) * 65536);
    m_highest_before = m_highest;
    m_received = 0;
    m_last_report_s = Simulator::Now().GetSeconds();
    bool has_rate = fmx_asmp_receiver_report(&m_receiver, &rate, Now());
    Simulator::Schedule(Seconds(m_back_s),
                        &Sender::OnReport,
                        m_sender,
                        m_ssrc,
                        block,
                        has_rate,
                        rate);
    Schedule();
}

/* --- the network --- */

constexpr Red BOTTLENECK{0.05, 0.15, 0.2};

/* A bottleneck from the sender's side to one receiver, TCP beside it. */
struct Branch
{
    Branch(Source& source, uint32_t ssrc, double bps, double delay_s)
        : far(NewNode()),
          near(NewNode())
    {
        Cable(source.node, near, 1e9, 1e-3, NO_RED);
        address = Cable(near, far, bps, delay_s, BOTTLENECK);
        receiver = std::make_unique<Receiver>(&source.sender, ssrc, far, delay_s + 1e-3);
        source.group.Add(address);
    }

    void AddTcp(double start_s, double stop_s)
    {
        uint16_t port = 6000 + tcp.size();
        double delay_s = 1e-3 * (1 + tcp.size());
        Ptr<Node> host = NewNode();
        Cable(host, near, 1e9, delay_s, NO_RED);
        tcp.push_back(std::make_unique<Tcp>(host, far, address, port));
        tcp.back()->sending.Start(Seconds(start_s));
        tcp.back()->sending.Stop(Seconds(stop_s));
    }

    double TcpMean(size_t from, size_t until) const
    {
        double sum = 0;
        for (auto& flow : tcp)
        {
            sum += flow->bins.Mean(from, until);
        }
        return sum / tcp.size();
    }

    Ptr<Node> far, near;
    Ipv4Address address;
    std::unique_ptr<Receiver> receiver;
    std::vector<std::unique_ptr<Tcp>> tcp;
};

void
Run(double seconds)
{
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
}

/* ASMP figures 14-20, tables I and II */
void
Shares(Ptr<Node> node)
{
    Source source(node, 150000);
    Branch one(source, 11, 6.5e6, 0.02), two(source, 12, 11e6, 0.02);

    for (int i = 0; i < 10; i++)
    {
        one.AddTcp(0.1 * i, 300);
        two.AddTcp(0.1 * i, 300);
    }
    one.receiver->Start();
    two.receiver->Start();
    Run(300);
    double rate = one.receiver->bins.Mean(100, 300);
    printf("rate %.1f share-1-percent %.1f tcp-1-percent %.1f tcp-2-percent %.1f cov %.3f\n",
           rate,
           rate / 5.9085,
           one.TcpMean(100, 300) / 5.9085,
           two.TcpMean(100, 300) / 10,
           source.media.sent.Cov(100, 300));
}

/* ASMP figures 29-31 */
void
Halves(Ptr<Node> node)
{
    Source source(node, 150000);
    Branch one(source, 11, 400e3, 0.05), two(source, 12, 500e3, 0.05);

    two.AddTcp(100, 200);
    two.receiver->Start();
    Simulator::Schedule(Seconds(50), &Receiver::Start, one.receiver.get());
    Run(300);
    printf("alone %.1f with-400k %.1f beside-tcp %.1f tcp %.1f ratio %.2f after %.1f cov %.3f\n",
           source.sender.target.Mean(30, 50),
           source.sender.target.Mean(70, 100),
           two.receiver->bins.Mean(120, 200),
           two.TcpMean(120, 200),
           two.receiver->bins.Mean(120, 200) / two.TcpMean(120, 200),
           source.sender.target.Mean(250, 300),
           source.media.sent.Cov(120, 200));
}

/* as ASMP figures 11, 12, but alone on the link: beside its four TCPs a fair share
 * is 300 kbit/s already.  The four receivers behind one queue hear the same. */
void
Joiner(Ptr<Node> node)
{
    Source source(node, 500000);
    Branch many(source, 11, 1.5e6, 0.02), late(source, 12, 300e3, 0.02);

    many.receiver->Start();
    Simulator::Schedule(Seconds(50), &Receiver::Start, late.receiver.get());
    Simulator::Schedule(Seconds(100), &Receiver::Stop, late.receiver.get());
    Run(200);
    double before = source.sender.target.Mean(30, 50), fell = 0, rose = 0;
    for (size_t i = 50; i < 100 && source.sender.target.kbit[i] > 330; i++)
    {
        fell = i + 1 - 50.0;
    }
    for (size_t i = 100; i < 199 && source.sender.target.kbit[i] < 0.9 * before; i++)
    {
        rose = i + 1 - 100.0;
    }
    printf("before %.1f with-300k %.1f after %.1f fell-s %.0f rose-s %.0f\n",
           before,
           source.sender.target.Mean(70, 100),
           source.sender.target.Mean(150, 200),
           fell,
           rose);
}

} // namespace

int
main(int argc, char** argv)
{
    std::string scenario = argc > 3 ? argv[1] : "", algorithm = argc > 3 ? argv[2] : "";

    if (scenario.empty() || (algorithm != "asmp" && algorithm != "asmp-fair"))
    {
        fprintf(stderr, "usage: multicast-ns3 shares|halves|joiner asmp|asmp-fair SEED "
                        "[MIN-INTERVAL-S [PACKET-BYTES]]\n");
        return 2;
    }
    setting.algorithm = algorithm == "asmp" ? FMX_ASMP_PAPER : FMX_ASMP_FAIR;
    setting.min_interval_s = argc > 4 ? atof(argv[4]) : 5;
    setting.packet_bytes = argc > 5 ? atoi(argv[5]) : 1500;
    ConfigureTcp();
    RngSeedManager::SetRun(strtoull(argv[3], nullptr, 10));
    Ptr<Node> node = NewNode();
    if (scenario == "shares")
    {
        Shares(node);
    }
    else if (scenario == "halves")
    {
        Halves(node);
    }
    else
    {
        Joiner(node);
    }
    fflush(stdout);
    _exit(0); // ns-3's own end is slow
}
