/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ALS with many receivers, and with some that come and go: what the paper leaves open.
 * Three layers; shares of 90, 180 and 270 kbit/s, which routers have told.  RTCP's
 * intervals are [RFC3550 6.3]'s: a twentieth of the session's bandwidth for all.
 *
 * usage: als-crowd [SEED]
 *
 * Prints lines of CSV: scene;variant;seed;measure;value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairmix/als/fmx-als-receiver.h"
#include "fairmix/als/fmx-als-sender.h"
#include "fairmix/base/fmx-rng.h"

#define MAX_RECEIVERS 1100u
#define PLACES 8192
#define STEP (100 * FMX_MSECOND)
#define LENGTH_S 600
#define SETTLED_S 200
#define SESSION_BPS 270e3
#define REPORT_BITS 800.0
#define N_LAYERS 3

typedef struct
{
  const char *name;
  unsigned n;                   /* the first has 90, nine have 180 kbit/s */
  bool churn;                   /* one more each second, for up to 10 s */
} Scene;

static const Scene scenes[] = {
  {"ten receivers", 10, false},
  {"1,000 receivers", 1000, false},
  {"ten, and others come and go each second", 10, true},
};

typedef struct
{
  uint32_t ssrc;                /* 0 = nobody */
  double share_bps;
  FmxTime next_report, leaves;
} Member;

static FmxAlsSender sender;
static FmxAgingSlot slots[PLACES];
static FmxAlsSenderReceiver places[PLACES];
static Member members[MAX_RECEIVERS];
static FmxRng rng;

/* half to one and a half of the interval, for as many as there are */
static FmxTime
next_report (unsigned n, FmxTime now)
{
  double interval_s = n * REPORT_BITS / (0.05 * 0.75 * SESSION_BPS);

  if (interval_s < 5.0)
    interval_s = 5.0;
  return now + (FmxTime) (interval_s * (0.5 + fmx_rng_next_unit (&rng))
      * FMX_SECOND);
}

static double
share_of (unsigned i)
{
  return i == 0 ? 90e3 : i < 10 ? 180e3 : 270e3;
}

static void
begin (const Scene *scene, FmxDuration memory, uint64_t seed)
{
  FmxAlsSenderParams params;

  fmx_rng_init (&rng, seed);
  fmx_als_sender_params_default (&params);
  params.memory = memory;
  params.increase_bps = 0;
  fmx_als_sender_init (&sender, &params, slots, places, PLACES, seed, 0);
  memset (members, 0, sizeof members);
  for (unsigned i = 0; i < scene->n; i++)
    members[i] = (Member) {
    i + 1, i == 9 ? 270e3 : share_of (i), next_report (scene->n, 0), UINT64_MAX
    };
}

/* One comes, with a share of any; half of those who go say so. */
static void
churn (const Scene *scene, FmxTime now)
{
  static const double shares[] = { 120e3, 180e3, 270e3 };
  static uint32_t next_ssrc = 100000;

  for (unsigned i = scene->n; i < MAX_RECEIVERS; i++) {
    Member *m = &members[i];

    if (m->ssrc != 0)
      continue;
    *m = (Member) {
      next_ssrc++, shares[fmx_rng_next (&rng) % 3], next_report (1, now),
      now + fmx_rng_next (&rng) % (10 * (FmxTime) FMX_SECOND)
    };
    return;
  }
}

static void
report (const Scene *scene, Member *m, FmxTime now)
{
  FmxAlsReport r = {.ssrc = m->ssrc,.share_bps = (uint32_t) m->share_bps,
    .utilisation = 1.0,.answered = true
  };

  if (now >= m->leaves) {
    if (m->ssrc % 2)
      fmx_als_sender_on_bye (&sender, m->ssrc);
    m->ssrc = 0;
  } else if (now >= m->next_report) {
    fmx_als_sender_on_report (&sender, &r, now);
    m->next_report = next_report (scene->n, now);
  }
}

/* How many layers somebody holds whose share this is */
static unsigned
layers_held (double share_bps)
{
  double sum = 0.0;
  unsigned n = 0;

  while (n < N_LAYERS
      && (sum += fmx_als_sender_get_size_bps (&sender, n)) <= share_bps)
    n++;
  return n > 0 ? n : 1;
}

static void
play (const Scene *scene, const char *variant, FmxDuration memory,
    uint64_t seed)
{
  unsigned n_changes = 0, n_off = 0, n = 0, before = 0;
  FmxTime second = 0;

  begin (scene, memory, seed);
  for (FmxTime now = 0; now < LENGTH_S * (FmxTime) FMX_SECOND; now += STEP) {
    unsigned held = layers_held (180e3);

    if (scene->churn && now >= second) {
      churn (scene, now);
      second += FMX_SECOND;
    }
    for (unsigned i = 0; i < MAX_RECEIVERS; i++)
      if (members[i].ssrc != 0)
        report (scene, &members[i], now);
    if (now >= fmx_als_sender_next_timeout (&sender))
      fmx_als_sender_on_timeout (&sender, now);
    if (now < SETTLED_S * (FmxTime) FMX_SECOND) {
      before = held;
      continue;
    }
    n++;
    n_off += fmx_als_sender_get_rate_bps (&sender, 0) != 90000;
    n_changes += held != before;
    before = held;
  }
  printf ("%s;%s;%llu;base above the slowest share (%% of time);%.4g\n",
      scene->name, variant, (unsigned long long) seed, 100.0 * n_off / n);
  printf ("%s;%s;%llu;changes of a listener's layers per minute;%.4g\n",
      scene->name, variant, (unsigned long long) seed,
      n_changes * 60.0 / (LENGTH_S - SETTLED_S));
}

int
main (int argc, char **argv)
{
  uint64_t first = argc > 1 ? strtoull (argv[1], NULL, 10) : 1;
  uint64_t last = argc > 1 ? first : 5;

  for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
    for (uint64_t seed = first; seed <= last; seed++) {
      play (&scenes[i], "paper", 5 * FMX_SECOND, seed);
      play (&scenes[i], "memory 15 s", 15 * FMX_SECOND, seed);
    }
  return 0;
}
