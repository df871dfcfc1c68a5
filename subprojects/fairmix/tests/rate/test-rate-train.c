/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Padding that tells whether a path has become wider */
#include "fairmix/rate/fmx-rate-train.h"
#include "fmx-test-rate.h"

#define RTT (80 * MS)

typedef struct
{
  FmxRateTrain train;
  FmxTime now;
  double link_bps;
  double bucket_bytes;          /* pass at once after each pause */
  double bytes;                 /* sent so far */
  unsigned n;                   /* trains */
} Path;

static Path
begin (double link_bps)
{
  Path path = { .link_bps = link_bps };

  fmx_rate_train_init (&path.train, 0);
  return path;
}

/* All that is due leaves, and passes the link, whose clock ticks each 1/1024 s. */
static void
send (Path *path, bool lose)
{
  const FmxDuration tick = S / 1024;
  double at_once = path->bucket_bytes;
  FmxTime passed = path->now, sent = path->now;
  uint32_t bytes;

  for (path->n++; (bytes = fmx_rate_train_take (&path->train, sent)) > 0;
      sent += 10000) {
    path->bytes += bytes;
    if ((at_once -= bytes) < 0.0)
      passed += (FmxTime) fmx_time_from_s (8.0 * fmin (bytes, -at_once)
          / path->link_bps);
    assert_true (fmx_rate_train_has (&path->train, sent));
    if (!lose || fmx_rate_train_is_due (&path->train))
      fmx_rate_train_came (&path->train, passed / (FmxTime) tick
          * (FmxTime) tick);
  }
  assert_false (fmx_rate_train_has (&path->train, sent));
  path->now = passed + (FmxTime) RTT;
  fmx_rate_train_end (&path->train, sent);
}

/* @bps are sent for @time. */
static void
ask (Path *path, double bps, FmxDuration time, bool lose)
{
  for (FmxTime end = path->now + (FmxTime) time; path->now < end;
      path->now += 20 * (FmxTime) MS) {
    fmx_rate_train_ask (&path->train, bps, RTT, path->now);
    if (path->now >= fmx_rate_train_next (&path->train))
      send (path, lose);
  }
}

/* Until trains tell that the path has become wider, in less than @most */
static void
ask_until_it_widens (Path *path, double bps, FmxDuration most)
{
  FmxTime since = path->now;

  while (path->train.widened <= 1.0) {
    ask (path, bps, 20 * MS, false);
    assert_true (fmx_time_diff (path->now, since) < most);
  }
}

static void
test_two_trains_tell_that_a_path_is_twice_as_wide (void **state)
{
  static const double rates[] = { 120e3, 500e3, 1e6, 3e6, 4e6, 10e6 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rates); i++) {
    Path path = begin (rates[i]);

    ask (&path, rates[i], 5 * S, false);
    assert_true (fmx_rate_train_take_widened (&path.train) <= 1.0);
    path.link_bps *= 2.0;
    ask_until_it_widens (&path, rates[i], S);
    assert_true (fabs (fmx_rate_train_take_widened (&path.train) - 2.0) < 0.4);
    ask (&path, 2.0 * rates[i], 20 * S, false);
    assert_true (fmx_rate_train_take_widened (&path.train) <= 1.0);
  }
}

/* Two that say 1.37 times as much say 1.25 now and then: four are sure, and of a tenth more,
 * which is a step of the clock, nothing is. */
static void
test_four_trains_tell_that_a_path_is_a_little_wider (void **state)
{
  static const double rates[] = { 500e3, 1e6, 2e6 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rates); i++) {
    Path path = begin (rates[i]);

    ask (&path, rates[i], 8 * S, false);
    path.link_bps *= 1.1;
    ask (&path, rates[i], 60 * S, false);
    assert_true (fmx_rate_train_take_widened (&path.train) <= 1.0);
    path.link_bps *= 1.3;
    ask_until_it_widens (&path, rates[i], 4 * S);
    assert_true (fabs (fmx_rate_train_take_widened (&path.train) - 1.3) < 0.2);
    ask (&path, rates[i], 20 * S, false);
    assert_true (fmx_rate_train_take_widened (&path.train) <= 1.0);
  }
}

