/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/base/fmx-rng.h"
#include "fairmix/rate/fmx-pacer.h"

#define MS FMX_MSECOND
#define PACKET 200u
#define PACKET_BITS (8.0 * PACKET)

/* Whoever sends wakes up late by up to @late; returns the most bits, less what the
 * rate allows, of any stretch of time; @sent: bits */
static double
most_above (uint64_t seed, FmxDuration late, double *sent, double *allowed)
{
  double above = 0.0, most = 0.0, bps = 0.0;
  FmxTime due = 0;
  FmxPacer pacer;
  FmxRng rng;

  fmx_rng_init (&rng, seed);
  fmx_pacer_init (&pacer, 0);
  *sent = *allowed = 0.0;
  for (FmxTime now = 0; now < 60 * FMX_SECOND; now += MS / 4) {
    double step = bps * fmx_time_to_s (MS / 4);

    above = above > step ? above - step : 0.0;
    *allowed += step;
    if (now % (100 * MS) == 0) {
      bps = 50e3 + 1e6 * fmx_rng_next_unit (&rng);
      fmx_pacer_set_rate (&pacer, (uint64_t) bps, now);
    }
    while (now >= due && now >= fmx_pacer_due (&pacer)) {
      fmx_pacer_on_sent (&pacer, PACKET, now);
      *sent += PACKET_BITS;
      above += PACKET_BITS;
      most = above > most ? above : most;
      due = now + (FmxTime) ((double) late * fmx_rng_next_unit (&rng));
    }
  }
  return most;
}

static void
test_never_more_leaves_than_the_rate_allows (void **state)
{
  (void) state;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    double sent, allowed, limit = PACKET_BITS
        + 1050e3 * fmx_time_to_s (FMX_PACER_LATENESS);

    assert_true (most_above (seed, 0, &sent, &allowed) <= limit);
    assert_true (sent > 0.999 * allowed);
    assert_true (most_above (seed, FMX_PACER_LATENESS, &sent, &allowed)
        <= limit);
  }
}

/* At 100 kbit/s a packet takes 16 ms; after that wakes up the 5 ms. */
static void
test_who_is_late_makes_up_for_it (void **state)
{
  FmxPacer pacer;
  unsigned n = 0;

  (void) state;
  fmx_pacer_init (&pacer, 0);
  fmx_pacer_set_rate (&pacer, 100000, 0);
  for (FmxTime now = 0; now < 16 * FMX_SECOND; now += 5 * MS)
    if (now >= fmx_pacer_due (&pacer)) {
      fmx_pacer_on_sent (&pacer, PACKET, now);
      n++;
    }
  assert_in_range (n, 999, 1001);
}

static void
test_silence_is_not_saved_up (void **state)
{
  FmxPacer pacer;
  unsigned n = 0;

  (void) state;
  fmx_pacer_init (&pacer, 0);
  fmx_pacer_set_rate (&pacer, 1000000, 0);
  while (fmx_pacer_due (&pacer) <= 10 * FMX_SECOND) {
    fmx_pacer_on_sent (&pacer, PACKET, 10 * FMX_SECOND);
    n++;
  }
  assert_in_range (n, 1, 5);
}

static void
test_what_waits_is_a_delay (void **state)
{
  FmxPacer pacer;

  (void) state;
  fmx_pacer_init (&pacer, 0);
  assert_int_equal (fmx_pacer_due (&pacer), 0);
  fmx_pacer_set_rate (&pacer, 100000, 0);
  fmx_pacer_on_sent (&pacer, PACKET, 0);
  fmx_pacer_on_queued (&pacer, PACKET);
  assert_int_equal (fmx_pacer_due (&pacer), 16 * MS);
  assert_int_equal (fmx_pacer_delay (&pacer, 0), 32 * MS);
  assert_int_equal (fmx_pacer_delay (&pacer, 8 * MS), 24 * MS);
  /* half the rate for what is left */
  fmx_pacer_set_rate (&pacer, 50000, 8 * MS);
  assert_int_equal (fmx_pacer_due (&pacer), 24 * MS);
  assert_int_equal (fmx_pacer_delay (&pacer, 8 * MS), 48 * MS);
  fmx_pacer_set_rate (&pacer, 0, 9 * MS);
  assert_int_equal (fmx_pacer_due (&pacer), 9 * MS);
  fmx_pacer_on_unqueued (&pacer, PACKET);
  assert_int_equal (fmx_pacer_queued_bytes (&pacer), 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_never_more_leaves_than_the_rate_allows),
    cmocka_unit_test (test_who_is_late_makes_up_for_it),
    cmocka_unit_test (test_silence_is_not_saved_up),
    cmocka_unit_test (test_what_waits_is_a_delay),
  };

  return cmocka_run_group_tests_name ("rate/pacer", tests, NULL, NULL);
}
