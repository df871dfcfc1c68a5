/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRMIX_NS3_BUNDLE_H
#define FAIRMIX_NS3_BUNDLE_H

#include "plan.h"
#include "recorder.h"

#include "fairmix/adapt/fmx-adapt-mix.h"
#include "fairmix/adapt/fmx-adapt-streams.h"
#include "fairmix/rate/fmx-rate-sender.h"
#include "fairmix/wire/fmx-ccfb-collector.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <string>
#include <vector>

/* What a scenario says of a bundle. */
struct BundleParams
{
    std::string name;
    std::string strategy;   /* dpm, forward-all, mix-all, top-3 */
    std::string controller; /* class in libfairmix */
    unsigned segment_bytes; /* of the TCP equation */
    unsigned streams;
    double stream_bps;      /* of one stream, on the wire */
    double packet_s;        /* audio in a packet */
    double jitter_s;        /* a talker's packet is late by a part of it */
    FmxAdaptMix mix;        /* of all streams */
    double min_bps;         /* below this no media makes sense, on the wire */
    double headroom;        /* partialmix's property */
    Staircase speaking;     /* 1 and 0 in time: pauses of everybody */
    bool ignore_feedback;   /* as a broken sender would */
    bool ecn;               /* its packets take marks */
};

/* The near mixer and its talkers: RTP at the rates that a plan of
 * libfairmix's rate sender and adaptation allows.  The recorder may be missing. */
class BundleSender : public ns3::Application
{
  public:
    BundleSender(const BundleParams& params, ns3::Address to, Recorder* recorder);
    ~BundleSender() override;

    /* Once it has started */
    const FmxRateSender* Rate() const;
    /* Nothing is sent any more. */
    void Leave();

  private:
    void StartApplication() override;
    void StopApplication() override;

    void OnTalker(unsigned i);
    void OnPacket(unsigned i);
    void OnMix(unsigned i);
    void OnFeedback(ns3::Ptr<ns3::Socket> socket);
    void OnTimeout();
    void OnSecond();
    static void OnEvent(void* user, const FmxEvent* event);

    bool Speaking() const;
    bool MaySend() const;
    void SendRtp(unsigned index, unsigned bytes);
    void Update();
    void Plan(uint64_t target_bps);
    void Tell(const char* event);

    BundleParams m_params;
    ns3::Address m_to;
    Recorder* m_recorder;
    ns3::Ptr<ns3::Socket> m_socket;
    ns3::EventId m_timer;
    ns3::Ptr<ns3::UniformRandomVariable> m_random;

    FmxRateSender* m_rate;
    FmxEventSink m_sink;
    uint64_t m_target_bps;

    FmxAdaptParams m_adapt;
    FmxAdaptPlan m_plan;
    std::vector<FmxSelectStream> m_streams;
    std::vector<uint32_t> m_order;
    std::vector<int32_t> m_assignment;
    /* talkers, then mixes, then the probe */
    std::vector<uint16_t> m_seq;
};

/* The far mixer: acknowledges every packet (RFC 8888). */
class BundleSink : public ns3::Application
{
  public:
    explicit BundleSink(uint16_t port);

  private:
    void StartApplication() override;
    void StopApplication() override;
    void OnPacket(ns3::Ptr<ns3::Socket> socket);
    void OnTimeout();
    void Update();

    uint16_t m_port;
    ns3::Ptr<ns3::Socket> m_socket;
    ns3::Address m_from;
    ns3::EventId m_timer;
    FmxCcfbCollector m_collector;
    std::vector<FmxCcfbStream> m_memory;
};

#endif /* FAIRMIX_NS3_BUNDLE_H */
