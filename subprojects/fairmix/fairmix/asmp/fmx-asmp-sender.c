/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/asmp/fmx-asmp-sender.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "fairmix/asmp/fmx-asmp-equation.h"
#include "fairmix/asmp/fmx-asmp-loss.h"
#include "fairmix/asmp/fmx-asmp-sender-private.h"
#include "fairmix/rate/fmx-tcp-equation.h"

#define RTT_MAX (60 * FMX_SECOND)
#define PACKET_WEIGHT 0.05      /* of the newest packet's size */
#define PACKET_BYTES 200.0      /* voice */
#define CUT_OFF_PACKETS 10u     /* of which none came */
#define LIFETIME_INTERVALS 5.0  /* [RFC3550 6.3.5] */
#define RATE_INTERVALS 4.0      /* reports get lost on congested paths */
#define RATE_LIFETIME_MIN (5 * FMX_SECOND)
#define CROWD 20u               /* TFMCC's aim for a round: more is a large session */
#define ROUND (5 * FMX_SECOND)
#define RATE_ROUNDS 2.4         /* two, and what the reports take */
#define SENT_WINDOW (2 * FMX_SECOND)
#define PLAIN_GAMMA 0.5         /* no congestion indicator: between (19)'s two */
#define PLAIN_GROWTH 2.0        /* of what is sent, at most */
#define PLAIN_GROWTH_AFTER_LOSS 1.25    /* a loss is told seconds later */

void
fmx_asmp_sender_params_default (FmxAsmpSenderParams *params)
{
  memset (params, 0, sizeof *params);
  params->algorithm = FMX_ASMP_FAIR;
  params->initial_bps = 64000;
  params->min_bps = 16000;
  params->max_bps = 10000000;
  params->lifetime = 25 * FMX_SECOND;   /* 5 intervals of 5 s, [RFC3550 6.3.5] */
  params->patience = 120 * FMX_SECOND;  /* [RFC4654 2.5.2] */
}

static double
clamp_bps (const FmxAsmpSender *sender, double bps)
{
  return fmin (fmax (bps, sender->params.min_bps), sender->params.max_bps);
}

void
fmx_asmp_sender_init (FmxAsmpSender *sender,
    const FmxAsmpSenderParams *params, void *memory, uint32_t n_max,
    uint32_t seed)
{
  assert (params->min_bps > 0 && params->min_bps <= params->max_bps);
  memset (sender, 0, sizeof *sender);
  sender->params = *params;
  sender->packet_bytes = PACKET_BYTES;
  sender->risen = FMX_TIME_NONE;
  fmx_asmp_pace_init (&sender->pace);
  fmx_rate_meter_init (&sender->sent, SENT_WINDOW);
  fmx_asmp_table_init (&sender->table, memory, n_max, seed);
  sender->target_bps = clamp_bps (sender, params->initial_bps);
}

static void
tell (const FmxAsmpSender *sender, const FmxAsmpEntry *limiting,
    const char *reason, double before_bps, FmxTime now)
{
  FmxEvent event = {
    .name = "asmp-rate",
    .reason = reason,
    .time = now,
    .n_fields = 5,
    .fields = {
          {"target-bps", sender->target_bps},
          {"before-bps", before_bps},
          {"limiting-ssrc", sender->limiting_ssrc},
          {"limiting-rtt-ms",
              limiting ==
                NULL ? 0.0 : fmx_time_to_s (fmx_asmp_entry_rtt (limiting)) *
                1000.0},
          {"receivers", sender->table.n},
        }
  };

  fmx_event_emit (sender->params.sink, &event);
}

/* It is there, but its rate does not count until it tells another. */
static void
silence_rate (FmxAsmpSender *sender, uint32_t at)
{
  FmxAsmpEntry *entry = &sender->table.entries[at];

  entry->has_rate = false;
  fmx_asmp_table_rate (&sender->table, at, entry->rate_bps, false);
}