/* Returns: bits in each of the trains of the next @time */
static double
bits_in_each (Path * path, FmxDuration time)
{
  double bytes = path->bytes;
  unsigned n = path->n;

  ask (path, 120e3, time, false);
  return 8.0 * (path->bytes - bytes) / (path->n - n);
}

/* 12 ms at 120 kbit/s are 5 at what it may be now, five steps of the clock. */
static void
test_trains_are_longer_for_a_while_where_the_path_has_widened (void **state)
{
  Path path = begin (120e3);

  (void) state;
  assert_true (bits_in_each (&path, 5 * S) < 2400.0);
  path.link_bps = 260e3;
  ask_until_it_widens (&path, 120e3, 2 * S);
  assert_true (bits_in_each (&path, 9 * S) > 3500.0);
  ask (&path, 120e3, S, false);
  assert_true (bits_in_each (&path, 5 * S) < 2400.0);
}

static void
test_one_train_alone_tells_nothing (void **state)
{
  Path path = begin (500e3);

  (void) state;
  for (unsigned i = 0; i < 10; i++) {
    unsigned n = path.n;

    path.link_bps = 500e3;
    ask (&path, 500e3, 3 * S, false);
    path.link_bps = 1.5e6;
    for (n = path.n; path.n == n;)
      ask (&path, 500e3, 20 * MS, false);
  }
  assert_true (fmx_rate_train_take_widened (&path.train) <= 1.0);
}

/* A shaper that was not used to the full lets two trains of three pass at once. */
static void
test_trains_of_a_token_bucket_tell_nothing (void **state)
{
  static const double speeds[] = { 1.0, 100.0, 2.2, 2.2 };
  Path path = begin (250e3);

  (void) state;
  ask (&path, 250e3, 10 * S, false);
  for (unsigned i = 0; i < 80; i++) {
    unsigned n = path.n;

    path.link_bps = speeds[i % N_ELEMENTS (speeds)] * 250e3;
    while (path.n == n)
      ask (&path, 250e3, 20 * MS, false);
    assert_true (fmx_rate_train_take_widened (&path.train) <= 1.0);
  }
  /* and no more of them than otherwise */
  assert_true (path.now > 40 * (FmxTime) S);
}

/* What a bucket lets pass is half of a short train, and a quarter of a long one. */
static void
test_a_short_train_behind_a_bucket_is_no_wider_path (void **state)
{
  Path path = begin (3.5e6);

  (void) state;
  path.bucket_bytes = 1500.0;
  ask (&path, 3.6e6, 10 * S, false);
  assert_true (fmx_rate_train_bps (&path.train) > 0.0);
  ask (&path, 3.4e6, S, false);
  assert_true (fmx_rate_train_bps (&path.train) <= 0.0);
  ask (&path, 3.4e6, 10 * S, false);
  assert_true (fmx_rate_train_bps (&path.train) > 1.3 * 3.6e6);
  assert_true (fmx_rate_train_take_widened (&path.train) <= 1.0);
}

static void
test_a_train_that_took_no_time_is_remembered_for_a_while (void **state)
{
  Path path = begin (500e3);

  (void) state;
  ask (&path, 500e3, 5 * S, false);
  assert_false (fmx_rate_train_passes_bursts (&path.train, path.now));
  path.bucket_bytes = 5000.0;
  ask (&path, 500e3, 5 * S, false);
  path.bucket_bytes = 0.0;
  ask (&path, 500e3, 15 * S, false);
  assert_true (fmx_rate_train_passes_bursts (&path.train, path.now));
  ask (&path, 500e3, 10 * S, false);
  assert_false (fmx_rate_train_passes_bursts (&path.train, path.now));
}

