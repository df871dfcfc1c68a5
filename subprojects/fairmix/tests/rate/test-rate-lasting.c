/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-rate.h"

#include <math.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/rate/fmx-rate-lasting.h"

static FmxRateLasting lasting;

static double
after (double bps, double seconds)
{
  fmx_rate_lasting_on_rate (&lasting, bps, (FmxTime) (seconds * S));
  return fmx_rate_lasting_bps (&lasting);
}

/* A rate of @bps, told each 100 ms; returns how often what lasts rose meanwhile. */
static unsigned
hold (double bps, double from, double until)
{
  unsigned n = 0;

  for (double t = from; t < until; t += 0.1) {
    double before = lasting.lasts_bps;

    n += after (bps, t) > before;
  }
  return n;
}

/* Falls to @low_bps for 2 s of each @period */
static unsigned
saw (double bps, double low_bps, double period, double from, double until)
{
  unsigned n = 0;

  for (double t = from; t < until; t += period) {
    n += hold (low_bps, t, t + 2.0);
    n += hold (bps, t + 2.0, t + period);
  }
  return n;
}

static void
test_a_rate_that_never_fell_lasts (void **state)
{
  (void) state;
  fmx_rate_lasting_init (&lasting, 0);
  for (unsigned i = 1; i < 100; i++)
    assert_float_equal (after (10e3 * i, 0.1 * i), 10e3 * i, 1.0);
}

static void
test_it_falls_at_once_and_not_for_the_headroom (void **state)
{
  (void) state;
  fmx_rate_lasting_init (&lasting, 0);
  (void) after (400e3, 1.0);
  assert_float_equal (after (384e3, 2.0), 384e3, 1.0);
  assert_float_equal (after (400e3, 3.0), 400e3, 1.0);
  assert_float_equal (after (376e3, 4.0), 376e3, 1.0);
  assert_float_equal (after (400e3, 4.5), 376e3, 1.0);
  assert_float_equal (after (100e3, 5.0), 100e3, 1.0);
}

static void
test_after_one_fall_it_is_soon_what_it_was (void **state)
{
  (void) state;
  fmx_rate_lasting_init (&lasting, 0);
  assert_int_equal (hold (400e3, 0.0, 30.0), 1);
  (void) after (200e3, 30.0);
  assert_int_equal (hold (400e3, 30.5, 35.9), 0);
  assert_float_equal (fmx_rate_lasting_bps (&lasting), 200e3, 1.0);
  assert_int_equal (hold (400e3, 36.0, 40.0), 1);
  assert_float_equal (fmx_rate_lasting_bps (&lasting), 400e3, 1.0);
}

/* Two may be worth while; a rate that falls each 20 s is what it falls to. */
static void
test_what_it_often_falls_from_does_not_last (void **state)
{
  (void) state;
  fmx_rate_lasting_init (&lasting, 0);
  (void) hold (400e3, 0.0, 10.0);
  (void) saw (400e3, 250e3, 20.0, 10.0, 110.0);
  assert_int_equal (saw (400e3, 250e3, 20.0, 110.0, 310.0), 0);
  assert_float_equal (fmx_rate_lasting_bps (&lasting), 250e3, 1.0);
  fmx_rate_lasting_init (&lasting, 0);
  (void) hold (400e3, 0.0, 10.0);
  (void) saw (400e3, 250e3, 60.0, 10.0, 310.0);
  assert_float_equal (fmx_rate_lasting_bps (&lasting), 400e3, 1.0);
}

/* Who has to wait for 40 s hears within 6 of a path that carries twice as much. */
static void
test_a_path_that_became_wider_is_not_waited_for (void **state)
{
  (void) state;
  for (unsigned wider = 0; wider < 2; wider++) {
    fmx_rate_lasting_init (&lasting, 0);
    (void) hold (400e3, 0.0, 1.0);
    (void) hold (100e3, 1.0, 10.0);
    (void) hold (120e3, 10.0, 20.0);
    (void) hold (150e3, 20.0, 40.0);
    assert_int_equal (hold (180e3, 40.0, 70.0), 1);
    (void) after (360e3, 70.0);
    if (wider)
      fmx_rate_lasting_on_wider (&lasting, (FmxTime) (70 * S));
    assert_int_equal (hold (360e3, 70.1, 76.1), wider);
    assert_float_equal (fmx_rate_lasting_bps (&lasting), wider ? 360e3 : 180e3,
        1.0);
  }
}

/* A path that is found wider step by step would be waited for at each step. */
static void
test_who_finds_more_room_while_he_waits_waits_once (void **state)
{
  (void) state;
  fmx_rate_lasting_init (&lasting, 0);
  (void) hold (400e3, 0.0, 1.0);
  (void) hold (100e3, 1.0, 10.0);
  assert_int_equal (hold (120e3, 10.0, 20.0), 1);
  (void) after (200e3, 25.0);
  fmx_rate_lasting_on_wider (&lasting, (FmxTime) (25 * S));
  (void) hold (200e3, 25.1, 28.0);
  (void) after (350e3, 28.0);
  fmx_rate_lasting_on_wider (&lasting, (FmxTime) (28 * S));
  assert_int_equal (hold (350e3, 28.1, 31.5), 1);
  assert_float_equal (fmx_rate_lasting_bps (&lasting), 200e3, 1.0);
}

