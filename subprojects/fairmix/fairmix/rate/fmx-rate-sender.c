/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-rate-sender.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "fairmix/rate/fmx-rate-sender-private.h"
#include "fairmix/rate/fmx-tcp-equation.h"

/* [RFC3714 5.3] leaves open what is persistent and names 5 s; on a path that
 * carries not even one stream that is most of an attempt. */
#define LOSS_WINDOW (3 * FMX_SECOND)
#define RTO_MAX (3 * FMX_SECOND)
#define MEAN_PACKETS 256.0
#define TOLD_CHANGE 0.05

/* Who comes so much too late to a timeout was not running: what was said meanwhile
 * is still in some buffer, and is read within this time. */
#define ASLEEP (50 * FMX_MSECOND)

void
fmx_rate_sender_params_default (FmxRateSenderParams *params)
{
  memset (params, 0, sizeof *params);
  params->klass = &fmx_rate_dpm;
  params->segment_bytes = FMX_TCP_SEGMENT_BYTES;
  params->decision_interval_rtts = 7.0;
  params->min_bps = 20000;
  params->max_bps = 1000000000;
  params->initial_bps = 80000;
  params->loss_limit = 0.0;
  params->rto_min = 200 * FMX_MSECOND;
  params->alpha = 0.0;
  params->beta = 0.5;
  params->circuit_breaker = true;
  params->skip_packets = 0;
  params->max_hold = FMX_SECOND;
}

FmxRateParams
fmx_rate_sender_controller_params (const FmxRateSenderParams *params,
    double share)
{
  FmxRateParams rate;

  rate.min_bps = fmin ((double) params->min_bps / share, FMX_RATE_MOST_BPS);
  rate.max_bps = fmin ((double) params->max_bps / share, FMX_RATE_MOST_BPS);
  rate.initial_bps =
      fmin ((double) params->initial_bps / share, FMX_RATE_MOST_BPS);
  rate.segment_bytes = params->segment_bytes;
  rate.decision_interval_rtts = params->decision_interval_rtts;
  rate.alpha = params->alpha;
  rate.beta = params->beta;
  rate.max_hold = params->max_hold;
  return rate;
}

bool
fmx_rate_sender_params_are_valid (const FmxRateSenderParams *params)
{
  FmxRateParams rate = fmx_rate_sender_controller_params (params, 1.0);

  return fmx_rate_class_is_valid (params->klass)
      && fmx_rate_params_are_valid (&rate) && params->loss_limit >= 0.0
      && params->loss_limit <= 1.0 && params->rto_min > 0
      && params->rto_min <= RTO_MAX;
}

/* [RFC4828 3] for small packets that are measured against big segments. */
static FmxLossIntervalsParams
interval_params (const FmxRateSenderParams *params)
{
  FmxLossIntervalsParams intervals;

  intervals.short_intervals = params->segment_bytes > 0
      && !params->klass->timeouts_only;
  intervals.discounting = true;
  return intervals;
}

static FmxRttParams
rtt_params (const FmxRateSenderParams *params)
{
  FmxRttParams rtt;

  fmx_rtt_params_default (&rtt);
  rtt.rto_min = params->rto_min;
  rtt.granularity = params->rto_min;
  rtt.rto_max = RTO_MAX;
  return rtt;
}

