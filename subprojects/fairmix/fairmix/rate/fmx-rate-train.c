/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-rate-train.h"

#include <math.h>
#include <string.h>

#define LASTS_S FMX_RATE_TRAIN_LASTS_S
#define SURER_BITS 3000.0       /* where the path may have widened: 12 ms at 250 kbit/s; party.sh used
                                 * 62 to 81 % of 260 kbit/s, with them 74 to 83 */
#define SURER_TIME (10 * FMX_SECOND)
#define PACKETS_MIN 3u
#define APART (600 * FMX_MSECOND)       /* 2 to 3 % of what is sent; 1 s, later it is worth less */
#define FEW 10u                 /* packets of a short one, ... */
#define FEW_BPS 3.5e6           /* ... which last 6 ms here, and beyond too few steps of the clock; no
                                 * trains there: 96 tuned draws, steps 97: 89, alone 94: 92; long
                                 * ones everywhere: own flows 93: 89 */
#define MOST_BPS 10e6           /* as many as there may be last 12 ms */
#define WIDER 1.3               /* by the arrivals of 12 ms: 12 steps of the clock, or 9 */
#define SOON 2u                 /* so many say so after ... */
#define SOON_BEFORE 3u          /* ... so many others */
#define A_LITTLE_WIDER 1.15     /* by the mean of more: of two that said 1.4 times as much one said 1.28,
                                 * and 1.02 to 1.43 Mbit/s took 15 s in steps of 2 % */
#define SURE 4u                 /* after as many others */
#define LEAST_S 0.0025          /* three steps of the clock: a token bucket has let it pass */
#define BURST_LASTS (20 * FMX_SECOND)
#define LOST (5 * FMX_SECOND)
#define LOOK_APART_S 1.0        /* until there are enough ... */
#define LOOK_AGAIN_S 4.0        /* ... and then */
#define CHECK_APART (4 * FMX_SECOND)    /* as those ... */
#define FIRST_APART (2 * FMX_SECOND)    /* ... or sooner, as nothing is known; 4: inside 84: 83, own
                                         * flows 100: 92; 1: token bucket 77: 71 */
#define LOOK_DOUBLINGS 4u       /* ten at once may be more than a short queue takes */
#define LOOK_PART 0.1           /* of what is sent, at most */
#define LOOKS_LEAST 4u
#define LOOKS_LEAST_S 0.006     /* six steps of the clock */
#define LOOKS_LAST (30 * FMX_SECOND)
#define SOONER 1.5              /* a small bucket has let it pass: where others fill it the
                                 * first come as late as the rest; figures 4 to 6 were heard with
                                 * PESQ 3.12 and 3.24 without, with it 3.28 and 3.30 */
#define LOOK_GROWTH 4.0         /* of the next, where one passed in less than half of LASTS_S */
#define LOOK_MOST_BPS 10e6
#define TRY_LEAST_BITS 4000.0   /* 50 ms at 80 kbit/s: a packet of media between them is not all;
                                 * without, and not counted, climbs alone 96: 88, noise 81: 73 */
#define STRETCHED 1.05          /* of the time it took to leave, ... */
#define STEP_S 0.001            /* ... and a step of the clock: it had no room */
#define STOPPED_APART_S 0.5     /* after one that had none, then twice as long each time */
#define STOPPED_DOUBLINGS 5u

void
fmx_rate_train_init (FmxRateTrain *train, FmxTime now)
{
  memset (train, 0, sizeof *train);
  train->begun = now;
  train->due = train->told = train->burst = FMX_TIME_NONE;
  train->widened = 1.0;
}

/* Returns: whether the last train says that there is more room: no proof yet */
static bool
seems_wider (const FmxRateTrain *train)
{
  return train->n_known >= 2 && train->bps[0] > WIDER * train->bps[1];
}

/* Of more room there may be more still, and in a short time the clock has too few steps. */
static bool
may_have_widened (const FmxRateTrain *train, FmxTime now)
{
  return seems_wider (train) || (train->told != FMX_TIME_NONE
      && fmx_time_diff (now, train->told) < SURER_TIME);
}

