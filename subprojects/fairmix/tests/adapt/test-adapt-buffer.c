/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/adapt/fmx-adapt-buffer.h"

static FmxAdaptBufferFlow
make_flow (double increase, double decrease, uint32_t segment_bytes,
    double rtt_ms, double media_bps)
{
  FmxAdaptBufferFlow flow = {
    .increase = increase,
    .decrease = decrease,
    .segment_bytes = segment_bytes,
    .rtt = (FmxDuration) (rtt_ms * 1e6),
    .media_bps = media_bps,
  };

  return flow;
}

static void
assert_near (double value, double expected, double share)
{
  if (fabs (value - expected) > share * expected)
    fail_msg ("%g, not %g", value, expected);
}

/* Table 4.1: "it requires 7.8KB to smooth its saw-tooth size, which is about
 * 100ms for the AIMD flow with a 600Kbps sending rate". */
static void
test_table_4_1 (void **state)
{
  FmxAdaptBufferFlow flow = make_flow (1.0, 0.5, 256, 80, 600e3);
  double bytes = fmx_adapt_buffer_bytes (&flow);

  (void) state;
  assert_near (bytes, 7800, 0.01);
  assert_near (fmx_time_to_s (fmx_adapt_buffer_delay (&flow, bytes)), 0.104,
      0.01);
}

/* Figure 4.6 at 1 Mbit/s and 80 ms. */
static void
test_gentler_flows_need_less (void **state)
{
  static const struct
  {
    double increase, decrease, bytes;
  } rows[] = {
    {1.0, 1.0 / 2.0, 21701},
    {1.0 / 3.0, 4.0 / 5.0, 7234},
    {1.0 / 5.0, 7.0 / 8.0, 4340},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rows); i++) {
    FmxAdaptBufferFlow flow = make_flow (rows[i].increase, rows[i].decrease,
        256, 80, 1e6);

    assert_near (fmx_adapt_buffer_bytes (&flow), rows[i].bytes, 0.001);
    /* [Li01 3.6] the form for flows that are fair to TCP */
    assert_near (fmx_adapt_buffer_bytes (&flow),
        rows[i].increase / (18 * 256) * 125e3 * 125e3 * 0.08 * 0.08, 1e-9);
  }
}

static void
test_two_backoffs_as_both_forms_have_it (void **state)
{
  (void) state;
  for (int i = 1; i < 100; i++) {
    double beta = i / 100.0;
    double alpha = 3.0 * (1.0 - beta) / (1.0 + beta);
    FmxAdaptBufferFlow flow = make_flow (alpha, beta, 256, 80, 1e6);
    double form_3_7 = (9.0 - alpha) / (3.0 + alpha);

    assert_near (fmx_adapt_buffer_two_backoffs_bytes (&flow),
        form_3_7 * form_3_7 * fmx_adapt_buffer_bytes (&flow), 1e-9);
  }
}

/* What a window that steps from beta W to W misses of its own average. */
static double
played_from_buffer (double beta, double step, unsigned n_windows)
{
  double lowest = (n_windows - 1) * step * beta / (1.0 - beta);
  double average = lowest + (n_windows - 1) * step / 2.0;
  double backlog = 0.0;

  for (unsigned i = 0; i < n_windows; i++)
    backlog += fmax (average - (lowest + i * step), 0.0);
  return backlog;
}

static void
test_discrete_formula_is_the_sum_over_the_windows (void **state)
{
  (void) state;
  for (unsigned n_windows = 2; n_windows < 200; n_windows++) {
    double step = 1200.0, beta = 0.5;
    double W = (n_windows - 1) * step / (1.0 - beta);
    FmxAdaptBufferFlow flow = make_flow (1.0, beta, 1200, 100,
        W * (1.0 + beta) / 2.0 * 8.0 / 0.1);
    double sum = played_from_buffer (beta, step, n_windows);
    double formula = fmx_adapt_buffer_discrete_bytes (&flow);

    /* Exact for an even number of windows, an eighth of a step above it
     * for an odd one, in the middle of which one window is the average. */
    assert_near (formula, n_windows % 2 ? sum + step / 8.0 : sum, 1e-9);
    assert_true (sum > fmx_adapt_buffer_bytes (&flow));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_table_4_1),
    cmocka_unit_test (test_gentler_flows_need_less),
    cmocka_unit_test (test_two_backoffs_as_both_forms_have_it),
    cmocka_unit_test (test_discrete_formula_is_the_sum_over_the_windows),
  };

  return cmocka_run_group_tests_name ("adapt/buffer", tests, NULL, NULL);
}
