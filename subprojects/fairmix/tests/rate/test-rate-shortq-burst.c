/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What fairmix makes of queues that pass: somebody fetches something now and then */
#include "fmx-test-rate-shortq.h"

#define BPS 400e3

/* A queue of 60 ms shows, and has gone soon after the cut did: of what was sent, @times comes
 * through meanwhile. */
static void
pass (Told * t, double times)
{
  double came_bps = t->fb.latest_bps, rate_bps = t->rc.rate_bps;

  told_until (t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
  while (!t->rc.state.shortq.drain_seen)
    told_for (t, STEP, 60 * MS);
  t->fb.latest_bps = times * rate_bps;
  told_while (t, FMX_RATE_SHORTQ_DRAINING, 0);
  assert_int_equal (told_mode (t), FMX_RATE_SHORTQ_CALM);
  t->fb.latest_bps = came_bps;
}

/* It has been calm for long, and has no more than that. */
static Told
told_at_rest (void)
{
  Told t = told_calm (BPS);

  told_limit (&t, BPS);
  told_for (&t, 3 * S, 0);
  assert_bps (&t, BPS);
  return t;
}

/* What waited behind somebody's packets comes at once when those have gone; what waited
 * behind our own comes as before, however soon the rest has gone. */
static void
test_a_queue_that_others_leave_takes_nothing (void **state)
{
  Told theirs = told_at_rest (), ours = told_at_rest ();

  (void) state;
  pass (&theirs, 1.5);
  assert_bps (&theirs, BPS);
  pass (&ours, 1.0);
  assert_bps (&ours, 0.8 * BPS);
}

/* One that falls as our cut lets it is our own, however fast the rest comes. */
static void
test_a_queue_that_falls_slowly_is_our_own (void **state)
{
  Told t = told_at_rest ();

  (void) state;
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
  t.fb.latest_bps = 1.5 * BPS;
  for (FmxDuration queue = 60 * MS; told_mode (&t) == FMX_RATE_SHORTQ_DRAINING;
      told_for (&t, STEP, queue))
    queue -= queue > 10 * MS ? 10 * MS : queue;
  assert_bps (&t, 0.8 * BPS);
}

/* Of others who start at the same time, too, the packets are gone when they give way. */
static void
test_who_starts_takes_nothing_back (void **state)
{
  Told t = told_begin (BPS);

  (void) state;
  told_for (&t, STEP, 0);
  pass (&t, 1.5);
  assert_true (t.rc.rate_bps < 0.9 * BPS);
}

/* After @n bursts far less comes through than is sent.  Returns: what remains of the rate */
static double
remains_after (unsigned n)
{
  Told t = told_at_rest ();

  for (; n > 0; n--, told_for (&t, 2 * S, 0))
    pass (&t, 1.5);
  t.fb.latest_bps = 0.2 * BPS;
  t.fb.row_bps = BPS;           /* somebody else is there */
  told_for (&t, STEP, 100 * MS);
  return t.rc.rate_bps / BPS;
}

static void
test_for_one_of_several_the_rate_falls_less (void **state)
{
  (void) state;
  assert_true (remains_after (0) < 0.2);
  assert_true (remains_after (1) < 0.2);
  assert_float_equal (remains_after (2), 0.7, 1e-6);
}

/* Where two have passed, what is empty is not left to anybody: all but a tenth of the path,
 * if that is known. */
static void
test_between_bursts_the_path_is_taken (void **state)
{
  (void) state;
  for (unsigned known = 0; known < 2; known++) {
    Told t = told_at_rest ();

    pass (&t, 1.5);
    pass (&t, 1.5);
    t.fb.path_bps = known ? 2.0 * BPS : 0.0;
    told_limit (&t, 20.0 * BPS);
    told_for (&t, 4 * S, 0);
    if (known)
      assert_in_range (t.rc.rate_bps, 0.9 * 2.0 * BPS, 1.3 * 0.9 * 2.0 * BPS);
    else
      assert_true (t.rc.rate_bps > 8.0 * BPS);
  }
}

/* ... but by steps, where one of two was our own, or the last was long ago. */
static void
test_a_queue_of_our_own_is_no_burst (void **state)
{
  (void) state;
  for (unsigned own = 0; own < 2; own++) {
    Told t = told_at_rest ();

    pass (&t, 1.5);
    pass (&t, 1.5);
    if (own)
      pass (&t, 1.0);
    else
      told_for (&t, 31 * S, 0);
    told_limit (&t, 20.0 * BPS);
    told_for (&t, 2 * S, 0);
    assert_true (t.rc.rate_bps < 1.5 * BPS);
  }
}

/* However many have passed, some queues of our own tell that it is over. */
static void
test_many_bursts_are_soon_forgotten (void **state)
{
  Told t = told_at_rest ();
  double bps;

  (void) state;
  for (unsigned i = 0; i < 100; i++)
    pass (&t, 1.5);
  for (unsigned i = 0; i < 7; i++)
    pass (&t, 1.0);
  bps = t.rc.rate_bps;
  told_for (&t, 2 * S, 0);
  assert_true (t.rc.rate_bps < 1.5 * bps);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_queue_that_others_leave_takes_nothing),
    cmocka_unit_test (test_a_queue_that_falls_slowly_is_our_own),
    cmocka_unit_test (test_who_starts_takes_nothing_back),
    cmocka_unit_test (test_for_one_of_several_the_rate_falls_less),
    cmocka_unit_test (test_between_bursts_the_path_is_taken),
    cmocka_unit_test (test_a_queue_of_our_own_is_no_burst),
    cmocka_unit_test (test_many_bursts_are_soon_forgotten),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
