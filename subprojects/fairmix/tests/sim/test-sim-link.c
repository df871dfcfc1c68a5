/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>
#include <string.h>

#include "sim/fmx-sim-link.h"

#define MS FMX_MSECOND

static FmxSimLink link;

static bool
send (uint32_t wire_bytes, uint64_t data, FmxTime now)
{
  FmxSimPacket packet = { .wire_bytes = wire_bytes, .data = data };

  return fmx_sim_link_send (&link, packet, now);
}

static void
make (double rate_bps, uint32_t queue_bytes, uint32_t queue_packets,
    double loss)
{
  FmxSimLinkParams params = { rate_bps, queue_bytes, queue_packets, 50 * MS,
    loss
  };

  fmx_sim_link_init (&link, &params, 1);
}

static void
test_packets_take_their_size_and_the_delay (void **state)
{
  FmxSimPacket packet;

  (void) state;
  make (80000.0, 0, 0, 0.0);    /* 200 bytes: 20 ms */
  assert_int_equal (fmx_sim_link_next (&link), FMX_TIME_NONE);
  assert_true (send (200, 1, 0));
  assert_true (send (100, 2, 0));
  assert_int_equal (fmx_sim_link_queue_delay (&link, 0), 30 * MS);
  assert_int_equal (fmx_sim_link_next (&link), 70 * MS);
  assert_false (fmx_sim_link_receive (&link, &packet, 70 * MS - 1));
  assert_true (fmx_sim_link_receive (&link, &packet, 70 * MS));
  assert_int_equal (packet.data, 1);
  assert_int_equal (fmx_sim_link_next (&link), 80 * MS);
}

static void
test_queue_drops_its_tail_by_bytes (void **state)
{
  (void) state;
  make (80000.0, 1000, 0, 0.0);
  for (unsigned i = 0; i < 5; i++)
    assert_true (send (200, i, 0));
  assert_false (send (200, 5, 0));
  assert_false (send (200, 5, 19 * MS));
  assert_true (send (200, 5, 20 * MS));
  assert_int_equal (link.n_dropped, 2);
}

static void
test_queue_drops_its_tail_by_packets (void **state)
{
  (void) state;
  make (80000.0, 0, 3, 0.0);
  for (unsigned i = 0; i < 3; i++)      /* with the one that is being sent */
    assert_true (send (200, i, 0));
  assert_false (send (20, 4, 0));
  assert_true (send (200, 4, 20 * MS));
}

static void
test_random_loss_is_as_asked_and_repeats (void **state)
{
  unsigned n = 0, again = 0;

  (void) state;
  make (0.0, 0, 0, 0.1);
  for (unsigned i = 0; i < 20000; i++) {
    FmxSimPacket packet;

    n += !send (200, i, i * MS);
    while (fmx_sim_link_receive (&link, &packet, i * (FmxTime) MS));
  }
  assert_true (fabs (n / 20000.0 - 0.1) < 0.006);
  make (0.0, 0, 0, 0.1);
  for (unsigned i = 0; i < 20000; i++) {
    FmxSimPacket packet;

    again += !send (200, i, i * MS);
    while (fmx_sim_link_receive (&link, &packet, i * (FmxTime) MS));
  }
  assert_int_equal (n, again);
}

/* 500 bytes at once, then 200 in 20 ms; a bucket that was empty for 20 ms has 200. */
static void
test_a_bucket_passes_a_burst_and_fills_again (void **state)
{
  FmxSimLinkNature nature = { .burst_bytes = 500 };
  FmxSimPacket packet;

  (void) state;
  make (80000.0, 400, 0, 0.0);
  fmx_sim_link_set_nature (&link, &nature, NULL, 1);
  for (unsigned i = 0; i < 2; i++)
    assert_true (send (250, i, 0));
  assert_int_equal (fmx_sim_link_queue_delay (&link, 0), 0);
  /* as fast as the line, 10 Mbit/s */
  assert_int_equal (fmx_sim_link_next (&link), 50 * MS);
  assert_true (fmx_sim_link_receive (&link, &packet, 50 * MS));
  assert_int_equal (fmx_sim_link_next (&link), 50 * MS + 200000);
  assert_true (send (200, 2, MS));
  assert_int_equal (fmx_sim_link_queue_delay (&link, MS), 19 * MS);
  assert_true (send (200, 3, MS));
  assert_false (send (200, 4, MS));
  assert_int_equal (fmx_sim_link_queue_delay (&link, 60 * MS), 0);
  assert_true (send (200, 5, 60 * MS));
  assert_int_equal (fmx_sim_link_queue_delay (&link, 60 * MS), 0);
  assert_true (send (200, 6, 60 * MS));
  assert_int_equal (fmx_sim_link_queue_delay (&link, 60 * MS), 20 * MS);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_packets_take_their_size_and_the_delay),
    cmocka_unit_test (test_queue_drops_its_tail_by_bytes),
    cmocka_unit_test (test_queue_drops_its_tail_by_packets),
    cmocka_unit_test (test_a_bucket_passes_a_burst_and_fills_again),
    cmocka_unit_test (test_random_loss_is_as_asked_and_repeats),
  };

  return cmocka_run_group_tests_name ("sim/sim-link", tests, NULL, NULL);
}
