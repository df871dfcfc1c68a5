/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRMIX_NS3_WANDER_H
#define FAIRMIX_NS3_WANDER_H

#include "ns3/core-module.h"
#include "ns3/network-module.h"

#include <stdexcept>
#include <string>

extern "C"
{
#include "delay-series.h"
}

/* A cable on which what one end sends is late by what a series says, in order, and
 * then by the cable's delay. */
class WanderingChannel : public ns3::SimpleChannel
{
  public:
    ~WanderingChannel() override
    {
        delay_series_close(&m_series);
    }

    /* Before anything is sent */
    void SetSeries(ns3::Ptr<ns3::SimpleNetDevice> end, const std::string& what, uint64_t seed)
    {
        m_end = ns3::PeekPointer(end);
        if (!delay_series_open(&m_series, what.c_str(), seed))
        {
            throw std::runtime_error("there is no " + what);
        }
    }

    void Send(ns3::Ptr<ns3::Packet> packet,
              uint16_t protocol,
              ns3::Mac48Address to,
              ns3::Mac48Address from,
              ns3::Ptr<ns3::SimpleNetDevice> sender) override
    {
        if (ns3::PeekPointer(sender) != m_end)
        {
            SimpleChannel::Send(packet, protocol, to, from, sender);
            return;
        }
        auto now = static_cast<FmxTime>(ns3::Simulator::Now().GetNanoSeconds());
        FmxTime late = delay_series_arrival(&m_series, now) - now;

        ns3::Simulator::Schedule(ns3::NanoSeconds(late),
                                 &WanderingChannel::SendLate,
                                 this,
                                 packet,
                                 protocol,
                                 to,
                                 from,
                                 sender);
    }

  private:
    void SendLate(ns3::Ptr<ns3::Packet> packet,
                  uint16_t protocol,
                  ns3::Mac48Address to,
                  ns3::Mac48Address from,
                  ns3::Ptr<ns3::SimpleNetDevice> sender)
    {
        SimpleChannel::Send(packet, protocol, to, from, sender);
    }

    const ns3::SimpleNetDevice* m_end{nullptr};
    DelaySeries m_series{};
};

#endif /* FAIRMIX_NS3_WANDER_H */
