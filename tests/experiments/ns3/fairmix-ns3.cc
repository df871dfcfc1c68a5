/* SPDX-License-Identifier: GPL-2.0-only */
/* fairmix-ns3 PLAN FOLDER: a scenario's run in ns-3.
 *
 * Hosts behind routers, links with a rate, a delay and a queue; TCP of ns-3;
 * audio by the very objects of libfairmix that the elements use.  Writes
 * flows.csv, links.csv and senders.csv into FOLDER. */
#include "bundle.h"
#include "group.h"
#include "tree.h"
#include "plan.h"
#include "recorder.h"
#include "wander.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

#include <fstream>
#include <iostream>
#include <unistd.h>

using namespace ns3;

namespace
{

constexpr uint16_t FIRST_PORT = 5000;

/* UDP that listens to nobody, at a rate that changes in time. */
class CbrSender : public Application
{
  public:
    CbrSender(Staircase rates, uint32_t bytes, double jitter_intervals, Address to)
        : m_random(CreateObject<UniformRandomVariable>()),
          m_rates(std::move(rates)),
          m_bytes(bytes),
          m_jitter(jitter_intervals),
          m_to(to)
    {
    }

  private:
    void StartApplication() override
    {
        m_socket = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
        m_socket->Bind();
        m_socket->Connect(m_to);
        Step(0);
    }

    void StopApplication() override
    {
        m_next.Cancel();
        m_packet.Cancel();
        m_socket->Close();
    }

    /* from the i-th rate on */
    void Step(size_t i)
    {
        while (i + 1 < m_rates.size() && m_rates[i + 1].first <= Simulator::Now().GetSeconds())
        {
            i++;
        }
        m_next.Cancel();
        m_bps = m_rates[i].second;
        if (m_bps > 0)
        {
            Tick();
        }
        if (i + 1 < m_rates.size())
        {
            Simulator::Schedule(Seconds(m_rates[i + 1].first) - Simulator::Now(),
                                &CbrSender::Step,
                                this,
                                i + 1);
        }
    }

    void Tick()
    {
        double interval_s = m_bytes * 8 / m_bps;
        double late_s = m_random->GetValue(0, m_jitter * interval_s);

        m_packet = Simulator::Schedule(Seconds(late_s), &CbrSender::Send, this);
        m_next = Simulator::Schedule(Seconds(interval_s), &CbrSender::Tick, this);
    }

    void Send()
    {
        uint32_t seq = m_seq++;
        uint8_t data[8] = {0};

        memcpy(data + 4, &seq, sizeof seq);
        Ptr<Packet> packet = Create<Packet>(data, sizeof data);
        packet->AddAtEnd(Create<Packet>(m_bytes - 28 - sizeof data));
        m_socket->Send(packet);
    }

    Ptr<UniformRandomVariable> m_random;
    Staircase m_rates;
    uint32_t m_bytes;
    double m_jitter;
    Address m_to;
    Ptr<Socket> m_socket;
    EventId m_next;
    EventId m_packet;
    double m_bps{0};
    uint32_t m_seq{0};
};

/* Files over TCP, one after another, with pauses. */
class FileSender : public Application
{
  public:
    FileSender(double least_bytes, double most_bytes, double idle_s, Address to)
        : m_idle(CreateObject<ExponentialRandomVariable>()),
          m_size(CreateObject<UniformRandomVariable>()),
          m_to(to)
    {
        m_idle->SetAttribute("Mean", DoubleValue(idle_s));
        m_size->SetAttribute("Min", DoubleValue(least_bytes));
        m_size->SetAttribute("Max", DoubleValue(most_bytes));
    }

  private:
    void StartApplication() override
    {
        m_running = true;
        Begin();
    }

    void StopApplication() override
    {
        m_running = false;
    }

    void Begin()
    {
        if (!m_running)
        {
            return;
        }
        Ptr<Socket> socket = Socket::CreateSocket(GetNode(), TcpSocketFactory::GetTypeId());
        m_left = static_cast<uint32_t>(m_size->GetValue());
        socket->Bind();
        socket->SetConnectCallback(MakeCallback(&FileSender::Fill, this),
                                   MakeNullCallback<void, Ptr<Socket>>());
        socket->SetSendCallback(MakeCallback(&FileSender::OnRoom, this));
        socket->SetCloseCallbacks(MakeCallback(&FileSender::OnClosed, this),
                                  MakeCallback(&FileSender::OnClosed, this));
        socket->Connect(m_to);
    }

