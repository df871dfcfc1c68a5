/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRMIX_NS3_GROUP_H
#define FAIRMIX_NS3_GROUP_H

#include "recorder.h"
#include "report-times.h"

#include "fairmix/asmp/fmx-asmp-sender.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <memory>
#include <string>
#include <vector>

/* What a scenario says of a sender to a multicast group, and of its session. */
struct GroupParams
{
    std::string name;
    FmxAsmpAlgorithm algorithm;
    bool smooth;           /* ASMP (14) */
    double initial_bps;
    double max_bps;
    uint32_t packet_bytes; /* on the wire; 0: a packet each packet_s */
    double packet_s;
    double min_interval_s; /* of RTCP */
    bool early;            /* reports, RFC 4585 */
    bool rounds;           /* "asmp-fair" */
};

class GroupListeners;

/* A sender to a multicast group, and what the members of its RTP session share.
 * RTCP to the group reaches the sender through the network; what receivers hear of
 * each other they hear when it has arrived there, and a one-way time later. */
class GroupSender : public ns3::Application
{
  public:
    GroupSender(const GroupParams& params, ns3::Address media, ns3::Address rtcp, Recorder* recorder);
    ~GroupSender() override;

    const GroupParams& Params() const;
    void AddListeners(GroupListeners* listeners);

    /* Td of RFC 3550 6.3.1 for a receiver, without its random factor */
    double IntervalS() const;

    /* T of it: with that factor */
    double RandomInterval(double interval_s) const;

    uint32_t Members() const;

    /* A receiver has been there for the first time / has gone */
    void CountMember(int change);

  private:
    void StartApplication() override;
    void StopApplication() override;
    void Send();
    void OnReportTimer();
    void SendReport();
    void Tick();
    void OnFeedback(ns3::Ptr<ns3::Socket> socket);
    void Tell(const char* event);
    void CountRtcp(uint32_t bytes);

    GroupParams m_params;
    ns3::Address m_media, m_rtcp;
    Recorder* m_recorder;
    std::vector<GroupListeners*> m_listeners;
    ns3::Ptr<ns3::Socket> m_socket;
    ns3::Ptr<ns3::UniformRandomVariable> m_random;
    std::vector<char> m_memory;
    FmxAsmpSender m_sender;
    ReportTimes m_times;
    uint32_t m_seq{0};
    uint32_t m_members{0};
    double m_rtcp_bytes{120};
    uint32_t m_rates{0}; /* since the last line of senders.csv */
};

/* Any number of receivers at one place. */
class GroupListeners : public ns3::Application
{
  public:
    GroupListeners(GroupSender* sender,
                   uint32_t first_ssrc,
                   uint32_t n,
                   double loss,
                   uint16_t port,
                   ns3::Address feedback);
    ~GroupListeners() override;

    /* Another receiver tells its rate. */
    void OnPeer(uint32_t ssrc, const FmxAsmpRate& rate);

  private:
    struct One;

    void StartApplication() override;
    void StopApplication() override;
    void OnMedia(ns3::Ptr<ns3::Socket> socket);
    void OnSenderReport(ns3::Ptr<ns3::Socket> socket);
    double Interval(const One& one) const;
    void SetTimer(One& one);
    void OnTimer(One* one);
    void OnWait(One* one);
    void Report(One& one);
    void Schedule(One& one);
    void ReportEarly(One& one);

    GroupSender* m_sender;
    double m_loss;
    uint16_t m_port;
    ns3::Address m_feedback;
    ns3::Ptr<ns3::Socket> m_media, m_rtcp;
    ns3::Ptr<ns3::UniformRandomVariable> m_random;
    std::vector<std::unique_ptr<One>> m_ones;
};

#endif /* FAIRMIX_NS3_GROUP_H */