/* in a large session, which has some */
static bool
has_rounds (const FmxAsmpSender *sender, const FmxAsmpEntry *entry)
{
  return sender->params.algorithm == FMX_ASMP_FAIR
      && sender->table.n > CROWD && entry->has_rounds;
}

/* With rounds who is below the sender's rate says so in each: what it told before
 * is out of date. */
static bool
is_out_of_date (const FmxAsmpSender *sender, const FmxAsmpEntry *entry,
    FmxTime now)
{
  return has_rounds (sender, entry) && entry->ssrc != sender->limiting_ssrc
      && fmx_time_diff (now, entry->rated)
      > (FmxDuration) (RATE_ROUNDS * (double) ROUND);
}

/* Returns: whose rate counts and is the least */
static uint32_t
find_limiting (FmxAsmpSender *sender, FmxTime now)
{
  uint32_t least = fmx_asmp_table_least (&sender->table);

  while (least != FMX_ASMP_NOBODY
      && is_out_of_date (sender, &sender->table.entries[least], now)) {
    silence_rate (sender, least);
    least = fmx_asmp_table_least (&sender->table);
  }
  return least;
}

/* [ASMP (1)] */
static void
decide (FmxAsmpSender *sender, const char *reason, FmxTime now)
{
  uint32_t least = find_limiting (sender, now);
  const FmxAsmpEntry *limiting = NULL;
  double before_bps = sender->target_bps;
  uint32_t before_ssrc = sender->limiting_ssrc;

  sender->limiting_ssrc = 0;
  if (least != FMX_ASMP_NOBODY) {
    limiting = &sender->table.entries[least];
    sender->limiting_ssrc = limiting->ssrc;
    sender->target_bps = limiting->rate_bps;
  }
  sender->target_bps = clamp_bps (sender, sender->target_bps);
  if (sender->target_bps > before_bps
      && !fmx_asmp_sender_has_risen (sender, now)) {
    sender->low_bps = before_bps;
    sender->risen = now;
  }
  if (sender->target_bps != before_bps || sender->limiting_ssrc != before_ssrc)
    tell (sender, limiting, reason, before_bps, now);
}

void
fmx_asmp_sender_set_params (FmxAsmpSender *sender,
    const FmxAsmpSenderParams *params, FmxTime now)
{
  assert (params->min_bps > 0 && params->min_bps <= params->max_bps);
  sender->params = *params;
  decide (sender, FMX_ASMP_REASON_SETTINGS, now);
}

void
fmx_asmp_sender_on_sent (FmxAsmpSender *sender, uint32_t wire_bytes,
    FmxTime now)
{
  fmx_rate_meter_add (&sender->sent, wire_bytes, now);
  sender->n_sent++;
  sender->packet_bytes += PACKET_WEIGHT * (wire_bytes - sender->packet_bytes);
}

static void
set_plain (FmxAsmpSender *sender, FmxAsmpEntry *entry, bool is_plain)
{
  sender->n_plain = sender->n_plain - entry->is_plain + is_plain;
  entry->is_plain = is_plain;
}

static void
forget (FmxAsmpSender *sender, uint32_t at)
{
  sender->n_plain -= sender->table.entries[at].is_plain;
  sender->n_ignored -= sender->table.entries[at].is_ignored;
  fmx_asmp_table_remove (&sender->table, at);
}

/* Where all places are taken: somebody whose place one with @rate_bps may have, who
 * has no rate that counts, or a higher one. */
static uint32_t
victim_of (const FmxAsmpTable *table, uint32_t rate_bps)
{
  uint32_t oldest = fmx_asmp_table_oldest (table);
  uint32_t high = fmx_asmp_table_high (table);

  if (table->n < table->n_max)
    return FMX_ASMP_NOBODY;
  if (table->entries[oldest].heap_at == FMX_ASMP_NOBODY)
    return oldest;
  return table->entries[high].rate_bps > rate_bps ? high : FMX_ASMP_NOBODY;
}

/* The place of @ssrc, who has just been heard, and of a newcomer if there is
 * one.  @victim: who makes room for it */
