/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdbool.h>

#include "fmx-test-asmp.h"

#include "fairmix/asmp/fmx-asmp-events.h"
#include "fairmix/base/fmx-rng.h"

#define FRAME (20 * FMX_MSECOND)
#define RTT (100 * FMX_MSECOND)

/* Packet @i of a stream of one each 20 ms; returns the events that began */
static unsigned
arrive (FmxAsmpEvents *events, unsigned i)
{
  return fmx_asmp_events_on_packet (events, (uint16_t) i, RTT,
      FMX_SECOND + i * (FmxTime) FRAME);
}

static void
test_a_loss_is_found_at_the_third_packet_after_it (void **state)
{
  FmxAsmpEvents events;

  (void) state;
  fmx_asmp_events_init (&events);
  for (unsigned i = 0; i < 100; i++)
    assert_int_equal (arrive (&events, i), 0);
  assert_int_equal (arrive (&events, 101), 0);
  assert_int_equal (arrive (&events, 102), 0);
  assert_int_equal (arrive (&events, 103), 1);
  assert_int_equal (fmx_asmp_events_count (&events), 1);
}

static void
test_packets_a_little_out_of_order_are_not_lost (void **state)
{
  FmxAsmpEvents events;

  (void) state;
  fmx_asmp_events_init (&events);
  for (unsigned i = 0; i < 3000; i += 3) {
    assert_int_equal (arrive (&events, i + 2), 0);
    assert_int_equal (arrive (&events, i + 1), 0);
    assert_int_equal (arrive (&events, i), 0);
    assert_int_equal (arrive (&events, i), 0);  /* once more */
  }
  assert_int_equal (fmx_asmp_events_count (&events), 0);
  assert_true (fmx_asmp_events_rate (&events) == 0.0);
}

static void
test_losses_within_a_round_trip_are_one_event (void **state)
{
  FmxAsmpEvents events;
  unsigned n = 0;

  (void) state;
  fmx_asmp_events_init (&events);
  for (unsigned i = 0; i < 1000; i++)
    /* 5 packets are 100 ms: the third loss is another event */
    if (i != 500 && i != 504 && i != 507)
      n += arrive (&events, i);
  assert_int_equal (n, 2);
}

/* [RFC5348 5.2]: lost packets have times of their own */
static void
test_an_outage_of_a_second_is_many_events (void **state)
{
  FmxAsmpEvents events;
  unsigned n = 0;

  (void) state;
  fmx_asmp_events_init (&events);
  for (unsigned i = 0; i < 1000; i++)
    if (i < 500 || i >= 550)
      n += arrive (&events, i);
  assert_in_range (n, 9, 11);
}

static void
test_the_rate_is_that_of_the_events (void **state)
{
  FmxAsmpEvents events;
  FmxRng rng;
  double sum = 0.0;
  unsigned n = 0;

  (void) state;
  fmx_rng_init (&rng, 1);
  fmx_asmp_events_init (&events);
  for (unsigned i = 0; i < 200000; i++) {
    if (fmx_rng_next_unit (&rng) >= 0.01)
      arrive (&events, i);
    if (i > 20000 && i % 100 == 0) {
      sum += fmx_asmp_events_rate (&events);
      n++;
    }
  }
  /* 1 % of losses; those within 5 packets of another are no event of their
   * own: 1 / (100 + 5) */
  assert_near (sum / n, 0.0095, 0.1);
}

/* a path of 1 % whose losses are random, and then one of 10 % */
static void
test_the_rate_is_steady_until_the_path_changes (void **state)
{
  FmxAsmpEvents events;
  double sum = 0.0, squares = 0.0, of_eight = 0.0, mean;
  unsigned n = 0, changed = 0;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 2);
  fmx_asmp_events_init (&events);
  for (unsigned i = 0; i < 200000; i++) {
    if (fmx_rng_next_unit (&rng) >= 0.01)
      arrive (&events, i);
    if (i > 20000 && i % 100 == 0) {
      double p = fmx_asmp_events_rate (&events);
      double newest = fmx_loss_intervals_rate (&events.intervals);

      sum += p;
      squares += p * p;
      of_eight += (newest - 0.0095) * (newest - 0.0095);
      n++;
    }
  }
  mean = sum / n;
  /* of half the deviation that eight intervals have */
  assert_true (squares / n - mean * mean < 0.25 * of_eight / n);
  for (unsigned i = 200000; i < 202000 && changed == 0; i++) {
    if (fmx_rng_next_unit (&rng) >= 0.1)
      arrive (&events, i);
    if (fmx_asmp_events_rate (&events) > 0.05)
      changed = i - 200000;
  }
  assert_in_range (changed, 1, 500);    /* ten seconds */
}

/* Packets until a path that loses 2 % after 5 % is known to lose less */
static unsigned
known_after (bool few_others, unsigned seed)
{
  FmxAsmpEvents events;
  unsigned i;
  FmxRng rng;

  fmx_rng_init (&rng, seed);
  fmx_asmp_events_init (&events);
  fmx_asmp_events_set_few_others (&events, few_others);
  for (i = 0; i < 5000; i++)
    if (fmx_rng_next_unit (&rng) >= 0.05)
      arrive (&events, i);
  for (; fmx_asmp_events_rate (&events) > 0.025 && i < 10000; i++)
    if (fmx_rng_next_unit (&rng) >= 0.02)
      arrive (&events, i);
  return i - 5000;
}