    void Fill(Ptr<Socket> socket)
    {
        while (m_left > 0)
        {
            uint32_t room = std::min({m_left, socket->GetTxAvailable(), uint32_t{14480}});
            if (room == 0 || socket->Send(Create<Packet>(room)) < 0)
            {
                return;
            }
            m_left -= room;
        }
        socket->SetSendCallback(MakeNullCallback<void, Ptr<Socket>, uint32_t>());
        socket->Close();
    }

    void OnRoom(Ptr<Socket> socket, uint32_t)
    {
        Fill(socket);
    }

    void OnClosed(Ptr<Socket>)
    {
        Simulator::Schedule(Seconds(m_idle->GetValue()), &FileSender::Begin, this);
    }

    Ptr<ExponentialRandomVariable> m_idle;
    Ptr<UniformRandomVariable> m_size;
    Address m_to;
    uint32_t m_left{0};
    bool m_running{false};
};

/* The run: what the statements of a plan make. */
class Simulation
{
  public:
    explicit Simulation(const std::string& folder)
        : m_recorder(folder)
    {
    }

    void Build(const std::vector<Statement>& plan);
    void Run(double seconds);

  private:
    Ptr<Node> NewNode();
    Ptr<Node> Router(const std::string& name);
    NetDeviceContainer Cable(Ptr<Node> a,
                             Ptr<Node> b,
                             const SimpleNetDeviceHelper& helper,
                             Ptr<SimpleChannel> channel = nullptr);
    Ptr<Node> NewHost(const std::string& router, double delay_ms);
    void AddLink(const Statement& s);
    void AddFlow(const Statement& s);
    void AddGroup(const Statement& s);
    void AddListeners(const Statement& s);
    void StartTcp(const Statement& s, Ptr<Node> from, Ptr<Node> to, uint16_t port);
    void Install(const Statement& s, Ptr<Application> app, Ptr<Node> node, bool first);
    static void SetRate(Ptr<SimpleNetDevice> device, double bps);
    static void SetDelay(Ptr<Channel> channel, double ms);
    static void SetLoss(Ptr<RateErrorModel> model, double p);

    Recorder m_recorder;
    std::map<std::string, Ptr<Node>> m_routers;
    std::map<Ptr<Node>, Ipv4Address> m_addresses;
    Tree m_tree;
    std::map<std::string, Group> m_groups;
    uint32_t m_net{0x0a000000};
    uint16_t m_port{FIRST_PORT};
    uint64_t m_seed{1};
    bool m_ecn{false}; // a link marks
};

Ptr<Node>
Simulation::NewNode()
{
    InternetStackHelper stack;
    Ptr<Node> node = CreateObject<Node>();

    stack.SetIpv6StackInstall(false);
    stack.Install(node);
    return node;
}

Ptr<Node>
Simulation::Router(const std::string& name)
{
    auto& node = m_routers[name];
    if (node == nullptr)
    {
        node = NewNode();
        m_recorder.AddRouter(node);
    }
    return node;
}

/* No Ipv4AddressHelper: it would install queue disciplines of its own. */
NetDeviceContainer
Simulation::Cable(Ptr<Node> a,
                  Ptr<Node> b,
                  const SimpleNetDeviceHelper& helper,
                  Ptr<SimpleChannel> channel)
{
    NodeContainer ends(a, b);
    NetDeviceContainer devices =
        channel == nullptr ? helper.Install(ends) : helper.Install(ends, channel);

    for (uint32_t k = 0; k < 2; k++)
    {
        Ptr<Ipv4> ip = ends.Get(k)->GetObject<Ipv4>();
        uint32_t i = ip->AddInterface(devices.Get(k));
        Ipv4Address address(m_net + 1 + k);

        ip->AddAddress(i, Ipv4InterfaceAddress(address, Ipv4Mask("/30")));
        ip->SetMetric(i, 1);
        ip->SetUp(i);
        m_addresses[ends.Get(k)] = address;
    }
    m_net += 4;
    m_tree.AddCable(devices);
    return devices;
}

Ptr<Node>
Simulation::NewHost(const std::string& router, double delay_ms)
{
    SimpleNetDeviceHelper helper;
    Ptr<Node> host = NewNode();

    helper.SetNetDevicePointToPointMode(true);
    helper.DisableFlowControl();
    helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("10000p"));
    helper.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    helper.SetChannelAttribute("Delay", TimeValue(MicroSeconds(delay_ms * 1e3 / 2)));
    Cable(host, Router(router), helper);
    return host;
}

