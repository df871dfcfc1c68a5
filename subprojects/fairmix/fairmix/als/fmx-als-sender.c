/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/als/fmx-als-sender.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Intervals without any report until the rates fall: RTCP's own time-out is five
 * reporting intervals, three of them are silence that has a cause. */
#define SILENT_INTERVALS 3
/* Of each report in the mean time between two of a receiver; and how much longer one
 * of them may be: intervals vary by half, and one report may be lost. */
#define GAP_GAIN (1.0 / 32.0)
#define MEMORY_GAPS 2.0
/* Of the base: a report that calls for less does not wait for the adaptation point, nor
 * one that lets who limits have more.  Less of a change is what one lost packet of twenty
 * makes. */
#define PROMPT 0.95
/* From its first answer on a sender may double its rate in so much time, where it adapts
 * often enough for that: others need a moment to make room for who begins. */
#define DOUBLES (200 * FMX_MSECOND)
#define OFTEN FMX_SECOND

void
fmx_als_sender_params_default (FmxAlsSenderParams *params)
{
  *params = (FmxAlsSenderParams) {
    .wish_bps = 1000000,
    .initial_bps = 64000,
    .min_bps = 8000,
    .increase_bps = 5000,       /* ALS 3.3 */
    .interval = 5 * FMX_SECOND, /* ALS 3.3 */
    .memory = 5 * FMX_SECOND,   /* ALS 3.3 */
    .n_layers = 3,              /* ALS 3.4 */
  };
}

static void
begin_interval (FmxAlsSender *sender, FmxTime now)
{
  sender->begun = now;
  sender->next_adaptation = now + (FmxTime) sender->params.interval;
  sender->n_reports = sender->n_extremes = 0;
}

void
fmx_als_sender_init (FmxAlsSender *sender, const FmxAlsSenderParams *params,
    FmxAgingSlot *slots, FmxAlsSenderReceiver *receivers,
    uint32_t n_receivers, uint64_t seed, FmxTime now)
{
  assert (params->n_layers >= 1 && params->n_layers <= FMX_ALS_MAX_LAYERS);
  assert (params->interval > 0 && params->min_bps <= params->wish_bps);

  memset (sender, 0, sizeof *sender);
  sender->params = *params;
  fmx_aging_table_init (&sender->table, slots, n_receivers, seed);
  sender->receivers = receivers;
  sender->n_places = n_receivers;
  sender->rates_bps[0] = sender->sizes_bps[0] = params->initial_bps;
  sender->n_sent = 1;
  sender->answered = sender->reported = FMX_TIME_NONE;
  begin_interval (sender, now);
}

static double
clamp (const FmxAlsSender *sender, double bps)
{
  if (!(bps > sender->params.min_bps))
    return sender->params.min_bps;
  return bps < sender->params.wish_bps ? bps : sender->params.wish_bps;
}

static void
tell (const FmxAlsSender *sender, const char *reason, uint32_t before_bps,
    FmxTime now)
{
  uint32_t total_bps = fmx_als_sender_get_total_bps (sender);
  FmxEvent event = {
    .name = "als-rates",
    .reason = reason,
    .time = now,
    .n_fields = 6,
    .fields = {
          {"target-bps", total_bps},
          {"base-bps", sender->rates_bps[0]},
          {"before-bps", before_bps},
          {"limiting-ssrc", sender->limiting_ssrc},
          {"reports", sender->n_reports},
          {"layers", sender->params.n_layers},
        },
  };

  if (total_bps != before_bps)
    fmx_event_emit (sender->params.sink, &event);
}

void
fmx_als_sender_set_limits (FmxAlsSender *sender, uint32_t wish_bps,
    uint32_t min_bps, FmxTime now)
{
  uint32_t before_bps = fmx_als_sender_get_total_bps (sender);
  double left;

  assert (min_bps <= wish_bps);

  sender->params.wish_bps = wish_bps;
  sender->params.min_bps = min_bps;
  sender->rates_bps[0] = (uint32_t) clamp (sender, sender->rates_bps[0]);
  left = wish_bps - sender->rates_bps[0];
  for (unsigned i = 1; i < sender->params.n_layers; i++) {
    if (sender->rates_bps[i] > left)
      sender->rates_bps[i] = (uint32_t) left;
    left -= sender->rates_bps[i];
  }
  tell (sender, FMX_ALS_REASON_SETTINGS, before_bps, now);
}

