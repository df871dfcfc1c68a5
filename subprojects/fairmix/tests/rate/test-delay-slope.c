/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/rate/fmx-delay-slope.h"
#include "sim/fmx-sim-draw.h"

#define MS FMX_MSECOND
#define S FMX_SECOND
#define SPACING (16 * MS)       /* of packets */
#define REPORT (100 * MS)

static const FmxSimSubject subject = { &fmx_rate_shortq, true, 0, 0 };


static FmxDelaySlope slope;
static FmxTime now;

static void
begin (void)
{
  memset (&slope, 0, sizeof slope);
  now = S;
}

/* Packets for @time, whose delay changes by @slope_s s/s from @delay on; returns
 * what it is then. */
static FmxDuration
send (FmxDuration time, FmxDuration delay, double slope_s)
{
  FmxTime end = now + (FmxTime) time;

  for (; now < end; now += SPACING) {
    fmx_delay_slope_add (&slope, now, delay);
    delay += (FmxDuration) (slope_s * (double) SPACING);
    if (now % REPORT < SPACING)
      fmx_delay_slope_end (&slope, now);
  }
  return delay;
}

/* Falls by 90 ms at @down s/s and rises at @up s/s, ten times. */
static void
send_teeth (double up, double down)
{
  FmxDuration delay = 100 * MS;

  for (unsigned i = 0; i < 10; i++) {
    delay = send ((FmxDuration) (90e6 / up), delay, up);
    delay = send ((FmxDuration) (90e6 / down), delay, -down);
  }
}

static void
test_a_tcp_has_teeth (void **state)
{
  (void) state;
  begin ();
  send_teeth (0.05, 0.9);
  assert_true (fmx_delay_slope_has_teeth (&slope));
  send (60 * S, 100 * MS, 0.0);
  assert_false (fmx_delay_slope_has_teeth (&slope));
}

/* Steps up of a quarter, cuts to 0.8 */
static void
test_our_own_queue_has_none (void **state)
{
  (void) state;
  begin ();
  send_teeth (0.25, 0.2);
  assert_false (fmx_delay_slope_has_teeth (&slope));
}

/* Packets that were held back come together: it rises at once, and falls. */
static void
test_a_radio_that_holds_back_has_none (void **state)
{
  (void) state;
  begin ();
  for (unsigned i = 0; i < 20; i++) {
    send (400 * MS, 20 * MS, 0.0);
    send (100 * MS, 120 * MS, -1.0);
  }
  assert_false (fmx_delay_slope_has_teeth (&slope));
}

static void
test_a_delay_that_wanders_has_none (void **state)
{
  FmxTime last = 0;
  FmxRng rng;

  (void) state;
  begin ();
  fmx_rng_init (&rng, 1);
  for (unsigned i = 0; i < 2000; i++, now += SPACING) {
    FmxTime arrival = now + (FmxTime) (fmx_rng_next_unit (&rng) * 40e6);

    last = arrival > last ? arrival : last;
    fmx_delay_slope_add (&slope, now, fmx_time_diff (last, now));
    fmx_delay_slope_end (&slope, now);
    assert_false (fmx_delay_slope_has_teeth (&slope));
  }
}

static void
test_a_clock_that_is_set_makes_none (void **state)
{
  (void) state;
  begin ();
  for (int i = 0; i < 10; i++)
    send (S, -i * 5 * (FmxDuration) S, 0.0);
  assert_false (fmx_delay_slope_has_teeth (&slope));
}

/* The packets of each stream are in order, those of all are not. */
static void
test_streams_may_be_told_one_after_the_other (void **state)
{
  (void) state;
  begin ();
  for (unsigned report = 0; report < 100; report++, now += REPORT) {
    for (unsigned stream = 0; stream < 2; stream++)
      for (unsigned i = 0; i < 5; i++)
        fmx_delay_slope_add (&slope, now + i * (20 * MS) + stream * (10 * MS),
            (FmxDuration) (report % 10 < 9 ? report % 10 * 10 * MS
                : (5 - i) * (18 * MS) - stream * (9 * MS)));
    fmx_delay_slope_end (&slope, now + REPORT);
  }
  assert_true (fmx_delay_slope_has_teeth (&slope));
}

/* A CUBIC was there before us and never lets the queue run empty: what it leaves at
 * least passes for the path, and we had 0.02 of its rate. */
static void
test_a_tcp_is_known_whose_queue_never_empties (void **state)
{
  static const uint64_t seeds[] = { 20, 48 };

  (void) state;
  for (unsigned i = 0; i < 2; i++) {
    FmxSimDraw draw = fmx_sim_draw (FMX_SIM_BESIDE_TCP, seeds[i]);

    assert_true (fmx_sim_draw_run (&draw, &subject).ratio > 0.5);
  }
}

/* A mix of 50 packets a second, of which each may wait for a TCP's of 24 ms: that alone
 * is as steep, up as often as down. */
static void
test_a_wait_for_one_packet_hides_no_teeth (void **state)
{
  FmxDuration tooth = 5 * S;
  FmxRng rng;

  (void) state;
  begin ();
  fmx_rng_init (&rng, 1);
  for (unsigned i = 0; i < 1500; i++, now += 20 * MS) {
    FmxDuration at = (FmxDuration) now % tooth;
    FmxDuration queue = at < 4800 * MS ? at / 24 : 5 * S - at;
    FmxDuration wait = fmx_rng_next_unit (&rng) < 0.6 ? 24 * MS : 0;

    fmx_delay_slope_add (&slope, now, queue + wait);
    if (i % 5 == 4)
      fmx_delay_slope_end (&slope, now);
  }
  assert_true (fmx_delay_slope_has_teeth (&slope));
}

/* Only a mix of ours passes a link on which a TCP's packet takes 24 ms.  We did not know
 * it for a TCP, and had 0.1 of its rate for as long as it was there. */
static void
test_a_tcp_is_known_by_few_packets (void **state)
{
  static const FmxSimSubject voices = { &fmx_rate_shortq, false, 0, 0 };

  (void) state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    FmxSimDraw draw;

    memset (&draw, 0, sizeof draw);
    draw.family = FMX_SIM_BESIDE_TCP;
    draw.seed = seed;
    draw.link.rate_bps = 500e3;
    draw.link.delay = draw.tcp.back = 20 * MS;
    draw.link.queue_bytes = 12500;      /* 200 ms */
    draw.n_bundles = draw.n_tcps = 1;
    draw.tcp.kind = FMX_SIM_RENO;
    assert_true (fmx_sim_draw_run (&draw, &voices).ratio > 0.4);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_tcp_has_teeth),
    cmocka_unit_test (test_our_own_queue_has_none),
    cmocka_unit_test (test_a_radio_that_holds_back_has_none),
    cmocka_unit_test (test_a_delay_that_wanders_has_none),
    cmocka_unit_test (test_a_clock_that_is_set_makes_none),
    cmocka_unit_test (test_streams_may_be_told_one_after_the_other),
    cmocka_unit_test (test_a_tcp_is_known_whose_queue_never_empties),
    cmocka_unit_test (test_a_wait_for_one_packet_hides_no_teeth),
    cmocka_unit_test (test_a_tcp_is_known_by_few_packets),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
