/* SPDX-License-Identifier: GPL-2.0-only */
/* What the experiments with single flows share: cables, RED, TCPs, means */
#ifndef FMX_NS3_WIRES_H
#define FMX_NS3_WIRES_H

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/* A mean of what comes in each second, from some second on. */
struct Bins
{
    std::vector<double> kbit;

    void Add(uint32_t bytes)
    {
        auto second = static_cast<size_t>(Simulator::Now().GetSeconds());
        kbit.resize(std::max(kbit.size(), second + 1));
        kbit[second] += bytes * 8e-3;
    }

    double Mean(size_t from, size_t until) const
    {
        double sum = 0;
        for (size_t i = from; i < until; i++)
        {
            sum += i < kbit.size() ? kbit[i] : 0;
        }
        return sum / (until - from);
    }

    double Cov(size_t from, size_t until) const
    {
        double mean = Mean(from, until), sum = 0;
        for (size_t i = from; i < until; i++)
        {
            sum += std::pow((i < kbit.size() ? kbit[i] : 0) - mean, 2);
        }
        return std::sqrt(sum / (until - from)) / mean;
    }
};

/* RED: seconds of queue at the link's rate; a limit of 0 = none */
struct Red
{
    double min_s;
    double max_s;
    double limit_s;
};

constexpr Red NO_RED{0, 0, 0};

uint32_t g_net = 0x0a000000;

inline Ipv4Address
Cable(Ptr<Node> a, Ptr<Node> b, double bps, double delay_s, const Red& queue)
{
    bool red = queue.limit_s > 0;
    SimpleNetDeviceHelper helper;
    helper.SetNetDevicePointToPointMode(true);
    helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(bps))));
    helper.SetChannelAttribute("Delay", TimeValue(Seconds(delay_s)));
    helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(red ? "1p" : "10000p"));
    if (!red)
    {
        helper.DisableFlowControl();
    }
    NetDeviceContainer ends = helper.Install(NodeContainer(a, b));
    if (red)
    {
        TrafficControlHelper tc;
        double second_bytes = bps / 8;
        tc.SetRootQueueDisc("ns3::RedQueueDisc",
                            "MaxSize",
                            StringValue(std::to_string(uint32_t(queue.limit_s * second_bytes)) + "B"),
                            "MinTh",
                            DoubleValue(queue.min_s * second_bytes),
                            "MaxTh",
                            DoubleValue(queue.max_s * second_bytes),
                            "LInterm",
                            DoubleValue(10),
                            "MeanPktSize",
                            UintegerValue(1000),
                            "QW",
                            DoubleValue(0.002),
                            "Gentle",
                            BooleanValue(true),
                            "LinkBandwidth",
                            DataRateValue(DataRate(static_cast<uint64_t>(bps))));
        tc.Install(ends);
    }
    Ipv4AddressHelper addresses(Ipv4Address(g_net), "255.255.255.252");
    g_net += 4;
    Ipv4InterfaceContainer interfaces = addresses.Assign(ends);
    return interfaces.GetAddress(1);
}

inline Ptr<Node>
NewNode()
{
    Ptr<Node> node = CreateObject<Node>();
    InternetStackHelper().Install(node);
    return node;
}

/* of a TCP; IP, TCP and its time stamps take as much as of 1500 bytes */
uint32_t g_segment = 1448;

/* A TCP that sends from one node to another, and what it brings */
struct Tcp
{
    Tcp(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint16_t port)
    {
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(to).Get(0)->TraceConnectWithoutContext(
            "Rx", MakeBoundCallback(&Tcp::OnPacket, &bins));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(address, port));
        sending = source.Install(from);
    }

    static void OnPacket(Bins* bins, Ptr<const Packet> packet, const Address&)
    {
        bins->Add(packet->GetSize() * (g_segment + 52) / g_segment);
    }

    ApplicationContainer sending;
    Bins bins;
};

/* Linux' Reno */
inline void
ConfigureTcp()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpLinuxReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(g_segment));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 17));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
}

} // namespace

#endif /* FMX_NS3_WIRES_H */
