/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/asmp/fmx-asmp-receiver.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "fairmix/asmp/fmx-asmp-equation.h"
#include "fairmix/asmp/fmx-asmp-receiver-private.h"
#include "fairmix/rate/fmx-tcp-equation.h"

#define METER_WINDOW (1 * FMX_SECOND)
#define RESTART_SILENCE (100 * FMX_MSECOND)
/* until the sender has told one: what RFC 4654 2.2 begins with */
#define FIRST_RTT (500 * FMX_MSECOND)
/* A TCP's time-out is the round trip and at least so much: Linux's least */
#define RTO_MARGIN (200 * FMX_MSECOND)
/* of what was sent since the last report: what comes is all that the path
 * carries */
#define MUCH_LOST 0.1
/* the least interval of regular reports is 2.05 s ([RFC3550 6.2]) */
#define MOMENT (2 * FMX_SECOND)
#define FEW 20u                 /* packets */
#define SMALL 0.5               /* of a segment: what counts as small packets */
#define USUAL 1.5               /* of the share that is lost for long */
#define OTHERS_RTT_WEIGHT 0.125 /* of the newest one */

const char *const fmx_asmp_algorithm_names[FMX_ASMP_N_ALGORITHMS] = {
  "asmp", "asmp-fair"
};

void
fmx_asmp_receiver_params_default (FmxAsmpReceiverParams *params)
{
  params->algorithm = FMX_ASMP_FAIR;
  params->clock_rate_hz = 48000;
  params->beta = 0.5;           /* [ASMP 3.5] */
  params->gamma_congested = 0.2;        /* [ASMP (19)] */
  params->gamma_unloaded = 0.9;
  params->segment_bytes = FMX_TCP_SEGMENT_BYTES;
  params->growth = 2.0;
  params->growth_after_loss = 1.25;
  params->fall = 0.7;
  params->queue = 50 * FMX_MSECOND;
  params->settle = 1 * FMX_SECOND;
  params->rounds = false;
  fmx_asmp_feedback_params_default (&params->feedback);
}

void
fmx_asmp_receiver_init (FmxAsmpReceiver *receiver,
    const FmxAsmpReceiverParams *params, uint32_t media_ssrc)
{
  assert (params->growth >= 1.0 && params->growth_after_loss >= 1.0
      && params->segment_bytes > 0.0);
  memset (receiver, 0, sizeof *receiver);
  receiver->params = *params;
  receiver->media_ssrc = media_ssrc;
  receiver->first_packet = FMX_TIME_NONE;
  receiver->last_loss = FMX_TIME_NONE;
  receiver->others_bps = HUGE_VAL;
  receiver->low_others_bps = receiver->joiners_bps = HUGE_VAL;
  fmx_restart_init (&receiver->restart);
  fmx_rate_meter_init (&receiver->meter, METER_WINDOW);
  fmx_asmp_loss_init (&receiver->loss);
  fmx_asmp_delay_init (&receiver->delay, params->clock_rate_hz);
  fmx_asmp_events_init (&receiver->events);
  fmx_asmp_carried_init (&receiver->carried);
  fmx_asmp_others_init (&receiver->others);
  fmx_asmp_feedback_init (&receiver->feedback, &params->feedback);
}

/* In a large session the sender cannot tell all round trips soon: until then that
 * of others says whether this receiver has more to tell than they have. */
static FmxDuration
rtt_of_events (const FmxAsmpReceiver *receiver)
{
  FmxDuration rtt = fmx_asmp_delay_rtt_now (&receiver->delay);

  if (rtt == 0 && receiver->feedback.large)
    rtt = fmx_time_from_s (receiver->others_rtt_s);
  return rtt > 0 ? rtt : FIRST_RTT;
}

/* An early report is of a moment that had a loss: its few packets say little of
 * what comes, and that too low. */
static bool
is_moment (const FmxAsmpReceiver *receiver, FmxTime now)
{
  return fmx_time_diff (now, receiver->interval_start) < MOMENT
      && receiver->report_packets < FEW;
}

