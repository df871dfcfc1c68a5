/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/base/fmx-aimd.h"
#include "fairmix/playout/fmx-minimal-buffer.h"

static FmxMinimalBufferParams
friendly (double beta, uint32_t mss_bytes, int rtt_ms)
{
  FmxMinimalBufferParams params = {
    .alpha = fmx_aimd_fair_alpha (beta),
    .beta = beta,
    .mss_bytes = mss_bytes,
    .rtt = rtt_ms * FMX_MSECOND,
  };

  return params;
}

/* The buffer that a window of whole steps needs: one saw-tooth, one value of
 * the window per round-trip time, drained at its @mean. */
static double
saw_tooth_bytes (const FmxMinimalBufferParams *p, double top, double *mean)
{
  double step = p->alpha * p->mss_bytes;
  double sum = 0.0, level = 0.0, low = 0.0, high = 0.0;
  double n = 0.0;

  for (double w = p->beta * top; w <= top; w += step) {
    sum += w;
    n += 1.0;
  }
  *mean = sum / n;
  for (double w = p->beta * top; w <= top; w += step) {
    level += w - *mean;
    low = fmin (low, level);
    high = fmax (high, level);
  }
  return high - low;
}

static void
test_friendly_pairs_are_the_papers (void **state)
{
  (void) state;
  assert_true (fabs (fmx_aimd_fair_alpha (1.0 / 2.0) - 1.0) < 1e-12);
  assert_true (fabs (fmx_aimd_fair_alpha (4.0 / 5.0) - 1.0 / 3.0) < 1e-12);
  assert_true (fabs (fmx_aimd_fair_alpha (7.0 / 8.0) - 1.0 / 5.0) < 1e-12);
}

/* [buffering 4] 600 kbit/s, 80 ms, 256 bytes: 7.8 kB; 1 Mbit/s: 21.7, 7.2, 4.3 */
static void
test_it_gives_the_papers_numbers (void **state)
{
  static const struct
  {
    double beta, rate_bps, bytes;
  } table[] = {
    {1.0 / 2.0, 600e3, 7800.0},
    {1.0 / 2.0, 1e6, 21700.0},
    {4.0 / 5.0, 1e6, 7200.0},
    {7.0 / 8.0, 1e6, 4300.0},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (table); i++) {
    FmxMinimalBufferParams p = friendly (table[i].beta, 256, 80);
    double bytes = fmx_minimal_buffer_bytes (&p, table[i].rate_bps / 8.0);

    assert_true (fabs (bytes - table[i].bytes) < 60.0);
  }
}

/* [buffering 3.3], equations 3.6 and 3.7 */
static void
test_friendly_senders_need_alpha_over_18 (void **state)
{
  (void) state;
  for (double beta = 0.1; beta < 0.95; beta += 0.05) {
    FmxMinimalBufferParams p = friendly (beta, 1200, 50);
    double window = 1e5 * 0.05;
    double one = p.alpha / (18.0 * 1200.0) * window * window;
    double two = pow ((9.0 - p.alpha) / (3.0 + p.alpha), 2.0) * one;

    assert_true (fabs (fmx_minimal_buffer_bytes (&p, 1e5) / one - 1.0) < 1e-9);
    assert_true (fabs (fmx_minimal_buffer_bytes_two_backoffs (&p, 1e5) / two
            - 1.0) < 1e-9);
  }
}

/* with whole steps the formula falls short; the discrete one does not, and is
 * no more than a few steps above what is needed */
static void
test_the_discrete_formula_is_enough_for_whole_steps (void **state)
{
  static const double betas[] = { 1.0 / 2.0, 4.0 / 5.0, 7.0 / 8.0 };
  int n_short = 0;

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (betas); i++) {
    for (double top = 2.0; top <= 200.0; top += 0.37) {
      FmxMinimalBufferParams p = friendly (betas[i], 1200, 100);
      double window, needed = saw_tooth_bytes (&p, top * 1200.0, &window);
      double rate_Bps = window / 0.1;
      double discrete = fmx_minimal_buffer_bytes_discrete (&p, rate_Bps);

      n_short += fmx_minimal_buffer_bytes (&p, rate_Bps) < needed;
      assert_true (discrete >= needed * (1.0 - 1e-9));
      assert_true (discrete <= 1.25 * needed + 1200.0);
    }
  }
  assert_true (n_short > 1000);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_friendly_pairs_are_the_papers),
    cmocka_unit_test (test_it_gives_the_papers_numbers),
    cmocka_unit_test (test_friendly_senders_need_alpha_over_18),
    cmocka_unit_test (test_the_discrete_formula_is_enough_for_whole_steps),
  };

  return cmocka_run_group_tests_name ("playout/minimal-buffer", tests, NULL,
      NULL);
}