static uint32_t
place_of (FmxAsmpSender *sender, uint32_t ssrc, uint32_t victim, FmxTime now)
{
  FmxAsmpTable *table = &sender->table;
  uint32_t at = fmx_asmp_table_find (table, ssrc);

  if (at != FMX_ASMP_NOBODY) {
    fmx_asmp_table_touch (table, at, now);
    return at;
  }
  if (table->n == table->n_max) {
    if (victim == FMX_ASMP_NOBODY) {
      sender->stats.n_refused++;
      return FMX_ASMP_NOBODY;
    }
    forget (sender, victim);
  }
  return fmx_asmp_table_add (table, ssrc, now);
}

static double
plain_loss (const FmxAsmpEntry *entry)
{
  double fractions[FMX_ASMP_FRACTIONS];

  for (unsigned k = 0; k < entry->n_fractions; k++)
    fractions[k] = entry->fractions[k] / 256.0;
  return fmx_asmp_loss_smooth (fractions, entry->n_fractions);
}

/* What a plain report is worth: (12)-(14), at the sender */
static void
rate_plain (FmxAsmpSender *sender, uint32_t at)
{
  const FmxAsmpEntry *entry = &sender->table.entries[at];
  FmxDuration rtt = fmx_asmp_entry_rtt (entry);
  double bytes = sender->params.algorithm == FMX_ASMP_FAIR
      ? FMX_TCP_SEGMENT_BYTES : sender->packet_bytes;
  double before = entry->has_rate ? entry->rate_bps : sender->target_bps;
  double loss = plain_loss (entry), instant;
  bool fair_loss = sender->params.algorithm == FMX_ASMP_FAIR && loss > 0.0;

  if (rtt == 0)
    return;
  if (entry->fractions[0] > 0 || fair_loss)
    instant = fmx_asmp_equation_bps (bytes, rtt, loss);
  else
    instant = before + fmx_asmp_step_bps (bytes, rtt);
  instant = PLAIN_GAMMA * instant + (1.0 - PLAIN_GAMMA) * before;
  instant = fmin (instant, sender->target_bps
      * (fair_loss ? PLAIN_GROWTH_AFTER_LOSS : PLAIN_GROWTH));
  sender->table.entries[at].has_rate = true;
  set_plain (sender, &sender->table.entries[at], true);
  fmx_asmp_table_rate (&sender->table, at, (uint32_t) fmax (instant, 1.0),
      true);
}

/* [ASMP (9)]; 0 where it makes no sense */
static uint32_t
rtt_of (const FmxReportBlock *block, uint32_t arrival_mid32)
{
  uint32_t rtt = arrival_mid32 - block->lsr - block->dlsr;
  if (block->lsr == 0 || rtt == 0
      || rtt > RTT_MAX / FMX_SECOND * FMX_ASMP_RTT_HZ)
    return 0;
  return rtt;
}

/* The share that was lost.  A receiver that nothing reaches expects nothing,
 * and so misses nothing: it is all. */
static uint8_t
fraction_of (const FmxAsmpSender *sender, const FmxAsmpEntry *entry,
    const FmxReportBlock *block)
{
  if (entry->n_fractions > 0 && entry->highest_seq == block->ext_highest_seq
      && sender->n_sent - entry->n_sent >= CUT_OFF_PACKETS)
    return UINT8_MAX;
  return block->fraction_lost;
}

static FmxDuration
lifetime_of (const FmxAsmpSender *sender)
{
  FmxDuration lifetime = fmx_asmp_pace_intervals (&sender->pace,
      sender->table.n, LIFETIME_INTERVALS);

  return lifetime > sender->params.lifetime ? lifetime
      : sender->params.lifetime;
}

/* for how long the limiting receiver may be silent until its rate is stale.  Others
 * can make the mean interval as short as they like, but not its own. */