/* Whatever the rate does: 5 + 10 + 20 + 40 s in the first 100, then each 40 s. */
static void
test_it_rises_no_more_than_three_times_in_100_s (void **state)
{
  FmxRng rng;
  unsigned n = 0;
  double fell = 0.0;

  (void) state;
  fmx_rng_init (&rng, 7);
  fmx_rate_lasting_init (&lasting, 0);
  (void) hold (400e3, 0.0, 1.0);
  (void) hold (100e3, 1.0, 2.0);
  (void) hold (200e3, 2.0, 100.0);
  for (double t = 100.0; t < 1100.0; t += 10.0) {
    n += hold (100e3 * (1.0 + 9.0 * fmx_rng_next_unit (&rng)), t, t + 10.0);
    fell += fmx_rate_lasting_bps (&lasting) < 150e3;
  }
  assert_in_range (n, 5, 27);
  assert_true (fell < 100.0);
}

static void
test_the_first_rises_are_soon (void **state)
{
  double rose[5] = { 0 };
  unsigned n = 0;

  (void) state;
  fmx_rate_lasting_init (&lasting, 0);
  (void) after (400e3, 0.0);
  (void) after (100e3, 1.0);
  for (double t = 1.0; n < N_ELEMENTS (rose) && t < 200.0; t += 0.1)
    if (hold (100e3 * pow (1.02, t), t, t + 0.05) > 0)
      rose[n++] = t;
  assert_true (rose[0] < 12.0);
  assert_float_equal (rose[1] - rose[0], 10.0, 2.1);
  assert_float_equal (rose[2] - rose[1], 20.0, 2.1);
  assert_float_equal (rose[3] - rose[2], 40.0, 2.1);
  assert_float_equal (rose[4] - rose[3], 40.0, 2.1);
  (void) hold (2e6, 200.0, 400.0);
  (void) hold (3e6, 400.0, 407.0);
  assert_true (lasting.wait == 5 * S);
}

/* ... the second of two that come soon after each other was one, as was what comes back
 * later, in steps, or not as a whole. */
static void
test_a_fall_that_is_taken_back_was_none (void **state)
{
  static const struct
  {
    double between_bps, back_bps, after_s;
    bool lasts;
  } falls[] = {
    {40e3, 1000e3, 0.07, true},
    {40e3, 1000e3, 0.4, false},
    {40e3, 500e3, 0.07, false},
    {600e3, 1000e3, 0.07, false},
  };

  (void) state;
  for (unsigned i = 0; i < N_ELEMENTS (falls); i++)
    for (unsigned fallen = 0; fallen < 2; fallen++) {
      double t = 29.99;         /* the next part begins at 30 */

      fmx_rate_lasting_init (&lasting, 0);
      if (fallen)
        (void) hold (300e3, 0.0, 1.0), (void) after (200e3, 1.0);
      (void) hold (1000e3, 2.0, t);
      assert_float_equal (fmx_rate_lasting_bps (&lasting), 1000e3, 1.0);
      (void) after (falls[i].between_bps, t);
      assert_float_equal (fmx_rate_lasting_bps (&lasting),
          falls[i].between_bps, 1.0);
      (void) after (falls[i].back_bps, t += falls[i].after_s);
      assert_int_equal (fmx_rate_lasting_bps (&lasting) == 1000e3,
          falls[i].lasts);
      (void) after (falls[i].between_bps, t + 10.0);
      assert_float_equal (after (1000e3, t + 10.05), falls[i].between_bps, 1.0);
    }
}

static void
test_silence_is_no_fall (void **state)
{
  (void) state;
  fmx_rate_lasting_init (&lasting, 0);
  (void) after (400e3, 1.0);
  (void) after (0.0, 2.0);
  assert_float_equal (after (400e3, 3.0), 400e3, 1.0);
}

static void
test_long_ago_is_forgotten_at_once (void **state)
{
  (void) state;
  fmx_rate_lasting_init (&lasting, 0);
  (void) hold (400e3, 0.0, 10.0);
  (void) saw (400e3, 250e3, 20.0, 10.0, 110.0);
  (void) after (380e3, 110.0);
  assert_float_equal (after (400e3, 1e6), 380e3, 1.0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_rate_that_never_fell_lasts),
    cmocka_unit_test (test_it_falls_at_once_and_not_for_the_headroom),
    cmocka_unit_test (test_after_one_fall_it_is_soon_what_it_was),
    cmocka_unit_test (test_what_it_often_falls_from_does_not_last),
    cmocka_unit_test (test_a_path_that_became_wider_is_not_waited_for),
    cmocka_unit_test (test_who_finds_more_room_while_he_waits_waits_once),
    cmocka_unit_test (test_it_rises_no_more_than_three_times_in_100_s),
    cmocka_unit_test (test_the_first_rises_are_soon),
    cmocka_unit_test (test_a_fall_that_is_taken_back_was_none),
    cmocka_unit_test (test_silence_is_no_fall),
    cmocka_unit_test (test_long_ago_is_forgotten_at_once),
  };

  return cmocka_run_group_tests_name ("rate/rate-lasting", tests, NULL, NULL);
}
