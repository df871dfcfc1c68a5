/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRMIX_NS3_RECORDER_H
#define FAIRMIX_NS3_RECORDER_H

#include "flowlog.h"

#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <cstdio>
#include <string>
#include <vector>

/* Feeds flowlog with what ns-3's traces tell, and writes senders.csv. */
class Recorder
{
  public:
    explicit Recorder(const std::string& folder);
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /* A flow is what goes from one node to the other, to this port. */
    void AddFlow(const std::string& name,
                 ns3::Ptr<ns3::Node> from,
                 ns3::Ptr<ns3::Node> to,
                 uint16_t port,
                 bool tcp);
    /* A flow of which Count() tells. */
    void AddCounted(const std::string& name);
    void Count(const std::string& name, uint32_t bytes);

    /* What one listener gets of what goes from a node to a group, from when it has
     * joined until it leaves. */
    void AddGroup(ns3::Ptr<ns3::Node> from);
    void AddListener(const std::string& name, ns3::Ptr<ns3::Node> to, uint16_t port);
    void SetJoined(const std::string& name, bool joined);

    void AddRouter(ns3::Ptr<ns3::Node> router);
    void AddLink(const std::string& name, ns3::Ptr<ns3::SimpleNetDevice> device);
    void Tick();
    void Finish();

    /* A line of senders.csv, after t_s. */
    void Sender(const std::string& line);

  private:
    struct Flow
    {
        std::string name;
        uint16_t port;
        bool tcp;
        bool listener;
        bool joined;
    };

    bool Read(ns3::Ptr<const ns3::Packet> packet, flowlog_packet* out) const;
    void OnSent(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4>, uint32_t);
    void OnReceived(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4>, uint32_t);
    void OnSentToGroup(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4>, uint32_t);
    static void OnHeard(Recorder* self,
                        size_t flow,
                        ns3::Ptr<const ns3::Packet> packet,
                        ns3::Ptr<ns3::Ipv4>,
                        uint32_t);
    Flow& Find(const std::string& name);
    void OnEntered(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4>, uint32_t);
    static void OnPassed(Recorder* self,
                         int link,
                         ns3::Ptr<ns3::SimpleNetDevice> device,
                         ns3::Ptr<const ns3::Packet> packet);

    std::vector<Flow> m_flows;
    std::vector<std::string> m_links;
    uint64_t m_counted{0};
    flowlog* m_log;
    FILE* m_senders;
};

#endif /* FAIRMIX_NS3_RECORDER_H */
