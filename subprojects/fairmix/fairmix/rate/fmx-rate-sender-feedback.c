/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "fairmix/base/fmx-serial.h"
#include "fairmix/base/fmx-units.h"
#include "fairmix/rate/fmx-rate-sender-private.h"

#define ECN_CE 3u

/* A receive rate over less than this is coarse: a packet more or less. */
#define RECEIVE_ROUND_MIN (200 * FMX_MSECOND)
#define RECEIVE_ROUND_MAX (5 * FMX_SECOND)

/* A hole in the feedback of more packets than this is nonsense. */
#define HOLE_MAX 1024

/* One report to the breaker, as of RTCP at its shortest ([RFC3550 6.2]): three of a
 * second each would hold one burst of losses against a fast sender. */
#define BREAKER_ROUND (5 * FMX_SECOND)

/* [RFC8888 3.1] "an unsigned 13-bit value" in 1/1024 s */
#define ATO_RANGE (8 * FMX_SECOND)

#define LARGE_REPORT 4.0        /* times what the last ones told of */
#define SIZE_GAIN 0.125

/* What one per-packet feedback has told so far. */
typedef struct
{
  bool is_first;                /* nothing was heard before */
  bool late;                    /* a feedback before it may have been lost */
  uint32_t ssrc;
  bool has_ssrc;
  FmxStream *stream;
  unsigned n_metrics;
  uint32_t n_acked;
  FmxSentPacket newest;
  FmxDuration newest_offset;
  FmxDuration held;             /* since the first of them arrived */
  FmxTime least_from;           /* now - R of the packet with the least R ... */
  FmxTime most_from;            /* ... and with the greatest */
  uint64_t first_number;
  FmxTime reported;             /* on the receiver's clock, ATO_RANGE later */
  uint64_t bytes;
  FmxTime last_arrival;         /* likewise; 0 = not known */
} Digest;

/* [RFC8888 3.1] "The sequence number ranges reported on in consecutive reports
 * for a given SSRC will generally be contiguous": if they are not, and it took
 * longer than usual, then a report between was lost ([RFC8888 5]). */
static void
look_for_a_hole (FmxRateSender *sender, const Digest *digest, uint16_t seq)
{
  FmxStream *stream = digest->stream;
  int32_t n;

  if (!stream->has_report_seq || !digest->late)
    return;
  n = fmx_serial_diff16 (seq, stream->next_report_seq);
  for (int32_t i = 0; i < n && n <= HOLE_MAX; i++) {
    FmxSentPacket packet;

    if (fmx_sent_history_forget (&sender->history, stream->ssrc,
            (uint16_t) (stream->next_report_seq + i), &packet))
      fmx_rate_sender_take_back (sender, &packet);
  }
}

/* The feedback covered that packet, whatever it said of it. */
static void
note_reported (FmxStream *stream, uint16_t seq)
{
  if (!stream->has_report_seq
      || fmx_serial_diff16 (seq, stream->next_report_seq) >= 0)
    stream->next_report_seq = (uint16_t) (seq + 1);
  stream->has_report_seq = true;
}

static void
note_round_trip (Digest *digest, FmxTime from)
{
  if (from > digest->least_from)
    digest->least_from = from;
  if (digest->most_from == 0 || from < digest->most_from)
    digest->most_from = from;
}

/* What a train of padding waits for is the train itself. */
static void
note_arrival (FmxRateSender *sender, Digest *digest,
    const FmxSentPacket *packet, FmxDuration offset)
{
  FmxTime arrived = digest->reported - (FmxTime) offset;
  FmxDuration took = fmx_time_diff (arrived, packet->sent);

  if (offset > digest->held)
    digest->held = offset;
  if (arrived > digest->last_arrival)
    digest->last_arrival = arrived;
  if (fmx_rate_train_has (&sender->train, packet->sent)) {
    fmx_rate_train_came (&sender->train, arrived);
    return;
  }
  fmx_bottleneck_rate_add (&sender->bottleneck, packet->sent, arrived,
      packet->wire_bytes);
  fmx_delay_shape_add (&sender->shape, took, packet->sent);
  fmx_delay_slope_add (&sender->slope, packet->sent, took);
  note_round_trip (digest, packet->sent + (FmxTime) offset);
}

