/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/rate/fmx-queue-sense.h"

#define MS FMX_MSECOND
#define S FMX_SECOND

/* A sample each 50 ms until @until, of @rtt; returns the time after. */
static FmxTime
feed (FmxQueueSense *sense, FmxDuration rtt, FmxTime from, FmxTime until)
{
  for (; from < until; from += 50 * MS)
    fmx_queue_sense_add (sense, rtt, 0, 100 * MS, from);
  return from;
}

static void
test_what_stands_is_above_the_least (void **state)
{
  FmxQueueSense sense = { 0 };
  FmxTime now = feed (&sense, 100 * MS, 0, S);

  (void) state;
  assert_true (fmx_queue_sense_standing (&sense) == 0);
  feed (&sense, 140 * MS, now, now + S);
  assert_true (fmx_queue_sense_standing (&sense) == 40 * MS);
  assert_true (fmx_queue_sense_recent (&sense) == 40 * MS);
}

static void
test_a_burst_does_not_stand (void **state)
{
  FmxQueueSense sense = { 0 };
  FmxTime now = feed (&sense, 100 * MS, 0, S);

  (void) state;
  for (unsigned i = 0; i < 100; i++, now += 50 * MS) {
    fmx_queue_sense_add (&sense, (i % 2 ? 100 : 200) * MS, 0, 100 * MS, now);
    assert_true (fmx_queue_sense_standing (&sense) == 0);
  }
  assert_true (fmx_queue_sense_recent (&sense) == 100 * MS);
  assert_true (fmx_queue_sense_peak (&sense) == 100 * MS);
}

/* However short the round trip is, packets of others come one by one. */
static void
test_no_window_is_shorter_than_some_packets (void **state)
{
  FmxQueueSense sense = { 0 };

  (void) state;
  for (unsigned i = 0; i < 200; i++) {
    fmx_queue_sense_add (&sense, (i % 4 == 0 ? 10 : 50) * MS, 0, MS,
        i * (FmxTime) (20 * MS));
    assert_true (fmx_queue_sense_standing (&sense) == 0);
  }
}

static void
test_a_peak_is_known_for_half_a_minute (void **state)
{
  FmxQueueSense sense = { 0 };
  FmxTime now = feed (&sense, 200 * MS, 0, S);

  (void) state;
  now = feed (&sense, 100 * MS, now, 35 * (FmxTime) S);
  assert_true (fmx_queue_sense_peak (&sense) == 100 * MS);
  assert_true (fmx_queue_sense_recent (&sense) == 0);
  feed (&sense, 100 * MS, now, 45 * (FmxTime) S);
  assert_true (fmx_queue_sense_peak (&sense) == 0);
}

static void
test_a_longer_path_is_one_after_two_minutes (void **state)
{
  FmxQueueSense sense = { 0 };
  FmxTime now = feed (&sense, 100 * MS, 0, S);

  (void) state;
  now = feed (&sense, 150 * MS, now, now + 55 * (FmxTime) S);
  assert_true (fmx_queue_sense_standing (&sense) == 50 * MS);
  feed (&sense, 150 * MS, now, now + 70 * (FmxTime) S);
  assert_true (fmx_queue_sense_standing (&sense) == 0);
}

/* Saw-teeth of @crest that fall by @fall in 0.4 s, and climb again in 2 s. */
static unsigned
count_dips (FmxDuration crest, FmxDuration fall)
{
  FmxQueueSense sense = { 0 };
  FmxTime now = feed (&sense, crest - fall, 0, S);
  unsigned n = 0;

  for (unsigned i = 0; i < 10 * 48; i++, now += 50 * MS) {
    unsigned k = i % 48;
    FmxDuration rtt = crest - (k < 40 ? fall * (40 - k) / 40
        : fall * (k - 40) / 8);

    fmx_queue_sense_add (&sense, rtt, 0, 200 * MS, now);
    n += fmx_queue_sense_take_dip (&sense);
  }
  return n;
}

