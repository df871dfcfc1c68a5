/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/rate/fmx-bottleneck-rate.h"

#define MS FMX_MSECOND
#define S FMX_SECOND
#define TICK (FMX_SECOND / 1024)        /* of arrival times */
#define BYTES 200u
#define TCP_BYTES 1500u

static FmxBottleneckRate rate;
static FmxRng rng;

static FmxDuration
passes (uint32_t bytes, double link_bps)
{
  return fmx_time_from_s (8.0 * bytes / link_bps);
}

/* A queue that never empties, for @time: our packets have @share of the link, and
 * leave evenly; in a tenth of the time, when a TCP pauses, all of it is ours.  Each waits up to @jitter
 * more behind the link. */
static double
known_after (double link_bps, double share, FmxDuration jitter,
    FmxDuration time)
{
  double each = (1.0 - share) / share * BYTES / TCP_BYTES;
  FmxTime now = S, last = 0, sent = 0;

  memset (&rate, 0, sizeof rate);
  fmx_rng_init (&rng, 1);
  for (FmxTime end = now + (FmxTime)time, report = now; now < end;) {
    bool pauses = now % (2 * (FmxTime) S) < (FmxTime) S / 5;
    FmxTime arrival;

    now += (FmxTime) passes (BYTES, link_bps);
    for (double n = pauses ? 0.0 : -each * log (1.0 - fmx_rng_next_unit (&rng));
        n >= fmx_rng_next_unit (&rng); n -= 1.0)
      now += (FmxTime) passes (TCP_BYTES, link_bps);
    arrival = now + (FmxTime) (fmx_rng_next_unit (&rng) * (double) jitter);
    last = arrival > last ? arrival : last;
    sent += (FmxTime) passes (BYTES, share * link_bps);
    fmx_bottleneck_rate_add (&rate, sent, last / TICK * TICK, BYTES);
    if (now >= report) {
      fmx_bottleneck_rate_end (&rate, now);
      report = now + (FmxTime) S / 10;
    }
  }
  return fmx_bottleneck_rate_bps (&rate);
}

static void
test_the_link_is_known_whatever_part_of_it_is_ours (void **state)
{
  static const double links[] = { 120e3, 300e3, 500e3, 1000e3, 1500e3 };
  static const double shares[] = { 0.1, 0.3, 0.5, 0.9 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (links); i++)
    for (size_t k = 0; k < N_ELEMENTS (shares); k++) {
      double bps = known_after (links[i], shares[k], 0, 20 * S);

      if (bps < 0.8 * links[i] || bps > 1.25 * links[i])
        fail_msg ("%.0f kbit/s, not %.0f, of which %.2f is ours", bps / 1e3,
            links[i] / 1e3, shares[k]);
    }
}

/* Arrival times are too coarse. */
static void
test_a_fast_link_is_not_known (void **state)
{
  (void) state;
  assert_true (known_after (4e6, 1.0, 0, 20 * S) == 0.0);
  assert_true (known_after (10e6, 0.5, 0, 20 * S) == 0.0);
}

static void
test_of_the_first_packets_nothing_is_known (void **state)
{
  (void) state;
  assert_true (known_after (500e3, 0.5, 0, S / 100) == 0.0);
}

/* Packets that a radio link holds back and lets go at once are no measure. */
static void
test_where_delays_wander_it_is_not_known (void **state)
{
  (void) state;
  for (FmxDuration jitter = 40; jitter <= 100; jitter += 20)
    assert_true (known_after (300e3, 0.9, jitter * FMX_MSECOND, 20 * S) == 0.0);
}

/* On a link of 10 Mbit/s packets of 80 kbit/s arrive as they left, 20 ms apart, though
 * somebody else keeps a queue there: that is their sender's pace.  It passed for the link, and a bundle beside a TCP took no
 * more than 0.42 of it for a minute. */
static void
test_a_train_that_came_as_it_left_tells_nothing (void **state)
{
  (void) state;
  memset (&rate, 0, sizeof rate);
  fmx_rng_init (&rng, 1);
  for (unsigned i = 1; i <= 1000; i++) {
    FmxTime sent = i * passes (BYTES, 80e3);
    FmxTime queue = (FmxTime) (fmx_rng_next_unit (&rng) * 2e6)
        + (i > 1 ? 8 * FMX_MSECOND : 0);

    fmx_bottleneck_rate_add (&rate, sent, (sent + queue) / TICK * TICK, BYTES);
    if (i % 5 == 0)
      fmx_bottleneck_rate_end (&rate, sent);
  }
  assert_true (fmx_bottleneck_rate_bps (&rate) == 0.0);
  assert_true (fmx_bottleneck_rate_late_bps (&rate) > 0.0);
}