static void
on_acknowledged (FmxRateSender *sender, Digest *digest,
    const FmxCcfbMetric *metric)
{
  FmxSentPacket packet;
  FmxSentAck ack = fmx_sent_history_acknowledge (&sender->history,
      metric->ssrc, metric->seq, &packet);

  if (ack == FMX_SENT_ACK_UNKNOWN || ack == FMX_SENT_ACK_AGAIN)
    return;

  if (ack == FMX_SENT_ACK_LATE)
    fmx_rate_sender_take_back (sender, &packet);
  else
    fmx_rate_sender_received (sender, &packet, metric->ecn == ECN_CE);
  sender->receive.bytes += packet.wire_bytes;
  digest->bytes += packet.wire_bytes;
  sender->breaker_round.acked++;
  if (packet.sent >= sender->probing_since)
    sender->n_answered++;
  if (digest->n_acked == 0 || packet.number < digest->first_number)
    digest->first_number = packet.number;
  if (digest->n_acked == 0 || packet.number > digest->newest.number) {
    digest->newest = packet;
    digest->newest_offset = metric->arrival_offset;
  }
  if (metric->arrival_offset != FMX_CCFB_ATO_UNKNOWN)
    note_arrival (sender, digest, &packet, metric->arrival_offset);
  digest->n_acked++;
}

static void
on_metric (FmxRateSender *sender, Digest *digest, const FmxCcfbMetric *metric)
{
  digest->n_metrics++;
  if (!digest->has_ssrc || metric->ssrc != digest->ssrc) {
    digest->has_ssrc = true;
    digest->ssrc = metric->ssrc;
    digest->stream = fmx_stream_table_find (&sender->streams, metric->ssrc);
    if (digest->stream != NULL)
      look_for_a_hole (sender, digest, metric->seq);
  }
  if (digest->stream == NULL) {
    sender->stats.n_unknown += metric->received;
    return;
  }
  if (fmx_sent_history_knows (&sender->history, metric->ssrc, metric->seq))
    note_reported (digest->stream, metric->seq);
  if (metric->received)
    on_acknowledged (sender, digest, metric);
}

/* Report blocks counted packets as the receiver did; from now on they are
 * numbered as they were sent. */
static void
take_over_from_reports (FmxRateSender *sender)
{
  FmxSentHistoryStats history;

  fmx_sent_history_get_stats (&sender->history, &history);
  fmx_loss_intervals_rebase (&sender->intervals,
      (int64_t) (history.n_sent - sender->report.number));
  sender->report.number = history.n_sent;
}

/* Of the seconds it has 16 bits, 18 hours: then it goes on. */
static FmxTime
their_time (FmxRateSender *sender, uint32_t mid32)
{
  uint64_t t = fmx_serial_extend32 (&sender->reported, mid32);
  uint64_t second = (uint64_t) FMX_SECOND;

  return (t >> 16) * second + ((t & 0xffff) * second >> 16);
}

static void
begin (FmxRateSender *sender, Digest *digest, uint32_t report_mid32,
    FmxTime now)
{
  FmxTime last = sender->stats.last_feedback;
  FmxDuration interval = sender->gap_mean;

  memset (digest, 0, sizeof *digest);
  digest->reported = their_time (sender, report_mid32) + (FmxTime) ATO_RANGE;
  digest->is_first =
      sender->stats.feedback != FMX_RATE_SENDER_FEEDBACK_PER_PACKET;
  digest->late = last != FMX_TIME_NONE && interval > 0
      && fmx_time_diff (now, last) > interval + interval / 2;
  if (sender->stats.feedback == FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS)
    take_over_from_reports (sender);
}

static void
begin_receive_round (FmxRateSender *sender, uint32_t report_mid32, FmxTime now)
{
  FmxReceiveRound *round = &sender->receive;

  round->bytes = 0;
  round->start = now;
  round->start_mid32 = report_mid32;
  round->first = sender->newest;
}

/* Where padding ends, or begins, what comes left at another rate than what leaves now.  In
 * most of the first round nothing could have come yet: what does is no less than what left.
 * Returns: how fast what has come in this round left, with what was lost of it; 0 = not known */
static double
left_bps (const FmxRateSender *sender)
{
  const FmxSentPacket *first = &sender->receive.first;
  FmxDuration took = fmx_time_diff (sender->newest.sent, first->sent);

  if (first->sent == 0)
    return sender->receive.bps;
  if (took <= 0)
    return 0.0;
  return fmx_rate_bps ((double) fmx_sent_history_bytes (&sender->history,
          first->number + 1, sender->newest.number), took);
}

/* [RFC5348 6.2] X_recv, over a round-trip time or more, on the receiver's
 * clock unless that is nonsense. */