static FmxDuration
rate_lifetime_of (const FmxAsmpSender *sender, const FmxAsmpEntry *limiting)
{
  FmxDuration own = fmx_asmp_entry_intervals (limiting, RATE_INTERVALS);
  FmxDuration mean = fmx_asmp_pace_intervals (&sender->pace,
      sender->table.n, RATE_INTERVALS);
  FmxDuration lifetime = own > mean ? own : mean;

  if (has_rounds (sender, limiting))
    return (FmxDuration) (RATE_INTERVALS * (double) ROUND);
  if (sender->params.algorithm == FMX_ASMP_PAPER || own == 0 || mean == 0
      || lifetime > lifetime_of (sender))
    return lifetime_of (sender);
  return lifetime > RATE_LIFETIME_MIN ? lifetime : RATE_LIFETIME_MIN;
}

static void
take_block (const FmxAsmpSender *sender, FmxAsmpEntry *entry,
    const FmxReportBlock *block, uint32_t rtt)
{
  uint8_t fraction = fraction_of (sender, entry, block);

  if (rtt > 0) {
    entry->rtt = rtt;
    entry->rtt_waits = true;
  }
  memmove (entry->fractions + 1, entry->fractions, FMX_ASMP_FRACTIONS - 1);
  entry->fractions[0] = fraction;
  entry->highest_seq = block->ext_highest_seq;
  entry->n_sent = sender->n_sent;
  if (entry->n_fractions < FMX_ASMP_FRACTIONS)
    entry->n_fractions++;
}

void
fmx_asmp_sender_on_report (FmxAsmpSender *sender, uint32_t ssrc,
    const FmxReportBlock *block, uint32_t arrival_mid32, FmxTime now)
{
  uint32_t at = place_of (sender, ssrc, FMX_ASMP_NOBODY, now);
  uint32_t rtt = rtt_of (block, arrival_mid32);
  FmxAsmpEntry *entry;

  fmx_asmp_pace_on_report (&sender->pace, now);
  if (at == FMX_ASMP_NOBODY) {
    sender->refused = (FmxAsmpRefused) { *block, now, ssrc, rtt };
    return;
  }
  entry = &sender->table.entries[at];
  take_block (sender, entry, block, rtt);
  /* A rate comes with the first report already of who tells any. */
  if (!entry->has_asmp && entry->n_fractions >= 2) {
    rate_plain (sender, at);
    decide (sender, FMX_ASMP_REASON_PLAIN_REPORT, now);
  } else if (entry->has_asmp && entry->has_rate
      && fmx_time_diff (now, entry->rated) > lifetime_of (sender)) {
    silence_rate (sender, at);  /* others speak for it */
    decide (sender, FMX_ASMP_REASON_SPOKEN_FOR, now);
  }
}

void
fmx_asmp_sender_on_no_rate (FmxAsmpSender *sender, uint32_t ssrc)
{
  uint32_t at = fmx_asmp_table_find (&sender->table, ssrc);

  if (sender->params.algorithm == FMX_ASMP_FAIR && at != FMX_ASMP_NOBODY
      && sender->table.entries[at].has_asmp && ssrc != sender->limiting_ssrc)
    silence_rate (sender, at);
}

void
fmx_asmp_sender_on_here (FmxAsmpSender *sender, uint32_t ssrc, FmxTime now)
{
  uint32_t at = place_of (sender, ssrc, FMX_ASMP_NOBODY, now);
  FmxAsmpEntry *entry;

  if (at == FMX_ASMP_NOBODY)
    return;
  entry = &sender->table.entries[at];
  entry->has_asmp = entry->has_rounds = true;
  if (entry->is_plain) {
    set_plain (sender, entry, false);
    silence_rate (sender, at);
    decide (sender, FMX_ASMP_REASON_SPOKEN_FOR, now);
  }
  fmx_asmp_sender_on_no_rate (sender, ssrc);
}

/* A newcomer for whom there is no room gets some if its rate counts, by its report
 * that came just before. */
