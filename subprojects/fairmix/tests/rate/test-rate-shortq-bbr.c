/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How shortq knows BBRs, and what it has beside them */
#include "fmx-test-rate-shortq.h"

/* Competing on a path of 1 Mbit/s with BBRs, which let the queue run empty each ten
 * seconds, @n times */
static Told
told_bbr (unsigned n)
{
  Told t = told_calm (100e3);

  t.fb.path_bps = 1e6;
  told_until (&t, FMX_RATE_SHORTQ_COMPETING, 200 * MS);
  for (; n > 0; n--) {
    /* they lose much, and so do we */
    for (unsigned i = 0; i < 18; i++) {
      t.fb.new_loss_event = true;
      told_for (&t, 540 * MS, 200 * MS);
    }
    told_for (&t, 700 * MS, 0);
  }
  told_for (&t, 5 * S, 200 * MS);
  return t;
}

static void
test_beside_bbr_it_has_its_part_of_the_path (void **state)
{
  Told t = told_bbr (2);

  (void) state;
  assert_true (t.rc.rate_bps < 0.3e6);
  t = told_bbr (4);
  assert_near (t.rc.rate_bps, 0.36e6);
  /* a pause of theirs is none to make use of */
  told_for (&t, 1500 * MS, 0);
  assert_near (t.rc.rate_bps, 0.36e6);
}

/* A queue of few packets passes no train whole.  Then it has what losses leave to a TCP. */
static void
test_beside_bbr_on_an_unknown_path_the_equation_holds (void **state)
{
  Told t = told_bbr (4);

  (void) state;
  t.fb.path_bps = 0.0;
  t.fb.loss_event_rate = told_loss (300e3, 300 * MS);
  t.fb.equation_bps = 300e3;
  told_for (&t, 5 * S, 200 * MS);
  assert_near (t.rc.rate_bps, 300e3);
  t.fb.loss_event_rate = told_loss (200e3, 300 * MS);
  t.fb.equation_bps = 200e3;
  told_for (&t, 5 * S, 200 * MS);
  assert_near (t.rc.rate_bps, 200e3);
}

static void
test_who_has_little_beside_bbr_competes_at_once (void **state)
{
  Told t = told_bbr (4);

  (void) state;
  told_while (&t, FMX_RATE_SHORTQ_COMPETING, 0);
  told_limit (&t, 200e3);
  told_for (&t, S, 0);
  for (FmxTime end = t.now + 5 * (FmxTime) S;
      told_mode (&t) != FMX_RATE_SHORTQ_COMPETING; told_for (&t, STEP, 200 * MS)) {
    assert_true (t.now < end);
    assert_int_not_equal (told_mode (&t), FMX_RATE_SHORTQ_DRAINING);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_beside_bbr_it_has_its_part_of_the_path),
    cmocka_unit_test
        (test_beside_bbr_on_an_unknown_path_the_equation_holds),
    cmocka_unit_test (test_who_has_little_beside_bbr_competes_at_once),
  };

  return cmocka_run_group_tests_name ("rate/rate-shortq-bbr", tests, NULL, NULL);
}