void
Simulation::SetRate(Ptr<SimpleNetDevice> device, double bps)
{
    device->SetAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(bps))));
}

void
Simulation::SetDelay(Ptr<Channel> channel, double ms)
{
    channel->SetAttribute("Delay", TimeValue(MicroSeconds(ms * 1e3)));
}

void
Simulation::SetLoss(Ptr<RateErrorModel> model, double p)
{
    model->SetRate(p);
}

void
Simulation::AddLink(const Statement& s)
{
    bool red = s.Text("queue") == "red", ecn = s.Number("ecn") > 0;
    std::string limit = s.Number("queue_packets") > 0 ? s.Text("queue_packets") + "p"
                                                      : s.Text("queue_bytes") + "B";
    SimpleNetDeviceHelper helper;

    helper.SetNetDevicePointToPointMode(true);
    if (ecn)
    {
        m_ecn = true;
        Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
    }
    if (red)
    {
        // flow control on and room for one packet: all wait in the discipline
        helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));
    }
    else
    {
        helper.DisableFlowControl();
        helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(limit));
    }
    Ptr<WanderingChannel> wandering;
    if (s.Text("wander") != "none")
    {
        wandering = CreateObject<WanderingChannel>();
    }
    NetDeviceContainer ends =
        Cable(Router(s.Text("from")), Router(s.Text("to")), helper, wandering);
    if (wandering != nullptr)
    {
        wandering->SetSeries(DynamicCast<SimpleNetDevice>(ends.Get(0)), s.Text("wander"), m_seed);
    }
    for (uint32_t k = 0; k < 2; k++)
    {
        auto device = DynamicCast<SimpleNetDevice>(ends.Get(k));
        auto error = CreateObject<RateErrorModel>();

        for (auto& [t, bps] : s.Steps(k == 0 ? "rate_bps" : "back_rate_bps"))
        {
            Simulator::Schedule(Seconds(t), &Simulation::SetRate, device, bps);
        }
        error->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        // an end's error model is on what it receives
        for (auto& [t, p] : s.Steps(k == 1 ? "loss" : "back_loss"))
        {
            Simulator::Schedule(Seconds(t), &Simulation::SetLoss, error, p);
        }
        device->SetAttribute("ReceiveErrorModel", PointerValue(error));
        m_recorder.AddLink(s.Text("name") + (k == 0 ? "" : "-back"), device);
        if (red)
        {
            TrafficControlHelper tc;
            double bps = s.Steps(k == 0 ? "rate_bps" : "back_rate_bps")[0].second;

            tc.SetRootQueueDisc("ns3::RedQueueDisc",
                                "MaxSize",
                                StringValue(limit),
                                "MinTh",
                                DoubleValue(s.Number("red_min_bytes")),
                                "MaxTh",
                                DoubleValue(s.Number("red_max_bytes")),
                                "LInterm",
                                DoubleValue(1 / s.Number("red_probability")),
                                "MeanPktSize",
                                UintegerValue(500),
                                "QW",
                                DoubleValue(0.002),
                                "Gentle",
                                BooleanValue(true),
                                "UseEcn",
                                BooleanValue(ecn),
                                "LinkBandwidth",
                                DataRateValue(DataRate(static_cast<uint64_t>(bps))));
            tc.Install(ends.Get(k));
        }
    }
    for (auto& [t, ms] : s.Steps("delay_ms"))
    {
        Simulator::Schedule(Seconds(t), &Simulation::SetDelay, ends.Get(0)->GetChannel(), ms);
    }
}