/* What has come since the last report: that is how long the sender's rate has
 * stood, and a second of it is uncertain by a packet or two. */
static double
received_bps (const FmxAsmpReceiver *receiver, FmxTime now)
{
  FmxDuration lasted = fmx_time_diff (now, receiver->interval_start);

  if (is_moment (receiver, now))
    return fmax (fmx_rate_meter_bps (&receiver->meter, now),
        receiver->interval_bps);
  if (lasted < METER_WINDOW)
    return fmx_rate_meter_bps (&receiver->meter, now);
  return 8.0 * (double) receiver->interval_bytes / fmx_time_to_s (lasted);
}

/* [RFC5348 6.3.1]: the interval that makes the equation yield what came */
static void
set_first_interval (FmxAsmpReceiver *receiver, FmxTime now)
{
  FmxTcpPath path = fmx_tcp_path (receiver->params.segment_bytes,
      rtt_of_events (receiver));
  double bps = fmx_rate_meter_bps (&receiver->meter, now);

  if (bps > 0.0)
    fmx_asmp_events_set_first (&receiver->events,
        fmax (1.0, 1.0 / fmx_tcp_equation_inverse (&path, bps)));
}

static void
count_events (FmxAsmpReceiver *receiver, uint16_t seq, FmxTime now)
{
  bool first = fmx_asmp_events_count (&receiver->events) == 0;
  unsigned n = fmx_asmp_events_on_packet (&receiver->events, seq,
      rtt_of_events (receiver), now);

  if (n > 0 && first)
    set_first_interval (receiver, now);
  if (n > 0) {
    receiver->urgent = true;
    receiver->last_loss = now;
  }
}

void
fmx_asmp_receiver_on_packet (FmxAsmpReceiver *receiver, uint16_t seq,
    uint32_t ts, uint32_t wire_bytes, FmxTime now)
{
  FmxRestartVerdict verdict = fmx_restart_on_packet (&receiver->restart, seq,
      ts, receiver->params.clock_rate_hz, RESTART_SILENCE, now);

  if (verdict == FMX_RESTART_DOUBTFUL)
    return;
  if (verdict == FMX_RESTART_YES) {
    receiver->stats.n_restarts++;
    fmx_asmp_loss_restart (&receiver->loss);
    fmx_asmp_delay_restart (&receiver->delay);
    fmx_asmp_events_restart (&receiver->events);
  }
  if (receiver->first_packet == FMX_TIME_NONE)
    receiver->first_packet = receiver->interval_start = now;
  receiver->interval_bytes += wire_bytes;
  receiver->stats.n_packets++;
  receiver->report_packets++;
  receiver->report_bytes += wire_bytes;
  fmx_rate_meter_add (&receiver->meter, wire_bytes, now);
  fmx_asmp_loss_on_packet (&receiver->loss, seq);
  fmx_asmp_delay_on_packet (&receiver->delay, ts, now);
  if (receiver->params.algorithm == FMX_ASMP_FAIR) {
    fmx_asmp_others_on_packet (&receiver->others, wire_bytes,
        fmx_asmp_delay_queue (&receiver->delay), now);
    count_events (receiver, seq, now);
  }
}

void
fmx_asmp_receiver_on_companion (FmxAsmpReceiver *receiver, uint32_t wire_bytes,
    FmxTime now)
{
  receiver->interval_bytes += wire_bytes;
  fmx_asmp_others_on_companion (&receiver->others, wire_bytes);
  fmx_rate_meter_add (&receiver->meter, wire_bytes, now);
}

void
fmx_asmp_receiver_on_sender_report (FmxAsmpReceiver *receiver, uint32_t ts,
    FmxTime sender_time, FmxTime own_time, FmxTime now)
{
  fmx_asmp_delay_on_sender_report (&receiver->delay, ts, sender_time,
      own_time, now);
}