static void
end_receive_round (FmxRateSender *sender, const Digest *digest,
    uint32_t report_mid32, FmxTime now)
{
  FmxReceiveRound *round = &sender->receive;
  FmxDuration took = fmx_time_diff (now, round->start);
  FmxDuration theirs = (FmxDuration) (uint32_t) (report_mid32
      - round->start_mid32) * FMX_SECOND / 65536;
  FmxDuration least = fmx_rate_sender_rtt (sender);

  if (least < RECEIVE_ROUND_MIN)
    least = RECEIVE_ROUND_MIN;
  if (took < least || fmx_sender_stall_is_half_told (&sender->stall,
          sender->acked_sent, now))
    return;
  if (theirs > took / 2 && theirs < 2 * took)
    took = theirs;
  if (took <= RECEIVE_ROUND_MAX || digest->held > took / 2) {
    round->bps = fmx_rate_bps ((double) round->bytes, took);
    round->left_bps = left_bps (sender);
    if (round->bps > round->most_bps)
      round->most_bps = round->bps;
  }
  begin_receive_round (sender, report_mid32, now);
}

/* Where a queue stands it is what the path carries: packets leave it one after the
 * other.  Unknown where their clock was set. */
static void
note_latest (FmxRateSender *sender, const Digest *digest)
{
  FmxDuration took = fmx_time_diff (digest->last_arrival,
      sender->last_arrival);

  sender->latest_bps = 0.0;
  if (digest->last_arrival == 0)
    return;
  if (sender->last_arrival != 0 && took > 0 && took <= RECEIVE_ROUND_MAX)
    sender->latest_bps = fmx_rate_bps ((double) digest->bytes, took);
  sender->last_arrival = digest->last_arrival;
}

static void
end_breaker_round (FmxRateSender *sender, FmxTime now)
{
  FmxBreakerRound *round = &sender->breaker_round;
  uint32_t all = round->acked + round->lost;

  if (fmx_time_diff (now, round->start) < BREAKER_ROUND)
    return;
  fmx_rate_sender_report_to_breaker (sender,
      all > 0 ? (double) round->lost / all : 0.0, round->acked > 0, now);
  round->acked = 0;
  round->lost = 0;
  round->start = now;
}

/* What a report does not tell of may stand in its next packet.  Fewer than last time, and
 * one was lost; fewer twice, and that is all.  After a pause of the path one that had a
 * packet has two: a large one waits for whatever comes next. */
static bool
is_whole (FmxRateSender *sender, uint32_t report_mid32, unsigned n_metrics)
{
  FmxReportParts *parts = &sender->parts;
  bool is_large = parts->size > 0.0 && !parts->was_large
      && n_metrics > LARGE_REPORT * parts->size;

  parts->size += (parts->size > 0.0 ? SIZE_GAIN : 1.0)
      * (n_metrics - parts->size);
  if (report_mid32 != parts->mid32) {
    bool is_short = parts->n < parts->expected;

    if (!is_short || parts->was_short)
      parts->expected = parts->n;
    parts->was_short = is_short;
    parts->mid32 = report_mid32;
    parts->n = 0;
  }
  parts->was_large = is_large;
  return ++parts->n >= parts->expected && !is_large;
}

/* Packets from before the receiver came are nobody's loss. */
static void
begin_per_packet (FmxRateSender *sender, const Digest *digest)
{
  fmx_sent_history_forget_before (&sender->history, digest->first_number);
  sender->stats.feedback = FMX_RATE_SENDER_FEEDBACK_PER_PACKET;
}

/* From the receiver's clock to ours: only its changes say something. */
static void
note_reverse_delay (FmxRateSender *sender, const Digest *digest,
    uint32_t report_mid32, FmxTime now)
{
  uint64_t second = (uint64_t) FMX_SECOND;
  uint32_t mid32 = (uint32_t) ((now / second << 16)
      + (now % second << 16) / second);

  if (digest->is_first)
    sender->first_back_mid32 = mid32 - report_mid32;
  mid32 -= report_mid32 + sender->first_back_mid32;
  sender->reverse_delay = (FmxDuration) (int32_t) mid32 *FMX_SECOND / 65536;
}

/* The path carries something again, after a timeout.  What the receiver got is counted
 * anew, and the next dummy packet need not wait. */
static void
come_back (FmxRateSender *sender, uint32_t report_mid32, FmxTime now)
{
  sender->just_returned = true;
  sender->silent_sent = sender->acked_sent;
  sender->returned = now;
  begin_receive_round (sender, report_mid32, now);
  sender->last_arrival = 0;
  if (sender->probe_at != FMX_TIME_NONE)
    sender->probe_at = now;
}

/* How long a packet that left before the path was back took says how long the path was
 * away: as with a TCP's repeated packets ([RFC6298 3]) that is no sample. */
