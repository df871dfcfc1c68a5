/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>
#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/playout/fmx-delay-memory.h"
#include "fmx-test-playout.h"

static FmxDelayMemory
memory_without_prior (void)
{
  FmxDelayMemoryParams params;
  FmxDelayMemory memory;

  fmx_delay_memory_params_default (&params);
  params.prior = 0;
  fmx_delay_memory_init (&memory, &params);
  return memory;
}

/* The E-model, written from [G.107 7.4, 7.5]: mouth to ear in ms, loss in % */
static double
rating_lost (double ta_ms, double ppl)
{
  double idd = 0.0;

  if (ta_ms > 100.0) {
    double x = log (ta_ms / 100.0) / log (2.0);

    idd = 25.0 * (pow (1.0 + pow (x, 6.0), 1.0 / 6.0)
        - 3.0 * pow (1.0 + pow (x / 3.0, 6.0), 1.0 / 6.0) + 2.0);
  }
  return idd + 95.0 * ppl / (ppl + 25.1);
}

#define N_NEEDS 500

/* How much of a packet is missed with a delay */
static double
part_missed (FmxDuration need, FmxDuration delay)
{
  return fmin (1.0, fmax (0.0, (double) (need - delay) / (double) PACKET));
}

/* Against a list of all needs, each with its own weight */
static void
test_the_cost_of_a_delay_is_what_the_e_model_says (void **state)
{
  FmxDelayMemory memory = memory_without_prior ();
  FmxDuration needs[N_NEEDS];
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 1);
  for (size_t i = 0; i < N_NEEDS; i++) {
    double u = fmx_rng_next_unit (&rng);

    needs[i] = (FmxDuration) (u * u * u * 100.0) * FMX_DELAY_MEMORY_BIN;
    fmx_delay_memory_on_packet (&memory, needs[i], PACKET);
  }
  for (int ms = 0; ms <= 500; ms += 50) {
    double missed = 0.0, total = 0.0;

    for (size_t i = 0; i < N_NEEDS; i++) {
      double age_s = (double) (N_NEEDS - 1 - i) * 0.02;
      double weight = pow (0.5, age_s / 180.0);

      total += weight;
      missed += weight * part_missed (needs[i], ms * MS);
    }
    assert_true (fabs (fmx_delay_memory_cost (&memory, ms * MS)
            - rating_lost (65.0 + ms, 100.0 * missed / total)
            - 10.0 * ms / 1000.0) < 0.01);
  }
}

static void
test_the_best_delay_costs_least (void **state)
{
  FmxDelayMemory memory = memory_without_prior ();
  double least = INFINITY;
  FmxDuration best = 0;

  (void) state;
  for (int i = 0; i < 1000; i++)
    fmx_delay_memory_on_packet (&memory, i % 50 == 0 ? 70 * MS : 5 * MS,
        PACKET);
  for (FmxDuration delay = 0; delay < 300 * MS; delay += FMX_DELAY_MEMORY_BIN) {
    if (fmx_delay_memory_cost (&memory, delay) < least) {
      least = fmx_delay_memory_cost (&memory, delay);
      best = delay;
    }
  }
  assert_int_equal (best, 70 * MS);
  assert_int_equal (fmx_delay_memory_best (&memory, 300 * MS), best);
  assert_int_equal (fmx_delay_memory_best (&memory, 40 * MS), 5 * MS);
}

/* A weight that only grows is put back before it is too large for a float. */
static void
test_it_remembers_for_days (void **state)
{
  FmxDelayMemory memory = memory_without_prior ();
  double cost;

  (void) state;
  for (int i = 0; i < 1000; i++)
    fmx_delay_memory_on_packet (&memory, i % 10 == 0 ? 70 * MS : 0, PACKET);
  cost = fmx_delay_memory_cost (&memory, 50 * MS);
  for (int i = 0; i < 24 * 3600 * 50; i++)
    fmx_delay_memory_on_packet (&memory, i % 10 == 0 ? 70 * MS : 0, PACKET);
  assert_true (fabs (fmx_delay_memory_cost (&memory, 50 * MS) - cost) < 1.0);
}

