/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/fmx-sim-bundle.h"

#include <assert.h>
#include <string.h>

#define SSRC_BASE 1000u
#define PROBE_BYTES 68u
#define CBR_FLOW UINT32_MAX

static uint32_t
mid32 (FmxTime t)
{
  return (uint32_t) (t / (uint64_t) FMX_SECOND * 65536
      + t % (uint64_t) FMX_SECOND * 65536 / (uint64_t) FMX_SECOND);
}

/* Streams, and a mix of them. */
static unsigned
n_clocks (const FmxSimBundle *bundle)
{
  return bundle->params.n_streams
      + (bundle->params.behaviour == FMX_SIM_SELECTED);
}

void
fmx_sim_bundle_init (FmxSimBundle *bundle, const FmxSimBundleParams *params,
    FmxSimLink *forward, uint32_t flow, uint64_t seed)
{
  FmxCcfbCollectorParams collector;

  memset (bundle, 0, sizeof *bundle);
  bundle->params = *params;
  if (params->behaviour == FMX_SIM_SELECTED) {
    bundle->params.packet_interval = FMX_SIM_VOICES_INTERVAL;
    fmx_sim_voices_init (&bundle->voices, params->n_streams,
        params->wire_bytes, params->start);
    if (params->pauses)
      fmx_sim_voices_pause (&bundle->voices, seed + 3000 + flow,
          params->start);
  }
  assert (n_clocks (bundle) <= FMX_SIM_MAX_STREAMS);
  assert (params->report_interval == 0
      || params->n_streams <= FMX_SIM_MAX_BLOCKS);
  bundle->forward = forward;
  bundle->flow = flow;
  fmx_sim_link_init (&bundle->back, &params->back, seed + 1000 + flow);
  fmx_rate_sender_init (&bundle->sender, &params->sender, params->start);
  fmx_ccfb_collector_params_default (&collector);
  if (params->feedback_fraction > 0.0)
    collector.rate_fraction = params->feedback_fraction;
  fmx_ccfb_collector_init (&bundle->collector, &collector,
      bundle->ccfb_streams, FMX_SIM_MAX_STREAMS);
  bundle->report_at = params->report_interval > 0
      ? params->start + (FmxTime) params->report_interval : FMX_TIME_NONE;
  fmx_rng_init (&bundle->rng, seed + 2000 + flow);
  for (unsigned i = 0; i < n_clocks (bundle); i++)
    bundle->send_at[i] = bundle->tick[i] = params->start
        + i * (FmxTime) bundle->params.packet_interval / params->n_streams;
  bundle->next_packet = params->start;
  bundle->next_stall = params->stall_interval > 0
      ? params->start + (FmxTime) params->stall_interval : FMX_TIME_NONE;
  bundle->counted = params->start;
}

FmxTime
fmx_sim_bundle_next (const FmxSimBundle *bundle)
{
  FmxTime next = bundle->next_packet;

  next = fmx_time_min (next, fmx_rate_sender_next_timeout (&bundle->sender));
  next = fmx_time_min (next, fmx_sim_link_next (&bundle->back));
  next = fmx_time_min (next, bundle->params.report_interval > 0
      ? bundle->report_at
      : fmx_ccfb_collector_next_timeout (&bundle->collector));
  if (next < bundle->stalled_until)
    next = bundle->stalled_until;
  return next > bundle->params.start ? next : bundle->params.start;
}

/* A quarter of the longest stall at least, and that evenly random. */
static void
stall (FmxSimBundle *bundle, FmxTime now)
{
  const FmxSimBundleParams *params = &bundle->params;
  double part = 0.25 + 0.75 * fmx_rng_next_unit (&bundle->rng);

  bundle->stalled_until = now + (FmxTime) (part * (double) params->stall);
  bundle->next_stall = bundle->stalled_until + (FmxTime) (2.0
      * fmx_rng_next_unit (&bundle->rng) * (double) params->stall_interval) + 1;
}