static void
begin (FmxRateTrain *train, double bps, unsigned most, FmxTime now)
{
  double bits = fmax (LASTS_S * bps, may_have_widened (train, now)
      ? SURER_BITS : 0.0);
  double bytes = bits / 8.0;
  double each = ceil (bytes / (FEW - 1));

  each = fmin (fmax (each, FMX_RATE_TRAIN_LEAST), FMX_RATE_TRAIN_MOST);
  train->packet_bytes = (uint32_t) each;
  train->left =
      (unsigned) fmin (fmax (1.0 + round (bytes / each), PACKETS_MIN), most);
  train->begun = train->due = now;
  train->under_way = true;
  train->looks = false;
  train->n = train->n_came = 0;
  train->spacing = 0;
  train->ready = train->left;
}

/* What a bucket lets pass is more of a short train than of a long one: those before are
 * not compared with those of the other length. */
static void
begin_to_ask (FmxRateTrain *train, double bps, FmxTime now)
{
  bool is_long = bps > FEW_BPS;

  if (is_long != train->is_long)
    train->n_known = 0;
  train->is_long = is_long;
  begin (train, bps, is_long ? FMX_RATE_TRAIN_PACKETS : FEW, now);
}

/* Where one seems to say that there is more room the next follows at once. */
void
fmx_rate_train_ask (FmxRateTrain *train, double bps, FmxDuration rtt,
    FmxTime now)
{
  bool again = seems_wider (train);
  FmxDuration apart = again ? 0 : rtt > APART ? rtt : APART;
  FmxDuration since = fmx_time_diff (now, train->begun);

  if (train->under_way && since < LOST)
    return;
  train->under_way = false;
  if (bps > MOST_BPS)
    train->n_known = 0;
  else if (bps > 0.0 && since >= apart)
    begin_to_ask (train, bps, now);
}

/* A train that is made for a tenth of what the path carries would be over within one step
 * of the clock: the next is made for more. */
void
fmx_rate_train_look (FmxRateTrain *train, double guess_bps, double rate_bps,
    FmxDuration rtt, FmxTime now)
{
  FmxDuration since = fmx_time_diff (now, train->begun), apart;
  double bits, apart_s;

  if (train->under_way && since < LOST)
    return;
  train->under_way = false;
  if (fmx_time_diff (now, train->looked) > LOOKS_LAST)
    train->n_looks = 0;
  if (train->n_looks == 0)
    train->guess_bps = fmax (train->guess_bps, guess_bps);
  bits = 8.0 * FMX_RATE_TRAIN_LEAST * PACKETS_MIN;
  bits = fmin (fmax (LASTS_S * train->guess_bps, bits),
      8.0 * FMX_RATE_TRAIN_MOST * FEW);
  apart_s = ldexp (train->n_looks < FMX_RATE_TRAIN_LOOKS ? LOOK_APART_S
      : LOOK_AGAIN_S, (int) train->n_vain);
  apart = fmx_time_from_s (fmax (apart_s, bits / (LOOK_PART * rate_bps)));
  if (since < apart || since < rtt)
    return;
  begin (train, train->guess_bps, FEW, now);
  train->looks = true;
  train->look_begun = now;
}

/* Trains that tell whether the path widens begin anew after it: what they compare leaves
 * at once. */
void
fmx_rate_train_try (FmxRateTrain *train, double bps, FmxDuration rtt,
    FmxTime now)
{
  FmxDuration since = fmx_time_diff (now, train->begun), apart = rtt;
  double bits = fmax (LASTS_S * bps, TRY_LEAST_BITS);

  if (train->under_way && since < LOST)
    return;
  train->under_way = false;
  if (train->n_stopped > 0)
    apart = fmx_time_from_s (fmax (fmx_time_to_s (rtt),
            ldexp (STOPPED_APART_S, (int) train->n_stopped - 1)));
  if (since < apart)
    return;
  begin (train, bits / LASTS_S, FEW, now);
  train->spacing = fmx_time_from_s (8.0 * train->packet_bytes / bps);
  train->ready = 0;
  train->media_bytes = 0;
  train->n_known = 0;
}

void
fmx_rate_train_on_media (FmxRateTrain *train, uint32_t wire_bytes)
{
  if (train->spacing > 0 && train->n > 0 && train->left > 0)
    train->media_bytes += wire_bytes;
}

