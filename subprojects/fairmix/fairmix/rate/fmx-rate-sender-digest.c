/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fairmix/base/fmx-units.h"
#include "fairmix/rate/fmx-rate-sender-private.h"
#include "fairmix/rate/fmx-tcp-equation.h"

/* Before there is a sample: a long path across a continent. */
#define RTT_GUESS (200 * FMX_MSECOND)

/* Fewer packets than this are no statistics. */
#define FRACTION_PACKETS 10u

/* Two dummy packets in a row: one may have been lucky. */
#define ANSWERS 2u

/* Nothing heard for so long while probing: what was lost before says nothing
 * of the path any more. */
#define OUTAGE (10 * FMX_SECOND)

/* Probing for so long: what was lost before was of another time. */
#define STALE (1 * FMX_SECOND)

/* Between two reports, as far as is known before the second: [RFC3550 6.2]. */
#define RTCP_INTERVAL (5 * FMX_SECOND)

/* ... and before the first one: half of that, times up to 1.5 / 1.21 */
#define FIRST_RTCP (3100 * FMX_MSECOND)

#define GAP_WINDOW (30 * FMX_SECOND)

/* What remains of one stream's worth when T is computed from p again. */
#define MARGIN 1.05

/* Codec rates at which [RFC3714 5] and DPM section 5.4 say what is too much
 * loss, and how much. */
#define VOICE_HIGH_BPS 64000.0
#define VOICE_HIGH_LIMIT 0.20
#define VOICE_LOW_BPS 4750.0
#define VOICE_LOW_LIMIT 0.40

FmxDuration
fmx_rate_sender_rtt (const FmxRateSender *sender)
{
  return fmx_rtt_is_known (&sender->rtt)
      ? fmx_rtt_smoothed (&sender->rtt) : RTT_GUESS;
}

static FmxTcpPath
path_of (const FmxRateSender *sender)
{
  double segment = sender->params.segment_bytes > 0
      ? (double) sender->params.segment_bytes : sender->packet_bytes;
  FmxTcpPath path = fmx_tcp_path (segment, fmx_rate_sender_rtt (sender));

  if (sender->params.klass->timeouts_only)
    path.rto = fmx_rtt_rto (&sender->rtt);
  return path;
}

double
fmx_rate_sender_equation_bps (const FmxRateSender *sender)
{
  FmxTcpPath path = path_of (sender);

  return fmx_tcp_equation_bps (&path,
      fmx_loss_intervals_rate (&sender->intervals));
}

/* Between the two anchors on a logarithmic scale. */
double
fmx_rate_sender_loss_limit (const FmxRateSender *sender)
{
  double payload = sender->totals.smallest_payload_bps;
  double share;

  if (sender->params.loss_limit > 0.0)
    return sender->params.loss_limit;
  if (sender->totals.n == 0 || payload >= VOICE_HIGH_BPS)
    return VOICE_HIGH_LIMIT;
  if (payload <= VOICE_LOW_BPS)
    return VOICE_LOW_LIMIT;
  share = log (VOICE_HIGH_BPS / payload) / log (VOICE_HIGH_BPS / VOICE_LOW_BPS);
  return VOICE_HIGH_LIMIT + share * (VOICE_LOW_LIMIT - VOICE_HIGH_LIMIT);
}

double
fmx_rate_sender_loss_fraction (const FmxRateSender *sender)
{
  return fmx_loss_fraction_get_since (&sender->fraction, 0, FRACTION_PACKETS);
}

FmxDuration
fmx_rate_sender_interval (const FmxRateSender *sender)
{
  FmxDuration gap = sender->gap_now > sender->gap_before
      ? sender->gap_now : sender->gap_before;

  if (gap == 0 && sender->stats.feedback
      == FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS)
    return RTCP_INTERVAL;       /* after the very first one */
  if (gap < RTCP_INTERVAL && sender->trust.is_rare)
    return RTCP_INTERVAL;
  return gap;
}

FmxDuration
fmx_rate_sender_patience (const FmxRateSender *sender)
{
  FmxDuration interval = fmx_rate_sender_interval (sender);

  return interval < FIRST_RTCP && fmx_rate_sender_is_unsteady (sender)
      ? FIRST_RTCP : interval;
}

/* The longest gap of the last one to two windows: a receiver that hurried
 * because of a loss has to pause afterwards. */
static void
note_gap (FmxRateSender *sender, FmxDuration gap, FmxDuration held, FmxTime now)
{
  bool slow = sender->stats.feedback != FMX_RATE_SENDER_FEEDBACK_PER_PACKET
      || held > gap / 2;
  FmxDuration longest = slow ? 10 * FMX_SECOND : FMX_SECOND;

  /* A pause of the media, or an outage, is no interval. */
  if (gap > longest)
    return;
  if (fmx_time_diff (now, sender->gap_start) > GAP_WINDOW) {
    sender->gap_start = now;
    sender->gap_before = sender->gap_now;
    sender->gap_now = 0;
  }
  if (gap > sender->gap_now)
    sender->gap_now = gap;
  if (gap > FMX_MSECOND)        /* one report in several packets is one */
    sender->gap_mean += sender->gap_mean == 0 ? gap
        : (gap - sender->gap_mean) / 8;
}

