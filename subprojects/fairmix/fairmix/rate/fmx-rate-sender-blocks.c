/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "fairmix/base/fmx-serial.h"
#include "fairmix/base/fmx-units.h"
#include "fairmix/rate/fmx-rate-sender-private.h"

/* Report blocks of one compound come within this time. */
#define REPORT_WAIT (10 * FMX_MSECOND)

/* A report of less time says that much less of what the receiver gets. */
#define RECEIVE_LEAST (200 * FMX_MSECOND)

/* Packets that had all the time there is to arrive, and did not: the block
 * tells of none after @highest. */
static uint32_t
count_overdue (const FmxRateSender *sender, const FmxStream *stream,
    uint16_t highest, FmxTime now)
{
  FmxTime wait = (FmxTime) fmx_rtt_rto (&sender->rtt);
  uint16_t next = fmx_sent_numbers_next (&stream->numbers);
  uint32_t n = 0, overdue = 0;
  FmxSentPacket packet;

  for (uint16_t seq = (uint16_t)(highest + 1);
      seq != next && n < FMX_SENT_HISTORY_PACKETS; seq++, n++)
    if (fmx_sent_history_find (&sender->history, stream->ssrc, seq, &packet)
        && packet.sent + wait <= now)
      overdue++;
  return overdue;
}

/* Blocks came, and none told of anything that arrived: what is overdue of the
 * streams that they were about is lost, for now. */
static void
give_up_overdue (FmxRateSender *sender, FmxReportRound *round, FmxTime now)
{
  FmxStream *stream;

  for (unsigned i = 0; (stream = fmx_stream_table_at (&sender->streams, i))
      != NULL; i++) {
    uint32_t overdue;

    if (!stream->has_report_block || stream->report_time < round->first_block)
      continue;
    overdue = count_overdue (sender, stream,
        (uint16_t) stream->ext_highest_seq, now);
    if (overdue <= stream->n_overdue)
      continue;
    round->expected += overdue - stream->n_overdue;
    round->lost += overdue - stream->n_overdue;
    stream->n_overdue = overdue;
  }
}

/* Whether the block tells of packets that were sent after some time is known by
 * when its newest one was. */
static void
note_newest (const FmxRateSender *sender, FmxReportRound *round,
    const FmxStream *stream)
{
  FmxSentPacket packet;

  if (fmx_sent_history_find (&sender->history, stream->ssrc,
          (uint16_t) stream->ext_highest_seq, &packet)
      && packet.sent > round->newest_sent)
    round->newest_sent = packet.sent;
}

static void
begin_block (const FmxRateSender *sender, FmxReportRound *round,
    FmxStream *stream, FmxTime now)
{
  if (round->due == FMX_TIME_NONE)
    round->first_block = now;
  round->last_block = now;
  round->last_bytes = sender->sent_bytes;
  if (stream->has_report_block && stream->report_time < round->start) {
    round->start = stream->report_time;
    round->start_bytes = stream->report_bytes;
  }
  stream->report_time = now;
  stream->report_bytes = sender->sent_bytes;
}

