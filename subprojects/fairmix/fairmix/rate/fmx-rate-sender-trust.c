/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/base/fmx-serial.h"
#include "fairmix/rate/fmx-rate-sender-private.h"

/* Who was silent for so long may have moved: three reports, as they come. */
#define PER_PACKET_PATIENCE (2 * FMX_SECOND)
#define BLOCKS_PATIENCE (15 * FMX_SECOND)

/* A trial is over after so many packets; then per-packet feedback may have
 * claimed more of them by so much, for blocks count what came late or twice
 * otherwise. */
#define TRIAL_PACKETS 200u
#define AGREES_PACKETS 3u
#define AGREES_SHARE 0.01

/* Blocks in a row that cover a number that was left out and yet say that nothing
 * was lost: in each a duplicate would have to make up for exactly what was
 * lost. */
#define UNMISSED 12u

/* No per-packet feedback for so long: the receiver does not send it any more ... */
#define PER_PACKET_TIMEOUT (10 * FMX_SECOND)
/* ... or it does not send it often: rtpsession of GStreamer waits for a marker, which an
 * Opus stream has at its beginning, or for some 600 packets. */
#define PAUSE FMX_SECOND

/* How often it comes is known after so much without a pause; who was rare has to send it
 * for longer than between two reports ([RFC3550 6.2]). */
#define STEADY_TIME (500 * FMX_MSECOND)
#define STEADY_TIMES 4u
#define OFTEN_TIME (8 * FMX_SECOND)
#define OFTEN_TIMES 20u

void
fmx_rate_sender_set_source (FmxRateSender *sender, uint64_t id)
{
  sender->trust.id = id;
}

static void
note_void (FmxRateSender *sender, const FmxFeedbackSource *source, FmxTime now)
{
  if (source == &sender->trust.per_packet) {
    sender->trust.per_packet_counts = false;
    sender->trust.trial_since = FMX_TIME_NONE;
  }
  sender->stats.n_void++;
  fmx_rate_sender_say (sender, FMX_RATE_FEEDBACK_VOID, now);
}

static void
catch_source (FmxRateSender *sender, FmxFeedbackSource *source,
    uint32_t ssrc, uint16_t seq, FmxTime now)
{
  sender->stats.n_impossible++;
  if (fmx_feedback_source_catch (source, (uint64_t) ssrc << 16 | seq, now))
    note_void (sender, source, now);
}

static bool
counts (FmxRateSender *sender, FmxFeedbackSource *source,
    FmxDuration patience, FmxTime now)
{
  if (fmx_feedback_source_hear (source, sender->trust.id, patience, now)
      == FMX_FEEDBACK_HEARD)
    return true;
  sender->stats.n_refused++;
  return false;
}

bool
fmx_rate_sender_believes_ccfb (FmxRateSender *sender, FmxTime now)
{
  FmxRateTrust *trust = &sender->trust;
  FmxDuration patience = 3 * fmx_rate_sender_interval (sender);
  bool known = fmx_feedback_source_is (&trust->per_packet, trust->id);

  if (patience < PER_PACKET_PATIENCE
      || sender->stats.feedback != FMX_RATE_SENDER_FEEDBACK_PER_PACKET)
    patience = PER_PACKET_PATIENCE;
  if (!counts (sender, &trust->per_packet, patience, now))
    return false;
  if (!known) {
    trust->per_packet_counts = false;
    trust->trial_since = FMX_TIME_NONE;
    trust->is_steady = trust->is_rare = false;
    trust->n_row = 0;
  }
  return true;
}

bool
fmx_rate_sender_may_be_true (FmxRateSender *sender,
    const FmxCcfbMetric *metric, FmxTime now)
{
  const FmxStream *stream;

  if (!metric->received)
    return true;
  stream = fmx_stream_table_find (&sender->streams, metric->ssrc);
  if (stream == NULL || fmx_sent_numbers_check (&stream->numbers, metric->seq,
          now) != FMX_SENT_NUMBER_NEVER)
    return true;
  catch_source (sender, &sender->trust.per_packet, metric->ssrc, metric->seq,
      now);
  return false;
}

bool
fmx_rate_sender_is_on_trial (FmxRateSender *sender, FmxTime now)
{
  FmxRateTrust *trust = &sender->trust;

  if (sender->stats.feedback != FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS
      || (trust->id != FMX_FEEDBACK_SOURCE_ANYONE
          && fmx_feedback_source_is (&trust->blocks, trust->id))
      || fmx_time_diff (now, trust->block_time) > BLOCKS_PATIENCE)
    trust->per_packet_counts = true;
  if (trust->per_packet_counts) {
    trust->trial_since = FMX_TIME_NONE;
    return false;
  }
  if (trust->trial_since == FMX_TIME_NONE) {
    trust->trial_since = now;
    trust->expected = trust->received = trust->claimed = 0;
  }
  return true;
}

bool
fmx_rate_sender_is_rare (FmxRateSender *sender, FmxTime now)
{
  FmxRateTrust *trust = &sender->trust;
  FmxDuration row;

  if (trust->n_row == 0 || fmx_time_diff (now, trust->row_end) > PAUSE) {
    trust->n_row = 0;
    trust->row_begin = now;
  }
  if (trust->n_row == 0 || now > trust->row_end)        /* else a part of the same */
    trust->n_row++;
  trust->row_end = now;
  row = fmx_time_diff (now, trust->row_begin);
  if (trust->n_row >= OFTEN_TIMES && row >= OFTEN_TIME)
    trust->is_rare = false;
  if (trust->n_row >= STEADY_TIMES && row >= STEADY_TIME)
    trust->is_steady = !trust->is_rare;
  return trust->is_rare;
}