/* [RFC9438 4.6] CUBIC leaves 0.7 of its window; it has half, or a third. */
static void
test_finds_each_dip_of_a_saw_tooth (void **state)
{
  (void) state;
  assert_int_equal (count_dips (400 * MS, 60 * MS), 10);
  assert_int_equal (count_dips (400 * MS, 40 * MS), 10);
  assert_int_equal (count_dips (100 * MS, 30 * MS), 10);
}

/* A twentieth of the round trip, or 12 ms. */
static void
test_what_falls_by_little_is_no_saw_tooth (void **state)
{
  (void) state;
  assert_int_equal (count_dips (400 * MS, 18 * MS), 0);
  assert_int_equal (count_dips (40 * MS, 10 * MS), 0);
}

static void
test_falls_from_a_dip_until_it_turns_up (void **state)
{
  FmxQueueSense sense = { 0 };
  FmxTime now = feed (&sense, 400 * MS, 0, S);

  (void) state;
  assert_false (fmx_queue_sense_is_falling (&sense));
  now = feed (&sense, 300 * MS, now, now + S);
  assert_true (fmx_queue_sense_is_falling (&sense));
  now = feed (&sense, 305 * MS, now, now + S);
  assert_true (fmx_queue_sense_is_falling (&sense));
  feed (&sense, 350 * MS, now, now + S);
  assert_false (fmx_queue_sense_is_falling (&sense));
}

/* A large packet on 500 kbit/s takes 24 ms. */
static void
test_one_packet_more_or_less_is_no_dip (void **state)
{
  FmxQueueSense sense = { 0 };
  FmxTime now = feed (&sense, 400 * MS, 0, S);

  (void) state;
  for (unsigned i = 0; i < 200; i++, now += 50 * MS) {
    fmx_queue_sense_add (&sense, (i % 2 ? 400 : 424) * MS, 0, 200 * MS, now);
    assert_false (fmx_queue_sense_take_dip (&sense));
  }
}

static void
test_the_queue_on_the_reverse_path_is_not_ours (void **state)
{
  FmxQueueSense sense = { 0 };
  FmxTime now = feed (&sense, 100 * MS, 0, S);

  (void) state;
  for (unsigned i = 0; i < 100; i++, now += 50 * MS)
    fmx_queue_sense_add (&sense, 300 * MS, 200 * MS, 100 * MS, now);
  assert_true (fmx_queue_sense_standing (&sense) == 0);
  for (unsigned i = 0; i < 100; i++, now += 50 * MS)
    fmx_queue_sense_add (&sense, 330 * MS, 200 * MS, 100 * MS, now);
  assert_true (fmx_queue_sense_standing (&sense) == 30 * MS);
}

static void
test_a_clock_that_is_set_does_not_shorten_the_path (void **state)
{
  FmxQueueSense sense = { 0 };
  FmxTime now = feed (&sense, 100 * MS, 0, S);

  (void) state;
  for (unsigned i = 0; i < 20; i++, now += 50 * MS)
    fmx_queue_sense_add (&sense, 100 * MS, S, 100 * MS, now);
  feed (&sense, 100 * MS, now, now + S);
  assert_true (fmx_queue_sense_standing (&sense) == 0);
}

/* The receiver's clock is set back by 200 ms, and then by 101 forward: for a moment nothing
 * is left of the round trip. */
static void
test_a_clock_that_is_set_twice_hides_no_dip (void **state)
{
  FmxQueueSense sense = { 0 };
  FmxTime now = feed (&sense, 100 * MS, 0, S);

  (void) state;
  fmx_queue_sense_add (&sense, 100 * MS, -200 * MS, 100 * MS, now);
  for (unsigned i = 0; i < 4; i++) {
    now += S;
    fmx_queue_sense_add (&sense, 100 * MS, -99 * MS, 100 * MS, now);
  }
  now = feed (&sense, 400 * MS, now, now + 5 * S);
  (void) fmx_queue_sense_take_dip (&sense);
  feed (&sense, 250 * MS, now, now + S);
  assert_true (fmx_queue_sense_take_dip (&sense));
}