/* A queue that others keep drains at 0.3 s a second, as a CUBIC's does that sends 0.7 of what
 * it sent: packets of 80 kbit/s, 19 to 21 ms apart, come 0.7 times as far apart, each a little
 * later or sooner for what stood before it.  That passed for a link of 114 kbit/s. */
static void
test_a_queue_that_drains_is_no_train (void **state)
{
  FmxTime sent = S;

  (void) state;
  memset (&rate, 0, sizeof rate);
  fmx_rng_init (&rng, 1);
  fmx_bottleneck_rate_add (&rate, sent, sent, BYTES);
  for (unsigned i = 1; i <= 1000; i++) {
    double drained = 0.3 * fmod (fmx_time_to_s ((FmxDuration) sent), 2.0);
    FmxTime queue = (FmxTime) fmx_time_from_s (0.7 - drained
        + 0.001 * fmx_rng_next_unit (&rng));

    fmx_bottleneck_rate_add (&rate, sent, (sent + queue) / TICK * TICK, BYTES);
    if (i % 5 == 0)
      fmx_bottleneck_rate_end (&rate, sent);
    sent += (FmxTime) fmx_time_from_s (0.018 + 0.004
        * fmx_rng_next_unit (&rng));
  }
  assert_true (fmx_bottleneck_rate_bps (&rate) == 0.0);
}

/* A shaper of 250 kbit/s lets 1600 bytes pass at once where it was idle: five packets of ten
 * that left together, and the sixth 9 ms later, were a train of 1.3 Mbit/s each time.  Each
 * queue of our own passed for somebody else's then. */
static void
test_what_a_bucket_passes_at_once_tells_nothing (void **state)
{
  const double link_bps = 250e3, burst = 8 * 1600.0;
  FmxTime free = S;
  double saved = burst, bps;

  (void) state;
  memset (&rate, 0, sizeof rate);
  for (unsigned k = 0; k < 3000; k++) {
    bool at_once = k % 100 == 50;
    FmxTime sent = S + k * (FmxTime) S / 50;

    for (unsigned i = 0; i < (at_once ? 10 : 1); i++) {
      uint32_t bytes = at_once ? 295 : BYTES;
      FmxTime from = sent > free ? sent : free;

      saved = fmin (burst, saved + link_bps * fmx_time_to_s (fmx_time_diff (from,
                  free))) - 8.0 * bytes;
      free = from + (FmxTime) fmx_time_from_s (fmax (-saved, 0.0) / link_bps);
      saved = fmax (saved, 0.0);
      fmx_bottleneck_rate_add (&rate, sent, free / TICK * TICK, bytes);
    }
    fmx_bottleneck_rate_end (&rate, sent);
  }
  bps = fmx_bottleneck_rate_bps (&rate);
  if (bps < 0.8 * link_bps || bps > 1.25 * link_bps)
    fail_msg ("%.0f kbit/s", bps / 1e3);
}

/* In any order, and after the receiver's clock was set back. */
static void
test_a_clock_that_is_set_does_not_disturb_it (void **state)
{
  double before = known_after (500e3, 0.5, 0, 20 * S);

  (void) state;
  fmx_bottleneck_rate_add (&rate, 22 * (FmxTime) S, 3600 * (FmxTime) S, BYTES);
  fmx_bottleneck_rate_end (&rate, 22 * (FmxTime) S);
  for (unsigned i = 10; i > 0; i--)
    fmx_bottleneck_rate_add (&rate, (230 - i) * (FmxTime) S / 10,
        i * (FmxTime) S / 10, BYTES);
  fmx_bottleneck_rate_end (&rate, 23 * (FmxTime) S);
  assert_true (before > 0.0 && fmx_bottleneck_rate_bps (&rate) == before);
}

/* What was measured two windows ago is forgotten. */
static void
test_it_is_forgotten (void **state)
{
  (void) state;
  assert_true (known_after (500e3, 0.5, 0, 20 * S) > 0.0);
  fmx_bottleneck_rate_end (&rate, 100 * (FmxTime) S);
  assert_true (fmx_bottleneck_rate_bps (&rate) > 0.0);
  for (unsigned s = 200; s <= 300; s += 100)
    fmx_bottleneck_rate_end (&rate, s * (FmxTime) S);
  assert_true (fmx_bottleneck_rate_bps (&rate) == 0.0);
}

/* Ours in a queue of @link_bps, each @apart after the one before, and @n_together of them with
 * nothing in between. */