void
fmx_als_sender_set_n_layers (FmxAlsSender *sender, unsigned n_layers,
    FmxTime now)
{
  uint32_t before_bps = fmx_als_sender_get_total_bps (sender);

  assert (n_layers >= 1 && n_layers <= FMX_ALS_MAX_LAYERS);

  for (unsigned i = n_layers; i < sender->params.n_layers; i++)
    sender->rates_bps[i] = sender->sizes_bps[i] = 0;
  sender->params.n_layers = n_layers;
  if (sender->n_sent > n_layers)
    sender->n_sent = n_layers;
  tell (sender, FMX_ALS_REASON_SETTINGS, before_bps, now);
}

/* ALS 3.3 */
static void
adapt_receiver (const FmxAlsSender *sender, FmxAlsSenderReceiver *receiver,
    const FmxAlsReport *report)
{
  double u = report->utilisation;

  receiver->report = *report;
  if (sender->fallback_bps > 0)
    receiver->report.fallback_bps = sender->fallback_bps;
  if (!report->answered) {
    receiver->rate_bps = receiver->report.fallback_bps;
  } else if (report->loss > 0.0) {
    receiver->increase_bps = sender->params.increase_bps;
    receiver->rate_bps = report->share_bps * (1.0 - report->loss);
  } else {
    /* a link that is more than full takes the increase back */
    receiver->increase_bps += receiver->increase_bps * (1.0 - u);
    if (!(receiver->increase_bps > 0.0))
      receiver->increase_bps = 0.0;
    if (receiver->increase_bps > sender->params.wish_bps)
      receiver->increase_bps = sender->params.wish_bps;
    receiver->rate_bps = report->share_bps + receiver->increase_bps;
  }
  receiver->rate_bps = clamp (sender, receiver->rate_bps);
}

/* Who has no answer holds the base alone: it can make that smaller, and has no say
 * in the layers above. */
static void
note_extremes (FmxAlsSender *sender, const FmxAlsSenderReceiver *receiver)
{
  bool answered = receiver->report.answered;
  double rate = receiver->rate_bps;
  double share = clamp (sender, answered ? receiver->report.share_bps
      : receiver->report.fallback_bps);

  if (sender->n_extremes++ == 0) {
    sender->rate_min_bps = sender->share_min_bps = UINT32_MAX;
    sender->rate_max_bps = sender->share_max_bps = 0.0;
  }
  if (rate < sender->rate_min_bps) {
    sender->rate_min_bps = rate;
    sender->limiting_ssrc = receiver->report.ssrc;
  }
  if (share < sender->share_min_bps)
    sender->share_min_bps = share;
  if (answered && rate > sender->rate_max_bps)
    sender->rate_max_bps = rate;
  if (answered && share > sender->share_max_bps)
    sender->share_max_bps = share;
}

/* How long it takes until somebody reports; a silence is none of those times */
static void
note_reported (FmxAlsSender *sender, FmxTime now)
{
  double most_s = SILENT_INTERVALS * fmax (sender->next_s,
      fmx_time_to_s (sender->params.interval));
  double passed_s;

  if (sender->reported != FMX_TIME_NONE) {
    passed_s = fmx_time_to_s (fmx_time_diff (now, sender->reported));
    sender->next_s += (sender->next_s > 0.0 ? GAP_GAIN : 1.0)
        * (fmin (passed_s, most_s) - sender->next_s);
  }
  sender->reported = now;
}

void
fmx_als_sender_on_report (FmxAlsSender *sender, const FmxAlsReport *report,
    FmxTime now)
{
  FmxTime previous;
  uint32_t index = fmx_aging_table_touch (&sender->table, report->ssrc,
      now, &previous, now);
  FmxAlsSenderReceiver *receiver = &sender->receivers[index];
  bool limited_all = report->ssrc == sender->limiting_ssrc;
  double before_bps;

  if (previous != FMX_TIME_NONE)
    sender->gap_s += GAP_GAIN * (fmx_time_to_s (fmx_time_diff (now, previous))
        - sender->gap_s);
  else
    *receiver = (FmxAlsSenderReceiver) {
    .increase_bps = sender->params.increase_bps
    };
  note_reported (sender, now);
  before_bps = receiver->rate_bps;
  adapt_receiver (sender, receiver, report);
  note_extremes (sender, receiver);
  if (sender->params.memory > sender->params.interval
      && (receiver->rate_bps < PROMPT * sender->rates_bps[0]
          || (limited_all && before_bps < PROMPT * receiver->rate_bps)))
    sender->next_adaptation = now;
  if (report->answered && sender->answered == FMX_TIME_NONE)
    sender->answered = now;
  sender->n_reports++;
  sender->stats.n_reports++;
  sender->stats.n_unanswered += !report->answered;
}