bool
fmx_rate_sender_is_unsteady (const FmxRateSender *sender)
{
  const FmxRateTrust *trust = &sender->trust;

  return trust->n_row > 0 && !trust->is_steady
      && sender->stats.feedback == FMX_RATE_SENDER_FEEDBACK_PER_PACKET;
}

/* Who had a packet that left after all that was acknowledged is not cut off. */
bool
fmx_rate_sender_takes_block (FmxRateSender *sender, const FmxStream *stream,
    const FmxReportBlock *block, FmxTime now)
{
  FmxDuration silent = fmx_time_diff (now, sender->stats.last_feedback);
  FmxSentPacket packet;

  if (!sender->trust.per_packet_counts || silent >= PER_PACKET_TIMEOUT)
    return true;
  if (silent <= PAUSE + sender->gap_now
      || !fmx_sent_history_find (&sender->history, stream->ssrc,
          (uint16_t) block->ext_highest_seq, &packet)
      || packet.sent <= sender->last_ack)
    return false;
  sender->trust.is_rare = true;
  sender->trust.is_steady = false;
  return true;
}

/* More than was sent, or what is ahead of all that was. */
static bool
is_block_impossible (const FmxStream *stream, const FmxReportBlock *block)
{
  uint16_t seq = (uint16_t) block->ext_highest_seq;
  uint64_t number = fmx_sent_numbers_extend (&stream->numbers, seq);

  if (fmx_serial_diff16 (seq, fmx_sent_numbers_next (&stream->numbers)) >= 0)
    return true;
  return stream->has_report_block
      && fmx_serial_diff32 (block->ext_highest_seq, stream->ext_highest_seq)
      > (int64_t) (number - stream->report_number);
}

bool
fmx_rate_sender_believes_block (FmxRateSender *sender,
    const FmxStream *stream, const FmxReportBlock *block, FmxTime now)
{
  FmxRateTrust *trust = &sender->trust;
  uint16_t seq = (uint16_t) block->ext_highest_seq;

  if (!counts (sender, &trust->blocks, BLOCKS_PATIENCE, now))
    return false;
  if (!is_block_impossible (stream, block)) {
    trust->block_time = now;
    return true;
  }
  /* Anybody may say so in the name of nobody. */
  if (trust->id == FMX_FEEDBACK_SOURCE_ANYONE
      || fmx_sent_numbers_check (&stream->numbers, seq, now)
      == FMX_SENT_NUMBER_UNKNOWN)
    sender->stats.n_impossible++;
  else
    catch_source (sender, &trust->blocks, block->ssrc, seq, now);
  return false;
}

/* How many of the packets that the last block covered the feedback on trial
 * has claimed by now. */
static uint32_t
count_claimed (const FmxRateSender *sender, const FmxStream *stream)
{
  uint32_t claimed = 0;

  for (uint32_t i = 0; i < stream->report_expected
      && i < FMX_SENT_HISTORY_PACKETS; i++)
    claimed += fmx_sent_history_was_acknowledged (&sender->history,
        stream->ssrc, (uint16_t) (stream->ext_highest_seq - i));
  return claimed;
}

static void
compare (FmxRateSender *sender, const FmxStream *stream, FmxTime now)
{
  FmxRateTrust *trust = &sender->trust;

  trust->expected += stream->report_expected;
  trust->received += stream->report_received;
  trust->claimed += count_claimed (sender, stream);
  if (trust->expected < TRIAL_PACKETS)
    return;
  if ((double) trust->claimed <= (double) trust->received + AGREES_PACKETS
      + AGREES_SHARE * trust->expected) {
    trust->per_packet_counts = true;
  } else {
    fmx_feedback_source_void (&trust->per_packet);
    note_void (sender, &trust->per_packet, now);
  }
}

/* Whether all packets of the last block were sent since the trial began. */
static bool
is_of_trial (const FmxRateSender *sender, const FmxStream *stream)
{
  FmxSentPacket packet;

  return stream->report_expected > 0
      && fmx_sent_history_find (&sender->history, stream->ssrc,
      (uint16_t) (stream->ext_highest_seq - stream->report_expected + 1),
      &packet) && packet.sent > sender->trust.trial_since;
}

static uint32_t
count_received (uint32_t expected, int64_t lost)
{
  if (lost <= 0)
    return expected;
  return lost < expected ? expected - (uint32_t) lost : 0;
}

void
fmx_rate_sender_weigh_block (FmxRateSender *sender, FmxStream *stream,
    uint32_t expected, int64_t lost, uint32_t left_out, FmxTime now)
{
  FmxRateTrust *trust = &sender->trust;

  /* What is in the block before has had its time to be claimed. */
  if (trust->trial_since != FMX_TIME_NONE && !trust->per_packet_counts
      && is_of_trial (sender, stream))
    compare (sender, stream, now);
  stream->report_expected = expected;
  stream->report_received = count_received (expected, lost);
  if (left_out == 0)
    return;
  trust->n_unmissed = lost == 0 ? trust->n_unmissed + 1 : 0;
  if (trust->n_unmissed < UNMISSED)
    return;
  trust->n_unmissed = 0;
  fmx_feedback_source_void (&trust->blocks);
  note_void (sender, &trust->blocks, now);
}