void
Simulation::Install(const Statement& s, Ptr<Application> app, Ptr<Node> node, bool first)
{
    node->AddApplication(app);
    app->SetStartTime(first ? Seconds(0) : Seconds(s.Number("start_s")));
    app->SetStopTime(Seconds(s.Number("stop_s")));
}

void
Simulation::StartTcp(const Statement& s, Ptr<Node> from, Ptr<Node> to, uint16_t port)
{
    static const std::map<std::string, std::string> types = {{"reno", "ns3::TcpLinuxReno"},
                                                             {"cubic", "ns3::TcpCubic"},
                                                             {"bbr", "ns3::TcpBbr"}};
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    InetSocketAddress address(m_addresses[to], port);

    from->GetObject<TcpL4Protocol>()->SetAttribute(
        "SocketType",
        TypeIdValue(TypeId::LookupByName(types.at(s.Text("cc")))));
    sink.Install(to).Start(Seconds(0));
    if (s.Number("idle_s") > 0)
    {
        Install(s,
                CreateObject<FileSender>(s.Number("least_bytes"),
                                         s.Number("most_bytes"),
                                         s.Number("idle_s"),
                                         address),
                from,
                false);
    }
    else
    {
        BulkSendHelper bulk("ns3::TcpSocketFactory", address);

        bulk.SetAttribute("SendSize", UintegerValue(14480));
        Install(s, bulk.Install(from).Get(0), from, false);
    }
    // a socket that is closed would send all that it holds first, for minutes
    Simulator::Schedule(Seconds(s.Number("stop_s")),
                        &Ipv4::SetDown,
                        from->GetObject<Ipv4>(),
                        1);
}

void
Simulation::AddFlow(const Statement& s)
{
    Ptr<Node> from = NewHost(s.Text("from"), s.Number("access_delay_ms"));
    Ptr<Node> to = NewHost(s.Text("to"), s.Number("access_delay_ms"));
    uint16_t port = m_port;
    InetSocketAddress address(m_addresses[to], port);

    m_port = static_cast<uint16_t>(m_port + 10);
    m_recorder.AddFlow(s.Text("name"), from, to, port, s.Kind() == "tcp");
    if (s.Kind() == "tcp")
    {
        StartTcp(s, from, to, port);
    }
    else if (s.Kind() == "cbr")
    {
        Install(s,
                CreateObject<CbrSender>(s.Steps("rate_bps"),
                                        static_cast<uint32_t>(s.Number("packet_bytes")),
                                        s.Number("jitter_intervals"),
                                        address),
                from,
                false);
    }
    else
    {
        BundleParams params{};

        params.name = s.Text("name");
        params.strategy = s.Text("strategy");
        params.controller = s.Text("controller");
        params.segment_bytes = static_cast<unsigned>(s.Number("segment_bytes"));
        params.streams = static_cast<unsigned>(s.Number("streams"));
        params.stream_bps = s.Number("stream_bps");
        params.packet_s = s.Number("packet_s");
        params.jitter_s = s.Number("jitter_s");
        params.mix.min_bitrate_bps = static_cast<uint32_t>(s.Number("mix_min_bitrate_bps"));
        params.mix.max_bitrate_bps = static_cast<uint32_t>(s.Number("mix_max_bitrate_bps"));
        params.mix.packet_time = fmx_time_from_s(s.Number("mix_packet_s"));
        params.mix.n_contributors = params.streams;
        params.mix.levels = s.Number("mix_levels") > 0;
        params.min_bps = s.Number("min_bps");
        params.headroom = s.Number("headroom");
        params.speaking = s.Steps("speaking");
        params.ecn = m_ecn;
        params.ignore_feedback = s.Number("ignore_feedback") > 0;
        Install(s, CreateObject<BundleSink>(port), to, true);
        Install(s, CreateObject<BundleSender>(params, address, &m_recorder), from, false);
    }
}