static void
send_packet (FmxSimBundle *bundle, unsigned stream, uint32_t wire_bytes,
    FmxTime now)
{
  FmxSimPacket packet = { .flow = bundle->flow, .wire_bytes = wire_bytes };
  uint16_t seq = bundle->seq[stream]++;

  packet.data = (uint64_t) stream << 16 | seq;
  packet.ect = bundle->params.ecn;
  packet.l4s = bundle->params.l4s;
  fmx_rate_sender_on_sent (&bundle->sender, SSRC_BASE + stream, seq,
      wire_bytes, now);
  bundle->n_sent++;
  bundle->sent_bytes += wire_bytes;
  (void) fmx_sim_link_send (bundle->forward, packet, now);
}

/* What the selection of partialmix keeps separate, and what it asks for. */
static unsigned
select_streams (FmxSimBundle *bundle, FmxTime now)
{
  FmxSimVoices *voices = &bundle->voices;

  fmx_sim_voices_follow (voices, bundle->mute ? 0
      : fmx_rate_sender_target_bps (&bundle->sender),
      fmx_rate_sender_lasting_bps (&bundle->sender), now);
  if (voices->plan.next_bps != bundle->wanted_bps) {
    bundle->wanted_bps = voices->plan.next_bps;
    fmx_rate_sender_set_wanted (&bundle->sender, (double) bundle->wanted_bps,
        now);
  }
  return voices->plan.n_separate;
}

static void
count_streams (FmxSimBundle *bundle, FmxTime now)
{
  const FmxSimBundleParams *params = &bundle->params;
  double stream_bps = 8.0 * params->wire_bytes
      / fmx_time_to_s (params->packet_interval);
  double fit = (double) fmx_rate_sender_target_bps (&bundle->sender)
      / stream_bps;

  bundle->stream_seconds += bundle->n_now
      * fmx_time_to_s (fmx_time_diff (now, bundle->counted));
  bundle->counted = now;
  bundle->n_now = params->n_streams;
  if (params->behaviour == FMX_SIM_SELECTED)
    bundle->n_now = select_streams (bundle, now);
  else if (params->behaviour == FMX_SIM_WHOLE_STREAMS
      && fit < params->n_streams)
    bundle->n_now = (unsigned) fit;
  if (bundle->mute)
    bundle->n_now = 0;
}

/* Returns: the size of a packet of that stream, now; 0 = it is not sent */
static uint32_t
packet_bytes (FmxSimBundle *bundle, unsigned stream, FmxTime now)
{
  const FmxSimBundleParams *params = &bundle->params;
  bool sent = stream < bundle->n_now;

  if (params->behaviour == FMX_SIM_SELECTED && stream == params->n_streams)
    return bundle->voices.mix_wire_bytes;
  if (params->behaviour == FMX_SIM_SELECTED)
    sent = fmx_sim_voices_talks (&bundle->voices, stream, now)
        && bundle->voices.streams[stream].separate;
  else if (params->behaviour == FMX_SIM_PACED)
    sent = !bundle->mute && fmx_rate_sender_target_bps (&bundle->sender) > 0;
  return sent ? params->wire_bytes : 0;
}

static FmxDuration
packet_interval (const FmxSimBundle *bundle)
{
  const FmxSimBundleParams *params = &bundle->params;
  uint64_t target = fmx_rate_sender_target_bps (&bundle->sender);
  FmxDuration paced;

  if (params->behaviour != FMX_SIM_PACED || target == 0)
    return params->packet_interval;
  paced = fmx_time_from_s (8.0 * params->wire_bytes / (double) target);
  return paced > params->packet_interval ? paced : params->packet_interval;
}

/* A target that is 0 says so by itself; here it is only for a moment. */
static bool
is_held (const FmxSimBundle *bundle)
{
  return bundle->params.behaviour != FMX_SIM_DEAF
      && fmx_rate_sender_target_bps (&bundle->sender) > 0
      && !fmx_rate_sender_may_send (&bundle->sender);
}

/* Each stream's clock ticks whether it is sent or not. */
static void
send_due (FmxSimBundle *bundle, FmxTime now)
{
  bundle->next_packet = FMX_TIME_NONE;
  for (unsigned i = 0; i < n_clocks (bundle); i++) {
    if (bundle->send_at[i] <= now) {
      uint32_t wire_bytes = packet_bytes (bundle, i, now);

      if (wire_bytes > 0 && !is_held (bundle))
        send_packet (bundle, i, wire_bytes, now);
      bundle->tick[i] += (FmxTime) packet_interval (bundle);
      bundle->send_at[i] = bundle->tick[i]
          + (FmxTime) (fmx_rng_next_unit (&bundle->rng)
          * (double) bundle->params.jitter);
    }
    bundle->next_packet =
        fmx_time_min (bundle->next_packet, bundle->send_at[i]);
  }
}