void
fmx_rate_sender_init (FmxRateSender *sender,
    const FmxRateSenderParams *params, FmxTime now)
{
  FmxRateParams rate = fmx_rate_sender_controller_params (params, 1.0);
  FmxLossIntervalsParams intervals = interval_params (params);
  FmxRttParams rtt = rtt_params (params);
  FmxCircuitBreakerParams breaker;
  FmxDelayShapeParams shape;

  assert (fmx_rate_sender_params_are_valid (params));
  memset (sender, 0, sizeof *sender);
  sender->params = *params;
  sender->share = 1.0;
  fmx_rtt_init (&sender->rtt, &rtt);
  fmx_rate_controller_init (&sender->controller, params->klass, &rate, now);
  fmx_loss_intervals_init (&sender->intervals, &intervals);
  fmx_loss_fraction_init (&sender->fraction, LOSS_WINDOW);
  fmx_circuit_breaker_params_default (&breaker);
  fmx_circuit_breaker_init (&sender->breaker, &breaker);
  fmx_rate_meter_init (&sender->sent_meter, FMX_SECOND);
  fmx_delay_shape_params_default (&shape);
  fmx_delay_shape_init (&sender->shape, &shape);
  fmx_stream_table_init (&sender->streams);
  fmx_sent_history_init (&sender->history);
  fmx_sent_history_set_timeouts_only (&sender->history,
      params->klass->timeouts_only);
  sender->packet_bytes = 200.0;
  sender->stats.last_feedback = FMX_TIME_NONE;
  sender->last_ack = now;
  sender->receive.start = now;
  fmx_rng_init (&sender->rng, params->seed);
  sender->trust.trial_since = FMX_TIME_NONE;
  sender->report.start = sender->report.due = FMX_TIME_NONE;
  sender->breaker_round.start = now;
  sender->parts.expected = 2;   /* until it is known */
  sender->probing_since = FMX_TIME_NONE;
  sender->silent_since = FMX_TIME_NONE;
  sender->probe_at = FMX_TIME_NONE;
  sender->told_state = FMX_RATE_SENDER_STOPPED;
  fmx_rate_fill_init (&sender->fill, now);
  fmx_rate_train_init (&sender->train, now);
  fmx_rate_lasting_init (&sender->lasting, now);
  fmx_rate_sender_tell (sender, now);
}

void
fmx_rate_sender_set_params (FmxRateSender *sender,
    const FmxRateSenderParams *params, FmxTime now)
{
  FmxRateParams rate = fmx_rate_sender_controller_params (params,
      sender->share);
  FmxLossIntervalsParams intervals = interval_params (params);
  FmxRttParams rtt = rtt_params (params);

  assert (fmx_rate_sender_params_are_valid (params));
  if (params->klass != sender->params.klass) {
    FmxRateParams start = rate;

    if (fmx_rate_sender_target_bps (sender) > 0)
      start.initial_bps = (double) fmx_rate_sender_target_bps (sender)
          / sender->share;
    fmx_rate_controller_init (&sender->controller, params->klass, &start, now);
  }
  fmx_sent_history_set_timeouts_only (&sender->history,
      params->klass->timeouts_only);
  fmx_rate_controller_set_params (&sender->controller, &rate);
  fmx_loss_intervals_set_params (&sender->intervals, &intervals);
  fmx_rtt_set_params (&sender->rtt, &rtt);
  if (!params->circuit_breaker && sender->params.circuit_breaker) {
    FmxCircuitBreakerParams breaker;

    fmx_circuit_breaker_params_default (&breaker);
    fmx_circuit_breaker_init (&sender->breaker, &breaker);
  }
  sender->params = *params;
  fmx_rate_sender_tell (sender, now);
}

/* How long to wait for an acknowledgement: a packet that just missed a
 * feedback has to wait for the next one. */
static FmxDuration
ack_timeout (const FmxRateSender *sender)
{
  return fmx_rtt_rto (&sender->rtt) + fmx_rate_sender_patience (sender);
}

/* [RFC5348 4.1], [RFC4828 3]: the mean of what is sent; dummies say nothing. */
static void
update_packet_size (FmxRateSender *sender, uint32_t wire_bytes)
{
  double n = (double) sender->stats.n_sent + 1.0;
  double gain = n < MEAN_PACKETS ? 1.0 / n : 1.0 / MEAN_PACKETS;

  sender->packet_bytes += gain * ((double) wire_bytes - sender->packet_bytes);
  if (sender->packet_bytes < 1.0)
    sender->packet_bytes = 1.0;
}

