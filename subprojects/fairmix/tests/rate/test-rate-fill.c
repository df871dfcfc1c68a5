/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-rate.h"

#include "fairmix/rate/fmx-rate-fill.h"

static FmxRateFill fill;

static void
begin (double rate_bps, double wanted_bps)
{
  fmx_rate_fill_init (&fill, 0);
  fmx_rate_fill_on_rate (&fill, rate_bps, 0);
  fmx_rate_fill_set_wanted (&fill, wanted_bps, 0);
}

/* Bits of padding in [@from, @until); media of @media_bps leaves, too. */
static double
padding_bits (FmxTime from, FmxTime until, double media_bps)
{
  double bits = 0.0;

  for (FmxTime now = from; now < until; now += (FmxTime) MS) {
    if (media_bps > 0.0 && now % (FmxTime) (20 * MS) == 0)
      fmx_rate_fill_on_sent (&fill, (uint32_t) (media_bps * 0.02 / 8.0), now);
    if (now < fmx_rate_fill_next (&fill))
      continue;
    fmx_rate_fill_on_padding (&fill, now);
    bits += 8.0 * FMX_RATE_FILL_BYTES;
  }
  return bits;
}

static void
test_it_makes_up_what_media_does_not_take (void **state)
{
  (void) state;
  begin (200e3, 400e3);
  assert_float_equal (padding_bits (0, 3 * (FmxTime) S, 0.0), 600e3, 30e3);
  begin (200e3, 400e3);
  assert_float_equal (padding_bits (0, 3 * (FmxTime) S, 120e3), 240e3, 30e3);
  begin (200e3, 400e3);
  assert_true (padding_bits (0, 3 * (FmxTime) S, 220e3) < 5e3);
}

/* 2250 bytes of many voices at once, each 20 ms: four times what was remembered of
 * them, and the rest came as padding beyond the rate. */
static void
test_padding_does_not_come_on_top_of_many_voices_in_step (void **state)
{
  (void) state;
  begin (1e6, 2e6);
  assert_float_equal (padding_bits (0, 3 * (FmxTime) S, 900e3), 300e3, 30e3);
}

static void
test_without_a_wish_or_a_rate_nothing_is_due (void **state)
{
  (void) state;
  begin (200e3, 0.0);
  assert_true (fmx_rate_fill_next (&fill) == FMX_TIME_NONE);
  begin (200e3, 200e3);
  assert_true (fmx_rate_fill_next (&fill) == FMX_TIME_NONE);
  begin (0.0, 200e3);
  assert_true (fmx_rate_fill_next (&fill) == FMX_TIME_NONE);
}

/* When padding comes again after each of the next rounds that bring nothing, in s */
static void
test_pauses_become_longer_and_a_fall_begins_one_at_once (void **state)
{
  static const unsigned pauses_s[] = { 10, 20, 40, 40 };
  FmxTime now = 0;

  (void) state;
  begin (200e3, 400e3);
  for (size_t i = 0; i < N_ELEMENTS (pauses_s); i++) {
    now += i % 2 == 0 ? 5 * (FmxTime) S : (FmxTime) S;
    fmx_rate_fill_on_rate (&fill, i % 2 == 0 ? 200e3 : 190e3, now);
    assert_true (fmx_rate_fill_next (&fill) == now + pauses_s[i]
        * (FmxTime) S);
    now += pauses_s[i] * (FmxTime) S;
    fmx_rate_fill_on_rate (&fill, 200e3, now);
    assert_true (fmx_rate_fill_next (&fill) < now + (FmxTime) S);
  }
}

/* What is not sent somebody else has. */
static void
test_beside_others_there_is_no_pause (void **state)
{
  double bits = 0.0;

  (void) state;
  begin (200e3, 400e3);
  for (FmxTime now = 0; now < 30 * (FmxTime) S; now += (FmxTime) S) {
    fmx_rate_fill_on_rate (&fill, 200e3, now);
    fmx_rate_fill_go_on (&fill, now);
    bits += padding_bits (now, now + (FmxTime) S, 0.0);
  }
  assert_float_equal (bits, 30.0 * 200e3, 300e3);
}

static void
test_a_rate_that_grows_by_itself_ends_a_pause (void **state)
{
  (void) state;
  begin (200e3, 400e3);
  fmx_rate_fill_on_rate (&fill, 200e3, 5 * (FmxTime) S);
  fmx_rate_fill_on_rate (&fill, 240e3, 6 * (FmxTime) S);
  assert_true (fmx_rate_fill_next (&fill) == 15 * (FmxTime) S);
  fmx_rate_fill_on_rate (&fill, 260e3, 7 * (FmxTime) S);
  assert_true (fmx_rate_fill_next (&fill) < 8 * (FmxTime) S);
}

