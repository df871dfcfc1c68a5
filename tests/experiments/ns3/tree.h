/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRMIX_NS3_TREE_H
#define FAIRMIX_NS3_TREE_H

#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <map>
#include <set>
#include <vector>

class GroupSender;

/* A multicast group with one source. */
struct Group
{
    ns3::Ptr<ns3::Node> host; /* of the source */
    ns3::Ipv4Address source, address;
    uint16_t port{0};
    uint32_t next_ssrc{1000};
    GroupSender* sender{nullptr};
    std::set<ns3::Ptr<ns3::Node>> members;
};

/* Routes packets to groups along the shortest paths, to members alone. */
class Tree
{
  public:
    void AddCable(const ns3::NetDeviceContainer& ends);

    /* A host joins the group or leaves it: routes are made anew. */
    void SetMember(Group* group, ns3::Ptr<ns3::Node> host, bool joins);

  private:
    struct Edge
    {
        ns3::Ptr<ns3::NetDevice> near, far;
    };

    using Paths = std::map<ns3::Ptr<ns3::Node>, Edge>;

    Paths PathsFrom(ns3::Ptr<ns3::Node> source) const;

    std::map<ns3::Ptr<ns3::Node>, std::vector<Edge>> m_edges;
    /* nodes that route a group, and where it comes in */
    std::map<Group*, std::map<ns3::Ptr<ns3::Node>, uint32_t>> m_routed;
};

#endif /* FAIRMIX_NS3_TREE_H */