static void
note_round_trips (FmxRateSender *sender, const Digest *digest, FmxTime now)
{
  const FmxSentPacket *newest = &digest->newest;

  sender->delay_spread = sender->rtt_sample_min = 0;
  if (newest->sent < sender->returned)
    return;
  sender->delay_spread = fmx_time_diff (digest->least_from, digest->most_from);
  if (digest->least_from > 0 && digest->least_from < now)
    sender->rtt_sample_min = fmx_time_diff (now, digest->least_from);
  /* [RFC5348 4.3] R_sample = (t_now - t_recvdata) - t_delay */
  if (digest->newest_offset != FMX_CCFB_ATO_UNKNOWN)
    (void) fmx_rtt_add (&sender->rtt, fmx_time_diff (now, newest->sent)
        - digest->newest_offset, now);
}

static void
end (FmxRateSender *sender, Digest *digest, uint32_t report_mid32, FmxTime now)
{
  if (digest->n_acked == 0 && digest->is_first)
    return;                     /* about others, or older than we remember */
  sender->stats.n_feedback++;
  fmx_rate_sender_excuse_hold (sender, now);
  if (digest->is_first)
    begin_per_packet (sender, digest);
  fmx_rate_sender_heard (sender, digest->held, now);
  note_reverse_delay (sender, digest, report_mid32, now);
  if (digest->n_acked > 0) {
    if (sender->silent_since != FMX_TIME_NONE)
      come_back (sender, report_mid32, now);
    note_round_trips (sender, digest, now);
    sender->last_ack = now;
    if (digest->newest.sent > sender->acked_sent)
      sender->acked_sent = digest->newest.sent;
    if (digest->newest.number > sender->newest.number)
      sender->newest = digest->newest;
    /* [RFC6298 5.3] acknowledgements come: "restart the ... timer" */
    fmx_sent_history_postpone (&sender->history, now
        + (FmxTime) (fmx_rtt_rto (&sender->rtt) - fmx_rtt_srtt (&sender->rtt)
            + fmx_rate_sender_patience (sender)));
  }
  end_receive_round (sender, digest, report_mid32, now);
  note_latest (sender, digest);
  fmx_bottleneck_rate_end (&sender->bottleneck, now);
  fmx_rate_train_end (&sender->train, sender->acked_sent);
  fmx_delay_slope_end (&sender->slope, now);
  if (is_whole (sender, report_mid32, digest->n_metrics))
    (void) fmx_rate_sender_drain_losses (sender, now);
  end_breaker_round (sender, now);
  fmx_rate_sender_digest (sender, digest->n_acked > 0, now);
  fmx_rate_sender_tell (sender, now);
}

/* On trial: what it claims is noted, to be compared with report blocks. */
static void
note_claim (FmxRateSender *sender, const FmxCcfbMetric *metric)
{
  FmxSentPacket packet;

  if (metric->received)
    (void) fmx_sent_history_acknowledge (&sender->history, metric->ssrc,
        metric->seq, &packet);
}

bool
fmx_rate_sender_on_ccfb (FmxRateSender *sender, const uint8_t *data,
    size_t size, FmxTime now)
{
  FmxCcfbReader reader;
  FmxCcfbMetric metric;
  Digest digest;

  if (!fmx_ccfb_reader_init (&reader, data, size)) {
    sender->stats.n_malformed++;
    return false;
  }
  if (!fmx_rate_sender_believes_ccfb (sender, now))
    return true;
  while (fmx_ccfb_reader_next (&reader, &metric))
    if (!fmx_rate_sender_may_be_true (sender, &metric, now))
      return true;
  (void) fmx_ccfb_reader_init (&reader, data, size);
  if (fmx_rate_sender_is_rare (sender, now))
    return true;
  if (fmx_rate_sender_is_on_trial (sender, now)) {
    while (fmx_ccfb_reader_next (&reader, &metric))
      note_claim (sender, &metric);
    return true;
  }
  begin (sender, &digest, fmx_ccfb_reader_timestamp (&reader), now);
  while (fmx_ccfb_reader_next (&reader, &metric))
    on_metric (sender, &digest, &metric);
  end (sender, &digest, fmx_ccfb_reader_timestamp (&reader), now);
  return true;
}

void
fmx_rate_sender_on_metrics (FmxRateSender *sender,
    const FmxCcfbMetric *metrics, size_t n, uint32_t report_mid32, FmxTime now)
{
  Digest digest;

  if (!fmx_rate_sender_believes_ccfb (sender, now))
    return;
  for (size_t i = 0; i < n; i++)
    if (!fmx_rate_sender_may_be_true (sender, &metrics[i], now))
      return;
  if (fmx_rate_sender_is_rare (sender, now))
    return;
  if (fmx_rate_sender_is_on_trial (sender, now)) {
    for (size_t i = 0; i < n; i++)
      note_claim (sender, &metrics[i]);
    return;
  }
  begin (sender, &digest, report_mid32, now);
  for (size_t i = 0; i < n; i++)
    on_metric (sender, &digest, &metrics[i]);
  end (sender, &digest, report_mid32, now);
}