/* What the block adds to what the block before it said. */
static void
add_to_round (FmxRateSender *sender, FmxStream *stream,
    const FmxReportBlock *block, FmxTime now)
{
  FmxReportRound *round = &sender->report;
  uint64_t number = fmx_sent_numbers_extend (&stream->numbers,
      (uint16_t) block->ext_highest_seq);
  int64_t expected = fmx_serial_diff32 (block->ext_highest_seq,
      stream->ext_highest_seq);
  int64_t lost = (int64_t) block->cumulative_lost - stream->cumulative_lost;
  bool goes_on = stream->has_report_block && expected >= 0
      && expected == (int64_t) (number - stream->report_number)
      && expected <= 65536;
  uint32_t known, left_out;

  if (goes_on) {
    left_out = fmx_sent_numbers_left_out (&stream->numbers,
        (uint16_t) (stream->ext_highest_seq + 1), (uint32_t) expected);
    fmx_rate_sender_weigh_block (sender, stream, (uint32_t) expected, lost,
        left_out, now);
    expected -= left_out;       /* whoever left them out, it was not the path */
    lost -= left_out;
  }
  begin_block (sender, round, stream, now);
  stream->has_report_block = true;
  stream->report_number = number;
  stream->ext_highest_seq = block->ext_highest_seq;
  stream->cumulative_lost = block->cumulative_lost;
  note_newest (sender, round, stream);
  if (!goes_on) {
    stream->report_expected = 0;
    round->is_baseline = true;  /* the first one, or the stream restarted */
    stream->n_overdue = 0;
    return;
  }
  /* [RFC3550 6.4.1] duplicates make it less than it was */
  if (lost < 0)
    lost = 0;
  if (lost > expected)
    lost = expected;
  /* those that were given up before are in these, too */
  known = stream->n_overdue < expected ? stream->n_overdue
      : (uint32_t) expected;
  stream->n_overdue -= known;
  round->expected += (uint32_t) expected - known;
  round->lost += lost > known ? (uint32_t) lost - known : 0;
}

void
fmx_rate_sender_on_report_block (FmxRateSender *sender,
    const FmxReportBlock *block, uint32_t ntp_now_mid32, FmxTime now)
{
  FmxStream *stream = fmx_stream_table_find (&sender->streams, block->ssrc);
  FmxDuration sample = 0;

  if (stream == NULL) {
    sender->stats.n_unknown++;
    return;
  }
  if (now >= sender->report.due)
    fmx_rate_sender_digest_report_blocks (sender, now);
  if (!fmx_rate_sender_believes_block (sender, stream, block, now))
    return;
  sender->stats.n_feedback++;
  if (sender->stats.feedback == FMX_RATE_SENDER_FEEDBACK_PER_PACKET) {
    if (sender->params.circuit_breaker)
      fmx_circuit_breaker_on_heard (&sender->breaker, now);
    if (!fmx_rate_sender_takes_block (sender, stream, block, now))
      return;
    /* It fell silent, yet its reports come: it speaks the other language. */
    sender->stats.feedback = FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS;
    sender->report.number = sender->intervals.newest.number + 1;
  }
  if (fmx_rtt_from_report (ntp_now_mid32, block->lsr, block->dlsr, &sample))
    (void) fmx_rtt_add (&sender->rtt, sample, now);
  /* one that is far above the others says little, one below them a lot */
  sender->rtt_sample_min = sample < fmx_rtt_median (&sender->rtt) ? sample : 0;
  sender->reverse_delay = 0;
  add_to_round (sender, stream, block, now);
  if (sender->report.due == FMX_TIME_NONE)
    sender->report.due = now + (FmxTime) REPORT_WAIT;
}

static FmxTime
newest_sent (const FmxReportRound *round)
{
  return round->newest_sent > 0 ? round->newest_sent : round->last_block;
}

/* When the packet was sent that so much of the report came before. */
static FmxTime
sent_at (const FmxReportRound *round, double where)
{
  FmxDuration took = fmx_time_diff (round->last_block, round->start);
  FmxDuration ago = fmx_time_diff (round->last_block, newest_sent (round));

  if (ago > took || ago > (FmxDuration) round->start)
    ago = 0;                    /* nonsense */
  return round->start - (FmxTime) ago + (FmxTime) (where * (double) took);
}

/* A report says how many were lost, not when.  If losses are independent an
 * event swallows those of a round-trip time, m packets, and the next comes 1/f
 * packets later: one event for each m + 1/f packets. */
static uint32_t
estimate_events (const FmxRateSender *sender, double fraction, FmxDuration took)
{
  const FmxReportRound *round = &sender->report;
  double rounds = (double) took / (double) fmx_rate_sender_rtt (sender);
  double m = round->expected / rounds;
  double n = floor (round->expected / (m + 1.0 / fraction) + 0.5);

  if (n > 0.9 * rounds)         /* further apart than a round-trip time */
    n = floor (0.9 * rounds);
  if (n > round->lost)
    n = round->lost;
  return n < 1.0 ? 1u : (uint32_t) n;
}