double
fmx_rate_train_take_passed (FmxRateTrain *train)
{
  double bps = train->passed_bps;

  train->passed_bps = 0.0;
  return bps;
}

bool
fmx_rate_train_may_check (const FmxRateTrain *train, FmxTime now)
{
  FmxDuration apart = train->n_looks < LOOKS_LEAST ? FIRST_APART : CHECK_APART;

  return fmx_time_diff (now, train->look_begun) > apart << train->n_vain;
}

/* A path that has room hands on each packet as it came; one that has not makes the later
 * ones wait, or loses them. */
static void
end_try (FmxRateTrain *train, double took_s, bool whole)
{
  double sent_s =
      fmx_time_to_s (fmx_time_diff (train->last_sent, train->sent[0]));
  double bits = 8.0 * ((double) train->media_bytes
      + (double) train->packet_bytes * (train->n - 1));

  if (whole && took_s <= STRETCHED * sent_s + STEP_S) {
    train->passed_bps = bits / fmax (fmax (took_s, sent_s), STEP_S);
    train->n_stopped = 0;
  } else if (train->n_stopped <= STOPPED_DOUBLINGS) {
    train->n_stopped++;
  }
}

static void
keep (double values[FMX_RATE_TRAIN_LOOKS], double value)
{
  memmove (values + 1, values, (FMX_RATE_TRAIN_LOOKS - 1) * sizeof values[0]);
  values[0] = value;
}

static void
end_look (FmxRateTrain *train, double took_s)
{
  double bits = 8.0 * train->packet_bytes * (train->n_came - 1);

  keep (train->look_s, took_s);
  keep (train->look_bits, bits);
  keep (train->tail_s, fmx_time_to_s (fmx_time_diff (train->last_came,
              train->head_came)));
  keep (train->tail_bits, 8.0 * train->packet_bytes * (train->n_came
          - train->n_head));
  if (train->n_looks < FMX_RATE_TRAIN_LOOKS)
    train->n_looks++;
  train->looked = train->last_sent;
  train->n_vain = 0;
  train->guess_bps = fmin (took_s >= LASTS_S / 2.0 ? bits / took_s
      : LOOK_GROWTH * train->guess_bps, LOOK_MOST_BPS);
}

void
fmx_rate_train_forget_path (FmxRateTrain *train)
{
  train->n_looks = 0;
  train->guess_bps = 0.0;
}

/* Some packets, and of them the last */
typedef struct
{
  double bits, took_s, tail_bits, tail_s;
} Passed;

/* What a small bucket has let pass says nothing of the path. */
static Passed
without_head (Passed all)
{
  double head_bits = all.bits - all.tail_bits;
  double head_s = all.took_s - all.tail_s;

  if (all.tail_s >= LOOKS_LEAST_S
      && head_bits * all.tail_s > SOONER * all.tail_bits * head_s) {
    all.bits = all.tail_bits;
    all.took_s = all.tail_s;
  }
  return all;
}

double
fmx_rate_train_path_bps (const FmxRateTrain *train, FmxTime now)
{
  Passed all = { 0 };

  for (unsigned i = 0; i < train->n_looks; i++) {
    Passed one = without_head ((Passed) {
          train->look_bits[i], train->look_s[i],
          train->tail_bits[i], train->tail_s[i]
        });

    all.bits += one.bits;
    all.took_s += one.took_s;
    all.tail_bits += one.tail_bits;
    all.tail_s += one.tail_s;
  }
  if (train->n_looks < LOOKS_LEAST || all.took_s < LOOKS_LEAST_S
      || fmx_time_diff (now, train->looked) > LOOKS_LAST)
    return 0.0;
  all = without_head (all);
  return all.bits / all.took_s;
}

FmxTime
fmx_rate_train_next (const FmxRateTrain *train)
{
  return train->due;
}

void
fmx_rate_train_announce (FmxRateTrain *train, FmxTime now)
{
  while (train->due <= now && train->ready < train->left) {
    train->ready++;
    train->due += (FmxTime) train->spacing;
  }
  if (train->ready >= train->left)
    train->due = FMX_TIME_NONE;
}

bool
fmx_rate_train_is_due (const FmxRateTrain *train)
{
  return train->ready > 0;
}