static void
test_what_streams_wait_for_is_made_up_all_the_time (void **state)
{
  FmxTime now = 4 * (FmxTime) S;

  (void) state;
  begin (200e3, 150e3);
  assert_true (padding_bits (0, now, 120e3) < 1.0);
  fmx_rate_fill_set_gap (&fill, 150e3, now);
  assert_float_equal (padding_bits (now, now + 10 * (FmxTime) S, 120e3), 800e3,
      40e3);
  now += 10 * (FmxTime) S;
  fmx_rate_fill_set_gap (&fill, 0.0, now);
  assert_true (fmx_rate_fill_next (&fill) == FMX_TIME_NONE);
  fmx_rate_fill_set_wanted (&fill, 0.0, now);
  fmx_rate_fill_set_gap (&fill, 150e3, now);
  assert_true (fmx_rate_fill_next (&fill) == FMX_TIME_NONE);
}

/* Half of what lasts is not used: streams do not wait for that. */
static void
test_who_is_nearly_silent_waits_for_nothing (void **state)
{
  FmxTime now = 20 * (FmxTime) S;

  (void) state;
  begin (200e3, 150e3);
  fmx_rate_fill_set_gap (&fill, 150e3, 0);
  assert_true (padding_bits (0, now, 60e3) < 1.0);
  assert_true (padding_bits (now, now + 10 * (FmxTime) S, 110e3) > 400e3);
  now += 10 * (FmxTime) S;
  assert_true (padding_bits (now, now + 20 * (FmxTime) S, 10e3) < 700e3);
}

/* Somebody else's losses, or nobody's, make the rate fall: there may be room all the same. */
static void
test_a_fall_for_what_was_lost_begins_no_pause (void **state)
{
  FmxTime now = 0;

  (void) state;
  begin (200e3, 400e3);
  fmx_rate_fill_set_loses (&fill, true);
  for (unsigned i = 0; i < 5; i++) {
    now += 3 * (FmxTime) S;
    fmx_rate_fill_on_rate (&fill, (200 - 10 * i) * 1e3, now);
    assert_true (fmx_rate_fill_next (&fill) <= now + (FmxTime) S);
  }
  now += 5 * (FmxTime) S;
  fmx_rate_fill_on_rate (&fill, 160e3, now);
  assert_true (fmx_rate_fill_next (&fill) == now + 10 * (FmxTime) S);
}

/* 150 kbit/s are enough for them, 100 have lasted, and what is mixed takes 20 of those. */
static void
test_where_packets_are_lost_streams_wait_with_padding (void **state)
{
  (void) state;
  begin (200e3, 150e3);
  fmx_rate_fill_set_gap (&fill, 100e3, 0);
  assert_true (padding_bits (0, 3 * (FmxTime) S, 20e3) <= 0.0);
  fmx_rate_fill_set_loses (&fill, true);
  assert_float_equal (padding_bits (3 * (FmxTime) S, 6 * (FmxTime) S, 20e3),
      540e3, 30e3);
  fmx_rate_fill_set_gap (&fill, 150e3, 6 * (FmxTime) S);
  assert_true (padding_bits (6 * (FmxTime) S, 9 * (FmxTime) S, 20e3) <= 0.0);
}

/* The streams that wait have not seen the rate last, and who mixes sends half of what has:
 * a TCP takes the rest, and it never lasts. */
static void
test_beside_others_padding_makes_up_whatever_is_not_sent (void **state)
{
  (void) state;
  begin (200e3, 150e3);
  fmx_rate_fill_set_gap (&fill, 160e3, 0);
  assert_true (padding_bits (0, 3 * (FmxTime) S, 60e3) <= 0.0);
  fmx_rate_fill_set_others (&fill, true);
  assert_float_equal (padding_bits (3 * (FmxTime) S, 6 * (FmxTime) S, 60e3),
      420e3, 30e3);
  fmx_rate_fill_set_others (&fill, false);
  assert_true (padding_bits (6 * (FmxTime) S, 9 * (FmxTime) S, 60e3) <= 0.0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_it_makes_up_what_media_does_not_take),
    cmocka_unit_test (test_padding_does_not_come_on_top_of_many_voices_in_step),
    cmocka_unit_test (test_without_a_wish_or_a_rate_nothing_is_due),
    cmocka_unit_test (test_pauses_become_longer_and_a_fall_begins_one_at_once),
    cmocka_unit_test (test_beside_others_there_is_no_pause),
    cmocka_unit_test (test_a_rate_that_grows_by_itself_ends_a_pause),
    cmocka_unit_test (test_what_streams_wait_for_is_made_up_all_the_time),
    cmocka_unit_test (test_who_is_nearly_silent_waits_for_nothing),
    cmocka_unit_test (test_a_fall_for_what_was_lost_begins_no_pause),
    cmocka_unit_test (test_where_packets_are_lost_streams_wait_with_padding),
    cmocka_unit_test
        (test_beside_others_padding_makes_up_whatever_is_not_sent),
  };

  return cmocka_run_group_tests_name ("rate/rate-fill", tests, NULL, NULL);
}