static uint32_t
place_of_rate (FmxAsmpSender *sender, uint32_t ssrc, const FmxAsmpRate *rate,
    FmxTime now)
{
  const FmxAsmpRefused *refused = &sender->refused;
  bool refused_now = refused->ssrc == ssrc && refused->time == now
      && fmx_asmp_table_find (&sender->table, ssrc) == FMX_ASMP_NOBODY;
  FmxAsmpEntry newcomer = { 0 };
  uint32_t at;

  if (refused_now)
    take_block (sender, &newcomer, &refused->block, refused->rtt);
  at = place_of (sender, ssrc, fmx_asmp_sender_counts (sender, &newcomer, rate,
          now) ? victim_of (&sender->table, rate->rate_bps) : FMX_ASMP_NOBODY,
      now);
  if (refused_now && at != FMX_ASMP_NOBODY)
    take_block (sender, &sender->table.entries[at], &refused->block,
        refused->rtt);
  return at;
}

void
fmx_asmp_sender_on_rate (FmxAsmpSender *sender, uint32_t ssrc,
    const FmxAsmpRate *rate, FmxTime now)
{
  uint32_t at = place_of_rate (sender, ssrc, rate, now);
  uint32_t bps = rate->rate_bps;
  FmxAsmpEntry *entry;
  bool counts;

  sender->stats.n_rates++;
  if (at == FMX_ASMP_NOBODY)
    return;
  entry = &sender->table.entries[at];
  entry->has_asmp = true;
  set_plain (sender, entry, false);
  entry->rated = now;
  counts = fmx_asmp_sender_counts (sender, entry, rate, now);
  if (fmx_asmp_sender_is_cut_off (sender, entry, rate, now))
    bps = bps / 2 > rate->received_bps ? 2 * rate->received_bps : bps;
  sender->stats.n_implausible += rate->measured && !counts;
  sender->n_ignored -= entry->is_ignored;
  entry->is_ignored =
      fmx_asmp_sender_is_out_of_patience (sender, entry, bps, now);
  sender->n_ignored += entry->is_ignored;
  entry->has_rate = counts && !entry->is_ignored;
  fmx_asmp_table_rate (&sender->table, at, bps, entry->has_rate);
  decide (sender, FMX_ASMP_REASON_RATE, now);
}

void
fmx_asmp_sender_on_bye (FmxAsmpSender *sender, uint32_t ssrc, FmxTime now)
{
  uint32_t at = fmx_asmp_table_find (&sender->table, ssrc);

  if (at == FMX_ASMP_NOBODY)
    return;
  forget (sender, at);
  sender->stats.n_left++;
  decide (sender, FMX_ASMP_REASON_BYE, now);
}

FmxTime
fmx_asmp_sender_next_timeout (const FmxAsmpSender *sender)
{
  const FmxAsmpEntry *entries = sender->table.entries;
  uint32_t oldest = fmx_asmp_table_oldest (&sender->table);
  uint32_t least = fmx_asmp_table_least (&sender->table);
  FmxTime next;

  if (oldest == FMX_ASMP_NOBODY)
    return FMX_TIME_NONE;
  next = entries[oldest].heard + (FmxTime) lifetime_of (sender);
  if (least != FMX_ASMP_NOBODY)
    next = fmx_time_min (next, entries[least].heard
        + (FmxTime) rate_lifetime_of (sender, &entries[least]));
  return next;
}

void
fmx_asmp_sender_on_timeout (FmxAsmpSender *sender, FmxTime now)
{
  while (fmx_asmp_sender_next_timeout (sender) <= now) {
    uint32_t oldest = fmx_asmp_table_oldest (&sender->table);
    const FmxAsmpEntry *entry = &sender->table.entries[oldest];

    if (fmx_time_diff (now, entry->heard) >= lifetime_of (sender)) {
      forget (sender, oldest);
      sender->stats.n_timed_out++;
    } else {
      silence_rate (sender, fmx_asmp_table_least (&sender->table));
    }
    decide (sender, FMX_ASMP_REASON_TIME_OUT, now);
  }
}