void
fmx_als_sender_on_bye (FmxAlsSender *sender, uint32_t ssrc)
{
  fmx_aging_table_remove (&sender->table, ssrc);
}

FmxTime
fmx_als_sender_next_timeout (const FmxAlsSender *sender)
{
  return sender->next_adaptation;
}

static double
most_of (const FmxAlsSender *sender, unsigned layer)
{
  uint32_t most_bps = sender->params.layers[layer].most_bps;

  return most_bps > 0 ? most_bps : UINT32_MAX;
}

/* What each of @n layers above the base gets of @rest, as long as those who can use
 * less than an equal part leave theirs to the others */
static double
part_of_rest (const FmxAlsSender *sender, unsigned n, double rest)
{
  double part = 0.0;

  for (unsigned pass = 0; pass < n; pass++) {
    unsigned n_open = 0;
    double left = rest;

    for (unsigned i = 1; i <= n; i++) {
      if (pass > 0 && most_of (sender, i) <= part)
        left -= most_of (sender, i);
      else
        n_open++;
    }
    if (n_open == 0)
      break;
    part = left / n_open;
  }
  return part;
}

/* The base gets @least, the other n - 1 layers the rest of @most, so that all
 * together are never more than @most. */
static void
share_out (const FmxAlsSender *sender, unsigned n, double least, double most,
    uint32_t *layers)
{
  double base = least < most_of (sender, 0) ? least : most_of (sender, 0);
  double part = part_of_rest (sender, n - 1, most - base);

  layers[0] = (uint32_t) base;
  for (unsigned i = 1; i < sender->params.n_layers; i++)
    layers[i] = i >= n ? 0 : (uint32_t) (part < most_of (sender, i) ? part
        : most_of (sender, i));
}

/* How many layers are worth sending where all together may have @most */
static unsigned
n_worth (const FmxAlsSender *sender, double least, double most)
{
  uint32_t layers[FMX_ALS_MAX_LAYERS];
  unsigned n = sender->params.n_layers;

  for (; n > 1; n--) {
    bool worth = true;

    share_out (sender, n, least, most, layers);
    for (unsigned i = 1; i < n; i++)
      worth = worth && layers[i] > 0
          && layers[i] >= sender->params.layers[i].least_bps;
    if (worth)
      break;
  }
  return n;
}

/* What a sender that begins may send */
static double
begun_bps (const FmxAlsSender *sender, FmxTime now)
{
  if (sender->answered == FMX_TIME_NONE || sender->params.interval > OFTEN
      || sender->params.memory <= sender->params.interval)
    return HUGE_VAL;
  return sender->params.initial_bps
      * exp2 ((double) fmx_time_diff (now, sender->answered) / DOUBLES);
}

static void
make_layers (FmxAlsSender *sender, FmxTime now)
{
  double begun = begun_bps (sender, now);
  /* limits may be others than when it was reported */
  double rate_min_bps = clamp (sender, sender->rate_min_bps);
  double rate_max_bps = fmax (clamp (sender, sender->rate_max_bps),
      rate_min_bps);
  double share_min_bps = clamp (sender, sender->share_min_bps);
  double share_max_bps = fmax (clamp (sender, sender->share_max_bps),
      share_min_bps);
  unsigned n = n_worth (sender, share_min_bps, share_max_bps);
  unsigned n_rates = n_worth (sender, rate_min_bps, rate_max_bps);

  sender->n_sent = n < n_rates ? n : n_rates;
  share_out (sender, sender->n_sent, fmin (rate_min_bps, begun),
      fmin (rate_max_bps, begun), sender->rates_bps);
  share_out (sender, sender->n_sent, share_min_bps, share_max_bps,
      sender->sizes_bps);
}

/* For how long a report counts */
static FmxTime
memory_of (const FmxAlsSender *sender)
{
  double grown_s = fmin (MEMORY_GAPS * sender->gap_s,
      fmx_time_to_s (FMX_ALS_SENDER_MOST_MEMORY));

  if (sender->params.memory <= sender->params.interval)
    return (FmxTime) sender->params.memory;     /* ALS 3.3 */
  return (FmxTime) fmax ((double) sender->params.memory, grown_s * FMX_SECOND);
}