/* Packets of 60 ms, one of which each second needed 70 ms: 10 ms less delay miss a
 * sixth of it, not all of it. */
static void
test_a_delay_a_little_too_short_misses_a_part (void **state)
{
  FmxDelayMemory memory = memory_without_prior ();

  (void) state;
  for (int i = 0; i < 1000; i++)
    fmx_delay_memory_on_packet (&memory, i % 20 == 0 ? 70 * MS : 0, 60 * MS);
  assert_true (fabs (fmx_delay_memory_cost (&memory, 60 * MS)
          - rating_lost (125.0, 100.0 / 20.0 / 6.0) - 0.6) < 0.02);
}

/* What is worth it: 20 ms for each second of it, of 60 ms packets */
static void
test_a_delay_shrinks_by_what_is_worth_most (void **state)
{
  FmxDelayMemory memory = memory_without_prior ();
  FmxDelayMemoryUse use;

  (void) state;
  for (int i = 0; i < 1000; i++)
    fmx_delay_memory_on_packet (&memory, i % 20 == 0 ? 90 * MS : 0, 60 * MS);
  fmx_delay_memory_use_init (&use);
  assert_int_equal (fmx_delay_memory_shrinkage (&memory, &use, 120 * MS,
          60 * MS, 1.0, START), 30 * MS);
  fmx_delay_memory_use_init (&use);
  assert_int_equal (fmx_delay_memory_shrinkage (&memory, &use, 120 * MS,
          20 * MS, 1.0, START), 20 * MS);
  fmx_delay_memory_use_init (&use);
  assert_int_equal (fmx_delay_memory_shrinkage (&memory, &use, 90 * MS,
          60 * MS, 1.0, START), 0);
}

/* --- what the playout makes of it --- */

static void
fixture_init_default (Fixture * f)
{
  FmxPlayoutParams params;

  fixture_init (f);
  fmx_playout_params_default (&params);
  fmx_playout_init (&f->playout, &params);
}

/* Packet @n is held for @stall, and those behind it until then; returns the
 * number of the next one */
static uint64_t
stall (Fixture * f, uint64_t n, FmxDuration length, unsigned *n_missed)
{
  for (; length > 0; length -= PACKET, n++)
    *n_missed += arrive (f, n, length).action == FMX_PLAYOUT_MISSED;
  return n;
}

static void
test_a_stall_that_comes_alone_is_not_waited_for (void **state)
{
  unsigned n_missed = 0;
  uint64_t n;
  Fixture f;

  (void) state;
  fixture_init_default (&f);
  for (n = 0; n < 3000; n++)
    arrive (&f, n, (FmxDuration) (n % 5) * MS);
  n = stall (&f, n, 300 * MS, &n_missed);
  assert_true (n_missed >= 10);
  assert_true (fmx_playout_get_delay (&f.playout) <= 100 * MS);
  for (; n < 4000; n++)
    assert_int_equal (arrive (&f, n, 0).action, FMX_PLAYOUT_PLAY);
}

static void
test_stalls_that_recur_are_waited_for (void **state)
{
  unsigned n_missed = 0;
  uint64_t n = 0;
  Fixture f;

  (void) state;
  fixture_init_default (&f);
  for (int i = 0; i < 30; i++) {
    for (uint64_t end = n + 50; n < end; n++)
      arrive (&f, n, (FmxDuration) (n % 5) * MS);
    if (i == 20)
      n_missed = 0;
    n = stall (&f, n, 80 * MS, &n_missed);
  }
  assert_int_equal (n_missed, 0);
  assert_true (fmx_playout_get_delay (&f.playout) >= 76 * MS);
}

static void
test_a_slower_path_is_followed_when_as_much_was_missed (void **state)
{
  FmxDuration before;
  unsigned n_missed = 0;
  uint64_t n;
  Fixture f;

  (void) state;
  fixture_init_default (&f);
  for (n = 0; n < 3000; n++)
    arrive (&f, n, (FmxDuration) (n % 5) * MS);
  arrive (&f, n++, 200 * MS);
  before = fmx_playout_get_delay (&f.playout);
  for (; n < 3100; n++)
    n_missed += arrive (&f, n, 200 * MS).action == FMX_PLAYOUT_MISSED;
  assert_true (before > 0 && before < 100 * MS);
  assert_int_equal (n_missed, (200 * MS - before + PACKET - 1) / PACKET - 1);
}