static void
note_others_rtt (FmxAsmpReceiver *receiver, double rtt_s)
{
  receiver->others_rtt_s += (receiver->others_rtt_s > 0.0
      ? OTHERS_RTT_WEIGHT : 1.0) * (rtt_s - receiver->others_rtt_s);
}

void
fmx_asmp_receiver_on_rtt (FmxAsmpReceiver *receiver, uint32_t own_ssrc,
    const FmxAsmpRttHeader *header, const uint8_t *data)
{
  receiver->own_ssrc = own_ssrc;
  receiver->limiting_ssrc = header->limiting_ssrc;
  receiver->sender_bps = header->rate_bps;
  for (unsigned i = 0; i < header->n_rtts; i++) {
    FmxAsmpRtt rtt = fmx_asmp_rtt_get (data, i);

    if (rtt.rtt <= 0)
      continue;
    if (rtt.ssrc == own_ssrc)
      fmx_asmp_delay_on_rtt (&receiver->delay, rtt.rtt);
    else
      note_others_rtt (receiver, fmx_time_to_s (rtt.rtt));
  }
}

bool
fmx_asmp_receiver_is_limiting (const FmxAsmpReceiver *receiver)
{
  return receiver->own_ssrc != 0
      && receiver->own_ssrc == receiver->limiting_ssrc;
}

/* [ASMP (12)-(14)] */
static double
paper_bps (FmxAsmpReceiver *receiver, bool has_loss, double fraction,
    FmxTime now)
{
  FmxDuration rtt = fmx_asmp_delay_rtt (&receiver->delay);
  double gamma = fmx_asmp_delay_is_congested (&receiver->delay)
      ? receiver->params.gamma_congested : receiver->params.gamma_unloaded;
  double packet_bytes, instant;

  if (!receiver->has_rate)
    receiver->rate_bps = fmx_rate_meter_bps (&receiver->meter, now);
  if (rtt == 0)
    return fmx_rate_meter_bps (&receiver->meter, now);
  if (receiver->report_packets == 0)
    return receiver->rate_bps;  /* nothing is known of this interval */
  packet_bytes = (double) receiver->report_bytes / receiver->report_packets;
  if (has_loss && fraction > 0.0)
    instant = fmx_asmp_equation_bps (packet_bytes, rtt,
        fmx_asmp_loss_rate (&receiver->loss));
  else
    instant = receiver->rate_bps + fmx_asmp_step_bps (packet_bytes, rtt);
  return gamma * instant + (1.0 - gamma) * receiver->rate_bps;
}

/* Whoever limits the rate holds the others to its growth. */
static double
growth_of (const FmxAsmpReceiver *receiver)
{
  return receiver->last_loss != FMX_TIME_NONE
      && fmx_asmp_receiver_is_limiting (receiver)
      ? receiver->params.growth_after_loss : receiver->params.growth;
}

static bool
has_small_packets (const FmxAsmpReceiver *receiver)
{
  return receiver->packet_bytes < SMALL * receiver->params.segment_bytes;
}

/* What a TCP would get: of the losses, and of the link if that is known */
static double
tcp_bps (const FmxAsmpReceiver *receiver, FmxTime now)
{
  FmxTcpPath path = fmx_tcp_path (receiver->params.segment_bytes,
      rtt_of_events (receiver));

  path.rto = path.rtt + RTO_MARGIN;
  return fmin (fmx_asmp_others_most_bps (&receiver->others,
          received_bps (receiver, now), now),
      fmx_asmp_small_packets_bps (&path,
          fmx_asmp_events_rate (&receiver->events), has_small_packets (receiver)
          ? fmx_asmp_events_fraction (&receiver->events) : 0.0,
          receiver->packets_per_s));
}

/* What is fair beside those who are there; after the first loss */
static double
fair_bps (const FmxAsmpReceiver *receiver, FmxTime now)
{
  return fmx_asmp_others_fair_bps (&receiver->others, tcp_bps (receiver, now),
      fmx_asmp_events_fraction (&receiver->events));
}

static bool
has_queue (const FmxAsmpReceiver *receiver)
{
  return fmx_asmp_delay_queue (&receiver->delay) > receiver->params.queue;
}