static FmxSimFeedback *
new_feedback (FmxSimBundle *bundle)
{
  return &bundle->feedback[bundle->n_feedback++ % FMX_SIM_FEEDBACKS];
}

static void
send_feedback (FmxSimBundle *bundle, uint32_t wire_bytes, FmxTime now)
{
  FmxSimPacket packet = { .wire_bytes = wire_bytes };

  packet.data = (bundle->n_feedback - 1) % FMX_SIM_FEEDBACKS;
  (void) fmx_sim_link_send (&bundle->back, packet, now);
}

static void
write_ccfb (FmxSimBundle *bundle, FmxTime now)
{
  FmxSimFeedback *feedback = new_feedback (bundle);

  while ((feedback->size = fmx_ccfb_collector_write (&bundle->collector,
              feedback->data, sizeof feedback->data, mid32 (now), now)) > 0) {
    send_feedback (bundle, (uint32_t) feedback->size + 28, now);
    feedback = new_feedback (bundle);
  }
  bundle->n_feedback--;
}

static void
write_report (FmxSimBundle *bundle, FmxTime now)
{
  FmxSimFeedback *feedback = new_feedback (bundle);

  bundle->report_at += (FmxTime) bundle->params.report_interval;
  feedback->size = 0;
  for (unsigned i = 0; i < bundle->params.n_streams; i++) {
    FmxReportBlock *block = &feedback->blocks[i];

    memset (block, 0, sizeof *block);
    if (bundle->received[i] == 0)
      continue;
    block->ssrc = SSRC_BASE + i;
    block->ext_highest_seq = bundle->highest[i];
    block->cumulative_lost = (int32_t) (bundle->highest[i] + 1
        - bundle->received[i]);
    block->lsr = mid32 (bundle->last_sr);
    block->dlsr = mid32 (now) - mid32 (bundle->last_sr_arrival);
  }
  send_feedback (bundle, 28 + 8 + 24 * bundle->params.n_streams, now);
}

static void
read_feedback (FmxSimBundle *bundle, const FmxSimPacket *packet, FmxTime now)
{
  const FmxSimFeedback *feedback = &bundle->feedback[packet->data];
  bool well_formed;

  if (feedback->size > 0) {     /* the FCI follows 8 bytes of header */
    well_formed = fmx_rate_sender_on_ccfb (&bundle->sender,
        feedback->data + 8, feedback->size - 8, now);
    assert (well_formed);
    (void) well_formed;
    return;
  }
  for (unsigned i = 0; i < bundle->params.n_streams; i++)
    if (feedback->blocks[i].ssrc != 0)
      fmx_rate_sender_on_report_block (&bundle->sender, &feedback->blocks[i],
          mid32 (now), now);
}

/* One of its own, where there is a mix */
static unsigned
padding_stream (const FmxSimBundle *bundle)
{
  return n_clocks (bundle) > bundle->params.n_streams ? n_clocks (bundle) : 0;
}

void
fmx_sim_bundle_run (FmxSimBundle *bundle, FmxTime now)
{
  FmxSimPacket packet;

  if (now < bundle->params.start || now < bundle->stalled_until)
    return;
  if (now >= bundle->next_stall) {
    stall (bundle, now);
    return;
  }
  if (bundle->params.report_interval > 0) {
    if (now >= bundle->report_at)
      write_report (bundle, now);
  } else if (now >= fmx_ccfb_collector_next_timeout (&bundle->collector)) {
    write_ccfb (bundle, now);
  }
  while (fmx_sim_link_receive (&bundle->back, &packet, now))
    if (packet.flow == 0)
      read_feedback (bundle, &packet, now);
    else
      bundle->on_other (bundle->user, &packet, now);
  if (now >= fmx_rate_sender_next_timeout (&bundle->sender))
    fmx_rate_sender_on_timeout (&bundle->sender, now);
  while (fmx_rate_sender_take_probe (&bundle->sender, now))
    if (bundle->params.behaviour != FMX_SIM_DEAF)
      send_packet (bundle, padding_stream (bundle),
          fmx_rate_sender_may_send (&bundle->sender)
          ? fmx_rate_sender_padding_bytes (&bundle->sender) : PROBE_BYTES, now);
  count_streams (bundle, now);
  if (now >= bundle->next_packet)
    send_due (bundle, now);
}

