/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/rate/fmx-circuit-breaker.h"
#include "fairmix/rate/fmx-tcp-equation.h"

#define MS FMX_MSECOND
#define S FMX_SECOND

static FmxCircuitBreaker
make (void)
{
  FmxCircuitBreakerParams params;
  FmxCircuitBreaker breaker;

  fmx_circuit_breaker_params_default (&params);
  fmx_circuit_breaker_init (&breaker, &params);
  return breaker;
}

static FmxCircuitBreakerReport
report (double fraction_lost, double sent_bps)
{
  FmxCircuitBreakerReport r = { fraction_lost, true, 100 * MS, sent_bps,
    1460.0, 20 * MS
  };

  return r;
}

/* Media, and a report each @interval; Returns: when it tripped, or NONE. */
static FmxTime
run (FmxCircuitBreaker *breaker, FmxCircuitBreakerReport r,
    FmxDuration interval, FmxTime from, FmxDuration length)
{
  FmxTime reported = from;

  for (FmxTime now = from; now < from + (FmxTime) length; now += 20 * MS) {
    fmx_circuit_breaker_on_media (breaker, now);
    if (interval > 0 && now >= reported + (FmxTime) interval) {
      reported = now;
      if (fmx_circuit_breaker_on_report (breaker, &r, now))
        return now;
    }
    if (fmx_circuit_breaker_on_timeout (breaker, now))
      return now;
  }
  return FMX_TIME_NONE;
}

/* [RFC8083 4.1] */
static void
test_no_report_for_three_intervals_trips (void **state)
{
  FmxCircuitBreaker breaker = make ();
  FmxTime tripped;

  (void) state;
  assert_int_equal (fmx_circuit_breaker_next_timeout (&breaker),
      FMX_TIME_NONE);
  assert_int_equal (run (&breaker, report (0.0, 80e3), S, 0, 60 * S),
      FMX_TIME_NONE);
  tripped = run (&breaker, report (0.0, 80e3), 0, 60 * (FmxTime) S, 60 * S);
  assert_in_range (tripped, 60 * (FmxTime) S + 14 * S,
      60 * (FmxTime) S + 15 * S);
  assert_int_equal (fmx_circuit_breaker_cause (&breaker),
      FMX_CIRCUIT_BREAKER_RTCP_TIMEOUT);
}

static void
test_silence_of_the_talkers_is_no_timeout (void **state)
{
  FmxCircuitBreaker breaker = make ();
  FmxTime next;

  (void) state;
  run (&breaker, report (0.0, 80e3), S, 0, 10 * S);
  while ((next = fmx_circuit_breaker_next_timeout (&breaker))
      != FMX_TIME_NONE)
    assert_false (fmx_circuit_breaker_on_timeout (&breaker, next));
  assert_int_equal (run (&breaker, report (0.0, 80e3), 5 * S,
          3600 * (FmxTime) S, 60 * S), FMX_TIME_NONE);
}

static void
test_a_few_lost_packets_are_no_timeout (void **state)
{
  FmxCircuitBreaker breaker = make ();

  (void) state;
  for (unsigned i = 0; i < 9; i++) {
    fmx_circuit_breaker_on_media (&breaker, i * 4 * (FmxTime) S);
    assert_false (fmx_circuit_breaker_on_timeout (&breaker,
            i * 4 * (FmxTime) S));
  }
  for (FmxTime now = 33 * (FmxTime) S; now < 50 * (FmxTime) S; now += S) {
    fmx_circuit_breaker_on_media (&breaker, now);
    fmx_circuit_breaker_on_timeout (&breaker, now);
  }
  assert_int_equal (fmx_circuit_breaker_cause (&breaker),
      FMX_CIRCUIT_BREAKER_RTCP_TIMEOUT);
}

/* [RFC8083 4.2] k = 5 reports, Tdr = 1 s, first one is the base line */
static void
test_five_reports_without_media_trip (void **state)
{
  FmxCircuitBreaker breaker = make ();
  FmxCircuitBreakerReport r = report (0.0, 80e3);
  FmxTime tripped;

  (void) state;
  run (&breaker, r, S, 0, 20 * S + 10 * MS);
  r.media_received = false;
  tripped = run (&breaker, r, S, 20 * (FmxTime) S, 60 * S);
  assert_int_equal (tripped, 25 * (FmxTime) S);
  assert_int_equal (fmx_circuit_breaker_cause (&breaker),
      FMX_CIRCUIT_BREAKER_MEDIA_TIMEOUT);
}

/* [RFC8083 4.2] "When Tdr < Tf": MEDIA_TIMEOUT = ceil (5 * 400 / 100) = 20 */
static void
test_rare_packets_need_more_silent_reports (void **state)
{
  FmxCircuitBreaker breaker = make ();
  FmxCircuitBreakerReport r = report (0.0, 80e3);
  FmxTime tripped;

  (void) state;
  r.frame_interval = 400 * MS;
  run (&breaker, r, 100 * MS, 0, 20 * S);
  r.media_received = false;
  tripped = run (&breaker, r, 100 * MS, 20 * (FmxTime) S, 60 * S);
  assert_int_equal (tripped, 22 * (FmxTime) S);
}