static double
row_of (double link_bps, FmxDuration apart, unsigned n_together)
{
  FmxTime now = S;

  memset (&rate, 0, sizeof rate);
  fmx_bottleneck_rate_add (&rate, now - 50 * MS, now, BYTES);
  fmx_bottleneck_rate_end (&rate, now);
  for (unsigned i = 0; i < 20; i++) {
    now += (FmxTime) (i >= 8 && i < 7 + n_together ? passes (BYTES, link_bps)
        : apart);
    fmx_bottleneck_rate_add (&rate, now - 100 * MS, now / TICK * TICK, BYTES);
  }
  fmx_bottleneck_rate_end (&rate, now);
  return fmx_bottleneck_rate_row_bps (&rate);
}

static void
test_four_in_a_row_tell_what_a_link_carries_now (void **state)
{
  double all_bps = 8.0 * BYTES / 0.01;

  (void) state;
  assert_true (fabs (row_of (500e3, 10 * MS, 0) / all_bps - 1.0) < 0.1);
  assert_true (row_of (500e3, 10 * MS, 4) > 1.5 * all_bps);
  assert_true (row_of (500e3, 10 * MS, 2) < 1.5 * all_bps);
  fmx_bottleneck_rate_end (&rate, 2 * (FmxTime) S);
  assert_true (isinf (fmx_bottleneck_rate_row_bps (&rate)));
}

/* 40 packets of 800 kbit/s; for the last @n_slow the link carries only 200, and it lets
 * @together of them go at a time.
 * Returns: how fast the last ones came */
static double
tail_of (unsigned n_slow, unsigned together, double *left_bps)
{
  FmxTime sent = S, free = 2 * S + 5 * MS;
  FmxTime each = (FmxTime) passes (BYTES, 800e3);

  memset (&rate, 0, sizeof rate);
  fmx_bottleneck_rate_add (&rate, sent, 2 * S, BYTES);  /* had not to wait */
  for (unsigned i = 0; i < 40; i++) {
    unsigned times = i >= 40 - n_slow ? 4 : 1;

    sent += each;
    if (i % together == 0)
      free += together * times * each;
    fmx_bottleneck_rate_add (&rate, sent, free + i % together * each, BYTES);
    if (i == 20)
      fmx_bottleneck_rate_end (&rate, S);
  }
  fmx_bottleneck_rate_end (&rate, S);
  return fmx_bottleneck_rate_tail_bps (&rate, left_bps);
}

/* Whatever came before in the same feedback: six packets in 40 ms or more tell. */
static void
test_the_last_packets_tell_what_a_link_carries_now (void **state)
{
  double left_bps;

  (void) state;
  assert_true (fabs (tail_of (10, 1, &left_bps) / 200e3 - 1.0) < 0.01);
  assert_true (fabs (left_bps / 800e3 - 1.0) < 0.01);
  assert_true (tail_of (4, 1, &left_bps) == 0.0);
  assert_true (tail_of (10, 5, &left_bps) == 0.0);
  memset (&rate, 0, sizeof rate);
  fmx_bottleneck_rate_end (&rate, S);
  assert_true (fmx_bottleneck_rate_tail_bps (&rate, &left_bps) == 0.0);
}

static void
test_of_another_link_nothing_is_known (void **state)
{
  (void) state;
  assert_true (known_after (500e3, 0.5, 0, 20 * S) > 0.0);
  fmx_bottleneck_rate_forget (&rate);
  assert_true (fmx_bottleneck_rate_bps (&rate) == 0.0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_last_packets_tell_what_a_link_carries_now),
    cmocka_unit_test (test_four_in_a_row_tell_what_a_link_carries_now),
    cmocka_unit_test (test_the_link_is_known_whatever_part_of_it_is_ours),
    cmocka_unit_test (test_a_fast_link_is_not_known),
    cmocka_unit_test (test_of_the_first_packets_nothing_is_known),
    cmocka_unit_test (test_where_delays_wander_it_is_not_known),
    cmocka_unit_test (test_a_train_that_came_as_it_left_tells_nothing),
    cmocka_unit_test (test_a_queue_that_drains_is_no_train),
    cmocka_unit_test (test_what_a_bucket_passes_at_once_tells_nothing),
    cmocka_unit_test (test_a_clock_that_is_set_does_not_disturb_it),
    cmocka_unit_test (test_it_is_forgotten),
    cmocka_unit_test (test_of_another_link_nothing_is_known),
  };

  return cmocka_run_group_tests_name ("rate/bottleneck-rate", tests, NULL,
      NULL);
}
