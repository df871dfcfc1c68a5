/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/adapt/fmx-adapt-debt.h"

#define BITRATE 12000u
#define PACKET (20 * FMX_MSECOND)
#define FAIR_BYTES 30u          /* 12 kbit/s for 20 ms */

static void
test_an_encoder_that_keeps_its_rate_is_left_alone (void **state)
{
  FmxAdaptDebt debt = { 0 };

  (void) state;
  fmx_adapt_debt_set_bitrate (&debt, BITRATE);
  for (int i = 0; i < 100; i++)
    assert_int_equal (fmx_adapt_debt_on_packet (&debt, FAIR_BYTES, PACKET),
        BITRATE);
}

/* An encoder that makes a tenth more than it is told is brought to its rate. */
static void
test_too_much_is_paid_back (void **state)
{
  FmxAdaptDebt debt = { 0 };
  uint32_t told_bps = BITRATE;
  double sent_bits = 0.0;

  (void) state;
  fmx_adapt_debt_set_bitrate (&debt, BITRATE);
  for (int i = 0; i < 500; i++) {
    uint32_t bytes = (uint32_t) (1.1 * told_bps / 50 / 8 + 0.5);

    sent_bits += 8.0 * bytes;
    told_bps = fmx_adapt_debt_on_packet (&debt, bytes, PACKET);
  }
  assert_true (sent_bits / 10.0 < 1.02 * BITRATE);
  assert_true (sent_bits / 10.0 > 0.98 * BITRATE);
}

static void
test_silence_saves_nothing_for_later (void **state)
{
  FmxAdaptDebt debt = { 0 };

  (void) state;
  fmx_adapt_debt_set_bitrate (&debt, BITRATE);
  for (int i = 0; i < 100; i++)
    fmx_adapt_debt_on_packet (&debt, 1, PACKET);
  assert_true (fmx_adapt_debt_on_packet (&debt, 2 * FAIR_BYTES, PACKET)
      < BITRATE);
}

static void
test_half_of_the_bitrate_is_left_whatever_was_sent (void **state)
{
  FmxAdaptDebt debt = { 0 };

  (void) state;
  fmx_adapt_debt_set_bitrate (&debt, BITRATE);
  fmx_adapt_debt_on_packet (&debt, 1000000, PACKET);
  assert_int_equal (fmx_adapt_debt_on_packet (&debt, 1000000, PACKET),
      BITRATE / 2);
}

/* An encoder that has spent what it was told needs more than half of it after. */
static void
test_a_rate_that_falls_does_so_in_steps (void **state)
{
  FmxAdaptDebt debt = { 0 };
  uint32_t before_bps = 128000, told_bps;
  unsigned n_steps = 0;

  (void) state;
  assert_int_equal (fmx_adapt_debt_set_bitrate (&debt, before_bps), before_bps);
  told_bps = fmx_adapt_debt_set_bitrate (&debt, 16000);
  while (told_bps > 16000) {
    assert_true (told_bps >= 0.66 * before_bps);
    before_bps = told_bps;
    told_bps = fmx_adapt_debt_on_packet (&debt, 1, PACKET);
    n_steps++;
  }
  assert_true (n_steps <= 5);
  assert_int_equal (fmx_adapt_debt_set_bitrate (&debt, 128000), 128000);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_an_encoder_that_keeps_its_rate_is_left_alone),
    cmocka_unit_test (test_too_much_is_paid_back),
    cmocka_unit_test (test_silence_saves_nothing_for_later),
    cmocka_unit_test (test_half_of_the_bitrate_is_left_whatever_was_sent),
    cmocka_unit_test (test_a_rate_that_falls_does_so_in_steps),
  };

  return cmocka_run_group_tests_name ("adapt/debt", tests, NULL, NULL);
}