void
fmx_rate_sender_heard (FmxRateSender *sender, FmxDuration held, FmxTime now)
{
  FmxRateSenderStats *stats = &sender->stats;

  if (stats->last_feedback != FMX_TIME_NONE)
    note_gap (sender, fmx_time_diff (now, stats->last_feedback), held, now);
  stats->last_feedback = now;
  if (sender->params.circuit_breaker)
    fmx_circuit_breaker_on_heard (&sender->breaker, now);
}

/* The interval before the first loss event, for a rate of @bps ([RFC5348
 * 6.3.1]): X_target is not below half a packet per round-trip time - nor, here,
 * below the least that is of use: one lost packet does not stop the media. */
static void
seed_intervals (FmxRateSender *sender, double bps)
{
  FmxTcpPath path = path_of (sender);
  double packet = fmx_rate_bps (0.5 * sender->packet_bytes, path.rtt);
  double least = MARGIN * (double) sender->params.min_bps;
  double p;

  if (least < packet)
    least = packet;
  p = fmx_tcp_equation_inverse (&path, bps > least ? bps : least);
  fmx_loss_intervals_set_first (&sender->intervals, 1.0 / p);
}

bool
fmx_rate_sender_lost (FmxRateSender *sender, FmxLossRecord packet)
{
  if (!fmx_loss_intervals_on_lost (&sender->intervals, packet,
          fmx_rate_sender_rtt (sender)))
    return false;
  sender->new_loss_event = true;
  sender->loss_event_sent = packet.sent;
  if (fmx_loss_intervals_n_events (&sender->intervals) == 1)
    seed_intervals (sender, sender->receive.most_bps);
  return true;
}

bool
fmx_rate_sender_drain_losses (FmxRateSender *sender, FmxTime now)
{
  FmxSentPacket packet;
  bool any = false;

  /* Who sends no per-packet feedback acknowledges nothing. */
  if (sender->stats.feedback != FMX_RATE_SENDER_FEEDBACK_PER_PACKET)
    return false;
  while (fmx_sent_history_next_lost (&sender->history, &packet, now)) {
    FmxLossRecord record = { packet.number, packet.sent };

    any = true;
    sender->n_marked = 0;
    fmx_loss_fraction_add (&sender->fraction, 0, 1, packet.sent);
    fmx_delay_shape_add_lost (&sender->shape, packet.sent);
    if (packet.sent >= sender->one_event_until  /* else it is counted */
        && !fmx_rate_train_has (&sender->train, packet.sent)) /* a burst is no sign */
      (void) fmx_rate_sender_lost (sender, record);
    sender->breaker_round.lost++;
    if (packet.sent >= sender->probing_since
        && packet.sent > sender->acked_sent)
      sender->n_answered = 0;
  }
  return any;
}

void
fmx_rate_sender_received (FmxRateSender *sender, const FmxSentPacket *packet,
    bool marked)
{
  FmxLossRecord record = { packet->number, packet->sent };

  fmx_loss_fraction_add (&sender->fraction, 1, 0, packet->sent);
  fmx_loss_intervals_on_packet (&sender->intervals, record);
  if (!marked)
    return;
  /* [RFC5348 5.1] "detected ... as it arrives" */
  if (fmx_rate_sender_lost (sender, record))
    sender->n_marked++;
}

void
fmx_rate_sender_take_back (FmxRateSender *sender, const FmxSentPacket *packet)
{
  FmxLossRecord record = { packet->number, packet->sent };
  FmxLossRecord next_record;
  FmxSentPacket next;
  bool has_next;

  fmx_loss_fraction_take_back (&sender->fraction, packet->sent);
  has_next = fmx_sent_history_find_lost (&sender->history, packet->number,
      fmx_loss_intervals_event_end (&sender->intervals, record), &next);
  if (has_next)
    next_record = (FmxLossRecord) { next.number, next.sent };
  (void) fmx_loss_intervals_take_back (&sender->intervals, record,
      has_next ? &next_record : NULL);
}

/* The path answers again.  At a packet per second the loss intervals of before
 * would take minutes to be forgotten.  A TCP begins anew after a timeout, and
 * expects the limit at half of what came through before: so do we.  After an
 * long outage, when the losses say that the path was down, not that it was full: as
 * if the rate had doubled from one stream's when the first loss came. */