uint32_t
fmx_rate_train_take (FmxRateTrain *train, FmxTime now)
{
  if (train->ready == 0)
    return 0;
  train->ready--;
  train->sent[train->n++] = train->last_sent = now;
  if (--train->left == 0)
    train->due = FMX_TIME_NONE;
  return train->packet_bytes;
}

bool
fmx_rate_train_has (const FmxRateTrain *train, FmxTime sent)
{
  for (unsigned i = 0; i < train->n; i++)
    if (train->sent[i] == sent)
      return true;
  return false;
}

void
fmx_rate_train_came (FmxRateTrain *train, FmxTime time)
{
  if (train->n_came == 0 || time < train->first_came)
    train->first_came = time;
  if (train->n_came++ == 0 || time > train->last_came)
    train->last_came = time;
  if (train->n_came <= ceil (FMX_RATE_TRAIN_BUCKET_BYTES / train->packet_bytes)) {
    train->head_came = train->last_came;
    train->n_head = train->n_came;
  }
}

/* Each of the latest says more than any of those before.  What is told once is not told
 * again: the path is known to be as it is now, and that is the mean, as the least of two is
 * soon exceeded by a seventh. */
static bool
tell_wider (FmxRateTrain *train, unsigned latest, unsigned before, double wider)
{
  double least_bps = HUGE_VAL, mean_bps = 0.0, before_bps = 0.0, bps;

  if (train->n_known < latest + before)
    return false;
  for (unsigned i = 0; i < latest; i++) {
    least_bps = fmin (least_bps, train->bps[i]);
    mean_bps += train->bps[i] / latest;
  }
  for (unsigned i = latest; i < latest + before; i++)
    before_bps = fmax (before_bps, train->bps[i]);
  bps = latest > SOON ? mean_bps : least_bps;
  if (least_bps <= before_bps || bps <= wider * before_bps)
    return false;
  train->widened = bps / before_bps;
  train->told = train->last_sent;
  for (unsigned i = latest; i < FMX_RATE_TRAIN_KEPT; i++)
    train->bps[i] = mean_bps;
  return true;
}

static void
compare (FmxRateTrain *train)
{
  if (!tell_wider (train, SOON, SOON_BEFORE, WIDER))
    (void) tell_wider (train, SURE, SURE, A_LITTLE_WIDER);
}

/* One that lost a packet says nothing.  Where a bucket let one pass, the others say no more:
 * it may have let a part of them pass. */
void
fmx_rate_train_end (FmxRateTrain *train, FmxTime acked)
{
  double took_s = fmx_time_to_s (fmx_time_diff (train->last_came,
          train->first_came));
  bool whole = train->n_came >= train->n;

  if (!train->under_way || train->left > 0 || acked < train->last_sent
      || (acked == train->last_sent && !whole))
    return;
  train->under_way = false;
  if (train->spacing > 0) {
    end_try (train, took_s, whole);
    return;
  }
  if (train->looks) {
    if (whole)
      end_look (train, took_s);
    else if (train->n_vain < LOOK_DOUBLINGS)
      train->n_vain++;
    return;
  }
  if (whole && took_s < LEAST_S) {
    train->n_known = 0;
    train->burst = train->last_sent;
  }
  if (!whole || took_s < LEAST_S)
    return;
  memmove (train->bps + 1, train->bps, sizeof train->bps
      - sizeof train->bps[0]);
  train->bps[0] = 8.0 * train->packet_bytes * (train->n_came - 1) / took_s;
  if (train->n_known < FMX_RATE_TRAIN_KEPT)
    train->n_known++;
  compare (train);
}

double
fmx_rate_train_bps (const FmxRateTrain *train)
{
  double sum = 0.0;

  if (train->n_known < FMX_RATE_TRAIN_KNOWN)
    return 0.0;
  for (unsigned i = 0; i < FMX_RATE_TRAIN_KNOWN; i++)
    sum += train->bps[i] / FMX_RATE_TRAIN_KNOWN;
  return sum;
}

bool
fmx_rate_train_passes_bursts (const FmxRateTrain *train, FmxTime now)
{
  return train->burst != FMX_TIME_NONE
      && fmx_time_diff (now, train->burst) < BURST_LASTS;
}

double
fmx_rate_train_take_widened (FmxRateTrain *train)
{
  double widened = train->widened;

  train->widened = 1.0;
  return widened;
}