/* Another numbering: what was reported was of the one before. */
static void
note_number (FmxStream *stream, uint16_t seq, FmxTime now)
{
  if (!fmx_sent_numbers_add (&stream->numbers, seq, now))
    return;
  stream->has_report_block = stream->has_report_seq = false;
  stream->n_overdue = 0;
}

void
fmx_rate_sender_on_sent (FmxRateSender *sender, uint32_t ssrc, uint16_t seq,
    uint32_t wire_bytes, FmxTime now)
{
  FmxSentPacket packet = { 0, ssrc, seq, wire_bytes, now };

  note_number (fmx_stream_table_on_sent (&sender->streams, ssrc, wire_bytes,
          now), seq, now);
  fmx_rate_meter_add (&sender->sent_meter, wire_bytes, now);
  fmx_sender_stall_on_sent (&sender->stall, wire_bytes,
      sender->share * fmx_rate_controller_bps (&sender->controller), now);
  fmx_rate_controller_on_sent (&sender->controller,
      (uint32_t) fmin ((double) wire_bytes / sender->share, UINT32_MAX), now);
  if (!sender->probe_taken) {
    fmx_rate_train_on_media (&sender->train, wire_bytes);
    update_packet_size (sender, wire_bytes);
    fmx_rate_fill_on_sent (&sender->fill, wire_bytes, now);
    if (sender->params.circuit_breaker)
      fmx_circuit_breaker_on_media (&sender->breaker, now);
  }
  sender->probe_taken = false;
  sender->stats.n_sent++;
  sender->sent_bytes += wire_bytes;
  fmx_sent_history_add (&sender->history, &packet, ack_timeout (sender), now);
}

bool
fmx_rate_sender_take_skip (FmxRateSender *sender)
{
  /* Who has heard nothing need not catch anybody. */
  if (sender->params.skip_packets == 0
      || sender->stats.feedback == FMX_RATE_SENDER_FEEDBACK_NONE
      || fmx_rng_next_unit (&sender->rng) * sender->params.skip_packets >= 1.0)
    return false;
  sender->stats.n_skipped++;
  return true;
}

FmxRateSenderState
fmx_rate_sender_state (const FmxRateSender *sender)
{
  if (fmx_circuit_breaker_cause (&sender->breaker)
      != FMX_CIRCUIT_BREAKER_CLOSED)
    return FMX_RATE_SENDER_STOPPED;
  if (fmx_rate_controller_is_probing (&sender->controller))
    return FMX_RATE_SENDER_PROBING;
  if (sender->stats.feedback == FMX_RATE_SENDER_FEEDBACK_NONE)
    return FMX_RATE_SENDER_STARTING;
  return FMX_RATE_SENDER_SENDING;
}

bool
fmx_rate_sender_has_media (const FmxRateSender *sender)
{
  FmxRateSenderState state = fmx_rate_sender_state (sender);

  return state == FMX_RATE_SENDER_STARTING || state == FMX_RATE_SENDER_SENDING;
}

uint64_t
fmx_rate_sender_target_bps (const FmxRateSender *sender)
{
  if (!fmx_rate_sender_has_media (sender))
    return 0;
  return (uint64_t) (fmx_rate_controller_bps (&sender->controller)
      * sender->share);
}

bool
fmx_rate_sender_may_send (const FmxRateSender *sender)
{
  return fmx_rate_sender_has_media (sender)
      && !fmx_rate_controller_is_holding (&sender->controller);
}

/* Entering and leaving probing mode. */
static void
follow_state (FmxRateSender *sender, FmxRateSenderState state, FmxTime now)
{
  if (state != FMX_RATE_SENDER_PROBING) {
    if (sender->probing_since != FMX_TIME_NONE)
      fmx_loss_fraction_init (&sender->fraction, LOSS_WINDOW);
    sender->probing_since = FMX_TIME_NONE;
    sender->probe_at = FMX_TIME_NONE;
    sender->probe_due = false;
  } else if (sender->probing_since == FMX_TIME_NONE) {
    sender->probing_since = now;
    sender->probe_at = now + (FmxTime) fmx_rate_sender_probe_interval (sender);
    sender->n_answered = 0;
    sender->stale_intervals = true;
    sender->probe_from_bps = sender->receive.bps;
    sender->outage = sender->told_state == FMX_RATE_SENDER_STOPPED
        || fmx_time_diff (now, sender->last_ack) > ack_timeout (sender);
  }
}