/* What is lost at any rate: small packets come as often when the rate falls, and a
 * queue that counts packets drops as many; and there are flows that fill a queue
 * whatever it drops.  Who goes down to what comes goes on doing so until it is least. */
static double
usual_loss (const FmxAsmpReceiver *receiver)
{
  return USUAL * receiver->usual_fraction;
}

/* The path carries more than comes: another one has the other half. */
static bool
has_no_more_than_half (const FmxAsmpReceiver *receiver, double received,
    FmxTime now)
{
  return receiver->last_loss != FMX_TIME_NONE
      && fmx_asmp_others_are_one (&receiver->others,
      tcp_bps (receiver, now)) > 0.5
      && received < 0.5 * fmx_asmp_others_link_bps (&receiver->others);
}

/* What comes says what the path carries only if the sender sends all that it
 * may: a silent talker's receivers hold the rate that there is. */
static double
most_bps (const FmxAsmpReceiver *receiver, double received, FmxTime now)
{
  if (receiver->fraction > fmax (MUCH_LOST, usual_loss (receiver))
      && !is_moment (receiver, now)
      && !has_no_more_than_half (receiver, received, now))
    return received;
  if (receiver->lost)
    return growth_of (receiver) * received;
  return fmax (growth_of (receiver) * received, receiver->sender_bps);
}

/* What may be sent because the path has carried it before */
static double
carried_bps (const FmxAsmpReceiver *receiver, FmxTime now)
{
  if (has_queue (receiver) || (receiver->lost
          && fmx_asmp_receiver_is_limiting (receiver)))
    return 0.0;
  return fmx_asmp_carried_bps (&receiver->carried,
      fmx_rate_meter_bps (&receiver->meter, now), now);
}

double
fmx_asmp_receiver_fair_bps (const FmxAsmpReceiver *receiver, FmxTime now)
{
  double received = received_bps (receiver, now);
  double most = most_bps (receiver, received, now);

  if (fmx_asmp_delay_rtt_now (&receiver->delay) == 0 && !receiver->lost)
    return received;
  if (receiver->last_loss == FMX_TIME_NONE)
    return has_queue (receiver) ? received : most;
  return fmax (fmin (fair_bps (receiver, now),
          fmax (most, carried_bps (receiver, now))),
      receiver->params.fall * received);
}

bool
fmx_asmp_receiver_is_measured (const FmxAsmpReceiver *receiver, FmxTime now)
{
  bool has_rtt = fmx_asmp_delay_is_measured (&receiver->delay);

  if (receiver->params.algorithm == FMX_ASMP_PAPER)
    return has_rtt;
  return (has_rtt || receiver->overrun)
      && fmx_time_diff (now, receiver->first_packet)
      >= receiver->params.settle;
}

bool
fmx_asmp_receiver_overruns (const FmxAsmpReceiver *receiver, FmxTime now)
{
  return !receiver->has_rate && receiver->report_packets >= FEW
      && fmx_asmp_loss_fraction (&receiver->loss) > MUCH_LOST
      && fmx_time_diff (now, receiver->first_packet)
      >= receiver->params.settle;
}

static double
loss_of (const FmxAsmpReceiver *receiver)
{
  return receiver->params.algorithm == FMX_ASMP_PAPER
      ? fmx_asmp_loss_rate (&receiver->loss)
      : fmx_asmp_events_rate (&receiver->events);
}

static FmxDuration
rtt_of (const FmxAsmpReceiver *receiver)
{
  return receiver->params.algorithm == FMX_ASMP_PAPER
      ? fmx_asmp_delay_rtt (&receiver->delay)
      : fmx_asmp_delay_rtt_now (&receiver->delay);
}

static uint32_t
to_u32 (double bps)
{
  return bps >= (double) UINT32_MAX ? UINT32_MAX : (uint32_t) bps;
}