static void
test_with_few_others_rarer_events_are_known_sooner (void **state)
{
  unsigned few = 0, many = 0;

  (void) state;
  for (unsigned seed = 1; seed <= 20; seed++) {
    few += known_after (true, seed);
    many += known_after (false, seed);
  }
  assert_true (few * 3 < many * 2);
}

/* The highest p of @n receivers of one path, and that over eight intervals */
static double
worst_of (unsigned n, unsigned seed, double *of_eight)
{
  double worst = 0.0;
  FmxRng rng;

  *of_eight = 0.0;
  fmx_rng_init (&rng, seed);
  for (unsigned k = 0; k < n; k++) {
    FmxAsmpEvents events;

    fmx_asmp_events_init (&events);
    fmx_asmp_events_set_receivers (&events, n, n > 20);
    for (unsigned i = 0; i < 10000; i++)
      if (fmx_rng_next_unit (&rng) >= 0.01)
        arrive (&events, i);
    worst = fmax (worst, fmx_asmp_events_rate (&events));
    *of_eight = fmax (*of_eight, fmx_loss_intervals_rate (&events.intervals));
  }
  return worst;
}

/* The least of the rates is that with the highest p: not what chance has made of
 * one of them, nor less than the path's because there are few. */
static void
test_the_worst_of_many_receivers_is_near_the_path (void **state)
{
  double of_eight, mean = 0.0;

  (void) state;
  for (unsigned seed = 0; seed < 20; seed++)
    mean += worst_of (8, seed, &of_eight) / 20.0;
  assert_near (mean, 0.0090, 0.05);
  assert_near (worst_of (30, 3, &of_eight), 0.0095, 0.15);
  assert_near (worst_of (1000, 3, &of_eight), 0.0095, 0.15);
  assert_true (of_eight > 0.03);
}

/* of so many normal deviates the largest lies so far above their mean: tables of
 * order statistics */
static void
test_what_is_taken_off_is_the_worst_of_so_many (void **state)
{
  const struct
  {
    uint32_t n;
    double largest;
  } rows[] = { {1, 0.0}, {3, 0.8463}, {8, 1.4236}, {30, 2.0428}, {100, 2.5076},
  {1000, 3.2414}, {10000, 3.8516},
  {100000, 4.3843},             /* most of whom may not be there */
  };
  FmxAsmpEvents events;
  FmxRng rng;
  double p;

  (void) state;
  fmx_rng_init (&rng, 4);
  fmx_asmp_events_init (&events);
  fmx_asmp_events_set_receivers (&events, 1, true);
  for (unsigned i = 0; i < 20000; i++)
    if (fmx_rng_next_unit (&rng) >= 0.01)
      arrive (&events, i);
  p = fmx_asmp_events_rate (&events);
  for (size_t i = 0; i < N_ELEMENTS (rows); i++) {
    fmx_asmp_events_set_receivers (&events, rows[i].n, true);
    assert_near (fmx_asmp_events_rate (&events) / p,
        exp (-rows[i].largest / sqrt (2.0 * FMX_ASMP_EVENTS_STEADY_LARGE)),
        0.01);
  }
}

static void
test_the_share_lost_is_that_of_the_path (void **state)
{
  FmxAsmpEvents events;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 5);
  fmx_asmp_events_init (&events);
  assert_true (fmx_asmp_events_fraction (&events) == 0.0);
  for (unsigned i = 0; i < 20000; i++)
    if (fmx_rng_next_unit (&rng) >= 0.1)
      arrive (&events, i);
  assert_near (fmx_asmp_events_fraction (&events), 0.1, 0.25);
}

static void
test_numbers_wrap_and_begin_anew_without_an_event (void **state)
{
  FmxAsmpEvents events;
  FmxTime now = FMX_SECOND;
  uint16_t seq = 65000;

  (void) state;
  fmx_asmp_events_init (&events);
  for (unsigned i = 0; i < 2000; i++, now += FRAME)
    assert_int_equal (fmx_asmp_events_on_packet (&events, seq++, RTT, now), 0);
  seq++;                        /* one is lost */
  for (unsigned i = 0; i < 1000; i++, now += FRAME)
    assert_int_equal (fmx_asmp_events_on_packet (&events, seq++, RTT, now),
        i == 2);
  assert_near (fmx_asmp_events_rate (&events), 1.0 / 998.0, 1e-9);
  fmx_asmp_events_restart (&events);
  seq = 7;
  for (unsigned i = 0; i < 1000; i++, now += FRAME)
    assert_int_equal (fmx_asmp_events_on_packet (&events, seq++, RTT, now), 0);
  assert_near (fmx_asmp_events_rate (&events), 1.0 / 1998.0, 0.01);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_loss_is_found_at_the_third_packet_after_it),
    cmocka_unit_test (test_packets_a_little_out_of_order_are_not_lost),
    cmocka_unit_test (test_losses_within_a_round_trip_are_one_event),
    cmocka_unit_test (test_an_outage_of_a_second_is_many_events),
    cmocka_unit_test (test_the_rate_is_that_of_the_events),
    cmocka_unit_test (test_the_rate_is_steady_until_the_path_changes),
    cmocka_unit_test (test_with_few_others_rarer_events_are_known_sooner),
    cmocka_unit_test (test_the_worst_of_many_receivers_is_near_the_path),
    cmocka_unit_test (test_what_is_taken_off_is_the_worst_of_so_many),
    cmocka_unit_test (test_the_share_lost_is_that_of_the_path),
    cmocka_unit_test (test_numbers_wrap_and_begin_anew_without_an_event),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