static const char *
reason_of (const FmxRateSender *sender, FmxRateSenderState state)
{
  if (state == FMX_RATE_SENDER_STOPPED)
    return FMX_RATE_BREAKER;
  if (sender->told_state == FMX_RATE_SENDER_STOPPED
      && state == FMX_RATE_SENDER_PROBING)
    return FMX_RATE_BREAKER_CLOSED;
  return fmx_rate_controller_reason (&sender->controller);
}

void
fmx_rate_sender_say (FmxRateSender *sender, const char *reason, FmxTime now)
{
  FmxRateSenderStats stats;
  FmxEvent event = {.name = "target",.n_fields = FMX_EVENT_MAX_FIELDS };

  fmx_rate_sender_get_stats (sender, &stats, now);
  event.reason = reason;
  event.time = now;
  event.fields[0] = (FmxEventField) { "target-bps",
    (double) stats.target_bps
  };
  event.fields[1] = (FmxEventField) { "rtt-ms",
    fmx_time_to_s (stats.rtt) * 1e3
  };
  event.fields[2] = (FmxEventField) { "loss-event-rate",
    stats.loss_event_rate
  };
  event.fields[3] = (FmxEventField) { "loss-fraction", stats.loss_fraction };
  event.fields[4] = (FmxEventField) { "equation-bps", stats.equation_bps };
  event.fields[5] = (FmxEventField) { "receive-bps", stats.receive_bps };
  event.fields[6] = (FmxEventField) { "sent-bps", stats.sent_bps };
  event.fields[7] = (FmxEventField) { "streams", stats.n_streams };
  fmx_event_emit (sender->params.sink, &event);
}

void
fmx_rate_sender_tell (FmxRateSender *sender, FmxTime now)
{
  FmxRateSenderState state = fmx_rate_sender_state (sender);
  uint64_t target = fmx_rate_sender_target_bps (sender);
  double change = fabs ((double) target - (double) sender->told_bps);
  const char *reason;

  fmx_rate_sender_fill_up (sender, now);
  if (state == sender->told_state
      && change <= TOLD_CHANGE * (double) sender->told_bps)
    return;
  follow_state (sender, state, now);
  reason = reason_of (sender, state);
  sender->told_state = state;
  sender->told_bps = target;
  fmx_rate_sender_say (sender, reason, now);
}

FmxTime
fmx_rate_sender_next_timeout (const FmxRateSender *sender)
{
  FmxTime next = fmx_rate_controller_next_timeout (&sender->controller);

  if (sender->params.circuit_breaker)
    next = fmx_time_min (next,
        fmx_circuit_breaker_next_timeout (&sender->breaker));
  if (sender->stats.feedback == FMX_RATE_SENDER_FEEDBACK_PER_PACKET)
    next = fmx_time_min (next,
        fmx_sent_history_next_deadline (&sender->history));
  next = fmx_time_min (next, sender->report.due);
  next = fmx_time_min (next, fmx_rate_fill_next (&sender->fill));
  next = fmx_time_min (next, fmx_rate_train_next (&sender->train));
  return fmx_time_min (next, sender->probe_at);
}

static void
on_breaker_timeout (FmxRateSender *sender, FmxTime now)
{
  if (!fmx_circuit_breaker_on_timeout (&sender->breaker, now))
    return;
  if (fmx_circuit_breaker_cause (&sender->breaker)
      == FMX_CIRCUIT_BREAKER_CLOSED)
    fmx_rate_controller_probe (&sender->controller);
  else
    sender->stats.n_breaker++;
}

