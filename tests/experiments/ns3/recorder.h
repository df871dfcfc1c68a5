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
    };

    bool Read(ns3::Ptr<const ns3::Packet> packet, flowlog_packet* out) const;
    void OnSent(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4>, uint32_t);
    void OnReceived(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4>, uint32_t);
    void OnEntered(ns3::Ptr<const ns3::Packet> packet, ns3::Ptr<ns3::Ipv4>, uint32_t);
    static void OnPassed(Recorder* self,
                         int link,
                         ns3::Ptr<ns3::SimpleNetDevice> device,
                         ns3::Ptr<const ns3::Packet> packet);

    std::vector<Flow> m_flows;
    std::vector<std::string> m_links;
    flowlog* m_log;
    FILE* m_senders;
};

#endif /* FAIRMIX_NS3_RECORDER_H */
