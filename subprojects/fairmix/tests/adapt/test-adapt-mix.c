/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/adapt/fmx-adapt-mix.h"

static const FmxAdaptMix g711 = { 64000, 64000, 20 * FMX_MSECOND, 0, false };
static const FmxAdaptMix opus = { 12000, 32000, 20 * FMX_MSECOND, 0, false };

static void
test_g711_costs_80_kbit_s (void **state)
{
  (void) state;
  assert_int_equal (fmx_adapt_mix_wire_bps (&g711, 64000), 80000);
}

static void
test_contributors_and_levels_are_paid_for (void **state)
{
  FmxAdaptMix mix = opus;

  (void) state;
  mix.n_contributors = 3;
  /* 40 + 12 bytes, 50 times a second */
  assert_int_equal (fmx_adapt_mix_wire_bps (&mix, 0), 52 * 8 * 50);
  mix.levels = true;
  /* extension header 4, then 1 + 3 bytes */
  assert_int_equal (fmx_adapt_mix_wire_bps (&mix, 0), 60 * 8 * 50);
  mix.n_contributors = 1000;
  assert_int_equal (fmx_adapt_mix_wire_bps (&mix, 0),
      (40 + 60 + 4 + 16) * 8 * 50);
}

static void
test_bitrate_is_the_highest_step_that_fits (void **state)
{
  static const uint32_t table[][2] = {
    {0, 12000}, {28000, 12000}, {31999, 12000}, {32000, 16000},
    {39999, 20000}, {40000, 24000}, {47999, 24000}, {48000, 32000},
    {1000000, 32000},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (table); i++)
    assert_int_equal (fmx_adapt_mix_bitrate_bps (&opus, table[i][0]),
        table[i][1]);
}

static void
test_constant_encodings_have_one_bitrate (void **state)
{
  (void) state;
  assert_int_equal (fmx_adapt_mix_bitrate_bps (&g711, 0), 64000);
  assert_int_equal (fmx_adapt_mix_bitrate_bps (&g711, 1000000), 64000);
}

static void
test_names_take_a_third_of_what_headers_leave (void **state)
{
  FmxAdaptMix mix = opus;       /* headers are 16000 bits/s */
  static const uint32_t table[][2] = {
    {0, 0}, {28000, 0},
    {32799, 0}, {32800, 1},     /* 4800 beside the 12000 */
    {35199, 1}, {35200, 2},     /* 6400 of 19200 */
    {39999, 2}, {40000, 3},     /* 8000 of 24000 */
    {78399, 8}, {78400, 9},     /* 20800 of 62400 */
    {79999, 9}, {80000, 15},    /* 32000 for all and 32000 for the voices */
    {1000000, 15},
  };

  (void) state;
  mix.levels = true;
  mix.n_contributors = 20;
  for (size_t i = 0; i < N_ELEMENTS (table); i++)
    assert_int_equal (fmx_adapt_mix_n_names (&mix, table[i][0]), table[i][1]);
  mix.n_contributors = 2;
  assert_int_equal (fmx_adapt_mix_n_names (&mix, 50000), 2);
}

static void
test_a_mix_with_its_names_stays_within_its_rate (void **state)
{
  FmxAdaptMix mix = opus;

  (void) state;
  for (uint32_t wire_bps = 28000; wire_bps < 200000; wire_bps += 77) {
    for (uint32_t n = 0; n < 20; n++) {
      mix.levels = n % 2;
      mix.n_contributors = n;
      mix.n_contributors = fmx_adapt_mix_n_names (&mix, wire_bps);
      assert_true (mix.n_contributors <= n);
      assert_true (fmx_adapt_mix_wire_bps (&mix, fmx_adapt_mix_bitrate_bps
              (&mix, wire_bps)) <= wire_bps);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_g711_costs_80_kbit_s),
    cmocka_unit_test (test_contributors_and_levels_are_paid_for),
    cmocka_unit_test (test_bitrate_is_the_highest_step_that_fits),
    cmocka_unit_test (test_constant_encodings_have_one_bitrate),
    cmocka_unit_test (test_names_take_a_third_of_what_headers_leave),
    cmocka_unit_test (test_a_mix_with_its_names_stays_within_its_rate),
  };

  return cmocka_run_group_tests_name ("adapt/mix", tests, NULL, NULL);
}
