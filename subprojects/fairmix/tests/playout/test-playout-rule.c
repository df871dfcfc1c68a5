/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>
#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/playout/fmx-playout-rule.h"
#include "fmx-test-playout.h"

#define HALF_LIFE (15 * FMX_SECOND)

static FmxPlayoutRule
rule_new (bool remembers)
{
  static const FmxPlayoutRuleParams params = {
    .reserve = 20 * MS,
    .growth_step = 2 * MS,
    .half_life = HALF_LIFE,
  };
  static const FmxQueueMonitorParams monitor = {
    .threshold = 1600 * MS,
    .length = 2,
    .decay = 2.0,
    .after_drop = FMX_QUEUE_MONITOR_SHIFT,
  };
  FmxPlayoutRule rule;

  fmx_playout_rule_init (&rule, &params, &monitor, remembers);
  return rule;
}

static FmxDelayMemory
memory_new (void)
{
  FmxDelayMemoryParams params;
  FmxDelayMemory memory;

  fmx_delay_memory_params_default (&params);
  fmx_delay_memory_init (&memory, &params);
  return memory;
}

static FmxPlayoutRulePacket
packet_of (unsigned n, FmxDuration transit)
{
  FmxPlayoutRulePacket packet = {
    .media = n * PACKET,
    .duration = PACKET,
    .transit = transit,
    .highest = FMX_SECOND,
    .cut_cost = 1.0,
  };

  return packet;
}

/* Written anew: a list of what was played, from when to when, and of what the
 * largest of both sides of each hole is */
static double
heard_by_hand (const double *start, const double *end, const double *missing,
    unsigned n)
{
  double sum = 0.0;

  for (unsigned i = 1; i < n; i++)
    sum += fmax (missing[i], (start[i] - end[i - 1]) / 20.0);
  return sum;
}

/* Packets 0 and 1 in time; 2 late by 5 ms, and the delay grows by 6; 3 is cut,
 * 4 in the place of it; 5 lost; 6 late by 15 ms, in its slot; 7 missed; 8 in
 * time. */
static void
test_each_hole_is_counted_where_it_is_heard (void **state)
{
  static const double start[] = { 10, 30, 56, 76, 131, 156 };
  static const double end[] = { 30, 50, 76, 96, 136, 176 };
  static const double missing[] = { 0, 0, 0, 1, 1.75, 1 };
  FmxDelayMemory memory = memory_new ();
  FmxPlayoutRule rule = rule_new (true);
  FmxPlayoutRulePacket p;

  (void) state;
  for (unsigned i = 0; i < FMX_DELAY_MEMORY_BINS; i++)
    memory.impairment[i] = 0.0f;
  rule.params.half_life = 1000000 * FMX_SECOND;
  p = packet_of (0, 0);
  fmx_playout_rule_account (&rule, &memory, &p, FMX_PLAYOUT_RULE_PLAY, 10 * MS);
  p = packet_of (1, 10 * MS);
  fmx_playout_rule_account (&rule, &memory, &p, FMX_PLAYOUT_RULE_PLAY, 10 * MS);
  p = packet_of (2, 15 * MS);
  fmx_playout_rule_account (&rule, &memory, &p, FMX_PLAYOUT_RULE_PLAY, 16 * MS);
  p = packet_of (3, 0);
  fmx_playout_rule_account (&rule, &memory, &p, FMX_PLAYOUT_RULE_CUT, 16 * MS);
  p = packet_of (4, -10 * MS);
  fmx_playout_rule_account (&rule, &memory, &p, FMX_PLAYOUT_RULE_PLAY, -4 * MS);
  p = packet_of (6, 11 * MS);
  p.n_lost = 1;
  fmx_playout_rule_account (&rule, &memory, &p, FMX_PLAYOUT_RULE_PLAY, -4 * MS);
  p = packet_of (7, 80 * MS);
  fmx_playout_rule_account (&rule, &memory, &p, FMX_PLAYOUT_RULE_MISS, -4 * MS);
  p = packet_of (8, -20 * MS);
  fmx_playout_rule_account (&rule, &memory, &p, FMX_PLAYOUT_RULE_PLAY, -4 * MS);
  assert_true (fabs (rule.cost / (0.02 * FMX_DELAY_MEMORY_PACKET_COST)
          - heard_by_hand (start, end, missing, 6)) < 0.001);
}

