/* SPDX-License-Identifier: GPL-2.0-only */
#include "tree.h"

#include <deque>

using namespace ns3;

void
Tree::AddCable(const NetDeviceContainer& ends)
{
    m_edges[ends.Get(0)->GetNode()].push_back({ends.Get(0), ends.Get(1)});
    m_edges[ends.Get(1)->GetNode()].push_back({ends.Get(1), ends.Get(0)});
}

/* The edge by which each node is reached */
Tree::Paths
Tree::PathsFrom(Ptr<Node> source) const
{
    std::deque<Ptr<Node>> waiting{source};
    Paths reached{{source, {}}};

    while (!waiting.empty())
    {
        Ptr<Node> node = waiting.front();

        waiting.pop_front();
        for (auto& edge : m_edges.at(node))
        {
            if (reached.emplace(edge.far->GetNode(), edge).second)
            {
                waiting.push_back(edge.far->GetNode());
            }
        }
    }
    reached.erase(source);
    return reached;
}

void
Tree::SetMember(Group* group, Ptr<Node> host, bool joins)
{
    Ipv4StaticRoutingHelper helper;
    Paths paths = PathsFrom(group->host);
    std::map<Ptr<Node>, std::set<Ptr<NetDevice>>> out;

    if (joins)
    {
        group->members.insert(host);
    }
    else
    {
        group->members.erase(host);
    }
    for (auto node : group->members)
    {
        for (; node != group->host; node = paths.at(node).near->GetNode())
        {
            out[paths.at(node).near->GetNode()].insert(paths.at(node).near);
        }
    }
    for (auto& [node, interface] : m_routed[group])
    {
        helper.GetStaticRouting(node->GetObject<Ipv4>())
            ->RemoveMulticastRoute(group->source, group->address, interface);
    }
    m_routed[group].clear();
    for (auto& [node, devices] : out)
    {
        Ptr<Ipv4> ip = node->GetObject<Ipv4>();
        NetDeviceContainer outs;

        if (node == group->host)
        {
            helper.SetDefaultMulticastRoute(node, *devices.begin());
            continue;
        }
        for (auto& device : devices)
        {
            outs.Add(device);
        }
        Ptr<NetDevice> in = paths.at(node).far;
        helper.AddMulticastRoute(node, group->source, group->address, in, outs);
        m_routed[group][node] = ip->GetInterfaceForDevice(in);
    }
}
