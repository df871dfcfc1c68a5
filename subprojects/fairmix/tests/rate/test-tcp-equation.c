/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/rate/fmx-tcp-equation.h"

#define MS FMX_MSECOND

#define assert_within(share, a, b) \
  assert_true (fabs ((a) - (b)) <= (share) * fabs (b))

/* [RFC4828 4.1] Table 1: kilobytes per second at R = 100 ms, with headers of
 * 40 bytes. */
static void
test_agrees_with_table_1_of_rfc4828 (void **state)
{
  static const struct
  {
    double p, small, middle, large;
  } rows[] = {
    {0.00001, 209.25, 2232.00, 5812.49},
    {0.00003, 120.79, 1288.41, 3355.24},
    {0.00010, 66.12, 705.25, 1836.58},
    {0.00030, 38.10, 406.44, 1058.45},
    {0.00100, 20.74, 221.23, 576.12},
    {0.00300, 11.76, 125.49, 326.79},
    {0.01000, 6.07, 64.75, 168.61},
    {0.03000, 2.99, 31.90, 83.07},
    {0.10000, 0.96, 10.21, 26.58},
    {0.20000, 0.29, 3.09, 8.06},
    {0.30000, 0.11, 1.12, 2.93},
    {0.40000, 0.05, 0.48, 1.26},
    {0.50000, 0.02, 0.24, 0.63},
  };
  FmxTcpPath small = fmx_tcp_path (14 + 40, 100 * MS);
  FmxTcpPath middle = fmx_tcp_path (536 + 40, 100 * MS);
  FmxTcpPath large = fmx_tcp_path (1460 + 40, 100 * MS);

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rows); i++) {
    double p = rows[i].p;

    /* printed with two digits behind the point */
    assert_true (fabs (fmx_tcp_equation_bps (&small, p) / 8e3
            - rows[i].small) < 0.0051 + 0.002 * rows[i].small);
    assert_true (fabs (fmx_tcp_equation_bps (&middle, p) / 8e3
            - rows[i].middle) < 0.0051 + 0.002 * rows[i].middle);
    assert_true (fabs (fmx_tcp_equation_bps (&large, p) / 8e3
            - rows[i].large) < 0.0051 + 0.002 * rows[i].large);
  }
}

/* By hand: 8000 / (0.1 sqrt (0.04/3) + 1 * 3 sqrt (0.06/8) * 0.01 * 1.0032) */
static void
test_b_and_rto_are_taken_as_given (void **state)
{
  FmxTcpPath path = { 1000.0, 100 * MS, FMX_SECOND, 2.0 };

  (void) state;
  assert_within (1e-4, fmx_tcp_equation_bps (&path, 0.01), 565235.0);
}

static void
test_path_is_what_rfc5348_recommends (void **state)
{
  FmxTcpPath path = fmx_tcp_path (1460.0, 50 * MS);

  (void) state;
  assert_int_equal (path.rto, 200 * MS);        /* [RFC5348 3.1] 4R */
  assert_true (path.b == 1.0);
}

static void
test_no_loss_means_no_limit (void **state)
{
  FmxTcpPath path = fmx_tcp_path (1460.0, 50 * MS);

  (void) state;
  assert_true (fmx_tcp_equation_bps (&path, 0.0) == HUGE_VAL);
  assert_true (fmx_tcp_equation_simple_bps (&path, 0.0) == HUGE_VAL);
}

/* By hand: 11680 / (0.1 sqrt (0.02/3)) */
static void
test_simple_equation_ignores_timeouts (void **state)
{
  FmxTcpPath path = fmx_tcp_path (1460.0, 100 * MS);

  (void) state;
  assert_within (1e-5, fmx_tcp_equation_simple_bps (&path, 0.01), 1430501.0);
  for (double p = 1e-6; p <= 1.0; p *= 1.5)
    assert_true (fmx_tcp_equation_simple_bps (&path, p)
        > fmx_tcp_equation_bps (&path, p));
}

/* By hand: 2 * 11680 / 0.1 */
static void
test_marks_leave_two_segments_each_round_trip (void **state)
{
  FmxTcpPath path = fmx_tcp_path (1460.0, 100 * MS);

  (void) state;
  assert_within (1e-5, fmx_tcp_equation_marked_bps (&path, 1.0), 233600.0);
  assert_within (1e-5, fmx_tcp_equation_marked_bps (&path, 0.5), 233600.0);
  assert_within (1e-5, fmx_tcp_equation_marked_bps (&path, 0.01), 1430501.0);
  assert_true (fmx_tcp_equation_marked_bps (&path, 0.0) == HUGE_VAL);
}

/* [RFC5348 6.3.1] "within 5% of X_target" */
static void
test_inverse_inverts (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 1);
  for (unsigned i = 0; i < 5000; i++) {
    FmxTcpPath path = fmx_tcp_path (40.0 + fmx_rng_next (&rng) % 1460,
        (FmxDuration) (pow (10.0, 5.0 + 5.0 * fmx_rng_next_unit (&rng))));
    double p = pow (10.0, -7.0 * fmx_rng_next_unit (&rng));
    double bps = fmx_tcp_equation_bps (&path, p);
    double inverse = fmx_tcp_equation_inverse (&path, bps);

    assert_within (1e-3, fmx_tcp_equation_bps (&path, inverse), bps);
    assert_within (5e-3, inverse, p);
  }
}

static void
test_inverse_of_an_impossible_rate_is_cut (void **state)
{
  FmxTcpPath path = fmx_tcp_path (1460.0, 100 * MS);

  (void) state;
  assert_true (fmx_tcp_equation_inverse (&path, 1e15) == FMX_TCP_P_MIN);
  assert_true (fmx_tcp_equation_inverse (&path, 1e-6) == 1.0);
}

static void
test_falls_in_p_and_in_rtt (void **state)
{
  double last = HUGE_VAL;

  (void) state;
  for (double p = 1e-8; p <= 1.0; p *= 1.1) {
    FmxTcpPath near = fmx_tcp_path (1460.0, 10 * MS);
    FmxTcpPath far = fmx_tcp_path (1460.0, 11 * MS);
    double bps = fmx_tcp_equation_bps (&near, p);

    assert_true (bps < last);
    assert_true (fmx_tcp_equation_bps (&far, p) < bps);
    last = bps;
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_agrees_with_table_1_of_rfc4828),
    cmocka_unit_test (test_b_and_rto_are_taken_as_given),
    cmocka_unit_test (test_path_is_what_rfc5348_recommends),
    cmocka_unit_test (test_no_loss_means_no_limit),
    cmocka_unit_test (test_simple_equation_ignores_timeouts),
    cmocka_unit_test (test_marks_leave_two_segments_each_round_trip),
    cmocka_unit_test (test_inverse_inverts),
    cmocka_unit_test (test_inverse_of_an_impossible_rate_is_cut),
    cmocka_unit_test (test_falls_in_p_and_in_rtt),
  };

  return cmocka_run_group_tests_name ("rate/tcp-equation", tests, NULL, NULL);
}
