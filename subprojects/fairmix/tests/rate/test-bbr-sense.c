/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/rate/fmx-bbr-sense.h"
#include "sim/fmx-sim-tcp.h"

#define MS FMX_MSECOND
#define S FMX_SECOND
#define STEP (50 * MS)
#define RTT (100 * MS)
#define PEAK (100 * MS)

typedef struct
{
  FmxBbrSense sense;
  FmxTime now;
} Told;

static void
told_for (Told *t, FmxDuration time, FmxDuration queue)
{
  for (FmxTime until = t->now + (FmxTime)time; t->now < until; t->now += STEP)
    fmx_bbr_sense_add (&t->sense, queue, PEAK, RTT, t->now);
}

/* @n times: a queue that is short for @pause and then long, begun each @interval */
static bool
after (unsigned n, FmxDuration interval, FmxDuration pause)
{
  Told t = {.now = (FmxTime) S };

  for (unsigned i = 0; i < n; i++) {
    told_for (&t, pause, 0);
    told_for (&t, interval - pause, 80 * MS);
  }
  return fmx_bbr_sense_is_there (&t.sense, t.now);
}

static void
test_three_pauses_in_time_are_those_of_bbr (void **state)
{
  (void) state;
  assert_false (after (2, 10400 * MS, 700 * MS));
  assert_true (after (3, 10400 * MS, 700 * MS));
  assert_true (after (3, 9700 * MS, 250 * MS));
  assert_true (after (3, 10700 * MS, S));
}

static void
test_what_comes_sooner_or_later_is_something_else (void **state)
{
  (void) state;
  assert_false (after (20, 9600 * MS, 700 * MS));
  assert_false (after (20, 10750 * MS, 700 * MS));
  assert_false (after (20, 5 * S, 700 * MS));
}

/* A window that was halved takes its time. */
static void
test_a_queue_that_is_short_for_long_is_of_who_grows_again (void **state)
{
  (void) state;
  assert_true (after (20, 10400 * MS, 1200 * MS));
  assert_false (after (20, 10400 * MS, 1300 * MS));
}

static void
test_a_queue_that_falls_by_half_has_not_paused (void **state)
{
  Told t = {.now = (FmxTime) S };

  (void) state;
  for (unsigned i = 0; i < 20; i++) {
    told_for (&t, 700 * MS, PEAK / 4);
    told_for (&t, 9700 * MS, 80 * MS);
  }
  assert_false (fmx_bbr_sense_is_there (&t.sense, t.now));
}

static void
test_it_is_known_for_forty_seconds (void **state)
{
  Told t = {.now = (FmxTime) S };
  FmxTime last;

  (void) state;
  for (unsigned i = 0; i < 3; i++) {
    last = t.now;
    told_for (&t, 700 * MS, 0);
    told_for (&t, 9700 * MS, 80 * MS);
  }
  /* those of who comes between say nothing against it */
  for (unsigned i = 0; i < 4; i++) {
    told_for (&t, 2 * S, 80 * MS);
    told_for (&t, 700 * MS, 0);
  }
  told_for (&t, 2 * S, 80 * MS);
  assert_true (fmx_bbr_sense_is_there (&t.sense, last + 40 * (FmxTime) S - 1));
  assert_false (fmx_bbr_sense_is_there (&t.sense, last + 40 * (FmxTime) S));
}

static void
test_a_queue_of_two_packets_tells_nothing (void **state)
{
  FmxBbrSense sense = { 0 };
  FmxTime now = (FmxTime) S;

  (void) state;
  for (unsigned i = 0; i < 10; i++) {
    fmx_bbr_sense_add (&sense, 0, 19 * MS, RTT, now);
    fmx_bbr_sense_add (&sense, 18 * MS, 19 * MS, RTT, now + 700 * (FmxTime) MS);
    now += 10400 * (FmxTime) MS;
  }
  assert_false (fmx_bbr_sense_is_there (&sense, now));
}

/* ---------------------------------------------------------- in a network -- */

static FmxSimLink forward;
static FmxSimTcp flows[4];

/* Whether it is seen in 100 s of what @n of @kind make of 2 Mbit/s */
static bool
is_seen_beside (FmxSimTcpKind kind, unsigned n, uint64_t seed)
{
  FmxSimLinkParams link = {.rate_bps = 2e6,.queue_bytes = 50000,
    .delay = 40 * MS
  };
  FmxBbrSense sense = { 0 };
  FmxTime now = 0, looked = 0;
  FmxDuration peak = 0;
  bool seen = false;

  fmx_sim_link_init (&forward, &link, seed);
  for (unsigned i = 0; i < n; i++) {
    FmxSimTcpParams params = {.kind = kind,.back = link.delay,
      .start = 1 + i * (FmxTime) S
    };

    fmx_sim_tcp_init (&flows[i], &params, &forward, i, seed + i);
  }
  while (now < 100 * (FmxTime) S) {
    FmxSimPacket packet;

    now = fmx_sim_link_next (&forward);
    for (unsigned i = 0; i < n; i++)
      now = fmx_time_min (now, fmx_sim_tcp_next (&flows[i]));
    for (; looked < now; looked += STEP) {
      FmxDuration queue = fmx_sim_link_queue_delay (&forward, looked);

      peak = queue > peak ? queue : peak;
      fmx_bbr_sense_add (&sense, queue, peak, RTT + queue, looked);
      seen = seen || fmx_bbr_sense_is_there (&sense, looked);
    }
    while (fmx_sim_link_receive (&forward, &packet, now))
      fmx_sim_tcp_on_arrival (&flows[packet.flow], &packet, now);
    for (unsigned i = 0; i < n; i++)
      fmx_sim_tcp_run (&flows[i], now);
  }
  return seen;
}

static void
test_it_knows_bbr_from_those_who_halve (void **state)
{
  (void) state;
  for (unsigned n = 1; n <= 4; n++) {
    if (n > 1)                  /* alone it keeps no queue that is longer than a pause */
      assert_true (is_seen_beside (FMX_SIM_BBR, n, n));
    assert_false (is_seen_beside (FMX_SIM_RENO, n, n));
    assert_false (is_seen_beside (FMX_SIM_CUBIC, n, n));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_three_pauses_in_time_are_those_of_bbr),
    cmocka_unit_test (test_what_comes_sooner_or_later_is_something_else),
    cmocka_unit_test
        (test_a_queue_that_is_short_for_long_is_of_who_grows_again),
    cmocka_unit_test (test_a_queue_that_falls_by_half_has_not_paused),
    cmocka_unit_test (test_it_is_known_for_forty_seconds),
    cmocka_unit_test (test_a_queue_of_two_packets_tells_nothing),
    cmocka_unit_test (test_it_knows_bbr_from_those_who_halve),
  };

  return cmocka_run_group_tests_name ("rate/bbr-sense", tests, NULL, NULL);
}