/* Once in a row: a computer that is always late still hears that nothing comes. */
static void
excuse_sleep (FmxRateSender *sender, FmxTime now)
{
  FmxTime due = fmx_rate_sender_next_timeout (sender);
  FmxTime until = now + (FmxTime) ASLEEP;

  if (due > now || now - due < (FmxTime) ASLEEP || sender->excused) {
    sender->excused = false;
    return;
  }
  sender->excused = true;
  fmx_sent_history_postpone (&sender->history, until);
  fmx_rate_controller_postpone (&sender->controller, until);
}

/* Nothing is acknowledged any more. */
static void
fall_silent (FmxRateSender *sender)
{
  fmx_rtt_back_off (&sender->rtt);      /* [RFC6298 5.5] */
  if (sender->silent_since != FMX_TIME_NONE
      || sender->stats.feedback != FMX_RATE_SENDER_FEEDBACK_PER_PACKET)
    return;
  sender->silent_since = sender->last_ack;
  sender->silent_from_bps = sender->receive.bps;
}

void
fmx_rate_sender_on_timeout (FmxRateSender *sender, FmxTime now)
{
  uint64_t n_no_feedback;

  excuse_sleep (sender, now);
  fmx_rate_sender_excuse_hold (sender, now);
  if (sender->params.circuit_breaker)
    on_breaker_timeout (sender, now);
  if (now >= sender->report.due)
    fmx_rate_sender_digest_report_blocks (sender, now);
  if (fmx_rate_sender_drain_losses (sender, now))
    fmx_rate_sender_digest (sender, false, now);
  n_no_feedback = sender->controller.stats.n_no_feedback;
  if (now >= fmx_rate_controller_next_timeout (&sender->controller))
    fmx_rate_controller_on_timeout (&sender->controller, now);
  if (sender->controller.stats.n_no_feedback > n_no_feedback)
    fall_silent (sender);
  fmx_rate_sender_tell (sender, now);
  fmx_rate_sender_schedule_probe (sender, now);
}

void
fmx_rate_sender_get_stats (const FmxRateSender *sender,
    FmxRateSenderStats *stats, FmxTime now)
{
  double equation = fmx_rate_sender_equation_bps (sender);
  FmxSentHistoryStats history;
  FmxLossIntervalsStats intervals;
  FmxRateStats rate;

  *stats = sender->stats;
  fmx_sent_history_get_stats (&sender->history, &history);
  fmx_loss_intervals_get_stats (&sender->intervals, &intervals);
  fmx_rate_controller_get_stats (&sender->controller, &rate);
  stats->state = fmx_rate_sender_state (sender);
  stats->target_bps = fmx_rate_sender_target_bps (sender);
  stats->sent_bps = fmx_rate_meter_bps (&sender->sent_meter, now);
  stats->receive_bps = sender->receive.bps;
  stats->equation_bps = equation < HUGE_VAL ? equation : 0.0;
  stats->rtt = fmx_rtt_smoothed (&sender->rtt);
  stats->rtt_min = fmx_rtt_min (&sender->rtt);
  stats->rto = fmx_rtt_rto (&sender->rtt);
  stats->loss_event_rate = fmx_loss_intervals_rate (&sender->intervals);
  stats->loss_fraction = fmx_rate_sender_loss_fraction (sender);
  stats->loss_limit = fmx_rate_sender_loss_limit (sender);
  stats->n_streams = sender->totals.n;
  stats->stream_bps = sender->totals.mean_bps;
  stats->smallest_stream_bps = sender->totals.smallest_bps;
  if (sender->stats.feedback != FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS) {
    stats->n_acked = history.n_acked;
    stats->n_lost = history.n_lost;
    stats->n_forgotten = history.n_forgotten;
  }
  stats->n_late = history.n_late;
  stats->n_loss_events = intervals.n_events - intervals.n_taken_back;
  stats->n_unknown += history.n_unknown;
  stats->n_up = rate.n_up;
  stats->n_down = rate.n_down;
  stats->n_drains = rate.n_drains;
  stats->n_holds = rate.n_holds;
  stats->n_no_feedback = rate.n_no_feedback;
}