static void
begin_anew (FmxRateSender *sender, double before_bps, FmxTime now)
{
  FmxLossRecord last = { sender->intervals.newest.number, now };
  double least = (double) sender->params.min_bps;
  double bps;

  if (sender->totals.mean_bps > least)
    least = sender->totals.mean_bps;
  bps = 2.0 * least;
  if (!sender->outage && 0.5 * before_bps > bps)
    bps = 0.5 * before_bps;
  fmx_loss_intervals_reset (&sender->intervals);
  (void) fmx_loss_intervals_on_lost (&sender->intervals, last,
      fmx_rate_sender_rtt (sender));
  seed_intervals (sender, bps);
  sender->outage = false;
  sender->stale_intervals = false;
}

/* All that an outage lost is one loss event, however many round trips it took: TCP too
 * keeps what it learnt at the first of timeouts in a row ([RFC5681 3.1]). */
static void
note_return (FmxRateSender *sender, FmxRateFeedback *fb, FmxTime now)
{
  fb->returned = sender->just_returned;
  if (!sender->just_returned)
    return;
  if (fmx_time_diff (now, sender->silent_since) < OUTAGE)
    fb->silent_from_bps = sender->silent_from_bps;
  if (fb->silent_from_bps > 0.0
      && fmx_loss_intervals_n_events (&sender->intervals) > 0
      && sender->intervals.events[0].first.sent > sender->silent_sent) {
    sender->one_event_until = now;
    sender->outage = false;
    begin_anew (sender, sender->silent_from_bps, now);
  }
  sender->just_returned = false;
  sender->silent_since = FMX_TIME_NONE;
}

static void
update_totals (FmxRateSender *sender, FmxTime now)
{
  FmxStreamTotals totals;

  fmx_stream_table_totals (&sender->streams, &totals, now);
  if (totals.n > 0)             /* otherwise what they were */
    sender->totals = totals;
  else
    sender->totals.n = 0;
}

/* Of the loss events that count in p. */
static bool
only_marks (const FmxRateSender *sender)
{
  unsigned n = fmx_loss_intervals_n_events (&sender->intervals);

  return n > 0 && sender->n_marked
      >= (n < FMX_LOSS_INTERVALS_N ? n : FMX_LOSS_INTERVALS_N);
}

/* What this flow has and sends, as it would be with an equal share */
static void
divide_by_share (FmxRateFeedback *fb, double share)
{
  fb->receive_bps /= share;
  fb->latest_bps /= share;
  fb->row_bps /= share;
  fb->tail_bps /= share;
  fb->tail_left_bps /= share;
  fb->left_bps /= share;
  fb->sent_bps /= share;
  fb->stream_bps /= share;
  fb->silent_from_bps /= share;
  fb->passed_bps /= share;
  fb->breaker_bps /= share;
}

/* Where more media waits, and each packet's arrival is told */
static void
ask_train (FmxRateSender *sender, FmxDuration rtt, FmxTime now)
{
  FmxRateController *rc = &sender->controller;

  if (rc->has_narrowed)
    fmx_rate_train_forget_path (&sender->train);
  if (rc->is_narrow)
    fmx_bottleneck_rate_forget (&sender->bottleneck);
  rc->has_narrowed = rc->is_narrow = false;
  if (fmx_rate_sender_state (sender) != FMX_RATE_SENDER_SENDING
      || fmx_rate_controller_is_holding (rc)
      || sender->stats.feedback != FMX_RATE_SENDER_FEEDBACK_PER_PACKET
      || sender->fill.wanted_bps <= 0.0)
    return;
  if (rc->try_bps > 0.0
      && sender->share * rc->rate_bps < sender->fill.wanted_bps)
    fmx_rate_train_try (&sender->train, sender->share * rc->try_bps, rtt, now);
  else if (rc->look_bps > 0.0)
    fmx_rate_train_look (&sender->train, rc->look_bps,
        sender->share * rc->rate_bps, rtt, now);
  else if (rc->check_bps > 0.0
      && fmx_rate_train_may_check (&sender->train, now))
    fmx_rate_train_look (&sender->train, rc->check_bps,
        sender->share * rc->rate_bps, rtt, now);
  else
    fmx_rate_train_ask (&sender->train, rc->ask_bps, rtt, now);
}

/* Who does not say when the newest packet came gives no sample, but shows a queue. */
static FmxDuration
known_median (const FmxRateSender *sender)
{
  return fmx_rtt_is_known (&sender->rtt) ? fmx_rtt_median (&sender->rtt)
      : fmx_rate_sender_rtt (sender);
}

static void
read_trains (FmxRateSender *sender, FmxRateFeedback *fb, FmxTime now)
{
  fb->widened = fmx_rate_train_take_widened (&sender->train);
  fb->link_bps = fmx_rate_train_bps (&sender->train);
  fb->passes_bursts = fmx_rate_train_passes_bursts (&sender->train, now);
  fb->path_bps = fmx_rate_train_path_bps (&sender->train, now);
  fb->passed_bps = fmx_rate_train_take_passed (&sender->train);
}