static void
test_a_train_that_lost_a_packet_tells_nothing (void **state)
{
  Path path = begin (500e3);

  (void) state;
  ask (&path, 500e3, 5 * S, false);
  path.link_bps = 2e6;
  ask (&path, 500e3, 10 * S, true);
  assert_true (path.n > 5);
  assert_true (fmx_rate_train_take_widened (&path.train) <= 1.0);
}

static void
test_trains_are_three_percent_of_what_is_sent (void **state)
{
  static const double rates[] = { 120e3, 500e3, 1e6, 3e6, 4e6, 10e6 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rates); i++) {
    Path path = begin (rates[i]);

    ask (&path, rates[i], 100 * S, false);
    assert_true (8.0 * path.bytes < 0.031 * 100.0 * rates[i]);
    assert_true (path.n > 100);
  }
}

static void
test_a_link_that_is_too_fast_for_the_clock_is_not_known (void **state)
{
  Path path = begin (3e6);

  (void) state;
  ask (&path, 3e6, 10 * S, false);
  assert_true (fmx_rate_train_bps (&path.train) > 0.0);
  path.link_bps = 12e6;
  path.n = 0;
  ask (&path, 12e6, 10 * S, false);
  assert_int_equal (path.n, 0);
  assert_true (fmx_rate_train_bps (&path.train) <= 0.0);
}

static void
test_who_does_not_ask_gets_none (void **state)
{
  Path path = begin (500e3);

  (void) state;
  ask (&path, 0.0, 10 * S, false);
  assert_int_equal (path.n, 0);
  assert_true (fmx_rate_train_next (&path.train) == FMX_TIME_NONE);
}

/* Others fill the queue: trains are to tell what the path carries, for @time. */
static void
look (Path *path, double guess_bps, double rate_bps, FmxDuration time, bool lose)
{
  for (FmxTime end = path->now + (FmxTime) time; path->now < end;
      path->now += 20 * (FmxTime) MS + 1237) {
    fmx_rate_train_look (&path->train, guess_bps, rate_bps, RTT, path->now);
    if (path->now >= fmx_rate_train_next (&path->train))
      send (path, lose);
  }
}

static void
test_trains_tell_what_a_path_carries_that_others_fill (void **state)
{
  static const double links[] = { 100e3, 500e3, 2e6, 5e6, 10e6 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (links); i++) {
    Path path = begin (links[i]);
    double rate_bps = links[i] / 10.0;

    assert_true (fmx_rate_train_path_bps (&path.train, path.now) <= 0.0);
    look (&path, 2.0 * rate_bps, rate_bps, 60 * S, false);
    assert_true (8.0 * path.bytes < 0.11 * 60.0 * rate_bps);
    look (&path, 2.0 * rate_bps, rate_bps, 60 * S, false);
    assert_true (fabs (fmx_rate_train_path_bps (&path.train, path.now)
            / links[i] - 1.0) < 0.15);
    /* that says nothing of a path that is one's own */
    assert_true (fmx_rate_train_bps (&path.train) <= 0.0);
    assert_true (fmx_rate_train_path_bps (&path.train, path.now
            + 31 * (FmxTime) S) <= 0.0);
  }
}

/* Each of the first ones is over within a step of the clock. */
static void
test_trains_of_who_has_next_to_nothing_tell_of_a_wide_path (void **state)
{
  Path path = begin (10e6);

  (void) state;
  look (&path, 200e3, 100e3, 60 * S, false);
  assert_true (fabs (fmx_rate_train_path_bps (&path.train, path.now) / 10e6
          - 1.0) < 0.15);
}

/* Nobody fills it, and a shaper lets two thirds of a train pass at once. */
static void
test_what_passes_in_a_small_bucket_is_not_what_a_path_carries (void **state)
{
  static const double links[] = { 300e3, 635e3, 900e3 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (links); i++) {
    Path path = begin (links[i]);

    path.bucket_bytes = 1600.0;
    look (&path, 2e6, 300e3, 60 * S, false);
    assert_true (fabs (fmx_rate_train_path_bps (&path.train, path.now)
            / links[i] - 1.0) < 0.15);
    path.bucket_bytes = 0.0;    /* some looked while it was full, and some not */
    look (&path, 2e6, 300e3, 8 * S, false);
    assert_true (fabs (fmx_rate_train_path_bps (&path.train, path.now)
            / links[i] - 1.0) < 0.15);
  }
}