/* A full queue lets one packet of four through, each as late as the next: what it lost
 * was missed, too. */
static void
test_a_full_queue_is_followed_by_what_it_lost (void **state)
{
  FmxPlayoutDecision d = {.action = FMX_PLAYOUT_MISSED };
  uint64_t n;
  Fixture f;

  (void) state;
  fixture_init_default (&f);
  for (n = 0; n < 3000; n++)
    arrive (&f, n, (FmxDuration) (n % 5) * MS);
  for (; n < 3060 && d.action == FMX_PLAYOUT_MISSED; n += 4)
    d = arrive (&f, n, 480 * MS);
  assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
  assert_true (n <= 3000 + (480 * MS) / PACKET + 8);
  assert_in_range (d.delay, 480 * MS, 482 * MS);
}

/* The queue empties by 5.6 ms a packet, which looks like 0 or 10 ms, or like 0 or 20, to
 * who looks each 10 or 20 ms. */
static void
test_a_queue_that_empties_is_followed_by_who_looks_rarely (void **state)
{
  (void) state;
  for (FmxDuration apart = 0; apart <= 20; apart += 10) {
    FmxDuration need = 480 * MS;
    unsigned n_missed = 0;
    uint64_t n;
    Fixture f;

    fixture_init_default (&f);
    for (n = 0; n < 3000; n++)
      arrive (&f, n, (FmxDuration) (n % 5) * MS);
    for (; n < 3060; n++, need -= 56 * MS / 10) {
      FmxTime at = f.media + n * (uint64_t) PACKET + (uint64_t) need;
      FmxDuration waits = apart == 0 ? 0 : apart * MS
          - (FmxDuration) (at % (uint64_t) (apart * MS));

      n_missed += arrive (&f, n, need + waits).action != FMX_PLAYOUT_PLAY;
    }
    assert_in_range (n_missed, 10, 26);
  }
}

/* A second of nothing, then half a second of packets each a second late: less
 * is lost by missing them than by cutting a second out of what comes then. */
static void
test_a_path_that_is_slow_for_a_moment_is_not_followed (void **state)
{
  unsigned n_missed = 0, n_cut = 0;
  uint64_t n;
  Fixture f;

  (void) state;
  fixture_init_default (&f);
  for (n = 0; n < 3000; n++)
    arrive (&f, n, (FmxDuration) (n % 5) * MS);
  for (; n < 3025; n++)
    n_missed += arrive (&f, n, 900 * MS).action == FMX_PLAYOUT_MISSED;
  for (n += 45; n < 6000; n++)
    n_cut += arrive (&f, n, 0).action != FMX_PLAYOUT_PLAY;
  assert_int_equal (n_missed, 25);
  assert_true (n_cut <= 4);
}

/* The rest of a packet is heard that is late by less than itself, and nothing
 * moves. */
static void
test_the_rest_of_a_late_packet_is_played_in_its_slot (void **state)
{
  FmxPlayoutDecision d;
  FmxDuration delay;
  uint64_t n;
  Fixture f;

  (void) state;
  fixture_init_default (&f);
  for (n = 0; n < 9000; n++)
    arrive (&f, n, (FmxDuration) (n % 50 == 0 ? 60 : n % 5) * MS);
  arrive (&f, n++, 300 * MS);
  delay = fmx_playout_get_delay (&f.playout);
  d = arrive (&f, n++, delay + 15 * MS);
  assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
  assert_int_equal (d.delay, delay);
  assert_int_equal (d.adjusted, 0);
  d = arrive (&f, n++, delay + 20 * MS);
  assert_int_equal (d.action, FMX_PLAYOUT_MISSED);
  d = arrive (&f, n++, 0);
  assert_int_equal (d.delay, delay);
}