static void
tell_bottleneck (const FmxBottleneckRate *rate, FmxRateFeedback *fb)
{
  fb->bottleneck_bps = fmx_bottleneck_rate_bps (rate);
  fb->train_bps = fmx_bottleneck_rate_late_bps (rate);
  fb->row_bps = fmx_bottleneck_rate_row_bps (rate);
  fb->tail_bps = fmx_bottleneck_rate_tail_bps (rate, &fb->tail_left_bps);
}

void
fmx_rate_sender_digest (FmxRateSender *sender, bool heard, FmxTime now)
{
  FmxRateFeedback fb = { 0 };
  bool probing = fmx_rate_controller_is_probing (&sender->controller);

  update_totals (sender, now);
  if (probing && fmx_time_diff (now, sender->last_ack) > OUTAGE)
    sender->outage = true;
  fb.answered = probing && sender->n_answered >= ANSWERS;
  if (fb.answered && (sender->outage || (sender->stale_intervals
              && fmx_time_diff (now, sender->probing_since) >= STALE)))
    begin_anew (sender, sender->probe_from_bps, now);
  note_return (sender, &fb, now);

  fb.heard = heard;
  fb.rtt = fmx_rate_sender_rtt (sender);
  fb.rtt_median = known_median (sender);
  fb.rtt_sample_min = sender->rtt_sample_min > 0 ? sender->rtt_sample_min
      : fmx_rtt_median (&sender->rtt);
  fb.delay_spread = sender->delay_spread;
  fb.reverse_delay = sender->reverse_delay;
  fb.own_queue = fmx_sender_stall_queue (&sender->stall, now);
  fb.rtt_min = fmx_rtt_min (&sender->rtt);
  fb.damping = fmx_rtt_damping (&sender->rtt);
  fb.rto = fmx_rtt_rto_first (&sender->rtt);
  fb.rto_backed_off = fmx_rtt_rto (&sender->rtt);
  fb.interval = fmx_rate_sender_interval (sender);
  fb.patience = fmx_rate_sender_patience (sender);
  fb.interval_mean = sender->gap_mean;
  fb.acked_sent = sender->acked_sent;
  fb.loss_event_rate = fmx_loss_intervals_rate (&sender->intervals);
  fb.new_loss_event = sender->new_loss_event;
  fb.loss_event_sent = sender->loss_event_sent;
  fb.loss_is_late = fmx_sender_stall_is_late (&sender->stall,
      sender->loss_event_sent);
  fb.only_marks = only_marks (sender);
  fb.loss_fraction = fmx_loss_fraction_get_since (&sender->fraction,
      fmx_rate_controller_losses_since (&sender->controller), FRACTION_PACKETS);
  fb.loss_limit = fmx_rate_sender_loss_limit (sender);
  fb.equation_bps = fmx_rate_sender_equation_bps (sender);
  fb.receive_bps = sender->receive.bps;
  fb.left_bps = sender->receive.left_bps;
  fb.latest_bps = sender->latest_bps;
  tell_bottleneck (&sender->bottleneck, &fb);
  read_trains (sender, &fb, now);
  fb.breaker_bps = sender->params.circuit_breaker
      ? fmx_circuit_breaker_limit_bps (&sender->breaker,
      path_of (sender).segment_bytes) : 0.0;
  fb.has_teeth = fmx_delay_slope_has_teeth (&sender->slope);
  fb.sent_bps = fmx_rate_meter_bps (&sender->sent_meter, now);
  fb.packet_bytes = sender->packet_bytes;
  fb.stream_bps = sender->totals.mean_bps;
  sender->new_loss_event = false;
  divide_by_share (&fb, sender->share);
  fmx_rate_controller_on_feedback (&sender->controller, &fb, now);
  ask_train (sender, fb.rtt, now);
}

void
fmx_rate_sender_report_to_breaker (FmxRateSender *sender, double fraction_lost,
    bool received, FmxTime now)
{
  FmxCircuitBreakerReport report;

  if (!sender->params.circuit_breaker)
    return;
  report.fraction_lost = fraction_lost;
  report.media_received = received;
  report.rtt = fmx_rtt_is_known (&sender->rtt)
      ? fmx_rtt_smoothed (&sender->rtt) : 0;
  report.sent_bps = fmx_rate_meter_bps (&sender->sent_meter, now);
  /* The TCP that the controller is fair to is the TCP to compare with. */
  report.segment_bytes = path_of (sender).segment_bytes;
  report.frame_interval = sender->totals.packet_interval;
  if (fmx_circuit_breaker_on_report (&sender->breaker, &report, now))
    sender->stats.n_breaker++;
}
