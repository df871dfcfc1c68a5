/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SIM_BUNDLE_H
#define FMX_SIM_BUNDLE_H

#include "fairmix/rate/fmx-rate-sender.h"
#include "fairmix/wire/fmx-ccfb-collector.h"
#include "sim/fmx-sim-link.h"
#include "sim/fmx-sim-voices.h"

/* A bundle of constant-rate voice streams in virtual time: the library's rate
 * sender at one end, at the other the library's feedback collector, or report
 * blocks.  Whoever drives it calls run() when next() says, and hands it what
 * the shared forward link delivers for its flow:
 *
 *   while ((now = fmx_sim_next (...)) < end)
 *     fmx_sim_run (...);
 */

#define FMX_SIM_MAX_STREAMS (FMX_SIM_VOICES_MAX + 2u)     /* a mix, padding */
#define FMX_SIM_MAX_BLOCKS 32u
#define FMX_SIM_FEEDBACKS 512u
#define FMX_SIM_FEEDBACK_BYTES 1472u

/**
 * FmxSimBehaviour:
 * @FMX_SIM_WHOLE_STREAMS: as many streams as the target carries: DPM
 * @FMX_SIM_PACED: packets of one stream at the target's rate: TFRC's own way
 * @FMX_SIM_SELECTED: the voices that a selection keeps separate, and a mix
 * @FMX_SIM_DEAF: all streams, whatever the target is
 */
typedef enum
{
  FMX_SIM_WHOLE_STREAMS,
  FMX_SIM_PACED,
  FMX_SIM_SELECTED,
  FMX_SIM_DEAF
} FmxSimBehaviour;

/**
 * FmxSimBundleParams:
 * @sender: for the rate sender
 * @behaviour: what it does with the target
 * @n_streams: streams that want to talk; with report blocks at most
 *     %FMX_SIM_MAX_BLOCKS
 * @wire_bytes: size of their packets; with SELECTED, of a voice's, each %FMX_SIM_VOICES_INTERVAL
 * @packet_interval: between two packets of a stream; the least for PACED
 * @jitter: each packet leaves up to so much later than its time; without,
 *     flows keep step and a full queue drops always the same one's packets
 * @report_interval: 0 = RFC 8888 feedback, else a report block that often
 * @feedback_fraction: share of the media's rate for RFC 8888 feedback; 0 = the
 *     collector's default
 * @back: the way of the feedback
 * @ecn: its packets may be marked
 * @l4s: as ECT(1)
 * @start: when it begins
 * @pauses: with SELECTED, voices come late, talk and pause, and send nothing meanwhile
 * @stall: the computer stands still for so long at most, neither sends nor reads
 *     or writes feedback
 * @seen_late: what arrives meanwhile is noted after that, by who reads; else in time, as
 *     kernels do
 * @stall_interval: mean time between two stalls; 0 = never
 */
typedef struct
{
  FmxRateSenderParams sender;
  FmxSimBehaviour behaviour;
  unsigned n_streams;
  uint32_t wire_bytes;
  FmxDuration packet_interval;
  FmxDuration jitter;
  FmxDuration report_interval;
  double feedback_fraction;
  FmxSimLinkParams back;
  FmxTime start;
  bool ecn;
  bool l4s;
  bool pauses;
  bool seen_late;
  FmxDuration stall;
  FmxDuration stall_interval;
} FmxSimBundleParams;

typedef struct
{
  size_t size;
  uint8_t data[FMX_SIM_FEEDBACK_BYTES];
  FmxReportBlock blocks[FMX_SIM_MAX_BLOCKS];
} FmxSimFeedback;

typedef struct
{
  FmxSimBundleParams params;
  FmxSimLink *forward;          /* shared */
  uint32_t flow;
  FmxSimLink back;
  FmxRateSender sender;
  FmxCcfbCollector collector;
  FmxCcfbStream ccfb_streams[FMX_SIM_MAX_STREAMS];
  uint16_t seq[FMX_SIM_MAX_STREAMS];
  FmxTime tick[FMX_SIM_MAX_STREAMS];    /* the stream's clock */
  FmxTime send_at[FMX_SIM_MAX_STREAMS];
  FmxTime next_packet;          /* the first of these */
  FmxSimVoices voices;
  uint64_t wanted_bps;
  FmxRng rng;
  unsigned n_now;               /* streams that are sent */
  bool mute;                    /* the talkers fell silent */
  FmxTime next_stall, stalled_until;
  /* at the receiver */
  uint32_t highest[FMX_SIM_MAX_STREAMS], received[FMX_SIM_MAX_STREAMS];
  FmxTime last_sr, last_sr_arrival, report_at;
  uint64_t n_feedback;
  /* what else comes the way of the feedback: of flows > 0 */
  void (*on_other) (void *user, const FmxSimPacket * packet, FmxTime now);
  void *user;
  FmxSimFeedback feedback[FMX_SIM_FEEDBACKS];
  /* counters, for whoever watches */
  uint64_t n_sent, n_received, sent_bytes, received_bytes;
  uint64_t padding_bytes;       /* of those received, where there is a mix */
  FmxTime counted;
  double stream_seconds;        /* sum of n_now over time */
} FmxSimBundle;

void fmx_sim_bundle_init (FmxSimBundle * bundle,
    const FmxSimBundleParams * params, FmxSimLink * forward, uint32_t flow,
    uint64_t seed);

/** Returns: when fmx_sim_bundle_run() has something to do */
FmxTime fmx_sim_bundle_next (const FmxSimBundle * bundle);
void fmx_sim_bundle_run (FmxSimBundle * bundle, FmxTime now);

/** A packet of this flow arrived. */
void fmx_sim_bundle_on_arrival (FmxSimBundle * bundle,
    const FmxSimPacket * packet, FmxTime now);

/** Forgets the counters: what follows is measured. */
void fmx_sim_bundle_restart_counters (FmxSimBundle * bundle, FmxTime now);

/** Returns: lost / sent since the counters were restarted */
double fmx_sim_bundle_loss (const FmxSimBundle * bundle);

/**
 * FmxSimWorld:
 *
 * One forward link, bundles, and one unresponsive flow of constant rate.
 */
typedef struct
{
  FmxSimLink forward;
  FmxSimBundle *bundles;
  unsigned n_bundles;
  double cbr_bps;               /* may change while it runs */
  uint32_t cbr_wire_bytes;
  FmxTime cbr_at;
  FmxRng rng;
  FmxTime now;
} FmxSimWorld;

void fmx_sim_world_init (FmxSimWorld * world, const FmxSimLinkParams * forward,
    FmxSimBundle * bundles, unsigned n_bundles, uint64_t seed);

/** Runs the world until @end. */
void fmx_sim_world_run (FmxSimWorld * world, FmxTime end);

#endif /* FMX_SIM_BUNDLE_H */
