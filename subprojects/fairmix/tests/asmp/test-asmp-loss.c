/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>

#include "fmx-test-asmp.h"

#include "asmp/fmx-test-asmp-tables.h"
#include "fairmix/asmp/fmx-asmp-loss.h"

/* @n packets from @seq on, of which the first @n_lost are. */
static uint16_t
interval (FmxAsmpLoss *loss, uint16_t seq, unsigned n, unsigned n_lost)
{
  for (unsigned i = 0; i < n; i++, seq++)
    if (i >= n_lost)
      fmx_asmp_loss_on_packet (loss, seq);
  return seq;
}

/* [ASMP (2), (3)] against asmp_tables.py; across a wrap of the numbers */
static void
test_reports_are_smoothed_with_the_papers_weights (void **state)
{
  FmxAsmpLoss loss;
  uint16_t seq = 65000;
  double fraction;

  (void) state;
  fmx_asmp_loss_init (&loss);
  assert_true (fmx_asmp_loss_rate (&loss) == 0.0);
  for (size_t i = 0; i < N_ELEMENTS (loss_rows); i++) {
    unsigned n_lost = (unsigned) (loss_rows[i].fraction * 100.0 + 0.5);

    if (n_lost == 100)          /* the last one comes, or none is expected */
      continue;
    seq = interval (&loss, seq, 100, n_lost);
    assert_true (fmx_asmp_loss_report (&loss, &fraction));
    assert_near (fraction, loss_rows[i].fraction, 1e-9);
    if (i < 5)                  /* the row of 100 % comes after */
      assert_near (fmx_asmp_loss_rate (&loss), loss_rows[i].smoothed, 1e-9);
  }
}

static void
test_the_weighted_mean_is_the_papers (void **state)
{
  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (loss_rows); i++) {
    double newest_first[FMX_ASMP_LOSS_N];
    unsigned n = 0;

    for (; n < FMX_ASMP_LOSS_N && n <= i; n++)
      newest_first[n] = loss_rows[i - n].fraction;
    assert_near (fmx_asmp_loss_smooth (newest_first, n),
        loss_rows[i].smoothed, 1e-9);
  }
}

static void
test_an_interval_without_packets_does_not_count (void **state)
{
  FmxAsmpLoss loss;
  double fraction = 7.0;
  uint16_t seq;

  (void) state;
  fmx_asmp_loss_init (&loss);
  assert_false (fmx_asmp_loss_report (&loss, &fraction));
  seq = interval (&loss, 7, 10, 1);
  assert_true (fmx_asmp_loss_report (&loss, &fraction));
  assert_true (fraction == 0.0);        /* nothing is known of the first one */
  assert_false (fmx_asmp_loss_report (&loss, &fraction));
  interval (&loss, seq, 10, 9);
  assert_true (fmx_asmp_loss_report (&loss, &fraction));
  assert_near (fraction, 0.9, 1e-9);
  assert_near (fmx_asmp_loss_rate (&loss), 0.45, 1e-9);
}

static void
test_duplicates_and_order_do_not_matter (void **state)
{
  FmxAsmpLoss loss;
  double fraction;

  (void) state;
  fmx_asmp_loss_init (&loss);
  for (unsigned i = 0; i < 3; i++)
    interval (&loss, 10, 10, 0);
  assert_true (fmx_asmp_loss_report (&loss, &fraction));
  assert_true (fraction == 0.0);
  /* the interval's last packets come first */
  interval (&loss, 25, 5, 0);
  interval (&loss, 20, 4, 0);
  assert_true (fmx_asmp_loss_report (&loss, &fraction));
  assert_near (fraction, 0.1, 1e-9);
}

static void
test_a_restart_is_no_loss_and_forgets_none (void **state)
{
  FmxAsmpLoss loss;
  double fraction;

  (void) state;
  fmx_asmp_loss_init (&loss);
  interval (&loss, 0, 1, 0);
  interval (&loss, 1, 99, 50);
  assert_true (fmx_asmp_loss_report (&loss, &fraction));
  assert_near (fraction, 0.5, 1e-9);
  fmx_asmp_loss_restart (&loss);
  interval (&loss, 40000, 100, 0);
  assert_true (fmx_asmp_loss_report (&loss, &fraction));
  assert_true (fraction == 0.0);
  assert_near (fmx_asmp_loss_rate (&loss), 0.25, 1e-9);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_reports_are_smoothed_with_the_papers_weights),
    cmocka_unit_test (test_the_weighted_mean_is_the_papers),
    cmocka_unit_test (test_an_interval_without_packets_does_not_count),
    cmocka_unit_test (test_duplicates_and_order_do_not_matter),
    cmocka_unit_test (test_a_restart_is_no_loss_and_forgets_none),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