/* [RFC8083 4.3] ten times the simplified equation: the line between */
static void
test_ten_times_tcp_trips_and_nine_times_does_not (void **state)
{
  FmxTcpPath path = fmx_tcp_path (1460.0, 100 * MS);

  (void) state;
  for (double p = 0.01; p < 1.0; p += 0.07) {
    double tcp = fmx_tcp_equation_simple_bps (&path, p);
    FmxCircuitBreaker breaker = make ();

    assert_int_equal (run (&breaker, report (p, 9.9 * tcp), S, 0, 600 * S),
        FMX_TIME_NONE);
    breaker = make ();
    assert_int_not_equal (run (&breaker, report (p, 10.1 * tcp), S, 0,
            60 * S), FMX_TIME_NONE);
    assert_int_equal (fmx_circuit_breaker_cause (&breaker),
        FMX_CIRCUIT_BREAKER_CONGESTION);
  }
}

/* [RFC8083 4.3] CB_INTERVAL = ceil (3 * min (max (0.2, 1, 3), 15) / 3) = 3 at
 * Tdr = 1 s: the fourth report after the base line is the first to be used. */
static void
test_congestion_needs_its_interval (void **state)
{
  FmxCircuitBreaker breaker = make ();

  (void) state;
  assert_int_equal (run (&breaker, report (0.5, 1e9), S, 0, 60 * S), 5 * S);
}

static void
test_a_burst_of_loss_is_averaged_over_time (void **state)
{
  FmxCircuitBreaker breaker = make ();
  FmxTcpPath path = fmx_tcp_path (1460.0, 100 * MS);
  double bps = 9.9 * fmx_tcp_equation_simple_bps (&path, 0.3);

  (void) state;
  run (&breaker, report (0.0, bps), S, 0, 30 * S + 10 * MS);
  /* one second of 90 %: a third of it over three seconds */
  assert_int_equal (run (&breaker, report (0.9, bps), S, 30 * (FmxTime) S,
          S + 10 * MS), FMX_TIME_NONE);
  assert_int_equal (run (&breaker, report (0.0, bps), S, 31 * (FmxTime) S,
          30 * S), FMX_TIME_NONE);
}

static void
test_closes_after_its_hold_which_doubles_when_it_trips_again (void **state)
{
  FmxCircuitBreaker breaker = make ();
  FmxTime now = 0;
  FmxDuration hold = 15 * S;

  (void) state;
  for (unsigned i = 0; i < 10; i++) {
    now = run (&breaker, report (0.5, 1e9), S, now, 60 * S);
    assert_int_equal (fmx_circuit_breaker_next_timeout (&breaker),
        now + (FmxTime) hold);
    assert_false (fmx_circuit_breaker_on_timeout (&breaker, now + 1));
    now += (FmxTime) hold;
    assert_true (fmx_circuit_breaker_on_timeout (&breaker, now));
    assert_int_equal (fmx_circuit_breaker_cause (&breaker),
        FMX_CIRCUIT_BREAKER_CLOSED);
    if (i < 6)
      hold *= 2;
  }
  /* and is forgiven after a minute without */
  run (&breaker, report (0.0, 80e3), S, now, 70 * S);
  now = run (&breaker, report (0.5, 1e9), S, now + 70 * (FmxTime) S, 60 * S);
  assert_int_equal (fmx_circuit_breaker_next_timeout (&breaker),
      now + 15 * (FmxTime) S);
}

/* Whatever the loss, one who sends what the full equation allows is safe. */
static void
test_never_trips_at_the_equation_s_rate (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 1);
  for (unsigned i = 0; i < 200; i++) {
    FmxCircuitBreaker breaker = make ();
    double p = pow (10.0, -4.0 * fmx_rng_next_unit (&rng));
    FmxCircuitBreakerReport r = report (p, 0.0);
    FmxTcpPath path;

    r.rtt = (FmxDuration) (5 * MS + fmx_rng_next (&rng) % (1000 * MS));
    path = fmx_tcp_path (1460.0, r.rtt);
    r.sent_bps = fmx_tcp_equation_bps (&path, p);
    assert_int_equal (run (&breaker, r, 50 * MS + fmx_rng_next (&rng)
            % (5 * S), 0, 120 * S), FMX_TIME_NONE);
  }
}

/* 5 % above what it says trips, 5 % below does not. */
static void
test_the_limit_is_where_it_trips (void **state)
{
  (void) state;
  for (int above = 0; above < 2; above++) {
    FmxCircuitBreaker breaker = make ();
    double limit_bps;

    assert_true (fmx_circuit_breaker_limit_bps (&breaker, 1460.0) <= 0.0);
    assert_int_equal (run (&breaker, report (0.02, 80e3), S, 0, 20 * S),
        FMX_TIME_NONE);
    limit_bps = fmx_circuit_breaker_limit_bps (&breaker, 1460.0);
    assert_true ((run (&breaker, report (0.02, (above ? 1.05 : 0.95)
                    * limit_bps), S, 20 * (FmxTime) S, 20 * S)
            != FMX_TIME_NONE) == above);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_no_report_for_three_intervals_trips),
    cmocka_unit_test (test_silence_of_the_talkers_is_no_timeout),
    cmocka_unit_test (test_a_few_lost_packets_are_no_timeout),
    cmocka_unit_test (test_five_reports_without_media_trip),
    cmocka_unit_test (test_rare_packets_need_more_silent_reports),
    cmocka_unit_test (test_ten_times_tcp_trips_and_nine_times_does_not),
    cmocka_unit_test (test_congestion_needs_its_interval),
    cmocka_unit_test (test_a_burst_of_loss_is_averaged_over_time),
    cmocka_unit_test (test_closes_after_its_hold_which_doubles_when_it_trips_again),
    cmocka_unit_test (test_never_trips_at_the_equation_s_rate),
    cmocka_unit_test (test_the_limit_is_where_it_trips),
  };

  return cmocka_run_group_tests_name ("rate/circuit-breaker", tests, NULL,
      NULL);
}