static void
test_the_account_forgets (void **state)
{
  FmxDelayMemory memory = memory_new ();
  FmxPlayoutRule rule = rule_new (true);
  double before;
  unsigned n = 0;

  (void) state;
  memory.impairment[0] = 0.0f;
  for (; n < 100; n++) {
    FmxPlayoutRulePacket p = packet_of (n, 0);

    fmx_playout_rule_account (&rule, &memory, &p, n % 2 == 0 ?
        FMX_PLAYOUT_RULE_PLAY : FMX_PLAYOUT_RULE_MISS, 0);
  }
  before = rule.cost;
  assert_true (before > 0.0);
  for (; n < 100 + HALF_LIFE / PACKET; n++) {
    FmxPlayoutRulePacket p = packet_of (n, 0);

    if (n == 100)
      rule.any = false;
    fmx_playout_rule_account (&rule, &memory, &p, FMX_PLAYOUT_RULE_PLAY, 0);
  }
  assert_true (fabs (rule.cost / before - 0.5) < 0.06);
}

/* --- which rule playout goes by --- */

typedef struct
{
  Fixture f;
  FmxRng rng;
  double queue_ms, target_ms;
  uint64_t n;
} Path;

static void
path_init (Path *path, FmxDuration memory)
{
  FmxPlayoutParams params;

  memset (path, 0, sizeof *path);
  fixture_init (&path->f);
  fmx_playout_params_default (&params);
  params.memory = memory;
  fmx_playout_init (&path->f.playout, &params);
  fmx_rng_init (&path->rng, 5);
}

/* Somebody's download fills a queue now and then: seconds with, seconds
 * without */
static double
swing (Path *path, unsigned seconds)
{
  double delay_ms = 0.0;

  for (unsigned i = 0; i < 50 * seconds; i++, path->n++) {
    if (path->n % 1000 == 0)
      path->target_ms = path->target_ms > 0.0 ? 0.0 :
          100.0 + 150.0 * fmx_rng_next_unit (&path->rng);
    path->queue_ms += (path->target_ms - path->queue_ms) * 20.0 / 300.0;
    arrive (&path->f, path->n, (FmxDuration) (path->queue_ms * 1e6));
    delay_ms += (double) fmx_playout_get_delay (&path->f.playout) / 1e6;
  }
  return delay_ms / (50.0 * seconds);
}

static void
test_a_queue_that_swings_is_followed (void **state)
{
  double remembering, following;
  Path path, never;

  (void) state;
  path_init (&path, 120 * FMX_SECOND);
  path_init (&never, 0);
  swing (&path, 120);
  swing (&never, 120);
  remembering = swing (&path, 120);
  following = swing (&never, 120);
  assert_true (playout_stats (&path.f.playout).n_rule_changes > 0);
  assert_true (remembering < 1.5 * following);
}

static void
test_stalls_are_remembered_again_after_that (void **state)
{
  Path path;
  unsigned n_missed = 0;

  (void) state;
  path_init (&path, 120 * FMX_SECOND);
  swing (&path, 120);
  for (int i = 0; i < 60; i++) {
    for (int k = 0; k < 100; k++)
      arrive (&path.f, path.n++, (FmxDuration) (k % 5) * MS);
    for (FmxDuration need = 80 * MS; need > 0; need -= PACKET) {
      bool played = arrive (&path.f, path.n++, need).adjusted == 0;

      n_missed += i >= 50 && !played;
    }
  }
  assert_int_equal (n_missed, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_each_hole_is_counted_where_it_is_heard),
    cmocka_unit_test (test_the_account_forgets),
    cmocka_unit_test (test_a_queue_that_swings_is_followed),
    cmocka_unit_test (test_stalls_are_remembered_again_after_that),
  };

  return cmocka_run_group_tests_name ("playout/playout-rule", tests, NULL,
      NULL);
}