/* A stall at the start makes the delay too long, by less than a packet: a part of one
 * goes, the one in which it does is played, and nothing is cut whole. */
static void
test_a_part_of_a_packet_is_cut (void **state)
{
  FmxDuration after_stall;
  unsigned n_missed = 0, n_shorter = 0;
  Fixture f;
  uint64_t n;

  (void) state;
  fixture_init_default (&f);
  for (n = 0; n < 500; n++)
    arrive (&f, n, n % 50 == 1 ? 60 * MS : 0);
  n = stall (&f, n, 180 * MS, &n_missed);
  after_stall = fmx_playout_get_delay (&f.playout);
  for (; n < 10000; n++) {
    FmxPlayoutDecision d = arrive (&f, n, n % 50 == 0 ? 60 * MS : 0);

    assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
    if (d.adjusted == 0)
      continue;
    assert_true (d.adjusted < 0 && d.adjusted > -PACKET);
    assert_int_equal (d.reason, FMX_PLAYOUT_STANDING_QUEUE);
    assert_int_equal (d.delay, fmx_playout_get_delay (&f.playout));
    n_shorter++;
  }
  assert_true (n_shorter > 0 && n_shorter <= 3);
  assert_true (fmx_playout_get_delay (&f.playout) <= after_stall - 5 * MS);
}

static void
test_a_lan_is_played_at_once (void **state)
{
  Fixture f;

  (void) state;
  fixture_init_default (&f);
  for (uint64_t n = 0; n < 5000; n++)
    arrive (&f, n, (FmxDuration) (n * 7 % 11) * 30 * FMX_USECOND);
  assert_true (fmx_playout_get_delay (&f.playout) <= 3 * MS);
}

/* A second of speech came at once: it is heard, and what is quiet in it goes. */
static void
test_a_burst_at_the_start_is_heard (void **state)
{
  unsigned n_loud = 0, n_quiet = 0;
  Fixture f;

  (void) state;
  fixture_init_default (&f);
  for (uint64_t n = 0; n < 50; n++) {
    FmxPlayoutPacket packet = {
      .ext_seq = f.seq + n,
      .media = f.media + n * (uint64_t) PACKET,
      .duration = PACKET,
      .quiet = n % 10 >= 7,
    };
    FmxPlayoutDecision d = fmx_playout_on_packet (&f.playout, &packet,
        START + 50 * (FmxTime) PACKET);

    if (d.action == FMX_PLAYOUT_DROP_MONITOR && packet.quiet)
      n_quiet++;
    else if (d.action == FMX_PLAYOUT_DROP_MONITOR)
      n_loud++;
  }
  assert_true (n_quiet >= 8);
  assert_true (n_loud <= 9);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_cost_of_a_delay_is_what_the_e_model_says),
    cmocka_unit_test (test_the_best_delay_costs_least),
    cmocka_unit_test (test_a_delay_a_little_too_short_misses_a_part),
    cmocka_unit_test (test_a_delay_shrinks_by_what_is_worth_most),
    cmocka_unit_test (test_it_remembers_for_days),
    cmocka_unit_test (test_a_stall_that_comes_alone_is_not_waited_for),
    cmocka_unit_test (test_stalls_that_recur_are_waited_for),
    cmocka_unit_test (test_a_slower_path_is_followed_when_as_much_was_missed),
    cmocka_unit_test (test_a_full_queue_is_followed_by_what_it_lost),
    cmocka_unit_test (test_a_queue_that_empties_is_followed_by_who_looks_rarely),
    cmocka_unit_test (test_a_path_that_is_slow_for_a_moment_is_not_followed),
    cmocka_unit_test (test_the_rest_of_a_late_packet_is_played_in_its_slot),
    cmocka_unit_test (test_a_part_of_a_packet_is_cut),
    cmocka_unit_test (test_a_lan_is_played_at_once),
    cmocka_unit_test (test_a_burst_at_the_start_is_heard),
  };

  return cmocka_run_group_tests_name ("playout/delay-memory", tests, NULL,
      NULL);
}