static void
test_after_a_restart_only_the_present_counts (void **state)
{
  FmxQueueSense sense = { 0 };
  FmxTime now = feed (&sense, 100 * MS, 0, S);

  (void) state;
  now = feed (&sense, 200 * MS, now, now + S);
  fmx_queue_sense_restart (&sense);
  assert_true (fmx_queue_sense_standing (&sense) == 0);
  assert_true (fmx_queue_sense_recent (&sense) == 0);
  fmx_queue_sense_add (&sense, 160 * MS, 0, 100 * MS, now);
  assert_true (fmx_queue_sense_standing (&sense) == 60 * MS);
  assert_true (fmx_queue_sense_recent (&sense) == 60 * MS);
}

/* A TCP on the reverse path: what was the least leaves its window after two minutes,
 * and what is the least then stands 150 ms higher. */
static void
test_a_queue_that_stays_on_the_reverse_path_is_not_ours (void **state)
{
  FmxQueueSense sense = { 0 };

  (void) state;
  for (FmxTime now = 0; now < 600 * (FmxTime) S; now += 50 * MS) {
    FmxDuration back = now < 30 * (FmxTime) S || now > 400 * (FmxTime) S ? 0
        : 150 * MS + (FmxDuration) (now / (50 * MS) % 40) * 5 * MS;

    fmx_queue_sense_add (&sense, 100 * MS + back, back, 100 * MS, now);
    assert_true (fmx_queue_sense_standing (&sense) <= 1 * MS);
    assert_true (fmx_queue_sense_peak (&sense) <= 1 * MS);
    assert_false (fmx_queue_sense_take_dip (&sense));
  }
}

/* What stands where 100 ms are the least and delays differ by @spread, for long. */
static FmxDuration
standing_of (FmxDuration rtt, FmxDuration spread, FmxDuration packets)
{
  FmxQueueSense sense = { 0 };
  FmxTime now = feed (&sense, 100 * MS, 0, S);

  for (; now < 60 * (FmxTime) S; now += 50 * MS) {
    fmx_queue_sense_add (&sense, rtt, 0, 100 * MS, now);
    fmx_queue_sense_add_spread (&sense, spread, packets, now);
  }
  return fmx_queue_sense_standing (&sense);
}

static void
test_noise_is_no_queue (void **state)
{
  (void) state;
  assert_true (standing_of (120 * MS, 0, 0) == 20 * MS);
  assert_true (standing_of (120 * MS, 20 * MS, 5 * MS) == 0);
  assert_true (standing_of (140 * MS, 20 * MS, 5 * MS) >= 15 * MS);     /* 30 - 5 */
  assert_true (standing_of (140 * MS, 20 * MS, 5 * MS) < 16 * MS);
  assert_true (standing_of (120 * MS, 20 * MS, 30 * MS) == 20 * MS);    /* packets */
  assert_true (standing_of (200 * MS, 90 * MS, 0) == 40 * MS);  /* not all of it */
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_what_stands_is_above_the_least),
    cmocka_unit_test (test_a_burst_does_not_stand),
    cmocka_unit_test (test_no_window_is_shorter_than_some_packets),
    cmocka_unit_test (test_a_peak_is_known_for_half_a_minute),
    cmocka_unit_test (test_a_longer_path_is_one_after_two_minutes),
    cmocka_unit_test (test_finds_each_dip_of_a_saw_tooth),
    cmocka_unit_test (test_what_falls_by_little_is_no_saw_tooth),
    cmocka_unit_test (test_falls_from_a_dip_until_it_turns_up),
    cmocka_unit_test (test_one_packet_more_or_less_is_no_dip),
    cmocka_unit_test (test_the_queue_on_the_reverse_path_is_not_ours),
    cmocka_unit_test (test_a_clock_that_is_set_does_not_shorten_the_path),
    cmocka_unit_test (test_a_clock_that_is_set_twice_hides_no_dip),
    cmocka_unit_test (test_after_a_restart_only_the_present_counts),
    cmocka_unit_test (test_a_queue_that_stays_on_the_reverse_path_is_not_ours),
    cmocka_unit_test (test_noise_is_no_queue),
  };

  return cmocka_run_group_tests_name ("rate/queue-sense", tests, NULL, NULL);
}