void
Simulation::AddGroup(const Statement& s)
{
    Ptr<Node> host = NewHost(s.Text("from"), s.Number("access_delay_ms"));
    Group& group = m_groups[s.Text("name")];
    GroupParams params{};

    group.host = host;
    group.source = m_addresses[host];
    group.address = Ipv4Address(0xe1000000 + m_port);
    group.port = m_port;
    m_port = static_cast<uint16_t>(m_port + 10);
    params.name = s.Text("name");
    params.algorithm =
        s.Text("algorithm") == "asmp" ? FMX_ASMP_PAPER : FMX_ASMP_FAIR;
    params.smooth = s.Number("smooth") > 0;
    params.initial_bps = s.Number("initial_bps");
    params.max_bps = s.Number("max_bps");
    params.packet_bytes = static_cast<uint32_t>(s.Number("packet_bytes"));
    params.packet_s = s.Number("packet_s");
    params.min_interval_s = s.Number("min_interval_s");
    params.early = s.Number("early") > 0;
    params.rounds = s.Number("rounds") > 0;
    m_recorder.AddCounted(params.name);
    m_recorder.AddCounted(params.name + "-rtcp");
    m_recorder.AddGroup(host);
    auto sender =
        CreateObject<GroupSender>(params,
                                  InetSocketAddress(group.address, group.port),
                                  InetSocketAddress(group.address,
                                                    static_cast<uint16_t>(group.port + 1)),
                                  &m_recorder);
    group.sender = PeekPointer(sender);
    Install(s, sender, host, false);
}

void
Simulation::AddListeners(const Statement& s)
{
    Group& group = m_groups.at(s.Text("of"));
    Ptr<Node> host = NewHost(s.Text("to"), s.Number("access_delay_ms"));
    std::string name = s.Text("name");
    auto n = static_cast<uint32_t>(s.Number("count"));
    auto listeners = CreateObject<GroupListeners>(
        group.sender,
        group.next_ssrc,
        n,
        s.Number("loss"),
        group.port,
        InetSocketAddress(group.source, static_cast<uint16_t>(group.port + 1)));

    group.next_ssrc += n;
    m_recorder.AddListener(name, host, group.port);
    Install(s, listeners, host, false);
    for (bool joins : {true, false})
    {
        Time when = Seconds(s.Number(joins ? "start_s" : "stop_s"));

        Simulator::Schedule(when, &Tree::SetMember, &m_tree, &group, host, joins);
        Simulator::Schedule(when, &Recorder::SetJoined, &m_recorder, name, joins);
    }
}

void
Simulation::Build(const std::vector<Statement>& plan)
{
    for (auto& s : plan)
    {
        if (s.Kind() == "run")
        {
            m_seed = static_cast<uint64_t>(s.Number("seed"));
        }
        else if (s.Kind() == "link")
        {
            AddLink(s);
        }
        else if (s.Kind() == "multicast")
        {
            AddGroup(s);
        }
        else if (s.Kind() == "listener")
        {
            AddListeners(s);
        }
        else
        {
            AddFlow(s);
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
}

void
Simulation::Run(double seconds)
{
    m_recorder.Tick();
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    m_recorder.Finish();
}

/* Linux's values where ns-3's differ.  With ns-3's delayed acknowledgements
 * (200 ms) and Linux's least RTO (200 ms) every lone segment would time out. */
void
SetTcpDefaults()
{
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
}

} // namespace

int
main(int argc, char** argv)
{
    if (argc != 3)
    {
        std::cerr << "usage: fairmix-ns3 PLAN FOLDER\n";
        return 2;
    }
    try
    {
        std::ifstream in(argv[1]);
        auto plan = ReadPlan(in);
        double seconds = 0;
        uint64_t seed = 1;

        for (auto& s : plan)
        {
            if (s.Kind() == "run")
            {
                seconds = s.Number("duration_s");
                seed = static_cast<uint64_t>(s.Number("seed"));
            }
        }
        SetTcpDefaults();
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(seed);
        Simulation simulation(argv[2]);
        simulation.Build(plan);
        simulation.Run(seconds);
    }
    catch (const std::exception& e)
    {
        std::cerr << "fairmix-ns3: " << e.what() << '\n';
        return 1;
    }
    return 0;
}