void
fmx_sim_bundle_on_arrival (FmxSimBundle *bundle, const FmxSimPacket *packet,
    FmxTime now)
{
  unsigned stream = (unsigned) (packet->data >> 16);
  uint16_t seq = (uint16_t) packet->data;
  FmxCcfbArrival arrival = { SSRC_BASE + stream, seq, packet->ce ? 3 : 0,
    packet->wire_bytes, 0
  };

  bundle->n_received++;
  bundle->received_bytes += packet->wire_bytes;
  if (stream >= n_clocks (bundle))
    bundle->padding_bytes += packet->wire_bytes;
  bundle->received[stream]++;
  bundle->highest[stream] += (uint16_t) (seq
      - (uint16_t) bundle->highest[stream]);
  bundle->last_sr = packet->sent;
  bundle->last_sr_arrival = now;
  if (bundle->params.report_interval == 0)
    fmx_ccfb_collector_on_packet (&bundle->collector, &arrival,
        bundle->params.seen_late && now < bundle->stalled_until
        ? bundle->stalled_until : now);
}

void
fmx_sim_bundle_restart_counters (FmxSimBundle *bundle, FmxTime now)
{
  count_streams (bundle, now);
  bundle->n_sent = bundle->n_received = 0;
  bundle->sent_bytes = bundle->received_bytes = bundle->padding_bytes = 0;
  bundle->stream_seconds = 0.0;
  bundle->voices.n_changes = bundle->voices.n_turns = 0;
}

double
fmx_sim_bundle_loss (const FmxSimBundle *bundle)
{
  if (bundle->n_sent <= bundle->n_received)
    return 0.0;                 /* those on their way at the restart came */
  return 1.0 - (double) bundle->n_received / (double) bundle->n_sent;
}

void
fmx_sim_world_init (FmxSimWorld *world, const FmxSimLinkParams *forward,
    FmxSimBundle *bundles, unsigned n_bundles, uint64_t seed)
{
  memset (world, 0, sizeof *world);
  fmx_sim_link_init (&world->forward, forward, seed);
  fmx_rng_init (&world->rng, seed + 1);
  world->bundles = bundles;
  world->n_bundles = n_bundles;
  world->cbr_wire_bytes = 196;
}

static FmxTime
next_event (const FmxSimWorld *world)
{
  FmxTime next = fmx_sim_link_next (&world->forward);

  for (unsigned i = 0; i < world->n_bundles; i++)
    next = fmx_time_min (next, fmx_sim_bundle_next (&world->bundles[i]));
  if (world->cbr_bps > 0.0)
    next = fmx_time_min (next, world->cbr_at);
  return next > world->now ? next : world->now;
}

/* Half to one and a half intervals apart: at a full drop-tail queue flows that
 * keep step with each other would share the losses by chance of phase. */
static void
send_cbr (FmxSimWorld *world)
{
  double stretch = 0.5 + fmx_rng_next_unit (&world->rng);
  FmxSimPacket packet = { .flow = CBR_FLOW };

  packet.wire_bytes = world->cbr_wire_bytes;
  (void) fmx_sim_link_send (&world->forward, packet, world->now);
  world->cbr_at = world->now + (FmxTime) fmx_time_from_s (stretch
      * 8.0 * world->cbr_wire_bytes / world->cbr_bps);
}

void
fmx_sim_world_run (FmxSimWorld *world, FmxTime end)
{
  FmxTime next;

  while ((next = next_event (world)) < end) {
    FmxSimPacket packet;

    world->now = next;
    while (fmx_sim_link_receive (&world->forward, &packet, next))
      if (packet.flow != CBR_FLOW)
        fmx_sim_bundle_on_arrival (&world->bundles[packet.flow], &packet,
            next);
    if (world->cbr_bps > 0.0 && world->cbr_at <= next)
      send_cbr (world);
    for (unsigned i = 0; i < world->n_bundles; i++)
      if (fmx_sim_bundle_next (&world->bundles[i]) <= next)
        fmx_sim_bundle_run (&world->bundles[i], next);
  }
  world->now = end;
}