static void
test_a_path_that_others_fill_is_not_known_by_trains_that_lost (void **state)
{
  Path path = begin (500e3);

  (void) state;
  /* after 1, 2, 4, 8, 16, 16 ... s: ten packets may be more than the queue takes */
  look (&path, 100e3, 100e3, 300 * S, true);
  assert_in_range (path.n, 20, 22);
  assert_true (fmx_rate_train_path_bps (&path.train, path.now) <= 0.0);
}

static void
assert_may_check_after (const Path *path, FmxDuration since)
{
  FmxTime due = path->train.look_begun + (FmxTime) since;

  assert_false (fmx_rate_train_may_check (&path->train, due));
  assert_true (fmx_rate_train_may_check (&path->train, due + 1));
}

static void
test_who_checks_a_path_leaves_time_for_other_trains (void **state)
{
  Path path = begin (5e6);

  (void) state;
  path.now = 10 * (FmxTime) S;
  assert_true (fmx_rate_train_may_check (&path.train, path.now));
  look (&path, 1e6, 1e6, 100 * MS, false);
  assert_int_equal (path.n, 1);
  assert_may_check_after (&path, 2 * S);        /* four tell what it carries */
  look (&path, 1e6, 1e6, 5 * S, false);
  assert_true (fmx_rate_train_path_bps (&path.train, path.now) > 0.0);
  assert_may_check_after (&path, 4 * S);
}

/* It has become narrow: the next train is no longer than one of those who know nothing. */
static void
test_a_path_that_is_forgotten_is_not_known (void **state)
{
  Path path = begin (10e6);
  uint64_t before;

  (void) state;
  look (&path, 200e3, 1e6, 60 * S, false);
  assert_true (fmx_rate_train_path_bps (&path.train, path.now) > 8e6);
  fmx_rate_train_forget_path (&path.train);
  assert_true (fmx_rate_train_path_bps (&path.train, path.now) <= 0.0);
  before = path.bytes;
  path.now += 10 * (FmxTime) S;
  look (&path, 200e3, 1e6, 100 * MS, false);
  assert_in_range (path.bytes - before, 1, 400);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_two_trains_tell_that_a_path_is_twice_as_wide),
    cmocka_unit_test
        (test_trains_are_longer_for_a_while_where_the_path_has_widened),
    cmocka_unit_test (test_four_trains_tell_that_a_path_is_a_little_wider),
    cmocka_unit_test (test_one_train_alone_tells_nothing),
    cmocka_unit_test (test_trains_of_a_token_bucket_tell_nothing),
    cmocka_unit_test (test_a_short_train_behind_a_bucket_is_no_wider_path),
    cmocka_unit_test (test_a_train_that_took_no_time_is_remembered_for_a_while),
    cmocka_unit_test (test_a_train_that_lost_a_packet_tells_nothing),
    cmocka_unit_test (test_trains_are_three_percent_of_what_is_sent),
    cmocka_unit_test (test_a_link_that_is_too_fast_for_the_clock_is_not_known),
    cmocka_unit_test (test_who_does_not_ask_gets_none),
    cmocka_unit_test (test_trains_tell_what_a_path_carries_that_others_fill),
    cmocka_unit_test
        (test_trains_of_who_has_next_to_nothing_tell_of_a_wide_path),
    cmocka_unit_test
        (test_what_passes_in_a_small_bucket_is_not_what_a_path_carries),
    cmocka_unit_test (test_a_path_that_others_fill_is_not_known_by_trains_that_lost),
    cmocka_unit_test (test_who_checks_a_path_leaves_time_for_other_trains),
    cmocka_unit_test (test_a_path_that_is_forgotten_is_not_known),
  };

  return cmocka_run_group_tests_name ("rate/rate-train", tests, NULL, NULL);
}