static void
fill (const FmxAsmpReceiver *receiver, FmxAsmpRate *rate, FmxTime now)
{
  rate->media_ssrc = receiver->media_ssrc;
  rate->rate_bps = to_u32 (receiver->rate_bps);
  rate->rtt = rtt_of (receiver);
  rate->loss = loss_of (receiver);
  rate->received_bps = to_u32 (fmx_rate_meter_bps (&receiver->meter, now));
  rate->measured = fmx_asmp_receiver_is_measured (receiver, now);
  rate->congested = fmx_asmp_delay_is_congested (&receiver->delay);
  rate->small_packets = receiver->params.algorithm == FMX_ASMP_FAIR;
}

static void
count_packets (FmxAsmpReceiver *receiver, FmxTime now)
{
  FmxDuration lasted = fmx_time_diff (now, receiver->interval_start);

  if (receiver->report_packets == 0 || lasted <= 0)
    return;
  receiver->packet_bytes = (double) receiver->report_bytes
      / receiver->report_packets;
  receiver->packets_per_s = receiver->report_packets / fmx_time_to_s (lasted);
}

void
fmx_asmp_receiver_end_interval (FmxAsmpReceiver *receiver, FmxTime now)
{
  double fraction = 0.0;
  bool has_loss = fmx_asmp_loss_report (&receiver->loss, &fraction);

  fmx_asmp_delay_report (&receiver->delay, receiver->params.beta);
  count_packets (receiver, now);
  receiver->lost = has_loss && fraction > 0.0;
  receiver->fraction = has_loss ? fraction : 0.0;
  receiver->overrun |= receiver->fraction > MUCH_LOST;
  if (receiver->params.algorithm == FMX_ASMP_FAIR)
    fmx_asmp_carried_note (&receiver->carried, received_bps (receiver, now),
        receiver->lost ? tcp_bps (receiver, now) : HUGE_VAL, now);
  receiver->rate_bps = receiver->params.algorithm == FMX_ASMP_PAPER
      ? paper_bps (receiver, has_loss, fraction, now)
      : fmx_asmp_receiver_fair_bps (receiver, now);
  receiver->usual_fraction = fmx_asmp_events_fraction (&receiver->events);
  fmx_asmp_events_set_few_others (&receiver->events,
      fmx_asmp_others_are_few (&receiver->others, tcp_bps (receiver, now)));
  receiver->has_rate = true;
  receiver->interval_bps = received_bps (receiver, now);
  receiver->report_bytes = 0;
  receiver->report_packets = 0;
  receiver->interval_bytes = 0;
  receiver->interval_start = now;
}

bool
fmx_asmp_receiver_report (FmxAsmpReceiver *receiver, FmxAsmpRate *rate,
    FmxTime now)
{
  if (receiver->first_packet == FMX_TIME_NONE)
    return false;
  fmx_asmp_receiver_end_interval (receiver, now);
  receiver->urgent = false;
  fill (receiver, rate, now);
  if (!fmx_asmp_receiver_may_tell (receiver, receiver->rate_bps, now)) {
    receiver->stats.n_suppressed += rate->measured;
    return false;
  }
  /* the sender obeys; its next report may be seconds away, and say what was */
  receiver->sender_bps = fmin (receiver->sender_bps, receiver->rate_bps);
  receiver->stats.n_reports++;
  return true;
}

void
fmx_asmp_receiver_get_stats (const FmxAsmpReceiver *receiver,
    FmxAsmpReceiverStats *stats, FmxTime now)
{
  *stats = receiver->stats;
  stats->rate_bps = receiver->rate_bps;
  stats->received_bps = fmx_rate_meter_bps (&receiver->meter, now);
  stats->rtt = rtt_of (receiver);
  stats->loss = loss_of (receiver);
  stats->jitter = fmx_asmp_delay_jitter (&receiver->delay);
  stats->queue = fmx_asmp_delay_queue (&receiver->delay);
  stats->congested = fmx_asmp_delay_is_congested (&receiver->delay);
  stats->measured = fmx_asmp_receiver_is_measured (receiver, now);
}
