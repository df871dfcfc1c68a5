/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdbool.h>

#include "fmx-test-asmp.h"

#include "asmp/fmx-test-asmp-tables.h"
#include "fairmix/asmp/fmx-asmp-equation.h"
#include "fairmix/rate/fmx-tcp-equation.h"

/* [ASMP (12)] against asmp_tables.py */
static void
test_the_equation_is_the_papers (void **state)
{
  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (equation_rows); i++) {
    const EquationRow *row = &equation_rows[i];

    assert_near (fmx_asmp_equation_bps (row->packet_bytes,
            fmx_time_from_s (row->rtt_s), row->loss), 8.0 * row->rate_Bps,
        1e-6);
  }
}

static void
test_without_loss_there_is_no_limit (void **state)
{
  (void) state;
  assert_true (isinf (fmx_asmp_equation_bps (200.0, FMX_SECOND, 0.0)));
}

/* The minimum in (12) is the only difference. */
static void
test_below_eight_27ths_it_is_rfc_5348s (void **state)
{
  FmxTcpPath path = fmx_tcp_path (200.0, FMX_SECOND / 10);

  (void) state;
  for (double p = 1e-5; p < 8.0 / 27.0; p *= 1.1)
    assert_near (fmx_asmp_equation_bps (200.0, FMX_SECOND / 10, p),
        fmx_tcp_equation_bps (&path, p), 1e-9);
  for (double p = 0.3; p <= 1.0; p += 0.1)
    assert_true (fmx_asmp_equation_bps (200.0, FMX_SECOND / 10, p)
        > fmx_tcp_equation_bps (&path, p));
}

static void
test_it_falls_in_loss_and_in_round_trip_time (void **state)
{
  double before = HUGE_VAL;

  (void) state;
  for (double l = 1e-6; l <= 1.0; l *= 1.07) {
    double bps = fmx_asmp_equation_bps (1000.0, FMX_SECOND / 10, l);

    assert_true (bps < before && bps > 0.0);
    assert_near (fmx_asmp_equation_bps (1000.0, FMX_SECOND / 5, l),
        bps / 2.0, 1e-9);
    before = bps;
  }
}

/* [ASMP (13)] */
static void
test_a_step_is_a_packet_each_round_trip (void **state)
{
  (void) state;
  assert_near (fmx_asmp_step_bps (1000.0, FMX_SECOND / 10), 80000.0, 1e-12);
}

static void
test_a_low_rate_is_believed_with_losses_to_match (void **state)
{
  FmxTcpPath path = fmx_tcp_path (1460, FMX_SECOND / 10);

  (void) state;
  assert_near (fmx_asmp_plausible_bps (1e6, FMX_SECOND / 10, 0.0, 0.0), 5e5,
      1e-9);
  assert_near (fmx_asmp_plausible_bps (1e6, 0, 0.5, 0.0), 5e5, 1e-9);
  assert_near (fmx_asmp_plausible_bps (1e6, FMX_SECOND / 10, 1e-5, 0.0), 5e5,
      1e-9);
  assert_near (fmx_asmp_plausible_bps (1e6, FMX_SECOND / 10, 0.05, 0.0),
      fmx_tcp_equation_bps (&path, 0.05) / 4.0, 1e-9);
  /* three quarters are lost on a narrow link, in few events */
  assert_near (fmx_asmp_plausible_bps (1e6, FMX_SECOND / 10, 1e-5, 0.75),
      1.25e5, 1e-9);
}

/* Of 50 packets a second with a tenth lost a TCP of two in a round trip finds more
 * events; one with as many packets, or where losses are rare bursts, does not. */
/* PFTK, with what share of the losses waits for a time-out */
static double
pftk_bps (const FmxTcpPath *path, double p, double waits)
{
  double r = (double) path->rtt / FMX_SECOND;
  double rto = (double) path->rto / FMX_SECOND;

  return 8.0 * path->segment_bytes / (r * sqrt (2.0 * p / 3.0)
      + rto * waits * p * (1.0 + 32.0 * p * p));
}

static void
test_of_small_packets_a_tcp_finds_more_events (void **state)
{
  FmxTcpPath path = fmx_tcp_path (FMX_TCP_SEGMENT_BYTES, 400 * FMX_MSECOND);
  double plain = fmx_tcp_equation_bps (&path, 0.04);
  double bps = fmx_asmp_small_packets_bps (&path, 0.04, 0.1, 50.0);
  double per_rtt = 0.4 * bps / (8.0 * FMX_TCP_SEGMENT_BYTES);

  (void) state;
  /* the fixed point */
  assert_true (per_rtt < 2.5);
  assert_near (bps, pftk_bps (&path, 1.0 / (10.0 + per_rtt), 1.0), 0.01);
  assert_true (bps < 0.7 * plain);
  assert_near (fmx_asmp_small_packets_bps (&path, 0.04, 0.0, 50.0), plain,
      1e-9);
  /* no more events than were seen */
  bps = fmx_asmp_small_packets_bps (&path, 0.04, 0.1, 1.0);
  per_rtt = 0.4 * bps / (8.0 * FMX_TCP_SEGMENT_BYTES);
  assert_near (bps, pftk_bps (&path, 0.04, 2.5 / per_rtt), 0.01);
  /* more packets in a round trip, fewer wait; of many RFC 5348's part */
  bps = fmx_asmp_small_packets_bps (&path, 0.02, 0.05, 50.0);
  per_rtt = 0.4 * bps / (8.0 * FMX_TCP_SEGMENT_BYTES);
  assert_true (per_rtt > 3.0);
  assert_near (bps, pftk_bps (&path, 1.0 / (20.0 + per_rtt), 2.5 / per_rtt), 0.01);
  /* bursts of ten, one in 500 packets: no more events than were seen */
  path.rtt = 100 * FMX_MSECOND;
  bps = fmx_asmp_small_packets_bps (&path, 0.002, 0.02, 50.0);
  assert_near (bps, fmx_tcp_equation_bps (&path, 0.002), 0.02);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_of_small_packets_a_tcp_finds_more_events),
    cmocka_unit_test (test_the_equation_is_the_papers),
    cmocka_unit_test (test_without_loss_there_is_no_limit),
    cmocka_unit_test (test_below_eight_27ths_it_is_rfc_5348s),
    cmocka_unit_test (test_it_falls_in_loss_and_in_round_trip_time),
    cmocka_unit_test (test_a_step_is_a_packet_each_round_trip),
    cmocka_unit_test (test_a_low_rate_is_believed_with_losses_to_match),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
