/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/base/fmx-rng.h"

static void
test_same_seed_gives_same_numbers (void **state)
{
  FmxRng a, b;

  (void) state;
  fmx_rng_init (&a, 42);
  fmx_rng_init (&b, 42);
  for (int i = 0; i < 1000; i++)
    assert_int_equal (fmx_rng_next (&a), fmx_rng_next (&b));
}

static void
test_unit_is_uniform (void **state)
{
  enum { N = 100000, BINS = 20 };
  unsigned bins[BINS] = { 0 };
  double chi2 = 0.0;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 1);
  for (int i = 0; i < N; i++) {
    double u = fmx_rng_next_unit (&rng);

    assert_true (u >= 0.0 && u < 1.0);
    bins[(int) (u * BINS)]++;
  }
  for (int i = 0; i < BINS; i++) {
    double off = bins[i] - (double) N / BINS;

    chi2 += off * off / ((double) N / BINS);
  }
  /* 19 degrees of freedom: above 43.8 once in a thousand seeds */
  assert_true (chi2 < 43.8);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_same_seed_gives_same_numbers),
    cmocka_unit_test (test_unit_is_uniform),
  };

  return cmocka_run_group_tests_name ("base/rng", tests, NULL, NULL);
}