static void
spread_losses (FmxRateSender *sender, double fraction)
{
  const FmxReportRound *round = &sender->report;
  FmxDuration took = fmx_time_diff (round->last_block, round->start);
  uint32_t n = estimate_events (sender, fraction, took);
  uint32_t given = 0;

  for (uint32_t i = 0; i < n; i++) {
    double where = (2.0 * i + 1.0) / (2.0 * n);
    uint32_t until = (uint32_t) ((uint64_t) round->lost * (i + 1) / n);
    FmxLossRecord record;

    record.number = round->number + (uint64_t) (where * round->expected);
    record.sent = sent_at (round, where);
    for (; given < until; given++)
      (void) fmx_rate_sender_lost (sender, record);
  }
}

static void
begin_report_round (FmxReportRound *round)
{
  uint64_t number = round->number + round->expected;

  memset (round, 0, sizeof *round);
  round->number = number;
  round->start = FMX_TIME_NONE;
  round->due = FMX_TIME_NONE;
}

static void
note_received (FmxRateSender *sender, double fraction, FmxDuration took)
{
  const FmxReportRound *round = &sender->report;
  FmxReceiveRound *receive = &sender->receive;
  double bps = (1.0 - fraction)
      * fmx_rate_bps ((double) (round->last_bytes - round->start_bytes), took);

  if (took < RECEIVE_LEAST && receive->bps > 0.0)
    bps = receive->bps + (bps - receive->bps) * (double) took
        / (double) RECEIVE_LEAST;
  receive->bps = bps;
  receive->left_bps = 0.0;
  if (bps > receive->most_bps)
    receive->most_bps = bps;
}

void
fmx_rate_sender_digest_report_blocks (FmxRateSender *sender, FmxTime now)
{
  FmxReportRound *round = &sender->report;
  FmxDuration took = round->start != FMX_TIME_NONE
      ? fmx_time_diff (round->last_block, round->start) : 0;
  bool received = round->expected > round->lost || round->is_baseline;
  double fraction = 0.0;
  FmxLossRecord last;

  fmx_rate_sender_heard (sender, 0, now);
  if (round->expected == 0 && !round->is_baseline)
    give_up_overdue (sender, round, now);
  /* Of streams that are silent: nothing was to arrive, nothing is known. */
  if (round->expected == 0 && !round->is_baseline) {
    begin_report_round (round);
    return;
  }
  if (round->expected > 0)
    fraction = (double) round->lost / round->expected;
  if (took > 0 && round->expected > 0)
    note_received (sender, fraction, took);
  if (sender->stats.feedback == FMX_RATE_SENDER_FEEDBACK_NONE)
    sender->stats.feedback = FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS;
  if (fraction > 0.0 && took > 0)
    spread_losses (sender, fraction);
  last = (FmxLossRecord) { round->number + round->expected, now };
  fmx_loss_intervals_on_packet (&sender->intervals, last);
  fmx_loss_fraction_add (&sender->fraction, round->expected - round->lost,
      round->lost, took > 0 ? sent_at (round, 0.5) : now);
  sender->stats.n_lost += round->lost;
  sender->stats.n_acked += round->expected - round->lost;
  if (received)
    sender->last_ack = now;
  if (round->lost > 0)
    sender->n_answered = 0;
  else if (sender->probing_since != FMX_TIME_NONE)
    sender->n_answered += round->expected;
  if (newest_sent (&sender->report) > sender->acked_sent)
    sender->acked_sent = newest_sent (&sender->report);
  fmx_rate_sender_report_to_breaker (sender, fraction, received, now);
  begin_report_round (round);
  fmx_rate_sender_digest (sender, received, now);
  fmx_rate_sender_tell (sender, now);
}