/* What came until @end, of those whose report still counts */
static void
remember (FmxAlsSender *sender, FmxTime end, FmxTime now)
{
  FmxTime memory = memory_of (sender);
  FmxTime begin = now > memory ? now - memory : 0;

  for (uint32_t i = 0; i < sender->n_places && begin < end; i++) {
    uint64_t ssrc;
    FmxTime time = fmx_aging_table_get (&sender->table, i, &ssrc);

    if (time != FMX_TIME_NONE && time >= begin && time <= end)
      note_extremes (sender, &sender->receivers[i]);
  }
}

void
fmx_als_sender_set_fallback (FmxAlsSender *sender, uint32_t bps, FmxTime now)
{
  uint32_t before_bps = fmx_als_sender_get_total_bps (sender);

  sender->fallback_bps = bps;
  if (bps == 0)
    return;
  for (uint32_t i = 0; i < sender->n_places; i++) {
    FmxAlsSenderReceiver *receiver = &sender->receivers[i];
    uint64_t ssrc;

    if (fmx_aging_table_get (&sender->table, i, &ssrc) != FMX_TIME_NONE
        && !receiver->report.answered) {
      receiver->report.fallback_bps = bps;
      receiver->rate_bps = clamp (sender, bps);
    }
  }
  sender->n_extremes = 0;
  remember (sender, now, now);
  if (sender->n_extremes > 0 && sender->n_silent < SILENT_INTERVALS)
    make_layers (sender, now);
  tell (sender, FMX_ALS_REASON_FALLBACK, before_bps, now);
}

/* Whether nobody reports who mostly would have by now.  Intervals may be shorter than
 * those of RTCP. */
static bool
is_silent (const FmxAlsSender *sender, FmxTime now)
{
  return sender->n_silent > SILENT_INTERVALS
      && (sender->reported == FMX_TIME_NONE
      || fmx_time_to_s (fmx_time_diff (now, sender->reported))
      > SILENT_INTERVALS * sender->next_s);
}

bool
fmx_als_sender_on_timeout (FmxAlsSender *sender, FmxTime now)
{
  uint32_t before_bps = fmx_als_sender_get_total_bps (sender);
  bool reported = sender->n_reports > 0;

  if (now < sender->next_adaptation)
    return false;
  if (reported)
    sender->n_silent = 0;
  /* of those who have not spoken in this interval */
  remember (sender, sender->begun, now);
  if (sender->n_extremes > 0 && sender->n_silent < SILENT_INTERVALS)
    make_layers (sender, now);
  if (reported) {
    sender->stats.n_adaptations++;
  } else {
    sender->stats.n_silent++;
    sender->n_silent++;
    if (is_silent (sender, now))
      for (unsigned i = 0; i < sender->params.n_layers; i++)
        sender->rates_bps[i] = i > 0 ? sender->rates_bps[i] / 2
            : (uint32_t) clamp (sender, sender->rates_bps[0] / 2);
  }
  tell (sender, reported ? FMX_ALS_REASON_REPORTS : FMX_ALS_REASON_SILENCE,
      before_bps, now);
  begin_interval (sender, now);
  return reported;
}

uint32_t
fmx_als_sender_get_rate_bps (const FmxAlsSender *sender, unsigned layer)
{
  assert (layer < sender->params.n_layers);

  return sender->rates_bps[layer];
}

unsigned
fmx_als_sender_get_n_sent (const FmxAlsSender *sender)
{
  return sender->n_sent;
}

uint32_t
fmx_als_sender_get_total_bps (const FmxAlsSender *sender)
{
  uint32_t total = 0;

  for (unsigned i = 0; i < sender->params.n_layers; i++)
    total += sender->rates_bps[i];
  return total;
}

uint32_t
fmx_als_sender_get_size_bps (const FmxAlsSender *sender, unsigned layer)
{
  assert (layer < sender->params.n_layers);

  return sender->sizes_bps[layer];
}

void
fmx_als_sender_get_request (const FmxAlsSender *sender, FmxAlsShare *request)
{
  *request = (FmxAlsShare) {
    .share_bps = sender->params.wish_bps,
    .rate_bps = fmx_als_sender_get_total_bps (sender),
  };
}

uint32_t
fmx_als_sender_get_limiting_ssrc (const FmxAlsSender *sender)
{
  return sender->limiting_ssrc;
}

const FmxAlsSenderReceiver *
fmx_als_sender_get_receiver (const FmxAlsSender *sender, uint32_t ssrc)
{
  uint32_t index = fmx_aging_table_find (&sender->table, ssrc);

  return index == FMX_AGING_TABLE_NONE ? NULL : &sender->receivers[index];
}

void
fmx_als_sender_get_stats (const FmxAlsSender *sender, FmxAlsSenderStats *stats)
{
  *stats = sender->stats;
}
